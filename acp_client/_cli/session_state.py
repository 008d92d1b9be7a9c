"""What stands beside the entries of a session, as lines: prompts, permissions, plans, state."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from .. import wire
from .._client_state import Permission, Prompt, PromptStatus
from .._snapshot import Snapshot, Terminal, ToolCall, plan_key
from .contents import embedded_terminals, raw_line, terminal_lines
from .entries import STATUS_STYLES, speaker_line
from .layout import INDENT, NEWLINE, Layout, Span, line, one_line, paragraph, safe, titled
from .markdown import speech

Section = list[Span]
"""Lines that belong together; an empty one is not shown."""


def session_sections(snapshot: Snapshot, layout: Layout) -> list[Section]:
    """Show all of a session but its entries, as sections."""
    return [
        *(terminal_section(terminal, layout) for terminal in loose_terminals(snapshot)),
        *(prompt_section(prompt, layout) for prompt in snapshot.prompts),
        *(permission_section(asked, snapshot, layout) for asked in snapshot.permissions),
        *plan_sections(snapshot, layout),
        table_section(snapshot, layout),
    ]


# --- Terminals that no tool call shows ---


def loose_terminals(snapshot: Snapshot) -> list[Terminal]:
    """Find the terminals that are embedded nowhere."""
    calls = (entry for entry in snapshot.entries if isinstance(entry, ToolCall))
    shown = set[str]().union(*(embedded_terminals(call.content) for call in calls))
    return [terminal for terminal in snapshot.terminals if terminal.terminal_id not in shown]


def terminal_section(terminal: Terminal, layout: Layout) -> Section:
    """Show a terminal by itself."""
    return line(("Terminal", "strong")) + terminal_lines(terminal, layout)


# --- Prompts and permissions ---

_OUTCOMES: Final[dict[PromptStatus, tuple[str, str]]] = {
    "pending": ("pending, not answered yet", "warning"),
    "accepted": ("accepted, not echoed yet", "faint"),
    "rejected": ("refused", "bad"),
    "withdrawn": ("withdrawn", "faint"),
    "uncertain": ("uncertain, it may or may not have arrived", "bad"),
}
"""By the status of a prompt: what to say, in which style."""


def prompt_section(prompt: Prompt, layout: Layout) -> Section:
    """Show a prompt, unless it is among the entries by now."""
    if prompt.echoed:
        return []
    words, style = _OUTCOMES[prompt.status]
    if prompt.error is not None:
        words += f": {one_line(prompt.error.message)} ({prompt.error.code})"
    label = [
        *speaker_line("user_message")[:-1],
        (f" {layout.glyphs.dot} ", "faint"),
        (words, style),
    ]
    return paragraph(label, layout, first="") + speech(prompt.content, layout)


def permission_section(permission: Permission, snapshot: Snapshot, layout: Layout) -> Section:
    """Show a permission request that waits for an answer."""
    title = (one_line(permission.title), "strong")
    spans = titled([("Permission", "warning")], [title], layout, first="")
    if permission.description is not None:
        spans += speech([wire.TextContent(permission.description)], layout)
    if permission.subject is not None:
        spans += _subject(permission.subject, snapshot, layout)
    options = layout.joined(one_line(f"{o.name} ({o.kind})") for o in permission.options)
    return spans + paragraph([("options ", "faint"), (options, "")], layout, rest=INDENT * 2)


def _subject(
    subject: wire.RequestPermissionSubject, snapshot: Snapshot, layout: Layout
) -> list[Span]:
    match subject:
        case wire.CommandPermissionSubject():
            command = [("$ ", "faint"), (one_line(subject.command), "strong")]
            return titled(command, [(safe(subject.cwd), "faint")], layout)
        case wire.ToolCallPermissionSubject():
            call_id = subject.tool_call.tool_call_id
            call = snapshot.entries.tool_call(call_id)
            told = [("tool call ", "faint"), (one_line((call and call.title) or call_id), "")]
            return paragraph(told, layout, rest=INDENT * 2)
        case _:
            return raw_line("subject", subject, layout)


# --- Plans ---

_SIGNED: Final = ("completed", "pending")
"""Statuses whose sign says enough: a plan is a list of them."""


def plan_sections(snapshot: Snapshot, layout: Layout) -> list[Section]:
    """Show each plan."""
    named = len(snapshot.plans) > 1
    return [plan_section(plan, layout, named=named) for plan in snapshot.plans]


def plan_section(plan: wire.PlanUpdateContent, layout: Layout, *, named: bool = False) -> Section:
    """Show a plan, with its id if there are several."""
    name = f" {layout.glyphs.dot} {one_line(plan_key(plan))}" if named else ""
    spans = line(("Plan", "strong"), (name, "faint"))
    match plan:
        case wire.PlanItems():
            for entry in plan.entries:
                spans += _plan_entry(entry, layout)
        case wire.PlanMarkdown():
            for text in plan.content.splitlines():
                spans += paragraph([(one_line(text), "")], layout)
        case wire.PlanFile():
            spans += paragraph([(one_line(plan.uri), "")], layout)
        case _:
            spans += raw_line("", plan, layout)
    return spans


def _plan_entry(entry: wire.PlanEntry, layout: Layout) -> list[Span]:
    style = STATUS_STYLES.get(entry.status, "faint")
    sign = (f"{layout.status_glyph(entry.status)} ", style)
    priority = "" if entry.priority == "medium" else f"{one_line(entry.priority)} priority"
    status = "" if entry.status in _SIGNED else one_line(entry.status)
    notes = [(priority, "faint"), (status, style)]
    return titled([sign, (one_line(entry.content), "")], notes, layout)


# --- The table at the end ---

_MOST_COMMANDS: Final = 20


def state_words(snapshot: Snapshot, layout: Layout) -> str:
    """Say what state a session is in."""
    state = snapshot.state
    if not isinstance(state, wire.StateUpdate):
        return one_line(state.name)
    words: list[str] = [state.state, state.stop_reason or ""]
    if state.error is not None:
        words.append(f"{one_line(state.error.message)} ({state.error.code})")
    return layout.joined([*words, _background(state)])


def _background(state: wire.StateUpdate) -> str:
    ids = [
        str(getattr(work, "tool_call_id", None) or getattr(work, "terminal_id", "unknown work"))
        for work in state.background or ()
    ]
    return f"in the background: {one_line(', '.join(ids))}" if ids else ""


def usage_words(snapshot: Snapshot, layout: Layout) -> str:
    """Say how much of the context window is used, and what the session has cost."""
    usage = snapshot.usage
    if usage is None:
        return ""
    share = f" ({100 * usage.used // usage.size} %)" if usage.size else ""
    tokens = f"{usage.used:,} of {usage.size:,} tokens{share}"
    cost = "" if usage.cost is None else f"{usage.cost.amount:.2f} {one_line(usage.cost.currency)}"
    return layout.joined([tokens, cost])


def _commands(snapshot: Snapshot, layout: Layout) -> str:
    commands = snapshot.available_commands
    shown = commands if layout.full else commands[:_MOST_COMMANDS]
    names = [
        f"/{command.name}" if isinstance(command, wire.Command) else "(unknown)"
        for command in shown
    ]
    more = f"and {len(commands) - len(shown)} more" if len(commands) > len(shown) else ""
    return one_line(" ".join([*names, more]))


def _option(option: wire.SessionConfigOption) -> str:
    match option:
        case wire.SessionConfigSelect():
            return f"{option.name}: {option.current_value}"
        case wire.SessionConfigBoolean():
            return f"{option.name}: {'on' if option.current_value else 'off'}"
        case _:
            return "(unknown)"


def _options(snapshot: Snapshot, layout: Layout) -> str:
    return layout.joined(one_line(_option(option)) for option in snapshot.config_options)


def _updated(snapshot: Snapshot, layout: Layout) -> str:
    return one_line(snapshot.info.updated_at or "")


def _replay(snapshot: Snapshot, layout: Layout) -> str:
    before = snapshot.before_replay
    return "" if before is None else f"going on; there were {len(before.entries)} entries before"


_ROWS: Final[tuple[tuple[str, Callable[[Snapshot, Layout], str]], ...]] = (
    ("State", state_words),
    ("Usage", usage_words),
    ("Options", _options),
    ("Commands", _commands),
    ("Changed", _updated),
    ("Replay", _replay),
)


def table_section(snapshot: Snapshot, layout: Layout) -> Section:
    """Show the state and the other short facts of a session."""
    spans: list[Span] = []
    for label, words in _ROWS:
        if text := words(snapshot, layout):
            spans += _row(label, [(text, "")], layout)
    for notice in snapshot.notices:
        spans += notice_row(notice, layout)
    return spans


def notice_row(notice: wire.Notice, layout: Layout) -> list[Span]:
    """Show a notice."""
    style = {"error": "bad", "warning": "warning"}.get(notice.severity, "")
    words = [(one_line(notice.severity), style or "faint"), (f" {layout.glyphs.dot} ", "faint")]
    text = notice.title if notice.description is None else f"{notice.title}: {notice.description}"
    return _row("Notice", [*words, (one_line(text), "")], layout)


def _row(label: str, spans: Iterable[Span], layout: Layout) -> list[Span]:
    column = " " * 10
    return paragraph([(label.ljust(len(column)), "faint"), *spans], layout, first="", rest=column)


def joined_sections(sections: Iterable[Section]) -> list[Span]:
    """Put a blank line before each section that is not empty."""
    return [span for section in sections if section for span in (NEWLINE, *section)]
