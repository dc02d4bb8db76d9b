"""Claims on whole runs and their batches follow the data."""

from __future__ import annotations

from typing import Any

import pytest
from altering import Case, Edit, after, apart, cells_of, edited, first_seeds, having, judge, shifted, taking
from paper_cells import with_result, without

from believer_paper.results import PRESETS, Results

PRINTED_OPTIONS = {23: {"process": "botorch"}, 26: {"process": "twin"}}
VALUES = ("values",)
ELSEWHERE = ("ackley8", "levy10")
SMALL = {"noise": 0.0, "budget": 50}
FAR = 100.0


def cases(preset: str) -> dict[int, Case]:
    """Edits for every claim; Exp 10 and 12 have options of their own as printed."""
    joint, large = ({"options": PRINTED_OPTIONS[n] if preset == "printed" else {}} for n in (23, 26))
    plain: dict[str, Any] = {"options": {}}
    hartmann: dict[str, Any] = {"problem": "hartmann6", "q": 3, **plain}
    ten: dict[str, Any] = {"problem": "levy10", "q": 10, **large}
    return {
        20: Case(
            [
                taking(
                    VALUES, {"problem": p, "strategy": "sequential", **SMALL}, problem=p, strategy=s, **SMALL, **plain
                )
                for p in ("hartmann6", *ELSEWHERE)
                for s in ("cl_min", "kb")
            ],
            [shifted(FAR, strategy=s, budget=50) for s in ("cl_min", "kb")],
            {"strategy": "sequential", "problem": "levy10", "budget": 50},
        ),
        21: Case([], [shifted(-FAR, strategy="cl_max")], {"strategy": "cl_max", "q": 2}),
        22: Case([], [shifted(-FAR, strategy="lp")], {"strategy": "lp", "problem": "ackley8"}),
        23: Case(
            [taking(VALUES, {"strategy": "qei"}, strategy="kb", **{**hartmann, **joint}, noise=0.0)],
            [shifted(FAR, strategy="kb", **{**hartmann, **joint})],
            {"strategy": "qei"},
        ),
        24: Case(
            [edited(lambda r: _scale_distances(r, 0.5), "loop", strategy="kb", problem="hartmann6")],
            [edited(lambda r: _scale_distances(r, 0.1), "loop", strategy="cl_min", problem="hartmann6")],
            {"strategy": "cl_mean", "problem": "hartmann6"},
        ),
        25: Case(
            [
                taking(
                    ("values", "truth", "mean_distance"),
                    {**hartmann, "strategy": s, "noise": 0.0},
                    strategy=s,
                    noise=0.1,
                )
                for s in ("cl_min", "kb")
            ],
            [
                shifted(FAR, noise=0.1, strategy="cl_min"),
                shifted(FAR, noise=0.1, strategy="kb"),
                edited(lambda r: _scale_distances(r, 0.5), "loop", noise=0.1),
            ],
            {"noise": 0.1, "strategy": "random"},
        ),
        26: Case(
            [having("loop", {"mean_distance_raw": [24.0] * 15}, strategy=s, **ten) for s in ("cl_min", "kb")],
            [
                *(having("loop", {"min_distance": [0.0] * 15}, strategy=s, **ten) for s in ("cl_min", "kb")),
                *(having("loop", {"mean_distance_raw": [9.0] * 15}, strategy=s, **ten) for s in ("cl_min", "kb")),
            ],
            {"strategy": "random", **ten},
        ),
        38: Case(
            [],
            [edited(_on_one_spot, "loop", strategy=s, q=3) for s in ("cl_min", "kb")],
            {"strategy": "kb", "problem": "ackley8", "q": 3},
        ),
        27: Case(
            [shifted(-0.01, strategy="cl_min", problem="svm_breast_cancer")],
            [shifted(1.0, strategy="cl_min", problem="svm_breast_cancer")],
            {"strategy": "sequential", "problem": "svm_breast_cancer"},
        ),
        36: Case(
            [
                taking(VALUES, {"problem": p, "strategy": "cl_min", "q": 3}, problem=p, strategy="kb", q=3)
                for p in ELSEWHERE
            ],
            [shifted(-FAR, strategy="random", problem=p) for p in ELSEWHERE],
            {"strategy": "random", "problem": "levy10", "q": 3},
        ),
    }


