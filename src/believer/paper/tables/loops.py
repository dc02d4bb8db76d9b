"""The paper's tables of whole loops, 4, 5, 6 and 10, and what only its text prints of Exp 4, 6, 11 and 12."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from believer.experiments import hodges_lehmann, holm, vargha_delaney, wilcoxon
from believer.paper.cells.loops import NOISE_SHARE
from believer.paper.numbers.printed import (
    NOISY_WILCOXON,
    Q10_DIVERSITY,
    Q10_FINAL,
    Q10_SEQUENTIAL_AT_15,
    SVM,
    TABLE_4,
    TABLE_5,
    TABLE_6,
    TABLE_10,
    WILCOXON,
    Printed,
)
from believer.paper.plan import EXPERIMENTS, Scale
from believer.paper.results import PRESETS, Loop, Results, paired
from believer.paper.tables.layout import PaperTable, Quantity, Row, Words, laid_out

Loops = Mapping[str, Sequence[Loop]]
"""Loops of one configuration by preset, in the order of the seeds."""

NAMES = {
    **{"cl_min": "CL-Min", "kb": "Kriging Believer", "lp": "Local Penalization", "random": "Random Batch"},
    **{"sequential": "Sequential", "qei": "q-EI"},
}
PROBLEMS = {"hartmann6": "Hartmann-6D", "ackley8": "Ackley-8D", "levy10": "Levy-10D"}
_TIMED = 5
"""Seeds of Table 10."""

_ITERATIONS = 15
"""After which the text of Exp 12 compares at equal iterations."""

_SIGNIFICANT = 0.05
_SEEDS = "Final best: the best value told, mean ± standard deviation over seeds."
_DIVERSITY = (
    "Diversity: mean distance of the pairs of a batch, in the unit cube. The paper does not say what its spread is of: "
    '"over seeds" is of the means of loops, "over batches" of all batches of all loops, which are not independent.'
)


def loops(results: Results, experiment: str, problem: str, strategy: str, q: int, noise: float = 0.0) -> Loops:
    """The loops of a configuration as ``experiment`` has them; where there are several budgets, of the largest."""
    found = {}
    for preset in PRESETS:
        options = _options(experiment, preset)
        found[preset] = _longest(results.loops(preset, problem, strategy, q, noise=noise, options=options))
    return found


@cache
def _options(experiment: str, preset: str) -> Any:
    """The options that the loops of an experiment are planned with: as printed, Exp 10 and 12 have some."""
    planned = EXPERIMENTS[experiment].cells(preset, Scale(seeds=1))
    return next(cell.settings["options"] for cell in planned if cell.experiment == "loop")


def _longest(group: Sequence[Loop]) -> list[Loop]:
    longest = max((len(loop.values) for loop in group), default=0)
    return [loop for loop in group if len(loop.values) == longest]


def _values(found: Loops, of: Callable[[Loop], float]) -> dict[str, list[float]]:
    return {preset: [of(loop) for loop in group] for preset, group in found.items()}


def _final(found: Loops, paper: Printed | None, name: str = "final best", decimals: int = 2) -> Quantity:
    return Quantity(name, paper, _values(found, lambda loop: loop.final), decimals)


def _diversity(found: Loops, paper: Printed | None) -> tuple[Quantity, Quantity]:
    """The same mean with both spreads; batches of one have no distance."""
    batches = {
        preset: [float(gap) for loop in group for gap in loop.mean_distance if not np.isnan(gap)]
        for preset, group in found.items()
    }
    seeds = _values(found, lambda loop: float(np.nanmean(loop.mean_distance)))
    return (
        Quantity("diversity, over seeds", paper, seeds, 2),
        Quantity("diversity, over batches", paper, batches, 2, independent=False),
    )


def table_4(results: Results) -> PaperTable | None:
    """CL-min and KB beside Local Penalization."""
    rows = []
    for strategy, q in dict.fromkeys((strategy, q) for strategy, q, _ in TABLE_4):
        items = tuple(
            _final(loops(results, "exp9", problem, strategy, q), TABLE_4[strategy, q, problem], PROBLEMS[problem])
            for problem in ("hartmann6", "ackley8")
        )
        rows.append(Row((NAMES[strategy], q), items))
    title = "CL/KB vs. Local Penalization: final best (mean ± std, 20 seeds)"
    return laid_out(4, title, ("strategy", "q"), rows, (_SEEDS,), ("exp9",))


def table_5(results: Results) -> PaperTable | None:
    """CL-min and KB beside joint q-EI."""
    rows = []
    for strategy, paper in TABLE_5.items():
        found = loops(results, "exp10", "hartmann6", strategy, 3)
        assert paper.seconds is not None
        seconds = Quantity(
            "time/batch (s)", Printed(paper.seconds), _values(found, lambda loop: float(loop.seconds.mean())), None
        )
        rows.append(Row((NAMES[strategy],), (_final(found, paper.final), *_diversity(found, paper.diversity), seconds)))
    notes = (
        _SEEDS,
        _DIVERSITY,
        "Time/batch: wall clock of ask and tell, with the fit; its spread is over seeds. The preset ours has a q-EI of "
        "its own, the printed one BoTorch's.",
    )
    title = "CL/KB vs. q-EI (BoTorch) on Hartmann-6D (q=3, 20 seeds)"
    return laid_out(5, title, ("strategy",), rows, notes, ("exp10",))


def table_6(results: Results) -> PaperTable | None:
    """Noisy Hartmann-6D; the final best as told, and without its noise."""
    rows = []
    for strategy, paper in TABLE_6.items():
        found = loops(results, "exp11", "hartmann6", strategy, 3, NOISE_SHARE)
        true = Quantity("true value of it", paper.final, _values(found, lambda loop: loop.true_final), 2)
        rows.append(Row((NAMES[strategy],), (_final(found, paper.final), true, *_diversity(found, paper.diversity))))
    notes = (
        "The paper does not say whether its final best is the value told or the true one: both are compared. The true "
        "value is that of the point that looked best.",
        _DIVERSITY,
    )
    title = "Noisy Hartmann-6D (σ_noise = 0.1 std(y), q=3, 20 seeds)"
    return laid_out(6, title, ("strategy",), rows, notes, ("exp11",))


def table_10(results: Results) -> PaperTable | None:
    """Seconds of whole loops, those within scikit-learn and BoTorch apart."""
    rows = []
    for strategy, paper in TABLE_10.items():
        found = {
            preset: [loop for loop in group if loop.seed < _TIMED]
            for preset, group in loops(results, "exp10", "hartmann6", strategy, 3).items()
        }
        items = (
            Quantity("total loop time (s)", paper, _values(found, lambda loop: float(loop.seconds.sum())), 2),
            Quantity("CPU (s)", None, _values(found, lambda loop: float(loop.cpu.sum())), 2),
            Quantity("CPU within others (s)", None, _values(found, lambda loop: loop.foreign), 2),
        )
        rows.append(Row((NAMES[strategy],), items))
    notes = (
        f"Wall clock of ask and tell over the whole loop, of the seeds 0 to {_TIMED - 1}; the paper's is of another "
        "machine. CPU within others: the part of the CPU seconds spent within scikit-learn or BoTorch.",
    )
    title = "End-to-end BO loop wall-clock (Hartmann-6D, q=3, budget 50, 5 seeds)"
    return laid_out(10, title, ("strategy",), rows, notes, ("exp10",))


def exp4_text(results: Results) -> PaperTable | None:
    """Wilcoxon's tests of Exp 4: printed for Hartmann-6D, "similar patterns" for the other problems."""
    cases = [
        _Case("exp4", problem, 0.0, pair, printed, printed if problem == "hartmann6" else None)
        for problem in PROBLEMS
        for pair, printed in WILCOXON.items()
    ]
    note = 'For Ackley-8D and Levy-10D the paper prints no p values, but "similar patterns": the same answers.'
    return _tested(results, 104, "Wilcoxon signed-rank tests on the final best (q=3)", cases, (note,))


