"""Other protocols whose traffic looks like a recording: which they are, and by what they are known.

A file of theirs is refused by name, rather than read as a conversation in which nothing happens.
A message of the Agent Client Protocol among those that were read first makes a file a recording
all the same.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

import attrs
import msgspec

from .._json import NotJson
from .directions import method_of, method_sent, unwrapped
from .frames import Tally
from .json_slices import Members, members_if_any, string, trim
from .json_texts import ARRAY, BRACKETS_ALONE, TEXTS, texts

_NULL: Final = msgspec.Raw(b"null")


def _params(found: Members) -> Members:
    return members_if_any(bytes(found.get("params", _NULL)))


def _has(key: str) -> Callable[[Members], bool]:
    return lambda found: key in found


def _has_not(key: str) -> Callable[[Members], bool]:
    return lambda found: key not in found


def _is_dated(params: Members) -> bool:
    """Return whether the version is a date, as that of the Model Context Protocol is."""
    version = bytes(params.get("protocolVersion", _NULL))
    return re.fullmatch(rb'"\d{4}-\d\d-\d\d"', version) is not None


def _never(_: Members) -> bool:
    return False


@attrs.frozen
class OtherProtocol:
    """A protocol: the methods that only it has, and what its `initialize` has for parameters."""

    name: str
    methods: re.Pattern[str]
    initialize: Callable[[Members], bool] = _never


JSON_RPC: Final = (
    OtherProtocol(
        "the Language Server Protocol",
        re.compile(
            r"(textDocument|workspace|window|notebookDocument|callHierarchy|typeHierarchy|telemetry"
            r"|codeLens|codeAction|completionItem|inlayHint|documentLink|workspaceSymbol|client)/.*"
            r"|\$/(progress|setTrace|logTrace)"
        ),
        _has("processId"),
    ),
    OtherProtocol(
        "the Model Context Protocol",
        re.compile(r"(tools|resources|prompts|notifications|sampling|roots|completion|logging)/.*"),
        _is_dated,
    ),
    OtherProtocol(
        "the Codex app server",
        re.compile(
            r"(thread|turn|item|account|model|config|skills|rawResponseItem|codex)/.*"
            r"|newConversation|resumeConversation|addConversationListener|sendUser(Message|Turn)"
            r"|interruptConversation|(execCommand|applyPatch)Approval|(login|auth)Chat[gG]pt\w*"
        ),
        _has_not("protocolVersion"),
    ),
    OtherProtocol("the Agent2Agent protocol", re.compile(r"(message|tasks)/.*")),
)

WITHOUT_JSON_RPC: Final = (
    ("the Debug Adapter Protocol", {"seq", "type"}, {"request", "response", "event"}),
    ("Codex's own sessions", {"payload", "type"}, {"session_meta", "response_item", "event_msg"}),
    ("codex exec", {"type"}, {"thread.started", "turn.started", "item.started", "item.completed"}),
    ("Claude Code's own sessions", {"message", "type"}, {"assistant", "user"}),
)
"""The name, the keys of a value, and the words under "type"."""


_HEADERS: Final = re.compile(
    rb"(?:[\w-]+:[^\r\n]*\r?\n)*Content-Length: *\d+\r?\n(?:[\w-]+:[^\r\n]*\r?\n)*\r?\n"
)


def other_protocol(head: bytes, messages: Iterable[bytes]) -> str | None:
    """Return what else a file is, by how it begins and the messages in that."""
    if _HEADERS.match(head.lstrip()):
        bodies = _HEADERS.split(head)
        return protocol_of(bodies) or "a protocol that frames messages by Content-Length headers"
    return protocol_of(messages)


def possible_messages(head: bytes) -> Iterator[bytes]:
    """Return what may be messages in a file that was not recognised.

    They are objects at the end of a line, or those of a document.
    """
    for line in head.split(b"\n"):
        if (start := line.find(b"{")) >= 0:
            yield trim(line[start:])
    for nesting in () if BRACKETS_ALONE.match(head.lstrip()) else (ARRAY, TEXTS):
        yield from (text for _, text in texts(io.BytesIO(head).read, nesting, Tally()))


def protocol_of(messages: Iterable[bytes]) -> str | None:
    """Return the name of another protocol that messages are of; None if one of them is of ours."""
    named: str | None = None
    for data in messages:
        found = unwrapped(members_if_any(data))
        if _is_ours(found):
            return None
        named = named or _other(found)
    return named


def _is_ours(found: Members) -> bool:
    method = method_of(found)
    if method == "initialize":
        return bytes(_params(found).get("protocolVersion", _NULL)).isdigit()
    if method is not None:
        return method_sent(method) is not None
    return "sessionUpdate" in found


def _other(found: Members) -> str | None:
    method = method_of(found)
    if method is None:
        return _other_than_json_rpc(found)
    for protocol in JSON_RPC:
        if method == "initialize" and protocol.initialize(_params(found)):
            return protocol.name
        if protocol.methods.fullmatch(method):
            return protocol.name
    return None


def _other_than_json_rpc(found: Members) -> str | None:
    kind = _word(found.get("type", _NULL))
    for name, keys, kinds in WITHOUT_JSON_RPC:
        if found.keys() >= keys and kind in kinds:
            return name
    return None


def _word(text: msgspec.Raw) -> str:
    try:
        return string(bytes(text))
    except NotJson:
        return ""
