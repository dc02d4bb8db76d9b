from __future__ import annotations

import csv
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from believer_paper.ledger import CLAIMS, Entry, ledger
from believer_paper.plan import EXPERIMENTS, cells
from believer_paper.results import PRESETS, Results

ROOT = Path(__file__).parents[2]
RUN = ROOT / "reproduction"
AGAIN = "run python docs/make_verdicts.py"


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_verdicts", ROOT / "docs" / "make_verdicts.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


pages = load()


@pytest.fixture(scope="module")
def results() -> Results:
    found: Results = pages.committed()
    return found


@pytest.fixture(scope="module")
def entries(results: Results) -> tuple[Entry, ...]:
    return ledger(results)


def written() -> dict[str, str]:
    with (RUN / "ledger.csv").open(encoding="utf-8", newline="") as lines:
        return {row["number"]: row["verdict"] for row in csv.DictReader(lines)}


def test_the_committed_run_has_every_cell_of_the_plan(results: Results) -> None:
    there = {one.cell for one in results.finished}
    assert [cell for cell in cells(list(EXPERIMENTS), PRESETS) if cell not in there] == []


def test_the_committed_ledger_follows_from_the_committed_cells(entries: tuple[Entry, ...]) -> None:
    assert {str(entry.claim.number): entry.verdict for entry in entries} == written()


def test_the_readme_and_the_page_on_the_paper_say_what_the_committed_run_found(
    results: Results, entries: tuple[Entry, ...]
) -> None:
    for page, lines in (
        ("README.md", pages.readme_lines(entries)),
        ("docs/paper.md", pages.paper_lines(results, entries)),
    ):
        text = (ROOT / page).read_text(encoding="utf-8")
        assert pages.with_lines(text, lines) == text, AGAIN
        assert pages.with_lines(text, "- another line\n") != text


def test_the_page_on_the_theory_has_the_ledgers_verdict_on_every_statement_that_is_a_claim() -> None:
    text = (ROOT / "docs" / "theory.md").read_text(encoding="utf-8")
    verdicts = {int(number): verdict for number, verdict in written().items()}
    assert pages.with_verdicts(text, verdicts) == text, AGAIN
    rows = [line for line in text.splitlines() if line.startswith("| ") and "ledger.md#claim" in line]
    claims = [int(number) for number in re.findall(r"ledger\.md#claim(\d+)", "\n".join(rows))]
    assert len(claims) == len(rows) >= 9
    sentences = {claim.number: claim.sentence for claim in CLAIMS}
    for row, number in zip(rows, claims, strict=True):
        named = re.search(r"(Prop\. \d|Lemma 1|Eq\. (?:4|17)|Appendix C\.5)", row.split("|")[1])
        assert named is None or sentences[number].startswith(named[1])


def test_a_verdict_that_changes_changes_the_page() -> None:
    row = "| Lemma 1 | holds | [15](../reproduction/ledger.md#claim15) | exact |\n"
    other = "| Eq. 1 | holds | - | of no claim |\n"
    assert pages.with_verdicts(row + other, {15: "fails"}) == row.replace("holds", "fails") + other


def test_every_file_that_the_committed_report_links_to_is_there() -> None:
    text = (RUN / "report.md").read_text(encoding="utf-8")
    files = {link for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text) if "://" not in link}
    assert len(files) > 40
    assert [name for name in sorted(files) if not (RUN / name).exists()] == []
