"""Problems made from a problem: with noise, or with its optimum moved. They nest."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from believer.arrays import Array, as_values
from believer.errors import InvalidInput
from believer.problems.problem import Problem


def noisy(problem: Problem, std: float, seed: int) -> Problem:
    """``problem`` plus Gaussian noise of standard deviation ``std``.

    The noise is a function of ``seed`` and of the encoded point's bytes: the order of evaluations and the process do
    not matter, and a repeated point repeats its value (take another ``seed`` for a replicate). ``optimum`` and
    ``optimizer`` stay those of the function without noise.
    """
    if not (math.isfinite(std) and std >= 0.0):
        raise InvalidInput(f"std must be finite and not negative; got {std!r}.")
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InvalidInput(f"seed must be a whole number, 0 or more; got {seed!r}.")
    return replace(problem, name=f"{problem.name}+noise{std:g}", function=_Noisy(problem, float(std), int(seed)))


def shifted(problem: Problem, offset: npt.ArrayLike) -> Problem:
    """``problem`` moved by ``offset`` (dim,) in the encoded cube, each entry in [0, 1).

    What was at position u is now at u + offset, and wraps around to the other end of the box: every value is still
    reached, at the price of a jump where the ends meet. Only continuous columns can move, so entries for the others
    must be 0. An optimizer at an upper end that would meet the lower end is dropped.
    """
    move = as_values(offset, problem.space.dim, "offset")
    if not ((move >= 0.0) & (move < 1.0)).all():
        raise InvalidInput(f"offset must lie in [0, 1); got {move.tolist()}.")
    stuck = np.flatnonzero((move > 0.0) & ~problem.space.region().continuous)
    if len(stuck):
        raise InvalidInput(
            f"offset must be 0 in the columns of discrete parameters; got {move[stuck[0]]} in {stuck[0]}."
        )
    best = problem.optimizer
    if best is not None:
        U = problem.space.encode(best)
        U = U[~((U >= 1.0) & (move > 0.0)).any(axis=1)]
        best = tuple(problem.space.decode(_wrapped(U, move))) or None
    return replace(
        problem, name=f"{problem.name}+shift", function=_Shifted(problem, tuple(move.tolist())), optimizer=best
    )


def _wrapped(U: Array, move: Array) -> Array:
    out: Array = U + move
    return np.where(out >= 1.0, np.where(move > 0.0, out - 1.0, out), out)


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


@dataclass(frozen=True, slots=True)
class _Shifted:
    problem: Problem
    offset: tuple[float, ...]

    def __call__(self, params: dict[str, Any]) -> float:
        space = self.problem.space
        U = space.encode([params])
        back = U - np.array(self.offset)
        return float(self.problem.function(space.decode(np.where(back < 0.0, back + 1.0, back))[0]))
