"""How the journals of this folder were made, each with the code of its time: ``python tests/journals/make.py FORMAT``.

A study of every kind that a format can hold, left in the middle: results, failures, points of the user's own, abandoned
and pending trials. Beside each journal, what the code that wrote it saw on loading it, and what it would suggest next.
A newer format gets journals of its own, and a format new kinds; those that are here are never made again. (The first
studies were made when the default strategy was KB, whose names they have.)
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import believer as bv
from believer.study.goal import Goal

HERE = Path(__file__).parent
MIXED = bv.Space(
    {
        "rate": bv.Float(1e-4, 1.0, log=True),
        "depth": bv.Int(1, 9),
        "kind": bv.Categorical(["a", "b", "c"]),
        "share": bv.Float(0.0, 1.0),
    }
)


def _mixed(p: dict[str, Any]) -> float:
    return float(abs(p["share"] - 0.3) + 0.1 * abs(p["depth"] - 4) + (p["kind"] != "b") + p["rate"])


def _bowl(p: dict[str, Any]) -> float:
    return float(sum((v - 0.2 * k) ** 2 for k, v in enumerate(p.values(), start=1)))


def cube(**settings: Any) -> bv.Optimizer:
    """Three floats, twelve results, one batch still out."""
    opt = bv.Optimizer(bv.Space.cube(3), seed=3, n_init=6, **settings)
    for _ in range(4):
        batch = opt.ask(3)
        opt.tell_many(batch, [_bowl(t.params) for t in batch])
    opt.ask(2)
    return opt


def everything(**settings: Any) -> bv.Optimizer:
    """All kinds of parameters and of events."""
    opt = bv.Optimizer(MIXED, seed=11, n_init=5, **settings)
    known = {"rate": 0.01, "depth": 2, "kind": "b", "share": 0.5}
    opt.observe(known, _mixed(known))
    opt.enqueue({"rate": 0.1, "depth": 9, "kind": "c", "share": 1.0})
    first = opt.ask(4)
    opt.tell(first[2], _mixed(first[2].params))
    opt.tell(first[0], error="it burnt")
    opt.tell(first[1], float("nan"))
    opt.abandon(first[3])
    for _ in range(3):
        batch = opt.ask(3)
        for trial in reversed(batch):
            opt.tell(trial, _mixed(trial.params))
    opt.observe({"rate": 1.0, "depth": 1, "kind": "a", "share": 0.0}, error="elsewhere, too")
    held = opt.ask(2, fixed={"kind": "b"}, strategy="cl_mean")
    opt.tell(held[0], _mixed(held[0].params))
    opt.enqueue({"rate": 0.5, "depth": 5, "kind": "a", "share": 0.25})
    opt.tell(first[3], _mixed(first[3].params))  # its worker was alive after all
    return opt


def table(**settings: Any) -> bv.Optimizer:
    """A finite space of which most is used up."""
    space = bv.Space({"size": bv.Int(1, 4), "color": bv.Categorical(["red", "green", "blue"])})
    opt = bv.Optimizer(space, seed=5, n_init=3, **settings)
    for _ in range(4):
        for trial in opt.ask(2):
            opt.tell(trial, trial.params["size"] + len(trial.params["color"]))
    return opt


def known_noise(**settings: Any) -> bv.Optimizer:
    """Results whose noise is known, one whose is not."""
    opt = bv.Optimizer(bv.Space.cube(2), seed=9, n_init=4, **settings)
    for _ in range(4):
        batch = opt.ask(2)
        opt.tell(batch[0], _bowl(batch[0].params), noise=0.01 * (1 + batch[0].id))
        opt.tell(batch[1], _bowl(batch[1].params))
    opt.observe({"x0": 0.5, "x1": 0.25}, 0.4, noise=0.2)
    opt.ask(1)
    return opt


def named(**settings: Any) -> bv.Optimizer:
    """Outcomes with names: two objectives, constraints, noise."""
    opt = bv.Optimizer(MIXED, seed=2, n_init=4, **settings)
    for _ in range(3):
        for trial in opt.ask(2):
            objectives = {"loss": _mixed(trial.params), "hours": float(trial.params["depth"])}
            opt.tell(trial, bv.Outcome(objectives, {"heat": 10.0 * trial.id}, {"loss": 0.05}))
    opt.tell(opt.ask(1)[0], error="too hot")
    return opt


def heavy(**settings: Any) -> bv.Optimizer:
    """Results over many orders, which the default warps, and a batch that hedges."""
    opt = bv.Optimizer(bv.Space.cube(2), seed=4, n_init=6, **settings)
    for _ in range(6):
        batch = opt.ask(3)
        opt.tell_many(batch, [float(np.exp(12.0 * _bowl(t.params))) for t in batch])
    opt.ask(2)
    return opt


def _declared(p: dict[str, Any]) -> dict[str, float]:
    return {"cost": _mixed(p), "heat": 3.0 * p["share"] + 0.1 * p["depth"], "load": 2.0 - p["rate"]}


def declared(wanted: dict[str, Any], **settings: Any) -> bv.Optimizer:
    """Declared outcomes: results in parts, as replicates and with noise, lost, failed, mistyped and amended."""
    opt = bv.Optimizer(MIXED, seed=6, n_init=4, outcomes=wanted, **settings)
    for _ in range(2):
        batch = opt.ask(3)
        for trial in batch:
            opt.tell(trial, _declared(trial.params))
    first, second, third, fourth = opt.ask(4)
    known = _declared(first.params)
    opt.tell(first, {"heat": known["heat"]})
    opt.tell(second, {**_declared(second.params), "load": float("nan")})
    opt.tell(third, error="it burnt")
    opt.tell(fourth, {**_declared(fourth.params), "cost": 100.0})
    opt.amend(fourth, {**_declared(fourth.params), "cost": [0.4, 0.5, 0.45]}, noise={"heat": 0.1})
    opt.ask(2)
    opt.tell(first, {"cost": [known["cost"], known["cost"] + 0.1]})
    return opt


def one_goal(**settings: Any) -> bv.Optimizer:
    """One declared outcome, told as a number, as replicates and by name; failures in the design count towards it."""
    opt = bv.Optimizer(MIXED, seed=8, n_init=6, outcomes={"cost": bv.Maximize()}, **settings)
    for trial in opt.ask(6):
        if trial.id in (1, 4):
            opt.tell(trial, error="it burnt")
        else:
            opt.tell(trial, -_mixed(trial.params))
    first, second = opt.ask(2)
    opt.tell(first, {"cost": [-0.5, -0.75]})
    opt.tell(second, {"cost": -_mixed(second.params)}, noise=0.1)
    opt.ask(1)
    return opt


def changed() -> bv.Optimizer:
    """A study that went on in another space, then with other goals; one result has no place there any more."""
    wider = {
        **MIXED.parameters,
        "depth": bv.Int(1, 12),
        "kind": bv.Categorical(["b", "c", "d"]),
        "hours": bv.Float(0.0, 4.0, backfill=1.0),
    }
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "study.jsonl"
        with bv.Optimizer(MIXED, journal=path, seed=12, n_init=4) as opt:
            for trial in opt.ask(5):
                opt.tell(trial, _mixed(trial.params))
            opt.ask(2)
        with bv.Optimizer.open(path, bv.Space(wider), change=True, strategy="kb") as opt:
            for trial in opt.ask(3):
                opt.tell(trial, _mixed(trial.params) + trial.params["hours"])
        wanted: dict[str, Goal] = {"cost": bv.Minimize(), "heat": bv.AtMost(2.0)}
        with bv.Optimizer.open(path, bv.Space(wider), change=True, outcomes=wanted) as opt:
            for trial in opt.ask(3):
                opt.tell(trial, {"cost": _mixed(trial.params), "heat": trial.params["hours"]})
            opt.ask(1)
    return opt


def ruled(*rules: Any, **settings: Any) -> bv.Optimizer:
    """A mixture of four parts, one of them in steps, beside a temperature."""
    parts = {"a": bv.Float(0, 1), "b": bv.Float(0, 0.6), "c": bv.Float(0, 1), "d": bv.Float(0, 0.5, step=0.05)}
    space = bv.Space({**parts, "warm": bv.Float(1, 100, log=True)}, rules=[bv.sum_to([*parts], 1.0), *rules])
    opt = bv.Optimizer(space, seed=7, n_init=5, **settings)
    for _ in range(4):
        for trial in opt.ask(3):
            opt.tell(trial, _bowl({**trial.params, "warm": trial.params["warm"] / 100}))
    opt.ask(1, fixed={"d": 0.1})
    return opt


def gone_on(name: str) -> bv.Optimizer:
    """A journal of format 3, and so of the first engine, that went on."""
    opt = bv.Optimizer.load(HERE / "format3" / f"{name}.jsonl", append=False)
    for trial in opt.ask(2):
        opt.tell(trial, _declared(trial.params))
    opt.ask(1)
    return opt


STUDIES: dict[str, Callable[[], bv.Optimizer]] = {
    "kb_cube": cube,
    "kb_everything": everything,
    "lp_maximize": lambda: cube(strategy="lp", maximize=True),
    "qei_cube": lambda: cube(strategy=bv.QEI(samples=64)),
    "thompson_cube": lambda: cube(strategy="thompson"),
    "kb_noisy": lambda: cube(surrogate=bv.GP("matern32", noise="infer")),
    "ucb_refit": lambda: cube(
        strategy=bv.PseudoObservations(bv.Believe(1.0), "refit", "data"), acquisition=bv.UCB(1.5)
    ),
    "fantasies_climb": lambda: cube(strategy="fantasies", maximizer=bv.Multistart(starts=4)),
    "dpp_everything": lambda: everything(strategy="dpp"),
    "cl_multiquadric": lambda: cube(strategy="cl_min", surrogate=bv.MQRBF(), acquisition=bv.EI(xi=0.01)),
    "random_table": lambda: table(strategy="random"),
    "kb_table": table,
    "kb_known_noise": known_noise,
    "kb_named": lambda: named(maximize=True),
    "hedged_warped": heavy,
    "hedged_mixed": everything,
    "kb_limits": lambda: declared({"cost": bv.Minimize(), "heat": bv.AtMost(2.0), "load": bv.Between(1.0, 1.99)}),
    "kb_front": lambda: declared({"cost": bv.Minimize(), "load": bv.Maximize(), "heat": bv.AtLeast(0.5, 0.8)}),
    "qei_limits": lambda: declared(
        {"cost": bv.Minimize(), "heat": bv.AtMost(2.0), "load": bv.AtLeast(1.0)}, strategy="qei"
    ),
    "hedged_one_goal": one_goal,
    "changed": changed,
    "gone_on_limits": lambda: gone_on("kb_limits"),
    "kb_mixture": lambda: ruled(strategy="kb"),
    "hedged_ruled": lambda: ruled(bv.linear({"a": 2, "b": 1}, at_most=1.2), bv.max_parts([*"abcd"], 3)),
    "random_ruled": lambda: ruled(bv.linear({"a": 1, "d": -1}, at_least=-0.25), strategy="random"),
}


def best(study: bv.Optimizer) -> list[Any] | None:
    """The best result; None where there are several objectives."""
    if len(study.settings.goals.objectives) > 1:
        return None
    return None if study.best is None else list(study.best)


def seen(study: bv.Optimizer) -> dict[str, Any]:
    """What a loaded study must say, and suggest."""
    return {
        "records": study.records(),
        "pending": [trial.id for trial in study.pending],
        "queued": list(study.queued),
        "best": best(study),
        "next": [{"id": t.id, "params": t.params, "origin": t.origin} for t in study.ask(2)],
    }


def main() -> None:
    """Make the journals of the format that is named; all, or those that are named after it."""
    folder = HERE / f"format{int(sys.argv[1])}"
    folder.mkdir(exist_ok=True)
    for name, make in STUDIES.items():
        path = folder / f"{name}.jsonl"
        if path.exists() or name not in (sys.argv[2:] or STUDIES):
            continue
        study = make()
        study.save(path)
        with tempfile.TemporaryDirectory() as scratch:
            copy = Path(shutil.copy(path, scratch))
            with bv.Optimizer.load(copy) as loaded:
                text = json.dumps(seen(loaded), indent=1)
        (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")
        print(path.name)


if __name__ == "__main__":
    main()
