"""What an object can do: the same answer as isinstance, whoever is asked and how often."""

from __future__ import annotations

import gc
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from each import each

from believer import GP, RandomForest, capabilities
from believer.capabilities import has
from believer.surrogates import protocols
from believer.surrogates.data import Data
from believer.surrogates.gp import GPModel

CAPABILITIES = [
    value
    for value in vars(protocols).values()
    if getattr(value, "_is_runtime_protocol", False) and value.__module__ == protocols.__name__
]
DATA = Data(np.array([[0.1], [0.6], [0.9]]), np.array([1.0, 0.0, 2.0]))


@dataclass
class OnInstancesAlone:
    """Has what it has as attributes of its values, not of the class."""

    lengthscales: Any
    is_noisy: Any


class Nothing:
    pass


class MadeUp:
    """Has whatever it is asked for, though its values have no dict."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        return name


class Denies(GPModel):
    """Says that it has not what its class would have."""

    condition = None  # type: ignore[assignment]


@each("capability", CAPABILITIES, ids=lambda cls: cls.__name__)
def test_the_answer_is_that_of_isinstance(capability: Any) -> None:
    grown = Nothing()
    fit = GP().fit(DATA, np.random.default_rng(0))
    grown.lengthscales = grown.predict = grown.condition = 1  # type: ignore[attr-defined]
    values = [
        *(fit, RandomForest(3).fit(DATA, np.random.default_rng(0))),
        Denies(*(getattr(fit, part.name) for part in fields(fit) if part.init)),
        *(GP(), OnInstancesAlone(1, 2), Nothing(), grown, Nothing(), MadeUp(), 3.0, None, GP),
    ]
    for _ in range(2):
        assert [has(value, capability) for value in values] == [isinstance(value, capability) for value in values]


def test_a_class_that_is_gone_leaves_no_answer_to_one_that_comes_in_its_place() -> None:
    kept, places = len(capabilities._DECLARED), set()
    for i in range(40):
        names = {"lengthscales": 1.0} if i % 2 else {}
        made = type("Made", (), {"__slots__": (), **names})
        places.add(id(made))
        assert has(made(), protocols.Scaled) == bool(names)
        del made
        gc.collect()
    gc.collect()
    assert len(places) < 40  # some stood where others had been
    assert len(capabilities._DECLARED) <= kept + 1
