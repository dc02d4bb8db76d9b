"""Studies that declare their outcomes, which several tests share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from believer import AtLeast, AtMost, Float, Maximize, Minimize, Optimizer, Space, Trial
from believer.arrays import Array
from believer.study.goal import Goal

SPACE = Space({"x": Float(0.0, 1.0), "y": Float(-1.0, 1.0)})
LIMITED: dict[str, Goal] = {"cost": Minimize(), "heat": AtMost(1.1)}
SEVERAL: dict[str, Goal] = {"cost": Minimize(), "yield": Maximize(), "heat": AtMost(1.4)}
KINDS: dict[str, dict[str, Goal]] = {"limited": LIMITED, "several": SEVERAL}
EVERYTHING: dict[str, Goal] = {"cost": Minimize(), "yield": Maximize(), "heat": AtMost(1.4), "purity": AtLeast(0.2)}


def numbers_at(unit: Array) -> dict[str, float]:
    """Smooth numbers over the encoded cube of any space."""
    return {
        "cost": float(((unit - 0.2) ** 2).sum()),
        "yield": float(3.0 - ((unit - 0.8) ** 2).sum()),
        "heat": float(unit.sum() + 0.2 * np.sin(6.0 * unit[0])),
        "purity": float(1.0 - 0.5 * unit[-1] ** 2),
    }


def result(optimizer: Optimizer, trial: Trial) -> dict[str, float]:
    """What an evaluation of the trial returns."""
    wanted = optimizer.settings.goals.wanted
    return {name: value for name, value in numbers_at(trial.encoded).items() if name in wanted}


def begun(outcomes: Mapping[str, Goal] = LIMITED, n: int = 5, space: Space = SPACE, **settings: Any) -> Optimizer:
    """An optimizer whose design is done and told, so that the next ask needs its models."""
    optimizer = Optimizer(space, n_init=n, outcomes=outcomes, **{"seed": 0, **settings})
    for trial in optimizer.ask(n):
        optimizer.tell(trial, result(optimizer, trial))
    return optimizer
