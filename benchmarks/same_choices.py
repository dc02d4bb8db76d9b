"""Two checkouts of this repository: do they choose the same points, to the bit?

    git worktree add ../before COMMIT && (cd ../before && python setup.py build_ext --inplace)
    python benchmarks/same_choices.py --before ../before --out benchmarks/results/same_choices.md

For a change that should change nothing, and for one that should change some studies only: those go after ``--expect``,
by name or pattern. One process a checkout, one after the other, runs the studies below: every strategy, surrogate and
acquisition, noise, failures, pending trials, mixed spaces, declared outcomes. Compared are the points of all asks, in
the encoded cube to the bit and in the user's terms; ``best`` and ``recommend()``, or the ``front`` where there is no
best; and the sentence of each verdict. A study that a checkout refuses is compared up to there, as is one that exhausts
its space. The exit status is 1 where a study differs that was not expected to, or ends in any other error.

Only what all checkouts have is used: an optimizer's options by keyword, ask, tell, observe, best, recommend, front.
Bits are those of one processor and BLAS.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

# Nothing of believer is imported up here: the process that compares needs none, and the others get their checkout's.

STRATEGIES = (
    "cl_min", "cl_max", "cl_mean", "kb", "hedged", "kb_lower", "kb_upper", "fantasy", "fantasies", "lp", "lp_lipschitz",
    "qei", "thompson", "dpp", "gp_bucb", "ucb_pe", "top_q", "random",
)  # fmt: skip
SURROGATES = ("gp", "mq_rbf", "fixed_rbf", "neural", "last_layer", "forest", "svr", "sparse_gp")
SLOW = ("neural", "last_layer")
"""Surrogates that get fewer asks."""

Params = Mapping[str, Any]
Evaluate = Callable[[Params], Any]


# What is evaluated.


def branin(params: Params) -> float:
    """Branin's function of x and y."""
    x, y = params["x"], params["y"]
    curve = y - 5.1 / (4.0 * math.pi**2) * x**2 + 5.0 / math.pi * x - 6.0
    return float(curve**2 + 10.0 * (1.0 - 1.0 / (8.0 * math.pi)) * math.cos(x) + 10.0)


_A = ((10, 3, 17, 3.5, 1.7, 8), (0.05, 10, 17, 0.1, 8, 14), (3, 3.5, 1.7, 10, 17, 8), (17, 8, 0.05, 10, 0.1, 14))
_P = (
    (0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886),
    (0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991),
    (0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650),
    (0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381),
)


def hartmann6(params: Params) -> float:
    """Hartmann's function of x0 to x5."""
    x = [params[f"x{j}"] for j in range(6)]
    inner = [sum(a * (v - p) ** 2 for a, v, p in zip(*rows, strict=True)) for rows in zip(_A, [x] * 4, _P, strict=True)]
    return -sum(c * math.exp(-s) for c, s in zip((1.0, 1.2, 3.0, 3.2), inner, strict=True))


def bowl(params: Params) -> float:
    """Squares of x and y, around (1, 4)."""
    return float((params["x"] - 1.0) ** 2 + 0.5 * (params["y"] - 4.0) ** 2)


def trained(params: Params) -> float:
    """Of the mixed space: as if something had been trained."""
    rate, kind = math.log10(params["rate"]) + 2.5, {"a": 0.0, "b": 0.4, "c": 1.0}[params["kind"]]
    width = abs(math.log2(params["width"]) - 6.0)
    return rate**2 + 0.1 * (params["depth"] - 4) ** 2 + kind + (params["share"] - 0.35) ** 2 + 0.2 * width


def on_grids(params: Params) -> float:
    """Of the space of long grids."""
    return (params["n"] / 1e5 - 0.3) ** 2 + (params["t"] - 0.6) ** 2


def counted(params: Params) -> float:
    """Of the finite space."""
    return float((params["i"] - 3) ** 2 + {"a": 0.0, "b": 1.5, "c": 3.0}[params["kind"]])


def noise_of(trial: int) -> float:
    """As good as random, between -1 and 1."""
    return math.sin(12.9898 * (trial + 1) ** 2)


def failed(params: Params) -> bool:
    """Whether an evaluation at x and y breaks down."""
    return bool(params["x"] + params["y"] > 14.0)


# How results come back: each is given the trials that waited and those of the last ask, and returns what is to wait.

