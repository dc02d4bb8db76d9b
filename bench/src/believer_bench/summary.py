"""The numbers of the report: a line for each member on each case, its curves, and batches beside one at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from believer.arrays import Array
from believer.experiments import bootstrap_interval
from believer.report import Plain, Table
from believer_bench.declared import VALUE
from believer_bench.ranking import rank
from believer_bench.runs import Case, Run, cases_of, members_of, sequential_of

CLOCKS_AGREE = 1.25
"""Wall and processor time that differ by less than this factor are told as one."""

CurveAxis = Literal["evaluations", "iterations"]

MIN_FOR_INTERVAL = 6
"""Seeds below which the range of all is no 95 % interval of the median: it misses it with probability 2^(1 - n)."""


@dataclass(frozen=True, slots=True)
class Line:
    """One member on one case. Values are in the user's units; None if there is nothing to say.

    low, high: 95 % bootstrap interval of the median. rank: mean over the seeds. regret, and the share of the initial
    design's that is left, are medians. Distances and times are over all batches of all seeds: spread in shares of
    random pairs, least as median, near as pairs a batch.
    """

    member: str
    case: Case
    seeds: int
    median: float
    low: float | None
    high: float | None
    mean: float
    std: float | None
    rank: float | None
    regret: float | None
    regret_left: float | None
    spread: float | None
    least: float | None
    near: float | None
    cpu_ms: float | None
    wall_ms: float | None
    setup_ms: float | None
    failed: int


@dataclass(frozen=True, slots=True, eq=False)
class RegretCurve:
    """Quartiles over seeds of the best value, to be minimized, after ``x`` evaluations or iterations."""

    x: Array
    low: Array
    middle: Array
    high: Array


def lines_of(runs: Sequence[Run]) -> tuple[Line, ...]:
    """Every member on every case, the best mean rank first."""
    found: list[Line] = []
    for case in cases_of(runs):
        here = [run for run in runs if run.case == case]
        ranks = rank(here).ranks
        lines = [_line([run for run in here if run.member == member], ranks) for member in members_of(here)]
        found += sorted(lines, key=lambda line: (line.rank or np.inf, case.sign * line.median))
    return tuple(found)


def _line(runs: Sequence[Run], ranks: dict[str, float]) -> Line:
    case, member = runs[0].case, runs[0].member
    values = case.sign * np.array([run.final for run in runs])
    low, high = bootstrap_interval(values) if len(values) >= MIN_FOR_INTERVAL else (None, None)
    regrets, left = _regrets(runs)
    return Line(
        member=member,
        case=case,
        seeds=len(runs),
        median=float(np.median(values)),
        low=low,
        high=high,
        mean=float(values.mean()),
        std=float(values.std(ddof=1)) if len(values) > 1 else None,
        rank=ranks.get(member),
        regret=median([regrets]),
        regret_left=median([left]),
        spread=median(run.spread for run in runs),
        least=median(run.least for run in runs),
        near=_mean(run.near for run in runs) if case.q > 1 else None,
        cpu_ms=milliseconds(run.cpu for run in runs),
        wall_ms=milliseconds(run.wall for run in runs),
        setup_ms=1e3 * float(np.median([run.setup for run in runs])),
        failed=sum(run.failed for run in runs),
    )


def regret_of(case: Case, best: Array) -> Array:
    """The regret of ``best``, which is minimized; the optimum must be known."""
    assert case.optimum is not None
    regret: Array = best - case.sign * case.optimum
    return regret


def _regrets(runs: Sequence[Run]) -> tuple[Array, Array]:
    """Regret at the end, and as a share of that after the initial design; empty where the optimum is not known."""
    case = runs[0].case
    if case.optimum is None:
        return np.empty(0), np.empty(0)
    end = regret_of(case, np.array([run.final for run in runs]))
    start = regret_of(case, np.array([run.best[min(case.n_init, len(run.best)) - 1] for run in runs]))
    sound = start > 0.0
    return end, end[sound] / start[sound]


def _present(parts: Iterable[Array]) -> Array:
    values: Array = np.concatenate([*parts, np.empty(0)])
    present: Array = values[~np.isnan(values)]
    return present


def median(parts: Iterable[Array]) -> float | None:
    """The median of all entries; None without any."""
    values = _present(parts)
    return float(np.median(values)) if len(values) else None


def _mean(parts: Iterable[Array]) -> float | None:
    values = _present(parts)
    return float(values.mean()) if len(values) else None


def milliseconds(seconds: Iterable[Array]) -> float | None:
    """The median over all batches."""
    middle = median(seconds)
    return None if middle is None else 1e3 * middle


def duration(ms: float) -> str:
    """Milliseconds in words, to the precision that a clock has."""
    return f"{ms:.0f} ms" if ms >= 10.0 else f"{ms:.2g} ms"


def clocks_agree(lines: Sequence[Line]) -> bool:
    """Whether wall and processor time tell the same, for every member."""
    both = [(line.cpu_ms, line.wall_ms) for line in lines if line.cpu_ms and line.wall_ms]
    return all(1.0 / CLOCKS_AGREE < wall / cpu < CLOCKS_AGREE for cpu, wall in both)


def curve(runs: Sequence[Run], axis: CurveAxis) -> RegretCurve:
    """Quartiles of runs of one member on one case; a run that stopped early keeps its last value."""
    case = runs[0].case
    rows = [run.best[case.n_init - 1 :] if axis == "evaluations" else run.after_batches() for run in runs]
    length = max(map(len, rows))
    table = np.array([np.concatenate([row, np.full(length - len(row), row[-1])]) for row in rows])
    seen = ~np.isnan(table).all(axis=0)
    x = np.arange(length, dtype=np.float64) + (case.n_init if axis == "evaluations" else 0)
    low, middle, high = np.nanquantile(table[:, seen], [0.25, 0.5, 0.75], axis=0)
    return RegretCurve(x[seen], low, middle, high)


def best_table(lines: Sequence[Line]) -> Table:
    """The table of the final values of one case's members."""
    known = lines[0].case.optimum is not None
    what = "best" if lines[0].case.measure == VALUE else lines[0].case.measure
    columns = ["member", "seeds", f"median {what}", "95 % interval", "mean", "std", "mean rank"]
    columns += ["median regret", "regret left (%)"] if known else []
    rows: list[list[Plain]] = []
    for line in lines:
        interval = None if line.low is None or line.high is None else f"{line.low:.4g} to {line.high:.4g}"
        row: list[Plain] = [line.member, line.seeds, line.median, interval, line.mean, line.std, _rounded(line.rank, 2)]
        left = None if line.regret_left is None else 100.0 * line.regret_left
        rows.append([*row, *([line.regret, _rounded(left, 2)] if known else [])])
    return Table(f"Final {what}", columns, rows)


