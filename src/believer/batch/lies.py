"""Lies: the pseudo-observations at pending points. They are stated for minimization, whatever the user's direction is.

Constant Liar and Kriging Believer are from [Ginsbourger2010]; fantasies complete the family ([paper] section 3.7).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.random import Generator

from believer.arrays import LARGEST, Array, finite, shown, whole
from believer.capabilities import has
from believer.errors import InvalidInput
from believer.surrogates.data import Data
from believer.surrogates.protocols import Model, Sampling
from believer.surrogates.warp import Warp

MAX_SIGMAS = 1000.0

MAX_SAMPLES = 10_000
"""The largest number of samples of a fantasy, each of which has its own predictions at all candidates."""


class Lie(Protocol):
    """A rule for pseudo-observations."""

    def value(self, model: Model, x: Array, data: Data, sign: float, rng: Generator) -> float:
        """The pseudo-observation ỹ at one point, for minimization.

        Parameters
        ----------
        model : the model so far.
        x : the point, (d,).
        data : the real results.
        sign : -1 for maximization, else 1.
        rng : the source of random numbers.
        """

    @property
    def verb(self) -> str:
        """The verb in the provenance: "believing", "lying min about", ..."""


@runtime_checkable
class Stated(Protocol):
    """A lie that can be stated in the user's units."""

    @property
    def in_user_units(self) -> bool:
        """Whether :meth:`Lie.value` takes data in the user's units and returns a value in them."""


def draws(lie: Lie) -> bool:
    """Whether ``lie`` may use its generator."""
    return not isinstance(lie, ConstantLie | Believe)


def lie_about(lie: Lie, model: Model, x: Array, data: Data, warp: Warp | None, sign: float, rng: Generator) -> float:
    """The value of ``lie`` at ``x`` (d,), in the units of the model and of ``data``, that is, after the ``warp``."""
    if warp is None or not has(lie, Stated) or not lie.in_user_units:
        return lie.value(model, x, data, sign, rng)
    said = lie.value(model, x, Data(data.X, warp.inverse(data.Y)), sign, rng)
    return float(warp(np.array(said)))


@dataclass(frozen=True, slots=True)
class ConstantLie:
    """Constant Liar: the same value at every point.

    Parameters
    ----------
    of : the "min", "max" or "mean" of real results, or a number in the user's units. "min" is the best observed value
        and "max" the worst, whether the user minimizes or maximizes.
    """

    of: str | float = "min"
    in_user_units: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if isinstance(self.of, str):
            if self.of not in ("min", "max", "mean"):
                raise InvalidInput(f'a constant lie must be "min", "max", "mean" or a number; got {shown(self.of)}.')
        else:
            finite(self.of, "a constant lie", LARGEST)

    def value(self, model: Model, x: Array, data: Data, sign: float, rng: Generator) -> float:
        """min_i y_i, max_i y_i or the mean of ``data``, or the constant times ``sign``, in the user's units.

        ``model``, ``x`` and ``rng`` are ignored.
        """
        if isinstance(self.of, str):
            seen = {"min": data.y.min(), "max": data.y.max(), "mean": data.y.mean()}
            return float(seen[self.of])
        return sign * float(self.of)

    @property
    def verb(self) -> str:
        """The verb for provenance."""
        return f"lying {self.of} about"


@dataclass(frozen=True, slots=True)
class Believe:
    """Kriging Believer: the model's prediction, μ + kσ.

    Parameters
    ----------
    sigmas : k. 0 is Kriging Believer, a negative number is optimistic, a positive one pessimistic.
    """

    sigmas: float = 0.0

    def __post_init__(self) -> None:
        finite(self.sigmas, "sigmas", MAX_SIGMAS)

    def value(self, model: Model, x: Array, data: Data, sign: float, rng: Generator) -> float:
        """μ(x) + kσ(x) of ``model`` at ``x`` (d,); ``data``, ``sign`` and ``rng`` are ignored."""
        at = model.predict(x[None, :])
        return float(at.mean[0] + self.sigmas * at.std[0])

    @property
    def verb(self) -> str:
        """The verb for provenance."""
        return f"believing (μ{self.sigmas:+g}σ)" if self.sigmas else "believing"


@dataclass(frozen=True, slots=True)
class Fantasy:
    """Fantasy: a draw from the posterior of an observation, N(μ, σ² + σ_n²) ([paper] section 3.7).

    Parameters
    ----------
    samples : the number of draws over which the acquisition function is averaged ([Snoek2012] section 3.3). With 1 the
        draw is a lie like any other. Diagnostics use one draw, whatever the number.
    """

    samples: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "samples", whole(self.samples, "samples", 1, MAX_SAMPLES))

    def value(self, model: Model, x: Array, data: Data, sign: float, rng: Generator) -> float:
        """One ỹ ~ N(μ(x), σ²(x) + σ_n²) of ``model`` at ``x`` (d,), drawn with ``rng``.

        A model that cannot sample is assumed to be free of noise. ``data`` and ``sign`` are ignored.
        """
        if has(model, Sampling):
            return float(model.sample(x[None, :], 1, rng, noisy=True)[0, 0])
        at = model.predict(x[None, :])
        return float(at.mean[0] + at.std[0] * rng.standard_normal())

    @property
    def verb(self) -> str:
        """The verb for provenance."""
        return f"fantasizing {self.samples} times about" if self.samples > 1 else "fantasizing about"
