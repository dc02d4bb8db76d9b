"""The numbers that the paper prints, as data, with which ours are compared. Nothing here is measured or computed.

``TABLE_1`` to ``TABLE_13`` are the paper's tables, numbered as in its source, followed by numbers from its text. Keys
are the words of our cells, so that a table or figure can look up a number by the settings of its cells:

    TABLE_2["gp", 3].minimum                 0.157          (surrogate, q)
    TABLE_4["cl_min", 3, "hartmann6"].mean   -3.02          (strategy, q, problem); sequential has q=1
    TABLE_5["kb"].final.std                  0.29           strategy
    TABLE_7["neural", "refit"].seconds       0.60           (surrogate, update)
    TABLE_8["gp", "ucb"].mean                0.206          (surrogate, acquisition)
    Q10_FINAL["random"].mean                 23.9           strategy
    TABLE_13["exp7a", "exp7b"].mean          5.0            seconds, by the experiments that a row covers
    Q10_FINAL.get("lp")                      None           what the paper does not print has no key

Surrogates: gp, mq_rbf, neural, forest (Table 1 also fixed_rbf, last_layer, svr, sparse_gp). Updates: condition, refit,
none. Problems: hartmann6, ackley8, levy10, svm_breast_cancer. Distances are as printed: of Hartmann's box, which is the
unit cube; those of Levy's tables and text are too large for a unit cube and are taken to be of its box [-10, 10]^10.
Sections are numbered, and appendices lettered, as LaTeX does it from the source. Settings and words: ``stated``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Printed:
    """A mean and its standard deviation; None if no spread is printed. bound: whether "<" is printed before the mean.

    n: the number of seeds or data sets; None if it is one, or if the paper does not say.
    """

    mean: float
    std: float | None = None
    bound: bool = False
    n: int | None = None


@dataclass(frozen=True, slots=True)
class Distances:
    """The least and the mean distance of a batch's pairs, "Diverse?", and seconds; None if that is not printed."""

    minimum: float
    mean: float
    diverse: bool | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class PrintedStep:
    """The seconds of a conditioning or retraining step, and the ratio of the network's retraining to them."""

    seconds: Printed
    ratio: float


@dataclass(frozen=True, slots=True)
class LoopRow:
    """Final best, mean pairwise distance, and seconds a batch (None in Table 6)."""

    final: Printed
    diversity: Printed
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Robustness:
    """A row of Table 9: the number of initial data sets on which the batch was diverse, and the least distance."""

    diverse: int
    datasets: int
    minimum: Printed


def _over(n: int, values: Mapping[Key, Printed]) -> dict[Key, Printed]:
    """The same values, each over ``n`` seeds."""
    return {key: replace(value, n=n) for key, value in values.items()}


def _rows_over(n: int, rows: Mapping[Key, LoopRow]) -> dict[Key, LoopRow]:
    return {
        key: replace(row, final=replace(row.final, n=n), diversity=replace(row.diversity, n=n))
        for key, row in rows.items()
    }


TABLE_1: Mapping[str, tuple[str, str]] = {
    "gp": ("yes", "yes"),
    "mq_rbf": ("yes", "yes"),
    "fixed_rbf": ("no", "no"),
    "neural": ("no", "no"),
    "last_layer": ("partial", "limited"),
    "forest": ("no", "no"),
    "svr": ("no", "no"),
    "sparse_gp": ("partial", "limited"),
}
"""Efficient conditioning (yes, partial, no) and "CL/KB compatible" (yes, limited, no), by surrogate (section 3.3)."""

TABLE_2: Mapping[tuple[str, int], Distances] = {
    ("gp", 2): Distances(0.300, 0.300, True),
    ("mq_rbf", 2): Distances(0.421, 0.421, True),
    ("neural", 2): Distances(0.0, 0.0, False),
    ("forest", 2): Distances(0.0, 0.0, False),
    ("gp", 3): Distances(0.157, 0.209, True),
    ("mq_rbf", 3): Distances(0.421, 0.909, True),
    ("neural", 3): Distances(0.0, 0.0, False),
    ("forest", 3): Distances(0.0, 0.0, False),
}
"""The SDD on Hartmann-6D, n=30, by (surrogate, q) (section 4.1)."""

