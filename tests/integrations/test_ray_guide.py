"""The guide to Ray does what it says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from local_ray import local_cluster, needs_ray

GUIDE = Path(__file__).parents[2] / "docs" / "ray.md"


@needs_ray
@pytest.mark.slow("without further settings, a trial of Tune is a process of its own")
def test_the_guide_to_ray_runs_from_top_to_bottom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from believer.integrations.ray import connected

    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}  # as in a script: its functions travel to the workers
    with local_cluster() as address, connected(address):
        for number, block in enumerate(re.findall(r"```python\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL), 1):
            exec(compile(block, f"ray.md, block {number}", "exec"), names)
    assert len(names["results"]) == 8
    assert names["results"].num_errors == 0
    assert names["best"].config["epochs"] == 10
    assert names["best"].metrics["loss"] < 1.0
    assert (names["result"].evaluations, names["result"].failures) == (12, 0)
