"""A report as sections of text, tables and figures, written as one HTML page, as Markdown, or for a terminal."""

from __future__ import annotations

import base64
import html
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from believer.experiments import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; max-width: 70rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.6rem; line-height: 1.25; } h2 { font-size: 1.25rem; margin-top: 2.5rem; }
p, li { overflow-wrap: anywhere; } nav ul { padding-left: 1.2rem; }
.scroll { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: .25rem 0; white-space: nowrap; }
th, td { padding: .25rem .75rem .25rem 0; border-bottom: 1px solid #ddd; text-align: left; white-space: nowrap; }
th { vertical-align: bottom; border-bottom: 2px solid #767676; }
img { max-width: 100%; height: auto; display: block; margin: 1rem 0; }
.use { background: #eef5fa; border-left: 4px solid #0072B2; padding: .5rem 1rem; margin: .75rem 0; }
.made { color: #595959; font-size: .875rem; }
@media (max-width: 40rem) { .figure { overflow-x: auto; } .figure img { min-width: 40rem; max-width: none; } }
"""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading; what stands out below it; paragraphs; tables; and figures by name, with what they show."""

    title: str
    calls: Sequence[str] = ()
    text: Sequence[str] = ()
    tables: Sequence[Table] = ()
    figures: Mapping[str, str] | None = None


def as_text(title: str, sections: Sequence[Section]) -> str:
    """For a terminal, without figures; what stands out comes last, where a terminal shows it."""
    parts = [title]
    for section in sections:
        parts.append(f"{section.title}\n{'=' * len(section.title)}")
        parts += [*section.text, *(table.text().rstrip("\n") for table in section.tables), *section.calls]
    return "\n\n".join(parts) + "\n"


def as_markdown(title: str, sections: Sequence[Section], made: str) -> str:
    """With links to the figures' files, which lie beside it."""
    parts = [f"# {title}"]
    for section in sections:
        parts += [f"## {_literal(section.title)}", *(f"> {_literal(call)}" for call in section.calls)]
        parts += [*map(_literal, section.text), *(f"#{table.markdown()}".rstrip("\n") for table in section.tables)]
        parts += [f"![{_literal(shows)}]({name}.png)" for name, shows in (section.figures or {}).items()]
    return "\n\n".join([*parts, _literal(made)]) + "\n"


def as_html(title: str, sections: Sequence[Section], made: str, pictures: Mapping[str, bytes]) -> str:
    """One page that needs no other file; ``pictures`` are the figures as PNG, by name."""
    anchors = [f"s{number}" for number, _ in enumerate(sections, start=1)]
    links = "".join(
        f'<li><a href="#{a}">{html.escape(s.title)}</a></li>\n' for a, s in zip(anchors, sections, strict=True)
    )
    body = "".join(_section(anchor, section, pictures) for anchor, section in zip(anchors, sections, strict=True))
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{html.escape(title)}</h1>\n<nav>\n<ul>\n{links}</ul>\n</nav>\n"
        f'{body}<p class="made">{html.escape(made)}</p>\n</body>\n</html>\n'
    )


def _section(anchor: str, section: Section, pictures: Mapping[str, bytes]) -> str:
    parts = [f'<h2 id="{anchor}">{html.escape(section.title)}</h2>']
    parts += [f'<p class="use">{html.escape(call)}</p>' for call in section.calls]
    parts += [f"<p>{html.escape(paragraph)}</p>" for paragraph in section.text]
    parts += [f'<div class="scroll">\n{table.html()}</div>' for table in section.tables]
    for name, shows in (section.figures or {}).items():
        data = base64.b64encode(pictures[name]).decode("ascii")
        parts.append(f'<div class="figure"><img alt="{html.escape(shows)}" src="data:image/png;base64,{data}"></div>')
    return f"<section>\n{chr(10).join(parts)}\n</section>\n"


def png(figure: Figure, dpi: int = 110) -> bytes:
    """The figure as bytes of PNG, the same each time."""
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=dpi, metadata={"Software": None})
    return out.getvalue()


def _literal(text: str) -> str:
    """Text whose signs Markdown would read as its own, escaped."""
    return re.sub(r"[\\|*`~<\[\]]|(?<![^\W_])_|_(?![^\W_])", r"\\\g<0>", text)
