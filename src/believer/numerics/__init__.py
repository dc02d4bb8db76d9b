"""Mathematics as free functions, independent of surrogates and batches.

The names for users of the library are listed here, and loaded when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from believer._lazy import loader

if TYPE_CHECKING:
    from believer.numerics.bordering import Bordered, inverse_or_regular_part
    from believer.numerics.lbfgs import LBFGSSettings
    from believer.numerics.sampling import latin_hypercube, normal_sobol, sobol, stream
    from believer.numerics.special import log_h, normal_pdf

__all__ = [
    "Bordered",
    "LBFGSSettings",
    "inverse_or_regular_part",
    "latin_hypercube",
    "log_h",
    "normal_pdf",
    "normal_sobol",
    "sobol",
    "stream",
]

__getattr__ = loader(
    __name__,
    {
        **dict.fromkeys(("Bordered", "inverse_or_regular_part"), "bordering"),
        **dict.fromkeys(("latin_hypercube", "normal_sobol", "sobol", "stream"), "sampling"),
        **dict.fromkeys(("log_h", "normal_pdf"), "special"),
        "LBFGSSettings": "lbfgs",
    },
)
