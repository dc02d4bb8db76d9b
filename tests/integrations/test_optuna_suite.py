"""Optuna's own tests of samplers, as they come with it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

pytest.importorskip("optuna")

from optuna.testing.pytest_samplers import (
    BasicSamplerTestCase,
    MultiObjectiveSamplerTestCase,
    RelativeSamplerTestCase,
)

from believer.integrations.optuna import BelieverSampler


class TestBelieverSampler(BasicSamplerTestCase, RelativeSamplerTestCase, MultiObjectiveSamplerTestCase):  # type: ignore[misc]
    """With what it does at once, and a model after one result."""

    @pytest.fixture(params=[None, 1], ids=["default", "model"])
    def sampler(self, request: pytest.FixtureRequest) -> Callable[[], Any]:
        return partial(BelieverSampler, n_startup_trials=request.param, seed=0)
