"""The report of verdict.py: what was expected of batches beside what they gained, as tables and a figure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from regret_report import markdown_table

from believer.arrays import Array
from believer.batch import Gain
from believer.batch.gain import ENOUGH
from believer.experiments.statistics import rank_correlation
from believer.plot.figure import BLUE, GRAY, GREEN, ORANGE, entitle, new_figure
from believer_bench.problems.suite import KINDS

STRATEGIES = ("hedged", "kb", "cl_min", "thompson", "random")
SIZES = (3, 10, 50)
BINS = (0.0, 1e-3, 1e-2, 0.1, 0.3, 1.0, np.inf)


@dataclass(frozen=True, slots=True)
class Judged:
    """A batch, what was expected of it and what it gave, in the study's unit. ``worth`` is the former effective size.

    singles: what each point gained, in the order of the gain, (q,). measured: the same of the first j together.
    """

    problem: str
    kind: str
    n: int
    q: int
    strategy: str
    gain: Gain
    unit: float
    singles: tuple[float, ...]
    worth: float
    words: str

    @property
    def measured(self) -> Array:
        gained: Array = np.maximum.accumulate(np.array(self.singles))
        return gained

    @property
    def expected(self) -> float:
        return self.gain.together / self.unit

    @property
    def got(self) -> float:
        return self.measured[-1] / self.unit

    @property
    def within(self) -> bool:
        low, high = self.gain.interval
        slack = 1e-9 * self.unit
        return low - slack <= self.measured[-1] <= high + slack

    @property
    def place(self) -> tuple[str, int, int]:
        return self.problem, self.n, self.q


def calibration(rows: Sequence[Judged]) -> list[str]:
    """Batches, mean expected and measured, their ratio, rank correlation, coverage; the same for the added part."""
    expected, got = np.array([r.expected for r in rows]), np.array([r.got for r in rows])
    more = np.array([(r.gain.together - r.gain.single) / r.unit for r in rows])
    more_got = np.array([(r.measured[-1] - r.measured[0]) / r.unit for r in rows])
    correlation = rank_correlation(expected, got)
    return [
        str(len(rows)),
        f"{expected.mean():.2g}",
        f"{got.mean():.2g}",
        _ratio(got, expected),
        _ratio(more_got, more),
        "-" if correlation is None else f"{correlation:.2f}",
        f"{np.mean([r.within for r in rows]):.0%}",
        f"{np.mean(got > 0.0):.0%}",
    ]


def _ratio(got: Array, expected: Array) -> str:
    return f"{got.mean() / expected.mean():.2f}" if expected.mean() > 0.0 else "-"


COLUMNS = [
    "batches",
    "mean expected",
    "mean measured",
    "measured / expected",
    "the same of what the others add to the best",
    "rank correlation",
    "within the 80 % interval",
    "gained anything",
]


def table(what: str, rows: Sequence[Judged], key: Callable[[Judged], Any], order: Sequence[Any]) -> str:
    lines = [[str(name), *calibration(part)] for name in order if (part := [r for r in rows if key(r) == name])]
    return markdown_table([what, *COLUMNS], [*lines, ["all", *calibration(rows)]])


def bin_of(row: Judged) -> str:
    low = max(edge for edge in BINS[:-1] if row.expected >= edge)
    high = BINS[BINS.index(low) + 1]
    return f"{low:g} to {high:g}" if np.isfinite(high) else f"{low:g} and more"


def bin_names() -> list[str]:
    return [f"{a:g} to {b:g}" if np.isfinite(b) else f"{a:g} and more" for a, b in pairwise(BINS)]


def concordance(rows: Sequence[Judged], score: Callable[[Judged], float]) -> tuple[int, int]:
    """Of pairs of strategies in one place that did not gain the same: in how many the higher score gained more."""
    right = of = 0
    for _, place in groupby(sorted(rows, key=lambda r: r.place), key=lambda r: r.place):
        for a, b in combinations(list(place), 2):
            if abs(a.got - b.got) > 1e-9 and score(a) != score(b):
                of += 1
                right += (score(a) > score(b)) == (a.got > b.got)
    return right, of


def concordances(rows: Sequence[Judged]) -> str:
    lines = []
    for name, part in (("all", rows), ("without random", [r for r in rows if r.strategy != "random"])):
        counts = [concordance(part, score) for score in SCORES]
        lines.append([name, str(counts[0][1]), *(f"{right / of:.0%}" for right, of in counts)])
    return markdown_table(["pairs of strategies", "pairs that differ", "by expected gain", "by effective size"], lines)


def kept(rows: Sequence[Judged]) -> float:
    """The share of the mean measured gain that the slots have which the verdict calls enough."""
    whole = sum(r.got for r in rows)
    return sum(r.measured[r.gain.slots - 1] / r.unit for r in rows) / whole if whole else 1.0


def slots(rows: Sequence[Judged]) -> str:
    """What the points that the rule keeps gained, beside as many drawn from the batch without looking."""
    lines = []
    for q in SIZES:
        here = [r for r in rows if r.q == q and r.gain.matters]
        for name in (*STRATEGIES, "all but random"):
            part = [r for r in here if name == r.strategy or (name == "all but random" and r.strategy != "random")]
            whole = sum(r.got for r in part)
            drawn = sum(_drawn(r) / r.unit for r in part) / whole if whole else 1.0
            mean = np.mean([r.gain.slots for r in part])
            lines.append([str(q), name, str(len(part)), f"{mean:.1f}", f"{kept(part):.0%}", f"{drawn:.0%}"])
    heads = ["q", "strategy", "batches", "mean slots kept", "of the gain of all", "as many slots without looking"]
    return markdown_table(heads, lines)


def by_the_rule(rows: Sequence[Judged]) -> str:
    """The answers to what the docstring asks."""
    found = []
    for kind in KINDS:
        if not (part := [r for r in rows if r.kind == kind]):
            continue
        ratio = sum(r.got for r in part) / sum(r.expected for r in part)
        if 0.5 <= ratio <= 2.0 and np.mean([r.within for r in part]) >= 0.7:
            found.append(kind)
    chosen = [r for r in rows if r.strategy != "random"]
    (right, of), (former, of_former) = (concordance(rows, score) for score in SCORES)
    enough = {q: kept([r for r in chosen if r.q == q and r.gain.matters]) for q in SIZES}
    low = np.mean([r.measured[-1] < r.gain.interval[0] * (1.0 - 1e-9) for r in chosen])
    high = np.mean([r.measured[-1] > r.gain.interval[1] * (1.0 + 1e-9) for r in chosen])
    better = right / of > max(0.5, former / of_former)
    shares = ", ".join(f"{share:.0%} (q={q})" for q, share in enough.items())
    return (
        f"- Calibrated: on {len(found)} of {len(KINDS)} classes ({', '.join(found)}). Points that a "
        f"model chose gained {_share(chosen)} of what was expected of them, random ones {_share(_random(rows))} (95 % "
        f"intervals from resampled problems: a mean hangs on few of them); {low:.0%} of the chosen batches gained less "
        f"than their 80 % interval says, {high:.0%} more.\n"
        f"- Between batches: {'yes' if better else 'no'}. Of two that gained differently the one of which more was "
        f"expected gained more in {right / of:.0%} of {of} pairs; by effective size in {former / of_former:.0%}.\n"
        f"- Slots: those with {ENOUGH:.0%} of the expected gain had {shares} of the measured one: "
        f"{'enough' if min(enough.values()) >= 0.8 else 'not always enough'}.\n"
    )


def _share(rows: Sequence[Judged]) -> str:
    """Mean measured over mean expected gain, with an interval over problems."""
    problems = sorted({r.problem for r in rows})
    parts = [[r for r in rows if r.problem == problem] for problem in problems]
    sums = np.array([(sum(r.got for r in part), sum(r.expected for r in part)) for part in parts])
    drawn = sums[np.random.default_rng(0).integers(len(sums), size=(2000, len(sums)))].sum(axis=1)
    low, high = np.quantile(drawn[:, 0] / drawn[:, 1], (0.025, 0.975))
    return f"{sums[:, 0].sum() / sums[:, 1].sum():.2f} ({low:.2f} to {high:.2f})"


def _random(rows: Sequence[Judged]) -> list[Judged]:
    return [r for r in rows if r.strategy == "random"]


SCORES: tuple[Callable[[Judged], float], ...] = (lambda r: r.expected, lambda r: r.worth)
"""What may say which of two batches is the better one: the expected gain, the former effective size."""


def _drawn(row: Judged) -> float:
    """The mean gain of as many points of the batch as the rule keeps, drawn at random."""
    rng, singles = np.random.default_rng(0), np.array(row.singles)
    return float(np.mean([rng.choice(singles, row.gain.slots, replace=False).max() for _ in range(100)]))


def example(rows: Sequence[Judged]) -> str:
    """Batches of one place, with the words on them."""
    lines = [[r.strategy, f"{r.worth:.1f}", f"{r.gain.together:.3g}", f"{r.measured[-1]:.3g}", r.words] for r in rows]
    heads = ["strategy", 'formerly "worth"', "expected gain", "measured gain", "the words of this run"]
    return markdown_table(heads, lines)


def draw(rows: Sequence[Judged], path: Path) -> None:
    """Expected against measured, and how the gain of a batch grows with the slots."""
    figure = new_figure(11.0, 5.2)
    left, right = figure.subplots(1, 2)
    floor, top = 1e-3, 3.0
    ends = [floor, top]
    seen = [(r.expected, r.got) for r in rows if r.expected >= floor]
    left.plot(*np.clip(np.array(seen), floor, top).T, ".", color=GRAY, ms=3, alpha=0.4, label="one batch")
    left.plot(ends, ends, color="black", lw=1.0, label="gained what was expected")
    chosen = [r for r in rows if r.strategy != "random"]
    for name, color, part in (("points that a model chose", BLUE, chosen), ("random points", ORANGE, _random(rows))):
        ranges = [[(r.expected, r.got) for r in part if bin_of(r) == within] for within in bin_names()[1:]]
        means = [np.mean(pairs, axis=0) for pairs in ranges if len(pairs) >= 10]
        left.plot(*np.array(means).T, "o-", color=color, ms=8, label=f"mean: {name}")
    left.set(xscale="log", yscale="log", xlim=(0.8 * floor, top), ylim=(0.8 * floor, top))
    left.set_xlabel("gain that the verdict expected")
    left.set_ylabel(f"gain that was measured (lowest row: {floor:g} or less, mostly none)")
    left.set_title("Batches by gain; 1 is what the study had gained before", fontsize=10)
    for q, color in ((10, BLUE), (50, GREEN)):
        part = [r for r in chosen if r.q == q and r.gain.matters]
        x = 100.0 * np.arange(q + 1) / q
        for label, style, curves in (
            ("expected", "--", [np.array(r.gain.curve) / r.unit for r in part]),
            ("measured", "-", [r.measured / r.unit for r in part]),
        ):
            mean = np.mean(curves, axis=0)
            right.plot(x, np.append(0.0, 100.0 * mean / mean[-1]), style, color=color, label=f"{label}, batches of {q}")
    right.set_xlabel("slots paid for, in the verdict's order (% of the batch)")
    right.set_ylabel("% of the whole batch's gain")
    right.set_title("What the first slots have, mean over batches that a model chose", fontsize=10)
    right.set(xlim=(0.0, 100.0), ylim=(0.0, 103.0))
    for axes, place in ((left, "upper left"), (right, "lower right")):
        axes.grid(color="#EEEEEE")
        axes.set_axisbelow(True)
        axes.legend(loc=place, fontsize=8, framealpha=0.9)
    entitle(figure, "", f"what verdicts expected of {len(rows)} batches, and what these gained")
    figure.savefig(path)


def report(rows: Sequence[Judged]) -> str:
    """All of it, in Markdown."""
    places, problems = {(r.problem, r.n) for r in rows}, {r.problem for r in rows}
    others = [r for r in rows if not r.gain.matters]
    wrong = sum(r.measured[-1] > r.gain.resolution for r in others)
    return "\n".join(
        [
            "# What a batch was expected to gain, and what it gained\n",
            "Made by [verdict.py](../verdict.py); its docstring has the rule and the units. A place is a study halted "
            f"at n results: {len(places)} places on {len(problems)} problems. Batches of one place share a model, and "
            "its errors.\n",
            "![expected against measured](verdict.png)\n",
            "## By the rule\n",
            by_the_rule(rows),
            "## By expected gain\n",
            table("expected, of what the study has gained", rows, bin_of, bin_names()),
            f"Of {len(others)} batches, {len(_random(others))} of them random, the verdict said that less than the "
            f"resolution is to be expected; {wrong} gained more than it.\n",
            "## By class\n",
            table("class", rows, lambda r: r.kind, KINDS),
            "## By strategy, size and results\n",
            table("strategy", rows, lambda r: r.strategy, STRATEGIES),
            table("q", rows, lambda r: r.q, SIZES),
            table("n", rows, lambda r: r.n, sorted({r.n for r in rows})),
            "## Between batches\n",
            concordances(rows),
            "## Slots\n",
            slots(rows),
            "## Levy-10D, 200 results, batches of 50\n",
            example([r for r in rows if (r.problem, r.n, r.q) == ("levy10", 200, 50)]),
        ]
    )
