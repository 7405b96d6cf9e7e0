"""The driver that writes the operations of fronts, against a list that is written front by front."""

import pytest

import linkwork as lw
from linkwork.codegen.jit import OPERANDS
from linkwork.model.compile_model import compile
from linkwork.schedules.front_ops import UNROLLED, Fronts


def written(model, vertex, way):
    """(what, forms, records) of one front."""
    n = len(model.bodies.kinds)
    records = [kind.record for kind in model.bodies.kinds] + [node.kind.record for node in model.nodes]
    dims = [kind.nv for kind in model.bodies.kinds] + [node.kind.size for node in model.nodes]
    others, d, total = model.later[vertex], dims[vertex], sum(dims[other] for other in model.later[vertex])

    def at(v):
        return int(model.body_at[v] if v < n else model.node_at[v - n]) + records[v].offset("D")

    def slot(v, other):
        before = model.later[v][: model.later[v].index(other)]
        return int(model.slot_at[v]) + dims[v] * sum(dims[x] for x in before)

    def form(*several):
        return [dims[v] for v in several]

    if len(others) <= 2 and d**3 / 3 + d * d * total + d * total**2 / 2 < UNROLLED:
        blocks = [slot(vertex, others[0])] if others else []
        between = [slot(*others)] if len(others) == 2 else []
        return [("whole", form(vertex, *others), [at(vertex), *blocks, *map(at, others), *between])]
    first, each = {"factor": ("pivot", "panel"), "forward": ("solve", "push"), "backward": ("begin", "pull")}[way]
    found = [(first, form(vertex), [at(vertex)])]
    for other in others:
        more = [] if way == "factor" else [at(other)]
        found.append((each, form(vertex, other), [at(vertex), slot(vertex, other), *more]))
    for i, other in enumerate(others if way == "factor" else ()):
        found.append(("update", form(vertex, other), [at(vertex), slot(vertex, other), at(other)]))
        for third in others[i + 1 :]:
            blocks = [slot(vertex, other), slot(vertex, third), slot(other, third)]
            found.append(("cross", form(vertex, other, third), [at(vertex), *blocks]))
    return found + [("finish", form(vertex), [at(vertex)])] * (way == "backward")


@pytest.mark.parametrize("way", ["factor", "forward", "backward"])
@pytest.mark.parametrize("scene, options", [("net", {"rows": 5, "columns": 5}), ("ladder", {"n": 4}), ("stewart", {})])
def test_operations_are_those_of_one_front_after_another(scene, options, way):
    model = compile(lw.scenes.get(scene, **options), limbs=False)
    n = len(model.bodies.kinds)
    chosen = [(place, item.body if item.body >= 0 else n + item.node) for place, item in enumerate(model.items)]
    found = Fronts(model, chosen, model.later).operations(way)
    expected = [operation for _, vertex in chosen for operation in written(model, vertex, way)]
    assert len(found.rows) == len(expected)
    for (kernel, *offsets), (what, dims, records) in zip(found.rows.tolist(), expected, strict=True):
        called, forms = found.signatures[kernel]
        assert (called, [form.dim for form in forms]) == (what, dims)
        assert offsets == records + [0] * (OPERANDS - len(records))
