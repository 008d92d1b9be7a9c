"""What the store is compared with.

- The typed decoder alone: the same wire Structs from the same lines, with nothing done to them.
- What a programmer would write by hand: parsed JSON into mutable dicts (`MutableSessions`), with
  `orjson` or the standard library, and the same with mutable objects on Node (`reducer.mjs`).
- The accumulator of the Python SDK, where it is installed.

The hand-written reducers do all that the store does for well-formed updates, as plainly
and as fast as their language lets them, and keep nothing of the past. A test compares what they end
with to the document of the snapshot.
"""

from __future__ import annotations

import base64
import importlib
import json
import shutil
import subprocess
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import msgspec
import orjson

from acp_client import wire

Json = dict[str, Any]


class UnavailableError(Exception):
    """Something that a benchmark needs is not there; the message says what."""


# --- Decoders ---


def _raw(kind: Any, value: Any) -> Any:
    return kind(value)


typed_decoder: Final = msgspec.json.Decoder(wire.UpdateMessage, dec_hook=_raw)
"""The typed decoder of a whole `session/update` line."""


def decode_typed(lines: Iterable[bytes]) -> list[wire.UpdateMessage]:
    """Decode line by line, keeping the results."""
    decode = typed_decoder.decode
    return [decode(line) for line in lines]


def decode_untyped(lines: Iterable[bytes]) -> list[Any]:
    """Decode line by line to dicts, keeping the results."""
    decode = msgspec.json.decode
    return [decode(line) for line in lines]


# --- Mutable dicts ---


class MutableSessions:
    """All sessions as mutable dicts in the shape of the snapshot document."""

    def __init__(self, loads: Callable[[bytes], Any] = orjson.loads) -> None:
        self.sessions: dict[str, Json] = {}
        self._loads = loads
        self._rest = b""

    def receive(self, data: bytes) -> None:
        """Take a read, cut anywhere."""
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        loads, sessions, handlers = self._loads, self.sessions, _HANDLERS
        for line in lines:
            message = loads(line)
            if message.get("method") == "session/update":
                params = message["params"]
                session = sessions.get(params["sessionId"])
                if session is None:
                    session = sessions[params["sessionId"]] = _new_session()
                update = params["update"]
                handlers.get(update["sessionUpdate"], _unknown)(session, update)


def _new_session() -> Json:
    return {"entries": {}, "terminals": {}, "plans": {}, "state": {"state": "idle"}, "info": {}}


def _message(session: Json, kind: str, message_id: str) -> Json:
    entries = session["entries"]
    entry: Json | None = entries.get((kind, message_id))
    if entry is None:
        entry = {"type": kind, "messageId": message_id, "content": []}
        entries[(kind, message_id)] = entry
    return entry


def _chunk_handler(kind: str) -> Callable[[Json, Json], None]:
    def on_chunk(session: Json, update: Json) -> None:
        entry = session["entries"].get((kind, update["messageId"]))
        if entry is None:
            entry = _message(session, kind, update["messageId"])
        content = entry["content"]
        if update.get("_meta"):
            entry.setdefault("chunkMeta", {})[str(len(content))] = update["_meta"]
        content.append(update["content"])

    return on_chunk


def _message_handler(kind: str) -> Callable[[Json, Json], None]:
    def on_message(session: Json, update: Json) -> None:
        entry = _message(session, kind, update["messageId"])
        if "content" in update:
            entry["content"] = update["content"] or []
            entry.pop("chunkMeta", None)
        _patch_meta(entry, update)

    return on_message


def _patch_meta(entity: Json, update: Json) -> None:
    if "_meta" not in update:
        return
    meta = entity.get("_meta", {}) | update["_meta"] if update["_meta"] else {}
    meta = {key: value for key, value in meta.items() if value is not None}
    _set(entity, "_meta", meta or None)


def _set(entity: Json, key: str, value: Any) -> None:
    if value is None:
        entity.pop(key, None)
    else:
        entity[key] = value


def _patch(entity: Json, update: Json, keys: Sequence[str]) -> None:
    for key in keys:
        if key in update:
            _set(entity, key, update[key])


def _tool_call(session: Json, call_id: str) -> Json:
    entries = session["entries"]
    entry: Json | None = entries.get(("tool_call", call_id))
    if entry is None:
        entry = {"type": "tool_call", "toolCallId": call_id, "kind": "other", "status": "pending"}
        entry["content"] = []
        entries[("tool_call", call_id)] = entry
    return entry


def _on_tool_call(session: Json, update: Json) -> None:
    entry = _tool_call(session, update["toolCallId"])
    _patch(entry, update, ("name", "title", "locations", "rawInput", "rawOutput", "capabilities"))
    if "kind" in update:
        entry["kind"] = update["kind"] or "other"
    if "status" in update:
        entry["status"] = update["status"] or "pending"
    if "content" in update:
        entry["content"] = update["content"] or []
        entry.pop("chunkMeta", None)
    _patch_meta(entry, update)


def _on_tool_call_chunk(session: Json, update: Json) -> None:
    entry = _tool_call(session, update["toolCallId"])
    if update.get("_meta"):
        entry.setdefault("chunkMeta", {})[str(len(entry["content"]))] = update["_meta"]
    entry["content"].append(update["content"])


def _terminal(session: Json, terminal_id: str) -> Json:
    terminals = session["terminals"]
    terminal: Json | None = terminals.get(terminal_id)
    if terminal is None:
        terminal = terminals[terminal_id] = {"terminalId": terminal_id, "output": bytearray()}
    return terminal


