"""``believer new``: a study.toml, from a few questions or as a template."""

from __future__ import annotations

import argparse
from pathlib import Path

from believer.cli.lab import asked, say
from believer.errors import InvalidInput
from believer.lab.beginning import TEMPLATE, Answers
from believer.lab.folder import Folder
from believer.lab.state import steps
from believer.lab.study_file import NAME


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``believer new``."""
    parser.add_argument("folder", nargs="?", type=Path, default=Path(), help="the folder (default: this one)")
    parser.add_argument("--template", action="store_true", help="ask nothing: write an example to be edited")


def run(arguments: argparse.Namespace) -> int:
    """Ask the questions, write study.toml, and print the next steps."""
    target: Path = arguments.folder / NAME
    journal = target.with_suffix(".jsonl")
    for taken in (target, journal):
        if taken.exists():
            raise InvalidInput(f"{taken} exists, so there is a study already; begin another one in another folder.")
    text = TEMPLATE if arguments.template else Answers(asked, say).text(arguments.folder.resolve().name)
    try:
        arguments.folder.mkdir(parents=True, exist_ok=True)
        with open(target, "x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise InvalidInput(f"{target} cannot be written: {error.strerror or error}.") from error
    folder = Folder.at(target)
    here = "" if arguments.folder.resolve() == Path.cwd() else f" --study {folder.relative(arguments.folder)}"
    what = "an example to be edited with any text editor" if arguments.template else "which any text editor can change"
    say(f"\n{folder.relative(target)} is written, {what}.")
    say(steps(f"believer ask{here} suggests the first {folder.file.batch} experiments."))
    return 0
