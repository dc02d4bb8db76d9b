"""Peers that need an environment of their own, because they need older versions of what others need.

HEBO 0.3.6 runs with NumPy 1.26, SMAC 2.4 with scikit-learn below 1.9. They are :class:`~believer_bench.peers.Peer` s.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from believer.arrays import Array
from believer.capabilities import has
from believer.space import Space
from believer.space.parameters import Number, Parameter
from believer_bench.axes import Axes, Code, is_listed, last


def _code(p: Parameter) -> Code:
    return "index" if not has(p, Number) or (is_listed(p) and not p.log) else "position"


class Hebo:
    """HEBO with its defaults: MACE, which draws a batch from the Pareto front of three acquisition functions.

    A choice is a ``cat`` there, a grid an ``int``, its index, and all else a ``num``, encoded. What it draws at random
    comes from NumPy's and torch's global generators, which are seeded here.
    """

    def __init__(self, space: Space, X0: Array, y0: Array, seed: int, noisy: bool) -> None:
        import torch
        from hebo.design_space.design_space import DesignSpace
        from hebo.optimizers.hebo import HEBO

        torch.set_num_threads(1)
        torch.manual_seed(seed)
        np.random.seed(seed)  # noqa: NPY002 - the generator that HEBO draws from
        self._axes = Axes.of(space, _code)
        records = [self._record(name, p) for name, p in self._axes.parameters.items()]
        self._optimizer = HEBO(DesignSpace().parse(records), rand_sample=2, scramble_seed=seed)
        self.tell(X0, y0)

    def ask(self, q: int) -> Array:
        """q points of the front, those of the best mean and of the largest deviation among them."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = self._optimizer.suggest(n_suggestions=q)
        return self._axes.points(found[[*self._axes.codes]].itertuples(index=False, name=None))

    def tell(self, X: Array, y: Array) -> None:
        """Keep the results for the next fit."""
        import pandas

        rows = pandas.DataFrame(self._axes.rows(X), columns=[*self._axes.codes])
        self._optimizer.observe_new_data(rows, y[:, None])

    @staticmethod
    def _record(name: str, p: Parameter) -> dict[str, Any]:
        if not has(p, Number):
            return {"name": name, "type": "cat", "categories": [*range(p.count or 1)]}
        if _code(p) == "index":
            return {"name": name, "type": "int", "lb": 0, "ub": last(p)}
        return {"name": name, "type": "num", "lb": 0.0, "ub": 1.0}


class Smac:
    """SMAC's ``BlackBoxFacade``, a Gaussian process, asked q times before it is told.

    A choice is a ``Categorical`` there, a grid an ``Integer``, its index, and all else a ``Float``, encoded. It writes
    a folder, which goes with the process.
    """

    def __init__(self, space: Space, X0: Array, y0: Array, seed: int, noisy: bool) -> None:
        from ConfigSpace import ConfigurationSpace
        from smac import BlackBoxFacade, Scenario

        self._axes = Axes.of(space, _code)
        self._folder = tempfile.TemporaryDirectory()
        choices = ConfigurationSpace(seed=seed)
        choices.add([self._parameter(name, p) for name, p in self._axes.parameters.items()])
        scenario = Scenario(
            choices, deterministic=not noisy, n_trials=10_000, seed=seed, output_directory=self._folder.name
        )
        design = BlackBoxFacade.get_initial_design(scenario, n_configs=1)
        design.select_configurations = list
        self._facade = BlackBoxFacade(
            scenario, _never, initial_design=design, overwrite=True, logging_level=50, dask_client=None
        )
        self._choices, self._seed = choices, seed
        self._running: list[Any] = []
        self.tell(X0, y0)

    def ask(self, q: int) -> Array:
        """q trials, all of them running."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._running = [self._facade.ask() for _ in range(q)]
        return self._axes.points([trial.config[name] for name in self._axes.codes] for trial in self._running)

    def tell(self, X: Array, y: Array) -> None:
        """The results of the running trials, or of points that it did not ask for."""
        from smac.runhistory.dataclasses import TrialValue

        for trial, value in zip(self._running or self._foreign(X), y.tolist(), strict=True):
            self._facade.tell(trial, TrialValue(cost=value), save=False)
        self._running = []

    def _foreign(self, X: Array) -> Iterable[Any]:
        from ConfigSpace import Configuration
        from smac.runhistory.dataclasses import TrialInfo

        for row in self._axes.rows(X):
            values = dict(zip(self._axes.codes, row, strict=True))
            yield TrialInfo(Configuration(self._choices, values=values), seed=self._seed)

    @staticmethod
    def _parameter(name: str, p: Parameter) -> Any:
        from ConfigSpace import Categorical, Float, Integer

        if not has(p, Number):
            return Categorical(name, [*range(p.count or 1)])
        return Integer(name, (0, last(p))) if _code(p) == "index" else Float(name, (0.0, 1.0))


def _never(config: Any, seed: int = 0) -> float:
    """A target function that SMAC requires and never calls, because it is asked and told."""
    raise NotImplementedError
