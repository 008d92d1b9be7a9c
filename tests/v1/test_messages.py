"""Which message a chunk of ACP v1 belongs to."""

from __future__ import annotations

from typing import Any

import pytest
from v1_traffic import (
    SESSION,
    Frame,
    agent,
    call,
    chunk,
    conversation,
    document,
    echo,
    ended,
    patch,
    permission,
    play,
    prompt,
    said,
    text,
    thought,
    told,
)

import acp_client
from acp_client._v1.messages import is_inferred


def test_chunks_without_an_id_make_one_message() -> None:
    """Chunks of one kind are one message, text exact, blank ones included."""
    snapshot = told(chunk("Hel"), chunk("lo"), chunk(" \n"))
    assert conversation(snapshot) == [("agent_message", "Hello \n")]
    assert len(snapshot.entries[0].content) == 3  # type: ignore[union-attr]  # a message


EMPTY: dict[str, tuple[list[Frame], list[tuple[str, str]]]] = {
    "at the beginning": ([chunk(""), chunk("a")], [("agent_message", "a")]),
    "at the end": ([chunk("a"), chunk("")], [("agent_message", "a")]),
    "of another kind, within": ([chunk("a"), thought(""), chunk("b")], [("agent_message", "ab")]),
    "of the user, within": ([chunk("a"), echo(""), chunk("b")], [("agent_message", "ab")]),
    "with an id, within": (
        [chunk("a"), chunk("", messageId="m"), chunk("b")],
        [("agent_message", "ab")],
    ),
    "with the id of a message": (
        [chunk("a", messageId="m"), chunk("", messageId="m"), chunk("b", messageId="m")],
        [("agent_message", "ab")],
    ),
    "after the message ended": (
        [thought("t"), chunk("a"), thought(""), chunk("b")],
        [("agent_thought", "t"), ("agent_message", "ab")],
    ),
    "alone": ([call(), chunk(""), thought("")], [("tool_call", "Do")]),
}


@pytest.mark.parametrize("case", EMPTY)
def test_an_empty_chunk_neither_begins_nor_ends_a_message(case: str) -> None:
    """A chunk without text makes no entry, and stands between nothing."""
    frames, expected = EMPTY[case]
    assert conversation(told(*frames)) == expected


def of_subagent(parent: str, frame_text: str, **fields: Any) -> Frame:
    """Write a chunk of a subagent."""
    return chunk(frame_text, _meta={"claudeCode": {"parentToolUseId": parent}}, **fields)


SUBAGENTS: dict[str, tuple[list[Frame], list[str]]] = {
    "in turns": (
        [of_subagent(parent, said) for parent, said in ("pa", "qb", "pc", "qd")],
        ["ac", "bd"],
    ),
    "within the agent's message": ([chunk("a"), of_subagent("p", "x"), chunk("b")], ["ab", "x"]),
    "with tool calls of their own": (
        [
            chunk("a"),
            of_subagent("p", "x"),
            call(_meta={"claudeCode": {"parentToolUseId": "p"}}),
            of_subagent("p", "y"),
            chunk("b"),
        ],
        ["ab", "x", "y"],
    ),
    "with ids": (
        [of_subagent("p", "a", messageId="m"), of_subagent("q", "b", messageId="m")],
        ["ab"],
    ),
    "with a meta that says nothing": (
        [chunk("a", _meta={"claudeCode": 5}), chunk("b", _meta={"claudeCode": {}})],
        ["ab"],
    ),
}


@pytest.mark.parametrize("case", SUBAGENTS)
def test_subagents_write_messages_of_their_own(case: str) -> None:
    """Chunks of subagents interleave with each other and with those of the agent."""
    frames, expected = SUBAGENTS[case]
    shown = conversation(told(*frames))
    assert [said for kind, said in shown if kind == "agent_message"] == expected


TAILS: dict[str, tuple[list[Frame], list[str]]] = {
    "right after the answer": ([ended(1), chunk("ld")], ["world"]),
    "in pieces": ([ended(1), chunk("l"), chunk("d")], ["world"]),
    "after a vendor's notification": (
        [ended(1), agent(method="_x/y", params={"sessionId": SESSION}), chunk("ld")],
        ["world"],
    ),
    "after an update of a call": (
        [ended(1), patch(status="completed"), chunk("ld")],
        ["wor", "ld"],
    ),
    "after usage": ([ended(1), said("usage_update", used=1, size=2), chunk("ld")], ["wor", "ld"]),
    "after a permission request": (
        [ended(1), permission(9, {"toolCallId": "c"}), chunk("ld")],
        ["wor", "ld"],
    ),
    "after a prompt": ([ended(1), prompt(2, "b"), chunk("ld")], ["wor", "ld"]),
    "while another prompt is open": ([prompt(2, "b"), ended(1), chunk("ld")], ["wor", "ld"]),
    "before the answer to the other prompt": (
        [prompt(2, "b"), chunk("ld"), ended(1), chunk("!")],
        ["world", "!"],
    ),
    "after the refusal of another prompt": (
        [prompt(2, "b"), agent(id=2, error={"code": 1, "message": "no"}), chunk("ld")],
        ["world"],
    ),
    "after an early answer to another prompt": ([prompt(2, "b"), ended(2), chunk("ld")], ["world"]),
    "after an error": ([agent(id=1, error={"code": 1, "message": "no"}), chunk("ld")], ["world"]),
}


