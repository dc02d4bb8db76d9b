"""The paper uses the library as anyone can: by names that a door lists."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

import believer_paper

ROOT = Path(believer_paper.__file__).parent
DOORS = {
    "believer",
    *(f"believer.{name}" for name in ("plugins", "errors", "arrays", "numerics", "space", "problems", "maximize")),
    *(f"believer.{name}" for name in ("surrogates", "acquisitions", "batch", "experiments", "diagnostics")),
    *(f"believer.{name}" for name in ("report", "cli", "integrations", "testing")),
    *("believer_bench", "believer_bench.problems"),
}
OURS = ("believer", "believer_bench")


def uninvited(source: str) -> list[str]:
    """What ``source`` imports of the library, wherever in the file, that no door lists."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names if alias.name.split(".")[0] in OURS]
            found += [name for name in names if name not in DOORS]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in OURS:
            names = [alias.name for alias in node.names]
            listed = import_module(str(node.module)).__all__ if node.module in DOORS else []
            found += [f"{node.module}.{name}" for name in names if name not in listed or _is_private(name)]
    return found


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


def test_the_files_of_the_paper_import_what_a_door_lists() -> None:
    paths = {path.relative_to(ROOT).as_posix(): path for path in ROOT.rglob("*.py")}
    found = {name: uninvited(path.read_text(encoding="utf-8")) for name, path in paths.items()}
    assert len(found) > 50
    assert {name: names for name, names in found.items() if names} == {}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("from believer.surrogates.gp import GP", ["believer.surrogates.gp.GP"]),
        ("from believer.surrogates import gp", ["believer.surrogates.gp"]),
        ("def f():\n    from believer.batch import _Strategies", ["believer.batch._Strategies"]),
        ("import believer.study.ledger as ledger", ["believer.study.ledger"]),
        ("from believer import study", ["believer.study"]),
        ("from believer_bench.race import race", ["believer_bench.race.race"]),
        ("from believer import GP, __version__\nimport believer.plugins\nimport numpy", []),
        ("from believer.plugins import Data\nfrom believer.integrations import dask", []),
    ],
)
def test_the_walk_sees_every_way_around_a_door(source: str, expected: list[str]) -> None:
    assert uninvited(source) == expected
