"""The command line: the demo leaves what it promises, and errors are one line."""

import contextlib
import importlib.util
import io
import os
import re
import signal
import subprocess
import sys
from argparse import Namespace
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from waiting import PATIENCE

import believer as bv
from believer.cli import VERBS, Verb, demo, main
from believer.workers import ONE_THREAD

pytest.importorskip("matplotlib")
pytest.importorskip("sklearn")

BUDGET = 14
OPTIMUM = -3.3223680114155147
FIGURES = ("svm_convergence", "svm_batches", "hartmann_convergence", "hartmann_batches", "acquisition_before_after_lie")
ENVIRONMENT = {name: os.environ.get(name) for name in ONE_THREAD}
SINGLE = {**os.environ, **dict.fromkeys(ONE_THREAD, "1")}
INTERRUPTED = signal.getsignal(signal.SIGINT)


@dataclass(frozen=True)
class Run:
    code: int
    out: str
    err: str
    folder: Path


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A small demo, into a folder with the files of another study in it."""
    folder = tmp_path_factory.mktemp("demo") / "new" / "folder"
    folder.mkdir(parents=True)
    with bv.Optimizer(bv.Space.unit(2), seed=7, journal=folder / "svm.jsonl") as other:
        other.ask(2)
    (folder / "svm_batches.png").write_text("not a picture")
    (folder / "svm.csv").write_text("x" * 100_000)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(["demo", "--out", str(folder), "--budget", str(BUDGET), "--workers", "1", "--seed", "3"])
    return Run(code, out.getvalue(), err.getvalue(), folder)


def test_demo_succeeds_and_is_silent_on_standard_error(run: Run) -> None:
    assert (run.code, run.err) == (0, "")


def test_demo_writes_its_files_and_nothing_else(run: Run) -> None:
    tables = [f"{study}.{kind}" for study in ("svm", "hartmann") for kind in ("jsonl", "csv")]
    assert sorted(path.name for path in run.folder.iterdir()) == sorted([*(f"{name}.png" for name in FIGURES), *tables])


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_pictures_of_something(run: Run, name: str) -> None:
    from matplotlib.image import imread

    pixels = imread(run.folder / f"{name}.png")
    assert pixels.shape[0] >= 700
    assert pixels.shape[1] >= 1000
    assert pixels[..., :3].std() > 0.05


@pytest.mark.parametrize(("study", "parameters"), [("svm", 4), ("hartmann", 6)])
def test_journals_hold_the_new_study_and_not_the_one_that_was_there(run: Run, study: str, parameters: int) -> None:
    with bv.Optimizer.load(run.folder / f"{study}.jsonl") as optimizer:
        assert optimizer.settings.seed == 3
        assert len(optimizer.space) == parameters
        assert optimizer.counts.done == len(optimizer.trials) == BUDGET
        assert optimizer.best is not None
        rows = (run.folder / f"{study}.csv").read_text().splitlines()
    assert len(rows) == 1 + BUDGET


def test_each_batch_has_one_line_with_count_best_and_verdict(run: Run) -> None:
    counts = [f"{done:>3}/{BUDGET}" for done in (3, 6, 9, 12, 14)]
    lines = [line for line in run.out.splitlines() if line.strip().split(" ")[0].endswith(f"/{BUDGET}")]
    assert [line[3 : 3 + len(counts[0])] for line in lines] == 2 * counts
    assert all(" best " in line and line.endswith(".") for line in lines)
    assert all((" points, on average " in line) != (" points: " in line) for line in lines)
    assert any(" expected to gain " in line for line in lines)


def test_summary_gives_accuracy_gap_design_folder_and_time(run: Run) -> None:
    with (
        bv.Optimizer.load(run.folder / "svm.jsonl") as svm,
        bv.Optimizer.load(run.folder / "hartmann.jsonl") as hartmann,
    ):
        assert svm.best is not None
        assert hartmann.best is not None
        accuracy, gap = 100 * (1 - 10 ** svm.best[1]), hartmann.best[1] - OPTIMUM
    assert f"accuracy {accuracy:.2f} % with C=" in run.out
    assert f"{gap:.5f} above the optimum" in run.out
    assert "best of the 8 design points" in run.out
    assert "best of the 12 design points" in run.out
    assert str(run.folder) in run.out
    assert run.out.rstrip().endswith(" s.")


def test_demo_leaves_environment_and_interrupts_as_they_were(run: Run) -> None:
    assert signal.getsignal(signal.SIGINT) is INTERRUPTED
    assert {name: os.environ.get(name) for name in ONE_THREAD} == ENVIRONMENT


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "required: verb"),
        (["dance"], "invalid choice: 'dance'"),
        (["demo", "--q", "0"], "--q: must be a whole number, 1 or more; got '0'"),
        (["demo", "--budget", "many"], "--budget: must be a whole number, 1 or more; got 'many'"),
        (["demo", "--seed", "-1"], "--seed: must be a whole number, 0 or more; got '-1'"),
        (["demo", "--workers", "1.5"], "--workers: must be a whole number, 1 or more; got '1.5'"),
        (["demo", "--loud"], "unrecognized arguments: --loud"),
    ],
)
def test_bad_arguments_are_one_line_and_exit_code_2(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert complaint in told.err
    assert told.err.count("\n") == 1
    assert told.err.startswith("believer: error: ")


@pytest.mark.parametrize("inside", ["", "folder"])
def test_a_folder_that_cannot_be_written_is_an_error(
    inside: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("mine")
    assert main(["demo", "--out", str(tmp_path / "file" / inside)]) == 2
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert "--out must be a folder to write into" in told.err
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize(("module", "extra"), [("sklearn", "surrogates"), ("matplotlib", "plots")])
def test_a_missing_extra_is_named_before_anything_runs(
    module: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == module else find(name))
    assert main(["demo", "--out", str(tmp_path / "out")]) == 2
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert f"pip install 'believer[{extra}]'" in told.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (KeyboardInterrupt(), 130, "believer: interrupted.\n"),
        (bv.errors.EvaluationError("two\n  lines"), 2, "believer: error: two lines\n"),
        (OSError(28, "No space left"), 2, "believer: error: [Errno 28] No space left\n"),
    ],
)
def test_what_goes_wrong_in_a_verb_is_one_line(
    error: BaseException, code: int, line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(arguments: Namespace) -> int:
        raise error

    monkeypatch.setitem(VERBS, "demo", Verb("fails", lambda parser: None, fail))
    assert main(["demo"]) == code
    assert capsys.readouterr().err == line


def test_a_bug_is_not_dressed_up_as_a_users_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(arguments: Namespace) -> int:
        raise ZeroDivisionError

    monkeypatch.setitem(VERBS, "demo", Verb("fails", lambda parser: None, fail))
    with pytest.raises(ZeroDivisionError):
        main(["demo"])


def test_a_study_without_a_single_result_is_an_error(tmp_path: Path) -> None:
    def fail(params: dict[str, float]) -> float:
        raise RuntimeError("no luck")

    study = replace(demo._hartmann(2), function=fail)
    with pytest.raises(bv.errors.EvaluationError, match=r"every evaluation failed; .* RuntimeError: no luck"):
        demo._solve(study, 2, 0, tmp_path, None)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("value", "explained"), [(-3.2031, True), (-3.3, False), (-3.0, False)])
def test_the_second_basin_of_hartmann_is_called_by_its_name(
    value: float, explained: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    study = demo._hartmann(None)
    optimizer = bv.Optimizer(study.space, seed=0)
    optimizer.observe(study.space.decode([[0.5] * 6])[0], value)
    demo._conclude_hartmann(optimizer, study)
    assert ("second-best basin" in capsys.readouterr().out) is explained


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX pipes")
def test_a_reader_that_went_away_is_no_traceback() -> None:
    program = """
