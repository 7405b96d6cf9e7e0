"""Joint pivots in loops: what a joint pivot's child is tied to beside its joint.

The child has blocks H_j (6 x m_j) to others y_j that come later: constraints that close loops, bodies that these have coupled
it with. Its motion is x_c = X x_p + S u + G r as in joint_elimination.py, and with K = S^T D S = L diag(1/p) L^T, Y, f_a and
z = L^-1 S^T f from there

    V_j = L^-1 S^T H_j    H_a = H_j - Y^T V_j
    other j:  D -= V_j^T diag(p) V_j    b -= H_a^T G r + V_j^T diag(p) z      other i with other j: -= V_i^T diag(p) V_j
    parent with other j: += X^T H_a
    u = L^-T (diag(p) (z - V_j y_j) - Y (X x_p + G r))    multipliers: f_a less H_a y_j

which takes a constraint's rows through one, two or three freedoms where elimination of the body and then of the joint takes
them through six velocities and five rows. H_a and V take the place of H. A ball's S are all turns: H_a has its three linear
rows alone. Pointers: 1 the joint's record, 2 the child, 3 the block of the child and the other, 4 the other's record.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
from casadi import SX

from linkwork.codegen.trace import Joining, Kernel, Trace
from linkwork.elements.bodies.rigid import RIGID
from linkwork.kernels.joint_elimination import JointPivot
from linkwork.kernels.vocabulary import Sweep
from linkwork.symbolic import blocks
from linkwork.symbolic.blocks import rows, skew, triangle_size


def held_rows(pivot: JointPivot) -> int:
    """Rows of H_a."""
    return 3 if pivot.is_ball else 6


def coupling_rows(pivot: JointPivot) -> int:
    """Rows of H_a and V."""
    return 6 if pivot.is_ball else 6 + pivot.record["u"][1]


@dataclass(frozen=True)
class LoopCoupling:
    """The coupling of a joint pivot with one later neighbour beside its parent (an `other`)."""

    pivot: JointPivot
    size: int  # of the other
    front: int  # from the other's record to its D, b, x

    def kernel(self, sweep: Sweep, parent_first: bool = True, light: bool = False) -> Kernel:
        """What a sweep does. FACTOR has the block of parent and other, whichever is eliminated first, at pointer 5. Light:
        FACTOR keeps nothing for further right-hand sides, and BACKWARD finds no multipliers."""
        write = {Sweep.FACTOR: self._factor, Sweep.FORWARD: self._forward, Sweep.BACKWARD: self._backward}[sweep]
        what = f"{sweep}-light" if light else sweep
        key = f"tie|{self.pivot.node.key}|{self.pivot.child}|{self.size}|{self.front}|{what}|{parent_first}"
        return Kernel(key, lambda trace: write(trace, light, parent_first), joining=Joining.GATHERS)

    def cross(self, size: int) -> Kernel:
        """Pointer 4: the block of the child and another other, of this size; 5: the block of these two others."""

        def write(trace: Trace) -> None:
            _, reciprocal = self._pivots(trace)
            V, W = self._kept(trace, 3, self.size)[1], self._kept(trace, 4, size)[1]
            product = V.T @ blocks.scale(reciprocal, W)
            trace.store(5, 0, rows(trace.load(5, 0, self.size * size), self.size, size) - product)

        return Kernel(f"tie|{self.pivot.node.key}|{self.pivot.child}|cross|{self.size}|{size}", write, joining=Joining.GATHERS)

    # -- what the joint pivot has left in its records ---------------------------------------------------------------------
    def _pivots(self, trace: Trace) -> tuple[SX, SX]:
        """L and p."""
        if self.pivot.is_ball:
            return blocks.unpack(self.pivot.load(trace, "C"), 3)
        return self.pivot.loaded_factors(trace)[:2]

    def _split(self, trace: Trace, H: SX) -> tuple[SX, SX]:
        """H_a and V of H."""
        L, _ = self._pivots(trace)
        if self.pivot.is_ball:
            V = blocks.forward(L, H[3:6, :])
            return H[0:3, :] - rows(self.pivot.load(trace, "S"), 3, 3).T @ V, V
        V = blocks.forward(L, self.pivot.loaded(trace).axes.T @ H[3:6, :])
        return H - self.pivot.loaded_factors(trace)[2].T @ V, V

    def _given(self, trace: Trace) -> SX:
        """G r, as far as H_a has rows for it."""
        if self.pivot.is_ball:
            return self.pivot.sign * self.pivot.load(trace, "b")
        return self.pivot.given_motion(self.pivot.loaded(trace))

    def _free(self, trace: Trace) -> tuple[int, int, int]:
        """Where p z lies."""
        if self.pivot.is_ball:
            return 2, RIGID.record.offset("b") + 3, 3
        return 1, *self.pivot.record["u"]

    def _kept(self, trace: Trace, pointer: int, size: int) -> tuple[SX, SX]:
        """H_a and V of a block that has been through `factor`."""
        held, whole = held_rows(self.pivot), coupling_rows(self.pivot)
        V = trace.load(pointer, held * size, (whole - held) * size)
        return rows(trace.load(pointer, 0, held * size), held, size), rows(V, whole - held, size)

    # -- the sweeps ------------------------------------------------------------------------------------------------
    def _factor(self, trace: Trace, light: bool, parent_first: bool) -> None:
        m, held = self.size, held_rows(self.pivot)
        Ha, V = self._split(trace, rows(trace.load(3, 0, 6 * m), 6, m))
        if not light:
            trace.store(3, 0, Ha)
        trace.store(3, held * m, V)
        size = triangle_size(m)
        pivots = blocks.scale(self._pivots(trace)[1], V)
        trace.store(4, self.front, trace.load(4, self.front, size) - blocks.lower(V.T @ pivots))
        self._push(trace, Ha, V)
        if self.pivot.grounded:
            return
        turned = skew(self.pivot.load(trace, "e")) @ Ha[0:3, :]
        coupled = ca.vertcat(Ha[0:3, :], turned if held == 3 else turned + Ha[3:6, :])
        coupled = coupled if parent_first else coupled.T
        trace.store(5, 0, rows(trace.load(5, 0, 6 * m), *coupled.shape) + coupled)

    def _push(self, trace: Trace, Ha: SX, V: SX) -> None:
        at = self.front + triangle_size(self.size)
        left = trace.load(4, at, self.size) - Ha.T @ self._given(trace)
        trace.store(4, at, left - V.T @ trace.load(*self._free(trace)))

    def _forward(self, trace: Trace, light: bool, parent_first: bool) -> None:
        self._push(trace, *self._kept(trace, 3, self.size))

    def _backward(self, trace: Trace, light: bool, parent_first: bool) -> None:
        Ha, V = self._kept(trace, 3, self.size)
        y = trace.load(4, self.front + triangle_size(self.size) + self.size, self.size)
        free = self._free(trace)
        trace.store(*free[:2], trace.load(*free) - self._pivots(trace)[1] * (V @ y))
        if not light:
            at = RIGID.record.offset("b")
            trace.store(2, at, trace.load(2, at, held_rows(self.pivot)) - Ha @ y)
