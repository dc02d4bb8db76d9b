"""The parts of a member: a strategy, a surrogate and an acquisition function.

Each is the library's by its name, the user's own as ``module:object``, or a value.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from believer import surrogates
from believer.acquisitions import ACQUISITIONS
from believer.batch import STRATEGIES
from believer.errors import InvalidInput
from believer.experiments.fingerprint import identity
from believer.experiments.loading import digest, made
from believer.study.serialization import acquisition_named, brief, is_custom, strategy_named, to_config
from believer.surrogates import SURROGATES
from believer.surrogates.inspection import require_surrogate

_KINDS: dict[str, tuple[Collection[str], Callable[[str], Any], Callable[[Any], object]]] = {
    "a strategy": (STRATEGIES, STRATEGIES.__getitem__, strategy_named),
    "a surrogate": (SURROGATES, lambda name: getattr(surrogates, SURROGATES[name])(), require_surrogate),
    "an acquisition": (ACQUISITIONS, ACQUISITIONS.__getitem__, acquisition_named),
}
"""Names of the library, what they stand for, and a check of the user's own."""


@dataclass(frozen=True, slots=True, eq=False)
class NamedPart:
    """A strategy, a surrogate or an acquisition. name: in the names of members.

    own: plain data that tell it from others, for a cell's key; None for what the library has under that name.
    findable: whether any process can make it again from its name.
    """

    name: str
    value: Any
    own: Any = None
    findable: bool = True


def part(kind: str, given: Any) -> NamedPart:
    """The part ``given`` as "a strategy", "a surrogate" or "an acquisition". Raises InvalidInput if it is none."""
    names, named, check = _KINDS[kind]
    if not isinstance(given, str):
        check(given)
        config = _config(given)
        name = next((name for name in names if to_config(named(name)) == config), None)
        return (
            NamedPart(_called(given, config), given, config, findable=False) if name is None else NamedPart(name, given)
        )
    if given in names:
        return NamedPart(given, named(given))
    if ":" not in given:
        raise InvalidInput(f"{kind} must be one of {', '.join(names)}, or module:object; got {given!r}.")
    value = made(given)
    check(value)
    return NamedPart(given, value, _config(value, given.partition(":")[0]))


def _config(value: object, *modules: str) -> Any:
    """Its identity; of what is custom also the code, here and in ``modules``: that may change, and its repr not."""
    config = identity(value)
    if not is_custom(config):
        return config
    inside = [getattr(value, field.name) for field in fields(value)] if is_dataclass(value) else []
    found = {*modules, *(type(one).__module__ for one in (value, *inside))}
    return {**config, "code": [digest(module) for module in sorted(found) if not module.startswith("believer.")]}


def _called(value: object, config: Any) -> str:
    """The name of a value in tables: its own text if that is short and informative."""
    return repr(value) if config.get("custom_repr") == repr(value) and len(repr(value)) <= 40 else brief(config)
