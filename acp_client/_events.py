"""Client-side facts that a session's snapshot depends on.

The reducer takes two kinds of events: the agent's session updates (see `wire.SessionUpdate`) and
the facts here: what the client sent, how it was answered, and whether the connection was lost. A
`Store` makes them from the traffic it sees; a client with its own routing makes them itself.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from . import wire


class PromptSent(Struct, frozen=True):
    """The client sent `session/prompt` with this id and content.

    `message_id` is the id of the user message if it is known from the start, as in v1.
    """

    request_id: wire.RequestId
    content: tuple[wire.ContentBlock, ...]
    message_id: str | None = None


class PromptAccepted(Struct, frozen=True):
    """A prompt was answered: its message was inserted under this id."""

    request_id: wire.RequestId
    message_id: str


class PromptRejected(Struct, frozen=True):
    """A prompt was answered with an error: nothing was inserted."""

    request_id: wire.RequestId
    error: wire.Error


class PromptUncertain(Struct, frozen=True):
    """A prompt got an unusable answer: its outcome is not known."""

    request_id: wire.RequestId
    error: wire.Error | None = None


class CancelSent(Struct, frozen=True):
    """The client sent `session/cancel`."""


class ToolCallCancelSent(Struct, frozen=True):
    """The client sent `tool_call/cancel`."""

    tool_call_id: str


class ToolCallCancelRefused(Struct, frozen=True):
    """The agent answered `tool_call/cancel` with an error."""

    tool_call_id: str


class TerminalCancelSent(Struct, frozen=True):
    """The client sent `terminal/cancel`."""

    terminal_id: str


class TerminalCancelRefused(Struct, frozen=True):
    """The agent answered `terminal/cancel` with an error."""

    terminal_id: str


class PermissionAsked(Struct, frozen=True):
    """The agent sent `session/request_permission` under this id."""

    request_id: wire.RequestId
    request: wire.RequestPermissionRequest


class PermissionClosed(Struct, frozen=True):
    """A permission request needs no answer any more: it was answered, or the agent withdrew it."""

    request_id: wire.RequestId


class ElicitationAsked(Struct, frozen=True):
    """The agent sent `elicitation/create` under this id."""

    request_id: wire.RequestId
    request: wire.CreateElicitationRequest


class ElicitationAnswered(Struct, frozen=True):
    """The client answered an elicitation: `accept`, `decline`, `cancel`, or anything else."""

    request_id: wire.RequestId
    action: str


class ElicitationClosed(Struct, frozen=True):
    """An elicitation needs no answer any more: the agent withdrew it."""

    request_id: wire.RequestId


class ElicitationCompleted(Struct, frozen=True):
    """The agent sent `elicitation/complete`: the interaction at a URL is done."""

    elicitation_id: str


class UpdateInferred(Struct, frozen=True):
    """An update that v1 does not send but the client can infer: its own message, or the state.

    It has the effect of the same update, except that it does not end a loss of the connection.
    """

    update: wire.SessionUpdate


class ResumeSent(Struct, frozen=True):
    """The client sent `session/resume` without `replayFrom`."""


class SessionClosed(Struct, frozen=True):
    """The result of `session/close`, or the error that there is no such session."""


class SessionOpened(Struct, frozen=True):
    """The result of `session/new` or `session/resume`; an `UNSET` list was absent."""

    available_commands: tuple[wire.AvailableCommand, ...] | wire.UnsetType = wire.UNSET
    config_options: tuple[wire.SessionConfigOption, ...] | wire.UnsetType = wire.UNSET


class ConfigOptionsSet(Struct, frozen=True):
    """The result of `session/set_config_option`: the new list of options."""

    config_options: tuple[wire.SessionConfigOption, ...]


class OptionWanted(Struct, frozen=True):
    """The client sent `session/set_config_option`: the value shows until that is answered."""

    request_id: wire.RequestId
    config_id: str
    value: wire.Json


class OptionAnswered(Struct, frozen=True):
    """A `session/set_config_option` is no longer open, whatever its answer was."""

    request_id: wire.RequestId


class ReplayBegun(Struct, frozen=True):
    """The client sent `session/resume` with `replayFrom`: the history will follow."""


class ReplayEnded(Struct, frozen=True):
    """The replay's request was answered: the reported history is the session now."""


class ReplayFailed(Struct, frozen=True):
    """The replay's request was refused: the session from before the replay is restored."""


class ConnectionLost(Struct, frozen=True):
    """The connection is lost: pending requests will not be answered."""

    error: wire.Error | None = None


ClientEvent: TypeAlias = (
    PromptSent
    | PromptAccepted
    | PromptRejected
    | PromptUncertain
    | CancelSent
    | ToolCallCancelSent
    | ToolCallCancelRefused
    | TerminalCancelSent
    | TerminalCancelRefused
    | PermissionAsked
    | PermissionClosed
    | ElicitationAsked
    | ElicitationAnswered
    | ElicitationClosed
    | ElicitationCompleted
    | UpdateInferred
    | ResumeSent
    | SessionOpened
    | SessionClosed
    | ConfigOptionsSet
    | OptionWanted
    | OptionAnswered
    | ReplayBegun
    | ReplayEnded
    | ReplayFailed
    | ConnectionLost
)

Event: TypeAlias = wire.SessionUpdate | ClientEvent
