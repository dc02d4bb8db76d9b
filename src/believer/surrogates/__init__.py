"""Surrogates: recipes that turn data into models, and the capabilities of models.

The Gaussian process is loaded with the package, every other surrogate when its name is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from believer._lazy import loader
from believer.surrogates.gp import GP, GPModel, fit_gp, posterior, standardization
from believer.surrogates.gp_fit import Hyperparameters, LogNormal, Preset
from believer.surrogates.kernels import KERNELS, multiquadric, squared_distances

if TYPE_CHECKING:
    from believer.surrogates.fixed_rbf import FixedRBF
    from believer.surrogates.forest import RandomForest
    from believer.surrogates.last_layer import LastLayer
    from believer.surrogates.mq_rbf import MQRBF, median_distance
    from believer.surrogates.network import Networks
    from believer.surrogates.neural import NeuralEnsemble, NeuralModel
    from believer.surrogates.sklearn import SklearnSurrogate
    from believer.surrogates.sparse_gp import SparseGP, SparseGPModel
    from believer.surrogates.svr import SVR
    from believer.surrogates.torch_gp import TorchGP

LOADED_ON_USE = {
    "FixedRBF": "fixed_rbf",
    "LastLayer": "last_layer",
    "MQRBF": "mq_rbf",
    "NeuralEnsemble": "neural",
    "RandomForest": "forest",
    "SVR": "svr",
    "SklearnSurrogate": "sklearn",
    "SparseGP": "sparse_gp",
    "TorchGP": "torch_gp",
}
"""The recipes, and the modules of this package that define them."""

_PARTS = {
    "Networks": "network",
    "NeuralModel": "neural",
    "SparseGPModel": "sparse_gp",
    "median_distance": "mq_rbf",
}
"""Building blocks for surrogates of other authors, which are also loaded on use."""

SURROGATES: dict[str, str] = {
    "gp": "GP",
    "mq_rbf": "MQRBF",
    "fixed_rbf": "FixedRBF",
    "neural": "NeuralEnsemble",
    "last_layer": "LastLayer",
    "forest": "RandomForest",
    "svr": "SVR",
    "sparse_gp": "SparseGP",
    "torch_gp": "TorchGP",
}
"""The names that users type, and the recipes that they stand for."""

__all__ = [
    "GP",
    "KERNELS",
    "LOADED_ON_USE",
    "MQRBF",
    "SURROGATES",
    "SVR",
    "FixedRBF",
    "GPModel",
    "Hyperparameters",
    "LastLayer",
    "LogNormal",
    "Networks",
    "NeuralEnsemble",
    "NeuralModel",
    "Preset",
    "RandomForest",
    "SklearnSurrogate",
    "SparseGP",
    "SparseGPModel",
    "TorchGP",
    "fit_gp",
    "median_distance",
    "multiquadric",
    "posterior",
    "squared_distances",
    "standardization",
]

__getattr__ = loader(__name__, {**LOADED_ON_USE, **_PARTS})
