from __future__ import annotations

import errno
import json
import math
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cell_work import cells

from believer._version import __version__
from believer.errors import InvalidInput, JournalCorrupt, JournalError, JournalLocked, JournalTooNew
from believer.experiments import Cell, Store, provenance, read_store

CELLS = cells(3, q=3, name='comma, "quote" é\n')
RESULTS: list[dict[str, Any]] = [{"x": 0.1 + 0.2, "list": [1, None, True]}, {"x": 5e-324}, {}]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "results.jsonl"


def fill(path: Path | None) -> Store:
    store = Store(path)
    for cell, result in zip(CELLS, RESULTS, strict=True):
        store.add(cell, result)
    return store


@pytest.fixture
def whole(path: Path) -> bytes:
    """The bytes of a store with three cells, closed."""
    fill(path).close()
    return path.read_bytes()


def found(path: Path) -> list[tuple[Cell, dict[str, Any]]]:
    return [(entry.cell, entry.result) for entry in read_store(path)]


EXPECTED = list(zip(CELLS, RESULTS, strict=True))


@pytest.mark.parametrize("in_memory", [True, False])
def test_a_store_gives_back_what_was_added_in_order(path: Path, in_memory: bool) -> None:
    with fill(None if in_memory else path) as store:
        assert store.path == (None if in_memory else path)
        assert [(entry.cell, entry.result) for entry in store] == EXPECTED
        assert len(store) == 3
        assert store[CELLS[1]].result == RESULTS[1]
        assert CELLS[1] in store
        assert Cell("other", {}, 0) not in store
        assert "a name" not in store
        with pytest.raises(KeyError):
            store[Cell("other", {}, 0)]
    assert store[CELLS[1]].result == RESULTS[1]
    assert in_memory or found(path) == EXPECTED


def test_a_store_opened_again_holds_the_same_and_goes_on(path: Path, whole: bytes) -> None:
    more = Cell("more", {}, 9)
    with Store(path) as store:
        assert [(entry.cell, entry.result) for entry in store] == EXPECTED
        store.add(more, {"x": 1})
    assert path.read_bytes().startswith(whole)
    assert found(path) == [*EXPECTED, (more, {"x": 1})]


def test_a_line_says_where_its_result_came_from(path: Path) -> None:
    with Store(path) as store:
        store.add(CELLS[0], {})
        store.add(CELLS[1], {}, {"python": "4.0", "seconds": 1.5})
    here, there = (json.loads(line) for line in path.read_text().splitlines())
    assert list(here) == ["format", "key", "cell", "result", "provenance"]
    assert here["key"] == CELLS[0].key
    assert (here["provenance"]["believer"], here["provenance"]["numpy"]) == (__version__, np.__version__)
    assert here["provenance"]["python"] == platform.python_version()
    assert {"scipy", "platform", "commit"} <= here["provenance"].keys()
    stored = datetime.fromisoformat(here["provenance"]["finished"])
    assert timedelta(0) <= datetime.now(UTC) - stored < timedelta(minutes=50)
    assert (there["provenance"]["python"], there["provenance"]["seconds"]) == ("4.0", 1.5)
    assert "numpy" not in there["provenance"]


@pytest.mark.parametrize("bad", [{"x": math.nan}, {"x": (1,)}, {1: 2}, {"x": np.zeros(2)}, {"x": object()}])
def test_a_result_that_would_not_read_back_equal_is_never_written(path: Path, bad: Any) -> None:
    with Store(path) as store:
        with pytest.raises(InvalidInput, match="the result of toy"):
            store.add(CELLS[0], bad)
        assert CELLS[0] not in store
        assert path.read_bytes() == b""


def test_a_cell_is_finished_once(path: Path) -> None:
    with fill(path) as store, pytest.raises(InvalidInput, match="in the store already"):
        store.add(CELLS[0], {})
    assert found(path) == EXPECTED


# Cuts and damage


def test_a_file_cut_at_any_byte_gives_the_cells_whose_lines_are_complete(path: Path, whole: bytes) -> None:
    torn = path.with_name("torn.jsonl")
    for cut in range(len(whole)):
        torn.unlink(missing_ok=True)
        torn.write_bytes(whole[:cut])
        assert found(torn) == EXPECTED[: whole[:cut].count(b"\n")]


@pytest.mark.parametrize("torn", [b'{"format":1,"key":"', b"\0\0\0", b"\xff"])
def test_a_torn_last_line_is_cut_off_before_the_next_append(path: Path, whole: bytes, torn: bytes) -> None:
    path.write_bytes(whole + torn)
    assert found(path) == EXPECTED
    assert path.read_bytes() == whole + torn
    with Store(path) as store:
        assert path.read_bytes() == whole
        store.add(Cell("more", {}, 1), {})
    assert len(found(path)) == 4


def changed(line: bytes, **fields: Any) -> bytes:
    return json.dumps({**json.loads(line), **fields}).encode()


@pytest.mark.parametrize(
    "damage",
    [
        lambda line: b"",
        lambda line: b"\xff\xfe",
        lambda line: line[:-1],
        lambda line: b"[]",
        lambda line: b"[" * 100_000,
        lambda line: b"\0" * len(line),
        lambda line: line.replace(b'"seed":1', b'"seed":2'),
        lambda line: line.replace(b"5e-324", b"NaN"),
        lambda line: line.replace(b"5e-324", b"1e999"),
        lambda line: changed(line, key="0" * 16),
        lambda line: changed(line, result=[]),
        lambda line: changed(line, provenance=None),
        lambda line: changed(line, cell=None),
        lambda line: changed(line, format=0),
        lambda line: changed(line, format="1"),
        lambda line: changed(line, extra=1),
        lambda line: json.dumps({key: value for key, value in json.loads(line).items() if key != "result"}).encode(),
    ],
)
@pytest.mark.parametrize("last", [False, True])
def test_a_finished_line_that_makes_no_sense_is_named(path: Path, whole: bytes, damage: Any, last: bool) -> None:
    lines = whole.split(b"\n")[:-1]
    damaged = b"\n".join([lines[0], damage(lines[1]), *([] if last else lines[2:])]) + b"\n"
    path.write_bytes(damaged)
    for attempt in (read_store, Store):
        with pytest.raises(JournalCorrupt, match=r"line 2 of .*its cell will be run again") as caught:
            attempt(path)
        assert caught.value.line == 2
    assert path.read_bytes() == damaged
    path.write_bytes(whole)
    Store(path).close()  # and the lock was let go


