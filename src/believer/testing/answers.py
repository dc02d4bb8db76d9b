"""Laws of the points of every strategy: their number, that they are repeatable, allowed and new."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np

from believer.maximize import Maximum, Objective, Search
from believer.testing.contract import law, laws_in, require
from believer.testing.requests import (
    CORNER,
    FINITE,
    LINE,
    LONG,
    MIXED,
    Checked,
    allowing_repeats,
    chosen,
    points_of,
    request,
    require_allowed,
    require_answer,
    require_inside,
    require_new,
    require_same_points,
    results,
)

_SPACES = (LINE, MIXED, LONG)
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


@dataclass(frozen=True, slots=True)
class _Stubborn:
    """A maximizer that always finds the middle of the cube, and avoids no point."""

    def maximize(self, objective: Objective, search: Search, rng: np.random.Generator) -> Maximum:
        """The middle, or what is nearest to it in the region."""
        x = search.region.project(np.full((1, search.region.dim), 0.5))
        return Maximum(x[0], float(objective.value(x)[0]), 0)


@law(
    "Return Chosen((Choice(x, provenance), ...)) from choose, one choice for each of request.ids, x a float64 array of "
    "shape (d,). If it needs a certain surrogate or acquisition, pass that to the check."
)
def a_batch_has_one_finite_point_for_each_trial(case: Checked) -> None:
    """q = 1 and 4; while points are pending, and while none is."""
    for q, pending in ((1, 0), (1, 2), (4, 0)):
        chosen(case.strategy, request(case, q=q, pending=pending))


@law("Draw every random number from request.randomness(trial, purpose), and keep nothing in the strategy.")
def the_same_request_gives_the_same_points_bit_for_bit(case: Checked) -> None:
    """And the same words; also when another request was answered in between."""
    for asked in (request(case), request(case, MIXED)):
        first = case.strategy.choose(asked, None)
        case.strategy.choose(request(case, data=results(n=4), q=1), None)
        again = case.strategy.choose(asked, None)
        require_same_points(points_of(first, asked), points_of(again, asked), "asked again")
        said, repeated = ([choice.provenance for choice in answer.choices] for answer in (first, again))
        require(said == repeated, f"asked again, it says {repeated} of the same points; it said {said}.")


@law("Search request.region: climb its free columns, and end at points of it (Region.project).")
def points_lie_in_the_box_and_on_its_grids(case: Checked) -> None:
    """A float on a log scale, an integer, a categorical; a million integers; a parameter held at its value."""
    for asked in (
        *(request(case, space) for space in _SPACES),
        request(case, MIXED, fixed={"k": 4}),
        request(case, MIXED, fixed={"rate": 0.03, "kind": "b"}),
    ):
        require_inside(chosen(case.strategy, asked), asked)


@law("Check request.region.holds before a point is chosen, as batch.picking.pick does.")
def points_satisfy_the_constraint(case: Checked) -> None:
    """It allows a twelfth of the box, and not where most of the results are."""
    asked = request(case, CORNER)
    X = chosen(case.strategy, asked)
    require_inside(X, asked)
    require_allowed(X, asked)


@law("Compare with request.avoid and with the batch's own points (Region.among), each before it is chosen.")
def points_are_new(case: Checked) -> None:
    """They equal no result, no pending point and no other point of the batch: on a line, in a mixed space, for 12 at
    once."""
    for asked in (*(request(case, space) for space in _SPACES), request(case, q=12)):
        require_new(chosen(case.strategy, asked), asked)


@law("When the best point is taken, take the next best; at last whatever is left (batch.random.draw finds it).")
def a_finite_space_is_used_to_its_last_point(case: Checked) -> None:
    """Eight points: three with results, two pending, three asked for. And one asked for, with all others pending."""
    for q, pending in ((3, 2), (1, 4)):
        require_answer(case.strategy, request(case, FINITE, results(FINITE, 3), q, pending))


@law("With request.distinct False, request.avoid is empty, and points of the batch may repeat each other.")
def a_strategy_answers_if_repeats_are_allowed(case: Checked) -> None:
    """In the plane; and more points than a finite space has."""
    for asked in (request(case), request(case, FINITE, q=12)):
        require_answer(case.strategy, allowing_repeats(asked))


@law("Without request.maximizer, use the one that suits the objective (batch.picking.maximizer_for).")
def without_a_maximizer_the_strategy_finds_one(case: Checked) -> None:
    """request.maximizer is None unless the user has chosen one."""
    require_answer(case.strategy, replace(request(case, q=2), maximizer=None))


@law("request.maximizer may return a taken point: replace it by a draw of batch.random.draw, as pick does.")
def a_maximizer_that_repeats_itself_does_not_make_points_repeat(case: Checked) -> None:
    """It finds the middle of the box every time; in the plane and in a mixed space."""
    for asked in (request(case), request(case, MIXED)):
        require_answer(case.strategy, replace(asked, maximizer=_Stubborn()))


@law('Say in one line how each point came about, as "chosen at LogEI rank 1 after believing 2 points" does.')
def every_choice_says_in_words_how_it_came_about(case: Checked) -> None:
    """A sentence on one line, without the address of an object: a journal keeps it, and a replay reads it again."""
    for choice in case.strategy.choose(request(case), None).choices:
        said = choice.provenance
        require(isinstance(said, str) and bool(said.strip()), f"a point has the provenance {said!r}.")
        require(said.isprintable(), f"a provenance is not on one line: {said!r}.")
        require(_ADDRESS.search(said) is None, f"a provenance has an address in it: {said!r}.")


LAWS = laws_in(globals())
