"""The verdict on a batch, before it is evaluated: whether it may improve, and which points are nearly the same."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from html import escape

import numpy as np

from believer.arrays import Array, read_only, rounded
from believer.batch.gain import ENOUGH, Gain
from believer.batch.learned import is_noisy
from believer.capabilities import has
from believer.maximize.objective import Spacing
from believer.space.region import Region
from believer.space.units import amount
from believer.surrogates.protocols import Model, Scaled

NEAR_IN_CUBE, NEAR_IN_LENGTHSCALES, _SHARE_OF_ROOM = 1e-3, 0.1, 0.25
"""Two points are nearly the same if they are less than ``NEAR_IN_CUBE`` apart, or ``NEAR_IN_LENGTHSCALES`` if the model
has lengthscales, and less than ``_SHARE_OF_ROOM`` times the radius that each of q points has."""

_RANDOM_PAIRS = 512
_WORDS = {"likely": "likely to", "possible": "may", "unlikely": "unlikely to"}


@dataclass(frozen=True, slots=True)
class Verdict:
    """The expected gain of a batch, and distances within it, compared with random points.

    Distances are in the unit cube and in lengthscales. Entries are None if they are undefined: distances in a batch of
    one, and lengthscales of a model that has none.

    Attributes
    ----------
    size : q, the number of points.
    min_distance, mean_distance : the distances between two points, in the unit cube.
    min_lengthscales, mean_lengthscales : the same in the model's lengthscales.
    random_pair_distance : the mean distance of two uniform points of the region.
    near_duplicates : pairs of positions in the batch that are nearly the same (:func:`nearness`).
    gain : the expected gain of the points, singly and together; None without a model or without joint covariances.
    sentence : the verdict in words.
    units : the units of the gain; "" if none are given, and for several objectives.
    """

    size: int
    min_distance: float | None
    mean_distance: float | None
    min_lengthscales: float | None
    mean_lengthscales: float | None
    random_pair_distance: float
    near_duplicates: tuple[tuple[int, int], ...]
    gain: Gain | None
    sentence: str
    units: str = ""

    def __str__(self) -> str:
        return self.sentence

    def __repr__(self) -> str:
        near = len(self.near_duplicates)
        said = [f"{self.size} point{'' if self.size == 1 else 's'}"]
        said += [f"{near} pair{'' if near == 1 else 's'} nearly the same"] if self.size > 1 else []
        if self.gain is not None:
            said.append(f"expected gain {amount(rounded(self.gain.together, 2), self.units)}{self.gain.of}")
            said.append(f"chance of one {self.gain.chance:.0%}")
        return f"Verdict({', '.join(said)})"

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.sentence)}</p>"


def random_pair_distance(region: Region) -> float:
    """Mean distance of two uniform points of the region, from 512 fixed draws."""
    one, two = _pairs(region.dim)
    gaps = region.spread(one) - region.spread(two)
    return float(np.sqrt((gaps**2).sum(axis=1)).mean())


@lru_cache(maxsize=8)
def _pairs(d: int) -> tuple[Array, Array]:
    draws = np.random.default_rng(0).random((2, _RANDOM_PAIRS, d))
    return read_only(draws[0]), read_only(draws[1])


def nearness(region: Region, q: int, model: Model | None) -> Spacing:
    """The distance below which points are nearly the same, as a :class:`Spacing` without points.

    This is a tenth of a lengthscale, or 1e-3 in the cube. It is at most a quarter of the radius of a ball with 1/q of
    the cube's volume, where k is the number of the region's degrees of freedom, because that is the room of each of
    ``q`` points.
    """
    k = max(region.freedom, 1)
    room = math.exp((math.lgamma(0.5 * k + 1.0) - math.log(max(q, 1))) / k) / math.sqrt(math.pi)
    nothing, reach = np.zeros((0, region.dim)), _SHARE_OF_ROOM * room
    if not has(model, Scaled):
        return Spacing(nothing, np.ones(region.dim), NEAR_IN_CUBE, reach)
    # A lengthscale counts as 1e-2 or more, so that a tenth of it is 1e-3 in the cube or more.
    scale = np.maximum(model.lengthscales, NEAR_IN_CUBE / NEAR_IN_LENGTHSCALES)
    return Spacing(nothing, scale, NEAR_IN_LENGTHSCALES, reach)


def judge(
    X: Array,
    region: Region,
    model: Model | None,
    n_pending: int = 0,
    gain: Gain | None = None,
    units: str = "",
    *,
    random_pair: float | None = None,
) -> Verdict:
    """The verdict on the batch ``X`` (q, d), with ``n_pending`` other points pending.

    ``model`` is None if no model chose a point of the batch, as before the first fit; ``gain`` is the gain that it
    expects of the batch, in ``units``. ``random_pair`` is the :func:`random_pair_distance` of the region, if it is
    known.
    """
    q = len(X)
    rows, columns = np.triu_indices(q, 1)
    gaps = X[rows] - X[columns]
    distances = np.sqrt((gaps**2).sum(axis=1))
    scaled = None
    if has(model, Scaled):
        scaled = np.sqrt(((gaps / model.lengthscales) ** 2).sum(axis=1))
    close = nearness(region, q + n_pending, model).close(gaps)
    pairs = tuple((int(i), int(j)) for i, j in zip(rows[close], columns[close], strict=True))
    random_pair = random_pair_distance(region) if random_pair is None else random_pair
    least, mean = (float(distances.min()), float(distances.mean())) if q > 1 else (None, None)
    needed = gain is not None and gain.matters and gain.slots == q
    near = "" if mean is None else "; " + _near(len(pairs), model is not None and is_noisy(model), needed)
    return Verdict(
        size=q,
        min_distance=least,
        mean_distance=mean,
        min_lengthscales=float(scaled.min()) if scaled is not None and q > 1 else None,
        mean_lengthscales=float(scaled.mean()) if scaled is not None and q > 1 else None,
        random_pair_distance=random_pair,
        near_duplicates=pairs,
        gain=gain,
        sentence=(_apart(q, mean, random_pair) if gain is None else _worth(q, gain, units)) + near + ".",
        units=units,
    )


def _apart(q: int, mean: float | None, random_pair: float) -> str:
    if mean is None:
        return "1 point: nothing to compare"
    ratio = mean / random_pair if random_pair else 0.0
    return f"{q} points, on average {mean:.2f} apart ({ratio:.0%} of random points)"


def _worth(q: int, gain: Gain, units: str) -> str:
    """The outlook in words, then the order of magnitude of the expected gain."""
    points = f"{q} point{'s' if q > 1 else ''}"
    points += f" in addition to {gain.n_pending} pending" if gain.n_pending else ""
    unit = f" {units}" if units else ""
    more = " more" if gain.n_pending else ""
    if gain.outlook == "little":
        least = f"{rounded(gain.resolution, 2)}{unit}{gain.of}"
        little = f"little{more} expected: less than {least}, the smallest improvement that matters"
        return f"{points}, {little if gain.resolution else f'nothing{more} expected'}"
    best = "further" if gain.n_pending else "on the front" if gain.of else "on the best so far"
    about = f"about {rounded(gain.together, 1)}{unit}{more}{gain.of}"
    said = f"{points}, {_WORDS[gain.outlook]} improve {best}: {about} expected"
    if q == 1:
        return said
    every = "both slots" if q == 2 else f"all {q} slots"
    slots = every if gain.slots == q else f"{gain.slots} slot{'s' if gain.slots > 1 else ''}"
    return f"{said}; {ENOUGH:.0%} of that takes {slots}"


def _near(pairs: int, noisy: bool, needed: bool) -> str:
    """``needed``: whether every point adds to the gain, so that close points are wanted."""
    if not pairs:
        return "no near-duplicates"
    same = f"{pairs} pair{'s' if pairs > 1 else ''} nearly the same"
    if noisy:
        return f"{same}: replicates, as results are noisy"
    return same if needed else f"{same}: look before you pay for both"
