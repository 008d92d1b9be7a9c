"""Growing content: what is stored and what is shown, texts, output, and what reading them costs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from traffic import chunk, event, text

import acp_client
from acp_client import ContentBlocks, OutputBytes, Snapshot, ToolCallContents, wire
from acp_client import _content as content
from acp_client import _terminal_output as terminal_output
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
    assert repr(ContentBlocks.of([IMAGE])) == f"ContentBlocks([{IMAGE!r}])"


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
    assert blocks._has_metas_of(blocks._appended(["b"]))
    assert not blocks._has_metas_of(ContentBlocks.of([text("a")]))


# --- Output ---


def output(*pieces: bytes) -> OutputBytes:
    """Make an output of pieces."""
    return OutputBytes._made(list(pieces))


@given(st.lists(st.binary(max_size=6)), st.data())
def test_output_is_its_bytes(pieces: list[bytes], data: st.DataObject) -> None:
    """How output was cut is no difference, to its bytes, its text or its equality."""
    whole = b"".join(pieces)
    grown = output()
    for piece in pieces:
        grown = grown._appended([piece])
    assert grown.data == whole
    assert grown.text == output(whole).text
    assert grown == output(whole)
    assert (grown == output(whole + b"x")) is False
    most = data.draw(st.integers(0, len(whole) + 2))
    kept, dropped = grown._limited(most)
    assert kept.data == (whole[-most:] if most else b"")
    assert dropped == max(0, len(whole) - most)
    assert (kept is grown) == (dropped == 0)


@given(st.lists(st.binary(max_size=4)), st.lists(st.binary(max_size=4)))
def test_output_is_compared_by_bytes(base: list[bytes], more: list[bytes]) -> None:
    """A version is equal to one that it grew from only if nothing came since then."""
    older = output(*base)
    newer = older._appended(more)
    assert (older == newer) == (newer == older) == (b"".join(more) == b"")


@given(st.lists(st.binary(max_size=4)), st.data())
def test_output_is_read_from_an_offset(pieces: list[bytes], data: st.DataObject) -> None:
    """Bytes can be read from any offset on; an offset that is not there is an error."""
    grown = output()
    for piece in pieces:
        grown = grown._appended([piece])
    offset = data.draw(st.integers(0, grown.size))
    assert grown.size == len(b"".join(pieces))
    assert grown.data_from(offset) == b"".join(pieces)[offset:]
    for wrong in (-1, grown.size + 1):
        with pytest.raises(acp_client.InvalidValueError):
            grown.data_from(wrong)


@pytest.mark.parametrize(
    ("pieces", "shown"),
    [
        ([b"a", b"b\n"], "ab\n"),
        ([b"10%\r", b"20%"], "20%"),
        ([b"\xf0\x9f", b"\x9a\x80"], "\U0001f680"),
        ([b"\x1b[3", b"1mred\x1b[0m"], "red"),
        ([b"\xff"], "\ufffd"),
        ([], ""),
    ],
)
def test_output_is_shown_as_a_terminal_would(pieces: list[bytes], shown: str) -> None:
    """Characters and escapes that were cut in two are whole again, and no control is left."""
    grown = output()
    for piece in pieces:
        grown = grown._appended([piece])
        grown.text  # noqa: B018  # reading on the way must not matter
    assert grown.text == shown


# --- What reading costs, by counting ---


class Counted:
    """Counts what the accumulators of texts are fed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.fed = 0
        for kind in (content._TextAccumulator, terminal_output._TranscriptAccumulator):
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


def test_reading_output_after_every_batch_costs_what_came(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The same holds for the text of a terminal."""
    counted, snapshot = Counted(monkeypatch), Snapshot("s1")
    piece = event("terminal_output_chunk", terminalId="t", data="YQ==")
    for number in range(1, 1_000):
        snapshot = acp_client.apply(snapshot, piece)
        assert len(snapshot.terminals[0].text) == number
    assert counted.fed == 999


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
