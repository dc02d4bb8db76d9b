"""The kinds of parameters in the library, and their names in a config.

A new kind is a class with the methods of :class:`~believer.space.parameter.Parameter` in a file of its own, and a line
here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from believer.errors import InvalidInput
from believer.space.carried import Carried
from believer.space.categorical import Categorical
from believer.space.discrete import Discrete
from believer.space.floats import Float
from believer.space.ints import Int
from believer.space.ordinal import Ordinal
from believer.space.parameter import MAX_COLUMNS, MAX_GRID, Number, Parameter, backfill_of
from believer.space.units import config_of, units_of
from believer.space.when import when_of, written

__all__ = [
    "KINDS",
    "MAX_COLUMNS",
    "MAX_GRID",
    "Categorical",
    "Discrete",
    "Float",
    "Int",
    "Number",
    "Ordinal",
    "Parameter",
    "from_config",
    "kinds",
]

KINDS: dict[str, Callable[..., Parameter]] = {
    "Float": Float,
    "Int": Int,
    "Categorical": Categorical,
    "Ordinal": Ordinal,
    "Discrete": Discrete,
    "Carried": Carried,
}


def kinds() -> str:
    """The names of all kinds, for an error."""
    *names, last = (name for name in KINDS if name != "Carried")
    return f"{', '.join(names)} or {last}"


def to_config(p: Parameter) -> dict[str, Any]:
    """A parameter as plain JSON data, with the name of its kind."""
    had = {} if backfill_of(p) is ... else {"backfill": backfill_of(p)}
    belief = {"likely": [*pair]} if (pair := getattr(p, "likely", None)) else {}
    return {"kind": type(p).__name__, **p.to_config(), **had, **config_of(units_of(p)), **written(when_of(p)), **belief}


def from_config(name: str, kind: str, **settings: Any) -> Parameter:
    """A parameter from its entry in a config; InvalidInput names it."""
    if isinstance(kind, str) and kind not in KINDS:
        raise InvalidInput(
            f"a parameter that a config describes must be a {kinds()}; got the kind {kind!r} for {name!r}."
        )
    try:
        return KINDS[kind](**settings)
    except InvalidInput as error:
        raise InvalidInput(f"{str(error).removesuffix('.')} for {name!r}.") from error
