"""`GrownText`: a long text block that is sent whole repeatedly, a little longer each time.

Agents report the output of a running command by replacing the content of its tool call, often
inside a code fence, so the text grows before its last line. As strings, the versions would take
memory quadratic in the text. A `GrownText` shares all of its text except the ending with the
version before.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

from ._items import Items
from ._sequence_diff import common_prefix

_SHORTEST: Final = 1_024
"""The length, in characters, from which on a text is shared."""

_ENDING: Final = 256
"""The length, in characters, of the unshared ending; it may grow to twice that."""


class GrownText(Struct, frozen=True, gc=False, eq=False):
    """A text in pieces that other versions share, and its ending."""

    pieces: Items[str]
    shared: int
    ending: str

    @property
    def text(self) -> str:
        """The whole text."""
        return "".join(self.pieces._stored()) + self.ending

    def __eq__(self, other: object) -> bool:
        return str(other) == self.text if isinstance(other, str | GrownText) else NotImplemented

    def __ne__(self, other: object) -> bool:  # a Struct's own would compare identity
        return not self == other

    __hash__ = None  # type: ignore[assignment]  # equal to strings, which have another

    def __str__(self) -> str:
        return self.text

    def __reduce__(self) -> Any:
        return str, (self.text,)


def grown(old: object, new: str) -> str | GrownText:
    """Return a new text that shares as much as possible with the text that it replaces."""
    if len(new) < _SHORTEST or not isinstance(old, str | GrownText):
        return new
    if isinstance(old, GrownText):
        pieces, shared = old.pieces, old.shared
    else:
        pieces, shared = Items[str]._made([]), max(len(old) - _ENDING, _ENDING)
    if common_prefix(str(old), new) < shared:
        return new
    if isinstance(old, str):
        shared = 0
    if len(new) - shared > 2 * _ENDING:
        pieces = pieces._appended([new[shared:-_ENDING]])
        shared = len(new) - _ENDING
    return GrownText(pieces, shared, new[shared:])
