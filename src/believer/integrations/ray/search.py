"""A searcher for Ray Tune: trials that run are pending points, so that those beside each other are good together.

The value of a trial is the metric that it reported last, also where a scheduler has stopped it early: a model sees what
a trial had reached by then. A trial that ends with an error, or without the metric, has failed, until it is run again
and has a result. One that was stopped before it reported anything is forgotten, and its point may come again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from believer.arrays import shown, whole
from believer.capabilities import able
from believer.errors import InvalidInput, MissingExtra, SpaceExhausted
from believer.plugins import Fitted, History, ModelCache, StudySettings, Verifiable, make_settings, propose
from believer.propose import rehearse
from believer.space import Space
from believer.study.files import PathLike
from believer.study.model_cache import warp_of
from believer.study.outcome import outcome_of

try:
    from ray.tune.search import Searcher

    from believer.integrations.ray.spaces import TuneSpace, rebuilt, tune_space
    from believer.integrations.ray.state import damaged, read_state, write_state
except MissingExtra:
    raise
except ImportError as error:
    raise MissingExtra("Ray Tune", "ray") from error

UNNAMED = "_metric"
"""What Tune calls the metric of a function that returns a number."""


@dataclass(frozen=True, slots=True)
class _Trial:
    """``name`` is Tune's id, None for a result from elsewhere; ``came_back`` is as for :meth:`History.of`."""

    name: str | None
    params: dict[str, Any]
    came_back: float | str | None = None


