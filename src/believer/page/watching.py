"""Watching a study: its page is served while it runs, here or in another process."""

from __future__ import annotations

import os
import secrets
import socket
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from believer.arrays import shown, whole
from believer.errors import InvalidInput
from believer.optimizer import Optimizer
from believer.page.document import plotly
from believer.page.server import Server, Shelf, is_loopback
from believer.page.watched import Watched, running, studies_at
from believer.result import Result
from believer.study.files import PathLike
from believer.study.study import Study

PORT = 8765
"""The default port; if it is taken, the first free one after it is used."""

_TRIED = 50
_MIN_TOKEN = 16


class Watch:
    """A page that is being served, made by :func:`watch`. It prints its address.

    Parameters
    ----------
    server : the server.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="believer-watch", daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        try:
            self._server.serve_forever(poll_interval=0.2)
        finally:
            self._ended.set()

    @property
    def url(self) -> str:
        """The address of the page, with its token if it has one."""
        host = self._server.host
        if host in ("", "0.0.0.0", "::"):
            host = socket.gethostname()
        name = f"[{host}]" if ":" in host else host
        token = f"?token={self._server.token}" if self._server.token is not None else ""
        return f"http://{name}:{self._server.server_port}/{token}"

    def wait(self) -> None:
        """Wait until the page is closed; a KeyboardInterrupt ends the wait."""
        while not self._ended.wait(0.5):  # on Windows, nothing interrupts a wait without an end
            pass

    def close(self) -> None:
        """Stop the server."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def __str__(self) -> str:
        return f"watching at {self.url}"

    def __repr__(self) -> str:
        return f"<Watch: {self.url}>"


def watch(
    study: Optimizer | Result | Study | PathLike | Watched | Callable[[], dict[str, Watched]],
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    token: bool | str | None = None,
    next_q: int | None = None,
) -> Watch:
    """Serve the page of a study, which is updated as results come in; for a folder, a list of its studies.

    Nothing is written and no lock is taken: the study may run in another process.

    Parameters
    ----------
    study : an ``Optimizer``, a ``Result``, a study that was read from a journal, the path of a journal, or a folder;
        for the studies of another tool, a ``Watched``, or a function that returns several of them by key.
    host, port, token, next_q : as for :meth:`believer.Study.watch`.
    """
    if not isinstance(host, str) or not host:
        raise InvalidInput(f"host must be an address to listen on; got {shown(host)}.")
    if port is not None:
        whole(port, "port", 0, 65535)
    if next_q is not None:
        whole(next_q, "next", 0)
    secret = _secret(token, host)
    plotly()
    return Watch(_listening(host, port, _shelf(study, next_q), secret))


def _shelf(study: Any, next_q: int | None) -> Shelf:
    if callable(study):
        return Shelf(True, study, "Studies", next_q)
    if isinstance(study, Result | Optimizer | Watched):
        only = study if isinstance(study, Watched) else running(study.optimizer if isinstance(study, Result) else study)
        return Shelf(False, lambda: {only.key: only}, only.name.removesuffix(".jsonl"), next_q)
    path = study
    if isinstance(path, Study):
        where = getattr(path, "_where", None)
        if where is None:
            raise InvalidInput(
                "watch needs an optimizer or a study with a journal; this study was only read and has none."
            )
        path = str(where)
    is_folder, studies = studies_at(path)
    name = os.path.basename(os.path.abspath(path)).removesuffix(".jsonl") or "studies"
    return Shelf(is_folder, studies, f"Studies in {name}" if is_folder else name, next_q)


def _secret(token: bool | str | None, host: str) -> str | None:
    if isinstance(token, str):
        if len(token) < _MIN_TOKEN or not all(c.isascii() and (c.isalnum() or c in "-_") for c in token):
            raise InvalidInput(
                f"a token must have at least {_MIN_TOKEN} letters, digits, - or _; token=True makes one."
            )
        return token
    if token not in (None, True, False):
        raise InvalidInput(f"token must be True, False, None or a text; got {shown(token)}.")
    if token is False and not is_loopback(host):
        raise InvalidInput(f"a page that others can reach needs a token; got token=False with host={host!r}.")
    return secrets.token_urlsafe(24) if token or not is_loopback(host) else None


def _listening(host: str, port: int | None, shelf: Shelf, token: str | None) -> Server:
    """A server at ``port``, or at the first free port from the default one on."""
    for tried in range(PORT, PORT + _TRIED) if port is None else [port]:
        try:
            return Server((host, tried), shelf, token)
        except OSError as error:
            failed, reason = tried, error.strerror or error
            if isinstance(error, socket.gaierror):
                break
    raise InvalidInput(f"cannot listen at {host}, port {failed}: {reason}. Choose another one.")
