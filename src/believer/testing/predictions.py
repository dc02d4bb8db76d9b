"""Laws of every model: its predictions, the values that it must not change, and the data from which it can learn."""

from __future__ import annotations

import pickle

import numpy as np

from believer.surrogates.data import Data
from believer.surrogates.inspection import complete, inspected, refuse_certainty, refuse_mutation, refuse_unfinite
from believer.surrogates.protocols import Model, Prediction, Surrogate
from believer.testing.contract import law, laws_in, require
from believer.testing.fake import FakeSurrogate
from believer.testing.scenes import UNITS, Scene, fitted, predicted, require_close, require_same_bits, scene

_DIMENSIONS = (1, 6)

# Rounding may differ with the number of points, for BLAS takes other paths; a covariance of condition 1e6 magnifies it.
_ROUNDING = 1e-8


def _predictions(surrogate: Surrogate) -> list[tuple[Model, Prediction]]:
    """In 1 and 6 dimensions: at one point; at many, with the data and two corners of the cube among them."""
    found = []
    for d in _DIMENSIONS:
        data = scene(d)
        model = fitted(surrogate, data)
        many = np.vstack([data.at, data.X, np.zeros((1, d)), np.ones((1, d))])
        found += [(model, complete(model, X)) for X in (data.at[:1], many)]
    return found


@law("Return Prediction(mean, std) from predict, two float arrays of shape (m,), for m = 1 too.")
def a_prediction_has_a_mean_and_a_std_for_every_point(surrogate: Surrogate) -> None:
    """In 1 and 6 dimensions, at one point and at many."""
    _predictions(surrogate)


@law("Standardize y, guard divisions and roots, and add a nugget or jitter to matrices before they are factored.")
def predictions_are_finite(surrogate: Surrogate) -> None:
    """At the data and at corners of the cube too."""
    for model, prediction in _predictions(surrogate):
        refuse_unfinite(prediction, type(model).__name__)


@law("Floor the std, e.g. at 1e-9 of the scale of y: acquisitions divide by it.")
def the_std_is_above_zero(surrogate: Surrogate) -> None:
    """At the data too, where it is least."""
    for model, prediction in _predictions(surrogate):
        refuse_certainty(prediction, type(model).__name__)


@law("Draw no random numbers in predict, and change nothing on which the next call depends.")
def predicting_twice_gives_the_same_bits(surrogate: Surrogate) -> None:
    """Two calls in a row, at the same points."""
    data = scene()
    model = fitted(surrogate, data)
    require_same_bits(predicted(model, data.at), predicted(model, data.at), "at the second call of predict")


@law("Keep models frozen: predict uses the values that fit has stored, and stores nothing.")
def predicting_elsewhere_does_not_change_the_model(surrogate: Surrogate) -> None:
    """At other points, more of them, in between."""
    data = scene()
    model = fitted(surrogate, data)
    before = predicted(model, data.at)
    model.predict(scene(m=20, seed=1).at)
    refuse_mutation(model, data.at, before, "predict")


@law("Work on a copy of the points that predict is given.")
def predict_leaves_its_points_as_they_were(surrogate: Surrogate) -> None:
    """X (m, d) of predict."""
    data = scene()
    model, X = fitted(surrogate, data), data.at.copy()
    model.predict(X)
    require(np.array_equal(X, data.at), "the array that predict was given has other values after the call.")


@law("The prediction at a point must depend on that point only, and not on the other points of the call.")
def a_point_is_predicted_alike_alone_and_among_others(surrogate: Surrogate) -> None:
    """To rounding; in any order, from a view that is neither contiguous nor writable."""
    data = scene(m=9)
    model = fitted(surrogate, data)
    together = predicted(model, data.at)
    view = np.asfortranarray(data.at)[::-2]
    view.flags.writeable = False
    others = complete(model, view)
    half = Prediction(together.mean[::-2], together.std[::-2])
    require_close(half, others, data.spread, _ROUNDING, "asked for with fewer points, in another order")
    for i, x in enumerate(data.at):
        single = predicted(model, x[None, :])
        one = Prediction(together.mean[i : i + 1], together.std[i : i + 1])
        require_close(one, single, data.spread, _ROUNDING, "asked for alone")


@law("Return arrays of shape (0,) if predict is given (0, d): a search whose constraint allows no point does that.")
def no_points_get_an_empty_prediction(surrogate: Surrogate) -> None:
    """m = 0."""
    model = fitted(surrogate, scene())
    complete(model, np.zeros((0, 2)))


@law("Work on copies of X and y; they may be read-only, because a study passes the same arrays to others.")
def fit_leaves_its_data_as_they_were(surrogate: Surrogate) -> None:
    """Writable arrays keep their values, and read-only ones are accepted."""
    data = scene()
    X, y = data.X.copy(), data.y.copy()
    surrogate.fit(Data(X, y), np.random.default_rng(0))
    for name, now, before in (("X", X, data.X), ("y", y, data.y)):
        require(np.array_equal(now, before), f"the {name} that fit was given has other values after the call.")
        now.flags.writeable = False
    surrogate.fit(Data(X, y), np.random.default_rng(0))


@law("Copy the arrays that the model keeps (believer.arrays.frozen does), because the caller may change its own.")
def later_changes_of_the_data_do_not_reach_the_model(surrogate: Surrogate) -> None:
    """X and y are overwritten after the fit."""
    data = scene()
    X, y = data.X.copy(), data.y.copy()
    model = surrogate.fit(Data(X, y), np.random.default_rng(0))
    before = predicted(model, data.at)
    X[:], y[:] = 0.5, 0.0
    refuse_mutation(model, data.at, before, "overwriting the arrays that fit was given")


