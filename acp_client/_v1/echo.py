"""Whether a user message chunk is the agent's echo of a prompt.

A v1 client shows a prompt when it sends it. Most agents leave it at that; some report the message
back, and it must not appear twice. Nothing in v1 ties such an echo to its prompt, so it is known by
its content alone. The theory:

- A prompt is *awaited* from sending on: until it was echoed to its end, or another prompt was sent
  and this one was answered before. So a late echo, after the result or after a cancel, is known,
  and a message of months ago is not.
- Each awaited prompt has a *cursor*, a block and an offset into its text. A chunk advances the
  cursor if it is the next block, a piece of the text that comes next, or text that spans several
  blocks. Blocks may be left out, since agents echo what they understand: a chunk may be found in
  any later block. A link or a resource may come back as the other of the two, or as text.
- In the middle of a text it may still turn out that the pieces so far were not an echo. They are
  *held*, with every cursor that they fit, and are returned when the next one fits none.
- At the end of a block, cursors of earlier prompts are dropped: echoes come in order.
- A chunk may be *cumulative*: all of the block's text so far, and more of it.
- Blank text that fits nowhere is taken for what an agent puts between the blocks.

Chunks that are not an echo are returned, in order, as a message of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from msgspec import Struct

from .. import wire

T = TypeVar("T")

Blocks = Sequence[wire.ContentBlock]

_MOST_AWAITED = 16


class _Awaited(Struct):
    """A prompt whose echo may come; `block` and `offset` are the cursor."""

    request_id: wire.RequestId
    blocks: Blocks
    block: int = 0
    offset: int = 0
    answered: bool = False

    def at(self, block: int, offset: int = 0) -> _Awaited:
        return _Awaited(self.request_id, self.blocks, block, offset, self.answered)

    @property
    def is_done(self) -> bool:
        return self.block >= len(self.blocks)

    def advanced(self, chunk: wire.ContentBlock) -> _Awaited | None:
        """Return the cursor behind a chunk, `None` where it does not fit."""
        if isinstance(chunk, wire.TextContent):
            return self._behind_text(chunk.text)
        identity = _identity(chunk)
        places = range(self.block, len(self.blocks))
        found = (place for place in places if _identity(self.blocks[place]) == identity)
        return next((self.at(place + 1) for place in found), None)

    def _behind_text(self, text: str) -> _Awaited | None:
        for place in range(self.block, len(self.blocks)):
            block = self.blocks[place]
            offset = self.offset if place == self.block else 0
            if not isinstance(block, wire.TextContent):
                found = self.at(place + 1) if text.strip() in _as_text(block) else None
            else:
                found = self._in_text(text, place, block.text, offset)
            if found is not None:
                return found
        return None

    def _in_text(self, text: str, place: int, whole: str, offset: int) -> _Awaited | None:
        """Look for a text in one block from an offset on, and in those behind it."""
        if not text:
            return self
        end = offset + len(text)
        if whole.startswith(text, offset):
            return self.at(place + 1) if end == len(whole) else self.at(place, end)
        if end > len(whole) and text.startswith(whole[offset:]):
            behind = self._spanning(text[len(whole) - offset :], place + 1)
            if behind is not None:
                return behind
        if whole.startswith(text) and len(text) >= offset > 0:
            return self.at(place + 1) if text == whole else self.at(place, len(text))
        same = offset == 0 and text.strip() == whole.strip()
        return self.at(place + 1) if same else None

    def _spanning(self, rest: str, place: int) -> _Awaited | None:
        """Return the cursor behind text that goes on into the blocks from one on, without gaps."""
        while rest and place < len(self.blocks):
            block = self.blocks[place]
            if not isinstance(block, wire.TextContent):
                rest = _without_start(rest, _as_text(block))
            elif block.text.startswith(rest):
                return self.at(place + 1) if block.text == rest else self.at(place, len(rest))
            elif rest.startswith(block.text):
                rest = rest.removeprefix(block.text)
            elif rest[0].isspace():
                rest, place = rest.lstrip(), place - 1
            else:
                return None
            place += 1
        return None if rest.strip() else self.at(place)


class Echoes(Generic[T]):
    """The awaited echoes of one session; `T` is whatever the caller has of a chunk."""

    def __init__(self) -> None:
        self._awaited: list[_Awaited] = []
        self._fitting: list[_Awaited] = []
        self._held: list[T] = []

    def prompt(self, request_id: wire.RequestId, blocks: Blocks) -> None:
        """Await the echo of a prompt that was sent."""
        last = self._awaited[-1:]
        waiting = [item for item in self._awaited if not item.answered or item in last]
        kept = [item for item in waiting if not item.is_done]
        self._awaited = [*kept, _Awaited(request_id, blocks)][-_MOST_AWAITED:]
        self._fitting, self._held = [], []

    def answered(self, request_id: wire.RequestId) -> None:
        """Record that a prompt was answered."""
        for item in (*self._awaited, *self._fitting):
            item.answered |= item.request_id == request_id

    def take(self, block: wire.ContentBlock, chunk: T) -> list[T]:
        """Return the chunks that are not an echo: none, this one, or those held and this one."""
        cursors = self._fitting or self._awaited
        advanced = [item for item in (cursor.advanced(block) for cursor in cursors) if item]
        if advanced:
            self._advance(advanced, chunk)
            return []
        if self._held:
            given_back, self._held, self._fitting = self._held, [], []
            return [*given_back, *self.take(block, chunk)]
        return [] if self._awaited and _is_blank(block) else [chunk]

    def _advance(self, advanced: list[_Awaited], chunk: T) -> None:
        settled = next((item for item in advanced if item.offset == 0), None)
        if settled is None:
            self._fitting = advanced
            self._held.append(chunk)
            return
        ids = [item.request_id for item in self._awaited]
        behind = self._awaited[ids.index(settled.request_id) + 1 :]
        self._awaited, self._fitting, self._held = [settled, *behind], [], []


def _without_start(text: str, starts: tuple[str, ...]) -> str:
    """Cut the longest start that a text has, blanks before it aside."""
    found = [start for start in starts if start and text.lstrip().startswith(start)]
    return text.lstrip()[len(max(found, key=len)) :] if found else text


def _is_blank(block: wire.ContentBlock) -> bool:
    return isinstance(block, wire.TextContent) and not block.text.strip()


def _identity(block: wire.ContentBlock) -> Any:
    """Return what makes two blocks the same, though details of them differ."""
    match block:
        case wire.ImageContent() | wire.AudioContent():
            return (block.__struct_config__.tag, block.data or block)
        case wire.ResourceLink():
            return ("resource", block.uri)
        case wire.EmbeddedResource():
            return ("resource", getattr(block.resource, "uri", None))
        case wire.TextContent():
            return ("text", block.text)
    return block


def _as_text(block: wire.ContentBlock) -> tuple[str, ...]:
    """Return the texts by which agents echo a block that is not text."""
    match block:
        case wire.ResourceLink(uri=uri, name=name):
            return (uri, name, f"@{name}", f"[@{name}]({uri})", f"[{name}]({uri})")
        case wire.EmbeddedResource(resource=wire.TextResourceContents(text=text, uri=uri)):
            return (uri, text.strip())
        case wire.EmbeddedResource(resource=wire.BlobResourceContents(uri=uri)):
            return (uri,)
    return ()
