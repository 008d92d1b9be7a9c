"""The shortest log with the same state: law 13 over generated sessions and recordings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import strategies
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from log_traffic import RECORDINGS, documents, frames_of, read, reduced, sent
from traffic import BUNDLED, chunk_line, line, permission_line, update_line
from v1_traffic import call, chunk, ended, patch, prompt

import acp_client
from acp_client import Frame, compact
from acp_client._cli.commands import commands
from acp_client._log_tools import compacting
from acp_client._log_tools.compact_v1 import CompactedV1
from acp_client._log_tools.compact_v2 import CompactedV2


def rewritten(frames: Sequence[Frame], protocol: str, kept: int = 0) -> list[Frame]:
    """Rewrite frames without the check that would return the original."""
    kind = CompactedV1 if protocol == "v1" else CompactedV2
    first_kept = kind({}).taken(frames).last_turns(kept) if kept else {}
    return list(kind(first_kept).taken(frames).frames())


@given(
    st.booleans().flatmap(
        lambda well: strategies.sessions(well_formed=well, max_frames=40, hostile_client=not well)
    ),
    st.integers(0, 2),
)
def test_a_compacted_log_gives_the_same_documents(frames: list[Any], kept: int) -> None:
    """Law 13: the rewriting alone, without its check, keeps the documents of any session."""
    given_frames = frames_of(*frames)
    short = rewritten(given_frames, "v2", kept)
    assert documents(short, "v2") == documents(given_frames, "v2")


@pytest.mark.parametrize("kept", [0, 1])
@pytest.mark.parametrize("path", RECORDINGS)
def test_recordings_keep_their_documents(path: Path, kept: int) -> None:
    """Every recording has the same documents after it was compacted, and is never longer."""
    frames = read(path)
    short = rewritten(frames, reduced(frames).protocol, kept)
    assert documents(short) == documents(frames)
    assert list(map(_shown, compact(frames, keep_turns=kept))) == list(map(_shown, short))
    assert len(short) <= len(frames)


def _shown(frame: Frame) -> tuple[bool, bytes]:
    return frame.sent, frame.data


def test_a_streamed_message_becomes_one_update() -> None:
    """Chunks of one message are one message with all of its blocks."""
    short = list(compact(frames_of(*(chunk_line(text) for text in "abc"))))
    assert len(short) == 1
    assert short[0].data.count(b'"type":"text"') == 3
    assert b'"agent_message"' in short[0].data


def test_turns_keep_two_lines_each() -> None:
    """What a turn reported in between is gone; that it began and ended stays."""
    states = [("running", {}), ("requires_action", {}), ("running", {}), ("idle", {"x": 1})]
    lines = [update_line("state_update", state=state) for state, _ in states * 3]
    assert len(list(compact(frames_of(*lines)))) == 6


def test_kept_turns_stay_as_they_were() -> None:
    """`keep_turns` leaves the last turns alone."""

    def turn(number: int) -> list[bytes]:
        inside = [chunk_line(text, f"m{number}") for text in "abc"]
        return [
            update_line("state_update", state="running"),
            *inside,
            update_line("state_update", state="idle"),
        ]

    frames = frames_of(*turn(1), *turn(2), *turn(3))
    short = list(compact(frames, keep_turns=1))
    assert [frame.data for frame in short[-5:]] == [frame.data for frame in frames[-5:]]
    assert len(short) == 3 + 3 + 5
    with pytest.raises(acp_client.InvalidValueError):
        compact(frames, keep_turns=-1)


def test_an_answered_permission_leaves_its_tool_call() -> None:
    """Request and answer go; the tool call that the request reported is one line."""
    subject = {"type": "tool_call", "toolCall": {"toolCallId": "t", "title": "Edit"}}
    frames = frames_of(
        update_line("tool_call_update", toolCallId="t", status="pending"),
        permission_line(1, subject=subject),
        update_line("tool_call_update", toolCallId="t", status="in_progress"),
        sent(line(id=1, result={"outcome": {"outcome": "selected", "optionId": "yes"}})),
        update_line("tool_call_update", toolCallId="t", status="completed"),
    )
    short = list(compact(frames))
    assert len(short) == 1
    assert documents(short) == documents(frames)


def test_v1_updates_are_merged_within_a_turn() -> None:
    """Chunks and updates of a tool call become one message each, and stay messages of v1."""
    frames = frames_of(
        prompt(1, {"type": "text", "text": "hi"}),
        *(chunk(text) for text in "abc"),
        call("c"),
        *(patch("c", content=[], rawOutput=number) for number in range(4)),
        ended(1),
    )
    short = list(compact(frames, protocol="v1"))
    assert len(short) == 4
    assert documents(short, "v1") == documents(frames, "v1")


def test_the_original_is_returned_where_rewriting_would_change_something(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The law does not rest on the rewriting: it is checked."""
    frames = frames_of(chunk_line("a"), chunk_line("b"))
    monkeypatch.setattr(CompactedV2, "frames", lambda self: iter(()))
    assert list(map(_shown, compact(frames))) == list(map(_shown, frames))


def test_a_long_recording_is_spooled_to_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """What does not fit into memory goes through a file."""
    monkeypatch.setattr(compacting, "IN_MEMORY", 100)
    frames = frames_of(*(chunk_line(str(number)) for number in range(50)))
    assert documents(list(compact(frames))) == documents(frames)


def test_nothing_becomes_nothing() -> None:
    """An empty recording is compacted to an empty one."""
    assert list(compact([])) == []


def test_the_command_writes_an_enveloped_recording(tmp_path: Path) -> None:
    """`acp-client compact` reads any format and writes what `replay` reads."""
    short = tmp_path / "short.ndjson.gz"
    path = BUNDLED / "coding-session.ndjson"
    result = CliRunner().invoke(commands, ["compact", str(path), "-o", str(short)])
    assert result.exit_code == 0, result.output
    assert "361 messages became" in result.stderr

    def replayed(file: Path) -> Any:
        return CliRunner().invoke(commands, ["replay", str(file), "--json"]).stdout

    assert replayed(short).partition('"problems"')[0] == replayed(path).partition('"problems"')[0]


def test_help_has_examples() -> None:
    """The help says how the command is used."""
    result = CliRunner().invoke(commands, ["compact", "--help"])
    assert "Examples:" in result.stdout
