"""What is ready for OptunaHub: its front matter, and that its examples run."""

from __future__ import annotations

import inspect
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from waiting import PATIENCE

pytest.importorskip("optuna")

FOLDER = Path(__file__).parents[2] / "integrations" / "optunahub" / "believer"
README = (FOLDER / "README.md").read_text(encoding="utf-8")


def test_the_front_matter_has_what_the_registry_asks_for() -> None:
    matter = README.split("---\n")[1]
    fields = dict(line.split(": ", 1) for line in matter.splitlines())
    assert list(fields) == ["author", "title", "description", "tags", "optuna_versions", "license"]
    assert fields["tags"].startswith("[sampler,")
    assert fields["license"] == "MIT License" == (FOLDER / "LICENSE").read_text(encoding="utf-8").splitlines()[0]
    for heading in ("Abstract", "APIs", "Installation", "Example"):
        assert f"\n## {heading}\n" in README


def test_every_setting_is_named_there() -> None:
    from believer.integrations.optuna import BelieverSampler

    (signature,) = re.findall(r"^### `BelieverSampler\(\*, (.*)\)`$", README, re.MULTILINE)
    settings = inspect.signature(BelieverSampler).parameters.values()
    assert signature == ", ".join(f"{one.name}={one.default!r}" for one in settings).replace("'", '"')


def test_the_example_of_the_page_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    hub = ModuleType("optunahub")
    loaded = ModuleType("loaded")
    loaded.__dict__.update(runpy.run_path(str(FOLDER / "__init__.py")))
    hub.__dict__["load_module"] = lambda package: {"samplers/believer": loaded}[package]
    monkeypatch.setitem(sys.modules, "optunahub", hub)
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    names: dict[str, object] = {}
    exec(compile(code, "README.md", "exec"), names)
    study = names["study"]
    assert len(study.trials) == 30  # type: ignore[attr-defined]


@pytest.mark.slow("the example starts processes, each of which loads Optuna")
def test_the_example_with_processes_runs(tmp_path: Path) -> None:
    stub = "import believer.integrations.optuna\n\ndef load_module(package):\n    return believer.integrations.optuna\n"
    (tmp_path / "optunahub.py").write_text(stub)
    path = os.pathsep.join([str(tmp_path), *sys.path])
    command = [sys.executable, str(FOLDER / "example.py")]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.split()[-1]) < 20.0
