from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache

import pytest
from test_surrogates import HERE

from believer.acquisitions import EI, PI, UCB, Acquisition, LogEI
from believer.batch import STRATEGIES, Believe, ConstantLie, PseudoObservations, Request, Strategy
from believer.batch.capability import ABILITIES, require
from believer.batch.dpp import DPP
from believer.batch.hallucination import GPBUCB
from believer.batch.joint import QEI
from believer.batch.lipschitz import LipschitzPenalization
from believer.batch.penalization import LocalPenalization
from believer.batch.schedules import TheoryBeta
from believer.errors import MissingCapability
from believer.surrogates import GP, LOADED_ON_USE
from believer.surrogates.protocols import Fantasizing, Joint, Sampling, Smoothing, Surrogate
from believer.testing import BareSurrogate, Check, ContractBroken, FakeSurrogate, strategy_checks, studies
from believer.testing.requests import Checked, request, require_answer, words
from believer.testing.scenes import fitted, scene

# One of each way to choose: the others compute what these compute.
MECHANISMS = (
    *("kb", "fantasies", "lp", "lp_lipschitz", "gp_bucb", "ucb_pe", "qei"),
    *("thompson", "dpp sample", "top_q", "trust_region"),
)
with_both_backends = pytest.mark.both_backends(*(f"{name}-" for name in MECHANISMS))


@dataclass(frozen=True)
class Variant:
    """A strategy, what it is tried with, whether it chooses one at a time, and the laws that it is known to break."""

    strategy: Strategy
    acquisition: Acquisition = field(default_factory=LogEI)
    surrogate: Surrogate = field(default_factory=GP)
    one_at_a_time: bool = True
    exempt: tuple[str, ...] = ()


ONE_BY_ONE = "points asked for one by one are those asked for at once"
UNITS = "the units of y do not change the points"
DIRECTION = "the direction does not change the points"

TOGETHER = {"qei", "dpp"}
"""Members of the library that choose all points of a batch at once."""

VARIANTS: dict[str, Variant] = {
    "kb refitting": Variant(PseudoObservations(Believe(), update="refit"), surrogate=FakeSurrogate()),
    "kb without update": Variant(PseudoObservations(Believe(), update="none"), surrogate=FakeSurrogate()),
    "kb of the paper": Variant(PseudoObservations(Believe(), update="condition", incumbent="data"), EI()),
    # The lie is in the user's units.
    "cl 20": Variant(PseudoObservations(ConstantLie(20.0)), exempt=(UNITS, DIRECTION)),
    "lp ucb": Variant(LocalPenalization(), UCB()),
    "lp mean pi": Variant(LocalPenalization(lengthscale="mean"), PI()),
    "lp radius": Variant(LocalPenalization(radius=0.2)),
    "lp_lipschitz ucb": Variant(LipschitzPenalization(), UCB()),
    "gp_bucb theory": Variant(GPBUCB(TheoryBeta())),
    "qei unsmoothed": Variant(QEI(samples=16, smoothing=None), EI(), one_at_a_time=False),
    "dpp sample": Variant(DPP(mode="sample"), one_at_a_time=False),
}

MEMBERS: dict[str, Variant] = {
    **{name: Variant(strategy, one_at_a_time=name not in TOGETHER) for name, strategy in STRATEGIES.items()},
    **VARIANTS,
}


def checks(member: Variant) -> tuple[Check, ...]:
    return strategy_checks(member.strategy, member.surrogate, member.acquisition, one_at_a_time=member.one_at_a_time)


def is_of_a_study(check: Check) -> bool:
    """Whether the law looks at a whole study, which the backends carry alike, and not at one request."""
    return check.law.holds.__module__ == studies.__name__


@with_both_backends
@pytest.mark.parametrize("name", MEMBERS)
def test_every_strategy_keeps_the_contract(name: str) -> None:
    bound = [check for check in checks(MEMBERS[name]) if not is_of_a_study(check)]
    assert len(bound) > 20
    for check in bound:
        if str(check) not in MEMBERS[name].exempt:
            check()