from believer.cli import VERBS, Verb, main
def talk(arguments):
    while True:
        print("x" * 10_000)
VERBS["talk"] = Verb("talks", lambda parser: None, talk)
raise SystemExit(main(["talk"]))
"""
    environment = SINGLE
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait(timeout=PATIENCE) == 1
    process.stderr.close()


def test_python_m_believer_is_the_command() -> None:
    command = [sys.executable, "-m", "believer", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=SINGLE)
    assert done.stdout == f"believer {bv.__version__}\n"


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_control_c_ends_the_demo_and_its_workers_with_one_line(tmp_path: Path) -> None:
    # A shell starts background jobs with the interrupt ignored, and children inherit that.
    heed = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)"
    start = "from believer.cli import main; sys.exit(main())"
    process = subprocess.Popen(
        [sys.executable, "-c", f"{heed}; {start}", "demo", "--out", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=SINGLE,
    )
    assert process.stdout is not None
    assert process.stdout.readline().startswith("believer ")
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)  # ends when the last worker has let go of the pipes
    assert (process.returncode, err) == (130, "believer: interrupted.\n")


def test_the_command_of_make_run_is_one_that_the_demo_understands(monkeypatch: pytest.MonkeyPatch) -> None:
    makefile = (Path(__file__).parents[2] / "Makefile").read_text(encoding="utf-8")
    (words,) = re.findall(r"^\t\$\(BIN\)/believer (demo .*)$", makefile, re.MULTILINE)
    noted: list[Namespace] = []

    def note(arguments: Namespace) -> int:
        noted.append(arguments)
        return 0

    monkeypatch.setitem(VERBS, "demo", Verb("notes", demo.add_arguments, note))
    assert main(words.split()) == 0
    assert noted[0].out == Path("believer-demo")
