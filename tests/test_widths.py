"""Columns of text: one table, which agrees with what Python knows of Unicode."""

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_client._text import UNSAFE, compiled
from acp_client._widths import NOT_NARROW, character_width, display_width, truncate

ANY_TEXT = st.text(
    st.characters(codec=None, categories=None)
    | st.sampled_from("\t\x1b\u200d\u0301\ufe0f\ud83d\U0001f600日e\u1112\u1161👩💻")
)
WIDE_SINCE_UNICODE_16 = [(0x2630, 0x2637), (0x268A, 0x268F), (0x4DC0, 0x4DFF), (0x1D300, 0x1D376)]
SPACING_SINCE_UNICODE_16 = [(0x1171E, 0x1171E)]


def width_in_python(character: str) -> int:
    """Return the width that the properties of a character give it."""
    category = unicodedata.category(character)
    jamo = "\u1160" <= character <= "\u11ff" or "\ud7b0" <= character <= "\ud7ff"
    if category in {"Cc", "Cf", "Cs", "Me", "Mn", "Zl", "Zp"} or jamo:
        return 0
    if compiled(UNSAFE).match(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def changed_since(character: str) -> bool:
    """Tell whether a later Unicode than Python's may give a character another width."""
    changed = [*WIDE_SINCE_UNICODE_16, *SPACING_SINCE_UNICODE_16]
    return any(first <= ord(character) <= last for first, last in changed)


def test_the_table_agrees_with_python() -> None:
    """Every character that Python knows has the width of its properties."""
    for character in map(chr, range(sys.maxunicode + 1)):
        if unicodedata.category(character) != "Cn" and not changed_since(character):
            assert character_width(character) == width_in_python(character), ascii(character)


def test_narrow_text_is_found_at_once() -> None:
    """Text in which nothing is found takes a column for each character, if it is safe."""
    for character in map(chr, range(sys.maxunicode + 1)):
        if compiled(NOT_NARROW).match(character) is None and not compiled(UNSAFE).match(character):
            assert character_width(character) == 1 or character in "\t\n", ascii(character)


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("", 0),
        ("plain", 5),
        ("naïve", 5),
        ("nai\u0308ve", 5),
        ("日本語", 6),
        ("ｗｉｄｅ", 8),
        ("😀", 2),
        ("\u1112\u1161\u11ab", 2),
        ("a\u200bb", 2),
        ("\t\x1b\x00", 0),
        ("\ud83d", 0),
    ],
)
def test_display_width(text: str, width: int) -> None:
    """Wide characters take two columns, and marks and unsafe characters none."""
    assert display_width(text) == width


@pytest.mark.parametrize(
    ("text", "columns", "truncated"),
    [
        ("plain", 5, "plain"),
        ("plain", 4, "pla…"),
        ("plain", 1, "…"),
        ("plain", 0, ""),
        ("plain", -3, ""),
        ("", 0, ""),
        ("日本語", 6, "日本語"),
        ("日本語", 5, "日本…"),
        ("日本語", 4, "日…"),
        ("日本語", 1, "…"),
        ("e\u0301e\u0301e\u0301", 3, "e\u0301e\u0301e\u0301"),
        ("e\u0301e\u0301e\u0301", 2, "e\u0301…"),
        ("👩\u200d💻", 3, "👩…"),
    ],
)
def test_truncate(text: str, columns: int, truncated: str) -> None:
    """Text that is too wide ends in an ellipsis, and no character is cut."""
    assert truncate(text, columns) == truncated


@given(ANY_TEXT, st.integers(-2, 20))
def test_truncated_text_fits(text: str, columns: int) -> None:
    """Truncated text fits, is the text itself if that fits, and never cuts more than it must."""
    truncated = truncate(text, columns)
    assert display_width(truncated) <= max(columns, 0)
    if display_width(text) <= columns:
        assert truncated is text
    elif columns > 0:
        assert truncated[-1] == "…"
        assert text.startswith(truncated[:-1])
        assert display_width(truncated) >= columns - 1
