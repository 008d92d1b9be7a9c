"""Escape, measure and join text.

Everything a peer sends is untrusted, so every print goes through `escape` (or `escape_html`), the
one place that decides which characters are harmless. The rest of the module measures text in the
units of editors: the number of its UTF-8 bytes and UTF-16 units, and the position of an offset in
them. Text is a `str` that may hold lone surrogates, because JSON may; nothing here raises for them.

A character is *unsafe* when a terminal or a browser may act on it, or when a reader cannot see it:

* the C0 and C1 controls and DEL, except tab and line feed where they are kept;
* the format characters (category Cf), among them the bidirectional marks, embeddings and isolates;
* other characters that Unicode lets a renderer ignore: fillers, variation selectors, tags;
* the line and paragraph separators, lone surrogates and noncharacters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import AnyStr, NamedTuple

from ._errors import checked

_CONTROLS = r"\x00-\x08\x0b-\x1f\x7f-\x9f"
_INVISIBLE = (
    r"\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5"
    r"\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    r"\ufff0-\ufffb"
)
_INVISIBLE_ASTRAL = (
    r"\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    r"\U000e0000-\U000e0fff"
)
_NOT_TEXT = r"\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"
_NOT_TEXT_ASTRAL = "".join(rf"\U{plane:04x}fffe\U{plane:04x}ffff" for plane in range(0x01, 0x11))
_HIDDEN_BASIC = _INVISIBLE + _NOT_TEXT
ASTRAL = r"\U00010000-\U0010ffff"
_HIDDEN_ASTRAL = rf"(?=[{ASTRAL}])[{_INVISIBLE_ASTRAL}{_NOT_TEXT_ASTRAL}]"
_HIDDEN = rf"(?:[{_HIDDEN_BASIC}]|{_HIDDEN_ASTRAL})"
UNSAFE = rf"(?:[{_CONTROLS}{_HIDDEN_BASIC}]|{_HIDDEN_ASTRAL})"

# A class with many astral ranges costs ten times as much a character as one with a single range, so
# the first search accepts every astral character, and only those found are checked precisely.
_SUSPECT = rf"[{_CONTROLS}{_HIDDEN_BASIC}{ASTRAL}]"
_SUSPECT_IN_LINE = rf"[\t\n{_CONTROLS}{_HIDDEN_BASIC}{ASTRAL}]"
_MAYBE_HIDDEN = rf"[{_HIDDEN_BASIC}{ASTRAL}]"

# Well-formed emoji hold two of the invisible characters: a presentation selector after a symbol,
# and a joiner between two symbols. Only there do they affect what the reader sees.
_SYMBOL = (
    r"[\xa9\xae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u24c2\u25aa-\u27bf\u2934\u2935"
    r"\u2b05-\u2b55\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
_PRESENTED = rf"{_SYMBOL}(?:[\ufe0e\ufe0f]|[\U0001f3fb-\U0001f3ff])?"
_EMOJI = rf"{_PRESENTED}(?:\u200d{_PRESENTED})*|[0-9#*]\ufe0f\u20e3"
_UNSAFE_OR_EMOJI = rf"({_EMOJI})|{UNSAFE}+"
_UNSAFE_OR_EMOJI_IN_LINE = rf"({_EMOJI})|(?:[\t\n]|{UNSAFE})+"

# The ampersand comes first, or it would escape the others' own.
_HTML_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}

_SURROGATE_PAIR = r"[\ud800-\udbff][\udc00-\udfff]"


@cache
def compiled(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return the compiled pattern; it is compiled on first use, to keep the import fast."""
    return re.compile(pattern, flags)


def escape(text: str, *, keep_newlines: bool = True) -> str:
    r"""Make `text` safe to print on a terminal, as one line if `keep_newlines` is false.

    Unsafe characters become what Python's `repr` shows for them: `\r`, `\x1b`, `\u202e`,
    `\U000e0041`. Backslashes stay as they are, so the result is for reading and cannot be undone.
    Line feeds and tabs stay too, unless `keep_newlines` is false. Safe text is returned unchanged.
    """
    checked(text, str, "text")
    suspect = _SUSPECT if keep_newlines else _SUSPECT_IN_LINE
    if compiled(suspect).search(text) is None:
        return text
    unsafe = _UNSAFE_OR_EMOJI if keep_newlines else _UNSAFE_OR_EMOJI_IN_LINE
    return compiled(unsafe).sub(_visible, text)


