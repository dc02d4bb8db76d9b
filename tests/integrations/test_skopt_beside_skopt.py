"""The same calls to scikit-optimize and to the door with its names: the same points, shapes, types and errors."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from each import each

from believer.errors import BelieverError
from believer.integrations import skopt as ours
from believer.integrations.skopt import plots as plots

pytest.importorskip("sklearn")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # what it warns of is between it and scikit-learn
    theirs = pytest.importorskip("skopt")
    pytest.importorskip("skopt.plots")

Call = Callable[[Any], Any]
MIXED = [(-5.0, 10.0), (1, 15), (1e-4, 1.0, "log-uniform"), (2, 64, "log-uniform", 2), ["a", "b", "c"], ["u", "v"], [7]]


def quietly(call: Call, library: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(library)


def shape(value: Any) -> Any:
    """What a caller can rely on: kinds and sizes. Theirs makes NumPy's strings of categories that a model chose."""
    if isinstance(value, list | tuple):
        return [type(value).__name__, *map(shape, value)]
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return value.dtype.kind, value.shape
    return "str" if isinstance(value, str) else type(value).__name__


def bowl(x: list[Any]) -> float:
    return float((x[0] - 1.0) ** 2 + 0.1 * x[1])


def told(library: Any, n: int = 6, **options: Any) -> Any:
    """An optimizer that was told n results, of which five are initial points."""
    optimizer = library.Optimizer([(-2.0, 2.0), (0, 9)], n_initial_points=5, random_state=1, **options)
    for i in range(n):
        optimizer.tell([0.3 * i - 1.0, i], 1.0 * i)
    return optimizer


def fields(result: Any) -> dict[str, Any]:
    found = {name: shape(result[name]) for name in ("fun", "func_vals", "x_iters")} | {"x": len(result.x)}
    return found | {"models": len(result.models), "specs": result.specs["function"], "keys": sorted(result.keys())}


def stopped_by(library: Any, name: str, *settings: Any) -> int:
    stopper = getattr(library.callbacks, name)(*settings)
    values = iter([5.0, 4.0, 3.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0])
    return len(
        library.forest_minimize(
            lambda x: next(values), [(0, 3)], n_calls=10, n_initial_points=10, random_state=3, callback=stopper
        ).x_iters
    )


def timed(library: Any, callback: Any) -> Any:
    library.gp_minimize(bowl, [(-2.0, 2.0), (0, 9)], n_calls=4, n_initial_points=4, callback=callback)
    return callback


