from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from believer_paper.inconsistencies import CHECKS, KINDS, inconsistencies, inconsistency_table
from believer_paper.inconsistencies.inconsistency import span, standard_error
from believer_paper.numbers import printed, stated
from believer_paper.numbers.printed import Distances, LoopRow, Printed, PrintedStep

TABLES = [f"TABLE_{number}" for number in range(1, 14)]


class Alteration(NamedTuple):
    """Other numbers for a table or a constant, under which the inconsistency of that name is none."""

    name: str
    module: Any
    attribute: str
    value: Any


def _with(table: Mapping[Any, Any], rows: Mapping[Any, Any]) -> dict[Any, Any]:
    return {**table, **rows}


def _seconds(**seconds: float) -> dict[Any, Any]:
    """Table 7 with other seconds."""
    updates = {"gp": "condition", "mq_rbf": "condition", "neural": "refit"}
    rows = {(name, updates[name]): value for name, value in seconds.items()}
    return _with(printed.TABLE_7, {key: replace(printed.TABLE_7[key], seconds=s) for key, s in rows.items()})


def _step(name: str, seconds: float) -> dict[str, PrintedStep]:
    row = printed.TABLE_3[name]
    return _with(printed.TABLE_3, {name: replace(row, seconds=replace(row.seconds, mean=seconds))})


def _diverse(table: Mapping[str, LoopRow], **means: float) -> dict[str, LoopRow]:
    rows = {n: replace(table[n], diversity=replace(table[n].diversity, mean=mean)) for n, mean in means.items()}
    return _with(table, rows)


def _refit_distances(name: str, minimum: float) -> dict[Any, Any]:
    return _with(printed.TABLE_7, {(name, "refit"): Distances(minimum, minimum, minimum > 0, 0.6)})


ALTERATIONS = [
    Alteration("conditioning_ratio", printed, "TABLE_7", _seconds(neural=0.04 * 257)),
    Alteration("re_solving_ratio", printed, "TABLE_7", _seconds(mq_rbf=0.03)),
    Alteration("retraining_seconds", printed, "TABLE_7", _seconds(neural=0.33)),
    Alteration("prohibitive_retraining", printed, "TABLE_3", _step("neural", 1.03)),
    Alteration("loop_seconds", printed, "TABLE_10", _with(printed.TABLE_10, {"qei": Printed(1.2, 0.31)})),
    Alteration("seconds_a_loop", printed, "TABLE_13", _with(printed.TABLE_13, {("exp4",): Printed(50 * 60.0)})),
    Alteration(
        "reversed_order", printed, "TABLE_4", _with(printed.TABLE_4, {("kb", 3, "hartmann6"): Printed(-3.02, 0.4)})
    ),
    Alteration(
        "best_values", printed, "TABLE_4", _with(printed.TABLE_4, {("sequential", 1, "ackley8"): Printed(4.3, 1.2)})
    ),
    Alteration("noise_degrades", printed, "TABLE_4", _with(printed.TABLE_4, {("kb", 3, "hartmann6"): Printed(-2.91)})),
    Alteration("diversity_drives_gains", printed, "TABLE_6", _diverse(printed.TABLE_6, random=0.1)),
    Alteration("svm_spread", printed, "SVM", _with(printed.SVM, {"random": Printed(0.0297, 0.0015)})),
    Alteration("levy_p_value", stated, "CONVERGENCE_SEEDS", _with(stated.CONVERGENCE_SEEDS, {"levy10": 11})),
    Alteration("lie_effects", stated, "EQ_17_MEAN_SIGN", 1),
    Alteration(
        "diversity_spread",
        printed,
        "TABLE_5",
        _with(printed.TABLE_5, {"cl_min": LoopRow(Printed(-2.74, 0.54), Printed(0.79, 0.12), 0.22)}),
    ),
    Alteration("fixed_and_random_starts", printed, "Q10_DIVERSITY", (3.0, 4.0)),
    Alteration("retrained_parametric", printed, "TABLE_7", _refit_distances("neural", 0.0)),
    Alteration("fixed_features", printed, "TABLE_1", _with(printed.TABLE_1, {"fixed_rbf": ("partial", "limited")})),
    Alteration("model_agnostic", printed, "TABLE_1", dict.fromkeys(printed.TABLE_1, ("yes", "yes"))),
    Alteration("design_size", printed, "N_INIT", _with(printed.N_INIT, {"svm_breast_cancer": 8, "sdd": 20})),
    Alteration("repeated_rows", printed, "TABLE_8", _with(printed.TABLE_8, {("gp", "ei"): Distances(0.158, 0.209)})),
    Alteration("noise_variance", stated, "NOISE_VARIANCE", 0.01),
    Alteration("probability_of_improvement", stated, "COVERED_ACQUISITIONS", ("ei", "ucb")),
    Alteration("power_function", stated, "MULTIQUADRIC_POWER", -0.5),
    Alteration("lipschitz", stated, "LP_PENALTY", ("x", "x_j", "L")),
    Alteration("suppression_decay", stated, "EI_DECAY", 0.5),
    Alteration("joint_is_faster", printed, "TABLE_10", _with(printed.TABLE_10, {"qei": Printed(4.0, 0.31)})),
    Alteration(
        "headline_data_set",
        printed,
        "TABLE_9",
        _with(printed.TABLE_9, {"gp": replace(printed.TABLE_9["gp"], minimum=Printed(0.2, 0.1))}),
    ),
    Alteration("noisy_diagnostic", stated, "DIAGNOSTIC_VARIED", {6: "noise", 8: "acquisitions", 9: "data sets"}),
    Alteration(
        "random_rows", printed, "TABLE_4", _with(printed.TABLE_4, {("random", 3, "ackley8"): Printed(7.12, 0.72)})
    ),
    Alteration("over_random", printed, "Q10_FINAL", _with(printed.Q10_FINAL, {"kb": Printed(12.2, 7.4)})),
    Alteration(
        "near_sequential", printed, "TABLE_4", _with(printed.TABLE_4, {("kb", 3, "ackley8"): Printed(4.6, 0.93)})
    ),
    Alteration("algorithm_refits", stated, "LINE_3_FITS", "batch"),
    Alteration("fixed_mean", stated, "PROPOSITION_1_LIES", ("kb",)),
    Alteration("diminishing_returns", stated, "DIMINISHING", "l"),
    Alteration("compared_problems", stated, "TASKS", ("hartmann6",)),
    Alteration("log_penalty", stated, "LOG_PENALTY_VARIANCES", ("new", "old")),
]

