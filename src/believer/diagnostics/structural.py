"""One data set's measurements for the Structural Diversity Diagnostic ([paper] section 4.1), with controls.

The paper lies to a model, maximizes the acquisition from the same starts, and asks whether the batch is diverse. A
batch can also be diverse for another reason (a refit draws new random numbers), or fail to be diverse although the
model responded (the optimizer never left its starts). So the same batch is built in several ways, and the model is
observed meanwhile:

===============  =====================================================================================
part             how the batch is built
===============  =====================================================================================
``fixed``        part A: lies, the given maximizer (three fixed starts, L-BFGS-B)
``random``       part B: lies, L-BFGS-B from ten random starts that are drawn once
``free``         lies, a deterministic search without derivatives
``null``         part A without the lies: the same refit on the same data
``null_free``    the search without derivatives, without the lies
``frozen``       part A, with the draws of the surrogate's fit held fixed (bootstraps, initial weights)
``frozen_free``  the same with the search without derivatives
===============  =====================================================================================
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from believer.acquisitions import Acquisition, PointwiseObjective, completed
from believer.arrays import Array, frozen
from believer.batch import ConstantLie, Data, Lie, Pending, PseudoObservations, Request
from believer.batch.belief import Belief
from believer.batch.request import Randomness
from believer.batch.verdict import random_pair_distance
from believer.diagnostics.measurement import Measurement, SddPart, distances
from believer.diagnostics.source import DataSet
from believer.maximize import Candidates, FixedStarts, Maximizer, Maximum, Search
from believer.numerics.sampling import sobol, stream
from believer.space.region import Region
from believer.surrogates.gp import standardization
from believer.surrogates.inspection import inspected, refuse_mutation
from believer.surrogates.protocols import Conditionable, Model, Scaled, Stochastic, Surrogate

RESTARTS = 10
"""The number of random starts of part B, that of the paper's acquisition optimizer."""

_DENSE, _CLOSE, _INSPECTED, _AROUND = 1024, 256, 128, 3
_FREE = Candidates()
_MIN_RANGE = 1e-300
_LARGEST_RESPONSE = 1e6
_LARGEST_EXPONENT = 600.0


@dataclass(frozen=True, slots=True)
class Probe:
    """The combination that is diagnosed, on any data set."""

    surrogate: Surrogate
    acquisition: Acquisition
    lie: Lie
    update: str
    incumbent: str
    maximizer: Maximizer
    q: int


def measure(probe: Probe, data: DataSet, seed: int) -> Measurement:
    """Build the batch in every way, on ``data``; all randomness derives from ``seed``."""

    def randomness(trial: int, purpose: str) -> np.random.Generator:
        return stream(seed, trial, purpose)

    model = probe.surrogate.fit(data.observations, randomness(0, "fit"), None)
    lies = _Batches(probe, data, model, randomness)
    refuse_mutation(model, lies.looked_at, inspected(model, lies.looked_at), "being asked again")
    fixed = lies.with_lies(probe.maximizer)
    free = lies.with_lies(_FREE)
    started = time.perf_counter()
    nulls = list(lies.models_without_lies())
    refits = time.perf_counter() - started
    frozen_lies = _frozen(lies, seed)
    return Measurement(
        seed=seed,
        fixed=fixed.part(),
        random=lies.with_lies(FixedStarts(levels=(), draws=RESTARTS, seed=seed)).part(),
        free=free.part(),
        null=lies.without_lies(nulls, probe.maximizer, refits).part(),
        null_free=lies.without_lies(nulls, _FREE, refits).part(),
        frozen=None if frozen_lies is None else frozen_lies.with_lies(probe.maximizer).part(),
        frozen_free=None if frozen_lies is None else frozen_lies.with_lies(_FREE).part(),
        moved=None if None in fixed.moved else float(np.mean([share for share in fixed.moved if share is not None])),
        reached=_reached(fixed, lies, data),
        random_pair=random_pair_distance(data.region),
        min_lengthscales=_in_lengthscales(fixed.points, model),
    )


def _in_lengthscales(points: tuple[Array, ...], model: Model) -> float | None:
    return float(distances(points, model.lengthscales).min()) if isinstance(model, Scaled) else None


