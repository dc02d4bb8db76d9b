"""The common part of the bench's reports: a document of sections, figures and data about runs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from believer.report import Document, Section, Table
from believer_bench.runs import Run, versions_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Documented:
    """A report on ``runs`` that ``command`` made: it has sections, drawings and data, and this makes the files."""

    __slots__ = ()
    TITLE: ClassVar[str]
    runs: tuple[Run, ...]
    command: str

    @abstractmethod
    def sections(self) -> list[Section]:
        """The report in its order, what was found first."""

    @abstractmethod
    def drawings(self) -> dict[str, Callable[[], Figure]]:
        """The function that draws each figure, by name."""

    @abstractmethod
    def data(self) -> dict[str, Table]:
        """Tables for programs, by the name of their file without its ending."""

    def document(self) -> Document:
        """The whole report as a document."""
        return Document(self.TITLE, self.sections(), self.made(), self.drawings(), self.data())

    def __str__(self) -> str:
        return self.document().text()

    def tables(self) -> list[Table]:
        """All tables of the report, in its order."""
        return self.document().tables()

    def figures(self) -> dict[str, Figure]:
        """Every figure by name; ``MissingExtra`` without matplotlib."""
        return {name: draw() for name, draw in self.drawings().items()}

    def made(self) -> str:
        """The command and the versions of what ran."""
        command = f"Made by: {self.command}. " if self.command else ""
        return f"{command}{versions_of(self.runs)}".strip()

    def markdown(self) -> str:
        """The report in Markdown; it names the figures' files."""
        return self.document().markdown()

    def html(self, pictures: Mapping[str, bytes] | None = None) -> str:
        """The report as one page.

        Parameters
        ----------
        pictures : the figures as PNG, by name, where they are drawn already.
        """
        return self.document().html(pictures)

    def write(self, out: Path) -> None:
        """``bench.html``, which needs no other file; ``bench.md`` with its PNGs; the data as CSV.

        Parameters
        ----------
        out : the folder; it is made where it is not there.
        """
        self.document().write(out, "bench")


def written(report: Documented, out: Path | None) -> str:
    """The report as text for a terminal; with ``out``, a folder, also its files."""
    if out is not None:
        report.write(out)
    return str(report)
