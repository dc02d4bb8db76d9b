"""Claims on whole batches, on the cost of conditioning and its locality: from cells "batch", "scaling", "locality".

======  ====================================================================
symbol  meaning
======  ====================================================================
I_k     information of the first k points of a batch, nats
J_k     joint EI of the first k points
n       results that a Gaussian process was fitted to
======  ====================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from believer.experiments import bootstrap_interval, holm, rank_correlation, wilcoxon
from believer_paper.ledger.claim import Claim, Finding, Share, not_run
from believer_paper.numbers.printed import DISTINCT
from believer_paper.results import Results

_NEARLY_IDENTICAL = 0.05
_MAX_SHARE = 0.9
_SQUARE, _NEARLY_CUBIC = 2.2, 2.6
_LARGEST = 3
_FAR_BINS, _FAR, _REPEATS, _RISES = slice(4, None), 0.1, 0.01, 0.05
_LINKS = ("cells: batch hartmann6",)


def _batches(results: Results, strategy: str, q: int) -> dict[int, dict[str, Any]]:
    """Batches of a strategy, by seed."""
    return {one.cell.seed: one.result for one in results.of("batch", strategy=strategy, q=q)}


def _paired(results: Results, strategies: tuple[str, ...], q: int) -> dict[str, list[dict[str, Any]]]:
    """Batches on the designs that all of the strategies have; empty if there are none."""
    found = {strategy: _batches(results, strategy, q) for strategy in strategies}
    seeds = sorted(set.intersection(*(set(batches) for batches in found.values())))
    return {strategy: [batches[seed] for seed in seeds] for strategy, batches in found.items()} if seeds else {}


def _thompson(results: Results, preset: str | None) -> Finding:
    found = _paired(results, ("thompson", "kb"), 3)
    if not found:
        return not_run("batches of three by Thompson sampling and KB")
    apart = {name: Share.of(one["min_distance"] > DISTINCT for one in batches) for name, batches in found.items()}
    mean = {name: float(np.median([one["mean_distance"] for one in batches])) for name, batches in found.items()}
    ratio = mean["thompson"] / mean["kb"] if mean["kb"] else np.inf
    verdict = "fails"
    if apart["thompson"].enough:
        verdict = "holds" if apart["kb"].enough and 0.5 <= ratio <= 2.0 else "holds in part"
    texts = (f"{name}: diverse in {apart[name]}, median mean distance {mean[name]:.2f}" for name in found)
    return Finding(verdict, f"{'; '.join(texts)}; ratio {ratio:.2f}.", _LINKS)


def _top_q(results: Results, preset: str | None) -> Finding:
    batches = list(_batches(results, "top_q", 3).values())
    if not batches:
        return not_run("batches of the three best points of one acquisition")
    ratios = [one["mean_distance"] / one["random_pair"] for one in batches]
    near = Share.of(ratio <= _NEARLY_IDENTICAL for ratio in ratios)
    verdict = "holds" if near.enough else "holds in part" if near.rate >= 0.5 else "fails"
    evidence = (
        f"Nearly identical in {near} batches; the mean distance is {100 * float(np.median(ratios)):.2g} % of that of "
        f"random points in the median, {100 * max(ratios):.2g} % at most."
    )
    return Finding(verdict, evidence, _LINKS)


def _cost(results: Results, preset: str | None) -> Finding:
    found = [one.result for one in results.of("scaling") if len(one.result["ns"]) >= 2]
    if not found:
        return not_run("conditioning steps at several n")
    slopes = [
        float(np.polyfit(np.log(one["ns"][-_LARGEST:]), np.log(one["seconds"][-_LARGEST:]), 1)[0]) for one in found
    ]
    exponent, (low, high) = float(np.median(slopes)), bootstrap_interval(slopes)
    verdict = "holds" if exponent <= _SQUARE else "holds in part" if exponent <= _NEARLY_CUBIC else "fails"
    ns = found[0]["ns"][-_LARGEST:]
    evidence = (
        f"Seconds grow like n^{exponent:.2f} ({low:.2f} to {high:.2f}, {len(found)} runs) from n={ns[0]} to {ns[-1]}."
    )
    return Finding(verdict, evidence, ("cells: scaling",))


def _is_local(part: dict[str, Any], counts: list[int]) -> bool:
    """Whether the mean change over the points of the far bins is small; the mean is not over bins, as some hold few."""
    far = zip(part["bins"][_FAR_BINS], counts[_FAR_BINS], strict=True)
    shares, points = zip(*((share, n) for share, n in far if share is not None), strict=True)
    return float(np.average(shares, weights=points)) <= _FAR


_PROPERTIES: dict[str, Callable[[dict[str, Any], list[int]], bool]] = {
    "local": _is_local,
    "repeatable": lambda part, counts: part["repeated"] <= _REPEATS,
    "monotone": lambda part, counts: part["rises"] <= _RISES,
}


def _locality(results: Results, preset: str | None) -> Finding:
    wanted = {"gp": "condition", "neural": "refit"}
    cells = {
        name: [one.result for one in results.of("locality", preset=preset, surrogate=name, update=update)]
        for name, update in {**wanted, "mq_rbf": "condition", "forest": "refit"}.items()
    }
    if not all(cells[name] for name in wanted):
        return not_run("updates by conditioning and by retraining")
    kept, texts = [], []
    for name, found in cells.items():
        shares = {
            (what, of): Share.of(is_so(one[of], one["counts"]) for one in found if one[of]["repeated"] is not None)
            for what, is_so in _PROPERTIES.items()
            for of in ("mean", "std")
        }
        if name in wanted:
            opposite = [Share(share.total - share.hits, share.total) for share in shares.values()]
            kept += [share.enough for share in (shares.values() if name == "gp" else opposite)]
        counts = ", ".join(f"{what} {of} {share.hits}/{share.total}" for (what, of), share in shares.items())
        texts.append(f"{name}: {counts}")
    verdict = "holds" if all(kept) else "holds in part" if sum(kept) >= 0.5 * len(kept) else "fails"
    evidence = f"{sum(kept)} of {len(kept)} statements on GP and network hold. Updates that comply: {'; '.join(texts)}."
    return Finding(verdict, evidence, ("cells: locality",))


def _gains(results: Results, preset: str | None) -> Finding:
    found = {name: list(_batches(results, name, 10).values()) for name in ("kb", "cl_min")}
    if not all(found.values()):
        return not_run("batches of ten by KB and CL-min")
    J = {name: np.array([one["joint_ei"] for one in batches]) for name, batches in found.items()}
    shares = {name: values[:, 4] / values[:, -1] for name, values in J.items()}
    reached = {name: float(np.median(share)) for name, share in shares.items()}
    # The first five have half of the gain, or more, exactly where their mean gain is that of the last five, or more.
    less = Share.of(share > 0.5 for each in shares.values() for share in each)
    enough = all(value >= _MAX_SHARE for value in reached.values())
    verdict = "holds" if enough else "holds in part" if less.enough else "fails"
    texts = []
    for name, values in J.items():
        at = ", ".join(
            f"{k}: {100 * float(np.median(values[:, k - 1] / values[:, -1])):.0f} %" for k in (1, 2, 3, 5, 8)
        )
        low, high = bootstrap_interval(shares[name])
        texts.append(f"{name} after {at} (at five {100 * low:.0f}-{100 * high:.0f} %)")
    evidence = (
        f"Share of the joint EI of ten points, medians: {'; '.join(texts)}. Later members gain less in {less} batches."
    )
    return Finding(verdict, evidence, _LINKS)


def _information(results: Results, preset: str | None) -> Finding:
    found = _paired(results, ("kb", "cl_min", "top_q", "random"), 10)
    if not found:
        return not_run("batches of ten by KB, CL-min, top-q and random points")
    nats = {name: np.array([one["information"] for one in batches]) for name, batches in found.items()}
    differences = [nats[name][:, -1] - nats["top_q"][:, -1] for name in ("kb", "cl_min")]
    p = holm([wilcoxon(d) for d in differences])
    signs = [0 if value >= 0.05 else int(np.sign(np.median(d))) for value, d in zip(p, differences, strict=True)]
    verdict = {-2: "holds", 2: "fails"}.get(sum(signs), "holds in part")
    gaps = [one["mean_distance"] for batches in found.values() for one in batches]
    last = np.concatenate([values[:, -1] for values in nats.values()])
    grows = {name: float(np.median(values[:, -1] / values[:, 4])) for name, values in nats.items()}
    texts = (f"{name} {float(np.median(nats[name][:, -1])):.1f} ({grows[name]:.2f} times five's)" for name in nats)
    evidence = (
        f"Nats in a batch of ten, medians: {', '.join(texts)}. KB and CL-min against top-q: p = {p[0]:.2g} and "
        f"{p[1]:.2g} (Wilcoxon, Holm, {len(differences[0])} designs). Rank correlation of mean distance and "
        f"information over all batches: {rank_correlation(gaps, last) or 0.0:.2f}."
    )
    return Finding(verdict, evidence, _LINKS)


CLAIMS: tuple[Claim, ...] = (
    Claim(
        30,
        "Thompson sampling behaves like the pseudo-observation strategies: its batches are diverse, too.",
        f"Batches of three on designs of 30 points of Hartmann-6D. Holds: the least distance is above {DISTINCT:g} of "
        "the cube in 95 % of the batches of Thompson sampling and of KB, and the median mean distances differ by at "
        "most a factor of two. In part: diverse, but not all of the rest. Fails: not diverse.",
        _thompson,
        False,
    ),
    Claim(
        31,
        "The q best maximizers of one acquisition are nearly identical.",
        "Batches of three by the strategy top_q on the same designs. Nearly identical: mean distance at most 5 % of "
        "that of random points. Holds: in 95 % of the batches. In part: in half. Fails: in fewer.",
        _top_q,
        False,
    ),
    Claim(
        32,
        "A step of conditioning costs O(n²).",
        "Seconds of one step at several n; the exponent of n from a least squares line through the logarithms at the "
        "three largest, the median over runs. The step is a row appended to the factor, as the paper describes it "
        "(scikit-learn's, which it ran, factors anew). Holds: at most 2.2. In part: at most 2.6. Fails: above.",
        _cost,
        False,
    ),
    Claim(
        33,
        "Retraining is non-local, stochastic and not monotone in distance; conditioning is local, deterministic and "
        "monotone.",
        "One lie on designs of 30 points of Hartmann-6D. Local: the mean change, over the points of rays from the lie "
        "that are farther off than half the distance of random points, is at most 10 % of the largest. Repeatable: "
        "another seed changes at most 1 %. Monotone: the change grows in at most 5 % of the steps outward. Six "
        "statements (each on mean and std) for the GP, which must be so in 95 % of the designs, and six for the "
        "network, which must not be so in 95 %. Holds: all twelve. In part: six or more. Fails: fewer.",
        _locality,
        True,
    ),
    Claim(
        34,
        "The gains of greedy selection diminish beyond a q of about 5.",
        "Batches of ten by KB and CL-min, joint EI of the first k points. Holds: the first five have 90 % of it in "
        "the median, under both. In part: they have less, but more than the last five in 95 % of the batches. Fails: "
        "otherwise.",
        _gains,
        False,
    ),
    Claim(
        35,
        "Separation bounds the information that is hallucinated within a batch, on which regret bounds rest.",
        "Information ½ log det(1 + K/σ_n²) of batches of ten on the same designs: KB and CL-min, which separate, "
        "against top-q, which does not; Wilcoxon signed-rank, Holm, level 0.05. Holds: both hallucinate less than "
        "top-q. Fails: both more. In part: otherwise. (That distant points hold more information than close ones is "
        "nearly algebra, and is against the claim; the cells say how much more.)",
        _information,
        False,
    ),
)
