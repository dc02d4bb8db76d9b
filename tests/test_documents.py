"""The examples of the documents do what they say."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from believer.testing import check_surrogate

DOCS = Path(__file__).parent.parent / "docs"


def test_the_guides_own_surrogate_keeps_the_contract(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "sdd.md").read_text(encoding="utf-8"), re.DOTALL)
    (code,) = [block for block in blocks if "class Nearest" in block]
    module = ModuleType("guide")
    monkeypatch.setitem(sys.modules, "guide", module)
    exec(code, module.__dict__)
    assert len(check_surrogate(module.Nearest()).passed) > 20
