"""Client-side facts that a session's snapshot depends on.

The reducer takes two kinds of events: the agent's session updates (see `wire.SessionUpdate`) and
the facts here, which say what the client sent, what was answered, and what became of the
connection. A `Store` makes them of the traffic it sees; a client with its own routing makes them
itself.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from . import wire


class PromptSent(Struct, frozen=True):
    """The client sent `session/prompt` with this id and content.

    `message_id` is the id of the user message where it is known from the start, as it is in v1.
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
    """A prompt got an answer that says nothing: its outcome is not known."""

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
    """What v1 does not report but the client knows: its own message, and whether work goes on.

    It changes what the same update would change, but it is no sign of life of the agent.
    """

    update: wire.SessionUpdate


class ResumeSent(Struct, frozen=True):
    """The client sent `session/resume` without `replayFrom`."""


class SessionClosed(Struct, frozen=True):
    """The result of `session/close`, or the error that there is no such session."""


class SessionOpened(Struct, frozen=True):
    """The result of `session/new` or `session/resume`; a list that is `UNSET` was not given."""

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
    """A `session/set_config_option` is open no more, whatever the answer was."""

    request_id: wire.RequestId


class ReplayBegun(Struct, frozen=True):
    """The client sent `session/resume` with `replayFrom`: the history will be reported again."""


class ReplayEnded(Struct, frozen=True):
    """The replay's request was answered: what was reported is the session now."""


class ReplayFailed(Struct, frozen=True):
    """The replay's request was refused or badly answered: the session is what it was before."""


class ConnectionLost(Struct, frozen=True):
    """The connection is gone: nothing that was pending will be answered."""

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
