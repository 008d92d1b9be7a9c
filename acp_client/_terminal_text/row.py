r"""One row of character cells, as a terminal keeps it, and what may happen within it.

There is a string for each column: a character with its combining marks, or nothing where a wide
character or a tab goes on. Most rows only grow, so text that was there before is kept in one piece
and taken apart when something first alters it. A row may end before the cursor; blanks are filled
in when something is written there. A row that has `COLUMNS` is full, and the next character begins
another one; nothing tells them apart in the text, so lines have any length and rows a small one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .._text import character_width, compiled

COLUMNS = 4096  # a multiple of the tab stops
_TAB_STOP = 8
_LONGEST_CELL = 16

# Characters whose width is known without a look at each.
NARROW = (
    r" -~\xa0-\xac\xae-\u02ff\u0370-\u0482\u048a-\u058f\u05d0-\u05ea\u0620-\u064a\u0671-\u06d3"
    r"\u0e01-\u0e30\u10a0-\u10ff\u1e00-\u200a\u2010-\u2027\u202f-\u205f\u2070-\u20cf"
    r"\u2100-\u2319\u2400-\u25fc\u2706-\u2709\u270c-\u2727\u2729-\u274b\u2798-\u27af"
    r"\u2800-\u28ff\u2900-\u2b1a"
)
WIDE = (
    r"\u3041-\u3096\u309b-\u30ff\u3131-\u3163\u3165-\u318e\u3400-\u4dbf\u4e00-\u9fff"
    r"\uac00-\ud7a3\uff01-\uff60\U0001f600-\U0001f64f"
)
KNOWN_WIDTH = rf"{NARROW}{WIDE}\t\n"
_PARTS = rf"(?P<narrow>[{NARROW}]+)|(?P<wide>[{WIDE}]+)|(?P<tabs>\t+)"


class Row:
    """The row with the cursor, as text that nothing has altered yet and cells behind it.

    `settled` gathers the text that has left the row.
    """

    __slots__ = ("cells", "cursor", "settled", "text", "text_width")

    def __init__(self, text: str, width: int, cursor: int) -> None:
        self.text = text
        self.text_width = width
        self.cells: list[str] = []
        self.cursor = cursor
        self.settled: list[str] = []

    @property
    def width(self) -> int:
        return self.text_width + len(self.cells)

    def line(self) -> str:
        return self.text + "".join(self.cells)

    def settle(self, end: str = "") -> None:
        self.settled.append(self.line() + end)
        self.erase()
        self.cursor = 0

    def end_line(self) -> None:
        self.settle("\n")

    def erase(self) -> None:
        self.text = ""
        self.text_width = 0
        self.cells.clear()

    def take_apart(self) -> None:
        if not self.text:
            return
        self.cells[:0] = _cells(self.text)
        self.text = ""
        self.text_width = 0

    def write(self, text: str) -> None:
        """Write characters of known width, tabs and line feeds."""
        if "\n" in text:
            text = self._write_lines(text)
        if text.isascii() and "\t" not in text:
            self.write_narrow(text)
            return
        for match in compiled(_PARTS).finditer(text):
            _WRITERS[match.lastgroup](self, match[0])

    def _write_lines(self, text: str) -> str:
        """Write whole lines, at the end of the row as they are, and tell what is left."""
        if self.cursor != self.width:
            first, _, text = text.partition("\n")
            self.write(first)
            self.end_line()
        lines, line_feed, rest = text.rpartition("\n")
        if line_feed:
            self.settle(lines + line_feed)
        return rest

    def write_narrow(self, text: str) -> None:
        start = 0
        while start < len(text):
            if self.cursor >= COLUMNS:
                self.settle()
            end = start + COLUMNS - self.cursor
            self._put(text[start:end])
            start = end

    def write_wide(self, text: str) -> None:
        start = 0
        while start < len(text):
            if self.cursor + 2 > COLUMNS:
                self.settle()
            end = start + (COLUMNS - self.cursor) // 2
            part = text[start:end]
            cells = [""] * (2 * len(part))
            cells[::2] = part
            self._put(cells)
            start = end

    def write_any(self, character: str) -> None:
        """Write one character of any width."""
        match character_width(character):
            case 0:
                self._combine(character)
            case 1:
                self.write_narrow(character)
            case _:
                self.write_wide(character)

    def _combine(self, mark: str) -> None:
        if self.cursor == 0:
            return
        self.take_apart()
        self._fill()
        index = _owner(self.cells, self.cursor - 1)
        if len(self.cells[index]) < _LONGEST_CELL:
            self.cells[index] += mark

    def _put(self, cells: Sequence[str]) -> None:
        if self.cursor < self.width:
            self._overwrite(cells)
        else:
            self._fill()
            self.cells.extend(cells)
        self.cursor += len(cells)

    def _overwrite(self, cells: Sequence[str]) -> None:
        start, end = self.cursor, self.cursor + len(cells)
        self.take_apart()
        _part(self.cells, start)
        _part(self.cells, end)
        self.cells[start:end] = cells

    def _fill(self) -> None:
        self.cells.extend([" "] * (self.cursor - self.width))

    def write_tabs(self, tabs: str) -> None:
        for _ in tabs:
            self.tab()

    def carriage_return(self) -> None:
        self.cursor = 0

    def backspace(self) -> None:
        self.left(1)

    def tab(self) -> None:
        if self.cursor >= COLUMNS:
            self.settle()
        stop = (self.cursor // _TAB_STOP + 1) * _TAB_STOP
        if self.cursor < self.width:
            self.cursor = stop
        else:
            self._put(["\t"] + [""] * (stop - self.cursor - 1))

    def left(self, columns: int) -> None:
        self.cursor = max(self.cursor - max(columns, 1), 0)

    def right(self, columns: int) -> None:
        self.cursor = min(self.cursor + max(columns, 1), COLUMNS - 1)

    def to_column(self, number: int) -> None:
        self.cursor = min(max(number, 1), COLUMNS) - 1

    def clear(self, part: int) -> None:
        """Clear from the cursor on (0), up to it and its own cell (1), or the whole row (2)."""
        if part == 2 or (part == 1 and self.cursor + 1 >= self.width):
            self.erase()
        elif part == 1:
            self._clear_before(self.cursor + 1)
        elif part == 0 and self.cursor < self.width:
            self._clear_from(self.cursor)

    def _clear_before(self, column: int) -> None:
        self.take_apart()
        _part(self.cells, column)
        self.cells[:column] = [" "] * column

    def _clear_from(self, column: int) -> None:
        self.take_apart()
        _part(self.cells, column)
        del self.cells[column:]


def _cells(line: str) -> list[str]:
    """Take the text of a row apart; a tab in it begins where it began when it was written."""
    if line.isascii() and "\t" not in line:
        return list(line)
    cells: list[str] = []
    for character in line:
        if character == "\t":
            cells += ["\t"] + [""] * (_TAB_STOP - len(cells) % _TAB_STOP - 1)
        elif width := character_width(character):
            cells += [character] + [""] * (width - 1)
        else:
            cells[_owner(cells, len(cells) - 1)] += character
    return cells


def _owner(cells: list[str], column: int) -> int:
    """Tell where the character begins that covers `column`."""
    while not cells[column]:
        column -= 1
    return column


def _part(cells: list[str], column: int) -> None:
    """Make blanks of a character that lies on both sides of the left edge of `column`."""
    if column >= len(cells) or cells[column]:
        return
    start, end = _owner(cells, column), column + 1
    while end < len(cells) and not cells[end]:
        end += 1
    cells[start:end] = [" "] * (end - start)


_WRITERS: dict[str | None, Callable[[Row, str], None]] = {
    "narrow": Row.write_narrow,
    "wide": Row.write_wide,
    "tabs": Row.write_tabs,
}
