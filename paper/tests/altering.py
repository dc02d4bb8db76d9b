"""Results with something altered: what a claim's verdict must follow."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from paper_cells import every_cell, with_result

from believer.experiments import FinishedCell
from believer_paper.ledger import CLAIMS
from believer_paper.ledger.claim import Finding
from believer_paper.results import Results

Edit = Callable[[Results], Results]


@dataclass(frozen=True, slots=True)
class Case:
    """Edits after which a claim holds, further ones after which it fails, and a setting without which it is open."""

    holds: Sequence[Edit]
    fails: Sequence[Edit]
    needs: dict[str, Any]


def judge(number: int, results: Results, preset: str) -> Finding:
    """What the ledger finds of a claim."""
    claim = next(claim for claim in CLAIMS if claim.number == number)
    return claim.judge(results, preset)


def cells_of(preset: str, *kinds: str) -> Results:
    """Made-up cells of some kinds, of one preset."""
    return Results(tuple(one for one in every_cell([preset]) if one.cell.experiment in kinds))


def after(results: Results, edits: Iterable[Edit]) -> Results:
    """The results with all edits done."""
    for edit in edits:
        results = edit(results)
    return results


def first_seeds(results: Results, seeds: int) -> Results:
    """Only the first seeds."""
    return Results(tuple(one for one in results.finished if one.cell.seed < seeds))


def edited(change: Callable[[dict[str, Any]], None], kind: str, **settings: Any) -> Edit:
    """``change`` done to the results of some cells."""
    return lambda results: with_result(results, change, kind, **settings)


def shifted(by: float, **settings: Any) -> Edit:
    """Loops whose values are all moved."""

    def change(result: dict[str, Any]) -> None:
        for name in ("values", "truth"):
            if name in result:
                result[name] = [value + by for value in result[name]]

    return edited(change, "loop", **settings)


def taking(fields: Sequence[str], source: dict[str, Any], **settings: Any) -> Edit:
    """Loops that get fields of those with the settings ``source``, seed by seed; ``truth`` may come from values."""

    def edit(results: Results) -> Results:
        given = {one.cell.seed: one.result for one in results.of("loop", **source)}
        chosen = {one.cell for one in results.of("loop", **settings)}
        assert given, source
        assert chosen, settings
        finished = []
        for one in results.finished:
            if one.cell in chosen:
                result = copy.deepcopy(one.result)
                result.update({name: given[one.cell.seed].get(name, given[one.cell.seed]["values"]) for name in fields})
                one = FinishedCell(one.cell, result, one.provenance)
            finished.append(one)
        return Results(tuple(finished))

    return edit


def apart(gap: float, *parts: str, **settings: Any) -> Edit:
    """Measurements whose named parts have members ``gap`` from the first."""

    def change(result: dict[str, Any]) -> None:
        for name in parts:
            part = result[name]
            part["points"] = [[0.5] * len(part["points"][0]) for _ in part["points"]]
            for j, point in enumerate(part["points"][1:]):
                point[j] += gap

    return edited(change, "sdd", **settings)


def responding(response: float, *parts: str, **settings: Any) -> Edit:
    """Measurements in whose named parts every update moves the acquisition by that much."""

    def change(result: dict[str, Any]) -> None:
        for name in parts:
            result[name]["responses"] = [response] * len(result[name]["responses"])

    return edited(change, "sdd", **settings)


def having(kind: str, values: dict[str, Any], **settings: Any) -> Edit:
    """Results with some fields replaced."""
    return edited(lambda result: result.update(copy.deepcopy(values)), kind, **settings)
