"""A study in a folder, without programming: ``study.toml``, the sheets that are filled in, and the journal.

The commands ``believer new``, ``ask``, ``tell``, ``show`` and ``amend`` and the methods ``Optimizer.from_toml``,
``Optimizer.tell_csv``, ``Optimizer.tell_frame`` and ``Batch.to_csv`` are thin layers over this package.
"""

from __future__ import annotations

from believer._lazy import loader

__all__ = ["Folder", "batch_to_csv", "from_toml", "read_study_file", "study_text", "tell_file", "tell_frame"]

__getattr__ = loader(
    __name__,
    {
        "Folder": "folder",
        "batch_to_csv": "sheets",
        "from_toml": "study_file",
        "read_study_file": "study_file",
        "study_text": "toml_text",
        "tell_file": "telling",
        "tell_frame": "telling",
    },
)
