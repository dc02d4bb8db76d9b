"""``believer report``: the page of a study, from its journal."""

from __future__ import annotations

import argparse
from pathlib import Path

from believer.cli.arguments import add_journal, at_least, journal_of
from believer.page.reporting import report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``believer report``."""
    add_journal(parser, "the journal of the study, or its folder or study.toml (default: this folder); it is only read")
    parser.add_argument("-o", "--out", type=Path, help="the file to write (default: the journal's name with .html)")
    parser.add_argument(
        "--next",
        type=at_least(0),
        metavar="Q",
        help="show a next batch of Q trials (default: as many as the last batch had; none in a study of more than "
        "500 results; 0 for none)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the page and print its path."""
    journal = Path(journal_of(arguments))
    target = arguments.out or journal.with_suffix(".html")
    print(report(journal, target, next_q=arguments.next))
    print("Open it in a browser.")
    return 0
