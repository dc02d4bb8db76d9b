"""The settings of a study: checked once, written at the head of its journal, rebuilt from there."""

from __future__ import annotations

import hashlib
import inspect
import os
import platform
import secrets
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
import scipy

from believer._version import __version__
from believer.acquisitions import EHVI, Acquisition, LogEI
from believer.arrays import LARGEST, MOST_SEED, finite, shown, whole
from believer.batch import Strategy
from believer.errors import InvalidInput
from believer.maximize import Maximizer
from believer.numerics import backend
from believer.space import Constraint, Space
from believer.study import serialization
from believer.study.goals import Goals, checked_reference
from believer.study.labels import Labels
from believer.study.options import Options, said, with_options
from believer.study.serialization import DamagedSettings
from believer.surrogates import GP
from believer.surrogates.protocols import Surrogate

ENGINE = 2
"""The number of the engine, raised whenever it chooses other points on purpose; journals without one have engine 1."""

STRATEGY, AMONG_SEVERAL = "hedged", "kb"
"""How points are chosen together where nothing else is said: for one objective without limits, and otherwise
(benchmarks/outcomes.py)."""

AUTO, NONE = "auto", "none"
"""Whether y is warped: if that helps, or never."""

WORST, LEARN = "worst", "learn"
"""What a failed evaluation tells: it was as bad as the worst result, or where trials fail, which a model learns."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class StudySettings:
    """What an optimizer was made with, defaults filled in: made by :meth:`of`.

    Attributes
    ----------
    space : where to search.
    goals : what is wanted of each outcome.
    reference : of several objectives, by name, in the user's units; None for one that is inferred.
    failures : "worst", a failed trial counts as the worst result; or "learn", a model learns where trials fail.
    surrogate : the model's recipe.
    acquisition : what makes a point worth an experiment.
    strategy : how q points are chosen together.
    maximizer : how the acquisition is maximized; None for what suits the model.
    n_init : results or pending trials before the model takes over.
    seed : of all that is random.
    warp : "auto", results with a heavy tail are warped where that makes them more likely; or "none".
    resolution : the least improvement that matters, in units of y; None for one from the results.
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

    @staticmethod
    @with_options
    def of(space: Space, **options: Unpack[Options]) -> StudySettings:
        """Settings with their defaults filled in; InvalidInput when one breaks a rule.

        Parameters
        ----------
        space : where to search.
        {options}
        """
        if not isinstance(space, Space):
            raise InvalidInput(f"space must be a believer.Space; got {type(space).__name__}.")
        given = said(options)
        outcomes, maximize = given.get("outcomes"), _flag(given.get("maximize", False))
        goals = Goals.plain(maximize) if outcomes is None else Goals(outcomes)
        if outcomes is not None and maximize:
            raise InvalidInput("outcomes say themselves what is maximized: Maximize(); leave maximize out.")
        one, alone = len(goals.objectives) == 1, len(goals.outputs) == 1
        usual: Acquisition = LogEI() if one else EHVI()
        maximizer = given.get("maximizer")
        return StudySettings(
            space=space,
            goals=goals,
            reference=checked_reference(given.get("reference"), goals),
            failures=_failures(given.get("failures", WORST if alone else LEARN)),
            surrogate=serialization.surrogate_named(given.get("surrogate", GP())),
            acquisition=serialization.acquisition_named(given.get("acquisition", usual)),
            strategy=serialization.strategy_named(given.get("strategy", STRATEGY if alone else AMONG_SEVERAL)),
            maximizer=None if maximizer is None else serialization.having(("maximize",), maximizer, "maximizer"),
            n_init=whole(given.get("n_init", 2 * len(space)), "n_init", 1),
            seed=whole(given["seed"], "seed", 0, MOST_SEED) if "seed" in given else secrets.randbits(63),
            warp=_warp(given.get("warp", AUTO)),
            resolution=_resolution(given.get("resolution")),
        )

    @property
    def sign(self) -> float:
        """1 when the first objective is minimized, -1 when it is maximized: inside, everything is minimized."""
        return self.goals.outputs[0].sign

    @property
    def labels(self) -> Labels:
        """Units and limits, for what is printed."""
        return Labels.of(self.space, self.goals)

    def to_config(self) -> dict[str, Any]:
        """Plain JSON data; custom parts and the constraint by name."""
        return {
            "space": self.space.to_config(),
            "constraint": _identity(self.space.constraint, self.space.constraint_name),
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
        """Inverse of :meth:`to_config`; what was custom is passed again and checked by name.

        Raises :class:`InvalidInput` for what the caller can cure by passing something else, and
        :class:`~believer.study.serialization.DamagedSettings` for settings that no study can have.

        Parameters
        ----------
        config : the plain data, of any format.
        passed : surrogate, acquisition, strategy, maximizer and constraint, where they are not the library's own.
        """
        given = dict(passed or {})
        constraint = given.pop("constraint", None)
        name = checked_constraint(config["constraint"], constraint)
        named = {part: None if value is None else _NAMED[part](value) for part, value in given.items()}
        try:
            config = upgraded_config(config)
            space = Space.from_config(config["space"], constraint, name)
            goals = Goals.from_config(config["outcomes"])
            checked: dict[str, Any] = {
                "reference": checked_reference(config["reference"], goals),
                "failures": _failures(config["failures"]),
                "n_init": whole(config["n_init"], "n_init", 1),
                "seed": whole(config["seed"], "seed", 0, MOST_SEED),
                "warp": _warp(config["warp"]),
                "resolution": _resolution(config["resolution"]),
            }
        except InvalidInput as error:
            raise DamagedSettings(str(error)) from error
        parts = {part: _rebuilt(config, part, named.get(part), *methods) for part, methods in _METHODS.items()}
        return StudySettings(space=space, goals=goals, **checked, **parts)


_METHODS: dict[str, tuple[str, ...]] = {
    "surrogate": ("fit",),
    "acquisition": ("pointwise", "on", "of_several"),
    "strategy": ("choose",),
    "maximizer": ("maximize",),
}
"""Parts that may be custom, and the methods of which each has one."""

_NAMED: dict[str, Any] = {
    "surrogate": serialization.surrogate_named,
    "acquisition": serialization.acquisition_named,
    "strategy": serialization.strategy_named,
    "maximizer": lambda maximizer: maximizer,
}


def upgraded_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a journal of any format as format 4 has them.

    Before it, a study of one number had no outcomes but ``maximize``; failures were the worst result there, and
    learned where outcomes were declared; early ones were never warped.
    """
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
    return Space.from_config({**config["space"], "constrained": False}), Goals.from_config(config["outcomes"])


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


def _failures(failures: Any) -> str:
    if failures not in (WORST, LEARN) or not isinstance(failures, str):
        raise InvalidInput(f'failures must be "{WORST}" or "{LEARN}"; got {shown(failures)}.')
    return failures


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


def _identity(constraint: Constraint | None, name: str | None) -> dict[str, str] | None:
    """How a journal knows a constraint: by the user's name for it, or by its own name and a digest of its source.

    The module that it was imported from does not matter: a script and a notebook may share a study.
    """
    if constraint is None:
        return None
    if name is not None:
        return {"name": name}
    function = getattr(constraint, "__qualname__", type(constraint).__qualname__)
    try:
        source = textwrap.dedent(inspect.getsource(constraint))
    except (OSError, TypeError):
        return {"function": function}
    return {"function": function, "source": hashlib.sha256(source.encode()).hexdigest()[:16]}


def checked_constraint(known: Any, constraint: Constraint | None) -> str | None:
    """The user's name of a journal's constraint, or None; an error unless ``constraint`` may be that one."""
    found = _identity(constraint, None)
    if isinstance(known, dict) and all(isinstance(part, str) for part in known.values()):
        name = known.get("name")
        same = found is not None if name is not None else _is_same_function(known, found)
    elif isinstance(known, str):  # before format 4: its module and name
        name, same = None, found is not None and known.endswith(f".{found['function']}")
    elif known is None:
        name, same = None, found is None
    else:
        raise DamagedSettings(f"a constraint is known by its name; got {shown(known)}.")
    if not same:
        raise InvalidInput(
            f"the journal was written with the constraint {_shown_constraint(known)}; got {_shown_constraint(found)}. "
            "Pass the same function as constraint=..."
        )
    return name


def _is_same_function(known: dict[str, str], found: dict[str, str] | None) -> bool:
    """Whether two constraints are the same by their source, or by their names where either has no source."""
    if found is None:
        return False
    if "source" in known and "source" in found:
        return known["source"] == found["source"]
    return known.get("function") == found["function"]


def _shown_constraint(known: Any) -> str:
    if isinstance(known, dict):
        source = f" (source {known['source']})" if "source" in known else ""
        return f"{known.get('name') or known.get('function')}{source}"
    return str(known)
