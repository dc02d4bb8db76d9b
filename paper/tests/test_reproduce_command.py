"""``believer reproduce``: what is missing is run, timings alone; a run can be taken up; errors are one line."""

from __future__ import annotations

import contextlib
import errno
import gzip
import importlib.util
import io
import os
import re
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import command_runs
import pytest
from command_runs import assert_one_line
from reproduction_work import NAMES, toy_cells, toy_work

from believer.cli import main
from believer.experiments import Cell, Store, read_store
from believer.integrations import dask
from believer.workers import ONE_THREAD
from believer_paper import command, plan
from believer_paper.packing import CELLS, PACKED
from believer_paper.results import Results

pytest.importorskip("matplotlib")
pytest.importorskip("sklearn")

Told = list[tuple[Results, Path, str, list[str]]]
run = partial(command_runs.run, "reproduce")


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Told:
    """A plan of toys in place of the paper's; collects what reports are written on."""
    reports: Told = []

    def write_report(*given: Any) -> str:
        reports.append(given)
        return f"{len(given[0].finished)} cells were reported on.\n"

    experiments = {name: SimpleNamespace(title=f"About {name}") for name in NAMES}
    monkeypatch.setattr(command, "plan", SimpleNamespace(EXPERIMENTS=experiments, cells=toy_cells))
    monkeypatch.setattr(command, "work", toy_work)
    monkeypatch.setattr(command, "write_report", write_report)
    return reports


def test_a_run_reports_packs_and_is_taken_up(tmp_path: Path, told: Told) -> None:
    out = tmp_path / "new" / "folder"
    first = run("plain", "other", "--workers", "1", "--out", out)
    assert first.code == 0, first.err
    assert "12 cells, 0 of them finished before" in first.out
    assert "12 cells were reported on.\n" in first.out
    assert first.err.splitlines()[0] == "0/12 cells"
    assert first.err.splitlines()[-1].startswith("12/12 cells, toy preset=ours name=other seed=2")
    written = (out / CELLS).read_bytes()
    assert gzip.decompress((out / PACKED).read_bytes()) == written
    packed = (out / PACKED).read_bytes()
    assert packed[4:8] == bytes(4)  # no time of day: the same cells are the same file
    again = run("plain", "other", "--workers", "1", "--out", out)
    assert again.code == 0
    assert "12 cells, 12 of them finished before" in again.out
    assert (out / CELLS).read_bytes() == written
    assert (out / PACKED).read_bytes() == packed
    assert [one.cell for one in told[0][0].finished] == toy_cells(["plain", "other"], ["printed", "ours"], None, False)
    assert told[0][1:] == told[1][1:] == (out, "believer reproduce plain other --preset both", ["plain", "other"])
    assert [one.result for one in told[0][0].finished] == [one.result for one in told[1][0].finished]


def test_more_seeds_run_only_what_is_new_and_a_report_covers_what_is_named(tmp_path: Path, told: Told) -> None:
    small = ("plain", "--preset", "ours", "--workers", "1", "--out", tmp_path)
    assert run(*small, "--seeds", "2").code == 0
    before = (tmp_path / CELLS).read_bytes()
    assert run(*small, "--seeds", "4").code == 0
    after = (tmp_path / CELLS).read_bytes()
    assert after.startswith(before)
    assert [entry.cell.seed for entry in read_store(tmp_path / CELLS)] == [0, 1, 2, 3]
    assert run(*small, "--smoke").code == 0
    assert (tmp_path / CELLS).read_bytes() == after
    assert [len(results.finished) for results, *_ in told] == [2, 4, 1]
    assert [words for _, _, words, _ in told] == [
        "believer reproduce plain --preset ours --seeds 2",
        "believer reproduce plain --preset ours --seeds 4",
        "believer reproduce plain --preset ours --smoke",
    ]


