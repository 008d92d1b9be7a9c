"""What people do with a recording: shorten it, clean it, judge it, travel in it, show it.

Each tool is a function over frames, as `read_recording` yields them, so tools can be chained.
`compacting`, with `compact_v1` and `compact_v2`, writes the shortest log with the same state.
"""

from __future__ import annotations

from .compacting import compact

__all__ = ["compact"]
