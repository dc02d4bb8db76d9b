"""One cell: the same start for everyone, the whole budget, every batch measured, failures kept."""

import importlib
import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from believer.arrays import Array
from believer.batch.verdict import random_pair_distance
from believer.errors import InvalidInput, MissingExtra
from believer.experiments import Cell
from believer.numerics.sampling import latin_hypercube
from believer.optimizer import Optimizer
from believer.problems import branin, hartmann6
from believer.space import Space
from believer.space.parameters import Categorical, Float, Int
from believer_bench import race as room
from believer_bench.contest import Contest
from believer_bench.members import Entrant, Ours, versions
from believer_bench.peers import PEERS, PeerEntry
from believer_bench.race import design, race

PER_BATCH = ("batches", "seconds", "cpu_seconds", "spread", "least", "near_duplicates", "near_by_verdict")
MIXED = Space({"a": Float(1e-3, 1, log=True), "b": Int(0, 4), "c": Categorical(["u", "v"])})
OWN = """
import math

def mixed(params):
    if params["c"] == "v" and params["b"] == 4:
        raise RuntimeError("no")
    if params["b"] == 3:
        return math.nan
    return abs(math.log(params["a"]) + 2) + params["b"]

def broken(params):
    return params["nothing"]

def forgetful(params):
    params["a"]

def wordy(params):
    return "1.0 m"

number = 7
"""


def cell(member: str = "kb", problem: str = "branin", seed: int = 0, **settings: Any) -> Cell:
    usual = {"member": member, "problem": problem, "q": 3, "budget": 9, "n_init": 4}
    return Cell("bench", usual | settings, seed)


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module with functions of the user's own."""
    (tmp_path / "own_functions.py").write_text(OWN)
    (tmp_path / "needs_more.py").write_text("import no_such_package")
    (tmp_path / "half_done.py").write_text("raise AttributeError('not yet.')")
    (tmp_path / "leaves.py").write_text("import sys\nsys.exit(3)")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "own_functions", raising=False)
    return "own_functions"


@pytest.mark.parametrize("member", ["kb", "random", "cl_min@mq_rbf"])
def test_a_row_has_every_value_and_an_entry_for_each_batch(member: str) -> None:
    row = race(cell(member))
    assert json.loads(json.dumps(row)) == row
    assert row.keys() == {"values", *PER_BATCH, "setup_seconds", "design", "versions"}
    assert row["batches"] == [3, 2]
    assert {len(row[name]) for name in PER_BATCH} == {2}
    assert row["versions"] == versions(member)
    assert all(seconds > 0.0 for seconds in [*row["seconds"], row["setup_seconds"]])
    start = branin().evaluate(design(branin().space, 4, 0))
    assert row["values"][:4] == start.tolist()
    assert len(row["values"]) == 9


def test_the_run_is_the_optimizers_own() -> None:
    """The values are those that Optimizer, fed with the design, finds by itself."""
    problem = branin()
    optimizer = Optimizer(problem.space, strategy="cl_mean", n_init=4, seed=5)
    for params in problem.space.decode(design(problem.space, 4, 5)):
        optimizer.observe(params, problem(params))
    verdicts = []
    for q in (3, 2):
        batch = optimizer.ask(q)
        optimizer.tell_many(batch, [problem(trial.params) for trial in batch])
        verdicts.append(batch.verdict)
    row = race(cell("cl_mean", seed=5))
    assert row["values"] == [record["value"] for record in optimizer.records()]
    assert row["least"] == pytest.approx([verdict.min_distance for verdict in verdicts])
    across = random_pair_distance(problem.space.region())
    assert [across * spread for spread in row["spread"]] == pytest.approx([v.mean_distance for v in verdicts])


def test_every_member_of_a_problem_and_seed_starts_from_the_same_points() -> None:
    rows = [race(cell(member, q=q)) for member in ("kb", "random") for q in (1, 3)]
    assert len({row["design"] for row in rows}) == 1
    assert len({tuple(row["values"][:4]) for row in rows}) == 1
    assert race(cell("random", seed=1))["design"] != rows[0]["design"]
    assert race(cell("random", n_init=5))["design"] != rows[0]["design"]


def test_the_design_is_a_latin_hypercube_of_the_seed_on_the_points_of_the_space() -> None:
    space = hartmann6().space
    expected = latin_hypercube(12, 6, np.random.default_rng([3, 6]))
    np.testing.assert_array_equal(design(space, 12, 3), expected)
    X = design(MIXED, 10, 0)
    np.testing.assert_array_equal(MIXED.region().project(X), X)
    assert sorted(params["b"] for params in MIXED.decode(X)) == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]


