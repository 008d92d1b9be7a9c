"""JSON-RPC 2.0: the table of the protocol's methods, and the shape of a message.

`METHODS` is the only table of methods in the package. It has the caller of each method, its
version, and the classes of its parameters and its result.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from msgspec import Struct

from . import wire
from ._json import LARGEST_INTEGER

Caller = Literal["client", "agent", "both"]


class Method(Struct, frozen=True):
    """A method of the protocol.

    `params` and `result` are wire classes; a value without one stays `wire.Json`. `only` names the
    version if just one has the method.
    """

    caller: Caller
    params: Any = None
    result: Any = None
    is_notification: bool = False
    only: Literal["v1", "v2"] | None = None


METHODS: Final[Mapping[str, Method]] = {
    "$/cancel_request": Method("both", wire.CancelRequestNotification, is_notification=True),
    # The connection
    "initialize": Method("client", None, wire.InitializeResponse),
    "auth/login": Method("client", wire.LoginAuthRequest, wire.LoginAuthResponse, only="v2"),
    "auth/logout": Method("client", None, wire.LogoutAuthResponse, only="v2"),
    "auth/status": Method("client"),
    "auth/status_update": Method("agent", is_notification=True),
    "authenticate": Method("client", wire.LoginAuthRequest, wire.LoginAuthResponse, only="v1"),
    "logout": Method("client", None, wire.LogoutAuthResponse, only="v1"),
    "mcp/message": Method("both"),
    "providers/disable": Method("client"),
    "providers/list": Method("client"),
    "providers/set": Method("client"),
    # The list of sessions
    "session/archive": Method("client"),
    "session/close": Method("client", wire.CloseSessionRequest, wire.CloseSessionResponse),
    "session/delete": Method("client", wire.DeleteSessionRequest, wire.DeleteSessionResponse),
    "session/fork": Method("client"),
    "session/list": Method("client", wire.ListSessionsRequest, wire.ListSessionsResponse),
    "session/load": Method("client", None, wire.ResumeSessionResponse, only="v1"),
    "session/new": Method("client", None, wire.NewSessionResponse),
    "session/resume": Method("client", wire.ResumeSessionRequest, wire.ResumeSessionResponse),
    "session/set_title": Method("client"),
    "session/status": Method("client"),
    "session/unarchive": Method("client"),
    # What happens in one
    "elicitation/complete": Method(
        "agent", wire.CompleteElicitationNotification, is_notification=True
    ),
    "elicitation/create": Method("agent", wire.CreateElicitationRequest),
    "session/cancel": Method("client", wire.CancelSessionNotification, is_notification=True),
    "session/prompt": Method("client", wire.SentPromptRequest, wire.PromptResponse),
    "session/request_permission": Method("agent", wire.RequestPermissionRequest),
    "session/set_config_option": Method(
        "client", wire.SetSessionConfigOptionRequest, wire.SetSessionConfigOptionResponse
    ),
    "session/set_mode": Method("client", only="v1"),
    "session/set_model": Method("client", only="v1"),
    "session/update": Method("agent", wire.UpdateSessionNotification, is_notification=True),
    "terminal/cancel": Method(
        "client", wire.CancelTerminalRequest, wire.CancelTerminalResponse, only="v2"
    ),
    "tool_call/cancel": Method(
        "client", wire.CancelToolCallRequest, wire.CancelToolCallResponse, only="v2"
    ),
    # What an agent of v1 asks of the editor
    "fs/read_text_file": Method("agent", only="v1"),
    "fs/write_text_file": Method("agent", only="v1"),
    "terminal/create": Method("agent", only="v1"),
    "terminal/kill": Method("agent", only="v1"),
    "terminal/output": Method("agent", only="v1"),
    "terminal/release": Method("agent", only="v1"),
    "terminal/wait_for_exit": Method("agent", only="v1"),
}


def params_class(method: str, *, sent: bool, is_request: bool) -> Any:
    """Return the class of a call's parameters, or `None` if they stay raw.

    `sent` means that the client is the caller. A notification with the method of a request, or a
    request with the method of a notification, is not a call of the protocol.
    """
    found = METHODS.get(method)
    if found is None or found.is_notification is is_request:
        return None
    return None if found.caller == ("agent" if sent else "client") else found.params


def result_class(method: str) -> Any:
    """Return the class of a request's result, or `None` if it stays raw."""
    found = METHODS.get(method)
    return None if found is None else found.result


# --- Messages ---


class Fault(Struct, frozen=True):
    """The path at which a message is malformed, and the reason."""

    path: str
    reason: str


def fault_of_message(value: Any) -> Fault | None:
    """Return why a JSON value is neither a call nor an answer, or `None` if it is one."""
    if not isinstance(value, dict):
        return Fault("", "is not object")
    if "id" in value and request_id(value["id"]) is None and not _is_error_without_id(value):
        return Fault(".id", "is neither string nor integer")
    if "method" not in value:
        return None if "id" in value else Fault("", "has neither method nor id")
    if value.get("jsonrpc") != "2.0":
        return Fault(".jsonrpc", 'is not "2.0"')
    return None if isinstance(value["method"], str) else Fault(".method", "is not string")


def fault_of_answer(value: dict[str, Any], error: wire.Error | None) -> Fault | None:
    """Return why an answer is unusable, or `None` if it is usable; `error` is its decoded error."""
    if value.get("jsonrpc") != "2.0":
        return Fault(".jsonrpc", 'is not "2.0"')
    if ("result" in value) == ("error" in value):
        return Fault("", "is not an answer with either a result or an error")
    if "error" in value and error is None:
        return Fault(".error", "is not an error with code and message")
    return None


def _is_error_without_id(value: dict[str, Any]) -> bool:
    """Return whether the peer reports an unreadable message (JSON-RPC 2.0, section 5)."""
    return value["id"] is None and "error" in value and "method" not in value


def request_id(value: Any) -> wire.RequestId | None:
    """Return an id as JSON-RPC compares it (`1.0` is `1`), or `None` for any other value."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return value if abs(value) <= LARGEST_INTEGER else None
    return int(value) if isinstance(value, float) and value.is_integer() else None
