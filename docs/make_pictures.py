"""Pictures of the README and the documents: `python docs/make_pictures.py`."""

from pathlib import Path

import linkwork as lw
from linkwork import scenes

PICTURES = Path(__file__).parent / "pictures"


def main() -> None:
    """A picture of each group of scenes, side by side."""
    PICTURES.mkdir(exist_ok=True)
    _side_by_side("tree", {"tree": ({}, 0.45)}, size=(960, 560))
    _side_by_side("stiff", {"plant": ({}, 2.4), "hair": ({"strands": 60}, 1.2)})
    _side_by_side("contact", {"rag-doll-on-stairs": ({}, 1.2), "bicycle-chain": ({}, 0.3)})


def _side_by_side(name: str, chosen: dict, size: tuple[int, int] = (640, 480)) -> None:
    """The ends of short runs of scenes, name -> (parameters, seconds), in one picture."""
    from PIL import Image

    parts = []
    for key, (parameters, seconds) in chosen.items():
        scene = scenes.find(key)
        sim = lw.Simulation(scene(**parameters), dt=scene.dt, **scene.options)
        path = PICTURES / f"{key}.part.png"
        parts.append(Image.open(sim.run(seconds, record_every=seconds / 20).render(path, size=size)).convert("RGB"))
        path.unlink()
    whole = Image.new("RGB", (sum(part.width for part in parts), parts[0].height))
    for k, part in enumerate(parts):
        whole.paste(part, (sum(other.width for other in parts[:k]), 0))
    whole.save(PICTURES / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main()