def standardized(probe: Probe, data: DataSet) -> tuple[Probe, DataSet]:
    """The same with y standardized, and a lie that is a number as well.

    L-BFGS-B stops at absolute tolerances, so that the batch would depend on the units of y. As with the paper's
    normalized y, ξ is therefore in units of the standard deviation.
    """
    shift, scale = standardization(data.y)
    lie = probe.lie
    if isinstance(lie, ConstantLie) and not isinstance(lie.of, str):
        lie = ConstantLie((lie.of - shift) / scale)
    return replace(probe, lie=lie), replace(data, y=frozen((data.y - shift) / scale))


def _frozen(lies: _Batches, seed: int) -> _Batches | None:
    """The same with random draws that a refit does not change; None if the update is not a refit, or draws nothing."""
    recipe = lies.probe.surrogate
    if not isinstance(recipe, Stochastic) or not _refits(lies.probe.update, lies.model):
        return None
    surrogate = recipe.with_fixed_draws(seed)
    model = surrogate.fit(lies.data.observations, lies.randomness(0, "fit"), None)
    return replace(lies, probe=replace(lies.probe, surrogate=surrogate), model=model)


def _refits(update: str, model: Model) -> bool:
    return update == "refit" or (update == "auto" and not isinstance(model, Conditionable))


@dataclass(frozen=True, slots=True, eq=False)
class _Walk:
    """A batch with its points, the surfaces that they maximize, and the models at each step."""

    points: tuple[Array, ...]
    surfaces: tuple[PointwiseObjective, ...]
    models: tuple[Model, ...]
    moved: tuple[float | None, ...]
    seconds: float
    region: Region

    def part(self) -> SddPart:
        """The batch as a value, with the change of the acquisition function by each update, at the earlier
        incumbent."""
        pairs = zip(self.points, self.surfaces, self.models[1:], strict=False)
        responses = [response(before, replace(before, model=after), x, self.region) for x, before, after in pairs]
        points = tuple(tuple(float(u) for u in x) for x in self.points)
        return SddPart(points, self.seconds, tuple(responses))


