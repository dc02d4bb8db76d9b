"""Run the code of the guides, and write into them what it prints: ``python docs/make_outputs.py [page ...]``.

A guide is run from top to bottom, in a folder of its own:

- a block of ``python`` runs in this process, after those before it;
- a block of ``python title="NAME"`` is a script: it is written to NAME, and run if the page shows what it prints;
- a block of ``toml`` or ``csv`` with a title is written to the file of that name;
- a block of ``sh`` is run by the shell; the exit code 3 of ``believer tell`` says that rows were not taken;
- a block without a language that follows one of these is what it prints.

The tests run all guides in the same way (tests/test_guides.py).
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

DOCS = Path(__file__).parent
BLOCK = re.compile(
    r'^```(?P<language>python|sh|toml|csv)(?: title="(?P<title>[^"\n]+)")?\n(?P<code>.*?)^```\n'
    r"(?:\n?```\n(?P<shown>.*?)^```\n)?",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Ran:
    """A block that has been run.

    Attributes
    ----------
    block : the match of :data:`BLOCK`.
    shown : the output that the page shows, or None.
    printed : what it printed.
    """

    block: re.Match[str]
    printed: str

    @property
    def shown(self) -> str | None:
        """The output that the page shows, or None."""
        return self.block["shown"]


def guides() -> list[Path]:
    """The pages that are run in this way."""
    found = [path for folder in ("tutorials", "how-to", "concepts") for path in (DOCS / folder).glob("*.md")]
    return sorted([*found, DOCS / "lab.md"])


def run(page: Path, folder: Path, module: ModuleType) -> Iterator[Ran]:
    """Run a page in the current folder, which is ``folder``, block by block; it may import the scripts that it has."""
    before = set(sys.modules)
    sys.path.insert(0, str(folder))
    try:
        for number, block in enumerate(BLOCK.finditer(page.read_text(encoding="utf-8")), start=1):
            code, title = block["code"], block["title"]
            if title:
                (folder / title).write_text(code, encoding="utf-8")
            if block["language"] in ("toml", "csv"):
                yield Ran(block, "")
            elif block["language"] == "sh":
                yield Ran(block, _shell(code, folder))
            elif title is None:
                with contextlib.redirect_stdout(io.StringIO()) as out:
                    exec(compile(code, f"{page.name}, block {number}", "exec"), module.__dict__)
                yield Ran(block, out.getvalue())
            else:
                yield Ran(block, _shell([sys.executable, title], folder) if block["shown"] is not None else "")
    finally:
        sys.path.remove(str(folder))
        for script in folder.glob("*.py"):
            if script.stem not in before:
                sys.modules.pop(script.stem, None)


def _shell(command: str | list[str], folder: Path) -> str:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        command,
        shell=isinstance(command, str),
        cwd=folder,
        env={**os.environ, "PATH": path, "COLUMNS": "100"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if done.returncode not in (0, 3):
        raise RuntimeError(f"{command} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def rewritten(page: Path) -> str:
    """The text of a page with the outputs of its blocks as they are now."""
    text, made = page.read_text(encoding="utf-8"), ModuleType("guide")
    before, here = sys.modules.get("guide"), Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        sys.modules["guide"] = made
        try:
            ran = list(run(page, Path(folder), made))
        finally:
            os.chdir(here)
            sys.modules.pop("guide") if before is None else sys.modules.update(guide=before)
    for one in reversed(ran):
        if one.shown is not None:
            text = text[: one.block.start("shown")] + one.printed.rstrip() + "\n" + text[one.block.end("shown") :]
    return text


def main() -> None:
    """Rewrite the pages that are named, or all of them."""
    for page in [Path(name).resolve() for name in sys.argv[1:]] or guides():
        text = rewritten(page)
        if text != page.read_text(encoding="utf-8"):
            page.write_text(text, encoding="utf-8")
            print(page)


if __name__ == "__main__":
    main()
