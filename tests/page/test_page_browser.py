"""Pages in a real browser: one short test, and slow ones."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from browser import Browser, browser, chromium, faults
from page_studies import IMAGE, OUTCOME, RTL, SCRIPT, hostile, small
from waiting import wait_for

from believer import Categorical, Float, Int, Maximize, Minimize, Optimizer, Space
from believer.page import watch

pytest.importorskip("plotly")
if chromium() is None:
    pytest.skip("no Chromium here", allow_module_level=True)

PHONE, DESK = 390, 1280


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with browser() as running:
        yield running


class Pages(dict[str, Path]):
    """Reports of studies by name, each written when it is first asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __missing__(self, name: str) -> Path:
        self[name] = self._folder / f"{name}.html"
        {"small": small, "hostile": hostile, "front": front}[name]().report(self[name])
        return self[name]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return Pages(tmp_path_factory.mktemp("pages"))


def front() -> Optimizer:
    space = Space({"x": Float(0, 1), "n": Int(1, 9), "c": Categorical(["a", "b"])})
    optimizer = Optimizer(space, outcomes={"gain": Maximize(), "cost": Minimize()}, seed=1, n_init=4)
    for _ in range(3):
        for trial in optimizer.ask(3):
            x = trial.params
            optimizer.tell(trial, {"gain": x["x"] * x["n"], "cost": x["n"] + (x["c"] == "a") - x["x"]})
    return optimizer


def until(chrome: Browser, condition: str) -> None:
    """Wait until a condition holds in the page."""
    wait_for(lambda: bool(chrome.evaluate(f"Boolean({condition})")))


def see(chrome: Browser, figure: str) -> None:
    """Bring a figure into view, which draws it."""
    chrome.evaluate(f"document.querySelector('{figure}').scrollIntoView({{block: 'center'}}), 1")
    until(chrome, f"document.querySelector('{figure} .main-svg')")


def draw(chrome: Browser, width: int) -> None:
    """Make the window as high as the page, so that all figures are drawn."""
    for _ in range(2):
        height = chrome.evaluate("document.documentElement.scrollHeight")
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        chrome.call("Emulation.setDeviceMetricsOverride", **size)
        until(chrome, "!document.querySelector('.panel.wait')")


def problems(chrome: Browser) -> list[str]:
    """What the console said, and what ran over the side."""
    found = [str(said["args"]) for said in chrome.heard("Runtime.consoleAPICalled")]
    found += [str(said["exceptionDetails"]) for said in chrome.heard("Runtime.exceptionThrown")]
    found += [said["entry"]["text"] for said in chrome.heard("Log.entryAdded")]
    root = chrome.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    return found if root[0] <= root[1] else [*found, f"{root[0]} px in a window of {root[1]}"]


def column(chrome: Browser, place: int) -> list[str]:
    """The cells of a column of the table of trials."""
    return list(
        chrome.evaluate(f"[...document.querySelectorAll('#trials tbody tr')].map(r => r.children[{place}].textContent)")
    )


def key(chrome: Browser, name: str, code: int, text: str = "") -> None:
    for kind in ("keyDown", "keyUp"):
        typed = {"text": text} if text and kind == "keyDown" else {}
        chrome.call("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=code, **typed)


def test_a_report_opens_without_a_fault(chrome: Browser, pages: dict[str, Path]) -> None:
    assert faults(chrome, pages["hostile"], PHONE) == []
    see(chrome, "#figure-convergence")
    assert problems(chrome) == []
    assert chrome.evaluate("window.hacked") is None
    assert SCRIPT in chrome.evaluate("document.querySelector('#trials thead').textContent")
    assert len(column(chrome, 0)) == 13


@pytest.mark.slow
@pytest.mark.parametrize("width", [PHONE, DESK])
def test_every_choice_of_a_few_has_its_label(chrome: Browser, tmp_path: Path, width: int) -> None:
    solvents = ("DMF", "DMSO", "acetonitrile", "dioxane", "toluene", "ethanol")
    space = Space({"solvent": Categorical(solvents), "T": Float(40, 100), "t": Float(4, 20)})
    optimizer = Optimizer(space, seed=0, n_init=6)
    for trial in optimizer.ask(8):
        optimizer.tell(trial, trial.params["T"] + trial.params["t"])
    optimizer.report(tmp_path / "solvents.html")
    chrome.open(tmp_path / "solvents.html", width)
    draw(chrome, width)
    shown = chrome.evaluate(
        "[...document.querySelectorAll('.xaxislayer-above')].map(axis => [...axis.querySelectorAll('text')]"
        ".filter(text => getComputedStyle(text).display !== 'none' && getComputedStyle(text).opacity > 0"
        " && text.getBoundingClientRect().right <= text.closest('.panel').getBoundingClientRect().right + 1)"
        ".map(text => text.textContent)).filter(texts => texts.includes('DMF'))"
    )
    assert shown
    assert {tuple(texts) for texts in shown} == {solvents}
    assert problems(chrome) == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [PHONE, DESK])