def test_cells_that_measure_time_run_last_and_alone_with_one_thread(
    tmp_path: Path, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ONE_THREAD:
        monkeypatch.delenv(name, raising=False)
    ran = run("timed", "plain", "scaled", "--preset", "ours", "--workers", "1", "--out", tmp_path)
    assert ran.code == 0, ran.err
    assert "Running 6 cells that measure time" in ran.out
    finished = read_store(tmp_path / CELLS)
    assert [one.cell.experiment for one in finished] == ["toy"] * 3 + ["step"] * 3 + ["scaling"] * 3
    times = [one.result["seconds"] for one in finished]
    assert all(end <= start for (_, end), (start, _) in pairwise(times))
    assert len({one.result["pid"] for one in finished[3:]} - {os.getpid()}) == 1
    assert all(set(one.result["threads"].values()) == {"1"} for one in finished[3:])
    assert not {name for name in ONE_THREAD if name in os.environ}
    assert "0/0" not in run("timed", "--preset", "ours", "--out", tmp_path).err


def test_when_cells_fail_the_others_are_reported_and_the_timings_run(tmp_path: Path, told: Told) -> None:
    ran = run("failing", "timed", "--preset", "ours", "--workers", "1", "--out", tmp_path)
    assert ran.code == 2
    assert "5 cells were reported on." in ran.out
    assert re.search(r"believer: error: 1 of 3 cells failed.*seed=1: RuntimeError: the solver gave up", ran.err)
    assert len(gzip.decompress((tmp_path / PACKED).read_bytes()).splitlines()) == 5


def test_an_interrupt_says_that_the_same_command_goes_on(tmp_path: Path, told: Told) -> None:
    arguments = ("stopped", "plain", "--preset", "ours", "--workers", "1", "--out", tmp_path)
    ran = run(*arguments)
    assert ran.code == 130
    assert told == []
    assert f"Finished cells are in {tmp_path / CELLS}; the same command resumes the run." in ran.err
    assert [entry.cell.seed for entry in read_store(tmp_path / CELLS)] == [0, 1, 2, 0, 1]


def test_a_full_disk_is_told_and_what_was_finished_is_kept(
    tmp_path: Path, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = [3]
    write = os.write

    def fill_up(fd: int, data: Any) -> int:
        if bytes(data[:10]) == b'{"format":':
            room[0] -= 1
            if room[0] < 0:
                return write(fd, data[:20])  # the rest finds no room
        elif room[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(fd, data)

    arguments = ("plain", "other", "--preset", "ours", "--workers", "1", "--out", tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", fill_up)
        ran = run(*arguments)
    assert ran.code == 2
    assert re.search(r"error: cannot append to \S+cells\.jsonl: No space left on device\..*make room", ran.err)
    assert told == []
    kept = (tmp_path / CELLS).read_bytes()
    assert [entry.cell.seed for entry in read_store(tmp_path / CELLS)] == [0, 1, 2]
    assert kept.endswith(b"\n")
    assert run(*arguments).code == 0
    assert (tmp_path / CELLS).read_bytes().startswith(kept)
    assert len(read_store(tmp_path / CELLS)) == 6


@pytest.mark.parametrize("left", ["packed", "both"])
def test_a_folder_with_packed_cells_is_taken_up(tmp_path: Path, told: Told, left: str) -> None:
    arguments = ("plain", "--preset", "ours", "--workers", "1", "--out", tmp_path)
    assert run(*arguments).code == 0
    lines = (tmp_path / CELLS).read_bytes().splitlines(keepends=True)
    if left == "packed":
        (tmp_path / CELLS).unlink()
    else:
        (tmp_path / CELLS).write_bytes(lines[0] + lines[1][:30])  # the second was torn
    ran = run(*arguments)
    assert "3 cells, 3 of them finished before" in ran.out
    assert (tmp_path / CELLS).read_bytes() == b"".join(lines)


def test_cells_run_on_a_cluster_and_timings_here(tmp_path: Path, told: Told) -> None:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0"
    ) as cluster:
        names = ("timed", "plain", "--preset", "ours", "--seeds", "2")
        ran = run(*names, "--dask", cluster.scheduler_address, "--out", tmp_path)
    assert ran.code == 0, ran.err
    finished = read_store(tmp_path / CELLS)
    assert [one.result["pid"] == os.getpid() for one in finished] == [True, True, False, False]


# What is checked before any work


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("exp99",), r"an experiment must be one of all, timed, plain, .*; got 'exp99'"),
        (("plain", "exp0", "all", "exp99"), r"got 'exp0', 'exp99'"),
        (("--seeds", "0"), "must be a whole number, 1 or more; got '0'"),
        (("--seeds", "1-3"), "must be a whole number, 1 or more; got '1-3'"),
        (("--workers", "0"), "must be a whole number, 1 or more; got '0'"),
        (("--preset", "theirs"), "--preset: invalid choice: 'theirs'"),
        (("--workers", "2", "--dask", "tcp://127.0.0.1:9"), "Leave one of them out"),
        (("--colour", "red"), "unrecognized arguments: --colour"),
    ],
)
def test_a_wrong_argument_is_told_in_one_line(
    tmp_path: Path, told: Told, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert_one_line(run(*arguments), words)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_a_file_is_told_in_one_line(tmp_path: Path, told: Told) -> None:
    (tmp_path / "taken").write_text("")
    assert_one_line(run("plain", "--out", tmp_path / "taken"), "--out must be a folder to write into")


def test_cells_that_are_not_ours_or_in_use_are_told_in_one_line_and_kept(tmp_path: Path, told: Told) -> None:
    (tmp_path / CELLS).write_text('{"a": 1}\n')
    assert_one_line(run("plain", "--out", tmp_path), r"line 1 of .*cells\.jsonl is not a finished cell")
    assert (tmp_path / CELLS).read_text() == '{"a": 1}\n'
    (tmp_path / CELLS).unlink()
    with Store(tmp_path / CELLS):
        assert_one_line(run("plain", "--out", tmp_path), "in use by another process")
    (tmp_path / PACKED).write_bytes(gzip.compress(b"{}\n")[:-4])
    assert_one_line(run("plain", "--out", tmp_path), r"cells\.jsonl\.gz is damaged")


def test_a_cluster_that_does_not_answer_is_told_before_any_work(
    tmp_path: Path, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr(dask, "connected", partial(dask.connected, timeout=0.2))
    ran = run("plain", "timed", "--dask", "tcp://127.0.0.1:9", "--out", tmp_path)
    assert_one_line(ran, "no Dask scheduler answers at tcp://127.0.0.1:9")
    assert read_store(tmp_path / CELLS) == []


@pytest.mark.parametrize(("missing", "extra"), [("sklearn", "surrogates"), ("matplotlib", "plots")])
def test_an_extra_that_is_missing_is_told_before_any_work(
    tmp_path: Path, told: Told, monkeypatch: pytest.MonkeyPatch, missing: str, extra: str
) -> None:
    find: Callable[[str], Any] = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == missing else find(name))
    arguments = ("--preset", "printed", "--workers", "1", "--out", tmp_path)
    assert_one_line(run("plain", "foreign", *arguments), rf"pip install 'believer\[{extra}\]'")
    assert not (tmp_path / CELLS).exists()


def test_without_botorch_its_cells_are_skipped_with_one_line_unless_nothing_else_is_left(
    tmp_path: Path, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    find: Callable[[str], Any] = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "botorch" else find(name))
    arguments = ("--preset", "printed", "--workers", "1", "--out", tmp_path)
    ran = run("plain", "foreign", *arguments)
    assert ran.code == 0, ran.err
    (said,) = re.findall(r"^Skipping .*$", ran.out, re.MULTILINE)
    assert re.fullmatch(r"Skipping 3 of 6 cells that need BoTorch: .*pip install 'believer-paper\[botorch\]'", said)
    assert {one.cell.settings["name"] for one in read_store(tmp_path / CELLS)} == {"plain"}
    assert_one_line(run("foreign", *arguments), r"pip install 'believer-paper\[botorch\]'")


def test_botorch_is_not_needed_for_cells_that_are_finished(
    tmp_path: Path, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ("foreign", "--workers", "1", "--out", tmp_path)
    find: Callable[[str], Any] = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object() if name == "botorch" else find(name))
    assert run(*arguments).code == 0
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "botorch" else find(name))
    assert run(*arguments).code == 0


