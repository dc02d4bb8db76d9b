"""Cells on the propositions are deterministic, plain, and measure what their docstrings say."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from believer.errors import InvalidInput
from believer.experiments import Cell
from believer.experiments.plain import encode
from believer_paper import theory as propositions
from believer_paper.cells.propositions import LARGE_NOISE, SMALL_NOISE, TOPICS, theory


def fresh(topic: str, seed: int = 0) -> dict[str, Any]:
    return theory(Cell("theory", {"topic": topic}, seed))


@cache
def result(topic: str, seed: int = 0) -> dict[str, Any]:
    return fresh(topic, seed)


@pytest.mark.parametrize("topic", sorted(TOPICS))
def test_a_topic_gives_the_same_plain_result_every_time(topic: str) -> None:
    first = result(topic)
    assert encode(first, "a result") == encode(fresh(topic), "a result")
    if TOPICS[topic] > 1:
        assert result(topic, 1) != first


def test_an_unknown_topic_is_refused() -> None:
    with pytest.raises(InvalidInput, match="topic must be one of steps"):
        result("nothing")


def test_steps_cover_every_class_of_prop_1() -> None:
    cases = result("steps")["cases"]
    classes = {(case["acquisition"], case["incumbent"], case["lie"], case["noise"]) for case in cases}
    assert len(classes) == len(cases) == 40
    for case in cases:
        assert 0 <= case["at_ends"] <= case["repeats"] <= case["tries"] == len(case["gaps"])
        assert case["repeats"] == sum(gap == 0.0 for gap in case["gaps"])
        assert case["noise"] in (SMALL_NOISE, LARGE_NOISE)


def test_believing_lowers_ei_and_ucb_in_every_situation() -> None:
    believed = [case for case in result("steps", 1)["cases"] if case["lie"] == "kb" and case["acquisition"] != "pi"]
    assert all(case["drops"] == case["tries"] for case in believed)


def test_named_counterexamples_stand_with_noise() -> None:
    found = result("counterexamples")
    assert all(one["noise"] > 0.0 for one in found.values())
    assert found["box_end"]["repeated"]
    assert not found["box_end"]["rises"]
    assert found["pulled_down"]["rises"]
    assert 0.0 < found["suppressed_but_close"]["gap"] < 0.05


def test_radii_keep_the_bound_that_is_proven() -> None:
    radii = result("radius")["radii"]
    assert {one["columns"] for one in radii} == {1, 2}
    for one in radii:
        assert one["guaranteed"] <= one["exact"] + 1e-6
        assert one["printed"] == pytest.approx(propositions.printed_radius(one["kappa"], 0.5))


def test_only_pi_falls_with_std_and_only_below_the_incumbent() -> None:
    found = result("monotone")
    assert found["ei"]["falls"] == found["ucb"]["falls"] == 0
    assert found["pi"]["falls_below"] == found["pi"]["falls"] > 0.3 * found["pi"]["tries"]


def test_conditioning_alone_leaves_the_mean() -> None:
    shifts = result("believing")["shifts"]
    assert shifts["condition"] < 1e-9 < 1e-4 < min(shifts["restandardize"], shifts["refit"])


def test_the_power_form_alone_has_a_radicand_that_is_not_negative() -> None:
    found = result("power")
    assert found["power"]["negative"] == 0
    assert found["exact"]["negative"] == found["exact"]["points"]
    assert found["exact"]["at_lie"] < 1e-3


def test_penalties_follow_the_exact_formula() -> None:
    found = result("penalty")
    z, rho, psi = (np.array(found[name]) for name in ("z", "std_ratio", "exact"))
    assert len(z) > 10
    assert (rho <= 0.99).all()
    np.testing.assert_allclose(psi, propositions.improvement_ratio(z, rho), rtol=1e-4)


def test_the_mean_term_has_the_sign_of_the_lie() -> None:
    found = result("expansion")
    assert max(abs(term) for term in found["mean_term"]["kb"]) < 1e-9
    assert all(term < 0.0 for term in found["mean_term"]["cl_max"])
    assert all(term < 0.0 for terms in found["variance_term"].values() for term in terms)
    assert max(found["error"]) < 0.1


def test_half_the_log_determinant_is_the_log_of_the_std_ratio() -> None:
    found = result("log_penalty")
    np.testing.assert_allclose(found["determinant"], found["std"], rtol=1e-3)


def test_lies_leave_the_same_std_and_not_the_same_choice() -> None:
    found = result("geometry")
    assert max(gap for gaps in found["std_gap"].values() for gap in gaps) < 1e-6
    assert max(found["next_gap"]["cl_max"]) > 0.1
    assert all(0.0 <= share <= 1.0 for shares in found["overlap"].values() for share in shares)
