from __future__ import annotations

import numpy as np
from each import each
from test_toy_region import Disc

from believer import Categorical, Float, Int, Space
from believer.arrays import Array
from believer.space.narrowed import Narrowed
from believer.space.region import Region


def ruled(params: dict[str, float]) -> bool:
    return params["x"] + params["y"] < 1.2


SPACES = {
    "floats": Space({"x": Float(-3.0, 5.0), "y": Float(1e-3, 1e3, log=True)}),
    "fine grid": Space({"x": Float(0.0, 1.0), "k": Int(0, 1000)}),
    "mixed": Space({"x": Float(0.0, 1.0), "k": Int(1, 5), "c": Categorical(["a", "b", "c"])}),
    "ruled": Space({"x": Float(0.0, 1.0), "y": Float(0.0, 1.0)}, constraint=ruled),
    "finite": Space({"a": Int(0, 200), "b": Int(0, 3)}),
}
REGIONS: dict[str, Region] = {name: space.region() for name, space in SPACES.items()} | {"disc": Disc()}


def narrowed(whole: Region, seed: int = 0, side: float = 0.2) -> Narrowed:
    center = whole.sample(16, np.random.default_rng(seed))[0]
    return Narrowed(whole, center - 0.5 * side, center + 0.5 * side)


def near_the_box(region: Narrowed, X: Array, slack: float) -> bool:
    cut = region.metric
    outside = np.maximum(X - region.upper, region.lower - X)
    return bool((outside[:, cut] <= slack).all())


@each("name, seed", [(name, seed) for name in REGIONS for seed in range(4)])
def test_all_points_of_a_narrowed_region_are_lawful_and_in_the_box(name: str, seed: int) -> None:
    whole, rng = REGIONS[name], np.random.default_rng(seed)
    part = narrowed(whole, seed)
    inside = part.sample(64, rng)
    assert len(inside)
    found = [
        inside,
        part.near(inside[:5], 20, (0.2, 0.01), rng),
        part.spread(rng.random((50, part.dim))),
        part.project(rng.random((50, part.dim))),
    ]
    for X in found:
        np.testing.assert_allclose(whole.project(X), X, atol=1e-9)
        # Half a step of the finest grid that is cut is what rounding may move a point by; a disc's border bends.
        assert near_the_box(part, X, 0.1 if name == "disc" else 0.006)
    if whole.ruled:
        assert whole.holds(np.vstack(found[:2])).all()


@each("name", REGIONS)
def test_samples_of_a_narrowed_region_fill_its_box(name: str) -> None:
    whole = REGIONS[name]
    part = narrowed(whole, 1)
    X = part.sample(512, np.random.default_rng(0))
    width = (part.upper - part.lower)[part.metric]
    assert (np.ptp(X, axis=0)[part.metric] > 0.6 * width).all()


@each("name", ["mixed", "finite"])
def test_what_has_no_lengthscale_is_not_cut(name: str) -> None:
    whole = REGIONS[name]
    part, loose = narrowed(whole), ~whole.metric
    X = part.sample(400, np.random.default_rng(0))
    all_of = whole.sample(4000, np.random.default_rng(1))
    for column in np.flatnonzero(loose):
        np.testing.assert_allclose(np.unique(X[:, column]), np.unique(all_of[:, column]))


def test_steps_and_neighbors_do_not_leave_the_box() -> None:
    for name in ("fine grid", "mixed", "finite"):
        part = narrowed(REGIONS[name], 2)
        X = part.sample(6, np.random.default_rng(0))
        for found in part.steps(X):
            assert near_the_box(part, found.reshape(-1, part.dim), 1e-6), name
        assert near_the_box(part, part.neighbors(X[0]), 1e-6), name


def test_the_points_of_a_finite_region_are_those_inside() -> None:
    part = narrowed(REGIONS["finite"], 3)
    points = part.points()
    assert 0 < len(points) < 201 * 4
    assert part.inside(points).all()
    assert len(points) == int(part.inside(REGIONS["finite"].points()).sum())


def test_a_box_as_wide_as_the_region_is_the_region() -> None:
    for name, whole in REGIONS.items():
        part = Narrowed(whole, np.full(whole.dim, -2.0), np.full(whole.dim, 3.0))
        X = np.random.default_rng(0).random((40, whole.dim))
        np.testing.assert_array_equal(part.project(X), whole.project(X), err_msg=name)
        assert part.share == 1.0
