"""The paper's tables of costs and settings: 3, 12 and 13."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache

import numpy as np

from believer.acquisitions import EI, LogEI
from believer.arrays import Array
from believer.experiments import Cell, FinishedCell
from believer.maximize import FixedStarts, Multistart
from believer.surrogates import GP, MQRBF, NeuralEnsemble, Preset, RandomForest
from believer_paper.cells.loops import OPTIONS, XI
from believer_paper.cells.steps import PROBLEM
from believer_paper.numbers.printed import BOXES, TABLE_3, TABLE_12, TABLE_13, TOTAL_SECONDS, Printed
from believer_paper.numbers.stated import BATCH_SIZES, STEP_N
from believer_paper.plan import EXPERIMENTS, experiments_of
from believer_paper.results import PRESETS, Results, foreign_of
from believer_paper.setup import networks
from believer_paper.setup.likelihood import LIKELIHOOD
from believer_paper.setup.multiquadric import PrintedMQRBF
from believer_paper.setup.process import NOISE
from believer_paper.setup.search import STARTS
from believer_paper.sizes import Scale
from believer_paper.tables.layout import LayoutRow, PaperTable, Quantity, Words, laid_out

_STEPS = {
    "gp": "GP (condition)",
    "mq_rbf": "MQ-RBF (re-solve)",
    "neural": "NN Ensemble (retrain)",
    "forest": "Random Forest (rebuild)",
}
_GROUPS = {
    **{"gp": "Gaussian Process", "mq_rbf": "MQ-RBF Network", "neural": "Neural Network Ensemble"},
    **{"forest": "Random Forest", "acquisition": "Acquisition Optimization"},
}


def table_3(results: Results) -> PaperTable | None:
    """Table 3: the seconds of one update, and their ratio to retraining the networks."""
    rows = []
    for surrogate, label in _STEPS.items():
        paper = TABLE_3[surrogate]
        items = (
            Quantity("time/step (CPU s)", paper.seconds, _steps(results, surrogate, _cpu), None),
            Quantity("time/step (wall s)", None, _steps(results, surrogate, _wall), None),
            Quantity("times faster than NN retrain", Printed(paper.ratio), _steps(results, surrogate, _ratio), None),
        )
        rows.append(LayoutRow((label,), items))
    notes = (
        "One update by a lie, without predictions and search. A value is the median over the rounds of a repetition, "
        "in which the surrogates take turns; ratios are to the networks of the same repetition.",
        "CPU time (CPU s) is compared with the paper's wall-clock time, and is used for ratios. These cells run alone, "
        "on one thread, where both clocks should agree; our wall-clock time is given as a check.",
    )
    title = f"Wall-clock time per batch step (n={STEP_N}, d={BOXES[PROBLEM][-1]}, q={max(BATCH_SIZES)})"
    return laid_out(3, title, ("surrogate",), rows, notes, ("exp5",))


def _steps(results: Results, name: str, of: Callable[[FinishedCell, str], float]) -> dict[str, list[float]]:
    return {preset: [of(one, name) for one in results.of("step", preset=preset)] for preset in PRESETS}


def _cpu(one: FinishedCell, name: str) -> float:
    return float(np.median(one.result[name]["seconds"]))


def _wall(one: FinishedCell, name: str) -> float:
    return float(np.median(one.result[name]["wall_seconds"]))


def _ratio(one: FinishedCell, name: str) -> float:
    return _cpu(one, "neural") / _cpu(one, name)


def table_12(results: Results) -> PaperTable | None:
    """Table 12: the paper's settings, and those of each preset, read from the objects that run."""
    ours = {preset: settings(preset) for preset in results.presets}
    rows = []
    for (group, parameter), words in TABLE_12.items():
        setting = {preset: (found[group, parameter], "") for preset, found in ours.items()}
        rows.append(LayoutRow((_GROUPS[group], parameter, words), (Words("setting", None, setting),)))
    notes = (
        "Printed: scikit-learn's Gaussian process in Exp 3 to 9, in Exp 11 and in the diagnostic of Exp 12; BoTorch's "
        "SingleTaskGP with its own settings in Exp 10; in the loops of Exp 12, hyperparameters found by this library's "
        "search with the printed settings.",
        "The diagnostic searches from its fixed starts under both presets.",
    )
    title = "Hyperparameter settings for surrogate models"
    return laid_out(12, title, ("of", "parameter", "paper"), rows, notes, tuple(EXPERIMENTS))


