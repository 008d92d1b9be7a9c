r"""What a terminal would show of a program's output, as plain text, bytes in any split.

The theory. A terminal is a parser in front of a grid. Of the grid only the row with the cursor is
kept, because nothing that is honoured here leaves that row: what is above has settled. Of the
parser only the sequence that the output ends in is kept, as text that goes before what comes next,
without what has no effect in it. So a `TranscriptTail` (one row and the beginning of a sequence) is
all there is to remember, and

    transcript == everything that `fed` has handed out, joined, + tail.line

The rules.

* Line feed, vertical tab and form feed settle the row. Carriage return, backspace, tab and
  CSI C, D, G move the cursor; CSI K clears the row before, behind or around it; CSI X, P, @ put
  blanks over characters, take characters out, and put blanks between them. Every other control
  character and sequence is passed over without effect, whatever its length: two-byte escapes, CSI,
  OSC (to BEL or ST), DCS, PM, APC and SOS (to ST), and the C1 forms of these. As on a terminal,
  CAN, SUB and ESC end an unfinished sequence, and controls within one take effect.
* Characters overwrite cells. A wide character takes two; half of one that is overwritten leaves a
  blank. Combining characters join the cell before the cursor, up to a limit. A tab at the end of
  the row stays a tab, and becomes blanks when it is overwritten in part.
* Characters that `escape` would make visible are left out, so the transcript is safe to print.
* A row of `COLUMNS` is full: it settles without a line feed and the next row goes on behind it,
  as if the terminal were that wide. Thus lines may have any length, while the tail stays small.
* Blanks that moves of the cursor bring have to be earned, so a transcript has at most ten times as
  many characters as the output has bytes (see `row`).
* UTF-8 is read as in UTF-8 terminals: a malformed sequence is U+FFFD, C1 controls come encoded, and
  a sequence that is not complete waits.

The steps of a feed. Whatever has no effect is taken out of the text by regular expressions, and
what is left is text, six control characters and the sequences with an effect. Text between them is
written at once, and whole lines of it, which is nearly all of most output, all together.
"""

from __future__ import annotations

import re
from codecs import utf_8_decode
from collections.abc import Callable
from functools import lru_cache
from typing import Final, NamedTuple

from .._errors import checked
from .._text import compiled, strip_hidden
from .row import Row, RowState

_LONGEST_PARAMETERS: Final = 32

_EFFECTIVE: Final = rf"(?:\x1b\[|\x9b)[0-9;]{{0,{_LONGEST_PARAMETERS}}}[CDGKPX@]"
_NOT_ASCII: Final = r"\x80-\U0010ffff"
_CSI: Final = (
    rf"(?![0-9;]{{0,{_LONGEST_PARAMETERS}}}[CDGKPX@])"
    rf"[ -?]*+(?:[@-~\x18\x1a]|(?=[\x1b{_NOT_ASCII}]))"
)
_OSC: Final = r"[^\x07\x18\x1a\x1b\x80-\x9f]*+(?:[\x07\x18\x1a]|(?=[\x1b\x80-\x9f]))"
_STRING: Final = r"[^\x18\x1a\x1b\x80-\x9f]*+(?:[\x18\x1a]|(?=[\x1b\x80-\x9f]))"
_ESCAPE: Final = rf"[ -/]*+(?:[\x18\x1a]|(?=[\x1b{_NOT_ASCII}]))|[ -/]++[0-~]|[0-OQ-WYZ\\`-~]"
_WITHOUT_EFFECT: Final = (
    rf"\x1b(?:\[{_CSI}|\]{_OSC}|[PX^_]{_STRING}|{_ESCAPE})"
    rf"|\x9b{_CSI}|\x9d{_OSC}|\x90{_STRING}|\x98{_STRING}|\x9e{_STRING}|\x9f{_STRING}"
)
"""Sequences and strings without an effect; fast, as each branch begins with one character."""
_IGNORED: Final = r"[\x00-\x07\x0e-\x1a\x1c-\x1f\x7f-\x8f\x91-\x97\x99\x9a\x9c]+"

_OBEYED_WITHIN: Final = r"[\x00-\x17\x19\x1c-\x1f\x7f]"
_INTERRUPTED: Final = "|".join(
    f"{introducer}(?:{within}*+{_OBEYED_WITHIN}++)++"
    for introducer, within in ((r"\x1b\[", "[ -?]"), (r"\x9b", "[ -?]"), (r"\x1b", "[ -/]"))
)

_ALL_EFFECTIVE: Final = rf"(?:[^\x00-\x07\x0b\x0c\x0e-\x1f\x7f-\x9f]++|{_EFFECTIVE})*+\Z"

_INTRODUCERS: Final = "\x1b\x90\x98\x9b\x9d\x9e\x9f"
_BEGUN: Final = (
    rf"(?:\x1b\[|\x9b)[ -?]{{0,{_LONGEST_PARAMETERS + 1}}}+(?=[ -?]*+\Z)"
    r"|\x1b[PX\]^_]|[\x90\x98\x9d-\x9f]|\x1b[ -/]?+(?=[ -/]*+\Z)"
)
"""What has to be kept of a sequence or string that is not finished."""

