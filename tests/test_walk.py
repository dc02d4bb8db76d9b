"""The walks of the documents, from a call to where its work is done, are those that the calls take."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any
from unittest import mock

import pytest
from levels import ROOT

import believer as bv
from believer.batch import picking

REPOSITORY = Path(__file__).parents[1]
PAGE = (REPOSITORY / "docs" / "architecture.md").read_text(encoding="utf-8")

PASSED = "batch/picking.py"
"""A file that the short walk passes through without a stop."""

MAX_FILES, MAX_CALLS = 35, 1200
"""Of the package, that a batch of three points may go through."""

Files = tuple[str, ...]
"""Files of the package, each called by the one before it."""


@dataclass(frozen=True, slots=True)
class Call:
    """A function of the package that was entered, and the files on the way to it; equal ones in a row count once."""

    function: str
    files: Files


@dataclass(frozen=True, slots=True)
class Hop:
    """A step of a walk: the functions that it names, of which each backend enters at least one, and the way there."""

    functions: tuple[str, ...]
    files: Files


def calls_of(run: Callable[[], object]) -> list[Call]:
    """Every call of a function of the package while ``run`` runs."""
    calls: list[Call] = []

    def profile(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(str(ROOT)):
            calls.append(Call(frame.f_code.co_qualname, way_to(frame)))

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        run()
    finally:
        sys.setprofile(before)
    return calls


TURNS = ("in_turn", "_in_turn", "_exclusively", "with_known_options")
"""Where a call waits for those of other threads, or the names of its options are checked: no step of its walk."""


def way_to(frame: FrameType | None) -> Files:
    names: list[str] = []
    while frame is not None:
        path = frame.f_code.co_filename
        if path.startswith(str(ROOT)) and frame.f_code.co_name not in TURNS:
            name = Path(path).relative_to(ROOT).as_posix()
            if not names or names[-1] != name:
                names.append(name)
        frame = frame.f_back
    return tuple(reversed(names))


def file_of(link: str) -> str:
    return link.split("src/believer/")[1]


def short_walk() -> Files:
    (paragraph,) = re.findall(r"To follow a batch from `ask` to its points:(.*?)\n\n", PAGE, re.DOTALL)
    return tuple(map(file_of, re.findall(r"\[[^\]]+\]\(([^)]+\.py)\)", paragraph)))


def walk_of_page(name: str) -> list[Hop]:
    """The nested list under a heading: what is indented is called from the file of what it is indented under."""
    section = PAGE.split(f"\n## `{name}`\n")[1].split("\n## ")[0]
    hops: list[Hop] = []
    above: list[str] = []
    for indent, link, functions in re.findall(r"^( *)- \[[^\]]+\]\(([^)]+)\)((?: (?:or )?`[^`]+`)+):", section, re.M):
        above = [*above[: len(indent) // 2], file_of(link)]
        files = tuple(file for i, file in enumerate(above) if i == 0 or file != above[i - 1])
        hops.append(Hop(tuple(re.findall(r"`([^`]+)`", functions)), files))
    assert len(hops) == len(re.findall(r"^ *- ", section, re.M)), "a line of the walk is not of the form of the others"
    return hops


def missed(hops: list[Hop], calls: list[Call]) -> list[Hop]:
    """Hops that were not made, or not after the one before them."""
    missing, at = [], 0
    for hop in hops:
        found = [i for i, call in enumerate(calls) if call.function in hop.functions and call.files == hop.files]
        later = [i for i in found if i >= at]
        if later:
            at = later[0]
        else:
            missing.append(hop)
    return missing


def loss(params: dict[str, Any]) -> float:
    return float(sum((value - 0.3) ** 2 for value in params.values()))


def study(path: Path) -> bv.Optimizer:
    """Of eight results, where the ninth point is the model's."""
    optimizer = bv.Optimizer(bv.Space.cube(2), journal=path, seed=0)
    for _ in range(2):
        for trial in optimizer.ask(4):
            optimizer.tell(trial, loss(trial.params))
    return optimizer


def calls_to(name: str, folder: Path) -> list[Call]:
    path = folder / "study.jsonl"
    with study(path) as optimizer:
        if name == "ask":  # as with hundreds of results, which the walk is about
            with mock.patch.object(picking, "POOLED_FROM", 1):
                return calls_of(lambda: optimizer.ask(3))
        if name == "tell":
            trial = optimizer.ask(1)[0]
            return calls_of(lambda: optimizer.tell(trial, 0.5))
    if name == "load":
        return calls_of(lambda: bv.Optimizer.load(path).close())
    return calls_of(lambda: bv.minimize(loss, bv.Space.cube(2), budget=6, journal=folder / "run.jsonl", q=3, seed=0))


@pytest.mark.both_backends
def test_a_batch_takes_the_short_walk(tmp_path: Path) -> None:
    walk, ways = short_walk(), {call.files for call in calls_to("ask", tmp_path)}
    assert 5 <= len(walk) <= 8
    for file in walk:
        to = [way for way in ways if way[-1:] == (file,)]
        assert any(is_along(tuple(step for step in way if step != PASSED), walk) for way in to), file
    listed = [hop.files[-1] for hop in walk_of_page("ask")]  # in the order of the calls, as the next test shows
    places = [listed.index(file) for file in walk]
    assert places == sorted(set(places))


def is_along(way: Files, walk: Files) -> bool:
    """Whether the files of ``way`` are all in ``walk``, and in its order."""
    places = [walk.index(file) if file in walk else -1 for file in way]
    return -1 not in places and places == sorted(places)


@pytest.mark.parametrize("outcomes", [None, {"loss": bv.Minimize()}], ids=["a number", "one goal"])
def test_a_batch_goes_through_few_files_and_calls(outcomes: dict[str, bv.Minimize] | None) -> None:
    """Of three points after 50 results, in memory and in compiled code: a reader can follow every call."""
    if bv.backend() != "native":
        pytest.skip("In Python alone, the loops of compiled code are calls.")
    optimizer = bv.Optimizer(bv.Space.cube(3), outcomes=outcomes, seed=0)
    while optimizer.counts.done < 50:
        for trial in optimizer.ask(5):
            optimizer.tell(trial, loss(trial.params))
    calls = calls_of(lambda: optimizer.ask(3))
    assert len({call.files[-1] for call in calls if call.files}) <= MAX_FILES
    assert len(calls) <= MAX_CALLS


@pytest.mark.both_backends
@pytest.mark.parametrize("name", ["ask", "tell", "load", "minimize"])
def test_every_hop_of_the_architecture_is_made_in_its_order(name: str, tmp_path: Path) -> None:
    hops, calls = walk_of_page(name), calls_to(name, tmp_path)
    assert len(hops) >= 4
    assert missed(hops, calls) == []
    assert missed(hops[::-1], calls) != []


def test_every_function_that_a_walk_names_is_there() -> None:
    for name in ("ask", "tell", "load", "minimize"):
        for hop in walk_of_page(name):
            source = (ROOT / hop.files[-1]).read_text(encoding="utf-8")
            for function in hop.functions:
                assert f"def {function.rpartition('.')[2]}(" in source, (name, function)
