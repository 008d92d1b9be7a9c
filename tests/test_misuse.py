"""Misuse by the caller: whatever is given that cannot be used, one of our exceptions tells."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import acp_client
from acp_client import AcpClientError, Store, wire
from acp_client._content import ContentBlocks
from acp_client._outgoing import checked_content

NO: Any = None
HI = [wire.TextContent("hi")]
CHUNK = wire.AgentMessageChunk("m", HI[0])
USAGE = wire.UsageUpdate(1, 2)
OUTPUT = wire.TerminalOutputChunk("t", b"hi")


class PathOfBytes:
    """A path that is no text."""

    def __fspath__(self) -> bytes:
        return b"bytes"

    def __repr__(self) -> str:
        return "PathOfBytes()"


@pytest.mark.parametrize(
    "misuse",
    [
        lambda store: store.receive("text"),
        lambda store: store.receive(5),
        lambda store: store.receive(NO),
        lambda store: store.sent("text"),
        lambda store: store.snapshot([]),
        lambda store: store.prompt("s", NO),
        lambda store: store.prompt("s", "text"),
        lambda store: store.prompt(5, HI),
        lambda store: store.cancel(NO),
        lambda store: store.cancel(b"s"),
        lambda store: store.answer_permission([], 1, None),
        lambda store: store.subscribe(NO),
        lambda store: store.subscribe(print, select=0),
        lambda store: store.subscribe(print, session=5),
        lambda store: store.reader("s", wake=0),
        lambda store: store.reader(5),
        lambda store: store.disconnect("lost"),
        lambda _: Store(limits=NO),
        lambda _: Store(protocol="v3"),  # type: ignore[arg-type]  # that is the point
        lambda _: acp_client.decode(NO),
        lambda _: acp_client.loads(NO),
        lambda _: acp_client.dumps(NO),
        lambda _: acp_client.to_document(NO),
        lambda _: acp_client.to_document(wire.TextContent("x")),  # type: ignore[arg-type]  # same
        lambda _: acp_client.to_json(object()),
        lambda _: acp_client.changes(acp_client.Snapshot("s"), 3),  # type: ignore[arg-type]  # same
        lambda _: acp_client.changes(NO, NO),
        lambda _: acp_client.Snapshot("s").entries.get("call_1"),
        lambda _: acp_client.Snapshot("s").terminals.get([]),  # type: ignore[arg-type]  # same
        lambda _: acp_client.Entries.of([NO]),
        lambda _: acp_client.Terminals.of([acp_client.Terminal("t"), acp_client.Terminal("t")]),
        lambda _: ContentBlocks.of(["text"]),  # type: ignore[list-item]  # same
        lambda _: acp_client.position("a", "b"),  # type: ignore[arg-type]  # same
        lambda _: acp_client.utf8_length(5),  # type: ignore[arg-type]  # same
        lambda _: acp_client.escape(5),  # type: ignore[arg-type]  # same
        lambda _: acp_client.apply(acp_client.Snapshot("s"), NO),
        lambda _: acp_client.apply(NO, CHUNK),
        lambda _: acp_client.apply(NO, USAGE),
        lambda _: acp_client.apply(NO, NO),
        lambda _: acp_client.apply(acp_client.Snapshot, USAGE),  # type: ignore[arg-type]  # same
        lambda _: acp_client.apply(acp_client.Snapshot("s"), OUTPUT, limits=NO),
        lambda _: acp_client.apply_all(NO, []),
        lambda _: acp_client.apply_all(NO, [CHUNK]),
        lambda _: acp_client.apply_all(acp_client.Snapshot("s"), NO),
        lambda _: acp_client.apply_all(acp_client.Snapshot("s"), [NO]),
        lambda _: acp_client.apply_all(acp_client.Snapshot("s"), [OUTPUT], limits=NO),
        lambda _: acp_client.Snapshot("s").terminals["t"],  # type: ignore[call-overload]  # same
        lambda _: acp_client.Snapshot("s").entries[1.0],  # type: ignore[call-overload]  # same
        lambda _: ContentBlocks._made(())[NO],
    ],
)
def test_misuse_raises_an_exception_of_the_package(misuse: Callable[[Any], object]) -> None:
    """Nothing is taken for something else, and nothing foreign is raised."""
    store = Store()
    with pytest.raises(AcpClientError):
        misuse(store)
    assert store.sessions == ()
    assert store.problems == ()


@pytest.mark.parametrize(
    "path", [NO, 5, "", b"bytes", "nul\0", "surrogate\ud83d", [], PathOfBytes()], ids=repr
)
def test_what_is_no_path_is_refused(path: Any) -> None:
    """A file is named by text that the system can take."""
    with pytest.raises(AcpClientError):
        acp_client.load(path)
    with pytest.raises(AcpClientError):
        acp_client.save(acp_client.Snapshot("s"), path)


def failing() -> Iterator[Any]:
    """Give one event and then fail."""
    yield CHUNK
    raise TypeError("the caller's own")


def test_an_error_of_the_caller_s_own_stays_what_it_is() -> None:
    """What is no misuse of the snapshot or the limits passes through as it was raised."""
    with pytest.raises(TypeError, match="the caller's own"):
        acp_client.apply_all(acp_client.Snapshot("s"), failing())
    with pytest.raises(AttributeError):
        acp_client.apply(acp_client.Snapshot("s"), wire.PlanUpdate(NO))


def test_binary_data_of_an_image_is_refused_with_a_way_out() -> None:
    """An image holds its data as base64 text."""
    image = wire.ImageContent(b"png", "image/png")  # type: ignore[arg-type]  # that is the point
    with pytest.raises(acp_client.InvalidValueError, match="base64 text"):
        checked_content([image])
