"""The paper's 22 figures, drawn from finished cells."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from believer_paper.figures import diagnoses, loops, pictures
from believer_paper.figures.loops import LIES, Curves
from believer_paper.numbers import printed
from believer_paper.numbers.printed import Printed
from believer_paper.results import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_ONE_LINE = 85
"""The number of letters of a title that fit on one line."""


@dataclass(frozen=True, slots=True)
class PaperFigure:
    """A figure of the paper. experiments: those whose cells it shows.

    panels: a function that draws the figure from results and a preset. It returns the figure without its title, and
    what the title should say about the data.
    """

    number: int
    title: str
    experiments: tuple[str, ...]
    panels: Callable[[Results, str], tuple[Figure, str] | None]

    def draw(self, results: Results, preset: str) -> Figure | None:
        """The figure with its title; None if some of its cells are missing."""
        drawn = self.panels(results, preset)
        if drawn is None:
            return None
        figure, about = drawn
        head, tail = f"Figure {self.number}. {self.title}", f"({preset}, {about})"
        figure.suptitle(f"{head}{' ' if len(head + tail) < _ONE_LINE else chr(10)}{tail}", fontsize=11)
        return figure

    def name(self, preset: str) -> str:
        """The name of the file, without the ending: ``figure02_printed``."""
        return f"figure{self.number:02d}_{preset}"


def _sized(finals: Mapping[str, Printed], q: int) -> dict[tuple[str, int], Printed]:
    return {(name, 1 if name == "sequential" else q): final for name, final in finals.items()}


def _against_lp(problem: str) -> Curves:
    finals = {(name, q): final for (name, q, of), final in printed.TABLE_4.items() if of == problem}
    return Curves(problem, (*_LP, "random", "sequential"), finals=finals)


def _converge(curves: Curves) -> Callable[[Results, str], tuple[Figure, str] | None]:
    return partial(loops.convergence, curves=curves)


def _diverse(curves: Curves) -> Callable[[Results, str], tuple[Figure, str] | None]:
    return partial(loops.diversity, curves=curves)


_ALL = (*LIES, "random", "sequential")
_BATCHES = (*LIES, "random")
_LP = ("cl_min", "kb", "lp")
_TWIN = {"process": "twin"}
_LARGE = Curves("levy10", ("cl_min", "kb", "random", "sequential"), (10,), _TWIN, _sized(printed.Q10_FINAL, 10))
_LARGE_BATCHES = Curves("levy10", ("cl_min", "kb", "random"), (10,), _TWIN)
_JOINT_FINAL = _sized({name: row.final for name, row in printed.TABLE_5.items()}, 3)
_JOINT = Curves("hartmann6", ("cl_min", "kb", "qei"), (3,), {"process": "botorch"}, _JOINT_FINAL)
_SVM = Curves("svm_breast_cancer", ("cl_min", "random", "sequential"), (2,), finals=_sized(printed.SVM, 2))
_EXP4, _EXP9 = ("exp4",), ("exp9",)

FIGURES: dict[int, PaperFigure] = {
    figure.number: figure
    for figure in (
        PaperFigure(1, "Overview: batches of four surrogates", ("overview",), pictures.overview),
        PaperFigure(2, "Convergence on Hartmann-6D", _EXP4, _converge(Curves("hartmann6", _ALL))),
        PaperFigure(3, "A Gaussian process before and after a lie", ("exp1",), pictures.lie_to_process),
        PaperFigure(4, "Four surrogates' response to a lie", ("exp2",), pictures.lie_to_surrogates),
        PaperFigure(5, "SDD Part A: pairwise distances", ("exp3",), diagnoses.pairwise),
        PaperFigure(6, "SDD Part B: fixed and random starts", ("exp3",), diagnoses.restarts),
        PaperFigure(7, "Convergence on Ackley-8D", _EXP4, _converge(Curves("ackley8", _ALL))),
        PaperFigure(8, "Batch diversity on Ackley-8D", _EXP4, _diverse(Curves("ackley8", _BATCHES))),
        PaperFigure(9, "Batch diversity on Hartmann-6D", _EXP4, _diverse(Curves("hartmann6", _BATCHES))),
        PaperFigure(10, "Convergence on Levy-10D", _EXP4, _converge(Curves("levy10", _ALL))),
        PaperFigure(11, "Batch diversity on Levy-10D", _EXP4, _diverse(Curves("levy10", _BATCHES))),
        PaperFigure(12, "SVM tuning on Breast Cancer", ("exp6",), _converge(_SVM)),
        PaperFigure(13, "CL/KB and LP on Hartmann-6D", _EXP9, _converge(_against_lp("hartmann6"))),
        PaperFigure(14, "CL/KB and LP on Ackley-8D", _EXP9, _converge(_against_lp("ackley8"))),
        PaperFigure(15, "Diversity of CL/KB and LP on Hartmann-6D", _EXP9, _diverse(Curves("hartmann6", _LP))),
        PaperFigure(16, "Diversity of CL/KB and LP on Ackley-8D", _EXP9, _diverse(Curves("ackley8", _LP))),
        PaperFigure(17, "CL/KB and joint q-EI on Hartmann-6D", ("exp10",), _converge(_JOINT)),
        PaperFigure(18, "Conditioning and retraining", ("exp7a",), diagnoses.retrained),
        PaperFigure(19, "SDD with EI and UCB", ("exp7b",), diagnoses.acquisitions),
        PaperFigure(20, "Convergence at q = 10, Levy-10D", ("exp12",), partial(loops.convergence_twice, curves=_LARGE)),
        PaperFigure(
            21, "Diversity at q = 10, Levy-10D", ("exp12",), partial(loops.diversity_raw, curves=_LARGE_BATCHES)
        ),
        PaperFigure(22, "Least distance by member, Levy-10D", ("exp12",), diagnoses.per_member),
    )
}
