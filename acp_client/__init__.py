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
from ._content import ContentBlocks, OutputBytes, ToolCallContents
from ._decode import decode
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
from ._version import __version__

__all__ = [
    "AcpClientError",
    "CancelSent",
    "ClientEvent",
    "Compaction",
    "ConfigOptionsSet",
    "ConnectionLost",
    "ContentBlocks",
    "Entries",
    "Entry",
    "Event",
    "InvalidValueError",
    "Limits",
    "Message",
    "Outgoing",
    "OutputBytes",
    "Permission",
    "PermissionAsked",
    "PermissionClosed",
    "Plans",
    "Problem",
    "ProblemKind",
    "Prompt",
    "PromptAccepted",
    "PromptRejected",
    "PromptSent",
    "PromptUncertain",
    "RecordingError",
    "ReplayBegun",
    "ReplayEnded",
    "ReplayFailed",
    "SessionInfo",
    "SessionOpened",
    "Snapshot",
    "Store",
    "StoredSnapshotError",
    "Terminal",
    "Terminals",
    "ToolCall",
    "ToolCallContents",
    "UnknownEntry",
    "UnknownPermissionError",
    "UnknownSessionError",
    "Usage",
    "__version__",
    "apply",
    "apply_all",
    "decode",
    "dumps",
    "loads",
    "to_document",
    "to_json",
    "wire",
]
