"""Interrupts: whatever is raised into the middle of a call, and whoever calls from there.

Real signals come at random moments while a store is used. `ACP_CLIENT_INTERRUPT_SECONDS` is how
long each test goes on; a second unless it says otherwise.
"""

from __future__ import annotations

import base64
import gc
import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import cycle, pairwise
from typing import Any

import pytest
from toy_renderer import ToyRenderer, drawn
from traffic import chunk_line, open_session, permission_line, text, update_line

from acp_client import Delivery, Reader, ReentryError, Snapshot, Store, Subscription, wire
from acp_client import _items as items
from acp_client._content import ContentBlocks

SECONDS = float(os.environ.get("ACP_CLIENT_INTERRUPT_SECONDS", "1"))

pytestmark = [
    pytest.mark.skipif(
        not hasattr(signal, "setitimer"), reason="the system has no timers that interrupt"
    ),
    pytest.mark.timeout(60 + SECONDS, method="thread"),  # the timer is taken
    # Where nobody could catch it, such as in a finalizer, Python prints an interrupt and goes on.
    pytest.mark.filterwarnings(
        "ignore:(?s).*KeyboardInterrupt:pytest.PytestUnraisableExceptionWarning"
    ),
]


class Alarm:
    """Calls a handler once, at a random moment soon after it was set."""

    def __init__(self, handler: Callable[[], object]) -> None:
        self.handler = handler
        self.is_set = False
        self.chance = random.Random(5)

    def set(self) -> None:
        """Set the alarm anew."""
        self.is_set = True
        signal.setitimer(signal.ITIMER_REAL, self.chance.uniform(20e-6, 300e-6))

    def ring(self, *_: object) -> None:
        """Call the handler."""
        if self.is_set:
            self.is_set = False
            self.handler()


def interrupt() -> None:
    """Raise what Ctrl-C raises."""
    raise KeyboardInterrupt


@pytest.fixture
def alarm() -> Iterator[Alarm]:
    """Give an alarm, and the signal back when the test is over."""
    made = Alarm(interrupt)
    before = signal.signal(signal.SIGALRM, made.ring)
    callbacks, gc.callbacks[:] = gc.callbacks[:], []  # those of the test tools are not ours to hit
    yield made
    signal.setitimer(signal.ITIMER_REAL, 0)
    gc.callbacks[:] = callbacks
    signal.signal(signal.SIGALRM, before)


def interrupted(alarm: Alarm, act: Callable[[], object]) -> Iterator[int]:
    """Do something until it is interrupted, and that again and again; count the times."""
    act()  # what is loaded when it is first needed is there: an import is not ours to interrupt
    end, count = time.monotonic() + SECONDS, 0
    while time.monotonic() < end:
        with suppress(KeyboardInterrupt):
            until_it_rings(alarm, act)
        count += 1
        yield count
    assert count > 5


def until_it_rings(alarm: Alarm, act: Callable[[], object]) -> None:
    """Do something again and again; an interrupt within a finalizer ends it and raises nothing."""
    alarm.set()
    while alarm.is_set:
        act()


def traffic() -> Iterator[bytes]:
    """Give lines of all kinds of work, for ever; a generator would not survive an interrupt."""
    return cycle([line for number in range(500) for line in work(number)])


def work(number: int) -> Iterator[bytes]:
    """Write a few lines."""
    output = base64.b64encode(b"%d%%\r" % number).decode()
    yield chunk_line(f"{number} ", f"m{number // 99}")
    yield update_line("terminal_output_chunk", terminalId="t", data=output)
    yield update_line("usage_update", used=number, size=number)
    yield update_line("tool_call_update", toolCallId=f"c{number // 9}", title=f"{number}")
    yield update_line("notice", severity="info", title=f"{number}")
    yield permission_line(number % 3)


def test_subscribers_stay_right(alarm: Alarm) -> None:
    """However often it is interrupted, a renderer that gets the changes draws the snapshot."""
    store, lines = Store(protocol="v2"), traffic()
    renderer = ToyRenderer(Snapshot("s1"))
    store.subscribe(lambda delivery: renderer.apply(delivery.changes), session="s1")
    for number in interrupted(alarm, lambda: store.receive(next(lines))):
        store.receive(chunk_line(f"{number}"))
        assert renderer.drawn == drawn(store.snapshot("s1"))
        if len(store.snapshot("s1").entries) > 50:
            store.forget_session("s1")


