"""Inconsistencies of the paper's settings and formulas with each other or with its text."""

from __future__ import annotations

import math

import numpy as np

from believer.acquisitions import EI, PI, UCB, PerPoint
from believer_paper.inconsistencies.inconsistency import Inconsistency, PaperCheck
from believer_paper.numbers import printed, stated


def _design() -> Inconsistency | None:
    sizes = {
        "SVM tuning": (stated.SVM_DIMENSION, printed.N_INIT["svm_breast_cancer"]),
        "Table 11": (printed.BOXES["levy10"][2], printed.N_INIT["sdd"]),
    }
    wrong = {name: (stated.DESIGN_PER_DIMENSION * d, n) for name, (d, n) in sizes.items()}
    wrong = {name: (rule, n) for name, (rule, n) in wrong.items() if rule != n}
    if not wrong:
        return None
    return Inconsistency(
        "design_size",
        "contradiction",
        (11,),
        ("4.4", "E.15", "G"),
        "The initial design is said to have 2d points except in Exp 3; other experiments say otherwise.",
        {f"{name}: 2d": rule for name, (rule, _) in wrong.items()}
        | {f"{name}: printed": n for name, (_, n) in wrong.items()},
    )


def _repeated_rows() -> Inconsistency | None:
    q, n = max(stated.BATCH_SIZES), printed.N_INIT["sdd"]
    rule = stated.DESIGN_PER_DIMENSION * printed.BOXES["hartmann6"][2]
    names = ("gp", "mq_rbf")
    first = [(row.minimum, row.mean) for row in (printed.TABLE_2[name, q] for name in names)]
    seventh = [(row.minimum, row.mean) for row in (printed.TABLE_7[name, "condition"] for name in names)]
    eighth = [(row.minimum, row.mean) for row in (printed.TABLE_8[name, "ei"] for name in names)]
    if rule == n or not first == seventh == eighth:
        return None
    return Inconsistency(
        "repeated_rows",
        "contradiction",
        (2, 7, 8),
        ("4.1", "G"),
        "Only Exp 3 is said to depart from a design of 2d points, yet Exp 7a and 7b print Exp 3's distances to the "
        "last digit, so they had its design.",
        {"2d": rule, "points in Exp 3": n, "GP's least distance in all three": first[0][0]},
    )


def _noise() -> Inconsistency | None:
    variance = stated.NOISE_STD**2
    if math.isclose(variance, stated.NOISE_VARIANCE):
        return None
    return Inconsistency(
        "noise_variance",
        "beyond the data",
        (6, 12),
        ("abstract", "4.7", "F"),
        "Robustness under noise is said to be confirmed; by the printed settings, the GP's noise variance is fixed far "
        "below the noise of Exp 11, and no other setting is printed for that experiment.",
        {
            "noise variance of the GP": stated.NOISE_VARIANCE,
            "noise variance of Exp 11, of the design's": variance,
            "ratio": variance / stated.NOISE_VARIANCE,
        },
    )


def _probability() -> Inconsistency | None:
    values = {name: _one_below(name) for name in stated.COVERED_ACQUISITIONS}
    falling = {name: pair for name, pair in values.items() if pair[1] < pair[0]}
    if not falling:
        return None
    return Inconsistency(
        "probability_of_improvement",
        "contradiction",
        (),
        ("3.4", "B.3"),
        "Proposition 3 requires an acquisition that does not fall as sigma grows, and names EI, UCB and PI; one of "
        "them falls where the mean is better than the incumbent, in this example by 1.",
        {f"{name}, sigma {s}": value for name, pair in falling.items() for s, value in zip((1, 2), pair, strict=True)},
    )


def _one_below(name: str) -> tuple[float, float]:
    """An acquisition where the mean is 1 below the incumbent, for sigma 1 and 2."""
    members: dict[str, PerPoint] = {"ei": EI(), "ucb": UCB(stated.UCB_BETA), "pi": PI()}
    values = members[name].pointwise(np.full(2, -1.0), np.array([1.0, 2.0]), 0.0).value
    return float(values[0]), float(values[1])


