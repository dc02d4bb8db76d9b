"""``minimize`` runs an Optimizer on a function, in this process or on any executor, in batches or asynchronously."""

from __future__ import annotations

import logging
import math
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, Unpack

from believer.arrays import finite, shown, whole
from believer.clusters import TimeLimited, opened
from believer.errors import EvaluationError, InvalidInput, SpaceExhausted
from believer.evaluation import Answer, Failure, Function, OutOfTime, UnderWay, evaluate
from believer.optimizer import Optimizer
from believer.progress import Showing, following
from believer.result import Result, best_of
from believer.space import Space
from believer.space.units import amount
from believer.stopping import Seconds, Stop, Target, stopper
from believer.study.batch_rules import BatchRules, Shared
from believer.study.events import Failed, Observed, Told
from believer.study.journal import PathLike
from believer.study.options import Options, said, with_options
from believer.study.outcome import Outcome, Value, aligned, outcome_of, refuse_names
from believer.study.settings import StudySettings
from believer.study.trials import Batch, Trial, same_params
from believer.workers import Workers, error_text

_log = logging.getLogger(__name__)


@with_options
def minimize(
    f: Function,
    space: Space,
    budget: int = 50,
    *,
    workers: int | Executor | Any = None,
    q: int | None = None,
    mode: str | None = None,
    shared: Shared | None = None,
    journal: PathLike | None = None,
    x0: Iterable[Mapping[str, Any]] | None = None,
    y0: Iterable[Value] | None = None,
    stop: float | Target | Seconds | Stop | None = None,
    timeout: float | None = None,
    callback: Callable[[Optimizer, Batch], None] | None = None,
    progress: bool = True,
    change: bool = False,
    executor: int | Executor | Any = None,
    **options: Unpack[Options],
) -> Result:
    """Minimize ``f(params)`` over ``space`` with ``budget`` evaluations, the initial design included.

    Parameters
    ----------
    f : the function. It takes one dict of parameters and returns a number, an :class:`Outcome`, or, if ``outcomes`` are
        declared, a dict with a number or a list of replicates for each. An exception, NaN or infinity makes the trial a
        failed one, and the run goes on. An interrupt or ``sys.exit`` in this process ends the run. So does
        ``EvaluationError``, which is raised if the first ``n_init`` evaluations (at least two) all fail with the same
        exception and the study has no result yet.
    space : the space to search.
    budget : the number of evaluations.
    workers : the number of worker processes (in a script, keep the call under ``if __name__ == "__main__"``). If a
        worker dies, its trial has failed and the run goes on. It may also be any ``concurrent.futures.Executor``; if
        that breaks, the running trials have failed and the run ends with ``EvaluationError``. It may also be a Dask
        client or cluster, or the address of a cluster, "tcp://host:8786", "ray://host:10001" or "ray". With None, the
        function is evaluated in this process.
    q : the number of evaluations that run together. By default the number of workers, or 1 without workers. It must be
        given for an executor that does not say how many workers it has.
    mode : "async" hands a worker the next point as soon as it is free; "batch" waits for all q results before it asks
        again. By default "async" with workers, "batch" without.
    shared : parameters that have one value in a whole batch, or at most as many as stated, as for
        :meth:`Optimizer.ask`. It needs ``mode="batch"``.
    journal : a path. If there is a journal already, the run goes on from it, and evaluates its pending trials first.
    x0 : points to evaluate first, a list of params. They are not evaluated again when a run goes on from a journal.
    y0 : the values of ``x0``, if they are known. They then count as results, and not towards the budget.
    stop : a target value (a number or ``Target``), ``Seconds``, or a function of the optimizer. It is checked before
        every evaluation. Trials that were handed out but not evaluated by then stay pending.
    timeout : the seconds that an evaluation may take, with worker processes (a number as ``workers``) or on a cluster.
        After that its process and all processes that it has started are killed, and the trial has failed. The time to
        import the module of ``f`` does not count.
    callback : a function that is called with the optimizer and a batch once all results of the batch are in.
    progress : whether to show progress and the best value so far on standard error: a bar on a terminal or in a
        notebook, and a line now and then elsewhere.
    change : whether to go on from a journal with other settings, as for :meth:`Optimizer.open`. Results outside the new
        space do not count towards the budget, and pending points outside it are not evaluated.
    executor : the former name of ``workers``.
    {options}
    """
    began = time.monotonic()
    own = ("workers", "q", "mode", "shared", "journal", "x0", "y0", "stop", "timeout", "callback", "progress", "change")
    said(options, ("budget", *own))
    if executor is not None:
        if workers is not None:
            raise InvalidInput("executor is the former name of workers. Pass only one of them.")
        warnings.warn("executor= is now called workers=.", DeprecationWarning, stacklevel=2)
        workers = executor
    if workers is not None and not isinstance(workers, Integral | Executor):
        with opened(workers) as cluster:
            given: dict[str, Any] = {"q": q, "mode": mode, "shared": shared, "journal": journal, "x0": x0, "y0": y0}
            given |= {
                "stop": stop,
                "timeout": timeout,
                "callback": callback,
                "progress": progress,
                "change": change,
                **options,
            }
            return minimize(f, space, budget, workers=cluster, **given)
    if not callable(f):
        raise InvalidInput(f"f must be a function of one dict of parameters; got {shown(f)}.")
    workers = _checked(workers, timeout)
    q = _together(workers, q)
    if mode is None:
        mode = "batch" if workers is None else "async"
    if mode not in ("batch", "async"):
        raise InvalidInput(f'mode must be "batch" or "async"; got {shown(mode)}.')
    if mode == "async" and workers is None:
        raise InvalidInput('mode="async" needs workers, e.g. workers=4, worker processes.')
    if shared is not None and mode == "async":
        raise InvalidInput('shared needs mode="batch": with mode="async" every point is asked for by itself.')
    if callback is not None and not callable(callback):
        raise InvalidInput(f"callback must be a function of the optimizer and a batch; got {shown(callback)}.")
    budget, stops = whole(budget, "budget", 1), stopper(stop, began)
    points, values = _listed(x0, y0)
    rules = BatchRules()

    def check(settings: StudySettings) -> None:
        nonlocal rules
        rules = BatchRules.of(settings.space, {}, shared)
        if len(settings.goals.objectives) > 1 and isinstance(stop, Real | Target):
            raise InvalidInput(
                "a target needs a single objective, and this study has several. Stop with Seconds(...) or a function."
            )
        _refuse_unknown(settings, points, values)

    optimizer = Optimizer._open(journal, space, change, options, check)
    bar = following(budget, progress, q)
    try:
        place = optimizer.space.check if values is None else optimizer.space.measured
        _begin(optimizer, [place(params) for params in points], values)
        known = _not_counted(optimizer)
        limit = stop.limit if isinstance(stop, Seconds) else math.inf
        units = optimizer.settings.labels.objective
        waiting = _waiting(optimizer)
        aside = _Aside(len(known), optimizer.counts.pending - len(waiting))
        run = _Run(
            *(f, optimizer, bar, workers, budget + len(known), q, stops, callback, timeout, began, limit, units),
            waiting=waiting,
            aside=aside,
            shared=rules.shared,
        )
        reason = run.until_done(mode)
    finally:
        bar.close()
        optimizer.close()
    params, value = best_of(optimizer) or (None, None)
    counts = optimizer.counts
    _log.info("minimize stopped by %s after %d evaluations, %d failed", reason, counts.answered, counts.failed)
    failed = counts.failed - sum(row["status"] == "failed" for row in known)
    return Result(params, value, counts.answered - len(known), failed, reason, optimizer)


