"""Functions that do to their process what functions do, in a module of their own so that workers load little."""

from __future__ import annotations

import asyncio
import os
import signal
import struct
import subprocess
import sys
import threading
import time
from concurrent.futures import CancelledError
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from waiting import PATIENCE, wait_for

from believer import Float, Int, Space

LINE = Space({"x": Float(0.0, 10.0)})
GOOD, BAD = {"x": 2.0}, {"x": 8.0}


def square(params: dict[str, Any]) -> float:
    return float(params["x"] ** 2)


def deadly(params: dict[str, Any]) -> float:
    """Takes its process with it in half of the space."""
    if params["x"] > 5.0:
        os._exit(3)
    return square(params)


def endless(params: dict[str, Any]) -> float:
    """Does not come back from half of the space."""
    if params["x"] > 5.0:
        time.sleep(10 * PATIENCE)
    return square(params)


def pair(params: Any) -> float:
    """Takes a tuple, which it is never given."""
    x, y = params
    return float(x + y)


class Own(BaseException):
    pass


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise Own

    __repr__ = __str__


class Rooted(Exception):
    """Cannot be pickled."""

    def __reduce__(self) -> Any:
        raise TypeError("it stays here")


RAISED: list[tuple[BaseException, str]] = [
    (Own("mine"), "Own: mine"),
    (asyncio.CancelledError(), "CancelledError: "),
    (CancelledError(), "CancelledError: "),
    (GeneratorExit(), "GeneratorExit: "),
    (Unspeakable(), "Unspeakable"),
    (Rooted("deep"), "Rooted: deep"),
    (ValueError("\udcff\0 is no text"), "ValueError: \udcff\0 is no text"),
    (ValueError("long " * 2_000_000), "ValueError: long long"),
    (KeyboardInterrupt(), "KeyboardInterrupt: "),
    (SystemExit(3), "SystemExit: 3"),
]
"""What a function may raise, and the text of its trial; the last two end a run when they are raised in our process."""

NUMBERED = Space({"n": Int(0, len(RAISED))})


def raising(params: dict[str, Any]) -> float:
    """The last number is a good one."""
    if params["n"] < len(RAISED):
        raise RAISED[params["n"]][0]
    return 0.0


def returned(value: Any) -> Any:
    return value


def process() -> int:
    return os.getpid()


def leave(code: int) -> None:
    os._exit(code)


def kill_oneself() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def stay(mark: str) -> None:
    """For ever, after it has left its process id."""
    Path(mark).with_suffix(".new").write_text(str(os.getpid()))
    Path(mark).with_suffix(".new").replace(mark)
    time.sleep(10 * PATIENCE)


def meet(folder: str, name: str, count: int) -> int:
    """Ends when ``count`` calls are under way at once."""
    Path(folder, name).touch()
    wait_for(lambda: len(os.listdir(folder)) >= count)
    return os.getpid()


def fork_and_leave(mark: str) -> None:
    """Dies, while a child of its own has all of its pipes open."""
    child = os.fork()
    if child == 0:
        time.sleep(10 * PATIENCE)
    Path(mark).write_text(str(child))
    os._exit(5)


def solver(folder: str) -> None:
    """Hangs in a program, whose children hang as well: one in its group, one in a session of its own, one forsaken."""
    script = (
        f"cd {folder}; echo $$ > shell; sleep 6000 & echo $! > child; "
        f"{sys.executable} -c 'import os; os.setsid(); print(os.getpid(), flush=True); "
        'os.execlp("sleep", "sleep", "6000")\' > own & '
        "(sleep 6000 & echo $! > forsaken); until [ -s own ]; do sleep 0.01; done; touch ready; wait"
    )
    subprocess.run(["/bin/sh", "-c", script], check=False)


def die_above_a_solver(folder: str) -> None:
    """Dies, while the program that it started goes on."""
    threading.Thread(target=solver, args=(folder,), daemon=True).start()
    wait_for(Path(folder, "ready").exists)
    os._exit(7)


def stop_in_the_answer() -> None:
    """Stops its process when ten bytes of its answer are sent."""

    def part(pipe: Any, message: bytes) -> None:
        os.write(pipe.fileno(), struct.pack("!i", 1000) + bytes(10))
        os.kill(os.getpid(), signal.SIGSTOP)

    Connection._send_bytes = part  # type: ignore[attr-defined]


def dead_in_the_answer(mark: str) -> None:
    """Dies when ten bytes of its answer are sent, and a child of its own has the pipe open."""

    def part(pipe: Any, message: bytes) -> None:
        os.write(pipe.fileno(), struct.pack("!i", 1000) + bytes(10))
        fork_and_leave(mark)

    Connection._send_bytes = part  # type: ignore[attr-defined]


def unpicklable() -> Any:
    return lambda: None


def unprintable() -> None:
    sys.stdout.close()
    sys.stderr = None


def conditions() -> tuple[dict[str, str], bool]:
    threads = {name: value for name, value in os.environ.items() if name.endswith("_THREADS")}
    return threads, signal.getsignal(signal.SIGINT) == signal.SIG_IGN
