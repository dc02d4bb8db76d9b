"""Write what the committed run found into the documents: ``python docs/make_verdicts.py``.

Nothing of it is typed in: the README counts verdicts, the lines of docs/paper.md are the first of the report, and the
verdicts of docs/theory.md are those of the claims that its table links to. A test holds all of them to the run.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

from believer.experiments import read_store
from believer_paper.chapters import cost
from believer_paper.ledger import Entry, ledger
from believer_paper.numbers.printed import TOTAL_SECONDS
from believer_paper.packing import CELLS, PACKED, unpack
from believer_paper.results import PRESETS, Results
from believer_paper.summary import SET_UP, counted, headlines
from believer_paper.tables import tables

ROOT = Path(__file__).parents[1]
RUN = ROOT / "reproduction"
BEGIN, END = "<!-- by docs/make_verdicts.py -->\n", "<!-- end -->\n"
_CLAIM = re.compile(r"\.\./reproduction/ledger\.md#claim(\d+)")
_LEAD = re.compile(rf"^([^,:]+?)( {SET_UP[PRESETS[0]]})?(?=[,:])")
_LINKS = {"docs/theory.md": "theory.md", "disagrees with itself": "../reproduction/inconsistencies.md"}
_WIDTH = 120


def committed() -> Results:
    """The cells of the committed run."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(RUN / PACKED, folder)
        unpack(Path(folder))
        return Results(tuple(read_store(Path(folder) / CELLS)))


def readme_lines(entries: Sequence[Entry]) -> str:
    """The counts of verdicts in both set-ups, for the README."""
    sentences = [f"{SET_UP[preset].capitalize()}, {counted(entries, preset)}." for preset in PRESETS]
    return textwrap.fill(" ".join(sentences), _WIDTH, break_on_hyphens=False) + "\n"


def paper_lines(results: Results, entries: Sequence[Entry]) -> str:
    """A list for docs/paper.md: the report's first lines, the other set-up, and what it cost."""
    _, ours = PRESETS
    made = [table for _, table in sorted(tables(results).items())]
    found = [*headlines(entries, results.presets, made), f"{SET_UP[ours].capitalize()}: {counted(entries, ours)}."]
    rows = {row[0]: dict(zip(cost(results.finished).columns, row, strict=True)) for row in cost(results.finished).rows}
    total, own = rows["in all"], rows[ours]
    seconds = {name: f"{float(total[name] or 0.0):.0f}" for name in total if "CPU" in name}
    found.append(
        f"Cost: {seconds['CPU seconds']} CPU seconds for {total['cells']} cells, "
        f"{seconds['CPU within scikit-learn']} of them within scikit-learn and {seconds['CPU within BoTorch']} within "
        f"BoTorch; our own set-up took {float(own['CPU seconds'] or 0.0):.0f} (the paper: "
        f"{TOTAL_SECONDS / 60:.0f} minutes for one set-up)."
    )
    return "".join(f"{_wrapped(line)}\n" for line in found)


def _wrapped(line: str) -> str:
    for words, place in _LINKS.items():
        line = line.replace(words, f"[{words}]({place})")
    line = _LEAD.sub(r"**\1**\2", line, count=1)
    indents = {"initial_indent": "- ", "subsequent_indent": "  "}
    return textwrap.fill(line, _WIDTH, break_on_hyphens=False, break_long_words=False, **indents)


def with_lines(text: str, lines: str) -> str:
    """A page with ``lines`` between its two marks."""
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}{lines}{END}{rest.split(END)[1]}"


def with_verdicts(text: str, verdicts: Mapping[int, str]) -> str:
    """The page on the theory with the ledger's verdict in each row that links to a claim."""
    return "".join(_row(line, verdicts) for line in text.splitlines(keepends=True))


def _row(line: str, verdicts: Mapping[int, str]) -> str:
    claim = _CLAIM.search(line)
    if not line.startswith("|") or claim is None:
        return line
    edge, statement, _, *rest = line.split("|")
    return "|".join([edge, statement, f" {verdicts[int(claim[1])]} ", *rest])


def main() -> None:
    """Bring all pages up to date."""
    results = committed()
    entries = ledger(results)
    verdicts = {entry.claim.number: entry.verdict for entry in entries}
    for page, lines in (("README.md", readme_lines(entries)), ("docs/paper.md", paper_lines(results, entries))):
        text = (ROOT / page).read_text(encoding="utf-8")
        (ROOT / page).write_text(with_lines(text, lines), encoding="utf-8")
    theory = ROOT / "docs" / "theory.md"
    theory.write_text(with_verdicts(theory.read_text(encoding="utf-8"), verdicts), encoding="utf-8")


if __name__ == "__main__":
    main()