TWOFOLD: dict[str, dict[str, Any]] = {
    "most_diverse": {
        "TABLE_5": _diverse(printed.TABLE_5, cl_min=1.2),
        "TABLE_6": _diverse(printed.TABLE_6, cl_min=1.2),
    },
    "unit_cube": {
        "TABLE_11": dict.fromkeys(printed.TABLE_11, Distances(0.1, 0.9, True)),
        "Q10_DIVERSITY": (1.0, 1.4),
    },
    "unmeasured": {
        "TABLE_3": dict.fromkeys(printed.TABLE_1, PrintedStep(Printed(0.1), 1.0)),
        "TABLE_8": _with(printed.TABLE_8, {("gp", name): Distances(0.2, 0.2) for name in ("pi", "thompson")}),
    },
}
"""Names whose inconsistency stands on two things of ``printed``, each enough by itself."""


def _names() -> set[str]:
    return {one.name for one in inconsistencies()}


def test_every_check_finds_an_inconsistency_of_its_own() -> None:
    assert all(count == 1 for count in Counter(one.name for one in inconsistencies()).values())
    assert len(inconsistencies()) == len(CHECKS)


def test_every_inconsistency_is_altered_below() -> None:
    assert _names() == {one.name for one in ALTERATIONS} | set(TWOFOLD)


@pytest.mark.parametrize("alteration", ALTERATIONS, ids=lambda alteration: alteration.name)
def test_an_inconsistency_is_gone_where_the_numbers_agree(
    alteration: Alteration, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alteration.module, alteration.attribute, alteration.value)
    assert alteration.name not in _names()


