"""What people do with a recording: shorten it, clean it, judge it, travel in it, show it.

Each tool is a function over frames, as `read_recording` yields them, so tools can be chained.
`compacting`, with `compact_v1` and `compact_v2`, writes the shortest log with the same state.
`redacting` replaces secrets: `secret_finder` finds them, by `secret_places` and `secret_patterns`.
`checking` judges a recording by the tables of `rules_…`; `conversation` is what rules can look at.
`journal` keeps a log with its states; `hashing` and `bisecting` compare states.
`page` makes an HTML page of a recording.
"""

from __future__ import annotations

from .bisecting import bisect, first_difference
from .checking import check
from .compacting import compact
from .findings import (
    RULES_BY_ID,
    SEVERITIES,
    finding_lines,
    findings_document,
    sarif_document,
)
from .hashing import state_hash
from .journal import Journal
from .page import to_html
from .redacting import Redaction, redact
from .rule import Finding
from .secret_finder import Replacement

__all__ = [
    "RULES_BY_ID",
    "SEVERITIES",
    "Finding",
    "Journal",
    "Redaction",
    "Replacement",
    "bisect",
    "check",
    "compact",
    "finding_lines",
    "findings_document",
    "first_difference",
    "redact",
    "sarif_document",
    "state_hash",
    "to_html",
]
