"""The numerical tests on the processors that this machine can pass for.

::

    python tests/processors.py                                  # every processor, all numerical tests
    python tests/processors.py --short Nehalem Haswell          # some of both
    python tests/processors.py --out benchmarks/results/processors.md

Four things pick their instructions by the processor. Three have a switch: OpenBLAS (OPENBLAS_CORETYPE), NumPy's loops
(NPY_DISABLE_CPU_FEATURES), the C library's exp and log (GLIBC_TUNABLES). The fourth, our own compiled loops, is picked
by the loader from what the processor says of itself, which no switch reaches: the module is built with the loops that
the processor would get, and no others.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parent.parent
ROOMS = ("acquisitions", "batch", "contracts", "diagnostics", "maximize", "native", "numerics")
NUMERICAL = (
    *(*ROOMS, "reference", "statistical", "surrogates", "testing"),
    *("test_determinism.py", "test_edges.py", "test_learning.py", "test_loop.py", "test_members.py"),
    *(path.name for kind in ("declared", "optimizer") for path in sorted((ROOT / "tests").glob(f"test_{kind}*.py"))),
    *(f"../bench/tests/{name}" for name in ("test_problems.py", "test_race.py", "test_suite.py")),
    *(
        f"../paper/tests/{name}"
        for name in ("theory", "test_locality.py", "test_printed_members.py", "test_process.py")
    ),
)
"""Tests whose outcome could depend on rounding, below this folder."""

SHORT = ("native/test_native_posterior.py", "native/test_native_choices.py", "numerics", "surrogates/test_gp.py")
"""Those of them that are most likely to notice."""

COMPILER = os.environ.get("CC", sysconfig.get_config_var("CC") or "cc").split()[0]
CAN_COMPILE = (
    shutil.which(COMPILER) is not None
    and (Path(sysconfig.get_path("include")) / "Python.h").exists()
    and sys.platform != "win32"
)

NUMPY = import_module("numpy._core._multiarray_umath")
FEATURES: dict[str, bool] = NUMPY.__cpu_features__
DISPATCHED: list[str] = NUMPY.__cpu_dispatch__
WIDE = ("AVX512F", "AVX512CD", "AVX512BW", "AVX512DQ", "AVX512VL")
MIDDLE = ("AVX2", "FMA", "BMI1", "BMI2")
NO_AVX512, NO_AVX2 = "AVX512|X86_V4", "AVX|X86_V[34]|FMA|F16C|XOP"


@dataclass(frozen=True, slots=True)
class Processor:
    """What a processor is to each of the four.

    name: to OpenBLAS. level: of x86-64, by which our loops are picked. has, lacks: features in the words of NumPy and
    of the C library; pattern: the loops of NumPy that it cannot run.
    """

    name: str
    level: int
    has: str
    lacks: tuple[str, ...] = ()
    pattern: str = "(?!)"

    @property
    def is_here(self) -> bool:
        """Whether this machine has what it has."""
        return sys.platform == "linux" and FEATURES.get(self.has, False)

    def environment(self, package: Path | None) -> dict[str, str]:
        """That of a process which runs as on this processor, on the package that was built for it."""
        kept = {n: v for n, v in os.environ.items() if not n.startswith(("PYTEST_", "COV_", "COVERAGE_"))}
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        loops = [name for name in DISPATCHED if FEATURES[name] and re.match(self.pattern, name)]
        switches = {"OPENBLAS_CORETYPE": self.name}
        if self.lacks:
            switches["GLIBC_TUNABLES"] = "glibc.cpu.hwcaps=" + ",".join(f"-{name}" for name in self.lacks)
            switches["NPY_DISABLE_CPU_FEATURES"] = " ".join(loops)
        return {**kept, **threads, **switches, **({} if package is None else {"PYTHONPATH": str(package)})}


PROCESSORS = (
    Processor("Prescott", 1, "SSE3", (*WIDE, *MIDDLE, "AVX"), NO_AVX2),
    Processor("Nehalem", 2, "SSE42", (*WIDE, *MIDDLE, "AVX"), NO_AVX2),
    Processor("Sandybridge", 2, "AVX", (*WIDE, *MIDDLE), NO_AVX2),
    Processor("Haswell", 3, "AVX2", WIDE, NO_AVX512),
    Processor("Zen", 3, "AVX2", WIDE, NO_AVX512),
    Processor("SkylakeX", 4, "AVX512_SKX"),
)


def build(processor: Processor, folder: Path) -> Path | None:
    """A copy of the package in ``folder``, compiled with the loops of that processor; None without a compiler."""
    if not CAN_COMPILE:
        return None
    folder.mkdir(exist_ok=True)
    into = ["--build-lib", str(folder / "lib"), "--build-temp", str(folder / "temp")]
    command = [sys.executable, "setup.py", "-q", "egg_info", "--egg-base", str(folder), "build", *into]
    environment = {name: value for name, value in os.environ.items() if name != "BELIEVER_NATIVE_ARCH"}
    environment["CFLAGS"] = f"-DONE_LEVEL={processor.level}"
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert list((folder / "lib" / "believer").glob("_native.*.so")), done.stdout + done.stderr
    return folder / "lib"


def run(processor: Processor, tests: tuple[str, ...], package: Path | None, *options: str) -> tuple[int, str]:
    """Exit code and output of pytest on the processor."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    done = subprocess.run(
        [*command, *(str(ROOT / "tests" / name) for name in tests)],
        cwd=ROOT,
        env=processor.environment(package),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
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
    command = [sys.executable, "-c", SAY]
    said = subprocess.run(
        command, env=processor.environment(package), capture_output=True, text=True, check=True, cwd=ROOT
    )
    kernels, loops, where = json.loads(said.stdout)
    assert package is None or Path(where).is_relative_to(package), f"{where} is not the package that was built"
    return " ".join(kernels), " ".join(loops) or "baseline"


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [processor.name for processor in PROCESSORS]
    parser.add_argument("names", nargs="*", metavar="PROCESSOR", help=f"of {', '.join(names)} (default: all)")
    parser.add_argument("--short", action="store_true", help="only the tests that are most likely to notice")
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
        package = build(processor, Path(folder))
        kernels, loops = witness(processor, package)
        started = time.monotonic()
        code, output = run(processor, tests, package, "-n", workers)
        minutes = (time.monotonic() - started) / 60.0
    if code:
        print(output)
    ours = "none built" if package is None else f"x86-64-v{processor.level}"
    closing = re.findall(r"\d+ (?:passed|failed|skipped|error)[^=\n]*?(?= in )", output)[-1:] or ["nothing ran"]
    return code, f"| {processor.name} | {kernels} | {loops} | {ours} | {closing[0]} | {minutes:.1f} |"


PAGE = """# The numerical tests on emulated processors

Made by `python tests/processors.py` with NumPy {numpy}. OpenBLAS and NumPy say themselves which kernels and loops they
run; the OpenBLAS of a wheel may have those of a near relative only (Haswell's for a Zen).

| processor | OpenBLAS's kernels | NumPy's loops | our loops | the numerical tests | minutes |
|---|---|---|---|---|---|
{rows}
"""


if __name__ == "__main__":
    sys.exit(main())
