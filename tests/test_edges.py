"""Promises at the edges of the contract: long grids, odd arguments, edited journals, errors that travel, documents."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each import each
from journal_lines import edited
from waiting import PATIENCE

import believer as bv
from believer.errors import (
    InvalidInput,
    JournalCorrupt,
    JournalError,
    MissingExtra,
    NumericalError,
    SpaceExhausted,
    TrialError,
)
from believer.maximize.objective import is_new

ROOT = Path(__file__).parents[1]
SQUARE = bv.Space.cube(2)


def test_neighbors_on_a_long_grid_are_different_points() -> None:
    space = bv.Space({"n": bv.Int(0, 10**7)})
    assert is_new(space.encode([{"n": 5}])[0], space.region(), space.encode([{"n": 0}, {"n": 6}]))
    assert not is_new(space.encode([{"n": 5}])[0], space.region(), space.encode([{"n": 5}]))


def test_the_last_point_of_a_long_integer_range_is_found() -> None:
    optimizer = bv.Optimizer(bv.Space({"a": bv.Int(1, 10_002)}), n_init=20_000, seed=0)
    for i in range(1, 10_002):
        optimizer.observe({"a": i}, 0.0)
    assert optimizer.ask(1)[0].params == {"a": 10_002}
    with pytest.raises(SpaceExhausted, match="has 0 left"):
        optimizer.ask(1)


def test_a_constraint_that_is_never_true_is_an_error_not_an_end() -> None:
    space = bv.Space({"a": bv.Float(0, 1)}, constraint=lambda params: False)
    with pytest.raises(SpaceExhausted, match="is the constraint too tight"):
        bv.minimize(lambda params: 0.0, space, budget=5, q=3, seed=0)


def test_save_replaces_an_earlier_state_of_the_study_and_nothing_else(tmp_path: Path) -> None:
    study, other = bv.Optimizer(SQUARE, seed=0), bv.Optimizer(bv.Space.cube(3), seed=0)
    study.save(tmp_path / "study.jsonl")
    study.ask(2)
    study.save(tmp_path / "study.jsonl")
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    for path in (tmp_path / "study.jsonl", tmp_path / "notes.txt"):
        before = path.read_bytes()
        with pytest.raises(JournalError, match="not an earlier state"):
            other.save(path)
        assert path.read_bytes() == before


class Hopeful:
    """A lie of the user's own."""

    verb = "hoping for"

    def value(self, model: Any, x: Any, data: Any, sign: float, rng: np.random.Generator) -> float:
        return float(data.y.min()) - 1.0


def test_replay_takes_the_strategies_that_single_asks_were_made_with(tmp_path: Path) -> None:
    optimizer = bv.Optimizer(SQUARE, n_init=2, seed=0)
    optimizer.tell_many(optimizer.ask(2), [1.0, 2.0])
    mine = bv.PseudoObservations(lie=Hopeful())
    optimizer.ask(2, strategy=mine)
    optimizer.save(tmp_path / "study.jsonl")
    with pytest.raises(InvalidInput, match="pass it as strategies="):
        bv.replay(tmp_path / "study.jsonl")
    assert bv.replay(tmp_path / "study.jsonl", strategies=[mine]).identical


def test_seconds_end_a_run_between_two_evaluations() -> None:
    result = bv.minimize(lambda params: 0.0, SQUARE, budget=20, q=5, stop=bv.Seconds(0.0), seed=0)
    assert (result.evaluations, result.stopped) == (0, "stop")


def test_a_target_of_a_maximizing_study_is_reached_from_below() -> None:
    optimizer = bv.Optimizer(SQUARE, maximize=True, seed=0)
    optimizer.observe({"x0": 0.5, "x1": 0.5}, 1.0)
    assert bv.Target(0.5)(optimizer)
    assert not bv.Target(2.0)(optimizer)


class Nowhere:
    """An acquisition that is not finite anywhere."""

    def pointwise(self, mean: Any, std: Any, incumbent: float) -> Any:
        from believer.acquisitions import Pointwise

        return Pointwise(np.full_like(mean, np.nan), mean, std)


def test_an_acquisition_that_is_nowhere_finite_is_named() -> None:
    optimizer = bv.Optimizer(SQUARE, acquisition=Nowhere(), n_init=1, seed=0)
    optimizer.observe({"x0": 0.5, "x1": 0.5}, 1.0)
    with pytest.raises(NumericalError, match="not finite at any candidate"):
        optimizer.ask(1)


@each(
    ("call", "rule"),
    [
        (lambda: bv.Optimizer(SQUARE, journal=3, seed=0), "journal must be a path"),  # type: ignore[arg-type]
        (lambda: bv.PseudoObservations(lie="min"), "lie must be a lie"),  # type: ignore[arg-type]
        (lambda: bv.Multistart(starts=0), "starts must be a whole number"),
        (lambda: bv.Candidates(candidates=-1), "candidates must be a whole number"),
        (lambda: bv.Space.cube(1.5), "d must be a whole number"),  # type: ignore[arg-type]
        (lambda: bv.Seconds("a"), "seconds must be a finite number"),  # type: ignore[arg-type]
        (lambda: bv.Target(np.nan), "a target must be a finite number"),
        (lambda: bv.minimize(min, SQUARE, workers=3.0, q=3, mode="batch", seed=0), "workers must be"),  # type: ignore[arg-type]
        (lambda: bv.minimize(min, SQUARE, callback=3, q=3, seed=0), "callback must be"),  # type: ignore[arg-type]
        (lambda: bv.minimize(min, SQUARE, stop=bv.Seconds, q=3, seed=0), "stop must be"),  # type: ignore[arg-type]
    ],
)
def test_what_makes_no_sense_is_refused_where_it_is_said(call: Any, rule: str) -> None:
    with pytest.raises(InvalidInput, match=rule):
        call()


