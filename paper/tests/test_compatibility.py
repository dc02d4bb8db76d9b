"""The paper's Table 1: its words are kept, every combination is measured, and our verdict follows from the counts."""

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sdd_fakes import FixableTilt, Spots, Steps, batch, measured

import believer as bv
from believer.diagnostics.measurement import Measurement
from believer.diagnostics.sdd import diagnosis
from believer.diagnostics.sdd_report import SDDReport
from believer.errors import InvalidInput
from believer.experiments import read_store
from believer_paper.compatibility import (
    ACQUISITIONS,
    LEAST_SEEDS,
    LIES,
    CompatibilityTable,
    Entry,
    Measured,
    compatibility_table,
    table_1,
)
from believer_paper.setup.likelihood import PrintedGP
from believer_paper.setup.multiquadric import PrintedMQRBF

X = np.array([[2, 11], [14, 6], [5, 3], [9, 15], [8, 8], [12, 1]]) / 16.0
Y = np.array([2.0, -1.0, 0.5, 3.0, 0.0, 1.0])
COMBINATIONS = ["CL-min, EI", "CL-min, UCB", "KB, EI", "KB, UCB"]

# [paper] Table 1, word for word: surrogate, efficient conditioning, CL/KB compatible.
PAPER = {
    "Gaussian Process": ("Yes", "Yes"),
    "MQ-RBF (data centers)": ("Yes", "Yes"),
    "RBF (fixed centers)": ("No", "No"),
    "Neural Network": ("No", "No"),
    "Last-layer Bayesian NN": ("Partial", "Limited"),
    "Random Forest": ("No", "No"),
    "SVM Regression": ("No", "No"),
    "Sparse GP (fixed inducing)": ("Partial", "Limited"),
}

ENTRIES = (
    Entry("Spots", "Yes", "Yes", "conditioned", Spots(), "condition"),
    Entry("Steps", "No", "No", "no update", Steps(), "none"),
    Entry("Tilt", "No", "Limited", "drawn anew", FixableTilt(), "refit"),
)


@pytest.fixture(scope="module")
def table() -> CompatibilityTable:
    return compatibility_table(2, problem=(X, Y), q=2, entries=ENTRIES, progress=False)


def test_the_rows_are_the_papers_in_its_order_and_its_words() -> None:
    rows = {entry.row: (entry.conditioning, entry.compatible) for entry in table_1()}
    assert rows == PAPER
    assert list(rows) == list(PAPER)


def test_every_reading_is_another_measurement() -> None:
    readings = [(entry.row, entry.reading) for entry in table_1()]
    assert len(set(readings)) == len(readings)
    keys = {json.dumps(diagnosis(e.surrogate, "branin", update=e.update).settings()) for e in table_1()}
    assert len(keys) == len(readings)


def test_surrogates_that_the_paper_calls_parametric_are_measured_without_an_update_too() -> None:
    updates = {row: {entry.update for entry in table_1() if entry.row == row} for row in PAPER}
    for row in ("RBF (fixed centers)", "Neural Network", "Random Forest", "SVM Regression"):
        assert "none" in updates[row]
        assert len(updates[row]) == 2
    for row in ("Gaussian Process", "MQ-RBF (data centers)", "Last-layer Bayesian NN", "Sparse GP (fixed inducing)"):
        assert updates[row] == {"condition"}


def test_the_papers_settings_are_used() -> None:
    assert {PrintedGP(), PrintedMQRBF()} <= {entry.surrogate for entry in table_1()}
    assert {"CL-min": bv.ConstantLie("min"), "KB": bv.Believe()} == LIES
    assert {"EI": bv.EI(xi=0.01), "UCB": bv.UCB(beta=2.0)} == ACQUISITIONS
    assert LEAST_SEEDS == 20


def test_every_lie_is_measured_under_every_acquisition(table: CompatibilityTable) -> None:
    assert [one.entry for one in table.rows] == list(ENTRIES)
    for one in table.rows:
        assert list(one.reports) == COMBINATIONS
        for key, report in one.reports.items():
            lie, acquisition = key.split(", ")
            assert (report.settings["lie"]["type"] == "ConstantLie") == (lie == "CL-min")
            assert report.settings["acquisition"]["type"] == acquisition
            assert report.settings["update"] == one.entry.update
            assert report.settings["incumbent"] == "data"
            assert [m.seed for m in report.measurements] == [0, 1]
            assert type(one.entry.surrogate).__name__ in report.title


def of_counts(passed: Sequence[int], seeds: int, compatible: str = "Yes") -> Measured:
    """An entry of which ``passed`` data sets "respond and are diverse", for each combination."""
    good: Measurement = measured(fixed=batch(0.3, 0.5), free=batch(0.3, 0.5))
    settings = diagnosis(Spots(), (X, Y), 2).settings()
    entry = Entry("A row", "Yes", compatible, "a reading", Spots(), "condition")
    counts = zip(COMBINATIONS, passed, strict=True)
    return Measured(entry, {key: SDDReport(settings, (good,) * k + (measured(),) * (seeds - k)) for key, k in counts})


