"""What only ACP v1 has: messages that no agent or client of v2 writes.

Messages are examined as parsed JSON. Two callers need this: the reader of a recording that begins
late, and a connection that is read as v2, which reports the first such message as a problem.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from .._jsonrpc import METHODS

Fields = dict[str, Any]

UPDATES: Final[dict[str, tuple[str, type]]] = {
    "tool_call": ("toolCallId", str),
    "plan": ("entries", list),
    "current_mode_update": ("currentModeId", str),
}
"""Updates that v2 does not have, with what they cannot do without."""


def is_only_v1(message: Any, *, sent: bool = False) -> bool:
    """Return whether a message can only be of v1; `sent` says that the client wrote it."""
    if not isinstance(message, dict):
        return False
    method, params = message.get("method"), _fields(message.get("params"))
    if isinstance(method, str):
        check = None if sent else _NOTIFIED.get(method)
        return check(params) if check else _is_call(method) and "id" in message
    return not sent and _is_result(_fields(message.get("result")))


def _is_call(method: str) -> bool:
    return method in METHODS and METHODS[method].only == "v1"


def _fields(value: Any) -> Fields:
    return value if isinstance(value, dict) else {}


def _is_update(params: Fields) -> bool:
    update = _fields(params.get("update"))
    kind = update.get("sessionUpdate")
    check = _ON_UPDATE.get(kind) if isinstance(kind, str) else None
    return check is not None and check(update)


def _is_chunk(update: Fields) -> bool:
    """Look for a message id, which a chunk of v2 has."""
    return "messageId" not in update and "type" in _fields(update.get("content"))


def _is_new_update(update: Fields) -> bool:
    key, kind = UPDATES[update["sessionUpdate"]]
    return isinstance(update.get(key), kind)


def _has_old_diff(update: Fields) -> bool:
    content = update.get("content")
    items = [_fields(item) for item in content] if isinstance(content, list) else []
    return any(item.get("type") == "diff" and "newText" in item for item in items)


def _has_old_commands(update: Fields) -> bool:
    """Look for a type, which a command of v2 has."""
    return _all_have(update.get("availableCommands"), "name", "type")


def _has_old_options(fields: Fields) -> bool:
    """Look for a `configId`, which an option of v2 has."""
    return _all_have(fields.get("configOptions"), "id", "configId")


def _all_have(items: Any, key: str, other: str) -> bool:
    found = [_fields(item) for item in items] if isinstance(items, list) else []
    return bool(found) and all(key in item and other not in item for item in found)


def _is_permission(params: Fields) -> bool:
    """Look for a title, which a permission request of v2 has."""
    call = _fields(params.get("toolCall"))
    return "title" not in params and isinstance(call.get("toolCallId"), str)


def _is_result(result: Fields) -> bool:
    is_prompt = isinstance(result.get("stopReason"), str) and "messageId" not in result
    has_lists = any(isinstance(result.get(key), dict) for key in ("modes", "models"))
    return is_prompt or has_lists or _has_old_options(result)


_NOTIFIED: Final[dict[str, Callable[[Fields], bool]]] = {
    "session/update": _is_update,
    "session/request_permission": _is_permission,
}

_ON_UPDATE: Final[dict[str, Callable[[Fields], bool]]] = {
    **dict.fromkeys(
        ("user_message_chunk", "agent_message_chunk", "agent_thought_chunk"), _is_chunk
    ),
    **dict.fromkeys(UPDATES, _is_new_update),
    "tool_call_update": _has_old_diff,
    "available_commands_update": _has_old_commands,
    "config_option_update": _has_old_options,
}
