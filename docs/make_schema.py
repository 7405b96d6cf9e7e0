"""Write docs/scene.schema.json: what scene files may say, for editors. Asked of the package itself; a test keeps it true.

python docs/make_schema.py
"""

import json
from pathlib import Path

from linkwork.formats.scene.schema import json_schema

PATH = Path(__file__).resolve().parent / "scene.schema.json"


def text():
    return json.dumps(json_schema(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
    print(f"wrote {PATH}")