@pytest.mark.both_backends("kb-", "thompson-")
@pytest.mark.parametrize("name", MEMBERS)
def test_every_strategy_keeps_the_contract_in_a_study(name: str) -> None:
    bound = [check for check in checks(MEMBERS[name]) if is_of_a_study(check)]
    assert len(bound) == 3
    for check in bound:
        check()


def test_a_strategy_that_is_exempt_from_a_law_does_break_it() -> None:
    exempt = [(name, law) for name, member in MEMBERS.items() for law in member.exempt]
    assert exempt
    for name, law in exempt:
        (check,) = [check for check in checks(MEMBERS[name]) if str(check) == law]
        with pytest.raises(ContractBroken):
            check()


@pytest.mark.parametrize("name", [name for name, member in MEMBERS.items() if not member.one_at_a_time])
def test_strategies_that_choose_together_choose_otherwise_one_by_one(name: str) -> None:
    member = MEMBERS[name]
    found = strategy_checks(member.strategy, member.surrogate, member.acquisition, one_at_a_time=True)
    with pytest.raises(ContractBroken) as caught:
        found[-1]()
    assert caught.value.law == ONE_BY_ONE


ALIKE = {"gp matern32", "gp se", "sklearn ridge", "sklearn gp"}
"""One kernel, or one estimator in the adapter, is as able as another."""

SURROGATES = [name for name in HERE if name not in ALIKE]


@cache
def asked_with(surrogate: str) -> Request:
    return request(Checked(STRATEGIES["random"], HERE[surrogate].make(), LogEI()), q=2, pending=1)


def refusal(member: Variant, surrogate: str) -> str | None:
    """What the strategy says of a surrogate that it cannot work with; None if it chooses two new points with it."""
    try:
        require_answer(member.strategy, replace(asked_with(surrogate), acquisition=member.acquisition))
    except MissingCapability as error:
        return str(error)
    return None


@pytest.mark.parametrize("name", [*STRATEGIES, "lp radius", "kb of the paper"])
def test_a_strategy_works_with_a_surrogate_or_names_one_that_it_works_with(name: str) -> None:
    refusals = {surrogate: refusal(MEMBERS[name], surrogate) for surrogate in SURROGATES}
    works = {type(HERE[key].make()).__name__ for key, said in refusals.items() if said is None}
    assert "GP" in works
    for surrogate, said in refusals.items():
        assert said is None or works & words(said), f"{surrogate}: {said}"


def test_the_surrogates_named_for_an_ability_are_those_that_have_it() -> None:
    pytest.importorskip("sklearn")
    pytest.importorskip("torch")
    models = [(type(recipe).__name__, fitted(recipe, scene())) for recipe in (m.make() for m in HERE.values())]
    library = {"GP", *LOADED_ON_USE}
    for ability, (_, named) in ABILITIES.items():
        assert words(named) == {name for name, model in models if isinstance(model, ability)} & library, ability


def test_the_strategies_said_to_work_with_any_surrogate_do() -> None:
    bare = Checked(STRATEGIES["random"], BareSurrogate(), LogEI())
    asked = request(bare)
    with pytest.raises(MissingCapability) as caught:
        require(asked.model, Joint, "this")
    names = str(caught.value).split("any surrogate: ")[1].removesuffix(".").split(", ")
    assert len(names) > 3
    for name in names:
        require_answer(STRATEGIES[name], asked)


def test_an_author_may_require_what_this_library_has_no_words_for() -> None:
    model = request(Checked(STRATEGIES["random"], BareSurrogate(), LogEI())).model
    for capability in (Sampling, Fantasizing, Smoothing):
        with pytest.raises(MissingCapability, match=f"Mine needs a model that is {capability.__name__}; BareModel is"):
            require(model, capability, "Mine")
