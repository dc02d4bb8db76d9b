"""The paper's tables of the Structural Diversity Diagnostic: 1, 2, 7, 8, 9 and 11.

The paper measures one initial data set, and five in Table 9. Ours are means over the data sets that all cells of a
table have, so that rows can be compared. Their standard deviation is the spread by which a single data set of the paper
is compared. Distances are those of part A, the fixed starts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from believer.diagnostics import RESPONDS_DIVERSE, RESPONDS_FROM, Measurement, SDDReport, own_response
from believer.experiments import wilson_interval
from believer_paper.cells.diagnoses import AS_PRINTED
from believer_paper.compatibility import COMPATIBLE_FROM, LIES, LIMITED_FROM, compatible
from believer_paper.numbers.printed import (
    BOXES,
    DISTINCT,
    SEEDS,
    TABLE_1,
    TABLE_2,
    TABLE_7,
    TABLE_8,
    TABLE_9,
    TABLE_11,
    Distances,
    Printed,
)
from believer_paper.results import PRESETS, Results
from believer_paper.tables.layout import LayoutRow, PaperTable, Quantity, Words, laid_out

MeasuredCells = Mapping[str, Sequence[Measurement]]
"""The measurements of one configuration by preset, in the order of seeds."""

NAMES = {"gp": "GP", "mq_rbf": "MQ-RBF", "neural": "NN Ensemble", "forest": "Random Forest"}
UPDATES = dict(AS_PRINTED)

READINGS = {
    "Gaussian Process": (("gp", "condition", "conditioned"),),
    "MQ-RBF (data centers)": (
        ("mq_rbf", "condition", "conditioned"),
        ("mq_rbf_power", "condition", "σ the power function, conditioned"),
    ),
    "RBF (fixed centers)": (("fixed_rbf", "none", "no update"), ("fixed_rbf", "condition", "weights conditioned")),
    "Neural Network": (("neural", "none", "no update"), ("neural", "refit", "retrained")),
    "Last-layer Bayesian NN": (("last_layer", "condition", "last layer conditioned"),),
    "Random Forest": (("forest", "none", "no update"), ("forest", "refit", "rebuilt")),
    "SVM Regression": (("svr", "none", "no update"), ("svr", "refit", "refitted")),
    "Sparse GP (fixed inducing)": (("sparse_gp", "condition", "conditioned"),),
}
"""The rows of Table 1, each with its readings: surrogate, update, and words for it."""

_RETRAINED = {
    "GP (condition)": ("gp", "condition"),
    "MQ-RBF (re-solve)": ("mq_rbf", "condition"),
    "NN (no retrain)": ("neural", "none"),
    "NN (retrained)": ("neural", "refit"),
    "RF (no rebuild)": ("forest", "none"),
    "RF (rebuilt)": ("forest", "refit"),
}
_DIVERSE = (
    f"Diverse: min dist > {DISTINCT}, the paper's own rule, on most data sets. Beside it, how many data sets got the "
    "most frequent of our four verdicts, which also ask whether the lie was the reason."
)


def measured(results: Results, surrogate: str, update: str, **settings: Any) -> MeasuredCells:
    """The measurements of a configuration: those of Exp 3 with q = 3, unless ``settings`` say otherwise."""
    wanted = {"problem": "hartmann6", "n": 30, "q": 3, "lie": "cl_min", "acquisition": "ei", **settings}
    return {preset: results.measurements(preset, surrogate, update=update, **wanted) for preset in PRESETS}


def common(groups: Sequence[MeasuredCells]) -> list[MeasuredCells]:
    """The groups, reduced for each preset to the data sets that all of them have."""
    seeds = {preset: set.intersection(*({m.seed for m in group[preset]} for group in groups)) for preset in PRESETS}
    return [{preset: [m for m in group[preset] if m.seed in seeds[preset]] for preset in PRESETS} for group in groups]


def _one(groups: Sequence[MeasuredCells]) -> str:
    """A note on the number of data sets behind the means, which is the same for all ``groups``."""
    counts = ", ".join(f"{preset} {len(ms)}" for preset, ms in groups[0].items() if ms)
    return (
        f"The paper has one data set; ours are means over those that all cells of the table have ({counts}), with the "
        "standard deviation over data sets as the spread."
    )


def table_1(results: Results) -> PaperTable | None:
    """Table 1: compatibility with pseudo-observations. A reading counts if it has cells for both lies."""
    rows = [
        LayoutRow((row, reading), _compatibility(results, surrogate, update, READINGS[row][0][0]))
        for row, readings in READINGS.items()
        for surrogate, update, reading in readings
    ]
    notes = (
        "Where a row can be read in two ways, both are measured. Compatible: the share of data sets, told CL-min or "
        f'KB under EI, that "{RESPONDS_DIVERSE}"; yes from {COMPATIBLE_FROM:.0%}, limited above {LIMITED_FROM:.0%}. '
        "Both lies are told about the same data sets; that with the smaller share decides.",
        "Efficient conditioning: the update is in closed form, and the model responds to it on as large a share (the "
        f"lie itself moves the acquisition by more than {RESPONDS_FROM:g} of its range); partial where it is limited. "
        "Without an update in closed form the answer is no by definition, and is not compared with the paper's.",
    )
    title = "Surrogate model compatibility with pseudo-observation batch selection"
    return laid_out(1, title, ("surrogate", "read as"), rows, notes, ("claims",), partial=True)


def _compatibility(results: Results, surrogate: str, update: str, printed: str) -> tuple[Words, Words]:
    """The two columns of the paper for ``printed``, and ours for one reading of it."""
    told = common([measured(results, surrogate, update, lie=lie) for lie in LIES])
    closed = update == "condition"
    efficient, works = {}, {}
    for preset in PRESETS:
        groups = [lie[preset] for lie in told]
        n = len(groups[0])
        if not n:
            continue
        responding = [sum(own_response(m) > RESPONDS_FROM for m in ms) for ms in groups]
        passed = [SDDReport({}, tuple(ms)).verdicts[RESPONDS_DIVERSE] for ms in groups]
        answer = compatible(responding, n).replace("limited", "partial") if closed else "no"
        efficient[preset] = (answer, ("" if closed else "by definition; ") + f"responds {_by_lie(responding, n)}")
        low, high = wilson_interval(min(passed), n)
        detail = f"{_by_lie(passed, n)} (95 % of the weaker: {low:.0%} to {high:.0%})"
        works[preset] = (compatible(passed, n), detail)
    says = TABLE_1[printed]
    return (
        Words("efficient conditioning", says[0], efficient, judged=closed),
        Words("CL/KB compatible", says[1], works),
    )


def _by_lie(counts: Sequence[int], n: int) -> str:
    return ", ".join(f"{lie} {count}/{n}" for lie, count in zip(LIES.values(), counts, strict=True))


def table_2(results: Results) -> PaperTable | None:
    """Table 2: the diagnostic on Hartmann-6D."""
    groups = common([measured(results, surrogate, UPDATES[surrogate], q=q) for surrogate, q in TABLE_2])
    rows = [
        LayoutRow((NAMES[surrogate], q), (*_distances(paper, found), _diverse(paper.diverse, found)))
        for ((surrogate, q), paper), found in zip(TABLE_2.items(), groups, strict=True)
    ]
    title = "Structural Diversity Diagnostic on Hartmann-6D"
    return laid_out(2, title, ("surrogate", "q"), rows, (_one(groups), _DIVERSE), ("exp3",))


def table_7(results: Results) -> PaperTable | None:
    """Table 7: the diagnostic with retrained surrogates."""
    rows, groups = [], common([measured(results, *key) for key in _RETRAINED.values()])
    for (label, key), found in zip(_RETRAINED.items(), groups, strict=True):
        paper = TABLE_7[key]
        seconds = {preset: [m.fixed.seconds for m in ms] for preset, ms in found.items()}
        assert paper.seconds is not None
        time = Quantity("time (s)", Printed(paper.seconds), seconds, decimals=None)
        distances = _distances(paper, found, again=key in AS_PRINTED)
        rows.append(LayoutRow((label,), (*distances, _diverse(paper.diverse, found), time)))
    title = "SDD with retrained parametric models (Hartmann-6D, q=3)"
    time_note = (
        "Time: wall clock of the whole batch from the fixed starts with its updates, the first fit left out. It is the "
        "only clock that a diagnosis keeps, and whatever else ran lengthens it: the times of Exp 5 are the better ones."
    )
    return laid_out(7, title, ("surrogate",), rows, (_one(groups), _DIVERSE, time_note), ("exp7a",))


def table_8(results: Results) -> PaperTable | None:
    """Table 8: the diagnostic with EI and with UCB."""
    groups = common([measured(results, name, UPDATES[name], acquisition=acquisition) for name, acquisition in TABLE_8])
    items: dict[str, list[Quantity]] = {}
    for ((surrogate, acquisition), paper), found in zip(TABLE_8.items(), groups, strict=True):
        distances = _distances(paper, found, f"{acquisition.upper()} ", again=acquisition == "ei")
        items.setdefault(surrogate, []).extend(distances)
    rows = [LayoutRow((NAMES[surrogate],), tuple(its)) for surrogate, its in items.items()]
    notes = (_one(groups), "Under the preset ours, EI is LogEI.")
    return laid_out(8, "SDD with EI vs. UCB (Hartmann-6D, q=3)", ("surrogate",), rows, notes, ("exp7b",))


def table_9(results: Results) -> PaperTable | None:
    """Table 9: the diagnostic over initial data sets: the first five as in the paper, and all."""
    rows, groups = [], common([measured(results, surrogate, UPDATES[surrogate]) for surrogate in TABLE_9])
    for (surrogate, paper), every in zip(TABLE_9.items(), groups, strict=True):
        first = {preset: [m for m in ms if m.seed < SEEDS["exp8"]] for preset, ms in every.items()}
        counts = {p: (_share(first[p]), f"all: {_share(ms)}") for p, ms in every.items() if first[p]}
        same = {p: (_consistent(first[p]), f"all: {_consistent(ms)}") for p, ms in every.items() if first[p]}
        items = (
            Words("seeds diverse", f"{paper.diverse}/{paper.datasets}", counts),
            Quantity("min dist", paper.minimum, _minima(first), counted=_DISTANCE),
            Quantity("min dist, all", paper.minimum, _minima(every)),
            Words("consistent?", "yes", same),
        )
        rows.append(LayoutRow((NAMES[surrogate],), items))
    notes = (
        f"The first columns are of the seeds 0 to {SEEDS['exp8'] - 1}, as many as in the paper; all: of every data set "
        "that all surrogates have.",
        f"Diverse: min dist > {DISTINCT}. Consistent: the same answer on each of these data sets.",
    )
    title = f"SDD robustness across {SEEDS['exp8']} initial datasets (Hartmann-6D, q=3)"
    return laid_out(9, title, ("surrogate",), rows, notes, ("exp8",))


def table_11(results: Results) -> PaperTable | None:
    """Table 11: batches of ten on Levy-10D, in the units of its box as in the paper, and in the cube."""
    low, high, _ = BOXES["levy10"]
    q = max((one.cell.settings["q"] for one in results.of("sdd", problem="levy10")), default=0)
    members = [measured(results, surrogate, UPDATES[surrogate], problem="levy10", q=q) for surrogate in TABLE_11]
    rows, groups = [], common(members)
    for (surrogate, paper), found in zip(TABLE_11.items(), groups, strict=True):
        box = _distances(paper, found, scale=high - low)
        cube = _distances(None, found, "cube ")
        diverse = _diverse(paper.diverse, found, high - low)
        rows.append(LayoutRow((NAMES[surrogate],), (*box, diverse, *cube)))
    notes = (
        _one(groups),
        f"Distances are of the box, whose side is {high - low:g}, because the paper's are larger than any in a unit "
        "cube of ten dimensions; those in the cube stand beside them.",
        _DIVERSE,
    )
    title = f"SDD at q={q} on Levy-10D (n=30, fixed starts)"
    return laid_out(11, title, ("surrogate",), rows, notes, ("exp12",))


_DISTANCE = "distances of the diagnostic"


def _distances(
    paper: Distances | None, found: MeasuredCells, prefix: str = "", scale: float = 1.0, again: bool = False
) -> tuple[Quantity, Quantity]:
    """The least and the mean distance; ``scale`` is the side of the box in whose units the paper measures.

    again: whether the paper already prints the same two numbers in Table 2.
    """
    counted = "" if again else _DISTANCE
    mean = {preset: [scale * m.fixed.mean_distance for m in ms] for preset, ms in found.items()}
    least, average = (None, None) if paper is None else (Printed(paper.minimum), Printed(paper.mean))
    return (
        Quantity(f"{prefix}min dist", least, _minima(found, scale), first=True, counted=counted),
        Quantity(f"{prefix}mean dist", average, mean, first=True, counted=counted),
    )


def _minima(found: MeasuredCells, scale: float = 1.0) -> dict[str, list[float]]:
    return {preset: [scale * m.fixed.min_distance for m in ms] for preset, ms in found.items()}


def _diverse(paper: bool | None, found: MeasuredCells, scale: float = 1.0) -> Words:
    """The paper's column by the paper's rule, followed by our verdict."""
    ours = {}
    for preset, ms in found.items():
        if not ms:
            continue
        far = [scale * m.fixed.min_distance > DISTINCT for m in ms]
        report = SDDReport({}, tuple(ms))
        verdict = f"{report.verdict} ({report.verdicts[report.verdict]}/{len(ms)})"
        first = f"first data set: {_yes(far[0])}; " if len(ms) > 1 else ""
        ours[preset] = (_yes(2 * sum(far) > len(far)), f"{first}{sum(far)}/{len(far)}; {verdict}")
    return Words("diverse?", None if paper is None else _yes(paper), ours)


def _share(ms: Sequence[Measurement]) -> str:
    return f"{sum(m.fixed.min_distance > DISTINCT for m in ms)}/{len(ms)}"


def _consistent(ms: Sequence[Measurement]) -> str:
    return _yes(len({m.fixed.min_distance > DISTINCT for m in ms}) == 1)


def _yes(flag: bool) -> str:
    return "yes" if flag else "no"
