from __future__ import annotations

import errno
import gc
import json
import os
import pickle
import signal
import stat
import subprocess
import sys
import textwrap
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from test_events import EVENTS, all_bits

from believer.errors import InvalidInput, JournalCorrupt, JournalError, JournalLocked, JournalTooNew
from believer.study import files as module
from believer.study.events import Abandoned, Asked, Begun, Enqueued, Event, Failed, Observed, Told
from believer.study.formats import FORMAT, encode_event
from believer.study.journal import Journal, read_events, write_events
from believer.study.outcome import Outcome
from believer.study.trials import Trial

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="processes fork, and files can be replaced, on POSIX")

BEGUN = Begun(FORMAT, {"seed": 7}, {"believer": "0.1.0"})
TRIAL = Trial(0, {"x": 0.1, "kernel": "rbf"}, np.array([0.1, 1.0, 0.0]), "KB", "model")
STUDY: list[Event] = [
    BEGUN,
    Asked((TRIAL,), {"q": 1}, {"lengthscales": [0.3, 1e-300]}),
    Told(0, Outcome.of(-0.0)),
    Failed(1, "out of memory\n\u2028\0"),
    Observed(2, {"x": 0.5}, Outcome.of(1e12), None),
    Observed(3, {"x": 0.6}, None, "crash"),
    Enqueued({"x": 1}),
    Abandoned(4),
]


def lines_of(events: list[Event]) -> list[bytes]:
    return [encode_event(event).encode() + b"\n" for event in events]


LINES = lines_of(STUDY)
WHOLE = b"".join(LINES)


