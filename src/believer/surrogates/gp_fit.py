"""Hyperparameters of a Gaussian process: their priors, their fit, and the search.

======  =========================================================  ========
symbol  meaning                                                    shape
======  =========================================================  ========
θ       log ℓ_1 .. log ℓ_s, log σ_f², and log σ_n² when inferred    (p,)
        s is d, or the number of groups of columns that share a ℓ
y       standardized data                                          (n,)
D       known noise variances of y, beyond σ_n²                    (n,)
======  =========================================================  ========
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from believer.arrays import Array, IntArray, above_zero, finite, frozen, packed, shown, whole
from believer.errors import InvalidInput
from believer.numerics import backend, lbfgs, newton
from believer.numerics.sampling import latin_hypercube
from believer.surrogates import gp_noise
from believer.surrogates.data import replicates
from believer.surrogates.gp_likelihood import LikelihoodOf, log_likelihood
from believer.surrogates.gp_noise import AUTO, INFER
from believer.surrogates.kernels import KERNELS, squared_distances

SUBSET_ABOVE = 2000
"""With more data than this, hyperparameters are fitted to a seeded subset of this size; the posterior stays exact."""

CENTER_UP_TO, CENTER_AT_TIMES_UP_TO = 100, 500
"""With more data than the first number, a search that starts from the last fit takes the prior's center as a second
start only when the data have grown by a quarter since; with more than the second number, never."""

SHARED_FROM = 3.0
"""From this number of results for each lengthscale on, lengthscales share a mean. Fewer results do not determine the
lengthscales: the mean would follow chance, to lengthscales so short that no result says anything about other places."""

LEARNABLE = (1e-9, 1e9)
"""The range of hyperparameters, whatever the data and the bounds of a fit: outside, sums of squares lose their
meaning."""

NOISE_FLOOR = 1e-8
"""The least noise variance (of standardized y) that a fit uses; less cannot be distinguished from rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class Hyperparameters:
    """The hyperparameters that a fit learns. ``subset``: the number of observations that it used, None for all."""

    kernel: str
    lengthscales: Array
    signal: float
    noise: float
    mean: float = 0.0
    subset: int | None = None

    def cross(self, A: Array, B: Array) -> tuple[Array, Array]:
        """σ_f² k and σ_f² h (see :mod:`~believer.surrogates.kernels`) between ``A`` (m, d) and ``B`` (n, d), (m, n)."""
        native = backend.native
        if native is not None:
            k, h = native.cross(native.KERNELS[self.kernel], packed(A), packed(B), self.lengthscales, self.signal)
            return k, h
        k, h = KERNELS[self.kernel](squared_distances(A / self.lengthscales, B / self.lengthscales))
        return k * self.signal, h * self.signal

    def to_config(self) -> dict[str, Any]:
        """Plain JSON data; floats survive bit for bit."""
        return {
            "kernel": self.kernel,
            "lengthscales": [float(v) for v in self.lengthscales],
            "signal": self.signal,
            "noise": self.noise,
            "mean": self.mean,
            "subset": self.subset,
        }

    @staticmethod
    def from_config(config: dict[str, Any], d: int) -> Hyperparameters:
        """The inverse of :meth:`to_config`, for points of ``d`` columns; InvalidInput for values that no fit can
        produce."""
        known, least = {f.name for f in fields(Hyperparameters)}, {"kernel", "lengthscales", "signal", "noise"}
        if not isinstance(config, dict) or not least <= config.keys() <= known:
            raise InvalidInput(f"hyperparameters must be what to_config returned; got {shown(config)}.")
        kernel, lengthscales, subset = config["kernel"], config["lengthscales"], config.get("subset")
        if not isinstance(kernel, str) or kernel not in KERNELS:
            raise InvalidInput(f"kernel must be one of {', '.join(KERNELS)}; got {shown(kernel)}.")
        if not isinstance(lengthscales, list | tuple) or len(lengthscales) != d:
            raise InvalidInput(f"lengthscales must be {d} numbers, one for each column; got {shown(lengthscales)}.")
        return Hyperparameters(
            kernel=kernel,
            lengthscales=frozen([above_zero(length, "a lengthscale", *LEARNABLE) for length in lengthscales]),
            signal=above_zero(config["signal"], "signal", *LEARNABLE),
            noise=above_zero(config["noise"], "noise", *LEARNABLE),
            mean=finite(config.get("mean", 0.0), "mean", LEARNABLE[1]),
            subset=None if subset is None else whole(subset, "subset", 1),
        )


