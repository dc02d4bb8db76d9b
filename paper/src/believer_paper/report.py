"""The files of the report on the reproduction, made from finished cells alone.

The file of cells is only read: if writing the report fails, the same command makes the report again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from believer.errors import JournalError
from believer.report import as_html, as_markdown, png
from believer_paper import chapters
from believer_paper.chapters import Report
from believer_paper.figures import FIGURES
from believer_paper.inconsistencies import inconsistencies, inconsistency_table
from believer_paper.ledger import Entry, ledger, ledger_table
from believer_paper.ledger.claim import UNTESTED
from believer_paper.machine import machine
from believer_paper.packing import PACKED
from believer_paper.plan import EXPERIMENTS
from believer_paper.results import Results
from believer_paper.tables import tables

TITLE = "Reproduction of the paper: what holds, what fails, what it cost"

_EARLIER = ("tables/table[0-9][0-9].*", "tables/exp[0-9][0-9]_text.*", "figures/figure[0-9][0-9]_*.png")
"""Files whose names depend on the experiments that were asked for: those of an earlier report are deleted."""

_SAFE = "The finished cells are safe. Free some space and run the same command again: it will make only the report."


def make_report(results: Results, command: str, wanted: Sequence[str]) -> Report:
    """The report on the experiments named in ``wanted``, without tables and figures whose cells are missing."""
    pictures = {
        f"figures/{figure.name(preset)}": png(drawn)
        for figure in FIGURES.values()
        if _asked(figure.experiments, wanted)
        for preset in results.presets
        if (drawn := figure.draw(results, preset)) is not None
    }
    shown = [f for f in FIGURES.values() if any(f"figures/{f.name(preset)}" in pictures for preset in results.presets)]
    return Report(
        results=results,
        command=command,
        wanted=tuple(wanted),
        entries=_judged(results, wanted),
        tables=tuple(table for _, table in sorted(tables(results).items()) if _asked(table.experiments, wanted)),
        figures=tuple(sorted(shown, key=lambda figure: figure.number)),
        pictures=pictures,
        inconsistencies=inconsistencies(),
        machine=machine(),
    )


def _judged(results: Results, wanted: Sequence[str]) -> tuple[Entry, ...]:
    """All claims; if only some experiments were asked for, the claims that their cells can judge."""
    whole = EXPERIMENTS.keys() <= set(wanted)
    return tuple(entry for entry in ledger(results) if whole or entry.verdict != UNTESTED)


def write_report(results: Results, out: Path, command: str, wanted: Sequence[str]) -> str:
    """Write the report into the folder ``out``, where it replaces an earlier one. Returns its summary for a terminal.

    ``report.html`` needs no other file; ``report.md`` shows the figures of the folder. Raises ``JournalError`` if a
    file cannot be written; no file is ever left half-written.
    """
    report = make_report(results, command, wanted)
    files = _files(report)
    _write(out, files)
    for path in [path for pattern in _EARLIER for path in out.glob(pattern)]:
        if path.relative_to(out).as_posix() not in files:
            path.unlink()
    kinds = f"{len(report.tables)} tables, {len(report.pictures)} figures, the ledger and the inconsistencies"
    lines = [
        *chapters.first_lines(report),
        "",
        *(chapters.found(report) if report.entries else []),
        chapters.spent(report),
        f"{out / 'report.html'} has {kinds}; files are beside it.",
    ]
    return "\n".join([TITLE, "", *lines]) + "\n"


def _files(report: Report) -> dict[str, bytes]:
    """The content of every file by its name; the reports, which link to the others, come last."""
    made = f"Made by: {report.command}." if report.command else ""
    places, sections = report.files(), chapters.chapters(report)
    judged = chapters.ledger_chapter(report.entries, {**places, "cells": PACKED}, report.whole)
    against = chapters.inconsistency_chapter(report.inconsistencies, places)
    texts = {
        **{f"tables/{table.name}.md": table.markdown() for table in report.tables},
        **{f"tables/{table.name}.csv": table.data.csv() for table in report.tables},
        "ledger.csv": ledger_table(report.entries).csv(),
        "inconsistencies.csv": inconsistency_table(report.inconsistencies).csv(),
        "ledger.md": as_markdown(TITLE, judged, made),
        "inconsistencies.md": as_markdown(TITLE, against, made),
        "machine.json": json.dumps(report.machine, indent=2) + "\n",
        "report.md": as_markdown(TITLE, sections, made),
        "report.html": as_html(TITLE, sections, made, report.pictures),
    }
    pictures = {f"{name}.png": picture for name, picture in report.pictures.items()}
    return pictures | {name: text.encode() for name, text in texts.items()}


def _write(out: Path, files: Mapping[str, bytes]) -> None:
    """Write each file under a temporary name first, so that the earlier file stays until the new one is complete."""
    for name, content in files.items():
        path = out / name
        begun = path.with_name(f"{path.name}.part")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                begun.write_bytes(content)
                os.replace(begun, path)
            finally:
                begun.unlink(missing_ok=True)
        except OSError as error:
            raise JournalError(f"cannot write {path}: {error.strerror or error}. {_SAFE}") from error


def _asked(experiments: Iterable[str], wanted: Sequence[str]) -> bool:
    """Whether a table or figure belongs to one of the ``wanted`` experiments, or to no experiment in particular."""
    known = [name for name in experiments if name in EXPERIMENTS]
    return not known or any(name in wanted for name in known)