def _together(workers: int | Executor | None, q: int | None) -> int:
    """The number of evaluations that run together; InvalidInput if it is not given and cannot be inferred."""
    if q is not None:
        return whole(q, "q", 1)
    if workers is None or isinstance(workers, int):
        return workers or 1
    count = getattr(workers, "_max_workers", None)
    if not isinstance(count, int):
        raise InvalidInput(
            f"the executor, {type(workers).__name__}, does not say how many workers it has: pass q, their number."
        )
    return count


def _not_counted(optimizer: Optimizer) -> list[dict[str, Any]]:
    """Answers that do not count towards the budget: those known in full before the run, and those outside the space.

    An answer that was known in part counts, because the rest was evaluated or will be.
    """
    evaluated = {event.id for event in optimizer.events if isinstance(event, Told | Failed)}
    known = {event.id for event in optimizer.events if isinstance(event, Observed)} - evaluated
    known |= {trial.id for trial in optimizer.outside}
    return [row for row in optimizer.records() if row["trial_id"] in known and row["status"] in ("done", "failed")]


def _waiting(optimizer: Optimizer) -> list[Trial]:
    """Pending trials of a journal that are still to be evaluated; those that the present space does not allow are left
    out."""
    outside = {trial.id for trial in optimizer.outside}
    return [t for t in optimizer.pending if t.id not in outside and optimizer.space.allows(t.params)]


def _listed(
    x0: Iterable[Mapping[str, Any]] | None, y0: Iterable[Value] | None
) -> tuple[list[Mapping[str, Any]], list[Value] | None]:
    """The points to begin with, and their values, as lists."""
    if isinstance(x0, Mapping):
        raise InvalidInput("x0 must be a list of params, [params]; got one.")
    try:
        return [] if x0 is None else [*x0], None if y0 is None else [*y0]
    except TypeError as error:
        raise InvalidInput(f"x0 must be a list of params, and y0 a list of values; {error}.") from error


