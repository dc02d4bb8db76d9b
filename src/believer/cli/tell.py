"""``believer tell``: the results in a sheet."""

from __future__ import annotations

import argparse
from pathlib import Path

from believer.cli.lab import NOT_ALL, add_study, agreed, answer, opened, say
from believer.errors import InvalidInput
from believer.lab.filled import read_filled
from believer.lab.folder import Folder
from believer.lab.headings import TRIAL, columns_of
from believer.lab.state import steps
from believer.lab.telling import carry_out, plan
from believer.study.goals import Goals

_OTHERS = {".jsonl": "the journal", ".html": "a page to look at", ".toml": "the description of the study"}
"""What other files of a study are."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``believer tell``."""
    parser.add_argument("sheet", type=Path, help="a sheet with results: .csv, .xlsx or .json")
    add_study(parser)


def run(arguments: argparse.Namespace) -> int:
    """Tell what can be told, and say of each other row why it was not taken; 3 if there is such a row."""
    if (what := _OTHERS.get(arguments.sheet.suffix.lower())) is not None:
        raise InvalidInput(f"{arguments.sheet} is {what}; tell a sheet, such as batch-001.csv.")
    file = Folder.at(arguments.study).file
    filled = read_filled(arguments.sheet, (TRIAL, *file.space.names, *file.options["outcomes"]))
    columns_of(filled, file.space, Goals(file.options["outcomes"]))
    with opened(arguments) as (folder, study):
        planned = plan(study, filled, folder.file.decimal)
        accept = False
        if planned.questions:
            if not arguments.json:
                count = len(planned.questions)
                say(f"{count} {'row needs' if count == 1 else 'rows need'} your word:")
                say("\n".join(f"  {row}" for row in planned.questions))
            accept = agreed(arguments, "Take them?")
        report = carry_out(study, planned, accept)
        pending = [one.id for one in study.pending]
        next_steps = []
        if report.questions:
            next_steps.append("to take those rows, tell the sheet again and answer yes, or pass --yes.")
        if report.problems:
            next_steps.append("mend those rows and tell the sheet again; what is told already is not told twice.")
        if not next_steps:
            next_steps.append("believer show, or believer ask for the next experiments.")
    count = len(pending)
    waits = f"{count} {'experiment waits' if count == 1 else 'experiments wait'} for results." if count else ""
    words = "\n".join(line for line in (str(report), waits, steps(*next_steps)) if line)
    answer(arguments, words, {**report.to_config(), "pending": pending})
    return 0 if report.is_complete else NOT_ALL
