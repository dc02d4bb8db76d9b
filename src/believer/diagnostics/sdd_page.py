"""The page of the Structural Diversity Diagnostic: the verdict on each surrogate, and the controls behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from believer.diagnostics.sdd_figure import draw_many
from believer.diagnostics.sdd_report import (
    DIVERSE_FROM,
    NO_RESPONSE,
    OTHER_REASON,
    RESPONDS_DIVERSE,
    RESPONDS_FROM,
    RESPONDS_HIDDEN,
    SDDReport,
)
from believer.report import Document, Section, Table
from believer.study import serialization

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TONES = {RESPONDS_DIVERSE: "good", RESPONDS_HIDDEN: "mixed", NO_RESPONSE: "bad", OTHER_REASON: "mixed"}
"""The color of each verdict on a page, where the verdict is also written out."""

_READ = (
    "A batch is diverse if its points are more than {diverse:g} apart in the unit cube. A model responds if the lie "
    "moves the acquisition by more than {responds:g} of its range. The controls say whether it was the lie: the same "
    "update without it, a search without derivatives, and, where a fit draws random numbers, the same draws."
)


def summary_table(reports: Sequence[SDDReport]) -> Table:
    """A table with a row for each report."""
    rows = [report.summary() for report in reports]
    tones = [[*[""] * (len(row) - 1), TONES[report.verdict]] for row, report in zip(rows, reports, strict=True)]
    values = tuple(tuple(row.values()) for row in rows)
    return Table("Structural Diversity Diagnostic", tuple(rows[0]), values, tones)


def sdd_document(reports: Sequence[SDDReport], made: str = "") -> Document:
    """The verdict on each surrogate first, then all of them in one table and figure, then each by itself."""
    drawings: dict[str, Callable[[], Figure]] = {"sdd": lambda: draw_many(list(reports))} if len(reports) > 1 else {}
    drawings |= {f"sdd_{number}": report.figure for number, report in enumerate(reports, start=1)}
    first = Section(
        "What was found",
        [_sentence(report) for report in reports],
        [_READ.format(diverse=DIVERSE_FROM, responds=RESPONDS_FROM)],
        [_verdicts(reports)] if len(reports) > 1 else [],
        {"sdd": "How many data sets gave which verdict"} if len(reports) > 1 else None,
        tones=[TONES[report.verdict] for report in reports],
        folded=[summary_table(reports)],
    )
    parts = [
        Section(
            _name(report),
            text=[f"{report.title}.", *map(_as_sentences, report.evidence())],
            tables=[report.table()],
            figures={f"sdd_{number}": f"{_name(report)}: distances of every batch, seed by seed, and the controls"},
        )
        for number, report in enumerate(reports, start=1)
    ]
    data = {"sdd": summary_table(reports)}
    return Document("Structural Diversity Diagnostic", [first, *parts], made, drawings, data)


def _verdicts(reports: Sequence[SDDReport]) -> Table:
    """The most important numbers."""
    columns = ["surrogate", "verdict", "seeds", "least distance", "response"]
    rows = []
    for report in reports:
        row = report.summary()
        rows.append([_name(report), report.verdict, len(report.measurements), row["min dist"], row["response"]])
    return Table("Verdicts", columns, rows, [["", TONES[report.verdict], "", "", ""] for report in reports])


def _name(report: SDDReport) -> str:
    """The surrogate, with its update if one was requested."""
    update = report.settings["update"]
    return serialization.brief(report.settings["surrogate"]) + ("" if update == "auto" else f", update {update}")


def _as_sentences(line: str) -> str:
    """A line of evidence, a question and its answer, with capitals and a full stop."""
    question, mark, answer = line.partition("? ")
    parts = [part[:1].upper() + part[1:] for part in (question, answer)]
    return f"{parts[0]}{mark}{parts[1]}."


def _sentence(report: SDDReport) -> str:
    count, seeds = report.verdicts[report.verdict], len(report.measurements)
    return f"{_name(report)}: {report.verdict} ({count} of {seeds} {'seeds' if seeds > 1 else 'seed'})."
