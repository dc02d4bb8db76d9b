"""The experiments of the paper, cut into cells.

A cell's settings say nothing of the experiment that wanted it, so experiments share what is the same: Exp 9 adds Local
Penalization to runs of Exp 4, and Exp 8 seeds to the diagnosis of Exp 3.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from believer.errors import InvalidInput
from believer.experiments import Cell
from believer_paper.cells import batches, diagnoses, propositions
from believer_paper.cells.diagnoses import AS_PRINTED
from believer_paper.choices import CHOICES
from believer_paper.results import PRESETS

DIMENSIONS = {"hartmann6": 6, "ackley8": 8, "levy10": 10}
SMOKE_SEEDS = 2
"""Of loops; everything else has one, because the diagnosis of a network takes seconds."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is run: as many seeds as the paper unless given, and the paper's sizes unless ``smoke``."""

    seeds: int | None = None
    smoke: bool = False

    def many(self, printed: int) -> range:
        """Seeds of loops where the paper has ``printed``."""
        return range(self.seeds or (SMOKE_SEEDS if self.smoke else printed))

    def sets(self, printed: int) -> range:
        """Seeds of anything else, such as data sets to diagnose."""
        return range(self.seeds or (1 if self.smoke else printed))

    def budget(self, n_init: int, printed: int, q: int) -> int:
        """Evaluations in all where the paper has ``printed``: one batch after the design for a smoke test."""
        return n_init + q if self.smoke else printed


@dataclass(frozen=True, slots=True)
class Experiment:
    """What it is called, what it is about, its cells under a preset, and what we chose where the paper is silent."""

    name: str
    title: str
    cells: Callable[[str, Scale], list[Cell]]

    @property
    def choices(self) -> tuple[str, ...]:
        """Sentences on choices that the paper leaves open ([paper] says nothing, or two things)."""
        return CHOICES.get(self.name, ())


def loop_cell(
    preset: str, problem: str, strategy: str, q: int, budget: int, n_init: int, seed: int, **more: Any
) -> Cell:
    """A cell of kind "loop"; ``more`` may hold noise and options."""
    settings = {"preset": preset, "problem": problem, "strategy": strategy, "q": q, "budget": budget}
    return Cell("loop", {**settings, "n_init": n_init, "noise": 0.0, "options": {}, **more}, seed)


def sdd_cell(preset: str, surrogate: str, update: str, seed: int, **more: Any) -> Cell:
    """A cell of kind "sdd": Hartmann-6D, 30 points, three lies' worth of CL-min under EI, unless ``more`` says else."""
    settings = {"preset": preset, "problem": "hartmann6", "n": 30, "q": 3, "surrogate": surrogate, "update": update}
    return Cell("sdd", {**settings, "lie": "cl_min", "acquisition": "ei", **more}, seed)


def _loops(
    preset: str, scale: Scale, problem: str, strategies: Sequence[str], sizes: Sequence[int], printed: int, **more: Any
) -> list[Cell]:
    """Loops of 50 evaluations from a design of 2d."""
    n_init = 2 * DIMENSIONS[problem]
    return [
        loop_cell(preset, problem, strategy, q, scale.budget(n_init, 50, q), n_init, seed, **more)
        for seed in scale.many(printed)
        for strategy in strategies
        for q in ((1,) if strategy == "sequential" else sizes)
    ]


def _picture(figure: str) -> Callable[[str, Scale], list[Cell]]:
    return lambda preset, scale: [Cell("picture", {"preset": preset, "figure": figure}, 0)]


RETRAINED = (("neural", "refit"), ("forest", "refit"))


def _exp3(preset: str, scale: Scale) -> list[Cell]:
    # The paper has one data set; five give its numbers a spread.
    return [sdd_cell(preset, *member, seed, q=q) for q in (2, 3) for seed in scale.sets(5) for member in AS_PRINTED]


