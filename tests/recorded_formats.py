"""What the tests of recordings share: the fixtures, and how to read them."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from acp_client._recordings.frames import Frame
from acp_client._recordings.reading import Recording, read_recording

FORMATS = Path(__file__).parent / "recordings" / "formats"

START = 1767225600.25
"""When the conversation of the fixtures began."""

WHOLE = {
    "acp-devtools.json": ("acp-devtools", START),
    "acp-inspector.jsonl": ("acp-inspector", START),
    "acp-payload.jsonl": ("acp-payload", START),
    "agent-shell.traffic": ("agent-shell", None),
    "conductor.jsons": ("conductor", 0.25),
    "crucible.jsonl": ("crucible", 0.25),
    "dir-line.jsonl": ("dir-line", None),
    "dir-raw.jsonl": ("dir-raw", 0.25),
    "direction-frame.jsonl": ("direction-frame", START),
    "envelope.ndjson": ("envelope", START),
    "enveloped-payload.jsonl": ("enveloped-payload", START),
    "events.txt": ("ndjson", None),
    "jetbrains.log": ("jetbrains", START),
    "json-array.json": ("json", None),
    "json.json": ("json", None),
    "log-arrows.log": ("log", None),
    "log-brackets.txt": ("log", None),
    "log-labels.log": ("log", None),
    "log-times.log": ("log", START),
    "markdown.md": ("ndjson", None),
    "marked.jsonl": ("marked", START),
    "ndjson.ndjson": ("ndjson", None),
    "to-runtime.jsonl": ("to-runtime", START),
    "zed.json": ("zed", None),
}
"""The fixtures that hold the whole conversation: their format, and the time of the first frame."""

UPDATES = {
    "notifications.jsonl": "notifications",
    "updates.json": "updates",
    "updates-params.json": "updates",
}
"""The fixtures that hold its updates only, with the prompt as one of them."""

CALL = b'{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{}}'

UPDATE = b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{}}}'


def read(data: bytes, format: str | None = None) -> tuple[Recording, list[Frame]]:  # noqa: A002  # as the function under test
    """Read a recording to its end."""
    recording = read_recording(io.BytesIO(data), format=format)
    return recording, list(recording)


def fixture(name: str) -> bytes:
    """Give the bytes of a fixture."""
    return (FORMATS / name).read_bytes()


def said(frames: Iterable[Frame]) -> list[tuple[bool, Any]]:
    """Return who wrote what, as JSON values, without a key that some tools add.

    No capabilities are an empty object, or `nil` of Lisp, which is null.
    """
    values = [(frame.sent, json.loads(frame.data)) for frame in frames]
    for _, message in values:
        message.pop("type", None)
        for part in (message.get("params"), message.get("result")):
            for key in {"clientCapabilities", "agentCapabilities"} & (part or {}).keys():
                part[key] = part[key] or {}
    return values


CONVERSATION = said(read(fixture("envelope.ndjson"))[1])


PASSED_OVER = {
    "acp-payload.jsonl": 1,
    "conductor.jsons": 16,
    "crucible.jsonl": 1,
    "direction-frame.jsonl": 2,
    "emdash.json": 1,
    "jetbrains.log": 1,
    "log-times.log": 1,
    "markdown.md": 1,
}


TORN_FRAMES = [
    "envelope.ndjson",
    "events.txt",
    "jetbrains.log",
    "ndjson.ndjson",
    *(name for name in WHOLE if name.startswith("log-")),
]
"""The fixtures whose last message is a frame also where it is cut off."""


class Trickle(io.RawIOBase):
    """A stream that gives a few bytes at a time."""

    def __init__(self, data: bytes, size: int) -> None:
        self._rest = data
        self._size = size

    def read(self, size: int = -1) -> bytes:
        size = min(size, self._size) if size >= 0 else self._size
        data, self._rest = self._rest[:size], self._rest[size:]
        return data


DEEP = b"[" * 90000 + b"]" * 90000


UNUSUAL = {
    "lone surrogate": b'{"jsonrpc":"2.0","method":"x","params":"\\ud83d"}',
    "invalid UTF-8": b'{"jsonrpc":"2.0","method":"x","params":"\xff\xfe"}',
    "huge numbers": b'{"jsonrpc":"2.0","method":"x","params":[1e400,' + b"9" * 5000 + b"]}",
    "duplicate keys": b'{"jsonrpc":"2.0","method":"x","method":"y"}',
    "deep": b'{"jsonrpc":"2.0","method":"x","params":' + DEEP + b"}",
    "brackets in text": b'{"jsonrpc":"2.0","method":"\\"}],{:","params":"\\ud83d"}',
    "escaped key": b'{"\\u006asonrpc":"2.0","method":"\\ud83d"}',
}


EVERY = [*WHOLE, *UPDATES, "emdash.json", "sdk-calls.json"]
"""All fixtures."""
