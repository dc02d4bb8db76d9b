"""Any scikit-learn regressor as a surrogate.

If ``predict`` takes ``return_std``, the regressor gives the standard deviation itself. For any other regressor an
ensemble is fitted to bootstrap resamples, and its spread is the uncertainty.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Self

import numpy as np

from believer.arrays import Array, as_points, checked_seed, shown, whole
from believer.errors import InvalidInput, MissingExtra
from believer.surrogates.bootstrap import MAX_MEMBERS, resamples, states, summary
from believer.surrogates.data import Data, learnable
from believer.surrogates.gp import standardization
from believer.surrogates.protocols import MIN_STD, Model, Prediction


def scikit_learn(module: str) -> Any:
    """A module of scikit-learn by its full name; MissingExtra if it is not installed."""
    try:
        import_module("sklearn")
        return import_module(module)
    except ImportError as error:
        raise MissingExtra("scikit-learn", "surrogates") from error


@dataclass(frozen=True, slots=True, eq=False)
class SklearnModel:
    """A fitted regressor that gives standard deviations itself."""

    estimator: Any
    dim: int
    shift: float
    scale: float

    def predict(self, X: Array) -> Prediction:
        """The estimator's own mean and std at ``X`` (m, d)."""
        both = _predicted(self.estimator, as_points(X, self.dim), return_std=True)
        name = type(self.estimator).__name__
        if not isinstance(both, tuple) or len(both) != 2:
            raise InvalidInput(
                f"predict(X, return_std=True) must return mean and std; {name} returned {type(both)}. "
                "Correct its predict."
            )
        mean, std = (_column(values, len(X), what, name) for values, what in zip(both, ("mean", "std"), strict=True))
        if (std < 0.0).any():
            raise InvalidInput(f"a std must be zero or more; {name} predicted {std.min():g}. Correct its predict.")
        return Prediction(self.shift + self.scale * mean, self.scale * np.maximum(std, MIN_STD))


@dataclass(frozen=True, slots=True, eq=False)
class SklearnEnsemble:
    """Regressors fitted to bootstrap resamples."""

    estimators: tuple[Any, ...]
    dim: int
    shift: float
    scale: float

    def predict(self, X: Array) -> Prediction:
        """Mean and standard deviation over the members at ``X`` (m, d)."""
        X = as_points(X, self.dim)
        F = [_column(_predicted(member, X), len(X), "mean", type(member).__name__) for member in self.estimators]
        return summary(np.stack(F, axis=1), self.shift, self.scale)


@dataclass(frozen=True, slots=True, eq=False)
class SklearnSurrogate:
    """Any scikit-learn regressor, also a pipeline that ends in one. Needs scikit-learn.

    If the estimator's ``predict`` takes ``return_std`` (GaussianProcessRegressor, BayesianRidge), σ is its standard
    deviation, which includes noise if the estimator adds it (WhiteKernel). Otherwise ``members`` copies are fitted to
    bootstrap resamples, and σ is the standard deviation over them, which is not a posterior.

    Two warnings are silenced, because they are frequent in a study and the results can be used: scikit-learn's
    ConvergenceWarning, and that of a Gaussian process about variances below zero. Other warnings are shown.

    Parameters
    ----------
    estimator : an instance; it is copied now, and a copy is fitted to standardized y in every fit.
    members : the number of copies, two or more, of an estimator without ``return_std``.
    seed : None draws random numbers from the generator passed to ``fit``; a number fixes them. In both cases every
        ``random_state`` inside the estimator is replaced, so that a study is repeatable.
    """

    estimator: Any
    members: int = 20
    seed: int | None = None

    def __post_init__(self) -> None:
        whole(self.members, "members", 2, MAX_MEMBERS)
        checked_seed(self.seed)
        object.__setattr__(self, "estimator", _copy(self.estimator))

    def with_fixed_draws(self, seed: int) -> Self:
        """The recipe with resamples and random states that depend only on ``seed`` and positions."""
        return replace(self, seed=whole(seed, "seed", 0))

    def fit(
        self, data: Data, rng: np.random.Generator, previous: Model | None = None
    ) -> SklearnModel | SklearnEnsemble:
        """Fit copies of the estimator to ``data``, X (n, d) and y (n,); ``rng`` is the source of randomness.

        ``previous`` is ignored.
        """
        X, y, _ = learnable(data, "a scikit-learn regressor")
        shift, scale = standardization(y)
        target = (y - shift) / scale
        if _gives_std(self.estimator):
            state = states(1, rng, self.seed)[0]
            return SklearnModel(_fitted(self.estimator, state, X, target), X.shape[1], shift, scale)
        counts = resamples(len(X), self.members, rng, self.seed)
        rows = [np.repeat(np.arange(len(X)), count) for count in counts]
        fitted = [
            _fitted(self.estimator, state, X[row], target[row])
            for row, state in zip(rows, states(self.members, rng, self.seed), strict=True)
        ]
        return SklearnEnsemble(tuple(fitted), X.shape[1], shift, scale)