@pytest.mark.parametrize("name", ["small", "hostile", "front"])
def test_all_figures_are_drawn_within_the_window(
    chrome: Browser, pages: dict[str, Path], name: str, width: int, dark: bool
) -> None:
    chrome.open(pages[name], width, dark=dark)
    draw(chrome, width)
    assert problems(chrome) == []
    empty = "[...document.querySelectorAll('.panel')].filter(p => !p.querySelector('.main-svg')).length"
    assert chrome.evaluate(empty) == 0
    assert chrome.evaluate("document.querySelectorAll('figure').length") >= 8
    ground = chrome.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (ground != "rgb(255, 255, 255)") is dark
    # No table or figure reaches beyond the window, but for tables that scroll in a box of their own.
    wide = chrome.evaluate(
        "[...document.querySelectorAll('h1, h2, h3, p, figure, .panel, .scroll, input, button')]"
        ".filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest('.scroll table')).length"
    )
    assert wide == 0


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_text_stands_out_from_its_ground(chrome: Browser, pages: dict[str, Path], dark: bool) -> None:
    chrome.open(pages["small"], DESK, dark=dark)
    contrast = """
    (() => {
      const light = text => {
        const [r, g, b] = text.match(/[\\d.]+/g).map(Number).map(v => v / 255)
          .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const behind = e => { while (e && /, 0\\)$/.test(getComputedStyle(e).backgroundColor)) e = e.parentElement;
        return e ? getComputedStyle(e).backgroundColor : "rgb(255, 255, 255)"; };
      return Math.min(...[...document.querySelectorAll("h1, h2, h3, p, td, th, a, button, figcaption")]
        .filter(e => e.textContent.trim() && e.offsetParent).map(e => {
          const [a, b] = [light(getComputedStyle(e).color), light(behind(e))].sort((x, y) => y - x);
          return (a + 0.05) / (b + 0.05);
        }));
    })()
    """
    assert chrome.evaluate(contrast) >= 4.5  # WCAG 2.1, AA


@pytest.mark.slow
def test_hostile_names_and_values_are_shown_as_text(chrome: Browser, pages: dict[str, Path]) -> None:
    chrome.open(pages["hostile"], DESK)
    draw(chrome, DESK)
    assert chrome.evaluate("window.hacked") is None
    assert (
        chrome.evaluate(
            "document.querySelectorAll('#page img, #page b, #page iframe, #page a:not([href^=\"#\"])').length"
        )
        == 0
    )
    text = chrome.evaluate("document.querySelector('#page').textContent")
    assert all(part in text for part in (SCRIPT, IMAGE, RTL, OUTCOME, "</script>" + SCRIPT))
    titles = chrome.evaluate("[...document.querySelectorAll('.xtitle, .ytitle')].map(t => t.textContent)")
    assert any(title.startswith("<script>window.hacked") for title in titles)
    assert any(OUTCOME in title for title in titles)
    ticks = chrome.evaluate("[...document.querySelectorAll('.xtick text, .ytick text')].map(t => t.textContent)")
    assert any(tick.startswith("<img src=x") for tick in ticks)
    assert any(tick.startswith("%{x} $a$ <b>") for tick in ticks)


def hover_first(chrome: Browser, figure: str) -> str:
    """Hover the first point of a figure with the mouse; what the label says."""
    see(chrome, figure)
    until(chrome, f"document.querySelector('{figure} .scatterlayer .point')")
    place = chrome.evaluate(
        f"(() => {{ const b = document.querySelector('{figure} .scatterlayer .point').getBoundingClientRect();"
        "return [b.x + b.width / 2, b.y + b.height / 2]; })()"
    )
    label = f"document.querySelector('{figure} .hoverlayer .hovertext')"

    def shown() -> bool:
        for shift in (3, 0):
            chrome.call("Input.dispatchMouseEvent", type="mouseMoved", x=place[0] + shift, y=place[1])
        return bool(chrome.evaluate(f"Boolean({label})"))

    wait_for(shown)
    return str(chrome.evaluate(f"{label}.textContent"))


