"""Client-side conversation state of the Agent Client Protocol (ACP v2).

Bytes from an agent go in, immutable snapshots come out:

    store = acp_client.Store()
    store.receive(data)
    snapshot = store.snapshot(store.sessions[0])

`Store` holds all sessions of one connection. `Snapshot` is one session at one moment. `apply` and
`apply_all` are the reducer underneath, `decode` reads a single line, `wire` has the protocol's own
messages. Everything that a user needs is in this namespace; the modules are private, `wire` apart.
"""

import typing

from . import wire
from ._agent_calls import LATER, Handler, NotificationHandler, Responder
from ._client_calls import OnAnswer
from ._client_state import (
    ConnectionLoss,
    Elicitation,
    Permission,
    Prompt,
    PromptStatus,
    SessionState,
    Turn,
)
from ._connection import (
    Connection,
    ConnectionChanged,
    FailedRequest,
    KnownSession,
    LoginState,
    OpenRequest,
    Phase,
)
from ._content import ChunkMeta, ContentBlocks, ToolCallContents
from ._decode import decode
from ._delivery import Delivery, Origin
from ._diffs import FileDiff, file_diff
from ._errors import (
    AcpClientError,
    HandlerError,
    InvalidValueError,
    Problem,
    ProblemKind,
    RecordingError,
    ReentryError,
    StoredSnapshotError,
    UnknownPermissionError,
    UnknownRequestError,
    UnknownSessionError,
)
from ._events import (
    CancelSent,
    ClientEvent,
    ConfigOptionsSet,
    ConnectionLost,
    ElicitationAnswered,
    ElicitationAsked,
    ElicitationClosed,
    ElicitationCompleted,
    Event,
    OptionAnswered,
    OptionWanted,
    PermissionAsked,
    PermissionClosed,
    PromptAccepted,
    PromptRejected,
    PromptSent,
    PromptUncertain,
    ReplayBegun,
    ReplayEnded,
    ReplayFailed,
    ResumeSent,
    SessionClosed,
    SessionOpened,
    TerminalCancelRefused,
    TerminalCancelSent,
    ToolCallCancelRefused,
    ToolCallCancelSent,
    UpdateInferred,
)
from ._files_touched import FileTouched, files_touched
from ._lifecycles import ElicitationStatus
from ._limits import Limits
from ._outgoing import ElicitationAction, Outgoing, OutgoingRequest
from ._reader import Reader
from ._reducer import apply, apply_all
from ._snapshot import (
    Compaction,
    Entries,
    Entry,
    Message,
    MessageType,
    Plans,
    SessionInfo,
    Snapshot,
    Terminal,
    Terminals,
    ToolCall,
    UnknownEntry,
    Usage,
)
from ._store import Store
from ._subscriptions import Callback, ConnectionSubscription, Selector, Subscription
from ._terminal_output import OutputBytes
from ._text import (
    Position,
    escape,
    escape_html,
    position,
    utf8_length,
    utf16_length,
)
from ._version import __version__
from ._versions import Protocol
from ._widths import display_width

if typing.TYPE_CHECKING:
    from ._changes import (
        AvailableCommandsChanged,
        CancellingChanged,
        Change,
        ConfigOptionsChanged,
        ConnectionLostChanged,
        ContentItem,
        ContentReplaced,
        ElicitationsChanged,
        EntryAdded,
        EntryChanged,
        Fields,
        InfoChanged,
        ItemsAppended,
        NoticesAdded,
        OutputAppended,
        OutputReplaced,
        PermissionsChanged,
        PlanChanged,
        PromptChanged,
        Reset,
        StateChanged,
        TerminalAdded,
        TerminalChanged,
        TextAppended,
        TextReplaced,
        TurnChanged,
        UsageChanged,
    )
    from ._compare import changes
    from ._log_tools import (
        Finding,
        Journal,
        Redaction,
        Replacement,
        bisect,
        check,
        compact,
        first_difference,
        redact,
        state_hash,
        to_html,
    )
    from ._memory import Memory
    from ._preload import preload
    from ._recordings import Frame, Player, Recorder, Recording, feed, read_recording
    from ._storage import (
        apply_changes,
        change_from_document,
        change_to_document,
        dumps,
        load,
        loads,
        save,
        to_document,
        to_json,
    )
    from ._terminal_text import terminal_text
    from ._text_files import handle_text_files

