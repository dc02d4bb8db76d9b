"""Cells of kind "theory": the paper's propositions in random situations, by settings["topic"].

======  ==========================================================================
symbol  meaning
======  ==========================================================================
x₁      the maximizer of the acquisition α, about which a lie is told
f⁺      incumbent: over real results ("data"), or over lies too ("believed")
κ, τ    σ²(x*) / σ_f²; the share of variance that counts as suppressed, 1/2
ℓ       lengthscale
R       the square of MQ-RBF's uncertainty; P² is the square of the power function
======  ==========================================================================

A situation is a small Gaussian process at its true hyperparameters, σ_f² = 1 (``theory.Family``), unless said
otherwise. Every function here documents its result; those of Eq. 4, Eq. 17 and appendix C.5 are in ``shapes``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice, product
from typing import Any

import numpy as np

from believer.acquisitions import EI, PI, UCB, PerPoint
from believer.arrays import Array, frozen
from believer.batch import Believe, Data
from believer.errors import InvalidInput
from believer.experiments import Cell
from believer.numerics import latin_hypercube
from believer.problems import hartmann6
from believer.surrogates import MQRBF, GPModel, Hyperparameters, posterior
from believer_paper import theory as propositions
from believer_paper.cells import shapes
from believer_paper.cells.loops import LIES
from believer_paper.setup.likelihood import PrintedGP
from believer_paper.setup.multiquadric import PrintedMQRBF
from believer_paper.theory import COUNTEREXAMPLES, Family, Guarantee, Situation, Suppression, guarantee, suppression

SMALL_NOISE, LARGE_NOISE = 1e-6, 1.0
"""σ_n² / σ_f²: the paper's, and as large as the signal."""

TAU = 0.5
_CHOICES: tuple[tuple[str, PerPoint, str], ...] = (
    ("ei", EI(), "data"),
    ("ei", EI(), "believed"),
    ("ucb", UCB(), "data"),
    ("pi", PI(), "data"),
    ("pi", PI(), "believed"),
)
_TRIES = 10
_AT_END = 1e-6
_MAXIMA, _RINGS, _RAYS = 10, 5, 12
_POINTS = 200
_CLOSE = 0.01
"""The largest relative difference of two forms of MQ-RBF's uncertainty that counts as agreement at a point."""


def steps(rng: np.random.Generator) -> dict[str, Any]:
    """Prop. 1 in 1-D: ten situations of every class of acquisition, f⁺, lie and noise.

    ``{"cases": [{acquisition, incumbent, lie, noise, tries, drops, repeats, at_ends, gaps}]}``: situations, those in
    which α fell at x₁ after the lie, those in which x₁ was still the maximizer, of these those at an end of the box,
    and the distance to the next point in lengthscales for each. If EI is zero everywhere, a repeated point means
    nothing, and the situation is drawn again.
    """
    cases = []
    for (name, acquisition, incumbent), (lie, told), noise in product(
        _CHOICES, LIES.items(), (SMALL_NOISE, LARGE_NOISE)
    ):
        family = Family(acquisition, told, incumbent, noise)
        found: list[Guarantee] = []
        while len(found) < _TRIES:
            one = guarantee(family.draw(rng), rng)
            found += [] if one.exhausted else [one]
        repeated = [one for one in found if not one.moves]
        ends = [one for one in repeated if min(one.step.x[0], 1.0 - one.step.x[0]) < _AT_END]
        case = {"acquisition": name, "incumbent": incumbent, "lie": lie, "noise": noise, "tries": len(found)}
        counts = {"repeats": len(repeated), "at_ends": len(ends), "drops": sum(o.acquisition_drops for o in found)}
        cases.append({**case, **counts, "gaps": [one.lengthscales for one in found]})
    return {"cases": cases}


def counterexamples(rng: np.random.Generator) -> dict[str, Any]:
    """The named counterexamples, with the noise that Prop. 1 asks for: ``{name: {repeated, rises, gap, noise}}``.

    repeated: x₁ is still the maximizer. rises: α rose at x₁. gap: distance to the next point, in lengthscales.
    """
    found = {}
    for name, make in COUNTEREXAMPLES.items():
        one = guarantee(_noisy(make()), rng)
        assert isinstance(one.situation.model, GPModel)
        rises = one.value_after > one.value_before and not one.acquisition_drops
        noise = one.situation.model.hyper.noise
        found[name] = {"repeated": not one.moves, "rises": bool(rises), "gap": one.lengthscales, "noise": noise}
    return found


