"""One row of cells: overwriting, clearing, marks, and how far blanks are filled in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_client._terminal_text.row import COLUMNS, Row, RowState


def row_of(text: str) -> Row:
    row = Row(RowState())
    row.write(text)
    return row


def reopened(row: Row) -> Row:
    return Row(row.state())


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
        row.write(written)
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


@given(st.lists(st.text("abé日😀\u0301\u0308\t", max_size=8)))
def test_a_row_is_the_same_however_it_is_written(texts: list[str]) -> None:
    """A row that was put away is gone on with as if it had been written at once."""
    row = row_of("")
    for text in texts:
        row.write(text)
        row = reopened(row)
    whole = row_of("".join(texts))
    assert (row.line(), row.cursor) == (whole.line(), whole.cursor)
    assert len(row.cells) == len(whole.cells)


@pytest.mark.parametrize(
    ("column", "line"), [(1, "a  def"), (0, "  cdef"), (4, "abcd"), (5, "abcde"), (9, "abcdef")]
)
def test_blanking(column: int, line: str) -> None:
    """Blanks take the place of characters; the row ends where only blanks would be."""
    row = row_of("abcdef")
    row.cursor = column
    row.blank(2)
    assert (row.line(), row.cursor) == (line, column)


@pytest.mark.parametrize(("column", "line"), [(0, "cdef"), (5, "abcde"), (6, "abcdef")])
def test_deleting(column: int, line: str) -> None:
    """What is behind deleted characters moves up."""
    row = row_of("abcdef")
    row.cursor = column
    row.delete(2)
    assert (row.line(), row.cursor) == (line, column)


@pytest.mark.parametrize(
    ("column", "blanks", "line"),
    [(0, 2, "  abcdef"), (5, 1, "abcde f"), (6, 2, "abcdef"), (0, 99, " " * 42 + "abcdef")],
)
def test_inserting(column: int, blanks: int, line: str) -> None:
    """Blanks are put before characters, as far as the row reaches."""
    row = row_of("abcdef")
    row.cursor = column
    row.insert(blanks)
    assert (row.line(), row.cursor) == (line, column)


def test_blanks_have_to_be_earned() -> None:
    """The cursor may be anywhere, but a row is filled up to what was written in it and before."""
    row = row_of("ab")
    row.cursor = 100
    row.write("c")
    assert row.line() == "ab" + " " * 14 + "c"
    row.end_line()
    row.cursor = 100
    row.write("d")
    assert row.line() == " " * (3 * 8 - 17) + "d"


def test_rows_save_for_later_ones() -> None:
    """What rows of text have not used is saved, up to one row."""
    row = row_of("some words\n" * 1000)
    row.cursor = COLUMNS - 1
    row.write("x\n")
    assert row.settled[-1] == " " * (COLUMNS - 1) + "x\n"
    row.cursor = COLUMNS - 1
    row.write("x")
    assert row.line() == " " * 8 + "x"


def test_every_marked_character_has_something_to_stand_for_it() -> None:
    """However many different ones were in a row, those that are there are right."""
    row = row_of("")
    bases = [chr(0x4E00 + number) for number in range(500)]
    marks = [chr(0x0300 + number) for number in range(20)]
    for mark in marks:
        row.cursor = 0
        row.write("".join(base + mark for base in bases))
    assert row.line() == "".join(base + marks[-1] for base in bases)


def test_marks_on_one_cell_are_limited() -> None:
    """A cell does not grow without end."""
    row = row_of("a" + "\u0301" * 1000)
    assert len(row.line()) == 16


def test_full_row_settles() -> None:
    """A row that is full goes to the settled text, and no character is lost."""
    row = row_of("")
    row.write("x" * (3 * COLUMNS))
    assert (len(row.settled), len(row.cells), row.cursor) == (2, COLUMNS, COLUMNS)
    row.write("\u0301")
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
    assert (row.line(), len(row.cells)) == ("\ty", 9)
