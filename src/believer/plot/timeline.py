"""The figure of the times at which trials were pending."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from believer.plot import data
from believer.plot.data.source import StudyLike
from believer.plot.figure import BLACK, GRAY, batch_colors, finished, panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_UNITS = ((3 * 86400.0, 86400.0, "days"), (3 * 3600.0, 3600.0, "hours"), (180.0, 60.0, "minutes"))
_MAX_NUMBERED = 60
_MIN_WIDTH, _ROOM = 0.004, 0.03
"""Shares of the whole time: the least width of a bar, and the length of pending trials after the last event."""


def timeline(study: StudyLike, *, ax: Axes | None = None) -> Axes:
    """Plot when each trial was handed out and when its result arrived, with one row for each parallel slot.

    Each batch has its own color. Failed trials are hatched, pending ones are not filled. A journal without times is
    shown by the number of its events.

    Parameters
    ----------
    study : an optimizer, a result, a study that was read, or a path.
    ax : the axes to draw on; None for a new figure.
    """
    found = data.timeline(study)
    lanes = int(found.lane.max()) + 1
    axes = panel(ax, (6.4, min(1.6 + 0.26 * lanes, 7.0)))
    unit, name = _unit(float(found.end.max())) if found.is_timed else (1.0, "")
    whole = float(found.end.max()) / unit or 1.0
    begin, length = found.begin / unit, np.maximum((found.end - found.begin) / unit, _MIN_WIDTH * whole)
    state, colors = np.array(found.status), batch_colors()(found.batch / max(int(found.batch.max()), 1))
    done = state == "done"
    waiting = np.isin(state, ("pending", "partial", "abandoned"))
    length[np.isin(state, ("pending", "partial"))] += _ROOM * whole
    for rows, label, style in (
        (done, "result", {"ec": "white", "lw": 0.5}),
        (state == "failed", "failed", {"ec": "white", "hatch": "////", "lw": 0.5}),
        (waiting, "no result yet", {"fill": False, "ec": GRAY, "lw": 1.0}),
    ):
        if rows.any():
            fill = {} if "fill" in style else {"color": colors[rows]}
            axes.barh(found.lane[rows], length[rows], left=begin[rows], height=0.8, label=label, **fill, **style)
    if len(found.ids) <= _MAX_NUMBERED:
        wide = length > 0.03 * whole
        for i in np.flatnonzero(wide):
            color = BLACK if waiting[i] else "white"
            place = begin[i] + 0.5 * length[i], found.lane[i]
            axes.text(*place, str(found.ids[i]), ha="center", va="center", fontsize=7, color=color)
    axes.invert_yaxis()
    axes.set_ylabel("slot")
    step = -(-lanes // 12)
    axes.set_yticks(range(0, lanes, step), [str(lane + 1) for lane in range(0, lanes, step)])
    axes.set_xlim(0.0, (1.0 + _ROOM) * whole)
    axes.set_xlabel(f"{name} since the first ask" if found.is_timed else "events (the journal holds no times)")
    axes.set_title(f"{found.utilization:.0%} of {lanes} slot{'s' if lanes > 1 else ''} in use", fontsize=10)
    return finished(axes, ax)


def _unit(longest: float) -> tuple[float, str]:
    return next(((unit, name) for least, unit, name in _UNITS if longest >= least), (1.0, "seconds"))
