"""Laws of strategies that take several outputs: limits, and several objectives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from believer.acquisitions import EHVI, LogEI, Several
from believer.acquisitions.feasibility import Limits
from believer.arrays import Array, frozen
from believer.batch import Learned, Output, Pending, Request
from believer.batch.request import SEVERAL, takes
from believer.surrogates.data import Data
from believer.testing.contract import law, laws_in
from believer.testing.requests import Checked, request, require_answer, require_same_points


def with_outputs(case: Checked, limits: tuple[Limits | None, ...], in_part: bool = False) -> Request:
    """A request of a study with the given outputs: the limits of each, or None for an objective.

    One objective uses LogEI, because limits need an acquisition function with a logarithm. in_part: of the last result,
    the last output is not known yet: it is pending there.
    """
    own = case.acquisition if isinstance(case.acquisition, Several) else EHVI()
    asked = request(replace(case, acquisition=own if limits.count(None) > 1 else LogEI()))
    outputs = list[Learned]()
    for place, (within, y) in enumerate(zip(limits, _columns(asked.data.X), strict=False)):
        known = len(y) - (1 if in_part and place == len(limits) - 1 else 0)
        data = Data(frozen(asked.data.X[:known]), frozen(y[:known]))
        model = case.surrogate.fit(data, asked.randomness(place, "fit"), None)
        ids = (*range(known, len(y)), *asked.pending.ids)
        pending = Pending(ids, frozen(np.vstack([asked.data.X[known:], asked.pending.X])))
        output = Output(f"output {place}", limits=within)
        outputs.append(Learned(output, tuple(range(known)), data, pending, model, model))
    return replace(asked, outputs=tuple(outputs))


def _columns(X: Array) -> list[Array]:
    """Three outputs (n,) of points (n, d), in units of their own, from about 0 to 1, to 100, and to 0.01."""
    return [((X - 0.3) ** 2).mean(axis=1), 100.0 * (1.0 - X[:, 0]), 0.01 * X.mean(axis=1)]


_LIMITS = {
    "some results keep": (None, Limits(high=60.0), Limits(low=0.002, high=0.008)),
    "no result keeps": (None, Limits(high=-50.0), Limits(low=0.002, high=0.008)),
}


@law("Use request.outputs: each has a model, results, and limits or None; believer.plugins.worth includes the limits.")
def within_limits_points_are_as_of_any_request(case: Checked) -> None:
    """Two limits, one from both sides, kept by some results and by none; a result that has come in part."""
    for limits in _LIMITS.values():
        for in_part in (False, True):
            require_answer(case.strategy, with_outputs(case, limits, in_part))


@law("Trade off the request.outputs without limits, or set takes = LIMITS.")
def two_objectives_get_points(case: Checked) -> None:
    """With a limit and without, up to a reference point that is given, and to one that is not."""
    if takes(case.strategy) != SEVERAL:
        return
    for limits in ((None, None), (None, None, Limits(low=0.002, high=0.008))):
        asked = with_outputs(case, limits)
        for reference in (None, frozen(np.array([1.0, 110.0]))):
            require_answer(case.strategy, replace(asked, reference=reference))


@law("Draw random numbers only from request.randomness, also with several outputs.")
def the_same_outputs_give_the_same_points(case: Checked) -> None:
    """Asked twice."""
    asked = with_outputs(case, _LIMITS["some results keep"])
    require_same_points(require_answer(case.strategy, asked), require_answer(case.strategy, asked), "asked again")


LAWS = laws_in(globals())