def test_a_line_of_a_newer_version_is_too_new_and_not_corrupt(path: Path, whole: bytes) -> None:
    path.write_bytes(whole + b'{"format":2,"who":"knows"}\n')
    for attempt in (read_store, Store):
        with pytest.raises(JournalTooNew, match=r"results.jsonl has store format 2.*up to format 1"):
            attempt(path)


def test_files_can_be_joined_and_the_first_line_of_a_cell_counts(path: Path, whole: bytes) -> None:
    again = path.with_name("again.jsonl")
    with Store(again) as store:
        store.add(CELLS[0], {"x": "another"})
        store.add(Cell("more", {}, 1), {"x": 1})
    path.write_bytes(whole + again.read_bytes())
    assert found(path) == [*EXPECTED, (Cell("more", {}, 1), {"x": 1})]


def test_a_path_that_cannot_be_used_is_a_journal_error(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="Its directory must exist"):
        Store(tmp_path / "missing" / "results.jsonl")
    with pytest.raises(JournalError, match="cannot open"):
        Store(tmp_path)
    with pytest.raises(JournalError, match="Check the path"):
        read_store(tmp_path / "results.jsonl")
    assert list(tmp_path.iterdir()) == []


# Writing


def test_a_cell_is_on_the_disk_before_it_counts_as_done(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store(path) as store:
        counted: list[tuple[int, bool]] = []
        fsync = os.fsync

        def record(fd: int) -> None:
            counted.append((path.read_bytes().count(b"\n"), CELLS[0] in store))
            fsync(fd)

        monkeypatch.setattr(os, "fsync", record)
        store.add(CELLS[0], {})
        assert counted == [(1, False)]
        assert CELLS[0] in store


def test_a_full_disk_is_our_error_and_loses_nothing_that_was_finished(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(path) as store:
        store.add(CELLS[0], RESULTS[0])
        before = path.read_bytes()
        write = os.write
        with monkeypatch.context() as patch:
            written: list[int] = []

            def fill_up(fd: int, data: Any) -> int:
                if written:
                    raise OSError(errno.ENOSPC, "No space left on device")
                written.append(fd)
                return write(fd, bytes(data)[:20])

            patch.setattr(os, "write", fill_up)
            with pytest.raises(JournalError, match="No space left on device"):
                store.add(CELLS[1], RESULTS[1])
        assert path.read_bytes() == before
        assert CELLS[1] not in store
        store.add(CELLS[1], RESULTS[1])
    assert found(path) == EXPECTED[:2]


def test_a_second_writer_is_refused_and_readers_are_not(path: Path) -> None:
    with fill(path):
        with pytest.raises(JournalLocked, match=r"a store has one writer at a time.*another run in this one"):
            Store(path)
        other = f"from believer.experiments import *; path = {str(path)!r}; print(len(read_store(path))); Store(path)"
        done = subprocess.run([sys.executable, "-c", other], capture_output=True, text=True, check=False)
        assert done.stdout.strip() == "3"
        assert "JournalLocked" in done.stderr
    Store(path).close()


def test_a_closed_store_takes_nothing_more(path: Path) -> None:
    store = fill(path)
    store.close()
    store.close()
    with pytest.raises(JournalError, match=r"an open store; .* was closed"):
        store.add(Cell("more", {}, 1), {})


# The commit


def test_the_commit_is_that_of_the_checkout_itself_and_says_when_it_is_dirty(tmp_path: Path) -> None:
    def git(*words: str) -> str:
        options = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
        command = ["git", "-C", str(tmp_path), *options, *words]
        return subprocess.run(command, capture_output=True, text=True, check=True, env=own).stdout.strip()

    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    own |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    try:
        git("init", "-q")
    except FileNotFoundError:
        pytest.skip("git is not installed")
    assert provenance.commit_of(tmp_path) is None
    (tmp_path / "inside").mkdir()
    (tmp_path / "file").write_text("1")
    git("add", "file")
    git("commit", "-q", "-m", "one")
    git("tag", "v1")
    head = git("rev-parse", "HEAD")
    assert provenance.commit_of(tmp_path) == head
    assert provenance.commit_of(tmp_path / "inside") is None
    (tmp_path / "file").write_text("2")
    assert provenance.commit_of(tmp_path) == f"{head}-dirty"


def test_git_is_asked_once_and_may_be_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def no_git(*arguments: Any, **options: Any) -> None:
        asked.append(arguments)
        raise FileNotFoundError("git")

    (tmp_path / ".git").mkdir()
    monkeypatch.setattr(subprocess, "run", no_git)
    assert provenance.commit_of(tmp_path) is None
    assert len(asked) == 1

    def answer(root: Path) -> str:
        asked.append(root)
        return "abc"

    monkeypatch.setattr(provenance, "commit_of", answer)
    provenance.commit.cache_clear()
    try:
        with fill(None) as store:
            assert {entry.provenance["commit"] for entry in store} == {"abc"}
    finally:
        provenance.commit.cache_clear()
    assert len(asked) == 2
