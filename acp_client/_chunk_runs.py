"""The hot path: reduce the lines of one read onto the drafts of their sessions.

Most of what an agent sends is runs of lines that differ in one string: the text of the next chunk
of one message or tool call, or the data of the next output chunk of one terminal. The rest of such
a line, its envelope, is the same bytes every time. So an envelope is learned once and then compared
as bytes, and only the string between its two halves is decoded. The theory:

- A JSON text with one string token replaced by another string token parses to the same value, with
  that string replaced. So if `head + token + tail` was a chunk whose text is that token, then
  `head + other + tail` is the same chunk with the other text, whatever `other` is, provided that
  `other` is exactly one JSON string. The strict decoder of a single string proves that; if it
  refuses, the line is decoded as a whole.
- Two lines of a run, both decoded as a whole, prove which token is the chunk's text: they differ in
  that token alone and have different texts. If the text were another token, it would be the same in
  both.
- The next run of the same kind usually has the same envelope with another id in it. If the old id
  stands in the old head exactly once, as a string token, then the id comes from that token:
  otherwise the line, decoded as a whole, would not have the new id with the new token there. So the
  new head is the old one with the new id, and one matching line is enough.

The `Words` of a version define which lines begin a run and what its strings are appended to. In v1
a chunk may have no id; its run then ends with the first line that does not belong to it.

Learning costs about two typed decodes per run. A line with a known envelope then costs less than
its typed decode (benchmark "bytes to snapshot").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from operator import attrgetter
from typing import Any, ClassVar, Final, NamedTuple, Protocol, TypeAlias

import msgspec
from msgspec import Struct

from . import wire
from ._decode import read_update
from ._framing import is_blank
from ._reducer import MESSAGE_TYPES, Drafts
from ._typed import Refused

Chunk: TypeAlias = tuple[type, tuple[str, ...], str]
"""A chunk without its string: its class, its ids (that of its entity last), and its session."""


class _Envelope(Struct, frozen=True, gc=False, eq=False):
    """The bytes around the string of a run's chunks, and the decoder of that string."""

    chunk: Chunk
    head: bytes
    tail: bytes
    decode: Callable[[bytes], Any]

    def string(self, line: bytes) -> str | bytes | None:
        """Return the string of a line, or `None` if the line does not belong to the run."""
        rest = line.removeprefix(self.head)
        string = rest.removesuffix(self.tail)
        if rest is line or string is rest:
            return None
        try:
            return self.decode(string)  # type: ignore[no-any-return]  # a string decoder
        except Refused:
            return None


class Reading(Struct, frozen=True, gc=False, eq=False):
    """How the string of a kind of chunk is found in the line, and in the event."""

    key: bytes
    decode: Callable[[bytes], Any]
    string: Callable[[Any], Any]
    ids: Callable[[Any], tuple[str, ...]]


class Words(Protocol):
    """The meaning of the lines in one version of the protocol."""

    strings: ClassVar[Mapping[type, Reading]]
    """How the chunks of runs are read, by the class of the update."""

    is_steady: ClassVar[bool]
    """Whether a run continues after other lines have come in between."""

    def read(self, line: bytes, after_unknown: bool) -> Any:
        """Return the parameters of a well-formed update; `None` for any other line."""
        ...

    def reduce(self, drafts: Drafts, session_id: str, update: Any) -> bool | None:
        """Reduce an update; return `False` if it must be read as an odd line."""
        ...

    def append(self, drafts: Drafts, chunk: Chunk) -> Callable[[Any], None] | None:
        """Return the function that appends a chunk's string to its entity, or `None`."""
        ...


@cache
def _string() -> Callable[[bytes, int], re.Match[bytes] | None]:
    """Return the pattern of a JSON string, compiled when it is first needed."""
    return re.compile(rb' *("[^"\\]*(?:\\.[^"\\]*)*")').match


_NO_HEAD: Final = b"\n\n"
"""A head that no line has: the only line feed of a line is its last byte."""

_ENVELOPES_KEPT: Final = 16

_LONGEST_LEARNED: Final = 65_536
"""Longer lines, in bytes, are not kept: their cost is that of the text, not of the envelope."""


_ODD: Final[Any] = object()


class _Run(NamedTuple):
    """A run that has begun: its envelope, and the entity that its strings are appended to."""

    head: bytes
    tail: bytes
    decode: Callable[[bytes], Any]
    append: Callable[[Any], None]


