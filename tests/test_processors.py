"""The short selection of ``processors.py``; ``make test-slow`` runs all of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from processors import PROCESSORS, SHORT, Processor, build, run, witness


@pytest.mark.slow("each compiles the module for its processor, and runs a thousand tests")
@pytest.mark.parametrize("processor", [PROCESSORS[1], PROCESSORS[3]], ids=lambda processor: processor.name)
def test_the_numerical_tests_pass_on_another_processor(processor: Processor, tmp_path: Path) -> None:
    if not processor.is_here:
        pytest.skip(f"this machine cannot pass for a {processor.name}")
    package = build(processor, tmp_path)
    kernels, _ = witness(processor, package)
    if kernels != processor.name:
        pytest.skip(f"this BLAS has one kind of kernels, {kernels or 'which it does not name'}")
    code, output = run(processor, SHORT, package)
    assert code == 0, output
