"""What an acquisition is: a pointwise function of mean, std and incumbent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from believer.arrays import Array


@dataclass(frozen=True, slots=True, eq=False)
class Pointwise:
    """Values α (m,), with ∂α/∂μ and ∂α/∂σ (m,)."""

    value: Array
    by_mean: Array
    by_std: Array


class Acquisition(Protocol):
    """A frozen recipe, to be maximized; stated for minimization of the objective."""

    def pointwise(self, mean: Array, std: Array, incumbent: float) -> Pointwise:
        """α and its derivatives where the model predicts ``mean`` and ``std`` (m,); ``incumbent`` is f⁺."""
        ...
