"""Other libraries' batch optimizers behind one interface, each over the encoded cube of a space, to be minimized.

A peer is made from a space and an initial design, and then driven by ``ask`` and ``tell``; whatever it does inside
(fits, restarts, pending points, proposing a point again) is its own affair and its own time. Each runs with its own
defaults and its own kinds of parameters, on one thread, and is imported where it is used.

| symbol | meaning | shape |
|---|---|---|
| X0, y0 | the initial design and its values | (n0, d), (n0,) |
| q | points proposed together | |
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from importlib.util import find_spec
from io import StringIO
from typing import Any, Protocol

import numpy as np

from believer.arrays import Array
from believer.capabilities import has
from believer.errors import InvalidInput, MissingExtra
from believer.space import Space
from believer.space.parameters import Number, Parameter
from believer.space.region import bounds
from believer_bench.axes import Axes, Code, is_listed, last
from believer_bench.peers_apart import Hebo, Smac

MAX_LISTED = 4096
"""Of a finite space with no more points, BoTorch looks at every one."""


class Peer(Protocol):
    """An optimizer of another library."""

    def ask(self, q: int) -> Array:
        """Propose ``q`` points of the space, (q, d), encoded."""

    def tell(self, X: Array, y: Array) -> None:
        """Report the values ``y`` (q,) of the points ``X`` (q, d) of the last ``ask``.

        An asynchronous peer takes those of any asks, a few at a time.
        """


class BoTorch:
    """BoTorch's ``SingleTaskGP`` and a Monte Carlo acquisition; all q points jointly, or one after another (greedy).

    It has no parameters of its own, so it does what most of its users do. The model is fitted to encoded points, a
    choice being its one-hot columns; the acquisition is maximized over the whole cube, and what is found moves to the
    nearest point of the space. Of a finite space with at most ``MAX_LISTED`` points it chooses, greedily in any case,
    among all that are not evaluated (``optimize_acqf_discrete``). Noise is inferred, whether there is any or not.
    """

    def __init__(
        self, space: Space, X0: Array, y0: Array, seed: int, noisy: bool, acquisition: str, greedy: bool = False
    ) -> None:
        import torch

        _one_torch_thread()
        torch.manual_seed(seed)
        self._acquisition, self._greedy = acquisition, greedy
        self._region = space.region()
        self._X, self._y = X0, y0

    def ask(self, q: int) -> Array:
        """Fit anew, then maximize the acquisition."""
        import torch
        from botorch import acquisition
        from botorch.fit import fit_gpytorch_mll
        from botorch.models import SingleTaskGP
        from gpytorch.mlls import ExactMarginalLogLikelihood

        X = torch.as_tensor(self._X, dtype=torch.double)
        Y = -torch.as_tensor(self._y, dtype=torch.double)[:, None]
        with _quiet():
            model = SingleTaskGP(X, Y)
            fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
            criterion = getattr(acquisition, self._acquisition)(model=model, best_f=Y.max())
            points: Array = self._maximized(criterion, q, X).detach().numpy().copy()
        return self._region.project(points)

    def tell(self, X: Array, y: Array) -> None:
        """Keep the results for the next fit."""
        self._X, self._y = np.vstack([self._X, X]), np.concatenate([self._y, y])

    def _maximized(self, criterion: Any, q: int, evaluated: Any) -> Any:
        """q points (q, d): the best of all that there are, or climbed to from 10 of 256 starts."""
        import torch
        from botorch.optim import optimize_acqf, optimize_acqf_discrete

        if self._region.size is not None and self._region.size <= MAX_LISTED:
            choices = torch.as_tensor(self._region.points())
            return optimize_acqf_discrete(criterion, q=q, choices=choices, unique=True, X_avoid=evaluated)[0]
        return optimize_acqf(
            criterion,
            bounds=torch.tensor(np.vstack(bounds(self._region))),
            q=q,
            num_restarts=10,
            raw_samples=256,
            sequential=self._greedy,
        )[0]


class OptunaGP:
    """Optuna's ``GPSampler``: q trials asked one after another, the earlier ones of the batch running.

    Every kind of parameter has its distribution there, but for whole numbers over magnitudes with a step: these are
    shown by their index. So are choices, because to Optuna 1 and True are the same one. A grid too long for it to list,
    above ``MAX_GRID``, is a real number, encoded.
    """

    def __init__(self, space: Space, X0: Array, y0: Array, seed: int, noisy: bool) -> None:
        import optuna

        _one_torch_thread()
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._axes = Axes.of(space, self._code)
        self._running: list[tuple[Array, Any]] = []
        with _quiet():
            self._distributions = {name: self._distribution(p) for name, p in self._axes.parameters.items()}
            sampler = optuna.samplers.GPSampler(seed=seed, deterministic_objective=not noisy, n_startup_trials=0)
            self._study = optuna.create_study(direction="minimize", sampler=sampler)
            for row, value in zip(self._axes.rows(X0), y0.tolist(), strict=True):
                params = dict(zip(self._distributions, row, strict=True))
                trial = optuna.trial.create_trial(params=params, distributions=self._distributions, value=value)
                self._study.add_trial(trial)

    def ask(self, q: int) -> Array:
        """q trials, each knowing of those before it that are running."""
        with _quiet():
            trials = [self._study.ask(self._distributions) for _ in range(q)]
        points = self._axes.points([trial.params[name] for name in self._distributions] for trial in trials)
        self._running += zip(points, trials, strict=True)
        return points

    def tell(self, X: Array, y: Array) -> None:
        """Finish the running trials at these points, whenever they were asked for."""
        with _quiet():
            for x, value in zip(X, y.tolist(), strict=True):
                place = next((i for i, (point, _) in enumerate(self._running) if np.array_equal(point, x)), None)
                if place is None:
                    raise InvalidInput(f"a result must be of a point that was asked for and not yet told; got {x}.")
                self._study.tell(self._running.pop(place)[1], value)

    @staticmethod
    def _code(p: Parameter) -> Code:
        if not has(p, Number) or (p.log and p.step not in (None, 1)):
            return "index"
        return "value" if p.step is None or is_listed(p) else "position"

    @classmethod
    def _distribution(cls, p: Parameter) -> Any:
        from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

        if not has(p, Number):
            return CategoricalDistribution(range(p.count or 1))
        if (code := cls._code(p)) == "index":
            return IntDistribution(0, last(p))
        if code == "position":
            return FloatDistribution(0.0, 1.0)
        kind = IntDistribution if isinstance(p.low, int) else FloatDistribution
        return kind(p.low, p.high, log=p.log, step=p.step)


class Egobox:
    """egobox's ``Egor.suggest`` with one of its multi-point strategies (``KB``, ``CLMIN``).

    A choice is an ``ENUM`` there, a grid an ``INT`` over its index, whole numbers over magnitudes an ``ORD`` of their
    encoded positions, and all else a ``FLOAT``, encoded, as a scale over magnitudes is not among its own.
    """

    def __init__(self, space: Space, X0: Array, y0: Array, seed: int, noisy: bool, strategy: str) -> None:
        os.environ.setdefault("RAYON_NUM_THREADS", "1")  # its threads are Rust's, which read this when first used
        self._strategy = strategy
        self._axes = Axes.of(space, self._code)
        self._X, self._y = self._rows(X0), y0
        self._seed, self._asks = seed, 0

    def ask(self, q: int) -> Array:
        """Train on all results, then believe or lie within the batch."""
        import egobox

        # A fixed seed would draw the same restarts in every iteration.
        seed = 1000 * self._seed + self._asks
        self._asks += 1
        batch = egobox.QEiConfig(batch=q, strategy=getattr(egobox.QEiStrategy, self._strategy))
        kinds = [self._kind(p) for p in self._axes.parameters.values()]
        egor = egobox.Egor(kinds, qei_config=batch, seed=seed)
        found = np.asarray(egor.suggest(self._X, self._y[:, None]), dtype=np.float64)
        return self._axes.points(found.reshape(q, -1).tolist())

    def tell(self, X: Array, y: Array) -> None:
        """Keep the results for the next training."""
        self._X, self._y = np.vstack([self._X, self._rows(X)]), np.concatenate([self._y, y])

    def _rows(self, X: Array) -> Array:
        return np.array(self._axes.rows(X), dtype=np.float64)

    @staticmethod
    def _code(p: Parameter) -> Code:
        return "index" if not has(p, Number) or (is_listed(p) and not p.log) else "position"

    @staticmethod
    def _kind(p: Parameter) -> Any:
        from egobox import XSpec, XType

        if not has(p, Number):
            return XSpec(XType.ENUM, [p.count])
        if not is_listed(p):
            return XSpec(XType.FLOAT, [0.0, 1.0])
        return XSpec(XType.ORD, p.grid()[:, 0].tolist()) if p.log else XSpec(XType.INT, [0, last(p)])


class Skopt:
    """scikit-optimize's Gaussian process with the constant liar at the minimum.

    A number is a ``Real`` or an ``Integer`` there, with the prior of its scale, a grid with a step an ``Integer`` over
    its index, a choice a ``Categorical``.
    """

    def __init__(self, space: Space, X0: Array, y0: Array, seed: int, noisy: bool) -> None:
        from skopt import Optimizer

        self._axes = Axes.of(space, self._code)
        with _quiet():
            self._optimizer = Optimizer(
                [self._dimension(p) for p in self._axes.parameters.values()],
                base_estimator="GP",
                n_initial_points=1,
                initial_point_generator="random",
                random_state=seed,
            )
        self.tell(X0, y0)

    def ask(self, q: int) -> Array:
        """q points, the model fitted anew after each lie."""
        with _quiet():
            return self._axes.points(self._optimizer.ask(n_points=q, strategy="cl_min"))

    def tell(self, X: Array, y: Array) -> None:
        """Fit, with the results."""
        with _quiet():
            self._optimizer.tell(self._axes.rows(X), y.tolist())

    @staticmethod
    def _code(p: Parameter) -> Code:
        return "index" if not has(p, Number) or p.step != (1 if isinstance(p.low, int) else None) else "value"

    @classmethod
    def _dimension(cls, p: Parameter) -> Any:
        from skopt import space as theirs

        if not has(p, Number):
            return theirs.Categorical(range(p.count or 1))
        if cls._code(p) == "index":
            return theirs.Integer(0, last(p))
        kind = theirs.Integer if isinstance(p.low, int) else theirs.Real
        return kind(p.low, p.high, prior="log-uniform" if p.log else "uniform")


class BayesOpt:
    """bayesian-optimization's ``ConstantLiar`` around its default UCB; it maximizes, so its "max" lies at our minimum.

    A grid is a whole number there, its index, and all else a real number, encoded, as a scale over magnitudes is not
    among its own. Choices are, but not to its liar, which cannot copy a space that has any. Points may repeat, which by
    default is an error there.
    """

    def __init__(self, space: Space, X0: Array, y0: Array, seed: int, noisy: bool) -> None:
        from bayes_opt import BayesianOptimization
        from bayes_opt.acquisition import ConstantLiar, UpperConfidenceBound

        self._axes = Axes.of(space, self._code)
        with _quiet():
            self._optimizer = BayesianOptimization(
                f=None,
                pbounds={name: self._bounds(p) for name, p in self._axes.parameters.items()},
                acquisition_function=ConstantLiar(UpperConfidenceBound(kappa=2.576), strategy="max"),
                random_state=seed,
                verbose=0,
                allow_duplicate_points=True,
            )
        self.tell(X0, y0)

    def ask(self, q: int) -> Array:
        """q suggestions; it keeps those that have no result yet as lies."""
        with _quiet():
            suggested = [self._optimizer.suggest() for _ in range(q)]
        return self._axes.points([point[name] for name in self._axes.codes] for point in suggested)

    def tell(self, X: Array, y: Array) -> None:
        """Register the results; that a point came again is printed there, and swallowed here."""
        with _quiet(), redirect_stdout(StringIO()):
            for row, value in zip(self._axes.rows(X), y.tolist(), strict=True):
                self._optimizer.register(params=dict(zip(self._axes.codes, row, strict=True)), target=-value)

    @staticmethod
    def _code(p: Parameter) -> Code:
        return "position" if not has(p, Number) or p.log or not is_listed(p) else "index"

    @classmethod
    def _bounds(cls, p: Parameter) -> tuple[Any, ...]:
        if cls._code(p) == "position":
            return 0.0, 1.0
        return 0, last(p), int


@dataclass(frozen=True, slots=True)
class PeerEntry:
    """How a peer is made, and what it needs.

    Parameters
    ----------
    make : from (space, X0, y0, seed, noisy); noisy says whether the same point may have another value next time.
    modules : to import.
    distributions : whose versions count; the first is the one that a user installs.
    extra : of believer-bench, which installs it.
    asynchronous : whether it may be asked while earlier points are without results, and told of them in any order.
    categorical : whether it takes choices.
    then : a further command that installs it, after the extra.
    """

    make: Callable[[Space, Array, Array, int, bool], Peer]
    modules: tuple[str, ...]
    distributions: tuple[str, ...]
    extra: str
    asynchronous: bool = False
    categorical: bool = True
    then: str = ""

    @property
    def installed(self) -> bool:
        """Whether its modules can be found; nothing is imported."""
        return all(find_spec(module) is not None for module in self.modules)

    def require(self) -> None:
        """Raises ``MissingExtra`` unless it is installed."""
        if not self.installed:
            raise MissingExtra(self.distributions[0], self.extra, "believer-bench", self.then)

    def versions(self) -> dict[str, str]:
        """The versions of the packages that it runs on."""
        return {name: metadata.version(name) for name in self.distributions}


def _botorch(acquisition: str, greedy: bool = False) -> PeerEntry:
    make = partial(BoTorch, acquisition=acquisition, greedy=greedy)
    return PeerEntry(make, ("botorch",), ("botorch", "gpytorch", "torch"), "botorch")


def _egobox(strategy: str) -> PeerEntry:
    return PeerEntry(partial(Egobox, strategy=strategy), ("egobox",), ("egobox",), "egobox")


PEERS: dict[str, PeerEntry] = {
    "botorch_qei": _botorch("qExpectedImprovement"),
    "botorch_qlogei": _botorch("qLogExpectedImprovement"),
    "botorch_qlogei_greedy": _botorch("qLogExpectedImprovement", greedy=True),
    "optuna_gp": PeerEntry(OptunaGP, ("optuna", "torch"), ("optuna", "torch"), "optuna_gp", asynchronous=True),
    "egobox_kb": _egobox("KB"),
    "egobox_clmin": _egobox("CLMIN"),
    "skopt_clmin": PeerEntry(Skopt, ("skopt",), ("scikit-optimize", "scikit-learn"), "skopt"),
    "bayes_opt_cl": PeerEntry(
        BayesOpt, ("bayes_opt",), ("bayesian-optimization", "scikit-learn"), "bayes_opt", categorical=False
    ),
    "hebo": PeerEntry(Hebo, ("hebo", "torch"), ("HEBO", "torch"), "hebo", then="pip install --no-deps HEBO==0.3.6"),
    "smac": PeerEntry(Smac, ("smac",), ("smac", "scikit-learn"), "smac"),
}


def _one_torch_thread() -> None:
    """Hold torch to one thread in this process; the environment variables alone do not bind its own pool."""
    import torch

    torch.set_num_threads(1)


@contextmanager
def _quiet() -> Iterator[None]:
    """Suppress the warnings of a peer."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
