"""Bytes to lines: one table of streams, each fed whole, in pieces and byte by byte."""

from __future__ import annotations

import sys
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_client._framing import TOO_LONG, Framer, is_blank

LIMIT = 8
STREAMS: list[tuple[bytes, list[bytes], bytes | None]] = [
    (b"", [], None),
    (b"a", [], b"a"),
    (b"a\n", [b"a\n"], None),
    (b"\n", [b"\n"], None),
    (b"\n\n", [b"\n", b"\n"], None),
    (b"a\r\nb\rc\n", [b"a\r\n", b"b\rc\n"], None),
    (b"a\x0bb\x0cc\x85d\n", [b"a\x0bb\x0cc\x85d\n"], None),
    (b"a\n\xe2\x80\xa8b\n", [b"a\n", b"\xe2\x80\xa8b\n"], None),
    (b"\x00\n", [b"\x00\n"], None),
    (b"12345678\nx", [b"12345678\n"], b"x"),
    (b"123456789\nx\n", [TOO_LONG, b"x\n"], None),
    (b"1234567890123456789\n\n", [TOO_LONG, b"\n"], None),
    (b"a\n123456789\n123456789\nb\n", [b"a\n", TOO_LONG, TOO_LONG, b"b\n"], None),
    (b"12345678", [], b"12345678"),
    (b"123456789", [], TOO_LONG),
    (b"a\n123456789012", [b"a\n"], TOO_LONG),
]


def fed(framer: Framer, stream: bytes, size: int) -> list[bytes]:
    """Feed a stream in pieces of one size."""
    return [
        line
        for start in range(0, len(stream), size)
        for line in framer.feed(stream[start : start + size])
    ]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 9, 100])
@pytest.mark.parametrize(("stream", "lines", "rest"), STREAMS)
def test_lines_of_a_stream(
    stream: bytes, lines: list[bytes], rest: bytes | None, size: int
) -> None:
    """However it is cut, a stream gives its lines, and at its end what is left."""
    framer = Framer(LIMIT)
    assert fed(framer, stream, size) == lines
    assert framer.end() == rest
    assert framer.end() is None
    assert framer.feed(b"next\n") == [b"next\n"]


@given(st.binary(max_size=60).map(lambda data: data.replace(b"1", b"\n")), st.integers(1, 61))
def test_any_stream(stream: bytes, size: int) -> None:
    """The lines and the rest are the stream, apart from what was too long."""
    framer = Framer(LIMIT)
    lines = fed(framer, stream, size)
    rest = framer.end()
    *expected, last = stream.split(b"\n")
    assert lines == [TOO_LONG if len(one) > LIMIT else one + b"\n" for one in expected]
    assert rest == (None if not last else TOO_LONG if len(last) > LIMIT else last)


def test_no_more_than_the_limit_is_held() -> None:
    """Of a line that does not end only as much is kept as may be a line."""
    framer, most = Framer(100), 0
    for _ in range(10_000):
        framer.feed(b"x" * 7)
        most = max(most, len(framer._begun))
    assert most <= 100
    assert framer.feed(b"\nok\n") == [TOO_LONG, b"ok\n"]


@pytest.mark.parametrize("size", [1, 2, 3])
def test_an_unfinished_line_takes_what_it_is_long(size: int) -> None:
    """A line that comes in tiny pieces takes no more memory than one that comes whole."""
    framer = Framer(100_000)
    for _ in range(0, 60_000, size):
        framer.feed(b"xyz"[:size])
    assert sys.getsizeof(framer._begun) < 75_000
    (line,) = framer.feed(b"\n")
    assert len(line) == 60_001


def test_much_at_once_is_cut_in_parts() -> None:
    """Of a read that is longer than a line may be only as much as a line is copied at a time."""
    framer = Framer(10_000)
    data = b"x" * 3_000_000
    tracemalloc.start()
    try:
        assert framer.feed(data) == []
        assert tracemalloc.get_traced_memory()[1] < 60_000
    finally:
        tracemalloc.stop()
    assert framer.feed(b"\nok\n") == [TOO_LONG, b"ok\n"]


@pytest.mark.parametrize(
    ("line", "blank"),
    [(b"\n", True), (b" \t\r\n", True), (b"", False), (b"\x0b\n", False), (b" x\n", False)],
)
def test_blank_lines(line: bytes, blank: bool) -> None:
    """Only what JSON calls blank is; what stands for a line that was too long is not."""
    assert is_blank(line) is blank
