"""The models of a study, kept for as long as what they saw is what there is to see.

A model learns from results as they are, or from results through a warp: where their tail is heavy both are tried, and
the evidence decides. Such a model, what it is told and what strategies see of the results are in its own units.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from believer.arrays import shown
from believer.batch.learned import Learned, Pending
from believer.batch.request import Randomness, Strategy
from believer.batch.standing import learned_by
from believer.capabilities import able
from believer.errors import InvalidInput, JournalError, NumericalError
from believer.numerics.sampling import stream
from believer.study.goals import Goals
from believer.study.history import Fitted, History, Table, states_by_output
from believer.study.serialization import is_custom, to_config
from believer.study.settings import AUTO, LEARN, NONE, StudySettings
from believer.surrogates.data import Data, joined
from believer.surrogates.gp_fit import CENTER_UP_TO, quarters
from believer.surrogates.inspection import inspected
from believer.surrogates.protocols import Conditionable, Evident, Model, Restorable, Verifiable
from believer.surrogates.warp import Warp, warp_for

_log = logging.getLogger(__name__)

MOST_TOLD = 2000
"""Failed trials that a model is told of, and pending ones: the last of them, so many of each at most."""


WARP = "y_warp"
"""The name under which a model's hyperparameters hold its warp."""


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    """A model of results alone, the results in its units, and its warp."""

    model: Model
    data: Data
    warp: Warp | None


@dataclass(slots=True, eq=False)
class _Kept:
    """The models of one output: the last fit, what it saw and began at; and that fit with failures."""

    data: Data
    start: Fitted | None
    fit: _Fit
    failed: tuple[_Fit, Data, Model] | None = None


class ModelCache:
    """What proposals under one set of settings may share. Never changes a result, only its price.

    Of each output two models are kept: the last fit to real results, and that fit conditioned on failed trials; each
    is used again only on the very data that it saw, from the same start. ``memory`` is the strategy's own.

    Parameters
    ----------
    settings : of the study.
    """

    def __init__(self, settings: StudySettings) -> None:
        self.settings = settings
        self.memory: object = None
        self.region = settings.space.region()
        self.written = written_of(settings.strategy)
        self.randomness: Randomness = partial(stream, settings.seed)
        """The generator of a trial id and a purpose, from the study's seed."""
        self._kept: dict[str, _Kept] = {}

    def learned(self, history: History, place: int = 0) -> Learned:
        """What is learned of an output: its fit, and the same given failures as the worst real result.

        The fit is warm-started from the one behind the last proposal, or is that one itself. Failures reach it in
        closed form, or by a second fit.

        Parameters
        ----------
        history : of the study.
        place : of the output among its tables; 0 is the first objective.
        """
        table = history.tables[place]
        kept = self._fit(table)
        fit, failed, model = kept.fit, None, kept.fit.model
        told = self.failures(history, table)
        if told is not None:
            failed = told if fit.warp is None else fit.warp.data(told)
            if kept.failed is None or kept.failed[0] is not fit or not _same(kept.failed[1], told):
                kept.failed = (fit, told, self._with_failures(table, fit, failed))
            model = kept.failed[2]
        return Learned(
            table.output, table.ids, fit.data, counted_pending(table.pending), fit.model, model, failed, fit.warp
        )

    def hyperparameters(self, history: History) -> dict[str, Any] | None:
        """Of the fits, by output, where the surrogate can write them down; each with its warp, where it has one."""
        surrogate = self.settings.surrogate
        if not able(surrogate, Restorable):
            return None
        return {"outputs": {t.output.name: _described(surrogate, self._fit(t).fit) for t in history.tables}}

    def failures(self, history: History, table: Table) -> Data | None:
        """Failed trials as the worst real result; None if there are none, or a model learns where they happen.

        Parameters
        ----------
        history : of the study.
        table : of the output that they are told to.
        """
        if not len(history.failed) or self.settings.failures == LEARN or table.output.limits is not None:
            return None
        failed = history.failed[-MOST_TOLD:]
        return Data(failed, np.full(len(failed), table.data.y.max()))

    def _fit(self, table: Table) -> _Kept:
        data, start = table.data, table.fitted if able(self.settings.surrogate, Restorable) else None
        kept = self._kept.get(table.output.name)
        if kept is None or start != kept.start or not _same(kept.data, data):
            kept = self._kept[table.output.name] = _Kept(data, start, self._fitted(table, kept))
        return kept

    def _with_failures(self, table: Table, fit: _Fit, failed: Data) -> Model:
        if able(fit.model, Conditionable):
            return fit.model.condition(failed)
        rng = self.randomness(len(table.ids), "failed")
        return self.settings.surrogate.fit(joined(fit.data, failed), rng, fit.model)

    def _fitted(self, table: Table, kept: _Kept | None) -> _Fit:
        """A new fit, or the one behind the last proposal, when it saw the same results.

        A fit that only ``predict`` asked for is no warm start: what is looked at must not change what is suggested.
        """
        surrogate, data, warp = self.settings.surrogate, table.data, self.settings.warp if table.output.warped else NONE
        previous, seen = None, 0
        if table.fitted is not None and able(surrogate, Restorable):
            ids, state = table.fitted
            known = data.at(np.isin(table.ids, ids))
            if len(known):
                previous, seen = self._restored(surrogate, known, state, warp, kept), len(known)
            if previous is not None and set(ids) == set(table.ids):
                return previous
        return self._chosen(data, previous, seen, warp)

    def _chosen(self, data: Data, previous: _Fit | None, seen: int, allowed: str) -> _Fit:
        """The fit to ``data`` as they are, or through a warp: whichever finds them more likely.

        With much data that is decided anew only when they have grown by a quarter since the last fit saw them.
        """
        n = len(data)
        warp = warp_for(data.y) if allowed == AUTO else None
        if warp is not None and previous is not None and n > CENTER_UP_TO and quarters(n) == quarters(seen):
            return self._learned(data, warp if previous.warp is not None else None, previous)
        plain = self._learned(data, None, previous)
        if warp is None or not able(plain.model, Evident):
            return plain
        warped = self._learned(data, warp, previous)
        if not able(warped.model, Evident):
            return plain
        rows = learned_by(self.settings.surrogate, data)
        y = data.y if rows is None else data.y[rows]
        # p(y) = p(w(y)) Π w'(y_i)
        gain = warped.model.log_evidence() + float(warp.log_slope(y).sum()) - plain.model.log_evidence()
        return warped if gain > 0.0 else plain

    def _learned(self, data: Data, warp: Warp | None, previous: _Fit | None) -> _Fit:
        given, rng = data if warp is None else warp.data(data), self.randomness(len(data), "fit")
        began = time.perf_counter()
        model = self.settings.surrogate.fit(given, rng, None if previous is None else previous.model)
        _log.debug("fitted %s to %d results in %.3f s", type(model).__name__, len(data), time.perf_counter() - began)
        inspected(model, data.X[:1])
        return _Fit(model, given, warp)

    def _restored(
        self, surrogate: Restorable, seen: Data, state: dict[str, Any], allowed: str, kept: _Kept | None
    ) -> _Fit | None:
        """The model behind the last proposal; None if it cannot have been of these results."""
        if kept is not None and _same(kept.data, seen) and _described(surrogate, kept.fit) == state:
            return kept.fit
        try:
            warp, rest = warp_of(state)
            if warp is not None and (allowed != AUTO or not warp.is_like(warp_for(seen.y))):
                return None  # of other values than these: no start for a fit to them
            given = seen if warp is None else warp.data(seen)
            return _Fit(surrogate.restore(given, rest), given, warp)
        except (KeyError, TypeError, ValueError, NumericalError) as error:
            raise JournalError(f"the hyperparameters of the last fit, {shown(state)}, do not fit: {error}") from error


