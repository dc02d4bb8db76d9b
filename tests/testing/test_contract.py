from __future__ import annotations

import pickle
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from each import each
from waiting import PATIENCE

from believer import GP
from believer.acquisitions import UCB, Acquisition
from believer.arrays import Array
from believer.batch import Chosen, RandomBatch, Request
from believer.errors import BelieverError, InvalidInput, MissingExtra
from believer.surrogates.data import Data
from believer.surrogates.protocols import Model, Prediction, Surrogate
from believer.testing import (
    LAWS,
    ONE_AT_A_TIME,
    OUTPUT_LAWS,
    STRATEGY_LAWS,
    ContractBroken,
    FakeModel,
    FakeSurrogate,
    Summary,
    check_strategy,
    check_surrogate,
    strategy_checks,
    surrogate_checks,
)
from believer.testing.contract import Law


@dataclass(frozen=True)
class Certain:
    """Always sure."""

    mean: float

    def predict(self, X: Array) -> Prediction:
        return Prediction(np.full(len(X), self.mean), np.zeros(len(X)))


@dataclass(frozen=True)
class SureOfItself:
    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> Certain:
        y = data.y
        return Certain(float(y.mean()))


@dataclass(frozen=True)
class Uninstalled:
    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> Model:
        raise MissingExtra("scikit-learn", "surrogates")


@dataclass(frozen=True)
class CannotFit:
    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> Model:
        raise RuntimeError("no fit today")


@each("check", surrogate_checks(FakeSurrogate()), ids=str)
def test_the_fake_keeps_the_contract(check: Any) -> None:
    check()


def test_the_summary_lists_every_law_once_as_passed_or_as_not_applicable() -> None:
    summary = check_surrogate(FakeSurrogate())
    apart = [text for text, _ in summary.not_applicable]
    assert sorted([*summary.passed, *apart]) == sorted(law.text for law in LAWS)
    assert "the mean moves toward a lie" in summary.passed
    assert ("gradients are the slopes of predict", "Differentiable") in summary.not_applicable
    assert ("with fixed draws the generator does not matter", "Stochastic") in summary.not_applicable


def test_the_summary_says_what_was_not_checked_and_for_want_of_what() -> None:
    text = str(Summary("Mine", ("a law",), (("another law", "Joint"),)))
    assert text == (
        "Mine keeps the contract: 1 laws checked.\n  kept: a law\n  not applicable, for it is not Joint: another law"
    )


def test_only_laws_of_capabilities_that_are_there_are_listed() -> None:
    fake, gp = ({str(check) for check in surrogate_checks(surrogate)} for surrogate in (FakeSurrogate(), GP()))
    assert fake < gp
    assert "a description is plain json" in gp - fake
    assert "a covariance is symmetric" in gp - fake


@pytest.mark.parametrize("laws", [LAWS, (*STRATEGY_LAWS, *ONE_AT_A_TIME)], ids=["surrogates", "strategies"])
def test_laws_have_different_names(laws: tuple[Law, ...]) -> None:
    texts = [law.text for law in laws]
    assert len(set(texts)) == len(texts)


def test_a_broken_law_is_an_assertion_that_says_the_law_what_was_seen_and_what_to_do() -> None:
    with pytest.raises(ContractBroken) as caught:
        check_surrogate(SureOfItself())
    broken = caught.value
    assert isinstance(broken, AssertionError)
    assert isinstance(broken, BelieverError)
    assert broken.law == "the std is above zero"
    lines = str(broken).splitlines()
    assert lines[0] == "SureOfItself breaks the contract."
    assert lines[1] == "law:   the std is above zero"
    assert lines[2].startswith("seen:  Certain's std must be above zero everywhere; got 0.0 at 1 of 1 points")
    assert lines[3].startswith("to do: Floor the std")


def test_a_broken_law_survives_pickling() -> None:
    broken = ContractBroken("Mine", "a law", "this", "do that")
    again = pickle.loads(pickle.dumps(broken))
    assert str(again) == str(broken)
    assert again.law == "a law"


def test_a_fit_that_raises_breaks_the_first_law_with_its_own_words_and_cause() -> None:
    with pytest.raises(ContractBroken, match="RuntimeError: no fit today") as caught:
        check_surrogate(CannotFit())
    assert caught.value.law == LAWS[0].text
    assert isinstance(caught.value.__cause__, RuntimeError)
    with pytest.raises(ContractBroken):
        surrogate_checks(CannotFit())[0]()


def test_a_missing_package_is_not_a_broken_law() -> None:
    with pytest.raises(MissingExtra):
        surrogate_checks(Uninstalled())
    with pytest.raises(MissingExtra):
        check_surrogate(Uninstalled())