def test_readers_stay_right(alarm: Alarm) -> None:
    """However often it is interrupted, nothing stays locked, and the next step leads to the end."""
    store, lines = Store(protocol="v2"), traffic()
    renderer, reader, other = ToyRenderer(Snapshot("s1")), store.reader("s1"), store.reader("s1")

    def act() -> None:
        store.receive(next(lines))
        other.wait(1e-5, urgent=True)
        other.take()

    for number in interrupted(alarm, act):
        store.receive(chunk_line(f"{number}"))
        step = reader.take()
        assert step is not None
        renderer.apply(step.changes)
        assert renderer.drawn == drawn(store.snapshot("s1"))
        if len(store.snapshot("s1").entries) > 50:
            store.forget_session("s1")


def test_texts_stay_right(alarm: Alarm) -> None:
    """However often it is interrupted, a text is that of its content, once."""
    store = Store(protocol="v2")

    def act() -> None:
        store.receive(chunk_line("word "))
        data = base64.b64encode(b"word ").decode()
        store.receive(update_line("terminal_output_chunk", terminalId="t", data=data))
        texts(store)

    for _ in interrupted(alarm, act):
        message, terminal = texts(store)
        assert message == "word " * message.count("w")
        assert terminal == "word " * terminal.count("w")
        assert message.count("w") == len(store.snapshot("s1").entries[0].content)  # type: ignore[union-attr]  # a message
        if len(message) > 5_000:
            store.forget_session("s1")
            store.receive(b"")


def test_no_lock_stays_locked(alarm: Alarm) -> None:
    """However often one thread is interrupted, another one waits for nothing."""
    store, lines = Store(protocol="v2"), cycle([chunk_line("x"), MISTAKE, chunk_line("x", "n")])
    store.receive(chunk_line("first"))
    store.subscribe(lambda _: None)
    reader = store.reader("s1")

    def act() -> None:
        store.receive(next(lines))
        reader.take()
        store.subscribe(lambda _: None, session="s2").close()
        texts(store)

    for number in interrupted(alarm, act):
        other = threading.Thread(target=act, daemon=True)
        other.start()
        other.join(20)
        assert not other.is_alive()
        if number % 100 == 0:
            store.forget_session("s1")


def texts(store: Store) -> tuple[str, str]:
    """Read the texts of a session's message and terminal."""
    if "s1" not in store.sessions:
        store.receive(chunk_line("word "))
    snapshot = store.snapshot("s1")
    message, terminal = snapshot.entries[0], snapshot.terminals.get("t")
    assert not isinstance(message, wire.Unknown)
    return message.text, terminal.text if terminal else ""  # type: ignore[union-attr]  # a message


def test_a_signal_handler_loses_nothing(alarm: Alarm) -> None:
    """What a handler submits is there, unless it was told that it cannot be."""
    store, lines = open_session(Store(protocol="v2"), "s2"), traffic()
    store.subscribe(lambda _: None)
    submitted: list[Any] = []
    refused = [0]

    def submit() -> None:
        try:
            submitted.append(store.prompt("s2", [text("hi")]).request_id)
        except ReentryError:
            refused[0] += 1

    alarm.handler = submit
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and len(submitted) < 500:
        alarm.set()
        while alarm.is_set:
            store.receive(next(lines))
    assert [prompt.request_id for prompt in store.snapshot("s2").prompts] == submitted
    assert submitted
    assert refused[0] > 0


def test_a_signal_handler_may_feed_another_store(alarm: Alarm) -> None:
    """What a handler reads with a store of its own waits for nobody, and is not mixed up."""
    store, lines = Store(protocol="v2"), cycle([MISTAKE, chunk_line("x"), ODD])
    others: list[Store] = []

    def feed() -> None:
        others.append(Store(protocol="v2"))
        others[-1].receive(ODD + MISTAKE)

    feed()
    alarm.handler = feed
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        alarm.set()
        while alarm.is_set:
            store.receive(next(lines))
    paths = ["$.params.update.background", "$.params.update.locations"]
    for other in others:
        assert [problem.path for problem in other.problems] == paths
    found = [problem.path for problem in store.problems]
    assert {tuple(pair) for pair in pairwise(found)} == {tuple(paths), tuple(reversed(paths))}


