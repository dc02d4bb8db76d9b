"""The Structural Diversity Diagnostic: whether a surrogate responds to pseudo-observations ([paper] section 4.1).

The paper's diagnostic builds a batch from fixed starts and calls it diverse or not. Here the same batch is built with
controls (``structural``), and one of four verdicts is given, from the data alone (``sdd_report``).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from believer.acquisitions import Acquisition, LogEI
from believer.arrays import whole
from believer.batch import ConstantLie, Lie, PseudoObservations
from believer.diagnostics.measurement import Measurement
from believer.diagnostics.sdd_report import SDDReport
from believer.diagnostics.source import DataSource, source_of
from believer.diagnostics.structural import Probe, measure, standardized
from believer.errors import BelieverError, EvaluationError, InvalidInput, SpaceExhausted
from believer.experiments import Cell, run
from believer.experiments.fingerprint import identity
from believer.maximize import FixedStarts, Maximizer
from believer.maximize.objective import remaining
from believer.study import serialization
from believer.study.files import PathLike
from believer.study.serialization import having
from believer.surrogates.inspection import require_surrogate
from believer.surrogates.protocols import Surrogate

VERSION = 2
"""The version of the measurements: stored results of another version are not reused."""


def _label(settings: Mapping[str, Any]) -> str:
    """The label of a cell in a progress bar."""
    return f"sdd: {serialization.brief(settings['surrogate'])}, {settings['update']}"


def _key(settings: Mapping[str, Any]) -> str:
    return json.dumps(dict(settings), sort_keys=True)


@dataclass(frozen=True, slots=True)
class SddJob:
    """Measures cells; it has a probe and a source for each of the possible settings."""

    known: dict[str, tuple[Probe, DataSource]]

    def __call__(self, cell: Cell) -> dict[str, Any]:
        """The measurement of the cell, as plain data."""
        probe, source = self.known[_key(cell.settings)]
        data = source.draw(cell.seed)
        try:
            return measure(*standardized(probe, data), cell.seed).to_json()
        except BelieverError:
            raise
        except Exception as error:
            raise EvaluationError(
                f"{type(probe.surrogate).__name__} raised {type(error).__name__}: {error}. fit must accept (X, y, rng, "
                "previous) and must not write into X or y; believer.testing.check_surrogate tells more"
            ) from error


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A checked diagnosis to be run: a probe on a source of data."""

    probe: Probe
    source: DataSource

    def settings(self) -> dict[str, Any]:
        """Plain data that name the diagnosis."""
        probe = self.probe
        return {
            "version": VERSION,
            "surrogate": identity(probe.surrogate),
            **self.source.settings(),
            "q": probe.q,
            "acquisition": identity(probe.acquisition),
            "lie": identity(probe.lie),
            "update": probe.update,
            "incumbent": probe.incumbent,
            "maximizer": identity(probe.maximizer),
        }


def diagnosis(
    surrogate: Surrogate,
    problem_or_data: Any,
    q: int = 3,
    acquisition: Acquisition | None = None,
    lie: Lie | None = None,
    update: str = "auto",
    maximizer: Maximizer | None = None,
    n: int = 30,
    incumbent: str = "believed",
) -> Diagnosis:
    """The arguments of :func:`sdd`, checked before any work is done."""
    q = whole(q, "q", 2)
    require_surrogate(surrogate)
    if callable(getattr(surrogate, "get_params", None)):
        raise InvalidInput(f"a scikit-learn regressor must be wrapped: use SklearnSurrogate({surrogate!r}).")
    source = source_of(problem_or_data, whole(n, "n", 2))
    left = remaining(source.region, np.zeros((0, source.region.dim)))
    if left is not None and q > len(left):
        few = len(left)
        raise SpaceExhausted(f"q={q} points were requested, but this finite space has only {few}. Ask for fewer.", few)
    strategy = PseudoObservations(ConstantLie("min") if lie is None else lie, update, incumbent)
    probe = Probe(
        surrogate,
        LogEI() if acquisition is None else having(("pointwise",), acquisition, "acquisition"),
        strategy.lie,
        strategy.update,
        strategy.incumbent,
        FixedStarts() if maximizer is None else having(("maximize",), maximizer, "maximizer"),
        q,
    )
    return Diagnosis(probe, source)


