"""The tables of a suite: every member beside the others, by class, by problem, and run by run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from believer.report import Plain, Table
from believer_bench.classes import ClassLine
from believer_bench.profiles import counts
from believer_bench.runs import Run, members_of
from believer_bench.scores import TARGETS, RaceGroup, evaluations_to, final, measure_of, recommended

_TONES = {"better": "good", "worse": "bad", "": "open"}
_STEPS = ((0.5, 3), (0.2, 2), (0.05, 1))
"""From which size of a difference a cell is how strongly colored."""


def percent(share: float) -> str:
    """A target in words."""
    return f"{100.0 * share:g} %"


def overall_table(lines: Sequence[ClassLine]) -> Table:
    """Members on the problems that all of their group have run, from their lines on all."""
    columns = ["member", "batches", "problems", "runs", "mean log10 regret", "95 % interval", "difference"]
    rows: list[list[Plain]] = [
        [
            *(line.member, line.group.short, line.problems, line.runs, _2(line.mean), _interval(line), _signed(line)),
            *(_score(line), None if line.holm is None else float(f"{line.holm:.2g}"), _verdict(line)),
        ]
        for line in lines
    ]
    judged = ["" if line.difference is None else _TONES[line.verdict] for line in lines]
    tones = [[*[""] * (len(columns) + 2), tone] for tone in judged]
    return Table("All problems", [*columns, "won / tied / lost", "p (Holm)", "verdict"], rows, tones)


def effort_table(groups: Mapping[RaceGroup, Sequence[Run]]) -> Table:
    """How many runs came near the optimum, on the same problems, and what all runs and batches were like."""
    columns = ["member", "batches", *(f"within {percent(t)}" for t in TARGETS)]
    columns += ["near pairs", "by verdict", "CPU s a run"]
    rows: list[list[Plain]] = []
    for group, runs in groups.items():
        needed = [counts(runs, target) for target in TARGETS]
        for member in members_of(runs):
            own = [run for run in runs if run.member == member]
            solved = [
                f"{100.0 * float(np.isfinite(n[member]).mean()):.0f} %" if len(n[member]) else None for n in needed
            ]
            pairs = [_pairs(own, name) for name in ("near", "near_by_verdict")]
            rows.append([member, group.short, *solved, *pairs, _2(float(np.mean([run.cpu.sum() for run in own])))])
    return Table("Runs within a share of the scale, pairs that are nearly one point, and time", columns, rows)


def class_table(lines: Sequence[ClassLine]) -> Table:
    """Mean log10 regrets of one group, a row a class, a column a member, colored by the difference to the first."""
    members = list(dict.fromkeys(line.member for line in lines))
    found = {(line.kind, line.member): line for line in lines}
    rows: list[list[Plain]] = []
    tones: list[list[str]] = []
    for kind in dict.fromkeys(line.kind for line in lines):
        here = [found.get((kind, member)) for member in members]
        problems = max(line.problems for line in here if line is not None)
        rows.append(
            [
                kind,
                problems,
                *("-" if line is None else f"{line.mean:.2f} {line.verdict}".rstrip() for line in here),
            ]
        )
        tones.append(["", "", *("" if line is None else _tone(line.difference) for line in here)])
    shown = f". Color: the difference from {members[0]}; better or worse: it is shown" if len(members) > 1 else ""
    title = f"Mean log10 regret, {lines[0].group.label}{shown}"
    return Table(title, ["class", "problems", *members], rows, tones)


def differences_table(lines: Sequence[ClassLine]) -> Table | None:
    """The tests of one group, a row a class and member; None with one member."""
    tested = [line for line in lines if line.difference is not None]
    columns = [
        "class",
        "member",
        "mean",
        "95 % interval",
        "difference",
        "won / tied / lost",
        "p",
        "p (Holm)",
        "verdict",
    ]
    rows: list[list[Plain]] = [
        [
            *(line.kind, line.member, _2(line.mean), _interval(line), _signed(line), _score(line), line.p, line.holm),
            _verdict(line),
        ]
        for line in tested
    ]
    tones = [[*[""] * (len(columns) - 1), _TONES[line.verdict]] for line in tested]
    return Table("Beside the reference, paired by problem and seed", columns, rows, tones) if rows else None


def noisy_table(runs: Sequence[Run]) -> Table | None:
    """The table of noisy problems: the best point evaluated, and the one recommended; None without such problems."""
    noisy = [run for run in runs if measure_of(run.case.problem).noisy]
    rows: list[list[Plain]] = []
    for member in members_of(noisy):
        own = [run for run in noisy if run.member == member]
        said = [value for run in own if (value := recommended(run)) is not None]
        mean = _2(float(np.mean(said))) if said else None
        rows.append([member, len(own), _2(float(np.mean([final(run) for run in own]))), mean])
    columns = ["member", "runs", "best evaluated", "recommended"]
    return Table("Noisy problems: mean log10 of the true regret", columns, rows) if rows else None


def problems_table(runs: Sequence[Run]) -> Table:
    """Median log10 regrets, a row a problem, a column a member."""
    members = members_of(runs)
    finals: dict[tuple[str, str], list[float]] = {}
    for run in runs:
        finals.setdefault((run.case.problem, run.member), []).append(final(run))
    cases = {run.case.problem: run.case for run in runs}
    rows: list[list[Plain]] = []
    tones: list[list[str]] = []
    for problem, case in cases.items():
        middle = [float(np.median(finals[problem, m])) if (problem, m) in finals else None for m in members]
        first = middle[0]
        rows.append(
            [
                measure_of(problem).kind,
                problem,
                case.n_init,
                case.budget,
                *(None if v is None else _2(v) for v in middle),
            ]
        )
        apart = [None if v is None or first is None or i == 0 else v - first for i, v in enumerate(middle)]
        tones.append(["", "", "", "", *map(_tone, apart)])
    columns = ["class", "problem", "initial", "budget", *members]
    return Table("Median log10 regret by problem", columns, rows, tones)


def lines_table(lines: Sequence[ClassLine]) -> Table:
    """All numbers of every member on every class, for programs."""
    names = [name for name in ClassLine.__slots__ if name != "group"]
    rows = [[line.group.q, line.group.mode, *(getattr(line, name) for name in names)] for line in lines]
    return Table("Every member on every class", ["q", "mode", *names], rows)


def runs_table(runs: Iterable[Run]) -> Table:
    """All numbers of every run, for programs; evaluations to a target are empty if it was not reached."""
    columns = ["class", "problem", "q", "mode", "budget", "n_init", "member", "seed", "best", "log10_regret"]
    columns += ["log10_recommended", *(f"evaluations_to_{t:g}" for t in TARGETS)]
    columns += ["pairs", "near_duplicates", "near_by_verdict", "cpu_seconds"]
    rows: list[list[Plain]] = []
    for run in runs:
        case = run.case
        row: list[Plain] = [measure_of(case.problem).kind, case.problem, case.q, case.mode, case.budget, case.n_init]
        row += [run.member, run.seed, run.final, final(run), recommended(run)]
        row += [int(n) if np.isfinite(n := evaluations_to(run, t)) else None for t in TARGETS]
        row += [int(run.pairs.sum()), float(np.nansum(run.near))]
        row += [float(np.nansum(run.near_by_verdict)) if _judged(run) else None, float(run.cpu.sum())]
        rows.append(row)
    return Table("Every run", columns, rows)


def _judged(run: Run) -> bool:
    """Whether there are verdicts on its pairs: of one point there are none."""
    return max(run.batches, default=1) > 1 and not np.isnan(run.near_by_verdict).any()


def _pairs(runs: Sequence[Run], name: str) -> str | None:
    """The share of all pairs that are near by the cube, or by the verdict; None if there are none."""
    judged = [run for run in runs if name == "near" or _judged(run)]
    total = sum(int(run.pairs.sum()) for run in judged)
    return f"{100.0 * sum(float(np.nansum(getattr(run, name))) for run in judged) / total:.2g} %" if total else None


def _tone(difference: float | None) -> str:
    """The color of a member by its difference from the reference."""
    strength = next((s for size, s in _STEPS if difference is not None and abs(difference) >= size), 0)
    return f"{'good' if (difference or 0.0) < 0.0 else 'bad'} {strength}" if strength else ""


def _verdict(line: ClassLine) -> str | None:
    """The verdict in words; empty for the reference itself."""
    return None if line.difference is None else line.verdict or "no difference shown"


def _2(value: float) -> float:
    return round(value, 2)


def _interval(line: ClassLine) -> str:
    return f"{line.low:.2f} to {line.high:.2f}"


def _signed(line: ClassLine) -> str | None:
    return None if line.difference is None else f"{line.difference:+.2f}"


def _score(line: ClassLine) -> str | None:
    return None if line.won is None else f"{line.won} / {line.tied} / {line.lost}"
