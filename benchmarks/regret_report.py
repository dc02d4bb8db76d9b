"""The report of the regret benchmark: a table per problem and the paired comparisons, as Markdown.

Our member is compared with every other one on every problem by the two-sided Wilcoxon signed-rank test over the seeds
that both have run, the p values corrected by Holm's method over all comparisons of the report.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from believer.experiments import bootstrap_interval
from believer_bench.ranking import PairedTest, against
from believer_bench.runs import Case, Run

HARTMANN_LEVELS = (-3.1, -3.21)
"""Hartmann-6D has two minima, -3.322 and -3.203: below the first level a run is near one of them, below the second it
is in the basin of the least for certain."""

Row = Mapping[str, Any]


def report(rows: Sequence[Row], ours: str, members: Collection[str] | None, seeds: Collection[int] | None) -> str:
    """The whole report as Markdown; ``members`` and ``seeds`` restrict it, None keeps all."""
    kept = [row for row in rows if members is None or row["member"] in {*members, ours}]
    kept = [row for row in kept if seeds is None or row["seed"] in seeds]
    if not kept:
        return "No finished cells to report."
    _require_same_designs(kept)
    problems = list(dict.fromkeys(row["problem"] for row in kept))
    parts = ["# Best value after 50 evaluations, batches of three\n", _versions_line(kept)]
    parts += [_problem_table(problem, [row for row in kept if row["problem"] == problem], ours) for problem in problems]
    parts.append(_comparison_table(against(_runs(kept), ours), ours))
    return "\n".join(parts)


def _runs(rows: Sequence[Row]) -> list[Run]:
    """The rows as the bench compares them: where each run ended."""
    none, cases = np.zeros(0), {name: Case(name, 3, 50, 0) for name in {row["problem"] for row in rows}}
    return [
        Run(row["member"], cases[row["problem"]], row["seed"], np.array([row["best"]]), 0, (), *[none] * 2, 0.0,
            *[none] * 5, row["design"], row["versions"])
        for row in rows
    ]  # fmt: skip


def _problem_table(problem: str, rows: Sequence[Row], ours: str) -> str:
    basin = problem == "hartmann6"
    header = ["member", "runs", "median", "95 % interval", "mean", "CPU s / run"]
    header += [f"below {level}" for level in HARTMANN_LEVELS] if basin else []
    lines = []
    for member in dict.fromkeys(row["member"] for row in rows):
        best = np.array([row["best"] for row in rows if row["member"] == member])
        seconds = [row["cpu_seconds"] for row in rows if row["member"] == member and "cpu_seconds" in row]
        low, high = bootstrap_interval(best)
        name = f"**{member}**" if member == ours else member
        fields = [name, str(len(best)), f"{np.median(best):.4f}", f"{low:.4f} to {high:.4f}", f"{best.mean():.4f}"]
        fields.append(f"{np.median(seconds):.2f}" if seconds else "")
        fields += [f"{(best < level).mean():.0%}" for level in HARTMANN_LEVELS] if basin else []
        lines.append((float(np.median(best)), fields))
    lines.sort(key=lambda line: line[0])
    return f"## {problem}\n\n" + markdown_table(header, [fields for _, fields in lines])


def _comparison_table(comparisons: Sequence[PairedTest], ours: str) -> str:
    title = f"## {ours} against each peer, paired by seed\n\n"
    if not comparisons:
        return title + f"No seeds in common with {ours} yet.\n"
    note = f"Two-sided Wilcoxon signed-rank test, Holm-corrected over {len(comparisons)} comparisons.\n\n"
    header = ["problem", "peer", "pairs", "won / tied / lost", "ours - theirs", "p", "p (Holm)", "verdict"]
    lines = [
        [
            c.case.problem,
            c.theirs,
            str(c.pairs),
            f"{c.won} / {c.tied} / {c.pairs - c.won - c.tied}",
            f"{c.shift:+.4f}",
            f"{c.p:.2g}",
            f"{c.holm:.2g}",
            _verdict(c, ours),
        ]
        for c in sorted(comparisons, key=lambda c: c.case.problem)
    ]
    return title + note + markdown_table(header, lines)


def _verdict(comparison: PairedTest, ours: str) -> str:
    ahead = ours if comparison.shift < 0.0 else comparison.theirs
    return f"**{ahead} better**" if comparison.shown else f"no difference shown ({ahead} ahead)"


def markdown_table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A Markdown table with a closing newline."""
    rows = [header, ["---"] * len(header), *lines]
    return "\n".join("| " + " | ".join(fields) + " |" for fields in rows) + "\n"


def _versions_line(rows: Sequence[Row]) -> str:
    seen: dict[str, set[str]] = {}
    for row in rows:
        for name, version in row["versions"].items():
            seen.setdefault(name, set()).add(version)
    return "Versions: " + ", ".join(f"{name} {' and '.join(sorted(v))}" for name, v in sorted(seen.items())) + ".\n"


def _require_same_designs(rows: Sequence[Row]) -> None:
    """A pair is only a pair when both started from the same points."""
    designs: dict[tuple[str, int], str] = {}
    for row in rows:
        key = (row["problem"], row["seed"])
        if designs.setdefault(key, row["design"]) != row["design"]:
            raise ValueError(f"all members must start from one design; {row['member']} differs on {key}.")
