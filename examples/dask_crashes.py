"""A Dask cluster on which evaluations hang, raise and crash: the study goes on, and learns where that happens."""

import os
import sys
import time

from distributed import LocalCluster

import believer as bv

SPACE = bv.Space({"pressure": bv.Float(1, 10), "speed": bv.Float(0, 5)})


def simulate(params):
    """A solver that does not survive high pressure at high speed."""
    if params["pressure"] * params["speed"] > 40:
        os._exit(1)  # the process is gone, as with a fault in a compiled library
    if params["pressure"] * params["speed"] > 35:
        raise RuntimeError("the mesh has folded")
    if params["speed"] < 0.05:
        time.sleep(3600)  # it hangs, and the time limit ends it
    return (params["pressure"] - 6) ** 2 + (params["speed"] - 4) ** 2


FIRST = [{"pressure": 9.5, "speed": 4.8}, {"pressure": 5.0, "speed": 0.0}]
"""Points that are evaluated first: one crashes, and one hangs."""


def main(budget=24, workers=2):
    with LocalCluster(n_workers=workers, threads_per_worker=1, host="127.0.0.1", dashboard_address=":0") as cluster:
        options = {"timeout": 10, "seed": 3, "journal": "dask_crashes.jsonl", "progress": False}
        result = bv.minimize(simulate, SPACE, budget, workers=cluster, x0=FIRST, **options)
    print(result)
    counts = result.optimizer.counts
    print(f"{counts.done} evaluations returned a value, {counts.failed} failed:")
    for row in result.optimizer.records():
        if row["status"] == "failed":
            print(f"  pressure {row['pressure']:.1f}, speed {row['speed']:.1f}: {row['error']}")
    print("After a crash of this script, run it again: it goes on from dask_crashes.jsonl.")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
