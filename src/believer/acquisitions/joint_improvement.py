"""The joint improvement of q points on the incumbent: q-EI and its smoothed logarithm, by Monte Carlo, with gradients.

======  ==============================================================  ===========
symbol  meaning                                                         shape
======  ==============================================================  ===========
b       groups of points that are evaluated together
m       points of a group, p that are fixed and then q that move        p + q
S       base samples
ε       standard normal base samples                                    (S, m)
μ, Σ    posterior of a group                                            (b, m), (b, m, m)
L       Cholesky factor of Σ                                            (b, m, m)
f       samples μ + L ε ([Wilson2018])                                  (S, b, m)
I       improvements f⁺ - ξ - f                                         (S, b, m)
τ₀, τₘ  temperatures of max(·, 0) and of the maximum over a group
v̄       derivative of the result by v, for any v
======  ==============================================================  ===========

q-EI is the mean over samples of max(0, max_i I_i). Its smoothed logarithm ([Ament2023] section 4.2) replaces max(·, 0)
by softplus and the maximum by a soft maximum, in logarithms throughout: with fat tails no gradient vanishes. The base
samples are fixed, so that both are smooth functions of the points, which L-BFGS can maximize.

If outputs have limits, the improvement of a point counts only in samples in which all limits hold there: I_i is
multiplied by an indicator, and the logarithm of a smooth indicator is added to log I_i.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import ClassVar

import numpy as np

from believer.acquisitions.joint_limit import JointLimit
from believer.arrays import Array, above_zero, shown
from believer.errors import InvalidInput
from believer.numerics.cholesky import Root, root_of
from believer.surrogates.data import squared
from believer.surrogates.protocols import MIN_VARIANCE, JointGradient, JointlyDifferentiable

_TAIL = 0.1
_UNDERFLOW = -35.0
_AT_ONCE = 1 << 20
_NONE = np.zeros(0)


@dataclass(frozen=True, slots=True)
class Softness:
    """The smoothing of the two kinks of q-EI ([Ament2023] section 4.2 and appendix A).

    improvement: τ₀ of max(·, 0), as a share of the scale of y. maximum: τₘ of the maximum over a group, in log units.
    fat: whether tails fall like 1/x², so that poor points keep a gradient, or exponentially. Differs: τ₀ is relative to
    the scale of y, so that the units of y do not matter.
    """

    improvement: float = 1e-6
    maximum: float = 1e-2
    fat: bool = True

    def __post_init__(self) -> None:
        for name in ("improvement", "maximum"):
            above_zero(getattr(self, name), name, 1e-12, 1e3)
        if not isinstance(self.fat, bool | np.bool_):
            raise InvalidInput(f"fat must be True or False; got {shown(self.fat)}.")


@dataclass(frozen=True, slots=True, eq=False)
class JointImprovement:
    """The expected improvement by q points and p ``fixed`` ones (p, d), as the objective of a maximizer.

    A row of ``X`` (b, q·d) holds q points, one after the other; q follows from the base samples ``normals`` (S, p + q).
    ``target`` is f⁺ - ξ. The value is log q-EI smoothed by ``softness``, or q-EI itself without softness, both with y
    in ``unit``s. Points count only if all ``limits`` of other outputs hold.
    """

    model: JointlyDifferentiable
    target: float
    normals: Array
    fixed: Array
    softness: Softness | None = None
    unit: float = 1.0
    limits: tuple[JointLimit, ...] = ()
    has_gradient: ClassVar[bool] = True

    def value(self, X: Array) -> Array:
        """The value (b,) of each row of ``X`` (b, q·d). O(b S m²), plus the cost of the model's posterior."""
        groups = max(1, _AT_ONCE // self.normals.size)
        parts = [X[start : start + groups] for start in range(0, len(X), groups)]
        return np.concatenate([self._sampled(part)[0] for part in parts] or [np.zeros(0)])

    def value_with_gradient(self, X: Array) -> tuple[Array, Array]:
        """Values (b,) and their derivatives by ``X`` (b, q·d), at a few times the cost."""
        value, pulls = self._sampled(X)
        by_points = reduce(np.add, (drawn.pull(by_samples) for drawn, by_samples in pulls))
        return value, by_points[:, len(self.fixed) :].reshape(X.shape)

    def _sampled(self, X: Array) -> tuple[Array, list[tuple[Drawn, Array]]]:
        """The value, and its derivatives by the samples (S, b, m) of each model."""
        p, d = self.fixed.shape
        b, m = len(X), self.normals.shape[1]
        A = np.empty((b, m, d))
        A[:, :p], A[:, p:] = self.fixed, X.reshape(b, m - p, d)
        drawn = _draw(self.model, A, self.normals, self.unit)
        improvements = (self.target - drawn.at.mean) / self.unit - drawn.deviations
        if not self.limits:
            value, by_improvements, _ = _expected(improvements, self.softness)
            return value, [(drawn, -by_improvements)]
        others = [_draw(limit.model, A, limit.normals, limit.unit) for limit in self.limits]
        values = [other.at.mean / other.unit + other.deviations for other in others]
        if self.softness is None:
            # An improvement that does not count is zero, and so is its derivative.
            for limit, v in zip(self.limits, values, strict=True):
                improvements *= limit.within.holds(limit.unit * v)
            value, by_improvements, _ = _expected(improvements, None)
            return value, [(drawn, -by_improvements)]
        steps = [limit.log_indicator(v, self.softness.fat) for limit, v in zip(self.limits, values, strict=True)]
        counts = reduce(np.add, (log for log, _ in steps))
        value, by_improvements, by_logs = _expected(improvements, self.softness, counts)
        pulls = [(other, by_logs * by_value) for other, (_, by_value) in zip(others, steps, strict=True)]
        return value, [(drawn, -by_improvements), *pulls]


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """Samples of a model at groups of points: its means, and ``deviations`` (S, b, m) from them in ``unit``s."""

    at: JointGradient
    root: Root
    normals: Array
    unit: float
    deviations: Array

    def pull(self, by_samples: Array) -> Array:
        """The derivatives of b numbers by the points (b, m, d), from those ``by_samples`` (S, b, m)."""
        b, m = self.at.mean.shape
        by_samples = by_samples.reshape(-1, b * m)
        by_factor = (by_samples.T @ self.normals).reshape(b, m, m)
        by_mean = by_samples.sum(axis=0).reshape(b, m)
        return self.at.pull(by_mean / self.unit, self.root.pull(by_factor) / squared(self.unit))


def _draw(model: JointlyDifferentiable, A: Array, normals: Array, unit: float) -> Drawn:
    """Samples of ``model`` at ``A`` (b, m, d), from the base samples ``normals`` (S, m)."""
    b, m, _ = A.shape
    at = model.joint_with_gradient(A)
    root = root_of(at.covariance / squared(unit), MIN_VARIANCE)
    deviations = (normals @ root.lower.transpose(2, 0, 1).reshape(m, b * m)).reshape(-1, b, m)
    return Drawn(at, root, normals, unit, deviations)


def _expected(
    improvements: Array, softness: Softness | None, counts: Array | None = None
) -> tuple[Array, Array, Array]:
    """The value (b,) of ``improvements`` (S, b, m), and its derivatives by them and by ``counts``.

    ``counts`` are the logarithms of the weights of improvements, for a smoothed value; None for equal weights, without
    derivatives.
    """
    samples = len(improvements)
    if softness is None:
        best = improvements.argmax(axis=2)[:, :, None]
        gain = np.take_along_axis(improvements, best, axis=2)
        by_improvements = np.zeros_like(improvements)
        np.put_along_axis(by_improvements, best, (gain > 0.0) / samples, axis=2)
        return np.maximum(gain[:, :, 0], 0.0).mean(axis=0), by_improvements, _NONE
    logs, by_logs = (_log_fat_plus if softness.fat else _log_plus)(improvements / softness.improvement)
    if counts is not None:
        logs += counts
    most, by_most = (_fat_maximum if softness.fat else _soft_maximum)(logs, softness.maximum)
    top = most.max(axis=0)
    shares = np.exp(most - top)
    total = shares.sum(axis=0)
    value = top + np.log(total) + float(np.log(softness.improvement / samples))
    by_counts = _NONE if counts is None else by_most * (shares / total)[:, :, None]
    by_most *= (shares / (total * softness.improvement))[:, :, None]
    by_most *= by_logs
    return value, by_most, by_counts


def _log_fat_plus(x: Array) -> tuple[Array, Array]:
    """log(softplus(x) + 0.1 / (1 + x²)) and its derivative: convex and nowhere flat ([Ament2023] appendix A)."""
    plus, slope = _plus(x)
    lorentz = 1.0 / (1.0 + x * x)
    plus += _TAIL * lorentz
    slope -= (2.0 * _TAIL) * x * lorentz * lorentz
    return np.log(plus), slope / plus


def _log_plus(x: Array) -> tuple[Array, Array]:
    """log softplus(x) and its derivative; far below zero it tends to x."""
    plus, slope = _plus(np.maximum(x, _UNDERFLOW))
    below = x < _UNDERFLOW
    return np.where(below, x, np.log(plus)), np.where(below, 1.0, slope / plus)


def _plus(x: Array) -> tuple[Array, Array]:
    """softplus(x) = log(1 + eˣ) and its derivative."""
    e = np.exp(-np.abs(x))
    return np.maximum(x, 0.0) + np.log1p(e), np.where(x > 0.0, 1.0, e) / (1.0 + e)


def _fat_maximum(logs: Array, temperature: float) -> tuple[Array, Array]:
    """max + τ log Σ_i ρ((max - u_i) / τ) over the last axis, ρ(t) = 2 / (2 + 2t + t²), and its derivatives by u."""
    most = logs.max(axis=2, keepdims=True)
    t = (most - logs) / temperature
    rho = 2.0 / (2.0 + t * (2.0 + t))
    total = rho.sum(axis=2, keepdims=True)
    weights = (1.0 + t) * rho * rho / total
    # The derivatives sum to one, because adding a number to all u adds it to the result; the largest u get the rest.
    largest = t == 0.0
    weights += largest * ((1.0 - weights.sum(axis=2, keepdims=True)) / largest.sum(axis=2, keepdims=True))
    return (most + temperature * np.log(total))[:, :, 0], weights


def _soft_maximum(logs: Array, temperature: float) -> tuple[Array, Array]:
    """τ log Σ_i exp(u_i / τ) over the last axis, and its derivatives by u."""
    most = logs.max(axis=2, keepdims=True)
    weights = np.exp((logs - most) / temperature)
    total = weights.sum(axis=2, keepdims=True)
    return (most + temperature * np.log(total))[:, :, 0], weights / total
