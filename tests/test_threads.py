"""Threads: one feeds a store, others read, draw, subscribe, leave, ask and answer meanwhile.

The interpreter is told to change threads as often as it can. `ACP_CLIENT_THREAD_SECONDS` is how
long each test goes on; a second unless it says otherwise.
"""

from __future__ import annotations

import base64
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import pairwise
from typing import Any

import pytest
from toy_renderer import ToyRenderer, drawn
from traffic import chunk, chunk_line, open_session, permission_line, text, update_line

import acp_client
from acp_client import AcpClientError, Limits, Snapshot, Store, UnknownSessionError, apply
from acp_client._delivery import Delivery

SECONDS = float(os.environ.get("ACP_CLIENT_THREAD_SECONDS", "1"))
GENEROUS = 60
"""Seconds after which threads that have not ended never will."""

WORDS = [f"{number} é\U0001f680 " for number in range(1_000_000 // 200)]
TEXT = "".join(WORDS)


@pytest.fixture(autouse=True)
def _restless() -> Iterator[None]:
    """Change threads as often as the interpreter can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


class Crew:
    """Threads that each do one thing again and again until the time is over, or one fails."""

    def __init__(self) -> None:
        self.errors: list[BaseException] = []
        self.rounds: dict[str, int] = {}
        self._end = time.monotonic() + SECONDS
        self._threads: list[threading.Thread] = []

    def add(self, name: str, act: Callable[[], object]) -> None:
        """Add a thread."""
        self.rounds[name] = 0
        work = threading.Thread(target=self._work, args=(name, act), name=name, daemon=True)
        self._threads.append(work)

    def _work(self, name: str, act: Callable[[], object]) -> None:
        try:
            while not self.errors:
                act()
                self.rounds[name] += 1
                if time.monotonic() > self._end:
                    return
        except BaseException as error:  # noqa: BLE001  # it is raised by the test
            self.errors.append(error)

    def run(self) -> None:
        """Start all, wait for all, and raise what one of them raised."""
        for thread in self._threads:
            thread.start()
        for thread in self._threads:
            thread.join(SECONDS + GENEROUS)
        stuck = [thread.name for thread in self._threads if thread.is_alive()]
        assert not stuck
        if self.errors:
            raise self.errors[0]
        assert min(self.rounds.values()) > 0


class Feed:
    """What the agent says: the words of a message, and the same as output of a terminal."""

    def __init__(self, store: Store, batch: int = 3) -> None:
        self.store = store
        self.batch = batch
        self.said = 0

    def __call__(self) -> None:
        lines = []
        for word in WORDS[self.said : self.said + self.batch]:
            lines.append(chunk_line(word))
            data = base64.b64encode(word.encode()).decode()
            lines.append(update_line("terminal_output_chunk", terminalId="t", data=data))
        self.said += self.batch
        lines.append(update_line("tool_call_update", toolCallId=f"c{self.said}", title="t"))
        lines.append(permission_line(self.said % 7))
        stream = b"".join(lines)
        middle = len(stream) // 2
        self.store.receive(stream[:middle])
        self.store.receive(stream[middle:])
        if self.said >= len(WORDS):
            self.store.forget_session("s1")
            self.said = 0


def present(store: Store) -> Snapshot:
    """Give the session that is fed, empty while it is closed."""
    try:
        return store.snapshot("s1")
    except UnknownSessionError:
        return Snapshot("s1")


def check(snapshot: Snapshot) -> None:
    """Check that a snapshot is whole: what it says is the beginning of what is said."""
    message = snapshot.entries.message("agent_message", "m")
    said = "" if message is None else message.text
    terminal = snapshot.terminals.get("t")
    output = b"" if terminal is None else terminal.output
    assert TEXT.startswith(said)
    assert TEXT.encode().startswith(output)
    shown = "" if terminal is None else terminal.text
    assert shown == output.decode()
    assert abs(len(said) - len(shown)) <= len(WORDS[-1])  # a batch may be cut between the two
    assert len(list(snapshot.entries)) == len(snapshot.entries)
    for entry in snapshot.entries[-3:]:
        if isinstance(entry, acp_client.ToolCall):
            assert snapshot.entries.tool_call(entry.tool_call_id) is entry


def test_readers_see_whole_snapshots() -> None:
    """Snapshots that are read while the store is fed are true, and stay what they were."""
    store, crew = Store(protocol="v2"), Crew()

    def read() -> None:
        snapshot = present(store)
        before = document_of(snapshot)
        check(snapshot)
        check(snapshot)
        assert document_of(snapshot) == before

    crew.add("feed", Feed(store))
    for number in range(3):
        crew.add(f"read {number}", read)
    crew.add("list", lambda: [len(store.sessions), len(store.problems), store.problem_counts])
    crew.add("measure", lambda: store.memory().total)
    crew.run()


def document_of(snapshot: Snapshot) -> Any:
    """Give what must not change of a snapshot, at little cost."""
    return (len(snapshot.entries), [len(one.output) for one in snapshot.terminals])


def test_changes_lead_from_any_snapshot_to_any_later_one() -> None:
    """Renderers that compute changes in their own threads draw what is there."""
    store, crew = Store(protocol="v2"), Crew()

    def renderer() -> Callable[[], None]:
        held = Snapshot("s1")
        toy = ToyRenderer(held)

        def draw() -> None:
            nonlocal held
            snapshot = present(store)
            toy.apply(acp_client.changes(held, snapshot))
            assert toy.drawn == drawn(snapshot)
            held = snapshot

        return draw

    crew.add("feed", Feed(store, batch=40))
    crew.add("draw", renderer())
    crew.add("draw too", renderer())
    crew.run()


def test_no_notification_is_lost() -> None:
    """Whoever stays is told of every step, whoever comes and goes of every step in between."""
    store, crew = Store(limits=Limits(notices=3), protocol="v2"), Crew()
    store.on_callback_error = crew.errors.append
    stayed: list[Snapshot] = []

    def follow(delivery: Delivery) -> None:
        assert (
            stayed == []
            or delivery.old is stayed[0]
            or not acp_client.changes(stayed[0], delivery.old)
        )
        stayed[:] = [delivery.new]

    def visit() -> None:
        told: list[Delivery] = []
        with store.subscribe(told.append, session="s1"):
            for _ in range(20):
                seen = len(told)
                time.sleep(0)
                assert len(told) >= seen
        for before, after in pairwise(told):
            assert after.old is before.new or not acp_client.changes(before.new, after.old)

    crew.add("feed", Feed(store))
    crew.add("visit", visit)
    crew.add("visit too", visit)
    store.subscribe(follow, session="s1")
    crew.run()
    (last,) = stayed
    assert not acp_client.changes(last, present(store))


def test_readers_are_woken() -> None:
    """Threads that wait for steps are woken, and each step leads on from the one before."""
    store, crew = Store(protocol="v2"), Crew()
    readers = [store.reader("s1") for _ in range(2)]
    taken = [[Snapshot("s1")] for _ in readers]

    def take(number: int) -> Callable[[], None]:
        def act() -> None:
            readers[number].wait(0.01)
            step = readers[number].take()
            if step is not None:
                check(step.new)
                assert step.is_first or step.old is taken[number][0]
                taken[number][:] = [step.new]

        return act

    crew.add("feed", Feed(store))
    for number in range(len(readers)):
        crew.add(f"take {number}", take(number))
    crew.run()
    for number, (last,) in enumerate(taken):
        step = readers[number].take()
        newest = last if step is None else step.new
        assert not acp_client.changes(newest, present(store))


def test_callers_take_turns() -> None:
    """Prompts, cancels and answers from several threads, some from callbacks, all count."""
    store, crew = Store(protocol="v2"), Crew()
    store.on_callback_error = crew.errors.append
    prompts = [0, 0]

    def prompt(number: int) -> Callable[[], None]:
        def act() -> None:
            open_session(store, "prompted").prompt("prompted", [text("hi")])
            prompts[number] += 1
            time.sleep(0.001)  # prompts are kept, and every new one costs what is there

        return act

    def answer() -> None:
        for asked in present(store).permissions:
            with suppress(AcpClientError):  # it was answered, cancelled or asked anew
                store.answer_permission("s1", asked.request_id, "yes")
        store.cancel("s1")

    def answer_within(delivery: Delivery) -> None:
        if delivery.new.permissions:
            answer()

    store.subscribe(answer_within, session="s1")
    crew.add("feed", Feed(store))
    crew.add("prompt", prompt(0))
    crew.add("prompt too", prompt(1))
    crew.add("answer", answer)
    crew.run()
    kept = store.snapshot("prompted").prompts
    assert len(kept) == sum(prompts)
    assert len({one.request_id for one in kept}) == len(kept)


def test_versions_may_be_continued_in_many_threads() -> None:
    """Several threads that go on from one snapshot each get their own, and read it truly."""
    crew = Crew()
    base = Snapshot("s1")
    for word in WORDS[:50]:
        base = apply(base, chunk(word))
    begun = "".join(WORDS[:50])

    def branch(name: str) -> Callable[[], None]:
        def act() -> None:
            snapshot, expected = base, begun
            for number in range(40):
                snapshot = apply(snapshot, chunk(f"{name}{number}"))
                snapshot = apply(snapshot, chunk("x", f"{name}{number}"))
                expected += f"{name}{number}"
            message = snapshot.entries.message("agent_message", "m")
            assert message is not None
            assert message.text == expected
            assert len(snapshot.entries) == 41
            assert snapshot.entries.message("agent_message", f"{name}39") is snapshot.entries[-1]
            first = base.entries.message("agent_message", "m")
            assert first is not None
            assert first.text == begun

        return act

    for name in ("a", "b", "c"):
        crew.add(name, branch(name))
    crew.run()
