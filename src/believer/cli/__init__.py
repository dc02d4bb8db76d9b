"""The command ``believer``: one verb a file, each with ``add_arguments(parser)`` and ``run(arguments) -> int``.

Only the file of the verb that is called is loaded: the others may need seconds.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NoReturn

from believer._version import __version__
from believer.errors import BelieverError, InvalidInput


@dataclass(frozen=True, slots=True)
class Verb:
    """What a subcommand says in the help, the arguments it takes, and what it does; ``run`` returns the exit code."""

    help: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


def _verb(name: str, help: str) -> Verb:  # noqa: A002
    """The verb of the file ``name`` of this room."""

    def file() -> Any:
        return import_module(f"believer.cli.{name}")

    return Verb(help, lambda parser: file().add_arguments(parser), lambda arguments: int(file().run(arguments)))


VERBS: dict[str, Verb] = {
    "bench": _verb("bench", "race batch strategies, and peers, on problems or your own function"),
    "demo": _verb("demo", "tune a classifier and solve Hartmann-6D, with figures"),
    "reproduce": _verb("reproduce", "run the paper's experiments again, and judge its claims"),
    "sdd": _verb("sdd", "diagnose whether surrogates can be lied to, with controls"),
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
    words = sys.argv[1:] if argv is None else list(argv)
    try:
        for name, verb in VERBS.items():
            of_verb = verbs.add_parser(name, help=verb.help, description=f"believer {name}: {verb.help}.")
            if name in words:
                verb.add_arguments(of_verb)
        arguments = parser.parse_args(words)
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
