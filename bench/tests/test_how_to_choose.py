"""The guide is made of a bench's results: its sentences follow them, and its links lead somewhere."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

pytest.importorskip("matplotlib")

import believer
from believer.batch import STRATEGIES
from believer.experiments import Store, read_store
from believer_bench.report import bench_report

ONE: dict[str, Any] = {"problems": ("branin",), "seeds": range(8)}
HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def load(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


guide = load("make_how_to_choose", ROOT / "docs" / "make_how_to_choose.py")
finished_cells = load("bench_rows_of_the_guide", HERE / "bench_rows.py").finished_cells


def written(folder: Path, *groups: list[tuple[object, dict[str, object]]]) -> str:
    """The guide made of made-up runs, one file a group; its links are checked."""
    paths = []
    for number, rows in enumerate(groups):
        paths.append(folder / f"results_{number}.jsonl")
        with Store(paths[-1]) as store:
            for cell, result in rows:
                store.add(cell, result)  # type: ignore[arg-type]
    text: str = guide.write(paths, folder).read_text(encoding="utf-8")
    links = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text)
    assert links
    assert {folder / link for link in links} == set((folder / guide.FIGURES).glob("*.png"))
    return text


def test_the_guide_is_what_its_own_command_writes() -> None:
    text = (ROOT / "docs" / "how-to-choose.md").read_text(encoding="utf-8")
    command = re.search(r"By `python docs/make_how_to_choose\.py ([^`]+)`", text)
    assert command is not None
    sources = command[1].split()
    finished = [(entry.cell, entry.result) for name in sources for entry in read_store(ROOT / name)]
    again, figures = guide.page(bench_report(finished), sources)
    assert text == again
    assert {path.stem for path in (ROOT / "docs" / guide.FIGURES).glob("*.png")} == set(figures)


def test_every_strategy_has_its_line_in_the_guide() -> None:
    assert set(STRATEGIES) <= set(guide.STRATEGY)


@pytest.mark.parametrize(("better", "worse"), [("hedged", "cl_min"), ("cl_min", "hedged")])
def test_the_guide_follows_the_data(better: str, worse: str, tmp_path: Path) -> None:
    text = written(tmp_path, finished_cells({better: 0.0, worse: 5.0}, **ONE))
    default = "best mean rank" if better == "hedged" else "shown worse"
    assert f"| 2 to 5 (measured: 3) | {better} (20 ms) | - | {default} | 2 members, 1 problem x 8 seeds |" in text
    assert f"**q=3:** use {better} (mean rank 1.0 of 2" in text
    assert re.search(rf"\| {better} \| 1.0 \| 20 \| 50% \| best mean rank \|", text)
    assert re.search(rf"\| {worse} \| 2.0 \| 20 \| 50% \| shown worse \|", text)
    assert ("The default, hedged, is shown worse than" in text) == (better != "hedged")


def test_what_was_not_measured_is_said_not_to_be(tmp_path: Path) -> None:
    text = written(tmp_path, finished_cells({"kb": 0.0, "random": 5.0}, seeds=range(2), problems=("branin",)))
    assert "too few seeds to say; kb is ahead" in text
    assert "No problem of this run is noisy" in text
    assert "benchmarks/results/noise.md" in text
    assert "This run has no such case." in text
    assert "This run has the default surrogate only." in text
    assert "Other libraries" not in text
    assert "missing or failed" not in text
    assert re.search(r"Not run at q=3: .*cl_max", text)


def test_many_results_other_surrogates_and_peers_have_their_own_parts(tmp_path: Path) -> None:
    text = written(
        tmp_path,
        finished_cells({"kb": 0.0, "kb@forest": 4.0, "cl_min@forest": 9.0, "botorch_qei": 2.0}, **ONE),
        finished_cells({"cl_mean": 0.0, "kb": 9.0}, n_init=200, budget=209, q=(50,), **ONE),
    )
    plain, large, every = (text.index(f"## {title}") for title in ("By the size", "With 100", "Every"))
    assert "use kb (" in text[plain:large]
    assert "use cl_mean (" in text[large:every]
    assert "On `forest`, q=3: use kb@forest (" in text
    assert "| kb@forest | branin | 3 | 8 | 8 / 0 / 0 | 1 | kb better |" in text
    assert "| botorch_qei | branin | 3 | 8 | 8 / 0 / 0 | 1 | kb better |" in text
    assert text.count("Each beside kb") == 1


def test_members_with_few_seeds_are_named_and_still_compared(tmp_path: Path) -> None:
    few = {"botorch_qei": 2.0, "kb@forest": 4.0}
    text = written(
        tmp_path,
        finished_cells({"kb": 0.0, "lp": 1.0, "random": 5.0}, **ONE),
        finished_cells(few, problems=("branin",), seeds=range(4)),
        finished_cells({"kb": 0.0, "lp": 1.0}, problems=("hartmann6",), q=(10,), budget=30, seeds=range(8)),
    )
    assert "over 1 problem x 8 seeds" in text
    assert "share): botorch_qei (4), kb@forest (4)." in text
    assert "| botorch_qei | branin | 3 | 4 | 4 / 0 / 0 | 1 | too few seeds to say |" in text
    assert "| kb@forest | branin | 3 | 4 | 4 / 0 / 0 | 1 | too few seeds to say |" in text
    assert "nothing to compare it with" not in text
    assert "6 to 20 (measured: 10)" in text


def test_what_pending_points_mean_to_dpp_is_what_it_does() -> None:
    space = believer.Space.cube(2)
    asked = []
    for strategy in ("dpp", "kb"):
        study = believer.Optimizer(space, strategy=strategy, n_init=4, seed=0)
        for trial in study.ask(4):
            study.tell(trial, sum(v**2 for v in trial.params.values()))
        asked.append([study.ask(1)[0].params for _ in range(2)])
    assert asked[0] == asked[1]
    assert "one point at a time from it is what `kb` chooses" in guide.PENDING.replace("\n", " ")


def test_figures_of_an_earlier_run_are_removed(tmp_path: Path) -> None:
    old = tmp_path / guide.FIGURES / "old.png"
    old.parent.mkdir(parents=True)
    old.write_bytes(b"")
    written(tmp_path, finished_cells({"kb": 0.0, "random": 5.0}, seeds=range(2), problems=("branin",)))
    assert not old.exists()
