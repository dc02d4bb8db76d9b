"""A real classifier on real data: a support vector machine on scikit-learn's breast cancer data."""

from __future__ import annotations

from typing import Any

from believer.cli.demos.demo import Demo
from believer.optimizer import Optimizer
from believer.problems import svm_breast_cancer
from believer.study.goal import Minimize

_PROBLEM = svm_breast_cancer()
_SAMPLES = 569


def error(params: dict[str, Any]) -> dict[str, float]:
    """The error of the classifier in cross-validation, in %."""
    return {"error": 100.0 * _PROBLEM(params)}


def mistakes(optimizer: Optimizer) -> str | None:
    """The best error as a number of patients."""
    if optimizer.best is None:
        return None
    wrong = optimizer.best[1] / 100.0 * _SAMPLES
    return f"That is {wrong:.0f} of {_SAMPLES} patients misclassified; one patient is {100 / _SAMPLES:.2f} %."


CLASSIFIER = Demo(
    name="classifier",
    title="a support vector classifier on the breast cancer data of scikit-learn, in processes",
    story="A support vector classifier for 569 patients of scikit-learn's breast cancer data: cost, kernel width,\n"
    "weight of a class and number of principal components. Wanted: the least error in 5-fold cross-validation.",
    function=error,
    space=_PROBLEM.space,
    goals={"error": Minimize(units="%")},
    budget=32,
    seeds=3,
    ending=mistakes,
    needs=(("scikit-learn", "sklearn", "surrogates"),),
)