@pytest.mark.slow
def test_hovering_shows_the_trial_and_a_click_leads_to_it(chrome: Browser, pages: dict[str, Path]) -> None:
    chrome.open(pages["small"], DESK)
    said = hover_first(chrome, "#figure-convergence")
    assert said.startswith("trial 0 (done)")
    assert all(name in said for name in ("yield", "purity", "temperature", "catalyst", "time"))
    place = chrome.evaluate(
        "(() => { const b = document.querySelector('#figure-convergence .scatterlayer .point').getBoundingClientRect();"
        "return [b.x + b.width / 2, b.y + b.height / 2]; })()"
    )
    for kind in ("mousePressed", "mouseReleased"):
        button = {"button": "left", "clickCount": 1}
        chrome.call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], **button)
    until(chrome, "document.querySelector('#trial-0.found-here')")
    assert problems(chrome) == []


@pytest.mark.slow
def test_hovering_shows_hostile_text_as_text(chrome: Browser, pages: dict[str, Path]) -> None:
    chrome.open(pages["hostile"], DESK)
    said = hover_first(chrome, "#figure-convergence")
    assert "<script>window.hacked=1</script>" in said
    assert "…" in said  # of the name of 200 letters
    assert chrome.evaluate("window.hacked") is None


@pytest.mark.slow
def test_the_table_is_sorted_filtered_and_downloaded(chrome: Browser, pages: dict[str, Path]) -> None:
    chrome.open(pages["small"], DESK)
    heads = column_heads(chrome)
    place = heads.index("yield")
    click = f"document.querySelectorAll('#trials th button')[{place}].click(), 1"
    chrome.evaluate(click)
    up = column(chrome, place)
    known = [float(cell) for cell in up if cell]
    assert known == sorted(known)
    assert up[-2:] == ["", ""]  # what is missing comes last
    chrome.evaluate(click)
    down = column(chrome, place)
    assert [float(cell) for cell in down if cell] == known[::-1]
    assert down[-2:] == ["", ""]
    assert chrome.evaluate(f"document.querySelectorAll('#trials th')[{place}].ariaSort") == "descending"
    typed = "(() => { const f = document.querySelector('#trials input'); f.value = 'PD done'; "
    chrome.evaluate(typed + "f.dispatchEvent(new Event('input')); return 1; })()")
    assert set(column(chrome, heads.index("catalyst"))) == {"Pd"}
    chosen = "(() => { const s = document.querySelector('#trials select'); s.value = 'failed'; "
    chrome.evaluate(typed.replace("PD done", "") + "f.dispatchEvent(new Event('input')); return 1; })()")
    chrome.evaluate(chosen + "s.dispatchEvent(new Event('change')); return 1; })()")
    assert set(column(chrome, heads.index("status"))) == {"failed"}
    assert chrome.evaluate("document.querySelector('#trials .note').textContent") == "1 of 14 trials"


def column_heads(chrome: Browser) -> list[str]:
    return list(chrome.evaluate("[...document.querySelectorAll('#trials th button')].map(b => b.textContent)"))


