"""The choice of a backend: the compiled module ``believer._native``, or the Python that defines what it computes.

The environment variable BELIEVER_BACKEND decides: "python" takes the Python twin, "native" the compiled one or an
error. Unset or empty, it is the compiled one wherever that was built. It is read once, when the backend is first used,
so that an import has no side effect and cannot fail because of a wrong value, and a process does not change its
backend. No other file reads it.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from believer._interrupts import held_back
from believer.errors import InvalidInput

if TYPE_CHECKING:
    from believer._native import Native

VARIABLE = "BELIEVER_BACKEND"

native: Native | None
"""The compiled module if it is in use, else None. It is read as ``backend.native``, because ``using`` changes it."""


def __getattr__(name: str) -> Any:
    """:data:`native`, when it is read for the first time."""
    if name != "native":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    global native
    asked = os.environ.get(VARIABLE)
    native = _named(asked, VARIABLE) if asked else _best()
    return native


def name() -> str:
    """The name of the backend in use: "native" (compiled) or "python"."""
    return "python" if sys.modules[__name__].native is None else "native"


@contextmanager
def using(name: str) -> Iterator[None]:
    """Compute with the twin of that name inside a ``with`` block, in the whole process.

    For tests and comparisons. Blocks nest. InvalidInput for "native" when the compiled module is not there.
    """
    global native
    was_read, before = "native" in globals(), globals().get("native")
    native = _named(name, "the backend")
    try:
        yield
    finally:
        native = before
        if not was_read:
            del native


def _named(name: str, what: str) -> Any | None:
    """The twin called ``name``; ``what`` is where the name comes from, for the error."""
    if name == "python":
        return None
    if name != "native":
        raise InvalidInput(f'{what} must be "native" or "python"; got {name!r}.')
    try:
        return _load()
    except (ImportError, TypeError) as reason:
        raise InvalidInput(
            f'{what} can be "native" only if believer._native was built and loads; here: {reason}. '
            "Reinstall believer with a C compiler on the path (pip install --force-reinstall --no-cache-dir), "
            'or take "python".'
        ) from reason


def _best() -> Any | None:
    """The compiled module, or None if there is none or it does not load; the latter with a warning."""
    try:
        return _load()
    except (ImportError, TypeError) as reason:
        if not (isinstance(reason, ModuleNotFoundError) and reason.name == "believer._native"):
            warnings.warn(
                f"believer._native does not load ({reason}); believer runs in Python alone. Reinstall it to rebuild.",
                RuntimeWarning,
                stacklevel=2,
            )
        return None


def _load() -> Any:
    """Its import. A SciPy whose BLAS has other signatures than at the build makes it a TypeError.

    What a compiled module does at its import may swallow an exception, and Ctrl-C with it.
    """
    with held_back():
        import believer._native as compiled

    return compiled
