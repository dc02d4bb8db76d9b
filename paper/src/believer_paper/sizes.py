"""The sizes of experiments, and the cells that experiments share: loops of the printed sizes, and diagnoses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from believer.experiments import Cell
from believer_paper.numbers.printed import BUDGETS, N_INIT

SMALL = BUDGETS["exp4"]
LARGE = N_INIT["levy10"] + BUDGETS["exp12"]
"""Budgets in evaluations: of most loops, design included; of Exp 12, whose batches of ten come after the design."""

SMOKE_SEEDS = 2
"""Seeds of loops in a smoke run. Everything else has one seed, because the diagnosis of a network takes seconds."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The scale of a run: the paper's number of seeds unless given, and the paper's sizes unless ``smoke``."""

    seeds: int | None = None
    smoke: bool = False

    def many(self, printed: int) -> range:
        """The seeds of loops for which the paper has ``printed`` seeds."""
        return range(self.seeds or (SMOKE_SEEDS if self.smoke else printed))

    def sets(self, printed: int) -> range:
        """The seeds of anything else, such as data sets to diagnose, for which the paper has ``printed`` seeds."""
        return range(self.seeds or (1 if self.smoke else printed))

    @property
    def large_q(self) -> int:
        """The batch size of Exp 12."""
        return 4 if self.smoke else 10

    def budget(self, n_init: int, printed: int, q: int) -> int:
        """The number of evaluations for which the paper has ``printed``; a smoke run has one batch after the design."""
        return n_init + q if self.smoke else printed


def loop_cell(
    preset: str, problem: str, strategy: str, q: int, budget: int, n_init: int, seed: int, **more: Any
) -> Cell:
    """A cell of kind "loop"; ``more`` may hold noise and options."""
    settings = {"preset": preset, "problem": problem, "strategy": strategy, "q": q, "budget": budget}
    return Cell("loop", {**settings, "n_init": n_init, "noise": 0.0, "options": {}, **more}, seed)


def sdd_cell(preset: str, surrogate: str, update: str, seed: int, **more: Any) -> Cell:
    """A cell of kind "sdd": Hartmann-6D, 30 points, q = 3 with CL-min under EI, unless ``more`` says otherwise."""
    settings = {"preset": preset, "problem": "hartmann6", "n": 30, "q": 3, "surrogate": surrogate, "update": update}
    return Cell("sdd", {**settings, "lie": "cl_min", "acquisition": "ei", **more}, seed)


def loop_cells(
    preset: str,
    scale: Scale,
    problem: str,
    keys: Iterable[tuple[str, int]],
    seeds: int,
    budget: int = SMALL,
    **more: Any,
) -> list[Cell]:
    """The loops of the ``keys`` (strategy, q), each from the problem's design, on as many ``seeds`` as the paper has.

    With the option {"budget": "after"}, the budget does not include the design.
    """
    n_init = N_INIT[problem]
    end = budget + (n_init if more.get("options", {}).get("budget") == "after" else 0)
    return [
        loop_cell(preset, problem, strategy, q, scale.budget(n_init, end, q), n_init, seed, **more)
        for seed in scale.many(seeds)
        for strategy, q in keys
    ]


def each_q(strategies: Iterable[str], sizes: Sequence[int]) -> list[tuple[str, int]]:
    """Every strategy with every batch size; sequential has only q = 1."""
    return [(name, q) for name in strategies for q in ((1,) if name == "sequential" else sizes)]
