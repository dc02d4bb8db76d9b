"""Numbers as people of any country write them; what could be two numbers is refused."""

from __future__ import annotations

import math
from contextlib import suppress

import pytest
from each import each
from hypothesis import given
from hypothesis import strategies as st

from believer.errors import InvalidInput
from believer.lab.cells import says_failed, says_not_run
from believer.space.texts import Marks, text_of

POINT, COMMA, NONE, BOTH = (Marks(frozenset(seen)) for seen in (".", ",", "", ".,"))


@each(
    "text, number",
    [
        ("1", 1.0),
        ("1.5", 1.5),
        ("1,5", 1.5),
        ("1.234,5", 1234.5),
        ("1,234.5", 1234.5),
        ("1 234,5", 1234.5),
        ("1\u202f234,5", 1234.5),
        ("1'234.5", 1234.5),
        ("1.234.567", 1234567.0),
        ("1,234,567", 1234567.0),
        ("0,123", 0.123),
        ("0.123", 0.123),
        ("1.2E-05", 1.2e-5),
        ("1,2e-05", 1.2e-5),
        ("\u22125", -5.0),
        ("+5", 5.0),
        ("'5", 5.0),
        (".5", 0.5),
        ("5,", 5.0),
        ("12 %", 12.0),
        ("12%", 12.0),
        ("  12 ", 12.0),
        ("１２", 12.0),
        (3, 3.0),
        (2.5, 2.5),
    ],
)
def test_a_number_is_read_whatever_its_marks(text: object, number: float) -> None:
    for marks in (POINT, COMMA, NONE, BOTH):
        assert marks.number(text, "%") == number


@each("marks, text, number", [(COMMA, "1,234", 1.234), (POINT, "1,234", 1234.0), (NONE, "1.234", 1.234)])
def test_what_other_cells_show_tells_thousands_from_decimals(marks: Marks, text: str, number: float) -> None:
    assert marks.number(text) == number


@each("marks, text", [(NONE, "1,234"), (BOTH, "1,234"), (COMMA, "1.234")])
def test_a_number_that_could_be_two_is_refused_with_both(marks: Marks, text: str) -> None:
    with pytest.raises(InvalidInput, match=r"may be 1234 or 1\.234"):
        marks.number(text)


@each(
    "text, words",
    [
        ("8l", "not a number"),
        ("<5", "limit of detection"),
        ("1-Feb", "made a date"),
        ("2026-02-01 00:00:00", "not a number"),
        ("#DIV/0!", "error of the spreadsheet"),
        ("#WERT!", "error of the spreadsheet"),
        ("12,34,567", "not a number"),
        ("1.2.3", "not a number"),
        ("1 2", "not a number"),
        ("1e999", "within"),
        ("5 mg", "not a number"),
        ("inf", "not a number"),
        ("", "not a number"),
        (True, "not a number"),
        (float("inf"), "within"),
    ],
)
def test_what_is_no_number_is_refused_in_a_sentence(text: object, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        NONE.number(text, "%")
    if str(text).endswith("%"):
        with pytest.raises(InvalidInput, match="not in %"):
            NONE.number(text, "g")


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e99, max_value=1e99))
def test_any_number_survives_with_either_mark(number: float) -> None:
    assert POINT.number(repr(number)) == number
    comma = repr(number).replace(".", ",")
    assert Marks.of([comma, "0,5"]).number(comma) == number


@given(st.text(max_size=12))
def test_any_text_is_a_finite_number_or_refused(text: str) -> None:
    for marks in (POINT, COMMA, NONE):
        with suppress(InvalidInput):
            assert math.isfinite(marks.number(text, "%"))


def test_cells_written_by_a_program_do_not_make_thousands_of_what_a_person_types() -> None:
    assert Marks.of(["12.5"], []).number("1,234") == 1234.0
    for others in (["12.5"], []):
        with pytest.raises(InvalidInput, match="may be"):
            Marks.of(["1,234"], others).number("1,234")
    assert Marks.of(["1,234"], ["33,3"]).number("1,234") == 1.234
    assert Marks.of(["1,234"], [], ",").number("1,234") == 1.234


def test_words_for_failures_and_for_what_is_not_run() -> None:
    assert all(map(says_failed, ["failed", "FAILED!", "n/a", "N/A", "n.a.", "failed: spilled", "NaN"]))
    assert all(map(says_not_run, ["not run", "Not run.", "skipped"]))
    assert not any(map(says_failed, ["", "12", "failing grade A", "nano", "nil", "not run"]))
    assert [text_of(None), text_of(math.nan), text_of(" a \u00a0b\n")] == ["", "", "a b"]
