"""``believer amend``: correct the result of an experiment."""

from __future__ import annotations

import argparse

from believer.cli.arguments import at_least
from believer.cli.lab import add_study, answer, opened
from believer.lab.amending import amended
from believer.lab.state import steps


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``believer amend``."""
    parser.add_argument("trial", type=at_least(0), help="the number of the trial")
    parser.add_argument(
        "results",
        nargs="+",
        metavar="NAME=VALUE",
        help="what is right, such as yield=82.5; a name twice for replicates; yield=failed if it gave no number; "
        "temperature=85 if that was really used",
    )
    add_study(parser)


def run(arguments: argparse.Namespace) -> int:
    """Replace a result, and print the earlier one."""
    with opened(arguments, begin=False) as (folder, study):
        lines = amended(study, arguments.trial, arguments.results, folder.file.decimal)
        sheets = [folder.relative(path) for path in folder.sheets_with(study, {arguments.trial})]
    words = "\n".join(
        [
            *lines,
            *(f"Change it in {sheet} too." for sheet in sheets),
            steps("believer show, or believer ask for the next experiments."),
        ]
    )
    answer(arguments, words, {"trial": arguments.trial, "changes": lines})
    return 0
