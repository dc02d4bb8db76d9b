from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from believer.errors import InvalidInput
from believer.problems import PROBLEMS
from believer.space import Space
from believer.surrogates.data import Data
from believer.surrogates.gp import GPModel
from believer_paper.setup.process import Process, ProcessModel, box_of

BY = ("sklearn", "twin", "botorch")


def data(name: str = "levy10", n: int = 20) -> tuple[Space, Any, Any]:
    problem = PROBLEMS[name]()
    X = np.random.default_rng(3).random((n, problem.space.dim))
    return problem.space, X, problem.evaluate(X)


def raw(space: Space, X: Any) -> Any:
    low, high = box_of(space)
    return low + X * (high - low)


def test_predictions_are_those_of_scikit_learn_with_the_same_hyperparameters_in_raw_units() -> None:
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern

    space, X, y = data()
    model = Process(space).fit(Data(X, y), np.random.default_rng(0))
    assert isinstance(model, ProcessModel)
    low, high = box_of(space)
    told = model.condition(Data(X[:1] + 0.01, np.array([y.min() - 50.0])))
    for ours, points, values in ((model, X, y), (told, told.X, told.y)):
        kernel = ConstantKernel(ours.inner.hyper.signal) * Matern(ours.lengthscales * (high - low), nu=2.5)
        theirs = GaussianProcessRegressor(kernel, alpha=1e-6, normalize_y=True, optimizer=None)
        theirs.fit(raw(space, points), values)
        at = np.random.default_rng(1).random((30, space.dim))
        mean, std = theirs.predict(raw(space, at), return_std=True)
        found = ours.predict(at)
        np.testing.assert_allclose(found.mean, mean, rtol=1e-7, atol=1e-7 * y.std())
        np.testing.assert_allclose(found.std, std, rtol=1e-5, atol=1e-6 * y.std())


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of torch, when it is imported
def test_predictions_are_those_of_botorch_with_the_same_hyperparameters() -> None:
    torch = pytest.importorskip("torch")
    from botorch.models import SingleTaskGP

    space, X, y = data("hartmann6")
    model = Process(space, "botorch", renormalize=False).fit(Data(X, y), np.random.default_rng(0))
    assert isinstance(model, ProcessModel)
    hyper = model.inner.hyper
    theirs = SingleTaskGP(torch.as_tensor(X), torch.as_tensor(y)[:, None])
    theirs.covar_module.lengthscale = torch.as_tensor(hyper.lengthscales.copy())
    theirs.likelihood.noise = hyper.noise
    theirs.mean_module.constant.data.fill_(hyper.mean)
    theirs.eval()
    at = np.random.default_rng(1).random((30, space.dim))
    with torch.no_grad():
        posterior = theirs.posterior(torch.as_tensor(at))
    found = model.predict(at)
    np.testing.assert_allclose(found.mean, posterior.mean.numpy()[:, 0], rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(found.std, posterior.variance.sqrt().numpy()[:, 0], rtol=1e-4, atol=1e-6)


def test_the_twin_finds_a_likelihood_as_good_as_scikit_learn_does() -> None:
    space, X, y = data("hartmann6", 20)
    found = {}
    for by in ("sklearn", "twin"):
        model = Process(space, by).fit(Data(X, y), np.random.default_rng(0))
        assert isinstance(model, ProcessModel)
        found[by] = model.inner.log_marginal_likelihood()
    assert found["twin"] == pytest.approx(found["sklearn"], abs=1e-3)


def test_a_lie_renews_the_scaling_only_where_it_should() -> None:
    space, X, y = data("hartmann6")
    at, lie = X[:1] * 0.5, np.array([5.0])
    for renormalize in (True, False):
        model = Process(space, "twin", renormalize).fit(Data(X, y), np.random.default_rng(0))
        assert isinstance(model, ProcessModel)
        told = model.condition(Data(at, lie))
        assert (told.inner.scale == model.inner.scale) is not renormalize
        assert told.predict(at).mean[0] == pytest.approx(5.0, abs=0.05)
        assert len(told.y) == len(y) + 1


def test_with_gradients_the_plain_model_is_given_and_scaling_must_stay() -> None:
    space, X, y = data("hartmann6")
    assert isinstance(Process(space, "twin", False, True).fit(Data(X, y), np.random.default_rng(0)), GPModel)
    with pytest.raises(InvalidInput, match="renormalize=False"):
        Process(space, "twin", True, True)
    with pytest.raises(InvalidInput, match="by must be one of"):
        Process(space, "magic")


@pytest.mark.parametrize("by", BY)
def test_a_fit_depends_on_its_generator_alone_and_its_time_is_counted(by: str) -> None:
    space, X, y = data("hartmann6", 12)
    process = Process(space, by, renormalize=False)
    first, second = (process.fit(Data(X, y), np.random.default_rng(5)) for _ in range(2))
    assert isinstance(first, ProcessModel)
    assert isinstance(second, ProcessModel)
    np.testing.assert_array_equal(first.lengthscales, second.lengthscales)
    assert (process.watch.foreign > 0.0) == (by != "twin")


def test_only_plain_boxes_have_units_of_their_own() -> None:
    low, high = box_of(PROBLEMS["levy10"]().space)
    assert set(low) == {-10.0}
    assert set(high) == {10.0}
    low, high = box_of(PROBLEMS["svm_breast_cancer"]().space)
    assert set(low) == {0.0}
    assert set(high) == {1.0}
