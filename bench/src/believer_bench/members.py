"""The members of a race: a strategy on a surrogate with an acquisition function, or a peer, by name.

``kb`` is a strategy on the default Gaussian process, ``kb@forest`` the same on a random forest, ``kb@forest/EI`` with
another acquisition than LogEI, ``mine:Strategy@mine:surrogate`` the user's own, ``botorch_qlogei`` a peer. Every member
minimizes over the encoded cube from the same initial design.

| symbol | meaning | shape |
|---|---|---|
| X0, y0 | the initial design and its values, or declared outcomes, NaN where an evaluation failed | (n0, d), (n0,) |
| q | points proposed together | |
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any, Protocol

import numpy as np

from believer.arrays import Array
from believer.batch.verdict import Verdict
from believer.errors import BelieverError, InvalidInput, MissingCapability
from believer.experiments.parts import NamedPart, part
from believer.optimizer import Optimizer
from believer.space import Space
from believer.study.trials import Batch
from believer_bench.declared import HYPERVOLUME, Declared
from believer_bench.peers import PEERS, Peer

SURROGATE, ACQUISITION = "gp", "LogEI"
"""What a member has whose name says no other, as an ``Optimizer`` has; of several objectives EHVI for LogEI."""

WITHOUT_ACQUISITION = ("gp_bucb", "random", "thompson", "ucb_pe")
"""Strategies in which the acquisition of a study plays no part: with another one they would only be raced again."""


class Member(Protocol):
    """An optimizer that takes part."""

    def ask(self, q: int) -> Array:
        """``q`` points (q, d) of the encoded cube."""

    def tell(self, X: Array, y: Array) -> None:
        """The values ``y`` (q,) of the points ``X`` (q, d) of one ask, NaN where the evaluation failed.

        Asks are answered in any order in an asynchronous race, at once in others.
        """

    @property
    def verdict(self) -> Verdict | None:
        """The verdict on the last batch, if the member gives one."""

    def recommend(self) -> Array | None:
        """The point (d,) that the member recommends now; None if it recommends none."""


class Ours:
    """Our ``Optimizer``; ``options`` go to it (strategy, surrogate, ...), ``distinct`` to its asks."""

    def __init__(self, space: Space, X0: Array, y0: Array, seed: int, *, distinct: bool = True, **options: Any) -> None:
        # Only results count towards n_init: were it all of the design, failed points would be made up for by others.
        known = int(np.isfinite(y0).reshape(len(y0), -1).all(axis=1).sum())
        self._optimizer = Optimizer(space, n_init=max(1, known), seed=seed, **options)
        self._names = tuple(options.get("outcomes") or ())
        for params, value in zip(space.decode(X0), self._results(y0), strict=True):
            self._optimizer.observe(params, value)
        self._space, self._distinct = space, distinct
        self._waiting: list[Batch] = []
        self.verdict: Verdict | None = None

    def ask(self, q: int) -> Array:
        """The points of a batch."""
        batch = self._optimizer.ask(q, distinct=self._distinct)
        self._waiting.append(batch)
        self.verdict = batch.verdict
        return batch.encoded

    def tell(self, X: Array, y: Array) -> None:
        """The results of a batch that was asked for."""
        number = next(i for i, batch in enumerate(self._waiting) if np.array_equal(batch.encoded, X))
        self._optimizer.tell_many(self._waiting.pop(number), self._results(y))

    def _results(self, y: Array) -> list[Any]:
        """Results in the form that an optimizer is told: numbers, or dicts of outcomes."""
        return [dict(zip(self._names, row, strict=True)) for row in y.tolist()] if self._names else y.tolist()

    def rehearse(self, strategy: Any) -> None:
        """Ask ``strategy`` once without handing out the point, since a pending point would make the next ask slower."""
        (trial,) = self._optimizer.ask(strategy=strategy)
        self._optimizer.abandon(trial)

    def recommend(self) -> Array | None:
        """The recommendation of the optimizer; None without a result."""
        if self._optimizer.best is None:
            return None
        point: Array = self._space.encode([self._optimizer.recommend().params])[0]
        return point


class Theirs:
    """A peer. It is told the worst value so far for a failed evaluation, as our members count it.

    noisy: whether the same point may have another value next time; some peers want to know.
    """

    verdict: Verdict | None = None

    def __init__(self, name: str, space: Space, X0: Array, y0: Array, seed: int, noisy: bool = False) -> None:
        require_space(name, space)
        self._worst = -np.inf
        self._peer: Peer = PEERS[name].make(space, X0, self._without_failures(y0), seed, noisy)

    def ask(self, q: int) -> Array:
        """The points that the peer proposes."""
        return self._peer.ask(q)

    def tell(self, X: Array, y: Array) -> None:
        """The results, in the terms of the peer."""
        self._peer.tell(X, self._without_failures(y))

    def recommend(self) -> None:
        """None, because most peers recommend nothing."""

    def _without_failures(self, y: Array) -> Array:
        self._worst = max(self._worst, *y[np.isfinite(y)].tolist(), -np.inf)
        return np.where(np.isfinite(y), y, self._worst)


@dataclass(frozen=True, slots=True, eq=False)
class Entrant:
    """A member of a race. name: in cells and tables. parts: by kind, of a member of ours; a peer has none."""

    name: str
    parts: Mapping[str, NamedPart] = field(default_factory=dict)

    @property
    def settings(self) -> dict[str, Any]:
        """Its part of a cell's: its name, and what tells its own parts from others."""
        own = {kind: part.own for kind, part in self.parts.items() if part.own is not None}
        return {"member": self.name, **({"own": own} if own else {})}

    @property
    def findable(self) -> bool:
        """Whether any process can make it again from its name."""
        return all(part.findable for part in self.parts.values())

    def options(self, declared: Declared | None = None) -> dict[str, Any]:
        """The options of an ``Optimizer`` for this member."""
        found = {kind: part.value for kind, part in self.parts.items()}
        if self.parts["surrogate"].name == SURROGATE:
            del found["surrogate"]  # the one that suits the space
        if declared is None:
            return found
        if declared.measure == HYPERVOLUME and self.parts["acquisition"].name == ACQUISITION:
            del found["acquisition"]
        return {**found, **declared.options}

    def enter(
        self,
        space: Space,
        seed: int,
        X0: Array,
        y0: Array,
        noisy: bool = False,
        declared: Declared | None = None,
    ) -> Member:
        """The member at its start, the design and its values known; only peers are told whether these are noisy."""
        if not self.parts:
            return Theirs(self.name, space, X0, y0, seed, noisy)
        return Ours(space, X0, y0, seed, **self.options(declared))


