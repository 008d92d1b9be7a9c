"""What a store says of its memory, held against what the interpreter says."""

from __future__ import annotations

import base64
import gc
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

import attrs
import msgspec
import pytest
from traffic import chunk_line, line, open_session, permission_line, snapshots, text, update_line

from acp_client import Delivery, Limits, Memory, Store

COUNT = 800
READ = 65_536

Category = Literal["text", "terminals", "raw", "problems", "other"]
Lines = Iterator[bytes]

CATEGORIES = tuple(attrs.fields_dict(Memory))


# --- Lines ---


def told(variant: str, count: int = COUNT, **fields: Any) -> Lines:
    """Write updates of a variant; a field may be a function of their numbers."""
    for number in range(count):
        made = {key: value(number) if callable(value) else value for key, value in fields.items()}
        yield update_line(variant, **made)


def chunks(of: Callable[[int], str], count: int = COUNT) -> Lines:
    """Write chunks of one message."""
    return (chunk_line(of(number)) for number in range(count))


def identified(prefix: str) -> Callable[[int], str]:
    """Make a field that is another id in each update."""
    return lambda number: f"{prefix} {number}"


def block(value: str) -> dict[str, Any]:
    """Write a text block."""
    return {"type": "text", "text": value}


def encoded(times: int) -> Callable[[int], str]:
    """Make some output of a terminal, encoded."""
    line_of = "line {} of the output\n"
    return lambda n: base64.b64encode(line_of.format(n).encode() * times).decode()


def calls(key: str, value: Callable[[int], Any]) -> Lines:
    """Write tool calls with a raw value."""
    return told("tool_call_update", 100, toolCallId=identified("c"), **{key: value})


def nested(depth: int) -> Any:
    """Make lists within lists."""
    return [nested(depth - 1)] if depth else 1


def planned(number: int) -> dict[str, Any]:
    """Write a plan."""
    items = [{"content": f"{n}", "priority": "high", "status": "pending"} for n in range(100)]
    return {"type": "items", "planId": f"p{number % 9}", "entries": items}


def turns(session: str = "s1", count: int = 150) -> Lines:
    """Write what an agent does in many turns."""
    for number in range(count):
        for word in ("first ", "second ", "third "):
            yield chunk_line(word * 5, f"m{number}", session)
        call = {"toolCallId": f"c{number}", "rawInput": {"words": ["word"] * 20}}
        yield update_line("tool_call_update", session, **call, status="pending")
        yield update_line("tool_call_update", session, **call, status="completed")
        output = {"terminalId": f"t{number}", "data": encoded(3)(number)}
        yield update_line("terminal_output_chunk", session, **output)
        yield update_line("_vendor", session, number=number)
        yield update_line("usage_update", session, used=-1, size=number)


def resume_line() -> bytes:
    """Write a request that begins a replay."""
    params = {"sessionId": "s1", "cwd": "/", "mcpServers": [], "replayFrom": {"type": "start"}}
    return line(id=1, method="session/resume", params=params)


