"""A batch under rules on the whole batch: several batches that keep the rules are made, and the best is taken.

If parameters share values, the strategy is first asked for a few points without the rules. The values of these points
are the candidates: the strategy is asked for a whole batch under each, and the batch with the largest expected gain is
handed out.

A batch that costs too much is chosen again in two ways: with the same cost limit for each point, and point by point,
with a limit that leaves enough for the cheapest points in the remaining places. The batch with the larger expected gain
is taken.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import chain, combinations, islice, product
from typing import Any, Protocol, TypeVar

import numpy as np

from believer.arrays import Array, BoolArray
from believer.errors import NoPointFound, SpaceExhausted
from believer.maximize.objective import ENUMERATE_UP_TO
from believer.space import Space
from believer.space.region import Region
from believer.space.within import Within
from believer.study.batch_rules import BatchRules, Values
from believer.study.trials import Trial

TRIED = 4
"""The number of sets of shared values under which a batch is chosen."""

_MOST_LISTED = 256
"""The number of further sets that are tried if all of these leave too few points."""


class TooDear(Exception):
    """Even the cheapest batch costs more than allowed. Users get an InvalidInput.

    Parameters
    ----------
    message : the rule, what came, what to do.
    least : the cost of the cheapest batch.
    """

    def __init__(self, message: str, least: float) -> None:
        super().__init__(message)
        self.least = least


class Draft(Protocol):
    """A batch that was chosen."""

    trials: list[Trial]
    """The trials of the batch; those that the user has enqueued come first."""

    def gain(self) -> float | None:
        """The expected gain of the draft; None without a model."""


D = TypeVar("D", bound=Draft)


def best_draft(
    rules: BatchRules, space: Space, q: int, queued: list[dict[str, Any]], drafted: Callable[[Values, int, float], D]
) -> D:
    """The batch of ``q`` points with the largest expected gain of those that were tried.

    The points ``queued``, which the user has enqueued and which keep the rules, come first.
    ``drafted(values, q, share)`` chooses a batch of q points in which the shared parameters have the given values, and
    which costs at most this share of the limit.
    """
    if not rules.shared:
        return drafted({}, q, 1.0)
    used = rules.full(rules.values(queued))
    if len(used) == len(rules.shared) or len(queued) == q:
        return drafted(used, q, 1.0)
    most = max(rules.shared.values())
    count, refused = min(q, len(queued) + most + TRIED - 1), list[SpaceExhausted | TooDear]()

    def tried(candidates: Iterable[Values]) -> Iterator[D]:
        for values in candidates:
            try:
                yield drafted(values, q, 1.0)
            except (SpaceExhausted, TooDear) as error:
                refused.append(error)

    free = drafted(used, count, 1.0)
    found = _chosen(rules, queued, free, most)
    first = 1 if free.gain() is None else TRIED
    if drafts := [*tried(found[:first])]:
        return max(drafts, key=lambda draft: draft.gain() or 0.0)
    further = [found[first:], islice(_listed(rules, space, queued), _MOST_LISTED)]
    if any(isinstance(error, TooDear) for error in refused):  # values of points that all could cost as much
        with suppress(SpaceExhausted, TooDear):
            further.insert(0, _chosen(rules, queued, drafted(used, count, count / q), most))
    for draft in tried(chain(*further)):
        return draft
    if dear := [error for error in refused if isinstance(error, TooDear)]:
        raise min(dear, key=lambda error: error.least)
    left = max((error.left for error in refused if isinstance(error, SpaceExhausted)), default=0)
    said = ", ".join(f"{count} of {name}" for name, count in rules.shared.items())
    raise SpaceExhausted(
        f"{q} point(s) asked for with no more values in the batch than {said}, and at most {left} new ones were found; "
        "ask for fewer, allow more values in shared, or allow repeats with distinct=False.",
        left,
    )


def _chosen(rules: BatchRules, queued: list[dict[str, Any]], free: Draft, most: int) -> list[Values]:
    """The sets of values of the points of a draft without rules, ``most`` points at a time."""
    chosen, found = [trial.params for trial in free.trials[len(queued) :]], list[Values]()
    for some in combinations(chosen, min(most, len(chosen))):
        values = rules.values([*queued, *some])
        if values not in found:
            found.append(values)
    return found


def _listed(rules: BatchRules, space: Space, queued: list[dict[str, Any]]) -> Iterator[Values]:
    """Sets of values that the shared parameters may have; none if there are infinitely many."""
    used, sets = rules.values(queued), []
    for name, count in rules.shared.items():
        parameter = space.parameters[name]
        if parameter.count is None or parameter.count > _MOST_LISTED:
            return
        own = used[name]
        further = [value for value in parameter.decode(parameter.grid()) if value not in own]
        some = min(count - len(own), len(further))
        sets.append([(*own, *more) for more in combinations(further, some)])
    for values in product(*sets):
        yield dict(zip(rules.shared, values, strict=True))


class Limited:
    """Parts of a region in which points cost no more than some limit.

    Parameters
    ----------
    rules : the rules, which give the cost of a point.
    space : the space of the study.
    region : where points may lie.
    avoid : points (k, d) that are taken.
    rng : draws the points from which the cheapest are taken.
    """

    def __init__(self, rules: BatchRules, space: Space, region: Region, avoid: Array, rng: np.random.Generator) -> None:
        self.rules, self.space, self.region = rules, space, region
        self._prices = None if callable(rules.cost) else space.linear(rules.cost)
        points = self._cheap(rng)
        points = points[~region.among(points, avoid)]
        costs = self.costs(points)
        order = np.argsort(costs, kind="stable")
        self._points, self._costs = points[order], costs[order]

    def costs(self, X: Array) -> Array:
        """The costs (m,) of the points ``X`` (m, d)."""
        if self._prices is not None:
            return self._prices[0] + X @ self._prices[1]
        return np.array([self.rules.cost_of(params) for params in self.space.decode(X)]) if len(X) else np.zeros(0)

    def reserve(self, count: int) -> float:
        """The cost of the ``count`` cheapest points that are known."""
        return float(self._costs[:count].sum()) if count <= len(self._costs) else float("inf")

    def drop(self, x: Array) -> None:
        """Remove a point (d,) that was handed out from those that are left."""
        left = ~self.region.among(self._points, x[None, :])
        self._points, self._costs = self._points[left], self._costs[left]

    def up_to(self, limit: float) -> Region:
        """The region of points that cost at most ``limit``, to rounding."""
        cheapest = float(self._costs[0]) if len(self._costs) else -math.inf
        most = max(limit - 1e-9 * max(abs(limit), 1.0), min(limit, cheapest))

        def keeps(X: Array) -> BoolArray:
            return self.costs(X) <= most

        known = self._points[self._costs <= most][:_KNOWN]
        return Within(self.region, keeps, known if len(known) else self._points[:1])

    def _cheap(self, rng: np.random.Generator) -> Array:
        """Points (m, d) that include the cheapest ones that were found; all points of a small region."""
        region = self.region
        if region.size is not None and region.size <= ENUMERATE_UP_TO:
            return region.points()
        points = region.sample(_DRAWN, rng)
        for width in _WIDTHS:
            best = points[np.argsort(self.costs(points), kind="stable")[:_KNOWN]]
            points = np.vstack([best, region.near(best, _DRAWN // _KNOWN, (width,), rng), points[:_DRAWN]])
        return points[region.holds(points)]


_DRAWN, _KNOWN, _WIDTHS = 256, 16, (0.3, 0.1, 0.03, 0.01)
"""The numbers of points among which the cheapest are sought, of those from which the search goes on, and of its
steps."""


def cheaper_draft(
    rules: BatchRules,
    limited: Limited,
    q: int,
    queued: list[dict[str, Any]],
    anew: Callable[[str], D],
    filled: Callable[[D, int, Region], D],
) -> D:
    """A batch of ``q`` points within the cost limit, for an ask whose usual batch would exceed it.

    Raises TooDear if even the cheapest points that were found cost more. The points ``queued``, which the user has
    enqueued, come first. ``anew(note)`` begins a draft; the note goes into its provenance.
    ``filled(draft, count, region)`` extends a draft to that many points, with the new ones in the region.
    """
    assert rules.max_cost is not None
    spent, drafts = sum(rules.cost_of(params) for params in queued), list[D]()
    count = q - len(queued)
    least = spent + limited.reserve(count)
    if least > rules.max_cost:
        found = "fewer new points were found" if least == math.inf else f"the cheapest batch costs {_enough(least)}"
        raise TooDear(
            f"a batch of {q} point(s) must cost at most max_cost={rules.max_cost:.6g}, and {found}; ask for fewer "
            "points, or allow a higher cost.",
            least,
        )
    with suppress(SpaceExhausted):
        drafts.append(filled(anew(_ALIKE), q, limited.up_to((rules.max_cost - spent) / count)))
    with suppress(SpaceExhausted):
        draft = anew(_LEFT)
        for so_far in range(len(queued) + 1, q + 1):
            left = rules.max_cost - (rules.cost_of_all(draft.trials) or spent) - limited.reserve(q - so_far)
            draft = filled(draft, so_far, limited.up_to(left))
            limited.drop(draft.trials[-1].encoded)
        drafts.append(draft)
    drafts = [one for one in drafts if rules.cost_of_all(one.trials) <= rules.max_cost]
    if not drafts:
        raise NoPointFound(f"no batch of {q} new points that costs at most {rules.max_cost:.6g} was found.", 0)
    return max(drafts, key=lambda one: one.gain() or 0.0)


def _enough(cost: float) -> str:
    """A cost in six digits, rounded up."""
    shown = f"{cost:.6g}"
    return shown if float(shown) >= cost else f"{cost + 5e-6 * abs(cost):.6g}"


_ALIKE, _LEFT = "; each point limited to its share of the cost", "; limited by what was left of the cost"
