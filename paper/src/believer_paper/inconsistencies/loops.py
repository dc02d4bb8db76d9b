"""Inconsistencies of the paper's final values and tests with each other or with its text."""

from __future__ import annotations

import math

from believer.report import Plain
from believer_paper.inconsistencies.inconsistency import Inconsistency, PaperCheck, span, spread, standard_error
from believer_paper.numbers import printed, stated

_BOTH = ("cl_min", "kb")
_TENTH = 0.1
"""The unit to which the final values at q=10 and their stated ratio are rounded."""


def _reversed_order() -> Inconsistency | None:
    q, seeds = max(stated.BATCH_SIZES), printed.SEEDS["exp9"]
    here = [printed.TABLE_4[strategy, q, "hartmann6"] for strategy in _BOTH]
    there = [printed.TABLE_5[strategy].final for strategy in _BOTH]
    lead, other = here[0].mean - here[1].mean, there[0].mean - there[1].mean
    errors = abs(lead - other) / standard_error(seeds, *here, *there)
    if lead * other >= 0 or errors <= 2:
        return None
    return Inconsistency(
        "reversed_order",
        "beyond the data",
        (4, 5),
        ("4.5", "4.6"),
        "CL-min is ahead of KB in one table and behind in the other on the same problem. The text calls this noise, by "
        "the spread of single runs; by the standard error of the means, taken as independent, it is more than noise. "
        "Seeds and software also differ, and may be the cause.",
        {
            "CL-min minus KB, Table 4": lead,
            "CL-min minus KB, Table 5": other,
            "spread of a run by the text, least": printed.FINAL_SPREAD[0],
            "spread of a run by the text, largest": printed.FINAL_SPREAD[1],
            "standard errors between the two": errors,
        },
    )


def _best_values() -> Inconsistency | None:
    numbers = {}
    for problem in sorted({problem for _, _, problem in printed.TABLE_4}):
        finals = {key[0]: math.inf for key in printed.TABLE_4}
        for (strategy, _, name), value in printed.TABLE_4.items():
            if name == problem:
                finals[strategy] = min(finals[strategy], value.mean)
        best = min(finals, key=finals.__getitem__)
        if best not in stated.BEST_STRATEGIES:
            numbers[f"{problem}: {best}"] = finals[best]
            numbers[f"{problem}: best of CL-min and KB"] = min(finals[one] for one in stated.BEST_STRATEGIES)
    if not numbers:
        return None
    return Inconsistency(
        "best_values",
        "beyond the data",
        (4,),
        ("4.5",),
        "CL-min and KB are said to achieve the best final values. Among them and LP, which the sentence compares, they "
        "do, but the table has a better value in another row.",
        numbers,
    )


def _noise() -> Inconsistency | None:
    q = max(stated.BATCH_SIZES)
    noisy = {strategy: printed.TABLE_6[strategy].final.mean for strategy in _BOTH}
    clean = {
        "Table 4": {strategy: printed.TABLE_4[strategy, q, "hartmann6"].mean for strategy in _BOTH},
        "Table 5": {strategy: printed.TABLE_5[strategy].final.mean for strategy in _BOTH},
    }
    better = {table: [s for s in _BOTH if noisy[s] < values[s]] for table, values in clean.items()}
    if not all(better.values()):
        return None
    return Inconsistency(
        "noise_degrades",
        "contradiction",
        (4, 5, 6),
        ("4.7",),
        "Convergence is said to degrade slightly under noise, but whichever table without noise is taken, one of "
        "CL-min and KB ends better with noise.",
        {
            f"{strategy}: noisy minus {table}": noisy[strategy] - values[strategy]
            for table, values in clean.items()
            for strategy in _BOTH
        },
    )


def _gains() -> Inconsistency | None:
    by_final = sorted(printed.TABLE_6, key=lambda strategy: printed.TABLE_6[strategy].final.mean)
    by_diversity = sorted(printed.TABLE_6, key=lambda strategy: printed.TABLE_6[strategy].diversity.mean)
    if by_final != by_diversity:
        return None
    return Inconsistency(
        "diversity_drives_gains",
        "beyond the data",
        (6,),
        ("4.7", "E.15"),
        "Batch diversity is said to drive the gains over random; in the table that has both for random batches, the "
        "less diverse strategy always ends better.",
        {f"{name}: final": printed.TABLE_6[name].final.mean for name in by_final}
        | {f"{name}: diversity": printed.TABLE_6[name].diversity.mean for name in by_final},
    )


def _svm() -> Inconsistency | None:
    best, random = printed.SVM["cl_min"], printed.SVM["random"]
    gap = random.mean - best.mean
    if gap >= min(spread(best), spread(random)):
        return None
    return Inconsistency(
        "svm_spread",
        "beyond the data",
        (),
        ("4.4",),
        "The difference against sequential is said to be within one standard deviation; the text leaves out that the "
        "one against random is, too.",
        {
            "random minus CL-min": gap,
            "smaller of the two spreads": min(spread(best), spread(random)),
            "difference in samples": gap * printed.SVM_SAMPLES,
            "difference in standard errors": gap / standard_error(printed.SEEDS["exp6"], best, random),
        },
    )


