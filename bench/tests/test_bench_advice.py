from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest
from bench_rows import Finished, finished_cell, finished_cells

from believer.batch import STRATEGIES
from believer.optimizer import Optimizer
from believer.space import Space
from believer_bench.advice import Advice, advise, default_strategy, is_ours, reference_of
from believer_bench.runs import read_runs

SPEED = {"kb": 30.0, "qei": 60.0, "lp": 15.0, "random": 1.0}


def advice_of(rows: Finished, reference: str = "kb") -> Advice:
    (found,) = advise(read_runs(rows)[0], reference)
    return found


def made(levels: Mapping[str, float], **options: Any) -> Finished:
    return finished_cells(levels, ms=lambda member: SPEED.get(member, 20.0), **options)


def test_the_reference_is_the_optimizers_own_default() -> None:
    assert STRATEGIES[default_strategy()] == Optimizer(Space.cube(1), seed=0).settings.strategy
    runs = read_runs(made({"lp": 0.0, default_strategy(): 0.0}))[0]
    assert reference_of(runs, default_strategy()) == default_strategy()
    assert reference_of(runs, "absent") == "lp"
    assert reference_of((), "absent") is None


def test_the_best_is_named_with_its_numbers_and_who_is_worse() -> None:
    found = advice_of(made({"kb": 0.0, "qei": 0.0, "random": 9.0}, jitter=0.5))
    assert found.verdict in ("kb", "qei")
    assert {s.member for s in found.not_worse} == {"kb", "qei"}
    assert f"q=3: use {found.verdict} (mean rank 1." in found.sentence
    assert "of 3 over 2 problems x 20 seeds; not shown worse than any;" in found.sentence
    assert "Shown worse: random." in found.sentence
    assert "No difference shown: " in found.sentence


def test_the_fastest_is_chosen_among_those_not_shown_worse_only() -> None:
    found = advice_of(made({"kb": 0.0, "qei": 0.01, "lp": 0.02, "random": 9.0}, jitter=1.0))
    assert found.fastest is not None
    assert found.fastest.member == "lp"
    assert "The fastest of these is lp: 15 ms a batch." in found.sentence or found.verdict == "lp"


def test_how_much_slower_the_others_are_is_said() -> None:
    found = advice_of(made({"kb": 0.0, "qei": 0.0}, jitter=0.05))
    other = next(s for s in found.placings if s.member != found.verdict)
    ratio = {"kb": "0.5x the time", "qei": "2.0x the time"}[other.member]
    assert other.better is None
    assert other.p is not None
    told = f"p={other.p:.2g}, {ratio}" if other.p < 0.995 else ratio
    assert f"No difference shown: {other.member} ({told})." in found.sentence


@pytest.mark.parametrize(("better", "worse"), [("kb", "qei"), ("qei", "kb")])
def test_the_verdict_flips_with_the_data(better: str, worse: str) -> None:
    found = advice_of(made({better: 0.0, worse: 2.0}))
    assert found.verdict == better
    assert found.sentence.startswith(f"q=3: use {better} (mean rank 1.0 of 2")
    assert f"Shown worse: {worse}." in found.sentence
    assert ("The default, kb, is shown worse than qei (p=" in found.sentence) == (better == "qei")


def test_altering_one_members_values_alters_the_verdict() -> None:
    rows = made({"kb": 0.0, "qei": 2.0})
    altered = [
        (c, {**r, "values": [v - 4.0 for v in r["values"]]} if c.settings["member"] == "qei" else r) for c, r in rows
    ]
    assert (advice_of(rows).verdict, advice_of(altered).verdict) == ("kb", "qei")


@pytest.mark.parametrize("seeds", [1, 2])
def test_few_seeds_say_nothing_but_who_is_ahead(seeds: int) -> None:
    found = advice_of(made({"kb": 0.0, "qei": 5.0}, seeds=range(seeds)))
    assert found.verdict is None
    assert f"too few seeds to say: 1 comparison takes 6 paired runs, and there are {2 * seeds}." in found.sentence
    assert "Ahead so far: kb (mean rank 1.0 of 2" in found.sentence
    assert {found.verdict_on(s) for s in found.placings} == {"best mean rank", "too few seeds to say"}


def test_five_seeds_of_one_problem_are_too_few_and_six_are_not() -> None:
    levels = {"kb": 0.0, "qei": 5.0}
    assert advice_of(made(levels, seeds=range(5), problems=("branin",))).verdict is None
    assert advice_of(made(levels, seeds=range(6), problems=("branin",))).verdict == "kb"


def test_one_member_has_nothing_to_be_compared_with() -> None:
    found = advice_of(made({"kb": 0.0}))
    assert found.sentence == "q=3: only kb was run (30 ms a batch): nothing to compare it with."
    assert found.verdict is None
    beside = advice_of(made({"kb": 0.0}) + made({"lp": 0.0}, seeds=range(3)))
    assert beside.sentence == "q=3: only kb was run in full (30 ms a batch): nothing to compare it with."


def test_members_that_never_ran_the_same_seed_give_no_advice() -> None:
    found = advice_of(made({"kb": 0.0}, seeds=(0,)) + made({"lp": 0.0}, seeds=(1,)))
    assert found.best is None
    assert found.fastest is None
    assert "no run is shared" in found.sentence


def test_where_all_members_are_the_same_none_is_recommended() -> None:
    rows = [finished_cell(m, float(s), s, q=1, ms=SPEED[m]) for s in range(20) for m in ("kb", "lp", "random")]
    found = advice_of(rows)
    assert found.sentence.startswith("q=1 (sequential): all members ended alike in every run")
    assert "use" not in found.sentence
    assert found.verdict == "kb"


