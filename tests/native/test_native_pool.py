"""Candidates that follow a conditioned model: the compiled module against the Python twin."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from twins import EPS, Problem, assert_near, compiled, problems, python

from believer.acquisitions import EI, PI, UCB, LogEI, PointwiseObjective
from believer.surrogates.data import Data
from believer.surrogates.protocols import Prediction


@settings(max_examples=80)
@given(problems(least_noise=-6.0), st.integers(1, 4))
def test_the_twins_keep_the_same_predictions(case: Problem, lies: int) -> None:
    """From one factor, so that what differs is the pool alone; within the tolerance of a prediction."""
    model, at = python(case.model), case.at
    rng = np.random.default_rng(case.seed)
    data = Data(rng.random((lies, case.d)), case.shift + case.unit * rng.normal(size=lies))
    told = python(lambda: model.condition(data))
    one, other = (run(lambda: model.pool(at).under(told).predict()) for run in (python, compiled))
    k = python(lambda: case.hyper.cross(at, told.X)[0])
    size_k = np.abs(k).sum(axis=1)
    size_w = np.abs(told.factor.unwhiten(told.factor.whiten(k))).sum(axis=1)
    # The pool's own mean is a sum over rows of the factor; that of a prediction one over the weights of all.
    rows = np.abs(told.whitened).sum() * np.abs(np.vstack([told.factor.tail])).max(initial=1.0)
    means = case.tolerance * size_k * (np.abs(told.alpha).sum() + rows) + 4.0 * EPS * abs(case.shift) / case.unit
    assert_near(one.mean / case.unit, other.mean / case.unit, means)
    variances = case.tolerance * (case.hyper.signal + size_k * size_w) * (1.0 + lies)
    assert_near((one.std / case.unit) ** 2, (other.std / case.unit) ** 2, variances)


@settings(max_examples=60)
@given(st.integers(0, 10_000), st.floats(-6.0, 6.0), st.sampled_from([LogEI(), LogEI(0.3), EI(), PI(0.1), UCB(2.0)]))
def test_the_twins_say_the_same_of_predictions(seed: int, power: float, acquisition: LogEI | EI | PI | UCB) -> None:
    model = Problem(9).model()
    rng = np.random.default_rng(seed)
    at = Prediction(rng.normal(size=30) * 10.0**power, 10.0 ** rng.uniform(-6.0, 3.0, size=30))
    objective = PointwiseObjective(acquisition, model, 0.1)
    one, other = python(lambda: objective.of((at,))), compiled(lambda: objective.of((at,)))
    np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12)
