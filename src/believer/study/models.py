"""The models of a study, kept as long as the results are the same.

A model learns from the results or from warped results: if they reach far on the bad side, several are fitted, and the
evidence decides. The model, its data and the results that strategies see are on the scale that the model learns from:
the warped scale if the results are warped.
"""

from __future__ import annotations

import logging
import math
import time
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, cast

import numpy as np

from believer.arrays import shown, whole
from believer.batch.best_so_far import learned_by
from believer.batch.learned import Learned, Pending
from believer.batch.request import Randomness, Strategy
from believer.batch.verdict import random_pair_distance
from believer.capabilities import has
from believer.errors import InvalidInput, JournalError, NumericalError
from believer.numerics.sampling import stream
from believer.study.goals import Goals
from believer.study.history import Fitted, History, Table, states_by_output
from believer.study.serialization import is_custom, to_config
from believer.study.settings import AUTO, LEARN, NONE, StudySettings
from believer.surrogates.data import Data, joined
from believer.surrogates.gp_fit import CENTER_UP_TO, quarters
from believer.surrogates.inspection import inspected
from believer.surrogates.protocols import Bounded, Conditionable, Measuring, Model, Restorable, Verifiable
from believer.surrogates.warp import Warp, likelier, warps_for

_log = logging.getLogger(__name__)

MAX_GIVEN = 2000
"""The largest number of failed trials on which a model is conditioned, and of pending ones; the last of them are
used."""


WARP = "y_warp"
"""The name under which a model's hyperparameters hold its warp."""


ADDED = "added"
"""The name under which a model's hyperparameters hold the ids of results that came after the fit, in their order."""

KEPT_FROM = 100
"""With fewer results than this, hyperparameters are fitted again whenever there are new results, because that costs
little. With more, they may be kept, which is not shown to make regret worse (benchmarks/results/refits.md)."""

GROWN, SURPRISING = 0.125, 1.0 / 15.0
"""A fit to n results is repeated when more than GROWN n results have been added since, or when the added results are
less likely than the model expected, by more than SURPRISING n nats in all."""

_OUTLIER = 100.0
"""The largest z² that counts, because a single outlier says little about hyperparameters."""

_DECIDED_ON = 500
"""With more results than this, a random subset of this size decides whether the results are warped."""


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    """A model of results alone, without failed trials; the results on the scale of the model; and the warp.

    base, seen: the model at the last fit, and the results that it was fitted to, in the user's units.
    ids: the trials of the results, in the order of ``data``; those in ``added`` came after the fit.
    surprise: ½ Σ (z² - 1) over the results added since the fit, in nats. z is the difference between a result and its
        prediction, in predicted standard deviations.
    kept: the hedges of ``base`` that were computed so far, conditioned on added results: factors of the lengthscales,
        models, and the ids of their added results (``batch/hedge.py``).
    """

    model: Model
    data: Data
    warp: Warp | None
    base: Model
    seen: Data
    ids: tuple[int, ...]
    added: tuple[int, ...] = ()
    surprise: float = 0.0
    kept: dict[Any, Any] = field(default_factory=dict)

    def is_due(self, most: int | None) -> bool:
        """Whether to fit the hyperparameters again: see GROWN. A surrogate is fitted to ``most`` results at most."""
        n = len(self.seen) if most is None else min(len(self.seen), most)
        return len(self.added) > GROWN * n or self.surprise > SURPRISING * n


@dataclass(slots=True, eq=False)
class _Kept:
    """The models of one output that are kept between proposals.

    data: the results, in the user's units. start: the fit of the last proposal, as the journal stores it. fit: the
    model of these results. failed: the fit that was conditioned on failed trials, these trials with the values that
    they are given, and the model with them; None if there were no failed trials.
    """

    data: Data
    start: Fitted | None
    fit: _Fit
    failed: tuple[_Fit, Data, Model] | None = None


