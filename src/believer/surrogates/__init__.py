"""Surrogates: recipes that turn data into models, and what models can do.

The Gaussian process is loaded with the package, every other surrogate when its name is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from believer.surrogates.gp import GP, GPModel

if TYPE_CHECKING:
    from believer.surrogates.fixed_rbf import FixedRBF
    from believer.surrogates.forest import RandomForest
    from believer.surrogates.last_layer import LastLayer
    from believer.surrogates.mq_rbf import MQRBF
    from believer.surrogates.neural import NeuralEnsemble
    from believer.surrogates.sklearn import SklearnSurrogate
    from believer.surrogates.sparse_gp import SparseGP
    from believer.surrogates.svr import SVR

LOADED_ON_USE = {
    "FixedRBF": "fixed_rbf",
    "LastLayer": "last_layer",
    "MQRBF": "mq_rbf",
    "NeuralEnsemble": "neural",
    "RandomForest": "forest",
    "SVR": "svr",
    "SklearnSurrogate": "sklearn",
    "SparseGP": "sparse_gp",
}
"""Classes, and the modules of this room that they are in."""

SURROGATES: dict[str, str] = {
    "gp": "GP",
    "mq_rbf": "MQRBF",
    "fixed_rbf": "FixedRBF",
    "neural": "NeuralEnsemble",
    "last_layer": "LastLayer",
    "forest": "RandomForest",
    "svr": "SVR",
    "sparse_gp": "SparseGP",
}
"""Names on a command line, and the recipes that they stand for."""

__all__ = [
    "GP",
    "LOADED_ON_USE",
    "MQRBF",
    "SURROGATES",
    "SVR",
    "FixedRBF",
    "GPModel",
    "LastLayer",
    "NeuralEnsemble",
    "RandomForest",
    "SklearnSurrogate",
    "SparseGP",
]


def __getattr__(name: str) -> Any:
    if name not in LOADED_ON_USE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{LOADED_ON_USE[name]}"), name)
