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
from believer.bench.advice import Advice, Standing, advise, is_ours
from believer.bench.curves import draw_overview
from believer.bench.page import png
from believer.bench.ranking import pairs_needed
from believer.bench.report import BenchReport, bench_report
from believer.bench.runs import Run, cases_of, members_of
from believer.bench.summary import lines_of, median
from believer.experiments import Table, formatted, read_store
from believer.experiments.report import Value

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LARGE = 100
"""Initial points from which a run is one of large n."""

FIGURES = Path("figures") / "choose"

STRATEGY = {
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
    "top_q": ("the q best points of one acquisition, a baseline", "any surrogate"),
    "random": ("uniform points, a baseline", "nothing"),
}
"""What each strategy does, and what it needs of the surrogate."""

PENDING = """Call `ask(1)` whenever a worker is free: no strategy hands out a point that is under way. All but
`thompson`, `top_q` and `random` also choose as if it were a point of the same batch. Results come back in any order."""

NOISE = """Say `GP(noise="infer")`, and `ask(distinct=False)` if a repeat may be the right choice."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A part of the runs that is told by itself; ``silent`` is what the page says where there are none."""

    name: str
    title: str
    keep: Callable[[Run], bool]
    before: str
    silent: str


TOPICS = (
    Topic(
        "plain", "By the size of the batch", lambda r: not r.case.noise and r.case.n_init < LARGE, "", "Not measured."
    ),
    Topic("noisy", "With noise", lambda r: bool(r.case.noise), NOISE, "This run has no noisy problem."),
    Topic(
        "large",
        f"With {LARGE} results or more to begin with",
        lambda r: not r.case.noise and r.case.n_init >= LARGE,
        "",
        "This run has no such case.",
    ),
)

BUCKETS = ((1, "1"), (5, "2 to 5"), (20, "6 to 20"))
"""Largest batch of each size class, and its name; beyond, there is one more."""


def page(report: BenchReport, sources: Sequence[str]) -> tuple[str, dict[str, Figure]]:
    """The page in Markdown, and its figures by name."""
    figures: dict[str, Figure] = {}
    clock = report.advice[0].clock if report.advice else ""
    parts = ["# Which strategy should I use?", _opening(report, sources), _short(report, clock)]
    for topic in TOPICS:
        parts += _topic(topic, report, clock, figures)
    parts += ["## Workers that finish at different times", PENDING, *_surrogates(report, clock)]
    parts += ["## Every strategy", _strategy_table(report, clock), _how_to_read(report)]
    parts += _peers(report, clock)
    parts += ["## Curves", *_curves(report, figures), *_notices(report)]
    return "\n\n".join(part for part in parts if part) + "\n", figures


def _opening(report: BenchReport, sources: Sequence[str]) -> str:
    cases = cases_of(report.runs)
    tasks = ", ".join(dict.fromkeys(case.task for case in cases))
    command = f"python docs/make_how_to_choose.py {' '.join(sources)}"
    return (
        f"Written by `{command}` from {len(report.runs)} finished runs of `believer bench` on {tasks}; do not edit. "
        f"{report.made()} Run `believer bench` on a problem like yours before you trust a page about those of others."
    )


def _plain(report: BenchReport) -> list[Run]:
    return [run for run in report.runs if TOPICS[0].keep(run)]


def _short(report: BenchReport, clock: str) -> str:
    """The answer in a table: one row a batch size."""
    rows: list[tuple[Value, ...]] = []
    for advice in advise(_plain(report), report.reference or "", clock):
        best = advice.best
        if best is None or len(advice.standings) < 2:
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
                advice.evidence,
            )
        )
    columns = ("points in a batch", "use", "faster, and not shown worse", "evidence")
    return Table("In short", columns, rows).markdown().rstrip("\n") if rows else ""


def _ms(standing: Standing, clock: str) -> str:
    return "not timed" if standing.ms is None else f"{standing.ms:.3g} ms{clock} a batch"


def _topic(topic: Topic, report: BenchReport, clock: str, figures: dict[str, Figure]) -> list[str]:
    runs = [run for run in report.runs if topic.keep(run)]
    parts = [f"## {topic.title}", topic.before]
    if not runs:
        return [*parts, topic.silent]
    lines = lines_of(runs)
    for advice in advise(runs, report.reference or "", clock):
        size, _, told = advice.sentence.partition(":")
        parts.append(f"**{size}:**{told}")
        if len(advice.standings) > 1:
            name = f"{topic.name}_q{advice.q}"
            figures[name] = draw_overview(advice, lines)
            parts.append(f"![All members at q={advice.q}: rank, time and spread]({FIGURES.as_posix()}/{name}.png)")
    return parts


