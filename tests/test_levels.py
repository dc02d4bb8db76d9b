from __future__ import annotations

import doctest
import re
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest
from each import each
from levels import LEVELS, ROOT, files, imported_rooms, package_of, room_of
from waiting import PATIENCE

import believer
from believer import surrogates

DOORS = [
    *("plugins", "errors", "arrays", "numerics", "space", "problems", "maximize", "surrogates", "acquisitions"),
    *("batch", "report", "experiments", "plot", "diagnostics", "cli", "integrations", "testing"),
]
"""Modules that list what they offer; what is behind them is nobody's business."""

HEAVY = ["scipy.stats", "scipy.optimize", "sklearn", "matplotlib", "pandas", "torch"]


def offenses(source: str, room: str, package: str) -> list[str]:
    """What ``source``, a file of ``room``, must not import but does: higher rooms, or names from the front door."""
    rooms = [other for other in imported_rooms(source, package) if other != room]
    return [other for other in rooms if LEVELS.get(other, float("inf")) >= LEVELS[room]]


def test_every_module_has_a_level() -> None:
    assert {room_of(path) for path in files()} <= set(LEVELS)


def test_the_map_has_every_room_from_the_bottom_up() -> None:
    page = (Path(__file__).parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = page.split("| room | what is in it |\n|---|---|\n")[1].split("\n\n")[0].splitlines()
    rooms = [room for row in rows for room in re.findall(r"`(\w+)/?`", row.split("|")[1])]
    assert sorted(rooms) == sorted(set(LEVELS) - {"_version", "__main__"})
    assert all(LEVELS[above] <= LEVELS[below] for above, below in pairwise(rooms))


def test_a_file_imports_only_from_lower_levels_or_its_own_room() -> None:
    found = {
        path.relative_to(ROOT).as_posix(): offenses(path.read_text(encoding="utf-8"), room_of(path), package_of(path))
        for path in files()
    }
    assert len(found) > 100
    assert {name: offenses for name, offenses in found.items() if offenses} == {}


@each(
    ("source", "expected"),
    [
        ("from believer.batch import Data", ["batch"]),
        ("import believer.batch.verdict", ["batch"]),
        ("from believer import errors, batch", ["batch"]),
        ("def f():\n    from believer.acquisitions import EI", ["acquisitions"]),
        ("from ..optimizer import Optimizer", ["optimizer"]),
        ("from .. import loop", ["loop"]),
        ("import believer", ["believer"]),
        ("from believer import Optimizer", ["Optimizer"]),
        ("from .kernels import KERNELS", []),
        ("from believer.surrogates.kernels import KERNELS\nfrom believer.numerics import lbfgs\nimport numpy", []),
    ],
)
def test_the_walk_sees_every_way_to_import(source: str, expected: list[str]) -> None:
    assert offenses(source, "surrogates", "believer.surrogates") == expected


def run(code: str) -> str:
    """What ``code`` prints in an interpreter of its own."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_library_knows_nothing_of_the_distributions_that_are_built_on_it() -> None:
    named = re.compile("believer_(paper|bench)")
    assert [path for path in files() if named.search(path.read_text(encoding="utf-8"))] == []


def test_importing_believer_loads_nothing_heavy() -> None:
    assert run(f"import sys, believer; print([name for name in {HEAVY!r} if name in sys.modules])") == "[]"


def test_every_public_name_resolves_and_is_listed_once() -> None:
    assert [name for name in believer.__all__ if not hasattr(believer, name)] == []
    assert len(set(believer.__all__)) == len(believer.__all__)
    assert set(believer.__all__) == set(run("import believer; print(*dir(believer))").split())
    assert len(believer.__all__) <= 45, "the front door is what people type"


def test_every_door_lists_what_it_has() -> None:
    for door in DOORS:
        module = import_module(f"believer.{door}")
        assert [name for name in module.__all__ if not _found(module, name)] == [], door
        assert len(set(module.__all__)) == len(module.__all__), door


def _found(module: ModuleType, name: str) -> bool:
    """Whether ``module`` has ``name``, be it a module of its own that nobody has loaded yet."""
    return hasattr(module, name) or find_spec(f"{module.__name__}.{name}") is not None


def test_every_surrogate_is_at_the_door_and_has_a_name_on_the_command_line() -> None:
    assert set(surrogates.LOADED_ON_USE) <= set(surrogates.__all__)
    assert all(hasattr(believer, name) for name in surrogates.LOADED_ON_USE)
    for name in surrogates.__all__:
        assert getattr(surrogates, name) is not None
    named = {surrogates.SURROGATES[key] for key in surrogates.SURROGATES}
    assert named == {"GP", *surrogates.LOADED_ON_USE} - {"SklearnSurrogate"}  # needs an estimator
    with pytest.raises(AttributeError, match="no attribute 'Oracle'"):
        surrogates.Oracle  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'Oracle'"):
        believer.Oracle  # noqa: B018


def test_the_example_of_the_package_runs() -> None:
    results = doctest.testmod(believer)
    assert results.attempted > 0
    assert results.failed == 0


def test_a_verb_loads_its_own_file_alone() -> None:
    code = (
        "import contextlib, io, sys\nfrom believer.cli import main\n"
        "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit): main(['sdd', '--help'])\n"
        "verbs = ('believer.cli.sdd', 'believer_bench.command', 'believer_paper.command')\n"
        "print([name for name in verbs if name in sys.modules])"
    )
    assert run(code) == "['believer.cli.sdd']"
