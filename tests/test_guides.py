"""The guides of the site run from top to bottom, and print what they show."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
SPEC = importlib.util.spec_from_file_location("make_outputs", ROOT / "docs" / "make_outputs.py")
assert SPEC is not None
assert SPEC.loader is not None
outputs = importlib.util.module_from_spec(SPEC)
sys.modules["make_outputs"] = outputs
SPEC.loader.exec_module(outputs)


def wording(text: str) -> str:
    """A text without its numbers, which are another processor's own, and without what depends on them."""
    words = " ".join(re.sub(r"[-+]?\d[\d.,e+-]*", "0", text).split())
    words = re.sub(r"(likely to|may|unlikely to) improve (on the best so far|further):", r"may improve \2:", words)
    return re.sub(r"0% of that takes [\w ]+;", "0% of that takes 0 slots;", words)


@pytest.mark.parametrize("page", outputs.guides(), ids=lambda page: page.name)
def test_a_guide_runs_and_prints_what_it_shows(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in re.findall(r"^<!-- needs: (\w+) -->$", page.read_text(encoding="utf-8"), re.MULTILINE):
        pytest.importorskip(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONWARNINGS", "error")
    module = ModuleType("guide")
    monkeypatch.setitem(sys.modules, "guide", module)
    for ran in outputs.run(page, tmp_path, module):
        if ran.shown is not None:
            again = f"run python docs/make_outputs.py docs/{page.parent.name}/{page.name}"
            assert wording(ran.printed) == wording(ran.shown), again


def test_what_a_page_shows_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("""# Page

```python
print("one")
```

```
two
```

```python title="three.py"
print(3)
```
```
3
```
""")
    ran = list(outputs.run(page, tmp_path, ModuleType("guide")))
    assert [(one.shown, one.printed) for one in ran] == [("two\n", "one\n"), ("3\n", "3\n")]
