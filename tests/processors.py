"""The numerical tests on the processors that this machine can pass for.

::

    python tests/processors.py                                  # every processor, all numerical tests
    python tests/processors.py --short Nehalem Haswell          # some of both
    python tests/processors.py --out benchmarks/results/processors.md

Four things pick their instructions by the processor. Three have a switch: OpenBLAS (OPENBLAS_CORETYPE), NumPy's loops
(NPY_DISABLE_CPU_FEATURES), the C library's exp and log (GLIBC_TUNABLES). The fourth, our own compiled loops, is picked
by the loader from what the processor says of itself, which no switch reaches: they are built for one processor.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parent.parent
ROOMS = ("acquisitions", "batch", "contracts", "diagnostics", "maximize", "native", "numerics", "problems")
NUMERICAL = (*ROOMS, "reference", "statistical", "surrogates", "testing", "theory", "test_determinism.py")
"""Tests whose outcome could depend on rounding, below this folder."""

SHORT = ("native/test_native_posterior.py", "native/test_native_choices.py", "numerics", "surrogates/test_gp.py")
"""Those of them that every ``make test`` runs."""

NUMPY = import_module("numpy._core._multiarray_umath")
FEATURES: dict[str, bool] = NUMPY.__cpu_features__
DISPATCHED: list[str] = NUMPY.__cpu_dispatch__
WIDE = ("AVX512F", "AVX512CD", "AVX512BW", "AVX512DQ", "AVX512VL")
MIDDLE = ("AVX2", "FMA", "BMI1", "BMI2")


@dataclass(frozen=True, slots=True)
class Processor:
    """What a processor is to each of the four.

    name: to OpenBLAS. level: what the compiler may use for our loops. has, lacks: features in the words of NumPy and
    of the C library; pattern: the loops of NumPy that it cannot run.
    """

    name: str
    level: str
    has: str
    lacks: tuple[str, ...] = ()
    pattern: str = "(?!)"

    @property
    def is_here(self) -> bool:
        """Whether this machine has what it has."""
        return sys.platform == "linux" and FEATURES.get(self.has, False)

    def environment(self) -> dict[str, str]:
        """The switches."""
        loops = [name for name in DISPATCHED if FEATURES[name] and re.match(self.pattern, name)]
        hidden = ",".join(f"-{name}" for name in self.lacks)
        switches = {"GLIBC_TUNABLES": f"glibc.cpu.hwcaps={hidden}", "NPY_DISABLE_CPU_FEATURES": " ".join(loops)}
        return {"OPENBLAS_CORETYPE": self.name, **{name: value for name, value in switches.items() if self.lacks}}


NO_AVX512, NO_AVX2 = "AVX512|X86_V4", "AVX|X86_V[34]|FMA|F16C|XOP"
PROCESSORS = (
    Processor("Nehalem", "x86-64", "SSE42", (*WIDE, *MIDDLE, "AVX"), NO_AVX2),
    Processor("Sandybridge", "x86-64", "AVX", (*WIDE, *MIDDLE), NO_AVX2),
    Processor("Haswell", "x86-64-v3", "AVX2", WIDE, NO_AVX512),
    Processor("Zen", "x86-64-v3", "AVX2", WIDE, NO_AVX512),
    Processor("SkylakeX", "x86-64-v4", "AVX512_SKX"),
)


def build(level: str, folder: Path) -> Path | None:
    """A copy of the package in ``folder``, its compiled module for that level alone; None where none was built."""
    if find_spec("believer._native") is None:
        return None
    into = ["--build-lib", str(folder / "lib"), "--build-temp", str(folder / "temp")]
    command = [sys.executable, "setup.py", "-q", "build", *into]
    environment = {**os.environ, "BELIEVER_NATIVE_ARCH": level}
    subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True)
    return folder / "lib"


def run(processor: Processor, tests: tuple[str, ...], package: Path | None, *options: str) -> tuple[int, str]:
    """Exit code and output of pytest under the processor, on the package that was built for it."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_", "COVERAGE_"))}
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    path = {} if package is None else {"PYTHONPATH": str(package)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    command += [str(ROOT / "tests" / name) for name in tests]
    environment = {**ours, **threads, **processor.environment(), **path}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    return done.returncode, done.stdout


SAY = """
import json, numpy, scipy.linalg, threadpoolctl, believer
from numpy._core._multiarray_umath import __cpu_features__ as on, __cpu_dispatch__ as picked
kernels = {pool["architecture"] for pool in threadpoolctl.threadpool_info() if "architecture" in pool}
print(json.dumps([sorted(kernels), [name for name in picked if on[name]], believer.__file__]))
"""


def witness(processor: Processor, package: Path | None) -> tuple[str, str]:
    """What OpenBLAS and NumPy themselves say under the switches: the kernels, the loops."""
    path = {} if package is None else {"PYTHONPATH": str(package)}
    environment = {**os.environ, **processor.environment(), **path}
    said = subprocess.run([sys.executable, "-c", SAY], env=environment, capture_output=True, text=True, check=True)
    kernels, loops, where = json.loads(said.stdout)
    assert package is None or Path(where).is_relative_to(package), f"{where} is not the package that was built"
    return " ".join(kernels), " ".join(loops) or "baseline"


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [processor.name for processor in PROCESSORS]
    parser.add_argument("names", nargs="*", metavar="PROCESSOR", help=f"of {', '.join(names)} (default: all)")
    parser.add_argument("--short", action="store_true", help="only the tests that make test runs so")
    parser.add_argument("--workers", default="2", metavar="N", help="processes of pytest (default: %(default)s)")
    parser.add_argument("--out", type=Path, help="a file for the table, in Markdown")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(names)
    if unknown:
        parser.error(f"a processor must be one of {', '.join(names)}; got {', '.join(sorted(unknown))}")
    rows, failed = [], False
    for processor in PROCESSORS:
        if arguments.names and processor.name not in arguments.names:
            continue
        if not processor.is_here:
            rows.append(f"| {processor.name} | this machine cannot | | | | |")
        else:
            code, row = _row(processor, SHORT if arguments.short else NUMERICAL, arguments.workers)
            failed |= code != 0
            rows.append(row)
        print(rows[-1], flush=True)
    if arguments.out is not None:
        page = PAGE.format(numpy=np.__version__, rows="\n".join(rows))
        arguments.out.write_text(page, encoding="utf-8")
    return int(failed)


def _row(processor: Processor, tests: tuple[str, ...], workers: str) -> tuple[int, str]:
    with tempfile.TemporaryDirectory() as folder:
        package = build(processor.level, Path(folder))
        kernels, loops = witness(processor, package)
        started = time.monotonic()
        code, output = run(processor, tests, package, "-n", workers)
        minutes = (time.monotonic() - started) / 60.0
    if code:
        print(output)
    loops_of_ours = "not built" if package is None else processor.level
    closing = re.sub(r" in [\d.]+s.*", "", output.strip().splitlines()[-1].strip("= "))
    return code, f"| {processor.name} | {kernels} | {loops} | {loops_of_ours} | {closing} | {minutes:.1f} |"


PAGE = """# The numerical tests on emulated processors

Made by `python tests/processors.py` with NumPy {numpy}. OpenBLAS and NumPy say themselves which kernels and loops they
run; the OpenBLAS of a wheel may have those of a near relative only.

| processor | OpenBLAS's kernels | NumPy's loops | our loops | the numerical tests | minutes |
|---|---|---|---|---|---|
{rows}
"""


if __name__ == "__main__":
    sys.exit(main())
