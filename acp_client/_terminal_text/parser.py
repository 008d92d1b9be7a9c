r"""What a terminal would show of a program's output, as plain text, bytes in any split.

The theory. A terminal is a parser in front of a grid. The parser here is the usual one for ECMA-48
in UTF-8: a phase and, within a control sequence, the parameters so far. Of the grid only the row
with the cursor is kept, because nothing that is honoured here leaves that row: what is above has
settled. So a `TranscriptTail` (one row, a cursor, a phase) is all there is to remember, and

    transcript == everything that `fed` has handed out, joined, + tail.line

The rules.

* Line feed, vertical tab and form feed settle the row. Carriage return, backspace, tab and
  CSI C, D, G move the cursor; CSI K clears the row before, behind or around it. Every other
  control character and sequence is passed over without effect, whatever its length: two-byte
  escapes, CSI, OSC (to BEL or ST), DCS, PM, APC and SOS (to ST), and the C1 forms of these. As on
  a terminal, CAN, SUB and ESC end an unfinished sequence, and controls within one take effect.
* Characters overwrite cells. A wide character takes two; half of one that is overwritten leaves a
  blank. Combining characters join the cell before the cursor, up to a limit. A tab at the end of
  the row stays a tab, and becomes blanks when it is overwritten in part.
* Characters that `escape` would make visible are left out, so the transcript is safe to print.
* A row of `COLUMNS` is full: it settles without a line feed and the next row goes on behind it,
  as if the terminal were that wide. Thus lines may have any length, while the tail stays small.
* UTF-8 is read as in UTF-8 terminals: a malformed sequence is U+FFFD, C1 controls come encoded, and
  a sequence that is not complete waits.

The cost of a feed is that of its bytes, plus at most that of one row. Runs of printable text are
handled by regular expressions, not character by character, but for scripts that need a closer look.
"""

from __future__ import annotations

from codecs import utf_8_decode
from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

from .._text import compiled, strip_hidden
from .row import KNOWN_WIDTH, Row

_LONGEST_PARAMETERS = 32
# Sequences that colour text are the most frequent of those without effect: passed over at once.
_NO_EFFECT = r"(?:\x1b\[[ -?]*[@-BEFH-JL-~])+"
_CONTROL = r"[\x00-\x1f\x7f-\x9f]"
_RUN = rf"([{KNOWN_WIDTH}]+)|([^{KNOWN_WIDTH}\x00-\x1f\x7f-\x9f]+)|{_NO_EFFECT}|({_CONTROL})"
_NO_PARAMETER = r"[^ -?]"
_NUMBERS = rf"[0-9;]{{0,{_LONGEST_PARAMETERS}}}"


class Phase(Enum):
    """What the next character belongs to."""

    TEXT = "text"
    ESCAPE = "escape"
    INTERMEDIATE = "intermediate"
    CONTROL_SEQUENCE = "control sequence"
    COMMAND_STRING = "command string"
    CONTROL_STRING = "control string"


class TranscriptTail(NamedTuple):
    """The end of a transcript that more output may still alter: an immutable value.

    `line` is the text of the unfinished row and all that a reader needs. `width` is its columns,
    `cursor` the column where it goes on; the rest is for the parser. `TranscriptTail()` is where
    every transcript begins.
    """

    line: str = ""
    width: int = 0
    cursor: int = 0
    phase: Phase = Phase.TEXT
    parameters: str = ""
    undecoded: bytes = b""

    def fed(self, data: bytes) -> tuple[TranscriptTail, str]:
        """Go on with `data`: the new tail, and the text that has settled before it."""
        data = self.undecoded + data
        text, decoded = utf_8_decode(data, "replace", False)
        parser = _Parser(self)
        # A line feed forgets the cursor, so a return before it has no effect.
        parser.read(strip_hidden(text.replace("\r\n", "\n")))
        return parser.tail(data[decoded:]), "".join(parser.row.settled)


def transcript(data: bytes) -> str:
    """Tell what a terminal would show of the whole output `data`."""
    tail, settled = TranscriptTail().fed(data)
    return settled + tail.line


