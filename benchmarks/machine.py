"""What a result was measured on: it is written beside every number."""

import os
import platform
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("linkwork", "numpy", "casadi", "numba", "llvmlite", "mujoco", "pin", "dartpy", "exudyn", "example-robot-data")


def describe():
    """Processor, cores, memory, operating system, versions of what matters, date."""
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": {name: found for name in PACKAGES if (found := _version(name))},
        "date": date.today().isoformat(),
        "load": round(os.getloadavg()[0], 2),  # other work on the machine as the run began
    }


def sentence(machine):
    """One line for people."""
    versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    return (
        f"{machine['cpu']}, {machine['cores']} cores, {machine['memory_gb']} GB, {machine['system']}, "
        f"Python {machine['python']}; {versions}; {machine['date']}; load {machine['load']} at the start."
    )


def _cpu():
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        fields = dict(line.split(":", 1) for line in cpuinfo.read_text().splitlines() if ":" in line)
        fields = {key.strip(): value.strip() for key, value in fields.items()}
        if "model name" in fields:
            return f"{fields['model name']} (family {fields.get('cpu family')}, model {fields.get('model')})"
    return platform.processor() or "unknown"


def _version(package):
    try:
        return version(package)
    except PackageNotFoundError:
        return None
