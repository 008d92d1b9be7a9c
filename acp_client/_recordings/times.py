"""Time stamps as recorders write them, in seconds.

Numbers say nothing of their unit. Where a format has one unit its row names it; elsewhere the
size decides: a count of seconds since 1970 has ten digits now, one of milliseconds thirteen. A
small number is taken for milliseconds since the recording began.
"""

from __future__ import annotations

import datetime
import re
from typing import Final

from .._json import NotJson
from .json_slices import value

SECONDS: Final = 1.0
MILLISECONDS: Final = 1e3

_UNITS: Final = ((1e17, 1e9), (1e14, 1e6), (1e11, MILLISECONDS), (1e8, SECONDS))
"""From how large a number on it counts how many to the second."""


def seconds(text: bytes, unit: float | None) -> float | None:
    """Read the text of a stamp: a number, or a date and time (of UTC, if it does not say)."""
    try:
        stamp = float(text)
    except ValueError:
        return _from_text(text)
    return stamp / (unit or _unit(stamp)) if abs(stamp) < 1e21 else None


def _unit(stamp: float) -> float:
    for least, unit in _UNITS:
        if abs(stamp) >= least:
            return unit
    return MILLISECONDS


def _from_text(text: bytes) -> float | None:
    try:
        stamp = value(text)
        return date_and_time(stamp) if isinstance(stamp, str) else None
    except NotJson:
        return None


def date_and_time(text: str) -> float | None:
    """Read an ISO date and time, also with a comma before the fraction."""
    try:
        found = datetime.datetime.fromisoformat(text)
    except ValueError:
        return None
    return (found if found.tzinfo else found.replace(tzinfo=datetime.UTC)).timestamp()


_DATE: Final = re.compile(
    rb"\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d+)?(?: ?(?:Z\b|[+-]\d\d:?\d\d))?"
)
_SINCE_1970: Final = re.compile(rb"(?<![\w.-])1\d{9}(?:\.\d+|\d{3})?(?![\w.-])")
_CLOCK: Final = re.compile(rb"(?<![\w:.])\d\d:\d\d:\d\d(?:[.,]\d+)?")
_STAMPS: Final = (_DATE, _SINCE_1970, _CLOCK)
_AROUND: Final = b" \t[(<|"
"""What may be before the time that a line begins with."""


def stamp_in(prefix: bytes) -> float | None:
    """Return the time in the prefix of a log entry: a date, a count, else the time of some day."""
    if found := _DATE.search(prefix):
        return date_and_time(
            found[0].decode().replace("/", "-").replace(" ", "T", 1).replace(" ", "")
        )
    if found := _SINCE_1970.search(prefix):
        return seconds(found[0], None)
    if found := _CLOCK.search(prefix):
        return date_and_time(f"1970-01-01T{found[0].decode()}")
    return None


def begins_with_stamp(prefix: bytes) -> bool:
    """Return whether a log entry begins with a time."""
    start = prefix.lstrip(_AROUND)
    return any(stamp.match(start) for stamp in _STAMPS)


def without_stamps(line: bytes) -> bytes:
    """Return a line without the times in it."""
    for stamp in _STAMPS:
        line = stamp.sub(b"", line)
    return line
