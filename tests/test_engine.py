"""The number of the engine that chose each stretch of a journal, and what a replay makes of it."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from journal_lines import checked, edited

from believer import Float, Minimize, Optimizer, Space, minimize, replay
from believer.batch import Chosen, Request
from believer.batch.request import Choice
from believer.errors import InvalidInput, JournalCorrupt
from believer.study.events import Asked, Begun, Upgraded
from believer.study.formats import FORMAT, decode_event, encode_event
from believer.study.settings import ENGINE

SPACE = Space({"x": Float(0.0, 1.0), "y": Float(0.0, 1.0)})
OLDER = Path(__file__).parent / "journals" / "format3" / "kb_cube.jsonl"


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def go_on(opt: Optimizer, rounds: int = 2) -> None:
    for _ in range(rounds):
        for trial in opt.ask(2):
            opt.tell(trial, float(((trial.encoded - 0.3) ** 2).sum()))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A journal of this engine: line 1 begun, 2 asked, 3 and 4 told, 5 asked, 6 and 7 told."""
    path = tmp_path / "study.jsonl"
    with Optimizer(SPACE, journal=path, n_init=2, seed=0) as opt:
        go_on(opt)
    return path


def by_engine_1(path: Path) -> None:
    """The journal as the engine before this one would have written it, which chose another point in line 5."""

    def another(record: dict[str, Any]) -> None:
        record["trials"][0].update(params={"x": 0.125, "y": 0.25}, unit=[0.125, 0.25])

    edited(path, lambda record: record.update(engine=1))
    edited(path, another, line=5)


def test_the_first_line_says_the_engine_and_nothing_else_does_while_it_stays(path: Path) -> None:
    with Optimizer.load(path) as opt:
        go_on(opt, 1)
    lines = lines_of(path)
    assert lines[0]["engine"] == ENGINE
    assert not any("engine" in line for line in lines[1:])
    assert all({*line["model"]} == {"outputs"} for line in lines if line.get("model"))
    assert str(replay(path)) == "3 asks replayed, every suggestion identical"


def test_a_newer_engine_says_so_where_it_goes_on_and_replay_judges_each_stretch_by_its_own(path: Path) -> None:
    by_engine_1(path)
    before = path.read_bytes()
    with Optimizer.load(path) as opt:
        assert path.read_bytes() == before, "loading alone changes nothing"
        go_on(opt)
    with Optimizer.load(path) as opt:
        go_on(opt, 1)
    lines = lines_of(path)
    assert [(i, line["format"], line["engine"]) for i, line in enumerate(lines, 1) if "engine" in line] == [
        (1, FORMAT, 1),
        (8, FORMAT, ENGINE),
    ]
    found = replay(path)
    assert (found.identical, found.asks, found.older, found.engine) == (True, 3, 2, 1)
    assert f"2 asks were written by engine 1, this is engine {ENGINE}: choices differ" in str(found)
    assert "3 asks replayed, every suggestion identical" in str(found)
    edited(path, lambda record: record["trials"][1].update(params={"x": 0.5, "y": 0.5}, unit=[0.5, 0.5]), line=9)
    assert replay(path).line == 9


def test_of_an_older_stretch_everything_but_its_choices_is_checked(path: Path) -> None:
    by_engine_1(path)
    assert str(replay(path)) == f"2 asks were written by engine 1, this is engine {ENGINE}: choices differ"
    whole = path.read_bytes()
    for line, change, words in (
        (5, lambda r: r["request"].update(distinct=3), "not an ask that can be repeated"),
        (5, lambda r: r["trials"][0].update(id=7), "does not follow"),
        (6, lambda r: r.update(id=9), "does not follow"),
    ):
        path.write_bytes(whole)
        edited(path, change, line=line)
        with pytest.raises(JournalCorrupt, match=words) as caught:
            replay(path)
        assert caught.value.line == line


def test_a_journal_without_a_number_is_of_the_first_engine(tmp_path: Path) -> None:
    path = Path(shutil.copy(OLDER, tmp_path))
    assert "engine" not in lines_of(path)[0]
    asks = sum(line["kind"] == "asked" for line in lines_of(path))
    assert str(replay(path)) == f"{asks} asks were written by engine 1, this is engine {ENGINE}: choices differ"
    with Optimizer.load(path) as opt:
        begun = opt.events[0]
        assert isinstance(begun, Begun)
        assert begun.engine == 1
        opt.ask(1)
        assert [(e.format, e.engine) for e in opt.events if isinstance(e, Upgraded)] == [(FORMAT, ENGINE)]
        assert isinstance(opt.events[-1], Asked)
        assert opt.events[-1].model is not None
        assert {*opt.events[-1].model} == {"outputs"}
    assert (replay(path).asks, replay(path).identical) == (1, True)


