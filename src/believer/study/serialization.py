"""Parts of a study as plain data, as a journal stores its surrogate, acquisition function, strategy and maximizer.

Parts of this library are written with their settings and rebuilt from them. A custom part is written by name only:
loading never executes code, so the part must be passed again, and its name is checked.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any

import numpy as np

from believer import batch, surrogates
from believer.acquisitions import ACQUISITIONS, Acquisition
from believer.arrays import shown, suggested
from believer.batch import STRATEGIES, Believe, ConstantLie, Fantasy, PseudoObservations, RandomBatch
from believer.batch.request import Strategy
from believer.capabilities import has
from believer.errors import InvalidInput
from believer.maximize import Candidates, Multistart
from believer.numerics.lbfgs import Settings
from believer.surrogates import GP, SURROGATES
from believer.surrogates.gp_fit import SEPARATE
from believer.surrogates.protocols import Suited, Surrogate

MAX_NESTED = 20
"""Parts hold parts; none of the library's goes deeper than four."""


class DamagedSettings(InvalidInput):
    """Invalid settings in a journal: they break the rules of the part that they describe."""


_COMMON: list[type] = [
    *map(type, ACQUISITIONS.values()),
    GP,
    *(PseudoObservations, ConstantLie, Believe, Fantasy, RandomBatch),
    *(Multistart, Candidates, Settings),
]
_KNOWN = {cls.__name__: cls for cls in _COMMON}

_LEFT: dict[str, dict[str, str]] = {"GP": {"fit": "default"}, "MQRBF": {"form": "power"}}
"""Settings that classes once had, and the only value that each still has; the other value was that of the paper."""

_FORMER: dict[str, dict[str, Any]] = {"GP": {"prior": SEPARATE}}
"""Settings that were added later, and their values for journals that lack them."""

_PARTS = {
    "FixedStarts": "believer.maximize.fixed_starts",
    "LogBeta": "believer.batch.schedules",
    "TheoryBeta": "believer.batch.schedules",
    "Softness": "believer.acquisitions.joint_improvement",
}
"""Less common parts, and the modules that define them."""


def _known(name: str) -> type | None:
    """The library's class of that name; less common surrogates and strategies are loaded for this."""
    cls: type
    for room in (surrogates, batch):
        if name in room.LOADED_ON_USE:
            cls = getattr(room, name)
            return cls
    if name in _PARTS:
        cls = getattr(import_module(_PARTS[name]), name)
        return cls
    return _KNOWN.get(name)


def surrogate_named(surrogate: str | Surrogate) -> Surrogate:
    """A surrogate from its name ("gp", "forest", ...) with its default settings, or the surrogate itself."""
    if isinstance(surrogate, str):
        names = {key.lower(): cls for name, cls in SURROGATES.items() for key in (name, cls)}
        if surrogate.lower() not in names:
            raise InvalidInput(
                f"surrogate must be one of {', '.join(SURROGATES)}, or an object such as GP(); got {surrogate!r}."
                f"{suggested(surrogate, SURROGATES)}"
            )
        made: Surrogate = getattr(surrogates, names[surrogate.lower()])()
        return made
    found: Surrogate = having(("fit",), surrogate, "surrogate")
    return found


def acquisition_named(acquisition: str | Acquisition) -> Acquisition:
    """An acquisition from its name ("LogEI", "EI", ...) with its default settings, or the acquisition itself."""
    if isinstance(acquisition, str):
        named = {name.lower(): value for name, value in ACQUISITIONS.items()}
        if acquisition.lower() not in named:
            names = ", ".join(ACQUISITIONS)
            raise InvalidInput(
                f"acquisition must be one of {names}, or a value such as LogEI(); got {acquisition!r}."
                f"{suggested(acquisition, ACQUISITIONS)}"
            )
        return named[acquisition.lower()]
    found: Acquisition = having(("pointwise", "on", "of_several"), acquisition, "acquisition")
    return found


def having(methods: tuple[str, ...], part: Any, what: str) -> Any:
    """Return ``part`` if it has one of the ``methods``; otherwise raise InvalidInput."""
    if isinstance(part, type) or not any(callable(getattr(part, method, None)) for method in methods):
        wanted = " or ".join(f"{method}(...)" for method in methods)
        raise InvalidInput(f"{what} must be an object with a method {wanted}; got {shown(part)}.")
    return part


def strategy_named(strategy: str | Strategy) -> Strategy:
    """A strategy from its name, or the strategy itself."""
    if isinstance(strategy, str):
        if strategy not in STRATEGIES:
            raise InvalidInput(
                f"strategy must be one of {', '.join(STRATEGIES)}, or an object such as QEI(); got {strategy!r}."
                f"{suggested(strategy, STRATEGIES)}"
            )
        return STRATEGIES[strategy]
    if isinstance(strategy, type) or not callable(getattr(strategy, "choose", None)):
        what = ""
        if isinstance(strategy, type):
            what = f" Make one of it: {strategy.__name__}(...)."
        elif callable(getattr(strategy, "value", None)):
            what = " A lie goes into a strategy: PseudoObservations(lie)."
        raise InvalidInput(f"a strategy must have a method choose(request, memory); got {strategy!r}.{what}")
    return strategy


def name_of(part: object) -> str:
    """The module and class by which a custom part is recognized."""
    return f"{type(part).__module__}.{type(part).__qualname__}"


