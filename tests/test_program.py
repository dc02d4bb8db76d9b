"""Program: what a program is given, what is kept of its run, and that nothing of it lives on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from each import each
from test_workers import posix_only
from waiting import PATIENCE, alive, wait_for

import believer as bv
from believer.errors import EvaluationError, InvalidInput, TookTooLong

LINE = bv.Space({"x": bv.Float(0, 1)})
SQUARE = [sys.executable, "-c", "import sys; print('hello'); print(float(sys.argv[1]) ** 2)", "{x}"]


def height(run: bv.Finished) -> dict[str, float]:
    return {"height": float((run.folder / "out" / "height.txt").read_text()), "x": run.params["x"]}


def python(code: str) -> list[str]:
    """A command that runs this; it has no parameter in it."""
    return [sys.executable, "-c", code.replace("{", "{{").replace("}", "}}")]


def test_a_program_is_a_function_to_minimize_in_worker_processes(tmp_path: Path) -> None:
    f = bv.Program(SQUARE, folder=tmp_path / "runs")
    found = bv.minimize(f, bv.Space({"x": bv.Float(-1, 1)}), 4, workers=2, seed=0, progress=False)
    assert found.evaluations == 4
    assert found.failures == 0
    runs = sorted((tmp_path / "runs").iterdir())
    assert [run.name for run in runs] == ["000001", "000002", "000003", "000004"]
    told = {row["x"]: row["value"] for row in found.optimizer.records()}
    for run in runs:
        x = json.loads((run / "params.json").read_text())["x"]
        assert (run / "stdout.txt").read_text().split() == ["hello", str(told[x])]


def test_a_program_has_its_files_and_is_read_from_its_folder(tmp_path: Path) -> None:
    code = "import os; os.mkdir('out'); open('out/height.txt', 'w').write(open('in/deck.txt').read().split('=')[1])"
    f = bv.Program(python(code), parse=height, files={"in/deck.txt": "x={x}"}, folder=tmp_path)
    assert f({"x": 0.1}) == {"height": 0.1, "x": 0.1}
    with pytest.raises(EvaluationError, match="must be a number"):
        bv.Program(python("print('done')"), folder=tmp_path)({})
    by_name = bv.Program(python('print(\'{"a": 1, "b": 2.5}\')'), folder=tmp_path)
    assert by_name({}) == {"a": 1, "b": 2.5}
    where = bv.Program(
        [sys.executable, "-c", "import os, sys; print(os.stat(sys.argv[1]).st_ino)", "{folder}"], folder=tmp_path
    )
    assert where({}) == (tmp_path / "000004").stat().st_ino


def test_a_failed_run_says_how_it_ended_where_and_what_was_on_standard_error(tmp_path: Path) -> None:
    code = "import sys; print('fine'); sys.stderr.write('one\\n' * 99 + 'no mesh\\n'); sys.exit(3)"
    with pytest.raises(EvaluationError, match=r"exit code 3.*no mesh.*last of 3 tries.*000003"):
        bv.Program(python(code), folder=tmp_path, retries=2)({"x": 1})
    assert len(list(tmp_path.iterdir())) == 3
    with pytest.raises(EvaluationError, match=r"cannot be started.*whole path"):
        bv.Program(["./no-such-solver"], folder=tmp_path)({"x": 1})


def test_a_record_has_the_end_of_what_a_program_said_and_its_folder_however_much_it_said(tmp_path: Path) -> None:
    said = "import sys; print('x' * 9999, *['y' * 600] * 4, 'no mesh', sep='\\n', file=sys.stderr); sys.exit(3)"
    journal = tmp_path / "study.jsonl"
    with pytest.raises(EvaluationError):
        bv.minimize(bv.Program(python(said), folder=tmp_path / "runs"), LINE, n_init=2, journal=journal, progress=False)
    for row, folder in zip(bv.read_study(journal).records(), ("000001", "000002"), strict=True):
        assert "exit code 3" in row["error"]
        assert row["error"].endswith(f"no mesh ({tmp_path / 'runs' / folder})")


def test_a_run_that_fails_may_be_run_again(tmp_path: Path) -> None:
    code = "import os, sys; sys.exit(1) if os.getcwd().endswith('1') else print(5)"
    assert bv.Program(python(code), folder=tmp_path, retries=1)({}) == 5.0


@posix_only
def test_a_run_that_takes_too_long_is_ended_with_all_that_it_has_started(tmp_path: Path) -> None:
    script = "sleep 6000 & echo $! > pids; echo $$ >> pids; echo slow >&2; wait"
    with pytest.raises(TookTooLong, match="longer than 2 s: slow"):
        bv.Program(["/bin/sh", "-c", script], folder=tmp_path, timeout=2.0)({})
    pids = [int(pid) for pid in (tmp_path / "000001" / "pids").read_text().split()]
    assert len(pids) == 2
    wait_for(lambda: not any(map(alive, pids)))


@posix_only
def test_what_a_finished_run_has_left_behind_is_ended(tmp_path: Path) -> None:
    assert bv.Program(["/bin/sh", "-c", "sleep 6000 & echo $! > pid; echo 1"], folder=tmp_path)({}) == 1.0
    wait_for(lambda: not alive(int((tmp_path / "000001" / "pid").read_text())))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the environment of other processes")
def test_a_daemon_that_a_finished_run_has_left_behind_is_ended(tmp_path: Path) -> None:
    daemon = 'import os; os.setsid(); print(os.getpid(), flush=True); os.execlp("sleep", "sleep", "6000")'
    script = f"({sys.executable} -c '{daemon}' > pid &); while [ ! -s pid ]; do sleep 0.1; done; echo 1"
    assert bv.Program(["/bin/sh", "-c", script], folder=tmp_path)({}) == 1.0
    wait_for(lambda: not alive(int((tmp_path / "000001" / "pid").read_text())))


@posix_only
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL] if sys.platform != "win32" else [])
@pytest.mark.parametrize("workers", [None, 2])
def test_no_program_outlives_the_process_that_runs_it(
    number: signal.Signals, workers: int | None, tmp_path: Path
) -> None:
    code = f"""
        import signal
        import believer as bv
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
        script = "echo $$ > pid.new; sleep 6000 & echo $! >> pid.new; mv pid.new pid; wait"
        if __name__ == "__main__":
            f = bv.Program(["/bin/sh", "-c", script], folder="runs")
            bv.minimize(f, bv.Space({{"x": bv.Float(0, 1)}}), 4, workers={workers}, progress=False)
    """
    (tmp_path / "script.py").write_text(textwrap.dedent(code))
    command = [sys.executable, str(tmp_path / "script.py")]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL) as process:
        marks = [tmp_path / "runs" / f"{i:06}" / "pid" for i in range(1, 1 + (workers or 1))]
        for mark in marks:
            wait_for(mark.exists)
        pids = [int(pid) for mark in marks for pid in mark.read_text().split()]
        assert len(pids) == 2 * len(marks)
        assert all(map(alive, pids))
        os.kill(process.pid, number)
        assert process.wait(PATIENCE) != 0
    wait_for(lambda: not any(map(alive, pids)))


@each(
    "options",
    [
        {"command": "solver --x={x}"},
        {"command": []},
        {"command": ["solver", 3]},
        {"command": ["solver", "{"]},
        {"command": ["solver", "{}"]},
        {"command": ["solver"], "parse": 3},
        {"command": ["solver"], "timeout": 0},
        {"command": ["solver"], "timeout": float("nan")},
        {"command": ["solver"], "retries": -1},
        {"command": ["solver"], "files": {"../deck": ""}},
        {"command": ["solver"], "files": {"deck": "{"}},
        {"command": ["solver"], "files": {"deck": 3}},
        {"command": ["solver"], "files": {3: "deck"}},
        {"command": ["solver"], "files": {"": "deck"}},
        {"command": ["solver"], "files": ["deck"]},
        {"command": ["solver"], "files": {"./stdout.txt": ""}},
        {"command": ["solver"], "env": {"SEED": 3}},
        {"command": ["solver"], "env": ["SEED"]},
        {"command": ["solver"], "folder": None},
        {"command": {"solver": 3}},
    ],
)
def test_what_is_no_program_is_refused_before_any_run(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        bv.Program(**options)


def test_a_template_with_an_unknown_name_says_which_there_are(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"'y'.*there are x, folder"):
        bv.Program(["solver", "{y}"], folder=tmp_path)({"x": 1})
    with pytest.raises(InvalidInput, match="folder"):
        bv.Program(["solver", "{folder}"], folder=tmp_path)({"folder": 1})
