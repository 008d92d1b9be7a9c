"""Rewriting a log of ACP v1: fewer messages of the same kind, in the words of v1.

What an update of v1 means depends on what came before it, so nothing is merged across anything
that the client sent or that the agent answered or asked. Between two such messages

- chunks that follow each other and differ in their content alone become one, with a list of blocks;
- updates of a tool call become one, from the first `tool_call` or `tool_call_update` on;
- the last plan, commands and usage take the place of the first.

A request for a terminal's output goes when a later one was answered, and so does what an agent
asked of the client's files: its content is not part of any session. An update that has anything
unusual in it stays as it was, and nothing is merged across it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import attrs

from .._json import NotJson, TooDeep, encode, parse
from .._recordings import Frame
from .rewriting import Rewriting

Fields = dict[str, Any]

_CHUNKS: Final = frozenset({"agent_message_chunk", "agent_thought_chunk"})
_CALLS: Final = frozenset({"tool_call", "tool_call_update"})

_STRINGS: Final = ("toolCallId", "title", "kind", "status")
_LISTS: Final = ("content", "locations")
_CALL_KEYS: Final = frozenset(
    {"sessionUpdate", "_meta", "rawInput", "rawOutput", *_STRINGS, *_LISTS}
)
_REPLACED: Final[dict[str, tuple[str, type]]] = {
    "plan": ("entries", list),
    "available_commands_update": ("availableCommands", list),
}
"""Updates that replace a list: its key, and what it must be to be taken."""


@attrs.define(eq=False)
class _Line:
    """One line of the result: a frame, with the update that it holds where that was changed."""

    frame: Frame
    session_id: str = ""
    update: Fields | None = None
    changed: bool = False
    dropped: bool = False

    def written(self) -> Frame:
        if not self.changed:
            return self.frame
        message = parse(self.frame.data)
        message["params"]["update"] = self.update
        return attrs.evolve(self.frame, data=encode(message))


@attrs.define(eq=False)
class _Session:
    """The lines of one session into which something can still be merged."""

    last: _Line | None = None
    open: dict[str, _Line] = attrs.field(factory=dict)
    calls: set[str] = attrs.field(factory=set)
    as_recorded: bool = False

    def close(self) -> None:
        self.last = None
        self.open.clear()


@attrs.define(eq=False)
class _Asked:
    """A request of the agent for a terminal's output, or for a file."""

    line: _Line
    terminal: tuple[Any, Any] | None


class CompactedV1(Rewriting):
    """A log of ACP v1 on its way to a shorter one."""

    def __init__(self, first_kept: Mapping[str, int]) -> None:
        super().__init__(first_kept)
        self._lines: list[_Line] = []
        self._sessions: dict[str, _Session] = {}
        self._asked: dict[str, _Asked] = {}
        self._outputs: dict[tuple[Any, Any], tuple[_Line, _Line]] = {}

    def frames(self) -> Iterator[Frame]:
        """Return the frames that are left, in order."""
        return (line.written() for line in self._lines if not line.dropped)

    def _take(self, frame: Frame) -> None:
        """Take the next frame of the log; what is not JSON does nothing and goes."""
        try:
            message = parse(frame.data)
        except (NotJson, TooDeep):
            return
        if not isinstance(message, dict):
            self._keep_and_close(frame)
            return
        method, params = message.get("method"), message.get("params")
        if method == "session/update" and not frame.sent and isinstance(params, dict):
            self._update(frame, params)
        elif isinstance(method, str) and not frame.sent and "id" in message:
            self._agent_asks(frame, method, message, params)
        elif "method" not in message and frame.sent and _key(message) in self._asked:
            self._client_answers(frame, message)
        else:
            self._count_turn(method, params)
            self._keep_and_close(frame)

    def _keep(self, frame: Frame, session_id: str = "", update: Fields | None = None) -> _Line:
        line = _Line(frame, session_id, update)
        self._lines.append(line)
        return line

    def _keep_and_close(self, frame: Frame) -> None:
        self._keep(frame)
        for session in self._sessions.values():
            session.close()

    def _count_turn(self, method: Any, params: Any) -> None:
        if method == "session/prompt" and isinstance(params, dict):
            session_id = params.get("sessionId")
            if isinstance(session_id, str):
                self._session(session_id).as_recorded |= self._turn_begins(session_id)

    def _session(self, session_id: str) -> _Session:
        return self._sessions.setdefault(session_id, _Session())

    # --- Files and terminals of the client ---

    def _agent_asks(self, frame: Frame, method: str, message: Fields, params: Any) -> None:
        session_id = params.get("sessionId") if isinstance(params, dict) else None
        session = self._sessions.get(session_id) if isinstance(session_id, str) else None
        if session is None or session.as_recorded:
            self._keep_and_close(frame)
        elif method.startswith("fs/"):
            line = self._keep(frame)
            line.dropped = True
            self._asked[_key(message)] = _Asked(line, None)
        elif method == "terminal/output":
            terminal = (session_id, repr(params.get("terminalId")))
            self._asked[_key(message)] = _Asked(self._keep(frame), terminal)
        else:
            self._keep_and_close(frame)

    def _client_answers(self, frame: Frame, message: Fields) -> None:
        """Leave out what a client said of a file, and a terminal's output that is not the last."""
        asked = self._asked.pop(_key(message))
        answer = self._keep(frame)
        result = message.get("result")
        answer.dropped = asked.terminal is None
        if asked.terminal is None or not isinstance(result, dict):
            return
        if not isinstance(result.get("output"), str):
            return
        for line in self._outputs.pop(asked.terminal, ()):
            line.dropped = True
        if result.get("exitStatus") is None:
            self._outputs[asked.terminal] = (asked.line, answer)

    # --- Updates ---

    def _update(self, frame: Frame, params: Fields) -> None:
        session_id, update = params.get("sessionId"), params.get("update")
        if not isinstance(session_id, str) or not isinstance(update, dict):
            return
        session = self._session(session_id)
        if not session.as_recorded and self._merged(session, update):
            return
        line = self._keep(frame, session_id, update)
        self._open(session, line, update)

    def _merged(self, session: _Session, update: Fields) -> bool:
        """Merge an update into a line that is there, if it can be."""
        line = session.last if _is_chunk(update) else session.open.get(_slot(update) or "")
        if line is None or line.update is None or update.get("sessionUpdate") == "tool_call":
            return False
        merged = _MERGE[_family(update)](line.update, update)
        if merged is None:
            return False
        line.update, line.changed = merged, True
        return True

    def _open(self, session: _Session, line: _Line, update: Fields) -> None:
        """Remember a line to merge into; one of another kind closes the session's lines."""
        session.last = line
        slot = _slot(update)
        if slot is None and not _is_chunk(update):
            session.close()
        elif slot is not None:
            session.open[slot] = line
            if update.get("sessionUpdate") == "tool_call" and slot in session.calls:
                del session.open[slot]  # a known call: its defaults mean nothing there
            session.calls.add(slot)


