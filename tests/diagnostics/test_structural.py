"""One data set's measurements: each batch is the one that the paper's words describe, and each control is what it says.

Surrogates with known answers stand in for real ones (``sdd_fakes``); the Gaussian process is measured where a climb
with gradients matters.
"""

import json
from dataclasses import FrozenInstanceError, dataclass, replace
from functools import cache
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sdd_fakes import DeafConditioned, FixableTilt, Spots, SpotsModel, Steps, Tilt, TiltModel

import believer as bv
from believer.acquisitions import PerPoint, PointwiseObjective
from believer.arrays import Array, frozen
from believer.batch import Data, Lie, Pending, PseudoObservations, Request
from believer.batch.verdict import random_pair_distance
from believer.diagnostics.measurement import Measurement, SddPart
from believer.diagnostics.source import DataSet, source_of
from believer.diagnostics.structural import RESTARTS, Probe, measure, response
from believer.maximize import FixedStarts, Maximizer
from believer.numerics import backend
from believer.numerics.sampling import stream
from believer.space.box import Box
from believer.surrogates.protocols import Model, Surrogate

BRANIN = source_of("branin", 8).draw(0)
CELLS = source_of((np.array([[0.1], [0.3], [0.5], [0.7], [0.9]]), [3.0, 2.0, 0.0, 2.0, 3.0]), 5).draw(0)
PARTS = ("fixed", "random", "free", "null", "null_free")


def probe_of(
    surrogate: Surrogate,
    acquisition: PerPoint | None = None,
    lie: Lie | None = None,
    update: str = "auto",
    incumbent: str = "believed",
    maximizer: Maximizer | None = None,
    q: int = 3,
) -> Probe:
    return Probe(
        surrogate,
        bv.LogEI() if acquisition is None else acquisition,
        bv.ConstantLie("min") if lie is None else lie,
        update,
        incumbent,
        FixedStarts() if maximizer is None else maximizer,
        q,
    )


def gp_measured(acquisition: PerPoint, lie: Lie) -> Measurement:
    return _once((acquisition, lie))


@cache
def _once(case: tuple[PerPoint, Lie]) -> Measurement:
    return measure(probe_of(bv.GP(), *case), BRANIN, 0)


GP_CASES: list[tuple[PerPoint, Lie]] = [
    (bv.LogEI(), bv.ConstantLie("min")),
    (bv.EI(), bv.Believe()),
    (bv.UCB(), bv.ConstantLie("max")),
]


def by_hand(data: DataSet, acquisition: PerPoint, lie: Lie, starts: Array, q: int, seed: int) -> Array:
    """The paper's diagnostic as one would write it down: the same starts, L-BFGS-B, lie, condition, again."""
    model = bv.GP().fit(data.observations, stream(seed, 0, "fit"))
    incumbent = float(data.y.min())
    batch = []
    for _ in range(q):

        def negated(x: Array, at: Any = model, best: float = incumbent) -> tuple[float, Array]:
            p = at.predict_with_gradient(x[None, :])
            a = acquisition.pointwise(p.mean, p.std, best)
            slope = a.by_mean[:, None] * p.mean_gradient + a.by_std[:, None] * p.std_gradient
            return -float(a.value[0]), -slope[0]

        box = [(0.0, 1.0)] * data.X.shape[1]
        ends = np.array([minimize(negated, x, jac=True, method="L-BFGS-B", bounds=box).x for x in starts])
        at_ends = model.predict(ends)
        x = ends[np.argmax(acquisition.pointwise(at_ends.mean, at_ends.std, incumbent).value)]
        told = lie.value(model, x, Data(data.X, data.y), 1.0, np.random.default_rng(0))
        model, incumbent = model.condition(Data(x[None, :], np.array([told]))), min(incumbent, told)
        batch.append(x)
    return np.array(batch)


@pytest.mark.parametrize(("acquisition", "lie"), GP_CASES)
def test_part_a_is_the_loop_from_three_starts_bit_for_bit(acquisition: PerPoint, lie: Lie) -> None:
    assert_loop_from(np.array([[0.2, 0.2], [0.5, 0.5], [0.8, 0.8]]), "fixed", acquisition, lie)


@pytest.mark.parametrize(("acquisition", "lie"), GP_CASES[:1])
def test_part_b_is_the_loop_from_restarts_drawn_once(acquisition: PerPoint, lie: Lie) -> None:
    assert_loop_from(np.random.default_rng(0).random((RESTARTS, 2)), "random", acquisition, lie)