def _exp4(preset: str, scale: Scale) -> list[Cell]:
    everyone = ("cl_min", "cl_max", "cl_mean", "kb", "random", "sequential")
    seeds = {"hartmann6": 20, "ackley8": 20, "levy10": 10}
    return [cell for name, count in seeds.items() for cell in _loops(preset, scale, name, everyone, (2, 3), count)]


def _exp5(preset: str, scale: Scale) -> list[Cell]:
    return [Cell("step", {"preset": preset, "n": 50, "d": 6, "q": 3}, seed) for seed in scale.sets(10)]


def _exp6(preset: str, scale: Scale) -> list[Cell]:
    return [
        loop_cell(preset, "svm_breast_cancer", strategy, q, scale.budget(10, 30, q), 10, seed)
        for seed in scale.many(10)
        for strategy, q in (("cl_min", 2), ("random", 2), ("sequential", 1))
    ]


def _exp7a(preset: str, scale: Scale) -> list[Cell]:
    return [sdd_cell(preset, *member, 0) for member in (*AS_PRINTED, *RETRAINED)]


def _exp7b(preset: str, scale: Scale) -> list[Cell]:
    return [sdd_cell(preset, *member, 0, acquisition=a) for a in ("ei", "ucb") for member in AS_PRINTED]


def _exp8(preset: str, scale: Scale) -> list[Cell]:
    return [sdd_cell(preset, *member, seed) for seed in scale.sets(5) for member in AS_PRINTED]


def _exp9(preset: str, scale: Scale) -> list[Cell]:
    strategies = ["cl_min", "kb", "lp", "random", "sequential"] + (["lp_lipschitz"] if preset == "ours" else [])
    return [c for name in ("hartmann6", "ackley8") for c in _loops(preset, scale, name, strategies, (2, 3), 20)]


def _exp10(preset: str, scale: Scale) -> list[Cell]:
    options = {"process": "botorch"} if preset == "printed" else {}
    return _loops(preset, scale, "hartmann6", ("cl_min", "kb", "qei"), (3,), 20, options=options)


def _exp11(preset: str, scale: Scale) -> list[Cell]:
    return _loops(preset, scale, "hartmann6", ("cl_min", "kb", "random"), (3,), 20, noise=0.1)


def _exp12(preset: str, scale: Scale) -> list[Cell]:
    options = {"process": "twin"} if preset == "printed" else {}
    loops = [
        loop_cell(preset, "levy10", strategy, q, scale.budget(20, 170, q), 20, seed, options=options)
        for seed in scale.many(20)
        for strategy, q in (("cl_min", 10), ("kb", 10), ("random", 10), ("sequential", 1))
    ]
    q = 4 if scale.smoke else 10
    diagnosed = [
        sdd_cell(preset, *member, seed, problem="levy10", q=q) for seed in scale.sets(5) for member in AS_PRINTED
    ]
    return diagnosed + loops


ALTERNATIVES: tuple[dict[str, Any], ...] = (
    {"incumbent": "believed"},
    {"renormalize": False},
    {"renormalize": False, "gradient": True},
    {"process": "twin"},
)
"""Other readings of the printed set-up, each differing from it in what it names."""

LENGTHSCALES: tuple[dict[str, Any], ...] = ({"lengthscale": "geometric"}, {"lengthscale": "ard"})
"""The same for Local Penalization's one ℓ."""


def _unstated(preset: str, scale: Scale) -> list[Cell]:
    if preset != "printed":
        return []
    readings = [(name, options) for name in ("cl_min", "kb") for options in ({}, *ALTERNATIVES)]
    readings += [("lp", options) for options in ({}, *LENGTHSCALES)]
    return [
        cell
        for strategy, options in readings
        for cell in _loops(preset, scale, "hartmann6", (strategy,), (3,), 20, options=options)
    ]


