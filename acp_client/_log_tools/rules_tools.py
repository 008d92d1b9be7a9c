"""Rules for what an agent reports of tool calls, terminals, plans and usage."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from .conversation import FINAL, Books, Said
from .leaves import at, text_at
from .rule import BOTH, V1, V2, Rule, Violations, is_absolute, is_custom
from .text_pieces import decoded_base64

_STATUSES: Final = {
    "v1": frozenset({"pending", "in_progress", "completed", "failed"}),
    "v2": frozenset({"pending", "in_progress", "paused", "completed", "failed", "cancelled"}),
}
_KINDS: Final = frozenset(
    [
        "read",
        "edit",
        "delete",
        "move",
        "search",
        "execute",
        "think",
        "fetch",
        "switch_mode",
        "other",
    ]
)
_PLAN_STATUSES: Final = {
    "v1": frozenset({"pending", "in_progress", "completed"}),
    "v2": frozenset({"pending", "in_progress", "completed", "cancelled"}),
}
_PRIORITIES: Final = frozenset({"high", "medium", "low"})
_UPDATE: Final = ".params.update"


def _reserved(value: Any, known: frozenset[str]) -> bool:
    return isinstance(value, str) and value not in known and not is_custom(value)


def unknown_status(said: Said, books: Books) -> Violations:
    """Find a status that is reserved for the protocol."""
    status = said.update.get("status")
    if _reserved(status, _STATUSES[books.protocol]):
        yield f"{_UPDATE}.status", f"{status!r} is not a status of a tool call"


def unknown_kind(said: Said, books: Books) -> Violations:
    """Find a kind of tool that is reserved for the protocol."""
    kind = said.update.get("kind")
    if _reserved(kind, _KINDS):
        yield f"{_UPDATE}.kind", f"{kind!r} is not a kind of tool"


def status_goes_back(said: Said, books: Books) -> Violations:
    """Find a tool call that has ended, and goes on."""
    page, status = books.session(said.session_id), said.update.get("status")
    call = page.calls.get(text_at(said.update, "toolCallId"))
    if call is None or page.resume is not None or not isinstance(status, str):
        return
    if call.status in FINAL and status not in FINAL:
        yield f"{_UPDATE}.status", f"is {status!r} after {call.status!r}"


def relative_location(said: Said, books: Books) -> Violations:
    """Find a location that is not an absolute path."""
    locations = said.update.get("locations")
    for place, location in enumerate(locations if isinstance(locations, list) else ()):
        if not is_absolute(at(location, "path")):
            yield f"{_UPDATE}.locations[{place}].path", "is not an absolute path"


def _items(said: Said) -> Iterator[tuple[str, Any]]:
    """Return the items of content that an update brings, with their paths."""
    content = said.update.get("content")
    if said.variant == "tool_call_content_chunk":
        yield f"{_UPDATE}.content", content
    for place, item in enumerate(content if isinstance(content, list) else ()):
        yield f"{_UPDATE}.content[{place}]", item


def relative_diff(said: Said, books: Books) -> Violations:
    """Find a diff of a path that is not absolute."""
    for path, item in _items(said):
        if at(item, "type") != "diff":
            continue
        if not is_absolute(at(item, "path")):
            yield f"{path}.path", "is not an absolute path"
        changes = at(item, "changes")
        for place, change in enumerate(changes if isinstance(changes, list) else ()):
            for key in ("path", "oldPath", "newPath", "from", "to"):
                if not is_absolute(at(change, key)):
                    yield f"{path}.changes[{place}].{key}", "is not an absolute path"


def unknown_terminal(books: Books) -> Iterator[tuple[int, str, str]]:
    """Find terminals that content shows, and that were never reported or created."""
    for page in books.sessions.values() if books.complete else ():
        for terminal_id, line in page.referenced.items():
            if terminal_id not in page.terminals:
                yield line, f"${_UPDATE}.content", f"the terminal {terminal_id!r} is not known"


def output_is_no_base64(said: Said, books: Books) -> Violations:
    """Find output that cannot be decoded."""
    where = "data" if said.variant == "terminal_output_chunk" else "output.data"
    data = at(said.update, *where.split("."))
    if isinstance(data, str) and decoded_base64(data) is None:
        yield f"{_UPDATE}.{where}", "is not base64"


def output_after_exit(said: Said, books: Books) -> Violations:
    """Find output of a terminal that has exited."""
    page = books.session(said.session_id)
    terminal = page.terminals.get(text_at(said.update, "terminalId"))
    if terminal is not None and terminal.status == "exited" and said.update.get("data"):
        yield f"{_UPDATE}.data", "is output of a terminal that has exited"


def terminal_directory(said: Said, books: Books) -> Violations:
    """Find a working directory that is not absolute."""
    if not is_absolute(said.update.get("cwd")):
        yield f"{_UPDATE}.cwd", "is not an absolute path"


def plan_entries(said: Said, books: Books) -> Violations:
    """Find entries of a plan with a status or a priority that is reserved."""
    plan = at(said.update, "plan") if said.variant == "plan_update" else said.update
    entries = at(plan, "entries")
    path = f"{_UPDATE}.plan" if said.variant == "plan_update" else _UPDATE
    for place, entry in enumerate(entries if isinstance(entries, list) else ()):
        here = f"{path}.entries[{place}]"
        if _reserved(at(entry, "status"), _PLAN_STATUSES[books.protocol]):
            yield f"{here}.status", f"{at(entry, 'status')!r} is not a status of a plan entry"
        if _reserved(at(entry, "priority"), _PRIORITIES):
            yield f"{here}.priority", f"{at(entry, 'priority')!r} is not a priority"


def cost(said: Said, books: Books) -> Violations:
    """Find a cost that cannot be: negative, or in a currency without a name."""
    amount, currency = at(said.update, "cost", "amount"), at(said.update, "cost", "currency")
    if isinstance(amount, int | float) and amount < 0:
        yield f"{_UPDATE}.cost.amount", "is negative"
    if isinstance(currency, str) and not re.fullmatch(r"\S(.*\S)?", currency):
        yield f"{_UPDATE}.cost.currency", "does not name a unit"


def updated_at(said: Said, books: Books) -> Violations:
    """Find a time that is not written as RFC 3339 has it."""
    time = said.update.get("updatedAt")
    pattern = r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)"
    if isinstance(time, str) and not re.fullmatch(pattern, time, re.ASCII):
        yield f"{_UPDATE}.updatedAt", "is not a time of RFC 3339"


def empty_notice(said: Said, books: Books) -> Violations:
    """Find a notice without a title."""
    if said.update.get("title") == "":
        yield f"{_UPDATE}.title", "is empty"


# --- Version 1 ---


def update_of_unknown_call(said: Said, books: Books) -> Violations:
    """Find an update of a tool call that was not reported before."""
    page, call_id = books.session(said.session_id), said.update.get("toolCallId")
    if books.complete and isinstance(call_id, str) and call_id not in page.calls:
        yield f"{_UPDATE}.toolCallId", f"{call_id!r} was not reported by a tool_call before"


def call_without_title(said: Said, books: Books) -> Violations:
    """Find a tool call without a title."""
    if not isinstance(said.update.get("title"), str):
        yield f"{_UPDATE}.title", "is missing"


def call_again(said: Said, books: Books) -> Violations:
    """Find a tool call that is reported as new while it goes on."""
    page, call_id = books.session(said.session_id), said.update.get("toolCallId")
    call = page.calls.get(call_id) if isinstance(call_id, str) else None
    is_repeated = page.resume is not None or page.asked  # by a replay, or after a request
    if call is not None and call.status not in FINAL and not is_repeated:
        yield f"{_UPDATE}.toolCallId", f"{call_id!r} goes on: that is a tool_call_update"


_CALLS: Final = "Tool Calls"


def _of_calls(
    name: str, severity: Any, versions: Any, title: str, section: str, find: Any
) -> tuple[Rule, ...]:
    """Make rows for each update that reports a tool call."""
    return tuple(
        Rule(f"agent/{name}", severity, versions, f"update {variant}", title, section, find)
        for variant in ("tool_call_update", "tool_call")
    )


def _of_update(
    name: str, severity: Any, versions: Any, variant: str, title: str, section: str, find: Any
) -> Rule:
    return Rule(f"agent/{name}", severity, versions, f"update {variant}", title, section, find)


RULES: Final = (
    *_of_calls(
        "tool-status",
        "error",
        BOTH,
        "The status of a tool call is one of the protocol's, or custom",
        f"{_CALLS}, Status; schema ToolCallStatus",
        unknown_status,
    ),
    *_of_calls(
        "tool-kind",
        "error",
        BOTH,
        "The kind of a tool is one of the protocol's, or custom",
        f"{_CALLS}, Reporting; schema ToolKind",
        unknown_kind,
    ),
    _of_update(
        "tool-status-goes-back",
        "warning",
        BOTH,
        "tool_call_update",
        "A tool call that has ended does not go on",
        f"{_CALLS}, Status",
        status_goes_back,
    ),
    *_of_calls(
        "relative-location",
        "error",
        BOTH,
        "Locations are absolute paths",
        "schema ToolCallLocation.path",
        relative_location,
    ),
    *_of_calls(
        "relative-diff", "error", BOTH, "Diffs name absolute paths", "schema Diff", relative_diff
    ),
    _of_update(
        "relative-diff",
        "error",
        V2,
        "tool_call_content_chunk",
        "Diffs name absolute paths",
        "schema Diff",
        relative_diff,
    ),
    Rule(
        "agent/unknown-terminal",
        "warning",
        BOTH,
        "end",
        "Terminals that content shows are reported",
        f"{_CALLS}, Display-only Terminals",
        unknown_terminal,
    ),
    _of_update(
        "terminal-output",
        "error",
        V2,
        "terminal_output_chunk",
        "Output is base64, each chunk on its own",
        "schema TerminalOutputChunk.data",
        output_is_no_base64,
    ),
    _of_update(
        "terminal-output",
        "error",
        V2,
        "terminal_update",
        "Output is base64",
        "schema TerminalOutput.data",
        output_is_no_base64,
    ),
    _of_update(
        "output-after-exit",
        "warning",
        V2,
        "terminal_output_chunk",
        "A terminal that has exited prints nothing",
        "schema TerminalExitStatus",
        output_after_exit,
    ),
    _of_update(
        "terminal-directory",
        "error",
        V2,
        "terminal_update",
        "The working directory of a terminal is an absolute path",
        "schema TerminalUpdate.cwd",
        terminal_directory,
    ),
    _of_update(
        "plan-entry",
        "error",
        V2,
        "plan_update",
        "Plan entries have a known status and priority",
        "Agent Plan; schema PlanEntry",
        plan_entries,
    ),
    _of_update(
        "plan-entry",
        "error",
        V1,
        "plan",
        "Plan entries have a known status and priority",
        "Agent Plan; schema PlanEntry",
        plan_entries,
    ),
    _of_update(
        "cost",
        "error",
        BOTH,
        "usage_update",
        "A cost has an amount and a unit",
        "schema Cost",
        cost,
    ),
    _of_update(
        "updated-at",
        "error",
        BOTH,
        "session_info_update",
        "Times are written as RFC 3339 has it",
        "schema SessionInfoUpdate.updatedAt",
        updated_at,
    ),
    _of_update(
        "empty-notice",
        "error",
        BOTH,
        "notice",
        "A notice has a title",
        "schema Notice.title",
        empty_notice,
    ),
    _of_update(
        "unknown-tool-call",
        "error",
        V1,
        "tool_call_update",
        "A tool call is reported before it is updated",
        f"{_CALLS}, Updating",
        update_of_unknown_call,
    ),
    _of_update(
        "tool-call-title",
        "error",
        V1,
        "tool_call",
        "A tool call has a title",
        "schema ToolCall.title",
        call_without_title,
    ),
    _of_update(
        "tool-call-again",
        "warning",
        V1,
        "tool_call",
        "A tool call is reported once, and then updated",
        f"{_CALLS}, Updating",
        call_again,
    ),
)
