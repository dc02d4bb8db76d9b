"""BoTorch as the judge of what needs several outputs: limits beside an improvement, and hypervolumes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from each import each

from believer.acquisitions import LogEI
from believer.acquisitions.feasibility import Limits
from believer.acquisitions.hypervolume import Edges, boxes, hypervolume
from believer.acquisitions.joint_improvement import JointImprovement, Softness
from believer.acquisitions.joint_limit import JointLimit
from believer.arrays import Array, frozen
from believer.numerics.sampling import normal_sobol
from believer.surrogates.gp import GPModel, posterior
from believer.surrogates.gp_fit import Hyperparameters

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torch = pytest.importorskip("torch")
    pytest.importorskip("botorch")
    from botorch.acquisition import qLogExpectedImprovement
    from botorch.acquisition.analytic import LogConstrainedExpectedImprovement
    from botorch.acquisition.multi_objective.analytic import ExpectedHypervolumeImprovement
    from botorch.acquisition.objective import GenericMCObjective
    from botorch.models import SingleTaskGP
    from botorch.models.model import ModelList
    from botorch.sampling.list_sampler import ListSampler
    from botorch.sampling.normal import SobolQMCNormalSampler
    from botorch.utils.multi_objective.box_decompositions.non_dominated import FastNondominatedPartitioning
    from botorch.utils.multi_objective.hypervolume import Hypervolume
    from botorch.utils.testing import MockModel, MockPosterior
    from gpytorch.kernels import MaternKernel, ScaleKernel
    from gpytorch.likelihoods import FixedNoiseGaussianLikelihood
    from gpytorch.means import ZeroMean

pytestmark = pytest.mark.filterwarnings("ignore")


def predicting(mean: Any, std: Any) -> Any:
    """A model of BoTorch's with these independent outputs at m points, whatever the points."""
    return MockModel(MockPosterior(mean=mean[:, None, :], variance=std[:, None, :] ** 2))


def front_of(n: int, k: int) -> Array:
    Y = np.abs(np.random.default_rng(n + k).normal(size=(n, k)))
    front: Array = Y / np.linalg.norm(Y, axis=1, keepdims=True)
    return front


