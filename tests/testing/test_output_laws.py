"""Laws of strategies that take outputs, and of acquisitions: kept by the library's, and each broken by a fake."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

import believer as bv
from believer.acquisitions import ACQUISITIONS, Pointwise
from believer.arrays import Array
from believer.batch import STRATEGIES, Chosen, Request
from believer.batch.request import LIMITS, SEVERAL
from believer.maximize import Objective
from believer.testing import (
    ACQUISITION_LAWS,
    OUTPUT_LAWS,
    ContractBroken,
    acquisition_checks,
    check_acquisition,
    check_strategy,
    strategy_checks,
)

RANDOM = STRATEGIES["random"]


@dataclass(frozen=True)
class Honest:
    """Uniform draws; those below do something wrong where outputs are declared."""

    takes: ClassVar[str] = SEVERAL

    def choose(self, request: Request, memory: object = None) -> Chosen:
        return RANDOM.choose(request, memory)


class OneObjective(Honest):
    """Honest: it says that it trades no objectives for each other, and breaks if it is asked to."""

    takes: ClassVar[str] = LIMITS

    def choose(self, request: Request, memory: object = None) -> Chosen:
        assert request.objectives == 1
        return super().choose(request, memory)


class NeedsAFeasibleResult(Honest):
    def choose(self, request: Request, memory: object = None) -> Chosen:
        for output in request.outputs:
            if output.limits is not None and not output.limits.holds(output.data.y).any():
                raise RuntimeError("nothing is feasible")
        return super().choose(request, memory)


class WantsWholeResults(Honest):
    def choose(self, request: Request, memory: object = None) -> Chosen:
        np.stack([output.data.y for output in request.outputs])
        return super().choose(request, memory)


class Avoids(Honest):
    """Draws without a look at what is to be avoided, from the results of the first output."""

    def choose(self, request: Request, memory: object = None) -> Chosen:
        chosen = super().choose(request, memory)
        if len(request.outputs) == 1:
            return chosen
        old = replace(chosen.choices[0], x=request.data.X[0])
        return replace(chosen, choices=(old, *chosen.choices[1:]))


class CountsOnOneObjective(Honest):
    def choose(self, request: Request, memory: object = None) -> Chosen:
        (_,) = (output for output in request.outputs if output.limits is None)
        return super().choose(request, memory)


class WantsAReference(Honest):
    def choose(self, request: Request, memory: object = None) -> Chosen:
        if request.objectives > 1:
            len(request.reference)  # type: ignore[arg-type]
        return super().choose(request, memory)


class OwnGenerator(Honest):
    def choose(self, request: Request, memory: object = None) -> Chosen:
        rng = np.random.default_rng()
        mine = replace(request, randomness=lambda *_: rng)
        return super().choose(mine if len(request.outputs) > 1 else request, memory)


WITHIN, OBJECTIVES, SAME = OUTPUT_LAWS


def first_broken(checks: Any) -> Any:
    for check in checks:
        try:
            check()
        except ContractBroken:
            return check.law
    return None


@pytest.mark.parametrize(
    ("strategy", "law"),
    [
        (NeedsAFeasibleResult(), WITHIN),
        (WantsWholeResults(), WITHIN),
        (Avoids(), WITHIN),
        (CountsOnOneObjective(), OBJECTIVES),
        (WantsAReference(), OBJECTIVES),
        (OwnGenerator(), SAME),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_strategy_that_goes_wrong_with_outputs_is_caught_by_the_law(strategy: Honest, law: Any) -> None:
    checks = strategy_checks(strategy)
    assert first_broken(checks) is law


@pytest.mark.parametrize("strategy", [Honest(), OneObjective()], ids=lambda value: type(value).__name__)
def test_an_honest_one_keeps_them(strategy: Honest) -> None:
    assert {law.text for law in OUTPUT_LAWS} <= set(check_strategy(strategy).passed)


def test_who_says_nothing_of_outputs_is_not_bound() -> None:
    assert not {check.law for check in strategy_checks("lp")} & set(OUTPUT_LAWS)
    assert {check.law for check in strategy_checks("kb")} > set(OUTPUT_LAWS)


@pytest.mark.parametrize("name", ACQUISITIONS)
def test_every_acquisition_keeps_the_contract(name: str) -> None:
    assert check_acquisition(name).passed == tuple(law.text for law in ACQUISITION_LAWS)


@dataclass(frozen=True)
class NotFinite:
    def pointwise(self, mean: Array, std: Array, incumbent: float) -> Pointwise:
        with np.errstate(invalid="ignore"):
            return Pointwise(np.log(incumbent - mean), 0.0 * mean, 0.0 * std)


@dataclass(frozen=True)
class Slanted:
    """The derivative by std has the wrong size."""

    def pointwise(self, mean: Array, std: Array, incumbent: float) -> Pointwise:
        return Pointwise(incumbent - mean + 2.0 * std, -np.ones_like(mean), np.ones_like(std))


@dataclass(frozen=True)
class Wrapped:
    """EHVI, and an objective that does something wrong."""

    wrong: type[Any]

    def of_several(self, models: Any, front: Array, reference: Array, rng: np.random.Generator) -> Objective:
        made: Objective = self.wrong(bv.EHVI().of_several(models, front, reference, rng))
        return made


@dataclass(frozen=True, eq=False)
class Column:
    inner: Objective
    has_gradient: ClassVar[bool] = True

    def value(self, X: Array) -> Array:
        return self.inner.value(X)[:, None]

    def value_with_gradient(self, X: Array) -> tuple[Array, Array]:
        return self.inner.value_with_gradient(X)


class Shaken(Column):
    def value(self, X: Array) -> Array:
        return self.inner.value(X) + np.random.default_rng().random()


class Double(Column):
    def value(self, X: Array) -> Array:
        return self.inner.value(X)

    def value_with_gradient(self, X: Array) -> tuple[Array, Array]:
        value, gradient = self.inner.value_with_gradient(X)
        return value, 2.0 * gradient


class Beside(Double):
    def value_with_gradient(self, X: Array) -> tuple[Array, Array]:
        value, gradient = self.inner.value_with_gradient(X)
        return value + 1.0, gradient


class Without(Double):
    """Honest: it says that it has none."""

    has_gradient: ClassVar[bool] = False


FINITE, AGAIN, SLOPES = ACQUISITION_LAWS


@pytest.mark.parametrize(
    ("acquisition", "law"),
    [
        (NotFinite(), FINITE),
        (Wrapped(Column), FINITE),
        (Wrapped(Shaken), AGAIN),
        (Slanted(), SLOPES),
        (Wrapped(Double), SLOPES),
        (Wrapped(Beside), SLOPES),
        (Wrapped(Without), None),
    ],
    ids=["NotFinite", "Column", "Shaken", "Slanted", "Double", "Beside", "Without"],
)
def test_an_acquisition_that_goes_wrong_is_caught_by_the_law(acquisition: Any, law: Any) -> None:
    assert first_broken(acquisition_checks(acquisition)) is law
