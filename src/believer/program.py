"""A program as the function to minimize: a command with parameters in it, which runs in a folder of its own."""

from __future__ import annotations

import itertools
import json
import math
import os
import string
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from believer._interrupts import held_back
from believer.arrays import finite, shown, whole
from believer.errors import EvaluationError, InvalidInput, TookTooLong
from believer.study.outcome import Value
from believer.trees import MARK, Tree, new_mark

_LAST_LINES = 5
"""The number of last lines of a program's output that go into the record of a failed trial."""

_TAIL = 4000
"""The number of bytes at the end of a file that are read for these lines."""

_BEGINNING, _END = 300, 1200
"""The number of characters that are kept at both ends of the error of a failed run. A record has room for these and
the folder."""

_OURS = ("params.json", "stdout.txt", "stderr.txt")
"""The files that each run has."""

_LOOK_UP = 0.5
"""The seconds after which Ctrl-C takes effect on Windows."""

_IN_A_GROUP: dict[str, Any]
if sys.platform == "win32":
    _IN_A_GROUP = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
else:
    _IN_A_GROUP = {"process_group": 0}


@dataclass(frozen=True, slots=True)
class Finished:
    """A program that has ended with exit code 0, for ``parse`` to read.

    Attributes
    ----------
    folder : the folder in which it ran, with the files that it wrote; stdout.txt and stderr.txt are among them.
    params : the parameters that it was run with.
    """

    folder: Path
    params: Mapping[str, Any]

    @property
    def stdout(self) -> str:
        """The text that the program wrote to standard output."""
        return (self.folder / "stdout.txt").read_text(encoding="utf-8", errors="replace")

    @property
    def stderr(self) -> str:
        """The text that the program wrote to standard error."""
        return (self.folder / "stderr.txt").read_text(encoding="utf-8", errors="replace")


def last_line(run: Finished) -> Any:
    """The number, or the JSON object of numbers by name, in the last line of standard output that is not empty."""
    lines = run.stdout.split("\n")
    said = next((line.strip() for line in reversed(lines) if line.strip()), "")
    try:
        return float(said)
    except ValueError:
        pass
    try:
        found = json.loads(said)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise EvaluationError(
            f"the last line on standard output must be a number or a JSON object; got {shown(said)}. Pass parse=, a "
            "function that reads the result."
        )
    return found


@dataclass(frozen=True, slots=True)
class Program:
    """A program as the ``f`` of :func:`minimize`: it is run for every trial, and its result is read.

    Each run has a folder of its own, ``folder``/000001 and so on, with params.json, stdout.txt, stderr.txt and what the
    program writes there. A run has failed if its exit code is not 0, or if it takes longer than ``timeout``; the record
    of the trial then has the folder and the last lines of standard error. When a run is over, all processes that it has
    started are ended, even if this process is interrupted or killed.

    Parameters
    ----------
    command : the program and its arguments, in which ``{x}`` stands for parameter x, and ``{folder}`` for the folder of
        the run; ``{{`` is a brace. No shell is involved.
    parse : a function that takes a :class:`Finished` and returns what ``f`` would return. By default the last line of
        standard output is read as a number or as a JSON object of numbers by name.
    files : input files: a dict of names and texts with parameters in them. They are written to the folder before the
        run.
    folder : the folder that contains the folders of the runs.
    timeout : the seconds that a run may take.
    retries : the number of times that a failed run is repeated.
    env : environment variables, in addition to those of this process.
    """

    command: Sequence[str]
    parse: Callable[[Finished], Value] = last_line
    files: Mapping[str, str] = field(default_factory=dict)
    folder: str | os.PathLike[str] = "runs"
    timeout: float | None = None
    retries: int = 0
    env: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        command, files = self.command, self.files
        if not isinstance(command, list | tuple) or not command or not all(isinstance(one, str) for one in command):
            rule = 'command must be a list of strings, as ["solver", "--x={x}"]'
            raise InvalidInput(f"{rule}; got {shown(command)}.")
        if not callable(self.parse):
            raise InvalidInput(f"parse must be a function of a finished run; got {shown(self.parse)}.")
        if self.timeout is not None and finite(self.timeout, "timeout") <= 0.0:
            raise InvalidInput(f"timeout must be a number of seconds above zero; got {shown(self.timeout)}.")
        whole(self.retries, "retries", 0)
        if not isinstance(self.folder, str | os.PathLike):
            raise InvalidInput(f"folder must be a path; got {shown(self.folder)}.")
        for what, given in (("files", files), ("env", self.env)):
            texts = [*given, *given.values()] if isinstance(given, Mapping) else [None]
            if not all(isinstance(text, str) for text in texts):
                raise InvalidInput(f"{what} must be a dict of texts by name; got {shown(given)}.")
        for name in files:
            if not Path(name).name or Path(name).is_absolute() or ".." in Path(name).parts:
                raise InvalidInput(f"files must be in the folder of the run; got {shown(name)}.")
            if str(Path(name)) in _OURS:
                raise InvalidInput(f"files must not be {', '.join(_OURS)}, which each run has; got {shown(name)}.")
        for text in (*command, *files.values()):
            _check(text)

    def __call__(self, params: Mapping[str, Any]) -> Value:
        """Run the program with these parameters, again if it fails and ``retries`` allows it, and return the result
        that was read."""
        for left in range(self.retries, -1, -1):
            folder = _new_folder(Path(self.folder))
            try:
                return self._run(folder, params)
            except EvaluationError as error:
                if not left:
                    tries = f", in the last of {self.retries + 1} tries" if self.retries else ""
                    raise type(error)(f"{_shortened(str(error))}{tries} ({folder})") from error.__cause__
        raise AssertionError  # not reached

    def _run(self, folder: Path, params: Mapping[str, Any]) -> Value:
        if "folder" in params:
            raise InvalidInput("a parameter must not be called folder, which is the folder of the run in templates.")
        values = {**params, "folder": str(folder.resolve())}
        (folder / "params.json").write_text(json.dumps(dict(params), default=str, indent=1), encoding="utf-8")
        for name, text in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(_filled(text, values), encoding="utf-8")
        command = [_filled(text, values) for text in self.command]
        code = _code(command, folder, {**os.environ, **self.env}, self.timeout)
        if code:
            ended = f"exit code {code}" if code > 0 else f"signal {-code}"
            raise EvaluationError(f"the program ended with {ended}{_last_words(folder)}")
        try:
            return self.parse(Finished(folder, dict(params)))
        except EvaluationError:
            raise
        except Exception as error:
            raise EvaluationError(f"its result cannot be read, {type(error).__name__}: {error}") from error