@dataclass(frozen=True, slots=True, eq=False)
class _Batches:
    """Ways to build a batch from one fitted model."""

    probe: Probe
    data: DataSet
    model: Model
    randomness: Randomness

    @property
    def looked_at(self) -> Array:
        """The points at which the contracts of models are checked: the data, and points spread over the region."""
        region = self.data.region
        return np.vstack([self.data.X, region.spread(sobol(_INSPECTED, region.dim, np.random.default_rng(0)))])

    def request(self, model: Model) -> Request:
        """The request that the engine would get; no point is avoided, so that a repeated point shows."""
        probe, data = self.probe, self.data
        none = frozen(np.zeros((0, data.region.dim)))
        return Request.single(
            ids=tuple(range(probe.q)),
            surrogate=probe.surrogate,
            acquisition=probe.acquisition,
            model=model,
            data=Data(data.X, data.y),
            pending=Pending((), none),
            region=data.region,
            avoid=none,
            distinct=False,
            randomness=self.randomness,
        )

    def with_lies(self, maximizer: Maximizer) -> _Walk:
        """[paper] Algorithm 1: pick, lie, update; by the engine's own functions."""
        probe, request = self.probe, self.request(self.model)
        strategy = PseudoObservations(probe.lie, probe.update, probe.incumbent)
        belief = strategy.begin(request)
        picks, models, seconds = [], [self.model], 0.0
        for trial in request.ids:
            started = time.perf_counter()
            surface = self._surface(belief, request)
            x, moved = self._pick(maximizer, surface)
            seconds += time.perf_counter() - started
            if trial < probe.q - 1:
                belief, took = self._believed(strategy, belief, request, trial, x)
                seconds += took
                models.append(belief.model)
            picks.append((x, surface, moved))
        return self._walk(picks, models, seconds)

    def _believed(
        self, strategy: PseudoObservations, belief: Belief, request: Request, trial: int, x: Array
    ) -> tuple[Belief, float]:
        """The belief after the lie at ``x``, and the seconds that it took; InvalidInput if a model breaks its contract.

        The model is also checked at ``x``, because one that interpolates may change there and at no observation.
        """
        before, X = belief.model, np.vstack([self.looked_at, x])
        was = inspected(before, X)
        started = time.perf_counter()
        belief = belief.with_lie(request, trial, x)
        seconds = time.perf_counter() - started
        refuse_mutation(before, X, was, "a lie")
        inspected(belief.model, X)
        return belief, seconds

    def models_without_lies(self) -> Iterator[Model]:
        """The models of a batch without lies: the update is still run, on the real data alone."""
        model = self.model
        yield model
        for trial in range(self.probe.q - 1):
            if _refits(self.probe.update, model):
                # The generator of the refit with the lie: draws that do not depend on the data are the same in both.
                model = self.probe.surrogate.fit(self.data.observations, self.randomness(trial, "refit"), model)
            yield model

    def without_lies(self, models: list[Model], maximizer: Maximizer, refits: float) -> _Walk:
        """A batch from ``models`` without lies; ``refits`` are the seconds of their fits."""
        started = time.perf_counter()
        strategy = PseudoObservations(self.probe.lie, "none", self.probe.incumbent)
        picks = []
        for model in models:
            request = self.request(model)
            surface = self._surface(strategy.begin(request), request)
            x, moved = self._pick(maximizer, surface)
            picks.append((x, surface, moved))
        return self._walk(picks, models, refits + time.perf_counter() - started)

    def _surface(self, belief: Belief, request: Request) -> PointwiseObjective:
        """The surface that the next member maximizes."""
        view = belief.view(request)
        return PointwiseObjective(completed(self.probe.acquisition), view.model, view.incumbent)

    def _walk(
        self, picks: list[tuple[Array, PointwiseObjective, float | None]], models: list[Model], seconds: float
    ) -> _Walk:
        points, surfaces, moved = zip(*picks, strict=True)
        return _Walk(points, surfaces, tuple(models), moved, seconds, self.data.region)

    def _pick(self, maximizer: Maximizer, surface: PointwiseObjective) -> tuple[Array, float | None]:
        """The maximizer's point, and the share of its starts that moved, if it has starts."""
        region = self.data.region
        if isinstance(maximizer, FixedStarts):
            climb = maximizer.climb(surface, region)
            return climb.best(region).x, climb.moved
        return self.search(maximizer, surface).x, None

    def search(self, maximizer: Maximizer, surface: PointwiseObjective) -> Maximum:
        """The same search for every member, with or without lies, so that two searches differ only in the surface."""
        data = self.data
        best = np.argsort(data.y, kind="stable")[:_AROUND]
        search = Search(data.region, data.region.project(data.X[best]), frozen(np.zeros((0, data.region.dim))))
        return maximizer.maximize(surface, search, self.randomness(0, "maximize"))


def response(before: PointwiseObjective, after: PointwiseObjective, x: Array, region: Region) -> float:
    """max |α' - α| / (max α - min α) over fixed dense candidates of the region, the point ``x`` (d,) and around it.

    It is at most 1e6, because a flat surface has no range.
    """
    rng = np.random.default_rng(0)
    dense = region.spread(sobol(_DENSE, region.dim, rng))
    X = np.vstack([dense, region.near(x[None, :], _CLOSE, (0.1, 0.03, 0.01), rng), x[None, :]])
    old, new = before.value(X), after.value(X)
    if completed(before.acquisition).is_log:
        # LogEI is compared as EI, relative to its largest value: the worst candidate decides the range of a logarithm.
        top = old.max()
        old, new = np.exp(old - top), np.exp(np.minimum(new - top, _LARGEST_EXPONENT))
    change = np.abs(new - old)
    return min(float(change.max()) / max(float(np.ptp(old)), _MIN_RANGE), _LARGEST_RESPONSE)


def _reached(walk: _Walk, lies: _Batches, data: DataSet) -> float:
    """Mean over the batch of α(chosen) / α(search without derivatives), each above the least α of dense candidates.

    LogEI is compared as EI, because a ratio of logarithms would have no meaning.
    """
    dense = data.region.spread(sobol(_DENSE, data.region.dim, np.random.default_rng(0)))
    shares = []
    for x, surface in zip(walk.points, walk.surfaces, strict=True):
        best = lies.search(_FREE, surface).value
        value = float(surface.value(x[None, :])[0])
        if completed(surface.acquisition).is_log:
            shares.append(float(np.exp(min(value - best, _LARGEST_EXPONENT))))
            continue
        floor = min(float(surface.value(dense).min()), value)
        shares.append((value - floor) / (best - floor) if best > floor else 1.0)
    return float(np.mean(shares))
