"""The rooms of the package, in levels, and what their files import: for the law of levels and for the picture of it."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import believer

ROOT = Path(believer.__file__).parent

# A file imports from a lower level, or from its own room. One entry for each file or folder of the package.
LEVELS = {
    "errors": 0.0,
    "_interrupts": 0.0,
    "_version": 0.0,
    "capabilities": 0.0,
    "_lazy": 0.5,
    "arrays": 0.5,
    "_native": 1.0,
    "numerics": 2.0,
    "report": 2.0,
    "space": 3.0,
    "problems": 4.0,
    "maximize": 4.0,
    "surrogates": 5.0,
    "acquisitions": 6.0,
    "batch": 7.0,
    "study": 8.0,
    "trees": 8.5,
    "best_draft": 8.4,
    "propose": 8.5,
    "optimizer": 9.0,
    "progress": 9.0,
    "plugins": 9.0,
    "workers": 9.0,
    "result": 9.2,
    "stopping": 9.4,
    "clusters": 9.3,
    "program": 9.5,
    "evaluation": 9.5,
    "loop": 10.0,
    "replay": 10.0,
    "experiments": 10.5,
    "plot": 10.7,
    "page": 10.9,
    "diagnostics": 11.0,
    "testing": 11.0,
    "lab": 11.0,
    "integrations": 12.0,
    "cli": 15.0,
    "__main__": 16.0,
}

Arrows = dict[str, tuple[str, ...]]
"""From each room to rooms that it imports, both from the top level down."""


def files() -> list[Path]:
    """Every module of the package but its door, ``believer/__init__.py``, which may import from anywhere."""
    return [path for path in sorted(ROOT.rglob("*.py")) if path != ROOT / "__init__.py"]


def room_of(path: Path) -> str:
    """The first part of its path: a folder, or the name of a single file."""
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def package_of(path: Path) -> str:
    """The dotted name of the package that a file is in."""
    return ".".join(["believer", *path.relative_to(ROOT).parts[:-1]])


def imported_rooms(source: str, package: str) -> list[str]:
    """The rooms of believer that ``source`` imports, wherever in the file; ``package`` is the dotted name it is in."""
    names: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*parts, node.module] if node.module else parts)
            names += [f"{base}.{alias.name}" for alias in node.names] if base == "believer" else [base]
    return [name.removeprefix("believer.").split(".")[0] for name in names if name.split(".")[0] == "believer"]


@cache
def arrows() -> Arrows:
    """What each room imports, from the files as they are when it is first asked."""
    found: dict[str, set[str]] = {room: set() for room in LEVELS}
    for path in files():
        room = room_of(path)
        found[room].update(imported_rooms(path.read_text(encoding="utf-8"), package_of(path)))
    return {room: _ordered(found[room] - {room}) for room in _ordered(found)}


def reduced(every: Arrows) -> Arrows:
    """The transitive reduction: without arrows to where others lead anyway."""
    reach: dict[str, set[str]] = {}
    for room in reversed(every):  # from the bottom, so that what is imported is known by then
        reach[room] = set(every[room]).union(*(reach[other] for other in every[room]))
    return {
        room: tuple(other for other in others if not any(other in reach[between] for between in others))
        for room, others in every.items()
    }


def _ordered(rooms: dict[str, set[str]] | set[str]) -> tuple[str, ...]:
    return tuple(sorted(rooms, key=lambda room: (-LEVELS[room], room)))
