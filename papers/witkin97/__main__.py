"""Runs the bead, the tinkertoy, the double pendulum and conjugate gradients of witkin97; writes results.json, tables, figures.

python -m papers.witkin97                                one or two minutes
python -m papers.witkin97 --quick --out /tmp/witkin97    some seconds, small sizes
"""

import json

from papers.command import run


def parts(quick, progress):
    """Key of the result -> function that measures it."""
    from papers.witkin97 import bead, feedback, growth, lagrangian, tinkertoy

    sizes = (growth.QUICK_CHAINS, growth.QUICK_SIDES) if quick else (growth.CHAINS, growth.SIDES)
    return {
        "bead": lambda: bead.measure(progress.part("bead")),
        "feedback": lambda: feedback.measure(progress.part("feedback"), 0.5 if quick else bead.SECONDS),
        "tinkertoy": lambda: tinkertoy.measure(progress.part("tinkertoy"), 0.05 if quick else tinkertoy.SECONDS),
        "lagrangian": lambda: lagrangian.measure(progress.part("lagrangian"), 0.1 if quick else lagrangian.SECONDS),
        "growth": lambda: growth.measure(*sizes, progress.part("growth"), rounds=1 if quick else 3),
    }


def measure(quick, progress):
    """Everything as one dictionary that JSON can hold."""
    from benchmarks import machine

    described = machine.describe()
    return {"quick": quick, "machine": described, **{key: run() for key, run in parts(quick, progress).items()}}


def write(result, folder, progress):
    from papers.witkin97 import figures, readme

    folder.mkdir(parents=True, exist_ok=True)
    progress.part("writing")(str(folder))
    (folder / "results.json").write_text(json.dumps(result) + "\n", encoding="utf-8")
    drawn = {
        "bead": figures.bead(result["bead"]),
        "feedback": figures.feedback(result["feedback"]),
        "tinkertoy": figures.sequence(result["tinkertoy"]),
        "growth": figures.cost(result["growth"]),
        "jacobian": figures.blocks(),
    }
    for name, figure in drawn.items():
        figure.savefig(folder / f"{name}.png")
    if folder.resolve() == readme.FOLDER.resolve():
        readme.main()


def main(arguments=None):
    run("witkin97", __doc__, measure, write, arguments, parts)


if __name__ == "__main__":
    main()
