"""Laws of models that can be conditioned on lies: :class:`~believer.surrogates.protocols.Conditionable`."""

from __future__ import annotations

import numpy as np

from believer.arrays import Array
from believer.surrogates.data import Data
from believer.surrogates.inspection import inspected, refuse_mutation
from believer.surrogates.protocols import (
    Conditionable,
    Differentiable,
    Joint,
    Prediction,
    Sampling,
    Scaled,
    Smoothing,
    Surrogate,
)
from believer.testing.contract import Breach, law, laws_in, require
from believer.testing.scenes import UNITS, Scene, fitted, predicted, require_close, require_same_bits, scene

_CAPABILITIES: tuple[type, ...] = (Conditionable, Differentiable, Joint, Sampling, Smoothing, Scaled)

# A nugget of 1e-6 and close points make covariances of condition 1e9; eps times that, with a margin.
_ORDER_OF_SUMS = 1e-6

_FAR_OUT = 10.0


def _conditionable(surrogate: Surrogate, data: Scene) -> Conditionable:
    model = fitted(surrogate, data)
    if not isinstance(model, Conditionable):
        raise Breach(
            f"a fit to {len(data.y)} observations in {data.X.shape[1]} dimensions gave a model without condition."
        )
    return model


def _lies(model: Conditionable, d: int, count: int = 4) -> tuple[Array, Array]:
    """Points (count, d) that are not data, and plausible values (count,) there, within one std of the mean."""
    X = scene(d, m=count, seed=3).at
    at = predicted(model, X)
    return X, at.mean + at.std * np.cos(2.0 * np.arange(count))


@law("Return a new model from condition, built on copies; share arrays only if nothing writes to them.", Conditionable)
def conditioning_does_not_change_the_model(surrogate: Surrogate) -> None:
    """Bit for bit; nor does conditioning the new one change either."""
    data = scene()
    model = _conditionable(surrogate, data)
    X, y = _lies(model, data.X.shape[1])
    before = predicted(model, data.at)
    second = model.condition(Data(X[:2], y[:2]))
    refuse_mutation(model, data.at, before, "condition")
    then = predicted(second, data.at)
    second.condition(Data(X[2:3], y[2:3]))
    model.condition(Data(X[3:], y[3:]))
    refuse_mutation(model, data.at, before, "condition")
    refuse_mutation(second, data.at, then, "conditioning it, or the model that it came from, once more")


@law("Work on copies of the arguments of condition, and keep copies.", Conditionable)
def conditioning_leaves_its_arguments_alone(surrogate: Surrogate) -> None:
    """Points and values keep theirs, may be read-only, and may be overwritten afterwards."""
    data = scene()
    model = _conditionable(surrogate, data)
    X, y = _lies(model, data.X.shape[1])
    points, values = X.copy(), y.copy()
    conditioned = model.condition(Data(points, values))
    require(np.array_equal(points, X) and np.array_equal(values, y), "condition wrote to its points or values.")
    before = predicted(conditioned, data.at)
    points[:], values[:] = 0.5, 0.0
    refuse_mutation(conditioned, data.at, before, "overwriting the arrays that condition was given")
    X.flags.writeable = y.flags.writeable = False
    require_same_bits(before, predicted(model.condition(Data(X, y)), data.at), "conditioned on read-only arrays")


@law(
    "Build the conditioned model as the same class, so that it can be climbed, sampled and conditioned too.",
    Conditionable,
)
def a_conditioned_model_can_do_what_the_first_could(surrogate: Surrogate) -> None:
    """It keeps its capabilities, and predicts as it should; also after one observation, and after constant ones."""
    scenes = [scene(d, n) for d in (1, 6) for n in (1, 12)]
    flat = scene()
    for data in (*scenes, Scene(flat.X, np.full(len(flat.y), 3.0), flat.at)):
        model = _conditionable(surrogate, data)
        X, y = _lies(model, data.X.shape[1])
        conditioned = model.condition(Data(X, y))
        inspected(conditioned, np.vstack([data.at, data.X, X]))
        lost = [
            kind.__name__ for kind in _CAPABILITIES if isinstance(model, kind) and not isinstance(conditioned, kind)
        ]
        require(not lost, f"the model was {', '.join(lost)} before condition, and is not any more.")


