from __future__ import annotations

import errno
import html
import json
import os
import platform
import re
import sys
from collections.abc import Iterable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from paper_cells import loop_cell, made_up, without

from believer.errors import JournalError
from believer.experiments import FinishedCell
from believer_paper.chapters import cost, inconsistency_chapter, ledger_chapter
from believer_paper.inconsistencies import inconsistencies
from believer_paper.ledger import CLAIMS, EITHER, Entry, ledger
from believer_paper.ledger.claim import UNTESTED, VERDICTS, Claim, Finding
from believer_paper.machine import machine
from believer_paper.packing import PACKED
from believer_paper.plan import EXPERIMENTS, cells
from believer_paper.report import write_report
from believer_paper.results import PRESETS, Results
from believer_paper.summary import NEW, SHORT, counted, headlines, verdicts_of
from believer_paper.tables import tables

pytest.importorskip("matplotlib")

WANTED = ("exp8", "exp3", "claims")
RESULTS = Results(tuple(made_up(c) for c in cells(WANTED, PRESETS, seeds=5) if c.experiment in ("sdd", "batch")))
ENTRIES = [entry for entry in ledger(RESULTS) if entry.verdict != UNTESTED]
COMMAND = "believer reproduce exp8 exp3 claims"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("reproduction")
    (out / PACKED).touch()  # where a command has packed the cells
    (out / "printed.txt").write_text(write_report(RESULTS, out, COMMAND, WANTED), encoding="utf-8")
    return out


def few(preset: str, *names: str) -> Results:
    """The cells of experiments for two seeds."""
    return Results(tuple(made_up(cell) for cell in cells(names, [preset], seeds=2)))


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


