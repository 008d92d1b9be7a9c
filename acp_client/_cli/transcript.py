"""A whole recording as a transcript: sessions under headings, and a closing line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import attrs

from .._connection import FailedRequest
from .._errors import Problem, ProblemKind
from .._snapshot import Snapshot
from .._widths import display_width
from .entries import entry_lines
from .layout import NEWLINE, Layout, Page, Span, line, one_line, paragraph
from .session_state import joined_sections, session_sections

_MOST_PROBLEMS: Final = 10


def print_transcript(page: Page, snapshots: Sequence[Snapshot]) -> None:
    """Print sessions, entry by entry."""
    for place, snapshot in enumerate(snapshots):
        if place:
            page.write([NEWLINE])
        page.write(session_heading(snapshot, page.layout))
        before: list[Span] = []
        for entry in snapshot.entries:
            lines = entry_lines(entry, snapshot, page.layout)
            page.write(gap(before, lines) + lines)
            before = lines
        page.write(joined_sections(session_sections(snapshot, page.layout)))


def gap(before: Sequence[Span], lines: Sequence[Span]) -> list[Span]:
    """Return the blank line between two entries; entries of one line each stand together."""
    short = before and before.count(NEWLINE) == lines.count(NEWLINE) == 1
    return [] if short else [NEWLINE]


def session_heading(snapshot: Snapshot, layout: Layout) -> list[Span]:
    """Show the title of a session between rules, and its id."""
    name = one_line(snapshot.session_id)
    title = one_line(snapshot.info.title or "") or "Session"
    rule = layout.glyphs.rule
    fill = layout.width - display_width(title) - display_width(name) - 9
    if fill < 1:
        heading = paragraph([(title, "heading")], layout, first=f"{rule * 2} ", rest="   ")
        return heading + line((f"   {name}", "faint"))
    return line(
        (f"{rule * 2} ", "faint"),
        (title, "heading"),
        (f" {rule * (fill + 1)} {name} {rule * 2}", "faint"),
    )


@attrs.frozen
class Closing:
    """What is said of a recording as a whole."""

    messages: int
    sessions: int
    problems: Sequence[Problem]
    problem_counts: dict[ProblemKind, int]
    passed_over: int = 0
    torn: bool = False
    refused: Sequence[FailedRequest] = ()


def closing_lines(closing: Closing, layout: Layout) -> list[Span]:
    """Show the refused requests, the problems (a few unless full), and the closing line."""
    spans: list[Span] = [NEWLINE]
    for failed in closing.refused:
        spans += paragraph([("refused ", "bad"), (refused_words(failed), "")], layout, first="")
    shown = closing.problems if layout.full else closing.problems[:_MOST_PROBLEMS]
    for problem in shown:
        spans += _problem(problem, layout)
    if more := sum(closing.problem_counts.values()) - len(shown):
        spans += line((f"… {more:,} more problems, --full shows them", "faint"))
    if shown or closing.refused:
        spans.append(NEWLINE)
    style = "warning" if closing.problems or closing.torn else "faint"
    return spans + paragraph([(_closing_words(closing, layout), style)], layout, first="", rest="")


def _problem(problem: Problem, layout: Layout) -> list[Span]:
    line_number = f"line {problem.line:,}"
    told = one_line(f"{problem.path} {problem.message}")
    dot = (f" {layout.glyphs.dot} ", "faint")
    words = [(line_number, "faint"), dot, (problem.kind, "warning"), dot, (told, "")]
    return paragraph(words, layout, first="")


def refused_words(failed: FailedRequest) -> str:
    """Say which request the agent refused, and why."""
    method = failed.method or "a request not in the recording"
    return one_line(f"{method}: {failed.error.message} ({failed.error.code})")


def _closing_words(closing: Closing, layout: Layout) -> str:
    return layout.joined(
        [
            counted(closing.messages, "message"),
            counted(closing.sessions, "session"),
            counted(closing.passed_over, "value") + " passed over" if closing.passed_over else "",
            "the recording ends in the middle" if closing.torn else "",
            problem_words(closing.problem_counts),
        ]
    )


def problem_words(counts: dict[ProblemKind, int]) -> str:
    """Say how many problems there are of each kind."""
    kinds = [f"{count:,} {kind}" for kind, count in counts.items() if count]
    if not kinds:
        return "no problems"
    return f"{counted(sum(counts.values()), 'problem')}: {', '.join(kinds)}"


def counted(count: int, word: str) -> str:
    """Write a number of things."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"
