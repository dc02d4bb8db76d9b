"""``believer watch``: the page of a study while it runs, or a list of studies."""

from __future__ import annotations

import argparse
import webbrowser
from typing import Any

from believer.cli.arguments import add_journal, at_least, journal_of
from believer.page.watching import PORT, watch


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``believer watch``."""
    add_journal(
        parser,
        "the journal of a study, its folder or study.toml (default: this folder), a folder of journals, or the storage "
        "of Optuna's at an address such as sqlite:///study.db; they are only read",
    )
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        help="address to listen at (default: %(default)s, which this machine alone can reach; others get a token)",
    )
    parser.add_argument(
        "--port", type=at_least(0), help=f"port to listen at (default: {PORT}, or the first free one after it)"
    )
    parser.add_argument("--token", action="store_true", help="ask for a token, also of programs of this machine")
    parser.add_argument("--next", type=at_least(0), metavar="Q", help="show a next batch of Q trials; 0 for none")
    parser.add_argument("--open", action="store_true", help="open the page in a browser")


def run(arguments: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C."""
    given = {"host": arguments.host, "port": arguments.port, "next_q": arguments.next}
    study: Any = journal_of(arguments)
    name = study
    if "://" in study:
        from believer.integrations.optuna_studies import studies_in

        study = studies_in(study)
    with watch(study, token=arguments.token or None, **given) as page:
        print(f"Watching {name} at {page.url} (Ctrl-C ends it).", flush=True)
        try:
            if arguments.open:
                webbrowser.open(page.url)
            page.wait()
        except KeyboardInterrupt:
            print("\nStopped watching.", flush=True)
    return 0