class BelieverSearch(Searcher):  # type: ignore[misc]  # Ray has no types
    """Batch Bayesian optimization for ``tune.TuneConfig(search_alg=...)``.

    Further options, by name: surrogate, acquisition, strategy, maximizer, n_init, warp and resolution, as for
    :class:`Optimizer`.

    Parameters
    ----------
    space : where to search, a dict of Tune's domains or a :class:`Space`; None takes the ``param_space`` of the tuner.
    metric : what to optimize, by name; None takes the tuner's.
    mode : "min" or "max"; None takes the tuner's.
    points_to_evaluate : configs to try first.
    evaluated_rewards : their metrics, where these are known already: then they count as results, and are not run.
    seed : of all that is random; None draws one.
    max_concurrent : how many trials run at a time; None leaves that to the tuner.
    """

    def __init__(
        self,
        space: Mapping[str, Any] | Space | None = None,
        metric: str | None = None,
        mode: str | None = None,
        points_to_evaluate: Iterable[Mapping[str, Any]] | None = None,
        evaluated_rewards: Iterable[float] | None = None,
        seed: int | None = 0,
        max_concurrent: int | None = None,
        **options: Any,
    ) -> None:
        _check_goal(metric, mode)
        super().__init__(metric=metric, mode=mode)
        self._metric: str | None = metric
        self._mode: str | None = mode
        stage = make_settings(Space.unit(1), seed=seed, **options)
        rehearse(stage)  # what cannot work is refused here, and not in the midst of a run
        self._options = {**options, "seed": stage.seed}
        self._is_seed_drawn, self._is_space_given = seed is None, space is not None
        self._points = _points(points_to_evaluate, evaluated_rewards)
        self._most = None if max_concurrent is None else whole(max_concurrent, "max_concurrent", 1)
        self._where: TuneSpace | None = None
        self._settings: StudySettings | None = None
        self._cache: ModelCache | None = None
        self._trials: dict[int, _Trial] = {}
        self._queue: list[dict[str, Any]] = []
        self._fitted: Fitted | None = None
        self._reported: dict[str, Any] = {}
        if space is not None:
            self._begin(tune_space(space), metric, mode)

    def set_search_properties(self, metric: str | None, mode: str | None, config: dict[str, Any], **spec: Any) -> bool:
        """Take what the tuner says: ``metric``, ``mode``, and ``config``, its search space; ``spec`` is not needed.

        False where the search was made with a space of its own.
        """
        _check_goal(metric, mode)
        where = self._where if self._is_space_given and self._where is not None else tune_space(config)
        self._begin(where, metric or self._metric, mode or self._mode)
        return not self._is_space_given

    def _begin(self, where: TuneSpace, metric: str | None, mode: str | None) -> None:
        """Search ``where``, once it is known whether to minimize; a search that has begun keeps its settings."""
        if mode is not None:
            settings = self._made(where, mode)
            if self._settings is None or not (self._trials or self._queue):
                self._settings, self._cache = settings, ModelCache(settings)
            elif self._where is not None:
                if metric != self._metric:
                    raise InvalidInput(f"a search has one metric, here {self._metric}; got {metric}. Make a new one.")
                config, leaves = self._settings.to_config(), self._where.describe()
                _refuse_other(settings, where, config, leaves, "Make a new one for another search.")
            metric = metric or UNNAMED
        self._where, self._metric, self._mode = where, metric, mode
        points, self._points = ([], self._points) if mode is None else (self._points, [])
        for point, reward in points:
            if reward is None:
                self._queue.append(where.params(point))
            else:
                self.add_evaluated_point(point, reward)

    def _made(self, where: TuneSpace, mode: str) -> StudySettings:
        return make_settings(where.space, maximize=mode == "max", **self._options)

    def _ready(self) -> tuple[TuneSpace, StudySettings]:
        if self._where is None:
            raise InvalidInput("a search needs a space: pass param_space to the tuner, or space to BelieverSearch.")
        if self._settings is None:
            raise InvalidInput('a search needs a goal: pass metric and mode="min" or "max" to tune.TuneConfig.')
        return self._where, self._settings

    def set_max_concurrency(self, max_concurrent: int) -> bool:
        """Have at most ``max_concurrent`` trials under way. True: this is seen to here."""
        self._most = whole(max_concurrent, "max_concurrent", 1)
        return True

    def suggest(self, trial_id: str) -> Any:
        """The config of a trial; None while enough are under way, and ``FINISHED`` if a finite space has no more."""
        where, settings = self._ready()
        known = self._id(trial_id)
        if known is not None:
            return where.config(self._trials[known].params)
        running = sum(trial.came_back is None for trial in self._trials.values())
        if self._most is not None and running >= self._most:
            return None
        history = self._history(settings, self._trials, self._fitted, self._queue)
        try:
            proposal = propose(settings, history, cache=self._cache)
        except SpaceExhausted:
            return Searcher.FINISHED
        if proposal.model is not None:
            self._fitted = (history.ids, proposal.model)
        (trial,) = proposal.batch
        self._queue = self._queue[trial.origin == "enqueued" :]
        self._trials[trial.id] = _Trial(trial_id, trial.params)
        return where.config(trial.params)

    def on_trial_result(self, trial_id: str, result: Mapping[str, Any]) -> None:
        """Keep the last metric of the trial ``trial_id``, from ``result``: one that is paused may end without any."""
        if str(self._metric) in result:
            self._reported[trial_id] = result[str(self._metric)]

    def on_trial_complete(self, trial_id: str, result: Mapping[str, Any] | None = None, error: bool = False) -> None:
        """The end of a trial; of one that nobody knows here, or that has its result, nothing is kept.

        Parameters
        ----------
        trial_id : Tune's.
        result : what it reported last, flat; None where Tune does not say.
        error : whether it failed.
        """
        last, known = self._reported.pop(trial_id, None), self._id(trial_id)
        known = self._restarted(result or {}) if known is None else known
        if known is None or isinstance(self._trials[known].came_back, float):
            return
        value = (result or {}).get(str(self._metric), last)
        if error:
            came_back: float | str = "the trial ended with an error"
        elif value is not None:
            came_back = _answer(value)
        elif result or self._trials[known].came_back is not None:
            came_back = f"the trial reported no {self._metric}"
        else:
            del self._trials[known]
            return
        self._trials[known] = replace(self._trials[known], came_back=came_back)

    def add_evaluated_point(
        self,
        parameters: dict[str, Any],
        value: float,
        error: bool = False,
        pruned: bool = False,
        intermediate_values: list[float] | None = None,
    ) -> None:
        """A result from elsewhere.

        Parameters
        ----------
        parameters : the config.
        value : its metric.
        error : whether the evaluation failed; then there is no value.
        pruned, intermediate_values : not looked at: the last value counts, as everywhere here.
        """
        where, _ = self._ready()
        trial = _Trial(None, where.params(parameters), "the evaluation failed" if error else _answer(value))
        self._trials[max(self._trials, default=-1) + 1] = trial

    def save(self, checkpoint_path: PathLike) -> None:
        """Write the search to a file of plain JSON; a tuner does so by itself."""
        where, settings = self._ready()
        state = {
            "metric": self._metric,
            "settings": settings.to_config(),
            "leaves": where.describe(),
            "trials": [[i, trial.name, trial.params, trial.came_back] for i, trial in self._trials.items()],
            "queue": self._queue,
            "fitted": None if self._fitted is None else [list(self._fitted[0]), self._fitted[1]],
            "reported": {name: _answer(value) for name, value in self._reported.items()},
        }
        write_state(checkpoint_path, state)

    def restore(self, checkpoint_path: PathLike) -> None:
        """Go on with the search in a file of :meth:`save`; no code in it can run.

        Raises :class:`JournalError` if it is anything else, and :class:`InvalidInput` if its settings are not those of
        this search. Where no space was passed yet, it is taken from the file, unless choices are no plain values.
        """
        found = read_state(checkpoint_path)
        try:
            config, leaves, metric = dict(found["settings"]), found["leaves"], str(found["metric"])
            seed, mode = whole(config["seed"], "seed", 0), "max" if config["maximize"] else "min"
            where = self._where or rebuilt(leaves, config["space"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise damaged(checkpoint_path, error) from error
        if where is None:
            raise InvalidInput(
                f"{checkpoint_path} does not hold all of its space (a constraint, or choices that are no plain "
                "values); pass that too, as space."
            )
        if (self._metric or metric, self._mode or mode) != (metric, mode):
            ours = f"{self._mode} of {self._metric}"
            raise InvalidInput(f"{checkpoint_path} is of a search for the {mode} of {metric}, this one for the {ours}.")
        settings = self._made(where, mode)
        if self._is_seed_drawn:
            settings = replace(settings, seed=seed)
        _refuse_other(settings, where, config, leaves, f"{checkpoint_path} is of another search.")
        try:
            self._take(settings, found)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise damaged(checkpoint_path, error) from error
        self._settings, self._cache, self._options["seed"] = settings, ModelCache(settings), settings.seed
        self._where, self._metric, self._mode, self._points = where, metric, mode, []

    def _take(self, settings: StudySettings, found: dict[str, Any]) -> None:
        """The trials of a file, checked before any of them counts."""
        trials = {i: _Trial(name, params, came_back) for i, name, params, came_back in found["trials"]}
        names = [trial.name for trial in trials.values() if trial.name is not None]
        if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
            raise InvalidInput("trials must have names that differ from each other")
        if len(trials) < len(found["trials"]):
            raise InvalidInput("trials must have ids that differ from each other")
        reported = {str(name): _answer(value) for name, value in found["reported"].items()}
        fitted: Fitted | None = None
        if found["fitted"] is not None:
            ids, model = found["fitted"]
            fitted = (tuple(whole(i, "an id", 0) for i in ids), dict(model))
            if able(settings.surrogate, Verifiable):
                settings.surrogate.verify(warp_of(fitted[1])[1], len(fitted[0]), settings.space.dim)
        self._history(settings, trials, fitted, found["queue"])
        self._trials, self._queue, self._fitted, self._reported = trials, list(found["queue"]), fitted, reported

    def _id(self, name: str) -> int | None:
        return next((i for i, trial in self._trials.items() if trial.name == name), None)

    def _restarted(self, result: Mapping[str, Any]) -> int | None:
        """The failed trial at the config of a result: when Tune restarts one, it gets another name."""
        prefix = "config/"
        config = {name.removeprefix(prefix): value for name, value in result.items() if name.startswith(prefix)}
        try:
            params = self._ready()[0].params(config)
        except InvalidInput:
            return None
        failed = (i for i, trial in self._trials.items() if isinstance(trial.came_back, str))
        return next((i for i in failed if self._trials[i].params == params), None)

    @staticmethod
    def _history(
        settings: StudySettings, trials: dict[int, _Trial], fitted: Fitted | None, queue: list[dict[str, Any]]
    ) -> History:
        return History.of(settings, [(i, t.params, t.came_back) for i, t in trials.items()], fitted, queue)


def _check_goal(metric: Any, mode: Any) -> None:
    if not isinstance(metric, str | None) or mode not in (None, "min", "max"):
        raise InvalidInput(f'a search has one metric, and mode "min" or "max"; got {shown(metric)} and {shown(mode)}.')


def _points(configs: Any, rewards: Any) -> list[tuple[dict[str, Any], float | None]]:
    try:
        first = [dict(config) for config in configs or ()]
        values = [None] * len(first) if rewards is None else [*rewards]
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"points_to_evaluate must be a list of configs; {error}.") from error
    if len(first) != len(values):
        raise InvalidInput(f"evaluated_rewards must be one for each point; got {len(values)} for {len(first)}.")
    return list(zip(first, values, strict=True))


def _answer(value: Any) -> float | str:
    """A metric as a number, or why it is none."""
    try:
        outcome = outcome_of(value, None, None)
    except InvalidInput as error:
        return str(error)
    return outcome if isinstance(outcome, str) else outcome.value


def _refuse_other(
    settings: StudySettings, where: TuneSpace, config: dict[str, Any], leaves: list[Any], advice: str
) -> None:
    """InvalidInput unless ``settings``, searched ``where``, are what ``config`` and ``leaves`` describe."""
    ours, theirs = {**settings.to_config(), "param_space": where.describe()}, {**config, "param_space": leaves}
    other = [name for name in ours if ours[name] != theirs.get(name)]
    if other:
        raise InvalidInput(f"a search has one set of settings; these are others: {', '.join(other)}. {advice}")
