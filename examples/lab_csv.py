"""A laboratory without Python: a batch goes out as a CSV table, and comes back with a column of results.

Run it: it writes plate.csv. Fill in its last column, and run it again, as often as you like.
"""

import csv
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
PLATE = Path("plate.csv")


def read(study):
    """Tell what was filled in; an empty cell is a well that has no result yet, and text is a reason why it failed."""
    waiting = {trial.id for trial in study.pending}
    with PLATE.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if int(row["id"]) in waiting and row["yield"].strip()]
    for row in rows:
        try:
            study.tell(int(row["id"]), float(row["yield"]))
        except ValueError:
            study.tell(int(row["id"]), error=row["yield"])


def write(batch):
    with PLATE.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["id", *SPACE.parameters, "yield"])
        table.writerows([trial.id, *trial.params.values(), ""] for trial in batch)


def main(wells=6):
    goals = {"yield": bv.Maximize(units="%")}
    with bv.Optimizer.open("reaction.jsonl", SPACE, outcomes=goals, seed=1) as study:
        if PLATE.exists():
            read(study)
            print("best so far:", study.recommend() if study.best else "nothing yet")
        if not study.pending:
            batch = study.ask(wells)
            write(batch)
            print(f"The next plate is in {PLATE}.", batch.verdict or "")
        else:
            print(f"{len(study.pending)} wells have no result yet.")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
