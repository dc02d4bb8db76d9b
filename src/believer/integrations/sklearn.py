"""Hyperparameter search for scikit-learn: q candidates at a time, each scored on every fold.

::

    search = BatchSearchCV(SVC(), {"C": bv.Float(1e-3, 1e3, log=True)}, n_iter=24, q=4, n_jobs=4)
    search.fit(X, y).best_params_

The guide is docs/sklearn.md.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import numpy as np

from believer.acquisitions import Acquisition
from believer.arrays import LARGEST, shown, whole
from believer.batch import Strategy
from believer.errors import InvalidInput, MissingExtra, SpaceExhausted
from believer.optimizer import Optimizer
from believer.space import Categorical, Float, Int, Space
from believer.space.parameters import KINDS
from believer.study.trials import Batch
from believer.surrogates.protocols import Surrogate

try:
    from sklearn.base import is_classifier
    from sklearn.exceptions import FitFailedWarning
    from sklearn.model_selection import check_cv
    from sklearn.model_selection._search import BaseSearchCV
    from sklearn.utils import check_random_state
except ImportError as error:
    raise MissingExtra("scikit-learn", "sklearn") from error

__all__ = ["BatchSearchCV"]

MAX_SEED = 2**31 - 1
"""The upper bound of seeds that are drawn from a RandomState."""

_WHICH = "(which)"
"""The name of the parameter that says to which of several spaces a point belongs."""


class BatchSearchCV(BaseSearchCV):  # type: ignore[misc]
    """Batch Bayesian optimization of an estimator's parameters, by cross-validation.

    It is used like ``RandomizedSearchCV``, and has the same attributes after ``fit``: ``best_params_``,
    ``best_estimator_``, ``best_score_``, ``best_index_``, ``cv_results_`` and the others. ``cv_results_`` also has
    ``batch`` (from 0) and ``provenance``, which says why each candidate was chosen. All candidates are scored on the
    same folds. A candidate whose score is not finite counts as failed. If every fit of a batch fails, as may happen for
    small q, scikit-learn adds no rows for it to ``cv_results_``, which is then shorter than ``n_iter`` even if
    ``error_score`` is a number: a ``FitFailedWarning`` says why, and the search goes on.

    Parameters
    ----------
    estimator : the estimator to tune, a Pipeline for instance.
    space : the search space: a :class:`believer.Space`, or a dict of names ("C", "svc__C") to ``Float``, ``Int``,
        ``Categorical``, a ``uniform``, ``loguniform`` or ``randint`` of SciPy, or a list of choices, which may be any
        objects. It may also be a list of such dicts, as in scikit-learn: a candidate then has the names of one of them.
        They are searched as one space, so that the budget goes to the dicts with good scores, and a parameter that is
        the same in several dicts is learned from all of them. Spaces with rules, a constraint or a region are searched
        in turn instead, batch by batch, each with its own model.
    n_iter : the number of candidates. If the space has fewer, all of them are tried, with a warning.
    q : the number of candidates that are chosen and evaluated together, as q times the number of folds fits.
    scoring : one score or several, as for ``RandomizedSearchCV``. The model learns from the one that ``refit`` names,
        or else from the first.
    refit : whether to fit the best candidate to all data in the end. With several scores, the name of the score that
        decides, or a function of ``cv_results_`` that returns the index of the best.
    n_jobs, cv, verbose, pre_dispatch, error_score, return_train_score : as for ``RandomizedSearchCV``. With
        ``verbose`` the best so far is printed after each batch.
    random_state : an int makes a search reproducible.
    noise : whether to tell the model the standard error of each mean over folds. The search then returns to the
        neighborhood of good candidates, where the same folds give no new information; so by default the model infers
        the noise.
    surrogate, acquisition, strategy, n_init : as for :class:`believer.Optimizer`.
    """

    def __init__(
        self,
        estimator: Any,
        space: Space | Mapping[str, Any] | Sequence[Space | Mapping[str, Any]],
        *,
        n_iter: int = 32,
        q: int = 4,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: bool | str | Callable[[dict[str, Any]], int] = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: int | str = "2*n_jobs",
        random_state: Any = None,
        error_score: float | str = np.nan,
        return_train_score: bool = False,
        noise: bool = False,
        surrogate: str | Surrogate | None = None,
        acquisition: str | Acquisition | None = None,
        strategy: str | Strategy | None = None,
        n_init: int | None = None,
    ) -> None:
        super().__init__(
            estimator=estimator,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.space = space
        self.n_iter = n_iter
        self.q = q
        self.random_state = random_state
        self.noise = noise
        self.surrogate = surrogate
        self.acquisition = acquisition
        self.strategy = strategy
        self.n_init = n_init

    def _run_search(self, evaluate_candidates: Callable[..., dict[str, Any]]) -> None:
        """Ask, evaluate and tell until there are ``n_iter`` candidates; called by ``fit``."""
        left, q = whole(self.n_iter, "n_iter", 1), whole(self.q, "q", 1)
        seed = int(check_random_state(self.random_state).randint(MAX_SEED))
        parts = _joined([_part(given) for given in _listed(self.space)])
        searches = [self._begun(part, (seed + i) % MAX_SEED) for i, part in enumerate(parts)]
        # An iterable of splits is the same for every batch already, and may be consumed only once.
        folds = None if isinstance(self.cv, Iterable) else SameFolds(self.cv, is_classifier(self.estimator))
        number, failure, results = 0, None, None
        while left > 0 and searches:
            search = searches.pop(0)
            if (batch := _ask(search.optimizer, min(q, left))) is None:
                continue
            searches.append(search)
            extra = {"batch": [number] * len(batch), "provenance": [trial.provenance for trial in batch]}
            left, number = left - len(batch), number + 1
            try:
                results = evaluate_candidates(search.candidates(batch), cv=folds, more_results=extra)
                scores = _scores(results, self.refit)[-len(batch) :]
            except ValueError as error:
                failure, scores = survived(error, self.error_score), [(math.nan, None)] * len(batch)
            search.tell(batch, scores, self.noise)
            if self.verbose:
                print(f"[BatchSearchCV] {self.n_iter - left} of {self.n_iter} candidates, {_best(results, self.refit)}")
        if left > 0:
            size = self.n_iter - left
            warnings.warn(f"the space has {size} points, fewer than n_iter={self.n_iter}: all are tried.", stacklevel=2)
        if failure is not None and results is None:
            raise failure

    def _begun(self, part: _Part, seed: int) -> _Search:
        """The search of one space."""
        parts: dict[str, Any] = {
            "surrogate": self.surrogate,
            "acquisition": self.acquisition,
            "strategy": self.strategy,
        }
        return _Search(Optimizer(part.space, **parts, n_init=self.n_init, seed=seed, maximize=True), part)


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """A space in which lists of arbitrary objects are replaced by the positions of their members.

    Attributes
    ----------
    space : the space to search.
    lists : the lists by the names of their parameters.
    names : the estimator's name of each parameter; a parameter without one is used by the search only.
    """

    space: Space
    lists: dict[str, list[Any]]
    names: dict[str, str]

    @property
    def is_plain(self) -> bool:
        """Whether it has parameters only, without rules, constraint or region."""
        space = self.space
        known = all(type(p) is KINDS.get(type(p).__name__) for p in space.parameters.values())
        return known and space.constraint is None and space.within is None and not space.rules


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """One space and its optimizer."""

    optimizer: Optimizer
    part: _Part

    def candidates(self, batch: Batch) -> list[dict[str, Any]]:
        """The settings of the estimator for each trial of a batch."""
        names, lists = self.part.names, self.part.lists
        return [
            {names[one]: lists[one][value] if one in lists else value for one, value in point.items() if one in names}
            for point in batch.params
        ]

    def tell(self, batch: Batch, scores: list[tuple[float, float | None]], noise: bool) -> None:
        """The mean and the standard error of each candidate's score."""
        for trial, (mean, std) in zip(batch, scores, strict=True):
            if abs(mean) <= LARGEST:
                self.optimizer.tell(trial, mean, noise=std if noise else None)
            else:
                self.optimizer.tell(trial, error=f"a score of {mean}")


