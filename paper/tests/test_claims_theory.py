"""Verdicts on theory, batches and steps follow from the cells: each claim holds, holds in part and fails on some."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from believer.errors import InvalidInput
from believer.experiments import Cell, FinishedCell
from believer_paper.ledger.claim import Claim, Finding, Share, not_run
from believer_paper.ledger.theory import CLAIMS
from believer_paper.numbers.printed import SUPPRESSION_RADIUS
from believer_paper.results import Results

CLAIM = {claim.number: claim for claim in CLAIMS}
LIES = ("kb", "cl_min", "cl_mean", "cl_max")
SEEDS = range(20)

Made = dict[str, Callable[[], Results]]


def theory(topic: str, result: dict[str, Any], seeds: range = SEEDS) -> list[FinishedCell]:
    return [FinishedCell(Cell("theory", {"topic": topic}, seed), result, {}) for seed in seeds]


def together(*cells: list[FinishedCell]) -> Results:
    return Results(tuple(one for some in cells for one in some))


def steps(changed: Callable[[dict[str, Any]], dict[str, Any]] = lambda case: {}) -> list[FinishedCell]:
    """Situations without any fault, but for what ``changed`` says of a class."""
    kinds = (("ei", "data"), ("ei", "believed"), ("ucb", "data"), ("pi", "data"))
    cases = []
    for (acquisition, incumbent), lie, noise in product(kinds, LIES, (1e-6, 1.0)):
        case: dict[str, Any] = {"acquisition": acquisition, "incumbent": incumbent, "lie": lie, "noise": noise}
        case |= {"tries": 10, "drops": 10, "repeats": 0, "at_ends": 0, "gaps": [2.0] * 10}
        cases.append({**case, **changed(case)})
    return theory("steps", {"cases": cases})


def named(*repeated: str) -> list[FinishedCell]:
    names = ("box_end", "symmetric_valley", "large_noise", "corner")
    return theory("counterexamples", {name: {"repeated": name in repeated} for name in names}, range(1))


def power(negative: int, at_lie: float, rises: int = 0, close: int = 200, rank: float = 1.0) -> Results:
    """R as printed; ``at_lie`` is what its ridge leaves, 0.06 what it leaves of the power function."""
    sound = {"points": 200, "negative": 0, "rises": 0, "at_lie": 0.06}
    printed = {**sound, "negative": negative, "rises": rises, "at_lie": at_lie}
    forms = {"printed": printed, "exact": {**sound, "at_lie": 0.0}}
    return together(theory("power", {**forms, "power": sound, "shape": {"close": close, "rank": rank}}))


def radii(*exact: float) -> Results:
    """One radius for each class, printed as 1."""
    classes = product((0.99, 0.9, 0.5), (1, 2))
    made = [
        {"columns": columns, "kappa": kappa, "printed": 1.0, "exact": radius, "guaranteed": 0.1}
        for (kappa, columns), radius in zip(classes, exact, strict=True)
    ]
    return together(theory("radius", {"radii": made}))


def monotone(**falls: int) -> Results:
    made = {name: {"tries": 200, "falls": falls.get(name, 0), "falls_below": 0} for name in ("ei", "ucb", "pi")}
    return together(theory("monotone", made))


def believing(condition: float, restandardize: float, refit: float) -> Results:
    ways = {"condition": condition, "restandardize": restandardize, "refit": refit}
    return together(theory("believing", {"shifts": ways, "rises": ways}))


def penalty(below: float, zero: float) -> Results:
    """ψ over ρ = 0.8 at z = -2 and at z = 0."""
    made = {"z": [-2.0, 0.0], "std_ratio": [0.8, 0.8], "exact": [0.8 * below, 0.8 * zero], "printed": [None, 0.7]}
    return together(theory("penalty", made))


def expansion(error: float, cl_min: float, cl_max: float) -> Results:
    terms = {"kb": [0.0], "cl_min": [cl_min], "cl_mean": [0.1], "cl_max": [cl_max]}
    return together(theory("expansion", {"mean_term": terms, "variance_term": terms, "error": [error]}))


def log_penalty(printed: float, improvement: float, rank: float) -> Results:
    made = {"printed": [printed], "std": [-0.5], "improvement": [improvement], "determinant": [-0.5], "ranks": [rank]}
    return together(theory("log_penalty", made))


def geometry(cl_min: float, fantasy: float, next_gap: float) -> Results:
    """How far σ' is from that after KB under either lie, and the next point under both."""
    made = {"std_gap": (cl_min, fantasy), "overlap": (0.9, 0.9), "next_gap": (next_gap, next_gap)}
    result = {what: {"cl_min": [one], "fantasy": [other]} for what, (one, other) in made.items()}
    return together(theory("geometry", result))


