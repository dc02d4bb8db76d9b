from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from believer.errors import InvalidInput
from believer_paper.numbers.printed import Printed
from believer_paper.tables.comparison import INTERVAL_FROM, Comparison, summarize

NUMBERS = st.floats(-100.0, 100.0)


def compared(paper: Printed | None, *ours: float) -> Comparison:
    return Comparison(paper, summarize(ours))


def test_a_summary_has_the_mean_the_std_over_n_minus_one_the_median_and_the_first() -> None:
    found = summarize([1.0, 5.0, 3.0])
    assert (found.n, found.mean, found.std, found.median, found.first) == (3, 3.0, 2.0, 3.0, 1.0)


@given(st.lists(NUMBERS, min_size=2, max_size=8), NUMBERS, st.floats(0.0, 50.0), st.integers(1, 20))
def test_the_standard_error_is_that_of_a_difference_of_two_means(
    ours: list[float], mean: float, std: float, n: int
) -> None:
    found = compared(Printed(mean, std, n=n), *ours)
    error = math.sqrt(float(np.var(ours, ddof=1)) / len(ours) + std**2 / n)
    assert found.difference == np.mean(ours) - mean
    assert found.standard_error == pytest.approx(error, abs=1e-12)
    if abs(abs(np.mean(ours) - mean) - 2.0 * error) > 1e-9:
        assert found.within == (abs(np.mean(ours) - mean) < 2.0 * error)


def test_both_spreads_count_by_their_seeds() -> None:
    # Ours: 3 ± 2 over 4 values, so √(4/4 + 36/9) = √5 against 6 over nine seeds.
    ours = (1.0, 5.0, 3.0 - math.sqrt(2.0), 3.0 + math.sqrt(2.0))
    found = compared(Printed(0.0, 6.0, n=9), *ours)
    assert found.standard_error == pytest.approx(math.sqrt(5.0))
    assert found.errors == pytest.approx(3.0 / math.sqrt(5.0))
    assert compared(Printed(3.0 - 4.4, 6.0, n=9), *ours).within is True
    assert compared(Printed(3.0 - 4.5, 6.0, n=9), *ours).within is False


def test_a_printed_spread_over_nobody_knows_how_many_is_taken_as_that_of_one() -> None:
    assert compared(Printed(3.0, 2.0), 3.0, 3.0).standard_error == 2.0


def test_one_value_of_the_paper_without_a_spread_counts_as_one_more_draw_of_ours() -> None:
    found = compared(Printed(7.0), 1.0, 5.0, 3.0)
    assert found.standard_error == pytest.approx(2.0 * math.sqrt(1.0 + 1.0 / 3.0))
    assert found.within is True
    assert compared(Printed(7.7), 1.0, 5.0, 3.0).within is False


def test_of_one_value_of_ours_the_papers_spread_stands_in() -> None:
    assert compared(Printed(2.0, 1.0, n=4), 4.2).standard_error == pytest.approx(math.sqrt(1.25))
    assert compared(Printed(2.0, 1.0, n=4), 4.2).within is True
    assert compared(Printed(2.0, 1.0, n=4), 4.3).within is False


def test_without_any_spread_or_any_printed_number_there_is_no_answer() -> None:
    assert compared(Printed(2.0), 2.0).within is None
    assert compared(None, 1.0, 2.0).within is None
    assert compared(None, 1.0, 2.0).difference is None
    assert compared(None, 1.0, 2.0).standard_error is None


def test_values_that_depend_on_each_other_have_no_standard_error() -> None:
    assert Comparison(Printed(2.0, 1.0, n=4), summarize([1.0, 2.0], independent=False)).errors is None


def test_where_nothing_varies_equal_is_within_and_anything_else_is_not() -> None:
    assert compared(Printed(0.0, 0.0), 0.0, 0.0).within is True
    assert compared(Printed(0.0, 0.0), 0.1, 0.1).errors == math.inf
    assert compared(Printed(0.0, 0.0), 0.1, 0.1).within is False


def test_a_printed_bound_is_met_by_all_below_it() -> None:
    bound = Printed(1e-4, bound=True)
    assert compared(bound, 1e-9, 1.1e-9).within is True
    assert compared(bound, 1e-9).within is True
    assert compared(bound, 2e-4, 2.1e-4).within is False
    assert compared(Printed(1e-4), 1e-9, 1.1e-9).within is False


def test_an_interval_of_the_median_needs_six_independent_values() -> None:
    values = [float(v) for v in range(INTERVAL_FROM)]
    found = summarize(values)
    assert found.interval is not None
    low, high = found.interval
    assert low < found.median < high
    assert summarize(values[:-1]).interval is None
    assert summarize(values, independent=False).interval is None


def test_nothing_has_no_summary() -> None:
    with pytest.raises(InvalidInput, match="at least one value"):
        summarize([])