@pytest.mark.parametrize("case", TAILS)
def test_a_tail_after_the_answer(case: str) -> None:
    """Text right after the answer to the only open prompt belongs to the message before it."""
    frames, expected = TAILS[case]
    shown = conversation(told(call(), prompt(1, "a"), chunk("wor"), *frames))
    assert [said for kind, said in shown if kind == "agent_message"] == expected


ALONE = ["right after the answer", "in pieces", "after an update of a call", "after usage"]


@pytest.mark.parametrize("case", ALONE)
def test_a_tail_in_a_recording_of_the_agent_alone(case: str) -> None:
    """It is the same where the prompt was not seen."""
    frames, expected = TAILS[case]
    shown = conversation(told(call(), chunk("wor"), *frames))
    assert [said for kind, said in shown if kind == "agent_message"] == expected


BETWEEN: dict[str, Frame] = {
    "a thought": thought("hm"),
    "a user message": echo("and?"),
    "a tool call": call(),
    "a tool call that an update makes": patch(),
    "a tool call that a permission request makes": permission(9, {"toolCallId": "c"}),
    "a compaction": said("compaction_update", compactionId="k", status="in_progress"),
    "an update that nobody knows": said("_vendor", k=1),
    "a message with an id": chunk("x", messageId="m"),
    "a prompt": prompt(1, "go on"),
}


@pytest.mark.parametrize("case", BETWEEN)
def test_a_new_entry_ends_the_open_message(case: str) -> None:
    """What becomes an entry of its own stands between two messages."""
    snapshot = told(chunk("a"), BETWEEN[case], thought("t"), chunk("b"))
    texts = [said for type_, said in conversation(snapshot) if type_ == "agent_message"]
    assert [texts[0], texts[-1]] == ["a", "b"]


INSIDE: dict[str, Frame] = {
    "an update of a tool call": patch(title="Done"),
    "a tool call again": call(title="Done"),
    "usage": said("usage_update", used=1, size=2),
    "a plan": said("plan", entries=[]),
    "a mode": said("current_mode_update", currentModeId="m"),
    "commands": said("available_commands_update", availableCommands=[]),
    "options": said("config_option_update", configOptions=[]),
    "a title": said("session_info_update", title="t"),
    "a notice": said("notice", severity="info", title="n"),
    "a notification of a vendor": agent(method="_x/y", params={"sessionId": SESSION}),
    "the result": ended(1),
    "what is no update": agent(method="session/update", params={"sessionId": SESSION}),
}


@pytest.mark.parametrize("case", INSIDE)
def test_what_is_no_new_entry_leaves_the_message_open(case: str) -> None:
    """Updates of what is there already come in the middle of a sentence."""
    store = play([prompt(1, "q"), call(), chunk("a"), INSIDE[case], chunk("b")])
    texts = [said for _, said in conversation(store.snapshot(SESSION))]
    assert "ab" in texts


def test_inferred_ids_are_recognised_and_stable() -> None:
    """Made ids number the messages of each kind, and the same stream gives the same ones."""
    frames = [
        prompt(1, "q"),
        thought("t"),
        chunk("a"),
        call(),
        chunk("b"),
        chunk("c", messageId="m"),
    ]
    ids = [
        (e.type, e.message_id) for e in told(*frames).entries if isinstance(e, acp_client.Message)
    ]
    assert ids == [
        ("user_message", "inferred:1"),
        ("agent_thought", "inferred:1"),
        ("agent_message", "inferred:1"),
        ("agent_message", "inferred:2"),
        ("agent_message", "m"),
    ]
    assert [is_inferred(message_id) for _, message_id in ids] == [True] * 4 + [False]
    assert told(*frames) == told(*frames)


def test_chunks_with_an_id_are_keyed_by_kind_and_id() -> None:
    """Messages of two kinds may share an id, interleave, and go on after other entries."""
    frames = [thought("t", messageId="m"), chunk("a", messageId="m"), call()]
    frames += [thought("T", messageId="m"), chunk("A", messageId="m"), chunk("!")]
    assert conversation(told(*frames)) == [
        ("agent_thought", "tT"),
        ("agent_message", "aA!"),
        ("tool_call", "Do"),
    ]


ODD_CONTENT: dict[str, tuple[Any, str]] = {
    "a list of blocks": ([text("a"), text("b")], "ab"),
    "a string": ("ab", "ab"),
    "text without a type": ({"text": "ab"}, "ab"),
    "a block that nobody knows": ({"type": "_x", "k": 1}, ""),
}


@pytest.mark.parametrize("case", ODD_CONTENT)
def test_odd_content_is_shown(case: str) -> None:
    """Content that is not one block is understood as far as it can be."""
    content, expected = ODD_CONTENT[case]
    snapshot = told(said("agent_message_chunk", content=content, messageId=5, _meta=None))
    assert conversation(snapshot) == [("agent_message", expected)]


def test_the_meta_of_a_chunk_stays_beside_its_block() -> None:
    """A chunk's `_meta` is that of its block, as in v2."""
    snapshot = told(chunk("a"), chunk("b", _meta={"k": 1}))
    assert document(snapshot)["entries"][0]["chunkMeta"] == {"1": {"k": 1}}
