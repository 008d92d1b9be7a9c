"""The strict decoder: what it takes, and what it leaves to the other rungs of the ladder."""

from __future__ import annotations

import json
from contextlib import nullcontext
from typing import Any

import pytest
import strategies
from hypothesis import given
from traffic import chunk_line, line, update_line

from acp_client import _lenient, decode, wire
from acp_client._json import TooDeep, parse
from acp_client._typed import Refused, decode_unknown, decode_update

CHUNK = {"sessionUpdate": "agent_message_chunk", "messageId": "m"}
PARAMS = {"sessionId": "s", "update": {**CHUNK, "content": {"type": "text", "text": "hi"}}}
UPDATE = {"jsonrpc": "2.0", "method": "session/update", "params": PARAMS}


def written(message: Any, **changes: Any) -> bytes:
    """Write a message with some members changed."""
    return json.dumps({**message, **changes}).encode()


REFUSED_BY_TYPED = [
    chunk_line("\ud83d"),
    chunk_line("x").replace(b'"x"', b'"\xff"'),
    update_line("_vendor"),
    update_line("agent_message_chunk", messageId="m", content={"type": "_smell"}),
    update_line("usage_update", used=2**63, size=1),
    update_line("tool_call_update", toolCallId="c", title=5),
    update_line("agent_message_chunk", messageId="m"),
    written(UPDATE, id=1),
    written(UPDATE, jsonrpc="1.0"),
    written(UPDATE, method="session/updates"),
    written(UPDATE, params=None),
    b"[" + written(UPDATE) + b"]",
    b"{}",
    b"",
    line(id=1, result={}),
]


@pytest.mark.parametrize("data", REFUSED_BY_TYPED)
def test_the_typed_decoder_refuses(data: bytes) -> None:
    """A line that is not a well-formed update of a known variant goes to the next rung."""
    with pytest.raises(Refused):
        decode_update(data)


def test_the_typed_decoder_counts_levels() -> None:
    """Deep nesting is refused even where no field takes what is nested."""
    deep = b'{"x":' + b"[" * 1_100 + b"]" * 1_100 + b"," + written(UPDATE)[1:]
    with pytest.raises(TooDeep):
        decode_update(deep)
    assert [problem.kind for problem in decode(deep)[1]] == ["too_deep"]


@given(strategies.updates(strategies.UNKNOWN))
def test_the_short_way_of_unknown_variants_agrees(update: Any) -> None:
    """An unknown variant is the same on the short way as on the lenient path."""
    data = strategies.encode(strategies.notification(update))
    params, findings = _lenient.structure(parse(data)["params"], wire.UpdateSessionNotification)
    assert findings == []
    try:
        short = decode_unknown(data)
    except Refused:
        return  # text that only the lenient parser takes
    assert (short.session_id, short.update) == (params.session_id, params.update)


@pytest.mark.parametrize(
    ("data", "taken"),
    [
        (update_line("_vendor", k=1), True),
        (update_line(""), True),
        (update_line("agent_message", messageId="m"), False),
        (update_line("state_update", state="_dreaming"), False),
        (update_line("_vendor").replace(b"2.0", b"1.0"), False),
        (update_line("_vendor").replace(b"session/update", b"session/updates"), False),
        (line(id=1, method="session/update", params={"sessionId": "s", "update": CHUNK}), False),
        (line(method="session/update", params=[]), False),
        (line(method="session/update", params={"sessionId": "s"}), False),
        (line(method="session/update", params={"sessionId": 5, "update": {}}), False),
        (line(method="session/update", params={"sessionId": "s", "update": 5}), False),
        (line(method="session/update", params={"sessionId": "s", "update": {}}), False),
        (update_line("_vendor", k="\ud83d"), False),
        (update_line("_vendor", k=[]).replace(b"[]", b"[" * 1_100 + b"]" * 1_100), False),
        (b"5", False),
        (b"junk", False),
    ],
)
def test_the_short_way_takes_nothing_else(data: bytes, taken: bool) -> None:
    """Only a clean line with an unknown variant is taken; anything else goes the long way."""
    with nullcontext() if taken else pytest.raises(Refused):
        assert decode_unknown(data).session_id == "s1"
