"""The command line: the demo leaves what it promises and says what happened, and errors are one line."""

import contextlib
import importlib.util
import io
import math
import os
import re
import signal
import statistics
import subprocess
import sys
import webbrowser
from argparse import Namespace
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from waiting import PATIENCE

import believer as bv
from believer.cli import VERBS, Verb, demo, main
from believer.cli.demos import DEMOS, Demo
from believer.cli.demos import comparison as versus
from believer.cli.demos.function import gap
from believer.cli.demos.reaction import MIN_PURITY, measure, rank, table
from believer.cli.demos.simulation import simulate
from believer.workers import ONE_THREAD

pytest.importorskip("matplotlib")
pytest.importorskip("sklearn")

BUDGET, Q = 20, 8
FIGURES = ("convergence", "lies")
ENVIRONMENT = {name: os.environ.get(name) for name in ONE_THREAD}
SINGLE = {**os.environ, **dict.fromkeys(ONE_THREAD, "1")}
INTERRUPTED = signal.getsignal(signal.SIGINT)
COLD = {"feed": 20.0, "wall": 20.0, "concentration": 1.0, "velocity": 0.5, "diameter": 10.0}


@dataclass(frozen=True)
class Run:
    name: str
    code: int
    out: str
    err: str
    folder: Path

    @property
    def demo(self) -> Demo:
        return DEMOS[self.name]

    def study(self) -> bv.Optimizer:
        return bv.Optimizer.load(self.folder / f"{self.name}.jsonl")


