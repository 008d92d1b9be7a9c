"""JSON-RPC: the table of methods, and what an id is."""

from __future__ import annotations

from typing import Any

import pytest
from traffic import line

from acp_client import decode, wire
from acp_client._jsonrpc import params_class, request_id, result_class


@pytest.mark.parametrize(
    ("method", "sent", "is_request", "kind"),
    [
        ("session/update", False, False, wire.UpdateSessionNotification),
        ("session/update", False, True, None),
        ("session/update", True, False, None),
        ("session/prompt", True, True, wire.SentPromptRequest),
        ("session/prompt", False, True, None),
        ("session/prompt", True, False, None),
        ("$/cancel_request", True, False, wire.CancelRequestNotification),
        ("$/cancel_request", False, False, wire.CancelRequestNotification),
        ("_example.com/x", False, True, None),
    ],
)
def test_parameters_have_a_class_where_they_belong(
    method: str, sent: bool, is_request: bool, kind: Any
) -> None:
    """A call of the wrong side, or with a superfluous or missing id, is not of the protocol."""
    assert params_class(method, sent=sent, is_request=is_request) is kind


def test_results_have_a_class() -> None:
    """Results of other requests stay as they came."""
    assert result_class("session/list") is wire.ListSessionsResponse
    assert result_class("session/fork") is result_class("_example.com/x") is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1, 1),
        (0, 0),
        (-1, -1),
        (1.0, 1),
        ("1", "1"),
        ("", ""),
        (True, None),
        (False, None),
        (None, None),
        (1.5, None),
        (float("inf"), None),
        (10**400, None),
        ([], None),
        ({}, None),
    ],
)
def test_ids(value: Any, expected: Any) -> None:
    """An id is a string or an integer; `True` is not 1."""
    found = request_id(value)
    assert (found, type(found)) == (expected, type(expected))


@pytest.mark.parametrize("written", ["true", "1.5", "null", "[]"])
def test_cancel_request_names_an_id(written: str) -> None:
    """A `$/cancel_request` for what is not an id cancels nothing, and is a problem."""
    data = line(method="$/cancel_request", params={"requestId": 0}).replace(
        b"0}", b"%s}" % written.encode()
    )
    message, problems = decode(data)
    assert message is None
    assert [(one.kind, one.path) for one in problems] == [("rejected", "$.params.requestId")]
