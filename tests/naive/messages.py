"""The shapes of JSON-RPC 2.0."""

from __future__ import annotations

from typing import Any

from .parse import Json, MalformedError, parse, parse_scalar


def listed(value: Json) -> bool:
    """Whether the value is a list."""
    return isinstance(value, list)


def check_shape(message: Json, path: str) -> None:
    """Raise unless this is a request, a notification or an answer of JSON-RPC 2.0."""
    if not isinstance(message, dict):
        raise MalformedError(path, "is not object")
    if message.get("jsonrpc") != "2.0":
        raise MalformedError(f"{path}.jsonrpc", "is not 2.0")
    is_error_without_id = message.get("id", 0) is None and "error" in message
    if "id" in message and (not is_error_without_id or "method" in message):
        parse_scalar("request id", message["id"], f"{path}.id")
    if "method" in message:
        parse_scalar("string", message["method"], f"{path}.method")
        return
    if "id" not in message:
        raise MalformedError(f"{path}.id", "is missing")
    if ("result" in message) == ("error" in message):
        raise MalformedError(path, "has not one of result and error")
    if "error" in message:
        parse("Error", message["error"], f"{path}.error", [])


def is_answer(message: Json) -> bool:
    """Whether a message, perhaps of a bad shape, answers a request."""
    return isinstance(message, dict) and "method" not in message and request_id(message) is not None


def request_id(message: dict[str, Json]) -> Any:
    """Return the id of a message if it is one: `1.0` is 1, `"1"` is not."""
    try:
        return parse_scalar("request id", message.get("id"), "$.id")
    except MalformedError:
        return None
