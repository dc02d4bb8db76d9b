"""A warp of y: a transformation of results that have a heavy tail on the bad side, before a model learns from them.

======  =================================================================================
symbol  meaning
======  =================================================================================
m       where the warp begins: the median of y, or its best value
s       its scale. From the median, that of the better half: √(Σ (m - y_i)² / Σ z_i²)
        over the y_i below m, with z_i the normal scores of their ranks; the standard
        deviation, if y is Gaussian. From the best, the distance within which a share of
        the results lies: a half, a quarter or a tenth
L(u)    log(1 + u), or, for results that are absurd, log(1 + log(1 + u))
w(y)    y up to m, above it m + s L((y - m) / s)
======  =================================================================================

Values better than m are unchanged, so improvements are unchanged, too, and f⁺ is the best result. Worse values are
compressed: a value at a distance of a million s from m moves to a distance of fourteen s, so that the model does not
spend its flexibility on it. From the median on, good results keep their distances. From the best on, the scale is
finest near the best result, as a function that spans many orders of magnitude needs it. A penalty of 1e12 for a failed
simulation would still be a cliff of 28 s; for such results the logarithm may be taken twice, which leaves 3.4 s. w and
w' are continuous, w' ≤ 1, and w is inverted in closed form. Lies, failures and known noise are transformed by w, and
predictions for the user by w⁻¹.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from believer.arrays import LARGEST, Array, above_zero, finite, shown, whole
from believer.capabilities import has
from believer.errors import InvalidInput
from believer.numerics.sampling import normal
from believer.surrogates.data import MIN_SCALE, Data
from believer.surrogates.protocols import Evident, Model, Prediction

T = TypeVar("T")

REACH = 2.0
"""The worse half is warped only if it reaches this many times as far from the median as the better half."""

ABSURD = 1e3
"""If results reach this many times s beyond m, the logarithm may be taken twice."""

SHARES, SPAN = (0.5, 0.25, 0.1), 8.0
"""For warps that begin at the best result: the shares of the results within s of it, and the least span of all results
in s."""

CLEAR = 5.0
"""By so many nats a warp that begins at the best has to be more likely than what else there is. It changes how good
results lie to each other, which should not hang on chance."""

_FARTHEST = 1e300
"""The largest values of w and w⁻¹, in units of y and of s: no result is that far away, and larger values would
overflow."""


@dataclass(frozen=True, slots=True)
class Warp:
    """The warp w with ``start`` m and ``scale`` s.

    ``folds``: whether the logarithm is taken once or twice, 1 or 2. ``share``: the share of the results within s of the
    best, for a warp that begins there; 0 for one that begins at the median.
    """

    start: float
    scale: float
    folds: int = 1
    share: float = 0.0

    def __post_init__(self) -> None:
        finite(self.start, "the start of a warp", LARGEST)
        above_zero(self.scale, "the scale of a warp", MIN_SCALE, LARGEST)
        whole(self.folds, "the folds of a warp", 1, 2)
        if self.share not in (0.0, *SHARES):
            raise InvalidInput(
                f"the share of a warp must be one of 0, {', '.join(map(str, SHARES))}; got {self.share}."
            )

    @property
    def kind(self) -> tuple[float, int]:
        """The kind of the warp, which is comparable between sets of results: where it begins, and how often the
        logarithm is taken."""
        return self.share, self.folds

    def __call__(self, y: Array) -> Array:
        """w(y), elementwise."""
        return np.where(y > self.start, self.start + self.scale * self._logs(y)[-1], y)

    def inverse(self, w: Array) -> Array:
        """w⁻¹, elementwise."""
        end, beyond = math.log(_FARTHEST / max(self.scale, 1.0)), self._beyond(w)
        for _ in range(self.folds - 1):
            beyond = np.expm1(np.minimum(beyond, math.log1p(end)))
        return np.where(w > self.start, self.start + self.scale * np.expm1(np.minimum(beyond, end)), w)

    def log_slope(self, y: Array) -> Array:
        """log w'(y), elementwise: zero up to m."""
        slope: Array = -np.sum(self._logs(y), axis=0)
        return slope

    def _logs(self, y: Array) -> list[Array]:
        """The successive logarithms of (y - m) / s that w needs, the last one L; their sum is -log w'."""
        logs = [np.log1p(self._beyond(y))]
        for _ in range(self.folds - 1):
            logs.append(np.log1p(logs[-1]))
        return logs

    def data(self, data: Data) -> Data:
        """``data`` of one output in the units of the model: known noise becomes w'(y) times as large."""
        noise = None if data.noise is None else data.noise * np.exp(self.log_slope(data.Y))
        return Data(data.X, self(data.Y), noise, data.groups)

    def prediction(self, at: Prediction) -> Prediction:
        """The prediction of a model of w(y) in the units of y: the median, and half the width of the central 68.3 %."""
        low, high = self.inverse(at.mean - at.std), self.inverse(at.mean + at.std)
        return Prediction(self.inverse(at.mean), 0.5 * (high - low))

    def _beyond(self, y: Array) -> Array:
        return np.clip(y - self.start, 0.0, _FARTHEST * self.scale) / self.scale

    def is_like(self, other: Warp | None) -> bool:
        """Whether ``other`` is the same to rounding."""
        if other is None or self.kind != other.kind:
            return False
        return math.isclose(self.start, other.start) and math.isclose(self.scale, other.scale)

    def to_config(self) -> dict[str, float]:
        """Plain JSON data; ``folds`` is left out if it is 1, and ``share`` if it is 0."""
        config = {"start": self.start, "scale": self.scale, "folds": self.folds, "share": self.share}
        return {name: value for name, value in config.items() if value != _USUAL.get(name)}

    @staticmethod
    def from_config(config: Any) -> Warp:
        """The inverse of :meth:`to_config`; InvalidInput for data that are not a warp."""
        if not isinstance(config, dict) or config.keys() - _USUAL.keys() != {"start", "scale"}:
            raise InvalidInput(f"a warp must have a start and a scale; got {shown(config)}.")
        return Warp(**config)


