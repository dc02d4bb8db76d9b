"""A suite: problems by class, with batches, budgets and modes that fit; raced, told by class and left as a page."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_runs import run

from believer.errors import InvalidInput
from believer.experiments import Cell, read_store
from believer.problems import branin
from believer.space import Space
from believer_bench.members import Ours
from believer_bench.peers import PEERS, PeerEntry
from believer_bench.plan import benchmark, cells_of, members
from believer_bench.problems import KINDS, PROBLEMS, SUITE
from believer_bench.race import design, durations, race
from believer_bench.race import run as course_of
from believer_bench.suite import BUDGETS, SUITES, design_size, suite_tasks
from believer_bench.suite_report import SuiteReport, suite_report

NOISY = "branin_noise50"
FINITE = "coarse4"
SMALL: dict[str, Any] = {"problems": ["branin", NOISY], "q": 3, "seeds": 2, "budget": 14, "progress": False}


def cell(member: str = "kb", problem: str = "branin", seed: int = 0, **settings: Any) -> Cell:
    usual = {"member": member, "problem": problem, "q": 3, "budget": 16, "n_init": 5}
    return Cell("bench", usual | settings, seed)


class Slow:
    """A member that remembers what it was asked and told."""

    verdict = None

    def __init__(self, X0: Any, y0: Any) -> None:
        self.waiting: list[Any] = []
        self.most = 0
        self.order: list[int] = []
        self.asked = 0

    def ask(self, q: int) -> Any:
        assert q == 1
        self.asked += 1
        self.waiting.append(np.full((1, 2), self.asked / 100.0))
        self.most = max(self.most, len(self.waiting))
        return self.waiting[-1]

    def tell(self, X: Any, y: Any) -> None:
        (number,) = [i for i, points in enumerate(self.waiting) if (points == X).all()]
        self.order.append(round(100.0 * float(self.waiting.pop(number)[0, 0])))

    def recommend(self) -> None:
        return None


def test_an_asynchronous_race_tells_each_result_when_its_time_has_come() -> None:
    X = np.array([[0.5, 0.5], [0.6, 0.6]])
    times = np.array([5.0, 1.0, 2.0, 3.0, 9.0, 1.0])
    course = course_of(Slow, lambda points: points[:, 0], X, X[:, 0], 2, 8, times)
    member = course.member
    assert isinstance(member, Slow)
    # Worker one: 1 until 5, 5 until 14. Worker two: 2 until 1, 3 until 3, 4 until 6, 6 until 7.
    assert member.order == [2, 3, 1, 4, 6, 5]
    assert member.most == 2
    np.testing.assert_allclose(course.y[2:], [0.02, 0.03, 0.01, 0.04, 0.06, 0.05])
    assert [len(points) for points in course.pending] == [0, 1, 1, 1, 1, 1]
    apart = [gaps.tolist() for gaps in course.apart()]
    assert apart[0] == []
    np.testing.assert_allclose([gaps[0] for gaps in apart[1:]], np.sqrt(2.0) * np.array([1, 2, 3, 1, 1]) / 100.0)


def test_evaluation_times_spread_tenfold_and_depend_on_seed_and_workers_only() -> None:
    times = durations(2000, 3, 7)
    assert 1.0 <= times.min() < 1.01 < 9.9 < times.max() < 10.0
    assert np.median(times) == pytest.approx(np.sqrt(10.0), rel=0.1)
    np.testing.assert_array_equal(durations(10, 3, 7), times[:10])
    assert (durations(10, 3, 8) != times[:10]).all()


@pytest.mark.parametrize("member", ["kb", "random"])
def test_an_asynchronous_row_has_one_point_a_batch_and_as_many_values(member: str) -> None:
    row = race(cell(member, mode="async"))
    assert row["batches"] == [1] * 11
    assert len(row["values"]) == 16
    assert row["least"][0] is None
    assert all(gap > 0.0 for gap in row["least"][1:])
    assert row["design"] == race(cell("random"))["design"]
    assert race(cell(member, mode="async"))["values"] == row["values"]


def test_with_one_worker_both_modes_are_the_same_race() -> None:
    assert race(cell(q=1, mode="async"))["values"] == race(cell(q=1))["values"]


def test_a_peer_that_forgets_pending_points_is_refused_asynchronously() -> None:
    assert [name for name, entry in PEERS.items() if entry.asynchronous] == ["optuna_gp"]
    tasks = suite_tasks(SUITES["quick"], ["branin"], modes=["async"])
    with pytest.raises(InvalidInput, match="egobox_kb cannot race asynchronously"):
        cells_of(members((), peers="egobox_kb"), tasks, [0])


def test_of_a_noisy_problem_true_values_and_the_recommended_one_are_kept() -> None:
    row = race(cell(problem=NOISY, seed=3))
    assert json.loads(json.dumps(row)) == row
    problem = PROBLEMS[NOISY]()
    assert problem.truth is not None
    start = problem.space.decode(design(problem.space, 5, 3))
    assert row["truths"][:5] == [problem.truth(params) for params in start]
    noise = np.array(row["values"]) - np.array(row["truths"])
    assert np.std(noise) > 1.0
    assert row["recommended"] in row["truths"]
    assert race(cell("random", NOISY, 3))["values"][:5] == row["values"][:5]
    assert race(cell("random", NOISY, 4))["values"][:5] != row["values"][:5]
    assert "truths" not in race(cell("random"))


def test_ours_recommends_a_point_of_its_own_results() -> None:
    X = np.array([[0.1, 0.2], [0.7, 0.6], [0.4, 0.9]])
    member = Ours(Space.cube(2), X, np.array([1.0, np.nan, 0.5]), 0, strategy="random")
    recommended = member.recommend()
    assert recommended is not None
    np.testing.assert_allclose(recommended, X[2])


def test_quick_has_a_problem_of_every_class_and_full_all_with_all_batches() -> None:
    assert [PROBLEMS[name]().kind for name in SUITES["quick"].problems] == list(KINDS)
    tasks = suite_tasks(SUITES["full"])
    found = {(task.mode, task.q, task.contest.settings["problem"]) for task in tasks}
    assert {name for _, _, name in found} == set(SUITE)
    assert {(mode, q) for mode, q, _ in found} == {
        *(("sync", q) for q in BUDGETS),
        *(("async", q) for q in (3, 10, 50)),
    }


def test_budgets_follow_q_and_stay_within_finite_spaces() -> None:
    for task in suite_tasks(SUITES["full"]):
        size = task.contest.space.size
        assert task.budget == min(BUDGETS[task.q], size or 10**9)
        assert task.n_init == design_size(task.contest.space) <= task.budget - task.q
    size = PROBLEMS[FINITE]().space.size
    assert size is not None
    (task,) = suite_tasks(SUITES["quick"], [FINITE], budget=10**6)
    assert task.budget == size
    assert suite_tasks(SUITES["quick"], [FINITE], q=[size], budget=10**6) == []
    assert [design_size(Space.cube(d)) for d in (1, 2, 3, 9, 10, 30)] == [5, 5, 6, 18, 20, 20]


def test_cells_of_a_suite_are_those_of_any_race() -> None:
    (one,) = cells_of(members("kb"), suite_tasks(SUITES["quick"], ["branin"]), [0])
    assert one == Cell("bench", {"member": "kb", "problem": "branin", "budget": 50, "n_init": 5, "q": 3}, 0)
    (other,) = cells_of(members("kb"), suite_tasks(SUITES["quick"], ["branin"], modes=["async"]), [0])
    assert dict(other.settings) == {**one.settings, "mode": "async"}


def test_a_peer_races_where_it_can(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PEERS, "plain", PeerEntry(PEERS["optuna_gp"].make, (), (), "none", categorical=False))
    entrants = members("kb", peers="plain")
    tasks = suite_tasks(SUITES["quick"], ["branin", "classifier5"])
    racing = [
        (found.settings["member"], found.settings["problem"])
        for found in cells_of(entrants, tasks, [0], where_they_can=True)
    ]
    assert racing == [("kb", "branin"), ("plain", "branin"), ("kb", "classifier5")]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"suite": "huge"}, "a suite must be one of quick, full; got 'huge'"),
        ({"modes": "later"}, "a mode must be one of sync, async; got 'later'"),
        ({"problems": "svm_breast_cancer"}, "needs a known optimum; svm_breast_cancer has none"),
        ({"space": branin().space}, "a suite has problems of its own"),
        ({"suite": None, "modes": "async"}, "modes belong to a suite"),
    ],
)
def test_what_no_suite_can_race_is_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        benchmark(**{"suite": "quick", "strategies": "random"} | SMALL | change)


@pytest.fixture(scope="module")
def raced(tmp_path_factory: pytest.TempPathFactory) -> tuple[SuiteReport, Path]:
    results = tmp_path_factory.mktemp("suite") / "results.jsonl"
    report = benchmark(["kb", "random"], suite="quick", modes=["sync", "async"], results=results, **SMALL)
    return report, results


def test_a_suite_is_a_report_by_class(raced: tuple[SuiteReport, Path]) -> None:
    report, results = raced
    assert len(report.runs) == len(read_store(results)) == 16
    assert report.reference == "kb"
    assert {line.kind for line in report.lines} == {"smooth", "noisy", "all"}
    assert {(line.group.mode, line.group.q) for line in report.lines} == {("sync", 3), ("async", 3)}
    assert all(run.recommended is not None for run in report.runs if run.case.problem == NOISY)
    assert "What was found" in str(report)


def test_every_member_is_on_the_page_which_needs_no_other_file(raced: tuple[SuiteReport, Path], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    report, _ = raced
    report.write(tmp_path)
    page = (tmp_path / "bench.html").read_text(encoding="utf-8")
    twin = (tmp_path / "bench.md").read_text(encoding="utf-8")
    for text in (page, twin):
        for word in ("kb", "random", "branin", NOISY, "q=3, asynchronous", "Wilcoxon", "true value"):
            assert word in text
    assert not re.search(r"<(script|link)|https?://", page)
    assert page.count("<details>") == page.count("</details>") == 4
    shown = re.findall(r"\((profiles_\w+\.png)\)", twin)
    assert sorted(shown) == sorted(path.name for path in tmp_path.glob("*.png"))
    assert len(shown) == 4
    lines = (tmp_path / "runs.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 17
    alone = suite_report(
        [(one.cell, one.result) for one in read_store(raced[1]) if one.cell.settings["member"] == "kb"]
    )
    assert "profiles_data_q3" in alone.drawings()
    assert "profiles_ratio_q3" not in alone.drawings()


def test_the_command_races_a_suite_and_takes_it_up(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    small = ("--suite", "quick", "--problems", "branin", "--budget", "11", "--seeds", "1", "--workers", "1")
    ran = run("bench", *small, "--out", tmp_path)
    assert ran.code == 0, ran.err
    (row,) = read_store(tmp_path / "results.jsonl")
    assert (row.cell.settings["member"], row.cell.settings["q"]) == ("hedged", 3)
    said = (tmp_path / "bench.md").read_text(encoding="utf-8")
    assert (
        "believer bench --suite quick --strategies hedged --surrogates gp --problems branin --seeds 0-0 --budget 11"
        in said
    )
    before = (tmp_path / "results.jsonl").read_bytes()
    assert run("bench", *small, "--out", tmp_path).code == 0
    assert (tmp_path / "results.jsonl").read_bytes() == before
    assert "quick (a problem of each class" in run("bench", "--list").out
    assert run("bench", "--modes", "async").code != 0
