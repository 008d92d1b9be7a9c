"""The shortest log that leads to the same state.

The frames are spooled while a store reduces them, because only at the end is it known which
version of the protocol they are in. Then `compact_v2` or `compact_v1` rewrites them, and a second
store reduces the result. Should its documents differ from those of the original, the original is
returned: the law that a compacted log leads to the same documents does not rest on the rewriting.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from tempfile import SpooledTemporaryFile
from typing import BinaryIO, cast

import attrs

from .._errors import InvalidValueError
from .._json import encode
from .._recordings import Feeder, Frame
from .._storage import raw_document
from .._store import Store
from .._versions import Protocol
from .compact_v1 import CompactedV1
from .compact_v2 import CompactedV2
from .spool import IN_MEMORY, Spool


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
    with SpooledTemporaryFile(max_size=IN_MEMORY) as file:
        spool = Spool(cast("BinaryIO", file))
        store = _reduced(spool.through(recording), protocol)
        rewriter = CompactedV1 if store.protocol == "v1" else CompactedV2
        kept = rewriter({}).taken(spool.frames()).last_turns(keep_turns) if keep_turns else {}
        short = list(rewriter(kept).taken(spool.frames()).frames())
        is_same = _documents(_reduced(short, protocol)) == _documents(store)
        yield from short if is_same else spool.frames()


def _reduced(frames: Iterable[Frame], protocol: Protocol | None) -> Store:
    """Reduce frames, numbered as they come."""
    store = Store(protocol=protocol)
    feeder = Feeder(store)
    for number, frame in enumerate(frames, 1):
        feeder.take(attrs.evolve(frame, line=number))
    feeder.end()
    return store


def _documents(store: Store) -> bytes:
    return encode([raw_document(store.snapshot(session_id)) for session_id in store.sessions])
