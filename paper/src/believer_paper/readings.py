"""Choices that the paper leaves open: their readings, the cells that try them, and which reading fits the paper best.

======  =====================================================================================
symbol  meaning
======  =====================================================================================
p, e_p  a number as printed, and its standard error: from the printed spread over seeds, or, if a
        single draw is printed, the standard deviation of a single draw of ours
m, e    ours under a reading, and its standard error
z       (m - p) / √(e² + e_p² + r²), r being half a unit of the last digit printed
χ²      the sum of z² over the K printed numbers that a choice touches
======  =====================================================================================

The rule: the reading with the least χ² fits best if that of every other reading is larger by 4 or more; otherwise the
nearest readings cannot be told apart. A reading fits at all if √(χ²/K) is at most 2. A first form of the rule (root
mean squares that differ by 1, and single draws taken as exact) was fixed before the cells of the second run. A review
that had seen only the first run replaced it by this one before anyone looked at the readings. Eight choices had been
run before.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from believer.diagnostics import Measurement
from believer.experiments import Cell
from believer_paper.numbers.printed import (
    BOXES,
    BUDGETS,
    N_INIT,
    Q10_FINAL,
    SEEDS,
    SVM,
    TABLE_4,
    TABLE_5,
    TABLE_6,
    TABLE_11,
    Printed,
)
from believer_paper.results import Loop, Results, paired
from believer_paper.sizes import LARGE, SMALL, Scale, loop_cells, sdd_cell

FITS = 2.0
"""The largest √(χ²/K), in standard errors, at which a reading fits."""

APART = 4.0
"""The least difference in χ² of two readings that can be told apart: two standard errors of a single number."""

_MIN_TO_LEAVE_OUT = 3
SETS = 10
"""The number of data sets on which each reading is diagnosed."""


class Estimate(NamedTuple):
    """An estimate m, its standard error e, and the standard deviation of a single draw."""

    mean: float
    error: float
    draw: float


@dataclass(frozen=True, slots=True)
class Loops:
    """Loops of the printed set-up with some of its options changed."""

    problem: str
    strategy: str
    q: int
    options: Mapping[str, Any] = field(default_factory=dict)
    noise: float = 0.0
    seeds: int = 20
    budget: int = SMALL

    def cells(self, scale: Scale) -> list[Cell]:
        """One a seed."""
        more = {"options": dict(self.options), "noise": self.noise}
        return loop_cells("printed", scale, self.problem, [(self.strategy, self.q)], self.seeds, self.budget, **more)

    def found(self, results: Results) -> list[Loop]:
        """Those that were run, by seed."""
        options = dict(self.options)
        return results.loops("printed", self.problem, self.strategy, self.q, options=options, noise=self.noise)


@dataclass(frozen=True, slots=True)
class Diagnoses:
    """The diagnostic of Exp 12 on Levy-10D, q = 10, CL-min under EI."""

    surrogate: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def cells(self, scale: Scale) -> list[Cell]:
        """One a data set."""
        more = {"options": dict(self.options)} if self.options else {}
        return [
            sdd_cell("printed", self.surrogate, "condition", seed, problem="levy10", q=scale.large_q, **more)
            for seed in scale.sets(SETS)
        ]

    def found(self, results: Results) -> list[Measurement]:
        """Those that were run, by seed."""
        where: dict[str, Any] = {"problem": "levy10", "update": "condition", "lie": "cl_min", "acquisition": "ei"}
        return results.measurements("printed", self.surrogate, options=dict(self.options), **where)


Runs: TypeAlias = Loops | Diagnoses


@dataclass(frozen=True, slots=True)
class Reading:
    """A reading in words, the runs that try it, and the function that estimates a number from them."""

    words: str
    runs: tuple[Runs, ...]
    of: Callable[..., Estimate | None]

    def estimate(self, results: Results) -> Estimate | None:
        """The estimate from finished cells; None if there are too few."""
        groups = [runs.found(results) for runs in self.runs]
        return self.of(*groups) if all(len(group) > 1 for group in groups) else None


@dataclass(frozen=True, slots=True)
class ReadNumber:
    """A number that the paper prints, and the readings of a choice that estimate it, in the same order for all numbers.

    error: the standard error of the printed number; None if a single draw is printed.
    """

    what: str
    paper: float
    error: float | None
    readings: tuple[Reading, ...]
    rounding: float = 0.005

    def errors_off(self, ours: Estimate) -> float:
        """The distance z of an estimate from the printed number, in standard errors."""
        printed = ours.draw if self.error is None else self.error
        return (ours.mean - self.paper) / math.hypot(ours.error, printed, self.rounding)


@dataclass(frozen=True, slots=True)
class Question:
    """A question that the paper leaves open; the first reading is the one that was chosen."""

    question: str
    numbers: tuple[ReadNumber, ...]

    @property
    def readings(self) -> tuple[str, ...]:
        """The readings in words."""
        return tuple(reading.words for reading in self.numbers[0].readings)

    def misfits(self, results: Results) -> dict[str, float]:
        """The χ² of each reading; empty unless every reading has an estimate of every number."""
        found = {}
        for i, words in enumerate(self.readings):
            estimates = [number.readings[i].estimate(results) for number in self.numbers]
            off = [n.errors_off(e) for n, e in zip(self.numbers, estimates, strict=True) if e is not None]
            if len(off) < len(self.numbers):
                return {}
            found[words] = float(np.sum(np.square(off)))
        return found


def best_fit(misfits: Mapping[str, float], numbers: int) -> str:
    """A sentence on the reading that fits best by the rule, given its χ² over so many ``numbers``."""
    order = sorted(misfits, key=lambda words: misfits[words])
    least = misfits[order[0]]
    near = [words for words in order if misfits[words] < least + APART]
    off = math.sqrt(least / numbers)
    fits = "" if off <= FITS else f", though none fits (it is {off:.1f} standard errors off)"
    if len(near) == 1:
        return f"{near[0]} fits best{fits}."
    return f"cannot be told apart: {', '.join(near)}{fits}."


def final(loops: Sequence[Loop]) -> Estimate:
    """The best value observed by the end."""
    return _mean(loop.final for loop in loops)


def _true_final(loops: Sequence[Loop]) -> Estimate:
    return _mean(loop.true_final for loop in loops)


def _after(evaluations: int) -> Callable[[Sequence[Loop]], Estimate]:
    return lambda loops: _mean(float(loop.best[:evaluations][-1]) for loop in loops)


def _spread_over_seeds(loops: Sequence[Loop]) -> Estimate:
    return _jackknifed(lambda group: np.std([np.nanmean(loop.mean_distance) for loop in group], ddof=1), loops)


def _spread_over_batches(loops: Sequence[Loop]) -> Estimate:
    return _jackknifed(lambda group: np.nanstd(np.concatenate([loop.mean_distance for loop in group]), ddof=1), loops)


def _jackknifed(of: Callable[[Sequence[Loop]], Any], loops: Sequence[Loop]) -> Estimate:
    """An estimate with its jackknife error, leaving out whole runs, because batches of one run depend on each other."""
    n = len(loops)
    if n < _MIN_TO_LEAVE_OUT:
        return Estimate(float(of(loops)), math.inf, math.inf)
    without = np.array([float(of([*loops[:i], *loops[i + 1 :]])) for i in range(n)])
    error = math.sqrt((n - 1) * float(without.var()))
    return Estimate(float(of(loops)), error, error * math.sqrt(n))


def _root_mean_square_apart(ones: Sequence[Loop], others: Sequence[Loop]) -> Estimate:
    """The root mean square difference of final values on the same seeds."""
    d = np.array([one.final - other.final for one, other in zip(*paired(ones, others), strict=True)])
    root = float(np.sqrt(np.mean(d**2)))
    return Estimate(root, root / math.sqrt(2.0 * len(d)), root)


def _mean(values: Iterable[float]) -> Estimate:
    sample = np.array(list(values))
    std = float(sample.std(ddof=1))
    return Estimate(float(sample.mean()), std / math.sqrt(len(sample)), std)


def _error(paper: Printed, seeds: int) -> float:
    """The standard error of a mean that is printed with its spread over seeds."""
    assert paper.std is not None
    return paper.std / math.sqrt(seeds)


def _finals(choices: Mapping[str, Mapping[str, Any]], problem: str, *keys: tuple[str, int]) -> tuple[ReadNumber, ...]:
    """The final values of Table 4 for the keys (strategy, q), with the options of each reading."""
    return tuple(
        ReadNumber(
            f"Table 4, {strategy} q={q}, {problem}",
            TABLE_4[strategy, q, problem].mean,
            _error(TABLE_4[strategy, q, problem], SEEDS["exp9"]),
            tuple(Reading(words, (Loops(problem, strategy, q, o),), final) for words, o in choices.items()),
        )
        for strategy, q in keys
    )


_THREE = (("cl_min", 3), ("kb", 3))
_TWIN = {"process": "twin"}
_SVM = (("cl_min", 2), ("sequential", 1), ("random", 2))
_SIDE = BOXES["levy10"][1] - BOXES["levy10"][0]


def _tuned(choices: Mapping[str, Mapping[str, Any]]) -> tuple[ReadNumber, ...]:
    seeds = SEEDS["exp6"]
    return tuple(
        ReadNumber(
            f"section 4.4, {name}",
            SVM[name].mean,
            _error(SVM[name], seeds),
            tuple(
                Reading(words, (Loops("svm_breast_cancer", name, q, o, seeds=seeds, budget=BUDGETS["exp6"]),), final)
                for words, o in choices.items()
            ),
            5e-5,
        )
        for name, q in _SVM
    )


def _diagnosed(choices: Mapping[str, tuple[Mapping[str, Any], float]]) -> tuple[ReadNumber, ...]:
    """The distances of Table 11, with the options and the unit of length of each reading."""

    def at(part: str, unit: float) -> Callable[[Sequence[Measurement]], Estimate]:
        return lambda found: _mean(unit * float(getattr(one.fixed, part)) for one in found)

    return tuple(
        ReadNumber(
            f"Table 11, {surrogate}, {words} distance",
            getattr(TABLE_11[surrogate], printed),
            None,
            tuple(Reading(name, (Diagnoses(surrogate, o),), at(part, unit)) for name, (o, unit) in choices.items()),
            0.0005,
        )
        for surrogate in ("gp", "mq_rbf")
        for words, printed, part in (("least", "minimum", "min_distance"), ("mean", "mean", "mean_distance"))
    )


def _spreads(table: Mapping[str, Any], options: Mapping[str, Any], noise: float, number: int) -> tuple[ReadNumber, ...]:
    return tuple(
        ReadNumber(
            f"Table {number}, {name}, spread of diversity",
            row.diversity.std,
            row.diversity.std / math.sqrt(2.0 * (SEEDS["exp10"] - 1)),
            tuple(
                Reading(words, (Loops("hartmann6", name, 3, options, noise),), of)
                for words, of in (("over batches", _spread_over_batches), ("over seeds", _spread_over_seeds))
            ),
        )
        for name, row in table.items()
    )


CHOICES: tuple[Question, ...] = (
    Question(
        "Does f⁺ include the lies?",
        _finals({"real results alone": {}, "lies, too": {"incumbent": "believed"}}, "hartmann6", *_THREE),
    ),
    Question(
        "Is y normalized again after a lie, and does the search have gradients?",
        _finals(
            {
                "again, differences": {},
                "once, differences": {"renormalize": False},
                "once, gradients": {"renormalize": False, "gradient": True},
            },
            "hartmann6",
            *_THREE,
        ),
    ),
    Question(
        "Who finds the hyperparameters?",
        _finals({"scikit-learn": {}, "this library, same likelihood": _TWIN}, "hartmann6", *_THREE),
    ),
    Question(
        "When does L-BFGS-B stop?",
        _finals({"scipy's tolerances": {}, "tight ones": {"tolerance": "tight"}}, "hartmann6", *_THREE),
    ),
    Question(
        "In which units is ξ?",
        _finals({"those of y": {}, "standard deviations of the design": {"xi": "standardized"}}, "hartmann6", *_THREE),
    ),
    Question(
        "Does the budget of 50 include the design?",
        _finals({"it does": {}, "it comes after": {"budget": "after"}}, "hartmann6", *_THREE, ("random", 3)),
    ),
    Question(
        "Do the 150 evaluations of Exp 12 include the design?",
        tuple(
            ReadNumber(
                f"E.15, {name}",
                Q10_FINAL[name].mean,
                _error(Q10_FINAL[name], SEEDS["exp12"]),
                tuple(
                    Reading(words, (Loops("levy10", name, q, _TWIN, seeds=SEEDS["exp12"], budget=LARGE),), _after(end))
                    for words, end in (("they come after it", LARGE), ("they do", LARGE - N_INIT["levy10"]))
                ),
                0.05,
            )
            for name, q in (("cl_min", 10), ("kb", 10), ("random", 10), ("sequential", 1))
        ),
    ),
    Question(
        "Does the model see raw inputs or the unit cube?",
        _finals(
            {"raw": {}, "cube": {"inputs": "cube"}}, "ackley8", ("cl_min", 2), ("kb", 2), *_THREE, ("sequential", 1)
        ),
    ),
    Question(
        "What is Local Penalization's one ℓ under ARD?",
        _finals(
            {
                "the mean of the columns'": {},
                "their geometric mean": {"lengthscale": "geometric"},
                "each column's own": {"lengthscale": "ard"},
            },
            "hartmann6",
            ("lp", 3),
        ),
    ),
    Question(
        "Are random rows shared between q = 2 and q = 3?",
        tuple(
            ReadNumber(
                f"Table 4, random q=3 less q=2, {problem}, root mean square over seeds",
                0.0,
                0.0,
                tuple(
                    Reading(words, tuple(Loops(problem, "random", q, o) for q in (2, 3)), _root_mean_square_apart)
                    for words, o in (("shared", {}), ("drawn for each q", {"draws": "by_q"}))
                ),
            )
            for problem in ("hartmann6", "ackley8")
        ),
    ),
    Question(
        "Which folds does the support vector machine have?",
        _tuned({"shuffled, stratified": {}, "stratified, in the order of the data": {"folds": "plain"}}),
    ),
    Question(
        "Are its features scaled?",
        _tuned({"standardized": {}, "centered alone": {"features": "raw"}}),
    ),
    Question(
        "Is the final best of Exp 11 the observed value or the true one?",
        tuple(
            ReadNumber(
                f"Table 6, {name}",
                row.final.mean,
                _error(row.final, SEEDS["exp11"]),
                tuple(
                    Reading(words, (Loops("hartmann6", name, 3, {}, 0.1),), of)
                    for words, of in (("observed", final), ("true", _true_final))
                ),
            )
            for name, row in TABLE_6.items()
        ),
    ),
    Question(
        "Is the spread of diversity in Table 5 over batches or seeds?",
        _spreads(TABLE_5, {"process": "botorch"}, 0.0, 5),
    ),
    Question("Is the spread of diversity in Table 6 over batches or seeds?", _spreads(TABLE_6, {}, 0.1, 6)),
    Question(
        "Are the diagnostic's 0.2, 0.5, 0.8 raw, or along the diagonal of the box?",
        _diagnosed({"along the diagonal": ({}, _SIDE), "raw": ({"starts": "raw"}, _SIDE)}),
    ),
    Question(
        "Are the distances of Table 11 raw or of the unit cube?",
        _diagnosed({"raw": ({}, _SIDE), "cube": ({}, 1.0)}),
    ),
)
"""Every question that the paper leaves open and that the numbers of its tables can help to answer."""


def cells(scale: Scale) -> list[Cell]:
    """All cells that the readings need, each once."""
    runs = (runs for choice in CHOICES for n in choice.numbers for reading in n.readings for runs in reading.runs)
    return list(dict.fromkeys(cell for one in runs for cell in one.cells(scale)))
