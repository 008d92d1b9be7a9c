"""Echoes of prompts in ACP v1: what the client sent must not appear twice, and nothing else go."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from traffic import open_session
from v1_traffic import (
    Frame,
    chunk,
    conversation,
    echo,
    ended,
    link,
    patch,
    prompt,
    said,
    thought,
    told,
)

import acp_client
from acp_client import wire
from acp_client._v1.echo import Echoes

IMAGE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
NOTES = {"uri": "file:///notes.md", "text": "some notes\n"}
RESOURCE = {"type": "resource", "resource": NOTES}
BLOB = {"type": "resource", "resource": {"uri": "file:///blob", "blob": "aGk="}}
VENDOR = {"type": "_drawing", "strokes": [1, 2]}

ECHOES: dict[str, tuple[list[Any], list[Any]]] = {
    "whole": (["hello"], ["hello"]),
    "in two pieces": (["hello"], ["hel", "lo"]),
    "by the letter": (["hello"], list("hello")),
    "with empty pieces": (["hello"], ["", "hel", "", "lo", ""]),
    "several blocks": (["one", "two"], ["one", "two"]),
    "several blocks as one": (["one", "two"], ["onetwo"]),
    "several blocks with a blank line between": (["one", "two"], ["one\n\ntwo"]),
    "across a block's end": (["one", "two"], ["on", "etw", "o"]),
    "a blank chunk between": (["one", "two"], ["one", "\n", "two"]),
    "without its trailing blanks": (["hello\n"], ["hello"]),
    "without its leading blanks": (["\n hello"], ["hello"]),
    "with trailing blanks": (["hello"], ["hello\n"]),
    "an image": ([IMAGE, "what is it?"], [IMAGE, "what is it?"]),
    "an image with annotations": ([IMAGE], [{**IMAGE, "annotations": {"priority": 1}}]),
    "without the image": (["see", IMAGE, "what is it?"], ["see", "what is it?"]),
    "only the last block": (["see", IMAGE, "what is it?"], ["what is it?"]),
    "a link": (["read", link("a")], ["read", link("a")]),
    "a link with a title": ([link("a")], [{**link("a"), "title": "A", "size": 1}]),
    "a link as its address": (["read", link("a")], ["read", "file:///a"]),
    "a link as Markdown": (["read", link("a")], ["read", "[@a](file:///a)"]),
    "a link inside the text": (["read ", link("a"), " now"], ["read [@a](file:///a) now"]),
    "a link left out of the text": (["read ", link("a"), "now"], ["read now"]),
    "a link as a resource": ([link("notes.md")], [RESOURCE]),
    "a resource as a link": ([RESOURCE], [link("notes.md")]),
    "a resource as its text": ([RESOURCE, "sum up"], ["some notes", "sum up"]),
    "a blob as its address": ([BLOB, "sum up"], ["file:///blob", "sum up"]),
    "what nobody knows": ([VENDOR, "this"], [VENDOR, "this"]),
    "surrogates cut apart": (["\U0001f680 go"], ["\U0001f680", " go"]),
}


@pytest.mark.parametrize("case", ECHOES)
def test_an_echo_does_not_appear(case: str) -> None:
    """Whatever shape an echo has, the message is there once, as it was sent."""
    sent, echoed = ECHOES[case]
    plain = told(prompt(1, *sent), chunk("yes"), ended(1))
    said_again = told(prompt(1, *sent), *map(echo, echoed), chunk("yes"), ended(1))
    assert said_again == plain


@pytest.mark.parametrize("case", ECHOES)
def test_a_late_echo_does_not_appear(case: str) -> None:
    """An echo behind the answer and the result is one still."""
    sent, echoed = ECHOES[case]
    plain = told(prompt(1, *sent), chunk("yes"), ended(1))
    late = told(prompt(1, *sent), chunk("yes"), ended(1), *map(echo, echoed))
    assert late == plain


def test_an_echo_with_an_id_does_not_appear() -> None:
    """The id that an agent gives the message in its echo makes no second one."""
    frames = [echo("he", messageId="m1"), echo("llo", messageId="m1")]
    assert conversation(told(prompt(1, "hello"), *frames)) == [("user_message", "hello")]


def test_an_echo_after_a_cancel_does_not_appear() -> None:
    """A cancelled prompt is still awaited when the next one is sent."""
    cancel = (True, b'{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}\n')
    frames = [prompt(1, "first"), cancel, ended(1, "cancelled"), prompt(2, "second")]
    frames += [echo("first"), echo("second"), chunk("done"), ended(2)]
    assert conversation(told(*frames)) == [
        ("user_message", "first"),
        ("user_message", "second"),
        ("agent_message", "done"),
    ]


def test_echoes_of_prompts_that_wait_do_not_appear() -> None:
    """Prompts that are queued are echoed in order, each when its turn comes."""
    frames = [prompt(1, "go on"), prompt(2, "go on"), echo("go on"), ended(1), echo("go on")]
    assert conversation(told(*frames, ended(2))) == [("user_message", "go on")] * 2


@pytest.mark.parametrize("kind", ["agent_message", "agent_thought"])
def test_an_echo_stands_between_two_messages(kind: str) -> None:
    """An echo is not shown, but what comes after it is another message."""
    say = {"agent_message": chunk, "agent_thought": thought}[kind]
    frames = [prompt(1, "hello"), say("one"), echo("hel"), echo("lo"), say("two")]
    assert conversation(told(*frames))[1:] == [(kind, "one"), (kind, "two")]


CUMULATIVE: dict[str, list[Frame]] = {
    "without ids": [echo("hel"), echo("hello")],
    "with an id of its own each": [echo("hel", messageId="u"), echo("hello", messageId="u-x")],
    "in three pieces": [echo("h"), echo("hell"), echo("hello")],
    "with the last piece again": [echo("hel"), echo("hel"), echo("hello")],
    "with a piece that is new alone": [echo("h"), echo("hell"), echo("o")],
}


@pytest.mark.parametrize("case", CUMULATIVE)
def test_a_cumulative_echo_does_not_appear(case: str) -> None:
    """Each chunk of an echo may hold all of the text before it."""
    snapshot = told(prompt(1, "hello"), *CUMULATIVE[case], chunk("ok"))
    assert conversation(snapshot) == [("user_message", "hello"), ("agent_message", "ok")]


OTHERS: dict[str, tuple[list[Frame], list[str]]] = {
    "another text": ([echo("bye")], ["hello", "bye"]),
    "a text that begins like it": ([echo("hello world")], ["hello", "hello world"]),
    "pieces that begin like it": ([echo("hel"), echo("p me")], ["hello", "help me"]),
    "the same once more": ([echo("hello"), echo("hello")], ["hello", "hello"]),
    "a block that was not sent": ([echo("hello"), echo(IMAGE)], ["hello", ""]),
    "a text with an id": (
        [echo("and", messageId="m2"), echo("?", messageId="m2")],
        ["hello", "and?"],
    ),
    "text around the echo": ([echo("a"), echo("hello"), echo("b")], ["hello", "a", "b"]),
}


@pytest.mark.parametrize("case", OTHERS)
def test_what_is_no_echo_is_a_message(case: str) -> None:
    """What does not match the prompt becomes a message of its own, and nothing of it is lost."""
    frames, texts = OTHERS[case]
    snapshot = told(prompt(1, "hello"), *frames)
    assert conversation(snapshot) == [("user_message", said) for said in texts]


def test_an_old_prompt_is_not_awaited_for_ever() -> None:
    """Text that the user sent long ago is news when the agent reports it."""
    turns = [frame for at in range(4) for frame in (prompt(at, f"turn {at}"), ended(at))]
    texts = [said for _, said in conversation(told(*turns, echo("turn 0"), chunk("ok")))]
    assert texts == ["turn 0", "turn 1", "turn 2", "turn 3", "turn 0", "ok"]


def test_other_updates_between_the_pieces_change_nothing() -> None:
    """Usage and updates of tool calls may come between two pieces of an echo."""
    between = [said("usage_update", used=1, size=2), patch("t", status="completed")]
    snapshot = told(prompt(1, "hello"), echo("hel"), *between, echo("lo"), chunk("ok"))
    assert [entry.type for entry in snapshot.entries] == [
        "user_message",
        "tool_call",
        "agent_message",
    ]


def test_user_messages_without_a_prompt_are_shown() -> None:
    """A history that no request asked for is a conversation."""
    frames = [echo("a"), echo("b"), chunk("c"), echo(""), echo("d", messageId="m")]
    assert conversation(told(*frames)) == [
        ("user_message", "ab"),
        ("agent_message", "c"),
        ("user_message", "d"),
    ]


BLOCKS = st.lists(st.text("ab \n", min_size=1, max_size=6), min_size=1, max_size=4)


@given(BLOCKS, st.data())
def test_any_cut_of_the_whole_is_an_echo(blocks: list[str], data: st.DataObject) -> None:
    """Text blocks joined and cut anywhere are their echo, with nothing left to show."""
    whole = "".join(blocks)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(whole)), max_size=4)))
    pieces = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    echoes: Echoes[int] = Echoes()
    echoes.prompt(1, [wire.TextContent(block) for block in blocks])
    shown = [echoes.take(wire.TextContent(piece), at) for at, piece in enumerate(pieces)]
    assert shown == [[] for _ in pieces]


@given(BLOCKS, st.lists(st.text("abx ", min_size=1, max_size=5), max_size=8))
def test_what_is_shown_is_part_of_what_came(blocks: list[str], chunks: list[str]) -> None:
    """What is no echo is given back in order, each chunk at most once."""
    echoes: Echoes[int] = Echoes()
    echoes.prompt(1, [wire.TextContent(block) for block in blocks])
    shown = [
        item for at, piece in enumerate(chunks) for item in echoes.take(wire.TextContent(piece), at)
    ]
    assert shown == sorted(set(shown))
    assert {at for at, piece in enumerate(chunks) if "x" in piece} <= set(shown)


def test_many_blocks_cost_no_more_than_their_number() -> None:
    """Short blocks that repeat are matched without trying every way to do it."""
    echoes: Echoes[str] = Echoes()
    echoes.prompt(1, [wire.TextContent(" a")] * 400)
    assert echoes.take(wire.TextContent(" a" * 300 + "x"), "chunk") == ["chunk"]


def test_the_message_is_there_before_its_echo() -> None:
    """The store shows a prompt when it makes the request, echoed already."""
    store = acp_client.Store(protocol="v1")
    open_session(store, "s").prompt("s", [wire.TextContent("hello")])
    snapshot = store.snapshot("s")
    assert conversation(snapshot) == [("user_message", "hello")]
    assert [(one.status, one.echoed) for one in snapshot.prompts] == [("pending", True)]
    store.receive(echo("hello")[1])
    assert store.snapshot("s") is snapshot
