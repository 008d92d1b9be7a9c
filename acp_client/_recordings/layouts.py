"""The table of layouts: how the values of a recording lie in its file.

A layout cuts a stream into values; what a value is, a format says (see `formats`). The two are
independent of each other, so that enveloped lines in a quoted block of Markdown are read as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO, Final

import attrs

from . import json_texts
from .event_stream import events
from .frames import Tally, Value
from .json_slices import is_json, trim
from .json_texts import Nesting
from .lisp import objects
from .log_lines import entries, is_entry
from .markdown import fenced
from .streams import reader

IsKnown = Callable[[bytes], bool]
"""Whether a value is of the format that is read."""

Cut = Callable[[BinaryIO, IsKnown, Tally], Iterator[Value]]


@attrs.frozen
class Layout:
    """A way in which values lie in a file; `place` says of a value, by its number, where it is."""

    name: str
    place: str
    cut: Cut


def _lines(source: Iterable[bytes], is_whole: IsKnown, tally: Tally) -> Iterator[bytes]:
    """Return lines; note a last one that is cut off: it has no end, and is not whole."""
    for line in source:
        if line[-1] != 10 and (data := trim(line)):
            tally.torn |= not is_whole(data)
        yield line


def _not_blank(lines: Iterable[bytes]) -> Iterator[Value]:
    for number, line in enumerate(lines, 1):
        if data := trim(line):
            yield number, data


def _plain_lines(source: BinaryIO, is_known: IsKnown, tally: Tally) -> Iterator[Value]:
    return _not_blank(_lines(source, is_json, tally))


def _log_entries(source: BinaryIO, is_known: IsKnown, tally: Tally) -> Iterator[Value]:
    return entries(_not_blank(_lines(source, is_entry, tally)))


def _events(source: BinaryIO, is_known: IsKnown, tally: Tally) -> Iterator[Value]:
    def is_whole(line: bytes) -> bool:
        return is_json(line.removeprefix(b"data:"))

    return events(_lines(source, is_whole, tally))


def _fenced(source: BinaryIO, is_known: IsKnown, tally: Tally) -> Iterator[Value]:
    def is_whole(line: bytes) -> bool:
        return is_json(line) or line.startswith((b"```", b"~~~"))

    return fenced(_lines(source, is_whole, tally), is_known, tally)


def _objects(source: BinaryIO, is_known: IsKnown, tally: Tally) -> Iterator[Value]:
    return objects(reader(source), tally)


def _texts(nesting: Nesting) -> Cut:
    def cut(source: BinaryIO, is_known: IsKnown, tally: Tally) -> Iterator[Value]:
        return json_texts.texts(reader(source), nesting, tally)

    return cut


def list_under(key: str, head: str | None) -> Layout:
    """Return the layout of a document that holds its values in a list under a key."""
    place = f'element {{}} of the list "{key}"'
    return Layout("one JSON document", place, _texts(Nesting(2, key, head)))


LINES: Final = Layout("lines", "line {}", _plain_lines)
ENTRIES: Final = Layout("log entries", "line {}", _log_entries)
EVENTS: Final = Layout("server-sent events", "the data of line {}", _events)
FENCES: Final = Layout("fenced blocks of Markdown", "the fenced line {}", _fenced)
LISP: Final = Layout("printed Emacs Lisp", "object {} of the list", _objects)
ARRAY: Final = Layout("one JSON array", "element {} of the array", _texts(json_texts.ARRAY))
TEXTS: Final = Layout("JSON texts", "JSON text {}", _texts(json_texts.TEXTS))

LAYOUTS: Final = (LINES, ENTRIES, EVENTS, FENCES, LISP, ARRAY, TEXTS)
"""All layouts but that of a list in a document, of which there is one for each key."""
