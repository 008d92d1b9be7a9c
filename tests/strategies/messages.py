"""Messages other than updates: requests, answers, permission requests, inconsequential talk."""

from __future__ import annotations

from .builders import (
    anything,
    either,
    file_path,
    identifier,
    label,
    many,
    one_of,
    record,
    union,
    uri,
)
from .choices import Build, Choices, Json, JsonObject
from .update_builders import block, commands, config_options, tool_call


def notification(update: JsonObject, session_id: str = "s1") -> JsonObject:
    """Make the `session/update` message that carries an update."""
    return notify("session/update", {"sessionId": session_id, "update": update})


def notify(method: str, params: Json) -> JsonObject:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def request(request_id: Json, method: str, params: Json) -> JsonObject:
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def answer(request_id: Json, outcome: JsonObject) -> JsonObject:
    return {"jsonrpc": "2.0", "id": request_id, **outcome}


bare = record({})
_implementation = record({"name": label, "version": label}, {"title": label})
_initialize = record({"protocolVersion": one_of(2), "info": _implementation})
_lists = {"configOptions": config_options, "availableCommands": commands}


def _some_lists(choices: Choices) -> JsonObject:
    """Build the lists of a result that sets a session up; each may be absent but is never null."""
    lists = {key: value(choices) for key, value in _lists.items() if choices.one_in(2)}
    return {**lists, **bare(choices)}


_subject = union(
    "type",
    {
        "tool_call": record({"toolCall": tool_call}),
        "command": record(
            {"command": label, "cwd": file_path},
            {"toolCallId": identifier, "terminalId": identifier},
        ),
    },
)
_option = record(
    {
        "optionId": one_of("allow", "reject", ""),
        "name": label,
        "kind": one_of("allow_once", "allow_always", "reject_once", "reject_always", "_maybe"),
    }
)
permission = record(
    {"title": label, "options": many(_option, least=1)},
    {"subject": _subject, "description": label},
)
outcome = union(
    "outcome",
    {"selected": record({"optionId": one_of("allow", "reject")}), "cancelled": bare},
)
_property = union(
    "type",
    {
        "string": record({}, {"title": label, "enum": many(label, least=1), "default": label}),
        "integer": record({}, {"minimum": one_of(0, -5), "maximum": one_of(9, 2**60)}),
        "number": record({}, {"minimum": one_of(0, 0.5), "default": one_of(1, 1.5)}),
        "boolean": record({}, {"default": one_of(False, True)}),
        "array": record({"items": record({"type": one_of("string"), "enum": many(label, 1)})}),
    },
)


def _properties(choices: Choices) -> JsonObject:
    return {choices.pick(("k", "l", "")): _property(choices) for _ in range(choices.below(3))}


_requested_schema = record(
    {"type": one_of("object"), "properties": _properties},
    {"required": many(one_of("k", "l")), "title": label},
)
elicitation = union(
    "mode",
    {
        "form": record({"message": label, "requestedSchema": _requested_schema}),
        "url": record({"message": label, "url": uri, "elicitationId": identifier}),
    },
    message=label,
)
elicited = union(
    "action",
    {
        "accept": record({}, {"content": record({}, {"k": label})}),
        "decline": bare,
        "cancel": bare,
    },
)
CANCELLED = {"result": {"outcome": {"outcome": "cancelled"}}}
_replay_from = union("type", {"start": bare})
_resume = record({"cwd": file_path}, {"replayFrom": _replay_from})
_set_option = either(
    record({"configId": identifier, "type": one_of("id"), "value": identifier}),
    record({"configId": identifier, "type": one_of("boolean"), "value": one_of(False, True)}),
    record({"configId": identifier, "type": one_of("_slider"), "value": anything}),
)
# The requests of a client; all but `initialize` and `session/new` name a session.
REQUESTS: dict[str, Build] = {
    "session/prompt": record({"prompt": many(block, least=1)}),
    "initialize": _initialize,
    "session/new": record({"cwd": file_path}),
    "session/resume": _resume,
    "session/set_config_option": _set_option,
    "session/list": bare,
    "session/close": bare,
    "session/delete": bare,
    "auth/login": record({"methodId": identifier}),
    "auth/logout": bare,
    "tool_call/cancel": record({"toolCallId": identifier}),
    "terminal/cancel": record({"terminalId": identifier}),
}
RESULTS: dict[str, Build] = {
    "initialize": _initialize,
    "session/new": _some_lists,
    "session/resume": _some_lists,
    "session/set_config_option": record({"configOptions": config_options}),
    "session/list": record({"sessions": one_of([])}),
}
WITHOUT_SESSION = ("initialize", "session/new", "session/list", "auth/login", "auth/logout")
MALFORMED_ANSWERS: tuple[JsonObject, ...] = (
    {},
    {"result": None},
    {"result": "a"},
    {"result": []},
    {"result": {}},
    {"result": {"messageId": None}},
    {"result": {"messageId": 5, "sessionId": 5}},
    {"result": {"sessionId": "s1", "configOptions": None, "availableCommands": [5]}},
    {"result": {"sessionId": "s1", "configOptions": 5, "availableCommands": {}}},
    {"result": {"messageId": "a", "sessionId": "s1", "configOptions": []}, "error": None},
    {"result": {"messageId": "a", "sessionId": "s1"}, "error": {"code": 1, "message": "x"}},
    {"error": None},
    {"error": "boom"},
    {"error": {"code": 1.5, "message": "x"}},
    {"error": {"code": 2**31, "message": "x"}},
    {"error": {"message": "x"}},
)
MALFORMED_PERMISSION_ANSWERS: tuple[JsonObject, ...] = (
    {"result": None},
    {"result": {"outcome": "cancelled"}},
    {"result": {"outcome": {"outcome": "selected"}}},
    {"error": "no"},
)
# Valid JSON-RPC of an agent that means nothing to a session.
IDLE_TALK: tuple[JsonObject, ...] = (
    notify("session/hologram", {}),
    notify("_example.com/x", None),
    request("x", "_example.com/x", {"sessionId": "s1"}),
    request(-1, "_example.com/read", {"sessionId": "s1", "path": "/a"}),
)
# Messages in the wrong place: an update that is a request, a question that cannot be answered.
MISPLACED: tuple[JsonObject, ...] = (
    {**notification({"sessionUpdate": "agent_message", "messageId": "a"}), "id": 5},
    notify("session/request_permission", {"sessionId": "s1", "title": "x", "options": []}),
    notify("session/update", ["s1", {"sessionUpdate": "agent_message", "messageId": "a"}]),
    notify("session/update", {"sessionId": None, "update": {"sessionUpdate": "_x"}}),
    notify("session/update", {"sessionId": "s1", "update": None}),
    notify("session/cancel", {"sessionId": "s1"}),
    request(7, "session/prompt", {"sessionId": "s1", "prompt": []}),
    answer(99, {"result": {"messageId": "a"}}),
    answer("99", {"error": {"code": 1, "message": "x"}}),
    answer(None, {"error": {"code": -32700, "message": "Parse error"}}),
)
