"""The pool of a Gaussian process: one more observation changes its predictions by rank one.

======  =======================================================  ========
symbol  meaning                                                  shape
======  =======================================================  ========
C       the candidates                                           (m, d)
K       σ_f² k(C, X) with the N observations                     (m, N)
w       the last row of W, appended with the observation x       (N + 1,)
z       the last of the whitened data, w y
c       σ_f² k(C, [X, x]) w, whitened covariance with x          (m,)
======  =======================================================  ========

[paper] Eq. 1-2 at all candidates: μ += c z, σ² -= c², the same as a prediction with one more row of the factor. The row
of W is computed when the model is conditioned, so that a lie costs O(N) for each candidate, and a new prediction O(N²).
Covariances with later observations are kept separately, so that a pool shares the large part with the pool from which
it was made.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from believer.arrays import Array, no_rows, packed, read_only
from believer.numerics import backend
from believer.surrogates.pool import pool_of
from believer.surrogates.protocols import MIN_VARIANCE, Model, Prediction

if TYPE_CHECKING:
    from believer.surrogates.gp import GPModel
    from believer.surrogates.pool import Pool


_JOINED, _ADDED = 256, 2048
"""The largest size of a block that is joined with another one, and the least number of added candidates that are
kept."""


@dataclass(frozen=True, slots=True, eq=False)
class CandidateBlock:
    """Some of the candidates, (m, d), with their covariances with the first observations (m, n) and with later ones (p,
    m).

    ``mean`` and ``variance`` (m,) are of standardized y.
    """

    X: Array
    cross: Array
    later: Array
    mean: Array
    variance: Array

    @staticmethod
    def of(model: GPModel, X: Array) -> CandidateBlock:
        """``X`` (m, d) under ``model``.  O(m N²)."""
        X = read_only(packed(X))
        compiled = model.compiled()
        if compiled is not None:
            cross, mean, variance = compiled.pool(X)
        else:
            cross, _ = model.hyper.cross(X, model.X)
            mean, V = cross @ model.alpha, model.factor.whiten(cross)
            variance = model.hyper.signal - np.einsum("ij,ij->i", V, V)
        return CandidateBlock(X, read_only(cross), no_rows(len(X)), mean, variance)

    def conditioned(self, model: GPModel, row: int) -> CandidateBlock:
        """The block after the next observation, which is row ``row`` of ``model``. O(m N)."""
        hyper, weights = model.hyper, model.factor.tail[row - len(model.factor.base)]
        native = backend.native
        if native is not None:
            later, mean, variance = native.pool_told(
                native.KERNELS[hyper.kernel],
                self.X,
                model.X[row],
                hyper.lengthscales,
                hyper.signal,
                self.cross,
                self.later,
                weights,
                float(model.whitened[row]),
                self.mean,
                self.variance,
            )
            return CandidateBlock(self.X, self.cross, later, mean, variance)
        n = self.cross.shape[1]
        near = hyper.cross(model.X[row : row + 1], self.X)[0]
        c = self.cross @ weights[:n] + weights[n:row] @ self.later + weights[row] * near[0]
        return replace(
            self,
            later=np.vstack([self.later, near]),
            mean=self.mean + c * model.whitened[row],
            variance=self.variance - c * c,
        )

    def joined(self, other: CandidateBlock) -> CandidateBlock:
        """The block with the candidates of another block that has the same observations. O(m N)."""
        first, n = len(self.X), self.cross.shape[1]
        cross = np.empty((first + len(other.X), n + len(self.later)))
        cross[:first, :n], cross[:first, n:] = self.cross, self.later.T
        cross[first:, : other.cross.shape[1]], cross[first:, other.cross.shape[1] :] = other.cross, other.later.T
        return CandidateBlock(
            read_only(np.vstack([self.X, other.X])),
            read_only(cross),
            no_rows(len(self.X) + len(other.X)),
            np.concatenate([self.mean, other.mean]),
            np.concatenate([self.variance, other.variance]),
        )


@dataclass(frozen=True, slots=True, eq=False)
class GPPool:
    """Candidates of a Gaussian process: the first ones, and those that were added."""

    model: GPModel
    blocks: tuple[CandidateBlock, ...]

    @staticmethod
    def of(model: GPModel, X: Array) -> GPPool:
        """``X`` (m, d) under ``model``.  O(m N²)."""
        return GPPool(model, (CandidateBlock.of(model, X),))

    @property
    def points(self) -> Array:
        """The candidates, (m, d)."""
        return self.blocks[0].X if len(self.blocks) == 1 else np.vstack([block.X for block in self.blocks])

    def predict(self) -> Prediction:
        """Mean and std (m,).  O(m)."""
        model = self.model
        if len(self.blocks) == 1:
            mean, variance = self.blocks[0].mean, self.blocks[0].variance
        else:
            mean = np.concatenate([block.mean for block in self.blocks])
            variance = np.concatenate([block.variance for block in self.blocks])
        std = np.sqrt(np.maximum(variance, MIN_VARIANCE * model.hyper.signal))
        return Prediction(model.shift + model.scale * mean, model.scale * std)

    def under(self, model: Model) -> Pool:
        """The same candidates under another ``model``: O(m N) for each new observation if it is this model conditioned,
        else O(m N²)."""
        own = self.model
        if model is own:
            return self
        if type(model) is not type(own) or model.factor.base is not own.factor.base or model.hyper is not own.hyper:
            return pool_of(model, self.points)
        blocks = self.blocks
        for row in range(len(own.y), len(model.y)):
            blocks = tuple([block.conditioned(model, row) for block in blocks])
        return GPPool(model, blocks)

    def extended(self, X: Array) -> GPPool:
        """The pool with the further candidates ``X`` (k, d); if there are very many, the oldest are dropped. O(k N²),
        plus a copy of some."""
        if not len(X):
            return self
        first, *added = (*self.blocks, CandidateBlock.of(self.model, X))
        # A block joins the one before it once it is as large, so that there are few of them, and each is copied rarely;
        # large ones stay as they are, since a copy needs as much memory again.
        while len(added) > 1 and len(added[-1].X) >= len(added[-2].X) and len(added[-1].X) <= _JOINED:
            last = added.pop()
            added.append(added.pop().joined(last))
        while sum([len(block.X) for block in added[1:]]) >= _ADDED:  # the oldest are used up
            del added[0]
        return replace(self, blocks=(first, *added))
