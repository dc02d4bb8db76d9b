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

from believer.batch import STRATEGIES
from believer.experiments import Store

ONE: dict[str, Any] = {"problems": ("branin",), "seeds": range(8)}
HERE = Path(__file__).parent


def load(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


guide = load("make_how_to_choose", HERE.parent / "docs" / "make_how_to_choose.py")
finished_cells = load("bench_rows_of_the_guide", HERE / "bench" / "bench_rows.py").finished_cells


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


def test_every_strategy_has_its_line_in_the_guide() -> None:
    assert set(STRATEGIES) <= set(guide.STRATEGY)


@pytest.mark.parametrize(("better", "worse"), [("kb", "cl_min"), ("cl_min", "kb")])
def test_the_guide_follows_the_data(better: str, worse: str, tmp_path: Path) -> None:
    text = written(tmp_path, finished_cells({better: 0.0, worse: 5.0}, **ONE))
    assert f"| 2 to 5 (measured: 3) | {better} (20 ms a batch) | - | 1 problem x 8 seeds |" in text
    assert f"**q=3:** use {better} (mean rank 1.0 of 2" in text
    assert re.search(rf"\| {better} \| .* rank 1.0, .*: best mean rank \|", text)
    assert re.search(rf"\| {worse} \| .* rank 2.0, .*: shown worse \|", text)
    assert ("The default, kb, is shown worse than" in text) == (better != "kb")


def test_what_was_not_measured_is_said_not_to_be(tmp_path: Path) -> None:
    text = written(tmp_path, finished_cells({"kb": 0.0, "random": 5.0}, seeds=range(2), problems=("branin",)))
    assert "too few seeds to say; kb is ahead" in text
    assert "This run has no noisy problem." in text
    assert "This run has no such case." in text
    assert "This run has the default surrogate only." in text
    assert "Other libraries" not in text
    assert "missing or failed" not in text
    assert re.search(r"\| cl_max \| .* \| not run \|", text)


def test_noise_many_results_other_surrogates_and_peers_have_their_own_parts(tmp_path: Path) -> None:
    text = written(
        tmp_path,
        finished_cells({"kb": 0.0, "kb@forest": 4.0, "cl_min@forest": 9.0, "botorch_qei": 2.0}, **ONE),
        finished_cells({"cl_max": 0.0, "kb": 9.0}, noise=0.5, **ONE),
        finished_cells({"cl_mean": 0.0, "kb": 9.0}, n_init=200, budget=209, q=(50,), **ONE),
    )
    plain, noisy = text.index("## By the size"), text.index("## With noise")
    large, workers = text.index("## With 100"), text.index("## Workers")
    assert "use kb (" in text[plain:noisy]
    assert "use cl_max (" in text[noisy:large]
    assert "use cl_mean (" in text[large:workers]
    assert "On `forest`, q=3: use kb@forest (" in text
    assert "kb beside kb@forest: kb is shown better" in text
    assert re.search(r"\| 3 \| botorch_qei \| 2 \| 20 \| ", text)


def test_figures_of_an_earlier_run_are_removed(tmp_path: Path) -> None:
    old = tmp_path / guide.FIGURES / "old.png"
    old.parent.mkdir(parents=True)
    old.write_bytes(b"")
    written(tmp_path, finished_cells({"kb": 0.0, "random": 5.0}, seeds=range(2), problems=("branin",)))
    assert not old.exists()
