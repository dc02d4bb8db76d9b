"""Claims on the effect of a lie on EI around it (Eq. 4, Eq. 17, appendix C.5, section 3.7): from cells "theory".

======  ===============================================================
symbol  meaning
======  ===============================================================
z       (f⁺ - μ)/σ before the lie
ρ, ψ    σ'/σ, and EI after a believed value over EI before it
======  ===============================================================
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtr

from believer.arrays import Array
from believer.numerics import normal_pdf
from believer_paper.ledger.claim import BY_ALGEBRA, Claim, Finding, Share, not_run
from believer_paper.ledger.theory_steps import links, topic
from believer_paper.results import Results

_TIGHT = 0.1
_DOMINATED = 10.0
_STRATA = {
    "z below -1": (-np.inf, -1.0),
    "-1 to -0.1": (-1.0, -0.1),
    "-0.1 to 0.1": (-0.1, 0.1),
    "0.1 to 1": (0.1, 1.0),
    "above 1": (1.0, np.inf),
}
_LINKED = 0.01
_SIMILAR = 0.9
_SAME_STD, _SAME_POINT = 1e-6, 0.1


def _pooled(results: Results, name: str) -> dict[str, Array]:
    """The lists of a topic, concatenated over its cells, with NaN for None."""
    found = topic(results, name)
    return {
        field: np.array([np.nan if value is None else value for one in found for value in one[field]], dtype=np.float64)
        for field in (found[0] if found else ())
    }


def _penalty(results: Results, preset: str | None) -> Finding:
    found = _pooled(results, "penalty")
    if not found or not len(found["z"]):
        return not_run("implicit penalties")
    z, rho, psi = found["z"], found["std_ratio"], found["exact"]
    tight = np.abs(psi / rho - 1.0) <= _TIGHT
    explores = normal_pdf(z) >= _DOMINATED * z * ndtr(z)
    in_size = normal_pdf(z) >= _DOMINATED * np.abs(z) * ndtr(z)
    regime, sized = Share.of(tight[explores]), Share.of(tight[in_size])
    verdict = "holds" if regime.enough else "holds in part" if sized.enough else "fails"
    texts = []
    for name, (low, high) in _STRATA.items():
        inside = (z >= low) & (z < high)
        if inside.any():
            middle_ratio = float(np.median((psi / rho)[inside]))
            texts.append(f"{name}: {Share.of(tight[inside])}, median ψ/ρ {middle_ratio:.2g}")
    undefined = Share.of(np.isnan(found["printed"]))
    evidence = (
        f"ψ is within 10 % of σ'/σ at {regime} points of the regime of exploration as written, and at {sized} where "
        f"the second term of EI is a tenth of the first in size. {'; '.join(texts)}. The printed form, with the prior "
        f"kernel, is the root of a negative number at {undefined} points."
    )
    return Finding(verdict, evidence, links("penalty"))


def _expansion(results: Results, preset: str | None) -> Finding:
    found = topic(results, "expansion")
    errors = [error for one in found for error in one["error"]]
    if not errors:
        return not_run("changes of EI")
    accurate = Share.of(error <= _TIGHT for error in errors)
    terms = {lie: [term for one in found for term in one["mean_term"][lie]] for lie in found[0]["mean_term"]}
    lowers = {lie: Share.of(term < -_SAME_STD for term in values) for lie, values in terms.items()}
    raises = {lie: Share.of(term > _SAME_STD for term in values) for lie, values in terms.items()}
    signs = lowers["cl_min"].enough and raises["cl_max"].enough
    verdict = "holds" if accurate.enough and signs else "holds in part" if accurate.enough or signs else "fails"
    each = "; ".join(f"{lie} lowers EI in {lowers[lie]}, raises it in {raises[lie]}" for lie in terms)
    evidence = f"First order is right to 10 % at {accurate} points. The mean term at x*: {each}."
    return Finding(verdict, evidence, links("expansion"))


def _log_penalty(results: Results, preset: str | None) -> Finding:
    found = _pooled(results, "log_penalty")
    if not found or not len(found["std"]):
        return not_run("log penalties")
    printed, std, improvement = found["printed"], found["std"], found["improvement"]
    right = Share.of(np.abs(printed - improvement) <= _TIGHT * np.abs(improvement))
    for_std = Share.of(np.abs(printed - std) <= _TIGHT * np.abs(std))
    linked = Share.of(np.abs(found["determinant"] - std) <= _LINKED * np.abs(std))
    ranked = Share.of(found["ranks"] >= _SIMILAR)
    verdict = {2: "holds", 1: "holds in part", 0: "fails"}[right.enough + ranked.enough]
    evidence = (
        f"The printed log ψ is within 10 % of that of EI at {right} points, and of log σ'/σ at {for_std}. The "
        f"log-determinant ranks the points as log ψ of EI does (correlation of {_SIMILAR:g} or more) in {ranked} "
        f"situations, {float(np.median(found['ranks'])):.2f} in the median. True by algebra, and not counted: "
        f"half the log-determinant of the pair is log σ'/σ (to 1 % at {linked}). The least printed log ψ is "
        f"{printed.min():.2f}, while log σ'/σ goes down to {std.min():.2f}."
    )
    return Finding(verdict, evidence, links("log_penalty"))


def _geometry(results: Results, preset: str | None) -> Finding:
    found = topic(results, "geometry")
    if not found:
        return not_run("five lies about the same point")
    lies = list(found[0]["std_gap"])
    same = {lie: Share.of(gap <= _SAME_STD for gap in _all(found, "std_gap", lie)) for lie in lies}
    agree = {lie: Share.of(gap <= _SAME_POINT for gap in _all(found, "next_gap", lie)) for lie in lies}
    verdict = BY_ALGEBRA if all(share.hits == share.total for share in same.values()) else "fails"
    texts = []
    for lie in lies:
        overlap = float(np.median(_all(found, "overlap", lie)))
        texts.append(f"{lie}: σ' in {same[lie]}; next point in {agree[lie]}, overlap of where EI halves {overlap:.2f}")
    return Finding(verdict, f"The same as under KB: {'; '.join(texts)} (medians).", links("geometry"))


def _all(found: list[dict[str, Any]], what: str, lie: str) -> list[float]:
    return [value for one in found for value in one[what][lie]]


CLAIMS: tuple[Claim, ...] = (
    Claim(
        16,
        "Eq. 4: under KB the penalty ψ on EI is σ'/σ, tight where exploration dominates.",
        "Random points in 2-D, SE, at which a believed value lowered σ by 1 % or more. Tight is within 10 %. Holds: "
        "tight at 95 % of the points of the regime as the paper writes it, σφ(z) ≥ 10 (f⁺ - μ)Φ(z). In part: only at "
        "95 % of those where σφ(z) ≥ 10 |f⁺ - μ|Φ(z), for every ρ. Fails: not there either.",
        _penalty,
        False,
    ),
    Claim(
        17,
        "Eq. 17 gives the change of EI to first order, and CL-min's mean term adds to the suppression while CL-max's "
        "offsets it.",
        "Random situations in 2-D, SE. (a) Where a lie takes at most 1 % of the variance and moves the mean by at "
        "most 3 % of σ, Eq. 17 is off by at most 10 % of the sizes of its terms, at 95 % of the points. (b) At "
        "x*, the mean term lowers EI under CL-min and raises it under CL-max, in 95 % of the situations each. Holds: "
        "both. In part: one. Fails: neither.",
        _expansion,
        False,
    ),
    Claim(
        18,
        "Appendix C.5: log ψ of a pair is about -k²/(2σ²(σ² + σ_n²)), as the log-determinant of a DPP would have it.",
        "Points as for Eq. 4. (a) The printed form is within 10 % of the exact log ψ of EI at 95 %. (b) The "
        f'"qualitatively similar" log-determinant ranks a situation\'s points as that log ψ does: a rank correlation '
        f"of {_SIMILAR:g} or more in 95 % of the situations. Holds: both. In part: one. Fails: neither. (That half the "
        "log-determinant is log σ'/σ is an identity, and decides nothing.)",
        _log_penalty,
        False,
    ),
    Claim(
        19,
        "CL, KB and fantasies share one geometry of suppression and differ in the shift of the mean only.",
        "Five lies about the same x* in 2-D, f⁺ over real results. The zones of suppression are those of σ', in which "
        f"no value occurs (Eq. 2): true by algebra, if σ' is the same (to {_SAME_STD:g} σ_f) after every lie as after "
        "KB in all situations, so that our cells obey it; fails otherwise. What could have come out otherwise is "
        f"reported and does not count: the share of equal next points (to {_SAME_POINT:g} ℓ), and the overlap of the "
        "zones where EI halves. These depend on the mean, whose shifts differ by the claim itself.",
        _geometry,
        False,
    ),
)
