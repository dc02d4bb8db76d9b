"""Whether an object has a capability: ``isinstance`` on a protocol, made cheap enough for loops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar
from weakref import finalize

if TYPE_CHECKING:
    from typing_extensions import TypeIs

T = TypeVar("T")

_DECLARED: dict[int, dict[Any, bool | None]] = {}
"""The answers for each living class, by its identity: a lookup in a weak dictionary takes ten times as long."""


def has(value: object, capability: type[T]) -> TypeIs[T]:
    """Whether ``value`` has every method and attribute of ``capability``, a runtime protocol.

    The answer for a class is cached: before Python 3.12 an ``isinstance`` on a protocol takes microseconds each time.
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
    """The answers for a class; they are deleted together with it."""
    finalize(cls, _DECLARED.pop, id(cls), None).atexit = False
    return _DECLARED.setdefault(id(cls), {})


def _declares(cls: type, capability: type) -> bool:
    """Whether the class itself has every method and attribute; an instance may have more."""
    names = [name for part in capability.__mro__ if getattr(part, "_is_protocol", False) for name in vars(part)]
    return all(getattr(cls, name, None) is not None for name in names if not name.startswith("_"))


def _is_fixed(cls: type) -> bool:
    """Whether no instance can have more attributes than the class: there is no ``__dict__`` and no ``__getattr__``."""
    made_up = {"__getattr__", "__getattribute__"}
    return cls.__dictoffset__ == 0 and all(made_up.isdisjoint(vars(base)) for base in cls.__mro__[:-1])
