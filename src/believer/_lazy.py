"""Names that a package offers and loads when they are first used, so that importing it stays light."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def loader(package: str, where: Mapping[str, str]) -> Callable[[str], Any]:
    """The ``__getattr__`` of ``package``; ``where`` maps each name to the module of the package that defines it."""

    def load(name: str) -> Any:
        if name not in where:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{where[name]}"), name)

    return load


def above(module: str, name: str) -> Any:
    """The attribute ``name`` of a module of a higher level, which is imported when this is called."""
    return getattr(import_module(module), name)
