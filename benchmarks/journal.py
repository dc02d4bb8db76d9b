"""What a journal costs: a tell with it and without, and loading many events, in processor seconds and memory.

    python benchmarks/journal.py --events 100000 --out benchmarks/results/journal.md
    python benchmarks/journal.py --events 100000 --package ../before/src    # of another checkout, on the same files

Three kinds of journals over four parameters (one of them a choice, one over magnitudes): results from elsewhere, asks
without a model, asks with the hyperparameters of a Gaussian process. The files are in memory (/dev/shm) where there is
such a place: the price of a disk is not ours. One process a measurement; a tell is the median of seven runs of 300.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from regret_report import markdown_table

import believer as bv
from believer.study.events import Asked, Event, Observed, Told
from believer.study.journal import write_events

KINDS = ("observed", "asked", "asked under a model")
SPACE = bv.Space(
    {
        "lr": bv.Float(1e-4, 1.0, log=True),
        "x": bv.Float(-5.0, 10.0),
        "n": bv.Int(1, 50),
        "c": bv.Categorical(["a", "b"]),
    }
)

_TELL = """
import json, sys, tempfile, time
import believer as bv
def tell(folder, journal):
    space = bv.Space({f"x{i}": bv.Float(0.0, 1.0) for i in range(4)})
    with tempfile.TemporaryDirectory(dir=folder) as inside:
        study = bv.Optimizer(space, n_init=1000, seed=0, journal=f"{inside}/study.jsonl" if journal else None)
        batch = study.ask(300)
        start = time.process_time()
        for trial in batch:
            study.tell(trial, 0.5)
        spent = time.process_time() - start
        study.close()
    return spent / 300
print(json.dumps([sorted(tell(sys.argv[1], journal) for _ in range(7))[3] for journal in (False, True)]))
"""
_LOAD = """
import json, resource, sys, time
import believer as bv
start = time.process_time()
bv.Optimizer.load(sys.argv[1]).close()
print(json.dumps([time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""


def events_of(kind: str, count: int) -> list[Event]:
    """So many events of a kind, after the first."""
    study = bv.Optimizer(SPACE, n_init=4, seed=0)
    for trial in study.ask(6):
        study.tell(trial, float(trial.id))
    study.ask(1)
    asked = study.events[-1]
    assert isinstance(asked, Asked)
    rng = np.random.default_rng(0)
    n = count if kind == "observed" else count // 2
    points = SPACE.decode(rng.random((n, SPACE.dim)))
    units, values = SPACE.encode(points), rng.normal(size=n)
    events: list[Event] = [study.events[0]]
    for i in range(n):
        outcome = bv.Outcome.of(float(values[i]))
        if kind == "observed":
            events.append(Observed(i, points[i], outcome, None))
            continue
        trial = bv.Trial(i, points[i], units[i], f"chosen at LogEI rank 1 after believing {i % 3} points", "model")
        events += [Asked((trial,), asked.request, None if kind == "asked" else asked.model), Told(i, outcome)]
    return events


def measured(code: str, argument: str, package: Path | None) -> list[float]:
    """What a process of its own prints."""
    env = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    if package is not None:
        env["PYTHONPATH"] = str(package.resolve())
    run = subprocess.run([sys.executable, "-c", code, argument], env=env, capture_output=True, text=True, check=True)
    numbers: list[float] = json.loads(run.stdout)
    return numbers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--package", type=Path, help="the src of another checkout")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        without, with_journal = measured(_TELL, folder, options.package)
        rows = []
        for kind in KINDS:
            path = Path(folder) / "study.jsonl"
            write_events(path, events_of(kind, options.events))
            seconds, megabytes = measured(_LOAD, str(path), options.package)
            rows.append([kind, f"{options.events:,}", f"{seconds:.2f}", f"{megabytes:.0f}"])
            path.unlink()
    text = (
        "# What a journal costs\n\nMade by `benchmarks/journal.py`, one thread, files in memory.\n\n"
        f"A tell takes {1e6 * without:.1f} µs of processor time without a journal, {1e6 * with_journal:.1f} µs with "
        "one.\n\n" + markdown_table(["journal of", "events", "load, CPU s", "peak MiB"], rows)
    )
    print(text)
    if options.out is not None:
        options.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
