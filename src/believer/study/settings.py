"""The settings of a study: checked once, written to the first line of its journal, and rebuilt from there."""

from __future__ import annotations

import os
import platform
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Unpack

import numpy as np
import scipy

from believer._version import __version__
from believer.acquisitions import EHVI, Acquisition, LogEI
from believer.arrays import LARGEST, MAX_SEED, finite, shown, whole
from believer.batch import Strategy
from believer.capabilities import has
from believer.errors import InvalidInput
from believer.maximize import Maximizer
from believer.numerics import backend
from believer.space import Space
from believer.space.parameters import KINDS
from believer.space.rows import rows_again
from believer.study import serialization
from believer.study.constraints import checked_constraint, identity
from believer.study.goals import Goals, checked_reference
from believer.study.labels import Labels
from believer.study.options import Options, said, with_options
from believer.study.serialization import DamagedSettings
from believer.surrogates.protocols import Suited, Surrogate

ENGINE = 7
"""The number of the engine, raised whenever it chooses other points on purpose; journals without one have engine 1."""

STRATEGY, AMONG_SEVERAL = "hedged", "kb"
"""The default strategies: for one objective without limits, and otherwise (benchmarks/outcomes.py)."""

GAUSSIAN_PROCESS = "gp"
"""The surrogate if none is stated, by name."""

AUTO, NONE = "auto", "none"
"""The values of ``warp``: warp y if that makes results more likely, or never."""

