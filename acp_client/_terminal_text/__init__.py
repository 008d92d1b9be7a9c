"""What a terminal would show of a program's output, as plain text.

`parser` follows the bytes and their control sequences; `row` is the line with the cursor, and
`marks` has what stands in it for characters with combining marks. `growing` keeps the text of
output that grows, and loses its beginning.
"""

from __future__ import annotations

from .growing import GrowingTranscript
from .parser import TranscriptTail, terminal_text

__all__ = ["GrowingTranscript", "TranscriptTail", "terminal_text"]
