from __future__ import annotations

import csv
import html
import io
import re
from typing import Any

import numpy as np
import pytest
from each import each
from hypothesis import example, given, settings
from hypothesis import strategies as st

from believer.errors import InvalidInput
from believer.report import Table, formatted

NASTY = [
    "comma, here",
    'a "quote"',
    "pipe | pipe",
    "back\\|slash\\",
    "two\nlines",
    "cr\rlf\r\nend",
    "<b>&amp;",
    "*star*",
]
NASTY += [
    "_under_ a_b __init__",
    "`code`",
    "[link](x)",
    "~~no~~",
    "Matérn σ²",
    "漢字",
    "e\u0301",
    "",
    " ",
    "\u2028",
    "\x1b[31m",
]
TEXT = st.text(st.characters(codec="utf-8"), max_size=12) | st.sampled_from(NASTY)


@each(
    ("value", "expected"),
    [
        (None, "-"),
        (True, "yes"),
        (np.False_, "no"),
        ("a b", "a b"),
        (0, "0"),
        (1234567890, "1234567890"),
        (np.int64(3), "3"),
        (0.0, "0"),
        (-0.0, "0"),
        (1.0, "1"),
        (100.0, "100"),
        (0.5, "0.5"),
        (np.float32(0.5), "0.5"),
        (-3.32236801, "-3.322"),
        (0.000123456, "0.0001235"),
        (0.0000123456, "1.235e-05"),
        (12345.678, "12346"),
        (1234567.8, "1234568"),
        (12345678.9, "1.235e+07"),
        (9.99996, "10"),
        (999999.96, "1000000"),
        (9999999.6, "10000000"),
        (5e-324, "4.941e-324"),
        (-1e300, "-1e+300"),
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
    ],
)
def test_values_become_text_in_one_way(value: Any, expected: str) -> None:
    assert formatted(value) == expected


@given(st.floats(1e-300, 1e300), st.booleans())
@settings(max_examples=100)
def test_a_number_keeps_four_digits(size: float, negative: bool) -> None:
    value = -size if negative else size
    assert float(formatted(value)) == pytest.approx(value, rel=5.01e-4)


TABLE = Table(
    "Compatibility",
    ["surrogate", "distance", "diverse?", "n"],
    [["gp", 0.52348, True, 3], ["Matérn σ", None, False, 12], ["漢字", 12.0, None, None]],
)


def test_text_is_aligned_with_numbers_to_the_right() -> None:
    assert TABLE.text() == str(TABLE)
    assert TABLE.text() == (
        "Compatibility\n"
        "surrogate  distance  diverse?   n\n"
        "---------  --------  --------  --\n"
        "gp           0.5235  yes        3\n"
        "Matérn σ          -  no        12\n"
        "漢字             12  -          -\n"
    )


def test_markdown_by_hand() -> None:
    assert TABLE.markdown() == (
        "## Compatibility\n\n"
        "| surrogate | distance | diverse? | n |\n"
        "| --- | ---: | --- | ---: |\n"
        "| gp | 0.5235 | yes | 3 |\n"
        "| Matérn σ | - | no | 12 |\n"
        "| 漢字 | 12 | - | - |\n"
    )
    assert Table("", ["a_b"], [["a|b"], ["x\ny"], ["_x_ <i>"]]).markdown() == (
        "| a_b |\n| --- |\n| a\\|b |\n| x<br>y |\n| \\_x\\_ \\<i> |\n"
    )


def test_csv_has_numbers_in_full_and_no_title() -> None:
    assert TABLE.csv().splitlines() == [
        "surrogate,distance,diverse?,n",
        "gp,0.52348,yes,3",
        "Matérn σ,,no,12",
        "漢字,12.0,,",
    ]


