"""The propositions of the paper as functions, each with its exact counterpart; docs/theory.md shows what holds.

======================  ==================================================================
module                  of [paper]
======================  ==================================================================
``rank_one``            Eq. 1-2 and 12: mean and variance after a lie
``distinctness``        Prop. 1: does the next point differ from the last?
``counterexamples``     situations in which Prop. 1, or a separation of order ℓ, fails
``suppression``         Prop. 2, Eq. 3: how far a lie suppresses the variance
``minimizer``           (not in it) what a model knows about the place of its minimum
``separation``          (not in it) the distance to the next point, once the model is sure
``pairs``               (not in it) the distance of the two points of a batch then
``invariance``          Lemma 1: believing leaves the mean unchanged
``degeneracy``          Cor. 1: a model that no lie changes
``monotonicity``        Prop. 3: which acquisitions rise with σ
``penalty``             Eq. 4: ψ, and Local Penalization
``expansion``           Eq. 17: EI to first order
``determinantal``       appendix C.5: log ψ and determinants
======================  ==================================================================
"""

from believer_paper.theory.counterexamples import COUNTEREXAMPLES, Tally, counterexample, tally
from believer_paper.theory.degeneracy import UnmovedBatch, unmoved_batch
from believer_paper.theory.determinantal import LogPenalty, log_chain, log_determinant, log_penalty
from believer_paper.theory.distinctness import Guarantee, guarantee
from believer_paper.theory.expansion import Change, improvement_change
from believer_paper.theory.family import Family
from believer_paper.theory.invariance import Believed, believe, mean_shift, restandardized
from believer_paper.theory.minimizer import Local, believed_minimizer, local
from believer_paper.theory.monotonicity import Monotonicity, exact_sign, monotonicity
from believer_paper.theory.pairs import Pairs, pairs, sure_model
from believer_paper.theory.penalty import ImplicitPenalty, improvement_ratio, local_penalty, penalty, printed_penalty
from believer_paper.theory.rank_one import RankOne, conditioned, observation_noise, rank_one, variance_at_the_point
from believer_paper.theory.separation import Separation, exact_step, next_step, standard_step
from believer_paper.theory.situation import Situation, Step, lie_about
from believer_paper.theory.suppression import (
    Suppression,
    exact_radius,
    guaranteed_radius,
    kappa,
    printed_radius,
    suppression,
)

__all__ = [
    "COUNTEREXAMPLES",
    "Believed",
    "Change",
    "Family",
    "Guarantee",
    "ImplicitPenalty",
    "Local",
    "LogPenalty",
    "Monotonicity",
    "Pairs",
    "RankOne",
    "Separation",
    "Situation",
    "Step",
    "Suppression",
    "Tally",
    "UnmovedBatch",
    "believe",
    "believed_minimizer",
    "conditioned",
    "counterexample",
    "exact_radius",
    "exact_sign",
    "exact_step",
    "guarantee",
    "guaranteed_radius",
    "improvement_change",
    "improvement_ratio",
    "kappa",
    "lie_about",
    "local",
    "local_penalty",
    "log_chain",
    "log_determinant",
    "log_penalty",
    "mean_shift",
    "monotonicity",
    "next_step",
    "observation_noise",
    "pairs",
    "penalty",
    "printed_penalty",
    "printed_radius",
    "rank_one",
    "restandardized",
    "standard_step",
    "suppression",
    "sure_model",
    "tally",
    "unmoved_batch",
    "variance_at_the_point",
]
