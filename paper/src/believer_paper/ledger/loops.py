"""Claims of the paper about the convergence of whole runs: 20, 21, 22, 23, 36.

Runs are paired by seed: all strategies of a seed start from the same design. Values are minimized, so a difference
below zero is a win; "std" is the pooled standard deviation of the two over seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from believer_paper.ledger.checks import (
    ALPHA,
    MARGIN,
    NO,
    NOT_WORSE,
    OPEN,
    RULE,
    SHOWN,
    TESTED,
    YES,
    Contrast,
    averaged,
    by_preset,
    contrast,
    enough,
    family,
    judged,
    pooled,
    together,
)
from believer_paper.ledger.claim import Claim, Finding, not_run
from believer_paper.numbers.printed import BUDGETS
from believer_paper.results import Loop, Results, paired

NAMES = {
    **{"cl_min": "CL-min", "cl_max": "CL-max", "cl_mean": "CL-mean", "kb": "KB", "random": "random", "lp": "LP"},
    **{"qei": "q-EI", "sequential": "sequential", "lp_lipschitz": "LP of Gonzalez et al."},
}
PROBLEMS = ("hartmann6", "ackley8", "levy10")
SIZES = (2, 3)
BUDGET = BUDGETS["exp4"]

_MANY = 6
_PENALIZED = ("hartmann6", "ackley8")

LoopKey = tuple[str, int]
"""A strategy and its batch size."""


def runs(
    results: Results, preset: str, problem: str, *keys: LoopKey, budget: int = BUDGET, **settings: Any
) -> list[list[Loop]]:
    """The loops of each key, on the seeds that all of them have."""
    return paired(*(results.loops(preset, problem, *key, budget=budget, **settings) for key in keys))


def final(loop: Loop) -> float:
    """The best value of a run by its end."""
    return loop.final


def compared(name: str, groups: Sequence[Sequence[Loop]], of: Callable[[Loop], float] = final) -> Contrast | None:
    """The contrast of two groups in the number that ``of`` gives for a loop; None if no seed is in both."""
    ours, theirs = groups
    return contrast(name, map(of, ours), map(of, theirs)) if ours else None


def all_tested(contrasts: Iterable[Contrast | None], tests: int) -> list[Contrast] | None:
    """The family of a claim's contrasts; None if one is missing or has too few seeds to show anything."""
    found = [one for one in contrasts if one is not None and enough(len(one.d), tests)]
    return family(found) if len(found) == tests else None


def described(contrasts: Sequence[Contrast]) -> str:
    """The numbers of the contrasts in a row, without intervals if there are many contrasts."""
    return "; ".join(one.text(len(contrasts) > _MANY) for one in contrasts)


def _near_sequential(results: Results, preset: str) -> Finding:
    names = ("cl_min", "kb")
    rival: tuple[LoopKey, LoopKey] = (("sequential", 1), ("sequential", 1))
    equal = [_over_problems(NAMES[name], results, preset, name, rival, final) for name in names]
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
    won = [[one.lower() for one in half] for half in (wins[:6], wins[6:])]
    answers = [*(one.not_worse() for one in same), *map(together, won)]
    evidence = (
        f"Equal evaluations, difference to sequential in std over all problems: {described(same)}. Equal iterations: "
        f"{NAMES['cl_min']} wins {won[0].count(YES)} of 6 and {NAMES['kb']} {won[1].count(YES)} of 6, the least clear "
        f"of them {max(wins, key=lambda one: one.p).text()}."
    )
    return judged(answers, evidence, "exp 4 (text)", "figure 2", "figure 7", "figure 10", "cells: loop q=1, 2, 3")


def _over_problems(
    name: str, results: Results, preset: str, ours: str, rivals: tuple[LoopKey, LoopKey], of: Callable[[Loop], float]
) -> Contrast | None:
    """A strategy at q = 2 and 3 against a rival each, over all problems; q is averaged by seed: designs are shared."""
    by_problem = []
    for problem in PROBLEMS:
        groups = runs(results, preset, problem, *((ours, q) for q in SIZES), *rivals)
        pairs = [compared("", pair, of) for pair in (groups[::2], groups[1::2])]
        found = [one for one in pairs if one is not None]
        if not found:
            return None
        by_problem.append(averaged("", found))
    return pooled(name, by_problem)


def _equal_iterations(results: Results, preset: str, problem: str, strategy: str, q: int) -> Contrast | None:
    """Final values against the value of sequential runs after as many iterations."""
    ours, theirs = runs(results, preset, problem, (strategy, q), ("sequential", 1))
    if not ours:
        return None
    then = [float(two.after_batches()[len(one.batches)]) for one, two in zip(ours, theirs, strict=True)]
    return contrast(f"{NAMES[strategy]} {problem} q={q}", map(final, ours), then)


def _progress(loop: Loop) -> float:
    """The mean of the best value so far, after the design: lower is faster."""
    return float(loop.best[loop.n_init :].mean())


def _slower(results: Results, preset: str) -> Finding:
    rivals = ("cl_min", "kb")
    contrasts = [
        _over_problems(f"to {NAMES[rival]}", results, preset, "cl_max", ((rival, 2), (rival, 3)), _progress)
        for rival in rivals
    ]
    contrasts += [
        compared(
            f"to {NAMES[rival]} {problem} q={q}", runs(results, preset, problem, ("cl_max", q), (rival, q)), _progress
        )
        for rival in rivals
        for problem in PROBLEMS
        for q in SIZES
    ]
    found = all_tested(contrasts, len(contrasts))
    if found is None:
        return not_run("CL-max, CL-min and KB on three problems (Exp 4)")
    answers = [one.higher() for one in found]
    faster = [one.name for one in found if one.lower() == YES]
    evidence = (
        f"CL-max is slower in {answers.count(YES)} of {len(found)} comparisons, faster in {len(faster)}"
        f"{' (' + ', '.join(faster) + ')' if faster else ''}, and not slower beyond the margin in {answers.count(NO)}. "
        f"All problems, in std: {described(found[:2])}. One by one: {described(found[2:])}."
    )
    return judged(answers, evidence, "exp 4 (text)", "figure 2", "figure 7", "figure 10", "cells: loop cl_max")


