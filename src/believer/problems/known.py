"""The problems of the paper's experiments, two functions to draw, and one real task."""

from __future__ import annotations

import math
from functools import partial

from believer.problems import svm, synthetic
from believer.problems.problem import Problem, floats


def hartmann6() -> Problem:
    """Hartmann-6D on [0, 1]^6."""
    best = (0.201689511007, 0.150010691823, 0.476873974222, 0.275332430494, 0.3116516166, 0.657300534066)
    return floats("hartmann6", synthetic.hartmann6, [(0.0, 1.0)] * 6, -3.3223680114155147, [best], "smooth")


def ackley8() -> Problem:
    """Ackley-8D on [-5, 5]^8; its optimum is the center of the box, which a strategy may like for no good reason."""
    return floats("ackley8", synthetic.ackley, [(-5.0, 5.0)] * 8, 0.0, [(0.0,) * 8], "multimodal")


def levy10() -> Problem:
    """Levy-10D on [-10, 10]^10."""
    return floats("levy10", synthetic.levy, [(-10.0, 10.0)] * 10, 0.0, [(1.0,) * 10], "multimodal")


def wave1() -> Problem:
    """A 1-D function on [0, 1], for drawing."""
    return floats("wave1", synthetic.wave1, [(0.0, 1.0)], -1.1004954895868913, [(0.496696475073,)])


def branin() -> Problem:
    """Branin on [-5, 10] x [0, 15], with three optima of the same value 10 / (8π)."""
    best = [(-math.pi, 12.275), (math.pi, 2.275), (3.0 * math.pi, 2.475)]
    return floats("branin", synthetic.branin, [(-5.0, 10.0), (0.0, 15.0)], 10.0 / (8.0 * math.pi), best, "smooth")


def svm_breast_cancer(shuffled: bool = True, scaled: bool = True) -> Problem:
    """Cross-validated error of a support vector classifier, four parameters (``svm``); the optimum is not known.

    Needs scikit-learn; an evaluation takes about 50 ms. shuffled, scaled: how folds are made and whether features are
    standardized (``svm.cv_error``).
    """
    function = svm.cv_error if shuffled and scaled else partial(svm.cv_error, shuffled=shuffled, scaled=scaled)
    return Problem("svm_breast_cancer", svm.SPACE, function)
