"""Lines of a journal, written by hand."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any


def checked(record: dict[str, Any]) -> str:
    """A line of the second format that says this, with its checksum."""
    text = json.dumps({key: value for key, value in record.items() if key != "crc32"}, separators=(",", ":"))
    return f'{text[:-1]},"crc32":"{zlib.crc32(text.encode()):08x}"}}'


def edited(path: Path, change: Callable[[dict[str, Any]], object], line: int = 1) -> None:
    """One line of the journal at ``path`` changed by someone who knows how."""
    lines = path.read_text(encoding="utf-8").splitlines()
    record = json.loads(lines[line - 1])
    change(record)
    lines[line - 1] = checked(record)
    path.write_text("".join(text + "\n" for text in lines), encoding="utf-8")