_TOKEN: Final = (
    rf"({_EFFECTIVE}|\r\x1b\[0?K|[^\x08\r\x1b\x9b]++|(?:\r[ -~]*+)++|\x08++)(?:(?<=[KX])\1)*+"
)
"""What clears cells has no other effect the second time: it is a token with its repeats."""

_REPEATED: Final = "KX"

_CONTROL: Final = r"[\x00-\x08\x0b-\x1f\x7f-\x9f]"
_MOVES_OR_CHANGES: Final = r"[\x08\r\x1b\x9b]"

_WRITTEN: Final = bytes({*range(256)} - {*range(32), 0x7F, 0xC2} | {0x09, 0x0A})
"""Bytes of which text consists; where there are others (0xC2 begins C1) it is looked at closely."""


class TranscriptTail(NamedTuple):
    """The end of a transcript that more output may still alter: an immutable value.

    `line` is the text of the unfinished row and all that a reader needs; the rest is for what comes
    next. `TranscriptTail()` is where every transcript begins.
    """

    row: RowState = RowState()
    unfinished: str = ""
    undecoded: bytes = b""

    @property
    def line(self) -> str:
        """The text of the unfinished row."""
        return self.row.line

    def fed(self, data: bytes) -> tuple[TranscriptTail, str]:
        """Go on with `data`: the new tail, and the text that has settled before it."""
        # A line feed forgets the cursor, so a return before it has no effect.
        data = (self.undecoded + data).replace(b"\r\n", b"\n")
        text, decoded = utf_8_decode(data, "replace", False)
        text, unfinished, row = strip_hidden(text), self.unfinished, Row(self.row)
        if unfinished or data.translate(None, _WRITTEN):
            text, unfinished = _cleaned(unfinished + text)
            _read(row, text)
        else:
            row.write(text)
        return TranscriptTail(row.state(), unfinished, data[decoded:]), "".join(row.settled)


def transcript(data: bytes) -> str:
    """Return what a terminal would show of the whole output `data`."""
    tail, settled = TranscriptTail().fed(data)
    return settled + tail.line


def terminal_text(text: str) -> str:
    r"""Return what a terminal would show of a text, such as the plain text that a tool put out.

    Colours and other sequences are left out, and what a carriage return goes back to is written
    over: `"\x1b[1m10%\r100%\x1b[0m"` becomes `"100%"`. Text without control characters is returned
    itself. For the output of a terminal there is `Terminal.text`.

    Raises `InvalidValueError` if `text` is not a string.
    """
    if compiled(_CONTROL).search(checked(text, str, "a text")) is None:
        return text
    return transcript(text.encode("utf-8", "ignore"))


def _cleaned(text: str) -> tuple[str, str]:
    """Return text without what has no effect, and what is left of a sequence that it ends in."""
    if compiled(_ALL_EFFECTIVE).match(text):  # rows that are rewritten all the time
        return text, ""
    while compiled(_INTERRUPTED).search(text):
        text = compiled(_INTERRUPTED).sub(_uninterrupted, text)
    text = compiled(_WITHOUT_EFFECT).sub("", text)
    text = compiled(_IGNORED).sub("", text).replace("\v", "\n").replace("\f", "\n")
    last = max(map(text.rfind, _INTRODUCERS))
    begun = compiled(_BEGUN).match(text, last) if last >= 0 else None
    return (text, "") if begun is None else (text[:last], begun[0])


def _uninterrupted(match: re.Match[str]) -> str:
    """Put the controls within a sequence before it, where CAN ends the string it may be in."""
    controls = "".join(compiled(_OBEYED_WITHIN).findall(match[0]))
    return f"\x18{controls}{compiled(_OBEYED_WITHIN).sub('', match[0])}"


def _read(row: Row, text: str) -> None:
    """Obey text without anything that is ignored."""
    if compiled(_MOVES_OR_CHANGES).search(text) is None:
        row.write(text)
        return
    for part in compiled(_TOKEN).findall(text):
        if part[0] in _CONTROLS:
            obey, number, earned = _action(part)
            row.earned += earned
            obey(row, number)
        elif part == "\r":
            row.cursor = 0
        elif part in _RESTARTS:
            row.erase()
            row.cursor = 0
        elif part[0] == "\r":
            row.overwrite(part.split("\r")[1:])
        else:
            row.write(part)


_CONTROLS: Final = "\b\x1b\x9b"
_RESTARTS: Final = frozenset({"\r\x1b[K", "\r\x1b[0K"})
_OBEYED: Final[dict[str, Callable[[Row, int], None]]] = {
    "C": Row.right,
    "D": Row.left,
    "G": Row.to_column,
    "K": Row.clear,
    "P": Row.delete,
    "X": Row.blank,
    "@": Row.insert,
}


@lru_cache(maxsize=1024)
def _action(token: str) -> tuple[Callable[[Row, int], None], int, int]:
    """Return how a control is obeyed: the action, its number, and what it earns."""
    if token[0] == "\b":
        return Row.left, len(token), 0
    parameters = token[1:-1].removeprefix("[")
    number = int(parameters.partition(";")[0] or 0)
    return _OBEYED[token[-1]], number, 0 if token[-1] in _REPEATED else len(parameters) + 3
