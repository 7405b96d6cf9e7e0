"""Pictures of the README and the documents: `python docs/make_pictures.py`."""

from pathlib import Path

import linkwork as lw

PICTURES = Path(__file__).parent / "pictures"


def main() -> None:
    """A still of overlaid poses for each scene."""
    PICTURES.mkdir(exist_ok=True)
    sim = lw.Simulation(lw.scenes.get("tree"), dt=1e-3)
    sim.run(0.45, record_every=0.15).animate(PICTURES / "tree.png", size=(900, 560))


if __name__ == "__main__":
    main()
