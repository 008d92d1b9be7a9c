"""Who wrote a message: the client or the agent.

Most methods belong to one side. A raw stream that holds both sides says no more; there it is
inferred, in this order:

1. *Method.* A request or notification is of the side that owns the method; of the agent if no side
   is known to. `$/cancel_request` comes from the side whose request of that id is open.
2. *Shape of the result.* `outcome`, `action`, `terminalId` and the like answer an agent's request,
   `messageId`, `sessionId`, `stopReason` and the like a client's. It goes before the id, because
   in a recording of one side the other's requests are missing and ids coincide.
3. *Id.* A response goes to the side whose request with that id is open, so the other wrote it. If
   both have one open, or none, or no message of the client has been seen, it is the agent's.
4. Everything else, also what is not JSON, is the agent's: its output is what people record.

A batch goes by the first of its messages for which one of these decides.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

import msgspec

from .._json import NotJson
from .._jsonrpc import METHODS
from .json_slices import Members, elements, members, members_if_any, string, value

_FORWARDED: Final = frozenset(
    {
        "proxy/successor",
        "_proxy/successor",
        "_proxy/successor/request",
        "_proxy/successor/notification",
        "_proxy/successor/send/request",
        "_proxy/successor/send/notification",
        "_proxy/successor/receive/request",
        "_proxy/successor/receive/notification",
    }
)
"""What proxies of a chain call the messages that they pass on."""

_CLIENT_AREAS: Final = ("document/", "nes/", "providers/")
_AGENT_AREAS: Final = ("elicitation/", "fs/", "session/elicitation")
"""What methods begin with that are not in the table: drafts of the protocol had them."""

_CLIENT_RESULTS: Final = frozenset({"action", "exitCode", "outcome", "output", "terminalId"})
_AGENT_RESULTS: Final = frozenset(
    {
        "agentCapabilities",
        "authMethods",
        "availableCommands",
        "capabilities",
        "configOptions",
        "messageId",
        "models",
        "modes",
        "protocolVersion",
        "sessionId",
        "sessions",
        "stopReason",
    }
)

_ARROWS: Final = str.maketrans(dict.fromkeys("→⇒➡▶⟶", ">") | dict.fromkeys("←⇐⬅◀⟵", "<"))
_NO_LETTER: Final = re.compile(r"[^a-z0-9<>]+")
_REPEATED: Final = re.compile(r"([<>])\1+")
_WORDS: Final = {
    "sent": "> out outbound outgoing send sending sent stdin tx write writing written "
    "client c2a fromclient toagent clienttoagent clientagent client>agent "
    "editor fromeditor editortoagent editor>agent toruntime",
    "received": "< in inbound incoming read receive received receiving recv rx stdout "
    "agent a2c fromagent toclient agenttoclient agentclient agent>client "
    "toeditor agenttoeditor agent>editor toserver",
}
_SIDES: Final = {word: side == "sent" for side, words in _WORDS.items() for word in words.split()}

_NOTHING: Final = msgspec.Raw(b"null")

Id = int | float | str | bytes


@lru_cache(maxsize=1024)  # a log has the same words in each line
def word_sent(word: str) -> bool | None:
    """Return whether a recorder's word for a direction means that the client wrote the message."""
    letters = _NO_LETTER.sub("", word.lower().translate(_ARROWS))
    return _SIDES.get(_REPEATED.sub(r"\1", letters))


def method_sent(method: str) -> bool | None:
    """Return whether the client calls this method; None if it is not known whose it is."""
    if method in METHODS:
        caller = METHODS[method].caller
        return None if caller == "both" else caller == "client"
    if method.startswith(_CLIENT_AREAS):
        return True
    return False if method.startswith(_AGENT_AREAS) else None


def method_of(message: Members) -> str | None:
    """Return the method of a message: None if it is absent, empty if it is not a string."""
    if "method" not in message:
        return None
    try:
        return string(bytes(message["method"]))
    except NotJson:
        return ""


