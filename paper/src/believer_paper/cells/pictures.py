"""Cells of kind "picture": the data of Figures 1, 3 and 4 (the overview, Exp 1, Exp 2).

Everything is in the units of the problem, rounded to six digits (grids: four). The lie {x, y} has CL-min's value and
lies where the expected improvement is largest.

``exp1``, a Gaussian process with the SE kernel, hyperparameters and scaling of y frozen:
  x, truth (201,); data {x, y}; lie {x, y}; lengthscale; before, after {mean, std, improvement}, each (201,).
``exp2``, the same function and four surrogates, with more data and a gap in them; all get the Gaussian process's lie:
  x, truth (151,); data; lie; surrogates {name: {update, before, after, refit, changed, refit_changed}}. before, after
  and refit are {mean, std}, (151,): ``after`` is the model after ``update`` by the lie ("condition", or "none" as in
  the paper for networks and forests), ``refit`` one that was trained again on data and lie. changed and
  refit_changed are {mean, std}: the largest change on the whole interval.
``overview``, a batch of three on Branin from the diagnostic's three starts:
  x0, x1 (21,): the axes of the grids; truth (21, 21), a row for each x1; levels: some of its quantiles, for contours;
  data {points (n, 2), values}; random_pair; surrogates {name: {update, points (3, 2), mean_distance, min_distance,
  mean, improvement, improvement_last}}. Distances are in the unit cube. mean and improvement are grids of the model
  before the lies, improvement_last of that from which the last point was chosen.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from believer.arrays import Array, frozen
from believer.batch import random_pair_distance
from believer.diagnostics import DataSet, FromProblem, distances
from believer.errors import InvalidInput
from believer.experiments import Cell
from believer.maximize import FixedStarts
from believer.plugins import Box, Model
from believer.problems import wave1
from believer.surrogates import GP, GPModel
from believer_paper.cells.diagnoses import AS_PRINTED
from believer_paper.cells.fitted import FittedProblem, fitted
from believer_paper.setup.likelihood import PrintedGP
from believer_paper.setup.process import box_of

UPDATES = dict(AS_PRINTED)

_FEW, _MORE = 6, 12
"""The numbers of observations in Exp 1 ("a small 1D training set") and in the others, where scikit-learn's networks
need eleven or more, because they hold out two."""

_GAP = (0.4, 0.65)
"""The interval in which Exp 2 has no observation, so that a lie there has a visible effect."""

_LINE, _SHORT_LINE, _SIDE = 201, 151, 21
_LEVELS = (0.02, 0.1, 0.25, 0.5, 0.75, 0.9)


def picture(cell: Cell) -> dict[str, Any]:
    """The data of the figure that the cell names."""
    draw = {"exp1": _exp1, "exp2": _exp2, "overview": _overview}
    figure = cell.settings["figure"]
    if figure not in draw:
        raise InvalidInput(f"figure must be one of {', '.join(draw)}; got {figure!r}.")
    return draw[figure](cell.settings["preset"], cell.seed)


def _exp1(preset: str, seed: int) -> dict[str, Any]:
    recipe = PrintedGP("se") if preset == "printed" else GP("se")
    scene = fitted(preset, recipe, "wave1", FromProblem("wave1", _FEW).draw(seed), seed)
    line = np.linspace(0.0, 1.0, _LINE)[:, None]
    model = scene.request.model
    assert isinstance(model, GPModel)
    x = _best(scene, line)
    curves = {
        name: {**_belief(scene, one, line), "improvement": _rounded(scene.improvement(one, line))}
        for name, one in (("before", model), ("after", scene.updated(x, "condition")))
    }
    return {**_interval(scene, line, x), "lengthscale": float(model.lengthscales[0]), **curves}


def _exp2(preset: str, seed: int) -> dict[str, Any]:
    line = np.linspace(0.0, 1.0, _SHORT_LINE)[:, None]
    data = _with_gap(seed)
    scenes = {name: fitted(preset, name, "wave1", data, seed) for name in UPDATES}
    x = _best(scenes["gp"], line)
    answers = {name: _answer(scene, UPDATES[name], x, line) for name, scene in scenes.items()}
    return {**_interval(scenes["gp"], line, x), "surrogates": answers}


def _with_gap(seed: int) -> DataSet:
    """A Latin hypercube design, compressed into the two sides of the gap."""
    left, right = _GAP
    u = FromProblem("wave1", _MORE).draw(seed).X * (1.0 - (right - left))
    X = frozen(np.where(u > left, u + (right - left), u))
    return DataSet(X, frozen(wave1().evaluate(X)), Box.cube(1))


def _answer(scene: FittedProblem, update: str, x: Array, line: Array) -> dict[str, Any]:
    """The effect of the lie about ``x`` (1,) on a model, and that of a refit."""
    before = _belief(scene, scene.request.model, line)
    after, refit = (_belief(scene, scene.updated(x, way), line) for way in (update, "refit"))
    return {
        **{"update": update, "before": before, "after": after, "refit": refit},
        **{"changed": _change(before, after), "refit_changed": _change(before, refit)},
    }


def _overview(preset: str, seed: int) -> dict[str, Any]:
    data = FromProblem("branin", _MORE).draw(seed)
    side = np.linspace(0.0, 1.0, _SIDE)
    grid = np.stack([np.tile(side, _SIDE), np.repeat(side, _SIDE)], axis=1)
    scenes = {name: fitted(preset, name, "branin", data, seed, 3, FixedStarts()) for name in UPDATES}
    scene = scenes["gp"]
    low, high = box_of(scene.problem.space)
    truth = scene.problem.evaluate(grid)
    return {
        **{f"x{j}": _rounded(low[j] + side * (high[j] - low[j])) for j in range(2)},
        "truth": _square(truth),
        "levels": _rounded(np.quantile(truth, _LEVELS)),
        "data": {"points": _rounded(_in_box(scene, scene.request.data.X)), "values": _rounded(scene.values)},
        "random_pair": random_pair_distance(scene.request.region),
        "surrogates": {name: _chosen(one, UPDATES[name], grid) for name, one in scenes.items()},
    }


def _chosen(scene: FittedProblem, update: str, grid: Array) -> dict[str, Any]:
    """The batch of one surrogate, with its predictions on the ``grid`` (m, 2)."""
    model = scene.request.model
    points, last = scene.batch(update)
    apart = distances(points, np.ones(2))
    return {
        **{"update": update, "points": _rounded(_in_box(scene, points))},
        **{"mean_distance": float(apart.mean()), "min_distance": float(apart.min())},
        "mean": _square(scene.shift + scene.scale * model.predict(grid).mean),
        "improvement": _square(scene.improvement(model, grid)),
        "improvement_last": _square(scene.improvement(last, grid)),
    }


def _best(scene: FittedProblem, line: Array) -> Array:
    """The point (1,) of the ``line`` (m, 1) where the expected improvement is largest."""
    best: Array = line[int(np.argmax(scene.improvement(scene.request.model, line)))]
    return best


def _interval(scene: FittedProblem, line: Array, x: Array) -> dict[str, Any]:
    """The data that all one-dimensional pictures share; wave1 is a function on [0, 1], so its units are the cube's."""
    data = {"x": _rounded(scene.request.data.X[:, 0]), "y": _rounded(scene.values)}
    truth = _rounded(scene.problem.evaluate(line))
    return {"x": _rounded(line[:, 0]), "truth": truth, "data": data, "lie": {"x": float(x[0]), "y": scene.lie}}


def _belief(scene: FittedProblem, model: Model, X: Array) -> dict[str, Any]:
    at = model.predict(X)
    return {"mean": _rounded(scene.shift + scene.scale * at.mean), "std": _rounded(scene.scale * at.std)}


def _change(before: dict[str, Any], after: dict[str, Any]) -> dict[str, float]:
    return {name: float(np.abs(np.subtract(after[name], before[name])).max()) for name in before}


def _in_box(scene: FittedProblem, X: Array) -> Array:
    """Points of the cube (m, d) in the units of the box."""
    low, high = box_of(scene.problem.space)
    return low + X * (high - low)


def _square(values: Array) -> Any:
    """A grid's values (m,) as rows."""
    return _rounded(values.reshape(_SIDE, _SIDE), 4)


def _rounded(values: npt.ArrayLike, digits: int = 6) -> Any:
    """Nested lists of numbers, rounded to significant digits that are enough for a figure."""
    array = np.asarray(values, dtype=np.float64)
    return np.array([float(f"{value:.{digits}g}") for value in array.ravel()]).reshape(array.shape).tolist()