def batches(q: int, **by_strategy: dict[str, Any]) -> Results:
    """Batches that differ a little from seed to seed in distance and information."""
    usual = {"mean_distance": 0.5, "min_distance": 0.3, "min_lengthscales": 0.4, "random_pair": 1.0}
    cells = []
    for (strategy, changed), seed in product(by_strategy.items(), SEEDS):
        result = {**usual, "information": [5.0 * (k + 1) for k in range(q)], "joint_ei": [1.0] * q, **changed}
        result["information"] = [value + 1e-3 * seed for value in result["information"]]
        result["mean_distance"] *= 1.0 + 1e-3 * seed
        cells.append(FinishedCell(Cell("batch", {"preset": "ours", "q": q, "strategy": strategy}, seed), result, {}))
    return Results(tuple(cells))


def told(last: float) -> dict[str, Any]:
    return {"information": [last * (k + 1) / 10 for k in range(10)]}


def gains(of_five: float) -> Results:
    J = [of_five * (k + 1) / 5 for k in range(5)] + [of_five + (1.0 - of_five) * (k + 1) / 5 for k in range(5)]
    return batches(10, kb={"joint_ei": J}, cl_min={"joint_ei": J})


def scaling(exponent: float) -> Results:
    ns = [100, 200, 400, 800]
    seconds = [1e-3 * (n / 100) ** exponent for n in ns]
    return Results(
        tuple(
            FinishedCell(Cell("scaling", {"preset": "ours", "ns": ns}, seed), {"ns": ns, "seconds": seconds}, {})
            for seed in range(5)
        )
    )


def part(far: float, repeated: float, rises: float) -> dict[str, Any]:
    """The outermost bins are far off the rest, but hold next to nothing."""
    return {"bins": [1.0] * 4 + [far] * 6 + [1.0 - far, None], "repeated": repeated, "rises": rises}


COUNTS = [100] * 10 + [1, 0]


TIGHT, LOOSE = (0.01, 0.0, 0.0), (0.5, 0.5, 0.3)


def locality(gp: tuple[float, float, float], neural: tuple[float, float, float], preset: str = "ours") -> Results:
    cells = []
    for (surrogate, update, measured), seed in product((("gp", "condition", gp), ("neural", "refit", neural)), SEEDS):
        settings = {"preset": preset, "surrogate": surrogate, "update": update}
        result = {"counts": COUNTS, "mean": part(*measured), "std": part(*measured)}
        cells.append(FinishedCell(Cell("locality", settings, seed), result, {}))
    return Results(tuple(cells))


def is_own(case: dict[str, Any]) -> bool:
    return (case["acquisition"], case["incumbent"], case["noise"], case["lie"]) == ("ei", "data", 1e-6, "kb")


