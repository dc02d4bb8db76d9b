"""The installation, with what is needed to build ``believer._native`` and without.

Nothing is downloaded: the fresh environments see the packages of the running one, though not its believer.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest
from processors import CAN_COMPILE, COMPILER
from waiting import PATIENCE

import believer

ROOT = Path(__file__).parent.parent
PACKAGE = Path(believer.__file__).parent
MODULE = f"_native{sysconfig.get_config_var('EXT_SUFFIX')}"
slow = pytest.mark.slow("builds and installs what others build and install")
needs_compiler = pytest.mark.skipif(not CAN_COMPILE, reason="there is no C compiler here, or no headers of Python")
STUDY = """
import believer as bv
result = bv.minimize(lambda p: (p["x"] - 0.3) ** 2, bv.Space({"x": bv.Float(0, 1)}), 8, q=3, seed=1)
print(bv.backend(), result.value < 0.01)
"""
NOT_BUILT = "believer._native was not built, believer runs in Python alone."


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A copy of what an installation reads, with nothing built in it."""
    copy = tmp_path / "source"
    copy.mkdir()
    for name in ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE", "CHANGELOG.md"):
        shutil.copy(ROOT / name, copy)
    leave = shutil.ignore_patterns("__pycache__", "*.egg-info", "_native*.so", "_native*.pyd")
    for name in ("src", "native"):
        shutil.copytree(ROOT / name, copy / name, ignore=leave)
    return copy


@pytest.fixture
def small(source: Path) -> Path:
    """The same with a compiled module that is built in a moment."""
    (source / "native" / "_native.pyx").write_text("def answer():\n    return 42\n", encoding="utf-8")
    return source


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """The interpreter of a fresh environment. The listed folders are searched, their own .pth files are not read."""
    home = tmp_path / "environment"
    venv.create(home, symlinks=True)
    (own,) = home.glob("lib/python*/site-packages")
    packages = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    (own / "running.pth").write_text("\n".join(packages), encoding="utf-8")
    return home / "bin" / "python"


@pytest.fixture
def no_compiler(tmp_path: Path) -> dict[str, str]:
    """An environment in which nothing can be compiled: no program is on the path, and CC is none either."""
    (tmp_path / "no programs").mkdir()
    return {"PATH": str(tmp_path / "no programs"), "CC": "/nonexistent/cc"}


def run(cwd: Path, environment: dict[str, str], *command: str | Path) -> tuple[int, str]:
    """Exit code and output of a command that is told nothing of compilers, paths and backends but what is given."""
    unwanted = ("CC", "CFLAGS", "LDSHARED", "PYTHONPATH", "BELIEVER_BACKEND", "BELIEVER_NATIVE", "BELIEVER_NATIVE_ARCH")
    clean = {name: value for name, value in os.environ.items() if name not in unwanted} | environment
    done = subprocess.run(
        command,
        cwd=cwd,
        env=clean,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return done.returncode, done.stdout


def install(python: Path, environment: dict[str, str], *what: str | Path) -> str:
    """Output of ``pip install`` into the environment of ``python``. Whatever believer the running one has is let be."""
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--verbose"]
    offline = ["--no-deps", "--no-index", "--no-build-isolation", "--ignore-installed"]
    code, output = run(python.parent, environment, *pip, *offline, *what)
    assert code == 0, output
    return output


def build(source: Path, environment: dict[str, str]) -> tuple[int, str]:
    """The step of an editable installation that makes the module."""
    return run(source, environment, sys.executable, "setup.py", "build_ext", "--inplace")


def study(python: Path, **environment: str) -> str:
    code, output = run(python.parent, environment, python, "-c", STUDY)
    assert code == 0, output
    return output.strip()


@slow
def test_without_a_compiler_the_install_succeeds_and_python_runs(
    source: Path, python: Path, no_compiler: dict[str, str]
) -> None:
    output = install(python, no_compiler, source)
    (notice,) = [line for line in output.splitlines() if NOT_BUILT in line]
    assert "/nonexistent/cc" in notice
    assert study(python) == "python True"
    assert [path.name for path in python.parents[1].rglob("_native*")] == ["_native.pyi"]


def test_without_cython_the_build_goes_on(source: Path, tmp_path: Path) -> None:
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "Cython.py").write_text("raise ImportError('Cython is hidden')\n", encoding="utf-8")
    code, output = build(source, {"PYTHONPATH": str(tmp_path / "hidden")})
    assert code == 0, output
    assert f"{NOT_BUILT} ImportError: Cython is hidden" in output


