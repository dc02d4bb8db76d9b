"""The types of the ledger: a claim of the paper with its test, and the finding of a test."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from believer.errors import InvalidInput
from believer.experiments import wilson_interval
from believer_paper.results import Results

BY_ALGEBRA = "true by algebra"
UNTESTED = "cannot be tested"
VERDICTS = ("holds", "holds in part", "fails", BY_ALGEBRA, UNTESTED)
"""All verdicts. What is true by algebra could not have come out otherwise, so it is no finding of a run."""

ENOUGH = 0.95
"""The share of situations in which a claim must hold for the verdict "holds", unless its test names another."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The finding of a test: the verdict, the numbers that it follows from, and links to them.

    links: names such as "table 4", "figure 13", "cells: loop hartmann6".
    """

    verdict: str
    evidence: str
    links: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise InvalidInput(f"verdict must be one of {', '.join(VERDICTS)}; got {self.verdict!r}.")


@dataclass(frozen=True, slots=True)
class Claim:
    """One entry of the ledger.

    number: its number in the ledger. sentence: the claim in our words. test: the rule that leads to a verdict, with its
    thresholds. judge: the function that applies the rule to finished cells and a preset. per_preset: whether presets
    are judged separately; if not, ``judge`` gets None.
    """

    number: int
    sentence: str
    test: str
    judge: Callable[[Results, str | None], Finding]
    per_preset: bool


def not_run(what: str) -> Finding:
    """The finding of a claim whose cells are missing: ``what`` names them."""
    return Finding(UNTESTED, f"Cells are missing, or too few: {what}.", ())


@dataclass(frozen=True, slots=True)
class Share:
    """A count out of ``total`` situations; its text has the confidence interval of the share."""

    hits: int
    total: int

    @classmethod
    def of(cls, outcomes: Iterable[object]) -> Share:
        """The share of ``outcomes`` that are true."""
        found = [bool(outcome) for outcome in outcomes]
        return cls(sum(found), len(found))

    @property
    def rate(self) -> float:
        """hits / total; zero if the total is zero."""
        return self.hits / self.total if self.total else 0.0

    @property
    def enough(self) -> bool:
        """Whether there are any situations, and 95 % or more of them count."""
        return self.total > 0 and self.rate >= ENOUGH

    def __str__(self) -> str:
        if not self.total:
            return "none of 0"
        low, high = wilson_interval(self.hits, self.total)
        return f"{self.hits} of {self.total} ({100 * low:.0f}-{100 * high:.0f} %)"
