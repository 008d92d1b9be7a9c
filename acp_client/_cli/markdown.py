"""What somebody said, as lines: Markdown that stays as it was written, wrapped and lightly styled.

Nothing is taken away or rearranged: a transcript is for reading what was said, also in a pipe, and
agents write Markdown that reads well as it is. Headings, `code` and **strong** words get a style,
list items hang, fenced code and tables keep their lines.

`Prose` takes text in pieces and returns what can be shown of it: whole lines, and the whole words
of the unfinished line. Joined, the results equal those for the text in one piece. Blank lines wait
for the text after them, so there are none at the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from .._text import escape, heal_surrogates
from ..wire import ContentBlock, TextContent
from .contents import block_lines
from .layout import INDENT, NEWLINE, Layout, Span, after, folded, length, line, paragraph

_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")
_HEADING = re.compile(r"#{1,6}\s")
_HANGING = re.compile(r"\s*(?:(?:[-*+]|\d{1,3}[.)])\s+|>\s?)?")
_LITERAL = re.compile(r"\s*\|")
_INLINE = re.compile(r"`[^`]+`|\*\*[^*]+\*\*")

_DEEPEST_HANGING: Final = 16


class Prose:
    """Text that comes in pieces, as lines of prose."""

    def __init__(self, layout: Layout, style: str = "") -> None:
        self._layout = layout
        self._style = style
        self._pending = ""  # the line that has not ended
        self._shown = 0  # characters of its lines that were given out
        self._blank = 0  # blank lines that wait
        self._begun = False
        self._fenced = False

    def feed(self, text: str) -> list[Span]:
        """Take more text; return what can be shown now."""
        *lines, self._pending = heal_surrogates(self._pending + text).split("\n")
        spans: list[Span] = []
        for ended in lines:
            spans += self._line(ended)
        return spans + self._whole_words()

    def finish(self) -> list[Span]:
        """End the unfinished line and return the rest of it."""
        pending, self._pending = self._pending, ""
        return self._line(pending) if pending else []

    def _line(self, text: str) -> list[Span]:
        """Return the part of a line that was not returned yet."""
        if not text.strip():
            self._blank += 1
            return []
        rest = after(self._rendered(text), self._shown)
        before = [] if self._shown else self._begin()
        self._shown = 0
        self._fenced ^= bool(_FENCE.match(text))
        return before + rest

    def _whole_words(self) -> list[Span]:
        """Return the new whole words of the unfinished line."""
        words = self._pending.rsplit(None, 1)
        is_open = bool(words) and self._pending.endswith(words[-1])
        whole = self._pending[: -len(words[-1])] if is_open else self._pending
        if not whole.strip() or self._is_literal(whole):
            return []
        spans = self._rendered(whole)[:-1]  # the line has not ended
        rest = after(spans, self._shown)
        before = [] if self._shown else self._begin()
        self._shown = length(spans)
        return before + rest

    def _begin(self) -> list[Span]:
        """Return the blank lines that waited."""
        blank, self._blank = self._blank, 0
        begun, self._begun = self._begun, True
        return [NEWLINE] * blank if begun else []

    def _is_literal(self, text: str) -> bool:
        return self._fenced or bool(_FENCE.match(text) or _LITERAL.match(text))

    def _rendered(self, text: str) -> list[Span]:
        """Lay out one line of the text, which may take several."""
        safe = escape(text.expandtabs(4)).rstrip()
        if self._is_literal(text):
            return self._literal(safe)
        hanging = _HANGING.match(safe)
        depth = min(hanging.end() if hanging else 0, _DEEPEST_HANGING)
        rest = INDENT + " " * depth
        return paragraph(self._styled(safe), self._layout, first=INDENT, rest=rest)

    def _literal(self, text: str) -> list[Span]:
        fold = self._layout.fold
        style = self._style or ("code" if self._fenced and not _FENCE.match(text) else "")
        if not self._style and _FENCE.match(text):
            style = "faint"
        spans: list[Span] = []
        for piece in folded(text, fold and fold - len(INDENT)):
            spans += line((INDENT, ""), (piece, style))
        return spans

    def _styled(self, text: str) -> list[Span]:
        if self._style or _HEADING.match(text):
            return [(text, self._style or "heading")]
        spans, end = [], 0
        for found in _INLINE.finditer(text):
            spans.append((text[end : found.start()], ""))
            spans.append((found[0], "code" if found[0][0] == "`" else "strong"))
            end = found.end()
        return [*spans, (text[end:], "")]


class Speech:
    """The content blocks of a message that come in pieces: prose, and blocks that are not text."""

    def __init__(self, layout: Layout, style: str = "") -> None:
        self._layout = layout
        self._prose = Prose(layout, style)

    def feed(self, blocks: Iterable[ContentBlock]) -> list[Span]:
        """Take more blocks; return what can be shown now."""
        spans: list[Span] = []
        text: list[str] = []
        for block in blocks:
            if isinstance(block, TextContent):
                text.append(block.text)
                continue
            spans += self._prose.feed("".join(text)) + self._prose.finish()
            spans += block_lines(block, self._layout)
            text.clear()
        return spans + self._prose.feed("".join(text))

    def finish(self) -> list[Span]:
        """Return the rest of the text."""
        return self._prose.finish()


def speech(blocks: Iterable[ContentBlock], layout: Layout, style: str = "") -> list[Span]:
    """Show content blocks that are all there."""
    said = Speech(layout, style)
    return said.feed(blocks) + said.finish()