MOSTLY: dict[str, tuple[Category, Callable[[], Lines]]] = {
    "tiny chunks": ("text", lambda: chunks(lambda n: f"{n}", 3000)),
    "chunks": ("text", lambda: chunks(lambda n: f"{n} words of a message ")),
    "long chunks": ("text", lambda: chunks(lambda n: f"{n} words" * 5000, 9)),
    "one long chunk": ("text", lambda: chunks(lambda n: f"{n} words" * 500_000, 1)),
    "latin-1": ("text", lambda: chunks(lambda n: f"{n}" + "é" * 500)),
    "CJK": ("text", lambda: chunks(lambda n: f"{n}" + "漢字" * 90)),
    "emoji": ("text", lambda: chunks(lambda n: f"{n}" + "😀" * 90)),
    "lone surrogates": ("text", lambda: chunks(lambda n: f"\ud83d{n}" + "x" * 400, 400)),
    "messages": ("text", lambda: (chunk_line("hello", f"m{n}") for n in range(COUNT))),
    "thoughts": (
        "text",
        lambda: told("agent_thought", messageId=identified("m"), content=[block("x"), block("y")]),
    ),
    "images": (
        "text",
        lambda: told(
            "agent_message_chunk",
            messageId="m",
            content=lambda n: {"type": "image", "data": "AAAA" * 200, "mimeType": f"image/{n}"},
        ),
    ),
    "tool calls": (
        "text",
        lambda: told(
            "tool_call_update",
            toolCallId=identified("c"),
            title=identified("title"),
            status="completed",
            locations=lambda n: [{"path": f"/a/{n}", "line": 3}],
        ),
    ),
    "items": (
        "text",
        lambda: told(
            "tool_call_content_chunk",
            toolCallId="c",
            content=lambda n: {
                "type": "content",
                "content": {"type": "resource_link", "name": "n", "uri": f"file:///{n}"},
            },
        ),
    ),
    "summaries": (
        "text",
        lambda: told(
            "compaction_summary_chunk",
            compactionId=lambda n: f"k{n // 9}",
            content=lambda n: block(f"{n} words of a summary"),
        ),
    ),
    "an object": ("raw", lambda: calls("rawInput", lambda n: {f"{n}": "value" * 900})),
    "keys": ("raw", lambda: calls("rawInput", lambda n: {f"{n} {key}": key for key in range(300)})),
    "numbers": ("raw", lambda: calls("rawOutput", lambda n: [*range(n, n + 800)])),
    "nesting": ("raw", lambda: calls("rawOutput", lambda n: [n, "x" * 2000, [nested(30)] * 30])),
    "raw CJK": ("raw", lambda: calls("rawOutput", lambda n: f"{n}" + "漢字" * 900)),
    "small unknown": ("raw", lambda: told("_vendor", number=lambda n: n)),
    "large unknown": ("raw", lambda: told("_vendor", thing=lambda n: f"{n}" * 900)),
    "meta": (
        "raw",
        lambda: told(
            "agent_message", messageId=identified("m"), _meta=lambda n: {f"{n}": "v" * 3000}
        ),
    ),
    "meta of chunks": (
        "raw",
        lambda: told(
            "agent_message_chunk",
            messageId="m",
            content=block("x"),
            _meta=lambda n: {"some.example/key": "value " * 40, "number": n},
        ),
    ),
    "output": ("terminals", lambda: told("terminal_output_chunk", terminalId="t", data=encoded(9))),
    "much output": (
        "terminals",
        lambda: told("terminal_output_chunk", 100, terminalId="t", data=encoded(500)),
    ),
    "output at once": (
        "terminals",
        lambda: told("terminal_output_chunk", 1, terminalId="t", data=encoded(100_000)),
    ),
    "replaced output": (
        "terminals",
        lambda: told(
            "terminal_update",
            60,
            terminalId=lambda n: f"t{n % 5}",
            output=lambda n: {"data": encoded(2000)(n)},
        ),
    ),
    "terminals": (
        "terminals",
        lambda: told("terminal_output_chunk", terminalId=identified("t"), data=encoded(1)),
    ),
    "problems": ("problems", lambda: told("usage_update", 2 * COUNT, used=-1, size=lambda n: n)),
    "many problems": (
        "problems",
        lambda: told("agent_message", 50, messageId="m", content=[{"type": "text"}] * 20),
    ),
    "notices": (
        "other",
        lambda: told("notice", 200, severity="info", title=lambda n: f"{n}" * 900),
    ),
    "plans": ("other", lambda: told("plan_update", 30, plan=planned)),
    "permissions": ("other", lambda: (permission_line(number) for number in range(300))),
    "an unfinished line": ("other", lambda: iter([b"x" * 1_000_000])),
}
"""What a store is given, and what it mostly keeps then."""


# --- Stores ---

Fill = Callable[[Store], object]


def received(store: Store, lines: Iterable[bytes]) -> None:
    """Give a store lines in reads as they come from a pipe."""
    held = bytearray()
    for each in lines:
        held += each
        while len(held) >= READ:
            store.receive(bytes(held[:READ]))
            del held[:READ]
    store.receive(held)


def replayed(store: Store) -> None:
    """Leave a store in the middle of a replay."""
    received(store, turns())
    store.sent(resume_line())
    received(store, turns(count=100))


def left_behind(store: Store) -> None:
    """Let a renderer keep a snapshot that much has come after."""
    received(store, turns(count=50))
    store.reader("s1").take()
    received(store, turns(count=150))


def closed(store: Store) -> None:
    """Close one of three sessions."""
    for session in ("s1", "s2", "s3"):
        received(store, turns(session, 80))
    store.forget_session("s2")


def prompted(store: Store) -> None:
    """Submit prompts that nobody answers."""
    for number in range(30):
        open_session(store).prompt("s1", [text(f"{number}" + "x" * 20_000)])
        store.data_to_send()


