"""The chapters of the report: summary, agreement, ledger, experiments, inconsistencies of the paper, provenance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from believer.experiments import FinishedCell
from believer.report import Section, Table
from believer_paper.figures import PaperFigure
from believer_paper.inconsistencies.inconsistency import Inconsistency
from believer_paper.ledger import CLAIMS, OVERALL, Entry
from believer_paper.ledger.changes import AMENDED, GENERAL, LAST, WHEN, changes_table
from believer_paper.ledger.claim import BY_ALGEBRA, UNTESTED
from believer_paper.plan import EXPERIMENTS
from believer_paper.results import PRESETS, Results
from believer_paper.summary import NEW, SET_UP, counted, headlines, verdicts_of
from believer_paper.tables.agreement import RULE as AGREEMENT
from believer_paper.tables.agreement import agreement_table, agreements, in_a_sentence
from believer_paper.tables.costs import clocks
from believer_paper.tables.layout import PaperTable

_JUDGED = (
    "Every verdict is computed from the cells of this run by the rule given under Test. The paper's own set-up "
    "(printed) and this library's engine (ours) are judged separately. A claim that depends on neither is judged once."
)
_CHANGED = (
    f"These rules were changed on {WHEN}, after a review of the first full run, and committed before anyone looked at "
    f"the cells of this run. A second review, which saw only the cells of the first run, led to amendments of the "
    f"rules of claims {', '.join(map(str, AMENDED))} and of the word for shares, before the evidence of this run was "
    "read. Old verdicts are those of the first run; if there are two, the first is that of the printed set-up."
)
_AGAINST_ITSELF = {
    "contradiction": (
        "The paper against itself",
        "inconsistencies",
        "These are pairs of numbers in the paper, or a number and a sentence, that cannot both be right. Each is "
        "computed from what the paper prints, allows for rounding, and needs no run.",
    ),
    "beyond the data": (
        "The paper beyond its data",
        "beyond",
        "These are sentences of the paper that say more than its numbers show: both may be right, but the sentence "
        "does not follow from the numbers. Each is computed from what the paper prints, and needs no run.",
    ),
}
"""The heading, the anchor and the opening words of each kind of inconsistency, in the order of the report."""

_PRESETS = (
    'There are two presets: "printed" is the paper\'s own set-up as far as the paper describes it, and "ours" is this '
    "library's Gaussian process, acquisition function and search under the same strategies. (The library's default "
    "strategy is not among them, because the paper does not have it.) Nothing was tuned to match the paper's numbers."
)
_CELLS = (
    "Everything in this report is made from cells. On one processor, with the same versions, a cell's result follows "
    "from its settings and its seed, except for times. On another processor, whose BLAS rounds differently, a loop is "
    "another draw from the same distribution. Cells are the lines of cells.jsonl (compressed: cells.jsonl.gz), with "
    'settings, seed, result and provenance; believer.experiments.read_store("cells.jsonl") reads them.'
)
_SECONDS = (
    "Seconds are sums over all cells. CPU time does not depend on what else ran; wall-clock time does, because several "
    'workers shared the machine. "CPU within" scikit-learn and BoTorch is the CPU time that the printed loops spent in '
    'calls of these libraries; "CPU of the rest" is all other CPU time.'
)
_PROVENANCE = ("believer", "commit", "backend", "python", "numpy", "scipy", "platform", "threads")
_SMOKE = "A smoke run: tiny experiments on a seed or two. Its numbers and verdicts mean nothing."
_ALL = "Over all presets"

TONES = {"holds": "good", "holds in part": "mixed", "fails": "bad", BY_ALGEBRA: "open", UNTESTED: "open"}
"""The color of each verdict on a page, where the verdict is also written out."""


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """The content of a report. pictures: the figures as PNG, by file name without its ending."""

    results: Results
    command: str
    wanted: tuple[str, ...]
    entries: tuple[Entry, ...]
    tables: tuple[PaperTable, ...]
    figures: tuple[PaperFigure, ...]
    pictures: Mapping[str, bytes]
    inconsistencies: tuple[Inconsistency, ...]
    machine: Mapping[str, Any]

    @property
    def whole(self) -> bool:
        """Whether the report is on all experiments."""
        return EXPERIMENTS.keys() <= set(self.wanted)

    def anchors(self) -> dict[str, str]:
        """The anchor of each table and figure in the report, by the name that the ledger has for it."""
        tables = {table.label.lower(): f"#{table.name}" for table in self.tables}
        return tables | {f"figure {figure.number}": f"#figure{figure.number:02d}" for figure in self.figures}

    def files(self) -> dict[str, str]:
        """The file of each table and figure, by the name that the ledger has for it; for a figure, its first preset."""
        found = {table.label.lower(): f"tables/{table.name}.md" for table in self.tables}
        for figure in self.figures:
            found[f"figure {figure.number}"] = f"{next(iter(self.drawn(figure)))}.png"
        return found

    def drawn(self, figure: PaperFigure) -> dict[str, str]:
        """The names of a figure's pictures, with their captions."""
        names = {f"figures/{figure.name(preset)}": preset for preset in self.results.presets}
        return {
            name: f"Figure {figure.number}, {preset}: {figure.title}"
            for name, preset in names.items()
            if name in self.pictures
        }


