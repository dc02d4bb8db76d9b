"""Results that are in the paper's text alone: the tests of Exp 4 and 11, the final values of Exp 6 and 12."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from believer.experiments import hodges_lehmann, holm, vargha_delaney, wilcoxon
from believer_paper.cells.loops import NOISE_SHARE
from believer_paper.numbers.printed import (
    BUDGETS,
    NOISY_WILCOXON,
    Q10_DIVERSITY,
    Q10_FINAL,
    Q10_SEQUENTIAL_AT_15,
    SEEDS,
    SVM,
    WILCOXON,
    Printed,
)
from believer_paper.plan import EXPERIMENTS
from believer_paper.results import PRESETS, Loop, Results, paired
from believer_paper.sizes import Scale
from believer_paper.tables.layout import LayoutRow, PaperTable, Quantity, Words, laid_out
from believer_paper.tables.loops import FINAL_BEST, NAMES, PROBLEMS, final, loops

_SIGNIFICANT = 0.05


def exp4_text(results: Results) -> PaperTable | None:
    """The Wilcoxon tests of Exp 4: printed for Hartmann-6D, "similar patterns" for the other problems."""
    cases = [
        _Case("exp4", problem, 0.0, pair, printed, printed if problem == "hartmann6" else None)
        for problem in PROBLEMS
        for pair, printed in WILCOXON.items()
    ]
    note = 'For Ackley-8D and Levy-10D the paper has no p values, but "similar patterns", read as the same answers.'
    return _tested(results, 104, "Wilcoxon signed-rank tests on the final best (q=3)", cases, (note,))


def exp11_text(results: Results) -> PaperTable | None:
    """The Wilcoxon tests of Exp 11, on the observed value and on the true value of the same point."""
    cases = [
        _Case("exp11", "hartmann6", NOISE_SHARE, pair, NOISY_WILCOXON, NOISY_WILCOXON, true)
        for true in (False, True)
        for pair in (("cl_min", "random"), ("kb", "random"))
    ]
    note = (
        "The paper does not say whether its final best is the observed value or the true one, so both are tested. The "
        "true value is that at the point with the best observed value."
    )
    title = "Wilcoxon signed-rank tests on the final best under noise (q=3)"
    return _tested(results, 111, title, cases, (note,))


@dataclass(frozen=True, slots=True)
class _Case:
    """Two strategies on a problem, and the paper's answer; ``p`` is None unless the paper prints it.

    true: whether the true value of the incumbent is tested in place of the observed one.
    """

    experiment: str
    problem: str
    noise: float
    pair: tuple[str, str]
    says: Printed
    p: Printed | None
    true: bool = False

    @property
    def labels(self) -> tuple[str, str, str | None]:
        """The problem, the pair, and the paper's p."""
        first, second = self.pair
        printed = None if self.p is None else f"{'< ' if self.p.bound else ''}{self.p.mean:g}"
        value = ", true value" if self.true else ", observed value"
        problem = PROBLEMS[self.problem] + (value if self.noise else "")
        return problem, f"{NAMES[first]} vs. {NAMES[second]}", printed

    def value(self, loop: Loop) -> float:
        """The value of a loop that enters the test."""
        return loop.true_final if self.true else loop.final


def _tested(
    results: Results, number: int, title: str, cases: Sequence[_Case], notes: tuple[str, ...]
) -> PaperTable | None:
    """A table with a row for each case, at q = 3; Holm's correction is over the cases of a preset."""
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
        rows.append(LayoutRow(case.labels, items))
    rule = (
        f"Two-sided, paired by seed. Differ: p after Holm's correction over the {len(cases)} tests of a preset is less "
        f"than {_SIGNIFICANT}; the paper's answer follows from its own p. Shift: Hodges-Lehmann, first minus second. "
        "A12: the share of pairs in which the first ends above the second; below 1/2, the first is better."
    )
    return laid_out(number, title, ("problem", "pair", "paper's p"), rows, (*notes, rule), (cases[0].experiment,))


def _differences(results: Results, case: _Case) -> dict[str, tuple[list[float], list[float]]]:
    """The final values of both strategies by preset, on the seeds that both have."""
    first, second = (loops(results, case.experiment, case.problem, name, 3, case.noise) for name in case.pair)
    found = {}
    for preset in PRESETS:
        a, b = paired(first[preset], second[preset])
        if a:
            found[preset] = (list(map(case.value, a)), list(map(case.value, b)))
    return found


def _shown(p: float) -> str:
    return "yes" if p < _SIGNIFICANT else "no"


def _effect(p: float, a: Sequence[float], b: Sequence[float]) -> str:
    shift, effect = hodges_lehmann(np.subtract(a, b)), vargha_delaney(a, b)
    return f"p (Holm) {p:.3g}, {len(a)} pairs, shift {shift:.3g}, A12 {effect:.2f}"


def exp6_text(results: Results) -> PaperTable | None:
    """The final errors of SVM tuning (Exp 6)."""
    rows = [
        LayoutRow(
            (NAMES[strategy],),
            (final(loops(results, "exp6", "svm_breast_cancer", strategy, q), paper, "final error", 4),),
        )
        for strategy, paper in SVM.items()
        for q in (1 if strategy == "sequential" else 2,)
    ]
    title = f"SVM tuning on Breast Cancer: final error (q=2, budget {BUDGETS['exp6']}, {SEEDS['exp6']} seeds)"
    return laid_out(106, title, ("strategy",), rows, (FINAL_BEST,), ("exp6",))


def exp12_text(results: Results) -> PaperTable | None:
    """Final values and diversity on Levy-10D with batches of ten, and sequential runs after as many iterations."""
    size = max(cell.settings["q"] for cell in EXPERIMENTS["exp12"].cells("ours", Scale(seeds=1)))
    iterations = BUDGETS["exp12"] // size
    rows = []
    for strategy, paper in Q10_FINAL.items():
        found = loops(results, "exp12", "levy10", strategy, 1 if strategy == "sequential" else size)
        apart = {
            preset: [float(np.nanmean(loop.mean_distance_raw)) for loop in group if max(loop.batches) > 1]
            for preset, group in found.items()
        }
        rows.append(
            LayoutRow((NAMES[strategy],), (final(found, paper, decimals=1), Quantity("diversity", None, apart, 1)))
        )
    at_15 = {
        preset: [float(loop.after_batches()[: iterations + 1][-1]) for loop in group]
        for preset, group in loops(results, "exp12", "levy10", "sequential", 1).items()
    }
    early = Quantity("final best", Printed(Q10_SEQUENTIAL_AT_15), at_15, 1)
    rows.append(LayoutRow((f"Sequential, after {iterations} iterations",), (early, Quantity("diversity", None, {}))))
    low, high = Q10_DIVERSITY
    notes = (
        FINAL_BEST,
        f"Diversity: mean distance of the pairs of a batch in the units of the box, mean over batches; the paper says "
        f"{low:g} to {high:g} for the batches of its strategies.",
    )
    sizes = f"q={size}, {BUDGETS['exp12']} evaluations after the design, {SEEDS['exp12']} seeds"
    title = f"Large batches on Levy-10D: final best ({sizes})"
    return laid_out(112, title, ("strategy",), rows, notes, ("exp12",))
