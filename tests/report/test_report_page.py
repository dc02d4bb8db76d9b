from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from believer.report import TONES, Document, Section, Table, as_html, as_markdown, as_text

ROW = Table("Numbers", ["a", "b"], [[1, "x"]])
SECTIONS = [
    Section("First & last", ["Look!"], ["Some text."], [ROW], links={"See": {"the part": "#part", "no place": ""}}),
    Section("A part", [], [], [Table("", ["a"], [[1]])], anchor="part", level=3),
    Section("Another", anchor="other", level=3, links={"File": {"data": "tables/t.csv"}}),
    Section("Second", figures={"figures/dot": "A dot"}),
]


class Tree(HTMLParser):
    """Every link of the page and how many lists it is in; fails for tags that are closed out of order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[tuple[str, int]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "img", "br"):
            self.open.append(tag)
        if tag == "a":
            self.links.append((str(dict(attrs)["href"]), self.open.count("ul")))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def page(sections: list[Section]) -> str:
    return as_html("A <report>", sections, "Made by hand.", {"figures/dot": b"png"})


def test_the_contents_nest_as_the_sections_do() -> None:
    tree = Tree()
    tree.feed(page(SECTIONS))
    assert tree.open == []
    contents = [link for link in tree.links if link[1]]
    assert contents == [("#s1", 1), ("#part", 2), ("#other", 2), ("#s4", 1)]
    assert [link for link, depth in tree.links if not depth] == ["#part", "tables/t.csv", "#contents"]


@pytest.mark.parametrize("levels", [(), (2,), (2, 2), (2, 3), (2, 3, 3, 2, 3)])
def test_contents_of_any_shape_are_well_formed(levels: tuple[int, ...]) -> None:
    tree = Tree()
    tree.feed(page([Section("S", level=level) for level in levels]))
    assert tree.open == []
    assert [depth for _, depth in tree.links if depth] == [level - 1 for level in levels]


def test_headings_have_the_level_and_the_anchor_of_their_section() -> None:
    found = re.findall(r'<h(\d) id="(\w+)">(.*?)</h\d>', page(SECTIONS))
    assert found == [
        ("2", "s1", "First &amp; last"),
        ("3", "part", "A part"),
        ("3", "other", "Another"),
        ("2", "s4", "Second"),
    ]


def test_only_a_long_page_leads_back_to_its_contents() -> None:
    assert 'href="#contents"' in page(SECTIONS)
    assert 'href="#contents"' not in page([SECTIONS[0], SECTIONS[3]])


def test_what_has_no_place_is_named_without_a_link() -> None:
    assert '<p class="links">See: <a href="#part">the part</a>, no place</p>' in page(SECTIONS)
    assert "See: [the part](#part), no place\n" in as_markdown("T", SECTIONS, "")


def test_figures_have_captions_and_tables_of_words_may_break_lines() -> None:
    assert "<figcaption>A dot</figcaption>" in page(SECTIONS)
    assert box_of(ROW) == "scroll numbers"
    words = Table("", ["a"], [["one two three four five six seven eight nine ten eleven"]])
    assert box_of(words) == "scroll words"
    many = Table("", ["a", "b", "c", "d"], [[words.rows[0][0], "x", "x", "x"]])
    assert box_of(many) == "scroll words wide"  # wider than a phone, so that it scrolls
    short_lines = Table("", ["a"], [["\n".join(["short"] * 20)]])
    assert box_of(short_lines) == "scroll numbers"


def box_of(table: Table) -> str:
    """The classes of the box in which a table scrolls."""
    (found,) = re.findall(
        r'<div class="(scroll[^"]*)" role="region" aria-label="[^"]+" tabindex="0">\n<table>', shown(table)
    )
    return str(found)


def shown(table: Table) -> str:
    return page([Section("S", tables=[table])])


def test_a_table_says_that_it_scrolls_where_it_may_be_wider_than_the_window() -> None:
    assert 'class="hint"' not in shown(ROW)
    widths = (5, 8, 14, 40)
    said = [shown(Table("", [f"column {j}" for j in range(n)], [["x"] * n])) for n in widths]
    assert all(f"Scroll sideways: the table has {n} columns" in text for n, text in zip(widths, said, strict=True))
    classes = [re.findall(r'<div class="frame( past\d+)?">', text)[0] for text in said]
    assert classes == [" past26", " past44", " past999", " past999"]
    for name in map(str.strip, classes):
        assert f".{name} > .hint" in said[0]


def test_a_column_in_which_nothing_stands_is_left_out_and_not_of_the_data() -> None:
    table = Table(
        "T", ["member", "p", "value"], [["kb", None, 1.0], ["lp", None, None]], [["", "", "good"], ["", "", ""]]
    )
    assert table.dense() == Table("T", ["member", "value"], [["kb", 1.0], ["lp", None]], [["", "good"], ["", ""]])
    assert Table("T", ["a", "b"], []).dense().columns == ("a", "b")
    for text in (
        shown(table),
        as_markdown("T", [Section("S", tables=[table])], ""),
        as_text("T", [Section("S", tables=[table])]),
    ):
        assert re.search(r"\bvalue\b", text)
        assert "| p |" not in text
        assert "<th>p</th>" not in text
    assert table.csv().startswith("member,p,value")


def test_tones_are_classes_of_cells_and_calls_that_the_style_knows_in_both_schemes() -> None:
    table = Table("", ["a"], [["holds"], ["much better"]], [["good"], ["good 2"]])
    text = page([Section("S", ["It holds.", "And more."], tables=[table], tones=["good"])])
    assert '<td class="good">holds</td>' in text
    assert '<td class="good 2">much better</td>' in text
    assert '<p class="use good">It holds.</p>\n<p class="use">And more.</p>' in text
    for tone in TONES:
        assert f".{tone} {{ background: var(--{tone}); }}" in text
        assert len(re.findall(rf"--{tone}: #", text)) == 2  # light and dark
    assert "@media screen and (prefers-color-scheme: dark)" in text


def test_a_document_is_written_as_a_page_as_markdown_and_as_data(tmp_path: Path) -> None:
    document = Document("T", [Section("First", ["Found."]), Section("Last")], "Made.", {}, {"numbers": ROW})
    document.write(tmp_path / "new", "all")
    assert {path.name for path in (tmp_path / "new").iterdir()} == {"all.html", "all.md", "numbers.csv"}
    assert (tmp_path / "new" / "all.md").read_text(encoding="utf-8") == document.markdown()
    assert document.text().endswith("Found.\n")  # what was found comes last in a terminal


def test_markdown_has_the_same_headings_anchors_and_files() -> None:
    text = as_markdown("A <report>", SECTIONS, "Made by hand.")
    assert re.findall(r"^(#+ .*)$", text, re.MULTILINE) == [
        "# A \\<report>",
        "## First & last",
        "### Numbers",
        "### A part",
        "### Another",
        "## Second",
    ]
    assert re.findall(r'<a id="(\w+)"></a>', text) == ["part", "other"]
    assert "\n\n| a |\n" in text  # a table without a title has no heading
    assert "![A dot](figures/dot.png)" in text


def test_a_terminal_shows_text_and_tables_and_ends_with_what_stands_out() -> None:
    text = as_text("A report", SECTIONS[:1])
    assert text.startswith("A report\n\nFirst & last\n============\n\nSome text.\n\nNumbers\n")
    assert text.endswith("\n\nLook!\n")
