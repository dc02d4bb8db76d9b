"""One internal inconsistency of the paper, and the arithmetic that the checks share."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from believer.report import Plain
from believer_paper.numbers.printed import Printed

Kind: TypeAlias = Literal["contradiction", "beyond the data"]
"""Two numbers, or a number and a sentence, that cannot both be right; a sentence that says more than is shown."""

KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class Inconsistency:
    """Two things in the paper that do not fit each other, in the way that ``kind`` says.

    tables: their numbers in the paper. places: sections, appendices and figures concerned. what: one or two sentences.
    numbers: the evidence by name, read from ``printed`` and ``stated`` or computed from these.
    """

    name: str
    kind: Kind
    tables: tuple[int, ...]
    places: tuple[str, ...]
    what: str
    numbers: Mapping[str, Plain]


PaperCheck: TypeAlias = Callable[[], Inconsistency | None]
"""A function that checks the paper's numbers; None if they agree."""


def span(value: float, unit: float) -> tuple[float, float]:
    """The interval of values that are rounded to ``value``, in multiples of ``unit``."""
    return value - unit / 2, value + unit / 2


def spread(value: Printed) -> float:
    """The printed standard deviation; 0 where none is printed."""
    return 0.0 if value.std is None else value.std


def standard_error(seeds: int, *values: Printed) -> float:
    """The standard error of a sum or difference of independent means, each over so many seeds."""
    return math.hypot(*map(spread, values)) / math.sqrt(seeds)