@pytest.mark.parametrize("name", TWOFOLD)
def test_an_inconsistency_that_stands_on_two_things_is_gone_without_both_only(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for attribute, value in TWOFOLD[name].items():
        with monkeypatch.context() as alone:
            alone.setattr(printed, attribute, value)
            assert name in _names()
    for attribute, value in TWOFOLD[name].items():
        monkeypatch.setattr(printed, attribute, value)
    assert name not in _names()


class Recorder(Mapping[Any, Any]):
    """A table that notes in ``read`` that somebody looked."""

    def __init__(self, number: int, rows: Mapping[Any, Any], read: set[int]) -> None:
        self.number, self.rows, self.read = number, rows, read

    def __getitem__(self, key: Any) -> Any:
        self.read.add(self.number)
        return self.rows[key]

    def __iter__(self) -> Iterator[Any]:
        self.read.add(self.number)
        return iter(self.rows)

    def __len__(self) -> int:
        self.read.add(self.number)
        return len(self.rows)


def test_every_table_that_a_check_reads_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    read: set[int] = set()
    for number, name in enumerate(TABLES, start=1):
        monkeypatch.setattr(printed, name, Recorder(number, getattr(printed, name), read))
    for check in CHECKS:
        read.clear()
        found = check()
        assert found is not None
        assert read <= set(found.tables), found.name
        only_stated = set(found.tables) - read
        assert not read or not only_stated, found.name


@pytest.mark.parametrize("kind", KINDS)
def test_within_a_kind_tables_are_those_of_the_paper_in_order_and_those_of_none_come_last(kind: str) -> None:
    tables = [one.tables for one in inconsistencies() if one.kind == kind]
    assert all(list(numbers) == sorted(set(numbers)) and set(numbers) <= set(range(1, 14)) for numbers in tables)
    first = [numbers[0] if numbers else 14 for numbers in tables]
    assert first == sorted(first)


def test_contradictions_come_first_and_then_what_is_beyond_the_data() -> None:
    kinds = [one.kind for one in inconsistencies()]
    assert tuple(dict.fromkeys(kinds)) == KINDS == ("contradiction", "beyond the data")
    assert [KINDS.index(kind) for kind in kinds] == sorted(KINDS.index(kind) for kind in kinds)


def test_what_two_settings_or_an_omission_may_explain_is_no_contradiction() -> None:
    weaker = {
        "re_solving_ratio",
        "retraining_seconds",
        "prohibitive_retraining",
        "reversed_order",
        "best_values",
        "diversity_drives_gains",
        "svm_spread",
        "levy_p_value",
        "diversity_spread",
        "fixed_and_random_starts",
        "model_agnostic",
        "unmeasured",
        "noise_variance",
        "lipschitz",
        "joint_is_faster",
        "headline_data_set",
        "noisy_diagnostic",
        "random_rows",
        "near_sequential",
        "over_random",
        "fixed_mean",
        "compared_problems",
        "diminishing_returns",
    }
    assert {one.name for one in inconsistencies() if one.kind != "contradiction"} == weaker


def test_every_inconsistency_says_where_and_shows_numbers() -> None:
    for one in inconsistencies():
        assert one.places
        assert one.numbers
        assert one.what.endswith(".")


def test_the_table_has_a_row_for_each_with_its_tables_and_numbers() -> None:
    entries = inconsistencies()
    table = inconsistency_table(entries)
    assert [row[0] for row in table.rows] == list(range(1, len(entries) + 1))
    row = next(row for row, one in zip(table.rows, entries, strict=True) if one.name == "unit_cube")
    assert row[1] == "contradiction"
    assert row[2] == "11"
    assert "largest distance possible: 3.162" in str(row[5])
    assert "largest mean of Table 11: 11.71" in str(row[5])
    assert all(len(row) == len(table.columns) for row in table.rows)


def test_numbers_follow_the_paper(monkeypatch: pytest.MonkeyPatch) -> None:
    by_name = {one.name: one.numbers for one in inconsistencies()}
    assert by_name["conditioning_ratio"]["ratio by Table 7"] == pytest.approx(0.60 / 0.04)
    assert by_name["reversed_order"]["spread of a run by the text, largest"] == 0.54
    assert by_name["seconds_a_loop"]["exp4 loops"] == 550
    assert by_name["levy_p_value"]["least p value"] == 2 / 1024
    monkeypatch.setattr(printed, "TABLE_7", _seconds(neural=0.80))
    by_name = {one.name: one.numbers for one in inconsistencies()}
    assert by_name["conditioning_ratio"]["ratio by Table 7"] == pytest.approx(0.80 / 0.04)


def test_what_rounding_could_explain_is_no_ratio_that_was_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = {one.name: one.numbers for one in inconsistencies()}["over_random"]
    assert numbers["random / kb"] == pytest.approx(23.9 / 12.4)
    assert numbers["random / kb, at most"] == pytest.approx(23.95 / 12.35)
    monkeypatch.setattr(printed, "Q10_FINAL", _with(printed.Q10_FINAL, {"kb": Printed(12.3, 7.4)}))
    assert "over_random" not in _names()  # 23.9 / 12.3 is 1.94, and may have been 1.96


def test_the_headline_data_set_is_told_by_its_distance_from_the_mean_over_five() -> None:
    numbers = {one.name: one.numbers for one in inconsistencies()}["headline_data_set"]
    assert numbers["gp: standard deviations from it"] == pytest.approx((0.157 - 0.480) / 0.314)
    assert numbers["mq_rbf: standard deviations from it"] == pytest.approx((0.421 - 0.287) / 0.073)


def test_joint_optimization_is_the_fastest_in_both_tables() -> None:
    numbers = {one.name: one.numbers for one in inconsistencies()}["joint_is_faster"]
    assert numbers["kb / q-EI, a batch"] == pytest.approx(0.16 / 0.09)
    assert numbers["kb / q-EI, a loop"] == pytest.approx(4.35 / 2.91)


def test_a_rounded_number_may_have_been_half_a_unit_off() -> None:
    assert span(0.22, 0.01) == pytest.approx((0.215, 0.225))


def test_the_standard_error_of_a_difference_adds_the_variances() -> None:
    assert standard_error(4, Printed(1.0, 3.0), Printed(2.0, 4.0), Printed(3.0)) == pytest.approx(2.5)
