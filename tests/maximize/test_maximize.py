from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from each import each
from scipy.optimize import minimize as scipy_minimize

from believer import arrays
from believer.acquisitions import EI, UCB, LogEI, PerPoint, PointwiseObjective
from believer.arrays import Array, BoolArray, frozen, near_any
from believer.errors import InvalidInput, MissingCapability, SpaceExhausted
from believer.maximize import Candidates, FixedStarts, Maximizer, Maximum, Multistart, Objective, Search
from believer.maximize.objective import ENUMERATE_UP_TO, Climb, Known, Spacing, climb_from
from believer.space.box import Block, Box
from believer.surrogates.gp import posterior
from believer.surrogates.gp_fit import Hyperparameters

pytestmark = pytest.mark.both_backends

MEMBERS: list[Maximizer] = [Multistart(), Candidates(), FixedStarts()]
DISTINCT: list[Maximizer] = [Multistart(), Candidates()]
"""Those that avoid points; FixedStarts promises not to."""
every_distinct = each("member", DISTINCT, ids=lambda m: type(m).__name__)


@dataclass(frozen=True)
class Smooth:
    """A bumpy function of all columns with gradients, and a record of where it was asked."""

    peak: Array
    asked: list[Array] = field(default_factory=list)
    has_gradient: bool = True

    def value(self, X: Array) -> Array:
        self.asked.append(X.copy())
        gap = X - self.peak
        values: Array = (np.cos(9.0 * gap) * 0.1 - gap**2).sum(axis=1)
        return values

    def value_with_gradient(self, X: Array) -> tuple[Array, Array]:
        assert self.has_gradient
        gap = X - self.peak
        return self.value(X), -0.9 * np.sin(9.0 * gap) - 2.0 * gap


@dataclass(frozen=True)
class Table:
    """Any vectorized function; its gradient by central differences."""

    function: Callable[[Array], Array]
    has_gradient: bool = True

    def value(self, X: Array) -> Array:
        return self.function(X)

    def value_with_gradient(self, X: Array) -> tuple[Array, Array]:
        G = np.empty_like(X)
        for j in range(X.shape[1]):
            e = np.zeros(X.shape[1])
            e[j] = 1e-6
            G[:, j] = (self.function(X + e) - self.function(X - e)) / 2e-6
        return self.function(X), G


def nowhere(d: int) -> Array:
    return np.zeros((0, d))


def search_in(region: Box, avoid: Array | None = None, near_best: Array | None = None) -> Search:
    return Search(
        region, nowhere(region.dim) if near_best is None else near_best, nowhere(region.dim) if avoid is None else avoid
    )


GRID = Block(1, 2, frozen([[0.0], [0.25], [0.5], [0.75], [1.0]]), ordered=True)
KIND = Block(2, 5, frozen(np.eye(3)), ordered=False)
MIXED = Box(frozen([0.1, 0.0, 0.0, 0.0, 0.0, 0.4]), frozen([0.9, 1.0, 1.0, 1.0, 1.0, 0.4]), (GRID, KIND))
"""A continuous column in [0.1, 0.9], a grid of five, a categorical of three, a column fixed at 0.4."""


def lower_triangle(X: Array) -> BoolArray:
    return X[:, 0] + X[:, 1] <= 0.8


REGIONS = {
    "line": Box.cube(1),
    "cube": Box.cube(4),
    "box": Box(frozen([-2.0, 0.3, 5.0]), frozen([3.0, 0.300001, 5.0])),
    "mixed": MIXED,
    "constrained": replace(Box.cube(2), feasible=lower_triangle),
    "mixed and constrained": replace(MIXED, feasible=lower_triangle),
}


every_pair = each(
    ("member", "name"),
    [
        pytest.param(member, name, id=f"{type(member).__name__}, {name}")
        for member, name in itertools.product(MEMBERS, REGIONS)
        # FixedStarts has no way into a constraint: it has a law of its own below.
        if member in DISTINCT or REGIONS[name].feasible is None
    ],
)


