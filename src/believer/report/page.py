"""A report as one HTML page that needs no other file: every kind of report is made by this template."""

from __future__ import annotations

import base64
import html
from collections.abc import Mapping, Sequence
from dataclasses import replace

from believer.report.sections import Section
from believer.report.style import STYLE
from believer.report.tables import Table, formatted

_SENTENCE = 50
"""Characters of a value from which a table is one of words, whose lines may break."""

_NARROW = 3
"""Columns up to which a table of words fits a phone, and need not scroll."""

_PICTURE, _PNG_WIDTH = 660, slice(16, 20)
"""The width in pixels from which a figure scrolls on a phone, so that its text can be read; its place in a PNG."""

_CHARACTER, _PADDING = 7.2, 16.0
_PAST = ((900.0, 999), (660.0, 74), (380.0, 44), (330.0, 26))
"""Pixels of a table beyond which it does not fit, and the widest window, in rem, of which that is so."""


def as_html(title: str, sections: Sequence[Section], made: str, pictures: Mapping[str, bytes]) -> str:
    """An HTML page that needs no other file; ``pictures`` are the figures as PNG, by name."""
    anchors = [section.anchor or f"s{number}" for number, section in enumerate(sections, start=1)]
    body = "".join(_section(anchor, section, pictures) for anchor, section in zip(anchors, sections, strict=True))
    is_long = any(section.level > 2 for section in sections)
    # On a narrow screen the contents of a long page come last, a button away: what it says comes first.
    back = '<a class="back" href="#contents">Contents</a>\n' if is_long else ""
    long = ' class="long"' if is_long else ""
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body{long}>\n"
        f'<h1>{html.escape(title)}</h1>\n<nav id="contents" aria-label="Contents">\n{_contents(anchors, sections)}'
        f'</nav>\n<main>\n{body}<p class="made">{html.escape(made)}</p>\n</main>\n{back}</body>\n</html>\n'
    )


def _contents(anchors: Sequence[str], sections: Sequence[Section]) -> str:
    """A list of links to the sections, and lists in it to their parts."""
    parts, depth = [], 1
    for anchor, section in zip(anchors, sections, strict=True):
        parts += ["<ul>\n"] * (section.level - depth) + ["</li>\n</ul>\n"] * (depth - section.level)
        parts += ["</li>\n"] if section.level <= depth else []
        parts.append(f'<li><a href="#{anchor}">{html.escape(section.title)}</a>')
        depth = section.level
    return "".join([*parts, *["</li>\n</ul>\n"] * (depth - 1)])


def _section(anchor: str, section: Section, pictures: Mapping[str, bytes]) -> str:
    heading = f"h{section.level}"
    parts = [f'<{heading} id="{anchor}">{html.escape(section.title)}</{heading}>']
    tones = [*section.tones, *[""] * (len(section.calls) - len(section.tones))]
    for call, tone in zip(section.calls, tones, strict=True):
        parts.append(f'<p class="use{" " * bool(tone)}{tone}">{html.escape(call)}</p>')
    parts += [f"<p>{html.escape(paragraph)}</p>" for paragraph in section.text]
    for label, targets in (section.links or {}).items():
        links = ", ".join(_link(text, to) for text, to in targets.items())
        parts.append(f'<p class="links">{html.escape(label)}: {links}</p>')
    parts += [_framed(table.dense()) for table in section.tables]
    for name, shows in (section.figures or {}).items():
        data = base64.b64encode(pictures[name]).decode("ascii")
        image = f'<img alt="{html.escape(shows)}" src="data:image/png;base64,{data}">'
        if int.from_bytes(pictures[name][_PNG_WIDTH], "big") > _PICTURE:
            hint = '<p class="hint">Scroll sideways: the figure is wide &rarr;</p>'
            image = f'{hint}\n<div class="scroll" role="region" aria-label="Figure" tabindex="0">{image}</div>'
        parts.append(f'<figure class="past44">\n{image}\n<figcaption>{html.escape(shows)}</figcaption>\n</figure>')
    for table in section.folded:
        body = _framed(replace(table.dense(), title=""))
        parts.append(f"<details>\n<summary>{html.escape(table.title)}</summary>\n{body}\n</details>")
    return f"<section>\n{chr(10).join(parts)}\n</section>\n"


def _link(text: str, target: str) -> str:
    return f'<a href="{html.escape(target)}">{html.escape(text)}</a>' if target else html.escape(text)


def _framed(table: Table) -> str:
    """A table in a frame, in which it scrolls by itself where the window is too narrow; a line above it says so."""
    words, width = _is_of_words(table), _width(table)
    kinds = [
        "scroll",
        *(["words"] if words else ["numbers"]),
        *(["wide"] if words and len(table.columns) > _NARROW else []),
    ]
    past = next((f" past{rem}" for px, rem in _PAST if width > px), "")
    caption = f'<p class="caption">{html.escape(table.title)}</p>\n' if table.title else ""
    hint = f'<p class="hint">Scroll sideways: the table has {len(table.columns)} columns &rarr;</p>\n' if past else ""
    label = html.escape(table.title or "Table")
    inner = f'<div class="{" ".join(kinds)}" role="region" aria-label="{label}" tabindex="0">\n'
    return f'<div class="frame{past}">\n{caption}{hint}{inner}{replace(table, title="").html()}</div>\n</div>'


def _is_of_words(table: Table) -> bool:
    lines = (line for row in table.rows for value in row if isinstance(value, str) for line in value.splitlines())
    return any(len(line) >= _SENTENCE for line in lines)


def _width(table: Table) -> float:
    """About how many pixels a table takes, from the characters of its columns."""
    if _is_of_words(table):
        return 0.0 if len(table.columns) <= _NARROW else 640.0
    cells = [table.columns, *([formatted(value) for value in row] for row in table.rows)]
    columns = [[line for cell in column for line in cell.splitlines()] for column in zip(*cells, strict=True)]
    return sum(_CHARACTER * max(map(len, lines), default=0) + _PADDING for lines in columns)
