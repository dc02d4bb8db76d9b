"""The formats of a journal: how an event is written as a line of JSON, and read, in each of them.

A line must be exactly one event: it has no unknown field, each field has its type, and only fields with a default in
the format may be absent. Floats are written by ``repr``, so they come back bit for bit.

======  ==================================================================================================
format  what is new
======  ==================================================================================================
1       a result is a ``value``
2       a result has ``objectives``, and where there are any ``constraints`` and ``noise``, all by name;
        every line ends with the CRC-32 of what stands before it, so that a flipped bit is found
3       a study may declare its outcomes; a result may come in parts, and have ``replicates`` and ``lost``; a line
        ``amended`` corrects one
4       every study has outcomes, and hyperparameters by output; the first line and ``upgraded`` ones say the engine's
        number; a line ``changed`` has new settings; an event may have a time, ``at``
5       a space may have rules, and parameters of the kinds Ordinal and Discrete
6       a space may have conditional parameters, a table of candidates and descriptors of categories; an ask may have
        rules for its batch; a result may say at which parameters it was really obtained
======  ==================================================================================================

An older journal stays as it is: what is added to it follows an ``upgraded`` line and is written in the newest format.
"""

from __future__ import annotations

import json
import math
import re
import sys
import zlib
from dataclasses import replace
from types import NoneType
from typing import Any, cast, get_args

import numpy as np

from believer.arrays import read_only
from believer.errors import InvalidInput
from believer.study.events import (
    Abandoned,
    Amended,
    Asked,
    Begun,
    Changed,
    Enqueued,
    Event,
    Failed,
    Json,
    Observed,
    Timed,
    Told,
    Upgraded,
)
from believer.study.outcome import Outcome
from believer.study.trials import Trial

FORMAT = 6
"""The newest format that this version reads, and the one that it writes."""

_CLASSES: dict[str, type[Event]] = {
    "begun": Begun,
    "upgraded": Upgraded,
    "changed": Changed,
    "asked": Asked,
    "told": Told,
    "failed": Failed,
    "observed": Observed,
    "amended": Amended,
    "enqueued": Enqueued,
    "abandoned": Abandoned,
}
_KINDS = {cls: kind for kind, cls in _CLASSES.items()}
_TIMED = get_args(Timed)
_Evaluated = Told | Failed | Amended
"""Events that may have the parameters with which a trial was really evaluated."""

# The types that JSON gives are exact: a bool is not an int here.
_INT, _TEXT, _OBJECT, _LIST, _NUMBER = (int,), (str,), (dict,), (list,), (float, int)
_OR_NONE = (NoneType,)
Types = dict[str, tuple[type, ...]]

_TRIAL: Types = {"id": _INT, "params": _OBJECT, "unit": _LIST, "origin": _TEXT, "provenance": _TEXT}
_FIELDS: dict[str, Types] = {
    "begun": {"format": _INT, "config": _OBJECT, "versions": _OBJECT},
    "upgraded": {"format": _INT, "versions": _OBJECT},
    "changed": {"config": _OBJECT},
    "asked": {"trials": _LIST, "request": _OBJECT, "model": _OBJECT + _OR_NONE},
    "failed": {"id": _INT, "error": _TEXT},
    "enqueued": {"params": _OBJECT},
    "abandoned": {"id": _INT},
}
_OUTCOME: dict[int, Types] = {
    1: {"value": _NUMBER + _OR_NONE},
    2: {"objectives": _OBJECT + _OR_NONE, "constraints": _OBJECT, "noise": _OBJECT},
}
_OUTCOME[3] = _OUTCOME[4] = _OUTCOME[5] = _OUTCOME[6] = {**_OUTCOME[2], "replicates": _OBJECT, "lost": _LIST}
"""The fields of a result in each format."""

