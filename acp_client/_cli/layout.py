"""Lines for a terminal or a pipe: spans of styled text, wrapping, and the one place that prints.

Everything that is shown is a list of spans, a span being a text and the name of its style, a line
ending in `NEWLINE`. What makes spans knows nothing of the terminal but a `Layout`; a `Page` prints
them. Text of the peer is never markup, and `Page.write` escapes every text, wherever it is from.

Lines are wrapped greedily, at blanks and between wide characters. So the lines of a text that ends
at a blank are the first lines of every longer text, which lets a text be printed while it comes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TextIO

import attrs
from rich.console import Console
from rich.segment import Segment, Segments
from rich.style import Style

from .._text import escape
from .._widths import WIDE_BASIC, character_width, display_width

Span = tuple[str, str]
"""A text and the name of its style, which is empty for plain text."""

NEWLINE: Final[Span] = ("\n", "")

INDENT: Final = "  "

_WIDEST = 100
"""Columns of prose on a wide terminal: longer lines are hard to read."""

_NARROWEST = 20

_STYLES: Final = {
    "": "",
    "strong": "bold",
    "faint": "dim",
    "thought": "dim italic",
    "heading": "bold",
    "code": "cyan",
    "user": "bold cyan",
    "agent": "bold magenta",
    "good": "green",
    "bad": "red",
    "warning": "yellow",
    "added": "green",
    "removed": "red",
    "hunk": "cyan",
}
"""By the names of spans: styles of the sixteen colours that every terminal theme defines."""

_TOKEN = re.compile(rf"\s+|[{WIDE_BASIC}]|[^\s{WIDE_BASIC}]+")


_SIZE = re.compile("0*[1-9][0-9]{0,8}")
"""What the environment may say of the size of a terminal; anything else is as good as nothing."""


@attrs.frozen
class Glyphs:
    """The signs that are no words."""

    rule: str
    bar: str
    dot: str
    arrow: str
    statuses: dict[str, str]


_UNICODE: Final = Glyphs(
    rule="─",
    bar="│",
    dot="·",
    arrow="→",
    statuses={
        "completed": "✓",
        "failed": "✗",
        "cancelled": "⊘",
        "in_progress": "▸",
        "pending": "○",
        "paused": "‖",
        "": "•",
    },
)
_ASCII: Final = Glyphs(
    rule="-",
    bar="|",
    dot="-",
    arrow="->",
    statuses={
        "completed": "+",
        "failed": "!",
        "cancelled": "x",
        "in_progress": ">",
        "pending": "o",
        "paused": "=",
        "": "*",
    },
)


@attrs.frozen
class Layout:
    """What there is room for.

    `width` is for prose. Lines that must not be wrapped are folded at `fold`, or left as they are
    where that is `None`: in a pipe, somebody may want them whole. `full` leaves nothing out.
    """

    width: int = 80
    fold: int | None = None
    full: bool = False
    glyphs: Glyphs = _UNICODE

    def status_glyph(self, status: str) -> str:
        """Return the sign of a status."""
        return self.glyphs.statuses.get(status, self.glyphs.statuses[""])

    def joined(self, words: Iterable[str]) -> str:
        """Join words with dots, without those that are empty."""
        return f" {self.glyphs.dot} ".join(filter(None, words))


class _Console(Console):
    """Rich's console, but that the command says itself what a closed pipe means."""

    def on_broken_pipe(self) -> None:
        raise  # Rich calls this where it has caught the error


class Page:
    """Prints spans to a text stream."""

    def __init__(self, stream: TextIO, *, full: bool = False) -> None:
        self._console = _Console(
            file=stream, highlight=False, markup=False, emoji=False, _environ=_environment()
        )
        plain = self._console.no_color  # with NO_COLOR also bold and faint go: nothing needs them
        self._styles = {name: _style(words, plain) for name, words in _STYLES.items()}
        columns = self._console.width
        self.layout = Layout(
            width=max(_NARROWEST, min(columns, _WIDEST)),
            fold=max(_NARROWEST, columns) if self._console.is_terminal else None,
            full=full,
            glyphs=_UNICODE if self._console.encoding.startswith("utf") else _ASCII,
        )

    def write(self, spans: Iterable[Span]) -> None:
        """Print spans, safely, and flush."""
        segments = [self._segment(span) for span in spans]
        if segments:
            self._console.print(Segments(segments), end="", soft_wrap=True)

    def _segment(self, span: Span) -> Segment:
        text, style = span
        if text == "\n":
            return Segment.line()
        if self.layout.glyphs is _ASCII:
            text = text.replace("…", "...")
        return Segment(escape(text, keep_newlines=False), self._styles[style])


def _environment() -> dict[str, str]:
    """Return the environment without invalid sizes, for which Rich prints nothing or fails."""
    environment = dict(os.environ)
    for name in ("COLUMNS", "LINES"):
        if not _SIZE.fullmatch(environment.get(name, "")):
            environment.pop(name, None)
    return environment


def _style(words: str, plain: bool) -> Style | None:
    return Style.parse(words) if words and not plain else None


def line(*spans: Span) -> list[Span]:
    """Make a line."""
    return [*spans, NEWLINE]


def safe(text: str) -> str:
    """Make text safe, on one line."""
    return escape(text, keep_newlines=False)


def one_line(text: str) -> str:
    """Make text safe, on one line, its blanks joined."""
    return safe(" ".join(text.split()))


def paragraph(
    spans: Sequence[Span],
    layout: Layout,
    *,
    first: str = INDENT,
    rest: str = INDENT,
) -> list[Span]:
    """Wrap the spans of one line of prose into lines with an indent each.

    Texts must be safe already, or their width is wrong.
    """
    lines: list[Span] = []
    text = "".join(text for text, _ in spans)
    indent = first
    for spans_of_line in _sliced(spans, _line_ends(text, layout, len(first), len(rest))):
        lines += line((indent, ""), *spans_of_line)
        indent = rest
    return lines


