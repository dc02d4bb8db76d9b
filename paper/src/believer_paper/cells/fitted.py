"""A surrogate fitted to data of a problem, from which pictures and timings start.

``printed``: EI with ξ = 0.01 in the units of y, y as it is. ``ours``: LogEI, y standardized. The lie is CL-min's in
both, so the incumbent f⁺ is the same whether lies count towards it or not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from believer.acquisitions import EI, LogEI, PointwiseObjective
from believer.arrays import Array, frozen
from believer.batch import ConstantLie, Data, Pending, PseudoObservations, Request
from believer.diagnostics import DataSet
from believer.maximize import Maximizer
from believer.numerics import stream
from believer.plugins import Model, Surrogate, best_places, pick
from believer.problems import PROBLEMS, Problem
from believer.surrogates import standardization
from believer_paper.cells.loops import XI
from believer_paper.setup.surrogates import surrogate_of


@dataclass(frozen=True, slots=True, eq=False)
class FittedProblem:
    """Data of a problem and a model fitted to them, in the form that the engine's own functions take.

    shift, scale: convert the request's y, which ``ours`` standardizes, to the problem's units.
    """

    problem: Problem
    request: Request
    shift: float
    scale: float

    @property
    def values(self) -> Array:
        """The values (n,) of the data, in the problem's units."""
        return self.shift + self.scale * self.request.data.y

    @property
    def lie(self) -> float:
        """The lie of CL-min, in the problem's units."""
        return float(self.values.min())

    def updated(self, x: Array, update: str) -> Model:
        """The model after the lie about ``x`` (d,), by "condition", "refit" or "none"."""
        return _strategy(update).begin(self.request).with_lie(self.request, 0, x).model

    def again(self, seed: int) -> FittedProblem:
        """The same model on the same data, with another generator for later random numbers."""
        return replace(self, request=replace(self.request, randomness=partial(stream, seed)))

    def best(self) -> Array:
        """The maximizer (d,) of the acquisition function, by the library's search for this kind of model."""
        request = self.request
        objective = _strategy("none").begin(request).objective(request)
        return pick(objective, request, 0, best_places(request), request.avoid).x

    def improvement(self, model: Model, X: Array) -> Array:
        """The expected improvement (m,) at ``X`` (m, d), in the problem's units."""
        acquisition = self.request.acquisition
        assert isinstance(acquisition, EI | LogEI)
        return self.scale * PointwiseObjective(EI(acquisition.xi), model, float(self.request.data.y.min())).value(X)

    def batch(self, update: str) -> tuple[Array, Model]:
        """[paper] Algorithm 1: the points (q, d), and the model from which the last was chosen."""
        request = self.request
        belief = _strategy(update).begin(request)
        points: list[Array] = []
        for trial in request.ids:
            if points:
                belief = belief.with_lie(request, trial - 1, points[-1])
            near_best = best_places(request, belief.lies.X, belief.lies.y)
            points.append(pick(belief.objective(request), request, trial, near_best, request.avoid).x)
        return np.array(points), belief.model


def fitted(
    preset: str, name: str | Surrogate, problem: str, data: DataSet, seed: int, q: int = 1, by: Maximizer | None = None
) -> FittedProblem:
    """The preset's surrogate of that ``name``, or one that is given, fitted to ``data``.

    q is the number of points of a batch, in which points may repeat; ``by`` maximizes the acquisition function (None is
    the library's own maximizer).
    """
    asked = PROBLEMS[problem]()
    surrogate = surrogate_of(preset, name, asked.space) if isinstance(name, str) else name
    shift, scale = (0.0, 1.0) if preset == "printed" else standardization(data.y)
    y, none = frozen((data.y - shift) / scale), frozen(np.zeros((0, data.region.dim)))
    request = Request.single(
        ids=tuple(range(q)),
        surrogate=surrogate,
        acquisition=EI(XI) if preset == "printed" else LogEI(),
        model=surrogate.fit(Data(data.X, y), stream(seed, 0, "fit"), None),
        data=Data(data.X, y),
        pending=Pending((), none),
        region=data.region,
        avoid=none,
        distinct=False,
        randomness=partial(stream, seed),
        maximizer=by,
    )
    return FittedProblem(asked, request, shift, scale)


def _strategy(update: str) -> PseudoObservations:
    return PseudoObservations(ConstantLie("min"), update, "data")
