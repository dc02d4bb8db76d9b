"""What people see of a study: one line in a console, a table in print, in a notebook and as a data frame."""

from __future__ import annotations

import math
import pickle
import re
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from believer import (
    AtLeast,
    Categorical,
    Float,
    Int,
    Maximize,
    Minimize,
    Optimizer,
    Space,
    linear,
    minimize,
    read_study,
    sum_to,
)
from believer.arrays import to_width
from believer.errors import InvalidInput, MissingExtra
from believer.study import frames
from believer.study.columns import MAX_COLUMNS, MAX_ROWS, as_text, column, of_params
from believer.study.goal import Goal
from believer.study.html import convergence, table, text
from believer.study.labels import NO_LABELS, described
from believer.study.trials import TrialList

HOSTILE = "<script>alert('1')</script>&\"\n\x1b[31m\ud800"
LIMITED: dict[str, Goal] = {"yield": Maximize(units="%"), "cost": Minimize(units="€"), "purity": AtLeast(95, units="%")}


def space(hostile: str = "DMF") -> Space:
    choices = Categorical([hostile, "1", 1, None])
    return Space({"T": Float(20.0, 100.0, units="°C"), "n": Int(1, 4), "solvent": choices, "=<i>": Int(1, 2)})


def several(hostile: str = "DMF") -> Optimizer:
    """A study of three outcomes with a front, a failed and a pending trial."""
    opt = Optimizer(space(hostile), outcomes=LIMITED, seed=1, n_init=6)
    for _ in range(4):
        for trial in opt.ask(3):
            T, n = trial.params["T"], trial.params["n"]
            if trial.id == 4:
                opt.tell(trial, error=hostile)
            else:
                opt.tell(trial, {"yield": 100.0 - abs(T - 60.0), "cost": T * n, "purity": 90.0 + 3.0 * n})
    opt.ask(1)
    return opt


def one(hostile: str = "DMF") -> Optimizer:
    """A study of one number."""
    opt = Optimizer(space(hostile), outcomes={"value": Minimize(units="kJ")}, seed=1, n_init=4)
    for _ in range(3):
        for trial in opt.ask(3):
            opt.tell(trial, (trial.params["T"] - 60.0) ** 2)
    return opt


@lru_cache
def shown(hostile: str = "DMF") -> dict[str, Any]:
    """Each thing that is shown, of studies with this choice and error."""
    many, single = several(hostile), one(hostile)
    batch = single.ask(2)
    return {
        "Batch": batch,
        "TrialList": many.trials,
        "Trial": batch[0],
        "Verdict": batch.verdict,
        "Optimizer": many,
        "Optimizer of one": single,
        "Recommendation": single.recommend(),
        "Front": many.front,
        "FrontPoint": many.front[0],
        "Result": minimize(lambda p: (p["T"] - 60.0) ** 2, space(hostile), 8, seed=1, progress=False),
    }


RICH = ["Batch", "TrialList", "Verdict", "Optimizer", "Optimizer of one", "Recommendation", "Front", "Result"]
SHOWN = [*RICH, "Trial", "FrontPoint"]
LIBRARIES = [
    pytest.param(name, marks=pytest.mark.skipif(not find_spec(name), reason=f"needs {name}"))
    for name in frames.LIBRARIES
]


