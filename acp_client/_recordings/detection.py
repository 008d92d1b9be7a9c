"""Recognising a recording by how it begins: which layout, which format, and why.

Each attempt is a layout with the formats that it can hold. The first value that some format
recognises decides; nothing is ever decided by a name of a file, or by what is merely likely. Before
that value there may be headers, and lines that are not JSON (what an agent says while it starts),
but not many of those: a page of prose with a message in it is not a recording.
"""

from __future__ import annotations

import io
import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import attrs

from .event_stream import FIELD
from .formats import FORMATS, JSON_TEXTS, LOGS, RAW
from .frames import Format, Tally
from .json_slices import is_json, members_if_any, trim
from .json_texts import BRACKETS_ALONE
from .layouts import ARRAY, ENTRIES, EVENTS, FENCES, LINES, LISP, TEXTS, Layout, list_under
from .log_lines import entries
from .markdown import FENCE

_MOST_WORDS: Final = 20
"""How many lines that are not JSON may come before the first message."""

_MOST_VALUES: Final = 1000
"""How many values may come before the first that is recognised."""

_MEBIBYTE: Final = 1024 * 1024

_LIST_KEYS: Final = (
    "messages", "events", "entries", "frames", "updates", "notifications", "items", "log", "lines",
    "records", "transcript", "history", "traffic", "trace", "calls",
)  # fmt: skip  # a table of words
"""What documents call the list of their values."""

_LISP: Final = re.compile(rb"(?:;[^\n]*\n|\s|#\d+=)*(?:\((?:\s|#\d+=)*){2,3}[^\s(]")
_FENCE_LINE: Final = re.compile(rb"^" + FENCE.pattern, re.MULTILINE)


@attrs.frozen
class Recognised:
    """A format, the layout of its values, and why: the number of the first that was recognised.

    The number is 0 where none was: the recording is empty, or its format was given.
    """

    format: Format
    layout: Layout = LINES
    number: int = 0

    @property
    def reason(self) -> str:
        """The reason as a sentence."""
        if not self.number:
            return "nothing in it says otherwise"
        return f"{self.layout.place.format(self.number)} is {self.format.shape}"

    def is_known(self, data: bytes) -> bool:
        """Return whether a value is of the format."""
        return self.format.reader.recognises(data, members_if_any(data))


def recognise(head: bytes, complete: bool, rows: Sequence[Format] = FORMATS) -> Recognised | None:
    """Recognise a recording by how it begins, as one of `rows`; `complete` if that is all of it.

    None where it is not recognised, or not yet.
    """
    for attempt, data in _attempts(head, complete):
        if found := attempt(data, rows):
            return found
    return None


def patience(head: bytes) -> int:
    """Return how much of a stream that begins so is worth reading to recognise it."""
    start = trim(head)
    first, line_end, _ = start.partition(b"\n")
    if not line_end or _LISP.match(start):
        return 16 * _MEBIBYTE
    is_document = first[:1] in (b"{", b"[") and not BRACKETS_ALONE.match(start)
    return 16 * _MEBIBYTE if is_document and not is_json(trim(first)) else _MEBIBYTE


Attempt = Callable[[bytes, Sequence[Format]], Recognised | None]


def _attempts(head: bytes, complete: bool) -> Iterator[tuple[Attempt, bytes]]:
    """Choose what to try in which order, and on which part of the beginning."""
    start = trim(head) + b"\n" * head.endswith(b"\n")
    first, line_end, rest = start.partition(b"\n")
    first = trim(first)
    if _LISP.match(start):
        yield _by_lisp, start
    if not line_end and not complete:
        if len(start) >= _MEBIBYTE and not BRACKETS_ALONE.match(start):
            yield _by_texts, start
        return
    lines = head if complete else head[: head.rfind(b"\n")]
    if FIELD.match(first):
        yield _by_events, lines
    if fence := _FENCE_LINE.search(lines):
        yield _by_lines, lines[: fence.start()]
        yield _by_fences, lines
    for attempt in _json_attempts(first, bool(rest), complete):
        yield attempt, start if attempt is _by_texts else lines


