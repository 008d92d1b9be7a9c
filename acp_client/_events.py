"""Client-side facts that a session's snapshot depends on.

The reducer takes two kinds of events: the agent's session updates (see `wire.SessionUpdate`) and
the facts here, which tell what the client sent, what was answered, and what became of the
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


class PermissionAsked(Struct, frozen=True):
    """The agent sent `session/request_permission` under this id."""

    request_id: wire.RequestId
    request: wire.RequestPermissionRequest


class PermissionClosed(Struct, frozen=True):
    """A permission request needs no answer any more: it was answered, or the agent withdrew it."""

    request_id: wire.RequestId


class SessionOpened(Struct, frozen=True):
    """The result of `session/new` or `session/resume`; a list that is `UNSET` was not given."""

    available_commands: tuple[wire.AvailableCommand, ...] | wire.UnsetType = wire.UNSET
    config_options: tuple[wire.SessionConfigOption, ...] | wire.UnsetType = wire.UNSET


class ConfigOptionsSet(Struct, frozen=True):
    """The result of `session/set_config_option`: the new list of options."""

    config_options: tuple[wire.SessionConfigOption, ...]


class ReplayBegun(Struct, frozen=True):
    """The client sent `session/resume` with `replayFrom`: the history will be told again."""


class ReplayEnded(Struct, frozen=True):
    """The replay's request was answered: what was told is the session now."""


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
    | PermissionAsked
    | PermissionClosed
    | SessionOpened
    | ConfigOptionsSet
    | ReplayBegun
    | ReplayEnded
    | ReplayFailed
    | ConnectionLost
)

Event: TypeAlias = wire.SessionUpdate | ClientEvent
