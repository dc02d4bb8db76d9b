"""Types of the compiled module. Its sources are in native/, where each function says what it does."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from believer.arrays import Array, BoolArray, IntArray
from believer.numerics import lbfgs, newton

class Objective:
    @property
    def dim(self) -> int: ...
    def value_with_gradient(self, X: Array) -> tuple[Array, Array]: ...

class Callback(Objective):
    def __init__(self, function: Callable[[Array], tuple[Array, Array]], dim: int) -> None: ...

class Posterior:
    def __init__(
        self,
        kernel: int,
        X: Array,
        lengthscales: Array,
        signal: float,
        base: Array,
        tail: Array,
        alpha: Array,
        shift: float,
        scale: float,
        least_variance: float,
    ) -> None: ...
    @property
    def dim(self) -> int: ...
    def predict(self, X: Array) -> tuple[Array, Array]: ...
    def pool(self, X: Array) -> tuple[Array, Array, Array]: ...
    def predict_with_gradient(self, X: Array) -> tuple[Array, Array, Array, Array]: ...

class Improvement(Objective):
    def __init__(self, posterior: Posterior, kind: int, parameter: float, incumbent: float) -> None: ...
    def value(self, X: Array) -> Array: ...
    def of(self, mean: Array, std: Array) -> Array: ...

class HyperPosterior(Objective):
    def __init__(
        self,
        kernel: int,
        X: Array,
        y: Array,
        noise: float,
        mean_std: float,
        center: Array,
        precision: Array,
        known: Array | None = None,
        groups: IntArray | None = None,
    ) -> None: ...
    def lbfgs(self, starts: Array, lower: Array, upper: Array, settings: lbfgs.Settings) -> tuple[Array, float]: ...
    def newton(self, starts: Array, lower: Array, upper: Array, settings: newton.Settings) -> tuple[Array, float]: ...
    def log_likelihood(self, theta: Array) -> tuple[float, Array, float, Array]: ...

class Sums:
    def __init__(self, A: Array, low: Array, high: Array) -> None: ...
    @property
    def dim(self) -> int: ...
    def project(self, P: Array, lower: Array, upper: Array) -> Array: ...

_Sums: TypeAlias = Sums

class Native:
    """The module itself, as ``backend.native`` hands it over."""

    KERNELS: dict[str, int]
    ACQUISITIONS: dict[str, int]
    Callback: type[Callback]
    Posterior: type[Posterior]
    Improvement: type[Improvement]
    HyperPosterior: type[HyperPosterior]
    Sums: type[Sums]
    @staticmethod
    def cross(kernel: int, A: Array, B: Array, lengthscales: Array, signal: float) -> tuple[Array, Array]: ...
    @staticmethod
    def covariance_factor(
        kernel: int, X: Array, lengthscales: Array, signal: float, diagonal: float, known: Array | None = None
    ) -> Array | None: ...
    @staticmethod
    def append(base: Array, tail: Array, k: Array, variance: float, least_pivot: float) -> tuple[Array, float]: ...
    @staticmethod
    def minimize(
        objective: Objective,
        X0: Array,
        lower: Array,
        upper: Array,
        moves: npt.NDArray[np.uint8],
        factor: float,
        settings: lbfgs.Settings,
    ) -> tuple[Array, Array, int]: ...
    @staticmethod
    def pool_told(
        kernel: int,
        C: Array,
        x: Array,
        lengthscales: Array,
        signal: float,
        cross: Array,
        later: Array,
        weights: Array,
        z: float,
        mean: Array,
        variance: Array,
    ) -> tuple[Array, Array, Array]: ...
    @staticmethod
    def pick_starts(X: Array, values: Array, wanted: int, among: int, apart: float) -> IntArray: ...
    @staticmethod
    def near_rows(X: Array, points: Array, scale: Array, radius: float, reach: float) -> BoolArray: ...
    @staticmethod
    def chords(
        X: Array, basis: Array, U: Array, lower: Array, upper: Array, A: Array, low: Array, high: Array
    ) -> Array: ...
    @staticmethod
    def minimize_projected(
        objective: Objective,
        sums: _Sums,
        X0: Array,
        lower: Array,
        upper: Array,
        moves: npt.NDArray[np.uint8],
        factor: float,
        settings: lbfgs.Settings,
    ) -> tuple[Array, Array, int]: ...
