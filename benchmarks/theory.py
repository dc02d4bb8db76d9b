"""Every measured number of docs/theory.md, from random situations with fixed seeds or from the formula.

    python benchmarks/theory.py [--markdown benchmarks/results/theory.md]

A situation is drawn by ``theory.Family``: 3 to 3 + 3d results of a Gaussian process at its true hyperparameters,
σ_f² = 1, Matérn-5/2 unless said otherwise. Takes about two minutes on one core.
"""

from __future__ import annotations

import os

# ruff: noqa: E402 - the settings below must come before NumPy: its thread pools read them once, at import.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import math
import platform
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from scipy.special import ndtr

import believer as bv
from believer.acquisitions import EI, UCB, Acquisition
from believer.arrays import Array, frozen
from believer.batch import Believe, ConstantLie, Data, Lie
from believer.numerics.special import normal_pdf
from believer.problems import hartmann6
from believer.report import Plain, Table
from believer.surrogates.gp import GPModel, posterior
from believer.surrogates.gp_fit import Hyperparameters
from believer.surrogates.kernels import KERNELS
from believer_paper import separation_pictures as distances
from believer_paper import theory
from believer_paper.setup.likelihood import PrintedGP
from believer_paper.theory import COUNTEREXAMPLES, Family, Situation, guarantee, suppression
from believer_paper.theory.pairs import PAIRS, THOMPSON_MEDIAN

TRIES = 500
LIES: dict[str, Lie] = {
    "KB": Believe(),
    "CL-min": ConstantLie("min"),
    "CL-mean": ConstantLie("mean"),
    "CL-max": ConstantLie("max"),
}


def drawn(family: Family, rng: np.random.Generator) -> GPModel:
    model = family.draw(rng).model
    assert isinstance(model, GPModel)
    return model


def process(X: Array, lengthscale: float, kernel: str = "se") -> GPModel:
    """A process of unit variance, without noise, that has seen zeros at ``X`` (n, d)."""
    hyper = Hyperparameters(kernel, frozen(np.full(X.shape[1], lengthscale)), 1.0, 0.0)
    return posterior(hyper, X, np.zeros(len(X)), 0.0, 1.0)


def updates() -> Table:
    """Eq. 1-2 against the model's own conditioning; where the most variance is lost when the lie is next to a datum."""
    rng, gap = np.random.default_rng(0), 0.0
    for _ in range(100):
        model = drawn(Family(noise=1e-4, dim=2), rng)
        x, at = rng.random(2), rng.random((50, 2))
        update, own = theory.rank_one(model, x, 1.0, at), theory.conditioned(model, x, 1.0, at)
        gap = max(gap, np.abs(update.mean_after - own.mean).max(), np.abs(update.variance_after - own.std**2).max())
    rows: list[tuple[str, float]] = [("largest gap to conditioning, 100 random models in 2-D", gap)]
    r = np.linspace(0.0, 3.0, 30_001)
    for kernel in KERNELS:
        lost = theory.rank_one(process(np.zeros((1, 1)), 1.0, kernel), np.array([1e-3]), 0.0, r[:, None]).variance_drop
        rows.append((f"most variance lost at, lie 0.001 ℓ from the only datum, {kernel} (ℓ)", float(r[lost.argmax()])))
    return Table("Eq. 1-2", ("what", "value"), rows)


def named_counterexamples() -> Table:
    """Each counterexample as it is, and with the noise that Prop. 1 asks for where it has none."""
    rows = []
    for name, make in COUNTEREXAMPLES.items():
        situation = make()
        model = situation.model
        assert isinstance(model, GPModel)
        for noise in (0.0, 1e-6) if model.hyper.noise == 0.0 else (model.hyper.noise,):
            found = guarantee(with_noise(situation, noise), np.random.default_rng(0))
            rows.append((name, noise, found.value_before, found.value_after, not found.moves, found.lengthscales))
    columns = ("situation", "σ_n²/σ_f²", "α at x₁ before", "after", "x₁ repeated", "distance of the next (ℓ)")
    return Table("Prop. 1: the named counterexamples", columns, rows)


