"""Other libraries' batch optimizers behind one interface, each over the unit cube, to be minimized.

A peer is made from an initial design and then driven by ``ask`` and ``tell``; whatever it does inside (fits, restarts,
pending points) is its own affair and its own time. Each runs with its own defaults, on one thread, and is imported
where it is used.

| symbol | meaning | shape |
|---|---|---|
| X0, y0 | the initial design and its values | (n0, d), (n0,) |
| q | points proposed together | |
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np

from believer.arrays import Array
from believer.errors import MissingExtra


class Peer(Protocol):
    """An optimizer of another library."""

    def ask(self, q: int) -> Array:
        """Propose ``q`` points, (q, d), in the unit cube."""
        ...

    def tell(self, X: Array, y: Array) -> None:
        """Report the values ``y`` (q,) of the points ``X`` (q, d) of the last ``ask``, or of any if asynchronous."""
        ...


class BoTorch:
    """BoTorch's ``SingleTaskGP`` and a Monte Carlo acquisition; all q points jointly, or one after another (greedy)."""

    def __init__(self, X0: Array, y0: Array, seed: int, acquisition: str, greedy: bool = False) -> None:
        import torch

        _one_torch_thread()
        torch.manual_seed(seed)
        self._acquisition, self._greedy = acquisition, greedy
        self._X, self._y = X0, y0

    def ask(self, q: int) -> Array:
        """Fit anew, then maximize the acquisition from 10 of 256 starts."""
        import torch
        from botorch import acquisition
        from botorch.fit import fit_gpytorch_mll
        from botorch.models import SingleTaskGP
        from botorch.optim import optimize_acqf
        from gpytorch.mlls import ExactMarginalLogLikelihood

        X = torch.as_tensor(self._X, dtype=torch.double)
        Y = -torch.as_tensor(self._y, dtype=torch.double)[:, None]
        with _quiet():
            model = SingleTaskGP(X, Y)
            fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
            criterion = getattr(acquisition, self._acquisition)(model=model, best_f=Y.max())
            points, _ = optimize_acqf(
                criterion,
                bounds=torch.tensor([[0.0] * X.shape[1], [1.0] * X.shape[1]], dtype=torch.double),
                q=q,
                num_restarts=10,
                raw_samples=256,
                sequential=self._greedy,
            )
        found: Array = points.detach().numpy().copy()
        return found

    def tell(self, X: Array, y: Array) -> None:
        """Keep the results for the next fit."""
        self._X, self._y = np.vstack([self._X, X]), np.concatenate([self._y, y])


class OptunaGP:
    """Optuna's ``GPSampler``: q trials asked one after another, the earlier ones of the batch running."""

    def __init__(self, X0: Array, y0: Array, seed: int) -> None:
        import optuna

        _one_torch_thread()
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._axes = {f"x{i}": optuna.distributions.FloatDistribution(0.0, 1.0) for i in range(X0.shape[1])}
        with _quiet():
            sampler = optuna.samplers.GPSampler(seed=seed, deterministic_objective=True, n_startup_trials=0)
            self._study = optuna.create_study(direction="minimize", sampler=sampler)
            for x, value in zip(X0.tolist(), y0.tolist(), strict=True):
                params = dict(zip(self._axes, x, strict=True))
                trial = optuna.trial.create_trial(params=params, distributions=self._axes, value=value)
                self._study.add_trial(trial)
        self._running: list[Any] = []

    def ask(self, q: int) -> Array:
        """q trials, each knowing of those before it."""
        with _quiet():
            trials = [self._study.ask(self._axes) for _ in range(q)]
        self._running += trials
        return np.array([self._point(trial) for trial in trials], dtype=np.float64)

    def tell(self, X: Array, y: Array) -> None:
        """Finish the trials of these points."""
        with _quiet():
            for x, value in zip(X.tolist(), y.tolist(), strict=True):
                number = next(i for i, trial in enumerate(self._running) if self._point(trial) == x)
                self._study.tell(self._running.pop(number), value)

    def _point(self, trial: Any) -> list[float]:
        return [float(trial.params[name]) for name in self._axes]


