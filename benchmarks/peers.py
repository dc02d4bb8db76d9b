"""One adapter per optimizer, behind one interface, so that the benchmarks treat all of them alike.

A member minimizes over the unit cube [0, 1]^d. It is made from an initial design and then driven by ``ask`` and
``tell``; whatever it does inside (fits, restarts, pending points) is its own affair and its own time. Every library is
imported inside its adapter: a missing one costs only its own cells.

| symbol | meaning | shape |
|---|---|---|
| X0, y0 | the initial design and its values | (n0, d), (n0,) |
| q | points proposed together | |
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from importlib import metadata
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


class Member(Protocol):
    """An optimizer under test."""

    def ask(self, q: int) -> Array:
        """Propose ``q`` points, (q, d), in the unit cube."""

    def tell(self, X: Array, y: Array) -> None:
        """Report the values ``y`` (q,) of the points ``X`` (q, d) of the last ``ask``."""


Factory = Callable[[int, Array, Array, int, int], Member]
"""``(d, X0, y0, q, seed) -> Member``."""


class OptunaGP:
    """Optuna's ``GPSampler``: q trials asked one after another, the earlier ones of the batch running."""

    def __init__(self, d: int, X0: Array, y0: Array, q: int, seed: int) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        one_torch_thread()
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        self._names = [f"x{i}" for i in range(d)]
        sampler = optuna.samplers.GPSampler(seed=seed, deterministic_objective=True, n_startup_trials=0)
        self._study = optuna.create_study(direction="minimize", sampler=sampler)
        axes = {name: optuna.distributions.FloatDistribution(0.0, 1.0) for name in self._names}
        for x, value in zip(X0, y0, strict=True):
            params = dict(zip(self._names, map(float, x), strict=True))
            self._study.add_trial(optuna.trial.create_trial(params=params, distributions=axes, value=float(value)))
        self._axes = axes
        self._running: list[Any] = []

    def ask(self, q: int) -> Array:
        self._running = [self._study.ask(self._axes) for _ in range(q)]
        return np.array([[trial.params[name] for name in self._names] for trial in self._running])

    def tell(self, X: Array, y: Array) -> None:
        for trial, value in zip(self._running, y, strict=True):
            self._study.tell(trial, float(value))
        self._running = []


class Egobox:
    """egobox's ``Egor.suggest`` with its defaults and one of its multi-point strategies (``KB``, ``CLMIN``, ...)."""

    def __init__(self, d: int, X0: Array, y0: Array, q: int, seed: int, strategy: str) -> None:
        self._bounds = [[0.0, 1.0]] * d
        self._strategy = strategy
        self._X, self._y = X0, y0
        self._seed, self._asks = seed, 0

    def ask(self, q: int) -> Array:
        import egobox as egx

        batch = egx.QEiConfig(batch=q, strategy=getattr(egx.QEiStrategy, self._strategy))
        # A fixed seed would draw the same restarts in every iteration.
        seed = 1000 * self._seed + self._asks
        self._asks += 1
        egor = egx.Egor(self._bounds, qei_config=batch, seed=seed)
        points = np.asarray(egor.suggest(self._X, self._y[:, None]), dtype=np.float64)
        return np.clip(points.reshape(q, -1), 0.0, 1.0)

    def tell(self, X: Array, y: Array) -> None:
        self._X, self._y = np.vstack([self._X, X]), np.concatenate([self._y, y])


