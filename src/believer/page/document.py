"""The HTML document around a study's state, with its styles, its scripts and a content security policy.

All text of a study is passed as JSON, and the script inserts it into the page as text. The policy names the scripts by
their hashes, so that nothing else can run. It allows no connections, except that a served page may connect to its own
server.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from believer.errors import MissingExtra
from believer.page.cells import Json, in_script

_SCRIPTS = ("table.js", "figures.js", "page.js")
_ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Ccircle cx='8' cy='8' r='7' "
    "fill='%230072b2'/%3E%3Ccircle cx='8' cy='8' r='3' fill='white'/%3E%3C/svg%3E"
)


@cache
def plotly() -> bytes:
    """The script of the library that draws the figures, from the package ``plotly``, which is not imported."""
    found = find_spec("plotly")
    path = None if found is None or found.origin is None else Path(found.origin).parent / "package_data/plotly.min.js"
    if path is None or not path.is_file():
        raise MissingExtra("plotly", "report")
    return path.read_bytes().replace(b"\r\n", b"\n")


@cache
def script() -> str:
    """The script that builds the page from its state."""
    return '"use strict";\n(() => {\n' + "".join(_asset(name) for name in _SCRIPTS) + "})();\n"


def _asset(name: str) -> str:
    return (files("believer.page") / "assets" / name).read_text(encoding="utf-8")


def standalone(state: Json) -> bytes:
    """A page that needs no other file and no network."""
    library = plotly()
    policy = _policy(f"script-src {_hash(library)} {_hash(script().encode())}")
    packed = base64.b64encode(gzip.compress(library, compresslevel=6, mtime=0))
    kept = b'<script type="text/plain" id="plotly">' + packed + b"</script>"
    return _document(state["title"], policy, kept, in_script(state), state["found"]["text"])


def served(title: str, follow: str, library: str) -> bytes:
    """A page that asks its server for the state. ``follow`` is the address of the state, relative to the page, and
    ``library`` is the address of :func:`plotly`."""
    policy = served_policy()
    load = f'<script type="text/plain" id="plotly" data-src="{html.escape(library)}"></script>'.encode()
    return _document(title, policy, load, in_script({"follow": follow}), ["Waiting for the study."])


def served_policy() -> str:
    """The policy of a page that is served."""
    return _policy(f"script-src 'self' {_hash(script().encode())}", "connect-src 'self'")


def _policy(*parts: str) -> str:
    # plotly sets styles of elements one by one.
    rest = ("style-src 'unsafe-inline'", "img-src data: blob:", "base-uri 'none'", "form-action 'none'")
    return "; ".join(["default-src 'none'", *parts, *rest])


def _hash(text: bytes) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text).digest()).decode()}'"


def _document(title: str, policy: str, library: bytes, state: str, words: list[str]) -> bytes:
    said = "".join(f"<p>{html.escape(sentence)}</p>\n" for sentence in words)
    head = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{html.escape(policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f'<link rel="icon" href="{_ICON}">\n'
        f"<title>{html.escape(title)}</title>\n<style>\n{_asset('page.css')}</style>\n</head>\n<body>\n"
        f'<div class="page" id="page"><noscript>\n<h1>{html.escape(title)}</h1>\n{said}'
        "<p>Figures and tables of this page need JavaScript.</p>\n</noscript></div>\n"
        f'<script type="application/json" id="state">{state}</script>\n'
    )
    # The page is made before the library is read.
    return b"".join([head.encode(), f"<script>{script()}</script>\n".encode(), library, b"\n</body>\n</html>\n"])
