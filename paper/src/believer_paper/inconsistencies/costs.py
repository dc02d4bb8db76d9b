"""Inconsistencies of the paper's times with each other or with its text."""

from __future__ import annotations

import math

from believer.report import Plain
from believer_paper.inconsistencies.inconsistency import Inconsistency, PaperCheck, span, spread, standard_error
from believer_paper.numbers import printed, stated

_STEP, _FOREST, _SECONDS, _MINUTES = 1e-4, 1e-3, 1e-2, 60.0
"""The units to which the paper rounds: GP's step and others of Table 3, seconds of Tables 5 and 7, most of Table 13."""


def _conditioning() -> Inconsistency | None:
    gp, neural = printed.TABLE_3["gp"].seconds.mean, printed.TABLE_3["neural"].seconds.mean
    whole, retrained = _seconds("gp", "condition"), _seconds("neural", "refit")
    least = span(neural, _FOREST)[0] / span(gp, _STEP)[1]
    most = span(retrained, _SECONDS)[1] / span(whole, _SECONDS)[0]
    if most >= least:
        return None
    return Inconsistency(
        "conditioning_ratio",
        "contradiction",
        (3, 7),
        ("abstract", "4.3", "7", "E.4"),
        "The cost of retraining the network, in units of GP conditioning, has two values; the one of Table 7 is a "
        "ratio of whole runs of the diagnostic, of which conditioning is a small part.",
        {
            "ratio by Table 3": neural / gp,
            "ratio by Table 7": retrained / whole,
            "two steps of Table 3 / GP's time in Table 7": 2 * gp / whole,
        },
    )


def _re_solving() -> Inconsistency | None:
    ratio = printed.TABLE_3["mq_rbf"].ratio / printed.TABLE_3["gp"].ratio
    other = _seconds("gp", "condition") / _seconds("mq_rbf", "condition")
    if (ratio > 1) == (other > 1):
        return None
    return Inconsistency(
        "re_solving_ratio",
        "beyond the data",
        (3, 7),
        ("4.3", "E.4"),
        "MQ-RBF's step is called some 3000 times faster than retraining, and is the cheapest of Table 3, which times "
        "the step alone; over a whole batch of the diagnostic it gains little of that, and the GP is cheaper.",
        {
            "GP / MQ-RBF by Table 3": ratio,
            "GP / MQ-RBF by Table 7": other,
            "network / MQ-RBF by Table 3": printed.TABLE_3["mq_rbf"].ratio,
            "network / MQ-RBF by Table 7": _seconds("neural", "refit") / _seconds("mq_rbf", "condition"),
        },
    )


def _retraining() -> Inconsistency | None:
    step = printed.TABLE_3["neural"].seconds
    extra = span(_seconds("neural", "refit"), _SECONDS)[0] - span(_seconds("neural", "none"), _SECONDS)[1]
    least = extra / max(stated.BATCH_SIZES)
    if least <= step.mean + 2 * spread(step):
        return None
    return Inconsistency(
        "retraining_seconds",
        "beyond the data",
        (3, 7),
        ("4.3", "E.4"),
        "GP conditioning is called some 250 times faster than retraining, by one measured time of a retraining; the "
        "time in Table 7, with fewer data, is longer even if the batch has q retrainings. Training stops early, so "
        "both may be right, and the ratio belongs to one setting.",
        {
            "seconds by Table 3": step.mean,
            "least seconds by Table 7": least,
            "standard deviation in Table 3": spread(step),
            "data points in Table 3": stated.STEP_N,
            "data points in Table 7": printed.N_INIT["sdd"],
        },
    )


def _prohibitive() -> Inconsistency | None:
    q = max(stated.BATCH_SIZES)
    retraining = (q - 1) * printed.TABLE_3["neural"].seconds.mean
    batch = printed.TABLE_5["cl_min"].seconds or 0.0
    if retraining > batch:
        return None
    return Inconsistency(
        "prohibitive_retraining",
        "beyond the data",
        (3, 5),
        ("3.3", "4.3"),
        "Retraining the network is called prohibitively expensive, but the q - 1 retrainings of a batch take no longer "
        "than a batch of CL-min, of which conditioning is a negligible part.",
        {
            "seconds of q - 1 retrainings": retraining,
            "seconds of a CL-min batch": batch,
            "share of conditioning in it": (q - 1) * printed.TABLE_3["gp"].seconds.mean / batch,
        },
    )


