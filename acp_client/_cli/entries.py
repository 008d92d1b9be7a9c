"""The entries of a session, as lines."""

from __future__ import annotations

from typing import Final

from .._snapshot import Compaction, Entry, Message, MessageType, Snapshot, ToolCall, UnknownEntry
from .contents import item_lines, output_lines, raw_line, shows_nothing
from .layout import INDENT, Layout, Span, line, one_line, paragraph, safe, titled
from .markdown import speech

SPEAKERS: Final[dict[MessageType, tuple[str, str, str]]] = {
    "user_message": ("You", "user", ""),
    "agent_message": ("Agent", "agent", ""),
    "agent_thought": ("Thought", "thought", "thought"),
}
"""By the type of a message: its label, the style of that, and the style of the text."""

STATUS_STYLES: Final = {
    "completed": "good",
    "failed": "bad",
    "error": "bad",
    "cancelled": "warning",
    "in_progress": "warning",
    "paused": "warning",
}


def entry_lines(entry: Entry, snapshot: Snapshot, layout: Layout) -> list[Span]:
    """Show an entry."""
    match entry:
        case Message():
            return message_lines(entry, layout)
        case ToolCall():
            return tool_call_lines(entry, snapshot, layout)
        case Compaction():
            return compaction_lines(entry, layout)
        case UnknownEntry():
            return unknown_lines(entry, layout)


def speaker_line(kind: MessageType, *notes: str) -> list[Span]:
    """Say who speaks."""
    label, style, _ = SPEAKERS[kind]
    return line((label, style), *((f" {note}", "faint") for note in notes))


def message_lines(message: Message, layout: Layout) -> list[Span]:
    """Show who said what."""
    said = speech(message.content, layout, SPEAKERS[message.type][2])
    return speaker_line(message.type) + said if said else speaker_line(message.type, "(empty)")


def tool_call_lines(call: ToolCall, snapshot: Snapshot, layout: Layout) -> list[Span]:
    """Show a tool call, what it works on and what it gave."""
    spans = tool_call_title(call, layout)
    spans += _locations(call, layout)
    for item in call.content:
        spans += item_lines(item, snapshot, layout)
    if layout.full or shows_nothing(call.content, snapshot):
        spans += _raw_values(call, layout)
    return spans


def tool_call_title(call: ToolCall, layout: Layout) -> list[Span]:
    """Show what a tool call is, and its status."""
    title = one_line(call.title or call.name or call.tool_call_id)
    status = one_line(call.status)
    if call.cancel_marked:
        status += f" (reported: {one_line(call.reported_status)})"
    style = STATUS_STYLES.get(call.status, "")
    sign = (f"{layout.status_glyph(call.status)} ", style)
    notes = [(one_line(call.kind), "faint"), (status, style or "faint")]
    return titled([sign, (title, "strong")], notes, layout, first="")


def _locations(call: ToolCall, layout: Layout) -> list[Span]:
    spans: list[Span] = []
    for place in call.locations:
        where = safe(place.path) + (f":{place.line}" if place.line is not None else "")
        spans += paragraph([("at ", "faint"), (where, "")], layout, rest=INDENT * 2)
    return spans


def _raw_values(call: ToolCall, layout: Layout) -> list[Span]:
    spans = [] if call.raw_input is None else raw_line("input", call.raw_input, layout)
    return spans if call.raw_output is None else spans + output_lines(call.raw_output, layout)


def compaction_lines(compaction: Compaction, layout: Layout) -> list[Span]:
    """Show a compaction and its summary."""
    style = STATUS_STYLES.get(compaction.status, "")
    sign = (f"{layout.status_glyph(compaction.status)} ", style)
    notes = [(one_line(compaction.status), style or "faint")]
    spans = titled([sign, ("Context compaction", "strong")], notes, layout, first="")
    if compaction.error is not None:
        spans += paragraph([(one_line(compaction.error), "bad")], layout)
    return spans + speech(compaction.summary, layout)


def unknown_lines(entry: UnknownEntry, layout: Layout) -> list[Span]:
    """Show an update of a variant that is not known."""
    name = one_line(str(entry.update.value.get("sessionUpdate")))
    sign = (f"{layout.status_glyph('')} ", "faint")
    title = titled([sign, (name, "strong")], [("unknown update", "faint")], layout, first="")
    return title + raw_line("", entry.update, layout)
