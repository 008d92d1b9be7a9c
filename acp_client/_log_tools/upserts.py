"""A snapshot of few entities as the updates that build it from nothing.

The snapshot document has the words of the wire, so an entity's document is the upsert that creates
it, with two exceptions: the `_meta` of a chunk can only come with a chunk, and a terminal's output
is an object there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from .._json import encode
from .._snapshot import Snapshot
from .._storage import raw_document

Fields = dict[str, Any]

_CHUNKS: Final = {
    "user_message": ("user_message_chunk", "messageId"),
    "agent_message": ("agent_message_chunk", "messageId"),
    "agent_thought": ("agent_thought_chunk", "messageId"),
    "tool_call": ("tool_call_content_chunk", "toolCallId"),
    "compaction": ("compaction_summary_chunk", "compactionId"),
}
"""By the type of an entry: the chunk that appends to it, and the key of its id."""

_VARIANTS: Final = {"tool_call": "tool_call_update", "compaction": "compaction_update"}
"""The upserts that have another name than the entry."""

_DEFAULTS: Final = {"kind": "other", "status": "pending"}
"""What a tool call has when nothing was said."""


def update_message(session_id: str, update: Fields) -> bytes:
    """Write an update as the message that brings it."""
    params = {"sessionId": session_id, "update": update}
    return encode({"jsonrpc": "2.0", "method": "session/update", "params": params})


def upserts(snapshot: Snapshot) -> Iterator[Fields]:
    """Return the updates that lead from an empty session to this one's entities, or else info."""
    document = raw_document(snapshot)
    for entry in document["entries"]:
        yield from _entry_upserts(entry)
    for terminal in document["terminals"]:
        yield _terminal_upsert(terminal)
    if not document["entries"] and not document["terminals"]:
        yield {"sessionUpdate": "session_info_update", **document["info"]}


def _entry_upserts(entry: Fields) -> Iterator[Fields]:
    """Return the upsert of an entry, and chunks from the first block on that has a `_meta`."""
    kind = entry.pop("type")
    chunk, id_key = _CHUNKS[kind]
    metas: Fields = entry.pop("chunkMeta", {})
    content_key = "summary" if kind == "compaction" else "content"
    content = entry[content_key]
    whole = min(map(int, metas), default=len(content))
    entry[content_key] = content[:whole]
    if kind == "tool_call":
        entry = {key: value for key, value in entry.items() if value != _DEFAULTS.get(key)}
    yield {"sessionUpdate": _VARIANTS.get(kind, kind), **entry}
    for place in range(whole, len(content)):
        update = {"sessionUpdate": chunk, id_key: entry[id_key], "content": content[place]}
        meta = metas.get(str(place))
        yield update if meta is None else {**update, "_meta": meta}


def _terminal_upsert(terminal: Fields) -> Fields:
    output = {"data": terminal.pop("output")}
    if "outputMeta" in terminal:
        output["_meta"] = terminal.pop("outputMeta")
    return {"sessionUpdate": "terminal_update", **terminal, "output": output}