def _claims(preset: str, scale: Scale) -> list[Cell]:
    found = [
        sdd_cell(preset, seed=seed, **settings)
        for settings, seeds in diagnoses.SETTINGS
        if not (scale.smoke and settings.get("lie") in ("cl_max", "cl_mean"))  # slow, and no use on one data set
        for seed in scale.sets(seeds)
    ]
    found += [
        Cell("locality", {"preset": preset, "surrogate": surrogate, "update": update}, seed)
        for surrogate, update in (*AS_PRINTED[:2], *RETRAINED)
        for seed in scale.sets(10)
    ]
    if preset == "ours":
        found += [Cell("theory", {"topic": t}, seed) for t, n in propositions.TOPICS.items() for seed in scale.sets(n)]
        found += [Cell("batch", dict(s), seed) for s, n in batches.SETTINGS for seed in scale.sets(n)]
        ns = [50, 100, 200] if scale.smoke else [100, 200, 400, 800, 1600]
        found += [Cell("scaling", {"preset": "ours", "ns": ns}, seed) for seed in scale.sets(5)]
    return found


EXPERIMENTS: dict[str, Experiment] = {
    one.name: one
    for one in (
        Experiment("exp1", "Exp 1: a posterior and its EI before and after a lie", _picture("exp1")),
        Experiment("exp2", "Exp 2: four surrogates' response to a lie", _picture("exp2")),
        Experiment("overview", "Overview: a batch of three on a 2-D function", _picture("overview")),
        Experiment("exp3", "Exp 3: the Structural Diversity Diagnostic", _exp3),
        Experiment("exp4", "Exp 4: convergence and diversity of the lies", _exp4),
        Experiment("exp5", "Exp 5: the cost of one step", _exp5),
        Experiment("exp6", "Exp 6: tuning a support vector machine", _exp6),
        Experiment("exp7a", "Exp 7a: conditioning and retraining", _exp7a),
        Experiment("exp7b", "Exp 7b: EI and UCB", _exp7b),
        Experiment("exp8", "Exp 8: five initial data sets", _exp8),
        Experiment("exp9", "Exp 9: Local Penalization", _exp9),
        Experiment("exp10", "Exp 10: joint q-EI", _exp10),
        Experiment("exp11", "Exp 11: noisy observations", _exp11),
        Experiment("exp12", "Exp 12: batches of ten", _exp12),
        Experiment("unstated", "What the unstated choices are worth", _unstated),
        Experiment("claims", "What only the ledger needs: controls, Table 1, propositions", _claims),
    )
}


def cells(names: Sequence[str], presets: Sequence[str], seeds: int | None = None, smoke: bool = False) -> list[Cell]:
    """The cells of the named experiments under the presets, each once; InvalidInput for a name that is none."""
    unknown = [name for name in names if name not in EXPERIMENTS] + [name for name in presets if name not in PRESETS]
    if unknown:
        raise InvalidInput(f"there is {', '.join(EXPERIMENTS)}, under {' and '.join(PRESETS)}; got {unknown[0]!r}.")
    scale = Scale(seeds, smoke)
    wanted = [cell for name in names for preset in presets for cell in EXPERIMENTS[name].cells(preset, scale)]
    return list(dict.fromkeys(wanted))


def experiments_of(cell: Cell) -> tuple[str, ...]:
    """The experiments that a cell belongs to, whatever its seed."""
    return _owners().get(_signature(cell), ())


@cache
def _owners() -> dict[str, tuple[str, ...]]:
    owners: dict[str, tuple[str, ...]] = {}
    for name, experiment in EXPERIMENTS.items():
        for cell in _first_seeds(experiment):
            key = _signature(cell)
            owners[key] = tuple(dict.fromkeys((*owners.get(key, ()), name)))
    return owners


def _first_seeds(experiment: Experiment) -> Iterable[Cell]:
    scales = (Scale(1, False), Scale(1, True))
    return (cell for preset in PRESETS for scale in scales for cell in experiment.cells(preset, scale))


def _signature(cell: Cell) -> str:
    return json.dumps([cell.experiment, dict(cell.settings)], sort_keys=True)
