"""Tables: every row is there, and the optimum is the least value."""

from __future__ import annotations

from importlib.resources import files
from itertools import product

import numpy as np
import pytest

from believer.space.parameters import Parameter
from believer_bench.problems import SUITE
from believer_bench.problems.classes.tables import MeasuredTable, Reaction, reaction_table, table_of

TABLES = [name for name, make in SUITE.items() if make().kind == "tables"]
MEASURED = [name for name in TABLES if isinstance(SUITE[name]().function, MeasuredTable)]
REACTIONS = [name for name in TABLES if name not in MEASURED]


def values_of(p: Parameter) -> list[object]:
    return p.decode(p.grid())


@pytest.mark.parametrize("name", TABLES)
def test_every_row_is_there_and_the_optimum_is_the_least(name: str) -> None:
    problem = SUITE[name]()
    names = problem.space.names
    values = {}
    for row in product(*(values_of(p) for p in problem.space.parameters.values())):
        values[row] = problem.function(dict(zip(names, row, strict=True)))
    assert np.isfinite(list(values.values())).all()
    assert problem.optimum == min(values.values())
    best = [dict(zip(names, row, strict=True)) for row, value in values.items() if value == problem.optimum]
    assert problem.optimizer is not None
    assert sorted(map(str, problem.optimizer)) == sorted(map(str, best))
    assert 240 <= len(values) <= 4000
    assert len(best) < 0.02 * len(values)


def test_there_are_enough_of_both_sources() -> None:
    assert len(MEASURED) >= 3
    assert len(REACTIONS) >= 2


@pytest.mark.parametrize("name", MEASURED)
def test_a_file_is_small_and_has_each_row_once(name: str) -> None:
    problem = SUITE[name]()
    assert isinstance(problem.function, MeasuredTable)
    file = files("believer_bench.problems").joinpath("tables", f"{name}.csv")
    text = file.read_text(encoding="utf-8")
    assert len(text) < 60_000
    assert len(table_of(problem.function)) == len(text.splitlines()) - 1
    assert 300 <= len(table_of(problem.function)) <= 1500


@pytest.mark.parametrize("name", REACTIONS)
def test_a_reaction_has_dead_choices_and_few_good_rows(name: str) -> None:
    problem = SUITE[name]()
    assert isinstance(problem.function, Reaction)
    table = reaction_table(problem.function)
    assert -97.0 <= table.min() < -85.0
    assert table.max() <= 0.0
    assert (table < 0.9 * table.min()).mean() < 0.05
    best_of_choice = np.sort(table.min(axis=tuple(range(1, table.ndim))))
    assert best_of_choice[-1] > 0.7 * table.min()
