"""The integration with Ray: :class:`BelieverSearch` for Ray Tune, and an executor on a Ray cluster.

::

    with connected("10.0.0.5:6379") as executor:
        result = bv.minimize(f, space, workers=executor, q=8)

The guide is docs/ray.md.

The file is long because it has both of Ray's interfaces, the search and the executor; Ray is imported only here.
"""

from __future__ import annotations

import copy
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from believer.arrays import finite, shown, whole
from believer.clusters import result_of, run_within
from believer.errors import (
    EvaluationError,
    InvalidInput,
    JournalCorrupt,
    MissingExtra,
    SpaceExhausted,
    TookTooLong,
    WorkerDied,
)
from believer.optimizer import Optimizer
from believer.plugins import StudySettings
from believer.propose import rehearse
from believer.space import Categorical, Float, Int, Space
from believer.space.parameters import Parameter
from believer.study.events import Begun
from believer.study.files import PathLike
from believer.study.journal import write_events
from believer.study.outcome import outcome_of
from believer.study.trials import same_params

try:
    import ray
    from ray import cloudpickle, exceptions
    from ray.tune.result import DEFAULT_METRIC
    from ray.tune.search import Searcher, sample
    from ray.tune.search.variant_generator import assign_value, parse_spec_vars
    from ray.tune.utils.util import unflatten_dict, unflattened_lookup
except ImportError as error:
    raise MissingExtra("Ray Tune", "ray") from error

__all__ = ["TIMEOUT", "BelieverSearch", "connected", "opened"]

TIMEOUT = 10.0
"""The seconds within which a cluster must answer at an address."""