class Egobox:
    """egobox's ``Egor.suggest`` with one of its multi-point strategies (``KB``, ``CLMIN``)."""

    def __init__(self, X0: Array, y0: Array, seed: int, strategy: str) -> None:
        os.environ.setdefault("RAYON_NUM_THREADS", "1")  # its threads are Rust's, which read this when first used
        self._strategy = strategy
        self._X, self._y = X0, y0
        self._seed, self._asks = seed, 0

    def ask(self, q: int) -> Array:
        """Train on all results, then believe or lie within the batch."""
        import egobox

        # A fixed seed would draw the same restarts in every iteration.
        seed = 1000 * self._seed + self._asks
        self._asks += 1
        batch = egobox.QEiConfig(batch=q, strategy=getattr(egobox.QEiStrategy, self._strategy))
        egor = egobox.Egor([[0.0, 1.0]] * self._X.shape[1], qei_config=batch, seed=seed)
        points = np.asarray(egor.suggest(self._X, self._y[:, None]), dtype=np.float64)
        return np.clip(points.reshape(q, -1), 0.0, 1.0)

    def tell(self, X: Array, y: Array) -> None:
        """Keep the results for the next training."""
        self._X, self._y = np.vstack([self._X, X]), np.concatenate([self._y, y])


class Skopt:
    """scikit-optimize's Gaussian process with the constant liar at the minimum."""

    def __init__(self, X0: Array, y0: Array, seed: int) -> None:
        from skopt import Optimizer

        with _quiet():
            self._optimizer = Optimizer(
                [(0.0, 1.0)] * X0.shape[1],
                base_estimator="GP",
                n_initial_points=1,
                initial_point_generator="random",
                random_state=seed,
            )
            self._optimizer.tell(X0.tolist(), y0.tolist())

    def ask(self, q: int) -> Array:
        """q points, the model fitted anew after each lie."""
        with _quiet():
            return np.asarray(self._optimizer.ask(n_points=q, strategy="cl_min"), dtype=np.float64)

    def tell(self, X: Array, y: Array) -> None:
        """Fit, with the results."""
        with _quiet():
            self._optimizer.tell(X.tolist(), y.tolist())


class BayesOpt:
    """bayesian-optimization's ``ConstantLiar`` around its default UCB; it maximizes, so its "max" lies at our minimum.

    Points may repeat, which by default is an error there.
    """

    def __init__(self, X0: Array, y0: Array, seed: int) -> None:
        from bayes_opt import BayesianOptimization
        from bayes_opt.acquisition import ConstantLiar, UpperConfidenceBound

        self._names = [f"x{i}" for i in range(X0.shape[1])]
        with _quiet():
            self._optimizer = BayesianOptimization(
                f=None,
                pbounds=dict.fromkeys(self._names, (0.0, 1.0)),
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
        return np.array([[point[name] for name in self._names] for point in suggested], dtype=np.float64)

    def tell(self, X: Array, y: Array) -> None:
        """Register the results."""
        with _quiet():
            for x, value in zip(X.tolist(), y.tolist(), strict=True):
                self._optimizer.register(params=dict(zip(self._names, x, strict=True)), target=-value)


@dataclass(frozen=True, slots=True)
class PeerEntry:
    """How a peer is made from (X0, y0, seed), and what it needs: modules to import, distributions whose versions count.

    The first distribution is the one that a user installs, with the extra ``extra``. asynchronous: asks take account of
    points without results, which may come in any order.
    """

    make: Callable[[Array, Array, int], Peer]
    modules: tuple[str, ...]
    distributions: tuple[str, ...]
    extra: str
    asynchronous: bool = False

    @property
    def installed(self) -> bool:
        """Whether its modules can be found; nothing is imported."""
        return all(find_spec(module) is not None for module in self.modules)

    def require(self) -> None:
        """Raises ``MissingExtra`` unless it is installed."""
        if not self.installed:
            raise MissingExtra(self.distributions[0], self.extra)

    def versions(self) -> dict[str, str]:
        """Of what it runs on."""
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
    "optuna_gp": PeerEntry(OptunaGP, ("optuna", "torch"), ("optuna", "torch"), "optuna", asynchronous=True),
    "egobox_kb": _egobox("KB"),
    "egobox_clmin": _egobox("CLMIN"),
    "skopt_clmin": PeerEntry(Skopt, ("skopt",), ("scikit-optimize", "scikit-learn"), "skopt"),
    "bayes_opt_cl": PeerEntry(BayesOpt, ("bayes_opt",), ("bayesian-optimization", "scikit-learn"), "bayes_opt"),
}


def _one_torch_thread() -> None:
    """Hold torch to one thread in this process; the environment variables alone do not bind its own pool."""
    import torch

    torch.set_num_threads(1)


@contextmanager
def _quiet() -> Iterator[None]:
    """What a peer warns of is between it and its authors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