def to_config(part: object) -> Any:
    """``part`` as plain JSON data."""
    if isinstance(part, np.generic):
        part = part.item()
    if part is None or isinstance(part, bool | int | float | str):
        return part
    if isinstance(part, tuple):
        return [to_config(item) for item in part]
    known = _known(type(part).__name__)
    if known is type(part) and is_dataclass(part):
        return {
            "type": type(part).__name__,
            **{field.name: to_config(getattr(part, field.name)) for field in fields(part)},
        }
    return {"custom": name_of(part)}


def is_custom(config: Any) -> bool:
    """Whether ``config``, or a part of it, stands for a part that must be passed again."""
    if isinstance(config, dict):
        return "custom" in config or is_custom([*config.values()])
    nested = [item for item in config if isinstance(item, dict | list)] if isinstance(config, list) else []
    return any(map(is_custom, nested))


def from_config(config: Any, what: str, passed: object = None) -> Any:
    """The part that ``config`` describes; ``passed`` is the part that the caller passed, or None.

    Raises :class:`InvalidInput` when a custom part was not passed, or another one was, and
    :class:`DamagedSettings` when no part has such settings.
    """
    refuse_nested(config, what)
    if passed is not None:
        config = _completed(config, what)
        if to_config(passed) != config:
            raise InvalidInput(
                f"the journal was written with {what} {_describe(config)}; got {_describe(to_config(passed))}. "
                "Pass the same one, or none if it is the library's own."
            )
        return passed
    if is_custom(config):
        raise InvalidInput(f"the journal was written with a custom {what}, {_describe(config)}: pass it as {what}=...")
    return _rebuild(config, what)


def refuse_nested(config: Any, what: str) -> None:
    """Raise DamagedSettings if the settings are nested deeper than any part can be."""
    level = [config]
    for _ in range(MAX_NESTED):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
    if level:
        raise DamagedSettings(f"the journal's settings for {what} are nested deeper than {MAX_NESTED} deep.")


def _completed(config: Any, what: str) -> Any:
    """``config``, completed with the former values of settings that were introduced later; custom parts are
    unchanged."""
    return config if is_custom(config) else to_config(_rebuild(config, what))


def with_former(config: Any) -> Any:
    """The config of a part, completed with the former values of settings that were introduced since, and without
    settings that were removed."""
    name = config.get("type") if isinstance(config, dict) else None
    if not isinstance(name, str):
        return config
    left = _LEFT.get(name, {})
    kept = {key: value for key, value in config.items() if key not in left or value != left[key]}
    return {**kept, **{key: value for key, value in _FORMER.get(name, {}).items() if key not in kept}}


def _rebuild(config: Any, what: str) -> Any:
    if isinstance(config, list):
        return tuple(_rebuild(item, what) for item in config)
    if not isinstance(config, dict):
        return config
    name = config.get("type", "")
    if not isinstance(name, str):
        raise DamagedSettings(f"the journal's settings for {what} must name its type; got {shown(name)}.")
    left = _LEFT.get(name, {})
    for key, only in left.items():
        if config.get(key, only) != only:
            raise InvalidInput(
                f"the journal was written with {what} {name}({key}={shown(config[key])}), which is no part of "
                "this library any more: begin a new study, with the surrogate that believer-paper has for it."
            )
    completed = with_former(config).items()
    settings = {key: _rebuild(value, what) for key, value in completed if key != "type" and key not in left}
    cls = _known(name)
    if cls is None:
        raise InvalidInput(f"the journal names a {what} that this version does not know: {config.get('type')!r}.")
    try:
        return cls(**settings)
    except TypeError as error:
        raise InvalidInput(f"the journal's settings for {what} {name} do not fit this version: {error}") from error
    except DamagedSettings:
        raise
    except InvalidInput as error:
        raise DamagedSettings(f"the journal's settings for {what} {name} break a rule: {error}") from error


def _describe(config: Any) -> str:
    if isinstance(config, dict):
        return str(
            config.get("custom")
            or f"{config.get('type')}({', '.join(f'{k}={shown(v)}' for k, v in config.items() if k != 'type')})"
        )
    return shown(config)


def brief(config: Any) -> str:
    """A part as a user would write it: its only setting, or the settings that differ from the defaults."""
    if not isinstance(config, dict):
        return str(config)
    if "custom" in config:
        return str(config["custom"]).rsplit(".", maxsplit=1)[-1]
    left = _LEFT.get(config["type"], {}).items()
    settings = {k: v for k, v in config.items() if k not in ("type", "custom_repr") and (k, v) not in left}
    cls = _known(config["type"])
    if len(settings) > 1 and cls is not None:
        try:
            made = cls()
            usual = [to_config(one) for one in (made, made.suited(False) if has(made, Suited) else made)]
        except TypeError:  # a setting without a default
            usual = []
        settings = {k: v for k, v in settings.items() if all(one.get(k, settings) != v for one in usual)}
    return f"{config['type']}({', '.join(f'{key}={brief(value)}' for key, value in settings.items())})"


def named(config: Any) -> str:
    """The name of a part: the strategy's name if it has one, else :func:`brief`."""
    return next((name for name, value in STRATEGIES.items() if to_config(value) == config), "") or brief(config)
