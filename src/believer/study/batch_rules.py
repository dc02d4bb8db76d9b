"""What must hold for a batch as a whole: values that its points share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from believer.arrays import shown, whole
from believer.errors import InvalidInput
from believer.space import Space
from believer.study.trials import same_value

Shared: TypeAlias = str | Iterable[str] | Mapping[str, int]
"""Names of parameters that have one value in a batch, or the number of values that each may have."""

Values: TypeAlias = dict[str, tuple[Any, ...]]
"""The values that parameters have in a batch, by name."""


@dataclass(frozen=True, slots=True)
class BatchRules:
    """The rules of one ask.

    Attributes
    ----------
    shared : the number of values, at most, that a parameter has in the batch.
    """

    shared: Mapping[str, int] = field(default_factory=dict)

    @staticmethod
    def of(space: Space, fixed: Mapping[str, Any], shared: Shared | None) -> BatchRules:
        """The rules that a user states, checked.

        Parameters
        ----------
        space : of the study.
        fixed : parameters that are held in this ask.
        shared : names, or the number of values for each; None for no rule.
        """
        counts: Mapping[Any, Any] = {}
        try:
            if isinstance(shared, Mapping):
                counts = dict(shared)
            elif shared is not None:
                counts = dict.fromkeys([shared] if isinstance(shared, str) else shared, 1)
        except TypeError as error:
            raise InvalidInput(
                f"shared must be names of parameters, or a number of values for each; got {shown(shared)}."
            ) from error
        for name, count in counts.items():
            if name not in space.names:
                raise InvalidInput(f"shared must name parameters among {', '.join(space.names)}; got {shown(name)}.")
            if name in fixed:
                raise InvalidInput(f"{name!r} is fixed at {fixed[name]!r} already; leave it out of shared.")
            whole(count, f"the number of values of {name!r} in a batch", 1)
        space.refuse_conditional(counts, "shared")
        return BatchRules({name: int(counts[name]) for name in space.names if name in counts})

    def binding(self, q: int) -> BatchRules:
        """The rules without those that every batch of ``q`` points keeps."""
        return BatchRules({name: count for name, count in self.shared.items() if count < q})

    def __bool__(self) -> bool:
        return bool(self.shared)

    def to_config(self) -> dict[str, Any]:
        """Plain data for the request in a journal; empty without rules."""
        return {"shared": dict(self.shared)} if self.shared else {}

    def values(self, points: Iterable[Mapping[str, Any]]) -> Values:
        """The values that the shared parameters have in ``points``, in order, no more than a batch may have."""
        found: dict[str, list[Any]] = {name: [] for name in self.shared}
        for params in points:
            for name, values in found.items():
                is_new = name in params and not _has(values, params[name])
                if is_new and len(values) < self.shared[name]:
                    values.append(params[name])
        return {name: tuple(values) for name, values in found.items()}

    def fitting(self, points: Iterable[dict[str, Any]], q: int) -> list[dict[str, Any]]:
        """The first of ``points``, q at most, that keep the rules together."""
        kept: list[dict[str, Any]] = []
        for params in points:
            values = self.values([*kept, params])
            if len(kept) < q and self.keeps(params, values):
                kept.append(params)
        return kept

    def keeps(self, params: Mapping[str, Any], values: Mapping[str, Sequence[Any]]) -> bool:
        """Whether each shared parameter of a point has one of ``values``."""
        return all(_has(some, params[name]) for name, some in values.items() if name in params)

    def full(self, values: Values) -> Values:
        """Those of ``values`` that are as many as a batch may have."""
        return {name: some for name, some in values.items() if len(some) >= self.shared[name]}


def _has(values: Sequence[Any], value: Any) -> bool:
    return any(same_value(value, one) for one in values)
