from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from bench_rows import finished_cell, finished_cells
from hypothesis import given, settings
from hypothesis import strategies as st

from believer.experiments import hodges_lehmann, holm, vargha_delaney, wilcoxon
from believer_bench.ranking import LEVEL, Ranking, against, all_pairs, average_ranks, pairs_needed, rank
from believer_bench.runs import Run, read_runs


def runs_of(*args: object, **kwargs: object) -> tuple[Run, ...]:
    return read_runs(finished_cells(*args, **kwargs))[0]  # type: ignore[arg-type]


def test_ties_share_their_average_rank() -> None:
    np.testing.assert_array_equal(average_ranks(np.array([[3.0, 1.0, 1.0, 7.0]])), [[3.0, 1.5, 1.5, 4.0]])


@settings(max_examples=30)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=8))
def test_ranks_sum_to_those_of_distinct_values(values: list[int]) -> None:
    ranks = average_ranks(np.array(values, dtype=np.float64))
    assert ranks.sum() == len(values) * (len(values) + 1) / 2


def test_mean_ranks_are_over_problems_and_seeds() -> None:
    ranking = rank(runs_of({"a": 0.0, "b": 50.0, "c": 100.0}, seeds=range(3)))
    assert ranking.ranks == {"a": 1.0, "b": 2.0, "c": 3.0}
    assert len(ranking.blocks) == 6


def test_what_is_to_be_maximized_ranks_the_largest_first() -> None:
    assert rank(runs_of({"a": 0.0, "b": 50.0}, problems=("own",), maximize=True)).ranks == {"a": 2.0, "b": 1.0}


def test_only_blocks_that_all_ranked_members_have_count() -> None:
    rows = [row for row in finished_cells({"a": 0.0, "b": 1.0}) if row[0].seed != 7 or row[0].settings["member"] == "a"]
    ranking = rank(read_runs(rows)[0])
    assert len(ranking.blocks) == 38
    assert 7 not in {seed for _, seed in ranking.blocks}


def test_a_member_without_a_problem_or_with_few_seeds_is_not_ranked() -> None:
    rows = finished_cells({"a": 0.0, "b": 1.0})
    rows += finished_cells({"one problem": 0.0}, problems=("branin",)) + finished_cells({"few": 0.0}, seeds=range(9))
    ranking = rank(read_runs(rows)[0])
    assert set(ranking.ranks) == {"a", "b"}
    assert ranking.unranked == {"one problem": 20, "few": 18}
    assert len(ranking.blocks) == 40


def test_a_problem_that_few_members_ran_leaves_no_one_out() -> None:
    rows = finished_cells({"a": 0.0, "b": 1.0, "c": 2.0}) + finished_cells({"a": 0.0}, problems=("ackley8",))
    ranking = rank(read_runs(rows)[0])
    assert set(ranking.ranks) == {"a", "b", "c"}
    assert [case.problem for case in ranking.unused] == ["ackley8"]


def test_members_without_a_seed_in_common_are_not_ranked() -> None:
    rows = finished_cells({"a": 0.0}, seeds=(0,)) + finished_cells({"b": 0.0}, seeds=(1,))
    assert rank(read_runs(rows)[0]) == Ranking({}, (), {}, {"a": 0, "b": 0})


def test_members_with_other_seeds_cost_the_others_no_evidence() -> None:
    rows = finished_cells({"kb": 0.0, "random": 5.0})
    rows += finished_cells({"cl_min": 0.0}, seeds=range(10)) + finished_cells({"lp": 0.0}, seeds=range(10, 20))
    ranking = rank(read_runs(rows)[0])
    assert ranking.ranks == {"kb": 1.0, "random": 2.0}
    assert len(ranking.blocks) == 40
    assert ranking.unranked == {"cl_min": 20, "lp": 20}
    rows += finished_cells({"cl_max": 0.0}, seeds=range(10)) + finished_cells({"qei": 0.0}, seeds=range(10, 20))
    assert len(rank(read_runs(rows)[0]).blocks) == 40


@pytest.mark.parametrize("seeds", [5, 9, 10, 15])
def test_peers_with_fewer_seeds_leave_the_many_ranked_over_all_of_theirs(seeds: int) -> None:
    many = {f"member_{i}": 0.1 * i for i in range(19)}
    rows = finished_cells(many) + finished_cells({"botorch_qei": 0.0, "optuna_gp": 1.0}, seeds=range(seeds))
    runs = read_runs(rows)[0]
    ranking = rank(runs)
    assert list(ranking.ranks) == list(many)
    assert len(ranking.blocks) == 40
    assert ranking.unranked == {"botorch_qei": 2 * seeds, "optuna_gp": 2 * seeds}
    peers = [c for c in against(runs, "member_0") if c.theirs in ranking.unranked]
    assert [c.pairs for c in peers] == [seeds] * 4


def test_two_members_are_compared_on_the_little_that_they_share() -> None:
    rows = finished_cells({"kb": 0.0}) + finished_cells({"lp": 0.0}, seeds=range(15, 35))
    ranking = rank(read_runs(rows)[0])
    assert (set(ranking.ranks), len(ranking.blocks), ranking.runs) == ({"kb", "lp"}, 10, {"kb": 40, "lp": 40})


