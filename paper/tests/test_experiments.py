from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from typing import Any

import pytest

from believer.errors import InvalidInput
from believer.experiments import Cell, FinishedCell
from believer_paper.figures import FIGURES
from believer_paper.plan import EXPERIMENTS, cells, experiments_of
from believer_paper.results import PRESETS, Results
from believer_paper.tables import tables
from believer_paper.work import work

BOTH = ("exp1", "exp4", "exp6", "exp9", "exp10", "exp11")
SMOKE = [
    *((name, preset) for name in BOTH for preset in PRESETS),
    *(("exp3", "printed"), ("unstated", "printed")),
    *((name, "ours") for name in ("exp2", "overview", "exp5", "exp7a", "exp7b", "exp8", "exp12")),
]
"""Every experiment, under the preset that is quick where one of them is not."""

TABLES = {
    **{"exp3": {2}, "exp4": {104}, "exp5": {3}, "exp6": {106}, "exp7a": {7}, "exp7b": {8}, "exp8": {9}, "exp9": {4}},
    **{"exp10": {5, 10}, "exp11": {6, 111}, "exp12": {11, 112}},
}
"""What an experiment alone must give; a reading needs two seeds to be judged."""

TIMES = ("seconds", "cpu", "foreign")


def untimed(value: Any) -> Any:
    """Without what depends on the clock."""
    if isinstance(value, dict):
        return {k: untimed(v) for k, v in value.items() if not any(word in k for word in TIMES)}
    return [untimed(v) for v in value] if isinstance(value, list) else value


def done(wanted: list[Cell], result: Callable[[Cell], dict[str, Any]] = work) -> Results:
    where = {"seconds": 0.1, "cpu_seconds": 0.1, "finished": datetime.now(UTC).isoformat()}
    return Results(tuple(FinishedCell(cell, result(cell), where) for cell in wanted))


known = cache(work)
"""Diagnoses that several experiments share are done once a process."""


@pytest.mark.filterwarnings("ignore::DeprecationWarning:torch")
@pytest.mark.parametrize(("name", "preset"), SMOKE)
def test_an_experiment_gives_its_tables_and_figures_and_the_same_cells_again(name: str, preset: str) -> None:
    wanted = cells([name], [preset], 1, smoke=True)
    results = done(wanted, known)
    assert all(name in experiments_of(cell) for cell in wanted)
    made = tables(results)
    assert TABLES.get(name, set()) <= set(made)
    assert all(table.table.rows for table in made.values())
    mine = [figure for figure in FIGURES.values() if set(figure.experiments) == {name}]
    assert [figure.number for figure in mine if figure.draw(results, preset) is None] == []
    assert untimed(work(wanted[-1])) == untimed(results.finished[-1].result)


def test_every_experiment_is_smoke_tested() -> None:
    assert {name for name, _ in SMOKE} == set(EXPERIMENTS) - {"claims"}  # whose kinds have tests of their own


def test_what_is_shared_is_run_once_and_more_seeds_only_add() -> None:
    both = cells(["exp4", "exp9"], PRESETS)
    assert len(both) < len(cells(["exp4"], PRESETS)) + len(cells(["exp9"], PRESETS))
    assert set(cells(["exp9"], PRESETS, 3)) < set(cells(["exp9"], PRESETS, 4))
    assert {cell.seed for cell in cells(["exp9"], PRESETS)} == set(range(20))


def test_the_full_plan_has_the_seeds_and_budgets_of_the_paper() -> None:
    def seeds(name: str, **settings: Any) -> int:
        found = [c for c in cells([name], ["printed"]) if all(c.settings.get(k) == v for k, v in settings.items())]
        return len({cell.seed for cell in found})

    assert seeds("exp4", problem="hartmann6", budget=50, n_init=12) == 20
    assert seeds("exp4", problem="ackley8", budget=50, n_init=16) == 20
    assert seeds("exp4", problem="levy10", budget=50, n_init=20) == 10
    assert seeds("exp6", budget=30, n_init=10) == 10
    assert seeds("exp8") == 5
    assert seeds("exp12", budget=170, n_init=20) == 20
    assert seeds("exp11", noise=0.1) == 20


def test_a_name_that_is_none_is_refused_with_those_that_are() -> None:
    with pytest.raises(InvalidInput, match="exp12"):
        cells(["exp13"], ["ours"])
    with pytest.raises(InvalidInput, match="'theirs'"):
        cells(["exp3"], ["theirs"])
