"""Counterexamples to [paper] Prop. 1: situations built by hand, and a search over small random ones.

======  ================================================================
symbol  meaning
======  ================================================================
x₁      the point chosen first
α'      the acquisition after the lie about it
κ       σ²(x₁) / σ_f² before the lie
ℓ       lengthscale; the box is [0, 1]
======  ================================================================

Prop. 1 asks for σ_n² > 0. Some situations have no noise, because that is simpler; they fail with a little noise, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from believer.acquisitions import EI, PI, UCB
from believer.arrays import frozen, whole
from believer.batch import Believe, ConstantLie, Data
from believer.errors import InvalidInput
from believer.surrogates import GPModel, Hyperparameters, posterior
from believer_paper.theory.distinctness import Guarantee, guarantee
from believer_paper.theory.family import Family
from believer_paper.theory.situation import Situation, before, lie_about

NEAR = 0.1
"""The distance in lengthscales within which points count as near."""

_LINE = 401


def line_model(x: Sequence[float], y: Sequence[float], lengthscale: float, noise: float = 0.0) -> GPModel:
    """A Gaussian process on a line with SE kernel, σ_f² = 1 and mean zero, in the units of ``y``."""
    hyper = Hyperparameters("se", frozen([lengthscale]), 1.0, noise)
    return posterior(hyper, np.array(x)[:, None], np.array(y), 0.0, 1.0)


def _data(model: GPModel) -> Data:
    return Data(model.X, frozen(model.shift + model.scale * model.y))


def box_end() -> Situation:
    """Kriging Believer with EI, f⁺ over real results: the mean falls towards the end of the box and x₁ stays there.

    EI' = f⁺ - μ > 0 at x₁, although all of its uncertainty is gone. Steps 1 and 2 hold; step 3 does not.
    """
    model = line_model([0.15, 0.45, 0.75], [0.0, 0.5, 0.6], 0.3)
    return Situation(model, EI(), Believe(), _data(model), incumbent="data")


def symmetric_valley() -> Situation:
    """The same inside the box: data symmetric around 0.5 put the minimum of the mean and x₁ on the same point."""
    model = line_model([0.1, 0.3, 0.7, 0.9], [0.4, 0.2, 0.2, 0.4], 0.2)
    return Situation(model, EI(), Believe(), _data(model), incumbent="data")


def large_noise() -> Situation:
    """UCB with noise of four prior variances: the lie hardly lowers σ, and x₁ at the end of the box stays the best."""
    model = line_model([0.3, 0.8], [-1.0, 1.5], 0.5, 4.0)
    return Situation(model, UCB(), Believe(), _data(model))


def corner() -> Situation:
    """UCB without noise at a corner: the mean falls outwards faster than √β σ can rise inwards, and x₁ stays."""
    model = line_model([0.2, 0.45, 0.75], [0.0, 5.0, 2.0], 0.3)
    return Situation(model, UCB(), Believe(), _data(model))


def flat_in_std() -> Situation:
    """UCB with β = 0 does not fall when σ rises, which is all that Prop. 1 asks; Kriging Believer changes nothing."""
    model = line_model([0.2, 0.5, 0.8], [1.0, -0.3, 0.7], 0.25, 1e-6)
    return Situation(model, UCB(0.0), Believe(), _data(model))


def certainty_attracts() -> Situation:
    """PI falls with σ where μ < f⁺ - ξ: believing makes x₁ sure, α rises there from 0.6 to 1, and x₁ is repeated.

    [paper] Prop. 3 says that Prop. 1 covers PI.
    """
    model = line_model([0.2, 0.45, 0.75], [0.0, 1.0, 0.4], 0.3, 1e-6)
    return Situation(model, PI(0.5), Believe(), _data(model), incumbent="data")


def pulled_down() -> Situation:
    """CL-min with noise: the lie lowers the mean at x₁ by more than it lowers √β σ, so that UCB *rises* at x₁."""
    model = line_model([0.2, 0.5, 0.8], [1.0, -2.5, 1.0], 0.3, 4.0)
    return Situation(model, UCB(), ConstantLie("min"), _data(model))


def suppressed_but_close() -> Situation:
    """Everything that [paper] Prop. 2 asks for (κ > 0.98, σ largest at x₁, SE, no noise), and a next point 0.02 ℓ away.

    UCB with a small β follows the mean; the suppression of σ up to 0.8 ℓ around x₁ does not matter to it.
    """
    model = line_model([0.0, 1.0], [2.0, 2.0], 0.22)
    return Situation(model, UCB(1e-3), Believe(), _data(model))


COUNTEREXAMPLES: dict[str, Callable[[], Situation]] = {
    "box_end": box_end,
    "symmetric_valley": symmetric_valley,
    "large_noise": large_noise,
    "corner": corner,
    "flat_in_std": flat_in_std,
    "certainty_attracts": certainty_attracts,
    "pulled_down": pulled_down,
    "suppressed_but_close": suppressed_but_close,
}
"""Situations in which a statement about distinct or separated points fails; their docstrings say which and why."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts over ``tries`` situations: α rose at x₁ (step 2 fails), and x₁ stayed the maximizer (step 3 fails)."""

    tries: int
    rises: int
    repeats: int
    near: int
    """next point within :data:`NEAR` of x₁, repeats included"""


def counterexample(family: Family, tries: int, rng: np.random.Generator) -> Guarantee | None:
    """The first of ``tries`` random situations in which x₁ is repeated, confirmed by the full search; or None."""
    _one_column(family)
    for _ in range(whole(tries, "tries", 1)):
        situation = family.draw(rng)
        found = guarantee(situation, rng) if _on_the_line(situation, rng).cells <= 1 else None
        if found is not None and _repeats(found):
            return found
    return None


def tally(family: Family, tries: int, rng: np.random.Generator) -> Tally:
    """Count how often steps 2 and 3 fail in ``tries`` random situations on 401 points; repeats are confirmed."""
    _one_column(family)
    rises = repeats = near = 0
    for _ in range(whole(tries, "tries", 1)):
        situation = family.draw(rng)
        seen = _on_the_line(situation, rng)
        rises += seen.rises
        repeated = seen.cells <= 1 and _repeats(guarantee(situation, rng))
        repeats += repeated
        near += repeated or seen.gap <= NEAR
    return Tally(tries, rises, repeats, near)


@dataclass(frozen=True, slots=True)
class _Believed:
    """Whether α rose at x₁ beyond rounding; how far the next point is, in cells of the line and in lengthscales."""

    rises: bool
    cells: int
    gap: float


def _on_the_line(situation: Situation, rng: np.random.Generator) -> _Believed:
    """One column only: on a line."""
    line = np.linspace(0.0, 1.0, _LINE)[:, None]
    first = before(situation).value(line)
    top = int(np.argmax(first))
    second = lie_about(situation, line[top], rng).bound.value(line)
    rise = float(second[top] - first[top])
    cells = abs(int(np.argmax(second)) - top)
    model = situation.model
    ell = float(model.lengthscales[0]) if isinstance(model, GPModel) else 1.0
    return _Believed(rise > 1e-9 * max(1.0, abs(float(first[top]))), cells, cells / (_LINE - 1) / ell)


def _repeats(found: Guarantee) -> bool:
    """Whether x₁ is really repeated: if EI is zero everywhere, every point is as good as the last."""
    return not found.moves and not found.exhausted


def _one_column(family: Family) -> None:
    if family.dim != 1:
        raise InvalidInput(f"situations are searched on a line, dim=1; got dim={family.dim}.")
