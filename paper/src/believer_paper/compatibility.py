"""Table 1 of the paper, measured: which surrogates are compatible with pseudo-observations?

The paper's conventions: EI with ξ = 0.01 and UCB with β = 2, incumbent over real results alone, three fixed starts, an
initial design of 30 points. Where the paper's row can be read in two ways, both are measured.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from believer.acquisitions import EI, UCB, Acquisition
from believer.batch import Believe, ConstantLie, Lie
from believer.diagnostics import (
    RESPONDS_DIVERSE,
    RESPONDS_FROM,
    SDDReport,
    diagnose,
    diagnosis,
    draw_verdicts,
    entitle,
    is_diverse,
    legend_below,
    new_figure,
    own_response,
)
from believer.errors import InvalidInput
from believer.experiments import Table, wilson_interval
from believer.plugins import Surrogate
from believer.surrogates import MQRBF, SVR, FixedRBF, LastLayer, NeuralEnsemble, RandomForest, SparseGP
from believer_paper.setup.likelihood import PrintedGP
from believer_paper.setup.multiquadric import PrintedMQRBF

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEAST_SEEDS = 20
COMPATIBLE_FROM, LIMITED_FROM = 0.9, 0.1
"""A share of data sets that "respond and are diverse" from which a row counts as compatible, and as limited."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of [paper] Table 1 and one way to measure it; ``conditioning`` and ``compatible`` are the paper's words."""

    row: str
    conditioning: str
    compatible: str
    reading: str
    surrogate: Surrogate
    update: str


def table_1() -> tuple[Entry, ...]:
    """Every row of the paper's Table 1, with the paper's settings, each in the ways in which it can be read."""
    return (
        Entry("Gaussian Process", "Yes", "Yes", "conditioned", PrintedGP(), "condition"),
        Entry("MQ-RBF (data centers)", "Yes", "Yes", "σ as printed, bordered", PrintedMQRBF(), "condition"),
        Entry("MQ-RBF (data centers)", "Yes", "Yes", "power function, bordered", MQRBF(), "condition"),
        Entry("RBF (fixed centers)", "No", "No", "no update", FixedRBF(), "none"),
        Entry("RBF (fixed centers)", "No", "No", "weights conditioned", FixedRBF(), "condition"),
        Entry("Neural Network", "No", "No", "no update", NeuralEnsemble(), "none"),
        Entry("Neural Network", "No", "No", "retrained", NeuralEnsemble(), "refit"),
        Entry("Last-layer Bayesian NN", "Partial", "Limited", "last layer conditioned", LastLayer(), "condition"),
        Entry("Random Forest", "No", "No", "no update", RandomForest(), "none"),
        Entry("Random Forest", "No", "No", "rebuilt", RandomForest(), "refit"),
        Entry("SVM Regression", "No", "No", "no update", SVR(), "none"),
        Entry("SVM Regression", "No", "No", "refitted", SVR(), "refit"),
        Entry("Sparse GP (fixed inducing)", "Partial", "Limited", "20 inducing points", SparseGP(20), "condition"),
    )


LIES: dict[str, Lie] = {"CL-min": ConstantLie("min"), "KB": Believe()}
ACQUISITIONS: dict[str, Acquisition] = {"EI": EI(xi=0.01), "UCB": UCB()}


@dataclass(frozen=True, slots=True)
class Measured:
    """An entry and its reports, one for each pair of lie and acquisition ("CL-min, EI", ...)."""

    entry: Entry
    reports: dict[str, SDDReport]

    @property
    def passed(self) -> tuple[int, int]:
        """How many data sets respond and are diverse, of how many, over all lies and acquisitions."""
        reports = self.reports.values()
        return sum(r.verdicts[RESPONDS_DIVERSE] for r in reports), sum(len(r.measurements) for r in reports)

    @property
    def compatible(self) -> str:
        """The paper's column, from our data: Yes, Limited or No."""
        passed, of = self.passed
        return "Yes" if passed >= COMPATIBLE_FROM * of else "Limited" if passed > LIMITED_FROM * of else "No"

    def share(self, what: str) -> float:
        """The share of data sets that are diverse in a part, over all lies and acquisitions; or that "respond"."""
        ms = [m for report in self.reports.values() for m in report.measurements]
        if what == "respond":
            return sum(own_response(m) > RESPONDS_FROM for m in ms) / len(ms)
        return sum(is_diverse(getattr(m, what)) for m in ms) / len(ms)