CALLS: dict[str, Call] = {
    "a first point": lambda sk: sk.Optimizer(MIXED, random_state=0).ask(),
    "the types of a first batch": lambda sk: sk.Optimizer(MIXED, random_state=0).ask(4),
    "a point of the model's": lambda sk: told(sk).ask(),
    "points of the model's": lambda sk: told(sk).ask(3, strategy="cl_max"),
    "a batch across the last initial point": lambda sk: told(sk, 3).ask(4),
    "what tell returns": lambda sk: fields(told(sk).tell([0.0, 3], 2.0)),
    "telling several": lambda sk: fields(told(sk).tell([[0.0, 3], (1.0, 4)], [2.0, 3])),
    "telling without a fit": lambda sk: fields(told(sk).tell([0.0, 3], 2.0, fit=False)),
    "run": lambda sk: fields(told(sk).run(bowl, n_iter=2)),
    "what a model predicts": lambda sk: (
        told(sk).models[-1].predict(told(sk).space.transform([[0.1, 2]]), return_std=True)
    ),
    "an optimizer of a forest": lambda sk: fields(told(sk, base_estimator="RF").get_result()),
    "initial points of a generator": lambda sk: sk.Optimizer(MIXED[:-1], initial_point_generator="lhs").ask(),
    "gp_minimize": lambda sk: fields(sk.gp_minimize(bowl, [(-2.0, 2.0), (0, 9)], n_calls=12, random_state=0)),
    "gp_minimize from a point": lambda sk: fields(
        sk.gp_minimize(bowl, [(-2.0, 2.0), (0, 9)], n_calls=6, n_initial_points=3, x0=[1.0, 2], random_state=0)
    ),
    "gp_minimize from results": lambda sk: fields(
        sk.gp_minimize(bowl, [(-2.0, 2.0), (0, 9)], n_calls=4, n_initial_points=2, x0=[[1.0, 2], [0.0, 0]], y0=(1, 2.0))
    ),
    "gp_minimize without noise": lambda sk: fields(
        sk.gp_minimize(bowl, [(-2.0, 2.0), (0, 9)], n_calls=7, n_initial_points=5, noise=1e-10, acq_func="LCB", kappa=3)
    ),
    "gp_minimize by the former name of an option": lambda sk: fields(
        sk.gp_minimize(bowl, [(-2.0, 2.0), (0, 9)], n_calls=6, n_random_starts=5, n_jobs=1, n_points=100)
    ),
    "what an optimizer may cost": lambda sk: fields(
        told(sk, n_jobs=1, model_queue_size=None, acq_optimizer_kwargs={"n_points": 50}).get_result()
    ),
    "forest_minimize": lambda sk: fields(
        sk.forest_minimize(bowl, [(-2.0, 2.0), (0, 9)], n_calls=7, n_initial_points=5, acq_func="PI", xi=0.1)
    ),
    "a callback that returns True": lambda sk: fields(
        sk.gp_minimize(bowl, [(-2.0, 2.0), (0, 9)], n_calls=20, callback=[lambda result: len(result.x_iters) == 4])
    ),
    "bounds": lambda sk: sk.Space(MIXED).bounds,
    "names": lambda sk: sk.Space([sk.space.Real(0, 1, name="lr"), (1, 4)]).dimension_names,
    "a point within": lambda sk: [2.0, 3, 0.5, 8, "b", "u", 7] in sk.Space(MIXED),
    "how it prints": lambda sk: repr(sk.Space([(0.5, 2.0), (1, 9, "log-uniform")])),
    "named arguments": lambda sk: sk.utils.use_named_args(
        [sk.space.Real(0, 9, name="a"), sk.space.Integer(0, 9, name="b")]
    )(lambda b, a: a - b)([5.0, 3]),
    "a list of one is a choice": lambda sk: type(sk.Space([[3]]).dimensions[0]).__name__,
    "a list of two numbers is a range": lambda sk: type(sk.Space([[3, 5]]).dimensions[0]).__name__,
    "three numbers are choices": lambda sk: type(sk.Space([(3, 5, 7)]).dimensions[0]).__name__,
    "DeltaYStopper": lambda sk: stopped_by(sk, "DeltaYStopper", 0.1, 3),
    "DeltaXStopper": lambda sk: stopped_by(sk, "DeltaXStopper", 1),
    "HollowIterationsStopper": lambda sk: stopped_by(sk, "HollowIterationsStopper", 3, 0.5),
    "ThresholdStopper": lambda sk: stopped_by(sk, "ThresholdStopper", 0.5),
    "kinds of dimensions": lambda sk: [
        [isinstance(dim, kind) for kind in (sk.space.Real, sk.space.Integer, sk.space.Categorical)]
        for dim in (sk.space.Real(0, 1), sk.space.Integer(1, 5), sk.space.Categorical("ab"))
    ],
    "DeadlineStopper": lambda sk: stopped_by(sk, "DeadlineStopper", 0.0),
    "the seconds of a deadline": lambda sk: len(timed(sk, sk.callbacks.DeadlineStopper(100.0)).iter_time),
    "the seconds of evaluations": lambda sk: len(timed(sk, sk.callbacks.TimerCallback()).iter_time),
    "the plot of the tutorials": lambda sk: type(
        sk.plots.plot_gaussian_process(
            sk.gp_minimize(lambda x: x[0] ** 2, [(-2.0, 2.0)], n_calls=6, n_initial_points=5),
            **{"objective": lambda x: x[0] ** 2, "noise_level": 0.1, "show_next_point": False, "show_acq_func": True},
        )
    ),
    "where a model expects the least": lambda sk: len(sk.expected_minimum(told(sk).get_result(), random_state=0)[0]),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_same_call_has_an_answer_of_the_same_shape_and_types(name: str) -> None:
    mine, yours = quietly(CALLS[name], ours), quietly(CALLS[name], theirs)
    assert shape(mine) == shape(yours)
    if not isinstance(yours, list | tuple | np.ndarray) or name in ("a first point", "the types of a first batch"):
        assert mine == yours


MISTAKES: dict[str, Call] = {
    "bounds upside down": lambda sk: sk.space.Real(1, 0),
    "bounds that are equal": lambda sk: sk.space.Integer(1, 1),
    "an unknown prior": lambda sk: sk.space.Real(0, 1, "normal"),
    "a logarithm of zero": lambda sk: sk.space.Real(0, 1, "log-uniform"),
    "an unknown transform": lambda sk: sk.space.Real(0, 1, transform="onehot"),
    "an unknown transform of choices": lambda sk: sk.space.Categorical(["a"], transform="hash"),
    "a name that is none": lambda sk: sk.space.Real(0, 1, name=3),
    "no dimension": lambda sk: sk.Space([3]),
    "an empty dimension": lambda sk: sk.Space([()]),
    "half a range": lambda sk: sk.Space([(1, None)]),
    "shares of too few choices": lambda sk: sk.space.Categorical(["a", "b", "c"], prior=[0.5, 0.5]).rvs(2),
    "shares that are no whole": lambda sk: sk.space.Categorical(["a", "b"], prior=[0.5, 0.6]).rvs(2),
    "no space": lambda sk: sk.Optimizer(None),
    "an unknown acquisition": lambda sk: sk.Optimizer([(0, 1)], acq_func="UCB"),
    "fewer than no initial points": lambda sk: sk.Optimizer([(0, 1)], n_initial_points=-1),
    "an unknown estimator": lambda sk: sk.Optimizer([(0, 1)], "SVM"),
    "an unknown search": lambda sk: sk.Optimizer([(0, 1)], acq_optimizer="grid"),
    "climbing on a forest": lambda sk: sk.Optimizer([(0, 1)], "RF", acq_optimizer="lbfgs"),
    "a seed that is none": lambda sk: sk.Optimizer([(0, 1)], random_state="one"),
    "an unknown generator": lambda sk: sk.Optimizer([(0, 1)], initial_point_generator="latin"),
    "asking for none": lambda sk: told(sk).ask(0),
    "asking for half a point": lambda sk: told(sk).ask(2.5),
    "an unknown lie": lambda sk: told(sk).ask(2, strategy="kb"),
    "asking before anything is known": lambda sk: sk.Optimizer([(0, 1)], n_initial_points=0).ask(),
    "asking for two before anything is known": lambda sk: sk.Optimizer([(0, 1)], n_initial_points=0).ask(2),
    "a point outside": lambda sk: told(sk).tell([5.0, 2], 1.0),
    "one of two points outside": lambda sk: told(sk).tell([[5.0, 2], [1.0, 2]], [1.0, 2.0]),
    "a point too short": lambda sk: told(sk).tell([1.0], 1.0),
    "words for numbers": lambda sk: told(sk).tell(["a", 2], 1.0),
    "an array for a point": lambda sk: told(sk).tell(np.array([1.0, 2.0]), 1.0),
    "a value that is none": lambda sk: told(sk).tell([1.0, 2], "1.0"),
    "a complex value": lambda sk: told(sk).tell([1.0, 2], 1.0 + 2.0j),
    "a list for a value": lambda sk: told(sk).tell([1.0, 2], [1.0]),
    "one value for two points": lambda sk: told(sk).tell([[1.0, 2], [1.0, 3]], [1.0]),
    "a space that contradicts x0": lambda sk: sk.gp_minimize(bowl, [(0, 1), (0, 1)], x0=[[0, 1, 1]]),
    "x0 that is no list": lambda sk: sk.gp_minimize(bowl, [(0, 1), (0, 1)], x0=0.5),
    "x0 as a tuple of points": lambda sk: sk.gp_minimize(bowl, [(0, 1), (0, 1)], x0=([0, 1], [1, 1])),
    "y0 too short": lambda sk: sk.gp_minimize(bowl, [(0, 1), (0, 1)], x0=[[0, 1], [1, 1]], y0=[1]),
    "too few calls": lambda sk: sk.gp_minimize(bowl, [(0, 1), (0, 1)], n_calls=5),
    "nothing to begin with": lambda sk: sk.gp_minimize(bowl, [(0, 1), (0, 1)], n_initial_points=0),
    "a callback that is none": lambda sk: sk.gp_minimize(bowl, [(0, 1), (0, 1)], callback=3),
    "callbacks of which one is none": lambda sk: sk.gp_minimize(bowl, [(0, 1), (0, 1)], callback=[print, 3]),
    "an unknown option": lambda sk: sk.gp_minimize(bowl, [(0, 1), (0, 1)], budget=3),
    "dimensions without names": lambda sk: sk.utils.use_named_args([sk.space.Real(0, 1)])(bowl),
    "named arguments, one too few": lambda sk: sk.utils.use_named_args([sk.space.Real(0, 1, name="a")])(bowl)([1, 2]),
    "an early stopper without a criterion": lambda sk: sk.callbacks.EarlyStopper()(None),
    "a file that is not there": lambda sk: sk.load("no such file"),
    "a model of one row": lambda sk: told(sk).models[-1].predict(np.array([0.5, 0.5])),
    "no result to draw": lambda sk: sk.plots.plot_convergence(3),
}


@pytest.fixture(autouse=True)
def _no_figures() -> Iterator[None]:
    import matplotlib.pyplot as plt

    plt.switch_backend("Agg")
    yield
    plt.close("all")


@each("name", MISTAKES)
def test_the_same_mistake_is_an_error_of_the_same_kind(name: str) -> None:
    with pytest.raises(Exception) as yours:  # which it is, is what the other must be, too
        quietly(MISTAKES[name], theirs)
    with pytest.raises(type(yours.value)) as mine:
        quietly(MISTAKES[name], ours)
    pythons = (TypeError, NotImplementedError, KeyError, FileNotFoundError)
    assert isinstance(mine.value, (BelieverError, *pythons))


@pytest.mark.parametrize("transform", ["identity", "normalize"])
@pytest.mark.parametrize("seed", [0, 7])
def test_the_same_random_state_draws_the_same_points(transform: str, seed: int) -> None:
    drawn = []
    for library in (ours, theirs):
        space = library.Space([dim for dim in MIXED if dim != [7]])
        if transform == "normalize" and library is theirs:
            space.set_transformer(transform)
        elif transform == "normalize":
            for dimension in space:
                dimension.transform = transform
        drawn.append(space.rvs(50, random_state=seed))
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize("transform", ["onehot", "label", "normalize"])
def test_shares_decide_what_is_drawn_as_they_do_there(transform: str) -> None:
    mine, yours = (
        library.space.Categorical([1, 2, 4], prior=[0.5, 0.3, 0.2], transform=transform) for library in (ours, theirs)
    )
    assert mine.rvs(20, random_state=3) == list(yours.rvs(20, random_state=np.random.RandomState(3)))


def test_the_same_call_of_what_is_broken_there_where_it_is_not() -> None:
    def call(library: Any) -> Any:
        return fields(library.dummy_minimize(bowl, [(-2.0, 2.0), (0, 9)], n_calls=12, random_state=0))

    mine = quietly(call, ours)
    try:
        yours = quietly(call, theirs)
    except Exception as error:
        pytest.skip(f"scikit-optimize fails here, on this scikit-learn: {error!r:.200}")
    assert mine == yours


@each("name", ["gp_minimize", "forest_minimize", "gbrt_minimize", "dummy_minimize"])
def test_options_of_a_minimizer_have_the_places_that_they_have_there(name: str) -> None:
    minimize, there = getattr(ours, name), [*inspect.signature(getattr(theirs, name)).parameters]
    values: dict[str, Any] = {
        **{"base_estimator": "ET" if name == "forest_minimize" else None, "n_calls": 5, "n_random_starts": None},
        **{"n_initial_points": 3, "initial_point_generator": "lhs", "acq_func": "EI", "acq_optimizer": "auto"},
        **{"x0": None, "y0": None, "random_state": 3, "verbose": False, "callback": None},
    }
    options = {each: values[each] for each in there if each in values}
    assert [*options] == there[2 : 2 + len(options)]
    dimensions = [(-2.0, 2.0), (0, 9)]
    by_place, by_name = minimize(bowl, dimensions, *options.values()), minimize(bowl, dimensions, **options)
    assert by_place.x_iters == by_name.x_iters
    assert by_place.specs["args"]["n_calls"] == 5
    for wrong in ({"n_calls": 4}, {"callback": None}):
        with pytest.raises(TypeError, match="each option once"):
            minimize(bowl, dimensions, *options.values(), **wrong)
    with pytest.raises(TypeError, match="each option once"):
        minimize(bowl, dimensions, *options.values(), *range(30))


def test_options_of_an_optimizer_have_the_places_that_they_have_there() -> None:
    mine = [*inspect.signature(ours.Optimizer).parameters]
    assert mine == [*inspect.signature(theirs.Optimizer).parameters][: len(mine)]


def test_a_former_option_that_is_none_says_nothing() -> None:
    result = ours.gp_minimize(bowl, [(-2.0, 2.0), (0, 9)], n_calls=4, n_random_starts=None, n_initial_points=2)
    assert len(result.models) == 3