_CONTROLS: dict[str, Callable[[Row], None]] = {
    "\b": Row.backspace,
    "\t": Row.tab,
    "\n": Row.end_line,
    "\v": Row.end_line,
    "\f": Row.end_line,
    "\r": Row.carriage_return,
}
_SEQUENCES: dict[str, Callable[[Row, int], None]] = {
    "C": Row.right,
    "D": Row.left,
    "G": Row.to_column,
    "K": Row.clear,
}
_INTRODUCERS = {
    "\x1b": Phase.ESCAPE,
    "\x90": Phase.CONTROL_STRING,
    "\x98": Phase.CONTROL_STRING,
    "\x9b": Phase.CONTROL_SEQUENCE,
    "\x9d": Phase.COMMAND_STRING,
    "\x9e": Phase.CONTROL_STRING,
    "\x9f": Phase.CONTROL_STRING,
}
_CANCEL = frozenset({"\x18", "\x1a"})
# Behind ESC these stand for the C1 controls above.
_ESCAPED_INTRODUCERS = {
    "P": Phase.CONTROL_STRING,
    "X": Phase.CONTROL_STRING,
    "[": Phase.CONTROL_SEQUENCE,
    "]": Phase.COMMAND_STRING,
    "^": Phase.CONTROL_STRING,
    "_": Phase.CONTROL_STRING,
}
_STRING_ENDS = {
    Phase.COMMAND_STRING: r"[\x07\x18\x1a\x1b\x80-\x9f]",
    Phase.CONTROL_STRING: r"[\x18\x1a\x1b\x80-\x9f]",
}


class _Parser:
    """A tail while it is fed."""

    __slots__ = ("parameters", "phase", "row")

    def __init__(self, tail: TranscriptTail) -> None:
        self.row = Row(tail.line, tail.width, tail.cursor)
        self.phase = tail.phase
        self.parameters = tail.parameters

    def tail(self, undecoded: bytes) -> TranscriptTail:
        row = self.row
        return TranscriptTail(
            row.line(), row.width, row.cursor, self.phase, self.parameters, undecoded
        )

    def enter(self, phase: Phase) -> None:
        self.phase = phase
        self.parameters = ""

    def read(self, text: str) -> None:
        position = 0
        while position < len(text):
            position = _READERS[self.phase](self, text, position)

    def read_text(self, text: str, position: int) -> int:
        for match in compiled(_RUN).finditer(text, position):
            known, unknown, control = match.groups()
            if known:
                self.row.write(known)
            elif unknown:
                for character in unknown:
                    self.row.write_any(character)
            elif control:
                self.control(control)
                if self.phase is not Phase.TEXT:
                    return match.end()
        return len(text)

    def control(self, character: str) -> None:
        """Obey a control character, which may be within a sequence."""
        if introduced := _INTRODUCERS.get(character):
            self.enter(introduced)
        elif character in _CANCEL or character >= "\x80":
            self.enter(Phase.TEXT)
        elif action := _CONTROLS.get(character):
            action(self.row)

    def read_escape(self, text: str, position: int) -> int:
        character = text[position]
        if compiled(_CONTROL).match(character):
            self.control(character)
        elif character <= "/":
            self.enter(Phase.INTERMEDIATE)
        elif character > "~":
            self.enter(Phase.TEXT)
            return position
        elif self.phase is Phase.ESCAPE:
            self.enter(_ESCAPED_INTRODUCERS.get(character, Phase.TEXT))
        else:
            self.enter(Phase.TEXT)
        return position + 1

    def read_control_sequence(self, text: str, position: int) -> int:
        match = compiled(_NO_PARAMETER).search(text, position)
        end = match.start() if match else len(text)
        self.parameters = (self.parameters + text[position:end])[: _LONGEST_PARAMETERS + 1]
        return self._read_final(match[0], end) if match else end

    def _read_final(self, character: str, position: int) -> int:
        if compiled(_CONTROL).match(character):
            self.control(character)
            return position + 1
        if character in _SEQUENCES and compiled(_NUMBERS).fullmatch(self.parameters):
            _SEQUENCES[character](self.row, int(self.parameters.partition(";")[0] or 0))
        self.enter(Phase.TEXT)
        return position + 1 if character <= "~" else position

    def read_string(self, text: str, position: int) -> int:
        match = compiled(_STRING_ENDS[self.phase]).search(text, position)
        if match is None:
            return len(text)
        if match[0] == "\x07":
            self.enter(Phase.TEXT)
        else:
            self.control(match[0])
        return match.end()


_READERS: dict[Phase, Callable[[_Parser, str, int], int]] = {
    Phase.TEXT: _Parser.read_text,
    Phase.ESCAPE: _Parser.read_escape,
    Phase.INTERMEDIATE: _Parser.read_escape,
    Phase.CONTROL_SEQUENCE: _Parser.read_control_sequence,
    Phase.COMMAND_STRING: _Parser.read_string,
    Phase.CONTROL_STRING: _Parser.read_string,
}
