"""The choice of the next points: a pure function of a study's settings and its history.

It touches no file, takes no lock, and changes nothing but a cache, which never changes a result. :class:`Optimizer`
calls it, and so does a host that keeps its trials in a storage of its own. The file is long because a batch in the
making is one class; its methods are in the order of an ask.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from believer.acquisitions.acquisition import Several
from believer.arrays import Array, frozen, shown, whole
from believer.batch import LOADED_ON_USE, Learned, Request, Strategy
from believer.batch.gain import Gain, expected_gain
from believer.batch.random import REPLACED, design, draw
from believer.batch.request import (
    ONE,
    Chosen,
    NoModel,
    checked_answer,
    joined_pending,
    keeping_limits,
    needs_model,
    refuse_outputs,
    refuse_repeats,
    takes,
)
from believer.batch.verdict import Verdict, judge
from believer.best_draft import Limited, TooDear, best_draft, cheaper_draft
from believer.capabilities import has
from believer.errors import (
    BelieverError,
    InvalidInput,
    MissingCapability,
    MissingExtra,
    NoPointFound,
    SpaceExhausted,
)
from believer.maximize.objective import ENUMERATE_UP_TO, is_new, remaining
from believer.space import Float, Space
from believer.space.hints import adds_up
from believer.space.region import Region
from believer.study import serialization
from believer.study.batch_rules import BatchRules, Cost, Shared, Values
from believer.study.events import Asked
from believer.study.history import History, Table
from believer.study.labels import NO_LABELS, Labels
from believer.study.models import ADDED, ModelCache, check_cache, counted_pending, written_of
from believer.study.settings import AUTO, LEARN, StudySettings
from believer.study.trials import Batch, Trial, same_value
from believer.surrogates.protocols import Bounded, Conditionable

_AS_RULES = (
    "The constraint seems to add numbers up: what is a sum can be said as a rule, rules=[sum_to([...], total)] or "
    "rules=[linear({...}, at_most=...)], and is searched directly then."
)


@dataclass(frozen=True, slots=True, eq=False)
class Proposal:
    """A batch that has not been handed out yet.

    Attributes
    ----------
    trials : the trials, with the ids that they will have.
    arguments : the arguments of the ask, as plain data.
    model : the hyperparameters under which the points were chosen, as plain data; None if no model was used, as for a
        design or a strategy that needs none.
    judged : a function that computes the verdict.
    labels : the units, for printing.
    """

    trials: tuple[Trial, ...]
    arguments: dict[str, Any]
    model: dict[str, Any] | None
    judged: Callable[[], Verdict]
    labels: Labels = NO_LABELS

    @property
    def batch(self) -> Batch:
        """The trials with their verdict, which is computed only when this is read."""
        return Batch(self.trials, self.judged(), self.labels)

    def event(self) -> Asked:
        """The event that records that the proposal is handed out."""
        return Asked(self.trials, self.arguments, self.model)


def propose(
    settings: StudySettings,
    history: History,
    q: int = 1,
    *,
    strategy: str | Strategy | None = None,
    fixed: Mapping[str, Any] | None = None,
    shared: Shared | None = None,
    max_cost: float | None = None,
    cost: Cost | None = None,
    distinct: bool = True,
    repeat: bool = False,
    cache: ModelCache | None = None,
) -> Proposal:
    """Propose ``q`` trials, good together and with the pending ones: queued points first, then design points, then the
    strategy's.

    The same settings and history give the same proposal, bit for bit, per processor and BLAS. Raises
    :class:`SpaceExhausted` if ``distinct`` is True and a finite space has fewer than q new points left.

    Parameters
    ----------
    settings : the settings of the study, from :meth:`StudySettings.of`.
    history : the results, pending trials and queued points so far.
    q : the number of points.
    strategy : a strategy for this call, in place of the study's.
    fixed : parameters that keep a fixed value.
    shared : parameters that have the same value in the whole batch, or at most as many values as stated.
    max_cost, cost : the most that the batch may cost, and what a point costs.
    distinct : whether every point must differ from the others, from pending points and from evaluated ones.
    repeat : whether an evaluated point may be measured again if results are noisy and that is worth more than a new
        point.
    cache : models of earlier calls with the same settings; it saves time and does not change the result.
    """
    q = whole(q, "q", 1)
    for name, flag in (("distinct", distinct), ("repeat", repeat)):
        if not isinstance(flag, bool | np.bool_):
            raise InvalidInput(f"{name} must be True or False; got {shown(flag)}.")
    cache = ModelCache(settings) if cache is None else cache
    check_cache(cache, settings)
    fixed_params = settings.space.check_fixed(fixed or {}, what="fixed")
    chooser = settings.strategy if strategy is None else serialization.strategy_named(strategy)
    config, is_custom = cache.written if strategy is None else written_of(chooser)
    name_of, goals = partial(serialization.named, config), settings.goals
    refuse_outputs(chooser, name_of, len(goals.objectives), bool(goals.limited))
    if len(history.tables) > len(goals.outputs):  # the last table is of failures, which a model is to learn
        _refuse_learned_failures(chooser, name_of)
    if repeat:
        refuse_repeats(chooser, name_of, len(goals.objectives))
    rules = None
    if shared is not None or max_cost is not None or cost is not None:
        rules = BatchRules.of(settings.space, fixed_params, shared, max_cost, cost)
    binding = None if rules is None else rules.binding(q)
    queued = [p for p in history.queue if all(name in p and same_value(p[name], v) for name, v in fixed_params.items())]
    queued = binding.fitting(queued, q) if binding else queued[:q]

    def drafted(values: Values, points: int, share: float) -> _Draft:
        try:
            region = settings.space.region(fixed_params, values) if fixed_params or values else cache.region
        except InvalidInput as error:
            if not values:
                raise
            raise SpaceExhausted(str(error), 0) from None  # the rules cannot hold with these values
        note = f"; {', '.join(values)} shared by the batch" if values else ""
        draft = _Draft(settings, history, cache, region, fixed_params, bool(distinct), bool(repeat), values, note)
        draft.fill(points, queued, chooser, is_custom)
        if binding is None or binding.max_cost is None:
            return draft
        limit = share * binding.max_cost
        if binding.cost_of_all(draft.trials) <= limit:
            return draft

        def filled(some: _Draft, count: int, where: Region) -> _Draft:
            some.region = where
            some.fill(count, queued, chooser, is_custom)
            return some

        rng = cache.randomness(history.next_id, "cost")
        limited = Limited(binding, settings.space, region, history.taken if distinct else history.taken[:0], rng)
        return cheaper_draft(replace(binding, max_cost=limit), limited, points, queued, draft.anew, filled)

    try:
        draft = best_draft(binding, settings.space, q, queued, drafted) if binding else drafted({}, q, 1.0)
    except TooDear as error:
        raise InvalidInput(str(error)) from None
    arguments = {
        "strategy": config,
        "fixed": fixed_params,
        "distinct": bool(distinct),
        **({"repeat": True} if repeat else {}),
        **({} if rules is None else rules.to_config()),
    }
    return Proposal(tuple(draft.trials), arguments, draft.described, draft.verdict, settings.labels)


def request_of(settings: StudySettings, history: History, q: int = 1, *, cache: ModelCache | None = None) -> Request:
    """The request that a strategy would get for ``q`` points now; queued points and design points are left out. Every
    output needs a result."""
    cache = ModelCache(settings) if cache is None else cache
    check_cache(cache, settings)
    outputs = tuple(cache.learned(history, place) for place in range(len(history.tables)))
    return _Draft(settings, history, cache, cache.region, {}, True).request(whole(q, "q", 1), outputs)


@dataclass(slots=True, eq=False)
class _Draft:
    """A proposal in the making.

    ``avoid`` (k, d) holds the points that must not be chosen again; it is empty if ``distinct`` is False.
    """

    settings: StudySettings
    history: History
    cache: ModelCache
    region: Region
    fixed_params: dict[str, Any]
    distinct: bool
    repeat: bool = False
    shared: Values = field(default_factory=dict)
    """The values that each parameter shared by the batch may take."""
    note: str = ""
    """The part of the provenance that names the rules of the batch."""
    trials: list[Trial] = field(default_factory=list)
    described: dict[str, Any] | None = None
    avoid: Array = field(init=False)
    _judged_on: Request | None = None
    _gain: Gain | None = None
    _verdict: Verdict | None = None

    def __post_init__(self) -> None:
        self.avoid = self.history.taken if self.distinct else self.history.taken[:0]

    @property
    def next_id(self) -> int:
        return self.history.next_id + len(self.trials)

    def add(self, x: Array, params: dict[str, Any], origin: str, provenance: str) -> None:
        if origin != "enqueued":
            provenance += self.note
        self.trials.append(Trial(self.next_id, params, frozen(x), provenance, origin))
        if self.distinct:
            self.avoid = np.vstack([self.avoid, x])

    def add_new(self, x: Array, params: dict[str, Any], origin: str, provenance: str) -> None:
        """Add ``x``, which is ``params``, if it is allowed and new. Otherwise add a uniform draw and say so in its
        provenance."""
        if not is_new(x, self.region, self.avoid):
            x = draw(self.region, self.avoid, self.cache.randomness(self.next_id, "random"))[0]
            params, provenance = self.params_at(x[None, :])[0], provenance + REPLACED
        self.add(x, params, origin, provenance)

    def params_at(self, X: Array) -> list[dict[str, Any]]:
        """The points ``X`` (k, d) in the user's terms; fixed and shared parameters have their values exactly."""
        space, fixed = self.settings.space, self.fixed_params
        if not self.shared:
            return space.decode(X, fixed)
        return [space.decode(x[None, :], {**fixed, **space.nearest(x, self.shared)})[0] for x in X]

    def anew(self, note: str = "") -> _Draft:
        """A copy of the draft without trials; ``note`` is added to its provenance."""
        return replace(self, note=self.note + note, trials=[])

    def fill(self, q: int, queued: list[dict[str, Any]], chooser: Strategy, is_custom: bool) -> None:
        """Add trials until there are ``q``: those ``queued``, then design points, then points of the strategy
        ``chooser``."""
        history, cache, begun = self.history, self.cache, len(self.trials)
        self.refuse_exhausted(q, queued, begun)
        try:
            if not self.trials:
                self.add_queued(queued)
            self.add_design(q)
            if len(self.trials) == q:
                return
            learns = needs_model(chooser)
            if learns:
                outputs = tuple(cache.learned(history, place) for place in range(len(history.tables)))
                self.described = cache.hyperparameters(history)
            else:
                outputs = tuple(_unlearned(cache, history, table) for table in history.tables)
            request = self.request(q, outputs)
            chosen = checked_answer(chooser.choose(request, cache.memory), request, chooser)
            if self.region is cache.region:
                cache.memory = chosen.memory
            self.add_chosen(chosen, self.learned_from(outputs, self.described or {}) if learns else "", is_custom)
            self._judged_on = request if learns else None
        except SpaceExhausted as error:
            self.refuse_exhausted(q, queued, begun, count=True)
            if isinstance(error, NoPointFound) and adds_up(self.settings.space.constraint):
                raise NoPointFound(f"{error} {_AS_RULES}", error.left) from None
            raise

    def verdict(self) -> Verdict:
        """The verdict on the batch, which is computed once."""
        if self._verdict is None:
            waiting = len(counted_pending(self.history.pending).ids)
            model = None if self._judged_on is None else self._judged_on.model
            random_pair = self.cache.random_pair_distance if self.region is self.cache.region else None
            units = self.settings.labels.objective
            self._verdict = judge(
                self.encoded(), self.region, model, waiting, self.expected(), units, random_pair=random_pair
            )
        return self._verdict

    def gain(self) -> float | None:
        """The expected gain of the batch; None without a model."""
        gain = self.expected()
        return None if gain is None else gain.together

    def encoded(self) -> Array:
        """The points (k, d) of the trials."""
        return np.array([trial.encoded for trial in self.trials])

    def expected(self) -> Gain | None:
        """The expected gain of the batch, which is computed once; None without a model."""
        on = self._judged_on
        if self._gain is None and on is not None:
            # For a strategy, earlier points of this batch count as pending; for the gain they must not. Failures are
            # not results. As pseudo-results with the worst value they would lower the predicted gain near good points,
            # so the gain is computed without them.
            fits = tuple(replace(one, model=one.fit, failed=None) for one in on.outputs)
            first = replace(fits[0], pending=counted_pending(self.history.pending))
            self._gain = expected_gain(replace(on, outputs=(first, *fits[1:])), self.encoded())
        return self._gain

    def add_queued(self, queued: list[dict[str, Any]]) -> None:
        """Add the points that the user wants, even if they repeat others."""
        for params in queued:
            self.add(self.settings.space.encode([params])[0], params, "enqueued", "asked for by the user")

    def add_design(self, q: int) -> None:
        """Add design points until results and pending trials together number ``n_init``.

        Further ones are added as long as some output has no result. Failed trials also count once there are at least
        min(number of parameters + 1, half of ``n_init``, rounded up) results.
        """
        history, n_init = self.history, self.settings.n_init
        known, results = len(history.ids) + len(history.pending.ids), len(history.ids)
        if results >= min(len(self.settings.space) + 1, -(-n_init // 2)):
            known += len(history.failed)
        missing = max(n_init - known, 0) if all(table.ids for table in history.tables) else q
        missing = min(missing, q) - len(self.trials)
        if missing > 0:
            index = history.designed + [trial.origin for trial in self.trials].count("design")
            points = design(index, n_init, self.region, self.cache.randomness(0, "design"), self.cache.likely)
            for number, x in enumerate(islice(points, missing), index + 1):
                self.add_new(x, self.params_at(x[None, :])[0], "design", f"point {number} of a Latin hypercube")

    def learned_from(self, outputs: tuple[Learned, ...], hyperparameters: dict[str, Any]) -> str:
        """The part of the provenance that says which data the models left out; usually empty."""
        history, surrogate, notes, first = self.history, self.settings.surrogate, "", outputs[0]
        states, one = hyperparameters.get("outputs", {}), len(outputs) == 1
        n, failures, what = max(len(learned.ids) for learned in outputs), first.failed, "results"
        if failures is not None and not has(first.model, Conditionable):  # refitted, with failures among the results
            n, what = n + len(failures), "results and failures"
        if has(surrogate, Bounded) and n > surrogate.most_results:
            notes += f"; {'a model' if one else 'models'} of {surrogate.most_results:,} of {n:,} {what}"
        if first.warp is not None:
            warped = "the results" if one else first.output.name
            notes += (
                f"; {warped} warped from the best on" if first.warp.share else f"; the worse half of {warped} warped"
            )
        added = len(states.get(first.output.name, {}).get(ADDED, ()))
        if added:
            notes += f"; hyperparameters of the last fit, {added:,} results ago"
        subset = states.get(first.output.name, {}).get("subset")
        if subset is not None:
            notes += f"; hyperparameters from {subset} of the results"
        if failures is not None and len(failures) < len(history.failed):
            notes += f"; conditioned on the last {len(failures):,} of {len(history.failed):,} failures"
        pending, waiting = len(counted_pending(history.pending).ids), len(history.pending.ids)
        if pending < waiting:
            notes += f"; conditioned on the last {pending:,} of {waiting:,} pending points"
        return notes

    def add_chosen(self, chosen: Chosen, notes: str, is_custom: bool) -> None:
        """Add the strategy's points; ``notes`` is the part of their provenance that describes the model.

        A custom strategy may ignore grids and fixed parameters; its points are moved to allowed values first.
        """
        if self.history.unused:
            notes += f"; without regard to {', '.join(self.history.unused)}"
        X = np.array([choice.x for choice in chosen.choices], dtype=np.float64)
        for choice, x, params in zip(chosen.choices, X, self.params_at(X), strict=True):
            moved = ""
            if is_custom and self.settings.space.misplaced([params], x[None, :]) is not None:
                x, moved = self.region.project(x[None, :])[0], "; moved to where its parameters have values"
                params = self.params_at(x[None, :])[0]
            repeats = self.repeat and choice.repeats and is_new(x, self.region, self.avoid[:0])
            (self.add if repeats else self.add_new)(x, params, "model", choice.provenance + notes + moved)

    def request(self, q: int, outputs: tuple[Learned, ...]) -> Request:
        """The request for the points that are still missing; the trials already in the draft count as pending."""
        settings, early = self.settings, [trial.encoded for trial in self.trials]
        if early:
            ids, X = tuple(trial.id for trial in self.trials), np.array(early)
            outputs = tuple(replace(one, pending=joined_pending(one.pending, ids, X)) for one in outputs)
        point, reference = settings.reference, None
        if point is not None:
            reference = np.array([one.sign * point[one.name] for one in settings.goals.outputs if one.limits is None])
        return Request(
            ids=tuple(range(self.next_id, self.next_id + q - len(early))),
            outputs=outputs,
            surrogate=settings.surrogate,
            acquisition=settings.acquisition,
            region=self.region,
            avoid=self.avoid,
            distinct=self.distinct,
            randomness=self.cache.randomness,
            maximizer=settings.maximizer,
            resolution=settings.resolution,
            reference=reference,
            repeat=self.repeat,
            likely=self.cache.likely,
            answered_then=self.history.answered_then,
            fresh=self.history.is_fresh,
        )

    def refuse_exhausted(self, q: int, queued: list[dict[str, Any]], begun: int, count: bool = False) -> None:
        """Raise SpaceExhausted if a finite space has too few new points for q trials, ``begun`` of which exist already.

        This is checked before any work. The points of a large space with rules or a constraint are counted only if
        ``count`` is True, after the work has failed.
        """
        region, taken, size = self.region, self.history.taken, self.region.size
        needed = q - len(queued)
        if begun:
            needed, taken, queued = q - begun, self.avoid, []
        if size is None or not self.distinct:
            return
        surely = size - len(taken) - len(queued) if not region.ruled else 0
        if surely >= needed or (region.ruled and size > ENUMERATE_UP_TO and not count):
            return
        points = remaining(region, np.vstack([taken, self.settings.space.encode(queued)]) if queued else taken)
        if points is not None and needed > len(points):
            raise SpaceExhausted(
                f"{needed} new point(s) asked for, but this finite space has {len(points)} left; "
                "ask for fewer, or allow repeats with distinct=False.",
                len(points) + len(queued),
            )


def rehearse(settings: StudySettings) -> None:
    """Raise MissingCapability or MissingExtra if the parts of a study cannot work together, before any evaluation is
    paid for.

    The strategy is asked for one point, given three invented results, unless it is pseudo-observations or random, for a
    single output: these always work. Custom parts are not called, because a call may be expensive or have side effects;
    if they do not fit, the first ask fails.

    Parameters
    ----------
    settings : the settings of the study.
    """
    goals, acquisition, strategy = settings.goals, settings.acquisition, settings.strategy
    if len(goals.objectives) == 1 and has(acquisition, Several):
        name = type(acquisition).__name__
        raise MissingCapability(f"{name} is for several objectives. Declare them with outcomes={{...}}.")
    config = serialization.to_config(strategy)
    name_of = partial(serialization.named, config)
    refuse_outputs(strategy, name_of, len(goals.objectives), bool(goals.limited))
    if settings.failures == LEARN:
        _refuse_learned_failures(strategy, name_of)
    custom = any(serialization.is_custom(serialization.to_config(part)) for part in (settings.surrogate, acquisition))
    if custom or serialization.is_custom(config):
        return
    if len(goals.outputs) == 1 and type(strategy).__name__ not in LOADED_ON_USE:
        return
    stage = replace(settings, space=Space({"x": Float(0.0, 1.0)}), maximizer=None, n_init=1)
    played = [
        (i, {"x": x}, dict.fromkeys(goals.wanted, y)) for i, (x, y) in enumerate(((0.1, 1.0), (0.4, 0.0), (0.9, 2.0)))
    ]
    try:
        propose(stage, History.of(stage, played))
    except (MissingCapability, MissingExtra):
        raise
    except BelieverError:
        pass  # other errors may come from the invented results, and are no reason to refuse a study


def _refuse_learned_failures(strategy: Strategy, name: Callable[[], str]) -> None:
    """Raise MissingCapability if the strategy ignores the predicted probability that an evaluation fails."""
    if takes(strategy) == ONE:
        raise MissingCapability(
            f'{name()} chooses for one objective without limits, and failures="learn" limits the search to where '
            f'evaluations are expected to succeed. Pass failures="worst", or use one of {keeping_limits()}.'
        )


def _unlearned(cache: ModelCache, history: History, table: Table) -> Learned:
    """An output for a strategy that needs no model, or makes its own. It says whether results may be warped."""
    output = replace(table.output, warped=table.output.warped and cache.settings.warp == AUTO)
    pending, failed = counted_pending(table.pending), cache.failures(history, table)
    return Learned(output, table.ids, table.data, pending, NoModel(), NoModel(), failed)
