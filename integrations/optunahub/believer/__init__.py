"""The sampler of believer, which is installed apart: ``pip install 'believer[optuna]'``."""

from believer.integrations.optuna import BelieverSampler

__all__ = ["BelieverSampler"]
