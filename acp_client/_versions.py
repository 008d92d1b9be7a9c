"""The version of the protocol that a connection speaks, and the reading of its messages.

v1 and v2 read the same message differently. The caller chooses the version, or else `initialize`
settles it:

- A client that offers nothing above v1 settles it with its request.
- A client that offers v2 waits for the agent, whose answer settles it.

Until then messages are read as v2. After a lost connection the next `initialize` settles the
version again. A message that only v1 has, on a connection that is read as v2, is recorded as a
problem, once. Nothing else is inferred from the looks of a message; recordings that begin late are
inspected before they are fed, see `_recordings.protocol_detection`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from . import wire
from ._chunk_runs import Intake, WordsV2
from ._conversation import Conversation
from ._decode import Report, decode_line, decode_refused, ignored
from ._errors import InvalidValueError, Problem
from ._framing import TOO_LONG
from ._json import NotJson, TooDeep, parse
from ._limits import DEFAULT_LIMITS
from ._requests import AgentRequests, ClientRequests, SessionEvent
from ._typed import V1_UPDATE_TAGS

if TYPE_CHECKING:
    from ._v1 import TranslationV1

Protocol = Literal["v1", "v2"]

PROTOCOLS: Final = get_args(Protocol)

_V2: Final = 2

_VERSION_KEY: Final = b"protocolVersion"
_MARKS_OF_V1: Final = tuple(f'"{mark}"'.encode() for mark in (*V1_UPDATE_TAGS, "toolCall"))
"""What marks a line that only v1 has: parsing every odd line again would be slow.

A chunk without a message id is a problem already.
"""


class VersionedConnection:
    """The messages of one connection in the words of v2, whatever it speaks."""

    def __init__(
        self, protocol: str | None = None, open_requests: int = DEFAULT_LIMITS.open_requests
    ) -> None:
        if protocol is not None and protocol not in PROTOCOLS:
            raise InvalidValueError(f"{protocol!r} is not a protocol: it must be 'v1' or 'v2'")
        self._client_requests = ClientRequests()
        self._agent_requests = AgentRequests(open_requests)
        self._conversation = Conversation(self._client_requests, self._agent_requests)
        self._translation: TranslationV1 | None = None
        self.intake = Intake(WordsV2())
        self._is_chosen = protocol is not None
        self._is_settled = self._is_chosen
        self._has_warned = False
        self._switch(protocol == "v1")

    @property
    def protocol(self) -> Protocol:
        """The version that messages are read as, settled or not."""
        return "v2" if self._translation is None else "v1"

    @property
    def routes(self) -> Conversation | TranslationV1:
        """The object that reads the messages: the conversation of v2, or the translation of v1."""
        return self._translation or self._conversation

    def option_call(self, session_id: str, config_id: str, value: Any) -> tuple[str, Any]:
        """Return the method and the parameters that set an option."""
        return self.routes.option_call(session_id, config_id, value)

    def assume(self, protocol: Protocol) -> list[SessionEvent]:
        """Read the messages as this version, which the recording shows, unless one is settled."""
        return [] if self._is_settled else self._settle(protocol == "v1")

    def lose(self, error: wire.Error | None) -> list[SessionEvent]:
        """Close all requests of a lost connection; the next one may agree on another version."""
        self._is_settled = self._is_chosen
        return self.routes.lost(error)

    def follow(
        self,
        data: bytes,
        number: int,
        report: Report,
        *,
        sent: bool = False,
        unterminated: bool = False,
        is_refused: bool = False,
    ) -> list[SessionEvent]:
        """Return the events of a line from the agent, or from the client if it is `sent`.

        `is_refused` says that the typed decoder has already refused the line as a session update.
        """
        if data == TOO_LONG:
            if not sent:
                report(Problem(number, "too_long", "$", "is longer than the limit"))
            return []
        events = [] if self._is_settled else self._learn(data, sent)
        if self._translation is not None:
            followed = self._translation.followed
            return [*events, *followed(data, number, report, sent=sent, unterminated=unterminated)]
        if sent:
            return [*events, *self._conversation.sent(decode_line(data, 0, ignored, sent=True))]
        decode = decode_refused if is_refused else decode_line
        message = decode(data, number, report, unterminated=unterminated)
        self._warn(data, number, report)
        return [*events, *self._conversation.received(message, number, report)]

    def _warn(self, data: bytes, number: int, report: Report) -> None:
        """Report, once, that the messages are not those of v2."""
        if self._has_warned or not any(mark in data for mark in _MARKS_OF_V1):
            return
        # Imported late: a connection that speaks v2 never needs v1.
        from ._v1 import is_only_v1

        if any(map(is_only_v1, _messages(data))):
            self._has_warned = True
            reason = "is a message of ACP v1, and this connection is read as v2"
            report(Problem(number, "invalid_message", "$", reason))

    # --- What initialize agrees on ---

    def _learn(self, data: bytes, sent: bool) -> list[SessionEvent]:
        """Settle the version if a line agrees on one."""
        if _VERSION_KEY not in data:
            return []
        versions = [_version(message, sent) for message in _messages(data)]
        agreed = [one for one in versions if one is not None and (one < _V2 or not sent)]
        return self._settle(agreed[0] < _V2) if agreed else []

    def _settle(self, as_v1: bool) -> list[SessionEvent]:
        self._is_settled = True
        return self._switch(as_v1)

    def _switch(self, as_v1: bool) -> list[SessionEvent]:
        if as_v1 == (self._translation is not None):
            return []
        if not as_v1:
            self._translation, self.intake = None, Intake(WordsV2())
            return []
        # Imported late, as above.
        from ._v1 import TranslationV1, WordsV1

        self._translation = TranslationV1(self._client_requests, self._agent_requests)
        self.intake = Intake(WordsV1(self._translation))
        return self._translation.adopted()


def _messages(data: bytes) -> Iterator[dict[str, Any]]:
    try:
        value = parse(data)
    except (NotJson, TooDeep):
        return
    for message in value if isinstance(value, list) else (value,):
        if isinstance(message, dict):
            yield message


def _version(message: dict[str, Any], sent: bool) -> int | None:
    """Return the version that a client offers in `initialize`, or an agent agrees to."""
    if sent and message.get("method") != "initialize":
        return None
    fields = message.get("params" if sent else "result")
    version: Any = fields.get("protocolVersion") if isinstance(fields, dict) else None
    if isinstance(version, float) and version.is_integer():  # `1.0` is 1
        version = int(version)
    if isinstance(version, bool) or not isinstance(version, int) or version < 0:
        return None
    return version
