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


@given(st.lists(NUMBERS, min_size=2, max_size=8), NUMBERS, st.floats(0.0, 50.0))
def test_within_is_a_difference_of_at_most_the_root_of_both_variances(
    ours: list[float], mean: float, std: float
) -> None:
    found = compared(Printed(mean, std), *ours)
    spread = math.sqrt(float(np.var(ours, ddof=1)) + std**2)
    assert found.difference == np.mean(ours) - mean
    assert found.spread == pytest.approx(spread, abs=1e-12)
    if abs(abs(np.mean(ours) - mean) - spread) > 1e-9:
        assert found.within == (abs(np.mean(ours) - mean) < spread)


def test_both_spreads_count() -> None:
    # |3 - 7| = 4: less than neither 2 nor 3.5 alone, less than √(4 + 12.25) = 4.03.
    ours = (1.0, 5.0, 3.0)
    assert compared(Printed(7.0, 3.5), *ours).within is True
    assert compared(Printed(7.0, 3.4), *ours).within is False
    assert compared(Printed(7.0), *ours).within is False


def test_where_the_paper_prints_no_spread_ours_alone_counts() -> None:
    assert compared(Printed(5.0), 1.0, 5.0, 3.0).within is True
    assert compared(Printed(5.1), 1.0, 5.0, 3.0).within is False


def test_of_one_value_the_papers_spread_alone_counts() -> None:
    assert compared(Printed(2.0, 1.0), 2.9).within is True
    assert compared(Printed(2.0, 1.0), 3.1).within is False


def test_without_any_spread_or_any_printed_number_there_is_no_answer() -> None:
    assert compared(Printed(2.0), 2.0).within is None
    assert compared(None, 1.0, 2.0).within is None
    assert compared(None, 1.0, 2.0).difference is None
    assert compared(None, 1.0, 2.0).spread is None


def test_equal_numbers_without_variation_are_within() -> None:
    assert compared(Printed(0.0, 0.0), 0.0, 0.0).within is True


def test_a_printed_bound_is_met_by_all_below_it() -> None:
    bound = Printed(1e-4, bound=True)
    assert compared(bound, 1e-9, 1.1e-9).within is True
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
