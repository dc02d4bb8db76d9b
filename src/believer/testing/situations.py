"""Laws of situations that every strategy must handle: few data, unusual data, simple models."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from believer.arrays import SAME_POINT, frozen
from believer.batch import Data
from believer.maximize import Candidates
from believer.surrogates import GP
from believer.testing.contract import law, laws_in
from believer.testing.fake import BareSurrogate, FakeSurrogate
from believer.testing.requests import (
    LINE,
    MIXED,
    Checked,
    after_failures,
    chosen,
    quick,
    request,
    require_answer,
    require_answer_or_refusal,
    require_same_points,
    results,
)
from believer.testing.scenes import UNITS

# A climb on LogEI stops a little earlier or later if log(unit) is added to it; the best of a list does not change.
_LIST = Candidates(candidates=64, neighbors=4, survivors=4, rounds=1)


@law("Make it work with one result: a study may ask for a suggestion after its first.")
def one_result_is_enough(case: Checked) -> None:
    """In a mixed space and on a line; while points are pending, and while none is."""
    for space, pending in ((MIXED, 2), (LINE, 0)):
        require_answer(case.strategy, request(case, space, results(space, 1), pending=pending))


@law("Do not divide by the spread of y, or of an acquisition, without a floor.")
def constant_values_are_no_trouble(case: Checked) -> None:
    """All results the same: zero, a large number, a small one."""
    X = results().X
    for value in (0.0, 3.0e12, -2.0e-12):
        require_answer(case.strategy, request(case, data=Data(X, frozen(np.full(len(X), value)))))


@law("Expect a point more than once among the results: determinants need a nugget, distances a floor.")
def repeated_points_are_no_trouble(case: Checked) -> None:
    """Every point twice, with another value the second time; and one point only, six times."""
    data = results()
    twice = Data(frozen(np.vstack([data.X, data.X])), frozen(np.concatenate([data.y, data.y + 1.0])))
    once = Data(frozen(np.repeat(data.X[:1], len(data.y), axis=0)), data.y)
    for repeated in (twice, once):
        require_answer(case.strategy, request(case, data=repeated))


@law("Compare values of y with each other or with the model's std, never with a number: they may be 1e12 or 1e-12.")
def the_units_of_y_do_not_change_the_points(case: Checked) -> None:
    """y times 2^±40 gives the same points, to 1e-6. A setting that is itself in those units breaks this rightly."""
    data = results()
    wanted, *others = (
        require_answer(case.strategy, replace(request(case, data=Data(data.X, frozen(unit * data.y))), maximizer=_LIST))
        for unit in (1.0, *UNITS)
    )
    for unit, got in zip(UNITS, others, strict=True):
        require_same_points(wanted, got, f"with y in units of {unit:.1e}", SAME_POINT)


@law("Do not use the sign: request.data and the model are minimized, even if the user maximizes.")
def the_direction_does_not_change_the_points(case: Checked) -> None:
    """sign = -1 gives the same points. A setting in the user's units, such as a lie of 2.5, breaks this rightly."""
    asked = request(case)
    wanted = chosen(case.strategy, asked)
    got = chosen(case.strategy, asked.with_first(sign=-1.0))
    require_same_points(wanted, got, "with request.sign = -1 and the same data")


@law("Expect noisy models (is_noisy): the mean does not pass through the results, and the std is not zero there.")
def noisy_results_are_no_trouble(case: Checked) -> None:
    """A Gaussian process that has learnt its noise, from points that were evaluated twice."""
    data = results()
    noise = 0.5 * np.cos(7.0 * np.arange(2 * len(data.y)))
    twice = Data(frozen(np.vstack([data.X, data.X])), frozen(np.tile(data.y, 2) + noise))
    noisy = replace(case, surrogate=GP(noise="infer"))
    require_answer_or_refusal(noisy, request(noisy, data=twice))


@law("Expect request.failed: the model is conditioned on its points, which are not results.")
def failed_trials_are_no_trouble(case: Checked) -> None:
    """Two failures, in the plane and in a mixed space; their points are not proposed again."""
    for asked in (request(case), request(case, MIXED)):
        require_answer(case.strategy, after_failures(asked))


@law("Check a capability of the model before using it: batch.capability.require raises MissingCapability with names.")
def a_model_that_lacks_an_ability_is_used_or_refused_in_words(case: Checked) -> None:
    """A model that can only predict, and one that can only be conditioned: points as from any other, or a refusal."""
    for surrogate in (BareSurrogate(), FakeSurrogate()):
        bare = replace(case, surrogate=surrogate)
        asked = request(bare)
        require_answer_or_refusal(case, replace(asked, maximizer=quick(asked.model)))


LAWS = laws_in(globals())
