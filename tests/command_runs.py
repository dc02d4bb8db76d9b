"""A verb of the command line called within the process, and the form of its errors."""

import contextlib
import io
import re
from dataclasses import dataclass
from pathlib import Path

from believer.cli import main


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


def run(verb: str, *arguments: str | Path) -> Ran:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([verb, *map(str, arguments)])
    return Ran(code, out.getvalue(), err.getvalue())


def assert_one_line(ran: Ran, words: str) -> None:
    assert ran.code == 2
    assert ran.out == ""
    assert ran.err.startswith("believer: error: ")
    assert ran.err.count("\n") == 1
    assert "Traceback" not in ran.err
    assert re.search(words, ran.err), ran.err