def unwrapped(message: Members) -> Members:
    """Return a message as it is without what a proxy of a chain has put around it, if it has."""
    if method_of(message) not in _FORWARDED:
        return message
    inner = members_if_any(bytes(message.get("params", _NOTHING)))
    if "method" not in inner:
        return message
    forwarded = {key: inner[key] for key in ("method", "params") if key in inner}
    return {key: text for key, text in message.items() if key != "params"} | forwarded


def call_sent(data: bytes) -> bool | None:
    """Return by its method alone who must have written a message; None if it does not say."""
    try:
        method = method_of(unwrapped(members(data)))
    except NotJson:
        return None
    return None if method is None else method_sent(method)


class Sides:
    """Turns words for a direction into sides, which may be those of the other side's recorder.

    Whether "in" and "received" mean the client's side or the agent's depends on where the recorder
    sat; the first message whose method belongs to one side settles that for the rest. `certain`
    means that the words can only be the client's.
    """

    def __init__(self, certain: bool = False) -> None:
        self._turned: bool | None = False if certain else None

    def sent(self, side: bool, message: bytes) -> bool:
        """Return whether the client wrote a message that is marked as this side's."""
        if self._turned is None and (by_method := call_sent(message)) is not None:
            self._turned = by_method != side
        return side != bool(self._turned)


class Directions:
    """Infers who wrote each message of a stream; keeps which requests are open."""

    def __init__(self) -> None:
        self._open_from_client: set[Id] = set()
        self._open_from_agent: set[Id] = set()
        self._client_seen = False

    def sent(self, data: bytes) -> bool:
        """Return whether the client wrote this; call it with every message, in order."""
        try:
            if data.startswith(b"["):
                return self._batch_sent(elements(data))
            return bool(self._message_sent(members(data)))
        except NotJson:
            return False

    def _batch_sent(self, batch: list[msgspec.Raw]) -> bool:
        objects = [text for text in map(bytes, batch) if text.startswith(b"{")]
        sides = [self._message_sent(members(text)) for text in objects]
        return next((sent for sent in sides if sent is not None), False)

    def _message_sent(self, message: Members) -> bool | None:
        """Return who wrote one message, None if it is not clear; note what opens or closes."""
        message = unwrapped(message)
        method = method_of(message)
        if method is None:
            sent = self._response_sent(message)
        elif method == "$/cancel_request":
            sent = self._cancellation_sent(message)
        else:
            sent = bool(method_sent(method))
            if "id" in message:
                self._opened_by(sent).add(_id(message["id"]))
        self._client_seen |= bool(sent)
        return sent

    def _opened_by(self, client: bool) -> set[Id]:
        return self._open_from_client if client else self._open_from_agent

    def _response_sent(self, message: Members) -> bool | None:
        if "result" not in message and "error" not in message:
            return None
        request = _id(message["id"]) if "id" in message else b"null"
        sent = _result_sent(message)
        if sent is None:
            sent = self._client_seen and self._only_agent_opened(request)
        self._opened_by(not sent).discard(request)
        return sent

    def _only_agent_opened(self, request: Id) -> bool:
        return request in self._open_from_agent and request not in self._open_from_client

    def _cancellation_sent(self, message: Members) -> bool:
        try:
            params = members(bytes(message["params"]))
            request = _id(params["requestId"])
        except (KeyError, NotJson):
            return False
        return request in self._open_from_client and request not in self._open_from_agent


def _result_sent(message: Members) -> bool | None:
    """Return whether the client wrote a response, by the keys of its result, or None."""
    result = bytes(message["result"]) if "result" in message else b""
    if not result.startswith(b"{"):
        return None
    keys = members(result).keys()
    if keys & _CLIENT_RESULTS:
        return True
    return False if keys & _AGENT_RESULTS else None


def _id(raw: msgspec.Raw) -> Id:
    """Return an id as something that compares as JSON-RPC ids do: 1.0 is 1, "1" is not."""
    text = bytes(raw)
    found = value(text)
    return found if isinstance(found, str | int | float) and not isinstance(found, bool) else text
