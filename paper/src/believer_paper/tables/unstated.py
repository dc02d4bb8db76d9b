"""The effect of choices that the paper does not state: each reading, compared with the numbers that depend on it."""

from __future__ import annotations

import math
from collections.abc import Mapping

from believer.report import Table, formatted
from believer_paper.readings import APART, CHOICES, FITS, Question, best_fit
from believer_paper.results import Results
from believer_paper.tables.layout import PaperTable

_HEADS = ("preset", "choice", "number", "reading", "paper", "ours", "standard error", "standard errors off")
_DETAILS = ("choice", "number", "paper", "ours under each reading, ± standard error")
_NOTES = (
    "Standard errors off: (ours - paper) over the standard errors of both (the paper's from its spread and its seeds; "
    "a single draw that it prints is taken as one more of ours) and half a unit of the last digit printed; the root "
    "mean square over the numbers that a choice touches.",
    f"Best: the reading whose sum of squares is least, if it is so by {APART:g} or more; it fits at all up to {FITS:g} "
    "standard errors. The first reading of each is the one that the printed set-up has.",
)


def unstated(results: Results) -> PaperTable | None:
    """A table of every open choice, its readings and the best one; None if no choice has all of its cells."""
    judged = {choice.question: misfits for choice in CHOICES if (misfits := choice.misfits(results))}
    if not judged:
        return None
    lines = [line for choice in CHOICES if choice.question in judged for line in _lines(choice, results)]
    summary = [_row(choice, judged[choice.question]) for choice in CHOICES if choice.question in judged]
    heads = ("choice", "which reading fits the paper best", "standard errors off, root mean square")
    title = "Which reading of the paper fits it best"
    details = Table(
        "", _DETAILS, [row for choice in CHOICES if choice.question in judged for row in _told(choice, results)]
    )
    data = Table("", _HEADS, lines)
    return PaperTable(100, title, Table("", heads, summary), data, _NOTES, ("unstated",), details=details)


def _row(choice: Question, misfits: Mapping[str, float]) -> tuple[str, str, str]:
    numbers = len(choice.numbers)
    off = "; ".join(f"{words} {math.sqrt(misfit / numbers):.1f}" for words, misfit in misfits.items())
    return choice.question, best_fit(misfits, numbers), off


def _told(choice: Question, results: Results) -> list[tuple[str, str, str, str]]:
    """A row for each number, with the estimate of every reading."""
    rows = []
    for number in choice.numbers:
        found = [(reading.words, reading.estimate(results)) for reading in number.readings]
        ours = "; ".join(
            f"{words} {_short(ours.mean)} ± {_short(ours.error)}" for words, ours in found if ours is not None
        )
        rows.append((choice.question, number.what, f"{number.paper:g}", ours))
    return rows


def _short(value: float) -> str:
    return f"{value:.3g}"


def _lines(choice: Question, results: Results) -> list[tuple[str | float, ...]]:
    found: list[tuple[str | float, ...]] = []
    for number in choice.numbers:
        for reading in number.readings:
            estimate = reading.estimate(results)
            assert estimate is not None
            off = float(formatted(number.errors_off(estimate)))
            found.append(("printed", choice.question, number.what, reading.words, number.paper, *estimate[:2], off))
    return found
