"""Draw the picture of docs/architecture.md, and list its arrows there: ``python docs/make_architecture.py``.

Rooms and levels are those of tests/levels.py, arrows are what the files import today, less those to where others lead
anyway. The figure names its arrows (``<dc:description>``), so that a test can tell whether it is still true.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))

from levels import LEVELS, Arrows, arrows, reduced  # noqa: E402

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAGE, FIGURE = HERE / "architecture.md", HERE / "figures" / "architecture.svg"

GROUND, ENGINE, STUDY, DOOR, TOOL = "#e9e9e9", "#d8e6f3", "#dcefdc", "#fbe3c0", "#ece2f3"
KINDS = {
    GROUND: "ground",
    ENGINE: "what chooses points",
    STUDY: "what happens to a study",
    DOOR: "doors",
    TOOL: "what is built on them",
}

ROOMS: dict[str, tuple[float, str, str]] = {
    "errors": (2, GROUND, "one exception tree"),
    "_interrupts": (0, GROUND, "Ctrl-C held back"),
    "_version": (4, GROUND, "the version"),
    "_lazy": (1, GROUND, "loaded when used"),
    "capabilities": (3, GROUND, "what an object can do"),
    "arrays": (2, GROUND, "aliases, input checks"),
    "_native": (0, GROUND, "the hot path, compiled"),
    "numerics": (1, GROUND, "factors, climbs, designs"),
    "report": (4, TOOL, "tables, pages"),
    "space": (3, ENGINE, "parameters, unit cube"),
    "problems": (4, TOOL, "test functions"),
    "maximize": (2, ENGINE, "search for the best"),
    "surrogates": (1, ENGINE, "recipes, fitted models"),
    "acquisitions": (2, ENGINE, "what a point is worth"),
    "batch": (2, ENGINE, "q points together"),
    "study": (2, STUDY, "events, journal, ledger"),
    "trees": (4, TOOL, "processes and theirs"),
    "best_draft": (2, STUDY, "the best of a few batches"),
    "propose": (2, STUDY, "history in, batch out"),
    "optimizer": (2, DOOR, "ask and tell"),
    "progress": (3, TOOL, "a bar"),
    "plugins": (0, DOOR, "for authors and hosts"),
    "workers": (4, TOOL, "processes that may die"),
    "result": (2, TOOL, "what a run found"),
    "stopping": (2, TOOL, "when a run stops"),
    "clusters": (4, TOOL, "clusters as workers"),
    "program": (3, TOOL, "a solver as the function"),
    "evaluation": (4, TOOL, "trials under way"),
    "loop": (3, DOOR, "minimize"),
    "replay": (1, DOOR, "a journal verified"),
    "experiments": (4, TOOL, "cells, runner, statistics"),
    "plot": (3, TOOL, "figures of a study"),
    "page": (2, TOOL, "the page of a study"),
    "diagnostics": (4, TOOL, "the SDD"),
    "testing": (1, TOOL, "contracts for plug-ins"),
    "lab": (3, DOOR, "a study in a folder"),
    "integrations": (0, DOOR, "doors to other tools"),
    "cli": (3, DOOR, "demo, sdd, plugged verbs"),
    "__main__": (3, DOOR, "python -m believer"),
}
"""The column of each room, its kind, and what is in it."""

WIDE, HIGH = 0.44, 0.33
"""Half the size of a box, in columns and rows."""

ROW = {level: row for row, level in enumerate(sorted(set(LEVELS.values())))}

Point = tuple[float, float]


def place(room: str) -> Point:
    """The middle of a room's box."""
    return ROOMS[room][0], ROW[LEVELS[room]]


def bend(source: str, target: str) -> list[Point]:
    """The points of an arrow that has to go around boxes; empty for a straight one."""
    (x, y), (u, v) = place(source), place(target)
    match source, target:
        case "integrations", "optimizer":
            return [(x, y - HIGH), (x, v + 0.5), (u - 0.24, v + 0.5), (u - 0.24, v + HIGH)]
        case "integrations", "plot":
            return [(x + 0.24, y - HIGH), (x + 0.24, v), (u - WIDE, v)]
        case "integrations", "page":
            return [(x + 0.12, y - HIGH), (1.5, y - 0.5), (1.5, v + 0.5), (u - 0.12, v + HIGH)]
        case "integrations", "clusters":
            return [(x + 0.36, y - HIGH), (x + 0.36, v), (u - WIDE, v)]
        case "integrations", "plugins":
            return [(x, y - HIGH), (x, v), (u - WIDE, v)]
        case "lab", "optimizer":
            return [(x - WIDE, y), (2.5, y), (2.5, v + 0.12), (u + WIDE, v + 0.12)]
        case "cli", "loop":
            return [(x + WIDE, y - 0.2), (3.5, y - 0.2), (3.5, v + 0.12), (u + WIDE, v + 0.12)]
        case "replay", "optimizer":
            return [(x, y - HIGH), (x, v), (u - WIDE, v)]
        case "loop", "progress":
            return [(x - WIDE, y - 0.12), (2.53, y - 0.12), (2.53, v), (u - WIDE, v)]
        case "plot", "result":
            return [(x - WIDE, y - 0.12), (2.47, y - 0.12), (2.47, v), (u + WIDE, v)]
        case "loop", "stopping":
            return [(x - 0.3, y - HIGH), (2.5, y - 0.5), (2.5, v + 0.5), (u + 0.2, v + HIGH)]
        case "program", "trees":
            return [(x + 0.2, y - HIGH), (3.47, y - 0.5), (3.47, v + 0.5), (u - 0.2, v + HIGH)]
        case "program", "study":
            return [(x - 0.2, y - HIGH), (2.5, y - 0.6), (2.5, v + 0.2), (u + WIDE, v + 0.2)]
        case "study", "_version":
            return [(x + WIDE, y - 0.15), (3.5, y - 0.15), (3.5, v), (u - WIDE, v)]
        case "maximize", "capabilities":
            return [(x, y - HIGH), (x, y - 1.5), (2.5, y - 1.5), (2.5, v + 0.5), (u, v + 0.5), (u, v + HIGH)]
        case "experiments" | "evaluation", "study":
            return [(x - WIDE, y), (x - 0.47, y), (x - 0.47, v + 0.12), (u + WIDE, v + 0.12)]
        case "experiments", "progress":
            return [(x - WIDE, y), (x - 0.47, y), (x - 0.47, v), (u + WIDE, v)]
        case "experiments", "workers":
            return [(x + WIDE, y), (x + 0.5, y), (x + 0.5, v + 0.12), (u + WIDE, v + 0.12)]
        case "workers", "arrays":
            return [(x + WIDE, y - 0.12), (x + 0.5, y - 0.12), (x + 0.5, v), (u + WIDE, v)]
        case "workers", "_interrupts":
            return [(x + WIDE, y - 0.2), (x + 0.65, y - 0.2), (x + 0.65, v - 0.55), (u, v - 0.55), (u, v - HIGH)]
        case "diagnostics", "optimizer":
            return [(x - WIDE, y), (3.5, y), (3.5, y - 1.5), (u, y - 1.5), (u, v + HIGH)]
        case "diagnostics", "problems":
            return [(x + WIDE, y), (x + 0.55, y), (x + 0.55, v), (u + WIDE, v)]
        case "report", "errors":
            return [(x - WIDE, y), (3.45, y), (3.45, v + 0.5), (u + 0.2, v + 0.5), (u + 0.2, v + HIGH)]
        case "diagnostics", "report":
            return [(x + WIDE, y + 0.12), (x + 0.6, y + 0.12), (x + 0.6, v), (u + WIDE, v)]
    return []


