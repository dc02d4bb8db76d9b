"""minimize: an Optimizer at work on a function, inline or on any executor, in batches or one result at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any

from believer.arrays import finite, whole
from believer.errors import EvaluationError, InvalidInput, SpaceExhausted
from believer.optimizer import Optimizer
from believer.progress import Progress
from believer.space import Space
from believer.study.journal import PathLike
from believer.study.settings import make_settings
from believer.study.trials import Batch, Trial, checked_result

Function = Callable[[dict[str, Any]], float]
Stop = Callable[[Optimizer], bool]
Outcome = tuple[float | None, str | None]
"""A value, or what went wrong."""

_OPTIONS = ("surrogate", "acquisition", "strategy", "n_init", "maximizer")


@dataclass(frozen=True, slots=True)
class Target:
    """Stop as soon as a value is at least this good."""

    value: float

    def __post_init__(self) -> None:
        finite(self.value, "a target")

    def __call__(self, optimizer: Optimizer) -> bool:
        """Whether the best result reaches the target."""
        best, sign = optimizer.best, optimizer.settings.sign
        return best is not None and sign * best[1] <= sign * self.value


@dataclass(frozen=True, slots=True)
class Seconds:
    """Start no further evaluation after this long."""

    limit: float

    def __post_init__(self) -> None:
        finite(self.limit, "seconds")


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """What a run found: the best ``params`` and ``value`` (None when every evaluation failed), and why it stopped."""

    params: dict[str, Any] | None
    value: float | None
    evaluations: int
    failures: int
    stopped: str
    optimizer: Optimizer

    def __str__(self) -> str:
        found = "no result" if self.value is None else f"best {self.value:.6g} at {self.params}"
        failed = f", {self.failures} failed" if self.failures else ""
        errors = [record["error"] for record in self.optimizer.records() if record["error"]]
        why = f"; the first failure: {errors[0]}" if self.value is None and errors else ""
        return f"{found} ({self.evaluations} evaluations{failed}; stopped by {self.stopped}{why})"


def minimize(
    f: Function,
    space: Space,
    budget: int = 50,
    q: int = 3,
    executor: Executor | None = None,
    mode: str = "batch",
    seed: int | None = 0,
    journal: PathLike | None = None,
    progress: bool = True,
    stop: float | Target | Seconds | Stop | None = None,
    callback: Callable[[Optimizer, Batch], None] | None = None,
    **options: Any,
) -> Result:
    """Minimize ``f(params)`` over ``space`` with ``budget`` evaluations, the initial design included.

    q: how many evaluations run together. executor: any ``concurrent.futures.Executor``; None evaluates in this process.
    mode: "batch" waits for all q results before it asks again; "async" hands a worker the next point as soon as it is
    free. journal: a path; a journal that is already there is taken up again, its unanswered trials first.
    stop: a target value (a number or ``Target``), ``Seconds``, or a callable of the optimizer; asked before every
    evaluation that is started. What was handed out and not evaluated by then stays pending.
    callback: called with the optimizer and each batch once all of its results are in. options: as for ``Optimizer``.

    An exception in ``f``, NaN or an infinity is a failed trial and never ends the run.
    """
    if not callable(f):
        raise InvalidInput(f"f must be a function of one dict of parameters; got {f!r}.")
    if mode not in ("batch", "async"):
        raise InvalidInput(f'mode must be "batch" or "async"; got {mode!r}.')
    if mode == "async" and executor is None:
        raise InvalidInput('mode="async" needs an executor, e.g. concurrent.futures.ThreadPoolExecutor().')
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise InvalidInput(f"executor must be a concurrent.futures.Executor; got {executor!r}.")
    if callback is not None and not callable(callback):
        raise InvalidInput(f"callback must be a function of the optimizer and a batch; got {callback!r}.")
    if "maximize" in options:
        raise InvalidInput("minimize only minimizes; return the negative of what is to be maximized.")
    unknown = sorted(options.keys() - set(_OPTIONS))
    if unknown:
        raise InvalidInput(f"minimize takes the options {', '.join(_OPTIONS)}; got {', '.join(unknown)}.")
    budget, q = whole(budget, "budget", 1), whole(q, "q", 1)
    run = _Run(f, executor, budget, q, _stopper(stop), callback)
    optimizer = _open(space, seed, journal, options)
    bar = Progress.on_terminal(budget, progress)
    try:
        reason = run.asynchronously(optimizer, bar) if mode == "async" else run.in_batches(optimizer, bar)
    finally:
        bar.close()
        optimizer.close()
    params, value = optimizer.best or (None, None)
    counts = optimizer.counts
    return Result(params, value, counts.answered, counts.failed, reason, optimizer)


def _stopper(stop: float | Target | Seconds | Stop | None) -> Stop:
    if stop is None:
        return lambda optimizer: False
    if isinstance(stop, Seconds):
        deadline = time.monotonic() + stop.limit
        return lambda optimizer: time.monotonic() >= deadline
    if callable(stop) and not isinstance(stop, type):
        return stop
    if isinstance(stop, bool) or not isinstance(stop, Real):
        raise InvalidInput(f"stop must be a target value, Seconds(...) or a callable; got {stop!r}.")
    return Target(float(stop))


def _open(space: Space, seed: int | None, journal: PathLike | None, options: Mapping[str, Any]) -> Optimizer:
    """A new optimizer; or the one in the journal, if its settings are those of this call."""
    if journal is None or not Path(journal).exists() or Path(journal).stat().st_size == 0:
        return Optimizer(space, seed=seed, journal=journal, **options)
    given = {name: options.get(name) for name in ("surrogate", "acquisition", "maximizer", "n_init")}
    wanted = make_settings(
        space, strategy=options.get("strategy", "kb"), seed=seed, maximize=False, **given
    ).to_config()
    custom = {
        name: options[name] for name in ("surrogate", "acquisition", "strategy", "maximizer") if options.get(name)
    }
    optimizer = Optimizer.load(journal, constraint=space.constraint, **custom)
    found = optimizer.settings.to_config()
    other = [name for name in wanted if wanted[name] != found[name] and (name, seed) != ("seed", None)]
    if other:
        optimizer.close()
        raise InvalidInput(
            f"the journal {journal} belongs to a study with other settings ({', '.join(other)}): "
            "pass the same ones to go on with it, or another path to start anew."
        )
    return optimizer


def _evaluate(f: Function, params: dict[str, Any]) -> Outcome:
    """The value of ``f``, or what went wrong; runs in the worker, so that any exception can travel."""
    try:
        value = f(params)
        number, reason = checked_result(value, None)
        return (number, None) if reason is None else (None, reason)
    except (Exception, SystemExit) as error:  # the user's function may raise anything; all of it is a failed trial
        return None, _text(error)


def _text(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # the text of an exception is the user's code as well
        return type(error).__name__


@dataclass(frozen=True, slots=True, eq=False)
class _Run:
    """One call of minimize, without its state, which is the optimizer's."""

    f: Function
    executor: Executor | None
    budget: int
    q: int
    stop: Stop
    callback: Callable[[Optimizer, Batch], None] | None

    def in_batches(self, optimizer: Optimizer, bar: Progress) -> str:
        """Ask, evaluate all, tell; the reason why it stopped."""
        waiting: list[Trial] = list(optimizer.pending)
        while True:
            self._show(optimizer, bar)
            reason = self._reason(optimizer)
            if reason:
                return reason
            batch: Batch | None = None
            if waiting:
                k = min(self.q, self.budget - optimizer.counts.answered)
                trials, waiting = waiting[:k], waiting[k:]
            else:
                batch = self._ask(optimizer, min(self.q, self._left(optimizer)))
                if batch is None:
                    return "exhausted space"
                trials = list(batch)
            for trial, (value, error) in self._evaluations(trials, optimizer):
                optimizer.tell(trial, value, error=error)
                self._show(optimizer, bar)
            self._call_back(optimizer, batch, bar)

    def asynchronously(self, optimizer: Optimizer, bar: Progress) -> str:
        """Keep q evaluations under way; each result is told at once and its worker gets the next point."""
        waiting: list[Trial] = list(optimizer.pending)
        running: dict[Future[Outcome], tuple[Trial, Batch | None]] = {}
        reason = ""
        try:
            while True:
                reason = reason or self._reason(optimizer)
                while (
                    not reason
                    and len(running) < min(self.q, self.budget - optimizer.counts.answered)
                    and (waiting or self._left(optimizer) > 0)
                ):
                    batch = None if waiting else self._ask(optimizer, 1)
                    if not waiting and batch is None:
                        reason = "exhausted space"
                        break
                    trial = waiting.pop(0) if batch is None else batch[0]
                    running[self._submit(trial)] = trial, batch
                self._show(optimizer, bar)
                if not running:
                    return reason or "budget"
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in sorted(done, key=lambda item: running[item][0].id):
                    value, error = _outcome(future)
                    trial, batch = running.pop(future)
                    optimizer.tell(trial, value, error=error)
                    self._call_back(optimizer, batch, bar)
        finally:
            for future in running:
                future.cancel()

    def _left(self, optimizer: Optimizer) -> int:
        """Evaluations that may still be handed out."""
        return self.budget - optimizer.counts.answered - optimizer.counts.pending

    def _reason(self, optimizer: Optimizer) -> str:
        if optimizer.counts.answered >= self.budget:
            return "budget"
        return "stop" if self.stop(optimizer) else ""

    @staticmethod
    def _ask(optimizer: Optimizer, q: int) -> Batch | None:
        """A batch; a smaller one when a finite space has fewer points left; None when it has none any more."""
        try:
            return optimizer.ask(q)
        except SpaceExhausted as error:
            if error.left:
                return optimizer.ask(error.left)
            if not optimizer.trials:
                raise
            return None

    def _evaluations(self, trials: list[Trial], optimizer: Optimizer) -> Iterator[tuple[Trial, Outcome]]:
        """Results as they come in; in this process, none is started once it is time to stop."""
        if self.executor is None:
            for i, trial in enumerate(trials):
                if i and self.stop(optimizer):
                    return
                yield trial, _evaluate(self.f, dict(trial.params))
            return
        running = {self._submit(trial): trial for trial in trials}
        try:
            while running:
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in sorted(done, key=lambda item: running[item].id):
                    outcome = _outcome(future)
                    yield running.pop(future), outcome
        finally:
            for future in running:
                future.cancel()

    def _submit(self, trial: Trial) -> Future[Outcome]:
        assert self.executor is not None
        try:
            return self.executor.submit(_evaluate, self.f, dict(trial.params))
        except RuntimeError as error:
            raise EvaluationError(
                f"the executor takes no more work ({error}); trial {trial.id} stays pending and the study is intact."
            ) from error

    def _call_back(self, optimizer: Optimizer, batch: Batch | None, bar: Progress) -> None:
        """The user's callback, free to print; trials taken up from a journal are no batch of this run."""
        if batch is not None and self.callback is not None:
            bar.clear()
            self.callback(optimizer, batch)

    @staticmethod
    def _show(optimizer: Optimizer, bar: Progress) -> None:
        best = optimizer.best
        bar.show(optimizer.counts.answered, "" if best is None else f"best {best[1]:.6g}")


def _outcome(future: Future[Outcome]) -> Outcome:
    """What a worker sent back; EvaluationError when the worker itself is gone or the function cannot travel to it."""
    try:
        return future.result()
    except Exception as error:
        raise EvaluationError(
            f"a worker could not evaluate the function ({type(error).__name__}: {error}); is it importable by name, "
            "and did a worker die? Unanswered trials stay pending and the study is intact."
        ) from error
