"""Client-side conversation state of the Agent Client Protocol (ACP v2).

Bytes from an agent go in, immutable snapshots come out:

    store = acp_client.Store()
    store.receive(data)
    snapshot = store.snapshot(store.sessions[0])

`Store` holds all sessions of one connection. `Snapshot` is one session at one moment. `apply` and
`apply_all` are the reducer underneath, `decode` reads a single line, `wire` has the protocol's own
messages. Everything that a user needs is in this namespace; the modules are private, `wire` apart.
"""

from . import wire
from ._changes import (
    AvailableCommandsChanged,
    Change,
    ConfigOptionsChanged,
    ContentReplaced,
    EntryAdded,
    EntryChanged,
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
    UsageChanged,
)
from ._comparison import changes
from ._content import ContentBlocks, OutputBytes, ToolCallContents
from ._decode import decode
from ._delivery import Delivery, Origin
from ._errors import (
    AcpClientError,
    InvalidValueError,
    Problem,
    ProblemKind,
    RecordingError,
    StoredSnapshotError,
    UnknownPermissionError,
    UnknownSessionError,
)
from ._events import (
    CancelSent,
    ClientEvent,
    ConfigOptionsSet,
    ConnectionLost,
    Event,
    PermissionAsked,
    PermissionClosed,
    PromptAccepted,
    PromptRejected,
    PromptSent,
    PromptUncertain,
    ReplayBegun,
    ReplayEnded,
    ReplayFailed,
    SessionOpened,
)
from ._limits import Limits
from ._reader import Reader
from ._reducer import apply, apply_all
from ._serialization import dumps, loads, to_document, to_json
from ._snapshot import (
    Compaction,
    Entries,
    Entry,
    Message,
    Permission,
    Plans,
    Prompt,
    SessionInfo,
    Snapshot,
    Terminal,
    Terminals,
    ToolCall,
    UnknownEntry,
    Usage,
)
from ._store import Outgoing, Store
from ._subscriptions import Subscription
from ._text import (
    Position,
    display_width,
    escape,
    escape_html,
    heal_surrogates,
    position,
    utf8_length,
    utf16_length,
)
from ._version import __version__

__all__ = [
    "AcpClientError",
    "AvailableCommandsChanged",
    "CancelSent",
    "Change",
    "ClientEvent",
    "Compaction",
    "ConfigOptionsChanged",
    "ConfigOptionsSet",
    "ConnectionLost",
    "ContentBlocks",
    "ContentReplaced",
    "Delivery",
    "Entries",
    "Entry",
    "EntryAdded",
    "EntryChanged",
    "Event",
    "InfoChanged",
    "InvalidValueError",
    "ItemsAppended",
    "Limits",
    "Message",
    "NoticesAdded",
    "Origin",
    "Outgoing",
    "OutputAppended",
    "OutputBytes",
    "OutputReplaced",
    "Permission",
    "PermissionAsked",
    "PermissionClosed",
    "PermissionsChanged",
    "PlanChanged",
    "Plans",
    "Position",
    "Problem",
    "ProblemKind",
    "Prompt",
    "PromptAccepted",
    "PromptChanged",
    "PromptRejected",
    "PromptSent",
    "PromptUncertain",
    "Reader",
    "RecordingError",
    "ReplayBegun",
    "ReplayEnded",
    "ReplayFailed",
    "Reset",
    "SessionInfo",
    "SessionOpened",
    "Snapshot",
    "StateChanged",
    "Store",
    "StoredSnapshotError",
    "Subscription",
    "Terminal",
    "TerminalAdded",
    "TerminalChanged",
    "Terminals",
    "TextAppended",
    "ToolCall",
    "ToolCallContents",
    "UnknownEntry",
    "UnknownPermissionError",
    "UnknownSessionError",
    "Usage",
    "UsageChanged",
    "__version__",
    "apply",
    "apply_all",
    "changes",
    "decode",
    "display_width",
    "dumps",
    "escape",
    "escape_html",
    "heal_surrogates",
    "loads",
    "position",
    "to_document",
    "to_json",
    "utf8_length",
    "utf16_length",
    "wire",
]
