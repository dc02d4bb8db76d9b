"""PyTorch: whether it is installed, the choice of the device, and the kernels as tensors."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from believer.arrays import Array
from believer.errors import InvalidInput, MissingExtra
from believer.surrogates.gp_fit import Hyperparameters

Tensor = Any
"""A tensor of PyTorch, whose types are not checked."""

_TINY = 1e-300
"""Added under a root, whose slope at zero is infinite; distances of that size do not occur."""


@lru_cache(maxsize=1)
def pytorch() -> Any:
    """The module torch; MissingExtra if it is not installed."""
    try:
        return import_module("torch")
    except ImportError as error:
        raise MissingExtra("PyTorch", "torch") from error


def available(name: str) -> tuple[Any, float | None]:
    """The device of that name ("auto" is a GPU if there is one), and the number of free bytes there.

    These are None if the system does not say.
    InvalidInput if there is no such device.
    """
    torch = pytorch()
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    device = torch.device(name)
    if device.type == "cpu":
        return device, _free_on_host()
    if not torch.cuda.is_available() or (device.index or 0) >= torch.cuda.device_count():
        raise InvalidInput(
            f'PyTorch finds no device {name!r} here. Use TorchGP(device="cpu"), or GP(), which is faster without a GPU.'
        )
    free, _ = torch.cuda.mem_get_info(device)
    kept = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return device, float(free + kept)


def _free_on_host() -> float | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    found = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return 1024.0 * float(found[0]) if found else None


def on_device(values: Array, device: Any) -> Tensor:
    """``values`` as a tensor of doubles on a device; it is a copy, so that later changes of ``values`` do not affect
    it."""
    return pytorch().tensor(np.ascontiguousarray(values, dtype=np.float64), device=device)


def to_host(values: Tensor) -> Array:
    """A tensor as a NumPy array."""
    array: Array = values.detach().cpu().numpy()
    return array


def correlation(hyper: Hyperparameters, A: Tensor, B: Tensor, slope: bool = False) -> tuple[Tensor, Tensor]:
    """σ_f² k and, with ``slope``, σ_f² h (kernels.py) between rows of ``A`` (..., m, d) and ``B`` (..., n, d); else k
    twice."""
    inverse = A.new_tensor(1.0 / hyper.lengthscales)
    a, b = A * inverse, B * inverse
    r2 = a @ (-2.0 * b).transpose(-1, -2)
    r2 = (r2 + a.square().sum(dim=-1)[..., :, None] + b.square().sum(dim=-1)[..., None, :]).clamp(min=0.0)
    if hyper.kernel == "se":
        k = h = hyper.signal * (-0.5 * r2).exp()
    elif hyper.kernel == "matern32":
        root = (3.0 * r2 + _TINY).sqrt()
        e = hyper.signal * (-root).exp()
        k, h = (1.0 + root) * e, 3.0 * e
    else:
        root = (5.0 * r2 + _TINY).sqrt()
        e = hyper.signal * (-root).exp()
        g = (1.0 + root) * e
        k, h = g + (5.0 / 3.0) * r2 * e, (5.0 / 3.0) * g
    return (k, h) if slope else (k, k)