def assert_loop_from(starts: Array, part: str, acquisition: PerPoint, lie: Lie) -> None:
    # By the Python twin: in compiled code a mean, a std and what is made of them are one value, rounded otherwise.
    with backend.using("python"):
        batch = by_hand(BRANIN, acquisition, lie, starts, 3, 0)
        measured = measure(probe_of(bv.GP(), acquisition, lie), BRANIN, 0)
    np.testing.assert_array_equal(getattr(measured, part).points, batch)


def test_part_b_has_the_same_restarts_for_every_member_and_others_for_another_seed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[Array] = []
    climb = FixedStarts.climb

    def watched(self: FixedStarts, objective: Any, region: Box) -> Any:
        result = climb(self, objective, region)
        if self.draws:
            seen.append(result.starts)
        return result

    monkeypatch.setattr(FixedStarts, "climb", watched)
    for seed in (3, 4):
        measure(probe_of(Spots(), bv.UCB()), BRANIN, seed)
    assert len(seen) == 6
    assert seen[0].shape == (RESTARTS, 2)
    for member in range(3):
        np.testing.assert_array_equal(seen[member], seen[0])
        np.testing.assert_array_equal(seen[3 + member], seen[3])
    assert not np.isin(seen[0], seen[3]).any()


@each("surrogate", [bv.GP(), FixableTilt()])
@each("update", ["auto", "refit", "none"])
@each("incumbent", ["believed", "data"])
def test_parts_a_and_b_are_what_the_engine_chooses(surrogate: Surrogate, update: str, incumbent: str) -> None:
    probe = probe_of(surrogate, bv.EI(), bv.Believe(-0.5), update, incumbent, q=2)
    measured = measure(probe, BRANIN, 5)
    none = frozen(np.zeros((0, 2)))
    for part, maximizer in (
        (measured.fixed, FixedStarts()),
        (measured.random, FixedStarts(levels=(), draws=RESTARTS, seed=5)),
    ):
        request = Request.single(
            ids=(0, 1),
            surrogate=surrogate,
            acquisition=probe.acquisition,
            model=surrogate.fit(Data(BRANIN.X, BRANIN.y), stream(5, 0, "fit"), None),
            data=Data(BRANIN.X, BRANIN.y),
            pending=Pending((), none),
            region=BRANIN.region,
            avoid=none,
            distinct=False,
            randomness=lambda trial, purpose: stream(5, trial, purpose),
            maximizer=maximizer,
        )
        chosen = PseudoObservations(probe.lie, update, incumbent).choose(request)
        np.testing.assert_array_equal(part.points, [choice.x for choice in chosen.choices])


@pytest.mark.parametrize("surrogate", [Steps(), Spots(), DeafConditioned()])
@pytest.mark.parametrize("acquisition", [bv.LogEI(), bv.UCB()])
def test_without_the_lie_nothing_at_all_happens_to_a_conditionable_model(
    surrogate: Surrogate, acquisition: PerPoint
) -> None:
    measured = measure(probe_of(surrogate, acquisition), BRANIN, 1)
    for part in (measured.null, measured.null_free):
        assert part.responses == (0.0, 0.0)
        assert (part.min_distance, part.mean_distance) == (0.0, 0.0)
        assert len(set(part.points)) == 1


@pytest.mark.parametrize(("acquisition", "lie"), GP_CASES)
def test_the_null_of_a_gaussian_process_is_exactly_zero(acquisition: PerPoint, lie: Lie) -> None:
    measured = gp_measured(acquisition, lie)
    for null, told in ((measured.null, measured.fixed), (measured.null_free, measured.free)):
        assert null.responses == (0.0, 0.0)
        assert null.points == (told.points[0],) * 3


@dataclass(frozen=True, slots=True)
class Counting:
    """Writes down how it was fitted."""

    log: list[tuple[int, bool]]

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> TiltModel:
        X = data.X
        self.log.append((len(X), previous is not None))
        return TiltModel(rng.standard_normal((X.shape[1],)))


def test_the_null_of_a_refit_is_a_refit_on_the_real_data_alone() -> None:
    log: list[tuple[int, bool]] = []
    measure(probe_of(Counting(log), bv.UCB(), update="refit"), BRANIN, 0)
    assert log[0] == (8, False)
    lied = [(9, True), (10, True)]
    assert sorted(log[1:]) == sorted(3 * lied + 2 * [(8, True)])


