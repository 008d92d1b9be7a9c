"""Time stamps are read whatever their unit and form."""

from __future__ import annotations

import time

import pytest
from recorded_formats import (
    START,
)

from acp_client._recordings.times import date_and_time, seconds


@pytest.mark.parametrize(
    ("text", "unit", "expected"),
    [
        (b"1500", 1e3, 1.5),
        (b"1767225600250", None, START),
        (b"1767225600.25", None, START),
        (b"1767225600250000", None, START),
        (b"1767225600250000000", None, START),
        (b"250", None, 0.25),
        (b'"2026-01-01T00:00:00.250Z"', None, START),
        (b'"2026-01-01T02:00:00.2500000+02:00"', None, START),
        (b'"2026-01-01 00:00:00,250"', None, START),
        (b'"yesterday"', None, None),
        (b"null", None, None),
        (b"[]", 1e3, None),
        (b"1e400", None, None),
        (b'"\xff', None, None),
    ],
)
def test_time_stamps(text: bytes, unit: float | None, expected: float | None) -> None:
    """Stamps are read whatever their unit; what is none is no time."""
    assert seconds(text, unit) == (None if expected is None else pytest.approx(expected, abs=1e-6))


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="no time zone to set here")
def test_stamps_without_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A date that names no zone is of UTC, wherever it is read."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert date_and_time("2026-01-01 00:00:00,250") == START
    finally:
        monkeypatch.undo()
        time.tzset()


def test_dates_at_the_edge() -> None:
    """The first date that can be written has a time."""
    assert date_and_time("0001-01-01T00:00:00+23:59") is not None
