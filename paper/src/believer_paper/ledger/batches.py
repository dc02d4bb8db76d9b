"""Claims of the paper about the batches of whole runs: diversity (24, 38), noise (25), ten members (26), SVM (27)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from believer.arrays import BoolArray
from believer.batch import random_pair_distance
from believer.diagnostics import FromProblem
from believer_paper.cells.loops import NOISE_SHARE
from believer_paper.ledger.checks import NO, NOT_WORSE, PARTLY, RULE, SHOWN, YES, Contrast, by_preset, judged
from believer_paper.ledger.claim import Claim, Finding, Share, not_run
from believer_paper.ledger.loops import BUDGET, NAMES, PROBLEMS, SIZES, all_tested, compared, described, final, runs
from believer_paper.numbers.printed import (
    BOXES,
    BUDGETS,
    DISTINCT,
    Q10_DIVERSITY,
    Q10_FINAL,
    Q10_OVER_RANDOM,
    SVM_SAMPLES,
)
from believer_paper.results import Loop, Results, paired
from believer_paper.sizes import LARGE

OTHER_LIES = ("kb", "cl_max", "cl_mean")
UNCHANGED = 0.1
"""The largest change, as a share of the diversity without noise; the paper's own "largely unchanged" is 6 %."""

CL_MIN = {"lie": "cl_min", "acquisition": "ei"}
COLLAPSED = 0.5 * Q10_DIVERSITY[0]
"""The mean distance below which a batch of ten has collapsed: half of the least that the paper states."""

ONE_SPOT = 1e-2
"""The diameter, in the unit cube, below which a batch is the same experiment several times."""

_STATED = Q10_DIVERSITY[0] - 0.5
"""The lower end of what the paper prints, before rounding."""

_MIN_RATIO = Q10_FINAL["random"].mean / max(Q10_FINAL[name].mean for name in ("cl_min", "kb"))
"""The ratio of random to the worse of the two by the paper's own numbers: 1.93, not 2."""

_ALMOST = 0.9
_ENOUGH_RUNS = 10
_SVM_CELLS = "cells: loop svm_breast_cancer q=2"

SIDE = BOXES["levy10"][1] - BOXES["levy10"][0]
"""The side of the box of Levy-10D, whose units the paper's distances and therefore its threshold have."""


def diversity(loop: Loop) -> float:
    """The mean distance of a batch's pairs in the unit cube, over the batches of a run."""
    return float(np.nanmean(loop.mean_distance))


def _highest(results: Results, preset: str) -> Finding:
    def against(problem: str) -> list[Contrast | None]:
        return [
            compared(f"to {NAMES[lie]} q={q}", runs(results, preset, problem, ("cl_min", q), (lie, q)), diversity)
            for q in SIZES
            for lie in OTHER_LIES
        ]

    tested = {problem: all_tested(against(problem), len(SIZES) * len(OTHER_LIES)) for problem in PROBLEMS}
    found = tested["hartmann6"]
    if found is None:
        return not_run("CL-min, CL-max, CL-mean and KB on Hartmann-6D (Exp 4)")
    answers = [one.higher() for one in found]
    elsewhere = ", ".join(
        f"{problem} {sum(one.higher() == YES for one in others)}/{len(others)}"
        for problem, others in tested.items()
        if others is not None and problem != "hartmann6"
    )
    lower = sum(one.lower() == YES for one in found)
    batches, drawn = runs(results, preset, "hartmann6", ("cl_min", 3), ("random", 3))
    evidence = (
        f"CL-min is more diverse than another lie in {answers.count(YES)} of {len(found)} comparisons, less in "
        f"{lower}: {described(found)}. Its mean distance at q=3 is {_mean(batches):.3g}, a random batch's "
        f"{_mean(drawn):.3g}, a random pair's {_random_pair():.3g}. Elsewhere: {elsewhere or 'not run'}."
    )
    return judged(answers, evidence, "figure 9", "figure 8", "figure 11", "cells: loop hartmann6 q=2, 3")


def _random_pair() -> float:
    return random_pair_distance(FromProblem("hartmann6", 1).region)


def _mean(loops: Iterable[Loop]) -> float:
    """The mean diversity over seeds; NaN if there are no loops."""
    return float(np.mean([diversity(loop) for loop in loops] or [np.nan]))


