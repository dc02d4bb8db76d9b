"""The state of a study as its page shows it: plain data, from which the page is made in the browser."""

from __future__ import annotations

import os
import time
from typing import Any

from believer._version import __version__
from believer.arrays import whole
from believer.optimizer import Optimizer
from believer.page.beliefs import beliefs, without_refit
from believer.page.cells import Json, isolated, point, readable
from believer.page.rows import PageRows, labels_of, outcome, pairs, rows_of, table, units_of
from believer.plot.data import Source, StudyLike, study_of
from believer.plot.data.feasibility import SUCCEEDS
from believer.result import Result
from believer.space.parameters import to_config
from believer.space.units import units_by_name
from believer.study import serialization
from believer.study.events import Begun, Changed, Upgraded
from believer.study.goals import RUNS
from believer.study.labels import described
from believer.study.settings import upgraded_config

_PARTS = ("strategy", "acquisition", "surrogate", "maximizer")


def source_of(study: StudyLike) -> Source:
    """A snapshot of a study: later changes of an optimizer do not affect it."""
    if isinstance(study, Result):
        study = study.optimizer
    if isinstance(study, Optimizer):
        still = study.snapshot()
        return Source(still, still.goals, (), study.settings)
    return study_of(study)


def state(study: StudyLike, *, name: str | None = None, next_q: int | None = None) -> Json:
    """Everything that the page of a study shows, as plain data; the study has the ``name`` of its journal if none is
    given.

    The next batch has ``next_q`` points: 0 for none, None for as many as the last batch had.
    """
    if next_q is not None:
        whole(next_q, "next", 0)
    source = source_of(study) if next_q else without_refit(source_of(study))
    rows = rows_of(source)
    return {**facts(source, rows, name), **beliefs(source, rows, next_q)}


def facts(source: Source, rows: PageRows, name: str | None = None) -> Json:
    """The parts of a page that need no model, without figures."""
    where = getattr(source.study, "_where", None)
    called = readable(name or (os.path.basename(where) if where else "study"))
    front = len(source.goals.objectives) > 1
    best = [] if source.best is None else [source.best]
    return {
        "title": called.removesuffix(".jsonl"),
        "file": "".join(c if c.isalnum() or c in "-_" else "_" for c in called.removesuffix(".jsonl"))[:60],
        "sequence": len(source.study.events),
        "results": source.study.counts.answered,
        "found": {"text": found(source)},
        "pending": _pending(source),
        "trials": rows.to_json(),
        "best": [] if front else best,
        "settings": _settings(source),
        "provenance": _provenance(source),
        "recommendation": {},
        "next": {},
        "figures": [],
        "note": "",
        "made": f"Made by believer {__version__} at {time.strftime('%Y-%m-%d %H:%M:%S %z')}.",
    }


def found(source: Source) -> list[str]:
    """The findings of a study so far, in sentences."""
    counts, goals, study = source.study.counts, source.goals, source.study
    several, first = len(goals.objectives) > 1, source.outputs[0]
    states = {"failed": counts.failed, "pending": counts.pending, "abandoned": counts.abandoned}
    rest = "".join(f", {count} {name}" for name, count in states.items() if count)
    counted = f"{len(study.trials)} trials: {counts.done} with a result{rest}."
    if not counts.done:
        return ["No trial has a result yet.", counted]
    if several:
        aims = ", ".join(
            f"{isolated(name)} ({'highest' if source.sign(name) < 0.0 else 'lowest'} "
            f"{outcome(source, name, _extreme(source, name))})"
            for name in goals.objectives
        )
        return [f"Several objectives are optimized: {aims}.", counted, *_limits(source)]
    if study.best is None:
        return ["No result is within all limits yet.", counted, *_limits(source)]
    params, value = study.best
    word = "highest" if source.sign(first) < 0.0 else "lowest"
    within = " within all limits" if goals.limited else ""
    label, where = isolated(source.named(first)), point(params, units_of(source))
    return [
        f"The {word} {label}{within} so far is {outcome(source, first, value)}, of trial {source.best}: {where}.",
        counted,
        *_improved(source, value),
        *_limits(source),
    ]


def _extreme(source: Source, name: str) -> float:
    values = source.trials.values[name]
    known = values[(values == values) & source.trials.is_done]
    return float(source.sign(name) * (source.sign(name) * known).min())


def _improved(source: Source, value: float) -> list[str]:
    """The improvement over the best result of the design."""
    trials, first, sign = source.trials, source.outputs[0], source.sign(source.outputs[0])
    kept = trials.keeps_limits & (trials.values[first] == trials.values[first])
    designed = [v for v, ok, o in zip(trials.values[first], kept, trials.origin, strict=True) if ok and o == "design"]
    chosen = [v for v, ok, o in zip(trials.values[first], kept, trials.origin, strict=True) if ok and o == "model"]
    if not designed or not chosen:
        return []
    start = sign * min(sign * v for v in designed)
    reached = sign * min(sign * v for v in chosen)
    said = [outcome(source, first, one) for one in (start, reached)]
    if sign * reached >= sign * start:
        return [f"The best is from the initial design; points of the model reached {said[1]}."]
    size = trials.origin.count("design")
    return [f"The initial design of {size} trials reached {said[0]}; points of the model reached {said[1]}."]


