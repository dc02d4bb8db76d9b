"""The problems of ``believer demo``, a file each."""

from believer.cli.demos.classifier import CLASSIFIER
from believer.cli.demos.demo import Demo
from believer.cli.demos.function import FUNCTION
from believer.cli.demos.reaction import REACTION
from believer.cli.demos.simulation import SIMULATION

__all__ = ["DEMOS", "Demo"]

DEMOS: dict[str, Demo] = {demo.name: demo for demo in (REACTION, CLASSIFIER, SIMULATION, FUNCTION)}
"""The demos by name; the first one is the default."""
