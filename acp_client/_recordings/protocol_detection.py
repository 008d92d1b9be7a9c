"""Which version of the protocol a recording is in, where no `initialize` says so.

A recording may begin late: in the middle of a connection, with one side, with updates alone. What
only one version has decides then, and one such message is enough. As long as none has come it may
be either, and what both have is the same in both.

Where `initialize` comes first there is nothing to find out: the store settles it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal

from .._json import NotJson, TooDeep, parse
from .._jsonrpc import METHODS
from .._v1 import is_only_v1
from .._versions import Protocol

Fields = dict[str, Any]

Finding = Literal["v1", "v2", "initialize"]


class ProtocolDetector:
    """Looks at the messages of one recording, in order, until one decides."""

    def __init__(self) -> None:
        self.found: Finding | None = None

    @property
    def protocol(self) -> Protocol | None:
        """The version that the messages have shown, if they have."""
        return None if self.found == "initialize" else self.found

    def look(self, data: bytes, *, sent: bool) -> bool:
        """Look at the next line; return whether there is nothing left to find out."""
        for message in _messages(data) if self.found is None else ():
            self.found = self.found or _finding(message, sent)
        return self.found is not None


def _messages(data: bytes) -> list[Fields]:
    try:
        value = parse(data)
    except (NotJson, TooDeep):
        return []
    values = value if isinstance(value, list) else [value]
    return [message for message in values if isinstance(message, dict)]


def _finding(message: Fields, sent: bool) -> Finding | None:
    if _is_initialize(message):
        return "initialize"
    if is_only_v1(message, sent=sent):
        return "v1"
    return "v2" if is_only_v2(message, sent=sent) else None


def _is_initialize(message: Fields) -> bool:
    return "protocolVersion" in _fields(message.get("params")) | _fields(message.get("result"))


# --- What only v2 has ---

_UPDATES: Final[dict[str, str]] = {
    "agent_message": "messageId",
    "agent_thought": "messageId",
    "state_update": "state",
    "terminal_output_chunk": "terminalId",
    "terminal_update": "terminalId",
    "tool_call_content_chunk": "toolCallId",
    "user_message": "messageId",
}
"""Updates that v1 does not have, with what they cannot do without."""


def is_only_v2(message: Fields, *, sent: bool = False) -> bool:
    """Return whether a message can only be of v2; `sent` says that the client wrote it."""
    method, params = message.get("method"), _fields(message.get("params"))
    if isinstance(method, str):
        check = (_SENT if sent else _RECEIVED).get(method)
        return check(params) if check else _is_call(method)
    return not sent and _is_result(_fields(message.get("result")))


def _is_call(method: str) -> bool:
    return method in METHODS and METHODS[method].only == "v2"


def _fields(value: Any) -> Fields:
    return value if isinstance(value, dict) else {}


def _is_update(params: Fields) -> bool:
    update = _fields(params.get("update"))
    kind = update.get("sessionUpdate")
    key = _UPDATES.get(kind) if isinstance(kind, str) else None
    if key is not None:
        return isinstance(update.get(key), str)
    return _has_options(update) or _has_commands(update)


def _has_options(fields: Fields) -> bool:
    return _all_have(fields.get("configOptions"), "configId")


def _has_commands(fields: Fields) -> bool:
    return _all_have(fields.get("availableCommands"), "type")


def _all_have(items: Any, key: str) -> bool:
    found = [_fields(item) for item in items] if isinstance(items, list) else []
    return bool(found) and all(key in item for item in found)


def _is_result(result: Fields) -> bool:
    is_prompt = isinstance(result.get("messageId"), str)
    return is_prompt or _has_options(result) or _has_commands(result)


_RECEIVED: Final[dict[str, Callable[[Fields], bool]]] = {
    "session/update": _is_update,
    "session/request_permission": lambda params: isinstance(params.get("title"), str),
}

_SENT: Final[dict[str, Callable[[Fields], bool]]] = {
    "session/resume": lambda params: isinstance(params.get("replayFrom"), dict),
}
