"""Calls of the compiled module that nobody should make, each in a process of its own that may die of it.

Run as a script it prints what became of each: the name of an exception, "returned", or "died".
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
from twins import native

from believer.numerics import newton
from believer.numerics.lbfgs import Settings

POINTS, SCALES = np.random.default_rng(0).random((5, 2)), np.ones(2)
FLAGS = np.ones(2, dtype=np.uint8)
BOX = np.zeros(2), np.ones(2)


def posterior(**changes: Any) -> Any:
    parts: dict[str, Any] = {
        "kernel": 0,
        "X": POINTS,
        "lengthscales": SCALES,
        "signal": 1.0,
        "base": np.eye(4),
        "tail": np.eye(5)[4:],
        "alpha": np.ones(5),
        "shift": 0.0,
        "scale": 1.0,
        "least_variance": 1e-18,
    }
    return native.Posterior(*(parts | changes).values())


def improvement() -> Any:
    return native.Improvement(posterior(), 0, 0.0, 0.0)


def hyper(**changes: Any) -> Any:
    parts: dict[str, Any] = {
        "kernel": 0,
        "X": POINTS,
        "y": np.arange(5.0),
        "noise": 0.1,
        "mean_std": 1.0,
        "center": np.zeros(3),
        "precision": np.zeros((3, 3)),
        "known": None,
        "groups": None,
    }
    return native.HyperPosterior(*(parts | changes).values())


def bowl(X: Any) -> Any:
    return np.square(X).sum(axis=1), 2.0 * X


def rules(**changes: Any) -> Any:
    """Settings of L-BFGS that nobody has checked: what compiled code is given when its twin forgets to."""
    return SimpleNamespace(**{field.name: getattr(Settings(), field.name) for field in fields(Settings)} | changes)


def told(**changes: Any) -> Any:
    """Three candidates that know four observations, and one that came later, told of the sixth."""
    parts: dict[str, Any] = {
        "kernel": 0,
        "C": np.zeros((3, 2)),
        "x": np.ones(2),
        "lengthscales": SCALES,
        "signal": 1.0,
        "cross": np.ones((3, 4)),
        "later": np.ones((1, 3)),
        "weights": np.ones(6),
        "z": 1.0,
        "mean": np.zeros(3),
        "variance": np.ones(3),
    }
    return native.pool_told(*(parts | changes).values())


def search(**changes: Any) -> Any:
    parts: dict[str, Any] = {
        "objective": native.Callback(bowl, 2),
        "X0": POINTS,
        "lower": BOX[0],
        "upper": BOX[1],
        "moves": FLAGS,
        "factor": 1.0,
        "settings": Settings(),
    }
    return native.minimize(*(parts | changes).values())


ONE_SUM = native.Sums(np.ones((1, 2)), np.ones(1), np.ones(1))


def project(**changes: Any) -> Any:
    parts: dict[str, Any] = {"P": POINTS, "lower": np.zeros((1, 2)), "upper": np.ones((1, 2))}
    return ONE_SUM.project(*(parts | changes).values())


def chords(**changes: Any) -> Any:
    parts: dict[str, Any] = {
        "X": POINTS,
        "basis": np.array([[1.0, -1.0]]),
        "U": np.full((5, 1), 0.5),
        "lower": BOX[0],
        "upper": BOX[1],
        "A": np.ones((1, 2)),
        "low": np.zeros(1),
        "high": np.ones(1),
    }
    return native.chords(*(parts | changes).values())


def walk(**changes: Any) -> Any:
    parts: dict[str, Any] = {
        "objective": native.Callback(bowl, 2),
        "sums": ONE_SUM,
        "X0": POINTS,
        "lower": BOX[0],
        "upper": BOX[1],
        "moves": FLAGS,
        "factor": 1.0,
        "settings": Settings(),
    }
    return native.minimize_projected(*(parts | changes).values())


THREE = np.zeros((4, 3))
SINGLE = np.zeros((4, 2), dtype=np.float32)
STRIDED = np.zeros((8, 4))[::2, ::2]
COLUMNS = np.asfortranarray(np.zeros((4, 2)))

POINTS_GONE_WRONG: dict[str, Any] = {
    "of three columns": THREE,
    "of single precision": SINGLE,
    "of whole numbers": np.zeros((4, 2), dtype=np.int64),
    "with gaps": STRIDED,
    "by columns": COLUMNS,
    "of one axis": np.zeros(2),
    "of three axes": np.zeros((1, 2, 2)),
    "in a list": [[0.0, 0.0]],
    "as a text": "points",
    "that are none": None,
}
TAKERS: dict[str, Callable[[Any], Any]] = {
    "cross": lambda X: native.cross(0, X, POINTS, SCALES, 1.0),
    "cross with": lambda X: native.cross(0, POINTS, X, SCALES, 1.0),
    "covariance_factor": lambda X: native.covariance_factor(0, X, SCALES, 1.0, 2.0),
    "covariance_factor with known noise": lambda X: native.covariance_factor(0, X, SCALES, 1.0, 2.0, np.ones(5)),
    "predict": lambda X: posterior().predict(X),
    "predict_with_gradient": lambda X: posterior().predict_with_gradient(X),
    "pool": lambda X: posterior().pool(X),
    "pool_told": lambda X: told(C=X),
    "value": lambda X: improvement().value(X),
    "value_with_gradient": lambda X: improvement().value_with_gradient(X),
    "minimize": lambda X: search(X0=X),
    "sums": lambda X: project(P=X),
    "chords": lambda X: chords(X=X),
    "minimize_projected": lambda X: walk(X0=X),
}

NOISE_GONE_WRONG: dict[str, Any] = {
    "of four observations": np.ones(4),
    "of six observations": np.ones(6),
    "of no observation": np.ones(0),
    "of single precision": np.ones(5, dtype=np.float32),
    "with gaps": np.ones(10)[::2],
    "of two axes": np.ones((5, 1)),
    "in a list": [1.0] * 5,
    "that is one number": 1.0,
}

REFUSED: dict[str, Callable[[], Any]] = {
    **{
        f"{name} at points {what}": partial(take, X)
        for name, take in TAKERS.items()
        for what, X in POINTS_GONE_WRONG.items()
    },
    **{f"hyper: known noise {what}": partial(hyper, known=known) for what, known in NOISE_GONE_WRONG.items()},
    **{
        f"covariance_factor: known noise {what}": partial(native.covariance_factor, 0, POINTS, SCALES, 1.0, 2.0, known)
        for what, known in NOISE_GONE_WRONG.items()
    },
    "pool_told: no such kernel": lambda: told(kernel=3),
    "pool_told: a long point": lambda: told(x=np.ones(3)),
    "pool_told: few lengthscales": lambda: told(lengthscales=np.ones(1)),
    "pool_told: few covariances": lambda: told(cross=np.ones((2, 4))),
    "pool_told: covariances with nothing": lambda: told(cross=np.ones((3, 0))),
    "pool_told: later covariances of four": lambda: told(later=np.ones((1, 4))),
    "pool_told: later covariances with more": lambda: told(later=np.ones((2, 3))),
    "pool_told: a short row": lambda: told(weights=np.ones(5)),
    "pool_told: no row": lambda: told(weights=None),
    "pool_told: few means": lambda: told(mean=np.zeros(2)),
    "pool_told: many variances": lambda: told(variance=np.zeros(4)),
    "pool_told: no candidates": lambda: told(
        C=np.zeros((0, 2)), cross=np.ones((0, 4)), later=np.ones((1, 0)), mean=np.zeros(0), variance=np.zeros(0)
    ),
    "of: few stds": lambda: improvement().of(np.zeros(3), np.ones(2)),
    "of: a table of means": lambda: improvement().of(np.zeros((3, 1)), np.ones(3)),
    "of: no means": lambda: improvement().of(None, np.ones(3)),
    "cross: lengthscales of three columns": lambda: native.cross(0, POINTS, POINTS, np.ones(3), 1.0),
    "cross: no lengthscales": lambda: native.cross(0, POINTS, POINTS, None, 1.0),
    "append: a base that is not square": lambda: native.append(
        np.zeros((2, 3)), np.zeros((0, 2)), np.zeros(2), 1.0, 0.0
    ),
    "append: a short tail": lambda: native.append(np.eye(2), np.zeros((1, 2)), np.zeros(3), 1.0, 0.0),
    "append: a short row": lambda: native.append(np.eye(2), np.zeros((0, 2)), np.zeros(1), 1.0, 0.0),
    "append: a long row": lambda: native.append(np.eye(2), np.zeros((0, 2)), np.zeros(9), 1.0, 0.0),
    "append: a table for a row": lambda: native.append(np.eye(2), np.zeros((0, 2)), np.zeros((1, 2)), 1.0, 0.0),
    "posterior: fewer points": lambda: posterior(X=POINTS[:3]),
    "posterior: a base that is not square": lambda: posterior(base=np.zeros((4, 3))),
    "posterior: a small base": lambda: posterior(base=np.eye(3)),
    "posterior: a short tail": lambda: posterior(tail=np.zeros((1, 4))),
    "posterior: few weights": lambda: posterior(alpha=np.ones(4)),
    "posterior: few lengthscales": lambda: posterior(lengthscales=np.ones(1)),
    "posterior: a text for a signal": lambda: posterior(signal="much"),
    "posterior: no data": lambda: posterior(
        X=POINTS[:0], base=np.zeros((0, 0)), tail=np.zeros((0, 0)), alpha=np.zeros(0)
    ).predict(POINTS),
    "hyper: no data": lambda: hyper(X=POINTS[:0], y=np.zeros(0)).log_likelihood(np.zeros(3)),
    "improvement: no posterior": lambda: native.Improvement(None, 0, 0.0, 0.0),
    "improvement: made of nothing": lambda: native.Improvement.__new__(native.Improvement),
    "improvement: no such kind": lambda: native.Improvement(posterior(), 4, 0.0, 0.0),
    "cross: no such kernel": lambda: native.cross(3, POINTS, POINTS, SCALES, 1.0),
    "covariance_factor: no such kernel": lambda: native.covariance_factor(-1, POINTS, SCALES, 1.0, 2.0),
    "posterior: no such kernel": lambda: posterior(kernel=3),
    "hyper: no such kernel": lambda: hyper(kernel=3),
    "improvement: something else": lambda: native.Improvement(object(), 0, 0.0, 0.0),
    "hyper: few values": lambda: hyper(y=np.zeros(4)),
    "hyper: a short prior": lambda: hyper(center=np.zeros(2), precision=np.zeros((2, 2))),
    "hyper: a prior in two sizes": lambda: hyper(precision=np.zeros((3, 4))),
    "hyper: a prior of another size": lambda: hyper(precision=np.zeros((2, 3))),
    "hyper: no room for the noise": lambda: hyper(noise=float("nan")),
    "hyper: few groups": lambda: hyper(groups=np.zeros(1, dtype=np.intp)),
    "hyper: a group too many": lambda: hyper(groups=np.array([0, 2])),
    "hyper: a group below zero": lambda: hyper(groups=np.array([0, -1])),
    "hyper: groups without lengthscales": lambda: hyper(
        groups=np.zeros(2, dtype=np.intp), center=np.zeros(0), precision=np.zeros((0, 0))
    ),
    "hyper: a short theta": lambda: hyper().log_likelihood(np.zeros(2)),
    "hyper: a long theta": lambda: hyper().log_likelihood(np.zeros(4)),
    "newton: a short box": lambda: hyper().newton(np.zeros((1, 3)), np.zeros(2), np.ones(3), newton.Settings()),
    "newton: short starts": lambda: hyper().newton(np.zeros((1, 2)), np.zeros(3), np.ones(3), newton.Settings()),
    "newton: no starts": lambda: hyper().newton(np.zeros((0, 3)), np.zeros(3), np.ones(3), newton.Settings()),
    "minimize: a short box": lambda: search(lower=np.zeros(1)),
    "minimize: a long box": lambda: search(upper=np.ones(3)),
    "minimize: few flags": lambda: search(moves=FLAGS[:1]),
    "minimize: flags that are numbers": lambda: search(moves=np.ones(2)),
    "minimize: no objective": lambda: search(objective=None),
    "minimize: a plain function": lambda: search(objective=bowl),
    "minimize: nothing to remember in": lambda: search(settings=rules(memory=0)),
    "minimize: less than nothing to remember in": lambda: search(settings=rules(memory=-3)),
    "minimize: a text to remember in": lambda: search(settings=rules(memory="much")),
    "minimize: rounds that are none": lambda: search(settings=rules(max_rounds=None)),
    "sums: a column in two": lambda: native.Sums(np.ones((2, 2)), np.zeros(2), np.ones(2)),
    "sums: few bounds": lambda: native.Sums(np.ones((1, 2)), np.zeros(0), np.ones(1)),
    "sums: many bounds": lambda: native.Sums(np.ones((1, 2)), np.zeros(1), np.ones(2)),
    "sums: no rules": lambda: native.Sums(None, np.zeros(1), np.ones(1)),
    "sums: made of nothing": lambda: native.Sums.__new__(native.Sums),
    "sums: a box for two points": lambda: project(lower=np.zeros((2, 2)), upper=np.ones((2, 2))),
    "sums: no box": lambda: project(lower=np.zeros((0, 2)), upper=np.ones((0, 2))),
    "sums: two kinds of boxes": lambda: project(lower=np.zeros((5, 2))),
    "sums: a narrow box": lambda: project(upper=np.ones((1, 1))),
    "chords: few numbers": lambda: chords(U=np.ones((4, 1))),
    "chords: numbers for two turns": lambda: chords(U=np.ones((5, 2))),
    "chords: long directions": lambda: chords(basis=np.ones((1, 3))),
    "chords: a short box": lambda: chords(upper=np.ones(1)),
    "chords: a long box": lambda: chords(lower=np.ones(3)),
    "chords: short rules": lambda: chords(A=np.ones((1, 1))),
    "chords: few bounds": lambda: chords(high=np.ones(0)),
    "walk: a short box": lambda: walk(lower=np.zeros(1)),
    "walk: few flags": lambda: walk(moves=FLAGS[:1]),
    "walk: sums of three columns": lambda: walk(sums=native.Sums(np.ones((1, 3)), np.ones(1), np.ones(1))),
    "walk: no sums": lambda: walk(sums=None),
    "walk: no objective": lambda: walk(objective=None),
    "walk: rounds that are none": lambda: walk(settings=rules(max_rounds=None)),
    "walk: an objective that gives nothing": lambda: walk(objective=native.Callback(lambda X: None, 2)),
    "callback: fewer columns than none": lambda: native.Callback(bowl, -1),
    "pick_starts: none wanted": lambda: native.pick_starts(POINTS, np.ones(5), 0, 4, 0.1),
    "near_rows: columns of other points": lambda: native.near_rows(POINTS, np.ones((3, 3)), SCALES, 0.1, 0.1),
    "near_rows: few scales": lambda: native.near_rows(POINTS, POINTS, np.ones(1), 0.1, 0.1),
    "pick_starts: few values": lambda: native.pick_starts(POINTS, np.ones(4), 2, 4, 0.1),
}
"""Calls that must be a ValueError or a TypeError."""

WRAPPING = (2**40, 2**58, 2**59 + 1, 2**60, 2**61 - 1, 2**61, 2**61 + 1, 2**62 - 2, 2**62, 2**62 + 1, 2**63 - 1)
"""Sizes of which a few bytes each, or twice as many, are more than can be counted."""

TOO_MUCH: dict[str, Callable[[], Any]] = {
    f"minimize: {memory} pairs of {len(X0)} starts": partial(search, X0=X0, settings=rules(memory=memory))
    for memory in WRAPPING
    for X0 in (POINTS, POINTS[:1])
}
"""Calls that ask for more memory than there is: a MemoryError."""

HARMLESS: dict[str, Callable[[], Any]] = {
    "cross: nothing with nothing": lambda: native.cross(0, np.zeros((0, 2)), np.zeros((0, 2)), SCALES, 1.0),
    "cross: nothing with something": lambda: native.cross(0, np.zeros((0, 2)), POINTS, SCALES, 1.0),
    "covariance_factor: no points": lambda: native.covariance_factor(0, np.zeros((0, 2)), SCALES, 1.0, 2.0),
    "covariance_factor: no points of no known noise": lambda: native.covariance_factor(
        0, np.zeros((0, 2)), SCALES, 1.0, 2.0, np.zeros(0)
    ),
    "covariance_factor: noise that is no number": lambda: native.covariance_factor(
        0, POINTS, SCALES, 1.0, 2.0, np.full(5, np.nan)
    ),
    "append: to nothing": lambda: native.append(np.zeros((0, 0)), np.zeros((0, 0)), np.zeros(0), 1.0, 1e-12),
    "predict: nowhere": lambda: posterior().predict(np.zeros((0, 2))),
    "value: of a callback, with gradient": lambda: native.Callback(bowl, 2).value_with_gradient(POINTS),
    "minimize: from nowhere": lambda: search(X0=np.zeros((0, 2))),
    "minimize: much memory": lambda: search(settings=rules(memory=1000)),
    "minimize: no finalists": lambda: search(settings=rules(heat=2, finalists=0)),
    "minimize: a box inside out": lambda: search(lower=BOX[1], upper=BOX[0]),
    "minimize: a start that is no number": lambda: search(X0=np.full((2, 2), np.nan)),
    "minimize: more rounds than can be counted": lambda: search(settings=rules(max_rounds=2**63 - 1)),
    "minimize: less than no rounds": lambda: search(settings=rules(max_rounds=-(2**63), heat=-1, finalists=-(2**63))),
    "minimize: tolerances that are no numbers": lambda: search(
        settings=rules(gradient_tol=np.nan, value_tol=np.nan, first_step=np.nan)
    ),
    "minimize: steps without end": lambda: search(settings=rules(first_step=np.inf)),
    "sums: of nothing": lambda: native.Sums(np.zeros((2, 2)), np.ones(2), np.ones(2)).project(
        POINTS, np.zeros((1, 2)), np.ones((1, 2))
    ),
    "sums: of no columns": lambda: native.Sums(np.zeros((0, 0)), np.ones(0), np.ones(0)).project(
        np.zeros((3, 0)), np.zeros((1, 0)), np.ones((1, 0))
    ),
    "sums: nowhere": lambda: project(P=np.zeros((0, 2))),
    "sums: at no numbers": lambda: project(P=np.full((3, 2), np.nan)),
    "sums: at infinity": lambda: project(P=np.array([[np.inf, -np.inf], [np.inf, np.nan]])),
    "sums: no bounds": lambda: native.Sums(np.full((1, 2), np.nan), np.full(1, np.nan), np.full(1, np.inf)).project(
        POINTS, np.zeros((1, 2)), np.full((1, 2), np.nan)
    ),
    "sums: a box inside out": lambda: project(lower=np.ones((1, 2)), upper=np.zeros((1, 2))),
    "chords: nowhere": lambda: chords(X=np.zeros((0, 2)), U=np.zeros((0, 1))),
    "chords: no directions": lambda: chords(basis=np.zeros((0, 2)), U=np.zeros((5, 0))),
    "chords: no numbers": lambda: chords(X=np.full((5, 2), np.nan), basis=np.full((1, 2), np.nan)),
    "chords: no rules": lambda: chords(A=np.zeros((0, 2)), low=np.zeros(0), high=np.zeros(0)),
    "walk: from nowhere": lambda: walk(X0=np.zeros((0, 2))),
    "walk: a start that is no number": lambda: walk(X0=np.full((2, 2), np.nan)),
    "walk: a box inside out": lambda: walk(lower=BOX[1], upper=BOX[0]),
    "walk: a factor that is no number": lambda: walk(factor=np.nan),
    "walk: no finalists": lambda: walk(settings=rules(heat=2, finalists=0)),
    "walk: less than no rounds": lambda: walk(settings=rules(max_rounds=-(2**63), heat=-1, finalists=-(2**63))),
    "walk: tolerances that are no numbers": lambda: walk(settings=rules(gradient_tol=np.nan, value_tol=np.nan)),
    "walk: an objective without numbers": lambda: walk(
        objective=native.Callback(lambda X: (np.full(len(X), np.nan), np.full(X.shape, np.inf)), 2)
    ),
    "newton: steps that are no numbers": lambda: hyper().newton(
        np.zeros((1, 3)), np.zeros(3), np.ones(3), SimpleNamespace(max_values=60, gain_tol=np.nan, longest=np.nan)
    ),
    **{
        f"pick_starts: {wanted} among {among}": partial(native.pick_starts, POINTS, np.ones(5), wanted, among, 0.0)
        for wanted in (1, 5, 6, 2**31, 2**61, 2**63 - 1)
        for among in (1, 2**63 - 1)
    },
    "pool: nowhere": lambda: posterior().pool(np.zeros((0, 2))),
    "pool: at no numbers": lambda: posterior().pool(np.full((3, 2), np.nan)),
    "pool_told: a longer row": lambda: told(weights=np.ones(9)),
    "pool_told: nothing that came later": lambda: told(later=np.zeros((0, 3)), weights=np.ones(5)),
    "pool_told: no numbers": lambda: told(x=np.full(2, np.nan), z=np.inf),
    "of: nothing": lambda: improvement().of(np.zeros(0), np.zeros(0)),
    "of: no numbers": lambda: improvement().of(np.full(3, np.nan), np.zeros(3)),
    "predict: at no numbers": lambda: posterior().predict_with_gradient(np.full((3, 2), np.nan)),
    "predict: at infinity": lambda: posterior().predict_with_gradient(np.full((3, 2), np.inf)),
    "newton: no values": lambda: hyper().newton(
        np.zeros((1, 3)), np.zeros(3), np.ones(3), SimpleNamespace(max_values=0, gain_tol=0.0, longest=1.0)
    ),
    "lbfgs: no rounds": lambda: hyper().lbfgs(np.zeros((1, 3)), np.zeros(3), np.ones(3), Settings(max_rounds=0)),
    "hyper: no number": lambda: hyper().log_likelihood(np.full(3, np.nan)),
    "hyper: noise that is no number": lambda: hyper(known=np.full(5, np.nan)).log_likelihood(np.zeros(3)),
    "hyper: noise without end": lambda: hyper(known=np.full(5, np.inf)).log_likelihood(np.zeros(3)),
    "hyper: out of range": lambda: hyper().log_likelihood(np.full(3, 800.0)),
    "hyper: out of range below": lambda: hyper().log_likelihood(np.full(3, -800.0)),
}
"""Calls that are no mistake, or whose answer does not matter: they must return."""


def outcome(call: Callable[[], Any]) -> str:
    """What becomes of a call, told by a child process through a pipe; what BLAS prints in it is told too."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(writer, 1)
        try:
            call()
            said = "returned"
        except BaseException as error:
            said = type(error).__name__
        os.write(writer, said.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as told:
        said = told.read()
    _, status = os.waitpid(child, 0)
    return said if status == 0 and said else "died"


if __name__ == "__main__":
    json.dump({name: outcome(call) for name, call in {**REFUSED, **TOO_MUCH, **HARMLESS}.items()}, sys.stdout)
