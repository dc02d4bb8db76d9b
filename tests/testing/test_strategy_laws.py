"""Every law of strategies can be broken: for each there is a fake that is caught by that law and by no earlier one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest
from each import each

from believer.arrays import Array, frozen
from believer.batch import Chosen, Request, Strategy
from believer.batch.picking import maximizer_for
from believer.batch.random import draw
from believer.batch.request import Choice
from believer.errors import MissingCapability
from believer.maximize import Search
from believer.space.box import Box
from believer.space.region import bounds
from believer.surrogates.data import Data
from believer.surrogates.protocols import Model, Smoothing, Surrogate
from believer.testing import (
    ONE_AT_A_TIME,
    STRATEGY_LAWS,
    ContractBroken,
    FakeSurrogate,
    check_strategy,
    strategy_checks,
)

Places = Callable[[Request], Array]


def answer(X: Array, said: str = "drawn") -> Chosen:
    return Chosen(tuple(Choice(frozen(x), said) for x in X))


def drawn(request: Request, purpose: str = "random", region: Box | None = None) -> Array:
    """One new point (q, d) for each trial, from its own randomness."""
    where, found = request.region if region is None else region, request.avoid
    for trial in request.ids:
        x = draw(where, found if request.distinct else request.avoid, request.randomness(trial, purpose))[0]
        found = np.vstack([found, x])
    return found[len(request.avoid) :]


def box_of(request: Request) -> Box:
    """The region, which is a box in all that the laws ask."""
    assert isinstance(request.region, Box)
    return request.region


@dataclass(frozen=True)
class Honest:
    """Uniform draws; those below do something wrong."""

    def choose(self, request: Request, memory: object = None) -> Any:
        return answer(drawn(request))


# Answers of a wrong kind


class OneTooFew(Honest):
    def choose(self, request: Request, memory: object = None) -> Any:
        return answer(drawn(request)[1:])


class OneTooMany(Honest):
    def choose(self, request: Request, memory: object = None) -> Any:
        return answer(drawn(request)[[0, *range(len(request.ids))]])


class PointsAlone(Honest):
    def choose(self, request: Request, memory: object = None) -> Any:
        return drawn(request)


class ListOfChoices(Honest):
    def choose(self, request: Request, memory: object = None) -> Any:
        return Chosen(list(answer(drawn(request)).choices))  # type: ignore[arg-type]


class Rows(Honest):
    def choose(self, request: Request, memory: object = None) -> Any:
        return answer(drawn(request)[:, None, :])


class NotFinite(Honest):
    def choose(self, request: Request, memory: object = None) -> Any:
        return answer(np.full((len(request.ids), request.region.dim), np.nan))


class Halves(Honest):
    def choose(self, request: Request, memory: object = None) -> Any:
        return Chosen(tuple(Choice(x.astype(np.float32), "drawn") for x in drawn(request)))


class FailsAtTwelve(Honest):
    def choose(self, request: Request, memory: object = None) -> Any:
        if len(request.ids) == 12:
            raise RuntimeError("a dozen is too many")
        return super().choose(request)


# Points of a wrong kind


class BeyondTheBox(Honest):
    def choose(self, request: Request, memory: object = None) -> Any:
        return answer(drawn(request) + 1e-9)


class OffTheGrid(Honest):
    def choose(self, request: Request, memory: object = None) -> Any:
        return answer(drawn(request, region=Box(*bounds(request.region))))


class BetweenIntegers(Honest):
    """Knows blocks, and not the grids too long for one."""

    def choose(self, request: Request, memory: object = None) -> Any:
        return answer(drawn(request, region=replace(box_of(request), rounding=None)))


class ForgetsHeld(Honest):
    def choose(self, request: Request, memory: object = None) -> Any:
        d = request.region.dim
        return answer(drawn(request, region=replace(box_of(request), lower=np.zeros(d), upper=np.ones(d))))


class IgnoresTheConstraint(Honest):
    def choose(self, request: Request, memory: object = None) -> Any:
        return answer(drawn(request, region=replace(box_of(request), feasible=None)))


def again(points: Places) -> type[Honest]:
    """A strategy whose first point is the first of ``points`` (k, d) that may be proposed, new or not."""

    class Again(Honest):
        def choose(self, request: Request, memory: object = None) -> Any:
            X, old = drawn(request), request.region.project(points(request))
            old = old[request.region.holds(old)]
            return answer(np.vstack([old[:1], X])[: len(X)])

    return Again


class RepeatsItself(Honest):
    def choose(self, request: Request, memory: object = None) -> Any:
        return answer(np.repeat(drawn(request)[:1], len(request.ids), axis=0))


class NeverLooks(Honest):
    """Independent draws repeat nothing, as long as there is a continuous parameter."""

    def choose(self, request: Request, memory: object = None) -> Any:
        return super().choose(replace(request, avoid=request.avoid[:0], distinct=False))


class InsistsOnNew(Honest):
    def choose(self, request: Request, memory: object = None) -> Any:
        return super().choose(replace(request, distinct=True))


# Misuse of a maximizer


@dataclass(frozen=True, eq=False)
class Middle:
    """Minus the distance to the middle of the cube."""

    has_gradient: ClassVar[bool] = True

    def value(self, X: Array) -> Array:
        value: Array = -((X - 0.5) ** 2).sum(axis=1)
        return value

    def value_with_gradient(self, X: Array) -> tuple[Array, Array]:
        return self.value(X), -2.0 * (X - 0.5)


class Maximizing(Honest):
    """Honest: points near the middle."""

    def point(self, request: Request, trial: int, avoid: Array) -> Array:
        return draw(request.region, avoid, request.randomness(trial, "random"), self.found(request, trial, avoid))[0]

    def found(self, request: Request, trial: int, avoid: Array) -> Array:
        search = Search(request.region, request.region.project(request.data.X), avoid)
        maximizer = maximizer_for(Middle(), request.maximizer)
        return maximizer.maximize(Middle(), search, request.randomness(trial, "maximize")).x

    def choose(self, request: Request, memory: object = None) -> Any:
        avoid, X = request.avoid, []
        for trial in request.ids:
            X.append(self.point(request, trial, avoid))
            avoid = np.vstack([avoid, X[-1]]) if request.distinct else avoid
        return answer(np.array(X))


class WantsAMaximizer(Maximizing):
    def choose(self, request: Request, memory: object = None) -> Any:
        if request.maximizer is None:
            raise AttributeError("'NoneType' object has no attribute 'maximize'")
        return super().choose(request)


class TrustsTheMaximizer(Maximizing):
    def point(self, request: Request, trial: int, avoid: Array) -> Array:
        return self.found(request, trial, avoid)


# Words


def saying(said: Any) -> type[Honest]:
    class Saying(Honest):
        def choose(self, request: Request, memory: object = None) -> Any:
            return answer(drawn(request), said)

    return Saying


# Situations that were not thought of


class WantsTwo(Honest):
    def choose(self, request: Request, memory: object = None) -> Any:
        np.partition(request.data.y, 1)
        return super().choose(request)


class DividesByTheRange(Honest):
    def choose(self, request: Request, memory: object = None) -> Any:
        if len(request.data.y) > 1 and not 1.0 / float(np.ptp(request.data.y)) < np.inf:
            raise ValueError("not finite")
        return super().choose(request)


class Inverts(Honest):
    def choose(self, request: Request, memory: object = None) -> Any:
        if len(np.unique(request.data.X, axis=0)) < len(request.data.X):
            raise np.linalg.LinAlgError("Singular matrix")
        return super().choose(request)


class HasAThreshold(Honest):
    def choose(self, request: Request, memory: object = None) -> Any:
        return answer(drawn(request, "high" if np.ptp(request.data.y) > 1e3 else "low"))


class LooksAtSmallNumbers(Honest):
    def choose(self, request: Request, memory: object = None) -> Any:
        return answer(drawn(request, "flat" if np.ptp(request.data.y) < 1e-9 else "steep"))


class TurnsTheSign(Honest):
    def choose(self, request: Request, memory: object = None) -> Any:
        return answer(drawn(request, f"{np.argmin(request.sign * request.data.y)}"))


class ExpectsInterpolation(Honest):
    def choose(self, request: Request, memory: object = None) -> Any:
        if isinstance(request.model, Smoothing) and request.model.is_noisy:
            raise RuntimeError("the mean misses the data")
        return super().choose(request)


class KnowsNoFailures(Honest):
    def choose(self, request: Request, memory: object = None) -> Any:
        if len(request.avoid) > len(request.data.X) + len(request.pending.X):
            raise RuntimeError("where do these points come from?")
        return super().choose(request)


class ClimbsAnything(Honest):
    def choose(self, request: Request, memory: object = None) -> Any:
        model: Any = request.model
        model.predict_with_gradient(request.data.X)
        return super().choose(request)


class ConditionsAnything(Honest):
    def choose(self, request: Request, memory: object = None) -> Any:
        model: Any = request.model
        model.condition(Data(request.data.X[:1], request.data.y[:1]))
        return super().choose(request)


class Curt(Honest):
    def choose(self, request: Request, memory: object = None) -> Any:
        if not callable(getattr(request.model, "joint", None)):
            raise MissingCapability("GP-BUCB cannot work with this model.")
        return super().choose(request)


# Strategies that are no values


class OwnGenerator(Honest):
    def choose(self, request: Request, memory: object = None) -> Any:
        rng = np.random.default_rng()
        return super().choose(replace(request, randomness=lambda trial, purpose: rng))


@dataclass(frozen=True)
class Counts(Honest):
    calls: list[int] = field(default_factory=list)

    def choose(self, request: Request, memory: object = None) -> Any:
        self.calls.append(0)
        return answer(drawn(request, f"call {len(self.calls)}"))


@dataclass(frozen=True)
class CountsAloud(Honest):
    calls: list[int] = field(default_factory=list)

    def choose(self, request: Request, memory: object = None) -> Any:
        self.calls.append(0)
        return answer(drawn(request), f"drawn by call {len(self.calls)}")


@dataclass(frozen=True)
class CountsInSilence(Honest):
    calls: list[int] = field(default_factory=list)

    def choose(self, request: Request, memory: object = None) -> Any:
        self.calls.append(0)
        return super().choose(request)


def writing(array: Places) -> type[Honest]:
    class Writes(Honest):
        def choose(self, request: Request, memory: object = None) -> Any:
            chosen = super().choose(request)
            if array(request).flags.writeable:
                array(request)[:1] = 0.5
            return chosen

    return Writes


class ChangesTheModel(Honest):
    def choose(self, request: Request, memory: object = None) -> Any:
        if type(request.model).__name__ == "FakeModel":
            object.__setattr__(request.model, "scale", 7.0)
        return super().choose(request)


@dataclass(frozen=True, eq=False)
class Seen:
    """The memory of those below."""

    model: Model
    trial: int


class Remembers(Honest):
    """Honest: what it draws depends on the model, and its memory changes nothing."""

    def choose(self, request: Request, memory: object = None) -> Any:
        now = Seen(request.model, request.ids[0])
        seen = self.recalled(memory, now) if isinstance(memory, Seen) else now
        at = seen.model.predict(np.outer((0.2, 0.5, 0.8), np.ones(request.region.dim)))
        slope = (at.mean[0] - at.mean[1]) / at.std[2]
        return Chosen(answer(drawn(request, f"{slope:.3g} {seen.trial - request.ids[0]}")).choices, now)

    def recalled(self, memory: Seen, now: Seen) -> Seen:
        return now


class RemembersTheModel(Remembers):
    """Right as long as no result comes in."""

    def recalled(self, memory: Seen, now: Seen) -> Seen:
        return Seen(memory.model, now.trial)


class RemembersTheTrial(Remembers):
    def recalled(self, memory: Seen, now: Seen) -> Seen:
        return memory


class TakesAnyMemory(Remembers):
    def choose(self, request: Request, memory: Any = None) -> Any:
        if memory is not None and memory.trial > request.ids[0]:
            raise ValueError("a memory of the future")
        return super().choose(request)


@dataclass(frozen=True)
class HoldsALambda(Honest):
    setting: Callable[[], float] = field(default_factory=lambda: lambda: 0.0)


class AsATuple(NamedTuple):
    """Honest, and no dataclass."""

    setting: float = 1.0

    def choose(self, request: Request, memory: object = None) -> Chosen:
        return answer(drawn(request))


@dataclass
class CanBeSet:
    setting: float = 1.0

    def choose(self, request: Request, memory: object = None) -> Chosen:
        return answer(drawn(request))


class PlainClass:
    def __init__(self) -> None:
        self.setting = 1.0

    def choose(self, request: Request, memory: object = None) -> Chosen:
        return answer(drawn(request))


class Slotted:
    __slots__ = ("setting",)

    def __init__(self) -> None:
        self.setting = 1.0

    def choose(self, request: Request, memory: object = None) -> Chosen:
        return answer(drawn(request))


@dataclass(frozen=True, eq=False)
class EqualsItselfAlone:
    setting: float = 1.0

    def choose(self, request: Request, memory: object = None) -> Chosen:
        return answer(drawn(request))


# Strategies that fail only at work


class FailsAtSix(Honest):
    """A study of the contract has trial 6 pending, and one that failed, when it asks for the second time."""

    def choose(self, request: Request, memory: object = None) -> Any:
        if request.pending.ids == (6,) and request.failed is not None:
            raise RuntimeError("six is pending")
        return super().choose(request)


class CountsForAll(Honest):
    """Remembers outside of itself how often it was called."""

    calls: ClassVar[list[int]] = []

    def choose(self, request: Request, memory: object = None) -> Any:
        self.calls.append(0)
        return answer(drawn(request, f"call {len(self.calls)}"))


class DrawsTogether(Honest):
    def choose(self, request: Request, memory: object = None) -> Any:
        rng = request.randomness(request.ids[0], "random")
        return super().choose(replace(request, randomness=lambda trial, purpose: rng))


class SortsItsBatch(Honest):
    def choose(self, request: Request, memory: object = None) -> Any:
        X = drawn(request)
        return answer(X[np.argsort(X[:, 0])])


COUNT = "a batch has one finite point for each trial"
INSIDE = "points lie in the box and on its grids"
NEW = "points are new"
WORDS = "every choice says in words how it came about"
UNITS = "the units of y do not change the points"
ABILITY = "a model that lacks an ability is used or refused in words"
SAME = "the same request gives the same points bit for bit"
LEFT = "a request is left as it was"
MEMORY = "memory of an earlier call changes nothing"
EQUAL = "a strategy equals its copy before and after a call"
ONE_BY_ONE = "points asked for one by one are those asked for at once"

BROKEN: list[tuple[str, Strategy]] = [
    *((COUNT, kind()) for kind in (OneTooFew, OneTooMany, PointsAlone, ListOfChoices, Rows, NotFinite, Halves)),
    *((SAME, kind()) for kind in (OwnGenerator, Counts, CountsAloud)),
    *((INSIDE, kind()) for kind in (BeyondTheBox, OffTheGrid, BetweenIntegers, ForgetsHeld)),
    ("points satisfy the constraint", IgnoresTheConstraint()),
    (NEW, again(lambda request: request.pending.X)()),
    (NEW, again(lambda request: request.data.X)()),
    (NEW, RepeatsItself()),
    (NEW, FailsAtTwelve()),
    ("a finite space is used to its last point", NeverLooks()),
    ("a strategy answers if repeats are allowed", InsistsOnNew()),
    ("without a maximizer the strategy finds one", WantsAMaximizer()),
    ("a maximizer that repeats itself does not make points repeat", TrustsTheMaximizer()),
    *((WORDS, saying(said)()) for said in (None, "", " ", "drawn\nat random", f"drawn by {object()!r}")),
    ("one result is enough", WantsTwo()),
    ("constant values are no trouble", DividesByTheRange()),
    ("repeated points are no trouble", Inverts()),
    (UNITS, HasAThreshold()),
    (UNITS, LooksAtSmallNumbers()),
    ("the direction does not change the points", TurnsTheSign()),
    ("noisy results are no trouble", ExpectsInterpolation()),
    ("failed trials are no trouble", KnowsNoFailures()),
    *((ABILITY, kind()) for kind in (ClimbsAnything, ConditionsAnything, Curt)),
    (LEFT, writing(lambda request: request.avoid)()),
    (LEFT, writing(lambda request: request.data.X)()),
    (LEFT, writing(lambda request: request.data.y)()),
    (LEFT, writing(lambda request: request.pending.X)()),
    (MEMORY, RemembersTheModel()),
    (MEMORY, RemembersTheTrial()),
    ("memory of others is ignored", TakesAnyMemory()),
    ("a strategy survives pickling", HoldsALambda()),
    *(("settings cannot be changed", kind()) for kind in (CanBeSet, PlainClass, Slotted)),
    (EQUAL, EqualsItselfAlone()),
    (EQUAL, CountsInSilence()),
    ("a study gets distinct points of its space the same for the same seed", FailsAtSix()),
    (ONE_BY_ONE, DrawsTogether()),
    (ONE_BY_ONE, SortsItsBatch()),
]

# What breaks these, one of the laws above sees first.
BROKEN_ELSEWHERE: list[tuple[str, Strategy]] = [
    ("with the strategy a study goes on from its journal", CountsForAll()),
    ("every ask of a journal can be replayed", CountsForAll()),
]


def name_of(value: object) -> str:
    return "" if isinstance(value, str) else type(value).__name__


@each(("law", "strategy"), BROKEN, ids=name_of)
def test_a_broken_strategy_is_caught_by_the_law_that_it_breaks_and_by_none_before(law: str, strategy: Strategy) -> None:
    # The Gaussian process can do all that is asked of a model; other laws do not need it, and are quicker without.
    with pytest.raises(ContractBroken) as caught:
        check_strategy(strategy, None if law == ABILITY else FakeSurrogate(), one_at_a_time=True)
    assert caught.value.law == law


@pytest.mark.parametrize(("law", "strategy"), BROKEN_ELSEWHERE, ids=name_of)
def test_a_broken_strategy_is_caught_by_the_law_that_it_breaks(law: str, strategy: Strategy) -> None:
    (check,) = (check for check in strategy_checks(strategy, FakeSurrogate()) if str(check) == law)
    with pytest.raises(ContractBroken) as caught:
        check()
    assert caught.value.law == law


def test_a_strategy_that_changes_the_model_is_caught() -> None:
    with pytest.raises(ContractBroken, match="was changed by choose") as caught:
        check_strategy(ChangesTheModel(), FakeSurrogate())
    assert caught.value.law == LEFT


def test_every_law_has_a_strategy_that_breaks_it() -> None:
    assert {law for law, _ in (*BROKEN, *BROKEN_ELSEWHERE)} == {law.text for law in (*STRATEGY_LAWS, *ONE_AT_A_TIME)}


@pytest.mark.parametrize("surrogate", [None, FakeSurrogate()], ids=name_of)
@pytest.mark.parametrize("honest", [Honest(), Maximizing(), Remembers(), AsATuple()], ids=name_of)
def test_what_the_broken_ones_are_made_from_keeps_the_contract(honest: Strategy, surrogate: Surrogate | None) -> None:
    check_strategy(honest, surrogate, one_at_a_time=True)
