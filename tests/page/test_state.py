from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from optimizer_studies import SPACES, tell_all
from page_studies import hostile, reaction, small
from waiting import PATIENCE

from believer import Float, Maximize, Minimize, Optimizer, Space, read_study
from believer.arrays import to_width
from believer.errors import InvalidInput, JournalError
from believer.page import beliefs
from believer.page import state as state_of
from believer.page.cells import cell, in_script, label, numbers, percent
from believer.page.content import source_of
from believer.page.rows import rows_of
from believer.surrogates import GP
from believer.surrogates.data import Data
from believer.surrogates.protocols import Model

JOURNALS = sorted((Path(__file__).parents[1] / "journals").glob("format*/*.jsonl"))
PARTS = ("found", "recommendation", "next", "pending", "settings", "provenance")


class Own:
    """A surrogate that a journal cannot hold."""

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> Model:
        return GP().fit(data, rng)


def texts(part: dict[str, Any]) -> str:
    return " ".join(part.get("text", ()))


def trials_in(state: dict[str, Any]) -> set[int]:
    return {i for f in state["figures"] for p in f["panels"] for t in p["data"] for i in t.get("trials", ())}


@pytest.mark.parametrize("path", JOURNALS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_journal_that_there_ever_was_has_a_page_and_stays_as_it_is(path: Path) -> None:
    before = path.read_bytes(), path.stat().st_mtime_ns
    found = state_of(path)
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert set(PARTS) <= found.keys()
    assert all(found[part].get("text") or found[part].get("tables") for part in PARTS)
    assert len(found["trials"]["rows"]) == len(read_study(path).trials)
    assert all(len(row) == len(found["trials"]["columns"]) for row in found["trials"]["rows"])
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert len({figure["id"] for figure in found["figures"]}) == len(found["figures"])
    assert "figure-evaluations" in {figure["id"] for figure in found["figures"]}


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_a_page_of_an_optimizer_shows_every_kind_of_space(space: Space) -> None:
    optimizer = Optimizer(space, seed=3, n_init=4)
    for _ in range(2):
        tell_all(optimizer, optimizer.ask(3))
    found = state_of(optimizer)
    shown = {figure["id"].removeprefix("figure-") for figure in found["figures"]}
    assert {"convergence", "slice", "importance", "evaluations", "parallel", "distribution"} <= shown
    assert {"dependence", "calibration", "diversity", "timeline"} <= shown
    found["figures"] = [figure for figure in found["figures"] if figure["id"] != "figure-lies"]  # those come next
    assert trials_in(found) == set(range(6))


def test_what_comes_next_is_what_an_ask_gives_and_is_not_asked_for() -> None:
    optimizer = small()
    events = len(optimizer.events)
    found = state_of(optimizer, next_q=3)
    assert len(optimizer.events) == events
    (listed,) = found["next"]["tables"]
    batch = optimizer.ask(3)
    assert [row[0] for row in listed["rows"]] == [trial.id for trial in batch]
    names = optimizer.space.names
    assert [row[1 : 1 + len(names)] for row in listed["rows"]] == [[*trial.params.values()] for trial in batch]
    assert [row[-1] for row in listed["rows"]] == [trial.provenance for trial in batch]
    assert batch.verdict.sentence in found["next"]["text"]


def test_as_many_come_next_as_the_last_batch_had_and_none_if_none_is_wanted() -> None:
    optimizer = small()
    assert len(state_of(optimizer)["next"]["tables"][0]["rows"]) == 2
    assert "tables" not in state_of(optimizer, next_q=0)["next"]
    with pytest.raises(InvalidInput, match="next must be"):
        state_of(optimizer, next_q=-1)


def test_the_recommendation_is_that_of_the_optimizer() -> None:
    optimizer = small()
    recommended, found = optimizer.recommend(), state_of(optimizer)["recommendation"]
    assert f"trial {recommended.trial.id}." in texts(found)
    low, high = recommended.interval
    assert all(to_width(one, (high - low) / 2) in texts(found) for one in (recommended.mean, low, high))
    assert dict(found["tables"][0]["rows"]) == recommended.params
    assert [row[0] for row in found["tables"][1]["rows"]] == ["yield", "purity"]


def test_the_front_is_that_of_the_optimizer() -> None:
    optimizer = Optimizer(
        Space({"x": Float(0, 1), "y": Float(0, 1)}), outcomes={"a": Minimize(), "b": Maximize()}, seed=1
    )
    for _ in range(3):
        for trial in optimizer.ask(3):
            optimizer.tell(trial, {"a": trial.params["x"] ** 2, "b": trial.params["x"] - trial.params["y"]})
    found = state_of(optimizer)
    assert [row[0] for row in found["recommendation"]["tables"][0]["rows"]] == [p.trial.id for p in optimizer.front]
    assert {"figure-front", "figure-convergence"} <= {figure["id"] for figure in found["figures"]}
    assert "Several objectives" in texts(found["found"])


def test_a_study_is_told_in_sentences() -> None:
    found = " ".join(state_of(small())["found"]["text"])
    best = small().best
    assert best is not None
    assert f"highest yield within all limits so far is {best[1]:.6g}" in found
    assert "14 trials: 11 with a result, 1 failed, 2 pending." in found
    assert "results are within all limits" in found


def test_a_study_without_a_result_shows_what_it_has() -> None:
    empty = Optimizer(Space({"x": Float(0, 1)}), seed=1)
    assert texts(state_of(empty)["found"]) == "No trial has a result yet. 0 trials: 0 with a result."
    assert state_of(empty)["next"]["tables"][0]["rows"][0][0] == 0
    empty.ask(2)
    found = state_of(empty)
    assert [row[0] for row in found["pending"]["tables"][0]["rows"]] == [0, 1]
    assert "no model" in texts(found["recommendation"])


def test_a_surrogate_that_a_journal_cannot_hold_leaves_all_that_needs_no_model(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    with Optimizer(Space({"x": Float(0, 1), "y": Float(0, 1)}), surrogate=Own(), seed=1, journal=path) as optimizer:
        for _ in range(3):
            tell_all(optimizer, optimizer.ask(3))
        whole = state_of(optimizer)
    found = state_of(path)
    assert "not one that a journal can hold" in found["note"]
    assert "not one that a journal can hold" in texts(found["next"])
    assert dict(found["recommendation"]["tables"][0]["rows"]) == (optimizer.best or ({},))[0]
    assert {f["id"] for f in found["figures"]} >= {"figure-convergence", "figure-evaluations", "figure-parallel"}
    assert "figure-slice" in {f["id"] for f in whole["figures"]}
    assert whole["next"]["tables"]


def test_a_strategy_that_a_journal_cannot_hold_leaves_the_model_and_not_the_next_batch(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    space = Space({"x": Float(0, 1), "y": Float(0, 1)}, constraint=lambda p: p["x"] < p["y"])
    with Optimizer(space, seed=1, journal=path) as optimizer:
        for _ in range(3):
            tell_all(optimizer, optimizer.ask(3))
    found = state_of(path)
    assert "cannot hold this study's constraint" in texts(found["next"])
    assert "figure-slice" in {f["id"] for f in found["figures"]}


def test_a_large_study_keeps_the_hyperparameters_of_its_last_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beliefs, "LARGE", 8)
    optimizer = Optimizer(Space({"x": Float(0, 1), "y": Float(0, 1)}), seed=1, n_init=4)
    for _ in range(4):
        tell_all(optimizer, optimizer.ask(3))
    source = beliefs.without_refit(source_of(optimizer))
    learned = source.learned("value")
    assert len(learned.ids) == 12
    described = source.settings.surrogate.describe(learned.fit)  # type: ignore[attr-defined]
    assert {k: v for k, v in (optimizer.hyperparameters or {}).items() if k in described} == described
    found = state_of(optimizer)
    assert "tables" not in found["next"]
    assert "figure-slice" in {f["id"] for f in found["figures"]}
    assert state_of(optimizer, next_q=2)["next"]["tables"]


def test_a_large_study_without_a_fit_is_not_fitted_for_its_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beliefs, "LARGE", 8)
    optimizer = Optimizer(Space({"x": Float(0, 1)}), seed=1)
    for x in np.linspace(0.0, 1.0, 12):
        optimizer.observe({"x": float(x)}, float(x * x))
    assert "holds no fitted model" in state_of(optimizer)["note"]


def test_a_snapshot_does_not_follow_the_optimizer() -> None:
    optimizer = small()
    still = optimizer.snapshot()
    optimizer.tell(optimizer.pending[0], reaction(optimizer.pending[0].params))
    assert (still.counts.done, optimizer.counts.done) == (11, 12)


def test_the_table_has_the_columns_of_the_csv_file(tmp_path: Path) -> None:
    for optimizer in (small(), hostile()):
        optimizer.to_csv(tmp_path / "study.csv", raw=True)
        rows = rows_of(source_of(optimizer))
        assert [column["name"] for column in rows.columns] == [*optimizer.records()[0]]
        shown = [column["name"] for column in rows.columns if not column["hidden"]]
        assert "value" not in shown  # the objective has a column of its own


def test_cells_are_exact_in_a_browser_or_text() -> None:
    assert [cell(v) for v in (1, 2**53, 2**53 + 1, 0.5, True, None, "a", float("inf"))] == [
        *(1, 2**53, str(2**53 + 1), 0.5, "True", None, "a", "inf")
    ]
    assert cell("\ud800") == "\\ud800"
    assert numbers([1.23456789, np.nan, np.inf]) == [1.23457, None, None]
    assert [percent(p) for p in (0.0, 0.001, 0.5, 0.999, 1.0)] == [
        "less than 1 %",
        "less than 1 %",
        "50 %",
        "more than 99 %",
        "more than 99 %",
    ]


def test_nothing_in_a_script_ends_it_and_nothing_in_a_label_is_markup() -> None:
    text = "</script><!-- & \u2028\u2029 ' \""
    assert not set("<>&\u2028\u2029") & set(in_script({text: [text]}))
    assert json.loads(in_script({text: [text]})) == {text: [text]}
    assert label("<b>&lt;</b>") == "&lt;b&gt;&amp;lt;&lt;/b&gt;"
    assert "$" not in label("$x$")
    assert len(label("x" * 99, 10)) == 10


def test_a_missing_journal_is_one_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match=r"nothing\.jsonl"):
        state_of(tmp_path / "nothing.jsonl")


def test_a_page_imports_neither_plotly_nor_matplotlib(tmp_path: Path) -> None:
    code = (
        "import sys; from believer.page import report; "
        f"report({str(JOURNALS[0])!r}, {str(tmp_path / 'a.html')!r}); "
        "print([name for name in ('plotly', 'matplotlib', 'pandas') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert done.stdout.strip() == "[]"
