from __future__ import annotations

import copy
import json
import math
import pickle
from typing import Any

import numpy as np
import pytest
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st

from believer.errors import InvalidInput
from believer.space import Space
from believer.space.box import Box
from believer.space.parameters import MAX_GRID, Categorical, Discrete, Float, Int, Number, Ordinal, Parameter
from believer.space.region import bounds

law = settings(max_examples=60)
ends = st.floats(-1e6, 1e6, allow_subnormal=False)


@st.composite
def linear_floats(draw: st.DrawFn) -> Float:
    low, high = sorted((draw(ends), draw(ends)))
    return Float(low, high if high > low else low + 1.0)


@st.composite
def log_floats(draw: st.DrawFn) -> Float:
    low = 10.0 ** draw(st.floats(-300.0, 290.0))
    return Float(low, low * 10.0 ** draw(st.floats(1e-3, 9.0)), log=True)


@st.composite
def stepped_floats(draw: st.DrawFn) -> Float:
    step = draw(st.sampled_from([0.1, 0.25, 1.0 / 3.0, 1e-3, 1e-5, 7.0, 1e-20, 0.30000000000000004]))
    low = draw(st.integers(-50, 50)) * step
    return Float(low, low + draw(st.floats(0.3, 30_000.0)) * step, step=step)


@st.composite
def ints(draw: st.DrawFn) -> Int:
    low = draw(st.sampled_from([1, 2, 10, 10**9]) | st.integers(1, 1000))
    high = low + draw(st.integers(0, 30) | st.integers(0, 10**9))
    log = draw(st.booleans())
    shift = 0 if log else draw(st.integers(0, 2 * high))
    return Int(low - shift, high - shift, log=log, step=draw(st.sampled_from([1, 1, 1, 2, 3, 17, 10**6])))


categoricals = st.lists(
    st.sampled_from(["a", "b", "", 0, 1, 2, 0.0, 1.0, 2.5, True, False, None]),
    min_size=1,
    max_size=5,
    unique_by=lambda choice: (type(choice), choice),
).map(Categorical)


@st.composite
def described(draw: st.DrawFn) -> Categorical:
    plain = draw(categoricals).choices
    columns = draw(st.integers(0, 3))
    rows = st.lists(ends, min_size=len(plain), max_size=len(plain))
    return Categorical(plain, descriptors={f"d{i}": draw(rows) for i in range(columns)})


choices = categoricals | described()
ordinals = st.lists(
    st.sampled_from(["low", "mid", "high", 1, 1.0, True, None]),
    min_size=1,
    max_size=5,
    unique_by=lambda choice: (type(choice), choice),
).map(Ordinal)


@st.composite
def discretes(draw: st.DrawFn) -> Discrete:
    whole = draw(st.lists(st.integers(-50, 10_000), min_size=1, max_size=8, unique=True))
    values: list[float] = [value * 0.25 for value in whole] if draw(st.booleans()) else [*whole]
    return Discrete(values, log=min(values) > 0 and draw(st.booleans()))


parameters = linear_floats() | log_floats() | stepped_floats() | ints() | choices | ordinals | discretes()
spaces = st.dictionaries(st.text(min_size=1, max_size=3), parameters, min_size=1, max_size=5).map(Space)


@st.composite
def spaces_with_points(draw: st.DrawFn) -> tuple[Space, np.ndarray[Any, np.dtype[np.float64]]]:
    space = draw(spaces)
    X = np.random.default_rng(draw(st.integers(0, 2**32))).random((30, space.dim))
    corners = np.outer([0.0, 1e-17, np.nextafter(1.0, 0.0), 1.0], np.ones(space.dim))
    return space, np.vstack([X, corners, X[:5].round()])


def is_discrete(parameter: Parameter) -> bool:
    return not isinstance(parameter, Float) or parameter.step is not None


def same(parameter: Parameter, a: Any, b: Any) -> bool:
    if is_discrete(parameter):
        return type(a) is type(b) and a == b
    assert isinstance(parameter, Float)
    width = 0.0 if parameter.log else parameter.high - parameter.low
    return math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-12 * width)


