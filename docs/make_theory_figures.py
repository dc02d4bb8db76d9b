"""Draw the pictures of docs/theory.md: ``python docs/make_theory_figures.py [folder]``. Takes about a minute."""

from __future__ import annotations

import sys
from pathlib import Path

from believer_paper import penalty_pictures as penalties
from believer_paper import separation_pictures as distances
from believer_paper import theory_pictures as propositions

FIGURES = (
    propositions.rank_one_updates,
    propositions.distinct_points,
    propositions.suppression_radius,
    distances.separations,
    propositions.mean_invariance,
    propositions.unmoved_model,
    propositions.acquisition_slopes,
    penalties.implicit_penalty,
    penalties.improvement_expansion,
    penalties.determinantal_penalty,
    penalties.local_penalization,
)

if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "figures" / "theory"
    folder.mkdir(parents=True, exist_ok=True)
    for draw in FIGURES:
        draw().savefig(folder / f"{draw.__name__}.png", dpi=110)
        print(folder / f"{draw.__name__}.png")
