"""Escaping, joining, offsets and widths of text that may hold anything."""

import html
import re
import sys
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from acp_client._text import (
    Position,
    escape,
    escape_html,
    heal_surrogates,
    join_text,
    position,
    strip_hidden,
    utf8_length,
    utf16_length,
)

ANY_CHARACTER = st.characters(codec=None, categories=None)
TROUBLE = st.sampled_from(
    "\x00\t\n\r\x1b\x7f\x85\x9b\xad\u200b\u200d\u202e\u2028\ufe0f\ufeff\ud83d\ude00\udbff\udc00"
    "\uffff\U000e0041a9\u20e3\u0301é中😀🏽👩⚠❤🔥&<>\"'\\"
)
ANY_TEXT = st.text(ANY_CHARACTER | TROUBLE)

ALL = [chr(code) for code in range(sys.maxunicode + 1)]
# Derived property Default_Ignorable_Code_Point, which the standard library does not know.
IGNORABLE = [
    *(0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810)),
    *(*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0x3164),
    *(*range(0xFE00, 0xFE10), 0xFEFF, 0xFFA0, *range(0xFFF0, 0xFFF9)),
    *(*range(0x1BCA0, 0x1BCA4), *range(0x1D173, 0x1D17B), *range(0xE0000, 0xE1000)),
]


def is_unsafe(character: str) -> bool:
    code = ord(character)
    return (
        unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"}
        or 0xFDD0 <= code <= 0xFDEF
        or code & 0xFFFE == 0xFFFE
    )


# Format characters that are younger than the oldest Python here.
YOUNG = range(0x13439, 0x13440)
UNSAFE = {c for c in ALL if is_unsafe(c)} | set(map(chr, [*IGNORABLE, *YOUNG]))
UNSAFE -= set("\t\n")


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("plain", "plain"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("over\rwritten", r"over\rwritten"),
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("\x1b]52;c;aGk=\x07", r"\x1b]52;c;aGk=\x07"),
        ("\x9b2J\x00\x7f", r"\x9b2J\x00\x7f"),
        ("user\u202egpj.exe", r"user\u202egpj.exe"),
        ("\u2066a\u2069\u200e\u061c", r"\u2066a\u2069\u200e\u061c"),
        ("zero\u200bwidth\ufeff", r"zero\u200bwidth\ufeff"),
        ("a\u2028b\u2029c", r"a\u2028b\u2029c"),
        ("\U000e0041\U000e0101", r"\U000e0041\U000e0101"),
        ("half \ud83d pair", r"half \ud83d pair"),
        ("\ufffe\U0010ffff", r"\ufffe\U0010ffff"),
        (r"C:\x1b", r"C:\x1b"),
        ("naïve 日本語 e\u0301 😀", "naïve 日本語 e\u0301 😀"),
    ],
)
def test_escape(text: str, escaped: str) -> None:
    """Unsafe characters become visible and all else stays as it is."""
    assert escape(text) == escaped


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("⚠\ufe0f ✔\ufe0e", "⚠\ufe0f ✔\ufe0e"),
        ("👩\u200d💻 👩🏽\u200d💻 ❤\ufe0f\u200d🔥", "👩\u200d💻 👩🏽\u200d💻 ❤\ufe0f\u200d🔥"),
        ("1\ufe0f\u20e3", "1\ufe0f\u20e3"),
        ("1\ufe0f2", r"1\ufe0f2"),
        ("a\ufe0f", r"a\ufe0f"),
        ("⚠\ufe0f\ufe0f", "⚠\ufe0f\\ufe0f"),
        ("a\u200db", r"a\u200db"),
        ("👩\u200d", "👩\\u200d"),
        ("👩\u200d\u200d💻", "👩\\u200d\\u200d💻"),
        ("🏴\U000e0067\U000e007f", r"🏴\U000e0067\U000e007f"),
    ],
)
def test_escape_within_emoji(text: str, escaped: str) -> None:
    """Selectors and joiners stay where they belong to an emoji, and nowhere else."""
    assert escape(text) == escaped


def test_escape_one_line() -> None:
    """Line feeds and tabs are made visible where one line is asked for."""
    assert escape("a\nb\tc\x1b", keep_newlines=False) == r"a\nb\tc\x1b"


@pytest.mark.parametrize("text", ["", "plain\n", "日本語 naïve\t" * 3])
def test_escape_returns_safe_text_itself(text: str) -> None:
    """Safe text is not copied."""
    assert escape(text) is text


def test_escape_knows_every_character() -> None:
    """Of all characters, the unsafe ones and no others are made visible."""
    assert {
        character for character in ALL if escape(f"x{character}y") != f"x{character}y"
    } == UNSAFE


def test_strip_hidden_knows_every_character() -> None:
    """Of all characters, the unsafe ones that are no controls are left out."""
    stripped = {character for character in ALL if not strip_hidden(character)}
    assert stripped == {c for c in UNSAFE if unicodedata.category(c) != "Cc"}


