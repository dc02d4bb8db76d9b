"""Loading a user's object by its name, ``module:object``, in any process."""

from __future__ import annotations

import hashlib
import importlib
import sys
from pathlib import Path
from typing import Any

from believer.errors import InvalidInput


def load(name: str) -> Any:
    """The object that is named ``module:object``; ``InvalidInput`` if it cannot be loaded."""
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise InvalidInput(f"an object of your own must be named as module:object; got {name!r}.")
    try:
        found = importlib.import_module(module)
    except (Exception, SystemExit) as error:  # of someone else's module
        raise InvalidInput(f"cannot load {name!r}: {_why(module, attribute, error)}") from error
    try:
        return getattr(found, attribute)
    except Exception as error:  # of someone else's module, which may look its names up itself
        text = str(error).removesuffix(".")
        raise InvalidInput(f"cannot load {name!r}: {text}. Name an object at the top of the module.") from error


def made(name: str) -> Any:
    """The object that is named ``module:object``; of a class, or of what is written with ``()``, what a call makes."""
    found = load(name.removesuffix("()"))
    if not isinstance(found, type) and not name.endswith("()"):
        return found
    try:
        return found()
    except Exception as error:  # of someone else's class
        text = str(error).removesuffix(".")
        raise InvalidInput(f"cannot load {name!r}: {text}. Does it need no arguments?") from error


def digest(module: str) -> str | None:
    """The digest of the file of a loaded module; None if it has no file."""
    path = getattr(sys.modules.get(module), "__file__", None)
    return None if path is None else hashlib.sha256(Path(path).read_bytes()).hexdigest()[:16]


def _why(module: str, attribute: str, error: BaseException) -> str:
    """Why a module cannot be imported: it is not there, or something in it went wrong."""
    text = str(error).removesuffix(".")
    absent = isinstance(error, ModuleNotFoundError) and error.name and f"{module}.".startswith(f"{error.name}.")
    if absent and module.endswith(".py"):
        return f"{text}. Name the module without .py, as {module.removesuffix('.py')}:{attribute}."
    if absent:
        return f"{text}. Is the module on the Python path?"
    return f"importing {module!r} raised {type(error).__name__}: {text}."