def _power_function() -> Inconsistency | None:
    radicand = 1.0 - 2.0 ** (2.0 * stated.MULTIQUADRIC_POWER)
    if radicand >= 0:
        return None
    return Inconsistency(
        "power_function",
        "contradiction",
        (12,),
        ("D", "F"),
        "MQ-RBF's sigma is said to be precisely the power function; the square of that is negative for this basis, "
        "as with one center at the distance of the spread, and only the bars of the absolute value hide it.",
        {"squared power function there": radicand},
    )


def _lipschitz() -> Inconsistency | None:
    if stated.LIPSCHITZ in stated.LP_PENALTY:
        return None
    return Inconsistency(
        "lipschitz",
        "beyond the data",
        (4,),
        ("3.5", "4.5"),
        "CL and KB are said to be at least as effective as LP while needing no Lipschitz constant; the LP that they "
        "are compared with has none either.",
        {"the penalty is made of": ", ".join(stated.LP_PENALTY)},
    )


def _decay() -> Inconsistency | None:
    if min(stated.KERNEL_DECAY, 2 * stated.KERNEL_DECAY) == stated.EI_DECAY:
        return None
    return Inconsistency(
        "suppression_decay",
        "contradiction",
        (),
        ("3.2", "C.4"),
        "The change of EI is said to fall as the squared kernel; its mean term falls as the kernel itself, by Eq. 1, "
        "and dominates far away.",
        {
            "mean's term two lengthscales away": math.exp(-4 * stated.KERNEL_DECAY),
            "as said": math.exp(-4 * stated.EI_DECAY),
        },
    )


def _log_penalty() -> Inconsistency | None:
    if sorted(stated.LOG_PENALTY_VARIANCES) == sorted(stated.EQ_4_VARIANCES):
        return None
    return Inconsistency(
        "log_penalty",
        "contradiction",
        (),
        ("3.5", "C.5"),
        "The penalty divides by the variances of both points of a pair; its logarithm divides by one of them twice.",
        {"Eq. 4": ", ".join(stated.EQ_4_VARIANCES), "logarithm": ", ".join(stated.LOG_PENALTY_VARIANCES)},
    )


def _refits() -> Inconsistency | None:
    refitted = printed.TABLE_7["neural", "refit"]
    if stated.LINE_3_FITS == stated.FITS_SAID:
        return None
    q = max(stated.BATCH_SIZES)
    return Inconsistency(
        "algorithm_refits",
        "contradiction",
        (7,),
        ("2.2", "3.2", "3.4", "4.3", "6"),
        "Algorithm 1 fits the surrogate for every member of a batch, also to the lies; the analysis keeps "
        "hyperparameters fixed within a batch, and the times are those of one fit per batch. Corollary 1 says that "
        "with the same algorithm a network repeats its point, but fitted by line 3, the network of Table 7 does not.",
        {
            f"fits a batch by line 3, q={q}": q,
            "fits a batch by the footnote of 4.3": 1,
            "least distance of the network, fitted on lies": refitted.minimum,
        },
    )


def _fixed_mean() -> Inconsistency | None:
    moved = [lie for lie in stated.PROPOSITION_1_LIES if lie not in stated.UNMOVED_MEAN]
    if not moved or stated.MONOTONE_AT != "fixed mean":
        return None
    return Inconsistency(
        "fixed_mean",
        "beyond the data",
        (),
        ("3.4", "3.7", "B.1"),
        "Proposition 1 is said to hold with CL; its proof needs an acquisition that falls with sigma at a fixed mean, "
        "but every CL moves the mean.",
        {"lies of Proposition 1": ", ".join(stated.PROPOSITION_1_LIES), "that move the mean": ", ".join(moved)},
    )


def _diminishing() -> Inconsistency | None:
    if stated.DIMINISHING in stated.PROPOSITION_2:
        return None
    return Inconsistency(
        "diminishing_returns",
        "beyond the data",
        (),
        ("3.4", "6", "E.15"),
        "Returns are said to diminish for later members of a batch as predicted by Proposition 2; its radius does not "
        "depend on the number of members, and says nothing about returns.",
        {"the radius is made of": ", ".join(stated.PROPOSITION_2)},
    )


CHECKS: tuple[PaperCheck, ...] = (
    _design,
    _repeated_rows,
    _noise,
    _probability,
    _power_function,
    _lipschitz,
    _decay,
    _log_penalty,
    _refits,
    _fixed_mean,
    _diminishing,
)
