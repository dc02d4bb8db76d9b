"""Claims of the paper about refits: a rebuilt forest (4), a retrained network (5), and what they cost (6).

These claims say why something happens, so they are tested by controls: batches that differ in one thing only.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from believer.diagnostics import RESPONDS_FROM, is_diverse, own_response
from believer.experiments import FinishedCell, bootstrap_interval
from believer_paper.cells.diagnoses import OTHER_LIES
from believer_paper.ledger.checks import (
    MIN_SETS,
    NO,
    PARTLY,
    RULE,
    SHOWN,
    YES,
    by_preset,
    contrast,
    enough,
    judged,
    mostly,
)
from believer_paper.ledger.claim import Claim, Finding, Share, not_run
from believer_paper.ledger.diagnoses import cells, data_sets, diverse, few, missing, moved, parts
from believer_paper.numbers.printed import COST_RATIOS
from believer_paper.results import Results

CLOSE, FAR = 10.0**0.5, 10.0
"""The factors up to which two cost ratios on two machines count as the same, and from which they do not."""


def _rebuilt(results: Results, preset: str) -> Finding:
    lies = {lie: data_sets(results, preset, "forest", "refit", lie) for lie in ("cl_min", *OTHER_LIES)}
    every = [m for ms in lies.values() for m in ms]
    if few(*lies.values(), parts(every, "frozen_free")):
        return missing("the rebuilt forest under CL-min, CL-max, CL-mean and KB")
    n, weak = len(every), sum(own_response(m) <= RESPONDS_FROM for m in every)
    stuck, still = n - diverse(every, "fixed"), n - diverse(every, "frozen_free")
    by_lie = ", ".join(f"{lie} {diverse(ms, 'frozen_free')}/{len(ms)}" for lie, ms in lies.items())
    evidence = (
        f"From the fixed starts {stuck} of {n} batches are degenerate, where {moved(every):.0%} of the starts move. A "
        f"search without derivatives finds {n - still} of {n} diverse with the bootstraps frozen ({by_lie}), "
        f"{diverse(every, 'free')} with new ones, {diverse(every, 'null_free')} if rebuilt without a lie. The lie "
        f"moves the acquisition by {np.median([own_response(m) for m in every]):.2g} of its range (median; by nearly "
        f"nothing on {weak} of {n}), a rebuild alone by {np.median([m.null_free.response for m in every]):.2g}."
    )
    answers = [mostly(stuck, n), mostly(still, n), mostly(weak, n)]
    return judged(answers, evidence, "table 7", "figure 18", cells("forest refit"))


def _retrained(results: Results, preset: str) -> Finding:
    ms = data_sets(results, preset, "neural", "refit")
    if few(ms) or not enough(len(ms), 1):
        return missing("the retrained NN")
    n, told, untold = len(ms), diverse(ms, "fixed"), diverse(ms, "null")
    shown = [m for m in ms if is_diverse(m.fixed)]
    apart = contrast("", (m.fixed.mean_distance for m in ms), (m.null.mean_distance for m in ms))
    answers, held, alone = [mostly(told, n), apart.higher()], parts(ms, "frozen"), ""
    vacuous = len(shown) < MIN_SETS
    if not vacuous:
        answers.append(mostly(len(shown) - diverse(shown, "null"), len(shown)))
    if held:
        answers.append(mostly(diverse(ms, "frozen"), len(held)))
        alone = (
            f", and with the lie but with the draws of the training held fixed {diverse(ms, 'frozen')} of {len(held)}"
        )
    evidence = (
        f"With the lie {Share(told, n)} batches are diverse, retrained without it {untold} of {n}"
        f"{' (which is no evidence, because hardly any is diverse with the lie)' if vacuous else ''}{alone}. "
        f"Mean distance with the lie less that without: {apart.text().strip()}."
    )
    return judged(answers, evidence, "table 7", "figure 18", cells("neural refit"))


def _costs(results: Results, preset: str) -> Finding:
    steps = [one for one in results.of("step", preset=preset) if "batch" in one.result]
    if not steps:
        return not_run("the timing of single steps and of whole batches (Exp 5)")
    measured = {
        "NN / GP, a step": (_ratios(steps, "gp"), COST_RATIOS["gp"]),
        "NN / MQ-RBF, a step": (_ratios(steps, "mq_rbf"), COST_RATIOS["mq_rbf"]),
        "NN / GP, a batch": (_ratios(steps, "gp", batch=True), COST_RATIOS["retrained"]),
    }
    answers, said = [], []
    for name, (ratios, printed) in measured.items():
        middle = float(np.median(ratios))
        low, high = bootstrap_interval(ratios, resamples=2_000)
        factor = max(middle / printed, printed / middle)
        answers.append(YES if factor <= CLOSE else PARTLY if factor < FAR else NO)
        said.append(f"{name}: {middle:.3g} times ({low:.3g} to {high:.3g}), printed {printed:g}")
    return judged(answers, "; ".join(said) + "." + _own(steps), "table 3", "table 7", "cells: step")


def _own(steps: Iterable[FinishedCell]) -> str:
    """A sentence on the step of this library's posterior, compared with scikit-learn's; empty if it was not timed."""
    timed = [one for one in steps if "gp_own" in one.result]
    if not timed:
        return ""
    theirs, ours = (float(np.median([_seconds(one.result, name) for one in timed])) for name in ("gp", "gp_own"))
    return (
        f" The GP's step is a fit of scikit-learn's process without its optimizer, {1e3 * theirs:.2g} ms; this "
        f"library's posterior takes {1e3 * ours:.2g} ms for the same, {np.median(_ratios(timed, 'gp_own')):.3g} times "
        "less than the networks; this does not count."
    )


def _ratios(steps: Iterable[FinishedCell], cheap: str, batch: bool = False) -> list[float]:
    """The ratio of the network's time to that of the ``cheap`` surrogate, for each repetition."""
    timed = [one.result["batch"] if batch else one.result for one in steps]
    return [_seconds(result, "neural") / _seconds(result, cheap) for result in timed]