def combined(strategies: Iterable[Any], surrogates: Iterable[Any], acquisitions: Iterable[Any]) -> Iterator[Entrant]:
    """Every strategy on every surrogate with every acquisition; a name ``kb@forest/EI`` stands for itself."""
    recipes, criteria = [part("a surrogate", x) for x in surrogates], [part("an acquisition", x) for x in acquisitions]
    for given in strategies:
        name, on, by = _split(given) if isinstance(given, str) else (given, "", "")
        strategy = part("a strategy", name)
        by = ACQUISITION if strategy.name in WITHOUT_ACQUISITION else by
        for surrogate in [part("a surrogate", on)] if on else recipes:
            for acquisition in [part("an acquisition", by)] if by else criteria:
                called = strategy.name + ("" if surrogate.name == SURROGATE else f"@{surrogate.name}")
                called += "" if acquisition.name == ACQUISITION else f"/{acquisition.name}"
                yield Entrant(called, {"strategy": strategy, "surrogate": surrogate, "acquisition": acquisition})


def _split(name: str) -> tuple[str, str, str]:
    pair, _, acquisition = name.partition("/")
    strategy, _, surrogate = pair.partition("@")
    return strategy, surrogate, acquisition


def entrant_named(name: str) -> Entrant:
    """The member that cells call ``name``."""
    return Entrant(name) if name in PEERS else next(combined([name], [SURROGATE], [ACQUISITION]))


def incapable(entrants: Sequence[Entrant], declared: Declared | None = None) -> dict[str, MissingCapability]:
    """Those of ours whose surrogate or acquisition lacks what their strategy needs, with the error that says what.

    So do strategies that choose for one number, where several are ``declared``.
    Every surrogate is fitted once for each acquisition, to three points, and every strategy asked once.
    ``InvalidInput`` when a part of the user's own raises something else.
    """
    found = {}
    asked: dict[tuple[str, str], Ours] = {}
    X = np.array([[0.2], [0.5], [0.9]])
    y = X[:, 0] ** 2 if declared is None else declared.made_up(X[:, 0] ** 2)
    for one in (one for one in entrants if one.parts):
        on, options = (one.parts["surrogate"].name, one.parts["acquisition"].name), one.options(declared)
        strategy = options.pop("strategy")
        try:
            if on not in asked:
                asked[on] = Ours(Space.cube(1), X, y, 0, **options)
            asked[on].rehearse(strategy)
        except MissingCapability as error:
            found[one.name] = error
        except BelieverError:
            raise
        except Exception as error:  # of someone else's part
            raise InvalidInput(
                f"{one.name} cannot take part: it raised {type(error).__name__}: {str(error).removesuffix('.')}. "
                "believer.testing.check_strategy and check_surrogate tell more."
            ) from error
    return found


def require_space(name: str, space: Space) -> None:
    """Raises ``InvalidInput`` if the member cannot work on ``space``: peers know no constraint, one no choices."""
    if name not in PEERS:
        return
    choices = [key for key, p in space.parameters.items() if not p.ordered]
    if space.constraint is not None or (choices and not PEERS[name].categorical):
        without = "a constraint" if PEERS[name].categorical else "a constraint or choices"
        raise InvalidInput(
            f"{name} takes part on spaces without {without} only; got "
            f"{f'the parameter {choices[0]!r}' if space.constraint is None else 'a constraint'}. "
            "Leave it out, or choose another problem."
        )


def require_one_number(name: str, problem: str) -> None:
    """Raises ``InvalidInput`` if the member cannot take part where outcomes are declared: no peer can."""
    if name in PEERS:
        raise InvalidInput(
            f"{name} takes part on problems of one number only; {problem} declares its outcomes. Leave it out, or "
            "choose another problem."
        )


def require_mode(name: str) -> None:
    """Raises ``InvalidInput`` if the member cannot be asked for a point while others are pending."""
    if name in PEERS and not PEERS[name].asynchronous:
        asynchronous = ", ".join(peer for peer, entry in PEERS.items() if entry.asynchronous)
        raise InvalidInput(
            f"{name} cannot race asynchronously: it takes no account of pending points. Leave it out, or race "
            f"synchronously only; of the peers, {asynchronous} can."
        )


def versions(name: str) -> dict[str, str]:
    """The versions of the packages that the member runs on."""
    if name in PEERS:
        return {"numpy": np.__version__, **PEERS[name].versions()}
    return {package: metadata.version(package) for package in ("believer", "numpy", "scipy")}