def _refuse_unknown(settings: StudySettings, points: list[Mapping[str, Any]], values: list[Value] | None) -> None:
    """Raise InvalidInput if the initial points and their values do not fit the study, or each other."""
    checked = [(settings.space.check if values is None else settings.space.measured)(params) for params in points]
    if values is None:
        refused = [params for params in checked if not settings.space.allows(params)]
        if refused:
            raise InvalidInput(f"the space's constraint does not allow {refused[0]}, a point of x0.")
        return
    if len(values) != len(points):
        raise InvalidInput(f"y0 must have one value for each point of x0; got {len(values)} and {len(points)}.")
    names, goals = None, settings.goals
    for value in values:
        if goals.is_plain:
            refuse_names(value)
        outcome = outcome_of(value, None, None)
        if isinstance(outcome, Outcome):
            arranged = goals.arranged(goals.of_number(outcome))
            names = tuple(aligned(arranged, names).objectives) if goals.is_plain and arranged.objectives else names


def _begin(optimizer: Optimizer, points: list[dict[str, Any]], values: list[Value] | None) -> None:
    """Add the user's points, to be evaluated first or as results; those that the study has already are left out."""
    there = [*(trial.params for trial in optimizer.trials), *optimizer.queued]
    for place, params in enumerate(points):
        same = next((i for i, one in enumerate(there) if same_params(one, params)), None)
        if same is not None:
            del there[same]
        elif values is None:
            optimizer.enqueue(params)
        else:
            optimizer.observe(params, values[place])


def _checked(workers: Any, timeout: float | None) -> Any:
    """The executor, or the number of processes as an int."""
    if isinstance(workers, Integral):
        workers = whole(workers, "workers, where it is a number of worker processes,", 1)
    if timeout is None:
        return workers
    if finite(timeout, "timeout") <= 0.0:
        raise InvalidInput(f"timeout must be a number of seconds above zero; got {shown(timeout)}.")
    if not isinstance(workers, int | TimeLimited):
        where = "this process" if workers is None else f"a {type(workers).__name__}"
        rule = "timeout needs worker processes that can be killed, e.g. workers=4, or a Dask or Ray cluster"
        raise InvalidInput(f"{rule}; {where} cannot be.")
    return workers


@dataclass(frozen=True, slots=True)
class _Aside:
    """Trials of a study that do not count towards the budget: some answers, and pending points that are not
    evaluated."""

    answered: int
    pending: int