def sdd(
    surrogate: Surrogate,
    problem_or_data: Any,
    q: int = 3,
    *,
    acquisition: Acquisition | None = None,
    lie: Lie | None = None,
    update: str = "auto",
    maximizer: Maximizer | None = None,
    seeds: int | Sequence[int] = 10,
    n: int = 30,
    incumbent: str = "believed",
    workers: int | None = None,
    executor: Executor | None = None,
    results: PathLike | None = None,
    progress: bool | str = True,
) -> SDDReport:
    """Diagnose whether a surrogate can be used with pseudo-observations, and report the evidence.

    Raises :class:`InvalidInput`, :class:`MissingCapability` or :class:`SpaceExhausted` if a diagnosis is impossible,
    and :class:`EvaluationError` if a fit fails.

    Parameters
    ----------
    surrogate : the recipe to diagnose.
    problem_or_data : a problem by name ("hartmann6"), a ``Problem``, or ``(X, y, bounds)`` in the user's units.
    q : the number of points in a batch, two or more.
    acquisition : the acquisition function, by default LogEI; the paper uses ``EI(xi=0.01)``, whose gradient vanishes at
        most starts. y is standardized first, so ``xi`` is in units of its standard deviation.
    lie : the lie at a chosen point, by default the paper's "min".
    update : "condition", "refit", "none" (the paper's parametric case) or "auto", as for ``PseudoObservations``.
    maximizer : the maximizer of part A, by default the paper's three fixed starts.
    seeds : the number of initial designs (or, for a table, of fits), or a list of seeds.
    n : the number of observations in a problem's initial design.
    incumbent : "believed" or "data", as for ``PseudoObservations``.
    workers : the number of worker processes; by default this process does all work (in a script, keep the call under
        ``if __name__ == "__main__"``).
    executor : any ``concurrent.futures.Executor``, in place of ``workers``.
    results : a file of JSON lines; cells that it has are not measured again.
    progress : True draws a bar on a terminal, "lines" writes lines to standard error, False is silent.
    """
    one = diagnosis(surrogate, problem_or_data, q, acquisition, lie, update, maximizer, n, incumbent)
    return diagnose([one], seeds, workers=workers, executor=executor, results=results, progress=progress)[0]


def _seeds(seeds: Any) -> list[int]:
    """The seeds of the data sets: the first ones if a count is given, otherwise those that are named, each once."""
    if isinstance(seeds, Integral):
        return list(range(whole(seeds, "seeds", 1)))
    if isinstance(seeds, str) or not isinstance(seeds, Iterable):
        raise InvalidInput(f"seeds must be a whole number, or a list of seeds; got {seeds!r}.")
    which = [whole(seed, "a seed", 0) for seed in seeds]
    if not which:
        raise InvalidInput("seeds must hold at least one seed; got none.")
    if len(set(which)) < len(which):
        raise InvalidInput(f"seeds must be different, or a data set would count twice; got {which}.")
    return which


def diagnose(
    diagnoses: Sequence[Diagnosis],
    seeds: int | Sequence[int],
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    results: PathLike | None = None,
    progress: bool | str = True,
) -> list[SDDReport]:
    """A report for each diagnosis, their cells measured together."""
    which = _seeds(seeds)
    settings = [one.settings() for one in diagnoses]
    known = {_key(s): (d.probe, d.source) for s, d in zip(settings, diagnoses, strict=True)}
    # Seed by seed, so that an interrupted run has some results for every diagnosis.
    cells = [Cell(_label(s), s, seed) for seed in which for s in settings]
    found = run(cells, SddJob(known), store=results, executor=executor, workers=workers, progress=progress)
    count = len(settings)
    return [SDDReport(s, tuple(map(Measurement.from_json, found[i::count]))) for i, s in enumerate(settings)]
