"""Lies and determinants: log ψ of [paper] appendix C.5 (not numbered) as printed and exactly, beside log det.

======  =====================================================================  ======
symbol  meaning                                                                shape
======  =====================================================================  ======
x*, x   the point that was lied about, and a later one                         (d,)
c       k_D(x, x*), posterior covariance before the lie                        (m,)
u       c² / (σ²(x) (σ²(x*) + σ_n²)), the share of variance lost at x          (m,)
ρ       σ'(x)/σ(x) = √(1 - u)                                                  (m,)
ψ       EI after believing over EI before, f⁺ fixed                            (m,)
======  =====================================================================  ======

Printed: log ψ ≈ -c² / (2 σ²(x*) (σ²(x*) + σ_n²)). That is the first term of log ρ = ½ log(1 - u) with σ²(x*) put for
σ²(x), and log ρ is log ψ only at z = 0 (see ``penalty``). It is close for far points (u << 1) of equal variance. At a
duplicate it is no less than -½, so it lets one pass at 61 % of its EI, where log ρ is -∞ without noise.

Closer than "qualitatively similar": with noise on the first point, the pair's determinant over the product of its
diagonal *is* the variance ratio, and over a batch the chain rule holds without remainder,

    log det [[σ²(x*) + σ_n², c], [c, σ²(x)]] - log((σ²(x*) + σ_n²) σ²(x)) = 2 log ρ,
    log det (K_D + σ_n² I) = Σ_j log(σ²_j + σ_n²),     σ²_j: the variance at x_j after lies about x_1 .. x_{j-1}.

So conditioning by lies, with σ for an acquisition, is greedy maximization of the determinant (of a DPP whose kernel is
the posterior covariance), interactions of all orders included.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from believer.acquisitions import LogEI
from believer.arrays import Array, finite
from believer.plugins import Conditionable, Data, Joint
from believer_paper.theory import arguments
from believer_paper.theory.arguments import JointConditionable
from believer_paper.theory.rank_one import conditioned, noise_of, rank_one


@dataclass(frozen=True, slots=True, eq=False)
class LogPenalty:
    """log ψ at m points: printed, of σ alone (log ρ), of EI exactly; and half the pair's log-determinant. All (m,)."""

    printed: Array
    std: Array
    improvement: Array
    determinant: Array


def log_penalty(
    model: JointConditionable, x: Array, at: Array, incumbent: float, noise: float | None = None
) -> LogPenalty:
    """The four values at ``at`` (m, d) after believing μ(x*) at ``x`` (d,), with f⁺ = ``incumbent`` unchanged."""
    arguments.conditionable(model)
    arguments.joint(model)
    x, at = arguments.place(model, x, at)
    incumbent = finite(incumbent, "incumbent")
    sigma_n2 = noise_of(model, noise)
    believed = float(model.predict(x[None, :]).mean[0])
    update = rank_one(model, x, believed, at, sigma_n2)
    before, after = model.predict(at), conditioned(model, x, believed, at)
    alone = LogEI().pointwise(before.mean, before.std, incumbent).value
    return LogPenalty(
        printed=-0.5 * update.covariance**2 / ((update.denominator - sigma_n2) * update.denominator),
        std=np.log(after.std / before.std),
        improvement=LogEI().pointwise(after.mean, after.std, incumbent).value - alone,
        determinant=np.array([_half_log_det(model, x, row, sigma_n2) for row in at]),
    )


def _half_log_det(model: JointConditionable, x: Array, at: Array, noise: float) -> float:
    """½ log(det / product of the diagonal) of the pair, with noise on the first; -inf where they coincide."""
    K = model.joint(np.vstack([x, at])).covariance + np.diag([noise, 0.0])
    sign, log_det = np.linalg.slogdet(K)
    return 0.5 * float(log_det - np.log(np.diagonal(K)).sum()) if sign > 0.0 else -np.inf


def log_determinant(model: Joint, X: Array, noise: float | None = None) -> float:
    """log det (K_D + σ_n² I) of a batch ``X`` (q, d)."""
    arguments.joint(model)
    X = arguments.points(X, arguments.columns(model), "X")
    K = model.joint(X).covariance + noise_of(model, noise) * np.eye(len(X))
    return float(np.linalg.slogdet(K)[1])


def log_chain(model: Conditionable, X: Array, noise: float | None = None) -> float:
    """Σ_j log(σ²_j + σ_n²) over a batch ``X`` (q, d), each variance taken after lies about the points before it."""
    arguments.conditionable(model)
    X = arguments.points(X, arguments.columns(model), "X")
    sigma_n2 = noise_of(model, noise)
    total = 0.0
    for x in X:
        at = model.predict(x[None, :])
        total += float(np.log(at.std[0] ** 2 + sigma_n2))
        model = model.condition(Data(x[None, :], at.mean))
    return total