def settings(preset: str) -> dict[tuple[str, str], str]:
    """The value of each parameter of the paper's table under a preset."""
    printed = preset == "printed"
    mq, forest = PrintedMQRBF() if printed else MQRBF(), RandomForest()
    sigma = "as printed, the root of an absolute value" if printed else "the power function"
    search = f"{EI(XI)}, scipy's L-BFGS-B, {STARTS} random starts"
    climb = Multistart()
    if not printed:
        search = f"{LogEI()}, the {climb.starts} best of {climb.candidates} candidates climbed with gradients"
    return {
        **_process(printed),
        ("mq_rbf", "basis function"): f"multiquadric, σ {sigma}",
        ("mq_rbf", "spread ε"): "median distance of the data" if mq.spread is None else f"{mq.spread:g}",
        ("mq_rbf", "regularization"): f"{mq.ridge:g}",
        ("mq_rbf", "centers"): "every observation and lie",
        **_networks(printed),
        ("forest", "trees"): f"{forest.trees}, min leaf = {forest.min_leaf}",
        ("acquisition", "function"): search,
        ("acquisition", "SDD fixed starts"): f"{list(FixedStarts().levels)} along the diagonal of the box",
    }


def _process(printed: bool) -> dict[tuple[str, str], str]:
    fit, gp = LIKELIHOOD if printed else Preset(), GP(noise=1e-6)
    how = "maximum likelihood" if fit.lengthscale is None else "maximum a posteriori"
    lengthscale = f"{how} per dimension, in units of the {'box' if printed else 'cube'}"
    if fit.lengthscale is not None and fit.signal is not None:
        by = "ℓ/√d" if fit.scaled else "ℓ"
        lengthscale += f", log {by} ~ N({fit.lengthscale.mean:.3g}, {fit.lengthscale.std:g}²)"
        signal = f"{how}, log σ_f² ~ N({fit.signal.mean:g}, {fit.signal.std:g}²)"
    else:
        lengthscale, signal = f"{lengthscale}, init = 1", f"{how}, init = 1"
    again = printed and OPTIONS["renormalize"]
    restarts = f"{fit.restarts}" + (", from the last fit and the prior's center" if fit.warm else "")
    return {
        ("gp", "kernel"): "Matérn ν = 2.5 (ARD)" if printed or gp.kernel == "matern52" else gp.kernel,
        ("gp", "signal variance"): f"{signal}, bounds {_range(fit.signal_bounds)}",
        ("gp", "lengthscale"): f"{lengthscale}, bounds {_range(fit.lengthscale_bounds)}",
        ("gp", "noise variance"): f"{NOISE:g} (fixed)" if printed else f"{gp.noise} (fixed), inferred in Exp 11",
        ("gp", "optimizer restarts"): restarts,
        ("gp", "normalize y"): "yes, again with every lie" if again else "yes, once a fit",
    }


def _networks(printed: bool) -> dict[tuple[str, str], str]:
    ours = NeuralEnsemble()
    hidden = networks.SETTINGS["hidden_layer_sizes"] if printed else ours.hidden
    members = networks.MEMBERS if printed else ours.members
    most = networks.SETTINGS["max_iter"] if printed else ours.max_iterations
    by = "scikit-learn's adam, early stopping" if printed else "falling learning rate, early stopping"
    return {
        ("neural", "architecture"): f"{' x '.join(map(str, hidden))} hidden, ReLU, {members} networks",
        ("neural", "max iterations"): f"{most}, {by}",
    }


def _range(bounds: tuple[float, float]) -> str:
    return "[{:g}, {:g}]".format(*bounds)