def _on_terminal(session: Json, update: Json) -> None:
    terminal = _terminal(session, update["terminalId"])
    _patch(terminal, update, ("command", "cwd", "exitStatus", "size", "capabilities"))
    if "output" in update:
        output = update["output"] or {"data": ""}
        terminal["output"] = bytearray(base64.b64decode(output["data"]))
        _set(terminal, "outputMeta", output.get("_meta"))
    _patch_meta(terminal, update)


def _on_terminal_chunk(session: Json, update: Json) -> None:
    _terminal(session, update["terminalId"])["output"] += base64.b64decode(update["data"])


def _on_compaction(session: Json, update: Json) -> None:
    entry = _compaction(session, update["compactionId"])
    entry["status"] = update["status"]
    if "summary" in update:
        entry["summary"] = update["summary"] or []
    _patch(entry, update, ("error",))
    _patch_meta(entry, update)


def _on_compaction_chunk(session: Json, update: Json) -> None:
    _compaction(session, update["compactionId"])["summary"].append(update["content"])


def _compaction(session: Json, compaction_id: str) -> Json:
    key = ("compaction", compaction_id)
    entry: Json | None = session["entries"].get(key)
    if entry is None:
        entry = {"type": "compaction", "compactionId": compaction_id, "status": "in_progress"}
        entry["summary"] = []
        session["entries"][key] = entry
    return entry


def _on_plan(session: Json, update: Json) -> None:
    plan = update["plan"]
    session["plans"][plan["planId"]] = plan


def _on_state(session: Json, update: Json) -> None:
    del update["sessionUpdate"]
    session["state"] = update


def _on_usage(session: Json, update: Json) -> None:
    usage = session.setdefault("usage", {})
    _patch(usage, update, ("used", "size", "cost"))


def _on_info(session: Json, update: Json) -> None:
    _patch(session["info"], update, ("title", "updatedAt"))
    _patch_meta(session["info"], update)


def _list_handler(key: str) -> Callable[[Json, Json], None]:
    def on_list(session: Json, update: Json) -> None:
        session[key] = update[key]

    return on_list


def _on_notice(session: Json, update: Json) -> None:
    notices = session.setdefault("notices", [])
    notices.append(update)
    del notices[:-100]


def _unknown(session: Json, update: Json) -> None:
    entries = session["entries"]
    entries[("unknown", len(entries))] = {"type": "unknown", "update": update}


_HANDLERS: Final[dict[str, Callable[[Json, Json], None]]] = {
    "user_message_chunk": _chunk_handler("user_message"),
    "agent_message_chunk": _chunk_handler("agent_message"),
    "agent_thought_chunk": _chunk_handler("agent_thought"),
    "user_message": _message_handler("user_message"),
    "agent_message": _message_handler("agent_message"),
    "agent_thought": _message_handler("agent_thought"),
    "tool_call_update": _on_tool_call,
    "tool_call_content_chunk": _on_tool_call_chunk,
    "terminal_update": _on_terminal,
    "terminal_output_chunk": _on_terminal_chunk,
    "compaction_update": _on_compaction,
    "compaction_summary_chunk": _on_compaction_chunk,
    "plan_update": _on_plan,
    "state_update": _on_state,
    "usage_update": _on_usage,
    "session_info_update": _on_info,
    "available_commands_update": _list_handler("availableCommands"),
    "config_option_update": _list_handler("configOptions"),
    "notice": _on_notice,
}


def reduce_by_hand(reads: Iterable[bytes], loads: Callable[[bytes], Any]) -> MutableSessions:
    """Reduce reads to mutable dicts."""
    sessions = MutableSessions(loads)
    for read in reads:
        sessions.receive(read)
    return sessions


LOADS: Final[dict[str, Callable[[bytes], Any]]] = {"orjson": orjson.loads, "json": json.loads}
"""The parsers of the hand-written reducer."""


# --- Node ---


class NodeReducer:
    """`reducer.mjs` as a process that reduces a file each time it is asked, and times itself."""

    def __init__(self, path: Path, read_size: int) -> None:
        node = shutil.which("node")
        if node is None:
            raise UnavailableError("node is not installed")
        script = Path(__file__).with_name("reducer.mjs")
        self._process = subprocess.Popen(
            [node, "--expose-gc", str(script), str(path), str(read_size)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def seconds(self) -> float:
        """Reduce the file once; return the time that Node measured for it."""
        return float(self._ask("run"))

    def document(self) -> Any:
        """Reduce the file once; return the entries and the terminals."""
        return orjson.loads(self._ask("document"))

    def _ask(self, command: str) -> bytes:
        process = self._process
        if process.stdin is None or process.stdout is None:
            raise UnavailableError("node has no pipes")
        process.stdin.write(command.encode() + b"\n")
        process.stdin.flush()
        answer = process.stdout.readline()
        if not answer:
            raise UnavailableError("node ended early")
        return answer

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._process.communicate()


# --- The Python SDK ---


class SdkAccumulator:
    """The session accumulator of the Python SDK: a snapshot after each update."""

    def __init__(self) -> None:
        try:
            schema = importlib.import_module("acp.schema")
            contributed = importlib.import_module("acp.contrib.session_state")
        except ImportError:
            raise UnavailableError("agent-client-protocol is not installed") from None
        self._validate = schema.SessionNotification.model_validate_json
        self._accumulator = contributed.SessionAccumulator

    def accumulate(self, notifications: Iterable[bytes]) -> Any:
        """Return the snapshot after all notifications of the v1 schema."""
        accumulator = self._accumulator()
        snapshot = None
        for notification in notifications:
            snapshot = accumulator.apply(self._validate(notification))
        return snapshot
