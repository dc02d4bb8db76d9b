"""Replay: compute every suggestion of a journal again from its seed, and report the first difference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from believer.acquisitions import Acquisition
from believer.arrays import shown
from believer.batch import Strategy
from believer.batch.request import needs_model
from believer.errors import BelieverError, InvalidInput, JournalCorrupt
from believer.maximize import Maximizer
from believer.numerics import backend
from believer.optimizer import Optimizer, settings_in
from believer.propose import propose
from believer.space import Constraint
from believer.study import serialization
from believer.study.batch_rules import BatchRules, Cost
from believer.study.constraints import called, checked_constraint, is_constraint
from believer.study.events import Asked, Begun, Changed, Event
from believer.study.history import states_by_output
from believer.study.journal import PathLike, read_events
from believer.study.settings import ENGINE, StudySettings
from believer.study.trials import same_params
from believer.surrogates.protocols import Surrogate


@dataclass(frozen=True, slots=True)
class Replay:
    """The result of a replay.

    Attributes
    ----------
    asks : the number of asks that were repeated.
    older : the number of further asks that an earlier engine made; their choices are not compared.
    engine : the number of that engine.
    line : the line in the journal of the first ask that differs; None if there is none.
    difference : what differs there; None if nothing does.
    """

    asks: int
    line: int | None
    difference: str | None
    older: int = 0
    engine: int = ENGINE

    @property
    def identical(self) -> bool:
        """Whether every suggestion is the same, bit for bit. That needs the same processor, BLAS and backend."""
        return self.line is None

    def __str__(self) -> str:
        other = (
            f"{self.older} asks were written by engine {self.engine}, this is engine {ENGINE}: choices differ"
            if self.older
            else ""
        )
        if self.identical:
            same = f"{self.asks} asks replayed, every suggestion identical"
            return other if other and not self.asks else "; ".join(filter(None, (same, other)))
        return f"line {self.line} differs: {self.difference}"


def replay(
    path: PathLike,
    *,
    surrogate: str | Surrogate | list[Surrogate] | None = None,
    acquisition: str | Acquisition | list[Acquisition] | None = None,
    strategy: str | Strategy | list[Strategy] | None = None,
    constraint: Constraint | list[Constraint] | None = None,
    table: Any = None,
    maximizer: Maximizer | list[Maximizer] | None = None,
    strategies: Sequence[Strategy] = (),
    costs: Sequence[Callable[[dict[str, Any]], float]] = (),
) -> Replay:
    """Verify a journal: repeat its asks, including the fits, with the results that were known at the time.

    For "identical" the versions, backend, processor, BLAS and number of BLAS threads must be the same; the first line
    of the journal names all but processor and BLAS. The file is only read.

    Parameters
    ----------
    path : the path of the journal.
    surrogate, acquisition, strategy, constraint, maximizer : custom parts, as for ``Optimizer.load``. If the study was
        changed, each may be a list of the earlier parts and the present one.
    table : the table of the space, if it was made by ``Space.from_table``.
    strategies : the custom strategies that were passed to single asks.
    costs : the cost functions that were passed to asks.
    """
    events = read_events(path)
    passed: dict[str, Any] = {
        "surrogate": surrogate,
        "acquisition": acquisition,
        "strategy": strategy,
        "maximizer": maximizer,
    }
    passed |= {"constraint": constraint, "table": table}
    is_changed = any(isinstance(event, Changed) for event in events)
    asks, older, engine = 0, 0, ENGINE
    study = Optimizer._from_events(events[:1], None, _settings(events[0], 1, passed, is_changed))
    for line, event in enumerate(events[1:], start=2):
        if isinstance(event, Changed):
            study._follow(event, line, _settings(event, line, passed, is_changed))
            continue
        if isinstance(event, Asked):
            try:
                chooser, cost = _wanted(study, event, strategies), _cost(event, costs)
                BatchRules.of(study.space, {}, None, event.request.get("max_cost"), cost)
            except (KeyError, TypeError, DamagedRequest, serialization.DamagedSettings) as error:
                raise JournalCorrupt(f"line {line} is not an ask that can be repeated: {error!r}", line) from error
            if study._ledger.engine != ENGINE:
                older, engine = older + 1, study._ledger.engine
            else:
                asks += 1
                difference = _ask_again(study, event, chooser, cost)
                if difference is not None:
                    return Replay(asks, line, difference + _other_backend(events[0]), older, engine)
        study._follow(event, line)
    return Replay(asks, None, None, older, engine)


def _settings(event: Event, line: int, passed: dict[str, Any], is_changed: bool) -> StudySettings:
    """The settings of a study from an event on, which begins or changes it, with the custom parts that were passed."""
    assert isinstance(event, Begun | Changed)
    config = event.config
    needed = {
        name: _fitting(name, part, config) if isinstance(part, list) and name != "table" else part
        for name, part in passed.items()
        if not is_changed
        or serialization.is_custom(config.get(name))
        or (name == "constraint" and config.get(name))
        or (name == "table" and isinstance(config.get("space"), dict) and config["space"].get(name))
    }
    return settings_in(config, needed, line)


def _fitting(name: str, parts: list[Any], config: dict[str, Any]) -> Any:
    """The part among ``parts`` that the settings name; the last one if they name none of them."""
    for part in parts:
        if name != "constraint" and serialization.to_config(part) == config.get(name):
            return part
        if name == "constraint":
            with suppress(InvalidInput):
                checked_constraint(config.get(name), part)
                return part
    return parts[-1] if parts else None


def _other_backend(begun: Event) -> str:
    """A likely cause of a difference: the study began on another backend than the one that runs."""
    then, now = begun.versions.get("backend") if isinstance(begun, Begun) else None, backend.name()
    if then in (None, now):
        return ""
    return f" (written with the backend {then!r}, replayed with {now!r}: set BELIEVER_BACKEND={then} for the same bits)"


class DamagedRequest(InvalidInput):
    """A journal holds a request that is invalid."""


def _wanted(study: Optimizer, event: Asked, strategies: Sequence[Strategy]) -> Strategy:
    """The strategy of an ask. The request in the journal is checked."""
    wanted = event.request
    strategy, fixed, distinct = wanted["strategy"], wanted["fixed"], wanted["distinct"]
    for flag in (distinct, wanted.get("repeat", False)):
        if not isinstance(flag, bool):
            raise DamagedRequest(f"distinct and repeat must be True or False; got {shown(flag)}.")
    known = (study.settings.strategy, *strategies)
    passed = next((part for part in known if serialization.to_config(part) == strategy), None)
    rebuilt = serialization.from_config(strategy, "strategies", passed)
    try:
        BatchRules.of(study.space, study.space.check_fixed(fixed), wanted.get("shared"))
        return serialization.strategy_named(serialization.having(("choose",), rebuilt, "strategy"))
    except InvalidInput as error:
        raise DamagedRequest(str(error)) from error


def _cost(event: Asked, costs: Sequence[Cost]) -> Cost | None:
    """The cost function of an ask. Raises InvalidInput if it was a function and was not passed."""
    known = event.request.get("cost")
    if known is None:
        return None
    if not isinstance(known, dict) or len(known) != 1 or not known.keys() <= {"prices", "function"}:
        raise DamagedRequest(f"cost must be prices or a function; got {shown(known)}.")
    if "prices" in known:
        return known["prices"]  # type: ignore[no-any-return]
    found = next((one for one in costs if callable(one) and is_constraint(known["function"], one)), None)
    if found is None:
        raise InvalidInput(
            f"an ask was made with the cost function {called(known['function'])}. Pass the same one in costs=[...]."
        )
    return found


def _ask_again(study: Optimizer, event: Asked, strategy: Strategy, cost: Cost | None) -> str | None:
    """The difference between the ask in the journal and the same ask made now; None if there is none."""
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
            shared=wanted.get("shared"),
            max_cost=wanted.get("max_cost"),
            cost=cost,
            cache=study._cache,
        ).event()
    except BelieverError as error:
        return f"{type(error).__name__}: {error}"
    for then, now in zip(event.trials, again.trials, strict=True):
        # Of a table, the row is compared: columns that are no features may change.
        params = then.params if study.space.table is None else study.space.check(then.params)
        if not same_params(params, now.params):
            return f"params of trial {then.id} were {then.params}, are {now.params}"
        if not np.array_equal(then.encoded, now.encoded):
            return f"unit of trial {then.id} was {then.encoded.tolist()}, is {now.encoded.tolist()}"
    # Earlier versions fitted a model even for a strategy that needs none. It had no influence, and later asks use it as
    # the journal has it.
    then_model = None if event.model is None else states_by_output(event.model, study.settings.goals)
    now_model = None if again.model is None else states_by_output(again.model, study.settings.goals)
    if then_model == now_model or (again.model is None and not needs_model(strategy)):
        return None
    return f"hyperparameters were {event.model}, are {again.model}"