class ModelCache:
    """Values that proposals under the same settings share. A cache changes only the cost of a result, never the result.

    Two models of each output are kept: the last fit to real results, and that fit conditioned on failed trials. Each is
    reused only for exactly the same data and the same start. ``memory`` belongs to the strategy.

    Parameters
    ----------
    settings : the settings of the study.
    """

    def __init__(self, settings: StudySettings) -> None:
        self.settings = settings
        self.memory: object = None
        self.region = settings.space.region()
        self.likely = settings.space.likely()
        self.written = written_of(settings.strategy)
        self._is_finite = settings.space.size is not None
        self._is_ours = not is_custom(to_config(settings.surrogate))
        self.randomness: Randomness = partial(stream, settings.seed)
        """The generator of a trial id and a purpose, from the study's seed."""
        self._kept: dict[str, _Kept] = {}

    @cached_property
    def random_pair_distance(self) -> float:
        """The mean distance of two uniform points of the region."""
        return random_pair_distance(self.region)

    def learned(self, history: History, place: int = 0) -> Learned:
        """The models of an output: the fit, and the fit conditioned on failures as the worst result.

        The fit is that of the last proposal, or a new one that is warm-started from it. Failures are added to the model
        of the results by conditioning, or by a second fit if the model cannot be conditioned.

        Parameters
        ----------
        history : the history of the study.
        place : the position of the output among the tables of the history; 0 is the first objective.
        """
        table = history.tables[place]
        kept = self._fit(table)
        fit, failed, model = kept.fit, None, kept.fit.model
        failures = self.failures(history, table)
        if failures is not None:
            failed = failures if fit.warp is None else fit.warp.data(failures)
            if kept.failed is None or kept.failed[0] is not fit or not _same(kept.failed[1], failures):
                kept.failed = (fit, failures, self._with_failures(table, fit, failed))
            model = kept.failed[2]
        learned = Learned(
            table.output, fit.ids, fit.data, counted_pending(table.pending), fit.model, model, failed, fit.warp
        )
        # With failures, and no results added since the fit, ``base`` and ``since`` are left out: a hedge is then made
        # from ``model``, which knows the failures, and it is not kept.
        if not fit.added and failed is not None:
            return learned
        since = fit.data.at(slice(len(fit.seen), None))
        return replace(learned, base=fit.base, since=since if failed is None else joined(since, failed), kept=fit.kept)

    def hyperparameters(self, history: History) -> dict[str, Any] | None:
        """The hyperparameters of the fits by output, each with its warp; None if the surrogate cannot describe them."""
        surrogate = self.settings.surrogate
        if not has(surrogate, Restorable):
            return None
        return {"outputs": {t.output.name: _described(surrogate, self._fit(t).fit) for t in history.tables}}

    def failures(self, history: History, table: Table) -> Data | None:
        """Failed trials of ``history`` as the worst real result of a ``table``; None if there are none, or a model
        learns where they happen."""
        if not len(history.failed) or self.settings.failures == LEARN or table.output.limits is not None:
            return None
        failed = history.failed[-MAX_GIVEN:]
        return Data(failed, np.full(len(failed), table.data.y.max()))

    def _fit(self, table: Table) -> _Kept:
        data, start = table.data, table.fitted if has(self.settings.surrogate, Restorable) else None
        kept = self._kept.get(table.output.name)
        same = kept is not None and _same(kept.data, data)
        if not same:
            self.memory = None  # it belongs to the earlier models, and is larger than they are
        if kept is None or not same or start != kept.start:
            kept = self._kept[table.output.name] = _Kept(data, start, self._fitted(table, kept))
        return kept

    def _with_failures(self, table: Table, fit: _Fit, failed: Data) -> Model:
        if has(fit.model, Conditionable):
            return fit.model.condition(failed)
        rng = self.randomness(len(table.ids), "failed")
        return self.settings.surrogate.fit(joined(fit.data, failed), rng, fit.model)

    def _fitted(self, table: Table, kept: _Kept | None) -> _Fit:
        """The fit of the last proposal, if the results are the same.

        If that fit was to ``KEPT_FROM`` results or more, and the new results are few and not surprising, it is that fit
        conditioned on them. Otherwise it is a new fit, warm-started from it. A fit made for ``predict`` alone is no
        warm start, since looking at a study must not change its suggestions.
        """
        surrogate, data, warp = self.settings.surrogate, table.data, self.settings.warp if table.output.warped else NONE
        previous, seen = None, 0
        if table.fitted is not None and has(surrogate, Restorable):
            ids, (state, added) = table.fitted[0], added_of(table.fitted[1])
            there, fitted = {*ids}, {*ids} - {*added}
            first = tuple([i for i in table.ids if i in fitted])
            is_prefix = first == table.ids[: len(first)]
            known = data.at(slice(len(first)) if is_prefix else [row for row, i in enumerate(table.ids) if i in fitted])
            if len(known):
                previous, seen = self._restored(surrogate, first, known, state, warp, kept), len(known)
            if previous is not None and there <= {*table.ids} and there >= {*added}:
                new = tuple([i for i in table.ids if i not in there])
                many = len(previous.seen) >= KEPT_FROM and data.noise is None
                if not new or (many and has(previous.base, Conditionable) and has(previous.base, Measuring)):
                    grown = self._grown(previous, table, (*added, *new), kept)
                    if not new or not grown.is_due(surrogate.most_results if has(surrogate, Bounded) else None):
                        return grown
        return self._chosen(table, previous, seen, warp)

    def _grown(self, fit: _Fit, table: Table, added: tuple[int, ...], kept: _Kept | None) -> _Fit:
        """``fit`` conditioned on the results ``added``, one by one in that order; earlier conditioning is reused."""
        if not added:
            return fit
        if kept is not None and kept.fit.base is fit.base and kept.fit.added == added[: len(kept.fit.added)]:
            fit = kept.fit
        row = {trial: place for place, trial in enumerate(table.ids)}
        for trial in added[len(fit.added) :]:
            raw = table.data.at([row[trial]])
            one = raw if fit.warp is None else fit.warp.data(raw)
            model, at = cast(Conditionable, fit.model), fit.model.predict(one.X)
            off = (float(one.y[0]) - float(at.mean[0])) / math.hypot(float(at.std[0]), cast(Measuring, model).noise_std)
            fit = replace(
                fit,
                model=model.condition(one),
                data=joined(fit.data, one),
                ids=(*fit.ids, trial),
                added=(*fit.added, trial),
                surprise=fit.surprise + 0.5 * (min(off * off, _OUTLIER) - 1.0),
            )
        return fit

    def _chosen(self, table: Table, previous: _Fit | None, seen: int, allowed: str) -> _Fit:
        """The fit to the data or to the warped data, whichever has the higher evidence.

        With many results, this is decided anew only when their number has grown by a quarter.
        """
        data, ids = table.data, table.ids
        n = len(data)
        warps = warps_for(data.y, self._is_finite) if allowed == AUTO else ()
        if warps and previous is not None and n > CENTER_UP_TO and quarters(n) == quarters(seen):
            kept = previous.warp and next((warp for warp in warps if warp.kind == previous.warp.kind), warps[0])
            return self._learned(data, ids, kept, previous)
        if warps and n > _DECIDED_ON and has(self.settings.surrogate, Restorable):
            some = np.sort(self.randomness(n, "warp").permutation(n)[:_DECIDED_ON])
            found = self._more_likely(data.at(some), tuple([ids[i] for i in some]), warps, previous)
            return self._learned(data, ids, found.warp, found if previous is None else previous)
        return self._more_likely(data, ids, warps, previous)

    def _more_likely(self, data: Data, ids: tuple[int, ...], warps: tuple[Warp, ...], previous: _Fit | None) -> _Fit:
        """The fit to the data, or to the data through one of the ``warps``, by their evidence."""
        rows = learned_by(self.settings.surrogate, data)
        y = data.y if rows is None else data.y[rows]

        def fitted(warp: Warp | None, _: _Fit | None) -> _Fit:
            alike = previous is not None and (warp and warp.kind) == (previous.warp and previous.warp.kind)
            return self._learned(data, ids, warp, previous if alike else None)

        return likelier(fitted, lambda fit: fit.model, warps, y)

    def _learned(self, data: Data, ids: tuple[int, ...], warp: Warp | None, previous: _Fit | None) -> _Fit:
        given, n = data if warp is None else warp.data(data), len(data)
        rng = self.randomness(n, "fit")
        began = time.perf_counter()
        model = self.settings.surrogate.fit(given, rng, None if previous is None else previous.base)
        _log.debug("fitted %s to %d results in %.3f s", type(model).__name__, n, time.perf_counter() - began)
        if not self._is_ours:
            inspected(model, data.X[:1])
        return _Fit(model, given, warp, model, data, ids)

    def _restored(
        self,
        surrogate: Restorable,
        ids: tuple[int, ...],
        seen: Data,
        state: dict[str, Any],
        allowed: str,
        kept: _Kept | None,
    ) -> _Fit | None:
        """The model of the last proposal; None if it cannot have been a model of these results."""
        if kept is not None and _same(kept.fit.seen, seen) and added_of(_described(surrogate, kept.fit))[0] == state:
            fit, n = kept.fit, len(seen)
            return replace(fit, model=fit.base, data=fit.data.at(slice(n)), ids=ids, added=(), surprise=0.0)
        try:
            warp, rest = warp_of(state)
            if warp is not None and (allowed != AUTO or not any(map(warp.is_like, warps_for(seen.y, self._is_finite)))):
                return None  # the warp was made for other values, so the fit is no start for a fit to these
            given = seen if warp is None else warp.data(seen)
            model = surrogate.restore(given, rest)
            return _Fit(model, given, warp, model, seen, ids)
        except (KeyError, TypeError, ValueError, NumericalError) as error:
            raise JournalError(f"the hyperparameters of the last fit, {shown(state)}, do not fit: {error}") from error


