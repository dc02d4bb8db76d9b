"""Functions for workers of clusters, which must be importable there."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from waiting import PATIENCE


def square(params: dict[str, Any]) -> float:
    return float(params["x"] ** 2)


def unsteady(params: dict[str, Any]) -> float:
    """Hangs in a part of the space, and takes its process with it in another."""
    if params["x"] > 7.5:
        time.sleep(10 * PATIENCE)
    if params["x"] < 2.5:
        os._exit(3)
    return square(params)


class Killing:
    """Takes the worker of the cluster with it, the first time that it is called."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __call__(self, params: dict[str, Any]) -> float:
        if not self.mark.exists():
            self.mark.touch()
            os._exit(7)
        return square(params)