def with_noise(situation: Situation, noise: float) -> Situation:
    model = situation.model
    assert isinstance(model, GPModel)
    return replace(situation, model=posterior(replace(model.hyper, noise=noise), model.X, model.y, 0.0, 1.0))


def random_situations() -> Table:
    """How often the acquisition rises at x₁, x₁ is repeated, or the next point is near, in 1-D."""
    kinds: list[tuple[str, Acquisition, str, float]] = [
        ("EI", EI(), "believed", 0.0),
        ("EI", EI(), "data", 0.0),
        ("UCB", UCB(), "data", 0.0),
        ("EI", EI(), "believed", 1.0),
        ("EI", EI(), "data", 1.0),
        ("UCB", UCB(), "data", 1.0),
    ]
    rows: list[tuple[Plain, ...]] = []
    for name, acquisition, incumbent, noise in kinds:
        for label, lie in LIES.items():
            found = theory.tally(Family(acquisition, lie, incumbent, noise), TRIES, np.random.default_rng(0))
            shares = [f"{count / TRIES:.1%}" for count in (found.rises, found.repeats, found.near)]
            rows.append((name, label, "-" if name == "UCB" else incumbent, noise, *shares))
    columns = ("α", "lie", "f⁺ over", "σ_n²/σ_f²", "α rose at x₁", "x₁ repeated", "next within 0.1 ℓ")
    return Table(f"Prop. 1: {TRIES} random situations in 1-D each", columns, rows)


def promises() -> Table:
    """Whether proofs are kept: situations where one applies, and in how many of them x₁ was repeated all the same.

    Where σ(x₁) was below 1e-4 σ_f before the lie, what the cone adds is less than rounding; such are counted apart.
    """
    kinds: list[tuple[str, Acquisition, Lie, str, float]] = [
        ("EI, KB, f⁺ believed, no noise", EI(), Believe(), "believed", 0.0),
        ("EI, CL-max, f⁺ over data, no noise", EI(), ConstantLie("max"), "data", 0.0),
        ("UCB, KB, no noise", UCB(), Believe(), "data", 0.0),
        ("UCB, CL-min, no noise", UCB(), ConstantLie("min"), "data", 0.0),
        ("EI, KB, f⁺ believed, σ_n² = 0.01", EI(), Believe(), "believed", 0.01),
    ]
    rows: list[tuple[Any, ...]] = []
    for title, acquisition, lie, incumbent, noise in kinds:
        found = []
        for seed, kernel in enumerate(KERNELS):
            for dim in (1, 2):
                family = Family(acquisition, lie, incumbent, noise, kernel, dim)
                rng = np.random.default_rng([seed, dim])
                found += [guarantee(family.draw(rng), rng) for _ in range(40)]
        applies = [one for one in found if one.applies]
        sure = [one for one in applies if one.std_before >= 1e-4]
        rows.append((title, len(found), len(applies), len(applies) - len(sure), sum(not one.moves for one in sure)))
    rows.append(("all", *(sum(row[i] for row in rows) for i in range(1, 5))))
    columns = ("situations, three kernels, 1-D and 2-D", "drawn", "a proof applies", "σ(x₁) < 1e-4", "else repeated")
    return Table("Prop. 1: what is proven", columns, rows)


