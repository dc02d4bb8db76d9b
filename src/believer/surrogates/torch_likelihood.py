"""The marginal likelihood of gp_likelihood.py on a device of PyTorch, with the same symbols and formulas, as matrix
products."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from believer.arrays import Array, IntArray
from believer.surrogates.gp_fit import Hyperparameters
from believer.surrogates.gp_likelihood import Likelihood, LikelihoodOf, summed
from believer.surrogates.torch_device import correlation, on_device, pytorch, to_host


def likelihood_on(device: Any) -> LikelihoodOf:
    """:func:`~believer.surrogates.gp_likelihood.log_likelihood`, computed on a ``device``."""
    return partial(_log_likelihood, device)


def _log_likelihood(
    device: Any,
    kernel: str,
    X: Array,
    y: Array,
    theta: Array,
    noise: float | None,
    mean_std: float | None = None,
    known: Array | None = None,
    groups: IntArray | None = None,
) -> Likelihood:
    torch, n, s = pytorch(), len(X), len(theta) - (2 if noise is None else 1)
    scaled = on_device(X / np.exp(theta[:s] if groups is None else theta[groups]), device)
    target, noise_variance = on_device(y, device), float(np.exp(theta[s + 1])) if noise is None else noise
    hyper = Hyperparameters(kernel, np.ones(X.shape[1]), float(np.exp(theta[s])), noise_variance)
    K, h = correlation(hyper, scaled, scaled, slope=True)
    beyond = target.new_zeros(n) if known is None else on_device(known, device)
    K.diagonal()[:] = hyper.signal + noise_variance + beyond
    L, info = torch.linalg.cholesky_ex(K)
    if int(info) != 0:
        return Likelihood(-np.inf, np.zeros_like(theta), 0.0, np.zeros((len(theta), len(theta))))
    inverse = torch.cholesky_inverse(L)
    ones = inverse.sum(dim=1)
    spread = math.inf if mean_std is None else float(ones.sum()) + mean_std**-2.0
    mean = float(ones @ target) / spread
    target = target - mean
    alpha = inverse @ target
    value = -0.5 * float(target @ alpha) - float(L.diagonal().log().sum()) - 0.5 * n * math.log(2.0 * math.pi)
    if mean_std is not None:
        value -= 0.5 * (mean / mean_std) ** 2

    # K_j α for every θ_j, and from these the average information.
    ends = torch.cat([torch.ones_like(scaled[:, :1]), scaled, scaled.square()], dim=1) * alpha[:, None]
    product, d = h @ ends, X.shape[1]
    moved = scaled.square() * product[:, :1] - 2.0 * scaled * product[:, 1 : d + 1] + product[:, d + 1 :]
    nugget = noise_variance + beyond
    V = torch.cat([moved, (target - nugget * alpha)[:, None], (noise_variance * alpha)[:, None]], dim=1)
    U, along = to_host(V.T @ (inverse @ V)), to_host(V.T @ ones)
    information = 0.5 * (U - np.multiply.outer(along, along) / spread)
    # Columns that share a lengthscale add up, in both directions.
    columns = [*(range(d) if groups is None else groups), s, s + 1]
    share = np.zeros((len(columns), s + 2))
    share[np.arange(len(columns)), columns] = 1.0
    information = (share.T @ information @ share)[: len(theta), : len(theta)]

    square, trace = float(alpha @ alpha), float(inverse.diagonal().sum())
    by_signal = 0.5 * (float(target @ alpha) - noise_variance * square - n + noise_variance * trace)
    by_signal -= 0.5 * float(beyond @ (alpha.square() - inverse.diagonal()))
    by_noise = 0.5 * noise_variance * (square - trace)
    M = (torch.outer(alpha, alpha) - inverse) * h
    by_length = (scaled.square() * M.sum(dim=1, keepdim=True) - scaled * (M @ scaled)).sum(dim=0)
    gradient = np.append(summed(to_host(by_length), groups, s), [by_signal, by_noise])[: len(theta)]
    return Likelihood(value, gradient, mean, information)
