"""A study as one HTML file."""

from __future__ import annotations

import os

from believer.page.content import state
from believer.page.document import plotly, standalone
from believer.plot.data import StudyLike
from believer.study.files import PathLike, Wording, as_path, replace_file

_WORDING = Wording(
    file="report",
    holder="program",
    lost="Choose another path.",
    in_doubt="the study itself is not touched.",
)


def report(study: StudyLike, path: PathLike, *, next_q: int | None = None) -> str:
    """Write the page of a study of any kind, as :meth:`believer.Study.report` does."""
    target = as_path(path, "a report")
    plotly()
    name = os.path.basename(os.fspath(study)) if isinstance(study, str | os.PathLike) else None
    if name is None and getattr(study, "_where", None) is None:
        name = os.path.basename(target).removesuffix(".html")
    page = standalone(state(study, name=name, next_q=next_q))
    replace_file(target, [page], _WORDING, lock=False)
    return target