def _scale_distances(result: dict[str, Any], by: float) -> None:
    result["mean_distance"] = [None if gap is None else by * gap for gap in result["mean_distance"]]


def _on_one_spot(result: dict[str, Any]) -> None:
    result["max_distance"] = [0.009, *result["max_distance"][1:]]


NUMBERS = tuple(cases("printed"))


@pytest.fixture(scope="module")
def preset(request: pytest.FixtureRequest) -> str:
    return str(getattr(request, "param", "printed"))


@pytest.fixture(scope="module")
def results(preset: str) -> Results:
    return cells_of(preset, "loop", "sdd")


@pytest.mark.parametrize("preset", PRESETS, indirect=True)
@pytest.mark.parametrize("number", NUMBERS)
def test_verdict_flips_when_its_data_are_altered(number: int, results: Results, preset: str) -> None:
    case = cases(preset)[number]
    good = after(results, case.holds)
    assert judge(number, good, preset).verdict == "holds"
    assert judge(number, after(good, case.fails), preset).verdict == "fails"


@pytest.mark.parametrize("number", NUMBERS)
def test_without_its_cells_a_claim_cannot_be_tested(number: int, results: Results, preset: str) -> None:
    found = judge(number, without(results, "loop", **cases(preset)[number].needs), preset)
    assert found.verdict == "cannot be tested"
    assert "missing" in found.evidence


@pytest.mark.parametrize("number", NUMBERS)
def test_seeds_too_few_for_the_test_to_find_anything_decide_nothing(number: int, results: Results, preset: str) -> None:
    assert judge(number, first_seeds(results, 5), preset).verdict == "cannot be tested"


@pytest.mark.parametrize("number", NUMBERS)
def test_evidence_has_numbers_and_links(number: int, results: Results, preset: str) -> None:
    found = judge(number, results, preset)
    assert number == 38 or any(word in found.evidence for word in ("p 0.", "p 1", "e-"))
    assert "nan" not in found.evidence
    assert any(link.startswith(("table ", "figure ")) for link in found.links)
    assert any(link.startswith("cells: ") for link in found.links)


def judged_after(number: int, results: Results, preset: str, *edits: Edit) -> str:
    return judge(number, after(results, [*cases(preset)[number].holds, *edits]), preset).verdict


def test_batches_win_at_equal_iterations_only_while_they_are_ahead(results: Results, preset: str) -> None:
    ahead = [edited(_from_the_first, "loop", strategy="sequential", budget=50)]
    assert judged_after(20, results, preset) == "holds"
    assert judged_after(20, results, preset, *ahead) == "holds in part"


def _from_the_first(result: dict[str, Any]) -> None:
    """A run whose first evaluation after the design is already its best."""
    best = min(result["values"])
    result["values"] = [best - 1e-3 * (i == 20) for i, _ in enumerate(result["values"])]


def test_a_single_problem_on_which_batches_are_slow_is_seen_in_all_together(results: Results, preset: str) -> None:
    worse = [shifted(FAR, strategy=s, problem=p, budget=50) for s in ("cl_min", "kb") for p in ("ackley8", "levy10")]
    assert "CL-min wins 2 of 6" in judge(20, after(results, [*cases(preset)[20].holds, *worse]), preset).evidence
    # Equal iterations are lost on four of six cases, and equal evaluations, too: each check says no.
    assert judged_after(20, results, preset, *worse) == "fails"


def test_a_test_that_finds_nothing_does_not_make_two_strategies_equal(results: Results, preset: str) -> None:
    found = judge(23, first_seeds(results, 8), preset)
    assert found.verdict == "cannot be tested"
    assert "decide nothing" in found.evidence


def test_joint_improvement_is_compared_on_the_process_that_it_ran_on(results: Results, preset: str) -> None:
    other = without(results, "loop", strategy="kb", options=PRINTED_OPTIONS[23] if preset == "printed" else {})
    assert judge(23, other, preset).verdict == "cannot be tested"


