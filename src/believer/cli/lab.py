"""The parts that the commands of the lab share: the study's folder, questions, and output for people or programs."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from believer.errors import InvalidInput, OtherSettings
from believer.lab.folder import Folder
from believer.optimizer import Optimizer

NOT_ALL = 3
"""The exit code if some rows were not taken."""


def add_study(parser: argparse.ArgumentParser, changes: bool = True) -> None:
    """Add the options for the study and for the output."""
    parser.add_argument("--study", type=Path, metavar="PATH", help="study.toml, or its folder (default: this folder)")
    parser.add_argument("--json", action="store_true", help="print one JSON object, for programs; ask nothing")
    if changes:
        parser.add_argument("-y", "--yes", action="store_true", help="answer every question with yes")


@contextmanager
def opened(arguments: argparse.Namespace, begin: bool = True) -> Iterator[tuple[Folder, Optimizer]]:
    """Open the study for changes. If study.toml was edited, the differences are shown, and the user must agree.

    Without ``begin`` there must be a journal already.
    """
    folder = Folder.at(arguments.study)
    if not (begin or folder.has_begun):
        raise InvalidInput("this study has no suggestions and no results yet; begin with believer ask.")

    def agree(lines: Sequence[str]) -> bool:
        if not arguments.json:
            say(f"{folder.relative(folder.file.path)} has changed since the last command:")
            say("\n".join(f"  {line}" for line in lines))
        return agreed(arguments, "Go on with the study as it is now?")

    try:
        with folder.opened(agree) as study:
            yield folder, study
    except OtherSettings as error:
        raise OtherSettings(
            f"study.toml has changed since the last command: {'; '.join(error.lines)}. Nothing was done. Answer with "
            "yes, or pass --yes, to go on with it; or take the change back.",
            error.lines,
        ) from error


def agreed(arguments: argparse.Namespace, question: str) -> bool:
    """Whether the user says yes: on the command line, or to the question in a terminal."""
    if arguments.yes:
        return True
    if arguments.json or not sys.stdin.isatty():
        return False
    return asked(f"{question} [y/N] ").casefold() in ("y", "yes")


def asked(question: str) -> str:
    """The line that the user types after a question, without blanks around it; InvalidInput if the input has ended."""
    try:
        return input(question).strip()
    except EOFError:
        print(flush=True)
        raise InvalidInput("the input ended before the questions did; nothing was done.") from None


def say(text: str) -> None:
    """Print a text at once."""
    print(text, flush=True)


def answer(arguments: argparse.Namespace, words: str, data: Mapping[str, Any]) -> None:
    """Print the ``words`` for a person, or the ``data`` for a program."""
    say(json.dumps({"ok": True, **data}, ensure_ascii=True, allow_nan=False) if arguments.json else words)
