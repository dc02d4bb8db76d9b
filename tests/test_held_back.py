"""Ctrl-C that comes where it would be lost takes effect a moment later."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator

import pytest

from believer._interrupts import held_back


@pytest.fixture(autouse=True)
def _interrupts_raise() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_in_the_block_is_raised_at_its_end_even_where_the_block_swallows_exceptions() -> None:
    swallowed: list[BaseException] = []

    def swallow() -> None:
        with held_back():
            try:
                signal.raise_signal(signal.SIGINT)
            except BaseException as error:
                swallowed.append(error)

    with pytest.raises(KeyboardInterrupt):
        swallow()
    assert not swallowed
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_without_an_interrupt_nothing_changes_and_errors_pass() -> None:
    with pytest.raises(ZeroDivisionError), held_back():
        _ = 1 / 0
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_ignored_interrupt_stays_ignored() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with held_back():
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN


def test_another_thread_may_enter_and_sets_no_handler() -> None:
    seen: list[object] = []

    def enter() -> None:
        with held_back():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]