Teller = Callable[[Any, list[Any], list[Any], Evaluate], list[Any]]


def at_once(opt: Any, waiting: list[Any], fresh: list[Any], evaluate: Evaluate) -> list[Any]:
    """All, in order."""
    for trial in (*waiting, *fresh):
        opt.tell(trial, evaluate(trial.params))
    return []


def backwards(opt: Any, waiting: list[Any], fresh: list[Any], evaluate: Evaluate) -> list[Any]:
    """All, the last one first."""
    return at_once(opt, [], [*waiting, *fresh][::-1], evaluate)


def late(opt: Any, waiting: list[Any], fresh: list[Any], evaluate: Evaluate) -> list[Any]:
    """The newest two not yet, the others the last one first."""
    both = [*waiting, *fresh]
    at_once(opt, [], both[:-2][::-1], evaluate)
    return both[-2:]


def never(opt: Any, waiting: list[Any], fresh: list[Any], evaluate: Evaluate) -> list[Any]:
    """Of each batch after the design, only the first one: what waits, waits for good."""
    return at_once(opt, [], fresh[:1] if fresh[0].id else fresh, evaluate)


def noisily(opt: Any, waiting: list[Any], fresh: list[Any], evaluate: Evaluate) -> list[Any]:
    """With noise, and how much is not said."""
    for trial in (*waiting, *fresh):
        opt.tell(trial, evaluate(trial.params) + 2.0 * noise_of(trial.id))
    return []


def noisily_said(opt: Any, waiting: list[Any], fresh: list[Any], evaluate: Evaluate) -> list[Any]:
    """With noise, and its standard deviation."""
    for trial in (*waiting, *fresh):
        opt.tell(trial, evaluate(trial.params) + 2.0 * noise_of(trial.id), noise=1.4)
    return []


def noisily_by_name(opt: Any, waiting: list[Any], fresh: list[Any], evaluate: Evaluate) -> list[Any]:
    """Declared outcomes with noise, and its standard deviations."""
    for trial in (*waiting, *fresh):
        values = {name: value + 2.0 * noise_of(trial.id) for name, value in evaluate(trial.params).items()}
        opt.tell(trial, values, noise=dict.fromkeys(values, 1.4))
    return []


def in_replicates(opt: Any, waiting: list[Any], fresh: list[Any], evaluate: Evaluate) -> list[Any]:
    """Declared outcomes, each measured three times."""
    for trial in (*waiting, *fresh):
        found = evaluate(trial.params).items()
        opt.tell(trial, {name: [value + 0.5 * noise_of(3 * trial.id + k) for k in range(3)] for name, value in found})
    return []


def with_errors(opt: Any, waiting: list[Any], fresh: list[Any], evaluate: Evaluate) -> list[Any]:
    """An error where the evaluation breaks down."""
    for trial in (*waiting, *fresh):
        if failed(trial.params):
            opt.tell(trial, error="broke down")
        else:
            opt.tell(trial, evaluate(trial.params))
    return []


def with_nan(opt: Any, waiting: list[Any], fresh: list[Any], evaluate: Evaluate) -> list[Any]:
    """NaN where the evaluation breaks down; of declared outcomes, for the last of them."""
    for trial in (*waiting, *fresh):
        value = evaluate(trial.params)
        if failed(trial.params):
            value = {**value, list(value)[-1]: math.nan} if isinstance(value, dict) else math.nan
        opt.tell(trial, value)
    return []


def in_parts(opt: Any, waiting: list[Any], fresh: list[Any], evaluate: Evaluate) -> list[Any]:
    """Of each second trial the first declared outcome only: the others come after the next ask."""
    for trial in waiting:
        opt.tell(trial, dict(list(evaluate(trial.params).items())[1:]))
    for trial in fresh:
        values = list(evaluate(trial.params).items())
        opt.tell(trial, dict(values[:1] if trial.id % 2 else values))
    return [trial for trial in fresh if trial.id % 2]


# The studies.


@dataclass(frozen=True)
class Study:
    """What is asked and told.

    Attributes
    ----------
    name : its family, and what is special about it.
    space, evaluate : where to search, and what is found there.
    options : of the optimizer, beside space and seed.
    sizes : of the asks after the design.
    asking : options of these asks.
    tell : how results come back.
    observed : results from elsewhere that it begins with, in place of a design.
    seed : of the optimizer.
    """

    name: str
    space: Any
    evaluate: Evaluate
    options: Mapping[str, Any] = field(default_factory=dict)
    sizes: Sequence[int] = (3, 3, 3)
    asking: Mapping[str, Any] = field(default_factory=dict)
    tell: Teller = at_once
    observed: Sequence[Params] = ()
    seed: int = 0


