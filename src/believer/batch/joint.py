"""Joint q-EI: q points are moved together to maximize the expected improvement of the best of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, cast

import numpy as np

from believer.acquisitions import Acquisition, completed
from believer.acquisitions.joint_improvement import JointImprovement, Softness
from believer.acquisitions.joint_limit import JointLimit
from believer.arrays import Array, frozen, shown, whole
from believer.batch.best_so_far import best_so_far
from believer.batch.capability import require
from believer.batch.lies import Believe, ConstantLie
from believer.batch.picking import counted, taken
from believer.batch.pseudo import PseudoObservations
from believer.batch.random import REPLACED
from believer.batch.request import LIMITS, Choice, Chosen, Request, with_pending
from believer.errors import InvalidInput, MissingCapability
from believer.maximize.climb import ascend, climbed, stepped
from believer.maximize.multistart import MAX_STARTS
from believer.maximize.objective import is_new, ranked
from believer.numerics import lbfgs
from believer.numerics.sampling import normal_sobol
from believer.space.combine import Copies
from believer.space.region import Region
from believer.surrogates.gp import standardization
from believer.surrogates.protocols import JointlyDifferentiable

MAX_SAMPLES = 100_000

_BELIEVER = PseudoObservations(Believe())
_GREEDY = (_BELIEVER, PseudoObservations(ConstantLie("min")))
_NOT_NEW = "; it was not new, and was chosen again after believing "
_UNMOVED = "; no joint move was better"
_WIDTHS = (0.2, 0.05, 0.01)
_NEIGHBORS = 96
_SWEEPS = 4
_SWEPT = 48


@dataclass(frozen=True, slots=True)
class QEI:
    """Maximize log q-EI over all q points at once ([Ginsbourger2010], [Ament2023] section 4.2).

    The climb starts from the batches of Kriging Believer and Constant Liar, and from neighbors of the first batch. Its
    result is at least as good as either of them. Pending points take part as points that cannot move. The margin ξ is
    that of the study's LogEI or EI; other acquisition functions have no joint version here. The study's maximizer
    chooses the greedy starts; the climb itself is always L-BFGS.

    With limits, a sample of a point counts if all limits hold in it. While no feasible point is known, Kriging Believer
    chooses the batch.

    A single point without pending points is the sequential choice. Otherwise asking for q points at once differs from
    asking q times for one.

    Parameters
    ----------
    samples : the number of base samples, preferably a power of two.
    smoothing : how the kinks of q-EI are smoothed; None leaves q-EI as it is.
    restarts : the number of neighbors of the first batch from which the climb also starts.
    climb : when the climb stops.
    """

    takes: ClassVar[str] = LIMITS
    samples: int = 128
    smoothing: Softness | None = field(default_factory=Softness)
    restarts: int = 0
    climb: lbfgs.Settings = field(
        default_factory=lambda: lbfgs.Settings(max_rounds=40, gradient_tol=1e-2, value_tol=1e-4)
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "samples", whole(self.samples, "samples", 1, MAX_SAMPLES))
        object.__setattr__(self, "restarts", whole(self.restarts, "restarts", 0, MAX_STARTS))
        if not (self.smoothing is None or isinstance(self.smoothing, Softness)):
            raise InvalidInput(
                f"smoothing must be a Softness, or None for q-EI without smoothing; got {shown(self.smoothing)}."
            )
        if not isinstance(self.climb, lbfgs.Settings):
            raise InvalidInput(f"climb must be believer.numerics.LBFGSSettings(...); got {shown(self.climb)}.")

    def choose(self, request: Request, memory: object = None) -> Chosen:
        """Choose the points for ``request`` by one climb over q·d variables; ``memory`` is used if the choice is
        sequential."""
        margin = _margin(request.acquisition)
        for learned in request.outputs:
            require(learned.model, JointlyDifferentiable, "qei")
        q, p = len(request.ids), len(request.pending.ids)
        incumbent = best_so_far(request).incumbent
        if (q == 1 and p == 0) or incumbent is None:
            return _BELIEVER.choose(request, memory)
        objective = JointImprovement(
            model=cast(JointlyDifferentiable, request.model),
            target=incumbent - margin,
            normals=normal_sobol(self.samples, p + q, request.randomness(request.ids[0], "samples")),
            fixed=request.pending.X,
            softness=self.smoothing,
            unit=standardization(request.data.y)[1],
            limits=self._limits(request),
        )
        greedy = [one.choose(request).choices for one in _GREEDY]
        starts = np.array([[choice.x for choice in choices] for choices in greedy]).reshape(len(greedy), -1)
        batch, notes = _renewed(self._moved(objective, request, starts).reshape(q, -1), request)
        value = ranked(objective.value(np.vstack([batch.reshape(1, -1), starts])), all_bad=True)
        best = int(np.argmax(value))
        if best > 0:
            return Chosen(tuple(Choice(c.x, f"{c.provenance}{_UNMOVED}") for c in greedy[best - 1]))
        why = self._provenance(q, p)
        return Chosen(tuple(Choice(frozen(x), why + note) for x, note in zip(batch, notes, strict=True)))

    def _limits(self, request: Request) -> tuple[JointLimit, ...]:
        """The limits that must hold in a sample for it to count, each with base samples of its own."""
        m, rng = len(request.pending.ids) + len(request.ids), request.randomness
        return tuple(
            JointLimit(
                cast(JointlyDifferentiable, one.model),
                one.limits,
                normal_sobol(self.samples, m, rng(request.ids[0], f"samples of {one.output.name}")),
                standardization(one.data.y)[1],
            )
            for one in request.outputs
            if one.limits is not None
        )

    def _moved(self, objective: JointImprovement, request: Request, starts: Array) -> Array:
        """The best row (q·d,) found by climbs from ``starts`` (s, q·d) and from neighbors of the first."""
        q, region = len(request.ids), Copies(request.region, len(request.ids))
        close = region.near(starts[:1], self.restarts, _WIDTHS, request.randomness(request.ids[0], "restarts"))
        X = np.vstack([starts, close])
        # q-EI itself has the units of y, and a climb's tolerances are absolute.
        scale = 1.0 if self.smoothing is not None else float(objective.value(starts).max()) or 1.0
        X, f = self._climbed(objective, region, X, scale)
        best = np.argsort(-ranked(f, all_bad=True), kind="stable")[:1]
        X, f = X[best], f[best]
        rng, steps = request.randomness(request.ids[0], "neighbors"), any(k is not None for k in region.decisions)
        # A sweep costs O(q²) posteriors, and large batches gain little from further ones.
        sweeps = min(_SWEEPS, max(1, _SWEPT // q)) if steps or region.ruled else 0
        for _ in range(sweeps):
            before = f
            for i in range(q):
                X, f = stepped(objective, replace(region, moving=i), X, f)
                if region.ruled:
                    X, f = _stray(objective, request.region, X, f, i, rng)
            X, f = self._climbed(objective, region, X, scale)
            if (f - before <= self.climb.value_tol * np.maximum(np.abs(f), scale)).all():
                break
        row: Array = X[0]
        return row

    def _climbed(self, objective: JointImprovement, region: Copies, X: Array, scale: float) -> tuple[Array, Array]:
        """Climb from ``X`` (s, q·d); return where the climbs end, and the values (s,) there.

        If there are rules on the points, each point of a row is moved back into the region separately, and the moves
        are accepted one by one if they improve the row.
        """
        moves = region.free(X)
        if not region.ruled or not moves.any():
            return ascend(objective, region, X, self.climb, scale)
        inside = region.project(climbed(objective, region, X, self.climb, scale, moves)[0], X)
        f, d = objective.value(X), region.region.dim
        for start in range(0, region.dim, d):
            trial = X.copy()
            trial[:, start : start + d] = inside[:, start : start + d]
            value = objective.value(trial)
            better = value > f
            X, f = np.where(better[:, None], trial, X), np.where(better, value, f)
        return X, f

    def _provenance(self, q: int, p: int) -> str:
        what = "q-EI" if self.smoothing is None else "q-LogEI"
        others = f" jointly for {what} with {q - 1} other{'s' if q > 2 else ''}" if q > 1 else f" for {what}"
        given = f" given {p} pending point{'s' if p > 1 else ''}" if p else ""
        return f"chosen{others}{given}"


def _margin(acquisition: Acquisition) -> float:
    """ξ of LogEI or EI, the acquisition functions that have a joint version."""
    margin = completed(acquisition).margin()
    if margin is not None:
        return margin
    raise MissingCapability(
        f"qei needs the acquisition function LogEI or EI; got {type(acquisition).__name__}. "
        "Strategies that take any acquisition: the lies (kb, cl_min, ...), lp, dpp, top_q."
    )


def _stray(
    objective: JointImprovement, one: Region, X: Array, f: Array, i: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """The row ``X`` (1, q·d) of value ``f`` (1,), with point i moved to its best allowed neighbor if that is better.

    In this way a point on the border of a constraint moves along it; the gradient alone would push it across.
    """
    place = slice(i * one.dim, (i + 1) * one.dim)
    close = one.near(X[:, place], max(4, _NEIGHBORS // (X.shape[1] // one.dim)), _WIDTHS, rng)
    pool = np.vstack([X, np.repeat(X, len(close), axis=0)])
    pool[1:, place] = close
    values = np.concatenate([f, ranked(objective.value(pool[1:]), all_bad=True)])
    best = [int(np.argmax(values))]
    return pool[best], values[best]


def _renewed(batch: Array, request: Request) -> tuple[Array, list[str]]:
    """``batch`` (q, d), in which points that are not new are replaced by Kriging Believer's choice given the others;
    and notes."""
    avoid, old = request.avoid, []
    for i, x in enumerate(batch):
        if is_new(x, request.region, avoid):
            avoid = taken(avoid, x, request)
        else:
            old.append(i)
    notes = [""] * len(batch)
    if not old:
        return batch, notes
    kept = np.delete(np.arange(len(batch)), old)
    known = with_pending(request, tuple(request.ids[i] for i in kept), batch[kept])
    again = _BELIEVER.choose(replace(known, ids=tuple(request.ids[i] for i in old), avoid=avoid)).choices
    batch = batch.copy()
    for believed, (i, choice) in enumerate(zip(old, again, strict=True), start=len(known.pending.ids)):
        batch[i] = choice.x
        replaced = choice.provenance.endswith(REPLACED)
        notes[i] = REPLACED if replaced else f"{_NOT_NEW}{counted(believed)}"
    return batch, notes
