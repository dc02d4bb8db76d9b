"""The search space: named parameters in a fixed order, and the encoding of their values into the unit cube.

The encoded columns of the parameters are next to each other, in the order of the names.

The file is long because it is one class, and many of its lines are documentation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import accumulate, chain, pairwise
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from believer.arrays import SAME_POINT, Array, BoolArray, as_points, frozen, shown, suggested, whole
from believer.capabilities import has
from believer.errors import InvalidInput
from believer.space import rules as linear_rules
from believer.space.balance import Balance
from believer.space.box import Block, Box
from believer.space.conditional import REST, Conditional, Dependent
from believer.space.conditions import Conditions, allowed_values
from believer.space.feasible import conflict, geometry_of
from believer.space.geometry import Geometry
from believer.space.likely import Likely, likely_of
from believer.space.parameter import Described, Measurable, Number, scales_of
from believer.space.parameters import MAX_COLUMNS, Float, Parameter, from_config, kinds, to_config
from believer.space.polytope import Polytope
from believer.space.region import Region
from believer.space.rows import Rows, rows_of
from believer.space.rules import Rule
from believer.space.when import in_words

_SAME_VALUE = 1e-12

REACH = 1.0
"""The largest distance from the bounds at which models still learn from a result, as a share of the distance between
the bounds."""

Constraint: TypeAlias = Callable[[dict[str, Any]], bool]
RegionOf: TypeAlias = Callable[[Box], Region]


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Space:
    """The search space: named parameters in a fixed order, and the points that are allowed.

    Parameters
    ----------
    parameters : a Float, Int, Categorical, Ordinal or Discrete for each name, or any other
        :class:`~believer.space.parameter.Parameter`. One with a ``when`` has a value only where others have certain
        values; elsewhere points do not have it.
    constraint : ``constraint(params) -> bool`` says which points are allowed; None allows all.
    constraint_name : the name of the constraint in a journal. By default a journal identifies the constraint by the
        code of the function, and a study that goes on with edited code has to pass ``change=True``.
    rules : linear rules that every suggested point keeps, such as ``[sum_to(["a", "b", "c"], 1.0)]``; made by
        :func:`~believer.space.rules.sum_to`, :func:`~believer.space.rules.linear` and
        :func:`~believer.space.rules.max_parts`. The search is restricted to points that keep them, without rejection
        sampling.
    within : ``within(box)`` returns the :class:`~believer.space.region.Region` to search, a part of the box that the
        parameters span; None searches the whole box.

    Attributes
    ----------
    dim : the number of encoded columns, d.
    table : the rows from which points are chosen; None for a space that was not made by :meth:`from_table`.
    """

    _items: tuple[tuple[str, Parameter], ...]
    table: Rows | None
    constraint: Constraint | None
    constraint_name: str | None
    within: RegionOf | None
    rules: tuple[Rule, ...]
    dim: int = field(init=False, compare=False)
    _places: tuple[tuple[int, int], ...] = field(compare=False)
    """The first column of each parameter, and the column after its last."""
    _groups: tuple[int, ...] | None = field(compare=False)
    _conditions: Conditions = field(compare=False)
    """The conditions under which parameters have a value."""
    _ruled: Geometry | None = field(compare=False)
    """The set in which the rules hold, if no parameter is fixed."""

    def __init__(
        self,
        parameters: Mapping[str, Parameter],
        constraint: Constraint | None = None,
        *,
        constraint_name: str | None = None,
        rules: Iterable[Rule] = (),
        within: RegionOf | None = None,
        table: Rows | None = None,
    ) -> None:
        """Check the names; the parameters have checked themselves."""
        if not isinstance(parameters, Mapping) or len(parameters) == 0:
            raise InvalidInput(f"a space needs a mapping of at least one name to a parameter; got {shown(parameters)}.")
        for name, parameter in parameters.items():
            if not isinstance(name, str) or not name:
                raise InvalidInput(f"a parameter's name must be a non-empty str; got {shown(name)}.")
            if isinstance(parameter, type) or not has(parameter, Parameter):
                raise InvalidInput(f"a parameter must be a {kinds()}; got {shown(parameter)} for {name!r}.")
        if constraint is not None and not callable(constraint):
            raise InvalidInput(f"constraint must be a function of the params or None; got {shown(constraint)}.")
        if within is not None and not callable(within):
            raise InvalidInput(f"within must be a function of the box or None; got {shown(within)}.")
        if within is not None and constraint is not None:
            raise InvalidInput(
                "a space must have either a constraint or within; got both. Let the region keep the constraint."
            )
        ends = list(accumulate((parameter.width for parameter in parameters.values()), initial=0))
        if ends[-1] > MAX_COLUMNS:
            raise InvalidInput(f"a space must have {MAX_COLUMNS:,} columns at most; got {ends[-1]:,}.")
        object.__setattr__(self, "_places", tuple(pairwise(ends)))
        object.__setattr__(self, "dim", ends[-1])
        object.__setattr__(self, "_items", tuple(parameters.items()))
        groups = list[int]()
        for parameter in parameters.values():
            first = groups[-1] + 1 if groups else 0
            groups += [first + scale for scale in scales_of(parameter)]
        object.__setattr__(self, "_groups", None if groups[-1] + 1 == self.dim else tuple(groups))
        if constraint_name is not None and (
            constraint is None or not isinstance(constraint_name, str) or not constraint_name
        ):
            raise InvalidInput(f"constraint_name must be the name of a constraint; got {shown(constraint_name)}.")
        object.__setattr__(self, "constraint", constraint)
        object.__setattr__(self, "constraint_name", constraint_name)
        object.__setattr__(self, "within", within)
        object.__setattr__(self, "table", table)
        object.__setattr__(self, "_conditions", Conditions.of(parameters))
        object.__setattr__(self, "rules", linear_rules.checked_rules(rules, parameters))
        for rule in self.rules:
            self.refuse_conditional(rule.names, repr(rule))
        if self.rules and within is not None:
            raise InvalidInput("a space must have either rules or within; got both. Let the region keep the rules.")
        object.__setattr__(self, "_ruled", self._geometry(self._box({}), {}) if self.rules else None)

    @staticmethod
    def from_table(source: Any, features: Any = None, *, id_column: str | None = None) -> Space:
        """A space of given points: the rows of a table, each of which is suggested once.

        Rows with the same features are one point, for which the first row is shown; a warning names them.

        Parameters
        ----------
        source : the path of a CSV file, a data frame, a list of dicts, or a dict of columns. It may have millions of
            rows.
        features : the names of the columns that the model uses: numbers, or texts as categories. A dict can also give
            their parameters, ``{"c": bv.Float(0.01, 1, log=True), "solvent": bv.Categorical({...}), "mass": None}``. By
            default all columns of numbers except the id.
        id_column : the name of the column with the ids of rows. A result may name its point by the id alone. The id and
            all columns that are not features are shown with each trial.
        """
        rows = rows_of(source, features, id_column)
        return Space(rows.parameters, table=rows)

    def showing(self, names: Collection[str]) -> Space:
        """The same space; of the columns of its table that are not features, only those among ``names`` are kept."""
        if self.table is None:
            return self
        rows = self.table.showing(names)
        return Space(rows.parameters, table=rows)

    def __repr__(self) -> str:
        """The call that makes this space."""
        if self.table is not None:
            return f"Space.from_table({self.table!r})"
        within = "" if self.within is None else f", within={self.within!r}"
        within = f", rules={[*self.rules]!r}" if self.rules else within
        return f"Space({dict(self._items)!r}{'' if self.constraint is None else f', {self.constraint!r}'}{within})"

    def __len__(self) -> int:
        """The number of parameters, without columns of a table that are not features."""
        return len(self._items) if self.table is None else len(self.table.features)

    @staticmethod
    def cube(d: int) -> Space:
        """The unit cube as a space: parameters x0, ..., x{d-1}, each ``Float(0, 1)``."""
        d = whole(d, "d", 1, MAX_COLUMNS)
        return Space({f"x{j}": Float(0.0, 1.0) for j in range(d)})

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """The parameters by name, in order, read-only."""
        return MappingProxyType(dict(self._items))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters, in order."""
        return tuple(dict(self._items))

    def likely(self) -> Likely | None:
        """The beliefs about where the optimum is; None if no parameter has one."""
        return likely_of(self.parameters, {name: start for name, _, start, _ in self._layout()})

    @property
    def parents_first(self) -> tuple[str, ...]:
        """The names of the parameters, each after those that it depends on."""
        return (*(name for name in self.names if name not in self._conditions.when), *self._conditions.when)

    @property
    def groups(self) -> tuple[int, ...] | None:
        """The number of each encoded column's lengthscale, from 0; None if each column has its own.

        All columns of a parameter share one, except descriptors, which have one each.
        """
        return self._groups

    def descriptor_shares(self, lengthscales: Array) -> dict[str, dict[str, float]]:
        """The shares of each descriptor and of the identity under ``lengthscales`` (dim,), for each parameter with
        descriptors."""
        described = [
            (name, p.descriptor_shares(lengthscales[start:stop]))
            for name, p, start, stop in self._layout()
            if has(p, Described)
        ]
        return {name: shares for name, shares in described if shares is not None}

    @property
    def size(self) -> int | None:
        """The number of points, allowed or not; None if a parameter is continuous.

        With conditional parameters, if there are more than 100,000, it is an upper bound.
        """
        if self.table is not None:
            return len(self.table)
        counts = [parameter.count for _, parameter in self._items]
        if None in counts:
            return None
        return self.region().size if self._conditions.when else math.prod(k for k in counts if k is not None)

    def present(self, params: Mapping[str, Any]) -> tuple[str, ...]:
        """The names of the parameters that the point ``params`` (already checked) must have: all, without
        conditions."""
        return self._conditions.present(self.names, params) if self._conditions.when else self.names

    def check(self, params: Mapping[str, Any], measured: bool = False) -> dict[str, Any]:
        """Check a point with all parameters and return it as plain Python values, in the order of the space.

        A Float that is at most 1e-9 (relative) outside its bounds or off its grid is moved onto them. Parameters that
        have no value at the point are left out; None and NaN stand for no value.

        Parameters
        ----------
        params : the point.
        measured : whether the point was evaluated; its numbers then need not lie on grids or within bounds.
        """
        if self.table is not None:
            return self.table.at(self.table.place(params))
        conditions, kept = self._conditions, params
        if conditions.when and isinstance(params, Mapping):
            kept = {
                name: value for name, value in params.items() if name not in conditions.when or not _is_blank(value)
            }
        given = self.check_fixed(kept, measured)
        if conditions.when:
            items = dict(self._items)
            for name, when in conditions.when.items():
                if not conditions.holds(name, given):
                    if name in given:
                        needed = conditions.needs[name]
                        if missing := [one for one in needed if one not in given and conditions.holds(one, given)]:
                            raise InvalidInput(
                                f"{name!r} has a value only if {in_words(when)}; got {shown(given[name])}, but "
                                f"{', '.join(missing)} is missing. Add it."
                            )
                        raise InvalidInput(
                            f"{name!r} has a value only if {in_words(when)}; got {shown(given[name])} at "
                            f"{ {one: given[one] for one in conditions.needs[name] if one in given} }. Leave it out."
                        )
                elif name in params and name not in given:
                    given[name] = items[name].check(params[name], name)
            given = {name: given[name] for name in self.names if name in given}
        present = self.present(given)
        if len(given) < len(present):
            missing = [name for name in present if name not in given]
            raise InvalidInput(f"params must give every parameter a value; missing: {', '.join(missing)}.")
        return given

    def check_fixed(self, fixed: Mapping[str, Any], measured: bool = False, what: str = "params") -> dict[str, Any]:
        """Check the values ``fixed`` of some of the parameters; ``measured`` is as for :meth:`check`.

        ``what`` names the argument in errors.
        """
        if self.table is not None:
            return self.table.checked(fixed, what)
        if not isinstance(fixed, Mapping):
            raise InvalidInput(f"{what} must be a mapping of names to values; got {shown(fixed)}.")
        checked = {
            name: (p.measured if measured and has(p, Measurable) else p.check)(fixed[name], name)
            for name, p in self._items
            if name in fixed
        }
        if len(checked) < len(fixed):
            unknown = next(name for name in fixed if name not in checked)
            raise InvalidInput(
                f"{what} must name parameters among {', '.join(self.names)}; got {shown(unknown)}."
                f"{suggested(unknown, self.names)}"
            )
        return checked

    def measured(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Check a point that was really evaluated, with all parameters.

        Its numbers need not lie on steps or within bounds, and rules are not checked. Raises InvalidInput for a number
        that is not above 0 on a logarithmic scale, and for a choice that is not listed.
        """
        return self.check(params, True)

    def moved(self, params: Mapping[str, Any], changed: Mapping[str, Any]) -> dict[str, Any]:
        """The point that was evaluated in place of ``params``, with the values in ``changed``, checked as by
        ``measured``.

        Parameters that no longer have a value there are left out.
        """
        if not isinstance(changed, Mapping):
            raise InvalidInput(f"params must be a mapping of names to values; got {shown(changed)}.")
        if self.table is not None:
            return self.check(changed)
        point = {**params, **changed}
        if self._conditions.when:
            absent = {name for name in self._conditions.when if _is_blank(changed.get(name, name))}
            there = self.trimmed({name: value for name, value in point.items() if name not in absent})
            point = {name: value for name, value in point.items() if name in changed or name in there}
        return self.measured(point)

    def located(self, params: Mapping[str, Any]) -> tuple[Array, bool]:
        """The encoding (dim,) of a measured point, and whether it is near enough to the bounds to learn from.

        A point outside of the bounds lies outside of the unit cube. If it is farther away than the distance between the
        bounds in any parameter, it is clipped there, and no model should learn from it.
        """
        if self.table is not None:
            return frozen(self.encode([params])[0]), True
        there = np.full(self.dim, REST)
        for name, p, start, stop in self._layout():
            if name in params:
                value = params[name]
                there[start:stop] = p.located(value) if has(p, Measurable) else p.encode([value], name)[0]
        near = np.clip(there, -REACH, 1.0 + REACH)
        return frozen(near), bool((near == there).all())

    def allows(self, params: Mapping[str, Any]) -> bool:
        """Whether the point ``params`` (already checked) keeps the rules and the constraint, and lies ``within`` the
        region."""
        if not all(rule.holds(params) for rule in self.rules):
            return False
        if self.within is not None:
            return bool(self.region().holds(self.encode([params]))[0])
        return self.constraint is None or _satisfies(self.constraint, params)

    def refuse_conditional(self, names: Iterable[str], what: str) -> None:
        """Raise InvalidInput if ``what`` needs a parameter of ``names`` that does not always have a value."""
        self._conditions.refuse(names, what)

    def has_value(self, name: str, params: Mapping[str, Any]) -> bool:
        """Whether the parameter ``name`` has a value at a point that has the checked values ``params``."""
        return self._conditions.holds(name, params)

    def trimmed(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """The values of a point, each already checked, without those of parameters that have no value there."""
        items = dict(self._items)
        parents = {name for needed in self._conditions.needs.values() for name in needed}
        checked = {name: items[name].check(params[name], name) for name in parents if name in params}
        return {name: params[name] for name in self._conditions.present(params, checked)}

    def compatible(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values that parameters can have together; one that contradicts earlier ones is left out."""
        kept: dict[str, Any] = {}
        for name, value in values.items():
            with suppress(InvalidInput):
                self._conditions.under({**{n: [v] for n, v in kept.items()}, name: [value]})
                kept[name] = value
        return kept

    def has_place_for(self, name: str, earlier: Mapping[str, Parameter], fill: Mapping[str, Any]) -> bool:
        """Whether the parameter ``name`` may have a value at points of another space with the parameters ``earlier``.

        ``fill`` has the values that parameters of this space had there if the other space did not have them.
        """
        return self._conditions.is_met(name, earlier, fill)

    def encode(self, points: Iterable[Mapping[str, Any]]) -> Array:
        """Encode n points, which are checked first, as rows (n, dim) of the unit cube."""
        rows = list(points)
        if self.table is not None:
            return self.table.encoded(rows)
        if self._conditions.when:
            return self._encoded([self.check(row) for row in rows])
        names = dict(self._items).keys()
        for row in rows:
            if not isinstance(row, dict) or row.keys() != names:
                self.check(row)
        if len(rows) == 1:
            return np.concatenate([p.encode([rows[0][name]], name) for name, p in self._items], axis=1)
        X = np.empty((len(rows), self.dim))
        for name, p, start, stop in self._layout():
            X[:, start:stop] = p.encode([row[name] for row in rows], name)
        return X

    def _encoded(self, rows: Sequence[Mapping[str, Any]]) -> Array:
        """Checked points as rows (n, dim); some points may lack some parameters."""
        X = np.full((len(rows), self.dim), REST)
        for name, p, start, stop in self._layout():
            there = [i for i, row in enumerate(rows) if name in row]
            if there:
                X[there, start:stop] = p.encode([rows[i][name] for i in there], name)
        return X

    def misplaced(self, points: Iterable[Mapping[str, Any]], X: Array) -> int | None:
        """The first row of ``X`` (n, dim) that is not, to rounding, the encoding of its point in ``points``; None if
        all are."""
        slack = np.concatenate([np.full(p.width, p.slack) for _, p in self._items])
        if self._ruled is not None:
            slack[self._ruled.columns] = np.maximum(slack[self._ruled.columns], self._ruled.slack)
        rows = np.flatnonzero((np.abs(self.encode(points) - X) > slack).any(axis=1))
        return int(rows[0]) if len(rows) else None

    def decode(self, X: npt.ArrayLike, held: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
        """The point nearest to each row of ``X`` (n, dim), always within bounds and on the grids.

        decode(encode([p])) is [p]: exactly for discrete values, to 1e-12 of the value or of the range for a Float.
        If ``rules`` have equations, numbers are rounded to 13 decimals and add up exactly. Values that are ``held``
        replace the decoded ones.
        """
        U = np.clip(as_points(X, self.dim), 0.0, 1.0)
        if self.table is not None:
            return self.table.points(U)
        placed = zip(self._items, self._places, strict=True)
        columns = [parameter.decode(U[:, start:stop]) for (_, parameter), (start, stop) in placed]
        names, kept = self.names, held or {}
        points = [{**dict(zip(names, values, strict=True)), **kept} for values in zip(*columns, strict=True)]
        if self._conditions.when:
            points = self._conditions.cut(points, names)
        return [*map(Balance.of(self.rules, dict(self._items), kept).balanced, points)] if self.rules else points

    def region(
        self, fixed: Mapping[str, Any] | None = None, among: Mapping[str, Sequence[Any]] | None = None
    ) -> Region:
        """The region of allowed encoded points, with the parameters in ``fixed`` at their values.

        ``among`` gives the allowed values of further parameters.
        """
        if self.table is not None:
            return self.table.part(self.check_fixed(fixed or {}), among or {})
        values = {name: [value] for name, value in self.check_fixed(fixed or {}).items()}
        values |= {name: [*some] for name, some in (among or {}).items()}
        box = self._box(values)
        region = self._without_conditions(box, values)
        if not self._conditions.when:
            return region
        core = self._without_conditions(self._at_rest(box), values) if self.within is None else None
        return Conditional(region, self._dependents(box), core)

    def _without_conditions(self, box: Box, values: Mapping[str, Sequence[Any]]) -> Region:
        """The part of a box to search, as if every parameter always had a value."""
        if self.within is not None:
            return self.within(box)
        if not self.rules:
            return box
        geometry = self._geometry(box, values) if values else self._ruled
        assert geometry is not None
        return Polytope(box, geometry)

    def linear(self, coefficients: Mapping[str, float]) -> tuple[float, Array] | None:
        """A sum of numbers with the weights ``coefficients``, as a constant and coefficients (dim,) in the cube; None
        if it is not linear there."""
        constant, a = 0.0, np.zeros(self.dim)
        for name, p, start, _ in self._layout():
            if name in coefficients:
                if not has(p, Number) or p.log or p.rounded or name in self._conditions.when:
                    return None
                constant += coefficients[name] * p.low
                a[start] = coefficients[name] * (p.high - p.low)
        return constant, a

    def nearest(self, x: Array, among: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
        """For each parameter in ``among``, the value listed there that is nearest to the point ``x`` (dim,)."""
        found = {}
        for name, p, start, stop in self._layout():
            if name in among:
                gaps = np.abs(p.encode(among[name], name) - x[start:stop]).sum(axis=1)
                found[name] = among[name][int(gaps.argmin())]
        return found

    def _box(self, values: Mapping[str, Sequence[Any]]) -> Box:
        """The box of all parameters, in which those in ``values`` are restricted to these values, and their parents to
        values that allow them."""
        lower, upper, blocks = np.zeros(self.dim), np.ones(self.dim), []
        left = self._conditions.under(values)
        for name, p, start, stop in self._layout():
            rows = np.unique(p.encode(values[name], name), axis=0) if name in values else p.grid()
            if name in left and p.count is not None and not p.rounded:
                rows = rows[allowed_values(p.decode(rows), left[name])]
            is_possible = not left or self._conditions.is_possible(name, left)
            rows = rows if is_possible else np.full((1, p.width), REST)
            lower[start:stop], upper[start:stop] = rows.min(axis=0), rows.max(axis=0)
            is_listed = (p.count is not None and not p.rounded) or (name in values and len(rows) > 1)
            if is_possible and is_listed and p.width:
                blocks.append(Block(start, stop, frozen(rows), p.ordered))
        feasible = None if self.constraint is None else self._feasible
        rounding = self._rounded if any(p.rounded for _, p in self._items) else None
        return Box(frozen(lower), frozen(upper), tuple(blocks), feasible, rounding, self._tolerance())

    def _at_rest(self, box: Box) -> Box:
        """The same box with the columns of conditional parameters at 0.5, and without a constraint."""
        lower, upper, resting = box.lower.copy(), box.upper.copy(), set[int]()
        for name, _, start, stop in self._layout():
            if name in self._conditions.when:
                lower[start:stop] = upper[start:stop] = REST
                resting.add(start)
        blocks = tuple(block for block in box.blocks if block.start not in resting)
        return replace(box, lower=frozen(lower), upper=frozen(upper), blocks=blocks, feasible=None)

    def _dependents(self, box: Box) -> tuple[Dependent, ...]:
        """The conditional parameters of a box, each after its parents."""
        places = {name: (p, start, stop) for name, p, start, stop in self._layout()}
        listed = {block.start: block.values for block in box.blocks}
        found = []
        for name in self._conditions.when:
            _, start, stop = places[name]
            needs = []
            for parent, keys in self._conditions.needs[name].items():
                p, first, last = places[parent]
                needs.append(
                    (Block(first, last, frozen(p.grid()), p.ordered), allowed_values(p.decode(p.grid()), keys))
                )
            held = (box.lower == box.upper)[start:stop].all()
            values = box.lower[None, start:stop] if held else listed.get(start)
            found.append(Dependent(start, stop, tuple(needs), values))
        return tuple(found)

    def _geometry(self, box: Box, values: Mapping[str, Sequence[Any]]) -> Geometry:
        """The geometry of the rules. Raises InvalidInput, which names the contradicting rules, if they hold nowhere."""
        parameters, starts = dict(self._items), {name: start for name, _, start, _ in self._layout()}
        grids = {block.start: block.values[:, 0] for block in box.blocks if block.ordered and len(block.values) > 1}

        def geometry(rules: Sequence[Rule]) -> Geometry | None:
            return geometry_of(rules, parameters, starts, box.lower, box.upper, grids)

        found = geometry(self.rules)
        if found is None:
            blamed = conflict(self.rules, lambda rules: geometry(rules) is not None)
            names = dict.fromkeys(name for rule in blamed for name in rule.names)
            said = ", ".join(
                f"{name}={' or '.join(map(repr, values.get(name, (parameters[name],))))}" for name in names
            )
            which = "this rule cannot hold" if len(blamed) == 1 else "these rules cannot hold together"
            raise InvalidInput(
                f"{which}: {' and '.join(map(repr, blamed))}, with {said}. Change one of them, or a parameter's bounds."
            )
        return found

    def to_config(self) -> dict[str, Any]:
        """Plain JSON data from which ``from_config`` makes an equal space. A constraint is only marked as present."""
        config: dict[str, Any] = {
            "parameters": [{"name": name, **to_config(p)} for name, p in self._items],
            "constrained": self.constraint is not None,
        }
        if self.rules:
            config["rules"] = [linear_rules.to_config(rule) for rule in self.rules]
        if self.table is not None:
            config["table"] = self.table.to_config()
        return config if self.within is None else {**config, "within": True}

    @staticmethod
    def from_config(
        config: Mapping[str, Any],
        constraint: Constraint | None = None,
        constraint_name: str | None = None,
        table: Rows | None = None,
    ) -> Space:
        """The inverse of ``to_config``.

        Parameters
        ----------
        config : the result of ``to_config``.
        constraint : the constraint, which must be passed again because JSON cannot hold a function.
        constraint_name : the name of the constraint in a journal.
        table : the rows from :func:`~believer.space.rows.rows_again`, if points are chosen from a table.
        """
        try:
            entries, constrained, within = config["parameters"], config["constrained"], config.get("within", False)
            rules = [linear_rules.from_config(rule) for rule in config.get("rules", ())]
            parameters = {entry["name"]: from_config(**entry) for entry in entries}
            forgotten = constrained and constraint is None
        except (AttributeError, KeyError, TypeError) as error:
            raise InvalidInput(f"config must be what Space.to_config returned; got {shown(config)}.") from error
        if not isinstance(entries, list | tuple) or not isinstance(constrained, bool):
            raise InvalidInput(f"config must be what Space.to_config returned; got {shown(config)}.")
        if len(parameters) < len(entries):
            raise InvalidInput(f"names must differ from each other; got {shown([entry['name'] for entry in entries])}.")
        if forgotten:
            raise InvalidInput("this space had a constraint, which a config cannot hold. Pass it as constraint=...")
        if within:
            raise InvalidInput("this space had a region of its own (within=), which a config cannot hold.")
        if config.get("table") is not None:
            if table is None or table.digest != config["table"].get("sha256"):
                raise InvalidInput("this space had a table, which a config cannot hold. Pass it as table=...")
            return Space({**table.parameters, **parameters}, table=table)
        return Space(parameters, constraint, constraint_name=constraint_name, rules=rules)

    def _layout(self) -> Iterator[tuple[str, Parameter, int, int]]:
        for (name, parameter), (start, stop) in zip(self._items, self._places, strict=True):
            yield name, parameter, start, stop

    def _tolerance(self) -> Array:
        """The tolerance of each column; discrete columns must be equal, to rounding."""
        columns = ([SAME_POINT if p.count is None else _SAME_VALUE] * p.width for _, p in self._items)
        return frozen([*chain.from_iterable(columns)])

    def _rounded(self, X: Array) -> Array:
        """``X`` (m, dim) with the columns of long grids on their nearest values; other columns are unchanged, bit for
        bit."""
        out = X.copy()
        for name, p, start, stop in self._layout():
            if p.rounded:
                out[:, start:stop] = p.encode(p.decode(X[:, start:stop]), name)
        return out

    def _feasible(self, X: Array) -> BoolArray:
        """A mask (m,) of the points ``X`` (m, dim) that the constraint allows; the rules hold at all of them."""
        assert self.constraint is not None
        return np.array([_satisfies(self.constraint, params) for params in self.decode(X)], dtype=bool)


def _is_blank(value: Any) -> bool:
    """Whether ``value`` is that of an empty cell of a table: None or NaN."""
    return value is None or (isinstance(value, float | np.floating) and math.isnan(value))


def _satisfies(constraint: Constraint, params: Mapping[str, Any]) -> bool:
    """Whether the constraint allows a point."""
    try:
        verdict = constraint(dict(params))
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise InvalidInput(f"constraint must work at every point; it raised {what} at {dict(params)}.") from error
    if not isinstance(verdict, bool | np.bool_):
        raise InvalidInput(f"constraint must return True or False; it returned {shown(verdict)} at {dict(params)}.")
    return bool(verdict)
