from __future__ import annotations

import struct
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from believer.errors import InvalidInput
from believer.study.events import (
    FORMAT,
    Abandoned,
    Asked,
    Begun,
    Enqueued,
    Event,
    Failed,
    Observed,
    Told,
    decode_event,
    encode_event,
)

finite = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([1e-300, -0.0, 1e12, 5e-324, 0.1])
scalars = st.none() | st.booleans() | st.integers() | finite | st.text(max_size=8)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(st.text(max_size=8), values, max_size=4)
ids = st.integers()
trials = st.fixed_dictionaries(
    {"id": ids, "params": objects, "unit": st.lists(st.floats(0, 1)), "origin": st.text(), "provenance": st.text()}
)
EVENTS: dict[type[Event], st.SearchStrategy[Event]] = {
    Begun: st.builds(Begun, st.just(FORMAT), objects, objects),
    Asked: st.builds(Asked, st.lists(trials, max_size=3).map(tuple), objects, st.none() | objects),
    Told: st.builds(Told, ids, finite),
    Failed: st.builds(Failed, ids, st.text()),
    Observed: st.builds(Observed, ids, objects, finite, st.none())
    | st.builds(Observed, ids, objects, st.none(), st.text()),
    Enqueued: st.builds(Enqueued, objects),
    Abandoned: st.builds(Abandoned, ids),
}


def bits(value: Any) -> Any:
    """Types and bits, where == would let 1 pass for 1.0, and 0.0 for -0.0."""
    if isinstance(value, float):
        return struct.pack("d", value)
    if isinstance(value, dict):
        return {key: bits(item) for key, item in value.items()}
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


@pytest.mark.parametrize(
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
def test_a_line_that_is_not_exactly_one_event_is_refused(line: str) -> None:
    with pytest.raises(InvalidInput):
        decode_event(line)


def test_a_whole_number_is_read_as_a_float() -> None:
    assert bits(decode_event('{"kind":"told","id":1,"value":3}').value) == bits(3.0)  # type: ignore[union-attr]
