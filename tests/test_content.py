"""Growing content: what is stored and what is shown, texts, and what reading them costs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from traffic import chunk, text

import acp_client
from acp_client import ContentBlocks, Snapshot, ToolCallContents, wire
from acp_client import _content as content
from acp_client._content import stored_block, stored_item
from acp_client._items import accumulated_text
from acp_client._text import heal_surrogates

META = wire.JsonObject({"k": 1})
ANNOTATED = wire.TextContent("x", wire.Annotations(priority=1.0))
WITH_META = wire.TextContent("x", None, META)
IMAGE = wire.ImageContent("", "image/png")
BLOCKS: list[wire.ContentBlock] = [
    text("a"),
    ANNOTATED,
    IMAGE,
    WITH_META,
    wire.Unknown({"type": "_x"}),
    text(""),
]
ITEMS: list[wire.ToolCallContent] = [
    wire.Content(text("a")),
    wire.Content(ANNOTATED),
    wire.Content(text("b"), META),
    wire.Content(IMAGE),
    wire.Diff((wire.DiffAdd("/a"),)),
    wire.Terminal("t"),
    wire.Unknown({"type": "_x"}),
]


def test_plain_text_is_stored_as_a_string() -> None:
    """Only text that has nothing beside it becomes a string; the rest is stored as it is."""
    assert [stored_block(block) for block in BLOCKS] == ["a", *BLOCKS[1:5], ""]
    assert [stored_item(item) for item in ITEMS] == ["a", *ITEMS[1:]]


def test_what_is_shown_is_what_came() -> None:
    """Sequences show wire objects, whichever way they are read."""
    blocks, items = ContentBlocks.of(BLOCKS), ToolCallContents.of(ITEMS)
    assert list(blocks) == BLOCKS
    assert list(items) == ITEMS
    assert blocks[0] == BLOCKS[0]
    assert items[-1] == ITEMS[-1]
    assert blocks[1:3] == tuple(BLOCKS[1:3])
    assert list(reversed(items)) == ITEMS[::-1]
    assert text("a") in blocks
    assert text("b") not in blocks
    assert repr(ContentBlocks.of([IMAGE])).startswith("ContentBlocks([ImageContent(data=")


def test_text_is_that_of_the_text_blocks() -> None:
    """Text blocks are joined, styled ones too; anything else has no text."""
    assert ContentBlocks.of(BLOCKS).text == "axx"
    assert ToolCallContents.of(ITEMS).text == "axb"
    assert ContentBlocks.of([]).text == ""
    assert ToolCallContents.of([]).text == ""


@given(st.lists(st.text(alphabet=list("ab\ud83d\ude80\U0001f680"), max_size=4)), st.data())
def test_halves_of_characters_meet(texts: list[str], data: st.DataObject) -> None:
    """Text is joined as if it had never been cut, whenever it was read in between."""
    blocks = ContentBlocks.of([])
    for count, piece in enumerate(texts, 1):
        blocks = blocks._appended([piece])
        if data.draw(st.booleans()):
            assert blocks.text == heal_surrogates("".join(texts[:count]))
    whole = "".join(texts).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    joined = blocks.text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    assert joined == whole
    assert blocks.text == ContentBlocks.of([text(piece) for piece in texts]).text


def test_metadata_of_chunks_is_kept_by_place() -> None:
    """What chunks bring beside their blocks is known by the index of the block."""
    blocks = ContentBlocks.of([text("a")], [(0, META)])
    assert blocks.metas == ((0, META),)
    assert blocks._appended(["b"]).metas == ((0, META),)
    assert ContentBlocks.of([text("a")]).metas == ()
    assert blocks != ContentBlocks.of([text("a")])


# --- What reading costs, by counting ---


class Counted:
    """Counts what the accumulators of texts are fed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.fed = 0
        kind = content._TextAccumulator
        monkeypatch.setattr(kind, "feed", self._counting(kind.feed))

    def _counting(self, feed: Any) -> Any:
        def counted(accumulator: Any, items: list[Any]) -> None:
            self.fed += len(items)
            feed(accumulator, items)

        return counted


@pytest.mark.parametrize("batch", [1, 7])
def test_reading_text_after_every_batch_costs_what_came(
    batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over 2,000 chunks with the text read after every batch each chunk is joined once."""
    counted, snapshot = Counted(monkeypatch), Snapshot("s1")
    chunks = [chunk("x")] * batch
    for number in range(1, 2_000 // batch):
        snapshot = acp_client.apply_all(snapshot, chunks)
        message = snapshot.entries.message("agent_message", "m")
        assert message is not None
        assert len(message.text) == number * batch
    assert counted.fed == (2_000 // batch - 1) * batch


def test_streaming_copies_nothing() -> None:
    """10,000 chunks make one line of versions: each grew from the first, none was copied."""
    snapshot = acp_client.apply(Snapshot("s1"), chunk("x"))
    first = snapshot.entries.message("agent_message", "m")
    for _ in range(9_999):
        snapshot = acp_client.apply(snapshot, chunk("x"))
    last = snapshot.entries.message("agent_message", "m")
    assert first is not None
    assert last is not None
    assert last.content._grew_from(first.content)
    assert len(last.content) == 10_000
    assert accumulated_text(last.content, content._TextAccumulator) == "x" * 10_000