@dataclass(slots=True, eq=False)
class _Run:
    """The state of one call of minimize: its arguments, the running evaluations, and the results.

    Trials in ``waiting`` are evaluated first. ``budget`` includes the trials in ``aside``.
    """

    f: Function
    optimizer: Optimizer
    bar: Showing
    workers: Executor | int | None
    budget: int
    q: int
    stop: Stop
    callback: Callable[[Optimizer, Batch], None] | None
    timeout: float | None
    began: float
    limit: float
    units: str
    waiting: list[Trial]
    aside: _Aside
    shared: Shared
    failures: list[Failure] = field(default_factory=list)

    def until_done(self, mode: str) -> str:
        """Run, and return the reason why it stopped. However it ends, all finished results are told and its processes
        are ended."""
        if self.workers is None:
            with suppress(OutOfTime):
                return self._in_batches(self._inline)
            return "stop"
        pool = Workers(min(self.workers, self.q)) if isinstance(self.workers, int) else self.workers
        by_name = not self.optimizer.settings.goals.is_plain
        under_way = UnderWay(self.f, pool, self._tell, self.timeout, self.began, self.limit, by_name)
        with suppress(OutOfTime), nullcontext() if pool is self.workers else pool:
            try:
                return self._asynchronously(under_way) if mode == "async" else self._in_batches(under_way.evaluate)
            except BaseException:
                under_way.tell_the_rest()
                raise
            finally:
                under_way.cancel()
        return "stop"

    def _in_batches(self, evaluate_all: Callable[[list[Trial]], None]) -> str:
        """Ask, evaluate all, tell."""
        waiting = self.waiting
        while True:
            self._show()
            reason = self._reason()
            if reason:
                return reason
            if self._all_failed_alike():
                raise self._error_of_all()
            batch: Batch | None = None
            if waiting:
                k = min(self.q, self.budget - self.optimizer.counts.answered)
                trials, waiting = waiting[:k], waiting[k:]
            elif self._left() < 1:  # a callback may have asked for what was left
                return "budget"
            else:
                batch = self._ask(min(self.q, self._left()))
                if batch is None:
                    return "exhausted space"
                trials = list(batch)
            evaluate_all(trials)
            self._call_back(batch)

    def _asynchronously(self, under_way: UnderWay) -> str:
        """Keep q evaluations under way; each result is told at once and its worker gets the next point."""
        waiting = self.waiting
        batches: dict[int, Batch | None] = {}
        reason = ""
        while True:
            reason = reason or self._reason()
            all_failed_alike = self._all_failed_alike()
            while (
                not (reason or all_failed_alike)
                and len(under_way) < min(self.q, self.budget - self.optimizer.counts.answered)
                and (waiting or self._left() > 0)
            ):
                batch = None if waiting else self._ask(1)
                if not waiting and batch is None:
                    reason = "exhausted space"
                    break
                trial = waiting.pop(0) if batch is None else batch[0]
                batches[trial.id] = batch
                under_way.submit(trial)
            self._show()
            if not under_way:
                if all_failed_alike and not reason:
                    raise self._error_of_all()
                return reason or "budget"
            for trial in under_way.collect():
                self._call_back(batches.pop(trial.id))

    def _left(self) -> int:
        """Evaluations that may still be handed out."""
        return self.budget - self.optimizer.counts.answered - self.optimizer.counts.pending + self.aside.pending

    def _reason(self) -> str:
        if self.optimizer.counts.answered >= self.budget:
            return "budget"
        return "stop" if self.stop(self.optimizer) else ""

    def _all_failed_alike(self) -> bool:
        """Whether the function itself seems to be wrong: enough evaluations of this run failed in the same way, and
        none succeeded."""
        kinds = {failure.kind for failure in self.failures}
        enough = len(self.failures) >= max(2, self.optimizer.settings.n_init)
        return enough and len(kinds) == 1 and "" not in kinds and not self.optimizer.counts.done

    def _error_of_all(self) -> EvaluationError:
        return EvaluationError(
            f"the first {len(self.failures)} evaluations of this run failed in the same way, and none succeeded: "
            f"{self.failures[0].text.rstrip('.')}. Fix the function and run again; a run with a journal goes on."
        )

    def _ask(self, q: int) -> Batch | None:
        """A batch; a smaller one if a finite space has fewer points left, and None if it has none."""
        try:
            return self.optimizer.ask(q, shared=self.shared)
        except SpaceExhausted as error:
            if error.left:
                return self.optimizer.ask(error.left, shared=self.shared)
            if not self.optimizer.trials:
                raise
            return None

    def _inline(self, trials: list[Trial]) -> None:
        """Evaluate trials in this process, one after the other; none is started after the time limit."""
        for i, trial in enumerate(trials):
            if i and self._all_failed_alike():
                return
            if i and self.stop(self.optimizer):
                raise OutOfTime
            by_name = not self.optimizer.settings.goals.is_plain
            self._tell(trial, evaluate(self.f, dict(trial.params), True, by_name))

    def _tell(self, trial: Trial, answer: Answer) -> None:
        outcome = answer.outcome
        if isinstance(outcome, Outcome):
            try:
                self.optimizer.tell(trial, self._new(trial, outcome))
                if missing := self._missing(trial):  # an evaluation that is over will say no more
                    outcome = Failure(f"no number for {', '.join(missing)}", InvalidInput.__name__)
            except InvalidInput as error:  # it does not go with those before it, which must not end the run
                outcome = Failure(error_text(error), type(error).__name__)
        if isinstance(outcome, Failure):
            self.optimizer.tell(trial, error=outcome.text)
            self.failures.append(outcome)
        self._show()

    def _new(self, trial: Trial, outcome: Outcome) -> Outcome:
        """The part of ``outcome`` that was not told yet; a trial from a journal may have a part of its result
        already."""
        known = self.optimizer.outcome(trial.id)
        return outcome if known is None else outcome.without(known.names)

    def _missing(self, trial: Trial) -> tuple[str, ...]:
        """The declared outcomes of a trial that were not told yet."""
        return self.optimizer.settings.goals.missing(self.optimizer.outcome(trial.id))

    def _call_back(self, batch: Batch | None) -> None:
        """Call the user's callback, which may print. Trials that were pending in the journal are not a batch of this
        run."""
        if batch is None or self.callback is None:
            return
        pending = {trial.id for trial in self.optimizer.pending}
        if not any(trial.id in pending for trial in batch):
            self.bar.clear()
            self.callback(self.optimizer, batch)

    def _show(self) -> None:
        best, counts = best_of(self.optimizer), self.optimizer.counts
        said = [f"{counts.failed} failed"] if counts.failed else []
        if best is not None:
            said.insert(0, f"best {amount(f'{best[1]:.6g}', self.units)}")
        self.bar.show(counts.answered - self.aside.answered, ", ".join(said))