def test_the_benchmark_of_regret_runs_the_same_race(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
        monkeypatch.setenv(name, "1")
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    regret = importlib.import_module("regret")
    monkeypatch.setattr(regret, "EVALUATIONS", 20)
    theirs = regret.run_cell(regret.Cell("believer", "hartmann6", 3), regret.ours)
    ours = race(cell("hedged", "hartmann6", 3, n_init=12, budget=20))
    assert theirs["design"] == ours["design"]
    assert theirs["best"] == min(ours["values"])
    np.testing.assert_allclose(theirs["curve"], np.minimum.accumulate(ours["values"]), rtol=1e-9)
    assert theirs.keys() in [row.keys() for row in regret.read_rows([regret.RESULTS]).values()]


def test_a_course_has_every_point_value_and_clock_in_order() -> None:
    def bowl(X: Array) -> Array:
        return np.where(X[:, 0] > 0.9, np.nan, (X**2).sum(axis=1))

    space = Space.cube(2)
    X = design(space, 4, 0)
    course = room.run(partial(Ours, space, seed=0, strategy="random"), bowl, X, bowl(X), q=3, budget=9)
    assert [len(batch) for batch in course.batches] == [3, 2]
    np.testing.assert_array_equal(course.X, np.vstack([X, *course.batches]))
    np.testing.assert_array_equal(course.y, bowl(course.X))
    assert course.spent.shape == (3, 2)
    assert (course.spent[:, 0] > 0.0).all()
    wide, (x, other, _) = course.apart(np.array([0.5, 2.0]))[0], course.batches[0]
    assert wide[0] == pytest.approx(np.hypot(2.0 * (x[0] - other[0]), 0.5 * (x[1] - other[1])))


def test_one_point_at_a_time_has_no_distances() -> None:
    row = race(cell(q=1, budget=6))
    assert row["batches"] == [1, 1]
    assert row["spread"] == row["least"] == [None, None]
    assert row["near_duplicates"] == [0, 0]


class Stubborn:
    """A peer that proposes what the test says, and remembers what it is told."""

    proposals: Array = np.zeros((3, 2))
    told: list[tuple[Array, Array]] = []  # noqa: RUF012

    def __init__(self, space: Space, X0: Array, y0: Array, seed: int, noisy: bool) -> None:
        self.told.append((X0, y0))

    def ask(self, q: int) -> Array:
        return self.proposals[:q]

    def tell(self, X: Array, y: Array) -> None:
        self.told.append((X, y))


@pytest.fixture
def stubborn(monkeypatch: pytest.MonkeyPatch) -> type[Stubborn]:
    monkeypatch.setitem(PEERS, "stubborn", PeerEntry(Stubborn, (), (), "none"))
    monkeypatch.setattr(room, "_warm", {"stubborn"})
    monkeypatch.setattr(Stubborn, "told", [])
    return Stubborn


def test_near_duplicates_are_pairs_nearer_than_a_thousandth_of_the_cube(stubborn: type[Stubborn]) -> None:
    stubborn.proposals = np.array([[0.2, 0.5], [0.2, 0.5009], [0.2, 0.5018]])
    row = race(cell("stubborn", budget=7))
    assert row["near_duplicates"] == [2]
    np.testing.assert_allclose(row["least"], [0.0009])
    mean = (2 * 0.0009 + 0.0018) / 3
    np.testing.assert_allclose(row["spread"], [mean / random_pair_distance(branin().space.region())])


def test_a_peer_is_told_the_values_of_its_points(stubborn: type[Stubborn]) -> None:
    stubborn.proposals = np.array([[0.1, 0.2], [0.3, 0.9], [1.0, 0.0]])
    row = race(cell("stubborn", budget=9))
    assert [len(X) for X, _ in stubborn.told] == [4, 3, 2]
    for X, y in stubborn.told:
        np.testing.assert_array_equal(branin().evaluate(X), y)
    assert np.concatenate([y for _, y in stubborn.told]).tolist() == row["values"]


@pytest.mark.parametrize("outside", [[[0.1, 1.2]] * 3, [[0.1, np.nan]] * 3, [[0.1, 0.2]] * 2])
def test_a_proposal_that_is_no_batch_of_the_cube_is_an_error(stubborn: type[Stubborn], outside: Any) -> None:
    stubborn.proposals = np.array(outside)
    with pytest.raises(ValueError, match="a member must propose 3 points inside the unit cube"):
        race(cell("stubborn"))


def test_a_process_warms_a_member_up_once_before_it_is_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    entered: list[tuple[str, int]] = []
    enter = Entrant.enter

    def counted(self: Entrant, space: Space, *start: Any, **known: Any) -> Any:
        entered.append((self.name, space.dim))
        return enter(self, space, *start, **known)

    monkeypatch.setattr(room, "_warm", set())
    monkeypatch.setattr(Entrant, "enter", counted)
    for seed in (0, 1):
        race(cell("random", "wave1", seed))
    assert entered == [("random", 2), ("random", 1), ("random", 1)]


def test_a_users_own_function_may_fail_on_any_space(own: str) -> None:
    contest = Contest.of_function(f"{own}:mixed", MIXED)
    row = race(cell("kb", **contest.settings, n_init=10, budget=16))
    assert len(row["values"]) == 16
    assert None in row["values"][:10]
    assert all(value is None or value >= 0.0 for value in row["values"])


def test_maximizing_the_negative_finds_the_same_points_and_keeps_the_users_units(own: str, tmp_path: Path) -> None:
    negative = "\n\ndef negative(params):\n    return -mixed(params)\n"
    (tmp_path / "own_functions.py").write_text(OWN + negative)
    least = race(cell("kb", **Contest.of_function(f"{own}:mixed", MIXED).settings, n_init=10, budget=16))
    most = race(cell("kb", **Contest.of_function(f"{own}:negative", MIXED, True).settings, n_init=10, budget=16))
    assert most["values"] == [None if value is None else -value for value in least["values"]]


def test_a_function_that_always_fails_is_an_error_that_says_why(own: str) -> None:
    contest = Contest.of_function(f"{own}:broken", MIXED)
    with pytest.raises(InvalidInput, match=r"the 4 initial evaluations of own_functions:broken failed.*KeyError"):
        race(cell("kb", **contest.settings))


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        ("forgetful", "the function returned None, not a number"),
        ("wordy", "InvalidInput: a value must be a number; got '1.0 m'"),
    ],
)
def test_what_a_function_returned_is_told_in_whole_sentences(own: str, function: str, reason: str) -> None:
    contest = Contest.of_function(f"{own}:{function}", MIXED)
    with pytest.raises(InvalidInput, match=f"failed; the first: {reason}. Mend the function") as caught:
        race(cell("kb", **contest.settings))
    assert ".." not in str(caught.value)