def _code(command: list[str], folder: Path, env: Mapping[str, str], timeout: float | None) -> int:
    """Run a program in ``folder`` and return its exit code. When this returns, no process that it has started is
    alive."""
    mark = new_mark()
    tree: Tree | None = None
    process: subprocess.Popen[bytes] | None = None
    try:
        # An interrupt while a process is started would leave it to itself.
        with open(folder / "stdout.txt", "wb") as out, open(folder / "stderr.txt", "wb") as err, held_back():
            tree = Tree(mark)
            process = subprocess.Popen(
                command,
                cwd=folder,
                env={**env, MARK: mark},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                **_IN_A_GROUP,
            )
            tree.begin(process.pid)
        return _ended(process, timeout)
    except subprocess.TimeoutExpired as error:
        raise TookTooLong(f"the program took longer than {timeout:g} s{_last_words(folder)}") from error
    except (OSError, ValueError) as error:  # no such program, or no program
        is_elsewhere = isinstance(error, FileNotFoundError) and not os.path.isabs(command[0])
        advice = "; it is started in the folder of the run: give its whole path" if is_elsewhere else ""
        raise EvaluationError(f"{command[0]} cannot be started: {error}{advice}") from error
    finally:
        if tree is not None:
            if process is not None:
                if process.returncode is None:
                    tree.kill()
                    process.kill()
                    process.wait()
                tree.kill_rest()
            tree.close()


def _ended(process: subprocess.Popen[bytes], timeout: float | None) -> int:
    """The exit code of a process once it has ended; ``subprocess.TimeoutExpired`` after ``timeout`` seconds."""
    if sys.platform != "win32":
        return process.wait(timeout)
    deadline = math.inf if timeout is None else time.monotonic() + timeout  # there, nothing interrupts a wait
    while (left := deadline - time.monotonic()) > _LOOK_UP:
        with suppress(subprocess.TimeoutExpired):
            return process.wait(_LOOK_UP)
    return process.wait(max(left, 0.0))


def _check(text: str) -> None:
    """Raise InvalidInput unless ``text`` is a string with names in braces."""
    try:
        names = [name for _, name, _, _ in string.Formatter().parse(text) if name is not None]
    except ValueError as error:
        raise InvalidInput(f"a template has names in braces; {error} in {shown(text)}.") from error
    if "" in names:
        raise InvalidInput(f"a template names its parameters, as {{x}}; got {shown(text)}.")


def _filled(text: str, values: Mapping[str, Any]) -> str:
    try:
        return text.format_map(values)
    except KeyError as error:
        rule = f"a template must name parameters; got {error} in {shown(text)}"
        raise InvalidInput(f"{rule}, there are {', '.join(values)}.") from None
    except (ValueError, TypeError, AttributeError, IndexError) as error:
        raise InvalidInput(f"a template cannot be filled in: {error} in {shown(text)}.") from error


def _new_folder(parent: Path) -> Path:
    """Make the folder with the next free number; several processes may do this at once."""
    parent.mkdir(parents=True, exist_ok=True)
    there = [int(name) for name in os.listdir(parent) if name.isdecimal()]
    for number in itertools.count(max(there, default=0) + 1):
        try:
            (parent / f"{number:06}").mkdir()
        except FileExistsError:
            continue
        return parent / f"{number:06}"
    raise AssertionError  # not reached


def _shortened(text: str) -> str:
    """The text itself, or only both of its ends if it is long."""
    return text if len(text) <= _BEGINNING + _END else f"{text[:_BEGINNING]} ... {text[-_END:]}"


def _last_words(folder: Path) -> str:
    """The last lines that the program wrote to standard error, or to standard output if there are none."""
    for name in ("stderr.txt", "stdout.txt"):
        with open(folder / name, "rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL))
            lines = file.read().decode("utf-8", "replace").strip().splitlines()
        if lines:
            return ": " + " | ".join(lines[-_LAST_LINES:])
    return ""
