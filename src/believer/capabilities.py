"""Whether an object has a capability: ``isinstance`` on a protocol, made cheap enough for loops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar
from weakref import finalize

if TYPE_CHECKING:
    from typing_extensions import TypeIs

T = TypeVar("T")

_DECLARED: dict[int, dict[Any, bool | None]] = {}
"""The answers for each class that lives, by its identity: a weak dictionary takes ten times as long to ask."""


def has(value: object, capability: type[T]) -> TypeIs[T]:
    """Whether ``value`` has every method and attribute of ``capability``, a runtime protocol.

    The answer for a class is kept: before Python 3.12 an ``isinstance`` on a protocol takes microseconds each time.
    """
    known = _DECLARED.get(id(type(value)))
    if known is None:
        known = _of(type(value))
    if capability not in known:
        declared = _declares(type(value), capability)
        known[capability] = declared if declared or _is_fixed(type(value)) else None
    answer = known[capability]
    return isinstance(value, capability) if answer is None else answer


def _of(cls: type) -> dict[Any, bool | None]:
    """The answers for a class, forgotten with it."""
    finalize(cls, _DECLARED.pop, id(cls), None).atexit = False
    return _DECLARED.setdefault(id(cls), {})


def _declares(cls: type, capability: type) -> bool:
    """Whether the class itself has all of it; an instance may have more."""
    names = [name for part in capability.__mro__ if getattr(part, "_is_protocol", False) for name in vars(part)]
    return all(getattr(cls, name, None) is not None for name in names if not name.startswith("_"))


def _is_fixed(cls: type) -> bool:
    """Whether no instance has more than the class: none has a dict, and what is missing is not made up."""
    made_up = {"__getattr__", "__getattribute__"}
    return cls.__dictoffset__ == 0 and all(made_up.isdisjoint(vars(base)) for base in cls.__mro__[:-1])