def _noisy(results: Results, preset: str) -> Finding:
    noisy = {
        name: results.loops(preset, "hartmann6", name, 3, noise=NOISE_SHARE, budget=BUDGET)
        for name in ("cl_min", "kb", "random")
    }
    clean = {name: results.loops(preset, "hartmann6", name, 3, budget=BUDGET) for name in ("cl_min", "kb")}

    def each(what: str, others: dict[str, list[Loop]], of: Callable[[Loop], float]) -> list[Contrast | None]:
        return [compared(f"{NAMES[name]} {what}", paired(noisy[name], others[name]), of) for name in clean]

    random = dict.fromkeys(clean, noisy["random"])
    contrasts = [*each("- random", random, _true), *each("final", clean, _true), *each("diversity", clean, diversity)]
    found = all_tested(contrasts, 6)
    if found is None:
        return not_run("CL-min, KB and random batches on Hartmann-6D with noise and without (Exp 11, Exp 4)")
    margins = [UNCHANGED * _mean(loops) for loops in clean.values()]
    answers = [one.lower() for one in found[:2]] + [one.not_worse() for one in found[2:4]]
    answers += [one.equal(margin) for one, margin in zip(found[4:], margins, strict=True)]
    evidence = (
        f"Value without noise of the point that looked best, with noise: {described(found[:2])}; less the same run "
        f"without noise: {described(found[2:4])}. Diversity less that without noise, {margins[0] / UNCHANGED:.3g} and "
        f"{margins[1] / UNCHANGED:.3g}: {described(found[4:])}."
    )
    return judged(answers, evidence, "table 6", "exp 11 (text)", "cells: loop hartmann6 q=3 noise=0.1")


def _true(loop: Loop) -> float:
    return loop.true_final


def _large(results: Results, preset: str) -> Finding:
    options = {"process": "twin"} if preset == "printed" else {}
    keys = (("cl_min", 10), ("kb", 10), ("random", 10))
    cl_min, kb, drawn = runs(results, preset, "levy10", *keys, budget=LARGE, options=options)
    single = [
        m
        for name in ("gp", "mq_rbf")
        for m in results.measurements(preset, name, problem="levy10", q=10, update="condition", **CL_MIN)
    ]
    found = all_tested([compared("CL-min", (cl_min, drawn)), compared("KB", (kb, drawn))], 2)
    if found is None or not single:
        return not_run("CL-min, KB and random batches of ten on Levy-10D, and the diagnostic there (Exp 12)")
    answers, said = [], []
    for name, loops in (("CL-min", cl_min), ("KB", kb)):
        kept, words = _stays_diverse(loops)
        answers += kept
        said.append(f"{name}: {words}")
    alone = [SIDE * m.fixed.min_distance > DISTINCT for m in single]
    ratios = [np.mean([*map(final, drawn)]) / np.mean([*map(final, ours)]) for ours in (cl_min, kb)]
    answers.append(YES if all(alone) else PARTLY if any(alone) else NO)
    for one, ratio in zip(found, ratios, strict=True):
        lower = one.lower()
        answers.append(PARTLY if lower == YES and ratio < _MIN_RATIO else lower)
    evidence = (
        f"{'. '.join(said)}. Single batches are diverse on {sum(alone)} of {len(alone)} data sets. Random ends "
        f"{ratios[0]:.2f} times as high as CL-min and {ratios[1]:.2f} as KB: {described(found)}."
    )
    return judged(
        answers, evidence, "table 11", "exp 12 (text)", "figure 20", "figure 21", "figure 22", "cells: loop levy10 q=10"
    )


def _stays_diverse(loops: list[Loop]) -> tuple[list[str], str]:
    """Three checks of "20-28, never collapses" on the batches of a strategy, and their numbers."""
    by_iteration = np.nanmean([loop.mean_distance_raw for loop in loops], axis=0)
    every = np.concatenate([loop.mean_distance_raw for loop in loops])
    least = np.concatenate([loop.min_distance for loop in loops])
    high, never = by_iteration >= _STATED, every >= COLLAPSED
    apart = least[~np.isnan(least)] > DISTINCT
    words = (
        f"the mean distance over seeds goes from {by_iteration[0]:.3g} to {by_iteration[-1]:.3g}, least "
        f"{by_iteration.min():.3g}, and is {_STATED:g} or more in {Share.of(high)} iterations; "
        f"{Share.of(never)} single batches average {COLLAPSED:g} or more; {Share.of(~apart)} hold two members within "
        f"{DISTINCT:g} in the unit cube ({SIDE * float(np.nanmin(least)):.2g} of the box at the least)"
    )
    return [_always(outcomes) for outcomes in (high, never, apart)], words


def _always(outcomes: BoolArray) -> str:
    """The answer to "never" and "remains", which are about all: no if more than a tenth do not comply."""
    share = float(np.mean(outcomes))
    return YES if share == 1.0 else PARTLY if share >= _ALMOST else NO