def studies() -> list[Study]:
    """All of them, made of what the checkout has."""
    import believer as bv

    plane = bv.Space({"x": bv.Float(-5, 10), "y": bv.Float(0, 15)})
    cube = bv.Space({f"x{j}": bv.Float(0, 1) for j in range(6)})
    several = {
        "rate": bv.Float(1e-4, 1.0, log=True),
        "depth": bv.Int(1, 8),
        "width": bv.Int(4, 1024, log=True),
        "kind": bv.Categorical(["a", "b", "c"]),
        "share": bv.Float(0, 1, step=0.05),
    }
    mixed = bv.Space(several)
    grids = bv.Space({"n": bv.Int(0, 100_000), "t": bv.Float(0, 1, step=1e-5)})
    finite = bv.Space({"i": bv.Int(0, 5), "kind": bv.Categorical(["a", "b", "c"])})
    cut = bv.Space({"x": bv.Float(-5, 10), "y": bv.Float(0, 15)}, constraint=lambda p: p["x"] + p["y"] <= 9.0)
    cut_mixed = bv.Space(several, constraint=lambda p: p["depth"] <= 6 or p["kind"] == "a")
    found: list[Study] = []

    def add(name: str, space: Any, evaluate: Evaluate, **more: Any) -> None:
        own = {key: more.pop(key) for key in ("sizes", "asking", "tell", "observed", "seed") if key in more}
        found.append(Study(name, space, evaluate, more, **own))

    for strategy in STRATEGIES:
        add(f"scalar/{strategy}", cube, hartmann6, strategy=strategy)
        add(f"scalar/{strategy}, Branin", plane, branin, strategy=strategy, seed=1)
    for seed in (2, 3, 4):
        add(f"scalar/hedged, seed {seed}", plane, branin, strategy="hedged", seed=seed)
        add(f"scalar/kb, seed {seed}", plane, branin, strategy="kb", seed=seed)
    add("scalar/default", plane, branin, sizes=(3,) * 5, seed=5)
    add("scalar/default, six parameters", cube, hartmann6, sizes=(4,) * 4, seed=5)
    add("scalar/observed", plane, branin, n_init=5, seed=6,
        observed=[{"x": 3.0 * k - 5.0, "y": (7.0 * k) % 15.0} for k in range(6)])  # fmt: skip
    add("scalar/strategy of the ask", plane, branin, asking={"strategy": "qei"}, seed=7)
    add("scalar/small numbers", plane, lambda p: 1e-9 * branin(p), seed=8)
    add("scalar/constant", plane, lambda p: 1.0, seed=9)

    for surrogate in SURROGATES:
        sizes = (3,) if surrogate in SLOW else (3, 3, 3)
        add(f"surrogate/{surrogate}", plane, branin, surrogate=surrogate, sizes=sizes)
        add(f"surrogate/{surrogate}, kb", plane, branin, surrogate=surrogate, strategy="kb", sizes=sizes)
    for surrogate in ("forest", "mq_rbf", "sparse_gp"):
        add(f"surrogate/{surrogate}, mixed", mixed, trained, surrogate=surrogate, sizes=(3, 3))
    for kernel in ("matern32", "se"):
        add(f"surrogate/gp, {kernel}", plane, branin, surrogate=bv.GP(kernel=kernel))

    for acquisition in ("EI", "LogEI", "PI", "UCB"):
        add(f"acquisition/{acquisition}, kb", plane, branin, acquisition=acquisition, strategy="kb")
        add(f"acquisition/{acquisition}, six parameters", cube, hartmann6, acquisition=acquisition, strategy="kb")

    infer = bv.GP(noise="infer")
    for strategy in ("hedged", "kb", "qei", "fantasies", "thompson"):
        add(f"noise/inferred, {strategy}", plane, branin, surrogate=infer, strategy=strategy, tell=noisily)
    for strategy in ("hedged", "kb"):
        add(f"noise/default, {strategy}", plane, branin, strategy=strategy, tell=noisily)
        add(f"noise/said, {strategy}", plane, branin, strategy=strategy, tell=noisily_said)
        add(f"noise/repeat, {strategy}", plane, branin, surrogate=infer, strategy=strategy, tell=noisily,
            asking={"repeat": True}, sizes=(6,) * 4)  # fmt: skip
        add(f"noise/said, repeat, {strategy}", plane, bowl, strategy=strategy, tell=noisily_said,
            asking={"repeat": True}, sizes=(6,) * 4)  # fmt: skip
    add("noise/said, forest", plane, branin, surrogate="forest", tell=noisily_said)

    for strategy in ("hedged", "kb", "qei", "thompson"):
        add(f"failures/errors, {strategy}", plane, branin, strategy=strategy, tell=with_errors)
        add(f"failures/NaN, {strategy}", plane, branin, strategy=strategy, tell=with_nan)
    add("failures/errors, forest", plane, branin, surrogate="forest", tell=with_errors)
    add("failures/NaN, forest", plane, branin, surrogate="forest", tell=with_nan)

    for strategy in ("hedged", "kb", "cl_min", "fantasies", "lp", "qei", "thompson", "gp_bucb", "ucb_pe"):
        add(f"pending/late, {strategy}", plane, branin, strategy=strategy, tell=late, sizes=(3,) * 4)
    add("pending/backwards", plane, branin, tell=backwards)
    add("pending/never", plane, branin, tell=never, sizes=(3,) * 4)
    add("pending/late, forest", plane, branin, surrogate="forest", tell=late)
    add("pending/late, one at a time", plane, branin, tell=late, sizes=(1,) * 6)

    for strategy in ("hedged", "kb", "qei", "thompson", "lp", "random"):
        add(f"mixed/{strategy}", mixed, trained, strategy=strategy)
    add("mixed/long grids", grids, on_grids)
    add("mixed/long grids, kb", grids, on_grids, strategy="kb")
    add("mixed/finite, to its end", finite, counted, sizes=(4,) * 5)
    add("mixed/finite, kb", finite, counted, strategy="kb")
    add("mixed/constraint", cut, branin)
    add("mixed/constraint, kb", cut, branin, strategy="kb")
    add("mixed/constraint, categories", cut_mixed, trained)

    add("options/fixed", plane, branin, asking={"fixed": {"x": 2.5}})
    add("options/fixed, kb", mixed, trained, strategy="kb", asking={"fixed": {"kind": "b", "depth": 3}})
    add("options/maximize", plane, lambda p: -branin(p), maximize=True)
    add("options/maximize, kb", cube, lambda p: -hartmann6(p), maximize=True, strategy="kb")
    add("options/warp none", plane, branin, warp="none")
    add("options/warp none, kb", plane, branin, warp="none", strategy="kb")
    add("options/resolution", plane, branin, resolution=5.0, sizes=(3,) * 4)
    add("options/resolution, kb", plane, bowl, resolution=0.1, strategy="kb", sizes=(3,) * 4)
    add("options/not distinct", plane, bowl, asking={"distinct": False}, sizes=(3,) * 4)
    add("options/not distinct, finite", finite, counted, asking={"distinct": False}, sizes=(4,) * 4)
    for strategy in ("hedged", "kb"):
        add(f"options/q 1, {strategy}", plane, branin, strategy=strategy, sizes=(1,) * 6)
        add(f"options/q 8, {strategy}", plane, branin, strategy=strategy, sizes=(8, 8))

    _declared(bv, plane, mixed, add)
    return found