class Page(HTMLParser):
    """The tags of a page, which must be closed in turn, its texts, and the rows of its tables."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.texts: list[str] = []
        self.rows: list[list[str]] = []
        self._open: list[str] = []
        self.feed(source)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert not any(name.startswith("on") for name, _ in attrs)
        self.tags.add(tag)
        self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
        if self._open and self._open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


OURS = {"div", "p", "table", "thead", "tbody", "tr", "th", "td", "svg", "path", "circle", "polyline"}


@pytest.mark.parametrize("hostile", ["DMF", HOSTILE], ids=["tame", "hostile"])
@pytest.mark.parametrize("name", SHOWN)
def test_a_repr_is_one_short_line(name: str, hostile: str) -> None:
    said = repr(shown(hostile)[name])
    assert said.isprintable()
    assert len(said) < 300
    assert name.split()[0] in said


def test_reprs_say_what_a_thing_is() -> None:
    batch = one().ask(3)
    assert repr(batch) == "Batch(3 trials, ids 9-11)"
    trial = batch[0]
    T, n, solvent, other = trial.params.values()
    assert repr(trial) == f"Trial(9, T={T:.4g}, n={n}, solvent={solvent!r}, =<i>={other})"


def test_a_list_of_trials_is_a_tuple_and_is_shown_with_units() -> None:
    opt = several()
    assert repr(opt.pending) == "TrialList(1 trial, id 12)"
    assert "T (°C)" in Page(opt.pending._repr_html_()).rows[0]
    assert str(opt.pending).startswith("12: T=")
    same = pickle.loads(pickle.dumps(opt.pending))
    assert (str(same), list(same), hash(same)) == (str(opt.pending), [opt.trials[-1]], hash((opt.trials[-1],)))
    assert str(TrialList()) == "no trials"
    assert repr(TrialList()) == "TrialList(0 trials)"


def test_a_repr_of_many_parameters_names_the_first() -> None:
    trial = Optimizer(Space.cube(300), seed=0).ask(1)[0]
    assert "and 288 more)" in repr(trial)


@pytest.mark.parametrize("hostile", ["DMF", HOSTILE], ids=["tame", "hostile"])
@pytest.mark.parametrize("name", RICH)
def test_html_is_well_formed_and_all_text_is_escaped(name: str, hostile: str) -> None:
    source = shown(hostile)[name]._repr_html_()
    page = Page(source)
    assert page.tags <= OURS
    source.encode("utf-8")  # a kernel sends it so


@pytest.mark.parametrize("name", ["Optimizer", "Batch"])
def test_a_hostile_text_is_shown_as_text(name: str) -> None:
    opt = Optimizer(Space({"x": Categorical([HOSTILE, "b"])}), seed=1)
    batch = opt.ask(2)
    for trial in batch:
        opt.tell(trial, error=HOSTILE)
    thing = opt if name == "Optimizer" else batch
    assert any("<script>alert('1')</script>" in said for said in Page(thing._repr_html_()).texts)


@pytest.mark.parametrize("name", RICH)
def test_html_has_no_colors_of_text_or_ground_of_its_own(name: str) -> None:
    source = shown()[name]._repr_html_()
    assert not re.search(r"(?<![-\w])(color|background)\s*:", source)


def test_a_batch_is_a_table_with_units_and_the_verdict_in_words() -> None:
    batch = shown()["Batch"]
    page = Page(batch._repr_html_())
    head, *rows = page.rows
    assert head == ["trial", "T (°C)", "n", "solvent", "=<i>", "why"]
    assert [row[0] for row in rows] == [str(trial.id) for trial in batch]
    assert [row[1] for row in rows] == [f"{trial.params['T']:.6g}" for trial in batch]
    assert batch.verdict.sentence in page.texts
    assert " kJ" in batch.verdict.sentence


def test_a_study_has_its_picture_and_its_last_trials() -> None:
    opt = one()
    page = Page(opt._repr_html_())
    assert {"svg", "circle", "path"} <= page.tags
    head, *rows = page.rows
    assert head[:4] == ["trial", "status", "value (kJ)", "T (°C)"]
    assert [row[0] for row in rows] == [str(i) for i in range(9)]
    for trial in opt.ask(6):
        opt.tell(trial, 1.0)
    page = Page(opt._repr_html_())
    assert [row[0] for row in page.rows[1:]] == [str(i) for i in range(5, 15)]
    assert any("The last 10 of 15 trials" in said for said in page.texts)


def test_an_empty_study_is_shown_as_well(tmp_path: Path) -> None:
    opt = Optimizer(space(), seed=0, journal=tmp_path / "study.jsonl")
    Page(opt._repr_html_())
    Page(read_study(tmp_path / "study.jsonl")._repr_html_())
    assert "no point on the front yet" in Optimizer(space(), outcomes=LIMITED, seed=0).front._repr_html_()
    assert (len(opt.to_frame()), "T" in opt.to_frame()) == (0, True)


def test_the_best_so_far_is_of_what_is_within_all_limits() -> None:
    opt = Optimizer(Space.cube(1), outcomes={"y": Maximize(), "c": AtLeast(0.0)}, seed=0)
    for y, c in ((1.0, -1.0), (2.0, 1.0), (9.0, -1.0), (1.0, 1.0), (3.0, 1.0)):
        opt.tell(opt.ask(1)[0], {"y": y, "c": c})
    opt.tell(opt.ask(1)[0], error="lost")
    assert opt._ledger.best_so_far() == [None, 2.0, 2.0, 2.0, 3.0, 3.0]


def test_a_printed_front_says_what_was_told_expected_and_allowed() -> None:
    front = several().front
    lines = str(front).splitlines()
    assert lines[0].startswith(f"{len(front)} on the front, hypervolume ")
    assert re.search(r"up to yield=\S+ %, cost=\S+ € \(inferred\)$", lines[0])
    assert lines[1] == "yield: maximize (%), cost: minimize (€)"
    head = re.split(r" {2,}", lines[2].strip())
    assert head[:3] == ["trial", "T (°C)", "n"]
    assert head[5:] == [
        *("yield told (%)", "yield expected (%)", "cost told (€)", "cost expected (€)"),
        *("purity told (%)", "purity expected (%)", "purity limit (%)", "within limits"),
    ]
    rows = [re.split(r" {2,}", line.strip()) for line in lines[3:]]
    assert len(rows) == len(front) > 2
    by_id = {str(point.trial.id): point for point in front}
    for row in rows:
        point = by_id[row[0]]
        for name, place in (("yield", 5), ("cost", 7), ("purity", 9)):
            mean, std = point.expected[name].mean, point.expected[name].std
            assert row[place] == f"{point.told[name]:.6g}"
            assert row[place + 1] == f"{to_width(mean, std)} ± {std:.2g}"
        assert row[11:] == ["≥ 95", f"{point.feasible:.0%}"]
    yields = [float(row[5]) for row in rows]
    assert yields == sorted(yields, reverse=True)


def test_what_was_told_is_in_the_front_where_results_are_noisy() -> None:
    opt = several()
    told = {trial_id: {**outcome.objectives, **outcome.constraints} for trial_id, outcome in opt.outcomes.items()}
    assert all(point.told == told[point.trial.id] for point in opt.front)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("make", [several, one], ids=["several", "one"])
def test_a_study_as_a_frame_is_its_table(make: Callable[[], Optimizer], library: str) -> None:
    opt = make()
    assert rows_of(opt.to_frame(library)) == opt.records()


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_batch_a_front_and_a_result_as_frames(library: str) -> None:
    batch, opt, result = shown()["Batch"], shown()["Optimizer"], shown()["Result"]
    assert rows_of(batch.to_frame(library=library)) == [
        {"trial_id": t.id, **t.params, "origin": t.origin, "provenance": t.provenance} for t in batch
    ]
    assert rows_of(result.to_frame(library)) == result.optimizer.records()
    front = opt.front
    rows = rows_of(front.to_frame(library))
    assert [row["yield"] for row in rows] == sorted((p.told["yield"] for p in front), reverse=True)
    for row in rows:
        point = next(point for point in front if point.trial.id == row["trial_id"])
        assert {name: row[name] for name in point.params} == point.params
        assert {name: row[name] for name in point.told} == point.told
        assert row["cost.expected"] == point.expected["cost"].mean
        assert row["purity.std"] == point.expected["purity"].std
        assert row["feasible"] == point.feasible


@pytest.mark.parametrize("library", LIBRARIES)
def test_cells_of_mixed_kinds_and_of_any_size_come_through(library: str) -> None:
    cells: dict[str, list[Any]] = {
        "mixed": [1, "a", True, None, 1.5],
        "huge": [2**70, 1, 2, 3, 4],
        "gaps": [1, None, 3, None, 5],
    }
    found = rows_of(frames.frame(cells, library))
    for name, wanted in cells.items():
        assert [(type(row[name]), row[name]) for row in found] == [(type(cell), cell) for cell in wanted]


def rows_of(made: Any) -> list[dict[str, Any]]:
    """The rows of a frame as plain dicts, with None where there is nothing."""
    rows = made.to_dicts() if type(made).__module__.startswith("polars") else made.astype(object).to_dict("records")
    return [{name: _plain(cell) for name, cell in row.items()} for row in rows]


def _plain(cell: Any) -> Any:
    missing = cell is None or type(cell).__name__ == "NAType" or (isinstance(cell, float) and math.isnan(cell))
    return None if missing else cell


def test_a_frame_needs_a_library_that_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidInput, match='library must be "pandas" or "polars"'):
        shown()["Batch"].to_frame("numpy")
    monkeypatch.setattr(frames, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match="this needs pandas or polars; install it with"):
        shown()["Batch"].to_frame()
    with pytest.raises(MissingExtra, match="this needs polars; install it with"):
        shown()["Optimizer"].to_frame(library="polars")


@pytest.mark.skipif(not find_spec("polars"), reason="needs polars")
def test_polars_serves_where_pandas_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "find_spec", lambda name: name == "polars" or None)
    assert type(shown()["Batch"].to_frame()).__module__.startswith("polars")


def test_a_long_table_says_what_it_leaves_out() -> None:
    long = [column(f"c{i}", range(MAX_ROWS + 7)) for i in range(MAX_COLUMNS + 3)]
    lines = as_text(long).splitlines()
    assert len(lines) == 1 + MAX_ROWS + 1
    assert lines[-1] == "7 more rows and 3 more columns: to_frame() has all."
    page = Page(table(long))
    assert (len(page.rows), len(page.rows[0])) == (1 + MAX_ROWS, MAX_COLUMNS)


def test_rows_of_a_printed_table_line_up() -> None:
    lines = as_text([column("x", [1.0, 22.5]), column("s", ["a\nb", ...]), column("n", [3, 10], "mm")]).splitlines()
    assert lines == ["   x  s     n (mm)", "   1  a\\nb       3", "22.5            10"]


@pytest.mark.parametrize(
    ("values", "best"),
    [([1.0, 1.0], [1.0, 1.0]), ([None, 3.0, 1e300, -1e300], [None, 3.0, 3.0, -1e300]), ([5.0, 4.0], [None, None])],
)
def test_pictures_hold_only_finite_places(values: list[float | None], best: list[float | None]) -> None:
    made = convergence(values, best, "kJ")
    assert not re.search("nan|inf", made)
    assert convergence(values[:1], best[:1], "kJ") == ""


def test_text_of_half_a_character_can_be_sent() -> None:
    assert text("a\ud800<") == "a\\ud800&lt;"
    assert described({"x": 0.1, "c": None}, NO_LABELS.parameters) == "x=0.1, c=None"


def test_sums_hold_in_the_digits_that_are_shown() -> None:
    for total, most in ((1.0, 1.0), (1.0, 0.9), (100.0, 100.0), (7.5, 20.0), (0.02, 0.02)):
        names = ["a", "b", "c"]
        parts = {name: Float(0, most, units="g") for name in names} | {"d": Float(0, total / 20)}
        mixture = Space({**parts, "T": Float(20, 90)}, rules=[sum_to(parts, total)])
        opt = Optimizer(mixture, seed=0)
        for trial in (batch := opt.ask(20)):
            opt.tell(trial, trial.params["a"])
        said = [str(opt), str(opt.recommend()), *str(batch).splitlines()[:20], *str(opt.trials).splitlines()]
        for line in said:
            shown = re.findall(r"\b([abcd])=([-.e0-9]+)", line)
            assert sum(Decimal(number) for _, number in shown) == Decimal(str(total)) or len(shown) < 4, line
        assert len(re.findall("d=", "".join(said))) == 42
        columns = of_params(batch.params, batch.labels)
        for row in zip(*(one.cells for one in columns[:4]), strict=True):
            assert sum(map(Decimal, row)) == Decimal(str(total))


def test_weighted_sums_hold_in_the_digits_that_are_shown() -> None:
    """Half of a number with four decimals has five: what is left goes to the part that all others are multiples of."""
    weights = {"a": 1.0, "b": 2.0, "c": 0.5}
    parts = {"a": Float(0, 1), "b": Float(0, 1), "c": Float(0.1, 1.9)}
    batch = Optimizer(Space(parts, rules=[linear(weights, equals=1)]), seed=0).ask(20)
    lines = str(batch).splitlines()[: len(batch)]
    inside = [line for line, params in zip(lines, batch.params, strict=True) if 0.101 < params["c"] < 1.899]
    assert len(inside) > 10
    for line in inside:
        shown = dict(re.findall(r"\b([abc])=([.0-9]+)", line))
        assert sum(Decimal(str(c)) * Decimal(shown[name]) for name, c in weights.items()) == 1, line


def test_a_recommendation_has_the_digits_of_its_interval_whatever_the_offset() -> None:
    opt = Optimizer(Space.cube(1), seed=0, n_init=5)
    for trial in opt.ask(8):
        opt.tell(trial, -2534.12 + 1e-3 * (trial.params["x0"] - 0.3) ** 2)
    found = opt.recommend()
    low, high = re.findall(r"between (-?[\d.]+) and (-?[\d.]+) at", str(found))[0]
    assert float(low) < float(high)
    assert abs(float(low) - found.interval[0]) <= 0.1 * (found.interval[1] - found.interval[0])