# The paper's own plan


def test_all_is_everything_in_both_presets_by_default(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[Any] = []

    def noted(cells: list[Cell], arguments: Any, out: Path) -> list[str]:
        asked.append((cells, command.command_of(arguments), out))
        return []

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, "_reproduce", noted)
    assert [run().code, run("all").code, run("exp3", "all").code] == [0, 0, 0]
    assert asked[0] == asked[1] == asked[2]
    cells, words, out = asked[0]
    assert cells == plan.cells(list(plan.EXPERIMENTS), ["printed", "ours"])
    assert (words, out) == ("believer reproduce all --preset both", Path("believer-reproduction"))
    timed = {cell.experiment for cell in cells} & set(command._TIMING)
    assert timed == set(command._TIMING)
    assert run("exp9", "exp3", "--preset", "ours", "--seeds", "3").code == 0
    assert asked[3][0] == plan.cells(["exp3", "exp9"], ["ours"], 3)
    assert asked[3][1] == "believer reproduce exp3 exp9 --preset ours --seeds 3"


def test_a_small_run_from_beginning_to_end_is_taken_up_with_more_seeds(tmp_path: Path) -> None:
    small = ("exp11", "--preset", "ours", "--smoke", "--workers", "1", "--out", tmp_path)
    first = run(*small, "--seeds", "1")
    assert first.code == 0, first.err
    made = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")}
    assert {CELLS, PACKED, "machine.json", "ledger.md", "report.html", "report.md", "tables/table06.csv"} <= made
    assert "believer reproduce exp11 --preset ours --seeds 1 --smoke" in (tmp_path / "report.md").read_text()
    written = (tmp_path / CELLS).read_bytes()
    again = run(*small, "--seeds", "1")
    assert again.code == 0
    assert "3 cells, 3 of them finished before" in again.out
    assert (tmp_path / CELLS).read_bytes() == written
    assert run(*small, "--seeds", "2").code == 0
    assert (tmp_path / CELLS).read_bytes().startswith(written)
    assert [one.cell for one in read_store(tmp_path / CELLS)] == plan.cells(["exp11"], ["ours"], 2, smoke=True)


def test_list_names_every_experiment_with_its_title() -> None:
    ran = run("--list")
    assert (ran.code, ran.err) == (0, "")
    assert [line.split()[0] for line in ran.out.splitlines()] == list(plan.EXPERIMENTS)
    assert all(experiment.title in ran.out for experiment in plan.EXPERIMENTS.values())


def test_help_says_what_is_taken_up() -> None:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), pytest.raises(SystemExit) as stopped:
        main(["reproduce", "--help"])
    assert stopped.value.code == 0
    assert "an unfinished run there is resumed" in " ".join(out.getvalue().split())