def _described(surrogate: Restorable, fit: _Fit) -> dict[str, Any]:
    state = surrogate.describe(fit.model)
    return state if fit.warp is None else {**state, WARP: fit.warp.to_config()}


def warp_of(state: dict[str, Any]) -> tuple[Warp | None, dict[str, Any]]:
    """The warp of a model that ``state`` describes, None without one, and what the surrogate wrote of it.

    InvalidInput for what is no warp.
    """
    if WARP not in state:
        return None, state
    return Warp.from_config(state[WARP]), {name: value for name, value in state.items() if name != WARP}


def verified_fit(surrogate: Verifiable, state: dict[str, Any], n: int, d: int, goals: Goals) -> None:
    """An error unless ``state`` may be that of fits to at most n results in d columns, an output each."""
    for one in states_by_output(state, goals).values():
        surrogate.verify(warp_of(one)[1], n, d)


def counted_pending(pending: Pending) -> Pending:
    """Pending points that a model is given: all up to :data:`MOST_TOLD`, and of more the last, by half that number.

    They begin at a multiple of it, so that with one more pending they are mostly those of the last time, and what
    was computed for these serves again.
    """
    ids, step = pending.ids, MOST_TOLD // 2
    first = max(0, -(-(len(ids) - MOST_TOLD) // step) * step)
    return Pending(ids[first:], pending.X[first:]) if first else pending


def written_of(strategy: Strategy) -> tuple[Any, bool]:
    """A strategy as a journal has it, and whether it is, or has, a part that is not the library's own."""
    config = to_config(strategy)
    return config, is_custom(config)


def check_cache(cache: ModelCache, settings: StudySettings) -> None:
    """InvalidInput if the cache belongs to other settings."""
    if cache.settings is not settings:
        raise InvalidInput("a model cache belongs to the settings that it was made with; make another for these.")


def _same(one: Data, other: Data) -> bool:
    """Whether two models that saw them saw the same."""
    return (
        np.array_equal(one.X, other.X)
        and np.array_equal(one.Y, other.Y)
        and (
            one.noise is None
            if other.noise is None
            else one.noise is not None and np.array_equal(one.noise, other.noise)
        )
    )
