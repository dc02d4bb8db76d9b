"""Every law of regions and parameters can be broken: for each a fake that is caught by that law and by no earlier one.

And every region and every parameter of the library keeps them all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from each import each
from test_toy_region import Angle, Disc

import believer as bv
from believer.arrays import Array, BoolArray
from believer.plugins import Parameter, Region
from believer.space.combine import Copies
from believer.space.narrowed import Narrowed
from believer.space.within import Within
from believer.testing import (
    PARAMETER_LAWS,
    REGION_LAWS,
    ContractBroken,
    check_parameter,
    check_region,
    parameter_checks,
    region_checks,
)

PARTS = ["a", "b", "c", "d"]
SPACES: dict[str, bv.Space] = {
    "mixed": bv.Space(
        {
            "rate": bv.Float(1e-5, 1.0, log=True),
            "n": bv.Int(1, 8),
            "kind": bv.Categorical(["a", "b", 3]),
            "step": bv.Float(0.0, 1.0, step=0.25),
            "dose": bv.Discrete([0, 1, 2.5, 5]),
            "level": bv.Ordinal(["low", "mid", "high"]),
            "long": bv.Int(0, 10**6),
            "solvent": bv.Categorical({"DMF": [36.7, 3.82], "water": [78.4, 1.85], "EtOH": [24.0, 1.7]}),
        }
    ),
    "finite": bv.Space({"n": bv.Int(0, 4), "k": bv.Categorical(["a", "b"])}),
    "function": bv.Space(
        {"x": bv.Float(-5.0, 10.0), "y": bv.Float(0.0, 15.0)}, lambda p: bool(p["x"] + p["y"] <= 12.0)
    ),
    "mixture": bv.Space({**{n: bv.Float(0, 1) for n in PARTS}, "t": bv.Int(0, 5)}, rules=[bv.sum_to(PARTS, 1.0)]),
    "percent": bv.Space({n: bv.Float(0, 100, step=5) for n in PARTS}, rules=[bv.sum_to(PARTS, 100)]),
    "few parts": bv.Space({n: bv.Float(0, 1) for n in PARTS}, rules=[bv.sum_to(PARTS, 1.0), bv.max_parts(PARTS, 2)]),
    "half-spaces": bv.Space({n: bv.Float(0, 1) for n in PARTS}, rules=[bv.linear({"a": 2, "b": 1}, at_most=1.2)]),
    "conditional": bv.Space(
        {
            "k": bv.Categorical(["r", "p"]),
            "g": bv.Float(1e-3, 1.0, log=True, when={"k": "r"}),
            "q": bv.Int(2, 5, when={"k": "p"}),
        }
    ),
}
MIXTURE, CUBE = SPACES["mixture"].region(), bv.Space.cube(3).region()
REGIONS: dict[str, Region] = {
    **{name: space.region() for name, space in SPACES.items()},
    "fixed": SPACES["mixture"].region({"a": 0.25}),
    "of a few values": SPACES["mixture"].region({}, {"a": (0.25, 0.5)}),
    "copies": Copies(SPACES["mixed"].region(), 2),
    "narrowed": Narrowed(MIXTURE, np.full(5, 0.1), np.full(5, 0.6)),
    "within": Within(MIXTURE, lambda X: X[:, 0] <= 0.2, np.array([[0.0, 0.5, 0.5, 0.0, 0.0]])),
    "a user's": Disc(),
}
PARAMETERS: list[Parameter] = [
    *(parameter for space in SPACES.values() for parameter in space.parameters.values()),
    *(bv.Float(1e6, 1e6 + 1), bv.Int(-5, 5, step=2), bv.Int(1, 10**7, log=True), bv.Int(3, 3)),
    *(bv.Discrete([1, 10, 100], log=True), Angle()),
]


@each("name", REGIONS)
def test_every_region_keeps_the_contract(name: str) -> None:
    assert len(check_region(REGIONS[name]).passed) == len(REGION_LAWS)


@each("parameter", PARAMETERS)
def test_every_parameter_keeps_the_contract(parameter: Parameter) -> None:
    said = check_parameter(parameter)
    assert len(said.passed) + len(said.not_applicable) == len(PARAMETER_LAWS)


def test_a_region_may_be_given_by_what_makes_it_of_a_box() -> None:
    assert str(check_region(lambda box: Disc())).startswith("Disc keeps the contract")


# Regions that break it


class Wrapped:
    """The region of the mixture, or another; those below do something wrong."""

    inner: Region = CUBE

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


class ShortMetric(Wrapped):
    @property
    def metric(self) -> BoolArray:
        return np.ones(2, dtype=bool)


class Outside(Wrapped):
    def project(self, X: Array, inside: Array | None = None) -> Array:
        return X.copy()


class Fickle(Wrapped):
    def sample(self, m: int, rng: np.random.Generator) -> Array:
        return self.inner.sample(m, np.random.default_rng())


class Rude(Wrapped):
    def spread(self, U: Array) -> Array:
        U[:] = self.inner.spread(0.5 * U + 0.25)
        return U.round()


class OneAnswer(Wrapped):
    def holds(self, X: Array) -> BoolArray:
        return np.ones(1, dtype=bool)


class Lawless(Wrapped):
    inner = SPACES["function"].region()

    def sample(self, m: int, rng: np.random.Generator) -> Array:
        return self.inner.spread(rng.random((m, 2)))


class Pulled(Wrapped):
    def project(self, X: Array, inside: Array | None = None) -> Array:
        return 0.9 * self.inner.project(X, inside) + 0.05


class AllAlike(Wrapped):
    def among(self, X: Array, others: Array) -> BoolArray:
        return np.full(len(X), len(others) > 0)


class FlatMask(Wrapped):
    def free(self, X: Array, relaxed: bool = False) -> BoolArray:
        return np.ones(3, dtype=bool)


class Halving(Wrapped):
    inner = MIXTURE

    def steps(self, X: Array) -> Iterator[Array]:
        yield 0.5 * X[:, None, :]


class Twice(Wrapped):
    inner = SPACES["finite"].region()

    def points(self) -> Array:
        return np.vstack([self.inner.points()[1:], self.inner.points()[1:2]])


BROKEN_REGIONS: dict[str, Callable[[], Any]] = {
    "what a region says of itself fits together": ShortMetric,
    "points are rows of the unit cube": Outside,
    "the same numbers give the same points": Fickle,
    "arguments stay as they are": Rude,
    "holds is a mask of the rows": OneAnswer,
    "every point that is given is lawful": Lawless,
    "project leaves lawful points where they are": Pulled,
    "a point is among those that have it and no others": AllAlike,
    "free columns can move": FlatMask,
    "steps lead to lawful points": Halving,
    "a finite region lists its points": Twice,
}


@pytest.mark.parametrize("text", BROKEN_REGIONS)
def test_each_law_of_regions_catches_a_fake_that_no_earlier_one_does(text: str) -> None:
    for check in region_checks(BROKEN_REGIONS[text]()):
        if str(check) == text:
            with pytest.raises(ContractBroken) as error:
                check()
            assert error.value.law == text
            return
        check()
    pytest.fail(f"there is no law {text!r}")


# Parameters that break it


class Loose(bv.Float):
    @property
    def slack(self) -> float:
        return -1.0


class Shifted(bv.Float):
    def encode(self, values: Any, name: str) -> Array:
        return super().encode(values, name) + 1.0


class Welcoming(bv.Float):
    def check(self, value: Any, name: str) -> float:
        return float(value) if isinstance(value, int | float) and value == value else self.low


class NumPys(bv.Float):
    def check(self, value: Any, name: str) -> float:
        return np.float64(super().check(value, name))


class Forgetful(bv.Float):
    def decode(self, U: Array) -> list[float]:
        return [max(self.low, 0.999 * value) for value in super().decode(U)]


class Falling(bv.Int):
    def grid(self) -> Array:
        return super().grid()[::-1]


class Floor(bv.Int):
    def decode(self, U: Array) -> list[int]:
        return [int(self.low + np.floor(u * (self.high - self.low) + 1e-9)) for u in U[:, 0]]


class Silent(bv.Float):
    def to_config(self) -> dict[str, Any]:
        return {"low": self.low, "high": self.high}


class Displaced(bv.Float):
    def located(self, value: float) -> float:
        return super().located(value) + 0.5


BROKEN_PARAMETERS: dict[str, Parameter] = {
    "what a parameter says of itself fits together": Loose(1.0, 2.0),
    "columns lie in the unit cube": Shifted(1.0, 2.0),
    "what is no value is refused by name": Welcoming(1.0, 2.0),
    "checked values are plain and stay as they are": NumPys(1.0, 2.0),
    "a value comes back from its columns": Forgetful(1.0, 2.0),
    "the grid has every value once": Falling(1, 9),
    "decode gives the nearest value": Floor(1, 9),
    "settings are plain data": Silent(1.0, 100.0, log=True),
    "measured values lie where suggested ones do": Displaced(1.0, 2.0),
}


@each("text", BROKEN_PARAMETERS)
def test_each_law_of_parameters_catches_a_fake_that_no_earlier_one_does(text: str) -> None:
    for check in parameter_checks(BROKEN_PARAMETERS[text]):
        if str(check) == text:
            with pytest.raises(ContractBroken) as error:
                check()
            assert error.value.law == text
            return
        check()
    pytest.fail(f"there is no law {text!r}")


def test_every_law_has_a_fake() -> None:
    assert [law.text for law in REGION_LAWS] == [*BROKEN_REGIONS]
    assert [law.text for law in PARAMETER_LAWS] == [*BROKEN_PARAMETERS]
