"""Studies whose pages are tested: one like any other, and one whose names and values try to break out of the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from believer import AtLeast, AtMost, Categorical, Float, Int, Maximize, Minimize, Optimizer, Space
from believer.study.goal import Goal

SCRIPT = "<script>window.hacked=1</script>"
IMAGE = "<img src=x onerror=window.hacked=1>"
RTL = "\u202e\u05e9\u05dc\u05d5\u05dd evil"
LONG = "n" * 200
CHOICES = ["=1+1", IMAGE, "x" * 300, "@SUM(A1)", "%{x} $a$ <b>bold</b> &lt;"]
OUTCOME, LIMITED = "</script><b>y", "l\u2028imit"
ERROR = f"</script>{SCRIPT}\n=cmd|' /C calc'!A0; +1 \ud800 {'z' * 400}"


def reaction(params: dict[str, Any]) -> dict[str, float]:
    t = (params["temperature"] - 85.0) / 25.0
    found = 90.0 * 2.0 ** (-t * t) * {"Pd": 1.0, "Ni": 0.8, "Cu": 0.6}[params["catalyst"]]
    return {"yield": found - params["time"] / 10.0, "purity": 99.0 - 0.1 * max(0.0, params["temperature"] - 70.0)}


def small(journal: Path | None = None, batches: int = 3) -> Optimizer:
    """A study with a limit, a failed trial and two that are pending."""
    space = Space(
        {"temperature": Float(40, 120), "catalyst": Categorical(["Pd", "Ni", "Cu"]), "time": Float(1, 24, log=True)}
    )
    goals: dict[str, Goal] = {"yield": Maximize(), "purity": AtLeast(96)}
    optimizer = Optimizer(space, outcomes=goals, seed=1, n_init=6, journal=journal)
    for number in range(batches):
        for i, trial in enumerate(optimizer.ask(4)):
            if (number, i) == (1, 2):
                optimizer.tell(trial, error="stirrer stopped")
            else:
                optimizer.tell(trial, reaction(trial.params))
    optimizer.ask(2)
    return optimizer


def hostile(journal: Path | None = None) -> Optimizer:
    """A study whose names, choices and errors are HTML, formulas, right-to-left, or very long."""
    space = Space({SCRIPT: Float(0, 1), "\"q\" 'p' &amp; <b>": Float(0, 1), RTL: Categorical(CHOICES), LONG: Int(0, 9)})
    goals: dict[str, Goal] = {OUTCOME: Minimize(), LIMITED: AtMost(1.0)}
    optimizer = Optimizer(space, outcomes=goals, seed=2, n_init=4, journal=journal)
    for number in range(3):
        for i, trial in enumerate(optimizer.ask(4)):
            x = [*trial.params.values()]
            if (number, i) == (1, 1):
                optimizer.tell(trial, error=ERROR)
            else:
                optimizer.tell(trial, {OUTCOME: x[0] ** 2 + x[1], LIMITED: x[1] + x[3] / 9})
    optimizer.ask(1)
    return optimizer
