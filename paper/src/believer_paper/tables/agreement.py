"""How far our numbers agree with the paper's: each printed number once, in standard errors, zeros apart.

Zeros are what a model that nobody updates must give (all but those of the rebuilt forest): they show that it collapses,
not how well a number was met. Times are of another machine and are left out, and so is what the paper prints, or we
compare, a second time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from believer.report import Table
from believer_paper.plan import EXPERIMENTS
from believer_paper.tables.comparison import WITHIN
from believer_paper.tables.layout import Counted, PaperTable

_NAUGHT = 0.0005
"""Printed with three decimals, less than this is zero."""

_WORST = 3
"""Numbers named where the worst are."""

RULE = (
    "Each number that the paper prints counts once (times do not), by the standard error of the difference of the two "
    f"means; off is more than {WITHIN:g} of them. Distances of the diagnostic are mostly of one data set without a "
    "spread, so that their unit is ours for one more data set. Zeros stand apart: a model that nobody updates "
    "cannot miss them (the rebuilt forest of Table 7 could)."
)


@dataclass(frozen=True, slots=True)
class Agreement:
    """Numbers of one kind in one table: the printed zeros, and the others. label: of experiment and table."""

    label: str
    kind: str
    numbers: tuple[Counted, ...]

    @property
    def zeros(self) -> tuple[Counted, ...]:
        """Those that the paper prints as zero."""
        return tuple(one for one in self.numbers if one.comparison.paper and one.comparison.paper.mean == 0.0)

    @property
    def met(self) -> int:
        """How many of the printed zeros are zero with us."""
        return sum(abs(one.comparison.ours.mean) < _NAUGHT for one in self.zeros)

    @property
    def judged(self) -> tuple[Counted, ...]:
        """The others, as far as there is a standard error; the farthest off first."""
        zeros = set(map(id, self.zeros))
        rest = [one for one in self.numbers if id(one) not in zeros and one.comparison.errors is not None]
        return tuple(sorted(rest, key=lambda one: -(one.comparison.errors or 0.0)))

    @property
    def off(self) -> tuple[Counted, ...]:
        """Those that differ by more than two standard errors."""
        return tuple(one for one in self.judged if not one.comparison.within)

    @property
    def spreadless(self) -> int:
        """How many of the judged ones the paper prints without a spread."""
        return sum(one.comparison.paper is not None and one.comparison.paper.std is None for one in self.judged)


def agreements(tables: Iterable[PaperTable], preset: str) -> list[Agreement]:
    """Table by table and kind by kind, what the numbers of a preset make of the paper's."""
    found = []
    for table in tables:
        home = EXPERIMENTS[table.experiments[0]].title.split(":")[0]
        label = table.label if table.label.startswith(home) else f"{home} ({table.label})"
        numbers = [one for one in table.counted if one.preset == preset]
        for kind in dict.fromkeys(one.kind for one in numbers):
            found.append(Agreement(label, kind, tuple(one for one in numbers if one.kind == kind)))
    return found


def by_kind(several: Sequence[Agreement]) -> list[Agreement]:
    """The same over all tables, one a kind; the kind with the most numbers first."""
    numbers: dict[str, tuple[Counted, ...]] = {}
    for one in several:
        numbers[one.kind] = (*numbers.get(one.kind, ()), *one.numbers)
    found = [Agreement("", kind, those) for kind, those in numbers.items()]
    return sorted(found, key=lambda one: -len(one.judged))


def agreement_table(several: Sequence[Agreement]) -> Table:
    """A row a table and kind, and one a kind over all tables: how many are off, by how much, and the zeros apart."""
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
    """How many of the paper's numbers are met, kind by kind, and which are the farthest off; "" if there are none."""
    kinds = [one for one in by_kind(several) if one.judged]
    if not kinds:
        return ""
    told = [f"{len(one.judged) - len(one.off)} of {len(one.judged)} {one.kind}" for one in kinds]
    off = sorted((one for kind in kinds for one in kind.off), key=lambda one: -(one.comparison.errors or 0.0))
    labels = {id(number): one.label for one in several for number in one.numbers}
    worst = [f"{labels[id(one)]}, {one.where} ({one.comparison.errors or 0.0:.1f} s.e.)" for one in off[:_WORST]]
    zeros = [(one.met, len(one.zeros)) for one in several]
    met, of = (sum(column) for column in zip(*zeros, strict=True))
    apart = f" The {of} printed zeros, which could hardly differ, are apart: {met} are zero here." if of else ""
    farthest = f" Farthest off: {'; '.join(worst)}." if worst else ""
    return f"Within two standard errors of the paper's are {', '.join(told)}.{farthest}{apart}"