def test_slower_means_slower_on_the_way_whatever_the_end(results: Results, preset: str) -> None:
    same_end = [edited(_late, "loop", strategy="cl_max")]
    assert judged_after(21, results, preset, *same_end) == "holds"
    quick = [
        taking(VALUES, {"strategy": "cl_min", "problem": p, "q": q, **SMALL}, strategy="cl_max", problem=p, q=q)
        for p in ("hartmann6", *ELSEWHERE)
        for q in (2, 3)
    ]
    assert judged_after(21, results, preset, *quick) == "fails"


def _late(result: dict[str, Any]) -> None:
    """The last evaluation finds more than anyone."""
    result["values"][-1] -= 0.5 * (max(result["values"]) - min(result["values"]))


def test_diversity_below_another_lie_at_one_size_is_half_the_claim(results: Results, preset: str) -> None:
    more = [edited(lambda r: _scale_distances(r, 4.0), "loop", strategy="kb", problem="hartmann6", q=3)]
    assert judged_after(24, results, preset, *more) == "holds in part"


def test_random_batches_decide_nothing_about_the_highest_diversity(results: Results, preset: str) -> None:
    good = after(results, cases(preset)[24].holds)
    far = edited(lambda r: _scale_distances(r, 4.0), "loop", strategy="random", problem="hartmann6")
    assert judge(24, far(good), preset).verdict == judge(24, good, preset).verdict == "holds"
    assert judge(24, far(good), preset).evidence != judge(24, good, preset).evidence


def test_noise_that_halves_diversity_alone_is_part_of_the_claim(results: Results, preset: str) -> None:
    halved = [edited(lambda r: _scale_distances(r, 0.5), "loop", noise=0.1)]
    assert judged_after(25, results, preset, *halved) == "holds in part"


def test_noise_is_judged_by_the_true_value_of_the_point_that_looked_best(results: Results, preset: str) -> None:
    lucky = [edited(_lucky, "loop", noise=0.1, strategy=s) for s in ("cl_min", "kb")]
    assert judged_after(25, results, preset, *lucky) == "fails"


def _lucky(result: dict[str, Any]) -> None:
    """The best value told belongs to the worst point; batches have shrunk."""
    result["values"] = [*result["values"][:-1], -FAR]
    result["truth"] = [*result["truth"][:-1], FAR]


def test_one_batch_of_ten_that_collapses_is_enough_to_say_so(results: Results, preset: str) -> None:
    def collapse(result: dict[str, Any]) -> None:
        result["min_distance"] = [9e-4, *result["min_distance"][1:]]

    good = after(results, cases(preset)[26].holds)
    options = PRINTED_OPTIONS[26] if preset == "printed" else {}
    once = with_result(good, collapse, "loop", strategy="kb", q=10, seed=3, options=options)
    found = judge(26, once, preset)
    assert found.verdict == "holds in part"
    assert "0 of 300 (0-1 %) hold two members within 0.001" in found.evidence
    assert "1 of 300 (0-2 %) hold two members within 0.001" in found.evidence


@pytest.mark.parametrize(
    ("distance", "verdict"), [(19.5, "holds"), (19.4, "holds in part"), (10.0, "holds in part"), (9.9, "fails")]
)
def test_ten_members_are_held_against_the_printed_distances(
    distance: float, verdict: str, results: Results, preset: str
) -> None:
    """Below 19.5 the stated range is left; below 10 batches have collapsed; then near-duplicates make most say no."""
    options = PRINTED_OPTIONS[26] if preset == "printed" else {}
    where: dict[str, Any] = {"q": 10, "options": options}
    raw = [having("loop", {"mean_distance_raw": [distance] * 15}, strategy=s, **where) for s in ("cl_min", "kb")]
    if distance < 10.0:
        raw += [having("loop", {"min_distance": [1e-4] * 15}, strategy=s, **where) for s in ("cl_min", "kb")]
    assert judged_after(26, results, preset, *raw) == verdict


