"""The compiled module under AddressSanitizer and UndefinedBehaviorSanitizer.

::

    python tests/native/asan.py                  # its own tests, and 1000 changed journals
    python tests/native/asan.py --journals 9000

The module is built with both sanitizers into a temporary folder, beside a copy of the package, and what the tests of
this folder and ``tests/hostile_journals.py`` do with it is watched: a read or a write outside of what was allocated, a
size that wraps or a shift too far ends the process. Without gcc and its libasan nothing can be built, which is said and
is no error.
"""

from __future__ import annotations

import argparse
import ctypes.util
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
COMPILER = os.environ.get("CC", sysconfig.get_config_var("CC") or "cc").split()[0]
SANITIZED = "-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer"

# The widest loops are picked by the loader, before sanitizers are awake; so there is one version of each.
CFLAGS = f"{SANITIZED} -DONE_LEVEL=1"

OVERFLOW = """
import ctypes
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
ctypes.memset(libc.malloc(8), 0, 9)
"""
"""One byte too many: what does not end with this watches nothing."""

WHERE = "import believer._native as native; print(native.__file__)"

# Freed memory is kept back for a while, so that a use of it is seen: nothing can be said of leaks.
LEAKS = "leave_no_memory_behind"


def library(name: str) -> Path | None:
    """The file of a library that goes with the compiler."""
    command = [COMPILER, f"-print-file-name={name}"]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    return Path(said).resolve() if said and Path(said).is_absolute() and Path(said).exists() else None


def missing() -> str | None:
    """Why it cannot be done here; None where it can."""
    if sys.platform != "linux":
        return "sanitizers are loaded first by LD_PRELOAD, on Linux"
    if shutil.which(COMPILER) is None:
        return f"there is no compiler {COMPILER}"
    if not (Path(sysconfig.get_path("include")) / "Python.h").exists():
        return "Python.h is not installed"
    return None if library("libasan.so") and library("libubsan.so") else f"{COMPILER} has no libasan.so or libubsan.so"


def build(folder: Path) -> Path:
    """A copy of the package in ``folder``, its module with both sanitizers."""
    into = ["--build-lib", str(folder / "lib"), "--build-temp", str(folder / "temp")]
    command = [sys.executable, "setup.py", "-q", "egg_info", "--egg-base", str(folder), "build", *into]
    flags = {"CC": COMPILER, "CFLAGS": CFLAGS, "LDFLAGS": SANITIZED}
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **flags},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert list((folder / "lib" / "believer").glob("_native.*.so")), done.stdout
    return folder / "lib"


def environment(package: Path) -> dict[str, str]:
    """That of a process in which sanitizers watch the package."""
    kept = {n: v for n, v in os.environ.items() if not n.startswith(("PYTEST_", "COV_", "COVERAGE_"))}
    # The C++ library too: libasan looks for its exceptions when it is loaded, and SciPy throws some.
    first = [library("libasan.so"), library("libstdc++.so.6") or ctypes.util.find_library("stdc++")]
    return {
        **kept,
        **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
        "PYTHONPATH": str(package),
        "PYTHONMALLOC": "malloc",
        "LD_PRELOAD": " ".join(str(name) for name in first if name),
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1:abort_on_error=1",
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1:abort_on_error=1",
        "BELIEVER_BACKEND": "native",
    }


def run(command: list[str], package: Path) -> tuple[int, str]:
    """Exit code and output of a Python under the sanitizers."""
    done = subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env=environment(package),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--journals", type=int, default=1000, help="changed journals (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the changes")
    arguments = parser.parse_args()
    why = missing()
    if why is not None:
        print(f"skipped: {why}")
        return 0
    failed = False
    with tempfile.TemporaryDirectory() as name:
        package = build(Path(name))
        code, output = run(["-c", OVERFLOW], package)
        assert "heap-buffer-overflow" in output, f"the sanitizer does not watch, code {code}: {output}"
        code, output = run(["-c", WHERE], package)
        assert code == 0, output
        assert Path(output.strip().splitlines()[-1]).is_relative_to(package), output
        pytest = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0"]
        journals = [str(ROOT / "tests" / "hostile_journals.py"), str(arguments.journals), "--unbounded"]
        for what, command in {
            "tests/native": [*pytest, "-k", f"not {LEAKS}", "tests/native"],
            f"{arguments.journals} changed journals": [*journals, "--seed", str(arguments.seed)],
        }.items():
            started = time.monotonic()
            code, output = run(command, package)
            failed |= code != 0
            if code:
                print(output[-20_000:])
            last = (output.strip().splitlines() or ["no output"])[-1]
            print(f"{what}: {'failed' if code else 'clean'}, {time.monotonic() - started:.0f} s; {last}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