def _key(message: Fields) -> str:
    """Return what finds a request by its id: `1.0` is `1`, and `"1"` is not."""
    request_id = message.get("id")
    whole = isinstance(request_id, float) and request_id.is_integer()
    return repr(int(request_id) if whole else request_id)  # type: ignore[arg-type]  # a float


def _family(update: Fields) -> str:
    kind: str = update["sessionUpdate"]
    return "chunk" if kind in _CHUNKS else "call" if kind in _CALLS else kind


def _is_chunk(update: Fields) -> bool:
    """Return whether an update is a chunk of one whole block."""
    content = update.get("content")
    kind = update.get("sessionUpdate")
    return kind in _CHUNKS and isinstance(content, dict) and isinstance(content.get("type"), str)


def _slot(update: Fields) -> str | None:
    """Return what an update is about, if it is one that can be merged."""
    kind = update.get("sessionUpdate")
    if not isinstance(kind, str):
        return None
    if kind in _CALLS:
        return f"call {update['toolCallId']}" if _is_plain_call(update) else None
    if kind == "usage_update":
        return kind if _is_plain_usage(update) else None
    key, needed = _REPLACED.get(kind, ("", type(None)))
    return kind if key and isinstance(update.get(key), needed) else None


def _is_plain_call(update: Fields) -> bool:
    meta = update.get("_meta")
    return (
        update.keys() <= _CALL_KEYS
        and isinstance(update.get("toolCallId"), str)
        and all(isinstance(update.get(key, ""), str | None) for key in _STRINGS)
        and all(isinstance(update.get(key, []), list | None) for key in _LISTS)
        and (meta is None or (isinstance(meta, dict) and not any(map(_is_terminal, meta))))
    )


def _is_terminal(key: str) -> bool:
    return key.startswith("terminal_")


def _is_plain_usage(update: Fields) -> bool:
    counts = (update.get("used", 0), update.get("size", 0))
    return update.keys() <= {"sessionUpdate", "used", "size"} and all(
        type(count) is int and count >= 0 for count in counts
    )


def _merged_chunk(old: Fields, new: Fields) -> Fields | None:
    """Join the blocks of two chunks that differ in nothing else."""
    if {**old, "content": 0} != {**new, "content": 0}:
        return None
    content = old["content"]
    blocks = content if isinstance(content, list) else [content]
    blocks.append(new["content"])
    return {**old, "content": blocks}


def _merged_call(old: Fields, new: Fields) -> Fields | None:
    """Patch a tool call; `null` says nothing in v1."""
    if new.get("_meta") is not None and new["_meta"] != old.get("_meta", new["_meta"]):
        return None
    given = {key: value for key, value in new.items() if value is not None}
    return {**old, **given, "sessionUpdate": old["sessionUpdate"]}


def _merged_usage(old: Fields, new: Fields) -> Fields | None:
    return {**old, **new}


def _replaced(old: Fields, new: Fields) -> Fields | None:
    return new


_MERGE: Final[dict[str, Callable[[Fields, Fields], Fields | None]]] = {
    "chunk": _merged_chunk,
    "call": _merged_call,
    "usage_update": _merged_usage,
    "plan": _replaced,
    "available_commands_update": _replaced,
}
"""By the kind of an update: what becomes of the older one and the newer one."""