def test_ten_members_of_the_diagnostic_count_too(results: Results, preset: str) -> None:
    collapsed = [
        *cases(preset)[26].holds,
        *(apart(0.0, "fixed", problem="levy10", surrogate=s) for s in ("gp", "mq_rbf")),
    ]
    assert judged_after(26, results, preset, *collapsed) == "holds in part"


def test_twice_as_good_as_random_is_more_than_better(results: Results, preset: str) -> None:
    close = [*cases(preset)[26].holds, edited(_times(0.35), "loop", strategy="random", q=10)]
    assert judged_after(26, results, preset, *close) == "holds in part"


def _times(by: float) -> Any:
    def change(result: dict[str, Any]) -> None:
        result["values"] = [by * value for value in result["values"]]

    return change


def test_a_run_with_a_whole_batch_on_one_spot_is_counted(results: Results, preset: str) -> None:
    one = [edited(_on_one_spot, "loop", strategy="kb", problem="hartmann6", q=3, seed=5)]
    found = judge(38, after(results, one), preset)
    assert found.verdict == "holds in part"
    assert "KB, Hartmann-6D: 1 of 20" in found.evidence


def test_a_lower_mean_error_without_a_test_decides_nothing(results: Results, preset: str) -> None:
    svm: dict[str, Any] = {"problem": "svm_breast_cancer"}
    for seed in range(6):
        results = shifted(0.02, strategy="sequential", seed=seed, **svm)(results)
    found = judge(27, taking(VALUES, {"strategy": "sequential", **svm}, strategy="random", **svm)(results), preset)
    assert found.verdict == "cannot be tested"
    assert "569 samples" in found.evidence


def test_the_lowest_error_must_be_below_both_others(results: Results, preset: str) -> None:
    svm: dict[str, Any] = {"problem": "svm_breast_cancer"}
    assert judged_after(27, results, preset, shifted(-1.0, strategy="sequential", **svm)) == "fails"
    assert judged_after(27, results, preset, shifted(-1.0, strategy="random", **svm)) == "fails"
    same = taking(VALUES, {"strategy": "cl_min", **svm}, strategy="random", **svm)
    assert judged_after(27, results, preset, same) == "fails"


def test_a_slowness_that_no_problem_shows_alone_is_seen_in_all_together(results: Results, preset: str) -> None:
    """Three of four seeds are a little slower than CL-min, the others as much faster; KB is behind both."""
    problems = [(problem, q) for problem in ("hartmann6", *ELSEWHERE) for q in (2, 3)]
    slight = [
        taking(
            VALUES,
            {"strategy": "cl_min", "problem": p, "q": q, "options": {}, **SMALL},
            strategy="cl_max",
            problem=p,
            q=q,
        )
        for p, q in problems
    ]
    slight += [shifted(0.01 if seed % 4 else -0.01, strategy="cl_max", seed=seed) for seed in range(20)]
    found = judge(21, after(results, slight), preset)
    assert "slower in 1 of 14 comparisons, faster in 7" in found.evidence
    assert "All problems, in std: to CL-min +" in found.evidence


def test_penalization_is_told_with_its_starts_and_its_other_form(results: Results, preset: str) -> None:
    starts = having("loop", {"moved": 0.25}, strategy="lp")
    assert "25% moved under LP, 40% under CL-min" in judge(22, starts(results), preset).evidence
    assert "Gonzalez" not in judge(22, results, preset).evidence
    ours = cells_of("ours", "loop")
    found = judge(22, ours, "ours")
    assert "LP of Gonzalez et al.: not worse in 8 of 8" in found.evidence
    assert "moved" not in found.evidence
    ahead = judge(22, shifted(-FAR, strategy="lp_lipschitz")(ours), "ours")
    assert "LP of Gonzalez et al.: not worse in 0 of 8, worse in 8" in ahead.evidence
    assert ahead.verdict == found.verdict


def test_patterns_elsewhere_are_judged_elsewhere(results: Results, preset: str) -> None:
    other = [shifted(-FAR, strategy="random", problem="hartmann6", noise=0.0)]
    assert judged_after(36, results, preset, *other) == "holds"
    assert judge(36, results, preset).verdict == "holds in part"
