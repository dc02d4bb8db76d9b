"""The gallery is what its script writes."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from believer import plot

pytest.importorskip("matplotlib")
DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def gallery(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_gallery", DOCS / "make_gallery.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "make_gallery", module)  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_the_page_is_that_of_the_script_and_its_pictures_are_small(gallery: ModuleType) -> None:
    page = (DOCS / "gallery.md").read_text(encoding="utf-8")
    assert page == gallery.page(), "run python docs/make_gallery.py"
    shown = {DOCS / path for path in re.findall(r"\]\((figures/[^)]*)\)", page)}
    assert shown == set((DOCS / "figures" / "gallery").glob("*.png"))
    for path in shown:
        assert path.stat().st_size <= gallery.LARGEST


def test_every_figure_is_in_the_gallery() -> None:
    page = (DOCS / "gallery.md").read_text(encoding="utf-8")
    assert {name for name in plot.__all__ if f"bv.plot.{name}(" not in page} == {"data"}
