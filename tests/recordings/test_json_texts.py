"""JSON texts are cut out of a stream, in any blocks."""

from __future__ import annotations

from typing import Any, BinaryIO, cast

from hypothesis import given
from hypothesis import strategies as st
from recorded_formats import (
    CALL,
    Trickle,
)

from acp_client._recordings.frames import Tally
from acp_client._recordings.json_texts import ARRAY, TEXTS, Nesting, texts
from acp_client._recordings.reading import read_recording


@given(
    st.lists(st.sampled_from([b'{"a":"]}\\""}', b"{}", b'[[],"["]', b'{"b":{"c":[1]}}'])),
    st.integers(1, 9),
    st.sampled_from([TEXTS, ARRAY, Nesting(2, "list", "head")]),
)
def test_texts_are_cut_out_of_any_blocks(parts: list[bytes], size: int, layout: Nesting) -> None:
    """Texts come out the same from blocks of any size, in every layout."""
    joined = b" ,\n".join(parts)
    data = {
        0: joined,
        1: b" [ " + joined + b" ]\n",
        2: b'{"x": "list", "list": {"y": []}, "head": {"z":1}, "list" :[' + joined + b'], "a":[1]}',
    }[layout.depth]
    tally = Tally()
    found = list(texts(cast("Any", Trickle(data, size)).read, layout, tally))
    if layout.depth == 2:
        assert found.pop(0) == (0, b'{"z":1}')
    assert found == list(enumerate(parts, 1))
    assert tally == Tally()


def test_text_longer_than_a_block() -> None:
    """A text of megabytes in small blocks costs no more than its length."""
    long = b'{"jsonrpc":"2.0","method":"x","params":"%s"}' % (b'\\"' * 2_000_000)
    recording = read_recording(cast("BinaryIO", Trickle(b"[" + long + b",\n" + CALL + b"]", 60000)))
    assert [frame.data for frame in recording] == [long, CALL]
