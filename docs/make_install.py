"""Write into the documents how the library is installed: ``python docs/make_install.py``.

Until the day of the release that is from the folder of the repository, and from then on from the package index. On that
day PUBLISHED becomes True, here and nowhere else, and this script is run once. A test holds the documents to it.
"""

from __future__ import annotations

import re
from pathlib import Path

PUBLISHED = False

ROOT = Path(__file__).parents[1]
SOURCES = {"believer": ".", "believer-bench": "./bench", "believer-paper": "./paper"}
"""The folder of each distribution."""

DOCUMENTS = (ROOT / "README.md", ROOT / "docs" / "install.md")
"""The only ones that have a command; the others name extras, and lead to docs/install.md."""

COMMAND = re.compile(r"(pip install )([^`\n#]+)")
REQUIREMENT = re.compile(r"(?<![\w./-])(\./bench|\./paper|\.|believer-bench|believer-paper|believer)(?=[\[\s'\"]|$)")
INTRODUCTION = {
    False: "It is not on the package index yet: install it from the folder of the\nrepository.",
    True: "Install it from the package index.",
}


def installed(text: str, published: bool = PUBLISHED) -> str:
    """``text`` with every command as it works today, or from the index."""
    folders = {folder: name for name, folder in SOURCES.items()}

    def requirement(found: re.Match[str]) -> str:
        name = folders.get(found[1], found[1])
        return name if published else SOURCES[name]

    def command(found: re.Match[str]) -> str:
        return found[1] + REQUIREMENT.sub(requirement, found[2])

    text = text.replace(INTRODUCTION[not published], INTRODUCTION[published])
    return COMMAND.sub(command, text)


def main() -> None:
    """Write what differs."""
    for path in DOCUMENTS:
        text = path.read_text(encoding="utf-8")
        if installed(text) != text:
            path.write_text(installed(text), encoding="utf-8")
            print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
