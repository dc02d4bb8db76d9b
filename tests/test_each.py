from __future__ import annotations

import inspect

import pytest
from each import each


def test_every_case_is_tried_and_decorators_multiply() -> None:
    seen = []

    @each("x", [1, 2])
    @each(("y", "z"), [(3, 4), (5, 6)])
    def test(x: int, y: int, z: int, fixture: str) -> None:
        seen.append((x, y, z, fixture))

    test(fixture="f")
    assert seen == [(1, 3, 4, "f"), (1, 5, 6, "f"), (2, 3, 4, "f"), (2, 5, 6, "f")]
    assert list(inspect.signature(test).parameters) == ["fixture"]


def test_the_case_that_fails_is_named() -> None:
    @each("x", [1, pytest.param(-2, id="below zero")])
    @each("kind", [abs, float], ids=lambda kind: kind.__name__)
    def test(x: int, kind: type) -> None:
        assert kind(x) > 0

    with pytest.raises(AssertionError) as caught:
        test()
    assert caught.value.__notes__ == ["kind: float", "x: -2"]


def test_a_test_is_skipped_if_every_case_is() -> None:
    @each("x", [1, 2])
    def test(x: int, least: int) -> None:
        if x < least:
            pytest.skip(f"{x} is too small")

    test(least=2)
    with pytest.raises(pytest.skip.Exception, match="1 is too small"):
        test(least=3)


def test_names_that_a_test_does_not_take_are_an_error() -> None:
    with pytest.raises(AssertionError, match="does not take"):

        @each("y", [1])
        def test(x: int) -> None:
            pass
