"""What a proposal depends on beside the settings: a study as it stands, frozen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np

from believer.acquisitions.feasibility import Within
from believer.arrays import Array, read_only, shown, whole
from believer.batch.request import Pending
from believer.errors import InvalidInput, JournalError
from believer.numerics.sampling import stream
from believer.study.goals import DESIRABILITY, RUNS, Target
from believer.study.outcome import ONLY, Outcome, Value, aligned, outcome_of
from believer.study.settings import StudySettings
from believer.surrogates.data import Data
from believer.surrogates.replicates import noise_of_means

Fitted = tuple[tuple[int, ...], dict[str, Any]]
"""Ids of the results that a model was fitted to, and its hyperparameters."""

RUN_STD, RUN_LIMIT = 0.3, -0.5
"""How far -1, for an evaluation that came back, and 1, for one that failed, are taken to be off, as a border between
the two is no smooth function; and below what an evaluation is expected to come back (benchmarks/failures.py)."""

_RUN = Target(RUNS, 1.0, Within(high=RUN_LIMIT), warped=False, exact=True)


@dataclass(frozen=True, slots=True, eq=False)
class History:
    """A study as it stands, all in id order; every point in the encoded cube, every value to be minimized.

    Attributes
    ----------
    ids : the trials that have a result, of which nothing is missing.
    data : their points, the values of their objectives, and the known noise of these.
    objectives : names of the columns of ``data.Y``; the first is what is optimized.
    failed : points (k, d) that were evaluated in vain.
    pending : points handed out and not answered.
    taken : points (k, d) that were handed out or observed, whatever became of them.
    queue : points that the user wants next, in the user's terms.
    next_id : the id that the next trial gets.
    designed : how many points of the space-filling design were handed out.
    fitted : the hyperparameters behind the last proposal, a warm start; None without any.
    outputs : of a study that declares its outcomes: what a model learns, and the history of that number alone, as if
        the study had no other. Pending there is what has not come back of it; nothing has failed.
    """

    ids: tuple[int, ...]
    data: Data
    objectives: tuple[str, ...]
    failed: Array
    pending: Pending
    taken: Array
    queue: tuple[dict[str, Any], ...]
    next_id: int
    designed: int
    fitted: Fitted | None = None
    outputs: tuple[tuple[Target, History], ...] = ()

    @staticmethod
    def of(
        settings: StudySettings,
        trials: Iterable[tuple[int, Mapping[str, Any], Value | str | None]],
        fitted: Fitted | None = None,
        queue: Iterable[Mapping[str, Any]] = (),
    ) -> History:
        """The history of a study that someone else keeps.

        Points of a space-filling design count as handed out, one for each trial.

        Parameters
        ----------
        settings : of the study.
        trials : ``(id, params, what it returned)`` for each: a number, an :class:`Outcome`, or numbers by name; a text
            says why it failed, and None that it is pending. NaN and infinities are failures. A trial with some of the
            declared outcomes is pending in the others.
        fitted : ids and hyperparameters of the last fit, if they were kept; the values of these ids have not changed.
        queue : points that the user wants next, in the user's terms.
        """
        points: dict[int, dict[str, Any]] = {}
        outcomes: dict[int, Outcome] = {}
        failed: list[int] = []
        pending: list[int] = []
        for number, params, returned in _in_order(trials):
            trial_id = whole(number, "the id of a trial", 0)
            if trial_id in points:
                raise InvalidInput(f"each trial has one id; got {trial_id} twice.")
            points[trial_id] = settings.space.check(params)
            answer = returned if isinstance(returned, str) or returned is None else outcome_of(returned, None, None)
            if isinstance(answer, Outcome):
                names = tuple(next(iter(outcomes.values())).objectives) if outcomes else None
                goals = settings.goals
                outcomes[trial_id] = aligned(answer, names) if goals is None else goals.arranged(answer)
                if goals is not None and goals.missing(outcomes[trial_id]):
                    pending.append(trial_id)
                elif answer.lost:
                    failed.append(trial_id)
            else:
                (pending if answer is None else failed).append(trial_id)
        units = settings.space.encode(list(points.values())) if points else np.zeros((0, settings.space.dim))
        encoded = dict(zip(points, units, strict=True))
        wanted = tuple(settings.space.check(params) for params in queue)
        return History.encoded(settings, encoded, outcomes, failed, pending, queue=wanted, fitted=fitted)

    @staticmethod
    def encoded(
        settings: StudySettings,
        points: Mapping[int, Array],
        outcomes: Mapping[int, Outcome],
        failed: Iterable[int],
        pending: Iterable[int],
        *,
        objectives: tuple[str, ...] | None = None,
        queue: tuple[dict[str, Any], ...] = (),
        next_id: int | None = None,
        designed: int | None = None,
        fitted: Fitted | Mapping[str, Fitted] | None = None,
    ) -> History:
        """The same of trials whose points are encoded already, which takes most of the time.

        Parameters
        ----------
        settings : of the study.
        points : of all trials by id, in the order of ids; each (d,), in the encoded cube.
        outcomes : results by id, all with the same objectives; where outcomes are declared, as far as they are known.
        failed, pending : ids of trials that have failed, and of those that may have a result yet, or the rest of one.
        objectives : names, the first is what is optimized; None for those of the first result.
        queue : as for :meth:`of`, checked.
        next_id : None for that after the last.
        designed : how many points were of a design; None for all.
        fitted : as for :meth:`of`; where outcomes are declared it may be by output.
        """
        goals, waiting, vain = settings.goals, tuple(sorted(pending)), frozenset(failed)
        place = next_id if next_id is not None else max(points, default=-1) + 1
        count = len(points) if designed is None else designed
        study = _Points(points, settings)
        outputs: tuple[tuple[Target, History], ...] = ()
        if goals is None:
            ids = tuple(sorted(outcomes))
            told = [outcomes[i] for i in ids]
            names = objectives or (tuple(told[0].objectives) if told else (ONLY,))
            values = np.array([outcome.objectives[name] for outcome in told for name in names]).reshape(-1, len(names))
            noise = None
            if any(outcome.noise for outcome in told):
                noise = read_only(np.array([[outcome.noise.get(name, 0.0) for name in names] for outcome in told]))
            data = Data(study.at(ids), read_only(settings.sign * values), noise, settings.space.groups)
        else:
            whole_ids = frozenset(i for i, one in outcomes.items() if not goals.missing(one))
            ids, names = tuple(sorted(whole_ids - vain)), goals.objectives
            rows = [[one.sign * _known(goals.value(outcomes[i], one.name)) for one in goals.outputs] for i in ids]
            data = study.data(ids, rows, None)
            outputs = study.outputs(outcomes, vain, whole_ids, waiting, place, count, _by_output(fitted))
        return History(
            ids=ids,
            data=data,
            objectives=names,
            failed=study.at(sorted(vain)),
            pending=Pending(waiting, study.at(waiting)),
            taken=study.at(points),
            queue=queue,
            next_id=place,
            designed=count,
            fitted=fitted if isinstance(fitted, tuple) and goals is None else None,
            outputs=outputs,
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Points:
    """The points of all trials, by id."""

    points: Mapping[int, Array]
    settings: StudySettings

    def at(self, ids: Iterable[int]) -> Array:
        return read_only(np.array([self.points[i] for i in ids]).reshape(-1, self.settings.space.dim))

    def data(self, ids: Iterable[int], Y: Sequence[Sequence[float]], noise: Sequence[Sequence[float]] | None) -> Data:
        X = self.at(ids)
        values = read_only(np.array(Y, dtype=np.float64).reshape(len(X), -1 if len(X) else 1))
        stds = None if noise is None else read_only(np.array(noise))
        return Data(X, values, stds, self.settings.space.groups)

    def outputs(
        self,
        outcomes: Mapping[int, Outcome],
        failed: Set[int],
        whole: Set[int],
        waiting: tuple[int, ...],
        next_id: int,
        designed: int,
        fitted: Mapping[str, Fitted],
    ) -> tuple[tuple[Target, History], ...]:
        """What each model learns: objectives, limits, and where anything failed whether evaluations come back."""
        goals = self.settings.goals
        assert goals is not None
        told = {one: {i: goals.value(outcomes[i], one.name) for i in sorted(outcomes)} for one in goals.outputs}
        known = {one: {i: v for i, v in values.items() if v is not None} for one, values in told.items()}
        if failed:
            known[_RUN] = {i: 1.0 if i in failed else -1.0 for i in sorted(failed | whole)}
        return tuple(
            (one, self._alone(one, values, outcomes, waiting, next_id, designed, fitted.get(one.name)))
            for one, values in known.items()
        )

    def _alone(
        self,
        output: Target,
        values: dict[int, float],
        outcomes: Mapping[int, Outcome],
        waiting: tuple[int, ...],
        next_id: int,
        designed: int,
        fitted: Fitted | None,
    ) -> History:
        """The history of one output."""
        ids, missing = tuple(values), tuple(i for i in waiting if i not in values)
        noise = [[RUN_STD]] * len(ids) if output is _RUN else self._noise(output.name, ids, [outcomes[i] for i in ids])
        return History(
            ids=ids,
            data=self.data(ids, [[output.sign * value] for value in values.values()], noise),
            objectives=(output.name,),
            failed=self.at(()),
            pending=Pending(missing, self.at(missing)),
            taken=self.at(()),
            queue=(),
            next_id=next_id,
            designed=designed,
            fitted=fitted,
        )

    def _noise(self, name: str, ids: tuple[int, ...], outcomes: Sequence[Outcome]) -> list[list[float]] | None:
        """Standard deviations of the results of an output, as told or as replicates show; None where none is known."""
        goals = self.settings.goals
        if goals is not None and goals.is_weighed and name == DESIRABILITY:
            columns = {aim: column for aim in goals.aims if (column := self._noise(aim, ids, outcomes)) is not None}
            stds = [{aim: column[i][0] for aim, column in columns.items()} for i in range(len(ids))]
            weighed = [goals.weighed_std(one, of_one) for one, of_one in zip(outcomes, stds, strict=True)]
            return [[std] for std in weighed] if any(weighed) else None
        told = [one.noise.get(name, 0.0) for one in outcomes]
        each = [one.replicates.get(name, (0.0,)) for one in outcomes]
        if any(len(values) > 1 for values in each):
            rng = stream(self.settings.seed, len(ids), f"noise of {name}")
            spread = [float(np.std(values, ddof=1)) if len(values) > 1 else 0.0 for values in each]
            counts = [len(values) for values in each]
            found = noise_of_means(self.at(ids), counts, spread, rng, np.array(told), self.settings.space.groups)
            told = told if found is None else found.std.tolist()
        return [[std] for std in told] if any(told) else None


def _by_output(fitted: Fitted | Mapping[str, Fitted] | None) -> Mapping[str, Fitted]:
    """What was fitted to results, by output."""
    if not isinstance(fitted, tuple):
        return fitted or {}
    ids, state = fitted
    outputs = state.get("outputs")
    if not isinstance(outputs, dict) or not all(isinstance(one, dict) for one in outputs.values()):
        raise JournalError(f"the hyperparameters of the last fit, {shown(state)}, are not those of several outputs.")
    return {name: (ids, one) for name, one in outputs.items()}


def _known(value: float | None) -> float:
    assert value is not None
    return value


def _in_order(trials: Iterable[Any]) -> list[Any]:
    """By id; InvalidInput for what has none, or cannot be ordered by it."""
    try:
        return sorted(trials, key=lambda trial: trial[0])
    except (TypeError, IndexError, KeyError) as error:
        raise InvalidInput(f"trials must be (id, params, what it returned), ids whole numbers; {error}.") from error
