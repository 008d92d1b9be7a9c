"""Recorded connections, each delivered in several ways, all of which end in one document.

The recordings are those of `recordings/v2` among the shared files, where these are there, with the
documents that stand beside them, and the bundled ones, whose documents an independent
implementation of the design gives.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import naive
import pytest
from strategies import Frame
from traffic import BUNDLED, SHARED, deliver, deliveries, documents, replayed, snapshots, told

import acp_client
from acp_client import Snapshot, Store, _lenient, decode
from acp_client._recordings.reading import read_recording
from acp_client._typed import Refused, decode_update

FOLDER = SHARED / "recordings" / "v2"
RECORDINGS = [
    *[path for path in sorted(FOLDER.glob("*.ndjson")) if ".agent." not in path.name],
    *sorted(BUNDLED.glob("*.ndjson")),
]
AGENTS = sorted(FOLDER.glob("*.agent.ndjson"))
NAMED: Any = {"ids": lambda path: path.name.removesuffix(".ndjson")}


def frames_of(path: Path) -> list[Any]:
    """Read the frames of a recording."""
    with path.open("rb") as stream:
        return list(read_recording(stream))


SINCE = ("turns", "connectionLost", "elicitations")
"""What documents have that were not in them when those beside the recordings were written."""


def expected(path: Path) -> dict[str, Any]:
    """Give the document of a recording: the one beside it, or that of the second opinion."""
    beside = path.with_suffix(".snapshot.json")
    document: dict[str, Any] = naive.replay(naive.read_recording(path), rules=naive.LANDED)
    if not beside.is_file():
        return document
    written: dict[str, Any] = json.loads(beside.read_bytes())
    for session, known in zip(written["sessions"], document["sessions"], strict=True):
        session |= {key: known[key] for key in SINCE if key in known}
        for prompt in session["prompts"]:
            if prompt.get("error", {}).get("code") == -32800:
                prompt["status"] = "withdrawn"
    return written


# --- The deliveries ---


def by_line(frames: list[Frame]) -> Store:
    """Deliver each line alone."""
    return replayed(frames)


def by_byte(frames: list[Frame]) -> Store:
    """Deliver each byte of the agent alone."""
    pieces = [bytes((byte,)) for frame in frames if not frame.sent for byte in frame.data + b"\n"]
    return deliver(Store(), deliveries(frames, pieces))


def at_once(frames: list[Frame]) -> Store:
    """Deliver all lines between two of the client together."""
    return deliver(Store(), deliveries(frames, []))


def in_batches(frames: list[Frame]) -> Store:
    """Deliver seven lines together, as far as the client is silent."""
    lines = [frame.data + b"\n" for frame in frames if not frame.sent]
    batches = [b"".join(lines[start : start + 7]) for start in range(0, len(lines), 7)]
    return deliver(Store(), deliveries(frames, batches))


def cut_anywhere(frames: list[Frame]) -> Store:
    """Deliver pieces of random lengths."""
    lengths = random.Random(len(frames))
    stream = b"".join(frame.data + b"\n" for frame in frames if not frame.sent)
    pieces = []
    while stream:
        length = lengths.randrange(1, 400)
        pieces.append(stream[:length])
        stream = stream[length:]
    return deliver(Store(), deliveries(frames, pieces))


DELIVERIES = (by_line, by_byte, at_once, in_batches, cut_anywhere)


@pytest.mark.parametrize("delivery", DELIVERIES)
@pytest.mark.parametrize("path", RECORDINGS, **NAMED)
def test_recording_gives_its_document(path: Path, delivery: Callable[[Any], Store]) -> None:
    """However its bytes arrive, a recording gives its document and its kinds of problems."""
    document = expected(path)
    store = delivery(frames_of(path))
    assert documents(store) == document["sessions"]
    assert [p.kind for p in store.problems] == [p["kind"] for p in document["problems"]]


@pytest.mark.parametrize("path", RECORDINGS, **NAMED)
def test_problems_name_their_lines(path: Path) -> None:
    """A problem has the number of the line of the recording that it is in."""
    problems = replayed(frames_of(path)).problems
    told_beside = [(p["line"], p["kind"]) for p in expected(path)["problems"]]
    assert [(problem.line, problem.kind) for problem in problems] == told_beside


# --- The same without a store ---


def folded(frames: Iterable[Any], between: Callable[[Snapshot], Snapshot]) -> dict[str, Snapshot]:
    """Apply what frames tell one by one, with something done to the snapshot before each."""
    found: dict[str, Snapshot] = {}
    for session_id, event in told(frames):
        before = between(found.get(session_id) or Snapshot(session_id))
        found[session_id] = acp_client.apply(before, event)
    return found


def stored_and_restored(snapshot: Snapshot) -> Snapshot:
    """Give what comes back from storage."""
    return acp_client.loads(acp_client.dumps(snapshot))


@pytest.mark.parametrize("path", RECORDINGS, **NAMED)
def test_events_one_by_one_give_the_same(path: Path) -> None:
    """The fold of `apply` over the events of a recording gives the snapshots of a store."""
    frames = frames_of(path)
    assert list(folded(frames, lambda snapshot: snapshot).values()) == snapshots(at_once(frames))


@pytest.mark.parametrize("path", RECORDINGS, **NAMED)
def test_dumps_and_loads_between_events_change_nothing(path: Path) -> None:
    """A snapshot that is stored and restored on the way ends as one that never was."""
    frames = frames_of(path)
    count = 0

    def at_times(snapshot: Snapshot) -> Snapshot:
        nonlocal count
        count += 1
        return snapshot if count % 11 else stored_and_restored(snapshot)

    found = folded(frames, at_times)
    assert list(found.values()) == snapshots(at_once(frames))
    for snapshot in found.values():
        assert stored_and_restored(snapshot) == snapshot


@pytest.mark.shared
@pytest.mark.parametrize("path", AGENTS, **NAMED)
def test_the_agent_alone_tells_the_conversation(path: Path) -> None:
    """What an agent wrote gives the entries that both directions give, and no prompt."""
    whole = path.with_name(path.name.replace(".agent.", "."))
    store = Store()
    store.receive(path.read_bytes())
    store.end()
    for shown, session in zip(documents(store), expected(whole)["sessions"], strict=True):
        statuses = [entry.pop("status", None) for entry in shown["entries"]]
        reported = [entry.pop("status", None) for entry in session["entries"]]
        marks = [entry.pop("reportedStatus", None) for entry in session["entries"]]
        pairs = zip(marks, reported, strict=True)
        assert statuses == [mark or status for mark, status in pairs]
        assert shown["entries"] == session["entries"]
        assert shown["state"] == session["state"]
        assert shown["prompts"] == []


# --- The path that messages take ---

UNKNOWN_VARIANTS = {
    b'"_example.com/markdown"': "a plan of an unknown type",
    b'"_example.com/picker"': "a command with an unknown input, beside an unknown command",
    b'"_example.com/slider"': "a config option of an unknown type",
    b'"_example.com/timing"': "an unknown update",
}
"""What well-formed messages hold that the typed decoder has no classes for, and what it is."""

WELL_FORMED = [path for path in RECORDINGS if path.name != "malformed.ndjson"]


def well_formed_frames(path: Path) -> list[Any]:
    """Give the frames of a recording that are no problem."""
    malformed = {
        problem["line"] for problem in naive.replay(naive.read_recording(path))["problems"]
    }
    return [frame for frame in frames_of(path) if frame.line not in malformed]


def is_listed(frame: Any) -> bool:
    """Tell whether a frame holds an unknown variant of the list."""
    return any(variant in frame.data for variant in UNKNOWN_VARIANTS)


@pytest.mark.parametrize("path", [*WELL_FORMED, *AGENTS], **NAMED)
def test_well_formed_messages_take_the_typed_path(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No well-formed message needs the lenient path, but for those that are listed."""
    frames = [frame for frame in well_formed_frames(path) if not is_listed(frame)]

    def refuse(value: Any, kind: Any) -> Any:
        raise AssertionError(f"{kind.__name__} was decoded leniently: {value}")

    monkeypatch.setattr(_lenient, "structure", refuse)
    assert replayed(frames).problems == ()
    for frame in frames:
        if not frame.sent and b'"session/update"' in frame.data:
            decode_update(frame.data)


@pytest.mark.parametrize("path", [*WELL_FORMED, *AGENTS], **NAMED)
def test_listed_messages_take_the_lenient_path(path: Path) -> None:
    """A message that is listed as an exception is one, and is no problem."""
    for frame in filter(is_listed, well_formed_frames(path)):
        with pytest.raises(Refused):
            decode_update(frame.data)
        assert decode(frame.data)[1] == ()
