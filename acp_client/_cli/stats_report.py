"""The report of `acp-client stats` as lines."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

from .contents import size_words
from .layout import Layout, Span, one_line, paragraph
from .stats import KINDS, Report
from .transcript import counted, refused_words

_LABEL: Final = 12

_LONG_AGO: Final = 1e9
"""Times below, of before 2001, count from the start of the recording."""


def report_lines(report: Report, layout: Layout) -> list[Span]:
    """Show a report, a few words to the line."""
    rows: list[tuple[str, Iterable[str]]] = [
        ("Recording", [_recording(report, layout), _reason(report)]),
        ("Duration", _duration(report, layout)),
        ("Received", [_kinds(report.statistics.received, layout)]),
        ("Sent", [_kinds(report.statistics.sent, layout)]),
        ("Updates", _table(report.statistics.updates.most_common())),
        ("Sessions", _sessions(report, layout)),
        ("Refused", map(refused_words, report.store.connection.errors)),
        ("Problems", _problems(report)),
        ("Reduced", [_rate(report, layout)]),
    ]
    return [span for label, texts in rows for span in _rows(label, texts, layout)]


def _rows(label: str, texts: Iterable[str], layout: Layout) -> list[Span]:
    """Put a label before the first of some lines."""
    spans: list[Span] = []
    for text in texts:
        first = [(label.ljust(_LABEL), "faint"), (text, "")]
        spans += paragraph(first, layout, first="", rest=" " * _LABEL)
        label = ""
    return spans


def _recording(report: Report, layout: Layout) -> str:
    passed_over = report.recording.passed_over
    words = [report.recording.format, report.store.protocol, size_words(report.file_bytes)]
    words.append(counted(report.feeder.frames, "message"))
    words.append(f"{counted(passed_over, 'value')} passed over" if passed_over else "")
    words.append("ends in the middle" if report.recording.torn else "")
    return layout.joined(words)


def _reason(report: Report) -> str:
    return f"{report.recording.layout}: {report.recording.reason}"


def _duration(report: Report, layout: Layout) -> list[str]:
    seconds, first = report.statistics.seconds, report.statistics.first_time
    if seconds is None or first is None:
        return ["not recorded"]
    return [layout.joined([duration_words(seconds), _clock(first)])]


def duration_words(seconds: float) -> str:
    """Write a number of seconds."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:,} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s"


def _clock(seconds: float) -> str:
    """Write a time since 1970 as date and time; nothing for one since the recording began."""
    try:
        found = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    except (OverflowError, ValueError, OSError):
        return ""
    return f"from {found:%Y-%m-%d %H:%M:%S} UTC" if seconds > _LONG_AGO else ""


def _kinds(kinds: Counter[str], layout: Layout) -> str:
    words = (counted(kinds[kind], kind) for kind in KINDS if kinds[kind])
    return layout.joined(words).replace(" others", " other") or "nothing"


def _table(counts: Iterable[tuple[str, int]]) -> list[str]:
    """Write counts behind each other, their digits in one column."""
    rows = list(counts)
    width = max((len(f"{count:,}") for _, count in rows), default=0)
    return [f"{count:>{width},}  {one_line(name)}" for name, count in rows] or ["none"]


def _sessions(report: Report, layout: Layout) -> list[str]:
    return [_session(told, layout) for told in report.document()["sessions"]] or ["none"]


def _session(told: dict[str, Any], layout: Layout) -> str:
    entries = "1 entry" if told["entries"] == 1 else f"{told['entries']:,} entries"
    name = one_line(told["sessionId"])
    return layout.joined([name, entries, counted(told["updates"], "update")])


def _problems(report: Report) -> list[str]:
    counts = report.store.problem_counts
    return _table((kind, count) for kind, count in counts.items() if count)


def _rate(report: Report, layout: Layout) -> str:
    messages = report.per_second(report.feeder.frames)
    size = report.per_second(report.statistics.message_bytes)
    if messages is None or size is None:
        return "nothing"
    rate = f"{messages:,.0f} messages a second"
    return layout.joined(
        [f"in {report.feeder.seconds * 1000:,.1f} ms", rate, f"{size_words(round(size))}/s"]
    )