TABLE_3: Mapping[str, PrintedStep] = {
    "gp": PrintedStep(Printed(0.0004, 0.0002), 253.0),
    "mq_rbf": PrintedStep(Printed(0.0001, bound=True), 3124.0),
    "neural": PrintedStep(Printed(0.103, 0.028), 1.0),
    "forest": PrintedStep(Printed(0.058, 0.003), 1.8),
}
"""One step, n=50, d=6, q=3, by surrogate: GP conditioned, MQ-RBF re-solved, network retrained, forest rebuilt (4.3)."""

TABLE_4: Mapping[tuple[str, int, str], Printed] = _over(
    20,
    {
        ("cl_min", 2, "hartmann6"): Printed(-3.08, 0.32),
        ("cl_min", 2, "ackley8"): Printed(4.34, 0.76),
        ("kb", 2, "hartmann6"): Printed(-2.97, 0.25),
        ("kb", 2, "ackley8"): Printed(4.23, 0.84),
        ("lp", 2, "hartmann6"): Printed(-2.79, 0.28),
        ("lp", 2, "ackley8"): Printed(4.79, 0.82),
        ("random", 2, "hartmann6"): Printed(-1.91, 0.31),
        ("random", 2, "ackley8"): Printed(7.11, 0.72),
        ("cl_min", 3, "hartmann6"): Printed(-3.02, 0.30),
        ("cl_min", 3, "ackley8"): Printed(4.60, 1.02),
        ("kb", 3, "hartmann6"): Printed(-2.83, 0.41),
        ("kb", 3, "ackley8"): Printed(4.99, 0.93),
        ("lp", 3, "hartmann6"): Printed(-2.60, 0.50),
        ("lp", 3, "ackley8"): Printed(5.20, 0.87),
        ("random", 3, "hartmann6"): Printed(-1.91, 0.31),
        ("random", 3, "ackley8"): Printed(7.11, 0.72),
        ("sequential", 1, "hartmann6"): Printed(-2.98, 0.34),
        ("sequential", 1, "ackley8"): Printed(4.08, 1.23),
    },
)
"""Final best over 20 seeds by (strategy, q, problem), scikit-learn's GP (section 4.5)."""

TABLE_5: Mapping[str, LoopRow] = _rows_over(
    20,
    {
        "cl_min": LoopRow(Printed(-2.74, 0.54), Printed(0.79, 0.35), 0.22),
        "kb": LoopRow(Printed(-2.99, 0.29), Printed(0.95, 0.32), 0.16),
        "qei": LoopRow(Printed(-2.97, 0.39), Printed(0.95, 0.25), 0.09),
    },
)
"""Hartmann-6D, q=3, 20 seeds, BoTorch's GP, by strategy (section 4.6)."""

TABLE_6: Mapping[str, LoopRow] = _rows_over(
    20,
    {
        "cl_min": LoopRow(Printed(-2.95, 0.29), Printed(0.74, 0.12)),
        "kb": LoopRow(Printed(-2.90, 0.50), Printed(0.95, 0.07)),
        "random": LoopRow(Printed(-1.88, 0.35), Printed(0.97, 0.04)),
    },
)
"""Noisy Hartmann-6D, q=3, 20 seeds, by strategy (section 4.7)."""

TABLE_7: Mapping[tuple[str, str], Distances] = {
    ("gp", "condition"): Distances(0.157, 0.209, True, 0.04),
    ("mq_rbf", "condition"): Distances(0.421, 0.909, True, 0.09),
    ("neural", "none"): Distances(0.0, 0.0, False, 0.02),
    ("neural", "refit"): Distances(0.378, 0.477, True, 0.60),
    ("forest", "none"): Distances(0.0, 0.0, False, 0.26),
    ("forest", "refit"): Distances(0.0, 0.0, False, 0.39),
}
"""The SDD with retrained surrogates, Hartmann-6D, q=3, by (surrogate, update) (appendix E.4)."""

