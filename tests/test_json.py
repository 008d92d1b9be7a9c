"""JSON beyond the strict parser: what is taken, what is refused, and the immutable value."""

from __future__ import annotations

import copy
import json
import pickle
import time
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_client._json import (
    LARGEST_INTEGER,
    MAX_DEPTH,
    HugeNumber,
    Json,
    NotJson,
    TooDeep,
    encode,
    nests_deeper,
    parse,
    trim,
    with_members,
)
from acp_client.wire import JsonObject, Unknown

TEXT = st.text(st.characters() | st.sampled_from('\ud83d\ude80"\\\x00'), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


def nested(levels: int, opening: str = "[", closing: str = "]", inside: str = "") -> bytes:
    """Write containers inside containers."""
    return (opening * levels + inside + closing * levels).encode()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b'{"a": [1, -0, 1.5, true, null]}', {"a": [1, 0, 1.5, True, None]}),
        (b" \r\n\t5 ", 5),
        (b"\xef\xbb\xbf5", 5),
        ("\u00a05\u3000\u2028".encode(), 5),
        (b'"\\ud83d"', "\ud83d"),
        (b'"\\ud83d\\ude80"', "\U0001f680"),
        (b'"a\xffb"', "a\ufffdb"),
        (b'"\xed\xa0\xbd"', "\ufffd\ufffd\ufffd"),
        (b'{"a": 1, "a": 2}', {"a": 2}),
        (b'{"__proto__": 1}', {"__proto__": 1}),
        (b"9" * 400, int("9" * 400)),
        (b"18446744073709551616", 2**64),
        (b"1e400", float("inf")),
        (b"-1e400", float("-inf")),
        (b"9" * 5_000, float("inf")),
        (b"1e-400", 0.0),
        (nested(256), None),
        (nested(256, '{"k":', "}", "0"), None),
        (b'"' + b"[" * 2_000 + b'"', "[" * 2_000),
        (b'["\\"' + b"[" * 2_000 + b'"]', ['"' + "[" * 2_000]),
    ],
)
def test_what_is_taken(text: bytes, expected: Any) -> None:
    """Text that a browser accepts is accepted, with the same values."""
    found = parse(text)
    assert expected is None or found == expected


REFUSED = [
    b"{", b"[1,", b"[1 2]", b"{1: 2}", b'{"a" 1}', b'{"a":}', b"[,]", b"{,}", b"01", b"1_000",
    b"+1", b".5", b"1.", b"NaN", b"Infinity", b"-Infinity", b"'a'", b'"a\nb"', b"tru", b"5 5",
    b"[]]", b"}", b"[1}", b'{"a":1]', b'"', b'"a', b'["a, 1]',
    b'"\\x"', b'"\\ud8"', b"\x00", b"/* */ 5", b"[1]x", b"nullnull",
]  # fmt: skip
DEEP = [b"[" * 250 + text + b"]" * 250 for text in REFUSED]


@pytest.mark.parametrize("text", [b"", b" ", b"\xef\xbb\xbf", *REFUSED, *DEEP])
def test_what_is_refused(text: bytes) -> None:
    """Text that is not JSON is refused, also deep inside other text."""
    with pytest.raises(NotJson):
        parse(text)


@pytest.mark.parametrize("levels", [257, 1_500, 20_000])
@pytest.mark.parametrize(("opening", "closing", "inside"), [("[", "]", ""), ('{"k":', "}", "0")])
def test_what_is_too_deep(levels: int, opening: str, closing: str, inside: str) -> None:
    """More levels than are allowed are refused as such, whatever comes behind them."""
    for text in (nested(levels, opening, closing, inside), nested(levels, opening, "", inside)):
        with pytest.raises(TooDeep):
            parse(text)


def test_without_a_limit_the_stack_is_one() -> None:
    """Text of our own may nest deeper than a message, and never ends the interpreter."""
    text = nested(300)
    assert encode(parse(text, deepest=None)) == text
    with pytest.raises(TooDeep):
        parse(nested(100_000), deepest=None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (nested(257)[:-1], TooDeep),
        (nested(257) + b"x", TooDeep),
        (nested(255) + b"]", NotJson),
        (b"x" + nested(300), NotJson),
        (b"]]]" + nested(300), NotJson),
        (b"[" * 200 + b"1 2" + b"[" * 100, NotJson),
        (b'{"a":' * 200 + b"[" * 100, TooDeep),
        (b'{"a":' * 200 + b"{" * 100, NotJson),
    ],
)
def test_deep_text_that_is_torn(text: bytes, expected: type[Exception]) -> None:
    """Text is too deep where it is JSON up to one level too many, and else not JSON."""
    with pytest.raises(expected):
        parse(text)


def test_nesting_is_counted_outside_of_strings() -> None:
    """Brackets in strings, and containers side by side, do not count as nesting."""
    assert nests_deeper(nested(257))
    assert not nests_deeper(nested(256))
    assert not nests_deeper(b'"' + b"[" * 5_000 + b'"')
    assert not nests_deeper(b"[" + b"[]," * 5_000 + b"[]]")
    assert nests_deeper(b"[[[", 2)
    assert MAX_DEPTH == 256


@given(VALUES)
def test_what_is_written_is_parsed(value: Any) -> None:
    """A value comes back as it was, whatever strings are in it."""
    text = encode(value)
    assert parse(text) == json.loads(json.dumps(value))
    assert encode(parse(text)) == text
    assert b"\n" not in text


