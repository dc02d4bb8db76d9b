"""A Dask cluster as an executor: whatever takes a ``concurrent.futures.Executor`` runs there.

::

    result = bv.minimize(f, space, workers=client, timeout=600)

    with connected("tcp://10.0.0.5:8786") as executor:
        run(cells, work, store="results.jsonl", executor=executor)

The guide is docs/dask.md.

When a worker dies, the scheduler gives its tasks to another; after several deaths (``allowed-failures`` of the cluster,
3 by default) a task fails with ``KilledWorker``, and the others go on. Results are fetched as they come in, and the
cluster forgets them then: a worker that dies later has nothing that would have to be computed again. If a worker
dies just before its result is fetched, a finished cell may run a second time, and the second result is dropped.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, InvalidStateError
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from believer.arrays import shown
from believer.clusters import result_of, run_within
from believer.errors import EvaluationError, InvalidInput, MissingExtra, WorkerDied

__all__ = ["TIMEOUT", "ClusterExecutor", "connected", "opened"]

TIMEOUT = 10.0
"""The seconds within which a scheduler must answer: at first, and again after a connection was lost."""

NO_WORKER = 300.0
"""The seconds without any worker, after there has been one, after which submitted calls fail."""

_SAID_AFTER, _LOOKED_EVERY = 30.0, 2.0
"""The seconds without any worker after which a warning is logged, and the seconds between checks."""

_log = logging.getLogger(__name__)


@contextmanager
def connected(address: str, timeout: float = TIMEOUT) -> Iterator[Executor]:
    """An executor on the cluster whose scheduler listens at ``address``; the cluster itself is not changed.

    Raises ``MissingExtra`` without distributed, ``EvaluationError`` if no scheduler answers, and ``InvalidInput`` if
    the address is invalid, or if the cluster has no worker or one with several threads: cells measure CPU seconds of
    their whole process, so that two cells must not share one.
    """
    with _client(address, timeout) as client:
        _check_workers(client.nthreads(), address)
        yield ClusterExecutor(client)


@contextmanager
def opened(given: Any) -> Iterator[Executor]:
    """An executor on a client, a cluster, or the cluster at an address, none of which is closed at the end.

    It runs as many calls at a time as the cluster has threads.
    """
    if isinstance(given, str):
        with _client(given, TIMEOUT) as client:
            yield _counted(client)
        return
    from distributed import Client

    if getattr(given, "asynchronous", False):
        raise InvalidInput(f"a {type(given).__name__} must not be asynchronous: make it with asynchronous=False.")
    if isinstance(given, Client):
        yield _counted(given)
        return
    try:
        client = Client(given, timeout=TIMEOUT, set_as_default=False)
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        rule = f"workers must be a cluster that runs, or an object that a Dask client takes; got {shown(given)}"
        raise InvalidInput(f"{rule}: {error}") from error
    with client:
        yield _counted(client)


def _counted(client: Any) -> ClusterExecutor:
    if client.status != "running":
        raise InvalidInput(f"a Dask client must be connected; this one is {client.status}.")
    return ClusterExecutor(client, sum(client.nthreads().values()))


def _client(address: str, timeout: float) -> Any:
    try:
        from distributed import Client
        from distributed.comm import resolve_address
    except ImportError as error:
        raise MissingExtra("distributed", "dask") from error
    try:
        resolve_address(address)  # checked first, because a client would wait for an address that it cannot parse
        return Client(address, timeout=timeout, set_as_default=False)
    except ValueError as error:
        raise InvalidInput(f"a Dask address must be like tcp://host:8786; got {address!r}: {error}.") from error
    except OSError as error:
        raise EvaluationError(
            f"no Dask scheduler answers at {address} within {timeout:g} s. Check the address and the network, or start "
            "one there: dask scheduler."
        ) from error


def _check_workers(threads: dict[str, int], address: str) -> None:
    start = f"dask worker {address} --nworkers N --nthreads 1"
    if not threads:
        raise InvalidInput(
            f"a cluster must have a worker before work is submitted; {address} has none. Start some: {start}."
        )
    several = {worker: count for worker, count in threads.items() if count != 1}
    if several:
        worker, count = next(iter(several.items()))
        raise InvalidInput(
            f"a worker must run one cell at a time; {len(several)} of {len(threads)} have more threads than one "
            f"({worker}: {count}). Start them so: {start}."
        )


class ClusterExecutor(Executor):
    """Submits to a ``distributed.Client``.

    Differs: ``Client.get_executor`` leaves a future pending for ever when the connection is lost while its result is
    fetched, and raises an exception of its own from ``submit`` afterwards. Here every future ends, and ``submit`` to a
    closed client raises ``RuntimeError``, as executors do. A scheduler waits for workers without end; here calls raise
    ``EvaluationError`` once a cluster that had workers has had none for ``NO_WORKER`` seconds.

    Parameters
    ----------
    client : a client that is connected to the cluster.
    count : the number of calls at a time; 0 if it is unknown.
    """

    def __init__(self, client: Any, count: int = 0) -> None:
        self._client = client
        self._max_workers = count or None
        self._waiting: set[Future[Any]] = set()
        self._watch = threading.Thread(target=self._watched, daemon=True, name="believer-dask-workers")

    def submit(self, function: Callable[..., Any], /, *args: Any, **options: Any) -> Future[Any]:
        """Run ``function`` on a worker; two calls with the same arguments are two runs."""
        from distributed.client import ClosedClientError

        try:
            theirs = self._client.submit(partial(function, **options), *args, pure=False)
        except ClosedClientError as error:
            raise RuntimeError("the connection to the Dask scheduler was lost") from error
        ours: Future[Any] = Future()
        self._waiting.add(ours)
        ours.add_done_callback(self._waiting.discard)
        ours.add_done_callback(lambda _: None if theirs.done() else theirs.cancel())
        theirs.add_done_callback(partial(_hand_over, ours))
        if not self._watch.ident:
            self._watch.start()
        return ours

    def _watched(self) -> None:
        """Check whether there are workers, until the connection ends."""
        had, last, said = False, time.monotonic(), False
        while self._client.status == "running":
            try:
                there = bool(self._client.nthreads())
            except Exception:  # the connection was lost, which futures learn of by themselves
                break
            now = time.monotonic()
            if there or not self._waiting:
                had, last, said = had or there, now, False
            elif had and now - last > NO_WORKER:
                error = EvaluationError(
                    f"the Dask cluster has had no worker for {NO_WORKER:g} s. Look at the logs of its workers, start "
                    "some, and run again: trials without a result stay pending, and a run with a journal goes on."
                )
                for future in list(self._waiting):
                    with suppress(InvalidStateError):
                        future.set_exception(error)
            elif now - last > _SAID_AFTER and not said:
                said = True
                _log.warning("The Dask cluster has no worker; %d evaluations wait for one.", len(self._waiting))
            time.sleep(_LOOKED_EVERY)

    def submit_within(
        self, timeout: float | None, fn: Callable[..., Any], /, *args: Any, **options: Any
    ) -> Future[Any]:
        """Submit a call that runs in a separate process on the worker, which is killed after ``timeout`` seconds."""
        from distributed.protocol.pickle import cloudpickle

        dumped = cloudpickle.dumps(partial(fn, *args, **options))
        return self.submit(run_within, timeout, dumped)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Do nothing: ``connected`` closes the connection, and the cluster belongs to the user."""


def _hand_over(ours: Future[Any], theirs: Any) -> None:
    """Copy the result of Dask's future to ours; called in a thread of the client."""
    if ours.done() or not ours.set_running_or_notify_cancel():
        return
    from distributed.scheduler import KilledWorker, NoWorkerError

    try:
        result = result_of(theirs.result())
    except KilledWorker as error:
        died = WorkerDied(f"its workers died, one after the other (KilledWorker: {error})")
        died.__cause__ = error
        ours.set_exception(died)
    except NoWorkerError as error:
        ours.set_exception(EvaluationError(f"the Dask cluster had no worker in time ({error})"))
    except BaseException as error:
        ours.set_exception(error)
    else:
        theirs.release()  # while it is referenced, Dask would compute it again if its worker died
        ours.set_result(result)
