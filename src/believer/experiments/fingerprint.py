"""Fingerprints of objects, for cells whose settings cannot hold the objects themselves."""

from __future__ import annotations

import hashlib
import pickle
import re
import uuid
from typing import Any

from believer.study import serialization

_SAYS_LITTLE = re.compile(r" at 0x[0-9a-fA-F]+|\.\.\.")
"""Parts of a repr that do not identify a value: an address, which another object may have, or the gap in an array."""


def fingerprint(member: object) -> str:
    """A text that distinguishes a custom member from others of its class, in this process and later ones.

    Its repr; where that says little, a digest of its pickle; where it has none, something new every time.
    """
    text = repr(member)
    if not _SAYS_LITTLE.search(text):
        return text
    try:
        return hashlib.sha256(pickle.dumps(member)).hexdigest()[:16]
    except Exception:  # whatever a class of someone else's raises when it cannot be pickled
        return uuid.uuid4().hex


def identity(member: object) -> Any:
    """A member as plain data; a custom member includes its fingerprint, so that two of a class stay distinct."""
    config = serialization.to_config(member)
    return {**config, "custom_repr": fingerprint(member)} if serialization.is_custom(config) else config
