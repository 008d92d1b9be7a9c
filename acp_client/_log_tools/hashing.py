"""A hash of the state of a session that is the same on every machine and every Python."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from .._json import HugeNumber, encode, parse
from .._snapshot import Snapshot
from .._storage import raw_document


def state_hash(state: Snapshot | Mapping[str, Snapshot]) -> str:
    """Return the SHA-256 of a snapshot document, or of those of several sessions, as hexadecimal.

    The document is written as ASCII JSON with sorted keys, so the order in which an agent wrote
    keys does not count, and neither does the version of Python or of a library. Two states with one
    document have one hash. Raises `InvalidValueError` for any other value.
    """
    snapshots = state.values() if isinstance(state, Mapping) else (state,)
    documents = [parse(encode(raw_document(snapshot)), deepest=None) for snapshot in snapshots]
    text = json.dumps(_plain(documents), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: Any) -> Any:
    """Return a value that JSON has a form for: numbers beyond every float by their digits."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return {"number": value.text} if isinstance(value, HugeNumber) else value
