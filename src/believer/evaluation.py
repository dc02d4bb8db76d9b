"""Running evaluations: an executor calls a function, and may fail, break, hang or be interrupted meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from believer.clusters import TimeLimited
from believer.errors import BelieverError, EvaluationError, TookTooLong, WorkerDied
from believer.study.outcome import Outcome, Value, outcome_of, refuse_names
from believer.study.trials import Trial
from believer.workers import LOOK_UP, error_text

Function = Callable[[dict[str, Any]], Value]

_LAST_WORDS = 5.0
"""The seconds within which a broken executor must have failed every call that it was given."""

_INTERRUPT = 0.2
"""The seconds after which a Ctrl-C that ended an evaluation in a worker must have reached this process, if it was for
both."""


class _Here:
    """True in the process that made it; a copy that has traveled to another one is False there."""

    def __reduce__(self) -> tuple[type[bool], tuple[()]]:
        return bool, ()


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed evaluation. ``kind`` is the name of the exception; it is empty if the value was not a number."""

    text: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """The value or failure of an evaluation, and how long it took."""

    outcome: Outcome | Failure
    seconds: float = 0.0

    @property
    def is_interrupted(self) -> bool:
        """Whether an interrupt stopped the worker, perhaps a Ctrl-C that was meant for this process."""
        return isinstance(self.outcome, Failure) and self.outcome.kind == KeyboardInterrupt.__name__


def evaluate(f: Function, params: dict[str, Any], is_here: _Here | bool, by_name: bool = False) -> Answer:
    """Call ``f`` and return its value or its failure. This runs in the worker, so that any exception can be sent back.

    ``by_name``: whether outcomes are declared, so that a dict of numbers is allowed.
    """
    began = time.perf_counter()
    found: Outcome | Failure
    try:
        returned = f(params)
        if not by_name:
            refuse_names(returned)
        outcome = outcome_of(returned, None, None)
        found = Failure(outcome) if isinstance(outcome, str) else outcome
    except BaseException as error:  # the user's function may raise anything; nearly all of it is a failed trial
        if is_here and isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        found = Failure(error_text(error), type(error).__name__)
    return Answer(found, time.perf_counter() - began)


class OutOfTime(Exception):
    """The time limit is reached: the run stops, whatever is still running or was not started."""


