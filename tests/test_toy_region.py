"""A kind of region and a kind of parameter that no file of the library knows: every strategy works with both."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each import each

import believer as bv
from believer.arrays import Array, BoolArray, near_any
from believer.batch import STRATEGIES
from believer.errors import InvalidInput
from believer.maximize import Candidates, FixedStarts, Multistart, Objective, Search
from believer.maximize.climb import ascend
from believer.numerics import LBFGSSettings
from believer.numerics.sampling import sobol
from believer.plugins import Box, Parameter, Region
from believer.space.combine import Copies

RADIUS = 0.4


@dataclass(frozen=True, eq=False)
class Disc:
    """The points of the unit square within 0.4 of its center."""

    dim, size, decisions, freedom, ruled, rounded = 2, None, (None, None), 2, False, False
    metric = np.ones(2, dtype=bool)

    def points(self) -> Array:
        raise NotImplementedError

    def spread(self, U: Array) -> Array:
        r, angle = RADIUS * np.sqrt(U[:, :1]), 2.0 * math.pi * U[:, 1:]
        return np.hstack([0.5 + r * np.cos(angle), 0.5 + r * np.sin(angle)])

    def sample(self, m: int, rng: np.random.Generator) -> Array:
        return self.spread(sobol(m, 2, rng))

    def near(self, X: Array, m: int, widths: tuple[float, ...], rng: np.random.Generator) -> Array:
        start = np.repeat(X, m, axis=0)
        return self.project(start + rng.choice(widths, (len(start), 1)) * rng.standard_normal(start.shape))

    def project(self, X: Array, inside: Array | None = None) -> Array:
        r = np.sqrt(((X - 0.5) ** 2).sum(axis=1, keepdims=True))
        return np.where(r <= RADIUS, X, 0.5 + (X - 0.5) * (RADIUS / np.maximum(r, RADIUS)))

    def free(self, X: Array, relaxed: bool = False) -> BoolArray:
        return np.ones(X.shape, dtype=bool)

    def box(self) -> None:
        return None

    def steps(self, X: Array) -> Iterator[Array]:
        return iter(())

    def neighbors(self, x: Array) -> Array:
        return np.zeros((0, 2))

    def holds(self, X: Array) -> BoolArray:
        inside: BoolArray = ((X - 0.5) ** 2).sum(axis=1) <= RADIUS**2 + 1e-12
        return inside

    def among(self, X: Array, others: Array) -> BoolArray:
        return near_any(X, others)


@dataclass(frozen=True)
class Angle:
    """Degrees from 0 to 360, which are the same: two columns, the cosine and the sine."""

    width, count, ordered, rounded, slack = 2, None, False, True, 1e-9

    def check(self, value: Any, name: str) -> float:
        if not isinstance(value, int | float) or not math.isfinite(value):
            raise InvalidInput(f"a value must be a number of degrees; got {value!r} for {name!r}.")
        return float(value) % 360.0

    def encode(self, values: Sequence[Any], name: str) -> Array:
        turn = np.radians([self.check(value, name) for value in values])
        return 0.5 + 0.5 * np.stack([np.cos(turn), np.sin(turn)], axis=1)

    def decode(self, U: Array) -> list[float]:
        degrees: list[float] = (np.degrees(np.arctan2(U[:, 1] - 0.5, U[:, 0] - 0.5)) % 360.0).tolist()
        return degrees

    def grid(self) -> Array:
        return np.array([[0.0, 0.0], [1.0, 1.0]])

    def to_config(self) -> dict[str, Any]:
        return {}


def disc(box: Box) -> Region:
    return Disc()


ROUND = bv.Space({"x": bv.Float(-1, 1), "y": bv.Float(-1, 1)}, within=disc)
TURNING = bv.Space({"angle": Angle(), "x": bv.Float(0, 1), "k": bv.Int(1, 4), "kind": bv.Categorical((1, 1.0, True))})


def value_at(space: bv.Space, params: dict[str, Any]) -> float:
    (u,) = space.encode([params])
    return float(np.sin(4.0 * u[0]) + ((u - 0.9) ** 2).sum())


def studied(space: bv.Space, **options: Any) -> bv.Optimizer:
    """A study after a design of six points and two batches of three, all of which are checked."""
    study, seen = bv.Optimizer(space, n_init=6, seed=0, **options), list[Array]()
    region = space.region()
    for q in (6, 3, 3):
        for trial in study.ask(q):
            assert region.holds(trial.encoded[None, :])[0]
            np.testing.assert_allclose(region.project(trial.encoded[None, :])[0], trial.encoded, rtol=0.0, atol=1e-12)
            assert not region.among(trial.encoded[None, :], np.array(seen).reshape(-1, space.dim))[0]
            seen.append(trial.encoded)
            assert space.check(trial.params) == trial.params
            assert space.misplaced([trial.params], trial.encoded[None, :]) is None
            study.tell(trial, value_at(space, trial.params))
    return study


def test_both_are_what_a_space_asks_for() -> None:
    assert isinstance(Angle(), Parameter)
    with pytest.raises(InvalidInput, match="a parameter must be a Float, Int, Categorical"):
        bv.Space({"angle": Angle})  # type: ignore[dict-item]
    with pytest.raises(InvalidInput, match="within must be a function of the box"):
        bv.Space({"angle": Angle()}, within=Disc())  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="either a constraint or within"):
        bv.Space({"angle": Angle()}, lambda params: True, within=disc)


@each("strategy", STRATEGIES)
@each("space", [ROUND, TURNING], ids=["disc", "angle"])
def test_every_strategy_chooses_lawful_and_distinct_points(space: bv.Space, strategy: str) -> None:
    studied(space, strategy=strategy)


@pytest.mark.parametrize("maximizer", [Multistart(), Candidates(), FixedStarts()], ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("space", [ROUND, TURNING], ids=["disc", "angle"])
def test_every_maximizer_stays_in_the_region(space: bv.Space, maximizer: Any) -> None:
    studied(space, strategy="kb", maximizer=maximizer)


@pytest.mark.parametrize("space", [ROUND, TURNING], ids=["disc", "angle"])
def test_a_model_without_gradients_is_searched_there_too(space: bv.Space) -> None:
    pytest.importorskip("sklearn")
    studied(space, strategy="kb", surrogate="forest")


def test_a_study_finds_the_best_point_of_the_disc_on_its_border() -> None:
    """The least of |u - (0.9, 0.9)|² lies where the diagonal leaves the disc."""
    study = bv.Optimizer(ROUND, n_init=5, seed=0)
    for _ in range(5):
        for trial in study.ask(3):
            study.tell(trial, float(((trial.encoded - 0.9) ** 2).sum()))
    assert study.best is not None
    assert study.best[1] == pytest.approx((0.4 * math.sqrt(2.0) - RADIUS) ** 2, abs=1e-3)


@dataclass(frozen=True, eq=False)
class Tilted:
    """A long valley, and a slope: what steepest descent is slow on."""

    peak: Array
    has_gradient = True

    def value(self, X: Array) -> Array:
        return self.value_with_gradient(X)[0]

    def value_with_gradient(self, X: Array) -> tuple[Array, Array]:
        weight = np.array([[40.0, 15.0], [15.0, 8.0]])
        gap = X - self.peak
        return -np.einsum("mi,ij,mj->m", gap, weight, gap), -2.0 * gap @ weight


@pytest.mark.parametrize("peak", [(0.55, 0.4), (0.95, 0.9), (0.1, 0.99)])
def test_a_projected_climb_ends_where_the_best_of_many_points_lie(peak: tuple[float, float]) -> None:
    region, objective = Disc(), Tilted(np.array(peak))
    starts = region.sample(8, np.random.default_rng(0))
    ends, values = ascend(objective, region, starts, LBFGSSettings(), 1.0)
    assert region.holds(ends).all()
    np.testing.assert_allclose(values, objective.value(ends), rtol=1e-12)
    dense = region.spread(np.random.default_rng(1).random((200_000, 2)))
    border = region.project(0.5 + 9.0 * (dense - 0.5))
    best = objective.value(np.vstack([dense, border])).max()
    assert (values > best - 1e-6).all()


def test_copies_ask_the_region_point_by_point() -> None:
    one, three = Disc(), Copies(Disc(), 3)
    rng = np.random.default_rng(0)
    X = rng.random((20, 6))
    assert (three.dim, three.freedom, three.size, three.box()) == (6, 6, None, None)
    for rows in (three.project(X), three.spread(X), three.sample(8, rng), three.near(three.project(X), 4, (0.1,), rng)):
        assert three.holds(rows).all()
        assert one.holds(rows.reshape(-1, 2)).all()
    np.testing.assert_array_equal(three.project(X)[:, 2:4], one.project(X[:, 2:4]))
    assert not three.holds(np.tile([0.5, 0.5, 0.5, 0.5, 0.99, 0.5], (1, 1)))[0]
    assert three.among(X[:1], X).tolist() == [True]
    assert not three.among(X[:1], X[1:])[0]


def test_copies_of_a_box_step_through_the_decisions_of_each_point() -> None:
    box = bv.Space({"k": bv.Int(0, 2), "kind": bv.Categorical(("a", "b"))}).region()
    two = Copies(box, 2)
    (x,) = two.spread(np.zeros((1, two.dim)))
    assert two.size == len(two.points()) == 36
    assert [points.shape for points in two.steps(x[None, :])] == [(1, 3, 6), (1, 2, 6)] * 2
    assert [points.shape for points in Copies(box, 2, moving=1).steps(x[None, :])] == [(1, 3, 6), (1, 2, 6)]
    assert (two.neighbors(x) != x).any(axis=1).sum() == 2
    assert two.box() is not None


def test_a_point_outside_the_disc_is_not_allowed() -> None:
    assert ROUND.allows({"x": 0.0, "y": 0.7})
    assert not ROUND.allows({"x": 0.7, "y": 0.7})
    with pytest.raises(InvalidInput, match="does not allow"):
        bv.Optimizer(ROUND, seed=0).enqueue({"x": 0.9, "y": 0.0})


def test_a_config_says_what_it_cannot_hold(tmp_path: Path) -> None:
    config = TURNING.to_config()
    assert config["parameters"][0] == {"name": "angle", "kind": "Angle"}
    with pytest.raises(
        InvalidInput, match="must be a Float, Int, Categorical, Ordinal or Discrete; got the kind 'Angle' for 'angle'"
    ):
        bv.Space.from_config(config)
    with pytest.raises(InvalidInput, match="a region of its own"):
        bv.Space.from_config(ROUND.to_config())
    path = tmp_path / "journal"
    for space, what in ((TURNING, r"kind of its own \(angle, a Angle\)"), (ROUND, "region of its own")):
        for begin in (
            lambda space: bv.Optimizer(space, journal=path),
            lambda space: bv.Optimizer.open(path, space),
            lambda space: bv.Optimizer(space).save(path),
            lambda space: bv.minimize(len, space, journal=path),
        ):
            with pytest.raises(InvalidInput, match=f"{what}.* lives in memory only"):
                begin(space)
    assert not path.exists()
    bv.Optimizer(bv.Space({"x": bv.Float(0.0, 1.0)}), journal=path).close()
    with pytest.raises(InvalidInput, match="lives in memory only"):
        bv.Optimizer.open(path, ROUND, change=True)


def test_a_region_given_to_a_search_is_all_that_it_needs() -> None:
    objective: Objective = Tilted(np.array([0.9, 0.9]))
    nothing = np.zeros((0, 2))
    best = Multistart().maximize(objective, Search(Disc(), nothing, nothing), np.random.default_rng(0))
    again = Multistart().maximize(objective, Search(Disc(), nothing, best.x[None, :]), np.random.default_rng(0))
    assert Disc().holds(np.array([best.x, again.x])).all()
    assert not Disc().among(again.x[None, :], best.x[None, :])[0]
