"""The least time that a step could take: the flops and bytes of its algorithm, at the rates of this machine.

======  ==================================================================  ======
symbol  meaning                                                             unit
======  ==================================================================  ======
n       observations, the batch's own included
m       points evaluated in one call
d       dimensions
e       exp and sqrt of one entry of an array in the nearest cache          s
g       dgemm, (n, n) times (n, at least 512)                               flop/s
b       reading by dgemv of a matrix as large as a triangle of n rows       byte/s
======  ==================================================================  ======

A call takes at least entries · e + max(flops / g, bytes / b). The calls are counted, not estimated: the Python twin,
which runs the same algorithm, is watched over the same step.

=========  ===================================  =======  ======================  ======
part       one call                             entries  flops                   bytes
=========  ===================================  =======  ======================  ======
fit        a likelihood with its gradient       n²/2     n³ + 2 n² d             4 n²
factor     the posterior at what was found      n²/2     2 n³/3 + n² d + 2 n²    4 n²
screen     m values                             n m      n² m + 2 n m d          4 n²
climb      m values with gradients              n m      2 n² m + 4 n m d        4 n²
condition  one point more; the lie is in it     n        2 n² + 2 n d            4 n²
=========  ===================================  =======  ======================  ======

n³ is dpotrf (n³/3) and dpotri (2 n³/3); a product with the triangle W is n² m; distances are 2 d an entry, and so are
gradients. W is read once a call: a row serves k Wᵀ and V W while it is in the cache, and all points that climb share
it. Left out: the acquisition, the quasi-Newton steps, the candidates' coordinates, the verdict, the trials' records.

A floor, no forecast: nothing small runs at dgemm's rate. The column "at LAPACK's rate" therefore takes the cubic terms
of fit and factor at what dpotrf and dpotri, in place, reach together at that n.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any
from unittest.mock import patch

import numpy as np
from regret_report import markdown_table
from scipy.linalg import blas, lapack

from believer.arrays import Array
from believer.numerics import backend
from believer.numerics.sampling import latin_hypercube
from believer.problems.synthetic import hartmann6
from believer.study.models import KEPT_FROM
from believer.surrogates import gp, gp_fit, gp_likelihood
from believer.surrogates.gp import GPModel
from believer.surrogates.gp_pool import CandidateBlock

LIKELIHOOD_SIZES = (50, 200, 500, 1000)


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a part: ``n`` observations, ``m`` points."""

    part: str
    n: int
    m: int

    def work(self, d: int) -> tuple[float, float, float, float]:
        """Entries of a kernel, cubic flops, other flops, bytes: the table above."""
        n, m = self.n, self.m
        entries, cubic, flops = {
            "fit": (n**2 / 2, n**3, 2 * n**2 * d),
            "factor": (n**2 / 2, 2 * n**3 / 3, n**2 * d + 2 * n**2),
            "screen": (n * m, 0, n**2 * m + 2 * n * m * d),
            "climb": (n * m, 0, 2 * n**2 * m + 4 * n * m * d),
            "condition": (n * m, 0, (2 * n**2 + 2 * n * d) * m),
        }[self.part]
        return entries, cubic, flops, 4 * n**2


PARTS = ("fit", "factor", "screen", "climb", "condition")