@pytest.mark.parametrize("update", ["none", "refit"])
def test_fixed_draws_are_a_control_of_refits_alone(update: str) -> None:
    measured = measure(probe_of(FixableTilt(), bv.UCB(), update=update), BRANIN, 0)
    assert (measured.frozen is None) == (measured.frozen_free is None) == (update == "none")
    if measured.frozen is not None and measured.frozen_free is not None:
        for part in (measured.frozen, measured.frozen_free):
            assert part.responses == (0.0, 0.0)
            assert part.min_distance == 0.0


def test_a_surrogate_that_draws_nothing_has_no_fixed_draws() -> None:
    measured = measure(probe_of(Tilt(), bv.UCB(), update="refit"), BRANIN, 0)
    assert measured.frozen is None
    assert measured.frozen_free is None


SQUARE = Box.cube(2)
CENTER = np.array([0.5, 0.5])


def plane(*slope: float) -> PointwiseObjective:
    return PointwiseObjective(bv.UCB(), TiltModel(np.array(slope)), 0.0)


@settings(max_examples=25)
@given(
    slope=st.floats(0.1, 10.0),
    change=st.floats(-1.0, 1.0).filter(lambda change: abs(change) > 1e-6),
)
def test_response_is_the_largest_change_relative_to_the_range(slope: float, change: float) -> None:
    # α = -slope x₀ ranges over slope, and moves by up to |change| slope at x₀ = 1.
    found = response(plane(slope, 0.0), plane(slope * (1.0 + change), 0.0), CENTER, SQUARE)
    assert found == pytest.approx(abs(change), rel=2e-3)


@pytest.mark.parametrize("acquisition", [bv.UCB(), bv.EI(), bv.LogEI(), bv.PI()])
def test_response_is_zero_where_nothing_changed_and_only_there(acquisition: PerPoint) -> None:
    before = PointwiseObjective(acquisition, TiltModel(np.array([1.0, 0.5])), 0.3)
    same = PointwiseObjective(acquisition, TiltModel(np.array([1.0, 0.5])), 0.3)
    other = PointwiseObjective(acquisition, TiltModel(np.array([1.0, np.nextafter(0.5, 1.0)])), 0.3)
    assert response(before, same, CENTER, SQUARE) == 0.0
    assert 0.0 < response(before, other, CENTER, SQUARE) < 1e-12


def test_response_sees_a_change_at_the_point_itself_however_narrow() -> None:
    x = np.array([0.123456, 0.654321])

    @dataclass(frozen=True, slots=True)
    class Pinned:
        depth: float

        def predict(self, X: Array) -> Any:
            there = np.abs(X - x).max(axis=1) < 1e-9
            return replace(TiltModel(np.array([1.0, 0.0])).predict(X), std=np.where(there, self.depth, 0.1))

    change = response(
        PointwiseObjective(bv.UCB(), Pinned(0.1), 0.0), PointwiseObjective(bv.UCB(), Pinned(0.6), 0.0), x, SQUARE
    )
    assert change == pytest.approx(0.5 * np.sqrt(2.0), rel=2e-3)


def test_logei_responds_as_ei_does() -> None:
    steps = Steps()
    before = steps.fit(Data(CELLS.X, CELLS.y), np.random.default_rng(0))
    after = before.condition(Data(np.array([[0.5]]), np.array([0.0])))
    found = [
        response(PointwiseObjective(a, before, 0.0), PointwiseObjective(a, after, 0.0), np.array([0.5]), Box.cube(1))
        for a in (bv.EI(), bv.LogEI())
    ]
    # EI is compared by its range, LogEI by its largest value; here the least EI is a share of the largest.
    at = [bv.EI().pointwise(*_moments(before, x), 0.0).value[0] for x in (0.1, 0.3, 0.5)]
    assert found[0] == pytest.approx(found[1], rel=1e-12)
    assert found[1] == pytest.approx(
        (at[2] - bv.EI().pointwise(*_moments(after, 0.5), 0.0).value[0]) / (max(at) - min(at)), rel=1e-12
    )


def _moments(model: Model, x: float) -> tuple[Array, Array]:
    at = model.predict(np.array([[x]]))
    return at.mean, at.std


@each("acquisition", [bv.LogEI(), bv.EI(), bv.UCB()])
@each(("a", "b"), [(2.0**20, 0.0), (2.0**-30, 0.0), (1e3, -5e4)])
def test_response_does_not_depend_on_the_units_of_y(acquisition: PerPoint, a: float, b: float) -> None:
    scaled = DataSet(BRANIN.X, frozen(a * BRANIN.y + b), BRANIN.region)
    here = gp_measured(acquisition, bv.ConstantLie("min"))
    there = measure(probe_of(bv.GP(), acquisition), scaled, 0)
    np.testing.assert_allclose(there.free.points, here.free.points, atol=1e-4)
    np.testing.assert_allclose(there.free.responses, here.free.responses, rtol=1e-4)