class BelieverSearch(Searcher):  # type: ignore[misc]  # Ray has no types
    """Batch Bayesian optimization for ``tune.TuneConfig(search_alg=...)``: running trials are pending points.

    The value of a trial is its last reported metric, even if a scheduler stopped it early. A trial that ends with an
    error or without the metric has failed, until it is run again and has a result. A trial that was stopped before it
    reported anything is ignored.

    Parameters
    ----------
    space : a dict of Tune's domains or a :class:`Space`; None takes the ``param_space`` of the tuner.
    metric : the name of the metric to optimize; None takes the tuner's.
    mode : "min" or "max"; None takes the tuner's.
    points_to_evaluate : configs to try first.
    evaluated_rewards : their metrics, if these are known; the configs then count as results, and are not run.
    seed : the random seed; None draws one.
    options : surrogate, acquisition, strategy, maximizer, n_init, warp and resolution, as for :class:`Optimizer`.
    """

    def __init__(
        self,
        space: Mapping[str, Any] | Space | None = None,
        metric: str | None = None,
        mode: str | None = None,
        points_to_evaluate: Sequence[Mapping[str, Any]] | None = None,
        evaluated_rewards: Sequence[float] | None = None,
        seed: int | None = 0,
        **options: Any,
    ) -> None:
        super().__init__()
        self._metric: str | None = None
        self._mode: str | None = None
        self._options = {"seed": seed, **options}
        rehearse(StudySettings.of(Space.cube(1), maximize=False, **self._options))  # refuses before a run
        try:
            points = list(points_to_evaluate or ())
            rewards: Sequence[Any] = [None] * len(points) if evaluated_rewards is None else evaluated_rewards
            self._points = list(zip(points, rewards, strict=True))
        except (TypeError, ValueError) as error:
            raise InvalidInput(f"points_to_evaluate must be a list, evaluated_rewards another; {error}.") from error
        self._most: int | None = None
        self._where: _TuneSpace | None = None
        self._study: Optimizer | None = None
        self._running: dict[str, int] = {}
        self._reported: dict[str, dict[str, Any]] = {}
        self._is_space_given = space is not None
        self._begin(None if space is None else _tune_space(space), metric, mode)

    def set_search_properties(self, metric: str | None, mode: str | None, config: dict[str, Any], **spec: Any) -> bool:
        """Take the tuner's ``metric``, ``mode`` and ``config``, its search space; ``spec`` is not used.

        Returns False if the search has a space of its own.
        """
        self._begin(self._where if self._is_space_given else _tune_space(config), metric, mode)
        return not self._is_space_given

    def _begin(self, where: _TuneSpace | None, metric: str | None, mode: str | None, saved: Any = None) -> None:
        """Begin the search of ``where`` once the direction is known; a search that has begun, or was saved, goes on."""
        if not isinstance(metric, str | None) or mode not in (None, "min", "max"):
            raise InvalidInput(
                f'a search needs one metric, and the mode "min" or "max"; got {shown(metric)}, {shown(mode)}.'
            )
        metric_now, mode_now = metric or self._metric, mode or self._mode
        if self._metric not in (None, DEFAULT_METRIC, metric_now) or self._mode not in (None, mode_now):
            ours = f"the {self._mode} of {self._metric}"
            raise InvalidInput(f"a search has one goal, here {ours}; got {mode} of {metric}. Make a new one.")
        study = saved or self._study
        if study is None and where is not None and mode_now is not None:
            study = Optimizer(where.space, maximize=mode_now == "max", **self._options)
            for point, reward in self._points:
                if reward is None:
                    study.enqueue(where.params(point))
                else:
                    study.observe(where.params(point), **_told(reward))
        elif study is not None and where is not None and study.space.to_config() != where.space.to_config():
            ours = ", ".join(study.space.names)
            raise InvalidInput(f"a search has one space, here of {ours} in their bounds. Make a new one for another.")
        self._where, self._study, self._mode = where, study, mode_now
        self._metric = metric_now or (None if study is None else DEFAULT_METRIC)

    def _ready(self) -> tuple[_TuneSpace, Optimizer]:
        if self._where is None or self._study is None:
            raise InvalidInput("a search needs a space, a metric and a mode: pass them to the tuner, or to this.")
        return self._where, self._study

    def set_max_concurrency(self, max_concurrent: int) -> bool:
        """Run at most ``max_concurrent`` trials at a time. Returns True, since the search itself ensures this."""
        self._most = whole(max_concurrent, "max_concurrent", 1)
        return True

    def suggest(self, trial_id: str) -> Any:
        """The config of a trial; None while enough trials are running, and ``FINISHED`` if a finite space has no more
        points."""
        where, study = self._ready()
        if trial_id in self._running:
            return where.config(study.trials[self._running[trial_id]].params)
        if self._most is not None and study.counts.pending >= self._most:
            return None
        try:
            (trial,) = study.ask()
        except SpaceExhausted:
            return Searcher.FINISHED
        self._running[trial_id] = trial.id
        return where.config(trial.params)

    def on_trial_result(self, trial_id: str, result: Mapping[str, Any]) -> None:
        """Keep the last metric of the trial ``trial_id``, from ``result``, because a paused trial may end without
        one."""
        if self._metric in result:
            self._reported[trial_id] = _told(result[str(self._metric)])

    def on_trial_complete(self, trial_id: str, result: Mapping[str, Any] | None = None, error: bool = False) -> None:
        """The end of a trial.

        A trial that is unknown here, because Tune has restarted it under another name or because the search was saved
        before it began, is recognized by the config in its result; the result counts if the point has none yet.

        Parameters
        ----------
        trial_id : the id of the trial in Tune.
        result : its last report, flat; None if Tune gives none.
        error : whether it failed.
        """
        where, study = self._ready()
        trial, told = self._running.pop(trial_id, None), self._reported.pop(trial_id, None)
        if error:
            told = {"error": "the trial ended with an error"}
        elif result and self._metric in result:
            told = _told(result[str(self._metric)])
        elif result and told is None:
            told = {"error": f"the trial reported no {self._metric}"}
        if trial is not None and told is None:
            study.abandon(trial)
        elif trial is not None and told is not None:
            study.tell(trial, **told)
        elif result and told is not None and "value" in told:
            config = {name: value for name, value in result.items() if name.startswith("config/")}
            try:
                params = where.params(unflatten_dict(config).get("config", {}))
            except (InvalidInput, TypeError):  # no config of this space
                return
            outcomes = study.outcomes
            if not any(other.id in outcomes and same_params(other.params, params) for other in study.trials):
                study.observe(params, **told)

    def save(self, checkpoint_path: PathLike) -> None:
        """Write the search to a file, a journal of this library's; a tuner does so by itself."""
        where, study = self._ready()
        begun, *events = study.events
        assert isinstance(begun, Begun)
        plain = all(path == tuple(name.split("/")) and not where.choices[name] for name, path in where.paths.items())
        kept = {"metric": self._metric, "running": self._running, "reported": self._reported, "plain": plain}
        write_events(checkpoint_path, [replace(begun, config={**begun.config, "tune": kept}), *events])

    def restore(self, checkpoint_path: PathLike) -> None:
        """Go on with the search in a file of :meth:`save`, under its settings; no code in it can run.

        If parameters are in lists, or choices are not plain values, the tuner must pass ``param_space`` again. Raises
        :class:`JournalError` if the file is not of :meth:`save`, and :class:`InvalidInput` if its space, metric, mode,
        surrogate, acquisition, strategy or maximizer differ from those of this search.
        """
        parts = {name: self._options.get(name) for name in ("surrogate", "acquisition", "strategy", "maximizer")}
        constraint = None if self._where is None else self._where.space.constraint
        study = Optimizer.load(checkpoint_path, append=False, constraint=constraint, **parts)
        try:
            begun, pending = study.events[0], {trial.id: trial.id for trial in study.pending}
            assert isinstance(begun, Begun)
            kept = begun.config["tune"]
            metric, running = kept["metric"], {name: pending[trial] for name, trial in kept["running"].items()}
            reported = {name: _told(**last) for name, last in kept["reported"].items()}
            where = self._where or (_tune_space(study.space) if kept["plain"] is True else None)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise JournalCorrupt(f"{checkpoint_path} is no state of a BelieverSearch: {error!r}.", 1) from error
        self._begin(where, metric, "max" if study.settings.sign < 0.0 else "min", study)
        self._running, self._reported = running, reported


