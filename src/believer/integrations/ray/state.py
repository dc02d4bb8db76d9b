"""The state of a search as a file: one line of JSON that ends with its CRC-32. Reading it executes nothing."""

from __future__ import annotations

import json
import os
import zlib
from typing import Any

from believer.errors import InvalidInput, JournalCorrupt, JournalTooNew
from believer.study.files import PathLike, Wording, as_path, explained, followed, replace_file
from believer.study.formats import parse_object

KIND, FORMAT = "believer.integrations.ray", 1
"""What the file says that it is, and the newest format of it that this version reads."""

_END = ',"crc32":"{:08x}"}}'
_WORDING = Wording("state", "search", "Save the search to another path.", "Restore the search from it.")


def write_state(path: PathLike, state: dict[str, Any]) -> None:
    """Write plain data at once: whatever happens, ``path`` holds all of the old file or all of the new."""
    head = {"kind": KIND, "format": FORMAT, **state}
    try:
        text = json.dumps(head, allow_nan=False, separators=(",", ":"))[:-1]
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"the state of a search must be plain JSON; {error}.") from error
    replace_file(path, [(text + _END.format(zlib.crc32(text.encode()))).encode()], _WORDING, lock=False)


def read_state(path: PathLike) -> dict[str, Any]:
    """What ``write_state`` wrote; one exception, of :class:`JournalError`, for any other file."""
    with explained("read", as_path(path), "Check the path."), open(followed(path), "rb") as file:
        data = file.read()
    try:
        text = data.decode("ascii")
        found = parse_object(text, "the state of a search")
    except ValueError as error:
        raise damaged(path, error) from error
    if found.get("kind") != KIND:
        raise damaged(path, "it says to be something else")
    if type(found.get("format")) is int and found["format"] > FORMAT:
        raise JournalTooNew(f"{os.fspath(path)} was written by a newer version of believer; upgrade to read it.")
    length = len(text) - len(_END.format(0))
    if text[length:] != _END.format(zlib.crc32(text[:length].encode())):
        raise damaged(path, "its checksum belongs to another text")
    return found


def damaged(path: PathLike, why: object) -> JournalCorrupt:
    """The one exception for a file that is no state of a search."""
    return JournalCorrupt(f"{os.fspath(path)} is no state of a BelieverSearch, or was damaged: {why}.", 1)
