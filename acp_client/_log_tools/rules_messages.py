"""Rules for messages of either side: JSON-RPC, ids, methods, initialization."""

from __future__ import annotations

from typing import Any, Final

from .conversation import Books, Said
from .leaves import at
from .rule import BOTH, V2, Rule, Violations, is_custom

_CLIENT_METHODS: Final = {
    "v1": frozenset(
        [
            "initialize",
            "authenticate",
            "logout",
            "session/new",
            "session/load",
            "session/list",
            "session/delete",
            "session/resume",
            "session/close",
            "session/set_mode",
            "session/set_model",
            "session/prompt",
            "session/set_config_option",
            "session/cancel",
            "session/fork",
        ]
    ),
    "v2": frozenset(
        [
            "initialize",
            "auth/login",
            "auth/logout",
            "auth/status",
            "session/new",
            "session/list",
            "session/resume",
            "session/close",
            "session/delete",
            "session/prompt",
            "session/cancel",
            "session/set_config_option",
            "tool_call/cancel",
            "terminal/cancel",
            "session/archive",
            "session/unarchive",
            "session/fork",
            "session/status",
            "session/set_title",
        ]
    ),
}
_AGENT_METHODS: Final = {
    "v1": frozenset(
        [
            "session/update",
            "session/request_permission",
            "fs/read_text_file",
            "fs/write_text_file",
            "terminal/create",
            "terminal/output",
            "terminal/release",
            "terminal/wait_for_exit",
            "terminal/kill",
            "elicitation/create",
            "elicitation/complete",
            "auth/status_update",
        ]
    ),
    "v2": frozenset(
        [
            "session/update",
            "session/request_permission",
            "elicitation/create",
            "elicitation/complete",
            "auth/status_update",
        ]
    ),
}
_AREAS: Final = ("$/", "mcp/", "nes/", "document/", "providers/", "proxy/")
"""What both sides may call, or drafts of the protocol define."""

_NOTIFICATIONS: Final = frozenset(
    {"session/update", "session/cancel", "elicitation/complete", "$/cancel_request"}
)


def unknown_answer(said: Said, books: Books) -> Violations:
    """Find an answer to a request that was never sent, where all of them were seen."""
    key = (not said.sent, said.key)
    is_known = said.request is not None or key in books.answered
    if books.complete and not is_known and said.message.get("id") is not None:
        yield ".id", "answers a request that was not sent"


def second_answer(said: Said, books: Books) -> Violations:
    """Find a request that is answered twice."""
    if said.request is None and (not said.sent, said.key) in books.answered:
        yield ".id", "answers a request that was answered already"


def reused_id(said: Said, books: Books) -> Violations:
    """Find a request under the id of one that is still open."""
    if (said.sent, said.key) in books.open:
        yield ".id", "is the id of a request that is still open"


def null_id(said: Said, books: Books) -> Violations:
    """Find a request whose id is null, so that it cannot be answered."""
    if said.message.get("id") is None:
        yield ".id", "a request with the id null cannot be answered"


def unknown_method(said: Said, books: Books) -> Violations:
    """Find a method that is neither of the protocol nor marked as custom."""
    known = (_CLIENT_METHODS if said.sent else _AGENT_METHODS)[books.protocol]
    method = said.method
    if method and method not in known and not is_custom(method) and not method.startswith(_AREAS):
        yield ".method", f"{method!r} is no method of the protocol, and does not begin with _"


def notification_with_id(said: Said, books: Books) -> Violations:
    """Find a notification that is sent as a request."""
    if said.method in _NOTIFICATIONS:
        yield ".id", f"{said.method} is a notification and has no id"


def request_without_id(said: Said, books: Books) -> Violations:
    """Find a request that is sent as a notification, so that its answer has nowhere to go."""
    known = (_CLIENT_METHODS if said.sent else _AGENT_METHODS)[books.protocol]
    is_notification = said.method in _NOTIFICATIONS or said.method == "auth/status_update"
    if said.method in known and not is_notification:
        yield "", f"{said.method} is a request and needs an id"


def in_a_batch(said: Said, books: Books) -> Violations:
    """Find a message inside of an array."""
    if said.path != "$":
        yield "", "batches of messages are not part of the protocol"


def version_of_result(said: Said, books: Books) -> Violations:
    """Find an answer to `initialize` without a version, or with one beyond the client's."""
    if not said.succeeded:
        return
    asked, chosen = at(said.params, "protocolVersion"), at(said.result, "protocolVersion")
    if type(chosen) is not int or chosen < 0:
        yield ".result.protocolVersion", "is not the number of a version"
    elif books.protocol == "v2" and type(asked) is int and chosen > asked:
        yield ".result.protocolVersion", f"is {chosen}, beyond the {asked} that was asked for"


