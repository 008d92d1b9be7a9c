"""What a store says of its memory, held against what the interpreter says."""

from __future__ import annotations

import base64
import gc
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from traffic import chunk_line, line, permission_line, snapshots, text, update_line

from acp_client import Limits, Store
from acp_client._memory import Memory

COUNT = 800
FIELDS = ("text", "terminals", "raw", "problems", "other")


def encoded(number: int) -> str:
    """Give some output of a terminal."""
    return base64.b64encode(f"line {number} of the output\n".encode() * 3).decode()


def told(variant: str, **fields: Callable[[int], Any]) -> Iterator[bytes]:
    """Write updates of a variant, with fields made of their numbers."""
    for number in range(COUNT):
        yield update_line(variant, **{name: make(number) for name, make in fields.items()})


def same(value: Any) -> Callable[[int], Any]:
    """Make a field that is the same in all updates."""
    return lambda _: value


def identified(prefix: str) -> Callable[[int], str]:
    """Make a field that is another id in each update."""
    return lambda number: f"{prefix} {number}"


TRAFFIC: dict[str, Callable[[], Iterator[bytes]]] = {
    "chunks": lambda: (chunk_line(f"{number} words of a message ") for number in range(COUNT)),
    "messages": lambda: (
        chunk_line(f"{number} words of a message ", f"m{number}") for number in range(COUNT)
    ),
    "sessions": lambda: (chunk_line("hello", "m", f"session {number}") for number in range(COUNT)),
    "output": lambda: told("terminal_output_chunk", terminalId=same("t"), data=encoded),
    "terminals": lambda: told("terminal_output_chunk", terminalId=identified("t"), data=encoded),
    "tool calls": lambda: told(
        "tool_call_update",
        toolCallId=identified("c"),
        title=identified("title"),
        rawInput=lambda number: {"words": [str(number)] * 30},
        locations=lambda number: [{"path": f"/a/{number}", "line": 3}],
    ),
    "items": lambda: told(
        "tool_call_content_chunk",
        toolCallId=same("c"),
        content=lambda number: {
            "type": "content",
            "content": {"type": "resource_link", "name": "n", "uri": f"file:///{number}"},
        },
    ),
    "unknown": lambda: told("_vendor", thing=identified("a thing that nobody knows, and so raw")),
    "meta": lambda: told(
        "agent_message",
        messageId=identified("m"),
        _meta=lambda number: {"some.example/key": "value " * 99, "number": number},
    ),
    "problems": lambda: told("usage_update", used=same(-1), size=lambda number: number),
    "permissions": lambda: (permission_line(number) for number in range(300)),
    "unfinished": lambda: (b"x" * 400_000 for _ in range(1)),
}

MOSTLY = {
    "chunks": "text",
    "output": "terminals",
    "terminals": "terminals",
    "items": "text",
    "unknown": "raw",
    "meta": "raw",
    "problems": "problems",
    "unfinished": "other",
}
"""What each traffic is mostly."""


def grown(lines: Iterator[bytes], *, read: bool) -> tuple[Memory, Memory, int]:
    """Measure a store before and after some traffic, and what the interpreter allocated for it."""
    store = Store(limits=Limits(problems=COUNT), protocol="v2")
    store.receive(b"".join([*map(next, [make() for make in TRAFFIC.values()][:-1])]))
    before = store.memory()
    gc.collect()
    tracemalloc.start()
    try:
        while batch := b"".join(piece for piece, _ in zip(lines, range(100), strict=False)):
            store.receive(batch)
        del batch
        if read:
            for snapshot in snapshots(store):
                for shown in (*snapshot.entries, *snapshot.terminals):
                    getattr(shown, "text", "")
            del snapshot, shown
        gc.collect()
        traced = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    return before, store.memory(), traced


@pytest.mark.parametrize("name", TRAFFIC)
@pytest.mark.parametrize("read", [False, True])
def test_what_is_told_is_what_is_allocated(name: str, read: bool) -> None:
    """The sum is off by less than a fifth, whether texts were read or not."""
    before, after, traced = grown(TRAFFIC[name](), read=read)
    assert 0.8 * traced < after.total - before.total < 1.2 * traced


@pytest.mark.parametrize(("name", "category"), MOSTLY.items())
def test_bytes_are_told_by_what_they_are(name: str, category: str) -> None:
    """Each kind of traffic grows the category that it belongs to more than all the others."""
    before, after, traced = grown(TRAFFIC[name](), read=False)
    growth = {field: getattr(after, field) - getattr(before, field) for field in FIELDS}
    assert growth[category] > 0.5 * traced
    assert max(growth, key=lambda field: growth[field]) == category


def test_the_total_is_the_sum() -> None:
    """Nothing is counted in two categories, or in none."""
    store = Store(protocol="v2")
    for make in TRAFFIC.values():
        store.receive(next(make()))
    memory = store.memory()
    assert memory.total == sum(getattr(memory, field) for field in FIELDS)
    assert min(getattr(memory, field) for field in FIELDS) > 0


def test_what_versions_share_is_counted_once() -> None:
    """The snapshot from before a replay costs next to nothing where the replay kept nothing."""
    store = Store(protocol="v2")
    store.receive(b"".join(TRAFFIC["chunks"]()))
    before = store.memory().total
    reader = store.reader("s1")
    reader.take()
    resume = {"sessionId": "s1", "cwd": "/", "mcpServers": [], "replayFrom": {"type": "start"}}
    store.sent(line(id=1, method="session/resume", params=resume))
    assert store.snapshot("s1").replaying
    assert before < store.memory().total < 1.05 * before + 5_000


def test_prompts_and_what_waits_for_a_renderer_are_counted() -> None:
    """What the client itself has going on is told too."""
    store = Store(protocol="v2")
    store.prompt("s1", [text("x" * 50_000)])
    assert 50_000 < store.memory().total < 120_000
    store.receive(chunk_line("y" * 50_000))
    reader = store.reader("s1")
    reader.take()
    store.close_session("s1")
    assert store.memory().text > 50_000
    reader.take()
    assert store.memory().text < 5_000