def _penalization(results: Results, preset: str) -> Finding:
    found = _against(results, preset, "lp")
    if found is None:
        return not_run("CL-min, KB and LP on Hartmann-6D and Ackley-8D (Exp 9)")
    answers = [one.not_worse() for one in found]
    better, worse = (sum(side(one) == YES for one in found) for side in (Contrast.lower, Contrast.higher))
    evidence = (
        f"Not worse than LP in {answers.count(YES)} of {len(found)} comparisons, worse in {answers.count(NO)}; "
        f"significantly better in {better}, worse in {worse}: {described(found)}.{_starts(results, preset)}"
    )
    lipschitz = _against(results, preset, "lp_lipschitz")
    if lipschitz is not None:
        others = [one.not_worse() for one in lipschitz]
        evidence += (
            f" For information only, {NAMES['lp_lipschitz']}: not worse in {others.count(YES)} of "
            f"{len(others)}, worse in {others.count(NO)}: {described(lipschitz)}."
        )
    return judged(answers, evidence, "table 4", "figure 13", "figure 14", "cells: loop lp q=2, 3")


def _against(results: Results, preset: str, rival: str) -> list[Contrast] | None:
    """CL-min and KB against a rival, on the problems and batch sizes of Exp 9."""
    contrasts = [
        compared(f"{NAMES[ours]} {problem} q={q}", runs(results, preset, problem, (ours, q), (rival, q)))
        for problem in _PENALIZED
        for q in SIZES
        for ours in ("cl_min", "kb")
    ]
    return all_tested(contrasts, len(contrasts))


def _starts(results: Results, preset: str) -> str:
    """A sentence on the share of the acquisition's starts that moved; empty if it is not known."""
    shares = []
    for name in ("lp", "cl_min"):
        loops = [loop for p in _PENALIZED for q in SIZES for loop in results.loops(preset, p, name, q, budget=BUDGET)]
        known = [loop.moved for loop in loops if loop.moved is not None]
        if not known:
            return ""
        shares.append(sum(known) / len(known))
    return f" Of the starts of the inner search {shares[0]:.0%} moved under LP, {shares[1]:.0%} under CL-min."


def _joint(results: Results, preset: str) -> Finding:
    options = {"process": "botorch"} if preset == "printed" else {}
    groups = runs(results, preset, "hartmann6", ("kb", 3), ("cl_min", 3), ("qei", 3), options=options)
    kb, cl_min, joint = groups
    contrasts = [compared("KB", (kb, joint)), compared("CL-min", (cl_min, joint))]
    found = all_tested(contrasts, 2)
    if found is None:
        return not_run("CL-min, KB and joint q-EI on Hartmann-6D (Exp 10)")
    evidence = f"Final best less that of q-EI over {len(kb)} seeds: {described(found)}."
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
    return judged(
        answers[3:], evidence + described(found) + ".", "exp 4 (text)", "figure 7", "figure 10", "cells: loop q=3"
    )


def _no_difference(one: Contrast) -> str:
    """Yes for the paper's "not significant"; open if the shift is beyond the margin all the same."""
    if one.p < ALPHA:
        return NO
    return YES if abs(one.shift) <= MARGIN * one.spread else OPEN


CLAIMS = (
    Claim(
        20,
        "CL-min and KB are near-sequential at equal evaluations, and win at equal iterations.",
        "Hartmann-6D, Ackley-8D, Levy-10D, q = 2 and 3. A check for each of the two: final best not worse than "
        f"sequential's, all problems together, each in units of its spread: {NOT_WORSE}. And another for each: in all "
        f"six cases lower than sequential after as many iterations ({SHOWN}); no if more than half of the six say no. "
        f"{RULE}",
        by_preset(_near_sequential),
        True,
    ),
    Claim(
        21,
        "CL-max converges more slowly than CL-min and KB.",
        "The mean of the best value so far over the evaluations after the design. CL-max is higher: a check for each "
        "of two rivals, with both batch sizes and all three problems together, each in units of its spread; and one "
        f"for each rival, problem and batch size ({SHOWN}). {RULE}",
        by_preset(_slower),
        True,
    ),
    Claim(
        22,
        "CL-min and KB match or beat Local Penalization.",
        "Final best on Hartmann-6D and Ackley-8D, q = 2 and 3. A check for each of the eight: not worse than LP: "
        f"{NOT_WORSE}. Under the preset ours, all have the same strong inner maximizer. LP of Gonzalez et al. is "
        f"reported for information and does not count. {RULE}",
        by_preset(_penalization),
        True,
    ),
    Claim(
        23,
        "KB is on par with joint q-EI.",
        f"Final best on Hartmann-6D, q = 3. One check: KB is not worse: {NOT_WORSE}. {RULE}",
        by_preset(_joint),
        True,
    ),
    Claim(
        36,
        "The tests on Hartmann-6D (CL-min like KB, both better than random) have the same results elsewhere.",
        f"Final best on Ackley-8D and Levy-10D, q = 3. Checks: CL-min and KB are lower than random ({SHOWN}); CL-min "
        f"and KB do not differ by the same test ({TESTED}; no: they do; open: they do not, but the shift is beyond "
        f"{MARGIN:g} pooled standard deviations). {RULE}",
        by_preset(_patterns),
        True,
    ),
)
