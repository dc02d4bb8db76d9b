"""What a suite's report computes, on made-up runs whose answers are known."""

from typing import Any

import numpy as np
import pytest
from bench_rows import finished_cell

from believer.experiments import Cell, holm, wilcoxon
from believer_bench.classes import EVERY, ClassLine, class_lines
from believer_bench.profiles import counts, data_profile, performance_profile
from believer_bench.runs import Run, sound_runs
from believer_bench.scores import FLOOR, evaluations_to, final, log_regrets, measure_of, recommended
from believer_bench.suite_report import suite_report
from believer_bench.suite_tables import class_table, effort_table

NOISY = "branin_noise50"


def made(member: str, shares: list[float], problem: str = "branin", seed: int = 0, **more: Any) -> tuple[Cell, Any]:
    """A run whose regrets, in shares of the scale, are ``shares``, one after another."""
    measure = measure_of(problem)
    settings = {"q": 1, "n_init": 1, "budget": len(shares)} | more
    one, result = finished_cell(member, 0.0, seed, problem, **settings)
    return one, {**result, "values": [measure.optimum + share * measure.scale for share in shares]}


def runs_of(*finished: tuple[Cell, Any]) -> tuple[Run, ...]:
    return sound_runs(finished)[0]


def test_log_regret_is_of_the_best_so_far_over_the_scale_and_has_a_floor() -> None:
    (run,) = runs_of(made("kb", [1.0, 0.1, 0.5, 0.01, 0.0]))
    np.testing.assert_allclose(log_regrets(run), [0.0, -1.0, -1.0, -2.0, np.log10(FLOOR)], atol=1e-9)
    assert final(run) == pytest.approx(-6.0)
    assert [evaluations_to(run, target) for target in (0.5, 0.02, 1e-4)] == [2.0, 4.0, 5.0]
    assert evaluations_to(runs_of(made("kb", [1.0, 0.9]))[0], 0.1) == np.inf


def test_a_noisy_run_is_judged_by_true_values() -> None:
    one, result = made("kb", [-5.0, -7.0, -9.0], NOISY)
    measure = measure_of(NOISY)
    assert measure.noisy
    truths = [measure.optimum + share * measure.scale for share in (1.0, 0.1, 0.3)]
    (run,) = runs_of((one, {**result, "truths": truths, "recommended": truths[2]}))
    np.testing.assert_allclose(log_regrets(run), [0.0, -1.0, -1.0], atol=1e-9)
    assert recommended(run) == pytest.approx(np.log10(0.3))


def test_profiles_of_known_runs_are_known() -> None:
    runs = runs_of(
        made("a", [1.0, 0.05, 0.0], seed=0),
        made("b", [1.0, 1.0, 1.0, 0.05], seed=0),
        made("a", [1.0] * 6, seed=1),
        made("b", [1.0] * 5 + [0.1], seed=1),
        made("a", [1.0] * 3, seed=2),
        made("b", [1.0] * 3, seed=2),
        made("a", [0.0], seed=3),  # no other has it: it does not count
    )
    needed = counts(runs, 0.1)
    assert {member: own.tolist() for member, own in needed.items()} == {"a": [2, np.inf, np.inf], "b": [4, 6, np.inf]}
    n = np.array([1.0, 2.0, 4.0, 6.0])
    np.testing.assert_allclose(data_profile(needed["a"], n), np.array([0, 1, 1, 1]) / 3)
    np.testing.assert_allclose(data_profile(needed["b"], n), np.array([0, 0, 1, 2]) / 3)
    found = performance_profile(needed, np.array([1.0, 1.9, 2.0]))
    np.testing.assert_allclose(found["a"], np.array([1, 1, 1]) / 3)
    np.testing.assert_allclose(found["b"], np.array([1, 1, 2]) / 3)


def lines_for(differences: dict[str, list[float]], problem: str = "branin") -> tuple[ClassLine, ...]:
    """Lines of members that differ from the reference, at 10 % of the scale, by so many decades, seed by seed."""
    seeds = range(len(next(iter(differences.values()))))
    finished = [made("kb", [1.0, 0.1], problem, seed) for seed in seeds]
    for member, by in differences.items():
        finished += [made(member, [1.0, 0.1 * 10.0 ** by[seed]], problem, seed) for seed in seeds]
    return class_lines(runs_of(*finished), "kb")


def test_differences_are_paired_tested_and_corrected_over_classes_and_members() -> None:
    better, mixed = [-0.1 * (i + 1) for i in range(8)], [0.5, -0.4, 0.3, -0.2, 0.1, 0.6, -0.7, 0.0]
    lines = lines_for({"better": better, "mixed": mixed})
    by = {(line.kind, line.member): line for line in lines}
    kind = measure_of("branin").kind
    p = [wilcoxon(better), wilcoxon([round(d, 9) for d in mixed])]
    assert p[0] == pytest.approx(2 / 2**8)
    for at in (kind, EVERY):
        assert by[at, "kb"].difference is by[at, "kb"].holm is None
        assert by[at, "better"].difference == pytest.approx(np.mean(better))
        assert (by[at, "better"].won, by[at, "better"].tied, by[at, "better"].lost) == (8, 0, 0)
        assert [by[at, m].p for m in ("better", "mixed")] == pytest.approx(p)
        assert [by[at, m].holm for m in ("better", "mixed")] == pytest.approx(holm(p))
        assert [by[at, m].verdict for m in ("better", "mixed")] == ["better", ""]
        assert by[at, "better"].low < by[at, "better"].mean < by[at, "better"].high
    assert by[EVERY, "kb"].mean == pytest.approx(-1.0)


def test_a_line_on_all_is_over_what_every_member_ran() -> None:
    shared = [made(member, [1.0, 0.1], "branin", seed) for seed in range(3) for member in ("kb", "peer")]
    report = suite_report([*shared, *(made("kb", [1.0, 1.0], "coarse4", seed) for seed in range(3))])
    on_all = {line.member: line for line in report.lines if line.kind == EVERY}
    assert {member: (line.problems, line.runs) for member, line in on_all.items()} == {"kb": (1, 3), "peer": (1, 3)}
    assert on_all["kb"].mean == pytest.approx(-1.0)
    assert report.notices == ("peer, q=1 (sequential): 3 of 6 runs are missing, on coarse4.",)
    table = class_table(report.lines)
    assert [row[0] for row in table.rows] == ["smooth", "integer", "all"]
    assert table.rows[1][-1] == "-"


def test_pairs_are_those_of_a_batch_or_with_pending_points() -> None:
    sync, later = runs_of(finished_cell("kb", 0.0, q=3), finished_cell("kb", 0.0, q=3, mode="async"))
    assert sync.batches == (3, 3, 3, 1)
    assert sync.pairs.tolist() == [3, 3, 3, 0]
    assert later.pairs.tolist() == [0, 1, 2, 2]
    group = suite_report([finished_cell("kb", 0.0, q=3)]).lines[0].group
    (row,) = effort_table({group: [sync]}).rows
    assert row[6] == "44 %"  # one of each batch's pairs, and one told of the single point: 4 of 9


def test_worse_and_better_are_colored_apart() -> None:
    table = class_table([line for line in lines_for({"better": [-1.0] * 3, "worse": [1.0] * 3}) if line.kind == EVERY])
    assert table.tones is not None
    (tones,) = table.tones
    assert tones[2:] == ["", "good 3", "bad 3"]
    assert 'class="good 3"' in table.html()
