"""Someone else's object by its name, ``module:object``: how a plain setting reaches code in any process."""

from __future__ import annotations

import importlib
from typing import Any

from believer.errors import InvalidInput


def load(name: str) -> Any:
    """The object that is named ``module:object``; ``InvalidInput`` when it cannot be had."""
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise InvalidInput(f"an object of your own must be named as module:object; got {name!r}.")
    try:
        return getattr(importlib.import_module(module), attribute)
    except Exception as error:  # of someone else's module
        raise InvalidInput(f"cannot load {name!r}: {error}. Is the module on the Python path?") from error
