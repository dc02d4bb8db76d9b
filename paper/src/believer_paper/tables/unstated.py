"""What the choices are worth that the paper does not state: each reading beside the numbers that it touches."""

from __future__ import annotations

from believer.experiments import Table, formatted
from believer_paper.readings import APART, CHOICES, FITS, Choice, best_fit
from believer_paper.results import Results
from believer_paper.tables.layout import PaperTable

_HEADS = ("preset", "choice", "number", "reading", "paper", "ours", "standard error", "standard errors off")
_NOTES = (
    "Standard errors off: (ours - paper) over the standard errors of both (the paper's from its spread and its seeds, "
    "where it prints one) and half a unit of the last digit printed.",
    f"Best: the reading whose root mean square over its numbers is least, if it is so by {APART:g} or more; it fits at "
    f"all up to {FITS:g}. The first reading of each is the one that the printed set-up has. The rule stood before the "
    "cells were run.",
)


def unstated(results: Results) -> PaperTable | None:
    """Every open choice, its readings and the best; None unless some choice has all of its cells."""
    judged = {choice.question: distances for choice in CHOICES if (distances := choice.distances(results))}
    if not judged:
        return None
    lines = [line for choice in CHOICES if choice.question in judged for line in _lines(choice, results)]
    summary = [
        (question, best_fit(distances), "; ".join(f"{words} {z:.1f}" for words, z in distances.items()))
        for question, distances in judged.items()
    ]
    heads = ("choice", "which reading fits the paper best", "standard errors off, root mean square")
    title = "Which reading of the paper fits it best"
    return PaperTable(100, title, Table("", heads, summary), Table("", _HEADS, lines), _NOTES, ("unstated",))


def _lines(choice: Choice, results: Results) -> list[tuple[str | float, ...]]:
    found: list[tuple[str | float, ...]] = []
    for number in choice.numbers:
        for reading in number.readings:
            estimate = reading.estimate(results)
            assert estimate is not None
            off = float(formatted(number.errors_off(estimate)))
            found.append(("printed", choice.question, number.what, reading.words, number.paper.mean, *estimate, off))
    return found
