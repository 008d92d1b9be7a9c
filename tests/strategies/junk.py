"""Lines that were never messages, and pieces of such lines."""

from __future__ import annotations

from collections.abc import Callable

from .books import SESSIONS
from .builders import either
from .choices import Choices, Json, JsonObject
from .messages import notification
from .update_builders import an_update
from .writing import TOKEN, TOKENS, encode

_BOM = b"\xef\xbb\xbf"
LOG_LINES = (
    b"2026-03-01 09:00:00 INFO starting agent",
    b"Traceback (most recent call last):",
    b"\x1b[33mwarning\x1b[0m: {not json}",
    b"Content-Length: 52",
)
_BLANKS = (b"", b" ", b"\r", b"\t \r", _BOM, b"\xc2\xa0", b"\xe3\x80\x80")
_SCALAR_LINES = (b"true", b"5", b'"x"', b"null", b"{}", b"[]", b"[5, null]", b"{", b"]", b'"', b"-")
BAD_BYTES = (b"\xff", b"\xc3", b"\xed\xa0\xbd", b"\xf0\x9f\x9a", b"\xc0\x80", b"\x80")
# Where a token is put: raw data keeps it, a typed field cannot, an undefined key is passed over.
_HOLES: tuple[Callable[[str], JsonObject], ...] = (
    lambda token: {"sessionUpdate": "tool_call_update", "toolCallId": "a", "rawInput": token},
    lambda token: {"sessionUpdate": "tool_call_update", "toolCallId": "a", "rawOutput": [token]},
    lambda token: {"sessionUpdate": "tool_call_update", "toolCallId": "a", "title": token},
    lambda token: {"sessionUpdate": "agent_message", "messageId": "a", "_meta": {"k": token}},
    lambda token: {"sessionUpdate": "_vendor", "any": token},
    lambda token: {"sessionUpdate": "usage_update", "used": token, "size": 1},
    lambda token: {"sessionUpdate": "terminal_update", "terminalId": "a", "exitStatus": token},
    lambda token: {"sessionUpdate": "state_update", "state": "running", "extra": token},
)


def _update_line(choices: Choices) -> bytes:
    session = choices.pick(SESSIONS)
    return encode(notification(an_update(choices), session))


def cut(choices: Choices, line: bytes) -> bytes:
    return line[: choices.wide() % max(1, len(line))]


def insert(choices: Choices, line: bytes, extra: bytes) -> bytes:
    place = choices.wide() % (len(line) + 1)
    return line[:place] + extra + line[place:]


def trimmable(choices: Choices, line: bytes) -> bytes:
    return choices.pick(_BLANKS) + line + choices.pick((b"\r", b" ", b"\r\r", b"\xc2\xa0", b"\t"))


def _binary(choices: Choices) -> bytes:
    data = bytes(choices.below(256) for _ in range(1 + choices.below(24)))
    return b"\x89" + data.replace(b"\n", b"\x00")


def _token_line(choices: Choices, *names: str) -> bytes:
    token = f"{TOKEN}{tuple(TOKENS).index(choices.pick(names))}"
    return encode(notification(choices.pick(_HOLES)(token), choices.pick(SESSIONS)))


def _unlabelled(choices: Choices) -> bytes:
    label = choices.pick(("1.0", None, 2, ["2.0"]))
    return encode({**notification(an_update(choices)), "jsonrpc": label})


def _batch(choices: Choices) -> bytes:
    kind, count = choices.below(5), 1 + choices.below(2)
    messages: list[Json] = [notification(an_update(choices)) for _ in range(count)]
    strays: list[list[Json]] = [[], [5], [None, []], [[messages[0]]], [{}]]
    return encode([*strays[kind], *messages])


# Lines that change no session, whatever they stand between.
INERT: dict[str, Callable[[Choices], bytes]] = {
    "log": lambda choices: choices.pick(LOG_LINES),
    "blank": lambda choices: choices.pick(_BLANKS),
    "scalar": lambda choices: choices.pick(_SCALAR_LINES),
    "torn": lambda choices: cut(choices, _update_line(choices)),
    "binary": _binary,
    "not a number": lambda choices: _token_line(choices, "not a number", "infinity", "no number"),
    "too deep": lambda choices: _token_line(choices, "300 levels", "300 objects"),
    "two messages": lambda choices: _update_line(choices) * 2,
    "unlabelled": _unlabelled,
}
# Lines that a lenient reader may still make something of.
_LIVE: dict[str, Callable[[Choices], bytes]] = {
    "invalid UTF-8": lambda choices: insert(
        choices, _update_line(choices), choices.pick(BAD_BYTES)
    ),
    "trimmable": lambda choices: trimmable(choices, _update_line(choices)),
    "batch": _batch,
    "huge number": lambda choices: _token_line(
        choices, "infinite", "negative infinite", "400 digits"
    ),
    "deep": lambda choices: _token_line(choices, "200 levels", "200 objects"),
    "odd number": lambda choices: _token_line(choices, "underflow", "minus zero", "exponent"),
}
ALL_JUNK = INERT | _LIVE
INERT_JUNK = tuple(INERT)
JUNK = tuple(ALL_JUNK)
junk_line = either(*ALL_JUNK.values())