@law("Return a model with the same predictions if condition is given no rows.", Conditionable)
def conditioning_on_nothing_changes_nothing(surrogate: Surrogate) -> None:
    """k = 0."""
    data = scene()
    model = _conditionable(surrogate, data)
    conditioned = model.condition(Data(np.zeros((0, data.X.shape[1])), np.zeros(0)))
    require_same_bits(predicted(model, data.at), predicted(conditioned, data.at), "conditioned on no rows")


@law(
    "Freeze hyperparameters, centers, features and the scaling of y; two updates then equal one update with both.",
    Conditionable,
)
def conditioning_in_two_steps_is_conditioning_at_once(surrogate: Surrogate) -> None:
    """condition(A) then (B) = condition(A and B), to rounding."""
    data = scene()
    model = _conditionable(surrogate, data)
    X, y = _lies(model, data.X.shape[1])
    at_once = predicted(model.condition(Data(X, y)), data.at)
    for k in (1, 3):
        stepwise = predicted(model.condition(Data(X[:k], y[:k])).condition(Data(X[k:], y[k:])), data.at)
        require_close(at_once, stepwise, data.spread, _ORDER_OF_SUMS, f"told {k} of 4 lies first, then the others")


@law("The result of condition must not depend on the order of its data.", Conditionable)
def the_order_of_lies_does_not_matter(surrogate: Surrogate) -> None:
    """Backwards gives the same, to rounding."""
    data = scene()
    model = _conditionable(surrogate, data)
    X, y = _lies(model, data.X.shape[1])
    forth, back = model.condition(Data(X, y)), model.condition(Data(X[::-1], y[::-1]))
    require_close(
        predicted(forth, data.at), predicted(back, data.at), data.spread, _ORDER_OF_SUMS, "told the lies backwards"
    )


@law(
    "Use the values passed to condition: after it, the mean at a point is closer to its value.",
    Conditionable,
)
def the_mean_moves_toward_a_lie(surrogate: Surrogate) -> None:
    """A lie above and one below what is predicted, at each of several points: the mean comes nearer to it.

    It may overshoot: with a kernel that is not positive definite a ridge has the wrong sign ([paper]'s MQ-RBF).
    """
    data = scene()
    model = _conditionable(surrogate, data)
    before = predicted(model, data.at).mean
    for x, old in zip(data.at, before, strict=True):
        for lie in (old - 2.0 * data.spread, old + 2.0 * data.spread):
            new = float(predicted(model.condition(Data(x[None, :], np.array([lie]))), x[None, :]).mean[0])
            share = (new - old) / (lie - old)
            require(
                abs(share - 1.0) < 1.0,
                f"the mean was {old:.6g}, the lie {lie:.6g}, the mean after it {new:.6g}: {share:.3g} of the way.",
            )


@law("Scale the values passed to condition by the scaling of y in the fit: they are in the same units.", Conditionable)
def the_units_of_lies_do_not_matter(surrogate: Surrogate) -> None:
    """Data and lies times 2^±40 multiply mean and std by as much."""
    data = scene()
    model = _conditionable(surrogate, data)
    X, y = _lies(model, data.X.shape[1])
    plain = predicted(model.condition(Data(X, y)), data.at)
    for unit in UNITS:
        conditioned = _conditionable(surrogate, Scene(data.X, unit * data.y, data.at)).condition(Data(X, unit * y))
        at = inspected(conditioned, data.at)
        back = Prediction(at.mean / unit, at.std / unit)
        require_close(plain, back, data.spread, 1e-6, f"with data and lies in units of {unit:.1e}")


@law(
    "Use a nugget or a floor for repeated points: a model is conditioned on them after a failed or repeated trial.",
    Conditionable,
)
def known_points_may_be_conditioned_on_again(surrogate: Surrogate) -> None:
    """Data points, three times over, with their own values and with others: the mean stays near the data."""
    data = scene()
    model = _conditionable(surrogate, data)
    everywhere = np.vstack([data.at, data.X])
    low, high = float(data.y.min()), float(data.y.max()) + data.spread
    room = _FAR_OUT * (high - low)
    for values in (data.y[:3], data.y[:3] + data.spread):
        conditioned = model
        for _ in range(3):
            conditioned = conditioned.condition(Data(data.X[:3], values))
        mean = inspected(conditioned, everywhere).mean
        require(
            bool((mean > low - room).all() and (mean < high + room).all()),
            f"data and lies are in [{low:.4g}, {high:.4g}], the mean is now in [{mean.min():.4g}, {mean.max():.4g}].",
        )


LAWS = laws_in(globals())
