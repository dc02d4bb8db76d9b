"""Laws of further properties of models: covariances, draws, noise, lengthscales."""

from __future__ import annotations

import numpy as np

from believer.arrays import Array
from believer.surrogates.data import Data
from believer.surrogates.protocols import (
    Conditionable,
    Joint,
    JointPrediction,
    Model,
    Prediction,
    Sampling,
    Scaled,
    Smoothing,
    Surrogate,
)
from believer.testing.contract import Breach, law, laws_in, require
from believer.testing.scenes import Scene, fitted, predicted, require_close, scene

_ROUNDING = 1e-8
_DRAWS = 2000
_STANDARD_ERRORS = 5.0


def _joint(surrogate: Surrogate, data: Scene, X: Array) -> tuple[Model, JointPrediction]:
    model = fitted(surrogate, data)
    if not isinstance(model, Joint):
        raise Breach(f"{type(model).__name__} has no joint, though another fit of this surrogate had.")
    at = model.joint(X.copy())
    m = len(X)
    require(
        np.shape(at.mean) == (m,) and np.shape(at.covariance) == (m, m),
        f"joint gave a mean of shape {np.shape(at.mean)}, a covariance of {np.shape(at.covariance)} at {m} points.",
    )
    return model, at


@law("Compute the mean and the diagonal of joint's covariance as predict computes mean and std².", Joint)
def a_joint_prediction_agrees_with_predict(surrogate: Surrogate) -> None:
    """In 1 and 6 dimensions, at one point and at many, to rounding."""
    for d in (1, 6):
        data = scene(d)
        for X in (data.at[:1], data.at):
            model, at = _joint(surrogate, data, X)
            diagonal = np.diagonal(at.covariance)
            require(bool((diagonal >= -_ROUNDING * data.spread**2).all()), f"a variance is {diagonal.min():.3g}.")
            values = Prediction(np.asarray(at.mean), np.sqrt(np.maximum(diagonal, 0.0)))
            require_close(predicted(model, X), values, data.spread, _ROUNDING, "from joint")


@law("Average the covariance with its transpose.", Joint)
def a_covariance_is_symmetric(surrogate: Surrogate) -> None:
    """To 1e-12 of its largest entry."""
    data = scene()
    _, at = _joint(surrogate, data, data.at)
    off = float(np.abs(at.covariance - at.covariance.T).max() / np.abs(at.covariance).max())
    require(off <= 1e-12, f"entries across the diagonal differ by up to {off:.3g} of the largest.")


@law("Build the covariance as a product A Aᵀ, or as prior less explained part from one and the same factor.", Joint)
def a_covariance_has_no_negative_eigenvalue(surrogate: Surrogate) -> None:
    """To rounding; among data, other points and one point twice."""
    data = scene()
    X = np.vstack([data.at, data.at[:1], data.X[:3]])
    _, at = _joint(surrogate, data, X)
    least = float(np.linalg.eigvalsh(0.5 * (at.covariance + at.covariance.T)).min()) / data.spread**2
    require(least >= -_ROUNDING, f"the least eigenvalue is {least:.3g} of the variance of y.")


def _draws(surrogate: Surrogate, data: Scene, count: int, noisy: bool = False, seed: int = 5) -> tuple[Model, Array]:
    model = fitted(surrogate, data)
    if not isinstance(model, Sampling):
        raise Breach(f"{type(model).__name__} has no sample, though another fit of this surrogate had.")
    drawn = model.sample(data.at.copy(), count, np.random.default_rng(seed), noisy=noisy)
    wanted = (count, len(data.at))
    require(np.shape(drawn) == wanted, f"sample gave shape {np.shape(drawn)}, not {wanted}, for {count} draws.")
    require(bool(np.isfinite(drawn).all()), "a draw is not finite.")
    return model, np.asarray(drawn)


@law("Return (count, m) finite numbers from sample, drawn with the rng that it is given.", Sampling)
def the_same_generator_gives_the_same_draws(surrogate: Surrogate) -> None:
    """Bit for bit; with another generator other ones; one draw and several, with noise and without."""
    data = scene()
    for count in (1, 3):
        for noisy in (False, True):
            _, first = _draws(surrogate, data, count, noisy)
            _, again = _draws(surrogate, data, count, noisy)
            require(np.array_equal(first, again), "two calls with the same generator gave other draws.")
    _, other = _draws(surrogate, data, 3, True, seed=6)
    require(not np.array_equal(first, other), "two calls with different generators gave the same draws.")


