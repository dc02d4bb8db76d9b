"""Replay: make every suggestion of a journal again from its seed, and say where one differs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from believer.acquisitions import Acquisition
from believer.arrays import shown
from believer.batch import Strategy
from believer.batch.request import needs_model
from believer.errors import BelieverError, InvalidInput, JournalCorrupt
from believer.maximize import Maximizer
from believer.numerics import backend
from believer.optimizer import Optimizer
from believer.propose import propose
from believer.space import Constraint
from believer.study import serialization
from believer.study.events import Asked, Begun, Event
from believer.study.journal import PathLike, read_events
from believer.study.trials import same_params
from believer.surrogates.protocols import Surrogate


@dataclass(frozen=True, slots=True)
class Replay:
    """What came of a replay.

    Attributes
    ----------
    asks : how many were made again.
    line : the journal's line of the first that came out otherwise; None without any.
    difference : what differed there; None without any.
    """

    asks: int
    line: int | None
    difference: str | None

    @property
    def identical(self) -> bool:
        """Whether every suggestion came out the same, bit for bit: so per processor, BLAS and backend."""
        return self.line is None

    def __str__(self) -> str:
        if self.identical:
            return f"{self.asks} asks replayed, every suggestion identical"
        return f"line {self.line} differs: {self.difference}"


def replay(
    path: PathLike,
    *,
    surrogate: str | Surrogate | None = None,
    acquisition: str | Acquisition | None = None,
    strategy: str | Strategy | None = None,
    constraint: Constraint | None = None,
    maximizer: Maximizer | None = None,
    strategies: Sequence[Strategy] = (),
) -> Replay:
    """Verify a journal: run its asks anew, fits included, against the results as they were told at the time.

    The same versions, backend, processor, BLAS and number of its threads are needed for "identical"; the journal's
    first line names all but processor and BLAS. The file is only read.

    Parameters
    ----------
    path : of the journal.
    surrogate, acquisition, strategy, constraint, maximizer : custom ones, as for ``Optimizer.load``.
    strategies : custom ones that single asks were made with.
    """
    events = read_events(path)
    study = Optimizer._from_events(events[:1], None, surrogate, acquisition, strategy, maximizer, constraint)
    asks = 0
    for line, event in enumerate(events[1:], start=2):
        if isinstance(event, Asked):
            asks += 1
            try:
                strategy = _wanted(study, event, strategies)
            except (KeyError, TypeError, DamagedRequest, serialization.DamagedSettings) as error:
                raise JournalCorrupt(f"line {line} is no ask that could be made again: {error!r}", line) from error
            difference = _ask_again(study, event, strategy)
            if difference is not None:
                return Replay(asks, line, difference + _other_backend(events[0]))
        study._ledger.follow(event, line)
    return Replay(asks, None, None)


def _other_backend(begun: Event) -> str:
    """What a difference is likely to come from, when the study began on another backend than the one that runs."""
    then, now = begun.versions.get("backend") if isinstance(begun, Begun) else None, backend.name()
    if then in (None, now):
        return ""
    return f" (written with the backend {then!r}, replayed with {now!r}: set BELIEVER_BACKEND={then} for the same bits)"


class DamagedRequest(InvalidInput):
    """What was asked for, in a journal, is nothing that anyone can ask for."""


def _wanted(study: Optimizer, event: Asked, strategies: Sequence[Strategy]) -> Strategy:
    """The strategy of an ask, whose request is checked."""
    wanted = event.request
    strategy, fixed, distinct = wanted["strategy"], wanted["fixed"], wanted["distinct"]
    for flag in (distinct, wanted.get("repeat", False)):
        if not isinstance(flag, bool):
            raise DamagedRequest(f"distinct and repeat must be True or False; got {shown(flag)}.")
    known = (study.settings.strategy, *strategies)
    passed = next((part for part in known if serialization.to_config(part) == strategy), None)
    rebuilt = serialization.from_config(strategy, "strategies", passed)
    try:
        study.space.check_fixed(fixed)
        return serialization.strategy_named(serialization.having(("choose",), rebuilt, "strategy"))
    except InvalidInput as error:
        raise DamagedRequest(str(error)) from error


def _ask_again(study: Optimizer, event: Asked, strategy: Strategy) -> str | None:
    """What differs between the ask in the journal and the same ask made now; None when nothing does."""
    wanted = event.request
    try:
        again = propose(
            study.settings,
            study._ledger.history(study.settings),
            len(event.trials),
            strategy=strategy,
            fixed=wanted["fixed"],
            distinct=wanted["distinct"],
            repeat=wanted.get("repeat", False),
            cache=study._cache,
        ).event()
    except BelieverError as error:
        return f"{type(error).__name__}: {error}"
    for then, now in zip(event.trials, again.trials, strict=True):
        if not same_params(then.params, now.params):
            return f"params of trial {then.id} were {then.params}, are {now.params}"
        if not np.array_equal(then.unit, now.unit):
            return f"unit of trial {then.id} were {then.unit.tolist()}, are {now.unit.tolist()}"
    # A strategy that needs no model once had one fitted all the same; it never had a say, and later asks take it from
    # the journal as it stands there.
    if event.model == again.model or (again.model is None and not needs_model(strategy)):
        return None
    return f"hyperparameters were {event.model}, are {again.model}"
