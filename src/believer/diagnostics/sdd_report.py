"""The conclusions of the Structural Diversity Diagnostic: one of four verdicts for each data set, and a report over
many."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from believer.diagnostics.measurement import Measurement, SddPart
from believer.errors import InvalidInput
from believer.report import Table
from believer.study import serialization

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RESPONDS_DIVERSE = "responds and diverse"
RESPONDS_HIDDEN = "responds, but the optimizer could not show it"
NO_RESPONSE = "does not respond"
OTHER_REASON = "diverse for another reason than the lie"
VERDICTS = (RESPONDS_DIVERSE, RESPONDS_HIDDEN, NO_RESPONSE, OTHER_REASON)

DIVERSE_FROM = 1e-3
"""Members farther apart than this, in the unit cube, are different points ([paper] appendix F: "min dist >> 0.001")."""

RESPONDS_FROM = 1e-3
"""A lie that moves the acquisition by more than this share of its range has reached the model."""


_SPELLED_OUT = 9


def is_diverse(part: SddPart) -> bool:
    """Whether all members of a batch are different points."""
    return part.min_distance > DIVERSE_FROM


def own_response(m: Measurement) -> float:
    """The change of the acquisition function by the lie itself, at the point where the acquisition is largest.

    If the random draws of a fit can be held fixed, they are; otherwise the effect of an update without the lie is
    subtracted.
    """
    if m.frozen_free is not None:
        return m.frozen_free.response
    return max(m.free.response - m.null_free.response, 0.0)


def verdict_of(m: Measurement) -> str:
    """One of the four verdicts, for one data set.

    The model responds if the lie itself moved the acquisition. The batch is diverse if that of part A is. The lie is
    the cause if the batch stays diverse with the fit's random draws held fixed, or, without such a control, if the same
    update without the lie gives no diverse batch. In addition, the search without derivatives, with the same lies, must
    not repeat a point: otherwise the maximum did not move, and the batch only differs by which of the stuck starts was
    the best.
    """
    responds = own_response(m) > RESPONDS_FROM
    if not is_diverse(m.fixed):
        return RESPONDS_HIDDEN if responds else NO_RESPONSE
    by_the_lie = is_diverse(m.frozen) if m.frozen is not None else not is_diverse(m.null)
    maximum_moved = is_diverse(m.free if m.frozen_free is None else m.frozen_free)
    return RESPONDS_DIVERSE if responds and by_the_lie and maximum_moved else OTHER_REASON


@dataclass(frozen=True, slots=True)
class SDDReport:
    """The findings of the diagnostic for one surrogate, over the data sets of all seeds.

    Attributes
    ----------
    settings : the settings of the diagnosis, as plain data.
    measurements : a measurement for each seed.
    """

    settings: dict[str, Any]
    measurements: tuple[Measurement, ...]

    @property
    def title(self) -> str:
        """The surrogate, the data and the kind of lie, in one line."""
        s = self.settings
        data = f"{s['problem']}, n={s['n']}" if "problem" in s else f"a table of {s['n']} points"
        how = f"lie {serialization.brief(s['lie'])}, {serialization.brief(s['acquisition'])}, update {s['update']}"
        seeds = f"{len(self.measurements)} seed{'s' if len(self.measurements) > 1 else ''}"
        return f"{serialization.brief(s['surrogate'])} on {data}, q={s['q']}: {how}, {seeds}"

    @property
    def verdicts(self) -> dict[str, int]:
        """The number of data sets with each verdict."""
        found = [verdict_of(m) for m in self.measurements]
        return {verdict: found.count(verdict) for verdict in VERDICTS}

    @property
    def verdict(self) -> str:
        """The most frequent verdict; if several are, the first of them in :data:`VERDICTS`."""
        counts = self.verdicts
        return max(VERDICTS, key=counts.__getitem__)

    def parts(self, name: str) -> list[SddPart]:
        """The batches of one part, one for each seed; empty if the part does not apply to the surrogate."""
        found = [getattr(m, name) for m in self.measurements]
        return [part for part in found if part is not None]

    def table(self) -> Table:
        """A row for each part: distances, share of diverse batches, response, time; means over seeds."""
        columns = ("batch", "min dist", "mean dist", "diverse", "response", "time (s)")
        rows = [self._row(label, self.parts(name)) for name, label in PARTS.items() if self.parts(name)]
        return Table(self.title, columns, tuple(rows))

    def _row(self, label: str, parts: Sequence[SddPart]) -> tuple[Any, ...]:
        return (
            label,
            _mean(part.min_distance for part in parts),
            _mean(part.mean_distance for part in parts),
            f"{sum(map(is_diverse, parts))}/{len(parts)}",
            _mean(part.response for part in parts),
            _mean(part.seconds for part in parts),
        )

    def summary(self) -> dict[str, Any]:
        """The printed columns and the controls in one row, for a table of several surrogates."""
        fixed = self.parts("fixed")
        return {
            "surrogate": serialization.brief(self.settings["surrogate"]),
            "update": self.settings["update"],
            "min dist": _mean(part.min_distance for part in fixed),
            "mean dist": _mean(part.mean_distance for part in fixed),
            "diverse?": f"{sum(map(is_diverse, fixed))}/{len(fixed)}",
            "time (s)": _mean(part.seconds for part in fixed),
            "response": _mean(map(own_response, self.measurements)),
            "moved": _mean(m.moved for m in self.measurements),
            "reached": _mean(m.reached for m in self.measurements),
            "diverse without the lie": _share(map(is_diverse, self.parts("null"))),
            "diverse without derivatives": _share(map(is_diverse, self.parts("free"))),
            "diverse without either": _share(map(is_diverse, self.parts("null_free"))),
            "verdict": f"{self.verdict} ({self.verdicts[self.verdict]} of {len(self.measurements)})",
        }

    def __str__(self) -> str:
        counts = ", ".join(f"{count} x {verdict}" for verdict, count in self.verdicts.items() if count)
        return "\n".join(
            [
                self.table().text(),
                f"verdict: {self.verdict} ({counts})",
                *(f"  {line}" for line in self.evidence()),
            ]
        )

    def evidence(self) -> list[str]:
        """The controls in sentences."""
        ms = self.measurements
        responses, nulls = _mean(map(own_response, ms)), _mean(m.null_free.response for m in ms)
        lines = [
            f"did the model respond? a lie at the maximum moved the acquisition by {responses:.3g} of its range "
            f"(the update without the lie: {nulls:.3g})"
        ]
        moved, reached = _mean(m.moved for m in ms), _mean(m.reached for m in ms)
        starts = "" if moved is None else f"{moved:.0%} of its starts moved; "
        lines.append(
            f"could the optimizer move? {starts}it reached {reached:.3g} of what a search without derivatives reaches"
        )
        null, free = self.parts("null"), self.parts("free")
        without = f"without the lie {sum(map(is_diverse, null))} of {len(null)} batches are diverse"
        fixed = self.parts("frozen")
        fixed_draws = (
            f", with the fit's draws held fixed {sum(map(is_diverse, fixed))} of {len(fixed)}" if fixed else ""
        )
        lines.append(
            f"was it the lie? {without}{fixed_draws}; without derivatives {sum(map(is_diverse, free))} of {len(free)}"
        )
        if fixed and any(map(is_diverse, null)):
            lines.append("the refit alone moves the maximum, too: in use, part of the diversity is its own randomness")
        steps = np.mean([part.nearest for part in self.parts("fixed")], axis=0)
        distances = ", ".join(f"{j}: {step:.3f}" for j, step in enumerate(steps[:_SPELLED_OUT], start=2))
        distances += f", ..., least {min(steps):.3f}" if len(steps) > _SPELLED_OUT else ""
        scaled = _mean(m.min_lengthscales for m in ms)
        units = "" if scaled is None else f"; least distance {scaled:.2f} lengthscales"
        lines.append(
            f"each member to its nearest predecessor: {distances}; random pairs {_mean(m.random_pair for m in ms):.3f}"
            + units
        )
        return lines

    def figure(self) -> Figure:
        """Distances of every part, seed by seed, and the controls."""
        from believer.diagnostics.sdd_figure import draw

        return draw(self)

    def to_json(self) -> str:
        """The whole report as text; :meth:`from_json` reads it."""
        return json.dumps({"settings": self.settings, "measurements": [m.to_json() for m in self.measurements]})

    @staticmethod
    def from_json(text: str) -> SDDReport:
        """Inverse of :meth:`to_json`; InvalidInput for any other text."""
        try:
            data = json.loads(text)
            report = SDDReport(data["settings"], tuple(map(Measurement.from_json, data["measurements"])))
            str(report)  # touches every field
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            raise InvalidInput(
                f"a report must be what SDDReport.to_json wrote; this is not: {type(error).__name__}: {error}."
            ) from error
        return report


PARTS = {
    "fixed": "A: fixed starts",
    "random": "B: random restarts",
    "free": "no derivatives",
    "null": "A, no lie",
    "null_free": "no derivatives, no lie",
    "frozen": "A, draws fixed",
    "frozen_free": "no derivatives, draws fixed",
}
"""The parts of a measurement, and their names in tables."""


def _mean(values: Iterable[float | None]) -> Any:
    """The mean of the values that are not None; None if there are none."""
    found = [value for value in values if value is not None]
    return float(np.mean(found)) if found else None


def _share(flags: Iterable[bool]) -> str:
    found = list(flags)
    return f"{sum(found)}/{len(found)}"
