"""Draw the pictures of docs/pages.md and docs/lab.md, with Chromium: ``python docs/make_page_pictures.py``.

The study is a reaction that is made up: its best conditions are where a limit of purity begins to bind. The driver of
Chromium is that of the tests.
"""

from __future__ import annotations

import io
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import believer as bv
from believer.cli import main as command
from believer.page import watch

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from browser import Browser, browser  # noqa: E402

OUT = ROOT / "docs" / "figures" / "page"
PHONE, DESK = 390, 1280
SPACE = bv.Space(
    {
        "temperature": bv.Float(40, 120, units="°C"),
        "catalyst": bv.Categorical(["Pd", "Ni", "Cu"]),
        "time": bv.Float(1, 24, log=True, units="h"),
        "loading": bv.Float(0.5, 10, units="mol%"),
        "stirring": bv.Int(100, 900, units="rpm"),
    }
)


def react(params: dict[str, Any], rng: np.random.Generator) -> dict[str, float]:
    """Yield and purity of the reaction, with noise."""
    t, hours = (params["temperature"] - 85.0) / 25.0, np.log(params["time"]) - 1.8
    share = {"Pd": 1.0, "Ni": 0.8, "Cu": 0.6}[params["catalyst"]] * (1.0 - np.exp(-params["loading"] / 3.0))
    purity = 98.6 - 0.12 * max(0.0, params["temperature"] - 70.0) - 0.2 * params["time"] ** 0.5
    noise = rng.normal(0.0, (0.5, 0.1))
    return {
        "yield": float(90.0 * np.exp(-t * t - 0.5 * hours**2) * share + noise[0]),
        "purity": float(purity + noise[1]),
    }


def study(path: Path) -> None:
    """Six batches of eight, two failed trials, and a batch of which three results are there."""
    rng = np.random.default_rng(3)
    goals = {"yield": bv.Maximize(units="%"), "purity": bv.AtLeast(96, units="%")}
    with bv.Optimizer(SPACE, outcomes=goals, seed=2, journal=path) as optimizer:
        for number in range(7):
            for i, trial in enumerate(optimizer.ask(8)):
                if number in (1, 3) and i == 5:
                    optimizer.tell(trial, error="stirrer stopped")
                elif number < 6 or i < 3:
                    optimizer.tell(trial, react(trial.params, rng))


def settle(chrome: Browser) -> None:
    """Wait until what is in the window is drawn."""
    script = (
        "new Promise(done => { const look = () => [...document.querySelectorAll('.panel')].some(p => "
        "p.classList.contains('wait') && p.getBoundingClientRect().top < innerHeight"
        " && p.getBoundingClientRect().bottom > 0) ? setTimeout(look, 100)"
        " : setTimeout(() => done(1), 800); setTimeout(look, 500); })"
    )
    chrome.evaluate(script)


def picture(chrome: Browser, name: str) -> None:
    """What the window shows, as a PNG of 256 colors."""
    with tempfile.TemporaryDirectory() as folder:
        chrome.screenshot(Path(folder) / "a.png")
        shown = Image.open(io.BytesIO((Path(folder) / "a.png").read_bytes())).convert("RGB")
    shown.quantize(256, dither=Image.Dither.NONE).save(OUT / f"{name}.png", optimize=True)
    print(f"{name}.png: {(OUT / f'{name}.png').stat().st_size / 1000:.0f} kB")


def sheet(chrome: Browser, folder: Path) -> None:
    """The page to print of the guide for laboratories."""
    guide = (ROOT / "docs" / "lab.md").read_text(encoding="utf-8")
    (folder / "study.toml").write_text(guide.partition('title="study.toml"\n')[2].partition("```")[0], encoding="utf-8")
    command(["ask", "--study", str(folder)])
    chrome.open(folder / "batch-001.html", 1120, height=460)
    picture(chrome, "sheet")


def main() -> None:
    """Draw all of them."""
    OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, browser() as chrome:
        folder = Path(scratch) / "reactions"
        folder.mkdir()
        journal, page = folder / "reaction.jsonl", folder / "reaction.html"
        study(journal)
        bv.read_study(journal).report(page)
        for width, height in ((DESK, 1500), (PHONE, 1800)):
            for dark in (False, True):
                chrome.open(page, width, dark=dark, height=height)
                settle(chrome)
                picture(chrome, f"report-{width}-{'dark' if dark else 'light'}")
        for name, section in (("next", "#next"), ("trials", "#trials")):
            chrome.open(page, DESK, height=800)
            chrome.evaluate(f"document.querySelector('{section}').scrollIntoView(), 1")
            settle(chrome)
            picture(chrome, f"{name}-{DESK}-light")
        study(folder / "reaction-again.jsonl")
        sheet(chrome, Path(scratch))
        with watch(folder, port=0) as served:
            chrome.open(served.url, DESK, height=480)
            chrome.evaluate("new Promise(done => setTimeout(() => done(1), 4000))")
            picture(chrome, f"watch-{DESK}-light")


if __name__ == "__main__":
    main()