def table_13(results: Results) -> PaperTable | None:
    """Table 13: CPU and wall-clock seconds of all cells by experiment, and those within scikit-learn and BoTorch."""
    spent = {preset: _spent(one for one in results.finished if _is_of(one, preset)) for preset in PRESETS}
    rows = [_runtime(_label(names), paper, spent, names) for names, paper in TABLE_13.items()]
    every = tuple(name for names in TABLE_13 for name in names)
    whole = {preset: by for preset, by in spent.items() if by.keys() >= set(every)}
    rows.append(_runtime("Total of these", Printed(TOTAL_SECONDS), whole, every))
    others = tuple(name for name in EXPERIMENTS if name not in every)
    rows += [_runtime(EXPERIMENTS[name].title, None, spent, (name,)) for name in others]
    rows.append(_runtime("Total", None, spent, tuple(EXPERIMENTS)))
    notes = (
        "Ours are sums over cells; the paper's are approximate wall-clock times of another machine. They are compared "
        "with CPU time (CPU s), because it does not depend on what else ran; our wall-clock time does, because several "
        "workers shared the machine.",
        "A cell that several experiments share counts for the first of them; a cell without a preset counts for ours.",
        "CPU within others: the CPU seconds within scikit-learn or BoTorch, which are counted in loops alone; without "
        "others: all other CPU seconds.",
    )
    return laid_out(13, "Approximate runtimes", ("experiment",), rows, notes, tuple(EXPERIMENTS), partial=True)


def _label(names: Iterable[str]) -> str:
    return "Exp " + ", ".join(name.removeprefix("exp") for name in names)


Spent = Mapping[str, Array]
"""Seconds (3,) by experiment: CPU time, wall-clock time, and CPU time within other libraries."""


def clocks(one: FinishedCell) -> Array:
    """The seconds of a cell (3,), as in ``Spent``; if CPU time was not recorded, wall-clock time takes its place."""
    wall = float(one.provenance.get("seconds") or 0.0)
    cpu = float(one.provenance.get("cpu_seconds", wall))
    return np.array([cpu, wall, foreign_of(one)])


def _is_of(one: FinishedCell, preset: str) -> bool:
    return bool(one.cell.settings.get("preset", "ours") == preset)


def _spent(finished: Iterable[FinishedCell]) -> Spent:
    """The cost of every experiment that has a finished cell; 0 if all of its cells count for other experiments."""
    spent: dict[str, Array] = {}
    for one in finished:
        owners = experiments_of(one.cell)
        for name in owners:
            spent.setdefault(name, np.zeros(3))
        if owners:
            spent[_first_owners().get(one.cell, owners[0])] += clocks(one)
    return spent


@cache
def _first_owners() -> dict[Cell, str]:
    """The first experiment that plans each cell, for the seeds of the plan."""
    owners: dict[Cell, str] = {}
    for name, experiment in EXPERIMENTS.items():
        for preset in PRESETS:
            for smoke in (False, True):
                for cell in experiment.cells(preset, Scale(smoke=smoke)):
                    owners.setdefault(cell, name)
    return owners


def _runtime(label: str, paper: Printed | None, spent: Mapping[str, Spent], names: Iterable[str]) -> LayoutRow:
    totals: dict[str, Array] = {}
    for preset, by in spent.items():
        found = [by[name] for name in names if name in by]
        if found:
            totals[preset] = np.sum(found, axis=0)
    items = {
        "CPU (s)": {preset: cpu for preset, (cpu, _, _) in totals.items()},
        "wall (s)": {preset: wall for preset, (_, wall, _) in totals.items()},
        "CPU within others (s)": {preset: foreign for preset, (_, _, foreign) in totals.items()},
        "CPU without others (s)": {preset: cpu - foreign for preset, (cpu, _, foreign) in totals.items()},
    }
    return LayoutRow(
        (label,), tuple(_seconds(name, paper if name == "CPU (s)" else None, it) for name, it in items.items())
    )


def _seconds(name: str, paper: Printed | None, ours: Mapping[str, float]) -> Quantity:
    return Quantity(name, paper, {preset: [float(total)] for preset, total in ours.items()}, 1, independent=False)
