"""A journal from a stranger is refused in one sentence, or is a study like any other: it never harms who loads it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import hostile_journals
import pytest
from each import each
from hostile_journals import CLIMB, CLIMBING, NUMBERS, OTHERS, SPACE, WITH_TORCH, at, made, places
from journal_lines import checked, edited
from waiting import PATIENCE

from believer import (
    GP,
    QEI,
    Believe,
    LogEI,
    Optimizer,
    PseudoObservations,
    Space,
    SparseGP,
    batch,
    read_study,
    replay,
    surrogates,
)
from believer.errors import BelieverError, InvalidInput, JournalCorrupt
from believer.numerics import LBFGSSettings
from believer.study import serialization
from believer.study.goal import KINDS as GOALS
from believer.study.settings import StudySettings

CHANGES = int(os.environ.get("BELIEVER_HOSTILE_JOURNALS", "250"))
"""How many changes of journals are tried; ``make test-slow`` tries more."""

SEED = int(os.environ.get("BELIEVER_HOSTILE_SEED", "0"))
AT_ONCE = 1000


@pytest.mark.parametrize("first", range(0, CHANGES, AT_ONCE))
def test_a_changed_journal_is_refused_or_works(first: int, tmp_path: Path) -> None:
    current = tmp_path / "current"
    count = min(AT_ONCE, CHANGES - first)
    script = Path(hostile_journals.__file__)
    command = [sys.executable, str(script), str(count), "--seed", str(SEED), "--first", str(first)]
    run = subprocess.run(
        [*command, "--current", str(current)], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    last = current.read_text(encoding="utf-8") if current.exists() else "making the journals"
    assert run.returncode in (0, 1), f"the process ended with {run.returncode} at {last}\n{run.stderr[-2000:]}"
    assert run.stdout, f"no word of it, at {last}\n{run.stderr[-2000:]}"
    found = json.loads(run.stdout.splitlines()[-1])
    assert not found["failures"], "\n".join(found["failures"])
    ends = found["ends"]
    assert sum(ends.values()) == count
    assert ends["works"] > 0.02 * count, "nothing was tried but what is refused at once"
    assert ends["refused: JournalCorrupt"] > 0.2 * count


@pytest.fixture(scope="module")
def journals(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    return made(tmp_path_factory.mktemp("journals"))


def test_the_journals_hold_every_part_with_every_setting(journals: dict[str, list[dict[str, Any]]]) -> None:
    rooms = (serialization._KNOWN, serialization._PARTS, surrogates.LOADED_ON_USE, batch.LOADED_ON_USE)
    known = {name for room in rooms for name in room}
    found: dict[str, set[str]] = {}
    for lines in journals.values():
        config = lines[0]["config"]
        assert {*config} == {field.name for field in fields(StudySettings) if field.init} - {"goals"} | {
            "constraint",
            "outcomes",
        }
        for place in places(config):
            part = at(config, place)
            if isinstance(part, dict) and "type" in part:
                found.setdefault(part["type"], set()).update(part)
    assert {lines[0]["config"]["warp"] for lines in journals.values()} == {"auto", "none"}
    assert {lines[0]["config"]["resolution"] for lines in journals.values()} == {None, 0.01}
    models = [line["model"]["outputs"] for line in journals["warped"] if line.get("model")]
    assert any("y_warp" in model["value"] for model in models)
    assert [line["kind"] for line in journals["changed"]].count("changed") == 1
    # An estimator from elsewhere is custom: a journal cannot hold one.
    missing = {"SklearnSurrogate"} if WITH_TORCH else {"SklearnSurrogate", "TorchGP"}
    assert found.keys() == known - missing | GOALS.keys()
    for name, settings in found.items():
        cls: Any = serialization._known(name) or GOALS[name]
        assert settings == {"type", *(field.name for field in fields(cls))}, name


PARTS = [*serialization._KNOWN, *serialization._PARTS, *surrogates.LOADED_ON_USE, *batch.LOADED_ON_USE]


@each("name", [name for name in PARTS if name != "SklearnSurrogate"])
def test_a_setting_is_good_or_an_invalid_input_when_a_part_is_made(name: str) -> None:
    cls: Any = serialization._known(name)
    values = [*NUMBERS, *OTHERS, float("nan"), float("inf"), GP(), LogEI(), CLIMB, CLIMBING, (1,) * 1000, (0.5, None)]
    said: list[str] = []
    for field in fields(cls):
        for value in values:
            try:
                part = cls(**{field.name: value})
            except InvalidInput as error:
                said.append(str(error))
            else:
                assert serialization.from_config(serialization.to_config(part), "part") == part
    assert all(len(text) < 1000 for text in said)
    # A few values at most are good for a field.
    assert len(said) >= 0.4 * len(values) * len(fields(cls))


def through(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.write_text("".join(checked(line) + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("memory", [2**61, 2**62, 2**63 - 1, 2**63, 10**400, 101, 0, -1, 6.0, True, "6", None])
def test_a_memory_that_no_search_has_is_damage_of_the_first_line(memory: Any, tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    with Optimizer(SPACE, maximizer=CLIMBING, journal=path, seed=0):
        pass

    def change(record: dict[str, Any]) -> None:
        record["config"]["maximizer"]["climb"]["memory"] = memory

    edited(path, change)
    with pytest.raises(JournalCorrupt, match="memory must be a whole number") as caught:
        Optimizer.load(path)
    assert caught.value.line == 1


@each("name", [field.name for field in fields(LBFGSSettings)])
@each("value", [*OTHERS, 2**61, -1, 10**400, float("nan"), float("inf")], ids=lambda v: repr(v)[:20])
def test_settings_of_a_climb_are_checked_when_they_are_made(name: str, value: Any) -> None:
    if (name, value) == ("heat", None):
        return
    with pytest.raises(InvalidInput, match=f"{name} must"):
        LBFGSSettings(**{name: value})


@pytest.mark.parametrize(
    ("slot", "part"),
    [
        ("surrogate", LogEI()),
        ("acquisition", GP()),
        ("strategy", Believe()),
        ("maximizer", LogEI()),
        ("maximizer", CLIMB),
        ("strategy", CLIMBING),
    ],
)
def test_a_part_in_the_place_of_another_is_damage(slot: str, part: Any, tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    with Optimizer(SPACE, journal=path, seed=0):
        pass
    edited(path, lambda record: record["config"].update({slot: serialization.to_config(part)}))
    with pytest.raises(JournalCorrupt, match=f"{slot} must be an object with a method") as caught:
        Optimizer.load(path)
    assert caught.value.line == 1


@each("part", [GP(), LogEI(), CLIMB, PseudoObservations(), 1, "x", None, [Believe()]], ids=repr)
def test_what_is_no_lie_is_none(part: Any) -> None:
    with pytest.raises(InvalidInput, match="lie must be a lie"):
        PseudoObservations(part)


MANY = [*range(5001)]


def test_what_the_caller_can_cure_stays_an_invalid_input(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    with Optimizer(Space(SPACE.parameters, _always), journal=path, seed=0):
        pass
    with pytest.raises(InvalidInput, match="written with the constraint"):
        Optimizer.load(path)
    edited(path, lambda record: record["config"].update(strategy={"custom": "mine.Mine"}))
    with pytest.raises(InvalidInput, match="written with a custom strategy"):
        Optimizer.load(path, constraint=_always)


def _always(params: dict[str, Any]) -> bool:
    return True


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"n_init": 0}, "n_init must be a whole number"),
        ({"seed": 2**1024}, "seed must be a whole number"),
        ({"failures": 1}, 'failures must be "worst" or "learn"'),
        ({"outcomes": {}}, "outcomes must be a dict"),
        ({"constraint": 3}, "a constraint is known by its name"),
        ({"space": 5}, "config must be what Space"),
        ({"space": {"parameters": [], "constrained": False}}, "at least one name"),
        ({"space": {"parameters": [{"name": "x", "kind": "Float", "low": 0, "high": 1}]}}, "config must be"),
        (
            {"space": {"parameters": [{"name": "x", "kind": "Categorical", "choices": MANY}], "constrained": False}},
            "choices must be 5,000 at most",
        ),
        (
            {
                "space": {
                    "parameters": [{"name": f"x{i}", "kind": "Float", "low": 0, "high": 1} for i in range(5001)],
                    "constrained": False,
                }
            },
            "a space must have 5,000 columns at most",
        ),
        (
            {"space": {"parameters": 2 * [{"name": "x", "kind": "Float", "low": 0, "high": 1}], "constrained": False}},
            "names must differ",
        ),
    ],
)
def test_a_study_that_nobody_can_have_begun_is_damage(change: dict[str, Any], words: str, tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    with Optimizer(SPACE, journal=path, seed=0):
        pass
    edited(path, lambda record: record["config"].update(change))
    with pytest.raises(JournalCorrupt, match=words) as caught:
        Optimizer.load(path)
    assert caught.value.line == 1
    with pytest.raises(BelieverError):
        Optimizer.open(path, SPACE)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"failures": "never"}, "failures must be"),
        ({"space": 5}, "line 2 lacks a setting|config must be what Space"),
        ({"outcomes": []}, "outcomes must be a dict"),
        ({"strategy": 3}, "line 2 "),
    ],
)
def test_a_change_that_nobody_can_have_made_is_damage_of_its_line(
    change: dict[str, Any], words: str, tmp_path: Path
) -> None:
    path = tmp_path / "study.jsonl"
    with Optimizer(SPACE, journal=path, seed=0):
        pass
    with Optimizer.open(path, SPACE, strategy="kb", change=True):
        pass
    edited(path, lambda record: record["config"].update(change), line=2)
    for look in (Optimizer.load, replay, lambda path: Optimizer.open(path, SPACE)):
        with pytest.raises(JournalCorrupt, match=words) as caught:
            look(path)
        assert caught.value.line == 2
    if {"space", "outcomes"} & {*change}:
        with pytest.raises(JournalCorrupt, match="line 2"):
            read_study(path)


# Fitted hyperparameters and requests

LATER: dict[str, Any] = {
    "kernel": ["cubic", 1, None, []],
    "lengthscales": [[], [1.0], "1111111", 1.0, [1.0] * 8, [1.0] * 6 + ["1"], [1.0] * 6 + [[1.0]], [1.0] * 6 + [True]],
    "signal": [0.0, -1.0, 1e300, 5e-324, 10**400, "1", None, [1.0]],
    "noise": [0.0, -1.0, 1e300, 5e-324, 10**400, "1", None, [1.0]],
    "mean": [1e300, 10**400, "0", None, [0.0], True],
    "subset": [0, -1, 2.0, "5", [], True],
    "inducing": [[], None, 3, "0", [0, 0], [-1], [10**9], [0.0], ["0"], [True], [[0]]],
    "unheard_of": [1],
}


@pytest.mark.parametrize("surrogate", [GP(), SparseGP(5)], ids=lambda member: type(member).__name__)
@pytest.mark.parametrize("name", LATER)
def test_hyperparameters_that_no_fit_comes_to_are_refused(surrogate: Any, name: str, tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    with Optimizer(SPACE, surrogate=surrogate, n_init=3, maximizer=CLIMBING, journal=path, seed=0) as study:
        for trial in study.ask(3):
            study.tell(trial, float(trial.encoded.sum()))
        study.ask(1)
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for value in LATER[name]:
        model = lines[-1]["model"]["outputs"]["value"]
        changed = [*lines[:-1], {**lines[-1], "model": {"outputs": {"value": {**model, name: value}}}}]
        with pytest.raises(JournalCorrupt, match="hyperparameters that no fit can produce") as caught:
            Optimizer.load(through(tmp_path / "changed.jsonl", changed))
        assert caught.value.line == len(lines)


REQUESTS: dict[str, tuple[Any, ...]] = {
    "distinct": (1, None, "yes", []),
    "fixed": (None, [], 0, "", {"nobody": 1}, {"depth": 10**400}, {"kind": "z"}),
    "strategy": (None, 3, [], "kb ", {"type": "GP"}, {"type": []}, {"type": "QEI", "samples": -1}),
}


@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name, values in REQUESTS.items() for value in values],
)
def test_a_request_that_nobody_can_make_is_damage_of_its_line(name: str, value: Any, tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    with Optimizer(SPACE, n_init=2, strategy=QEI(samples=8), maximizer=CLIMBING, journal=path, seed=0) as study:
        study.ask(1)
    edited(path, lambda record: record["request"].update({name: value}), line=2)
    with pytest.raises(JournalCorrupt, match="line 2 is not an ask that can be repeated") as caught:
        replay(path)
    assert caught.value.line == 2


def test_numbers_to_try_are_beyond_what_c_counts_with() -> None:
    assert {2**31, 2**61, 2**63 - 1, 2**63, 2**64} <= {value for value in NUMBERS if isinstance(value, int)}