_DEFAULTS: dict[int, dict[str, Any]] = {1: {}, 2: {"constraints": {}, "noise": {}}}
_DEFAULTS[3] = _DEFAULTS[4] = _DEFAULTS[5] = _DEFAULTS[6] = {**_DEFAULTS[2], "replicates": {}, "lost": []}
"""Fields of a result that a line of each format may lack, and their defaults."""

_ANSWERS: dict[tuple[type[Event], int], Types] = {
    (cls, version): {**own, **result}
    for cls, own in (
        (Told, {"id": _INT}),
        (Observed, {"id": _INT, "params": _OBJECT, "error": _TEXT + _OR_NONE}),
        (Amended, {"id": _INT, "error": _TEXT + _OR_NONE}),
    )
    for version, result in _OUTCOME.items()
}
"""The fields of a line with a result in each format."""

_CHECKSUM = ',"crc32":"{}"}}'
"""The end of a line."""

_END = re.compile(rb',"crc32":"([0-9a-f]{8})"\}')
"""The same, to be looked for."""

_DEEPEST = 32
"""The largest depth of nesting: more than any part of this library has, and small enough for recursion."""

_written = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode
_read = json.JSONDecoder().decode


def encode_event(event: Event, version: int = FORMAT) -> str:
    """The event as one line of ASCII JSON in the format ``version``, without its newline.

    Raises ``InvalidInput`` unless the line reads back as an equal event: NaN, tuples, keys that are not strings.
    """
    record = {"kind": _KINDS[type(event)], **_record(event, version)}
    try:
        line = _written(record)
        again = _read(line)
        _refuse_depth(again, line)
        same = _event(again, version) == event
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"an event must be plain JSON; got {record['kind']} with something else: {error}") from error
    if not same:
        raise InvalidInput(
            f"an event must read back as it was written; got {line[:200]}, which does not. "
            "Use lists in place of tuples, and strings as keys."
        )
    return line if version == 1 else line[:-1] + _CHECKSUM.format(_crc32(line))


def _record(event: Event, version: int) -> Json:
    """The fields of an event as they are written."""
    record: Json = {}
    for name in type(event).__slots__:
        value = getattr(event, name)
        if name == "outcome":
            record.update(_result(value, version))
        elif name == "trials":
            record["trials"] = [_trial(trial) for trial in value]
        elif name == "params" and isinstance(event, _Evaluated):
            if value is not None and version < 6:
                raise InvalidInput(f"format {version} of a journal holds no params of a result.")
            record |= {} if value is None else {"params": value}
        elif name == "at":
            record |= {} if value is None or version < 4 else {"at": value}
        elif name != "engine" or version >= 4:
            record[name] = value
    return record


def _trial(trial: Trial) -> Json:
    """The fields of a trial, in the order in which they have always been written."""
    parts = (trial.id, trial.params, trial.encoded.tolist(), trial.origin, trial.provenance)
    return dict(zip(_TRIAL, parts, strict=True))


def _result(outcome: Outcome | None, version: int) -> Json:
    """The fields of a result; empty without one."""
    if version == 1:
        if outcome is not None and not outcome.is_plain:
            raise InvalidInput("format 1 of a journal holds one value a result, without noise.")
        return {"value": None if outcome is None else outcome.value}
    if outcome is None:
        return {"objectives": None}
    more = {name: getattr(outcome, name) for name in _DEFAULTS[FORMAT] if getattr(outcome, name)}
    if not more.keys() <= _DEFAULTS[version].keys():
        raise InvalidInput(f"format {version} of a journal holds no {', '.join(more.keys() - _DEFAULTS[version])}.")
    return {"objectives": outcome.objectives, **more}


def decode_event(line: str, version: int = FORMAT) -> Event:
    """The event of one line of format ``version``; ``InvalidInput`` if it is not exactly one known event."""
    return _event(parse_object(_verified(line) if version > 1 else line), version)


