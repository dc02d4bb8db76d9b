"""Data of a diagnosis: a problem gives a Latin hypercube for each seed, a table is scaled to the cube as it is."""

import json
from typing import Any

import numpy as np
import pytest
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st

import believer as bv
from believer.diagnostics.source import FromProblem, FromTable, source_of
from believer.errors import InvalidInput
from believer.problems import PROBLEMS, Problem, branin

X = np.array([[0.0, 0.25], [0.5, 1.0], [0.75, 0.5], [1.0, 0.0]])
Y = np.array([3.0, -1.0, 2.5, 0.0])

MIXED = Problem(
    "mixed",
    bv.Space({"n": bv.Int(1, 4), "kind": bv.Categorical(["a", "b", "c"]), "rate": bv.Float(1e-3, 1.0, log=True)}),
    lambda p: p["n"] + ("abc".index(p["kind"])) + float(np.log(p["rate"])),
)


def table(*given: Any) -> FromTable:
    source = source_of(given, 30)
    assert isinstance(source, FromTable)
    return source


@each("name", [name for name in PROBLEMS if name != "svm_breast_cancer"])
def test_a_problem_by_name_and_by_value_give_the_same_data(name: str) -> None:
    by_name, by_value = source_of(name, 7).draw(3), source_of(PROBLEMS[name](), 7).draw(3)
    np.testing.assert_array_equal(by_name.X, by_value.X)
    np.testing.assert_array_equal(by_name.y, by_value.y)


@pytest.mark.parametrize(("n", "seed"), [(2, 0), (7, 1), (30, 12)])
def test_a_design_has_one_point_in_every_slice_of_every_axis(n: int, seed: int) -> None:
    drawn = source_of("hartmann6", n).draw(seed)
    assert drawn.X.shape == (n, 6)
    np.testing.assert_array_equal(np.sort((drawn.X * n).astype(int), axis=0), np.tile(np.arange(n)[:, None], 6))


def test_values_are_those_of_the_problem() -> None:
    problem, drawn = branin(), source_of("branin", 5).draw(0)
    expected = [problem(params) for params in problem.space.decode(drawn.X)]
    np.testing.assert_array_equal(drawn.y, expected)


def test_a_seed_stands_for_one_design() -> None:
    source = source_of("branin", 6)
    np.testing.assert_array_equal(source.draw(4).X, source.draw(4).X)
    assert not np.array_equal(source.draw(4).X, source.draw(5).X)


def test_a_design_of_a_mixed_space_lies_in_the_space() -> None:
    drawn = source_of(MIXED, 12).draw(0)
    np.testing.assert_array_equal(drawn.region.project(drawn.X), drawn.X)
    assert sorted(p["n"] for p in MIXED.space.decode(drawn.X)) == [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]


@pytest.mark.parametrize("source", [source_of("branin", 4), table(X, Y)])
def test_data_cannot_be_changed(source: FromProblem | FromTable) -> None:
    drawn = source.draw(0)
    for array in (drawn.X, drawn.y):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.5


def test_a_value_that_is_not_finite_names_the_problem_and_the_point() -> None:
    broken = Problem("broken", bv.Space.cube(2), lambda p: float("nan"))
    with pytest.raises(InvalidInput, match=r"^broken gave a value that is not finite at \[0\."):
        source_of(broken, 3).draw(0)


def test_without_bounds_a_table_is_in_the_unit_cube_already() -> None:
    for source in (table(X, Y), table(X, Y, None), table(X.tolist(), Y.tolist()), table(X, Y, [(0, 1), (0, 1)])):
        np.testing.assert_array_equal(source.draw(0).X, X)
        np.testing.assert_array_equal(source.draw(0).y, Y)


@settings(max_examples=50)
@given(low=st.floats(-1e6, 1e6), width=st.floats(1e-3, 1e6))
def test_raw_units_are_scaled_to_the_cube(low: float, width: float) -> None:
    raw = X * [width, 4.0] + [low, -3.0]
    drawn = table(raw, Y, [(low, low + width), (-3.0, 1.0)]).draw(0)
    np.testing.assert_allclose(drawn.X, X, atol=1e-6)
    assert drawn.X.min() >= 0.0
    assert drawn.X.max() <= 1.0
    np.testing.assert_array_equal(drawn.X[:, 1], X[:, 1])


