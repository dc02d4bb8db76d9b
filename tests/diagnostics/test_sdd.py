"""The Structural Diversity Diagnostic: each verdict for a surrogate that deserves it, and a report one can keep."""

import csv
import io
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each import each
from sdd_fakes import Answering, Deaf, DeafConditioned, FixableTilt, Spots, Steps, Tilt, TiltModel, batch, measured

import believer as bv
from believer.arrays import Array
from believer.diagnostics import sdd as room
from believer.diagnostics.measurement import Measurement, SddPart
from believer.diagnostics.sdd import diagnose, diagnosis, sdd
from believer.diagnostics.sdd_report import PARTS, VERDICTS, SDDReport, is_diverse, own_response, verdict_of
from believer.diagnostics.structural import measure
from believer.errors import BelieverError, EvaluationError, InvalidInput, MissingCapability, SpaceExhausted
from believer.experiments import read_store
from believer.problems import Problem
from believer.surrogates.data import Data
from believer.surrogates.protocols import Model, Prediction, Surrogate

X = np.array([[2, 11], [14, 6], [5, 3], [9, 15], [8, 8], [12, 1]]) / 16.0
Y = np.array([2.0, -1.0, 0.5, 3.0, 0.0, 1.0])
CELLS = (np.array([[0.1], [0.3], [0.5], [0.7], [0.9]]), np.array([3.0, 2.0, 0.0, 2.0, 3.0]))

DIVERSE = "responds and diverse"
HIDDEN = "responds, but the optimizer could not show it"
NOTHING = "does not respond"
OTHER = "diverse for another reason than the lie"


def quick(surrogate: Surrogate, data: Any = (X, Y), **options: Any) -> SDDReport:
    return sdd(surrogate, data, **{"q": 2, "seeds": 1, "progress": False, **options})


def timeless(report: SDDReport) -> SDDReport:
    """A report without the seconds, which are never the same twice."""

    def still(m: Measurement) -> Measurement:
        parts: dict[str, Any] = {name: getattr(m, name) for name in PARTS}
        return replace(m, **{name: part and replace(part, seconds=0.0) for name, part in parts.items()})

    return replace(report, measurements=tuple(map(still, report.measurements)))


def test_the_four_verdicts_are_in_these_words() -> None:
    assert VERDICTS == (DIVERSE, HIDDEN, NOTHING, OTHER)


@each(
    ("verdict", "surrogate", "data", "options"),
    [
        (DIVERSE, bv.GP(), "branin", {"n": 8, "q": 3, "seeds": 2}),
        (DIVERSE, bv.GP(), "branin", {"n": 8, "update": "refit"}),
        (HIDDEN, Steps(), CELLS, {"acquisition": bv.UCB(), "q": 3}),
        (HIDDEN, Spots(), (X, Y), {"acquisition": bv.EI(), "q": 3}),
        (NOTHING, bv.GP(), (X, Y), {"update": "none", "q": 3}),
        (NOTHING, Deaf(6), (X, Y), {"update": "refit", "q": 3}),
        (NOTHING, DeafConditioned(), (X, Y), {}),
        (NOTHING, Spots(), (X, Y), {"update": "none", "acquisition": bv.EI()}),
        (OTHER, FixableTilt(), (X, Y), {"acquisition": bv.UCB(), "update": "refit", "seeds": [0, 1, 2]}),
        (OTHER, bv.GP(), "branin", {"n": 8, "update": "none", "lie": bv.Believe(-1.0)}),
    ],
)
def test_a_surrogate_gets_the_verdict_that_it_deserves_on_every_data_set(
    verdict: str, surrogate: Surrogate, data: Any, options: dict[str, Any]
) -> None:
    report = quick(surrogate, data, **options)
    assert report.verdict == verdict
    assert report.verdicts[verdict] == len(report.measurements)


def test_a_plane_drawn_anew_is_mostly_diverse_for_another_reason_also_without_fixed_draws() -> None:
    report = quick(Tilt(), acquisition=bv.UCB(), update="refit", seeds=8)
    assert report.verdict == OTHER
    assert all(m.frozen is None for m in report.measurements)


def test_the_random_forest_responds_where_a_climb_cannot_show_it() -> None:
    pytest.importorskip("sklearn")
    report = quick(bv.RandomForest(trees=20), "branin", n=12, acquisition=bv.EI(), lie=bv.ConstantLie("max"))
    (m,) = report.measurements
    assert m.moved == 0.0
    assert m.frozen_free is not None
    assert own_response(m) == m.frozen_free.response > 0.01
    assert m.null_free.response > 0.0


