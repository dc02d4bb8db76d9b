"""The parts of a page that need models: the recommendation, the next batch, and figures of the posterior."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from believer.arrays import Array, to_width
from believer.errors import BelieverError, InvalidInput
from believer.page import figures, model_figures
from believer.page.cells import Json, isolated, number, percent, point
from believer.page.rows import PageRows, labels_of, outcome, pairs, table
from believer.plot.data import Source
from believer.plot.data.feasibility import probability
from believer.propose import propose
from believer.space.units import units_by_name
from believer.study.events import Asked
from believer.study.goals import RUNS
from believer.study.recommend import Insight
from believer.study.recommendation import Recommendation

LARGE = 500
"""From this number of results on, the page uses the hyperparameters of the last ask, and leaves out parts that take
seconds (the next batch and averages over the space) unless they are requested."""

_SAMPLES = 48
"""The number of points in the average of a partial dependence."""

_MAX_ROWS = 40
"""The number of points of the front that are listed."""


def usual_size(source: Source) -> int:
    """The batch size of the study: the size of its last batch."""
    asked = [len(event.trials) for event in source.study.events if isinstance(event, Asked) and event.trials]
    return asked[-1] if asked else 1


def beliefs(source: Source, rows: PageRows, q: int | None = None) -> Json:
    """The parts of a page that need a model, with figures, or a sentence that says why a part is missing.

    The next batch has ``q`` points: 0 for none, None for as many as the last batch had, unless the study is large.
    """
    unknown = _unknown(source, q)
    if unknown:
        return {
            "recommendation": _best(source, unknown),
            "next": _next(source, q) if source.has_settings else {"text": [unknown]},
            "figures": _drawn(_without_model(source, rows, None))[0],
            "note": unknown,
        }
    drawings = [*_without_model(source, rows, model_figures.by_relevance(source)), *_with_model(source, rows, q)]
    shown, missing = _drawn(drawings)
    order = [*_ORDER, *(one["id"] for one in shown)]
    return {
        "recommendation": _recommended(source),
        "next": _next(source, q),
        "figures": sorted(shown, key=lambda one: order.index(one["id"])),
        "note": " ".join(missing),
    }


_ORDER = [
    f"figure-{name}" for name in ("convergence", "front", "slice", "surface", "feasibility", "lies", "importance")
]


def quick_figures(source: Source, rows: PageRows) -> list[Json]:
    """The figures that need no model and are available at once: the convergence and the timeline."""
    several = len(source.goals.objectives) > 1
    first = [] if several else [lambda: figures.convergence(source, rows)]
    return _drawn([*first, lambda: figures.timeline(source, rows)])[0]


def without_refit(source: Source) -> Source:
    """A large study with all results, and the hyperparameters of its last ask, which are not fitted again; any other
    study is returned unchanged."""
    if not source.has_settings or not _is_large(source):
        return source
    tables = [t if t.fitted is None else replace(t, fitted=(t.ids, t.fitted[1])) for t in source.history.tables]
    return source.with_history(replace(source.history, tables=tuple(tables)))


def _is_large(source: Source) -> bool:
    return max(len(one.ids) for one in source.history.tables) > LARGE


def _unknown(source: Source, q: int | None) -> str:
    """The reason why there is no model; empty if there is one."""
    if not source.has_settings:
        return (
            "The surrogate of this study is not one that a journal can hold, so nothing that needs the model is shown. "
            "opt.report(...) and opt.watch() of the optimizer itself show everything."
        )
    tables = source.history.tables
    missing = [source.label(one.output.name) for one in tables if one.output.name != RUNS and not one.ids]
    if missing:
        return f"There is no result of {', '.join(missing)} yet, so there is no model."
    if not q and _is_large(source) and any(one.fitted is None for one in tables):
        return (
            f"The study has more than {LARGE} results and its journal holds no fitted model, so nothing that needs one "
            "is shown. believer report --next 8 fits one, which takes a while."
        )
    return ""


Drawing = Callable[[], Json]


def _without_model(source: Source, rows: PageRows, relevant: tuple[str, ...] | None) -> list[Drawing]:
    """``relevant`` are the parameters that matter most; None if no model says so."""
    several = len(source.goals.objectives) > 1 and relevant is None  # a hypervolume is measured from the models' front
    return [
        *([] if several else [lambda: figures.convergence(source, rows)]),
        lambda: figures.evaluations(source, rows, relevant),
        lambda: figures.parallel(source, rows),
        lambda: figures.distribution(source, rows),
        lambda: figures.diversity(source, rows),
        lambda: figures.timeline(source, rows),
    ]


def _with_model(source: Source, rows: PageRows, q: int | None) -> list[Drawing]:
    several, size = len(source.goals.objectives) > 1, usual_size(source) if q is None else q
    limited = bool(source.goals.limited) or source.learns_failures
    large = _is_large(source)
    return [
        *([lambda: model_figures.front(source, rows)] if several else []),
        lambda: model_figures.slices(source, rows),
        *(
            [lambda: model_figures.surface(source, rows)]
            if sum(not axis.is_constant for axis in source.axes) > 1
            else []
        ),
        *([lambda: model_figures.feasibility(source, rows)] if limited else []),
        *([lambda: model_figures.lies(source, rows, size)] if size and not large and not source.replaced else []),
        lambda: model_figures.importance(source, rows, quick=large),
        *([] if large else [lambda: model_figures.dependence(source, rows, _SAMPLES)]),
        lambda: model_figures.calibration(source, rows),
    ]


def _drawn(drawings: Sequence[Drawing]) -> tuple[list[Json], list[str]]:
    """The figures, and the reasons why some are missing; figures that only need more results are not mentioned."""
    shown, missing = [], []
    for drawing in drawings:
        try:
            found = drawing()
        except InvalidInput:  # there are too few results yet
            continue
        except BelieverError as error:
            missing.append(str(error))
        else:
            shown += [found] if found["panels"] else []
    return shown, [*dict.fromkeys(missing)]


def _best(source: Source, why: str) -> Json:
    """The best result, without a model."""
    if len(source.goals.objectives) > 1 or source.study.best is None:
        return {"text": [why]}
    params, value = source.study.best
    first = source.outputs[0]
    said = f"{isolated(source.named(first))} {outcome(source, first, value)}"
    return {
        "text": [f"The best result has {said}. {why}"],
        "tables": [pairs("The best result", _labeled(source, params))],
    }


def _recommended(source: Source) -> Json:
    if len(source.goals.objectives) > 1:
        return _front(source)
    insight = Insight(source.settings, source.history, source.cache)
    try:
        found = insight.recommend(source.study.trials)
    except InvalidInput:
        return {"text": ["No result is within all limits as surely as they ask, so nothing can be recommended yet."]}
    first, best = source.outputs[0], source.study.best
    width = 0.5 * (found.interval[1] - found.interval[0])
    mean, low, high = (outcome(source, first, one, width) for one in (found.mean, *found.interval))
    text = [
        f"Use the parameters of trial {found.trial.id}. The model expects {isolated(source.named(first))} {mean} "
        f"there; with a probability of 95 % it lies between {low} and {high}, without the noise of a single result."
    ]
    if found.outcomes:
        text.append(f"All limits are kept there with a probability of {percent(found.feasible)}.")
    if best is not None and best[0] != found.params:
        text.append(
            f"The best single result, {outcome(source, first, best[1])}, is of another trial: the model takes "
            "part of it for noise."
        )
    return {"text": text, "tables": _use(source, found)}


def _labeled(source: Source, params: dict[str, Any]) -> dict[str, Any]:
    labels = labels_of(source)
    return {labels.get(name, name): value for name, value in params.items()}


def _expected(mean: float, std: float) -> tuple[float, float]:
    """A posterior mean and standard deviation with the digits that the latter has use for."""
    return float(to_width(mean, std)), float(f"{std:.2g}")


def _use(source: Source, found: Recommendation) -> list[Json]:
    tables = [pairs("Parameters to use", _labeled(source, found.params))]
    told = source.study.outcome(found.trial.id)
    if found.outcomes and told is not None:
        rows = [
            (source.label(name), source.goals.value(told, name), *_expected(one.mean, one.std))
            for name, one in found.outcomes.items()
        ]
        tables.append(table("Outcomes there", ("outcome", "observed", "expected", "standard deviation"), rows))
    return tables


def _front(source: Source) -> Json:
    found = source.front
    if not len(found):
        return {"text": ["No result is within all limits yet, so the Pareto front is empty."]}
    names = [source.label(name) for name in source.goals.objectives]
    more = f" The first {_MAX_ROWS} are listed." if len(found) > _MAX_ROWS else ""
    reference = ""
    if found.reference is not None:
        corner = point(found.reference, units_by_name(source.goals.wanted))
        whence = "given" if found.is_given else "inferred from the results"
        reference = f" The hypervolume is {number(found.hypervolume)}, measured from {corner}, which was {whence}."
    text = [
        f"There are several objectives, so there is no single best trial. {len(found)} trial"
        f"{' is' if len(found) == 1 else 's are'} on the Pareto front: choose from these.{reference}{more}"
    ]
    columns = [part for name in names for part in (name, f"{name}: expected", f"{name}: std")]
    limits = ("all limits kept",) if source.goals.limited else ()
    rows = [
        (
            point.trial.id,
            *(
                part
                for name in source.goals.objectives
                for part in (point.values[name], *_expected(point.expected[name].mean, point.expected[name].std))
            ),
            *([percent(point.feasible)] if limits else []),
            *(point.params.get(name) for name in source.space.names),
        )
        for point in found[:_MAX_ROWS]
    ]
    return {
        "text": text,
        "tables": [table("The Pareto front", ("trial", *columns, *limits, *labels_of(source).values()), rows)],
    }


def _next(source: Source, q: int | None) -> Json:
    """The batch that an ask would return now; the study is not changed."""
    if source.replaced:
        parts = ", ".join(source.replaced)
        return {"text": [f"The next batch is not known here: a journal cannot hold this study's {parts}."]}
    if q == 0:
        return {"text": ["The next batch was not asked for."]}
    if q is None and _is_large(source):
        return {
            "text": [
                f"The study has more than {LARGE} results, so the next batch takes a while and was not worked out. "
                "believer report --next 8 does so."
            ]
        }
    size = usual_size(source) if q is None else q
    try:
        proposal = propose(source.settings, source.history, size, cache=source.cache)
        batch = proposal.batch
    except BelieverError as error:
        return {"text": [f"No further batch can be proposed: {error}"]}
    known = [one.output.name for one in source.history.tables if one.ids]
    names = [name for name in source.outputs if name in known]
    told = [source.predict(batch.encoded, name) for name in names]
    heads = [part for name in names for part in (f"{source.label(name)}: expected", "std")]
    kept = _kept(source, batch.encoded, known)
    rows = [
        (
            trial.id,
            *(trial.params.get(name) for name in source.space.names),
            *(part for mean, std, *_ in told for part in _expected(float(mean[i]), float(std[i]))),
            *([] if kept is None else [percent(kept[i])]),
            trial.provenance,
        )
        for i, trial in enumerate(batch)
    ]
    head = ("trial", *labels_of(source).values(), *heads, *([] if kept is None else ["limits kept"]), "why")
    return {
        "text": [
            f"If {size} trial{' were' if size == 1 else 's were'} asked for now, these would be handed out. "
            "The study was not changed.",
            batch.verdict.sentence,
        ],
        "tables": [table("The next batch", head, rows)],
    }


def _kept(source: Source, X: Array, known: Sequence[str]) -> Array | None:
    """The probability that all limits are kept at ``X`` (m, d); None if there are no limits, or no results for them."""
    limited = [*source.goals.limited, *([RUNS] if source.learns_failures else [])]
    if not limited or not set(limited) <= set(known):
        return None
    together: Array = np.prod([probability(source, name, X) for name in limited], axis=0)
    return together
