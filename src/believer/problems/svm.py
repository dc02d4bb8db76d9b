"""A real task: tune a support vector classifier on the breast cancer data of scikit-learn (569 samples, 30 features).

The four parameters (the paper does not say which four it tunes):

==========  =======================  ==================================================
``C``       1e-2 ... 1e3, log        cost of a training error
``gamma``   1e-5 ... 1, log          inverse width of the RBF kernel
``weight``  1/4 ... 4, log           factor on ``C`` for class 1 (benign)
``parts``   5 ... 30, whole numbers  principal components kept of the standardized features
==========  =======================  ==================================================

The objective is 1 - mean accuracy over five stratified folds, always the same ones. A fold has 113 or 114 samples, so
one sample is worth about 0.0018.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from believer.arrays import Array, frozen
from believer.errors import MissingExtra
from believer.space import Space
from believer.space.parameters import Float, Int

FOLDS_SEED = 0
"""Seed of the shuffle that makes the five folds."""

SPACE = Space(
    {
        "C": Float(1e-2, 1e3, log=True),
        "gamma": Float(1e-5, 1.0, log=True),
        "weight": Float(0.25, 4.0, log=True),
        "parts": Int(5, 30),
    }
)

_Labels = npt.NDArray[np.int64]


def cv_error(params: dict[str, Any], shuffled: bool = True, scaled: bool = True) -> float:
    """1 - mean accuracy over the folds, remembered by point. Raises MissingExtra without scikit-learn.

    shuffled: whether the folds are drawn from all samples, or taken in the order of the data. scaled: whether features
    are standardized on the training part.
    """
    return _cv_error(params["C"], params["gamma"], params["weight"], params["parts"], shuffled, scaled)


@lru_cache(maxsize=4096)
def _cv_error(C: float, gamma: float, weight: float, parts: int, shuffled: bool, scaled: bool) -> float:
    folds = _folds(shuffled, scaled)
    from sklearn.svm import SVC

    model = SVC(C=C, gamma=gamma, class_weight={1: weight})
    scores = [
        np.mean(model.fit(train[:, :parts], labels).predict(test[:, :parts]) == truth)
        for train, labels, test, truth in folds
    ]
    return 1.0 - float(np.mean(scores))


@lru_cache(maxsize=4)
def _folds(shuffled: bool, scaled: bool) -> tuple[tuple[Array, _Labels, Array, _Labels], ...]:
    """Training scores and labels, test scores and labels of each fold.

    Scaler and components are fitted on the training part only, so this is what a pipeline would do in every evaluation;
    the first k components do not depend on how many are kept, so one rotation serves every ``parts``.
    """
    try:
        from sklearn.datasets import load_breast_cancer
        from sklearn.decomposition import PCA
        from sklearn.model_selection import StratifiedKFold
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
    except ImportError as error:
        raise MissingExtra("scikit-learn", "surrogates") from error
    X, y = load_breast_cancer(return_X_y=True)
    folds = []
    seed = FOLDS_SEED if shuffled else None
    for train, test in StratifiedKFold(5, shuffle=shuffled, random_state=seed).split(X, y):
        rotate = make_pipeline(StandardScaler(with_std=scaled), PCA(svd_solver="full")).fit(X[train])
        folds.append((frozen(rotate.transform(X[train])), y[train], frozen(rotate.transform(X[test])), y[test]))
    return tuple(folds)