@pytest.mark.parametrize("passed", [FakeSurrogate, FakeModel, object(), None, "gp"])
def test_what_is_no_surrogate_is_refused(passed: Any) -> None:
    with pytest.raises(InvalidInput, match="an object with a method fit"):
        check_surrogate(passed)
    with pytest.raises(InvalidInput, match="an object with a method fit"):
        surrogate_checks(passed)


def test_the_suite_needs_neither_pytest_nor_scikit_learn() -> None:
    code = (
        "import sys; sys.modules['pytest'] = sys.modules['sklearn'] = sys.modules['hypothesis'] = None\n"
        "from believer.testing import FakeSurrogate, check_strategy, check_surrogate\n"
        "print(check_surrogate(FakeSurrogate()))\n"
        "print(check_strategy('random'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("FakeSurrogate keeps the contract: ")
    assert "RandomBatch keeps the contract: " in done.stdout


# Strategies


@dataclass(frozen=True)
class Spy:
    """Wants a certain surrogate and acquisition."""

    surrogate: str
    acquisition: str

    def choose(self, request: Request, memory: object = None) -> Chosen:
        if type(request.model).__name__ != self.surrogate:
            raise RuntimeError(f"not {self.surrogate}")
        if type(request.acquisition).__name__ != self.acquisition:
            raise RuntimeError(f"not {self.acquisition}")
        return RandomBatch().choose(request)


@dataclass(frozen=True)
class Clumsy:
    def choose(self, request: Request, memory: object = None) -> Chosen:
        return Chosen(())


@dataclass(frozen=True)
class UninstalledStrategy:
    def choose(self, request: Request, memory: object = None) -> Chosen:
        raise MissingExtra("torch", "botorch")


def test_the_summary_of_a_strategy_lists_every_law_once() -> None:
    promising = check_strategy(RandomBatch(), FakeSurrogate(), one_at_a_time=True)
    assert promising.passed == tuple(law.text for law in (*STRATEGY_LAWS, *OUTPUT_LAWS, *ONE_AT_A_TIME))
    assert promising.not_applicable == ()
    plain = check_strategy("random", FakeSurrogate())
    assert plain.passed == tuple(law.text for law in (*STRATEGY_LAWS, *OUTPUT_LAWS))
    assert [text for text, _ in plain.not_applicable] == [law.text for law in ONE_AT_A_TIME]
    assert str(plain).splitlines()[-1].startswith("  not applicable, for it is not said to choose one at a time: ")


def test_each_check_of_a_strategy_is_a_law_and_one_more_when_it_promises_more() -> None:
    texts = [str(check) for check in strategy_checks("kb")]
    assert texts == [law.text for law in (*STRATEGY_LAWS, *OUTPUT_LAWS)]
    assert len(strategy_checks("kb", one_at_a_time=True)) == len(texts) + len(ONE_AT_A_TIME)


@pytest.mark.parametrize(
    ("spy", "surrogate", "acquisition"),
    [
        (Spy("GPModel", "LogEI"), None, None),
        (Spy("FakeModel", "LogEI"), FakeSurrogate(), None),
        (Spy("GPModel", "UCB"), None, UCB()),
    ],
)
def test_a_strategy_is_tried_with_the_surrogate_and_the_acquisition_that_are_passed(
    spy: Spy, surrogate: Surrogate | None, acquisition: Acquisition | None
) -> None:
    for law in ("points are new", "one result is enough", "every ask of a journal can be replayed"):
        (check,) = (found for found in strategy_checks(spy, surrogate, acquisition) if str(found) == law)
        check()


def test_a_strategy_that_breaks_a_law_is_named_with_it() -> None:
    with pytest.raises(ContractBroken) as caught:
        check_strategy(Clumsy())
    assert str(caught.value).splitlines() == [
        "Clumsy breaks the contract.",
        "law:   a batch has one finite point for each trial",
        "seen:  1 points were asked for, 0 were chosen.",
        f"to do: {STRATEGY_LAWS[0].remedy}",
    ]


def test_a_package_that_a_strategy_misses_is_not_a_broken_law() -> None:
    with pytest.raises(MissingExtra):
        check_strategy(UninstalledStrategy())


@pytest.mark.parametrize("passed", [RandomBatch, object(), None, "no such strategy"])
def test_what_is_no_strategy_is_refused(passed: Any) -> None:
    with pytest.raises(InvalidInput, match="strategy must"):
        check_strategy(passed)
    with pytest.raises(InvalidInput, match="strategy must"):
        strategy_checks(passed)


def test_what_is_no_surrogate_is_refused_for_a_strategy_too() -> None:
    with pytest.raises(InvalidInput, match="an object with a method fit"):
        strategy_checks("kb", surrogate=GP)  # type: ignore[arg-type]
