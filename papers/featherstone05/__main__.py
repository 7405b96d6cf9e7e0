"""Counts, draws and measures what featherstone05 says; writes results.json, README.md's tables and the figures.

python -m papers.featherstone05                                     about a minute
python -m papers.featherstone05 --quick --out /tmp/featherstone05   some seconds
"""

import json

from papers.command import run


def measure(quick, progress):
    """Everything as one dictionary that JSON can hold."""
    from benchmarks import machine
    from papers.featherstone05 import accuracy, nested, published, times
    from papers.featherstone05.trees import HUMANOID, TREE_1, robot

    matrices = 10 if quick else accuracy.MATRICES
    trees = {"Tree 1": TREE_1, "humanoid": HUMANOID, "robot with hands": robot()}
    return {
        "quick": quick,
        "machine": machine.describe(),
        "claims": published.claims(),
        "rule_of_thumb": published.rule_of_thumb(),
        "nested": {name: nested.summary(tree.rows) for name, tree in trees.items()},
        "reversed_cholesky": accuracy.reversed_cholesky(progress.part("accuracy"), matrices),
        "accuracy": accuracy.measure(progress.part("accuracy"), matrices),
        "times": times.measure(progress.part("times"), seconds=0.1 if quick else 4.0),
    }


def write(result, folder, progress):
    from papers.featherstone05 import figures, readme

    folder.mkdir(parents=True, exist_ok=True)
    progress.part("writing")(str(folder))
    (folder / "results.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    drawn = {
        "figure_5": figures.growth(),
        "figure_7": figures.forward_dynamics(),
        "nested": figures.nested_form(),
        "times": figures.times(result["times"]),
        "accuracy": figures.accuracy(result["accuracy"]),
    }
    for name, figure in drawn.items():
        figure.savefig(folder / f"{name}.png")
    if folder.resolve() == readme.FOLDER.resolve():
        readme.main()


def main(arguments=None):
    run("featherstone05", __doc__, measure, write, arguments)


if __name__ == "__main__":
    main()
