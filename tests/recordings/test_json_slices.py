"""JSON texts are cut apart without changing a byte."""

from __future__ import annotations

import pytest
from recorded_formats import (
    DEEP,
)

from acp_client._json import NotJson
from acp_client._recordings.json_slices import (
    compact,
    elements,
    members,
    string,
    value,
)


@pytest.mark.parametrize(
    "data",
    [
        b"5",
        b"[1]",
        b"{",
        b'{"a":1}x',
        b'{"a":NaN}',
        b"[[" * 60000,
        b"{]" * 60000,
        b"\xff",
        b'{"a":' + DEEP,
        b'{"a":' + DEEP + b"}x",
        b'{"a":' + DEEP + b"}{}",
    ],
)
def test_members_of_what_is_no_object(data: bytes) -> None:
    """Slicing refuses what is no object, also where it nests too deep to be parsed."""
    with pytest.raises(NotJson):
        members(data)


def test_slices_of_containers() -> None:
    """Empty and unusual containers are sliced as well."""
    assert members(b" {} ") == {}
    assert elements(b"[]") == []
    assert list(members(b'{"a":' + DEEP + b",}")) == ["a"]
    assert [bytes(raw) for raw in elements(b'["\\ud800", {"a":[1,2]} ,"\\\\"]')] == [
        b'"\\ud800"',
        b'{"a":[1,2]}',
        b'"\\\\"',
    ]
    assert {
        key: bytes(raw) for key, raw in members(b'{"a" : "\\ud800" , "b":[],"a":2}').items()
    } == {
        "a": b"2",
        "b": b"[]",
    }


def test_small_values() -> None:
    """Strings with invalid UTF-8 are read, what is none is refused."""
    assert string(b'"\xff"') == "\ufffd"
    for text in (b"5", b"[" * 90000):
        with pytest.raises(NotJson):
            string(text)
    assert value(b"[1, null]") == [1, None]


def test_compact_keeps_tokens() -> None:
    """White space goes, numbers and escapes stay as they were written."""
    assert compact(b'{\n "a" : 1.0,\r\n "b": "\\u00e9 \\n"\n}') == b'{"a":1.0,"b":"\\u00e9 \\n"}'
    assert compact(b'["\\ud800",\n1e400]') == b'["\\ud800", 1e400]'