def _copy(estimator: Any) -> Any:
    """An unfitted copy of a regressor; InvalidInput for anything else."""
    base = scikit_learn("sklearn.base")
    if isinstance(estimator, type):
        name = estimator.__name__
        raise InvalidInput(f"estimator must be an instance; got the class {name}. Write {name}(...).")
    for method in ("fit", "predict", "get_params"):
        if not callable(getattr(estimator, method, None)):
            raise InvalidInput(
                f"estimator must be a scikit-learn regressor, with fit, predict and get_params; "
                f"got {shown(estimator)}, which has no {method}. Pass, e.g., KNeighborsRegressor()."
            )
    name = type(estimator).__name__
    try:
        is_regressor, is_classifier = base.is_regressor(estimator), base.is_classifier(estimator)
    except AttributeError:
        is_regressor, is_classifier = False, False
    if is_classifier:
        raise InvalidInput(f"estimator must be a regressor; {name} is a classifier. Pass the regressor of its family.")
    if not is_regressor:
        raise InvalidInput(
            f"estimator must be a regressor; {name} does not say that it is one. "
            "Derive your own from sklearn.base.RegressorMixin and BaseEstimator."
        )
    return base.clone(estimator)


def _gives_std(estimator: Any) -> bool:
    """Whether ``predict`` takes ``return_std``; a pipeline hands it on to its last step."""
    while isinstance(estimator, scikit_learn("sklearn.pipeline").Pipeline):
        estimator = estimator.steps[-1][1]
    return "return_std" in inspect.signature(estimator.predict).parameters


def _fitted(estimator: Any, state: int, X: Array, y: Array) -> Any:
    """A copy with every random state set, also those of nested parts, fitted to ``X`` (n, d), ``y`` (n,)."""
    member, rng = scikit_learn("sklearn.base").clone(estimator), np.random.default_rng(state)
    names = sorted(name for name in member.get_params(deep=True) if name.rpartition("__")[2] == "random_state")
    member.set_params(**{name: int(rng.integers(2**31)) for name in names})
    try:
        with _advice_silenced():
            return member.fit(X, y)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"the estimator must be able to learn from {len(y)} observations ({len(np.unique(X, axis=0))} distinct); "
            f"{type(estimator).__name__} said: {error} Check its settings; if it needs more data, raise n_init."
        ) from error


def _predicted(estimator: Any, X: Array, **options: bool) -> Any:
    """The prediction of the estimator at ``X`` (m, d); empty without points, for which scikit-learn raises."""
    if len(X) == 0:
        return (np.zeros(0), np.zeros(0)) if options else np.zeros(0)
    try:
        with _advice_silenced():
            return estimator.predict(X, **options)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"the estimator must be able to predict; {type(estimator).__name__} said: {error} "
            "Check its settings; if it needs more data, raise n_init."
        ) from error


def _column(values: Any, m: int, what: str, name: str) -> Array:
    """``values`` as finite (m,) floats; InvalidInput otherwise."""
    column = np.asarray(values, dtype=np.float64)
    if column.shape == (m, 1):
        column = column[:, 0]
    if column.shape != (m,):
        raise InvalidInput(
            f"the {what} at {m} points must have shape ({m},); {name} predicted {column.shape}. "
            "Return one number a point."
        )
    if not np.isfinite(column).all():
        bad = column[~np.isfinite(column)][0]
        raise InvalidInput(f"a predicted {what} must be finite; {name} predicted {bad}. Does it suit the data?")
    return column


@contextmanager
def _advice_silenced() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", scikit_learn("sklearn.exceptions").ConvergenceWarning)
        warnings.filterwarnings("ignore", message="Predicted variances smaller than 0")
        yield