def _noisy(situation: Situation) -> Situation:
    model = situation.model
    assert isinstance(model, GPModel)
    hyper = replace(model.hyper, noise=model.hyper.noise or SMALL_NOISE)
    return replace(situation, model=posterior(hyper, model.X, model.y, 0.0, 1.0))


def radius(rng: np.random.Generator) -> dict[str, Any]:
    """Prop. 2 where all of its assumptions but κ = 1 hold: SE, x* a maximizer of σ within the printed radius, τ = 1/2.

    ``{"radii": [{columns, kappa, printed, exact, guaranteed}]}`` in lengthscales, exact being the least over rays: ten
    maximizers on a line, and five centers of three to six data on a circle.
    """
    found = [(1, one) for one in islice(_maxima_on_a_line(rng), _MAXIMA)]
    found += [(2, one) for one in islice(_centers_of_rings(rng), _RINGS)]
    return {
        "radii": [
            {"columns": d, "kappa": one.kappa, "printed": one.printed, "exact": float(one.exact.min())}
            | {"guaranteed": one.guaranteed}
            for d, one in found
        ]
    }


def _maxima_on_a_line(rng: np.random.Generator) -> Iterator[Suppression]:
    line = np.linspace(0.0, 1.0, 501)
    while True:
        model = Family(kernel="se").draw(rng).model
        assert isinstance(model, GPModel)
        std = model.predict(line[:, None]).std
        inner = std[1:-1]
        tops = 1 + np.flatnonzero((inner >= std[:-2]) & (inner >= std[2:]) & (inner > 0.1))
        for top in tops if model.jitter == 0.0 else ():
            reach = propositions.printed_radius(min(float(std[top] ** 2), 1.0), TAU) * model.lengthscales[0]
            near = np.abs(line - line[top]) <= reach
            if reach <= line[top] <= 1.0 - reach and std[near].max() <= std[top]:
                yield suppression(model, line[[top]], TAU)


def _centers_of_rings(rng: np.random.Generator) -> Iterator[Suppression]:
    angles = 2.0 * np.pi * np.arange(_RAYS) / _RAYS
    rays = np.column_stack([np.cos(angles), np.sin(angles)])
    center = np.zeros(2)
    while True:
        count, ell = int(rng.integers(3, 7)), float(rng.uniform(0.3, 0.8))
        turns = rng.uniform(0.0, 2.0 * np.pi) + 2.0 * np.pi * np.arange(count) / count
        X = np.column_stack([np.cos(turns), np.sin(turns)])
        model = posterior(Hyperparameters("se", frozen(np.full(2, ell)), 1.0, 0.0), X, np.zeros(count), 0.0, 1.0)
        reach = propositions.printed_radius(propositions.kappa(model, center), TAU) * ell
        around = np.vstack([share * reach * rays for share in np.linspace(0.0, 1.0, 11)])
        if model.predict(around).std.argmax() == 0:
            yield suppression(model, center, TAU, rays)


def monotone(rng: np.random.Generator) -> dict[str, Any]:
    """Prop. 3: the number of times that α falls when σ is doubled at a fixed mean; means are standard normal around f⁺.

    ``{acquisition: {tries, falls, falls_below}}``: falls beyond rounding, and those of them where the mean is better
    than f⁺.
    """
    means, low = rng.standard_normal(_POINTS), np.exp(rng.uniform(np.log(0.05), np.log(5.0), _POINTS))
    acquisitions: dict[str, PerPoint] = {"ei": EI(), "ucb": UCB(), "pi": PI()}
    found = {}
    for name, acquisition in acquisitions.items():
        before, after = (acquisition.pointwise(means, std, 0.0).value for std in (low, 2.0 * low))
        falls = after - before < -1e-12 * np.maximum(np.abs(before), np.abs(after))
        better = int((falls & (means < 0.0)).sum())
        found[name] = {"tries": _POINTS, "falls": int(falls.sum()), "falls_below": better}
    return found