def contains(region: Box, x: Array) -> bool:
    on_blocks = all((x[block.start : block.stop] == block.values).all(axis=1).any() for block in region.blocks)
    return on_blocks and bool((np.clip(x, region.lower, region.upper) == x).all())


def bumpy(region: Box, seed: int = 0) -> Smooth:
    U = np.random.default_rng(seed).random(region.dim)
    return Smooth(region.lower + U * (region.upper - region.lower))


# Every maximizer


@every_pair
@each("seed", range(3))
def test_the_point_lies_in_the_region_and_the_value_is_the_one_there(member: Maximizer, name: str, seed: int) -> None:
    region = REGIONS[name]
    objective = bumpy(region, seed)
    near_best = region.spread(np.random.default_rng(seed).random((2, region.dim)))
    near_best = near_best[region.holds(near_best)]
    best = member.maximize(objective, search_in(region, near_best=near_best), np.random.default_rng(seed))
    assert best.x.shape == (region.dim,)
    assert contains(region, best.x)
    assert best.value == pytest.approx(objective.value(best.x[None, :])[0], rel=1e-12)
    assert best.passed_over == 0


@every_distinct
@each("name", list(REGIONS))
def test_the_point_satisfies_the_constraint(member: Maximizer, name: str) -> None:
    region = REGIONS[name]
    # The peak of the objective violates it.
    objective = Smooth(region.lower + 0.95 * (region.upper - region.lower))
    best = member.maximize(objective, search_in(region), np.random.default_rng(0))
    assert region.holds(best.x[None, :]).all()


@every_pair
def test_the_same_generator_gives_the_same_bits(member: Maximizer, name: str) -> None:
    region = REGIONS[name]
    objective = bumpy(region)
    found = [member.maximize(objective, search_in(region), np.random.default_rng(7)) for _ in range(2)]
    np.testing.assert_array_equal(found[0].x, found[1].x)
    assert found[0].value == found[1].value


@every_distinct
@each("name", ["line", "cube", "mixed"])
def test_a_smooth_peak_is_found_and_columns_without_width_stay_put(member: Maximizer, name: str) -> None:
    region = REGIONS[name]
    objective = bumpy(region, 3)
    best = member.maximize(objective, search_in(region), np.random.default_rng(0))
    fixed = region.upper == region.lower
    np.testing.assert_array_equal(best.x[fixed], region.lower[fixed])
    top = float(objective.value(region.project(objective.peak[None, :]))[0])
    assert best.value >= top - (1e-6 if isinstance(member, Multistart) else 5e-3)


@every_distinct
@each("name", ["line", "cube", "mixed", "constrained", "mixed and constrained"])
def test_points_to_avoid_are_not_proposed_again(member: Maximizer, name: str) -> None:
    region = REGIONS[name]
    objective = bumpy(region, 1)
    avoid = nowhere(region.dim)
    for turn in range(6):
        best = member.maximize(objective, search_in(region, avoid), np.random.default_rng(turn))
        assert not near_any(best.x[None, :], avoid).any()
        assert contains(region, best.x)
        assert region.holds(best.x[None, :]).all()
        avoid = np.vstack([avoid, best.x])


@every_distinct
def test_a_better_point_that_was_passed_over_is_counted(member: Maximizer) -> None:
    # A plane rises to one corner, where every climb ends exactly.
    objective = Table(lambda X: X @ np.array([1.0, 2.0]))
    corner = np.ones((1, 2))
    free = member.maximize(objective, search_in(Box.cube(2), near_best=corner), np.random.default_rng(0))
    np.testing.assert_array_equal(free.x, corner[0])
    assert free.passed_over == 0
    next_best = member.maximize(objective, search_in(Box.cube(2), corner, corner), np.random.default_rng(0))
    assert next_best.passed_over == 1
    assert next_best.value < free.value