ODD = update_line("state_update", state="running", background=[5])


def test_a_signal_handler_may_read_and_close(alarm: Alarm) -> None:
    """A handler that draws, or leaves, waits for nobody: it would wait for ever."""
    store, lines = Store(protocol="v2"), traffic()
    reader = store.reader("s1")
    subscriptions: list[Subscription] = []

    def draw() -> None:
        reader.take()
        for entry in store.snapshot("s1").entries:
            getattr(entry, "text", "")
        subscriptions[-1].close()

    alarm.handler = draw
    store.receive(chunk_line("first"))
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        subscriptions.append(store.subscribe(lambda _: None))
        alarm.set()
        while alarm.is_set:
            store.receive(next(lines))
            reader.wait(1e-5, urgent=True)
            reader.take()
            texts(store)
    assert all(subscription.closed for subscription in subscriptions)


def test_an_interrupt_of_a_finalizer_is_no_failure(alarm: Alarm) -> None:
    """These tests go on where an interrupt comes while something is being collected."""

    class Slow:
        def __del__(self) -> None:
            while alarm.is_set:
                pass

    alarm.set()
    Slow()
    gc.collect()  # tells what the finalizer raised, if anything still has to
    assert not alarm.is_set


def test_a_finalizer_may_close_a_subscription() -> None:
    """A widget that leaves when it is collected, in the middle of a call perhaps, hangs nobody."""
    store = Store(protocol="v2")
    before = gc.get_threshold()
    closed = [0]

    class Widget:
        def __init__(self) -> None:
            self.itself = self
            self.subscription = store.subscribe(lambda _: None)
            self.reader = store.reader("s1")

        def __del__(self) -> None:
            self.subscription.close()
            self.reader.close()
            closed[0] += 1

    gc.set_threshold(3)
    try:
        for number in range(300):
            Widget()
            store.receive(chunk_line(f"{number}"))
    finally:
        gc.set_threshold(*before)
    gc.collect()
    assert closed[0] == 300


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_can_read_and_feed() -> None:
    """A child that was forked while others read and feed has locks of its own."""
    store, lines = Store(protocol="v2"), traffic()
    store.receive(chunk_line("first"))
    subscription, reader = store.subscribe(lambda _: None), store.reader("s1")
    is_over = threading.Event()

    def feed() -> None:
        while not is_over.is_set():
            store.receive(b"".join(next(lines) for _ in range(50)) + MISTAKE)
            texts(store)

    worker = threading.Thread(target=feed)
    worker.start()
    snapshot = store.snapshot("s1")
    try:
        for _ in range(20):
            assert ended_well(snapshot, store, subscription, reader)
    finally:
        is_over.set()
        worker.join()