def _described(surrogate: Restorable, fit: _Fit) -> dict[str, Any]:
    state = surrogate.describe(fit.base)
    if fit.warp is not None:
        state = {**state, WARP: fit.warp.to_config()}
    return {**state, ADDED: list(fit.added)} if fit.added else state


def added_of(state: dict[str, Any]) -> tuple[dict[str, Any], tuple[int, ...]]:
    """The description of a fit, and the ids of the results that were added after it, in their order."""
    if ADDED not in state:
        return state, ()
    added = state[ADDED]
    if not isinstance(added, list) or len({shown(i) for i in added}) < len(added):
        raise InvalidInput(f"the ids of results added after a fit must be a list of different ids; got {shown(added)}.")
    return {k: v for k, v in state.items() if k != ADDED}, tuple([whole(i, "the id of a trial", 0) for i in added])


def warp_of(state: dict[str, Any]) -> tuple[Warp | None, dict[str, Any]]:
    """The warp of the model that ``state`` describes, or None, and the surrogate's own description.

    Raises InvalidInput if the warp is not valid.
    """
    if WARP not in state:
        return None, state
    return Warp.from_config(state[WARP]), {name: value for name, value in state.items() if name != WARP}


def verified_fit(surrogate: Verifiable, state: dict[str, Any], n: int, d: int, goals: Goals) -> None:
    """Raise an error unless ``state`` can describe fits, one for each output, to at most n results in d columns."""
    for one in states_by_output(state, goals).values():
        surrogate.verify(warp_of(added_of(one)[0])[1], n, d)


