"""Topics of cells of kind "theory": the effect of a lie on EI around it, compared with what the paper prints.

======  =====================================================================  ======
symbol  meaning                                                                shape
======  =====================================================================  ======
x*      the point that is lied about, the maximizer of EI                      (d,)
f⁺      the least real result; lies do not change it
z       (f⁺ - μ)/σ before the lie                                              (m,)
ρ       σ'/σ, latent std after the lie over that before                        (m,)
ψ       EI after a believed value over EI before                               (m,)
======  =====================================================================  ======

Situations have two columns, the squared exponential kernel that the paper's formulas are for, and σ_n² = 1e-6 σ_f².
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from believer.acquisitions import EI
from believer.arrays import Array, BoolArray
from believer.batch import Believe, Fantasy, Lie
from believer.surrogates import GPModel
from believer_paper import theory
from believer_paper.cells.loops import LIES
from believer_paper.theory import Family, Situation
from believer_paper.theory.situation import before, lie_about, strongest

_NOISE = 1e-6
_SCENES = 25
_POINTS = 12
_LIES: dict[str, Lie] = {**LIES, "fantasy": Fantasy()}
_TOUCHED = 0.99
_SMALL_LOSS, _SMALL_SHIFT = 0.01, 0.03
_FELT = 1e-9
_RANKED = 5


@dataclass(frozen=True, slots=True, eq=False)
class _Shape:
    """A situation with its Gaussian process, x* (d,), and points (m, d): half anywhere, half within about ℓ of x*."""

    situation: Situation
    model: GPModel
    x: Array
    at: Array

    @property
    def incumbent(self) -> float:
        return float(self.situation.data.y.min())


def _scenes(rng: np.random.Generator) -> Iterator[_Shape]:
    for _ in range(_SCENES):
        situation = Family(EI(), Believe(), "data", _NOISE, "se", 2).draw(rng)
        model = situation.model
        assert isinstance(model, GPModel)
        x = strongest(before(situation), situation.box, situation.data.X, rng).x
        near = x + model.lengthscales * rng.standard_normal((_POINTS, 2))
        yield _Shape(situation, model, x, np.vstack([rng.random((_POINTS, 2)), np.clip(near, 0.0, 1.0)]))


def penalties(rng: np.random.Generator) -> dict[str, Any]:
    """Eq. 4: ``{"z", "std_ratio", "exact", "printed"}``, lists with one random point of each of 25 situations.

    Only points at which the lie lowered σ by 1 % or more count. exact: ψ. printed: ψ as printed, with the prior kernel;
    None if the printed form is the square root of a negative number.
    """
    rows = []
    for scene in _scenes(rng):
        found = theory.penalty(scene.model, scene.x, scene.at, scene.incumbent)
        for i in _one(found.std_ratio <= _TOUCHED, rng):
            rows.append((found.z[i], found.std_ratio[i], found.exact[i], found.printed[i]))
    return _columns(rows, ("z", "std_ratio", "exact", "printed"))


def expansions(rng: np.random.Generator) -> dict[str, Any]:
    """Eq. 17: ``{"mean_term": {lie: [...]}, "variance_term": {lie: [...]}, "error": [...]}``, over 25 situations.

    The first-order terms at x* itself, over σ(x*), for each lie except fantasies; a negative mean term suppresses EI.
    error: |first order - exact| over the sum of the sizes of both terms, at one random point for each situation and
    lie, of those where the lie takes at most 1 % of the variance and moves the mean by at most 3 % of σ.
    """
    means: dict[str, list[float]] = {name: [] for name in LIES}
    variances: dict[str, list[float]] = {name: [] for name in LIES}
    errors = []
    for scene in _scenes(rng):
        std = float(scene.model.predict(scene.x[None, :]).std[0])
        for name in LIES:
            lie = _LIES[name].value(scene.model, scene.x, scene.situation.data, 1.0, rng)
            at = np.vstack([scene.at, scene.x])
            update = theory.rank_one(scene.model, scene.x, lie, at)
            change = theory.improvement_change(scene.model, scene.x, lie, at, scene.incumbent)
            means[name].append(float(change.mean_term[-1]) / std)
            variances[name].append(float(change.variance_term[-1]) / std)
            size = np.abs(change.mean_term) + np.abs(change.variance_term)
            shift = np.abs(update.mean_change) / np.sqrt(update.variance)
            small = (update.fraction <= _SMALL_LOSS) & (shift <= _SMALL_SHIFT) & (size > _FELT)
            errors += [abs(float(change.first_order[i] - change.exact[i])) / float(size[i]) for i in _one(small, rng)]
    return {"mean_term": means, "variance_term": variances, "error": errors}


def log_penalties(rng: np.random.Generator) -> dict[str, Any]:
    """Appendix C.5: ``{"printed", "std", "improvement", "determinant"}``, lists over points as in :func:`penalties`.

    log ψ as printed, of σ (log ρ), of EI, and half the pair's log-determinant over its diagonal. ``"ranks"`` is the
    rank correlation of the last two, for each situation with five or more such points.
    """
    rows, ranks = [], []
    for scene in _scenes(rng):
        found = theory.log_penalty(scene.model, scene.x, scene.at, scene.incumbent)
        touched = found.std <= np.log(_TOUCHED)
        if touched.sum() >= _RANKED:
            ranks.append(rank_correlation(found.improvement[touched], found.determinant[touched]))
        for i in _one(touched, rng):
            rows.append((found.printed[i], found.std[i], found.improvement[i], found.determinant[i]))
    return {**_columns(rows, ("printed", "std", "improvement", "determinant")), "ranks": ranks}


def rank_correlation(a: Array, b: Array) -> float:
    """Spearman's rank correlation of ``a`` and ``b`` (m,) without ties."""
    first, second = (np.argsort(np.argsort(values)) for values in (a, b))
    return float(np.corrcoef(first, second)[0, 1])


