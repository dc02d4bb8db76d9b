"""What a proposal depends on beside the settings: a study as it stands, frozen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from believer.arrays import Array, read_only, whole
from believer.batch.request import Pending
from believer.errors import InvalidInput
from believer.study.outcome import ONLY, Outcome, aligned, outcome_of
from believer.study.settings import StudySettings
from believer.surrogates.data import Data

Fitted = tuple[tuple[int, ...], dict[str, Any]]
"""Ids of the results that a model was fitted to, and its hyperparameters."""


@dataclass(frozen=True, slots=True, eq=False)
class History:
    """A study as it stands, all in id order; every point in the encoded cube, every value to be minimized.

    Attributes
    ----------
    ids : the trials that have a result.
    data : their points, the values of their objectives, and the known noise of these.
    objectives : names of the columns of ``data.Y``; the first is what is optimized.
    failed : points (k, d) that were evaluated in vain.
    pending : points handed out and not answered.
    taken : points (k, d) that were handed out or observed, whatever became of them.
    queue : points that the user wants next, in the user's terms.
    next_id : the id that the next trial gets.
    designed : how many points of the space-filling design were handed out.
    fitted : the hyperparameters behind the last proposal, a warm start; None without any.
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

    @staticmethod
    def of(
        settings: StudySettings,
        trials: Iterable[tuple[int, Mapping[str, Any], float | Outcome | str | None]],
        fitted: Fitted | None = None,
        queue: Iterable[Mapping[str, Any]] = (),
    ) -> History:
        """The history of a study that someone else keeps.

        Points of a space-filling design count as handed out, one for each trial.

        Parameters
        ----------
        settings : of the study.
        trials : ``(id, params, what it returned)`` for each: a number or an :class:`Outcome`; a text says why it
            failed, and None that it is pending. NaN and infinities are failures.
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
                outcomes[trial_id] = aligned(answer, names)
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
        fitted: Fitted | None = None,
    ) -> History:
        """The same of trials whose points are encoded already, which takes most of the time.

        Parameters
        ----------
        settings : of the study.
        points : of all trials by id, in the order of ids; each (d,), in the encoded cube.
        outcomes : results by id, all with the same objectives.
        failed, pending : ids of trials that have failed, and of those that may have a result yet.
        objectives : names, the first is what is optimized; None for those of the first result.
        queue : as for :meth:`of`, checked.
        next_id : None for that after the last.
        designed : how many points were of a design; None for all.
        fitted : as for :meth:`of`.
        """

        def at(ids: Iterable[int]) -> Array:
            return read_only(np.array([points[i] for i in ids]).reshape(-1, settings.space.dim))

        ids, open_ids = tuple(sorted(outcomes)), tuple(sorted(pending))
        told = [outcomes[i] for i in ids]
        names = objectives or (tuple(told[0].objectives) if told else (ONLY,))
        values = np.array([outcome.objectives[name] for outcome in told for name in names]).reshape(-1, len(names))
        noise = None
        if any(outcome.noise for outcome in told):
            noise = read_only(np.array([[outcome.noise.get(name, 0.0) for name in names] for outcome in told]))
        return History(
            ids=ids,
            data=Data(at(ids), read_only(settings.sign * values), noise, settings.space.groups),
            objectives=names,
            failed=at(sorted(failed)),
            pending=Pending(open_ids, at(open_ids)),
            taken=at(points),
            queue=queue,
            next_id=max(points, default=-1) + 1 if next_id is None else next_id,
            designed=len(points) if designed is None else designed,
            fitted=fitted,
        )


def _in_order(trials: Iterable[Any]) -> list[Any]:
    """By id; InvalidInput for what has none, or cannot be ordered by it."""
    try:
        return sorted(trials, key=lambda trial: trial[0])
    except (TypeError, IndexError, KeyError) as error:
        raise InvalidInput(f"trials must be (id, params, what it returned), ids whole numbers; {error}.") from error
