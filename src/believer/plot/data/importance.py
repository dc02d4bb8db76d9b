"""The importance of each parameter for an outcome, with intervals.

======  ==========================================================================================
symbol  meaning
======  ==========================================================================================
ℓ_j     lengthscale of parameter j, as a share of its range: the shortest of its columns
L(ℓ_j)  log likelihood of the results with another ℓ_j, all else as it was fitted
e_j     mean squared error of the model if the values of parameter j are shuffled among trials
======  ==========================================================================================

By lengthscales the importance of j is (1/ℓ_j) / Σ_i (1/ℓ_i): a parameter along which the outcome varies quickly
matters. Its interval is that of all ℓ_j with L(ℓ_j) ≥ L - 1.92, a 95 % likelihood interval. By permutation it is
(e_j - e) / Var(y), with e the error without a shuffle: 0 for a parameter that the model does not use. Its interval
contains 95 % of the shuffles. With more than 600 results there are no intervals of lengthscales, and only some of the
results are shuffled.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from believer.arrays import Array, IntArray, shown, whole
from believer.capabilities import has
from believer.errors import InvalidInput, MissingCapability
from believer.plot.data.source import Source, StudyLike, study_of
from believer.space.described import IDENTITY
from believer.surrogates.protocols import Rescalable, Scaled

METHODS = ("lengthscales", "permutation")
DROP = 1.9207294103470494
"""Half of the 95 % quantile of χ² with one degree of freedom, by which the log likelihood may drop."""

MAX_RESULTS = 600
"""With more results than this, likelihoods take too long for intervals of lengthscales."""

_WORK = 5e10
"""The bound of the cost of permutation importance: of many results, only some are shuffled and predicted."""

_MIN_POINTS, _MAX_POINTS, _RELEVANCE_WORK = 16, 256, 2e9
"""The bounds of the number of points and of the cost of predictions, for the order of parameters by importance."""

_NOTHING = 1e-6
"""A smaller share of the variance counts as zero."""

_WIDEST = 4.0
"""The largest half-width of an interval of log ℓ that is searched."""


@dataclass(frozen=True, slots=True, eq=False)
class Importance:
    """The importance of p parameters, largest first.

    Attributes
    ----------
    label : the name of the outcome, with its units.
    method : "lengthscales" or "permutation".
    measure : the description of the numbers, for an axis.
    names : the names of the parameters.
    values : the importance of each parameter, (p,).
    low, high : the 95 % interval, (p,) each; NaN if there is none.
    by_descriptors : for each parameter with descriptors, the share of its importance that is due to them and not to its
        identity.
    """

    label: str
    method: str
    measure: str
    names: tuple[str, ...]
    values: Array
    low: Array
    high: Array
    by_descriptors: dict[str, float] = field(default_factory=dict)

    @property
    def titles(self) -> tuple[str, ...]:
        """The names, with the share of descriptors: "solvent (80 % by descriptors)"."""
        said = {name: f"{name} ({share:.0%} by descriptors)" for name, share in self.by_descriptors.items()}
        return tuple(said.get(name, name) for name in self.names)


def importance(
    study: StudyLike, *, outcome: str | None = None, method: str | None = None, repeats: int = 50
) -> Importance:
    """The importance of each parameter. The arguments are those of :func:`believer.plot.importance`."""
    source = study_of(study)
    name = source.chosen(outcome)
    if method is not None and method not in METHODS:
        raise InvalidInput(f"method must be one of {', '.join(METHODS)}; got {shown(method)}.")
    scales = lengthscales_of(source, name)
    if method == "lengthscales" and scales is None:
        model = type(source.learned(name).fit).__name__
        raise MissingCapability(f'{model} has no lengthscales; use method="permutation".')
    if scales is not None and method != "permutation":
        method, measure, found = "lengthscales", "share of all inverse lengthscales", _by_lengthscales(source, name)
    else:
        method, measure = "permutation", "error when shuffled / variance of the results"
        found = _by_permutation(source, name, whole(repeats, "repeats", 2))
    values, low, high = found
    order = np.argsort(-values, kind="stable")
    names = tuple(source.axes[i].name for i in order)
    label, described = source.label(name), by_descriptors(source, name) if method == "lengthscales" else {}
    return Importance(label, method, measure, names, values[order], low[order], high[order], described)


def by_descriptors(source: Source, outcome: str) -> dict[str, float]:
    """For each parameter with descriptors, the share of the distance between two values that is due to descriptors."""
    model = source.learned(outcome).fit
    shares = source.space.descriptor_shares(model.lengthscales) if has(model, Scaled) else {}
    return {name: 1.0 - of[IDENTITY] for name, of in shares.items()}


def lengthscales_of(source: Source, outcome: str) -> Array | None:
    """The shortest lengthscale of each parameter, (p,); infinite for a parameter with one value, and None if the model
    has none."""
    model = source.learned(outcome).fit
    if not has(model, Scaled):
        return None
    scales = model.lengthscales
    return np.array([np.inf if a.is_constant else float(scales[a.start : a.stop].min()) for a in source.axes])


def relevance_of(source: Source, outcome: str) -> Array:
    """The importance of each parameter for the model, (p,): the total effects on its mean over the space.

    T_j = E[(μ(a) - μ(a with b_j))²] / 2 Var(μ), for points a and b of the space ([Jansen1999]). A parameter on which
    the results do not depend has almost none, whatever its lengthscale.
    """
    learned, rng = source.learned(outcome), source.cache.randomness(0, "relevance")
    n, p = len(learned.ids), len(source.axes)
    count = int(np.clip(_RELEVANCE_WORK / (p * n**2), _MIN_POINTS, _MAX_POINTS))
    A, B = (source.cache.region.sample(count, rng) for _ in range(2))
    m = min(len(A), len(B))  # if points of the region are hard to find, there are fewer than requested
    if m < 2:
        return np.zeros(p)
    # Points of a sample are evenly spread; in the same order, the two samples would not be independent.
    A, B = A[:m], B[rng.permutation(len(B))[:m]]
    at, moved = learned.fit.predict(A).mean, np.zeros(p)
    for j, axis in enumerate(source.axes):
        if not axis.is_constant:
            mixed = A.copy()
            mixed[:, axis.start : axis.stop] = B[:, axis.start : axis.stop]
            moved[j] = 0.5 * ((learned.fit.predict(mixed).mean - at) ** 2).mean()
    share: Array = moved / (float(at.var()) or 1.0)
    return np.where((share > _NOTHING) & (moved > _NOTHING * learned.data.y.var()), share, 0.0)


def _by_lengthscales(source: Source, outcome: str) -> tuple[Array, Array, Array]:
    scales, model = lengthscales_of(source, outcome), source.learned(outcome).fit
    assert scales is not None
    inverse = np.where(np.isfinite(scales), 1.0 / scales, 0.0)
    total = float(inverse.sum()) or 1.0
    low, high = np.full(len(scales), np.nan), np.full(len(scales), np.nan)
    few = len(source.learned(outcome).ids) <= MAX_RESULTS
    for j, axis in enumerate(source.axes):
        if few and has(model, Rescalable) and not axis.is_constant:
            longer, shorter = (_factor(model, axis.start, axis.stop, side) for side in (1.0, -1.0))
            rest = total - inverse[j]
            # The share of j with ℓ_j times a factor, the others as they are.
            low[j], high[j] = (inverse[j] / f / (inverse[j] / f + rest) for f in (longer, shorter))
    return inverse / total, low, high


def _factor(model: Rescalable, start: int, stop: int, side: float) -> float:
    """The factor by which a lengthscale can grow (1) or shrink (-1) until the log likelihood drops by DROP.  O(N³)."""
    scales, best = model.lengthscales, model.log_evidence()

    def drops(step: float) -> bool:
        changed = scales.copy()
        changed[start:stop] *= np.exp(side * step)
        return best - model.with_lengthscales(changed).log_evidence() > DROP

    low, high = 0.0, _WIDEST
    if not drops(high):
        return float(np.exp(side * high))
    for _ in range(10):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if drops(middle) else (middle, high)
    return float(np.exp(side * high))


def _some(n: int, predictions: int) -> IntArray:
    """Evenly spread rows of n results: all of them, unless the predictions would take too long."""
    most = max(40, int(_WORK / (predictions * n**2)))
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.int64))


def _by_permutation(source: Source, outcome: str, repeats: int) -> tuple[Array, Array, Array]:
    learned, rng = source.learned(outcome), source.cache.randomness(0, "permutation")
    rows = _some(len(learned.ids), repeats * len(source.axes))
    X, y = learned.data.X[rows], learned.data.y[rows]
    spread = float(y.var()) or 1.0
    known = float(((learned.fit.predict(X).mean - y) ** 2).mean())
    found = np.zeros((repeats, len(source.axes)))
    for r in range(repeats):
        order = rng.permutation(len(X))
        for j, axis in enumerate(source.axes):
            shuffled = X.copy()
            shuffled[:, axis.start : axis.stop] = X[order, axis.start : axis.stop]
            found[r, j] = (((learned.fit.predict(shuffled).mean - y) ** 2).mean() - known) / spread
    low, high = np.quantile(found, (0.025, 0.975), axis=0)
    return found.mean(axis=0), low, high
