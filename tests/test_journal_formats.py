"""Journals of earlier code load, say what they said then, and go on with the suggestion that would have come next.

Where the library has learned to choose otherwise since, they go on all the same.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from journal_lines import edited

from believer import Optimizer, Space, read_study
from believer.errors import JournalCorrupt, JournalTooNew
from believer.study.events import Begun, Changed, Upgraded
from believer.study.formats import FORMAT
from believer.study.settings import ENGINE

JOURNALS = sorted(Path(__file__).parent.glob("journals/format*/*.jsonl"))


OTHERWISE = tuple(f"format{n}-{name}" for n in (1, 2) for name in ("dpp_everything", "kb_everything"))
"""Studies that go on otherwise today, since a category has one lengthscale, not one for each of its columns. What they
said stays, and so do the hyperparameters of their last fit."""


def named(path: Path) -> str:
    """A journal of this folder as tests call it."""
    return f"{path.parent.name}-{path.stem}"


def near(value: Any) -> Any:
    """Floats to what another processor may make of them (docs/reliability.md); all else as it is."""
    if isinstance(value, dict):
        return {key: near(entry) for key, entry in value.items()}
    return pytest.approx(value, rel=1e-5, abs=1e-6) if isinstance(value, float) else value


@pytest.mark.parametrize("path", JOURNALS, ids=named)
def test_a_journal_of_earlier_code_loads_and_goes_on_as_it_would_have(path: Path, tmp_path: Path) -> None:
    then = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    with Optimizer.load(shutil.copy(path, tmp_path)) as study:
        rows = study.records()
        outside = [row.pop("outside", False) for row in rows]  # a column that came later
        assert rows == then["records"]
        assert [i for i, is_outside in enumerate(outside) if is_outside] == [trial.id for trial in study.outside]
        assert [trial.id for trial in study.pending] == then["pending"]
        assert list(study.queued) == then["queued"]
        assert (None if then["best"] is None else list(study.best or ())) == then["best"]
        asked = [json.loads(line).get("model") for line in path.read_text(encoding="utf-8").splitlines()]
        model = next((model for model in reversed(asked) if model), None)
        by_output = (model or {}).get("outputs", {"value": model})
        assert study.hyperparameters == (by_output if len(by_output) > 1 else next(iter(by_output.values())))
        following = [{"id": t.id, "params": study.space.check(t.params), "origin": t.origin} for t in study.ask(2)]
    if named(path) in OTHERWISE:
        for trial in (*following, *then["next"]):
            del trial["params"]
    assert following == [near(trial) for trial in then["next"]]


def test_there_are_journals_of_every_format_and_many_kinds() -> None:
    assert [path.parent.name for path in JOURNALS] == [
        *(f"format{n}" for n, count in ((1, 12), (2, 16), (3, 19), (4, 22), (5, 3)) for _ in range(count))
    ]
    for path in JOURNALS:
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        assert path.parent.name == f"format{[line['format'] for line in lines if 'format' in line][-1]}"


def test_a_study_that_was_changed_and_one_that_an_older_engine_began_are_among_them() -> None:
    folder = Path(__file__).parent / "journals" / "format4"
    study = read_study(folder / "changed.jsonl")
    assert sum(isinstance(event, Changed) for event in study.events) == 2
    assert [study.space.names[-1], len(study.outside) > 0] == ["hours", True]
    assert all(trial.params["kind"] == "a" for trial in study.outside)
    gone_on = read_study(folder / "gone_on_limits.jsonl").events
    assert [event.engine for event in gone_on if isinstance(event, Begun | Upgraded)] == [1, 2]


@pytest.mark.parametrize("path", JOURNALS[:12], ids=lambda path: path.stem)
def test_an_older_journal_goes_on_in_the_newest_format_after_a_line_that_says_so(path: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copy(path, tmp_path))
    before = copy.read_bytes()
    with Optimizer.load(copy) as study:
        assert copy.read_bytes() == before, "loading alone changes nothing"
        trial = study.ask(1)[0]
        study.tell(trial, 0.5, noise=0.1)
        rows, events = study.records(), study.events
    after = copy.read_bytes()
    assert after.startswith(before)
    added = [json.loads(line) for line in after[len(before) :].splitlines()]
    assert [line["kind"] for line in added] == ["upgraded", "asked", "told"]
    assert (added[0]["format"], added[0]["engine"]) == (FORMAT, ENGINE)
    assert all("crc32" in line for line in added)
    with Optimizer.load(copy) as again:
        assert (again.records(), again.events) == (rows, events)
        again.observe(trial.params, 0.25)
        again.save(tmp_path / "saved.jsonl")
    assert copy.read_bytes().count(b'"upgraded"') == 1
    assert (tmp_path / "saved.jsonl").read_bytes() == copy.read_bytes()


def test_a_study_does_not_go_back_to_an_older_format(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    Optimizer(Space.cube(1), journal=path, seed=0).close()
    with path.open("a", encoding="utf-8") as file:
        file.write('{"kind":"upgraded","format":1,"versions":{}}\n')
    with pytest.raises(JournalCorrupt, match="line 2"):
        Optimizer.load(path)


def test_a_newer_format_in_the_middle_is_refused_in_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    Optimizer(Space.cube(1), journal=path, seed=0).close()
    with path.open("a", encoding="utf-8") as file:
        file.write('{"kind":"upgraded","format":9,"by":"someone"}\n{"kind":"dreamt"}\n')
    with pytest.raises(JournalTooNew, match=rf"format 9; .* reads up to format {FORMAT}\."):
        Optimizer.load(path)


def test_a_flipped_format_is_damage_and_no_newer_version(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    Optimizer(Space.cube(1), journal=path, seed=0).close()
    path.write_bytes(path.read_bytes().replace(b'"format":%d' % FORMAT, b'"format":%d' % (FORMAT + 1)))
    with pytest.raises(JournalCorrupt, match="checksum"):
        Optimizer.load(path)


def test_settings_of_an_older_format_that_no_study_can_have_are_damage(tmp_path: Path) -> None:
    path = Path(shutil.copy(next(path for path in JOURNALS if path.parent.name == "format3"), tmp_path))
    edited(path, lambda record: record["config"].update(maximize=1))
    with pytest.raises(JournalCorrupt, match="maximize must be True or False"):
        Optimizer.load(path)


def test_a_value_that_no_study_can_have_is_damage(tmp_path: Path) -> None:
    path = Path(shutil.copy(JOURNALS[0], tmp_path))
    lines = path.read_text(encoding="utf-8").splitlines()
    place = next(i for i, line in enumerate(lines) if '"told"' in line)
    lines[place] = json.dumps({**json.loads(lines[place]), "value": 1e300})
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(JournalCorrupt) as caught:
        Optimizer.load(path)
    assert caught.value.line == place + 1