WORST, LEARN = "worst", "learn"
"""The values of ``failures``: a failed evaluation counts as the worst result, or a model learns where evaluations
fail."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class StudySettings:
    """The settings of a study, with defaults filled in; made by :meth:`of`.

    Attributes
    ----------
    space : the space to search.
    goals : the goal of each outcome.
    reference : the reference point of several objectives, by name, in the user's units; None to infer it.
    failures : with "worst" a failed trial counts as the worst result; with "learn" a model learns where trials fail.
    surrogate : the recipe of the models.
    acquisition : the acquisition function.
    strategy : the batch strategy.
    maximizer : the maximizer of the acquisition function; None for the one that suits the model.
    n_init : the number of results and pending trials before the model chooses points.
    seed : the random seed.
    warp : with "auto" results are warped if that makes them more likely; with "none" they never are.
    resolution : the smallest improvement that matters, in units of the objective; None to infer it.
    labels : units and limits, for printing.
    """

    space: Space
    goals: Goals
    reference: dict[str, float] | None
    failures: str
    surrogate: Surrogate
    acquisition: Acquisition
    strategy: Strategy
    maximizer: Maximizer | None
    n_init: int
    seed: int
    warp: str
    resolution: float | None
    labels: Labels = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", Labels.of(self.space, self.goals))

    @staticmethod
    @with_options
    def of(space: Space, **options: Unpack[Options]) -> StudySettings:
        """Settings with their defaults filled in; InvalidInput if one breaks a rule.

        Parameters
        ----------
        space : the space to search.
        {options}
        """
        if not isinstance(space, Space):
            raise InvalidInput(f"space must be a believer.Space; got {type(space).__name__}.")
        given = said(options)
        goals = goals_of(given)
        one, single = len(goals.objectives) == 1, len(goals.outputs) == 1
        usual: Acquisition = LogEI() if one else EHVI()
        maximizer = given.get("maximizer")
        return StudySettings(
            space=space,
            goals=goals,
            reference=checked_reference(given.get("reference"), goals),
            failures=_one_of(given.get("failures", WORST if single else LEARN), "failures", (WORST, LEARN)),
            surrogate=_surrogate(given.get("surrogate", GAUSSIAN_PROCESS), space),
            acquisition=serialization.acquisition_named(given.get("acquisition", usual)),
            strategy=serialization.strategy_named(given.get("strategy", STRATEGY if single else AMONG_SEVERAL)),
            maximizer=None if maximizer is None else serialization.having(("maximize",), maximizer, "maximizer"),
            n_init=whole(given.get("n_init", 2 * len(space)), "n_init", 1),
            seed=whole(given["seed"], "seed", 0, MAX_SEED) if "seed" in given else secrets.randbits(63),
            warp=_one_of(given.get("warp", AUTO), "warp", (AUTO, NONE)),
            resolution=_resolution(given.get("resolution")),
        )

    @property
    def sign(self) -> float:
        """1 if the first objective is minimized, -1 if it is maximized: internally, everything is minimized."""
        return self.goals.outputs[0].sign

    def to_config(self) -> dict[str, Any]:
        """Plain JSON data; custom parts and the constraint by name."""
        return {
            "space": self.space.to_config(),
            "constraint": identity(self.space.constraint, self.space.constraint_name),
            "outcomes": self.goals.to_config(),
            "reference": self.reference,
            "failures": self.failures,
            **{part: serialization.to_config(getattr(self, part)) for part in _METHODS},
            "n_init": self.n_init,
            "seed": self.seed,
            "warp": self.warp,
            "resolution": self.resolution,
        }

    @staticmethod
    def from_config(config: Mapping[str, Any], passed: Mapping[str, Any] | None = None) -> StudySettings:
        """The inverse of :meth:`to_config`; custom parts must be passed again and are checked by name.

        Raises :class:`InvalidInput` for what the caller can correct by passing something else, and
        :class:`~believer.study.serialization.DamagedSettings` for settings that no study can have.

        Parameters
        ----------
        config : the plain data, of any format.
        passed : the custom parts: surrogate, acquisition, strategy, maximizer and constraint.
        """
        given = dict(passed or {})
        constraint = given.pop("constraint", None)
        name = checked_constraint(config["constraint"], constraint)
        written = config["space"] if isinstance(config["space"], dict) else {}
        rows = rows_again(written.get("table"), written.get("parameters"), given.pop("table", None))
        try:
            config = upgraded_config(config)
            space = Space.from_config(config["space"], constraint, name, rows)
            goals, plain = _read(config)
        except InvalidInput as error:
            raise DamagedSettings(str(error)) from error
        named = {part: None if value is None else _NAMED[part](value, space) for part, value in given.items()}
        parts = {part: _rebuilt(config, part, named.get(part), *methods) for part, methods in _METHODS.items()}
        return StudySettings(space=space, goals=goals, **plain, **parts)


_METHODS: dict[str, tuple[str, ...]] = {
    "surrogate": ("fit",),
    "acquisition": ("pointwise", "on", "of_several"),
    "strategy": ("choose",),
    "maximizer": ("maximize",),
}
"""Parts that may be custom, and the methods of which each has one."""


def _surrogate(given: str | Surrogate, space: Space) -> Surrogate:
    """The given surrogate, by name or as an object, with the settings that suit the space."""
    found = serialization.surrogate_named(given)
    return found.suited(space.size is not None) if has(found, Suited) else found


_NAMED: dict[str, Callable[[Any, Space], Any]] = {
    "surrogate": _surrogate,
    "acquisition": lambda given, _: serialization.acquisition_named(given),
    "strategy": lambda given, _: serialization.strategy_named(given),
    "maximizer": lambda given, _: given,
}


def goals_of(given: Mapping[str, Any]) -> Goals:
    """The goals that the options ``outcomes`` and ``maximize`` state."""
    outcomes, maximize = given.get("outcomes"), _flag(given.get("maximize", False))
    if outcomes is not None and maximize:
        raise InvalidInput("maximize is for a single number. Leave it out, and declare Maximize() in outcomes.")
    return Goals.plain(maximize) if outcomes is None else Goals(outcomes)


def _read(config: Mapping[str, Any]) -> tuple[Goals, dict[str, Any]]:
    """The goals of a journal's settings, and those settings that are plain data."""
    goals = Goals.from_config(config["outcomes"])
    return goals, {
        "reference": checked_reference(config["reference"], goals),
        "failures": _one_of(config["failures"], "failures", (WORST, LEARN)),
        "n_init": whole(config["n_init"], "n_init", 1),
        "seed": whole(config["seed"], "seed", 0, MAX_SEED),
        "warp": _one_of(config["warp"], "warp", (AUTO, NONE)),
        "resolution": _resolution(config["resolution"]),
    }


def _kind(surrogate: str) -> str:
    """The class that the name of a surrogate stands for."""
    return type(serialization.surrogate_named(surrogate)).__name__


