"""Lines in blocks, and the edits that keep a buffer equal to them.

A `Document` has a block for each entry of a conversation, and a tail below them. Whoever changes a
block says which of its lines change; the document finds the row where the block begins and notes an
edit of those rows alone. Nothing here knows of an editor, or of what the lines mean.

The rows before a block are summed up by a Fenwick tree, so an edit costs as much in a conversation
of 10,000 entries as in one of ten.
"""

from __future__ import annotations

from typing import NamedTuple


class Extension(NamedTuple):
    """Put `text` behind what stands in line `row`."""

    row: int
    text: str


class Replacement(NamedTuple):
    """Put `lines` in the place of the lines from `start` up to `end`."""

    start: int
    end: int
    lines: list[str]


class RowCounts:
    """How many rows each block has, as a Fenwick tree."""

    def __init__(self) -> None:
        self._tree = [0]

    def append(self, count: int) -> None:
        """Count one more block."""
        place = len(self._tree)
        below = self.before(place - 1) - self.before(place - (place & -place))
        self._tree.append(count + below)

    def add(self, block: int, more: int) -> None:
        """Let a block have `more` rows."""
        place = block + 1
        while place < len(self._tree):
            self._tree[place] += more
            place += place & -place

    def before(self, block: int) -> int:
        """Return how many rows the blocks before one have."""
        total = 0
        while block:
            total += self._tree[block]
            block -= block & -block
        return total


class Document:
    """Blocks of lines, and a tail below them: at first one empty line, as in an empty buffer."""

    def __init__(self) -> None:
        self.blocks: list[list[str]] = []
        self._tail = [""]
        self._rows = RowCounts()
        self._edits: list[Extension | Replacement] = []

    @property
    def lines(self) -> list[str]:
        """All lines: those of a buffer that has taken the edits."""
        return [line for block in [*self.blocks, self._tail] for line in block]

    def take_edits(self) -> list[Extension | Replacement]:
        """Return what to do to the buffer, in order, and forget it."""
        edits, self._edits = self._edits, []
        return edits

    def row(self, block: int) -> int:
        """Return the row where a block begins; where the tail does, for their number."""
        return self._rows.before(block)

    def clear(self) -> None:
        """Take all blocks away."""
        self._edits.append(Replacement(0, self.row(len(self.blocks)), []))
        self.blocks, self._rows = [], RowCounts()

    def append(self, lines: list[str]) -> None:
        """Put a block behind the last one."""
        self.blocks.append([])
        self._rows.append(0)
        self.replace(len(self.blocks) - 1, 0, 0, lines)

    def extend(self, block: int, text: str) -> None:
        """Put text, without a line feed, behind the last line of a block."""
        lines = self.blocks[block]
        lines[-1] += text
        self._edits.append(Extension(self.row(block) + len(lines) - 1, text))

    def replace(self, block: int, start: int, end: int | None, lines: list[str]) -> None:
        """Replace lines of a block from `start` up to `end`, or all that follow."""
        more = self._replace(self.blocks[block], self.row(block), start, end, lines)
        self._rows.add(block, more)

    def replace_tail(self, lines: list[str]) -> None:
        """Replace what is below the blocks; its last line, the last of all, is only changed."""
        row, last = self.row(len(self.blocks)), len(self._tail) - 1
        self._replace(self._tail, row, last, last + 1, lines[-1:])
        self._replace(self._tail, row, 0, last, lines[:-1])

    def _replace(
        self, held: list[str], row: int, start: int, end: int | None, lines: list[str]
    ) -> int:
        """Replace what lies between the first and the last line that differ; return the growth."""
        end = len(held) if end is None else end
        growth, most = len(lines) - (end - start), min(end - start, len(lines))
        same = 0
        while same < most and held[start + same] == lines[same]:
            same += 1
        start, lines, most = start + same, lines[same:], most - same
        while most and held[end - 1] == lines[-1]:
            end, lines, most = end - 1, lines[:-1], most - 1
        if start != end or lines:
            held[start:end] = lines
            self._note(Replacement(row + start, row + end, lines))
        return growth

    def _note(self, edit: Replacement) -> None:
        """Join what is put behind the last thing that was put."""
        last = self._edits[-1] if self._edits else None
        if isinstance(last, Replacement) and edit.start == edit.end == last.start + len(last.lines):
            last.lines.extend(edit.lines)
        else:
            self._edits.append(edit)
