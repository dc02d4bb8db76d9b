"""Journals that someone changed, and what becomes of whoever loads them.

::

    python tests/hostile_journals.py 400            # so many changes, each loaded and worked with in this process
    python tests/hostile_journals.py 400 --seed 7   # others

A journal of every kind of study is made, one value of its settings, of its fitted hyperparameters or of what was asked
for is replaced by something nasty, or two of them are, and the checksum is put right. Loading must end in an error of
this library, or in a study that works: it suggests, learns and predicts, in little memory and without a warning. A
process may die of it, so the tests run this as a script. The last line of its output is what came of it, as JSON; the
change that is under way is always in the file ``--current``.
"""

from __future__ import annotations

import argparse
import copy
import faulthandler
import json
import os
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from journal_lines import checked
from waiting import PATIENCE

import believer as bv
from believer.batch import STRATEGIES
from believer.batch.schedules import LogBeta, TheoryBeta
from believer.errors import BelieverError, JournalError, MissingCapability, MissingExtra, SpaceExhausted
from believer.maximize import FixedStarts
from believer.numerics import LBFGSSettings, backend

MEMORY = 4 << 30
"""Bytes that a process of changed journals may reserve; what is legal needs a fraction of it."""

WITH_TORCH = find_spec("torch") is not None

SPACE = bv.Space(
    {
        "rate": bv.Float(1e-4, 1.0, log=True, units="1/s"),
        "share": bv.Float(0.0, 1.0),
        "level": bv.Float(-1.0, 1.0, step=0.25),
        "depth": bv.Int(1, 9, units="mm"),
        "kind": bv.Categorical(["a", "b", 3], units="bar"),
    }
)
WIDER = bv.Space(
    {
        **SPACE.parameters,
        "kind": bv.Categorical(["b", 3, "c"]),
        "depth": bv.Int(1, 12),
        "time": bv.Float(0.0, 1.0, backfill=0.5),
    }
)
CLIMB = LBFGSSettings(max_rounds=6, heat=4, finalists=1)
CLIMBING = bv.Multistart(starts=2, candidates=16, neighbors=4, widths=(0.2, 0.05), sweeps=1, climb=CLIMB)
SCREENING = bv.Candidates(candidates=16, neighbors=4, survivors=2, rounds=2)


def _kinds() -> dict[str, dict[str, Any]]:
    """Settings of studies, all cheap: every part of the library in one of them, with every setting it has."""
    strategies: dict[str, Any] = {
        **{name: {"strategy": member} for name, member in STRATEGIES.items()},
        "refit": {"strategy": bv.PseudoObservations(bv.ConstantLie(0.5), "refit", "data")},
        "wary": {"strategy": bv.PseudoObservations(bv.Believe(1.0))},
        "few fantasies": {"strategy": bv.PseudoObservations(bv.Fantasy(4))},
        "few samples": {"strategy": bv.QEI(samples=16, restarts=1, climb=CLIMB)},
        "hard corners": {"strategy": bv.QEI(samples=16, smoothing=None)},
        "few values": {"strategy": bv.Thompson(16)},
        "drawn": {"strategy": bv.DPP("sample", LogBeta(), 1)},
        "theory": {"strategy": bv.GPBUCB(TheoryBeta(C=1.0))},
        "a number": {"strategy": bv.UCBPE(0.5)},
        "a radius": {"strategy": bv.LocalPenalization(radius=0.1)},
        "a slope": {"strategy": bv.LipschitzPenalization(2.0)},
        "EI": {"acquisition": bv.EI(0.1)},
        "PI": {"acquisition": bv.PI(0.1)},
        "UCB": {"acquisition": bv.UCB(1.5)},
        "noisy": {"surrogate": bv.GP("se", "infer")},
        "sparse": {"surrogate": bv.SparseGP(5, "matern32")},
        "finer": {"resolution": 0.01, "warp": "none"},
        "warped": {},
        "fixed starts": {"maximizer": FixedStarts((0.5,), draws=1)},
        "multiquadric": {"surrogate": bv.MQRBF(1e-3, 0.5), "strategy": "cl_min"},
        "fixed centers": {"surrogate": bv.FixedRBF(8, 0.3, 1e-3)},
        "last layer": {"surrogate": bv.LastLayer((4,), 5, 1)},
        "networks": {"surrogate": bv.NeuralEnsemble(2, (4, 3), 5, 1)},
    }
    if WITH_TORCH:
        strategies["on a device"] = {"surrogate": bv.TorchGP(noise="infer", device="cpu", memory=1e9)}
    flat = {"maximizer": SCREENING}
    return {
        **{name: {"maximizer": CLIMBING, **kind} for name, kind in strategies.items()},
        "forest": {"surrogate": bv.RandomForest(3, 1, 1), **flat},
        "machines": {"surrogate": bv.SVR(members=2, gamma=1.0), **flat},
        "defaults": {},
        "changed": {},
        "limits": {
            "outcomes": {
                "cost": bv.Minimize(units="€"),
                "heat": bv.AtMost(2.0, units="J"),
                "load": bv.AtLeast(-1.0, units="N"),
            }
        },
        "front": {
            "outcomes": {
                "cost": bv.Minimize(),
                "gain": bv.Maximize(units="%"),
                "heat": bv.Between(-1.0, 2.0, 0.6, units="J"),
            }
        },
        "scalarized": {
            "outcomes": {"cost": bv.Minimize(), "gain": bv.Maximize()},
            "reference": {"cost": 9.0, "gain": -9.0},
            "acquisition": "Scalarized",
        },
        "weighed": {"outcomes": {"cost": bv.Desirability(3.0, 0.0, units="€"), "gain": bv.Desirability(0.0, 3.0, 2.0)}},
    }


