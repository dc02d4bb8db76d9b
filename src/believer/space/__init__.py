"""Where a study searches: named parameters in the user's terms, and the encoded unit cube that models see."""

from believer.space.parameters import Categorical, Float, Int
from believer.space.rules import linear, max_parts, sum_to
from believer.space.space import Constraint, Space

__all__ = ["Categorical", "Constraint", "Float", "Int", "Space", "linear", "max_parts", "sum_to"]
