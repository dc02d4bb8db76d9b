"""The studies that a server may show: one study, or the journals of a folder.

A request names a study by a key. Keys are looked up among the listed studies; no path is ever made from a request. A
link that leads out of the folder is not listed.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256

from believer.errors import InvalidInput
from believer.optimizer import Optimizer
from believer.page.content import source_of
from believer.plot.data import Source, study_of
from believer.study.files import PathLike, as_path, followed
from believer.study.journal import START

ENDING = ".jsonl"

Version = tuple[object, ...]
"""A version of a study: if two versions are equal, nothing has happened in between."""


@dataclass(frozen=True, slots=True)
class Watched:
    """A study that is watched.

    Attributes
    ----------
    name : the name of the study.
    version : a value that changes with every event; raises OSError if the study is gone.
    read : a function that returns the study as it is now.
    """

    name: str
    version: Callable[[], Version]
    read: Callable[[], Source]

    @property
    def key(self) -> str:
        """The key by which a request names the study."""
        return sha256(self.name.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def journal(path: str, name: str) -> Watched:
    """The study of a journal, which is read without its lock and never written."""

    def version() -> Version:
        found = os.stat(path)
        return found.st_ino, found.st_size, found.st_mtime_ns

    return Watched(name, version, lambda: study_of(path))


def running(optimizer: Optimizer) -> Watched:
    """The study of an optimizer of this process."""
    where = getattr(optimizer, "_where", None)
    name = os.path.basename(where) if where else "study"
    return Watched(name, lambda: (len(optimizer.events),), lambda: source_of(optimizer))


def studies_at(path: PathLike) -> tuple[bool, Callable[[], dict[str, Watched]]]:
    """Whether ``path`` is a folder, and the studies there now, by key: the journals of a folder are ``*.jsonl`` in it
    and in its subfolders."""
    given = as_path(path, "what is watched")
    if os.path.isdir(given):
        return True, lambda: {one.key: one for one in _in_folder(os.path.realpath(given))}
    try:
        target = followed(given)
    except OSError as error:
        raise InvalidInput(f"watch needs a journal or a folder; got {given}: {error.strerror}.") from error
    if not os.path.exists(target):
        raise InvalidInput(f"watch needs a journal or a folder; there is no {given}.")
    only = journal(target, os.path.basename(given))
    return False, lambda: {only.key: only}


def _in_folder(root: str) -> list[Watched]:
    """The journals of a folder and of its subfolders, by name; links that lead out of the folder are left out."""
    found = []
    for folder in (root, *_folders(root)):
        for name in _names(folder):
            path = os.path.join(folder, name)
            if name.endswith(ENDING) and _is_inside(path, root) and _is_journal(path):
                found.append(journal(os.path.realpath(path), os.path.relpath(path, root)))
    return found


def _folders(root: str) -> list[str]:
    paths = [os.path.join(root, name) for name in _names(root) if not name.startswith(".")]
    return [path for path in paths if os.path.isdir(path) and not os.path.islink(path)]


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:  # it is gone, or may not be read
        return []


def _is_inside(path: str, root: str) -> bool:
    real = os.path.realpath(path)
    return os.path.isfile(real) and os.path.commonpath([real, root]) == root


def _is_journal(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(len(START)) == START
    except OSError:  # it is gone, or may not be read
        return False
