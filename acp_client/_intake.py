"""The lines of one read onto the drafts of their sessions: the hot path.

Most of what an agent sends is runs of lines that differ in one string: the text of the next chunk
of one message, or the data of the next output chunk of one terminal. All else in such a line, its
envelope, is the same bytes again and again. So an envelope is learned once and then compared as
bytes, and only the string between its two halves is decoded. The theory:

- A JSON text with one string token replaced by another string token parses to the same value, with
  the one string replaced. So if `head + token + tail` was a chunk whose text is that token, then
  `head + other + tail` is the same chunk with the other text, whatever `other` is, provided that
  `other` is exactly one JSON string. The strict decoder of a single string proves that; if it
  refuses, the line is decoded as a whole.
- Which token of a line is the chunk's text is not guessed: a line with another string in that place
  is decoded as a whole, and must give the same chunk with that string. That is done once per run.

Learning costs about three typed decodes, so it waits for the second chunk of a run. A line that an
envelope matches then costs less than its typed decode would; the benchmark "bytes to snapshot"
shows both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import attrs
import msgspec

from . import wire
from ._decode import Refused, decode_update
from ._reducer import Drafts

_STRING: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"')

_MESSAGE_TYPES: Final[dict[type, Any]] = {
    wire.UserMessageChunk: "user_message",
    wire.AgentMessageChunk: "agent_message",
    wire.AgentThoughtChunk: "agent_thought",
}


_Chunk: TypeAlias = tuple[type, str, str]
"""A chunk apart from its string: its class, the id of its entity, and the session."""


@attrs.frozen
class _Envelope:
    """What surrounds the string of a run's chunks, and the decoder of that string."""

    chunk: _Chunk
    head: bytes
    tail: bytes
    decode: Callable[[bytes], Any]


_NO_HEAD: Final = b"\n\n"
"""The head of no line: lines hold no line feed, but for the one that stands for a long line."""

_ENVELOPES_KEPT: Final = 16


class Intake:
    """Decodes and reduces lines; remembers the envelopes of the last runs from read to read."""

    def __init__(self) -> None:
        self._last_chunk: _Chunk | None = None
        self._envelopes: dict[_Chunk, _Envelope] = {}

    def take(
        self, drafts: Drafts, lines: Sequence[bytes], take_odd: Callable[[bytes, int], None]
    ) -> None:
        """Reduce lines in order; `take_odd` gets what is no well-formed update, and its index."""
        head, tail = _NO_HEAD, b""
        decode_string: Any = None
        append: Any = None
        for index, line in enumerate(lines):
            rest = line.removeprefix(head)  # the line itself where it has no such head
            if rest is not line:
                token = rest.removesuffix(tail)
                if token is not rest:
                    try:
                        append(decode_string(token))
                        continue
                    except Refused:
                        pass  # not one string: the line is decoded as a whole
            try:
                message = decode_update(line)
            except Refused:
                take_odd(line, index)
                head = _NO_HEAD  # the drafts may be others now
                continue
            params = message.params
            drafts.reduce(params.session_id, params.update)
            envelope = self._envelope(line, message)
            if envelope is not None:
                head, tail, decode_string = envelope.head, envelope.tail, envelope.decode
                append = _append(drafts, envelope.chunk)

    def _envelope(self, line: bytes, message: wire.UpdateMessage) -> _Envelope | None:
        """Return the envelope of the run that a line belongs to, if it is known or can be now."""
        chunk = _chunk(message)
        if chunk is None:
            return None
        known = self._envelopes.get(chunk)
        if known is None and chunk == self._last_chunk:
            known = self._learned(line, chunk)
        self._last_chunk = chunk
        return known

    def _learned(self, line: bytes, chunk: _Chunk) -> _Envelope | None:
        envelope = _learn(line, chunk)
        if envelope is not None:
            if len(self._envelopes) >= _ENVELOPES_KEPT:
                self._envelopes.clear()
            self._envelopes[chunk] = envelope
        return envelope


def _chunk(message: wire.UpdateMessage) -> _Chunk | None:
    """Return what a plain chunk is apart from its string, `None` for any other update."""
    event: Any = message.params.update
    kind = type(event)
    if kind is wire.TerminalOutputChunk:
        return (kind, event.terminal_id, message.params.session_id)
    if kind in _MESSAGE_TYPES and event.meta is None and _is_plain(event.content):
        return (kind, event.message_id, message.params.session_id)
    return None


def _is_plain(block: Any) -> bool:
    return type(block) is wire.TextContent and block.annotations is None and block.meta is None


def _learn(line: bytes, chunk: _Chunk) -> _Envelope | None:
    """Find the string of a chunk in its line, and prove that it is the one."""
    key, probe, decode = _STRINGS[chunk[0] is _OUTPUT]
    place = line.rfind(key) + len(key)
    found = _STRING.match(line, place)
    if found is None:
        return None
    head, tail = line[:place], line[found.end() :]
    proved = tail and _string_of(head + msgspec.json.encode(probe) + tail, chunk) == probe
    return _Envelope(chunk, head, tail, decode) if proved else None


def _string_of(line: bytes, chunk: _Chunk) -> str | bytes | None:
    """Decode a line; return its string if all else is as in `chunk`."""
    try:
        message = decode_update(line)
    except Refused:
        return None
    if _chunk(message) != chunk:
        return None
    event: Any = message.params.update
    string: str | bytes = event.data if type(event) is _OUTPUT else event.content.text
    return string


_OUTPUT: Final = wire.TerminalOutputChunk
_STRINGS: Final[tuple[tuple[bytes, Any, Any], ...]] = (
    (b'"text":', "probe", msgspec.json.Decoder(str).decode),
    (b'"data":', b"probe", msgspec.json.Decoder(bytes).decode),
)
"""For messages, and for output: the key of the string, a probe, and its decoder."""


def _append(drafts: Drafts, chunk: _Chunk) -> Callable[[Any], None]:
    kind, entity_id, session_id = chunk
    draft = drafts.draft(session_id)
    if kind is _OUTPUT:
        return draft.terminal(entity_id).fresh.append
    return draft.message(_MESSAGE_TYPES[kind], entity_id).fresh.append
