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
from dataclasses import dataclass
from typing import Any

import numpy as np

from believer.arrays import shown, whole
from believer.errors import InvalidInput, MissingExtra, SpaceExhausted, TrialError
from believer.optimizer import Optimizer
from believer.space import Categorical, Float, Int, Space
from believer.space.parameters import Parameter
from believer.study.files import PathLike
from believer.study.outcome import outcome_of

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
    vocs : one objective to minimize or maximize; continuous and discrete variables; constants and observables at will.
    batch_size : how many points ``suggest()`` returns when it is not told.
    journal : a path; every suggestion and result is written there at once, and a study that is there goes on.
    options : ``surrogate``, ``acquisition``, ``strategy``, ``n_init``, ``seed`` and others of
        :class:`believer.Optimizer`.

    Attributes
    ----------
    optimizer : the study behind it, with ``best``, ``pending``, ``recommend()``; a discrete variable is the number
        of its value there, from 0: numbers by size, others by name.
    """

    returns_id = True

    def __init__(self, vocs: Any, batch_size: int = 1, journal: PathLike | None = None, **options: Any) -> None:
        super().__init__(vocs)
        self.batch_size = whole(batch_size, "batch_size", 1)
        self._variables = {name: _Variable.of(variable, name) for name, variable in vocs.variables.items()}
        self._constants = {name: constant.value for name, constant in vocs.constants.items()}
        ((self._objective, goal),) = vocs.objectives.items()
        options["maximize"] = isinstance(goal, gest.MaximizeObjective)
        space = Space({name: variable.parameter for name, variable in self._variables.items()})
        self.optimizer = Optimizer(space, **options) if journal is None else Optimizer.open(journal, space, **options)

    def _validate_vocs(self, vocs: Any) -> None:
        """InvalidInput, a ValueError, for what this generator cannot do."""
        for name, variable in vocs.variables.items():
            _Variable.of(variable, name)
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
        return {name: variable.decode(params[name]) for name, variable in self._variables.items()}

    def ingest(self, results: Iterable[Mapping[str, Any]]) -> None:
        """Take in results; none of them, where one is wrong.

        Parameters
        ----------
        results : with the objective, and ``_id`` or the variables. Without ``_id``, a pending point with these
            variables is answered, else it is a result from elsewhere. None, NaN and infinities are failures.
        """
        waiting = {trial.id for trial in self.optimizer.pending}
        own, foreign = [], []
        for row in results:
            if self._objective not in row:
                raise InvalidInput(f"a result must have the objective {self._objective!r}; got {shown(dict(row))}.")
            value = math.nan if row[self._objective] is None else row[self._objective]
            outcome = outcome_of(value, None, None)
            told = {"error": outcome} if isinstance(outcome, str) else {"value": outcome.value}
            if "_id" not in row:
                foreign.append((self._params(row), told))
            elif (number := whole(row["_id"], "_id", 0)) in waiting:
                waiting.remove(number)
                own.append((number, told))
            else:
                raise InvalidInput(f"an _id must be of a suggestion that has no result yet; got {number}.")
        for number, told in own:
            self.optimizer.tell(number, **told)
        for params, told in foreign:
            try:
                self.optimizer.tell(params, **told)
            except TrialError:
                self.optimizer.observe(params, **told)

    def _params(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """The point of a result as the study has it; InvalidInput where it is none of the space."""
        known = {name: v.encode(row[name], name) for name, v in self._variables.items() if name in row}
        return self.optimizer.space.check(known)

    def finalize(self) -> None:
        """Close the journal, if there is one; what was ingested is in it already."""
        self.optimizer.close()


@dataclass(frozen=True, slots=True)
class _Variable:
    """A parameter, and the values that its numbers 0, 1, ... stand for where they are not its own."""

    parameter: Parameter
    values: Sequence[Any] | None = None

    @staticmethod
    def of(variable: Any, name: str) -> _Variable:
        dtype = variable.dtype
        if isinstance(dtype, tuple) or (dtype is not None and np.dtype(dtype).shape):
            raise InvalidInput(f"a variable must be a scalar; {name!r} has the dtype {dtype}; make it several.")
        if isinstance(variable, gest.DiscreteVariable):
            if all(isinstance(value, int | float) and not isinstance(value, bool) for value in variable.values):
                return _Variable(Int(0, len(variable.values) - 1), sorted(variable.values))
            # A set of texts has another order in every process.
            return _Variable(Categorical(range(len(variable.values))), sorted(variable.values, key=repr))
        if not isinstance(variable, gest.ContinuousVariable) or isinstance(variable, gest.ContextualVariable):
            raise InvalidInput(f"a variable must be continuous or discrete; {name!r} is {type(variable).__name__}.")
        low, high = variable.domain
        if dtype is not None and np.dtype(dtype).kind in "iu":
            return _Variable(Int(math.ceil(low), math.floor(high)))
        return _Variable(Float(low, high))

    def decode(self, value: Any) -> Any:
        return value if self.values is None else self.values[value]

    def encode(self, value: Any, name: str) -> Any:
        if self.values is None:
            return value
        if value not in self.values:
            raise InvalidInput(f"a value must be one of {list(self.values)}; got {shown(value)} for {name!r}.")
        return self.values.index(value)
