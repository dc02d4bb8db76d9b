"""A generator by the gest-api standard, which Xopt, Optimas and libEnsemble can run.

::

    generator = Generator(VOCS(variables={"x": [0.0, 1.0]}, objectives={"f": "MINIMIZE"}))
    points = generator.suggest(4)
    generator.ingest([point | {"f": cost(point["x"])} for point in points])

The guide is docs/gest.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from numbers import Real
from typing import Any

import numpy as np

from believer.arrays import SAME_POINT, shown, whole
from believer.errors import InvalidInput, MissingExtra, SpaceExhausted, TrialError
from believer.optimizer import Optimizer
from believer.space import Categorical, Float, Int, Space
from believer.space.parameters import Parameter
from believer.study.files import PathLike
from believer.study.outcome import outcome_of
from believer.study.recommendation import Recommendation

try:
    from gest_api import vocs as gest
    from gest_api.generator import Generator as Standard
except ImportError as error:
    raise MissingExtra("gest-api", "gest") from error

__all__ = ["Generator"]

ROUNDING = 2.0**-23
"""Relative; a number that came back as a float32 is no further off."""


class Generator(Standard):  # type: ignore[misc]
    """Batch Bayesian optimization as a generator.

    Points that were suggested and not ingested yet are pending: the next batch takes them into account.

    Parameters
    ----------
    vocs : one objective to minimize or maximize; continuous and discrete variables; constants and observables at will.
    batch_size : how many points ``suggest()`` returns when it is not told.
    journal : a path; every suggestion and result is written there at once, and a study that is there goes on.
    options : ``surrogate``, ``acquisition``, ``strategy``, ``n_init``, ``seed`` and others of
        :class:`believer.Optimizer`.

    Attributes
    ----------
    optimizer : the study behind it, with ``pending``, ``abandon(id)`` and others. A discrete variable of numbers is the
        place of its value there, from 0 by size, under a name that lists them.
    """

    returns_id = True

    def __init__(self, vocs: Any, batch_size: int = 1, journal: PathLike | None = None, **options: Any) -> None:
        super().__init__(vocs)
        self.batch_size = whole(batch_size, "batch_size", 1)
        self._variables = {name: _Variable.of(variable, name) for name, variable in vocs.variables.items()}
        self._constants = {name: constant.value for name, constant in vocs.constants.items()}
        ((self._objective, goal),) = vocs.objectives.items()
        options["maximize"] = isinstance(goal, gest.MaximizeObjective)
        space = Space({variable.name: variable.parameter for variable in self._variables.values()})
        self.optimizer = Optimizer(space, **options) if journal is None else Optimizer.open(journal, space, **options)

    def _validate_vocs(self, vocs: Any) -> None:
        """InvalidInput, a ValueError, for what this generator cannot do."""
        for name, variable in vocs.variables.items():
            _Variable.of(variable, name)
        taken = [*vocs.variables, *vocs.constants, *vocs.objectives, "_id"]
        if twice := sorted({name for name in taken if taken.count(name) > 1}):
            raise InvalidInput(f"variables, constants, objectives and _id need names of their own; twice: {twice}.")
        if len(vocs.objectives) != 1:
            names = ", ".join(vocs.objectives) or "none"
            raise InvalidInput(f"believer optimizes one objective, and not yet several; this VOCS has {names}.")
        for name, goal in vocs.objectives.items():
            if not isinstance(goal, gest.MinimizeObjective | gest.MaximizeObjective):
                raise InvalidInput(f"an objective is to MINIMIZE or to MAXIMIZE; {name!r} is {type(goal).__name__}.")
        if vocs.constraints:
            names = ", ".join(vocs.constraints)
            raise InvalidInput(f"believer does not learn constraints on outputs yet; this VOCS has {names}.")

    def suggest(self, num_points: int | None = None) -> list[dict[str, Any]]:
        """Points that are good together and with those pending: variables, constants and ``_id``.

        Parameters
        ----------
        num_points : how many, exactly; None for ``batch_size``. InvalidInput, a ValueError, where a finite space has
            fewer left.
        """
        q = self.batch_size if num_points is None else whole(num_points, "num_points", 0)
        try:
            trials = self.optimizer.ask(q) if q else ()
        except SpaceExhausted as error:
            raise InvalidInput(f"{error.left} points of this finite space are left, and {q} were asked for.") from error
        return [self._decoded(trial.params) | self._constants | {"_id": trial.id} for trial in trials]

    def _decoded(self, params: Mapping[str, Any]) -> dict[str, Any]:
        return {name: variable.decode(params[variable.name]) for name, variable in self._variables.items()}

    @property
    def best(self) -> tuple[dict[str, Any], float] | None:
        """Variables and objective of the best result; None before the first."""
        best = self.optimizer.best
        return None if best is None else (self._decoded(best[0]), best[1])

    def recommend(self) -> Recommendation:
        """The evaluated point to use in the end, as :meth:`believer.Optimizer.recommend` says, in ``params``."""
        found = self.optimizer.recommend()
        return replace(found, params=self._decoded(found.params))

    def ingest(self, results: Iterable[Mapping[str, Any]]) -> None:
        """Take in results; none of them, where one is wrong.

        Parameters
        ----------
        results : with the objective, and ``_id`` or the variables. Without ``_id``, a pending point with these
            variables is answered, else it is a result from elsewhere. With both, where they differ by more than the
            rounding of a float32, the suggestion is abandoned and the result is of the point that is given. None, NaN
            and infinities are failures.
        """
        waiting, answers = {trial.id: trial for trial in self.optimizer.pending}, []
        for row in sorted(_rows(results), key=_is_foreign):  # ids first: other rows take what is left
            if self._objective not in row:
                raise InvalidInput(f"a result must have the objective {self._objective!r}; got {shown(dict(row))}.")
            value = math.nan if row[self._objective] is None else row[self._objective]
            outcome = outcome_of(value, None, None)
            told = {"error": outcome} if isinstance(outcome, str) else {"value": outcome.value}
            given = {v.name: v.encode(row[name], name) for name, v in self._variables.items() if name in row}
            if _is_foreign(row):
                if missing := [name for name in self._variables if name not in row]:
                    raise InvalidInput(f"a result without _id must have every variable; missing: {', '.join(missing)}.")
                point = self.optimizer.space.check(given)
                near = [trial for trial in waiting.values() if self._same(trial.params, point)]
                trial = min(near, key=lambda trial: trial.params != point) if near else None
            elif (trial := waiting.get(whole(row["_id"], "_id", 0))) is not None:
                point = self.optimizer.space.check(trial.params | given)
            else:
                raise InvalidInput(f"an _id must be of a pending suggestion, without a result; got {row['_id']}.")
            if trial is not None:
                del waiting[trial.id]
            answers.append((trial, point, told))
        for trial, point, told in answers:
            if trial is not None and not self._same(trial.params, point):
                self.optimizer.observe(point, **told)
                self.optimizer.abandon(trial)
            else:
                try:
                    self.optimizer.tell(trial or point, **told)  # a point from elsewhere may be one that was abandoned
                except TrialError:
                    self.optimizer.observe(point, **told)

    def _same(self, a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
        return all(variable.is_same(a[variable.name], b[variable.name]) for variable in self._variables.values())

    def finalize(self) -> None:
        """Close the journal, if there is one; what was ingested is in it already."""
        self.optimizer.close()


def _rows(results: Any) -> list[Mapping[str, Any]]:
    rows: list[Any] = list(results) if isinstance(results, Iterable) and not isinstance(results, Mapping) else [None]
    if not all(isinstance(row, Mapping) for row in rows):
        raise InvalidInput(f"results must be a list of dicts, one for each point; got {shown(results)}.")
    return rows


def _is_foreign(row: Mapping[str, Any]) -> bool:
    """Has it no ``_id``, or none in its line of a table?"""
    return row.get("_id") is None or row["_id"] != row["_id"]


@dataclass(frozen=True, slots=True)
class _Variable:
    """A parameter, its name in the study, and the host's ``values`` for its ``codes`` where they are not the same."""

    name: str
    parameter: Parameter
    codes: Sequence[Any] = ()
    values: Sequence[Any] = ()

    @staticmethod
    def of(variable: Any, name: str) -> _Variable:
        dtype = variable.dtype
        if isinstance(dtype, tuple) or (dtype is not None and np.dtype(dtype).shape):
            raise InvalidInput(f"a variable must be a scalar; {name!r} has the dtype {dtype}; make it several.")
        if isinstance(variable, gest.DiscreteVariable):
            return _Variable._discrete(variable.values, name)
        if not isinstance(variable, gest.ContinuousVariable) or isinstance(variable, gest.ContextualVariable):
            raise InvalidInput(f"a variable must be continuous or discrete; {name!r} is {type(variable).__name__}.")
        low, high = variable.domain
        if dtype is not None and np.dtype(dtype).kind in "iu":
            return _Variable(name, Int(math.ceil(low), math.floor(high)))
        return _Variable(name, Float(low, high))

    @staticmethod
    def _discrete(given: Iterable[Any], name: str) -> _Variable:
        """With the values in the settings of the study: a journal is of a study with these and no other."""
        if all(isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value) for value in given):
            values = sorted(given)
            listed = ", ".join(map(str, values))
            if len(listed) > 100:  # every line of a journal has the name
                listed = f"{listed[:60]}..., sha256 {sha256(listed.encode()).hexdigest()[:16]}"
            place = Int(0, len(values) - 1)
            return _Variable(f"{name}, place from 0 in [{listed}]", place, range(len(values)), values)
        values = sorted(given, key=repr)  # a set of texts has another order in every process
        try:
            choices = Categorical(values)
        except InvalidInput:
            choices = Categorical([f"{i}: {value!r}" for i, value in enumerate(values)])
        return _Variable(name, choices, choices.choices, values)

    def decode(self, value: Any) -> Any:
        return self.values[self.codes.index(value)] if self.values else value

    def encode(self, value: Any, name: str) -> Any:
        if self.values:
            known = [v for v in self.values if v is value or v == value] or [v for v in self.values if _close(v, value)]
            if not known:
                raise InvalidInput(f"a value must be one of {list(self.values)}; got {shown(value)} for {name!r}.")
            return self.codes[self.values.index(known[0])]
        if isinstance(self.parameter, Float) and isinstance(value, float | np.floating):
            inside = min(max(float(value), self.parameter.low), self.parameter.high)
            return inside if self.is_same(float(value), inside) else value  # rounding may leave the bounds
        return value

    def is_same(self, a: Any, b: Any) -> bool:
        width = self.parameter.high - self.parameter.low if isinstance(self.parameter, Float) else 0.0
        return bool(a == b) or (width > 0.0 and _close(a, b, SAME_POINT * width))


def _close(a: Any, b: Any, distance: float = 0.0) -> bool:
    return isinstance(a, Real) and isinstance(b, Real) and math.isclose(a, b, rel_tol=ROUNDING, abs_tol=distance)
