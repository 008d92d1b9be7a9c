"""The typed path of ACP v1 beside the path of parsed JSON: the same snapshots, in less work."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from v1_traffic import (
    HISTORY,
    LIVE,
    LOAD,
    OLD_DIFF,
    SESSION,
    Frame,
    agent,
    call,
    chunk,
    conversation,
    echo,
    ended,
    patch,
    permission,
    play,
    prompt,
    said,
    text,
    thought,
)

from acp_client import Store
from acp_client._v1 import words
from acp_client._v1.updates import update_decoder


def output(data: str, call_id: str = "c", terminal: str | None = "t", **fields: Any) -> Frame:
    """Write output in the `_meta` of a tool call."""
    named = {} if terminal is None else {"terminal_id": terminal}
    return patch(call_id, _meta={"terminal_output": {**named, "data": data}}, **fields)


PARENT = {"_meta": {"claudeCode": {"parentToolUseId": "p"}}}
PIECES: list[Frame] = [
    chunk("a"),
    chunk("b"),
    chunk("c"),
    chunk(""),
    chunk('quoted " \\ \n ü \u2028'),
    chunk("x", messageId="m"),
    chunk("y", messageId="m"),
    chunk("z", messageId="n"),
    chunk("w", messageId=None, _meta=None),
    chunk("s", **PARENT),
    chunk("k", _meta={"k": 1}),
    thought("t"),
    thought("u"),
    thought("v", messageId="m"),
    echo("q"),
    said("agent_message_chunk", content={"type": "text", "text": "n", "annotations": None}),
    said("agent_message_chunk", content={"type": "image", "data": "aGk=", "mimeType": "i/p"}),
    said("agent_message_chunk", content=[text("list")]),
    call(status="in_progress", rawInput={"k": 1}),
    call("d", title="D", kind="edit", content=[OLD_DIFF, {"type": "terminal", "terminalId": "t"}]),
    call(title="", rawInput={}, content=[]),
    patch(status="completed", rawOutput=None, title=None),
    patch("d", content=[{"type": "content", "content": text("out")}], locations=[{"path": "/a"}]),
    patch(locations=[{"path": "/a", "line": 0}]),
    patch("e", **PARENT),
    output("one\n"),
    output("two\n"),
    output("three \u00fc"),
    output("of d", "d", "d"),
    output("more of d", "d", "d"),
    output("not named", "d", None),
    output("and a status", status="failed"),
    patch(_meta={"terminal_info": {"terminal_id": "t", "cwd": "/w"}}),
    patch(_meta={"terminal_exit": {"terminal_id": "t", "exit_code": 1}}),
    said("plan", entries=[{"content": "x", "priority": "low", "status": "pending"}]),
    said("plan", entries=[{"content": "x"}]),
    said("usage_update", used=1, size=2),
    said("usage_update", used=2, size=None, cost={"amount": 1, "currency": "EUR"}),
    said("usage_update", used=3, size=4, cost=None),
    said("current_mode_update", currentModeId="m"),
    said("session_info_update", title="t"),
    said("_vendor", k=1),
    permission(5, {"toolCallId": "c", "title": "May I?"}),
    prompt(1, "q"),
    prompt(2, "r"),
    ended(1),
    ended(2),
    LOAD,
    HISTORY[0],
    agent(id=2, result=None),
]


def parsed(frame: Frame) -> Frame:
    """Write a message in a batch array, which the typed decoder does not take."""
    sent, data = frame
    return sent, b"[" + data.rstrip() + b"]\n"


def joined_reads(frames: list[Frame], size: int) -> Store:
    """Feed frames so that what one side wrote comes in one read."""
    return play(frames, "v1", size=size)


@given(st.lists(st.sampled_from(PIECES), max_size=25))
def test_both_paths_agree(frames: list[Frame]) -> None:
    """A line that is read strictly and one that is read as parsed JSON mean the same."""
    typed, as_json = joined_reads(frames, 1 << 20), play([parsed(frame) for frame in frames])
    assert typed.sessions == as_json.sessions
    for session_id in typed.sessions:
        assert typed.snapshot(session_id) == as_json.snapshot(session_id)
    assert [one.kind for one in typed.problems] == [one.kind for one in as_json.problems]


@given(st.lists(st.sampled_from(PIECES), max_size=25))
def test_reads_do_not_matter(frames: list[Frame]) -> None:
    """Lines that come one by one give what they give in one read."""
    together, alone = joined_reads(frames, 1 << 20), play(frames)
    assert [together.snapshot(name) for name in together.sessions] == [
        alone.snapshot(name) for name in alone.sessions
    ]


RUNS: dict[str, tuple[list[Frame], int]] = {
    "chunks without an id": ([chunk(f"{n} ") for n in range(100)], 2),
    "chunks with an id": ([chunk(f"{n} ", messageId="m") for n in range(100)], 2),
    "chunks of many messages": (
        [chunk(f"{n} ", messageId=f"m{n // 10}") for n in range(100)],
        20,
    ),
    "thoughts and messages": (
        [thought(f"{n} ") if n % 20 < 10 else chunk(f"{n} ") for n in range(100)],
        2 * 2 + 8,
    ),
    "output of one terminal": ([call(), *(output(f"{n}\n") for n in range(100))], 3),
    "output of many terminals": (
        [
            frame
            for n in range(10)
            for frame in (call(f"c{n}"), *(output(f"{k}\n", f"c{n}", f"t{n}") for k in range(10)))
        ],
        10 * 2 + 1,
    ),
}


@pytest.mark.parametrize("case", RUNS)
def test_runs_are_decoded_by_their_envelope(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Most lines of a run are not decoded as a whole."""
    frames, most = RUNS[case]
    decode, decoded = update_decoder(), list[bytes]()

    def counted(line: bytes) -> Any:
        decoded.append(line)
        return decode(line)

    monkeypatch.setattr(words, "update_decoder", lambda: counted)
    store = joined_reads(frames, 1 << 20)
    assert len(decoded) <= most
    assert store.snapshot(SESSION) == play([parsed(frame) for frame in frames]).snapshot(SESSION)


def test_a_run_ends_where_its_message_does() -> None:
    """A line like those of the last run is a new message after another entry."""
    frames = [chunk("a"), chunk("b"), chunk("c"), call(), chunk("d"), chunk("e"), thought("t")]
    snapshot = joined_reads([*frames, chunk("f")], 1 << 20).snapshot(SESSION)
    assert conversation(snapshot) == [
        ("agent_message", "abc"),
        ("tool_call", "Do"),
        ("agent_message", "de"),
        ("agent_thought", "t"),
        ("agent_message", "f"),
    ]


def test_a_turn_in_one_read() -> None:
    """The messages of a whole turn are those that come line by line."""
    assert joined_reads(LIVE, 1 << 20).snapshot(SESSION) == play(LIVE).snapshot(SESSION)
