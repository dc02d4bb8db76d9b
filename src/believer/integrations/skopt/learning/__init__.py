"""The regressors of ``skopt.learning``: those of scikit-learn, with standard deviations."""

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
