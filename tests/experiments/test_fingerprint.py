from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from believer.experiments import fingerprint


@dataclass
class Told:
    """Its repr says all."""

    slope: float


class Silent:
    """Its repr is an address."""

    def __init__(self, slope: Any) -> None:
        self.slope = slope


def test_a_repr_that_says_all_is_the_fingerprint() -> None:
    assert fingerprint(Told(1.5)) == "Told(slope=1.5)"


def test_objects_that_say_little_are_told_apart_by_what_they_hold() -> None:
    one, same, other = Silent(1.0), Silent(1.0), Silent(2.0)
    assert fingerprint(one) == fingerprint(same) != fingerprint(other)


def test_the_gap_in_a_long_array_hides_nothing() -> None:
    zeros = np.zeros(5000)
    changed = zeros.copy()
    changed[2500] = 1.0
    assert repr(Told(zeros)) == repr(Told(changed))  # type: ignore[arg-type]
    assert fingerprint(Told(zeros)) != fingerprint(Told(changed))  # type: ignore[arg-type]


def test_what_cannot_be_pickled_is_new_every_time() -> None:
    unknown = Silent(lambda x: x)
    assert fingerprint(unknown) != fingerprint(unknown)


def test_another_process_finds_the_same() -> None:
    code = "from fractions import Fraction; from believer.experiments import fingerprint; print(fingerprint(len))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == fingerprint(len)
