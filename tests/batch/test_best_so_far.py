"""Which points are feasible, what is to be beaten and where the front is, of results and of what is believed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from batch_requests import declared, request_for

from believer.acquisitions.feasibility import Limits
from believer.acquisitions.hypervolume import nondominated
from believer.arrays import Array, frozen
from believer.batch import Data, Learned, Output, Pending
from believer.batch.best_so_far import BestSoFar, best_among, best_places, best_so_far, real_incumbent
from believer.batch.learned import Part, is_noisy
from believer.space.box import Block, Box
from believer.surrogates import GP
from believer.surrogates.protocols import Prediction


@dataclass(frozen=True)
class Fixed:
    """A model that expects the sum of a point's coordinates, as surely as it is told; it records what it is asked."""

    std: float = 0.1
    is_noisy: bool = False
    asked: list[Array] = field(default_factory=list, compare=False)

    def predict(self, X: Array) -> Prediction:
        self.asked.append(X)
        return Prediction(X.sum(axis=1), np.full(len(X), self.std))


@dataclass(frozen=True)
class Silent:
    """A model that says nothing of noise."""

    def predict(self, X: Array) -> Prediction:
        return Prediction(np.zeros(len(X)), np.ones(len(X)))


POINTS = frozen(np.column_stack([0.1 * np.arange(9.0), np.zeros(9)]))


def rows(values: dict[str, float]) -> tuple[tuple[int, ...], Data]:
    """Trials and results: "t3" has its value at the third of the points."""
    ids = [int(name[1:]) for name in values]
    return tuple(ids), Data(frozen(POINTS[ids]), frozen(np.array([*values.values()])))


def known(
    seen: dict[str, float],
    lies: dict[str, float] | None = None,
    limits: Limits | None = None,
    probability: float = 0.5,
    model: Any = None,
    exact: bool = False,
) -> Part:
    """What is known and believed of an output."""
    ids, data = rows(seen)
    output = Output("v", limits=limits, probability=probability, exact=exact)
    model = Fixed() if model is None else model
    learned = Learned(output, ids, data, Pending((), frozen(POINTS[:0])), model, model)
    believed, lied = rows(lies or {})
    return Part(learned, model, believed, lied.X, lied.y)


def aim(**values: float) -> Part:
    return known(values)


def limit(within: Limits, probability: float = 0.5, **values: float) -> Part:
    return known(values, limits=within, probability=probability)


def here_of(*parts: Part) -> BestSoFar:
    return best_among(parts, GP())


# Points


def test_points_count_where_every_objective_is_known_or_believed() -> None:
    here = here_of(known({"t0": 1.0, "t1": 2.0}, {"t3": 0.5}), known({"t0": 2.0, "t2": 1.0, "t3": 7.0}, {"t1": 3.0}))
    assert here.ids.tolist() == [0, 1, 3]
    np.testing.assert_array_equal(here.Y, [[1.0, 2.0], [2.0, 3.0], [0.5, 7.0]])
    np.testing.assert_array_equal(here.X, POINTS[[0, 1, 3]])
    np.testing.assert_array_equal(here.seen, here.Y[:, 0])
    assert here.real.tolist() == [True, False, False]
    assert here.feasible.all()
    assert here.front().tolist() == [0, 2]
    assert here.incumbent == 0.5
    assert here.incumbent_of_data == 1.0


@pytest.mark.parametrize("order", [[2, 0, 1, 3], [3, 2, 1, 0]])
def test_results_may_come_in_any_order(order: list[int]) -> None:
    """Of one output and of another, as trials return."""
    values = {f"t{i}": float(v) for i, v in enumerate((3.0, 1.0, 4.0, 2.0))}
    other = {f"t{i}": float(v) for i, v in enumerate((0.0, 9.0, 1.0, 5.0))}
    shuffled = {name: other[name] for name in np.array([*other])[order]}
    for within in (None, Limits(high=4.0)):
        one, two = (here_of(aim(**values), known(seen, limits=within)) for seen in (other, shuffled))
        for name in ("ids", "X", "Y", "feasible", "real"):
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


def test_no_results_are_no_points() -> None:
    here = here_of(aim(t0=1.0), aim(t1=1.0), limit(Limits(high=0.0), t0=1.0))
    assert (here.ids.tolist(), here.X.shape, here.Y.shape) == ([], (0, 2), (0, 2))
    assert here.incumbent is None
    assert here.incumbent_of_data is None


def test_some_of_the_points_are_as_among_all() -> None:
    here = here_of(aim(t0=1.0, t1=2.0, t2=0.0), limit(Limits(high=0.5), t0=1.0, t1=0.0, t2=0.5))
    some = here.among(np.array([True, True, False]))
    assert some.ids.tolist() == [0, 1]
    assert some.feasible.tolist() == [False, True]
    assert (here.incumbent, some.incumbent) == (0.0, 2.0)


