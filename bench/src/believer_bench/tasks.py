"""The task that every member gets: a contest, the batch size, the budget and the mode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from believer.errors import InvalidInput
from believer_bench.contest import Contest
from believer_bench.members import Entrant, require_mode, require_one_number, require_space
from believer_bench.runs import ASYNC

MODES = ("sync", ASYNC)


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """q: points in a batch, or workers. budget: evaluations, the ``n_init`` of the design included."""

    contest: Contest
    q: int
    budget: int
    n_init: int
    mode: str = MODES[0]

    @property
    def settings(self) -> dict[str, Any]:
        """Its part of a cell's."""
        mode = {"mode": ASYNC} if self.mode == ASYNC else {}
        return {**self.contest.settings, "budget": self.budget, "n_init": self.n_init, "q": self.q, **mode}

    def runnable(self, entrants: Sequence[Entrant]) -> list[Entrant]:
        """The ``entrants`` that can work on its space."""
        return [one for one in entrants if _fits(one.name, self.contest)]

    def check(self, entrants: Sequence[Entrant]) -> None:
        """Raises ``InvalidInput`` unless the numbers go together and all ``entrants`` can take part.

        An error of a problem of the library that lacks a package goes on its way.
        """
        problem, space, most = self.contest.settings["problem"], self.contest.space, self.budget - self.n_init
        if most <= 0:
            raise InvalidInput(
                f"the budget must be more than the {self.n_init} initial points of {problem}; got {self.budget}. "
                "Raise it, or say how many initial points there are to be (n_init)."
            )
        if space.size is not None and space.size < self.budget:
            raise InvalidInput(
                f"the space of {problem} has {space.size} points; the budget must not be more, got {self.budget}."
            )
        for one in entrants:
            require_space(one.name, space)
            if self.contest.declared is not None:
                require_one_number(one.name, problem)
            if self.mode == ASYNC:
                require_mode(one.name)
        if not self.contest.own:
            self.contest.values(np.full((1, space.dim), 0.5))
        if self.q > most:
            raise InvalidInput(
                f"q must not be more than {most}, what the budget of {self.budget} leaves after the initial points of "
                f"{problem}; got {self.q}. Make batches smaller, or raise the budget."
            )


def _fits(name: str, contest: Contest) -> bool:
    try:
        require_space(name, contest.space)
    except InvalidInput:
        return False
    return True
