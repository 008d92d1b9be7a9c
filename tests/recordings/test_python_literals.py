"""Python literals become JSON, token by token."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_client._json import NotJson
from acp_client._recordings.python_literals import json_of

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@given(VALUES)
def test_what_python_prints_is_read(value: Any) -> None:
    """The representation of a JSON value gives that value."""
    assert json.loads(json_of(repr(value).encode("utf-8", "surrogatepass"))) == value


@pytest.mark.parametrize(
    ("literal", "expected"),
    [
        (b"(1, 2,)", [1, 2]),
        (b"{'a': 'it\\'s \"so\"', }", {"a": 'it\'s "so"'}),
        (b"'\\x41\\u00e9\\U0001F600\\a'", "A\u00e9\U0001f600\a"),
        (b"'\\Ud0000000'", "\ufffd"),
        (b"[None, True, False]", [None, True, False]),
    ],
)
def test_literals(literal: bytes, expected: Any) -> None:
    """Tuples are arrays, trailing commas go, escapes are Python's."""
    assert json.loads(json_of(literal)) == expected


@pytest.mark.parametrize(
    "literal",
    [b"{'a': open}", b"b'x'", b"1 + 1", b"'open", b"Trueish", b"...", b"{1, 2}", b"{'a': 1", b""],
)
def test_what_is_no_json_value_is_refused(literal: bytes) -> None:
    """Names, bytes, sets, calculations and torn strings are no literals of JSON's kinds."""
    with pytest.raises(NotJson):
        json_of(literal)