def test_where_the_signed_ranks_sum_to_zero_no_one_is_ahead() -> None:
    ends = [3.0, -1.0, -2.0]
    rows = [finished_cell("kb", end, s) for s, end in enumerate(ends)] + [finished_cell("lp", 0.0, s) for s in range(3)]
    (found,) = against(read_runs(rows)[0], "kb")
    assert (found.won, found.ours_ahead, found.ahead, found.p) == (2, None, None, 1.0)
    assert replace(found, pairs=20).verdict == "no difference shown"


def test_comparisons_are_the_house_statistics_of_the_paired_seeds() -> None:
    rows = finished_cells({"kb": 0.0, "lp": 0.05, "qei": 0.4}, seeds=range(12))
    rows = [row for row in rows if row[0].seed != 3 or row[0].settings["member"] != "kb"]
    found = against(read_runs(rows)[0], "kb")
    assert [(c.case.problem if c.case else "", c.theirs) for c in found] == [
        *(("branin", "lp"), ("branin", "qei"), ("hartmann6", "lp"), ("hartmann6", "qei"))
    ]
    values = {(c.settings["problem"], c.settings["member"], c.seed): min(r["values"]) for c, r in rows}
    for c in found:
        assert c.case is not None
        seeds = [seed for seed in range(12) if seed != 3]
        a, b = (np.array([values[c.case.problem, member, seed] for seed in seeds]) for member in ("kb", c.theirs))
        assert (c.pairs, c.won, c.tied) == (11, int((a < b).sum()), 0)
        assert c.p == wilcoxon(a - b)
        assert c.shift == hodges_lehmann(a - b)
        assert c.effect == vargha_delaney(b, a)
    assert [c.holm for c in found] == holm([c.p for c in found])
    assert {c.comparisons for c in found} == {4}


def test_the_effect_is_near_one_when_ours_wins_and_values_are_maximized_too() -> None:
    for maximize, levels in ((False, {"kb": 0.0, "lp": 5.0}), (True, {"kb": 5.0, "lp": 0.0})):
        (found,) = against(runs_of(levels, problems=("own",), maximize=maximize), "kb")
        assert found.effect == 1.0
        assert found.better == "kb"
        assert found.shift is not None
        assert found.shift < 0.0


def test_problems_are_pooled_without_regard_to_their_units() -> None:
    near = finished_cells({"a": 0.0, "b": 0.05}, problems=("branin",))
    far = finished_cells({"a": 0.0, "b": 0.05}, problems=("hartmann6",))
    scaled = [(cell, {**result, "values": [1e6 * v for v in result["values"]]}) for cell, result in far]
    first, second = read_runs(near + far)[0], read_runs(near + scaled)[0]
    (a,), (b,) = all_pairs(first, rank(first)), all_pairs(second, rank(second))
    assert (a.p, a.ours_ahead, a.case, a.pairs) == (b.p, b.ours_ahead, None, 40)
    assert a.p < 1.0


def test_opposite_differences_on_two_problems_cancel_and_show_up_one_by_one() -> None:
    rows = finished_cells({"a": 0.0, "b": 5.0}, problems=("branin",))
    rows += finished_cells({"a": 5.0, "b": 0.0}, problems=("hartmann6",))
    runs = read_runs(rows)[0]
    (pooled,) = all_pairs(runs, rank(runs))
    assert pooled.better is None
    assert [c.better for c in all_pairs(runs, rank(runs), by_case=True)] == ["a", "b"]


@pytest.mark.parametrize("comparisons", [1, 2, 13, 91, 120])
def test_so_many_pairs_are_needed_and_one_fewer_cannot_pass(comparisons: int) -> None:
    needed = pairs_needed(comparisons)
    assert comparisons * wilcoxon(np.arange(1.0, needed + 1.0)) < LEVEL
    assert comparisons * wilcoxon(np.arange(1.0, needed)) >= LEVEL
    assert pairs_needed(1) == 6


def test_verdicts_say_who_or_why_not() -> None:
    (base,) = against(runs_of({"kb": 0.0, "lp": 5.0}, problems=("branin",)), "kb")
    assert base.verdict == "kb better"
    assert replace(base, ours_ahead=False).verdict == "lp better"
    assert replace(base, holm=0.3).verdict == "no difference shown (kb ahead)"
    assert replace(base, holm=0.3, won=10).verdict == "no difference shown"
    assert replace(base, holm=0.3, pairs=5).verdict == "too few seeds to say"


def test_equal_runs_are_ties_with_nothing_shown() -> None:
    rows = [finished_cell(member, float(seed), seed) for seed in range(20) for member in ("kb", "lp")]
    (found,) = against(read_runs(rows)[0], "kb")
    assert (found.won, found.tied, found.p, found.effect) == (0, 20, 1.0, 0.5)
    assert found.verdict == "no difference shown"
    assert math.isclose(sum(rank(read_runs(rows)[0]).ranks.values()), 3.0)
