"""The scripts of examples/ are short, run without a warning, and print what is worth reading."""

from __future__ import annotations

import csv
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import PATIENCE

EXAMPLES = Path(__file__).parents[1] / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*.py"))


def run(name: str, folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / f"{name}.py"), *arguments],
        cwd=folder,
        env={**os.environ, "MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_example_is_short_and_is_listed() -> None:
    listed = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    for path in SCRIPTS:
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 60, path.name
        assert f"]({path.name})" in listed
    assert len(SCRIPTS) == 8


@pytest.mark.parametrize(
    ("name", "arguments", "needs", "prints", "leaves"),
    [
        ("sixty_seconds", ("12",), "plotly", "(12 evaluations", "sixty_seconds.html"),
        ("optuna_sampler", ("10",), "optuna", "recommended: trial", "optuna_importance.png"),
        ("batch_search", ("8",), "sklearn", "the best of  8 candidates", None),
        ("limits_and_objectives", (), "numpy", "The lightest with a safety", None),
        ("mixture_and_catalogue", (), "numpy", "best", None),
        ("own_surrogate", (), "numpy", "verdict: responds and diverse", None),
    ],
    ids=lambda value: value if isinstance(value, str) and value.isidentifier() else "",
)
def test_an_example_runs(
    name: str, arguments: tuple[str, ...], needs: str, prints: str, leaves: str | None, tmp_path: Path
) -> None:
    pytest.importorskip(needs)
    assert prints in run(name, tmp_path, *arguments)
    assert leaves is None or (tmp_path / leaves).exists()


def test_the_plate_of_the_laboratory_goes_out_and_comes_back(tmp_path: Path) -> None:
    assert "The next plate is in plate-1.csv" in run("lab_csv", tmp_path)
    plate = tmp_path / "plate-1.csv"
    with plate.open(newline="", encoding="utf-8-sig") as file:
        header, *rows = csv.reader(file)
    assert (len(rows), len({row[1] for row in rows})) == (6, 1)

    def fill(results: list[str]) -> None:
        filled = [[*row[:4], result, ""] for row, result in zip(rows, results, strict=True)]
        with plate.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([header, *filled])

    fill(["71.5", "failed", "64", "", "", ""])
    assert "3 wells have no result yet" in run("lab_csv", tmp_path)
    fill(["71.5", "failed", "64", "50", "50", "50"])
    assert "The next plate is in plate-2.csv" in run("lab_csv", tmp_path)


def test_the_function_of_the_cluster_returns_raises_and_hangs_where_it_says() -> None:
    pytest.importorskip("distributed")
    spec = importlib.util.spec_from_file_location("dask_crashes", EXAMPLES / "dask_crashes.py")
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    assert example.simulate({"pressure": 6, "speed": 4}) == 0
    with pytest.raises(RuntimeError, match="folded"):
        example.simulate({"pressure": 9, "speed": 4})


@pytest.mark.slow("starts a cluster, kills its processes and waits for one that hangs")
def test_the_example_on_a_cluster_survives_its_crashes(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    printed = run("dask_crashes", tmp_path)
    assert "its worker died (exit code 1)" in printed
    assert "took longer than 10 s" in printed