def _visible(match: re.Match[str]) -> str:
    return match[1] or match[0].encode("unicode_escape").decode("ascii")


def escape_html(text: str, *, keep_newlines: bool = True) -> str:
    """Make `text` safe as HTML text and as a quoted attribute value; controls as `escape` does."""
    text = escape(text, keep_newlines=keep_newlines)
    for character, entity in _HTML_ENTITIES.items():
        text = text.replace(character, entity)
    return text


def escape_json(text: str) -> str:
    r"""Make JSON text safe to print: unsafe characters become `\u202e` and the like.

    The result has the same meaning. Line feeds and tabs stay, since they separate values.
    """
    if compiled(_SUSPECT).search(text) is None:
        return text
    return compiled(rf"{UNSAFE}+").sub(_as_units, text)


def _as_units(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(rf"\u{units[place : place + 4]}" for place in range(0, len(units), 4))


def strip_hidden(text: str) -> str:
    """Remove every unsafe character except the controls, from within emoji too."""
    if text.isascii() or compiled(_MAYBE_HIDDEN).search(text) is None:
        return text
    return compiled(_HIDDEN).sub("", text)


def join_text(pieces: Iterable[str]) -> str:
    """Join `pieces`, and combine surrogates that were split between two of them."""
    return heal_surrogates("".join(pieces))


def heal_surrogates(text: str) -> str:
    """Combine each high surrogate and the low one after it into a character; lone ones stay."""
    if text.isascii() or compiled(_SURROGATE_PAIR).search(text) is None:
        return text
    return compiled(_SURROGATE_PAIR).sub(_paired, text)


def _paired(match: re.Match[str]) -> str:
    return match[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def utf8_length(text: str) -> int:
    """Count the UTF-8 bytes of `text`; a lone surrogate counts as three."""
    return _lengths(checked(text, str, "text"))[1]


def utf16_length(text: str) -> int:
    """Count the UTF-16 units of `text`; a lone surrogate counts as one."""
    return _lengths(checked(text, str, "text"))[2]


class Position(NamedTuple):
    """A place in a text, from its start and from the start of its line, in the units of editors.

    `offset` and `column` count characters, `utf8_…` bytes (as Neovim does), `utf16_…` UTF-16 units
    (as the Language Server Protocol does). All count from zero. Only a line feed ends a line.
    """

    offset: int = 0
    utf8_offset: int = 0
    utf16_offset: int = 0
    line: int = 0
    column: int = 0
    utf8_column: int = 0
    utf16_column: int = 0

    def after(self, text: str) -> Position:
        """Return the position after `text` that begins here, at the cost of `text` alone.

        The two halves of a surrogate pair must be in the same `text`, as `join_text` leaves them.
        """
        characters, utf8, utf16 = _lengths(text)
        offsets = (self.offset + characters, self.utf8_offset + utf8, self.utf16_offset + utf16)
        lines = text.count("\n")
        if lines:
            return Position(*offsets, self.line + lines, *_lengths(text[text.rindex("\n") + 1 :]))
        columns = (self.column + characters, self.utf8_column + utf8, self.utf16_column + utf16)
        return Position(*offsets, self.line, *columns)


def _lengths(text: str) -> tuple[int, int, int]:
    """Return how many characters, UTF-8 bytes and UTF-16 units a text has."""
    if text.isascii():
        return len(text), len(text), len(text)
    utf16 = len(text.encode("utf-16-le", "surrogatepass")) // 2
    return len(text), len(text.encode("utf-8", "surrogatepass")), utf16


_START = Position()


def position(text: str, offset: int) -> Position:
    """Return the position at `offset` characters in `text`; an offset outside is clamped."""
    checked(text, str, "text")
    return _START.after(text[: max(checked(offset, int, "an offset"), 0)])
