"""A terminal in which commands of believer are typed, as a person would: questions are answered when they are asked."""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self

PROMPT = "lab$ "

# One process for all commands: what each would take to start is not what is tested.
_SHELL = f"""
import shlex
from believer.cli import main
while (line := input({PROMPT!r})) != "exit":
    words = shlex.split(line)
    assert words[0] == "believer", line
    print("[exit code %d]" % main(words[1:]))
"""


class Terminal:
    """A pseudo-terminal in a folder."""

    def __init__(self, folder: Path) -> None:
        import pty

        self._master, slave = pty.openpty()
        settings = {**os.environ, "TERM": "dumb", "PYTHONIOENCODING": "utf-8", "OMP_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-c", _SHELL], stdin=slave, stdout=slave, stderr=slave, cwd=folder, env=settings
        )
        os.close(slave)
        self.log = ""
        self.until(re.escape(PROMPT))

    def until(self, pattern: str, seconds: float = 120.0) -> str:
        """What is printed up to the text that matches the pattern."""
        start, deadline = len(self.log), time.monotonic() + seconds
        while not re.search(pattern, self.log[start:]):
            assert time.monotonic() < deadline, f"nothing like {pattern!r} in {self.log[start:]!r}"
            if select.select([self._master], [], [], 0.2)[0]:
                self.log += os.read(self._master, 65536).decode("utf-8", "replace").replace("\r\n", "\n")
        return self.log[start:]

    def enter(self, line: str, then: str = re.escape(PROMPT)) -> str:
        """Type a line; what is printed until the next prompt, or what else is waited for."""
        os.write(self._master, f"{line}\n".encode())
        return self.until(then)

    def answer(self, command: str, answers: list[tuple[str, str]]) -> str:
        """Type a command and the answers to its questions; all that was printed."""
        start = len(self.log)
        line = command
        for question, reply in answers:
            self.enter(line, re.escape(question))
            line = reply
        self.enter(line)
        return self.log[start:]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._process.terminate()
        self._process.wait(30)
        os.close(self._master)
