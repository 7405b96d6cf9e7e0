"""The report of a run: plain values for report.json, and the same as text."""

from linkwork.errors import printable

SHOWN = 5  # of the largest reactions
LOOKED_AT = 500  # constraints among which they are looked for, the first ones: each takes some milliseconds
TIMED = 0.2  # s


def reactions(sim, world):
    """The constraints with the largest reactions now: name, kind, force (N) and torque (N m) as lengths."""
    import numpy as np

    found = []
    for constraint in world.constraints[:LOOKED_AT]:
        reaction = sim.reaction(constraint.name)
        force, torque = (float(np.linalg.norm(x)) for x in (reaction.force, reaction.torque))
        found.append({"name": constraint.name, "kind": type(constraint).__name__, "force": force, "torque": torque})
    found.sort(key=lambda r: (-r["force"], -r["torque"]))
    return found[:SHOWN]


def speed(sim, keyframe=None):
    """Steps a second without recording: the first steps of the same run once more, for a fraction of a second."""
    import time

    end = sim.state.copy()
    total, chunk, done = sim.steps, 1, 0
    if total:
        sim.reset(keyframe)
        sim.step()  # loads or compiles what steps need: a run that was at its end when it went on has made none
    sim.reset(keyframe)
    begin = time.perf_counter()
    while done < total and time.perf_counter() - begin < TIMED:
        chunk = min(2 * chunk, total - done)
        sim.step(chunk)
        done += chunk
    took = time.perf_counter() - begin
    sim.state = end
    return done / took


def energies(sim):
    """The energies now, J."""
    energy = sim.energy()
    return {name: float(getattr(energy, name)) for name in ("kinetic", "potential", "total")}


def facts(chosen, sim):
    """What is known of a scene without simulating it, beside what was found; of files nothing is."""
    if chosen.check is None:
        return []
    return [
        {"what": f.what, "found": f.found, "expected": f.expected, "tolerance": f.tolerance, "holds": bool(f.holds)}
        for f in chosen.check(sim)
    ]


def text(report):
    """The report in a few lines."""
    o, model, energy = report["options"], report["model"], report["energy"]
    lines = [
        f"{printable(report['scene'])}: {count(model['bodies'], 'body', 'bodies')}, "
        f"{count(model['constraints'], 'constraint')}, {count(model['rows'], 'row')}, "
        f"{count(model['freedoms'], 'freedom')}",
        f"{_reached(report)} of {o['dt']:g} s ({o['solver']}, {o['integrator']}), {count(report['frames'], 'frame')}",
        *([f"  solver     {report['choice']}"] if report["choice"] else []),
        f"  speed      {report['steps_per_second']:,.0f} steps a second "
        f"({report['steps_per_second_recording']:,.0f} while recording); compiled in {report['compile_seconds']:.2f} s",
        f"  drift      at most {report['drift']['largest']:.2g} m; at the end {report['drift']['end']:.2g} m, "
        f"{report['drift']['end_velocity']:.2g} m/s",
        f"  energy     {energy['start']['total']:.6g} J at the start, {energy['end']['total']:.6g} J at the end "
        f"(kinetic {energy['end']['kinetic']:.6g}, potential {energy['end']['potential']:.6g})",
    ]
    if report["reactions"]:
        among = f", of the first {LOOKED_AT} constraints" if model["constraints"] > LOOKED_AT else ""
        lines.append(f"  reactions  the largest at the end{among}:")
        lines += [
            f"             {printable(r['name'])} ({r['kind']}): {r['force']:.4g} N, {r['torque']:.4g} N m"
            for r in report["reactions"]
        ]
    if report["facts"]:
        lines.append("  known      without simulating:")
        lines += [
            f"             {printable(f['what'])}: found {f['found']:.6g}, expected {f['expected']:.6g}"
            + ("" if f["holds"] else f" (off by more than {f['tolerance']:.2g})")
            for f in report["facts"]
        ]
    return "\n".join(lines)


def _reached(report):
    stopped = ", stopped by Ctrl-C," if report["interrupted"] else ""
    resumed = f", the first {report['resumed']} from before," if report["resumed"] else ""
    return f"{report['time']:g} s{stopped} in {count(report['steps'], 'step')}{resumed}"


def count(number, one, many=None):
    """`1 body`, `2 bodies`."""
    return f"{number} {one if number == 1 else many or one + 's'}"
