"""scikit-optimize's ``BayesSearchCV`` on the engine of this library."""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self

from believer.arrays import shown, whole
from believer.errors import InvalidInput, MissingExtra
from believer.integrations.skopt.optimizer import Optimizer, callbacks_of
from believer.integrations.skopt.space import check_dimension
from believer.integrations.skopt.utils import dimensions_aslist, point_asdict
from believer.space.scale import plain

try:
    from sklearn.base import is_classifier
    from sklearn.model_selection._search import BaseSearchCV
    from sklearn.utils import check_random_state
    from sklearn.utils.validation import check_is_fitted
except ImportError as error:
    raise MissingExtra("scikit-learn", "sklearn") from error

from believer.integrations.sklearn import SameFolds, survived

__all__ = ["BayesSearchCV"]


class WrongSpace(InvalidInput, TypeError):
    """Search spaces of a wrong type; scikit-optimize raises a TypeError for them."""


class BayesSearchCV(BaseSearchCV):  # type: ignore[misc]
    """Search for an estimator's parameters by cross-validation; all candidates are scored on the same folds.

    After ``fit`` it has the attributes of scikit-learn's searches, and ``optimizer_results_``, a result for each space.
    With another ``error_score`` than "raise", the default, a candidate that cannot be fitted is a failed trial. A batch
    in which no candidate could be fitted has no rows in ``cv_results_``.

    Parameters
    ----------
    estimator : the estimator to tune.
    search_spaces : a dict of names to dimensions, or a list of dicts and of pairs of a dict and its ``n_iter``.
    optimizer_kwargs : options of :class:`Optimizer`, by name.
    n_iter : the number of candidates in each space.
    scoring, n_jobs, refit, cv, verbose, pre_dispatch, error_score, return_train_score : as in scikit-learn.
    fit_params : for ``fit`` of the estimator.
    n_points : the number of candidates that are chosen and evaluated together.
    iid : ignored.
    random_state : an int makes a search reproducible.
    """

    def __init__(
        self,
        estimator: Any,
        search_spaces: Any,
        optimizer_kwargs: dict[str, Any] | None = None,
        n_iter: int = 50,
        scoring: Any = None,
        fit_params: dict[str, Any] | None = None,
        n_jobs: int | None = 1,
        n_points: int = 1,
        iid: Any = "deprecated",
        refit: Any = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: int | str = "2*n_jobs",
        random_state: Any = None,
        error_score: Any = "raise",
        return_train_score: bool = False,
    ) -> None:
        self.search_spaces = search_spaces
        self.n_iter = n_iter
        self.n_points = n_points
        self.random_state = random_state
        self.optimizer_kwargs = optimizer_kwargs
        self.fit_params = fit_params
        self.iid = iid
        _pairs(search_spaces, n_iter)
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

    @property
    def optimizer_results_(self) -> list[Any]:
        """The result of the search of each space."""
        check_is_fitted(self, "_results")
        return self._results

    @property
    def total_iterations(self) -> int:
        """The number of candidates that are tried in all spaces together."""
        return sum(n_iter for _, n_iter in _pairs(self.search_spaces, self.n_iter))

    def fit(self, X: Any, y: Any = None, *, groups: Any = None, callback: Any = None, **fit_params: Any) -> Self:
        """Search.

        Parameters
        ----------
        X, y, groups : the data, as for any search of scikit-learn.
        callback : a function of the result so far, or a list of them, called after each step; True ends the search.
        fit_params : for ``fit`` of the estimator.
        """
        self._callbacks = callbacks_of(callback)
        given = fit_params if groups is None else {"groups": groups, **fit_params}
        return super().fit(X, y, **{**(self.fit_params or {}), **given})  # type: ignore[no-any-return]

    def _run_search(self, evaluate_candidates: Callable[..., dict[str, Any]]) -> None:
        """Called by ``fit``: each space in turn."""
        rng, q = check_random_state(self.random_state), whole(self.n_points, "n_points", 1)
        folds = None if isinstance(self.cv, Iterable) else SameFolds(self.cv, is_classifier(self.estimator))
        self._results, results, failure = [], None, None
        for space, n_iter in _pairs(self.search_spaces, self.n_iter):
            options = {"random_state": rng.randint(2**31 - 1), **(self.optimizer_kwargs or {})}
            optimizer = Optimizer(_named(space), **options)
            result, left, ended = None, n_iter, False
            while left > 0 and not ended:
                points = optimizer.ask(n_points=min(q, left))
                left -= len(points)
                # Numbers of NumPy's become Python's: estimators check types.
                params = [point_asdict(space, [plain(value) for value in point]) for point in points]
                try:
                    results = evaluate_candidates(params, cv=folds)
                    scores = _scores(results, self.refit)[-len(points) :]
                except ValueError as error:
                    failure, scores = survived(error, self.error_score), [math.nan] * len(points)
                result = optimizer.tell(points, [-float(score) for score in scores])
                said = [call(result) for call in self._callbacks]  # all are called
                ended = any(said)
            self._results.append(result)
        if failure is not None and results is None:
            raise failure


def _pairs(spaces: Any, n_iter: int) -> list[tuple[Mapping[str, Any], int]]:
    """Each space and how many candidates are tried in it."""
    listed = [spaces] if isinstance(spaces, Mapping) else spaces
    if not isinstance(listed, list):
        raise WrongSpace(f"search_spaces must be a dict, or a list of dicts and pairs; got {shown(spaces)}.")
    pairs = [one if isinstance(one, tuple) else (one, n_iter) for one in listed]
    for pair in pairs:
        if len(pair) != 2 or not isinstance(pair[0], Mapping):
            raise WrongSpace(f"a search space must be a dict, or a pair of a dict and its n_iter; got {shown(pair)}.")
        whole(pair[1], "n_iter", 1)
        for dimension in pair[0].values():
            check_dimension(dimension)
    if not pairs or not all(space for space, _ in pairs):
        raise InvalidInput(f"search_spaces must have a dimension in each space; got {shown(spaces)}.")
    return pairs


def _named(space: Mapping[str, Any]) -> list[Any]:
    """Its dimensions, in the order of their names, each with a name."""
    found = [check_dimension(dimension) for dimension in dimensions_aslist(space)]
    for name, dim in zip(sorted(space), found, strict=True):
        dim.name = name if dim.name is None else dim.name
    return found


def _scores(results: Mapping[str, Any], refit: Any) -> Any:
    """Means over the folds, of the metric that ``refit`` names, else the only one."""
    names = [key for key in results if key.startswith("mean_test_")]
    chosen = f"mean_test_{refit}"
    if chosen not in names and len(names) > 1:
        raise InvalidInput(f"with several scores refit must name the one that decides; got {shown(refit)}.")
    return results[chosen if chosen in names else names[0]]
