"""Claims on the diagnostic, its controls and its costs follow the data."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from altering import Case, Edit, after, apart, cells_of, edited, first_seeds, having, judge, responding
from paper_cells import without

from believer_paper.cells.diagnoses import OTHER_LIES, SETTINGS
from believer_paper.ledger import CLAIMS
from believer_paper.results import Results

BATCHES = ("fixed", "random", "free")
LIES = ("cl_min", *OTHER_LIES)


def collapsed(surrogate: str, update: str, **settings: Any) -> list[Edit]:
    return [
        apart(0.0, *BATCHES, surrogate=surrogate, update=update, **settings),
        responding(0.0, *BATCHES, surrogate=surrogate, update=update, **settings),
    ]


def spread(surrogate: str, update: str, **settings: Any) -> list[Edit]:
    return [
        apart(0.3, *BATCHES, surrogate=surrogate, update=update, **settings),
        responding(0.5, *BATCHES, surrogate=surrogate, update=update, **settings),
    ]


def half(surrogate: str, lie: str) -> list[Edit]:
    """On every second data set the batch collapses."""
    return [e for seed in (0, 2, 4, 6, 8) for e in collapsed(surrogate, "condition", lie=lie, seed=seed)]


def same_in_b(result: dict[str, Any]) -> None:
    result["random"] = copy.deepcopy(result["fixed"])


def four_times_in_b(result: dict[str, Any]) -> None:
    points = result["fixed"]["points"]
    result["random"]["points"] = [
        [a + 4.0 * (x - a) for x, a in zip(point, points[0], strict=True)] for point in points
    ]


def seconds(name: str, value: float, batch: bool = False) -> Edit:
    def change(result: dict[str, Any]) -> None:
        (result["batch"] if batch else result)[name]["seconds"] = [value]

    return edited(change, "step")


CASES = {
    1: Case(
        [],
        [*collapsed("gp", "condition"), *collapsed("mq_rbf", "condition")],
        {"surrogate": "mq_rbf", "update": "condition"},
    ),
    2: Case(
        [having("sdd", {"moved": 1.0, "reached": 0.97})],
        [having("sdd", {"moved": 0.0}, surrogate=s) for s in ("mq_rbf", "neural", "forest")],
        {"surrogate": "forest", "update": "none"},
    ),
    4: Case(
        [],
        [
            apart(0.3, "frozen_free", surrogate="forest", update="refit"),
            responding(0.2, "frozen_free", surrogate="forest", update="refit"),
        ],
        {"surrogate": "forest", "update": "refit", "lie": "cl_max"},
    ),
    5: Case(
        [],
        [
            apart(0.9, "null", surrogate="neural", update="refit"),
            apart(0.0, "frozen", surrogate="neural", update="refit"),
        ],
        {"surrogate": "neural", "update": "refit"},
    ),
    7: Case(
        [
            *(e for lie in ("cl_min", "kb") for s in ("last_layer", "sparse_gp") for e in half(s, lie)),
            *collapsed("neural", "refit"),
            responding(0.0, "frozen_free", surrogate="neural", update="refit"),
        ],
        [
            *(e for s in ("gp", "mq_rbf", "mq_rbf_power", "sparse_gp") for e in collapsed(s, "condition")),
            *(e for s in ("svr", "fixed_rbf") for e in spread(s, "none")),
            *spread("svr", "refit"),
            *spread("fixed_rbf", "condition"),
        ],
        {"surrogate": "svr", "update": "refit", "lie": "kb"},
    ),
    9: Case([], collapsed("mq_rbf", "condition"), {"surrogate": "mq_rbf", "lie": "kb"}),
    37: Case(
        [],
        [e for s in ("gp", "mq_rbf") for e in collapsed(s, "condition", problem="branin")],
        {"surrogate": "gp", "problem": "branin"},
    ),
    28: Case(
        [],
        [e for s in ("gp", "mq_rbf") for e in collapsed(s, "condition", acquisition="ucb")],
        {"surrogate": "gp", "acquisition": "ucb"},
    ),
    29: Case(
        [edited(same_in_b, "sdd")],
        [
            apart(0.0, "random", surrogate="gp", update="condition"),
            edited(four_times_in_b, "sdd", surrogate="mq_rbf"),
            *(apart(0.3, "random", surrogate=s, update="none") for s in ("neural", "forest")),
        ],
        {"surrogate": "forest", "update": "none"},
    ),
}


@pytest.fixture(scope="module")
def preset() -> str:
    return "printed"


@pytest.fixture(scope="module")
def results(preset: str) -> Results:
    return cells_of(preset, "sdd", "step")


@pytest.mark.parametrize("number", CASES)
def test_verdict_flips_when_its_data_are_altered(number: int, results: Results, preset: str) -> None:
    case = CASES[number]
    good = after(results, case.holds)
    assert judge(number, good, preset).verdict == "holds"
    assert judge(number, after(good, case.fails), preset).verdict == "fails"


@pytest.mark.parametrize("number", CASES)
def test_without_its_cells_a_claim_cannot_be_tested(number: int, results: Results, preset: str) -> None:
    found = judge(number, without(results, "sdd", **CASES[number].needs), preset)
    assert found.verdict == "cannot be tested"
    assert "missing" in found.evidence


@pytest.mark.parametrize("number", CASES)
def test_four_data_sets_are_too_few(number: int, results: Results, preset: str) -> None:
    assert judge(number, first_seeds(results, 4), preset).verdict == "cannot be tested"


@pytest.mark.parametrize("number", CASES)
def test_evidence_has_numbers_and_links(number: int, results: Results, preset: str) -> None:
    found = judge(number, results, preset)
    assert any(letter.isdigit() for letter in found.evidence)
    assert "nan" not in found.evidence
    assert any(link.startswith(("table ", "figure ")) for link in found.links)
    assert any(link.startswith("cells: ") for link in found.links)


def test_one_surrogate_that_passes_is_half_a_claim(results: Results, preset: str) -> None:
    found = judge(1, after(results, collapsed("gp", "condition")), preset)
    assert found.verdict == "holds in part"
    assert "GP passes on 0 of 20" in found.evidence
    assert "MQ-RBF passes on 20 of 20" in found.evidence


def test_passing_asks_that_the_lie_is_the_reason(results: Results, preset: str) -> None:
    diverse_anyway = [apart(0.3, "null", surrogate=s, update="condition") for s in ("gp", "mq_rbf")]
    assert judge(1, after(results, diverse_anyway), preset).verdict == "fails"


def test_starts_that_stay_and_a_maximum_that_is_missed_both_count(results: Results, preset: str) -> None:
    good = after(results, CASES[2].holds)
    for field in ("moved", "reached"):
        assert judge(2, after(good, [having("sdd", {field: 0.3}, surrogate="gp")]), preset).verdict == "holds in part"
    assert judge(2, after(good, [having("sdd", {"moved": None})]), preset).verdict == "holds in part"
    beyond = [having("sdd", {"reached": 1e9}, seed=0), having("sdd", {"reached": 0.3}, surrogate="gp", seed=1)]
    assert judge(2, after(good, beyond), preset).verdict == "holds"
    beyond.append(having("sdd", {"reached": 0.3}, surrogate="gp", update="condition"))
    beyond.append(having("sdd", {"reached": 1e9}, surrogate="gp", seed=0))
    assert judge(2, after(good, beyond), preset).verdict == "holds in part"


def test_the_collapse_of_a_model_that_is_not_told_is_algebra_and_cells_that_break_it_are_wrong(
    results: Results, preset: str
) -> None:
    assert judge(3, results, preset).verdict == "true by algebra"
    for part in ("fixed", "random"):
        moved = [apart(1e-9, part, surrogate="neural", update="none", seed=3)]
        assert judge(3, after(results, moved), preset).verdict == "fails"
    missing = without(results, "sdd", surrogate="neural", update="none")
    assert judge(3, missing, preset).verdict == judge(3, first_seeds(results, 4), preset).verdict == "cannot be tested"


def test_figure_1_counts_a_collapse_only_where_it_is_not_so(results: Results, preset: str) -> None:
    found = judge(37, results, preset)
    assert found.verdict == "holds"
    assert "GP 20 of 20" in found.evidence
    rescued = [apart(0.3, "fixed", surrogate="forest", problem="branin", seed=1)]
    assert judge(37, after(results, rescued), preset).verdict == "holds in part"


def test_a_control_says_nothing_where_nothing_is_diverse(results: Results, preset: str) -> None:
    """Diverse neither with the lie nor without it: the lie has not been shown to do anything."""
    no_control = having("sdd", {"frozen": None, "frozen_free": None}, surrogate="neural", update="refit")
    nothing = [*collapsed("neural", "refit"), no_control]
    found = judge(5, after(results, nothing), preset)
    assert found.verdict == "fails"
    assert "which is no evidence" in found.evidence
    assert "which is no evidence" not in judge(5, results, preset).evidence


@pytest.mark.parametrize("lie", LIES)
def test_every_lie_to_the_rebuilt_forest_counts(lie: str, results: Results, preset: str) -> None:
    moved = [apart(0.3, "frozen_free", surrogate="forest", update="refit", lie=lie)]
    found = judge(4, after(results, moved), preset)
    assert found.verdict == "holds in part"
    sets = 10 if lie == "cl_min" else 5
    assert f"{lie} {sets}/{sets}" in found.evidence


def test_a_forest_that_the_fixed_starts_find_diverse_is_not_degenerate(results: Results, preset: str) -> None:
    found = judge(4, after(results, [apart(0.3, "fixed", surrogate="forest", update="refit")]), preset)
    assert found.verdict == "holds in part"
    assert "0 of 25 batches are degenerate" in found.evidence


def test_a_network_that_retrains_to_diversity_without_the_lie_owes_it_nothing(results: Results, preset: str) -> None:
    alone = [apart(0.9, "null", surrogate="neural", update="refit")]
    assert judge(5, after(results, alone), preset).verdict == "holds in part"
    no_control = [having("sdd", {"frozen": None, "frozen_free": None}, surrogate="neural", update="refit")]
    assert judge(5, after(results, no_control), preset).verdict == "holds"
    assert judge(5, after(results, [*alone, *no_control]), preset).verdict == "fails"


def test_a_row_of_table_1_read_in_two_ways_must_agree_in_both(results: Results, preset: str) -> None:
    good = after(results, CASES[7].holds)
    assert "8 of 8 rows" in judge(7, good, preset).evidence
    found = judge(7, after(good, spread("svr", "refit")), preset)
    assert found.verdict == "holds in part"
    assert "SVM Regression, refitted: yes" in found.evidence


def test_table_1_counts_data_sets_that_were_told_both_lies_and_the_weaker_decides(
    results: Results, preset: str
) -> None:
    good = after(results, CASES[7].holds)
    weak = judge(7, after(good, collapsed("mq_rbf", "condition", lie="kb")), preset)
    assert weak.verdict == "holds in part"
    assert "MQ-RBF (data centers), conditioned: no (CL-min 20 and KB 0 of 20), the paper says yes" in weak.evidence
    gone = {one.cell for one in good.of("sdd", surrogate="gp", update="condition", lie="kb", q=3) if one.cell.seed >= 7}
    fewer = Results(tuple(one for one in good.finished if one.cell not in gone))
    assert "Gaussian Process, conditioned: yes (CL-min 7 and KB 7 of 7)" in judge(7, fewer, preset).evidence


def test_a_claim_says_how_many_data_sets_there_were(results: Results, preset: str) -> None:
    assert "GP passes on 7 of 7" in judge(1, first_seeds(results, 7), preset).evidence
    assert "20" not in next(claim for claim in CLAIMS if claim.number == 1).test


def test_distances_that_do_not_decide_are_no_refutation_of_the_lie(results: Results, preset: str) -> None:
    """The lie made the batch wider on every other data set."""
    mixed = [
        apart(gap, "null", surrogate="neural", update="refit", seed=seed) for seed, gap in enumerate([0.9, 0.1] * 5)
    ]
    none = [apart(0.0, "frozen", surrogate="neural", update="refit")]
    found = judge(5, after(results, [*mixed, *none]), preset)
    assert found.verdict == "holds in part"


def test_cost_ratios_are_held_against_the_printed_ones(results: Results, preset: str) -> None:
    exact = [seconds("gp", 1.0), seconds("mq_rbf", 1 / 12), seconds("neural", 250.0), seconds("gp", 1.0, True)]
    good = after(results, [*exact, seconds("neural", 15.0, True)])
    assert judge(6, good, preset).verdict == "holds"
    assert judge(6, after(good, [seconds("neural", 15.0 * 3.1, True)]), preset).verdict == "holds"
    assert judge(6, after(good, [seconds("neural", 15.0 / 3.3, True)]), preset).verdict == "holds in part"
    assert judge(6, after(good, [seconds("neural", 15.0 * 3.3, True)]), preset).verdict == "holds in part"
    assert judge(6, after(good, [seconds("neural", 20.0)]), preset).verdict == "fails"
    assert judge(6, without(good, "step"), preset).verdict == "cannot be tested"


def test_the_step_of_this_library_stands_beside_that_of_the_paper_and_decides_nothing(
    results: Results, preset: str
) -> None:
    def timed(result: dict[str, Any]) -> None:
        result["gp_own"] = {"seconds": [1e-9], "wall_seconds": [1e-9]}

    before, beside = judge(6, results, preset), judge(6, after(results, [edited(timed, "step")]), preset)
    assert beside.verdict == before.verdict
    assert "scikit-learn's process without its optimizer" in beside.evidence
    assert "scikit-learn" not in before.evidence


def test_cost_ratios_are_of_one_process(results: Results, preset: str) -> None:
    def slow(result: dict[str, Any]) -> None:
        for name in ("gp", "mq_rbf", "neural"):
            result[name]["seconds"] = [8.0 * one for one in result[name]["seconds"]]

    assert judge(6, after(results, [edited(slow, "step", seed=0)]), preset) == judge(6, results, preset)


def test_verdicts_under_another_acquisition_are_compared_data_set_by_data_set(results: Results, preset: str) -> None:
    some = [e for seed in range(3) for e in collapsed("gp", "condition", acquisition="ucb", seed=seed)]
    found = judge(28, after(results, some), preset)
    assert found.verdict == "holds in part"
    assert "GP 7 of 10" in found.evidence


def test_random_restarts_that_change_only_the_distance_are_half_the_claim(results: Results, preset: str) -> None:
    good = after(results, CASES[29].holds)
    farther = [edited(four_times_in_b, "sdd", surrogate=s, update="condition") for s in ("gp", "mq_rbf")]
    assert judge(29, after(good, farther), preset).verdict == "holds in part"


def test_cells_are_settings_with_a_number_of_seeds_each_once() -> None:
    keys = [tuple(sorted({"lie": "cl_min", "acquisition": "ei", **settings}.items())) for settings, _ in SETTINGS]
    assert len(set(keys)) == len(keys)
    assert all(seeds >= 5 for _, seeds in SETTINGS)
