"""A study.toml: its content, and the study that it describes.

::

    name = "Amide coupling"
    batch = 8                          # suggestions that `believer ask` makes
    shared = ["temperature"]           # one value in a batch; { temperature = 2 } for two

    [parameters.temperature]
    low = 20
    high = 120
    step = 5
    units = "°C"

    [parameters.solvent]
    choices = ["DMF", "MeCN", "water"]

    [[rules]]
    sum_to = 100
    of = ["resin", "hardener", "filler"]

    [outcomes.yield]
    goal = "maximize"
    units = "%"

    [outcomes.purity]
    at_least = 95

    # in place of parameters and rules: table = "candidates.csv", with id = "name" and features = ["mass", "charge"]

    [options]                          # as those of believer.Optimizer; all of them may be left out
    noise = "infer"
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from believer.arrays import shown, whole
from believer.errors import InvalidInput
from believer.lab import entries
from believer.lab.cells import folded
from believer.lab.headings import NOTE, TRIAL
from believer.lab.places import Place, lines_of
from believer.space import Space
from believer.study.batch_rules import BatchRules
from believer.study.files import PathLike, as_path, followed
from believer.study.settings import StudySettings

if TYPE_CHECKING:
    from believer.optimizer import Optimizer

NAME = "study.toml"
"""The file of a study in its folder."""

OPTIONS = (
    "noise",
    "strategy",
    "surrogate",
    "acquisition",
    "failures",
    "reference",
    "n_init",
    "seed",
    "warp",
    "resolution",
)
"""Options of a study that a file may have: ``noise`` is that of the Gaussian process."""

_KEYS = ("name", "batch", "shared", "table", "id", "features", "parameters", "rules", "outcomes", "options", "sheets")
BATCH = 8


@dataclass(frozen=True, slots=True, eq=False)
class StudyFile:
    """A study as its file describes it.

    Attributes
    ----------
    path : the path of the file.
    name : the name of the study.
    space : the space to search.
    options : the options of the study, as for :class:`believer.Optimizer`.
    batch : the default number of trials that an ask suggests.
    decimal : the decimal mark of sheets, "." or ",".
    shared : for each shared parameter, the largest number of values in a batch.
    table : the path of the table of candidates; None if there is none.
    """

    path: Path
    name: str
    space: Space
    options: dict[str, Any]
    batch: int = BATCH
    decimal: str = "."
    shared: Mapping[str, int] = field(default_factory=dict)
    table: Path | None = None

    @property
    def journal(self) -> Path:
        """The journal of the study, beside its file."""
        return self.path.with_suffix(".jsonl")


def read_study_file(path: PathLike) -> StudyFile:
    """The study that a file describes; InvalidInput names the line that breaks a rule."""
    file = Path(as_path(path, "a study file"))
    text, content = _content(file)
    place = Place(str(file), lines_of(text))
    place.refuse_unknown(content, _KEYS)
    name = place.at("name").text(content.get("name", "")) or file.resolve().parent.name
    parameters = _parameters(content, place)
    table = _table(content, place, file)
    rules = content.get("rules", [])
    if not isinstance(rules, list):
        raise place.at("rules").error("rules are written below [[rules]], with two brackets, one such head a rule.")
    made = [entries.rule(entry, place.at("rules", i)) for i, entry in enumerate(rules)]
    outcomes = place.at("outcomes").table(content.get("outcomes", {}))
    goals = {key: entries.outcome(entry, place.at("outcomes", key)) for key, entry in outcomes.items()}
    if not goals:
        raise place.error('a study needs at least one outcome, such as [outcomes.yield] with goal = "maximize".')
    _refuse_shared_names(parameters, goals, place)
    if table is not None and made:
        raise place.at("rules").error("a study of a table has no rules: leave out the rows that break them.")
    options = {"outcomes": goals, **_options(content, place)}
    try:
        space = Space(parameters, rules=made) if table is None else _rows(content, place, table, parameters)
        StudySettings.of(space, **options)
    except InvalidInput as error:
        raise InvalidInput(f"{file}: {error}") from error
    batch = content.get("batch", BATCH)
    try:
        whole(batch, "batch", 1)
    except InvalidInput as error:
        raise place.at("batch").error(str(error)) from error
    try:
        shared = BatchRules.of(space, {}, content.get("shared")).shared
    except InvalidInput as error:
        raise place.at("shared").error(str(error)) from error
    return StudyFile(file, name, space, options, batch, _decimal(content, place), shared, table)


def from_toml(cls: type[Optimizer], path: PathLike, journal: PathLike | None, change: bool) -> Optimizer:
    """:meth:`believer.Optimizer.from_toml`."""
    study = read_study_file(path)
    where = study.journal if journal is None else journal
    return cls.open(where, study.space, change=change, **study.options)


def _content(file: Path) -> tuple[str, dict[str, Any]]:
    try:
        text = Path(followed(file)).read_text(encoding="utf-8-sig")
        return text, tomllib.loads(text)
    except FileNotFoundError as error:
        raise InvalidInput(f"there is no {file}. Make one with: believer new") from error
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{file} must be a text in UTF-8; it is not: {error}. Save it as UTF-8.") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InvalidInput(f'{file} is not valid TOML: {error}. Names and texts need quotes: units = "°C".') from error


def _parameters(content: Mapping[str, Any], place: Place) -> dict[str, Any]:
    tables = place.at("parameters").table(content.get("parameters", {}))
    if not tables and "table" not in content:
        raise place.error("a study needs at least one parameter, such as [parameters.temperature].")
    return {key: entries.parameter(entry, place.at("parameters", key)) for key, entry in tables.items()}


def _table(content: Mapping[str, Any], place: Place, file: Path) -> Path | None:
    """The path of the table of candidates, which is relative to that of the study."""
    if "table" not in content:
        for key in ("id", "features"):
            if key in content:
                raise place.at(key).error(f'{key} is of a table of candidates, such as table = "candidates.csv".')
        return None
    return file.parent / place.at("table").text(content["table"])


def _rows(content: Mapping[str, Any], place: Place, table: Path, parameters: Mapping[str, Any]) -> Space:
    """The space of the rows of a table; entries of parameters describe its columns."""
    names = content.get("features")
    if names is not None and not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
        raise place.at("features").error(f'features must be a list of columns, ["mass", "charge"]; got {shown(names)}.')
    features = None if names is None and not parameters else {**dict.fromkeys(names or ()), **parameters}
    id_column = content.get("id")
    return Space.from_table(table, features, id_column=None if id_column is None else place.at("id").text(id_column))


def _refuse_shared_names(parameters: Mapping[str, Any], goals: Mapping[str, Any], place: Place) -> None:
    """Raise an error if two names would have the same column of a sheet, ignoring capitals and blanks."""
    taken: list[str] = []
    for kind, names in (("parameters", parameters), ("outcomes", goals)):
        for name in names:
            try:
                refuse_taken(name, taken)
            except InvalidInput as error:
                raise place.at(kind, name).error(str(error)) from error
            taken.append(name)


def refuse_taken(name: str, taken: Iterable[str]) -> None:
    """Raise InvalidInput if a name would have the same column of a sheet as another name."""
    by_text, text = {folded(one): one for one in taken}, folded(name)
    if text in (TRIAL, NOTE):
        raise InvalidInput(f"{name!r} is a column of every sheet; choose another name.")
    if text in by_text:
        raise InvalidInput(f"{name!r} and {by_text[text]!r} would have the same column in a sheet; rename one of them.")


def _options(content: Mapping[str, Any], place: Place) -> dict[str, Any]:
    here = place.at("options")
    given = dict(here.table(content.get("options", {})))
    here.refuse_unknown(given, OPTIONS)
    noise = given.pop("noise", None)
    if noise is None:
        return given
    if "surrogate" in given:
        raise here.at("noise").error("noise is of the Gaussian process; leave out surrogate, or noise.")
    from believer.surrogates import GP

    try:
        return {**given, "surrogate": GP(noise=noise)}
    except InvalidInput as error:
        raise here.at("noise").error(str(error)) from error


def _decimal(content: Mapping[str, Any], place: Place) -> str:
    here = place.at("sheets")
    given = here.table(content.get("sheets", {}))
    here.refuse_unknown(given, ("decimal",))
    mark = given.get("decimal", ".")
    if mark not in (".", ",") or not isinstance(mark, str):
        raise here.at("decimal").error(f'decimal must be "." or ","; got {shown(mark)}.')
    return mark


def folder_file(path: PathLike | None) -> Path:
    """The study.toml that a user means: the file itself, that of a folder, or that of the current folder."""
    given = Path(os.curdir if path is None else as_path(path, "a study"))
    return given / NAME if given.is_dir() else given


__all__ = ["StudyFile", "folder_file", "from_toml", "read_study_file"]
