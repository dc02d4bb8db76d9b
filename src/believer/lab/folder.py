"""The folder of a study: study.toml, its journal, and the sheets of its batches, without any hidden files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from believer.errors import InvalidInput, OtherSettings
from believer.lab.study_file import StudyFile, folder_file, read_study_file
from believer.optimizer import Optimizer
from believer.study.events import Asked
from believer.study.files import PathLike
from believer.study.journal import is_begun
from believer.study.study import Study


@dataclass(frozen=True, slots=True, eq=False)
class Folder:
    """A study in its folder.

    Parameters
    ----------
    file : the content of study.toml.
    """

    file: StudyFile

    @staticmethod
    def at(path: PathLike | None = None) -> Folder:
        """The study of a study.toml, of a folder with one, or of the current folder."""
        return Folder(read_study_file(folder_file(path)))

    @property
    def path(self) -> Path:
        """The folder."""
        return self.file.path.parent

    @property
    def has_begun(self) -> bool:
        """Whether there is a journal."""
        return is_begun(self.file.journal)

    @contextmanager
    def opened(self, agree: Callable[[Sequence[str]], bool] = lambda lines: False) -> Iterator[Optimizer]:
        """The study, opened for changes; its journal is locked meanwhile.

        ``agree`` gets the differences between study.toml and the journal and returns whether to go on with them.
        """
        yielded = False
        try:
            with Optimizer.from_toml(self.file.path) as study:
                yielded = True
                yield study
        except OtherSettings as error:
            if yielded or not agree(error.lines):
                raise
        else:
            return
        with Optimizer.from_toml(self.file.path, change=True) as study:
            yield study

    @contextmanager
    def read(self) -> Iterator[Optimizer | None]:
        """The study of the journal, read without a lock and unchanged; None before the first ask."""
        if not self.has_begun:
            yield None
            return
        with Optimizer.load(self.file.journal, append=False, table=self.file.table) as study:
            yield study

    def sheets_of(self, study: Study) -> list[Path]:
        """The sheets in the folder that belong to batches with trials without results."""
        return self.sheets_with(study, {trial.id for trial in study.pending})

    def sheets_with(self, study: Study, trials: Set[int]) -> list[Path]:
        """The sheets in the folder that belong to batches with any of the given trials."""
        found: list[Path] = []
        asked = [event for event in study.events if isinstance(event, Asked)]
        for number, event in enumerate(asked, start=1):
            if trials & {trial.id for trial in event.trials}:
                names = [one for ending in ("csv", "xlsx") for one in self.path.glob(f"batch-{number:03d}*.{ending}")]
                found += sorted(names)[-1:]
        return found

    def free_name(self, batch: int, ending: str) -> Path:
        """A name for the sheet of a batch under which there is no sheet or page yet; ``ending`` is that of the file,
        such as ".csv"."""
        for again in range(1, 10_000):
            name = f"batch-{batch:03d}{'' if again == 1 else f'-{again}'}"
            if not any((self.path / f"{name}{one}").exists() for one in (".csv", ".xlsx", ".html")):
                return self.path / f"{name}{ending}"
        raise InvalidInput(f"{self.path} has too many sheets of batch {batch}; move some of them.")

    def relative(self, path: PathLike) -> str:
        """A path as the user would write it here."""
        try:
            short = os.path.relpath(path)
        except ValueError:  # on another drive of Windows
            return os.fspath(path)
        return short if not short.startswith(os.pardir) else os.fspath(path)


def batches(study: Study) -> int:
    """The number of batches that were suggested so far."""
    return sum(isinstance(event, Asked) for event in study.events)
