"""Functions drawn from a Gaussian process: a draw of the prior as a sum of waves, plus a correction by the data.

======  ==================================================================  ==========
symbol  meaning                                                             shape
======  ==================================================================  ==========
L       waves in a draw of the prior
ω       frequencies, drawn with the density q                               (L, d)
s(ω)    spectral density of the kernel
θ       phases, uniform on a circle                                         (L,)
a       amplitudes √(s/q) times the length of a normal vector in the plane  (L,)
f₀      a draw of the prior, σ_f L^-½ Σ_l a_l cos(ω_lᵀx + θ_l)
Z       the data, or the inducing points of a sparse process                (N, d)
ε       a draw of the noise in the data                                     (N,)
v       what corrects f₀, as weights of σ_f² k(x, Z)                        (N,)
======  ==================================================================  ==========

A draw of the posterior is f(x) = f₀(x) + σ_f² k(x, Z) v ([Wilson2020] section 3, "Matheron's rule"); for the exact
process v = K_y⁻¹ (y - f₀(X) - ε). Where f₀ has the prior's moments, f has the posterior's.

f₀ is a draw by random Fourier features ([Rahimi2007]): a cos(ωᵀx + θ) is w cos(ωᵀx) + w' sin(ωᵀx) with normal w, w'.
Every function has its own frequencies, so that over functions the moments of f₀, and with them those of f, are exact
for any L. L determines how close f is to normal. This depends on high frequencies, because the data leave open how f
varies between close points. The spectrum itself has few waves there: most draws would stay near the mean between close
points, and a few would deviate widely. So q has a heavier tail than s, with more waves of smaller amplitude a
(importance sampling). Frequencies are quasi-random, which lowers their variance ([Yang2014]).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaincinv, gammaln

from believer.arrays import Array, frozen
from believer.numerics.cholesky import Factor
from believer.numerics.sampling import normal, sobol
from believer.surrogates.gp_fit import Hyperparameters
from believer.surrogates.protocols import Paths

WAVES = 512
"""L, a power of two, because a Sobol sequence is then balanced."""

FREEDOM: dict[str, float] = {"matern52": 5.0, "matern32": 3.0, "se": np.inf}
"""The degrees of freedom of the spectral density, a Student's t: 2ν for a Matérn kernel ([Rasmussen2006] Eq. 4.15);
infinity is the normal density."""


@dataclass(frozen=True, slots=True, eq=False)
class Waves:
    """Draws f₀ of the prior: ω (count, L, d), θ and σ_f L^-½ a, both (count, L)."""

    frequencies: Array
    phases: Array
    amplitudes: Array

    def value(self, X: Array) -> Array:
        """f₀ (count, m) at ``X`` (m, d).  O(count m L d)."""
        waves = zip(self.frequencies, self.phases, self.amplitudes, strict=True)
        return np.stack([_cosine(X @ omega.T + theta)[0] @ a for omega, theta, a in waves])

    def value_with_gradient(self, X: Array) -> tuple[Array, Array]:
        """f₀ (count, m) and ∂f₀/∂x (count, m, d)."""
        values, slopes = [], []
        for omega, theta, a in zip(self.frequencies, self.phases, self.amplitudes, strict=True):
            cosine, sine = _cosine(X @ omega.T + theta)
            values.append(cosine @ a)
            slopes.append((sine * -a) @ omega)
        return np.stack(values), np.stack(slopes)


def _cosine(angle: Array) -> tuple[Array, Array]:
    """The cosine and sine of ``angle``, by the tangent t of its half: 2/(1 + t²) - 1 and 2t/(1 + t²).

    NumPy has vector code for the tangent, but not for cosines; and one call serves both.
    """
    t = np.tan(0.5 * angle)
    twice = 2.0 / (1.0 + t * t)
    return twice - 1.0, t * twice


def prior_draws(hyper: Hyperparameters, count: int, rng: np.random.Generator, waves: int = WAVES) -> Waves:
    """``count`` functions f₀ drawn from the process without data, of standardized y."""
    d = len(hyper.lengthscales)
    frequencies, power = np.zeros((count, waves, d)), np.zeros((count, waves))
    for row in range(count):
        frequencies[row], power[row] = _frequencies(FREEDOM[hyper.kernel], waves, d, rng)
    phases = 2.0 * np.pi * rng.random((count, waves))
    # The squared length of a normal vector in the plane is twice an exponential variable.
    amplitudes = np.sqrt((2.0 * hyper.signal / waves) * power * rng.standard_exponential((count, waves)))
    return Waves(frozen(frequencies / hyper.lengthscales), frozen(phases), frozen(amplitudes))


def _frequencies(freedom: float, waves: int, d: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """ω (L, d) for lengthscales of one, and s(ω)/q(ω) (L,), by a shifted Sobol sequence.

    q is also a Student's t: with one degree of freedom (Cauchy) for a Matérn kernel, and with d for the normal density,
    whose frequencies have nearly equal lengths in many dimensions: otherwise most waves would have a negligible
    amplitude.
    """
    wide = float(d) if np.isinf(freedom) else 1.0
    U = sobol(waves, d + 1, rng)
    # A normal vector divided by the root of χ² over its degrees of freedom, which is one number for each frequency.
    omega: Array = normal(U[:, 1:]) / np.sqrt(gammaincinv(0.5 * wide, U[:, :1]) / (0.5 * wide))
    r2 = np.einsum("ij,ij->i", omega, omega)
    ratio: Array = np.exp(_log_density(r2, freedom, d) - _log_density(r2, wide, d))
    return omega, ratio


def _log_density(r2: Array, freedom: float, d: int) -> Array:
    """The log of Student's t density in d dimensions at |ω|² = ``r2`` (L,), up to the constant -½ d log π."""
    if np.isinf(freedom):
        normal: Array = -0.5 * (r2 + d * np.log(2.0))
        return normal
    constant = gammaln(0.5 * (freedom + d)) - gammaln(0.5 * freedom) - 0.5 * d * np.log(freedom)
    student: Array = constant - 0.5 * (freedom + d) * np.log1p(r2 / freedom)
    return student


