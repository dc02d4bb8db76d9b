from __future__ import annotations

import numpy as np
from each import each

from believer.batch.trust_box import FIRST, LARGEST, SMALLEST, BoxState, box_state, merits_of

DIM, DESIGN = 5, 10


def state_after(batches: list[list[float]], pending: int = 0, design: int = DESIGN) -> BoxState:
    """After a design of ten, at 100 to 109, and batches that were each told before the next; NaN is a failure."""
    values = [100.0 + i for i in range(10)]
    then: dict[int, int] = {}
    for batch in batches:
        before = len(values)
        then.update({before + i: before for i in range(len(batch))})
        values += batch
    ids = [i for i, value in enumerate(values) if not np.isnan(value)]
    waiting = range(len(values), len(values) + pending)
    then.update(dict.fromkeys(waiting, len(values)))
    return box_state(ids, np.array(values)[ids], [*waiting], then, DIM, design)


def better(round_: int, q: int = 4) -> list[float]:
    return [90.0 - 10.0 * round_ + i for i in range(q)]


def worse(q: int = 5) -> list[float]:
    return [200.0 + i for i in range(q)]


def collapse() -> list[list[float]]:
    halvings = int(np.log2(FIRST / SMALLEST)) + 1
    return [worse() for _ in range(halvings)]


def test_a_box_begins_about_the_best_of_the_design() -> None:
    assert state_after([]) == BoxState(FIRST, 0)


def test_three_batches_with_something_better_double_the_box_and_two_do_not() -> None:
    assert state_after([better(i) for i in range(2)]).length == FIRST
    assert state_after([better(i) for i in range(3)]).length == min(2.0 * FIRST, LARGEST)
    assert state_after([better(i) for i in range(9)]).length == LARGEST


def test_a_batch_as_large_as_the_dimension_without_success_halves_the_box_once_however_large_it_is() -> None:
    for q in (5, 8, 50):
        assert state_after([worse(q)]).length == 0.5 * FIRST, q
    assert state_after([worse(3)]).length == FIRST
    assert state_after([worse(3), worse(3)]).length == 0.5 * FIRST


def test_one_success_in_a_batch_makes_the_whole_batch_one_wherever_it_stands_in_it() -> None:
    for place in range(12):
        batch = worse(12)
        batch[place] = 50.0
        state = state_after([batch])
        assert state == BoxState(FIRST, 10 + place), place


def test_an_improvement_that_is_nothing_beside_the_spread_of_its_batch_is_no_success() -> None:
    assert state_after([[99.999, *worse(9)]]).length == 0.5 * FIRST
    assert state_after([[99.999, *worse(9)]]).center == 10


def test_the_state_does_not_depend_on_the_units_of_merit() -> None:
    rng = np.random.default_rng(0)
    batches = [list(rng.normal(95.0 - i, 5.0, 6)) for i in range(12)]
    moved = [[3e7 * value - 4e9 for value in batch] for batch in batches]
    for n in range(13):
        ids = [*range(10 + 6 * n)]
        then = {10 + 6 * i + j: 10 + 6 * i for i in range(n) for j in range(6)}
        design = [100.0 + i for i in range(10)]
        plain = box_state(ids, np.array(sum(batches[:n], design)), [], then, DIM, DESIGN)
        other = [3e7 * value - 4e9 for value in design]
        assert box_state(ids, np.array(sum(moved[:n], other)), [], then, DIM, DESIGN) == plain


def test_failed_evaluations_count_as_no_success() -> None:
    assert state_after([[float("nan")] * 5]).length == 0.5 * FIRST
    assert state_after([[*([float("nan")] * 4), 50.0]]).length == FIRST


def test_a_box_that_became_tiny_is_given_up_and_the_next_begins_at_points_of_its_own() -> None:
    state = state_after(collapse())
    assert (state.length, state.center, state.boxes, state.begun) == (FIRST, None, 1, 0)
    assert state_after(collapse(), pending=3).begun == 3
    begun = state_after([*collapse(), [150.0, 140.0, 160.0]])
    assert (begun.boxes, begun.begun, begun.length) == (1, 3, FIRST)
    assert begun.center == 10 + 5 * len(collapse()) + 1  # the best of its own, not of all


def test_the_design_of_a_further_box_is_not_judged_and_what_comes_after_it_is() -> None:
    whole = [*collapse(), worse(DESIGN)]
    assert state_after(whole).length == FIRST
    assert state_after(whole).begun == DESIGN
    assert state_after([*whole, [300.0] * 5]).length == 0.5 * FIRST


def test_what_was_chosen_in_a_box_that_was_given_up_says_nothing_of_the_next() -> None:
    batches = collapse()
    values = [100.0 + i for i in range(10)] + [value for batch in batches for value in batch]
    then = {10 + 5 * i + j: 10 + 5 * i for i in range(len(batches)) for j in range(5)}
    n, late = len(values), len(values)
    then[late] = n - 5  # it was under way when the last batch of the box was told
    then[late + 1] = n
    state = box_state([*range(n + 2)], np.array([*values, 210.0, 170.0]), [], then, DIM, DESIGN)
    assert (state.boxes, state.begun, state.center) == (1, 1, late + 1)


@each("workers", [1, 2, 7, 40])
def test_workers_that_are_never_idle_shrink_the_box_about_once_in_as_many_trials_as_are_under_way(workers: int) -> None:
    n = 240
    then = {10 + i: max(10, 10 + i - workers + 1) for i in range(n)}
    merits = np.array([100.0 + i for i in range(10)] + [200.0] * n)
    lengths = []
    for k in range(0, 5 * max(workers, DIM), max(workers, DIM)):
        known = {trial: before for trial, before in then.items() if trial < 10 + k}
        lengths.append(box_state([*range(10 + k)], merits[: 10 + k], [], known, DIM, DESIGN).length)
    halved = np.log2(FIRST / np.array(lengths))
    assert (np.diff(halved) <= 1.0 + 1e-9).all()
    assert halved[-1] >= 2.0


def test_points_that_break_limits_are_ranked_behind_all_others_and_by_how_much_they_do() -> None:
    Y, excess = np.array([5.0, -9.0, 7.0, 0.0]), np.array([0.0, 2.0, 0.0, 1.0])
    merits = merits_of(Y, excess, excess == 0.0)
    assert [int(i) for i in np.argsort(merits)] == [0, 2, 3, 1]
    np.testing.assert_array_equal(merits_of(Y, excess + 1.0, np.zeros(4, dtype=bool)), excess + 1.0)
