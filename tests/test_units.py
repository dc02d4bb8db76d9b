"""Units are shown, stored and never converted, and a study that has none is written as it always was."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from believer import (
    AtLeast,
    AtMost,
    Between,
    Categorical,
    Desirability,
    Discrete,
    Float,
    Int,
    Maximize,
    Minimize,
    Optimizer,
    Ordinal,
    Space,
    read_study,
    replay,
)
from believer.arrays import rounded
from believer.errors import InvalidInput
from believer.space.parameters import KINDS
from believer.space.units import LONGEST, units_of
from believer.study.goals import Goals
from believer.study.journal import read_events
from believer.study.serialization import is_custom

PARAMETERS: dict[str, Any] = {
    "Float": lambda **more: Float(20.0, 100.0, **more),
    "Int": lambda **more: Int(1, 4, **more),
    "Categorical": lambda **more: Categorical([1, 2, 5], **more),
    "Discrete": lambda **more: Discrete([0, 1, 2.5], **more),
    "Ordinal": lambda **more: Ordinal([1, 2, 5], **more),
}
GOALS: dict[str, Any] = {
    "Minimize": lambda **more: Minimize(**more),
    "Maximize": lambda **more: Maximize(**more),
    "AtMost": lambda **more: AtMost(5.0, **more),
    "AtLeast": lambda **more: AtLeast(95.0, **more),
    "Between": lambda **more: Between(1.0, 2.0, **more),
    "Desirability": lambda **more: Desirability(1.0, 2.0, **more),
}
MADE = {**PARAMETERS, **GOALS}
JOURNALS = sorted((Path(__file__).parent / "journals").glob("format*/*.jsonl"))


def space(units: str = "") -> Space:
    return Space({"T": Float(20.0, 100.0, units=units), "n": Int(1, 4)})


def worked(path: Path, units: str = "", of_value: str = "") -> Optimizer:
    """A study that the model has taken over, open for more."""
    opt = Optimizer.open(path, space(units), outcomes={"value": Minimize(units=of_value)}, seed=1)
    for _ in range(3):
        for trial in opt.ask(2):
            opt.tell(trial, (trial.params["T"] - 60.0) ** 2)
    return opt


def test_every_kind_of_parameter_is_tested_here() -> None:
    assert set(PARAMETERS) == set(KINDS) - {"Carried"}, "what only comes along with a table's row has no units"


@pytest.mark.parametrize("kind", MADE)
def test_units_are_kept_and_shown_and_do_not_tell_two_apart(kind: str) -> None:
    plain, made = MADE[kind](), MADE[kind](units=" °C ")
    assert (units_of(plain), units_of(made)) == ("", "°C")
    assert repr(made).endswith("units='°C')")
    assert "units" not in repr(plain)
    assert (plain == made, hash(plain) == hash(made)) == (True, True)


@pytest.mark.parametrize("kind", MADE)
@pytest.mark.parametrize("units", [None, 3, "a\nb", "x" * (LONGEST + 1), "\x1b[31m"], ids=repr)
def test_what_is_no_unit_is_refused(kind: str, units: Any) -> None:
    with pytest.raises(InvalidInput, match="units must be a text of one line"):
        MADE[kind](units=units)


@pytest.mark.parametrize("kind", PARAMETERS)
def test_a_space_comes_back_with_its_units_and_its_config_has_none_without(kind: str) -> None:
    plain, made = (Space({"p": PARAMETERS[kind](**more)}) for more in ({}, {"units": "mm"}))
    assert units_of(Space.from_config(made.to_config()).parameters["p"]) == "mm"
    assert "units" not in plain.to_config()["parameters"][0]
    assert [{k: v for k, v in part.items() if k != "units"} for part in made.to_config()["parameters"]] == (
        plain.to_config()["parameters"]
    )


@pytest.mark.parametrize("kind", GOALS)
def test_goals_come_back_with_their_units_and_their_config_has_none_without(kind: str) -> None:
    aim = {} if kind in ("Minimize", "Maximize", "Desirability") else {"y": Minimize()}
    plain, made = (Goals({"p": GOALS[kind](**more), **aim}) for more in ({}, {"units": "mm"}))
    assert Goals.from_config(made.to_config()).units("p") == "mm"
    assert "units" not in plain.to_config()["p"]


def test_units_of_a_journal_are_read_back_and_printed(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    with worked(path, "°C", "kJ") as opt:
        batch = opt.ask(2)
        said = str(opt)
        verdict = batch.verdict
    study = read_study(path)
    assert units_of(study.space.parameters["T"]) == "°C"
    assert str(study) == said
    assert "a value in kJ over T (°C), n" in said
    assert " kJ at T=" in said
    assert all(f"{trial.id}: T=" in str(batch) and " °C, n=" in str(batch) for trial in batch)
    assert verdict.gain is not None
    assert f" about {rounded(verdict.gain.together, 1)} kJ expected" in verdict.sentence
    assert " °C, n=" in str(Optimizer.load(path, append=False).recommend())
    assert " kJ expected" in str(Optimizer.load(path, append=False).recommend())


def test_csv_and_records_keep_plain_names(tmp_path: Path) -> None:
    with worked(tmp_path / "plain.jsonl") as plain, worked(tmp_path / "made.jsonl", "°C", "kJ") as made:
        assert plain.records() == made.records()
        plain.to_csv(tmp_path / "plain.csv")
        made.to_csv(tmp_path / "made.csv")
    assert (tmp_path / "plain.csv").read_bytes() == (tmp_path / "made.csv").read_bytes()


def test_units_do_not_change_what_is_suggested(tmp_path: Path) -> None:
    with worked(tmp_path / "plain.jsonl") as plain, worked(tmp_path / "made.jsonl", "°C", "kJ") as made:
        assert [*plain.ask(3)] == [*made.ask(3)]


def test_units_are_added_to_a_study_without_a_word_and_stay(tmp_path: Path) -> None:
    path, twin = tmp_path / "study.jsonl", tmp_path / "twin.jsonl"
    worked(path).close()
    with worked(twin) as unlabeled, Optimizer.open(path, space("°C"), outcomes={"value": Minimize(units="kJ")}) as opt:
        assert opt.hyperparameters == unlabeled.hyperparameters
        assert [*opt.ask(3)] == [*unlabeled.ask(3)]
    before = path.read_bytes()
    for again in (space("°C"), space()):
        with Optimizer.open(path, again, outcomes={"value": Minimize()}) as opt:
            assert units_of(opt.space.parameters["T"]) == "°C"
            assert opt.settings.goals.units("value") == "kJ"
    assert path.read_bytes() == before
    assert units_of(read_study(path).space.parameters["T"]) == "°C"
    assert replay(path).identical


def test_other_units_are_listed_and_taken_on_when_told(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    worked(path, "°C", "kJ").close()
    with pytest.raises(InvalidInput) as refused:
        Optimizer.open(path, space("K"), outcomes={"value": Minimize(units="J")})
    assert "parameter T: " in str(refused.value)
    assert "units='°C'), now " in str(refused.value)
    assert "outcome value: " in str(refused.value)
    with Optimizer.open(path, space("K"), change=True) as opt:
        assert units_of(opt.space.parameters["T"]) == "K"
        assert opt.settings.goals.units("value") == "kJ"
        assert opt.counts.done == 6


@pytest.mark.parametrize("path", JOURNALS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_journals_of_every_format_load_without_units(path: Path) -> None:
    assert not any(map(units_of, read_study(path).space.parameters.values()))


@pytest.mark.parametrize("path", JOURNALS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_journals_of_every_format_take_on_units(path: Path, tmp_path: Path) -> None:
    study = read_study(path)
    config = study.events[0].config  # type: ignore[union-attr]
    if config["constraint"] or is_custom([config[part] for part in ("surrogate", "acquisition", "strategy")]):
        pytest.skip("parts that only its author has")
    copy = tmp_path / "study.jsonl"
    copy.write_bytes(path.read_bytes())
    parameters = {name: replace(p, units="u") for name, p in study.space.parameters.items()}  # type: ignore[type-var]
    labeled = Space(parameters, rules=study.space.rules)
    with Optimizer.open(copy, labeled) as opt:
        assert opt.records() == study.records()
        assert opt.hyperparameters == study.hyperparameters
    assert [units_of(p) for p in read_study(copy).space.parameters.values()] == ["u"] * len(study.space)


def test_a_journal_of_a_study_without_units_does_not_name_them(tmp_path: Path) -> None:
    worked(tmp_path / "study.jsonl").close()
    assert b"units" not in (tmp_path / "study.jsonl").read_bytes()
    assert len(read_events(tmp_path / "study.jsonl")) == 10


def test_numbers_are_rounded_without_exponents_that_nobody_needs() -> None:
    said = [rounded(value, 2) for value in (138.0, 0.0031, 91234.0, 2.5e7, -140.0, 0.1, 1e-9)]
    assert said == ["140", "0.0031", "91000", "2.5e+07", "-140", "0.1", "1e-09"]
