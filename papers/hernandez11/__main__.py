"""Runs the algorithm, the appendix, figure 4 and the examples of hernandez11; writes results.json, README.md's tables, figures.

python -m papers.hernandez11                                  one to three minutes
python -m papers.hernandez11 --quick --out /tmp/hernandez11   half a minute, small sizes
"""

import json

from papers.command import run


def measure(quick, progress):
    """Everything as one dictionary that JSON can hold."""
    from benchmarks import machine
    from papers.hernandez11 import derivative, drift, examples, growth, roots, stability, tangents

    return {
        "quick": quick,
        "machine": machine.describe(),
        "derivative": derivative.measure(progress.part("appendix")),
        "roots": roots.measure(progress.part("elimination"), trees=10 if quick else roots.TREES),
        "tangents": tangents.measure(progress.part("tangents")),
        "drift": drift.measure(progress.part("drift"), steps=drift.STEPS[:3] if quick else drift.STEPS),
        "stability": stability.measure(
            progress.part("stability"),
            strands=50 if quick else stability.STRANDS,
            steps=stability.STEPS[1:2] if quick else stability.STEPS,
        ),
        **examples.measure(progress.part("examples"), rounds=1 if quick else 3),
        "growth": growth.measure(growth.QUICK_SIZES if quick else growth.SIZES, progress.part("growth")),
    }


def write(result, folder, progress):
    from papers.hernandez11 import figures, readme

    folder.mkdir(parents=True, exist_ok=True)
    progress.part("writing")(str(folder))
    (folder / "results.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    drawn = {
        "growth": figures.growth(result["growth"]),
        "derivative": figures.derivative(result["derivative"]),
        "drift": figures.drift(result["drift"]),
        "hand": figures.hand(),
        "hand_curves": figures.hand_curves(result["hand"]),
        "drag": figures.drag(result["drag"]),
    }
    for name, figure in drawn.items():
        figure.savefig(folder / f"{name}.png")
    figures.robot(folder)
    if folder.resolve() == readme.FOLDER.resolve():
        readme.main()


def main(arguments=None):
    run("hernandez11", __doc__, measure, write, arguments)


if __name__ == "__main__":
    main()