def noise_draws(factor: Factor, variance: float | Array, count: int, rng: np.random.Generator) -> Array:
    """ε (count, N): normal with the noise ``variance``, one number or (N,), plus the jitter for the rows of the factor
    that have it."""
    variances = np.full(factor.rows, variance)
    variances[: len(factor.base)] += factor.jitter
    draws: Array = np.sqrt(variances) * rng.standard_normal((count, factor.rows))
    return draws


def correction(factor: Factor, y: Array, drawn: Array, noise: Array) -> Array:
    """v = K_y⁻¹ (y - f₀(X) - ε) (count, N) for standardized ``y`` (N,), ``drawn`` f₀(X) and ``noise`` ε, (count, N).

    O(count N²).
    """
    return factor.unwhiten(factor.whiten(y - drawn - noise))


@dataclass(frozen=True, slots=True, eq=False)
class KernelPaths:
    """Functions f₀(x) + σ_f² k(x, Z) v in the units of y: f₀ is ``prior``, v the ``weights`` (count, N).

    A point costs O(L d + N d) for each function, linear in N.
    """

    prior: Paths
    hyper: Hyperparameters
    centers: Array
    weights: Array
    shift: float
    scale: float

    def value(self, X: Array) -> Array:
        """f (count, m) at ``X`` (m, d)."""
        k, _ = self.hyper.cross(X, self.centers)
        return self.shift + self.scale * (self.prior.value(X) + self.weights @ k.T)

    def value_with_gradient(self, X: Array) -> tuple[Array, Array]:
        """f (count, m) and ∂f/∂x (count, m, d)."""
        k, h = self.hyper.cross(X, self.centers)
        values, slopes = self.prior.value_with_gradient(X)
        # ∂k/∂x = -h (x - z) / ℓ².
        parts = [h * v for v in self.weights]
        corrections = np.stack([part @ self.centers - X * part.sum(axis=1)[:, None] for part in parts])
        slopes = slopes + corrections * self.hyper.lengthscales**-2.0
        return self.shift + self.scale * (values + self.weights @ k.T), self.scale * slopes