TABLE_8: Mapping[tuple[str, str], Distances] = {
    ("gp", "ei"): Distances(0.157, 0.209),
    ("gp", "ucb"): Distances(0.169, 0.206),
    ("mq_rbf", "ei"): Distances(0.421, 0.909),
    ("mq_rbf", "ucb"): Distances(0.422, 0.907),
    ("neural", "ei"): Distances(0.0, 0.0),
    ("neural", "ucb"): Distances(0.0, 0.0),
    ("forest", "ei"): Distances(0.0, 0.0),
    ("forest", "ucb"): Distances(0.0, 0.0),
}
"""The SDD with EI and with UCB (beta=2), Hartmann-6D, q=3, by (surrogate, acquisition) (appendix E.5)."""

TABLE_9: Mapping[str, Robustness] = {
    "gp": Robustness(5, 5, Printed(0.480, 0.314, n=5)),
    "mq_rbf": Robustness(5, 5, Printed(0.287, 0.073, n=5)),
    "neural": Robustness(0, 5, Printed(0.0, 0.0, n=5)),
    "forest": Robustness(0, 5, Printed(0.0, 0.0, n=5)),
}
"""The SDD over five initial data sets, Hartmann-6D, q=3, by surrogate (appendix E.6). All are "consistent"."""

TABLE_10: Mapping[str, Printed] = _over(
    5,
    {
        "cl_min": Printed(5.34, 1.19),
        "kb": Printed(4.35, 1.03),
        "qei": Printed(2.91, 0.31),
    },
)
"""Seconds of a whole loop, Hartmann-6D, q=3, budget 50, five seeds, by strategy (appendix E.13)."""

TABLE_11: Mapping[str, Distances] = {
    "gp": Distances(0.459, 3.402, True),
    "mq_rbf": Distances(3.743, 11.712, True),
    "neural": Distances(0.0, 0.0, False),
    "forest": Distances(0.0, 0.0, False),
}
"""The SDD at q=10 on Levy-10D, n=30, by surrogate (appendix E.15)."""

TABLE_12: Mapping[tuple[str, str], str] = {
    ("gp", "kernel"): "Matérn ν = 2.5 (ARD)",
    ("gp", "signal variance"): "optimized, init = 1.0, bounds [1e-3, 1e3]",
    ("gp", "lengthscale"): "optimized per dimension, init = 1.0, bounds [1e-2, 1e2]",
    ("gp", "noise variance"): "1e-6 (fixed)",
    ("gp", "optimizer restarts"): "5",
    ("gp", "normalize y"): "yes",
    ("mq_rbf", "basis function"): "multiquadric, sqrt(1 + r²/ε²)",
    ("mq_rbf", "spread ε"): "median pairwise distance",
    ("mq_rbf", "regularization"): "1e-4",
    ("mq_rbf", "centers"): "data-dependent",
    ("neural", "architecture"): "2 x 64 hidden, ReLU, 10 networks",
    ("neural", "max iterations"): "2000, adaptive LR, early stopping",
    ("forest", "trees"): "200, min leaf = 2",
    ("acquisition", "function"): "EI (ξ = 0.01), L-BFGS-B, 10 restarts",
    ("acquisition", "SDD fixed starts"): "[0.2, 0.5, 0.8]^d",
}
"""Settings by (surrogate or "acquisition", parameter), in the paper's words (appendix F)."""

TABLE_13: Mapping[tuple[str, ...], Printed] = {
    ("exp1", "exp2"): Printed(1.0, bound=True),
    ("exp3",): Printed(5.0),
    ("exp4",): Printed(13 * 60.0),
    ("exp5",): Printed(17.0),
    ("exp6",): Printed(2 * 60.0),
    ("exp7a", "exp7b"): Printed(5.0),
    ("exp8",): Printed(4.0),
    ("exp9",): Printed(38 * 60.0),
    ("exp10",): Printed(4 * 60.0),
    ("exp11",): Printed(5 * 60.0),
    ("exp12",): Printed(66 * 60.0),
}
"""Seconds by the experiments that a row covers, all but the first "about" so much (appendix H)."""

