"""The surrogates by name, under each preset."""

from __future__ import annotations

from believer.errors import InvalidInput
from believer.plugins import Surrogate
from believer.space import Space
from believer.surrogates import GP, MQRBF, SVR, FixedRBF, LastLayer, NeuralEnsemble, RandomForest, SparseGP
from believer_paper.setup.multiquadric import PrintedMQRBF
from believer_paper.setup.networks import PrintedNetworks
from believer_paper.setup.process import Process

INDUCING = 20
"""The number of inducing points of the sparse GP in Table 1, for which the paper gives no number."""


def surrogate_of(preset: str, name: str, space: Space) -> Surrogate:
    """The surrogate ``name`` as the paper set it up ("printed"), or as the library does ("ours").

    Forests, the sparse GP, fixed centers, the last layer and SVR are the library's under both presets, with the paper's
    settings if it prints any.
    """
    if preset not in ("printed", "ours"):
        raise InvalidInput(f'preset must be "printed" or "ours"; got {preset!r}.')
    printed = preset == "printed"
    match name:
        case "gp":
            return Process(space) if printed else GP(noise=1e-6)
        case "mq_rbf":
            return PrintedMQRBF() if printed else MQRBF()
        case "mq_rbf_power":
            return MQRBF()
        case "neural":
            return PrintedNetworks(space) if printed else NeuralEnsemble()
        case "forest":
            return RandomForest()
        case "fixed_rbf":
            return FixedRBF()
        case "last_layer":
            return LastLayer()
        case "svr":
            return SVR()
        case "sparse_gp":
            return SparseGP(INDUCING)
    raise InvalidInput(f"there is no surrogate {name!r} in the paper.")