def _told(value: Any = None, error: str | None = None) -> dict[str, Any]:
    """The result of a trial: a number, or the reason why there is none."""
    try:
        outcome = outcome_of(value, None, error)
    except InvalidInput as problem:
        outcome = str(problem)
    return {"error": outcome} if isinstance(outcome, str) else {"value": outcome.value}


@dataclass(frozen=True, slots=True, eq=False)
class _TuneSpace:
    """A space and its conversion to Tune's configs: a parameter is named by its path in the config, as "model/lr".

    ``choices`` maps the values of a parameter to Tune's choices, if these are not plain values or have domains of their
    own; such domains are conditional parameters, and come after their parents. A space of ours has no ``template``.
    """

    space: Space
    paths: dict[str, tuple[Any, ...]]
    choices: dict[str, dict[Any, Any]]
    template: dict[str, Any]

    def config(self, params: Mapping[str, Any]) -> dict[str, Any]:
        if not self.template:
            return dict(unflatten_dict({"/".join(self.paths[name]): value for name, value in params.items()}))
        config = copy.deepcopy(self.template)
        for name in self.choices:  # parents come before the parameters that depend on them
            if name in params:
                value = params[name]
                chosen = self.choices[name].get(value, value)
                assign_value(config, self.paths[name], copy.deepcopy(chosen) if _has_domains(chosen) else chosen)
        return config

    def params(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """The point of a config, nested or flat ("model/lr"); keys that are not in the space are ignored."""
        found: dict[str, Any] = {}
        for name, choices in self.choices.items():
            if not self.space.has_value(name, found):
                continue
            place = "/".join(map(str, self.paths[name]))
            try:
                is_branched = any(map(_has_domains, choices.values()))
                value = unflattened_lookup(place, unflatten_dict(dict(config)) if is_branched else config)
                found[name] = next((code for code, it in choices.items() if _is_of(it, value)), value)
            except Exception as error:  # also from == of a choice, which may be a user's code
                raise InvalidInput(
                    f"a config must have every parameter; no {place!r} is in {shown(config)}."
                ) from error
        return self.space.check(found)


def _has_domains(choice: Any) -> bool:
    """Whether a choice has domains of its own."""
    return any(parse_spec_vars({"": choice})[1:])


def _is_of(choice: Any, value: Any) -> bool:
    """Whether a value may be an instance of a choice, with a value of each of its domains in their places."""
    if isinstance(choice, sample.Categorical):
        return any(_is_of(one, value) for one in choice.categories)
    if isinstance(choice, sample.Domain):
        return isinstance(value, int | float) and bool(choice.is_valid(value))
    if isinstance(choice, dict) and isinstance(value, dict) and _has_domains(choice):
        return choice.keys() == value.keys() and all(_is_of(choice[key], value[key]) for key in choice)
    return choice is value or bool(choice == value)


def _tune_space(given: Any) -> _TuneSpace:
    if isinstance(given, Space):
        paths = {name: tuple(name.split("/")) for name in given.parents_first}
        return _TuneSpace(given, paths, {name: {} for name in paths}, {})
    if not isinstance(given, dict):
        raise InvalidInput(f"a search space must be a dict of Tune's domains, or a Space; got {shown(given)}.")
    _, domains, grids = parse_spec_vars(given)
    paths = {"/".join(map(str, path)): path for path, _ in [*domains, *grids]}
    if grids or not paths:
        rule = "a search space must have something to search, tune.choice or tune.uniform, and no tune.grid_search"
        raise InvalidInput(f"{rule}; got {shown(given)}.")
    if len(paths) < len(domains):
        raise InvalidInput(f"the places of parameters must differ from each other; got {', '.join(paths)}.")
    places, choices, parameters = dict[str, tuple[Any, ...]](), dict[str, dict[Any, Any]](), dict[str, Any]()
    for name, (path, domain) in zip(paths, domains, strict=True):
        _add(name, path, domain, {}, places, choices, parameters)
    return _TuneSpace(Space(parameters), places, choices, given)


def _add(
    name: str,
    path: tuple[Any, ...],
    domain: Any,
    when: dict[str, list[Any]],
    paths: dict[str, tuple[Any, ...]],
    choices: dict[str, dict[Any, Any]],
    parameters: dict[str, Any],
) -> None:
    """Add a domain to a space, followed by the domains in its choices.

    ``when`` is the choice that it belongs to, empty for none; ``paths``, ``choices`` and ``parameters`` are those of
    the space.
    """
    parameter, codes = _parameter(name, domain, when)
    known = parameters.get(name)
    if when and known is not None and not codes and not choices[name] and replace(known, when=when) == parameter:
        parent = next(iter(when))  # the same in another choice
        if [*known.when] == [parent]:
            parameters[name] = replace(known, when={parent: [*known.when[parent], *when[parent]]})
            return
    if known is not None:
        name = f"{name} ({', '.join(str(code) for some in when.values() for code in some)})"
    paths[name], choices[name], parameters[name] = path, codes, parameter
    for code, choice in codes.items():
        _, domains, grids = parse_spec_vars({"": choice})
        if grids:
            raise InvalidInput(f"a choice must have no tune.grid_search; got one for {name!r}.")
        for inner, one in domains:
            place = (*path, *inner[1:])
            _add("/".join(map(str, place)), place, one, {name: [code]}, paths, choices, parameters)


def _parameter(name: str, domain: Any, when: Any) -> tuple[Parameter, dict[Any, Any]]:
    """The parameter of one domain, and the choices for its values. Tune's integers end below the upper bound."""
    when = when or None
    sampler, q = domain.get_sampler(), None
    if isinstance(sampler, sample.Quantized):
        sampler, q = sampler.get_sampler(), sampler.q
    log = isinstance(sampler, sample.LogUniform)
    try:
        if isinstance(domain, sample.Categorical):
            choices = {f"choice {i}": value for i, value in enumerate(domain.categories)}
            with suppress(InvalidInput):  # where all are plain values, and differ
                return Categorical(domain.categories, when=when), {}
            return Categorical([*choices], when=when), choices
        if isinstance(domain, sample.Float) and not isinstance(sampler, sample.Normal):
            return Float(domain.lower, domain.upper, log=log, step=q, when=when), {}
        if not isinstance(domain, sample.Integer):
            raise InvalidInput("a parameter must have bounds; tune.randn and tune.sample_from have none")
        if q in (None, 1):
            return Int(domain.lower, domain.upper - 1, log=log, when=when), {}
        return Int(-(-domain.lower // q) * q, domain.upper // q * q, log=log, step=q, when=when), {}
    except InvalidInput as error:
        raise InvalidInput(f"{str(error).removesuffix('.')} for {name!r}.") from error


@contextmanager
def connected(address: str | None = None, *, cpus: float = 1.0, retries: int = 0) -> Iterator[Executor]:
    """An executor on a Ray cluster; a cluster or connection that existed before is not changed.

    The future of a call whose worker dies ends with ``WorkerDied``, and the others go on. Calls that are running when
    the block is left are cancelled. Raises ``EvaluationError`` if no cluster answers, and ``InvalidInput`` if the
    address is invalid, if the process is connected to another cluster, or if a call needs more processors than there
    are.

    Parameters
    ----------
    address : "host:6379" from a machine of the cluster, "ray://host:10001" from any other (needs ``ray[client]``),
        "auto" for the one that runs on this machine, "local" for a new one here, which ends with the block. None is the
        cluster to which this process is connected, or else the one that ``ray.init()`` finds: "auto", or "local" if
        there is none.
    cpus : the processors that a call needs, from which Ray derives how many calls run at a time.
    retries : the number of further tries for a call whose worker died.
    """
    retries, ours = whole(retries, "retries", 0), not ray.is_initialized()
    if ours:
        _connect(address)
    elif address not in (None, "auto", there := ray.get_runtime_context().gcs_address):
        raise InvalidInput(f"a process has one connection to Ray, here to {there}; ray.shutdown() before {address!r}.")
    try:
        if not (most := ray.cluster_resources().get("CPU", 0.0)) >= finite(cpus, "cpus") > 0.0:
            raise InvalidInput(f"cpus must be above zero, and no more than the cluster has, {most:g}; got {cpus!r}.")
        with _ClusterExecutor(cpus, retries) as executor:
            yield executor
    finally:
        if ours:
            ray.shutdown()


def opened(given: str) -> AbstractContextManager[Executor]:
    """``connected`` to the address of a cluster; "ray" stands for None."""
    return connected(None if given == "ray" else given)


def _connect(address: str | None) -> None:
    try:
        if address not in (None, "auto", "local"):  # Ray would try for minutes where nobody listens
            host, port = str(address).removeprefix("ray://").rsplit(":", 1)
            socket.create_connection((host.strip("[]"), int(port)), TIMEOUT).close()
        ray.init(address, log_to_driver=False, logging_level="error")
    except OSError as error:
        where = f"{address or 'auto'} within {TIMEOUT:g} s"
        raise EvaluationError(f"no Ray cluster answers at {where}: {error}. Start one: ray start --head.") from error
    except (ValueError, OverflowError) as error:
        rule = "a Ray address must be like host:6379 or ray://host:10001"
        raise InvalidInput(f"{rule}; got {address!r}: {error}.") from error


class _ClusterExecutor(Executor):
    """Submits to the cluster that this process is connected to; a call is a task of Ray."""

    def __init__(self, cpus: float, retries: int) -> None:
        self._task = ray.remote(num_cpus=cpus, max_retries=retries)(lambda call: call())
        self._max_workers = max(1, int(ray.cluster_resources().get("CPU", 0.0) // cpus))
        self._under_way: set[Future[Any]] = set()
        self._is_closed = False

    def submit(self, function: Callable[..., Any], /, *args: Any, **options: Any) -> Future[Any]:
        """Run ``function`` on a worker."""
        if not ray.is_initialized():  # Ray would start a cluster of its own
            raise RuntimeError("the connection to the Ray cluster was closed")
        task = self._task.remote(partial(function, *args, **options))
        ours: Future[Any] = Future()
        self._under_way.add(ours)
        ours.add_done_callback(self._under_way.discard)
        ours.add_done_callback(partial(self._cancel, task))
        task.future().add_done_callback(partial(_hand_over, ours))
        return ours

    def submit_within(
        self, timeout: float | None, fn: Callable[..., Any], /, *args: Any, **options: Any
    ) -> Future[Any]:
        """Submit a call that runs in a separate process beside the worker, which is killed after ``timeout``
        seconds."""
        return self.submit(run_within, timeout, cloudpickle.dumps(partial(fn, *args, **options)))

    def _cancel(self, task: Any, ours: Future[Any]) -> None:
        """Interrupt the task of a cancelled future, and finally kill it, because an interrupt may be lost."""
        if ours.cancelled() and ray.is_initialized():
            ray.cancel(task, force=self._is_closed)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Cancel all running calls in any case, since nobody would receive their results."""
        self._is_closed = True
        for future in list(self._under_way):
            future.cancel()


def _hand_over(ours: Future[Any], theirs: Future[Any]) -> None:
    """Copy the result of Ray's future to ours; called in a thread of Ray."""
    if not ours.set_running_or_notify_cancel():
        return
    error, lost = theirs.exception(), (exceptions.NodeDiedError, exceptions.ObjectLostError)
    if error is None:
        try:
            ours.set_result(result_of(theirs.result()))
        except (TookTooLong, WorkerDied) as ended:
            ours.set_exception(ended)
    elif isinstance(error, (exceptions.WorkerCrashedError, exceptions.OutOfMemoryError, *lost)):
        ours.set_exception(WorkerDied(f"the Ray worker died of it, or with it ({type(error).__name__})"))
    else:  # the function raised, or Ray did
        ours.set_exception(error.cause if isinstance(error, exceptions.RayTaskError) else error)
