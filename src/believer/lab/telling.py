"""Tell a study the results in a sheet: all rows are read first, then each is recorded.

A row belongs to the trial that it names, or else to the trial with its parameters. Several rows of a trial are
replicates. Known results are not told again, so that a growing sheet can be told repeatedly.

The file is long because every possible error of a row is found here, before the first row is recorded.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from believer.errors import BelieverError, InvalidInput, JournalError
from believer.lab.cells import says_failed, says_not_run
from believer.lab.filled import FilledSheet, filled_of_frame, read_filled
from believer.lab.headings import TRIAL, Columns, columns_of, value_in
from believer.lab.readable import Readable
from believer.optimizer import Optimizer
from believer.space.rows import Rows
from believer.space.texts import Marks, text_of
from believer.study.files import PathLike
from believer.study.labels import described, number
from believer.study.tell_report import Row, TellReport
from believer.study.trials import Trial, same_params

_ID = re.compile(r"(?:trial\s*)?#?\s*(\d{1,12})(?:[.,]0*)?", re.IGNORECASE)

ResultRow = dict[str, float]
"""Numbers by outcome; NaN for one that failed."""


@dataclass(frozen=True, slots=True)
class _Read:
    """A row that was understood."""

    line: int
    trial: int | None
    params: dict[str, Any]
    values: ResultRow
    not_run: bool
    reason: str

    @property
    def is_blank(self) -> bool:
        """Whether it has no result yet."""
        return not self.values and not self.not_run


@dataclass(frozen=True, slots=True)
class _Step:
    """One step to be recorded: a call of the optimizer, and the list of ids that its trial goes into."""

    line: int
    into: str
    record: Callable[[Optimizer], int]
    question: str = ""
    changed: bool = False


@dataclass(slots=True)
class Plan:
    """The steps by which a sheet will be told to a study.

    Attributes
    ----------
    steps : the steps to record.
    told : the report on the other rows.
    """

    steps: list[_Step] = field(default_factory=list)
    told: TellReport = field(default_factory=lambda: TellReport(""))

    @property
    def questions(self) -> tuple[Row, ...]:
        """The rows that need a decision of the user, and what would be recorded."""
        return tuple(Row(step.line, step.question) for step in self.steps if step.question)


def tell_file(study: Optimizer, path: PathLike, accept: bool, decimal: str) -> TellReport:
    """:meth:`believer.Optimizer.tell_csv`."""
    return carry_out(
        study, plan(study, read_filled(path, (TRIAL, *study.space.names, *study.goals.wanted)), decimal), accept
    )


def tell_frame(study: Optimizer, frame: Any, accept: bool) -> TellReport:
    """:meth:`believer.Optimizer.tell_frame`."""
    return carry_out(study, plan(study, filled_of_frame(frame)), accept)


def plan(study: Optimizer, sheet: FilledSheet, hint: str = "") -> Plan:
    """Read the rows of a sheet without recording anything. Raises InvalidInput if it is not a sheet of the study.

    ``hint`` is the decimal mark of the study's sheets.
    """
    goals = study.goals
    columns = columns_of(sheet, study.space, goals)
    places = set(columns.outcomes.values())
    marks = Marks.of(
        (cell for _, cells in sheet.rows for place, cell in enumerate(cells) if place in places),
        (cell for _, cells in sheet.rows for place, cell in enumerate(cells) if place not in places),
        sheet.hint or hint,
    )
    problems: list[Row] = []
    rows: list[_Read] = []
    reader = _Reader(study, columns, marks, sheet.width)
    for line, cells in sheet.rows:
        try:
            row = reader.read(line, cells)
        except InvalidInput as error:
            problems.append(Row(line, " ".join(str(error).split())))
        else:
            rows += [] if row is None else [row]
    return _Planner(study, rows, problems).plan(replace(TellReport(sheet.name), ignored=columns.ignored))


def carry_out(study: Optimizer, planned: Plan, accept: bool) -> TellReport:
    """Record a plan, and return the report; ``accept`` says whether to take rows that need a decision."""
    ids: dict[str, list[int]] = {}
    problems, questions = [*planned.told.problems], []
    for step in planned.steps:
        if step.question and not accept:
            questions.append(Row(step.line, step.question))
            continue
        try:
            trial = step.record(study)
            ids.setdefault(step.into, []).append(trial)
            ids.setdefault("changed", []).extend([trial] if step.changed else [])
        except JournalError:
            raise
        except BelieverError as error:
            problems.append(Row(step.line, " ".join(str(error).split())))
    found: dict[str, Any] = {name: tuple(sorted(set(these))) for name, these in ids.items()}
    problems.sort(key=lambda row: row.line)
    return replace(planned.told, **found, problems=tuple(problems), questions=tuple(questions))


@dataclass(frozen=True, slots=True)
class _Reader:
    """Understands one row at a time."""

    study: Optimizer
    columns: Columns
    marks: Marks
    width: int

    def read(self, line: int, cells: Sequence[Any]) -> _Read | None:
        """Read a row; None if it has nothing of the study, InvalidInput if it cannot be understood."""
        columns, goals, space = self.columns, self.study.goals, self.study.space
        if len(cells) > self.width:
            raise InvalidInput(
                f"it has {len(cells)} cells below {self.width} headings. If a number has a decimal comma, put it in "
                "quotes or write a point."
            )

        def cell(place: int | None) -> Any:
            return cells[place] if place is not None and place < len(cells) and text_of(cells[place]) else None

        trial, note = cell(columns.trial), text_of(cell(columns.note))
        given = {name: at for name, place in columns.parameters.items() if (at := cell(place)) is not None}
        results = {name: at for name, place in columns.outcomes.items() if (at := cell(place)) is not None}
        if trial is None and not given and not results:
            return None
        number = None if trial is None else _id(trial)
        values: ResultRow = {}
        not_run, reason = False, ""
        for name, at in results.items():
            text = text_of(at)
            if isinstance(at, str) and says_not_run(text):
                not_run = True
            elif isinstance(at, str) and says_failed(text):
                values[name], reason = math.nan, note or text
            else:
                try:
                    values[name] = self.marks.number(at, goals.units(name))
                except InvalidInput as error:
                    raise InvalidInput(f"{name}: {error}") from error
        if not_run and values:
            raise InvalidInput("it says not run and has a result, too; leave one of them out.")
        params = {name: value_in(at, space.parameters[name], name, self.marks) for name, at in given.items()}
        if space.table is not None:
            params = _row(space.table, params)
        lacking = [name for name in space.present(params) if name not in params]
        if number is None and lacking and results:
            raise InvalidInput(
                f"it has a result but no trial number, and no {', '.join(lacking)}. Rows of replicates need the "
                "number, too."
            )
        if number is None and results:
            params = space.measured(params)
        return _Read(line, number, params, values, not_run, reason)


def _row(table: Rows, given: Mapping[str, Any]) -> dict[str, Any]:
    """The row of a table of candidates that the cells name, by its id or its features; {} if they do not name one."""
    params = {name: given[name] for name in table.features if name in given}
    if table.id is None or table.id not in given:
        return table.at(table.place(params)) if len(params) == len(table.features) else {}
    cell = given[table.id]
    try:
        return table.at(table.place({**params, table.id: cell}))
    except InvalidInput:
        if not isinstance(cell, str) or not text_of(cell).isdecimal():
            raise
        return table.at(table.place({**params, table.id: int(text_of(cell))}))


def _id(cell: Any) -> int:
    found = _ID.fullmatch(text_of(cell))
    if found is None:
        raise InvalidInput(f"the trial must be a number such as 3; got {text_of(cell)!r}.")
    return int(found[1])


class _Planner:
    """Finds the trial of each row, and what is new about it."""

    def __init__(self, study: Optimizer, rows: Sequence[_Read], problems: list[Row]) -> None:
        self._study, self._rows, self._problems = study, rows, problems
        self._trials = study.trials
        self._status = {row["trial_id"]: row["status"] for row in study.records()}
        self._outcomes = study.outcomes
        self._wanted = tuple(study.goals.wanted)
        self._readable = Readable(study.space)
        self._points: dict[int, tuple[Mapping[str, Any], Mapping[str, Any]]] = {}
        self._steps: list[_Step] = []
        self._known: list[int] = []
        self._waiting: list[int] = []

    def plan(self, told: TellReport) -> Plan:
        by_trial: dict[int, list[_Read]] = {}
        past: list[_Read] = []
        used: Counter[int] = Counter()
        for row in self._rows:
            try:
                trial = self._named(row) if row.trial is not None else self._at(row, used)
            except InvalidInput as error:
                self._problems.append(Row(row.line, str(error)))
                continue
            if trial is None:
                past += [] if row.is_blank else [row]
            else:
                used[trial] += 1
                by_trial.setdefault(trial, []).append(row)
        for trial, rows in by_trial.items():
            self._answer(trial, rows)
        self._observe(past)
        self._steps.sort(key=lambda step: step.line)
        self._problems.sort(key=lambda row: row.line)
        told = replace(
            told,
            known=tuple(sorted(set(self._known))),
            waiting=tuple(sorted(set(self._waiting))),
            problems=tuple(self._problems),
        )
        return Plan(self._steps, told)

    def _named(self, row: _Read) -> int:
        """The trial that a row names."""
        assert row.trial is not None
        if not row.trial < len(self._trials):
            most = f"trials run from 0 to {len(self._trials) - 1}" if self._trials else "nothing was suggested yet"
            raise InvalidInput(f"there is no trial {row.trial}; {most}. Is it a sheet of this study?")
        return row.trial

    def _changed(self, trial: Trial, params: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters in a sheet that differ from those of a trial and from those suggested for it."""
        suggested = trial.suggested or trial.params
        shown = self._shown(trial.id, suggested)
        return {
            name: value
            for name, value in params.items()
            if not self._is_same(name, value, suggested.get(name), shown.get(name))
            and not self._is_same(name, value, trial.params.get(name), trial.params.get(name))
        }

    def _at(self, row: _Read, used: Counter[int]) -> int | None:
        """The trial with the parameters of a row: one without a result, or one with the same result; otherwise None."""
        if row.is_blank:
            return None
        found = [trial.id for trial in self._trials if self._is_at(trial, row.params)]
        waiting = [one for one in found if self._status[one] in ("pending", "partial", "abandoned")]
        if waiting:
            return min(waiting, key=lambda one: (used[one], one))
        return next((one for one in found if self._is_told(one, row.values)), None) if row.values else None

    def _is_at(self, trial: Trial, params: Mapping[str, Any]) -> bool:
        """Whether a trial was suggested, or run, at these parameters."""
        return any(self._is_point(trial.id, own, params) for own in (trial.params, trial.suggested) if own is not None)

    def _is_point(self, trial: int, own: Mapping[str, Any], params: Mapping[str, Any]) -> bool:
        if own.keys() != params.keys():
            return False
        if same_params(own, params):
            return True
        # A parameter that is in no rule is rounded separately, and distinguishes most points without using the rules.
        if not all(
            self._is_close(value, own[name], 2.0 * self._half(name, own[name]))
            for name, value in params.items()
            if not self._readable.is_ruled(name)
        ):
            return False
        shown = self._shown(trial, own)
        return all(self._is_same(name, value, own[name], shown[name]) for name, value in params.items())

    def _shown(self, trial: int, own: Mapping[str, Any]) -> Mapping[str, Any]:
        """The parameters of a trial as its sheet shows them."""
        point, shown = self._points.get(trial, (None, {}))
        if point is not own:
            shown = self._readable.of(own)
            self._points[trial] = (own, shown)
        return shown

    def _half(self, name: str, value: Any) -> float:
        return self._readable.half_step(name, value) if isinstance(value, float) else 0.0

    def _is_same(self, name: str, value: Any, exact: Any, shown: Any) -> bool:
        """Whether a cell has the value of a trial, exactly or as the sheet showed it."""
        half = self._half(name, exact)
        return self._is_close(value, exact, half) or self._is_close(value, shown, half)

    @staticmethod
    def _is_close(a: Any, b: Any, within: float) -> bool:
        if isinstance(a, float) and isinstance(b, float):
            return abs(a - b) <= within * (1.0 + 1e-9) + 1e-9 * max(abs(a), abs(b))
        return type(a) is type(b) and bool(a == b)

    def _is_told(self, trial: int, values: ResultRow) -> bool:
        """Whether a trial has these numbers already, perhaps among others."""
        return all(
            (told := self._told(trial, name)) is not None and any(_same(value, one) for one in told)
            for name, value in values.items()
        )

    def _told(self, trial: int, name: str) -> tuple[float, ...] | None:
        """The results of an outcome of a trial: its replicates, or NaN if it failed; None if it has none."""
        outcome = self._outcomes.get(trial)
        if outcome is not None:
            if name in outcome.replicates:
                return outcome.replicates[name]
            for numbers in (outcome.objectives, outcome.constraints):
                if name in numbers:
                    return (numbers[name],)
            if name in outcome.lost:
                return (math.nan,)
        return (math.nan,) if self._status[trial] == "failed" and outcome is None else None

    def _answer(self, trial: int, rows: Sequence[_Read]) -> None:
        """Add the new results in the rows of a trial to the plan."""
        line = next((row.line for row in rows if not row.is_blank), rows[0].line)
        answers = [row for row in rows if row.values]
        status = self._status[trial]
        settings = [self._changed(self._trials[trial], row.params) for row in answers]
        changed = settings[0] if settings else {}
        if any(one != changed for one in settings):
            self._problems.append(Row(line, f"rows of trial {trial} differ in {', '.join(self._differing(settings))}."))
            return
        if changed and status in ("done", "failed"):
            asked = " ".join(f"{name}={_plain(value)}" for name, value in changed.items())
            self._problems.append(
                Row(
                    line,
                    f"trial {trial} has its result, and the sheet says it was run with {described(changed)}. If "
                    f"that is right: believer amend {trial} {asked}",
                )
            )
            return
        if not answers:
            if not any(row.not_run for row in rows):
                into = self._waiting if status in ("pending", "partial") else self._known
                into.append(trial)
            elif status == "abandoned":
                self._known.append(trial)
            elif status in ("pending", "partial"):
                self._add(line, "abandoned", trial, lambda study: study.abandon(trial))
            else:
                self._problems.append(
                    Row(line, f"trial {trial} has a result, and the sheet says not run; clear the cell.")
                )
            return
        new: dict[str, list[float]] = {}
        more: dict[str, list[float]] = {}
        for name in dict.fromkeys(name for row in answers for name in row.values):
            given, told = [row.values[name] for row in answers if name in row.values], self._told(trial, name)
            if told is None:
                new[name] = given
            elif not _less(given, told) and not _less(told, given):
                continue
            elif not _less(told, given) and not math.isnan(told[0]):
                more[name] = given
            else:
                self._problems.append(Row(line, self._contradiction(trial, name, told, given)))
                return
        if more:
            values = {name: _told(given) for name, given in (more | new).items()}
            self._add(
                line, "replicated", trial, lambda study: study.amend(trial, values, params=changed or None), changed
            )
        elif new:
            status = self._tell(line, trial, new, answers, changed)
        elif status != "partial":
            self._known.append(trial)
        if status != "failed" and any(self._told(trial, name) is None and name not in new for name in self._wanted):
            self._waiting.append(trial)

    def _tell(
        self,
        line: int,
        trial: int,
        new: Mapping[str, list[float]],
        answers: Sequence[_Read],
        changed: dict[str, Any],
    ) -> str:
        """A first answer, or a further part of one; "failed" or "told"."""
        params = changed or None
        nothing = all(math.isnan(value) for given in new.values() for value in given)
        if nothing and self._outcomes.get(trial) is None:
            reason = next(row.reason for row in answers if row.reason)
            self._add(line, "failed", trial, lambda study: study.tell(trial, error=reason, params=params), changed)
            return "failed"
        values = {name: _told(given) for name, given in new.items()}
        into = "failed" if any(all(map(math.isnan, given)) for given in new.values()) else "told"
        self._add(line, into, trial, lambda study: study.tell(trial, values, params=params), changed)
        return "told"

    @staticmethod
    def _differing(settings: Sequence[Mapping[str, Any]]) -> list[str]:
        """The parameters in which rows of a trial differ."""
        names = dict.fromkeys(name for one in settings for name in one)
        return [name for name in names if any(one.get(name) != settings[0].get(name) for one in settings)]

    def _contradiction(self, trial: int, name: str, told: Sequence[float], given: Sequence[float]) -> str:
        asked = " ".join(f"{name}={'failed' if math.isnan(value) else number(value, 15)}" for value in given)
        return (
            f"trial {trial} was told {name} {_in_words(told)}, and the sheet says {_in_words(given)}. If the sheet is "
            f"right: believer amend {trial} {asked}"
        )

    def _add(
        self,
        line: int,
        into: str,
        trial: int,
        call: Callable[[Optimizer], None],
        changed: Mapping[str, Any] | None = None,
    ) -> None:
        """Add a call of the optimizer; with ``changed`` parameters it needs the user's decision."""

        def record(study: Optimizer) -> int:
            call(study)
            return trial

        question = ""
        if changed:
            before = self._readable.of(self._trials[trial].params)
            said = described({name: before[name] for name in changed if name in before})
            question = (
                f"trial {trial} was suggested with {said or 'something else'}, and the sheet says it was run with "
            )
            question += described(changed)
        self._steps.append(_Step(line, into, record, question, bool(changed)))

    def _observe(self, rows: Sequence[_Read]) -> None:
        """Add past data: rows at the same point are replicates; those that the study has already are left out."""
        points: list[list[_Read]] = []
        for row in rows:
            if row.not_run:
                self._problems.append(Row(row.line, "it says not run, and no suggestion is like it; leave it out."))
                continue
            group = next((one for one in points if same_params(one[0].params, row.params)), None)
            if group is None:
                points.append([row])
            else:
                group.append(row)
        for group in points:
            self._observe_at(group)

    def _observe_at(self, rows: Sequence[_Read]) -> None:
        params, line = rows[0].params, rows[0].line
        values: dict[str, list[float]] = {}
        for row in rows:
            for name, value in row.values.items():
                values.setdefault(name, []).append(value)
        for trial in self._trials:
            if self._is_at(trial, params):
                for name, given in [*values.items()]:
                    told = Counter(map(str, self._told(trial.id, name) or ()))
                    values[name] = [float(one) for one in (Counter(map(str, given)) - told).elements()]
                values = {name: given for name, given in values.items() if given}
                if not values:
                    self._known.append(trial.id)
                    return
        nothing = all(math.isnan(value) for given in values.values() for value in given)
        reason = next((row.reason for row in rows if row.reason), "failed")
        result = {name: _told(given) for name, given in values.items()}

        def record(study: Optimizer) -> int:
            made = study.observe(params, error=reason) if nothing else study.observe(params, result)
            return made.id

        results = ", ".join(f"{name}={_in_words(given)}" for name, given in values.items())
        self._steps.append(
            _Step(line, "observed", record, f"no suggestion has {described(params)}; as past data: {results}")
        )


def _told(given: Sequence[float]) -> float | list[float]:
    """A number, or a list of replicates."""
    return given[0] if len(given) == 1 else list(given)


def _plain(value: Any) -> str:
    """A value as the user would type it."""
    text = number(value, 15)
    return f'"{text}"' if " " in text else text


def _in_words(values: Sequence[float]) -> str:
    return " and ".join("failed" if math.isnan(value) else number(value) for value in values)


def _same(a: float, b: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b))


def _less(some: Iterable[float], others: Iterable[float]) -> bool:
    """Whether ``some`` has a number that ``others`` lack; failed replicates beside numbers are ignored."""
    return bool(Counter(map(str, _counted(some))) - Counter(map(str, _counted(others))))


def _counted(values: Iterable[float]) -> list[float]:
    given = list(values)
    return [value for value in given if not math.isnan(value)] or given[:1]
