"""The recommended point, which is not always the best observed one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, overload

from believer.arrays import to_width
from believer.space.units import amount, labeled
from believer.study import html
from believer.study.columns import Column, as_text, column, known, of_params
from believer.study.frames import frame
from believer.study.labels import NO_LABELS, Labels, described, named
from believer.study.trials import Trial, params_by_column

NORMAL_95 = 1.959963984540054
"""A normal variable is within so many standard deviations of its mean in 95 % of all cases."""


@dataclass(frozen=True, slots=True)
class Expected:
    """The posterior of an outcome at a point, in the user's units.

    Attributes
    ----------
    mean : the posterior mean, without noise; the median if the model learns from warped results.
    std : the posterior standard deviation.
    """

    mean: float
    std: float


@dataclass(frozen=True, slots=True, eq=False)
class Recommendation:
    """The evaluated point to use, and the model's prediction there, in the user's units.

    Attributes
    ----------
    trial : the id of the trial.
    params : the point.
    mean : the posterior mean of the objective there, without noise; the median if the model learns from warped results.
    std : the posterior standard deviation.
    interval : the 95 % credible interval of the objective there, without noise.
    feasible : the probability that all limits are kept there; 1 without limits.
    outcomes : the posterior of each declared outcome there; empty if none is declared.
    labels : units and limits, for printing.
    """

    trial: Trial
    params: dict[str, Any]
    mean: float
    std: float
    interval: tuple[float, float]
    feasible: float = 1.0
    outcomes: dict[str, Expected] = field(default_factory=dict)
    labels: Labels = NO_LABELS

    def __str__(self) -> str:
        return f"trial {self.trial.id}, {self.labels.point(self.params)}: {self._expectation()}"

    def __repr__(self) -> str:
        expected = f"{to_width(self.mean, self.std)} ± {self.std:.2g}"
        return f"Recommendation(trial {self.trial.id}, {named(self.params)}: {expected})"

    def _expectation(self) -> str:
        low, high = self.interval
        limits = f"; within all limits at {self.feasible:.0%}" if self.outcomes else ""
        units = self.labels.objective
        mean, *ends = (to_width(one, 0.5 * (high - low)) for one in (self.mean, low, high))
        return f"{amount(mean, units)} expected, between {ends[0]} and {amount(ends[1], units)} at 95 %{limits}"

    def _repr_html_(self) -> str:
        names = [*self.outcomes]
        rows = [
            column("outcome", names),
            column("expected", [self._shown(name, to_width(one.mean, one.std)) for name, one in self.outcomes.items()]),
            column("±", [self._shown(name, f"{one.std:.2g}") for name, one in self.outcomes.items()]),
            column("wanted", [self.labels.wanted.get(name, "") for name in names]),
        ]
        return html.block(
            f"Recommended: trial {self.trial.id}",
            html.table(of_params([self.params], self.labels)),
            html.sentence(self._expectation()),
            html.table(rows) if names else "",
        )

    def _shown(self, name: str, number: str) -> str:
        return amount(number, self.labels.outcomes.get(name, ""))


@dataclass(frozen=True, slots=True)
class FrontPoint:
    """A result on the Pareto front, in the user's units: no other result beats it in every objective.

    Attributes
    ----------
    trial : the id of the trial.
    params : the point.
    values : the observed values of the objectives; if results are noisy, the posterior means.
    expected : the posterior of each outcome there.
    feasible : the probability that all limits are kept there; 1 without limits.
    told : the observed value of each outcome.
    """

    trial: Trial
    params: dict[str, Any]
    values: dict[str, float]
    expected: dict[str, Expected]
    feasible: float
    told: dict[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"trial {self.trial.id}, {described(self.params)}: {described(self.values)}"

    def __repr__(self) -> str:
        return f"FrontPoint(trial {self.trial.id}, {named(self.values)})"


@dataclass(frozen=True, slots=True, eq=False)
class Front(Sequence[FrontPoint]):
    """The Pareto front: the results to choose from if there are several objectives. It prints as a table.

    The table begins with the best of the first objective.

    Attributes
    ----------
    points : the points, in the order of their trials.
    reference : the point from which the hypervolume is measured, by objective; None before any result.
    is_given : whether the user gave the reference. Otherwise it is inferred: the worst of all results, or a tenth of
        the front's range beyond the front.
    hypervolume : the volume that the front dominates, up to the reference.
    labels : units and limits, for printing.
    """

    points: tuple[FrontPoint, ...]
    reference: dict[str, float] | None
    is_given: bool
    hypervolume: float
    labels: Labels = NO_LABELS

    def __len__(self) -> int:
        return len(self.points)

    @overload
    def __getitem__(self, index: int) -> FrontPoint: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[FrontPoint, ...]: ...
    def __getitem__(self, index: int | slice) -> FrontPoint | tuple[FrontPoint, ...]:
        return self.points[index]

    def __str__(self) -> str:
        if self.reference is None:
            return "no point on the front yet"
        lines = [self._head(), self._wanted(), as_text(self._columns()) if self.points else ""]
        return "\n".join(line for line in lines if line)

    def __repr__(self) -> str:
        return f"Front({len(self)} point{'' if len(self) == 1 else 's'}, hypervolume {self.hypervolume:.6g})"

    def _repr_html_(self) -> str:
        if self.reference is None:
            return html.block("Front", html.sentence(str(self)))
        picture, names = "", [*self.labels.ascending]
        if len(names) == 2:
            pairs = [(point.values[names[0]], point.values[names[1]]) for point in self.points]
            right, up = (labeled(name, self.labels.outcomes.get(name, "")) for name in names)
            picture = html.scatter(pairs, (right, up), f"the front of {right} and {up}")
        table = html.table(self._columns()) if self.points else ""
        return html.block("Front", html.sentence(self._head(), self._wanted()), picture, table)

    def to_frame(self, library: str | None = None) -> Any:
        """The points as a data frame with a row for each point, in the order in which they are printed.

        Each outcome has its observed value under its name, and its posterior as ``name.expected`` and ``name.std``;
        ``feasible`` is the probability that all limits are kept.

        Parameters
        ----------
        library : "pandas" or "polars". By default pandas if that is installed, else polars.
        """
        points = self._sorted()
        columns = {"trial_id": [point.trial.id for point in points], **params_by_column([p.params for p in points])}
        outcomes: dict[str, list[Any]] = {}
        for name in self._names():
            outcomes[name] = [point.told.get(name) for point in points]
            outcomes[f"{name}.expected"] = [getattr(point.expected.get(name), "mean", None) for point in points]
            outcomes[f"{name}.std"] = [getattr(point.expected.get(name), "std", None) for point in points]
        outcomes["feasible"] = [point.feasible for point in points]
        for name, cells in outcomes.items():
            while name in columns:
                name = f"outcome.{name}"
            columns[name] = cells
        return frame(columns, library)

    def _head(self) -> str:
        how = "given" if self.is_given else "inferred"
        up_to = described(self.reference or {}, self.labels.outcomes)
        return f"{len(self)} on the front, hypervolume {self.hypervolume:.6g} up to {up_to} ({how})"

    def _wanted(self) -> str:
        """The goal of each objective."""
        return ", ".join(f"{name}: {self.labels.wanted[name]}" for name in self.labels.ascending)

    def _names(self) -> list[str]:
        """The outcomes, in the order of their declaration."""
        return list(dict.fromkeys(name for point in self.points for name in (*point.told, *point.expected)))

    def _sorted(self) -> list[FrontPoint]:
        """Points sorted by the first objective, the best first, and by the others if equal."""
        first = self.points[0].values if self.points else {}
        signs = {name: 1.0 if self.labels.ascending.get(name, True) else -1.0 for name in first}
        return sorted(self.points, key=lambda point: [sign * point.values[name] for name, sign in signs.items()])

    def _columns(self) -> list[Column]:
        """The columns: trial, parameters, and the result, posterior and limits of each outcome."""
        points, units = self._sorted(), self.labels.outcomes
        columns = [column("trial", [point.trial.id for point in points])]
        columns += of_params([point.params for point in points], self.labels)
        for name in self._names():
            told = known(point.told.get(name) for point in points)
            columns.append(column(f"{name} told", told, units.get(name, "")))
            there = [point.expected.get(name) for point in points]
            expected = [... if one is None else f"{to_width(one.mean, one.std)} ± {one.std:.2g}" for one in there]
            columns.append(column(f"{name} expected", expected, units.get(name, "")))
            if name in self.labels.limits:
                columns.append(column(f"{name} limit", [self.labels.limits[name]] * len(points), units.get(name, "")))
        if self.labels.limits:
            columns.append(column("within limits", [f"{point.feasible:.0%}" for point in points]))
        return columns
