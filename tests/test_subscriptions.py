"""Subscribers and readers: what they are told, when, in which order, and by whom."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from toy_renderer import ToyRenderer, drawn
from traffic import chunk_line, line, permission_line, text, update_line

from acp_client import Limits, Outgoing, Snapshot, Store, wire
from acp_client import _compare as _comparison
from acp_client._changes import EntryAdded, Reset, TextAppended
from acp_client._compare import changes
from acp_client._delivery import Delivery
from acp_client._reader import Reader
from acp_client._subscriptions import Subscription, Subscriptions

PATIENCE = 30  # seconds until a test that waits for another thread gives up
HI = {"type": "text", "text": "hi"}
IDLE = update_line("state_update", state="idle")
RUNNING = update_line("state_update", state="running")
RESUME = line(
    id="r", method="session/resume", params={"sessionId": "s1", "replayFrom": {"type": "start"}}
)
REPLAY_ENDED = line(id="r", result={})


def texts(deliveries: list[Delivery]) -> list[str]:
    """Give the text of the first entry after each delivery."""
    return ["".join(getattr(entry, "text", "") for entry in one.new.entries) for one in deliveries]


@pytest.fixture
def store() -> Store:
    """Give a store with one session that has something in it."""
    made = Store()
    made.receive(chunk_line("a"))
    return made


# --- What a subscriber is told ---


def test_the_first_call_brings_what_is_there(store: Store) -> None:
    """Subscribing calls with the present snapshot, to be drawn from nothing."""
    seen: list[Delivery] = []
    store.subscribe(seen.append, session="s1")
    (first,) = seen
    assert first.is_first
    assert first.session_id == "s1"
    assert first.old == Snapshot("s1")
    assert first.new is store.snapshot("s1")
    assert first.changes == (Reset(first.new),)
    assert first.origin == "local"


def test_each_batch_is_one_call(store: Store) -> None:
    """Whatever a read holds, it is one call, with the two snapshots and what lies between."""
    seen: list[Delivery] = []
    store.subscribe(seen.append, session="s1")
    before = store.snapshot("s1")
    store.receive(chunk_line("b") + chunk_line("c") + chunk_line("new", "n"))
    assert len(seen) == 2
    assert (seen[1].old, seen[1].new) == (before, store.snapshot("s1"))
    assert [type(step) for step in seen[1].changes] == [TextAppended, EntryAdded]
    assert not seen[1].is_first


def test_a_session_that_nobody_knows_may_be_subscribed_to() -> None:
    """Its first call brings an empty snapshot, and what comes is told like anything else."""
    store, seen = Store(), list[Delivery]()
    store.subscribe(seen.append, session="s1")
    store.receive(chunk_line("a"))
    assert [one.is_first for one in seen] == [True, False]
    assert seen[0].new == Snapshot("s1")
    assert isinstance(seen[1].changes[0], EntryAdded)


def test_all_sessions_may_be_subscribed_to(store: Store) -> None:
    """Without a session, each has a first call, those that come later included."""
    store.receive(chunk_line("x", session="s2"))
    seen: list[Delivery] = []
    only: list[Delivery] = []
    store.subscribe(seen.append)
    store.subscribe(only.append, session="s2")
    store.receive(chunk_line("y", session="s2") + chunk_line("z", session="s3"))
    store.sent(line(id=9, method="session/new", params={}))
    store.receive(line(id=9, result={"sessionId": "s4"}))
    told = [(one.session_id, one.is_first) for one in seen]
    assert told == [("s1", True), ("s2", True), ("s2", False), ("s3", True), ("s4", True)]
    assert [one.session_id for one in only] == ["s2", "s2"]


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"{", id="part of a line"),
        pytest.param(b"no JSON\n", id="a problem"),
        pytest.param(RUNNING, id="the same state again"),
        pytest.param(chunk_line("x", session="s2"), id="another session"),
        pytest.param(line(id=7, result={}), id="an answer to nothing"),
        pytest.param(
            update_line("available_commands_update", availableCommands=[]),
            id="nothing that can be seen",
        ),
    ],
)
def test_a_batch_that_changes_nothing_calls_nobody(store: Store, data: bytes) -> None:
    """Neither a subscriber nor a reader hears of a batch after which all looks the same."""
    store.receive(RUNNING)
    seen: list[Delivery] = []
    store.subscribe(seen.append, session="s1")
    reader = store.reader("s1")
    reader.take()
    store.receive(data)
    assert len(seen) == 1
    assert not reader.pending


def _prompt(store: Store) -> Outgoing:
    return store.prompt("s1", [text("hi")])


@pytest.mark.parametrize(
    ("act", "origins"),
    [
        (lambda store: store.receive(chunk_line("b")), ["live"]),
        (_prompt, ["local"]),
        (lambda store: store.cancel("s1"), []),
        (lambda store: (store.receive(permission_line(1)), store.cancel("s1")), ["live", "local"]),
        (lambda store: (_prompt(store), store.disconnect()), ["local", "local"]),
        (lambda store: (store.receive(chunk_line("b")[:-1]), store.end()), ["live"]),
        (
            lambda store: (
                store.receive(permission_line(1)),
                store.answer_permission("s1", 1, "yes"),
            ),
            ["live", "local"],
        ),
        (
            lambda store: (
                store.sent(RESUME),
                store.receive(chunk_line("a")),
                store.receive(REPLAY_ENDED),
                store.receive(chunk_line("b")),
            ),
            ["local", "replay", "replay", "live"],
        ),
    ],
)
def test_each_delivery_tells_its_origin(
    store: Store, act: Callable[[Store], object], origins: list[str]
) -> None:
    """What the agent does, what it tells again, and what the client did are told apart."""
    seen: list[Delivery] = []
    store.subscribe(seen.append, session="s1")
    act(store)
    assert [one.origin for one in seen[1:]] == origins


def test_changes_are_worked_out_once_for_all(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Subscribers share a delivery, and whoever asks first for the changes does the work."""
    worked_out: list[Snapshot] = []

    def counted(old: Snapshot, new: Snapshot) -> Any:
        worked_out.append(new)
        return changes(old, new)

    monkeypatch.setattr(_comparison, "changes", counted)
    one, other = list[Delivery](), list[Delivery]()
    store.subscribe(one.append, session="s1")
    store.subscribe(other.append)
    store.receive(chunk_line("b"))
    assert worked_out == []
    assert one[-1] is other[-1]
    assert one[-1].changes is other[-1].changes
    assert len(worked_out) == 1