def _declared(bv: Any, plane: Any, mixed: Any, add: Callable[..., None]) -> None:
    """Those with ``outcomes=``."""

    def of(*names: str) -> Callable[[Params], dict[str, float]]:
        parts: dict[str, Callable[[Params], float]] = {
            "loss": branin,
            "gain": lambda p: -branin(p),
            "cost": bowl,
            "size": lambda p: float(p["x"] + p["y"]),
        }
        return lambda params: {name: parts[name](params) for name in names}

    minimize, maximize = {"loss": bv.Minimize()}, {"gain": bv.Maximize()}
    for strategy in STRATEGIES:
        add(f"one goal/{strategy}", plane, of("loss"), outcomes=minimize, strategy=strategy)
    add("one goal/default", plane, of("loss"), outcomes=minimize, sizes=(3,) * 5)
    for strategy in ("hedged", "kb", "qei"):
        add(f"one goal/maximize, {strategy}", plane, of("gain"), outcomes=maximize, strategy=strategy)
    add("one goal/mixed", mixed, lambda p: {"loss": trained(p)}, outcomes=minimize)
    add("one goal/forest", plane, of("loss"), outcomes=minimize, surrogate="forest")
    add("one goal/late", plane, of("loss"), outcomes=minimize, tell=late, sizes=(3,) * 4)
    add("one goal/fixed", plane, of("loss"), outcomes=minimize, asking={"fixed": {"x": 2.5}})
    add("one goal/resolution", plane, of("loss"), outcomes=minimize, resolution=5.0)
    add("one goal/noise said", plane, of("loss"), outcomes=minimize, tell=noisily_by_name)
    add("one goal/replicates", plane, of("loss"), outcomes=minimize, tell=in_replicates)
    add("one goal/repeat", plane, of("loss"), outcomes=minimize, tell=noisily_by_name, asking={"repeat": True},
        sizes=(3,) * 4)  # fmt: skip
    for acquisition in ("EI", "UCB"):
        add(f"one goal/{acquisition}", plane, of("loss"), outcomes=minimize, acquisition=acquisition)

    at_most = {"loss": bv.Minimize(), "size": bv.AtMost(9.0)}
    for strategy in ("kb", "hedged", "cl_max", "fantasy", "fantasies", "qei", "thompson", "lp", "random"):
        add(f"limit/{strategy}", plane, of("loss", "size"), outcomes=at_most, strategy=strategy)
    at_least = {"gain": bv.Maximize(), "size": bv.AtLeast(12.0, probability=0.9)}
    add("limit/at least", plane, of("gain", "size"), outcomes=at_least)
    between = {"loss": bv.Minimize(), "size": bv.Between(6.0, 8.0)}
    add("limit/between", plane, of("loss", "size"), outcomes=between)
    add("limit/between, hedged", plane, of("loss", "size"), outcomes=between, strategy="hedged")
    add("limit/nothing feasible", plane, of("loss", "size"), outcomes={**minimize, "size": bv.AtMost(-6.0)})
    add("limit/two limits", plane, of("loss", "size", "cost"), outcomes={**at_most, "cost": bv.AtMost(30.0)})
    add("limit/late", plane, of("loss", "size"), outcomes=at_most, tell=late, sizes=(3,) * 4)

    two = {"loss": bv.Minimize(), "cost": bv.Minimize()}
    reference = {"loss": 150.0, "cost": 60.0}
    for strategy in ("kb", "hedged", "fantasies", "qei", "random"):
        add(f"two objectives/{strategy}", plane, of("loss", "cost"), outcomes=two, strategy=strategy, sizes=(3, 3))
    add("two objectives/reference", plane, of("loss", "cost"), outcomes=two, reference=reference)
    add("two objectives/reference, late", plane, of("loss", "cost"), outcomes=two, reference=reference, tell=late)
    for acquisition in ("EHVI", "Scalarized"):
        add(f"two objectives/{acquisition}", plane, of("loss", "cost"), outcomes=two, acquisition=acquisition)
    add("two objectives/opposed", plane, of("gain", "cost"), outcomes={**maximize, "cost": bv.Minimize()})
    add("two objectives/limit", plane, of("loss", "cost", "size"), outcomes={**two, "size": bv.AtMost(9.0)})

    wanted = {"loss": bv.Desirability(bad=100.0, good=1.0), "cost": bv.Desirability(bad=50.0, good=5.0, weight=2.0)}
    add("desirability/kb", plane, of("loss", "cost"), outcomes=wanted, strategy="kb")
    add("desirability/hedged", plane, of("loss", "cost"), outcomes=wanted, strategy="hedged")
    add("desirability/limit", plane, of("loss", "cost", "size"), outcomes={**wanted, "size": bv.AtMost(9.0)})

    goals = {"one goal": minimize, "limit": at_most, "two objectives": two, "desirability": wanted}
    for name, outcomes in goals.items():
        add(f"declared failures/errors, {name}", plane, of(*outcomes), outcomes=outcomes, tell=with_errors)
        add(f"declared failures/NaN, {name}", plane, of(*outcomes), outcomes=outcomes, tell=with_nan)
    add("declared failures/errors, hedged", plane, of("loss"), outcomes=minimize, strategy="hedged", tell=with_errors)
    for name in ("limit", "two objectives"):
        add(f"partial tells/{name}", plane, of(*goals[name]), outcomes=goals[name], tell=in_parts)
    add("partial tells/limit, hedged", plane, of(*at_most), outcomes=at_most, strategy="hedged", tell=in_parts)


