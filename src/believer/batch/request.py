"""What a strategy is asked, and what it answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from believer.acquisitions import Acquisition
from believer.arrays import Array
from believer.maximize import Maximizer
from believer.region import Region
from believer.surrogates.protocols import Model, Surrogate

Randomness = Callable[[int, str], np.random.Generator]
"""The generator that belongs to a trial id and a purpose; the same pair always gives the same stream."""


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """Real results: points (n, d), values (n,) to be minimized."""

    X: Array
    y: Array


@dataclass(frozen=True, slots=True, eq=False)
class Pending:
    """Points handed out and not answered yet, in the order of their trial ids."""

    ids: tuple[int, ...]
    X: Array


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """Everything that a strategy may look at to choose points for the trials ``ids``.

    model: fitted to ``data`` alone, then told of ``failed`` trials, which have the value that they count as.
    sign: -1 when the user maximizes.
    avoid: points (k, d) that must not be proposed again; ``distinct`` asks the same of the batch's own points.
    """

    ids: tuple[int, ...]
    surrogate: Surrogate
    acquisition: Acquisition
    model: Model
    data: Data
    pending: Pending
    region: Region
    avoid: Array
    distinct: bool
    randomness: Randomness
    sign: float = 1.0
    maximizer: Maximizer | None = None
    failed: Data | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """One point (d,) of a batch, and why it was chosen."""

    x: Array
    provenance: str


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """The points of a batch; ``memory`` may be handed back with the next request to save work, never to change it."""

    choices: tuple[Choice, ...]
    memory: object = None


class Strategy(Protocol):
    """A frozen recipe for choosing q points together."""

    def choose(self, request: Request, memory: object = None) -> Chosen:
        """One choice for each of ``request.ids``."""
        ...
