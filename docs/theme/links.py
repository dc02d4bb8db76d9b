"""The pages of the site that are not under docs/, and the links that lead to them.

Documents link to files of the repository: to another document, to a measured result, to a test. Each file that is
linked to becomes a part of the site: a Markdown file as a page, a picture or table as it is, and source code as a page
that shows it. So every link leads to a page of the site, and a link to a file that does not exist is an error.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

SPAN = re.MULTILINE | re.DOTALL
CODE = re.compile(r"(^```.*?^```|`[^`\n]*`)", SPAN)
INCLUDE = re.compile(r"^<!-- include: (\S+), (.+) -->$", re.MULTILINE)
LINK = re.compile(r"\]\((?![a-z]+:|#)([^)\s#]+)(#[^)\s]*)?\)")
COPIED = {".png", ".svg", ".csv", ".jsonl", ".gz", ".html"}
SOURCE = "source"
LANGUAGES = {".py": "python", ".pyx": "cython", ".pxi": "cython", ".toml": "toml", ".yml": "yaml"}

_origins: dict[str, str] = {}
"""Of each page the file of the repository that it was made of."""


def place(path: str, root: Path) -> str:
    """Where on the site a file of the repository is; ``path`` is relative to the repository."""
    if found_by_mkdocs(path):
        return path.removeprefix("docs/")
    if path == "README.md":
        return "index.md"
    if (root / path).is_dir():
        readme = posixpath.join(path, "README.md")
        return readme if (root / readme).exists() else f"{SOURCE}/{path}/index.md"
    return path if Path(path).suffix in {".md", *COPIED} else f"{SOURCE}/{path.lstrip('.')}.md"


def found_by_mkdocs(path: str) -> bool:
    """Whether MkDocs finds the file by itself."""
    return path.startswith("docs/") and not path.endswith(".py")


def relinked(text: str, origin: str, root: Path) -> str:
    """``text`` of the file ``origin`` with links between places on the site."""
    here = posixpath.dirname(place(origin, root))

    def moved(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(origin), link[1]))
        return f"]({posixpath.relpath(place(target, root), here or '.')}{link[2] or ''})"

    parts = CODE.split(text)
    parts[::2] = [LINK.sub(moved, part) for part in parts[::2]]
    return "".join(parts)


def targets(text: str, origin: str) -> set[str]:
    """The files of the repository that ``text`` links to."""
    found = [link for part in CODE.split(text)[::2] for link in LINK.findall(part)]
    return {posixpath.normpath(posixpath.join(posixpath.dirname(origin), link)) for link, _ in found}


def content(path: str, root: Path) -> str:
    """The Markdown of a page made of a file outside of docs/, before its links are moved."""
    file = root / path
    hidden = "---\nsearch:\n  exclude: true\n---\n\n"
    if file.is_dir():
        names = sorted(
            f"{each.name}/" if each.is_dir() else each.name for each in file.iterdir() if each.name[0] != "."
        )
        return hidden + f"# {path}\n\n" + "".join(f"- `{name}`\n" for name in names if name != "__pycache__/")
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".md":
        return text
    return hidden + f"# {path}\n\n````{LANGUAGES.get(file.suffix, 'text')}\n{text.rstrip()}\n````\n"


def decisions(folder: Path) -> str:
    """A list of the decision records, from their headings."""
    records = [
        (path.name, path.read_text(encoding="utf-8").split("\n")[0].lstrip("# ")) for path in folder.glob("*.md")
    ]
    lines = "".join(f"- [{title}]({name})\n" for name, title in sorted(records))
    return f"# Decisions\n\nWhat a newcomer would question, with the context, the choice and its price.\n\n{lines}"


def pages(nav: Any) -> Iterator[str]:
    """The files that a navigation names."""
    if isinstance(nav, str):
        yield nav
    else:
        for entry in nav.values() if isinstance(nav, dict) else nav:
            yield from pages(entry)


def on_files(files: Files, config: Any) -> Files:
    """Add what the navigation and the documents name, and what that links to."""
    root = Path(config.config_file_path).parent
    _origins.clear()
    _origins.update({file.src_uri: f"docs/{file.src_uri}" for file in files.documentation_pages()})
    waiting = ["README.md", *_origins.values()]
    named = {path for path in pages(config.nav) if files.get_file_from_path(path) is None}

    def add(path: str) -> None:
        uri = place(path, root)
        if files.get_file_from_path(uri) is None:
            if Path(path).suffix in COPIED:
                files.append(File.generated(config, uri, abs_src_path=str(root / path)))
            else:
                files.append(File.generated(config, uri, content=content(path, root)))
                _origins[uri] = path
                waiting.extend([path] if path.endswith(".md") else [])

    files.append(File.generated(config, "decisions/index.md", content=decisions(root / "docs" / "decisions")))
    _origins["decisions/index.md"] = "docs/decisions/index.md"
    for path in named:
        if (root / path).exists():
            add(path)
    for origin in waiting:
        for path in sorted(targets((root / origin).read_text(encoding="utf-8"), origin)):
            file = root / path / "README.md" if (root / path / "README.md").exists() else root / path
            # Links to what does not exist are reported by MkDocs, page by page.
            if file.exists() and not found_by_mkdocs(path) and path != "README.md" and not path.startswith(".."):
                add(file.relative_to(root).as_posix())
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Move the links of a page to where their targets are on the site, and fill in what it includes."""
    root = Path(config.config_file_path).parent
    text = relinked(markdown, _origins[page.file.src_uri], root)
    return INCLUDE.sub(lambda found: relinked(section(root / found[1], found[2]), found[1], root), text)


def section(file: Path, heading: str) -> str:
    """A section of a document, with its heading."""
    found = re.search(rf"^## {re.escape(heading)}\n.*?(?=^## |\Z)", file.read_text(encoding="utf-8"), SPAN)
    if found is None:
        raise PluginError(f"{file.name} has no section {heading!r}")
    return found[0]
