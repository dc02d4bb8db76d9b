"""What choosing from a long table costs: seconds and memory of ask(8), with 100 results and 20 features.

    python benchmarks/catalogue.py --rows 100000
    python benchmarks/catalogue.py --rows 1000000

One process for each number of rows, since memory is the peak of the process, above that after the import. Seconds are
of the processor: reading the table, and the median, the least and the most of five asks, each with its fit, its verdict
and eight new results before it.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time

import numpy as np

import believer as bv

FEATURES, RESULTS, Q, ASKS = 20, 100, 8, 5


def peak() -> float:
    """Memory of this process at its peak, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    n = parser.parse_args().rows
    bv.Optimizer(bv.Space.cube(2), seed=0).ask(1)  # what is imported on use
    imported = peak()
    Z = np.random.default_rng(0).random((n, FEATURES))
    values = ((Z - 0.4) ** 2 @ np.linspace(2.0, 0.1, FEATURES)).tolist()
    start = time.process_time()
    space = bv.Space.from_table({"id": np.arange(n), **{f"f{j}": Z[:, j] for j in range(FEATURES)}}, id_column="id")
    reading = time.process_time() - start
    opt = bv.Optimizer(space, seed=0)
    for row in range(RESULTS):
        opt.observe({"id": row}, values[row])
    seconds = []
    for _ in range(ASKS):
        start = time.process_time()
        batch = opt.ask(Q)
        seconds.append(time.process_time() - start)
        for trial in batch:
            opt.tell(trial, values[trial.params["id"]])
    least, median, most = np.quantile(seconds, (0.0, 0.5, 1.0))
    print("| rows | reading, s | ask(8), s | least to most | MB above import |")
    print("|---|---|---|---|---|")
    print(f"| {n:,} | {reading:.2f} | {median:.2f} | {least:.2f} to {most:.2f} | {peak() - imported:.0f} |")


if __name__ == "__main__":
    main()
