"""Studies to draw: every kind of parameter, failures, pending and partial results, limits, several objectives."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import believer as bv

KINDS = ("relu", "tanh", "$identity$")


def bowl(params: dict[str, Any]) -> float:
    return float((math.log10(params["rate$"]) + 2.0) ** 2 + 2.0 * KINDS.index(params["kind"]) + 0.1 * params["layers"])


def mixed(journal: Path | None = None, **options: Any) -> bv.Optimizer:
    """Every kind of parameter, failures, a result from elsewhere, an enqueued point, a pending batch."""
    space = bv.Space(
        {
            "blank": bv.Float(0, 1),
            "rate$": bv.Float(1e-4, 1.0, log=True),
            "one": bv.Int(3, 3),
            "kind": bv.Categorical(KINDS),
            "layers": bv.Int(1, 4),
            "step": bv.Float(0.0, 2.0, step=0.5),
        }
    )
    study = bv.Optimizer(space, seed=1, n_init=6, journal=journal, **options)
    first = {"blank": 0.5, "rate$": 0.1, "one": 3, "kind": "tanh", "layers": 4, "step": 1.0}
    study.observe(first, bowl(first))
    study.enqueue({**first, "rate$": 0.2})
    for round_ in range(4):
        for place, trial in enumerate(study.ask(3)):
            if place == 1 and round_ % 2:
                study.tell(trial, error="exploded")
            else:
                study.tell(trial, bowl(trial.params))
    study.ask(3)
    return study


def limited(journal: Path | None = None, **options: Any) -> bv.Optimizer:
    """One objective and one limit; failures are learned, one result is partial, two trials are pending."""
    space = bv.Space({"x": bv.Float(-2, 3), "k": bv.Int(0, 5)})
    goals: dict[str, Any] = {"gain": bv.Maximize(), "cost": bv.AtMost(3.0)}
    study = bv.Optimizer(space, outcomes=goals, seed=0, n_init=6, journal=journal, **options)
    for round_ in range(4):
        for place, trial in enumerate(study.ask(3)):
            x, k = trial.params["x"], trial.params["k"]
            if place == 2 and round_ % 2:
                study.tell(trial, error="exploded")
            else:
                study.tell(trial, {"gain": 5.0 - x**2 + 0.3 * k, "cost": 1.0 + 0.6 * k + 0.5 * abs(x)})
    partial, _, _ = study.ask(3)
    study.tell(partial, {"gain": 1.0})
    return study


def several(**options: Any) -> bv.Optimizer:
    """Two objectives, one to be maximized, and a limit."""
    space = bv.Space({"x": bv.Float(0, 1), "y": bv.Float(0, 1)})
    goals: dict[str, Any] = {"f": bv.Minimize(), "g": bv.Maximize(), "h": bv.AtLeast(0.1)}
    study = bv.Optimizer(space, outcomes=goals, seed=0, n_init=5, **options)
    for _ in range(4):
        for trial in study.ask(3):
            x, y = trial.params["x"], trial.params["y"]
            study.tell(trial, {"f": x**2 + 0.2 * y, "g": 1.0 - (x - 1.0) ** 2 - 0.3 * y, "h": 1.1 - y})
    return study


def one(**options: Any) -> bv.Optimizer:
    """A function of one number, six results, no pending trials."""
    study = bv.Optimizer(bv.Space({"dose": bv.Float(0.0, 10.0)}), seed=0, n_init=1, **{"strategy": "kb", **options})
    for dose in (0.4, 2.0, 3.0, 5.0, 8.0, 9.6):
        study.observe({"dose": dose}, math.sin(1.3 * dose + 0.4) + 0.25 * math.cos(2.6 * dose))
    return study