def titled(
    title: Sequence[Span], notes: Iterable[Span], layout: Layout, *, first: str = INDENT
) -> list[Span]:
    """Show a title with notes behind it, below it where there is no room; empty ones are left out.

    The title hangs by its first span, which is a sign or a word that leads it.
    """
    hanging = INDENT if not first else first + " " * len(title[0][0])
    told = [note for note in notes if note[0]]
    apart = [span for note in told for span in ((f" {layout.glyphs.dot} ", "faint"), note)]
    width = len(first) + sum(display_width(text) for text, _ in (*title, *apart))
    if width <= layout.width:
        return paragraph([*title, *apart], layout, first=first)
    return [
        *paragraph(title, layout, first=first, rest=hanging),
        *paragraph(apart[1:], layout, first=hanging, rest=hanging),
    ]


def _line_ends(text: str, layout: Layout, first: int, rest: int) -> Iterator[tuple[int, int]]:
    """Yield where each line begins and ends; `first` and `rest` are the columns of the indents."""
    room = max(layout.width - first, _NARROWEST // 2)
    narrower = max(layout.width - rest, _NARROWEST // 2)
    if text.isascii() and len(text) <= room:
        yield 0, len(text.rstrip())
        return
    start, end, column = 0, 0, 0
    for begin, stop, width, is_blank in _tokens(text, layout.fold and narrower):
        if not is_blank and column + width > room and end > start:
            yield start, end
            start, column, room = begin, 0, narrower
        column += width
        end = end if is_blank else stop
    yield start, end


def _tokens(text: str, longest: int | None) -> Iterator[tuple[int, int, int, bool]]:
    """Yield the words and blanks of a line: start, end, columns, and whether it is blank."""
    for found in _TOKEN.finditer(text):
        word, start = found[0], found.start()
        width = display_width(word)
        if longest is None or width <= longest or word.isspace():
            yield start, found.end(), width, word.isspace()
            continue
        for piece in folded(word, longest):
            yield start, start + len(piece), display_width(piece), False
            start += len(piece)


def folded(text: str, columns: int | None) -> Iterator[str]:
    """Cut one line into pieces of at most so many columns; `None` leaves it whole."""
    if columns is None or display_width(text) <= columns:
        yield text
        return
    start, room = 0, columns
    for index, character in enumerate(text):
        width = character_width(character)
        if width > room and index > start:
            yield text[start:index]
            start, room = index, columns
        room -= width
    yield text[start:]


def _sliced(spans: Sequence[Span], places: Iterable[tuple[int, int]]) -> Iterator[list[Span]]:
    """Yield the spans of some stretches of a text, which come in order."""
    index, begin = 0, 0
    for start, end in places:
        while index < len(spans) and begin + len(spans[index][0]) <= start:
            begin += len(spans[index][0])
            index += 1
        yield _stretch(spans, index, start - begin, end - begin)


def _stretch(spans: Sequence[Span], index: int, start: int, end: int) -> list[Span]:
    """Return the spans from one on, without the text before `start` and from `end` on."""
    found: list[Span] = []
    while index < len(spans) and end > 0:
        text, style = spans[index]
        if text[max(start, 0) : end]:
            found.append((text[max(start, 0) : end], style))
        start, end, index = start - len(text), end - len(text), index + 1
    return found


def after(spans: Iterable[Span], count: int) -> list[Span]:
    """Leave out the first `count` characters of spans."""
    rest: list[Span] = []
    for text, style in spans:
        if len(text) > count:
            rest.append((text[count:], style))
        count = max(count - len(text), 0)
    return rest


def length(spans: Iterable[Span]) -> int:
    """Count the characters of spans."""
    return sum(len(text) for text, _ in spans)


# --- What must not be wrapped ---

_MOST_LINES: Final = 40
_HEAD: Final = 12
_LONGEST_LINE: Final = 2000


def quotation(
    text: str, layout: Layout, *, styles: Sequence[tuple[str, str]] = (), head: int = _HEAD
) -> list[Span]:
    """Show text line by line behind a bar: code, output, a patch.

    A line has the style of the first pair of `styles` that begins like it. Of a long text, unless
    the layout is full, only the first `head` lines and the last are shown.
    """
    lines = text.removesuffix("\n").split("\n")
    if layout.full or len(lines) <= _MOST_LINES:
        return _quoted(lines, layout, styles)
    tail = _MOST_LINES - head
    note = f"{len(lines) - _MOST_LINES} lines left out, --full shows them"
    return [
        *_quoted(lines[:head], layout, styles),
        *line((f"{INDENT}{layout.glyphs.bar} ", "faint"), (f"… {note}", "faint")),
        *_quoted(lines[-tail:], layout, styles),
    ]


def _quoted(lines: Iterable[str], layout: Layout, styles: Sequence[tuple[str, str]]) -> list[Span]:
    spans: list[Span] = []
    bar = f"{INDENT}{layout.glyphs.bar} "
    room = None if layout.fold is None else layout.fold - len(bar)
    for text in lines:
        style = next((style for start, style in styles if text.startswith(start)), "")
        for piece in folded(
            _shortened(escape(text.removesuffix("\r").expandtabs(4)), layout), room
        ):
            spans += line((bar if piece else bar.rstrip(), "faint"), (piece, style))
    return spans


def _shortened(text: str, layout: Layout) -> str:
    """Shorten a line that is too long to read."""
    if layout.full or len(text) <= _LONGEST_LINE:
        return text
    return f"{text[:_LONGEST_LINE]}… ({len(text) - _LONGEST_LINE} more characters)"