def radii() -> Table:
    """The printed radius of half suppression beside the exact one, with and without data near."""
    rows: list[tuple[str, float, float, float, float]] = []

    def add(name: str, model: GPModel, x: Array, directions: Array | None = None) -> None:
        found = suppression(model, x, 0.5, directions)
        rows.append((name, found.kappa, found.printed, float(found.exact.min()), found.guaranteed))

    two, middle = np.array([[0.0], [1.0]]), np.array([0.5])
    for kernel in KERNELS:
        add(f"no data near, {kernel}", process(two, 0.05, kernel), middle)
    low, high = 0.1, 1.0
    for _ in range(40):
        ell = 0.5 * (low + high)
        found = suppression(process(two, ell), middle, 0.5)
        low, high = (ell, high) if found.printed <= found.exact.min() else (low, ell)
    add("halfway between two data, se, where the two are equal", process(two, low), middle)
    angles = 2.0 * np.pi * np.arange(24) / 24
    rays = np.column_stack([np.cos(angles), np.sin(angles)])
    for count, ell in ((3, 0.4), (4, 0.52)):
        ring = process(rays[:: 24 // count], ell)
        add(f"center of {count} data on a circle in 2-D, se", ring, np.zeros(2), rays)
        within = np.vstack([share * rows[-1][2] * ell * rays for share in np.linspace(0.0, 1.0, 21)])
        assert ring.predict(within).std.argmax() == 0, "Prop. 2 asks for a maximizer of the variance"
    close = COUNTEREXAMPLES["suppressed_but_close"]().model
    assert isinstance(close, GPModel)
    add("suppressed_but_close, se", close, middle)
    columns = ("where", "κ", "printed", "exact", "bound")
    return Table("Prop. 2: radius of half suppression, in lengthscales, no noise", columns, rows)


def radii_at_random() -> Table:
    """How often the printed radius exceeds the exact one: at random points, and where Prop. 2's assumptions hold."""
    rows = []
    for kernel in KERNELS:
        rng, found = np.random.default_rng(0), []
        for _ in range(150):
            model = drawn(Family(noise=1e-6, kernel=kernel, dim=2), rng)
            found.append(suppression(model, rng.random(2), 0.5, rng.standard_normal((6, 2))))
        rows.append(counted(f"random points in 2-D, {kernel}, τ = 0.5", found))
    at_maxima = {tau: maxima(200, tau) for tau in (0.5, 0.9)}
    for tau, found in at_maxima.items():
        for least, most in ((0.8, 1.0), (0.0, 0.8)):
            some = [one for one in found if least < one.kappa <= most]
            rows.append(counted(f"maxima of σ in 1-D, se, τ = {tau}, {least} < κ ≤ {most}", some))
    return Table("Prop. 2: random situations", ("where", "cases", "printed above exact", "our bound above exact"), rows)


def counted(name: str, found: Sequence[theory.Suppression]) -> tuple[str, int, str, int]:
    above = np.mean([one.printed > one.exact.min() + 1e-9 for one in found])
    return name, len(found), f"{above:.1%}", sum(bool(one.guaranteed > one.exact.min() + 1e-6) for one in found)


def maxima(count: int, tau: float) -> list[theory.Suppression]:
    """Suppression at maximizers of σ, as Prop. 2 asks: nowhere within the printed radius is σ larger."""
    rng, line = np.random.default_rng(0), np.linspace(0.0, 1.0, 1001)
    found: list[theory.Suppression] = []
    while len(found) < count:
        model = drawn(Family(kernel="se"), rng)
        std = model.predict(line[:, None]).std
        tops = 1 + np.flatnonzero((std[1:-1] >= std[:-2]) & (std[1:-1] >= std[2:]) & (std[1:-1] > 0.1))
        for top in tops if model.jitter == 0.0 else ():
            reach = theory.printed_radius(float(std[top] ** 2), tau) * model.lengthscales[0]
            near = np.abs(line - line[top]) <= reach
            if line[top] - reach >= 0.0 and line[top] + reach <= 1.0 and std[near].max() <= std[top]:
                found.append(suppression(model, line[[top]], tau))
    return found[:count]


def law() -> Table:
    """The exact step over √λ, and EI there over λ, once the minimizer of a sure model's mean is believed."""
    rows, u = [], theory.standard_step()[0]
    for kernel in KERNELS:
        for dim in (1, 2, 3):
            for place in (1e-2, 2e-3):
                lengths, gains, strains = [], [], []
                for seed in range(40):
                    found = theory.next_step(theory.sure_model(kernel, dim, place, np.random.default_rng(seed)))
                    step = theory.exact_step(found, np.random.default_rng(seed))
                    lengths.append(math.sqrt(step @ found.around.curvature @ step / found.rate))
                    at = found.believed.predict((found.around.x + step)[None, :])
                    gains.append(float(EI().pointwise(at.mean, at.std, found.incumbent).value[0]) / found.rate)
                    strains.append(found.strain)
                strain, length, gain = (float(np.median(values)) for values in (strains, lengths, gains))
                between = f"{min(lengths):.3f}-{max(lengths):.3f}"
                off = max(abs(one / u - 1.0) / error for one, error in zip(lengths, strains, strict=True))
                rows.append((kernel, dim, place, strain, length, between, off, gain))
    columns = ("kernel", "d", "c/H (ℓ)", "strain", "step / √λ", "of all 40", "most that it is off / strain", "EI / λ")
    return Table("The law: 1.224 and 0.2025, no noise, 40 sure models each; medians", columns, rows)


def batches_of_two() -> Table:
    """How far apart strategies put two points, in units of c₀/H; the figure shows the same numbers of one column."""
    found = [(1, n, 0.0, distances.by_results(n, 40)) for n in distances.RESULTS]
    found += [(1, distances.AMONG, noise, distances.by_noise(noise, 40)) for noise in distances.NOISES]
    for n, noise in ((32, 0.0), (128, 0.0), (128, 0.01), (128, 0.1)):
        rng = np.random.default_rng([2, n, round(100 * noise)])
        found.append((2, n, noise, theory.pairs(n, noise**2, 40, rng, dim=2)))
    rows: list[tuple[Plain, ...]] = []
    for d, n, noise, one in found:
        kb, place, believed = one.distance["KB"], float(np.median(one.place)), float(np.median(one.believed))
        ratios = [float(np.median(apart / one.place)) for apart in one.distance.values()]
        elsewhere = float(np.mean(kb > 5.0 * np.fmax(one.expected, one.believed)))
        moved = one.expected > 1e-3 * one.place
        over_expected = float(np.nanmedian(kb[moved] / one.expected[moved]))
        rows.append((d, n, noise, place, believed, float(np.median(one.strain)), *ratios))
        rows[-1] += (float(np.median(kb / one.believed)), over_expected, f"{elsewhere:.0%}")
    columns = ("d", "n", "σ_n/σ_f", "c₀/H (ℓ)", "c/H (ℓ)", "strain", *PAIRS)
    columns += ("KB in c/H", "KB over expansion", "KB elsewhere")
    title = "The law: batches of two, 40 random situations each, Matérn-5/2, in c₀/H; medians"
    return Table(title, columns, rows)


def slopes() -> Table:
    """How fast c falls with n: halfway between equidistant results, the value there believed."""
    rows: list[tuple[Plain, ...]] = []
    for kernel, nu in (("matern52", 2.5), ("matern32", 1.5), ("se", math.inf)):
        for noise, few in ((0.0, 16), (1e-2, 64)):
            if kernel == "se" and noise == 0.0:
                continue  # all rounding
            expected = nu - 1.0 if noise == 0.0 else 0.5 if kernel == "se" else (nu - 1.0) / (2.0 * nu + 1.0)
            stds = []
            for n in (few, 4 * few):
                X = (np.arange(n) + 0.5)[:, None] / n
                model = posterior(Hyperparameters(kernel, frozen([0.3]), 1.0, noise), X, np.zeros(n), 0.0, 1.0)
                believed = model.condition(Data(frozen([[0.5]]), frozen([0.0])))
                stds.append(math.sqrt(theory.local(believed, np.array([0.5])).spread[0, 0]))
            rows.append((kernel, noise, f"{few} to {4 * few}", math.log(stds[0] / stds[1]) / math.log(4.0), expected))
    columns = ("kernel", "σ_n²/σ_f²", "n", "exponent of 1/n", "expected")
    return Table("The law: how fast the std of the slope falls, 1-D", columns, rows)


def believed_values() -> Table:
    """Lemma 1 on ten data sets of 20 points of Hartmann-6D, with hyperparameters of maximum likelihood."""
    recipe, shifts, rises = PrintedGP(), [], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.random((20, 6))
        data, at = Data(frozen(X), frozen(hartmann6().evaluate(X))), rng.random((200, 6))
        situation = Situation(recipe.fit(Data(X, data.y), np.random.default_rng(seed)), EI(), Believe(), data)
        x = guarantee(situation, rng).step.x
        found = theory.believe(recipe, data, x, at, np.random.default_rng(seed))
        shifts.append(found.shifts)
        rises.append(found.rises)
    rows: list[tuple[str, str, str]] = []
    ways = {"condition": "is conditioned on", "restandardize": "and y standardized anew", "refit": "and a refit"}
    for way, label in ways.items():
        moved, rose = (100.0 * np.sort([one[way] for one in of]) for of in (shifts, rises))
        rows.append((label, spread(moved), spread(rose)))
    columns = ("the believed value", "largest change of the mean, % of the range of y", "largest rise of σ, %")
    return Table("Lemma 1: ten data sets of Hartmann-6D, n = 20, maximum likelihood; values sorted", columns, rows)


def spread(values: Array) -> str:
    return ", ".join(f"{value + 0.0:.1f}" for value in np.round(values, 1))


def formulas() -> Table:
    """What follows from a formula alone."""

    def h(z: float) -> float:
        return float(normal_pdf(np.array(z)) + z * ndtr(z))

    def ratio(z: float, rho: float) -> float:
        return float(theory.improvement_ratio(np.array([z]), np.array([rho]))[0])

    prior = process(np.array([[50.0]]), 1.0)
    drop = theory.improvement_change(prior, np.zeros(1), 0.0, np.zeros((1, 1)), 0.0)
    step, gain = theory.standard_step()
    rows: list[tuple[str, float]] = [
        ("The law: u of φ(u/2) = u Φ(-u/2)", step),
        ("The law: u h(-u/2)", gain),
        ("The law: σ₀H/c² from which the point is repeated, √(2/π)", math.sqrt(2.0 / math.pi)),
        ("The law: distance of q-EI's two points (c₀/H), 2 √(2/π)", 2.0 * math.sqrt(2.0 / math.pi)),
        ("The law: what they gain over one (c₀²/H), 1/π", 1.0 / math.pi),
        ("The law: distance of Thompson's points (c₀/H), mean, 2/√π", 2.0 / math.sqrt(math.pi)),
        ("The law: the same, median", THOMPSON_MEDIAN),
        ("Prop. 3: EI at z = 40 in double precision, over EI with σ halved", h(40.0) / (0.5 * h(80.0))),
        ("Eq. 4: share of EI left at x₁ after believing, z = 1, no noise: z / h(z)", 1.0 / h(1.0)),
        ("Eq. 4: ψ at z = -1 where σ'/σ = 0.5", ratio(-1.0, 0.5)),
        ("Eq. 4: ψ at z = +1 where σ'/σ = 0.5", ratio(1.0, 0.5)),
        ("Eq. 4: (ψ/ρ - 1) / (z (1/ρ - 1)) as z -> 0: Φ(0)/φ(0)", math.sqrt(math.pi / 2.0)),
        ("Local Penalization: ψ = 1/2 at (ℓ), z = 0: √log(4/3)", math.sqrt(math.log(4.0 / 3.0))),
        ("Local Penalization: φ = 1/2 at (ℓ): √(2 log 2)", math.sqrt(2.0 * math.log(2.0))),
        ("Eq. 17: share of the drop at x* that it sees, KB, z = 0", float(drop.first_order[0] / drop.exact[0])),
        ("Appendix C.5: printed ψ at a duplicate, no noise: exp(-1/2)", math.exp(-0.5)),
    ]
    return Table("From formulas", ("what", "value"), rows)


PARTS = (
    updates,
    named_counterexamples,
    random_situations,
    promises,
    radii,
    radii_at_random,
    law,
    batches_of_two,
    slopes,
    believed_values,
    formulas,
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--markdown", type=Path, help="write the tables here too")
    arguments = parser.parse_args()
    ran_on = f"Python {platform.python_version()}, NumPy {np.__version__}, SciPy {scipy.__version__}"
    versions = f"believer {bv.__version__}, {ran_on}, {platform.system()} {platform.machine()}"
    text = f"# The measured numbers of docs/theory.md\n\n{versions}.\n"
    print(text)
    for part in PARTS:
        table = part().markdown()
        print(table, flush=True)
        text += f"\n{table}"
    if arguments.markdown is not None:
        arguments.markdown.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
