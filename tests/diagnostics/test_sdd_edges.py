"""The diagnostic at its edges: nothing is mixed up, nothing slips through, and bad input gets one clear error."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sdd_fakes import Answering, AnsweringModel, FixableTilt, Steps, Tilt, TiltModel, batch, measured

import believer as bv
from believer.arrays import Array
from believer.diagnostics.sdd import diagnosis, sdd
from believer.diagnostics.sdd_report import SDDReport, own_response, verdict_of
from believer.diagnostics.source import source_of
from believer.errors import EvaluationError, InvalidInput, MissingCapability, SpaceExhausted
from believer.maximize import FixedStarts
from believer.problems import Problem, branin
from believer.surrogates.data import Data
from believer.surrogates.protocols import Model, Prediction, Surrogate
from believer_bench.problems import noisy, shifted

X = np.array([[2, 11], [14, 6], [5, 3], [9, 15], [8, 8], [12, 1]]) / 16.0
Y = np.array([2.0, -1.0, 0.5, 3.0, 0.0, 1.0])


def quick(surrogate: Surrogate, data: Any = (X, Y), **options: Any) -> SDDReport:
    return sdd(surrogate, data, **{"q": 2, "seeds": 1, "progress": False, **options})


class Leaning:
    """A custom surrogate without a repr."""

    def __init__(self, slope: float) -> None:
        self.slope = slope

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> TiltModel:
        X = data.X
        return TiltModel(np.full(X.shape[1], self.slope))


def test_two_custom_surrogates_without_repr_are_not_mixed_up(tmp_path: Path) -> None:
    """CPython gives the second the address of the first."""
    for number, slope in enumerate((1.0, -1.0, 1.0, -1.0)):
        path = tmp_path / f"{number // 2}.jsonl"
        report = quick(Leaning(slope), acquisition=bv.UCB(), update="none", results=path)
        assert report.measurements[0].fixed.points[0] == ((0.0, 0.0) if slope > 0 else (1.0, 1.0))
        assert report.settings == quick(Leaning(slope), acquisition=bv.UCB(), update="none").settings


@dataclass(frozen=True)
class Tabulated:
    """A custom surrogate whose repr leaves out the middle of an array."""

    slopes: Any

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> TiltModel:
        X = data.X
        return TiltModel(np.full(X.shape[1], float(self.slopes[1000])))


def test_a_repr_with_a_gap_does_not_stand_for_a_surrogate(tmp_path: Path) -> None:
    for slope in (1.0, -1.0):
        slopes = np.zeros(2000)
        slopes[1000] = slope
        report = quick(Tabulated(slopes), acquisition=bv.UCB(), update="none", results=tmp_path / "results.jsonl")
        assert report.measurements[0].fixed.points[0] == ((0.0, 0.0) if slope > 0 else (1.0, 1.0))


class Scaling:
    """Its refits draw the depth of a bowl; the maximum stays, and the data are ignored."""

    def __repr__(self) -> str:
        return "Scaling()"

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> Model:
        return BowlModel(float(rng.uniform(0.5, 2.0)))


@dataclass(frozen=True, slots=True)
class BowlModel:
    depth: float

    def predict(self, X: Array) -> Prediction:
        return Prediction(self.depth * ((X - 0.4) ** 2).sum(axis=1), np.full(len(X), 0.1))


@pytest.mark.parametrize(
    ("surrogate", "allowed"),
    [
        (Tilt(), {"does not respond", "diverse for another reason than the lie"}),
        (Scaling(), {"does not respond"}),
    ],
)
def test_a_random_refit_that_ignores_the_lie_is_never_said_to_respond(surrogate: Surrogate, allowed: set[str]) -> None:
    report = quick(surrogate, acquisition=bv.UCB(), update="refit", seeds=8)
    assert {verdict for verdict, count in report.verdicts.items() if count} <= allowed
    assert [own_response(m) for m in report.measurements] == [0.0] * 8


@pytest.mark.parametrize("seeds", [2.5, None, "three", object()])
def test_seeds_that_are_no_numbers_are_refused(seeds: Any) -> None:
    with pytest.raises(InvalidInput, match="seed"):
        quick(Tilt(), seeds=seeds)


def test_a_number_of_seeds_may_be_numpys() -> None:
    assert len(quick(Steps(), seeds=np.int64(2)).measurements) == 2


def test_a_seed_counts_once() -> None:
    with pytest.raises(InvalidInput, match=r"seeds must be different.*\[1, 1\]"):
        quick(Tilt(), seeds=[1, 1])


@pytest.mark.parametrize("option", [{"acquisition": bv.EI}, {"maximizer": FixedStarts}])
def test_a_class_is_no_member(option: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=r"must be an object with a method \w+\(\.\.\.\); got <class"):
        quick(Tilt(), **option)


def test_a_bare_regressor_is_told_to_be_wrapped() -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    with pytest.raises(InvalidInput, match=r"SklearnSurrogate\(LinearRegression\(\)\)"):
        quick(linear.LinearRegression())


def test_q_is_compared_with_what_the_constraint_allows() -> None:
    space = bv.Space({"n": bv.Int(0, 2), "m": bv.Int(0, 2)}, constraint=lambda p: p["n"] == 0)
    with pytest.raises(SpaceExhausted, match="this finite space has only 3"):
        diagnosis(Tilt(), Problem("finite", space, lambda p: 1.0), q=4)


def is_data(Z: Array) -> Any:
    return (np.abs(Z[:, None, :] - X[None]).max(axis=2) < 1e-9).any(axis=1)


@pytest.mark.parametrize(
    ("std", "text"), [(np.nan, "std must be finite"), (0.0, "above zero"), (np.inf, "std must be finite")]
)
def test_promises_are_to_be_kept_away_from_the_data_too(std: float, text: str) -> None:
    with pytest.raises(InvalidInput, match=text):
        quick(Answering(lambda Z: Prediction(Z[:, 0], np.where(is_data(Z), 1.0, std))))


class Nearest:
    """The value of the nearest observation; ``kind`` says what a lie does to it."""

    def __init__(self, X: Array, y: Array, kind: str) -> None:
        self.X, self.y, self.kind = X, y, kind

    def predict(self, X: Array) -> Prediction:
        r = np.sqrt(((X[:, None] - self.X[None]) ** 2).sum(axis=2))
        return Prediction(self.y[r.argmin(axis=1)], np.maximum(r.min(axis=1), 1e-9))

    def condition(self, data: Data) -> Any:
        X, y = data.X, data.y
        if self.kind == "mutates":
            self.X, self.y = np.vstack([self.X, X]), np.append(self.y, y)
            return self
        if self.kind == "none":
            return None
        std = np.nan if self.kind == "nan" else 0.0
        return AnsweringModel(lambda Z: Prediction(np.zeros(len(Z)), np.full(len(Z), std)))


@dataclass(frozen=True, slots=True)
class NearestRecipe:
    kind: str

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> Any:
        X, y = data.X, data.y
        return Nearest(X, y, self.kind)


@pytest.mark.parametrize(
    ("kind", "error", "text"),
    [
        ("mutates", InvalidInput, "Nearest was changed by a lie"),
        ("nan", InvalidInput, "std must be finite"),
        ("zero", InvalidInput, "std must be above zero"),
        ("none", MissingCapability, "got None"),
    ],
)
def test_promises_are_to_be_kept_after_a_lie_too(kind: str, error: type[Exception], text: str) -> None:
    """An interpolating model that a lie changes still predicts the same at its data."""
    with pytest.raises(error, match=text):
        quick(NearestRecipe(kind), acquisition=bv.UCB())


NONSENSE = [
    "",
    "[]",
    "3",
    "{}",
    "not json",
    '{"settings": {}, "measurements": []}',
    '{"settings": {}, "measurements": [{}]}',
]


@pytest.mark.parametrize("text", NONSENSE)
def test_what_is_no_report_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"SDDReport\.to_json"):
        SDDReport.from_json(text)


@pytest.mark.parametrize(
    "edit",
    [
        lambda data: data["settings"].pop("surrogate"),
        lambda data: data["measurements"][0].pop("fixed"),
        lambda data: data["measurements"][0].update(extra=1),
        lambda data: data["measurements"][0].update(fixed=None),
        lambda data: data["measurements"][0]["fixed"].update(points=[]),
        lambda data: data["measurements"][0]["free"].update(responses=["a"]),
        lambda data: data["measurements"][0]["free"].update(responses=[]),
        lambda data: data["measurements"][0].update(reached="much"),
        lambda data: data.update(measurements=[]),
    ],
)
def test_an_edited_report_is_refused(edit: Callable[[Any], Any]) -> None:
    data = json.loads(SDDReport(diagnosis(Steps(), (X, Y), 2).settings(), (measured(),)).to_json())
    edit(data)
    with pytest.raises(InvalidInput, match=r"SDDReport\.to_json"):
        SDDReport.from_json(json.dumps(data))


@pytest.mark.parametrize(
    "parts",
    [
        {"fixed": batch(0.3), "free": batch(0.0, 0.5)},
        {"fixed": batch(0.3), "free": batch(0.3, 0.5), "frozen": batch(0.3), "frozen_free": batch(0.0, 0.5)},
    ],
)
def test_a_batch_of_other_starts_while_the_maximum_repeats_is_not_the_lies_doing(parts: dict[str, Any]) -> None:
    assert verdict_of(measured(**parts)) == "diverse for another reason than the lie"


@dataclass(frozen=True, slots=True)
class FlatModel:
    """Flat until it is told something."""

    slope: float = 0.0

    def predict(self, X: Array) -> Prediction:
        return Prediction(self.slope * X[:, 0], np.ones(len(X)))

    def condition(self, data: Data) -> "FlatModel":
        return FlatModel(1e12)


class Flat:
    def __repr__(self) -> str:
        return "Flat()"

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> FlatModel:
        return FlatModel()


@pytest.mark.parametrize("acquisition", [bv.UCB(), bv.EI(), bv.LogEI()])
def test_the_response_of_a_flat_surface_is_finite(acquisition: Any) -> None:
    (m,) = quick(Flat(), acquisition=acquisition).measurements
    assert 1.0 <= m.free.response <= 1e6


def test_a_needle_that_only_a_start_sees_has_a_finite_share() -> None:
    def needle(Z: Array) -> Prediction:
        near = np.abs(Z - 0.2).max(axis=1) < 1e-3
        return Prediction(np.full(len(Z), 5.0), np.where(near, 1.0, 0.01))

    (m,) = quick(Answering(needle), update="none").measurements
    assert 1.0 <= m.reached < np.inf


def test_what_is_reached_is_no_less_than_nothing() -> None:
    def pit(Z: Array) -> Prediction:
        near = np.abs(Z - 0.5).max(axis=1) < 1e-3
        return Prediction(np.where(near, 100.0, Z[:, 0]), np.full(len(Z), 0.1))

    (m,) = quick(Answering(pit), acquisition=bv.UCB(), update="none", maximizer=FixedStarts(levels=(0.5,))).measurements
    assert m.reached >= 0.0


@dataclass(frozen=True)
class CountedTilt:
    """Its draws can be held fixed; counts its fits."""

    log: list[int]
    seed: int | None = None

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> TiltModel:
        X, y = data.X, data.y
        self.log.append(len(X))
        return FixableTilt(self.seed).fit(Data(X, y), rng)

    def with_fixed_draws(self, seed: int) -> "CountedTilt":
        return replace(self, seed=seed)


def test_without_an_update_a_surrogate_is_fitted_once() -> None:
    log: list[int] = []
    quick(CountedTilt(log), acquisition=bv.UCB(), update="none")
    assert log == [6]


@pytest.mark.parametrize("bounds", ["ab", [(0, 1), (0,)], {"a": 1}, [("x", "y"), (0, 1)], 3])
def test_bounds_that_are_no_pairs_of_numbers_are_refused(bounds: Any) -> None:
    with pytest.raises(InvalidInput, match=r"bounds must be 2 pairs \(low, high\)"):
        source_of((X, Y, bounds), 5)


def test_bounds_too_far_apart_are_refused() -> None:
    with pytest.raises(InvalidInput, match="bounds must satisfy low < high"):
        source_of((X, Y, [(-1e308, 1e308), (0, 1)]), 5)


def test_a_table_without_columns_is_refused() -> None:
    with pytest.raises(InvalidInput, match="at least one column"):
        source_of((np.zeros((6, 0)), Y), 5)


def test_a_design_keeps_to_the_constraint() -> None:
    def strict(p: dict[str, Any]) -> float:
        assert p["x0"] < 0.3
        return float(p["x0"] + p["x1"])

    space = bv.Space({"x0": bv.Float(0, 1), "x1": bv.Float(0, 1)}, constraint=lambda p: p["x0"] < 0.3)
    drawn = source_of(Problem("corner", space, strict), 10).draw(0)
    assert (drawn.X[:, 0] < 0.3).all()
    assert len({tuple(x) for x in drawn.X}) == 10


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (shifted(branin(), [0.1, 0.2]), shifted(branin(), [0.2, 0.1])),
        (noisy(branin(), 0.1, 1), noisy(branin(), 0.1, 2)),
        (branin(), Problem("branin", branin().space, len)),
        (branin(), Problem("branin", bv.Space.cube(2), branin().function)),
    ],
)
def test_problems_of_one_name_are_told_apart(one: Problem, two: Problem) -> None:
    assert source_of(one, 5).settings() != source_of(two, 5).settings()
    assert source_of(one, 5).settings() == source_of(replace(one), 5).settings()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("h\xe9,b,y\n1,2,3\n2,3,4\n".encode("latin-1"), "must be a table in CSV and UTF-8"),
        ("a,b,y\n1,2,3\n2,3,4\n".encode("utf-16"), "must be a table in CSV and UTF-8"),
        (b"a,b,y\n1,2,3\n2," + b"3" * 200_000 + b",4\n", "must be a table in CSV and UTF-8"),
        (b"a,a,y\n1,2,3\n2,3,4\n", "columns with different names; got a, a, y"),
        (b"y\n1\n2\n3\n", "two or more columns"),
    ],
)
def test_a_file_that_is_no_table_is_told_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, words: str
) -> None:
    from believer.cli import main

    path = tmp_path / "data.csv"
    path.write_bytes(content)
    assert main(["sdd", "gp", "--data", str(path), "--seeds", "1", "--workers", "1"]) == 2
    err = capsys.readouterr().err
    assert words in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("name", [":x", ".m:x", "broken_surrogates:x", "broken_surrogates_2:Needy"])
def test_a_surrogate_that_cannot_be_made_is_told_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    from believer.cli import main

    (tmp_path / "broken_surrogates.py").write_text("1 / 0\n")
    (tmp_path / "broken_surrogates_2.py").write_text("class Needy:\n    def __init__(self, a):\n        pass\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert main(["sdd", name]) == 2
    rule = "an object of your own must be named as module:object" if name == ":x" else f"cannot load {name!r}: "
    assert capsys.readouterr().err.startswith(f"believer: error: {rule}")


def test_options_of_a_table_need_one(capsys: pytest.CaptureFixture[str]) -> None:
    from believer.cli import main

    for option in (["--target", "y"], ["--bounds", "x=0:1"]):
        assert main(["sdd", "gp", *option]) == 2
        assert "name it with --data" in capsys.readouterr().err


def test_a_large_response_is_in_view() -> None:
    pytest.importorskip("matplotlib")
    report = SDDReport(diagnosis(Steps(), (X, Y), 2).settings(), (measured(free=batch(0.1, 5e4)),))
    axes = report.figure().axes[2]
    left, right = axes.get_xlim()
    for dots in axes.collections:
        x = np.asarray(dots.get_offsets())[:, 0]
        assert ((x >= left) & (x <= right)).all()


@pytest.mark.parametrize("acquisition", [bv.EI(), bv.UCB(), bv.LogEI()])
@pytest.mark.parametrize("unit", [2.0**-40, 2.0**40])
def test_the_units_of_y_do_not_matter(acquisition: Any, unit: float) -> None:
    """L-BFGS-B stops at absolute tolerances, so y is standardized before; powers of two round alike."""
    one = quick(bv.GP(), (X, Y), acquisition=acquisition, lie=bv.ConstantLie(1.5))
    other = quick(bv.GP(), (X, Y * unit), acquisition=acquisition, lie=bv.ConstantLie(1.5 * unit))
    assert one.measurements[0].fixed.points == other.measurements[0].fixed.points
    assert one.measurements[0].fixed.responses == other.measurements[0].fixed.responses


def test_a_problem_that_raises_is_not_blamed_on_the_surrogate() -> None:
    def broken(params: dict[str, Any]) -> float:
        raise ZeroDivisionError("the oven is off")

    with pytest.raises(EvaluationError, match="ZeroDivisionError: the oven is off") as caught:
        quick(Tilt(), Problem("oven", bv.Space.cube(2), broken), n=4)
    assert "Tilt raised" not in str(caught.value)


@dataclass(frozen=True, slots=True)
class Slow:
    """A refit that takes its time."""

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> TiltModel:
        X = data.X
        if previous is not None:
            time.sleep(0.1)
        return TiltModel(np.ones(X.shape[1]))


def test_the_time_without_the_lie_holds_the_refit_too() -> None:
    m = quick(Slow(), acquisition=bv.UCB(), update="refit").measurements[0]
    assert min(m.fixed.seconds, m.null.seconds, m.null_free.seconds) > 0.09
