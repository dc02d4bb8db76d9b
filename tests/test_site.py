"""The site: everything public is on it, every page can be reached, every document installs in the same way."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import believer

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
NAVIGATION = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]


def test_every_public_name_is_in_the_reference() -> None:
    pages = "\n".join(path.read_text(encoding="utf-8") for path in (DOCS / "reference").glob("*.md"))
    shown = set(re.findall(r"^::: ([\w.]+)$", pages, re.MULTILINE))
    elsewhere = {f"believer.{name}": path for name, path in believer._BENCH.items()}
    names = {f"believer.{name}" for name in (*believer.__all__, *believer._LATER) if name != "__version__"}
    missing = {name for name in names if not {name, f"{elsewhere.get(name)}.{name.rpartition('.')[2]}"} & shown}
    assert missing == set(), "give them a place under docs/reference"


def test_every_page_is_in_the_navigation() -> None:
    pages = {path.relative_to(DOCS).as_posix() for path in DOCS.glob("**/*.md") if path.parent.name != "decisions"}
    named = set(re.findall(r"[\w./-]+\.md", NAVIGATION))
    assert pages - named == set()
    assert all((DOCS / page).exists() or (ROOT / page).exists() for page in named - {"decisions/index.md"})


def test_the_documents_install_in_one_way_that_is_said_in_one_place() -> None:
    spec = importlib.util.spec_from_file_location("make_install", DOCS / "make_install.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    for path in made.DOCUMENTS:
        text = path.read_text(encoding="utf-8")
        assert text == made.installed(text), "run python docs/make_install.py"
        published = made.installed(text, True)
        assert "pip install 'believer[all]'" in published
        assert made.installed(published, False) == text
    pages = [*DOCS.glob("**/*.md"), *ROOT.glob("*.md"), *ROOT.glob("examples/*.md"), *ROOT.glob("*/README.md")]
    others = {path for path in pages if path not in made.DOCUMENTS and "decisions" not in path.parts}
    own = {ROOT / "benchmarks" / "README.md"}  # an environment of its own, with the peers
    assert {path for path in others if re.search(r"pip\s+install", path.read_text(encoding="utf-8"))} <= own


@pytest.mark.slow("builds the whole site")
def test_the_site_is_whole_and_stands_alone(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    pages = {path: path.read_text(encoding="utf-8") for path in (tmp_path / "site").glob("**/*.html")}
    assert len(pages) > 100
    for path, text in pages.items():
        loaded = re.findall(r'<(?:script|img|link|iframe)\b[^>]*?\b(?:src|href)="(https?:[^"]+)"', text)
        assert loaded == [], path.name  # nothing comes from another host
        body = text.partition('<article class="md-content__inner')[2]
        paragraphs = re.findall(r"<p>(.*?)</p>", body, re.DOTALL)
        assert not [text for text in paragraphs if re.search(r"\n[-*|] ", text)], (
            path.name
        )  # not seen as a list or table
    found = json.loads((tmp_path / "site" / "search" / "search_index.json").read_text(encoding="utf-8"))["docs"]
    words = " ".join(one["title"] + " " + one["text"] for one in found)
    for word in ("minimize", "pending", "verdict", "Kriging Believer", "hypervolume", "sum_to", "constant liar"):
        assert word.lower() in words.lower(), word
    assert not any(one["location"].startswith("source/") for one in found)
