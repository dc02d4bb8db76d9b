"""The server of live pages, which answers GET and HEAD requests for given studies.

A request is refused unless its Host is a name of this server, so that a page of another site cannot reach it under its
own name. If there is a token, a request without it is refused, too. No part of a request is used as a path.
"""

from __future__ import annotations

import gzip
import hmac
import ipaddress
import json
import os
import socket
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from hashlib import sha256
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from believer._version import __version__
from believer.errors import BelieverError
from believer.page.document import plotly, served, served_policy
from believer.page.live import Live
from believer.page.watched import Version, Watched

_READING = 1.0
"""The seconds that a list spends on reading changed studies; the others are read at the next request."""

_SMALL = 4096


class Shelf:
    """The studies of a server, with the present state of each.

    Parameters
    ----------
    is_folder : whether they are listed.
    studies : the present studies, by key.
    title : the title of the list.
    next_q : the number of points of the next batch; 0 for none, None for as many as the last batch had.
    """

    def __init__(
        self, is_folder: bool, studies: Callable[[], dict[str, Watched]], title: str, next_q: int | None
    ) -> None:
        self.is_folder, self.studies, self.title, self._next = is_folder, studies, title, next_q
        self._live: dict[str, Live] = {}
        self._summaries: dict[str, tuple[Version, list[str]]] = {}

    def live(self, key: str) -> Live | None:
        """The study of that key; None if there is none."""
        watched = self.studies().get(key)
        return None if watched is None else self._live.setdefault(key, Live(watched, self._next))

    def listed(self) -> bytes:
        """The list of all studies, as JSON."""
        entries, until = [], time.monotonic() + _READING
        for key, watched in self.studies().items():
            entries.append({"name": watched.name, "href": f"study/{key}/", "text": self._summary(key, watched, until)})
        count = f"{len(entries)} stud{'y' if len(entries) == 1 else 'ies'}." if entries else "There is no journal yet."
        return json.dumps({"title": self.title, "text": [count], "studies": entries}).encode()

    def _summary(self, key: str, watched: Watched, until: float) -> list[str]:
        known = self._summaries.get(key)
        try:
            if known is None or known[0] != watched.version():
                if time.monotonic() > until:
                    return known[1] if known else ["It was not read yet."]
                known = self._summaries[key] = Live(watched).summary()
            return known[1]
        except (BelieverError, OSError) as error:
            return [f"It cannot be read: {error}"]