def _listed(space: Any) -> list[Any]:
    if not isinstance(space, list):
        return [space]
    if not space:
        raise InvalidInput("a list of spaces must have at least one; got none.")
    return space


def _joined(parts: list[_Part]) -> list[_Part]:
    """Several spaces as one, in which a further parameter says to which a point belongs; all of them if that is
    impossible."""
    if len(parts) == 1 or not all(part.is_plain for part in parts):
        return parts
    parameters: dict[str, Any] = {_WHICH: Categorical(range(len(parts)))}
    lists, names = dict[str, list[Any]](), dict[str, str]()
    for i, part in enumerate(parts):
        ours = {name: f"{i}: {name}" for name in part.space.names}
        given: Mapping[str, Any] = part.space.parameters
        for name, parameter in given.items():
            same = [one for one in names if names[one] == name and part.lists.get(name) is lists.get(one) is None]
            twin = next((one for one in same if parameter == replace(parameters[one], when=None)), None)
            if twin is not None:
                parameters[twin] = replace(parameter, when={_WHICH: [*parameters[twin].when[_WHICH], i]})
                continue
            one, when = ours[name], {ours[parent]: values for parent, values in (parameter.when or {}).items()}
            parameters[one] = replace(parameter, when={_WHICH: [i], **when})
            names[one] = name
            if name in part.lists:
                lists[one] = part.lists[name]
    return [_Part(Space(parameters), lists, names)]


