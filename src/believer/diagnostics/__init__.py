"""Looking at a study: how it converged, where its batches lay, and what one lie does to an acquisition.

Each function returns a ``matplotlib.figure.Figure`` of its own, outside pyplot; save it with ``figure.savefig(path)``.
"""

from believer.diagnostics.batches import batches
from believer.diagnostics.convergence import convergence
from believer.diagnostics.lie import before_and_after_a_lie

__all__ = ["batches", "before_and_after_a_lie", "convergence"]
