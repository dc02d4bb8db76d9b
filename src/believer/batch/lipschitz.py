"""Local Penalization after [Gonzalez2016]: a bad value at x_j excludes the minimum from a ball around it.

======  ==========================================================================  ========
symbol  meaning                                                                     shape
======  ==========================================================================  ========
L       Lipschitz constant of the objective: |f(x) - f(x')| <= L |x - x'|
M       the least value known: f⁺
x_j     taken points, with posterior mean μ_j and std σ_j                           (k, d)
r_j     radius around x_j within which the minimum cannot lie
s       scale of y: its standard deviation
======  ==========================================================================  ========

[Gonzalez2016] maximizes: no x with |x - x_j| < r_j = (M - f(x_j)) / L can reach a value of M, the maximum, and the
penalty is the probability that x lies outside of that ball. For minimization replace f by -f, which turns the signs of
μ_j and M and leaves L and σ_j: r_j = (f(x_j) - M) / L with M the minimum, and

    φ(x; x_j) = P(f(x_j) - M < L |x - x_j|) = Φ((L |x - x_j| - (μ_j - M)) / σ_j).

So a point that is expected to be bad (μ_j far above M) excludes a wide ball, and one that is expected to beat M hardly
any: φ >= ½ even at x_j. If the acquisition function is large there, the points of a batch stay close together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from believer.arrays import LARGEST, Array, above_zero
from believer.batch.best_so_far import real_incumbent
from believer.batch.capability import require
from believer.batch.penalization import penalized
from believer.batch.request import Chosen, Request
from believer.numerics import lbfgs
from believer.numerics.sampling import sobol
from believer.numerics.special import log_cdf
from believer.space.region import Region, bounds
from believer.surrogates.gp import standardization
from believer.surrogates.protocols import Differentiable

_SCREENED = 256
_STARTS = 5
_STEP = 1e-4
_CLIMB = lbfgs.Settings(max_rounds=20, gradient_tol=1e-3, value_tol=1e-4)


@dataclass(frozen=True, slots=True, eq=False)
class LipschitzPenalty:
    """Σ_j log Φ((L |x - x_j| - gap_j) / σ_j) around ``points`` (k, d); ``gap`` is μ - M (k,), ``std`` σ (k,)."""

    points: Array
    gap: Array
    std: Array
    lipschitz: float

    def __call__(self, X: Array) -> tuple[Array, Array]:
        """Value (m,) and gradient (m, d) at ``X`` (m, d). At x_j itself, where the penalty has a kink, the gradient is
        0. O(m k d)."""
        steps = X[:, None, :] - self.points
        distance = np.sqrt(np.einsum("mkd,mkd->mk", steps, steps))
        value, by_z = log_cdf((self.lipschitz * distance - self.gap) / self.std)
        per_step = by_z * (self.lipschitz / self.std) / np.where(distance > 0.0, distance, 1.0)
        return value.sum(axis=1), np.einsum("mk,mkd->md", per_step, steps)


@dataclass(frozen=True, slots=True)
class LipschitzPenalization:
    """Choose one point at a time, with the penalty of [Gonzalez2016] around taken points.

    Asking q times for one point equals asking for q points, bit for bit. Without taken points, the choice is that of
    the acquisition function alone.

    Differs: L is at least s/√d, one standard deviation of y over the diagonal of the cube, because a flat mean
    (constant y, or noise alone) would give L = 0 and no ball at all. Pending points count as points of the batch.

    Parameters
    ----------
    lipschitz : the constant L in the user's units of y per unit of the encoded cube, or None: the steepest slope of the
        model's mean, found once for the real data.
    """

    lipschitz: float | None = None

    def __post_init__(self) -> None:
        if self.lipschitz is not None:
            above_zero(self.lipschitz, "lipschitz", 1.0 / LARGEST, LARGEST, "above zero, or None to estimate it")

    def choose(self, request: Request, memory: object = None) -> Chosen:
        """Choose a maximizer of log α⁺ + Σ_j log φ for each trial of ``request``; ``memory`` is ignored."""
        best = real_incumbent(request)
        slope = estimate(request) if self.lipschitz is None else float(self.lipschitz)

        def penalty(points: Array) -> LipschitzPenalty:
            at = request.model.predict(points)
            return LipschitzPenalty(points, at.mean - best, at.std, slope)

        return penalized(request, penalty)


def estimate(request: Request) -> float:
    """L of the request's model over its box: max |∇μ|, at least s/√d."""
    model = request.model
    require(
        model,
        Differentiable,
        "lp_lipschitz",
        "Or use LipschitzPenalization(L), L in y per unit of the cube.",
    )
    assert isinstance(model, Differentiable)
    scale, region = standardization(request.data.y)[1], request.region
    # This is not the stream of a trial, because points that are asked for one by one need the same L.
    spread = region.spread(sobol(_SCREENED, region.dim, request.randomness(0, "lipschitz")))
    thinned = request.data.X[:: 1 + (len(request.data.X) - 1) // _SCREENED]
    steepest = steepest_slope(model, region, np.vstack([spread, thinned]), scale)
    return float(scale * max(steepest, region.dim**-0.5))


def steepest_slope(model: Differentiable, region: Region, X: Array, scale: float) -> float:
    """max |∇μ| / ``scale``: the largest at the points ``X`` (m, d), improved by climbs over the box from the best few.

    ∂|∇μ|/∂x = H ∇μ/|∇μ|, with H the Hessian of μ: the change of ∇μ along its own direction, a central difference.
    """

    def slopes(points: Array) -> tuple[Array, Array]:
        gradient = model.predict_with_gradient(points).mean_gradient / scale
        return np.sqrt(np.einsum("md,md->m", gradient, gradient)), gradient

    screened, _ = slopes(X)
    top = float(screened.max())
    if not top > 0.0:
        return 0.0

    def descend(points: Array) -> tuple[Array, Array]:
        slope, gradient = slopes(points)
        step = _STEP * gradient / np.where(slope > 0.0, slope, 1.0)[:, None]
        ahead, behind = np.split(slopes(np.vstack([points + step, points - step]))[1], 2)
        return -slope / top, (behind - ahead) / (2.0 * _STEP * top)

    starts = X[np.argsort(-screened, kind="stable")[:_STARTS]]
    climbed = lbfgs.minimize(descend, starts, *bounds(region), _CLIMB)
    return top * max(1.0, float(-climbed.f.min()))
