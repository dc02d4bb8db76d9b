from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from believer.experiments import Table
from believer.experiments.page import Section, as_html, as_markdown, as_text

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
    assert 'class="scroll words"' not in page(SECTIONS)
    words = Table("", ["a"], [["one two three four five six seven eight nine ten eleven"]])
    assert '<div class="scroll words">\n<table>' in page([Section("S", tables=[words])])
    many = Table("", ["a", "b", "c", "d"], [[words.rows[0][0], "", "", ""]])  # wider than a phone, so that it scrolls
    assert '<div class="scroll words wide">\n<table>' in page([Section("S", tables=[many])])
    short_lines = Table("", ["a"], [["\n".join(["short"] * 20)]])
    assert '<div class="scroll">\n<table>' in page([Section("S", tables=[short_lines])])


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
