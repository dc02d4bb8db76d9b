"""A demonstration: a problem with a story, and what is known about its optimum."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from believer.optimizer import Optimizer
from believer.space import Space
from believer.study.goal import Goal


@dataclass(frozen=True, slots=True, eq=False)
class Demo:
    """A problem to show. Its parts can be found by name in any process, so that worker processes can run it.

    Attributes
    ----------
    name : begins the names of its files.
    title : in a list.
    story : what is wanted and where the numbers come from, in sentences.
    function : an evaluation: a number for each name of ``goals``.
    space : the parameters, with their units.
    goals : what is wanted of each number: one objective, and limits.
    budget : evaluations, if nobody says how many.
    seeds : how many runs of each method are compared.
    ending : what can be said of a finished study beyond its best result; a sentence, or None.
    failures : how failed evaluations count (see ``Optimizer``).
    optimum : the best value that there is, where that is known.
    needs : modules that evaluations import, each with its package and our extra.
    """

    name: str
    title: str
    story: str
    function: Callable[[dict[str, Any]], dict[str, float]]
    space: Space
    goals: Mapping[str, Goal]
    budget: int
    seeds: int
    ending: Callable[[Optimizer], str | None]
    failures: Literal["worst", "learn"] = "worst"
    optimum: float | None = None
    needs: tuple[tuple[str, str, str], ...] = ()
