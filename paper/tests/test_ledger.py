"""The ledger: every claim once, a verdict over the presets, and a table of it all."""

from __future__ import annotations

import csv
import io

import pytest
from altering import shifted
from paper_cells import results as made_up

import believer_paper.ledger as module
from believer_paper.ledger import CLAIMS, EITHER, Entry, ledger, ledger_table
from believer_paper.ledger.claim import VERDICTS, Claim, Finding, not_run
from believer_paper.results import PRESETS, Results
from believer_paper.tables import tables

HOLDS, PART, FAILS, BY_ALGEBRA, UNTESTED = VERDICTS


def entry(*verdicts: str) -> Entry:
    claim = Claim(1, "It is so.", "look", lambda results, preset: not_run("it"), True)
    return Entry(claim, {p: Finding(v, f"seen {v}", ("table 1", p)) for p, v in zip(PRESETS, verdicts, strict=False)})


def test_every_claim_of_the_specification_is_there_once_and_in_order() -> None:
    assert [claim.number for claim in CLAIMS] == list(range(1, 39))


def test_a_claim_says_what_is_tested_and_how() -> None:
    for claim in CLAIMS:
        assert claim.sentence.endswith("."), claim.number
        assert len(claim.test) > 40, claim.number


@pytest.mark.parametrize(
    ("verdicts", "overall"),
    [
        ((HOLDS, HOLDS), HOLDS),
        ((FAILS, FAILS), FAILS),
        ((PART, PART), PART),
        ((HOLDS, FAILS), PART),
        ((HOLDS, PART), PART),
        ((PART, FAILS), PART),
        ((UNTESTED, FAILS), FAILS),
        ((HOLDS, UNTESTED), HOLDS),
        ((UNTESTED, UNTESTED), UNTESTED),
        ((BY_ALGEBRA, BY_ALGEBRA), BY_ALGEBRA),
        ((BY_ALGEBRA, FAILS), PART),
        ((HOLDS,), HOLDS),
        ((), UNTESTED),
    ],
)
def test_the_verdict_over_presets_is_the_one_they_share_or_in_part(verdicts: tuple[str, ...], overall: str) -> None:
    assert entry(*verdicts).verdict == overall


def test_links_are_named_once() -> None:
    assert entry(HOLDS, FAILS).links == ("table 1", "printed", "ours")


def test_tables_that_are_linked_have_the_names_that_links_have() -> None:
    results = made_up()
    labels = {table.label.lower() for table in tables(results).values()}
    linked = {one.claim.number: {link for link in one.links if not link.startswith("cells")} for one in ledger(results)}
    named = {number: {link for link in links if not link.startswith("figure")} for number, links in linked.items()}
    assert set().union(*named.values()) <= labels
    text = {20: "exp 4", 21: "exp 4", 36: "exp 4", 27: "exp 6", 25: "exp 11", 26: "exp 12"}
    for number, name in text.items():
        assert f"{name} (text)" in named[number]


def test_without_cells_nothing_can_be_tested() -> None:
    assert {one.verdict for one in ledger(Results(()))} == {UNTESTED}


def test_presets_are_judged_apart_and_only_those_that_ran(monkeypatch: pytest.MonkeyPatch) -> None:
    loops = tuple(claim for claim in CLAIMS if claim.number in (20, 22))
    monkeypatch.setattr(module, "CLAIMS", loops)
    both = made_up()
    before = ledger(both)
    after = ledger(shifted(-100.0, preset="ours", strategy="lp")(both))
    assert [one.findings["printed"] for one in after] == [one.findings["printed"] for one in before]
    assert after[1].findings["printed"].verdict == HOLDS
    assert after[1].findings["ours"].verdict == FAILS
    assert after[1].verdict == PART
    alone = Results(tuple(one for one in both.finished if one.cell.settings.get("preset") == "ours"))
    assert [set(one.findings) for one in ledger(alone)] == [{"ours"}, {"ours"}]


def test_a_claim_of_no_preset_is_judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str | None] = []

    def judge(results: Results, preset: str | None) -> Finding:
        asked.append(preset)
        return Finding(HOLDS, "seen", ())

    monkeypatch.setattr(module, "CLAIMS", (Claim(1, "It is so.", "look", judge, False),))
    (one,) = ledger(made_up(seeds=1))
    assert asked == [None]
    assert set(one.findings) == {EITHER}
    assert ledger_table([one]).rows[0][:5] == (1, "It is so.", HOLDS, None, None)


def test_the_table_has_verdicts_and_evidence_of_both_presets() -> None:
    table = ledger_table([entry(HOLDS, FAILS), entry(PART)])
    first, second = csv.DictReader(io.StringIO(table.csv()))
    assert (first["number"], first["claim"], first["verdict"]) == ("1", "It is so.", PART)
    assert (first["printed"], first["ours"]) == (HOLDS, FAILS)
    assert first["evidence"] == "printed: seen holds\nours: seen fails"
    assert first["links"] == "table 1, printed, ours"
    assert (second["printed"], second["ours"]) == (PART, "")
    assert "| 1 | It is so. | holds in part | holds | fails |" in table.markdown()
