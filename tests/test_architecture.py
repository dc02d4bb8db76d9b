"""The picture of the rooms is what the imports say today."""

from __future__ import annotations

import importlib.util
import re
import xml.etree.ElementTree as ElementTree
from itertools import combinations, pairwise
from pathlib import Path
from types import ModuleType

import pytest
from levels import LEVELS, Arrows, arrows, reduced

DOCS = Path(__file__).parents[1] / "docs"
AGAIN = "run python docs/make_architecture.py"


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_architecture", DOCS / "make_architecture.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


drawing = script()


def reached(every: Arrows, room: str) -> set[str]:
    return set(every[room]).union(*(reached(every, other) for other in every[room]))


def test_the_list_of_arrows_is_what_the_imports_say() -> None:
    (listed,) = re.findall(r"```arrows\n(.*?)\n```", (DOCS / "architecture.md").read_text(encoding="utf-8"), re.DOTALL)
    assert listed == drawing.listed(arrows()), AGAIN


def test_the_picture_shows_the_arrows_that_it_names() -> None:
    tree = ElementTree.parse(DOCS / "figures" / "architecture.svg")
    (described,) = tree.iter("{http://purl.org/dc/elements/1.1/}description")
    assert described.text == drawing.listed(arrows()), AGAIN


def test_what_the_picture_leaves_out_is_where_others_lead() -> None:
    every = arrows()
    drawn = reduced(every)
    for room in LEVELS:
        assert reached(drawn, room) == reached(every, room)
        for other in drawn[room]:
            assert not any(other in reached(every, between) for between in drawn[room])


def test_every_room_has_a_place_of_its_own() -> None:
    assert set(drawing.ROOMS) == set(LEVELS), "give it a column in docs/make_architecture.py"
    for one, other in combinations(LEVELS, 2):
        (x, y), (u, v) = drawing.place(one), drawing.place(other)
        assert abs(x - u) > 2 * drawing.WIDE or abs(y - v) > 2 * drawing.HIGH


def test_no_arrow_runs_through_a_room() -> None:
    """At a hundred points of each of its parts."""
    for source, targets in reduced(arrows()).items():
        for target in targets:
            way = drawing.path(source, target)
            for (x, y), (u, v) in pairwise(way):
                for t in (i / 100 for i in range(101)):
                    px, py = x + t * (u - x), y + t * (v - y)
                    hit = [room for room in LEVELS if inside(room, px, py) and room not in (source, target)]
                    assert hit == [], f"{source} -> {target}"


def inside(room: str, x: float, y: float) -> bool:
    u, v = drawing.place(room)
    return bool(abs(x - u) < drawing.WIDE and abs(y - v) < drawing.HIGH)


def test_drawing_again_gives_the_same_bytes(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    page = tmp_path / "page.md"
    page.write_text("```arrows\n```\n", encoding="utf-8")
    for name in ("one.svg", "two.svg"):
        drawing.write(tmp_path / name, page)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    assert drawing.listed(arrows()) in page.read_text(encoding="utf-8")
