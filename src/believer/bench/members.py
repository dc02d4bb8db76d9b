"""Who takes part: a strategy of this library on one of its surrogates, or a peer, by name.

``kb`` is a strategy on the default Gaussian process, ``kb@forest`` the same on a random forest, ``botorch_qlogei`` a
peer. Every member minimizes over the encoded cube from the same initial design.

| symbol | meaning | shape |
|---|---|---|
| X0, y0 | the initial design and its values, NaN where an evaluation failed | (n0, d), (n0,) |
| q | points proposed together | |
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import metadata
from typing import Any, Protocol

import numpy as np

from believer import surrogates
from believer.arrays import Array
from believer.batch import STRATEGIES
from believer.bench.peers import PEERS, Peer
from believer.errors import InvalidInput, MissingCapability
from believer.optimizer import Optimizer
from believer.space import Space
from believer.space.parameters import Float
from believer.study.trials import Batch
from believer.surrogates.protocols import Surrogate


class Member(Protocol):
    """An optimizer that takes part."""

    def ask(self, q: int) -> Array:
        """``q`` points (q, d) of the encoded cube."""
        ...

    def tell(self, X: Array, y: Array) -> None:
        """The values ``y`` (q,) of the points ``X`` (q, d) of the last ask, NaN where the evaluation failed."""
        ...

    @property
    def effective(self) -> float | None:
        """The effective size of the last batch, where the member knows of such a thing."""
        ...


class Ours:
    """Our ``Optimizer``; ``options`` go to it (strategy, surrogate, ...)."""

    def __init__(self, space: Space, X0: Array, y0: Array, seed: int, **options: Any) -> None:
        # Only results count towards n_init: were it all of the design, failed points would be made up for by others.
        self._optimizer = Optimizer(space, n_init=max(1, int(np.isfinite(y0).sum())), seed=seed, **options)
        for params, value in zip(space.decode(X0), y0.tolist(), strict=True):
            self._optimizer.observe(params, value)
        self._batch: Batch | None = None

    def ask(self, q: int) -> Array:
        """The points of a batch."""
        self._batch = self._optimizer.ask(q)
        return self._batch.unit

    def tell(self, X: Array, y: Array) -> None:
        """The results of the last batch."""
        assert self._batch is not None
        self._optimizer.tell_many(self._batch, y.tolist())

    @property
    def effective(self) -> float | None:
        """What the verdict on the last batch said."""
        return None if self._batch is None else self._batch.verdict.effective_size


class Theirs:
    """A peer. It is told of a failed evaluation as the worst value so far, which is what ours take it for."""

    effective: float | None = None

    def __init__(self, name: str, X0: Array, y0: Array, seed: int) -> None:
        self._worst = -np.inf
        self._peer: Peer = PEERS[name].make(X0, self._without_failures(y0), seed)

    def ask(self, q: int) -> Array:
        """What the peer proposes."""
        return self._peer.ask(q)

    def tell(self, X: Array, y: Array) -> None:
        """The results, in the terms of the peer."""
        self._peer.tell(X, self._without_failures(y))

    def _without_failures(self, y: Array) -> Array:
        self._worst = max(self._worst, *y[np.isfinite(y)].tolist(), -np.inf)
        return np.where(np.isfinite(y), y, self._worst)


def enter(name: str, space: Space, X0: Array, y0: Array, seed: int) -> Member:
    """The member ``name`` at its start, the design and its values known."""
    if name in PEERS:
        return Theirs(name, X0, y0, seed)
    strategy, surrogate = split(name)
    return Ours(space, X0, y0, seed, strategy=strategy, surrogate=_made(surrogate))


def incapable(names: Sequence[str]) -> dict[str, MissingCapability]:
    """Those of ours whose surrogate lacks what their strategy needs, with the error that says what.

    Every surrogate is fitted once, to three points, and every strategy asked once.
    """
    found = {}
    asked: dict[str, Optimizer] = {}
    for name in names:
        strategy, surrogate = split(name)
        if surrogate not in asked:
            asked[surrogate] = Optimizer(Space.unit(1), n_init=1, seed=0, surrogate=_made(surrogate))
            for place in (0.2, 0.5, 0.9):
                asked[surrogate].observe({"x0": place}, place**2)
        try:
            (trial,) = asked[surrogate].ask(strategy=strategy)
        except MissingCapability as error:
            found[name] = error
        else:
            asked[surrogate].abandon(trial)  # a pending one would make the next ask dearer
    return found


def _made(surrogate: str) -> Surrogate:
    recipe: Surrogate = getattr(surrogates, surrogates.SURROGATES[surrogate])()
    return recipe


def split(name: str) -> tuple[str, str]:
    """The strategy and the surrogate of a member of ours; ``InvalidInput`` when a part is not known."""
    strategy, at, surrogate = name.partition("@")
    if strategy not in STRATEGIES:
        raise InvalidInput(f"a strategy must be one of {', '.join(STRATEGIES)}; got {strategy!r}.")
    if at and surrogate not in surrogates.SURROGATES:
        raise InvalidInput(f"a surrogate must be one of {', '.join(surrogates.SURROGATES)}; got {surrogate!r}.")
    return strategy, surrogate or "gp"


def require_space(name: str, space: Space) -> None:
    """Raises ``InvalidInput`` if the member cannot work on ``space``: peers take real numbers without steps only."""
    if name not in PEERS:
        return
    odd = [key for key, p in space.parameters.items() if not isinstance(p, Float) or p.step is not None]
    if odd or space.constraint is not None:
        raise InvalidInput(
            f"{name} takes part on spaces of Floats without step or constraint only; got "
            f"{f'the parameter {odd[0]!r}' if odd else 'a constraint'}. Leave it out, or choose another problem."
        )


def versions(name: str) -> dict[str, str]:
    """Of the packages that the member runs on."""
    if name in PEERS:
        return {"numpy": np.__version__, **PEERS[name].versions()}
    return {package: metadata.version(package) for package in ("believer", "numpy", "scipy")}