class Intake:
    """Decodes and reduces lines, and remembers the envelopes of the last runs between reads."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self._after_unknown = False
        self._envelopes: dict[Chunk, _Envelope] = {}
        self._former: dict[type, _Envelope] = {}
        self._last: tuple[Chunk, bytes, str | bytes] | None = None

    def take(
        self, drafts: Drafts, lines: Sequence[bytes], take_odd: Callable[[bytes, int], bool]
    ) -> int:
        """Reduce lines in order and return how many were reduced.

        `take_odd` is called with each line that is not a well-formed update, and with its index; it
        returns whether to continue.
        """
        head, tail = _NO_HEAD, b""
        decode_string: Any = None
        append: Any = None
        is_steady = self._words.is_steady
        for index, line in enumerate(lines):
            rest = line.removeprefix(head)  # the line itself where it has no such head
            if rest is not line:
                string = rest.removesuffix(tail)
                if string is not rest:
                    try:
                        append(decode_string(string))
                        continue
                    except Refused:
                        pass  # not one string: the line is decoded as a whole
            if not is_steady:
                head = _NO_HEAD
            begun = self._take_whole(drafts, line)
            if begun is _ODD:
                head = _NO_HEAD  # the drafts may have been replaced
                if not take_odd(line, index):
                    return index + 1
            elif begun is not None:
                head, tail, decode_string, append = begun
        return len(lines)

    def _take_whole(self, drafts: Drafts, line: bytes) -> Any:
        """Reduce a line that is decoded as a whole; return the run that it begins, if any.

        Returns `_ODD` for a line that is not a well-formed update.
        """
        if is_blank(line):
            return None
        params = self._words.read(line, self._after_unknown)
        if params is None:
            return _ODD
        event: Any = params.update
        if self._words.reduce(drafts, params.session_id, event) is False:
            return _ODD
        self._after_unknown = type(event) is wire.Unknown
        if type(event) not in self._words.strings:
            return None
        envelope = self._envelope(line, params.session_id, event)
        append = None if envelope is None else self._words.append(drafts, envelope.chunk)
        if envelope is None or append is None:
            return None
        return _Run(envelope.head, envelope.tail, envelope.decode, append)

    def _envelope(self, line: bytes, session_id: str, event: Any) -> _Envelope | None:
        """Return the envelope of the run of a chunk, or `None` if it is not known yet."""
        kind = type(event)
        read = self._words.strings[kind]
        string = read.string(event)
        if string is None or len(line) > _LONGEST_LEARNED:
            return None
        chunk = (kind, read.ids(event), session_id)
        known = self._envelopes.get(chunk)
        if known is None:
            known = self._learned(chunk, line, string)
            self._last = (chunk, line, string)
        return known

    def _learned(self, chunk: Chunk, line: bytes, string: Any) -> _Envelope | None:
        former = self._former.get(chunk[0])
        envelope = None if former is None else _carried_over(former, chunk, line, string)
        if envelope is None and self._last is not None and self._last[0] == chunk:
            reading = self._words.strings[chunk[0]]
            envelope = _found(chunk, reading, self._last[1:], (line, string))
        if envelope is not None:
            self._keep(envelope)
        return envelope

    def _keep(self, envelope: _Envelope) -> None:
        if len(self._envelopes) >= _ENVELOPES_KEPT:
            self._envelopes.clear()
        self._envelopes[envelope.chunk] = self._former[envelope.chunk[0]] = envelope


def _carried_over(former: _Envelope, chunk: Chunk, line: bytes, string: Any) -> _Envelope | None:
    """Derive the envelope of a run from that of an earlier one, if they differ in ids alone."""
    head, olds, news = former.head, former.chunk[1], chunk[1]
    if former.chunk[2] != chunk[2] or len(olds) != len(news):
        return None
    for old, new in dict(zip(olds, news, strict=True)).items():
        token = msgspec.json.encode(old)
        if head.count(token) != olds.count(old):
            return None
        head = head.replace(token, msgspec.json.encode(new))
    envelope = _Envelope(chunk, head, former.tail, former.decode)
    return envelope if envelope.string(line) == string else None


def _found(
    chunk: Chunk, reading: Reading, first: tuple[bytes, Any], second: tuple[bytes, Any]
) -> _Envelope | None:
    """Return the envelope of two lines of a run, or `None` if it cannot be proved."""
    line, string = second
    if string == first[1]:
        return None
    place = line.rfind(reading.key) + len(reading.key)
    found = _string()(line, place)
    if found is None:
        return None
    head, tail = line[: found.start(1)], line[found.end() :]
    envelope = _Envelope(chunk, head, tail, reading.decode)
    proved = envelope.string(first[0]) == first[1] and envelope.string(line) == string
    return envelope if proved else None


def _text_of_message(event: Any) -> str | None:
    """Return the text of a message chunk that holds nothing but text."""
    return _text(event, event.content)


def _text(event: Any, block: Any) -> str | None:
    if event.meta is not None or type(block) is not wire.TextContent:
        return None
    text: str = block.text
    return text if block.annotations is None and block.meta is None else None


def _text_of_item(event: Any) -> str | None:
    """Return the text of a tool call's content chunk that holds nothing but text."""
    item = event.content
    return _text(event, item.content) if type(item) is wire.Content and item.meta is None else None


decode_text: Final[Callable[[bytes], str]] = msgspec.json.Decoder(str).decode

_TEXT: Final = Reading(b'"text":', decode_text, _text_of_message, lambda chunk: (chunk.message_id,))
_ITEM: Final = Reading(b'"text":', decode_text, _text_of_item, lambda chunk: (chunk.tool_call_id,))
_DATA: Final = Reading(
    b'"data":',
    msgspec.json.Decoder(bytes).decode,
    attrgetter("data"),
    lambda chunk: (chunk.terminal_id,),
)


class WordsV2:
    """The lines of v2: each chunk names its entity."""

    is_steady: ClassVar[bool] = True
    strings: ClassVar[Mapping[type, Reading]] = {
        wire.UserMessageChunk: _TEXT,
        wire.AgentMessageChunk: _TEXT,
        wire.AgentThoughtChunk: _TEXT,
        wire.ToolCallContentChunk: _ITEM,
        wire.TerminalOutputChunk: _DATA,
    }

    def read(self, line: bytes, after_unknown: bool) -> Any:
        """Return the parameters of a well-formed update; `None` for any other line."""
        return read_update(line, unknown_first=after_unknown)

    def reduce(self, drafts: Drafts, session_id: str, update: Any) -> None:
        """Reduce an update."""
        drafts.reduce(session_id, update)

    def append(self, drafts: Drafts, chunk: Chunk) -> Callable[[Any], None]:
        """Return the function that appends a chunk's string to its entity."""
        kind, (entity_id,), session_id = chunk
        draft = drafts.draft(session_id)
        if kind is wire.TerminalOutputChunk:
            return draft.terminal(entity_id).fresh.append
        if kind is wire.ToolCallContentChunk:
            return draft.tool_call(entity_id).fresh.append
        return draft.message(MESSAGE_TYPES[kind], entity_id).fresh.append
