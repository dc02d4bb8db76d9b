"""A laboratory: a plate goes out as a CSV table, and comes back with results. Without Python: see docs/lab.md.

Run it: it writes plate-1.csv. Fill in its column of yields, and run it again, as often as you like. An empty cell is
still to come, "failed" is a well that gave no number, and another row with the same trial number is a replicate.
"""

import sys
from pathlib import Path

import believer as bv

SPACE = bv.Space(
    {
        "temperature": bv.Float(20, 100, step=5, units="°C"),
        "time": bv.Int(1, 24, units="h"),
        "solvent": bv.Categorical(["DMF", "ethanol", "water"]),
    }
)


def main(wells=6):
    goals = {"yield": bv.Maximize(units="%")}
    with bv.Optimizer.open("reaction.jsonl", SPACE, outcomes=goals, seed=1) as study:
        plates = sorted(Path().glob("plate-*.csv"))
        for plate in plates:
            print(study.tell_csv(plate))  # what was told before is not told twice
        print("best so far:", study.recommend() if study.best else "nothing yet")
        if study.pending:
            print(f"{len(study.pending)} wells have no result yet.")
        else:
            batch = study.ask(wells, shared=["temperature"])
            path = batch.to_csv(f"plate-{len(plates) + 1}.csv")
            print(f"The next plate is in {path}. {batch.verdict.sentence}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
