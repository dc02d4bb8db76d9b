"""Box-constrained minimization of one function that gives its curvature along with its gradient.

Where a value costs much, steps have to count: the curvature that the function offers is corrected by what the last step
has shown, and the search ends when the resulting parabola promises too little, without a further value to confirm it.

=======  ===================================================  ================
symbol   meaning                                              shape
=======  ===================================================  ================
x, f, g  point, value, gradient                               (p,), 1, (p,)
B        curvature, positive definite                         (p, p)
s, y     last step, and the change of the gradient along it    (p,)
t        share of the step that is taken
=======  ===================================================  ================
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from believer.arrays import Array, above_zero, finite, whole
from believer.errors import InvalidInput

CurvedFunction = Callable[[Array], tuple[float, Array, Array]]
"""(p,) -> value, gradient (p,), curvature (p, p)."""

MAX_VALUES, MAX_TOLERANCE = 100_000, 1e9

_SUFFICIENT = 1e-4
_NO_MOVE = 1e-10
_AT_BOUND = 1e-6
_DAMPED_BELOW = 0.2


@dataclass(frozen=True, slots=True)
class Settings:
    """The stopping rule, and the longest step."""

    gain_tol: float = 3e-4
    """the search rests when a step promises to gain less, in units of the value"""
    max_values: int = 60
    longest: float = 1.0
    """no coordinate moves farther in one step"""

    def __post_init__(self) -> None:
        whole(self.max_values, "max_values", 1, MAX_VALUES)
        above_zero(self.longest, "longest", 1e-9, 1e9)
        if finite(self.gain_tol, "gain_tol", MAX_TOLERANCE) < 0.0:
            raise InvalidInput(f"gain_tol must be zero or more; got {self.gain_tol!r}.")


DEFAULTS = Settings()


def minimize(
    objective: CurvedFunction, x: Array, lower: Array, upper: Array, settings: Settings = DEFAULTS
) -> tuple[Array, float]:
    """A local minimum over the box from ``x`` (p,), and the value there; +inf where the first value is not finite."""
    x = np.clip(x, lower, upper)
    f, g, B = objective(x)
    if not (np.isfinite(f) and np.isfinite(g).all()):
        return x, np.inf
    step, promised, t = *_step(x, g, B, lower, upper, settings), 1.0
    for _ in range(settings.max_values - 1):
        trial = np.minimum(np.maximum(x + t * step, lower), upper)
        s = trial - x
        slope = float(g @ s)
        if promised < settings.gain_tol or float(np.abs(s).max()) < _NO_MOVE:
            break
        if slope >= 0.0:
            # Cut off by the box, a step may lead uphill; a shorter one does not.
            t *= 0.1
            continue
        f_trial, g_trial, B_trial = objective(trial)
        sound = bool(np.isfinite(f_trial) and np.isfinite(g_trial).all())
        if sound and f_trial <= f + _SUFFICIENT * slope:
            B = _corrected(B_trial, s, g_trial - g)
            x, f, g = trial, f_trial, g_trial
            step, promised, t = *_step(x, g, B, lower, upper, settings), 1.0
        else:
            # The minimizer of the parabola through f, its slope and the trial value, kept within [0.1, 0.5].
            rise = f_trial - f - slope if sound else np.inf
            t *= min(max(-slope / max(2.0 * rise, -slope), 0.1), 0.5)
    return x, f


def _step(x: Array, g: Array, B: Array, lower: Array, upper: Array, settings: Settings) -> tuple[Array, float]:
    """-B⁻¹ g on the coordinates that no bound holds, at most ``longest`` in each; and the gain promised before that."""
    free = ~(((x - lower <= _AT_BOUND) & (g > 0.0)) | ((upper - x <= _AT_BOUND) & (g < 0.0)))
    step = np.zeros_like(x)
    if free.any():
        _, solved, info = lapack.dposv(B[np.ix_(free, free)], -g[free])
        step[free] = solved if info == 0 else 0.0  # a B that is not positive definite promises nothing
    promised = -0.5 * float(g @ step)
    return step * min(1.0, settings.longest / max(float(np.abs(step).max()), 1e-300)), promised


def _corrected(B: Array, s: Array, y: Array) -> Array:
    """B made to agree with the last step, B s = y, by a BFGS update, damped to stay positive ([Nocedal2006] 18.3)."""
    Bs = B @ s
    expected, seen = float(s @ Bs), float(s @ y)
    if seen < _DAMPED_BELOW * expected:
        share = (1.0 - _DAMPED_BELOW) * expected / (expected - seen)
        y = share * y + (1.0 - share) * Bs
        seen = float(s @ y)
    corrected: Array = B + np.multiply.outer(y, y) / seen - np.multiply.outer(Bs, Bs) / expected
    return corrected
