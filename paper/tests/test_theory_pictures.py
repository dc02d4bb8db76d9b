"""Figures of the propositions show what the functions compute, and nothing covers anything."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from believer.errors import MissingExtra
from believer_paper import penalty_pictures as penalties
from believer_paper import separation_pictures as distances
from believer_paper import theory
from believer_paper import theory_pictures as propositions
from believer_paper.theory import guaranteed_radius, local_penalty

pytest.importorskip("matplotlib")

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DRAW: dict[str, Callable[[], Figure]] = {
    "rank_one_updates": propositions.rank_one_updates,
    "distinct_points": lambda: propositions.distinct_points(tries=2),
    "suppression_radius": lambda: propositions.suppression_radius(models=10),
    "separations": lambda: distances.separations(tries=2),
    "mean_invariance": propositions.mean_invariance,
    "unmoved_model": propositions.unmoved_model,
    "acquisition_slopes": propositions.acquisition_slopes,
    "implicit_penalty": penalties.implicit_penalty,
    "improvement_expansion": penalties.improvement_expansion,
    "determinantal_penalty": penalties.determinantal_penalty,
    "local_penalization": penalties.local_penalization,
}
DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def drawn() -> dict[str, Figure]:
    return {name: draw() for name, draw in DRAW.items()}


def line(figure: Figure, label: str, panel: int = 0) -> Any:
    return next(found for found in figure.axes[panel].lines if found.get_label() == label)


@pytest.mark.parametrize("name", DRAW)
def test_title_and_legend_are_on_the_page_and_off_the_data(drawn: dict[str, Figure], name: str) -> None:
    figure = drawn[name]
    figure.canvas.draw()
    page = figure.bbox
    for part in [*figure.texts, *figure.legends]:
        frame = part.get_window_extent()
        assert page.x0 <= frame.x0 < frame.x1 <= page.x1
        assert page.y0 <= frame.y0 < frame.y1 <= page.y1
        assert not any(frame.overlaps(axes.get_window_extent()) for axes in figure.axes)
    for axes in figure.axes:
        assert axes.get_xlabel()
    assert figure.canvas.manager is None, "made by pyplot"


def test_a_variance_after_a_lie_is_never_above_the_one_before(drawn: dict[str, Figure]) -> None:
    for panel in (0, 1):
        before, after = (
            line(drawn["rank_one_updates"], f"σ² {when}", panel).get_ydata() for when in ("before", "after")
        )
        assert (after <= before + 1e-12).all()


def test_the_maximum_of_ei_stays_at_the_end_of_the_box_unless_f_is_believed(drawn: dict[str, Figure]) -> None:
    tops = {}
    for label in ("EI before", "EI after believing, f⁺ of data", "EI after believing, f⁺ believed"):
        curve = line(drawn["distinct_points"], label)
        tops[label] = float(curve.get_xdata()[int(np.argmax(curve.get_ydata()))])
    assert list(tops.values()) == [0.0, 0.0, 1.0]


def test_no_exact_radius_is_drawn_below_the_bound(drawn: dict[str, Figure]) -> None:
    for panel, kernel in enumerate(("se", "matern52")):
        dots = line(drawn["suppression_radius"], "exact, least of six directions, random data in 2-D", panel)
        for kappa, radius in dots.get_xydata():
            assert radius >= guaranteed_radius(kappa, 0.5, 1e-6, kernel) - 1e-6


def test_the_next_point_is_drawn_where_the_law_says_and_at_the_believed_point_with_much_noise(
    drawn: dict[str, Figure],
) -> None:
    lines: list[Any] = list(drawn["separations"].axes[0].lines)
    curves = [found.get_xydata() for found in lines if len(found.get_xdata()) > 100]
    tops = [abs(curve[int(np.argmax(curve[:, 1])), 0]) for curve in curves]
    assert tops == pytest.approx([theory.standard_step()[0], 1.069, 0.0], abs=5e-3)


def test_conditioning_is_drawn_without_a_change_of_the_mean(drawn: dict[str, Figure]) -> None:
    change = {
        label: np.abs(line(drawn["mean_invariance"], label).get_ydata()).max() for label in ("conditioned", "refitted")
    }
    assert change["conditioned"] < 1e-6
    assert change["refitted"] > 0.5


def test_the_printed_penalty_has_a_gap_around_the_believed_point(drawn: dict[str, Figure]) -> None:
    printed = line(drawn["implicit_penalty"], "ψ as printed (Eq. 4)", 1)
    x, values = printed.get_xdata(), printed.get_ydata()
    assert np.isnan(values[np.abs(x - 0.5) < 0.2]).all()
    assert np.isfinite(values[x < 0.1]).all()


def test_the_least_value_is_drawn_to_raise_ei_and_the_highest_to_lower_it(drawn: dict[str, Figure]) -> None:
    low, high = (line(drawn["improvement_expansion"], f"{name}, exact") for name in ("CL-min", "CL-max"))
    r = low.get_xdata()
    aside = (np.abs(r) > 0.5) & (np.abs(r) < 2.5)
    assert (low.get_ydata()[aside] > 0.0).all()
    assert (high.get_ydata()[aside] < 0.0).all()


def test_half_the_determinant_lies_on_the_ratio_of_std(drawn: dict[str, Figure]) -> None:
    figure = drawn["determinantal_penalty"]
    ratio, dots = line(figure, "log σ'/σ, exact"), line(figure, "half log det of the pair")
    np.testing.assert_allclose(np.interp(dots.get_xdata(), *ratio.get_data()), dots.get_ydata(), atol=1e-6)


def test_local_penalization_is_drawn_as_the_formula(drawn: dict[str, Figure]) -> None:
    curve = line(drawn["local_penalization"], "Local Penalization")
    np.testing.assert_allclose(curve.get_ydata(), local_penalty(curve.get_xdata()), atol=1e-12)


def test_every_picture_and_every_function_of_the_page_exists() -> None:
    page = (DOCS / "theory.md").read_text(encoding="utf-8")
    pictures = re.findall(r"\(figures/theory/(\w+)\.png\)", page)
    assert sorted(pictures) == sorted(DRAW)
    for name in pictures:
        assert 5_000 < (DOCS / "figures" / "theory" / f"{name}.png").stat().st_size < 150_000
    script = (DOCS / "make_theory_figures.py").read_text(encoding="utf-8")
    assert all(f".{name}," in script for name in pictures)
    functions = set(re.findall(r"`theory\.(\w+)[(`]", page))
    assert len(functions) > 15
    assert sorted(name for name in functions if not hasattr(theory, name)) == []


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match=r"believer\[plots\]"):
        propositions.acquisition_slopes()
