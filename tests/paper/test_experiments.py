from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from believer.errors import InvalidInput
from believer.experiments import Cell, Finished
from believer.paper.figures import FIGURES
from believer.paper.plan import EXPERIMENTS, cells, experiments_of
from believer.paper.results import PRESETS, Results
from believer.paper.tables import tables
from believer.paper.work import work

NAMES = [name for name in EXPERIMENTS if name != "claims"]

TIMES = ("seconds", "cpu", "foreign")


def untimed(value: Any) -> Any:
    """Without what depends on the clock."""
    if isinstance(value, dict):
        return {k: untimed(v) for k, v in value.items() if not any(word in k for word in TIMES)}
    return [untimed(v) for v in value] if isinstance(value, list) else value


def done(wanted: list[Cell], result: Callable[[Cell], dict[str, Any]] = work) -> Results:
    where = {"seconds": 0.1, "cpu_seconds": 0.1, "finished": datetime.now(UTC).isoformat()}
    return Results(tuple(Finished(cell, result(cell), where) for cell in wanted))


def of_presets(name: str) -> list[str]:
    return [preset for preset in PRESETS if cells([name], [preset], 1, smoke=True)]


@pytest.mark.filterwarnings("ignore::DeprecationWarning:torch")
@pytest.mark.parametrize(("name", "preset"), [(name, preset) for name in NAMES for preset in of_presets(name)])
def test_an_experiment_gives_its_tables_and_figures_and_the_same_cells_again(name: str, preset: str) -> None:
    wanted = cells([name], [preset], 1, smoke=True)
    results = done(wanted)
    assert all(name in experiments_of(cell) for cell in wanted)
    made = tables(results)
    for number, table in made.items():
        assert table.table.rows, number
    mine = [figure for figure in FIGURES.values() if set(figure.experiments) == {name}]
    assert [figure.number for figure in mine if figure.draw(results, preset) is None] == []
    again = wanted[-1]
    assert untimed(work(again)) == untimed(results.finished[-1].result)


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
