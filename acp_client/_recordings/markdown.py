"""Markdown with recorded traffic in fenced blocks: an issue, a chat, the notes of a session.

Only what stands between fences counts, and of that only blocks that hold something of the format
that was recognised: other blocks are commands, settings and code. A block is kept until its end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from .frames import Tally, Value
from .json_slices import compact
from .log_lines import entries

FENCE: Final = re.compile(rb"[ \t>]*(```+|~~~+)([^`\r\n]*)")
"""A line that begins or ends a block; it may be in a quotation."""


def fenced(
    lines: Iterable[bytes], is_known: Callable[[bytes], bool], tally: Tally
) -> Iterator[Value]:
    """Return the values in the fenced blocks; blocks without a known one are passed over."""
    for block in _blocks(lines):
        values = list(entries(block))
        if any(is_known(data) for _, data in values):
            yield from ((number, compact(data)) for number, data in values)
        else:
            tally.pass_over()


def _blocks(lines: Iterable[bytes]) -> Iterator[list[Value]]:
    """Return the lines of each block, without blank ones; the last may lack its end."""
    mark, block = b"", list[Value]()
    for number, line in enumerate(lines, 1):
        fence = FENCE.match(line)
        if not mark:
            mark = fence[1] if fence else b""
        elif fence and fence[1].startswith(mark) and not fence[2].strip():
            yield block
            mark, block = b"", []
        elif data := line.strip(b" \t\r\n"):
            block.append((number, data))
    if block:
        yield block