# Limits


@pytest.mark.parametrize("probability", [0.01, 0.5, 0.999])
def test_what_was_seen_to_reach_a_limit_is_feasible_and_what_lies_beyond_is_not(probability: float) -> None:
    limits = limit(Limits(-1.0, 0.3), probability, t0=0.3, t1=-1.0, t2=0.30001, t3=0.0, t4=-1.00001)
    here = here_of(aim(t0=4.0, t1=3.0, t2=0.0, t3=5.0, t4=1.0), limits)
    assert here.feasible.tolist() == [True, True, False, True, False]
    assert here.incumbent == 3.0
    np.testing.assert_array_equal(here.log_feasible[here.feasible], 0.0)


def test_a_limit_that_is_not_known_yet_is_what_its_model_expects() -> None:
    limits = limit(Limits(high=0.3), 0.9, t0=0.0)
    assert here_of(aim(t0=1.0, t1=1.0, t6=1.0), limits).feasible.tolist() == [True, True, False]
    surer = here_of(aim(t0=1.0, t2=1.0, t6=1.0), limits)
    assert surer.feasible.tolist() == [True, False, False], "0.3 - 0.2 is one standard deviation: 84 %"
    np.testing.assert_allclose(np.exp(surer.log_feasible[1]), 0.8413447, rtol=1e-6)


def test_a_limit_that_is_believed_is_kept_where_the_lie_keeps_it() -> None:
    limits = known({"t0": 0.0}, {"t1": 1.0, "t6": 0.2}, Limits(high=0.3), 0.9)
    assert here_of(aim(t0=1.0, t1=1.0, t6=1.0), limits).feasible.tolist() == [True, False, True]


def test_where_there_are_several_limits_probabilities_multiply() -> None:
    both = [limit(Limits(high=0.3), t0=0.0), limit(Limits(high=0.4), t0=0.0)]
    found = [here_of(aim(t0=1.0, t2=1.0), *limits).log_feasible[1] for limits in (both[:1], both[1:], both)]
    assert found[2] == pytest.approx(found[0] + found[1])


def test_nothing_feasible_has_no_incumbent_and_the_likeliest_places_come_first() -> None:
    here = here_of(aim(t0=1.0, t1=5.0, t2=3.0), limit(Limits(high=-1.0), t0=3.0, t1=0.0, t2=1.0))
    assert here.incumbent is None
    assert not here.any_feasible
    np.testing.assert_array_equal(here.places(), POINTS[[1, 2, 0]])
    assert len(here.front()) == 0
    assert np.isfinite(here.reference()).all()


# The incumbent


@pytest.mark.parametrize("model", [Silent(), Fixed()])
def test_without_noise_it_is_the_least_value_seen_or_believed(model: Any) -> None:
    seen = {"t0": 4.0, "t5": 1.0, "t8": 2.5}
    for lies, least in (({"t2": 3.0, "t7": -2.0}, -2.0), ({"t2": 3.0, "t7": 2.0}, 1.0), ({}, 1.0)):
        here = here_of(known(seen, lies, model=model))
        assert here.incumbent == least
        assert here.incumbent_of_data == 1.0
    assert not is_noisy(model)


def test_with_noise_it_is_the_least_mean_at_the_same_points_whatever_was_seen_there() -> None:
    model = Fixed(is_noisy=True)
    part = known({"t3": -9.0, "t5": 1.0}, {"t2": 3.0, "t7": 2.0}, model=model)
    here = here_of(part)
    np.testing.assert_allclose(here.Y[:, 0], [0.3, 0.5, 0.2, 0.7])
    np.testing.assert_array_equal(here.seen, [-9.0, 1.0, 3.0, 2.0])
    np.testing.assert_array_equal(model.asked[-1], POINTS[[3, 5, 2, 7]])
    assert here.incumbent == pytest.approx(0.2)
    assert here.incumbent_of_data == -9.0
    assert is_noisy(model)


def test_under_noise_limits_are_kept_where_models_expect_so_unless_what_was_seen_is_exact() -> None:
    noisy, seen = Fixed(is_noisy=True), {"t0": 9.0, "t3": -9.0}
    first = known(seen, model=noisy)
    here = here_of(first, known(seen, limits=Limits(high=0.2), model=noisy))
    assert here.feasible.tolist() == [True, False]
    exact = here_of(first, known(seen, limits=Limits(high=0.2), model=noisy, exact=True))
    assert exact.feasible.tolist() == [False, True]


def test_failures_are_no_results() -> None:
    request = request_for(failed=Data(frozen([[0.3, 0.3]]), frozen([-50.0])))
    assert real_incumbent(request) == request.data.y.min()
    assert best_so_far(request).ids.tolist() == list(range(len(request.data)))