def exp11_text(results: Results) -> PaperTable | None:
    """Wilcoxon's tests of Exp 11."""
    cases = [
        _Case("exp11", "hartmann6", NOISE_SHARE, pair, NOISY_WILCOXON, NOISY_WILCOXON)
        for pair in (("cl_min", "random"), ("kb", "random"))
    ]
    title = "Wilcoxon signed-rank tests on the final best under noise (q=3)"
    return _tested(results, 111, title, cases, ())


@dataclass(frozen=True, slots=True)
class _Case:
    """Two strategies on a problem, and what the paper says of them; ``p`` only where it prints the number."""

    experiment: str
    problem: str
    noise: float
    pair: tuple[str, str]
    says: Printed
    p: Printed | None

    @property
    def labels(self) -> tuple[str, str, str | None]:
        """Problem, pair, and the paper's p."""
        first, second = self.pair
        printed = None if self.p is None else f"{'< ' if self.p.bound else ''}{self.p.mean:g}"
        problem = PROBLEMS[self.problem] + (", noisy" if self.noise else "")
        return problem, f"{NAMES[first]} vs. {NAMES[second]}", printed


def _tested(
    results: Results, number: int, title: str, cases: Sequence[_Case], notes: tuple[str, ...]
) -> PaperTable | None:
    """A row for each case, at q = 3; Holm's correction is over the cases of a preset."""
    pairs = [_differences(results, case) for case in cases]
    corrected: dict[str, list[float]] = {}
    for preset in PRESETS:
        if all(preset in pair for pair in pairs):
            corrected[preset] = holm([wilcoxon(np.subtract(*pair[preset])) for pair in pairs])
    rows = []
    for i, (case, pair) in enumerate(zip(cases, pairs, strict=True)):
        p = {preset: [wilcoxon(np.subtract(*pair[preset]))] for preset in corrected}
        differ = {preset: (_shown(corrected[preset][i]), _effect(corrected[preset][i], *pair[preset])) for preset in p}
        items = (Quantity("p", None, p, None, independent=False), Words("differ?", _shown(case.says.mean), differ))
        rows.append(Row(case.labels, items))
    rule = (
        f"Two-sided, paired by seed. Differ: p after Holm's correction over the {len(cases)} tests of a preset is less "
        f"than {_SIGNIFICANT}; the paper's answer is by its own p. Shift: Hodges-Lehmann, first less second. A12: how "
        "often the first ends above the second; below 1/2 the first is better."
    )
    return laid_out(number, title, ("problem", "pair", "paper's p"), rows, (*notes, rule), (cases[0].experiment,))


