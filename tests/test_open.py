"""One call opens a study or goes on with it, and says what does not fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import believer as bv
from believer.errors import InvalidInput, JournalLocked
from believer.surrogates.data import Data

SPACE = bv.Space({"x": bv.Float(0.0, 1.0), "n": bv.Int(1, 9)})


def small(params: dict[str, Any]) -> bool:
    return bool(params["n"] < 5)


def large(params: dict[str, Any]) -> bool:
    return bool(params["n"] > 5)


def repr_of(value: object) -> str | None:
    return str(value) if isinstance(value, str) else None


class Own:
    """A surrogate that a journal knows by its name alone."""

    def fit(self, data: Data, rng: np.random.Generator, previous: Any = None) -> Any:
        return bv.GP().fit(data, rng, previous)


def script(path: Path, **settings: Any) -> int:
    """What a user would run, twice: how many results there are in the end."""
    with bv.Optimizer.open(path, SPACE, **{"seed": 0, **settings}) as opt:
        for trial in [*opt.pending, *opt.ask(2)]:
            opt.tell(trial, trial.params["x"])
        opt.ask(1)
        return opt.counts.done


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"surrogate": "forest", "strategy": "cl_min", "n_init": 3, "seed": 4, "maximize": True},
        {"surrogate": Own(), "acquisition": "EI", "maximizer": bv.Candidates()},
        {"seed": None},
    ],
    ids=repr_of,
)
def test_a_script_can_be_run_again_and_goes_on(settings: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    assert [script(path, **settings) for _ in range(3)] == [2, 5, 8]


def test_an_empty_file_is_begun_in(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    path.touch()
    assert script(path) == 2


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"space": bv.Space({"x": bv.Float(0.0, 2.0), "n": bv.Int(1, 9)})}, "parameter x"),
        ({"space": bv.Space({"x": bv.Float(0.0, 1.0)})}, "parameter n"),
        ({"seed": 1}, "seed"),
        ({"n_init": 9}, "n_init"),
        ({"maximize": True}, "outcome value"),
        ({"strategy": "qei"}, "strategy"),
        ({"surrogate": bv.GP(noise="infer")}, "surrogate"),
        ({"acquisition": "UCB", "seed": 2}, "(?s)acquisition: .*seed: "),
        ({"maximizer": bv.Multistart(starts=3)}, "maximizer"),
        ({"surrogate": Own()}, "surrogate"),
        ({"space": bv.Space({"x": bv.Float(0.0, 1.0), "n": bv.Int(1, 9)}, small)}, "constraint"),
    ],
    ids=repr_of,
)
def test_a_journal_with_other_settings_is_refused_and_left_as_it_was(
    settings: dict[str, Any], what: str, tmp_path: Path
) -> None:
    path = tmp_path / "study.jsonl"
    script(path)
    before = path.read_bytes()
    with pytest.raises(InvalidInput, match=what):
        bv.Optimizer.open(path, **{"space": SPACE, "seed": 0, **settings})
    assert path.read_bytes() == before
    bv.Optimizer.open(path, SPACE, seed=0).close()


def test_a_study_that_was_begun_under_the_former_default_goes_on_with_it(tmp_path: Path) -> None:
    path, former = tmp_path / "study.jsonl", bv.GP(noise=1e-6, prior="shared")
    bv.Optimizer(SPACE, surrogate=former, journal=path, seed=0).close()
    with bv.Optimizer.open(path, SPACE, seed=0) as study:
        assert study.settings.surrogate == former
    with pytest.raises(InvalidInput, match="surrogate"):
        bv.Optimizer.open(path, SPACE, surrogate=bv.GP(), seed=0)


def test_a_constraint_is_told_apart_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    spaces = [bv.Space({"n": bv.Int(1, 9)}, rule) for rule in (small, large)]
    bv.Optimizer.open(path, spaces[0], seed=0).close()
    bv.Optimizer.open(path, spaces[0], seed=0).close()
    with pytest.raises(InvalidInput, match="constraint"):
        bv.Optimizer.open(path, spaces[1], seed=0)


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    with bv.Optimizer.open(path, SPACE, seed=0), pytest.raises(JournalLocked):
        bv.Optimizer.open(path, SPACE, seed=0)


def test_a_path_and_a_space_are_needed(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="a journal must be a path; got 3"):
        bv.Optimizer.open(3, SPACE, seed=0)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match=r"space must be a believer\.Space"):
        bv.Optimizer.open(tmp_path / "study.jsonl", "x", seed=0)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("named", "meant"),
    [
        ({"surrogate": "gp", "acquisition": "LogEI"}, {}),
        ({"acquisition": "logei", "surrogate": "GP"}, {}),
        ({"surrogate": "mq_rbf", "acquisition": "EI"}, {"surrogate": bv.MQRBF(), "acquisition": bv.EI()}),
        ({"surrogate": "forest", "acquisition": "ucb"}, {"surrogate": bv.RandomForest(), "acquisition": bv.UCB()}),
    ],
)
def test_names_stand_for_the_library_s_own_with_default_settings(named: dict[str, Any], meant: dict[str, Any]) -> None:
    first, second = (bv.Optimizer(SPACE, seed=0, **parts).settings.to_config() for parts in (named, meant))
    assert first == second


def test_an_optimizer_says_what_it_does_and_has_found(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    with bv.Optimizer(SPACE, seed=5, journal=path, maximize=True, strategy="cl_min") as opt:
        assert "0 results, 0 failed, 0 pending" in str(opt)
        assert "by cl_min with LogEI(xi=0.0) on GP()" in str(opt)
        batch = opt.ask(3)
        opt.tell(batch[0], 2.5)
        opt.tell(batch[1], error="no")
        text = str(opt)
    assert "maximizing over x, n" in text
    assert "LogEI" in text
    assert "GP" in text
    assert "seed 5" in text
    assert "1 result, 1 failed, 1 pending, 0 abandoned" in text
    assert f"best 2.5 at x={batch[0].params['x']:.4g}, n={batch[0].params['n']}" in text
    assert str(path) in text
    assert repr(opt) == "<Optimizer: 1 result, 1 failed, 1 pending, 0 abandoned>"
