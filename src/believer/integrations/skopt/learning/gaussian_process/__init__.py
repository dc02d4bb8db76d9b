"""scikit-learn's Gaussian process, as ``skopt.learning`` has it."""

from typing import Any, Self

from believer.errors import MissingExtra

try:
    from sklearn import gaussian_process
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
except ImportError as error:
    raise MissingExtra("scikit-learn", "surrogates") from error

__all__ = ["GaussianProcessRegressor"]


class GaussianProcessRegressor(gaussian_process.GaussianProcessRegressor):  # type: ignore[misc]
    """scikit-learn's class, with ``noise``. For optimization, believer's own GP ("GP") is faster and better.

    Parameters
    ----------
    kernel : by default a Matérn kernel with nu = 5/2 times a constant.
    noise : "gaussian" infers it, a number is its variance.
    options : the options of scikit-learn's class.
    """

    def __init__(self, kernel: Any = None, *, noise: Any = None, normalize_y: bool = True, **options: Any) -> None:
        super().__init__(normalize_y=normalize_y, **options)
        self.kernel: Any = kernel
        self.noise = noise

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the kernel and condition it on ``X``, ``y``."""
        given: Any = self.kernel
        kernel = ConstantKernel(1.0, (0.01, 1000.0)) * Matern(1.0, (0.01, 100.0), nu=2.5) if given is None else given
        if self.noise is not None:
            kernel = kernel + (WhiteKernel() if self.noise == "gaussian" else WhiteKernel(self.noise, "fixed"))
        self.kernel = kernel
        try:
            super().fit(X, y)
        finally:
            self.kernel = given
        return self

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted({*gaussian_process.GaussianProcessRegressor._get_param_names(), "noise"})
