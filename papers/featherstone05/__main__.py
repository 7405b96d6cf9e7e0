"""Counts, draws and measures what featherstone05 says; writes results.json, README.md's tables and the figures.

python -m papers.featherstone05                                     about a minute
python -m papers.featherstone05 --quick --out /tmp/featherstone05   some seconds
"""

import json

from papers.command import run


def parts(quick, progress):
    """Key of the result -> function that measures it."""
    from papers.featherstone05 import accuracy, large, nested, published, times
    from papers.featherstone05.trees import HUMANOID, TREE_1, robot

    matrices = 10 if quick else accuracy.MATRICES
    trees = {"Tree 1": TREE_1, "humanoid": HUMANOID, "robot with hands": robot()}
    return {
        "claims": published.claims,
        "rule_of_thumb": published.rule_of_thumb,
        "own_counts": published.own_counts,
        "nested": lambda: {name: nested.summary(tree.rows) for name, tree in trees.items()},
        "reversed_cholesky": lambda: accuracy.reversed_cholesky(progress.part("accuracy"), matrices),
        "accuracy": lambda: accuracy.measure(progress.part("accuracy"), matrices),
        "times": lambda: times.measure(progress.part("times"), seconds=0.1 if quick else 4.0),
        "large": lambda: large.measure(progress.part("large"), large.QUICK if quick else None, 0.02 if quick else 0.3),
    }


def measure(quick, progress):
    """Everything as one dictionary that JSON can hold."""
    from benchmarks import machine

    described = machine.describe()
    return {"quick": quick, "machine": described, **{key: run() for key, run in parts(quick, progress).items()}}


def write(result, folder, progress):
    from papers.featherstone05 import figures, readme

    folder.mkdir(parents=True, exist_ok=True)
    progress.part("writing")(str(folder))
    (folder / "results.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    drawn = {
        "figure_5": figures.growth(),
        "figure_7": figures.forward_dynamics(),
        "nested": figures.nested(),
        "times": figures.times(result["times"]),
        "large": figures.large(result["large"]),
        "accuracy": figures.accuracy(result["accuracy"]),
    }
    for name, figure in drawn.items():
        figure.savefig(folder / f"{name}.png")
    if folder.resolve() == readme.FOLDER.resolve():
        readme.main()


def main(arguments=None):
    run("featherstone05", __doc__, measure, write, arguments, parts)


if __name__ == "__main__":
    main()
