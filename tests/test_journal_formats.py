"""Journals of earlier code load, say what they said then, and go on with the suggestion that would have come next.

Where the library has learned to choose otherwise since, they go on all the same.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from believer import Optimizer, Space
from believer.errors import JournalCorrupt, JournalTooNew
from believer.study.formats import FORMAT

JOURNALS = sorted(Path(__file__).parent.glob("journals/format*/*.jsonl"))


OTHERWISE = ("dpp_everything", "kb_everything")
"""Studies that go on otherwise today, since a category has one lengthscale, not one for each of its columns. What they
said stays, and so do the hyperparameters of their last fit."""


def near(value: Any) -> Any:
    """Floats to what another processor may make of them (docs/reliability.md); all else as it is."""
    if isinstance(value, dict):
        return {key: near(entry) for key, entry in value.items()}
    return pytest.approx(value, rel=1e-5, abs=1e-6) if isinstance(value, float) else value


@pytest.mark.parametrize("path", JOURNALS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_journal_of_earlier_code_loads_and_goes_on_as_it_would_have(path: Path, tmp_path: Path) -> None:
    then = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    with Optimizer.load(shutil.copy(path, tmp_path)) as study:
        assert study.records() == then["records"]
        assert [trial.id for trial in study.pending] == then["pending"]
        assert list(study.queued) == then["queued"]
        assert (None if then["best"] is None else list(study.best or ())) == then["best"]
        asked = [json.loads(line).get("model") for line in path.read_text(encoding="utf-8").splitlines()]
        assert study.hyperparameters == next((model for model in reversed(asked) if model), None)
        following = [{"id": t.id, "params": study.space.check(t.params), "origin": t.origin} for t in study.ask(2)]
    if path.stem in OTHERWISE:
        for trial in (*following, *then["next"]):
            del trial["params"]
    assert following == [near(trial) for trial in then["next"]]


def test_there_are_journals_of_every_format_and_many_kinds() -> None:
    assert [path.parent.name for path in JOURNALS] == ["format1"] * 12 + ["format2"] * 16 + ["format3"] * 19
    for path in JOURNALS:
        first = json.loads(path.read_text(encoding="utf-8").split("\n")[0])
        assert path.parent.name == f"format{first['format']}"


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
    assert added[0]["format"] == FORMAT
    assert all("crc32" in line for line in added)
    with Optimizer.load(copy) as again:
        assert (again.records(), again.events) == (rows, events)
        again.observe(trial.params, 0.25)
        again.save(tmp_path / "saved.jsonl")
    assert copy.read_bytes().count(b'"upgraded"') == 1
    assert (tmp_path / "saved.jsonl").read_bytes() == copy.read_bytes()


def test_a_study_does_not_go_back_to_an_older_format(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    Optimizer(Space.unit(1), journal=path, seed=0).close()
    with path.open("a", encoding="utf-8") as file:
        file.write('{"kind":"upgraded","format":1,"versions":{}}\n')
    with pytest.raises(JournalCorrupt, match="line 2"):
        Optimizer.load(path)


def test_a_newer_format_in_the_middle_is_refused_in_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    Optimizer(Space.unit(1), journal=path, seed=0).close()
    with path.open("a", encoding="utf-8") as file:
        file.write('{"kind":"upgraded","format":9,"by":"someone"}\n{"kind":"dreamt"}\n')
    with pytest.raises(JournalTooNew, match=r"has journal format 9; this version of believer reads up to format 3\."):
        Optimizer.load(path)


def test_a_flipped_format_is_damage_and_no_newer_version(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    Optimizer(Space.unit(1), journal=path, seed=0).close()
    path.write_bytes(path.read_bytes().replace(b'"format":3', b'"format":4'))
    with pytest.raises(JournalCorrupt, match="checksum"):
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
