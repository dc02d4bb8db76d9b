"""The contracts as lists of laws, and the two ways to run them: all at once, or one test for each law."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from believer.acquisitions import Acquisition, LogEI
from believer.batch import Strategy
from believer.batch.request import ONE, takes
from believer.errors import MissingExtra
from believer.space.box import Box
from believer.space.parameter import Parameter
from believer.space.region import Region
from believer.study.serialization import acquisition_named, strategy_named
from believer.surrogates import GP
from believer.surrogates.inspection import require_surrogate
from believer.surrogates.protocols import Surrogate
from believer.testing import (
    answers,
    conditioning,
    derivatives,
    distributions,
    outputs,
    parameters,
    predictions,
    recipes,
    regions,
    situations,
    studies,
    values,
    worth,
)
from believer.testing.contract import Check, Law, Summary
from believer.testing.requests import Checked
from believer.testing.scenes import fitted, scene

LAWS: tuple[Law, ...] = (
    *predictions.LAWS,
    *conditioning.LAWS,
    *derivatives.LAWS,
    *distributions.LAWS,
    *recipes.LAWS,
    *studies.LAWS,
)
"""Every law of surrogates; basic laws come before those that depend on them."""

STRATEGY_LAWS: tuple[Law, ...] = (*answers.LAWS, *situations.LAWS, *values.LAWS, *studies.OF_STRATEGIES)
"""Every law of strategies, in the same order."""

ONE_AT_A_TIME: tuple[Law, ...] = values.ONE_AT_A_TIME
"""Laws of strategies that choose the points of a batch one after another and promise this."""

OUTPUT_LAWS: tuple[Law, ...] = outputs.LAWS
"""Laws of strategies with ``takes`` other than ONE."""

ACQUISITION_LAWS: tuple[Law, ...] = worth.LAWS
"""Every law of acquisitions."""


REGION_LAWS: tuple[Law, ...] = regions.LAWS
"""Every law of regions."""

PARAMETER_LAWS: tuple[Law, ...] = parameters.LAWS
"""Every law of parameters."""


def surrogate_checks(surrogate: Surrogate) -> tuple[Check, ...]:
    """The laws that apply to ``surrogate``, each as a call without arguments whose ``str`` is the law; one fit is
    made."""
    abilities = _abilities(surrogate)
    return _checks([law for law in LAWS if _binds(law, abilities)], surrogate, surrogate)


def check_surrogate(surrogate: Surrogate) -> Summary:
    """Check every law that applies to ``surrogate``; raise :class:`~believer.testing.ContractBroken` at the first
    broken one."""
    checks = surrogate_checks(surrogate)
    tried = {check.law for check in checks}
    apart = [(law.text, law.needs.__name__) for law in LAWS if law not in tried and law.needs is not None]
    return _passed(checks, apart)


def strategy_checks(
    strategy: str | Strategy,
    surrogate: Surrogate | None = None,
    acquisition: Acquisition | None = None,
    *,
    one_at_a_time: bool = False,
) -> tuple[Check, ...]:
    """The laws that apply to ``strategy``, each as a call without arguments whose ``str`` is the law.

    strategy: a value, or the name of one of the library's.
    surrogate, acquisition: the parts that it works with, by default GP() and LogEI().
    one_at_a_time: it promises that q points asked for one by one are those asked for at once, bit for bit.
    """
    case = Checked(
        strategy_named(strategy),
        GP() if surrogate is None else surrogate,
        LogEI() if acquisition is None else acquisition,
    )
    require_surrogate(case.surrogate)
    more = [*(OUTPUT_LAWS if takes(case.strategy) != ONE else ()), *(ONE_AT_A_TIME if one_at_a_time else ())]
    return _checks([*STRATEGY_LAWS, *more], case, case.strategy)


def check_strategy(
    strategy: str | Strategy,
    surrogate: Surrogate | None = None,
    acquisition: Acquisition | None = None,
    *,
    one_at_a_time: bool = False,
) -> Summary:
    """Check every law that applies to ``strategy``; raise :class:`~believer.testing.ContractBroken` at the first broken
    one.

    The arguments are those of :func:`strategy_checks`.
    """
    checks = strategy_checks(strategy, surrogate, acquisition, one_at_a_time=one_at_a_time)
    apart = [] if one_at_a_time else [(law.text, "said to choose one at a time") for law in ONE_AT_A_TIME]
    if takes(strategy_named(strategy)) == ONE:
        apart += [(law.text, "for several outputs") for law in OUTPUT_LAWS]
    return _passed(checks, apart)


def acquisition_checks(acquisition: str | Acquisition) -> tuple[Check, ...]:
    """The laws of acquisitions, each as a call without arguments whose ``str`` is the law.

    acquisition: a value, or the name of one of the library's; of one objective, or of several.
    """
    found = acquisition_named(acquisition)
    return _checks(list(ACQUISITION_LAWS), found, found)


def check_acquisition(acquisition: str | Acquisition) -> Summary:
    """Check every law of ``acquisition``; raise :class:`~believer.testing.ContractBroken` at the first broken one."""
    return _passed(acquisition_checks(acquisition), [])


def region_checks(region: Region | Callable[[Box], Region]) -> tuple[Check, ...]:
    """The laws of regions, each as a call without arguments whose ``str`` is the law.

    region: a region, or what a space takes as ``within``, which is tried on the unit square.
    """
    found = region(Box.cube(2)) if callable(region) else region
    return _checks(list(REGION_LAWS), found, found)


def check_region(region: Region | Callable[[Box], Region]) -> Summary:
    """Check every law of ``region``, as for :func:`region_checks`; raise :class:`~believer.testing.ContractBroken` at
    the first broken one."""
    return _passed(region_checks(region), [])


def parameter_checks(parameter: Parameter) -> tuple[Check, ...]:
    """The laws that apply to ``parameter``, each as a call without arguments whose ``str`` is the law."""
    return _checks([law for law in PARAMETER_LAWS if _binds(law, (parameter,))], parameter, parameter)


def check_parameter(parameter: Parameter) -> Summary:
    """Check every law that applies to ``parameter``; raise :class:`~believer.testing.ContractBroken` at the first
    broken one."""
    apart = [(law.text, law.needs.__name__) for law in PARAMETER_LAWS if law.needs and not _binds(law, (parameter,))]
    return _passed(parameter_checks(parameter), apart)


def _checks(laws: list[Law], subject: object, member: object) -> tuple[Check, ...]:
    return tuple(Check(law, subject, type(member).__name__) for law in laws)


def _passed(checks: tuple[Check, ...], not_applicable: list[tuple[str, str]]) -> Summary:
    for check in checks:
        check()
    return Summary(checks[0].member, tuple(str(check) for check in checks), tuple(not_applicable))


def _binds(law: Law, abilities: tuple[Any, ...]) -> bool:
    return law.needs is None or any(isinstance(ability, law.needs) for ability in abilities)


def _abilities(surrogate: Any) -> tuple[Any, ...]:
    """The objects whose capabilities are checked: the recipe, and a model that it fits."""
    require_surrogate(surrogate)
    try:
        return surrogate, fitted(surrogate, scene())
    except MissingExtra:
        raise
    except Exception:
        # The laws of every surrogate will report what is wrong with the fit.
        return (surrogate,)
