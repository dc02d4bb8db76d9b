"""Clusters as workers: find the integration for a cluster that was passed to ``minimize``, and limit the time of a
call."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from multiprocessing.util import Finalize
from typing import Any, Protocol, runtime_checkable

from believer.arrays import shown
from believer.errors import InvalidInput, TookTooLong, WorkerDied
from believer.workers import Workers

_DOORS = {"distributed": "believer.integrations.dask", "ray": "believer.integrations.ray"}
"""The module that opens a cluster, by the installed package that defines it."""

_SCHEMES = {**dict.fromkeys(("tcp", "tls", "ucx", "ws", "wss", "inproc"), "distributed"), "ray": "ray"}
"""The package of a cluster, by the beginning of its address."""

_own = threading.local()
"""The worker process of a thread on a cluster's machine."""


@runtime_checkable
class TimeLimited(Protocol):
    """An executor that can end a call at its time limit."""

    def submit_within(
        self, timeout: float | None, fn: Callable[..., Any], /, *args: Any, **options: Any
    ) -> Future[Any]:
        """Submit a call; its future raises ``TookTooLong`` if the call takes longer than ``timeout`` seconds."""


def opened(workers: Executor | Any) -> AbstractContextManager[Executor]:
    """Return an executor unchanged, and a Dask client or cluster, or the address of a Dask or Ray cluster, as an
    executor.

    A cluster or client that was given stays open. Raises ``InvalidInput`` for anything else.
    """
    if isinstance(workers, Executor):
        return nullcontext(workers)
    if isinstance(workers, str):
        package = _SCHEMES.get(workers.partition("://")[0])
    else:
        packages = [kind.__module__.partition(".")[0] for kind in type(workers).__mro__]
        package = next((name for name in packages if name in _DOORS), None)
    if package is None:
        raise InvalidInput(
            "workers must be a number of processes, a concurrent.futures.Executor, a Dask client or cluster, or the "
            f'address of a cluster, as "tcp://host:8786" (Dask), "ray://host:10001" or "ray"; got {shown(workers)}.'
        )
    found: AbstractContextManager[Executor] = import_module(_DOORS[package]).opened(workers)
    return found


def run_within(timeout: float | None, dumped: bytes) -> Any:
    """Run a pickled call on a machine of a cluster, in a process that is ended together with all processes that it
    starts.

    ``TookTooLong`` and ``WorkerDied`` are returned, because a raised exception would look like a fault in the logs of
    the cluster. The process is kept for the next call of this thread, and ends with this process.
    """
    if getattr(_own, "workers", None) is None:
        _own.workers = Workers(1)
        Finalize(None, _own.workers.kill_workers, exitpriority=10)  # before it would be waited for
    try:
        return _own.workers.submit_within(timeout, _called, dumped).result()
    except (TookTooLong, WorkerDied) as error:
        return error


def result_of(returned: Any) -> Any:
    """The value that a call by ``run_within`` returned; an exception that ended the call is raised again."""
    if isinstance(returned, TookTooLong | WorkerDied):
        raise returned
    return returned


def _called(dumped: bytes) -> Any:
    return pickle.loads(dumped)()
