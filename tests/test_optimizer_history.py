"""The history as a table and in a journal."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest
from optimizer_studies import NEW, SPACES, started, state, with_history

from believer import Float, Int, Optimizer, Space
from believer.errors import JournalError

# The history as a table


def test_records_have_one_row_a_trial_with_every_parameter() -> None:
    optimizer = with_history()
    optimizer.observe(NEW, 2.5)
    optimizer.abandon(5)
    rows = optimizer.records()
    assert [row["trial_id"] for row in rows] == list(range(8))
    assert [row["status"] for row in rows] == ["done"] * 4 + ["failed", "abandoned", "pending", "done"]
    assert [row["origin"] for row in rows] == ["design"] * 4 + ["model"] * 3 + ["observed"]
    for row, trial in zip(rows, optimizer.trials, strict=True):
        assert list(row) == ["trial_id", "status", "value", "lr", "depth", "kernel", "origin", "provenance", "error"]
        assert {name: row[name] for name in trial.params} == trial.params
        assert (row["value"] is None) == (row["status"] != "done")
        assert row["provenance"] == trial.provenance
    assert rows[4]["error"] == "failed"
    assert rows[7]["value"] == 2.5


def test_a_parameter_with_the_name_of_a_column_is_prefixed() -> None:
    optimizer = Optimizer(Space({"value": Float(0.0, 1.0), "status": Int(0, 3)}), seed=0)
    optimizer.observe({"value": 0.5, "status": 2}, 7.0)
    row = optimizer.records()[0]
    assert (row["value"], row["status"], row["param.value"], row["param.status"]) == (7.0, "done", 0.5, 2)


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_csv_is_the_records_with_numbers_that_read_back(tmp_path: Path) -> None:
    optimizer = with_history()
    optimizer.observe(NEW, error='commas, "quotes"\nand lines: σ')
    path = tmp_path / "history.csv"
    optimizer.to_csv(path)
    rows, records = read_csv(path), optimizer.records()
    assert list(rows[0]) == list(records[0])
    for row, record in zip(rows, records, strict=True):
        assert float(row["lr"]) == record["lr"]
        assert row["value"] == ("" if record["value"] is None else repr(record["value"]))
        assert row["error"] == (record["error"] or "")


def test_csv_takes_any_text_of_an_error(tmp_path: Path) -> None:
    """A file name that is not UTF-8 reaches the text of an exception as a lone surrogate."""
    optimizer = Optimizer(SPACES["cube"], seed=0)
    optimizer.observe({"x0": 0.5, "x1": 0.5}, error="no such file: \udcff")
    optimizer.to_csv(tmp_path / "history.csv")
    assert read_csv(tmp_path / "history.csv")[0]["error"].startswith("no such file: ")


def test_the_csv_of_a_study_without_trials_has_the_same_header(tmp_path: Path) -> None:
    optimizer = Optimizer(Space({"value": Float(0.0, 1.0), "x": Float(0.0, 1.0)}), seed=0)
    headers = []
    for name in ("empty.csv", "full.csv"):
        optimizer.to_csv(tmp_path / name)
        headers.append((tmp_path / name).read_text(encoding="utf-8").splitlines()[0])
        optimizer.ask(1)
    assert headers[0] == headers[1]


# Seeds, journals and closing


def test_seeds_decide_and_none_draws_one() -> None:
    same = [Optimizer(SPACES["mixed"], seed=9).ask(3).params for _ in range(2)]
    assert same[0] == same[1]
    assert Optimizer(SPACES["mixed"], seed=10).ask(3).params != same[0]
    drawn = [Optimizer(SPACES["mixed"], seed=None) for _ in range(2)]
    assert drawn[0].settings.seed != drawn[1].settings.seed
    again = Optimizer(SPACES["mixed"], seed=drawn[0].settings.seed)
    assert again.ask(3).params == drawn[0].ask(3).params


def test_a_closed_optimizer_can_be_read_and_not_changed(tmp_path: Path) -> None:
    with started(SPACES["cube"], journal=tmp_path / "study.jsonl") as optimizer:
        optimizer.ask(1)
    before = state(optimizer)
    calls: list[Callable[[], object]] = [
        lambda: optimizer.ask(1),
        lambda: optimizer.tell(4, 1.0),
        lambda: optimizer.observe({"x0": 0.5, "x1": 0.5}, 1.0),
        lambda: optimizer.enqueue({"x0": 0.5, "x1": 0.5}),
        lambda: optimizer.abandon(4),
    ]
    for call in calls:
        with pytest.raises(JournalError, match="was closed"):
            call()
    assert state(optimizer) == before
    assert optimizer.predict([{"x0": 0.5, "x1": 0.5}]).mean.shape == (1,)
    optimizer.close()


def test_a_path_that_holds_a_study_is_not_overwritten_by_a_new_one(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    started(SPACES["cube"], journal=path).close()
    before = path.read_bytes()
    with pytest.raises(JournalError, match=r"Optimizer\.load"):
        Optimizer(SPACES["cube"], journal=path, seed=0)
    assert path.read_bytes() == before


def test_saving_a_study_to_its_own_journal_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    with started(SPACES["cube"], journal=path) as optimizer:
        before = path.read_bytes()
        optimizer.save(path)
        assert path.read_bytes() == before
        optimizer.save(tmp_path / "copy.jsonl")
        assert (tmp_path / "copy.jsonl").read_bytes() == before
        optimizer.ask(1)
        assert path.read_bytes() != before


def test_an_ask_that_could_not_be_recorded_leaves_no_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next trial gets the id that the lost one had; nothing of the lost one may be believed about it."""
    point = {"x0": 0.9, "x1": 0.1}
    twin = started(SPACES["cube"])
    twin.enqueue(point)
    twin.ask(1)
    optimizer = started(SPACES["cube"], journal=tmp_path / "study.jsonl")

    def full(self: object, event: object) -> None:
        raise JournalError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr("believer.study.journal.Journal.append", full)
        with pytest.raises(JournalError, match="the disk is full"):
            optimizer.ask(1)
    optimizer.enqueue(point)
    optimizer.ask(1)
    assert optimizer.ask(2).params == twin.ask(2).params
    assert state(optimizer) == state(twin)
    optimizer.close()


def test_a_study_can_go_on_in_memory_while_its_journal_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    with Optimizer(SPACES["cube"], journal=path, seed=0) as optimizer:
        optimizer.ask(2)
        before = path.read_bytes()
        copy = Optimizer.load(path, append=False)  # nobody's lock is in the way
        assert copy.ask()[0].params == optimizer.ask()[0].params
        assert len(path.read_bytes()) > len(before)
    path.write_bytes(before)
    Optimizer.load(path, append=False).ask()
    assert path.read_bytes() == before