@dataclass(frozen=True, slots=True)
class LogNormal:
    """A normal prior on the logarithm of a hyperparameter.

    Parameters
    ----------
    mean, std : the mean and standard deviation of the logarithm.
    shared : the standard deviation of a normal prior on the mean, which all lengthscales then share and which takes its
        most likely value; 0 for a fixed mean.
    """

    mean: float
    std: float
    shared: float = 0.0


@dataclass(frozen=True, slots=True)
class Preset:
    """The settings of a fit. The defaults are those of ``GP``: maximum a posteriori, warm-started.

    lengthscale: prior of ℓ/√s if ``scaled``, of ℓ otherwise; None for maximum likelihood. Bounds are of the values. A
    shared mean is used from SHARED_FROM results for each lengthscale on; with fewer, the prior of categories is used
    instead. category: prior of ℓ/√d, or of ℓ, for a lengthscale that several columns share, because it is not a
    distance between numbers; none if ``lengthscale`` is None. mean_std: prior standard deviation of the constant mean
    m, around the average of y; None fixes m at the average. restarts: the number of random starts, besides the prior's
    center. warm: whether the last fit is a start. search: the settings of the optimizer, Newton's method or L-BFGS-B.
    evidence: the increase of log p(y | X, θ) + log p(ℓ, σ_f²) by inferred noise from which on ``noise="auto"`` infers
        noise; four times as much if a rougher kernel would be better still.
    """

    lengthscale: LogNormal | None = LogNormal(math.log(0.5), 0.5, shared=1.0)
    category: LogNormal = LogNormal(math.log(0.5), 0.5)
    signal: LogNormal | None = LogNormal(0.0, 2.0)
    noise: LogNormal | None = LogNormal(-5.0, 1.0)
    lengthscale_bounds: tuple[float, float] = (1e-2, 1e2)
    signal_bounds: tuple[float, float] = (1e-2, 1e3)
    noise_bounds: tuple[float, float] = (1e-6, 1.0)
    restarts: int = 0
    warm: bool = True
    scaled: bool = True
    mean_std: float | None = 1.0
    search: newton.Settings | lbfgs.Settings = field(default_factory=newton.Settings)
    evidence: float = 5.0


DEFAULT = Preset()

CAUTIOUS = 20.0
"""The ``evidence`` for a prior that keeps lengthscales long, under which rough results look like noise sooner."""

SHARED, SEPARATE = "shared", "separate"
PRIORS = {AUTO: DEFAULT, SHARED: DEFAULT, SEPARATE: Preset(lengthscale=DEFAULT.category, evidence=CAUTIOUS)}
"""Presets by the name of their prior of lengthscales."""


def prior_for(prior: str, finite: bool) -> str:
    """The prior for "auto": lengthscales share a mean unless the space is ``finite``, where this brought no gain
    (benchmarks/results/default.md)."""
    return prior if prior != AUTO else SEPARATE if finite else SHARED


