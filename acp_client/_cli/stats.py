"""What a recording is made of: its messages, updates, sessions and problems, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final, Literal

import attrs
import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from .._connection import connection_document
from .._json import NotJson, TooDeep, parse
from .._recordings import Feeder, Frame, Recording
from .._store import Store

KINDS: Final = ("request", "response", "notification", "other")


class _Update(Struct, rename="camel"):
    session_update: str


class _Params(Struct, rename="camel"):
    session_id: str
    update: _Update


class _UpdateMessage(Struct):
    """What most lines are: a session update."""

    method: Literal["session/update"]
    params: _Params
    id: Raw | UnsetType = UNSET


_decode_update = msgspec.json.Decoder(_UpdateMessage).decode


@attrs.define
class Statistics:
    """Counts of the frames of a recording."""

    received: Counter[str] = attrs.field(factory=Counter)
    sent: Counter[str] = attrs.field(factory=Counter)
    updates: Counter[str] = attrs.field(factory=Counter)
    session_updates: Counter[str] = attrs.field(factory=Counter)
    message_bytes: int = 0
    first_time: float | None = None
    last_time: float | None = None

    def count(self, frame: Frame) -> None:
        """Count one frame, the messages of a batch each."""
        self.message_bytes += len(frame.data)
        self._count_time(frame.time)
        kinds = self.sent if frame.sent else self.received
        try:
            found = _decode_update(frame.data)
        except (msgspec.DecodeError, RecursionError):
            for message in _messages(frame.data):
                self._count_message(message, kinds)
        else:
            kinds["notification" if found.id is UNSET else "request"] += 1
            self._count_update(found.params.session_id, found.params.update.session_update)

    @property
    def seconds(self) -> float | None:
        """How long the recording took, if it has times."""
        if self.first_time is None or self.last_time is None:
            return None
        return round(self.last_time - self.first_time, 6)

    def _count_time(self, time: float | None) -> None:
        if time is not None:
            self.first_time = time if self.first_time is None else min(self.first_time, time)
            self.last_time = time if self.last_time is None else max(self.last_time, time)

    def _count_message(self, message: Any, kinds: Counter[str]) -> None:
        kinds[_kind(message)] += 1
        variant = _member(message, "params", "update", "sessionUpdate")
        if isinstance(variant, str) and _member(message, "method") == "session/update":
            self._count_update(_member(message, "params", "sessionId"), variant)

    def _count_update(self, session_id: Any, variant: str) -> None:
        self.updates[variant] += 1
        if isinstance(session_id, str):
            self.session_updates[session_id] += 1


@attrs.frozen
class Report:
    """What `acp-client stats` reports."""

    recording: Recording
    statistics: Statistics
    store: Store
    feeder: Feeder
    file_bytes: int

    def document(self) -> dict[str, Any]:
        """Return the report as `--json` prints it."""
        counted = self.statistics
        return {
            "format": self.recording.format,
            "layout": self.recording.layout,
            "reason": self.recording.reason,
            "protocol": self.store.protocol,
            "bytes": self.file_bytes,
            "messageBytes": counted.message_bytes,
            "messages": {
                "received": {kind: counted.received[kind] for kind in KINDS},
                "sent": {kind: counted.sent[kind] for kind in KINDS},
            },
            "passedOver": self.recording.passed_over,
            "torn": self.recording.torn,
            "updates": dict(counted.updates.most_common()),
            "sessions": [self._session(session_id) for session_id in self.store.sessions],
            "errors": connection_document(self.store.connection)["errors"],
            "problems": dict(self.store.problem_counts),
            "seconds": counted.seconds,
            "reducing": {
                "seconds": self.feeder.seconds,
                "messagesPerSecond": self.per_second(self.feeder.frames),
                "bytesPerSecond": self.per_second(counted.message_bytes),
            },
        }

    def _session(self, session_id: str) -> dict[str, Any]:
        return {
            "sessionId": session_id,
            "entries": len(self.store.snapshot(session_id).entries),
            "updates": self.statistics.session_updates[session_id],
        }

    def per_second(self, count: int) -> float | None:
        """Return how much was reduced per second; `None` if nothing was timed."""
        return count / self.feeder.seconds if self.feeder.seconds else None


def _messages(data: bytes) -> Iterable[Any]:
    """Return the messages of a line, one unless it is a batch; `None` stands for invalid JSON."""
    try:
        value = parse(data)
    except (NotJson, TooDeep):
        return (None,)
    return value if isinstance(value, list) and value else (value,)


def _kind(message: Any) -> str:
    if not isinstance(message, dict):
        return "other"
    if "method" in message:
        return "request" if "id" in message else "notification"
    return "response" if "result" in message or "error" in message else "other"


def _member(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value
