"""Messages that a proxy forwards are taken out of their wrapping."""

from __future__ import annotations

import json
from typing import Any

import pytest
from recorded_formats import CONVERSATION, read, said


def wrapped(message: dict[str, Any], method: str) -> dict[str, Any]:
    """Return a message as a proxy forwards it; responses go as they are."""
    if "method" not in message:
        return message
    inner = {key: message[key] for key in ("method", "params") if key in message}
    return {**message, "method": method, "params": {**inner, "meta": None}}


def enveloped(pairs: list[tuple[bool, dict[str, Any]]]) -> bytes:
    """Write messages of either side as our own format does."""
    lines = [{"dir": "send" if sent else "recv", "message": message} for sent, message in pairs]
    return "\n".join(map(json.dumps, lines)).encode()


@pytest.mark.parametrize(
    "method", ["proxy/successor", "_proxy/successor", "_proxy/successor/request"]
)
@pytest.mark.parametrize("raw", [False, True])
def test_a_wrapped_conversation_is_shown(method: str, raw: bool) -> None:
    """A recording of wrapped messages alone is the conversation, with or without directions."""
    pairs = [(sent, wrapped(message, method)) for sent, message in CONVERSATION]
    lines = "\n".join(json.dumps(message) for _, message in pairs).encode()
    recording, frames = read(lines if raw else enveloped(pairs))
    assert recording.format == ("ndjson" if raw else "envelope")
    assert said(frames) == CONVERSATION
    assert recording.passed_over == 0


def test_both_halves_give_the_conversation_once() -> None:
    """Where a proxy's client is recorded too, the other half is passed over with its responses."""
    both = []
    for sent, message in CONVERSATION[2:]:
        forwarded = wrapped({**message, "id": f"p{message['id']}"} if "id" in message else message,
                            "proxy/successor")  # fmt: skip  # as a table
        half = [(sent, message), (not sent, forwarded)]
        both += half if sent == ("method" in message) or "id" not in message else half[::-1]
    recording, frames = read(enveloped([(sent, message) for sent, message in both]))
    plain = [message for _, message in said(frames) if "p" not in str(message.get("id"))]
    assert [message for _, message in CONVERSATION[2:]] == plain
    assert recording.passed_over


@pytest.mark.parametrize("params", [None, [], {}, {"method": 5}, {"params": {}}])
def test_a_wrapping_without_a_message_stays(params: Any) -> None:
    """What is wrapped wrongly is left as it is, for the store to judge."""
    message = {"jsonrpc": "2.0", "method": "proxy/successor", "params": params}
    _, frames = read(enveloped([(False, message)]))
    shown = json.loads(frames[0].data)
    assert shown == message or shown["method"] == 5
