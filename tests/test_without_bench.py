"""The names of believer-bench at the library's door, with that distribution and without."""

from __future__ import annotations

import sys

import pytest

import believer as bv
from believer.errors import MissingExtra


def test_with_it_the_door_leads_to_it() -> None:
    room = pytest.importorskip("believer_bench.plan")
    assert bv.benchmark is room.benchmark


@pytest.mark.parametrize("name", ["benchmark", "BenchReport"])
def test_without_it_the_names_are_there_and_say_what_to_install(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [module for module in sys.modules if module.split(".")[0] == "believer_bench"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setattr(sys, "meta_path", [_Hide(), *sys.meta_path])
    absent = getattr(bv, name)
    with pytest.raises(MissingExtra, match=r"this needs believer-bench; .*pip install 'believer\[bench\]'"):
        absent(["kb"], problems=["branin"])


class _Hide:
    """A finder that knows of no believer_bench."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name.split(".")[0] == "believer_bench":
            raise ModuleNotFoundError(f"No module named {name!r}", name="believer_bench")


def test_a_bench_that_is_broken_is_not_taken_for_a_missing_one(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("believer_bench")
    monkeypatch.setitem(sys.modules, "believer_bench.plan", None)
    with pytest.raises(ModuleNotFoundError, match=r"believer_bench\.plan"):
        bv.benchmark  # noqa: B018