def test_after_the_design_every_point_is_the_strategys_though_evaluations_failed(own: str) -> None:
    contest = Contest.of_function(f"{own}:mixed", MIXED)
    X = design(MIXED, 10, 0)
    y = contest.values(X)
    assert 0 < np.isfinite(y).sum() < len(y)
    member = Ours(MIXED, X, y, 0, strategy="kb")
    for values in ([np.nan, np.nan], [1.0, np.nan]):
        member.tell(member.ask(2), np.array(values))
    assert not [t.provenance for t in member._optimizer.trials[10:] if "Latin hypercube" in t.provenance]


def test_an_error_of_the_librarys_problem_is_not_a_failed_evaluation(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(params: dict[str, Any]) -> float:
        raise MissingExtra("scikit-learn", "surrogates")

    contest = Contest(branin().space, missing, {"problem": "branin"})
    with pytest.raises(MissingExtra):
        contest.values(np.array([[0.5, 0.5]]))


def test_settings_say_everything_about_a_function_of_ones_own(own: str, tmp_path: Path) -> None:
    contest = Contest.of_function(f"{own}:mixed", MIXED, maximize=True)
    settings = dict(contest.settings)
    again = Contest.from_settings(json.loads(json.dumps(settings)))
    assert (again.space, again.maximize, again.own) == (MIXED, True, True)
    assert again.settings == settings
    assert (settings["problem"], settings["function"]) == ("mixed", "own_functions:mixed")
    assert Contest.of_function(sys.modules[own].mixed, MIXED, maximize=True).settings == settings
    (tmp_path / "own_functions.py").write_text(OWN + "# changed\n")
    assert Contest.of_function(f"{own}:mixed", MIXED, maximize=True).settings["code"] != settings["code"]


@pytest.mark.parametrize(
    ("function", "words"),
    [
        ("own_functions", "must be named as module:object; got 'own_functions'"),
        (":mixed", "must be named as module:object"),
        ("own_functions:none", "cannot load 'own_functions:none': module .* has no attribute 'none'. Name an object"),
        ("no_such_module:f", r"No module named 'no_such_module'\. Is the module on the Python path\?"),
        ("no_such.module:f", "Is the module on the Python path"),
        ("own_functions.py:mixed", r"Name the module without \.py, as own_functions:mixed\.$"),
        ("not_there.py:mixed", r"Name the module without \.py, as not_there:mixed\.$"),
        ("needs_more:f", r"importing 'needs_more' raised ModuleNotFoundError: No module named 'no_such_package'\.$"),
        ("half_done:f", r"importing 'half_done' raised AttributeError: not yet\.$"),
        ("leaves:f", r"importing 'leaves' raised SystemExit: 3\.$"),
        ("own_functions:number", "a function must be callable.*; got 'own_functions:number'"),
        (lambda params: 0.0, "cannot load '.*<lambda>'"),
        (len, "needs a believer.Space"),
    ],
)
def test_a_function_that_no_other_process_could_find_is_refused(own: str, function: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        Contest.of_function(function, None if function is len else MIXED)  # type: ignore[arg-type]


def test_a_space_with_a_constraint_is_refused(own: str) -> None:
    constrained = Space({"a": Float(0, 1)}, lambda params: True)
    with pytest.raises(InvalidInput, match="must have no constraint"):
        Contest.of_function(f"{own}:mixed", constrained)


def test_ours_takes_the_options_of_an_optimizer() -> None:
    X = np.array([[0.1, 0.2], [0.7, 0.6], [0.4, 0.9]])
    member = Ours(Space.cube(2), X, np.array([1.0, np.nan, 0.5]), 0, strategy="top_q")
    assert member.verdict is None
    member.tell(member.ask(2), np.array([np.nan, 2.0]))
    assert member._optimizer.counts.failed == 2
    assert member._optimizer.counts.done == 3
    assert member.verdict is not None
