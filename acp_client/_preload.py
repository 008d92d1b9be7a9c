"""`preload`: load in advance what is otherwise loaded or built on first use."""

from __future__ import annotations

import json
from typing import Any, Final

from . import wire
from ._compare import changes
from ._delivery import Delivery
from ._snapshot import Snapshot
from ._storage import dumps, loads
from ._store import Store
from ._terminal_text import terminal_text
from ._text import escape, escape_html
from ._versions import PROTOCOLS
from ._widths import display_width

_SESSION: Final = "preload"
_ASTRAL: Final = "\U0001f600"
_TEXT: Final = (
    f"a\t\x1b[1m\u202e\u00e9\u65e5\u0301e\u0301{_ASTRAL}\r\b\x1b[1\v\u0301K"
    "\x1b[\x1b]\x07\ud83d\x1b["
)
_BLOCKS: Final = [{"type": "text", "text": "a", "annotations": {"priority": "b"}}, {"type": "c"}]
_ODD: Final[dict[str, Any]] = {
    "content": [{"type": "content", "content": block} for block in _BLOCKS],
    "locations": [{"path": "a", "line": "b"}],
    "entries": [{"content": "a", "priority": 1, "status": "b"}],
    "plan": {"type": "items", "planId": "p", "entries": [{"content": 1}]},
    "data": "YRtbMW0NCmI=",
    "title": 1,
    "_meta": {"a": 1},
}
"""Fields of updates, with mistakes in them."""


def preload() -> None:
    """Load in advance what is otherwise loaded on first use.

    Importing the package loads what nearly every program needs. The rest (needed by the first
    malformed message, the first changes, the first text of a terminal, ACP v1, and storage) is
    loaded once, by the thread that first uses it. A program in which that delay would be noticeable
    calls this function once, after drawing its first picture or in another thread.
    """
    for protocol in (None, *PROTOCOLS):
        store = Store(protocol=protocol, observer=True)
        store.subscribe(_take)
        store.reader(_SESSION).take()
        for line in _lines():
            store.receive(line)
            store.data_to_send()
        for session in store.sessions:
            _read(store.snapshot(session))


def _lines() -> list[bytes]:
    ids = {"messageId": "a", "toolCallId": "a", "terminalId": "a", "compactionId": "a"}
    updates: list[dict[str, Any]] = []
    for tag in ("tool_call", "_other", *_tags()):
        updates += [{"sessionUpdate": tag, **ids, **_ODD}, {"sessionUpdate": tag, **ids}]
        updates += [{**updates[-1], "content": block} for block in _BLOCKS]
    params: list[dict[str, Any]] = [{"sessionId": _SESSION, "update": update} for update in updates]
    messages = [{"method": "session/update", "params": one} for one in params]
    lines = [json.dumps({"jsonrpc": "2.0", **one}).encode() + b"\n" for one in messages]
    agreed = b'{"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": 1}}\n'
    return [*lines, b"not JSON\n", b'{"a": 1e999, "b": "\\ud83d"}\n', agreed, *lines]


def _tags() -> list[str]:
    """Return the tags of all known updates."""
    kinds = [kind for kind in vars(wire).values() if hasattr(kind, "__struct_config__")]
    configs = [kind.__struct_config__ for kind in kinds]
    tags = [config.tag for config in configs if config.tag_field == "sessionUpdate"]
    return [tag for tag in tags if isinstance(tag, str)]


def _take(delivery: Delivery) -> None:
    for change in delivery.changes:
        getattr(change, "text", None)


def _read(snapshot: Snapshot) -> None:
    changes(loads(dumps(snapshot)), snapshot)
    for terminal in snapshot.terminals:
        escape(terminal.text)
    for text in (_TEXT, _TEXT.replace(_ASTRAL, ""), *_TEXT):
        escape_html(terminal_text(text))
        display_width(text)
