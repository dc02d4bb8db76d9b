"""A description of the machine that a report was made on: what speed depends on, and nothing that identifies it."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from believer.experiments import versions

PACKAGES = ("numpy", "scipy", "scikit-learn", "torch", "gpytorch", "botorch", "matplotlib", "dask", "distributed")
"""The packages whose versions are reported, if they are installed."""

_SECONDS = 10.0


def machine() -> dict[str, Any]:
    """Processor, cores, memory, system, versions, BLAS and its threads, backend; None for what cannot be found out."""
    known = versions()
    return {
        "processor": _processor(),
        "cores": _cores(),
        "memory_gb": _memory(),
        "system": _system(),
        "python": f"{platform.python_implementation()} {known['python']}",
        "believer": known["believer"],
        "backend": known["backend"],
        "packages": {name: version for name in PACKAGES if (version := _version(name)) is not None},
        "blas": _blas(),
        "threads": known["threads"],
    }


def _processor() -> str | None:
    """The model of the processor, or its architecture if the model is not known."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        fields = dict(line.split(":", 1) for line in reversed(lines) if ":" in line)
        found = next((text for name, text in fields.items() if name.strip() == "model name"), "")
    except OSError:
        found = _sysctl("machdep.cpu.brand_string") if platform.system() == "Darwin" else ""
    return " ".join(found.split()) or platform.processor() or platform.machine() or None


def _sysctl(name: str) -> str:
    """The value that macOS's ``sysctl`` gives for ``name``."""
    try:
        answer = subprocess.run(["sysctl", "-n", name], capture_output=True, text=True, timeout=_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return answer.stdout


def _cores() -> int | None:
    """The number of cores that this process may use, or of all cores if that is not known."""
    try:
        return len(os.sched_getaffinity(0))
    except (AttributeError, OSError):  # Linux has it, others do not
        return os.cpu_count()


def _memory() -> float | None:
    """The size of the main memory in GiB."""
    try:
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not everywhere, as on Windows
        return None
    return round(size / 2**30, 1) if size > 0 else None


def _system() -> str:
    """The operating system and the architecture. (``platform.node``, the machine's name, is left out on purpose.)"""
    try:
        name = platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        name = f"{platform.system()} {platform.release()}"
    return f"{name}, {platform.machine()}"


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _blas() -> list[dict[str, Any]]:
    """Each loaded BLAS with its number of threads; without threadpoolctl, the BLAS that NumPy was built with."""
    try:
        pools = importlib.import_module("threadpoolctl").threadpool_info()
    except ImportError:
        built = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
        return [{"name": built.get("name"), "version": built.get("version")}]
    fields = {"name": "internal_api", "version": "version", "threads": "num_threads", "architecture": "architecture"}
    return [{name: pool.get(field) for name, field in fields.items()} for pool in pools if pool["user_api"] == "blas"]
