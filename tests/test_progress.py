"""How far a run is: a bar where one can be drawn, lines elsewhere, and a log for those who ask for it."""

from __future__ import annotations

import io
import logging
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from waiting import PATIENCE

from believer import Float, Minimize, Optimizer, Space, minimize, progress
from believer.progress import Lines, NotebookBar, Progress, following, in_notebook

SQUARE = Space({"x": Float(0.0, 1.0), "y": Float(0.0, 1.0)})


def bowl(params: dict[str, Any]) -> float:
    return float((params["x"] - 0.3) ** 2 + params["y"])


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class ZMQInteractiveShell:
    """The class that a notebook's shell is of."""


class OfAHost(ZMQInteractiveShell):
    """Hosts have their own, which are of it too."""


def as_notebook(patch: pytest.MonkeyPatch, shell: object) -> None:
    module = ModuleType("IPython")
    module.get_ipython = lambda: shell  # type: ignore[attr-defined]
    patch.setitem(sys.modules, "IPython", module)


def with_tqdm(patch: pytest.MonkeyPatch, bar: Any) -> None:
    module = ModuleType("tqdm.notebook")
    module.tqdm = bar  # type: ignore[attr-defined]
    patch.setitem(sys.modules, "tqdm.notebook", module)
    if "tqdm" not in sys.modules:
        patch.setitem(sys.modules, "tqdm", ModuleType("tqdm"))


class FakeBar:
    """What we use of tqdm's bar."""

    made: FakeBar

    def __init__(self, total: int, unit: str) -> None:
        FakeBar.made = self
        self.total, self.unit, self.n, self.note, self.is_closed = total, unit, 0, "", False
        self.drawn: list[tuple[int, str]] = []

    def set_postfix_str(self, note: str, refresh: bool) -> None:
        self.note = note

    def refresh(self) -> None:
        self.drawn.append((self.n, self.note))

    def close(self) -> None:
        self.is_closed = True


def without_widgets(total: int, unit: str) -> None:
    raise ImportError("IProgress not found")


