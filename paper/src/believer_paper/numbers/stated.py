"""The paper's statements other than its results, as data: settings in its text, and remarks on its numbers.

``printed`` holds the results themselves, which are checked against these statements. Nothing is measured or computed.
"""

from __future__ import annotations

from collections.abc import Mapping

BATCH_STRATEGIES = ("cl_min", "cl_max", "cl_mean", "kb", "random")
"""Strategies of Exp 4 besides sequential (section 4.2)."""

BATCH_SIZES = (2, 3)
"""Batch sizes of Exp 4 and 9 (sections 4.2 and 4.5)."""

CONVERGENCE_SEEDS: Mapping[str, int] = {"hartmann6": 20, "ackley8": 20, "levy10": 10}
"""Seeds of Exp 4 by problem (section 4.2)."""

LOOP_TIMING_SEEDS = 5
"""Seeds of Table 10 (its caption)."""

STEP_N = 50
"""Data points of the steps that Table 3 times (section 4.3)."""

SVM_DIMENSION = 4
"""Hyperparameters that are tuned (section 4.4)."""

DESIGN_PER_DIMENSION = 2
"""n_init = 2d, in all experiments "except Exp 3" (appendix G)."""

NOISE_STD = 0.1
"""The noise of Exp 11, in standard deviations of the design's values (section 4.7)."""

NOISE_VARIANCE = 1e-6
"""The GP's noise variance, "fixed", of normalized values (Table 12)."""

UCB_BETA = 2.0
"""Beta of UCB (Table 8); the formula of appendix A.2 weighs sigma by its square root."""

MULTIQUADRIC_POWER = 0.5
"""The basis function is (1 + r^2 / eps^2) to this power (Table 12, appendix D)."""

COVERED_ACQUISITIONS = ("ei", "ucb", "pi")
"""The acquisitions that Proposition 3 is said to cover: non-decreasing in sigma for a fixed mean (section 3.4)."""

SIMILAR_ACQUISITIONS = ("thompson",)
"""The acquisitions that are said to behave similarly (abstract, section 1)."""

LP_PENALTY = ("x", "x_j", "l")
"""The ingredients of the compared penalty 1 - exp(-|x - x_j|^2 / (2 l^2)) (section 4.5)."""

LIPSCHITZ = "L"
"""An ingredient of LP that CL and KB are praised for not needing (sections 3.5 and 4.5)."""

PARAMETRIC = ("neural", "forest")
"""Surrogates that "produce degenerate batches even when fully retrained" (section 1; the abstract excepts networks)."""

FIXED_FEATURES = ("fixed_rbf", "last_layer")
"""Surrogates that are linear in features which new data do not change (section 3.3, the note of Table 1)."""

BEST_STRATEGIES = ("cl_min", "kb")
"""Strategies that "achieve the best final values" in Table 4 (section 4.5)."""

MAX_DIVERSE = "cl_min"
"""The strategy that "maintains the highest diversity throughout" on Hartmann-6D (appendix E.8, Figure 9)."""

LINE_3_FITS = "member"
"""Algorithm 1, line 3, within the loop over the members of a batch: "Fit surrogate on D'" (section 2.2)."""

FITS_SAID = "batch"
"""Hyperparameters are "fixed during batch construction" (6); "GP fitting once per BO iteration" (4.3, footnote)."""

SAME_ORDER = "qei"
"""The strategy that CL/KB loops are compared with: "same order of magnitude" is all that is said of times (4.3)."""

NEAR_SEQUENTIAL = ("cl_min", "kb")
"""Strategies that are "near-sequential" at equal evaluations, on Ackley-8D as well (section 4.2, appendix E.7)."""

MONOTONE_AT = "fixed mean"
"""The condition under which Proposition 1, in step 2 of its proof, uses monotonicity in sigma (3.4, B.1)."""

PROPOSITION_1_LIES = ("cl_min", "cl_max", "cl_mean", "kb")
"""Lies that Proposition 1 is said for: "with CL or KB" (section 3.4)."""

UNMOVED_MEAN = ("kb",)
"""Lies that leave the mean where it is (Lemma 1); those of CL shift it (section 3.7)."""

PROPOSITION_2 = ("sigma_f", "tau", "sigma(x_*)", "sigma_n", "l")
"""The ingredients of the radius of Proposition 2 (Eq. 3)."""

DIMINISHING = "number of members"
"""The number with which returns are said to diminish "as predicted by Proposition 2" (section 6, appendix E.15)."""

TASKS = ("hartmann6", "ackley8", "levy10", "svm_breast_cancer")
"""Experiments on these "validate all theoretical predictions" (abstract)."""

DIAGNOSTIC_ROBUST_TO = ("data sets", "acquisitions", "noise")
"""The settings across which the diagnostic is said to be robust (section 7)."""

DIAGNOSTIC_VARIED: Mapping[int, str] = {8: "acquisitions", 9: "data sets"}
"""The setting that each table of the diagnostic varies; Tables 2, 7 and 11 vary surrogates, updates and q alone."""

LIE_EFFECTS: Mapping[str, tuple[int, int]] = {"cl_min": (-1, -1), "cl_max": (1, 1)}
"""Signs by lie: of the shift of the mean, and of its stated effect on EI (-1 reinforces suppression) (C.3)."""

EQ_17_MEAN_SIGN = -1
"""The sign with which the shift of the mean enters the first-order change of EI (appendix C.4)."""

KERNEL_DECAY = 0.5
"""The SE kernel falls as exp(-this * r^2 / l^2) (Proposition 2); the mean's shift falls with it, by Eq. 1."""

EI_DECAY = 1.0
"""The stated exponent for the whole change of EI (appendix C.4)."""

EQ_4_VARIANCES = ("new", "old")
"""Points whose variances divide k^2 in Eq. 4, in its order: the new point x, and x_* that was conditioned on."""

LOG_PENALTY_VARIANCES = ("old", "old")
"""The same in the logarithm of that penalty, where x_i is the old point and x_j the new one (appendix C.5)."""
