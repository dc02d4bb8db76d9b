"""Every table of the paper, made again from finished cells: the paper's number, ours, and how they compare."""

from __future__ import annotations

from believer_paper.results import Results
from believer_paper.tables.costs import table_3, table_12, table_13
from believer_paper.tables.diagnoses import table_1, table_2, table_7, table_8, table_9, table_11
from believer_paper.tables.layout import PaperTable
from believer_paper.tables.loops import table_4, table_5, table_6, table_10
from believer_paper.tables.texts import exp4_text, exp6_text, exp11_text, exp12_text
from believer_paper.tables.unstated import unstated

__all__ = ["PaperTable", "tables"]

_MAKERS = (
    *(table_1, table_2, table_3, table_4, table_5, table_6, table_7, table_8, table_9, table_10, table_11, table_12),
    *(table_13, unstated, exp4_text, exp6_text, exp11_text, exp12_text),
)


def tables(results: Results) -> dict[int, PaperTable]:
    """The tables by their number in the paper; 100 + k is what only its text prints of experiment k, 100 our readings.

    A preset is in a table if it has all of its cells; a table without any preset is left out. Table 1 and 13 show what
    there is.
    """
    made = (make(results) for make in _MAKERS)
    return {table.number: table for table in made if table is not None}
