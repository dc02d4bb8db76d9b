"""Inconsistencies of the paper's distances and its table of surrogates with each other or with its text."""

from __future__ import annotations

import math

from believer_paper.inconsistencies.inconsistency import Inconsistency, PaperCheck, spread
from believer_paper.numbers import printed, stated


def _most_diverse() -> Inconsistency | None:
    name = stated.MAX_DIVERSE
    tables = {5: printed.TABLE_5, 6: printed.TABLE_6}
    ranks = {n: 1 + sum(row.diversity.mean > t[name].diversity.mean for row in t.values()) for n, t in tables.items()}
    if max(ranks.values()) == 1:
        return None
    return Inconsistency(
        "most_diverse",
        "contradiction",
        (5, 6),
        ("4.7", "E.8", "Figure 9"),
        "CL-min is said to maintain the highest diversity throughout on Hartmann-6D; both tables of diversity there "
        "rank it lower, although Exp 11 is said to repeat that experiment with diversity largely unchanged by noise.",
        {f"CL-min's rank in Table {n}, of {len(tables[n])}": rank for n, rank in ranks.items()}
        | {f"Table {n}: {strategy}": t[strategy].diversity.mean for n, t in tables.items() for strategy in t},
    )


def _reinforced() -> Inconsistency | None:
    effects = {lie: shift * stated.EQ_17_MEAN_SIGN for lie, (shift, _) in stated.LIE_EFFECTS.items()}
    if all(effects[lie] == said for lie, (_, said) in stated.LIE_EFFECTS.items()):
        return None
    return Inconsistency(
        "lie_effects",
        "contradiction",
        (5, 6),
        ("C.3", "C.4"),
        "A lower mean is said to reinforce the suppression of EI and a higher one to offset it; Eq. 17 has the "
        "opposite signs, and CL-min's batches are less diverse than KB's, whose mean does not move.",
        {f"{lie}: sign of the mean's term in Eq. 17": effect for lie, effect in effects.items()}
        | {f"{lie}: sign said": said for lie, (_, said) in stated.LIE_EFFECTS.items()}
        | {
            "diversity of CL-min minus KB, Table 5": _diversity(5, "cl_min") - _diversity(5, "kb"),
            "diversity of CL-min minus KB, Table 6": _diversity(6, "cl_min") - _diversity(6, "kb"),
        },
    )


def _spreads() -> Inconsistency | None:
    ratios = {
        strategy: spread(printed.TABLE_5[strategy].diversity) / spread(printed.TABLE_6[strategy].diversity)
        for strategy in ("cl_min", "kb")
    }
    if min(ratios.values()) <= 2:
        return None
    left = printed.BUDGETS["exp10"] - printed.N_INIT["hartmann6"]
    return Inconsistency(
        "diversity_spread",
        "beyond the data",
        (5, 6),
        ("4.6", "4.7"),
        "Diversity is said to be largely unchanged by noise, from the close means of two tables; their spreads "
        "differ several times, by about the root of the number of batches, as if one were over batches and the other "
        "over seeds.",
        {f"{strategy}: spread of Table 5 / Table 6": ratio for strategy, ratio in ratios.items()}
        | {"root of the number of batches": math.sqrt(left / max(stated.BATCH_SIZES))},
    )


def _unit_cube() -> Inconsistency | None:
    largest = max(row.mean for row in printed.TABLE_11.values())
    diameter = math.sqrt(printed.BOXES["levy10"][2])
    if max(largest, printed.Q10_DIVERSITY[1]) <= diameter:
        return None
    return Inconsistency(
        "unit_cube",
        "contradiction",
        (11,),
        ("4", "E.15", "Figure 21"),
        "Diversity is said to be measured in the unit cube; on Levy-10D no distance there can be as large as printed.",
        {
            "largest distance possible": diameter,
            "largest mean of Table 11": largest,
            "distances in the loops, least": printed.Q10_DIVERSITY[0],
            "distances in the loops, largest": printed.Q10_DIVERSITY[1],
        },
    )


def _restarts() -> Inconsistency | None:
    fixed = printed.TABLE_11["gp"].mean
    ratio = printed.Q10_DIVERSITY[0] / fixed
    if ratio <= 2:
        return None
    return Inconsistency(
        "fixed_and_random_starts",
        "beyond the data",
        (11,),
        ("E.3", "E.15", "Figure 21"),
        "Diversity is said to be structural, from a comparison of fixed and random starts in one diagnostic. At q=10 "
        "the GP's batches are several times wider in the loops, which start at random, than in the diagnostic; the "
        "loops also have other data and more of them, so the contribution of the starts is not known.",
        {"GP in the diagnostic": fixed, "least in the loops": printed.Q10_DIVERSITY[0], "ratio": ratio},
    )


