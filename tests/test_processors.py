"""The short selection of ``processors.py``; ``make test-slow`` runs all of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from processors import PROCESSORS, SHORT, Processor, build, run


@pytest.mark.slow("each compiles the module for its processor, and runs a thousand tests")
@pytest.mark.parametrize("processor", [PROCESSORS[0], PROCESSORS[2]], ids=lambda processor: processor.name)
def test_the_numerical_tests_pass_on_another_processor(processor: Processor, tmp_path: Path) -> None:
    if not processor.is_here:
        pytest.skip(f"this machine cannot pass for a {processor.name}")
    code, output = run(processor, SHORT, build(processor.level, tmp_path))
    assert code == 0, output
