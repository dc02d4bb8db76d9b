"""``believer show``: where the study stands, and what comes next."""

from __future__ import annotations

import argparse

from believer.cli.lab import add_study, answer
from believer.lab.folder import Folder
from believer.lab.state import state_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``believer show``."""
    add_study(parser, changes=False)


def run(arguments: argparse.Namespace) -> int:
    """Print it; nothing is changed, and no lock is taken."""
    folder = Folder.at(arguments.study)
    with folder.read() as study:
        state = state_of(folder, study)
    answer(arguments, str(state), state.to_config())
    return 0
