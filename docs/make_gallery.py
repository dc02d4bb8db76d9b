"""Write docs/gallery.md and its figures from four small studies: ``python docs/make_gallery.py``.

A name or two after the command draw these figures alone: ``python docs/make_gallery.py lies front``.
"""

from __future__ import annotations

import io
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import matplotlib as mpl

mpl.use("Agg")

import numpy as np
from matplotlib import pyplot
from PIL import Image

import believer as bv
from believer import plot
from believer.problems import branin

DOCS = Path(__file__).parent
FIGURES = DOCS / "figures" / "gallery"
LARGEST = 60 * 1024
"""Bytes of a picture; a larger one gets fewer colors."""


@cache
def wave() -> bv.Optimizer:
    """A function of one number, five results."""
    opt = bv.Optimizer(bv.Space({"dose": bv.Float(0.0, 10.0, units="mg")}), strategy="kb", seed=0, n_init=1)
    for dose in (0.4, 3.0, 5.0, 8.0, 9.6):
        opt.observe({"dose": dose}, math.sin(1.3 * dose + 0.4) + 0.25 * math.cos(2.6 * dose))
    return opt


@cache
def valleys() -> bv.Optimizer:
    """Branin's function of two numbers, in batches of four; the last is pending."""
    problem = branin()
    opt = bv.Optimizer(problem.space, seed=3, n_init=8, strategy="kb")
    for q in (8, 4, 4, 4):
        for trial in opt.ask(q):
            opt.tell(trial, float(problem.evaluate(trial.encoded[None, :])[0]))
    opt.ask(3)
    return opt


def reaction_at(p: dict[str, Any]) -> dict[str, float]:
    """Yield and purity of a made-up reaction, in percent."""
    best = {"Pd/C": 82.0, "Pt/C": 96.0, "Raney Ni": 105.0}[p["catalyst"]]
    activity = {"Pd/C": 1.0, "Pt/C": 0.93, "Raney Ni": 0.75}[p["catalyst"]]
    bell = math.exp(-(((p["temperature"] - best) / 28.0) ** 2) - (math.log10(p["time"] / 45.0) / 0.7) ** 2)
    yielded = 96.0 * activity * bell * (1.0 - 0.05 * abs(p["equivalents"] - 3))
    purity = 99.5 - 0.0012 * max(p["temperature"] - 60.0, 0.0) ** 2 - 0.9 * math.log10(p["time"]) ** 2
    return {"yield": yielded, "purity": purity}


@contextmanager
def clock(seconds: list[float]) -> Iterator[None]:
    """A wall clock that shows the last of ``seconds``: the times of a study that ran elsewhere."""
    with patch("believer.optimizer.time.time", lambda: 1.7e9 + seconds[-1]):
        yield


@cache
def reaction() -> bv.Optimizer:
    """A reaction with a limit on purity, on four reactors that never wait for each other; some runs fail."""
    space = bv.Space(
        {
            "temperature": bv.Float(40, 140, units="°C"),
            "time": bv.Float(5, 240, log=True, units="min"),
            "equivalents": bv.Int(1, 6),
            "catalyst": bv.Categorical(("Pd/C", "Pt/C", "Raney Ni")),
        }
    )
    opt = bv.Optimizer(
        space, outcomes={"yield": bv.Maximize(units="%"), "purity": bv.AtLeast(96.0, units="%")}, seed=5, n_init=10
    )
    now, done = [0.0], 0
    with clock(now):
        under_way = [(now[0] + 60.0 * trial.params["time"] + 900.0, trial) for trial in opt.ask(4)]
        while done < 40:
            end, trial = min(under_way, key=lambda pair: pair[0])
            under_way.remove((end, trial))
            now.append(end)
            if trial.params["temperature"] > 128.0:
                opt.tell(trial, error="the mixture boiled over")
            else:
                opt.tell(trial, reaction_at(trial.params))
            done += 1
            (new,) = opt.ask(1)
            under_way.append((end + 60.0 * new.params["time"] + 900.0, new))
    return opt