@law
@given(spaces_with_points())
def test_decode_stays_inside_and_is_canonical(case: tuple[Space, Any]) -> None:
    space, X = case
    for params in space.decode(X):
        checked = space.check(params)
        assert list(params) == list(space.names)
        for name, parameter in space.parameters.items():
            value = params[name]
            assert type(value) is type(checked[name])
            assert value == checked[name]
            if isinstance(parameter, Categorical | Ordinal):
                assert any(type(value) is type(choice) and value == choice for choice in parameter.choices)
            else:
                assert isinstance(parameter, Number)
                assert parameter.low <= value <= parameter.high
                assert type(value) is (type(parameter.low) if isinstance(parameter, Int | Discrete) else float)


@law
@given(spaces_with_points())
def test_decode_inverts_encode(case: tuple[Space, Any]) -> None:
    space, X = case
    points = space.decode(X)
    for before, after in zip(points, space.decode(space.encode(points)), strict=True):
        for name, parameter in space.parameters.items():
            assert same(parameter, after[name], before[name])


@law
@given(spaces_with_points())
def test_encoding_a_decoded_point_is_idempotent(case: tuple[Space, Any]) -> None:
    space, X = case
    E = space.encode(space.decode(X))
    again = space.encode(space.decode(E))
    assert E.shape == X.shape
    assert ((E >= 0.0) & (E <= 1.0)).all()
    np.testing.assert_allclose(again, E, rtol=0.0, atol=1e-12)
    start = 0
    for parameter in space.parameters.values():
        stop = start + parameter.width
        if is_discrete(parameter):
            np.testing.assert_array_equal(again[:, start:stop], E[:, start:stop])
        start = stop


@law
@given(spaces_with_points())
def test_the_region_snaps_where_decode_snaps(case: tuple[Space, Any]) -> None:
    space, X = case
    region = space.region()
    assert isinstance(region, Box)
    E = space.encode(space.decode(X))
    snapped = region.project(X)
    assert region.dim == space.dim == X.shape[1]
    for block in region.blocks:
        np.testing.assert_array_equal(snapped[:, block.start : block.stop], E[:, block.start : block.stop])
        if block.ordered:
            assert (np.diff(block.values[:, 0]) > 0).all()
    assert (np.clip(E, region.lower, region.upper) == E).all()


@law
@given(spaces_with_points())
def test_a_fixed_parameter_never_moves(case: tuple[Space, Any]) -> None:
    space, X = case
    values = space.decode(X)[0]
    fixed = {name: values[name] for name in space.names[::2]}
    for params in space.decode(space.region(fixed).project(X)):
        for name, value in fixed.items():
            assert same(space.parameters[name], params[name], value)
    everything = space.region(values)
    for end in bounds(everything):
        np.testing.assert_array_equal(end, space.encode([values])[0])
    assert everything.size == 1


@law
@given(spaces)
def test_a_config_survives_json_with_sorted_keys(space: Space) -> None:
    config = space.to_config()
    text = json.dumps(config, sort_keys=True, allow_nan=False)
    assert json.loads(text) == config
    copied = Space.from_config(json.loads(text))
    assert copied == space
    assert copied.names == space.names
    assert hash(copied) == hash(space)


@law
@given(spaces)
def test_spaces_are_picklable_values(space: Space) -> None:
    assert pickle.loads(pickle.dumps(space)) == space
    assert copy.deepcopy(space) == space


@law
@given(st.lists(stepped_floats() | ints() | choices | ordinals | discretes(), min_size=1, max_size=3))
def test_size_counts_the_points_of_the_region(members: list[Parameter]) -> None:
    space = Space({f"p{j}": member for j, member in enumerate(members)})
    size, region = space.size, space.region()
    assert size is not None
    if region.size is not None:
        assert region.size == size
        if size <= 2000:
            points = space.decode(region.points())
            assert len({tuple((type(v), v) for v in params.values()) for params in points}) == size
    else:
        assert size > MAX_GRID


def test_size_is_none_with_a_continuous_parameter() -> None:
    assert Space({"n": Int(1, 3), "x": Float(0, 1)}).size is None
    assert Space({"n": Int(1, 3), "c": Categorical(["a", "b"])}).size == 6


def test_dim_counts_columns_and_len_counts_parameters() -> None:
    space = Space({"x": Float(0, 1), "n": Int(1, 3), "c": Categorical(["a", "b", "c"])})
    assert (len(space), space.dim, space.names) == (3, 5, ("x", "n", "c"))