def fit(
    X: Array,
    y: Array,
    kernel: str,
    noise: float | str,
    preset: Preset,
    rng: np.random.Generator,
    previous: Hyperparameters | None,
    seen: int = 0,
    known: Array | None = None,
    groups: tuple[int, ...] | None = None,
    likelihood: LikelihoodOf = log_likelihood,
) -> Hyperparameters:
    """Fit hyperparameters to standardized ``y`` (n,) at ``X`` (n, d): the best of a few starts, one of them at the last
    fit.

    ``seen`` is the number of results of the last fit; ``known`` is D, or None. Columns of the same group in ``groups``
    share a lengthscale. ``likelihood`` may be computed on another device. ``noise`` is σ_n², or "infer", or "auto",
    which chooses between no noise and inferred noise: by points that were evaluated more than once
    (:func:`~believer.surrogates.gp_noise.by_replicates`), and otherwise by the evidence, which noise must increase by
    more than ``preset.evidence``. With more than ``CENTER_UP_TO`` data, this is decided anew only when they have grown
    by a quarter.
    """
    n, d = X.shape
    if previous is not None and (not preset.warm or len(previous.lengthscales) != d):
        previous = None
    kind, grown = noise, n <= CENTER_UP_TO or quarters(n) != quarters(seen)
    if noise == AUTO:
        exact = slice(None) if known is None else known <= 0.0  # others differ for a known reason
        group = replicates(X[exact])
        kind = AUTO if group is None else gp_noise.by_replicates(group, y[exact])
        if kind == AUTO and previous is not None and not grown:
            kind = INFER if previous.noise > gp_noise.EXACT else gp_noise.EXACT
    subset = None
    if n > SUBSET_ABOVE:
        subset = SUBSET_ABOVE
        rows = np.sort(rng.permutation(n)[:subset])
        X, y, known = X[rows], y[rows], None if known is None else known[rows]
    tied, first = _tied(groups, d)
    warm_only = n > CENTER_AT_TIMES_UP_TO or not grown
    shared = known is None and bool(np.ptp(y))
    if n < SHARED_FROM * len(first) and preset.lengthscale is not None and preset.lengthscale.shared:
        preset = replace(preset, lengthscale=preset.category, evidence=CAUTIOUS)
    task = _FitTask(kernel, X, y, known, preset, tied, first, warm_only, shared, likelihood)
    last = () if previous is None else (previous,)
    if kind != AUTO:
        return replace(_top(task, kind, last, rng), subset=subset)
    return replace(_decided(task, last, rng), subset=subset)


def _decided(task: _FitTask, last: tuple[Hyperparameters, ...], rng: np.random.Generator) -> Hyperparameters:
    """The better of a fit without noise and one with inferred noise, which must be better by a margin.

    The second fit is made only if there is a sign of noise: adding noise to the first fit costs little evidence, or the
    ``last`` fit had noise. A function that is rougher than the kernel looks noisy, too; the margin is then larger.
    """
    exact = _top(task, gp_noise.EXACT, last, rng)
    evidence, noisy_last = _evidence(task, exact), tuple(old for old in last if old.noise > gp_noise.EXACT)
    if not noisy_last and _evidence(task, replace(exact, noise=gp_noise.TRIED)) < evidence - gp_noise.CHEAP:
        return exact
    noisy = _top(task, INFER, noisy_last, rng)
    gain, needed = _evidence(task, noisy, True) - evidence, task.preset.evidence
    if needed < gain <= gp_noise.IF_ROUGH * needed and _is_rough(task, noisy, rng):
        needed *= gp_noise.IF_ROUGH
    return noisy if gain > needed else exact


def _is_rough(task: _FitTask, noisy: Hyperparameters, rng: np.random.Generator) -> bool:
    """Whether a rougher kernel has more evidence, at its own best noise, so that the apparent noise may be
    structure."""
    if task.kernel not in gp_noise.ROUGHER:
        return False
    other = replace(task, kernel=gp_noise.ROUGHER[task.kernel])
    return _evidence(other, _top(other, INFER, (noisy,), rng), True) > _evidence(task, noisy, True) + gp_noise.ROUGH


@dataclass(frozen=True, slots=True, eq=False)
class _FitTask:
    """The hyperparameters to be fitted, and how.

    ``tied`` and ``first`` as :func:`_tied` gives them; ``warm_only`` leaves out every start but those at earlier fits;
    ``shared`` as in :func:`_prior`, of a fit without noise.
    """

    kernel: str
    X: Array
    y: Array
    known: Array | None
    preset: Preset
    tied: IntArray | None
    first: IntArray
    warm_only: bool
    shared: bool
    likelihood: LikelihoodOf


