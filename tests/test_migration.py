"""The page for those who come from other libraries: both sides do what they say, and do the same things."""

from __future__ import annotations

import re
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

PAGE = (Path(__file__).parent.parent / "docs" / "migration.md").read_text(encoding="utf-8")
SECTIONS = re.findall(r"^## From (.*?)\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)


def code(section: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", section, re.DOTALL)


def things(block: str) -> set[int]:
    """The numbers in its comments."""
    comments = [line.split("  #")[-1] if "  #" in line else "" for line in block.splitlines()]
    return {
        int(n)
        for text in comments
        for n in re.findall(r"(?<![\w.])\d+(?=[\s,:;]|$)", text.split(" a ")[0])
        if int(n) < 11
    }


@pytest.fixture
def names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the page has defined above all sections."""
    monkeypatch.chdir(tmp_path)
    found: dict[str, Any] = {}
    exec(code(PAGE.split("## From")[0])[0], found)
    return found


def test_there_are_six_and_each_has_ten_things_on_both_sides() -> None:
    assert len(SECTIONS) == 6
    for title, text in SECTIONS:
        theirs, ours = code(text)
        assert things(theirs) == things(ours) == set(range(1, 11)), title


@pytest.mark.parametrize(("title", "text"), SECTIONS, ids=[title for title, _ in SECTIONS])
def test_our_side_runs(title: str, text: str, names: dict[str, Any]) -> None:
    pytest.importorskip("pandas")
    exec(compile(code(text)[1], f"migration.md, from {title}", "exec"), names)


@pytest.mark.slow("BoTorch is imported, and other libraries' models are fitted")
@pytest.mark.parametrize(("title", "text"), SECTIONS, ids=[title for title, _ in SECTIONS])
def test_their_side_runs_where_they_are_installed(title: str, text: str, names: dict[str, Any]) -> None:
    theirs = code(text)[0]
    host = theirs.splitlines()[0].removeprefix("# ")
    host = {"scikit-optimize": "skopt", "Ax": "ax", "BayBE": "baybe"}.get(host, host)
    if find_spec(host) is None:
        pytest.skip(f"{title} is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(theirs, f"migration.md, {title}", "exec"), names)
