"""A generator by the gest-api standard, which Xopt, Optimas and libEnsemble can run.

::

    generator = Generator(VOCS(variables={"x": [0.0, 1.0]}, objectives={"f": "MINIMIZE"}))
    points = generator.suggest(4)
    generator.ingest([point | {"f": cost(point["x"])} for point in points])

The guide is docs/gest.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from numbers import Real
from operator import itemgetter
from typing import Any, TypeGuard

import numpy as np

from believer.arrays import shown, whole
from believer.capabilities import has
from believer.errors import InvalidInput, MissingExtra, SpaceExhausted
from believer.optimizer import Optimizer
from believer.space import Categorical, Float, Int, Space
from believer.space.parameters import Number, Parameter
from believer.study.files import PathLike
from believer.study.goal import AtLeast, AtMost, Between, Goal, Maximize, Minimize
from believer.study.outcome import as_number
from believer.study.recommendation import Recommendation

try:
    from gest_api import vocs as gest
    from gest_api.generator import Generator as Standard
except ImportError as error:
    raise MissingExtra("gest-api", "gest") from error

__all__ = ["Generator"]


class Generator(Standard):  # type: ignore[misc]
    """Batch Bayesian optimization as a generator.

    Points that were suggested and not ingested yet are pending: the next batch takes them into account.

    Parameters
    ----------
    vocs : objectives to minimize or maximize, constraints on outcomes, and continuous and discrete variables; constants
        and observables are optional.
    batch_size : the number of points that ``suggest()`` returns by default.
    journal : a path; every suggestion and result is written there at once. If there is a study already, it goes on.
    options : the options of :class:`believer.Optimizer`: ``strategy``, ``surrogate``, ``acquisition``, ``n_init``,
        ``seed``, ...

    Attributes
    ----------
    optimizer : the study behind it, with ``pending``, ``abandon(id)`` and others. There, a discrete variable is the
        position of its value, from 0 in order, under a name that lists the values.
    """

    returns_id = True

    def __init__(self, vocs: Any, batch_size: int = 1, journal: PathLike | None = None, **options: Any) -> None:
        super().__init__(vocs)
        self.batch_size = whole(batch_size, "batch_size", 1)
        self._variables = {name: _variable(variable, name) for name, variable in vocs.variables.items()}
        self._constants = {name: constant.value for name, constant in vocs.constants.items()}
        goals = {name: _goal(part) for name, part in (*vocs.objectives.items(), *vocs.constraints.items())}
        self._returned, self._is_plain = [*goals], len(goals) == 1
        if self._is_plain:
            options["maximize"] = isinstance(goals[self._returned[0]], Maximize)
        else:
            options["outcomes"] = goals
        space = Space({variable.name: variable.parameter for variable in self._variables.values()})
        self.optimizer = Optimizer(space, **options) if journal is None else Optimizer.open(journal, space, **options)

    def _validate_vocs(self, vocs: Any) -> None:
        """Raise InvalidInput, which is a ValueError, for a problem that this generator cannot handle."""
        taken = [*vocs.variables, *vocs.constants, *vocs.objectives, *vocs.constraints, "_id"]
        if twice := sorted({name for name in taken if taken.count(name) > 1}):
            raise InvalidInput(f"variables, constants, outcomes and _id must have different names; got twice: {twice}.")
        goals = {name: type(goal).__name__ for name, goal in vocs.objectives.items()}
        if not goals or not {*goals.values()} <= {"MinimizeObjective", "MaximizeObjective"}:
            raise InvalidInput(f"believer has objectives to MINIMIZE or MAXIMIZE, one or several; got {goals}.")

    def suggest(self, num_points: int | None = None) -> list[dict[str, Any]]:
        """Suggest points that suit each other and the pending ones: variables, constants and ``_id``.

        Parameters
        ----------
        num_points : the exact number of points; None for ``batch_size``. Raises InvalidInput, a ValueError, if a finite
            space has fewer left.
        """
        q = self.batch_size if num_points is None else whole(num_points, "num_points", 0)
        try:
            trials = self.optimizer.ask(q) if q else ()
        except SpaceExhausted as error:
            raise InvalidInput(f"{error.left} points of this finite space are left, and {q} were asked for.") from error
        return [self._decoded(trial.params) | self._constants | {"_id": trial.id} for trial in trials]

    def _decoded(self, params: Mapping[str, Any]) -> dict[str, Any]:
        return {name: v.values[params[v.name]] if v.values else params[v.name] for name, v in self._variables.items()}

    @property
    def best(self) -> tuple[dict[str, Any], float] | None:
        """Variables and objective of the best result within all constraints; None before the first."""
        best = self.optimizer.best
        return None if best is None else (self._decoded(best[0]), best[1])

    def recommend(self) -> Recommendation:
        """The evaluated point to use, from :meth:`believer.Optimizer.recommend`, in ``params``."""
        found = self.optimizer.recommend()
        return replace(found, params=self._decoded(found.params))

    def ingest(self, results: Iterable[Mapping[str, Any]]) -> None:
        """Tell results; if one of them is invalid, none is recorded.

        Parameters
        ----------
        results : dicts with the outcomes that ``vocs`` declares, and ``_id`` or the variables. Without ``_id``, the
            result belongs to a pending point with these variables, or else to a point from elsewhere. With both, if
            they differ by more than the rounding of a float32, the suggestion is abandoned and the result belongs to
            the given point. None, NaN and infinities are failures.
        """
        rows: list[Any] = list(results) if isinstance(results, Iterable) else [results]
        if not all(isinstance(row, Mapping) for row in rows):
            raise InvalidInput(f"results must be a list of dicts, one for each point; got {shown(results)}.")
        is_foreign = [row.get("_id") is None or row["_id"] != row["_id"] for row in rows]  # NaN in a table
        waiting, answers = {trial.id: trial for trial in self.optimizer.pending}, []
        for foreign, row in sorted(zip(is_foreign, rows, strict=True), key=itemgetter(0)):  # they take what is left
            if lacking := [name for name in self._returned if name not in row]:
                raise InvalidInput(f"a result must have {', '.join(lacking)}; got {shown(dict(row))}.")
            values = {n: as_number(math.nan if row[n] is None else row[n], "a value") for n in self._returned}
            value = values[self._returned[0]] if self._is_plain else values
            given = {v.name: v.encode(row[name], name) for name, v in self._variables.items() if name in row}
            if not foreign:
                trial = waiting.get(whole(row["_id"], "_id", 0))
                if trial is None:
                    raise InvalidInput(f"an _id must be of a pending suggestion, without a result; got {row['_id']}.")
            elif missing := [name for name in self._variables if name not in row]:
                raise InvalidInput(f"a result without _id must have every variable; missing: {', '.join(missing)}.")
            else:
                near = [trial for trial in waiting.values() if self._same(trial.params, given)]
                trial = min(near, key=lambda trial: trial.params != given, default=None)
            suggested = {} if trial is None else waiting.pop(trial.id).params
            answers.append((trial, self.optimizer.space.check({**suggested, **given}), value))
        for trial, point, value in answers:
            if trial is not None and self._same(trial.params, point):
                self.optimizer.tell(trial, value)
            else:
                self.optimizer.observe(point, value)
                if trial is not None:
                    self.optimizer.abandon(trial)

    def _same(self, a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
        values = [(a[v.name], b[v.name], _is_float(v.parameter)) for v in self._variables.values()]
        return all(one == other or (is_float and _close(one, other)) for one, other, is_float in values)

    def finalize(self) -> None:
        """Close the journal, if there is one; it has all ingested results already."""
        self.optimizer.close()


@dataclass(frozen=True, slots=True)
class _Variable:
    """A parameter, its name in the study, and, for a discrete variable, the ``values`` whose positions are the
    parameter's values."""

    name: str
    parameter: Parameter
    values: tuple[Any, ...] = ()

    def encode(self, value: Any, name: str) -> Any:
        if self.values:
            same = [v for v in self.values if v is value or v == value] or [v for v in self.values if _close(v, value)]
            if not same:
                raise InvalidInput(f"a value must be one of {self.values}; got {shown(value)} for {name!r}.")
            return self.values.index(same[0])
        if _is_float(self.parameter) and isinstance(value, float | np.floating):
            inside = min(max(float(value), self.parameter.low), self.parameter.high)
            return inside if _close(value, inside) else value  # rounding may leave the bounds
        return value