def test_logei_gives_the_same_batches_in_other_units_of_y() -> None:
    probe = probe_of(bv.GP(), q=2)
    scaled = DataSet(BRANIN.X, frozen(2.0**-40 * BRANIN.y), BRANIN.region)
    here, there = measure(probe, BRANIN, 0), measure(probe, scaled, 0)
    for name in PARTS:
        np.testing.assert_allclose(getattr(there, name).points, getattr(here, name).points, atol=1e-4)
    assert there.moved == here.moved
    assert there.reached == pytest.approx(here.reached, rel=1e-4)


def test_the_incumbent_alone_is_no_response() -> None:
    """A hopeful lie lowers f⁺, so that the surface and its maximum move; the model was told nothing."""
    measured = measure(probe_of(bv.GP(), lie=bv.Believe(-1.0), update="none", q=2), BRANIN, 0)
    assert measured.fixed.responses == measured.free.responses == (0.0,)
    assert measured.free.min_distance > 0.1
    assert measured.null_free.min_distance == 0.0
    assert (
        measure(probe_of(bv.GP(), lie=bv.Believe(-1.0), update="none", incumbent="data", q=2), BRANIN, 0).fixed.points
        == (measured.fixed.points[0],) * 2
    )


def test_cells_give_the_numbers_of_a_hand_calculation() -> None:
    """UCB in a cell with k observations is √2/√(1+k) - Σy/(1+k): 1 where y was 0, 0 where 2, -½ where 3."""
    measured = measure(probe_of(Steps(), bv.UCB(), maximizer=FixedStarts(levels=(0.1, 0.3))), CELLS, 0)
    root = np.sqrt(2.0)
    # Both starts stay; 0.3 is chosen again and again, and every lie there has the value 0.
    assert measured.fixed.points == ((0.3,),) * 3
    assert measured.moved == 0.0
    chosen = [root / np.sqrt(1.0 + k) - 2.0 / (1.0 + k) for k in (1, 2, 3)]
    assert measured.reached == pytest.approx(np.mean([(value + 0.5) / 1.5 for value in chosen]), rel=1e-12)
    changes = [(after - before) / 1.5 for before, after in pairwise(chosen)]
    np.testing.assert_allclose(measured.fixed.responses, changes, rtol=1e-12)
    # The search without derivatives finds the cell in the middle, which stays the best after each lie.
    best = [root / np.sqrt(1.0 + k) for k in (1, 2, 3)]
    np.testing.assert_allclose(
        measured.free.responses,
        [(old - new) / (old + 0.5) for old, new in pairwise(best)],
        rtol=1e-12,
    )
    assert all(0.4 <= x < 0.6 for (x,) in measured.free.points)


@dataclass(frozen=True, slots=True)
class Bowl:
    """A model with its peak at ``at``, the same for any data."""

    at: float

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> Model:
        return BowlModel(self.at)


@dataclass(frozen=True, slots=True)
class BowlModel:
    at: float

    def predict(self, X: Array) -> Any:
        mean = ((X - self.at) ** 2).sum(axis=1)
        return replace(TiltModel(np.zeros(X.shape[1])).predict(X), mean=mean)


@pytest.mark.parametrize(("peak", "share"), [(0.5, 2 / 3), (0.2, 2 / 3), (0.4, 1.0)])
def test_moved_counts_the_starts_that_end_elsewhere(peak: float, share: float) -> None:
    measured = measure(probe_of(Bowl(peak), bv.UCB(), update="none", q=2), BRANIN, 0)
    assert measured.moved == pytest.approx(share)
    assert measured.reached == pytest.approx(1.0, abs=1e-6)
    np.testing.assert_allclose(measured.fixed.points, np.full((2, 2), peak), atol=1e-5)


def test_moved_is_unknown_for_a_maximizer_without_fixed_starts() -> None:
    measured = measure(probe_of(Bowl(0.4), bv.UCB(), update="none", maximizer=bv.Candidates(), q=2), BRANIN, 0)
    assert measured.moved is None
    assert measured.reached == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("acquisition", [bv.LogEI(), bv.EI(), bv.UCB()])
def test_a_strong_maximizer_reaches_what_the_search_without_derivatives_does(acquisition: PerPoint) -> None:
    measured = measure(probe_of(bv.GP(), acquisition, maximizer=bv.Multistart(), q=2), BRANIN, 0)
    assert 0.95 <= measured.reached <= 1.05


