"""ACP v1 objects in the shape that v2 has for them: parsed JSON in, parsed JSON out.

Each function takes what an agent sent, of any type, and changes only what it understands. What is
wrong in it stays wrong, for the decoder of v2 to find: leniency is its business alone.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any, Final

from .. import wire

_BLOCK_TYPES: Final = frozenset(map(wire.tag_of, wire.variants(wire.ContentBlock)))


def given(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that are not `null`, which in v1 means that nothing is given."""
    return {key: value for key, value in fields.items() if value is not None}


def each(value: Any, shape: Callable[[Any], Any]) -> Any:
    """Shape the items of a list; return any other value as it is."""
    return [shape(item) for item in value] if isinstance(value, list) else value


def renamed(fields: dict[str, Any], old: str, new: str) -> dict[str, Any]:
    """Rename a key unless the new one is there as well."""
    if old not in fields or new in fields:
        return fields
    return {new if key == old else key: value for key, value in fields.items()}


# --- Content ---


def blocks(content: Any) -> list[Any]:
    """Return the content blocks of a chunk: one as a rule, though some agents send a list."""
    return [block(item) for item in content] if isinstance(content, list) else [block(content)]


def block(value: Any) -> Any:
    """Shape a content block; bare text is one."""
    if isinstance(value, str):
        return {"type": "text", "text": value}
    if isinstance(value, dict) and "type" not in value and isinstance(value.get("text"), str):
        return {"type": "text", **value}
    return value


def item(value: Any) -> Any:
    """Shape a content item of a tool call; a bare content block is one."""
    value = block(value)
    tag = value.get("type") if isinstance(value, dict) else None
    if isinstance(tag, str) and tag in _BLOCK_TYPES:
        return {"type": "content", "content": value}
    return value


def items(content: Any) -> Any:
    """Shape the content of a tool call."""
    return each([content] if isinstance(content, dict | str) else content, item)


# --- Tool calls ---

_DEFAULTS: Final = {"status": "pending", "kind": "other"}


def tool_call(fields: dict[str, Any]) -> dict[str, Any]:
    """Shape the fields of a tool call, except for its content."""
    shaped = {**given(fields), "sessionUpdate": "tool_call_update"}
    if "locations" in shaped:
        shaped["locations"] = each(shaped["locations"], _location)
    return shaped


def without_defaults(fields: dict[str, Any]) -> dict[str, Any]:
    """Return what a `tool_call` says that its defaults and empty values would not.

    A `tool_call` is whole on paper; one for a call that is known must not reset it.
    """
    return {
        key: value
        for key, value in fields.items()
        if value not in ("", [], {}) and value != _DEFAULTS.get(key)
    }


def _location(value: Any) -> Any:
    """Leave out a line 0, which v2 does not have."""
    if isinstance(value, dict) and value.get("line", 1) == 0:
        return {key: part for key, part in value.items() if key != "line"}
    return value


def command_line(command: Any, arguments: Any = None) -> str | None:
    """Return a command and its arguments as one line; `None` if it is not a command."""
    if isinstance(command, list):
        command, arguments = command[:1], command[1:]
        command = command[0] if command else None
    if not isinstance(command, str):
        return None
    words = arguments if isinstance(arguments, list) else []
    words = [word for word in words if isinstance(word, str)]
    return f"{command} {shlex.join(words)}" if words else command


# --- Commands, plans, configuration ---


def command(value: Any) -> Any:
    """Shape a slash command."""
    if not isinstance(value, dict):
        return value
    shaped = {"type": "command", "description": "", **given(value)}
    if "input" in shaped:
        shaped["input"] = _command_input(shaped["input"])
    return given(shaped)


def _command_input(value: Any) -> Any:
    if not isinstance(value, dict) or "type" in value:
        return value
    return {"type": "text", **value} if "hint" in value else None


def plan(fields: dict[str, Any]) -> dict[str, Any]:
    """Shape the one plan that a v1 session has."""
    entries = each(fields.get("entries"), _plan_entry)
    shaped = {"type": "items", "planId": "plan", "entries": entries, "_meta": fields.get("_meta")}
    return {"sessionUpdate": "plan_update", "plan": given(shaped)}


