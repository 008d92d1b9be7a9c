r"""One row of character cells, as a terminal keeps it, and what may happen within it.

The cells are one string with a character for each column, so that whatever happens to a row is a
slice or two of it, however wide it is. A character that takes more columns, as wide ones and tabs
do, has `COVERED` in all but its first. A character with combining marks is stood for by a code
point (see `marks`).

A row may end before the cursor; blanks are filled in when something is written there. A row that
has `COLUMNS` is full, and the next character begins another one; nothing separates them in the
text, so lines have any length and rows a small one.

**Text is not much longer than output.** A few bytes that move the cursor far to the right would
become thousands of blanks, line after line. So blanks have to be earned: a row is filled in up to
its `reach`, eight columns for each column written in it and for each character of a sequence that
moves the cursor, and what earlier rows have saved of theirs, at most `COLUMNS`. A cursor beyond
that writes at the end of the reach. Written characters earn what they may become: a tab is one
byte, and eight blanks when it is overwritten in part. The sums do not depend on how the output is
cut.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from .._text import ASTRAL, compiled
from .._widths import COMBINING, COMBINING_BASIC, NOT_NARROW, WIDE, WIDE_BASIC
from .marks import Marks

COLUMNS = 4096  # a multiple of the tab stops
_TAB_STOP: Final = 8
_EARNED: Final = 8

COVERED: Final = "\0"
"""A column that is covered by the character before it."""

_TAB: Final = "\t".ljust(_TAB_STOP, COVERED)


class _Patterns(NamedTuple):
    """What finds characters that do not take one column."""

    mark: str
    marks: str
    marked: str
    wide: str
    marks_of_wide: str

    @classmethod
    def of(cls, mark: str, wide: str) -> _Patterns:
        """Return the patterns for characters that are marks, and for those that are wide."""
        marks_of_wide = rf"({COVERED})({mark}+)"
        return cls(mark, rf"{mark}+", rf"(.{mark}+)", rf"({wide}+)", marks_of_wide)


# Nearly all text has no astral characters, and is taken apart in a fraction of the time then.
_BASIC: Final = _Patterns.of(f"[{COMBINING_BASIC}]", f"[{WIDE_BASIC}]")
_ASTRAL: Final = _Patterns.of(COMBINING, WIDE)
_TABS_OR_PRINTABLE: Final = r"(\t+)|([^\t]+)"


class RowState(NamedTuple):
    """A row between two feeds: an immutable value. `line` is its text, `width` its columns.

    `earned` is what was earned in this row, in steps of eight columns; `saved` is what was saved in
    earlier ones, in columns.
    """

    line: str = ""
    cells: str = ""
    marks: Marks | None = None
    cursor: int = 0
    earned: int = 0
    saved: int = 0

    @property
    def width(self) -> int:
        """The columns of the row."""
        return len(self.cells)


class Row:
    """The row with the cursor; `settled` gathers the text that has left it."""

    __slots__ = ("cells", "cursor", "earned", "marks", "saved", "settled")

    def __init__(self, state: RowState) -> None:
        _, self.cells, marks, self.cursor, self.earned, self.saved = state
        self.marks = marks and marks.copy()
        self.settled: list[str] = []

    def state(self) -> RowState:
        """Return the row as it is now; it must not be altered any more."""
        line = self.line()
        return RowState(line, self.cells, self.marks, self.cursor, self.earned, self.saved)

    @property
    def reach(self) -> int:
        """How far the row may be filled with blanks."""
        return self.saved + _EARNED * self.earned

    def line(self) -> str:
        """Return the text of the row."""
        text = self.cells.replace(COVERED, "")
        return text if self.marks is None else self.marks.text(text)

    def settle(self, end: str = "") -> None:
        """Let the row go; the next one begins."""
        line = self.line()
        self.settled.append(line + end)
        left = self.saved + _EARNED * self.earned - len(line)
        self.saved = 0 if left < 0 else left if left < COLUMNS else COLUMNS
        self.cells = ""
        self.marks = None
        self.cursor = self.earned = 0

    def end_line(self) -> None:
        """Obey a line feed."""
        self.settle("\n")

    def erase(self) -> None:
        """Make the row empty; the cursor stays."""
        self.cells = ""
        self.marks = None

    # --- Writing ---

    def write(self, text: str) -> None:
        """Write text that has no control characters but tabs and line feeds."""
        if "\n" in text:
            text = self._write_lines(text)
        if "\t" not in text:
            self._write_printable(text)
            return
        for tabs, printable in compiled(_TABS_OR_PRINTABLE).findall(text):
            self._write_tabs(len(tabs))
            self._write_printable(printable)

    def overwrite(self, texts: list[str]) -> None:
        """Write printable ASCII texts, each over the one before, from the first column on."""
        if COVERED in self.cells or max(map(len, texts)) > COLUMNS:
            for text in texts:
                self.cursor = 0
                self._write_cells(text)
            return
        shown = ""
        for text in reversed(texts):
            if len(text) > len(shown):
                shown += text[len(shown) :]
        self.cells = shown + self.cells[len(shown) :]
        self.earned += sum(map(len, texts))
        self.cursor = len(texts[-1])

    def _write_lines(self, text: str) -> str:
        """Write whole lines, and return what is left of the text."""
        if self.cells or self.cursor or self.earned:
            first, _, text = text.partition("\n")
            if first:
                self.write(first)
            self.settle("\n")
            if "\n" not in text:
                return text
        lines, line_feed, rest = text.rpartition("\n")
        if _is_narrow(lines):
            self._settle_narrow(lines + line_feed)
            return rest
        for line in lines.split("\n"):
            self.write(line)
            self.end_line()
        return rest

    def _settle_narrow(self, lines: str) -> None:
        """Settle lines whose characters take one column each, all at once."""
        self.settled.append(lines)
        columns = len(lines) - lines.count("\n")
        self.saved = min(self.saved + (_EARNED - 1) * columns, COLUMNS)

    def _write_printable(self, text: str) -> None:
        if text.isascii() or _is_narrow(text):
            self._write_cells(text)
            return
        for start in range(0, len(text), COLUMNS):
            self._write_cells(self._cells_of(text[start : start + COLUMNS]))

    def _write_cells(self, cells: str) -> None:
        if not cells:
            return
        if self.cursor > len(self.cells):
            self._fill()
        marks = self.marks  # of the cells for the next row too
        while self.cursor + len(cells) > COLUMNS:
            room = COLUMNS - self.cursor
            room -= cells[room] == COVERED
            self._put(cells[:room])
            self.settle()
            self.marks, cells = marks, cells[room:]
        self._put(cells)

    def _put(self, cells: str) -> None:
        """Write cells that have room in the row, which does not end before the cursor."""
        if not cells:
            return
        start, row = self.cursor, self.cells
        end = self.cursor = start + len(cells)
        self.earned += len(cells)
        if start == len(row):
            self.cells = row + cells
        elif COVERED in row:
            self.cells = self._before(start) + cells + self._behind(end)
        else:
            self.cells = row[:start] + cells + row[end:]

    def _fill(self) -> None:
        """Fill in blanks up to the cursor, or as far as the row reaches."""
        if self.cursor > self.reach:
            self.cursor = max(self.reach, len(self.cells))
        self.cells = self.cells.ljust(self.cursor)

    def _before(self, column: int) -> str:
        """Return the cells before a column, with blanks for a character that goes on behind it."""
        cells = self.cells[:column]
        if self.cells[column : column + 1] != COVERED:
            return cells
        return cells.rstrip(COVERED)[:-1].ljust(column)

    def _behind(self, column: int) -> str:
        """Return the cells from a column on, with blanks for a character that begins before it."""
        cells = self.cells[column:]
        if cells[:1] != COVERED:
            return cells
        return cells.lstrip(COVERED).rjust(len(cells))

    # --- Characters that do not take one column ---

    def _cells_of(self, text: str) -> str:
        """Return the cells of text; marks that it begins with go to the character before it."""
        patterns = _ASTRAL if compiled(f"[{ASTRAL}]").search(text) else _BASIC
        marks = compiled(patterns.marks).match(text)
        if marks:
            self._combine(marks[0])
            text = text[marks.end() :]
        if compiled(patterns.wide).search(text) is not None:
            parts = compiled(patterns.wide).split(text)
            parts[1::2] = [COVERED.join(run) + COVERED for run in parts[1::2]]
            text = compiled(patterns.marks_of_wide).sub(r"\2\1", "".join(parts))
        if compiled(patterns.mark).search(text) is None:
            return text
        parts = compiled(patterns.marked).split(text)
        parts[1::2] = self._open_marks().stand_ins(parts[1::2])
        return "".join(parts)

    def _open_marks(self) -> Marks:
        """Return the marks of the row, with room for those of as much text as a row has."""
        if self.marks is None:
            self.marks = Marks()
        elif not self.marks.has_room_for(COLUMNS // 2):
            self.marks, self.cells = self.marks.renumbered(self.cells)
        return self.marks

    def _combine(self, marks: str) -> None:
        """Add marks to the character before the cursor."""
        if self.cursor > len(self.cells):
            self._fill()
        known = self._open_marks()
        before = self.cells[: self.cursor].rstrip(COVERED)
        if before:
            cell = known.with_marks(before[-1], marks)
            self.cells = before[:-1] + cell + self.cells[len(before) :]

    def _write_tabs(self, count: int) -> None:
        while count > 0:
            if self.cursor >= COLUMNS:
                self.settle()
            if self.cursor < len(self.cells):
                self.cursor = _tab_stop(self.cursor)
                count -= 1
            else:
                count -= self._put_tabs(count)

    def _put_tabs(self, most: int) -> int:
        """Write tabs at the end of the row, as many as it has room for; return how many."""
        self._fill()
        first = _tab_stop(self.cursor)
        count = min(most, (COLUMNS - first) // _TAB_STOP + 1)
        self.cells += "\t".ljust(first - self.cursor, COVERED) + _TAB * (count - 1)
        self.cursor = len(self.cells)
        self.earned += count
        return count

    # --- Moving the cursor ---

    def left(self, columns: int) -> None:
        """Obey CSI D, or backspaces."""
        self.cursor = max(self.cursor - max(columns, 1), 0)

    def right(self, columns: int) -> None:
        """Obey CSI C."""
        self.cursor = min(self.cursor + max(columns, 1), COLUMNS - 1)

    def to_column(self, number: int) -> None:
        """Obey CSI G."""
        self.cursor = min(max(number, 1), COLUMNS) - 1

    # --- Changing the row from the cursor on ---

    def clear(self, part: int) -> None:
        """Obey CSI K: clear from the cursor on (0), up to it (1), or the whole row (2)."""
        is_whole = (part == 0 and self.cursor == 0) or (
            part == 1 and self.cursor + 1 >= len(self.cells)
        )
        if part == 2 or is_whole:
            self.erase()
        elif part == 1:
            self.cells = self._behind(self.cursor + 1).rjust(len(self.cells))
        elif part == 0 and self.cursor < len(self.cells):
            self.cells = self._before(self.cursor)

    def blank(self, columns: int) -> None:
        """Obey CSI X: put blanks over characters."""
        end = self.cursor + max(columns, 1)
        if end >= len(self.cells):
            self.clear(0)
        else:
            self.cells = self._before(self.cursor).ljust(end) + self._behind(end)

    def delete(self, columns: int) -> None:
        """Obey CSI P: take characters out, so that what is behind them moves up."""
        if self.cursor < len(self.cells):
            self.cells = self._before(self.cursor) + self._behind(self.cursor + max(columns, 1))

    def insert(self, columns: int) -> None:
        """Obey CSI @: put blanks before the cell of the cursor, as far as the row reaches."""
        width = len(self.cells)
        if self.cursor < width:
            most = min(self.reach, COLUMNS)
            blanks = min(max(columns, 1), max(most - width, 0))
            self.cells = self._before(self.cursor).ljust(self.cursor + blanks) + self._behind(
                self.cursor
            )


def _tab_stop(column: int) -> int:
    """Return the first tab stop behind a column."""
    return (column // _TAB_STOP + 1) * _TAB_STOP


def _is_narrow(text: str) -> bool:
    """Return whether each character takes one column."""
    return text.isascii() or compiled(NOT_NARROW).search(text) is None