def test_groups_tell_which_columns_belong_to_a_parameter() -> None:
    space = Space(
        {"c": Categorical(["a", "b", "c"]), "x": Float(0, 1), "n": Int(1, 3), "b": Categorical([True, False])}
    )
    assert space.groups == (0, 0, 0, 1, 2, 3, 3)
    assert Space({"x": Float(0, 1), "n": Int(1, 3), "c": Categorical(["a"])}).groups is None


def test_unit_is_the_cube() -> None:
    space = Space.cube(3)
    X = np.random.default_rng(0).random((4, 3))
    assert space.names == ("x0", "x1", "x2")
    assert space == Space({name: Float(0.0, 1.0) for name in space.names})
    np.testing.assert_array_equal(space.encode(space.decode(X)), X)


def test_known_encodings() -> None:
    space = Space(
        {
            "lr": Float(1e-4, 1e0, log=True),
            "x": Float(-1, 3),
            "n": Int(1, 1000, log=True),
            "k": Int(2, 11, step=4),
            "c": Categorical(["a", None, 1]),
        }
    )
    E = space.encode([{"lr": 1e-3, "x": 0.0, "n": 10, "k": 6, "c": None}])
    np.testing.assert_allclose(E, [[0.25, 0.25, 1.0 / 3.0, 4.0 / 9.0, 0.0, 1.0, 0.0]], rtol=1e-14)
    assert space.decode([[1.0, 1.0, 1.0, 1.0, 0.2, 0.3, 0.1]]) == [{"lr": 1.0, "x": 3.0, "n": 1000, "k": 10, "c": None}]


def test_snapping_is_nearest_on_the_encoded_scale() -> None:
    space = Space({"n": Int(1, 4, log=True)})
    middle = (math.log(2.0) + math.log(3.0)) / 2.0 / math.log(4.0)
    assert [p["n"] for p in space.decode([[middle - 1e-9], [middle + 1e-9]])] == [2, 3]


def test_a_tie_goes_to_the_lower_value_in_decode_as_in_the_region() -> None:
    space = Space({"n": Int(0, 2)})
    assert [p["n"] for p in space.decode([[0.25], [0.75]])] == [0, 1]
    assert space.region().project(np.array([[0.25], [0.75]])).tolist() == [[0.0], [0.5]]


def test_out_of_cube_points_decode_to_the_bounds() -> None:
    space = Space({"x": Float(-2, 5), "n": Int(3, 9)})
    assert space.decode([[-0.5, 1.5], [7.0, -7.0]]) == [{"x": -2.0, "n": 9}, {"x": 5.0, "n": 3}]


def test_huge_ints_stay_whole_without_a_block() -> None:
    space = Space({"n": Int(1, 10**9, log=True), "m": Int(0, 10**9), "k": Int(1, MAX_GRID)})
    region = space.region()
    assert region.decisions == (None, None, MAX_GRID)
    assert region.rounded
    assert region.size is None
    assert space.size == 10**9 * (10**9 + 1) * MAX_GRID
    points = [{"n": 999_999_999, "m": 123_456_789, "k": 77}, {"n": 1, "m": 0, "k": 1}]
    assert space.decode(space.encode(points)) == points


def test_a_grid_that_misses_high_ends_at_its_last_value() -> None:
    space = Space({"x": Float(0, 1, step=0.4), "n": Int(0, 10, step=6)})
    assert space.size == 6
    assert space.decode([[1.0, 1.0]]) == [{"x": 0.8, "n": 6}]
    np.testing.assert_array_equal(bounds(space.region())[1], [0.8, 0.6])
    short = Space({"x": Float(0, 0.3 - 1e-9, step=0.1)})
    assert (short.size, short.decode([[1.0]])) == (4, [{"x": 0.3 - 1e-9}])
    _, tiny = bounds(Space({"x": Float(0, 1.00000001, step=1e-7)}).region())
    assert tiny[0] == pytest.approx(1.0 / 1.00000001, rel=1e-15)
    assert tiny[0] < 1.0


def test_decimal_steps_give_the_decimals_that_one_writes() -> None:
    space = Space({"x": Float(0.1, 0.7, step=0.1)})
    assert [p["x"] for p in space.decode(space.region().points())] == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]
    assert space.check({"x": 0.1 + 0.1 + 0.1}) == {"x": 0.3}


