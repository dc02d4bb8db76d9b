"""``believer sdd``: the Structural Diversity Diagnostic for several surrogates."""

from __future__ import annotations

import argparse
import csv
import importlib.util
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from believer import surrogates
from believer.acquisitions import EI, PI, UCB, Acquisition, LogEI
from believer.batch import STRATEGIES, ConstantLie, Lie, PseudoObservations
from believer.batch.pseudo import INCUMBENTS, UPDATES
from believer.cli.arguments import at_least, look_here, writable
from believer.diagnostics.sdd import diagnose, diagnosis
from believer.diagnostics.sdd_page import sdd_document, summary_table
from believer.errors import InvalidInput, MissingExtra
from believer.experiments.parts import part
from believer.problems import PROBLEMS, problems_by_name
from believer.study.files import followed
from believer.study.settings import versions

ACQUISITIONS: dict[str, Acquisition] = {"logei": LogEI(), "ei": EI(xi=0.01), "ucb": UCB(), "pi": PI(xi=0.01)}
LIES: dict[str, Lie] = {
    name: s.lie for name, s in STRATEGIES.items() if isinstance(s, PseudoObservations) and not s.hedge
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``believer sdd``."""
    names = ", ".join(surrogates.SURROGATES)
    parser.add_argument("surrogates", nargs="*", metavar="SURROGATE", help=f"{names}, or your own as module:object")
    named = list(problems_by_name())
    listed = f"{', '.join(PROBLEMS)}, or one of the suite of believer-bench (default: %(default)s)"
    parser.add_argument("--problem", default="hartmann6", choices=named, metavar="NAME", help=listed)
    parser.add_argument("--data", type=Path, metavar="CSV", help="a table of numbers, instead of a problem")
    parser.add_argument("--target", metavar="COLUMN", help="the column of --data to be minimized (default: the last)")
    parser.add_argument(
        "--bounds", nargs="+", metavar="COLUMN=LOW:HIGH", default=[], help="of --data (default: its own range)"
    )
    parser.add_argument("--q", type=at_least(2), default=3, help="points in a batch (default: %(default)s)")
    parser.add_argument("--n", type=at_least(2), default=30, help="observations to begin with (default: %(default)s)")
    parser.add_argument("--seeds", type=at_least(1), default=10, help="initial designs (default: %(default)s)")
    parser.add_argument("--acquisition", choices=list(ACQUISITIONS), default="logei", help="default: %(default)s")
    parser.add_argument("--lie", default="cl_min", help=f"{', '.join(LIES)}, or a number (default: %(default)s)")
    parser.add_argument("--update", nargs="+", choices=UPDATES, default=["auto"], help="one or more (default: auto)")
    parser.add_argument("--incumbent", choices=INCUMBENTS, default="believed", help="default: %(default)s")
    parser.add_argument("--workers", type=at_least(1), help="processes (default: one a core)")
    parser.add_argument("--out", type=Path, help="folder for report, figures and results; a run there is resumed")


def run(arguments: argparse.Namespace) -> int:
    """Diagnose and print; write report, figures and resumable results to the folder if one was given."""
    started = time.monotonic()
    if not arguments.surrogates:
        raise InvalidInput(f"name one or more surrogates: {', '.join(surrogates.SURROGATES)}, or module:object.")
    if arguments.data is None and (arguments.target is not None or arguments.bounds):
        raise InvalidInput("--target and --bounds are of a table; name it with --data, or leave them out.")
    out = None if arguments.out is None else _Folder(writable(arguments.out))
    if out is not None and importlib.util.find_spec("matplotlib") is None:
        raise MissingExtra("matplotlib", "plots")
    _diagnose(arguments, out)
    if out is not None:
        print(f"\nReport, figures and results are in {out.path}{os.sep}.")
    print(f"Done in {time.monotonic() - started:.0f} s.")
    return 0


@dataclass(frozen=True, slots=True)
class _Folder:
    """The folder that a run writes its files to."""

    path: Path

    @property
    def results(self) -> Path:
        """Finished cells; a later run takes them up."""
        return self.path / "results.jsonl"

    def write(self, name: str, text: str) -> None:
        (self.path / name).write_text(text, encoding="utf-8")


def _diagnose(arguments: argparse.Namespace, out: _Folder | None) -> None:
    problem = arguments.problem if arguments.data is None else _read(arguments.data, arguments.target, arguments.bounds)
    acquisition, lie = ACQUISITIONS[arguments.acquisition], _lie(arguments.lie)
    look_here(*arguments.surrogates)
    diagnoses = [
        diagnosis(surrogate, problem, arguments.q, acquisition, lie, update, None, arguments.n, arguments.incumbent)
        for surrogate in [part("a surrogate", name).value for name in arguments.surrogates]
        for update in arguments.update
    ]
    reports = diagnose(
        diagnoses,
        arguments.seeds,
        workers=arguments.workers or os.cpu_count() or 1,
        results=None if out is None else out.results,
        progress=True,
    )
    for report in reports:
        print(f"{report}\n")
    summary = summary_table(reports)
    if len(reports) > 1:
        print(summary)
    if out is not None:
        out.write("sdd.json", "[" + ",\n".join(report.to_json() for report in reports) + "]\n")
        sdd_document(reports, f"Made by: believer sdd, with {_versions()}.").write(out.path, "sdd")


def _versions() -> str:
    """The versions that a report was computed with."""
    v = versions()
    return f"believer {v['believer']}, Python {v['python']}, NumPy {v['numpy']}, SciPy {v['scipy']}, {v['platform']}"


def _lie(name: str) -> Lie:
    if name in LIES:
        return LIES[name]
    try:
        return ConstantLie(float(name))
    except ValueError as error:
        raise InvalidInput(f"lie must be one of {', '.join(LIES)}, or a number; got {name!r}.") from error


def _read(path: Path, target: str | None, bounds: Sequence[str]) -> tuple[list[list[float]], list[float], Any]:
    """Points, values and bounds of a CSV file with a header."""
    try:
        with open(followed(path), newline="", encoding="utf-8-sig") as file:
            rows = [row for row in csv.reader(file) if row]
    except OSError as error:
        raise InvalidInput(f"--data must be a CSV file that can be read; got {path}: {error.strerror}.") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise InvalidInput(f"{path} must be a table in CSV and UTF-8; it is not: {error}.") from error
    if len(rows) < 3:
        raise InvalidInput(f"{path} must have a header and at least two rows; it has {len(rows)} lines.")
    header = [name.strip() for name in rows[0]]
    if len(header) < 2 or len(set(header)) < len(header):
        raise InvalidInput(f"{path} must have two or more columns with different names; got {', '.join(header)}.")
    goal = header[-1] if target is None else target
    if goal not in header:
        raise InvalidInput(f"--target must be one of the columns {', '.join(header)}; got {goal!r}.")
    columns = [name for name in header if name != goal]
    given = dict(map(_bound, bounds))
    unknown = sorted(given.keys() - set(columns))
    if unknown:
        raise InvalidInput(f"--bounds must name columns of {path}: {', '.join(columns)}; got {', '.join(unknown)}.")
    table = [_numbers(row, header, path, line) for line, row in enumerate(rows[1:], start=2)]
    X = [[row[name] for name in columns] for row in table]
    box = [given.get(name, (min(row[name] for row in table), max(row[name] for row in table))) for name in columns]
    return X, [row[goal] for row in table], box


def _numbers(row: Sequence[str], header: Sequence[str], path: Path, line: int) -> dict[str, float]:
    try:
        return {name: float(cell) for name, cell in zip(header, row, strict=True)}
    except ValueError as error:
        raise InvalidInput(f"line {line} of {path} must be {len(header)} numbers; {error}.") from error


def _bound(text: str) -> tuple[str, tuple[float, float]]:
    name, _, box = text.rpartition("=")
    low, _, high = box.partition(":")
    try:
        return name, (float(low), float(high))
    except ValueError as error:
        raise InvalidInput(f"--bounds must be COLUMN=LOW:HIGH; got {text!r}.") from error
