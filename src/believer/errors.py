"""The exceptions of believer: one root, a child for each thing that a caller can do something about.

::

    BelieverError
    ├── InvalidInput (ValueError)          an argument breaks a rule; nothing was done
    ├── MissingCapability (TypeError)      a part cannot do what was asked; the text names one that can
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
    "SpaceExhausted",
    "TookTooLong",
    "TrialError",
    "WorkerDied",
]


class BelieverError(Exception):
    """Root of every exception that this library raises on purpose."""


class InvalidInput(BelieverError, ValueError):
    """An argument breaks a rule. The text says the rule, what came, and what to do."""


class MissingCapability(BelieverError, TypeError):
    """A surrogate, acquisition or strategy lacks an ability that the call needs."""


class MissingExtra(BelieverError, ImportError):
    """An optional dependency is not installed.

    Attributes
    ----------
    package : what is missing.
    extra : the extra that installs it.
    of : the distribution whose extra it is.
    """

    def __init__(self, package: str, extra: str, of: str = "believer") -> None:
        super().__init__(package, extra, of)
        self.package = package
        self.extra = extra
        self.of = of

    def __str__(self) -> str:
        return f"this needs {self.package}; install it with: pip install '{self.of}[{self.extra}]'"


class SpaceExhausted(BelieverError):
    """Fewer distinct points are left than were asked for.

    Parameters
    ----------
    message : the rule, what came, what to do.
    left : how many are left.
    """

    def __init__(self, message: str, left: int) -> None:
        super().__init__(message, left)
        self.left = left

    def __str__(self) -> str:
        return str(self.args[0])


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
    trial_id : which trial; None where it is about no one trial.
    """

    def __init__(self, message: str, trial_id: int | None = None) -> None:
        super().__init__(message, trial_id)
        self.trial_id = trial_id

    def __str__(self) -> str:
        return str(self.args[0])


class NumericalError(BelieverError):
    """A covariance stayed indefinite at the largest jitter that the policy allows."""


class EvaluationError(BelieverError):
    """The function cannot be evaluated, here or at all; the study itself is intact."""


class WorkerDied(EvaluationError):
    """A worker process died while it did this task; other tasks are not concerned."""


class TookTooLong(EvaluationError):
    """A task was ended because it took longer than it may; other tasks are not concerned."""


class JournalError(BelieverError):
    """A journal cannot be read or written."""


class JournalLocked(JournalError):
    """Someone else is writing to this journal."""


class JournalCorrupt(JournalError):
    """A finished line cannot be understood.

    Parameters
    ----------
    message : the rule, what came, what to do.
    line : its number, from 1.
    """

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message, line)
        self.line = line

    def __str__(self) -> str:
        return str(self.args[0])


class JournalTooNew(JournalError):
    """The journal was written by a newer version of the library."""