@cache
def network() -> bv.Optimizer:
    """Six settings of a network that is not really trained, in batches of five."""
    space = bv.Space(
        {
            "learning_rate": bv.Float(1e-5, 1e-1, log=True),
            "weight_decay": bv.Float(1e-6, 1e-2, log=True),
            "layers": bv.Int(1, 6),
            "width": bv.Int(16, 512, step=16),
            "dropout": bv.Float(0.0, 0.6),
            "activation": bv.Categorical(("relu", "tanh", "gelu")),
        }
    )
    rng = np.random.default_rng(0)
    opt = bv.Optimizer(space, seed=2, n_init=10)
    for _ in range(9):
        for trial in opt.ask(5):
            p = trial.params
            loss = 0.22 + 0.09 * (math.log10(p["learning_rate"]) + 2.6) ** 2 + 0.02 * (p["layers"] - 3) ** 2
            loss += 0.5 * (p["dropout"] - 0.2) ** 2 + {"relu": 0.03, "tanh": 0.12, "gelu": 0.0}[p["activation"]]
            loss += 0.03 * abs(math.log2(p["width"] / 160.0)) + 0.006 * float(rng.standard_normal())
            if p["learning_rate"] > 0.05 and p["layers"] > 4:
                opt.tell(trial, error="the loss was NaN")
            else:
                opt.tell(trial, loss)
    return opt


@cache
def trade_off() -> bv.Optimizer:
    """Strength against weight of a beam, both noisy, with a limit on its deflection."""
    space = bv.Space(
        {"height": bv.Float(2, 12, units="cm"), "width": bv.Float(1, 8, units="cm"), "holes": bv.Int(0, 4)}
    )
    goals: dict[str, Any] = {"strength": bv.Maximize(), "weight": bv.Minimize(), "deflection": bv.AtMost(6.0)}
    rng = np.random.default_rng(1)
    opt = bv.Optimizer(space, outcomes=goals, seed=1, n_init=9)
    for _ in range(9):
        for trial in opt.ask(4):
            h, w, k = (trial.params[name] for name in ("height", "width", "holes"))
            strength = w * h**2 / 6.0 * (1.0 - 0.06 * k) + 5.0 * rng.standard_normal()
            weight = 0.9 * h * w * (1.0 - 0.08 * k) + 2.0 * rng.standard_normal()
            opt.tell(trial, {"strength": strength, "weight": weight, "deflection": 900.0 / (w * h**2 + 20.0)})
    return opt


@dataclass(frozen=True)
class Picture:
    """A figure of the gallery: its file, what it says, the call as a reader would write it, and the call itself."""

    name: str
    title: str
    text: str
    code: str
    draw: Callable[[], Any]


PICTURES = (
    Picture(
        "lies",
        "A batch, lie by lie",
        "Above, what the model believes; below, what the next point is worth. A point is chosen where the acquisition "
        "is largest, the model is told a pseudo-observation there, a *lie*, and the acquisition collapses around it: "
        "the next point lies elsewhere.",
        "bv.plot.lies(opt, 2)",
        lambda: plot.lies(wave(), 2),
    ),
    Picture(
        "lies_2d",
        "The same in two dimensions",
        "Of a space with more parameters it is a slice through the first point of the batch. Where trials are pending, "
        "they are the batch.",
        "bv.plot.lies(opt, 2)",
        lambda: plot.lies(valleys(), 2),
    ),
    Picture(
        "convergence",
        "Convergence",
        "Every result and the best so far; the design and every other batch are shaded. Results that break a limit are "
        "hollow, failed evaluations are crosses.",
        'bv.plot.convergence("reaction.jsonl", target=90)',
        lambda: plot.convergence(reaction(), target=90.0),
    ),
    Picture(
        "convergence_limit",
        "Convergence of a limited outcome",
        "Any outcome can be picked; its limits are lines.",
        'bv.plot.convergence(opt, outcome="purity")',
        lambda: plot.convergence(reaction(), outcome="purity"),
    ),
    Picture(
        "hypervolume",
        "Convergence of several objectives",
        "Without an outcome, several objectives show the hypervolume that the results dominate.",
        "bv.plot.convergence(opt)",
        lambda: plot.convergence(trade_off()),
    ),
    Picture(
        "batches",
        "Batches on the map",
        "Where each batch lies, over the model's mean in the slice through the best result, on the two parameters that "
        "matter most. Points of a batch are joined in the order in which they were chosen.",
        "bv.plot.batches(opt)",
        lambda: plot.batches(valleys()),
    ),
    Picture(
        "partial_dependence",
        "Partial dependence",
        "What the model expects along each parameter on average over the others, with its 95 % interval and the "
        "results. A pair of names is a map, on which lines are the standard deviation.",
        'bv.plot.partial_dependence(opt, parameters=["learning_rate", "layers", ("learning_rate", "dropout")])',
        lambda: plot.partial_dependence(
            network(), parameters=["learning_rate", "layers", ("learning_rate", "dropout")]
        ),
    ),
    Picture(
        "slice",
        "Slices through the best result",
        "The others stay at the best result. The fainter a result, the farther it is from the slice, in lengthscales.",
        "bv.plot.slice(opt)",
        lambda: plot.slice(reaction()),
    ),
    Picture(
        "importance",
        "Importance by lengthscales",
        "A parameter along which the outcome varies quickly matters. Bars are 95 % likelihood intervals.",
        "bv.plot.importance(opt)",
        lambda: plot.importance(network()),
    ),
    Picture(
        "importance_permutation",
        "Importance by permutation",
        "For any model: how much worse it predicts the results if the values of one parameter are shuffled.",
        'bv.plot.importance(opt, method="permutation")',
        lambda: plot.importance(network(), method="permutation"),
    ),
    Picture(
        "evaluations",
        "Evaluations",
        "Where trials lie, pair by pair.",
        "bv.plot.evaluations(opt)",
        lambda: plot.evaluations(reaction()),
    ),
    Picture(
        "parallel_coordinates",
        "Parallel coordinates",
        "Every result as a line across all parameters, the better the darker.",
        "bv.plot.parallel_coordinates(opt)",
        lambda: plot.parallel_coordinates(network()),
    ),
    Picture(
        "front",
        "The front",
        "Results of two objectives, those that no other beats, and what the models expect there. Where results are "
        "noisy, as here, the front and its hypervolume are of what is expected without noise.",
        "bv.plot.front(opt)",
        lambda: plot.front(trade_off()),
    ),
    Picture(
        "feasibility",
        "Feasibility",
        "The probability that all limits are kept and the evaluation succeeds, in the slice through the best result.",
        "bv.plot.feasibility(opt)",
        lambda: plot.feasibility(reaction()),
    ),
    Picture(
        "calibration",
        "Calibration",
        "Each result beside what the model expects of it from the others, in closed form for a Gaussian process; and "
        "how many results lie within their intervals.",
        "bv.plot.calibration(opt)",
        lambda: plot.calibration(network()),
    ),
    Picture(
        "timeline",
        "The timeline of workers",
        "When each trial was handed out and when its result came in.",
        "bv.plot.timeline(opt)",
        lambda: plot.timeline(reaction()),
    ),
    Picture(
        "diversity",
        "The diversity of batches",
        "The distance of the two nearest points of each batch, beside as many random points.",
        "bv.plot.diversity(opt)",
        lambda: plot.diversity(network()),
    ),
)

