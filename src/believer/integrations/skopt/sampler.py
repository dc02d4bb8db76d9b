"""The designs of ``skopt.sampler``, each drawn by this library's own."""

from typing import Any

from believer.integrations.skopt.optimizer import cook_initial_point_generator
from believer.integrations.skopt.space import Space, check_random_state

__all__ = ["Grid", "Halton", "Hammersly", "InitialPointGenerator", "Lhs", "Sobol"]


class InitialPointGenerator:
    """Points to begin with. ``design`` is its name.

    Parameters
    ----------
    places, options : the arguments of scikit-optimize, which are ignored.
    """

    design = "random"

    def __init__(self, *places: Any, **options: Any) -> None:
        pass

    def generate(self, dimensions: Any, n_samples: int, random_state: Any = None) -> list[Any]:
        """``n_samples`` points of a space with these ``dimensions``."""
        space, rng = Space(dimensions), check_random_state(random_state)
        generate = cook_initial_point_generator(self.design)
        seed = rng.randint(2**31 - 1)
        return space.rvs(n_samples, rng) if generate is None else generate(space, n_samples, int(seed))


class Lhs(InitialPointGenerator):
    """A Latin hypercube."""

    design = "lhs"


class Sobol(InitialPointGenerator):
    """Sobol's sequence."""

    design = "sobol"


class Halton(InitialPointGenerator):
    """Sobol's sequence, which fills the space at least as evenly."""

    design = "halton"


class Hammersly(InitialPointGenerator):
    """Sobol's sequence, which fills the space at least as evenly."""

    design = "hammersly"


class Grid(InitialPointGenerator):
    """A Latin hypercube, which is even for any number of points."""

    design = "grid"