def _value(params: dict[str, Any]) -> float:
    return float(params["share"] ** 2 + params["level"] + 0.1 * params["depth"] + (params["kind"] == "a"))


def made(folder: Path) -> Journals:
    """The lines of a journal of each kind, with results and a pending trial."""
    found = {}
    for name, settings in _kinds().items():
        path = folder / "made.jsonl"
        path.unlink(missing_ok=True)
        with bv.Optimizer(SPACE, n_init=3, seed=1, journal=path, **settings) as study:
            for _ in range(2):
                for trial in study.ask(2):
                    value = _value(trial.params)
                    told = dict.fromkeys(settings.get("outcomes", ()), value)
                    study.tell(trial, told or (1e30**value if name == "warped" else value))
            if told:
                partial, failed = study.ask(2)
                study.tell(partial, {next(iter(told)): [0.5, 1.0]}, noise=0.1)
                study.tell(failed, told | {next(iter(told)): float("nan")})
                study.amend(0, told)
            study.ask(1, fixed={"depth": 4}, distinct=False)
            if name == "defaults":
                (trial,) = study.ask(1, shared={"rate": 2})
                study.tell(trial, dict.fromkeys(settings.get("outcomes", ()), 0.5) or 0.5, params={"share": 1.2})
                study.observe({**trial.params, "rate": 2.0, "level": 0.1, "depth": 2.5}, 0.7)
        if name == "changed":
            with bv.Optimizer.open(path, WIDER, change=True, strategy="cl_min", n_init=2) as study:
                study.ask(1, fixed={"depth": 4})
        found[name] = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return found


def _deep(levels: int) -> Any:
    inside: Any = []
    for _ in range(levels):
        inside = [inside]
    return inside


NUMBERS: tuple[Any, ...] = (
    *(0, -1, 1, 2, 7, 2**31, 2**31 - 1, 2**32, 2**61, 2**61 - 1, 2**61 + 1, 2**62, 2**63 - 1, 2**63, 2**64),
    *(-(2**61), -(2**63), 10**400, -(10**400), 0.0, -0.0, 0.5, -0.5, 1.5, 1e99, -1e99, 1e101, 1e300, -1e300, 1.7e308),
    *(5e-324, -5e-324, 1e-300, 1e-99, 1e-10),
)
OTHERS: tuple[Any, ...] = (
    *(True, False, None, "", "x", "infer", "nan", "\0", "é" * 500, [], {}, [[]], [0], [1] * 1000, [0.5] * 3, [None]),
    *(_deep(600), {"type": "GP"}, {"type": []}, {"type": "Settings", "memory": 2**61}, {"custom": "os.system"}),
    *({"type": "os.system"}, {"type": {"type": "GP"}}, {"a": _deep(300)}),
)
GONE = object()
"""In place of a value: the key is deleted."""

