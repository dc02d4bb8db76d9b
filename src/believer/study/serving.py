"""A page of a study that is being served, as whoever asked for it sees it."""

from __future__ import annotations

from types import TracebackType
from typing import Protocol, Self


class Serving(Protocol):
    """A page that is being served until it is closed; a context manager that closes it."""

    @property
    def url(self) -> str:
        """The address of the page."""

    def wait(self) -> None:
        """Until it is closed."""

    def close(self) -> None:
        """End it."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None: ...
