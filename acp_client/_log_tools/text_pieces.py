"""The texts that messages bring in pieces, and where each piece stands.

A secret may be cut in two by a chunk, so patterns are tried on the whole text. A `Piece` names the
text that it belongs to: a message, the content of a tool call, a summary, a terminal. Whole content
begins a text again. In version 1 a chunk may have no id: then it belongs to the text of its kind.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Hashable, Iterator
from typing import Any, Final

import attrs

from .leaves import Path, at

_CHUNKS: Final = {
    "user_message_chunk": ("user_message", "messageId"),
    "agent_message_chunk": ("agent_message", "messageId"),
    "agent_thought_chunk": ("agent_thought", "messageId"),
    "tool_call_content_chunk": ("tool_call", "toolCallId"),
    "compaction_summary_chunk": ("compaction", "compactionId"),
}
_WHOLE: Final = {
    "user_message": ("user_message", "messageId", "content"),
    "agent_message": ("agent_message", "messageId", "content"),
    "agent_thought": ("agent_thought", "messageId", "content"),
    "tool_call": ("tool_call", "toolCallId", "content"),
    "tool_call_update": ("tool_call", "toolCallId", "content"),
    "compaction_update": ("compaction", "compactionId", "summary"),
}
_META_OUTPUTS: Final = ("terminal_output", "terminal_output_delta")
_UPDATE: Final[Path] = ("params", "update")


@attrs.frozen
class Piece:
    """A piece of a text; bytes are those of a terminal, in base64 in the message."""

    text: Hashable
    path: Path
    piece: str | bytes
    begins: bool = False


def pieces(message: Any, path: Path = ()) -> Iterator[Piece]:
    """Return the pieces that a message brings, in order."""
    if isinstance(message, list) and not path:
        for place, each in enumerate(message):
            yield from pieces(each, (place,))
        return
    session_id = repr(at(message, "params", "sessionId"))
    update = at(message, *_UPDATE)
    if isinstance(update, dict):
        yield from _of_update(session_id, update, (*path, *_UPDATE))
    prompt = at(message, "params", "prompt")
    yield from _of_content(("prompt", session_id), prompt, (*path, "params", "prompt"), True)


def _of_update(session_id: str, update: dict[str, Any], path: Path) -> Iterator[Piece]:
    kind = update.get("sessionUpdate")
    if not isinstance(kind, str):
        return
    if kind in _CHUNKS:
        entry, key = _CHUNKS[kind]
        text = (session_id, entry, repr(update.get(key)))
        yield from _of_content(text, update.get("content"), (*path, "content"), False)
    elif kind in _WHOLE:
        entry, key, content = _WHOLE[kind]
        text = (session_id, entry, repr(update.get(key)))
        yield from _of_content(text, update.get(content), (*path, content), True)
        yield from _of_meta(session_id, update, path)
    elif kind == "terminal_output_chunk":
        yield from _of_output(session_id, update, update.get("data"), (*path, "data"), False)
    elif kind == "terminal_update":
        data = at(update, "output", "data")
        yield from _of_output(session_id, update, data, (*path, "output", "data"), True)


def _of_content(text: Hashable, content: Any, path: Path, begins: bool) -> Iterator[Piece]:
    """Return the texts of one block, or of a list of them."""
    if not isinstance(content, list):
        yield from _of_block(text, content, path, begins)
        return
    for place, block in enumerate(content):
        yield from _of_block(text, block, (*path, place), begins and place == 0)


def _of_block(text: Hashable, block: Any, path: Path, begins: bool) -> Iterator[Piece]:
    """Return the text of a block, bare as in version 1, or inside the content of a tool call."""
    for inside in ((), ("text",), ("content", "text"), ("content",)):
        found = at(block, *inside)
        if isinstance(found, str):
            yield Piece(text, (*path, *inside), found, begins)
            return


def _of_meta(session_id: str, update: dict[str, Any], path: Path) -> Iterator[Piece]:
    """Return the output of a terminal in the `_meta` of a tool call of version 1."""
    for key in _META_OUTPUTS:
        data = at(update, "_meta", key, "data")
        if isinstance(data, str):
            text = (session_id, "meta terminal", repr(update.get("toolCallId")))
            yield Piece(text, (*path, "_meta", key, "data"), data)


def _of_output(
    session_id: str, update: dict[str, Any], data: Any, path: Path, begins: bool
) -> Iterator[Piece]:
    decoded = decoded_base64(data) if isinstance(data, str) else None
    if decoded is not None:
        text = (session_id, "terminal", repr(update.get("terminalId")))
        yield Piece(text, path, decoded, begins)


def decoded_base64(text: str) -> bytes | None:
    """Decode base64 whose padding may be missing; `None` for anything else."""
    try:
        return b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None
