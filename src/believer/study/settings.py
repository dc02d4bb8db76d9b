"""The settings of a study: checked once, written at the head of its journal, rebuilt from there."""

from __future__ import annotations

import os
import platform
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from believer._version import __version__
from believer.acquisitions import EHVI, Acquisition, LogEI
from believer.arrays import LARGEST, MOST_SEED, finite, shown, whole
from believer.batch import STRATEGIES, Strategy
from believer.errors import InvalidInput
from believer.maximize import Maximizer
from believer.numerics import backend
from believer.space import Constraint, Space
from believer.study import serialization
from believer.study.goals import Goal, Goals, checked_reference
from believer.study.serialization import DamagedSettings
from believer.surrogates import GP
from believer.surrogates.protocols import Surrogate

STRATEGY, AMONG_SEVERAL, AUTO, NONE = "hedged", "kb", "auto", "none"
"""How points are chosen together where nothing else is said, of one number and of several outcomes
(benchmarks/outcomes.py); whether y is warped: if that helps, or never."""

FORMER: dict[str, Any] = {
    "surrogate": serialization.to_config(GP(noise=1e-6)),
    "strategy": serialization.to_config(STRATEGIES["kb"]),
    "warp": NONE,
}
"""The defaults of studies that were begun before these were chosen: they go on with what they had."""


@dataclass(frozen=True, slots=True, eq=False)
class StudySettings:
    """What an optimizer was made with, defaults filled in: see :class:`~believer.optimizer.Optimizer`.

    Attributes
    ----------
    space : where to search.
    surrogate : the model's recipe.
    acquisition : what makes a point worth an experiment.
    strategy : how q points are chosen together.
    maximizer : how the acquisition is maximized; None for what suits the model.
    n_init : results or pending trials before the model takes over.
    seed : of all that is random.
    maximize : the objective is to be maximized, not minimized.
    warp : "auto", results with a heavy tail are warped where that makes them more likely; or "none".
    resolution : the least improvement that matters, in units of y; None for one from the results.
    goals : what is wanted of each outcome; None in a study of one number.
    reference : of several objectives, by name, in the user's units; None for one that is inferred.
    """

    space: Space
    surrogate: Surrogate
    acquisition: Acquisition
    strategy: Strategy
    maximizer: Maximizer | None
    n_init: int
    seed: int
    maximize: bool
    warp: str = NONE
    resolution: float | None = None
    goals: Goals | None = None
    reference: dict[str, float] | None = None

    @property
    def sign(self) -> float:
        """1 when the user minimizes, -1 when the user maximizes: inside, everything is minimized."""
        return (-1.0 if self.maximize else 1.0) if self.goals is None else self.goals.outputs[0].sign

    def to_config(self) -> dict[str, Any]:
        """Plain JSON data; custom parts and the constraint by name."""
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
            "warp": self.warp,
            "resolution": self.resolution,
            **({} if self.goals is None else {"outcomes": self.goals.to_config(), "reference": self.reference}),
        }


def make_settings(
    space: Space,
    surrogate: str | Surrogate | None = None,
    acquisition: str | Acquisition | None = None,
    strategy: str | Strategy | None = None,
    maximizer: Maximizer | None = None,
    n_init: int | None = None,
    seed: int | None = 0,
    maximize: bool = False,
    warp: str | None = None,
    resolution: float | None = None,
    outcomes: Mapping[str, Goal] | None = None,
    reference: Mapping[str, float] | None = None,
) -> StudySettings:
    """Settings with their defaults filled in; InvalidInput when one breaks a rule.

    Parameters
    ----------
    space, surrogate, acquisition, strategy, maximizer, n_init, seed : as for :class:`~believer.optimizer.Optimizer`.
    maximize, warp, resolution, outcomes, reference : likewise.
    """
    if not isinstance(space, Space):
        raise InvalidInput(f"space must be a believer.Space; got {type(space).__name__}.")
    goals = None if outcomes is None else Goals(outcomes)
    if goals is not None and _flag(maximize):
        raise InvalidInput("outcomes say themselves what is maximized: Maximize(); leave maximize out.")
    usual: Acquisition = LogEI() if goals is None or len(goals.objectives) == 1 else EHVI()
    usual_strategy = STRATEGY if goals is None else AMONG_SEVERAL
    return StudySettings(
        space=space,
        surrogate=GP() if surrogate is None else serialization.surrogate_named(surrogate),
        acquisition=usual if acquisition is None else serialization.acquisition_named(acquisition),
        strategy=serialization.strategy_named(usual_strategy if strategy is None else strategy),
        maximizer=None if maximizer is None else serialization.having(("maximize",), maximizer, "maximizer"),
        n_init=whole(2 * len(space) if n_init is None else n_init, "n_init", 1),
        seed=secrets.randbits(63) if seed is None else whole(seed, "seed", 0, MOST_SEED),
        maximize=_flag(maximize),
        warp=_warp(AUTO if warp is None else warp),
        resolution=_resolution(resolution),
        goals=goals,
        reference=checked_reference(reference, goals),
    )


