"""study.toml: what it says is the study that it makes, and an error in it names its line."""

from __future__ import annotations

import tomllib
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import believer as bv
from believer.errors import InvalidInput
from believer.lab import study_text
from believer.lab.study_file import StudyFile, read_study_file
from believer.lab.toml_text import _keys
from believer.study.goal import Goal

SPACE = bv.Space(
    {
        "resin": bv.Float(0, 100, step=1, units="%"),
        "hardener": bv.Float(0, 100, units="%"),
        "odd filler": bv.Float(0, 50.5),
        "base": bv.Categorical({"Et3N": {"pKa": 10.7}, "pyridine": {"pKa": 5.2}}, when={"dose": ["low", "high"]}),
        'solvent "x"': bv.Categorical(['Me"CN', "H₂O", "a\\b", 1, 1.5, True]),
        "plates": bv.Int(1, 9, step=2),
        "dose": bv.Ordinal(["low", "high"], backfill="low"),
        "tip": bv.Discrete([1, 2.5]),
        "loading": bv.Float(1e-5, 0.1, log=True, backfill=1e-3, likely=(1e-3, 10)),
    },
    rules=[
        bv.sum_to(["resin", "hardener", "odd filler"], 100),
        bv.max_parts(["resin", "hardener", "odd filler"], 2),
        bv.linear({"resin": 2, "plates": -1.5}, at_most=150.5),
        bv.linear({"resin": 1, "hardener": 1}, at_least=1, at_most=99),
        bv.linear({"tip": 2, "plates": 1}, at_least=3),
    ],
)
OUTCOMES: dict[str, Goal] = {
    "yield": bv.Maximize(units="%"),
    "cost": bv.Minimize(),
    "purity": bv.AtLeast(95, 0.9),
    "pH": bv.Between(6.8, 7.2, units="pH"),
    "odor": bv.AtMost(2),
}
OPTIONS = {"seed": 3, "noise": "infer"}
TEXT = study_text(SPACE, OUTCOMES, "Amide", 6, OPTIONS, ",", {"tip": 2})


def read(folder: Path, text: str) -> StudyFile:
    (folder / "study.toml").write_text(text, encoding="utf-8")
    return read_study_file(folder / "study.toml")


