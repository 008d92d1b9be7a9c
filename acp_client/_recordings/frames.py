"""What every recorded format is read into, and what a format must be able to do.

A format sees values (lines, elements of an array, JSON texts one after another) and turns them
into frames. How the values are cut out of the file is not its concern, so that a format of lines
is also read when somebody has pretty-printed it or made one array of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

import attrs

from .json_slices import Members

Value = tuple[int, bytes]
"""A value and its number: of its line, or among the values of a document; both count from 1.

Number 0 is what the head of a document says (see `Format.head`).
"""


@attrs.frozen
class Frame:
    """One recorded message.

    `line` is the line of the file, or the place of the message in a recording that is one
    document, counted from 1 (0: from the head of the document). `sent` tells that the client
    wrote it. `data` is one JSON-RPC message or, where the peer wrote no JSON, what it wrote; it
    never holds a line feed. `time` is in seconds, since 1970 or, for formats that only tell so
    much, since the recording began.
    """

    line: int
    sent: bool
    data: bytes
    time: float | None = None


@attrs.define
class Tally:
    """What was noticed while reading: values that were no messages, and an end that is torn."""

    passed_over: int = 0
    torn: bool = False

    def pass_over(self) -> None:
        """Count a header or an unknown value; a torn last one has been told already."""
        if not self.torn:
            self.passed_over += 1


class Format(Protocol):
    """A row of the table of formats."""

    @property
    def name(self) -> str:
        """The name to choose the format by."""

    @property
    def head(self) -> str | None:
        """The key, in a document that holds the values in a list, of what else is needed."""

    def recognises(self, data: bytes, found: Members) -> bool:
        """Tell whether a value is of this format; `found` is empty if it is no object."""

    def frames(self, values: Iterable[Value], tally: Tally) -> Iterator[Frame]:
        """Turn the values of one recording into frames, in order."""
