"""A builder for each struct of a session update: its required and its optional fields."""

from __future__ import annotations

from .builders import (
    anything,
    count,
    either,
    file_path,
    identifier,
    label,
    many,
    media_type,
    one_of,
    output_bytes,
    record,
    some_text,
    timestamp,
    union,
    unknown,
    uri,
    word,
)
from .choices import Build, Choices, JsonObject, built

_annotations = record(
    {},
    {
        "audience": many(one_of("user", "assistant", "_robot")),
        "lastModified": one_of("2026-03-01T09:00:00Z", "yesterday", ""),
        "priority": one_of(0, 0.5, 1, 1.0),
    },
)
_icon = record(
    {"src": uri},
    {
        "mimeType": media_type,
        "sizes": many(one_of("48x48", "any")),
        "theme": one_of("light", "dark", "_dim"),
    },
)
_text_resource = record({"text": some_text, "uri": uri}, {"mimeType": media_type})
_blob_resource = record({"blob": output_bytes, "uri": uri}, {"mimeType": media_type})
_text_block = record({"text": some_text}, {"annotations": _annotations})
_CONTENT_BLOCKS = {
    "text": _text_block,
    "image": record(
        {"data": output_bytes, "mimeType": media_type}, {"uri": uri, "annotations": _annotations}
    ),
    "audio": record({"data": output_bytes, "mimeType": media_type}, {"annotations": _annotations}),
    "resource_link": record(
        {"name": label, "uri": uri},
        {
            "title": label,
            "description": label,
            "icons": many(_icon),
            "mimeType": media_type,
            "size": count,
            "annotations": _annotations,
        },
    ),
    "resource": record(
        {"resource": either(_text_resource, _blob_resource)}, {"annotations": _annotations}
    ),
}


def _plain_text(choices: Choices) -> JsonObject:
    return {"type": "text", "text": some_text(choices)}


block = either(*[_plain_text] * 4, union("type", _CONTENT_BLOCKS))

# --- tool calls and terminals ---------------------------------------------------------------------

_file_facts = {
    "fileType": one_of("text", "binary", "directory", "symlink", "_pipe"),
    "mimeType": media_type,
}
_path_change = record({"path": file_path}, _file_facts)
_path_pair_change = record({"oldPath": file_path, "path": file_path}, _file_facts)
_DIFF_OPERATIONS = {
    **dict.fromkeys(("add", "delete", "modify"), _path_change),
    **dict.fromkeys(("move", "copy"), _path_pair_change),
}
_patch = record({"format": one_of("git_patch", "_other"), "text": some_text})
_diff = record({"changes": many(union("operation", _DIFF_OPERATIONS))}, {"patch": _patch})
_terminal_reference = record({"terminalId": identifier})
_tool_call_content = union(
    "type",
    {"content": record({"content": block}), "diff": _diff, "terminal": _terminal_reference},
)
_capabilities = record({}, {"cancel": record({})})
_location = record({"path": file_path}, {"line": one_of(1, 3, 2**32 - 1, 3.0)})
_TOOL_KINDS = (
    "read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other",
    "_dream",
)  # fmt: skip
_TOOL_STATUSES = (
    "pending", "in_progress", "paused", "completed", "failed", "cancelled", "Completed",
)  # fmt: skip
tool_call = record(
    {"toolCallId": identifier},
    {
        "status": one_of(*_TOOL_STATUSES),
        "content": many(_tool_call_content),
        "title": label,
        "name": label,
        "kind": one_of(*_TOOL_KINDS),
        "locations": many(_location),
        "rawInput": anything,
        "rawOutput": anything,
        "capabilities": _capabilities,
    },
)
_exit_status = record(
    {}, {"exitCode": one_of(0, 1, -1, 137, 2**63 - 1, 1.0), "signal": one_of("SIGKILL", "")}
)
_side = one_of(80, 1, 65_535, 24.0)
_terminal = record(
    {"terminalId": identifier},
    {
        "output": record({"data": output_bytes}),
        "exitStatus": _exit_status,
        "command": label,
        "cwd": file_path,
        "size": record({"cols": _side, "rows": _side}),
        "capabilities": _capabilities,
    },
)

# --- plans, lists, state and the rest -------------------------------------------------------------

