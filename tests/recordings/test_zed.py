"""Entries of Zed's copied log become messages."""

from __future__ import annotations

import json
from typing import Any

import pytest
from recorded_formats import (
    read,
    said,
)


def zed(**members: Any) -> str:
    """Give one entry of Zed's copied log."""
    return json.dumps({"_direction": "incoming", **members})


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (zed(_type="response", id=1, params=None), {"id": 1, "result": None}),
        (zed(_type="response", id=1, params={"code": 1, "message": "m"}),
         {"id": 1, "error": {"code": 1, "message": "m"}}),
        (zed(_type="response", id=1, params={"code": 1}), {"id": 1, "result": {"code": 1}}),
        (zed(_type="notification", id=None, method="m", params=None), {"method": "m"}),
        (zed(_type="stderr", params="listening"), None),
        (zed(_type="request", method="m"), None),
        (zed(_type=5), None),
        ('{"_direction":"sideways","_type":"request","id":1,"method":"m"}', None),
        ("[]", None),
    ],
)  # fmt: skip  # a table
def test_entries_of_a_copied_log(entry: str, expected: dict[str, Any] | None) -> None:
    """Results and errors are told apart, null parameters left out, other entries passed over."""
    known = zed(_type="request", id=0, method="session/update")
    recording, frames = read(f"[{known},{entry}]".encode())
    assert recording.format == "zed"
    messages = [message for _, message in said(frames[1:])]
    assert messages == ([{"jsonrpc": "2.0", **expected}] if expected else [])
    assert recording.passed_over == (expected is None)
