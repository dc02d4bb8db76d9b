"""Figures of a study. Each needs only the study: an ``Optimizer``, a ``Result``, a study from ``read_study``, or a
path.

>>> import believer as bv
>>> ax = bv.plot.convergence("study.jsonl")             # doctest: +SKIP
>>> ax.figure.savefig("convergence.png")                # doctest: +SKIP

They need matplotlib (``pip install "believer[plots]"``), draw on ``ax`` or on a new pyplot figure, and return the axes:
one, or an array of them. The data of all figures are in :mod:`believer.plot.data`, without matplotlib.
"""

from believer.plot import data
from believer.plot.calibration import calibration
from believer.plot.convergence import convergence
from believer.plot.dependence import batches, partial_dependence, slice  # noqa: A004
from believer.plot.diversity import diversity
from believer.plot.feasibility import feasibility
from believer.plot.front import front
from believer.plot.importance import importance
from believer.plot.lies import lies
from believer.plot.parameters import evaluations, parallel_coordinates
from believer.plot.timeline import timeline

__all__ = [
    "batches",
    "calibration",
    "convergence",
    "data",
    "diversity",
    "evaluations",
    "feasibility",
    "front",
    "importance",
    "lies",
    "parallel_coordinates",
    "partial_dependence",
    "slice",
    "timeline",
]
