"""The door to Ray: :class:`BelieverSearch` for Ray Tune, and an executor on a Ray cluster.

The guide is docs/ray.md. Neither is loaded, nor Ray with it, before its name is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from believer._lazy import loader

if TYPE_CHECKING:
    from believer.integrations.ray.executor import TIMEOUT, ClusterExecutor, connected
    from believer.integrations.ray.search import BelieverSearch

__all__ = ["TIMEOUT", "BelieverSearch", "ClusterExecutor", "connected"]

__getattr__ = loader(
    __name__, {"BelieverSearch": "search", **dict.fromkeys(("TIMEOUT", "ClusterExecutor", "connected"), "executor")}
)
