"""The experiments of the paper, divided into cells.

A cell's settings do not name an experiment, so experiments share equal cells: Exp 9 adds Local Penalization to the runs
of Exp 4, and Exp 8 adds seeds to the diagnosis of Exp 3.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from believer.errors import InvalidInput
from believer.experiments import Cell
from believer_paper import readings
from believer_paper.cells import batches, diagnoses, propositions
from believer_paper.cells.diagnoses import AS_PRINTED
from believer_paper.choices import CHOICES
from believer_paper.numbers.printed import BUDGETS
from believer_paper.results import PRESETS
from believer_paper.sizes import LARGE, Scale, each_q, loop_cells, sdd_cell


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment: its name, its title, its cells under a preset, and our choices where the paper says nothing."""

    name: str
    title: str
    cells: Callable[[str, Scale], list[Cell]]

    @property
    def choices(self) -> tuple[str, ...]:
        """Sentences on the choices that the paper leaves open: it says nothing, or says two things."""
        return CHOICES.get(self.name, ())


def _picture(figure: str) -> Callable[[str, Scale], list[Cell]]:
    return lambda preset, scale: [Cell("picture", {"preset": preset, "figure": figure}, 0)]


RETRAINED = (("neural", "refit"), ("forest", "refit"))


def _exp3(preset: str, scale: Scale) -> list[Cell]:
    # The paper has one data set; five give its numbers a spread.
    return [sdd_cell(preset, *member, seed, q=q) for q in (2, 3) for seed in scale.sets(5) for member in AS_PRINTED]


def _exp4(preset: str, scale: Scale) -> list[Cell]:
    everyone = ("cl_min", "cl_max", "cl_mean", "kb", "random", "sequential")
    seeds = {"hartmann6": 20, "ackley8": 20, "levy10": 10}
    keys = each_q(everyone, (2, 3))
    return [cell for name, count in seeds.items() for cell in loop_cells(preset, scale, name, keys, count)]


def _exp5(preset: str, scale: Scale) -> list[Cell]:
    return [Cell("step", {"preset": preset, "n": 50, "d": 6, "q": 3}, seed) for seed in scale.sets(10)]


def _exp6(preset: str, scale: Scale) -> list[Cell]:
    keys = (("cl_min", 2), ("random", 2), ("sequential", 1))
    return loop_cells(preset, scale, "svm_breast_cancer", keys, 10, BUDGETS["exp6"])


def _exp7a(preset: str, scale: Scale) -> list[Cell]:
    return [sdd_cell(preset, *member, 0) for member in (*AS_PRINTED, *RETRAINED)]


def _exp7b(preset: str, scale: Scale) -> list[Cell]:
    return [sdd_cell(preset, *member, 0, acquisition=a) for a in ("ei", "ucb") for member in AS_PRINTED]


def _exp8(preset: str, scale: Scale) -> list[Cell]:
    return [sdd_cell(preset, *member, seed) for seed in scale.sets(5) for member in AS_PRINTED]


def _exp9(preset: str, scale: Scale) -> list[Cell]:
    strategies = ["cl_min", "kb", "lp", "random", "sequential"] + (["lp_lipschitz"] if preset == "ours" else [])
    keys = each_q(strategies, (2, 3))
    return [cell for name in ("hartmann6", "ackley8") for cell in loop_cells(preset, scale, name, keys, 20)]


def _exp10(preset: str, scale: Scale) -> list[Cell]:
    options = {"process": "botorch"} if preset == "printed" else {}
    return loop_cells(preset, scale, "hartmann6", each_q(("cl_min", "kb", "qei"), (3,)), 20, options=options)


def _exp11(preset: str, scale: Scale) -> list[Cell]:
    return loop_cells(preset, scale, "hartmann6", each_q(("cl_min", "kb", "random"), (3,)), 20, noise=0.1)


def _exp12(preset: str, scale: Scale) -> list[Cell]:
    options = {"process": "twin"} if preset == "printed" else {}
    keys = (("cl_min", 10), ("kb", 10), ("random", 10), ("sequential", 1))
    loops = loop_cells(preset, scale, "levy10", keys, 20, LARGE, options=options)
    where: dict[str, Any] = {"problem": "levy10", "q": scale.large_q}
    diagnosed = [sdd_cell(preset, *member, seed, **where) for seed in scale.sets(5) for member in AS_PRINTED]
    return diagnosed + loops


def _unstated(preset: str, scale: Scale) -> list[Cell]:
    return readings.cells(scale) if preset == "printed" else []


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
    """The cells of the named experiments under the presets, each once; InvalidInput for an unknown name."""
    unknown = [name for name in names if name not in EXPERIMENTS] + [name for name in presets if name not in PRESETS]
    if unknown:
        raise InvalidInput(
            f"an experiment must be one of {', '.join(EXPERIMENTS)}, and a preset one of {', '.join(PRESETS)}; "
            f"got {unknown[0]!r}."
        )
    scale = Scale(seeds, smoke)
    wanted = [cell for name in names for preset in presets for cell in EXPERIMENTS[name].cells(preset, scale)]
    return list(dict.fromkeys(wanted))


def experiments_of(cell: Cell) -> tuple[str, ...]:
    """The experiments that a cell belongs to, for any seed."""
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