def _surrogates(report: BenchReport, clock: str) -> list[str]:
    """For each other surrogate: its strategies among themselves, and the best of them beside the default model."""
    parts = ["## Other surrogates than the Gaussian process"]
    names = dict.fromkeys(member.partition("@")[2] for member in members_of(_plain(report)))
    names.pop("", None)
    for name in names:
        own = [run for run in _plain(report) if run.member.partition("@")[2] == name]
        for advice in advise(own, report.reference or "", clock):
            parts.append(f"On `{name}`, {advice.sentence}")
            parts.append(_beside_default(report, advice, clock))
    return parts if len(parts) > 1 else [*parts, "This run has the default surrogate only."]


def _beside_default(report: BenchReport, own: Advice, clock: str) -> str:
    """What the test says of the best member on another surrogate and the default strategy on the default one."""
    if own.best is None:
        return ""
    two = [run for run in _plain(report) if run.case.q == own.q and run.member in (own.best.member, report.reference)]
    found = advise(two, report.reference or "", clock)
    if not found or len(found[0].standings) < 2:
        return ""
    first, second = found[0].standings
    if not found[0].enough:
        return f"Beside {report.reference} on the default one: too few seeds to say."
    judged = "no difference shown" if second.better is None else f"{second.better} is shown better"
    return f"{first.member} beside {second.member}: {judged} (p={formatted(second.p)}, {found[0].evidence})."


def _strategy_table(report: BenchReport, clock: str) -> str:
    runs = _plain(report)
    advice = [a for a in advise(runs, report.reference or "", clock) if len(a.standings) > 1]
    columns = ["strategy", "what it does", "needs", *(f"q={a.q} (rank of {len(a.standings)})" for a in advice)]
    rows = [
        [name, *STRATEGY.get(name, ("-", "-")), *(_place(a, name, runs, clock) for a in advice)] for name in STRATEGIES
    ]
    # The texts are ours, and may hold code: what Table would escape is meant.
    return Table("", columns, rows).markdown().replace("\\`", "`").rstrip("\n")


def _place(advice: Advice, member: str, runs: Sequence[Run], clock: str) -> str:
    found = {s.member: s for s in advice.standings}
    if member not in found:
        return "not run"
    spread = [run.spread for run in runs if run.member == member and run.case.q == advice.q]
    middle = median(spread)
    apart = "" if middle is None else f", spread {middle:.0%} of random"
    return f"rank {found[member].rank:.1f}, {_ms(found[member], clock)}{apart}: {advice.verdict_on(found[member])}"


def _how_to_read(report: BenchReport) -> str:
    most = max((a.comparisons for a in report.advice), default=0)
    if most == 0:
        return ""
    return (
        "Ranks are means over problems and seeds, 1 is best. The verdict is on the difference from the best rank: a "
        f"two-sided Wilcoxon signed-rank test over paired runs, Holm-corrected over all pairs of members ({most} at "
        f'most, which takes {pairs_needed(most)} paired runs to show anything). "No difference shown" is not "equal".'
    )


def _peers(report: BenchReport, clock: str) -> list[str]:
    runs = _plain(report)
    theirs = [member for member in members_of(runs) if not is_ours(member)]
    advice = [a for a in advise(runs, report.reference or "", clock) if any(s.member in theirs for s in a.standings)]
    if not advice:
        return []
    rows = [
        [a.q, s.member, round(s.rank, 1), None if s.ms is None else round(s.ms, 1), a.verdict_on(s)]
        for a in advice
        for s in a.standings
        if s.member in theirs or s.member == a.standings[0].member
    ]
    columns = ["q", "member", "mean rank", f"ms{clock} a batch", "beside the best"]
    return [Table("Other libraries, from the same initial points", columns, rows).markdown().rstrip("\n")]


def _curves(report: BenchReport, figures: dict[str, Figure]) -> list[str]:
    parts = []
    for name, draw in report.drawings().items():
        if name.startswith(("curves_", "sizes_")):
            figures[name] = draw()
            parts.append(f"![{_caption(name)}]({FIGURES.as_posix()}/{name}.png)")
    return parts


def _caption(name: str) -> str:
    kind, _, case = name.partition("_")
    return f"{'Regret curves' if kind == 'curves' else 'Batch sizes'}: {case}"


def _notices(report: BenchReport) -> list[str]:
    return ["## What is missing or failed", *(f"- {notice}" for notice in report.notices)] if report.notices else []


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