class Server(ThreadingHTTPServer):
    """A server that listens at an address; made by :func:`believer.page.watch`.

    Parameters
    ----------
    address : the host and the port.
    shelf : the studies that it shows.
    token : the token that a request must have; None for none.
    """

    daemon_threads = True
    allow_reuse_address = os.name == "posix"  # elsewhere it lets two programs listen at one port

    def __init__(self, address: tuple[str, int], shelf: Shelf, token: str | None) -> None:
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self.shelf, self.token, self.host = shelf, token, address[0]
        self._open: set[Any] = set()
        super().__init__(address, Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer a connection in a thread of its own."""
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """End a connection."""
        self._open.discard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        """Stop listening, and end connections that wait for a further request."""
        super().server_close()
        for request in list(self._open):
            with suppress(OSError):
                request.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a broken connection, and report any other error."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def knows(self, name: str) -> bool:
        """Whether a Host header names this server; names of other sites are refused, since they may resolve to it."""
        try:
            address = ipaddress.ip_address(name.strip("[]"))
        except ValueError:
            known = {"localhost"} if is_loopback(self.host) else {"localhost", self.host, socket.gethostname()}
            return name.lower() in {one.lower() for one in known}
        return address.is_loopback or not is_loopback(self.host)


def is_loopback(host: str) -> bool:
    """Whether an address can be reached only from this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


class Handler(BaseHTTPRequestHandler):
    """Answers one request after the other of a connection."""

    server: Server
    protocol_version = "HTTP/1.1"
    server_version, sys_version = f"believer/{__version__}", ""
    timeout = 30.0

    def parse_request(self) -> bool:
        """Whether the request may be answered; other requests are refused here."""
        if not super().parse_request():
            return False
        if self.command not in ("GET", "HEAD"):
            return self._refused(HTTPStatus.METHOD_NOT_ALLOWED, "This page is only to be read.", Allow="GET, HEAD")
        if self.headers.get("Transfer-Encoding") or self.headers.get("Content-Length", "0") != "0":
            return self._refused(HTTPStatus.BAD_REQUEST, "A request for a page has no body.")
        hosts = self.headers.get_all("Host") or []
        name = urlsplit(f"//{hosts[0]}").netloc.rpartition("@")[2] if len(hosts) == 1 else ""
        if not self.server.knows(_without_port(name)):
            return self._refused(
                HTTPStatus.FORBIDDEN, "This server is not known by that name (see believer watch --host)."
            )
        if not self.path.startswith("/") or self.path.startswith("//"):
            return self._refused(HTTPStatus.BAD_REQUEST, "That is no address of this server.")
        return True

    def do_GET(self) -> None:
        """Answer with a page, the state of a study, the list of studies, or the library of the figures."""
        if not self._is_let_in():
            return
        path = urlsplit(self.path).path
        shelf = self.server.shelf
        parts = path.split("/")[1:]
        if path == "/plotly.js":
            self._send(plotly(), "text/javascript", gzipped=_packed_plotly(), cached=True)
        elif path == "/":
            follow = "list.json" if shelf.is_folder else f"study/{next(iter(shelf.studies()))}/state.json"
            self._page(shelf.title, follow, "plotly.js")
        elif path == "/list.json" and shelf.is_folder:
            body = shelf.listed()
            self._send(body, "application/json", tag=f'"{sha256(body).hexdigest()[:32]}"')
        elif len(parts) == 3 and parts[0] == "study" and parts[2] in ("", "state.json"):
            self._study(parts[1], parts[2])
        else:
            self._refused(HTTPStatus.NOT_FOUND, "There is nothing at this address.")

    do_HEAD = do_GET  # noqa: N815 (what it is called there)

    def _study(self, key: str, what: str) -> None:
        live = self.server.shelf.live(key)
        if live is None:
            self._refused(HTTPStatus.NOT_FOUND, "There is no such study, or its journal is gone.")
        elif not what:
            self._page("Study", "state.json", "../../plotly.js")
        else:
            try:
                tag, body = live.state()
            except FileNotFoundError:
                self._refused(HTTPStatus.NOT_FOUND, "The journal is gone. This is the study as it was.")
            except (BelieverError, OSError) as error:
                self._refused(HTTPStatus.SERVICE_UNAVAILABLE, f"The study cannot be read: {error}")
            else:
                self._send(body, "application/json", tag=tag)

    def _is_let_in(self) -> bool:
        """Whether the request has the token; a request with the token in its address is redirected, with a cookie in
        its place."""
        token = self.server.token
        if token is None:
            return True
        split = urlsplit(self.path)
        given = parse_qs(split.query).get("token", [""])[0]
        cookie = f"believer-{self.server.server_port}"
        if _same(given, token):
            kept = f"{cookie}={token}; HttpOnly; SameSite=Strict; Path=/"
            self._refused(HTTPStatus.SEE_OTHER, "", Location=split.path, **{"Set-Cookie": kept})
            return False
        cookies = [part.strip() for part in self.headers.get("Cookie", "").split(";")]
        if any(_same(part.removeprefix(f"{cookie}="), token) for part in cookies if part.startswith(f"{cookie}=")):
            return True
        self._refused(HTTPStatus.FORBIDDEN, "Open the whole address that believer watch printed: it has a token.")
        return False

    def _page(self, title: str, follow: str, library: str) -> None:
        policy = f"{served_policy()}; frame-ancestors 'none'"
        self._send(served(title, follow, library), "text/html", policy=policy)

    def _send(
        self,
        body: bytes,
        kind: str,
        *,
        tag: str | None = None,
        gzipped: bytes | None = None,
        cached: bool = False,
        policy: str | None = None,
    ) -> None:
        """Answer with ``body``, or with 304 if the page has it already."""
        if tag is not None and self.headers.get("If-None-Match") == tag:
            self._head(HTTPStatus.NOT_MODIFIED, {"ETag": tag, "Cache-Control": "no-store"}, 0)
            return
        found = {"Content-Type": f"{kind}; charset=utf-8", "Vary": "Accept-Encoding"}
        if policy is not None:
            found["Content-Security-Policy"] = policy
        found["Cache-Control"] = "private, max-age=86400" if cached else "no-store"
        if tag is not None:
            found["ETag"] = tag
        if "gzip" in self.headers.get("Accept-Encoding", "") and len(body) > _SMALL:
            body, found["Content-Encoding"] = gzipped or gzip.compress(body, 1), "gzip"
        self._head(HTTPStatus.OK, found, len(body))
        if self.command != "HEAD":
            self.wfile.write(body)

    def _refused(self, status: HTTPStatus, words: str, **headers: str) -> bool:
        """Answer with a sentence, and end the connection; False."""
        body = f"{words}\n".encode()
        self.close_connection = True
        kind = {"Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store", "Connection": "close"}
        self._head(status, {**kind, **headers}, len(body))
        if self.command != "HEAD":
            self.wfile.write(body)
        return False

    def _head(self, status: HTTPStatus, headers: Mapping[str, str], length: int) -> None:
        self.send_response(status)
        for name, value in {**headers, **_ALWAYS}.items():
            self.send_header(name, value)
        if status is not HTTPStatus.NOT_MODIFIED:
            self.send_header("Content-Length", str(length))
        self.end_headers()

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Refuse an invalid request, with one sentence."""
        self.request_version = self.protocol_version  # a request without a version gets an answer with a status, too
        self._refused(HTTPStatus(code), "That is no request for a page.")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (what it is called there)
        """Log nothing."""


_ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


@cache
def _packed_plotly() -> bytes:
    return gzip.compress(plotly(), 6)


def _without_port(host: str) -> str:
    """The name in a Host header: ``localhost`` of ``localhost:8765``, ``[::1]`` of ``[::1]:8765``."""
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0]


def _same(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), token.encode())
