"""Nothing that is handed to the compiled module ends the interpreter or leaks memory."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import bad_calls
import numpy as np
import pytest
from bad_calls import HARMLESS, POINTS, REFUSED, TOO_MUCH
from each import each
from twins import Problem, compiled, native, python
from waiting import PATIENCE

from believer.arrays import Array
from believer.numerics.lbfgs import Settings
from believer.surrogates.data import Data

STATM = Path("/proc/self/statm")


@pytest.fixture(scope="module")
def outcomes() -> dict[str, str]:
    if not hasattr(os, "fork"):
        pytest.skip("each call needs a process of its own, by fork")
    script = Path(bad_calls.__file__)
    run = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=PATIENCE, check=True)
    found: dict[str, str] = json.loads(run.stdout)
    return found


@each("call", REFUSED)
def test_what_compiled_code_cannot_read_is_refused(call: str, outcomes: dict[str, str]) -> None:
    assert outcomes[call] in ("ValueError", "TypeError")


@each("call", TOO_MUCH)
def test_what_asks_for_more_memory_than_there_is_gets_none(call: str, outcomes: dict[str, str]) -> None:
    assert outcomes[call] == "MemoryError"


@each("call", HARMLESS)
def test_what_is_empty_or_no_number_is_survived(call: str, outcomes: dict[str, str]) -> None:
    assert outcomes[call] == "returned"


def test_read_only_arrays_are_welcome_and_nothing_is_written_to_what_comes_in() -> None:
    case = Problem(6, tail=2)
    model = python(case.model)
    at = case.at.copy()
    at.flags.writeable = False
    before = at.copy(), model.factor.base.copy(), model.factor.tail.copy(), model.alpha.copy(), model.X.copy()
    compiled(lambda: (model.predict(at), model.predict_with_gradient(at), model.condition(Data(at, np.zeros(len(at))))))
    after = at, model.factor.base, model.factor.tail, model.alpha, model.X
    for was, now in zip(before, after, strict=True):
        assert not now.flags.writeable
        np.testing.assert_array_equal(was, now)


def test_arrays_that_come_out_belong_to_the_caller() -> None:
    posterior = python(Problem(6, tail=2).model)
    at = np.random.default_rng(0).random((3, 3))
    first, second = compiled(lambda: (posterior.predict(at), posterior.predict(at)))
    mean = second.mean.copy()
    first.mean[:] = -1.0
    np.testing.assert_array_equal(second.mean, mean)


def test_a_posterior_outlives_the_arrays_that_it_was_made_of() -> None:
    def make() -> object:
        case = Problem(40, tail=3)
        return compiled(lambda: python(case.model).compiled())

    posteriors = [make() for _ in range(20)]
    gc.collect()
    noise = [np.full((40, 40), np.nan) for _ in range(50)]
    answers = [posterior.predict(Problem(40, tail=3).at)[0] for posterior in posteriors]  # type: ignore[attr-defined]
    assert len(noise) == 50
    for answer in answers:
        np.testing.assert_array_equal(answer, answers[0])
        assert np.isfinite(answer).all()


# Memory

CASE = Problem(40, tail=3, m=40)
STARTS = np.random.default_rng(0).random((40, 3))
RULES = Settings(max_rounds=4)
FLAGS = np.ones(3, dtype=np.uint8)
BOX = np.zeros(3), np.ones(3)


def bowl(X: Array) -> tuple[Array, Array]:
    return np.square(X).sum(axis=1), 2.0 * X


def raising(X: Array) -> tuple[Array, Array]:
    raise ZeroDivisionError(X)


def swallowed(call: Callable[[], object], *kinds: type[Exception]) -> Callable[[], None]:
    def run() -> None:
        with pytest.raises(kinds):
            call()

    return run


def operations() -> dict[str, Callable[[], object]]:
    model = python(CASE.model)
    posterior = compiled(model.compiled)
    assert posterior is not None
    improvement = native.Improvement(posterior, 0, 0.0, 0.0)
    y, prior = CASE.y / CASE.unit, (np.zeros(4), np.zeros((4, 4)))
    hyper = native.HyperPosterior(0, CASE.points, y, 0.1, 1.0, *prior)
    improper = native.HyperPosterior(0, CASE.points, y, -5.0, 1.0, *prior)
    scales = CASE.hyper.lengthscales
    minimize = native.minimize
    return {
        "cross": lambda: native.cross(0, CASE.at, CASE.points, scales, 1.0),
        "factor": lambda: native.covariance_factor(0, CASE.points, scales, 1.0, 2.0),
        "factor with known noise": lambda: native.covariance_factor(0, CASE.points, scales, 1.0, 2.0, CASE.y),
        "no factor": lambda: native.covariance_factor(0, CASE.points, scales, 1.0, -2.0),
        "posterior": lambda: compiled(model.compiled),
        "append": lambda: native.append(model.factor.base, model.factor.tail, model.alpha, 1.0, 1e-12),
        "predict": lambda: posterior.predict(CASE.at),
        "predict with gradient": lambda: posterior.predict_with_gradient(CASE.at),
        "value": lambda: improvement.value(CASE.at),
        "climb": lambda: minimize(improvement, STARTS, *BOX, FLAGS, -1.0, RULES),
        "likelihood": lambda: hyper.log_likelihood(prior[0]),
        "no likelihood": lambda: improper.log_likelihood(prior[0]),
        "search": lambda: minimize(native.Callback(bowl, 3), STARTS, *BOX, FLAGS, 1.0, RULES),
        "search that raises": swallowed(
            lambda: minimize(native.Callback(raising, 3), STARTS, *BOX, FLAGS, 1.0, RULES), ZeroDivisionError
        ),
        "refused points": swallowed(lambda: posterior.predict(POINTS), ValueError),
        "refused sizes": swallowed(
            lambda: minimize(improvement, STARTS, BOX[0][:1], BOX[1], FLAGS, 1.0, RULES), ValueError
        ),
    }


def resident() -> float:
    """Memory that the process holds, in megabytes."""
    gc.collect()
    return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


@pytest.mark.skipif(not STATM.exists(), reason="memory is read from /proc")
@pytest.mark.parametrize("calls", [600, pytest.param(2000, marks=pytest.mark.slow("many calls notice smaller leaks"))])
@each("operation", operations())
def test_calls_again_and_again_leave_no_memory_behind(operation: str, calls: int) -> None:
    run = operations()[operation]
    gc.collect()
    gc.freeze()  # what is in memory by now need not be looked through again
    for _ in range(200):
        run()
    before = resident()
    for _ in range(calls):
        run()
    # What each call works with is between 10 and 80 kB; one that is not given back is 6 MB or more, of 2,000 20 MB.
    assert resident() - before < 4.0
