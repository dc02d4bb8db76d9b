"""The door for authors: of surrogates, acquisitions, strategies, maximizers, and of hosts that keep studies themselves.

The guide is docs/plugins.md. ``believer.testing`` checks what was written against the contracts; ``believer`` itself is
the door for those who optimize.
"""

from believer.acquisitions import (
    Acquisition,
    Bindable,
    PerPoint,
    Pointwise,
    PointwiseAcquisition,
    Several,
    View,
    objective_on,
)
from believer.acquisitions.feasibility import Feasible, Within
from believer.arrays import Array
from believer.batch import Lie, Pending, Request, Strategy, Verdict
from believer.batch.capability import require
from believer.batch.incumbent import believed_incumbent, real_incumbent
from believer.batch.outputs import Beliefs, believed
from believer.batch.picking import Picked, best_places, maximizer_for, pick, taken
from believer.batch.request import Choice, Chosen, ModelFree, Output, Randomness, TakesOutputs
from believer.maximize import Maximizer, Maximum, Objective, Search
from believer.maximize.objective import Climb, Climbing, Screening
from believer.numerics.sampling import stream
from believer.propose import Proposal, propose, rehearse
from believer.space.box import Box
from believer.space.parameter import Number, Parameter
from believer.space.region import Region, bounds
from believer.study.history import Fitted, History
from believer.study.ledger import Counts
from believer.study.model_cache import ModelCache
from believer.study.outcome import Outcome
from believer.study.settings import StudySettings, make_settings
from believer.study.trials import Batch, Trial
from believer.surrogates.data import Data, joined, learnable, learned
from believer.surrogates.protocols import (
    LEAST_VARIANCE,
    Bounded,
    Conditionable,
    Differentiable,
    Fantasies,
    Fantasizing,
    FantasyGradient,
    Joint,
    JointGradient,
    JointlyDifferentiable,
    JointPrediction,
    Model,
    Paths,
    Pathwise,
    Prediction,
    PredictionGradient,
    Restorable,
    Sampling,
    Scaled,
    Smoothing,
    Stochastic,
    Surrogate,
    Verifiable,
)

__all__ = [
    "LEAST_VARIANCE",
    "Acquisition",
    "Array",
    "Batch",
    "Beliefs",
    "Bindable",
    "Bounded",
    "Box",
    "Choice",
    "Chosen",
    "Climb",
    "Climbing",
    "Conditionable",
    "Counts",
    "Data",
    "Differentiable",
    "Fantasies",
    "Fantasizing",
    "FantasyGradient",
    "Feasible",
    "Fitted",
    "History",
    "Joint",
    "JointGradient",
    "JointPrediction",
    "JointlyDifferentiable",
    "Lie",
    "Maximizer",
    "Maximum",
    "Model",
    "ModelCache",
    "ModelFree",
    "Number",
    "Objective",
    "Outcome",
    "Output",
    "Parameter",
    "Paths",
    "Pathwise",
    "Pending",
    "PerPoint",
    "Picked",
    "Pointwise",
    "PointwiseAcquisition",
    "Prediction",
    "PredictionGradient",
    "Proposal",
    "Randomness",
    "Region",
    "Request",
    "Restorable",
    "Sampling",
    "Scaled",
    "Screening",
    "Search",
    "Several",
    "Smoothing",
    "Stochastic",
    "Strategy",
    "StudySettings",
    "Surrogate",
    "TakesOutputs",
    "Trial",
    "Verdict",
    "Verifiable",
    "View",
    "Within",
    "believed",
    "believed_incumbent",
    "best_places",
    "bounds",
    "joined",
    "learnable",
    "learned",
    "make_settings",
    "maximizer_for",
    "objective_on",
    "pick",
    "propose",
    "real_incumbent",
    "rehearse",
    "require",
    "stream",
    "taken",
]