# One checkout.


def run(study: Study) -> dict[str, Any]:
    """What it chose, what it would use, what it said; and how it ended, None where nothing stopped it."""
    import believer as bv

    points: list[Any] = []
    params: list[Any] = []
    verdicts: list[str] = []
    ended = None
    opt = None
    try:
        opt = bv.Optimizer(study.space, **study.options, seed=study.seed)
        for at in study.observed:
            opt.observe(at, study.evaluate(at))
        design = [] if study.observed else [study.options.get("n_init", 2 * len(study.space.names))]
        waiting: list[Any] = []
        for k, q in enumerate((*design, *study.sizes)):
            batch = opt.ask(q, **(study.asking if k >= len(design) else {}))
            for trial in batch:
                encoded = trial.unit if hasattr(trial, "unit") else trial.encoded
                points.append(encoded.tolist())
                params.append(dict(trial.params))
            verdicts.append(batch.verdict.sentence)
            waiting = study.tell(opt, waiting, list(batch), study.evaluate)
    except bv.errors.MissingCapability:
        ended = "refused"
    except bv.errors.SpaceExhausted:
        ended = "exhausted"
    except Exception as error:
        ended = f"{type(error).__name__}: {error}"
    used = [] if opt is None else [_tried(read, opt) for read in (_best, _recommended, _front)]
    return {"points": points, "params": params, "verdicts": verdicts, "used": used, "ended": ended}