def test_sources_that_do_not_compile_leave_no_older_module_behind(small: Path) -> None:
    kept = f"build/lib.{sysconfig.get_platform()}-{sys.implementation.cache_tag}/believer"
    for folder in ("src/believer", kept):
        (small / folder).mkdir(parents=True, exist_ok=True)
        (small / folder / MODULE).write_bytes(b"a module of yesterday's sources")
    (small / "native" / "_native.pyx").write_text("def answer(:\n", encoding="utf-8")
    code, output = build(small, {})
    assert code == 0, output
    assert f"{NOT_BUILT} CompileError" in output
    assert list(small.rglob(MODULE)) == []


@slow
@needs_compiler
def test_an_editable_install_builds_in_place_and_leaves_the_sources_clean(small: Path, python: Path) -> None:
    before = sorted((small / "native").iterdir())
    install(python, {}, "--editable", small)
    assert (small / "src" / "believer" / MODULE).exists()
    assert sorted((small / "native").iterdir()) == before
    code = "from believer.numerics import backend; print(backend.native.answer())"
    assert run(python.parent, {}, python, "-c", code) == (0, "42\n")


@slow
@pytest.mark.parametrize("asked", [{"BELIEVER_NATIVE_ARCH": "native"}, {"BELIEVER_NATIVE": "required"}], ids=str)
def test_who_names_a_processor_or_requires_the_module_gets_it_or_an_error(
    small: Path, no_compiler: dict[str, str], asked: dict[str, str]
) -> None:
    code, output = build(small, no_compiler | asked)
    assert code != 0
    assert "/nonexistent/cc" in output


@needs_compiler
def test_a_flag_that_the_compiler_does_not_take_is_left_out(small: Path, tmp_path: Path) -> None:
    compiler = tmp_path / "picky"
    refuse = 'case "$*" in *-fopenmp-simd*) echo "unsupported option" >&2; exit 1;; esac'
    compiler.write_text(f'#!/bin/sh\n{refuse}\nexec {COMPILER} "$@"\n', encoding="utf-8")
    compiler.chmod(0o755)
    code, output = build(small, {"CC": str(compiler), "BELIEVER_NATIVE": "required"})
    assert code == 0, output
    (compiled,) = [line for line in output.splitlines() if line.startswith(str(compiler)) and "_native.c " in line]
    assert "-fno-trapping-math" in compiled
    assert "-fopenmp-simd" not in compiled


@slow
@needs_compiler
def test_the_processor_named_is_the_one_compiled_for(small: Path) -> None:
    for arch in ("native", "no-such-processor"):
        code, output = build(small, {"BELIEVER_NATIVE_ARCH": arch})
        assert f"-march={arch}" in output
        assert (code == 0) == (arch == "native")
    code, output = build(small, {})
    assert (code, "-march" in output) == (0, False)


@needs_compiler
@pytest.mark.slow("compiles the whole module, as whoever installs it from the sdist does")
def test_the_wheel_of_the_sdist_brings_the_compiled_module(source: Path, python: Path, tmp_path: Path) -> None:
    made = tmp_path / "made"
    code, output = run(tmp_path, {}, sys.executable, "-m", "build", "--no-isolation", "--outdir", made, source)
    assert code == 0, output
    (sdist,), (wheel,) = made.glob("*.tar.gz"), made.glob("*.whl")
    with tarfile.open(sdist) as archive:
        names = [Path(name) for name in archive.getnames()]
    assert {name.name for name in names if name.parent.name == "native"} == {
        path.name for path in (ROOT / "native").iterdir()
    }
    assert not [name for name in names if "tests" in name.parts], "setuptools takes some of the tests, and no helpers"
    assert {f"believer/{MODULE}", "believer/_native.pyi", "believer/py.typed"} <= set(zipfile.ZipFile(wheel).namelist())
    install(python, {}, wheel)
    assert study(python) == "native True"
    assert study(python, BELIEVER_BACKEND="python") == "python True"


@pytest.mark.skipif(PACKAGE.parent != ROOT / "src", reason="believer runs from an installation, not from these sources")
@needs_compiler
def test_in_a_checkout_with_a_compiler_the_module_is_built_from_the_sources_of_today() -> None:
    module = PACKAGE / MODULE
    assert module.exists(), "the compiled module is missing: run make, or pip install --editable . --verbose to see why"
    newest = max(path.stat().st_mtime for path in (ROOT / "native").iterdir())
    assert module.stat().st_mtime >= newest, "native/ changed after the compiled module was built: run make"
