"""When trials were handed out and when their results came in, and how many were pending at once."""

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
    ids : of the trials, (n,).
    begin : when each was handed out, (n,), in seconds since the first.
    end : when its result came in, (n,); the time of the last event for those under way.
    lane : the slot that each takes, (n,), from 0 on: the first that is free when it is handed out.
    status : of the trials, n of them.
    batch : the number of the ask, (n,).
    origin : the time of the first ask, in seconds since 1970 (UTC).
    busy_at : times at which the number of trials under way changes, (k,).
    busy : the number of trials that are pending from then on, (k,).
    utilization : the share of the time that the lanes were taken, between the first ask and the last event.
    is_timed : False for a study from before times were written: then times are numbers of events.
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
            ended[event.id] = time  # of a result in parts, the last one
    rows = [i for i, trial in enumerate(trials.ids.tolist()) if trial in begun]
    if not rows:
        raise InvalidInput("a timeline needs at least one trial that was handed out; there is none yet.")
    ids = trials.ids[rows]
    origin, last = begun[int(ids[0])], max(times)
    begin = np.array([begun[i] for i in ids.tolist()]) - origin
    waiting = [trials.status[i] in ("pending", "partial") for i in rows]
    end = np.array([last if w else ended.get(i, last) for i, w in zip(ids.tolist(), waiting, strict=True)]) - origin
    end = np.maximum(end, begin)
    lane = _lanes(begin, np.where(waiting, np.inf, end))  # who has no result yet leaves no slot
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
    """The time of each event, never before that of an earlier one; their numbers, and False, where some lack it."""
    found = [getattr(event, "at", None) for event in events]
    timed = [isinstance(event, Asked | Told | Failed | Abandoned) for event in events]
    if any(is_timed and at is None for is_timed, at in zip(timed, found, strict=True)):
        return [float(i) for i in range(len(events))], False
    known = np.array([-math.inf if at is None else at for at in found])
    return np.maximum.accumulate(known).tolist(), True


def _lanes(begin: Array, end: Array) -> IntArray:
    """The first slot that is free for each trial; those that are handed out together are in different ones."""
    taken, lanes = list[tuple[float, float]](), np.zeros(len(begin), dtype=np.int64)
    for i in np.argsort(begin, kind="stable"):
        here = (float(begin[i]), float(end[i]))
        lane = next((j for j, (since, until) in enumerate(taken) if until <= here[0] and since < here[0]), len(taken))
        taken[lane:] = [here, *taken[lane + 1 :]]
        lanes[i] = lane
    return lanes
