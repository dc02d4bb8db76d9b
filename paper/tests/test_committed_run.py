from __future__ import annotations

import csv
import re
from collections import Counter
from pathlib import Path

import pytest

from believer.experiments import read_store
from believer_paper.chapters import cost
from believer_paper.ledger import ledger
from believer_paper.packing import unpack
from believer_paper.plan import EXPERIMENTS, cells
from believer_paper.results import PRESETS, Results

ROOT = Path(__file__).parents[2]
RUN = ROOT / "reproduction"
VERDICTS = {"hold": "holds", "hold in part": "holds in part", "fail": "fails"}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    folder = tmp_path_factory.mktemp("unpacked")
    (folder / "cells.jsonl.gz").write_bytes((RUN / "cells.jsonl.gz").read_bytes())
    unpack(folder)
    return Results(tuple(read_store(folder / "cells.jsonl")))


def written() -> dict[str, str]:
    with (RUN / "ledger.csv").open(encoding="utf-8", newline="") as lines:
        return {row["number"]: row["verdict"] for row in csv.DictReader(lines)}


def test_the_committed_run_has_every_cell_of_the_plan(results: Results) -> None:
    there = {one.cell for one in results.finished}
    assert [cell for cell in cells(list(EXPERIMENTS), PRESETS) if cell not in there] == []


def test_the_committed_ledger_follows_from_the_committed_cells(results: Results) -> None:
    assert {str(entry.claim.number): entry.verdict for entry in ledger(results)} == written()


def test_the_readme_counts_the_verdicts_as_the_ledger_has_them() -> None:
    said = re.search(
        r"Of 36 claims (\d+) hold, (\d+) hold in part, (\d+) fail", (ROOT / "README.md").read_text(encoding="utf-8")
    )
    assert said is not None
    counts = Counter(written().values())
    assert [counts[verdict] for verdict in VERDICTS.values()] == [int(number) for number in said.groups()]


def test_the_readme_counts_the_numbers_within_the_spread_as_the_tables_have_them() -> None:
    said = re.search(r"(\d+) of (\d+) numbers of the paper", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert said is not None
    within = []
    for path in sorted((RUN / "tables").glob("*.csv")):
        with path.open(encoding="utf-8", newline="") as lines:
            rows = [row for row in csv.DictReader(lines) if row["preset"] == "printed" and row["paper"]]
        within += [row["within"] for row in rows if not re.search("CPU|time", row["item"])]
    assert [within.count("yes"), within.count("yes") + within.count("no")] == [int(number) for number in said.groups()]


def test_the_readme_tells_the_cost_as_the_cells_have_it(results: Results) -> None:
    said = re.search(
        r"Cost: (\d+) CPU seconds for (\d+) cells, (\d+) of them within scikit-learn and (\d+) within BoTorch; "
        r"our own set-up took\s+(\d+)",
        (ROOT / "README.md").read_text(encoding="utf-8"),
    )
    assert said is not None
    *_, ours, _, everyone = cost(results.finished).rows
    columns = cost(results.finished).columns
    total, own = (dict(zip(columns, row, strict=True)) for row in (everyone, ours))
    names = ("CPU seconds", "cells", "CPU within scikit-learn", "CPU within BoTorch")
    assert [int(number) for number in said.groups()] == [
        *(round(float(total[name] or 0)) for name in names),
        round(float(own["CPU seconds"] or 0)),
    ]


def test_every_file_that_the_committed_report_links_to_is_there() -> None:
    text = (RUN / "report.md").read_text(encoding="utf-8")
    files = {link for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text) if "://" not in link}
    assert len(files) > 40
    assert [name for name in sorted(files) if not (RUN / name).exists()] == []
