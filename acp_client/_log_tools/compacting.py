"""The shortest log that leads to the same state.

The frames are spooled while a store reduces them, because only at the end is it known which
version of the protocol they are in. Then `compact_v2` or `compact_v1` rewrites them, and a second
store reduces the result. Should its documents differ from those of the original, the original is
returned: the law that a compacted log gives the same documents does not rest on the rewriting.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from tempfile import SpooledTemporaryFile
from typing import BinaryIO, Final, cast

import attrs

from .._errors import InvalidValueError
from .._recordings import Feeder, Frame, read_recording, write_envelope
from .._storage import to_document, to_json
from .._store import Store
from .._versions import Protocol
from .compact_v1 import CompactedV1
from .compact_v2 import CompactedV2

_IN_MEMORY: Final = 64 * 1024 * 1024
"""Bytes of a recording beyond which it is spooled to a file."""


def compact(
    recording: Iterable[Frame], *, keep_turns: int = 0, protocol: Protocol | None = None
) -> Iterator[Frame]:
    """Return the shortest frames that lead to the same snapshot documents.

    Updates of one entity become one update, what was overwritten or answered is left out, and
    messages that do nothing (malformed ones too) go. The last `keep_turns` turns of each session
    stay as they were recorded. `protocol` is what the agent speaks, where the recording does not
    say. Raises `InvalidValueError` for a negative number of turns.
    """
    if keep_turns < 0:
        raise InvalidValueError(f"{keep_turns} is not a number of turns")
    return _compacted(recording, keep_turns, protocol)


def _compacted(
    recording: Iterable[Frame], keep_turns: int, protocol: Protocol | None
) -> Iterator[Frame]:
    with SpooledTemporaryFile(max_size=_IN_MEMORY) as file:
        spool = cast("BinaryIO", file)
        store = _reduced(_spooled(recording, spool), protocol)
        rewriter = CompactedV1 if store.protocol == "v1" else CompactedV2
        kept = rewriter({}).taken(_read(spool)).last_turns(keep_turns) if keep_turns else {}
        short = list(rewriter(kept).taken(_read(spool)).frames())
        is_same = _documents(_reduced(short, protocol)) == _documents(store)
        yield from short if is_same else _read(spool)


def _spooled(recording: Iterable[Frame], spool: BinaryIO) -> Iterator[Frame]:
    for frame in recording:
        spool.write(write_envelope(frame))
        yield frame


def _read(spool: BinaryIO) -> Iterator[Frame]:
    is_empty = spool.tell() == 0  # it is at the end of what was written or read
    spool.seek(0)
    return iter(()) if is_empty else iter(read_recording(spool, format="envelope"))


def _reduced(frames: Iterable[Frame], protocol: Protocol | None) -> Store:
    """Reduce frames, numbered as they come."""
    store = Store(protocol=protocol)
    feeder = Feeder(store)
    for number, frame in enumerate(frames, 1):
        feeder.take(attrs.evolve(frame, line=number))
    feeder.end()
    return store


def _documents(store: Store) -> bytes:
    return to_json([to_document(store.snapshot(session_id)) for session_id in store.sessions])