@every_distinct
def test_neighborhoods_of_good_points_are_searched(member: Maximizer) -> None:
    # A needle that no space-filling point can hit in ten dimensions.
    peak = np.full(10, 0.37)
    objective = Table(lambda X: np.exp(-0.5 * ((X - peak) ** 2).sum(axis=1) / 0.01**2))
    near = peak[None, :] + 0.004
    with_hint = member.maximize(objective, search_in(Box.cube(10), near_best=near), np.random.default_rng(0))
    assert with_hint.value > 0.9


@every_distinct
def test_a_constraint_that_allows_nothing_is_reported(member: Maximizer) -> None:
    def never(X: Array) -> BoolArray:
        return np.zeros(len(X), dtype=bool)

    for region in (Box.cube(2), replace(MIXED, upper=MIXED.lower + (MIXED.upper - MIXED.lower) * 0.5)):
        closed = replace(region, feasible=never)
        with pytest.raises(SpaceExhausted, match="constraint") as caught:
            member.maximize(bumpy(region), search_in(closed), np.random.default_rng(0))
        assert caught.value.left == 0


@every_distinct
def test_a_finite_region_whose_constraint_allows_nothing_blames_the_constraint(member: Maximizer) -> None:
    closed = replace(finite(3, 3), feasible=lambda X: X[:, 0] < -1.0)
    with pytest.raises(SpaceExhausted, match="constraint"):
        member.maximize(bumpy(closed), search_in(closed), np.random.default_rng(0))


@every_distinct
def test_a_small_corner_of_a_constraint_is_found(member: Maximizer) -> None:
    def corner(X: Array) -> BoolArray:
        return np.asarray(X.max(axis=1) < 0.1)

    region = replace(Box.cube(3), feasible=corner)
    best = member.maximize(bumpy(region), search_in(region), np.random.default_rng(0))
    assert (best.x < 0.1).all()


# Finite regions


def finite(*sizes: int) -> Box:
    blocks = tuple(Block(j, j + 1, frozen(np.linspace(0.0, 1.0, k)[:, None]), True) for j, k in enumerate(sizes))
    return Box(frozen(np.zeros(len(sizes))), frozen(np.ones(len(sizes))), blocks)


@every_distinct
@each("seed", range(3))
def test_a_small_finite_region_is_ranked_exactly_and_then_exhausted(member: Maximizer, seed: int) -> None:
    region = replace(finite(3, 4), feasible=lambda X: X[:, 0] < 1.0)
    points = region.points()
    ranks = np.random.default_rng(seed).permutation(len(points)).astype(float)

    def look_up(X: Array) -> Array:
        return np.array([ranks[int(np.flatnonzero((points == x).all(axis=1))[0])] for x in X])

    avoid = nowhere(2)
    for taken in range(len(points)):
        best = member.maximize(Table(look_up), search_in(region, avoid), np.random.default_rng(0))
        assert best.value == len(points) - 1 - taken
        assert best.passed_over == taken
        avoid = np.vstack([avoid, best.x])
    assert len(points) == 8
    with pytest.raises(SpaceExhausted, match="all 8 points of this finite space") as caught:
        member.maximize(Table(look_up), search_in(region, avoid), np.random.default_rng(0))
    assert caught.value.left == 0


@every_distinct
def test_a_large_finite_region_is_searched_by_steps(member: Maximizer) -> None:
    region = finite(40, 40, 40)
    assert region.size is not None
    assert region.size > ENUMERATE_UP_TO
    target = region.project(np.array([[0.31, 0.77, 0.52]]))
    objective = Table(lambda X: -np.abs(X - target).sum(axis=1))
    first = member.maximize(objective, search_in(region), np.random.default_rng(0))
    np.testing.assert_array_equal(first.x, target[0])
    second = member.maximize(objective, search_in(region, target), np.random.default_rng(0))
    assert contains(region, second.x)
    assert not (second.x == target[0]).all()
    assert second.passed_over == 1