def _consistent(results: Results, preset: str) -> Finding:
    stacks: dict[str, tuple[str, dict[str, Any]]] = {"Hartmann-6D": ("hartmann6", {}), "Ackley-8D": ("ackley8", {})}
    if preset == "printed":
        stacks["Hartmann-6D, BoTorch's process"] = ("hartmann6", {"process": "botorch"})
    answers, said = [], []
    for words, (problem, options) in stacks.items():
        for name in ("cl_min", "kb"):
            loops = results.loops(preset, problem, name, 3, budget=BUDGET, options=options)
            if len(loops) < _ENOUGH_RUNS or all(np.isnan(loop.max_distance).all() for loop in loops):
                return not_run("CL-min and KB on Hartmann-6D and Ackley-8D, and with BoTorch's process (Exp 4, Exp 10)")
            whole = np.array([bool(np.any(loop.max_distance < ONE_SPOT)) for loop in loops])
            batches = np.concatenate([loop.max_distance for loop in loops])
            answers.append(_always(~whole))
            spots = Share.of(batches[~np.isnan(batches)] < ONE_SPOT)
            said.append(f"{NAMES[name]}, {words}: {Share.of(whole)} runs ({spots} batches)")
    evidence = f"A whole batch lies within {ONE_SPOT:g} of the unit cube in {'; '.join(said)}."
    return judged(answers, evidence, "figure 9", "figure 8", "cells: loop q=3")


def _tuning(results: Results, preset: str) -> Finding:
    keys = (("cl_min", 2), ("sequential", 1), ("random", 2))
    ours, sequential, drawn = runs(results, preset, "svm_breast_cancer", *keys, budget=BUDGETS["exp6"])
    found = all_tested([compared("to sequential", (ours, sequential)), compared("to random", (ours, drawn))], 2)
    if found is None:
        return not_run("CL-min, sequential and random on the support vector machine (Exp 6)")
    means = [float(np.mean([*map(final, loops)])) for loops in (ours, sequential, drawn)]
    answers = [one.lower() for one in found]
    samples = [SVM_SAMPLES * (mean - means[0]) for mean in means[1:]]
    evidence = (
        f"Mean error: CL-min {means[0]:.4f}, sequential {means[1]:.4f}, random {means[2]:.4f}, so CL-min is better by "
        f"{samples[0]:+.2f} and {samples[1]:+.2f} of {SVM_SAMPLES} samples: {described(found)}."
    )
    # The lowest is below both: a single no refutes it.
    return judged([NO] if NO in answers else answers, evidence, "exp 6 (text)", "figure 12", _SVM_CELLS)


CLAIMS = (
    Claim(
        24,
        "CL-min keeps the highest diversity.",
        "The mean distance of a batch's pairs in the unit cube, over the batches of a run, on Hartmann-6D. A check for "
        f"each of q = 2 and 3 and each other lie: CL-min is higher ({SHOWN}). Random batches and random pairs are "
        f"given for information and do not count. {RULE}",
        by_preset(_highest),
        True,
    ),
    Claim(
        25,
        "CL-min and KB are robust under observation noise.",
        f"Hartmann-6D, q = 3, checks for each of the two: with noise it is lower than random ({SHOWN}); its final "
        f"value is not worse than without noise: {NOT_WORSE}; its diversity is that without noise (the interval lies "
        f"within {UNCHANGED:.0%} of it; no: beyond, or it reaches beyond and the test finds a difference; open: "
        f"otherwise). Values are the true ones at the point that looks best. {RULE}",
        by_preset(_noisy),
        True,
    ),
    Claim(
        26,
        f"Batches of ten stay diverse and end {Q10_OVER_RANDOM[0]:g} to {Q10_OVER_RANDOM[1]:g} times better than "
        "random ones.",
        f"The paper's words: diversity \"remains high ({Q10_DIVERSITY[0]:g}-{Q10_DIVERSITY[1]:g}) and never "
        f'collapses". Levy-10D, distances in the units of the box, whose side is {SIDE:g}. Checks, for CL-min and for '
        f"KB: the mean over seeds is {_STATED:g} or more in every iteration; no single batch averages below "
        f"{COLLAPSED:g}, half of what is stated; no batch has two members within {DISTINCT:g} in the unit cube, where "
        "the paper says that it measures (each of these is no if more than a tenth do not comply); they are lower than "
        "random "
        f"({SHOWN}), and the mean final value of random is at least {_MIN_RATIO:.2f} times theirs, as by the paper's "
        "numbers (in part: only lower). And one: the diagnostic's batches of GP and MQ-RBF have no two members within "
        f"{DISTINCT:g} of the box on any data set (no: on every). {RULE}",
        by_preset(_large),
        True,
    ),
    Claim(
        27,
        "Tuning a support vector machine, CL-min reaches the lowest error.",
        f"Final error. A check against sequential and one against random: CL-min is lower ({SHOWN}). The lowest is "
        "below both: holds if both say yes, fails if either says no, cannot be tested if both are open, holds in part "
        "otherwise.",
        by_preset(_tuning),
        True,
    ),
    Claim(
        38,
        "Whole runs with CL-min and KB have consistently high batch diversity: none of their batches collapses.",
        "Only collapse is tested. A batch lies on one spot if all its members are within "
        f"{ONE_SPOT:g} in the unit cube. Checks: CL-min and KB, q = 3, on Hartmann-6D and Ackley-8D, and under the "
        "preset printed on Hartmann-6D with BoTorch's process: no run has such a batch (in part: up to a tenth of the "
        f"runs do; no: more). {RULE}",
        by_preset(_consistent),
        True,
    ),
)
