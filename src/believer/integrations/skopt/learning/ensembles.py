"""Forests and boosted trees with standard deviations."""

from typing import Any, Self

import numpy as np

from believer.errors import MissingExtra

try:
    from sklearn import ensemble
    from sklearn.base import BaseEstimator, RegressorMixin, clone
except ImportError as error:
    raise MissingExtra("scikit-learn", "surrogates") from error

__all__ = ["ExtraTreesRegressor", "GradientBoostingQuantileRegressor", "RandomForestRegressor"]


def _predicted(forest: Any, X: Any, least: float) -> tuple[Any, Any]:
    """The mean and standard deviation of the mixture of all leaves of a point, with the spread within leaves and
    between trees."""
    X = np.asarray(X, dtype=np.float32)
    leaves = [tree.tree_.apply(X) for tree in forest.estimators_]
    means = np.array([tree.tree_.value[at, 0, 0] for tree, at in zip(forest.estimators_, leaves, strict=True)])
    within = np.array([tree.tree_.impurity[at] for tree, at in zip(forest.estimators_, leaves, strict=True)])
    return means.mean(axis=0), np.sqrt(np.maximum(within, least).mean(axis=0) + means.var(axis=0))


class RandomForestRegressor(ensemble.RandomForestRegressor):  # type: ignore[misc]
    """scikit-learn's class, with ``predict(X, return_std=True)``.

    Parameters
    ----------
    n_estimators, min_variance : the number of trees, and the least variance in a leaf.
    options : the options of scikit-learn's class.
    """

    def __init__(self, n_estimators: int = 10, *, min_variance: float = 0.0, **options: Any) -> None:
        super().__init__(n_estimators=n_estimators, **options)
        self.min_variance = min_variance

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """The mean at the points ``X``; with ``return_std`` also the standard deviation."""
        return _predicted(self, X, self.min_variance) if return_std else super().predict(X)

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted({*ensemble.RandomForestRegressor._get_param_names(), "min_variance"})


class ExtraTreesRegressor(ensemble.ExtraTreesRegressor):  # type: ignore[misc]
    """scikit-learn's class, with ``predict(X, return_std=True)``.

    Parameters
    ----------
    n_estimators, min_variance : the number of trees, and the least variance in a leaf.
    options : the options of scikit-learn's class.
    """

    def __init__(self, n_estimators: int = 10, *, min_variance: float = 0.0, **options: Any) -> None:
        super().__init__(n_estimators=n_estimators, **options)
        self.min_variance = min_variance

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """The mean at the points ``X``; with ``return_std`` also the standard deviation."""
        return _predicted(self, X, self.min_variance) if return_std else super().predict(X)

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted({*ensemble.ExtraTreesRegressor._get_param_names(), "min_variance"})


class GradientBoostingQuantileRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Boosted trees, one for each quantile.

    Parameters
    ----------
    quantiles : three quantiles; the middle one is the prediction, and half the distance between the others its std.
    base_estimator : a GradientBoostingRegressor whose settings each of them has, with ``loss="quantile"``.
    n_jobs : ignored.
    random_state : the random state of the trees.
    """

    def __init__(
        self, quantiles: Any = (0.16, 0.5, 0.84), base_estimator: Any = None, n_jobs: int = 1, random_state: Any = None
    ) -> None:
        self.quantiles = quantiles
        self.base_estimator = base_estimator
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit one regressor for each quantile."""
        base = self.base_estimator
        if base is None:
            base = ensemble.GradientBoostingRegressor(loss="quantile")
        if not isinstance(base, ensemble.GradientBoostingRegressor):
            raise ValueError("base_estimator has to be of type GradientBoostingRegressor.")
        if base.loss != "quantile":
            raise ValueError(f"base_estimator has to use quantile loss; got {base.loss!r}.")
        rng = np.random.RandomState(self.random_state) if isinstance(self.random_state, int) else self.random_state
        seeds = (rng or np.random.mtrand._rand).randint(2**31 - 1, size=len(self.quantiles))
        self.regressors_ = [
            clone(base).set_params(alpha=quantile, random_state=int(seed)).fit(X, y)
            for quantile, seed in zip(self.quantiles, seeds, strict=True)
        ]
        self.n_features_in_ = self.regressors_[0].n_features_in_
        return self

    def predict(self, X: Any, return_std: bool = False, return_quantiles: bool = False) -> Any:
        """The median at the points ``X``; with ``return_std`` also how surely; or all quantiles (n, 3)."""
        found = np.column_stack([regressor.predict(X) for regressor in self.regressors_])
        if return_quantiles:
            return found
        places = [int(np.argmin(np.abs(np.asarray(self.quantiles) - wanted))) for wanted in (0.16, 0.5, 0.84)]
        low, mean, high = found[:, places].T
        return (mean, np.abs(high - low) / 2.0) if return_std else mean
