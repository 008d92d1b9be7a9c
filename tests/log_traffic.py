"""Recordings for the tests of log tools: lines of either side as frames, and files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from traffic import BUNDLED, SHARED

from acp_client import Frame, Store, read_recording
from acp_client._json import encode
from acp_client._recordings.playback import Feeder
from acp_client._storage import raw_document

_LONG = (pytest.mark.shared, pytest.mark.long)

RECORDINGS = [
    *(pytest.param(path, id=path.name) for path in sorted(BUNDLED.glob("*.ndjson"))),
    *(
        pytest.param(path, id=path.name, marks=_LONG[: 1 + (path.stat().st_size > 500_000)])
        for path in sorted(SHARED.glob("recordings/v[12]/*"))
        if path.suffix in (".ndjson", ".jsonl", ".log")
        or (path.suffix == ".json" and "snapshot" not in path.name)
    ),
]
"""The bundled recordings, and those beside the checkout."""


def frames_of(*lines: Any) -> list[Frame]:
    """Make frames of lines of the agent, pairs of a direction and a line, and frames."""
    return [_frame(number, one) for number, one in enumerate(lines, 1)]


def _frame(number: int, one: Any) -> Frame:
    if isinstance(one, bytes):
        one = (False, one)
    sent, data = one if isinstance(one, tuple) else (one.sent, one.data)
    return Frame(number, sent, data.removesuffix(b"\n"))


def sent(data: bytes) -> tuple[bool, bytes]:
    """Say that the client wrote a line."""
    return True, data


def read(path: Path) -> list[Frame]:
    """Read the frames of a recording."""
    with path.open("rb") as stream:
        return list(read_recording(stream))


def reduced(frames: Iterable[Frame], protocol: Any = None) -> Store:
    """Feed frames to a store, numbered as they come."""
    store = Store(protocol=protocol)
    feeder = Feeder(store)
    for number, frame in enumerate(frames, 1):
        feeder.take(Frame(number, frame.sent, frame.data))
    feeder.end()
    return store


def documents(frames: Iterable[Frame], protocol: Any = None) -> bytes:
    """Return the snapshot documents that frames lead to."""
    store = reduced(frames, protocol)
    data: bytes = encode([raw_document(store.snapshot(s)) for s in store.sessions])
    return data
