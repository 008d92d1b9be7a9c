"""What grows inside an entry or a terminal: content blocks, tool call content, output bytes.

Plain text, which is nearly all that is ever streamed, is stored as the string itself and shown as
a `wire.TextContent` when somebody looks: a chunk costs one string and one place in a list. `stored`
and `shown` are that mapping, for both kinds of content.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self, TypeAlias, TypeVar

from . import wire
from ._containers import Items, accumulated_text
from ._errors import InvalidValueError
from ._text import heal_surrogates

T = TypeVar("T")


def stored_block(block: wire.ContentBlock) -> Any:
    """Return what stands for a content block inside `ContentBlocks`."""
    if type(block) is wire.TextContent and block.annotations is None and block.meta is None:
        return block.text
    return block


def stored_item(item: wire.ToolCallContent) -> Any:
    """Return what stands for a content item inside `ToolCallContents`."""
    if type(item) is wire.Content and item.meta is None:
        block = stored_block(item.content)
        return block if type(block) is str else item
    return item


def _text_of_block(block: Any) -> str:
    return block.text if type(block) is wire.TextContent else ""


def _text_of_item(item: Any) -> str:
    if type(item) is str:
        return item
    return _text_of_block(item.content if type(item) is wire.Content else item)


class _TextAccumulator:
    """The text blocks of some content, joined."""

    __slots__ = ("_joined",)

    def __init__(self) -> None:
        self._joined = ""

    def feed(self, items: list[Any]) -> None:
        more = heal_surrogates("".join(map(_text_of_item, items)))
        joined, self._joined = self._joined, ""
        if joined and "\ud800" <= joined[-1] <= "\udbff":
            joined = heal_surrogates(joined + more)
        else:
            joined += more  # extended in place: `joined` is the only reference to the string
        self._joined = joined

    def text(self) -> str:
        return self._joined


ChunkMeta: TypeAlias = tuple[int, wire.JsonObject]
"""An index into some content, and the `_meta` of the chunk that brought what is there."""


class _Content(Items[T]):
    """Items with the `_meta` of the chunks that brought them."""

    @property
    def metas(self) -> tuple[ChunkMeta, ...]:
        """The `_meta` of chunks, each with the index of the item that its chunk brought."""
        return tuple(self._metas) if self._metas is not None else ()

    def has_metas_of(self, other: _Content[Any]) -> bool:
        """Tell whether the `_meta` of chunks is the same here and there."""
        return self._metas is other._metas or bool(self._metas == other._metas)

    @property
    def text(self) -> str:
        """The text blocks joined, exactly as they came; anything else has no text."""
        return accumulated_text(self, _TextAccumulator)


class ContentBlocks(_Content[wire.ContentBlock]):
    """The content blocks of a message, a thought or a summary: an immutable sequence."""

    @classmethod
    def of(
        cls, blocks: Iterable[wire.ContentBlock], metas: Iterable[ChunkMeta] = ()
    ) -> ContentBlocks:
        """Make a sequence of blocks as they come from the wire."""
        return cls.made([stored_block(block) for block in blocks], tuple(metas))

    def _shown(self, item: Any) -> wire.ContentBlock:
        return wire.TextContent(item) if type(item) is str else item


class ToolCallContents(_Content[wire.ToolCallContent]):
    """The content of a tool call: an immutable sequence of content, diffs and terminals."""

    @classmethod
    def of(
        cls, items: Iterable[wire.ToolCallContent], metas: Iterable[ChunkMeta] = ()
    ) -> ToolCallContents:
        """Make a sequence of items as they come from the wire."""
        return cls.made([stored_item(item) for item in items], tuple(metas))

    def _shown(self, item: Any) -> wire.ToolCallContent:
        return wire.Content(wire.TextContent(item)) if type(item) is str else item


class _TranscriptAccumulator:
    """What a terminal would show of the pieces so far."""

    __slots__ = ("_shown", "_tail")

    def __init__(self) -> None:
        # Only who shows terminals needs it: importing the package does not wait for it.
        from ._terminal_text import TranscriptTail

        self._shown = ""
        self._tail = TranscriptTail()

    def feed(self, items: list[bytes]) -> None:
        line = self._tail.line
        self._tail, settled = self._tail.fed(b"".join(items))
        more = settled + self._tail.line
        shown, self._shown = self._shown, ""
        if more.startswith(line):
            more = more[len(line) :]
        elif line:  # what was the last line is another one now
            shown = shown[: -len(line)]
        shown += more  # extended in place: `shown` is the only reference to the string
        self._shown = shown

    def text(self) -> str:
        return self._shown


class OutputBytes(Items[bytes]):
    """The output of a terminal as the pieces it came in."""

    _size: int = 0

    @property
    def data(self) -> bytes:
        """All bytes, exactly as they came."""
        return b"".join(self.stored())

    @classmethod
    def made(cls, items: Sequence[bytes], metas: Sequence[Any] | None = None) -> Self:
        """Make an output of pieces."""
        version = super().made(items)
        version._size = sum(map(len, items))
        return version

    def appended(self, items: Sequence[bytes], metas: Sequence[Any] | None = None) -> Self:
        """Return the version with more pieces at the end."""
        version = super().appended(items)
        version._size = self._size + sum(map(len, items))
        return version

    @property
    def size(self) -> int:
        """How many bytes there are."""
        return self._size

    def data_from(self, offset: int) -> bytes:
        """Return the bytes from an offset on, at the cost of what came since then.

        Raises `InvalidValueError` for an offset that is not in the output.
        """
        missing = self._size - offset
        if not 0 <= missing <= self._size:
            raise InvalidValueError(f"{offset} is not an offset in {self._size} bytes of output")
        pieces: list[bytes] = []
        for piece in reversed(self):
            if missing <= 0:
                break
            pieces.append(piece[-missing:])
            missing -= len(piece)
        return b"".join(reversed(pieces))

    def _equals(self, other: Items[Any]) -> bool:
        """Compare the bytes: how they were cut is no difference."""
        if self._lineage is other._lineage:
            shorter, longer = sorted((self, other), key=len)
            return not any(longer.stored(len(shorter)))
        return b"".join(self.stored()) == b"".join(other.stored())

    def limited(self, most: int) -> tuple[OutputBytes, int]:
        """Return the last `most` bytes, and how many were dropped before them."""
        surplus = self._size - most
        if surplus <= 0:
            return self, 0
        kept = self.data[surplus:]
        return OutputBytes.made([kept] if kept else []), surplus

    @property
    def text(self) -> str:
        """What a terminal would show of the bytes, as plain text without control characters."""
        return accumulated_text(self, _TranscriptAccumulator)
