"""The contract of surrogates, for those who write one.

At once::

    from believer.testing import check_surrogate
    print(check_surrogate(MySurrogate()))

or as one test a law::

    @pytest.mark.parametrize("check", surrogate_checks(MySurrogate()), ids=str)
    def test_it_keeps_the_contract(check):
        check()

A law binds all surrogates, or those whose model or recipe has a capability of ``believer.surrogates.protocols``.
"""

from believer.testing.contract import Check, ContractBroken, Summary
from believer.testing.fake import FakeModel, FakeSurrogate
from believer.testing.suite import LAWS, check_surrogate, surrogate_checks

__all__ = [
    "LAWS",
    "Check",
    "ContractBroken",
    "FakeModel",
    "FakeSurrogate",
    "Summary",
    "check_surrogate",
    "surrogate_checks",
]