def settings_from_config(
    config: Mapping[str, Any],
    surrogate: str | Surrogate | None = None,
    acquisition: str | Acquisition | None = None,
    strategy: str | Strategy | None = None,
    maximizer: Maximizer | None = None,
    constraint: Constraint | None = None,
) -> StudySettings:
    """Inverse of :meth:`StudySettings.to_config`; what was custom is passed again and checked by name.

    Raises :class:`InvalidInput` for what the caller can cure by passing something else, and
    :class:`~believer.study.serialization.DamagedSettings` for settings that no study can have.
    """
    if not isinstance(config["constraint"], str | None):
        raise DamagedSettings(f"a constraint is known by its name; got {shown(config['constraint'])}.")
    if _callable_name(constraint) != config["constraint"]:
        raise InvalidInput(
            f"the journal was written with the constraint {config['constraint']}; got {_callable_name(constraint)}. "
            "Pass the same function as constraint=..."
        )
    learner = None if surrogate is None else serialization.surrogate_named(surrogate)
    worth = None if acquisition is None else serialization.acquisition_named(acquisition)
    named = None if strategy is None else serialization.strategy_named(strategy)
    try:
        space = Space.from_config(config["space"], constraint)
        n_init, seed = whole(config["n_init"], "n_init", 1), whole(config["seed"], "seed", 0, MOST_SEED)
        maximize = _flag(config["maximize"])
        warp, resolution = _warp(config.get("warp", NONE)), _resolution(config.get("resolution"))
        goals = None if config.get("outcomes") is None else Goals.from_config(config["outcomes"])
        reference = checked_reference(config.get("reference"), goals)
    except InvalidInput as error:
        raise DamagedSettings(str(error)) from error
    return StudySettings(
        space=space,
        surrogate=_rebuilt(config, "surrogate", learner, "fit"),
        acquisition=_rebuilt(config, "acquisition", worth, "pointwise", "on", "of_several"),
        strategy=_rebuilt(config, "strategy", named, "choose"),
        maximizer=_rebuilt(config, "maximizer", maximizer, "maximize"),
        n_init=n_init,
        seed=seed,
        maximize=maximize,
        warp=warp,
        resolution=resolution,
        goals=goals,
        reference=reference,
    )


def _rebuilt(config: Mapping[str, Any], what: str, passed: object, *methods: str) -> Any:
    """A part as the journal describes it, which has one of the ``methods``; a maximizer may be none."""
    part = serialization.from_config(config[what], what, passed)
    try:
        return None if part is None and what == "maximizer" else serialization.having(methods, part, what)
    except InvalidInput as error:
        raise DamagedSettings(str(error)) from error


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
        raise InvalidInput(f"maximize must be True or False; got {shown(maximize)}.")
    return bool(maximize)


def _warp(warp: Any) -> str:
    if warp not in (AUTO, NONE) or not isinstance(warp, str):
        raise InvalidInput(f'warp must be "{AUTO}" or "{NONE}"; got {shown(warp)}.')
    return warp


def _resolution(resolution: Any) -> float | None:
    if resolution is None:
        return None
    if (number := finite(resolution, "resolution", LARGEST)) < 0.0:
        raise InvalidInput(f"resolution must be an improvement, zero or more; got {resolution!r}.")
    return number


def _callable_name(function: object) -> str | None:
    if function is None:
        return None
    return f"{getattr(function, '__module__', '?')}.{getattr(function, '__qualname__', type(function).__qualname__)}"
