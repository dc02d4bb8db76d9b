"""The capabilities that a strategy requires of a model, and the error for a model that lacks one."""

from __future__ import annotations

from believer.capabilities import has
from believer.errors import MissingCapability
from believer.surrogates.protocols import (
    Conditionable,
    Differentiable,
    Joint,
    JointlyDifferentiable,
    Model,
    Pathwise,
    Scaled,
)

_CONDITIONED = "GP, TorchGP, SparseGP, MQRBF, FixedRBF, LastLayer"
ABILITIES: dict[type, tuple[str, str]] = {
    Conditionable: ("can be conditioned in closed form (condition)", _CONDITIONED),
    Differentiable: ("gives gradients (predict_with_gradient)", f"{_CONDITIONED}, NeuralEnsemble, SVR"),
    Joint: ("gives joint covariances (joint)", "GP, TorchGP, SparseGP, MQRBF, FixedRBF, LastLayer"),
    JointlyDifferentiable: ("gives gradients of joint covariances (joint_with_gradient)", "GP, TorchGP"),
    Pathwise: ("gives functions drawn from it (paths)", "GP, TorchGP, SparseGP, FixedRBF, LastLayer"),
    Scaled: ("has lengthscales", "GP, TorchGP, SparseGP"),
}
"""Each capability in words, and the surrogates of this library whose models have it."""


def require(model: Model, capability: type, strategy: str, otherwise: str = "") -> None:
    """Raise MissingCapability if ``model`` lacks a capability; the message names surrogates and strategies that work.

    Parameters
    ----------
    model : the model in the request.
    capability : the protocol that it needs, e.g. ``Joint``.
    strategy : the name of the strategy.
    otherwise : a workaround that keeps the strategy, e.g. "Or use LocalPenalization(radius=0.1)."
    """
    if has(model, capability):
        return
    what, surrogates = ABILITIES.get(capability, (f"is {capability.__name__}", ""))
    named = f"Surrogates that have it: {surrogates}. " if surrogates else ""
    raise MissingCapability(
        f"{strategy} needs a model that {what}; {type(model).__name__} is not one. "
        f"{otherwise}{' ' if otherwise else ''}{named}Strategies that work with any "
        "surrogate: kb, kb_lower, kb_upper, cl_min, cl_mean, cl_max, fantasy, fantasies, top_q, random."
    )
