"""A batch that keeps rules of its own: values that it may share are tried, and the best batch is taken.

The strategy is asked for a few points without the rules first. Their values are the candidates: the strategy is asked
for a whole batch under each, and the batch with the largest expected gain is handed out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, islice, product
from typing import Any, Protocol, TypeVar

from believer.errors import SpaceExhausted
from believer.space import Space
from believer.study.batch_rules import BatchRules, Values
from believer.study.trials import Trial

TRIED = 4
"""Sets of values that a batch is chosen under."""

_MOST_LISTED = 256
"""Sets of values that are looked through where all that were tried leave too few points."""


class Draft(Protocol):
    """A batch that was chosen."""

    @property
    def trials(self) -> list[Trial]:
        """Its trials, those that the user has enqueued first."""
        ...

    def gain(self) -> float | None:
        """What it is expected to gain; None where no model says so."""
        ...


D = TypeVar("D", bound=Draft)


def best_draft(
    rules: BatchRules, space: Space, q: int, queued: list[dict[str, Any]], drafted: Callable[[Values, int], D]
) -> D:
    """The batch of ``q`` points with the largest expected gain of those that were tried.

    Parameters
    ----------
    rules : what the batch has to keep.
    space : where points lie.
    q : the number of points.
    queued : points of the user's that come first, which keep the rules.
    drafted : chooses a batch of so many points, in which parameters have one of the values given.
    """
    used = rules.full(rules.values(queued))
    if len(used) == len(rules.shared) or len(queued) == q:
        return drafted(used, q)
    most = max(rules.shared.values())
    free = drafted(used, min(q, len(queued) + most + TRIED - 1))
    chosen = [trial.params for trial in free.trials[len(queued) :]]
    tried = list[Values]()
    for some in combinations(chosen, min(most, len(chosen))):
        values = rules.values([*queued, *some])
        if values not in tried:
            tried.append(values)
    best, most_gained, left = None, 0.0, 0
    for values in tried[: 1 if free.gain() is None else TRIED]:
        try:
            draft = drafted(values, q)
        except SpaceExhausted as error:
            left = max(left, error.left)
            continue
        gain = draft.gain() or 0.0
        if best is None or gain > most_gained:
            best, most_gained = draft, gain
    if best is not None:
        return best
    for values in islice(_listed(rules, space, queued), _MOST_LISTED):
        try:
            return drafted(values, q)
        except SpaceExhausted as error:
            left = max(left, error.left)
    said = ", ".join(f"{count} of {name}" for name, count in rules.shared.items())
    raise SpaceExhausted(
        f"{q} point(s) asked for with no more values in the batch than {said}, and at most {left} new ones were found; "
        "ask for fewer, allow more values in shared, or allow repeats with distinct=False.",
        left,
    )


def _listed(rules: BatchRules, space: Space, queued: list[dict[str, Any]]) -> Iterator[Values]:
    """Sets of values that the shared parameters may have; none where there are infinitely many."""
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