@pytest.mark.parametrize(
    ("passed", "ours"),
    [
        ([20, 20, 20, 20], "Yes"),
        ([20, 20, 20, 12], "Yes"),
        ([20, 20, 20, 11], "Limited"),
        ([20, 20, 0, 0], "Limited"),
        ([3, 2, 2, 2], "Limited"),
        ([2, 2, 2, 2], "No"),
        ([0, 0, 0, 0], "No"),
    ],
)
def test_compatible_is_nine_of_ten_and_limited_is_more_than_one_of_ten(passed: list[int], ours: str) -> None:
    one = of_counts(passed, 20)
    assert one.passed == (sum(passed), 80)
    assert one.compatible == ours


def test_shares_are_over_all_lies_and_acquisitions() -> None:
    one = of_counts([4, 0, 2, 2], 4)
    assert one.share("respond") == one.share("fixed") == one.share("free") == 0.5
    assert one.share("null") == one.share("random") == 0.0


def test_the_table_sets_the_papers_verdict_beside_ours() -> None:
    rows = (of_counts([20, 20, 20, 20], 20), of_counts([20, 20, 0, 0], 20, "No"))
    table = CompatibilityTable(rows).table()
    columns = dict(zip(table.columns, zip(*table.rows, strict=True), strict=True))
    assert list(columns)[:7] == [
        *("surrogate", "as", "paper: compatible", "measured", "agrees", "responds and diverse", "95 % interval"),
    ]
    assert columns["paper: compatible"] == ("Yes", "No")
    assert columns["measured"] == ("Yes", "Limited")
    assert columns["agrees"] == (True, False)
    assert columns["responds and diverse"] == ("80/80", "40/80")
    assert columns["95 % interval"] == ("95% to 100%", "39% to 61%")
    assert columns["respond"] == columns["diverse, A"] == columns["diverse, no derivatives"] == ("100%", "50%")
    assert columns["diverse, B"] == columns["diverse, no lie"] == ("0%", "0%")


def test_fakes_are_told_apart(table: CompatibilityTable) -> None:
    spots, steps, tilt = table.rows
    assert spots.share("respond") == 1.0
    assert (steps.compatible, steps.share("respond"), steps.share("fixed")) == ("No", 0.0, 0.0)
    assert (tilt.compatible, tilt.share("respond")) == ("No", 0.0)
    assert tilt.share("fixed") > 0.4


def test_in_words_it_is_the_table(table: CompatibilityTable) -> None:
    lines = str(table).splitlines()
    sets = len(table.rows[0].reports["KB, EI"].measurements)
    assert lines[0].startswith(f"Compatibility with pseudo-observations: {sets} data sets")
    assert [line.split("  ")[0] for line in lines[3:]] == ["Spots", "Steps", "Tilt"]


def test_details_have_a_row_for_each_combination(table: CompatibilityTable) -> None:
    details = table.details()
    assert details.columns[:3] == ("surrogate", "as", "lie, acquisition")
    assert {"min dist", "mean dist", "diverse?", "time (s)", "verdict"} < set(details.columns)
    assert [row[:3] for row in details.rows] == [
        (entry.row, entry.reading, key) for entry in ENTRIES for key in COMBINATIONS
    ]
    rows = list(csv.reader(io.StringIO(details.csv())))
    assert len(rows) == 1 + len(details.rows)
    assert all(len(row) == len(details.columns) for row in rows)


def test_json_holds_the_table_and_every_measurement(table: CompatibilityTable) -> None:
    data = json.loads(table.to_json())
    assert [row["measured"] for row in data["table"]] == [one.compatible for one in table.rows]
    assert len(data["reports"]) == len(ENTRIES) * 4
    reports = [report for one in table.rows for report in one.reports.values()]
    for entry, report in zip(data["reports"], reports, strict=True):
        assert entry["lie and acquisition"] in COMBINATIONS
        assert SDDReport.from_json(json.dumps(entry)) == report


def test_a_table_is_a_value(table: CompatibilityTable) -> None:
    with pytest.raises(FrozenInstanceError):
        table.rows = ()  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        table.rows[0].entry.row = "GP"  # type: ignore[misc]


def test_the_figure_has_a_panel_for_each_combination(table: CompatibilityTable) -> None:
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    figure = table.figure()
    assert isinstance(figure, Figure)
    assert [axes.get_title() for axes in figure.axes] == COMBINATIONS
    labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert labels == [f"{entry.row}: {entry.reading}\npaper: {entry.compatible}" for entry in ENTRIES]
    for axes, key in zip(figure.axes, COMBINATIONS, strict=True):
        shown = [count for one in table.rows for count in one.reports[key].verdicts.values() if count]
        assert [int(text.get_text()) for text in axes.texts] == shown
        assert axes.get_xlim() == (0.0, 2.0)
    figure.savefig(io.BytesIO(), format="png", dpi=50)


def test_an_interrupted_table_goes_on_from_its_file(tmp_path: Path, table: CompatibilityTable) -> None:
    results = tmp_path / "results.jsonl"
    options: dict[str, Any] = {"problem": (X, Y), "q": 2, "progress": False, "results": results}
    compatibility_table([1], entries=ENTRIES[1:2], **options)
    assert len(read_store(results)) == 4
    both = compatibility_table(2, entries=ENTRIES[1:], **options)
    stored = read_store(results)
    assert len(stored) == len({line.cell.key for line in stored}) == 16
    for one, other in zip(both.rows, table.rows[1:], strict=True):
        assert one.passed == other.passed
        assert one.share("random") == other.share("random")


def test_no_rows_are_refused() -> None:
    with pytest.raises(InvalidInput, match="entries must hold at least one row; got none"):
        compatibility_table(2, entries=[])