def version_asked(said: Said, books: Books) -> Violations:
    """Find an `initialize` without a version."""
    if type(at(said.params, "protocolVersion")) is not int:
        yield ".params.protocolVersion", "is not the number of a version"


def implementation(said: Said, books: Books) -> Violations:
    """Find a side that does not say what it is."""
    where, info = (
        (".params.info", at(said.params, "info"))
        if said.kind == "request"
        else (".result.info", at(said.result, "info"))
    )
    if said.kind == "response" and not said.succeeded:
        return
    if not all(isinstance(at(info, key), str) for key in ("name", "version")):
        yield where, "is not an implementation with a name and a version"


def before_initialized(said: Said, books: Books) -> Violations:
    """Find a call of either side before `initialize` was answered."""
    if books.waits_for("initialize") and said.method not in ("initialize", "$/cancel_request"):
        yield ".method", "comes before the answer to initialize"


def initialized_twice(said: Said, books: Books) -> Violations:
    """Find a second `initialize`."""
    if books.initialized is not None:
        yield ".method", "the connection was initialized already"


def error_shape(said: Said, books: Books) -> Violations:
    """Find an error that has no integer code or no message."""
    error: Any = said.message.get("error")
    if "error" in said.message and (
        type(at(error, "code")) is not int or not isinstance(at(error, "message"), str)
    ):
        yield ".error", "is not an error with an integer code and a message"


_RPC: Final = "JSON-RPC 2.0"
_SETUP: Final = "Initialization"


def _both_sides(
    name: str, severity: Any, when: str, title: str, section: str, find: Any
) -> tuple[Rule, ...]:
    return tuple(
        Rule(f"{side}/{name}", severity, BOTH, when, title, section, find)
        for side in ("agent", "client")
    )


RULES: Final = (
    *_both_sides(
        "unknown-answer", "error", "response", "Only requests are answered", _RPC, unknown_answer
    ),
    *_both_sides(
        "second-answer", "error", "response", "A request is answered once", _RPC, second_answer
    ),
    *_both_sides("reused-id", "error", "request", "Ids of open requests differ", _RPC, reused_id),
    *_both_sides("null-id", "error", "request", "A request has an id", _RPC, null_id),
    *_both_sides(
        "error-shape", "error", "response", "An error has code and message", _RPC, error_shape
    ),
    *_both_sides(
        "batch", "warning", "message", "Messages are sent one by one", "Overview", in_a_batch
    ),
    *_both_sides(
        "unknown-method",
        "warning",
        "call",
        "Custom methods begin with an underscore",
        "Extensibility, Custom Requests",
        unknown_method,
    ),
    *_both_sides(
        "notification-with-id",
        "error",
        "request",
        "A notification has no id",
        _RPC,
        notification_with_id,
    ),
    *_both_sides(
        "request-without-id",
        "error",
        "notification",
        "A request has an id",
        _RPC,
        request_without_id,
    ),
    Rule(
        "agent/protocol-version",
        "error",
        BOTH,
        "response initialize",
        "The answer names a version, at most the one that was asked for",
        f"{_SETUP}; schema InitializeResponse.protocolVersion",
        version_of_result,
    ),
    Rule(
        "agent/implementation",
        "error",
        V2,
        "response initialize",
        "The agent says its name and version",
        "schema InitializeResponse.info",
        implementation,
    ),
    Rule(
        "agent/before-initialized",
        "error",
        BOTH,
        "call",
        "Nothing comes before the answer to initialize",
        _SETUP,
        before_initialized,
    ),
    Rule(
        "client/protocol-version",
        "error",
        BOTH,
        "request initialize",
        "The request names a version",
        "schema InitializeRequest.protocolVersion",
        version_asked,
    ),
    Rule(
        "client/implementation",
        "error",
        V2,
        "request initialize",
        "The client says its name and version",
        "schema InitializeRequest.info",
        implementation,
    ),
    Rule(
        "client/before-initialized",
        "error",
        BOTH,
        "call",
        "The initialization comes first",
        f"Prompt Lifecycle; {_SETUP}",
        before_initialized,
    ),
    Rule(
        "client/initialized-twice",
        "error",
        BOTH,
        "request initialize",
        "A connection is initialized once",
        _SETUP,
        initialized_twice,
    ),
)
