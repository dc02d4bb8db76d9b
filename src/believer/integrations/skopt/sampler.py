"""Initial points by the names that scikit-optimize has for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from believer.arrays import Array, shown
from believer.integrations.skopt.dimensions import check_random_state
from believer.integrations.skopt.refusals import InvalidInput
from believer.integrations.skopt.space import Categorical, Point, Space
from believer.numerics.sampling import latin_hypercube, sobol

__all__ = ["InitialPointGenerator", "cook_initial_point_generator"]


class InitialPointGenerator:
    """Points before the first model.

    Parameters
    ----------
    fill : n points of the unit cube in d dimensions, from (n, d, generator); a subclass may have its own ``generate``.
    """

    def __init__(self, fill: Callable[[int, int, np.random.Generator], Array]) -> None:
        self._fill = fill

    def generate(self, dimensions: Any, n_samples: int, random_state: Any = None) -> list[Point]:
        """``n_samples`` points of the ``dimensions``, with ``random_state``."""
        space, rng = Space(dimensions), np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
        widths = [len(dim.categories) if isinstance(dim, Categorical) else 1 for dim in space]
        U, engine = np.repeat(self._fill(n_samples, space.n_dims, rng), widths, axis=1), space.engine()
        return [space.point(params) for params in engine.decode(engine.region().spread(U))]


def _halton(n: int, d: int, rng: np.random.Generator) -> Array:
    """Radical inverses of 1, 2, ... in the first d primes."""
    primes = [p for p in range(2, 20 * d + 3) if all(p % k for k in range(2, p))][:d]
    points, left, scale = np.zeros((n, d)), np.tile(np.arange(1, n + 1)[:, None], d), 1.0 / np.array(primes)
    while left.any():
        points, left, scale = points + scale * (left % primes), left // primes, scale / primes
    return points


def _hammersly(n: int, d: int, rng: np.random.Generator) -> Array:
    """Halton's in all dimensions but the last, which is a regular grid."""
    return np.hstack([_halton(n, d - 1, rng), np.arange(n)[:, None] / n]) if d > 1 else _halton(n, d, rng)


def _grid(n: int, d: int, rng: np.random.Generator) -> Array:
    """So many middles, drawn from the cells of the smallest grid that has n."""
    order = int(np.ceil(n ** (1.0 / d) - 1e-9))
    cells = rng.choice(order**d, size=n, replace=False)
    return (np.stack([cells // order**j % order for j in range(d)], axis=1) + 0.5) / order


_NAMED = {"lhs": latin_hypercube, "sobol": sobol, "halton": _halton, "hammersly": _hammersly, "grid": _grid}


def cook_initial_point_generator(generator: Any) -> InitialPointGenerator | None:
    """The generator of that name, or itself; None for "random"."""
    if generator is None or isinstance(generator, InitialPointGenerator):
        return generator
    name = generator.lower() if isinstance(generator, str) else generator
    if name == "random":
        return None
    if not isinstance(name, str) or name not in _NAMED:
        raise InvalidInput(f"an initial point generator is random, {', '.join(_NAMED)}; got {shown(generator)}.")
    return InitialPointGenerator(_NAMED[name])