class BoTorch:
    """BoTorch's ``SingleTaskGP`` with its defaults and a Monte Carlo acquisition, joint or sequential greedy."""

    def __init__(
        self,
        d: int,
        X0: Array,
        y0: Array,
        q: int,
        seed: int,
        sequential: bool,
        acquisition: str = "qLogExpectedImprovement",
    ) -> None:
        import torch

        one_torch_thread()
        torch.manual_seed(seed)
        self._sequential, self._acquisition = sequential, acquisition
        self._X, self._y = X0, y0

    def ask(self, q: int) -> Array:
        import torch
        from botorch import acquisition
        from botorch.fit import fit_gpytorch_mll
        from botorch.models import SingleTaskGP
        from botorch.optim import optimize_acqf
        from gpytorch.mlls import ExactMarginalLogLikelihood

        X = torch.as_tensor(self._X, dtype=torch.double)
        Y = -torch.as_tensor(self._y, dtype=torch.double)[:, None]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = SingleTaskGP(X, Y)
            fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
            criterion = getattr(acquisition, self._acquisition)(model=model, best_f=Y.max())
            points, _ = optimize_acqf(
                criterion,
                bounds=torch.tensor([[0.0] * X.shape[1], [1.0] * X.shape[1]], dtype=torch.double),
                q=q,
                num_restarts=10,
                raw_samples=256,
                sequential=self._sequential,
            )
        found: Array = points.detach().numpy().copy()
        return found

    def tell(self, X: Array, y: Array) -> None:
        self._X, self._y = np.vstack([self._X, X]), np.concatenate([self._y, y])


class Skopt:
    """scikit-optimize's Gaussian process with the constant liar at the minimum (speed only)."""

    def __init__(self, d: int, X0: Array, y0: Array, q: int, seed: int) -> None:
        from skopt import Optimizer

        warnings.filterwarnings("ignore", module="skopt|sklearn")
        self._optimizer = Optimizer(
            [(0.0, 1.0)] * d,
            base_estimator="GP",
            n_initial_points=1,
            initial_point_generator="random",
            random_state=seed,
        )
        self._optimizer.tell(X0.tolist(), y0.tolist())

    def ask(self, q: int) -> Array:
        return np.asarray(self._optimizer.ask(n_points=q, strategy="cl_min"), dtype=np.float64)

    def tell(self, X: Array, y: Array) -> None:
        self._optimizer.tell(X.tolist(), y.tolist())


class Believer:
    """Our ``Optimizer``; ``options`` go to its constructor (strategy, surrogate, ...)."""

    def __init__(self, d: int, X0: Array, y0: Array, q: int, seed: int, **options: Any) -> None:
        import believer as bv

        self._names = [f"x{i}" for i in range(d)]
        self._optimizer = bv.Optimizer(bv.Space.unit(d), seed=seed, n_init=len(X0), **options)
        for x, value in zip(X0, y0, strict=True):
            self._optimizer.observe(dict(zip(self._names, map(float, x), strict=True)), float(value))
        self._trials: list[Any] = []

    def ask(self, q: int) -> Array:
        self._trials = list(self._optimizer.ask(q))
        return np.array([[trial.params[name] for name in self._names] for trial in self._trials])

    def tell(self, X: Array, y: Array) -> None:
        for trial, value in zip(self._trials, y, strict=True):
            self._optimizer.tell(trial, float(value))
        self._trials = []


MEMBERS: dict[str, Factory] = {
    "believer": Believer,
    "optuna": OptunaGP,
    "egobox_kb": partial(Egobox, strategy="KB"),
    "egobox_clmin": partial(Egobox, strategy="CLMIN"),
    "botorch_joint": partial(BoTorch, sequential=False),
    "botorch_seq": partial(BoTorch, sequential=True),
    "botorch_qei_joint": partial(BoTorch, sequential=False, acquisition="qExpectedImprovement"),
    "skopt": Skopt,
}

_PACKAGES = {
    "optuna": ("optuna", "torch", "scipy"),
    "egobox": ("egobox",),
    "botorch": ("botorch", "gpytorch", "torch", "scipy"),
    "skopt": ("scikit-optimize", "scikit-learn"),
}


def one_torch_thread() -> None:
    """Hold torch to one thread; the environment variables alone do not bind its own pool."""
    import torch

    torch.set_num_threads(1)


def versions(member: str) -> dict[str, str]:
    """The versions of the packages that ``member`` runs on, NumPy always among them."""
    packages = _PACKAGES.get(member.split("_")[0], ("believer", "scipy"))
    return {name: metadata.version(name) for name in ("numpy", *packages)}