@dataclass(slots=True, eq=False)
class UnderWay:
    """The evaluations that were submitted to an executor and have not come back.

    Parameters
    ----------
    f : the function.
    executor : the executor that calls it.
    tell : a function that is called with every trial that has an answer.
    timeout : the seconds that an evaluation may take, if the executor can enforce a limit.
    began, limit : when the run began, by the monotonic clock, and for how many seconds it starts evaluations.
    by_name : whether outcomes are declared, so that a dict of numbers is allowed.
    """

    f: Function
    executor: Executor
    tell: Callable[[Trial, Answer], None]
    timeout: float | None
    began: float
    limit: float
    by_name: bool = False
    running: dict[Future[Answer], Trial] = field(default_factory=dict)
    longest: float = 0.0

    def __len__(self) -> int:
        return len(self.running)

    def submit(self, trial: Trial) -> None:
        """Submit a trial for evaluation. Raises ``EvaluationError`` if the executor takes no more work."""
        executor = self.executor
        submit = executor.submit
        if self.timeout is not None and isinstance(executor, TimeLimited):
            submit = partial(executor.submit_within, self.timeout)
        try:
            future = submit(evaluate, self.f, dict(trial.params), _Here(), self.by_name)
            if not isinstance(future, Future):
                raise TypeError(f"submit must return a Future; it returned a {type(future).__name__}")
        except Exception as error:
            if isinstance(error, BrokenExecutor) and self.running:
                raise self._broken(error) from error
            raise EvaluationError(
                f"the executor takes no more work ({error_text(error)}); trial {trial.id} stays pending and the "
                "study is intact."
            ) from error
        self.running[future] = trial

    def evaluate(self, trials: Iterable[Trial]) -> None:
        """Submit all ``trials``, and collect answers until none is running."""
        for trial in trials:
            self.submit(trial)
        while self.running:
            self.collect()

    def collect(self) -> list[Trial]:
        """Wait for answers, tell all that have arrived, and return their trials.

        Raises ``OutOfTime`` if none arrives in the time that is left, ``EvaluationError`` if the executor fails, and
        any interrupt that ended a thread of this process.
        """
        collected: list[Trial] = []
        for future in sorted(self._done(), key=lambda item: self.running[item].id):
            try:
                answer = _answer(future)
            except BrokenExecutor as error:
                raise self._broken(error) from error
            if answer.is_interrupted:
                time.sleep(_INTERRUPT)
            self.longest = max(self.longest, answer.seconds)
            self.tell(self.running[future], answer)
            collected.append(self.running.pop(future))
        return collected

    def tell_the_rest(self) -> None:
        """Tell the results that have arrived at the end of a run; evaluations that an interrupt may have ended stay
        pending."""
        for future, trial in self.running.items():
            if not future.done() or future.cancelled():
                continue
            error = future.exception()
            if error is None or isinstance(error, WorkerDied | TookTooLong):
                answer = _answer(future)
                if not answer.is_interrupted:
                    with suppress(BelieverError):
                        self.tell(trial, answer)

    def cancel(self) -> None:
        """Cancel every evaluation that has not begun."""
        for future in [future for future in self.running if future.cancel()]:
            del self.running[future]

    def _done(self) -> set[Future[Answer]]:
        """Wait until at least one future has ended, and return those that have."""
        while True:
            if time.monotonic() >= self.began + self.limit:
                self.cancel()
            left = self._last - time.monotonic()
            done, _ = wait(self.running, max(0.0, min(LOOK_UP, left)), FIRST_COMPLETED)
            if done:
                return done
            if left <= 0.0 or not self.running:
                raise OutOfTime

    @property
    def _last(self) -> float:
        """The time at which to stop waiting for the running evaluations."""
        return self.began + self.limit + (self.longest or self.limit)

    def _broken(self, error: BrokenExecutor) -> EvaluationError:
        """Tell that every trial has failed that was running in an executor that broke."""
        time.sleep(_INTERRUPT)
        wait(self.running, _LAST_WORDS)
        done = {future: trial for future, trial in self.running.items() if future.done() and not future.cancelled()}
        lost = {future: trial for future, trial in done.items() if isinstance(future.exception(), BrokenExecutor)}
        names = ", ".join(str(trial.id) for trial in lost.values())
        others = f", or that of another trial under way with it (trials {names})" if len(lost) > 1 else ""
        for future, trial in lost.items():
            self.tell(trial, Answer(Failure(f"its worker died{others}: {error_text(error)}", WorkerDied.__name__)))
            del self.running[future]
        return EvaluationError(
            f"a worker died, and the executor with it ({error_text(error)}): of what was under way, trials {names} "
            "have failed, and the study is intact. To try them again, enqueue their params; workers=<number> makes "
            "processes of which one may die without the others."
        )


def _answer(future: Future[Answer]) -> Answer:
    """The answer of a worker. An interrupt of a thread of this process, a broken executor and ``EvaluationError`` are
    raised."""
    try:
        answer = future.result()
        if not isinstance(answer, Answer):
            raise TypeError(f"the executor gave a {type(answer).__name__} for what the call returned")
        return answer
    except CancelledError as error:
        raise EvaluationError(
            "an evaluation was cancelled by its executor. Unanswered trials stay pending and the study is intact."
        ) from error
    except (WorkerDied, TookTooLong) as error:
        return Answer(Failure(str(error), type(error).__name__))
    except (KeyboardInterrupt, SystemExit, BrokenExecutor, EvaluationError):
        raise
    except BaseException as error:
        raise EvaluationError(
            f"a worker could not evaluate the function ({error_text(error)}); is it importable by name? Unanswered "
            "trials stay pending and the study is intact."
        ) from error
