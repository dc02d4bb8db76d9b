"""Everything that authors need: of surrogates, acquisition functions, strategies and maximizers, and of hosts that keep
trials themselves.

The guide is docs/plugins.md. ``believer.testing`` checks a new part against the contracts. Those who only optimize need
``believer`` alone.
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
from believer.acquisitions.acquisition import ByPredictions
from believer.acquisitions.feasibility import Feasible, Limits
from believer.arrays import Array
from believer.batch import Lie, Pending, Request, Strategy, Verdict
from believer.batch.belief import Belief, believed
from believer.batch.best_so_far import BestSoFar, best_places, best_so_far, real_incumbent
from believer.batch.capability import require
from believer.batch.learned import Learned, Output, Part
from believer.batch.picking import Picked, maximizer_for, pick, taken
from believer.batch.request import LIMITS, ONE, SEVERAL, Choice, Chosen, Randomness
from believer.batch.worth import Worth, bounded, worth
from believer.maximize import Maximizer, Maximum, Objective, Search
from believer.maximize.objective import Climb, Climbing, Known
from believer.numerics.sampling import stream
from believer.propose import Proposal, propose, rehearse
from believer.space.box import Box
from believer.space.parameter import Measurable, Number, Parameter
from believer.space.region import Region, bounds
from believer.study.history import Fitted, History, Table
from believer.study.ledger import Counts
from believer.study.models import ModelCache
from believer.study.options import Options
from believer.study.outcome import Outcome
from believer.study.settings import StudySettings
from believer.study.trials import Batch, Trial
from believer.surrogates.data import Data, joined, learnable, learned
from believer.surrogates.pool import Pool, Pooling
from believer.surrogates.protocols import (
    MIN_VARIANCE,
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
    Recalling,
    Restorable,
    Sampling,
    Scaled,
    Smoothing,
    Stochastic,
    Suited,
    Surrogate,
    Verifiable,
)

__all__ = [
    "LIMITS",
    "MIN_VARIANCE",
    "ONE",
    "SEVERAL",
    "Acquisition",
    "Array",
    "Batch",
    "Belief",
    "BestSoFar",
    "Bindable",
    "Bounded",
    "Box",
    "ByPredictions",
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
    "Known",
    "Learned",
    "Lie",
    "Limits",
    "Maximizer",
    "Maximum",
    "Measurable",
    "Model",
    "ModelCache",
    "Number",
    "Objective",
    "Options",
    "Outcome",
    "Output",
    "Parameter",
    "Part",
    "Paths",
    "Pathwise",
    "Pending",
    "PerPoint",
    "Picked",
    "Pointwise",
    "PointwiseAcquisition",
    "Pool",
    "Pooling",
    "Prediction",
    "PredictionGradient",
    "Proposal",
    "Randomness",
    "Recalling",
    "Region",
    "Request",
    "Restorable",
    "Sampling",
    "Scaled",
    "Search",
    "Several",
    "Smoothing",
    "Stochastic",
    "Strategy",
    "StudySettings",
    "Suited",
    "Surrogate",
    "Table",
    "Trial",
    "Verdict",
    "Verifiable",
    "View",
    "Worth",
    "believed",
    "best_places",
    "best_so_far",
    "bounded",
    "bounds",
    "joined",
    "learnable",
    "learned",
    "maximizer_for",
    "objective_on",
    "pick",
    "propose",
    "real_incumbent",
    "rehearse",
    "require",
    "stream",
    "taken",
    "worth",
]