def chapters(report: Report) -> list[Section]:
    """The sections of the report in order. If only some experiments were asked for, they come before the claims."""
    anchors = report.anchors()
    claims = [*_agreement(report), *ledger_chapter(report.entries, {**anchors, "cells": "#cells"}, report.whole)]
    ran = [section for name in report.wanted for section in _experiment(report, name)]
    return [
        _summary(report),
        *([*claims, *ran] if report.whole else [*ran, *claims]),
        *_further(report),
        *(inconsistency_chapter(report.inconsistencies, anchors) if report.whole else []),
        *_origin(report),
    ]


def found(report: Report) -> list[str]:
    """The numbers of claims that hold and fail: a sentence for each preset, and one over all presets."""
    presets = {preset: preset for preset in report.results.presets}
    return [f"{who}: {counted(report.entries, preset)}." for who, preset in {**presets, _ALL: None}.items()]


def first_lines(report: Report) -> list[str]:
    """The first lines of the report, for readers who do not know the paper."""
    smoke = [_SMOKE] if "--smoke" in report.command.split() else []
    lines = headlines(report.entries, report.results.presets, report.tables)
    return [*smoke, *lines] if report.whole else [*smoke, _ran(report), *(line for line in lines if line != NEW)]


def _ran(report: Report) -> str:
    """A sentence on the experiments that were run, and on the number of claims that they can judge."""
    titles = "; ".join(EXPERIMENTS[name].title for name in report.wanted)
    presets = f", {' and '.join(report.results.presets)}" if report.results.presets else ""
    cells = len(report.results.finished)
    of_all = f"of the paper's {len(CLAIMS)} claims"
    some = f"{len(report.entries)} {of_all} can be judged by them, and the others are left out"
    none = f"none {of_all} can be judged by them alone"
    return f"What was run: {titles} ({cells} cells{presets}); {some if report.entries else none}."


def spent(report: Report) -> str:
    """A sentence about the total cost."""
    cells, cpu, wall, sklearn, botorch, rest = _costs(report.results.finished)
    apart = f"{sklearn:.0f} s within scikit-learn, {botorch:.0f} s within BoTorch and {rest:.0f} s for the rest"
    return f"Cost: {cells} cells, {cpu:.0f} s of CPU time ({wall:.0f} s of wall-clock time): {apart}."


def ledger_chapter(entries: Sequence[Entry], places: Mapping[str, str], whole: bool = True) -> list[Section]:
    """A table of all claims, then a section for each. ``places`` are the link targets of the evidence.

    The history of the rules is part of it if the run is ``whole``. The list is empty if there are no claims.
    """
    if not entries:
        return []
    short = Table(
        "",
        ["no.", "verdict", "claim"],
        [(e.claim.number, _in_short(e), e.claim.sentence) for e in entries],
        [("", TONES[e.verdict], "") for e in entries],
    )
    parts = [
        Section(
            f"Claim {entry.claim.number}: {entry.claim.sentence}",
            [f"{who}: {finding.verdict}. {finding.evidence}" for who, finding in entry.findings.items()],
            [f"Test: {entry.claim.test}"],
            anchor=_claim(entry),
            level=3,
            links=_see("Behind it", entry.links, places),
            tones=[TONES[finding.verdict] for finding in entry.findings.values()],
        )
        for entry in entries
    ]
    changed = Section(
        "Rules that changed",
        text=[_CHANGED, LAST, GENERAL],
        tables=[changes_table(entries)],
        anchor="changes",
        level=3,
    )
    ledger = Section("The ledger of claims", text=[_JUDGED, OVERALL], tables=[short], anchor="ledger")
    return [ledger, *([changed] if whole else []), *parts]