def batch_table(lines: Sequence[Line]) -> Table:
    """How diverse the batches of one case were, and what they cost."""
    columns = ["member", "spread (% of random)", "least distance", "near-duplicate pairs a batch"]
    columns += ["CPU ms a batch", "wall ms a batch"]
    rows = [
        [
            line.member,
            None if line.spread is None else _rounded(100.0 * line.spread, 0),
            line.least,
            _rounded(line.near, 2),
            _rounded(line.cpu_ms, 1),
            _rounded(line.wall_ms, 1),
        ]
        for line in lines
    ]
    if lines[0].case.q == 1:  # one point has no pairs
        columns, rows = [columns[0], *columns[4:]], [[row[0], *row[4:]] for row in rows]
        return Table("Time per batch", columns, rows)
    return Table("Diversity and time per batch", columns, rows)


def sequential_table(runs: Sequence[Run]) -> Table | None:
    """Batches of q beside one point at a time, at equal evaluations and at equal iterations; None without both."""
    rows: list[list[Plain]] = []
    for case in cases_of(runs):
        sequential_runs = [run for run in runs if run.case == sequential_of(case)] if case.q > 1 else []
        for member in members_of(sequential_runs):
            one = {run.seed: run for run in sequential_runs if run.member == member}
            ours = {run.seed: run for run in runs if run.case == case and run.member == member}
            seeds = sorted(one.keys() & ours.keys())
            if seeds:
                rows.append(_against_sequential(case, [ours[seed] for seed in seeds], [one[seed] for seed in seeds]))
    columns = ["problem", "member", "q", "batches", "seeds", "batches of q", "sequential, equal evaluations"]
    columns += ["batches won / tied / lost", "sequential, equal iterations", "batches won / tied / lost "]
    return Table("Batches beside one point at a time: median best", columns, rows) if rows else None


def _against_sequential(case: Case, ours: Sequence[Run], one: Sequence[Run]) -> list[Plain]:
    a = np.array([run.final for run in ours])
    evaluations = np.array(
        [run.best[min(len(mine.best), len(run.best)) - 1] for mine, run in zip(ours, one, strict=True)]
    )
    iterations = np.array(
        [run.after_batches()[min(len(mine.batches), len(run.batches))] for mine, run in zip(ours, one, strict=True)]
    )
    batches = int(np.median([len(run.batches) for run in ours]))
    row: list[Plain] = [case.problem, ours[0].member, case.q, batches, len(ours), float(case.sign * np.median(a))]
    for b in (evaluations, iterations):
        score = f"{int((a < b).sum())} / {int((a == b).sum())} / {int((a > b).sum())}"
        row += [float(case.sign * np.median(b)), score]
    return row


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)