MISTAKE = update_line("tool_call_update", toolCallId="c", locations=5)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_callback_may_fork() -> None:
    """In the child the callback goes on, and what comes meanwhile is told when it has returned."""
    store, seen = Store(protocol="v2"), list[str]()
    children: list[int] = []

    def draw(delivery: Delivery) -> None:
        seen.append(f"begin {len(delivery.new.entries)}")
        if not children:
            children.append(os.fork())
            if children == [0]:
                store.receive(chunk_line("b", "n"))
        seen.append(f"end {len(delivery.new.entries)}")

    store.subscribe(draw)
    store.receive(chunk_line("a", "m"))
    if children == [0]:
        os._exit(seen != ["begin 1", "end 1", "begin 2", "end 2"])
    assert os.waitpid(children[0], 0)[1] == 0
    assert seen == ["begin 1", "end 1"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_call_of_another_thread_is_told_anew_in_a_forked_process() -> None:
    """Nobody in the child knows what the other thread drew, so its callback gets all there is."""
    store, seen = Store(protocol="v2"), list[bool]()
    begun, is_over = threading.Event(), threading.Event()

    def draw(delivery: Delivery) -> None:
        seen.append(delivery.is_first)
        if len(seen) == 2:
            begun.set()
            is_over.wait()

    store.receive(chunk_line("a"))
    store.subscribe(draw)
    worker = threading.Thread(target=store.receive, args=[chunk_line("b")])
    worker.start()
    begun.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        store.receive(chunk_line("c"))
        os._exit(seen != [True, False, True])
    assert os.waitpid(child, 0)[1] == 0
    is_over.set()
    worker.join()


def ended_well(
    snapshot: Snapshot, inherited: Store, subscription: Subscription, reader: Reader
) -> bool:
    """Read, and feed a new store, in a forked process; tell whether it came to its end."""
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # what hangs is killed
        store = Store(protocol="v2")
        store.receive(chunk_line("x") + MISTAKE + chunk_line("y"))
        subscription.close()
        reader.take()
        reader.close()
        inherited.memory()
        read = texts(store)[0] == "xy" and snapshot.entries[0].text.startswith("first")  # type: ignore[union-attr]  # a message
        os._exit(0 if read else 1)
    return os.waitpid(child, 0)[1] == 0


def test_an_interrupted_callback_is_told_anew() -> None:
    """Nobody knows what a callback drew that was interrupted, so it gets all of the session."""
    store, seen = Store(protocol="v2"), list[Delivery]()

    def draw(delivery: Delivery) -> None:
        seen.append(delivery)
        if len(seen) == 2:
            raise KeyboardInterrupt

    store.subscribe(draw)
    store.receive(chunk_line("a"))
    with pytest.raises(KeyboardInterrupt):
        store.receive(chunk_line("b"))
    store.receive(chunk_line("c"))
    store.receive(chunk_line("d"))
    assert [delivery.is_first for delivery in seen] == [True, False, True, False]
    assert drawn(seen[2].new) == drawn(store.snapshot("s1")) or seen[3].old is seen[2].new


def test_what_fails_before_the_calls_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch whose calls cannot be made ready is not there: the next step begins where it was."""
    store, renderer = Store(protocol="v2"), ToyRenderer(Snapshot("s1"))
    store.subscribe(lambda delivery: renderer.apply(delivery.changes), session="s1")
    store.receive(chunk_line("a"))

    def fail(self: Delivery) -> bool:
        raise MemoryError

    with monkeypatch.context() as failing:
        failing.setattr(Delivery, "is_visible", property(fail))
        with pytest.raises(MemoryError):
            store.receive(chunk_line("b"))
    store.receive(chunk_line("c"))
    assert texts(store)[0] == "ac"
    assert renderer.drawn == drawn(store.snapshot("s1"))


def test_an_append_that_fails_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was appended in vain is in no later version."""
    blocks = ContentBlocks._made([f"{number}" for number in range(32)])

    def fail(self: Any, tail: Any) -> Any:
        self.leaves = [*(self.leaves or ()), tail[:32]]
        raise MemoryError

    with monkeypatch.context() as failing:
        failing.setattr(items._Lineage, "settle", fail)
        with pytest.raises(MemoryError):
            blocks._appended(["lost"] * 40)
    later = blocks
    for number in range(32, 100):
        later = later._appended([f"{number}"])
    assert later.text == "".join(map(str, range(100)))


def test_a_text_that_fails_is_read_anew() -> None:
    """A text that could not be made once is made whole the next time, and not twice."""
    failures = iter([False, True, False])

    class Failing:
        def __init__(self) -> None:
            self.joined = ""

        def feed(self, items: list[Any]) -> None:
            joined, self.joined = self.joined, ""
            if next(failures, False):
                raise MemoryError
            self.joined = joined + "".join(items)

        def text(self) -> str:
            return self.joined

    blocks = ContentBlocks._made(["a"])
    assert items.accumulated_text(blocks, Failing) == "a"
    longer = blocks._appended(["b"])
    with pytest.raises(MemoryError):
        items.accumulated_text(longer, Failing)
    assert items.accumulated_text(longer, Failing) == "ab"
    assert items.accumulated_text(longer._appended(["c"]), Failing) == "abc"