def _seconds(result: Any, name: str) -> float:
    return float(np.median(result[name]["seconds"]))


CLAIMS = (
    Claim(
        4,
        "A rebuilt random forest stays degenerate, because bootstrap sampling dilutes the lie.",
        "All lies together: CL-min, CL-max, CL-mean, KB. Checks: batches are degenerate from the fixed starts; they "
        "are also degenerate for a search without derivatives, with frozen bootstraps, so that no draw moves a point; "
        f"the lie moves the acquisition by at most {RESPONDS_FROM:g} of its range. Each: yes from 90 % of data sets, "
        f"no up to 10 %. {RULE}",
        by_preset(_rebuilt),
        True,
    ),
    Claim(
        5,
        "A retrained neural network regains diversity because of the lie.",
        f"Checks: diverse with the lie; farther apart with it than without ({SHOWN}); not diverse if retrained "
        f"without it, a control that is asked only of data sets whose batch is diverse with the lie, if there are "
        f"{MIN_SETS} or more (if no batch is diverse, it always says yes); and, if the draws of the training can be "
        "held fixed, diverse with the lie alone. Shares: yes from 90 % of data sets, no up to 10 %. "
        f"{RULE}",
        by_preset(_retrained),
        True,
    ),
    Claim(
        6,
        f"Retraining the network costs {COST_RATIOS['gp']:g} times a GP's conditioning step, {COST_RATIOS['mq_rbf']:g} "
        f"times MQ-RBF's, and {COST_RATIOS['retrained']:g} times GP's in a whole batch.",
        "The timed code is what the paper ran. Under the preset printed, that is scikit-learn's Gaussian process and "
        "networks, whose predictions are used to search for the batch, and a new solution of the multiquadric system; "
        "under ours, it is this library's code. "
        "A check for each of the three: the median ratio within one process, over repetitions, differs from the "
        f"printed one by a factor of at most √10 either way (no: by {FAR:g} or more). {RULE}",
        by_preset(_costs),
        True,
    ),
)
