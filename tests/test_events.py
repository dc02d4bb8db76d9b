from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st
from journal_lines import checked

from believer.errors import InvalidInput
from believer.study.events import Abandoned, Asked, Begun, Enqueued, Event, Failed, Observed, Told, Upgraded
from believer.study.formats import FORMAT, decode_event, encode_event
from believer.study.outcome import Outcome
from believer.study.trials import Trial

finite = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([1e-300, -0.0, 1e12, 5e-324, 0.1])
scalars = st.none() | st.booleans() | st.integers() | finite | st.text(max_size=8)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(st.text(max_size=8), values, max_size=4)
ids = st.integers()
units = st.lists(st.floats(0, 1)).map(lambda unit: np.array(unit, dtype=np.float64))
trials = st.builds(Trial, ids, objects, units, st.text(), st.text())
results = st.floats(-1e100, 1e100) | st.sampled_from([1e-300, -0.0, 1e12, 5e-324, 0.1])
plain = st.builds(Outcome.of, results)
names = st.text(max_size=6)
times = st.none() | st.floats(0.0, 1e11)
used = st.none() | st.dictionaries(st.text(max_size=8), values, min_size=1, max_size=4)


@st.composite
def outcomes(draw: st.DrawFn) -> Outcome:
    objectives = draw(st.dictionaries(names, results, min_size=1, max_size=3))
    constraints = {f"{name}'": value for name, value in draw(st.dictionaries(names, results, max_size=2)).items()}
    constraints = {name: value for name, value in constraints.items() if name not in objectives}
    known = draw(st.lists(st.sampled_from([*objectives, *constraints]), unique=True))
    return Outcome(objectives, constraints, {name: draw(st.floats(0.0, 1e100)) for name in known})


EVENTS: dict[type[Event], st.SearchStrategy[Event]] = {
    Begun: st.builds(Begun, st.just(FORMAT), objects, objects),
    Asked: st.builds(Asked, st.lists(trials, max_size=3).map(tuple), objects, st.none() | objects, times),
    Upgraded: st.builds(Upgraded, st.just(FORMAT), objects),
    Told: st.builds(Told, ids, plain | outcomes(), times, used),
    Failed: st.builds(Failed, ids, st.text(), times, used),
    Observed: st.builds(Observed, ids, objects, plain | outcomes(), st.none(), times)
    | st.builds(Observed, ids, objects, st.none(), st.text(), times),
    Enqueued: st.builds(Enqueued, objects),
    Abandoned: st.builds(Abandoned, ids, times),
}


def bits(value: Any) -> Any:
    """Types, order and bits, where == would let 1 pass for 1.0, and 0.0 for -0.0."""
    if isinstance(value, float):
        return struct.pack("d", value)
    if isinstance(value, Trial):
        parts = (value.id, value.params, value.encoded.tolist(), value.provenance, value.origin)
        return [bits(part) for part in parts]
    if isinstance(value, Outcome):
        return [bits(getattr(value, part)) for part in ("objectives", "constraints", "noise")]
    if isinstance(value, dict):
        return [(key, bits(item)) for key, item in value.items()]
    if isinstance(value, list | tuple):
        return type(value), [bits(item) for item in value]
    return type(value), value


def all_bits(event: Event) -> Any:
    return type(event), [bits(getattr(event, name)) for name in event.__slots__]


@pytest.mark.parametrize("cls", EVENTS, ids=lambda cls: cls.__name__)
def test_every_event_survives_its_line_bit_for_bit(cls: type[Event]) -> None:
    @given(EVENTS[cls])
    @settings(max_examples=60)
    def survives(event: Event) -> None:
        line = encode_event(event)
        assert line.isascii()
        assert line.isprintable()
        assert all_bits(decode_event(line)) == all_bits(event)

    survives()


@each(
    "line",
    [
        '{"kind":"told","id":1}',
        '{"kind":"told","id":1,"value":1.0,"note":""}',
        '{"kind":"told","id":true,"value":1.0}',
        '{"kind":"told","id":1.0,"value":1.0}',
        '{"kind":"told","id":1,"value":true}',
        '{"kind":"told","id":1,"value":null}',
        '{"kind":"told","id":1,"value":"1.0"}',
        '{"kind":"told","id":1,"value":NaN}',
        '{"kind":"told","id":1,"value":-Infinity}',
        '{"kind":"told","id":1,"value":1e999}',
        '{"kind":"told","id":1,"value":1' + "0" * 400 + "}",
        '{"kind":"told","id":1,"id":2,"value":1.0}',
        '{"kind":"enqueued","params":{"x":1,"x":2}}',
        '{"kind":"enqueued","params":{"x":Infinity}}',
        '{"kind":"enqueued","params":{"x":1e999}}',
        '{"kind":"enqueued","params":[]}',
        '{"kind":"enqueued","params":' + '{"x":' * 100_000 + "1" + "}" * 100_001,
        '{"kind":"failed","id":1,"error":null}',
        '{"kind":"observed","id":1,"params":{},"value":null,"error":null}',
        '{"kind":"observed","id":1,"params":{},"value":1.0,"error":"no"}',
        '{"kind":"asked","trials":{},"request":{},"model":null}',
        '{"kind":"asked","trials":[1],"request":{},"model":null}',
        '{"kind":"asked","trials":[{"id":1}],"request":{},"model":null}',
        '{"kind":"asked","trials":[{"id":1,"params":{},"unit":[],"origin":"","provenance":3}],"request":{},"model":null}',
        '{"kind":"asked","trials":[],"request":{},"model":[]}',
        '{"kind":"begun","format":0,"config":{},"versions":{}}',
        '{"kind":"sold","id":1}',
        '{"kind":["told"],"id":1,"value":1.0}',
        '{"id":1,"value":1.0}',
        '[{"kind":"abandoned","id":1}]',
        '{"kind":"abandoned","id":1} {"kind":"abandoned","id":2}',
        "1",
        "",
    ],
    ids=lambda line: line[:50],
)
def test_a_line_of_the_first_format_that_is_not_exactly_one_event_is_refused(line: str) -> None:
    with pytest.raises(InvalidInput):
        decode_event(line, 1)


