from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

from believer.acquisitions import EI, PointwiseObjective
from believer.batch.penalization import GaussianPenalty
from believer.errors import InvalidInput
from believer.experiments import Cell
from believer.maximize.objective import Search
from believer.problems import PROBLEMS
from believer.space import Space
from believer.surrogates import GP
from believer.surrogates.data import Data
from believer_bench.members import Entrant, Ours
from believer_bench.race import race
from believer_paper.cells.loops import FRESH, loop, printed_strategy
from believer_paper.results import Results
from believer_paper.setup.networks import PrintedNetworks
from believer_paper.setup.process import Process, box_of
from believer_paper.setup.product import Product
from believer_paper.setup.search import ScipyStarts
from believer_paper.setup.surrogates import surrogate_of
from believer_paper.work import KINDS, work


class Bowl:
    """-(x - 0.3)² (in the cube) of Levy's box, without a gradient, or with one."""

    def __init__(self, has_gradient: bool = False) -> None:
        self.has_gradient = has_gradient

    def value(self, X: Any) -> Any:
        return -((X - 0.3) ** 2).sum(axis=1)

    def value_with_gradient(self, X: Any) -> tuple[Any, Any]:
        return self.value(X), -2.0 * (X - 0.3)


class Flat(Bowl):
    def value(self, X: Any) -> Any:
        return np.zeros(len(X))


def search_of(space: Space) -> Search:
    none = np.zeros((0, space.dim))
    return Search(space.region({}), none, none)


@pytest.mark.parametrize("has_gradient", [False, True])
def test_random_starts_climb_in_the_units_of_the_box(has_gradient: bool) -> None:
    space = PROBLEMS["levy10"]().space
    starts = ScipyStarts(space)
    found = starts.maximize(Bowl(has_gradient), search_of(space), np.random.default_rng(0))
    np.testing.assert_allclose(found.x, 0.3, atol=1e-4)
    assert starts.watch.share_moved == 1.0
    assert starts.watch.starts == 10


def test_on_a_flat_surface_no_start_moves_and_a_random_point_is_chosen() -> None:
    space = PROBLEMS["hartmann6"]().space
    starts = ScipyStarts(space)
    first, second = (starts.maximize(Flat(), search_of(space), np.random.default_rng(s)).x for s in (0, 1))
    assert starts.watch.share_moved == 0.0
    assert np.abs(first - second).max() > 0.01


def test_forward_differences_are_those_of_scipy() -> None:
    from scipy.optimize import minimize

    problem = PROBLEMS["hartmann6"]()
    X = np.random.default_rng(0).random((15, 6))
    model = Process(problem.space, "twin").fit(Data(X, problem.evaluate(X)), np.random.default_rng(0))
    bound = PointwiseObjective(EI(0.01), model, float(problem.evaluate(X).min()))
    drawn = np.random.default_rng(4).random((10, 6))
    ends = [
        minimize(lambda x: -bound.value(x[None, :])[0], x, method="L-BFGS-B", bounds=[(0.0, 1.0)] * 6).x for x in drawn
    ]
    best = max(float(bound.value(end[None, :])[0]) for end in ends)
    found = ScipyStarts(problem.space).maximize(bound, search_of(problem.space), np.random.default_rng(4))
    assert found.value == pytest.approx(best, rel=1e-3)


def test_networks_predict_what_scikit_learn_predicts_in_raw_units() -> None:
    from sklearn.neural_network import MLPRegressor

    problem = PROBLEMS["levy10"]()
    X = np.random.default_rng(0).random((30, 10))
    y = problem.evaluate(X)
    model = PrintedNetworks(problem.space).fit(Data(X, y), np.random.default_rng(7))
    low, high = box_of(problem.space)
    seed = int(np.random.default_rng(7).integers(2**31, size=10)[3])
    theirs = MLPRegressor(hidden_layer_sizes=(64, 64), max_iter=2000, early_stopping=True, random_state=seed)
    theirs.fit(low + X * (high - low), (y - y.mean()) / y.std())
    at = np.random.default_rng(1).random((20, 10))
    np.testing.assert_allclose(
        model.networks.outputs(at)[3], theirs.predict(low + at * (high - low)), rtol=1e-8, atol=1e-10
    )


def test_a_penalized_product_is_zero_where_a_point_is_taken() -> None:
    problem = PROBLEMS["hartmann6"]()
    X = np.random.default_rng(0).random((15, 6))
    y = problem.evaluate(X)
    bound = PointwiseObjective(
        EI(), Process(problem.space, "twin").fit(Data(X, y), np.random.default_rng(0)), float(y.max())
    )
    at = np.random.default_rng(2).random((2, 6))
    product = Product(bound, GaussianPenalty(at[:1], np.full(6, 0.2)))
    values, plain = product.value(at), bound.value(at)
    r2 = float((((at[1] - at[0]) / 0.2) ** 2).sum())
    assert values[0] == pytest.approx(0.0, abs=1e-300)
    assert values[1] == pytest.approx(plain[1] * (1.0 - np.exp(-0.5 * r2)))


