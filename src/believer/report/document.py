"""A whole report: a title, sections, what made it, and its figures, as text, Markdown, a page, or files."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from believer.report.page import as_html
from believer.report.sections import Section, as_markdown, as_text
from believer.report.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """A report, whatever it is about.

    made: the command and the versions of what ran. drawings: what draws each figure that the sections show, by name.
    data: tables for programs, by the name of their file without its ending.
    """

    title: str
    sections: Sequence[Section]
    made: str = ""
    drawings: Mapping[str, Callable[[], Figure]] = field(default_factory=dict)
    data: Mapping[str, Table] = field(default_factory=dict)

    def text(self) -> str:
        """The report for a terminal; its first section, the findings, comes last, where a terminal shows it."""
        return as_text(self.title, [*self.sections[1:], *self.sections[:1]])

    def markdown(self) -> str:
        """The report in Markdown, with links to the figures' files."""
        return as_markdown(self.title, self.sections, self.made)

    def tables(self) -> list[Table]:
        """All tables of the report, in its order."""
        return [table for section in self.sections for table in section.tables]

    def pictures(self) -> dict[str, bytes]:
        """The figures as PNG, by name; ``MissingExtra`` without matplotlib."""
        return {name: png(draw()) for name, draw in self.drawings.items()}

    def html(self, pictures: Mapping[str, bytes] | None = None) -> str:
        """The report as one page that needs no other file; ``pictures`` are figures that are drawn already."""
        return as_html(self.title, self.sections, self.made, self.pictures() if pictures is None else pictures)

    def write(self, out: Path, name: str) -> None:
        """Write ``name``.html, ``name``.md with its PNGs beside it, and the data as CSV into the folder ``out``."""
        out.mkdir(parents=True, exist_ok=True)
        pictures = self.pictures()
        for figure, picture in pictures.items():
            (out / f"{figure}.png").write_bytes(picture)
        texts = {f"{name}.html": self.html(pictures), f"{name}.md": self.markdown()}
        for file, text in (texts | {f"{file}.csv": table.csv() for file, table in self.data.items()}).items():
            (out / file).write_text(text, encoding="utf-8", newline="")


def png(figure: Figure, dpi: int = 110) -> bytes:
    """The figure as bytes of PNG, the same each time."""
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=dpi, metadata={"Software": None})
    return out.getvalue()
