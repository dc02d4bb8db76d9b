"""Scripts of the kinds in scikit-optimize's gallery run with the import swapped, and what they import is here."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each import each

from believer.errors import InvalidInput
from believer.integrations import skopt
from believer.integrations.skopt import benchmarks
from believer.integrations.skopt.space import Categorical, Integer, Real

SCRIPTS = {
    "a noisy function of one number, and the model": """
        import numpy as np
        from skopt import gp_minimize
        from skopt.plots import plot_convergence, plot_gaussian_process

        rng = np.random.RandomState(0)

        def f(x, noise_level=0.1):
            return np.sin(5 * x[0]) * (1 - np.tanh(x[0] ** 2)) + rng.randn() * noise_level

        options = {"n_calls": 15, "n_random_starts": 5, "noise": 0.1**2, "random_state": 1234}
        res = gp_minimize(f, [(-2.0, 2.0)], acq_func="EI", **options)
        assert res.fun < -0.5
        plot_convergence(res)
        plot_gaussian_process(res, n_calls=8, objective=lambda x: f(x, 0.0))
    """,
    "hyperparameters of an estimator": """
        import numpy as np
        from sklearn.datasets import load_iris
        from sklearn.model_selection import cross_val_score
        from sklearn.tree import DecisionTreeClassifier
        from skopt import gp_minimize
        from skopt.space import Integer, Real
        from skopt.utils import use_named_args

        X, y = load_iris(return_X_y=True)
        tree = DecisionTreeClassifier(random_state=0)
        space = [Integer(1, 5, name="max_depth"), Real(0.01, 0.5, "log-uniform", name="min_samples_split")]

        @use_named_args(space)
        def objective(**params):
            tree.set_params(**params)
            return -np.mean(cross_val_score(tree, X, y, cv=3))

        res = gp_minimize(objective, space, n_calls=12, random_state=0)
        assert res.fun < -0.9
    """,
    "ask and tell, in parallel": """
        from joblib import Parallel, delayed
        from skopt import Optimizer
        from skopt.benchmarks import branin
        from skopt.learning import ExtraTreesRegressor
        from skopt.space import Real

        for estimator in ("GP", ExtraTreesRegressor(random_state=2)):
            optimizer = Optimizer([Real(-5.0, 10.0), Real(0.0, 15.0)], estimator, random_state=1, n_initial_points=4)
            for i in range(3):
                x = optimizer.ask(n_points=4)
                y = Parallel(n_jobs=1)(delayed(branin)(v) for v in x)
                optimizer.tell(x, y)
            assert min(optimizer.yi) < 20.0
            optimizer.update_next()
            assert optimizer.ask() in optimizer.space
    """,
    "interrupted and taken up": """
        from skopt import gp_minimize, load
        from skopt.benchmarks import bench1
        from skopt.callbacks import CheckpointSaver

        saver = CheckpointSaver("./c.pkl")
        gp_minimize(bench1, [(-2.0, 2.0)], n_calls=8, n_initial_points=5, callback=[saver], random_state=777)
        res = load("./c.pkl")
        before = {"x0": res.x_iters, "y0": res.func_vals}
        more = gp_minimize(bench1, [(-2.0, 2.0)], **before, n_calls=4, n_initial_points=1, random_state=777)
        assert len(more.x_iters) == 12
    """,
    "a search for an estimator, in several spaces": """
        from sklearn.datasets import load_iris
        from sklearn.model_selection import train_test_split
        from sklearn.pipeline import Pipeline
        from sklearn.svm import SVC, LinearSVC
        from skopt import BayesSearchCV
        from skopt.space import Categorical, Integer, Real

        X_train, X_test, y_train, y_test = train_test_split(*load_iris(return_X_y=True), random_state=0)
        svc = {
            "model": Categorical([SVC()]),
            "model__C": Real(1e-6, 1e6, prior="log-uniform"),
            "model__degree": Integer(1, 8),
            "model__kernel": Categorical(["linear", "poly", "rbf"]),
        }
        linear = {"model": [LinearSVC(dual=False)], "model__C": (1e-6, 1e6, "log-uniform")}
        opt = BayesSearchCV(
            Pipeline([("model", SVC())]),
            [(svc, 6), (linear, 4)],
            optimizer_kwargs={"base_estimator": "GP"},
            n_points=2,
            cv=3,
            random_state=0,
        )
        assert opt.total_iterations == 10
        seen = []
        opt.fit(X_train, y_train, callback=lambda result: seen.append(len(result.x_iters)))
        assert seen == [2, 4, 6, 2, 4]
        assert len(opt.cv_results_["params"]) == 10
        assert [len(result.x_iters) for result in opt.optimizer_results_] == [6, 4]
        assert opt.score(X_test, y_test) > 0.8
    """,
    "strategies compared, results drawn": """
        from functools import partial
        from skopt import dummy_minimize, forest_minimize, gbrt_minimize, gp_minimize
        from skopt.benchmarks import branin, hart6
        from skopt.plots import plot_convergence, plot_evaluations, plot_objective
        from skopt.sampler import Lhs, Sobol

        bounds = [(-5.0, 10.0), (0.0, 15.0)]
        runs = [dummy_minimize(branin, bounds, n_calls=12, random_state=0)]
        for search in (gp_minimize, forest_minimize, partial(gbrt_minimize, n_initial_points=8)):
            runs.append(search(branin, bounds, n_calls=12, random_state=4))
        plot_convergence(*[(str(i), run) for i, run in enumerate(runs)], true_minimum=0.397887, yscale="log")
        plot_evaluations(runs[1])
        plot_objective(runs[1], n_points=5, n_samples=10)
        points = Lhs(lhs_type="classic").generate([(0.0, 1.0)] * 6, 8, random_state=0)
        assert min(map(hart6, points + Sobol().generate([(0.0, 1.0)] * 6, 8, random_state=0))) < 0.0
    """,
}


@pytest.mark.parametrize("kind", SCRIPTS)
def test_a_script_of_the_gallery_runs_with_the_import_swapped(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for needed in ("sklearn", "matplotlib", "joblib"):
        pytest.importorskip(needed)
    monkeypatch.chdir(tmp_path)
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot as plt

    lines = [line[8:] for line in SCRIPTS[kind].splitlines()]
    code = re.sub(r"from skopt\b", "from believer.integrations.skopt", "\n".join(lines))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        exec(compile(code, kind, "exec"), {})
    plt.close("all")


def test_the_test_functions_have_their_minima() -> None:
    for x in ([-np.pi, 12.275], [np.pi, 2.275], [9.42478, 2.475]):
        assert benchmarks.branin(x) == pytest.approx(0.397887, abs=1e-5)
    assert benchmarks.hart6([0.20169, 0.15001, 0.476874, 0.275332, 0.311652, 0.6573]) == pytest.approx(
        -3.32237, abs=1e-5
    )
    assert (benchmarks.bench1([3]), benchmarks.bench2([5]), benchmarks.bench2([-2])) == (9, -5, 4)
    assert benchmarks.bench3([-0.3]) == pytest.approx(-0.9, abs=0.02)
    assert (benchmarks.bench4(["2"]), benchmarks.bench5(["2", 3])) == (4, 13)


def test_arguments_are_taken_by_place_as_there() -> None:
    made = skopt.Optimizer([(0.0, 1.0)], "GP", None, 3, "sobol", 1, "EI", "sampling", 0)
    assert [made.tell(x, x[0]).fun for x in [made.ask() for _ in range(3)]]
    with pytest.warns(DeprecationWarning, match="n_initial_points"):
        skopt.Optimizer([(0.0, 1.0)], "GP", 3)


def test_a_copy_goes_on_by_itself() -> None:
    first = skopt.Optimizer([(0.0, 1.0)], n_initial_points=2, random_state=0)
    for _ in range(3):
        first.tell(x := first.ask(), x[0] ** 2)
    other = first.copy()
    assert other.ask() == first.ask()
    other.tell([0.5], 0.25)
    assert (len(first.Xi), len(other.Xi)) == (3, 4)


def test_the_acquisition_function_may_be_changed_on_the_go() -> None:
    options: Any = {"n_initial_points": 3, "acq_func": "LCB", "random_state": 0}
    greedy, curious = (
        skopt.Optimizer([(0.0, 1.0)], **options, acq_func_kwargs={"kappa": kappa}) for kappa in (0.0, 1e5)
    )
    for optimizer in (greedy, curious):
        optimizer.tell([[x] for x in (0.0, 0.2, 0.3, 0.5)], [0.09, 0.01, 0.0, 0.04])
    near, far = greedy.ask(), curious.ask()
    assert abs(near[0] - far[0]) > 0.3
    greedy.acq_func_kwargs = {"kappa": 1e5}
    assert greedy.ask() == near
    greedy.update_next()
    assert greedy.ask() == far
    greedy.acq_func = "EIps"
    with pytest.raises(InvalidInput, match="acq_func"):
        greedy.update_next()


def test_a_design_may_be_cooked_and_given() -> None:
    cooked = skopt.utils.cook_initial_point_generator("lhs", lhs_type="classic", criterion=None)
    for design in (cooked, skopt.sampler.Lhs("classic", None)):
        points = [
            skopt.Optimizer([(0.0, 1.0)], initial_point_generator=one, random_state=0).ask(4) for one in (design, "lhs")
        ]
        assert points[0] == points[1]


def test_a_dimension_is_had_by_name_or_place() -> None:
    space = skopt.Space([Real(0.0, 1.0, name="rate"), Integer(1, 9)])
    assert space["rate"] == space[0] == (0, space.dimensions[0])
    assert space[["X_1", 0]] == [(1, space.dimensions[1]), (0, space.dimensions[0])]
    for name in ("depth", 2, -1, 0.5):
        with pytest.raises(InvalidInput, match="rate"):
            space[name]


@each(
    "spaces, error",
    [
        ({}, ValueError),
        ([], ValueError),
        ([{}], ValueError),
        (["C", (1.0, 1)], TypeError),
        ([({"C": (1.0, 2.0)}, -1)], ValueError),
        ([({"C": (1.0, 2.0)}, 0)], ValueError),
        ([({"C": (1.0, 2.0)}, 1.5)], ValueError),
        ({"C": "1 ... 100.0"}, ValueError),
        (3, TypeError),
    ],
)
def test_what_is_no_search_space_is_refused(spaces: Any, error: type[Exception]) -> None:
    svm = pytest.importorskip("sklearn.svm")
    with pytest.raises(error) as raised:
        skopt.BayesSearchCV(svm.SVC(), spaces)
    assert isinstance(raised.value, InvalidInput)


def test_a_search_goes_on_where_a_candidate_cannot_be_fitted() -> None:
    svm = pytest.importorskip("sklearn.svm")
    X, y = np.linspace(0.0, 1.0, 12)[:, None], np.arange(12) % 2
    options: dict[str, Any] = {"n_iter": 12, "cv": 2, "random_state": 0, "error_score": np.nan}
    search = skopt.BayesSearchCV(svm.SVC(), {"C": (-1.0, 1.0)}, **options)
    with pytest.warns(RuntimeWarning, match="goes on without"):
        search.fit(X, y)
    (result,) = search.optimizer_results_
    assert [x > 0.0 for (x,) in result.x_iters] == np.isfinite(result.func_vals).tolist()
    assert len(search.cv_results_["params"]) == np.isfinite(result.func_vals).sum() > 0
    assert search.best_params_["C"] > 0.0
    with pytest.warns(RuntimeWarning, match="goes on without"), pytest.raises(ValueError, match="fits failed"):
        skopt.BayesSearchCV(svm.SVC(), {"C": (-2.0, -1.0)}, **options).fit(X, y)


def test_a_search_is_cloned_and_made_again() -> None:
    base, svm = pytest.importorskip("sklearn.base"), pytest.importorskip("sklearn.svm")
    space = {"C": Real(0.1, 10.0), "degree": Integer(1, 3), "kernel": Categorical(["linear", "rbf"])}
    search = skopt.BayesSearchCV(svm.SVC(), space, n_iter=4, random_state=0, cv=2)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    again = base.clone(search).set_params(n_points=1)
    assert search.fit(X, y).best_params_ == again.fit(X, y).best_params_
    assert type(search.best_params_["C"]) is float
    objects = skopt.BayesSearchCV(svm.SVC(), {"estimator": Categorical([svm.SVC(), svm.LinearSVC()])})
    dim = base.clone(objects).search_spaces["estimator"]  # of other objects
    assert [dim.from_engine(dim.to_engine(each)) for each in dim.categories] == list(dim.categories)
    with pytest.raises(InvalidInput, match="callback"):
        search.fit(X, y, callback=3)
