"""The one rule of Table 1."""

from __future__ import annotations

import pytest

from believer_paper.compatibility import LIES, compatible


@pytest.mark.parametrize(
    ("passed", "says"),
    [
        ([20, 20], "yes"),
        ([20, 18], "yes"),
        ([20, 17], "limited"),
        ([3, 20], "limited"),
        ([20, 2], "no"),
        ([0, 0], "no"),
    ],
)
def test_the_lie_under_which_fewer_pass_decides(passed: list[int], says: str) -> None:
    assert len(passed) == len(LIES)
    assert compatible(passed, 20) == compatible(passed[::-1], 20) == says
