"""The table of recorded formats: what each is called, where it comes from, how it is recognised.

To add a format, write its row (and, if it is like no other, its reader in a module of its own), a
row in `docs/recordings.md` and a small recording of it among the tests. Rows go from the specific
to the general: the first that recognises a value decides. `shape` completes "line 2 is …".
"""

from __future__ import annotations

from typing import Final

from .conductor import HopTrace
from .emdash import Callbacks
from .envelopes import AnyEnvelope, Envelope, with_raw
from .frames import Format
from .jetbrains import TransportLog
from .log_lines import LogLines
from .messages import RawMessages, Unframed, is_bare, is_message, is_stamped
from .sdk_calls import SdkCalls
from .times import MILLISECONDS
from .zed import CopiedLog

OWN: Final = Format(
    "envelope",
    "acp-client convert",
    'an object with "dir" and "message"',
    Envelope("dir", "message", "ts", unit=MILLISECONDS, take=with_raw, certain=True),
)
"""What this package writes."""

RAW: Final = Format("ndjson", "any pipe", "a JSON-RPC message", RawMessages())
"""Lines only."""

JSON_TEXTS: Final = Format("json", "written by hand", "a JSON-RPC message", Unframed(is_message))
"""Messages that are not one a line."""

LOGS: Final = (
    Format(
        "jetbrains",
        "JetBrains' AcpTransport log",
        "a log entry of AcpTransport with IN: or OUT: before a message",
        TransportLog(),
    ),
    Format(
        "log",
        "toad, codecompanion, other logs",
        "a log entry with a direction or a time before a message",
        LogLines(),
    ),
)
"""Text around messages."""

FORMATS: Final[tuple[Format, ...]] = (
    OWN,
    Format(
        "crucible",
        "crucible",
        'an object with "dir" and "frame"',
        Envelope("dir", "frame", "t_ms", unit=MILLISECONDS),
    ),
    Format(
        "acp-devtools",
        "acp-devtools",
        'an object with "direction" and "raw"',
        Envelope("direction", "raw", "timestamp"),
    ),
    Format(
        "acp-inspector",
        "ACP Inspector",
        'an object with "direction" and "json"',
        Envelope("direction", "json", "ts"),
    ),
    Format(
        "direction-frame",
        "various",
        'an object with "direction" and "frame"',
        Envelope("direction", "frame", "ts"),
    ),
    Format("dir-line", "various", 'an object with "dir" and "line"', Envelope("dir", "line", "ts")),
    Format("dir-raw", "various", 'an object with "dir" and "raw"', Envelope("dir", "raw", "t")),
    Format(
        "agent-shell",
        "agent-shell's traffic buffer (Emacs)",
        "an object with :direction and :object",
        Envelope("direction", "object", "time"),
    ),
    Format(
        "to-runtime",
        "relays between a server and a runtime",
        'an object with "direction" and "content"',
        Envelope("direction", "content", "ts"),
    ),
    Format(
        "acp-payload",
        "test harnesses",
        'an object with the type "acp_payload" and "payload"',
        Envelope("", "payload", "timestamp_ms", kind="acp_payload", unit=MILLISECONDS),
    ),
    Format(
        "enveloped-payload",
        "test harnesses",
        'an object with "direction", and "envelope" with "payload" in it',
        Envelope("direction", "payload", "timestamp_ms", "envelope", unit=MILLISECONDS),
    ),
    Format("zed", "Zed's copied ACP log", 'an object with "_direction" and "_type"', CopiedLog()),
    Format(
        "conductor",
        "the Rust conductor's trace",
        'an object with "type", "from" and "to"',
        HopTrace(),
    ),
    Format("emdash", "emdash", 'an object with a callback as "event"', Callbacks(), head="meta"),
    *LOGS,
    Format(
        "sdk-calls",
        "tests of the official SDKs",
        'a call of an SDK with "method" and "args"',
        SdkCalls(),
    ),
    Format(
        "notifications",
        "stores of session notifications",
        'a notification with "timestamp"',
        Unframed(is_stamped),
    ),
    Format(
        "updates",
        "test suites, exports",
        "a session update without its JSON-RPC frame",
        Unframed(is_bare),
    ),
    RAW,
    JSON_TEXTS,
    Format(
        "marked",
        "others",
        "an object with a message under one key, perhaps a direction under another",
        AnyEnvelope(),
    ),
)

FORMAT_NAMES: Final = tuple(row.name for row in FORMATS)
"""The names that `read_recording` takes for `format`."""
