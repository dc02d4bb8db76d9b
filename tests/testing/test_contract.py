from __future__ import annotations

import pickle
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from believer import GP
from believer.arrays import Array
from believer.errors import BelieverError, InvalidInput, MissingExtra
from believer.surrogates.protocols import Model, Prediction
from believer.testing import LAWS, ContractBroken, FakeModel, FakeSurrogate, Summary, check_surrogate, surrogate_checks


@dataclass(frozen=True)
class Certain:
    """Always sure."""

    mean: float

    def predict(self, X: Array) -> Prediction:
        return Prediction(np.full(len(X), self.mean), np.zeros(len(X)))


@dataclass(frozen=True)
class SureOfItself:
    def fit(self, X: Array, y: Array, rng: np.random.Generator, previous: Model | None = None) -> Certain:
        return Certain(float(y.mean()))


@dataclass(frozen=True)
class Uninstalled:
    def fit(self, X: Array, y: Array, rng: np.random.Generator, previous: Model | None = None) -> Model:
        raise MissingExtra("scikit-learn", "surrogates")


@dataclass(frozen=True)
class CannotFit:
    def fit(self, X: Array, y: Array, rng: np.random.Generator, previous: Model | None = None) -> Model:
        raise RuntimeError("no fit today")


@pytest.mark.parametrize("check", surrogate_checks(FakeSurrogate()), ids=str)
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


def test_laws_have_different_names() -> None:
    texts = [law.text for law in LAWS]
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
        "from believer.testing import FakeSurrogate, check_surrogate\n"
        "print(check_surrogate(FakeSurrogate()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("FakeSurrogate keeps the contract: ")
