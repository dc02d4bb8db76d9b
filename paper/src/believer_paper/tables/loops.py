"""The paper's tables of whole loops: 4, 5, 6 and 10."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from believer_paper.cells.loops import NOISE_SHARE
from believer_paper.numbers.printed import (
    BUDGETS,
    SEEDS,
    TABLE_4,
    TABLE_5,
    TABLE_6,
    TABLE_10,
    Printed,
)
from believer_paper.numbers.stated import BATCH_SIZES, LOOP_TIMING_SEEDS, NOISE_STD
from believer_paper.plan import EXPERIMENTS
from believer_paper.results import PRESETS, Loop, Results
from believer_paper.sizes import Scale
from believer_paper.tables.layout import LayoutRow, PaperTable, Quantity, laid_out

LoopTable = Mapping[str, Sequence[Loop]]
"""The loops of one configuration by preset, in the order of seeds."""

NAMES = {
    **{"cl_min": "CL-Min", "kb": "Kriging Believer", "lp": "Local Penalization", "random": "Random Batch"},
    **{"sequential": "Sequential", "qei": "q-EI", "lp_lipschitz": "Local Penalization, Lipschitz (ours only)"},
}
PROBLEMS = {"hartmann6": "Hartmann-6D", "ackley8": "Ackley-8D", "levy10": "Levy-10D"}
FINAL_BEST = "Final best: the best observed value, mean ± standard deviation over seeds."
_CLOCKS = (
    "CPU seconds, which do not depend on what else ran, are compared with the paper's wall-clock seconds of another "
    "machine; several workers shared ours, which lengthens our wall-clock seconds."
)
_DIVERSITY = (
    "Diversity: mean distance of the pairs of a batch, in the unit cube. The paper does not say what its spread refers "
    'to: "over seeds" refers to the means of loops, "over batches" to all batches of all loops, which are not '
    "independent."
)


def loops(results: Results, experiment: str, problem: str, strategy: str, q: int, noise: float = 0.0) -> LoopTable:
    """The loops of a configuration with the options of ``experiment``; if there are several budgets, the largest."""
    found = {}
    for preset in PRESETS:
        options = _options(experiment, preset)
        found[preset] = _longest(results.loops(preset, problem, strategy, q, noise=noise, options=options))
    return found


@cache
def _options(experiment: str, preset: str) -> Any:
    """The options of the loops of an experiment: under the preset printed, Exp 10 and 12 have some."""
    planned = EXPERIMENTS[experiment].cells(preset, Scale(seeds=1))
    return next(cell.settings["options"] for cell in planned if cell.experiment == "loop")


def _longest(group: Sequence[Loop]) -> list[Loop]:
    longest = max((len(loop.values) for loop in group), default=0)
    return [loop for loop in group if len(loop.values) == longest]


def _values(found: LoopTable, of: Callable[[Loop], float]) -> dict[str, list[float]]:
    return {preset: [of(loop) for loop in group] for preset, group in found.items()}


def final(found: LoopTable, paper: Printed | None, name: str = "final best", decimals: int = 2) -> Quantity:
    """The best observed value by the end."""
    return Quantity(name, paper, _values(found, lambda loop: loop.final), decimals, counted="final values")


def _diversity(found: LoopTable, paper: Printed | None) -> tuple[Quantity, Quantity]:
    """The mean distance within batches, with both spreads; empty if batches have a single point."""
    batches = {
        preset: [float(gap) for loop in group for gap in loop.mean_distance if not np.isnan(gap)]
        for preset, group in found.items()
    }
    seeds = _values(found, lambda loop: float(np.nanmean(loop.mean_distance)))
    return (
        Quantity("diversity, over seeds", paper, seeds, 2, counted="diversities of loops"),
        Quantity("diversity, over batches", paper, batches, 2, independent=False),
    )


def table_4(results: Results) -> PaperTable | None:
    """Table 4: CL-min, KB and Local Penalization, also with a Lipschitz constant, which the paper does not have."""
    rows = []
    for strategy, q in dict.fromkeys((strategy, q) for strategy, q, _ in TABLE_4):
        rows.append(_row_4(results, strategy, q))
        if strategy == "lp" and results.of("loop", strategy="lp_lipschitz", q=q):
            rows.append(_row_4(results, "lp_lipschitz", q))
    title = f"CL/KB vs. Local Penalization: final best (mean ± std, {SEEDS['exp9']} seeds)"
    return laid_out(4, title, ("strategy", "q"), rows, (FINAL_BEST, _moved(results)), ("exp9",))


_PROBLEMS_4 = tuple(dict.fromkeys(problem for _, _, problem in TABLE_4))


def _row_4(results: Results, strategy: str, q: int) -> LayoutRow:
    items = (
        final(loops(results, "exp9", problem, strategy, q), TABLE_4.get((strategy, q, problem)), PROBLEMS[problem])
        for problem in _PROBLEMS_4
    )
    return LayoutRow((NAMES[strategy], q), tuple(items))


def _moved(results: Results) -> str:
    """A sentence on the share of starts that the printed search left; "" if it is not known."""
    told = []
    for strategy in ("cl_min", "lp"):
        for problem in _PROBLEMS_4:
            for q in BATCH_SIZES:
                found = loops(results, "exp9", problem, strategy, q)["printed"]
                shares = [loop.moved for loop in found if loop.moved is not None]
                if shares:
                    told.append(f"{NAMES[strategy]} on {PROBLEMS[problem]}, q={q}: {np.mean(shares):.0%}")
    opening = "Share of the printed search's starts that moved, mean over seeds (the others stay where they were drawn)"
    return f"{opening}: {'; '.join(told)}." if told else ""


def table_5(results: Results) -> PaperTable | None:
    """Table 5: CL-min, KB and joint q-EI."""
    rows = []
    for strategy, paper in TABLE_5.items():
        found = loops(results, "exp10", "hartmann6", strategy, 3)
        assert paper.seconds is not None
        cpu = _values(found, lambda loop: float(loop.cpu.mean()))
        wall = _values(found, lambda loop: float(loop.seconds.mean()))
        times = (
            Quantity("time/batch (CPU s)", Printed(paper.seconds), cpu, None),
            Quantity("time/batch (wall s)", None, wall, None),
        )
        rows.append(
            LayoutRow((NAMES[strategy],), (final(found, paper.final), *_diversity(found, paper.diversity), *times))
        )
    notes = (
        FINAL_BEST,
        _DIVERSITY,
        "Time/batch: ask and tell, with the fit; its spread is over seeds. The preset ours has this library's q-EI, "
        "the preset printed has BoTorch's.",
        _CLOCKS,
    )
    title = f"CL/KB vs. q-EI (BoTorch) on Hartmann-6D (q=3, {SEEDS['exp10']} seeds)"
    return laid_out(5, title, ("strategy",), rows, notes, ("exp10",))


def table_6(results: Results) -> PaperTable | None:
    """Table 6: noisy Hartmann-6D, with the final best as observed and without its noise."""
    rows = []
    for strategy, paper in TABLE_6.items():
        found = loops(results, "exp11", "hartmann6", strategy, 3, NOISE_SHARE)
        true = Quantity("its true value", paper.final, _values(found, lambda loop: loop.true_final), 2)
        rows.append(
            LayoutRow((NAMES[strategy],), (final(found, paper.final), true, *_diversity(found, paper.diversity)))
        )
    notes = (
        "The paper does not say whether its final best is the observed value or the true one, so both are compared. "
        "The true value is that at the point with the best observed value.",
        _DIVERSITY,
    )
    title = f"Noisy Hartmann-6D (σ_noise = {NOISE_STD} std(y), q=3, {SEEDS['exp11']} seeds)"
    return laid_out(6, title, ("strategy",), rows, notes, ("exp11",))


def table_10(results: Results) -> PaperTable | None:
    """Table 10: the seconds of whole loops, and those within scikit-learn and BoTorch."""
    rows = []
    for strategy, paper in TABLE_10.items():
        found = {
            preset: [loop for loop in group if loop.seed < LOOP_TIMING_SEEDS]
            for preset, group in loops(results, "exp10", "hartmann6", strategy, 3).items()
        }
        items = (
            Quantity("total loop time (CPU s)", paper, _values(found, lambda loop: float(loop.cpu.sum())), 2),
            Quantity("total loop time (wall s)", None, _values(found, lambda loop: float(loop.seconds.sum())), 2),
            Quantity("CPU within others (s)", None, _values(found, lambda loop: loop.foreign), 2),
        )
        rows.append(LayoutRow((NAMES[strategy],), items))
    notes = (
        f"Seconds of ask and tell over the whole loop, for the seeds 0 to {LOOP_TIMING_SEEDS - 1}. CPU within others: "
        "the CPU seconds spent within scikit-learn or BoTorch.",
        _CLOCKS,
    )
    sizes = f"q=3, budget {BUDGETS['exp10']}, {LOOP_TIMING_SEEDS} seeds"
    title = f"End-to-end BO loop wall-clock (Hartmann-6D, {sizes})"
    return laid_out(10, title, ("strategy",), rows, notes, ("exp10",))