def put(path: Path, data: bytes) -> None:
    """A new file: some file systems wait for the disk when an old one is truncated and written."""
    path.unlink(missing_ok=True)
    path.write_bytes(data)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One file for many Hypothesis examples, each of which overwrites it."""
    return tmp_path_factory.mktemp("journal") / "study.jsonl"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "study.jsonl"


# Events in, events out


def test_a_study_is_what_its_journal_says(path: Path) -> None:
    with closing(Journal.create(path, BEGUN)) as journal:
        for event in STUDY[1:]:
            journal.append(event)
    assert [all_bits(event) for event in read_events(path)] == [all_bits(event) for event in STUDY]
    assert path.read_bytes() == WHOLE


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"x": value}
    return value


@pytest.mark.parametrize(
    "event",
    [
        Told(True, Outcome.of(1.0)),
        Enqueued({"x": float("nan")}),
        Enqueued({"x": (1, 2)}),
        Enqueued({"x": object()}),
        Enqueued({1: 2}),  # type: ignore[dict-item]
        Enqueued({1: 2, "1": 3}),  # type: ignore[dict-item]
        Enqueued(nested(100_000)),
        Observed(1, {}, None, None),
        Begun(FORMAT + 1, {}, {}),
    ],
    ids=lambda event: type(event).__name__,
)
def test_an_event_that_would_not_read_back_equal_is_never_written(path: Path, event: Event) -> None:
    with closing(Journal.create(path, BEGUN)) as journal:
        with pytest.raises(InvalidInput):
            journal.append(event)
        journal.append(Told(1, Outcome.of(2.0)))
    assert read_events(path) == [BEGUN, Told(1, Outcome.of(2.0))]


# Cuts and damage


@pytest.mark.parametrize("nuls", [0, 1, 4096])
def test_a_file_cut_at_any_byte_gives_the_events_whose_lines_are_complete(path: Path, nuls: int) -> None:
    for cut in range(len(WHOLE) + 1):
        put(path, WHOLE[:cut] + b"\0" * nuls)
        complete = WHOLE[:cut].count(b"\n")
        if complete == 0:
            with pytest.raises(JournalError, match="delete it and begin again"):
                read_events(path)
        else:
            assert read_events(path) == STUDY[:complete]


def test_zeros_inside_a_finished_line_are_damage(path: Path) -> None:
    *before, last = LINES
    put(path, b"".join(before) + b"\0" * (len(last) - 3) + last[-3:])
    with pytest.raises(JournalCorrupt) as caught:
        read_events(path)
    assert caught.value.line == len(STUDY)


@given(st.lists(st.one_of(*(EVENTS[cls] for cls in EVENTS if cls is not Begun)), max_size=5), st.data())
@settings(max_examples=50)
def test_any_study_cut_anywhere_gives_a_prefix_or_says_that_nothing_is_there(
    scratch: Path, events: list[Event], data: st.DataObject
) -> None:
    study = [BEGUN, *events]
    whole = b"".join(lines_of(study))
    cut = data.draw(st.integers(0, len(whole)))
    put(scratch, whole[:cut])
    complete = whole[:cut].count(b"\n")
    if complete == 0:
        with pytest.raises(JournalError):
            read_events(scratch)
    else:
        assert read_events(scratch) == study[:complete]


@given(st.integers(0, len(WHOLE) - 1), st.binary(min_size=1, max_size=1))
@example(len(WHOLE) - 1, b"x")
@example(WHOLE[:-1].rindex(b"\n"), b"\0")
@settings(max_examples=300)
def test_one_damaged_byte_never_touches_another_event(scratch: Path, where: int, byte: bytes) -> None:
    """Without a checksum a digit may turn into another; but no other line changes, and no foreign exception comes."""
    put(scratch, WHOLE[:where] + byte + WHOLE[where + 1 :])
    damaged = WHOLE[:where].count(b"\n")
    last = len(STUDY) - 1
    events: list[Event] = []
    corrupt = 0
    try:
        events = read_events(scratch)
    except JournalCorrupt as error:
        corrupt = error.line
    except JournalTooNew:
        assert damaged == 0
        return
    if corrupt:
        assert corrupt == damaged + 1
    else:
        assert len(events) == len(STUDY) or (len(events) == last and damaged == last)
        rest = [i for i in range(len(events)) if i != damaged]
        assert [events[i] for i in rest] == [STUDY[i] for i in rest]


@given(st.binary(max_size=200))
@example(b"\xff\xfe\n\n")
@example(b"PK\x03\x04\n")
@settings(max_examples=100)
def test_garbage_is_a_journal_error(scratch: Path, garbage: bytes) -> None:
    put(scratch, garbage)
    with pytest.raises(JournalError):
        read_events(scratch)
    with pytest.raises(JournalError):
        Journal.open(scratch)
    assert scratch.read_bytes() == garbage


@pytest.mark.parametrize("damage", [b"\xff\xfe\n", b"{}\n", b"\n", b'{"kind":"sold","id":1}\n', lines_of([BEGUN])[0]])
def test_a_line_that_was_complete_and_makes_no_sense_is_corrupt(path: Path, damage: bytes) -> None:
    for place in range(1, len(LINES)):
        damaged = b"".join([*LINES[:place], damage, *LINES[place + 1 :]])
        put(path, damaged)
        with pytest.raises(JournalCorrupt, match=f"line {place + 1} of .*go on from line {place}") as caught:
            read_events(path)
        assert caught.value.line == place + 1
        with pytest.raises(JournalCorrupt):
            Journal.open(path)
        assert path.read_bytes() == damaged


@pytest.mark.parametrize("version", range(2, FORMAT + 1))
def test_a_line_that_was_acknowledged_is_missed_whatever_becomes_of_its_newline(path: Path, version: int) -> None:
    events = [replace(BEGUN, format=version), *STUDY[1:]]
    lines = [encode_event(event, version).encode() + b"\n" for event in events]
    others = [bytes([ord("\n") ^ (1 << bit)]) for bit in range(8)]
    for place in range(len(lines)):
        for other in (*others, b"\r", b" ", b"\0x", b'x{"kind":"tol', b"x" + lines[-1][:-1]):
            damaged = b"".join(lines[: place + 1])[:-1] + other
            put(path, damaged)
            for read in (read_events, Journal.open):
                with pytest.raises(JournalCorrupt, match=f"line {place + 1} .*newline") as caught:
                    read(path)
                assert caught.value.line == place + 1
            with pytest.raises(JournalError):
                Journal.create(path, BEGUN)
            assert path.read_bytes() == damaged


def test_a_line_that_lacks_nothing_but_its_newline_was_never_acknowledged(path: Path) -> None:
    for torn in (LINES[-1][:-1], LINES[-1][:-1] + b"\0", LINES[-1][:-1] + b"\0" * 4096):
        put(path, b"".join(LINES[:-1]) + torn)
        assert read_events(path) == STUDY[:-1]
        journal, events = Journal.open(path)
        journal.close()
        assert events == STUDY[:-1]
        assert path.read_bytes() == b"".join(LINES[:-1])


def test_a_last_line_of_invalid_utf8_without_its_newline_is_torn(path: Path) -> None:
    put(path, WHOLE + b"\xff\xfe")
    assert read_events(path) == STUDY


def test_the_first_event_must_be_begun(path: Path) -> None:
    put(path, b"".join(lines_of(STUDY[1:])))
    with pytest.raises(JournalCorrupt, match="must be begun") as caught:
        read_events(path)
    assert caught.value.line == 1


@pytest.mark.parametrize(
    "first",
    [
        {"kind": "begun", "format": FORMAT + 1, "config": {}, "versions": {}},
        {"kind": "begun", "format": FORMAT + 8, "settings": [], "host": None},
    ],
)
def test_a_newer_journal_is_too_new_and_not_corrupt(path: Path, first: dict[str, Any]) -> None:
    path.write_text(json.dumps(first) + '\n{"kind":"paused"}\nnot even JSON\n')
    with pytest.raises(JournalTooNew, match=f"format {first['format']}.* format {FORMAT}"):
        read_events(path)
    with pytest.raises(JournalTooNew):
        Journal.open(path)


def test_a_missing_file_and_a_directory_are_journal_errors(tmp_path: Path) -> None:
    for attempt in (read_events, Journal.open):
        for wrong in (tmp_path / "missing", tmp_path):
            with pytest.raises(JournalError, match="Check the path"):
                attempt(wrong)
    assert list(tmp_path.iterdir()) == []


# Writing


@pytest.mark.parametrize("torn", [b'{"kind":"told","id":9,"val', b'{"kind":"abandoned","id":9}', b"\0\0\0", b"\xff"])
def test_appending_after_a_torn_line_gives_a_clean_file(path: Path, torn: bytes) -> None:
    put(path, WHOLE + torn)
    journal, events = Journal.open(path)
    assert events == STUDY
    assert path.read_bytes() == WHOLE
    journal.append(Abandoned(10))
    journal.close()
    assert path.read_bytes() == WHOLE + b"".join(lines_of([Abandoned(10)]))


def test_create_refuses_a_file_with_content_and_takes_an_empty_one(path: Path) -> None:
    put(path, b"diary")
    with pytest.raises(JournalError, match=r"use Optimizer\.load\(path\) to go on"):
        Journal.create(path, BEGUN)
    assert path.read_bytes() == b"diary"
    put(path, b"")
    Journal.create(path, BEGUN).close()
    assert read_events(path) == [BEGUN]


def test_create_needs_a_directory(tmp_path: Path) -> None:
    for attempt in (lambda p: Journal.create(p, BEGUN), lambda p: write_events(p, STUDY)):
        with pytest.raises(JournalError, match="Its directory must exist"):
            attempt(tmp_path / "missing" / "study.jsonl")


def test_a_begun_that_cannot_be_written_leaves_no_file(path: Path) -> None:
    with pytest.raises(InvalidInput):
        Journal.create(path, Begun(FORMAT, {"x": float("nan")}, {}))
    assert not path.exists()


def test_a_closed_journal_refuses_and_may_be_closed_again(path: Path) -> None:
    journal = Journal.create(path, BEGUN)
    journal.close()
    journal.close()
    with pytest.raises(JournalError, match="was closed"):
        journal.append(Told(0, Outcome.of(1.0)))
    assert read_events(path) == [BEGUN]


def test_begun_is_written_once(path: Path) -> None:
    with closing(Journal.create(path, BEGUN)) as journal, pytest.raises(InvalidInput, match="must be begun"):
        journal.append(BEGUN)
    assert read_events(path) == [BEGUN]


def test_a_journal_cannot_be_pickled(path: Path) -> None:
    with closing(Journal.create(path, BEGUN)) as journal, pytest.raises(TypeError, match="pass its path"):
        pickle.dumps(journal)


def test_the_path_stays_right_when_the_working_directory_changes(
    path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path.parent)
    with closing(Journal.create(path.name, BEGUN)) as journal:
        monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
        assert journal.path.samefile(path)


def test_short_writes_are_completed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, bytes(data)[:3]))
    with closing(Journal.create(path, BEGUN)) as journal:
        journal.append(STUDY[1])
    assert read_events(path) == STUDY[:2]


def half_then(error: BaseException) -> Callable[[int, Any], int]:
    write = os.write
    calls: list[int] = []

    def fail(fd: int, data: Any) -> int:
        calls.append(fd)
        if len(calls) > 1:
            raise error
        return write(fd, bytes(data)[: len(data) // 2])

    return fail


@pytest.mark.parametrize("fault", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_a_write_that_fails_halfway_leaves_the_file_as_it_was(
    path: Path, monkeypatch: pytest.MonkeyPatch, fault: BaseException
) -> None:
    with closing(Journal.create(path, BEGUN)) as journal:
        before = path.read_bytes()
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", half_then(fault))
            with pytest.raises(JournalError if isinstance(fault, OSError) else KeyboardInterrupt) as caught:
                journal.append(Told(0, Outcome.of(1.0)))
        if isinstance(fault, OSError):
            assert "No space left on device" in str(caught.value)
            assert caught.value.__cause__ is fault
        assert path.read_bytes() == before
        journal.append(Told(0, Outcome.of(1.0)))
    assert read_events(path) == [BEGUN, Told(0, Outcome.of(1.0))]


def test_an_event_that_cannot_be_synced_is_taken_back(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(fd: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with closing(Journal.create(path, BEGUN)) as journal:
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", fail)
            with pytest.raises(JournalError, match="Input/output error"):
                journal.append(Told(0, Outcome.of(1.0)))
        assert read_events(path) == [BEGUN]


def test_a_write_that_cannot_be_undone_closes_the_journal(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(fd: int, length: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    journal = Journal.create(path, BEGUN)
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", half_then(OSError(errno.ENOSPC, "No space left on device")))
        patch.setattr(os, "ftruncate", fail)
        with pytest.raises(JournalError, match="could not be undone"):
            journal.append(Told(0, Outcome.of(1.0)))
    with pytest.raises(JournalError, match="closed after a write that failed"):
        journal.append(Told(0, Outcome.of(1.0)))
    with closing(Journal.open(path)[0]) as again:
        again.append(Told(0, Outcome.of(1.0)))
    assert read_events(path) == [BEGUN, Told(0, Outcome.of(1.0))]


def test_a_failed_create_can_be_repeated(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", half_then(OSError(errno.ENOSPC, "No space left on device")))
        with pytest.raises(JournalError, match="No space left"):
            Journal.create(path, BEGUN)
    Journal.create(path, BEGUN).close()
    assert read_events(path) == [BEGUN]


def test_every_append_is_synced_after_it_is_written(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    fsync = os.fsync

    def record(fd: int) -> None:
        synced.append(-1 if stat.S_ISDIR(os.fstat(fd).st_mode) else path.stat().st_size)
        fsync(fd)

    monkeypatch.setattr(os, "fsync", record)
    with closing(Journal.create(path, BEGUN)) as journal:
        directory = [] if sys.platform == "win32" else [-1]
        assert synced == [len(lines_of([BEGUN])[0]), *directory]
        journal.append(Told(0, Outcome.of(1.0)))
        assert synced[-1] == len(b"".join(lines_of([BEGUN, Told(0, Outcome.of(1.0))])))


@posix_only
def test_a_deleted_journal_takes_no_more_events(path: Path) -> None:
    with closing(Journal.create(path, BEGUN)) as journal:
        path.unlink()
        with pytest.raises(JournalError, match="deleted or replaced"):
            journal.append(Told(0, Outcome.of(1.0)))


# Saving


def test_save_replaces_the_whole_file(path: Path) -> None:
    write_events(path, STUDY)
    assert path.read_bytes() == WHOLE
    write_events(path, iter(STUDY[:2]))
    assert read_events(path) == STUDY[:2]
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("step", ["write", "fsync", "replace"])
def test_a_save_that_fails_leaves_the_old_file_and_nothing_else(
    path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def fail(*args: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    write_events(path, STUDY[:3])
    with monkeypatch.context() as patch:
        patch.setattr(os, step, half_then(OSError(errno.ENOSPC, "No space left")) if step == "write" else fail)
        with pytest.raises(JournalError, match="No space left"):
            write_events(path, STUDY)
    assert read_events(path) == STUDY[:3]
    assert os.listdir(path.parent) == [path.name]
    Journal.open(path)[0].close()


def test_save_is_on_the_disk_before_it_takes_the_place_of_the_old_file(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []

    def recorded(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            steps.append(name)
            return real(*args)

        return call

    for name in ("write", "fsync", "replace"):
        monkeypatch.setattr(os, name, recorded(name, getattr(os, name)))
    write_events(path, STUDY)
    assert steps[:3] == ["write", "fsync", "replace"]


@pytest.mark.parametrize("events", [[], STUDY[1:], [BEGUN, BEGUN]], ids=["none", "headless", "twice"])
def test_save_refuses_what_could_not_be_loaded(path: Path, events: list[Event]) -> None:
    with pytest.raises(InvalidInput, match="must be begun"):
        write_events(path, events)
    assert not path.exists()


def test_save_refuses_a_journal_in_use(path: Path) -> None:
    with closing(Journal.create(path, BEGUN)) as journal:
        with pytest.raises(JournalLocked):
            write_events(path, STUDY)
        journal.append(Told(0, Outcome.of(1.0)))
    assert read_events(path) == [BEGUN, Told(0, Outcome.of(1.0))]
    write_events(path, STUDY)
    assert read_events(path) == STUDY


@posix_only
def test_save_follows_links_and_keeps_the_file_private(path: Path) -> None:
    write_events(path, STUDY)
    path.chmod(0o600)
    link = path.with_name("link")
    link.symlink_to(path)
    write_events(link, STUDY[:2])
    assert link.is_symlink()
    assert read_events(path) == STUDY[:2]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


# The lock


def test_a_second_journal_in_this_process_is_refused_until_the_first_is_closed(path: Path) -> None:
    journal = Journal.create(path, BEGUN)
    who = rf"another process, or by another Optimizer in this one: .+ on .* \(process {os.getpid()}\) since \d{{4}}-"
    with pytest.raises(JournalLocked, match=who):
        Journal.open(path)
    with pytest.raises(JournalLocked):
        Journal.create(path, BEGUN)
    assert read_events(path) == [BEGUN]
    journal.close()
    assert [one.name for one in path.parent.iterdir()] == [path.name]
    with closing(Journal.open(path)[0]), pytest.raises(JournalLocked):
        Journal.open(path)
    Journal.open(path)[0].close()


def test_what_a_killed_writer_has_left_beside_a_journal_changes_nothing(path: Path) -> None:
    Journal.create(path, BEGUN).close()
    note = Path(f"{path}.lock")
    for left in ("", "{}", "[1]", '{"user": "\\n", "host": 1, "process": 2, "since": 1e99}', "x" * 5000):
        note.write_text(left, encoding="utf-8")
        Journal.open(path)[0].close()
        assert not note.exists()
        journal, _ = Journal.open(path)
        note.write_text(left, encoding="utf-8")
        with pytest.raises(JournalLocked, match=r"in this one\. Close"):
            Journal.open(path)
        journal.close()


def test_a_journal_that_failed_to_open_is_not_left_locked(path: Path) -> None:
    put(path, b"\n".join([lines_of([BEGUN])[0], b"junk", b"junk"]))
    with pytest.raises(JournalCorrupt) as caught:
        Journal.open(path)
    assert caught.value.line == 2
    write_events(path, STUDY)
    assert read_events(path) == STUDY


def test_a_dropped_journal_frees_its_lock(path: Path) -> None:
    journal = Journal.create(path, BEGUN)
    del journal
    gc.collect()
    Journal.open(path)[0].close()


@posix_only
def test_a_lock_on_a_file_that_was_replaced_meanwhile_does_not_count(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_events(path, STUDY[:2])
    other = path.with_name("other")
    write_events(other, STUDY)
    try_lock = module._try_lock

    def replace_first(fd: int) -> bool:
        if other.exists():
            os.replace(other, path)
        return try_lock(fd)

    monkeypatch.setattr(module, "_try_lock", replace_first)
    journal, events = Journal.open(path)
    with closing(journal):
        assert events == STUDY
        journal.append(Abandoned(9))
    assert read_events(path) == [*STUDY, Abandoned(9)]


def test_a_lock_that_the_file_system_refuses_is_a_journal_error(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(fd: int) -> bool:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(module, "_try_lock", fail)
    with pytest.raises(JournalError, match="No locks available") as caught:
        Journal.create(path, BEGUN)
    assert not isinstance(caught.value, JournalLocked)


def start(code: str, *args: object) -> subprocess.Popen[str]:
    rooms = {"events": "*", "formats": "FORMAT", "journal": "*", "outcome": "Outcome"}
    imports = "import os, sys, time\n" + "".join(
        f"from believer.study.{room} import {what}\n" for room, what in rooms.items()
    )
    header = imports + "BEGUN = Begun(FORMAT, {}, {})\n"
    command = [sys.executable, "-c", header + textwrap.dedent(code), *map(str, args)]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=sys.platform != "win32"
    )


def next_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_a_second_process_is_refused_until_the_first_ends(path: Path) -> None:
    code = """
        journal = Journal.create(sys.argv[1], BEGUN)
        print("open", flush=True)
        sys.stdin.readline()
    """
    with start(code, path) as process:
        assert next_line(process) == "open"
        for attempt in (Journal.open, lambda p: Journal.create(p, BEGUN), lambda p: write_events(p, STUDY)):
            with pytest.raises(JournalLocked):
                attempt(path)
        assert len(read_events(path)) == 1
        process.communicate("\n")
    assert process.returncode == 0
    Journal.open(path)[0].close()


def test_a_killed_writer_loses_nothing_that_was_acknowledged_and_holds_no_lock(path: Path) -> None:
    code = """
        from itertools import count
        journal = Journal.create(sys.argv[1], BEGUN)
        for i in count():
            journal.append(Told(i, Outcome.of(i / 7)))
            print(i, flush=True)
    """
    with start(code, path) as process:
        seen = [next_line(process) for _ in range(30)]
        process.kill()
        assert process.stdout is not None
        seen += [line for line in process.stdout.read().split("\n") if line]
    journal, events = Journal.open(path)
    journal.close()
    assert events[1 : len(seen) + 1] == [Told(i, Outcome.of(i / 7)) for i in range(len(seen))]
    assert len(events) - 1 - len(seen) in (0, 1)


@posix_only
def test_workers_that_outlive_a_killed_writer_do_not_keep_its_lock(path: Path) -> None:
    code = """
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context

        def work(_):
            os.write(1, b"%d\\n" % os.getpid())  # whole lines, where prints of two workers may mingle
            time.sleep(6000)

        journal = Journal.create(sys.argv[1], BEGUN)
        pool = ProcessPoolExecutor(2, mp_context=get_context("fork"))
        list(pool.map(work, range(2)))
    """
    with start(code, path) as process:
        try:
            workers = [int(next_line(process)) for _ in range(2)]
            with pytest.raises(JournalLocked):
                Journal.open(path)
            process.kill()
            process.wait()
            for worker in workers:
                os.kill(worker, 0)
            Journal.open(path)[0].close()
        finally:
            if sys.platform != "win32":
                os.killpg(process.pid, signal.SIGKILL)


@posix_only
def test_in_a_forked_child_the_journal_is_closed_and_the_parent_keeps_the_lock(path: Path) -> None:
    code = """
        from believer.errors import JournalError
        journal = Journal.create(sys.argv[1], BEGUN)
        child = os.fork()
        if child == 0:
            try:
                journal.append(Told(0, Outcome.of(1.0)))
            except JournalError as error:
                print(error, flush=True)
            journal.close()
            del journal
            os._exit(0)
        os.waitpid(child, 0)
        journal.append(Told(1, Outcome.of(2.0)))
        print("appended", flush=True)
        sys.stdin.readline()
    """
    with start(code, path) as process:
        assert "a fork of its writer" in next_line(process)
        assert next_line(process) == "appended"
        with pytest.raises(JournalLocked):
            Journal.open(path)
        process.communicate("\n")
    assert read_events(path)[1:] == [Told(1, Outcome.of(2.0))]