def _retrained() -> Inconsistency | None:
    diverse = [name for name in stated.PARAMETRIC if printed.TABLE_7[name, "refit"].diverse]
    if not diverse:
        return None
    return Inconsistency(
        "retrained_parametric",
        "contradiction",
        (7,),
        ("1", "E.4"),
        "Parametric surrogates are said to produce degenerate batches even when fully retrained; some of them do not.",
        {f"least distance: {name}": printed.TABLE_7[name, "refit"].minimum for name in diverse}
        | {"least distance: GP": printed.TABLE_7["gp", "condition"].minimum},
    )


def _fixed_features() -> Inconsistency | None:
    rows = {name: printed.TABLE_1[name] for name in stated.FIXED_FEATURES}
    if len(set(rows.values())) == 1:
        return None
    return Inconsistency(
        "fixed_features",
        "contradiction",
        (1,),
        ("3.1", "3.3"),
        "Both these surrogates are linear in fixed features and update in closed form, which is the definition of "
        "efficient conditioning; their verdicts differ.",
        {name: ", ".join(row) for name, row in rows.items()},
    )


def _agnostic() -> Inconsistency | None:
    refused = [name for name, (_, compatible) in printed.TABLE_1.items() if compatible == "no"]
    if not refused:
        return None
    return Inconsistency(
        "model_agnostic",
        "beyond the data",
        (1,),
        ("4.6",),
        "Greedy conditioning is praised as model-agnostic; by Table 1 it does not work with these surrogates.",
        {"not compatible": ", ".join(refused), "rows of Table 1": len(printed.TABLE_1)},
    )


def _unmeasured() -> Inconsistency | None:
    pairs = [*printed.TABLE_2, *printed.TABLE_7, *printed.TABLE_8]
    measured = {name for name, _ in pairs} | {*printed.TABLE_3, *printed.TABLE_9, *printed.TABLE_11}
    surrogates = [name for name in printed.TABLE_1 if name not in measured]
    used = {acquisition for _, acquisition in printed.TABLE_8}
    acquisitions = [a for a in (*stated.COVERED_ACQUISITIONS, *stated.SIMILAR_ACQUISITIONS) if a not in used]
    if not surrogates and not acquisitions:
        return None
    return Inconsistency(
        "unmeasured",
        "beyond the data",
        (1, 2, 3, 7, 8, 9, 11),
        ("abstract", "1", "C.2"),
        "The experiments are said to validate all predictions; no table measures these surrogates and acquisitions.",
        {"surrogates": ", ".join(surrogates), "acquisitions": ", ".join(acquisitions)},
    )


def _headline() -> Inconsistency | None:
    q, names = max(stated.BATCH_SIZES), ("gp", "mq_rbf")
    one = {name: printed.TABLE_2[name, q].minimum for name in names}
    same = [printed.TABLE_7[n, "condition"].minimum == printed.TABLE_8[n, "ei"].minimum == one[n] for n in names]
    many = {name: printed.TABLE_9[name].minimum for name in names}
    sets = printed.SEEDS["exp8"]
    lead, usual = one["gp"] - one["mq_rbf"], many["gp"].mean - many["mq_rbf"].mean
    away = {name: (one[name] - many[name].mean) / spread(many[name]) for name in names}
    if not all(same) or lead * usual > 0 or min(map(abs, away.values())) < 1:
        return None
    return Inconsistency(
        "headline_data_set",
        "beyond the data",
        (2, 7, 8, 9),
        ("4.1", "E.4", "E.5", "E.6"),
        "Tables 2, 7 and 8 show one data set, and it is an unusual one: MQ-RBF's batch is wider there, while the GP's "
        "is wider over the five of Table 9, and each surrogate's distance is a standard deviation or more from its "
        "mean. If the spread divides by n - 1, no member of a sample is farther from its mean than the last number.",
        {f"{name}: least distance shown": one[name] for name in names}
        | {f"{name}: mean over five": many[name].mean for name in names}
        | {f"{name}: standard deviations from it": away[name] for name in names}
        | {"most that one of five can be": (sets - 1) / math.sqrt(sets)},
    )


def _noisy_diagnostic() -> Inconsistency | None:
    shown = set(stated.DIAGNOSTIC_VARIED.values())
    missing = [what for what in stated.DIAGNOSTIC_ROBUST_TO if what not in shown]
    if not missing:
        return None
    return Inconsistency(
        "noisy_diagnostic",
        "beyond the data",
        (),
        ("4.7", "7"),
        "The diagnostic is said to be robust across these settings; its tables do not vary all of them, and the "
        "experiment with noise consists of whole loops from random starts.",
        {"said": ", ".join(stated.DIAGNOSTIC_ROBUST_TO), "varied by no table of the diagnostic": ", ".join(missing)},
    )


def _diversity(table: int, strategy: str) -> float:
    return (printed.TABLE_5 if table == 5 else printed.TABLE_6)[strategy].diversity.mean


CHECKS: tuple[PaperCheck, ...] = (
    _most_diverse,
    _reinforced,
    _spreads,
    _unit_cube,
    _restarts,
    _retrained,
    _fixed_features,
    _agnostic,
    _unmeasured,
    _headline,
    _noisy_diagnostic,
)
