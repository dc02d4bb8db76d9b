"""Every table of the paper, reproduced from finished cells: the paper's number, ours, and their comparison."""

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
    """The tables by number: 1 to 13 as in the paper, 100 + k for the text on experiment k, 100 for our readings.

    A preset is in a table if all of its cells are finished; a table without any preset is left out. Tables 1 and 13
    show the cells that there are.
    """
    made = (make(results) for make in _MAKERS)
    return {table.number: table for table in made if table is not None}
