"""Puts bitcode of drivers into wheels: `compile_drivers.py` makes it. One that installs links to the sources has none.

A wheel without bitcode works as well: it compiles its drivers on first use. So a failure is told, and is no reason to stop.
LINKWORK_BITCODE names what `compile_drivers.py` makes it of; "none" leaves it out.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Bitcode(BuildHookInterface):
    def initialize(self, version, build_data):
        chosen = os.environ.get("LINKWORK_BITCODE", "all").split()
        if version == "editable" or chosen == ["none"]:
            return
        root, self.folder = Path(self.root), Path(tempfile.mkdtemp(prefix="linkwork-bitcode-"))
        maker, out = root / "shipping" / "compile_drivers.py", self.folder / "shipped"
        done = subprocess.run(
            [sys.executable, maker, out, *([] if chosen == ["all"] else chosen)],
            env={**os.environ, "PYTHONPATH": str(root / "src")},
            check=False,
        )
        if done.returncode:
            self.app.display_warning("linkwork: no bitcode of drivers was made; this wheel compiles them on first use")
        else:
            build_data["force_include"][str(out)] = "linkwork/codegen/shipped"

    def finalize(self, version, build_data, artifact_path):
        shutil.rmtree(getattr(self, "folder", ""), ignore_errors=True)
