"""Write docs/how-to-choose.md and its figures: ``python docs/make_how_to_choose.py results.jsonl ... [--out docs]``.

The results are files of ``believer bench``. Every number of the page is computed from them, and a sentence about them
is there only if they bear it out; what the run did not measure, the page says it did not.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from believer.batch import STRATEGIES
from believer.experiments import read_store
from believer.report import Plain, Table, png
from believer_bench.advice import Advice, Placing, advise, is_ours
from believer_bench.curves import draw_overview
from believer_bench.problems import PROBLEMS
from believer_bench.ranking import pairs_needed
from believer_bench.report import BenchReport, bench_report
from believer_bench.runs import Run, called, cases_of, members_of
from believer_bench.summary import duration, lines_of, median

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LARGE = 100
"""Initial points from which a run is one of large n."""

FIGURES = Path("figures") / "choose"

MAX_ROWS = 30
"""A longer table is folded."""

MAX_CURVES = 12
"""With more problems and sizes of batches than this there are no curves of each."""

STRATEGY = {
    "hedged": (
        "as `kb`, points after the first under the shortest lengthscales that the results allow, none near another",
        "lengthscales and conditioning; else it is `kb`",
    ),
    "kb": ("believes the model's mean at each point chosen, then chooses the next", "any surrogate"),
    "kb_lower": ("believes the mean less one std", "any surrogate"),
    "kb_upper": ("believes the mean plus one std", "any surrogate"),
    "cl_min": ("tells the model the best value so far at each point chosen", "any surrogate"),
    "cl_mean": ("tells it the mean of the values so far", "any surrogate"),
    "cl_max": ("tells it the worst value so far", "any surrogate"),
    "fantasy": ("draws the value to believe from the posterior", "any surrogate"),
    "fantasies": ("averages the acquisition over 16 such draws", "any surrogate"),
    "lp": (
        "makes the acquisition smaller around points chosen; the model is not touched",
        "lengthscales, or `radius=`",
    ),
    "lp_lipschitz": ("the same with the radius of a Lipschitz constant", "gradients, or `lipschitz=`"),
    "qei": ("maximizes the expected improvement of all q points jointly", "a joint posterior with gradients"),
    "thompson": ("minimizes a function drawn from the posterior for each point", "draws of functions or values"),
    "dpp": ("a good first point, then points that differ from it the most", "a joint posterior, conditioning"),
    "gp_bucb": ("a confidence bound whose width counts the points chosen", "conditioning in closed form"),
    "ucb_pe": ("one confidence bound, then the least certain relevant points", "conditioning in closed form"),
    "trust_region": (
        "as `hedged`, in a box around the best result that grows and shrinks, by a model of the nearest 500",
        "any surrogate; conditioning, to be quick",
    ),
    "top_q": ("the q best points of one acquisition, a baseline", "any surrogate"),
    "random": ("uniform points, a baseline", "nothing"),
}
"""What each strategy does, and what it needs of the surrogate."""

ADVICE = """Leave the default, unless one of these is your case:

| your case | use |
| --- | --- |
| one objective, batches of any size | the default |
| limits, or several objectives | the default; with limits and one objective also `qei` |
| a thousand evaluations and more, many parameters | `trust_region` |
| a surrogate of your own, of which only `predict` is known | `kb` or `cl_min` |
| points that are spread out, whatever the model says | `lp`, or `random` as a baseline |

