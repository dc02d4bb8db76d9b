from __future__ import annotations

import base64
import gzip
import hashlib
import html
import re
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from page_studies import hostile, small

from believer import Optimizer
from believer.errors import InvalidInput, JournalError, MissingExtra
from believer.page import document, report
from believer.page.document import plotly, served

pytest.importorskip("plotly")


class Scripts(HTMLParser):
    """The scripts of a page, and its policy."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.policy, self.tags = "", list[str]()
        self._in: dict[str, str | None] | None = None
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        found = dict(attrs)
        self._in = found if tag == "script" else None
        if found.get("http-equiv") == "Content-Security-Policy":
            self.policy = found["content"] or ""

    def handle_data(self, data: str) -> None:
        if self._in is not None:
            self.scripts.append((self._in, data))

    def handle_endtag(self, tag: str) -> None:
        self._in = None


def digest(text: bytes) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text).digest()).decode()}'"


@pytest.mark.parametrize("study", [small, hostile])
def test_a_report_holds_three_scripts_and_its_policy_allows_what_runs_and_nothing_else(
    study: Any, tmp_path: Path
) -> None:
    path = tmp_path / "study.html"
    assert study().report(path) == str(path)
    page = Scripts(path.read_text(encoding="utf-8"))
    (state, ours, library) = page.scripts
    assert state[0] == {"type": "application/json", "id": "state"}
    assert not set("<>&") & set(state[1])
    runs = gzip.decompress(base64.b64decode(library[1]))
    assert runs == plotly()
    allowed = next(part for part in page.policy.split("; ") if part.startswith("script-src"))
    assert allowed.split(" ")[1:] == [digest(runs), digest(ours[1].encode())]
    assert "default-src 'none'" in page.policy
    assert "connect-src" not in page.policy
    assert not {"img", "iframe", "object", "embed", "form"} & set(page.tags)
    assert path.stat().st_size < 6_000_000


def test_a_report_asks_for_nothing_from_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "study.html"
    small().report(path)
    text = path.read_text(encoding="utf-8")
    addresses = set(re.findall(r'(?:src|href)="([^"]*)"', text))
    assert addresses
    assert all(address.startswith("data:") for address in addresses)


def test_a_page_that_is_served_connects_to_its_server_alone() -> None:
    page = Scripts(served('<&"', "state.json", "plotly.js").decode())
    assert "connect-src 'self'" in page.policy
    assert html.escape('<&"') in served('<&"', "state.json", "plotly.js").decode()


def test_a_report_is_written_whole_and_replaces_an_older_one(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_text("old", encoding="utf-8")
    study = small(tmp_path / "study.jsonl")
    study.close()
    assert report(tmp_path / "study.jsonl", path) == str(path)
    assert path.read_bytes().startswith(b"<!DOCTYPE html>")
    assert b"<title>study</title>" in path.read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.html", "study.jsonl"]
    with pytest.raises(JournalError, match="cannot write"):
        report(tmp_path / "study.jsonl", tmp_path / "no" / "a.html")
    with pytest.raises(InvalidInput, match="a report must be a path"):
        study.report("")


def test_without_plotly_one_error_names_the_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(document, "find_spec", lambda name: None if name == "plotly" else find_spec(name))
    plotly.cache_clear()
    try:
        with pytest.raises(MissingExtra, match=r"believer\[report\]"):
            small().report(tmp_path / "a.html")
        assert not any(tmp_path.iterdir())
    finally:
        plotly.cache_clear()


def test_a_study_without_a_journal_is_called_like_its_file(tmp_path: Path) -> None:
    study: Optimizer = small()
    study.report(tmp_path / "my study.html")
    assert b"<title>my study</title>" in (tmp_path / "my study.html").read_bytes()