def ahead(fields: dict[str, Any]) -> dict[str, Any]:
    """Shape an update of v2 that an agent sends in v1: drafts of it named a plan by `id`."""
    value = fields.get("plan")
    return {**fields, "plan": renamed(value, "id", "planId")} if isinstance(value, dict) else fields


def _plan_entry(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {"priority": "medium", "status": "pending", **given(value)}


def config_option(value: Any) -> Any:
    """Shape a configuration option."""
    if not isinstance(value, dict):
        return value
    current = value.get("currentValue")
    shaped = {
        "type": "boolean" if isinstance(current, bool) else "select",
        **renamed(given(value), "id", "configId"),
    }
    if shaped["type"] == "select":
        shaped["options"] = each(shaped.get("options"), _choice) or _only(current)
    return shaped


def _only(value: Any) -> list[Any]:
    """Return the choices where none are listed: what is chosen."""
    return [{"value": value, "name": value}]


def _choice(value: Any) -> Any:
    """Shape a choice, or a group of them."""
    if not isinstance(value, dict):
        return value
    return renamed(renamed(value, "group", "groupId"), "id", "value")


SET_BY: Final = "setBy"
"""The key in the `_meta` of an option that says which call sets it, if that is an older one."""


def choices(
    option_id: str, known: str, current: Any, listed: Any, method: str
) -> dict[str, Any] | None:
    """Make an option out of modes or models; `None` where there is no current one."""
    if not isinstance(current, str):
        return None
    found = [_choice_of(known, value) for value in listed] if isinstance(listed, list) else []
    named = [choice for choice in found if choice is not None]
    return {
        "type": "select",
        "configId": option_id,
        "name": option_id.capitalize(),
        "category": option_id,
        "currentValue": current,
        "options": named or _only(current),
        "_meta": {SET_BY: method},
    }


def ids_of(listed: Any, key: str) -> set[str]:
    """Return the ids of modes or models."""
    found = listed if isinstance(listed, list) else []
    ids = [value.get(key) for value in found if isinstance(value, dict)]
    return {found for found in ids if isinstance(found, str)}


def _choice_of(key: str, value: Any) -> dict[str, Any] | None:
    if not isinstance(value, dict) or not isinstance(value.get(key), str):
        return None
    shaped = {**value, "value": value[key], "name": value.get("name") or value[key]}
    return given({name: shaped.get(name) for name in ("value", "name", "description", "_meta")})


# --- Permission requests and what an agent says of itself ---


def permission_option(value: Any) -> Any:
    """Shape an answer that the user may give."""
    if not isinstance(value, dict):
        return value
    shaped = renamed(renamed(given(value), "id", "optionId"), "label", "name")
    return {"name": shaped.get("optionId"), "kind": "unknown", **shaped}


def initialize_result(result: Any) -> Any:
    """Shape the result of `initialize`."""
    if not isinstance(result, dict):
        return result
    info = result.get("agentInfo")
    return {
        "protocolVersion": result.get("protocolVersion"),
        "info": {"name": "", "version": "", **(given(info) if isinstance(info, dict) else {})},
        "capabilities": _capabilities(result.get("agentCapabilities")),
        "authMethods": each(result.get("authMethods") or [], _auth_method),
        "_meta": {**_members(result.get("_meta")), **_kept(result)},
    }


def _kept(result: dict[str, Any]) -> dict[str, Any]:
    """Return the capabilities as they came: v2 has no words for some, such as `loadSession`."""
    return given({"agentCapabilities": result.get("agentCapabilities")})


def _members(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _capabilities(value: Any) -> dict[str, Any]:
    found = value if isinstance(value, dict) else {}
    sessions = found.get("sessionCapabilities")
    able = sessions if isinstance(sessions, dict) else {}
    session = {
        "prompt": _flags(found.get("promptCapabilities")),
        "mcp": {"stdio": {}, **_flags(found.get("mcpCapabilities"))},
        "delete": able.get("delete"),
        "additionalDirectories": able.get("additionalDirectories"),
    }
    return given({"session": given(session), "_meta": found.get("_meta")})


def _flags(value: Any) -> dict[str, Any]:
    """Turn what is true into something that is there, which is how v2 says it."""
    found = value if isinstance(value, dict) else {}
    return {key: {} for key, flag in found.items() if flag is True}


def _auth_method(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {"type": "agent", **renamed(given(value), "id", "methodId")}