def told_in_v1(store: Store) -> None:
    """Give a store what an agent of v1 says."""
    store.sent(line(id=0, method="initialize", params={"protocolVersion": 1}))
    store.receive(line(id=0, result={"protocolVersion": 1}))
    for number in range(300):
        call = {"toolCallId": f"c{number}", "title": f"title {number}", "rawInput": {"n": number}}
        store.receive(update_line("tool_call", **call))
        store.receive(update_line("agent_message_chunk", content=block(f"{number} words")))


MIXED: dict[str, Fill] = {
    "turns": lambda store: received(store, turns()),
    "sessions": lambda store: received(
        store, (chunk_line("hello", "m", f"session {n}") for n in range(COUNT))
    ),
    "a closed session": closed,
    "a replay": replayed,
    "a reader": left_behind,
    "prompts": prompted,
    "v1": told_in_v1,
}
"""How a store is filled with more than one thing."""


def look_at(store: Store) -> None:
    """Ask for every text."""
    for snapshot in snapshots(store):
        for shown in (*snapshot.entries, *snapshot.terminals):
            getattr(shown, "text", "")


@pytest.fixture(scope="module", autouse=True)
def _warm() -> None:
    """Have everything made that is made once, such as decoders."""
    store = Store(protocol="v2")
    received(store, (next(lines()) for _, lines in MOSTLY.values()))
    look_at(store)
    told_in_v1(Store())
    store.memory()


def filled(fill: Fill, *, read: bool = False) -> tuple[Store, int]:
    """Fill a store; tell what was allocated for it."""
    gc.collect()
    tracemalloc.start()
    try:
        store = Store(limits=Limits(problems=COUNT, terminal_bytes=200_000))
        fill(store)
        if read:
            look_at(store)
        gc.collect()
        return store, tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


def given(lines: Callable[[], Lines]) -> Fill:
    """Fill a store with lines; that it is v2 need not be found out."""

    def fill(store: Store) -> None:
        store.sent(line(id=0, method="initialize", params={"protocolVersion": 2}))
        store.receive(line(id=0, result={"protocolVersion": 2}))
        received(store, lines())

    return fill


def is_near(figure: int, measured: int) -> bool:
    """Tell whether a figure is off by less than a fifth."""
    return 0.8 * measured < figure < 1.2 * measured


# --- What is told ---


@pytest.mark.parametrize(("category", "lines"), MOSTLY.values(), ids=MOSTLY)
def test_bytes_are_told_by_what_they_are(category: Category, lines: Callable[[], Lines]) -> None:
    """What a store has most of is as much as was allocated, and so is the sum."""
    store, measured = filled(given(lines))
    memory = store.memory()
    assert is_near(getattr(memory, category), measured)
    assert is_near(memory.total, measured)


READ_TOO = [name for name, (category, _) in MOSTLY.items() if category in ("text", "terminals")]


@pytest.mark.parametrize("name", READ_TOO)
def test_what_was_read_is_told_too(name: str) -> None:
    """Text that was put together for whoever asked is kept, and counts as what it was made of."""
    category, lines = MOSTLY[name]
    store, measured = filled(given(lines), read=True)
    assert is_near(getattr(store.memory(), category), measured)


@pytest.mark.parametrize("fill", MIXED.values(), ids=MIXED)
def test_the_sum_is_what_is_allocated(fill: Fill) -> None:
    """However the parts of a store are shared between versions, it is what it takes."""
    store, measured = filled(fill)
    assert is_near(store.memory().total, measured)


ADDED: dict[str, tuple[Category, Callable[[], Lines], Callable[[], Lines]]] = {
    "small raw input": (
        "raw",
        lambda: told("tool_call_update", toolCallId=identified("c"), title="t"),
        lambda: told(
            "tool_call_update", toolCallId=identified("c"), title="t", rawInput=identified("x")
        ),
    ),
    "small meta of chunks": (
        "raw",
        lambda: told("agent_message_chunk", messageId="m", content=block("x")),
        lambda: told(
            "agent_message_chunk", messageId="m", content=block("x"), _meta=lambda n: {"n": n}
        ),
    ),
    "unknown updates": (
        "raw",
        lambda: (chunk_line("x", f"{n}") for n in range(COUNT)),
        lambda: (
            each
            for n in range(COUNT)
            for each in (chunk_line("x", f"{n}"), update_line("_vendor", number=n))
        ),
    ),
    "output": (
        "terminals",
        lambda: turns(count=100),
        lambda: (
            each
            for n, of_turn in enumerate(turns(count=100))
            for each in (
                of_turn,
                *told("terminal_output_chunk", 1, terminalId=f"x{n}", data="AAAA"),
            )
        ),
    ),
}
"""Traffic without some part and with it, and what that part is."""