def test_float_bounds_at_the_ends_of_the_number_range() -> None:
    largest = np.finfo(float).max
    space = Space({"x": Float(1e-300, largest, log=True), "y": Float(-largest / 2, largest / 2)})
    assert space.decode([[0, 0], [1, 1]]) == [{"x": 1e-300, "y": -largest / 2}, {"x": largest, "y": largest / 2}]
    assert math.isfinite(space.decode([[np.nextafter(1.0, 0.0), 0.5]])[0]["x"])


def test_check_returns_plain_values_in_order() -> None:
    space = Space({"x": Float(0, 1), "n": Int(1, 5), "c": Categorical(["a", True, 2])})
    checked = space.check({"c": np.bool_(True), "n": np.int32(3), "x": np.float32(0.5)})
    assert list(checked.items()) == [("x", 0.5), ("n", 3), ("c", True)]
    assert [type(value) for value in checked.values()] == [float, int, bool]
    assert [type(v) for v in space.check({"x": 1, "n": 4.0, "c": np.str_("a")}).values()] == [float, int, str]
    assert space.check_fixed({"c": np.int64(2), "x": 0}) == {"x": 0.0, "c": 2}
    assert space.check_fixed({}) == {}


def test_floats_a_rounding_error_outside_are_clamped() -> None:
    space = Space({"x": Float(-1, 1), "lr": Float(1e-6, 1.0, log=True), "s": Float(0, 1, step=0.25)})
    clamped = space.check({"x": 1.0 + 1e-10, "lr": 1e-6 * (1 - 1e-10), "s": 0.75 + 1e-12})
    assert clamped == {"x": 1.0, "lr": 1e-6, "s": 0.75}
    inside = {"x": 1.0 - 1e-12, "lr": 1e-6 * (1 + 1e-12), "s": 0.5}
    assert space.check(inside) == inside


@law
@given(spaces_with_points())
def test_a_point_is_encoded_the_same_alone_and_beside_others(case: tuple[Space, Any]) -> None:
    """To the bit, but for logarithms, of which a library may take several at once in another way."""
    space, X = case
    points = space.decode(X)
    together = space.encode([*points, *points])
    logs = [isinstance(p, Number) and p.log for p in space.parameters.values() for _ in range(p.width)]
    for point, row in zip(points, together, strict=False):
        [alone] = space.encode([point])
        assert alone[np.logical_not(logs)].tobytes() == row[np.logical_not(logs)].tobytes()
        assert np.abs(alone - row).max() <= 1e-12


def test_encode_takes_what_check_takes() -> None:
    space = Space({"x": Float(-1, 1), "n": Int(1, 5), "s": Float(0, 1, step=0.1), "c": Categorical(["a", 2])})
    loose = {"c": np.int64(2), "n": 3.0, "x": 1.0 + 1e-12, "s": 0.30000000000000004}
    np.testing.assert_array_equal(space.encode([loose]), space.encode([space.check(loose)]))
    assert space.encode([]).shape == (0, space.dim)
    assert space.decode(np.empty((0, space.dim))) == []
    wrong: list[dict[str, Any]] = [{"x": 2.0}, {"n": 2.5}, {"s": 0.05}, {"c": "b"}, {"z": 1}]
    for bad in wrong:
        with pytest.raises(InvalidInput):
            space.encode([space.check(loose), {**loose, **bad}])
    with pytest.raises(InvalidInput, match="missing: n"):
        space.encode([{"x": 0.0, "s": 0.1, "c": 2}])


def test_choices_of_different_types_differ() -> None:
    one = Space({"c": Categorical([1, 1.0, True, "1", None])})
    points = [{"c": value} for value in (1, 1.0, True, "1", None)]
    np.testing.assert_array_equal(one.encode(points), np.eye(5))
    assert [type(p["c"]) for p in one.decode(np.eye(5))] == [int, float, bool, str, type(None)]
    assert Categorical([1]) != Categorical([True])
    assert Categorical([1, 2]) != Categorical([2, 1])


def test_order_is_part_of_a_space() -> None:
    x, n = Float(0, 1), Int(1, 3)
    assert Space({"x": x, "n": n}) != Space({"n": n, "x": x})


def test_parameters_are_read_only() -> None:
    space = Space({"x": Float(0, 1)})
    with pytest.raises(TypeError):
        space.parameters["x"] = Int(1, 2)  # type: ignore[index]
    with pytest.raises(AttributeError):
        space.constraint = None  # type: ignore[misc]
    assert repr(space) == "Space({'x': Float(low=0.0, high=1.0, log=False, step=None)})"