_MODULES_LOADED_LATER = {
    "_changes": (
        "AvailableCommandsChanged",
        "Change",
        "ConfigOptionsChanged",
        "TurnChanged",
        "ElicitationsChanged",
        "ConnectionLostChanged",
        "CancellingChanged",
        "ContentItem",
        "ContentReplaced",
        "EntryAdded",
        "EntryChanged",
        "Fields",
        "InfoChanged",
        "ItemsAppended",
        "NoticesAdded",
        "OutputAppended",
        "OutputReplaced",
        "PermissionsChanged",
        "PlanChanged",
        "PromptChanged",
        "Reset",
        "StateChanged",
        "TerminalAdded",
        "TerminalChanged",
        "TextAppended",
        "TextReplaced",
        "UsageChanged",
    ),
    "_compare": ("changes",),
    "_log_tools": (
        "Finding",
        "Journal",
        "Redaction",
        "Replacement",
        "bisect",
        "check",
        "compact",
        "first_difference",
        "redact",
        "state_hash",
        "to_html",
    ),
    "_memory": ("Memory",),
    "_preload": ("preload",),
    "_recordings": (
        "Frame",
        "Player",
        "Recorder",
        "Recording",
        "feed",
        "read_recording",
    ),
    "_storage": (
        "apply_changes",
        "change_from_document",
        "change_to_document",
        "dumps",
        "load",
        "loads",
        "save",
        "to_document",
        "to_json",
    ),
    "_terminal_text": ("terminal_text",),
    "_text_files": ("handle_text_files",),
}
"""What is loaded when it is first asked for, so that the import is lighter."""

_LATER = {name: module for module, names in _MODULES_LOADED_LATER.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # only needed for what is loaded later

    value: object = getattr(import_module(f".{_LATER[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__


__all__ = [  # noqa: RUF022  # sorted as strings are
    "AcpClientError",
    "AvailableCommandsChanged",
    "Callback",
    "CancelSent",
    "CancellingChanged",
    "Change",
    "ChunkMeta",
    "ClientEvent",
    "Compaction",
    "ConfigOptionsChanged",
    "ConfigOptionsSet",
    "Connection",
    "ConnectionChanged",
    "ConnectionLoss",
    "ConnectionLost",
    "ConnectionLostChanged",
    "ConnectionSubscription",
    "ContentBlocks",
    "ContentItem",
    "ContentReplaced",
    "Delivery",
    "Elicitation",
    "ElicitationAction",
    "ElicitationAnswered",
    "ElicitationAsked",
    "ElicitationClosed",
    "ElicitationCompleted",
    "ElicitationStatus",
    "ElicitationsChanged",
    "Entries",
    "Entry",
    "EntryAdded",
    "EntryChanged",
    "Event",
    "FailedRequest",
    "Fields",
    "FileDiff",
    "FileTouched",
    "Finding",
    "Frame",
    "Handler",
    "HandlerError",
    "InfoChanged",
    "InvalidValueError",
    "ItemsAppended",
    "Journal",
    "KnownSession",
    "LATER",
    "Limits",
    "LoginState",
    "Memory",
    "Message",
    "MessageType",
    "NoticesAdded",
    "NotificationHandler",
    "OnAnswer",
    "OpenRequest",
    "OptionAnswered",
    "OptionWanted",
    "Origin",
    "Outgoing",
    "OutgoingRequest",
    "OutputAppended",
    "OutputBytes",
    "OutputReplaced",
    "Permission",
    "PermissionAsked",
    "PermissionClosed",
    "PermissionsChanged",
    "Phase",
    "PlanChanged",
    "Plans",
    "Player",
    "Position",
    "Problem",
    "ProblemKind",
    "Prompt",
    "PromptAccepted",
    "PromptChanged",
    "PromptRejected",
    "PromptSent",
    "PromptStatus",
    "PromptUncertain",
    "Protocol",
    "Reader",
    "Recorder",
    "Recording",
    "RecordingError",
    "Redaction",
    "ReentryError",
    "Replacement",
    "ReplayBegun",
    "ReplayEnded",
    "ReplayFailed",
    "Reset",
    "Responder",
    "ResumeSent",
    "Selector",
    "SessionClosed",
    "SessionInfo",
    "SessionOpened",
    "SessionState",
    "Snapshot",
    "StateChanged",
    "Store",
    "StoredSnapshotError",
    "Subscription",
    "Terminal",
    "TerminalAdded",
    "TerminalCancelRefused",
    "TerminalCancelSent",
    "TerminalChanged",
    "Terminals",
    "TextAppended",
    "TextReplaced",
    "ToolCall",
    "ToolCallCancelRefused",
    "ToolCallCancelSent",
    "ToolCallContents",
    "Turn",
    "TurnChanged",
    "UnknownEntry",
    "UnknownPermissionError",
    "UnknownRequestError",
    "UnknownSessionError",
    "UpdateInferred",
    "Usage",
    "UsageChanged",
    "__version__",
    "apply",
    "apply_all",
    "apply_changes",
    "bisect",
    "change_from_document",
    "change_to_document",
    "changes",
    "check",
    "compact",
    "decode",
    "display_width",
    "dumps",
    "escape",
    "escape_html",
    "feed",
    "file_diff",
    "files_touched",
    "first_difference",
    "handle_text_files",
    "load",
    "loads",
    "position",
    "preload",
    "read_recording",
    "redact",
    "save",
    "state_hash",
    "terminal_text",
    "to_document",
    "to_html",
    "to_json",
    "utf16_length",
    "utf8_length",
    "wire",
]
