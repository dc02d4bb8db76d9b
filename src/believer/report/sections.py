"""A report as sections of text, tables and figures, written as Markdown or for a terminal; ``page`` makes the HTML."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from believer.report.tables import Table


@dataclass(frozen=True, slots=True)
class Section:
    """A heading; what stands out below it; paragraphs; tables; figures by name, with captions; and links.

    anchor: the name by which ``#anchor`` leads here. level: 3 for a part of the section of level 2 before it. links:
    by label, the targets by text, where a target is ``#anchor``, a file beside the report, or "" for none. folded:
    tables that a reader opens; a terminal does not show them. tones: of the calls, in their order, as of a table's
    cells.
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
    tones: Sequence[str] = ()


def as_text(title: str, sections: Sequence[Section]) -> str:
    """Sections for a terminal, without figures and links; the findings come last, where a terminal shows them."""
    parts = [title]
    for section in sections:
        parts.append(f"{section.title}\n{'=' * len(section.title)}")
        parts += [*section.text, *(table.dense().text().rstrip("\n") for table in section.tables), *section.calls]
    return "\n\n".join(parts) + "\n"


def as_markdown(title: str, sections: Sequence[Section], made: str) -> str:
    """Sections in Markdown, with links to the figures' files, which lie beside it."""
    parts = [f"# {_literal(title)}"]
    for section in sections:
        parts += [f'<a id="{section.anchor}"></a>'] if section.anchor else []
        parts.append(f"{'#' * section.level} {_literal(section.title)}")
        parts += [*(f"> {_literal(call)}" for call in section.calls), *map(_literal, section.text)]
        for label, targets in (section.links or {}).items():
            links = [f"[{_literal(text)}]({to})" if to else _literal(text) for text, to in targets.items()]
            parts.append(f"{_literal(label)}: {', '.join(links)}")
        deeper = "#" * (section.level - 1)
        parts += [(deeper * bool(table.title) + table.dense().markdown()).rstrip("\n") for table in section.tables]
        parts += [f"![{_literal(shows)}]({name}.png)" for name, shows in (section.figures or {}).items()]
        for table in section.folded:
            body = replace(table.dense(), title="").markdown().rstrip("\n")
            parts += [f"<details><summary>{html.escape(table.title)}</summary>", body, "</details>"]
    return "\n\n".join([*parts, _literal(made)]) + "\n"


def _literal(text: str) -> str:
    """Text whose signs Markdown would read as its own, escaped."""
    return re.sub(r"[\\|*`~<\[\]]|(?<![^\W_])_|_(?![^\W_])", r"\\\g<0>", text)
