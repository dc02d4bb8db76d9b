"""The report of a suite: members by class of problems, profiles, and its files (HTML, Markdown, CSV, figures)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from believer.experiments import Cell
from believer.report import Section, Table
from believer_bench import profile_figures, suite_tables
from believer_bench.classes import EVERY, ClassLine, class_lines
from believer_bench.documented import Documented, written
from believer_bench.runs import Run, members_of, sound_runs
from believer_bench.scores import RaceGroup, grouped

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True, eq=False)
class SuiteReport(Documented):
    """The runs of a suite and the results that follow from them.

    Attributes
    ----------
    runs : one for each member, problem, size of batches, mode and seed.
    reference : the member that others are compared with, the first; None without runs.
    lines : of every member on every class, and on all.
    notices : what is missing or was left out.
    command : what made it, where that is known.
    """

    TITLE: ClassVar[str] = "Batch optimizers by class of problems"

    runs: tuple[Run, ...]
    reference: str | None
    lines: tuple[ClassLine, ...]
    notices: tuple[str, ...]
    command: str = ""

    def data(self) -> dict[str, Table]:
        """The tables of ``bench.csv`` and ``runs.csv``."""
        return {"bench": self.table(), "runs": self.runs_table()}

    def table(self) -> Table:
        """Every member on every class, with everything: what ``bench.csv`` holds."""
        return suite_tables.lines_table(self.lines)

    def runs_table(self) -> Table:
        """Every run: what ``runs.csv`` holds."""
        return suite_tables.runs_table(self.runs)

    def drawings(self) -> dict[str, Callable[[], Figure]]:
        """The functions that draw the figures, by name."""
        found: dict[str, Callable[[], Figure]] = {}
        for group, runs in grouped(self.runs).items():
            found[f"profiles_data_{group.slug}"] = partial(profile_figures.draw_data, group, runs)
            if len(members_of(runs)) > 1:
                found[f"profiles_ratio_{group.slug}"] = partial(profile_figures.draw_performance, group, runs)
        return found

    def sections(self) -> list[Section]:
        """The report in its order: what was found, every group, how it was measured, what is missing."""
        if not self.runs or self.reference is None:
            return [Section("Nothing to report", text=["No finished runs.", *self.notices])]
        groups = grouped(self.runs)
        on_all = {group: self._on_all(group) for group in groups}
        said = [_sentence(group, lines, self.reference) for group, lines in on_all.items()]
        calls = said if len(said) == 1 else [_headline(on_all, self.reference)]
        several = len(members_of(self.runs)) > 1
        read = _READ + (_BESIDE.format(reference=self.reference) if several else "")
        text = [*(said if len(said) > 1 else []), read]
        overall = suite_tables.overall_table([line for lines in on_all.values() for line in lines])
        found = [Section("What was found", calls, text, [overall, suite_tables.effort_table(groups)])]
        found += [self._group_section(group, runs) for group, runs in groups.items()]
        found.append(Section("How it was measured", text=_HOW))
        found.append(Section("What is missing", text=self.notices or ["Nothing: every member ran everything."]))
        return found

    def _on_all(self, group: RaceGroup) -> list[ClassLine]:
        return [line for line in self.lines if line.group == group and line.kind == EVERY]

    def _group_section(self, group: RaceGroup, runs: Sequence[Run]) -> Section:
        lines = [line for line in self.lines if line.group == group]
        shown = {f"profiles_data_{group.slug}": f"{group.label}: share of runs within a target, by evaluations"}
        if len(members_of(runs)) > 1:
            shown[f"profiles_ratio_{group.slug}"] = (
                f"{group.label}: evaluations to a target beside the fastest member's"
            )
        noisy, tests = suite_tables.noisy_table(runs), suite_tables.differences_table(lines)
        return Section(
            f"By class: {group.label}",
            tables=[suite_tables.class_table(lines), *([] if noisy is None else [noisy])],
            figures=shown,
            folded=[*([] if tests is None else [tests]), suite_tables.problems_table(runs)],
        )


def suite_report(finished: Iterable[tuple[Cell, Mapping[str, Any]]], command: str = "") -> SuiteReport:
    """The report on finished cells of a suite; its reference is the first member."""
    runs, notices = sound_runs(finished)
    reference = next(iter(members_of(runs)), None)
    lines = () if reference is None else class_lines(runs, reference)
    return SuiteReport(runs, reference, lines, (*notices, *_missing(runs)), command)


def write_suite_report(finished: Iterable[tuple[Cell, Mapping[str, Any]]], out: Path | None, command: str) -> str:
    """The report as text for a terminal; with ``out``, a folder, also its files."""
    return written(suite_report(finished, command), out)


def _missing(runs: Sequence[Run]) -> list[str]:
    """A sentence for each member and group that lacks runs which others have."""
    notices = []
    for group, own in grouped(runs).items():
        blocks = {(run.case.problem, run.seed) for run in own}
        for member in members_of(own):
            lacking = blocks - {(run.case.problem, run.seed) for run in own if run.member == member}
            if lacking:
                where = ", ".join(sorted({problem for problem, _ in lacking}))
                notices.append(
                    f"{member}, {group.label}: {len(lacking)} of {len(blocks)} runs are missing, on {where}."
                )
    return notices


def _headline(on_all: Mapping[RaceGroup, Sequence[ClassLine]], reference: str) -> str:
    """The result over all groups."""
    lines = [line for found in on_all.values() for line in found]
    own = [line for line in lines if line.member == reference]
    said = []
    for member in dict.fromkeys(line.member for line in lines if line.difference is not None):
        verdicts = [line.verdict for line in lines if line.member == member]
        shown = [f"{word} in {count}" for word in ("better", "worse") if (count := verdicts.count(word))]
        said.append(f"{member} is shown {' and '.join(shown)}" if shown else f"{member} is not shown to differ")
    if not said:
        least, most = (f"{100.0 * 10.0 ** f(line.mean for line in own):.2g}" for f in (min, max))
        return f"{reference} ends at {least} to {most} % of a random point's regret, by size and mode of batches."
    return f"Beside {reference}, of {len(on_all)} sizes and modes of batches: {'; '.join(said)}."


def _sentence(group: RaceGroup, lines: Sequence[ClassLine], reference: str) -> str:
    """The result of a group, the reference first."""
    own = next((line for line in lines if line.member == reference), None)
    if own is None:
        return f"{group.label}: no problem was run by every member; see the classes."
    left, low, high = (f"{100.0 * 10.0**value:.2g}" for value in (own.mean, own.low, own.high))
    said = [f"{group.label}: {reference} ends at {left} % of a random point's regret ({low} to {high} %)"]
    for line in lines:
        if line.difference is not None and line.holm is not None:
            times = f"{factor:.2f}" if (factor := 10.0**line.difference) < 10.0 else f"{factor:.0f}"
            shown = f"shown {line.verdict}, p = {line.holm:.2g}" if line.verdict else "no difference shown"
            said.append(f"{line.member} leaves {times} times as much ({shown})")
    return f"{'; '.join(said)}. Geometric means over {own.problems} problems, {own.runs} runs."


_READ = (
    "Regret is what the best evaluated point lacks to the optimum, over the problem's scale (the median of what random "
    "points lack), as log10: 0 is a random point, -2 a hundredth of its regret, -6 and below count as solved."
)
_BESIDE = " Differences are to {reference}, on the same problems and seeds; less is better."
_HOW = [
    "Every member starts from the same Latin hypercube and is given the same budget; the tables by problem say how "
    "many points these are. All runs of all problems count alike.",
    "Of noisy problems, members see noisy values, the same noise for everyone; regret is that of the least true value "
    "among the points evaluated so far, whether the member knows it or not. What a member itself recommends in the end "
    "is told apart, where it can say.",
    "Asynchronous: q workers on a simulated clock, evaluation times log-uniform over a tenfold range and the same for "
    "every member; a free worker asks for one point while the others are at work. Evaluations count in the order of "
    "their results.",
    "Tests are two-sided Wilcoxon signed-rank tests of the paired differences of log10 regrets, corrected by Holm's "
    "method: those of classes over the classes and members of one batch size and mode, those of all problems over "
    'members, batch sizes and modes. "Better" and "worse" stand where that is shown (p below 0.05). Intervals are 95 % '
    "percentile bootstraps of the mean over problems and seeds: they speak of these problems.",
    "Near pairs are the share of a batch's pairs (asynchronous: of a point with pending ones) that are nearer than "
    "1e-3 in the unit cube; by our verdict on a batch, also those nearer than a tenth of a lengthscale. CPU seconds "
    "are of all asks and tells of a run.",
    "A profile shows the share of runs whose regret has come below a target, a share of the scale: at equal "
    "evaluations, and against the evaluations of the fastest member on the same problem and seed. A finite problem too "
    "small for a batch of some size after its initial points is left out there.",
]