def _loops_and_batches() -> Inconsistency | None:
    batches = math.ceil(printed.BUDGETS["exp10"] / max(stated.BATCH_SIZES))
    numbers: dict[str, Plain] = {"batches, at most": batches}
    longer = []
    for strategy, loop in printed.TABLE_10.items():
        explained = batches * span(printed.TABLE_5[strategy].seconds or 0.0, _SECONDS)[1]
        longer.append(loop.mean - 2 * standard_error(stated.LOOP_TIMING_SEEDS, loop) > explained)
        numbers |= {f"{strategy} seconds of a loop": loop.mean, f"{strategy} seconds of its batches": explained}
    if not all(longer):
        return None
    return Inconsistency(
        "loop_seconds",
        "contradiction",
        (5, 10),
        ("4.3", "4.6", "E.13"),
        "A loop lasts longer than all its batches, although a batch's time includes the fit, the acquisition and the "
        "conditioning, and even if the budget left out the design.",
        numbers,
    )


def _loops_of_experiments() -> Inconsistency | None:
    per_seed = len(stated.BATCH_STRATEGIES) * len(stated.BATCH_SIZES) + 1
    loops = {
        "exp4": per_seed * sum(stated.CONVERGENCE_SEEDS.values()),
        "exp9": len(printed.TABLE_4) * printed.SEEDS["exp9"],
        "exp11": len(printed.TABLE_6) * printed.SEEDS["exp11"],
    }
    seconds = {name: span(printed.TABLE_13[name,].mean, _MINUTES) for name in loops}
    most = seconds["exp4"][1] / loops["exp4"]
    least = min(seconds[name][0] / loops[name] for name in ("exp9", "exp11"))
    if least <= 2 * most:
        return None
    return Inconsistency(
        "seconds_a_loop",
        "contradiction",
        (4, 6, 13),
        ("4.2", "4.5", "4.7", "H"),
        "A loop of Exp 4 takes a fraction of the time of a loop of Exp 9 or 11, which have the same strategies, "
        "problems and budget (Exp 11 adds noise, Exp 9 adds LP).",
        {f"{name} loops": count for name, count in loops.items()}
        | {f"{name} seconds a loop": printed.TABLE_13[name,].mean / loops[name] for name in loops},
    )


def _fastest() -> Inconsistency | None:
    name = stated.SAME_ORDER
    batch = {strategy: span(row.seconds or 0.0, _SECONDS) for strategy, row in printed.TABLE_5.items()}
    loop = {
        strategy: (row.mean, standard_error(stated.LOOP_TIMING_SEEDS, row))
        for strategy, row in printed.TABLE_10.items()
    }
    others = [strategy for strategy in batch if strategy != name]
    slower = [batch[other][0] > batch[name][1] for other in others]
    slower += [loop[o][0] - loop[name][0] > 2 * math.hypot(loop[o][1], loop[name][1]) for o in others]
    if not all(slower):
        return None
    numbers: dict[str, Plain] = {}
    for other in others:
        numbers[f"{other} / q-EI, a batch"] = (printed.TABLE_5[other].seconds or 0.0) / (
            printed.TABLE_5[name].seconds or 1.0
        )
        numbers[f"{other} / q-EI, a loop"] = loop[other][0] / loop[name][0]
    return Inconsistency(
        "joint_is_faster",
        "beyond the data",
        (5, 10),
        ("4.3", "4.6", "6", "E.13"),
        "Greedy conditioning is preferred to joint optimization because it loses little. Times are only said to be of "
        "the same order of magnitude, and exact q-EI to become intractable at q = 10; by both tables, joint q-EI is "
        "the fastest of the three, beyond rounding and two standard errors.",
        numbers,
    )


def _seconds(surrogate: str, update: str) -> float:
    return printed.TABLE_7[surrogate, update].seconds or 0.0


CHECKS: tuple[PaperCheck, ...] = (
    _conditioning,
    _re_solving,
    _retraining,
    _prohibitive,
    _loops_and_batches,
    _loops_of_experiments,
    _fastest,
)
