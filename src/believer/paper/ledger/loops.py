"""Claims of the paper about how fast whole runs converge: 20, 21, 22, 23, 36.

Runs are paired by seed: all strategies of a seed start from the same design. Values are minimized, so a difference
below zero is a win; "std" is the pooled standard deviation of the two over seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from believer.paper.ledger.checks import (
    ALPHA,
    MARGIN,
    NO,
    OPEN,
    RULE,
    YES,
    Contrast,
    averaged,
    by_preset,
    contrast,
    enough,
    family,
    judged,
    pooled,
)
from believer.paper.ledger.claim import Claim, Finding, not_run
from believer.paper.results import Loop, Results, paired

NAMES = {
    **{"cl_min": "CL-min", "cl_max": "CL-max", "cl_mean": "CL-mean", "kb": "KB", "random": "random", "lp": "LP"},
    **{"qei": "q-EI", "sequential": "sequential"},
}
PROBLEMS = ("hartmann6", "ackley8", "levy10")
SIZES = (2, 3)
BUDGET = 50

_MANY = 6

Key = tuple[str, int]
"""A strategy and its batch size."""


def runs(
    results: Results, preset: str, problem: str, *keys: Key, budget: int = BUDGET, **settings: Any
) -> list[list[Loop]]:
    """The loops of each key, on the seeds that all of them have."""
    return paired(*(results.loops(preset, problem, *key, budget=budget, **settings) for key in keys))


def final(loop: Loop) -> float:
    """The best value in the end."""
    return loop.final


def compared(name: str, groups: Sequence[Sequence[Loop]], of: Callable[[Loop], float] = final) -> Contrast | None:
    """The first group against the second, in what ``of`` says of a loop; None if no seed has both."""
    ours, theirs = groups
    return contrast(name, map(of, ours), map(of, theirs)) if ours else None


def all_tested(contrasts: Iterable[Contrast | None], tests: int) -> list[Contrast] | None:
    """The family of a claim's contrasts; None if one is missing or has too few seeds to show anything."""
    found = [one for one in contrasts if one is not None and enough(len(one.d), tests)]
    return family(found) if len(found) == tests else None


def told(contrasts: Sequence[Contrast]) -> str:
    """Their numbers in a row, without intervals where they are many."""
    return "; ".join(one.text(len(contrasts) > _MANY) for one in contrasts)


def _near_sequential(results: Results, preset: str) -> Finding:
    names = ("cl_min", "kb")
    equal = [_equal_evaluations(results, preset, strategy) for strategy in names]
    earlier = [
        _equal_iterations(results, preset, problem, strategy, q)
        for strategy in names
        for problem in PROBLEMS
        for q in SIZES
    ]
    found = all_tested([*equal, *earlier], len(equal) + len(earlier))
    if found is None:
        return not_run("CL-min, KB and sequential on three problems (Exp 4)")
    same, wins = found[:2], found[2:]
    won = [[one.lower() == YES for one in half] for half in (wins[:6], wins[6:])]
    answers = [one.not_worse() for one in same]
    answers += [YES if all(flags) else OPEN if any(flags) else NO for flags in won]
    evidence = (
        f"Equal evaluations, difference to sequential in std over all problems: {told(same)}. Equal iterations: "
        f"{NAMES['cl_min']} wins {sum(won[0])} of 6 and {NAMES['kb']} {sum(won[1])} of 6, the least clear of them "
        f"{max(wins, key=lambda one: one.p).text()}."
    )
    return judged(answers, evidence, "figure 2", "figure 7", "figure 10", "cells: loop q=1, 2, 3")


def _equal_evaluations(results: Results, preset: str, strategy: str) -> Contrast | None:
    """Final values against sequential's: q averaged seed by seed, for sequential is the same run; problems together."""
    by_problem = []
    for problem in PROBLEMS:
        two, three, one = runs(results, preset, problem, *((strategy, q) for q in SIZES), ("sequential", 1))
        if not one:
            return None
        pairs = [contrast("", map(final, ours), map(final, one)) for ours in (two, three)]
        by_problem.append(averaged("", pairs))
    return pooled(NAMES[strategy], by_problem)


def _equal_iterations(results: Results, preset: str, problem: str, strategy: str, q: int) -> Contrast | None:
    """Final values against what sequential has after as many evaluations as these were batches."""
    ours, theirs = runs(results, preset, problem, (strategy, q), ("sequential", 1))
    if not ours:
        return None
    then = [float(two.after_batches()[len(one.batches)]) for one, two in zip(ours, theirs, strict=True)]
    return contrast(f"{NAMES[strategy]} {problem} q={q}", map(final, ours), then)


def _progress(loop: Loop) -> float:
    """The mean of the best value so far, after the design: lower is faster."""
    return float(loop.best[loop.n_init :].mean())


def _slower(results: Results, preset: str) -> Finding:
    contrasts = [
        compared(
            f"to {NAMES[rival]} {problem} q={q}", runs(results, preset, problem, ("cl_max", q), (rival, q)), _progress
        )
        for rival in ("cl_min", "kb")
        for problem in PROBLEMS
        for q in SIZES
    ]
    found = all_tested(contrasts, len(contrasts))
    if found is None:
        return not_run("CL-max, CL-min and KB on three problems (Exp 4)")
    answers = [one.higher() for one in found]
    faster = [one.name for one in found if one.lower() == YES]
    evidence = (
        f"CL-max is slower in {answers.count(YES)} of {len(found)} comparisons and faster in {len(faster)}"
        f"{' (' + ', '.join(faster) + ')' if faster else ''}: {told(found)}."
    )
    return judged(answers, evidence, "figure 2", "figure 7", "figure 10", "cells: loop cl_max")