def geometry(rng: np.random.Generator) -> dict[str, Any]:
    """Section 3.7: five lies at one x*, beside KB's: ``{"std_gap": {lie: [...]}, "overlap": ..., "next_gap": ...}``.

    One entry for each of 25 situations. std_gap: largest difference of σ' from that after KB, over σ_f. overlap: points
    where EI fell by half under both lies, over those where it did so under either (1 where there are none). next_gap:
    distance between the maximizers of EI after either lie, in lengthscales.
    """
    others = [name for name in _LIES if name != "kb"]
    found: dict[str, dict[str, list[float]]] = {
        what: {name: [] for name in others} for what in ("std_gap", "overlap", "next_gap")
    }
    for scene in _scenes(rng):
        first = before(scene.situation).value(scene.at)
        stds, zones, nexts = {}, {}, {}
        for name, lie in _LIES.items():
            bound = lie_about(replace(scene.situation, lie=lie), scene.x, rng).bound
            stds[name], zones[name] = bound.model.predict(scene.at).std, bound.value(scene.at) <= 0.5 * first
            nexts[name] = strongest(bound, scene.situation.box, np.vstack([scene.x, scene.situation.data.X]), rng).x
        for name in others:
            gap = (nexts[name] - nexts["kb"]) / scene.model.lengthscales
            found["std_gap"][name].append(float(np.abs(stds[name] - stds["kb"]).max()))
            found["overlap"][name].append(_overlap(zones[name], zones["kb"]))
            found["next_gap"][name].append(float(np.linalg.norm(gap)))
    return found


def _one(kept: BoolArray, rng: np.random.Generator) -> list[int]:
    """The position of a random one of those that are ``kept`` (m,); empty if none is kept."""
    places = np.flatnonzero(kept)
    return [int(rng.choice(places))] if len(places) else []


def _overlap(a: BoolArray, b: BoolArray) -> float:
    either = int((a | b).sum())
    return int((a & b).sum()) / either if either else 1.0


def _columns(rows: Sequence[tuple[float, ...]], names: tuple[str, ...]) -> dict[str, list[float | None]]:
    """The columns of ``rows`` as lists of plain JSON, by name; None in place of numbers that are not finite."""
    return {name: [float(row[j]) if np.isfinite(row[j]) else None for row in rows] for j, name in enumerate(names)}