@contextmanager
def counting(calls: list[Call]) -> Iterator[None]:
    """Append every call of a part to ``calls``, as long as the Python twin computes."""

    def noted(part: str, original: Callable[..., Any], sizes: Callable[..., tuple[int, int]]) -> Callable[..., Any]:
        def called(*arguments: Any) -> Any:
            n, m = sizes(*arguments)
            # One value alone is a lie's, whose mean comes with the row that conditioning needs anyway.
            if part != "screen" or m > 1:
                calls.append(Call(part, n, m))
            return original(*arguments)

        return called

    def at(model: GPModel, X: Array, *_: Any) -> tuple[int, int]:
        return model.factor.rows, len(X)

    watched: list[tuple[Any, str, str, Callable[..., tuple[int, int]]]] = [
        (gp, "factor", "factor", lambda K: (len(K), 1)),
        (GPModel, "predict", "screen", at),
        (GPModel, "predict_with_gradient", "climb", at),
        (GPModel, "condition", "condition", at),
    ]
    with backend.using("python"), ExitStack() as stack:
        for owner, name, part, sizes in watched:
            stack.enter_context(patch.object(owner, name, noted(part, getattr(owner, name), sizes)))
        # A fit takes its likelihood as an argument, and this is its default.
        fit = noted("fit", gp_fit.log_likelihood, lambda kernel, X, *_: (len(X), 1))
        stack.enter_context(patch.object(gp_fit.fit, "__defaults__", (*gp_fit.fit.__defaults__[:-1], fit)))
        pooled = noted("screen", CandidateBlock.of, at)
        stack.enter_context(patch.object(CandidateBlock, "of", staticmethod(pooled)))
        yield
    seen = {call.part for call in calls}
    if max((call.n for call in calls), default=0) >= KEPT_FROM:  # results are added to the fit that is there
        seen |= {"fit", "factor"}
    if missing := set(PARTS) - seen:
        raise RuntimeError(f"every part must be seen in a step; {', '.join(sorted(missing))} was not: is it renamed?")


@dataclass(frozen=True, slots=True)
class Rates:
    """What this machine does at ``n``: flop/s of dgemm, of dpotrf and dpotri in place; byte/s; s for an entry."""

    n: int
    gemm: float
    potrf: float
    potri: float
    read: float
    entry: float

    @property
    def lapack(self) -> float:
        """flop/s of dpotrf and dpotri, one after the other."""
        return 1.0 / (1.0 / (3.0 * self.potrf) + 2.0 / (3.0 * self.potri))

    def floor(self, call: Call, d: int, at_lapack: bool = False) -> float:
        """The least seconds of ``call``; ``at_lapack`` takes its cubic flops at the rate of LAPACK, not of dgemm."""
        entries, cubic, flops, size = call.work(d)
        slow = cubic / (self.lapack if at_lapack else self.gemm)
        return entries * self.entry + max(slow + flops / self.gemm, size / self.read)


