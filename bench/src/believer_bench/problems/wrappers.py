"""Problems made from a problem: with noise, or with its optimum moved. They nest."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from believer.arrays import BoolArray, as_values
from believer.capabilities import has
from believer.errors import InvalidInput
from believer.problems.problem import Evaluable, Problem
from believer.space.parameters import Number

_SEAM = 1e-12
"""A point that rounding put this little below the lower end has not wrapped around."""


def noisy(problem: Problem, std: float, seed: int) -> Problem:
    """``problem`` plus Gaussian noise of standard deviation ``std``.

    The noise is a function of ``seed`` and of the encoded point's bytes: the order of evaluations and the process do
    not matter, and a repeated point repeats its value (take another ``seed`` for a replicate). ``optimum`` and
    ``optimizer`` stay those of the function without noise, which is ``truth``.
    """
    if not (math.isfinite(std) and std >= 0.0):
        raise InvalidInput(f"std must be finite and not negative; got {std!r}.")
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InvalidInput(f"seed must be a whole number, 0 or more; got {seed!r}.")
    function = _Noisy(problem, float(std), int(seed))
    return replace(problem, name=f"{problem.name}+noise{std:g}", function=function, truth=_truth(problem))


def shifted(problem: Problem, offset: npt.ArrayLike) -> Problem:
    """``problem`` moved by ``offset`` (dim,) in the encoded cube, each entry in [0, 1).

    What was at position u is now at u + offset, and wraps around to the other end of the box: every value is still
    reached, at the price of a jump where the ends meet. Only Floats without step can move, so entries for other columns
    must be 0. An optimizer at an upper end, which now meets the lower end, is dropped.
    """
    move = as_values(offset, name="offset")
    if len(move) != problem.space.dim:
        raise InvalidInput(f"offset must have one entry for each of {problem.space.dim} columns; got {len(move)}.")
    if not ((move >= 0.0) & (move < 1.0)).all():
        raise InvalidInput(f"offset must lie in [0, 1); got {move.tolist()}.")
    if problem.space.constraint is not None:
        raise InvalidInput(f"a problem to shift must have no constraint; {problem.name!r} has one.")
    stuck = np.flatnonzero((move > 0.0) & ~_movable(problem))
    if len(stuck):
        raise InvalidInput(
            f"offset must be 0 except for Floats without step; got {move[stuck[0]]} in column {stuck[0]}."
        )
    best = problem.optimizer
    if best is not None:
        U = problem.space.encode(best)
        U = U[~((U >= 1.0) & (move > 0.0)).any(axis=1)] + move
        best = tuple(problem.space.decode(np.where((U >= 1.0) & (move > 0.0), U - 1.0, U))) or None
    function = _Shifted(problem, tuple(move.tolist()))
    truth = None if problem.truth is None else _Shifted(problem.without_noise(), function.offset)
    return replace(problem, name=f"{problem.name}+shift", function=function, optimizer=best, truth=truth)


def _truth(problem: Problem) -> Evaluable:
    return problem.function if problem.truth is None else problem.truth


def _movable(problem: Problem) -> BoolArray:
    columns: list[bool] = []
    for p in problem.space.parameters.values():
        columns += [has(p, Number) and p.step is None] * p.width
    return np.array(columns, dtype=bool)


@dataclass(frozen=True, slots=True)
class _Noisy:
    problem: Problem
    std: float
    seed: int

    def __call__(self, params: dict[str, Any]) -> float:
        # Adding 0.0 turns -0.0 into 0.0: one point, one sequence of bytes.
        point = self.problem.space.encode([params])[0] + 0.0
        rng = np.random.default_rng([self.seed, *np.frombuffer(point.tobytes(), dtype=np.uint32).tolist()])
        return float(self.problem.function(params)) + self.std * float(rng.standard_normal())

    def seeded(self, seed: int) -> Evaluable:
        """The problem with another seed; noise that the problem had before stays as it is."""
        return replace(self, seed=seed)


@dataclass(frozen=True, slots=True)
class _Shifted:
    problem: Problem
    offset: tuple[float, ...]

    def __call__(self, params: dict[str, Any]) -> float:
        space = self.problem.space
        back = space.encode([params]) - np.array(self.offset)
        return float(self.problem.function(space.decode(np.where(back < -_SEAM, back + 1.0, back))[0]))

    def seeded(self, seed: int) -> Evaluable:
        """The noise of the problem that was moved, with another seed."""
        return replace(self, problem=self.problem.seeded(seed))
