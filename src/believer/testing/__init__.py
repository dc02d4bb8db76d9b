"""The contracts of surrogates, strategies, acquisitions, parameters and regions, for those who write one.

At once::

    from believer.testing import check_acquisition, check_strategy, check_surrogate
    print(check_surrogate(MySurrogate()))
    print(check_strategy(MyStrategy()))
    print(check_acquisition(MyAcquisition()))
    print(check_parameter(MyParameter()))
    print(check_region(MyRegion()))

or with one test for each law::

    @pytest.mark.parametrize("check", surrogate_checks(MySurrogate()), ids=str)
    def test_it_keeps_the_contract(check):
        check()

A law of surrogates applies to all of them, or to those whose model or recipe has a capability of
``believer.surrogates.protocols``. Laws of strategies apply to all strategies, except those for strategies that take
several outputs, and one that is optional; see ``strategy_checks``.
"""

from believer.testing.contract import Check, ContractBroken, Summary
from believer.testing.fake import BareModel, BareSurrogate, FakeModel, FakeSurrogate
from believer.testing.suite import (
    ACQUISITION_LAWS,
    LAWS,
    ONE_AT_A_TIME,
    OUTPUT_LAWS,
    PARAMETER_LAWS,
    REGION_LAWS,
    STRATEGY_LAWS,
    acquisition_checks,
    check_acquisition,
    check_parameter,
    check_region,
    check_strategy,
    check_surrogate,
    parameter_checks,
    region_checks,
    strategy_checks,
    surrogate_checks,
)

__all__ = [
    "ACQUISITION_LAWS",
    "LAWS",
    "ONE_AT_A_TIME",
    "OUTPUT_LAWS",
    "PARAMETER_LAWS",
    "REGION_LAWS",
    "STRATEGY_LAWS",
    "BareModel",
    "BareSurrogate",
    "Check",
    "ContractBroken",
    "FakeModel",
    "FakeSurrogate",
    "Summary",
    "acquisition_checks",
    "check_acquisition",
    "check_parameter",
    "check_region",
    "check_strategy",
    "check_surrogate",
    "parameter_checks",
    "region_checks",
    "strategy_checks",
    "surrogate_checks",
]
