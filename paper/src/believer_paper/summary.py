"""A summary in six lines: which claims hold, which fail, what is new, and how well the numbers agree.

Counts and lists are computed from the ledger; only the short names of the claims are written here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from believer_paper.ledger import Entry
from believer_paper.ledger.claim import VERDICTS
from believer_paper.results import PRESETS
from believer_paper.tables.agreement import agreements, in_a_sentence
from believer_paper.tables.layout import PaperTable

SHORT: Mapping[int, str] = {
    1: "GP and MQ-RBF pass the diagnostic",
    2: "the diagnostic removes the optimizer's randomness and nothing else",
    3: "models that are not updated collapse",
    4: "bootstraps dilute a lie to a forest",
    5: "a retrained network is diverse because of the lie",
    6: "cost ratios of 15, 250 and 3000",
    7: "Table 1",
    8: "MQ-RBF's σ is the power function",
    9: "MQ-RBF suits CL and KB",
    10: "no point is repeated (Prop. 1)",
    11: "the acquisition drops at the chosen point",
    12: "the suppression radius (Prop. 2)",
    13: "points are separated by order ℓ",
    14: "EI, UCB and PI rise with σ (Prop. 3)",
    15: "believing leaves the mean unchanged (Lemma 1)",
    16: "the penalty is σ'/σ (Eq. 4)",
    17: "EI to first order, and its signs (Eq. 17)",
    18: "the log-determinant of a DPP (C.5)",
    19: "all lies share one geometry of suppression",
    20: "CL-min and KB are near-sequential",
    21: "CL-max is slower",
    22: "CL-min and KB match or beat Local Penalization",
    23: "KB is on par with joint q-EI",
    24: "CL-min is the most diverse",
    25: "robust under noise",
    26: "batches of ten are diverse and 2 times better than random",
    27: "CL-min has the lowest SVM error",
    28: "the diagnostic says the same under EI and UCB",
    29: "diversity survives random restarts",
    30: "Thompson sampling is also diverse",
    31: "the q best maximizers are nearly identical",
    32: "a step of conditioning costs O(n²)",
    33: "conditioning is local and monotone, retraining is not",
    34: "gains diminish beyond q of 5",
    35: "separation bounds the information of a batch",
    36: "the tests have the same results on other problems",
    37: "in 2-D, GP and MQ-RBF are diverse (Figure 1)",
    38: "whole runs keep their batches diverse",
}
"""The claims in a few words, by number; a claim that is missing here is quoted in full."""

SET_UP = {PRESETS[0]: "in the paper's own set-up", PRESETS[1]: "with this library's engine"}
NEW = (
    "New here: once the model is sure where the minimum is, the next point of KB (with f⁺ also over lies) is 1.22 c/H "
    "away, where c is the standard deviation of the slope and H the curvature there, and not of order ℓ "
    "(docs/theory.md); the effect of each choice that the paper leaves open; and where the paper disagrees with itself."
)
_IN_PART = "each says several things, of which some hold and others do not, or are left open by so few data"
_SHOWN = 3
_FEW = 12
"""The largest number of claims that a line names by their short names."""


def verdicts_of(entries: Sequence[Entry], preset: str | None) -> dict[str, list[Entry]]:
    """The claims by verdict under a preset, with those that depend on no preset; None means over all presets."""
    sorted_out: dict[str, list[Entry]] = {verdict: [] for verdict in VERDICTS}
    for entry in entries:
        finding = None if preset is None else entry.findings.get(preset)
        sorted_out[entry.verdict if finding is None else finding.verdict].append(entry)
    return sorted_out


def counted(entries: Sequence[Entry], preset: str | None) -> str:
    """The number of claims with each verdict: "of 36 claims, 8 hold, 20 hold in part, ..."."""
    found = verdicts_of(entries, preset)
    counts = [f"{len(those)} {verdict if len(those) == 1 else _several(verdict)}" for verdict, those in found.items()]
    return f"of {len(entries)} claims, {', '.join(counts)}"


def headlines(entries: Sequence[Entry], presets: Sequence[str], tables: Iterable[PaperTable]) -> list[str]:
    """A line for each verdict under the first preset, one on what is new, and one on how well the numbers agree."""
    preset = next(iter(presets), None)
    where = "" if preset is None else f" {SET_UP[preset]}"
    lines: list[str] = []
    for verdict, those in verdicts_of(entries, preset).items():
        if those:
            how_many = f"{len(those)} of {len(entries)} claims" if not lines else f"{len(those)}"
            lines.append(f"{verdict.capitalize()}{where if not lines else ''}, {how_many}: {_told(verdict, those)}.")
    lines[_SHOWN:] = [" ".join(lines[_SHOWN:])] if lines[_SHOWN:] else []  # what no run decided, in one line
    agreement = "" if preset is None else in_a_sentence(agreements(tables, preset))
    return [*lines, NEW, *([f"Numbers: {agreement[0].lower()}{agreement[1:]}"] if agreement else [])]


def _told(verdict: str, those: Sequence[Entry]) -> str:
    if verdict == "holds in part":
        return _IN_PART
    if len(those) > _FEW:
        return ", ".join(f"claim {entry.claim.number}" for entry in those)
    return "; ".join(SHORT.get(entry.claim.number, entry.claim.sentence.rstrip(".")) for entry in those)


def _several(verdict: str) -> str:
    """The verdict on more than one claim."""
    return verdict.replace("holds", "hold").replace("fails", "fail")
