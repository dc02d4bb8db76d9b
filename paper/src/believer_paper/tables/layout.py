"""The layout of a reproduced table: the paper's rows and numbers, and ours for each preset.

A row has labels and items: a ``Quantity`` is a number with a spread, a ``Words`` an answer such as "yes". Two tables
are made of them: one for readers, in the paper's layout, and one for programs, with a line for each item and preset.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from believer.report import Plain, Table, formatted
from believer_paper.numbers.printed import Printed
from believer_paper.results import PRESETS
from believer_paper.tables.comparison import RULE, Comparison, summarize


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number of the paper and our values for it, by preset, one a seed.

    paper: None if the paper prints none. decimals: the number that is shown; None means four digits. first: whether the
    value of the first seed is shown. independent: whether the values are independent, so that an interval of their
    median makes sense. counted: the kind of number as which it counts in the agreement with the paper; "" for times,
    and for numbers that are printed or compared elsewhere.
    """

    name: str
    paper: Printed | None
    ours: Mapping[str, Sequence[float]]
    decimals: int | None = 3
    first: bool = False
    independent: bool = True
    counted: str = ""


@dataclass(frozen=True, slots=True)
class Counted:
    """A number that counts in the agreement: its place, its kind, the preset, and the comparison with ours."""

    where: str
    kind: str
    preset: str
    comparison: Comparison


@dataclass(frozen=True, slots=True)
class Words:
    """An answer of the paper, and ours by preset: the answer, and what it follows from.

    judged: whether ours is compared; it is not if no other answer is possible.
    """

    name: str
    paper: str | None
    ours: Mapping[str, tuple[str, str]]
    judged: bool = True

    def agrees(self, preset: str) -> bool | None:
        """Whether the answers are the same; None if they are not compared."""
        return self.ours[preset][0] == self.paper if self.judged and self.paper is not None else None


Item: TypeAlias = Quantity | Words


@dataclass(frozen=True, slots=True)
class LayoutRow:
    """A row of the paper: its labels, then its items, the same in all rows of a table."""

    labels: tuple[Plain, ...]
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table of the paper with our numbers.

    number: as in the paper; 100 + k is for results of experiment k in its text, 100 for choices that it does not state.
    table: the table for readers. data: the table for programs, with a column for each number, in full precision. notes:
    what a reader must know. experiments: those whose cells it is made from. counted: the numbers that count in the
    agreement. details: a further table for readers, or None.
    """

    number: int
    title: str
    table: Table
    data: Table
    notes: tuple[str, ...]
    experiments: tuple[str, ...]
    counted: tuple[Counted, ...] = ()
    details: Table | None = None

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables for readers."""
        return (self.table,) if self.details is None else (self.table, self.details)

    @property
    def name(self) -> str:
        """The name for files: "table04", or "exp04_text"."""
        return f"table{self.number:02d}" if self.number < _TEXT else f"exp{self.number - _TEXT:02d}_text"

    @property
    def label(self) -> str:
        """The label for readers: "Table 4", "Exp 4 (text)", or "Unstated"."""
        if self.number == _TEXT:
            return "Unstated"
        return f"Table {self.number}" if self.number < _TEXT else f"Exp {self.number - _TEXT} (text)"

    def markdown(self) -> str:
        """Heading, table and notes."""
        heading = f"## {self.label}: {self.title}\n"
        return "\n".join(
            [heading, *(table.markdown() for table in self.tables), *(f"- {note}" for note in self.notes), ""]
        )


_TEXT = 100


def laid_out(
    number: int,
    title: str,
    heads: tuple[str, ...],
    rows: Sequence[LayoutRow],
    notes: Iterable[str],
    experiments: tuple[str, ...],
    partial: bool = False,
) -> PaperTable | None:
    """The table with the presets that have every number that the paper prints; None if there are none.

    Rows that the paper does not have may be missing. partial: whether a preset with any of the numbers is enough.
    """
    needed = [row for row in rows if any(item.paper is not None for item in row.items)] or rows
    found = tuple(preset for preset in PRESETS if (any if partial else all)(_has(row, preset) for row in needed))
    if not found:
        return None
    table, data = _table(heads, rows, found), _data(heads, rows, found)
    judged = [line[-4] for line in data.rows if line[-1] is None]
    every = (*notes, RULE if any(within is not None for within in judged) else "", _counted(rows, found))
    counted = tuple(_counting(heads, rows, found))
    return PaperTable(number, title, table, data, tuple(filter(None, every)), experiments, counted)


def _counting(heads: Sequence[str], rows: Sequence[LayoutRow], presets: Sequence[str]) -> Iterable[Counted]:
    for row in rows:
        labels = [it if isinstance(it, str) else f"{head}={it}" for head, it in zip(heads, row.labels, strict=True)]
        for item in row.items:
            if isinstance(item, Quantity) and item.counted and item.paper is not None:
                where = ", ".join([*labels, item.name])
                yield from (Counted(where, item.counted, p, _compared(item, p)) for p in presets if item.ours.get(p))


