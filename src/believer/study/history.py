"""The state of a study on which a proposal depends, besides its settings; a frozen value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from believer.acquisitions.feasibility import Limits
from believer.arrays import Array, IntArray, read_only, shown, whole
from believer.batch.learned import Output, Pending
from believer.errors import InvalidInput, JournalError
from believer.numerics.sampling import stream
from believer.study.goals import DESIRABILITY, RUNS, Goals
from believer.study.outcome import ONLY, Outcome, Value, aligned, outcome_of
from believer.study.settings import LEARN, StudySettings
from believer.surrogates.data import Data
from believer.surrogates.replicates import noise_of_means

Fitted = tuple[tuple[int, ...], dict[str, Any]]
"""The ids of the results to which a model was fitted, and its hyperparameters."""

RUN_STD, RUN_LIMIT = 0.3, -0.5
"""For the output of success (-1) and failure (1) of an evaluation: the noise of these values, because the border
between them is not a smooth function; and the value below which an evaluation is expected to succeed
(benchmarks/failures.py)."""

_RUN = Output(RUNS, 1.0, Limits(high=RUN_LIMIT), warped=False, exact=True)


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The known values of one output, in the order of ids; every value is to be minimized.

    Attributes
    ----------
    output : the output, with its goal.
    ids : the trials that have a value.
    data : their points, values, and known noise.
    pending : the points whose result of this output is pending.
    fitted : the hyperparameters behind the last proposal, a warm start; None if there is none.
    """

    output: Output
    ids: tuple[int, ...]
    data: Data
    pending: Pending
    fitted: Fitted | None = None


