"""A search like RandomizedSearchCV: scikit-learn's own checks, its attributes, and what the model is told."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from each import each

import believer as bv
from believer.errors import InvalidInput

pytest.importorskip("sklearn", minversion="1.6")  # whose checks may be expected to fail

from joblib import parallel_config
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.datasets import load_iris
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from believer.integrations import sklearn as door
from believer.integrations.sklearn import BatchSearchCV

X, y = load_iris(return_X_y=True)
LOG = bv.Float(1e-3, 1e3, log=True)
SVM = {"C": LOG, "gamma": LOG}


def excepted(search: Any) -> dict[str, str]:
    """One of the two checks that scikit-learn excepts its own searches from; the other one passes."""
    if isinstance(search.estimator, Ridge):
        return {"check_supervised_y_2d": "expects a warning that the estimator within, which takes such y, never gives"}
    return {}


def searching(estimator: Any, space: Any = None, **options: Any) -> BatchSearchCV:
    defaults = {"n_iter": 6, "q": 3, "cv": 2, "random_state": 0}
    return BatchSearchCV(estimator, SVM if space is None else space, **(defaults | options))


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [
        searching(Ridge(), {"alpha": bv.Float(0.1, 1.0)}, n_iter=3, error_score="raise"),
        searching(LogisticRegression(), {"C": bv.Float(0.1, 1.0)}, n_iter=3, error_score="raise"),
    ],
    expected_failed_checks=excepted,
)
def test_scikit_learns_checks_of_estimators(estimator: Any, check: Callable[[Any], None]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


def test_it_is_used_as_a_randomized_search_is() -> None:
    search = searching(SVC(), n_iter=10, q=4, return_train_score=True).fit(X, y)
    results = search.cv_results_
    assert len(results["params"]) == 10
    assert results["batch"].tolist() == [0] * 4 + [1] * 4 + [2] * 2
    assert all(results["provenance"])
    assert search.best_params_ == results["params"][search.best_index_]
    assert search.best_score_ == results["mean_test_score"].max() > 0.9
    assert results["rank_test_score"][search.best_index_] == 1
    assert search.best_params_["C"] == search.best_estimator_.C
    assert search.score(X, y) == search.best_estimator_.score(X, y)
    assert is_classifier(search)
    assert "mean_train_score" in results
    assert set(results["param_C"]) == {params["C"] for params in results["params"]}


def test_it_finds_better_than_random_candidates() -> None:
    def error(strategy: str | None, seed: int) -> float:
        noisy = make_pipeline(StandardScaler(), SVC())
        space = {"svc__C": LOG, "svc__gamma": bv.Float(1e-6, 1e2, log=True)}
        search = searching(noisy, space, n_iter=20, q=4, cv=3, strategy=strategy, random_state=seed, refit=False)
        return float(np.mean(np.sort(-search.fit(X, y).cv_results_["mean_test_score"])[:10]))

    assert sum(error(None, seed) < error("random", seed) for seed in range(5)) >= 4


def test_the_same_random_state_gives_the_same_search() -> None:
    def trace(random_state: Any, n_jobs: int | None = None) -> Any:
        search = searching(SVC(), n_iter=8, random_state=random_state, n_jobs=n_jobs)
        with parallel_config("threading"):
            return search.fit(X, y).cv_results_["params"]

    assert trace(3) == trace(3) == trace(3, n_jobs=2) == trace(np.random.RandomState(3))
    assert trace(3) != trace(4)
    state = np.random.RandomState(3)
    assert trace(state) != trace(state)


def test_candidates_of_all_batches_meet_the_same_folds() -> None:
    repeated = searching(
        DecisionTreeClassifier(random_state=0), {"max_depth": bv.Int(1, 3)}, n_iter=3, q=1, cv=KFold(3, shuffle=True)
    )
    tested: list[tuple[int, ...]] = []

    def noted(estimator: Any, X: Any, y: Any) -> float:
        tested.append(tuple(X[:, 0]))
        return float(estimator.score(X, y))

    repeated.set_params(scoring=noted, refit=False).fit(X, y)
    assert tested[:3] == tested[3:6] == tested[6:]


def test_folds_that_can_be_had_only_once_are_enough() -> None:
    search = searching(SVC(), cv=KFold(3, shuffle=True, random_state=1).split(X)).fit(X, y)
    listed = searching(SVC(), cv=KFold(3, shuffle=True, random_state=1)).fit(X, y)
    assert search.cv_results_["mean_test_score"].tolist() == listed.cv_results_["mean_test_score"].tolist()


def told(monkeypatch: pytest.MonkeyPatch) -> list[tuple[float | None, float | None, str | None]]:
    """What optimizers are told from now on: value, noise, error."""
    heard: list[tuple[float | None, float | None, str | None]] = []

    class Listening(bv.Optimizer):
        def tell(
            self, trial: Any, value: Any = None, *, noise: Any = None, error: Any = None, params: Any = None
        ) -> None:
            heard.append((value, noise, error))
            super().tell(trial, value, noise=noise, error=error, params=params)

    monkeypatch.setattr(door, "Optimizer", Listening)
    return heard


def test_the_model_is_told_the_mean_over_folds_and_its_standard_error(monkeypatch: pytest.MonkeyPatch) -> None:
    heard = told(monkeypatch)
    results = searching(SVC(), cv=4, noise=True).fit(X, y).cv_results_
    values, stds, _ = zip(*heard, strict=True)
    assert list(values) == pytest.approx(results["mean_test_score"])
    assert list(stds) == pytest.approx(results["std_test_score"] / np.sqrt(3))
    heard.clear()
    searching(SVC(), cv=4, noise=False).fit(X, y)
    searching(SVC(), cv=ShuffleSplit(1, random_state=0), noise=True).fit(X, y)
    assert {noise for _, noise, _ in heard} == {None}


SCORES = {"accuracy": "accuracy", "loss": "neg_log_loss"}


@pytest.mark.parametrize(
    ("refit", "learned"),
    [("loss", "loss"), ("accuracy", "accuracy"), (lambda results: results["mean_test_loss"].argmax(), "accuracy")],
)
def test_with_several_scores_the_model_learns_from_the_one_that_refit_names(
    refit: Any, learned: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = told(monkeypatch)
    search = searching(LogisticRegression(max_iter=1000), {"C": LOG}, scoring=SCORES, refit=refit).fit(X, y)
    assert [value for value, _, _ in heard] == pytest.approx(search.cv_results_[f"mean_test_{learned}"])
    assert search.best_params_ == search.cv_results_["params"][search.best_index_]
    if callable(refit):
        assert search.best_index_ == refit(search.cv_results_)


class Fussy(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Fits only where ``x`` is below ``limit``; the best is just below."""

    def __init__(self, x: float = 0.0, limit: float = 0.5, says: str = "too large") -> None:
        self.x = x
        self.limit = limit
        self.says = says

    def fit(self, X: Any, y: Any) -> Fussy:
        if self.x >= self.limit:
            raise ValueError(self.says)
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.classes_[0])

    def score(self, X: Any, y: Any) -> float:
        return self.x


