"""A space from a file, TOML or JSON: each parameter's name with its type and what belongs to it.

::

    [learning_rate]                       {"learning_rate": {"type": "float", "low": 1e-5, "high": 0.1, "log": true},
    type = "float"                         "layers": {"type": "int", "low": 1, "high": 4},
    low = 1e-5                             "kernel": {"type": "categorical", "choices": ["rbf", "poly"]}}
    high = 0.1
    log = true

    [layers]
    type = "int"
    low = 1
    high = 4

    [kernel]
    type = "categorical"
    choices = ["rbf", "poly"]

A float or an int has ``low`` and ``high``, and may have ``log`` and ``step``. What ``Space.to_config`` returned, as
JSON, is read as well.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from believer.errors import InvalidInput
from believer.space import Space
from believer.space.parameters import Categorical, Float, Int, Parameter
from believer.study.files import followed

_TYPES: dict[str, Callable[..., Parameter]] = {"float": Float, "int": Int, "categorical": Categorical}
_NUMBER = (("low", "high"), ("log", "step"))
_ENTRIES = {"float": _NUMBER, "int": _NUMBER, "categorical": (("choices",), ())}
"""What an entry must have besides its type, and what it may have."""


def read_space(path: Path) -> Space:
    """The space in a file; ``InvalidInput`` with the name of the parameter that breaks a rule."""
    content = _content(path)
    if isinstance(content, dict) and isinstance(content.get("parameters"), list):
        try:
            return Space.from_config(content)
        except InvalidInput as error:
            raise InvalidInput(f"{path}: {error}") from error
    if not isinstance(content, dict) or not content:
        raise InvalidInput(f"{path} must hold names of parameters, each with a type and its bounds; got {content!r}.")
    return Space({name: _parameter(name, entry, path) for name, entry in content.items()})


def _content(path: Path) -> Any:
    if path.suffix.lower() not in (".toml", ".json"):
        raise InvalidInput(f"a space file must be .toml or .json; got {path}.")
    try:
        text = Path(followed(path)).read_text(encoding="utf-8-sig")
        if path.suffix.lower() == ".toml":
            return tomllib.loads(text)
        return json.loads(text, object_pairs_hook=_once)
    except OSError as error:
        raise InvalidInput(f"a space file must be one that can be read; got {path}: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:  # of TOML, of JSON, of UTF-8
        raise InvalidInput(f"{path} cannot be understood: {error}.") from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; as in TOML, the same name twice is an error."""
    for i, (name, _) in enumerate(pairs):
        if name in dict(pairs[:i]):
            raise ValueError(f"{name!r} is there twice")
    return dict(pairs)


def _parameter(name: str, entry: Any, path: Path) -> Parameter:
    kind = str(entry.get("type")).lower() if isinstance(entry, Mapping) else ""
    if kind not in _TYPES:
        raise InvalidInput(f'{path}: {name!r} must have a type, "float", "int" or "categorical"; got {entry!r}.')
    given = {key: value for key, value in entry.items() if key != "type"}
    needed, allowed = _ENTRIES[kind]
    missing = [key for key in needed if key not in given]
    unknown = [key for key in given if key not in needed + allowed]
    if missing or unknown:
        rule = " and ".join(needed) + (f", and may have {' and '.join(allowed)}" if allowed else "")
        wrong = f"{missing[0]!r} is missing" if missing else f"got {unknown[0]!r}"
        raise InvalidInput(f"{path}: {name!r}, of type {kind}, must have {rule}; {wrong}.")
    try:
        return _TYPES[kind](**given)
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {str(error).removesuffix('.')} for {name!r}.") from error