@dataclass(frozen=True, slots=True, eq=False)
class History:
    """The present state of a study, in the order of ids; all points are encoded.

    Attributes
    ----------
    ids : the trials with a complete result.
    tables : a table for each output: objectives, limits, and, if failures are learned, the success of evaluations.
    failed : points (k, d) of failed trials.
    pending : points of pending trials.
    taken : points (k, d) that were handed out or observed, with or without a result.
    queue : points that the user wants next, in the user's terms.
    next_id : the id that the next trial gets.
    designed : the number of points of the space-filling design that were handed out.
    unused : names of numbers in results that have no goal.
    answered_then : for each trial that a strategy chose, the number of trials that had results at that time.
    """

    ids: tuple[int, ...]
    tables: tuple[Table, ...]
    failed: Array
    pending: Pending
    taken: Array
    queue: tuple[dict[str, Any], ...]
    next_id: int
    designed: int
    unused: tuple[str, ...] = ()
    answered_then: Mapping[int, int] = field(default_factory=dict)

    @property
    def data(self) -> Data:
        """The results of the first objective."""
        return self.tables[0].data

    @property
    def is_fresh(self) -> bool:
        """Whether there are results since the last proposal that kept its hyperparameters."""
        return any(table.fitted is not None and not {*table.ids} <= {*table.fitted[0]} for table in self.tables)

    @staticmethod
    def of(
        settings: StudySettings,
        trials: Iterable[tuple[int, Mapping[str, Any], Value | str | None]],
        fitted: Fitted | None = None,
        queue: Iterable[Mapping[str, Any]] = (),
    ) -> History:
        """The history of a study that a host stores.

        Points of a space-filling design count as handed out, one for each trial.

        Parameters
        ----------
        settings : the settings of the study.
        trials : ``(id, params, result)`` for each. The result is a number, an :class:`Outcome` or a dict of numbers; a
            text is the reason of a failure, and None means pending. NaN and infinities are failures. A trial with some
            of the declared outcomes is pending in the others.
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
                raise InvalidInput(f"each trial must have its own id; got {trial_id} twice.")
            points[trial_id] = settings.space.check(params)
            answer = returned if isinstance(returned, str) or returned is None else outcome_of(returned, None, None)
            if isinstance(answer, Outcome):
                goals = settings.goals
                arranged = goals.arranged(goals.of_number(answer))
                if goals.is_plain and outcomes and arranged.objectives:
                    arranged = aligned(arranged, tuple(next(iter(outcomes.values())).objectives))
                outcomes[trial_id] = arranged
                if goals.missing(arranged):
                    pending.append(trial_id)
                elif arranged.lost:
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
        queue: tuple[dict[str, Any], ...] = (),
        next_id: int | None = None,
        designed: int | None = None,
        fitted: Fitted | Mapping[str, Fitted] | None = None,
        answered_then: Mapping[int, int] | None = None,
        passed_by: Sequence[Array] = (),
    ) -> History:
        """The same for points that are already encoded: encoding takes most of the time.

        Parameters
        ----------
        settings : the settings of the study.
        points : the points of all trials by id, in the order of ids; each (d,), in the encoded cube.
        outcomes : results by id, all with the same objectives; with declared outcomes, those that are known.
        failed, pending : the ids of failed trials, and of trials whose result, or a part of it, is pending.
        queue : as for :meth:`of`, checked.
        next_id : the id of the next trial; None for the one after the last.
        designed : the number of points of a design; None for all.
        fitted : as for :meth:`of`; with declared outcomes it may be a dict by output.
        answered_then : for each trial that a strategy chose, the number of trials that had results at that time; with
            None, the trials after the design count as chosen one by one, each after the results of all earlier ones.
        passed_by : points (d,) that were suggested but evaluated with other parameters.
        """
        goals, waiting, failures = settings.goals, tuple(sorted(pending)), frozenset(failed)
        study = _Points.of(points, settings)
        out = Pending(waiting, study.at(waiting))
        answered = goals.whole(outcomes)
        first = next(iter(outcomes.values()), None) if goals.is_plain else None
        return History(
            ids=tuple(sorted(answered - failures)),
            tables=study.tables(outcomes, failures, answered, out, _by_output(fitted, goals)),
            failed=study.at(sorted(failures)),
            pending=out,
            taken=read_only(np.vstack([study.X, *passed_by])) if passed_by else study.X,
            queue=queue,
            next_id=next_id if next_id is not None else max(points, default=-1) + 1,
            designed=len(points) if designed is None else designed,
            unused=() if first is None else tuple(first.objectives)[1:],
            answered_then=_one_by_one(points, out, settings.n_init) if answered_then is None else answered_then,
        )


def _one_by_one(points: Mapping[int, Array], pending: Pending, n_init: int) -> dict[int, int]:
    """The number of trials answered before each trial after the design, if each waited for all earlier ones."""
    ids = sorted(points)
    answered = np.arange(len(ids)) - np.searchsorted(pending.ids, ids)
    return dict(zip(ids[n_init:], answered[n_init:].tolist(), strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class _Points:
    """The points ``X`` (n, d) of all trials, in the order of their ``ids`` (n,)."""

    ids: IntArray
    X: Array
    settings: StudySettings

    @staticmethod
    def of(points: Mapping[int, Array], settings: StudySettings) -> _Points:
        X = np.concatenate([*points.values()]) if points else np.zeros(0)  # faster than an array of arrays
        return _Points(np.fromiter(points, np.int64), read_only(X.reshape(-1, settings.space.dim)), settings)

    def at(self, ids: Iterable[int]) -> Array:
        """The points of some of them, (m, d)."""
        return read_only(self.X[np.searchsorted(self.ids, np.fromiter(ids, np.int64))])

    def data(self, ids: Iterable[int], y: Array, noise: Sequence[Sequence[float]] | None) -> Data:
        stds = None if noise is None else read_only(np.array(noise))
        return Data(self.at(ids), read_only(y[:, None]), stds, self.settings.space.groups)

    def tables(
        self,
        outcomes: Mapping[int, Outcome],
        failed: Set[int],
        answered: Set[int],
        pending: Pending,
        fitted: Mapping[str, Fitted],
    ) -> tuple[Table, ...]:
        """A table for each model: objectives, limits, and, if failures are learned, the success of evaluations."""
        goals, settings = self.settings.goals, self.settings
        ordered = {i: outcomes[i] for i in sorted(outcomes)}
        known = {one: goals.column(ordered, one.name) for one in goals.outputs}
        if failed and settings.failures == LEARN:
            known[_RUN] = {i: 1.0 if i in failed else -1.0 for i in sorted(failed | answered)}
        elif failed:  # the outcomes of a failed trial count only if failures are learned
            known = {one: {i: v for i, v in values.items() if i not in failed} for one, values in known.items()}
        tables = []
        for output, values in known.items():
            known_ids, missing = tuple(values), tuple([i for i in pending.ids if i not in values])
            noise = [[RUN_STD]] * len(values)
            if output is not _RUN:
                noise = self._noise(output.name, known_ids, [outcomes[i] for i in known_ids])  # type: ignore[assignment]
            data = self.data(known_ids, output.sign * np.fromiter(values.values(), np.float64), noise)
            own = pending if missing == pending.ids else Pending(missing, self.at(missing))
            tables.append(Table(output, known_ids, data, own, fitted.get(output.name)))
        return tuple(tables)

    def _noise(self, name: str, ids: tuple[int, ...], outcomes: Sequence[Outcome]) -> list[list[float]] | None:
        """The standard deviations of the results of an output, as told or from replicates; None if none is known."""
        if not [one for one in outcomes if one.noise or one.replicates]:
            return None
        goals = self.settings.goals
        if goals.is_weighed and name == DESIRABILITY:
            columns = {aim: column for aim in goals.aims if (column := self._noise(aim, ids, outcomes)) is not None}
            stds = [{aim: column[i][0] for aim, column in columns.items()} for i in range(len(ids))]
            weighed = [goals.weighed_std(one, of_one) for one, of_one in zip(outcomes, stds, strict=True)]
            return [[std] for std in weighed] if any(weighed) else None
        key = goals.key_of_all(outcomes, name)
        known = [one.noise.get(key, 0.0) for one in outcomes]
        each = [one.replicates.get(key, (0.0,)) for one in outcomes]
        if max(map(len, each), default=1) > 1:
            called = ONLY if len(goals.wanted) == 1 else name  # the name of the only outcome changes nothing
            rng = stream(self.settings.seed, len(ids), f"noise of {called}")
            spread = [float(np.std(values, ddof=1)) if len(values) > 1 else 0.0 for values in each]
            counts = [len(values) for values in each]
            found = noise_of_means(self.at(ids), counts, spread, rng, np.array(known), self.settings.space.groups)
            known = known if found is None else found.std.tolist()
        return [[std] for std in known] if any(known) else None


def _by_output(fitted: Fitted | Mapping[str, Fitted] | None, goals: Goals) -> Mapping[str, Fitted]:
    """The last fits, by output."""
    if not isinstance(fitted, tuple):
        return fitted or {}
    ids, state = fitted
    return {name: (ids, one) for name, one in states_by_output(state, goals).items()}


def states_by_output(state: dict[str, Any], goals: Goals) -> dict[str, dict[str, Any]]:
    """Hyperparameters by output; before format 4, those of a plain number stood alone.

    Raises :class:`JournalError` if it is neither.
    """
    outputs = state.get("outputs")
    if outputs is None and goals.is_plain:
        return {ONLY: state}
    if not isinstance(outputs, dict) or len(state) > 1 or not all(isinstance(one, dict) for one in outputs.values()):
        raise JournalError(f"the hyperparameters of the last fit, {shown(state)}, are not those of all outputs.")
    return outputs


def _in_order(trials: Iterable[Any]) -> list[Any]:
    """The trials sorted by id; InvalidInput if they cannot be sorted."""
    try:
        return sorted(trials, key=lambda trial: trial[0])
    except (TypeError, IndexError, KeyError) as error:
        raise InvalidInput(f"trials must be tuples (id, params, result), ids whole numbers; {error}.") from error