@given(ANY_TEXT, st.booleans())
@example("©\u200b\ufe0f", True)
def test_escaped_text_is_safe(text: str, keep_newlines: bool) -> None:
    """Escaped text holds nothing unsafe but what makes an emoji, and is escaped already."""
    escaped = escape(text, keep_newlines=keep_newlines)
    allowed = set("\ufe0e\ufe0f\u200d")
    assert not set(escaped) & (UNSAFE - allowed)
    assert keep_newlines or not set(escaped) & set("\t\n")
    assert escape(escaped, keep_newlines=keep_newlines) == escaped
    for match in re.finditer("(.?)[\ufe0e\ufe0f\u200d]", escaped):
        assert match[1] in set("0123456789#*") or not match[1].isascii()


@given(ANY_TEXT)
def test_escape_html(text: str) -> None:
    """HTML has no live character left and reads back as the escaped text."""
    escaped = escape_html(text)
    assert not set(escaped) & set("<>\"'")
    assert html.unescape(escaped) == escape(text)


def test_escape_html_attribute() -> None:
    """A quoted attribute cannot be left."""
    assert escape_html("\"'><b>&amp;\n", keep_newlines=False) == (
        r"&quot;&#39;&gt;&lt;b&gt;&amp;amp;\n"
    )


@pytest.mark.parametrize(
    ("pieces", "joined"),
    [
        ([], ""),
        (["a", "", "b"], "ab"),
        (["\ud83d", "\ude00"], "😀"),
        (["x\ud83d", "", "\ude00y"], "x😀y"),
        (["\ud83d", "\ud83d", "\ude00", "\ude00"], "\ud83d😀\ude00"),
        (["\ude00", "\ud83d"], "\ude00\ud83d"),
        (["\ud83d", " ", "\ude00"], "\ud83d \ude00"),
        (["\udbff", "\udfff"], "\U0010ffff"),
    ],
)
def test_join_text(pieces: list[str], joined: str) -> None:
    """Two halves that meet are one character, and a half alone stays."""
    assert join_text(pieces) == joined


@pytest.mark.parametrize("text", ["", "ascii", "日本語", "\ud83d alone \ude00", "\U0001f600"])
def test_heal_surrogates_returns_whole_text_itself(text: str) -> None:
    """Text without a pair is not copied."""
    assert heal_surrogates(text) is text


@given(st.lists(ANY_TEXT), st.lists(ANY_TEXT))
def test_joining_in_steps(first: list[str], second: list[str]) -> None:
    """It does not matter in how many steps pieces are joined."""
    assert join_text([join_text(first), join_text(second)]) == join_text(first + second)


@given(ANY_TEXT)
def test_heal_surrogates_agrees_with_utf16(text: str) -> None:
    """A healed text is what its UTF-16 units spell."""
    units = text.encode("utf-16-le", "surrogatepass")
    assert heal_surrogates(text) == units.decode("utf-16-le", "surrogatepass")


@pytest.mark.parametrize(
    ("text", "utf8", "utf16"),
    [("", 0, 0), ("abc", 3, 3), ("é", 2, 1), ("日", 3, 1), ("😀", 4, 2), ("\ud83d", 3, 1)],
)
def test_lengths(text: str, utf8: int, utf16: int) -> None:
    """Bytes and units are counted as an editor counts them."""
    assert (utf8_length(text), utf16_length(text)) == (utf8, utf16)


@pytest.mark.parametrize(
    ("text", "offset", "expected"),
    [
        ("", 0, Position()),
        ("abc", 2, Position(2, 2, 2, 0, 2, 2, 2)),
        ("é\n日😀x", 0, Position()),
        ("é\n日😀x", 1, Position(1, 2, 1, 0, 1, 2, 1)),
        ("é\n日😀x", 2, Position(2, 3, 2, 1, 0, 0, 0)),
        ("é\n日😀x", 4, Position(4, 10, 5, 1, 2, 7, 3)),
        ("a\r\nb", 3, Position(3, 3, 3, 1, 0, 0, 0)),
        ("\ud83dx", 1, Position(1, 3, 1, 0, 1, 3, 1)),
        ("abc", 9, Position(3, 3, 3, 0, 3, 3, 3)),
        ("abc", -1, Position()),
    ],
)
def test_position(text: str, offset: int, expected: Position) -> None:
    """An offset in characters is a place in every unit."""
    assert position(text, offset) == expected


@given(ANY_TEXT, st.data())
def test_position_goes_on(text: str, data: st.DataObject) -> None:
    """The place behind a text is the place behind its second part, begun behind its first."""
    cut = data.draw(st.integers(0, len(text)))
    assert position(text, cut).after(text[cut:]) == position(text, len(text))


@given(ANY_TEXT, st.data())
def test_position_is_where_lines_are(text: str, data: st.DataObject) -> None:
    """Line and column lead back to the offset."""
    offset = data.draw(st.integers(0, len(text)))
    place = position(text, offset)
    lines = text.split("\n")
    assert sum(len(line) + 1 for line in lines[: place.line]) + place.column == offset
    before = lines[place.line][: place.column]
    assert place.utf8_column == sum(len(c.encode("utf-8", "surrogatepass")) for c in before)
    assert place.utf16_column == sum(1 + (c > "\uffff") for c in before)