def believing(rng: np.random.Generator) -> dict[str, Any]:
    """Lemma 1 on a design of 20 points of Hartmann-6D, maximum likelihood: ``{"shifts": {way}, "rises": {way}}``.

    A value is believed at the maximizer of EI. The ways to update the model are conditioning, conditioning with y
    standardized again, and a refit.
    shifts: largest change of the mean at 200 points, over the range of y. rises: largest rise of σ, over itself.
    """
    recipe, data = PrintedGP(), _hartmann(rng, 20)
    situation = Situation(recipe.fit(data, rng), EI(), Believe(), data)
    x = guarantee(situation, rng).step.x
    found = propositions.believe(recipe, data, x, rng.random((_POINTS, 6)), rng)
    return {"shifts": found.shifts, "rises": found.rises}


def power(rng: np.random.Generator) -> dict[str, Any]:
    """Eq. 18 on a design of 30 points of Hartmann-6D, at 200 points: is MQ-RBF's σ̂ the power function?

    ``{form: {points, negative, rises, at_lie}}`` for the forms "printed" (ridge 1e-4), "exact" (as printed, no ridge)
    and "power" (sign turned and a constant added, ridge 1e-4). negative: points where R < 0, so that no root of it is
    the power function. rises: points where σ̂ is larger (by 1e-6 of itself) after a lie. at_lie: σ̂ at the lie's point
    over what it was. And ``"shape": {close, rank}``, |R|^½ beside the power function, both without a ridge: at how many
    of the points they agree to 1 %, and the rank correlation over all.
    """
    data, at, x = _hartmann(rng, 30), rng.random((_POINTS, 6)), rng.random((1, 6))
    recipes: dict[str, PrintedMQRBF | MQRBF] = {
        "printed": PrintedMQRBF(),
        "exact": PrintedMQRBF(ridge=0.0),
        "power": MQRBF(),
    }
    found: dict[str, Any] = {}
    for form, recipe in recipes.items():
        model = recipe.fit(data, rng)
        lied = model.condition(Data(x, np.array([data.y.min()])))
        before, after = model.predict(at).std, lied.predict(at).std
        negative = int((model.evaluate(at).radicand < 0.0).sum())
        rises = int((after > before * (1.0 + 1e-6)).sum())
        at_lie = float(lied.predict(x).std[0] / model.predict(x).std[0])
        found[form] = {"points": len(at), "negative": negative, "rises": rises, "at_lie": at_lie}
    root, true = (
        np.sqrt(np.abs(form.fit(data, rng).evaluate(at).radicand)) for form in (PrintedMQRBF(0.0), MQRBF(0.0))
    )
    shape = {"close": int((np.abs(root - true) <= _CLOSE * true).sum()), "rank": shapes.rank_correlation(root, true)}
    return {**found, "shape": shape}


def _hartmann(rng: np.random.Generator, n: int) -> Data:
    X: Array = latin_hypercube(n, 6, rng)
    return Data(frozen(X), frozen(hartmann6().evaluate(X)))


_WORK: dict[str, Callable[[np.random.Generator], dict[str, Any]]] = {
    "steps": steps,
    "counterexamples": counterexamples,
    "radius": radius,
    "monotone": monotone,
    "believing": believing,
    "power": power,
    "penalty": shapes.penalties,
    "expansion": shapes.expansions,
    "log_penalty": shapes.log_penalties,
    "geometry": shapes.geometry,
}

TOPICS: dict[str, int] = {topic: 1 if topic == "counterexamples" else 20 for topic in _WORK}
"""Topics, each with its number of seeds in a full run."""


def theory(cell: Cell) -> dict[str, Any]:
    """The findings on the cell's topic, in the random situations of the cell's seed."""
    topic = cell.settings["topic"]
    if topic not in _WORK:
        raise InvalidInput(f"topic must be one of {', '.join(_WORK)}; got {topic!r}.")
    return _WORK[topic](np.random.default_rng([cell.seed, *topic.encode()]))
