"""What the speed benchmark measures beside whole steps: conditioning, memory, import time.

Memory and import time are taken in fresh interpreters: both are spoiled by whatever this process has loaded. On Linux
the peak is read from the kernel's own mark of the process, because ``getrusage`` hands a child its parent's peak.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from regret_report import markdown_table

from believer.arrays import Array
from believer.numerics.sampling import latin_hypercube
from believer.problems.synthetic import hartmann6
from believer.surrogates import GP
from believer.surrogates.data import Data
from believer_bench.peers import PEERS

CONDITION_SIZES = (50, 100, 200, 500, 1000, 2000)
LARGE = ((1000, 10, 64, 0.6, None, None), (2000, 20, 64, 1.5, 150, None), (2000, 10, 64, None, None, 0.06))
"""n, d, q, and what is asked: seconds of tell + ask(q), MB above import, seconds of ask(1) with 500 points pending."""
PENDING, LARGE_REPEATS = 500, 1
IMPORT_REPEATS = 9

_LARGE_CHILD = """
import resource, sys, time
import numpy as np
import believer as bv
from pool import point, searched, space_of, waves
n, d, q, pending = {n}, {d}, {q}, {pending}
def peak():
    if sys.platform == "linux":
        line = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
        return 1024 * int(line.split()[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
before = peak()
w = 0.2 + 0.6 * np.random.default_rng(0).random(d)
X, y = searched(n - q, d, waves, 0)
optimizer = bv.Optimizer(space_of(d), seed=0, n_init=5)
for x, value in zip(X, y):
    optimizer.observe(point(x), float(value))
batch = optimizer.ask(q)
start = time.process_time()
optimizer.tell_many(batch, [float(v) for v in waves(batch.encoded, w)])
optimizer.ask(q)
seconds, most = time.process_time() - start, peak() - before
while optimizer.counts.pending < pending:
    optimizer.ask(min(q, pending - optimizer.counts.pending))
start = time.process_time()
optimizer.ask(1)
print(seconds, time.process_time() - start, most)
"""

_IMPORT_CHILD = """
import time
import numpy, scipy.linalg, scipy.special
start = time.perf_counter()
import believer
print(time.perf_counter() - start)
"""


def condition_table() -> str:
    """One conditioning step beside a refit at the same hyperparameters and beside BoTorch's, for growing n.

    BoTorch's column is empty where it is not installed.
    """
    lines = []
    for n in CONDITION_SIZES:
        X = latin_hypercube(n + 1, 6, np.random.default_rng(n))
        y = hartmann6(X)
        ours, refit, *theirs = [median_seconds(call) for call in (*our_calls(X, y), *botorch_calls(X, y))]
        fields = [f"{1e6 * seconds:.1f}" for seconds in (ours, refit)] + [f"{refit / ours:.1f}"]
        fields += [text for seconds in theirs for text in (f"{1e6 * seconds:.0f}", f"{seconds / ours:.0f}")]
        lines.append([str(n), *fields, *[""] * (5 - len(fields))])
    header = ["n", "condition, µs", "refit at the same hyperparameters, µs", "refit / condition"]
    header += ["BoTorch's condition_on_observations, µs", "BoTorch / ours"]
    return "## One conditioning step\n\n" + markdown_table(header, lines)


def our_calls(X: Array, y: Array) -> tuple[Callable[[], object], Callable[[], object]]:
    """The last of the points ``X`` (n + 1, d) added to the others: ``model.condition(x, y)``, in closed form, and
    ``surrogate.restore(X, y, state)``, all points factored anew with the same hyperparameters.
    """
    n = len(X) - 1
    surrogate = GP()
    few = min(n, 200)
    state = surrogate.describe(surrogate.fit(Data(X[:few], y[:few]), np.random.default_rng(n)))
    model = surrogate.restore(Data(X[:n], y[:n]), state)
    return lambda: model.condition(Data(X[n:], y[n:])), lambda: surrogate.restore(Data(X, y), state)


def botorch_calls(X: Array, y: Array) -> list[Callable[[], object]]:
    """The same by BoTorch: ``condition_on_observations`` of a ``SingleTaskGP``, in double precision, without gradients.

    It needs a prediction first, which fills its caches; what its hyperparameters are is no matter of time.
    """
    if not PEERS["botorch_qei"].installed:
        return []
    import torch
    from botorch.models import SingleTaskGP

    torch.set_num_threads(1)
    inputs, targets = torch.as_tensor(X), torch.as_tensor(y)[:, None]
    model = SingleTaskGP(inputs[:-1], targets[:-1])

    def call() -> object:
        with torch.no_grad():
            return model.condition_on_observations(inputs[-1:], targets[-1:])

    with torch.no_grad():
        _ = model.posterior(inputs[-1:]).variance
    return [call]


def median_seconds(call: Callable[[], object], budget: float = 1.0, least: int = 3) -> float:
    """Median seconds of ``call`` over at least ``least`` repeats, more while ``budget`` seconds last."""
    call()
    seconds: list[float] = []
    end = time.perf_counter() + budget
    while len(seconds) < least or time.perf_counter() < end:
        start = time.process_time()
        call()
        seconds.append(time.process_time() - start)
    return float(np.median(seconds))


def large_table() -> str:
    """Large batches: seconds of the processor, and the most memory above that of the imported package, as Markdown.

    Medians of runs that are each in a fresh interpreter.
    """
    lines = []
    for n, d, q, *asked in LARGE:
        pending = PENDING if asked[-1] else 0
        runs = [_child(_LARGE_CHILD.format(n=n, d=d, q=q, pending=pending)).split() for _ in range(LARGE_REPEATS)]
        step, single, most = np.median(np.array(runs, dtype=float), axis=0)
        found = (step, most / 1e6, single if pending else None)
        lines.append([str(n), str(d), str(q)])
        for value, limit in zip(found, asked, strict=True):
            verdict = "" if limit is None or value is None else " (met)" if value <= limit else " (missed)"
            lines[-1] += ["" if value is None else f"{value:.3g}", "" if limit is None else f"{limit:g}{verdict}"]
    header = ["n", "d", "q", "tell + ask(q), s", "asked", "MB above import", "asked"]
    header += [f"ask(1), {PENDING} pending, s", "asked"]
    return "## Large batches\n\n" + markdown_table(header, lines)


def import_table() -> str:
    """Time of ``import believer`` beyond NumPy, scipy.linalg and scipy.special, as Markdown."""
    _child(_IMPORT_CHILD)  # the first import compiles; installed packages are compiled already
    seconds = [float(_child(_IMPORT_CHILD)) for _ in range(IMPORT_REPEATS)]
    line = [f"{1e3 * float(np.median(seconds)):.1f}", f"{1e3 * min(seconds):.1f} to {1e3 * max(seconds):.1f}"]
    return "## Import beyond NumPy and SciPy\n\n" + markdown_table(["median, ms", "range, ms"], [line])


def _child(code: str) -> str:
    """What ``code`` prints in a fresh interpreter that starts in this folder."""
    command = [sys.executable, "-c", code]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        command, cwd=Path(__file__).parent, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"a measurement in a fresh interpreter failed:\n{done.stderr}")
    return done.stdout.strip()