def _levy_test() -> Inconsistency | None:
    seeds = stated.CONVERGENCE_SEEDS["levy10"]
    least = 2.0 ** (1 - seeds)
    claimed = printed.WILCOXON["cl_min", "random"]
    if least < claimed.mean:
        return None
    return Inconsistency(
        "levy_p_value",
        "beyond the data",
        (),
        ("4.2",),
        f"Similar patterns are said to hold across benchmarks; on Levy-10D they cannot include p < {claimed.mean:g}, "
        f"which the two-sided signed-rank test does not reach with {seeds} seeds.",
        {"least p value": least, "p value of the pattern, below": claimed.mean},
    )


def _random_rows() -> Inconsistency | None:
    problems = sorted({problem for _, _, problem in printed.TABLE_4})
    rows = {problem: [printed.TABLE_4["random", q, problem] for q in stated.BATCH_SIZES] for problem in problems}
    if any(len({(row.mean, row.std) for row in those}) > 1 for those in rows.values()):
        return None
    return Inconsistency(
        "random_rows",
        "beyond the data",
        (4,),
        ("4.5",),
        "Random batches of two and of three have the same mean and the same spread, to the last digit, on both "
        "problems: one set of draws is printed twice, and statements on both batch sizes rest on one random baseline.",
        {f"{problem}: random at every q": f"{those[0].mean} ± {spread(those[0])}" for problem, those in rows.items()},
    )


def _over_random() -> Inconsistency | None:
    random, (least, most) = printed.Q10_FINAL["random"], printed.Q10_OVER_RANDOM
    finals = {name: printed.Q10_FINAL[name] for name in _BOTH}
    ratios = {
        name: tuple(span(random.mean, _TENTH)[i] / span(value.mean, _TENTH)[1 - i] for i in (0, 1))
        for name, value in finals.items()
    }
    if all(high >= least - _TENTH / 2 and low <= most + _TENTH / 2 for low, high in ratios.values()):
        return None
    return Inconsistency(
        "over_random",
        "beyond the data",
        (),
        ("E.15",),
        "CL-min and KB are said to end 2 to 2.2 times lower than random at q=10; by the values in the same sentence "
        "the smaller of the two ratios is 1.9 to one decimal, for any values before rounding.",
        {f"random / {name}": random.mean / value.mean for name, value in finals.items()}
        | {f"random / {name}, at most": high for name, (_, high) in ratios.items()}
        | {"said, least": least, "said, largest": most},
    )


def _near_sequential() -> Inconsistency | None:
    numbers: dict[str, Plain] = {}
    for (strategy, q, problem), value in printed.TABLE_4.items():
        other = printed.TABLE_4["sequential", 1, problem]
        if strategy in stated.NEAR_SEQUENTIAL:
            errors = (value.mean - other.mean) / standard_error(printed.SEEDS["exp9"], value, other)
            if errors > 2:
                numbers[f"{strategy}, q={q}, {problem}: minus sequential"] = value.mean - other.mean
                numbers[f"{strategy}, q={q}, {problem}: in standard errors"] = errors
    if not numbers:
        return None
    return Inconsistency(
        "near_sequential",
        "beyond the data",
        (4,),
        ("4.2", "4.5", "E.7"),
        "CL-min and KB are said to be near-sequential at equal evaluations, on Ackley-8D as well; in the only table "
        "with sequential runs, these end worse by more than two standard errors of the means, taken as independent.",
        numbers,
    )


def _compared_problems() -> Inconsistency | None:
    against = {
        "Local Penalization": {problem for strategy, _, problem in printed.TABLE_4 if strategy == "lp"},
        "joint q-EI": {"hartmann6"} if "qei" in printed.TABLE_5 else set(),
    }
    if all(seen >= set(stated.TASKS) for seen in against.values()):
        return None
    return Inconsistency(
        "compared_problems",
        "beyond the data",
        (4, 5),
        ("abstract", "4.5", "4.6", "7"),
        "Experiments on four tasks are said to validate that CL and KB match or beat Local Penalization, across "
        "benchmarks, and are on par with joint q-EI; each rival was run on some of the four only.",
        {"tasks": ", ".join(stated.TASKS)}
        | {f"{rival} was run on": ", ".join(sorted(seen)) for rival, seen in against.items()},
    )


CHECKS: tuple[PaperCheck, ...] = (
    _reversed_order,
    _best_values,
    _noise,
    _gains,
    _svm,
    _levy_test,
    _random_rows,
    _over_random,
    _near_sequential,
    _compared_problems,
)
