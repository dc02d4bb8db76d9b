"""``believer ask``: the next experiments, as a sheet to fill in and one to print."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from believer.cli.arguments import at_least
from believer.cli.lab import add_study, answer, opened
from believer.errors import InvalidInput
from believer.lab.folder import Folder, batches
from believer.lab.headings import values_of
from believer.lab.sheets import Sheet, check_excel, write_page, write_sheet
from believer.lab.state import steps
from believer.lab.study_file import StudyFile
from believer.optimizer import Optimizer
from believer.space.units import amount, units_of
from believer.study.labels import Labels
from believer.study.tell_report import trials as named


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``believer ask``."""
    parser.add_argument("count", nargs="?", type=at_least(1), help="experiments (default: batch in study.toml)")
    parser.add_argument("--pending", action="store_true", help="write a sheet of what waits for results, ask nothing")
    parser.add_argument("-o", "--out", type=Path, help="the sheet, .csv or .xlsx (default: batch-NNN.csv beside it)")
    parser.add_argument(
        "--shared",
        action="append",
        metavar="NAME[=K]",
        help="a parameter that has one value in the batch, or K values (default: shared in study.toml)",
    )
    parser.add_argument(
        "--fixed", action="append", metavar="NAME=VALUE", help="a parameter that has this value in the batch"
    )
    parser.add_argument("--excel", action="store_true", help="write the sheet for Excel: batch-NNN.xlsx")
    add_study(parser)


def run(arguments: argparse.Namespace) -> int:
    """Ask, write the sheets, and print their paths."""
    _check(arguments)
    file = Folder.at(arguments.study).file
    fixed = values_of(arguments.fixed or (), file.space, file.decimal)
    shared, count = _shared(arguments.shared), file.batch if arguments.count is None else arguments.count
    if not arguments.pending:
        _refuse_values(shared, count, file)
    with opened(arguments, begin=not arguments.pending) as (folder, study):
        labels = Labels.of(study.space, study.goals)
        waiting = study.pending
        if arguments.pending:
            if not waiting:
                raise InvalidInput("no experiment waits for a result; believer ask suggests some.")
            found, why = Sheet.of(waiting, study.space, labels), {}
            said = [f"{_counted(len(waiting))} for results: {named(one.id for one in waiting)}."]
        else:
            batch = study.ask(
                count,
                fixed=fixed,
                shared=shared or {n: k for n, k in folder.file.shared.items() if n not in fixed},
            )
            found, why = Sheet.of(batch, study.space, labels), {one.id: one.provenance for one in batch}
            said = [f"Batch {batches(study)}, {named(one.id for one in batch)}: {batch.verdict.sentence}"]
            if waiting:
                said.append(f"{_counted(len(waiting))} from before: {named(one.id for one in waiting)}.")
        try:
            sheet, page = _written(arguments, folder, study, found)
        except InvalidInput as error:
            raise InvalidInput(
                f"the experiments are recorded, but their sheet is not: {error} Then: believer ask --pending"
            ) from error
    data: dict[str, Any] = {
        "batch": batches(study),
        "sheet": sheet,
        "page": page,
        "trials": [{"trial": one, "params": params, "why": why.get(one)} for one, params in found.trials],
        "waiting": [one.id for one in waiting],
    }
    said += [f"To fill in: {sheet}", f"To print:   {page}"]
    then = steps("run them, fill in the results, and save the sheet.", f"Then: believer tell {sheet}")
    answer(arguments, "\n".join([*said, then]), data)
    return 0


def _shared(given: list[str] | None) -> dict[str, int]:
    """The number of values of each shared parameter, typed as "temperature" or "temperature=2"."""
    found: dict[str, int] = {}
    for text in given or ():
        name, equals, count = text.rpartition("=")
        if equals and not count.isdecimal():
            raise InvalidInput(f"--shared must be a name, or a name and a number of values; got {text!r}.")
        found |= {name: int(count)} if equals else {text: 1}
    return found


def _refuse_values(shared: Mapping[str, int], count: int, file: StudyFile) -> None:
    """Raise InvalidInput for a number of shared values that is larger than the batch: a value was probably meant."""
    for name, most in shared.items():
        if most <= count or name not in file.space.names:
            continue
        try:
            values_of([f"{name}={most}"], file.space, file.decimal)
        except InvalidInput:
            hint = ""
        else:
            hint = f" For {amount(str(most), units_of(file.space.parameters[name]))}: --fixed {name}={most}"
        asked = "1 experiment is" if count == 1 else f"{count} experiments are"
        raise InvalidInput(
            f"--shared {name}={most} means up to {most} different values, but only {asked} asked for.{hint}"
        )


def _check(arguments: argparse.Namespace) -> None:
    """Refuse invalid arguments before anything is asked."""
    _shared(arguments.shared)
    out: Path | None = arguments.out
    if out is not None:
        if out.suffix.lower() not in (".csv", ".xlsx"):
            raise InvalidInput(f"--out must end in .csv or .xlsx; got {out.name!r}.")
        for one in (out, out.with_suffix(".html")):
            if one.exists():
                raise InvalidInput(f"{one} exists, and may have results in it; choose another name.")
        if not out.parent.is_dir():
            raise InvalidInput(f"--out must be in a folder that exists; got {out}.")
    if arguments.excel or (out is not None and out.suffix.lower() == ".xlsx"):
        check_excel()


def _written(arguments: argparse.Namespace, folder: Folder, study: Optimizer, sheet: Sheet) -> tuple[str, str]:
    """The paths of the sheet to fill in and of the sheet to print."""
    number, ending = batches(study), ".xlsx" if arguments.excel else ".csv"
    target = arguments.out or folder.free_name(number, ending)
    path = folder.relative(write_sheet(sheet, target, folder.file.decimal))
    title = f"{folder.file.name}, batch {number}" if not arguments.pending else f"{folder.file.name}, still to come"
    page = write_page(
        sheet, target.with_suffix(".html"), title, f"Copy it into {target.name}, and: believer tell {target.name}"
    )
    return path, folder.relative(page)


def _counted(count: int) -> str:
    return "1 experiment waits" if count == 1 else f"{count} experiments wait"