def test_the_gradient_of_a_penalized_product_is_that_of_central_differences() -> None:
    problem = PROBLEMS["hartmann6"]()
    X = np.random.default_rng(0).random((15, 6))
    y = problem.evaluate(X)
    model = Process(problem.space, "twin", renormalize=False, gradient=True).fit(Data(X, y), np.random.default_rng(0))
    product = Product(PointwiseObjective(EI(), model, float(y.max())), GaussianPenalty(X[:2] + 0.05, np.full(6, 0.4)))
    assert product.has_gradient
    at, h = np.random.default_rng(2).random((4, 6)), 1e-6
    value, gradient = product.value_with_gradient(at)
    np.testing.assert_allclose(value, product.value(at), rtol=1e-9)
    for j in range(6):
        step = h * np.eye(6)[j]
        slope = (product.value(at + step) - product.value(at - step)) / (2.0 * h)
        np.testing.assert_allclose(gradient[:, j], slope, rtol=1e-4, atol=1e-7)


def cell(strategy: str, preset: str = "printed", q: int = 2, **more: Any) -> Cell:
    settings = {"preset": preset, "problem": "hartmann6", "strategy": strategy, "q": q, "budget": 16, "n_init": 12}
    return Cell("loop", {**settings, "noise": 0.0, "options": {"process": "twin"}, **more}, 0)


def untimed(result: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in result.items() if k not in ("seconds", "cpu", "foreign")}


@pytest.mark.parametrize("strategy", ["cl_min", "kb", "lp", "random"])
def test_a_loop_is_the_same_each_time_and_starts_from_the_same_design(strategy: str) -> None:
    first, second = loop(cell(strategy)), loop(cell(strategy))
    assert untimed(first) == untimed(second)
    assert first["values"][:12] == loop(cell("random", "ours"))["values"][:12]
    assert first["batches"] == [2, 2]
    assert len(first["values"]) == 16


def test_random_points_are_the_same_whatever_the_batch_size() -> None:
    assert loop(cell("random", q=2))["values"] == loop(cell("random", q=4))["values"]


def test_the_printed_choices_are_options_that_change_a_run() -> None:
    base = loop(cell("kb", q=4, budget=20))["values"]
    for options in ({"renormalize": False}, {"renormalize": False, "gradient": True}, {"process": "sklearn"}):
        assert loop(cell("kb", q=4, budget=20, options={"process": "twin", **options}))["values"] != base
    assert printed_strategy("kb", "believed") != printed_strategy("kb")
    penalized = [loop(cell("lp", q=4, options={"process": "twin", "lengthscale": one})) for one in ("mean", "ard")]
    assert penalized[0]["values"] != penalized[1]["values"]


def test_noise_is_told_and_the_truth_is_kept() -> None:
    result = loop(cell("kb", "ours", noise=0.1))
    values, truth = np.array(result["values"]), np.array(result["truth"])
    assert 0.01 < np.std(values - truth) / np.std(truth[:12]) < 0.3


def test_every_kind_of_cell_has_its_work_and_others_are_refused() -> None:
    for kind in KINDS:
        assert isinstance(kind, str)
    with pytest.raises(InvalidInput, match="must be one of"):
        work(Cell("nonsense", {}, 0))


def test_there_is_a_surrogate_for_every_name_of_the_paper() -> None:
    space = PROBLEMS["hartmann6"]().space
    for name in ("gp", "mq_rbf", "mq_rbf_power", "neural", "forest", "fixed_rbf", "last_layer", "svr", "sparse_gp"):
        assert [callable(surrogate_of(preset, name, space).fit) for preset in ("printed", "ours")] == [True, True]
    with pytest.raises(InvalidInput, match="no surrogate"):
        surrogate_of("ours", "oracle", space)
    with pytest.raises(InvalidInput, match="preset must be"):
        surrogate_of("both", "gp", space)


def test_results_are_empty_without_cells() -> None:
    assert Results(()).presets == ()


class Former:
    """The library as it was when the paper's runs were made."""

    def enter(self, space: Space, seed: int, X0: Any, y0: Any, noisy: bool = False) -> Ours:
        return Ours(space, X0, y0, seed, strategy="cl_min", surrogate=GP(noise=1e-6), warp="none")


def test_a_loop_of_our_preset_is_the_race_of_the_bench() -> None:
    settings = {"problem": "branin", "q": 3, "budget": 12, "n_init": 4}
    ours = loop(Cell("loop", {**settings, "preset": "ours", "strategy": "cl_min", "noise": 0.0, "options": {}}, 2))
    raced = race(Cell("bench", {**settings, "member": "former"}, FRESH + 2), {"former": cast(Entrant, Former())})
    assert (ours["values"], ours["batches"]) == (raced["values"], raced["batches"])
    assert ours["min_distance"] == raced["least"]