@pytest.mark.parametrize(("category", "without", "with_it"), ADDED.values(), ids=ADDED)
def test_what_comes_in_addition_is_told_as_what_it_is(
    category: Category, without: Callable[[], Lines], with_it: Callable[[], Lines]
) -> None:
    """Its category grows by as much as is allocated more, its overhead included."""
    less, allocated_less = filled(given(without))
    more, allocated_more = filled(given(with_it))
    growth = getattr(more.memory(), category) - getattr(less.memory(), category)
    assert is_near(growth, allocated_more - allocated_less)


def of_everything() -> Store:
    """Make a store that has something of each kind."""
    store = Store(protocol="v2")
    received(store, (next(lines()) for _, lines in MOSTLY.values()))
    prompted(store)
    return store


def test_the_total_is_the_sum() -> None:
    """Nothing is counted in two categories, or in none."""
    memory = of_everything().memory()
    figures = [getattr(memory, category) for category in CATEGORIES]
    assert memory.total == sum(figures)
    assert min(figures) > 0


def test_what_versions_share_is_counted_once() -> None:
    """The snapshot from before a replay costs next to nothing where the replay kept nothing."""
    store = Store(protocol="v2")
    received(store, turns())
    before = store.memory().total
    store.reader("s1").take()
    store.sent(resume_line())
    assert store.snapshot("s1").replaying
    assert before < store.memory().total < 1.05 * before + 5_000


def test_text_is_text_whoever_else_has_it() -> None:
    """A decoder that remembers the last chunk does not make the text of it something else."""
    store = Store(protocol="v2")
    store.receive(chunk_line("x" * 100_000))
    store.receive(chunk_line("y" * 100_000))
    assert store.memory().text > 200_000


def test_prompts_and_what_waits_for_a_renderer_are_counted() -> None:
    """What the client itself has going on is told too."""
    store = Store(protocol="v2")
    open_session(store).prompt("s1", [text("x" * 50_000)])
    store.data_to_send()
    assert 50_000 < store.memory().total < 120_000
    store.receive(chunk_line("y" * 50_000))
    reader = store.reader("s1")
    reader.take()
    store.forget_session("s1")
    assert store.memory().text > 50_000
    reader.take()
    assert store.memory().text < 5_000


def test_what_subscribers_have_still_to_be_told_is_counted() -> None:
    """While a callback feeds the store, the steps wait with what has been replaced since."""
    store = Store(protocol="v2")
    figures = []

    def feed(delivery: Delivery) -> None:
        for letter in "abc" if delivery.is_first else "":
            content = [block(letter * 50_000)]
            store.receive(update_line("agent_message", messageId="m", content=content))
        figures.append(store.memory().text)

    store.receive(chunk_line("hello"))
    store.subscribe(feed)
    assert figures[0] > 150_000
    assert store.memory().text < 60_000


class _CallersStruct(msgspec.Struct, frozen=True):
    """A callback of the caller's with much in it."""

    held: bytes = b"x" * 100_000

    def __call__(self, _: object) -> None:
        """Do nothing."""


def test_what_the_caller_keeps_is_not_counted() -> None:
    """A callback may hold what it likes, in a package whose name begins alike too."""
    likely: Any = type(
        "Plugin", (), {"__module__": "acp_client_plugin", "__call__": lambda *_: None}
    )()
    likely.held = b"x" * 100_000
    store = Store(protocol="v2")
    store.subscribe(likely)
    store.subscribe(_CallersStruct())
    store.reader("s1", wake=likely)
    assert store.memory().total < 50_000


def allocated_by(call: Callable[[], object]) -> tuple[int, int]:
    """Tell what is allocated when a function has returned, and at most until then."""
    gc.collect()
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()


def test_to_ask_changes_nothing() -> None:
    """No text is put together, nothing else stays behind, and the next answer is the same."""
    store = of_everything()
    received(store, chunks(lambda n: f"{n:04}" + "x" * 96, 2000))
    before = snapshots(store)
    memory = store.memory()
    left, _ = allocated_by(store.memory)
    assert left < 50_000  # a quarter of the text
    assert store.memory() == memory
    assert all(one is other for one, other in zip(snapshots(store), before, strict=True))


def test_to_ask_takes_little() -> None:
    """What was met is not remembered object by object."""
    store = Store(protocol="v2")
    received(store, (chunk_line("hello", f"m{number}") for number in range(20_000)))
    _, most = allocated_by(store.memory)
    assert most < store.memory().total / 3