def _json_attempts(first: bytes, goes_on: bool, complete: bool) -> tuple[Attempt, ...]:
    """Choose by the first line, and whether others follow it."""
    if first[:1] not in (b"{", b"["):
        return (_by_lines,)
    if BRACKETS_ALONE.match(first) or _is_broken(first):
        return (_by_lines, _by_words) if complete else (_by_lines,)
    if not is_json(first):
        return (_by_texts, _by_lines, _by_words) if complete else (_by_texts, _by_lines)
    if first[:1] == b"[" and not goes_on:
        return (_by_texts,) if complete else ()
    return (_by_lines, _by_texts)


def _is_broken(line: bytes) -> bool:
    """Return whether a line is broken, two messages on one line say, and begins no longer text.

    No more than its end may be missing.
    """
    if is_json(line):
        return False
    text = line.decode("utf-8", "replace")
    try:
        end = json.JSONDecoder().raw_decode(text)[1]
    except json.JSONDecodeError as error:
        end = error.pos
    except (ValueError, RecursionError):
        return False
    return end < len(text)


def _by_lines(data: bytes, rows: Sequence[Format]) -> Recognised | None:
    words = 0
    lines = (trim(line) for line in data.split(b"\n"))
    values = entries((number, line) for number, line in enumerate(lines, 1) if line)
    for number, value in itertools.islice(values, _MOST_VALUES):
        row = _row_of_line(value, rows)
        is_word = not is_json(value)
        if row is not None and (is_word or words <= _MOST_WORDS):
            return Recognised(row, ENTRIES if row in LOGS else LINES, number)
        words += is_word
    return None


def _row_of_line(line: bytes, rows: Sequence[Format]) -> Format | None:
    """Choose a row for a line; a message that lacks its version is a message, and a wrong one.

    Only a log has messages that go over several lines.
    """
    if b"\n" in line:
        return _row_of(line, [row for row in rows if row in LOGS])
    row = _row_of(line, [row for row in rows if row is not JSON_TEXTS])
    is_raw = RAW in rows and RAW.reader.recognises(line, members_if_any(line))
    return RAW if is_raw and row is not None and row.name == "updates" else row


def _by_events(data: bytes, rows: Sequence[Format]) -> Recognised | None:
    return _by_values(EVENTS, data, [row for row in rows if row is not JSON_TEXTS])


def _by_fences(data: bytes, rows: Sequence[Format]) -> Recognised | None:
    return _by_values(FENCES, data, [row for row in rows if row is not JSON_TEXTS])


def _by_lisp(data: bytes, rows: Sequence[Format]) -> Recognised | None:
    return _by_values(LISP, data, _of_texts(rows))


def _by_texts(data: bytes, rows: Sequence[Format]) -> Recognised | None:
    if data.startswith(b"["):
        return _by_values(ARRAY, data, _of_texts(rows))
    for key in _LIST_KEYS:
        if b'"%s"' % key.encode() in data:
            found = _by_values(list_under(key, None), data, _of_texts(rows))
            if found is not None:
                return attrs.evolve(found, layout=list_under(key, found.format.head))
    return _by_values(TEXTS, data, _of_texts(rows))


def _of_texts(rows: Sequence[Format]) -> list[Format]:
    return [row for row in rows if row is not RAW and row not in LOGS]


def _by_values(layout: Layout, data: bytes, rows: Sequence[Format]) -> Recognised | None:
    values = layout.cut(io.BytesIO(data), lambda value: _row_of(value, rows) is not None, Tally())
    for number, value in itertools.islice(values, _MOST_VALUES):
        if row := _row_of(value, rows):
            return Recognised(row, layout, number)
    return None


def _by_words(data: bytes, rows: Sequence[Format]) -> Recognised | None:
    """Recognise a raw stream of nothing but broken messages."""
    lines = enumerate(data.split(b"\n"), 1)
    broken = [n for n, line in lines if line.startswith(b"{") and b'"jsonrpc"' in line]
    return Recognised(RAW, number=broken[0]) if broken and RAW in rows else None


def _row_of(data: bytes, rows: Iterable[Format]) -> Format | None:
    found = members_if_any(data)
    return next((row for row in rows if row.reader.recognises(data, found)), None)
