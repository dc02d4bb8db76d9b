"""What scikit-optimize calls estimators and acquisition functions, in the engine's terms; and fitted models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from believer.acquisitions import PI, UCB, LogEI
from believer.arrays import shown
from believer.integrations.skopt.refusals import InvalidInput, NotOffered
from believer.integrations.skopt.space import Point, Space
from believer.maximize import Candidates
from believer.plugins import Acquisition, Fitted, History, Maximizer, ModelCache, StudySettings, Surrogate
from believer.study.model_cache import Learned
from believer.surrogates import GP, RandomForest, SklearnSurrogate
from believer.surrogates.sklearn import scikit_learn

__all__ = [
    "Model",
    "acquisition",
    "cook_estimator",
    "has_gradients",
    "history_of",
    "maximizer",
    "seed_from",
]

ACQUISITIONS = ("gp_hedge", "EI", "LCB", "PI")
STRATEGIES = ("cl_min", "cl_mean", "cl_max")


class Model:
    """A model of the results at one moment, fitted when it is first asked.

    Parameters
    ----------
    space : whose transformed points it is asked at.
    history : the results.
    cache : of the optimizer whose model it is.
    """

    def __init__(self, space: Space, history: History, cache: ModelCache) -> None:
        self._space, self._history, self._cache = space, history, cache

    @property
    def settings(self) -> StudySettings:
        """Under which it is fitted."""
        return self._cache.settings

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """What is expected at the transformed points ``X`` (n, columns), with ``return_std`` also how surely."""
        at = self.learned().predict(self._space.units(X))
        return (at.mean, at.std) if return_std else at.mean

    def learned(self) -> Learned:
        """The fitted model, on the encoded cube of the engine."""
        return self._cache.learned(self._history)


def history_of(
    settings: StudySettings,
    space: Space,
    Xi: Sequence[Point],
    yi: Sequence[Any],
    fitted: Fitted | None = None,
    pending: Sequence[Point] = (),
) -> History:
    """Results and points under way as the engine's history; a value that is no number is a failed evaluation."""
    values = [*(float(y) for y in yi), *([None] * len(pending))]
    trials = [(i, space.params(x), y) for i, (x, y) in enumerate(zip([*Xi, *pending], values, strict=True))]
    return History.of(settings, trials, fitted)


def cook_estimator(base_estimator: Any, space: Any = None, **kwargs: Any) -> Surrogate | None:
    """The engine's surrogate for an estimator of scikit-optimize; None for "dummy".

    Parameters
    ----------
    base_estimator : "GP", "RF", "ET", "GBRT", "dummy" in any case; a scikit-learn regressor; a surrogate of ours, or
        the model that it was fitted to.
    space : plays no part.
    """
    if isinstance(base_estimator, Model):
        return base_estimator.settings.surrogate
    if not isinstance(base_estimator, str):
        if callable(getattr(base_estimator, "get_params", None)):
            return SklearnSurrogate(base_estimator)
        if isinstance(base_estimator, type) or not callable(getattr(base_estimator, "fit", None)):
            raise InvalidInput(f"base_estimator must be a regressor; got {shown(base_estimator)}.")
        found: Surrogate = base_estimator
        return found
    match base_estimator.upper():
        case "GP":
            noise = kwargs.get("noise", "gaussian")
            return GP() if noise == "gaussian" else GP(noise=max(float(noise), 1e-8))  # less is no stabler
        case "RF" | "ET":
            return RandomForest(trees=100, min_leaf=3, extra=base_estimator.upper() == "ET")
        case "GBRT":
            return SklearnSurrogate(scikit_learn("sklearn.ensemble").GradientBoostingRegressor(n_estimators=30))
        case "DUMMY":
            return None
    raise InvalidInput(f"base_estimator must be GP, RF, ET, GBRT or dummy; got {base_estimator!r}.")


def acquisition(acq_func: Any, given: dict[str, Any]) -> Acquisition:
    """The engine's acquisition for one of scikit-optimize, with ``xi`` or ``kappa`` from ``given``."""
    xi, kappa = given.get("xi", 0.01), given.get("kappa", 1.96)
    match acq_func:
        case "gp_hedge":  # "choose for me"
            return LogEI()
        case "EI":
            return LogEI(xi)
        case "PI":
            return PI(xi)
        case "LCB":
            return UCB(kappa**2)
        case "EIps" | "PIps" | "MES" | "PVRS":
            raise NotOffered(f"acq_func {acq_func} is not offered here; choose one of {', '.join(ACQUISITIONS)}.")
    raise InvalidInput(f"acq_func must be one of {', '.join(ACQUISITIONS)}; got {shown(acq_func)}.")


def has_gradients(surrogate: Surrogate | None) -> bool:
    """Whether scikit-optimize would climb on it."""
    return surrogate is not None and not isinstance(surrogate, RandomForest)


def maximizer(acq_optimizer: Any, climbs: bool, constrained: bool) -> Maximizer | None:
    """How the acquisition is maximized; None leaves it to the engine, as ``auto`` and a constraint do.

    ``climbs`` says whether the estimator has gradients, as scikit-optimize sees it.
    """
    if constrained:
        return None
    if acq_optimizer not in ("auto", "sampling", "lbfgs"):
        raise InvalidInput(f"acq_optimizer must be auto, sampling or lbfgs; got {shown(acq_optimizer)}.")
    if acq_optimizer == "lbfgs" and not climbs:
        raise InvalidInput("this estimator has no gradients: it needs acq_optimizer='sampling'.")
    return Candidates() if acq_optimizer == "sampling" and climbs else None


def seed_from(rng: np.random.RandomState) -> int:
    """A seed for the engine."""
    return int(rng.randint(0, np.iinfo(np.int32).max))
