from __future__ import annotations

from pathlib import Path

import pytest
from command_runs import assert_one_line, run
from page_studies import small

pytest.importorskip("plotly")


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    path = tmp_path / "study.jsonl"
    small(path).close()
    return path


def test_a_page_is_written_beside_its_journal_and_its_path_is_printed(journal: Path) -> None:
    before = journal.read_bytes()
    ran = run("report", journal)
    page = journal.with_suffix(".html")
    assert (ran.code, ran.out, ran.err) == (0, f"{page}\nOpen it in a browser.\n", "")
    assert b"If 2 trials were asked for now" in page.read_bytes()
    assert journal.read_bytes() == before


def test_a_page_is_written_where_it_is_wanted_with_the_batch_that_is_wanted(journal: Path, tmp_path: Path) -> None:
    ran = run("report", journal, "-o", tmp_path / "page.htm", "--next", "1")
    assert (ran.code, ran.out) == (0, f"{tmp_path / 'page.htm'}\nOpen it in a browser.\n")
    assert b"If 1 trial were asked for now" in (tmp_path / "page.htm").read_bytes()


def test_a_study_that_someone_writes_to_can_be_reported(tmp_path: Path) -> None:
    with small(tmp_path / "study.jsonl"):
        assert run("report", tmp_path / "study.jsonl").code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing.jsonl"], "nothing.jsonl"),
        (["{journal}", "-o", "{folder}/no/a.html"], "cannot write"),
        (["{journal}", "--next", "-1"], "a whole number, 0 or more"),
        ([], "journal"),
    ],
)
def test_errors_are_one_line(journal: Path, tmp_path: Path, arguments: list[str], words: str) -> None:
    given = [text.format(journal=journal, folder=tmp_path) for text in arguments]
    assert_one_line(run("report", *given), words)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing.jsonl"], "a journal or a folder"),
        (["{journal}", "--port", "99999"], "port must be"),
        (["{journal}", "--host", "192.0.2.1", "--port", "0"], "cannot listen"),
    ],
)
def test_errors_of_watch_are_one_line(journal: Path, arguments: list[str], words: str) -> None:
    assert_one_line(run("watch", *[text.format(journal=journal) for text in arguments]), words)