def test_a_constraint_reaches_the_region() -> None:
    space = Space({"a": Int(1, 3), "b": Int(1, 3)}, constraint=lambda p: p["a"] + p["b"] <= 4)
    region = space.region()
    assert space.allows({"a": 1, "b": 3})
    assert not space.allows({"a": 2, "b": 3})
    assert sorted((p["a"], p["b"]) for p in space.decode(region.points())) == [
        (1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (3, 1),
    ]  # fmt: skip
    assert region.size == space.size == 9
    assert not Space.cube(1).region().ruled
    assert Space.cube(1).allows({"x0": 0.5})


def test_a_constraint_cannot_change_the_point() -> None:
    def greedy(params: dict[str, Any]) -> bool:
        params.clear()
        return True

    params = {"x": 0.5}
    assert Space({"x": Float(0, 1)}, greedy).allows(params)
    assert params == {"x": 0.5}


def test_a_broken_constraint_says_where_it_broke() -> None:
    def divide(params: dict[str, Any]) -> bool:
        return bool(1 / params["n"] > 0)

    space = Space({"n": Int(0, 2)}, divide)
    with pytest.raises(InvalidInput, match=r"it raised ZeroDivisionError: .* at \{'n': 0\}\.") as caught:
        space.region().points()
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    forgot_return = Space({"n": Int(0, 2)}, lambda params: None)  # type: ignore[arg-type, return-value]
    with pytest.raises(InvalidInput, match=r"must return True or False; it returned None at \{'n': 1\}\."):
        forgot_return.allows({"n": 1})


def test_a_config_does_not_lose_a_constraint() -> None:
    def small(params: dict[str, Any]) -> bool:
        return bool(params["x"] < 0.5)

    space = Space({"x": Float(0, 1)}, small)
    with pytest.raises(InvalidInput, match="constraint="):
        Space.from_config(space.to_config())
    assert Space.from_config(space.to_config(), small) == space


AnyFloat: Any = Float
AnyInt: Any = Int
AnyCategorical: Any = Categorical
AnySpace: Any = Space


@each(
    ("make", "text"),
    [
        (lambda: AnyFloat(2.0, 1.0), "bounds must satisfy low < high; got low=2.0, high=1.0."),
        (lambda: AnyFloat(1, 1), "bounds must satisfy low < high; got low=1.0, high=1.0."),
        (lambda: AnyFloat(0, math.inf), "high must be a finite number; got high=inf."),
        (lambda: AnyFloat(math.nan, 1), "low must be a finite number; got low=nan."),
        (lambda: AnyFloat("0", 1), "low must be a finite number; got low='0'."),
        (lambda: AnyFloat(False, 1), "low must be a finite number; got low=False."),
        (lambda: AnyFloat(0, 10**400), f"high must be a finite number; got high={str(10**400)[:200]}...."),
        (lambda: AnyFloat(-1.7e308, 1.7e308), "high - low must be finite; got low=-1.7e+308, high=1.7e+308."),
        (lambda: AnyFloat(0, 1, log=True), "log needs low > 0; got low=0.0."),
        (lambda: AnyFloat(-1, 1, log=True), "log needs low > 0; got low=-1.0."),
        (lambda: AnyFloat(0, 1, log="yes"), "log must be True or False; got log='yes'."),
        (lambda: AnyFloat(0, 1, step=0), "step must be positive; got step=0.0."),
        (lambda: AnyFloat(0, 1, step=-0.1), "step must be positive; got step=-0.1."),
        (lambda: AnyFloat(0, 1, step="a"), "step must be a finite number; got step='a'."),
        (
            lambda: AnyFloat(0, 1, step=1e-10),
            "step must be at least 1e-9 of the larger bound, or None; got step=1e-10.",
        ),
        (
            lambda: AnyFloat(1, 2, log=True, step=1),
            "log and step cannot be combined; got log=True, step=1.0.",
        ),
        (
            lambda: AnyFloat(1e10, math.nextafter(1e10, 2e10), log=True),
            "log bounds must differ in their logarithms; got low=10000000000.0, high=10000000000.000002.",
        ),
        (lambda: AnyInt(3, 2), "bounds must satisfy low <= high; got low=3, high=2."),
        (lambda: AnyInt(0.5, 2), "low must be a whole number; got low=0.5."),
        (lambda: AnyInt(0, True), "high must be a whole number; got high=True."),
        (lambda: AnyInt(0, np.bool_(True)), f"high must be a whole number; got high={np.True_!r}."),
        (lambda: AnyInt(0, math.inf), "high must be a whole number; got high=inf."),
        (lambda: AnyInt(0, 5, step=0), "step must be positive; got step=0."),
        (lambda: AnyInt(0, 5, step=1.5), "step must be a whole number; got step=1.5."),
        (lambda: AnyInt(0, 5, log=True), "log needs low > 0; got low=0."),
        (lambda: AnyInt(0, 2**41), "bounds must lie within ±2**40, or use Float; got low=0, high=2199023255552."),
        (lambda: AnyCategorical([]), "choices must be a list or tuple of at least one value; got []."),
        (lambda: AnyCategorical("abc"), "choices must be a list or tuple of at least one value; got 'abc'."),
        (lambda: AnyCategorical({1}), "choices must be a list or tuple of at least one value; got {1}."),
        (lambda: AnyCategorical(["a", "a"]), "choices must differ from each other; got 'a' twice. Remove one."),
        (lambda: AnyCategorical([1, np.int64(1)]), "choices must differ from each other; got 1 twice. Remove one."),
        (lambda: AnyCategorical([math.nan]), "a choice must be a str, int, finite float, bool or None; got nan."),
        (lambda: AnyCategorical([(1, 2)]), "a choice must be a str, int, finite float, bool or None; got (1, 2)."),
        (lambda: AnySpace({}), "a space needs a mapping of at least one name to a parameter; got {}."),
        (lambda: AnySpace([1]), "a space needs a mapping of at least one name to a parameter; got [1]."),
        (lambda: AnySpace({"": AnyInt(1, 2)}), "a parameter's name must be a non-empty str; got ''."),
        (lambda: AnySpace({3: AnyInt(1, 2)}), "a parameter's name must be a non-empty str; got 3."),
        (
            lambda: AnySpace({"x": (0, 1)}),
            "a parameter must be a Float, Int, Categorical, Ordinal or Discrete; got (0, 1) for 'x'.",
        ),
        (lambda: AnySpace({"x": AnyInt(1, 2)}, 3), "constraint must be a function of the params or None; got 3."),
        (lambda: AnySpace.from_config({}), "config must be what Space.to_config returned; got {}."),
        (lambda: AnySpace.from_config(None), "config must be what Space.to_config returned; got None."),
        (
            lambda: AnySpace.from_config(
                {"parameters": [{"name": "lr", "kind": "Float", "low": 2.0, "high": 1.0}], "constrained": False}
            ),
            "bounds must satisfy low < high; got low=2.0, high=1.0 for 'lr'.",
        ),
        (
            lambda: AnySpace.from_config({"parameters": [{"name": "x", "kind": "Real"}], "constrained": False}),
            "a parameter that a config describes must be a Float, Int, Categorical, Ordinal or Discrete; "
            "got the kind 'Real' for 'x'.",
        ),
    ],
)
def test_a_broken_rule_says_the_rule_and_what_came(make: Any, text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        make()
    assert str(caught.value) == text


@each(
    ("change", "text"),
    [
        ({"x": "a"}, "a value must be a finite number; got 'a' for 'x'."),
        ({"x": True}, "a value must be a finite number; got True for 'x'."),
        ({"x": math.nan}, "a value must be a finite number; got nan for 'x'."),
        ({"x": None}, "a value must be a finite number; got None for 'x'."),
        ({"x": 1.5}, "a value must lie in [0.0, 1.0]; got 1.5 for 'x'."),
        ({"x": -1e-6}, "a value must lie in [0.0, 1.0]; got -1e-06 for 'x'."),
        ({"lr": 0.0}, "a value must lie in [1e-05, 10.0]; got 0.0 for 'lr'."),
        ({"lr": 9.995e-6}, "a value must lie in [1e-05, 10.0]; got 9.995e-06 for 'lr'."),
        ({"n": 1.5}, "a value must be a whole number; got 1.5 for 'n'."),
        ({"n": False}, "a value must be a whole number; got False for 'n'."),
        ({"n": 11}, "a value must lie in [0, 10]; got 11 for 'n'."),
        ({"n": 10}, "a value must be on 0 + i * 6; got 10 for 'n', the nearest is 6."),
        ({"s": 0.7}, "a value must be on 0.0 + i * 0.55; got 0.7 for 's', the nearest is 0.55."),
        ({"s": 1.0}, "a value must be on 0.0 + i * 0.55; got 1.0 for 's', the nearest is 0.55."),
        ({"c": "d"}, "a value must be one of ['a', 1]; got 'd' for 'c'."),
        ({"c": 1.0}, "a value must be one of ['a', 1]; got 1.0 for 'c'."),
        ({"c": [1]}, "a value must be one of ['a', 1]; got [1] for 'c'."),
        ({"z": 1}, "params must name parameters among x, lr, n, s, c; got 'z'."),
    ],
)
def test_a_bad_value_is_named(change: dict[str, Any], text: str) -> None:
    space = Space(
        {
            "x": Float(0, 1),
            "lr": Float(1e-5, 10, log=True),
            "n": Int(0, 10, step=6),
            "s": Float(0, 1, step=0.55),
            "c": Categorical(["a", 1]),
        }
    )
    good = {"x": 0.5, "lr": 0.1, "n": 6, "s": 0.55, "c": "a"}
    assert space.check(good) == good
    for attempt in (space.check, lambda params: space.encode([params])):
        with pytest.raises(InvalidInput) as caught:
            attempt({**good, **change})
        assert str(caught.value) == text
    with pytest.raises(InvalidInput) as caught:
        space.region(change)
    assert str(caught.value) == text


def test_missing_values_and_wrong_shapes_are_named() -> None:
    space = Space({"x": Float(0, 1), "n": Int(1, 2)})
    with pytest.raises(InvalidInput, match=r"^params must give every parameter a value; missing: x, n\.$"):
        space.check({})
    with pytest.raises(InvalidInput, match=r"^params must be a mapping of names to values; got \[0\.5, 1\]\.$"):
        space.check([0.5, 1])  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="X must have 2 columns; got 3"):
        space.decode(np.zeros((1, 3)))


def test_an_ordinal_has_its_places_on_one_column() -> None:
    space = Space({"level": Ordinal(["low", "mid", "high"])})
    assert (space.dim, space.size) == (1, 3)
    np.testing.assert_array_equal(space.region().points(), [[0.0], [0.5], [1.0]])
    assert [p["level"] for p in space.decode([[0.2], [0.25], [0.26], [1.0]])] == ["low", "low", "mid", "high"]
    assert repr(Ordinal(["a", 1], units="x")) == "Ordinal(choices=('a', 1), units='x')"
    assert Ordinal([1, 2]) != Ordinal([1.0, 2]) != Ordinal([2, 1.0])


def test_discrete_numbers_lie_where_their_sizes_say() -> None:
    dose = Discrete([10, 0, 2.5, 1, 5], units="mg")
    assert (dose.values, dose.low, dose.high) == ((0.0, 1.0, 2.5, 5.0, 10.0), 0.0, 10.0)
    np.testing.assert_allclose(dose.grid()[:, 0], [0.0, 0.1, 0.25, 0.5, 1.0])
    assert dose.decode(np.array([[0.17], [0.18], [0.9]])) == [1.0, 2.5, 10.0]
    assert dose.check(2.5 + 1e-12, "dose") == 2.5
    np.testing.assert_allclose(Discrete([1, 10, 100], log=True).grid()[:, 0], [0.0, 0.5, 1.0])
    assert Discrete([1, 2]).check(2.0, "n") == 2
    assert type(Discrete([*np.array([1, 2])]).check(2.0, "n")) is int


@pytest.mark.parametrize(
    "make",
    [
        lambda: Discrete([]),
        lambda: Discrete("12"),  # type: ignore[arg-type]
        lambda: Discrete([1, "2"]),  # type: ignore[list-item]
        lambda: Discrete([1.0, 1.0]),
        lambda: Discrete([0, 1], log=True),
        lambda: Discrete([1.0, float("inf")]),
        lambda: Discrete([1, 2], backfill=3),
        lambda: Discrete([1, 2]).check(1.5, "n"),
        lambda: Discrete([1, 2]).check("1", "n"),
        lambda: Ordinal([]),
        lambda: Ordinal(["a", "a"]),
        lambda: Ordinal(["a", "b"]).check("c", "n"),
    ],
)
def test_what_is_no_list_of_values_is_refused(make: Any) -> None:
    with pytest.raises(InvalidInput):
        make()
