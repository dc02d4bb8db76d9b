"""A random forest: regression trees on bootstrap resamples; their spread is the uncertainty ([Breiman2001]).

=========  =====================================================================  ==========
symbol     meaning                                                                shape
=========  =====================================================================  ==========
N          nodes of all trees together
feature    column that a node splits on                                           (N,)
threshold  a point whose coordinate is at most this goes left                     (N,)
children   right child of node i at 2i, left one at 2i + 1; a leaf's are itself   (2N,)
value      mean of a node's data, less ``shift``, over ``scale``                  (N,)
roots      first node of each tree                                                (trees,)
=========  =====================================================================  ==========
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from believer.arrays import Array, IntArray, as_points, checked_seed, frozen, shown, whole
from believer.errors import InvalidInput
from believer.surrogates.bootstrap import resamples, states, summary
from believer.surrogates.data import MIN_SCALE, Data, learnable
from believer.surrogates.protocols import Model, Prediction
from believer.surrogates.sklearn import scikit_learn

MAX_TREES, MAX_IN_A_LEAF = 10_000, 1_000_000

_BLOCK = 256
"""The number of points that descend the trees together, few enough for their positions to stay in the cache."""


@dataclass(frozen=True, slots=True, eq=False)
class ForestModel:
    """A fitted forest. It is piecewise constant, so it has no useful gradients."""

    feature: IntArray
    threshold: Array
    children: IntArray
    value: Array
    roots: IntArray
    depth: int
    dim: int
    shift: float
    scale: float

    def predict(self, X: Array) -> Prediction:
        """Mean and standard deviation over the trees at ``X`` (m, d).  O(m trees depth)."""
        return summary(self._values(X), self.shift, self.scale)

    def by_tree(self, X: Array) -> Array:
        """The prediction of each tree at ``X`` (m, d), as (m, trees)."""
        return self.shift + self.scale * self._values(X)

    def _values(self, X: Array) -> Array:
        # Points are rounded to single precision, because the thresholds were chosen for it.
        points = as_points(X, self.dim).astype(np.float32).astype(np.float64)
        out = np.empty((len(points), len(self.roots)))
        for start in range(0, len(points), _BLOCK):
            out[start : start + _BLOCK] = self.value.take(self._leaves(points[start : start + _BLOCK]))
        return out

    def _leaves(self, points: Array) -> IntArray:
        """The leaf of each point in each tree, (k, trees). The mode "clip" saves a check: no index is out of range."""
        flat, first = points.ravel(), (np.arange(len(points)) * self.dim)[:, None]
        node = np.repeat(self.roots[None, :], len(points), axis=0)
        for _ in range(self.depth):
            at = self.feature.take(node, mode="clip")
            at += first
            left = flat.take(at, mode="clip") <= self.threshold.take(node, mode="clip")
            node *= 2
            node += left
            node = self.children.take(node, mode="clip")
        return node


@dataclass(frozen=True, slots=True)
class RandomForest:
    """Random forest recipe; [paper] appendix: 200 trees, at least two observations in a leaf. Needs scikit-learn.

    Each tree is grown on its own resample and considers all columns for each split, scikit-learn's default for
    regression. The mean is that of the trees, and σ is the standard deviation over the trees ([Hutter2011]), which says
    how much the prediction depends on the resampled data. It is not a posterior: it need not grow away from the data,
    and it ignores the differences between values in the same leaf. New data require all trees to be grown again, from
    at most 20,000 results (:mod:`~believer.surrogates.subset`).

    Differs: y is shifted by its first value and scaled by a power of two before trees are grown. scikit-learn stops at
    a variance of 2e-16 whatever the units of y, and ties between splits, which are frequent in small nodes, are decided
    by rounding. Only with this scaling does a further observation leave the trees unchanged.

    Parameters
    ----------
    trees : the number of trees, two or more.
    min_leaf : the smallest number of observations in a leaf.
    seed : None draws resamples from the generator passed to ``fit``; a number fixes them (:meth:`with_fixed_draws`).
    extra : whether to use extremely randomized trees ([Geurts2006]): each tree uses all data and draws its thresholds
        at random.
    """

    trees: int = 200
    min_leaf: int = 2
    seed: int | None = None
    extra: bool = False
    most_results: ClassVar[int] = 20_000

    def __post_init__(self) -> None:
        whole(self.trees, "trees", 2, MAX_TREES)
        whole(self.min_leaf, "min_leaf", 1, MAX_IN_A_LEAF)
        checked_seed(self.seed)
        if not isinstance(self.extra, bool):
            raise InvalidInput(f"extra must be True or False; got {shown(self.extra)}.")

    def with_fixed_draws(self, seed: int) -> Self:
        """The recipe with fixed resamples: the data of a tree change only if a new point is drawn into its resample."""
        return replace(self, seed=whole(seed, "seed", 0))

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> ForestModel:
        """Grow all trees on ``data``, X (n, d) and y (n,), resampled with ``rng``.  O(trees n d log² n).

        ``previous`` is ignored.
        """
        X, y, _ = learnable(data, "a random forest", self.most_results)
        drawn = None if self.extra else resamples(len(X), self.trees, rng, self.seed)
        counts = np.ones((self.trees, len(X)), dtype=np.int64) if drawn is None else drawn
        shift, scale = _units(y)
        grown = self._grow(X, (y - shift) / scale, counts, states(self.trees, rng, self.seed))
        return _flat(grown, X.shape[1], shift, scale)

    def _grow(self, X: Array, target: Array, counts: IntArray, random: list[int]) -> list[Any]:
        """scikit-learn's trees on each row of ``counts`` (trees, n).

        Counts are weights, as in scikit-learn's forest: an observation that is drawn twice counts once for
        ``min_leaf``.
        """
        Tree, points = scikit_learn("sklearn.tree").DecisionTreeRegressor, np.ascontiguousarray(X, dtype=np.float32)
        weights, splitter = counts.astype(np.float64), "random" if self.extra else "best"
        # The input is checked only once, because a check for every tree would take longer than growing a small tree.
        with scikit_learn("sklearn").config_context(assume_finite=True, skip_parameter_validation=True):
            return [
                Tree(min_samples_leaf=self.min_leaf, splitter=splitter, random_state=state)
                .fit(points, target, sample_weight=weight, check_input=False)
                .tree_
                for weight, state in zip(weights, random, strict=True)
            ]


def _units(y: Array) -> tuple[float, float]:
    """The first value, and the power of two below the largest distance from it (or below its size if y is constant)."""
    shift, size = float(y[0]), float(np.abs(y).max())
    spread = float(np.abs(y - shift).max())
    if spread <= 1e-14 * size:
        spread = size
    if spread == 0.0:
        return shift, 1.0
    return shift, max(float(np.ldexp(1.0, int(np.frexp(spread)[1]) - 1)), MIN_SCALE)


def _flat(trees: list[Any], dim: int, shift: float, scale: float) -> ForestModel:
    """The trees as arrays: 200 calls for one point would cost more than the walk itself."""
    sizes = np.array([tree.node_count for tree in trees])
    roots = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    offsets = np.repeat(roots, sizes)
    own = np.arange(int(sizes.sum()))
    left = np.concatenate([tree.children_left for tree in trees])
    right = np.concatenate([tree.children_right for tree in trees])
    is_leaf = left < 0
    children = np.stack([np.where(is_leaf, own, right + offsets), np.where(is_leaf, own, left + offsets)], axis=1)
    return ForestModel(
        feature=_frozen_ints(np.maximum(np.concatenate([tree.feature for tree in trees]), 0)),
        threshold=frozen(np.concatenate([tree.threshold for tree in trees])),
        children=_frozen_ints(children.ravel()),
        value=frozen(np.concatenate([tree.value[:, 0, 0] for tree in trees])),
        roots=_frozen_ints(roots),
        depth=max(int(tree.max_depth) for tree in trees),
        dim=dim,
        shift=shift,
        scale=scale,
    )


def _frozen_ints(values: Any) -> IntArray:
    out = np.array(values, dtype=np.int64)
    out.flags.writeable = False
    return out