@law("Draw every random number from the rng passed to fit, and store nothing in the recipe.")
def the_same_generator_gives_the_same_model_bit_for_bit(surrogate: Surrogate) -> None:
    """Also when the recipe was used for other data in between."""
    data = scene()
    first = predicted(fitted(surrogate, data), data.at)
    fitted(surrogate, scene(d=3, seed=1), seed=1)
    require_same_bits(first, predicted(fitted(surrogate, data), data.at), "fitted again with the same generator")


@law("Return a new model from every fit, and do not change the recipe.")
def a_later_fit_leaves_earlier_models_as_they_were(surrogate: Surrogate) -> None:
    """Fit, fit to other data, look at the first model again."""
    data = scene()
    model = fitted(surrogate, data)
    before = predicted(model, data.at)
    fitted(surrogate, scene(n=9, seed=1))
    refuse_mutation(model, data.at, before, "a later fit")


@law("Use `previous` as a hint only: ignore models of other kinds, and never change it.")
def any_model_may_be_a_warm_start(surrogate: Surrogate) -> None:
    """A model of this surrogate on fewer data, and one of another kind; both stay as they were."""
    data = scene()
    fewer = Scene(data.X[:-2], data.y[:-2], data.at)
    for previous in (fitted(surrogate, fewer), fitted(FakeSurrogate(), fewer)):
        before = predicted(previous, data.at)
        inspected(fitted(surrogate, data, previous=previous), data.at)
        refuse_mutation(previous, data.at, before, "a fit that was warm-started from it")


@law("Make it work with n = 1: a study may ask for a suggestion after its first result.")
def one_observation_is_enough(surrogate: Surrogate) -> None:
    """In 1 and 6 dimensions."""
    for d in _DIMENSIONS:
        data = scene(d, n=1)
        inspected(fitted(surrogate, data), np.vstack([data.at, data.X]))


@law("Do not divide by the spread of y without a floor (believer.surrogates.gp.standardization has one).")
def constant_values_are_no_trouble(surrogate: Surrogate) -> None:
    """All y the same: zero, a large number, a small one."""
    data = scene()
    for value in (0.0, 3.0e12, -2.0e-12):
        flat = Scene(data.X, np.full(len(data.X), value), data.at)
        inspected(fitted(surrogate, flat), np.vstack([data.at, data.X]))


@law("Expect the same point more than once: covariances get a nugget, distances a floor.")
def repeated_points_are_no_trouble(surrogate: Surrogate) -> None:
    """Every point twice, with the same value and with another one; and one point only, many times."""
    data = scene()
    twice = np.vstack([data.X, data.X])
    for X, y in (
        (twice, np.concatenate([data.y, data.y])),
        (twice, np.concatenate([data.y, data.y + data.spread])),
        (np.repeat(data.X[:1], len(data.X), axis=0), data.y),
    ):
        inspected(fitted(surrogate, Scene(X, y, data.at)), np.vstack([data.at, X]))


@law("Standardize y before learning and undo that in predict: y may be in units of 1e12 or of 1e-12.")
def the_units_of_y_do_not_matter(surrogate: Surrogate) -> None:
    """y times 2^±40 multiplies mean and std by as much."""
    data = scene()
    plain = predicted(fitted(surrogate, data), data.at)
    for unit in UNITS:
        scaled = inspected(fitted(surrogate, Scene(data.X, unit * data.y, data.at)), data.at)
        back = Prediction(scaled.mean / unit, scaled.std / unit)
        require_close(plain, back, data.spread, 1e-6, f"with y in units of {unit:.1e}")


@law("Subtract the mean of y before learning and add it in predict: zero is not a special value.")
def the_zero_of_y_does_not_matter(surrogate: Surrogate) -> None:
    """y plus 1000 times its spread adds as much to the mean, nothing to the std: to 5 % of the spread, in the median.

    Shifted data are rounded otherwise; a solver may then stop earlier, or a tree split elsewhere at a few points.
    """
    data = scene(m=20)
    plain, shift = predicted(fitted(surrogate, data), data.at), 1000.0 * data.spread
    moved = inspected(fitted(surrogate, Scene(data.X, data.y + shift, data.at)), data.at)
    for part, one, two in (("mean", plain.mean, moved.mean - shift), ("std", plain.std, moved.std)):
        off = float(np.median(np.abs(two - one))) / data.spread
        require(off <= 0.05, f"with {shift:.4g} added to y, the {part} is off by {off:.3g} of the spread of y.")


@law("Hold plain data and importable classes and functions only: no lambdas, no open files, no local classes.")
def recipe_and_model_survive_pickling_bit_for_bit(surrogate: Surrogate) -> None:
    """Seeds run in other processes."""
    data = scene()
    model = fitted(surrogate, data)
    before = predicted(model, data.at)
    copy: Model = pickle.loads(pickle.dumps(model))
    require_same_bits(before, predicted(copy, data.at), "from a pickled and unpickled model")
    recipe: Surrogate = pickle.loads(pickle.dumps(surrogate))
    require_same_bits(before, predicted(fitted(recipe, data), data.at), "from a pickled and unpickled recipe")


LAWS = laws_in(globals())
