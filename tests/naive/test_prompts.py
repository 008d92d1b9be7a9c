"""A prompt from sending to echo, as the second implementation has it."""

from __future__ import annotations

from typing import Any

import pytest

from .connection import Naive
from .stories import ECHO, PROMPT, RESUME, Frames, answered, only, refused, said

ACCEPTED = answered(1, result={"messageId": "m"})


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        ([], ("pending", False)),
        ([ACCEPTED], ("accepted", False)),
        ([ACCEPTED, ECHO], ("accepted", True)),
        ([ECHO, ACCEPTED], ("accepted", True)),
        ([ECHO, answered(1.0, result={"messageId": "m"})], ("accepted", True)),
        ([ECHO, answered("1", result={"messageId": "m"})], ("pending", False)),
        ([ACCEPTED, ECHO, RESUME], ("accepted", True)),
        ([answered(1, result={"messageId": 5})], ("uncertain", False)),
        ([answered(1, result={"messageId": "m"}, error=None), ECHO], ("uncertain", False)),
        ([answered(1, error="boom")], ("uncertain", False)),
        ([answered(1)], ("uncertain", False)),
        ([refused(1)], ("rejected", False)),
        ([refused(1, -32800)], ("withdrawn", False)),
    ],
)
def test_prompt(frames: Frames, expected: tuple[str, bool]) -> None:
    """A prompt is what its answer and its echo make of it, in either order."""
    (prompt,) = only([PROMPT, *frames])["prompts"]
    assert (prompt["status"], prompt["echoed"]) == expected
    assert ("content" in prompt) is not prompt["echoed"]
    assert ("error" in prompt) is (prompt["status"] in ("rejected", "withdrawn"))


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        ([ACCEPTED, RESUME, ECHO], (True, True)),
        ([ACCEPTED, RESUME, ECHO, answered(2, result={})], (True, False)),
        ([ACCEPTED, RESUME, ECHO, refused(2)], (False, True)),
        ([ACCEPTED, ECHO, RESUME, refused(2)], (True, False)),
        ([RESUME, ACCEPTED, refused(2), ECHO], (True, False)),
    ],
)
def test_content_stays_until_the_echo_does(frames: Frames, expected: tuple[bool, bool]) -> None:
    """An echo that a replay brought counts for good once the replay has ended with a result."""
    (prompt,) = only([PROMPT, *frames])["prompts"]
    assert (prompt["echoed"], "content" in prompt) == expected


@pytest.mark.parametrize("error", [None, {"code": -1, "message": "gone"}])
def test_lost_connection(error: Any) -> None:
    """A lost connection makes pending prompts uncertain, for the reason that is known."""
    store = Naive()
    store.sent(PROMPT[1])
    store.disconnect(error)
    (session,) = store.document()["sessions"]
    (prompt,) = session["prompts"]
    assert (prompt["status"], prompt.get("error")) == ("uncertain", error)
    assert session["connectionLost"] == ({} if error is None else {"error": error})
    store.receive(said("notice", severity="info", title="back")[1])
    assert "connectionLost" not in store.document()["sessions"][0]
