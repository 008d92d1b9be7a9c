"""The calls that a client makes, one method for each call of the protocol: the base of `Store`.

Each method queues its line, see `Store.data_to_send`, and returns an `OutgoingRequest` with its id.
`on_answer` is called once, with a wire object, or with a `wire.Error` if the agent refused, if the
answer is malformed, or if the connection was lost. It is called after the subscribers have received
the changes of the same read.

The methods are named after what they do; their docstrings name the method of the protocol.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from . import wire
from ._errors import InvalidValueError, checked
from ._outgoing import Outgoing, OutgoingRequest, checked_content, prompt_params

if TYPE_CHECKING:
    from ._snapshot import Snapshot
    from ._versions import Protocol

T = TypeVar("T")

OnAnswer: TypeAlias = Callable[[T | wire.Error], object]
Params: TypeAlias = Mapping[str, Any]

_VERSIONS: Final = {"v1": 1, "v2": 2}
_LOGIN: Final = {"v1": "authenticate", "v2": "auth/login"}
_LOGOUT: Final = {"v1": "logout", "v2": "auth/logout"}


class ClientCalls(ABC):
    """The requests of a client, as methods."""

    @property
    @abstractmethod
    def protocol(self) -> Protocol:
        """The version of the protocol that the agent speaks; `"v2"` until it is known."""

    @property
    @abstractmethod
    def _offered(self) -> Protocol:
        """The newest version that this client offers."""

    @abstractmethod
    def request(
        self, method: str, params: Params | None = None, *, on_answer: OnAnswer[Any] | None = None
    ) -> OutgoingRequest:
        """Send any request. Raises `InvalidValueError` for values that JSON cannot represent.

        The answer to a method of the protocol is a wire object, any other answer is `wire.Json`.
        """

    @abstractmethod
    def notify(self, method: str, params: Params | None = None) -> Outgoing:
        """Send any notification. Raises `InvalidValueError` like `request`."""

    @abstractmethod
    def _known(self, session_id: str) -> str:
        """Return the id of a session. Raises `UnknownSessionError`."""

    @abstractmethod
    def snapshot(self, session_id: str) -> Snapshot:
        """Return the current snapshot of a session. Raises `UnknownSessionError`."""

    @abstractmethod
    def _option_call(self, session_id: str, config_id: str, value: Any) -> tuple[str, Params]:
        """Return the method and the parameters that set an option in the agent's version."""

    # --- The connection ---

    def initialize(
        self,
        name: str,
        version: str,
        *,
        title: str | None = None,
        capabilities: Params | None = None,
        on_answer: OnAnswer[wire.InitializeResponse] | None = None,
    ) -> OutgoingRequest:
        """Begin the connection: send `initialize` with the client's name and version.

        `capabilities` is the JSON object that the protocol defines. A store without a chosen
        `protocol` offers v2, in a request that an agent of v1 understands, too.
        """
        info = wire.Implementation(_text(name), _text(version), title)
        offered = self._offered
        params: dict[str, Any] = {"protocolVersion": _VERSIONS[offered]}
        if offered == "v2":
            params |= {"info": info, "capabilities": capabilities or {}}
        params |= {"clientInfo": info, "clientCapabilities": capabilities or {}}
        return self.request("initialize", params, on_answer=on_answer)

    def login(
        self, method_id: str, *, on_answer: OnAnswer[wire.LoginAuthResponse] | None = None
    ) -> OutgoingRequest:
        """Log in by one of the agent's methods: `auth/login`, in v1 `authenticate`."""
        method = _LOGIN[self.protocol]
        return self.request(method, {"methodId": _text(method_id)}, on_answer=on_answer)

    def logout(
        self, *, on_answer: OnAnswer[wire.LogoutAuthResponse] | None = None
    ) -> OutgoingRequest:
        """Log out: `auth/logout`, in v1 `logout`."""
        return self.request(_LOGOUT[self.protocol], {}, on_answer=on_answer)

    # --- Sessions ---

    def new_session(
        self,
        cwd: str,
        *,
        mcp_servers: Sequence[Params] = (),
        more: Params | None = None,
        on_answer: OnAnswer[wire.NewSessionResponse] | None = None,
    ) -> OutgoingRequest:
        """Begin a session: `session/new`. `more` are parameters beyond those named here."""
        params = {"cwd": _text(cwd), "mcpServers": mcp_servers, **(more or {})}
        return self.request("session/new", params, on_answer=on_answer)

    def load_session(
        self,
        session_id: str,
        cwd: str,
        *,
        mcp_servers: Sequence[Params] = (),
        more: Params | None = None,
        on_answer: OnAnswer[wire.ResumeSessionResponse] | None = None,
    ) -> OutgoingRequest:
        """Load a session with its history: `session/load` of v1."""
        params = {
            "sessionId": _text(session_id),
            "cwd": _text(cwd),
            "mcpServers": mcp_servers,
            **(more or {}),
        }
        return self.request("session/load", params, on_answer=on_answer)

    def resume_session(
        self,
        session_id: str,
        cwd: str,
        *,
        replay: bool = True,
        mcp_servers: Sequence[Params] = (),
        more: Params | None = None,
        on_answer: OnAnswer[wire.ResumeSessionResponse] | None = None,
    ) -> OutgoingRequest:
        """Resume a session: `session/resume`, with its history replayed if `replay` is true.

        v1 has no replay here; use `load_session`.
        """
        params: dict[str, Any] = {
            "sessionId": _text(session_id),
            "cwd": _text(cwd),
            "mcpServers": mcp_servers,
            **(more or {}),
        }
        if replay and self.protocol == "v2":
            params["replayFrom"] = {"type": "start"}
        return self.request("session/resume", params, on_answer=on_answer)

    def list_sessions(
        self,
        *,
        cwd: str | None = None,
        cursor: str | None = None,
        on_answer: OnAnswer[wire.ListSessionsResponse] | None = None,
    ) -> OutgoingRequest:
        """Ask for the agent's sessions, or for the next page of them: `session/list`."""
        given = {"cwd": cwd, "cursor": cursor}
        params = {name: _text(value) for name, value in given.items() if value is not None}
        return self.request("session/list", params, on_answer=on_answer)

    def close_session(
        self, session_id: str, *, on_answer: OnAnswer[wire.CloseSessionResponse] | None = None
    ) -> OutgoingRequest:
        """End the work of a session: `session/close`. Raises `UnknownSessionError`."""
        params = {"sessionId": self._known(session_id)}
        return self.request("session/close", params, on_answer=on_answer)

    def delete_session(
        self, session_id: str, *, on_answer: OnAnswer[wire.DeleteSessionResponse] | None = None
    ) -> OutgoingRequest:
        """Delete a session from the agent's list: `session/delete`."""
        params = {"sessionId": _text(session_id)}
        return self.request("session/delete", params, on_answer=on_answer)

    # --- In a session ---

    def prompt(
        self,
        session_id: str,
        content: Sequence[wire.ContentBlock],
        *,
        on_answer: OnAnswer[wire.PromptResponse] | None = None,
    ) -> OutgoingRequest:
        """Submit a message: `session/prompt`. The prompt is in the snapshot from now on.

        `content` has at least one content block. Raises `UnknownSessionError`, and
        `InvalidValueError` for empty content or items that are not content blocks. Protocol: prompt
        lifecycle.
        """
        params = prompt_params(self._known(session_id), checked_content(content))
        return self.request("session/prompt", params, on_answer=on_answer)

    def set_config_option(
        self,
        session_id: str,
        config_id: str,
        value: str | bool,
        *,
        on_answer: OnAnswer[wire.SetSessionConfigOptionResponse] | None = None,
    ) -> OutgoingRequest:
        """Choose the value of an option: `session/set_config_option`.

        In v1 the call is `session/set_mode` or `session/set_model` if the option stands for one of
        them. Raises `UnknownSessionError`.
        """
        checked(value, str | bool, "the id of a value, or true or false")
        method, params = self._option_call(self._known(session_id), _text(config_id), value)
        return self.request(method, params, on_answer=on_answer)

    def cancel_tool_call(
        self,
        session_id: str,
        tool_call_id: str,
        *,
        on_answer: OnAnswer[wire.CancelToolCallResponse] | None = None,
    ) -> OutgoingRequest:
        """Cancel one tool call: `tool_call/cancel`.

        Raises `UnknownSessionError`, and `InvalidValueError` for a tool call that cannot be
        cancelled: its `capabilities` have no `cancel`, or it has ended.
        """
        call = self.snapshot(session_id).entries.tool_call(_text(tool_call_id))
        if call is None or call.is_finished or not _can_be_cancelled(call.capabilities):
            raise InvalidValueError(f"tool call {tool_call_id!r} cannot be cancelled")
        params = {"sessionId": session_id, "toolCallId": tool_call_id}
        return self.request("tool_call/cancel", params, on_answer=on_answer)

    def cancel_terminal(
        self,
        session_id: str,
        terminal_id: str,
        *,
        on_answer: OnAnswer[wire.CancelTerminalResponse] | None = None,
    ) -> OutgoingRequest:
        """Cancel the command of one terminal: `terminal/cancel`.

        Raises `UnknownSessionError`, and `InvalidValueError` for a terminal that cannot be
        cancelled: its `capabilities` have no `cancel`, or it has exited.
        """
        terminal = self.snapshot(session_id).terminals.get(_text(terminal_id))
        has_exited = terminal is None or terminal.exit_status is not None
        if terminal is None or has_exited or not _can_be_cancelled(terminal.capabilities):
            raise InvalidValueError(f"terminal {terminal_id!r} cannot be cancelled")
        params = {"sessionId": session_id, "terminalId": terminal_id}
        return self.request("terminal/cancel", params, on_answer=on_answer)


def _can_be_cancelled(
    capabilities: wire.ToolCallCapabilities | wire.TerminalCapabilities | None,
) -> bool:
    return capabilities is not None and capabilities.cancel is not None


def _text(given: Any) -> str:
    text: str = checked(given, str, "a string")
    return text
