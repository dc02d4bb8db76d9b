"""Arguments that subcommands share: bounded whole numbers, the user's own modules, a folder for output."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

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


def add_journal(parser: argparse.ArgumentParser, help: str) -> None:  # noqa: A002
    """Add the argument for the study to read, also as ``--study``."""
    parser.add_argument("journal", nargs="?", metavar="study", help=help)
    parser.add_argument("--study", dest="journal_too", metavar="PATH", help="the same, as the other commands have it")


def journal_of(arguments: argparse.Namespace) -> str:
    """The given path, or the path of the journal of the given study.toml."""
    if arguments.journal is not None and arguments.journal_too is not None:
        raise InvalidInput(f"name one study; got {arguments.journal!r} and --study {arguments.journal_too!r}.")
    given: str | None = arguments.journal if arguments.journal is not None else arguments.journal_too
    if given is not None and not (given.endswith(".toml") or os.path.exists(os.path.join(given, "study.toml"))):
        return given
    if given is None and not os.path.exists("study.toml"):
        raise InvalidInput("there is no study.toml in this folder; name the journal of a study.")
    from believer.lab.folder import Folder

    journal = Folder.at(given).file.journal
    if not journal.exists():
        raise InvalidInput(f"this study has no journal yet: {journal} comes with the first believer ask.")
    return str(journal)


def look_here(*names: str | None) -> None:
    """Let modules in the current folder be found, if one of ``names`` is ``module:object``."""
    # An installed command does not search there, but users who name a module expect it to.
    if any(name and ":" in name for name in names) and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())


def writable(folder: Path) -> Path:
    """Make the folder if necessary and return it; InvalidInput if it is not writable."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InvalidInput(f"--out must be a folder to write into; got {folder}: {error.strerror or error}.") from error
    return folder
