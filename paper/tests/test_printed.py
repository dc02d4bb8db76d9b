from __future__ import annotations

import math
from itertools import product

import pytest

from believer.problems import PROBLEMS
from believer_paper.numbers import printed

SURROGATES = ("gp", "mq_rbf", "neural", "forest")


def test_every_table_has_the_rows_of_the_paper() -> None:
    sizes = [len(getattr(printed, f"TABLE_{number}")) for number in range(1, 14)]
    assert sizes == [8, 8, 4, 18, 3, 3, 6, 8, 4, 3, 4, 15, 11]


def test_keys_are_the_words_of_the_cells() -> None:
    assert set(printed.TABLE_2) == set(product(SURROGATES, (2, 3)))
    assert set(printed.TABLE_8) == set(product(SURROGATES, ("ei", "ucb")))
    assert set(printed.TABLE_3) == set(printed.TABLE_9) == set(printed.TABLE_11) == set(SURROGATES)
    batches = product(("cl_min", "kb", "lp", "random"), (2, 3))
    rows = [*batches, ("sequential", 1)]
    assert set(printed.TABLE_4) == {(*row, problem) for row in rows for problem in ("hartmann6", "ackley8")}
    assert set(printed.TABLE_5) == set(printed.TABLE_10)


def test_runtimes_cover_every_experiment_once() -> None:
    names = [name for row in printed.TABLE_13 for name in row]
    assert sorted(names) == sorted([f"exp{n}" for n in (1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12)] + ["exp7a", "exp7b"])


def test_the_total_of_the_runtimes_is_their_sum_to_the_minute() -> None:
    total = sum(row.mean for row in printed.TABLE_13.values() if not row.bound)
    assert total == pytest.approx(printed.TOTAL_SECONDS, abs=60.0)


def test_the_same_runs_of_the_diagnostic_have_the_same_digits_in_each_table() -> None:
    for name in SURROGATES:
        update = "condition" if name in ("gp", "mq_rbf") else "none"
        seventh, eighth = printed.TABLE_7[name, update], printed.TABLE_8[name, "ei"]
        row = printed.TABLE_2[name, 3]
        assert (row.minimum, row.mean) == (seventh.minimum, seventh.mean) == (eighth.minimum, eighth.mean)


def test_the_pair_of_a_batch_of_two_has_one_distance() -> None:
    assert all(row.minimum == row.mean for (_, q), row in printed.TABLE_2.items() if q == 2)


def test_a_batch_is_called_diverse_where_its_points_are_distinct() -> None:
    rows = [*printed.TABLE_2.values(), *printed.TABLE_7.values(), *printed.TABLE_11.values()]
    assert all(row.diverse == (row.minimum > printed.DISTINCT) for row in rows)
    assert all(row.minimum <= row.mean for row in [*rows, *printed.TABLE_8.values()])
    assert all(
        (row.diverse == row.datasets) == (row.minimum.mean > printed.DISTINCT) for row in printed.TABLE_9.values()
    )


def test_no_final_value_is_below_the_minimum() -> None:
    finals = [(problem, value.mean) for (_, _, problem), value in printed.TABLE_4.items()]
    finals += [("hartmann6", row.final.mean) for row in [*printed.TABLE_5.values(), *printed.TABLE_6.values()]]
    finals += [("levy10", value.mean) for value in printed.Q10_FINAL.values()]
    for problem, mean in finals:
        optimum = PROBLEMS[problem]().optimum
        assert optimum is not None
        assert mean > optimum


def test_no_distance_on_hartmann_is_beyond_the_diameter_of_the_unit_cube() -> None:
    low, high, d = printed.BOXES["hartmann6"]
    rows = [*printed.TABLE_2.values(), *printed.TABLE_7.values(), *printed.TABLE_8.values()]
    assert max(row.mean for row in rows) < (high - low) * math.sqrt(d)


def test_ratios_of_a_step_follow_from_its_seconds_to_the_printed_digits() -> None:
    neural = printed.TABLE_3["neural"].seconds.mean
    assert neural / printed.TABLE_3["forest"].seconds.mean == pytest.approx(printed.TABLE_3["forest"].ratio, abs=0.05)
    assert (neural - 5e-4) / 4.5e-4 < printed.TABLE_3["gp"].ratio < (neural + 5e-4) / 3.5e-4
    assert printed.TABLE_3["mq_rbf"].seconds.bound
    assert neural / printed.TABLE_3["mq_rbf"].ratio < printed.TABLE_3["mq_rbf"].seconds.mean


def test_the_suppression_radius_is_where_half_of_the_variance_goes() -> None:
    assert pytest.approx(math.sqrt(math.log(2.0)), abs=0.005) == printed.SUPPRESSION_RADIUS


def test_the_text_repeats_the_tables() -> None:
    spreads = [row.final.std for row in printed.TABLE_5.values()]
    assert (min(spreads, key=lambda s: s or 0.0), max(spreads, key=lambda s: s or 0.0)) == printed.FINAL_SPREAD
    refit, gp = printed.TABLE_7["neural", "refit"].seconds, printed.TABLE_7["gp", "condition"].seconds
    assert refit is not None
    assert gp is not None
    assert refit / gp == pytest.approx(printed.COST_RATIOS["retrained"])


def test_designs_have_two_points_a_dimension() -> None:
    assert all(printed.N_INIT[problem] == 2 * d for problem, (_, _, d) in printed.BOXES.items())


def test_the_order_of_the_large_batch_is_as_the_text_tells_it() -> None:
    order = sorted(printed.Q10_FINAL, key=lambda strategy: printed.Q10_FINAL[strategy].mean)
    assert order == ["sequential", "cl_min", "kb", "random"]
    assert 3 < printed.Q10_SEQUENTIAL_AT_15 / printed.Q10_FINAL["cl_min"].mean < 4