def _top(
    task: _FitTask, noise: float | str, earlier: tuple[Hyperparameters, ...], rng: np.random.Generator
) -> Hyperparameters:
    """The best fit from a few starts, which include the ``earlier`` hyperparameters."""
    preset = task.preset
    fixed = None if isinstance(noise, str) else max(float(noise), NOISE_FLOOR)
    tied, s = task.tied, len(task.first)
    shared = task.shared and fixed is not None and fixed <= gp_noise.TRIED
    prior = _prior(preset, s, fixed is None, tied, shared)
    lower, upper = np.log(_bounds(preset, s, fixed is None))
    starts = _starts(preset, prior, lower, upper, rng, earlier, task.warm_only, task.first)
    theta, mean = _search(task, fixed, prior, starts, lower, upper)
    return Hyperparameters(
        kernel=task.kernel,
        lengthscales=frozen(np.exp(theta[:s] if tied is None else theta[tied])),
        signal=float(np.exp(theta[s])),
        noise=float(np.exp(theta[s + 1])) if fixed is None else fixed,
        mean=mean,
    )


def _tied(groups: tuple[int, ...] | None, d: int) -> tuple[IntArray | None, IntArray]:
    """The number of each column's lengthscale in θ (d,), None if each has its own; and the first column of each
    lengthscale (s,)."""
    if groups is None:
        return None, np.arange(d)
    tied = np.array(groups, dtype=np.intp)
    numbers, first = np.unique(tied, return_index=True)
    if len(groups) != d or not np.array_equal(numbers, np.arange(len(numbers))):
        raise InvalidInput(f"groups must be {d} whole numbers, one for each column, from 0 on; got {shown(groups)}.")
    return (tied if len(first) < d else None), first


def _evidence(task: _FitTask, at: Hyperparameters, noisy: bool = False) -> float:
    """log p(y | X, θ) + log p(ℓ, σ_f²), up to a constant; ``noisy``: under the prior of fits that infer noise."""
    theta = np.log([*at.lengthscales[task.first], at.signal])
    prior = _prior(task.preset, len(task.first), False, task.tied, task.shared and not noisy)
    every = np.log([*at.lengthscales, at.signal])
    found = task.likelihood(task.kernel, task.X, task.y, every, at.noise, task.preset.mean_std, task.known)
    return found.value - prior.nats(theta)[0]


def quarters(n: int) -> int:
    """The number of times that 1 must grow by a quarter to reach ``n``; -1 for n = 0."""
    return int(math.log(n) / math.log(1.25)) if n else -1


def _search(
    task: _FitTask, noise: float | None, prior: _Prior, starts: Array, lower: Array, upper: Array
) -> tuple[Array, float]:
    """θ (p,) at the best of the maxima reached from ``starts`` (s, p), and the constant mean there."""
    X, y, known, preset, tied = task.X, task.y, task.known, task.preset, task.tied
    native = backend.native if task.likelihood is log_likelihood else None
    if native is not None:
        target = native.HyperPosterior(
            native.KERNELS[task.kernel],
            packed(X),
            packed(y),
            math.nan if noise is None else noise,
            math.nan if preset.mean_std is None else preset.mean_std,
            prior.center,
            prior.precision,
            known,
            tied,
        )
        if isinstance(preset.search, newton.Settings):
            return target.newton(starts, lower, upper, preset.search)
        return target.lbfgs(starts, lower, upper, preset.search)
    means: dict[bytes, float] = {}

    def nats(theta: Array) -> tuple[float, Array, Array]:
        at = task.likelihood(task.kernel, X, y, theta, noise, preset.mean_std, known, tied)
        means[theta.tobytes()] = at.mean
        cost, slope = prior.nats(theta)
        return cost - at.value, slope - at.gradient, at.information + prior.precision

    if isinstance(preset.search, newton.Settings):
        ends = [newton.minimize(nats, start, lower, upper, preset.search) for start in starts]
        theta = min(ends, key=lambda end: end[1])[0]
        return theta, means[theta.tobytes()]

    def per_observation(thetas: Array) -> tuple[Array, Array]:
        # The scale makes steps and tolerances mean the same for ten results and for a thousand.
        values, gradients, _ = zip(*map(nats, thetas), strict=True)
        return np.array(values) / len(y), np.array(gradients) / len(y)

    found = lbfgs.minimize(per_observation, starts, lower, upper, preset.search)
    theta = found.X[int(np.argmin(found.f))]
    return theta, means[theta.tobytes()]


