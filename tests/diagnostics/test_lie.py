"""The figure of one lie shows what a lie does."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import believer as bv
from believer.diagnostics import before_and_after_a_lie
from believer.errors import InvalidInput, MissingExtra
from believer.problems import branin

pytest.importorskip("matplotlib")


def _xy(line: Any) -> Any:
    return np.asarray(line.get_xydata(), dtype=np.float64)


def test_a_lie_makes_the_improvement_collapse_where_it_was_largest() -> None:
    figure = before_and_after_a_lie()
    figure.canvas.draw()
    assert figure.canvas.manager is None, "made by pyplot"
    columns = len(figure.axes) // 2
    assert columns == 3
    before, *after = [_xy(axes.lines[0]) for axes in figure.axes[columns:]]
    top = int(np.argmax(before[:, 1]))
    for improvement in after:
        assert improvement[top, 1] < 1e-2 * before[top, 1]
        assert abs(improvement[int(np.argmax(improvement[:, 1])), 0] - before[top, 0]) > 0.1


def test_a_believed_value_leaves_the_mean_as_it_was() -> None:
    figure = before_and_after_a_lie(lies=[bv.Believe()])
    before, after = (figure.axes[panel].lines[0].get_ydata() for panel in (0, 1))
    assert np.allclose(before, after, atol=1e-6)


def test_a_lie_can_be_shown_on_one_number_only() -> None:
    with pytest.raises(InvalidInput, match="one number"):
        before_and_after_a_lie(branin())


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match=r"believer\[plots\]"):
        before_and_after_a_lie()
