"""The data of a study's figures, as frozen values: arrays, names and labels, before anything is drawn.

Each function takes an ``Optimizer``, the ``Result`` of ``minimize``, a study from ``read_study`` or the path of a
journal. Several figures of one study share its models if they are given ``study_of(study)``.

>>> import believer as bv
>>> opt = bv.Optimizer(bv.Space({"x": bv.Float(0, 1)}), seed=0)
>>> for trial in opt.ask(4):
...     opt.tell(trial, (trial.params["x"] - 0.3) ** 2)
>>> found = bv.plot.data.convergence(opt)
>>> found.label, len(found.best)
('value', 4)
"""

from believer.plot.data.axis import Axis, axes_of
from believer.plot.data.calibration import Calibration, calibration
from believer.plot.data.convergence import Convergence, Span, convergence
from believer.plot.data.dependence import Curve, Surface, partial_dependence, slice, surface  # noqa: A004
from believer.plot.data.diversity import Diversity, diversity
from believer.plot.data.evaluations import Evaluations, evaluations, parallel_coordinates
from believer.plot.data.feasibility import Feasibility, feasibility
from believer.plot.data.front import FrontPair, front
from believer.plot.data.importance import Importance, importance
from believer.plot.data.lies import Lies, LieStep, lies
from believer.plot.data.source import Source, StudyLike, study_of
from believer.plot.data.timeline import Timeline, timeline
from believer.plot.data.trials import Trials, trials_of

__all__ = [
    "Axis",
    "Calibration",
    "Convergence",
    "Curve",
    "Diversity",
    "Evaluations",
    "Feasibility",
    "FrontPair",
    "Importance",
    "LieStep",
    "Lies",
    "Source",
    "Span",
    "StudyLike",
    "Surface",
    "Timeline",
    "Trials",
    "axes_of",
    "calibration",
    "convergence",
    "diversity",
    "evaluations",
    "feasibility",
    "front",
    "importance",
    "lies",
    "parallel_coordinates",
    "partial_dependence",
    "slice",
    "study_of",
    "surface",
    "timeline",
    "trials_of",
]
