"""``believer report``: the page of a study, from its journal."""

from __future__ import annotations

import argparse
from pathlib import Path

from believer.cli.arguments import at_least
from believer.page.reporting import report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``believer report``."""
    parser.add_argument("journal", type=Path, help="the journal of the study; it is only read")
    parser.add_argument("-o", "--out", type=Path, help="the file to write (default: the journal's name with .html)")
    parser.add_argument(
        "--next",
        type=at_least(0),
        metavar="Q",
        help="show a next batch of Q trials (default: as many as the last batch had; none in a study of more than "
        "500 results; 0 for none)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the page, and say where it is."""
    target = arguments.out or arguments.journal.with_suffix(".html")
    print(report(arguments.journal, target, next_q=arguments.next))
    return 0