@each(
    ("verdict", "parts"),
    [
        (NOTHING, {}),
        (NOTHING, {"free": batch(0.0, 1e-3)}),
        (HIDDEN, {"free": batch(0.0, 1.1e-3)}),
        (HIDDEN, {"free": batch(0.0, 0.5), "fixed": batch(1e-3, 0.5)}),
        (DIVERSE, {"free": batch(0.3, 0.5), "fixed": batch(1.1e-3)}),
        (OTHER, {"fixed": batch(0.3)}),
        (OTHER, {"fixed": batch(0.3, 0.5)}),
        (OTHER, {"free": batch(0.3, 0.5), "fixed": batch(0.3), "null": batch(0.3)}),
        # What the update does without the lie is not the lie's doing.
        (NOTHING, {"free": batch(0.3, 0.5), "null_free": batch(0.3, 0.5)}),
        (OTHER, {"fixed": batch(0.3), "free": batch(0.3, 0.5), "null_free": batch(0.3, 0.5)}),
        # Fixed draws, where there are any, decide alone.
        (HIDDEN, {"frozen": batch(0.0), "frozen_free": batch(0.0, 0.5)}),
        (NOTHING, {"free": batch(0.3, 0.5), "frozen": batch(0.0), "frozen_free": batch(0.0)}),
        (DIVERSE, {"fixed": batch(0.3), "frozen": batch(0.3), "frozen_free": batch(0.3, 0.5), "null": batch(0.3)}),
        (OTHER, {"fixed": batch(0.3), "frozen": batch(0.0), "frozen_free": batch(0.3, 0.5)}),
        (OTHER, {"fixed": batch(0.3), "frozen": batch(0.3), "frozen_free": batch(0.0), "free": batch(0.3, 0.5)}),
    ],
)
def test_a_verdict_follows_from_response_diversity_and_null(verdict: str, parts: dict[str, SddPart]) -> None:
    assert verdict_of(measured(**parts)) == verdict


def test_a_repeated_point_makes_a_batch_not_diverse_wherever_it_stands() -> None:
    far = SddPart(((0.0, 0.0), (0.5, 0.0), (0.0, 5e-4)), 0.0, (1.0, 1.0))
    assert not is_diverse(far)
    assert is_diverse(replace(far, points=((0.0, 0.0), (0.5, 0.0), (0.0, 5e-3))))


def test_the_most_frequent_verdict_is_the_reports() -> None:
    still, other = measured(), measured(fixed=batch(0.3))
    settings = quick(Spots()).settings
    assert SDDReport(settings, (still, other, other)).verdict == OTHER
    assert SDDReport(settings, (other, still)).verdict == NOTHING
    assert SDDReport(settings, (still, other, other)).verdicts == {DIVERSE: 0, HIDDEN: 0, NOTHING: 1, OTHER: 2}


def test_the_same_call_gives_the_same_report() -> None:
    first, again = (quick(bv.GP(), "branin", n=6, seeds=[3]) for _ in range(2))
    assert timeless(first) == timeless(again)
    assert first.settings == again.settings


@pytest.fixture(scope="module")
def gp_report() -> SDDReport:
    return quick(bv.GP(), "branin", n=6, q=3, seeds=[0, 1])


def test_worker_processes_measure_the_same(gp_report: SDDReport) -> None:
    there = quick(bv.GP(), "branin", n=6, q=3, seeds=[0, 1], workers=2)
    assert timeless(there) == timeless(gp_report)


def test_an_executor_measures_the_same() -> None:
    here = quick(Steps(), CELLS, acquisition=bv.UCB(), seeds=4)
    with ThreadPoolExecutor(2) as executor:
        there = quick(Steps(), CELLS, acquisition=bv.UCB(), seeds=4, executor=executor)
    assert timeless(there) == timeless(here)


def test_the_order_of_the_seeds_does_not_matter_and_seeds_are_named() -> None:
    up, down = (quick(FixableTilt(), acquisition=bv.UCB(), seeds=seeds) for seeds in ([1, 5, 9], [9, 5, 1]))
    assert [m.seed for m in down.measurements] == [9, 5, 1]
    assert timeless(up).measurements == timeless(down).measurements[::-1]
    (alone,) = quick(FixableTilt(), acquisition=bv.UCB(), seeds=[5]).measurements
    assert timeless(SDDReport(up.settings, (alone,))).measurements == timeless(up).measurements[1:2]
    assert [m.seed for m in quick(Spots(), seeds=3).measurements] == [0, 1, 2]


