"""Worker processes that may die, or be ended, without harm to any task but their present one.

Each process has a thread here and a pipe between the two, so that a death concerns one task only. The future of that
task gets ``WorkerDied``, the next task gets a new process, and the other processes are not affected. Processes are
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
"""The longest wait in seconds before other events than results are checked: an endless wait cannot be interrupted on
Windows."""

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")

_GRACE = 5.0
"""The seconds that an idle process has to end, and that an answer has to arrive in full, before the process is
killed."""

_STARTS = 5
"""The number of processes in a row that may be killed before they receive their task."""

_LONGEST_TEXT = 2000
"""The number of characters of an exception's text that are kept."""

_GIVEN, _LOADED = b"given", b"loaded"
"""The messages of a process before the result: the task has arrived; its function is being called."""

_CANNOT_START = (
    "worker processes die before they get any work. Call from a script only under "
    'if __name__ == "__main__":, see that importing the script and the module of the function succeeds, or do the work '
    "in this process to see what happens."
)

_processes = threading.RLock()
"""The lock that is held while a process is started or removed, because both change state that all threads share."""


@dataclass(frozen=True, slots=True, eq=False)
class _Call:
    """A pickled call. ``timeout`` is the number of seconds that it may take."""

    call: bytes
    timeout: float | None
    future: Future[Any] = field(default_factory=Future)


class Workers(Executor):
    """Up to ``count`` processes, which are started when there is work. Each has one BLAS thread unless the environment
    sets another number.

    A future raises :class:`WorkerDied` or :class:`TookTooLong` if its own task died or took too long, and
    ``EvaluationError`` if processes cannot start at all. As a context manager this waits for the running calls, but
    ends all processes at once if there is an exception.

    Parameters
    ----------
    count : the number of processes.
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
        """Accept no more work, and let the processes end when their work is done."""
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
        """End every process now, whatever it is doing, and cancel the calls that have not begun."""
        if os.getpid() != self._owner:  # a fork that comes to its end
            return
        self.shutdown(wait=False, cancel_futures=True)
        for slot in self._slots:
            slot.kill()
        atexit.unregister(self.kill_workers)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait for the running calls; after an exception, end them."""
        if kind is not None:
            self.kill_workers()
        self.shutdown()


class _Ended(Exception):
    """The process is gone or no longer answers."""


class _Process:
    """A spawned process and the pipe to it."""

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
        """Send a message; raise ``_Ended`` if the process is gone."""
        try:
            self._pipe.send_bytes(message)
        except OSError as error:
            raise _Ended from error

    def hear(self, timeout: float | None = None) -> bytes:
        """The next message. Raises ``_Ended`` if none will come, and ``TookTooLong`` if none came within ``timeout``
        seconds."""
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
        """End whatever blocks the next message: the process itself at the deadline, or the processes that a dead one
        left.

        The event is set if it was the deadline. No other way to limit the time of a read exists on all systems.
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
        """End the process and all processes that it has started."""
        with _processes:  # under the lock nobody can have waited for it, so its id still belongs to it
            if self._process.exitcode is None:
                self._tree.kill()
                self._process.kill()

    def leave(self) -> None:
        """Close the pipe, so that the process ends by itself; kill it if it does not."""
        self._pipe.close()
        self._wait()
        self.bury()

    def bury(self, patience: float = 0.0) -> int | None:
        """Kill the process if it is still alive, and return None; otherwise return its exit code (negative: the signal
        that killed it).

        A process that is about to end has ``patience`` seconds to do so.
        """
        code = self._wait(patience)
        self.kill()
        self._pipe.close()
        self._wait()
        self._tree.close()
        return code

    def end_rest(self) -> None:
        """End the processes that this process left when it died in its task."""
        self._tree.kill_rest()

    def _wait(self, patience: float = _GRACE) -> int | None:
        deadline = time.monotonic() + patience
        while (code := self._exit_code()) is None and time.monotonic() < deadline:
            time.sleep(0.002)
        return code

    def _exit_code(self) -> int | None:
        with _processes:  # starting a process also polls all others, and only the first poll gets the exit code
            return self._process.exitcode


class _Slot:
    """A thread that gives tasks to a process, and to a new process if that one has died."""

    def __init__(self, tasks: SimpleQueue[_Call | None], broken: threading.Event) -> None:
        self._tasks, self._broken = tasks, broken
        self._process: _Process | None = None
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._lock = threading.Lock()
        self._killed = False

    def start(self) -> None:
        """Start the first process in the caller's thread; when this returns, the environment is as before."""
        with _inherited():
            self._process = _Process()
            self._thread.start()

    def join(self) -> None:
        """Wait until the slot has no process."""
        if self._thread.is_alive():
            self._thread.join()

    def kill(self) -> None:
        """End the process and start no other."""
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
        """Whether the call returned, and the value or the exception."""
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
        """The process that has taken the call. If an idle process died meanwhile, the call is not blamed for it."""
        for _ in range(0 if self._broken.is_set() else _STARTS):
            process = self._process or self._renew()
            with suppress(_Ended):
                process.say(call)
                if process.hear() == _GIVEN:
                    process.is_new = False
                    return process
            code, self._process = process.bury(_GRACE), None
            if process.is_new and code is not None and code >= 0:
                break  # not killed, so the next process would fail, too
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
    """Whether the call returned, and the value or the exception, pickled."""
    try:
        fn, args, kwargs = pickle.loads(call)
        pipe.send_bytes(_LOADED)
        done, value = True, fn(*args, **kwargs)
    except BaseException as error:
        done, value = False, error
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # the function may have closed or replaced it
            stream.flush()
    try:
        return bytes(ForkingPickler.dumps((done, value)))
    except Exception as error:
        text = "returned something" if done else f"raised an exception ({error_text(value)})"
        why = EvaluationError(f"the call {text} that cannot be pickled: {error_text(error)}")
        return pickle.dumps((False, why))


def error_text(error: BaseException) -> str:
    """The type and the text of an exception, shortened for the journal."""
    try:
        text = f"{type(error).__name__}: {error}"
    except BaseException:  # the text of an exception may be computed by other people's code
        return type(error).__name__
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}... ({len(text)} characters)"


@contextmanager
def _inherited(**own: str) -> Iterator[None]:
    """Set the environment in which a process must start: BLAS reads its number of threads once, and the parent handles
    Ctrl-C.

    A process inherits the blocked signals; in this process, Ctrl-C takes effect when the new one has started. ``own``
    are further environment variables.
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
    """Allow child processes in a daemon, such as a worker of Dask: multiprocessing forbids them, but ours end with
    their parent."""
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
    """Prepare a worker: the parent handles Ctrl-C, and the worker ends with the parent."""
    lead()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_the_parent, daemon=True).start()


def _leave_with_the_parent() -> None:
    """End this worker when its parent is gone; otherwise it would wait for work forever, and its child processes would
    go on."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        end_here()
