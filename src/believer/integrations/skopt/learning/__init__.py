"""The regressors of ``skopt.learning``: scikit-learn's, which also say how sure they are."""

from believer.integrations.skopt.learning.ensembles import (
    ExtraTreesRegressor,
    GradientBoostingQuantileRegressor,
    RandomForestRegressor,
)
from believer.integrations.skopt.learning.gaussian_process import GaussianProcessRegressor

__all__ = [
    "ExtraTreesRegressor",
    "GaussianProcessRegressor",
    "GradientBoostingQuantileRegressor",
    "RandomForestRegressor",
]