# --- Selectors ---


@pytest.mark.parametrize(
    ("select", "data", "calls"),
    [
        (lambda s: s.plans, chunk_line("b"), 0),
        (lambda s: s.state, RUNNING, 1),
        (lambda s: s.state, IDLE, 0),
        (lambda s: s.entries.message("agent_message", "m"), chunk_line("b"), 1),
        (lambda s: s.entries.message("agent_message", "m"), chunk_line("b", "other"), 0),
        (lambda s: s.entries.message("agent_message", "other"), chunk_line("b", "other"), 1),
        (lambda s: len(s.entries), chunk_line("b"), 0),
    ],
)
def test_a_selector_counts_batches_after_which_it_differs(
    store: Store, select: Callable[[Snapshot], object], data: bytes, calls: int
) -> None:
    """Beyond the first call there is one only when the selected object is another."""
    seen: list[Delivery] = []
    store.subscribe(seen.append, session="s1", select=select)
    store.receive(data)
    assert len(seen) == 1 + calls


# --- What callbacks may do ---


def test_unsubscribing_is_at_once(store: Store) -> None:
    """A callback that closes subscriptions, its own among them, hears no more, nor do they."""
    seen: list[tuple[str, bool]] = []
    subscriptions: list[Subscription] = []

    def first(delivery: Delivery) -> None:
        seen.append(("first", delivery.is_first))
        if not delivery.is_first:
            for subscription in subscriptions:
                subscription.close()

    def second(delivery: Delivery) -> None:
        seen.append(("second", delivery.is_first))

    subscriptions += [store.subscribe(each, session="s1") for each in (first, second)]
    store.receive(chunk_line("b"))
    store.receive(chunk_line("c"))
    assert seen == [("first", True), ("second", True), ("first", False)]
    assert all(subscription.closed for subscription in subscriptions)


def test_a_subscription_is_a_context_manager(store: Store) -> None:
    """Leaving the context unsubscribes, and closing twice does no harm."""
    seen: list[Delivery] = []
    with store.subscribe(seen.append, session="s1") as subscription:
        store.receive(chunk_line("b"))
    subscription.close()
    store.receive(chunk_line("c"))
    assert texts(seen) == ["a", "ab"]