def test_where_no_result_is_feasible_the_least_of_all_is_to_be_beaten() -> None:
    assert real_incumbent(declared(None, Limits(high=-100.0))) == declared(None).data.y.min()
    request = declared(None, Limits(low=5.5))
    keeps = request.outputs[1].data.y >= 5.5
    assert keeps.any()
    assert not keeps[request.data.y.argmin()]
    assert real_incumbent(request) == request.data.y[keeps].min()


@pytest.mark.parametrize("failures", [0, 2])
@pytest.mark.parametrize("update", ["condition", "none"])
def test_a_gaussian_process_is_not_asked_to_predict_at_what_it_knows(
    update: str, failures: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(3)
    X, L = rng.random((12, 2)), frozen(rng.random((3, 2)))
    data = Data(frozen(X), frozen(rng.normal(size=12)), frozen(np.full(12, 0.1)))
    model, lies = GP(noise="infer").fit(data, rng), frozen(rng.normal(size=3))
    failed = None if not failures else Data(frozen(rng.random((failures, 2))), frozen(np.full(failures, -9.0)))
    told = model if failed is None else model.condition(failed)
    (learned,) = request_for(data=data, model=told, failed=failed).outputs
    last = told.condition(Data(L, lies)) if update == "condition" else told
    assert is_noisy(last)
    wanted = last.predict(np.vstack([X, L])).mean
    if update == "condition":
        monkeypatch.setattr(type(last), "predict", None)
    here = best_among([replace(Part.of(learned), model=last, ids=(20, 21, 22), X=L, y=lies)], GP())
    np.testing.assert_allclose(here.Y[:, 0], wanted, atol=1e-9)


def test_of_too_many_noisy_results_those_count_that_the_model_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GP, "most_results", 3)
    seen = {f"t{i}": float(v) for i, v in enumerate((5.0, 1.0, 2.0, 7.0, 3.0))}
    assert len(here_of(known(seen)).ids) == 5
    here = here_of(known(seen, {"t8": 0.0}, model=Fixed(is_noisy=True)))
    assert len(here.ids) == 4
    assert here.ids[-1] == 8
    np.testing.assert_array_equal(here.X, POINTS[here.ids])


# The front and its reference


def test_the_front_is_of_feasible_points_alone() -> None:
    a, b, c = np.random.default_rng(1).random((3, 9))
    named = [{f"t{i}": float(v) for i, v in enumerate(values)} for values in (a, b, c)]
    here = here_of(aim(**named[0]), aim(**named[1]), limit(Limits(high=0.5), **named[2]))
    keeps = np.flatnonzero(c <= 0.5)
    np.testing.assert_array_equal(here.front(), keeps[nondominated(np.column_stack([a, b])[keeps])])


def test_the_reference_comes_from_real_results_alone() -> None:
    def reference(lie: float) -> Array:
        first, second = known({"t0": 1.0, "t1": 2.0}, {"t2": lie}), known({"t0": 2.0, "t1": 1.0}, {"t2": -lie})
        return here_of(first, second).reference()

    np.testing.assert_array_equal(reference(0.5), reference(-100.0))
    np.testing.assert_allclose(reference(0.5), [2.1, 2.1])


# Places


def test_places_are_the_best_points_or_spread_along_the_front() -> None:
    many = {f"t{i}": float(i) for i in range(9)}
    np.testing.assert_array_equal(here_of(known(many, {"t8": -1.0})).places(), POINTS[[8, 0, 1]])
    limited = here_of(aim(t0=1.0, t1=5.0, t2=3.0), limit(Limits(high=0.0), t0=1.0, t1=0.0, t2=0.0))
    np.testing.assert_array_equal(limited.places(), POINTS[[2, 1]])
    assert len(here_of(aim(**many), limit(Limits(high=9.0), **many)).places()) == 4
    both = here_of(aim(**many), aim(**{name: -value for name, value in many.items()}))
    assert len(both.places()) == 4
    np.testing.assert_array_equal(both.places()[[0, -1]], POINTS[[0, 8]])


def test_places_are_in_the_region_and_points_may_be_added() -> None:
    grid = frozen(np.linspace(0.0, 1.0, 5)[:, None])
    region = Box(frozen(np.zeros(2)), frozen(np.ones(2)), (Block(0, 1, grid, True),))
    request = request_for(region=region, pending=Pending((9,), frozen([[0.4, 0.4]])))
    best = request.data.X[np.argsort(request.data.y)[:3]]
    np.testing.assert_array_equal(best_places(request), region.project(best))
    added = np.array([[0.4, 0.4], [0.9, 0.1]])
    with_added = best_places(request, added, np.array([-7.0, 100.0]))
    np.testing.assert_array_equal(with_added, region.project(np.vstack([added[:1], best[:2]])))