@pytest.mark.parametrize(("shell", "expected"), [(None, False), (object(), False), (OfAHost(), True)])
def test_a_notebook_is_told_by_its_shell(shell: object, expected: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    as_notebook(monkeypatch, shell)
    assert in_notebook() is expected


def test_without_ipython_there_is_no_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    assert in_notebook() is False


def test_lines_come_one_a_batch_and_not_too_often() -> None:
    clock, stream = [0.0], io.StringIO()
    lines = Lines(20, stream, 4, 10.0, 0.0, lambda: clock[0])
    for done in range(21):
        clock[0] = 3.0 * done
        lines.show(done, f"best {done}")
    lines.close()
    shown = [int(line.split("/")[0]) for line in stream.getvalue().splitlines()]
    assert shown == [4, 8, 12, 16, 20]
    assert stream.getvalue().splitlines()[0] == "4/20 evaluations, best 4"
    assert "\r" not in stream.getvalue()


def test_lines_are_seldom_where_results_come_fast_and_end_with_the_last() -> None:
    clock, stream = [0.0], io.StringIO()
    lines = Lines(1000, stream, 1, 10.0, 0.0, lambda: clock[0])
    for done in range(778):
        clock[0] = 0.03 * done
        lines.show(done)
    lines.close()
    shown = [int(line.split("/")[0]) for line in stream.getvalue().splitlines()]
    assert len(shown) == 3
    assert shown[-1] == 777


def test_a_short_run_away_from_a_terminal_says_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    minimize(bowl, SQUARE, 4, q=2, seed=0)
    assert capfd.readouterr() == ("", "")


def test_a_long_run_away_from_a_terminal_writes_lines_to_standard_error(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "_SELDOM", 0.0)
    result = minimize(bowl, SQUARE, 6, q=2, seed=0, outcomes={"value": Minimize(units="kJ")})
    out, err = capfd.readouterr()
    assert out == ""
    assert [line.split(" ")[0] for line in err.splitlines()] == ["2/6", "4/6", "6/6"]
    assert err.splitlines()[-1] == f"6/6 evaluations, best {result.value:.6g} kJ"


def test_failures_are_counted(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(progress, "_SELDOM", 0.0)
    minimize(lambda p: float("nan") if p["x"] < 0.5 else 1.0, SQUARE, 8, q=8, seed=0, n_init=8)
    assert re.fullmatch(r"8/8 evaluations, best 1, [1-7] failed", capfd.readouterr().err.splitlines()[-1])


def test_a_notebook_has_a_bar_of_tqdm(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    as_notebook(monkeypatch, OfAHost())
    with_tqdm(monkeypatch, FakeBar)
    result = minimize(bowl, SQUARE, 6, q=3, seed=0)
    made = FakeBar.made
    assert (made.total, made.is_closed) == (6, True)
    assert [n for n, _ in made.drawn] == sorted(n for n, _ in made.drawn)
    assert made.drawn[-1] == (6, f"best {result.value:.6g}")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("has_tqdm", [True, False], ids=["no widgets", "no tqdm"])
def test_a_notebook_without_it_has_lines(has_tqdm: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    as_notebook(monkeypatch, OfAHost())
    with_tqdm(monkeypatch, without_widgets)
    if not has_tqdm:
        monkeypatch.setitem(sys.modules, "tqdm.notebook", None)
    monkeypatch.setattr(sys, "stderr", stream := io.StringIO())
    bar = following(6, True, 2)
    assert isinstance(bar, Lines)
    bar.show(2, "best 1")
    assert stream.getvalue() == "2/6 evaluations, best 1\n"


def test_tqdms_own_bar_does_what_is_asked_of_it() -> None:
    tqdm = pytest.importorskip("tqdm")
    stream = io.StringIO()
    bar = NotebookBar(tqdm.tqdm(total=6, file=stream, mininterval=0.0))
    bar.show(3, "best 1 kJ")
    bar.close()
    assert "3/6" in stream.getvalue()
    assert "best 1 kJ" in stream.getvalue()


@pytest.mark.parametrize("where", ["terminal", "notebook", "log"])
def test_unwanted_there_is_silence(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", stream := Terminal() if where == "terminal" else io.StringIO())
    if where == "notebook":
        as_notebook(monkeypatch, OfAHost())
    monkeypatch.setattr(progress, "_SELDOM", 0.0)
    minimize(bowl, SQUARE, 4, q=2, seed=0, progress=False)
    assert stream.getvalue() == ""


def test_a_terminal_has_a_bar_with_units(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", stream := Terminal())
    assert isinstance(following(3, True, 1), Progress)
    result = minimize(bowl, SQUARE, 3, seed=0, outcomes={"value": Minimize(units="kJ")})
    assert f"3/3  best {result.value:.6g} kJ" in stream.getvalue()


def test_a_log_has_asks_results_failures_and_fits(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "believer"):
        minimize(lambda p: float("nan") if p["x"] < 0.5 else p["x"], SQUARE, 8, q=2, seed=0, n_init=4)
    said = caplog.messages
    assert any(line.startswith("asked for 2: Verdict(2 points") for line in said)
    assert any(line.startswith("trial 0 ") for line in said)
    assert any(" failed: 'returned nan'" in line for line in said)
    assert any(line.startswith("fitted ") for line in said)
    assert said[-1].startswith("minimize stopped by budget after 8 evaluations, ")
    assert {record.name.split(".")[0] for record in caplog.records} == {"believer"}


def test_a_log_says_that_a_journal_was_mended(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "study.jsonl"
    Optimizer(SQUARE, journal=path, seed=0).close()
    with caplog.at_level(logging.WARNING, "believer"):
        Optimizer.load(path).close()
        assert caplog.messages == []
        with path.open("ab") as file:
            file.write(b'{"kind":"as')
        Optimizer.load(path).close()
    assert ["was cut off" in line for line in caplog.messages] == [True]


def test_nothing_is_logged_unless_a_program_asks_for_it() -> None:
    code = (
        "import believer as bv\n"
        "opt = bv.Optimizer(bv.Space({'x': bv.Float(0, 1)}), seed=0)\n"
        "for trial in opt.ask(3): opt.tell(trial, error='broken')\n"
        "import logging; logging.getLogger('believer').warning('unheard')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert (done.stdout, done.stderr) == ("", "")
