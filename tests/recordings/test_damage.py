"""Broken on purpose: a recording is read or refused, never with a traceback, in linear time."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded_formats import CALL, EVERY, UPDATE, fixture, read
from traffic import BUNDLED

from acp_client import RecordingError, Store, feed, read_recording
from acp_client._recordings.formats import FORMAT_NAMES


def is_read(data: bytes, format_name: str | None = None) -> bool:
    """Read bytes; return whether they are a recording. The one error is that of recordings."""
    try:
        frames = read(data, format_name)[1]
    except RecordingError:
        return False
    return all(b"\n" not in frame.data for frame in frames) or pytest.fail("a line feed")


def check(data: bytes, format_name: str | None = None) -> None:
    """Read bytes, and feed what they hold to a store."""
    if is_read(data, format_name):
        feed(Store(), read_recording(io.BytesIO(data), format=format_name))


def cuts(data: bytes, step: int) -> Iterator[bytes]:
    """Return the beginnings of some bytes."""
    return (data[:length] for length in range(0, len(data), step))


@pytest.mark.parametrize("name", EVERY)
def test_a_format_is_cut_at_many_places(name: str) -> None:
    """Whatever is left of a recording, it is read or refused."""
    for part in cuts(fixture(name), 61):
        check(part)


@pytest.mark.long
@pytest.mark.parametrize("name", EVERY)
def test_a_format_is_cut_at_every_place(name: str) -> None:
    """The same at each offset."""
    for part in cuts(fixture(name), 1):
        is_read(part)


@pytest.mark.long
@pytest.mark.parametrize("path", sorted(BUNDLED.glob("*.ndjson")), ids=lambda path: path.stem)
def test_a_bundled_recording_is_cut(path: str) -> None:
    """The bundled recordings, cut in their first lines and in later ones."""
    with open(path, "rb") as stream:
        data = stream.read()
    for part in [*cuts(data[:2000], 1), *cuts(data, 997)]:
        is_read(part)


PIECES = st.sampled_from(
    [
        *(b'{}[]()"\\,:\n \'' [place : place + 1] for place in range(14)),
        b">>> ", b"<<< ", b"[agent] ", b"Sent:\n", b"Received:\n", b"data: ", b"event: x\n",
        b"\n\n", b"```\n", b"~~~\n", b"#1=", b"#1#", b" . ",
        b'(((:direction . incoming) (:object (id . 1)',
        CALL, UPDATE, b"{'jsonrpc': '2.0', 'method': 'session/update'}", b'"dir":"send"',
        b'"message":', b'"rawBase64":"\xc3\xa9"', b"\xff", b"\x00", b"\x1b[3m",
        b"2026-01-01T00:00:00Z ", b'"method":"proxy/successor","params":', b'"args":[{}]', b"null",
        b"1e400", b'"messages":[', b"Content-Length: 5\r\n\r\n", b"\xef\xbb\xbf", b"\xff\xfe",
        b"\x1f\x8b", b'{"method":"sessionUpdate","args":[]}', b'"envelope":{', b'"payload":',
    ]
)  # fmt: skip  # a table
"""What files of the formats are made of."""


@given(st.lists(PIECES, max_size=30).map(b"".join), st.none() | st.sampled_from(FORMAT_NAMES))
def test_pieces_of_formats_in_any_order(data: bytes, format_name: str | None) -> None:
    """Whatever the pieces of formats make together, it is read or refused."""
    check(data, format_name)


def test_raw_base64_that_is_none() -> None:
    """A line whose `rawBase64` is not ASCII is a problem of that line, and the next is read."""
    store = Store()
    lines = b'{"dir":"recv","ts":1,"message":null,"raw":"x","rawBase64":"\xc3\xa9"}\n'
    feed(store, read_recording(io.BytesIO(lines + b'{"dir":"recv","message":%s}\n' % UPDATE)))
    assert (store.problems[0].line, store.problems[0].kind) == (1, "not_json")


PATTERNS = {
    "brackets": b"[",
    "brackets of both kinds": b"[{",
    "objects in objects": b'{"a":',
    "objects in arrays": b'[{"a":',
    "lists": b"(",
    "lists of lists": b"(((:a",
    "quotes": b'"\\"',
    "entries of a log": b">>> {",
    "torn entries": b'[agent] {"\n',
    "labels": b"Sent:\n",
    "torn events": b'data: {"\n',
    "Python": b"{'a':",
    "brackets and blanks": b"[   ",
}


def seconds(data: bytes) -> float:
    """Return how long it takes to refuse bytes."""
    started = time.perf_counter()
    with pytest.raises(RecordingError):
        read(data)
    return time.perf_counter() - started


@pytest.mark.long
@pytest.mark.parametrize("name", PATTERNS)
def test_time_is_linear_in_the_file(name: str) -> None:
    """Four times as much of a hopeless file takes at most about four times as long."""
    pattern = PATTERNS[name]
    short, long = (pattern * (size // len(pattern)) for size in (250_000, 1_000_000))
    ratio = min(seconds(long) for _ in range(2)) / max(1e-3, min(seconds(short) for _ in range(3)))
    assert ratio < 9


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b"("])
def test_a_file_of_openings_is_refused(opening: bytes) -> None:
    """Nesting without an end is no recording, and exhausts nothing."""
    with pytest.raises(RecordingError, match="not a recording"):
        read(opening * 200_000)