@pytest.mark.parametrize(
    "member",
    [*DISTINCT, Multistart(starts=1, candidates=2, neighbors=0), Candidates(candidates=2, neighbors=0, rounds=0)],
    ids=["Multistart", "Candidates", "lazy Multistart", "lazy Candidates"],
)
def test_the_rest_of_a_large_finite_region_is_found_when_every_good_point_is_taken(
    member: Maximizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So that 49 points are many.
    monkeypatch.setattr("believer.maximize.objective.ENUMERATE_UP_TO", 10)
    region = finite(7, 7)
    points = region.points()
    left = points[[17]]
    taken = np.delete(points, 17, axis=0)
    best = member.maximize(Table(lambda X: X.sum(axis=1)), search_in(region, taken), np.random.default_rng(0))
    np.testing.assert_array_equal(best.x, left[0])
    with pytest.raises(SpaceExhausted):
        member.maximize(Table(lambda X: X.sum(axis=1)), search_in(region, points), np.random.default_rng(0))


# Mixed regions


@every_distinct
@each("seed", range(6))
def test_the_best_of_a_mixed_objective_is_that_of_brute_force(member: Maximizer, seed: int) -> None:
    rng = np.random.default_rng(seed)
    offsets, peaks = rng.random((5, 3)), rng.uniform(0.1, 0.9, (5, 3))

    def value(X: Array) -> Array:
        step = GRID.nearest(X).astype(int)
        kind = KIND.nearest(X).astype(int)
        values: Array = offsets[step, kind] - 3.0 * (X[:, 0] - peaks[step, kind]) ** 2
        return values

    line = np.linspace(0.1, 0.9, 2001)
    brute = -np.inf
    for i, k in itertools.product(range(5), range(3)):
        X = np.zeros((len(line), 6))
        X[:, 0], X[:, 1], X[:, 2:5], X[:, 5] = line, GRID.values[i, 0], KIND.values[k], 0.4
        brute = max(brute, float(value(X).max()))
    best = member.maximize(Table(value), search_in(MIXED), np.random.default_rng(seed))
    assert contains(MIXED, best.x)
    assert best.value >= brute - 1e-6


# Multistart on real surfaces


def surface(
    d: int, seed: int, acquisition: PerPoint, unit: float = 1.0, n: int = 0
) -> tuple[PointwiseObjective, Search]:
    """An acquisition on a Gaussian process of a bumpy function, in units of y that may be small or large."""
    rng = np.random.default_rng(seed)
    X = rng.random((n or 5 * d + 3, d))
    y = unit * ((X - 0.3) ** 2).sum(axis=1) + unit * 0.3 * np.sin(7.0 * X).sum(axis=1)
    hyper = Hyperparameters("matern52", frozen(np.full(d, 0.3 * np.sqrt(d))), signal=2.0, noise=1e-6)
    model = posterior(hyper, X, y, float(y.mean()), float(y.std()))
    best = X[np.argsort(y)[:3]]
    return PointwiseObjective(acquisition, model, float(y.min())), search_in(Box.cube(d), X, best)


def scipy_best(objective: Objective, d: int, starts: int, seed: int, unit: float = 1.0) -> float:
    def negated(x: Array) -> tuple[float, Array]:
        value, gradient = objective.value_with_gradient(x[None, :])
        return -float(value[0]) / unit, -gradient[0] / unit

    X0 = np.random.default_rng(seed).random((starts, d))
    ends = [scipy_minimize(negated, x, jac=True, method="L-BFGS-B", bounds=[(0.0, 1.0)] * d).fun for x in X0]
    return -unit * float(min(ends))


def acquisition_range(objective: Objective, d: int) -> float:
    return float(np.ptp(objective.value(np.random.default_rng(99).random((2000, d)))))


@each(("d", "seed"), [(1, 0), (1, 1), (2, 0), (2, 1), (3, 0), (3, 1), (6, 0), (6, 1)])
def test_multistart_reaches_what_scipy_reaches_from_a_hundred_starts(d: int, seed: int) -> None:
    objective, search = surface(d, seed, LogEI())
    ours = Multistart().maximize(objective, search, np.random.default_rng(seed))
    assert ours.value >= scipy_best(objective, d, 100, seed) - 1e-4 * acquisition_range(objective, d)


@each("unit", [1e-8, 1e-4, 1.0, 1e8])
@each("acquisition", [UCB(), EI(), LogEI()], ids=repr)
def test_multistart_climbs_whatever_the_units_of_y_are(acquisition: PerPoint, unit: float) -> None:
    for seed in range(3):
        objective, search = surface(3, seed, acquisition, unit)
        scale = 1.0 if isinstance(acquisition, LogEI) else unit
        ours = Multistart().maximize(objective, search, np.random.default_rng(seed))
        # The judge sees the objective in units of y, as it would be for y of order one.
        best = scipy_best(objective, 3, 20, seed, scale)
        assert ours.value >= best - 1e-4 * acquisition_range(objective, 3)


@each("seed", range(4))
def test_a_search_over_grids_and_categories_finds_the_best_of_all_points(
    seed: int,
) -> None:
    grids = [Block(j, j + 1, frozen(np.linspace(0.0, 1.0, k)[:, None]), True) for j, k in enumerate((30, 8, 7))]
    region = Box(frozen(np.zeros(7)), frozen(np.ones(7)), (*grids, Block(3, 7, frozen(np.eye(4)), False)))
    objective, search = surface(7, seed, LogEI(), n=30)
    points = region.points()
    assert len(points) > ENUMERATE_UP_TO
    found = Multistart().maximize(objective, replace(search, region=region), np.random.default_rng(seed))
    assert (points == found.x).all(axis=1).any()
    assert found.value >= objective.value(points).max() - 1e-9


def test_neighbors_differ_by_one_value_on_one_scale_or_on_two() -> None:
    region = finite(5, 3, 4)
    x = region.project(np.array([[0.5, 0.0, 0.4]]))[0]
    steps = np.round((region.neighbors(x) - x) * [4, 2, 3]).astype(int)
    assert (np.abs(steps).sum(axis=1) <= 2).all()
    assert (np.abs(steps) <= 1).all()
    wanted = {s for s in itertools.product((-1, 0, 1), (0, 1), (-1, 0, 1)) if 0 < sum(map(abs, s)) < 3}
    assert wanted <= set(map(tuple, steps.tolist()))


@each("k", [2, 24, 25, 1000])
def test_alternatives_reach_every_value_of_a_scale_in_a_few_moves(k: int) -> None:
    block = Block(0, 1, frozen(np.linspace(0.0, 1.0, k)[:, None]), True)
    seen = here = {0}
    for _ in range(k.bit_length()):
        X = block.values[sorted(here)]
        here = set(block.nearest(block.alternatives(X).reshape(-1, 1)).tolist())
        seen = seen | here
    assert seen == set(range(k))


def test_multistart_refuses_an_objective_without_gradients() -> None:
    objective = Smooth(np.full(2, 0.5), has_gradient=False)
    with pytest.raises(MissingCapability, match=r"Candidates\(\)"):
        Multistart().maximize(objective, search_in(Box.cube(2)), np.random.default_rng(0))


def test_candidates_returns_a_point_that_was_evaluated_and_needs_no_gradient() -> None:
    objective = Smooth(np.array([0.3, 0.6]), has_gradient=False)
    best = Candidates().maximize(objective, search_in(Box.cube(2)), np.random.default_rng(0))
    assert (np.vstack(objective.asked) == best.x).all(axis=1).any()
    assert best.value >= float(objective.value(objective.peak[None, :])[0]) - 1e-3


def test_candidates_climbs_a_surface_that_is_flat_in_pieces() -> None:
    objective = Table(lambda X: -np.floor(20.0 * np.abs(X - 0.52)).sum(axis=1), has_gradient=False)
    best = Candidates().maximize(objective, search_in(Box.cube(4)), np.random.default_rng(0))
    assert best.value == 0.0


# FixedStarts


@each("has_gradient", [True, False])
@each("name", ["line", "cube", "box"])
def test_fixed_starts_is_scipy_called_by_hand(name: str, has_gradient: bool) -> None:
    region = REGIONS[name]
    objective = replace(bumpy(region, 5), has_gradient=has_gradient)

    def negated(x: Array) -> float | tuple[float, Array]:
        if has_gradient:
            value, gradient = objective.value_with_gradient(x[None, :])
            return -float(value[0]), -gradient[0]
        return -float(objective.value(x[None, :])[0])

    ends = []
    for level in (0.2, 0.5, 0.8):
        x0 = region.lower + level * (region.upper - region.lower)
        bounds = list(zip(region.lower, region.upper, strict=True))
        ends.append(scipy_minimize(negated, x0, jac=has_gradient, method="L-BFGS-B", bounds=bounds))
    found = FixedStarts().maximize(objective, search_in(region), np.random.default_rng(0))
    by_hand = min(ends, key=lambda end: float(end.fun))
    np.testing.assert_array_equal(found.x, by_hand.x)
    assert found.value == pytest.approx(-by_hand.fun, rel=1e-12)
    climb = FixedStarts().climb(objective, region)
    np.testing.assert_array_equal(climb.ends, [end.x for end in ends])
    np.testing.assert_allclose(climb.values, [-end.fun for end in ends], rtol=1e-12)


def test_fixed_starts_uses_no_randomness_and_avoids_nothing() -> None:
    objective = bumpy(Box.cube(2))
    one = FixedStarts().maximize(objective, search_in(Box.cube(2)), np.random.default_rng(0))
    two = FixedStarts().maximize(objective, search_in(Box.cube(2), avoid=one.x[None, :]), np.random.default_rng(1))
    np.testing.assert_array_equal(one.x, two.x)
    assert two.passed_over == 0


@each("name", ["constrained", "mixed and constrained"])
@each("peak", [0.05, 0.95])
def test_fixed_starts_never_returns_a_point_that_the_constraint_forbids(name: str, peak: float) -> None:
    region = REGIONS[name]
    objective = Smooth(region.lower + peak * (region.upper - region.lower))
    try:
        best = FixedStarts().maximize(objective, search_in(region), np.random.default_rng(0))
    except SpaceExhausted:
        # To say that no climb ended inside is as good as a point, where the peak is outside.
        assert peak == 0.95
    else:
        assert region.holds(best.x[None, :])[0]


def test_more_levels_are_more_starts() -> None:
    assert FixedStarts((0.0, 1.0)).climb(bumpy(Box.cube(2)), Box.cube(2)).ends.shape == (2, 2)


def test_drawn_starts_depend_on_their_seed_alone_and_come_after_the_levels() -> None:
    region = Box.cube(3)
    starts = FixedStarts((0.5,), draws=4, seed=7).starts(region)
    np.testing.assert_array_equal(starts[0], [0.5, 0.5, 0.5])
    np.testing.assert_array_equal(starts[1:], FixedStarts((), draws=4, seed=7).starts(region))
    assert not np.array_equal(starts[1:], FixedStarts((), draws=4, seed=8).starts(region))
    assert len(np.unique(starts, axis=0)) == 5


def test_a_start_that_ends_where_it_began_did_not_move() -> None:
    region = Box.cube(2)
    peak = Smooth(np.array([0.5, 0.5]))
    climb = FixedStarts((0.2, 0.5, 0.8)).climb(peak, region)
    assert climb.moved == pytest.approx(2.0 / 3.0)


@each("levels", [(), (0.5, 1.2), (-0.1,), (float("nan"),)])
def test_levels_must_lie_in_the_unit_interval(levels: tuple[float, ...]) -> None:
    with pytest.raises(InvalidInput, match=r"levels must be one or more numbers in \[0, 1\]"):
        FixedStarts(levels)


def test_a_maximum_is_what_the_members_return() -> None:
    for member in MEMBERS:
        assert isinstance(member.maximize(bumpy(MIXED), search_in(MIXED), np.random.default_rng(0)), Maximum)


@dataclass(frozen=True)
class Odd:
    """A hill whose own climbs are what they are said to be."""

    climbed: Any = None

    @property
    def has_gradient(self) -> bool:
        return True

    def value(self, X: Array) -> Array:
        values: Array = -((X - 0.3) ** 2).sum(axis=1)
        return values

    def value_with_gradient(self, X: Array) -> tuple[Array, Array]:
        return self.value(X), -2.0 * (X - 0.3)

    def climb(self, climb: Climb) -> Any:
        return climb_from(self, climb) if self.climbed is None else self.climbed


def test_an_objective_may_climb_by_itself_and_is_checked() -> None:
    search = search_in(Box.cube(2), np.zeros((0, 2)), np.zeros((0, 2)))
    rng = np.random.default_rng
    found = Multistart().maximize(Odd(), search, rng(0))
    np.testing.assert_allclose(found.x, 0.3, atol=1e-3)
    with pytest.raises(InvalidInput, match=r"Odd\.climb must give the ends"):
        Multistart().maximize(Odd(climbed="up"), search, rng(0))


def test_candidates_that_are_known_are_not_drawn_and_never_beat_what_is_found() -> None:
    """Of a few candidates, one of which is taken: the climbs begin there, and the best new one is a fallback."""
    X = np.array([[0.1, 0.2], [0.6, 0.5], [0.9, 0.9]])
    search = search_in(Box.cube(2), np.zeros((0, 2)), np.zeros((0, 2)))
    found = Multistart().maximize(Odd(), replace(search, known=Known(X, Odd().value(X))), np.random.default_rng(0))
    np.testing.assert_allclose(found.x, 0.3, atol=1e-3)
    lattice = Box(np.zeros(1), np.ones(1), (Block(0, 1, np.linspace(0.0, 1.0, 5)[:, None], True),))
    values = np.array([0.0, 3.0, 1.0, 2.0, 0.5])
    listed = Search(lattice, X[:0, :1], lattice.points()[1:2], known=Known(lattice.points(), values, whole=True))
    found = Multistart().maximize(Odd(), listed, np.random.default_rng(0))
    assert (found.x[0], found.value, found.passed_over) == (0.75, 2.0, 1)


def test_a_pickled_objective_is_compiled_again() -> None:
    objective, search = surface(2, 0, LogEI())
    before = objective.value(search.near_best)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(objective)).value(search.near_best), before)


