"""Recognising a format, and how its values are laid out, by the first of them.

A line that is a JSON text on its own is a value; a beginning that is no such line is a document,
or texts over many lines. Before the first value that some format recognises there may be headers,
and lines that are no JSON (what an agent says while it starts), but not many of those: a page of
prose with a message in it is no recording.
"""

from __future__ import annotations

import io
import itertools
import json
from collections.abc import Callable, Sequence
from typing import Final

import attrs

from .formats import FORMATS, JSON_TEXTS, RAW
from .frames import Format, Tally
from .json_slices import is_json, members_if_any, trim
from .json_texts import ARRAY, TEXTS, Layout, texts

_MOST_WORDS: Final = 20
"""How many lines that are no JSON may come before the first message."""

_MOST_VALUES: Final = 1000
"""How many values may come before the first that is recognised."""

_MEBIBYTE: Final = 1024 * 1024

_LIST_KEYS: Final = (
    "messages", "events", "entries", "frames", "updates", "notifications", "items", "log", "lines",
    "records", "transcript", "history", "traffic", "trace",
)  # fmt: skip  # a table of words
"""What documents call the list of their values."""


@attrs.frozen
class Recognised:
    """A format and the layout of its values; no layout means lines."""

    format: Format
    layout: Layout | None = None


def recognise(head: bytes, complete: bool, rows: Sequence[Format] = FORMATS) -> Recognised | None:
    """Recognise a recording by how it begins, as one of `rows`; `complete` if that is all of it.

    None where it is not recognised, or not yet.
    """
    start = trim(head) + b"\n" * head.endswith(b"\n")
    first, line_end, rest = start.partition(b"\n")
    if not line_end and not complete:
        return _by_texts(start, rows) if len(start) >= _MEBIBYTE else None
    for attempt in _attempts(trim(first), bool(rest), complete):
        if found := attempt(start if complete else start[: start.rfind(b"\n")], rows):
            return found
    return None


def patience(head: bytes) -> int:
    """Tell how much of a stream that begins so is worth reading to recognise it."""
    first, line_end, _ = trim(head).partition(b"\n")
    one_document = first[:1] in (b"{", b"[") and not is_json(trim(first))
    return 16 * _MEBIBYTE if one_document or not line_end else _MEBIBYTE


Attempt = Callable[[bytes, Sequence[Format]], Recognised | None]


def _attempts(first: bytes, goes_on: bool, complete: bool) -> tuple[Attempt, ...]:
    """Choose what to try in which order, by the first line and whether others follow."""
    if first[:1] not in (b"{", b"["):
        return (_by_lines,)
    if not is_json(first):
        if _is_broken(first):
            return (_by_lines, _by_words) if complete else (_by_lines,)
        return (_by_texts, _by_lines, _by_words) if complete else (_by_texts, _by_lines)
    if first[:1] == b"[" and not goes_on:
        return (_by_texts,) if complete else ()
    return (_by_lines, _by_texts)


def _is_broken(line: bytes) -> bool:
    """Tell a broken line, two messages on one line say, from the first of a text over many lines.

    No more than its end may be missing.
    """
    text = line.decode("utf-8", "replace")
    try:
        end = json.JSONDecoder().raw_decode(text)[1]
    except json.JSONDecodeError as error:
        end = error.pos
    except (ValueError, RecursionError):
        return False
    return end < len(text)


def _by_lines(head: bytes, rows: Sequence[Format]) -> Recognised | None:
    words = 0
    lines = filter(None, (trim(line) for line in head.split(b"\n")))
    for line in itertools.islice(lines, _MOST_VALUES):
        row = _row_of_line(line, rows)
        is_word = not is_json(line)
        if row is not None and (is_word or words <= _MOST_WORDS):
            return Recognised(row)
        words += is_word
    return None


def _row_of_line(line: bytes, rows: Sequence[Format]) -> Format | None:
    """Choose a row for a line; a message that lacks its version is a message, and a wrong one."""
    row = _row_of(line, rows, JSON_TEXTS)
    is_raw = RAW in rows and RAW.recognises(line, members_if_any(line))
    return RAW if is_raw and row is not None and row.name == "updates" else row


def _by_texts(head: bytes, rows: Sequence[Format]) -> Recognised | None:
    for layout in (ARRAY,) if head.startswith(b"[") else (*_lists(head), TEXTS):
        found = texts(io.BytesIO(head).read, layout, Tally())
        for _, text in itertools.islice(found, _MOST_VALUES):
            if row := _row_of(text, rows, RAW):
                return Recognised(row, attrs.evolve(layout, head=row.head))
    return None


def _by_words(head: bytes, rows: Sequence[Format]) -> Recognised | None:
    """Recognise a raw stream of nothing but broken messages."""
    lines = head.split(b"\n")
    broken = any(line.startswith(b"{") and b'"jsonrpc"' in line for line in lines)
    return Recognised(RAW) if broken and RAW in rows else None


def _lists(head: bytes) -> list[Layout]:
    """Give the lists that a document may hold its values in."""
    return [Layout(2, key) for key in _LIST_KEYS if b'"%s"' % key.encode() in head]


def _row_of(data: bytes, rows: Sequence[Format], but: Format) -> Format | None:
    found = members_if_any(data)
    return next((row for row in rows if row is not but and row.recognises(data, found)), None)