@pytest.fixture
def measurements_made(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The seeds that are measured from here on."""
    made: list[int] = []

    def counted(probe: Any, data: Any, seed: int) -> Measurement:
        made.append(seed)
        return measure(probe, data, seed)

    monkeypatch.setattr(room, "measure", counted)
    return made


def test_what_a_file_holds_is_not_measured_again(tmp_path: Path, measurements_made: list[int]) -> None:
    results = tmp_path / "results.jsonl"
    first = quick(Spots(), acquisition=bv.UCB(), seeds=2, results=results)
    assert measurements_made == [0, 1]
    again = quick(Spots(), acquisition=bv.UCB(), seeds=2, results=results)
    assert measurements_made == [0, 1]
    assert again == first
    more = quick(Spots(), acquisition=bv.UCB(), seeds=[3, 1, 0], results=results)
    assert measurements_made == [0, 1, 3]
    assert more.measurements[1:] == first.measurements[::-1]
    assert timeless(more) == timeless(quick(Spots(), acquisition=bv.UCB(), seeds=[3, 1, 0]))


@dataclass(frozen=True, slots=True)
class Leaning:
    """A custom surrogate with a setting: the plane's slope."""

    slope: float

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> TiltModel:
        X = data.X
        return TiltModel(np.full(X.shape[1], self.slope))


VARIANTS: list[Callable[[Path], SDDReport]] = [
    lambda path: quick(Leaning(1.0), acquisition=bv.UCB(), update="none", results=path),
    lambda path: quick(Leaning(-1.0), acquisition=bv.UCB(), update="none", results=path),
    lambda path: quick(Leaning(1.0), acquisition=bv.UCB(), results=path),
    lambda path: quick(Leaning(1.0), acquisition=bv.UCB(beta=3.0), update="none", results=path),
    lambda path: quick(Leaning(1.0), acquisition=bv.EI(), update="none", results=path),
    lambda path: quick(Leaning(1.0), acquisition=bv.UCB(), update="none", q=3, results=path),
    lambda path: quick(Leaning(1.0), acquisition=bv.UCB(), update="none", lie=bv.Believe(), results=path),
    lambda path: quick(Leaning(1.0), acquisition=bv.UCB(), update="none", incumbent="data", results=path),
    lambda path: quick(Leaning(1.0), acquisition=bv.UCB(), update="none", maximizer=bv.Candidates(), results=path),
    lambda path: quick(Leaning(1.0), (X, Y + 1.0), acquisition=bv.UCB(), update="none", results=path),
    lambda path: quick(Leaning(1.0), (X / 2.0, Y), acquisition=bv.UCB(), update="none", results=path),
    lambda path: quick(Leaning(1.0), "branin", n=6, acquisition=bv.UCB(), update="none", results=path),
    lambda path: quick(Leaning(1.0), "branin", n=7, acquisition=bv.UCB(), update="none", results=path),
]


def test_results_of_other_settings_in_the_same_file_are_not_taken(tmp_path: Path, measurements_made: list[int]) -> None:
    results = tmp_path / "results.jsonl"
    first = [variant(results) for variant in VARIANTS]
    assert len(measurements_made) == len(VARIANTS) == len({line.cell.key for line in read_store(results)})
    assert [variant(results) for variant in VARIANTS] == first
    assert len(measurements_made) == len(VARIANTS)
    up, down = (report.measurements[0].fixed.points[0] for report in first[:2])
    assert (up, down) == ((0.0, 0.0), (1.0, 1.0))


def test_several_diagnoses_are_reported_each_for_itself() -> None:
    one, two = (diagnosis(Leaning(slope), (X, Y), 2, bv.UCB(), update="none") for slope in (1.0, -1.0))
    reports = diagnose([one, two], 2, progress=False)
    assert [r.measurements[1].fixed.points[0] for r in reports] == [(0.0, 0.0), (1.0, 1.0)]
    assert [m.seed for m in reports[1].measurements] == [0, 1]


def test_a_report_in_words_holds_the_verdict_every_part_and_the_controls(gp_report: SDDReport) -> None:
    text = str(gp_report)
    assert text.startswith("GP() on branin, n=6, q=3: lie ConstantLie(of=min), LogEI(xi=0.0), update auto, 2 seeds\n")
    assert f"verdict: {gp_report.verdict} (" in text
    for name, label in PARTS.items():
        assert (label in text) == (not name.startswith("frozen"))
    for question in ("did the model respond?", "could the optimizer move?", "was it the lie?"):
        assert text.count(question) == 1
    steps = np.mean([m.fixed.nearest for m in gp_report.measurements], axis=0)
    assert f"each member to its nearest predecessor: 2: {steps[0]:.3f}, 3: {steps[1]:.3f}; random pairs 0.5" in text
    assert "lengthscales" in text


def test_a_report_of_random_refits_tells_of_fixed_draws_and_not_of_lengthscales() -> None:
    text = str(quick(FixableTilt(), acquisition=bv.UCB(), seeds=2))
    assert "with the fit's draws held fixed 0 of 2" in text
    assert "A, draws fixed" in text
    assert "lengthscales" not in text


def test_a_maximizer_without_starts_is_not_said_to_have_moved_any() -> None:
    text = str(quick(Leaning(1.0), acquisition=bv.UCB(), maximizer=bv.Candidates()))
    assert "starts moved" not in text
    assert "could the optimizer move? it reached 1 of what" in text


def test_the_table_has_a_row_for_each_part_with_means_over_seeds(gp_report: SDDReport) -> None:
    table = gp_report.table()
    assert table.columns == ("batch", "min dist", "mean dist", "diverse", "response", "time (s)")
    assert [row[0] for row in table.rows] == [label for name, label in PARTS.items() if gp_report.parts(name)]
    a = gp_report.parts("fixed")
    assert table.rows[0][1:] == (
        np.mean([p.min_distance for p in a]),
        np.mean([p.mean_distance for p in a]),
        f"{sum(map(is_diverse, a))}/2",
        np.mean([p.response for p in a]),
        np.mean([p.seconds for p in a]),
    )
    rows = list(csv.reader(io.StringIO(table.csv())))
    assert rows[0] == list(table.columns)
    assert float(rows[1][1]) == table.rows[0][1]
    assert table.markdown().count("\n| ") == 2 + len(table.rows)


def test_the_summary_is_one_row_for_a_table_of_several(gp_report: SDDReport) -> None:
    summary = gp_report.summary()
    assert {"surrogate", "min dist", "mean dist", "diverse?", "time (s)", "response", "moved", "reached"} < set(summary)
    assert summary["surrogate"] == "GP()"
    assert summary["verdict"] == f"{gp_report.verdict} ({gp_report.verdicts[gp_report.verdict]} of 2)"
    assert summary["diverse without the lie"] == "0/2"


def test_a_report_survives_json(gp_report: SDDReport) -> None:
    for report in (gp_report, quick(FixableTilt(), acquisition=bv.UCB(), maximizer=bv.Candidates())):
        text = report.to_json()
        assert SDDReport.from_json(text) == report
        assert str(SDDReport.from_json(text)) == str(report)
        assert json.loads(text)["settings"]["q"] == report.settings["q"]


def test_a_report_is_a_value(gp_report: SDDReport) -> None:
    for field in ("settings", "measurements"):
        with pytest.raises(FrozenInstanceError):
            setattr(gp_report, field, ())


def test_the_package_hands_it_out() -> None:
    assert bv.sdd is sdd
    assert bv.SDDReport is SDDReport


def test_raw_units_give_what_the_unit_cube_gives() -> None:
    """In powers of two, so that scaling rounds nothing."""
    raw = X * [8.0, 0.25] + [-2.0, 16.0]
    report = quick(bv.GP(), (raw, Y, [(-2.0, 6.0), (16.0, 16.25)]), q=3)
    cube = quick(bv.GP(), (X, Y), q=3)
    for name in ("fixed", "random", "free"):
        np.testing.assert_array_equal(report.parts(name)[0].points, cube.parts(name)[0].points)
    assert report.settings == cube.settings


MIXED = Problem(
    "mixed",
    bv.Space({"n": bv.Int(0, 2), "kind": bv.Categorical(["a", "b"]), "rate": bv.Float(1e-3, 1.0, log=True)}),
    lambda p: p["n"] + 2.0 * (p["kind"] == "a") + float(np.log(p["rate"])) ** 2,
)
FINITE = Problem(
    "finite",
    bv.Space({"n": bv.Int(0, 2), "kind": bv.Categorical(["a", "b"])}),
    lambda p: p["n"] + 2.0 * (p["kind"] == "a"),
)


@pytest.mark.parametrize("problem", [MIXED, FINITE])
def test_batches_lie_in_the_space(problem: Problem) -> None:
    report = quick(bv.GP(), problem, n=6, q=3)
    region = problem.space.region()
    for name in PARTS:
        for part in report.parts(name):
            points = np.array(part.points)
            np.testing.assert_allclose(region.project(points), points, atol=1e-12)


@each(
    ("data", "options"),
    [
        (((X[:, :1]), Y), {}),
        ((X[:2], Y[:2]), {}),
        ((X, np.full(6, 3.0)), {}),
        ((X, np.zeros(6)), {"acquisition": bv.UCB()}),
        ((X, 1e12 * Y), {}),
        ((X, 1e-12 * Y), {}),
        ((np.vstack([X, X]), np.concatenate([Y, Y + 1e-3])), {}),
        (FINITE, {"n": 6, "q": 6}),
    ],
)
def test_odd_data_are_diagnosed_all_the_same(data: Any, options: dict[str, Any]) -> None:
    report = quick(bv.GP(), data, **options)
    (m,) = report.measurements
    assert own_response(m) > 0.01
    assert (report.parts("null")[0].min_distance, report.parts("null")[0].response) == (0.0, 0.0)
    assert "verdict: " in str(report)


@pytest.mark.parametrize("q", [2, 20])
def test_a_batch_may_be_small_or_large(q: int) -> None:
    report = quick(Spots(), acquisition=bv.UCB(), q=q)
    assert len(report.parts("fixed")[0].points) == q
    assert (f"{q}: " if q <= 10 else "10: ") in str(report).splitlines()[-1]
    assert ("..., least " in str(report)) == (q > 10)


class Untouched:
    """Fails the test when it is fitted."""

    def __repr__(self) -> str:
        return "Untouched()"

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> Model:
        pytest.fail("no work must be done before the input is checked")


@each(
    ("changes", "error", "text"),
    [
        ({"surrogate": bv.GP}, InvalidInput, r"surrogate must be an object with a method fit\(data, rng, previous\)"),
        ({"surrogate": "gp"}, InvalidInput, "surrogate must be an object .*got 'gp'"),
        ({"surrogate": None}, InvalidInput, "surrogate must be an object .*got None"),
        ({"data": "hartmann7"}, InvalidInput, "problem must be one of hartmann6, .*got 'hartmann7'"),
        ({"data": (X, Y, [(1, 0), (0, 1)])}, InvalidInput, "bounds must satisfy low < high"),
        ({"data": (X, Y, [(0, np.nan), (0, 1)])}, InvalidInput, "bounds must satisfy low < high"),
        ({"data": (X, Y, [(0, 1)])}, InvalidInput, "bounds must be 2 pairs"),
        ({"data": (10 * X, Y)}, InvalidInput, "every point must lie within the bounds"),
        ({"data": (X[:1], Y[:1])}, InvalidInput, "at least two observations"),
        ({"data": "branin", "n": 1}, InvalidInput, "n must be a whole number, 2 or more; got 1"),
        ({"data": FINITE, "q": 7}, SpaceExhausted, "q=7 points.* finite space has only 6"),
        ({"data": FINITE, "q": 1}, InvalidInput, "q must be a whole number, 2 or more; got 1"),
        ({"q": 1}, InvalidInput, "q must be a whole number, 2 or more; got 1"),
        ({"q": 0}, InvalidInput, "q must be a whole number, 2 or more; got 0"),
        ({"q": 2.5}, InvalidInput, r"q must be a whole number, 2 or more; got 2\.5"),
        ({"q": True}, InvalidInput, "q must be a whole number"),
        ({"seeds": 0}, InvalidInput, "seeds must be a whole number, 1 or more; got 0"),
        ({"seeds": -3}, InvalidInput, "seeds must be a whole number, 1 or more; got -3"),
        ({"seeds": True}, InvalidInput, "seeds must be a whole number"),
        ({"seeds": []}, InvalidInput, "seeds must hold at least one seed"),
        ({"seeds": [0, -1]}, InvalidInput, "a seed must be a whole number, 0 or more; got -1"),
        ({"seeds": [0.5]}, InvalidInput, r"a seed must be a whole number, 0 or more; got 0\.5"),
        ({"update": "retrain"}, InvalidInput, "update must be one of auto, condition, refit, none; got 'retrain'"),
        ({"incumbent": "best"}, InvalidInput, "incumbent must be one of believed, data; got 'best'"),
        ({"lie": "min"}, InvalidInput, "lie must be a lie, .*got 'min'"),
        ({"lie": bv.Believe}, InvalidInput, "lie must be a lie"),
        ({"acquisition": "ei"}, InvalidInput, "acquisition must be an object with a method pointwise.*; got 'ei'"),
        ({"maximizer": "lbfgs"}, InvalidInput, "maximizer must be an object with a method maximize.*; got 'lbfgs'"),
        ({"workers": 0}, InvalidInput, "workers must be a whole number, 1 or more; got 0"),
        ({"workers": 1.5}, InvalidInput, "workers must be a whole number"),
        ({"executor": 3}, InvalidInput, r"executor must be a concurrent\.futures\.Executor"),
        ({"progress": "bar"}, InvalidInput, "progress must be"),
    ],
)
def test_bad_input_is_refused_before_any_work(changes: dict[str, Any], error: type[BelieverError], text: str) -> None:
    arguments = {"surrogate": Untouched(), "data": (X, Y), **changes}
    with pytest.raises(error, match=text):
        quick(arguments.pop("surrogate"), arguments.pop("data"), **arguments)


class Growing:
    """A model that a lie changes, or a question."""

    def __init__(self, by: str) -> None:
        self.by, self.level = by, 0.0

    def predict(self, X: Array) -> Prediction:
        self.level += self.by == "predict"
        return Prediction(X.sum(axis=1) + self.level, np.full(len(X), 0.5))

    def condition(self, data: Data) -> "Growing":
        self.level += self.by == "condition"
        return self


@dataclass(frozen=True, slots=True)
class Mutating:
    by: str

    def fit(self, data: Data, rng: np.random.Generator, previous: Any = None) -> Growing:
        if previous is not None:
            previous.level += self.by == "fit"
        return Growing(self.by)


@each(
    ("surrogate", "error", "text"),
    [
        (Answering(lambda X: X.sum(axis=1)), MissingCapability, "AnsweringModel predicts no mean.*SklearnSurrogate"),
        (Answering(lambda X: (X[:, 0], X[:, 1])), MissingCapability, "predicts no mean"),
        (Answering(lambda X: Prediction(X[:, 0], None)), MissingCapability, "predicts no std"),  # type: ignore[arg-type]
        (
            Answering(lambda X: Prediction(X[:, 0], np.full(len(X), np.nan))),
            InvalidInput,
            "std must be finite; got nan",
        ),
        (Answering(lambda X: Prediction(X[:, 0], np.zeros(len(X)))), InvalidInput, "std must be above zero everywhere"),
        (Answering(lambda X: Prediction(X[:, 0], np.full(len(X), -1.0))), InvalidInput, "std must be above zero"),
        (
            Answering(lambda X: Prediction(X, np.ones(len(X)))),
            InvalidInput,
            r"mean has shape \(\d+, 2\) for \d+ points",
        ),
        (Mutating("predict"), InvalidInput, "Growing was changed by being asked again"),
        (Mutating("condition"), InvalidInput, "Growing was changed by a lie .*Return a new one"),
    ],
)
def test_a_model_that_breaks_its_promises_gets_one_clear_error(
    surrogate: Surrogate, error: type[BelieverError], text: str
) -> None:
    with pytest.raises(error, match=text):
        quick(surrogate)


def test_a_refit_that_changes_the_model_before_it_is_refused() -> None:
    with pytest.raises(InvalidInput, match="Growing was changed by a lie"):
        quick(Mutating("fit"), update="refit")


def test_a_model_that_cannot_be_conditioned_names_what_would_work() -> None:
    with pytest.raises(MissingCapability, match=r'TiltModel cannot be conditioned; use update="refit", or .*GP'):
        quick(Tilt(), update="condition")


def test_a_surrogate_that_gives_no_model_is_told_so() -> None:
    with pytest.raises(MissingCapability, match="must return a model with a method predict; got None"):
        quick(Answered())


class Answered:
    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> Any:
        return None


class Failing:
    def __repr__(self) -> str:
        return "Failing()"

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> Model:
        raise ZeroDivisionError("no luck today")


def test_a_fit_that_raises_is_told_with_its_own_words(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match=r"1 of 1 cells failed.*ZeroDivisionError: no luck today"):
        quick(Failing())
    results = tmp_path / "results.jsonl"
    with pytest.raises(EvaluationError, match="no luck today"):
        quick(Failing(), results=results)
    assert read_store(results) == []
