"""A report as sections of text, tables and figures, written as one HTML page, as Markdown, or for a terminal."""

from __future__ import annotations

import base64
import html
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from believer.experiments.report import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Only tables of more than a few columns may be wider than a phone: they scroll inside a box of their own.
_STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; max-width: 70rem; margin: 0 auto;
  padding: 1rem; }
h1 { font-size: 1.6rem; line-height: 1.25; } h2 { font-size: 1.25rem; margin-top: 2.5rem; }
h3 { font-size: 1.0625rem; margin-top: 2rem; } h1, h2, h3, p, li, figcaption { overflow-wrap: anywhere; }
a { color: #005a8c; } nav ul { padding-left: 1.2rem; } nav ul ul { display: none; }
.links { margin: .25rem 0; }
.scroll { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: .25rem 0; white-space: nowrap; }
th, td { padding: .25rem .75rem .25rem 0; border-bottom: 1px solid #ddd; text-align: left; white-space: nowrap; }
th { vertical-align: bottom; border-bottom: 2px solid #767676; }
.wide table { min-width: 40rem; } .words td { white-space: normal; max-width: 30rem; vertical-align: top; }
figure { margin: 1rem 0; } figcaption { color: #595959; font-size: .875rem; }
img { max-width: 100%; height: auto; display: block; }
.use { background: #eef5fa; border-left: 4px solid #0072B2; padding: .5rem 1rem; margin: .75rem 0; }
.made { color: #595959; font-size: .875rem; }
.back { position: fixed; right: .5rem; bottom: .5rem; padding: .25rem .75rem; background: #fff; border: 1px solid; }
@media screen and (max-width: 74.99rem) {
  .long { display: flex; flex-direction: column; } .long nav { order: 1; }
}
@media screen and (min-width: 75rem) {
  body { max-width: 90rem; display: grid; grid-template-columns: 17rem minmax(0, 70rem); column-gap: 2rem; }
  h1 { grid-column: 1 / -1; } .back { display: none; }
  nav { position: sticky; top: 0; align-self: start; max-height: 100vh; overflow-y: auto; font-size: .875rem; }
  nav ul ul, nav ul ul a { display: block; }
  nav ul ul a { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
}
@media print {
  body { max-width: none; padding: 0; font-size: 11pt; } .back { display: none; } .scroll { overflow: visible; }
  table { font-size: 8pt; } th, td, caption { white-space: normal; } h2, h3 { break-after: avoid; }
  tr, figure { break-inside: avoid; }
}
"""

_SENTENCE = 50
"""Characters of a value from which a table is one of words, whose lines may break."""

_NARROW = 3
"""Columns up to which a table of words fits a phone, and need not scroll."""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading; what stands out below it; paragraphs; tables; figures by name, with captions; and links.

    anchor: the name by which ``#anchor`` leads here. level: 3 for a part of the section of level 2 before it. links:
    by label, the targets by text, where a target is ``#anchor``, a file beside the report, or "" for none. folded:
    tables that a reader opens; a terminal does not show them.
    """

    title: str
    calls: Sequence[str] = ()
    text: Sequence[str] = ()
    tables: Sequence[Table] = ()
    figures: Mapping[str, str] | None = None
    anchor: str = ""
    level: int = 2
    links: Mapping[str, Mapping[str, str]] | None = None
    folded: Sequence[Table] = ()


def as_text(title: str, sections: Sequence[Section]) -> str:
    """For a terminal, without figures and links; what stands out comes last, where a terminal shows it."""
    parts = [title]
    for section in sections:
        parts.append(f"{section.title}\n{'=' * len(section.title)}")
        parts += [*section.text, *(table.text().rstrip("\n") for table in section.tables), *section.calls]
    return "\n\n".join(parts) + "\n"


def as_markdown(title: str, sections: Sequence[Section], made: str) -> str:
    """With links to the figures' files, which lie beside it."""
    parts = [f"# {_literal(title)}"]
    for section in sections:
        parts += [f'<a id="{section.anchor}"></a>'] if section.anchor else []
        parts.append(f"{'#' * section.level} {_literal(section.title)}")
        parts += [*(f"> {_literal(call)}" for call in section.calls), *map(_literal, section.text)]
        for label, targets in (section.links or {}).items():
            links = [f"[{_literal(text)}]({to})" if to else _literal(text) for text, to in targets.items()]
            parts.append(f"{_literal(label)}: {', '.join(links)}")
        deeper = "#" * (section.level - 1)
        parts += [(deeper * bool(table.title) + table.markdown()).rstrip("\n") for table in section.tables]
        parts += [f"![{_literal(shows)}]({name}.png)" for name, shows in (section.figures or {}).items()]
        for table in section.folded:
            body = replace(table, title="").markdown().rstrip("\n")
            parts += [f"<details><summary>{html.escape(table.title)}</summary>", body, "</details>"]
    return "\n\n".join([*parts, _literal(made)]) + "\n"


def as_html(title: str, sections: Sequence[Section], made: str, pictures: Mapping[str, bytes]) -> str:
    """One page that needs no other file; ``pictures`` are the figures as PNG, by name."""
    anchors = [section.anchor or f"s{number}" for number, section in enumerate(sections, start=1)]
    body = "".join(_section(anchor, section, pictures) for anchor, section in zip(anchors, sections, strict=True))
    is_long = any(section.level > 2 for section in sections)
    # On a narrow screen the contents of a long page come last, a button away: what it says comes first.
    back = '<a class="back" href="#contents">Contents</a>\n' if is_long else ""
    long = ' class="long"' if is_long else ""
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body{long}>\n"
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
    parts += [f'<p class="use">{html.escape(call)}</p>' for call in section.calls]
    parts += [f"<p>{html.escape(paragraph)}</p>" for paragraph in section.text]
    for label, targets in (section.links or {}).items():
        links = ", ".join(_link(text, to) for text, to in targets.items())
        parts.append(f'<p class="links">{html.escape(label)}: {links}</p>')
    parts += [f'<div class="{_box(table)}">\n{table.html()}</div>' for table in section.tables]
    for name, shows in (section.figures or {}).items():
        data = base64.b64encode(pictures[name]).decode("ascii")
        image = f'<img alt="{html.escape(shows)}" src="data:image/png;base64,{data}">'
        parts.append(f"<figure>\n{image}\n<figcaption>{html.escape(shows)}</figcaption>\n</figure>")
    for table in section.folded:
        body = f'<div class="{_box(table)}">\n{replace(table, title="").html()}</div>'
        parts.append(f"<details>\n<summary>{html.escape(table.title)}</summary>\n{body}\n</details>")
    return f"<section>\n{chr(10).join(parts)}\n</section>\n"


def _link(text: str, target: str) -> str:
    return f'<a href="{html.escape(target)}">{html.escape(text)}</a>' if target else html.escape(text)


def _box(table: Table) -> str:
    """The class of the box in which a table scrolls."""
    lines = (line for row in table.rows for value in row if isinstance(value, str) for line in value.splitlines())
    if all(len(line) < _SENTENCE for line in lines):
        return "scroll"
    return "scroll words" if len(table.columns) <= _NARROW else "scroll words wide"


def png(figure: Figure, dpi: int = 110) -> bytes:
    """The figure as bytes of PNG, the same each time."""
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=dpi, metadata={"Software": None})
    return out.getvalue()


def _literal(text: str) -> str:
    """Text whose signs Markdown would read as its own, escaped."""
    return re.sub(r"[\\|*`~<\[\]]|(?<![^\W_])_|_(?![^\W_])", r"\\\g<0>", text)
