"""The agreement of our numbers with the paper's: each printed number once, in standard errors, without zeros.

Zeros are counted separately: a model that is not updated must give them (all but those of the rebuilt forest), so they
show that it collapses, and not how well a number is reproduced. Times are left out, because they belong to another
machine; so are numbers that the paper prints, or that we compare, a second time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from believer.report import Table
from believer_paper.plan import EXPERIMENTS
from believer_paper.tables.comparison import WITHIN
from believer_paper.tables.layout import Counted, PaperTable

_NAUGHT = 0.0005
"""Numbers below this are zero when printed with three decimals."""

_WORST = 3
"""The number of the worst disagreements that are named."""

RULE = (
    "Each number that the paper prints counts once, except times. Differences are in standard errors of the difference "
    f"of the two means, and off means more than {WITHIN:g} of them. Distances of the diagnostic are mostly printed for "
    "one data set without a spread; their standard error comes from our spread over data sets. Zeros are counted "
    "separately, because a model that is not updated cannot miss them (the rebuilt forest of Table 7 could)."
)


@dataclass(frozen=True, slots=True)
class Agreement:
    """The numbers of one kind in one table. label: the experiment and the table."""

    label: str
    kind: str
    numbers: tuple[Counted, ...]

    @property
    def zeros(self) -> tuple[Counted, ...]:
        """The numbers that the paper prints as zero."""
        return tuple(one for one in self.numbers if one.comparison.paper and one.comparison.paper.mean == 0.0)

    @property
    def met(self) -> int:
        """The number of printed zeros that are zero in our results, too."""
        return sum(abs(one.comparison.ours.mean) < _NAUGHT for one in self.zeros)

    @property
    def judged(self) -> tuple[Counted, ...]:
        """The other numbers, if they have a standard error; the farthest off come first."""
        zeros = set(map(id, self.zeros))
        rest = [one for one in self.numbers if id(one) not in zeros and one.comparison.errors is not None]
        return tuple(sorted(rest, key=lambda one: -(one.comparison.errors or 0.0)))

    @property
    def off(self) -> tuple[Counted, ...]:
        """The judged numbers that differ by more than two standard errors."""
        return tuple(one for one in self.judged if not one.comparison.within)

    @property
    def spreadless(self) -> int:
        """The number of judged numbers that the paper prints without a spread."""
        return sum(one.comparison.paper is not None and one.comparison.paper.std is None for one in self.judged)


def agreements(tables: Iterable[PaperTable], preset: str) -> list[Agreement]:
    """The agreement of a preset's numbers with the paper's, for each table and kind."""
    found = []
    for table in tables:
        home = EXPERIMENTS[table.experiments[0]].title.split(":")[0]
        label = table.label if table.label.startswith(home) else f"{home} ({table.label})"
        numbers = [one for one in table.counted if one.preset == preset]
        for kind in dict.fromkeys(one.kind for one in numbers):
            found.append(Agreement(label, kind, tuple(one for one in numbers if one.kind == kind)))
    return found


def by_kind(several: Sequence[Agreement]) -> list[Agreement]:
    """The agreement of each kind over all tables; the kind with the most numbers comes first."""
    numbers: dict[str, tuple[Counted, ...]] = {}
    for one in several:
        numbers[one.kind] = (*numbers.get(one.kind, ()), *one.numbers)
    found = [Agreement("", kind, those) for kind, those in numbers.items()]
    return sorted(found, key=lambda one: -len(one.judged))


def agreement_table(several: Sequence[Agreement]) -> Table:
    """A row for each table and kind, and for each kind over all tables, with the counts that agree and are off."""
    rows = []
    for one in (*several, *by_kind(several)):
        worst = [f"{it.where}: {it.comparison.errors or 0.0:.1f} s.e." for it in one.off[:_WORST]]
        zeros = f"{one.met} of {len(one.zeros)}" if one.zeros else None
        of = len(one.judged)
        rows.append(
            (
                *(one.label or "all", one.kind, of, of - len(one.off), len(one.off), one.spreadless, zeros),
                "\n".join(worst) if one.label else None,
            )
        )
    columns = ("of", "kind", "numbers", "within 2 s.e.", "off", "printed without spread", "zeros met", "farthest off")
    return Table("", columns, rows)


def in_a_sentence(several: Sequence[Agreement]) -> str:
    """A sentence on the agreement by kind and on the numbers that are farthest off; "" if there are no numbers."""
    kinds = [one for one in by_kind(several) if one.judged]
    if not kinds:
        return ""
    told = [f"{len(one.judged) - len(one.off)} of {len(one.judged)} {one.kind}" for one in kinds]
    off = sorted((one for kind in kinds for one in kind.off), key=lambda one: -(one.comparison.errors or 0.0))
    labels = {id(number): one.label for one in several for number in one.numbers}
    worst = [f"{labels[id(one)]}, {one.where} ({one.comparison.errors or 0.0:.1f} s.e.)" for one in off[:_WORST]]
    zeros = [(one.met, len(one.zeros)) for one in several]
    met, of = (sum(column) for column in zip(*zeros, strict=True))
    apart = f" Of the {of} printed zeros, which could hardly differ, {met} are zero here." if of else ""
    farthest = f" Farthest off: {'; '.join(worst)}." if worst else ""
    return f"Within two standard errors of the paper: {', '.join(told)}.{farthest}{apart}"