def _penalization(results: Results, preset: str) -> Finding:
    contrasts = [
        compared(f"{NAMES[ours]} {problem} q={q}", runs(results, preset, problem, (ours, q), ("lp", q)))
        for problem in ("hartmann6", "ackley8")
        for q in SIZES
        for ours in ("cl_min", "kb")
    ]
    found = all_tested(contrasts, len(contrasts))
    if found is None:
        return not_run("CL-min, KB and LP on Hartmann-6D and Ackley-8D (Exp 9)")
    answers = [one.not_worse() for one in found]
    better, worse = (sum(side(one) == YES for one in found) for side in (Contrast.lower, Contrast.higher))
    evidence = (
        f"Not worse than LP in {answers.count(YES)} of {len(found)} comparisons, worse in {answers.count(NO)}; "
        f"significantly better in {better}, worse in {worse}: {told(found)}."
    )
    return judged(answers, evidence, "table 4", "figure 13", "figure 14", "cells: loop lp q=2, 3")


def _joint(results: Results, preset: str) -> Finding:
    options = {"process": "botorch"} if preset == "printed" else {}
    groups = runs(results, preset, "hartmann6", ("kb", 3), ("cl_min", 3), ("qei", 3), options=options)
    kb, cl_min, joint = groups
    contrasts = [compared("KB", (kb, joint)), compared("CL-min", (cl_min, joint))]
    found = all_tested(contrasts, 2)
    if found is None:
        return not_run("CL-min, KB and joint q-EI on Hartmann-6D (Exp 10)")
    evidence = f"Final best less that of q-EI over {len(kb)} seeds: {told(found)}."
    return judged([found[0].not_worse()], evidence, "table 5", "figure 17", "cells: loop hartmann6 q=3 qei")


def _patterns(results: Results, preset: str) -> Finding:
    pairs = (("cl_min", "kb"), ("cl_min", "random"), ("kb", "random"))
    contrasts = [
        compared(f"{problem} {NAMES[a]} - {NAMES[b]}", runs(results, preset, problem, (a, 3), (b, 3)))
        for problem in PROBLEMS
        for a, b in pairs
    ]
    found = all_tested(contrasts, len(contrasts))
    if found is None:
        return not_run("CL-min, KB and random batches on three problems (Exp 4)")
    answers = [_no_difference(one) if i % 3 == 0 else one.lower() for i, one in enumerate(found)]
    hartmann = "as" if all(answer == YES for answer in answers[:3]) else "not as"
    evidence = f"{answers[3:].count(YES)} of 6 tests as printed for Hartmann-6D, which itself is {hartmann} printed: "
    return judged(answers[3:], evidence + told(found) + ".", "figure 7", "figure 10", "cells: loop q=3")


def _no_difference(one: Contrast) -> str:
    """The paper's "not significant"; open where that hides a shift beyond the margin."""
    if one.p < ALPHA:
        return NO
    return YES if abs(one.shift) <= MARGIN * one.spread else OPEN


_TEST = f"Wilcoxon signed-rank on paired seeds, Holm p < {ALPHA:g}"
_NOT_WORSE = (
    f"the 90 % bootstrap interval of the median difference ends below {MARGIN:g} pooled standard deviations (no: it "
    f"lies beyond, or is higher by {_TEST})"
)

CLAIMS = (
    Claim(
        20,
        "CL-min and KB are near-sequential at equal evaluations, and win at equal iterations.",
        "Hartmann-6D, Ackley-8D, Levy-10D, q = 2 and 3. A check for each of the two: final best not worse than "
        f"sequential's, all problems together: {_NOT_WORSE}. And one for each: lower than sequential after as many "
        f"iterations ({_TEST}) in all six cases (no: in none). {RULE}",
        by_preset(_near_sequential),
        True,
    ),
    Claim(
        21,
        "CL-max converges more slowly than CL-min and KB.",
        "The mean of the best value so far over the evaluations after the design. A check for each of three problems, "
        f"two batch sizes and two rivals: CL-max is higher ({_TEST}). {RULE}",
        by_preset(_slower),
        True,
    ),
    Claim(
        22,
        "CL-min and KB match or beat Local Penalization.",
        "Final best on Hartmann-6D and Ackley-8D, q = 2 and 3. A check for each of the eight: not worse than LP: "
        f"{_NOT_WORSE}. Under the preset ours all have the same strong inner maximizer. {RULE}",
        by_preset(_penalization),
        True,
    ),
    Claim(
        23,
        "KB is on par with joint q-EI.",
        f"Final best on Hartmann-6D, q = 3. One check: KB is not worse: {_NOT_WORSE}. {RULE}",
        by_preset(_joint),
        True,
    ),
    Claim(
        36,
        "The tests on Hartmann-6D (CL-min no different from KB, both better than random) come out alike elsewhere.",
        f"Final best on Ackley-8D and Levy-10D, q = 3. Checks: CL-min and KB are lower than random ({_TEST}); CL-min "
        f"and KB do not differ by the same test (yes only if the shift is within {MARGIN:g} pooled standard "
        f"deviations). {RULE}",
        by_preset(_patterns),
        True,
    ),
)