@dataclass(frozen=True, slots=True)
class CompatibilityTable:
    """[paper] Table 1 with the paper's verdict beside ours."""

    rows: tuple[Measured, ...]

    def table(self) -> Table:
        """A row for each reading: the paper's verdict, ours, and the shares behind it."""
        columns = (
            *("surrogate", "as", "paper: compatible", "measured", "agrees", "responds and diverse", "95 % interval"),
            *("respond", "diverse, A", "diverse, B", "diverse, no derivatives", "diverse, no lie"),
        )
        sets = len(next(iter(self.rows[0].reports.values())).measurements)
        title = f"Compatibility with pseudo-observations: {sets} data sets, by two lies and two acquisitions"
        return Table(title, columns, tuple(map(_summary, self.rows)))

    def details(self) -> Table:
        """A row for each reading, lie and acquisition: the diagnostic's printed columns, controls and verdict."""
        keys = [
            key for key in next(iter(self.rows[0].reports.values())).summary() if key not in ("surrogate", "update")
        ]
        rows = [
            (one.entry.row, one.entry.reading, combination, *(report.summary()[key] for key in keys))
            for one in self.rows
            for combination, report in one.reports.items()
        ]
        return Table("By lie and acquisition", ("surrogate", "as", "lie, acquisition", *keys), tuple(rows))

    def __str__(self) -> str:
        return self.table().text()

    def figure(self) -> Figure:
        """How many data sets gave which verdict, a panel for each lie and acquisition."""
        from matplotlib.ticker import MaxNLocator

        combinations = list(self.rows[0].reports)
        figure = new_figure(12.0, 2.0 + 0.33 * len(self.rows))
        panels = figure.subplots(1, len(combinations), sharey=True, squeeze=False)[0]
        for axes, key in zip(panels, combinations, strict=True):
            for row, one in enumerate(self.rows):
                draw_verdicts(axes, row, one.reports[key])
            axes.set(title=key, xlabel="data sets", xlim=(0, len(self.rows[0].reports[key].measurements)))
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        labels = [f"{one.entry.row}: {one.entry.reading}\npaper: {one.entry.compatible}" for one in self.rows]
        panels[0].set_yticks(range(len(self.rows)), labels, fontsize=8)
        panels[0].invert_yaxis()
        entitle(figure, "", "the paper's Table 1, measured")
        legend_below(figure)
        return figure

    def to_json(self) -> str:
        """All measurements with the table made from them."""
        table = self.table()
        return json.dumps(
            {
                "table": [dict(zip(table.columns, row, strict=True)) for row in table.rows],
                "reports": [
                    {
                        "row": one.entry.row,
                        "as": one.entry.reading,
                        "lie and acquisition": key,
                        **json.loads(report.to_json()),
                    }
                    for one in self.rows
                    for key, report in one.reports.items()
                ],
            }
        )


def _summary(one: Measured) -> tuple[Any, ...]:
    passed, of = one.passed
    low, high = wilson_interval(passed, of)
    return (
        one.entry.row,
        one.entry.reading,
        one.entry.compatible,
        one.compatible,
        one.compatible == one.entry.compatible,
        f"{passed}/{of}",
        f"{low:.0%} to {high:.0%}",
        *(f"{one.share(what):.0%}" for what in ("respond", "fixed", "random", "free", "null")),
    )


def compatibility_table(
    seeds: int | Sequence[int] = LEAST_SEEDS,
    *,
    problem: Any = "hartmann6",
    n: int = 30,
    q: int = 3,
    incumbent: str = "data",
    entries: Sequence[Entry] | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    results: str | os.PathLike[str] | None = None,
    progress: bool | str = True,
) -> CompatibilityTable:
    """Measure every row of the paper's Table 1 with CL-min and KB under EI and UCB, and set the paper's verdict beside.

    seeds: initial data sets; at least 20 for a table worth printing. entries: other rows than :func:`table_1`.
    workers: processes, this one alone unless given (with two of them on two cores it takes some ten minutes); or any
    executor. results: a file of JSON lines, from which an interrupted run goes on.
    """
    chosen = table_1() if entries is None else tuple(entries)
    if not chosen:
        raise InvalidInput("entries must hold at least one row; got none.")
    combinations = {f"{lie}, {a}": (LIES[lie], ACQUISITIONS[a]) for lie in LIES for a in ACQUISITIONS}
    diagnoses = [
        diagnosis(entry.surrogate, problem, q, acquisition, lie, entry.update, None, n, incumbent)
        for entry in chosen
        for lie, acquisition in combinations.values()
    ]
    reports = iter(diagnose(diagnoses, seeds, workers=workers, executor=executor, results=results, progress=progress))
    return CompatibilityTable(tuple(Measured(entry, {key: next(reports) for key in combinations}) for entry in chosen))