def downloaded(chrome: Browser) -> str:
    """What the button of the table would download."""
    chrome.evaluate("window.made = null, URL.createObjectURL = b => (window.made = b, 'blob:none'), 1")
    chrome.evaluate("HTMLAnchorElement.prototype.click = function () { window.named = this.download; }, 1")
    chrome.evaluate("document.querySelectorAll('#trials .tools button')[0].click(), 1")
    return str(chrome.evaluate("window.made.text()"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["small", "hostile"])
def test_the_download_is_the_csv_file_of_the_study(
    chrome: Browser, pages: dict[str, Path], tmp_path: Path, name: str
) -> None:
    chrome.open(pages[name], DESK)
    {"small": small, "hostile": hostile}[name]().to_csv(tmp_path / "study.csv")
    ours = [*csv.reader(io.StringIO(downloaded(chrome), newline=""))]
    theirs = [*csv.reader(io.StringIO((tmp_path / "study.csv").read_bytes().decode(), newline=""))]
    assert len(ours) == len(theirs)
    assert [[_number(cell) for cell in row] for row in ours] == [[_number(cell) for cell in row] for row in theirs]
    assert chrome.evaluate("window.named") == f"{name}.csv"


def _number(cell: str) -> float | str:
    try:
        return float(cell)
    except ValueError:
        return cell


@pytest.mark.slow
def test_formulas_are_neutralized_as_the_library_does(chrome: Browser, tmp_path: Path) -> None:
    cells = [
        *(
            "=1",
            "+1",
            "-1",
            "@x",
            " =1",
            "\t=1",
            "'a",
            "a;=1",
            "a\n+b",
            "a\r\n'=b",
            "\uff1d1",
            "a ; '@x",
            "\x1c=1",
            "x\x85=1",
        ),
        *(
            "plain",
            "a=b",
            "1-2",
            "a - b",
            "\u2003=1",
            "a;\u00a0=1",
            "",
            "'",
            "a'\t\t''-1",
            "\ufeff=1",
            "a;\x1f=1",
            "\x0b=1",
        ),
    ]
    optimizer = Optimizer(Space({"x": Float(0, 1)}), seed=1)
    for cell in cells:
        optimizer.observe({"x": 0.5}, error=cell or "none")
    optimizer.report(tmp_path / "a.html")
    optimizer.to_csv(tmp_path / "a.csv")
    chrome.open(tmp_path / "a.html", DESK)
    ours = [row[-1] for row in csv.reader(io.StringIO(downloaded(chrome), newline=""))]
    text = (tmp_path / "a.csv").read_bytes().decode()
    assert ours == [row[-1] for row in csv.reader(io.StringIO(text, newline=""))]


@pytest.mark.slow
def test_everything_is_reached_by_the_keyboard(chrome: Browser, pages: dict[str, Path]) -> None:
    chrome.open(pages["small"], DESK)
    kind = (
        "(e => e.closest('th') ? 'sort' : e.matches('.panel') ? 'panel' : e.matches('nav a') ? 'link' : "
        "e.matches('.skip') ? 'skip' : e.tagName)(document.activeElement)"
    )

    def tabbed(times: int) -> set[str]:
        found = set()
        for _ in range(times):
            key(chrome, "Tab", 9)
            found.add(chrome.evaluate(kind))
        return found

    assert {"skip", "BUTTON", "link", "panel"} <= tabbed(16)
    chrome.evaluate("document.querySelector('nav a[href=\"#trials\"]').focus(), 1")
    key(chrome, "Enter", 13, "\r")
    assert {"INPUT", "SELECT", "BUTTON", "sort"} <= tabbed(8)
    chrome.evaluate("document.querySelectorAll('#trials th button')[1].focus(), 1")
    key(chrome, "Enter", 13, "\r")
    assert chrome.evaluate("document.querySelectorAll('#trials th')[1].ariaSort") == "ascending"
    assert chrome.evaluate("document.activeElement.dataset.column") == "1"  # it is where it was
    see(chrome, "#figure-convergence")  # not before: some versions of Chromium go on with Tab from what was scrolled to
    chrome.evaluate("document.querySelector('#figure-convergence .panel').focus(), 1")
    key(chrome, "ArrowRight", 39)
    until(chrome, "document.querySelector('#figure-convergence .hovertext')")
    assert "trial 0 (done)" in chrome.evaluate("document.querySelector('#figures [aria-live]').textContent")
    key(chrome, "ArrowRight", 39)
    until(chrome, "document.querySelector('#figures [aria-live]').textContent.includes('trial 1 (')")


@pytest.mark.slow
def test_the_theme_can_be_changed(chrome: Browser, pages: dict[str, Path]) -> None:
    chrome.open(pages["small"], DESK)
    see(chrome, "#figure-convergence")
    before = chrome.evaluate("getComputedStyle(document.querySelector('#figure-convergence .xtick text')).fill")
    chrome.evaluate("document.querySelector('.top button').click(), 1")
    until(chrome, f"getComputedStyle(document.querySelector('#figure-convergence .xtick text')).fill !== '{before}'")
    assert chrome.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(22, 24, 27)"


RUN = """
import sys, time
sys.path.insert(0, {tests!r})
from page_studies import reaction
from believer import Optimizer
with Optimizer.load({path!r}) as optimizer:
    for trial in optimizer.pending:
        sys.stdin.readline()
        optimizer.tell(trial, reaction(trial.params))
        print(time.time(), flush=True)
"""


@pytest.mark.slow
def test_a_result_of_another_process_is_on_the_page_within_two_seconds(chrome: Browser, tmp_path: Path) -> None:
    study = small(tmp_path / "one.jsonl")
    study.ask(4)
    study.close()
    code = RUN.format(tests=str(Path(__file__).parents[1]), path=str(tmp_path / "one.jsonl"))
    waits = []
    with (
        watch(tmp_path / "one.jsonl", port=0) as page,
        subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as other,
    ):
        assert other.stdin is not None
        assert other.stdout is not None
        chrome.open(page.url, DESK)
        until(chrome, "document.querySelector('#figure-slice')")
        chrome.evaluate("document.querySelector('#trials').scrollIntoView(), 1")
        for done in range(12, 18):
            other.stdin.write("\n")
            other.stdin.flush()
            told = float(other.stdout.readline())
            until(chrome, f"document.querySelector('.found').textContent.includes(': {done} with a result')")
            waits.append(time.time() - told)
            time.sleep(0.3)
        assert problems(chrome) == []
    assert np.median(waits) < 2.0, waits
    assert len(column(chrome, 0)) == 18


@pytest.mark.slow
def test_a_page_says_when_its_server_is_gone_and_goes_on_when_it_is_back(chrome: Browser, tmp_path: Path) -> None:
    small(tmp_path / "one.jsonl").close()
    page = watch(tmp_path / "one.jsonl", port=0)
    port = int(page.url.split(":")[2].split("/")[0])
    chrome.open(page.url, DESK)
    until(chrome, "document.querySelector('.live').textContent.startsWith('Live')")
    page.close()
    until(chrome, "document.querySelector('.live.lost')")
    with watch(tmp_path / "one.jsonl", port=port):
        until(chrome, "document.querySelector('.live').textContent.startsWith('Live')")


@pytest.mark.slow
def test_a_folder_is_a_list_that_leads_to_its_studies(chrome: Browser, tmp_path: Path) -> None:
    small(tmp_path / "one.jsonl").close()
    hostile(tmp_path / "<b>two.jsonl").close()
    with watch(tmp_path, port=0, token=True) as page:
        chrome.open(page.url, PHONE)
        until(chrome, "document.querySelectorAll('.studies li').length === 2")
        assert chrome.evaluate("location.search") == ""  # the token is not in the address any more
        names = chrome.evaluate("[...document.querySelectorAll('.studies a')].map(a => a.textContent)")
        assert names == ["<b>two.jsonl", "one.jsonl"]
        chrome.evaluate("document.querySelectorAll('.studies a')[1].click(), 1")
        until(chrome, "document.querySelector('h1')?.textContent === 'one'")
        see(chrome, "#figure-convergence")
        assert problems(chrome) == []


@pytest.mark.slow
def test_a_study_of_two_thousand_trials_opens_at_once(chrome: Browser, tmp_path: Path) -> None:
    space = Space({name: Float(0, 1) for name in "abcde"} | {"kind": Categorical(["u", "v", "w"])})
    optimizer, rng = Optimizer(space, seed=1), np.random.default_rng(0)
    for params in space.decode(rng.random((1995, space.dim))):
        optimizer.observe(params, sum((params[name] - 0.3) ** 2 for name in "abcde") + (params["kind"] == "u"))
    optimizer.ask(5)
    path = tmp_path / "large.html"
    optimizer.report(path)
    assert path.stat().st_size < 6_000_000
    shown, drawn = [], []
    for _ in range(3):
        chrome.open(path, DESK)
        chrome.evaluate("document.querySelector('#figures').scrollIntoView(), 1")
        until(chrome, "performance.getEntriesByName('first figure').length")
        marks = dict(chrome.evaluate("performance.getEntriesByType('mark').map(m => [m.name, m.startTime])"))
        shown.append(marks["shown"] / 1000.0)
        drawn.append(marks["first figure"] / 1000.0)
    assert min(shown) < 2.0, shown  # text and table; min, as other programs take their share of the machine
    print(json.dumps({"shown": shown, "first figure": drawn}))
    draw(chrome, DESK)
    assert problems(chrome) == []
    assert len(column(chrome, 0)) == 100
    chrome.evaluate("[...document.querySelectorAll('#trials > button')][0].click(), 1")
    assert len(column(chrome, 0)) == 2000
