"""The differences between two sets of settings, in words, and the move of trials into another space."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from believer.arrays import Array, frozen
from believer.errors import InvalidInput
from believer.space import Space
from believer.space.carried import Carried
from believer.space.parameter import backfill_of
from believer.space.rules import from_config as rule_from
from believer.space.units import config_of
from believer.study import serialization
from believer.study.constraints import called
from believer.study.labels import described
from believer.study.trials import same_value


def differences(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[str]:
    """A line for each setting that differs: the value in the journal and the requested one. Units are not compared.

    Settings are plain data here, as ``StudySettings.to_config`` gives them.
    """
    lines = []
    for name, now in wanted.items():
        then = found.get(name)
        if then == now and name != "space":
            continue
        if name == "space":
            before, after = _parameters(then), _parameters(now)
            lines += [
                f"parameter {p}: {_said(before.get(p))}, now {_said(after.get(p))}" for p in _changed(before, after)
            ]
            if [*before] != [*after] and not _changed(before, after):
                lines.append(f"order of the parameters: {', '.join(before)}, now {', '.join(after)}")
            if (tables := [one.get("table") for one in (then or {}, now)])[0] != tables[1]:
                lines.append(f"table: {_rows(tables[0])}, now {_rows(tables[1])}")
            names = {part["name"] for part in now["parameters"]}
            carried = [part["name"] for part in (then or now)["parameters"] if part["kind"] == Carried.__name__]
            lines += [f"column {name} of the table: is no more" for name in carried if name not in names]
            if (ruled := _ruled(then)) != _ruled(now):
                lines.append(f"rules: {ruled}, now {_ruled(now)}")
        elif name == "outcomes" and then is not None:
            lines += [f"outcome {o}: {_said(then.get(o))}, now {_said(now.get(o))}" for o in _changed(then, now)]
        elif name == "constraint":
            known = called(then)
            lines.append(f"constraint: {known}, {'edited' if known == called(now) else f'now {called(now)}'}")
        else:
            lines.append(f"{name}: {_said(then)}, now {_said(now)}")
    return lines


def _changed(then: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    names = (*then, *(name for name in now if name not in then))
    return [name for name in names if not _same(then.get(name), now.get(name))]


def _same(then: Any, now: Any) -> bool:
    """Whether two parameters or outcomes are the same; 1, 1.0 and True are three different choices.

    A parameter that gets units for the first time stays the same.
    """
    if isinstance(then, Mapping) and isinstance(now, Mapping) and "units" not in then:
        now = _without_units(now)
    choices = [one.get("choices", ()) if isinstance(one, Mapping) else () for one in (then, now)]
    return bool(then == now) and [*map(type, choices[0])] == [*map(type, choices[1])]


def _parameters(config: Any) -> dict[str, Any]:
    """The values of each parameter, by name, without backfills."""
    said = ("name", "backfill")
    parts = [part for part in config["parameters"] if part["kind"] != Carried.__name__]
    return {part["name"]: {k: v for k, v in part.items() if k not in said} for part in parts}


def _rows(table: Any) -> str:
    """A table of candidates in words."""
    if table is None:
        return "none"
    return f"{table['rows']:,} rows by {', '.join(table['features'])} ({table['sha256'][:8]})"


def _ruled(config: Any) -> str:
    """The rules of a space, as they are written."""
    return ", ".join(repr(rule_from(rule)) for rule in config.get("rules", ())) or "none"


def with_units(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """``wanted``, with the journal's units for parameters and outcomes that have no units in it."""
    before, goals = _parameters(found["space"]), found["outcomes"]
    space = wanted["space"]
    parts = [
        {**part, **config_of(part.get("units") or before.get(part["name"], {}).get("units", ""))}
        for part in space["parameters"]
    ]
    outcomes = {
        name: {**goal, **config_of(goal.get("units") or goals.get(name, {}).get("units", ""))}
        for name, goal in wanted["outcomes"].items()
    }
    return {**wanted, "space": {**space, "parameters": parts}, "outcomes": outcomes}


def is_relabeled(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether settings differ only in their units."""
    if units_in(found) == units_in(wanted):
        return False
    # As text, which tells 1 from True.
    return repr(_without_labels(found)) == repr(_without_labels(wanted))


def units_in(config: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The units of each parameter and outcome of settings, "" for none."""
    parts = [*_parameters(config["space"]).items(), *config["outcomes"].items()]
    return [(name, part.get("units", "")) for name, part in parts]


def _without_labels(config: Mapping[str, Any]) -> dict[str, Any]:
    """Settings without units and backfills."""
    space = {**config["space"], "parameters": {n: _without_units(p) for n, p in _parameters(config["space"]).items()}}
    return {**config, "space": space, "outcomes": {n: _without_units(goal) for n, goal in config["outcomes"].items()}}


def _without_units(part: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in part.items() if name != "units"}


def _said(config: Any) -> str:
    if config is None:
        return "none"
    if isinstance(config, dict) and "kind" in config:
        return f"{config['kind']}({', '.join(f'{k}={v!r}' for k, v in config.items() if k != 'kind')})"
    if isinstance(config, dict) and ("type" in config or "custom" in config):
        return serialization.named(config)
    return described(config) if isinstance(config, dict) else str(config)


def adapted(
    params: Mapping[str, Any],
    space: Space,
    fill: Mapping[str, Any],
    check: Callable[[Mapping[str, Any]], dict[str, Any]] | None = None,
) -> dict[str, Any] | None:
    """A point of another space, converted to this one; None if it lies outside.

    A new parameter has the value of its ``backfill``. A removed parameter is left out; if it had a ``backfill``, only
    points with that value can be converted. A parameter without a value at the point is left out as well.

    ``fill`` has the known values of parameters, of this space or others, at points that lack them. ``check`` checks
    whether a point is allowed; None allows what the space may suggest, whatever its rules.
    """
    names = space.names
    if any(name not in names and not same_value(value, fill.get(name, value)) for name, value in params.items()):
        return None
    try:
        params = space.trimmed({**{n: fill[n] for n in names if n in fill}, **_only(params, names)})
        return (check or space.check)(params)
    except InvalidInput:
        return None


def stated_backfill(space: Space) -> dict[str, Any]:
    """The backfills of a space: the values of its parameters at points that lack them."""
    return {name: value for name, p in space.parameters.items() if (value := backfill_of(p)) is not ...}


def _only(params: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: value for name, value in params.items() if name in names}


def placed(
    points: Iterable[Mapping[str, Any]], space: Space, fill: Mapping[str, Any]
) -> list[tuple[dict[str, Any], Array] | None]:
    """Points of other spaces, converted to this one by :func:`adapted`, with their encoded rows; None for each that
    lies outside."""
    found = [adapted(params, space, fill) for params in points]
    fitting = [params for params in found if params is not None]
    units = iter(space.encode(fitting)) if fitting else iter(())
    return [None if params is None else (params, frozen(next(units))) for params in found]


def without_backfill(found: Mapping[str, Any], space: Space) -> list[str]:
    """New parameters without a backfill, if earlier results may have had a value."""
    config = {**found["space"], "constrained": False, "table": None}
    earlier, fill = Space.from_config(config).parameters, stated_backfill(space)
    new = [name for name, p in space.parameters.items() if p.width and name not in earlier and name not in fill]
    return [name for name in new if space.has_place_for(name, earlier, fill)]
