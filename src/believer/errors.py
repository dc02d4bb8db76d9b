"""The exceptions of believer: one base class, and a child for each kind of error that a caller can handle.

::

    BelieverError
    ├── InvalidInput (ValueError)          an argument breaks a rule; nothing was done
    │   └── OtherSettings                  a journal belongs to a study with other settings
    ├── MissingCapability (TypeError)      a part cannot do what was asked; the text names parts that can
    ├── MissingExtra (ImportError)         an optional package is not installed; the text names the extra
    ├── SpaceExhausted                     a finite space has fewer unseen points than were asked for
    ├── TrialError                         no such trial, or one that already has its result
    ├── NumericalError                     a matrix stayed indefinite at the largest jitter allowed
    ├── EvaluationError                    the function cannot be evaluated: no workers, or the same failure every time
    │   ├── WorkerDied                     a worker process died of its task
    │   └── TookTooLong                    a task was ended at its time limit
    └── JournalError                       a journal that cannot be read or written
        ├── JournalLocked                  another process, or another optimizer, is writing to it
        ├── JournalCorrupt                 a finished line cannot be understood
        └── JournalTooNew                  written by a newer version
"""

from __future__ import annotations

__all__ = [
    "BelieverError",
    "EvaluationError",
    "InvalidInput",
    "JournalCorrupt",
    "JournalError",
    "JournalLocked",
    "JournalTooNew",
    "MissingCapability",
    "MissingExtra",
    "NumericalError",
    "OtherSettings",
    "SpaceExhausted",
    "TookTooLong",
    "TrialError",
    "WorkerDied",
]


class BelieverError(Exception):
    """The base class of every exception that this library raises on purpose."""

    def __str__(self) -> str:
        """The message alone, without the other arguments of the error."""
        return str(self.args[0]) if self.args else ""


class InvalidInput(BelieverError, ValueError):
    """An argument breaks a rule. The message says the rule, what was passed, and what to do."""


class OtherSettings(InvalidInput):
    """A journal belongs to a study with other settings than those that were passed.

    Parameters
    ----------
    message : the rule, what came, what to do.
    lines : the differences, one sentence each.
    """

    def __init__(self, message: str, lines: tuple[str, ...] = ()) -> None:
        super().__init__(message, lines)
        self.lines = lines


class MissingCapability(BelieverError, TypeError):
    """A surrogate, acquisition function or strategy lacks a capability that the call needs."""


class MissingExtra(BelieverError, ImportError):
    """An optional dependency is not installed.

    Attributes
    ----------
    package : the package that is missing.
    extra : the extra that installs it.
    of : the distribution that provides the extra.
    then : a further command that is needed after the extra; "" if there is none.
    """

    def __init__(self, package: str, extra: str, of: str = "believer", then: str = "") -> None:
        super().__init__(package, extra, of, then)
        self.package = package
        self.extra = extra
        self.of = of
        self.then = then

    def __str__(self) -> str:
        further = f", then: {self.then}" if self.then else ""
        return f"this needs {self.package}; install it with: pip install '{self.of}[{self.extra}]'{further}"


class SpaceExhausted(BelieverError):
    """A finite space has fewer distinct points left than were asked for.

    Parameters
    ----------
    message : the rule, what came, what to do.
    left : the number of points that are left.
    """

    def __init__(self, message: str, left: int) -> None:
        super().__init__(message, left)
        self.left = left


class NoPointFound(SpaceExhausted):
    """A space has infinitely many points, and among those that were tried none is allowed and new.

    Parameters
    ----------
    message : the rule, what came, what to do.
    left : 0, as far as is known.
    """


class TrialError(BelieverError):
    """The trial is unknown, or already has a result.

    Parameters
    ----------
    message : the rule, what came, what to do.
    trial_id : the id of the trial; None if the error is not about a single trial.
    """

    def __init__(self, message: str, trial_id: int | None = None) -> None:
        super().__init__(message, trial_id)
        self.trial_id = trial_id


class NumericalError(BelieverError):
    """A covariance matrix is not positive definite, even with the largest jitter that is allowed."""


class EvaluationError(BelieverError):
    """The function cannot be evaluated. The study itself is intact."""


class WorkerDied(EvaluationError):
    """A worker process died while it ran this task. Other tasks are not affected."""


class TookTooLong(EvaluationError):
    """A task was stopped because it exceeded its time limit. Other tasks are not affected."""


class JournalError(BelieverError):
    """A journal cannot be read or written."""


class JournalLocked(JournalError):
    """Another process, or another optimizer, is writing to this journal."""


class JournalCorrupt(JournalError):
    """A complete line of a journal cannot be read.

    Parameters
    ----------
    message : the rule, what came, what to do.
    line : the number of the line, from 1.
    """

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message, line)
        self.line = line


class JournalTooNew(JournalError):
    """The journal was written by a newer version of the library."""