def _in_short(entry: Entry) -> str:
    """The verdict of a claim, or the verdict under each preset if these differ."""
    verdicts = {who: finding.verdict for who, finding in entry.findings.items()}
    if len(set(verdicts.values())) <= 1:
        return entry.verdict
    return "\n".join(f"{who}: {verdict}" for who, verdict in verdicts.items())


def inconsistency_chapter(found: Sequence[Inconsistency], places: Mapping[str, str]) -> list[Section]:
    """A chapter for each kind of inconsistency that was found, with a section for each inconsistency."""
    sections = []
    for kind, (title, anchor, opening) in _AGAINST_ITSELF.items():
        parts = [_inconsistency(n, one, places) for n, one in enumerate(found, start=1) if one.kind == kind]
        if parts:
            sections += [Section(title, text=[opening], anchor=anchor), *parts]
    return sections


def _inconsistency(number: int, one: Inconsistency, places: Mapping[str, str]) -> Section:
    return Section(
        f"{_of_tables(one.tables)}: {one.name.replace('_', ' ')}",
        [],
        [one.what, f"Where in the paper: {', '.join(one.places)}."],
        [Table("", ["what", "value"], list(one.numbers.items()))],
        anchor=f"inconsistency{number:02d}",
        level=3,
        links=_see("Done again", [f"table {table}" for table in one.tables], places),
    )


def cost(finished: Sequence[FinishedCell]) -> Table:
    """The cells and the seconds of each preset: CPU time, wall-clock time, and CPU time within other libraries."""
    groups = {
        **{preset: [one for one in finished if _preset(one) == preset] for preset in PRESETS},
        "of no preset": [one for one in finished if _preset(one) is None],
        "in all": finished,
    }
    rows = [(who, *_costs(cells)) for who, cells in groups.items() if cells]
    return Table("What it cost", ["preset", "cells", *_CLOCKS], rows)


_CLOCKS = ("CPU seconds", "wall seconds", "CPU within scikit-learn", "CPU within BoTorch", "CPU of the rest")


def _costs(cells: Sequence[FinishedCell]) -> tuple[int, float, float, float, float, float]:
    """The number of cells, their CPU and wall-clock seconds, and CPU seconds in scikit-learn, in BoTorch, elsewhere."""
    within = {True: 0.0, False: 0.0}
    cpu, wall = 0.0, 0.0
    for one in cells:
        options = one.cell.settings.get("options", {})
        of_processor, of_clock, foreign = map(float, clocks(one))
        cpu, wall = cpu + of_processor, wall + of_clock
        within[options.get("process") == "botorch"] += foreign
    return len(cells), cpu, wall, within[False], within[True], cpu - within[False] - within[True]


def _summary(report: Report) -> Section:
    first = next(iter(report.results.presets), None)
    links = {
        verdict.capitalize(): {f"claim {entry.claim.number}": f"#{_claim(entry)}" for entry in those}
        for verdict, those in verdicts_of(report.entries, first).items()
        if those
    }
    kinds = {one.kind for one in report.inconsistencies}
    new = {title.lower(): f"#{anchor}" for kind, (title, anchor, _) in _AGAINST_ITSELF.items() if kind in kinds}
    if not report.whole:
        new = {"where the paper disagrees with itself": "inconsistencies.md"}
    if "unstated" in report.wanted:
        new["what the unstated choices are worth"] = "#unstated"
    text = [*(found(report) if report.entries else []), _PRESETS, _SECONDS]
    tables = [cost(report.results.finished)]
    title = "Summary" if report.whole else "What was run"
    links["New" if report.whole else "Without any run"] = new
    return Section(title, first_lines(report), text, tables, anchor="summary", links=links)


