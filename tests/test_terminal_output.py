"""The output of terminals: bytes in pieces, what a limit drops, the text, and what that costs."""

from __future__ import annotations

import copy
import pickle
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_renderer import ToyRenderer, drawn
from traffic import event

import acp_client
from acp_client import Limits, OutputBytes, Snapshot, wire
from acp_client._terminal_output import bytes_left_out
from acp_client._terminal_text.growing import GrowingTranscript
from acp_client._terminal_text.parser import transcript

LIMIT = 6_000
LOG = b"\x1b[32mINFO\x1b[0m [%06d] compiling src/foo/bar_%d.rs ... ok\r\n"


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


def test_output_is_a_sequence_of_its_pieces() -> None:
    """Pieces are found by place, and what a limit dropped is not among them."""
    whole = output(b"ab", b"cd", b"ef")
    kept, _ = whole._limited(3)
    assert (list(whole), whole[1], whole[1:]) == ([b"ab", b"cd", b"ef"], b"cd", (b"cd", b"ef"))
    assert (list(kept), kept[0], len(kept), kept[-1]) == ([b"d", b"ef"], b"d", 2, b"ef")
    with pytest.raises(IndexError):
        kept[2]
    assert kept == output(b"def") == copy.deepcopy(kept) == pickle.loads(pickle.dumps(kept))
    assert kept != output(b"dex")
    assert kept != [b"d", b"ef"]


# --- Under a limit ---


@given(st.lists(st.binary(max_size=9)), st.integers(0, 12), st.data())
def test_versions_that_lose_their_beginning_stay_true(
    pieces: list[bytes], most: int, data: st.DataObject
) -> None:
    """Each version keeps its bytes and its text, whatever grew from it, and is found to grow."""
    versions, dropped, whole = [output()], [0], b""
    for piece in pieces:
        whole += piece
        version, count = versions[-1]._appended([piece])._limited(most)
        versions[-1]._appended([b"another branch"])
        versions.append(version)
        dropped.append(dropped[-1] + count)
        if data.draw(st.booleans()):
            assert version.text == transcript(version.data)
        assert version.data == whole[dropped[-1] :]
        assert version.size == min(len(whole), most)
    for (older, newer), (before, after) in zip(pairwise(versions), pairwise(dropped), strict=True):
        assert newer._dropped_since(older) == after - before
    for version in versions:
        assert version.text == transcript(version.data)


PIECES = st.sampled_from(
    [
        *(LOG % (number, number) * 20 for number in range(3)),
        *(b"\x1b]0;title", b"\x07", b"\x1b[", b"1K", "日本é".encode() * 300, b"x" * 5_000),
        *(b"\r10%", b"\n", b"\x1b[4000Gx", "e\u0301".encode() * 700),
    ]
)


@given(st.lists(PIECES, max_size=40), st.integers(0, 3))
def test_text_under_a_limit_is_that_of_the_bytes(pieces: list[bytes], every: int) -> None:
    """The text is that of the bytes from some place near the beginning on, whenever it is read."""
    limits = Limits(terminal_bytes=LIMIT)
    snapshot = Snapshot("s1")
    for number, piece in enumerate(pieces):
        update = wire.TerminalOutputChunk("t", piece)
        snapshot = acp_client.apply(snapshot, update, limits=limits)
        (terminal,) = snapshot.terminals
        left_out = bytes_left_out(terminal.dropped_bytes, len(terminal.output))
        assert left_out <= LIMIT // 32
        if every and number % every == 0:
            assert terminal.text == transcript(terminal.output[left_out:])
    if pieces:
        again = acp_client.loads(acp_client.dumps(snapshot))
        assert again.terminals[0].text == snapshot.terminals[0].text


@given(st.lists(PIECES, max_size=40))
def test_renderers_follow_output_under_a_limit(pieces: list[bytes]) -> None:
    """A renderer that applies changes has the bytes and the text, where a step begins anew too."""
    limits = Limits(terminal_bytes=LIMIT)
    old = acp_client.apply(Snapshot("s1"), event("terminal_update", terminalId="t"))
    renderer = ToyRenderer(old)
    for piece in pieces:
        new = acp_client.apply(old, wire.TerminalOutputChunk("t", piece), limits=limits)
        renderer.apply(acp_client.changes(old, new))
        assert renderer.drawn == drawn(new)
        old = new


@pytest.mark.parametrize("dropped", [0, 1, 127, 128, 5_000])
@pytest.mark.parametrize("kept", [0, 1, 4_096, 4_097, 100_000])
def test_text_begins_at_a_multiple(dropped: int, kept: int) -> None:
    """What is left out is little, nothing of a small output, and always up to a multiple."""
    left_out = bytes_left_out(dropped, kept)
    assert 0 <= left_out <= kept // 32
    if kept > 4_096:
        assert (dropped + left_out) % 128 == 0
    else:
        assert left_out == 0


# --- What reading costs, by counting ---


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Note how many bytes transcripts are fed."""
    fed: list[int] = []
    feed = GrowingTranscript._feed

    def counting(self: Any, data: bytes) -> None:
        fed.append(len(data))
        feed(self, data)

    monkeypatch.setattr(GrowingTranscript, "_feed", counting)
    return fed


def test_reading_output_after_every_batch_costs_what_came(monkeypatch: pytest.MonkeyPatch) -> None:
    """Over 1,000 chunks with the text read after each, each byte is looked at once."""
    fed, snapshot = counted(monkeypatch), Snapshot("s1")
    piece = event("terminal_output_chunk", terminalId="t", data="YQ==")
    for number in range(1, 1_000):
        snapshot = acp_client.apply(snapshot, piece)
        assert len(snapshot.terminals[0].text) == number
    assert sum(fed) == 999


def test_reading_limited_output_costs_what_came(monkeypatch: pytest.MonkeyPatch) -> None:
    """A full terminal's text is not made from the beginning when its beginning goes."""
    limits, snapshot = Limits(terminal_bytes=200_000), Snapshot("s1")
    update = wire.TerminalOutputChunk("t", LOG % (7, 7) * 100)
    for _ in range(2 * 200_000 // len(update.data)):
        snapshot = acp_client.apply(snapshot, update, limits=limits)
        assert snapshot.terminals[0].text
    fed = counted(monkeypatch)
    for _ in range(20):
        snapshot = acp_client.apply(snapshot, update, limits=limits)
        assert snapshot.terminals[0].text.endswith("bar_7.rs ... ok\n")
    assert sum(fed) <= 4 * 20 * len(update.data)