def options_of(config: Mapping[str, Any], given: Mapping[str, Any], space: Space) -> dict[str, Any]:
    """The options of a journal's settings, of format 4, in which those given now replace the earlier ones.

    If the goals change, options that had the default of the former goals get the default of the new ones, and a
    reference point for other objectives is dropped.
    """
    try:
        space_and_goals(config)
        goals, plain = _read(config)
    except InvalidInput as error:
        raise DamagedSettings(str(error)) from error
    wanted = goals_of(given) if {"outcomes", "maximize"} & given.keys() else goals
    if wanted == goals:  # whatever the order in which they are named now
        wanted = Goals({name: wanted.wanted[name] for name in goals.wanted})
    stated = given.get("surrogate")
    if isinstance(stated, str) and _kind(stated) == config["surrogate"].get("type"):
        given = {name: value for name, value in given.items() if name != "surrogate"}  # its name says no settings
    left = {name: value for name, value in plain.items() if name not in given}
    left |= {part: _rebuilt(config, part, None, *names) for part, names in _METHODS.items() if part not in given}
    if wanted != goals:
        usual = StudySettings.of(space, outcomes=goals.wanted, seed=0).to_config()
        for name in ("acquisition", "strategy", "failures"):
            if config[name] == usual[name]:
                left.pop(name, None)
        if {*(left.get("reference") or ())} != {*wanted.objectives}:
            left.pop("reference", None)
    rest = {name: value for name, value in given.items() if name != "maximize"}
    return {**left, **rest, "outcomes": wanted.wanted}


def refuse_unreadable(space: Space) -> None:
    """Raise InvalidInput if a journal could not hold ``space``, because it could not be read again."""
    what = "a region of its own (within=)" if space.within is not None else ""
    for name, parameter in space.parameters.items():
        if KINDS.get(type(parameter).__name__) is not type(parameter):
            what = what or f"a parameter of a kind of its own ({name}, a {type(parameter).__name__})"
    if what:
        raise InvalidInput(
            f"a space with {what} cannot be read back from a journal. Such a study lives in memory only."
        )


def upgraded_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a journal of any format as format 4 has them.

    Settings of surrogates that were introduced later have their former values. Before format 4, a study of one number
    had ``maximize`` in place of outcomes; its failures counted as the worst result, and were learned if outcomes were
    declared; early studies were never warped.
    """
    if "surrogate" in config:
        config = {**config, "surrogate": serialization.with_former(config["surrogate"])}
    if "failures" in config:
        return dict(config)
    outcomes = config.get("outcomes")
    return {
        **{name: value for name, value in config.items() if name != "maximize"},
        "outcomes": Goals.plain(_flag(config["maximize"])).to_config() if outcomes is None else outcomes,
        "reference": config.get("reference"),
        "failures": WORST if outcomes is None else LEARN,
        "warp": config.get("warp", NONE),
        "resolution": config.get("resolution"),
    }


def space_and_goals(config: Mapping[str, Any]) -> tuple[Space, Goals]:
    """The space, without its constraint, and the goals of settings of any format; no part is rebuilt."""
    config = upgraded_config(config)
    space = {**config["space"], "constrained": False, "table": None}
    return Space.from_config(space), Goals.from_config(config["outcomes"])


def _rebuilt(config: Mapping[str, Any], what: str, passed: object, *methods: str) -> Any:
    """A part as the journal describes it, which has one of the ``methods``; a maximizer may be none."""
    part = serialization.from_config(config[what], what, passed)
    try:
        return None if part is None and what == "maximizer" else serialization.having(methods, part, what)
    except InvalidInput as error:
        raise DamagedSettings(str(error)) from error


def versions() -> dict[str, Any]:
    """The versions on which bitwise reproducibility depends."""
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


def _one_of(value: Any, name: str, words: tuple[str, str]) -> str:
    if not isinstance(value, str) or value not in words:
        raise InvalidInput(f'{name} must be "{words[0]}" or "{words[1]}"; got {shown(value)}.')
    return value


def _resolution(resolution: Any) -> float | None:
    if resolution is None:
        return None
    if (number := finite(resolution, "resolution", LARGEST)) < 0.0:
        raise InvalidInput(f"resolution must be an improvement, zero or more; got {resolution!r}.")
    return number