def predictions(m: int, k: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(m + k)
    return rng.normal(0.6, 0.5, (m, k)), np.exp(rng.uniform(-2.5, 0.5, (m, k)))


@each("k", [2, 3, 4])
@each("n", [0, 1, 7, 20])
def test_expected_hypervolume_improvements_are_those_of_botorch(k: int, n: int) -> None:
    front, reference = front_of(n, k), np.linspace(1.1, 1.3, k)
    mean, std = predictions(25, k)
    partitioning = FastNondominatedPartitioning(torch.tensor(-reference), torch.tensor(-front))
    m, s = (torch.tensor(a, requires_grad=True) for a in (mean, std))
    criterion = ExpectedHypervolumeImprovement(predicting(-m, s), (-reference).tolist(), partitioning)
    value = criterion(torch.zeros(25, 1, 1, dtype=torch.double)).log()
    value.sum().backward()
    found = Edges(*boxes(front, reference)).log_improvement(mean, std)
    # BoTorch does without logarithms, so that improvements below e^-20 are differences of rounded numbers there.
    judged = found.value > -20.0
    assert judged.sum() >= 20
    np.testing.assert_allclose(found.value[judged], value.detach().numpy()[judged], rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(found.by_mean[judged], m.grad.numpy()[judged], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found.by_std[judged], s.grad.numpy()[judged], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_hypervolumes_are_those_of_botorch(k: int) -> None:
    front, reference = front_of(15, k), np.linspace(1.1, 1.3, k)
    expected = Hypervolume(torch.tensor(-reference)).compute(torch.tensor(-front))
    assert hypervolume(front, reference) == pytest.approx(expected, rel=1e-12)


LIMITS = [(0.2, None), (None, 0.6), (-0.4, 0.5), (0.1, 0.101)]


@each("away", [0.0, 1.0, 30.0])
@each("limit", LIMITS, ids=repr)
def test_an_improvement_under_limits_is_that_of_botorch(limit: tuple[float | None, float | None], away: float) -> None:
    mean, std = predictions(25, 3)
    mean += away
    constraints = {1: limit, 2: (-0.2, 0.9)}
    criterion = LogConstrainedExpectedImprovement(
        predicting(torch.tensor(mean), torch.tensor(std)), 0.3, 0, constraints, maximize=False
    )
    expected = criterion(torch.zeros(25, 1, 1, dtype=torch.double)).numpy()
    low, high = limit
    within = Limits(-np.inf if low is None else low, np.inf if high is None else high)
    value = LogEI().pointwise(mean[:, 0], std[:, 0], 0.3).value + within.pointwise(mean[:, 1], std[:, 1]).value
    value += Limits(-0.2, 0.9).pointwise(mean[:, 2], std[:, 2]).value
    # Of narrow limits far out BoTorch takes a difference of logarithms, which costs it digits.
    np.testing.assert_allclose(value, expected, rtol=1e-6)


D = 3


def ours(seed: int) -> GPModel:
    """Shift 0 and scale 1: both models see the same y."""
    X = np.random.default_rng(7).random((15, D))
    hyper = Hyperparameters("matern52", frozen(np.array([0.3, 0.5, 0.8])), signal=1.4, noise=1e-4)
    return posterior(hyper, X, np.sin((5.0 + seed) * X[:, 0]) + ((X - 0.5) ** 2).sum(axis=1), 0.0, 1.0)


def theirs(model: GPModel) -> Any:
    covariance = ScaleKernel(MaternKernel(2.5, ard_num_dims=D)).double()
    covariance.outputscale = torch.tensor(model.hyper.signal, dtype=torch.double)
    covariance.base_kernel.lengthscale = torch.tensor(model.hyper.lengthscales.copy())
    X, y = torch.tensor(model.X.copy()), torch.tensor(model.y.copy())[:, None]
    noise = FixedNoiseGaussianLikelihood(torch.full((len(X),), model.hyper.noise, dtype=torch.double))
    return SingleTaskGP(
        X, y, likelihood=noise, covar_module=covariance, mean_module=ZeroMean(), outcome_transform=None
    ).eval()


@each("fat", [True, False])
@each("eta", [1e-3, 0.2])
@each("q", [1, 3])
def test_a_joint_improvement_under_limits_is_that_of_botorch(q: int, eta: float, fat: bool) -> None:
    models, target = [ours(j) for j in range(3)], 0.2
    rng = np.random.default_rng(q)
    X, normals = rng.random((5, q, D)), [normal_sobol(64, q, rng) for _ in models]
    limits = (
        JointLimit(models[1], Limits(-0.3, 0.8), normals[1], softness=eta),
        JointLimit(models[2], Limits(high=0.5), normals[2], softness=eta),
    )
    objective = JointImprovement(models[0], target, normals[0], np.zeros((0, D)), Softness(fat=fat), limits=limits)
    value, gradient = objective.value_with_gradient(X.reshape(5, -1))
    samplers = [SobolQMCNormalSampler(torch.Size([64])) for _ in models]
    for sampler, drawn in zip(samplers, normals, strict=True):
        sampler.base_samples = torch.tensor(drawn)[:, None, :]
    criterion = qLogExpectedImprovement(
        ModelList(*[theirs(model) for model in models]),
        torch.tensor(-target, dtype=torch.double),
        ListSampler(*samplers),
        objective=GenericMCObjective(lambda Y, X=None: -Y[..., 0]),
        constraints=[lambda Y: -0.3 - Y[..., 1], lambda Y: Y[..., 1] - 0.8, lambda Y: Y[..., 2] - 0.5],
        eta=eta,
        fat=fat,
    )
    points = torch.tensor(X, requires_grad=True)
    expected = criterion(points)
    expected.sum().backward()
    np.testing.assert_allclose(value, expected.detach().numpy(), rtol=1e-6)
    slope = points.grad.numpy()
    np.testing.assert_allclose(gradient.reshape(slope.shape), slope, rtol=1e-5, atol=1e-6 * np.abs(slope).max())
