"""What the verbs' arguments share: whole numbers with a least value, the user's own objects, a folder to write into."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from believer.bench.loading import load
from believer.errors import InvalidInput


def at_least(least: int) -> Callable[[str], int]:
    """A parser of whole numbers, ``least`` or more."""

    def parse(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if number < least:
            raise argparse.ArgumentTypeError(f"must be a whole number, {least} or more; got {text!r}")
        return number

    return parse


def loaded(name: str) -> Any:
    """The user's own ``module:object``, also of a module in the folder where the command is called."""
    # An installed command does not look there; whoever names a module there expects it to.
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    return load(name)


def writable(folder: Path) -> Path:
    """The folder, made if it was not there; InvalidInput when nothing can be written into it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InvalidInput(f"--out must be a folder to write into; got {folder}: {error.strerror or error}.") from error
    return folder
