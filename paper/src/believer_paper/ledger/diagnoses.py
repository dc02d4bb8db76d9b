"""Claims of the paper about the Structural Diversity Diagnostic: 1, 2, 3, 7, 9, 28, 29, 37.

Data sets are Latin hypercube designs of 30 points of Hartmann-6D, batches have three members, and the lie is CL-min
under EI, unless a claim is about others. "Diverse" is the paper's own rule: no two members within 0.001. "Passes" is
stricter: the lie itself changes the acquisition function, and is the reason why the batch is diverse.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from believer.diagnostics import RESPONDS_DIVERSE, Measurement, SddPart, is_diverse, verdict_of
from believer_paper.cells.diagnoses import CONDITIONED, OVERVIEW, UNTOLD
from believer_paper.compatibility import compatible
from believer_paper.ledger.checks import (
    MARGIN,
    MIN_SETS,
    NO,
    PARTLY,
    RULE,
    TESTED,
    YES,
    by_preset,
    contrast,
    family,
    judged,
    mostly,
)
from believer_paper.ledger.claim import BY_ALGEBRA, Claim, Finding, Share, not_run
from believer_paper.numbers.printed import N_INIT, TABLE_1
from believer_paper.results import Results
from believer_paper.tables.diagnoses import READINGS

NAMES = {"gp": "GP", "mq_rbf": "MQ-RBF", "neural": "NN", "forest": "RF"}


def data_sets(
    results: Results, preset: str, surrogate: str, update: str, lie: str = "cl_min", acquisition: str = "ei"
) -> list[Measurement]:
    """The measurements of the diagnostic on Hartmann-6D, in the order of seeds."""
    where = {"problem": "hartmann6", "n": N_INIT["sdd"], "q": 3}
    return results.measurements(preset, surrogate, update=update, lie=lie, acquisition=acquisition, **where)


def cells(what: str) -> str:
    """A link to the cells of the diagnostic on Hartmann-6D."""
    return f"cells: sdd hartmann6 n=30 q=3 {what}"


def few(*groups: Sequence[object]) -> bool:
    """Whether any of the groups has too few data sets."""
    return min(map(len, groups)) < MIN_SETS


def missing(what: str) -> Finding:
    """The finding if there are too few data sets."""
    return not_run(f"the diagnostic of {what} on at least {MIN_SETS} data sets")


def passed(ms: Iterable[Measurement]) -> int:
    """The number of data sets that respond and are diverse because of the lie."""
    return sum(verdict_of(m) == RESPONDS_DIVERSE for m in ms)


def diverse(ms: Iterable[Measurement], part: str) -> int:
    """The number of diverse batches in a part of the diagnostic."""
    return sum(is_diverse(found) for found in parts(ms, part))


def parts(ms: Iterable[Measurement], part: str) -> list[SddPart]:
    """The batches of one part of the diagnostic; empty if the part does not apply to the surrogate."""
    return [found for m in ms if (found := getattr(m, part)) is not None]


def moved(ms: Iterable[Measurement]) -> float:
    """The share of starts that moved, over the data sets for which it is known; NaN if there are none."""
    return float(np.mean([m.moved for m in ms if m.moved is not None] or [np.nan]))


def _passing(results: Results, preset: str) -> Finding:
    found = {s: data_sets(results, preset, s, u) for s, u in CONDITIONED}
    if few(*found.values()):
        return missing("GP and MQ-RBF")
    said = [
        f"{NAMES[s]} passes on {Share(passed(ms), len(ms))} data sets and is diverse on {diverse(ms, 'fixed')}"
        for s, ms in found.items()
    ]
    answers = [mostly(passed(ms), len(ms)) for ms in found.values()]
    return judged(answers, "; ".join(said) + ".", "table 2", "table 9", cells("gp, mq_rbf condition"))


def _nothing_else(results: Results, preset: str) -> Finding:
    found = {s: data_sets(results, preset, s, u) for s, u in (*CONDITIONED, *UNTOLD)}
    if few(*found.values()):
        return missing("GP, MQ-RBF, NN and RF")
    still = [m for s, _ in UNTOLD for m in found[s]]
    same = len(still) - diverse(still, "null")
    answers = [mostly(same, len(still))]
    said = [f"without lie and update {same} of {len(still)} batches repeat a point"]
    for s, ms in found.items():
        # A maximum that the search without derivatives missed counts as reached, and no more than that.
        moves, reached = moved(ms), float(np.mean([min(m.reached, 1.0) for m in ms]))
        full, half = min(moves, reached) >= 0.9, min(moves, reached) < 0.5
        answers.append(YES if full else NO if half else PARTLY)
        said.append(f"{NAMES[s]}: {moves:.0%} of starts move, {reached:.0%} of the maximum is reached")
    return judged(answers, "; ".join(said) + ".", "table 2", cells("moved, reached"))


def _collapse(results: Results, preset: str) -> Finding:
    found = {s: data_sets(results, preset, s, u) for s, u in UNTOLD}
    if few(*found.values()):
        return missing("NN and RF without refit")
    exact, said = [], []
    for s, ms in found.items():
        largest = max(max(m.fixed.mean_distance, m.random.mean_distance) for m in ms)
        exact.append(largest == 0.0)
        said.append(f"{NAMES[s]}: the largest distance on {len(ms)} data sets is {largest:.3g}")
    verdict = BY_ALGEBRA if all(exact) else "fails"
    return Finding(verdict, "; ".join(said) + ".", ("table 2", "table 9", "figure 5", cells("neural, forest none")))


def _compatible(results: Results, preset: str) -> Finding:
    answers, said = [], []
    for row, readings in READINGS.items():
        agree = []
        for surrogate, update, words in readings:
            both = _by_seed(*(data_sets(results, preset, surrogate, update, lie) for lie in ("cl_min", "kb")))
            if few(both):
                return missing(f"every row of Table 1, such as {row}, under CL-min and KB")
            cl_min, kb = (passed(ms) for ms in zip(*both, strict=True))
            level = compatible((cl_min, kb), len(both))
            printed = TABLE_1[readings[0][0]][1]
            agree.append(level == printed)
            counts = f"CL-min {cl_min} and KB {kb} of {len(both)}"
            said.append(f"{row}, {words}: {level} ({counts}), the paper says {printed}")
        answers.append(YES if all(agree) else PARTLY if any(agree) else NO)
    agreeing = f"{answers.count(YES)} of {len(answers)} rows agree in every reading"
    return judged(answers, "; ".join([agreeing, *said]) + ".", "table 1", cells("every surrogate"))


def _liars(results: Results, preset: str) -> Finding:
    found = {lie: data_sets(results, preset, "mq_rbf", "condition", lie) for lie in ("cl_min", "kb")}
    if few(*found.values()):
        return missing("MQ-RBF under CL-min and KB")
    said = [f"{lie}: passes on {Share(passed(ms), len(ms))}" for lie, ms in found.items()]
    for lie in found:
        power = data_sets(results, preset, "mq_rbf_power", "condition", lie)
        if power:
            said.append(f"{lie}, σ the power function: {passed(power)} of {len(power)}")
    answers = [mostly(passed(ms), len(ms)) for ms in found.values()]
    return judged(answers, "; ".join(said) + ".", "table 1", cells("mq_rbf cl_min, kb"))


def _by_seed(one: Iterable[Measurement], two: Iterable[Measurement]) -> list[tuple[Measurement, Measurement]]:
    others = {m.seed: m for m in two}
    return [(m, others[m.seed]) for m in one if m.seed in others]


def _agreement(same: int, of: int) -> str:
    """Yes from 90 %, no below one half, which is chance between two, in part between."""
    return YES if mostly(same, of) == YES else NO if 2 * same < of else PARTLY


def _acquisitions(results: Results, preset: str) -> Finding:
    both = {
        s: _by_seed(data_sets(results, preset, s, u), data_sets(results, preset, s, u, acquisition="ucb"))
        for s, u in (*CONDITIONED, *UNTOLD)
    }
    if min(map(len, both.values())) < MIN_SETS:
        return missing("GP, MQ-RBF, NN and RF under EI and UCB")
    same = {s: sum(verdict_of(ei) == verdict_of(ucb) for ei, ucb in pairs) for s, pairs in both.items()}
    said = [
        f"{NAMES[s]} {Share(same[s], len(pairs))}, mean distance "
        + " and ".join(f"{np.mean([m.fixed.mean_distance for m in ms]):.3g}" for ms in zip(*pairs, strict=True))
        for s, pairs in both.items()
    ]
    answers = [_agreement(same[s], len(both[s])) for s, _ in CONDITIONED]
    answers.append(_agreement(sum(same[s] for s, _ in UNTOLD), sum(len(both[s]) for s, _ in UNTOLD)))
    evidence = f"Same verdict under EI and UCB: {'; '.join(said)}."
    return judged(answers, evidence, "table 8", "figure 19", cells("ei, ucb"))


def _restarts(results: Results, preset: str) -> Finding:
    found = {s: data_sets(results, preset, s, u) for s, u in (*CONDITIONED, *UNTOLD)}
    if few(*found.values()):
        return missing("GP, MQ-RBF, NN and RF")

    def same(ms: Iterable[Measurement]) -> int:
        return sum(is_diverse(m.fixed) == is_diverse(m.random) for m in ms)

    untold = [m for s, _ in UNTOLD for m in found[s]]
    answers = [_agreement(same(found[s]), len(found[s])) for s, _ in CONDITIONED]
    answers.append(_agreement(same(untold), len(untold)))
    sizes = family(
        [
            contrast(NAMES[s], (m.random.mean_distance for m in found[s]), (m.fixed.mean_distance for m in found[s]))
            for s, _ in CONDITIONED
        ]
    )
    answers += [one.equal() for one in sizes]
    classes = ", ".join(f"{NAMES[s]} {same(ms)}/{len(ms)}" for s, ms in found.items())
    shifts = "; ".join(one.text() for one in sizes)
    evidence = f"Parts A and B agree on diverse or not: {classes}. Mean distance, B less A: {shifts}."
    return judged(answers, evidence, "figure 6", cells("fixed, random"))


def _overview(results: Results, preset: str) -> Finding:
    found = {s: results.measurements(preset, s, update=u, **OVERVIEW) for s, u in (*CONDITIONED, *UNTOLD)}
    if few(*found.values()):
        return missing("four surrogates in 2-D")
    shares = {s: Share(diverse(ms, "fixed"), len(ms)) for s, ms in found.items()}
    answers = [mostly(shares[s].hits, shares[s].total) for s, _ in CONDITIONED]
    answers += [NO for s, _ in UNTOLD if shares[s].hits]
    said = ", ".join(f"{NAMES[s]} {share}" for s, share in shares.items())
    return judged(answers, f"Diverse on data sets of Branin: {said}.", "figure 1", "cells: sdd branin n=12 q=3")


_PASSES = 'The share of data sets that "respond and are diverse": yes from 90 %, no up to 10 %.'

CLAIMS = (
    Claim(
        1,
        "The Gaussian process and MQ-RBF pass the Structural Diversity Diagnostic.",
        f"All initial data sets that were run, {MIN_SETS} or more. {_PASSES} A check for each surrogate. {RULE}",
        by_preset(_passing),
        True,
    ),
    Claim(
        2,
        "The diagnostic removes the optimizer's randomness, and nothing else.",
        "Checks: without lie and update the fixed starts give one point (on 90 % of data sets); for each of four "
        "surrogates, 90 % of the starts move and 90 % of the acquisition's maximum is reached (no: less than half for "
        f"either). The maximum is that of a search without derivatives. {RULE}",
        by_preset(_nothing_else),
        True,
    ),
    Claim(
        3,
        "Neural networks and random forests that are not refitted collapse to one point.",
        "Without a refit, the function that is maximized does not change: neither the model nor f⁺ changes, as the lie "
        "of CL-min is the least result. The starts are also the same, whether they are fixed or drawn once, so the "
        "same search gives the same point (Cor. 1). True by algebra, if all distances are exactly zero on every data "
        "set, so that our cells obey it; fails otherwise.",
        by_preset(_collapse),
        True,
    ),
    Claim(
        7,
        "Table 1: which surrogates are compatible with pseudo-observations.",
        "Each reading of a row, on the data sets that have both CL-min and KB: yes if 90 % of them respond and are "
        "diverse, no up to 10 %, limited between; the lie with the lower count decides. A check for each row: yes "
        f"if all its readings give the paper's word, no if none does. {RULE}",
        by_preset(_compatible),
        True,
    ),
    Claim(
        9,
        "MQ-RBF is compatible with the constant liar and with the Kriging believer.",
        f"{_PASSES} A check for CL-min and one for KB. {RULE}",
        by_preset(_liars),
        True,
    ),
    Claim(
        37,
        "Figure 1: on a function of two variables GP and MQ-RBF produce diverse batches of three, while NN and RF "
        "collapse to one location.",
        "Branin, designs of twelve points, CL-min, fixed starts. A check for each of GP and MQ-RBF: the share of data "
        "sets with a diverse batch, yes from 90 %, no up to 10 %. That NN and RF, which are not refitted, collapse is "
        f"true by algebra (claim 3): it counts only if it does not happen, as a no. {RULE}",
        by_preset(_overview),
        True,
    ),
    Claim(
        28,
        "The diagnostic's verdicts are the same under EI and UCB.",
        "On the same data sets, the share with the same of our four verdicts: yes from 90 %, no below a half. Checks: "
        f"GP, MQ-RBF, and NN and RF together. {RULE}",
        by_preset(_acquisitions),
        True,
    ),
    Claim(
        29,
        "Diversity comes from the model: random restarts that are drawn once (part B) leave it as it is.",
        "Checks: diverse or not is the same in parts A and B for GP, for MQ-RBF, and for NN and RF (yes from 90 %, no "
        "below a half); the mean distance of GP and of MQ-RBF is the same: the 90 % bootstrap interval of the shift "
        f"lies within {MARGIN:g} pooled standard deviations, whether or not the difference is significant (no: it lies "
        f"beyond, or reaches beyond and {TESTED}; open: otherwise). {RULE}",
        by_preset(_restarts),
        True,
    ),
)
