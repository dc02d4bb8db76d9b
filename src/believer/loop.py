"""minimize: an Optimizer at work on a function, inline or on any executor, in batches or one result at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass
from numbers import Real
from typing import Any

from believer.acquisitions import Acquisition
from believer.arrays import finite, whole
from believer.batch import Strategy
from believer.errors import EvaluationError, InvalidInput, SpaceExhausted
from believer.maximize import Maximizer
from believer.optimizer import Optimizer
from believer.progress import Progress
from believer.space import Space
from believer.study.journal import PathLike
from believer.study.outcome import Outcome, Value, aligned, outcome_of
from believer.study.settings import StudySettings, make_settings
from believer.study.trials import Batch, Trial, same_params
from believer.surrogates.protocols import Surrogate

Function = Callable[[dict[str, Any]], Value]
Stop = Callable[[Optimizer], bool]
Answer = Outcome | str
"""What a trial returned, or what went wrong."""


@dataclass(frozen=True, slots=True)
class Target:
    """Stop as soon as a value is good enough.

    Parameters
    ----------
    value : at least this good, in the user's units.
    """

    value: float

    def __post_init__(self) -> None:
        finite(self.value, "a target")

    def __call__(self, optimizer: Optimizer) -> bool:
        """Whether the best result reaches the target."""
        best, sign = optimizer.best, optimizer.settings.sign
        return best is not None and sign * best[1] <= sign * self.value


@dataclass(frozen=True, slots=True)
class Seconds:
    """Start no further evaluation after a while.

    Parameters
    ----------
    limit : how long, in seconds.
    """

    limit: float

    def __post_init__(self) -> None:
        finite(self.limit, "seconds")


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """What a run found, and why it stopped.

    Attributes
    ----------
    params : the best point; None when every evaluation failed.
    value : its value; None when every evaluation failed.
    evaluations : how many were made, failed ones and those of a journal that was taken up included, ``y0`` not.
    failures : how many failed.
    stopped : why: "budget", "stop" or "exhausted space".
    optimizer : the study, to look at; its journal is closed.
    """

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
    *,
    maximize: bool = False,
    x0: Iterable[Mapping[str, Any]] | None = None,
    y0: Iterable[Value] | None = None,
    surrogate: str | Surrogate | None = None,
    acquisition: str | Acquisition | None = None,
    strategy: str | Strategy = "kb",
    n_init: int | None = None,
    maximizer: Maximizer | None = None,
) -> Result:
    """Minimize ``f(params)`` over ``space`` with ``budget`` evaluations, the initial design included.

    Parameters
    ----------
    f : takes one dict of parameters, returns a number or an :class:`Outcome`. An exception, NaN or an infinity is a
        failed trial and never ends the run.
    space : where to search.
    budget : how many evaluations.
    q : how many run together.
    executor : any ``concurrent.futures.Executor``; None evaluates in this process.
    mode : "batch" waits for all q results before it asks again; "async" hands a worker the next point as soon as it is
        free.
    journal : a path; a journal that is already there is taken up again, its unanswered trials first.
    progress : draw a bar on standard error, if that is a terminal.
    stop : a target value (a number or ``Target``), ``Seconds``, or a callable of the optimizer; asked before every
        evaluation that is started. What was handed out and not evaluated by then stays pending.
    callback : called with the optimizer and each batch once all of its results are in.
    maximize : look for the largest value instead.
    x0 : points to evaluate first, a list of params; not again when a journal is taken up.
    y0 : their values, where these are known already: then they count as results, and not towards the budget.
    seed, surrogate, acquisition, strategy, n_init, maximizer : as for :class:`Optimizer`.
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
    budget, q, stopper = whole(budget, "budget", 1), whole(q, "q", 1), _stopper(stop)
    settings = make_settings(space, surrogate, acquisition, strategy, maximizer, n_init, seed, maximize)
    points, values = _known(settings, x0, y0)
    given = (surrogate, acquisition, strategy, n_init, seed)
    if journal is None:
        optimizer = Optimizer(space, *given, None, maximize, maximizer)
    else:
        optimizer = Optimizer.open(journal, space, *given, maximize, maximizer)
    bar = Progress.on_terminal(budget, progress)
    try:
        _begin(optimizer, points, values)
        known = [row for row in optimizer.records() if row["origin"] == "observed"]
        run = _Run(f, executor, budget + len(known), q, stopper, callback)
        reason = run.asynchronously(optimizer, bar) if mode == "async" else run.in_batches(optimizer, bar)
    finally:
        bar.close()
        optimizer.close()
    params, value = optimizer.best or (None, None)
    counts = optimizer.counts
    failed = counts.failed - sum(row["status"] == "failed" for row in known)
    return Result(params, value, counts.answered - len(known), failed, reason, optimizer)


