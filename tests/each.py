"""``each``: one test that goes through many cases, and names the one that fails.

It is written as ``pytest.mark.parametrize``, for cases that take a moment each and need no fixture of their own: a test
of its own costs pytest more than such a case takes.
"""

from __future__ import annotations

import inspect
import reprlib
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any

import pytest

Test = Callable[..., None]


def each(
    names: str | Sequence[str],
    cases: Iterable[Any],
    ids: Iterable[str] | Callable[[Any], object] | None = None,
) -> Callable[[Test], Test]:
    """Call the test with every case, and add to what it raises which case that was. Decorators multiply."""
    arguments = names.replace(" ", "").split(",") if isinstance(names, str) else list(names)
    rows = [_row(case, len(arguments)) for case in cases]
    labels = [*ids] if ids is not None and not callable(ids) else [_label(row, ids) for row in rows]
    assert rows, "there are no cases"

    def decorated(test: Test) -> Test:
        @wraps(test)
        def every(*args: Any, **fixtures: Any) -> None:
            skipped: list[BaseException] = []
            for row, label in zip(rows, labels, strict=True):
                try:
                    test(*args, **fixtures, **dict(zip(arguments, row, strict=True)))
                except pytest.skip.Exception as reason:
                    skipped.append(reason)
                except BaseException as error:
                    error.add_note(f"{', '.join(arguments)}: {label}")
                    raise
            if len(skipped) == len(rows):
                raise skipped[0]

        signature = inspect.signature(test)
        left = [value for name, value in signature.parameters.items() if name not in arguments]
        assert len(left) + len(arguments) == len(signature.parameters), f"the test does not take all of {arguments}"
        every.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return every

    return decorated


def _row(case: Any, count: int) -> tuple[Any, ...]:
    """The values of one case."""
    if hasattr(case, "marks"):
        assert not case.marks, "a case with marks is a test of its own: use pytest.mark.parametrize"
        return tuple(case.values)
    return (case,) if count == 1 else tuple(case)


def _label(row: tuple[Any, ...], naming: Callable[[Any], object] | None) -> str:
    return ", ".join(reprlib.repr(value) if naming is None else str(naming(value)) for value in row)
