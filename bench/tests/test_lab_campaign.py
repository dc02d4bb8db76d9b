"""A table of reactions, searched from the shell alone: sheets out, sheets back."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from believer.cli import main
from believer.lab import study_text
from believer.study.goal import Maximize
from believer_bench.problems.classes.tables import Reaction, reaction3, reaction_table

ROUNDS = 9


def campaign(folder: Path, seed: int) -> float:
    """The share of the table that is better than the best reaction found in some rounds of eight."""
    problem = reaction3()
    reaction = problem.function
    assert isinstance(reaction, Reaction)
    table = np.sort(-reaction_table(reaction), axis=None)
    text = study_text(problem.space, {"yield": Maximize(units="%")}, "Reactions", 8, {"seed": seed})
    (folder / "study.toml").write_text(text, encoding="utf-8")
    best = -np.inf
    for number in range(1, ROUNDS + 1):
        assert main(["ask", "--study", str(folder)]) == 0
        sheet = folder / f"batch-{number:03d}.csv"
        with open(sheet, newline="", encoding="utf-8-sig") as file:
            rows = list(csv.DictReader(file))
        for row in rows:
            value = -reaction({name: row[name] for name in problem.space.names})
            row["yield (%)"] = repr(float(value))
            best = max(best, value)
        with open(sheet, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, [*rows[0]])
            writer.writeheader()
            writer.writerows(rows)
        assert main(["tell", str(sheet), "--study", str(folder)]) == 0
    return float((table > best).mean())


def test_a_campaign_from_the_shell_reaches_the_best_percent_of_a_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert campaign(tmp_path, 1) < 0.01
    assert main(["show", "--study", str(tmp_path)]) == 0
    assert f"{8 * ROUNDS} results, 0 failed, 0 pending" in capsys.readouterr().out
