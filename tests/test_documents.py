"""The examples of the documents do what they say."""

from __future__ import annotations

import ast
import logging
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from believer.testing import check_surrogate

DOCS = Path(__file__).parent.parent / "docs"


def blocks_of(name: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (DOCS / name).read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Where the code of a document runs: importable, so that what it defines can be pickled; its files go elsewhere."""
    monkeypatch.chdir(tmp_path)
    made = ModuleType("guide")
    monkeypatch.setitem(sys.modules, "guide", made)
    return made


def test_the_guides_own_surrogate_keeps_the_contract(module: ModuleType) -> None:
    (code,) = [block for block in blocks_of("sdd.md") if "class Nearest" in block]
    exec(code, module.__dict__)
    assert len(check_surrogate(module.Nearest()).passed) > 20


def test_the_guide_for_authors_runs_from_top_to_bottom(module: ModuleType) -> None:
    for number, block in enumerate(blocks_of("plugins.md"), start=1):
        exec(compile(block, f"plugins.md, block {number}", "exec"), module.__dict__)
    assert len(module.checks) > 60
    for check in module.checks:
        module.test_it_keeps_the_contract(check)


def test_the_guide_to_spaces_runs_from_top_to_bottom(module: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    for number, block in enumerate(blocks_of("spaces.md"), start=1):
        exec(compile(block, f"spaces.md, block {number}", "exec"), module.__dict__)
    assert module.opt.best[1] > 98.0
    assert "these rules cannot hold together" in capsys.readouterr().out
    for trial in (*module.opt.trials, *module.flour.trials):
        assert (module.space if "cure" in trial.params else module.recipes).allows(trial.params)


def test_the_guide_to_notebooks_runs_from_top_to_bottom(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    log, root = logging.getLogger("believer"), logging.getLogger()
    monkeypatch.setattr(root, "handlers", [*root.handlers])
    before = log.level
    try:
        for number, block in enumerate(blocks_of("notebooks.md"), start=1):
            exec(compile(block, f"notebooks.md, block {number}", "exec"), module.__dict__)
        assert log.level == logging.INFO
    finally:
        log.setLevel(before)
    assert repr(module.batch) == "Batch(4 trials, ids 12-15)"
    assert len(module.opt.front) > 1
    assert {"T (°C)", "yield told (%)", "purity limit (%)"} <= set(
        re.split(" {2,}", str(module.opt.front).splitlines()[2])
    )
    assert module.result.value is not None


def test_the_guide_to_programs_runs_from_top_to_bottom(
    module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for number, block in enumerate(blocks_of("programs.md"), start=1):
        exec(compile(block, f"programs.md, block {number}", "exec"), module.__dict__)
    assert module.result.params["material"] == "titanium"
    assert 0.7 < module.result.params["thickness"] < 1.5
    failed = [row["error"] for row in module.result.optimizer.records() if row["status"] == "failed"]
    assert all("mesh failed: the wall is too thin" in error for error in failed)


def test_the_guide_to_optuna_runs_from_top_to_bottom(module: ModuleType) -> None:
    pytest.importorskip("optuna")
    for number, block in enumerate(blocks_of("optuna.md"), start=1):
        exec(compile(block, f"optuna.md, block {number}", "exec"), module.__dict__)
    assert module.study.best_value < 1.0
    assert len(module.shared.trials) == 12


def test_the_page_for_users_of_scikit_optimize_runs_from_top_to_bottom(
    module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    monkeypatch.chdir(tmp_path)
    for number, block in enumerate(blocks_of("skopt.md"), start=1):
        exec(compile(block, f"skopt.md, block {number}", "exec"), module.__dict__)
    plt.close("all")
    assert {path.name for path in tmp_path.iterdir()} == {"checkpoint.jsonl", "objective.png"}
    assert module.result.fun < 1.0
    assert len(module.batch) == 4


def test_the_guide_for_authors_goes_through_the_doors() -> None:
    imported = set()
    for node in ast.walk(ast.parse("\n".join(blocks_of("plugins.md")))):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(node.module or "")
    assert {name for name in imported if name.startswith("believer")} == {
        "believer",
        "believer.plugins",
        "believer.testing",
    }


@pytest.mark.parametrize(("guide", "needs"), [("sklearn.md", "sklearn"), ("gest.md", "gest_api")])
def test_the_guide_to_a_host_runs_from_top_to_bottom(guide: str, needs: str, module: ModuleType) -> None:
    pytest.importorskip(needs)
    for number, block in enumerate(blocks_of(guide), start=1):
        exec(compile(block, f"{guide}, block {number}", "exec"), module.__dict__)