def _agreement(report: Report) -> list[Section]:
    """The sections on how well the numbers of each preset agree with the paper's; none if there are no numbers."""
    sections = []
    for preset in report.results.presets:
        several = agreements(report.tables, preset)
        if told := in_a_sentence(several):
            title, table = f"{SET_UP[preset].capitalize()} ({preset})", agreement_table(several)
            sections.append(Section(title, [told], [], [table], anchor=f"agreement_{preset}", level=3))
    opening = Section("How far the numbers agree", text=[AGREEMENT], anchor="agreement")
    return [opening, *sections] if sections else []


def _experiment(report: Report, name: str) -> list[Section]:
    experiment = EXPERIMENTS[name]
    parts = [_table(table) for table in report.tables if _home(table.experiments, report.wanted) == name]
    parts += [_figure(report, it) for it in report.figures if _home(it.experiments, report.wanted) == name]
    return [Section(experiment.title, text=experiment.choices, anchor=name), *parts]


def _further(report: Report) -> list[Section]:
    """The section of tables and figures that belong to all experiments, such as the runtimes."""
    parts = [_table(table) for table in report.tables if not _home(table.experiments, report.wanted)]
    parts += [_figure(report, figure) for figure in report.figures if not _home(figure.experiments, report.wanted)]
    return [Section("Further tables and figures", anchor="further"), *parts] if parts else []


def _table(table: PaperTable) -> Section:
    files = {f"{table.name}{ending}": f"tables/{table.name}{ending}" for ending in (".md", ".csv")}
    shown = [replace(one, title="") for one in table.tables]
    title = f"{table.label}: {table.title}"
    return Section(title, [], table.notes, shown, anchor=table.name, level=3, links={"Files": files})


def _figure(report: Report, figure: PaperFigure) -> Section:
    title, anchor = f"Figure {figure.number}: {figure.title}", f"figure{figure.number:02d}"
    return Section(title, figures=report.drawn(figure), anchor=anchor, level=3)


def _home(experiments: Iterable[str], wanted: Sequence[str]) -> str:
    """The first of the ``wanted`` experiments that a table or figure belongs to; "" if it belongs to all of them."""
    return "" if EXPERIMENTS.keys() <= set(experiments) else next((name for name in wanted if name in experiments), "")


def _origin(report: Report) -> list[Section]:
    finished, machine = report.results.finished, report.machine
    kinds = Counter((one.cell.experiment, _preset(one)) for one in finished)
    cells = Table("Cells", ["kind", "preset", "cells"], [(*key, n) for key, n in sorted(kinds.items(), key=str)])
    seen = [(name, Counter(str(one.provenance.get(name)) for one in finished)) for name in _PROVENANCE]
    rows = [(name, value, n) for name, values in seen for value, n in values.most_common()]
    about = [[name, _plain(value)] for name, value in machine.items()]
    return [
        Section("Provenance", text=[_CELLS], tables=[cells], anchor="cells"),
        Section("Versions", tables=[Table("", ["of", "is", "cells"], rows)], anchor="versions", level=3),
        Section("The machine that wrote this", tables=[Table("", ["what", "is"], about)], anchor="machine", level=3),
    ]


def _claim(entry: Entry) -> str:
    return f"claim{entry.claim.number:02d}"


def _see(label: str, names: Iterable[str], places: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Links to the evidence, by name; a name without a place has no target. "cells: ..." is looked up as "cells"."""
    targets = {name: places.get(name.split(":")[0].lower(), "") for name in names}
    return {label: targets} if targets else {}


def _of_tables(numbers: Sequence[int]) -> str:
    if not numbers:
        return "Text"
    return f"Table{'s' * (len(numbers) > 1)} {', '.join(map(str, numbers))}"


def _preset(one: FinishedCell) -> str | None:
    preset: str | None = one.cell.settings.get("preset")
    return preset


def _plain(value: Any) -> str:
    """An entry of the machine's description, as text."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_plain(it)}" for name, it in value.items()) or "-"
    if isinstance(value, list):
        return "; ".join(map(_plain, value)) or "-"
    return "unknown" if value is None else str(value)