def test_where_every_start_sees_zero_nothing_is_reached() -> None:
    measured = measure(probe_of(Spots(), bv.EI()), BRANIN, 0)
    assert measured.moved == 0.0
    assert measured.reached == 0.0
    assert set(measured.fixed.points) == {(0.2, 0.2)}
    assert measured.fixed.response == 0.0
    assert measured.free.response == pytest.approx(1.0, rel=1e-3)
    assert measured.free.min_distance > 0.3


def test_a_search_on_the_same_surface_finds_the_same_point_also_on_a_plateau() -> None:
    measured = measure(probe_of(Steps(), bv.UCB(), update="none"), BRANIN, 0)
    assert measured.free.points == (measured.free.points[0],) * 3
    assert measured.free.points == measured.null_free.points


def test_a_spot_is_closed_by_a_lie() -> None:
    model = SpotsModel((0.35, 0.65), 1.0)
    assert model.condition(Data(np.array([[0.36, 0.34]]), np.zeros(1))).open == (0.65,)


def test_lengthscale_units_are_those_of_the_first_fit() -> None:
    measured = gp_measured(*GP_CASES[0])
    model = bv.GP().fit(Data(BRANIN.X, BRANIN.y), stream(0, 0, "fit"))
    gaps = [
        np.linalg.norm((np.array(a) - np.array(b)) / model.lengthscales)
        for a, b in combinations(measured.fixed.points, 2)
    ]
    assert measured.min_lengthscales == pytest.approx(min(gaps), rel=1e-12)
    assert measure(probe_of(Spots(), q=2), BRANIN, 0).min_lengthscales is None


def test_random_pairs_are_those_of_the_region() -> None:
    assert gp_measured(*GP_CASES[0]).random_pair == random_pair_distance(BRANIN.region)
    assert gp_measured(*GP_CASES[0]).random_pair == pytest.approx(0.5214, abs=0.03)  # [0, 1]²: 0.5214


points = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=7)


@settings(max_examples=50)
@given(batch=points)
def test_distances_of_a_part_are_those_of_all_its_pairs(batch: list[tuple[float, ...]]) -> None:
    part = SddPart(tuple(batch), 0.0, (0.0,) * (len(batch) - 1))
    gaps = [float(np.linalg.norm(np.subtract(a, b))) for a, b in combinations(batch, 2)]
    assert part.min_distance == pytest.approx(min(gaps), abs=1e-15)
    assert part.mean_distance == pytest.approx(np.mean(gaps), abs=1e-15)
    assert len(part.nearest) == len(batch) - 1
    for j, nearest in enumerate(part.nearest, start=1):
        assert nearest == pytest.approx(min(np.linalg.norm(np.subtract(a, batch[j])) for a in batch[:j]), abs=1e-15)


def test_a_parts_response_is_its_largest() -> None:
    assert SddPart(((0.0,), (0.5,), (1.0,)), 1.0, (0.25, 0.75)).response == 0.75


def test_all_of_it_derives_from_the_seed() -> None:
    probe = probe_of(FixableTilt(), bv.UCB())
    first, again, other = (timeless(measure(probe, BRANIN, seed)) for seed in (2, 2, 3))
    assert first == again
    assert first != replace(other, seed=2)


def timeless(measured: Measurement) -> Measurement:
    parts = {name: getattr(measured, name) for name in (*PARTS, "frozen", "frozen_free")}
    return replace(measured, **{name: part and replace(part, seconds=0.0) for name, part in parts.items()})


@pytest.mark.parametrize("surrogate", [Spots(), FixableTilt()])
def test_a_measurement_survives_a_file(surrogate: Surrogate) -> None:
    measured = measure(probe_of(surrogate, bv.UCB(), q=2), BRANIN, 0)
    assert Measurement.from_json(json.loads(json.dumps(measured.to_json()))) == measured


def test_measurements_and_parts_are_values() -> None:
    measured = gp_measured(*GP_CASES[0])
    for value, field in ((measured, "reached"), (measured.fixed, "seconds")):
        with pytest.raises(FrozenInstanceError):
            setattr(value, field, 0.0)
    assert hash(measured) == hash(replace(measured))


def test_every_batch_has_q_points_in_the_region_and_takes_time() -> None:
    for q in (2, 5):
        measured = measure(probe_of(Spots(), bv.UCB(), q=q), BRANIN, 0)
        for name in PARTS:
            part = getattr(measured, name)
            assert np.shape(part.points) == (q, 2)
            assert np.min(part.points) >= 0.0
            assert np.max(part.points) <= 1.0
            assert len(part.responses) == q - 1
            assert part.seconds > 0.0