def _has(row: LayoutRow, preset: str) -> bool:
    """Whether the preset has at least one number in this row, and all that the paper has."""
    there = [bool(item.ours.get(preset)) for item in row.items]
    return any(there) and all(is_there or item.paper is None for is_there, item in zip(there, row.items, strict=True))


def _counted(rows: Sequence[LayoutRow], presets: Sequence[str]) -> str:
    """A note on the number of values behind each mean."""
    told = []
    for preset in presets:
        sizes = {len(item.ours[preset]) for row in rows for item in row.items if _counts(item, preset)}
        if sizes:
            told.append(f"{preset} {min(sizes)}" + (f" to {max(sizes)}" if len(sizes) > 1 else ""))
    return f"Values behind a number: {', '.join(told)}." if told else ""


def _counts(item: Item, preset: str) -> bool:
    return isinstance(item, Quantity) and item.independent and bool(item.ours.get(preset))


def _table(heads: tuple[str, ...], rows: Sequence[LayoutRow], presets: Sequence[str]) -> Table:
    columns = list(heads)
    for items in zip(*(row.items for row in rows), strict=True):
        printed = any(item.paper is not None for item in items)
        columns += [f"{items[0].name}: paper"] * printed
        compared = "{}: agrees?" if isinstance(items[0], Words) else "{} - paper"
        for preset in presets:
            columns += [f"{items[0].name}: {preset}", *[compared.format(preset)] * printed]
    lines = [[*row.labels] for row in rows]
    for items in zip(*(row.items for row in rows), strict=True):
        printed = any(item.paper is not None for item in items)
        for line, item in zip(lines, items, strict=True):
            line += [_paper(item)] * printed
            for preset in presets:
                ours, difference = _ours(item, preset)
                line += [ours, *[difference] * printed]
    return Table("", columns, lines)


def _paper(item: Item) -> Plain:
    if isinstance(item, Words) or item.paper is None:
        return item.paper if isinstance(item, Words) else None
    bound = "< " if item.paper.bound else ""
    return bound + _spread(item.paper.mean, item.paper.std, item.decimals)


def _ours(item: Item, preset: str) -> tuple[Plain, Plain]:
    """The cells of a preset: its number or answer, and the comparison with the paper's."""
    if not item.ours.get(preset):
        return None, None
    if isinstance(item, Words):
        answer, detail = item.ours[preset]
        return f"{answer}\n{detail}" if detail else answer, item.agrees(preset)
    found = _compared(item, preset)
    ours, digits = found.ours, item.decimals
    lines = [_spread(ours.mean, ours.std, digits)]
    if item.first and ours.n > 1:
        lines.append(f"first data set {_number(ours.first, digits)}")
    if ours.interval is not None and ours.std:
        low, high = ours.interval
        lines.append(f"median {_number(ours.median, digits)} [{_number(low, digits)}, {_number(high, digits)}]")
    if found.difference is None:
        return "\n".join(lines), None
    worth = f", {found.errors:.1f} s.e." if found.standard_error and found.errors is not None else ""
    sign = "+" if found.difference > 0.0 else ""
    return "\n".join(lines), f"{sign}{_number(found.difference, digits)}{worth}"


def _compared(item: Quantity, preset: str) -> Comparison:
    return Comparison(item.paper, summarize(item.ours[preset], item.independent))


def _spread(mean: float, std: float | None, decimals: int | None) -> str:
    return _number(mean, decimals) + ("" if std is None else f" ± {_number(std, decimals)}")


def _number(value: float, decimals: int | None) -> str:
    return formatted(value) if decimals is None else f"{round(value, decimals) + 0.0:.{decimals}f}"


_COLUMNS = (
    *("item", "preset", "paper", "paper_std", "paper_is_bound", "n", "mean", "std", "median", "low", "high", "first"),
    *("difference", "standard_error", "within", "paper_words", "words", "words_from"),
)


def _data(heads: tuple[str, ...], rows: Sequence[LayoutRow], presets: Sequence[str]) -> Table:
    lines = [
        [*row.labels, item.name, preset, *_fields(item, preset)]
        for row in rows
        for item in row.items
        for preset in presets
        if item.ours.get(preset)
    ]
    return Table("", (*heads, *_COLUMNS), lines)


def _fields(item: Item, preset: str) -> list[Plain]:
    if isinstance(item, Words):
        return [*[None] * 12, item.agrees(preset), item.paper, *item.ours[preset]]
    found = _compared(item, preset)
    paper, ours = found.paper, found.ours
    low, high = ours.interval or (None, None)
    printed = [None] * 3 if paper is None else [paper.mean, paper.std, paper.bound]
    numbers: list[Plain] = [ours.n, ours.mean, ours.std, ours.median, low, high, ours.first]
    return [*printed, *numbers, found.difference, found.standard_error, found.within, None, None, None]