@pytest.mark.parametrize(
    "text",
    [
        b'{"x":"' + b"[" * 501 + b'","y":["' + b'\\"' * 500_000,
        b'{"x":"' + b"[{" * 300_000 + b'\\"' * 300_000,
        b"[" * 200 + b"1," * 500_000 + b"1" + b"]" * 200,
        b"[" * 200 + b'"abc",' * 300_000 + b"1" + b"]" * 201,
        b"[" * 100 + b"[" * 100 + b"]" * 100 + b',{"a":1}' * 200_000 + b"]" * 100,
        b"[]" * 500_000,
        b"[" * 1_000_000,
        b'{"a":' * 300_000,
        b"[" * 255 + b"[],[]," * 200_000,
    ],
)
def test_odd_text_takes_its_length_in_time(text: bytes) -> None:
    """A megabyte that nests deeply, or ends within a string, takes a second and no minutes."""
    start = time.process_time()
    with suppress(NotJson, TooDeep):
        parse(text)
    assert time.process_time() - start < 10


@given(st.binary(max_size=40))
def test_any_bytes_are_taken_or_refused(data: bytes) -> None:
    """Nothing but our own exceptions comes out."""
    try:
        value = parse(data)
    except (NotJson, TooDeep):
        return
    assert parse(encode(value)) == value


def test_numbers_beyond_floats_keep_their_digits() -> None:
    """What no float can hold is written as it came."""
    for text in (b"1e400", b"-1e999", b"9" * 5_000, b"[1e400,{}]"):
        assert encode(parse(text)) == text
    huge = parse(b"1e400")
    assert isinstance(huge, HugeNumber)
    assert huge.text == "1e400"
    assert parse(str(LARGEST_INTEGER).encode()) == LARGEST_INTEGER


def test_what_cannot_be_written_is_a_type_error() -> None:
    """A value that is not JSON is the caller's mistake."""
    with pytest.raises(TypeError, match="object is not a JSON value"):
        encode({"a": object()})


def test_trim_is_that_of_a_browser() -> None:
    """Blanks of all kinds around a message go, those inside stay."""
    assert trim("\ufeff \u00a0\r\n a b \t\u2029") == "a b"
    assert trim("\x1f\x85\u200b") == "\x1f\x85\u200b"


# --- The immutable value ---


def test_a_value_is_fresh_each_time() -> None:
    """Changing the returned `value` does not change the object."""
    raw = Json({"a": [1]})
    raw.value["a"].append(2)
    assert raw.value == {"a": [1]}
    assert raw.text == b'{"a":[1]}'


@pytest.mark.parametrize("kind", [Json, JsonObject, Unknown])
def test_a_value_cannot_be_changed(kind: type[Json]) -> None:
    """Neither attributes nor text can be set or deleted, and there is no room for others."""
    raw = kind({})
    for name in ("text", "other"):
        with pytest.raises(AttributeError, match="immutable"):
            setattr(raw, name, b"1")
        with pytest.raises(AttributeError, match="immutable"):
            delattr(raw, name)


def test_equality_is_that_of_the_texts() -> None:
    """Values are equal when their texts are, and can be in sets."""
    assert Json({"a": 1}) == Json({"a": 1})
    assert Json(1) != Json(1.0)
    assert Json({"a": 1, "b": 2}) != Json({"b": 2, "a": 1})
    assert len({Json([]), Json([]), Json({})}) == 2
    assert Json(1) != 1
    assert Json(1).__eq__(1) is NotImplemented


@pytest.mark.parametrize("value", [{"a": [1, None]}, "\ud83d", [], 1e308, {"": {"\udfff": 1}}])
def test_a_value_can_be_copied_and_pickled(value: Any) -> None:
    """Copies are equal; what a pickle holds is text that is parsed again."""
    raw = Json(value)
    assert copy.deepcopy(raw) == copy.copy(raw) == raw
    assert pickle.loads(pickle.dumps(raw)) == raw
    assert Json(raw.value) == raw


def test_a_long_value_is_shown_short() -> None:
    """The repr of a value is bounded, and the whole of a short one."""
    assert repr(Json({"a": 1})) == 'Json({"a":1})'
    assert len(repr(Json("x" * 500))) < 80


def test_values_are_embedded_as_they_are() -> None:
    """A value inside another is written without being parsed."""
    inner = Json.from_text(b'{"kept":1.0}')
    assert encode({"a": inner, "b": [inner]}) == b'{"a":{"kept":1.0},"b":[{"kept":1.0}]}'
    assert encode({"a": inner, "b": "\ud83d"}) == b'{"a":{"kept":1.0},"b":"\\ud83d"}'
    assert msgspec.json.decode(encode([Json("é"), "é"])) == ["é", "é"]


@pytest.mark.parametrize(
    ("text", "more", "joined"),
    [
        (b'{"a":1}', {"b": {"c": 2}, "d": ""}, b'{"a":1,"b":{"c":2},"d":""}'),
        (b'{"a":{"b":1}}', {"b": 2}, None),
        (b'{"a":"\\n"}', {"b": 2}, None),
        (b'{"a":1}', {"b\n": 2}, None),
        (b'{"a":1}', {"b": None}, None),
        (b'{"a":1}', {}, None),
        (b"{}", {"b": 2}, None),
        ('{"é":1}'.encode(), {"è": 2}, '{"é":1,"è":2}'.encode()),
    ],
)
def test_members_are_joined_where_all_are_new(
    text: bytes, more: dict[str, object], joined: bytes | None
) -> None:
    """New members are put behind the others, unless one of them may be there already."""
    assert with_members(text, Json(more)) == joined
    if joined is not None:
        assert Json(parse(text) | more).text == joined