def _event(record: Json, version: int) -> Event:
    kind = record.pop("kind", None)
    if not isinstance(kind, str) or kind not in _CLASSES:
        raise InvalidInput(f"kind must be one of {', '.join(_CLASSES)}; got {kind!r:.80}.")
    cls = _CLASSES[kind]
    if version >= 4 and "at" in record and cls in _TIMED:
        at = _time(record.pop("at"))
        return replace(cast(Timed, _event({"kind": kind, **record}, version)), at=at)
    if version >= 6 and "params" in record and issubclass(cls, _Evaluated):
        params = record.pop("params")
        if type(params) is not dict or not params:
            raise InvalidInput(f"params of {kind} must be an object with at least one of them; got {params!r:.80}.")
        known = cast("Told | Failed | Amended", _event({"kind": kind, **record}, version))
        return replace(known, params=_kept_once(params))
    if (cls is Amended and version < 3) or (cls is Changed and version < 4):
        raise InvalidInput(f"format {version} of a journal has no line of the kind {kind}.")
    if cls is Told or cls is Observed or cls is Amended:
        return _decode_result(cls, record, version)
    numbered = version >= 4 and (cls is Begun or cls is Upgraded)
    _check_fields(kind, record, {**_FIELDS[kind], "engine": _INT} if numbered else _FIELDS[kind])
    if numbered and record["engine"] < 1:
        raise InvalidInput(f"engine of {kind} must be 1 or more; got {record['engine']}.")
    if "format" in record and not 1 <= record["format"] <= FORMAT:
        raise InvalidInput(f"format of {kind} must lie in 1..{FORMAT}; got {record['format']}.")
    if cls is Asked:
        record["trials"] = tuple(_decode_trial(trial) for trial in record["trials"])
        record["model"] = None if record["model"] is None else _kept_once(record["model"])
    elif cls is Enqueued:
        record["params"] = _kept_once(record["params"])
    return cls(**record)


def _time(at: Any) -> float:
    """The time of an event; InvalidInput if it is not a time."""
    if type(at) not in _NUMBER or not 0.0 <= at < math.inf:
        raise InvalidInput(f"at of an event must be seconds since 1970; got {at!r:.80}.")
    return float(at)


def _kept_once(record: Json) -> Json:
    """``record`` with interned strings, since a study may have a million lines."""
    return {sys.intern(name): sys.intern(value) if type(value) is str else value for name, value in record.items()}


def _decode_trial(trial: Any) -> Trial:
    """A trial of an ask."""
    _check_fields("a trial", trial, _TRIAL)
    if not all(type(u) in _NUMBER and 0.0 <= u <= 1.0 for u in trial["unit"]):
        raise InvalidInput(f"unit of a trial must be numbers in [0, 1]; got {trial['unit']!r:.80}.")
    return Trial(
        trial["id"],
        _kept_once(trial["params"]),
        read_only(np.array(trial["unit"], dtype=np.float64)),
        sys.intern(trial["provenance"]),
        sys.intern(trial["origin"]),
    )


def _decode_result(cls: type[Told | Observed | Amended], record: Json, version: int) -> Event:
    kind = _KINDS[cls]
    record = {**_DEFAULTS[version], **record}
    _check_fields(kind, record, _ANSWERS[cls, version])
    if version == 1:
        value = record["value"]
        outcome = None if value is None else Outcome.of(value)
    else:
        outcome = None if record["objectives"] is None else _outcome(record, version)
    if cls is Told:
        if outcome is None:
            raise InvalidInput(f"{kind} must have a value; got none.")
        return Told(record["id"], outcome)
    if (outcome is None) == (record["error"] is None):
        raise InvalidInput(f"{kind} must have either a value or an error; got both or neither.")
    if cls is Amended:
        return Amended(record["id"], outcome, record["error"])
    return Observed(record["id"], _kept_once(record["params"]), outcome, record["error"])