_plan_entry = record(
    {
        "content": some_text,
        "priority": one_of("high", "medium", "low", "_urgent"),
        "status": one_of("pending", "in_progress", "completed", "cancelled", "_blocked"),
    }
)
_plan = union(
    "type",
    {
        "items": record({"planId": identifier, "entries": many(_plan_entry)}),
        "markdown": record({"planId": identifier, "content": some_text}),
        "file": record({"planId": identifier, "uri": uri}),
    },
    planId=identifier,
)
_command_input = union("type", {"text": record({"hint": label})})
_command = union(
    "type",
    {"command": record({"name": label, "description": label}, {"input": _command_input})},
    name=label,
    description=label,
)
_select_option = record({"value": identifier, "name": label}, {"description": label})
_select_group = record(
    {"groupId": identifier, "name": label, "options": many(_select_option, least=1)}
)
_config_facts = {
    "description": label,
    "category": one_of("mode", "model", "model_config", "thought_level", "_mood"),
}
_select = record(
    {
        "configId": identifier,
        "name": label,
        "currentValue": identifier,
        "options": either(many(_select_option, least=1), many(_select_group, least=1)),
    },
    _config_facts,
)
_boolean = record(
    {"configId": identifier, "name": label, "currentValue": one_of(False, True)}, _config_facts
)
_config_option = union(
    "type", {"select": _select, "boolean": _boolean}, configId=identifier, name=label
)


_error_data = either(
    record({"sessionId": identifier}),
    record({"requested": one_of(3), "supported": many(one_of(1, 2))}),
    one_of(None),
    anything,
)
_ERROR_CODES = (
    -32603, -32700, -32600, -32601, -32602, -32800, -32000, -32002, -32022, 0, 2**31 - 1, -5.0,
)  # fmt: skip


def error(choices: Choices) -> JsonObject:
    """Build a JSON-RPC error; its `data` may be anything, null included."""
    code = choices.pick(_ERROR_CODES)
    data = {"data": _error_data(choices)} if choices.one_in(2) else {}
    return {"code": code, "message": label(choices), **data}


_background_work = union(
    "type", {"tool_call": record({"toolCallId": identifier}), "terminal": _terminal_reference}
)
_background = {"background": many(_background_work)}
_usage = record(
    {"totalTokens": count, "inputTokens": count, "outputTokens": count},
    {"thoughtTokens": count, "cachedReadTokens": count, "cachedWriteTokens": count},
)
_ended = _background | {"usage": _usage}
_STOP_REASONS = ("end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled")
_idle = either(
    *[record({}, _ended | {"stopReason": one_of(*_STOP_REASONS)})] * 2,
    record({"stopReason": one_of("error")}, _ended | {"error": error}),
    record({"stopReason": one_of("_paused", "hologram")}, _ended | {"extra": anything}),
)
_busy = record({}, _background)
_state = either(
    union("state", {"idle": _idle, "running": _busy}),
    union("state", {"idle": _idle, "running": _busy, "requires_action": _busy}),
)
_chunk = record({"messageId": identifier, "content": block})
_message = record({"messageId": identifier}, {"content": many(block)})
config_options = many(_config_option)
commands = many(_command)

_UPDATES: dict[str, Build] = {
    "agent_message_chunk": _chunk,
    "user_message_chunk": _chunk,
    "agent_thought_chunk": _chunk,
    "user_message": _message,
    "agent_message": _message,
    "agent_thought": _message,
    "tool_call_update": tool_call,
    "tool_call_content_chunk": record({"toolCallId": identifier, "content": _tool_call_content}),
    "terminal_update": _terminal,
    "terminal_output_chunk": record({"terminalId": identifier, "data": output_bytes}),
    "plan_update": record({"plan": _plan}),
    "plan_removed": record({"planId": identifier}),
    "state_update": _state,
    "usage_update": record(
        {"used": count, "size": count},
        {"cost": record({"amount": one_of(0, 0.045, -1, 1e308), "currency": one_of("USD", "")})},
    ),
    "session_info_update": record({}, {"title": label, "updatedAt": timestamp}),
    "available_commands_update": record({"availableCommands": commands}),
    "config_option_update": record({"configOptions": config_options}),
    "notice": record(
        {"severity": one_of("info", "warning", "error", "_loud"), "title": word},
        {"description": label},
    ),
    "compaction_update": record(
        {
            "compactionId": identifier,
            "status": one_of("in_progress", "completed", "failed", "cancelled", "_queued"),
        },
        {"summary": many(block), "error": label},
    ),
    "compaction_summary_chunk": record({"compactionId": identifier, "content": block}),
}
VARIANTS = tuple(_UPDATES)
UNKNOWN = "unknown"
_unknown_update = unknown("sessionUpdate")
# What a session is mostly made of comes more often.
_WEIGHTS = dict.fromkeys(VARIANTS, 2) | {
    "agent_message_chunk": 5, "agent_thought_chunk": 3, "state_update": 5, "tool_call_update": 5,
    "tool_call_content_chunk": 3, "terminal_output_chunk": 3, UNKNOWN: 2,
}  # fmt: skip
_WEIGHTED = tuple(name for name, weight in _WEIGHTS.items() for _ in range(weight))


def an_update(choices: Choices, variant: str | None = None) -> JsonObject:
    name = choices.pick(_WEIGHTED) if variant is None else variant
    if name == UNKNOWN:
        return built(_unknown_update, choices)
    return {"sessionUpdate": name, **_UPDATES[name](choices)}
