from __future__ import annotations

import importlib.util
import struct
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from browser import DESK, PHONE, Browser, browser, chromium, faults
from paper_cells import made_up

from believer.report import Section, Table, as_html, png
from believer_bench.report import write_report as write_bench
from believer_paper.ledger import CLAIMS
from believer_paper.plan import cells
from believer_paper.report import write_report
from believer_paper.results import PRESETS, Results

pytest.importorskip("matplotlib")
if chromium() is None:
    pytest.skip("no Chromium here", allow_module_level=True)

WIDTHS = (PHONE, DESK)
HEAD = '<!DOCTYPE html><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
SOUND = HEAD + '<p id="a">One <a href="#a">link</a>, and <a href="page.html">a file</a>.</p>'

LEDGER = """
(() => {
  const table = document.getElementById("ledger").parentElement.querySelector("table");
  const cells = [...table.querySelectorAll("th, td")];
  return [
    [...table.querySelectorAll("th")].map(head => head.innerText),
    cells.filter(cell => cell.getBoundingClientRect().right > document.documentElement.clientWidth).length,
  ];
})()
"""
"""The columns of the ledger's table, and how many of its cells are not on the screen."""

FIGURES = """
[...document.images].map(image => {
  const frame = image.closest(".scroll") ?? image;
  const fits = frame.getBoundingClientRect().right <= document.documentElement.clientWidth;
  return fits && (frame === image || getComputedStyle(frame).overflowX === "auto");
})
"""
"""Whether each figure is on the screen, or else the frame in which it scrolls."""


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with browser() as running:
        yield running


def found_in(text: str, chrome: Browser, folder: Path, width: int = PHONE) -> list[str]:
    page = folder / "page.html"
    page.write_text(text, encoding="utf-8")
    return faults(chrome, page, width)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_sound_page_has_no_faults(chrome: Browser, tmp_path: Path, width: int) -> None:
    assert found_in(SOUND, chrome, tmp_path, width) == []


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ('<img src="gone.png" alt="gone">', "image not loaded: gone"),
        ('<img src="data:image/png;base64,iVBORw0KGgo=" alt="torn">', "image not loaded: torn"),
        ('<script>console.error("bad")</script>', "console: error"),
        ('<script>throw new Error("bad")</script>', "exception: "),
        ('<link rel="stylesheet" href="http://127.0.0.1:9/style.css">', "asks for http://127.0.0.1:9/style.css"),
        ('<div style="width: 1300px">wide</div>', "scrolls sideways"),
        ('<a href="#nowhere">link</a>', "link to nowhere: #nowhere"),
        ('<a href="gone.csv">link</a>', "link to no file: gone.csv"),
        ('<p id="a">again</p>', "id used twice: a"),
        ('<p style="font-size: 8px">dust</p>', "too small to read: dust"),
    ],
)
@pytest.mark.parametrize("width", WIDTHS)
def test_every_fault_is_found(chrome: Browser, tmp_path: Path, broken: str, said: str, width: int) -> None:
    assert any(fault.startswith(said) for fault in found_in(SOUND + broken, chrome, tmp_path, width))


def test_a_page_that_is_not_made_for_phones_is_found(chrome: Browser, tmp_path: Path) -> None:
    plain = SOUND.replace("viewport", "nothing")
    assert found_in(plain, chrome, tmp_path) == ["scrolls sideways: 980 px in a window of 360"]
    assert found_in(plain, chrome, tmp_path, DESK) == []


@pytest.mark.parametrize("width", WIDTHS)
def test_any_section_fits_any_window(chrome: Browser, tmp_path: Path, width: int) -> None:
    long = "a_word_that_never_ends" * 20
    wide = Table(long, [f"column {i}" for i in range(40)], [["x" * 30] * 40])
    words = Table("Words", ["what", "why"], [["short", "many words " * 30], [long, "short"]])
    sections = [
        Section(long, [long], [long], [wide], {"dot": long}, links={long: {long: "#part", "none": ""}}),
        Section(long, [], [], [words], anchor="part", level=3),
        Section("Last", text=["The end."]),
    ]
    assert found_in(as_html(long, sections, long, {"dot": png(dot())}), chrome, tmp_path, width) == []


def test_a_screenshot_has_the_width_that_was_asked_for(chrome: Browser, tmp_path: Path) -> None:
    found_in(SOUND, chrome, tmp_path, 390)
    chrome.screenshot(tmp_path / "shot.png")
    assert struct.unpack(">II", (tmp_path / "shot.png").read_bytes()[16:24]) == (390, 800)


def test_the_report_of_a_bench_is_sound(chrome: Browser, tmp_path: Path) -> None:
    rows = bench_rows().finished_cells({"kb": 0.0, "lp": 0.3}, seeds=range(3), q=(1, 3), problems=("branin",))
    write_bench(rows, tmp_path, "believer bench")
    for width in WIDTHS:
        assert faults(chrome, tmp_path / "bench.html", width) == []


def test_the_report_on_the_paper_is_sound(chrome: Browser, tmp_path: Path) -> None:
    names = ["exp3", "exp8", "claims"]
    some = [cell for cell in cells(names, PRESETS, seeds=5) if cell.experiment in ("sdd", "batch")]
    write_report(Results(tuple(map(made_up, some))), tmp_path, "believer reproduce exp3 exp8 claims", names)
    for width in WIDTHS:
        assert faults(chrome, tmp_path / "report.html", width) == []
        assert chrome.evaluate("document.images.length") == 4
        assert 0 < chrome.evaluate("document.querySelectorAll('h3[id^=claim]').length") < len(CLAIMS)
        columns, beyond = chrome.evaluate(LEDGER)
        assert columns == ["no.", "verdict", "claim"]
        assert beyond == 0
        assert chrome.evaluate(FIGURES) == [True] * 4


def dot() -> Any:
    from believer.diagnostics import new_figure

    figure = new_figure(12.0, 1.0)
    figure.subplots().plot([0.0], [0.0], "o")
    return figure


def bench_rows() -> ModuleType:
    """Made-up cells of a bench, from the folder of its tests."""
    path = Path(__file__).parents[2] / "bench" / "tests" / "bench_rows.py"
    spec = importlib.util.spec_from_file_location("bench_rows_in_a_browser", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