def test_what_is_written_is_read_as_the_same_study(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(TEXT, encoding="utf-8")
    study = read_study_file(tmp_path / "study.toml")
    assert study.space.to_config() == SPACE.to_config()
    assert study.options["outcomes"] == OUTCOMES
    assert [goal.units for goal in study.options["outcomes"].values()] == ["%", "", "", "pH", ""]
    assert (study.name, study.batch, study.decimal, study.options["seed"]) == ("Amide", 6, ",", 3)
    assert study.options["surrogate"].noise == "infer"
    assert study.journal == tmp_path / "study.jsonl"
    assert dict(study.shared) == {"tip": 2}
    described = '[parameters.s.choices]\nDMF = [36.7, 3.8]\nwater = [78.4, 1.9]\n[outcomes.y]\ngoal = "minimize"'
    assert read(tmp_path, described).space.parameters["s"] == bv.Categorical({"DMF": [36.7, 3.8], "water": [78.4, 1.9]})


def test_desirabilities_are_read_back(tmp_path: Path) -> None:
    goals = {"a": bv.Desirability(60, 95, weight=2, units="%"), "b": bv.Desirability(6, 2)}
    (tmp_path / "study.toml").write_text(study_text(bv.Space.cube(2), goals), encoding="utf-8")
    study = read_study_file(tmp_path / "study.toml")
    assert study.options["outcomes"] == goals
    assert study.name == tmp_path.name


@settings(max_examples=20, deadline=None)
@given(st.text(min_size=1, max_size=8), st.text(max_size=8), st.floats(allow_nan=False, allow_infinity=False))
def test_any_name_and_number_survives(name: str, choice: str, number: float) -> None:

    entry = {name: choice, "n": number, "list": [choice, number]}
    if "n" != name != "list":
        assert tomllib.loads(_keys(entry)) == entry


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('name = "Amide"', 'nmae = "Amide"', "line 3: .*'nmae'; did you mean 'name'"),
        ("high = 100", "hihg = 100", r"line 14: \[parameters.resin\] has no key 'hihg'; did you mean 'high'"),
        ('goal = "maximize"', 'goal = "maximise"', "line .*'maximise'; did you mean 'maximize'"),
        ("sum_to = 100", "sum = 100", r"line .*\[rules\] has no key 'sum'; did you mean 'sum_to'"),
        ("sum_to = 100", "sum_to = 1000", "this rule cannot hold"),
        ('type = "int"\nlow = 1', 'type = "int"\nlow = 10', "line .*plates: bounds must satisfy low <= high"),
        ("low = 1e-05\n", "", "needs low and high; 'low' is missing"),
        ('units = "%"', "units = °C", "not valid TOML.*line 16.*quotes"),
        ("at_least = 95", 'at_least = 95\ngoal = "maximize"', "needs one goal.*got both"),
        ("at_least = 95\n", "", "needs one goal.*got none"),
        ("at_least = 95", 'at_least = "95"', "line .*purity"),
        ("batch = 6", "batch = 0", "line 4: batch must be"),
        ('decimal = ","', 'decimal = ";"', "line .*decimal must be"),
        ("shared = { tip = 2 }", 'shared = ["tap"]', "line 5: shared must name parameters; got 'tap'; "),
        ('choices = ["Et3N", "pyridine"]', "choices = { Et3N = [1], pyridine = [2] }", "base: descriptors must be"),
        ("seed = 3", "sede = 3", "'sede'; did you mean 'seed'"),
        ('noise = "infer"', 'noise = "lots"', "line .*noise must be"),
        ("[outcomes.odor]", "[outcomes.Resin]", "line .*'Resin' and 'resin' would have the same column"),
        ("[outcomes.odor]", '[outcomes."\uff52esin"]', "line .* and 'resin' would have the same column"),
        ("[outcomes.odor]", "[outcomes.Trial]", "line .*'Trial' is a column of every sheet"),
        ("[[rules]]\nmax_parts", "[rules]\nmax_parts", "not valid TOML"),
        ('type = "ordinal"', 'type = "ordnal"', "line .*no type .ordnal.; did you mean .ordinal."),
        ("values = [1, 2.5]", "", "needs a type"),
        ("low = 0\nhigh = 50.5", "step = 2", r"\[parameters.odd filler\] needs a type"),
    ],
)
def test_an_error_names_its_line_and_the_nearest_key(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert f"\n{old}" in TEXT
    with pytest.raises(InvalidInput, match=words) as caught:
        read(tmp_path, TEXT.replace(f"\n{old}", f"\n{new}", 1))
    assert str(caught.value).startswith(str(tmp_path / "study.toml"))


@pytest.mark.parametrize("text", ["", "x", "[parameters]", "[parameters]\na = 1", "parameters = 3", "\ud800"])
def test_what_is_no_study_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "study.toml").write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(InvalidInput):
        read_study_file(tmp_path / "study.toml")
    with pytest.raises(InvalidInput, match="believer new"):
        read_study_file(tmp_path / "other.toml")
    with pytest.raises(InvalidInput):
        read_study_file(tmp_path)


def test_every_entry_of_any_kind_is_read_or_refused(tmp_path: Path) -> None:
    odd = ["1", '"a"', "[]", "{}", "true", "nan", "1979-05-27", "[[1], {a = 2}]", '["a", 1]']
    for key in (
        "low",
        "choices",
        "values",
        "type",
        "step",
        "log",
        "units",
        "backfill",
        "sum_to",
        "of",
        "terms",
        "goal",
    ):
        for value in odd:
            if key in ("sum_to", "of", "terms"):
                rule = {"sum_to": "sum_to = 1\nof = ['a']", "of": "sum_to = 1", "terms": "at_most = 3"}[key]
                more = f"[[rules]]\n{rule if key != 'sum_to' else 'of = []'}\n{key} = {value}\n"
                text = f'[parameters.a]\nlow = 0\nhigh = 1\n{more}[outcomes.y]\ngoal = "minimize"'
            elif key == "goal":
                text = f"[parameters.a]\nlow = 0\nhigh = 1\n[outcomes.y]\ngoal = {value}"
            else:
                bounds = "high = 2\n" if key == "low" else "" if key in ("choices", "values") else "low = 0\nhigh = 2\n"
                text = f'[parameters.a]\n{bounds}{key} = {value}\n[outcomes.y]\ngoal = "minimize"'
            with suppress(InvalidInput):
                read(tmp_path, text)


def test_python_and_the_shell_share_the_study(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text(TEXT, encoding="utf-8")
    with bv.Optimizer.from_toml(file) as opt:
        asked = opt.ask(2)
    with bv.Optimizer.from_toml(file) as again:
        assert again.pending == asked.trials
    assert (tmp_path / "study.jsonl").exists()
    file.write_text(TEXT.replace("at_least = 95", "at_least = 96"), encoding="utf-8")
    with pytest.raises(InvalidInput, match="outcome purity"):
        bv.Optimizer.from_toml(file)
    with bv.Optimizer.from_toml(file, change=True) as changed:
        assert changed.goals.wanted["purity"] == bv.AtLeast(96, 0.9)
    with bv.Optimizer.from_toml(file, journal=tmp_path / "other.jsonl") as other:
        assert len(other.trials) == 0