def _is_float(p: Parameter) -> TypeGuard[Number]:
    return has(p, Number) and isinstance(p.low, float)


def _goal(part: Any) -> Goal:
    """The goal of an outcome, from the words of the standard."""
    if isinstance(part, gest.BaseObjective):
        return Maximize() if isinstance(part, gest.MaximizeObjective) else Minimize()
    if isinstance(part, gest.BoundsConstraint):
        return Between(*part.range)
    if isinstance(part, gest.LessThanConstraint):  # both are strict there
        return AtMost(math.nextafter(part.value, -math.inf))
    return AtLeast(math.nextafter(part.value, math.inf))


def _close(a: Any, b: Any) -> bool:
    """Whether two numbers are equal up to the rounding of a float32."""
    return isinstance(a, Real) and isinstance(b, Real) and math.isclose(a, b, rel_tol=2.0**-23)


def _variable(variable: Any, name: str) -> _Variable:
    """The name of a discrete variable includes its values, so that a journal belongs to a study with exactly these."""
    dtype = np.dtype(variable.dtype)
    if dtype.shape:
        raise InvalidInput(f"a variable must be a scalar; {name!r} has the dtype {dtype}; make it several.")
    if isinstance(variable, gest.DiscreteVariable):
        is_number = [isinstance(v, Real) and not isinstance(v, bool) and math.isfinite(v) for v in variable.values]
        values = tuple(sorted(variable.values, key=None if all(is_number) else repr))  # a set has none of its own
        listed = ", ".join(map(str if all(is_number) else repr, values))
        if len(listed) > 100:  # every line of a journal has the name
            listed = f"{listed[:60]}..., sha256 {sha256(listed.encode()).hexdigest()[:16]}"
        places = Int(0, len(values) - 1) if all(is_number) else Categorical(range(len(values)))
        return _Variable(f"{name}, place from 0 in [{listed}]", places, values)
    if not isinstance(variable, gest.ContinuousVariable) or isinstance(variable, gest.ContextualVariable):
        raise InvalidInput(f"a variable must be continuous or discrete; {name!r} is {type(variable).__name__}.")
    low, high = variable.domain
    return _Variable(name, Int(math.ceil(low), math.floor(high)) if dtype.kind in "iu" else Float(low, high))