def _differences(results: Results, case: _Case) -> dict[str, tuple[list[float], list[float]]]:
    """Final values of both strategies by preset, over the seeds that both have."""
    first, second = (loops(results, case.experiment, case.problem, name, 3, case.noise) for name in case.pair)
    found = {}
    for preset in PRESETS:
        a, b = paired(first[preset], second[preset])
        if a:
            found[preset] = ([loop.final for loop in a], [loop.final for loop in b])
    return found


def _shown(p: float) -> str:
    return "yes" if p < _SIGNIFICANT else "no"


def _effect(p: float, a: Sequence[float], b: Sequence[float]) -> str:
    shift, effect = hodges_lehmann(np.subtract(a, b)), vargha_delaney(a, b)
    return f"p (Holm) {p:.3g}, {len(a)} pairs, shift {shift:.3g}, A12 {effect:.2f}"


def exp6_text(results: Results) -> PaperTable | None:
    """Final errors of SVM tuning."""
    rows = [
        Row(
            (NAMES[strategy],),
            (_final(loops(results, "exp6", "svm_breast_cancer", strategy, q), paper, "final error", 4),),
        )
        for strategy, paper in SVM.items()
        for q in (1 if strategy == "sequential" else 2,)
    ]
    title = "SVM tuning on Breast Cancer: final error (q=2, budget 30, 10 seeds)"
    return laid_out(106, title, ("strategy",), rows, (_SEEDS,), ("exp6",))


def exp12_text(results: Results) -> PaperTable | None:
    """Final values on Levy-10D with batches of ten, their diversity, and sequential at equal iterations."""
    rows = []
    for strategy, paper in Q10_FINAL.items():
        found = loops(results, "exp12", "levy10", strategy, 1 if strategy == "sequential" else 10)
        apart = {
            preset: [float(np.nanmean(loop.mean_distance_raw)) for loop in group if max(loop.batches) > 1]
            for preset, group in found.items()
        }
        rows.append(Row((NAMES[strategy],), (_final(found, paper, decimals=1), Quantity("diversity", None, apart, 1))))
    at_15 = {
        preset: [float(loop.after_batches()[: _ITERATIONS + 1][-1]) for loop in group]
        for preset, group in loops(results, "exp12", "levy10", "sequential", 1).items()
    }
    early = Quantity("final best", Printed(Q10_SEQUENTIAL_AT_15), at_15, 1)
    rows.append(Row((f"Sequential, after {_ITERATIONS} iterations",), (early, Quantity("diversity", None, {}))))
    low, high = Q10_DIVERSITY
    notes = (
        _SEEDS,
        f"Diversity: mean distance of the pairs of a batch in the units of the box, mean over batches; the paper says "
        f"{low:g} to {high:g} for the batches of its strategies.",
    )
    title = "Large batches on Levy-10D: final best (q=10, 150 evaluations after the design, 20 seeds)"
    return laid_out(112, title, ("strategy",), rows, notes, ("exp12",))