def where(rule: Callable[[dict[str, Any]], bool], **changed: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda case: changed if rule(case) else {}


LIKE_RANDOM = {"mean_distance": 0.9}
CASES: dict[int, Made] = {
    8: {
        "holds": lambda: power(0, 0.06),
        "holds in part": lambda: power(200, 0.06),
        "fails": lambda: power(200, 0.06, close=0),
    },
    10: {
        "holds": lambda: together(steps(), named()),
        "holds in part": lambda: together(steps(where(lambda c: c["noise"] == 1.0, repeats=1)), named()),
        "fails": lambda: together(steps(where(is_own, repeats=1)), named()),
    },
    11: {
        "holds": lambda: together(steps()),
        "holds in part": lambda: together(steps(where(is_own, drops=9))),
        "fails": lambda: together(steps(where(lambda c: c["lie"] != "kb", drops=9))),
    },
    12: {
        "holds": lambda: radii(*[1.0] * 6),
        "holds in part": lambda: radii(1.0, 0.9, 1.0, 0.9, 0.9, 0.9),
        "fails": lambda: radii(*[0.98] * 6),
    },
    13: {
        "holds": lambda: together(steps()),
        "holds in part": lambda: together(steps(where(lambda c: c["lie"] == "kb", gaps=[0.05] * 10))),
        "fails": lambda: together(steps(lambda c: {"gaps": [0.99 * SUPPRESSION_RADIUS] * 10})),
    },
    14: {
        "holds": monotone,
        "holds in part": lambda: monotone(pi=1),
        "fails": lambda: monotone(pi=1, ei=1, ucb=1),
    },
    15: {
        "holds": lambda: believing(1e-12, 1e-9, 1e-7),
        "holds in part": lambda: believing(1e-12, 0.01, 0.01),
        "fails": lambda: believing(1e-3, 0.01, 0.01),
    },
    16: {
        "holds": lambda: penalty(1.05, 1.0),
        "holds in part": lambda: penalty(0.3, 1.0),
        "fails": lambda: penalty(0.3, 1.2),
    },
    17: {
        "holds": lambda: expansion(0.01, -0.1, 0.1),
        "holds in part": lambda: expansion(0.01, 0.1, -0.1),
        "fails": lambda: expansion(0.5, 0.1, -0.1),
    },
    18: {
        "holds": lambda: log_penalty(-0.6, -0.6, 0.95),
        "holds in part": lambda: log_penalty(-0.3, -0.6, 0.95),
        "fails": lambda: log_penalty(-0.3, -0.6, 0.85),
    },
    19: {
        "true by algebra": lambda: geometry(0.0, 0.0, 1.0),
        "fails": lambda: geometry(0.0, 0.01, 0.0),
    },
    30: {
        "holds": lambda: batches(3, thompson={}, kb={}),
        "holds in part": lambda: batches(3, thompson={"mean_distance": 1.2}, kb={}),
        "fails": lambda: batches(3, thompson={"min_distance": 1e-4}, kb={}),
    },
    31: {
        "holds": lambda: batches(3, top_q={"mean_distance": 0.01}),
        "holds in part": lambda: batches(3, top_q={"mean_distance": 0.0495}),
        "fails": lambda: batches(3, top_q={"mean_distance": 0.2}),
    },
    32: {"holds": lambda: scaling(2.0), "holds in part": lambda: scaling(2.4), "fails": lambda: scaling(3.0)},
    33: {
        "holds": lambda: locality(TIGHT, LOOSE),
        "holds in part": lambda: locality(LOOSE, LOOSE),
        "fails": lambda: locality(LOOSE, TIGHT),
    },
    34: {"holds": lambda: gains(0.95), "holds in part": lambda: gains(0.7), "fails": lambda: gains(0.4)},
    35: {
        "holds": lambda: batches(10, kb=told(30.0), cl_min=told(30.0), top_q=told(50.0), random=LIKE_RANDOM),
        "holds in part": lambda: batches(10, kb=told(60.0), cl_min=told(30.0), top_q=told(50.0), random=LIKE_RANDOM),
        "fails": lambda: batches(10, kb=told(60.0), cl_min=told(60.0), top_q=told(50.0), random=LIKE_RANDOM),
    },
}


def finding(claim: Claim, results: Results) -> Finding:
    return claim.judge(results, "ours" if claim.per_preset else None)


def test_every_claim_of_the_module_has_cases_and_a_number_of_its_own() -> None:
    assert sorted(CASES) == sorted(CLAIM) == [claim.number for claim in CLAIMS]


@pytest.mark.parametrize(("number", "verdict"), [(n, verdict) for n, made in CASES.items() for verdict in made])
def test_a_verdict_follows_from_the_cells(number: int, verdict: str) -> None:
    found = finding(CLAIM[number], CASES[number][verdict]())
    assert found.verdict == verdict, found.evidence
    assert found.links
    assert any(character.isdigit() for character in found.evidence)
    assert not re.search(r"\b(nan|inf)\b", found.evidence)


@pytest.mark.parametrize("number", sorted(CASES))
def test_a_claim_without_its_cells_cannot_be_tested(number: int) -> None:
    found = finding(CLAIM[number], Results(()))
    assert found.verdict == "cannot be tested"
    assert "missing" in found.evidence


def test_sign_ridge_and_shape_of_the_power_function_are_judged_apart_and_algebra_is_not() -> None:
    for one in (power(0, 0.13), power(0, 0.02), power(0, 0.06, close=189), power(0, 0.06, rank=0.998)):
        assert finding(CLAIM[8], one).verdict == "holds in part"
    assert finding(CLAIM[8], power(0, 0.11, close=190, rank=0.999)).verdict == "holds"
    assert finding(CLAIM[8], power(200, 0.2)).verdict == "fails"
    assert finding(CLAIM[8], power(0, 0.06, rises=200)).verdict == "holds"


def test_the_identity_of_determinants_decides_nothing() -> None:
    assert "not counted" in finding(CLAIM[18], log_penalty(-0.3, -0.6, 0.85)).evidence
    assert finding(CLAIM[18], log_penalty(-0.6, -0.6, 0.85)).verdict == "holds in part"


def test_one_named_counterexample_of_the_papers_set_up_refutes_prop_1() -> None:
    assert finding(CLAIM[10], together(steps(), named("large_noise"))).verdict == "holds in part"
    for name in ("box_end", "symmetric_valley", "corner"):
        assert finding(CLAIM[10], together(steps(), named(name))).verdict == "fails"


def test_ucb_is_of_the_papers_set_up_and_an_incumbent_over_lies_is_not() -> None:
    ucb = where(lambda case: case["acquisition"] == "ucb" and case["noise"] == 1e-6, repeats=1)
    believed = where(lambda case: case["incumbent"] == "believed", repeats=1)
    assert finding(CLAIM[10], together(steps(ucb), named())).verdict == "fails"
    assert finding(CLAIM[10], together(steps(believed), named())).verdict == "holds in part"
    assert "as we read it" in CLAIM[10].test


def test_classes_of_separation_are_named_and_one_that_is_apart_is_part_of_the_claim() -> None:
    one = where(lambda case: not is_own(case), gaps=[0.05] * 10)
    found = finding(CLAIM[13], together(steps(one)))
    assert found.verdict == "holds in part"
    assert "1 of 12 classes: ei (f⁺ data) kb" in found.evidence


def test_far_bins_count_by_their_points() -> None:
    few, many = (locality(TIGHT, LOOSE) for _ in range(2))
    for one in many.finished:
        one.result["counts"] = [100] * 10 + [900, 0]
    assert "gp: local mean 20/20" in finding(CLAIM[33], few).evidence
    assert "gp: local mean 0/20" in finding(CLAIM[33], many).evidence


def test_pi_does_not_count_for_prop_1_nor_large_noise_for_separation() -> None:
    pi = where(lambda case: case["acquisition"] == "pi", repeats=10, gaps=[0.0] * 10)
    noisy = where(lambda case: case["noise"] == 1.0, gaps=[0.0] * 10)
    assert finding(CLAIM[10], together(steps(pi), named())).verdict == "holds"
    assert finding(CLAIM[13], together(steps(pi))).verdict == "holds"
    assert finding(CLAIM[13], together(steps(noisy))).verdict == "holds"


def test_batches_of_ten_are_told_beside_separation() -> None:
    both = Results((*together(steps()).finished, *batches(10, kb={"min_lengthscales": 0.25}).finished))
    assert "closest pair being 0.25 ℓ apart" in finding(CLAIM[13], both).evidence


def test_signs_of_both_lies_count_for_the_first_order() -> None:
    assert finding(CLAIM[17], expansion(0.01, -0.1, -0.1)).verdict == "holds in part"
    assert finding(CLAIM[17], expansion(0.01, 0.1, 0.1)).verdict == "holds in part"
    assert finding(CLAIM[17], expansion(0.5, -0.1, 0.1)).verdict == "holds in part"


def test_a_tie_in_information_decides_nothing() -> None:
    same = batches(10, kb=told(50.0), cl_min=told(50.0), top_q=told(50.0), random=told(50.0))
    assert finding(CLAIM[35], same).verdict == "holds in part"


def test_locality_is_judged_by_preset() -> None:
    results = Results((*locality(TIGHT, LOOSE).finished, *locality(LOOSE, TIGHT, "printed").finished))
    assert CLAIM[33].judge(results, "ours").verdict == "holds"
    assert CLAIM[33].judge(results, "printed").verdict == "fails"


def test_an_update_that_changed_nothing_is_no_evidence_on_locality() -> None:
    unchanged = {"bins": [None] * 12, "repeated": None, "rises": None}
    results = locality(TIGHT, LOOSE)
    still = tuple(
        FinishedCell(one.cell, {"counts": COUNTS, "mean": unchanged, "std": unchanged}, {})
        if one.cell.settings["surrogate"] == "neural"
        else one
        for one in results.finished
    )
    assert finding(CLAIM[33], Results(still)).verdict == "holds in part"


def test_only_pairs_on_the_same_designs_are_compared() -> None:
    one = batches(3, thompson={})
    elsewhere = tuple(
        FinishedCell(Cell("batch", dict(made.cell.settings), made.cell.seed + 100), made.result, {})
        for made in batches(3, kb={}).finished
    )
    assert finding(CLAIM[30], Results((*one.finished, *elsewhere))).verdict == "cannot be tested"


def test_a_finding_has_one_of_the_verdicts() -> None:
    with pytest.raises(InvalidInput, match="verdict must be one of holds, holds in part"):
        Finding("maybe", "", ())
    assert not_run("a thing").verdict == "cannot be tested"


def test_a_share_needs_situations_and_tells_its_interval() -> None:
    assert not Share(0, 0).enough
    assert Share(19, 20).enough
    assert not Share(18, 20).enough
    assert str(Share.of([True, False, True, True])) == "3 of 4 (30-95 %)"
