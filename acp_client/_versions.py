"""Which version of the protocol a connection speaks, and the way its messages go then.

v1 and v2 differ in how a message is read, so a connection has to know which it is. In this order:

1. What the caller says.
2. What `initialize` agreed on. A client that offers nothing above v1 settles it by asking; one that
   offers v2 waits for the answer.
3. What the first messages look like, for recordings that begin later. A message that only v2 has
   settles it, and so does a call or a result that only v1 has. An update is a hint of v1 and no
   more: to a reader of v2 a `tool_call` is a variant that it does not know, and a chunk without a
   message id lacks a part. Hints add up, but a chunk with an id takes back one without. Until it
   is settled the messages go as v2, and after `_FIRST` lines, or `_FIRST_BYTES`, that stays so;
   if the input ends before, two hints are enough.

After a lost connection, the `initialize` of the next one settles it anew, from there on.

The lines until then are remembered. If they turn out to be v1, they all are told again, in the
words of that version: a prompt before the first telling message, say, is an entry in v1 and is none
in v2. So what is told in the end does not depend on how the lines were delivered.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from msgspec import Struct

from . import wire
from ._conversation import Conversation
from ._decode import Report, decode_line, ignored
from ._errors import InvalidValueError, Problem
from ._events import PromptSent
from ._framing import TOO_LONG
from ._json import NotJson, TooDeep, encode, parse
from ._limits import DEFAULT_LIMITS
from ._requests import Told

if TYPE_CHECKING:
    from ._v1 import TranslationV1

Protocol = Literal["v1", "v2"]

PROTOCOLS: Final = get_args(Protocol)

_ENOUGH: Final = 3
"""Hints of v1 that settle it."""

_ENOUGH_AT_THE_END: Final = 2

_V2: Final = 2

_FIRST: Final = 200
_FIRST_BYTES: Final = 4 * 1024 * 1024
"""Lines that are looked at."""


class _Line(Struct, frozen=True):
    """A line of a connection, and who wrote it."""

    data: bytes
    number: int
    sent: bool
    unterminated: bool


class _Closing(Struct, frozen=True):
    """The client has closed a session here: what was before is not told of it again."""

    session_id: str


class Connection:
    """The messages of one connection, told in the words of v2 whatever it speaks."""

    def __init__(
        self, protocol: str | None = None, open_requests: int = DEFAULT_LIMITS.open_requests
    ) -> None:
        if protocol is not None and protocol not in PROTOCOLS:
            raise InvalidValueError(f"{protocol!r} is no protocol: it must be 'v1' or 'v2'")
        self._open_requests = open_requests
        self.routes: Conversation | TranslationV1 = Conversation(open_requests)
        self._translation: TranslationV1 | None = None
        self._settled = protocol is not None
        self._is_chosen = protocol is not None
        self._is_new = False
        self._awaits_answer = False
        self._hints = 0
        self._chunks = 0
        self._last_update: bytes | None = None
        self._lines: list[_Line | _Closing] = []
        self._size = 0
        self._prompts: set[Any] = set()
        self._go(protocol == "v1")

    @property
    def protocol(self) -> Protocol:
        """What the messages go as, settled or not."""
        return "v2" if self._translation is None else "v1"

    def received(self, message: Any, number: int, report: Report) -> list[Told]:
        """Return what a message of v2 tells."""
        conversation: Any = self.routes
        told: list[Told] = conversation.received(message, number, report)
        return told

    def option_call(self, session_id: str, config_id: str, value: Any) -> tuple[str, Any]:
        """Return the method and the parameters that set an option."""
        return self.routes.option_call(session_id, config_id, value)

    @property
    def is_plain(self) -> bool:
        """Whether this is v2 for good, so that no line needs a look."""
        return self._settled and not self._is_new and self.protocol == "v2"

    def settle(self) -> None:
        """Stay with what the messages go as."""
        self._settled = True
        self._is_new = False
        self._forget()

    def _forget(self) -> None:
        """Let go of what only an unsettled connection looks at."""
        self._lines = []
        self._last_update = None

    def lose(self, error: wire.Error | None) -> list[Told]:
        """Lose the connection: the next one may agree on another version."""
        told = self.routes.lost(error)
        self.settle()
        self._is_new = not self._is_chosen
        self._size = 0
        return told

    def follow(
        self,
        data: bytes,
        number: int,
        report: Report,
        begin_anew: Callable[[], None],
        *,
        sent: bool = False,
        unterminated: bool = False,
    ) -> list[Told]:
        """Return what a line tells.

        Where it shows that this is v1, the lines before it are told again: `begin_anew` is called,
        and what all of them tell is returned.
        """
        line = _Line(data, number, sent, unterminated)
        if self._is_new:
            return [*self._told_anew(line, report), *self._told(line, report)]
        if self._settled:
            return self._told(line, report)
        before = self.protocol
        for message in _messages(data):
            self._look(message, sent)
        lines = self._remember(line)
        if self._settled:
            self._forget()
        if self.protocol == before:
            return self._told(line, report)
        return self._told_again(lines, report, begin_anew)

    def end(self, report: Report, begin_anew: Callable[[], None]) -> list[Told]:
        """Return what the end of the input tells: what was before it, if that was v1 after all."""
        lines = self._lines
        if self._settled or self._awaits_answer or self._weight < _ENOUGH_AT_THE_END:
            return []
        self._go(True)
        self.settle()
        return self._told_again(lines, report, begin_anew)

    def _told_again(
        self, lines: list[_Line | _Closing], report: Report, begin_anew: Callable[[], None]
    ) -> list[Told]:
        begin_anew()
        return self._retold(lines, report)

    def _retold(self, lines: Iterable[_Line | _Closing], report: Report) -> list[Told]:
        told: list[Told] = []
        for line in lines:
            if isinstance(line, _Line):
                told += self._told(line, report)
            else:
                self.routes.forget(line.session_id, ())
                told = [one for one in told if one[0] != line.session_id]
        return told

    def forget(self, session_id: str, awaited: Container[wire.RequestId]) -> None:
        """Take note that the client forgets a session: what waits for an answer in it is gone."""
        self.routes.forget(session_id, awaited)
        if self._is_new or not self._settled:
            self._lines.append(_Closing(session_id))

    def _remember(self, line: _Line) -> list[_Line | _Closing]:
        """Return all lines so far; once they are many, or much, it stays with what it is."""
        lines = self._lines
        lines.append(line)
        self._size += len(line.data)
        if len(lines) >= _FIRST or self._size >= _FIRST_BYTES:
            self.settle()
        return lines

    def _told(self, line: _Line, report: Report) -> list[Told]:
        if line.data == TOO_LONG:
            if not line.sent:
                report(Problem(line.number, "too_long", "$", "is longer than the limit"))
            return []
        told = self._told_v2 if self._translation is None else self._translation.followed
        return told(line.data, line.number, report, sent=line.sent, unterminated=line.unterminated)

    def _told_v2(
        self, data: bytes, number: int, report: Report, *, sent: bool, unterminated: bool
    ) -> list[Told]:
        conversation: Any = self.routes
        if sent:
            told: list[Told] = conversation.sent(decode_line(data, 0, ignored, sent=True))
            return told
        message = decode_line(data, number, report, unterminated=unterminated)
        return self.received(message, number, report)

    def _told_anew(self, line: _Line, report: Report) -> list[Told]:
        """Look at a line after a lost connection, whose `initialize` settles the version anew.

        Where that is another one, return what the client's lines since then tell in its words: they
        opened requests. That a prompt was sent has been told.
        """
        versions = [_version(message, line.sent) for message in _messages(line.data)]
        agreed = [version for version in versions if version is not None]
        if not agreed or (line.sent and agreed[0] >= _V2):
            self._remember(line)
            return []
        earlier = self._lines
        self.settle()
        if (agreed[0] < _V2) == (self._translation is not None):
            return []
        self._go(agreed[0] < _V2)
        told = self._retold((one for one in earlier if not _is_received(one)), report)
        return [(session, event) for session, event in told if not isinstance(event, PromptSent)]

    # --- What it is ---

    def _look(self, message: dict[str, Any], sent: bool) -> None:
        """Learn from one message which version this is."""
        version = _version(message, sent)
        if version is not None and (not sent or version < _V2):
            self._go(version < _V2)
            self._settled = True
        elif version is not None:
            self._awaits_answer = True
        if self._settled or self._awaits_answer:
            return
        if sent and message.get("method") == "session/prompt":
            self._prompts.add(_key(message.get("id")))
        shape = _shape(message, sent)
        is_update = message.get("method") == "session/update"
        self._weigh(message, sent, shape)
        if shape == "v1" and is_update:
            shape = None
        if self._weight >= _ENOUGH:
            shape = shape or "v1"
        if shape is not None:
            self._go(shape == "v1")
            self._settled = True

    def _go(self, as_v1: bool) -> None:
        if as_v1 == (self._translation is not None):
            return
        self._translation, self.routes = None, Conversation(self._open_requests)
        if as_v1:
            # An agent that speaks v2 should not wait for what it does not need.
            from ._v1 import TranslationV1

            self._translation = self.routes = TranslationV1(self._open_requests)

    def _weigh(self, message: dict[str, Any], sent: bool, shape: Protocol | None) -> None:
        """Count what both versions may have, but for repeats, as hints of v1."""
        if sent:
            return
        if message.get("method") == "session/update":
            update = _fields(_fields(message.get("params")).get("update"))
            text = encode(update)  # to compare what nests deeply could exhaust the stack
            self._last_update, before = text, self._last_update
            if text != before:
                self._hints += shape == "v1"
                self._chunks += _chunk_hint(update)
            return
        result = _fields(message.get("result"))
        if "messageId" not in result and _key(message.get("id")) in self._prompts:
            self._hints += 2 * isinstance(result.get("stopReason"), str)

    @property
    def _weight(self) -> int:
        return self._hints + max(0, self._chunks)


def _is_received(line: _Line | _Closing) -> bool:
    return isinstance(line, _Line) and not line.sent


def _messages(data: bytes) -> Iterator[dict[str, Any]]:
    try:
        value = parse(data)
    except (NotJson, TooDeep):
        return
    for message in value if isinstance(value, list) else (value,):
        if isinstance(message, dict):
            yield message


def _key(request_id: Any) -> Any:
    return request_id if isinstance(request_id, str | int | float) else None


def _version(message: dict[str, Any], sent: bool) -> int | None:
    """Return the version that a client offers in `initialize`, or an agent agrees to."""
    if sent and message.get("method") != "initialize":
        return None
    version = _fields(message.get("params" if sent else "result")).get("protocolVersion")
    if isinstance(version, float) and version.is_integer():  # `1.0` is 1
        version = int(version)
    is_version = isinstance(version, int) and not isinstance(version, bool) and version >= 0
    return version if is_version else None


# --- What only one of the versions has ---

_V1_UPDATES: Final[dict[str, tuple[str, type]]] = {
    "current_mode_update": ("currentModeId", str),
    "plan": ("entries", list),
    "tool_call": ("toolCallId", str),
}
"""By the kind of an update: what it cannot do without."""

_V2_UPDATES: Final = frozenset(
    {
        "agent_message",
        "agent_thought",
        "state_update",
        "terminal_output_chunk",
        "terminal_update",
        "tool_call_content_chunk",
        "user_message",
    }
)

_CHUNKS: Final = frozenset({"agent_message_chunk", "agent_thought_chunk", "user_message_chunk"})

_V1_CALLS: Final = frozenset(
    {"session/load", "session/set_mode", "session/set_model", "terminal/create"}
)


_CHUNK_KEYS: Final = frozenset({"sessionUpdate", "content", "_meta"})


def _shape(message: dict[str, Any], sent: bool) -> Protocol | None:
    """Tell which version a message can only be of; `None` if both have it."""
    method, params = message.get("method"), _fields(message.get("params"))
    if method == "session/update" and not sent:
        return _update_shape(_fields(params.get("update")))
    if method == "session/request_permission" and not sent:
        return _permission_shape(params)
    if isinstance(method, str):
        return "v1" if method in _V1_CALLS and "id" in message else None
    return None if sent else _result_shape(_fields(message.get("result")))


def _update_shape(update: dict[str, Any]) -> Protocol | None:
    kind = update.get("sessionUpdate")
    if not isinstance(kind, str):
        return None
    if kind in _V2_UPDATES:
        return "v2"
    if kind in _V1_UPDATES:
        key, type_ = _V1_UPDATES[kind]
        return "v1" if isinstance(update.get(key), type_) else None
    if kind == "available_commands_update":
        return _commands_shape(update.get("availableCommands"))
    return _options_shape(update.get("configOptions")) if kind == "config_option_update" else None


def _chunk_hint(update: dict[str, Any]) -> int:
    kind = update.get("sessionUpdate")
    if not isinstance(kind, str) or kind not in _CHUNKS:
        return 0
    if isinstance(update.get("messageId"), str):
        return -1
    is_whole = {"sessionUpdate", "content"} <= update.keys() <= _CHUNK_KEYS
    return int(is_whole and _is_block(update["content"]))


def _is_block(content: Any) -> bool:
    block = _fields(content)
    needed = block.get("text") if block.get("type") == "text" else block.get("type")
    return isinstance(needed, str)


def _commands_shape(commands: Any) -> Protocol | None:
    """Tell commands of v1 by their missing `type`; a single one of v2 may just lack it."""
    if not isinstance(commands, list) or len(commands) < 2:
        return None
    is_v1 = all("name" in item and "type" not in item for item in map(_fields, commands))
    return "v1" if is_v1 else None


def _options_shape(options: Any) -> Protocol | None:
    """Tell configuration options of v1 by their `id`, which is `configId` in v2."""
    if not isinstance(options, list) or not options:
        return None
    is_v1 = all("id" in item and "configId" not in item for item in map(_fields, options))
    return "v1" if is_v1 else None


def _permission_shape(params: dict[str, Any]) -> Protocol | None:
    if isinstance(params.get("title"), str):
        return "v2"
    return "v1" if isinstance(_fields(params.get("toolCall")).get("toolCallId"), str) else None


def _result_shape(result: dict[str, Any]) -> Protocol | None:
    """Tell a new session of v1 by its lists."""
    if isinstance(result.get("modes"), dict) or isinstance(result.get("models"), dict):
        return "v1"
    return _options_shape(result.get("configOptions"))


def _fields(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
