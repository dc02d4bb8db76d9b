"""A served page of a study."""

from __future__ import annotations

from types import TracebackType
from typing import Protocol, Self


class Serving(Protocol):
    """A page that is served until it is closed; also a context manager."""

    @property
    def url(self) -> str:
        """The address of the page."""

    def wait(self) -> None:
        """Wait until the page is closed."""

    def close(self) -> None:
        """Stop serving."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None: ...
