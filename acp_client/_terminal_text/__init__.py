"""What a terminal would show of a program's output, as plain text.

`parser` follows the bytes and their control sequences; `row` is the line with the cursor.
"""

from __future__ import annotations

from .parser import TranscriptTail

__all__ = ["TranscriptTail"]
