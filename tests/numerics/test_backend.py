from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

import pytest
from waiting import PATIENCE

import believer as bv
from believer.errors import InvalidInput
from believer.numerics import backend
from believer.study import settings

BUILT = find_spec("believer._native") is not None
needs_native = pytest.mark.skipif(not BUILT, reason="believer._native is not built here")
PACKAGE = Path(bv.__file__).parent


@pytest.fixture
def unread(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process that has computed nothing, with the variable unset."""
    monkeypatch.delenv("BELIEVER_BACKEND", raising=False)
    monkeypatch.delattr(backend, "native", raising=False)


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if name != "BELIEVER_BACKEND"}
    return subprocess.run(
        [sys.executable, "-c", code],
        env=clean | environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def failing(error: Exception) -> Callable[[], NoReturn]:
    def load() -> NoReturn:
        raise error

    return load


def test_the_name_the_module_and_the_journal_say_the_same() -> None:
    assert backend.name() == ("python" if backend.native is None else "native")
    assert bv.backend() == backend.name() == settings.versions()["backend"]
    with backend.using("python"):
        assert bv.backend() == backend.name() == settings.versions()["backend"] == "python"


def test_python_by_name_is_no_module() -> None:
    with backend.using("python"):
        assert backend.native is None


@needs_native
def test_native_by_name_is_the_compiled_module() -> None:
    with backend.using("native"):
        assert backend.name() == "native"
        compiled: Any = sys.modules["believer._native"]
        assert backend.native is compiled


@needs_native
def test_blocks_nest_and_each_end_brings_back_what_was_before() -> None:
    before = backend.name()
    with backend.using("python"):
        with backend.using("native"):
            with backend.using("python"):
                assert backend.name() == "python"
            assert backend.name() == "native"
        assert backend.name() == "python"
    assert backend.name() == before


def leave_with_an_error(name: str) -> None:
    with backend.using(name):
        raise KeyError(name)


@pytest.mark.parametrize("name", ["python", pytest.param("native", marks=needs_native)])
def test_a_block_that_fails_brings_back_what_was_before(name: str) -> None:
    before = backend.name()
    with pytest.raises(KeyError):
        leave_with_an_error(name)
    assert backend.name() == before


def test_an_unknown_name_is_refused_and_changes_nothing() -> None:
    before = backend.name()
    with pytest.raises(InvalidInput, match=r'must be "native" or "python"; got \'Native\''), backend.using("Native"):
        pass
    assert backend.name() == before


@pytest.mark.parametrize("error", [ImportError("undefined symbol"), TypeError("dgemm has the wrong signature")])
def test_native_by_name_that_does_not_load_is_one_error_that_says_why(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = backend.name()
    monkeypatch.setattr(backend, "_load", failing(error))
    with pytest.raises(InvalidInput, match=f"{error}.*Reinstall believer with a C compiler"), backend.using("native"):
        pass
    assert backend.name() == before


@pytest.mark.usefixtures("unread")
def test_where_nothing_was_built_python_runs_and_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "believer._native", None)  # the import system's own word for "not there"
    assert backend.name() == "python"
    with pytest.raises(InvalidInput, match=r"believer\._native"), backend.using("native"):
        pass


@pytest.mark.usefixtures("unread")
@pytest.mark.parametrize(
    "error",
    [
        ImportError("undefined symbol"),
        TypeError("dgemm has the wrong signature"),
        ModuleNotFoundError("No module named 'scipy.linalg'", name="scipy.linalg"),
    ],
)
def test_a_built_module_that_does_not_load_gives_way_to_python_with_a_warning(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backend, "_load", failing(error))
    with pytest.warns(RuntimeWarning, match=f"does not load \\({error}\\)"):
        assert backend.name() == "python"
    assert backend.name() == "python"  # said once


@pytest.mark.usefixtures("unread")
def test_a_block_leaves_the_reading_of_the_environment_for_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BELIEVER_BACKEND", "nonsense")
    with backend.using("python"):
        assert backend.name() == "python"
    with pytest.raises(InvalidInput):
        backend.name()


@pytest.mark.parametrize("environment", [{}, {"BELIEVER_BACKEND": ""}])
def test_an_unset_or_empty_variable_takes_what_was_built(environment: dict[str, str]) -> None:
    done = run("import believer; print(believer.backend())", **environment)
    assert (done.stdout.strip(), done.stderr) == ("native" if BUILT else "python", "")


@pytest.mark.parametrize("name", ["python", pytest.param("native", marks=needs_native)])
def test_the_variable_decides(name: str) -> None:
    done = run("import believer; print(believer.backend())", BELIEVER_BACKEND=name)
    assert (done.stdout.strip(), done.stderr) == (name, "")


def test_the_python_twin_does_not_load_the_compiled_module() -> None:
    code = "import sys, believer; believer.backend(); print('believer._native' in sys.modules)"
    assert run(code, BELIEVER_BACKEND="python").stdout.strip() == "False"


def test_the_variable_asking_for_native_where_there_is_none_is_one_error() -> None:
    code = "import sys, believer; sys.modules['believer._native'] = None; believer.backend()"
    done = run(code, BELIEVER_BACKEND="native")
    assert done.returncode != 0
    assert 'InvalidInput: BELIEVER_BACKEND can be "native" only if' in done.stderr


def test_a_wrong_variable_is_refused_at_the_first_use_and_not_at_the_import() -> None:
    done = run("import believer; print('imported'); believer.backend()", BELIEVER_BACKEND="cython")
    assert done.stdout.strip() == "imported"
    assert """InvalidInput: BELIEVER_BACKEND must be "native" or "python"; got 'cython'.""" in done.stderr


def test_the_variable_is_read_once() -> None:
    code = (
        "import os, believer as bv; bv.backend(); os.environ['BELIEVER_BACKEND'] = 'nonsense'; "
        "bv.Optimizer(bv.Space({'x': bv.Float(0, 1)}), seed=1).ask(); print(bv.backend())"
    )
    assert run(code, BELIEVER_BACKEND="python").stdout.strip() == "python"


def test_no_other_file_reads_the_variable() -> None:
    readers = [
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and node.value == "BELIEVER_BACKEND"
    ]
    assert readers == ["numerics/backend.py"]


@needs_native
def test_the_stub_names_what_the_compiled_module_has() -> None:
    stub = ast.parse((PACKAGE / "_native.pyi").read_text(encoding="utf-8"))
    with backend.using("native"):
        compiled = backend.native
    *classes, module = (node for node in stub.body if isinstance(node, ast.ClassDef))
    for node in classes:
        written = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
        own = {name for name in vars(getattr(compiled, node.name)) if not name.startswith("_")}
        assert written - {"__init__"} == own, node.name
    functions = {node.name for node in module.body if isinstance(node, ast.FunctionDef)}
    made_here = {name for name, value in vars(compiled).items() if not name.startswith("_") and callable(value)}
    assert functions | {node.name for node in classes} == made_here
    fields = {node.target.id for node in module.body if isinstance(node, ast.AnnAssign) and hasattr(node.target, "id")}
    assert {name for name in fields if not hasattr(compiled, name)} == set()