def _known(
    settings: StudySettings, x0: Iterable[Mapping[str, Any]] | None, y0: Iterable[Value] | None
) -> tuple[list[dict[str, Any]], list[Value] | None]:
    """The points to begin with, and their values; InvalidInput where they do not fit the space, or each other."""
    if isinstance(x0, Mapping):
        raise InvalidInput("x0 must be a list of params, [params]; got one.")
    try:
        points = [settings.space.check(params) for params in x0 or ()]
        values = None if y0 is None else [*y0]
    except TypeError as error:
        raise InvalidInput(f"x0 must be a list of params, and y0 a list of values; {error}.") from error
    if values is None:
        refused = [params for params in points if not settings.space.allows(params)]
        if refused:
            raise InvalidInput(f"the space's constraint does not allow {refused[0]}, a point of x0.")
        return points, None
    if len(values) != len(points):
        raise InvalidInput(f"y0 must have one value for each point of x0; got {len(values)} and {len(points)}.")
    names = None
    for value in values:
        outcome = outcome_of(value, None, None)
        if isinstance(outcome, Outcome):
            names = tuple(aligned(outcome, names).objectives)
    return points, values


def _begin(optimizer: Optimizer, points: list[dict[str, Any]], values: list[Value] | None) -> None:
    """Points of the user's own, to be evaluated first, or as results; those that the study has already are left out."""
    there = [*(trial.params for trial in optimizer.trials), *optimizer.queued]
    for place, params in enumerate(points):
        same = next((one for one in there if same_params(one, params)), None)
        if same is not None:
            there.remove(same)
        elif values is None:
            optimizer.enqueue(params)
        else:
            optimizer.observe(params, values[place])


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


def _evaluate(f: Function, params: dict[str, Any]) -> Answer:
    """What ``f`` returned, or what went wrong; runs in the worker, so that any exception can travel."""
    try:
        return outcome_of(f(params), None, None)
    except (Exception, SystemExit) as error:  # the user's function may raise anything; all of it is a failed trial
        return _text(error)


def _tell(optimizer: Optimizer, trial: Trial, answer: Answer) -> None:
    """An outcome that does not go with those before it is a failed trial, too: it must not end the run."""
    if isinstance(answer, str):
        optimizer.tell(trial, error=answer)
        return
    try:
        optimizer.tell(trial, answer)
    except InvalidInput as error:
        optimizer.tell(trial, error=_text(error))


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
            for trial, answer in self._evaluations(trials, optimizer):
                _tell(optimizer, trial, answer)
                self._show(optimizer, bar)
            self._call_back(optimizer, batch, bar)

    def asynchronously(self, optimizer: Optimizer, bar: Progress) -> str:
        """Keep q evaluations under way; each result is told at once and its worker gets the next point."""
        waiting: list[Trial] = list(optimizer.pending)
        running: dict[Future[Answer], tuple[Trial, Batch | None]] = {}
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
                    answer = _answer(future)
                    trial, batch = running.pop(future)
                    _tell(optimizer, trial, answer)
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

    def _evaluations(self, trials: list[Trial], optimizer: Optimizer) -> Iterator[tuple[Trial, Answer]]:
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
                    answer = _answer(future)
                    yield running.pop(future), answer
        finally:
            for future in running:
                future.cancel()

    def _submit(self, trial: Trial) -> Future[Answer]:
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


def _answer(future: Future[Answer]) -> Answer:
    """What a worker sent back; EvaluationError when the worker itself is gone or the function cannot travel to it."""
    try:
        return future.result()
    except Exception as error:
        raise EvaluationError(
            f"a worker could not evaluate the function ({type(error).__name__}: {error}); is it importable by name, "
            "and did a worker die? Unanswered trials stay pending and the study is intact."
        ) from error
