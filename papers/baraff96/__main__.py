"""Runs sections 3 to 9 (8 without inequalities) and appendix A of baraff96; writes results.json, results.md and the figures.

python -m papers.baraff96                 about three minutes
python -m papers.baraff96 --quick --out /tmp/baraff96    some seconds, small sizes
"""

import json
from dataclasses import asdict

from papers.command import run


def measure(quick, progress):
    """Everything as one dictionary that JSON can hold."""
    from benchmarks import machine
    from papers.baraff96 import auxiliary, errata, growth, multipliers, sizes

    say = progress.part("errata")
    say("random forests and counterexamples")
    result = {"quick": quick, "machine": machine.describe()}
    result["errata"] = [asdict(e) for e in errata.table(20 if quick else errata.FORESTS)]
    result["worst_forest"] = errata.sign_of_the_appendix(20 if quick else errata.FORESTS)[3]
    result["footnote_8"] = errata.footnote_8()
    result["near_footnote_8"] = errata.near_footnote_8()
    result["accuracy"] = errata.accuracy()
    result["sizes"] = sizes.measure(progress.part("sizes"), seconds=0.1 if quick else 1.0)
    result["auxiliary"] = auxiliary.measure(progress.part("auxiliary"), seconds=0.1 if quick else 1.0)
    chosen = (growth.QUICK_SIZES, growth.QUICK_DENSE_SIZES) if quick else (growth.SIZES, growth.DENSE_SIZES)
    result["growth"] = growth.measure(chosen[0], progress.part("growth"), chosen[1])
    chosen = multipliers.QUICK_SIZES if quick else multipliers.SIZES
    result["multipliers"] = multipliers.measure(chosen, progress.part("multipliers"))
    return result


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
    run("baraff96", __doc__, measure, write, arguments)


if __name__ == "__main__":
    main()
