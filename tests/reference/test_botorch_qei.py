"""BoTorch as the judge of q-EI and of its smoothed logarithm: same posterior, same base samples, same smoothing."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from each import each

from believer.acquisitions.joint_improvement import JointImprovement, Softness
from believer.arrays import Array, frozen
from believer.numerics.sampling import normal_sobol
from believer.surrogates.gp import GPModel, posterior
from believer.surrogates.gp_fit import Hyperparameters

pytestmark = pytest.mark.both_backends

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torch = pytest.importorskip("torch")
    pytest.importorskip("botorch")
    from botorch.acquisition import qExpectedImprovement, qLogExpectedImprovement
    from botorch.models import SingleTaskGP
    from botorch.sampling.normal import SobolQMCNormalSampler
    from gpytorch.kernels import MaternKernel, RBFKernel, ScaleKernel
    from gpytorch.likelihoods import FixedNoiseGaussianLikelihood
    from gpytorch.means import ZeroMean

pytestmark = pytest.mark.filterwarnings("ignore")
SMOOTHINGS = [
    None,
    Softness(),
    Softness(fat=False),
    Softness(improvement=1e-2, maximum=0.5),
    Softness(improvement=1e-2, maximum=0.5, fat=False),
]
D = 3


def ours(kernel: str, seed: int) -> GPModel:
    rng = np.random.default_rng(seed)
    X = rng.random((15, D))
    y = np.sin(5.0 * X[:, 0]) + ((X - 0.5) ** 2).sum(axis=1)
    hyper = Hyperparameters(kernel, frozen(np.array([0.3, 0.5, 0.8])), signal=1.4, noise=1e-4)
    # Shift 0 and scale 1: both models see the same y.
    return posterior(hyper, X, y, 0.0, 1.0)


def theirs(model: GPModel) -> Any:
    """The same posterior of -y, which BoTorch maximizes."""
    hyper = model.hyper
    smoothness = {"matern52": 2.5, "matern32": 1.5}
    shape = (
        RBFKernel(ard_num_dims=D) if hyper.kernel == "se" else MaternKernel(smoothness[hyper.kernel], ard_num_dims=D)
    )
    covariance = ScaleKernel(shape).double()
    covariance.outputscale = torch.tensor(hyper.signal, dtype=torch.double)
    covariance.base_kernel.lengthscale = torch.tensor(hyper.lengthscales.copy())
    X, y = torch.tensor(model.X.copy()), -torch.tensor(model.y.copy())[:, None]
    noise = torch.full((len(X),), hyper.noise, dtype=torch.double)
    built = SingleTaskGP(
        X,
        y,
        likelihood=FixedNoiseGaussianLikelihood(noise),
        covar_module=covariance,
        mean_module=ZeroMean(),
        outcome_transform=None,
    )
    return built.eval()


def judged(model: GPModel, smoothing: Softness | None, normals: Array, target: float, X: Array, after: Array) -> Any:
    """BoTorch's value (b,) and gradients of points ``X`` (b, q, d); its pending points ``after`` come last."""
    sampler = SobolQMCNormalSampler(torch.Size([len(normals)]))
    # Its samples are of -f: the same ones need base samples of the other sign.
    sampler.base_samples = torch.tensor(-normals)[:, None, :]
    built, best = theirs(model), torch.tensor(-target, dtype=torch.double)
    pending = torch.tensor(after) if len(after) else None
    if smoothing is None:
        criterion: Any = qExpectedImprovement(built, best, sampler, X_pending=pending)
    else:
        criterion = qLogExpectedImprovement(
            built,
            best,
            sampler,
            X_pending=pending,
            fat=smoothing.fat,
            tau_max=smoothing.maximum,
            tau_relu=smoothing.improvement,
        )
    points = torch.tensor(X, requires_grad=True)
    value = criterion(points)
    value.sum().backward()
    return value.detach().numpy(), points.grad.numpy()


@each("smoothing", SMOOTHINGS, ids=repr)
@each("kernel", ["matern52", "matern32", "se"])
@each("q", [1, 2, 4])
def test_values_and_gradients_are_those_of_botorch(smoothing: Softness | None, kernel: str, q: int) -> None:
    model = ours(kernel, q)
    rng = np.random.default_rng(q)
    X, normals, target = rng.random((5, q, D)), normal_sobol(64, q, rng), float(model.y.min()) + 0.1
    objective = JointImprovement(model, target, normals, np.zeros((0, D)), smoothing)
    value, gradient = objective.value_with_gradient(X.reshape(5, -1))
    expected, slope = judged(model, smoothing, normals, target, X, np.zeros((0, D)))
    np.testing.assert_allclose(value, expected, rtol=1e-6)
    np.testing.assert_allclose(gradient.reshape(slope.shape), slope, rtol=1e-6, atol=1e-7 * np.abs(slope).max())


@pytest.mark.parametrize("smoothing", SMOOTHINGS, ids=repr)
def test_pending_points_count_as_they_do_in_botorch(smoothing: Softness | None) -> None:
    model = ours("matern52", 7)
    rng = np.random.default_rng(7)
    before, X = rng.random((3, D)), rng.random((2, D))
    normals, target = normal_sobol(64, 5, rng), float(model.y.min()) + 0.1
    value = JointImprovement(model, target, normals, before, smoothing).value(X.reshape(1, -1))
    # BoTorch puts its pending points last, we put ours first; base samples belong to places in that order.
    expected, _ = judged(model, smoothing, normals, target, before[None], X)
    np.testing.assert_allclose(value, expected, rtol=1e-6)