UNIT = {"x": bv.Float(0.0, 1.0)}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning", "ignore:One or more of the test scores")
def test_failed_fits_are_failures_to_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    heard = told(monkeypatch)
    search = searching(Fussy(), UNIT, n_iter=16, q=4).fit(X, y)
    failed = [error for _, _, error in heard if error is not None]
    assert 0 < len(failed) < 10
    assert np.isnan(search.cv_results_["mean_test_score"]).sum() <= len(failed)
    assert 0.4 < search.best_score_ < 0.5


def test_a_batch_that_fails_as_a_whole_does_not_end_the_search() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search = searching(Fussy(limit=0.3), UNIT, n_iter=12, q=1).fit(X, y)
    listed = len(search.cv_results_["params"])
    assert sum(w.category is FitFailedWarning for w in caught) == 12 - listed > 0
    assert search.best_score_ < 0.3


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.parametrize("q", [1, 4])
def test_a_search_in_which_nothing_works_says_what_scikit_learn_says(q: int) -> None:
    with pytest.raises(ValueError, match="fits failed"):
        searching(Fussy(limit=-1.0), UNIT, n_iter=20, q=q).fit(X, y)
    with pytest.raises(ValueError, match="too large"):
        searching(Fussy(limit=-1.0), UNIT, error_score="raise").fit(X, y)


@pytest.mark.parametrize("says", ["3 fits failed", "All the 2 fits failed"])
def test_an_error_that_is_to_be_raised_is_raised_whatever_it_says(says: str) -> None:
    with pytest.raises(ValueError, match=says):
        searching(Fussy(limit=0.3, says=says), UNIT, n_iter=12, q=1, error_score="raise").fit(X, y)