def test_climbs_begin_at_known_candidates_that_keep_the_spacing() -> None:
    """The best candidates are near a point under way; the others are climbed from, and one of them is the answer."""
    peak, rng = np.full(2, 0.5), np.random.default_rng(0)
    crowd, rest = peak + 0.01 * rng.standard_normal((200, 2)), rng.random((40, 2))
    X, spacing = np.vstack([crowd, rest]), Spacing(peak[None, :], np.ones(2), 0.2, 1.0)
    objective = Smooth(peak)
    search = Search(Box.cube(2), peak[None, :], peak[None, :], spacing, Known(X, Smooth(peak).value(X)))
    found = Multistart(starts=4).maximize(objective, search, rng)
    assert not spacing.near(objective.asked[0]).any()
    assert found.spaced
    assert not spacing.near(found.x[None, :])[0]
    # If nothing keeps it, climbs begin where they can.
    everywhere = replace(spacing, radius=9.0, reach=9.0)
    found = Multistart(starts=4).maximize(objective, replace(search, spacing=everywhere), rng)
    assert not found.spaced


@each("most", [1, 50, 1 << 20])
def test_points_are_the_same_however_many_are_looked_at_at_once(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "_AT_ONCE", most)
    rng = np.random.default_rng(1)
    X, others = rng.random((30, 3)), rng.random((12, 3))
    X[[3, 17]] = others[[2, 11]]
    assert np.flatnonzero(near_any(X, others)).tolist() == [3, 17]