def path(source: str, target: str) -> list[Point]:
    """From the bottom of one box to the top of another, or around those between."""
    (x, y), (u, v) = place(source), place(target)
    lean = 0.12 * ((u > x) - (u < x))
    return bend(source, target) or [(x + lean, y - HIGH), (u - lean, v + HIGH)]


def draw(drawn: Arrows) -> Figure:
    """The picture: a box for each room, the higher its level the higher, and the arrows."""
    from matplotlib.figure import Figure
    from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
    from matplotlib.path import Path as Line

    figure = Figure(figsize=(10.2, 0.62 * len(ROW) + 0.6))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set(xlim=(-1.0, 4.72), ylim=(-1.25, len(ROW) - 0.2))
    axes.axis("off")
    for level, row in ROW.items():
        axes.text(-0.72, row, f"{level:g}", fontsize=9, color="#777777", ha="right", va="center")
        axes.plot((-0.66, 4.6), (row - 0.5, row - 0.5), color="#f1f1f1", linewidth=0.8, zorder=0)
    for source, targets in drawn.items():
        for target in targets:
            line = FancyArrowPatch(
                path=Line(path(source, target)),
                arrowstyle="-|>,head_length=5,head_width=2.5",
                color="#555555",
                linewidth=1.1,
                joinstyle="round",
                shrinkA=0,
                shrinkB=0,
                zorder=2,
            )
            axes.add_patch(line)
    for room in LEVELS:
        (x, y), (_, color, words) = place(room), ROOMS[room]
        corner = (x - WIDE, y - HIGH)
        box = FancyBboxPatch(
            corner,
            2 * WIDE,
            2 * HIGH,
            boxstyle="round,pad=0,rounding_size=0.08",
            facecolor=color,
            edgecolor="#555555",
            linewidth=0.8,
            zorder=3,
        )
        axes.add_patch(box)
        axes.text(x, y + 0.12, room, fontsize=11, weight="bold", ha="center", va="center", zorder=4)
        axes.text(x, y - 0.16, words, fontsize=8.5, ha="center", va="center", zorder=4)
    for i, (color, words) in enumerate(KINDS.items()):
        left = (-0.62, 0.08, 1.32, 2.72, 3.32)[i]
        box = FancyBboxPatch(
            (left, -1.0), 0.12, 0.26, boxstyle="round,pad=0,rounding_size=0.04", facecolor=color, edgecolor="#555555"
        )
        axes.add_patch(box)
        axes.text(left + 0.17, -0.87, words, fontsize=9, va="center")
    axes.text(-0.72, len(ROW) - 0.5, "level", fontsize=9, color="#777777", ha="right", va="center")
    return figure


def listed(every: Arrows) -> str:
    """The arrows as text: one line a room, those of the picture first."""
    drawn, width = reduced(every), max(map(len, every))
    lines = []
    for room, others in every.items():
        more = [other for other in others if other not in drawn[room]]
        through = f" ({', '.join(more)})" if more else ""
        lines.append(f"{room:<{width}} -> {', '.join(drawn[room]) or '-'}{through}")
    return "\n".join(lines)


def write(figure: Path = FIGURE, page: Path = PAGE) -> None:
    """The picture, and the list in the page."""
    import matplotlib as mpl

    every = arrows()
    # The same bytes every time: no date, and names of parts from a seed of our own.
    with mpl.rc_context({"svg.hashsalt": "architecture", "svg.fonttype": "path", "font.family": "DejaVu Sans"}):
        draw(reduced(every)).savefig(figure, metadata={"Date": None, "Description": listed(every)})
    text = page.read_text(encoding="utf-8")
    text = re.sub(r"```arrows\n.*?```", f"```arrows\n{listed(every)}\n```", text, count=1, flags=re.DOTALL)
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
    print(FIGURE)
