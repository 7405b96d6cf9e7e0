"""Elimination with unit masses by dictionaries of blocks and numpy: the obvious twin of model/rank.py."""

import numpy as np

REGULAR = 1e-9
COUPLED = 1e-6
LOADED = 1e-5


def eliminated(sequence, own, seats, ends, blocks, many, rotors, dims):
    """As `linkwork.model.rank.eliminated`."""
    elimination = Elimination(dims[: len(dims) - len(ends)], seats, ends, many, blocks, rotors)
    order = [vertex for body, nodes in zip(sequence, own, strict=True) for vertex in elimination.eliminate(body, nodes)]
    return order + elimination.finish(), elimination.redundant


def least_share(part: np.ndarray, whole: np.ndarray) -> float:
    """The smallest eigenvalue of the pivot `part` relative to the pivot `whole`, both positive semidefinite."""
    values, vectors = np.linalg.eigh(whole)
    root = vectors / np.sqrt(np.maximum(values, 1e-14 * max(values[-1], 1e-300)))
    return float(np.linalg.eigvalsh(root.T @ part @ root)[0])


class Elimination:
    """Elimination of one component with unit masses, to see which pivots are regular."""

    def __init__(self, dims, seats, ends, many, blocks, rotors):
        self.seats, self.gone = seats, set()
        self.bodies, self.dims, self.ends, self.many, self.blocks, self.rotors = len(dims), dims, ends, many, blocks, rotors
        self.D: dict[int, np.ndarray] = {}
        self.H: dict[int, dict[int, np.ndarray]] = {}  # active vertex -> {other: block (own x other)}
        self.scale: dict[int, float] = {}
        self.waiting: list[int] = []
        self.changed: set[int] = set()  # waiting nodes that may have become ready since they were looked at
        self.touched: set[int] = set()  # nodes that are or were in the graph
        self.redundant: dict[int, int] = {}  # node -> rows that depend on others

    def _touch_body(self, body):
        if body not in self.D:
            self.D[body] = np.eye(self.dims[body])
            self.H[body] = {}

    def _touch_node(self, k) -> bool:
        """Put node k and its blocks into the graph, if it has not been there yet."""
        vertex = self.bodies + k
        if vertex in self.touched:
            return False
        self.touched.add(vertex)
        blocks = self.blocks[k]
        m = blocks[0].shape[0]
        self.D[vertex], self.H[vertex] = np.zeros((m, m)), {}
        for row in (row for node, row in self.rotors if node == k):
            self.D[vertex][row, row] = -1.0
        for body, J in zip(self.ends[k], blocks, strict=True):
            self._touch_body(body)
            self.H[vertex][body] = J
            self.H[body][vertex] = J.T.copy()
        self.changed.add(vertex)
        self.scale[vertex] = max(float(np.abs(J).max(initial=0.0)) for J in blocks) ** 2 or 1.0
        return True

    def eliminate(self, body, own) -> list[int]:
        """Eliminate a body, with a joint if it can be, then every waiting constraint that can be. `own`: its nodes, the one
        upwards last."""
        self._touch_body(body)
        seat = self._seat(body)
        fresh = [self.bodies + k for k in own if self._touch_node(k)]
        done = [body]
        self._remove(body)
        self.gone.add(body)
        if seat is not None:
            fresh.remove(self.bodies + seat)
            self._remove(self.bodies + seat)
            done.append(self.bodies + seat)
        self.waiting = [*fresh[:-1], *self.waiting, *fresh[-1:]]
        progress = True
        while progress:
            progress = False
            for vertex in list(self.waiting):
                if vertex not in self.changed:
                    continue
                self.changed.discard(vertex)
                if self._ready(vertex):
                    self._remove(vertex)
                    self.waiting.remove(vertex)
                    done.append(vertex)
                    progress = True
        return done

    def _open_seats(self, body) -> list[int]:
        """Nodes with which a body may be eliminated, since nothing else has touched them."""
        return [k for k in self.seats[body] if self.gone.isdisjoint(self.ends[k])]

    def _seat(self, body) -> int | None:
        """Of these the one that leaves the fewest rows and velocities behind; none to a body that others couple with it."""
        left = {}
        for k in self._open_seats(body):
            others = [b for b in self.ends[k] if b != body]
            if not any(other in self.H[body] for other in others):
                left[k] = sum(self.dims[other] for other in others) - self.blocks[k][0].shape[0]
        return min(left, key=left.__getitem__, default=None)

    def _waits(self, vertex) -> bool:
        """Whether a constraint would couple several, and may have fewer rows to couple them by once its other body is gone."""
        k = vertex - self.bodies
        there = [b for b in self.ends[k] if b not in self.gone]
        return len(self.H[vertex]) > 1 and any(self._open_seats(b) not in ([], [k]) for b in there)

    def finish(self) -> list[int]:
        """Constraints that wait for each other when no body is left, being nearly redundant: the most regular ones first."""
        done = []
        while self.waiting:
            vertex = max(self.waiting, key=lambda v: np.linalg.eigvalsh(-self.D[v])[0] / self.scale[v])
            self._make_regular(vertex)
            self._remove(vertex)
            self.waiting.remove(vertex)
            done.append(vertex)
        return done

    def _make_regular(self, vertex) -> None:
        """Count directions in which a pivot is singular as redundant, and make it regular there."""
        values, vectors = np.linalg.eigh(-self.D[vertex])
        flat = vectors[:, ~(values > REGULAR * self.scale[vertex])]
        if flat.shape[1]:
            self.redundant[vertex - self.bodies] = flat.shape[1]
            self.D[vertex] = self.D[vertex] - self.scale[vertex] * flat @ flat.T

    def _ready(self, vertex) -> bool:
        """Whether a constraint's pivot is regular, and not much better after the bodies that it still has. Directions that
        nothing left could make regular are redundant."""
        if self._waits(vertex):
            return False
        pivot, scale = -self.D[vertex], self.scale[vertex]
        values, vectors = np.linalg.eigh(pivot)
        flat = vectors[:, ~(values > REGULAR * scale)]
        if flat.shape[1]:
            if any(np.abs(flat.T @ block).max(initial=0.0) > COUPLED * np.sqrt(scale) for block in self.H[vertex].values()):
                return False
            self._make_regular(vertex)
            return True
        others = [body for body in self.H[vertex] if body < self.bodies]
        if not others:
            return True
        if len(others) > 1 and self.many[vertex - self.bodies]:
            return False  # all of them would be coupled
        later = sum(self.H[vertex][b] @ np.linalg.solve(self.D[b], self.H[b][vertex]) for b in others)
        return least_share(pivot, pivot + later) > LOADED

    def _remove(self, vertex):
        D, blocks = self.D.pop(vertex), self.H.pop(vertex)
        U = {other: np.linalg.solve(D, H) for other, H in blocks.items()}
        for i, Hi in blocks.items():
            del self.H[i][vertex]
            self.changed.update([i] if i >= self.bodies else [k for k in self.H[i] if k >= self.bodies])
            for j in blocks:
                if i == j:
                    self.D[i] = self.D[i] - Hi.T @ U[i]
                else:
                    self.H[i][j] = self.H[i].get(j, 0) - Hi.T @ U[j]
