"""The page of a study: a file (:func:`report`), or served while the study runs (:func:`watch`)."""

from believer._lazy import loader

_WHERE = {"report": "reporting", "state": "content", "watch": "watching", "Watch": "watching"}

__getattr__ = loader(__name__, _WHERE)

__all__ = ["Watch", "report", "state", "watch"]


def __dir__() -> list[str]:
    return __all__
