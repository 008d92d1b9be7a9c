"""What the parts of a conversation look like, as lines of text.

All that a peer has sent is escaped here, except for the text of terminals, which is safe already. A
line that is not indented begins with a word of the plugin, so nothing can pass for anything else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import count, groupby
from typing import Any

import acp_client as acp
from acp_client import wire

INDENT = "  "
QUOTE = "  │ "
COMMAND = "  $ "

SPEAKERS = {"user_message": "You", "agent_message": "Agent", "agent_thought": "Thought"}
SIGNS = {
    "pending": ("○", "AcpWaiting"),
    "in_progress": ("◐", "AcpRunning"),
    "paused": ("◌", "AcpWaiting"),
    "completed": ("✓", "AcpCompleted"),
    "failed": ("✗", "AcpFailed"),
    "cancelled": ("⊘", "AcpWaiting"),
}
"""By status: a sign, and its highlight group."""
UNKNOWN_SIGN = ("?", "AcpWaiting")
STEPS = {"pending": "☐", "in_progress": "◐", "completed": "☑", "cancelled": "☒"}
PROMPTS = {
    "pending": "sending …",
    "accepted": "sent",
    "rejected": "refused",
    "withdrawn": "withdrawn",
    "uncertain": "it is not known whether this arrived",
}


def joined(*words: Any) -> str:
    """Put what there is of some words into one safe line."""
    return " · ".join(acp.escape(str(word), keep_newlines=False) for word in words if word)


def lines_of(text: str, indent: str = INDENT) -> list[str]:
    """Make text safe, as indented lines."""
    return [indent + line for line in acp.escape(text).split("\n")]


def fields_of(item: Any) -> dict[str, Any]:
    """Return the fields of an object, known or not, under their names on the wire."""
    fields: dict[str, Any] = item.value if isinstance(item, wire.Json) else wire.to_builtins(item)
    return fields


def label(item: Any) -> str:
    """Name content that is not drawn: its type, and what it is."""
    fields = fields_of(item)
    if isinstance(item, wire.EmbeddedResource):
        fields |= fields["resource"]
    names = ("type", "operation", "title", "name", "uri", "path", "mimeType")
    return f"{INDENT}[{joined(*map(fields.get, names))}]"


# --- Entries ---


def head(entry: acp.Entry) -> list[str]:
    """Return the lines above the content of an entry."""
    match entry:
        case acp.Message():
            return [SPEAKERS[entry.type]]
        case acp.ToolCall():
            title = entry.title or entry.name or entry.tool_call_id
            return [
                joined("Tool", title, entry.kind, entry.status),
                *map(location, entry.locations),
            ]
        case acp.Compaction():
            return [joined("Compaction of the context", entry.status, entry.error)]
        case acp.UnknownEntry():
            return [joined("Unknown update", entry.update.value.get("sessionUpdate"))]


def location(place: wire.ToolCallLocation) -> str:
    """Return the line of a file that a tool call works on."""
    line = f":{place.line}" if place.line else ""
    return f"{INDENT}at {joined(place.path + line)}"


def speech(content: Iterable[wire.ContentBlock]) -> tuple[list[str], str | None]:
    """Return the lines of a message, and the last one as it came, if it is text."""
    lines: list[str] = []
    last: str | None = None
    for kind, blocks in groupby(content, type):
        if kind is not wire.TextContent:
            lines += map(label, blocks)
            last = None
        elif text := acp.ContentBlocks.of(blocks).text:
            lines += lines_of(text)
            last = text.rpartition("\n")[2]
    return lines, last


def item_lines(item: wire.ToolCallContent, terminals: Mapping[str, acp.Terminal]) -> list[str]:
    """Return the lines of a content item of a tool call."""
    match item:
        case (
            wire.Content(content=wire.TextContent(text=text))
            | wire.Diff(patch=wire.DiffPatch(text=text))
        ):
            return lines_of(text.removesuffix("\n"), QUOTE)
        case wire.Terminal(terminal_id=terminal_id):
            return terminal_lines(terminals.get(terminal_id, acp.Terminal(terminal_id)))
        case wire.Diff(changes=changes):
            return [*map(label, changes)]
        case wire.Content(content=block):
            return [label(block)]
        case _:
            return [label(item)]


def terminal_lines(terminal: acp.Terminal) -> list[str]:
    """Return the lines of a terminal: its command, its output, how it ended."""
    command = joined(terminal.command or terminal.terminal_id)
    return [COMMAND + command, *output_lines(terminal, terminal.text)]


def output_lines(terminal: acp.Terminal, text: str) -> list[str]:
    """Return the lines of a terminal from some text on, to its end."""
    lines = [QUOTE + line for line in text.split("\n")]
    if lines[-1] == QUOTE:
        lines.pop()
    status = terminal.exit_status
    if status is not None:
        code = f"exit code {status.exit_code}" if status.exit_code is not None else None
        lines.append(INDENT + (joined(code, status.signal) or "ended"))
    return lines


# --- What stands below the entries ---


def plan(of: wire.PlanUpdateContent) -> list[str]:
    """Return the lines of a plan."""
    if not isinstance(of, wire.PlanItems):
        return ["Plan", label(of)]
    steps = ((STEPS.get(step.status, "?"), joined(step.content)) for step in of.entries)
    return ["Plan", *(f"{INDENT}{sign} {content}" for sign, content in steps)]


def permissions(asked: Iterable[acp.Permission]) -> list[str]:
    """Return the lines of what the agent asks, all options numbered from 1."""
    lines, numbers = [], count(1)
    for one in asked:
        lines.append(joined("Permission", one.title))
        if one.description:
            lines += lines_of(one.description)
        if isinstance(one.subject, wire.CommandPermissionSubject):
            lines += lines_of(one.subject.command, COMMAND)
        lines += (f"{INDENT}[{next(numbers)}] {joined(option.name)}" for option in one.options)
    return lines


def prompt(sent: acp.Prompt) -> list[str]:
    """Return the lines of a prompt whose message has not come."""
    note = joined("You", PROMPTS[sent.status], sent.error and sent.error.message)
    return [note, *speech(sent.content)[0]]


def state(of: Any, usage: acp.Usage | None, info: acp.SessionInfo) -> str:
    """Return the last line of all."""
    fields = fields_of(of)
    error = getattr(of, "error", None)
    reason = error.message if error else fields.get("stopReason")
    tokens = usage and f"{usage.used:,} of {usage.size:,} tokens"
    cost = usage and usage.cost and f"{usage.cost.amount:.2f} {usage.cost.currency}"
    return f"── {joined(fields.get('state'), reason, tokens, cost, info.title)}"
