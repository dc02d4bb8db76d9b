"""The search space of a study: named parameters in the user's terms, and the encoded unit cube that models see."""

from believer.space.parameters import Categorical, Discrete, Float, Int, Ordinal
from believer.space.rules import linear, max_parts, sum_to
from believer.space.space import Constraint, Space

__all__ = ["Categorical", "Constraint", "Discrete", "Float", "Int", "Ordinal", "Space", "linear", "max_parts", "sum_to"]