def _best(opt: Any) -> Any:
    best = opt.best
    return dict(best[0]) if isinstance(best, tuple) else getattr(best, "params", None)


def _recommended(opt: Any) -> Any:
    return dict(opt.recommend().params)


def _front(opt: Any) -> Any:
    return [dict(point.params) for point in opt.front]


def _tried(read: Callable[[Any], Any], opt: Any) -> Any:
    """What it reads, or the kind of error where there is no such thing."""
    try:
        return read(opt)
    except Exception as error:
        return type(error).__name__


def work(out: Path) -> None:
    """Run every study with the believer on the path, and write what came of them."""
    import believer as bv

    every, begun = studies(), time.process_time()
    names = [study.name for study in every]
    assert len(set(names)) == len(names), "two studies of one name"
    found = {}
    for done, study in enumerate(every, 1):
        found[study.name] = run(study)
        if done % 20 == 0 or done == len(every):
            spent = time.process_time() - begun
            print(f"{done}/{len(every)} studies, {spent:.0f} s: {study.name}", file=sys.stderr, flush=True)
    about = {"from": str(Path(bv.__file__).resolve()), "backend": bv.backend(), "seconds": time.process_time() - begun}
    out.write_text(json.dumps({"about": about, "studies": found}))


def ask_checkout(root: Path, backend: str, out: Path) -> dict[str, Any]:
    """What a process with the checkout at ``root`` found."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    environment = {**os.environ, **threads, "PYTHONPATH": str(root / "src"), "BELIEVER_BACKEND": backend}
    subprocess.run([sys.executable, str(Path(__file__).resolve()), "--worker", str(out)], env=environment, check=True)
    found: dict[str, Any] = json.loads(out.read_text())
    about = found["about"]
    if not Path(about["from"]).is_relative_to(root / "src"):
        raise SystemExit(f"meant to compute with {root}, but imported {about['from']}.")
    if about["backend"] != backend:
        raise SystemExit(f"meant to compute in {backend}, but {root} computes in {about['backend']}: is it built?")
    return found


# Both.


@dataclass(frozen=True)
class Compared:
    """A study of both checkouts: how many points each has, how many are equal to the bit, and what else is the same.

    ``gap`` is the largest difference in the encoded cube; None where the points are not equally many.
    """

    name: str
    points: tuple[int, int]
    equal: int
    gap: float | None
    chosen: bool
    used: bool
    said: bool
    ended: tuple[str | None, str | None]

    @property
    def same(self) -> bool:
        """In all that is compared, and nothing went wrong."""
        return (
            self.chosen and self.used and self.said and all(end in (None, "refused", "exhausted") for end in self.ended)
        )

    def row(self) -> list[str]:
        """Of the table."""
        before, after = self.points
        gap = "-" if self.gap is None else f"{self.gap:.2g}"
        ends = dict.fromkeys(end or "to its end" for end in self.ended)
        end = "" if self.ended == (None, None) else " / ".join(ends).replace("|", "/").replace("\n", " ")
        points = f"{before}" if before == after else f"{before} / {after}"
        words = ["same" if same else "**differ**" for same in (self.chosen, self.used, self.said)]
        return [self.name, points, f"{self.equal}", gap, *words, end]


HEADER = ["study", "points", "equal to the bit", "largest gap", "choices", "best, recommend", "verdicts", "ended"]
_ABSENT: dict[str, Any] = {"points": [], "params": [], "verdicts": [], "used": None, "ended": "absent"}


def compare(name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Compared:
    """Bits of points, and JSON of all else: there 1, 1.0 and true are three."""
    one, two = before["points"], after["points"]
    equal = sum(np.array(a).tobytes() == np.array(b).tobytes() for a, b in zip(one, two, strict=False))
    alike = [len(point) for point in one] == [len(point) for point in two]
    gap = (
        max((float(np.abs(np.subtract(a, b)).max()) for a, b in zip(one, two, strict=True)), default=0.0)
        if alike
        else None
    )

    def same(key: str) -> bool:
        return json.dumps(before[key], sort_keys=True) == json.dumps(after[key], sort_keys=True)

    chosen = len(one) == len(two) == equal and same("params") and same("ended")
    sizes, ended = (len(one), len(two)), (before["ended"], after["ended"])
    return Compared(name, sizes, equal, gap, chosen, same("used"), same("verdicts"), ended)


def commit(root: Path) -> str:
    """Short, and whether files were changed since."""

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(root), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()

    changed = " with changes" if git("status", "--porcelain", "--untracked-files=no", "src", "native") else ""
    return (git("rev-parse", "--short", "HEAD") or "no commit") + changed


def report(found: Sequence[Compared], about: str) -> str:
    """As Markdown."""
    from regret_report import markdown_table

    many = len(found)
    used, said = sum(one.used for one in found), sum(one.said for one in found)
    chosen, same = sum(one.chosen for one in found), sum(one.same for one in found)
    cut = sum(one.ended == ("refused", "refused") for one in found)
    lines = [
        f"Best and recommended points are the same in {used} of {many}, verdicts in {said}, everything in {same}. "
        f"Both refuse {cut}.",
        "",
        f"{chosen} of {many} studies chose the same points{': all are identical' if same == many else ''}.",
    ]
    table = markdown_table(HEADER, [one.row() for one in found])
    return "\n".join(["# The same choices?", "", about, "", table, *lines]) + "\n"


def main() -> int:
    """Run both checkouts, print the table; 1 where something differs that should not."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, help="the other checkout")
    parser.add_argument("--after", type=Path, default=Path(), help="default: this directory")
    parser.add_argument("--backend", choices=("native", "python"), default="native")
    parser.add_argument(
        "--expect", nargs="+", default=[], metavar="NAME", help="studies that may differ; * is any text"
    )
    parser.add_argument("--out", type=Path, help="write the table there, too")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker is not None:
        work(given.worker)
        return 0
    if given.before is None:
        parser.error("--before is needed: the checkout to compare with")
    roots = {"before": given.before.resolve(), "after": given.after.resolve()}
    runs = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, root in roots.items():
            print(f"{name}: {commit(root)}", file=sys.stderr, flush=True)
            runs[name] = ask_checkout(root, given.backend, Path(folder) / f"{name}.json")
    before, after = (run["studies"] for run in runs.values())
    found = [compare(n, before.get(n, _ABSENT), after.get(n, _ABSENT)) for n in dict.fromkeys([*before, *after])]
    seconds = [run["about"]["seconds"] for run in runs.values()]
    about = (
        f"`same_choices.py`, {commit(roots['before'])} (before) against {commit(roots['after'])} (after), "
        f"{given.backend} backend, one process each on one thread: {seconds[0]:.0f} and {seconds[1]:.0f} s of "
        "processor time."
    )
    text = report(found, about)
    print(text, end="")
    if given.out is not None:
        given.out.write_text(text)
    other = [one.name for one in found if not one.same and not any(fnmatchcase(one.name, p) for p in given.expect)]
    for name in other:
        print(f"differs, and was not expected to: {name}", file=sys.stderr)
    return 1 if other else 0


if __name__ == "__main__":
    sys.exit(main())