def test_the_rounding_of_a_point_on_the_edge_is_forgiven() -> None:
    low, high = 0.1, 0.7
    edge = low + (high - low) * np.array([[0.0], [1.0], [1.0 + 5e-10]])
    np.testing.assert_allclose(table(edge, [0.0, 1.0, 2.0], [(low, high)]).draw(0).X, [[0.0], [1.0], [1.0]], atol=1e-12)


def test_a_table_is_the_same_for_every_seed_and_every_cube_column_is_free() -> None:
    source = table(X, Y)
    np.testing.assert_array_equal(source.draw(0).X, source.draw(7).X)
    assert source.region.size is None
    assert source.region.dim == 2


def test_the_callers_arrays_are_copied() -> None:
    mine, values = X.copy(), Y.copy()
    source = table(mine, values)
    mine[:], values[:] = 0.5, 0.5
    np.testing.assert_array_equal(source.draw(0).X, X)
    np.testing.assert_array_equal(source.draw(0).y, Y)


def test_settings_are_plain_and_tell_tables_apart() -> None:
    base = table(X, Y).settings()
    assert json.loads(json.dumps(base)) == base
    assert base["n"] == 4
    for same in (table(X.tolist(), list(Y)), table(np.asfortranarray(X), Y), table(2.0 * X, Y, [(0, 2), (0, 2)])):
        assert same.settings() == base
    changed_x, changed_y = X.copy(), Y.copy()
    changed_x[1, 1], changed_y[2] = np.nextafter(1.0, 0.0), np.nextafter(2.5, 3.0)
    for other in (table(changed_x, Y), table(X, changed_y), table(X[::-1], Y), table(X[:3], Y[:3])):
        assert other.settings() != base


def test_settings_tell_problems_and_designs_apart() -> None:
    settings = [source_of(*given).settings() for given in (("branin", 5), ("branin", 6), ("wave1", 5))]
    assert len({json.dumps(one) for one in settings}) == 3
    assert source_of("branin", 5).settings() == source_of(branin(), 5).settings()


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("hartman6", r"problem must be one of hartmann6, ackley8, .*, or data; got 'hartman6'\."),
        ("", "problem must be one of"),
        (None, r"a problem's name, a Problem, or a tuple \(X, y, bounds\); got NoneType\."),
        (branin, "got function"),
        ([X, Y], "got list"),
        ((X,), "got tuple"),
        ((X, Y, None, None), "got tuple"),
        (X, "got ndarray"),
        ((X[0], Y), r"X must have two axes, \(points, coordinates\); got shape \(2,\)"),
        ((X, Y[:3]), "y must have one value for each of the 4 points; got 3"),
        ((X, Y[:, None]), "y must have one axis"),
        ((X[:1], Y[:1]), "at least two observations; got 1"),
        ((X[:0], Y[:0]), "at least two observations; got 0"),
        ((np.where(X == 0.25, np.nan, X), Y), "X must be finite; row 0 is not"),
        ((X, np.where(Y == 2.5, np.inf, Y)), "y must be finite; item 2 is not"),
        (([["a", "b"], ["c", "d"]], [0.0, 1.0]), "X must be a table of numbers"),
        ((X, Y, [(0, 1)]), r"bounds must be 2 pairs \(low, high\); got shape \(1, 2\)"),
        ((X, Y, [(0, 1, 2), (0, 1, 2)]), r"bounds must be 2 pairs \(low, high\); got shape \(2, 3\)"),
        ((X, Y, (0.0, 1.0)), r"bounds must be 2 pairs \(low, high\); got shape \(2,\)"),
        ((X, Y, [(0, 1), (1, 0)]), r"bounds must satisfy low < high; got low=1\.0, high=0\.0 for column 1\."),
        ((X, Y, [(0, 1), (1, 1)]), r"low < high; got low=1\.0, high=1\.0 for column 1\."),
        ((X, Y, [(float("nan"), 1), (0, 1)]), r"low < high; got low=nan, high=1\.0 for column 0\."),
        ((X, Y, [(0, float("inf")), (0, 1)]), r"low < high; got low=0\.0, high=inf for column 0\."),
        ((X, Y, [(0, 1), (0, 0.9)]), r"every point must lie within the bounds; row 1 does not\. Widen the bounds\."),
        ((X + 1.0, Y), "every point must lie within the bounds; row 0 does not"),
    ],
)
def test_what_is_no_data_is_refused_with_the_rule(given: Any, text: str) -> None:
    with pytest.raises(InvalidInput, match=text):
        source_of(given, 5)
