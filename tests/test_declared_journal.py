"""Outcomes in a journal: what is told is written and read back, and what no study can have written is refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from declared_studies import LIMITED, SEVERAL, SPACE, begun, result
from hypothesis import given
from hypothesis import strategies as st
from journal_lines import checked, edited

from believer import GP, Optimizer, Outcome, read_study
from believer.errors import InvalidInput, JournalCorrupt, JournalError
from believer.study.events import Amended, Observed, Told
from believer.study.formats import FORMAT, decode_event, encode_event
from believer.study.settings import ENGINE

Record = dict[str, Any]
NUMBERS = st.floats(-1e100, 1e100)


@st.composite
def outcomes(draw: st.DrawFn) -> Outcome:
    """Any outcome of a study that declares some."""
    names = draw(st.lists(st.text(max_size=5), min_size=1, max_size=6, unique=True))
    kinds = [draw(st.sampled_from(["objective", "constraint", "lost"])) for _ in names]
    by_kind = {kind: [n for n, k in zip(names, kinds, strict=True) if k == kind] for kind in set(kinds)}
    known = [name for name, kind in zip(names, kinds, strict=True) if kind != "lost"]
    some = st.lists(st.sampled_from(known), unique=True) if known else st.just([])
    return Outcome(
        {name: draw(NUMBERS) for name in by_kind.get("objective", [])},
        {name: draw(NUMBERS) for name in by_kind.get("constraint", [])},
        {name: draw(st.floats(0.0, 1e100)) for name in draw(some)},
        {name: tuple(draw(st.lists(NUMBERS, min_size=2, max_size=4))) for name in draw(some)},
        tuple(by_kind.get("lost", [])),
    )


@given(outcomes(), st.integers(0, 10**6), st.text(max_size=9))
def test_every_event_with_a_result_is_written_and_read_back(outcome: Outcome, number: int, error: str) -> None:
    for event in (
        Told(number, outcome),
        Observed(number, {"x": 0.5}, outcome, None),
        Amended(number, outcome, None),
        Amended(number, None, error),
    ):
        assert decode_event(encode_event(event)) == event


@pytest.mark.parametrize("version", [1, 2])
def test_older_formats_hold_nothing_of_it(version: int) -> None:
    for outcome in (Outcome({"a": 1.0}, replicates={"a": (1.0, 1.0)}), Outcome({"a": 1.0}, lost=("b",))):
        with pytest.raises(InvalidInput, match=f"format {version} of a journal holds"):
            encode_event(Told(0, outcome), version)
    line = encode_event(Amended(0, None, "no"))
    with pytest.raises(InvalidInput, match=f"format {version} of a journal has no line of the kind amended"):
        decode_event(line if version > 1 else line[: line.rindex(',"crc32')] + "}", version)
    with pytest.raises(InvalidInput):
        decode_event(checked({"kind": "told", "id": 0, "objectives": {}, "lost": ["a"]}), 2)
    with pytest.raises(InvalidInput, match="at least one objective"):
        decode_event(checked({"kind": "told", "id": 0, "objectives": {}, "constraints": {"a": 1.0}}), 2)


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study with a partial result, a failure, replicates and an amendment.

    Lines: 1 begun, 2 asked, 3 to 7 told, 8 asked, 9 told in part, 10 told with something lost, 11 amended, 12 asked.
    """
    path = tmp_path_factory.mktemp("declared") / "study.jsonl"
    with begun(SEVERAL, journal=path, reference={"cost": 3.0, "yield": 0.0}, strategy="kb") as opt:
        batch = opt.ask(3)
        opt.tell(batch[0], {"cost": [0.5, 0.7]})
        opt.tell(batch[1], {**result(opt, batch[1]), "heat": float("nan")})
        opt.amend(1, {"cost": 1.0, "yield": 1.0, "heat": 1.0})
        opt.ask(1)
    return path


