"""Worker processes of our own, which may die, or be ended, without harm to any task but the one that they were at.

Each process has a thread here and a pipe between the two, so that a death has one culprit: the task that it was given.
That task's future gets ``WorkerDied``, the next task a new process, and the other processes never notice. Processes are
spawned, never forked: nothing depends on what the parent happens to hold in memory. A process that is killed, or dies,
takes with it all processes that its task has started.

The file is long because a process, the pipe to it and the thread that serves it share one protocol: what each of them
may assume is stated by the others.
"""

from __future__ import annotations

import atexit
import math
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any

from believer._interrupts import held_back
from believer.arrays import whole
from believer.errors import EvaluationError, TookTooLong, WorkerDied
from believer.trees import MARK, Tree, end_here, lead, new_mark

LOOK_UP = 1.0
"""Seconds between looks at other things than results: an endless wait cannot be interrupted on Windows."""

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")

_GRACE = 5.0
"""Seconds for a process with nothing left to do to end, and for an answer to come in whole, before it is killed."""

_STARTS = 5
"""Processes in a row that may be killed before they get their task."""

_LONGEST_TEXT = 2000
"""Characters of an exception's text that are kept."""

_GIVEN, _LOADED = b"given", b"loaded"
"""The messages of a process before the result: the task has arrived; its function is being called."""

_CANNOT_START = (
    "worker processes die before they get any work. Call from a script only under "
    'if __name__ == "__main__":, see that importing the script and the module of the function succeeds, or do the work '
    "in this process to see what happens."
)

_processes = threading.RLock()
"""Held while a process is started or buried: both touch what all of this process shares."""


@dataclass(frozen=True, slots=True, eq=False)
class _Call:
    """A call, pickled; ``timeout`` is how many seconds it may take."""

    call: bytes
    timeout: float | None
    future: Future[Any] = field(default_factory=Future)


class Workers(Executor):
    """Up to ``count`` processes, started as work comes in; each has one BLAS thread unless the environment says more.

    A future raises :class:`WorkerDied` or :class:`TookTooLong` for what happened to it alone, and ``EvaluationError``
    if processes cannot start at all. As a context manager it waits for what is under way, but ends all processes at
    once when an exception goes through.

    Parameters
    ----------
    count : how many processes.
    """

    def __init__(self, count: int) -> None:
        self.count = whole(count, "workers", 1)
        self._tasks: SimpleQueue[_Call | None] = SimpleQueue()
        self._slots: list[_Slot] = []
        self._broken = threading.Event()
        self._lock = threading.Lock()
        self._closed = False
        self._owner = os.getpid()
        atexit.register(self.kill_workers)  # before multiprocessing waits for them

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call ``fn`` in a process; it and its arguments must be picklable."""
        return self.submit_within(None, fn, *args, **kwargs)

    def submit_within(self, timeout: float | None, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Submit a call; if it takes longer than ``timeout``, its process and all that it has started are killed.

        The clock starts when ``fn`` is called: starting the process and importing the module of ``fn`` do not count.
        """
        try:
            task = _Call(bytes(ForkingPickler.dumps((fn, args, kwargs))), timeout)
        except Exception as error:
            refused: Future[Any] = Future()
            refused.set_exception(error)
            return refused
        with self._lock:
            if self._closed:
                raise RuntimeError("the workers were shut down")
            if len(self._slots) < self.count:
                self._slots.append(_Slot(self._tasks, self._broken))  # before it starts: an interrupt may come then
                try:
                    self._slots[-1].start()
                except EvaluationError:
                    self._slots.pop()
                    raise
            self._tasks.put(task)
        return task.future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more work, and let the processes end when theirs is done."""
        with self._lock:
            if cancel_futures:
                with suppress(Empty):
                    while True:
                        task = self._tasks.get_nowait()
                        if task is not None and task.future.cancel():
                            task.future.set_running_or_notify_cancel()  # tells those who wait
            self._closed = True
            for _ in self._slots:
                self._tasks.put(None)
        if wait:
            for slot in self._slots:
                slot.join()
            atexit.unregister(self.kill_workers)

    def kill_workers(self) -> None:
        """End every process now, whatever it is doing, and cancel what has not begun."""
        if os.getpid() != self._owner:  # a fork that comes to its end
            return
        self.shutdown(wait=False, cancel_futures=True)
        for slot in self._slots:
            slot.kill()
        atexit.unregister(self.kill_workers)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait for what is under way; after an exception, end it."""
        if kind is not None:
            self.kill_workers()
        self.shutdown()


class _Ended(Exception):
    """The process is gone, or cannot be heard any more."""