def test_another_error_than_of_all_fits_ends_the_search() -> None:
    class Torn(KFold):  # type: ignore[misc]
        def split(self, *args: Any, **params: Any) -> Any:
            raise ValueError("the fits failed to split")

    with pytest.raises(ValueError, match="failed to split"):
        searching(SVC(), cv=Torn(2)).fit(X, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_a_number_for_failed_fits_is_for_batches_in_which_some_fit_works() -> None:
    search = searching(Fussy(limit=0.3), UNIT, n_iter=12, q=1, error_score=-1.0).fit(X, y)
    assert len(search.cv_results_["params"]) < 12
    assert search.cv_results_["mean_test_score"].min() >= 0.0
    search = searching(Fussy(limit=0.3), UNIT, n_iter=12, q=6, error_score=-1.0).fit(X, y)
    assert search.cv_results_["mean_test_score"].min() == -1.0


def test_a_score_may_be_named_as_the_end_of_another() -> None:
    scoring = {"b": "accuracy", "hold_test_b": "f1_macro"}
    search = searching(SVC(), scoring=scoring, refit="b").fit(X, y)
    assert search.best_score_ == search.cv_results_["mean_test_b"].max()


def test_a_finite_space_is_tried_once_through() -> None:
    with pytest.warns(UserWarning, match="5 points, fewer than n_iter=20"):
        search = searching(KNeighborsClassifier(), {"n_neighbors": bv.Int(1, 5)}, n_iter=20, q=3).fit(X, y)
    assert sorted(params["n_neighbors"] for params in search.cv_results_["params"]) == [1, 2, 3, 4, 5]


def test_lists_hold_any_objects_and_names_reach_into_pipelines() -> None:
    pipeline = make_pipeline(StandardScaler(), SVC())
    scalers = [StandardScaler(), MinMaxScaler(feature_range=(-1, 1)), "passthrough"]
    search = searching(pipeline, {"standardscaler": scalers, "svc__C": LOG, "svc__kernel": ["rbf", "linear"]}).fit(X, y)
    assert {type(p["standardscaler"]) for p in search.cv_results_["params"]} <= {StandardScaler, MinMaxScaler, str}
    assert search.best_params_["svc__C"] == search.best_estimator_.named_steps["svc"].C


def test_a_space_with_a_constraint() -> None:
    space = bv.Space(SVM, constraint=lambda p: p["C"] * p["gamma"] < 1.0)
    for params in searching(SVC(), space).fit(X, y).cv_results_["params"]:
        assert params["C"] * params["gamma"] < 1.0


def test_groups_reach_the_splitter() -> None:
    groups = np.arange(len(y)) % 5
    search = searching(SVC(), cv=GroupKFold(5)).fit(X, y, groups=groups)
    assert search.n_splits_ == 5
    with pytest.raises(ValueError, match="groups"):
        searching(SVC(), cv=GroupKFold(5)).fit(X, y)


def test_it_is_cloned_pickled_and_set() -> None:
    search = searching(SVC(), bv.Space(SVM), surrogate=bv.GP(), strategy="kb")
    twin = pickle.loads(pickle.dumps(clone(search))).set_params(estimator__tol=1e-4, q=2)
    assert twin.get_params()["space"] == bv.Space(SVM)
    assert (twin.q, twin.estimator.tol, search.q) == (2, 1e-4, 3)
    fitted = pickle.loads(pickle.dumps(twin.fit(X, y)))
    assert (fitted.predict(X) == twin.predict(X)).all()
    with pytest.raises(NotFittedError):
        clone(fitted).predict(X)


@each(
    ("space", "options", "says"),
    [
        ([1.0], {}, "a believer.Space or a dict"),
        ({"C": "loguniform"}, {}, "'C'"),
        ({"C": []}, {}, "choices.*none for 'C'"),
        ({"C": (1e-3, 1e3)}, {}, r"Float\(low, high\).*a list; got \(0.001, 1000.0\) for 'C'"),
        ({"C": {1, 2}}, {}, "a list.*'C'"),
        ({"C": range(1, 4)}, {}, r"Int\(low, high\).*'C'"),
        (SVM, {"q": 0}, "q must be"),
        (SVM, {"n_iter": 0}, "n_iter must be"),
        (SVM, {"strategy": "best"}, "strategy"),
    ],
)
def test_what_breaks_a_rule_is_refused_by_fit(space: Any, options: Any, says: str) -> None:
    search = searching(SVC(), space, **options)
    with pytest.raises(InvalidInput, match=says):
        search.fit(X, y)


def test_distributions_with_bounds_are_searched_within_them_and_others_are_refused() -> None:
    from scipy.stats import loguniform, norm, randint, uniform

    space = {"C": loguniform(1e-2, 1e2), "degree": randint(2, 4), "tol": uniform(1e-4, 1e-2)}
    search = BatchSearchCV(SVC(), space, n_iter=12, q=4, random_state=0, cv=2).fit(X, y)
    C, degree, tol = (np.array(search.cv_results_[f"param_{name}"], dtype=float) for name in space)
    assert ((C >= 1e-2) & (C <= 1e2)).all()
    assert (C < 1.0).any()
    assert set(degree) == {2, 3}
    assert ((tol >= 1e-4) & (tol <= 1e-4 + 1e-2)).all()
    for refused in (norm(0, 1), loguniform(1e-2, 1e2, loc=1.0)):
        with pytest.raises(InvalidInput, match="'C'"):
            BatchSearchCV(SVC(), {"C": refused}).fit(X, y)


def test_a_list_of_dicts_is_one_space_and_a_candidate_has_the_names_of_one_of_them() -> None:
    nested = bv.Space(
        {
            "kernel": bv.Categorical(["rbf", "sigmoid"]),
            "gamma": bv.Float(1e-4, 1.0, log=True, when={"kernel": "rbf"}),
            "C": bv.Float(0.1, 10.0),
        }
    )
    spaces: list[Any] = [
        {"C": bv.Float(0.1, 10.0), "kernel": ["linear"]},
        nested,
        {"C": bv.Float(1.0, 2.0), "degree": bv.Int(2, 3), "kernel": ["poly"]},
    ]
    search = BatchSearchCV(SVC(), spaces, n_iter=28, q=4, random_state=0, cv=2).fit(X, y)
    wanted = {
        "linear": {"C", "kernel"},
        "rbf": {"C", "kernel", "gamma"},
        "sigmoid": {"C", "kernel"},
        "poly": {"C", "kernel", "degree"},
    }
    params = search.cv_results_["params"]
    assert {each["kernel"] for each in params} == {*wanted}
    assert all(each.keys() == wanted[each["kernel"]] for each in params)
    assert all(1.0 <= each["C"] <= 2.0 for each in params if each["kernel"] == "poly")
    counts = [sum(each["kernel"] == kernel for each in params) for kernel in wanted]
    best = {kernel: max(scores_of(search, kernel)) for kernel in wanted}
    assert counts[[*wanted].index(min(best, key=best.__getitem__))] < max(counts)  # the budget goes to what is good


def scores_of(search: BatchSearchCV, kernel: str) -> list[float]:
    found = zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True)
    return [float(score) for params, score in found if params["kernel"] == kernel]


def test_spaces_with_rules_take_turns_and_the_best_so_far_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    spaces: list[Any] = [
        bv.Space({"C": bv.Float(0.1, 10.0), "kernel": bv.Categorical(["rbf"])}, constraint=lambda p: p["C"] < 9.0),
        {"degree": [2, 3], "kernel": ["poly"]},  # has two points
    ]
    search = BatchSearchCV(SVC(), spaces, n_iter=8, q=2, random_state=0, cv=2, verbose=1).fit(X, y)
    kernels = [params["kernel"] for params in search.cv_results_["params"]]
    assert kernels == ["rbf"] * 2 + ["poly"] * 2 + ["rbf"] * 4
    printed = [line for line in capsys.readouterr().out.splitlines() if "[BatchSearchCV]" in line]
    assert len(printed) == 4
    assert f"{search.best_score_:.6g}" in printed[-1]
    with pytest.raises(InvalidInput, match="spaces"):
        BatchSearchCV(SVC(), []).fit(X, y)


def test_it_prints_what_it_fits(capsys: pytest.CaptureFixture[str]) -> None:
    searching(SVC(), verbose=1).fit(X, y)
    assert capsys.readouterr().out.count("Fitting 2 folds for each of 3 candidates, totalling 6 fits") == 2
