"""Positions in a TOML file, so that an error about its content names the line and the nearest known key."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from believer.arrays import nearest, shown
from believer.errors import InvalidInput

Path = tuple[str | int, ...]
"""The keys from the top of the file; for a list of tables, the number of the table, from 0."""

_HEADER = re.compile(r"\s*\[(\[)?([^\[\]]+)\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")


def lines_of(text: str) -> dict[Path, int]:
    """The line, from 1, of every table and key of a TOML text."""
    found: dict[Path, int] = {}
    counts: dict[Path, int] = {}
    table: Path = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            table = _parts(header[2])
            if header[1]:
                counts[table] = counts.get(table, -1) + 1
                table = (*table, counts[table])
            found.setdefault(table, number)
        elif key := _KEY.match(line):
            found.setdefault((*table, *_parts(key[1])), number)
    return found


def _parts(dotted: str) -> Path:
    """The parts of a dotted key; nothing for a line that only looks like one, such as a line of a long text."""
    try:
        value: Any = tomllib.loads(f"{dotted} = 0")
    except tomllib.TOMLDecodeError:
        return ()
    keys: list[str] = []
    while isinstance(value, dict):
        key = next(iter(value))
        keys.append(key)
        value = value[key]
    return tuple(keys)


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a file, for errors about it.

    Attributes
    ----------
    file : the file, as the user named it.
    lines : the line of each key.
    path : the keys that lead to the place.
    """

    file: str
    lines: Mapping[Path, int]
    path: Path = ()

    def at(self, *keys: str | int) -> Place:
        """A place below this one."""
        return replace(self, path=(*self.path, *keys))

    def error(self, what: str) -> InvalidInput:
        """An error that names the place, and ``what`` is wrong there."""
        path = self.path
        while path and path not in self.lines:
            path = path[:-1]
        where = f"{self.file}, line {self.lines[path]}" if path else self.file
        return InvalidInput(f"{where}: {what}")

    @property
    def name(self) -> str:
        """The name of the place as written in the file: [parameters.temperature]."""
        named = ".".join(part for part in self.path if isinstance(part, str))
        return f"[{named}]" if named else "the file"

    def table(self, value: Any) -> dict[str, Any]:
        """Return ``value``, which must be a table."""
        if not isinstance(value, dict):
            raise self.error(f"{self.name} must be a table with keys of its own; got {shown(value)}.")
        return value

    def text(self, value: Any) -> str:
        """Return ``value``, which must be a text."""
        if not isinstance(value, str):
            raise self.error(f"{self.path[-1]} must be a text in quotes; got {shown(value)}.")
        return value

    def refuse_unknown(self, keys: Iterable[str], known: Sequence[str]) -> None:
        """Raise an error for the first unknown key, with the nearest known one."""
        for key in keys:
            if key not in known:
                raise self.at(key).error(f"{self.name} has no key {key!r}; {nearest(key, known)}")