def test_of_members_with_the_same_rank_the_default_comes_first_and_the_faster_is_named() -> None:
    rows = [finished_cell(m, float(s), s, ms=SPEED[m]) for s in range(20) for m in ("kb", "lp")]
    rows += [finished_cell("random", 50.0 + s, s) for s in range(20)]
    found = advice_of(rows)
    assert found.sentence.startswith("q=3: use kb")
    assert "lp (the same in every run, 0.5x the time)" in found.sentence


def test_a_problem_that_says_otherwise_is_an_exception() -> None:
    rows = made({"kb": 0.0, "qei": 5.0, "random": 9.0}, problems=("branin", "ackley8"))
    rows += made({"kb": 5.0, "qei": 0.0, "random": 9.0}, problems=("hartmann6",))
    found = advice_of(rows)
    assert found.verdict == "kb"
    assert "On hartmann6 alone, qei is shown better (p=" in found.sentence
    assert found.above_reference == ()
    assert found.above_singly[0].startswith("qei on hartmann6")


def test_what_is_said_of_the_default_rests_on_stated_families_of_tests() -> None:
    levels = {"qei": 0.0, "kb": 0.05, "random": 9.0}
    other = advice_of(made(levels, jitter=1.0)).placings[1].member
    told = advice_of(made(levels, jitter=1.0), other).sentence
    assert (
        f"The default, {other}, is not shown worse than any in 3 comparisons over all problems, "
        "nor on single ones in 6 of their own." in told
    )
    one = advice_of(made({"qei": 0.0, "kb": 5.0}, problems=("branin",))).sentence
    assert re.search(r"The default, kb, is shown worse than qei \(p=\S+\) in 1 comparison\.", one)
    both = advice_of(made({"qei": 0.0, "kb": 5.0, "lp": 9.0})).sentence
    assert re.search(
        r"worse than qei \(p=\S+\) in 3 comparisons over all problems, and on single problems than qei on branin", both
    )
    rows = made({"kb": 5.0, "qei": 0.0}, problems=("branin",)) + made({"kb": 0.0, "qei": 5.0}, problems=("hartmann6",))
    rows += made({"kb": 0.2, "qei": 0.0}, problems=("ackley8",), jitter=1.0)
    found = advice_of(rows, "kb")
    other = "branin" if found.best is not None and found.best.member == "qei" else "hartmann6"
    mixed = advice_of(rows, "kb" if other == "branin" else "qei").sentence
    assert "any in 1 comparison over all problems, but shown worse on single problems than " in mixed
    assert f" on {other}" in mixed


def test_one_problem_with_two_budgets_is_told_apart() -> None:
    rows = made({"kb": 0.0, "qei": 5.0}, problems=("branin", "hartmann6"))
    rows += made({"kb": 5.0, "qei": 0.0}, problems=("branin",), budget=20)
    assert "On branin (4 of 20 evaluations initial) alone, qei is shown better" in advice_of(rows).sentence


def test_whoever_is_left_out_or_cuts_the_evidence_is_named() -> None:
    rows = made({"kb": 0.0, "qei": 1.0, "random": 2.0}) + made({"lp": 0.0}, seeds=range(10))
    assert advice_of(rows).left_out == (
        "Not ranked at q=3, for want of runs (how many they have of the 40 that the others share): lp (20).",
    )
    rows = made({"kb": 0.0}) + made({"qei": 1.0}, seeds=range(15))
    assert advice_of(rows).left_out == (
        "The ranks at q=3 are over the 30 runs that all ranked members share, of up to 40 that one has. "
        "The fewest: qei.",
    )


def test_random_points_as_good_as_any_are_pointed_out() -> None:
    for best in ("kb", "random"):
        told = advice_of(made({"kb": 0.05, "random": 0.05} | {best: 0.0}, jitter=1.0)).sentence
        assert "Random points are not shown worse" in told
    assert "Random points" not in advice_of(made({"kb": 0.0, "random": 5.0})).sentence


def test_where_a_peer_is_best_the_best_of_our_own_is_named() -> None:
    assert not is_ours("botorch_qei")
    assert is_ours("kb@forest")
    found = advice_of(made({"botorch_qei": 0.0, "kb": 3.0, "lp": 6.0}))
    assert "The best of this library is kb (shown worse, p=" in found.sentence
    assert "The default, kb, is shown worse than botorch_qei (p=" in found.sentence


def test_unequal_seeds_are_counted_as_paired_runs() -> None:
    rows = [row for row in made({"kb": 0.0, "qei": 1.0}) if row[0].settings["problem"] == "branin" or row[0].seed < 15]
    assert "over 35 paired runs on 2 problems" in advice_of(rows).sentence


def test_each_batch_size_has_its_own_advice() -> None:
    rows = made({"kb": 0.0, "qei": 5.0}, q=(3,)) + made({"kb": 5.0, "qei": 0.0}, q=(10,))
    assert [(a.q, a.verdict) for a in advise(read_runs(rows)[0], "kb")] == [(3, "kb"), (10, "qei")]


def test_times_are_those_of_the_ranked_runs() -> None:
    rows = made({"kb": 0.0, "lp": 1.0, "qei": 1.0}) + finished_cells({"kb": 0.0}, problems=("own",), ms=lambda _: 900.0)
    rows += finished_cells({"kb": 0.0}, problems=("own",), seeds=range(20, 200), ms=lambda _: 900.0)
    assert {s.member: s.ms for s in advice_of(rows).placings}["kb"] == pytest.approx(30.0)