TOTAL_SECONDS = 128 * 60.0
"""The last row of Table 13: about 128 minutes."""

WILCOXON: Mapping[tuple[str, str], Printed] = {
    ("cl_min", "kb"): Printed(0.37),
    ("cl_min", "random"): Printed(0.001, bound=True),
    ("kb", "random"): Printed(0.001, bound=True),
}
"""P values on Hartmann-6D, q=3, 20 seeds, by the pair of strategies (section 4.2, the footnote)."""

NOISY_WILCOXON = Printed(0.001, bound=True)
"""The p value of CL-min and KB against random under noise (section 4.7)."""

SVM: Mapping[str, Printed] = _over(
    10,
    {
        "cl_min": Printed(0.0188, 0.0014),
        "sequential": Printed(0.0193, 0.0008),
        "random": Printed(0.0197, 0.0015),
    },
)
"""Final error of SVM tuning, q=2, 10 seeds, by strategy (section 4.4)."""

SVM_SAMPLES = 569
"""Samples of the breast cancer data (section 4.4)."""

Q10_FINAL: Mapping[str, Printed] = _over(
    20,
    {
        "cl_min": Printed(10.7, 6.3),
        "kb": Printed(12.4, 7.4),
        "random": Printed(23.9, 6.2),
        "sequential": Printed(4.7, 4.3),
    },
)
"""Final best on Levy-10D after 150 evaluations, q=10, 20 seeds, by strategy (appendix E.15)."""

Q10_SEQUENTIAL_AT_15 = 35.0
"""The approximate best value of sequential after 15 evaluations (appendix E.15)."""

Q10_OVER_RANDOM = (2.0, 2.2)
"""The factors by which KB and CL-min are said to be better than random at q=10 (appendix E.15)."""

Q10_DIVERSITY = (20.0, 28.0)
"""The range of a batch's mean pairwise distance in the loops at q=10 (appendix E.15)."""

DISTINCT = 0.001
"""The least distance of a batch that is not degenerate (appendix E.15)."""

SUPPRESSION_RADIUS = 0.83
"""The radius in lengthscales within which half of the variance is removed, at low noise (appendix B.2)."""

COST_RATIOS: Mapping[str, float] = {"retrained": 15.0, "gp": 250.0, "mq_rbf": 3000.0}
"""Cost ratios to the retrained network: of the SDD (abstract, E.4), of a step by GP and by MQ-RBF (4.3)."""

FINAL_SPREAD = (0.29, 0.54)
"""The range of the standard deviations within a method, said of Tables 4 and 5 (section 4.6 and its footnote)."""

BUDGETS: Mapping[str, int] = {"exp4": 50, "exp6": 30, "exp9": 50, "exp10": 50, "exp11": 50, "exp12": 150}
"""Evaluations of a loop (appendix G)."""

SEEDS: Mapping[str, int] = {"exp4": 20, "exp6": 10, "exp8": 5, "exp9": 20, "exp10": 20, "exp11": 20, "exp12": 20}
"""Seeds of an experiment; Levy-10D in Exp 4 has 10, the timing of Exp 10 has 5 (section 4, appendix E)."""

BOXES: Mapping[str, tuple[float, float, int]] = {
    "hartmann6": (0.0, 1.0, 6),
    "ackley8": (-5.0, 5.0, 8),
    "levy10": (-10.0, 10.0, 10),
}
"""Each side's low and high, and the dimension (appendix G)."""

N_INIT: Mapping[str, int] = {"hartmann6": 12, "ackley8": 16, "levy10": 20, "svm_breast_cancer": 10, "sdd": 30}
"""Points of the initial design: 2d for the functions (section 4.2, appendix G), as printed for the others."""