def test_the_journal_is_as_the_other_tests_take_it_to_be(journal: Path, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
    kinds = ["begun", "asked", *["told"] * 5, "asked", "told", "told", "amended", "asked"]
    assert [line["kind"] for line in lines] == kinds
    assert (lines[0]["format"], lines[0]["engine"]) == (FORMAT, ENGINE)
    assert lines[8]["replicates"] == {"cost": [0.5, 0.7]}
    assert lines[9]["lost"] == ["heat"]
    assert set(lines[11]["model"]["outputs"]) == {"cost", "yield", "heat", "(runs)"}
    with Optimizer.load(shutil.copy(journal, tmp_path)) as study:
        assert study.counts.answered == 6
        study.ask(1)


def put(*place: Any) -> Callable[[Record], None]:
    """An edit: the last of ``place`` stands where the others lead to."""

    def change(record: Record) -> None:
        *path, key, value = place
        for step in path:
            record = record[step]
        record[key] = value

    return change


def drop(*place: Any) -> Callable[[Record], None]:
    """An edit: what ``place`` leads to is gone."""

    def change(record: Record) -> None:
        *path, key = place
        for step in path:
            record = record[step]
        del record[key]

    return change


BROKEN: dict[str, tuple[int, Callable[[Record], None]]] = {
    "an unknown outcome": (3, put("objectives", {"price": 1.0})),
    "an unknown limit": (3, put("constraints", {"cold": 1.0})),
    "nothing told": (3, lambda r: r.update(objectives={}, constraints={})),
    "told already": (9, put("id", 0)),
    "a part told twice": (10, lambda r: r.update(id=5, objectives={"cost": 1.0}, constraints={}, lost=[])),
    "lost and told": (10, put("lost", ["heat", "cost"])),
    "lost after it was told": (10, lambda r: r.update(id=5, objectives={}, constraints={}, lost=["cost"])),
    "lost twice": (10, put("lost", ["heat", "heat"])),
    "lost is a text": (10, put("lost", "heat")),
    "lost has a number": (10, put("lost", [1])),
    "lost has a list": (10, put("lost", [["heat"]])),
    "lost is unknown": (10, put("lost", ["cold"])),
    "replicates are a list": (9, put("replicates", [0.5, 0.7])),
    "replicates are one": (9, put("replicates", {"cost": [0.5]})),
    "replicates are a number": (9, put("replicates", {"cost": 0.5})),
    "replicates have a text": (9, put("replicates", {"cost": [0.5, "0.7"]})),
    "replicates of another": (9, put("replicates", {"heat": [0.5, 0.7]})),
    "replicates have none": (9, put("replicates", {"cost": [0.5, None]})),
    "noise below zero": (9, put("noise", {"cost": -1.0})),
    "noise of another": (9, put("noise", {"heat": 1.0})),
    "a number that is a text": (9, put("objectives", {"cost": "0.6"})),
    "a number that is true": (9, put("objectives", {"cost": True})),
    "an unknown field": (9, put("lost_too", [])),
    "amended what is pending": (11, put("id", 7)),
    "amended what is not there": (11, put("id", 99)),
    "amended with an error too": (11, put("error", "no")),
    "amended with nothing": (11, put("objectives", None)),
    "amended with an unknown outcome": (11, put("objectives", {"price": 1.0})),
    "a model without outputs": (12, put("model", {})),
    "a model of one number": (12, lambda r: r.update(model=r["model"]["outputs"]["cost"])),
    "outputs that are a list": (12, put("model", "outputs", [])),
    "outputs that are nothing": (12, put("model", "outputs", None)),
    "more beside outputs": (12, put("model", "kernel", "matern52")),
    "an output that is a text": (12, put("model", "outputs", "cost", "gp")),
    "an output that is nothing": (12, put("model", "outputs", "cost", None)),
    "an output that is empty": (12, put("model", "outputs", "cost", {})),
    "an output with another shape": (12, put("model", "outputs", "cost", "lengthscales", [1.0])),
    "a warp that is none": (12, put("model", "outputs", "cost", "y_warp", "much")),
    "outcomes that are none": (1, put("config", "outcomes", {})),
    "outcomes that are a list": (1, put("config", "outcomes", [])),
    "outcomes that are a text": (1, put("config", "outcomes", "cost")),
    "outcomes gone": (1, drop("config", "outcomes")),
    "an outcome gone": (1, drop("config", "outcomes", "cost")),
    "an outcome of no kind": (1, put("config", "outcomes", "cost", "type", "Some")),
    "an outcome that is a number": (1, put("config", "outcomes", "cost", 1.0)),
    "an outcome with more": (1, put("config", "outcomes", "cost", "threshold", 1.0)),
    "a limit without a threshold": (1, drop("config", "outcomes", "heat", "threshold")),
    "a limit that is a text": (1, put("config", "outcomes", "heat", "threshold", "1.4")),
    "a limit too large": (1, put("config", "outcomes", "heat", "threshold", 1e300)),
    "a probability too large": (1, put("config", "outcomes", "heat", "probability", 2.0)),
    "no objective": (1, put("config", "outcomes", {"heat": {"type": "AtMost", "threshold": 1.0}})),
}


@pytest.mark.parametrize(("line", "change"), BROKEN.values(), ids=BROKEN)
def test_a_line_that_no_study_wrote_is_refused(
    line: int, change: Callable[[Record], None], journal: Path, tmp_path: Path
) -> None:
    copy = Path(shutil.copy(journal, tmp_path))
    edited(copy, change, line)
    with pytest.raises(JournalCorrupt):
        Optimizer.load(copy)


@pytest.mark.parametrize("line", [1, 3, 9, 10, 11])
def test_one_who_only_reads_refuses_it_too(line: int, journal: Path, tmp_path: Path) -> None:
    for at, change in BROKEN.values():
        if at == line:
            copy = Path(shutil.copy(journal, tmp_path))
            edited(copy, change, line)
            with pytest.raises(JournalCorrupt):
                read_study(copy)


@pytest.mark.parametrize(
    "reference", [{"cost": 1.0}, {"cost": 1.0, "yield": "2"}, [1.0, 2.0], 3.0, {"cost": 1.0, "heat": 1.0}]
)
def test_a_reference_that_no_study_has_is_refused(reference: Any, journal: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copy(journal, tmp_path))
    edited(copy, put("config", "reference", reference), 1)
    with pytest.raises(JournalCorrupt):
        Optimizer.load(copy)


@pytest.mark.parametrize("outputs", [{}, {"cost": None}, {"cost": []}, {"cost": {"what": 1}}, {"cost": {"y_warp": 3}}])
@pytest.mark.parametrize("surrogate", ["mq_rbf", "fixed_rbf"])
def test_hyperparameters_that_are_looked_at_late_end_in_an_error_of_the_library_or_a_suggestion(
    surrogate: str, outputs: Record, tmp_path: Path
) -> None:
    path = tmp_path / "study.jsonl"
    with begun(LIMITED, journal=path, surrogate=surrogate, strategy="kb", n=3) as opt:
        opt.ask(1)
    lines = path.read_text(encoding="utf-8").splitlines()
    edited(path, put("model", {"outputs": outputs}), len(lines))
    try:
        with Optimizer.load(path) as loaded:
            loaded.ask(1)
    except JournalError:
        pass


@pytest.mark.parametrize("name", ["format1", "format2"])
def test_journals_of_earlier_formats_go_on_and_can_be_amended(name: str, tmp_path: Path) -> None:
    path = sorted((Path(__file__).parent / "journals" / name).glob("*.jsonl"))[0]
    copy = Path(shutil.copy(path, tmp_path))
    with Optimizer.load(copy) as study:
        done = next(row["trial_id"] for row in study.records() if row["status"] == "done")
        before = study.outcomes[done]
        study.amend(done, error="mistyped")
        assert study.counts.failed > 0
        study.amend(done, before)
        rows, events = study.records(), study.events
    with Optimizer.load(copy) as again:
        assert (again.records(), again.events) == (rows, events)
        again.ask(1)


def test_amendments_of_failures_do_not_make_lawful_fits_look_wrong(tmp_path: Path) -> None:
    """More results than were ever told: those that were failures first."""
    path = tmp_path / "study.jsonl"
    with Optimizer(SPACE, surrogate=GP(), n_init=4, journal=path, seed=0) as opt:
        for trial in opt.ask(4):
            opt.tell(trial, error="no")
        for trial in opt.trials:
            opt.amend(trial, float(trial.encoded.sum()))
        following = opt.ask(2).encoded
    with Optimizer.load(path) as loaded:
        assert [trial.encoded.tolist() for trial in loaded.pending] == following.tolist()
        loaded.ask(1)


@pytest.mark.parametrize("number", [10**400, -(10**400), 1.5, -0.1, True, "0.5", None])
def test_a_point_outside_of_the_cube_is_refused(number: Any, journal: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copy(journal, tmp_path))
    edited(copy, put("trials", 0, "unit", 0, number), 8)
    with pytest.raises(JournalCorrupt):
        Optimizer.load(copy)
