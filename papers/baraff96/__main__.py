"""Runs sections 3 to 9 and appendix A of baraff96; writes results.json, results.md and the figures.

python -m papers.baraff96                 about three minutes
python -m papers.baraff96 --quick --out /tmp/baraff96    some seconds, small sizes
"""

import json
from dataclasses import asdict

from papers.command import run


def parts(quick, progress):
    """Key of the result -> function that measures it."""
    from papers.baraff96 import auxiliary, errata, growth, inequalities, multipliers, sizes, workless

    forests, seconds = (20 if quick else errata.FORESTS), (0.1 if quick else 1.0)
    grown = (growth.QUICK_SIZES, growth.QUICK_DENSE_SIZES) if quick else (growth.SIZES, growth.DENSE_SIZES)
    chosen = multipliers.QUICK_SIZES if quick else multipliers.SIZES
    return {
        "errata": lambda: [asdict(e) for e in errata.table(forests)],
        "worst_forest": lambda: errata.sign_of_the_appendix(forests)[3],
        "footnote_8": errata.footnote_8,
        "near_footnote_8": errata.near_footnote_8,
        "accuracy": errata.accuracy,
        "workless": lambda: workless.measure(progress.part("auxiliary")),
        "inequalities": lambda: inequalities.measure(progress.part("auxiliary"), seconds=seconds),
        "sizes": lambda: sizes.measure(progress.part("sizes"), seconds=seconds),
        "auxiliary": lambda: auxiliary.measure(progress.part("auxiliary"), seconds=seconds),
        "growth": lambda: growth.measure(grown[0], progress.part("growth"), grown[1]),
        "multipliers": lambda: multipliers.measure(chosen, progress.part("multipliers")),
    }


def measure(quick, progress):
    """Everything as one dictionary that JSON can hold."""
    from benchmarks import machine

    described = machine.describe()
    return {"quick": quick, "machine": described, **{key: run() for key, run in parts(quick, progress).items()}}


def write(result, folder, progress):
    from papers.baraff96 import figures, readme, report

    folder.mkdir(parents=True, exist_ok=True)
    progress.part("writing")(str(folder))
    (folder / "results.json").write_text(json.dumps(result, indent=1) + "\n")
    (folder / "results.md").write_text(report.page(result))
    drawn = {
        "sparsity": figures.sparsity(),
        "multipliers": figures.multipliers(result["multipliers"]),
        "sizes": figures.sizes(result["sizes"]),
        "auxiliary": figures.auxiliary(result["auxiliary"]),
        "growth": figures.growth(result["growth"]),
        "accuracy": figures.accuracy(result),
    }
    for name, figure in drawn.items():
        figure.savefig(folder / f"{name}.png")
    if folder.resolve() == readme.FOLDER.resolve():
        readme.main()


def main(arguments=None):
    run("baraff96", __doc__, measure, write, arguments, parts)


if __name__ == "__main__":
    main()
