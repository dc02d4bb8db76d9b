"""What several tests of strategies ask with, and laws that more than one of them must pass."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from believer import Categorical, Float, Int, Optimizer, Space
from believer.acquisitions import EHVI, UCB, LogEI, Pointwise
from believer.acquisitions.feasibility import Limits
from believer.arrays import Array, frozen, near_any
from believer.batch import Chosen, Data, Learned, Output, Pending, Request, Strategy
from believer.maximize import Multistart
from believer.space.box import Box
from believer.surrogates import GP, GPModel
from believer.surrogates.gp import posterior, standardization
from believer.surrogates.gp_fit import Hyperparameters
from believer.surrogates.protocols import Prediction

FAST = Multistart(starts=4, candidates=64, neighbors=8)
FIRST = ("pending", "failed", "warp", "sign")
"""What belongs to the first objective of a request, besides data and model."""

# Requests


def randomness(trial: int, purpose: str) -> np.random.Generator:
    return np.random.default_rng((3, trial, zlib.crc32(purpose.encode())))


def data_for(d: int = 2, n: int = 8, seed: int = 0) -> Data:
    X = np.random.default_rng(seed).random((n, d))
    return Data(frozen(X), frozen(5.0 + np.sin(5.0 * X[:, 0]) + ((X - 0.6) ** 2).sum(axis=1)))


def model_of(data: Data, noise: float = 1e-6, lengthscale: float | tuple[float, ...] = 0.3) -> GPModel:
    """A Gaussian process of ``data`` at fixed hyperparameters; several lengthscales take turns over the directions."""
    scales = frozen(np.resize(lengthscale, data.X.shape[1]))
    hyper = Hyperparameters("matern52", scales, signal=1.5, noise=noise)
    return posterior(hyper, data.X, data.y, *standardization(data.y))


def request_for(
    ids: tuple[int, ...] = (20, 21, 22), data: Data | None = None, noise: float = 1e-6, **changes: Any
) -> Request:
    """A request with one objective; ``changes`` are of the request, or of its first objective."""
    data = data if data is not None else data_for()
    d = data.X.shape[1]
    base = Request.single(
        ids=ids,
        surrogate=GP(),
        acquisition=LogEI(),
        model=changes.pop("model", None) or model_of(data, noise),
        data=data,
        pending=Pending((), frozen(np.zeros((0, d)))),
        region=Box.cube(d),
        avoid=data.X,
        distinct=True,
        randomness=randomness,
        maximizer=FAST,
    )
    first = {name: changes.pop(name) for name in FIRST if name in changes}
    return replace(base.with_first(**first), **changes)


def declared(*limits: Limits | None, out: dict[int, Pending] | None = None, **changes: Any) -> Request:
    """A request with an output for each of ``limits``, None for an objective; ``out``: pending points by output."""
    base = request_for()
    first, nothing = base.data, Pending((), frozen(np.zeros((0, 2))))
    outputs = []
    for place, one in enumerate(limits):
        data = Data(first.X, frozen(first.y + place * np.cos(4.0 * first.X[:, 1])))
        model, waiting = model_of(data), (out or {}).get(place, nothing)
        outputs.append(Learned(Output(f"v{place}", limits=one), tuple(range(len(data))), data, waiting, model, model))
    acquisition = EHVI() if limits.count(None) > 1 else LogEI()
    return replace(base, **{"outputs": tuple(outputs), "acquisition": acquisition, **changes})


def pending(request: Request, ids: tuple[int, ...], X: Array) -> Request:
    """``request`` with the points ``X`` (k, d) handed out before."""
    avoid = np.vstack([request.avoid, X]) if request.distinct else request.avoid
    return replace(request.with_first(pending=Pending(ids, frozen(X))), avoid=avoid)


def points(chosen: Chosen) -> Array:
    return np.array([choice.x for choice in chosen.choices])


@dataclass(frozen=True)
class Nearest:
    """A model that can only predict: the nearest value, and a std that grows with the distance from it."""

    X: Array
    y: Array

    def predict(self, X: Array) -> Prediction:
        gap = np.abs(X[:, None] - self.X).max(axis=2)
        return Prediction(self.y[gap.argmin(axis=1)], 0.05 + gap.min(axis=1))


@dataclass(frozen=True)
class Watching:
    """UCB that records the incumbents it was bound to."""

    seen: list[float] = field(default_factory=list, compare=False)

    def pointwise(self, mean: Array, std: Array, incumbent: float) -> Pointwise:
        self.seen.append(incumbent)
        return UCB().pointwise(mean, std, incumbent)


# Laws


def assert_all_new(X: Array) -> None:
    """No point of ``X`` (n, d) repeats an earlier one."""
    assert not any(near_any(X[[i]], X[:i])[0] for i in range(len(X)))


def assert_hands_out_every_cell(member: Strategy, table: Box) -> None:
    """A finite space is handed out to its last cell."""
    cells = table.points()
    data = Data(frozen(cells[:3]), frozen(np.array([1.0, 2.0, 0.5])))
    chosen = member.choose(request_for(tuple(range(20, 17 + len(cells))), data, region=table))
    together = np.vstack([data.X, points(chosen)])
    assert len(together) == len(cells)
    assert_all_new(together)


def assert_new_and_allowed_in_a_mixed_space(member: Strategy) -> None:
    """With a constraint, over three rounds of a study."""
    space = Space(
        {"rate": Float(1e-3, 1.0, log=True), "layers": Int(1, 4), "kind": Categorical(["a", "b", "c"])},
        constraint=lambda p: not (p["kind"] == "a" and p["layers"] > 2),
    )
    optimizer = Optimizer(space, strategy=member, n_init=4, seed=0, maximizer=FAST)
    for _ in range(3):
        for trial in optimizer.ask(3):
            assert space.allows(trial.params)
            optimizer.tell(trial, abs(np.log(trial.params["rate"]) + 3.0) + trial.params["layers"])
    assert_all_new(np.array([trial.encoded for trial in optimizer.trials]))


def assert_three_new_points_for_any_size_of_y(member: Strategy, scale: float) -> None:
    """``scale`` is that of the results; zero makes them constant."""
    data = data_for()
    y = scale * (data.y - 5.0) + (3.0 if scale == 0.0 else 0.0)
    model = replace(model_of(data), shift=float(y.mean()), scale=scale or 3.0)
    chosen = points(member.choose(request_for(data=Data(data.X, frozen(y)), model=model)))
    assert len(chosen) == 3
    assert_all_new(np.vstack([data.X, chosen]))
