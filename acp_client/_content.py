"""The growing content of an entry: content blocks and the content of tool calls.

Plain text, which is most of what is streamed, is stored as the string itself and converted to a
`wire.TextContent` when it is read: a chunk costs one string and one place in a list. `stored` and
`shown` are that mapping, for both kinds of content.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, Self, TypeAlias, TypeVar

from . import wire
from ._errors import InvalidValueError, checked
from ._grown_text import GrownText, grown
from ._items import Items, accumulated_text
from ._text import heal_surrogates

T = TypeVar("T")


def stored_block(block: wire.ContentBlock) -> Any:
    """Return the stored form of a content block in `ContentBlocks`."""
    if type(block) is wire.TextContent and block.annotations is None and block.meta is None:
        return block.text
    return block


def stored_item(item: wire.ToolCallContent) -> Any:
    """Return the stored form of a content item in `ToolCallContents`."""
    if type(item) is wire.Content and item.meta is None:
        block = stored_block(item.content)
        return block if type(block) is str else item
    return item


def _text_of_block(block: Any) -> str:
    return block.text if type(block) is wire.TextContent else ""


def _text_of_item(item: Any) -> str:
    if type(item) is str or type(item) is GrownText:
        return str(item)
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


_BLOCKS: Final = (*wire.variants(wire.ContentBlock), wire.Unknown)
_ITEMS: Final = (*wire.variants(wire.ToolCallContent), wire.Unknown)


def _checked(items: Iterable[T], kinds: tuple[Any, ...]) -> Iterable[T]:
    """Yield the items. Raises `InvalidValueError` for an item of any other class."""
    for item in checked(items, Iterable, "a sequence of content"):
        if not isinstance(item, kinds):
            raise InvalidValueError(f"expected content of `acp_client.wire`, not {item!r:.100}")
        yield item


_FEW: Final = 4
"""The number of items up to which texts are joined on each access, so no version keeps a copy."""


def _sharing(was: Any, item: Any) -> Any:
    return grown(was, item) if type(item) is str else item


def shown_text(item: Any) -> str | None:
    """Return the text of a stored item that is text alone, `None` for any other item."""
    return str(item) if type(item) is str or type(item) is GrownText else None


ChunkMeta: TypeAlias = tuple[int, wire.JsonObject]
"""An index into some content, and the `_meta` of the chunk that brought what is there."""


class _Content(Items[T]):
    """Items with the `_meta` of the chunks that brought them."""

    @property
    def metas(self) -> tuple[ChunkMeta, ...]:
        """The `_meta` of chunks, each with the index of the item that its chunk brought."""
        return tuple(self._metas) if self._metas is not None else ()

    @property
    def text(self) -> str:
        """The text blocks joined, exactly as they came; other items have no text."""
        if self._length <= _FEW:
            return heal_surrogates("".join(map(_text_of_item, self._stored())))
        return accumulated_text(self, _TextAccumulator)

    @classmethod
    def _replacing(
        cls, before: Self, items: Sequence[Any], metas: Sequence[ChunkMeta] | None
    ) -> Self:
        """Return content with stored items, or `before` if it is equal; long texts are shared."""
        were = before._stored()[: len(items)]
        after = cls._made([*map(_sharing, were, items), *items[len(were) :]], metas)
        return before if after == before else after


class ContentBlocks(_Content[wire.ContentBlock]):
    """The content blocks of a message, a thought or a summary: an immutable sequence."""

    @classmethod
    def of(
        cls, blocks: Iterable[wire.ContentBlock], metas: Iterable[ChunkMeta] = ()
    ) -> ContentBlocks:
        """Make a sequence of blocks as they come from the wire.

        Raises `InvalidValueError` for an item that is not a content block.
        """
        return cls._made([stored_block(block) for block in _checked(blocks, _BLOCKS)], tuple(metas))

    def _shown(self, item: Any) -> wire.ContentBlock:
        text = shown_text(item)
        return item if text is None else wire.TextContent(text)


class ToolCallContents(_Content[wire.ToolCallContent]):
    """The content of a tool call: an immutable sequence of content, diffs and terminals."""

    @classmethod
    def of(
        cls, items: Iterable[wire.ToolCallContent], metas: Iterable[ChunkMeta] = ()
    ) -> ToolCallContents:
        """Make a sequence of items as they come from the wire.

        Raises `InvalidValueError` for an item that is not content of a tool call.
        """
        return cls._made([stored_item(item) for item in _checked(items, _ITEMS)], tuple(metas))

    def _shown(self, item: Any) -> wire.ToolCallContent:
        text = shown_text(item)
        return item if text is None else wire.Content(wire.TextContent(text))