class _Process:
    """A spawned process, and the pipe to it."""

    def __init__(self) -> None:
        self.is_new = True
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs,))
        self._tree = Tree(mark := new_mark())
        try:
            with _inherited(**{MARK: mark}), _as_a_parent():
                self._process.start()
        except Exception as error:
            self._pipe.close()
            self._tree.close()
            raise EvaluationError(f"a worker process cannot start ({error_text(error)}).") from error
        finally:
            theirs.close()
        assert self._process.pid is not None
        self._tree.begin(self._process.pid)

    def say(self, message: bytes) -> None:
        """Send it; ``_Ended`` if nobody is there."""
        try:
            self._pipe.send_bytes(message)
        except OSError as error:
            raise _Ended from error

    def hear(self, timeout: float | None = None) -> bytes:
        """The next message; ``_Ended`` if none will come, ``TookTooLong`` if none came within ``timeout`` seconds."""
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        try:
            while not self._pipe.poll(max(0.0, min(LOOK_UP, deadline - time.monotonic()))):
                if time.monotonic() >= deadline:
                    raise TookTooLong(f"took longer than {timeout:g} s")
                # A child that it forked may hold the pipe open.
                if self._exit_code() is not None and not self._pipe.poll():
                    raise _Ended
        except OSError as error:
            raise _Ended from error
        with self._held_to(max(deadline, time.monotonic() + _GRACE) if timeout is not None else math.inf) as late:
            try:
                return self._pipe.recv_bytes()
            except (EOFError, OSError) as error:
                if late.is_set():
                    raise TookTooLong(f"took longer than {timeout:g} s, and stopped in its answer") from error
                raise _Ended from error

    @contextmanager
    def _held_to(self, deadline: float) -> Iterator[threading.Event]:
        """End what keeps a message from coming: the process itself at the deadline, or those that a dead one left.

        The event says that it was the deadline. Reading cannot be bounded in any other way that all systems have.
        """
        done, late = threading.Event(), threading.Event()

        def watch() -> None:
            while not done.wait(max(0.0, min(LOOK_UP, deadline - time.monotonic()))):
                if self._exit_code() is not None:
                    self._tree.kill_rest()
                    return
                if time.monotonic() >= deadline:
                    late.set()
                    self.kill()
                    return

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield late
        finally:
            done.set()
            watcher.join()

    def kill(self) -> None:
        """End it, and all that it has started."""
        with _processes:  # while nobody can have waited for it, its number is its own
            if self._process.exitcode is None:
                self._tree.kill()
                self._process.kill()

    def leave(self) -> None:
        """Let it end, which it does when its pipe is closed; kill it if it does not."""
        self._pipe.close()
        self._wait()
        self.bury()

    def bury(self, patience: float = 0.0) -> int | None:
        """Kill it, if it still lives, and return its exit code (negative: the signal that killed it), or None then.

        One that is dying may take as many seconds of ``patience`` to be dead.
        """
        code = self._wait(patience)
        self.kill()
        self._pipe.close()
        self._wait()
        self._tree.close()
        return code

    def end_rest(self) -> None:
        """End what it left behind that died in its task, just now."""
        self._tree.kill_rest()

    def _wait(self, patience: float = _GRACE) -> int | None:
        deadline = time.monotonic() + patience
        while (code := self._exit_code()) is None and time.monotonic() < deadline:
            time.sleep(0.002)
        return code

    def _exit_code(self) -> int | None:
        with _processes:  # starting a process asks for all of them as well, and only who asks first is told
            return self._process.exitcode