def _bounds(preset: Preset, s: int, infer: bool) -> tuple[Array, Array]:
    rows = [preset.lengthscale_bounds] * s + [preset.signal_bounds] + [preset.noise_bounds] * infer
    table = np.array(rows)
    return table[:, 0], table[:, 1]


@dataclass(frozen=True, slots=True, eq=False)
class _Prior:
    """A normal on θ: center (p,) and precision (p, p), zero where there is no prior."""

    center: Array
    precision: Array

    def nats(self, theta: Array) -> tuple[float, Array]:
        """-log p(θ), up to a constant, and its gradient (p,)."""
        slope = self.precision @ (theta - self.center)
        return 0.5 * float(slope @ (theta - self.center)), slope


def _prior(preset: Preset, s: int, infer: bool, tied: IntArray | None = None, shared: bool = True) -> _Prior:
    """The prior of θ. A shared mean of log ℓ that is itself N(c, τ²) gives all pairs of log ℓ the covariance τ².

    Without ``shared``, numbers also have the prior of categories. The mean is not shared if there is noise, because
    short lengthscales would explain it away, or if all results are equal, because their likelihood grows with the
    lengthscales without bound.
    """
    columns = np.ones(s) if tied is None else np.bincount(tied)
    center, weight = list[float](), list[float]()
    common, usual = list[float](), preset.lengthscale
    if usual is not None and usual.shared and not shared:
        usual = preset.category
    parts = [(usual, 0.0)] * s + [(preset.signal, 0.0)] + [(preset.noise, float(np.log(1e-3)))] * infer
    for place, (normal, default) in enumerate(parts):
        shift = 0.0
        if place < s and preset.scaled:
            shift = 0.5 * float(np.log(columns.sum() if columns[place] > 1 else s))
        if place < s and columns[place] > 1 and normal is not None:
            normal = preset.category
        common.append(0.0 if normal is None else normal.shared)
        center.append(default if normal is None else normal.mean + shift)
        weight.append(0.0 if normal is None else 1.0 / normal.std)
    # The inverse of diag(std²) + τ τᵀ, by Sherman and Morrison.
    inverse = np.square(weight)
    pull = inverse * np.array(common)
    precision = -np.multiply.outer(pull, pull) / (1.0 + float(pull @ common))
    precision.flat[:: len(pull) + 1] += inverse
    return _Prior(np.array(center), precision)


def _starts(
    preset: Preset,
    prior: _Prior,
    lower: Array,
    upper: Array,
    rng: np.random.Generator,
    earlier: tuple[Hyperparameters, ...],
    warm_only: bool,
    first: IntArray,
) -> Array:
    """The ``earlier`` hyperparameters, the prior's center, ``restarts`` random points in the bounds.

    With many data the likelihood is peaked and the last fit is near its maximum, so that these starts are enough. If
    columns share a lengthscale, it is that of the ``first`` column in an earlier fit.
    """
    rows = [prior.center]
    if preset.restarts:
        rows.extend(lower + latin_hypercube(preset.restarts, len(lower), rng) * (upper - lower))
    warm = [np.log([*old.lengthscales[first], old.signal, old.noise])[: len(lower)] for old in earlier]
    starts: Array = np.clip(np.array(warm if warm and warm_only else [*warm, *rows]), lower, upper)
    return starts