def test_html_by_hand() -> None:
    assert Table("A & B", ["x", "<n>"], [["a\nb", 1.5]]).html() == (
        "<table>\n<caption>A &amp; B</caption>\n"
        '<thead>\n<tr><th>x</th><th style="text-align:right">&lt;n&gt;</th></tr>\n</thead>\n'
        '<tbody>\n<tr><td>a<br>b</td><td style="text-align:right">1.5</td></tr>\n</tbody>\n</table>\n'
    )


@given(st.lists(st.tuples(TEXT, TEXT), max_size=4))
@example([(text, text) for text in NASTY])
@settings(max_examples=100)
def test_csv_reads_back(rows: list[tuple[str, str]]) -> None:
    table = Table("t", ["a,", 'b"'], rows)
    assert list(csv.reader(io.StringIO(table.csv(), newline=""))) == [["a,", 'b"'], *map(list, rows)]


BREAK = re.compile("\r\n|[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")


def markdown_fields(line: str) -> list[str]:
    """The fields of a row as GitHub splits it: at pipes without a backslash before them."""
    fields = [""]
    for token in re.findall(r"<br>|\\.|.", line, re.DOTALL):
        if token == "|":
            fields.append("")
        else:
            fields[-1] += "\n" if token == "<br>" else token[-1]
    return [field[1:-1] for field in fields[1:-1]]


@given(st.lists(st.tuples(TEXT, TEXT), max_size=4))
@example([(text, text) for text in NASTY])
@settings(max_examples=100)
def test_markdown_keeps_a_row_on_a_line_and_its_fields_apart(rows: list[tuple[str, str]]) -> None:
    head, _, *lines = Table("", ["a", "b"], rows).markdown().split("\n")[:-1]
    assert head == "| a | b |"
    assert [markdown_fields(line) for line in lines] == [[BREAK.sub("\n", field) for field in row] for row in rows]


@given(st.lists(st.tuples(TEXT, TEXT), max_size=4))
@example([(text, text) for text in NASTY])
@settings(max_examples=100)
def test_html_escapes_everything(rows: list[tuple[str, str]]) -> None:
    page = Table("<script>", ["a", "b"], rows).html()
    fields = re.findall(r"<td>(.*?)</td>", page, re.DOTALL)
    written = [html.unescape(field.replace("<br>", "\n")) for field in fields]
    assert written == [BREAK.sub("\n", field) for row in rows for field in row]
    tags = {"table", "caption", "thead", "tbody", "tr", "th", "td", "br"}
    assert {tag.lstrip("/") for tag in re.findall(r"<([^ >]*)", page)} <= tags


@given(st.lists(st.tuples(TEXT, TEXT), max_size=4))
@example([(text, text) for text in NASTY])
@settings(max_examples=100)
def test_text_has_a_line_for_each_row_and_nothing_that_moves_the_cursor(rows: list[tuple[str, str]]) -> None:
    lines = Table("one\ntitle", ["a", "b"], rows).text().splitlines()
    assert len(lines) == 3 + len(rows)
    assert not re.search("[\x00-\x1f\x7f-\x9f]", "".join(lines))


def test_a_table_is_a_value_of_tuples() -> None:
    rows: list[list[str | float]] = [["a", np.float64(1.0)]]
    table = Table("t", ["x", "y"], rows)
    rows[0][0] = "b"
    assert table == Table("t", ("x", "y"), (("a", 1.0),))
    assert hash(table) == hash(Table("t", ("x", "y"), (("a", 1.0),)))
    assert Table("t", ["x"], []).text() == "t\nx\n-\n"


@pytest.mark.parametrize(
    ("columns", "rows", "rule"),
    [
        ([], [], "at least one column"),
        (["a"], [["x"], ["x", "y"]], "must have 1 values; row 2 has 2"),
        (["a"], [[[1]]], "holds text, numbers"),
        (["a"], [[1j]], "holds text, numbers"),
    ],
)
def test_what_is_no_table_is_refused(columns: Any, rows: Any, rule: str) -> None:
    with pytest.raises(InvalidInput, match=rule):
        Table("t", columns, rows)
