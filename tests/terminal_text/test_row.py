"""One row of cells: widths, overwriting, clearing."""

import re
import sys
from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_client._terminal_text.row import COLUMNS, NARROW, WIDE, Row
from acp_client._text import character_width, strip_hidden


def row_of(text: str) -> Row:
    row = Row("", 0, 0)
    write(row, text)
    return row


def write(row: Row, text: str) -> None:
    for character in text:
        if character == "\t":
            row.tab()
        else:
            row.write_any(character)


def reopened(row: Row) -> Row:
    return Row(row.line(), row.width, row.cursor)


@pytest.mark.parametrize(("pattern", "width"), [(NARROW, 1), (WIDE, 2)])
def test_known_widths(pattern: str, width: int) -> None:
    """What is written without a look has the width that a look would find, and is safe."""
    known = re.compile(f"[{pattern}]")
    characters = [c for c in map(chr, range(sys.maxunicode + 1)) if known.match(c)]
    assigned = [c for c in characters if category(c) != "Cn"]
    assert {character_width(character) for character in assigned} == {width}
    assert strip_hidden("".join(characters)) == "".join(characters)


@pytest.mark.parametrize(
    ("text", "column", "written", "line"),
    [
        ("abcdef", 2, "XY", "abXYef"),
        ("abc", 5, "X", "abc  X"),
        ("日本語", 0, "X", "X 本語"),
        ("日本語", 1, "X", " X本語"),
        ("日本語", 2, "XY", "日XY語"),
        ("日本語", 1, "中", " 中 語"),
        ("e\u0301e\u0301", 0, "a", "ae\u0301"),
        ("abc", 2, "\u0301", "ab\u0301c"),
        ("日本", 2, "\u0301", "日\u0301本"),
        ("日本", 3, "\u0301", "日本\u0301"),
        ("abc", 0, "\u0301", "abc"),
        ("a", 3, "\u0301", "a  \u0301"),
        ("a\tb", 3, "X", "a  X    b"),
        ("a\tb", 1, "X", "aX      b"),
        ("a\tb", 0, "\tX", "a\tX"),
        ("abc", 1, "\tX", "abc     X"),
        ("\t\u0301a", 0, "X", "X       a"),
    ],
)
def test_overwriting(text: str, column: int, written: str, line: str) -> None:
    """Writing replaces the cells that it covers, and what they were part of becomes blank."""
    for row in (row_of(text), reopened(row_of(text))):
        row.cursor = column
        write(row, written)
        assert row.line() == line


@pytest.mark.parametrize(
    ("text", "column", "part", "line"),
    [
        ("abcdef", 2, 0, "ab"),
        ("abcdef", 2, 1, "   def"),
        ("abcdef", 2, 2, ""),
        ("abcdef", 5, 1, ""),
        ("abcdef", 6, 0, "abcdef"),
        ("abcdef", 9, 1, ""),
        ("abcdef", 2, 3, "abcdef"),
        ("日本語", 1, 0, " "),
        ("日本語", 2, 1, "    語"),
        ("日本語", 3, 1, "    語"),
        ("a\tb", 4, 0, "a   "),
        ("a\tb", 0, 1, " \tb"),
    ],
)
def test_clearing(text: str, column: int, part: int, line: str) -> None:
    """Clearing takes the cells from the cursor on, up to it, or all, and leaves the cursor."""
    for row in (row_of(text), reopened(row_of(text))):
        row.cursor = column
        row.clear(part)
        assert (row.line(), row.cursor) == (line, column)


@given(st.text("abé日😀\u0301\t", max_size=40))
def test_a_row_is_taken_apart_as_it_was_written(text: str) -> None:
    """The cells of a row can be told from its text."""
    row, again = row_of(text), reopened(row_of(text))
    again.take_apart()
    assert (again.cells, again.width) == (row.cells, row.width)


def test_marks_on_one_cell_are_limited() -> None:
    """A cell does not grow without end."""
    row = row_of("a" + "\u0301" * 1000)
    assert len(row.line()) == 16


def test_full_row_settles() -> None:
    """A row that is full goes to the settled text, and no character is lost."""
    row = row_of("")
    row.write("x" * (3 * COLUMNS))
    assert (len(row.settled), row.width, row.cursor) == (2, COLUMNS, COLUMNS)
    row.write_any("\u0301")
    row.write("y")
    assert "".join(row.settled) == "x" * (3 * COLUMNS) + "\u0301"
    assert row.line() == "y"


@pytest.mark.parametrize("written", ["日", "日日"])
def test_wide_character_does_not_fit_in_one_column(written: str) -> None:
    """A wide character that would be cut by the end of the row begins the next."""
    row = row_of("")
    row.write("x" * (COLUMNS - 1) + written)
    assert row.settled == ["x" * (COLUMNS - 1)]
    assert row.line() == written


def test_tab_in_full_row_begins_the_next() -> None:
    """A tab behind a full row is not lost."""
    row = row_of("")
    row.write("x" * COLUMNS + "\ty")
    assert (row.line(), row.width) == ("\ty", 9)