HEAD = """# Gallery

Figures of a study. Each function takes the study alone: an `Optimizer`, the `Result` of `bv.minimize`, what
`bv.read_study` returned, or the path of a journal; also while the study runs. It returns the matplotlib axes, one or an
array of them; `ax=` draws on yours. Where there are several outcomes, `outcome=` picks one.

```python
import believer as bv

ax = bv.plot.convergence("study.jsonl")
ax.figure.savefig("convergence.png")
```

They need the extra `plots` ([Installing](install.md)). What a figure shows is a value of its own, without matplotlib:
`bv.plot.data.convergence(study)` has the arrays, names and labels. Several figures of one study fit its models once if
they are given `study = bv.plot.data.study_of("study.jsonl")`. A study with a surrogate of your own cannot be restored
from a path: pass the optimizer, or `bv.Optimizer.load(path, surrogate=..., append=False)`.

This page and its pictures are written by [make_gallery.py](make_gallery.py), which has the studies.
"""


def save(picture: Picture) -> int:
    """Draw a picture; the size of its file, in bytes."""
    axes = picture.draw()
    figure = (axes if not isinstance(axes, np.ndarray) else axes.flat[0]).figure
    raw = io.BytesIO()
    figure.savefig(raw, dpi=100, format="png")
    pyplot.close(figure)
    path = FIGURES / f"{picture.name}.png"
    image = Image.open(raw).convert("RGB")
    image.save(path, optimize=True)
    for colors in (255, 128, 64):
        if path.stat().st_size > LARGEST:
            image.quantize(colors).save(path, optimize=True)
    return path.stat().st_size


def page() -> str:
    """The gallery as Markdown."""
    parts = [HEAD]
    for one in PICTURES:
        image = f"![{one.title}](figures/gallery/{one.name}.png)"
        parts.append(f"## {one.title}\n\n{one.text}\n\n```python\n{one.code}\n```\n\n{image}\n")
    return "\n".join(parts)


def main(names: list[str]) -> None:
    """Draw all figures, or those of these ``names``, and write the page."""
    FIGURES.mkdir(parents=True, exist_ok=True)
    for one in PICTURES:
        if not names or one.name in names:
            print(f"{one.name}: {save(one) / 1024:.0f} KB")
    (DOCS / "gallery.md").write_text(page(), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