Path_ = tuple[Any, ...]
Journals = dict[str, list[dict[str, Any]]]


def places(record: Any, at: Path_ = ()) -> Iterator[Path_]:
    """Every place in JSON data where something else could stand."""
    inside = record.items() if isinstance(record, dict) else enumerate(record) if isinstance(record, list) else ()
    for key, value in inside:
        yield (*at, key)
        yield from places(value, (*at, key))


def at(record: Any, place: Path_) -> Any:
    """What stands at a place."""
    for key in place:
        record = record[key]
    return record


_WHOSE = (("config",), ("config", "surrogate"))


@dataclass(frozen=True)
class Change:
    """What is changed in the journal of a kind: values at places, each in a line from 0. ``head``: that line is all."""

    kind: str
    backend: str
    head: bool
    edits: tuple[tuple[int, Path_, Any], ...]

    def __str__(self) -> str:
        edits = [
            f"line {line + 1} {'.'.join(map(str, place))} = {_with_result(new)}" for line, place, new in self.edits
        ]
        return f"{self.kind} ({self.backend}{', first line alone' if self.head else ''}): {'; '.join(edits)}"

    @property
    def in_model(self) -> bool:
        """Whether fitted hyperparameters, or whose they are, were changed; they are looked at when they are needed."""
        return any(place[0] == "model" or place[:2] in _WHOSE for _, place, _ in self.edits)

    def applied(self, lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The lines with the change."""
        changed = copy.deepcopy(lines[:1] if self.head else lines)
        for line, place, new in self.edits:
            try:
                holder = at(changed[line], place[:-1])
                if new is GONE:
                    del holder[place[-1]]
                else:
                    holder[place[-1]] = new
            except (KeyError, IndexError, TypeError):
                pass  # an edit before this one took the place away
        return changed


def _with_result(new: Any) -> str:
    if new is GONE:
        return "nothing"
    text = json.dumps(new)
    return text if len(text) < 300 else f"{text[:200]}... ({len(text)} characters)"


def fields_of(journals: Journals) -> list[tuple[str, int, Path_]]:
    """A place for each field of each class, of the study, its space, its requests and its models: kind, line, place."""
    found: dict[Path_, tuple[str, int, Path_]] = {}
    for kind, lines in journals.items():
        for line, record in enumerate(lines):
            for place in places(record):
                if line == 0 and place[0] == "config":
                    holder = at(record, place[:-1])
                    named = holder.get("type", holder.get("kind")) if isinstance(holder, dict) else None
                    found.setdefault((named, place[-1]) if named else place, (kind, line, place))
                elif record["kind"] == "changed":
                    found.setdefault(("changed", *place), (kind, line, place))
                elif record["kind"] in ("told", "observed") and place[0] == "params":
                    found.setdefault((record["kind"], *place), (kind, line, place))
                elif record["kind"] == "asked" and place[0] in ("model", "request"):
                    found.setdefault((lines[0]["config"]["surrogate"]["type"], *place), (kind, line, place))
    return list(found.values())


def one_by_one(journals: Journals, rng: np.random.Generator) -> Iterator[Change]:
    """Every field with everything nasty, in random order, again and again."""
    everything = [(field, new) for field in fields_of(journals) for new in (*NUMBERS, *OTHERS, GONE)]
    while True:
        for number in rng.permutation(len(everything)):
            (kind, line, place), new = everything[number]
            yield Change(kind, _either(rng), line == 0 and bool(rng.random() < 0.5), ((line, place, new),))


def at_random(journals: Journals, rng: np.random.Generator) -> Iterator[Change]:
    """Values at one or two places, also what stands at another place of a journal; without end."""
    kinds = list(journals)
    open_to = {
        name: [
            (i, place)
            for i, line in enumerate(lines)
            for place in places(line)
            if place[0] in ("config", "model", "request")
        ]
        for name, lines in journals.items()
    }
    parts = [at(lines[0], place) for lines in journals.values() for place in places(lines[0]) if place[0] == "config"]
    parts = [part for part in parts if isinstance(part, dict | list)]

    def edit(kind: str, head: bool) -> tuple[int, Path_, Any]:
        choices = [entry for entry in open_to[kind] if not head or entry[0] == 0]
        line, place = choices[rng.integers(len(choices))]
        draw = rng.random()
        if draw < 0.4:
            return line, place, NUMBERS[rng.integers(len(NUMBERS))]
        if draw < 0.6:
            return line, place, OTHERS[rng.integers(len(OTHERS))]
        if draw < 0.65:
            return line, (*place[:-1], "unheard_of"), 1
        return line, place, copy.deepcopy(parts[rng.integers(len(parts))])

    while True:
        kind, head = kinds[rng.integers(len(kinds))], bool(rng.random() < 0.4)
        count = 2 if rng.random() < 0.5 else 1
        yield Change(kind, _either(rng), head, tuple(edit(kind, head) for _ in range(count)))


def _either(rng: np.random.Generator) -> str:
    """The name of one of the twins."""
    return "native" if rng.random() < 0.6 and backend.name() == "native" else "python"


def changes(journals: Journals, seed: int) -> Iterator[Change]:
    """By turns, one field and one value of all that there are, and any places and values at random; without end."""
    rngs = np.random.default_rng(seed).spawn(2)
    for pair in zip(one_by_one(journals, rngs[0]), at_random(journals, rngs[1]), strict=True):
        yield from pair


def outcome(change: Change, path: Path) -> str:
    """ "refused" with the kind of the error, or "works"; any other end of it is an exception."""
    try:
        study = bv.Optimizer.load(path)
    except BelieverError as error:
        return f"refused: {type(error).__name__}"
    allowed = (MissingCapability, MissingExtra, SpaceExhausted, *((JournalError,) if change.in_model else ()))
    goals = study.settings.goals
    first = goals.objectives[0]
    with study:
        try:
            for _ in range(2):
                for trial in study.ask(2):
                    study.tell(trial, dict.fromkeys(goals.wanted, float(trial.encoded.sum())))
            at = study.predict([trial.params for trial in study.trials[-3:]], first)
        except allowed as error:
            return f"no ask: {type(error).__name__}"
    assert np.isfinite(at.mean).all(), at
    assert np.isfinite(at.std).all(), at
    if any(place[0] == "request" for _, place, _ in change.edits):
        try:
            str(bv.replay(path))
        except BelieverError as error:
            return f"no replay: {type(error).__name__}"
    return "works"


def bounded() -> None:
    """Let this process have so much memory and no more, where that can be said."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int, help="how many changes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="leave out so many of them")
    parser.add_argument("--current", type=Path, help="a file for the change under way")
    parser.add_argument(
        "--unbounded", action="store_true", help="no limit of memory: for sanitizers, which reserve it all"
    )
    arguments = parser.parse_args()
    warnings.simplefilter("error")
    setattr(os, "fsync", lambda _: None)  # noqa: B010  nothing here is to outlive the power, and disks are slow
    ends: Counter[str] = Counter()
    failures: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        journals = made(folder)
        if not arguments.unbounded:
            bounded()
        path = folder / "changed.jsonl"
        last = arguments.first + arguments.count
        for number, change in islice(enumerate(changes(journals, arguments.seed)), arguments.first, last):
            told = f"change {number} of seed {arguments.seed}: {change}"
            if arguments.current is not None:
                arguments.current.write_text(told, encoding="utf-8")
            lines = change.applied(journals[change.kind])
            path.write_text("".join(checked(line) + "\n" for line in lines), encoding="utf-8")
            faulthandler.dump_traceback_later(PATIENCE / 4, exit=True)
            try:
                with backend.using(change.backend):
                    ends[outcome(change, path)] += 1
            except BaseException as error:
                where = traceback.extract_tb(error.__traceback__)[-1]
                place = f"{Path(where.filename).name}:{where.lineno}"
                failures.append(f"{told}\n    {type(error).__name__} at {place}: {error!s:.300}")
            faulthandler.cancel_dump_traceback_later()
    print(json.dumps({"ends": dict(sorted(ends.items())), "failures": failures}))
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