How a batch is chosen is explained in [what a lie is](concepts/lies.md). Few differences between strategies are
shown below. What is shown is that random points, and the q best points of one acquisition (`top_q`), are worse
than the best strategy. Our strategies ran under the [separate prior of
lengthscales](decisions/034-lengthscales-with-a-mean-in-common.md), the default of before; only the default of today
[has raced again](../benchmarks/results/suite/again.md)."""

PENDING = """Call `ask(1)` whenever a worker is free: no strategy hands out a point that is under way. All but
`thompson`, `top_q` and `random` also take account of it when they choose, as if it were a point of the same batch; two
do so in a way of their own. `dpp` believes the points under way and begins every ask with a point of the acquisition,
so that one point at a time from it is what `kb` chooses. `ucb_pe` only explores while points are under way. Results
come back in any order."""

MANY = """`trust_region` is for these: more than about ten parameters, a thousand evaluations or many more. What a batch
costs does not grow with the number of results, as its model learns the nearest 500 alone. On Levy-20D, Ackley-50D and a
path of 60 numbers it is measured beside the default, TuRBO and random points
([figures](../benchmarks/results/trust_region.md)). It is a local search: where the budget is some hundreds or the
parameters are few, leave the default."""

NOISE = (
    "No problem of this run is noisy: it says nothing about noisy results, which the default model makes out by itself "
    "([measured](../benchmarks/results/noise.md))."
)


@dataclass(frozen=True, slots=True)
class Topic:
    """A part of the runs that is told by itself; ``silent`` is what the page says where there are none."""

    name: str
    title: str
    keep: Callable[[Run], bool]
    silent: str


TOPICS = (
    Topic("plain", "By the size of the batch", lambda r: r.case.n_init < LARGE, "Not measured."),
    Topic(
        "large",
        f"With {LARGE} results or more to begin with",
        lambda r: r.case.n_init >= LARGE,
        "This run has no such case.",
    ),
)

BUCKETS = ((1, "1"), (5, "2 to 5"), (20, "6 to 20"))
"""Largest batch of each size class, and its name; beyond, there is one more."""


def page(report: BenchReport, sources: Sequence[str]) -> tuple[str, dict[str, Figure]]:
    """The page in Markdown, and its figures by name."""
    figures: dict[str, Figure] = {}
    clock = report.advice[0].clock if report.advice else ""
    plain = [run for run in report.runs if TOPICS[0].keep(run)]
    advice = advise(plain, report.reference or "", clock)
    parts = ["# Which strategy should I use?", ADVICE, _short(advice, clock), _opening(report), _how_to_read(advice)]
    for topic in TOPICS:
        parts += _topic(topic, report, clock, figures)
    parts += ["## Every strategy", _strategy_table(), *(_ranks(a, plain, clock) for a in advice)]
    parts += ["## Workers that finish at different times", PENDING, "## Budgets beyond a thousand", MANY]
    parts += _surrogates(report, plain, clock)
    peers = _compared(report, "Other libraries, from the same initial points", lambda member: not is_ours(member))
    parts += [part for part in peers if part not in parts]  # how to read the table is said once
    parts += ["## Curves", *_curves(report, figures), *_notices(report), *_made(report, sources)]
    return "\n\n".join(part for part in parts if part) + "\n", figures


def _problems(report: BenchReport) -> list[str]:
    return list(dict.fromkeys(case.problem for case in cases_of(report.runs)))


def _opening(report: BenchReport) -> str:
    problems = _problems(report)
    noisy = any(name in PROBLEMS and PROBLEMS[name]().truth is not None for name in problems)
    count = "one problem" if len(problems) == 1 else f"{len(problems)} problems"
    return (
        f"This was measured on {count} in {len(report.runs)} runs. Run `believer bench` on a problem like yours "
        f"before you trust a page about those of others.{'' if noisy else f' {NOISE}'}"
    )


def _folded(summary: str, text: str) -> str:
    """What most readers skip, behind a line to click on."""
    return f'<details markdown="1"><summary>{summary}</summary>\n\n{text}\n\n</details>'


def _made(report: BenchReport, sources: Sequence[str]) -> list[str]:
    command = f"python docs/make_how_to_choose.py {' '.join(sources)}"
    return [
        "## How this page was made",
        f"By `{command}`; do not edit it. {report.made()}",
        f"The problems are {', '.join(_problems(report))}.",
    ]


def _short(found: Sequence[Advice], clock: str) -> str:
    """The answer in a table: one row a batch size."""
    rows: list[tuple[Plain, ...]] = []
    reference = found[0].reference if found else ""
    for advice in found:
        best = advice.best
        if best is None or len(advice.placings) < 2:
            continue
        quick = advice.fastest
        faster = f"{quick.member} ({_ms(quick, clock)})" if quick is not None and quick.member != best.member else "-"
        use = (
            f"{best.member} ({_ms(best, clock)})" if advice.enough else f"too few seeds to say; {best.member} is ahead"
        )
        size = next((name for largest, name in BUCKETS if advice.q <= largest), f"more than {BUCKETS[-1][0]}")
        rows.append(
            (
                size if advice.q == 1 else f"{size} (measured: {advice.q})",
                use,
                faster if advice.enough else "-",
                next((advice.verdict_on(s) for s in advice.placings if s.member == reference), "not ranked"),
                f"{len(advice.placings)} members, {advice.evidence}",
            )
        )
    columns = (
        "points in a batch",
        "best mean rank",
        "fastest not shown worse",
        f"the default, {reference}",
        "evidence",
    )
    return Table("In short", columns, rows).markdown().rstrip("\n") if rows else ""


def _ms(placing: Placing, clock: str) -> str:
    return "not timed" if placing.ms is None else f"{duration(placing.ms)}{clock}"


def _topic(topic: Topic, report: BenchReport, clock: str, figures: dict[str, Figure]) -> list[str]:
    runs = [run for run in report.runs if topic.keep(run)]
    parts = [f"## {topic.title}"]
    if not runs:
        return [*parts, topic.silent]
    lines = lines_of(runs)
    for advice in advise(runs, report.reference or "", clock):
        size, _, told = advice.sentence.partition(":")
        parts.append(f"**{size}:**{told}")
        parts += advice.left_out
        if len(advice.placings) > 1:
            name = f"{topic.name}_q{advice.q}"
            figures[name] = draw_overview(advice, lines)
            parts.append(f"![All members at q={advice.q}: rank, time and spread]({FIGURES.as_posix()}/{name}.png)")
    return parts


def _surrogates(report: BenchReport, runs: Sequence[Run], clock: str) -> list[str]:
    """For each other surrogate with several strategies: these among themselves; then all beside the default."""
    title = "Other surrogates than the Gaussian process"
    names = dict.fromkeys(surrogate for member in members_of(runs) if (surrogate := member.partition("@")[2]))
    if not names:
        return [f"## {title}", "This run has the default surrogate only."]
    parts = _compared(report, title, lambda member: "@" in member)
    for name in names:
        own = [run for run in runs if run.member.partition("@")[2] == name]
        found = advise(own, report.reference or "", clock)
        parts += [f"On `{name}`, {advice.sentence}" for advice in found if len(advice.placings) > 1]
    return parts


def _compared(report: BenchReport, title: str, keep: Callable[[str], bool]) -> list[str]:
    """The reference against some other members, problem by problem, over the seeds that both have."""
    ms = {(line.case, line.member): line.cpu_ms for line in report.lines}
    found = [c for c in report.comparisons if c.case is not None and keep(c.theirs)]
    rows: list[list[Plain]] = []
    for c in sorted(found, key=lambda c: (c.case.q if c.case else 0, c.theirs)):
        assert c.case is not None
        times = [ms[c.case, member] for member in (c.theirs, c.ours)]
        ratio = round(times[0] / times[1], 1) if times[0] and times[1] else None
        score = f"{c.won} / {c.tied} / {c.pairs - c.won - c.tied}"
        rows.append([c.theirs, called(c.case, cases_of(report.runs)), c.case.q, c.pairs, score, ratio, c.verdict])
    if not rows:
        return []
    us = report.reference
    columns = ["member", "problem", "q", "seeds", f"{us} won / tied / lost", f"time ({us}: 1)", "verdict"]
    about = (
        f"Each beside {us} on the default surrogate, over the seeds that both have run, one problem at a time. The "
        f"verdict is corrected over all {len(report.comparisons)} comparisons of {us} with another member on a "
        f"problem, which takes {pairs_needed(len(report.comparisons))} seeds to show anything. Times are the "
        f"processor's, for a batch."
    )
    table = Table("", columns, rows).markdown().rstrip("\n")
    return [f"## {title}", about, _folded(f"{len(rows)} comparisons", table) if len(rows) > MAX_ROWS else table]


def _strategy_table() -> str:
    rows = [[name, *STRATEGY.get(name, ("-", "-"))] for name in STRATEGIES]
    # The texts are ours, and may hold code: what Table would escape is meant.
    return Table("", ["strategy", "what it does", "needs"], rows).markdown().replace("\\`", "`").rstrip("\n")


def _ranks(advice: Advice, runs: Sequence[Run], clock: str) -> str:
    """All ranked members of one batch size; a batch of one point has no spread."""
    if len(advice.placings) < 2:
        return ""
    rows: list[list[Plain]] = []
    for s in advice.placings:
        apart = median(run.spread for run in runs if run.member == s.member and run.case.q == advice.q)
        spread: list[Plain] = [] if advice.q == 1 else ["-" if apart is None else f"{apart:.0%}"]
        time = None if s.ms is None else duration(s.ms).removesuffix(" ms")
        rows.append([s.member, f"{s.rank:.1f}", time, *spread, advice.verdict_on(s)])
    columns = ["member", "mean rank", f"ms{clock} a batch", "spread (of random)", "beside the best"]
    if advice.q == 1:
        columns.remove("spread (of random)")
    table = Table(f"q={advice.q}: {advice.evidence}", columns, rows).markdown().rstrip("\n")
    absent = [name for name in STRATEGIES if name not in members_of(run for run in runs if run.case.q == advice.q)]
    return f"#{table}" + (f"\n\nNot run at q={advice.q}: {', '.join(absent)}." if absent else "")


def _how_to_read(found: Sequence[Advice]) -> str:
    several = [advice for advice in found if len(advice.placings) > 1]
    if not several:
        return ""
    pooled = ", ".join(f"{a.comparisons} at q={a.q}" for a in several)
    single = ", ".join(f"{a.single} at q={a.q}" for a in several if a.single)
    apart = f" Single problems are tested apart, corrected over comparisons of their own ({single})." if single else ""
    return (
        "Ranks are means over problems and seeds, 1 is best. Times are medians for a batch. The verdict is on the "
        "difference from the best rank: a two-sided Wilcoxon signed-rank test over paired runs, Holm-corrected over "
        f'all pairs of members ({pooled}).{apart} "No difference shown" is not "equal": more seeds may show one.'
    )


def _curves(report: BenchReport, figures: dict[str, Figure]) -> list[str]:
    if len(cases_of(report.runs)) > MAX_CURVES:
        return [
            "One problem says little here: [the suite's reports](../benchmarks/results/suite) have profiles by class."
        ]
    parts = []
    labels = {case.slug: case.label for case in cases_of(report.runs)}
    for name, draw in report.drawings().items():
        kind, _, slug = name.partition("_")
        if kind in ("curves", "sizes"):
            figures[name] = draw()
            shown = f"Curves: {labels[slug]}" if kind == "curves" else f"Sizes of a batch beside {labels[slug]}"
            parts.append(f"![{shown}]({FIGURES.as_posix()}/{name}.png)")
    return parts


def _notices(report: BenchReport) -> list[str]:
    listed = "\n".join(f"- {notice}" for notice in report.notices)
    return ["## What is missing or failed", listed] if report.notices else []


def _from_root(path: Path) -> str:
    """As it is named at the root of the repository, where the page can be written again."""
    root = Path(__file__).parent.parent
    return path.resolve().relative_to(root).as_posix() if path.resolve().is_relative_to(root) else path.name


def write(results: Sequence[Path], out: Path) -> Path:
    """Write the page and its figures into ``out``; figures of an earlier run that it no longer shows are removed."""
    finished = [(entry.cell, entry.result) for path in results for entry in read_store(path)]
    report = bench_report(finished)
    text, figures = page(report, [_from_root(path) for path in results])
    folder = out / FIGURES
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.png"):
        old.unlink()
    for name, figure in figures.items():
        (folder / f"{name}.png").write_bytes(png(figure))
    target = out / "how-to-choose.md"
    target.write_text(text, encoding="utf-8")
    return target


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent)
    arguments = parser.parse_args()
    print(write(arguments.results, arguments.out))