_USUAL = {"folds": 1, "share": 0.0}


def warps_for(y: Array, finite: bool = False) -> tuple[Warp, ...]:
    """The warps of results ``y`` (n,) that may make them more likely: of the worse half, and from the best on.

    For extreme results, one takes the logarithm twice. In a ``finite`` space none begins at the best, because this
    brought no gain there (benchmarks/results/default.md).
    """
    warp, found = warp_for(y), list[Warp]()
    if warp is not None:
        far = float(y.max()) - warp.start > ABSURD * warp.scale
        found += [warp, replace(warp, folds=2)] if far else [warp]
    best, span = float(y.min()), float(y.max()) - float(y.min())
    shares = () if finite or abs(best) > LARGEST else SHARES
    for share, scale in zip(shares, (np.quantile(y, shares) - best).tolist(), strict=True):
        if MIN_SCALE <= scale <= LARGEST and span > SPAN * scale:
            found.append(Warp(best, scale, share=share))
    return tuple(found)


def likelier(
    fitted: Callable[[Warp | None, T | None], T], model_of: Callable[[T], Model], warps: tuple[Warp, ...], y: Array
) -> T:
    """The fit to the results, or to the results through one of the ``warps``, whichever makes them more likely.

    p(y) = p(w(y)) Π w'(y_i); less CLEAR nats for a warp that begins at the best.

    Parameters
    ----------
    fitted : ``fitted(warp, plain)`` makes a fit through a warp, given the fit without one; with None for both, the
        fit without one.
    model_of : returns the model of a fit; if it has no evidence, no warp is tried.
    warps : the warps to try.
    y : the results that a model learns from, (n,).
    """
    plain = best = fitted(None, None)
    model = model_of(plain)
    if not warps or not has(model, Evident):
        return plain
    most, coarser = model.log_evidence(), -math.inf
    for warp in warps:
        warped = fitted(warp, plain)
        after = model_of(warped)
        evidence = after.log_evidence() + float(warp.log_slope(y).sum()) if has(after, Evident) else -math.inf
        evidence -= CLEAR if warp.share else 0.0
        if evidence > most:
            best, most = warped, evidence
        if warp.share:
            if evidence < coarser:
                break  # finer scales are then less likely, too
            coarser = evidence
    return best


def warp_for(y: Array) -> Warp | None:
    """The warp of the worse half of ``y`` (n,); None if that does not reach far, or if the better half has a single
    value.

    It does not depend on the order of the values, and scales with their unit.
    """
    ordered = np.sort(y)
    m = float(np.median(ordered))
    below = ordered[ordered < m]
    if not len(below) or not float(ordered[-1]) - m > REACH * (m - float(ordered[0])):
        return None
    z = normal((np.arange(len(below)) + 0.5) / len(y))
    unit = m - float(ordered[0])
    scale = unit * math.sqrt(float((((m - below) / unit) ** 2).sum()) / float((z**2).sum()))
    return Warp(m, scale) if MIN_SCALE <= scale <= LARGEST and abs(m) <= LARGEST else None
