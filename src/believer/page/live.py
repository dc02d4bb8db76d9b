"""A watched study: its events are served at once, and its models as soon as they are fitted.

The parts that need no model are read again whenever the study has changed. The others are computed in a thread, one
state after the other; until they are ready, the page shows the previous ones and says so.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from hashlib import sha256
from typing import Any

from believer.errors import BelieverError
from believer.page.beliefs import beliefs, quick_figures, without_refit
from believer.page.cells import Json
from believer.page.content import facts, found
from believer.page.rows import PageRows, rows_of
from believer.page.watched import Version, Watched
from believer.plot.data import Source

_PROCESS = secrets.token_hex(8)
"""A tag by which an answer of an earlier server is never taken for one of this server."""


class Live:
    """The state of a study, kept up to date.

    Parameters
    ----------
    watched : the study.
    next_q : the number of points of the next batch; 0 for none, None for as many as the last batch had.
    """

    def __init__(self, watched: Watched, next_q: int | None = None) -> None:
        self._watched, self._next = watched, next_q
        self._lock = threading.Lock()
        self._version: Version | None = None
        self._facts: Json = {}
        self._waiting: tuple[Version, Source, PageRows] | None = None
        self._beliefs: Json = {}
        self._believed: Version | None = None
        self._is_at_work = False
        self._sent: tuple[str, bytes] = ("", b"")

    def state(self) -> tuple[str, bytes]:
        """The tag of the present state, and the state as JSON.

        Errors in reading the study are raised.
        """
        with self._lock:
            version = self._watched.version()
            if version != self._version:
                self._read(version)
            tag = f'"{sha256(repr((_PROCESS, self._version, self._believed)).encode()).hexdigest()[:32]}"'
            if tag != self._sent[0]:
                self._sent = tag, json.dumps(self._whole(), allow_nan=False).encode()
            return self._sent

    def _read(self, version: Version) -> None:
        source = self._watched.read()
        rows = rows_of(source)
        found = facts(source, rows, self._watched.name)
        self._facts = {**found, "figures": quick_figures(source, rows)}
        self._version, self._waiting = version, (version, source, rows)
        if not self._is_at_work:
            self._is_at_work = True
            threading.Thread(target=self._work, name="believer-watch-models", daemon=True).start()

    def _whole(self) -> Json:
        """The present events, with the latest parts that need models."""
        if not self._beliefs:
            words = {"text": ["The model is being worked out."]}
            return {**self._facts, "recommendation": words, "next": words, "note": "More figures are being worked out."}
        fresh = {one["id"]: one for one in self._facts["figures"]}
        figures = [fresh.pop(one["id"], one) for one in self._beliefs["figures"]] + [*fresh.values()]
        note = self._beliefs["note"]
        if self._believed != self._version:
            known = self._beliefs["results"]
            note = f"What needs the model is of {known} results, and is being worked out anew. {note}".strip()
        return {**self._facts, **self._beliefs, "results": self._facts["results"], "figures": figures, "note": note}

    def _work(self) -> None:
        """Compute the parts that need models until they are up to date, for at most half of the time."""
        while True:
            with self._lock:
                if self._waiting is None:
                    self._is_at_work = False
                    return
                (version, source, rows), self._waiting = self._waiting, None
            begun = time.monotonic()
            made = _attempt(source, rows, self._next)
            with self._lock:
                self._beliefs, self._believed = made, version
            time.sleep(min(5.0, time.monotonic() - begun))

    def summary(self) -> tuple[Version, list[str]]:
        """The version of the study, and its findings in sentences."""
        version = self._watched.version()
        return version, found(self._watched.read())


def _attempt(source: Source, rows: PageRows, next_q: int | None) -> Json:
    """The parts that need models, or a sentence that says why they cannot be computed."""
    results: dict[str, Any] = {"results": source.study.counts.answered}
    try:
        return {**beliefs(source if next_q else without_refit(source), rows, next_q), **results}
    except Exception as error:  # a custom model may raise any error, and the page goes on without it
        what = str(error) if isinstance(error, BelieverError) else f"{type(error).__name__}: {error}"
        words = {"text": [f"What needs the model could not be worked out: {what}"]}
        return {"recommendation": words, "next": words, "figures": [], "note": words["text"][0], **results}
