"""An exception may come at any line of a call: file and memory agree afterwards, and the study goes on."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from interrupting import ROOM, Interrupt, interrupted_at

from believer import Float, Int, Multistart, Optimizer, Space, replay
from believer.errors import JournalError
from believer.study.events import Event
from believer.study.journal import read_events

SPACE = Space({"x": Float(-5.0, 10.0), "n": Int(1, 50)})
POINT = {"x": 0.5, "n": 7}


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Optimizer]:
    """A study of three results and two pending trials at a path, made once and then copied."""
    made = tmp_path_factory.mktemp("begun") / "study.jsonl"
    quick = Multistart(starts=1, candidates=8, neighbors=2)
    with Optimizer(SPACE, journal=made, n_init=2, seed=3, maximizer=quick) as study:
        for trial in study.ask(3):
            study.tell(trial, float(trial.params["n"]))
        study.ask(2)
    whole = made.read_bytes()

    def copied(path: Path) -> Optimizer:
        path.write_bytes(whole)
        return Optimizer.load(path)

    return copied


CALLS: dict[str, Callable[[Optimizer], object]] = {
    "tell": lambda study: study.tell(3, 0.5),
    "fail": lambda study: study.tell(3, error="it broke"),
    "tell_many": lambda study: study.tell_many([3, 4], [0.5, 0.25]),
    "observe": lambda study: study.observe(POINT, 0.5),
    "enqueue": lambda study: study.enqueue(POINT),
    "abandon": lambda study: study.abandon(3),
    "look": lambda study: study.best,
}


def known(study: Optimizer) -> tuple[Any, ...]:
    """What memory says, by all of its books."""
    return study.events, study.records(), study.counts, study.queued, study.pending, study.best


def agree(study: Optimizer, path: Path) -> list[Event]:
    """File and memory say the same: the events of both."""
    events = read_events(path)
    assert list(study.events) == events
    study.close()
    loaded = Optimizer.load(path)
    assert known(loaded) == known(study)
    loaded.close()
    return events


@pytest.mark.parametrize("name", CALLS)
def test_an_interrupt_at_any_line_leaves_file_and_memory_agreed(
    tmp_path: Path, begun: Callable[[Path], Optimizer], name: str
) -> None:
    """Every line that the call runs, one after the other; what is called next finds a whole study."""
    line, happened = 0, 0
    path = tmp_path / "study.jsonl"
    while True:
        line += 1
        study = begun(path)
        before = len(study.events)
        if not interrupted_at(line, partial(CALLS[name], study)):
            break
        after = len(study.events)
        assert after - before in (0, 1, 2)
        happened += after > before
        study.observe({"x": 1.5, "n": 9}, 2.0)
        assert len(study.events) == after + 1
        agree(study, path)
    study.close()
    assert line > 10
    if name != "look":
        assert 0 < happened < line


def test_an_interrupt_in_memory_alone_leaves_a_whole_study() -> None:
    line = 0
    while True:
        line += 1
        study = Optimizer(SPACE, seed=0)
        study.ask(2)
        before = known(study)
        if not interrupted_at(line, partial(study.observe, POINT, 0.5)):
            break
        assert len(study.trials) == len(study.records()) == 2 + (len(study.events) - len(before[0]))
        if len(study.events) == len(before[0]):
            assert known(study) == before
        study.observe(POINT, 0.25)
        assert study.trials[-1].params == POINT


def test_an_interrupted_ask_hands_out_nothing_or_all_of_it(tmp_path: Path, begun: Callable[[Path], Optimizer]) -> None:
    """An ask is long: some of all of its lines, and all of the last ones, where it writes."""
    path = tmp_path / "study.jsonl"
    lines = 0

    def count(frame: FrameType, event: str, arg: object) -> Any:
        nonlocal lines
        if not frame.f_code.co_filename.startswith(ROOM):
            return None
        lines += event == "line"
        return count

    with begun(tmp_path / "first.jsonl") as study:
        study.ask(2)  # loads what is loaded on use: those lines are run once
    with begun(path) as study:
        before = sys.gettrace()
        sys.settrace(count)
        try:
            study.ask(2)
        finally:
            sys.settrace(before)
    for line in sorted({*range(1, lines, lines // 20), *range(lines - 150, lines, 5)}):
        study = begun(path)
        assert interrupted_at(line, partial(study.ask, 2))
        assert len(study.trials) in (5, 7)
        study.ask(1)
        agree(study, path)
        again = replay(path)
        assert again.identical, str(again)


AROUND: dict[str, Callable[[Path, Optimizer], object]] = {
    "close": lambda path, study: study.close(),
    "load": lambda path, study: Optimizer.load(path.with_name("other.jsonl")),
    "open": lambda path, study: Optimizer.open(path.with_name("new.jsonl"), SPACE, seed=0),
    "save": lambda path, study: study.save(path.with_name("saved.jsonl")),
    "to_csv": lambda path, study: study.to_csv(path.with_name("table.csv")),
}


@pytest.mark.filterwarnings("ignore")  # of a file that is closed because nobody has it any more
@pytest.mark.parametrize("name", AROUND)
@pytest.mark.parametrize("step", [29, pytest.param(13, marks=pytest.mark.slow("interrupts at more lines"))])
def test_no_lock_is_left_by_a_call_that_was_interrupted(
    tmp_path: Path, begun: Callable[[Path], Optimizer], name: str, step: int
) -> None:
    """At every line up to the hundredth, then at some: the same call, made again, is not refused."""
    path, line = tmp_path / "study.jsonl", 0
    while True:
        line += 1 if line < 100 else step
        begun(path.with_name("other.jsonl")).close()
        path.with_name("new.jsonl").unlink(missing_ok=True)
        study = begun(path)
        made: list[object] = []

        def call(study: Optimizer = study, made: list[object] = made) -> None:
            made.append(AROUND[name](path, study))

        interrupted = interrupted_at(line, call)
        for one in made:
            if isinstance(one, Optimizer):
                one.close()
        made.clear()
        again = AROUND[name](path, study)
        if isinstance(again, Optimizer):
            again.close()
        study.close()
        Optimizer.load(path).close()
        if not interrupted:
            break
    del study, made, again, call
    gc.collect()
    assert [file.name for file in tmp_path.iterdir() if file.suffix == ".tmp"] == []


def test_a_second_interrupt_while_the_first_is_made_good_is_made_good_too(
    tmp_path: Path, begun: Callable[[Path], Optimizer]
) -> None:
    """Between the line on the disk and the ledger, and again and again in the repair."""
    path = tmp_path / "study.jsonl"
    study = begun(path)
    before = len(study.events)
    apply = type(study._ledger).apply

    def fail(*_: object) -> None:
        raise Interrupt

    type(study._ledger).apply = fail  # type: ignore[method-assign, assignment]
    try:
        for _ in range(3):
            with pytest.raises(Interrupt):
                study.tell(3, 0.5)
    finally:
        type(study._ledger).apply = apply  # type: ignore[method-assign]
    assert len(study.events) == before + 1
    study.tell(4, 1.0)
    assert len(agree(study, path)) == before + 2


def test_a_disk_that_cannot_undo_closes_the_journal_and_says_load_again(
    tmp_path: Path, begun: Callable[[Path], Optimizer], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "study.jsonl"
    study = begun(path)
    events = study.events

    def fail(*_: object) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        patch.setattr(os, "ftruncate", fail)
        with pytest.raises(JournalError, match=r"could not be undone.*Optimizer\.load\(path\)"):
            study.tell(3, 0.5)
    assert study.events == events
    with pytest.raises(JournalError, match="was closed after a write that failed"):
        study.tell(3, 0.5)
    with Optimizer.load(path) as loaded:
        assert len(loaded.events) - len(events) in (0, 1)
