"""The report of a bench: a value, and its files (HTML, Markdown, CSV, figures)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from believer.experiments import Cell
from believer.report import Section, Table
from believer_bench import curves
from believer_bench.advice import Advice, advise, default_strategy, reference_of
from believer_bench.declared import FEASIBLE, HYPERVOLUME
from believer_bench.documented import Documented, written
from believer_bench.ranking import PairedTest, against
from believer_bench.runs import Case, Run, called, cases_of, read_runs, sequential_of
from believer_bench.summary import (
    CurveAxis,
    Line,
    batch_table,
    best_table,
    clocks_agree,
    curve,
    lines_of,
    regret_of,
    sequential_table,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True, eq=False)
class BenchReport(Documented):
    """The runs of a bench and the results that follow from them.

    Attributes
    ----------
    runs : one for each member, case and seed.
    reference : the member that others are compared with; None without runs.
    lines : one for each member on each case.
    comparisons : of the reference with every other member.
    advice : one for each batch size.
    notices : what is missing, failed or was left out.
    command : what made it, where that is known.
    """

    TITLE: ClassVar[str] = "Which strategy? A benchmark of batch optimizers"

    runs: tuple[Run, ...]
    reference: str | None
    lines: tuple[Line, ...]
    comparisons: tuple[PairedTest, ...]
    advice: tuple[Advice, ...]
    notices: tuple[str, ...]
    command: str = ""

    def data(self) -> dict[str, Table]:
        """The tables of ``bench.csv`` and ``curves.csv``."""
        return {"bench": self.table(), "curves": self.curves_table()}

    def table(self) -> Table:
        """One row a member, problem and batch size, with everything: what ``bench.csv`` holds."""
        columns = ["problem", "maximize", "q", "budget", "n_init", "optimum", *_FIELDS]
        rows = [
            [
                *(line.case.problem, line.case.maximize, line.case.q, line.case.budget),
                *(line.case.n_init, line.case.optimum),
                *(getattr(line, name) for name in _FIELDS),
            ]
            for line in self.lines
        ]
        return Table("Every member on every problem", columns, rows)

    def curves_table(self) -> Table:
        """Quartiles of the best value, and of the regret where it is known, after each evaluation and iteration."""
        columns = ["problem", "q", "budget", "n_init", "member", "axis", "x", "best", "best_low", "best_high"]
        rows = [row for line in self.lines for row in self._curve_rows(line)]
        return Table("Curves", [*columns, "regret", "regret_low", "regret_high"], rows)

    def _curve_rows(self, line: Line) -> list[list[Any]]:
        case = line.case
        runs = [run for run in self.of(case) if run.member == line.member]
        head = [case.problem, case.q, case.budget, case.n_init, line.member]
        rows = []
        for axis in _AXES:
            c = curve(runs, axis)
            for x, low, middle, high in zip(c.x, c.low, c.middle, c.high, strict=True):
                values = [case.sign * value for value in (middle, low, high)]
                values[1:] = sorted(values[1:])
                regret = [None] * 3 if case.optimum is None else [regret_of(case, v) for v in (middle, low, high)]
                rows.append([*head, axis, int(x), *values, *regret])
        return rows

    def drawings(self) -> dict[str, Callable[[], Figure]]:
        """The functions that draw the figures, by name."""
        found: dict[str, Callable[[], Figure]] = {}
        for advice in self.advice:
            if len(advice.placings) > 1:
                found[f"overview_q{advice.q}"] = partial(curves.draw_overview, advice, self.lines)
        for case in cases_of(self.runs):
            lines, runs = [line for line in self.lines if line.case == case], self.of(case)
            sequential_runs = (
                curves.sequential_runs_of(self.of(sequential_of(case)), self.reference) if case.q > 1 else []
            )
            found[f"curves_{case.slug}"] = partial(curves.draw_curves, lines, runs, sequential_runs, self.reference)
            found[f"ends_{case.slug}"] = partial(curves.draw_ends, lines, runs, self.reference)
        for sequential, cases in self._sizes().items():
            by_case = {case: [run for run in self.of(case) if run.member == self.reference] for case in cases}
            found[f"sizes_{sequential.slug}"] = partial(curves.draw_sizes, str(self.reference), by_case)
        return found

    def of(self, case: Case) -> list[Run]:
        """The runs of one case."""
        return [run for run in self.runs if run.case == case]

    def _sizes(self) -> dict[Case, list[Case]]:
        """Cases that differ in q alone and that the reference has run, where there are several."""
        found: dict[Case, list[Case]] = {}
        for case in cases_of(run for run in self.runs if run.member == self.reference):
            found.setdefault(sequential_of(case), []).append(case)
        return {key: cases for key, cases in found.items() if len(cases) > 1}

    def sections(self) -> list[Section]:
        """The report in its order: advice, cases, tests, batches beside one at a time, notices."""
        if not self.runs:
            return [Section("Nothing to report", text=["No finished runs.", *self.notices])]
        found = [self._advice_section(), *(self._case_section(case) for case in cases_of(self.runs))]
        if self.comparisons:
            found.append(Section(f"Is {self.reference} better?", text=[self._how_tested()], tables=[self._tests()]))
        sequential = sequential_table(self.runs)
        sizes = {
            f"sizes_{key.slug}": f"{self.reference} on {key.problem} with batches of several sizes"
            for key in self._sizes()
        }
        if sequential is not None or sizes:
            found.append(
                Section(
                    "Batches and one point at a time",
                    [],
                    [_SEQUENTIAL],
                    [] if sequential is None else [sequential],
                    sizes,
                )
            )
        found.append(
            Section("What is missing or failed", text=self.notices or ["Nothing: every member ran every seed."])
        )
        return found

    def _advice_section(self) -> Section:
        several = [advice for advice in self.advice if len(advice.placings) > 1]
        text = []
        if several:
            text.append(
                "Members are ranked within each problem and seed, 1 is best. A difference is shown if a two-sided "
                "Wilcoxon signed-rank test over the paired runs, on ranks within each problem, stays below 0.05 after "
                "Holm's correction for all pairs of members: "
                + ", ".join(f"{advice.comparisons} at q={advice.q}" for advice in several)
                + '. "No difference shown" does not mean that there is none.'
            )
        for advice in self.advice:
            if advice.single:
                text.append(
                    f"Single problems are tested apart, corrected over {advice.single} comparisons of their own at "
                    f"q={advice.q}."
                )
            text += advice.left_out
        return Section(
            "Use this",
            [advice.sentence for advice in self.advice],
            text,
            [advice.table() for advice in several],
            {f"overview_q{advice.q}": f"All members at q={advice.q}: rank, time and spread" for advice in several},
        )

    def _case_section(self, case: Case) -> Section:
        lines = [line for line in self.lines if line.case == case]
        clock = "Times are of ask and tell, medians over batches and seeds."
        if not clocks_agree(lines):
            clock += " Processor and wall time disagree, as on a shared machine or with threads: go by the processor's."
        best = "whole front's is" if case.measure == HYPERVOLUME else "optimum is"
        optimum = "" if case.optimum is None else f" The {best} {case.optimum:.6g}."
        left = "" if case.optimum is None else " Regret left is the share of the initial design's regret at the end."
        where = f"on {case.problem}, q={case.q}"
        figures = {
            f"curves_{case.slug}": f"Best {case.measure} {where}, at equal evaluations and iterations",
            f"ends_{case.slug}": f"Where every run {where}, ended",
        }
        goal = "maximized" if case.maximize else "minimized"
        text = [f"{_MEASURES.get(case.measure, 'Values are {}.').format(goal)}{optimum}{left} {clock}"]
        return Section(case.label, [], text, [best_table(lines), batch_table(lines)], figures)

    def _how_tested(self) -> str:
        return (
            f"Two-sided Wilcoxon signed-rank test over the seeds that both have run, corrected by Holm's method over "
            f"all {len(self.comparisons)} comparisons of this table. Shift: Hodges-Lehmann estimate of "
            f"{self.reference} minus the other, in the units of the problem. A12: how often a run of {self.reference} "
            "beats one of the other, over all pairs of runs; 1/2 is no effect."
        )

    def _tests(self) -> Table:
        columns = ["problem", "q", "other", "pairs", "won / tied / lost", "shift", "A12", "p", "p (Holm)", "verdict"]
        rows = [
            [
                *(
                    "" if c.case is None else called(c.case, cases_of(self.runs)),
                    0 if c.case is None else c.case.q,
                    c.theirs,
                    c.pairs,
                ),
                f"{c.won} / {c.tied} / {c.pairs - c.won - c.tied}",
                None if c.shift is None or c.case is None else c.case.sign * c.shift,
                *(c.effect, c.p, c.holm, c.verdict),
            ]
            for c in self.comparisons
        ]
        tones = [[*[""] * (len(columns) - 1), _tone(c.better, self.reference)] for c in self.comparisons]
        return Table(f"{self.reference} against each other member, paired by seed", columns, rows, tones)


def _tone(better: str | None, reference: str | None) -> str:
    """The tone of a verdict on the reference and another member."""
    return "open" if better is None else "good" if better == reference else "bad"


_FIELDS = tuple(name for name in Line.__slots__ if name != "case")
_MEASURES = {
    FEASIBLE: "Values within all limits are {}; before it has any, a run counts as the worst that any run had.",
    HYPERVOLUME: "Values are hypervolumes of the results within all limits, from one reference point, and {}.",
}
_AXES: tuple[CurveAxis, CurveAxis] = ("evaluations", "iterations")
_SEQUENTIAL = (
    "At equal evaluations, one point at a time has the advantage: it knows every value before it chooses the next "
    "point. At equal iterations, which is equal waiting where evaluations run in parallel, a batch has q times as many."
)


def bench_report(finished: Iterable[tuple[Cell, Mapping[str, Any]]], command: str = "") -> BenchReport:
    """The report on finished cells of the bench; its reference is the library's default strategy if that was run."""
    runs, notices = read_runs(finished)
    reference = reference_of(runs, default_strategy())
    lines = lines_of(runs)
    clock = "" if clocks_agree(lines) else " CPU"
    comparisons = () if reference is None else against(runs, reference)
    advice = advise(runs, reference or "", clock)
    return BenchReport(runs, reference, lines, comparisons, advice, notices, command)


def write_report(finished: Iterable[tuple[Cell, Mapping[str, Any]]], out: Path | None, command: str) -> str:
    """The report as text for a terminal; with ``out``, a folder, also its files."""
    return written(bench_report(finished, command), out)
