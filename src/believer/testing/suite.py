"""The contract as a list of laws, and the two ways to run it: at once, or one test a law."""

from __future__ import annotations

from typing import Any

from believer.errors import MissingExtra
from believer.surrogates.inspection import require_surrogate
from believer.surrogates.protocols import Surrogate
from believer.testing import conditioning, derivatives, distributions, predictions, recipes, studies
from believer.testing.contract import Check, Law, Summary
from believer.testing.scenes import fitted, scene

LAWS: tuple[Law, ...] = (
    *predictions.LAWS,
    *conditioning.LAWS,
    *derivatives.LAWS,
    *distributions.LAWS,
    *recipes.LAWS,
    *studies.LAWS,
)
"""Every law, from what the others rest on to what rests on all of them."""


def surrogate_checks(surrogate: Surrogate) -> tuple[Check, ...]:
    """The laws that bind ``surrogate``, each as a call without arguments whose ``str`` is the law; one fit is made."""
    abilities = _abilities(surrogate)
    return tuple(Check(law, surrogate) for law in LAWS if _binds(law, abilities))


def check_surrogate(surrogate: Surrogate) -> Summary:
    """Try every law that binds ``surrogate``; :class:`~believer.testing.ContractBroken` at the first that is broken."""
    abilities = _abilities(surrogate)
    passed, not_applicable = [], []
    for law in LAWS:
        if _binds(law, abilities):
            Check(law, surrogate)()
            passed.append(law.text)
        elif law.needs is not None:
            not_applicable.append((law.text, law.needs.__name__))
    return Summary(type(surrogate).__name__, tuple(passed), tuple(not_applicable))


def _binds(law: Law, abilities: tuple[Any, ...]) -> bool:
    return law.needs is None or any(isinstance(able, law.needs) for able in abilities)


def _abilities(surrogate: Any) -> tuple[Any, ...]:
    """What can be asked for its capabilities: the recipe, and a model that it fits."""
    require_surrogate(surrogate)
    try:
        return surrogate, fitted(surrogate, scene())
    except MissingExtra:
        raise
    except Exception:
        # The laws that bind every surrogate will say what is wrong with the fit.
        return (surrogate,)
