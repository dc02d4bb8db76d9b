"""Rules for a batch as a whole: values that its points share, and the most that it may cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from believer.arrays import finite, nearest, shown, whole
from believer.capabilities import has
from believer.errors import InvalidInput
from believer.space import Space
from believer.space.parameter import Number
from believer.study.constraints import identity
from believer.study.trials import Trial, same_value

Shared: TypeAlias = str | Iterable[str] | Mapping[str, int]
"""The names of parameters that have one value in a batch, or a dict with the number of values that each may have."""

Cost: TypeAlias = Mapping[str, float] | Callable[[dict[str, Any]], float]
"""The cost of a point: a price for each unit of some numbers, or a function of the params."""

Values: TypeAlias = dict[str, tuple[Any, ...]]
"""The values that parameters have in a batch, by name."""


@dataclass(frozen=True, slots=True)
class BatchRules:
    """The rules of one ask.

    Attributes
    ----------
    shared : for each shared parameter, the largest number of values that it has in the batch.
    max_cost : the most that the batch may cost; None for no limit.
    cost : the cost of a point.
    """

    shared: Mapping[str, int] = field(default_factory=dict)
    max_cost: float | None = None
    cost: Cost = field(default_factory=dict)

    @staticmethod
    def of(
        space: Space,
        fixed: Mapping[str, Any],
        shared: Shared | None,
        max_cost: float | None = None,
        cost: Cost | None = None,
    ) -> BatchRules:
        """Check the rules of a user; ``fixed`` has the parameters that have fixed values in this ask."""
        if (max_cost is None) != (cost is None):
            raise InvalidInput(
                "max_cost needs the cost of a point, and cost needs a limit; got only one of them. Pass both."
            )
        if max_cost is not None:
            max_cost, cost = finite(max_cost, "max_cost"), _checked_cost(space, cost)
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
                raise InvalidInput(f"shared must name parameters; got {shown(name)}; {nearest(str(name), space.names)}")
            if name in fixed:
                raise InvalidInput(f"{name!r} is fixed at {fixed[name]!r} already; leave it out of shared.")
            whole(count, f"the number of values of {name!r} in a batch", 1)
        space.refuse_conditional(counts, "shared")
        kept = {name: int(counts[name]) for name in space.names if name in counts}
        return BatchRules(kept, max_cost, {} if cost is None else cost)

    def binding(self, q: int) -> BatchRules:
        """The rules without those that every batch of ``q`` points keeps."""
        binding = {name: count for name, count in self.shared.items() if count < q}
        return BatchRules(binding, self.max_cost, self.cost)

    def __bool__(self) -> bool:
        return bool(self.shared) or self.max_cost is not None

    def to_config(self) -> dict[str, Any]:
        """Plain data for the request in a journal; empty if there are no rules."""
        config: dict[str, Any] = {"shared": dict(self.shared)} if self.shared else {}
        if self.max_cost is not None:
            config["max_cost"] = self.max_cost
            config["cost"] = {"function": identity(self.cost, None)} if callable(self.cost) else {"prices": self.cost}
        return config

    def cost_of_all(self, trials: Iterable[Trial]) -> float:
        """The total cost of trials."""
        return sum(self.cost_of(trial.params) for trial in trials)

    def cost_of(self, params: Mapping[str, Any]) -> float:
        """The cost of a point; parameters that have no value there cost nothing."""
        if not callable(self.cost):
            return float(sum(price * params.get(name, 0.0) for name, price in self.cost.items()))
        try:
            found = self.cost(dict(params))
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            raise InvalidInput(f"cost must work at every point; it raised {what} at {dict(params)}.") from error
        return finite(found, "a cost")

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
        """Those of the ``values`` of which there are as many as a batch may have."""
        return {name: some for name, some in values.items() if len(some) >= self.shared[name]}


def _checked_cost(space: Space, cost: Any) -> Cost:
    """Check a cost and return it; InvalidInput if it is not one."""
    if callable(cost):
        return cost  # type: ignore[no-any-return]
    if not isinstance(cost, Mapping) or not cost:
        raise InvalidInput(f"cost must be a function of the params, or a price for some numbers; got {shown(cost)}.")
    for name in cost:
        numbers = [one for one, parameter in space.parameters.items() if has(parameter, Number)]
        if name not in numbers and (space.table is None or not space.table.has_numbers(name)):
            raise InvalidInput(
                f"cost must price numbers, {', '.join(numbers) or 'of which there are none'}; got {shown(name)}."
            )
    return {name: finite(price, f"the price of {name!r}") for name, price in cost.items()}


def _has(values: Sequence[Any], value: Any) -> bool:
    return any(same_value(value, one) for one in values)
