"""Laws of parameters: their columns, that values can be decoded from them, and that other values are refused."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from believer.capabilities import has
from believer.errors import InvalidInput
from believer.space.parameter import MAX_GRID, Measurable, Parameter
from believer.testing.contract import law, laws_in, require

_M = 64
_SAME = 1e-9


def _values(parameter: Parameter) -> list[Any]:
    """Values all over the range, both ends among them."""
    U = np.random.default_rng(0).random((_M, parameter.width))
    ends = np.vstack([np.zeros(parameter.width), np.ones(parameter.width)])
    return parameter.decode(np.vstack([ends, U]))


def _is_same(one: Any, other: Any) -> bool:
    """Equal and of one type; floats to 1e-9 of their size."""
    if isinstance(one, float) and isinstance(other, float):
        return bool(np.isclose(one, other, rtol=_SAME, atol=0.0)) or abs(one - other) <= 1e-12
    return type(one) is type(other) and bool(one == other)


@law(
    "width is the number of columns, count that of values or None; ordered parameters have one column; slack is small."
)
def what_a_parameter_says_of_itself_fits_together(parameter: Parameter) -> None:
    """Its columns, its values, its order."""
    width, count = parameter.width, parameter.count
    require(isinstance(width, int) and width >= 1, f"width is {width!r}.")
    require(count is None or (isinstance(count, int) and count >= 1), f"count is {count!r}.")
    require(not parameter.ordered or width == 1, f"it is ordered, and has {width} columns.")
    require(isinstance(parameter.rounded, bool), f"rounded is {parameter.rounded!r}.")
    require(0.0 <= parameter.slack < 1e-3, f"slack is {parameter.slack!r}.")


@law("encode gives float64 rows (n, width) in [0, 1]; decode gives a list of n values for any rows of the cube.")
def columns_lie_in_the_unit_cube(parameter: Parameter) -> None:
    """Of none and of many values."""
    values = _values(parameter)
    require(isinstance(values, list) and len(values) == _M + 2, f"decode of {_M + 2} rows gives {values!r:.80}.")
    X = parameter.encode(values, "p")
    fits = X.dtype == np.float64 and X.shape == (len(values), parameter.width)
    require(fits, f"encode gives shape {X.shape} for {len(values)} values and {parameter.width} columns.")
    require(bool(((X >= 0.0) & (X <= 1.0)).all()), "encode leaves the unit cube.")
    require(parameter.decode(X[:0]) == [], "decode of no rows is not an empty list.")


@law("Raise InvalidInput, with the name of the parameter, for what is no value: believer.errors.InvalidInput.")
def what_is_no_value_is_refused_by_name(parameter: Parameter) -> None:
    """An object, NaN and a nested list are values of no parameter."""
    for wrong in (object(), float("nan"), [[1.0]], {"p": 1.0}):
        for refuse in (lambda w: parameter.check(w, "pressure"), lambda w: parameter.encode([w], "pressure")):
            try:
                refuse(wrong)
            except InvalidInput as error:
                require("pressure" in str(error), f"the error does not name the parameter: {error}")
            else:
                require(False, f"{wrong!r:.60} is taken for a value.")


@law("check returns the value in its canonical form: check(check(v)) is check(v), and json can write it.")
def checked_values_are_plain_and_stay_as_they_are(parameter: Parameter) -> None:
    """Every value that decode gives, to the type."""
    for value in _values(parameter):
        checked = parameter.check(value, "p")
        same = type(checked) is type(value) and checked == value
        require(same, f"check makes {checked!r} of {value!r}, which decode gave.")
        try:
            again = json.loads(json.dumps(value))
        except TypeError as error:
            raise AssertionError(f"a value is no plain data: {error}") from error
        require(_is_same(again, value), f"{value!r} comes back from JSON as {again!r}.")


@law("decode(encode([value])) is [value]: exactly for discrete values, to rounding for continuous ones.")
def a_value_comes_back_from_its_columns(parameter: Parameter) -> None:
    """Every value that decode gives; and alone as beside others."""
    values = _values(parameter)
    X = parameter.encode(values, "p")
    for value, again in zip(values, parameter.decode(X), strict=True):
        require(_is_same(value, again), f"{value!r} comes back as {again!r}.")
    alone = np.vstack([parameter.encode([value], "p") for value in values[:8]])
    require(bool((np.abs(alone - X[:8]) <= parameter.slack).all()), "encode gives other columns for a value alone.")


@law("grid lists the encoded rows of all values in order, where count says how many; otherwise the two ends.")
def the_grid_has_every_value_once(parameter: Parameter) -> None:
    """In its order, for lists of up to 100,000."""
    rows, k = parameter.grid(), parameter.count
    require(rows.ndim == 2 and rows.shape[1] == parameter.width, f"grid has shape {rows.shape}.")
    require(bool(((rows >= 0.0) & (rows <= 1.0)).all()), "grid leaves the unit cube.")
    if k is None or k > MAX_GRID or parameter.rounded:
        require(len(rows) >= 1, "grid has no row.")
        return
    require(len(rows) == k, f"count is {k}, and grid has {len(rows)} rows.")
    again = parameter.encode(parameter.decode(rows), "p")
    require(
        bool((np.abs(again - rows) <= parameter.slack).all()), "a row of the grid is not the encoding of its value."
    )
    require(not parameter.ordered or bool((np.diff(rows[:, 0]) > 0.0).all()), "an ordered grid does not rise.")
    require(len({repr(value) for value in parameter.decode(rows)}) == k, "two rows of the grid are one value.")


@law("decode gives the value whose columns are nearest.")
def decode_gives_the_nearest_value(parameter: Parameter) -> None:
    """Of listed values, for rows all over the box around their own, which is where a region has its points."""
    rows, k = parameter.grid(), parameter.count
    if k is None or k > 1000 or parameter.rounded:
        return
    low, high = rows.min(axis=0), rows.max(axis=0)
    U = low + np.random.default_rng(1).random((_M, parameter.width)) * (high - low)
    taken = parameter.encode(parameter.decode(U), "p")
    least = np.sqrt(((U[:, None, :] - rows) ** 2).sum(axis=2)).min(axis=1)
    far = np.sqrt(((U - taken) ** 2).sum(axis=1))
    wrong = np.flatnonzero(far > least + 1e-6)
    require(not len(wrong), f"{U[wrong[:1]].tolist()} becomes {taken[wrong[:1]].tolist()}, and another is nearer.")


@law("to_config returns plain JSON data, the arguments that make an equal parameter.")
def settings_are_plain_data(parameter: Parameter) -> None:
    """And an equal parameter comes of them."""
    config = parameter.to_config()
    require(isinstance(config, dict), f"to_config gives {type(config).__name__}.")
    require(json.loads(json.dumps(config)) == config, "to_config is no plain JSON data.")
    again = type(parameter)(**config)
    same = again.encode(_values(parameter), "p").tolist() == parameter.encode(_values(parameter), "p").tolist()
    require(same, f"{config} makes a parameter with other columns.")


@law("located of a value that may be suggested is its column, and measured leaves it as it is.", Measurable)
def measured_values_lie_where_suggested_ones_do(parameter: Parameter) -> None:
    """For values that decode gives."""
    assert has(parameter, Measurable)
    values = _values(parameter)
    X = parameter.encode(values, "p")
    for value, row in zip(values, X, strict=True):
        found = parameter.measured(value, "p")
        require(_is_same(found, value), f"measured makes {found!r} of {value!r}.")
        require(abs(parameter.located(value) - row[0]) <= parameter.slack, f"located puts {value!r} elsewhere.")


LAWS = laws_in(globals())
