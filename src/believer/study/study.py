"""A study that can be read: its trials, their results, and the best of them. An optimizer is a study that can be
changed."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from believer._lazy import above
from believer.errors import InvalidInput, JournalCorrupt
from believer.space import Space
from believer.space.units import amount, labeled
from believer.study import html, serialization, table
from believer.study.columns import Column, column, known
from believer.study.events import Begun, Changed, Event
from believer.study.files import PathLike, as_path
from believer.study.frames import frame
from believer.study.goals import Goals
from believer.study.history import History, states_by_output
from believer.study.journal import read_events
from believer.study.labels import Labels
from believer.study.ledger import Counts, Ledger
from believer.study.outcome import Outcome, copied
from believer.study.serving import Serving
from believer.study.settings import StudySettings, space_and_goals
from believer.study.trials import TrialList

_LAST = 10
"""The number of trials, the last ones, that a notebook lists."""

P = ParamSpec("P")
T = TypeVar("T")


def reading(method: Callable[Concatenate[Any, P], T]) -> Callable[Concatenate[Any, P], T]:
    """Decorate a method that reads a study: it waits until no other thread changes the study."""
    return _taking_turns(method, within_calls=True)


def changing(method: Callable[Concatenate[Any, P], T]) -> Callable[Concatenate[Any, P], T]:
    """Decorate a method that changes a study: one runs at a time, and none from within another."""
    return _taking_turns(method, within_calls=False)


def _taking_turns(method: Callable[Concatenate[Any, P], T], within_calls: bool) -> Callable[Concatenate[Any, P], T]:
    """A method that waits for calls of other threads; ``within_calls`` says whether this thread may be in a call
    already."""

    @wraps(method)
    def in_turn(self: Study, /, *args: P.args, **options: P.kwargs) -> T:
        # The lock says whose call it is, the flag that it has begun: a signal may arrive before or after it.
        if self._is_in_a_call and self._lock._is_owned():  # type: ignore[attr-defined]
            if within_calls:
                return method(self, *args, **options)
            raise InvalidInput(
                f"{method.__name__} must not be called from within another call of the same optimizer (from its "
                "constraint, its model, or a signal handler). Call it after that call has returned."
            )
        return self._in_turn(method, *args, **options)

    return in_turn


class Study:
    """A study at one moment, as :func:`read_study` reads it from a journal.

    It prints as a summary.

    Parameters
    ----------
    ledger : the state after all events.
    where : the path of the journal, if there is one.
    """

    def __init__(self, ledger: Ledger, where: str | None) -> None:
        self._ledger, self._where = ledger, where
        self._begin_turns()

    def _begin_turns(self) -> None:
        self._lock = threading.RLock()
        self._is_in_a_call = False

    def _in_turn(self, method: Callable[Concatenate[Any, P], T], *args: P.args, **options: P.kwargs) -> T:
        """Call ``method`` once no other thread is within a call."""
        # A single line, so that an interrupt between lines cannot come between the call and the release.
        with self._lock: return self._exclusively(method, *args, **options)  # fmt: skip # noqa: E701

    def _exclusively(self, method: Callable[Concatenate[Any, P], T], *args: P.args, **options: P.kwargs) -> T:
        """Call ``method``, after repairing what an interrupted call has left."""
        try:
            self._is_in_a_call = True
            self._recover()
            return method(self, *args, **options)
        finally:
            self._is_in_a_call = False

    def _recover(self) -> None:
        """Repair the state after an interrupted call; a study that is only read needs no repair."""

    @property
    def space(self) -> Space:
        """The search space. A study that was only read has it without its constraint."""
        return self._ledger.space

    @property
    @reading
    def goals(self) -> Goals:
        """The goal of each outcome."""
        return self._ledger.goals

    @reading
    def history(self, settings: StudySettings) -> History:
        """The study as it is now, as a frozen value: the input of proposals and models.

        Parameters
        ----------
        settings : the settings of the study.
        """
        return self._ledger.history(settings)

    @property
    @reading
    def trials(self) -> TrialList:
        """All trials, in id order."""
        return TrialList((trial.copy() for trial in self._ledger.trials), self._labels)

    @property
    @reading
    def pending(self) -> TrialList:
        """Trials that were handed out and have no result yet."""
        return TrialList((trial.copy() for trial in self._ledger.pending), self._labels)

    @property
    @reading
    def outside(self) -> TrialList:
        """Trials outside the space since it was changed, and those that were evaluated far outside of its bounds. They
        are kept, but no model learns from them."""
        return TrialList((self._ledger.trials[i].copy() for i in sorted(self._ledger.outside)), self._labels)

    @property
    @reading
    def outcomes(self) -> dict[int, Outcome]:
        """The outcomes of trials, by id: every objective and constraint, with its known noise."""
        return {trial_id: copied(outcome) for trial_id, outcome in sorted(self._ledger.outcomes.items())}

    @reading
    def outcome(self, trial_id: int) -> Outcome | None:
        """The outcome of the trial with that id so far; None if there is none."""
        found = self._ledger.outcomes.get(trial_id)
        return None if found is None else copied(found)

    @property
    @reading
    def queued(self) -> tuple[dict[str, Any], ...]:
        """Points that were enqueued and not handed out yet. After a change of the space, only those that it allows."""
        return tuple(dict(params) for params in self._ledger.next_wanted)

    @property
    @reading
    def counts(self) -> Counts:
        """The numbers of trials that are done, failed, pending and abandoned."""
        return self._ledger.counts

    @property
    @reading
    def best(self) -> tuple[dict[str, Any], float] | None:
        """Parameters and value of the best result; None before the first result. Of equal results, the first.

        With limits, only feasible results count. InvalidInput for several objectives.
        """
        goals = self._ledger.goals
        if len(goals.objectives) > 1:
            raise InvalidInput(
                f"best needs a single objective; this study has {', '.join(goals.objectives)}. Use the front of an "
                "Optimizer, which lists the points to choose from, or Desirability(...) goals, which make one number."
            )
        best = self._ledger.best
        value = None if best is None else self._ledger.value(best.id)
        return None if best is None or value is None else (dict(best.params), value)

    @property
    @reading
    def hyperparameters(self) -> dict[str, Any] | None:
        """The hyperparameters of the model behind the last ask, as plain data; None before the first fit and after an
        amendment.

        If there are several outputs, they are by name.
        """
        if self._ledger.model is None:
            return None
        states = states_by_output(self._ledger.model, self._ledger.goals)
        return dict(next(iter(states.values()))) if len(states) == 1 else dict(states)

    @property
    @reading
    def events(self) -> tuple[Event, ...]:
        """All events in order, as in the journal. They must not be changed."""
        return tuple(self._ledger.events)

    @reading
    def records(self) -> list[dict[str, Any]]:
        """The history as a list of plain dicts, one for each trial.

        After a change of the space, parameters that were removed keep their columns. If some trials lie outside the new
        space, the column "outside" marks them.
        """
        return table.records(self._ledger)

    @reading
    def to_frame(self, library: str | None = None) -> Any:
        """The history as a data frame with one row for each trial and the columns of :meth:`records`.

        Parameters
        ----------
        library : "pandas" or "polars". By default pandas if that is installed, else polars.
        """
        return frame(table.by_column(self._ledger), library)

    @reading
    def to_csv(self, path: PathLike, *, raw: bool = False) -> None:
        """Write the history to a CSV file with a header, as a whole or not at all.

        A spreadsheet would run text that begins with ``=``, ``+``, ``-`` or ``@`` as a formula. Such text gets an
        apostrophe in front, and so does text that begins with an apostrophe, so that removing the first apostrophe
        restores the text. The same applies after ``;``, a tab or a new line within a text, where a spreadsheet might
        begin a new cell.

        Parameters
        ----------
        path : the path of the file; an existing file is replaced.
        raw : whether to write text as it is, for programs that do not run formulas.
        """
        table.write_csv(self._ledger, path, raw)

    def report(self, path: PathLike, *, next_q: int | None = None) -> str:
        """Write the page of the study, a single HTML file that needs no network, and return its path.

        It needs the extra ``report``. The study is not changed: the next batch is computed but not handed out.

        Parameters
        ----------
        path : the path of the file; an existing file is replaced.
        next_q : the number of points of the next batch that the page shows; 0 for none. By default as many as the last
            batch had, in a study of up to 500 results.
        """
        written: str = above("believer.page", "report")(self, path, next_q=next_q)
        return written

    def watch(
        self,
        *,
        host: str = "127.0.0.1",
        port: int | None = None,
        token: bool | str | None = None,
        next_q: int | None = None,
    ) -> Serving:
        """Serve the page of the study, which is updated as results come in, until the returned object is closed.

        The returned object prints its address. It needs the extra ``report``.

        Parameters
        ----------
        host : the address to listen on. By default only this machine can reach it.
        port : the port to listen on; 0 for any free port. By default 8765, or the first free port after it.
        token : a secret that is needed to open the page. True makes one. By default one is made if other machines can
            reach the page.
        next_q : see :meth:`report`.
        """
        served: Serving = above("believer.page", "watch")(self, host=host, port=port, token=token, next_q=next_q)
        return served

    @reading
    def __str__(self) -> str:
        config, goals = self._config, self._ledger.goals
        strategy, acquisition, surrogate = (
            serialization.named(config[name]) for name in ("strategy", "acquisition", "surrogate")
        )
        labels = self._labels
        aim = "maximizing" if goals.outputs[0].sign < 0.0 else "minimizing"
        aim = f"{aim} a value in {labels.objective}" if labels.objective else aim
        if not goals.is_plain:
            aim = ", ".join(f"{name}: {words}" for name, words in labels.wanted.items())
        lines = [
            f"{aim} over {', '.join(labeled(n, labels.parameters.get(n, '')) for n in self._ledger.space.names)}"
            f" by {strategy} with {acquisition} on {surrogate}, seed {config['seed']}",
            self._counted(),
        ]
        if len(goals.objectives) == 1 and (best := self.best) is not None:
            value = amount(f"{best[1]:.6g}", labels.objective)
            lines.append(f"best {value} at {labels.point(best[0])}")
        if self._where is not None:
            lines.append(f"journal {self._where}")
        return "\n".join(lines)

    @reading
    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._counted()}>"

    @reading
    def _repr_html_(self) -> str:
        rows = html.table(self._last_trials(), _LAST)
        more = len(self._ledger.trials) - _LAST
        last = f"The last {_LAST} of {len(self._ledger.trials)} trials; to_frame() has all." if more > 0 else ""
        return html.block(
            type(self).__name__,
            html.sentence(*str(self).splitlines()),
            self._picture(),
            rows if self._ledger.trials else "",
            html.sentence(last, quiet=True),
        )

    @reading
    def _picture(self) -> str:
        """The values of the only objective and the best so far, as HTML; "" for several objectives."""
        ledger = self._ledger
        if len(ledger.goals.objectives) > 1:
            return ""
        values = [ledger.value(trial.id) for trial in ledger.trials]
        return html.convergence(values, ledger.best_so_far(), self._labels.objective)

    def _last_trials(self) -> list[Column]:
        """The last rows of the table, without rarely needed columns and empty ones."""
        rows, units = table.records(self._ledger, _LAST), table.units(self._ledger)
        hidden = {"origin", "provenance"}
        names = [name for name in rows[0] if name not in hidden] if rows else []
        cells = {name: known(row[name] for row in rows) for name in names}
        for name, found in table.parameters(self._ledger).items():
            if rows:
                trials = [self._ledger.trials[row["trial_id"]] for row in rows]
                cells[found] = [table.value_of(self._ledger, trial, name, ...) for trial in trials]
        titles = {"trial_id": "trial"}
        return [
            column(titles.get(name, name), found, units.get(name, ""))
            for name, found in cells.items()
            if name not in ("value", "error") or any(cell is not ... for cell in found)
        ]

    @property
    def _labels(self) -> Labels:
        return Labels.of(self._ledger.space, self._ledger.goals)

    @property
    def _config(self) -> dict[str, Any]:
        return next(e.config for e in reversed(self._ledger.events) if isinstance(e, Begun | Changed))

    def _counted(self) -> str:
        counts = self._ledger.counts
        results = f"{counts.done} result{'' if counts.done == 1 else 's'}"
        text = f"{results}, {counts.failed} failed, {counts.pending} pending, {counts.abandoned} abandoned"
        outside = len(self._ledger.outside)
        return f"{text}; {outside} of {len(self._ledger.trials)} trials outside the space" if outside else text

    def __copy__(self) -> Self:
        return copy.deepcopy(self)  # two optimizers that share a ledger would hand out the same trials

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("_lock", "_is_in_a_call")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._begin_turns()


def read_study(path: PathLike) -> Study:
    """Read the study in the journal at ``path`` as it is now, even while another process is running it.

    The file is only read: no lock is taken, and a process that writes to it is not disturbed. Parts that are not the
    library's own need not be passed.

    Parameters
    ----------
    path : the path of the journal.
    """
    events = read_events(as_path(path, "a journal"))
    for line, event in enumerate(events, start=1):
        if isinstance(event, Begun | Changed):
            _check_shown(event.config, line)
    begun = events[0]
    assert isinstance(begun, Begun)
    return Study(Ledger.of(events, *space_and_goals(begun.config)), str(as_path(path)))


def _check_shown(config: dict[str, Any], line: int) -> None:
    """Raise JournalCorrupt if the settings cannot be shown."""
    try:
        space_and_goals(config)
        for part in ("strategy", "acquisition", "surrogate"):
            serialization.named(config[part])
        if "seed" not in config:
            raise InvalidInput("a seed must be there.")
    except (InvalidInput, KeyError, TypeError, AttributeError) as error:
        raise JournalCorrupt(f"line {line} lacks a setting, or has an invalid one: {error!r}", line) from error
