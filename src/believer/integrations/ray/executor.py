"""A Ray cluster as an executor: whatever takes a ``concurrent.futures.Executor`` runs there.

::

    with connected("10.0.0.5:6379") as executor:
        result = bv.minimize(f, space, executor=executor, q=8, mode="async")

A call is a task of Ray. When its worker dies, its future ends with ``WorkerDied``, and the others go on: in
``minimize`` the trial has failed, in an experiment the cell has, and the same call tries it again.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from functools import partial
from typing import Any

from believer.arrays import finite, shown, whole
from believer.errors import EvaluationError, InvalidInput, MissingExtra, WorkerDied

TIMEOUT = 10.0
"""Seconds in which someone has to listen at an address."""

_HERE = ("auto", "local")
"""Addresses that Ray resolves by itself: a cluster of this machine that runs already, and a new one."""


@contextmanager
def connected(
    address: str | None = None, timeout: float = TIMEOUT, *, cpus: float = 1.0, retries: int = 0
) -> Iterator[Executor]:
    """An executor on a Ray cluster; a cluster that was there before stays as it is.

    What is under way when the block is left is cancelled: nobody would hear of it.
    A process has one connection to Ray: if there is one it is used, and left open. Raises ``MissingExtra`` without
    Ray, ``EvaluationError`` if no cluster answers, ``InvalidInput`` if the address makes no sense, if the process is
    connected to another cluster, or if the cluster has too few processors for a single call.

    Parameters
    ----------
    address : "host:6379" from a machine of the cluster, "ray://host:10001" from any other (needs ``ray[client]``),
        "auto" for the one that runs on this machine, "local" for a new one here, which ends with the block. None is the
        cluster that this process is connected to, else what ``ray.init()`` finds: "auto", or "local" if there is none.
    timeout : seconds in which someone has to listen at the address.
    cpus : processors that a call needs, which is how Ray knows how many to run at a time.
    retries : how often a call is made again when its worker has died.
    """
    try:
        import ray
    except ImportError as error:
        raise MissingExtra("Ray", "ray") from error
    if finite(cpus, "cpus") <= 0.0:
        raise InvalidInput(f"cpus must be a number of processors above zero; got {shown(cpus)}.")
    retries = whole(retries, "retries", 0)
    ours = not ray.is_initialized()
    if ours:
        _listened(address, timeout)
        try:
            ray.init(address, log_to_driver=False, logging_level="error")
        except (ConnectionError, TimeoutError) as error:
            raise EvaluationError(f"no Ray cluster answers at {address or 'auto'}: {error}") from error
    elif address is not None and address not in ("auto", ray.get_runtime_context().gcs_address):
        there = ray.get_runtime_context().gcs_address
        raise InvalidInput(f"a process has one connection to Ray, here to {there}; ray.shutdown() before {address!r}.")
    try:
        there = ray.cluster_resources().get("CPU", 0.0)
        if there < cpus:
            raise InvalidInput(f"a cluster must have the processors of one call, {cpus:g}; this one has {there:g}.")
        executor = ClusterExecutor(cpus, retries)
        try:
            yield executor
        finally:
            executor.cancel()
    finally:
        if ours:
            ray.shutdown()


def _listened(address: str | None, timeout: float) -> None:
    """An error before Ray, which would try for minutes, looks for a cluster where nobody listens."""
    if address is None or address in _HERE:
        return
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        raise InvalidInput(f"a Ray address must be like host:6379 or ray://host:10001; got {address!r}.")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout).close()
    except (OSError, OverflowError) as error:
        raise EvaluationError(
            f"no Ray cluster answers at {address} within {timeout:g} s ({error}). Check the address and the network, "
            "or start one there: ray start --head."
        ) from error


class ClusterExecutor(Executor):
    """Submits to the cluster that this process is connected to.

    Parameters
    ----------
    cpus : processors that a call needs.
    retries : how often a call is made again when its worker has died.
    """

    def __init__(self, cpus: float = 1.0, retries: int = 0) -> None:
        import ray

        self._task = ray.remote(num_cpus=cpus, max_retries=retries)(_call)
        self._under_way: set[Future[Any]] = set()

    def submit(self, function: Callable[..., Any], /, *args: Any, **options: Any) -> Future[Any]:
        """Run ``function`` on a worker."""
        import ray

        if not ray.is_initialized():  # Ray would start a cluster of its own
            raise RuntimeError("the connection to the Ray cluster was closed")
        task = self._task.remote(partial(function, *args, **options))
        ours: Future[Any] = Future()
        self._under_way.add(ours)
        ours.add_done_callback(self._under_way.discard)
        ours.add_done_callback(partial(_cancelled, task))
        task.future().add_done_callback(partial(_hand_over, ours))
        return ours

    def cancel(self) -> None:
        """End every future that has not ended; what a worker is doing for it is interrupted."""
        for future in list(self._under_way):
            future.cancel()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Nothing to do: ``connected`` closes the connection."""


def _cancelled(task: Any, ours: Future[Any]) -> None:
    import ray

    if ours.cancelled() and ray.is_initialized():
        ray.cancel(task)


def _call(task: Callable[[], Any]) -> Any:
    return task()


def _hand_over(ours: Future[Any], theirs: Future[Any]) -> None:
    """End our future as theirs ended; called in a thread of Ray's."""
    from ray.exceptions import NodeDiedError, ObjectLostError, OutOfMemoryError, RayTaskError, WorkerCrashedError

    if not ours.set_running_or_notify_cancel():
        return
    error = theirs.exception()
    if error is None:
        ours.set_result(theirs.result())
    elif isinstance(error, RayTaskError):  # the function raised
        ours.set_exception(error.cause)
    elif isinstance(error, WorkerCrashedError | NodeDiedError | OutOfMemoryError | ObjectLostError):
        ours.set_exception(WorkerDied(f"the Ray worker died of it, or with it ({type(error).__name__})"))
    else:
        ours.set_exception(error)