@pytest.fixture(scope="module", params=[*DEMOS])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A small one, into a folder with the files of another study in it; that of the reaction compares."""
    name: str = request.param
    folder = tmp_path_factory.mktemp("demo") / "new" / "folder"
    folder.mkdir(parents=True)
    with bv.Optimizer(bv.Space.cube(2), seed=7, journal=folder / f"{name}.jsonl") as other:
        other.ask(2)
    (folder / f"{name}_lies.png").write_text("not a picture")
    (folder / f"{name}.csv").write_text("x" * 100_000)
    out, err = io.StringIO(), io.StringIO()
    seeds = "2" if name == "reaction" else "0"
    arguments = ["--out", str(folder), "--budget", str(BUDGET), "--workers", "1", "--seed", "3", "--seeds", seeds]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(["demo", name, *arguments])
    return Run(name, code, out.getvalue(), err.getvalue(), folder)


def test_demo_succeeds_and_is_silent_on_standard_error(run: Run) -> None:
    assert (run.code, run.err) == (0, "")


def test_demo_writes_its_files_and_nothing_else(run: Run) -> None:
    page = [f"{run.name}.html"] if importlib.util.find_spec("plotly") else []
    files = [f"{run.name}.jsonl", f"{run.name}.csv", *page, *(f"{run.name}_{figure}.png" for figure in FIGURES)]
    assert sorted(path.name for path in run.folder.iterdir()) == sorted(files)
    assert all(str(run.folder / name) in run.out for name in page)


def test_figures_are_pictures_of_something(run: Run) -> None:
    from matplotlib.image import imread

    for name in FIGURES:
        pixels = imread(run.folder / f"{run.name}_{name}.png")
        assert pixels.shape[0] >= 600
        assert pixels.shape[1] >= 900
        assert pixels[..., :3].std() > 0.05


def test_the_journal_holds_the_new_study_and_not_the_one_that_was_there(run: Run) -> None:
    with run.study() as optimizer:
        assert optimizer.settings.seed == 3
        assert optimizer.space.names == run.demo.space.names
        assert optimizer.counts.answered == len(optimizer.trials) == BUDGET
    assert len((run.folder / f"{run.name}.csv").read_text(encoding="utf-8").splitlines()) == 1 + BUDGET


def test_each_batch_has_one_line_with_the_best_so_far_in_its_units(run: Run) -> None:
    lines = re.findall(rf"^ +(\d+)/{BUDGET}  (.*)$", run.out, re.MULTILINE)
    assert [int(done) for done, _ in lines] == [8, 16, 20]
    goal = next(iter(run.demo.goals.values()))
    unit = f" {goal.units}" if goal.units else ""
    with run.study() as optimizer:
        best = versus.best_so_far(optimizer, BUDGET)
        design = sum(row["origin"] == "design" for row in optimizer.records())
    for done, said in lines:
        value, words = best[int(done) - 1], said.split("; ")
        if math.isnan(value):
            assert said == "nothing within the limits yet"
            continue
        assert words[0] == f"best {value:.4g} {goal.units}".rstrip()
        if "expected" in said:
            assert re.fullmatch(rf"gained (nothing|\S+{unit}), about \S+{unit} expected", words[1])
        else:
            assert words[1].startswith("the first") or int(done) < design + Q


def test_the_end_gives_every_outcome_of_the_best_in_its_units(run: Run) -> None:
    with run.study() as optimizer:
        best = optimizer.best
    if best is None:
        assert "Nothing was found" in run.out
        return
    params, value = best
    (objective, goal), *limits = run.demo.goals.items()
    assert f"Best: {objective} {value:.4g} {goal.units}".rstrip() in run.out
    outcomes = run.demo.function(params)
    for name, limit in limits:
        assert f"{name} {outcomes[name]:.4g} {limit.units}" in run.out
    assert run.out.rstrip().endswith(" s.")


def test_demo_leaves_environment_and_interrupts_as_they_were(run: Run) -> None:
    assert signal.getsignal(signal.SIGINT) is INTERRUPTED
    assert {name: os.environ.get(name) for name in ONE_THREAD} == ENVIRONMENT


def test_the_comparison_is_printed_with_medians_of_its_runs(run: Run) -> None:
    rows = re.findall(r"^  (\w+, \d at a time) +(none|\S+ %) +(none|\S+ %) +(\d+)$", run.out, re.MULTILINE)
    if run.name != "reaction":
        assert rows == []
        return
    for (label, *cells, needed), method in zip(rows, versus.methods(Q), strict=True):
        curves = [versus.run_once(run.demo, method, seed, BUDGET) for seed in (3, 4)]
        after = min(3 * method.q, BUDGET) - 1
        values = [versus._median([curve[i] for curve in curves], -1.0) for i in (-1, after)]
        assert (label, int(needed)) == (method.label, -(-BUDGET // method.q))
        assert cells == ["none" if value is None else f"{value:.4g} %" for value in values]


@pytest.mark.parametrize(("place", "q", "strategy"), [(0, 4, None), (1, 1, None), (2, 4, "random")])
def test_medians_are_those_of_studies_that_are_asked_and_told(place: int, q: int, strategy: str | None) -> None:
    """At equal evaluations and at equal rounds, from direct calls."""
    shown, budget, seeds = DEMOS["function"], 18, (0, 1, 2)
    with ThreadPoolExecutor(1) as executor:
        reached = versus.compare(shown, 4, seeds, budget, executor)[place]
    all_, some = [], []
    for seed in seeds:
        options: dict[str, Any] = {} if strategy is None else {"strategy": strategy, "n_init": 1}
        optimizer = bv.Optimizer(shown.space, outcomes=shown.goals, seed=seed, **options)
        values: list[float] = []
        while len(values) < budget:
            batch = optimizer.ask(min(q, budget - len(values)))
            for trial in batch:
                values.append(shown.function(trial.params)["value"])
                optimizer.tell(trial, {"value": values[-1]})
        all_.append(min(values))
        some.append(min(values[: min(5 * q, budget)]))
    assert (reached.evaluations, reached.rounds) == (statistics.median(all_), statistics.median(some))
    assert reached.needed == -(-budget // q)


@pytest.mark.parametrize(
    ("name", "ours", "theirs", "said"),
    [
        ("reaction", 90.0, 80.0, "ahead of one at a time: 90 % against 80 %."),
        ("reaction", 70.0, 80.0, "behind one at a time: 70 % against 80 %."),
        ("classifier", 2.0, 3.0, "ahead of one at a time: 2 % against 3 %."),
        ("classifier", 4.0, 3.0, "behind one at a time: 4 % against 3 %."),
        ("classifier", 3.0, 3.0000001, "and one at a time reach the same: 3 %."),
        ("reaction", None, 80.0, "behind one at a time: none against 80 %."),
        ("simulation", 7.0, None, "ahead of one at a time: 7 kg/h against none."),
        ("simulation", None, None, "and one at a time find nothing within the limits."),
    ],
)
def test_whoever_is_ahead_is_called_so(name: str, ours: float | None, theirs: float | None, said: str) -> None:
    batches, single, chance = versus.methods(8)
    found = [
        versus.Reached(batches, ours, ours, 4),
        versus.Reached(single, theirs, theirs, 32),
        versus.Reached(chance, theirs, theirs, 4),
    ]
    lines = demo.comparison(DEMOS[name], found).splitlines()[4:]
    assert lines[0].endswith(said)
    assert lines[0].startswith("At equal evaluations, batches")
    assert lines[1].startswith("At equal rounds, batches")
    assert "random points" in lines[2]
    assert len(lines) == 3 + (ours is None or theirs is None)


def test_one_at_a_time_is_compared_with_random_points_alone() -> None:
    with ThreadPoolExecutor(1) as executor:
        reached = versus.compare(DEMOS["function"], 1, (0,), 2, executor)
    assert [one.method.q for one in reached] == [1, 1]
    assert "random points" in demo.comparison(DEMOS["function"], reached).splitlines()[-1]


def test_runs_without_a_result_within_the_limits_count_as_the_worst() -> None:
    nothing = float("nan")
    assert versus._median([nothing, 3.0, 5.0], -1.0) == 3.0
    assert versus._median([nothing, 3.0, 5.0], 1.0) == 5.0
    assert versus._median([nothing, nothing, 5.0], 1.0) is None


def test_a_study_that_finds_nothing_within_its_limits_is_told_as_one() -> None:
    shown = DEMOS["simulation"]
    optimizer = bv.Optimizer(shown.space, outcomes=shown.goals, failures="learn", seed=0)
    optimizer.observe(COLD, {"product": 1.0, "hot spot": 200.0, "conversion": 95.0})
    optimizer.observe({**COLD, "feed": 30.0}, {"product": 1.0, "hot spot": 220.0, "conversion": 95.0})
    said = demo.conclusion(shown, optimizer)
    assert "Nothing was found: of 2 results none keeps all limits." in said
    assert "hot spot 0, conversion 2." in said
    assert all(map(math.isnan, versus.best_so_far(optimizer, 3)))


def test_the_list_has_four_demos_and_the_first_is_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--list"]) == 0
    names = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert names == ["reaction", "classifier", "simulation", "function"] == [*DEMOS]


def test_the_table_of_the_reaction_has_every_combination_of_its_space_and_no_other() -> None:
    space = DEMOS["reaction"].space
    points = space.decode(np.random.default_rng(0).random((30_000, space.dim)))
    assert {tuple(params.values()) for params in points} == set(table())
    assert f"{len(table())} combinations" in DEMOS["reaction"].story
    assert all(0.0 <= number <= 100.0 for row in table().values() for number in row)


def test_the_place_in_the_table_is_counted_from_all_of_it() -> None:
    shown = DEMOS["reaction"]
    rows = [dict(zip(shown.space.names, row, strict=True)) for row in table()]
    pure = sorted((measure(row)["yield"], i) for i, row in enumerate(rows) if measure(row)["purity"] >= MIN_PURITY)
    for place, words in ((-1, "and was found"), (-3, "and 2 of them yield more than the best result found")):
        optimizer = bv.Optimizer(shown.space, outcomes=shown.goals, seed=0)
        optimizer.observe(rows[pure[place][1]], measure(rows[pure[place][1]]))
        said = rank(optimizer)
        assert said is not None
        assert said.endswith(f"{words}.")
        assert f"{len(pure)} of {len(table())} rows keep the limit" in said


def test_the_simulation_keeps_its_balances_and_crashes_where_it_runs_away() -> None:
    cold = simulate(COLD)
    assert cold["conversion"] < 0.1
    assert cold["hot spot"] == pytest.approx(20.0, abs=0.1)
    warm = simulate({**COLD, "wall": 120.0, "feed": 120.0, "velocity": 0.02})
    liters = 3.6e6 * 3.14159265 / 4.0 * 0.01**2 * 0.02
    assert warm["product"] == pytest.approx(0.1 * liters * warm["conversion"] / 100.0)
    assert 120.0 < warm["hot spot"] <= 120.0 + 90.0
    with pytest.raises(RuntimeError, match="ran away"):
        simulate({**COLD, "wall": 140.0, "feed": 140.0, "concentration": 3.0, "diameter": 60.0, "velocity": 0.02})


@pytest.mark.parametrize("opened", [False, True])
def test_the_page_is_opened_only_if_asked_for(
    opened: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("plotly")
    shown: list[str] = []
    monkeypatch.setattr(webbrowser, "open", shown.append)
    words = ["demo", "function", "--budget", "2", "--seeds", "0", "--workers", "1", "--out", str(tmp_path)]
    assert main([*words, *(["--open"] if opened else [])]) == 0
    assert shown == ([(tmp_path / "function.html").resolve().as_uri()] if opened else [])


def test_without_plotly_it_says_what_to_install_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(*arguments: object, **options: object) -> str:
        raise bv.errors.MissingExtra("plotly", "report")

    monkeypatch.setattr(bv.Optimizer, "report", missing)
    words = ["demo", "function", "--budget", "2", "--seeds", "0", "--workers", "1", "--out", str(tmp_path), "--open"]
    (tmp_path / "function.html").write_text("of an earlier run")
    assert main(words) == 0
    assert "pip install 'believer[report]'" in capsys.readouterr().out
    assert not (tmp_path / "function.html").exists()
    assert (tmp_path / "function.jsonl").exists()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "required: verb"),
        (["dance"], "invalid choice: 'dance'"),
        (["demo", "--q", "0"], "--q: must be a whole number, 1 or more; got '0'"),
        (["demo", "--budget", "many"], "--budget: must be a whole number, 1 or more; got 'many'"),
        (["demo", "--seed", "-1"], "--seed: must be a whole number, 0 or more; got '-1'"),
        (["demo", "--workers", "1.5"], "--workers: must be a whole number, 1 or more; got '1.5'"),
        (["demo", "dance"], "invalid choice: 'dance'"),
        (["demo", "--seeds", "-1"], "--seeds: must be a whole number, 0 or more; got '-1'"),
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
    assert main(["demo", "classifier", "--out", str(tmp_path / "out")]) == 2
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


def test_a_study_without_a_single_result_is_an_error() -> None:
    def fail(params: dict[str, float]) -> dict[str, float]:
        raise RuntimeError("no luck")

    shown = replace(DEMOS["function"], function=fail)
    with (
        ThreadPoolExecutor(1) as executor,
        pytest.raises(bv.errors.EvaluationError, match=r"every evaluation failed; .* RuntimeError: no luck"),
    ):
        demo.solve(shown, 1, 2, 0, executor)
    assert all(map(math.isnan, versus.run_once(shown, versus.methods(2)[0], 0, 20)))


@pytest.mark.parametrize(("value", "explained"), [(-3.2031, True), (-3.3, False), (-3.0, False)])
def test_the_second_basin_of_hartmann_is_called_by_its_name(value: float, explained: bool) -> None:
    shown = DEMOS["function"]
    optimizer = bv.Optimizer(shown.space, outcomes=shown.goals, seed=0)
    optimizer.observe(shown.space.decode([[0.5] * 6])[0], value)
    said = gap(optimizer)
    assert said is not None
    assert f"{value + 3.3223680114155147:.5f} above the optimum" in said
    assert ("second-best basin" in said) is explained


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
    assert (noted[0].out, noted[0].name, noted[0].q) == (Path("believer-demo"), "reaction", 8)
