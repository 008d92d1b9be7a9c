"""The second implementation held against the captured recordings and the corpus."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from corpus import OWN_READINGS, REQUESTS, alike_raw, cases
from traffic import SHARED

from .connection import Naive
from .json_text import read_json, text_of
from .messages import request_id
from .parse import Raw, Record, parse
from .recordings import read_recording
from .replay import replay
from .rules import ALL
from .stories import called, kinds

pytestmark = pytest.mark.shared
FOLDER = SHARED / "recordings" / "v2"
NAMES = [path.name.removesuffix(".snapshot.json") for path in sorted(FOLDER.glob("*.json"))]


@pytest.mark.parametrize("name", NAMES)
def test_recording_gives_its_snapshot(name: str) -> None:
    """A recording of both directions gives the document beside it, by the rules of its time."""
    expected = json.loads((FOLDER / f"{name}.snapshot.json").read_bytes())
    frames = read_recording(FOLDER / f"{name}.ndjson")
    document = replay(frames, rules=ALL - {"answers", "turns", "withdrawn"})
    assert document["sessions"] == expected["sessions"]
    assert kinds(document) == kinds(expected)


@pytest.mark.parametrize("name", NAMES)
def test_agent_output_alone_gives_the_same_entries(name: str) -> None:
    """What the agent wrote is recognised as the agent's, and tells the conversation alone."""
    expected = json.loads((FOLDER / f"{name}.snapshot.json").read_bytes())
    frames = list(read_recording(FOLDER / f"{name}.agent.ndjson"))
    assert not any(sent for sent, *_ in frames)
    for alone, whole in zip(replay(frames)["sessions"], expected["sessions"], strict=True):
        assert alone["entries"] == whole["entries"]
        assert alone["state"] == whole["state"]


@pytest.mark.parametrize("name", NAMES)
def test_direction_is_inferred(name: str, tmp_path: Path) -> None:
    """The messages of an enveloped recording, written raw, are given their directions again."""
    enveloped = list(read_recording(FOLDER / f"{name}.ndjson"))
    raw = tmp_path / "raw.ndjson"
    raw.write_bytes(b"".join(data + b"\n" for _, data, *_ in enveloped))
    inferred = [frame[:3] for frame in read_recording(raw)]
    assert inferred == [frame[:3] for frame in enveloped]


# Methods that change nothing here, so that what they carry is not looked at.
UNFOLLOWED = ("_example.com/", "fs/", "session/holo")
PARAMS = {
    "session/update": "UpdateSessionNotification",
    "session/request_permission": "RequestPermissionRequest",
    "$/cancel_request": "CancelRequestNotification",
    "elicitation/create": "CreateElicitationRequest",
    "elicitation/complete": "CompleteElicitationNotification",
}


def plain(value: Any) -> Any:
    """Turn what `parse` returns into the value of a verdict: the state's keys are the update's."""
    if isinstance(value, Raw):
        return value.value
    if not isinstance(value, Record):
        return [plain(item) for item in value] if isinstance(value, list) else value
    members = {key: plain(item) for key, item in value.items()}
    if members.get("sessionUpdate") == "state_update":
        members |= members["state"]
    return members


def value_of(data: bytes) -> Any:
    """Parse what a good message carries."""
    message = read_json(text_of(data), 1000)
    if "method" in message:
        value = plain(parse(PARAMS[message["method"]], message["params"], "$", []))
        if message["method"] == "elicitation/create":
            value |= parse("ElicitationSessionScope", message["params"], "$", [])
        return value
    return plain(parse(Naive.RESULTS[REQUESTS[request_id(message)]], message["result"], "$", []))


def is_peer_error(verdict: dict[str, Any]) -> bool:
    """Whether the message was a proper error of the agent."""
    return bool(verdict.get("error", {}).get("peer"))


@pytest.mark.parametrize(("data", "verdict"), cases())
def test_corpus_agrees_with_its_verdict(data: bytes, verdict: dict[str, Any]) -> None:
    """A message gives the value and the problems of its verdict, apart from listed differences."""
    store = Naive()
    for number, method in enumerate(REQUESTS):
        store.sent(called(method, number)[1])
    store.receive(data, 1)
    found = [problem["kind"] for problem in store.problems]
    followed = not verdict.get("method", "").startswith(UNFOLLOWED)
    if verdict["n"] in OWN_READINGS:
        assert found == OWN_READINGS[verdict["n"]][1]
    elif not followed or verdict["outcome"] == "ignored" or is_peer_error(verdict):
        assert found == []
    elif verdict["outcome"] == "delivered":
        assert alike_raw(value_of(data), verdict["value"])
        defaulted = len(verdict.get("defaulted", [])) + len(verdict.get("replaced", []))
        assert found.count("defaulted") == defaulted
        skipped = [item for place in verdict.get("skipped", []) for item in place["items"]]
        assert found.count("skipped") == len(skipped)
    else:
        assert found in (["rejected"], ["not_json"], ["invalid_message"])
