"""The result of a run: the best point, or the Pareto front, and why the run stopped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from believer.errors import InvalidInput
from believer.optimizer import Optimizer
from believer.space.units import amount
from believer.study import html
from believer.study.columns import of_params
from believer.study.labels import named
from believer.study.recommendation import Front, Recommendation


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """The result of a run, and why it stopped.

    Attributes
    ----------
    params : the best point. None if every evaluation failed, if no result is feasible, or with several objectives.
    value : the value of the best point; None if there is none.
    evaluations : the number of evaluations, including failed ones and those in the journal that the run went on from.
        Neither ``y0`` nor results outside a changed space count.
    failures : the number of failed evaluations.
    stopped : why the run stopped: "budget", "stop" or "exhausted space".
    optimizer : the study, to read. Its journal is closed.
    """

    params: dict[str, Any] | None
    value: float | None
    evaluations: int
    failures: int
    stopped: str
    optimizer: Optimizer

    @property
    def recommended(self) -> Recommendation | None:
        """The point to use in the end, which is not always the best result (:meth:`Optimizer.recommend`); or None."""
        try:
            return self.optimizer.recommend()
        except InvalidInput:  # no result, none that is feasible with the required probability, or several objectives
            return None

    @property
    def front(self) -> Front | None:
        """The Pareto front, if there are several objectives (:attr:`Optimizer.front`); otherwise None."""
        return self.optimizer.front if has_several_objectives(self.optimizer) else None

    def __str__(self) -> str:
        labels = self.optimizer.settings.labels
        found = "no result"
        if self.value is not None:
            value = amount(f"{self.value:.6g}", labels.objective)
            found = f"best {value} at {labels.point(self.params or {})}"
        front = self.front
        if front:
            found = f"{len(front)} on the front, hypervolume {front.hypervolume:.6g}"
        elif self.value is None and self.optimizer.counts.done:
            found = "no result within all limits"
        failed = f", {self.failures} failed" if self.failures else ""
        errors = [record["error"] for record in self.optimizer.records() if record["error"]]
        why = f"; the first failure: {errors[0]}" if found == "no result" and errors else ""
        return f"{found} ({self.evaluations} evaluations{failed}; stopped by {self.stopped}{why})"

    def __repr__(self) -> str:
        if self.params is None or self.value is None:
            found = "no best value"
        else:
            found = f"best {self.value:.4g} at {named(self.params)}"
        return f"Result({found}; {self.evaluations} evaluations, stopped by {self.stopped})"

    def _repr_html_(self) -> str:
        front, labels = self.front, self.optimizer.settings.labels
        shown_front = "" if front is None else front._repr_html_()
        best = "" if self.params is None else html.table(of_params([self.params], labels))
        return html.block("Result", html.sentence(str(self)), best, self.optimizer._picture(), shown_front)

    def to_frame(self, library: str | None = None) -> Any:
        """All trials as a data frame; see :meth:`Optimizer.to_frame`.

        Parameters
        ----------
        library : "pandas" or "polars". By default pandas if it is installed, otherwise polars.
        """
        return self.optimizer.to_frame(library)


def has_several_objectives(optimizer: Optimizer) -> bool:
    """Whether the study has several objectives, and so a Pareto front in place of a best result."""
    return len(optimizer.settings.goals.objectives) > 1


def best_of(optimizer: Optimizer) -> tuple[dict[str, Any], float] | None:
    """The best result; None if there is none, or if there are several objectives."""
    return None if has_several_objectives(optimizer) else optimizer.best