def _outcome(record: Json, version: int) -> Outcome:
    lost = record.get("lost", [])
    if not all(type(name) is str for name in lost):
        raise InvalidInput(f"lost must be names; got {lost!r:.80}.")
    if version < 3 and not record["objectives"]:
        raise InvalidInput("an outcome needs at least one objective; got none.")
    return Outcome(
        record["objectives"], record["constraints"], record["noise"], record.get("replicates", {}), tuple(lost)
    )


def _verified(line: str) -> str:
    """The line without its checksum; InvalidInput if that is missing, or belongs to another line."""
    text, checksum = _apart(line)
    if checksum is None:
        raise InvalidInput(f"a line must end with its checksum; got {line[-80:]!r}.")
    if checksum != _crc32(text):
        raise InvalidInput("the checksum belongs to another line: this one was damaged or edited.")
    return text


def is_damaged(line: str) -> bool:
    """Whether a line ends with a checksum that is not its own."""
    text, checksum = _apart(line)
    return checksum is not None and checksum != _crc32(text)


def _apart(line: str) -> tuple[str, str | None]:
    """A line without its checksum, and the checksum; None if it has none."""
    end = -len(_CHECKSUM.format("00000000"))
    text, checksum = line[:end] + "}", line[end:][10:18]
    return (text, checksum) if line[end:] == _CHECKSUM.format(checksum) else (line, None)


def whole_line(data: bytes) -> int | None:
    """The number of bytes of ``data`` that form a line with a valid checksum, in any format; None if there is none."""
    crc, start, view = 0, 0, memoryview(data)
    for end in _END.finditer(data):
        crc, start = zlib.crc32(view[start : end.start()], crc), end.start()
        if zlib.crc32(b"}", crc) == int(end[1], 16):
            return end.end()
    return None


def _crc32(text: str) -> str:
    return f"{zlib.crc32(text.encode()):08x}"


def _check_fields(what: str, record: Any, types: Types) -> None:
    if type(record) is not dict:
        raise InvalidInput(f"{what} must be an object; got {type(record).__name__}.")
    if record.keys() != types.keys():
        raise InvalidInput(f"{what} must have exactly the fields {', '.join(types)}; got {', '.join(record)}.")
    for name, value in record.items():
        if type(value) not in types[name]:
            wanted = " or ".join(cls.__name__ for cls in types[name])
            raise InvalidInput(f"{name} of {what} must be {wanted}; got {type(value).__name__}.")


def parse_object(line: str, what: str = "an event") -> Json:
    """The JSON object of one line, whatever its fields; keys must differ, numbers must be finite, and the nesting is
    limited."""
    try:
        record = _as_written(line)
        if record is None:
            record = json.loads(line, object_pairs_hook=_distinct, parse_float=_finite, parse_constant=_finite)
    except RecursionError as error:
        raise InvalidInput(f"{what} must be a JSON object; got one that is nested too deeply.") from error
    except ValueError as error:
        raise InvalidInput(f"{what} must be a JSON object; got {line[:80]!r}: {error}") from error
    if not isinstance(record, dict):
        raise InvalidInput(f"{what} must be a JSON object; got {line[:80]!r}.")
    _refuse_depth(record, line, what)
    return record


def _as_written(line: str) -> Any:
    """The content of ``line`` if this library may have written it; None if keys may be repeated or numbers not finite.

    Most lines are: writing a record again is faster than checking each of its keys and numbers.
    """
    try:
        record = _read(line)
        return record if _written(record) == line else None
    except ValueError:
        return None


def _refuse_depth(record: Json, line: str, what: str = "an event") -> None:
    """Raise InvalidInput if lists and objects are nested too deeply."""
    if line.count("[") + line.count("{") <= _DEEPEST:
        return
    level: list[Any] = [record]
    for _ in range(_DEEPEST):
        inner = (item for part in level for item in (part.values() if isinstance(part, dict) else part))
        level = [item for item in inner if isinstance(item, dict | list)]
    if level:
        raise InvalidInput(f"{what} must be a JSON object; got one that is nested too deeply.")


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