def test_subscribing_within_a_callback_gives_that_moment(store: Store) -> None:
    """A subscriber that joins within a batch sees what is there, and no batch before."""
    seen: list[tuple[str, str]] = []

    def joining(delivery: Delivery) -> None:
        seen.append(("new", texts([delivery])[0]))

    def callback(delivery: Delivery) -> None:
        seen.append(("old", texts([delivery])[0]))
        if texts([delivery]) == ["ab"]:
            store.receive(chunk_line("c"))
            store.subscribe(joining, session="s1")
            store.receive(chunk_line("d"))

    store.subscribe(callback, session="s1")
    store.receive(chunk_line("b"))
    assert seen == [
        ("old", "a"),
        ("old", "ab"),
        ("old", "abc"),
        ("new", "abc"),
        ("old", "abcd"),
        ("new", "abcd"),
    ]


def test_a_callback_that_calls_the_store_is_never_called_within_itself(store: Store) -> None:
    """What a callback does is done when the method returns, and told after the callback has."""
    log: list[str] = []

    def callback(delivery: Delivery) -> None:
        told = texts([delivery])[0]
        log.append(f"begin {told}")
        if len(told) == 2:
            store.receive(chunk_line("c"))
            outgoing = store.prompt("s1", [text("hi")])
            assert store.snapshot("s1").prompts[0].request_id == outgoing.request_id
            assert texts([Delivery.first(store.snapshot("s1"))]) == ["abc"]
        log.append(f"end {told} {len(delivery.new.prompts)}")

    store.subscribe(callback, session="s1")
    other: list[Delivery] = []
    store.subscribe(other.append, session="s1")
    store.receive(chunk_line("b"))
    ends = ["a 0", "ab 0", "abc 0", "abc 1"]
    assert [entry.removeprefix("end ") for entry in log[1::2]] == ends
    assert all(entry.startswith("begin") for entry in log[::2])
    assert texts(other) == ["a", "ab", "abc", "abc"]
    assert all(before.new is after.old for before, after in pairwise(other))


class _Mishap(Exception):  # noqa: N818  # it is no error of the code under test
    """What callbacks of these tests raise."""


def test_a_callback_that_raises_stops_nobody(store: Store) -> None:
    """The exception goes to the hook; other callbacks get the batch, the next one comes too."""
    errors: list[Exception] = []
    seen: list[Delivery] = []

    def failing(delivery: Delivery) -> None:
        raise _Mishap(texts([delivery])[0])

    store.on_callback_error = errors.append
    store.subscribe(failing, session="s1")
    store.subscribe(seen.append, session="s1")
    store.receive(chunk_line("b"))
    store.receive(chunk_line("c"))
    assert [str(error) for error in errors] == ["a", "ab", "abc"]
    assert texts(seen) == ["a", "ab", "abc"]


def test_a_callback_that_raised_is_told_anew() -> None:
    """Nobody knows what it drew, so its next call about that session brings all of it."""
    store, renderers = Store(protocol="v2"), dict[str, ToyRenderer]()
    fails, seen = [False], list[tuple[str, bool]]()

    def draw(delivery: Delivery) -> None:
        renderer = renderers.setdefault(delivery.session_id, ToyRenderer(Snapshot("nothing")))
        if fails.pop():
            raise _Mishap
        renderer.apply(delivery.changes)
        seen.append((delivery.session_id, delivery.is_first))

    store.on_callback_error = lambda _: None
    store.subscribe(draw)
    for session, is_failing in [("s1", 0), ("s2", 0), ("s1", 1), ("s2", 0), ("s1", 1), ("s1", 0)]:
        fails.append(bool(is_failing))
        store.receive(chunk_line("x", session=session))
    fails.append(False)
    store.receive(chunk_line("y", session="s1"))
    assert seen == [("s1", True), ("s2", True), ("s2", False), ("s1", True), ("s1", False)]
    for session in store.sessions:
        assert renderers[session].drawn == drawn(store.snapshot(session))


