"""Tool calls of v1: what is default or empty does not wipe what is known."""

from __future__ import annotations

import base64
import shlex
from typing import Any

Calls = dict[str, Any]
Fields = dict[str, Any]

FINISHED = ("completed", "failed", "cancelled")
DEFAULTS = {"title": "", "kind": "other", "status": "pending"}
PATCHED = ("title", "kind", "status", "content", "locations", "rawInput", "rawOutput")


def fresh_calls() -> Calls:
    """Return what is known of the tool calls of a session before the first one."""
    return {"turn": 0, "known": {}}


def given(fields: Fields) -> Fields:
    """Return what a message says: in v1 null says nothing."""
    return {key: value for key, value in fields.items() if value is not None}


def news(fields: Fields) -> Fields:
    """Return what a whole tool call says beyond defaults and empty values."""
    return {key: value for key, value in fields.items() if not is_default(key, value)}


def is_default(key: str, value: Any) -> bool:
    """Whether a field says no more than that nothing is said."""
    empty = value in ("", [], {}) and not isinstance(value, bool)
    return key in PATCHED and (empty or value == DEFAULTS.get(key))


def is_reused(calls: Calls, call_id: str) -> bool:
    """Whether a new tool call has the id of one that was finished in an earlier turn."""
    known = calls["known"].get(call_id, {})
    return known.get("finished in") not in (None, calls["turn"])


def separate(calls: Calls, call_id: str) -> None:
    """Let the id stand for another entry from now on."""
    uses = calls["known"][call_id]["uses"] + 1
    calls["known"][call_id] = {"entry": f"{call_id}#{uses}", "uses": uses}


def noted(calls: Calls, fields: Fields) -> Fields:
    """Note what is reported of a call, and return it with the id of its entry."""
    call_id = fields["toolCallId"]
    known = calls["known"].setdefault(call_id, {"entry": call_id, "uses": 1})
    if fields.get("title"):
        known["title"] = fields["title"]
    if "status" in fields:
        known["finished in"] = calls["turn"] if fields["status"] in FINISHED else None
    return fields | {"toolCallId": known["entry"]}


def reported(calls: Calls, fields: Fields, is_whole: bool) -> Fields:
    """Return what a `tool_call` or a `tool_call_update` changes."""
    is_known = fields["toolCallId"] in calls["known"]
    return noted(calls, news(fields) if is_whole and is_known else fields)


def asked(calls: Calls, fields: Fields) -> Fields:
    """Return what the tool call of a permission request changes; a known title stays."""
    known = calls["known"].get(fields["toolCallId"])
    if known is not None:
        fields = news(fields)
        if known.get("title"):
            fields.pop("title", None)
    return noted(calls, fields)


# -------- terminals, as updates of v2


def encoded(text: str) -> str:
    """Encode output as v2 carries it."""
    return base64.b64encode(text.encode("utf-8", "surrogatepass")).decode()


def in_meta(fields: Fields) -> list[Fields]:
    """Return the updates of terminals that the `_meta` of a tool call holds."""
    meta = fields.get("_meta") or {}
    updates: list[Fields] = []
    output = "terminal_output_delta" if "terminal_output_delta" in meta else "terminal_output"
    for key in ("terminal_info", output, "terminal_exit"):
        said = meta.get(key)
        if not isinstance(said, dict):
            continue
        name = {"terminalId": said.get("terminal_id") or fields["toolCallId"]}
        if key == "terminal_info":
            command = (fields.get("rawInput") or {}).get("command")
            shown = given({"command": command_line(command), "cwd": said.get("cwd")})
            updates.append({"sessionUpdate": "terminal_update", **name, **shown})
        elif key == "terminal_exit":
            status = given({"exitCode": said.get("exit_code"), "signal": said.get("signal")})
            updates.append({"sessionUpdate": "terminal_update", **name, "exitStatus": status})
        else:
            data = encoded(said["data"])
            updates.append({"sessionUpdate": "terminal_output_chunk", **name, "data": data})
    return updates


def without_output(fields: Fields) -> Fields:
    """Return a tool call without the output that its `_meta` has for a terminal."""
    meta = fields.get("_meta")
    if not isinstance(meta, dict):
        return fields
    key = "terminal_output_delta" if "terminal_output_delta" in meta else "terminal_output"
    if not isinstance(meta.get(key), dict):
        return fields
    return fields | {"_meta": {name: value for name, value in meta.items() if name != key}}


def command_line(command: Any, arguments: Any = ()) -> str | None:
    """Return a command and its arguments as one line."""
    if isinstance(command, list):
        command, *arguments = command or [None]
    if not isinstance(command, str):
        return None
    return f"{command} {shlex.join(arguments)}" if arguments else command


def of_client(method: str, params: Fields, result: Fields) -> Fields:
    """Return the update of a terminal that the client's answer to the agent tells."""
    update = {"sessionUpdate": "terminal_update", "terminalId": params.get("terminalId")}
    if method == "terminal/create":
        line = command_line(params.get("command"), params.get("args") or [])
        shown = given({"command": line, "cwd": params.get("cwd")})
        return update | {"terminalId": result["terminalId"]} | shown
    if method == "terminal/output":
        shown = given({"exitStatus": result.get("exitStatus")})
        return update | {"output": {"data": encoded(result["output"])}} | shown
    return update | {"exitStatus": given(result)}
