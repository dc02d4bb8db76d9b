"""scikit-optimize's search space."""

from believer.integrations.skopt.space.space import Categorical, Dimension, Integer, Real, Space
from believer.integrations.skopt.space.space import Numeric as Numeric
from believer.integrations.skopt.space.space import OutOfOrder as OutOfOrder
from believer.integrations.skopt.space.space import check_dimension as check_dimension
from believer.integrations.skopt.space.space import check_random_state as check_random_state
from believer.integrations.skopt.space.space import one_of as one_of

__all__ = ["Categorical", "Dimension", "Integer", "Real", "Space"]