def test_a_change_after_an_older_stretch_is_replayed_from_the_change_on(path: Path) -> None:
    by_engine_1(path)
    wider = Space({"x": Float(0.0, 2.0), "y": Float(0.0, 1.0), "z": Float(0.0, 1.0, backfill=0.5)})
    with Optimizer.open(path, wider, change=True, strategy="kb") as opt:
        go_on(opt)
    assert [line["kind"] for line in lines_of(path)[7:10]] == ["upgraded", "changed", "asked"]
    found = replay(path)
    assert (found.identical, found.asks, found.older) == (True, 2, 2)


def test_a_damaged_newline_of_a_change_is_noticed(path: Path) -> None:
    with Optimizer.open(path, SPACE, change=True, strategy="kb"):
        pass
    whole = path.read_bytes()
    for bit in range(8):
        path.write_bytes(whole[:-1] + bytes([whole[-1] ^ (1 << bit)]))
        with pytest.raises(JournalCorrupt, match=r"line 8 .*newline"):
            Optimizer.load(path)


@dataclass(frozen=True)
class Middle:
    """A strategy of a user's own."""

    def choose(self, request: Request, memory: object = None) -> Chosen:
        return Chosen(tuple(Choice(np.full(request.region.dim, 0.5), "the middle") for _ in request.ids))


@pytest.mark.parametrize("before", [True, False])
def test_what_is_custom_before_or_after_a_change_is_passed_for_its_own_stretch(before: bool, tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    strategies: list[Any] = [Middle(), "kb"] if before else ["kb", Middle()]
    with Optimizer(SPACE, journal=path, n_init=2, strategy=strategies[0], seed=0) as opt:
        go_on(opt, 1)
        opt.ask(1, distinct=False)
    with Optimizer.open(path, SPACE, change=True, strategy=strategies[1]) as opt:
        opt.ask(1, distinct=False)
    Optimizer.load(path, strategy=None if before else Middle()).close()
    assert replay(path, strategy=Middle()).identical
    with pytest.raises(InvalidInput, match="custom strategy"):
        replay(path)


@pytest.mark.parametrize("engine", [0, -1, True, "2", None, 1.0])
def test_what_is_no_number_of_an_engine_is_damage(engine: Any, path: Path) -> None:
    edited(path, lambda record: record.update(engine=engine))
    with pytest.raises(JournalCorrupt, match=r"line 1 .*engine"):
        Optimizer.load(path)


def test_formats_before_the_fourth_have_no_number_and_no_changes() -> None:
    for event in (Begun(3, {}, {}), Upgraded(3, {})):
        line = encode_event(event, 3)
        assert "engine" not in line
        assert decode_event(line, 3) == event
        with pytest.raises(InvalidInput, match="exactly the fields"):
            decode_event(line, 4)
    with pytest.raises(InvalidInput, match="format 3 of a journal has no line of the kind changed"):
        decode_event(checked({"kind": "changed", "config": {}}), 3)


def test_other_goals_bring_what_is_usual_for_them(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    both = {"a": Minimize(), "b": Minimize()}
    with Optimizer(SPACE, journal=path, outcomes=both, reference={"a": 3.0, "b": 3.0}, n_init=2, seed=0) as opt:
        for trial in opt.ask(3):
            opt.tell(trial, {"a": float(trial.encoded.sum()), "b": float(trial.encoded[0])})
        several = opt.settings
    found = minimize(
        lambda p: {"a": p["x"]}, SPACE, 5, journal=path, change=True, outcomes={"a": Minimize()}, progress=False
    )
    one = found.optimizer.settings
    assert (several.failures, one.failures) == ("learn", "worst")
    assert one.reference is None
    assert one.acquisition == Optimizer(SPACE, seed=0).settings.acquisition
    with Optimizer.load(path) as opt:
        assert opt.outcomes[0].names == {"a", "b"}, "what was told is kept"
        opt.amend(0, {"a": 0.25})
        opt.ask(1)
    assert replay(path).identical
