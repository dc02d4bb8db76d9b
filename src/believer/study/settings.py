"""The settings of a study: checked once, written at the head of its journal, rebuilt from there."""

from __future__ import annotations

import os
import platform
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy

from believer._version import __version__
from believer.acquisitions import EI, Acquisition, LogEI
from believer.arrays import frozen, whole
from believer.batch import LOADED_ON_USE, Data, Pending, Request, Strategy
from believer.errors import BelieverError, InvalidInput, MissingCapability, MissingExtra
from believer.maximize import Maximizer
from believer.numerics import backend
from believer.numerics.sampling import stream
from believer.space import Constraint, Space
from believer.space.region import Region
from believer.study import serialization
from believer.surrogates import GP
from believer.surrogates.protocols import Surrogate


@dataclass(frozen=True, slots=True, eq=False)
class StudySettings:
    """What an optimizer was made with."""

    space: Space
    surrogate: Surrogate
    acquisition: Acquisition
    strategy: Strategy
    maximizer: Maximizer | None
    n_init: int
    seed: int
    maximize: bool

    @property
    def sign(self) -> float:
        """1 when the user minimizes, -1 when the user maximizes: inside, everything is minimized."""
        return -1.0 if self.maximize else 1.0

    def to_config(self) -> dict[str, Any]:
        """Plain JSON data; custom members and the constraint by name."""
        return {
            "space": self.space.to_config(),
            "constraint": _callable_name(self.space.constraint),
            "surrogate": serialization.to_config(self.surrogate),
            "acquisition": serialization.to_config(self.acquisition),
            "strategy": serialization.to_config(self.strategy),
            "maximizer": serialization.to_config(self.maximizer),
            "n_init": self.n_init,
            "seed": self.seed,
            "maximize": self.maximize,
        }


def make_settings(
    space: Space,
    surrogate: Surrogate | None,
    acquisition: Acquisition | None,
    strategy: str | Strategy,
    maximizer: Maximizer | None,
    n_init: int | None,
    seed: int | None,
    maximize: bool,
) -> StudySettings:
    """Settings with their defaults filled in; InvalidInput when one breaks a rule."""
    if not isinstance(space, Space):
        raise InvalidInput(f"space must be a believer.Space; got {type(space).__name__}.")
    made = StudySettings(
        space=space,
        surrogate=GP() if surrogate is None else having("fit", surrogate, "surrogate"),
        acquisition=LogEI() if acquisition is None else having("pointwise", acquisition, "acquisition"),
        strategy=serialization.strategy_named(strategy),
        maximizer=None if maximizer is None else having("maximize", maximizer, "maximizer"),
        n_init=whole(2 * len(space) if n_init is None else n_init, "n_init", 1),
        seed=secrets.randbits(63) if seed is None else whole(seed, "seed", 0),
        maximize=_flag(maximize),
    )
    _rehearse(made)
    return made


def _rehearse(settings: StudySettings) -> None:
    """MissingCapability, or MissingExtra, for members that cannot work together, before a design is paid for.

    A strategy that needs something is asked once for a point, on three made-up results. Custom members are left
    alone: a call of theirs may cost, or count; they are told at the first ask.
    """
    recipe, strategy = settings.surrogate, settings.strategy
    whole_range = isinstance(recipe, GP) and isinstance(settings.acquisition, LogEI | EI)
    custom = any(
        serialization.is_custom(serialization.to_config(member)) for member in (recipe, strategy, settings.acquisition)
    )
    if whole_range or custom or type(strategy).__name__ not in LOADED_ON_USE:
        return
    X, y = frozen(np.array([[0.1], [0.4], [0.9]])), frozen(np.array([1.0, 0.0, 2.0]))
    try:
        request = Request(
            ids=(0,),
            surrogate=recipe,
            acquisition=settings.acquisition,
            model=recipe.fit(Data(X, y), np.random.default_rng(0)),
            data=Data(X, y),
            pending=Pending((), X[:0]),
            region=Region.cube(1),
            avoid=X,
            distinct=True,
            randomness=partial(stream, 0),
        )
        strategy.choose(request)
    except (MissingCapability, MissingExtra):
        raise
    except BelieverError:
        pass  # whatever else it is, three made-up results are no reason to refuse a study


def settings_from_config(
    config: Mapping[str, Any],
    surrogate: Surrogate | None = None,
    acquisition: Acquisition | None = None,
    strategy: str | Strategy | None = None,
    maximizer: Maximizer | None = None,
    constraint: Constraint | None = None,
) -> StudySettings:
    """Inverse of :meth:`StudySettings.to_config`; what was custom is passed again and checked by name."""
    if _callable_name(constraint) != config["constraint"]:
        raise InvalidInput(
            f"the journal was written with the constraint {config['constraint']}; got {_callable_name(constraint)}. "
            "Pass the same function as constraint=..."
        )
    named = None if strategy is None else serialization.strategy_named(strategy)
    return StudySettings(
        space=Space.from_config(config["space"], constraint),
        surrogate=having("fit", serialization.from_config(config["surrogate"], "surrogate", surrogate), "surrogate"),
        acquisition=having(
            "pointwise", serialization.from_config(config["acquisition"], "acquisition", acquisition), "acquisition"
        ),
        strategy=serialization.strategy_named(serialization.from_config(config["strategy"], "strategy", named)),
        maximizer=serialization.from_config(config["maximizer"], "maximizer", maximizer),
        n_init=whole(config["n_init"], "n_init", 1),
        seed=whole(config["seed"], "seed", 0),
        maximize=_flag(config["maximize"]),
    )


def versions() -> dict[str, Any]:
    """What "bit for bit" depends on."""
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
    return {
        "believer": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "platform": f"{platform.system()} {platform.machine()}",
        "backend": backend.name(),
        "threads": {name: os.environ[name] for name in threads if name in os.environ},
    }


def _flag(maximize: Any) -> bool:
    if not isinstance(maximize, bool | np.bool_):
        raise InvalidInput(f"maximize must be True or False; got {maximize!r}.")
    return bool(maximize)


def having(method: str, member: Any, what: str) -> Any:
    """The ``member``, if it is an object with that ``method``; ``InvalidInput`` else."""
    if isinstance(member, type) or not callable(getattr(member, method, None)):
        raise InvalidInput(f"{what} must be an object with a method {method}(...); got {member!r}.")
    return member


def _callable_name(function: object) -> str | None:
    if function is None:
        return None
    return f"{getattr(function, '__module__', '?')}.{getattr(function, '__qualname__', type(function).__qualname__)}"
