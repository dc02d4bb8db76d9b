"""The events of a study: frozen values, and the line of JSON that each one is written as.

A line is exactly one event or it is refused: every field present, none unknown, each of its type. Floats are written by
``repr``, so they come back bit for bit.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, fields
from types import NoneType
from typing import Any, TypeAlias

from believer.errors import InvalidInput

FORMAT = 1
"""The newest journal format that this version reads, and the one that it writes."""

Json: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Begun:
    """A study began: its settings, and the versions that ran it. Always the first event, and only the first."""

    format: int
    config: Json
    versions: Json


@dataclass(frozen=True, slots=True)
class Asked:
    """Trials ``{id, params, unit, origin, provenance}`` were handed out, under ``model``'s fitted hyperparameters."""

    trials: tuple[Json, ...]
    request: Json
    model: Json | None


@dataclass(frozen=True, slots=True)
class Told:
    """The trial's value came in; always finite."""

    id: int
    value: float


@dataclass(frozen=True, slots=True)
class Failed:
    """The trial has no value and will have none."""

    id: int
    error: str


@dataclass(frozen=True, slots=True)
class Observed:
    """A result that was never asked for: a value, or an error, and not both."""

    id: int
    params: Json
    value: float | None
    error: str | None


@dataclass(frozen=True, slots=True)
class Enqueued:
    """A point to hand out at the next ask."""

    params: Json


@dataclass(frozen=True, slots=True)
class Abandoned:
    """The trial is not pending any more, and nothing was learnt from it."""

    id: int


Event: TypeAlias = Begun | Asked | Told | Failed | Observed | Enqueued | Abandoned

_CLASSES: dict[str, type[Event]] = {
    "begun": Begun,
    "asked": Asked,
    "told": Told,
    "failed": Failed,
    "observed": Observed,
    "enqueued": Enqueued,
    "abandoned": Abandoned,
}
_KINDS = {cls: kind for kind, cls in _CLASSES.items()}


# Keyed by the annotations of the dataclasses above, so that a field's type is written once. The types that JSON gives
# are exact: a bool is not an int here.
_TYPES: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (float, int),
    "float | None": (float, int, NoneType),
    "str": (str,),
    "str | None": (str, NoneType),
    "Json": (dict,),
    "Json | None": (dict, NoneType),
    "tuple[Json, ...]": (list,),
    "list[float]": (list,),
}
_TRIAL = {"id": "int", "params": "Json", "unit": "list[float]", "origin": "str", "provenance": "str"}


def encode_event(event: Event) -> str:
    """The event as one line of ASCII JSON, without its newline.

    Raises ``InvalidInput`` unless the line reads back as an equal event: NaN, tuples, keys that are not strings.
    """
    record = {"kind": _KINDS[type(event)], **{field.name: getattr(event, field.name) for field in fields(event)}}
    try:
        line = json.dumps(record, allow_nan=False, separators=(",", ":"))
        same = decode_event(line) == event
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"an event must be plain JSON; got {record['kind']} with something else: {error}") from error
    if not same:
        raise InvalidInput(
            f"an event must read back as it was written; got {line[:200]}, which does not. "
            "Use lists in place of tuples, and strings as keys."
        )
    return line


def decode_event(line: str) -> Event:
    """The event of one line; ``InvalidInput`` if the line is anything but exactly one known event."""
    record = parse_object(line)
    kind = record.pop("kind", None)
    if not isinstance(kind, str) or kind not in _CLASSES:
        raise InvalidInput(f"kind must be one of {', '.join(_CLASSES)}; got {line[:80]!r}.")
    cls = _CLASSES[kind]
    _check_fields(kind, record, {field.name: str(field.type) for field in fields(cls)})
    if cls is Begun and not 1 <= record["format"] <= FORMAT:
        raise InvalidInput(f"format of begun must lie in 1..{FORMAT}; got {record['format']}.")
    if cls is Observed and (record["value"] is None) == (record["error"] is None):
        raise InvalidInput("observed must have either a value or an error; got both or neither.")
    if cls is Asked:
        for trial in record["trials"]:
            _check_fields("a trial", trial, _TRIAL)
        record["trials"] = tuple(record["trials"])
    if record.get("value") is not None:
        record["value"] = _finite(record["value"])
    return cls(**record)


def _check_fields(what: str, record: Any, types: dict[str, str]) -> None:
    if type(record) is not dict:
        raise InvalidInput(f"{what} must be an object; got {type(record).__name__}.")
    if record.keys() != types.keys():
        raise InvalidInput(f"{what} must have exactly the fields {', '.join(types)}; got {', '.join(record)}.")
    for name, value in record.items():
        if type(value) not in _TYPES[types[name]]:
            raise InvalidInput(f"{name} of {what} must be {types[name]}; got {type(value).__name__}.")


def parse_object(line: str) -> Json:
    """The JSON object of one line, whatever its fields; keys must differ and numbers be finite."""
    try:
        record = json.loads(line, object_pairs_hook=_distinct, parse_float=_finite, parse_constant=_finite)
    except RecursionError as error:
        raise InvalidInput("an event must be a JSON object; got one that is nested too deeply.") from error
    except ValueError as error:
        raise InvalidInput(f"an event must be a JSON object; got {line[:80]!r}: {error}") from error
    if not isinstance(record, dict):
        raise InvalidInput(f"an event must be a JSON object; got {line[:80]!r}.")
    return record


def _distinct(pairs: list[tuple[str, Any]]) -> Json:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise InvalidInput(f"keys must differ within an object; got {', '.join(key for key, _ in pairs)}.")
    return record


def _finite(number: str | float) -> float:
    try:
        value = float(number)
    except OverflowError:
        value = math.inf
    if not math.isfinite(value):
        raise InvalidInput(f"numbers must be finite; got {number!s:.50}.")
    return value
