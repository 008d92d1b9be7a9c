"""The lines that a store gives its client to write, and the check of what users put into them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from . import wire
from ._decode import decode_line, ignored
from ._errors import InvalidValueError, checked
from ._json import encode


class Outgoing(msgspec.Struct, frozen=True):
    """Bytes for the client to write, one line, and the id of the request that they hold."""

    data: bytes
    request_id: wire.RequestId


def prompt_request(
    request_id: wire.RequestId, session_id: str, blocks: Sequence[wire.ContentBlock]
) -> bytes:
    """Write a `session/prompt`."""
    params = {"sessionId": session_id, "prompt": [wire.to_builtins(block) for block in blocks]}
    return _line(id=request_id, method="session/prompt", params=params)


def cancel_notification(session_id: str) -> bytes:
    """Write a `session/cancel`."""
    return _line(method="session/cancel", params={"sessionId": session_id})


def permission_answer(request_id: wire.RequestId, option_id: str | None) -> bytes:
    """Write the answer to a permission request; `None` is `cancelled`."""
    outcome = {"outcome": "cancelled"}
    if option_id is not None:
        outcome = {"outcome": "selected", "optionId": option_id}
    return _line(id=request_id, result={"outcome": outcome})


def _line(**members: Any) -> bytes:
    return encode({"jsonrpc": "2.0", **members}) + b"\n"


def checked_content(content: Sequence[wire.ContentBlock]) -> tuple[wire.ContentBlock, ...]:
    """Return the content of a prompt. Raises `InvalidValueError` for what is none."""
    if isinstance(content, str | bytes):
        raise InvalidValueError("a prompt is a list of content blocks, not a string")
    blocks = tuple(checked(content, Iterable, "a list of content blocks"))
    if not blocks:
        raise InvalidValueError("a prompt needs at least one content block")
    for block in blocks:
        if not _is_content_block(block):
            raise InvalidValueError(f"{type(block).__name__} is not a content block")
    return blocks


def _is_content_block(block: Any) -> bool:
    """Tell whether a block that is sent is read as what it is, by an agent and from a file."""
    if not isinstance(block, msgspec.Struct | wire.Unknown):
        return False
    given: Any = block
    try:
        data = prompt_request(0, "", [given])
    except (TypeError, ValueError):  # it holds what JSON has no form for
        return False
    message: Any = decode_line(data, 0, ignored, sent=True)
    return message is not None and message.params.prompt == (given,)
