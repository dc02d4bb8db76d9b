"""The bench: batch strategies on surrogates, and peers, race each other on problems, and a report says which to use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from believer._lazy import loader

if TYPE_CHECKING:
    from believer_bench.members import Member, Ours, Theirs
    from believer_bench.race import design, run

__all__ = ["Member", "Ours", "Theirs", "design", "run"]

__getattr__ = loader(
    __name__, {**dict.fromkeys(("Member", "Ours", "Theirs"), "members"), **dict.fromkeys(("design", "run"), "race")}
)
