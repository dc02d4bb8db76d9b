"""Journals of earlier code load, say what they said then, and go on with the suggestion that would have come next."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from believer import Optimizer

JOURNALS = sorted(Path(__file__).parent.glob("journals/format*/*.jsonl"))


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
        assert study.best is not None
        assert list(study.best) == then["best"]
        following = [{"id": t.id, "params": t.params, "origin": t.origin} for t in study.ask(2)]
    assert following == [near(trial) for trial in then["next"]]


def test_there_are_journals_of_every_format_and_many_kinds() -> None:
    assert [path.parent.name for path in JOURNALS] == ["format1"] * 12
