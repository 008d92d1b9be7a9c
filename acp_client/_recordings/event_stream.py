"""Server-sent events: the data of each event, as an agent behind HTTP sends messages.

An event is lines `field: value` up to a blank line; the values of its `data` lines are joined. All
other fields, and comments, say nothing about the conversation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from .frames import Value
from .json_slices import compact, trim

FIELD: Final = re.compile(rb"(data|event|id|retry):|:")
"""How a line of an event begins."""


def events(lines: Iterable[bytes]) -> Iterator[Value]:
    """Return the data of each event; its number is that of its first line of data."""
    begin, data = 0, list[bytes]()
    for number, line in enumerate(lines, 1):
        text = trim(line)
        if text.startswith(b"data:"):
            begin = begin if data else number
            data.append(text.removeprefix(b"data:"))
        elif not text and data:
            yield begin, _joined(data)
            data = []
    if data:
        yield begin, _joined(data)


def _joined(data: list[bytes]) -> bytes:
    return compact(b"\n".join(data).strip())