def _limits(source: Source) -> list[str]:
    if not source.goals.limited:
        return []
    done = source.trials.is_done
    kept = int((source.trials.keeps_limits & done).sum())
    return [f"{kept} of {int(done.sum())} results are within all limits."]


def _pending(source: Source) -> Json:
    pending, queued, names = source.study.pending, source.study.queued, source.space.names
    if not pending and not queued:
        return {"text": ["No trial is pending and no point is enqueued."]}
    text = [f"{len(pending)} trial{' waits' if len(pending) == 1 else 's wait'} for a result."] if pending else []
    tables = []
    if pending:
        waiting = [(t.id, *(t.params.get(name) for name in names), t.provenance) for t in pending]
        tables.append(table("Pending trials", ("trial", *labels_of(source).values(), "why"), waiting))
    if queued:
        text.append(f"{len(queued)} enqueued point{'' if len(queued) == 1 else 's'} will be handed out first.")
        wanted = [[one.get(name) for name in names] for one in queued]
        tables.append(table("Enqueued points", [*labels_of(source).values()], wanted))
    return {"text": text, "tables": tables}


def _config(source: Source) -> dict[str, Any]:
    return upgraded_config(next(e.config for e in reversed(source.study.events) if isinstance(e, Begun | Changed)))


def _settings(source: Source) -> Json:
    config = _config(source)
    wanted = {source.label(name): serialization.brief(goal) for name, goal in source.goals.to_config().items()}
    space = [_parameter(name, to_config(parameter)) for name, parameter in source.space.parameters.items()]
    constraint = config.get("constraint")
    chosen = {
        **{part: serialization.named(config[part]) for part in _PARTS if config.get(part) is not None},
        **{
            name: config[name]
            for name in ("n_init", "seed", "warp", "failures", "resolution")
            if config[name] is not None
        },
        **(
            {"reference": described(config["reference"], units_by_name(source.goals.wanted))}
            if config["reference"]
            else {}
        ),
        **(
            {"constraint": serialization.brief(constraint) if isinstance(constraint, str) else "yes"}
            if constraint
            else {}
        ),
    }
    return {
        "tables": [
            table("Space", ("parameter", "kind", "values"), space),
            pairs("Goals", wanted),
            pairs("Method", chosen),
        ]
    }


def _parameter(name: str, config: dict[str, Any]) -> tuple[str, str, str]:
    """The name, kind and values of a parameter of any kind."""
    choices = config.get("choices")
    if choices is not None:
        return name, config["kind"], ", ".join(map(str, choices))
    rest = {key: value for key, value in config.items() if key != "kind" and value not in (None, False)}
    if {"low", "high"} <= rest.keys():
        flags = [
            key if value is True else f"{key} {value}" for key, value in rest.items() if key not in ("low", "high")
        ]
        return name, config["kind"], ", ".join([f"{rest['low']} to {rest['high']}", *flags])
    return name, config["kind"], described(rest)


def _provenance(source: Source) -> Json:
    study = source.study
    begun = [event for event in study.events if isinstance(event, Begun | Upgraded)]
    changes = sum(isinstance(event, Changed) for event in study.events)
    first, last = begun[0], begun[-1]
    how: dict[str, Any] = {
        "events": len(study.events),
        "journal format": last.format,
        "engine": last.engine,
        "begun with": _versions(first.versions),
        **({"goes on with": _versions(last.versions)} if len(begun) > 1 else {}),
        **({"changes of settings": changes} if changes else {}),
    }
    tables = [pairs("How it was run", how)]
    if study.hyperparameters:
        fitted = {SUCCEEDS if name == RUNS else name: value for name, value in study.hyperparameters.items()}
        tables.append(pairs("Hyperparameters of the last fit", _flat(fitted)))
    origins = dict.fromkeys(trial.origin for trial in study.trials)
    counted = {name: sum(trial.origin == name for trial in study.trials) for name in origins}
    if counted:
        tables.append(pairs("Where the trials come from", {_ORIGINS.get(k, k): v for k, v in counted.items()}))
    return {"tables": tables}


_ORIGINS = {
    "design": "the initial design",
    "model": "the model",
    "enqueued": "enqueued by the user",
    "observed": "observed elsewhere",
}


def _versions(versions: Json) -> str:
    return ", ".join(f"{name} {value}" for name, value in versions.items() if isinstance(value, str))


def _flat(values: Json, before: str = "") -> dict[str, Any]:
    """Nested plain data as one dict; numbers with four digits."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{before}{name}: ")
        elif value is None:
            continue
        elif isinstance(value, list):
            flat[f"{before}{name}"] = ", ".join(f"{v:.4g}" if isinstance(v, float) else str(v) for v in value)
        else:
            flat[f"{before}{name}"] = f"{value:.4g}" if isinstance(value, float) else value
    return flat