def _best(results: Mapping[str, Any] | None, refit: Any) -> str:
    """The best candidate so far, in words."""
    means = np.array([mean for mean, _ in _scores(results, refit)] if results else [math.nan])
    if not np.isfinite(means).any() or results is None:
        return "none with a score yet"
    best = int(np.nanargmax(means))
    said = ", ".join(f"{name}={shown(value)}" for name, value in results["params"][best].items())
    return f"best {means[best]:.6g} at {said}"


def _ask(optimizer: Optimizer, q: int) -> Batch | None:
    """A batch of ``q`` points, or of the points that a finite space has left; None if there are none."""
    try:
        return optimizer.ask(q)
    except SpaceExhausted as error:
        return optimizer.ask(error.left) if error.left else None


def _scores(results: Mapping[str, Any], refit: Any) -> list[tuple[float, float | None]]:
    """The means over folds and their standard errors, of the metric that ``refit`` names, or else of the first."""
    names = [key.removeprefix("mean_test_") for key in results if key.startswith("mean_test_")]
    name = refit if isinstance(refit, str) and refit in names else names[0]
    folds = next(i for i in count() if f"split{i}_test_{name}" not in results)
    means, stds = results[f"mean_test_{name}"], results[f"std_test_{name}"]
    return [
        (float(m), float(s) / math.sqrt(folds - 1) if folds > 1 else None) for m, s in zip(means, stds, strict=True)
    ]


def survived(error: ValueError, error_score: Any) -> ValueError:
    """Warn that all fits of a batch have failed; anything else, or any failure with ``error_score="raise"``, is raised.

    Parameters
    ----------
    error : what the evaluation of the batch raised.
    error_score : of the search.
    """
    if error_score == "raise" or not re.match(r"\s*All the \d+ fits failed", str(error)):
        raise error
    warnings.warn(f"{error}\nThe search goes on without this batch.", FitFailedWarning, stacklevel=3)
    return error


@dataclass(slots=True, eq=False)
class SameFolds:
    """A splitter that splits only once, because one that shuffles would give each batch other folds."""

    cv: Any
    classifier: bool
    splits: list[Any] = field(default_factory=list)

    def split(self, X: Any, y: Any = None, **params: Any) -> list[Any]:
        self.splits = self.splits or list(check_cv(self.cv, y, classifier=self.classifier).split(X, y, **params))
        return self.splits


def _bounded(name: str, value: Any) -> Any:
    """Convert a distribution of SciPy to the parameter with its bounds; return anything else unchanged."""
    if not hasattr(value, "rvs"):
        return value
    kind = getattr(getattr(value, "dist", None), "name", type(value).__name__)
    if kind in ("uniform", "loguniform", "reciprocal", "randint"):
        low, high = value.support()
        if kind == "randint":
            return Int(int(low), int(high))
        if kind == "uniform" or math.isclose(value.median(), math.sqrt(low) * math.sqrt(high), rel_tol=1e-6):  # no loc
            return Float(float(low), float(high), log=kind != "uniform")
    raise InvalidInput(
        f"a distribution must be uniform, loguniform or randint, which have bounds; got {kind} for {name!r}. Pass "
        "Float(low, high), Float(low, high, log=True) or Int of believer."
    )


def _part(space: Any) -> _Part:
    """Convert one space that the user passed."""
    if isinstance(space, Space):
        return _Part(space, {}, {name: name for name in space.names})
    if not isinstance(space, Mapping):
        raise InvalidInput(f"space must be a believer.Space or a dict; got {shown(space)}.")
    space = {name: _bounded(name, value) for name, value in space.items()}
    lists = {name: list(value) for name, value in space.items() if isinstance(value, list | np.ndarray)}
    for name, value in space.items():
        if isinstance(value, tuple | Set | range):
            raise InvalidInput(
                f"a range is Float(low, high) or Int(low, high) of believer, and choices are a list; got "
                f"{shown(value)} for {name!r}, which may be meant as either."
            )
        if not lists.get(name, True):
            raise InvalidInput(f"choices must be a list of at least one value; got none for {name!r}.")
    numbered = {name: Categorical(range(len(values))) for name, values in lists.items()}
    return _Part(Space({**space, **numbered}), lists, {name: name for name in space})
