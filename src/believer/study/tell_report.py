"""The report on a sheet's rows: results that were told, failures, missing results, and rows that were not taken."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a sheet, and a sentence about it.

    Attributes
    ----------
    line : its number in the file, from 1.
    words : a sentence.
    """

    line: int
    words: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.words}"


@dataclass(frozen=True, slots=True)
class TellReport:
    """The report on the rows of a sheet that was told to a study. It prints as sentences.

    Attributes
    ----------
    name : the name of the sheet.
    told : ids of trials that got results.
    failed : ids of trials that failed.
    abandoned : ids of trials that will not be run.
    replicated : ids of trials that got further replicates in addition to earlier results.
    observed : ids of trials that were added as past data.
    changed : ids of trials that were run with other settings than suggested; they are among ``told`` or ``failed``.
    known : ids of trials whose results in the sheet were told before.
    waiting : ids of trials in the sheet whose results are still to come.
    problems : rows that were not taken, and why.
    questions : rows that are taken only with ``accept=True``: past data, and experiments with other settings than
        suggested.
    ignored : headings of columns that do not belong to the study.
    """

    name: str
    told: tuple[int, ...] = ()
    failed: tuple[int, ...] = ()
    abandoned: tuple[int, ...] = ()
    replicated: tuple[int, ...] = ()
    observed: tuple[int, ...] = ()
    changed: tuple[int, ...] = ()
    known: tuple[int, ...] = ()
    waiting: tuple[int, ...] = ()
    problems: tuple[Row, ...] = ()
    questions: tuple[Row, ...] = ()
    ignored: tuple[str, ...] = ()

    def to_config(self) -> dict[str, Any]:
        """Plain JSON data, with the same keys."""
        lists = ("told", "failed", "abandoned", "replicated", "observed", "changed", "known", "waiting", "ignored")
        rows = {
            name: [{"line": row.line, "words": row.words} for row in getattr(self, name)]
            for name in ("problems", "questions")
        }
        return {"sheet": self.name, **{name: list(getattr(self, name)) for name in lists}, **rows}

    @property
    def is_complete(self) -> bool:
        """Whether every row was taken."""
        return not (self.problems or self.questions)

    def __str__(self) -> str:
        counted = [
            (self.told, "result told", "results told"),
            (self.failed, "failed", "failed"),
            (self.replicated, "got another replicate", "got other replicates"),
            (self.abandoned, "will not be run", "will not be run"),
            (self.observed, "result added as past data", "results added as past data"),
            (self.known, "was told before", "were told before"),
            (self.waiting, "experiment still lacks a result", "experiments still lack a result"),
        ]
        parts = [f"{len(ids)} {one if len(ids) == 1 else more} ({trials(ids)})" for ids, one, more in counted if ids]
        lines = [f"{self.name}: {', '.join(parts) or 'no row has a result yet'}."]
        if self.ignored:
            lines.append(f"Columns that are not of the study were left out: {', '.join(self.ignored)}.")
        for rows, head in (
            (self.questions, "Not taken, because nobody has said whether to:"),
            (self.problems, "Not taken, because something is wrong with them:"),
        ):
            lines += [head, *(f"  {row}" for row in rows)] if rows else []
        return "\n".join(lines)


def trials(ids: Iterable[int]) -> str:
    """ "trials 0-3, 7"."""
    ordered = sorted(set(ids))
    runs: list[list[int]] = []
    for one in ordered:
        if runs and one == runs[-1][-1] + 1:
            runs[-1].append(one)
        else:
            runs.append([one])
    said = ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
    return f"trial{'' if len(ordered) == 1 else 's'} {said}"
