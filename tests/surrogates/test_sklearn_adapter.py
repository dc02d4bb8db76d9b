from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from each import each
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.cluster import KMeans
from sklearn.compose import TransformedTargetRegressor
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import BayesianRidge, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from believer.arrays import Array
from believer.errors import InvalidInput
from believer.surrogates import SklearnSurrogate
from believer.surrogates.bootstrap import resamples
from believer.surrogates.data import Data
from believer.surrogates.gp import standardization
from believer.surrogates.sklearn import SklearnEnsemble, SklearnModel


def data(n: int = 15, d: int = 2, seed: int = 0) -> tuple[Array, Array]:
    X = np.random.default_rng(seed).random((n, d))
    return X, 100.0 + 20.0 * np.sin(5.0 * X[:, 0]) + X[:, -1]


class Told(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Predicts what it was told to; warns of it if there is a warning."""

    def __init__(self, mean: Any = 0.0, std: Any = 1.0, warning: Any = None) -> None:
        self.mean, self.std, self.warning = mean, std, warning

    def fit(self, X: Array, y: Array) -> Told:
        self.fitted_ = True
        self._warn()
        return self

    def predict(self, X: Array, return_std: bool = False) -> Any:
        self._warn()
        mean = np.full(len(X), self.mean)
        if isinstance(self.std, str):
            return {"no tuple": mean, "too few": (mean, np.ones(1)), "none": (mean, None)}[self.std]
        return (mean, np.full(len(X), self.std)) if return_std else mean

    def _warn(self) -> None:
        if self.warning is not None:
            warnings.warn("so it goes", self.warning, stacklevel=2)


class Column(KNeighborsRegressor):  # type: ignore[misc]
    """Predictions as a column, which some regressors do."""

    def predict(self, X: Array) -> Array:
        column: Array = super().predict(X)[:, None]
        return column


@pytest.mark.parametrize(
    "estimator",
    [
        GaussianProcessRegressor(RBF(0.3) + WhiteKernel(0.01), optimizer=None),
        BayesianRidge(),
        make_pipeline(PolynomialFeatures(2), StandardScaler(), BayesianRidge()),
    ],
    ids=["gp", "ridge", "pipeline"],
)
def test_an_estimator_with_its_own_std_is_taken_at_its_word(estimator: Any) -> None:
    X, y = data()
    at = np.random.default_rng(1).random((9, 2))
    model = SklearnSurrogate(estimator).fit(Data(X, y), np.random.default_rng(0))
    assert isinstance(model, SklearnModel)
    shift, scale = standardization(y)
    mean, std = clone(estimator).fit(X, (y - shift) / scale).predict(at, return_std=True)
    np.testing.assert_allclose(model.predict(at).mean, shift + scale * mean, rtol=1e-12)
    np.testing.assert_allclose(model.predict(at).std, scale * std, rtol=1e-12)


@pytest.mark.parametrize(
    "estimator",
    [
        KNeighborsRegressor(2),
        make_pipeline(StandardScaler(), KNeighborsRegressor(2)),
        TransformedTargetRegressor(BayesianRidge()),
        Column(2),
    ],
    ids=["neighbors", "pipeline", "no std handed on", "column"],
)
def test_around_any_other_an_ensemble_over_resamples_is_built(estimator: Any) -> None:
    X, y = data()
    at = np.random.default_rng(1).random((9, 2))
    model = SklearnSurrogate(estimator, members=6, seed=5).fit(Data(X, y), np.random.default_rng(0))
    assert isinstance(model, SklearnEnsemble)
    rows = [np.repeat(np.arange(15), count) for count in resamples(15, 6, np.random.default_rng(0), 5)]
    shift, scale = standardization(y)
    members = [clone(estimator).fit(X[row], (y[row] - shift) / scale) for row in rows]
    F = np.stack([member.predict(at).ravel() for member in members], axis=1)
    np.testing.assert_allclose(model.predict(at).mean, shift + scale * F.mean(axis=1), rtol=1e-12)
    np.testing.assert_allclose(model.predict(at).std, scale * np.maximum(F.std(axis=1), 1e-9), rtol=1e-12)


def test_every_random_state_is_set_from_the_draws_those_inside_a_pipeline_too() -> None:
    estimator = make_pipeline(StandardScaler(), RandomForestRegressor(3, random_state=7))
    surrogate = SklearnSurrogate(estimator, members=3)

    def states(seed: int) -> list[int]:
        model = surrogate.fit(Data(*data()), np.random.default_rng(seed))
        assert isinstance(model, SklearnEnsemble)
        return [member.get_params()["randomforestregressor__random_state"] for member in model.estimators]

    assert states(0) == states(0)
    assert len({7, *states(0), *states(1)}) == 7


def test_the_callers_estimator_is_copied_and_never_fitted() -> None:
    estimator = KNeighborsRegressor(1)
    surrogate = SklearnSurrogate(estimator, members=2)
    estimator.set_params(n_neighbors=500)
    surrogate.fit(Data(*data()), np.random.default_rng(0))
    assert not hasattr(estimator, "n_samples_fit_")
    assert not hasattr(surrogate.estimator, "n_samples_fit_")
    assert surrogate.with_fixed_draws(1).estimator.n_neighbors == 1


def test_std_of_a_deterministic_gp_is_above_zero_at_the_data() -> None:
    X, y = data(12)
    model = SklearnSurrogate(GaussianProcessRegressor(RBF(0.3), optimizer=None)).fit(
        Data(X, y), np.random.default_rng(0)
    )
    assert isinstance(model, SklearnModel)
    # Rounding takes variances at the data below zero on some processors; a factor that is 1 % too small does on all.
    # Without the adapter, scikit-learn warns of them.
    model.estimator.L_ *= 0.99
    with pytest.warns(UserWarning, match="variances smaller than 0"):
        model.estimator.predict(X, return_std=True)
    assert (model.predict(X).std > 0.0).all()


def test_warnings_of_convergence_are_silenced_and_others_come_through() -> None:
    X, y = data()
    surrogate = SklearnSurrogate(Told(warning=ConvergenceWarning))
    surrogate.fit(Data(X, y), np.random.default_rng(0)).predict(X)
    loud = SklearnSurrogate(Told(warning=RuntimeWarning))
    with pytest.warns(RuntimeWarning, match="so it goes"):
        model = loud.fit(Data(X, y), np.random.default_rng(0))
    with pytest.warns(RuntimeWarning, match="so it goes"):
        model.predict(X)


@each(
    ("estimator", "rule"),
    [
        (KNeighborsRegressor, r"must be an instance; got the class KNeighborsRegressor. Write KNeighborsRegressor\("),
        (KNeighborsClassifier(), "KNeighborsClassifier is a classifier. Pass the regressor"),
        (make_pipeline(StandardScaler(), LogisticRegression()), "Pipeline is a classifier"),
        (KMeans(), "must be a regressor; KMeans does not say that it is one"),
        (make_pipeline(StandardScaler()), "must be a scikit-learn regressor.*has no predict"),
        (StandardScaler(), "has no predict"),
        (None, "got None, which has no fit"),
        ("forest", "got 'forest', which has no fit"),
    ],
)
def test_what_is_no_regressor_is_refused(estimator: Any, rule: str) -> None:
    with pytest.raises(InvalidInput, match=rule):
        SklearnSurrogate(estimator)


def test_a_class_that_only_looks_like_a_regressor_is_told_what_to_derive_from() -> None:
    class Duck:
        def fit(self, X: Array, y: Array) -> Duck:
            return self

        def predict(self, X: Array) -> Array:
            return X[:, 0]

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            return {}

    with pytest.raises(InvalidInput, match=r"Duck does not say that it is one\. Derive your own from"):
        SklearnSurrogate(Duck())


@pytest.mark.parametrize(
    ("told", "rule"),
    [
        ({"std": np.nan}, "predicted std must be finite; Told predicted nan"),
        ({"std": np.inf}, "predicted std must be finite; Told predicted inf"),
        ({"std": -0.5}, "a std must be zero or more; Told predicted -0.5"),
        ({"mean": np.nan}, "predicted mean must be finite; Told predicted nan"),
        ({"std": "no tuple"}, r"must return mean and std; Told returned .*\. Correct its predict\."),
        (
            {"std": "too few"},
            r"the std at 15 points must have shape \(15,\); Told predicted \(1,\)\. Return one number a point\.",
        ),
        ({"std": "none"}, r"the std at 15 points must have shape \(15,\)"),
    ],
)
def test_predictions_that_cannot_be_used_are_refused(told: dict[str, Any], rule: str) -> None:
    X, y = data()
    model = SklearnSurrogate(Told(**told)).fit(Data(X, y), np.random.default_rng(0))
    with pytest.raises(InvalidInput, match=rule):
        model.predict(X)


def test_an_estimator_that_cannot_learn_or_predict_says_why() -> None:
    X, y = data(3)
    rng = np.random.default_rng(0)
    with pytest.raises(InvalidInput, match=r"learn from 3 observations .*KNeighborsRegressor said: .*n_init"):
        SklearnSurrogate(KNeighborsRegressor(0)).fit(Data(X, y), rng)
    model = SklearnSurrogate(KNeighborsRegressor(5)).fit(Data(X, y), rng)
    with pytest.raises(InvalidInput, match=r"predict; KNeighborsRegressor said: .*n_neighbors.*n_init"):
        model.predict(X)
    with pytest.raises(InvalidInput, match="X must have 2 columns"):
        model.predict(np.zeros((1, 5)))


def test_members_that_agree_have_the_least_std() -> None:
    X, y = data()
    at = SklearnSurrogate(DummyRegressor(strategy="constant", constant=0.0)).fit(Data(X, y), np.random.default_rng(0))
    np.testing.assert_allclose(at.predict(X).std, 1e-9 * y.std(), rtol=1e-9)


def test_an_ensemble_needs_two_members() -> None:
    with pytest.raises(InvalidInput, match="members must be a whole number, 2 or more"):
        SklearnSurrogate(KNeighborsRegressor(), members=1)