class Page(HTMLParser):
    """What a page links to, shows, and can be led to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.images: list[str] = []
        self.ids: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: str(value) for name, value in attrs}
        self.open += [] if tag in ("meta", "img", "br") else [tag]
        self.links += [found["href"]] if tag == "a" else []
        self.images += [found["src"]] if tag == "img" else []
        self.ids += [found["id"]] if "id" in found else []

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_tables_figures_ledger_and_reports_are_written(folder: Path) -> None:
    tables = [f"tables/table{number:02d}" for number in (1, 2, 9, 12, 13)]
    figures = [f"figures/figure{number:02d}_{preset}.png" for number in (5, 6) for preset in PRESETS]
    rest = ["ledger.md", "ledger.csv", "machine.json", "report.md", "report.html", "printed.txt", PACKED]
    rest += ["inconsistencies.md", "inconsistencies.csv"]
    assert names(folder) == {f"{name}{ending}" for name in tables for ending in (".md", ".csv")} | {*figures, *rest}
    assert all((folder / name).read_bytes().startswith(b"\x89PNG") for name in figures)
    assert read(folder / "ledger.csv").startswith("number,claim,verdict,printed,ours,evidence,test,links\n1,")


def test_the_page_is_well_formed_shows_every_figure_and_asks_nobody(folder: Path) -> None:
    text = read(folder / "report.html")
    page = Page(text)
    assert page.open == []
    assert len(page.images) == 4
    assert all(image.startswith("data:image/png;base64,") for image in page.images)
    assert not re.search(r"<(script|link|iframe)|https?://|url\(", text)
    assert len(set(page.ids)) == len(page.ids)


def test_the_chapters_come_in_order(folder: Path) -> None:
    titles = [EXPERIMENTS[name].title for name in WANTED]
    last = ["Further tables and figures", "Provenance"]
    chapters = ["What was run", *titles, "How far the numbers agree", "The ledger of claims", *last]
    assert re.findall(r"^## (.*)$", read(folder / "report.md"), re.MULTILINE) == chapters
    assert re.findall(r"<h2[^>]*>(.*)</h2>", read(folder / "report.html")) == chapters


def test_of_a_whole_run_the_claims_come_first_and_all_of_them_are_told(tmp_path: Path) -> None:
    text = write_report(Results(()), tmp_path, "", list(EXPERIMENTS))
    assert "cannot be tested" in text
    told = read(tmp_path / "report.md")
    chapters = re.findall(r"^## (.*)$", told, re.MULTILINE)
    assert chapters[:2] == ["Summary", "The ledger of claims"]
    assert chapters[-3:] == ["The paper against itself", "The paper beyond its data", "Provenance"]
    assert len(re.findall(r"^### Claim ", told, re.MULTILINE)) == len(CLAIMS)
    assert "### Rules that changed" in told


@pytest.mark.parametrize("name", ["exp3", "exp8", "exp7a"])
def test_of_one_experiment_is_told_what_was_run_and_no_claim_that_it_does_not_test(name: str, tmp_path: Path) -> None:
    results = few("ours", name)
    text = write_report(results, tmp_path, "", [name])
    judged = [entry for entry in ledger(results) if entry.verdict != UNTESTED]
    assert len(judged) < len(CLAIMS)
    (first,) = re.findall(r"^What was run: (.*)$", text, re.MULTILINE)
    counted = f"({len(results.finished)} cells, ours); {len(judged) or 'none'} of the paper's"
    assert first.startswith(f"{EXPERIMENTS[name].title} {counted}")
    told = read(tmp_path / "report.md")
    assert len(re.findall(r"^### Claim ", told, re.MULTILINE)) == len(judged)
    assert "annot be tested" not in told.replace("0 cannot be tested", "")
    assert NEW not in told
    assert re.findall(r"^## (.*)$", told, re.MULTILINE)[:2] == ["What was run", EXPERIMENTS[name].title]


def test_tables_and_figures_stand_with_their_experiment(folder: Path) -> None:
    parts = re.split(r"^## ", read(folder / "report.md"), flags=re.MULTILINE)
    shown = {part.splitlines()[0]: re.findall(r'<a id="((?:table|figure)\d+)"', part) for part in parts[1:]}
    assert shown[EXPERIMENTS["exp8"].title] == ["table09"]
    assert shown[EXPERIMENTS["exp3"].title] == ["table02", "figure05", "figure06"]
    assert shown[EXPERIMENTS["claims"].title] == ["table01"]
    assert shown["Further tables and figures"] == ["table12", "table13"]


@pytest.mark.parametrize("name", ["report.md", "ledger.md", "inconsistencies.md"])
def test_every_link_of_the_markdown_leads_somewhere(folder: Path, name: str) -> None:
    text = read(folder / name)
    links = re.findall(r"(?<!\\)\]\(([^)]+)\)", text)
    anchors = {f"#{anchor}" for anchor in re.findall(r'<a id="(\w+)"></a>', text)}
    assert [link for link in links if link not in anchors and not (folder / link).is_file()] == []
    assert any(link.startswith("tables/") for link in links)
    assert name != "report.md" or "figures/figure05_ours.png" in links


def test_claims_link_to_what_is_in_the_report_and_name_the_rest() -> None:
    finding = Finding("holds", "It does.", ("table 2", "figure 18", "cells: sdd hartmann6"))
    claim = Claim(1, "A sentence.", "a rule.", lambda _, __: finding, per_preset=False)
    places = {"table 2": "#table02", "cells": "#cells"}
    *_, told = ledger_chapter([Entry(claim, {EITHER: finding})], places)
    assert told.links == {"Behind it": {"table 2": "#table02", "figure 18": "", "cells: sdd hartmann6": "#cells"}}


def test_what_lies_behind_a_claim_is_on_the_page_or_not_linked(folder: Path) -> None:
    page = Page(read(folder / "report.html"))
    named = {link for entry in ENTRIES for link in entry.links if link.startswith(("table ", "figure "))}
    anchors = {f"{kind}{int(number):02d}" for kind, number in (name.split() for name in named)}
    assert {"table01", "table02", "table09", "figure05"} <= anchors & set(page.ids)
    assert anchors & set(page.ids) == {link[1:] for link in page.links if link[1:] in anchors}
    assert anchors - set(page.ids)


def test_every_claim_is_told_with_test_verdict_and_evidence(folder: Path) -> None:
    text = read(folder / "ledger.md")
    for entry in ENTRIES:
        assert f"### Claim {entry.claim.number}: " in text
        for who, finding in entry.findings.items():
            assert f"> {who}: {finding.verdict}. " in text
    assert text.count("\nTest: ") == len(ENTRIES)


def test_every_inconsistency_is_told_by_its_tables_and_contradictions_apart(folder: Path) -> None:
    contradictions, beyond = re.split(r"^## ", read(folder / "inconsistencies.md"), flags=re.MULTILINE)[1:]
    for kind, text in (("contradiction", contradictions), ("beyond the data", beyond)):
        numbers = [re.findall(r"\d+", head) for head in re.findall(r"^### (.*): ", text, re.MULTILINE)]
        assert numbers == [list(map(str, one.tables)) for one in inconsistencies() if one.kind == kind]
    assert "cannot both be right" in contradictions
    assert "cannot both be right" not in beyond


def test_a_kind_of_inconsistency_that_the_paper_has_not_gets_no_chapter() -> None:
    found = [one for one in inconsistencies() if one.kind == "contradiction"]
    told = inconsistency_chapter(found, {})
    assert [section.title for section in told if section.level == 2] == ["The paper against itself"]
    assert len(told) == len(found) + 1


def test_the_terminal_counts_the_verdicts_of_the_ledger(folder: Path) -> None:
    text = read(folder / "printed.txt")
    found = [[(e.findings.get(preset) or e.findings[EITHER]).verdict for e in ENTRIES] for preset in PRESETS]
    found.append([entry.verdict for entry in ENTRIES])
    counted = re.findall(r"^.*: of (\d+) claims, (.*)\.$", text, re.MULTILINE)
    numbers = [[int(of), *map(int, re.findall(r"(?:^|, )(\d+) ", those))] for of, those in counted]
    assert numbers == [[len(f), *(f.count(v) for v in VERDICTS)] for f in found]
    assert re.findall(r"^(.*): of", text, re.MULTILINE) == [*PRESETS, "Over all presets"]
    assert text.rstrip().endswith("has 5 tables, 4 figures, the ledger and the inconsistencies; files are beside it.")


def test_the_first_lines_are_the_verdicts_in_the_papers_set_up_what_is_new_and_how_far_numbers_agree(
    folder: Path,
) -> None:
    verdicts = verdicts_of(ENTRIES, "printed")
    lines = headlines(ENTRIES, PRESETS, [tables(RESULTS)[number] for number in (2, 9)])  # of what was asked for
    told = [verdict for verdict, those in verdicts.items() if those]
    assert len(lines) == len(told) + 2
    lines.remove(NEW)  # it is no finding of what was run
    for line, verdict in zip(lines, told, strict=False):
        assert line.startswith(verdict.capitalize())
        assert re.search(rf", {len(verdicts[verdict])}( of {len(ENTRIES)} claims)?: ", line)
    assert lines[0].startswith(f"{told[0].capitalize()} in the paper's own set-up, ")
    assert re.match(r"Numbers: within two standard errors of the paper: \d+ of \d+ distances", lines[-1])
    for name in ("report.md", "printed.txt"):
        text = read(folder / name)
        assert text.index(lines[0]) < text.index(f"printed: of {len(ENTRIES)} claims, ")
    first, *calls = re.findall(r'<p class="use">(.*)</p>', read(folder / "report.html"))
    assert html.unescape(first).startswith("What was run: ")
    assert [html.unescape(call) for call in calls[: len(lines)]] == lines


def test_a_few_claims_are_named_and_many_are_numbered_and_a_verdict_of_many_has_its_plural() -> None:
    def entries(verdict: str, numbers: Iterable[int]) -> list[Entry]:
        finding = Finding(verdict, "Seen.", ())
        return [
            Entry(Claim(n, f"Sentence {n}.", "a rule.", lambda _, __: finding, per_preset=False), {EITHER: finding})
            for n in numbers
        ]

    few = entries("fails", [10, 99])
    assert headlines(few, [], [])[0] == f"Fails, 2 of 2 claims: {SHORT[10]}; Sentence 99."
    many = headlines(entries("fails", range(40, 60)), [], [])[0]
    assert many.startswith("Fails, 20 of 20 claims: claim 40, claim 41,")
    assert counted(few, None).startswith("of 2 claims, 0 hold, ")
    assert ", 2 fail" in counted(few, None)
    assert ", 1 fails" in counted(few[:1], None)


def test_presets_that_differ_are_told_apart_in_the_ledgers_table() -> None:
    one, other = Finding("holds", "Yes.", ()), Finding("fails", "No.", ())
    claim = Claim(1, "A sentence.", "a rule.", lambda _, __: one, per_preset=True)
    listed, *_ = ledger_chapter([Entry(claim, {"printed": one, "ours": other}), Entry(claim, {EITHER: one})], {})
    (table,) = listed.tables
    assert [row[1] for row in table.rows] == ["printed: holds\nours: fails", "holds"]


def test_the_cost_tells_presets_and_other_libraries_apart() -> None:
    def cell(preset: str, seconds: float, foreign: float, **settings: Any) -> FinishedCell:
        one = loop_cell(preset, "hartmann6", "kb", 3, 0, **settings)
        where = {"seconds": 10.0 * seconds, "cpu_seconds": seconds}
        return FinishedCell(one.cell, {**one.result, "foreign": foreign}, where)

    sklearn, ours = cell("printed", 8.0, 4.0), cell("ours", 1.0, 0.0)
    botorch = cell("printed", 16.0, 2.0, options={"process": "botorch"})
    assert cost([sklearn, botorch, ours]).rows == (
        ("printed", 2, 24.0, 240.0, 4.0, 2.0, 18.0),
        ("ours", 1, 1.0, 10.0, 0.0, 0.0, 1.0),
        ("in all", 3, 25.0, 250.0, 4.0, 2.0, 19.0),
    )


def test_the_terminal_tells_both_clocks_and_takes_other_libraries_from_the_processors(folder: Path) -> None:
    n, cpu, wall = len(RESULTS.finished), 2.0 * len(RESULTS.finished), 3.0 * len(RESULTS.finished)
    within = f"0 s within scikit-learn, 0 s within BoTorch and {cpu:.0f} s for the rest"
    assert f"Cost: {n} cells, {cpu:.0f} s of CPU time ({wall:.0f} s of wall-clock time): {within}." in read(
        folder / "printed.txt"
    )


def test_a_report_takes_the_place_of_an_earlier_one_and_leaves_the_rest_alone(tmp_path: Path) -> None:
    for name in ("tables/table04.csv", "tables/exp04_text.md", "figures/figure02_ours.png", "report.html"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("earlier", encoding="utf-8")
    for name in ("cells.jsonl", "tables/mine.csv"):
        (tmp_path / name).write_text("kept", encoding="utf-8")
    write_report(few("ours", "exp8"), tmp_path, "", ["exp8"])
    assert read(tmp_path / "cells.jsonl") == read(tmp_path / "tables/mine.csv") == "kept"
    assert not {"tables/table04.csv", "tables/exp04_text.md", "figures/figure02_ours.png"} & names(tmp_path)
    assert "earlier" not in read(tmp_path / "report.html")
    assert "tables/table09.md" in names(tmp_path)


def test_a_full_disk_is_told_and_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    some = few("ours", "exp8")
    write_report(some, tmp_path, "first", ["exp8"])
    before = {name: (tmp_path / name).read_bytes() for name in names(tmp_path)}
    write = Path.write_bytes

    def full(self: Path, data: bytes) -> int:
        if "report.html" in self.name:
            write(self, data[:100])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(self, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(JournalError, match=r"cannot write .*report\.html: No space left.* finished cells are safe"):
        write_report(some, tmp_path, "second", ["exp8"])
    assert names(tmp_path) == set(before)
    assert (tmp_path / "report.html").read_bytes() == before["report.html"]


def test_the_same_cells_give_the_same_files(tmp_path: Path) -> None:
    for name in ("first", "second"):
        write_report(few("ours", "exp3", "exp8"), tmp_path / name, COMMAND, ["exp3"])
    written = names(tmp_path / "first")
    assert "figures/figure05_ours.png" in written
    for name in written:
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes(), name


@pytest.mark.parametrize(
    ("some", "wanted"),
    [
        (Results(()), list(EXPERIMENTS)),
        (Results((loop_cell("ours", "hartmann6", "kb", 3, 0),)), ["exp9"]),
        (without(few("printed", "exp7a"), "sdd", surrogate="forest"), ["exp3", "exp7a"]),
    ],
    ids=["nothing", "one cell", "a surrogate missing"],
)
def test_what_was_not_run_is_left_out(some: Results, wanted: list[str], tmp_path: Path) -> None:
    write_report(some, tmp_path, "", wanted)
    page = Page(read(tmp_path / "report.html"))
    assert [link for link in page.links if link.startswith("#") and link[1:] not in page.ids] == []
    assert page.images == []


def test_the_machine_is_described_without_its_name_or_paths(folder: Path) -> None:
    text = read(folder / "machine.json")
    assert json.loads(text) == machine()
    assert not re.search(r"(?<![\w.])/\w|[A-Z]:\\", text)
    assert platform.node() not in text or len(platform.node()) < 3
    found = machine()
    assert found["cores"] >= 1
    assert found["memory_gb"] > 0.1
    assert {"numpy", "scipy", "matplotlib"} <= found["packages"].keys()
    assert all(library["name"] for library in found["blas"])
    assert found["backend"] in ("native", "python")


def test_a_machine_that_tells_little_is_described_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(*_: Any, **__: Any) -> Any:
        raise OSError

    monkeypatch.setattr("believer_paper.machine.Path.read_text", absent)
    monkeypatch.setattr("believer_paper.machine._version", lambda package: None)
    monkeypatch.setattr(platform, "freedesktop_os_release", absent)
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setattr("believer_paper.machine.subprocess.run", absent)
    monkeypatch.setattr(platform, "processor", lambda: "")
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.delattr(os, "sysconf", raising=False)
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    found = machine()
    assert found["processor"] == platform.machine()
    assert found["cores"] == os.cpu_count()
    assert found["memory_gb"] is None
    assert found["system"].startswith("Darwin ")
    assert found["packages"] == {}
    assert len(found["blas"]) == 1
