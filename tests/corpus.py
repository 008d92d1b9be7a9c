"""The shared corpus of single messages: what they answer, their verdicts, and where we differ."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest
from traffic import SHARED

CORPUS = SHARED / "corpus"
REQUESTS = (
    "initialize",
    "session/prompt",
    "session/new",
    "session/resume",
    "session/set_config_option",
    "session/list",
    "session/close",
    "session/delete",
    "auth/login",
    "auth/logout",
    "tool_call/cancel",
    "terminal/cancel",
)
"""What the client has asked, by the id of the request."""

FORM: Final = "URIs and paths are kept without a check of their form"
NESTED: Final = "unknown variants inside known ones stay exactly as they came"
BATCH: Final = "batches are taken apart"
OWN_READINGS: dict[int, tuple[str, list[str]]] = {
    235: (NESTED, ["skipped", "skipped", "defaulted", "skipped", "skipped"]),
    272: (NESTED, []),
    241: (FORM, ["defaulted", "defaulted", "skipped", "defaulted", "skipped", "defaulted"]),
    388: (FORM, []),
    394: (FORM, []),
    397: (FORM, []),
    385: ("base64 of a terminal is checked", ["defaulted"]),
    428: ("`__proto__` is a key like any other, not a limit of JavaScript", []),
    438: ("nesting beyond 256 levels is too deep", ["too_deep"]),
    457: ("a session/update with an id does nothing", []),
    459: (BATCH, []),
    460: (BATCH, []),
    475: ("the SDK has no handler for $/cancel_request, we follow it", ["rejected"]),
    573: ("the schema of a form stays as it came", ["defaulted"]),
}
"""By the number of the message: why it is read otherwise, and the kinds of problems then."""


def cases() -> list[Any]:
    """Pair the messages with their verdicts."""
    if not CORPUS.is_dir():
        return []
    lines = (CORPUS / "messages.ndjson").read_bytes().split(b"\n")
    verdicts = map(json.loads, (CORPUS / "verdicts.ndjson").read_bytes().splitlines())
    return [
        pytest.param(data, verdict, id=f"{verdict['n']} {verdict['label']}")
        for data, verdict in zip(lines, verdicts, strict=False)
    ]


def alike_raw(one: Any, other: Any) -> bool:
    """Compare raw JSON values."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike_raw(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike_raw, one, other))
    if (
        isinstance(one, int | float)
        and isinstance(other, int | float)
        and bool not in (type(one), type(other))
    ):
        return float(one) == float(other)
    return type(one) is type(other) and bool(one == other)
