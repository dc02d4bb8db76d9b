"""The times at which trials were handed out and their results arrived, and the number of pending trials."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from believer.arrays import Array, IntArray
from believer.errors import InvalidInput
from believer.plot.data.source import StudyLike, study_of
from believer.study.events import Abandoned, Asked, Event, Failed, Told


@dataclass(frozen=True, slots=True, eq=False)
class Timeline:
    """n trials that were handed out.

    Attributes
    ----------
    ids : the ids of the trials, (n,).
    begin : the time at which each was handed out, (n,), in seconds since the first.
    end : the time at which its result arrived, (n,); the time of the last event for pending trials.
    lane : the slot of each trial, (n,), from 0: the first free one when it is handed out.
    status : the status of each trial.
    batch : the number of the ask, (n,).
    origin : the time of the first ask, in seconds since 1970 (UTC).
    busy_at : the times at which the number of pending trials changes, (k,).
    busy : the number of trials that are pending from then on, (k,).
    utilization : the share of the time, between the first ask and the last event, in which the lanes were occupied.
    is_timed : whether the events have times; otherwise, in older studies, times are the numbers of events.
    """

    ids: IntArray
    begin: Array
    end: Array
    lane: IntArray
    status: tuple[str, ...]
    batch: IntArray
    origin: float
    busy_at: Array
    busy: IntArray
    utilization: float
    is_timed: bool


def timeline(study: StudyLike) -> Timeline:
    """When trials were pending."""
    source = study_of(study)
    trials, events = source.trials, source.study.events
    times, is_timed = _times(events)
    begun: dict[int, float] = {}
    ended: dict[int, float] = {}
    for event, time in zip(events, times, strict=True):
        if isinstance(event, Asked):
            begun |= {trial.id: time for trial in event.trials}
        elif isinstance(event, Told | Failed | Abandoned):
            ended[event.id] = time  # the last part of a result in parts
    rows = [i for i, trial in enumerate(trials.ids.tolist()) if trial in begun]
    if not rows:
        raise InvalidInput("a timeline needs at least one trial that was handed out; there is none yet.")
    ids = trials.ids[rows]
    origin, last = begun[int(ids[0])], max(times)
    begin = np.array([begun[i] for i in ids.tolist()]) - origin
    waiting = [trials.status[i] in ("pending", "partial") for i in rows]
    end = np.array([last if w else ended.get(i, last) for i, w in zip(ids.tolist(), waiting, strict=True)]) - origin
    end = np.maximum(end, begin)
    lane = _lanes(begin, np.where(waiting, np.inf, end))  # a trial without a result does not free its slot
    moments = np.unique(np.concatenate([begin, end]))
    busy = np.array([int(((begin <= t) & (end > t)).sum()) for t in moments], dtype=np.int64)
    whole = (last - origin) * (int(lane.max()) + 1)
    return Timeline(
        ids,
        begin,
        end,
        lane,
        tuple(trials.status[i] for i in rows),
        trials.batch[rows],
        origin if is_timed else math.nan,
        moments,
        busy,
        float((end - begin).sum() / whole) if whole > 0.0 else 1.0,
        is_timed,
    )


def _times(events: tuple[Event, ...]) -> tuple[list[float], bool]:
    """The time of each event, never before that of an earlier one; the numbers of events, and False, if some have no
    time."""
    found = [getattr(event, "at", None) for event in events]
    timed = [isinstance(event, Asked | Told | Failed | Abandoned) for event in events]
    if any(is_timed and at is None for is_timed, at in zip(timed, found, strict=True)):
        return [float(i) for i in range(len(events))], False
    known = np.array([-math.inf if at is None else at for at in found])
    return np.maximum.accumulate(known).tolist(), True


def _lanes(begin: Array, end: Array) -> IntArray:
    """The first free slot for each trial; trials that are handed out together are in different slots."""
    taken, lanes = list[tuple[float, float]](), np.zeros(len(begin), dtype=np.int64)
    for i in np.argsort(begin, kind="stable"):
        here = (float(begin[i]), float(end[i]))
        lane = next((j for j, (since, until) in enumerate(taken) if until <= here[0] and since < here[0]), len(taken))
        taken[lane:] = [here, *taken[lane + 1 :]]
        lanes[i] = lane
    return lanes
