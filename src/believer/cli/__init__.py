"""The command ``believer``, with a file for each verb, which has ``add_arguments(parser)`` and
``run(arguments) -> int``.

Only the file of the called verb is loaded, because the others may need seconds. Other packages add verbs by the entry
point group ``believer.commands``; each entry names a :class:`Verb` (see :func:`verb_in`).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, NoReturn

from believer._version import __version__
from believer.cli.arguments import at_least, writable
from believer.errors import BelieverError, InvalidInput, MissingExtra

__all__ = ["ELSEWHERE", "GROUP", "VERBS", "Verb", "at_least", "main", "verb_in", "writable"]


@dataclass(frozen=True, slots=True)
class Verb:
    """A subcommand: its help, its arguments, and the function ``run``, which returns the exit code."""

    help: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


def verb_in(module: str, help: str) -> Verb:  # noqa: A002
    """The verb of a module, which is loaded when the verb is called."""

    def file() -> Any:
        return import_module(module)

    return Verb(help, lambda parser: file().add_arguments(parser), lambda arguments: int(file().run(arguments)))


GROUP = "believer.commands"
"""The entry points by which other packages add verbs."""

VERBS: dict[str, Verb] = {
    "amend": verb_in("believer.cli.amend", "correct the result of an experiment"),
    "ask": verb_in("believer.cli.ask", "suggest the next experiments: a sheet to fill in, and one to print"),
    "demo": verb_in("believer.cli.demo", "solve a problem in batches, and compare; --list names the demos"),
    "new": verb_in("believer.cli.new", "begin a study: a few questions, and study.toml is written"),
    "report": verb_in("believer.cli.report", "write the page of a study, from its journal"),
    "sdd": verb_in("believer.cli.sdd", "diagnose whether surrogates can be lied to, with controls"),
    "show": verb_in("believer.cli.show", "what was found so far, what waits for results, what comes next"),
    "tell": verb_in("believer.cli.tell", "tell the results in a sheet that was filled in"),
    "watch": verb_in("believer.cli.watch", "serve the page of a study while it runs, or a list of studies"),
}


GROUPS: dict[str, tuple[str, ...]] = {
    "a study in a folder, without programming": ("new", "ask", "tell", "show", "amend"),
    "the page of a study": ("report", "watch"),
}
"""The verbs in the order of the help, which is that of their use; all others come last, by name."""


def _without_bench(_: object) -> NoReturn:
    raise MissingExtra("believer-bench", "bench")


ELSEWHERE: dict[str, Verb] = {"bench": Verb("needs pip install 'believer[bench]'", _without_bench, _without_bench)}
"""The verbs of our other distributions; if these are not installed, the verbs say how to install them."""


def _verbs() -> dict[str, Verb]:
    """The library's verbs, and those of other packages with other names, by name."""
    plugged = {point.name: _plugged(point) for point in entry_points(group=GROUP)}
    return dict(sorted({**ELSEWHERE, **plugged, **VERBS}.items()))


def _plugged(point: EntryPoint) -> Verb:
    """The verb of another package. If it does not load, it says so when it is called, and does not affect other
    verbs."""
    try:
        verb = point.load()
        problem = None if isinstance(verb, Verb) else f"{point.value} is no believer.cli.Verb"
    except Exception as error:  # raised by another package
        verb, problem = None, f"{point.value}: {type(error).__name__}: {error}"
    if problem is None:
        return verb  # type: ignore[no-any-return]

    def refuse(_: object) -> NoReturn:
        raise InvalidInput(f"the command {point.name!r} does not load ({problem}). Reinstall the package it is from.")

    return Verb("does not load", refuse, refuse)


def _listed(verbs: Mapping[str, Verb]) -> str:
    """The verbs with their descriptions, in groups."""
    others = tuple([name for name in verbs if not any(name in group for group in GROUPS.values())])
    width = max(map(len, verbs))
    return "\n\n".join(
        "\n".join([f"{title}:", *(f"  {name:{width}}  {verbs[name].help}" for name in names)])
        for title, names in {**GROUPS, "to try, to compare, to diagnose": others}.items()
    )


class _Parser(argparse.ArgumentParser):
    """Reports a wrong argument in one line, through ``main``, instead of printing its usage."""

    def error(self, message: str) -> NoReturn:
        raise InvalidInput(f"{message} (see {self.prog} --help)")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line ``argv``, by default that of this process, and return the exit code.

    0: done. 1: the reader of the output has closed it. 2: an error, printed as one line on standard error, and with
    --json also as an object on standard output. 3: some rows of a sheet were not taken. 130: interrupted.
    """
    parser = _Parser(
        prog="believer",
        description="Batch Bayesian optimization by efficient conditioning.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"believer {__version__}")
    parsers = parser.add_subparsers(dest="verb", metavar="verb", required=True, help="one of those below")
    words = sys.argv[1:] if argv is None else list(argv)
    try:
        verbs = _verbs()
        parser.epilog = f'{_listed(verbs)}\n\nRun "believer VERB --help" for the options of one.'
        for name, verb in verbs.items():
            of_verb = parsers.add_parser(name, description=f"believer {name}: {verb.help}.")
            if name in words:
                verb.add_arguments(of_verb)
        arguments = parser.parse_args(words)
        return verbs[arguments.verb].run(arguments)
    except KeyboardInterrupt:
        print("believer: interrupted.", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # Standard output is flushed once more at exit; give it somewhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (BelieverError, OSError) as error:
        message = " ".join(str(error).split())
        if "--json" in words:
            print(json.dumps({"ok": False, "error": type(error).__name__, "message": message}), flush=True)
        print(f"believer: error: {message}", file=sys.stderr)
        return 2
