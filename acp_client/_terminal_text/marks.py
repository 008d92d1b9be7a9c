"""Characters with combining marks: each is stood for by one code point, so that it is one cell.

The code points are surrogates and, when those are used up, tags: text that a terminal shows has
neither (see `strip_hidden`).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import chain
from typing import Final

_LONGEST_CELL: Final = 16


@cache
def _stand_ins() -> str:
    return "".join(map(chr, chain(range(0xD800, 0xE000), range(0xE0000, 0xE1000))))


class Marks:
    """What stands for which marked characters in the cells of a row."""

    __slots__ = ("_cells", "_texts")

    def __init__(self, texts: dict[str, str] | None = None) -> None:
        self._texts: dict[str, str] = {} if texts is None else texts
        self._cells = {text: cell for cell, text in self._texts.items()}

    def copy(self) -> Marks:
        """Return other marks that are the same."""
        return Marks(self._texts.copy())

    def text(self, cells: str) -> str:
        """Return the text of cells."""
        return "".join(map(self._texts.get, cells, cells))

    def with_marks(self, cell: str, marks: str) -> str:
        """Return what stands for the character in a cell, with more marks."""
        return self.stand_ins([self._texts.get(cell, cell) + marks])[0]

    def stand_ins(self, texts: Iterable[str]) -> list[str]:
        """Return what stands for marked characters; of too many marks the first ones are kept."""
        cut = [text[:_LONGEST_CELL] for text in texts]
        for text in dict.fromkeys(cut):
            if text not in self._cells:
                cell = self._cells[text] = _stand_ins()[len(self._texts)]
                self._texts[cell] = text
        return list(map(self._cells.__getitem__, cut))

    def has_room_for(self, count: int) -> bool:
        """Return whether there is something left to stand for more characters."""
        return len(self._texts) + count <= len(_stand_ins())

    def renumbered(self, cells: str) -> tuple[Marks, str]:
        """Return the marks that the cells of a row have, and its cells with them."""
        used = [cell for cell in dict.fromkeys(cells) if cell in self._texts]
        again = dict(zip(used, _stand_ins(), strict=False))
        kept = Marks({again[cell]: self._texts[cell] for cell in used})
        return kept, "".join(map(again.get, cells, cells))
