"""What people do with a recording: shorten it, clean it, judge it, travel in it, show it.

Each tool is a function over frames, as `read_recording` yields them, so tools can be chained.
`compacting`, with `compact_v1` and `compact_v2`, writes the shortest log with the same state.
`redacting` replaces secrets: `secret_finder` finds them, by `secret_places` and `secret_patterns`.
"""

from __future__ import annotations

from .compacting import compact
from .redacting import Redaction, redact
from .secret_finder import Replacement

__all__ = ["Redaction", "Replacement", "compact", "redact"]