def test_calls_come_in_the_order_of_subscribing(store: Store) -> None:
    """Whether somebody follows all sessions or one makes no difference to who comes first."""
    calls: list[int] = []
    kept = [
        store.subscribe(lambda _, number=number: calls.append(number), session=session)  # type: ignore[misc]  # a default
        for number, session in enumerate(["s1", None, "s1", "s2", None, "s1"])
    ]
    calls.clear()
    store.receive(chunk_line("b"))
    assert calls == [0, 1, 2, 4, 5]
    kept[1].close()
    kept[2].close()
    calls.clear()
    store.receive(chunk_line("c"))
    assert calls == [0, 4, 5]


@pytest.mark.parametrize(
    "update",
    [
        update_line("config_option_update", configOptions=[]),
        update_line("available_commands_update", availableCommands=[]),
        IDLE,
    ],
)
def test_what_only_the_store_notes_calls_nobody(update: bytes) -> None:
    """A replay that begins in an empty replay changes nothing that can be seen."""
    store, seen = Store(), list[Delivery]()
    store.sent(RESUME)
    store.receive(update)
    store.subscribe(seen.append)
    reader = store.reader("s1")
    reader.take()
    del seen[:]
    store.sent(RESUME.replace(b'"r"', b'"q"'))
    assert seen == []
    assert not reader.pending


def test_those_who_follow_other_sessions_cost_nothing() -> None:
    """Ten thousand subscribers and readers of other sessions do not make a read slower."""

    def seconds(others: int) -> float:
        store = Store(protocol="v2")
        kept: list[object] = []
        for number in range(others):
            kept.append(store.subscribe(lambda _: None, session=f"other {number}"))
            kept.append(store.reader(f"other {number}"))
        start = time.process_time()
        for _ in range(2_000):
            store.receive(chunk_line("x"))
        return time.process_time() - start

    least = [min(seconds(others) for _ in range(3)) for others in (1, 10_000)]
    assert least[1] < 4 * least[0]


def test_selectors_and_wakers_that_raise_are_reported_too(store: Store) -> None:
    """A selector is part of its callback, and a reader's `wake` is called like one."""
    errors: list[Exception] = []
    seen: list[Delivery] = []

    def failing(value: object) -> None:
        raise _Mishap

    store.on_callback_error = errors.append
    store.subscribe(seen.append, session="s1", select=failing)
    reader = store.reader("s1", wake=failing)
    store.receive(chunk_line("b"))
    assert [type(error) for error in errors] == [_Mishap, _Mishap]
    assert texts(seen) == ["a"]
    assert reader.pending