def rates(n: int) -> Rates:
    """Measured now; always the fastest of many repeats, since a floor wants the machine at its best."""
    rng = np.random.default_rng(n)
    A, B = (np.asfortranarray(rng.standard_normal((n, m))) for m in (n, max(n, 512)))
    C = np.empty_like(B, order="F")
    K = np.asfortranarray(A @ A.T + n * np.eye(n))
    L, work = lapack.dpotrf(K, lower=1)[0], np.empty_like(K, order="F")
    gemm = fastest(lambda: blas.dgemm(1.0, A, B, c=C, overwrite_c=1))
    potrf = fastest(lambda: lapack.dpotrf(work, lower=1, clean=0, overwrite_a=1), lambda: np.copyto(work, K))
    potri = fastest(lambda: lapack.dpotri(work, lower=1, overwrite_c=1), lambda: np.copyto(work, L))
    side = round(n / 2**0.5)
    many = np.broadcast_to(rng.standard_normal((side, side)), (1 + 4_000_000 // side**2, side, side))
    x, out = rng.standard_normal(side), np.empty(many.shape[:2])
    # One call of NumPy for many products: a call for each would be timed instead of the reading.
    read = fastest(lambda: np.matmul(many, x, out=out))
    flops = n**3 / 3.0
    return Rates(
        n, 2.0 * A.size * B.shape[1] / gemm, flops / potrf, 2.0 * flops / potri, 8.0 * many.size / read, _entry()
    )


@cache
def _entry() -> float:
    """Seconds of exp and sqrt for one entry; the difference of two lengths is free of what a call costs."""

    def seconds(length: int) -> float:
        a = np.linspace(-5.0, 0.0, length)
        e, r = np.empty(length), np.empty(length)
        return fastest(lambda: np.exp(a, out=e), budget=0.5) + fastest(lambda: np.sqrt(e, out=r), budget=0.5)

    return (seconds(2048) - seconds(512)) / 1536.0


def fastest(call: Callable[[], object], before: Callable[[], object] | None = None, budget: float = 0.2) -> float:
    """Least seconds of ``call`` over at least five repeats, more while ``budget`` seconds last; ``before`` is free.

    Of the processor: on a shared machine no long call has the core to itself.
    """
    least, done, end = np.inf, 0, time.perf_counter() + budget
    while done < 5 or time.perf_counter() < end:
        if before is not None:
            before()
        start = time.process_time()
        call()
        least, done = min(least, time.process_time() - start), done + 1
    return least


def floor_table(title: str, steps: Sequence[Sequence[Call]], d: int, at: Rates) -> tuple[float, str]:
    """The least seconds of a step, the mean over ``steps``; and its parts as Markdown."""
    lines, totals = [], [0.0, 0.0]
    for part in PARTS:
        calls = [call for step in steps for call in step if call.part == part]
        work = np.array([call.work(d) for call in calls]).sum(axis=0) / len(steps)
        floors = [sum(at.floor(call, d, flag) for call in calls) / len(steps) for flag in (False, True)]
        totals = [total + floor for total, floor in zip(totals, floors, strict=True)]
        points = sum(call.m for call in calls) / len(steps)
        if not calls:  # between fits there is none
            continue
        lines.append([part, f"{len(calls) / len(steps):.1f}", f"{points:.0f}", *_amounts(work, floors)])
    lines.append(["**all**", "", "", "", "", "", *(f"{1e3 * total:.3g}" for total in totals)])
    header = ["part", "calls", "points", "Mflop", "MB", "entries, thousands", "floor, ms", "at LAPACK's rate, ms"]
    note = (
        f"dgemm {at.gemm / 1e9:.1f}, dpotrf {at.potrf / 1e9:.1f}, dpotri {at.potri / 1e9:.1f} Gflop/s; reading "
        f"{at.read / 1e9:.1f} GB/s; an entry {1e9 * at.entry:.2f} ns; at n = {at.n}. Means of {len(steps)} seeds.\n\n"
    )
    return totals[0], f"### Floor: {title}\n\n{note}{markdown_table(header, lines)}"


def _amounts(work: Array, floors: Sequence[float]) -> list[str]:
    entries, cubic, flops, size = work
    numbers = [(cubic + flops) / 1e6, size / 1e6, entries / 1e3, *(1e3 * floor for floor in floors)]
    return [f"{number:.3g}" if number < 1000.0 else f"{number:.0f}" for number in numbers]


def likelihood_table() -> str:
    """How near one likelihood with its gradient is to the LAPACK calls that it cannot do without, as Markdown.

    Gflop/s count n³ flops, those of dpotrf and dpotri; the fastest of many repeats.
    """
    lines = []
    for n in LIKELIHOOD_SIZES:
        at = rates(n)
        needed = n**3 / at.lapack
        ours, twin = (_likelihood_seconds(n, name) for name in (backend.name(), "python"))
        reached = [rate / 1e9 for rate in (at.gemm, at.potrf, at.potri, at.lapack, n**3 / ours)]
        times = [f"{1e3 * needed:.3g}", f"{1e3 * ours:.3g}", f"{ours / needed:.2f}", f"{twin / needed:.2f}"]
        lines.append([str(n), *(f"{rate:.1f}" for rate in reached), *times])
    header = ["n", "dgemm", "dpotrf", "dpotri", "both", "ours, all of it", "both, ms", "ours, ms", "ours / both"]
    title = "## One likelihood with its gradient beside dpotrf + dpotri in place; the first five in Gflop/s\n\n"
    return title + markdown_table([*header, "Python twin / both"], lines)


def _likelihood_seconds(n: int, name: str) -> float:
    X = latin_hypercube(n, 6, np.random.default_rng(n))
    y = hartmann6(X)
    y = (y - y.mean()) / y.std()
    theta = np.append(np.full(6, np.log(0.5 * 6**0.5)), 0.0)
    with backend.using(name):
        return fastest(lambda: gp_likelihood.log_likelihood("matern52", X, y, theta, 1e-6, 1.0), budget=0.5)
