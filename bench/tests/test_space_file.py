"""A space file: TOML and JSON say the same, what is wrong is named."""

import json
from pathlib import Path

import pytest

from believer.errors import InvalidInput
from believer.space import Space
from believer.space.parameters import Categorical, Float, Int
from believer_bench.space_file import read_space

SPACE = Space(
    {
        "lr": Float(1e-5, 0.1, log=True),
        "layers": Int(1, 9, step=2),
        "kernel": Categorical(["rbf", 3, True]),
        "p": Float(0, 1, step=0.25),
    }
)
TOML = """
[lr]
type = "float"
low = 1e-5
high = 0.1
log = true

[layers]
type = "int"
low = 1
high = 9
step = 2

[kernel]
type = "categorical"
choices = ["rbf", 3, true]

[p]
type = "Float"
low = 0
high = 1
step = 0.25
"""
JSON = {
    "lr": {"type": "float", "low": 1e-5, "high": 0.1, "log": True},
    "layers": {"type": "int", "low": 1, "high": 9, "step": 2},
    "kernel": {"type": "categorical", "choices": ["rbf", 3, True]},
    "p": {"type": "float", "low": 0, "high": 1, "log": False, "step": 0.25},
}


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("space.toml", TOML),
        ("space.TOML", "\ufeff" + TOML),
        ("space.json", json.dumps(JSON)),
        ("space.json", json.dumps(SPACE.to_config())),
    ],
)
def test_every_way_to_write_a_space_gives_the_same_one(tmp_path: Path, name: str, text: str) -> None:
    assert read_space(written(tmp_path, name, text)) == SPACE


def test_a_parameter_may_be_called_parameters(tmp_path: Path) -> None:
    path = written(tmp_path, "space.json", '{"parameters": {"type": "int", "low": 0, "high": 1}}')
    assert read_space(path) == Space({"parameters": Int(0, 1)})


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("space.yaml", "", r"a space file must be \.toml or \.json; got .*space\.yaml"),
        ("space.toml", "[lr", "cannot be understood"),
        ("space.json", "{", "cannot be understood"),
        ("space.json", '{"a": {}, "a": {}}', "'a' is there twice"),
        ("space.json", "[1, 2]", "must hold names of parameters"),
        ("space.toml", "", "must hold names of parameters"),
        ("space.toml", "lr = 3", "'lr' must have a type"),
        ("space.toml", "[lr]\nlow = 0\nhigh = 1", "'lr' must have a type"),
        ("space.toml", '[lr]\ntype = "real"\nlow = 0\nhigh = 1', "'lr' must have a type"),
        (
            "space.toml",
            '[lr]\ntype = "float"\nlow = 0',
            "'lr', of type float, must have low and high.*'high' is missing",
        ),
        ("space.toml", '[k]\ntype = "int"\nlow = 0\nhigh = 2\nbase = 2', "'k', of type int, must have .*; got 'base'"),
        (
            "space.toml",
            '[k]\ntype = "categorical"',
            "'k', of type categorical, must have choices; 'choices' is missing",
        ),
        ("space.toml", '[k]\ntype = "categorical"\nchoices = ["a"]\nlow = 1', "must have choices; got 'low'"),
        ("space.toml", '[k]\ntype = "float"\nlow = 2\nhigh = 1', r"low < high; got low=2\.0, high=1\.0 for 'k'\."),
        ("space.toml", '[k]\ntype = "int"\nlow = 0.5\nhigh = 1', r"low must be a whole number; got low=0\.5 for 'k'"),
        ("space.toml", '[k]\ntype = "categorical"\nchoices = "ab"', "choices must be a list .*'ab' for 'k'"),
        ("space.json", '{"k": {"type": "float", "low": NaN, "high": 1}}', "low must be a finite number.* for 'k'"),
        ("space.json", '{"parameters": [{"name": "a"}]}', "must be what Space.to_config returned"),
        (
            "space.json",
            json.dumps(SPACE.to_config() | {"constrained": True}),
            "space.json: this space had a constraint",
        ),
    ],
)
def test_what_is_wrong_is_named_with_the_file(tmp_path: Path, name: str, text: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words) as caught:
        read_space(written(tmp_path, name, text))
    assert name in str(caught.value)


def test_a_file_that_is_not_there_or_no_text_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"that can be read; got .*none\.toml: No such file"):
        read_space(tmp_path / "none.toml")
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidInput, match=r"bytes\.json cannot be understood"):
        read_space(tmp_path / "bytes.json")
