"""The function of a race: a problem of the library, or the user's own function, as plain settings of a cell.

A function of the user's own is named ``module:function``, so that any process can find it. Its settings also hold its
space, and a digest of its module's file: a result is not taken up again once the code behind it has changed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from believer.arrays import Array
from believer.errors import InvalidInput
from believer.experiments.loading import digest, load
from believer.space import Space
from believer.study.outcome import outcome_of
from believer_bench.declared import SEVERAL, Declared, declared_by, declared_in
from believer_bench.problems import PROBLEMS

Evaluated = Callable[[dict[str, Any]], Any]
"""From params to a number, or to a dict of declared outcomes."""


@dataclass(frozen=True, slots=True, eq=False)
class Contest:
    """A function over a space; ``settings`` are its part of a cell's, from which any process makes it again.

    own: the user's function, which may fail. maximize: members get the negative of its values. truth: the function
    without noise, where it has some. declared: what it returns, where that is more than one number.
    """

    space: Space
    function: Evaluated
    settings: Mapping[str, Any]
    own: bool = False
    maximize: bool = False
    truth: Evaluated | None = None
    declared: Declared | None = None

    @property
    def sign(self) -> float:
        """-1 when the user maximizes: members only minimize."""
        return -1.0 if self.maximize else 1.0

    @staticmethod
    def of_problem(name: str, seed: int = 0) -> Contest:
        """A problem of the library, with the noise of ``seed`` if it has any."""
        if name in SEVERAL:
            made = SEVERAL[name]()
            return Contest(made.space, made.function, {"problem": name}, declared=declared_by(name))
        if name not in PROBLEMS:
            raise InvalidInput(f"a problem must be one of {', '.join([*PROBLEMS, *SEVERAL])}; got {name!r}.")
        problem = PROBLEMS[name]().seeded(seed)
        return Contest(problem.space, problem.function, {"problem": name}, truth=problem.truth)

    @staticmethod
    def of_function(
        function: str | Evaluated, space: Space, maximize: bool = False, declared: Declared | None = None
    ) -> Contest:
        """A function of one dict of params over ``space``: its name ``module:function``, or itself if it has one."""
        name = function if isinstance(function, str) else _name(function)
        found = load(name)
        if not callable(found) or (found is not function and name is not function):
            raise InvalidInput(f"a function must be callable, at the top of a module; got {function!r}.")
        if not isinstance(space, Space):
            raise InvalidInput(f"a function needs a believer.Space to race on; got {space!r}.")
        if space.constraint is not None:
            raise InvalidInput("a space to race on must have no constraint: other processes cannot be told of it.")
        if declared is not None and maximize:
            raise InvalidInput("outcomes say themselves what is maximized: Maximize(); leave maximize out.")
        module, _, short = name.partition(":")
        settings = {
            "problem": short,
            "function": name,
            "space": space.to_config(),
            "maximize": bool(maximize),
            "code": digest(module),
            **({} if declared is None else declared.settings),
        }
        return Contest(space, found, settings, own=True, maximize=bool(maximize), declared=declared)

    @staticmethod
    def from_settings(settings: Mapping[str, Any], seed: int = 0) -> Contest:
        """The contest that the settings and the seed of a cell describe."""
        if "function" in settings:
            space = Space.from_config(settings["space"])
            return Contest.of_function(settings["function"], space, settings["maximize"], declared_in(settings))
        return Contest.of_problem(settings["problem"], seed)

    def values(self, X: Array) -> Array:
        """Values (m,) to be minimized at encoded points ``X`` (m, d); NaN where the user's own function fails.

        Outcomes (m, k), as they are, where they are declared.
        """
        return self.sign * np.array([self.value(params)[0] for params in self.space.decode(X)], dtype=np.float64)

    def scores(self, y: Array) -> Array:
        """The scores of ``values``, (m,), in the user's units; NaN if there is none."""
        return self.sign * y if self.declared is None else self.declared.scores(y)

    def truths(self, X: Array) -> Array:
        """Values (m,) at encoded points ``X`` (m, d), without the noise of a noisy problem."""
        function = self.truth or self.function
        return np.array([float(function(params)) for params in self.space.decode(X)], dtype=np.float64)

    def value(self, params: dict[str, Any]) -> tuple[float | list[float], str]:
        """The value of the function, a list for declared outcomes; NaN and the reason if the user's function fails."""
        nothing = math.nan if self.declared is None else [math.nan] * len(self.declared.goals.wanted)
        try:
            result = self.function(params)
            if result is None:  # the usual slip, a forgotten return
                return nothing, "the function returned None, not a number"
            found = outcome_of(result, None, None)
            if isinstance(found, str):
                return nothing, found
            return (found.value if self.declared is None else self.declared.row(found)), ""
        except (Exception, SystemExit) as error:  # the user's function may raise anything; all of it is a failure
            if not self.own:
                raise
            return nothing, f"{type(error).__name__}: {error}"


def _name(function: Evaluated) -> str:
    return f"{getattr(function, '__module__', '')}:{getattr(function, '__qualname__', '')}"