def test_without_a_hook_exceptions_are_printed(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    """The traceback of a callback is printed as one that nobody caught."""

    def failing(delivery: Delivery) -> None:
        raise _Mishap("while drawing")

    store.subscribe(failing, session="s1")
    assert "_Mishap: while drawing" in capsys.readouterr().err


@pytest.mark.parametrize("raised", [_Mishap, KeyboardInterrupt])
def test_what_the_hook_raises_leaves_the_store_and_loses_nothing(
    store: Store, raised: type[BaseException]
) -> None:
    """The calls that were cut short are made by the next method."""
    seen: list[Delivery] = []
    calls: list[Delivery] = []

    def failing(delivery: Delivery) -> None:
        calls.append(delivery)
        if len(calls) == 2:
            raise raised

    def hook(error: Exception) -> None:
        raise error

    store.on_callback_error = hook
    store.subscribe(failing, session="s1")
    store.subscribe(seen.append, session="s1")
    with pytest.raises(raised):
        store.receive(chunk_line("b"))
    assert texts(seen) == ["a"]
    store.receive(b"")
    assert texts(seen) == ["a", "ab"]


# --- Readers ---


def test_a_reader_begins_with_what_is_there(store: Store) -> None:
    """The first step of a reader draws everything, the next ones go on from there."""
    reader = store.reader("s1")
    assert reader.pending
    first = reader.take()
    assert first is not None
    assert (first.is_first, first.new, first.origin) == (True, store.snapshot("s1"), "local")
    assert reader.take() is None
    store.receive(chunk_line("b"))
    second = reader.take()
    assert second is not None
    assert (second.old, second.new, second.origin) == (first.new, store.snapshot("s1"), "live")
    assert [type(step) for step in second.changes] == [TextAppended]


def test_a_reader_holds_one_step_to_the_newest(store: Store) -> None:
    """Whatever came since, there is one step, and it leads to the newest snapshot."""
    reader = store.reader("s1")
    first = reader.take()
    for _ in range(100):
        store.receive(chunk_line("b") + chunk_line("c", "other"))
    step = reader.take()
    assert first is not None
    assert step is not None
    assert (step.old, step.new) == (first.new, store.snapshot("s1"))
    assert [type(one) for one in step.changes] == [TextAppended, EntryAdded]
    assert reader.take() is None


def test_a_reader_of_what_cannot_be_seen_still_ends_at_the_newest(store: Store) -> None:
    """A batch that nobody is told of is within the step that is there."""
    reader = store.reader("s1")
    reader.take()
    store.receive(chunk_line("b"))
    store.receive(update_line("available_commands_update", availableCommands=[]))
    step = reader.take()
    assert step is not None
    assert step.new is store.snapshot("s1")


@pytest.mark.parametrize(
    ("acts", "origin"),
    [
        (["receive"], "live"),
        (["prompt", "prompt"], "local"),
        (["prompt", "receive"], "live"),
        (["resume", "receive"], "live"),
        (["resume", "take", "receive", "receive"], "replay"),
    ],
)
def test_joined_steps_have_a_joint_origin(store: Store, acts: list[str], origin: str) -> None:
    """Steps that are all of one origin keep it, others are live."""
    reader = store.reader("s1")
    reader.take()
    done: dict[str, Callable[[], object]] = {
        "receive": lambda: store.receive(chunk_line("b")),
        "prompt": lambda: _prompt(store),
        "resume": lambda: store.sent(RESUME),
        "take": reader.take,
    }
    for act in acts:
        done[act]()
    step = reader.take()
    assert step is not None
    assert step.origin == origin


ERROR = {"code": -1, "message": "no"}


@pytest.mark.parametrize(
    ("before", "data", "urgent"),
    [
        (b"", chunk_line("b"), False),
        (b"", permission_line(1), True),
        (permission_line(1), permission_line(2), True),
        (permission_line(1), line(method="$/cancel_request", params={"requestId": 1}), False),
        (RUNNING, IDLE, True),
        (IDLE, RUNNING, False),
        (RUNNING, update_line("state_update", state="_odd"), False),
        (b"", update_line("notice", severity="error", title="T"), True),
        (b"", update_line("notice", severity="info", title="T"), False),
        (b"", line(id="p", error=ERROR), True),
        (b"", line(id="p", result={}), True),
        (b"", line(id="p", result={"messageId": "u"}), False),
        (line(id="p", error=ERROR), line(id="q", result={"messageId": "u"}), False),
        (b"", update_line("usage_update", used=1, size=2), False),
    ],
)
def test_some_steps_are_urgent(store: Store, before: bytes, data: bytes, urgent: bool) -> None:
    """A permission, work that came to rest and a failure are urgent until the step is taken."""
    for request_id in ("p", "q"):
        prompt = {"sessionId": "s1", "prompt": [HI]}
        store.sent(line(id=request_id, method="session/prompt", params=prompt))
    store.receive(before)
    reader = store.reader("s1")
    reader.take()
    store.receive(data)
    assert (reader.urgent, reader.wait(0, urgent=True)) == (urgent, urgent)
    store.receive(chunk_line("more"))
    assert reader.urgent is urgent
    assert reader.take() is not None
    assert not reader.urgent


def test_a_permission_that_waits_already_is_urgent(store: Store) -> None:
    """A reader that begins while the user is asked says so, and may find it withdrawn."""
    store.receive(permission_line(1))
    reader = store.reader("s1")
    assert reader.urgent
    reader.take()
    store.receive(permission_line(2))
    store.receive(line(method="$/cancel_request", params={"requestId": 2}))
    step = reader.take()
    assert step is not None
    assert step.changes == ()


def test_a_reader_wakes_for_news_only(store: Store) -> None:
    """`wake` is called for a step where there was none, and again when it becomes urgent."""
    woken: list[tuple[bool, bool]] = []
    reader = store.reader("s1", wake=lambda one: woken.append((one.pending, one.urgent)))
    for data in (chunk_line("b"), permission_line(1), permission_line(2), chunk_line("c")):
        store.receive(data)
    assert woken == [(True, False), (True, True)]
    reader.take()
    store.receive(b"")
    store.receive(chunk_line("d"))
    assert woken[2:] == [(True, False)]
    reader.take()
    reader.close()
    store.receive(chunk_line("e"))
    assert len(woken) == 3


def test_a_closed_reader_gives_its_last_step(store: Store) -> None:
    """Closing follows no further; what was there can be taken, and waiting is over."""
    with store.reader("s1") as reader:
        reader.take()
        store.receive(chunk_line("b"))
    store.receive(chunk_line("c"))
    assert reader.closed
    assert reader.wait()
    step = reader.take()
    assert step is not None
    assert texts([step]) == ["ab"]
    assert not reader.wait()
    assert not reader.wait(urgent=True)


def test_waiting_has_an_end(store: Store) -> None:
    """A wait that is given a time tells whether anything came in it."""
    reader = store.reader("s1")
    assert reader.wait(0)
    reader.take()
    assert not reader.wait(0)
    assert not reader.wait(0.001)
    assert not asyncio.run(reader.wait_async(0.001))
    store.receive(chunk_line("b"))
    assert reader.wait(0)
    assert not reader.wait(0, urgent=True)
    assert asyncio.run(reader.wait_async(0))
    assert not asyncio.run(reader.wait_async(0.001, urgent=True))


def test_a_loop_that_is_gone_wakes_nobody(store: Store) -> None:
    """A reader outlives an event loop whose tasks waited for it."""
    reader = store.reader("s1")
    reader.take()
    loop = asyncio.new_event_loop()
    waiting = loop.create_task(reader.wait_async())
    loop.run_until_complete(asyncio.sleep(0))
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        loop.run_until_complete(waiting)
    abandoned = reader.wait_async()
    step = abandoned.__await__()
    loop.run_until_complete(_send_once(step))
    loop.close()
    store.receive(chunk_line("b"))
    assert reader.pending
    abandoned.close()


async def _send_once(step: Iterator[Any]) -> None:
    """Run a coroutine up to where it waits, and leave it there."""
    next(step)


# --- The law ---


@given(strategies.sessions(well_formed=False, hostile_client=True), st.data())
def test_renderers_that_join_anywhere_end_with_the_newest(
    frames: list[strategies.Frame], data: st.DataObject
) -> None:
    """A subscriber and a reader that begin anywhere draw what is there in the end."""
    store = Store(limits=Limits(notices=2, terminal_bytes=5))
    held: dict[str, ToyRenderer] = {}
    readers: dict[str, tuple[Reader, ToyRenderer]] = {}

    def draw(delivery: Delivery) -> None:
        assert delivery.is_first == (delivery.session_id not in held)
        renderer = held.setdefault(delivery.session_id, ToyRenderer(Snapshot("nothing")))
        renderer.apply(delivery.changes)
        assert renderer.drawn == drawn(delivery.new)

    joins = data.draw(st.integers(0, 10))
    for place, frame in enumerate(frames):
        if place == joins:
            store.subscribe(draw)
        if place % 5 == joins % 5:
            for session_id in store.sessions:
                reader = store.reader(session_id)
                readers.setdefault(session_id, (reader, ToyRenderer(Snapshot("nothing"))))
        (store.sent if frame.sent else store.receive)(frame.data + b"\n")
        if place % 3 == 0:
            take(readers)
    take(readers)
    for session_id, (_, renderer) in readers.items():
        assert renderer.drawn == drawn(store.snapshot(session_id))
    for session_id, renderer in held.items():
        assert renderer.drawn == drawn(store.snapshot(session_id))


def take(readers: dict[str, tuple[Reader, ToyRenderer]]) -> None:
    """Let renderers draw what their readers hold."""
    for reader, renderer in readers.values():
        step = reader.take()
        if step is not None:
            renderer.apply(step.changes)
            assert renderer.drawn == drawn(step.new)


# --- Threads ---


@pytest.fixture
def hasty() -> Iterator[None]:
    """Switch between threads as often as can be."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@contextmanager
def fed(store: Store, *sessions: str) -> Iterator[None]:
    """Feed chunks from a thread for each of some sessions, from before the context to its end."""
    over = threading.Event()
    begun = threading.Barrier(len(sessions) + 1)

    def run(session: str) -> None:
        store.receive(chunk_line("first ", session=session))
        begun.wait(PATIENCE)
        while not over.is_set():
            store.receive(chunk_line("more ", session=session))

    threads = [threading.Thread(target=run, args=(session,)) for session in sessions]
    for thread in threads:
        thread.start()
    begun.wait(PATIENCE)
    yield
    over.set()
    for thread in threads:
        thread.join(PATIENCE)


@pytest.mark.usefixtures("hasty")
def test_nothing_falls_between_subscribing_and_batches() -> None:
    """Whoever subscribes while others feed gets one unbroken chain, one call at a time."""
    store = Store()
    chains: list[list[Delivery]] = []
    inside = threading.Lock()

    def follow() -> None:
        chain: list[Delivery] = []
        chains.append(chain)

        def callback(delivery: Delivery) -> None:
            assert inside.acquire(blocking=False)
            chain.append(delivery)
            inside.release()

        store.subscribe(callback, session="s1")

    errors: list[Exception] = []
    store.on_callback_error = errors.append
    with fed(store, "s1", "s1", "s2"):
        for _ in range(40):
            follow()
    store.receive(b"")
    assert errors == []
    for chain in chains:
        assert chain[0].is_first
        assert all(before.new is after.old for before, after in pairwise(chain))
        assert chain[-1].new is store.snapshot("s1")


def test_reading_and_subscribing_are_one_operation(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch that another thread brings meanwhile waits for its turn, and is then told."""
    present = Store._present
    threads: list[threading.Thread] = []

    def slow(self: Store, session_id: str) -> Snapshot:
        found = present(self, session_id)
        threads.append(threading.Thread(target=store.receive, args=(chunk_line("b"),)))
        threads[-1].start()
        threads[-1].join(0.05)  # in vain while the store is locked
        return found

    monkeypatch.setattr(Store, "_present", slow)
    seen: list[Delivery] = []
    store.subscribe(seen.append, session="s1")
    reader = store.reader("s1")
    for thread in threads:
        thread.join(PATIENCE)
    store.receive(b"")
    assert texts(seen) == ["a", "ab", "abb"]
    step = reader.take()
    assert step is not None
    assert texts([step]) == ["abb"]


def test_the_last_look_into_the_queue_ends_a_turn(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread that found nothing more to call leaves it to the one that begins just then."""
    seen: list[str] = []
    entered, free = threading.Event(), threading.Event()
    others: list[threading.Thread] = []

    def callback(delivery: Delivery) -> None:
        seen.append(texts([delivery])[0])
        if seen[-1] == "abc":
            entered.set()
            assert free.wait(PATIENCE)

    store.subscribe(callback, session="s1")
    look = Subscriptions._has_more

    def look_and_be_slow(self: Subscriptions) -> bool:
        found = look(self)
        if not found and not others:
            others.append(threading.Thread(target=store.receive, args=(chunk_line("c"),)))
            others[0].start()
            assert entered.wait(PATIENCE)
        return found

    monkeypatch.setattr(Subscriptions, "_has_more", look_and_be_slow)
    store.receive(chunk_line("b"))
    store.receive(chunk_line("d"))
    assert seen == ["a", "ab", "abc"]
    free.set()
    others[0].join(PATIENCE)
    assert seen == ["a", "ab", "abc", "abcd"]


@pytest.mark.usefixtures("hasty")
def test_a_thread_that_draws_ends_with_the_newest() -> None:
    """A reader's thread is woken for what comes, and draws all of it in fewer steps."""
    store = Store()
    reader = store.reader("s1")
    renderer = ToyRenderer(Snapshot("s1"))
    steps = threading.Semaphore(0)

    def draw() -> None:
        while reader.wait(PATIENCE):
            reader.wait(0.001, urgent=True)
            step = reader.take()
            assert step is not None
            renderer.apply(step.changes)
            steps.release()

    drawing = threading.Thread(target=draw)
    drawing.start()
    assert steps.acquire(timeout=PATIENCE)
    for _ in range(10):
        store.receive(chunk_line("one at a time "))
        assert steps.acquire(timeout=PATIENCE)
    with fed(store, "s1", "s1"):
        assert steps.acquire(timeout=PATIENCE)
    reader.close()
    drawing.join(PATIENCE)
    assert renderer.drawn == drawn(store.snapshot("s1"))


@pytest.mark.usefixtures("hasty")
def test_an_event_loop_that_draws_ends_with_the_newest() -> None:
    """A loop follows with `async for` what other threads feed, until the reader is closed."""
    store = Store()
    reader = store.reader("s1")
    renderer = ToyRenderer(Snapshot("s1"))

    async def draw() -> int:
        steps = 0
        async for step in reader:
            renderer.apply(step.changes)
            steps += 1
        return steps

    async def main() -> int:
        drawing = asyncio.create_task(draw())
        for _ in range(5):
            await asyncio.sleep(0.001)
            await asyncio.to_thread(store.receive, chunk_line("one at a time "))
        with fed(store, "s1", "s1"):
            await asyncio.sleep(0.01)
        reader.close()
        return await asyncio.wait_for(drawing, PATIENCE)

    assert asyncio.run(main()) > 1
    assert renderer.drawn == drawn(store.snapshot("s1"))


def test_a_task_that_is_cancelled_as_it_is_woken_disturbs_nobody(store: Store) -> None:
    """Waking and cancelling may come in the same moment, in either order."""
    mishaps: list[Any] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda loop, context: mishaps.append(context))
        waiting = asyncio.create_task(reader.wait_async())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.sleep(0)
        store.receive(chunk_line("b"))
        reader.take()
        waking = asyncio.create_task(reader.wait_async())
        await asyncio.sleep(0)
        waking.cancel()
        store.receive(chunk_line("c"))
        await asyncio.wait([waiting, waking])

    reader = store.reader("s1")
    reader.take()
    asyncio.run(main())
    assert mishaps == []
    assert reader.pending


def test_a_waker_may_hand_over_to_an_event_loop(store: Store) -> None:
    """`wake` is called in the feeding thread, and brings the work to the thread of the loop."""

    async def main() -> str:
        loop = asyncio.get_running_loop()
        done = loop.create_future()

        def draw(reader: Reader) -> None:
            step = reader.take()
            if step is not None and not step.is_first:
                done.set_result(texts([step])[0])

        store.reader("s1", wake=lambda reader: loop.call_soon_threadsafe(draw, reader))
        await asyncio.sleep(0)
        thread = threading.Thread(target=store.receive, args=(chunk_line("b"),))
        thread.start()
        return str(await asyncio.wait_for(done, PATIENCE))

    assert asyncio.run(main()) == "ab"


def test_a_callback_may_wait_for_a_thread_that_uses_the_store(store: Store) -> None:
    """The lock is free while callbacks run; what the other thread brings is told afterwards."""
    seen: list[str] = []
    callers: list[int] = []

    def callback(delivery: Delivery) -> None:
        seen.append(texts([delivery])[0])
        callers.append(threading.get_ident())
        if seen[-1] == "ab":
            other = threading.Thread(target=lambda: store.receive(chunk_line("c")))
            other.start()
            other.join(PATIENCE)
            assert not other.is_alive()
            assert texts([Delivery.first(store.snapshot("s1"))]) == ["abc"]
            seen.append("waited")

    store.subscribe(callback, session="s1")
    store.receive(chunk_line("b"))
    assert seen == ["a", "ab", "waited", "abc"]
    assert set(callers) == {threading.get_ident()}


def test_the_package_starts_no_thread_and_loads_no_event_loop() -> None:
    """Subscribing and reading need neither a thread of the package's own nor asyncio."""
    program = (
        "import sys, threading, acp_client\n"
        "store = acp_client.Store()\n"
        "store.subscribe(print, session='s')\n"
        "store.reader('s').wait(0)\n"
        "assert threading.active_count() == 1\n"
        "assert 'asyncio' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)


def test_wire_errors_are_kept_with_prompts(store: Store) -> None:
    """A lost connection is told as the failure of the prompts that waited."""
    seen: list[Delivery] = []
    store.subscribe(seen.append, session="s1", select=lambda snapshot: snapshot.prompts)
    _prompt(store)
    store.disconnect(wire.Error(1, "gone"))
    assert [one.new.prompts[0].status for one in seen[1:]] == ["pending", "uncertain"]
    assert seen[-1].is_urgent


def test_a_reader_that_is_dropped_is_forgotten() -> None:
    """What nothing refers to any more is gone at once, and costs the next read nothing."""
    store, woken = Store(protocol="v2"), list[Reader]()
    dropped = [weakref.ref(store.reader("s1")) for _ in range(3)]
    kept = store.reader("s1")
    store.reader("s1", wake=woken.append)
    assert [find() for find in dropped] == [None] * 3
    store.receive(chunk_line("x"))
    assert len(store._subscriptions._readers["s1"]) == 2
    assert kept.pending
    assert woken[-1] is not kept
    kept.close()
    woken[-1].close()
    assert "s1" not in store._subscriptions._readers
