"""Bodies from functions, forces and constraints evaluated one by one, to find the one whose value is not finite."""

from __future__ import annotations

import numpy as np

from linkwork.codegen.trace import Kernel
from linkwork.elements.core.element import Element
from linkwork.kernels.body_kernels import body_kernel
from linkwork.kernels.force_kernels import force_report_kernel
from linkwork.kernels.node_kernels import node_check_kernel, node_jacobian_kernel
from linkwork.kernels.vocabulary import BodyKernel
from linkwork.model.graph import GROUND
from linkwork.model.model import Model
from linkwork.model.nodes import Evaluator, blocks_of
from linkwork.symbolic.views import GLOBALS


class NonFiniteSearch:
    """Bodies from functions, forces and constraints of a model, run as CasADi functions: slow, and nothing is compiled."""

    def __init__(self, model: Model):
        self.model = model
        self._evaluators: dict[str, Evaluator] = {}

    def first_not_finite(self, work: np.ndarray) -> tuple[Element, float] | None:
        """The first body from a function, else force, else constraint, that is not finite in a workspace whose poses are up to
        date, and its value."""
        m = self.model
        for number, kind in enumerate(m.bodies.kinds):
            if kind.users_function:
                values = self._evaluate(body_kernel(kind, BodyKernel.ACCELERATE), 1, work, m.body_at[number], ())
                if not np.isfinite(values).all():
                    return m.bodies.elements[number], _worst_of(values)
        for number, force in enumerate(m.forces):
            values = self._evaluate(force_report_kernel(force.kind), 2 + len(force.ends), work, m.force_at[number], force.ends)
            if not np.isfinite(values).all():
                return force.element, _worst_of(values)
        for number, node in enumerate(m.nodes):
            rows = self._rows(number, work)
            for element in node.elements:
                if not np.isfinite(rows[node.rows_of(element)]).all():
                    return element, _worst_of(rows[node.rows_of(element)])
        return None

    def _rows(self, number: int, work: np.ndarray) -> np.ndarray:
        """(rows of the node, ...): residual, rate, bias and the blocks of J."""
        m, node = self.model, self.model.nodes[number]
        at, size = int(m.node_at[number]), node.kind.size
        start = m.parameters_at(number) - at
        checked = self._evaluate(node_check_kernel(node.kind, start), node.kind.behind, work, at, node.ends)
        derived = self._evaluate(node_jacobian_kernel(node.kind, start), node.kind.behind, work, at, node.ends)
        blocks = blocks_of(derived, size, [kind.nv if kind else 0 for kind in node.kind.kinds])
        return np.column_stack([checked[:size], checked[size : 2 * size], derived[-size:], *blocks])

    def _evaluate(self, kernel: Kernel, pointer: int, work: np.ndarray, at, ends) -> np.ndarray:
        if kernel.key not in self._evaluators:
            self._evaluators[kernel.key] = Evaluator(kernel, pointer)
        bodies = {2 + k: work[self.model.body_at[end] :] for k, end in enumerate(ends) if end != GROUND}
        return self._evaluators[kernel.key]({0: work[: GLOBALS.size], 1: work[at:], **bodies})


def _worst_of(values: np.ndarray) -> float:
    """The number to report: an infinite one if there is any, since a NaN may have come from it."""
    infinite = values[np.isinf(values)]
    return float(infinite[0]) if len(infinite) else float("nan")
