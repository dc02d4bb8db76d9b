"""The ledger: every claim of the paper with its test, the finding under each preset, and one verdict over all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from believer.report import Table
from believer_paper.ledger import batches, controls, diagnoses, loops, theory
from believer_paper.ledger.claim import UNTESTED, Claim, Finding
from believer_paper.results import PRESETS, Results

CLAIMS: tuple[Claim, ...] = tuple(
    sorted(
        (
            *diagnoses.CLAIMS,
            *controls.CLAIMS,
            *loops.CLAIMS,
            *batches.CLAIMS,
            *theory.CLAIMS,
        ),
        key=lambda claim: claim.number,
    )
)
"""All claims, in the order of their numbers."""

EITHER = "either preset"
"""The key of a finding that depends on no preset."""

OVERALL = (
    "Over the presets: the verdict is the one that all tested presets share. If they differ, it holds in part; if it "
    "could be tested under no preset, it cannot be tested."
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A claim and its findings, by preset, or under :data:`EITHER`."""

    claim: Claim
    findings: Mapping[str, Finding]

    @property
    def verdict(self) -> str:
        """The verdict that :data:`OVERALL` gives."""
        tested = {finding.verdict for finding in self.findings.values()} - {UNTESTED}
        return "holds in part" if len(tested) > 1 else next(iter(tested), UNTESTED)

    @property
    def links(self) -> tuple[str, ...]:
        """Links to the evidence, each once."""
        return tuple(dict.fromkeys(link for finding in self.findings.values() for link in finding.links))


def ledger(results: Results) -> tuple[Entry, ...]:
    """Judge every claim on finished cells, under each preset that has cells."""
    return tuple(Entry(claim, _findings(claim, results)) for claim in CLAIMS)


def _findings(claim: Claim, results: Results) -> dict[str, Finding]:
    if not claim.per_preset:
        return {EITHER: claim.judge(results, None)}
    return {preset: claim.judge(results, preset) for preset in results.presets}


def ledger_table(entries: Iterable[Entry]) -> Table:
    """A row for each claim; None under a preset that was not run, or that the claim does not depend on."""
    columns = ("number", "claim", "verdict", *PRESETS, "evidence", "test", "links")
    return Table("The ledger of claims", columns, [_row(entry) for entry in entries])


def _row(entry: Entry) -> tuple[str | int | None, ...]:
    by_preset = (entry.findings[preset].verdict if preset in entry.findings else None for preset in PRESETS)
    evidence = "\n".join(f"{who}: {finding.evidence}" for who, finding in entry.findings.items())
    claim = entry.claim
    return (
        claim.number,
        claim.sentence,
        entry.verdict,
        *by_preset,
        evidence,
        claim.test,
        ", ".join(entry.links),
    )
