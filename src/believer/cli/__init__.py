"""The command ``believer``: one verb a file, each with ``add_arguments(parser)`` and ``run(arguments) -> int``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from believer._version import __version__
from believer.cli import bench, demo, reproduce, sdd
from believer.errors import BelieverError, InvalidInput


@dataclass(frozen=True, slots=True)
class Verb:
    """What a subcommand says in the help, the arguments it takes, and what it does; ``run`` returns the exit code."""

    help: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


VERBS: dict[str, Verb] = {
    "bench": Verb("race batch strategies, and peers, on problems or your own function", bench.add_arguments, bench.run),
    "demo": Verb("tune a classifier and solve Hartmann-6D, with figures", demo.add_arguments, demo.run),
    "reproduce": Verb(
        "run the paper's experiments again, and report what holds", reproduce.add_arguments, reproduce.run
    ),
    "sdd": Verb("diagnose whether surrogates can be lied to, with controls", sdd.add_arguments, sdd.run),
}


class _Parser(argparse.ArgumentParser):
    """Reports a wrong argument in one line, through ``main``, instead of printing its usage."""

    def error(self, message: str) -> NoReturn:
        raise InvalidInput(f"{message} (see {self.prog} --help)")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line ``argv`` (default: this process's); the exit code.

    0: done. 1: nobody reads the output any more. 2: an error, told in one line on standard error. 130: interrupted.
    """
    parser = _Parser(prog="believer", description="Batch Bayesian optimization by efficient conditioning.")
    parser.add_argument("--version", action="version", version=f"believer {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="verb", required=True)
    for name, verb in VERBS.items():
        verb.add_arguments(verbs.add_parser(name, help=verb.help, description=f"believer {name}: {verb.help}."))
    try:
        arguments = parser.parse_args(argv)
        return VERBS[arguments.verb].run(arguments)
    except KeyboardInterrupt:
        print("believer: interrupted.", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # Standard output is flushed once more at exit; give it somewhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (BelieverError, OSError) as error:
        print(f"believer: error: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
