"""The lines that a store queues for its client to write, and the checks of what they hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import msgspec

from . import wire
from ._client_state import Elicitation
from ._decode import decode_line, ignored
from ._errors import InvalidValueError, checked
from ._forms import check_form
from ._json import encode


class Outgoing(msgspec.Struct, frozen=True):
    """The bytes that a call of a `Store` queued.

    `data` is for inspection only: the client writes what `Store.data_to_send` returns, which
    includes these bytes in their place.
    """

    data: bytes


class OutgoingRequest(Outgoing, frozen=True):
    """The bytes that a call of a `Store` queued for a request, and the id of the request."""

    request_id: wire.RequestId


def request_line(request_id: wire.RequestId, method: str, params: Mapping[str, Any]) -> bytes:
    """Write a request. Raises `InvalidValueError` for values that JSON cannot represent."""
    return _line(id=request_id, method=method, params=params)


def notification_line(method: str, params: Mapping[str, Any]) -> bytes:
    """Write a notification. Raises `InvalidValueError` like `request_line`."""
    return _line(method=method, params=params)


def result_line(request_id: wire.RequestId, result: Any) -> bytes:
    """Write the result of an agent's request. Raises `InvalidValueError` like `request_line`."""
    return _line(id=request_id, result=result)


def error_line(request_id: wire.RequestId, error: wire.Error) -> bytes:
    """Write an error as the answer to a request of the agent."""
    return _line(id=request_id, error=wire.to_builtins(error))


def permission_outcome(option_id: str | None) -> dict[str, Any]:
    """Return the result of a permission request; `None` is `cancelled`."""
    if option_id is None:
        return {"outcome": {"outcome": "cancelled"}}
    return {"outcome": {"outcome": "selected", "optionId": option_id}}


ElicitationAction: TypeAlias = Literal["accept", "decline", "cancel"]


def elicitation_result(
    asked: Elicitation, action: ElicitationAction, content: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return the result of an elicitation. Raises `InvalidValueError` for an invalid answer."""
    if action not in ("accept", "decline", "cancel"):
        raise InvalidValueError(f"{action!r} is not an answer to an elicitation")
    checked(content, Mapping | None, "the values of a form")
    if content is not None and (action != "accept" or asked.mode == "url"):
        raise InvalidValueError("only an accepted form has values")
    schema = asked.schema
    if action == "accept" and schema is not None:
        check_form(schema, content or {})
    return {"action": action} if content is None else {"action": action, "content": dict(content)}


def _line(**members: Any) -> bytes:
    try:
        return encode({"jsonrpc": "2.0", **members}) + b"\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidValueError(f"JSON cannot represent the value: {error}") from None


def plain(value: Any) -> Any:
    """Return parameters with the wire objects in them as dicts and lists."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [plain(item) for item in value]
    return wire.to_builtins(value) if isinstance(value, msgspec.Struct) else value


def checked_content(content: Sequence[wire.ContentBlock]) -> tuple[wire.ContentBlock, ...]:
    """Return the content of a prompt. Raises `InvalidValueError` for anything else."""
    if isinstance(content, str | bytes):
        raise InvalidValueError("a prompt is a list of content blocks, not a string")
    blocks = tuple(checked(content, Iterable, "a list of content blocks"))
    if not blocks:
        raise InvalidValueError("a prompt needs at least one content block")
    for block in blocks:
        if not _is_content_block(block):
            raise InvalidValueError(
                f"{type(block).__name__} is not a content block as `acp_client.wire` has them;"
                " binary data is base64 text"
            )
    return blocks


def prompt_params(session_id: str, blocks: Sequence[wire.ContentBlock]) -> dict[str, Any]:
    """Return the parameters of a `session/prompt`."""
    return {"sessionId": session_id, "prompt": [wire.to_builtins(block) for block in blocks]}


def _is_content_block(block: Any) -> bool:
    """Return whether a block survives being written and read again."""
    if not isinstance(block, msgspec.Struct | wire.Unknown):
        return False
    given: Any = block
    try:
        data = request_line(0, "session/prompt", prompt_params("", [given]))
    except (InvalidValueError, TypeError, ValueError):  # JSON cannot represent it
        return False
    message: Any = decode_line(data, 0, ignored, sent=True)
    return message is not None and message.params.prompt == (given,)
