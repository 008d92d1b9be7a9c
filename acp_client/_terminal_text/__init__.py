"""What a terminal would show of a program's output, as plain text.

`parser` follows the bytes and their control sequences; `row` is the line with the cursor, and
`marks` has what stands in it for characters with combining marks.
"""

from __future__ import annotations

from .parser import TranscriptTail, terminal_text

__all__ = ["TranscriptTail", "terminal_text"]