def counted_pending(pending: Pending) -> Pending:
    """The pending points that a model is conditioned on: all of them, or the last ones if they exceed ``MAX_GIVEN``.

    The first of the last ones is at a multiple of half of ``MAX_GIVEN``. One more pending point then usually changes
    only the end of the list, and earlier computations can be reused.
    """
    ids, step = pending.ids, MAX_GIVEN // 2
    first = max(0, -(-(len(ids) - MAX_GIVEN) // step) * step)
    return Pending(ids[first:], pending.X[first:]) if first else pending


def written_of(strategy: Strategy) -> tuple[Any, bool]:
    """A strategy as a journal stores it, and whether it contains a part that is not the library's own."""
    config = to_config(strategy)
    return config, is_custom(config)


def check_cache(cache: ModelCache, settings: StudySettings) -> None:
    """Raise InvalidInput if the cache belongs to other settings."""
    if cache.settings is not settings:
        raise InvalidInput("a model cache belongs to the settings that it was made with; make another for these.")


def _same(one: Data, other: Data) -> bool:
    """Whether two data sets are the same."""
    return (
        np.array_equal(one.X, other.X)
        and np.array_equal(one.Y, other.Y)
        and (
            one.noise is None
            if other.noise is None
            else one.noise is not None and np.array_equal(one.noise, other.noise)
        )
    )
