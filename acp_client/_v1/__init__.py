"""ACP v1 at the edge: what its messages say, in the words of v2.

The reducer knows one vocabulary. `translation` turns the messages of one connection into events of
sessions; the modules beside it each know one part of that (sessions, echoes, settings, terminals,
shapes).
"""

from __future__ import annotations

from .recognition import is_only_v1
from .translation import TranslationV1
from .words import WordsV1

__all__ = ["TranslationV1", "WordsV1", "is_only_v1"]
