"""Nothing is let in: odd paths, files that are no files, journals that disagree with themselves or were touched."""

from __future__ import annotations

import copy
import csv
import os
import re
import stat
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each import each
from hypothesis import example, given, settings
from hypothesis import strategies as st
from journal_lines import edited

import believer as bv
from believer import Categorical, Float, Int, Optimizer, Space, minimize, read_study, replay
from believer.batch.request import Choice, Chosen, Request
from believer.errors import BelieverError, InvalidInput, JournalCorrupt, JournalError
from believer.numerics.sampling import latin_hypercube
from believer.study.journal import is_begun
from believer.study.table import unwritten, written

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="devices, pipes and links are of POSIX")

SPACE = Space({"x": Float(-5.0, 10.0), "n": Int(1, 50), "kind": Categorical(["a", "b"])})


def studied(path: Path | None = None, results: int = 4) -> Optimizer:
    study = Optimizer(SPACE, journal=path, n_init=2, seed=3)
    for trial in study.ask(results):
        study.tell(trial, float(trial.params["n"]))
    return study


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A journal: begun, asked for four, told four, asked for two by the model, one enqueued."""
    path = tmp_path / "study.jsonl"
    with studied(path) as study:
        study.ask(2)
        study.enqueue({"x": 1.0, "n": 2, "kind": "a"})
    return path


class Text:
    def __fspath__(self) -> bytes:
        return b"study.jsonl"


class Broken:
    def __fspath__(self) -> str:
        raise RuntimeError("no")


DOORS: dict[str, Callable[[Any], object]] = {
    "load": Optimizer.load,
    "open": lambda path: Optimizer.open(path, SPACE, seed=0),
    "journal": lambda path: Optimizer(SPACE, journal=path, seed=0),
    "save": lambda path: studied().save(path),
    "to_csv": lambda path: studied().to_csv(path),
    "read_study": read_study,
    "replay": replay,
    "minimize": lambda path: minimize(lambda params: 1.0, SPACE, budget=1, journal=path, progress=False, q=3, seed=0),
}


@each("door", [name for name in DOORS if name != "minimize"])
@each("odd", [3, None, b"study.jsonl", "", "a\0b", Text(), Broken(), 1.5, ["study.jsonl"]])
def test_what_is_no_path_is_invalid_input(door: str, odd: Any) -> None:
    if door == "journal" and odd is None:
        return
    with pytest.raises(InvalidInput, match="must be a path; got"):
        DOORS[door](odd)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    "odd", ["there/is/none", "x" * 5000, "folder", "file/below", pytest.param("\ud800", id="surrogate")], ids=ascii
)
def test_a_path_that_leads_nowhere_is_a_journal_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, door: str, odd: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("file").write_text("here\n")
    with pytest.raises(JournalError):
        DOORS[door](odd)
    assert sorted(os.listdir()) == ["file", "folder"]


@posix_only
@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("linked", [False, True])
def test_a_pipe_is_refused_and_nothing_waits(tmp_path: Path, door: str, linked: bool) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    target = pipe
    if linked:
        target = tmp_path / "link"
        target.symlink_to(pipe)
    with pytest.raises(JournalError, match=r"not a regular file|not an earlier state"):
        DOORS[door](target)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@posix_only
@each("door", DOORS)
@each("device", ["/dev/zero", "/dev/null", "/dev/full"])
def test_a_device_is_neither_read_nor_replaced(door: str, device: str) -> None:
    """Where this process may replace it, the first is what every save of the past would have destroyed."""
    with pytest.raises(JournalError, match=r"not a regular file|not an earlier state"):
        DOORS[door](device)
    assert stat.S_ISCHR(os.stat(device).st_mode)


@posix_only
def test_links_are_followed_and_a_circle_is_refused(tmp_path: Path, path: Path) -> None:
    link, further, circle = tmp_path / "link", tmp_path / "further", tmp_path / "circle"
    link.symlink_to(path)
    further.symlink_to(link)
    circle.symlink_to(circle)
    with Optimizer.load(further) as study:
        study.observe({"x": 0.0, "n": 1, "kind": "a"}, 1.0)
        study.save(link)  # its own journal
        with pytest.raises(JournalError, match="one writer at a time"):
            Optimizer.load(path)
    assert further.is_symlink()
    assert read_study(further).counts == read_study(path).counts == study.counts
    for door in ("load", "read_study", "journal"):
        with pytest.raises(JournalError):
            DOORS[door](circle)


def test_a_line_that_never_ends_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("believer.study.line_file.LONGEST", 1000)
    path = tmp_path / "study.jsonl"
    path.write_bytes(b"{" * 5000)
    for door in ("load", "read_study", "open"):
        with pytest.raises(JournalError, match="a line of more than 1000 bytes"):
            DOORS[door](path)


# ------------------------------------------------------------------------------------------------- journals that lie


def the(line: int, change: Callable[[dict[str, Any]], object]) -> tuple[int, Callable[[dict[str, Any]], object]]:
    return line, change


def nested(levels: int) -> Any:
    deep: Any = 1
    for _ in range(levels):
        deep = [deep]
    return deep


ASKED, TOLD, MODEL, ENQUEUED = 2, 3, 7, 8

LIES: dict[str, tuple[int, Callable[[dict[str, Any]], object]]] = {
    "other params": the(ASKED, lambda e: e["trials"][1]["params"].__setitem__("x", 9.5)),
    "other unit": the(MODEL, lambda e: e["trials"][0]["unit"].__setitem__(0, 0.987654)),
    "other choice": the(MODEL, lambda e: e["trials"][1]["unit"].__setitem__(slice(2, 4), [0.5, 0.5])),
    "unit of text": the(ASKED, lambda e: e["trials"][0].__setitem__("unit", ["0.5"] * 4)),
    "unknown origin": the(ASKED, lambda e: e["trials"][0].__setitem__("origin", "observed")),
    "huge value": the(TOLD, lambda e: e["objectives"].__setitem__("value", 1e300)),
    "deep request": the(MODEL, lambda e: e.__setitem__("request", {"fixed": nested(450)})),
    "deeper model": the(MODEL, lambda e: e.__setitem__("model", {"lengthscales": nested(900)})),
    "deep config": the(1, lambda e: e["config"].__setitem__("surrogate", nested(600))),
    "enqueued nonsense": the(ENQUEUED, lambda e: e["params"].__setitem__("x", "far")),
    "enqueued too little": the(ENQUEUED, lambda e: e["params"].pop("x")),
    "enqueued outside": the(ENQUEUED, lambda e: e["params"].__setitem__("n", 51)),
    "a seed of text": the(1, lambda e: e["config"].__setitem__("seed", "7")),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_journal_that_disagrees_with_itself_is_corrupt_and_names_the_line(path: Path, lie: str) -> None:
    line, change = LIES[lie]
    edited(path, change, line)
    before = path.read_bytes()
    with pytest.raises(JournalCorrupt) as caught:
        Optimizer.load(path)
    assert caught.value.line == line
    if lie != "a seed of text":  # nobody who only looks needs one
        with pytest.raises(JournalCorrupt):
            read_study(path)
    assert path.read_bytes() == before


def test_a_trial_that_was_answered_cannot_be_abandoned_by_a_line(path: Path) -> None:
    def abandoned(event: dict[str, Any]) -> None:
        event.clear()
        event.update({"kind": "abandoned", "id": 0})

    edited(path, abandoned, ENQUEUED)
    with pytest.raises(JournalCorrupt, match="already has its result") as caught:
        Optimizer.load(path)
    assert caught.value.line == ENQUEUED


def test_params_and_unit_agree_to_rounding_in_every_space(tmp_path: Path) -> None:
    """What is refused is a lie, never the last digit of another processor."""
    odd = Space(
        {
            "far": Float(1e6, 1e6 + 1.0),
            "wide": Float(-1e300, 1e300),
            "log": Float(1e-300, 1e300, log=True),
            "narrow": Float(1.0, 1.0 + 1e-9),
            "narrow log": Float(1e9, 1e9 + 1.0, log=True),
            "step": Float(0.0, 1.0, step=0.1),
            "long": Int(-(2**40), 2**40),
            "one": Int(3, 3),
        }
    )
    path = tmp_path / "study.jsonl"
    with Optimizer(odd, journal=path, n_init=40, seed=0) as study:
        study.ask(40)
    rng = np.random.default_rng(0)

    def rounded(event: dict[str, Any]) -> None:
        for trial in event["trials"]:
            unit = np.array(trial["unit"])
            trial["unit"] = np.clip(unit * (1.0 + rng.choice([-1, 0, 1], len(unit)) * 2e-16), 0.0, 1.0).tolist()

    edited(path, rounded, 2)
    with Optimizer.load(path) as loaded:
        assert len(loaded.trials) == 40


# ------------------------------------------------------------------------------------- others who write to the journal


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


TOUCHES: dict[str, tuple[Callable[[Path], object], str]] = {
    "truncated": (lambda path: os.truncate(path, path.stat().st_size - 5), "truncated"),
    "emptied": (lambda path: os.truncate(path, 0), "truncated"),
    "a line appended": (lambda path: append(path, path.read_bytes().splitlines(keepends=True)[-1]), "appended to"),
    "half a line appended": (lambda path: append(path, b"{"), "appended to"),
}


@posix_only
@pytest.mark.parametrize("touch", TOUCHES)
def test_a_journal_that_another_wrote_to_is_noticed_before_the_next_append(path: Path, touch: str) -> None:
    change, word = TOUCHES[touch]
    study = Optimizer.load(path)
    events = study.events
    change(path)
    left = path.read_bytes()
    with pytest.raises(JournalError, match=f"was {word} by someone else"):
        study.tell(4, 1.0)
    assert path.read_bytes() == left
    assert study.events == events
    with pytest.raises(JournalError, match=f"closed because it was {word} by someone else"):
        study.tell(4, 1.0)
    other = path.with_name("saved.jsonl")
    study.save(other)  # nothing is lost
    with Optimizer.load(other) as loaded:
        loaded.tell(4, 1.0)


# ----------------------------------------------------------------------------------------------------- to be looked at


def test_a_running_study_can_be_watched_by_anyone(path: Path) -> None:
    with Optimizer.load(path) as study:
        watched = read_study(path)
        assert watched.records() == study.records()
        assert watched.pending == study.pending
        assert (watched.best, watched.counts, watched.queued) == (study.best, study.counts, study.queued)
        assert watched.outcomes == study.outcomes
        assert str(watched) == str(study)
        assert repr(watched) == "<Study: 4 results, 0 failed, 2 pending, 0 abandoned>"
        study.tell(4, -1.0)
        append(path, b'{"kind":"told","id":5,"obj')  # the writer is in the middle of a line
        again = read_study(path)
        assert again.best is not None
        assert again.best[1] == -1.0
        assert watched.counts.done == 4
    assert not hasattr(watched, "ask")


def test_watching_needs_neither_constraint_nor_custom_parts_and_a_maximum_is_one(tmp_path: Path) -> None:
    class Mine(type(bv.GP())):  # type: ignore[misc]
        pass

    path = tmp_path / "study.jsonl"
    space = Space({"x": Float(0.0, 1.0)}, lambda params: params["x"] > 0.1)
    with Optimizer(space, surrogate=Mine(), journal=path, maximize=True, seed=0) as study:
        for trial in study.ask(3):
            study.tell(trial, trial.params["x"])
        watched = read_study(path)
        assert watched.best == study.best
        assert str(watched).startswith("maximizing over x by hedged with LogEI(xi=0.0) on Mine, seed 0")


def test_watching_does_not_disturb_a_minimize(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    seen: list[int] = []

    def f(params: dict[str, Any]) -> float:
        watched = read_study(path)
        seen.append(watched.counts.done)
        assert params in [trial.params for trial in watched.pending]
        return float(params["x"])

    minimize(f, SPACE, budget=8, q=2, journal=path, progress=False, seed=0)
    assert seen == list(range(8))


# ------------------------------------------------------------------------------------------------------------- tables


def test_every_parameter_has_a_column_of_its_own(tmp_path: Path) -> None:
    names = ["value", "param.value", "param.param.value", "status", "error", "noise", "x"]
    study = Optimizer(Space({name: Float(0.0, 1.0) for name in names}), seed=0)
    for trial in study.ask(2):
        study.tell(trial, 0.5, noise=0.1)
    [row, _] = study.records()
    assert len(row) == 3 + len(names) + 1 + 3
    assert [row[column] for column in list(row)[3 : 3 + len(names)]] == list(study.trials[0].params.values())
    assert row["param.value"] == study.trials[0].params["param.value"]
    assert row["value"] == 0.5
    study.to_csv(tmp_path / "table.csv")
    with (tmp_path / "table.csv").open(newline="", encoding="utf-8") as file:
        [header, first, _] = csv.reader(file)
    assert header == list(row)
    assert len(first) == len(set(header))


FORMULAS = ["=1+1", "+cmd", "-2", "@sum", "'quoted", "\tx", "plain", '=HYPERLINK("x")', "a=b", ""]
FORMULAS += [
    "\n=1",
    "\r=1",
    "\uff1d1",
    "\uff0b1",
    "\uff0d1",
    "\uff201",
    " =1",
    "\u3000\xa0=1",
    "a;=1+1",
    "a; '=1\n-2",
    "a - b",
]
RISKY = re.compile("\\s*[=+@\uff1d\uff0b\uff0d\uff20-]|[\t\r\n]")


def test_no_cell_is_a_formula_and_what_it_was_can_be_had_back(tmp_path: Path) -> None:
    study = Optimizer(Space({"=name": Categorical(FORMULAS), "x": Float(-2.0, -1.0)}), seed=0)
    for text in FORMULAS:
        study.observe({"=name": text, "x": -1.5}, -0.5)
    study.tell(study.ask(1)[0], error="=cmd|' /C calc'!A0")
    for raw in (False, True):
        study.to_csv(tmp_path / "table.csv", raw=raw)
        with (tmp_path / "table.csv").open(newline="", encoding="utf-8") as file:
            header, *rows = csv.reader(file)
        cells = [cell for row in (header, *rows) for cell in row]
        numbers = {"-0.5", "-1.5", *(str(trial.params["x"]) for trial in study.trials)}
        risky = [cell for cell in cells if RISKY.match(cell) and cell not in numbers]
        assert bool(risky) is raw
        back = str if raw else unwritten
        assert [back(name) for name in header] == list(study.records()[0])
        assert [back(row[3]) for row in rows[:-1]] == FORMULAS
        assert back(rows[-1][-1]) == "=cmd|' /C calc'!A0"


@given(st.lists(st.sampled_from([*"=+-@'; \t\r\n,\"a", "\uff1d", "\uff20", "\u3000", "\x85"])).map("".join) | st.text())
@settings(max_examples=500)
@example("\n=1")
@example("a;=1+1")
def test_no_text_is_a_formula_wherever_a_spreadsheet_begins_a_cell_and_all_come_back(text: str) -> None:
    cell = written(text)
    assert unwritten(cell) == text
    assert not RISKY.match(cell)
    assert not any(RISKY.match(part) for part in re.split(r"[;\t\r\n]", cell) if part.strip())


def test_a_cell_that_another_separator_would_split_is_in_quotes(tmp_path: Path) -> None:
    study = Optimizer(Space({"x": Float(0.0, 1.0)}))
    study.observe({"x": 0.5}, error="a;b")
    for raw in (False, True):
        study.to_csv(tmp_path / "table.csv", raw=raw)
        assert (tmp_path / "table.csv").read_text(encoding="utf-8").rstrip().endswith(',"a;b"')


def test_a_table_that_cannot_be_written_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "table.csv"
    path.write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(JournalError, match="No space left on device"):
            studied().to_csv(path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["table.csv"]


# ------------------------------------------------------------------------------------------------- what a kill leaves


@pytest.mark.parametrize("torn", [b"", b"{", b'{"kind":"begun","format":2,"con', b"\0" * 40, b'{"kind":"be\0\0\0'])
def test_a_torn_first_line_is_begun_again(tmp_path: Path, torn: bytes) -> None:
    path = tmp_path / "study.jsonl"
    path.write_bytes(torn)
    assert not is_begun(path)
    result = minimize(lambda params: float(params["x"]), SPACE, budget=3, journal=path, progress=False, q=3, seed=0)
    assert result.evaluations == 3
    assert read_study(path).counts.done == 3


@pytest.mark.parametrize("other", [b"my notes", b'{"kind":"told"', b'{"kind": "begun"', b"\0notes", b"notes\n"])
def test_a_file_that_never_was_a_journal_stays_as_it_is(tmp_path: Path, other: bytes) -> None:
    path = tmp_path / "study.jsonl"
    path.write_bytes(other)
    for door in ("minimize", "open", "journal", "load", "save"):
        with pytest.raises(JournalError):
            DOORS[door](path)
    assert path.read_bytes() == other


@posix_only
def test_what_killed_saves_have_left_is_cleaned_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "study[1].jsonl"
    left = [tmp_path / f"study[1].jsonl.{pid}-0123abcd.tmp" for pid in (1, 99999)]
    others = [tmp_path / name for name in ("study1.jsonl.1-0123abcd.tmp", "study[1].jsonl.tmp", "study[1].jsonl.bak")]
    for file in (*left, *others):
        file.write_text("x")
        os.utime(file, (1e9, 1e9))
    studied().save(path)
    assert sorted(tmp_path.iterdir()) == sorted([path, *others])


# -------------------------------------------------------------------------------------------------------- odd numbers


class Odd:
    def __init__(self, error: Exception) -> None:
        self.error = error

    def __float__(self) -> float:
        raise self.error

    def __repr__(self) -> str:
        raise self.error


@pytest.mark.parametrize("error", [RuntimeError("no"), ZeroDivisionError(), AttributeError("x")], ids=repr)
def test_a_value_that_will_not_be_a_number_is_invalid_input(error: Exception) -> None:
    study = studied()
    [trial] = study.ask(1)
    for call in (
        lambda: study.tell(trial, Odd(error)),  # type: ignore[arg-type]
        lambda: study.tell(trial, 1.0, noise=Odd(error)),  # type: ignore[arg-type]
        lambda: study.observe(trial.params, Odd(error)),  # type: ignore[arg-type]
        lambda: study.tell_many([trial], [Odd(error)]),  # type: ignore[list-item]
    ):
        with pytest.raises(InvalidInput, match="must be a number; got a Odd"):
            call()
    assert study.counts.pending == 1
    result = minimize(lambda params: Odd(error), SPACE, budget=2, progress=False, q=3, seed=0)  # type: ignore[arg-type, return-value]
    assert result.failures == 2


def test_every_mutation_of_a_character_is_refused(path: Path) -> None:
    """Ten thousand are tried elsewhere; here one of each position, so that no part of a line is forgotten."""
    whole = path.read_bytes()
    for place in range(0, len(whole), 3):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ (1 << place % 8)]) + whole[place + 1 :])
        with pytest.raises(BelieverError):
            read_study(path)


def test_a_line_that_could_not_be_read_again_is_never_written(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = path.read_bytes()
    monkeypatch.setattr("believer.study.line_file.LONGEST", 3000)
    with Optimizer.load(path) as study:
        with pytest.raises(InvalidInput, match="a line must be shorter than 3,000 bytes"):
            study.tell(4, error="x" * 4000)
        assert study.counts.pending == 2
        assert path.read_bytes() == whole
        study.tell(4, error="x" * 100)
    memory = studied()
    [trial] = memory.ask(1)
    memory.tell(trial, error="x" * 4000)
    with pytest.raises(InvalidInput, match="a line must be shorter"):
        memory.save(path.with_name("other.jsonl"))
    assert not path.with_name("other.jsonl").exists()


def test_one_and_true_stay_two_choices_through_a_load(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    with Optimizer(Space({"c": Categorical([1, True, 1.0]), "x": Float(0.0, 1.0)}), journal=path, seed=0) as study:
        for choice in (1, True, 1.0, True):
            study.ask(1, fixed={"c": choice})
    whole = path.read_bytes()
    with Optimizer.load(path) as loaded:
        loaded.save(tmp_path / "saved.jsonl")
    assert (tmp_path / "saved.jsonl").read_bytes() == whole
    assert replay(path).identical


@dataclass(frozen=True)
class Sloppy:
    """A strategy that knows of no grid, no choice and nothing held."""

    def choose(self, request: Request, memory: object = None) -> Chosen:
        return Chosen(
            tuple(Choice(np.full(request.region.dim, 0.37 + 0.01 * i), "") for i, _ in enumerate(request.ids))
        )


def test_a_strategy_that_leaves_the_grid_is_set_right_before_anything_is_written(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    space = Space(
        {
            "n": Int(1, 50),
            "s": Float(0.0, 1.0, step=0.125),
            "c": Categorical(["a", "b", "c"]),
            "x": Float(0.0, 1.0),
            "long": Int(0, 10**9),
        }
    )
    with Optimizer(space, strategy=Sloppy(), journal=path, n_init=1, seed=0) as study:
        study.observe({"n": 3, "s": 0.5, "c": "a", "x": 0.5, "long": 7}, 1.0)
        [free, held] = [study.ask(1)[0], study.ask(1, fixed={"x": 0.9, "c": "b"})[0]]
        assert "moved to where its parameters have values" in free.provenance
        assert (held.params["x"], held.params["c"]) == (0.9, "b")
        trials = study.trials
    with Optimizer.load(path, strategy=Sloppy()) as loaded:
        assert loaded.trials == trials


def test_params_in_another_order_stand_under_their_own_names(path: Path) -> None:
    rows = read_study(path).records()

    def turned(event: dict[str, Any]) -> None:
        for trial in event["trials"]:
            trial["params"] = dict(reversed(trial["params"].items()))

    edited(path, turned, ASKED)
    assert read_study(path).records() == rows


def test_nothing_that_is_shown_can_raise() -> None:
    odd: Any = Odd(RuntimeError("no"))
    study = studied()
    params = {"x": 0.0, "n": 1, "kind": "a"}
    calls: list[Callable[[], object]] = [
        lambda: study.ask(odd),
        lambda: study.ask(1, distinct=odd),
        lambda: study.ask(1, fixed=odd),
        lambda: study.ask(1, fixed={"x": odd}),
        lambda: study.tell(odd, 1.0),
        lambda: study.tell(0, odd, error="x"),
        lambda: study.observe({**params, "kind": odd}, 1.0),
        lambda: study.enqueue({**params, "x": odd}),
        lambda: study.predict(odd),
        lambda: study.to_csv(odd),
        lambda: study.save(odd),
        lambda: Optimizer(SPACE, journal=odd, seed=0),
        lambda: Optimizer(odd, seed=0),
        lambda: Space({"x": odd}),
        lambda: Float(odd, 1.0),
    ]
    for call in calls:
        with pytest.raises(BelieverError):
            call()
    [trial] = study.ask(1)
    study.tell(trial, error=odd)
    assert study.records()[-1]["error"] == "a Odd"


@posix_only
def test_two_who_save_to_the_same_new_path_do_not_disturb_each_other(tmp_path: Path) -> None:
    """The scratch file of one is not left over while it is written, whoever looks."""
    from believer.study import files

    path = tmp_path / "study.jsonl"
    study = studied()
    seen: list[bool] = []

    def chunks() -> Any:
        yield b"one\n"
        study.save(path)
        seen.append(True)
        yield b"two\n"

    files.replace_file(path, chunks(), files.Wording("file", "program", "", ""))
    assert seen
    assert path.read_bytes() == b"one\ntwo\n"
    assert os.listdir(tmp_path) == ["study.jsonl"]


@pytest.mark.parametrize(
    ("surrogate", "model"),
    [
        ("gp", {"kernel": 5, "lengthscales": "abc"}),
        ("gp", {"kernel": "matern52", "lengthscales": [1.0], "signal": 1.0, "noise": 1e-6}),
        ("gp", {"kernel": "matern52", "lengthscales": [1.0] * 4, "signal": 1e39, "noise": 1e-6}),
        ("sparse_gp", {"kernel": "matern52", "lengthscales": [1.0] * 4, "signal": 1.0, "noise": 1e-6}),
        (
            "sparse_gp",
            {"kernel": "matern52", "lengthscales": [1.0] * 4, "signal": 1.0, "noise": 1e-6, "inducing": ["x"]},
        ),
    ],
)
def test_hyperparameters_that_no_fit_comes_to_are_found_at_load(tmp_path: Path, surrogate: str, model: Any) -> None:
    path = tmp_path / "study.jsonl"
    with Optimizer(SPACE, surrogate=surrogate, journal=path, n_init=2, seed=0) as study:
        for trial in study.ask(3):
            study.tell(trial, float(trial.id))
        study.ask(1)
        study.ask(1)
    Optimizer.load(path).close()
    edited(path, lambda event: event.__setitem__("model", model), 6)
    with pytest.raises(JournalCorrupt, match="hyperparameters that no fit can produce") as caught:
        Optimizer.load(path)
    assert caught.value.line == 6


def test_a_large_first_ask_draws_its_design_once(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []

    def counted(n: int, d: int, rng: np.random.Generator) -> Any:
        drawn.append(n)
        return latin_hypercube(n, d, rng)

    monkeypatch.setattr("believer.batch.random.latin_hypercube", counted)
    assert len(Optimizer(SPACE, n_init=4, seed=0).ask(40)) == 40
    assert drawn == [4] * 10


def test_a_study_to_look_at_has_its_space(path: Path) -> None:
    assert read_study(path).space == SPACE


def test_tables_may_be_written_by_several_at_once(tmp_path: Path) -> None:
    study = studied()
    with ThreadPoolExecutor(4) as pool:
        for future in [pool.submit(copy.copy(study).to_csv, tmp_path / "table.csv") for _ in range(40)]:
            future.result()
    assert os.listdir(tmp_path) == ["table.csv"]
