"""Lines and values as the second implementation reads them."""

from __future__ import annotations

from typing import Any

import pytest

from .parse import is_base64, is_time
from .replay import replay
from .stories import ECHO, kinds, line, only, said

NESTED = b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{'
NESTED += b'"sessionUpdate":"_x","deep":%b}}}'


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"\xef\xbb\xbf \r", []),
        (b"{", ["not_json"]),
        (b"NaN", ["not_json"]),
        (b"[]", []),
        (b"true", ["invalid_message"]),
        (b"[true,[]]", ["invalid_message", "invalid_message"]),
        (line(method=5), ["invalid_message"]),
        (line(id=1.5, method="x"), ["invalid_message"]),
        (line(id=None, method="x"), ["invalid_message"]),
        (line(id=1, method="x"), []),
        (line(id=99, result={}), []),
        (line(id=99, result={}, error=None), ["invalid_message"]),
        (line(id=99), ["invalid_message"]),
        (line(method="session/update", params=[]), ["rejected"]),
        (line(id=1, method="session/update", params=[]), []),
        (line(method="session/request_permission", params=[]), []),
        (b'{"jsonrpc":"2.0","id":1e400,"method":"x"}', ["invalid_message"]),
        (b'{"jsonrpc":"2.0","id":%b,"method":"x"}' % (b"9" * 300), []),
        (b'{"jsonrpc":"2.0","id":%b,"method":"x"}' % (b"9" * 5000), ["invalid_message"]),
        (NESTED % (b"[" * 253 + b"]" * 253), []),
        (NESTED % (b"[[]," + b"[" * 252 + b"]" * 253), []),
        (NESTED % (b"[" * 254 + b"]" * 254), ["too_deep"]),
        (b"[" * 100_000, ["too_deep"]),
        (b"x" + b"[" * 100_000, ["not_json"]),
    ],
)
def test_problem_of_a_line(data: bytes, expected: list[str]) -> None:
    """A line that is no message, or a bad one, is one problem of its kind."""
    assert kinds(replay([(False, data)])) == [(1, kind) for kind in expected]


def test_long_line_is_skipped() -> None:
    """A line over the limit is a problem, one of just that length is not."""
    document = replay([(False, ECHO[1]), (False, ECHO[1] + b" ")], len(ECHO[1]))
    assert len(document["sessions"]) == 1
    assert kinds(document) == [(2, "too_long")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", True),
        ("aGk=", True),
        ("aGk", True),
        ("aA==", True),
        ("aA", True),
        ("a", False),
        ("aGk==", False),
        ("====", False),
        ("aG k", False),
        ("aGk\n", False),
        ("-_8=", False),
    ],
)
def test_base64(text: str, expected: bool) -> None:
    """Base64 is of the standard alphabet, without blanks, and may lack its padding."""
    assert is_base64(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-01T09:00:00Z", True),
        ("2026-03-01T09:00:00.5Z", True),
        ("2026-03-01t09:00:00z", False),
        ("2026-03-01T23:59:60Z", False),
        ("2026-03-01T09:00:00+01:30", True),
        ("2024-02-29T09:00:00Z", True),
        ("2026-02-29T09:00:00Z", False),
        ("2026-03-01T24:00:00Z", False),
        ("2026-03-01T09:00:00", False),
        ("2026-03-01T09:00:00.Z", False),
        ("2026-03-01T09:00:00+0130", False),
        ("2026-03-01T09:00:00Z\n", False),
        ("2026-03-01", False),
    ],
)
def test_time(text: str, expected: bool) -> None:
    """A time is one of RFC 3339, on a day that exists."""
    assert is_time(text) is expected


def test_chunk_metadata_goes_with_its_content() -> None:
    """The metadata of a chunk stands beside its block until the content is replaced."""
    text = {"type": "text", "text": "x"}
    frames = [
        said("agent_message_chunk", messageId="m", content=text, _meta={}),
        said("agent_message_chunk", messageId="m", content=text, _meta={"k": None}),
        said("agent_message", messageId="m", content=5),
    ]
    assert only(frames)["entries"][0]["chunkMeta"] == {"1": {"k": None}}
    assert (
        "chunkMeta"
        not in only([*frames, said("agent_message", messageId="m", content=None)])["entries"][0]
    )


@pytest.mark.parametrize(
    ("plans", "expected"),
    [
        ([], ["a", "b"]),
        ([said("plan_removed", planId="a")], ["b"]),
        ([said("plan_removed", planId="c")], ["a", "b"]),
        (
            [
                said("plan_removed", planId="a"),
                said("plan_update", plan={"type": "markdown", "planId": "a", "content": "#"}),
            ],
            ["b", "a"],
        ),
        (
            [said("plan_update", plan={"type": "file", "planId": "a", "uri": "u:", "extra": 1})],
            ["a", "b"],
        ),
    ],
)
def test_plans(plans: list[Any], expected: list[str]) -> None:
    """A plan keeps its place until it is removed, whatever kind it is of."""
    before = [
        said("plan_update", plan={"type": "items", "planId": name, "entries": []}) for name in "ab"
    ]
    found = only([*before, *plans])["plans"]
    assert [plan["planId"] for plan in found] == expected
    assert all("extra" not in plan for plan in found)