@pytest.mark.parametrize(
    "error",
    [SpaceExhausted("none", 3), MissingExtra("torch", "botorch"), JournalCorrupt("bad", 7), TrialError("no", 2)],
)
def test_an_error_travels_between_processes(error: Exception) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), vars(copy)) == (type(error), str(error), vars(error))


@pytest.mark.parametrize(
    "change",
    [
        lambda asked: asked["trials"][0]["unit"].insert(0, 7.0),
        lambda asked: asked.update(model={"kernel": "matern52"}, was=asked["model"]),
        lambda asked: asked["trials"][0].update(id=7),
    ],
)
def test_a_journal_that_was_edited_is_refused(tmp_path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    optimizer = bv.Optimizer(SQUARE, n_init=1, seed=0)
    optimizer.observe({"x0": 0.5, "x1": 0.5}, 1.0)
    optimizer.ask(1)
    path = tmp_path / "study.jsonl"
    optimizer.save(path)
    edited(path, change, line=3)
    with pytest.raises(JournalError):
        bv.Optimizer.load(path)


def test_hyperparameters_that_do_not_fit_are_a_journal_error(tmp_path: Path) -> None:
    optimizer = bv.Optimizer(SQUARE, n_init=1, seed=0)
    optimizer.observe({"x0": 0.5, "x1": 0.5}, 1.0)
    optimizer.ask(1)
    path = tmp_path / "study.jsonl"
    optimizer.save(path)

    def damaged(asked: dict[str, Any]) -> None:
        state = asked["model"]["outputs"]["value"]
        state["lengths"] = state.pop("lengthscales")

    edited(path, damaged, line=3)
    with pytest.raises(JournalError, match="no fit can produce"):
        bv.Optimizer.load(path)


@pytest.mark.parametrize(("page", "trials"), [("README.md", (40, 72)), ("docs/manual.md", (5, 10))])
def test_the_first_example_of_a_page_runs_and_runs_again(page: str, trials: tuple[int, int], tmp_path: Path) -> None:
    """What was handed out stays pending, and the study goes on; that of the README takes it up first."""
    text = (ROOT / page).read_text(encoding="utf-8")
    (tmp_path / "example.py").write_text(text.split("```python\n")[1].split("```")[0], encoding="utf-8")
    printed = []
    for count in trials:
        command = [sys.executable, "-W", "error", "example.py"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert done.returncode == 0, done.stderr
        printed.append(done.stdout.splitlines())
        with bv.Optimizer.load(tmp_path / "study.jsonl") as study:
            assert len(study.trials) == count
            assert page != "README.md" or study.counts.pending == 8
    if page == "README.md":
        shown = text.split("```python\n")[1].split("```\n")[2].splitlines()
        assert printed[0][0] == shown[0]  # of the design, which is the same on every machine
        assert [wording(line) for line in printed[0]] == [wording(line) for line in shown]


def wording(line: str) -> str:
    """A line without its numbers, and what depends on them."""
    return re.sub(r"[\d.]+", "0", line).split("; 0% of that")[0]


def test_the_readme_is_short_and_has_no_gaps() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "@@" not in readme
    assert len(readme) < 6000


def test_what_the_manual_says_to_say_can_be_said(tmp_path: Path) -> None:
    space, params = bv.Space.cube(2), {"x0": 0.1, "x1": 0.2}
    with bv.Optimizer.open(tmp_path / "study.jsonl", space, surrogate="gp", acquisition="EI", seed=0) as opt:
        batch = opt.ask(3)
        opt.tell(batch[0], 0.42, noise=0.05)
        opt.tell(batch[1].params, 0.5)
    opt = bv.Optimizer(space, surrogate="forest", seed=0)
    opt.tell(opt.ask(1)[0], bv.Outcome({"loss": 0.42, "seconds": 8.1}))
    assert opt.best is not None
    assert opt.best[1] == 0.42
    best = bv.minimize(
        lambda p: p["x0"], space, budget=4, maximize=True, x0=[params], y0=[0.3], progress=False, q=3, seed=0
    )
    assert best.value is not None
    assert best.value >= 0.3


def test_every_file_that_the_documents_link_to_exists() -> None:
    for document in [ROOT / "README.md", ROOT / "benchmarks" / "README.md", *ROOT.glob("docs/**/*.md")]:
        for link in re.findall(r"\]\(([^)#:]+)\)", document.read_text(encoding="utf-8")):
            assert (document.parent / link).exists(), f"{document.name}: {link}"


def test_every_heading_that_the_documents_link_to_exists() -> None:
    found = 0
    for document in [ROOT / "README.md", ROOT / "benchmarks" / "README.md", *ROOT.glob("docs/**/*.md")]:
        for link, anchor in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", document.read_text(encoding="utf-8")):
            target = document.parent / link if link else document
            if target.suffix == ".md":
                text, found = target.read_text(encoding="utf-8"), found + 1
                headings = [re.sub(r"[^\w\- ]", "", h.lower()) for h in re.findall(r"^#+ (.*)$", text, re.MULTILINE)]
                there = anchor in [heading.replace(" ", "-") for heading in headings] or f'id="{anchor}"' in text
                assert there, f"{document.name}: {link}#{anchor}"
    assert found > 10
