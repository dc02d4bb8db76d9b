"""Fully connected networks, several of the same shape at once, and how they are trained.

======  ====================================================================  ==================
symbol  meaning                                                               shape
======  ====================================================================  ==================
e       number of networks
x̄       inputs, the cube stretched to [-1, 1]: x̄ = 2 x - 1                     (n, d)
W, b    weights and biases of a layer                                         (e, i, o), (e, 1, o)
H       values of a hidden layer, max(H W + b, 0) of the layer before it      (e, n, h)
θ       all weights and biases of a network, in one row                       (e, p)
m, v    running sums of gradients and of their squares ([Kingma2015])         (e, p)
r       residuals, output less target                                         (e, n)
======  ====================================================================  ==================

[paper], appendix: 2 x 64 hidden units, ReLU, 10 networks, at most 2000 iterations, adaptive learning rate, early
stopping. The paper leaves open the following choices, which were made here:

- Solver: Adam ([Kingma2015]) on half the mean squared error of all data at once: tens of data need no minibatches.
- Learning rate: 5e-3, divided by 5 after ``patience`` iterations without gain; a network stops at the third time.
- Patience: 50 iterations; a gain is a fall of the error by 1e-4 of the variance of y.
- Early stopping: by the squared error of held-out data; the result has the weights with the least error. None of the
  first five observations is held out, and one of every ten that follow; a network without held-out data uses its
  training error.
- L2: none; early stopping is the only regularization.
- Initial weights: normal with variance 2 / fan-in ([He2015]), 1 / fan-in for the output; biases of hidden layers
  uniform within 1 / √fan-in, because otherwise all kinks of the first layer would meet at the center of the cube.

Differs: scikit-learn's ``MLPRegressor``, whose options the paper's words resemble, draws its validation set anew for
each n, so that one more observation changes everything. Here the initial weights depend only on a network's seed, and
the held-out data only on that seed and on their positions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from believer.arrays import Array, BoolArray, IntArray, frozen, shown, whole
from believer.errors import InvalidInput

MAX_NETWORKS, MAX_LAYERS, MAX_UNITS, MAX_WEIGHTS = 100, 10, 1000, 10_000_000
"""Limits on the size of networks: training keeps about ten numbers for each weight."""

MAX_ITERATIONS = 1_000_000

_DECAY_FIRST, _DECAY_SECOND, _EPSILON = 0.9, 0.999, 1e-8
_NEVER_HELD_OUT, _ONE_OUT_OF = 5, 10

Layers = tuple[tuple[Array, ...], tuple[Array, ...]]
"""Weights (e, i, o) and biases (e, 1, o), layer by layer."""


@dataclass(frozen=True, slots=True, eq=False)
class Networks:
    """e networks with one output each: weights (e, i, o) and biases (e, 1, o), layer by layer."""

    weights: tuple[Array, ...]
    biases: tuple[Array, ...]

    def hidden(self, X: Array) -> list[Array]:
        """Values (e, m, h) of each hidden layer at ``X`` (m, d), points of the cube."""
        return _hidden(self.weights, self.biases, 2.0 * X - 1.0)

    def outputs(self, X: Array) -> Array:
        """Outputs (e, m) at ``X`` (m, d)."""
        return _output(self.weights, self.biases, self.hidden(X))

    def outputs_with_gradient(self, X: Array) -> tuple[Array, Array]:
        """Outputs (e, m) and their derivatives by x (e, m, d)."""
        layers = self.hidden(X)
        return _output(self.weights, self.biases, layers), self.pull_back(layers, self.weights[-1].transpose(0, 2, 1))

    def pull_back(self, layers: Sequence[Array], by_last: Array) -> Array:
        """∂s/∂x (k, m, d) for functions s of the last hidden layer, from ∂s/∂H = ``by_last`` (k, m, h) or (k, 1, h).

        ``layers`` are the values of :meth:`hidden` at x; k is e, or any number for a single network. Rows of the
        identity give the Jacobian of the features. At a kink, the derivative is that of the side where the unit is off.
        """
        by = by_last
        for W, H in zip(self.weights[-2::-1], reversed(layers), strict=True):
            by = (by * (H > 0.0)) @ W.transpose(0, 2, 1)
        return 2.0 * by


@dataclass(frozen=True, slots=True)
class Training:
    """When the learning rate of a network falls, and when it stops. Errors are squared errors of standardized y."""

    max_iterations: int = 2000
    learning_rate: float = 5e-3
    patience: int = 50
    """the number of iterations without a gain before the learning rate falls"""
    slowdown: float = 5.0
    """the divisor of the learning rate"""
    slowdowns: int = 2
    """the number of times that it falls before the network stops"""
    gain: float = 1e-4
    """the least decrease of the error that counts as a gain"""


DEFAULTS = Training()


@dataclass(slots=True, eq=False)
class _InTraining:
    """The networks that are still training: their rows in the result, and their state."""

    rows: IntArray
    theta: Array
    best: Array
    """θ at the least validation error"""
    gradient: Array
    first: Array
    second: Array
    step: Array
    training: Array
    """the weights (e, n) of squared residuals in the training error"""
    watched: Array
    """the weights (e, n) of squared residuals in the validation error"""
    least: Array
    reference: Array
    """the validation error at the last gain"""
    waited: IntArray
    slowed: IntArray

    def keep(self, which: BoolArray) -> None:
        for name in self.__slots__:
            setattr(self, name, getattr(self, name)[which])


def checked_hidden(hidden: Any, networks: int = 1) -> tuple[int, ...]:
    """Return the sizes of the hidden layers of each of the ``networks``, one or more whole numbers; raise InvalidInput
    otherwise."""
    if not isinstance(hidden, tuple | list) or not hidden:
        raise InvalidInput(f"hidden must be the sizes of one or more layers, e.g. (64, 64); got {shown(hidden)}.")
    if len(hidden) > MAX_LAYERS:
        raise InvalidInput(f"hidden must be the sizes of {MAX_LAYERS} layers at most; got {len(hidden)} of them.")
    sizes = tuple(whole(size, "a size in hidden", 1, MAX_UNITS) for size in hidden)
    weights = networks * sum(one * other for one, other in pairwise(sizes))
    if weights > MAX_WEIGHTS:
        raise InvalidInput(
            f"all networks together must have {MAX_WEIGHTS:,} weights between hidden layers at most; got {weights:,}. "
            "Make hidden smaller, or use fewer networks."
        )
    return sizes


def seeds_of(count: int, rng: np.random.Generator, fixed: int | None = None) -> IntArray:
    """A seed (count,) for each network: from ``rng``, or from the seed ``fixed`` alone."""
    source = rng if fixed is None else np.random.default_rng(fixed)
    return source.integers(2**63 - 1, size=count)


def initial(seeds: IntArray, sizes: tuple[int, ...]) -> Array:
    """θ before training (e, p), each row from its own seed; ``sizes`` are those of the layers, inputs to output."""
    theta = []
    for seed in seeds:
        rng = np.random.default_rng((int(seed), 0))
        for fan_in, fan_out in pairwise(sizes[:-1]):
            theta.append(rng.standard_normal(fan_in * fan_out) * np.sqrt(2.0 / fan_in))
            theta.append(rng.uniform(-1.0, 1.0, fan_out) / np.sqrt(fan_in))
        theta.append(rng.standard_normal(sizes[-2]) / np.sqrt(sizes[-2]))
        theta.append(np.zeros(1))
    return np.concatenate(theta).reshape(len(seeds), -1)


def held_out(seeds: IntArray, n: int) -> BoolArray:
    """A mask (e, n) of the observations that are held out from each network; it depends on seed and position only."""
    out = np.zeros((len(seeds), n), dtype=bool)
    starts = np.arange(_NEVER_HELD_OUT, n, _ONE_OUT_OF)
    for row, seed in zip(out, seeds, strict=True):
        at = starts + np.random.default_rng((int(seed), 1)).integers(_ONE_OUT_OF, size=len(starts))
        row[at[at < n]] = True
    return out


def train(X: Array, y: Array, seeds: IntArray, hidden: tuple[int, ...], settings: Training = DEFAULTS) -> Networks:
    """A network for each of ``seeds`` (e,), trained on ``X`` (n, d) of the cube and standardized ``y`` (n,).

    All are trained together, each as it would be alone; a network that has stopped is left out of the following
    iterations. Costs O(e n p) an iteration.
    """
    inputs = 2.0 * X - 1.0
    sizes = (X.shape[1], *hidden, 1)
    live = _begin(seeds, sizes, len(X))
    result = live.theta.copy()
    (weights, biases), slopes = _layers(live.theta, sizes), _layers(live.gradient, sizes)
    for iteration in range(1, settings.max_iterations + 1):
        layers = _hidden(weights, biases, inputs)
        residuals = _output(weights, biases, layers) - y
        stopped = _watch(live, residuals, settings) | (iteration == settings.max_iterations)
        if stopped.all():
            break
        # A network that stops takes part in one more step, which does not affect its best weights.
        _differentiate(slopes, weights, inputs, layers, residuals * live.training)
        _descend(live, iteration, settings)
        if stopped.any():
            result[live.rows] = live.best
            live.keep(~stopped)
            (weights, biases), slopes = _layers(live.theta, sizes), _layers(live.gradient, sizes)
    result[live.rows] = live.best
    return Networks(*_layers(frozen(result), sizes))


def _begin(seeds: IntArray, sizes: tuple[int, ...], n: int) -> _InTraining:
    theta, out = initial(seeds, sizes), held_out(seeds, n)
    training = ~out / (~out).sum(axis=1, keepdims=True)
    validation = out / np.maximum(out.sum(axis=1, keepdims=True), 1)
    e = len(seeds)
    return _InTraining(
        rows=np.arange(e),
        theta=theta,
        best=theta.copy(),
        gradient=np.zeros_like(theta),
        first=np.zeros_like(theta),
        second=np.zeros_like(theta),
        step=np.zeros_like(theta),
        training=training,
        watched=np.where(out.any(axis=1, keepdims=True), validation, training),
        least=np.full(e, np.inf),
        reference=np.full(e, np.inf),
        waited=np.zeros(e, dtype=np.int64),
        slowed=np.zeros(e, dtype=np.int64),
    )


def _layers(theta: Array, sizes: tuple[int, ...]) -> Layers:
    """Weights and biases as views of ``theta`` (e, p)."""
    weights, biases, at = [], [], 0
    for fan_in, fan_out in pairwise(sizes):
        middle, end = at + fan_in * fan_out, at + (fan_in + 1) * fan_out
        weights.append(theta[:, at:middle].reshape(len(theta), fan_in, fan_out))
        biases.append(theta[:, middle:end].reshape(len(theta), 1, fan_out))
        at = end
    return tuple(weights), tuple(biases)


def _hidden(weights: Sequence[Array], biases: Sequence[Array], inputs: Array) -> list[Array]:
    layers: list[Array] = []
    H = inputs
    for W, b in zip(weights[:-1], biases[:-1], strict=True):
        H = H @ W
        H += b
        layers.append(np.maximum(H, 0.0, out=H))
    return layers


def _output(weights: Sequence[Array], biases: Sequence[Array], layers: Sequence[Array]) -> Array:
    out: Array = (layers[-1] @ weights[-1] + biases[-1])[:, :, 0]
    return out


def _watch(live: _InTraining, residuals: Array, settings: Training) -> BoolArray:
    """Keep the best weights, and lower the learning rate of networks without gain; return which (e,) should stop."""
    error = (residuals**2 * live.watched).sum(axis=1)
    better = error < live.least
    live.best[better] = live.theta[better]
    live.least = np.where(better, error, live.least)
    gained = error < live.reference - settings.gain
    live.reference = np.where(gained, error, live.reference)
    live.waited = np.where(gained, 0, live.waited + 1)
    stuck = live.waited >= settings.patience
    live.waited[stuck] = 0
    live.slowed += stuck
    return live.slowed > settings.slowdowns


def _differentiate(
    slopes: Layers, weights: Sequence[Array], inputs: Array, layers: Sequence[Array], by_output: Array
) -> None:
    """The gradient of half the training error, written to ``slopes``."""
    by_weights, by_biases = slopes
    by = by_output[:, :, None]
    for i in reversed(range(len(weights))):
        before = layers[i - 1].transpose(0, 2, 1) if i else inputs.T
        np.matmul(before, by, out=by_weights[i])
        np.add.reduce(by, axis=1, keepdims=True, out=by_biases[i])
        if i:
            by = by @ weights[i].transpose(0, 2, 1)
            by *= layers[i - 1] > 0.0


def _descend(live: _InTraining, iteration: int, settings: Training) -> None:
    """[Kingma2015] Algorithm 1, in place: θ ← θ - λ m̂ / (√v̂ + ε), with the factors (1 - β) of m and v left out."""
    live.first *= _DECAY_FIRST
    live.first += live.gradient
    live.second *= _DECAY_SECOND
    live.gradient *= live.gradient
    live.second += live.gradient
    first = (1.0 - _DECAY_FIRST) / (1.0 - _DECAY_FIRST**iteration)
    second = np.sqrt((1.0 - _DECAY_SECOND) / (1.0 - _DECAY_SECOND**iteration))
    np.sqrt(live.second, out=live.step)
    live.step += _EPSILON / second
    np.divide(live.first, live.step, out=live.step)
    rates = settings.learning_rate / settings.slowdown**live.slowed * (first / second)
    live.step *= rates[:, None]
    live.theta -= live.step