class _Slot:
    """A thread that gives tasks to a process, and to a new one when that died."""

    def __init__(self, tasks: SimpleQueue[_Call | None], broken: threading.Event) -> None:
        self._tasks, self._broken = tasks, broken
        self._process: _Process | None = None
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._lock = threading.Lock()
        self._killed = False

    def start(self) -> None:
        """The first process, in the caller's thread: the environment is its own again when this returns."""
        with _inherited():
            self._process = _Process()
            self._thread.start()

    def join(self) -> None:
        """Wait until it has no process any more."""
        if self._thread.is_alive():
            self._thread.join()

    def kill(self) -> None:
        """End the process, and start no other."""
        with self._lock:
            self._killed = True
            if self._process is not None:
                self._process.kill()

    def _serve(self) -> None:
        while (task := self._tasks.get()) is not None:
            if not task.future.set_running_or_notify_cancel():
                continue
            try:
                done, value = self._outcome(task)
            except BaseException as error:
                done, value = False, error
            if done:
                task.future.set_result(value)
            else:
                task.future.set_exception(value)
            del task, value  # may be large, and the next task may take long to come
        if self._process is not None:
            self._process.leave()

    def _outcome(self, task: _Call) -> tuple[bool, Any]:
        """Whether the call returned, and what it returned or raised."""
        process = self._given(task.call)
        try:
            message = process.hear()
            if message == _LOADED:
                message = process.hear(task.timeout)
        except (_Ended, TookTooLong) as error:
            code, self._process = process.bury(0.0 if isinstance(error, TookTooLong) else _GRACE), None
            process.end_rest()
            if isinstance(error, TookTooLong):
                raise
            raise WorkerDied(f"its worker died ({_cause(code)})") from None
        done, value = pickle.loads(message)
        return done, value

    def _given(self, call: bytes) -> _Process:
        """The process that has taken the call; an idle one that died meanwhile is no fault of the call."""
        for _ in range(0 if self._broken.is_set() else _STARTS):
            process = self._process or self._renew()
            with suppress(_Ended):
                process.say(call)
                if process.hear() == _GIVEN:
                    process.is_new = False
                    return process
            code, self._process = process.bury(_GRACE), None
            if process.is_new and code is not None and code >= 0:
                break  # not killed: the next one would fare no better
        self._broken.set()
        raise EvaluationError(_CANNOT_START)

    def _renew(self) -> _Process:
        with self._lock:
            if self._killed:
                raise WorkerDied("its worker died (the workers were shut down)")
            self._process = _Process()
            return self._process


def _cause(code: int | None) -> str:
    if code is None:
        return "it cannot be reached"
    if code >= 0:
        return f"exit code {code}"
    if -code == getattr(signal, "SIGKILL", None):
        return "killed: out of memory, or from outside?"
    with suppress(ValueError):
        return f"killed by {signal.Signals(-code).name}"
    return f"killed by signal {-code}"


def _work(pipe: Connection[Any, Any]) -> None:
    """Run the calls that come through ``pipe`` until it is closed."""
    _prepare()
    with suppress(EOFError, OSError):
        while True:
            call = pipe.recv_bytes()
            pipe.send_bytes(_GIVEN)
            pipe.send_bytes(_answer(call, pipe))


def _answer(call: bytes, pipe: Connection[Any, Any]) -> bytes:
    """Whether the call returned, and what it returned or raised, pickled."""
    try:
        fn, args, kwargs = pickle.loads(call)
        pipe.send_bytes(_LOADED)
        done, value = True, fn(*args, **kwargs)
    except BaseException as error:
        done, value = False, error
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # the function may have closed it, or put something else there
            stream.flush()
    try:
        return bytes(ForkingPickler.dumps((done, value)))
    except Exception as error:
        text = "returned something" if done else f"raised an exception ({error_text(value)})"
        why = EvaluationError(f"the call {text} that cannot be pickled: {error_text(error)}")
        return pickle.dumps((False, why))


def error_text(error: BaseException) -> str:
    """The type and the text of an exception, cut to a length that suits a journal."""
    try:
        text = f"{type(error).__name__}: {error}"
    except BaseException:  # what an exception says is someone else's code as well
        return type(error).__name__
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}... ({len(text)} characters)"


@contextmanager
def _inherited(**own: str) -> Iterator[None]:
    """Set the environment that a process must start with: BLAS reads its threads once, and Ctrl-C is the parent's.

    A process inherits which signals are blocked; here, Ctrl-C takes effect when the process has started. ``own`` is
    what its environment says besides.
    """
    with _processes, held_back(), _interrupts_blocked():
        given = {name: "1" for name in ONE_THREAD if name not in os.environ} | own
        before = {name: os.environ.get(name) for name in given}
        os.environ.update(given)
        try:
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value


@contextmanager
def _as_a_parent() -> Iterator[None]:
    """A daemon, as a worker of Dask is, may have no children of multiprocessing's; ours end with it, whatever it is."""
    config: dict[str, Any] = multiprocessing.current_process()._config  # type: ignore[attr-defined]
    before = config.pop("daemon", None)
    try:
        yield
    finally:
        if before is not None:
            config["daemon"] = before


if sys.platform == "win32":

    @contextmanager
    def _interrupts_blocked() -> Iterator[None]:
        yield  # not inherited there

else:
    from multiprocessing import resource_tracker

    @contextmanager
    def _interrupts_blocked() -> Iterator[None]:
        resource_tracker.ensure_running()  # would otherwise be started within, and let the signals through again
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _prepare() -> None:
    """Prepare a worker: it leaves Ctrl-C to the parent, and ends with it."""
    lead()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_the_parent, daemon=True).start()


def _leave_with_the_parent() -> None:
    """A worker whose parent was killed would wait for work for ever, and what it has started would go on."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        end_here()