@law("Draw from what predict (and joint, if there is one) says: that mean, that std, that covariance.", Sampling)
def draws_have_the_moments_that_are_predicted(surrogate: Surrogate) -> None:
    """Averages and covariances of 2000 draws within five standard errors, which are estimated from the draws."""
    data = scene(m=4)
    model, drawn = _draws(surrogate, data, _DRAWS)
    at = predicted(model, data.at)
    wanted = model.joint(data.at.copy()).covariance if isinstance(model, Joint) else np.diag(at.std**2)
    allowed = _STANDARD_ERRORS / np.sqrt(_DRAWS)
    off = drawn - at.mean
    excess = np.abs(off.mean(axis=0)) - allowed * drawn.std(axis=0) - _ROUNDING * data.spread
    i = int(np.argmax(excess))
    require(
        bool(excess[i] <= 0.0),
        f"at point {i} the mean is {at.mean[i]:.6g}, the average of {_DRAWS} draws {drawn[:, i].mean():.6g}.",
    )
    for i in range(len(data.at)):
        for j in range(i + 1) if isinstance(model, Joint) else (i,):
            products = off[:, i] * off[:, j]
            gap = abs(float(products.mean()) - float(wanted[i, j]))
            require(
                gap <= allowed * float(products.std()) + _ROUNDING * data.spread**2,
                f"between points {i} and {j} the covariance is {wanted[i, j]:.6g}, that of {_DRAWS} draws "
                f"{products.mean():.6g}.",
            )


@law("Lift the pivots of a singular covariance: fantasies are drawn at points that are known already.", Sampling)
def draws_at_known_and_repeated_points_are_finite(surrogate: Surrogate) -> None:
    """At data, at one point twice, and where the model was conditioned."""
    data = scene()
    X = np.vstack([data.X[:3], data.at[:2], data.at[:2]])
    _draws(surrogate, Scene(data.X, data.y, X), 3)
    model = fitted(surrogate, data)
    if isinstance(model, Conditionable):
        conditioned = model.condition(Data(data.at[:1], data.y[:1]))
        if not isinstance(conditioned, Sampling):
            raise Breach("a conditioned model cannot draw, though the fitted one could.")
        drawn = conditioned.sample(X, 3, np.random.default_rng(0), noisy=True)
        require(bool(np.isfinite(drawn).all()), "a draw of the conditioned model is not finite.")


@law("Add the variance of the noise to that of the draws when noisy=True.", Sampling)
def noise_makes_draws_no_narrower(surrogate: Surrogate) -> None:
    """Variances of 2000 draws with noise and without, the same generator; five standard errors are allowed."""
    data = scene(m=4)
    _, plain = _draws(surrogate, data, _DRAWS)
    _, noisy = _draws(surrogate, data, _DRAWS, noisy=True)
    squares = (plain - plain.mean(axis=0)) ** 2
    slack = _STANDARD_ERRORS * squares.std(axis=0) / np.sqrt(_DRAWS) + _ROUNDING * data.spread**2
    short = squares.mean(axis=0) - slack - noisy.var(axis=0)
    i = int(np.argmax(short))
    require(
        bool(short[i] <= 0.0),
        f"at point {i} the std of draws is {plain[:, i].std():.4g} without noise and {noisy[:, i].std():.4g} with it.",
    )


@law("Return a bool from is_noisy.", Smoothing)
def whether_data_are_noisy_is_a_bool(surrogate: Surrogate) -> None:
    """True or False, after one observation too."""
    for n in (1, 12):
        found = getattr(fitted(surrogate, scene(n=n)), "is_noisy", None)
        require(isinstance(found, bool | np.bool_), f"is_noisy is {found!r} after {n} observations.")


@law("Give one lengthscale for each column, in units of the encoded cube.", Scaled)
def lengthscales_are_positive_and_one_for_each_column(surrogate: Surrogate) -> None:
    """Shape (d,), finite, above zero, in 1 and 6 dimensions."""
    for d in (1, 6):
        found = _lengthscales(fitted(surrogate, scene(d)))
        require(found.shape == (d,), f"lengthscales have shape {found.shape} in {d} dimensions.")
        require(bool(np.isfinite(found).all() and (found > 0.0).all()), f"lengthscales are {found}.")


@law("Keep hyperparameters when conditioned: lies are no data to learn from.", Scaled)
def lies_leave_lengthscales_alone(surrogate: Surrogate) -> None:
    """Of a model that can be conditioned."""
    data = scene()
    model = fitted(surrogate, data)
    if isinstance(model, Conditionable):
        before, after = _lengthscales(model), _lengthscales(model.condition(Data(data.at[:2], data.y[:2])))
        require(np.array_equal(before, after), f"lengthscales were {before}, and are {after} after two lies.")


def _lengthscales(model: object) -> Array:
    if not isinstance(model, Scaled):
        raise Breach(f"{type(model).__name__} has no lengthscales, though another fit of this surrogate had.")
    return np.asarray(model.lengthscales)


LAWS = laws_in(globals())