def test_a_whole_number_is_read_as_a_float() -> None:
    assert all_bits(decode_event('{"kind":"told","id":1,"value":3}', 1)) == all_bits(Told(1, Outcome.of(3.0)))
    assert all_bits(decode_event(checked({"kind": "told", "id": 1, "objectives": {"value": 3}}))) == all_bits(
        Told(1, Outcome.of(3.0))
    )


@each(
    "record",
    [
        {"kind": "told", "id": 1},
        {"kind": "told", "id": 1, "value": 1.0},
        {"kind": "told", "id": 1, "objectives": {}},
        {"kind": "told", "id": 1, "objectives": None},
        {"kind": "told", "id": 1, "objectives": {"a": "1"}},
        {"kind": "told", "id": 1, "objectives": {"a": True}},
        {"kind": "told", "id": 1, "objectives": {"a": 1e101}},
        {"kind": "told", "id": 1, "objectives": {"a": [1.0]}},
        {"kind": "told", "id": 1, "objectives": {"a": 1.0}, "constraints": {"a": 1.0}},
        {"kind": "told", "id": 1, "objectives": {"a": 1.0}, "constraints": None},
        {"kind": "told", "id": 1, "objectives": {"a": 1.0}, "noise": {"a": -1.0}},
        {"kind": "told", "id": 1, "objectives": {"a": 1.0}, "noise": {"b": 1.0}},
        {"kind": "told", "id": 1, "objectives": {"a": 1.0}, "note": {}},
        {"kind": "observed", "id": 1, "params": {}, "objectives": None, "error": None},
        {"kind": "observed", "id": 1, "params": {}, "objectives": {"a": 1.0}, "error": "no"},
        {"kind": "begun", "format": 4, "config": {}, "versions": {}},
        {"kind": "upgraded", "format": 2},
    ],
    ids=str,
)
def test_a_line_of_the_newest_format_that_is_not_exactly_one_event_is_refused(record: Any) -> None:
    with pytest.raises(InvalidInput):
        decode_event(checked(record))


def test_fields_of_a_result_that_were_left_out_have_their_defaults() -> None:
    line = checked({"kind": "told", "id": 1, "objectives": {"yield": 71.0}})
    assert decode_event(line) == Told(1, Outcome({"yield": 71.0}, {}, {}))
    assert '"constraints"' not in encode_event(Told(1, Outcome.of(1.0)))


def test_the_first_format_holds_plain_values_alone() -> None:
    assert encode_event(Told(1, Outcome.of(0.5)), 1) == '{"kind":"told","id":1,"value":0.5}'
    with pytest.raises(InvalidInput, match="format 1 of a journal holds one value a result"):
        encode_event(Told(1, Outcome.of(0.5, 0.1)), 1)


@each("cls", EVENTS, ids=lambda cls: cls.__name__)
def test_every_flipped_bit_of_a_line_is_found(cls: type[Event]) -> None:
    @given(EVENTS[cls])
    @settings(max_examples=5)
    def found(event: Event) -> None:
        line = encode_event(event).encode()
        for place in range(8 * len(line)):
            flipped = bytearray(line)
            flipped[place // 8] ^= 1 << place % 8
            try:
                text = bytes(flipped).decode()
            except UnicodeDecodeError:
                continue
            with pytest.raises(InvalidInput):
                decode_event(text)

    found()


def test_a_time_tells_no_two_events_apart_and_is_written_since_format_4() -> None:
    event = Abandoned(3, at=1.5)
    assert event == Abandoned(3)
    assert '"at":1.5' in encode_event(event)
    assert decode_event(encode_event(event)).at == 1.5  # type: ignore[union-attr]
    assert "at" not in encode_event(event, 3).split('"crc32"')[0].replace('"abandoned"', "")
    assert decode_event(encode_event(Abandoned(3))).at is None  # type: ignore[union-attr]


@pytest.mark.parametrize("at", [True, -1.0, "now", None, [1.0]])
def test_a_time_is_a_number_of_seconds(at: Any) -> None:
    with pytest.raises(InvalidInput, match="at of an event must be seconds since 1970"):
        decode_event(checked({"kind": "abandoned", "id": 3, "at": at}))


@pytest.mark.parametrize("record", [{"kind": "enqueued", "params": {}}, {"kind": "changed", "config": {}}])
def test_other_events_have_no_time(record: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="must have exactly the fields"):
        decode_event(checked({**record, "at": 1.0}))


def test_a_time_is_refused_before_format_4() -> None:
    with pytest.raises(InvalidInput, match="must have exactly the fields"):
        decode_event(checked({"kind": "abandoned", "id": 3, "at": 1.0}), 3)
