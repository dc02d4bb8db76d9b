"""A small study in a folder, and its sheets as lists of cells."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import believer as bv
from believer.lab import study_text
from believer.study.goal import Goal

SPACE = bv.Space(
    {
        "resin": bv.Float(0, 100, units="%"),
        "hardener": bv.Float(0, 60, units="%"),
        "filler": bv.Float(0, 50, units="%"),
        "solvent": bv.Categorical(["DMF", "=water", "MeCN"]),
        "temperature": bv.Float(20, 120, step=5, units="°C"),
    },
    rules=[bv.sum_to(["resin", "hardener", "filler"], 100)],
)
GOALS: dict[str, Goal] = {"yield": bv.Maximize(units="%"), "purity": bv.AtLeast(95, units="%")}


def begin(folder: Path, decimal: str = ".", space: bv.Space = SPACE) -> Path:
    """The study.toml of a study in this folder."""
    file = folder / "study.toml"
    file.write_text(study_text(space, GOALS, "Test", 4, {"seed": 1}, decimal), encoding="utf-8")
    return file


def cells(path: str | Path, delimiter: str = ",") -> list[list[str]]:
    """The cells of a CSV file, the headings first."""
    return [*csv.reader(io.StringIO(Path(path).read_text(encoding="utf-8-sig")), delimiter=delimiter)]


def write(path: Path, rows: list[list[str]], delimiter: str = ",") -> Path:
    """A CSV file of these cells."""
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter).writerows(rows)
    path.write_text(text.getvalue(), encoding="utf-8", newline="")
    return path
