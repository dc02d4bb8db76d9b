"""The identity of a constraint in a journal, which cannot store functions: the user's name for it, or its code.

A function is the same one if its compiled code is, with the values that it closes over and those that are its defaults.
Its position in the file, its line breaks and the module that it was imported from do not matter: a script
and a notebook may share a study. Compiled code is that of one version of Python; between versions, the source counts.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import partial
from types import CodeType, FunctionType, MethodType
from typing import Any

import numpy as np

from believer.arrays import shown
from believer.errors import InvalidInput
from believer.study.serialization import DamagedSettings


def identity(constraint: Callable[[dict[str, Any]], Any] | None, name: str | None) -> dict[str, str] | None:
    """The identity of a constraint, as a journal stores it."""
    if constraint is None:
        return None
    if name is not None:
        return {"name": name}
    found = {"function": getattr(constraint, "__qualname__", type(constraint).__qualname__)}
    with suppress(OSError, TypeError):
        found["source"] = _digest(textwrap.dedent(inspect.getsource(constraint)))
    code = _described(constraint)
    return found if code is None else {**found, "code": f"{_PYTHON} {_digest(code)}"}


def is_constraint(known: Any, constraint: Callable[[dict[str, Any]], Any] | None, name: str | None = None) -> bool:
    """Whether a constraint is the one ``known`` to a journal; if that has the user's ``name`` for it, names are
    compared."""
    if isinstance(known, dict) and "name" in known and name != known["name"]:
        return False
    try:
        checked_constraint(known, constraint)
    except DamagedSettings:
        raise
    except InvalidInput:
        return False
    return True


def checked_constraint(known: Any, constraint: Callable[[dict[str, Any]], Any] | None) -> str | None:
    """The user's name of a journal's constraint, or None; an error unless ``constraint`` may be that one."""
    found = identity(constraint, None)
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
        edited = ", which was edited since" if called(known) == called(found) else ""
        raise InvalidInput(
            f"the journal was written with the constraint {called(known)}; got {called(found)}{edited}. "
            "Pass the same function as constraint=..."
        )
    return name


def called(known: Any) -> str:
    """The name of a journal's constraint, for messages."""
    if isinstance(known, dict):
        return str(known.get("name") or known.get("function"))
    return "none" if known is None else str(known).rpartition(".")[2]


_PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


def _is_same_function(known: dict[str, str], found: dict[str, str] | None) -> bool:
    """Compare the code, if both were compiled by the same Python, else the source, or else the name."""
    if found is None:
        return False
    codes = [one["code"].partition(" ") for one in (known, found) if "code" in one]
    if len(codes) == 2 and codes[0][0] == codes[1][0]:
        return codes[0] == codes[1]
    if "source" in known and "source" in found:
        return known["source"] == found["source"]
    return known.get("function") == found["function"]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()[:16]


def _described(part: Any) -> str | None:
    """The code of a function as text; None if it is not accessible."""
    match part:
        case partial():
            inner = _described(part.func)
            return None if inner is None else f"partial({inner}, {_values(part.args)}, {_values(part.keywords)})"
        case MethodType():
            return f"{_described(part.__func__)} of {_value(part.__self__)}"
        case FunctionType():
            closed = [cell.cell_contents for cell in part.__closure__ or () if _is_filled(cell)]
            defaults = f"{_values(part.__defaults__ or ())}{_values(part.__kwdefaults__ or {})}"
            return f"{_code(part.__code__)}{_values(closed)}{defaults}"
    call = type(part).__call__
    return f"{_described(call)} of {_value(part)}" if isinstance(call, FunctionType) else None


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:  # of a name that has no value yet
        return False


def _code(code: CodeType) -> str:
    return f"{code.co_code.hex()} {code.co_names} {code.co_freevars} {_values(code.co_consts)}"


def _values(values: Iterable[Any]) -> str:
    named = [(name, values[name]) for name in sorted(values)] if isinstance(values, Mapping) else enumerate(values)
    return f"[{', '.join(f'{name}={_value(value)}' for name, value in named)}]"


def _value(value: Any) -> str:
    """A value as text that is the same in every process: plain data, code, or only its type."""
    if isinstance(value, np.generic):
        value = value.item()
    match value:
        case CodeType():
            return _code(value)
        case tuple() | list():
            return f"{type(value).__name__}{_values(value)}"
        case set() | frozenset():
            return f"set{sorted(map(_value, value))}"
        case None | bool() | int() | float() | complex() | str() | bytes():
            return repr(value)
        case FunctionType() | MethodType() | partial():
            return str(_described(value))
    kind = type(value).__qualname__
    if is_dataclass(value) and not isinstance(value, type):
        return f"{kind}{_values({one.name: getattr(value, one.name) for one in fields(value)})}"
    return kind
