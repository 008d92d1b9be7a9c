"""What every recorded format is read into, and what a format has to say and do.

A format sees values and turns them into frames: a value is a line, an element of an array, a JSON
text, an entry of a log. How the values are cut out of the file is the concern of `layouts`, so that
a format of lines is also read when somebody has pretty-printed it, made one array of it or pasted
it into Markdown.
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
    document, counted from 1 (0: from the head of the document). `sent` is true for what the client
    wrote. `data` is one JSON-RPC message or, where the peer wrote no JSON, what it wrote; it never
    holds a line feed. `time` is in seconds, since 1970 or, for formats that only say so much, since
    the recording began.
    """

    line: int
    sent: bool
    data: bytes
    time: float | None = None


@attrs.define
class Tally:
    """What was noticed while reading: values that were not messages, and an end that is torn."""

    passed_over: int = 0
    torn: bool = False

    def pass_over(self) -> None:
        """Count a header or an unknown value; a torn last one is counted as torn already."""
        if not self.torn:
            self.passed_over += 1


class Reader(Protocol):
    """Recognises the values of a format, and turns them into frames."""

    def recognises(self, data: bytes, found: Members) -> bool:
        """Return whether a value is of this format; `found` is empty if it is not an object."""
        ...

    def frames(self, values: Iterable[Value], tally: Tally) -> Iterator[Frame]:
        """Turn the values of one recording into frames, in order."""
        ...


@attrs.frozen
class Format:
    """A row of the table of formats.

    `origin` is what writes the format, and `shape` what each of its values is. `head` is the key
    of what else is needed, in a document that holds the values in a list.
    """

    name: str
    origin: str
    shape: str
    reader: Reader
    head: str | None = None
