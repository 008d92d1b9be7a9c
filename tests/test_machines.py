"""A store, a scripted agent, subscribers, readers and stored snapshots, in any order of calls.

Hypothesis chooses the calls. Only the public API is used. After each call every renderer has drawn
what a whole drawing of its newest snapshot shows, and no snapshot that was kept has changed.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
import strategies
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from toy_renderer import ToyRenderer, drawn

from acp_client import (
    AcpClientError,
    Delivery,
    Reader,
    Snapshot,
    Store,
    UnknownSessionError,
    apply,
    changes,
    decode,
    dumps,
    loads,
    wire,
)

SESSION = "s1"
ERRORS = st.sampled_from([-1, -32800, -32002])
HISTORIES = 4
"""So many snapshots are kept to see that they do not change."""


class MishapError(Exception):
    """What a callback raises."""


def line(**members: Any) -> bytes:
    """Write one message."""
    return json.dumps({"jsonrpc": "2.0", **members}).encode() + b"\n"


class Subscriber:
    """Draws what it is given, and at times raises in the middle of that."""

    def __init__(self, store: Store) -> None:
        self.renderers: dict[str, ToyRenderer] = {}
        self.raises = False
        self.behind: set[str] = set()
        self.subscription = store.subscribe(self.draw)

    def draw(self, delivery: Delivery) -> None:
        """Draw a step."""
        if self.raises:
            self.raises = False
            self.behind.add(delivery.session_id)
            raise MishapError
        fresh = ToyRenderer(Snapshot("nothing"))
        renderer = self.renderers.setdefault(delivery.session_id, fresh)
        renderer.apply(delivery.changes)
        assert renderer.drawn == drawn(delivery.new)
        self.behind.discard(delivery.session_id)


class Machine(RuleBasedStateMachine):
    """One store and all that follows it."""

    def __init__(self) -> None:
        super().__init__()
        self.store = Store(protocol="v2")
        self.store.on_callback_error = self.failed
        self.surprises: list[Exception] = []
        self.asked = 100
        self.written = b""
        self.subscribers: list[Subscriber] = []
        self.readers: list[tuple[Reader, ToyRenderer]] = []
        self.kept: list[tuple[Snapshot, Any]] = []
        self.open: list[Any] = []

    def failed(self, error: Exception) -> None:
        """Let nothing pass but what a callback was to raise."""
        if not isinstance(error, MishapError):
            self.surprises.append(error)

    @initialize()
    def begin(self) -> None:
        """Let the session be there."""
        self.receive(line(method="session/update", params=params(sessionUpdate="user_message")))

    def receive(self, data: bytes) -> None:
        """Take bytes, and write what the store has to say."""
        self.store.receive(data)
        self.written += self.store.data_to_send()

    def known(self) -> bool:
        """Whether the session is there."""
        return SESSION in self.store.sessions

    # -------- the agent

    @rule(update=strategies.updates())
    def report(self, update: dict[str, Any]) -> None:
        """Report an update."""
        self.receive(strategies.encode(strategies.notification(update, SESSION)) + b"\n")

    @rule(updates=strategies.update_lists(well_formed=False, max_size=6), cut=st.integers(0, 400))
    def report_in_pieces(self, updates: list[dict[str, Any]], cut: int) -> None:
        """Report a few updates in one read that is cut anywhere."""
        lines = [strategies.encode(strategies.notification(update)) for update in updates]
        data = b"".join(each + b"\n" for each in lines)
        self.receive(data[:cut])
        self.receive(data[cut:])

    @rule(junk=strategies.junk_lines(inert=True))
    def chatter(self, junk: bytes) -> None:
        """Write what is no message; no snapshot changes."""
        before = [self.store.snapshot(session) for session in self.store.sessions]
        self.receive(junk.replace(b"\n", b"") + b"\n")
        after = [self.store.snapshot(session) for session in self.store.sessions]
        assert all(old is new for old, new in zip(before, after, strict=True))

    @rule(again=st.booleans())
    def ask(self, again: bool) -> None:
        """Ask for a permission, at times under an id that is open."""
        self.asked += not again
        options = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]
        asked = {"sessionId": SESSION, "title": "May I?", "options": options}
        self.receive(line(id=self.asked, method="session/request_permission", params=asked))

    @rule(is_url=st.booleans())
    def elicit(self, is_url: bool) -> None:
        """Ask for some values, or to visit a URL."""
        self.asked += 1
        fields: dict[str, Any] = {"sessionId": SESSION, "message": "m"}
        if is_url:
            fields |= {"mode": "url", "url": "u:", "elicitationId": "e"}
        else:
            fields |= {"mode": "form", "requestedSchema": {"type": "object", "properties": {}}}
        self.receive(line(id=self.asked, method="elicitation/create", params=fields))

    @rule()
    def complete(self) -> None:
        """Say that a URL was visited."""
        self.receive(line(method="elicitation/complete", params={"elicitationId": "e"}))

    @precondition(lambda self: self.open)
    @rule(place=st.integers(0, 9), result=st.sampled_from([{"messageId": "a"}, {}, None, 5]))
    def answer(self, place: int, result: Any) -> None:
        """Answer a request of the client."""
        self.receive(line(id=self.open.pop(place % len(self.open)), result=result))

    @precondition(lambda self: self.open)
    @rule(place=st.integers(0, 9), code=ERRORS)
    def refuse(self, place: int, code: int) -> None:
        """Answer a request of the client with an error."""
        error = {"code": code, "message": "no"}
        self.receive(line(id=self.open.pop(place % len(self.open)), error=error))

    # -------- the client

    def called(self, outgoing: Any) -> None:
        """Write what a call made, and remember what waits for an answer."""
        data = self.store.data_to_send()
        assert data.endswith(outgoing.data)
        self.written += data
        if hasattr(outgoing, "request_id"):
            self.open.append(outgoing.request_id)

    @precondition(known)
    @rule()
    def prompt(self) -> None:
        """Send a prompt."""
        self.called(self.store.prompt(SESSION, [wire.TextContent("hi")]))
        assert self.store.snapshot(SESSION).prompts[-1].status == "pending"

    @precondition(known)
    @rule()
    def cancel(self) -> None:
        """Cancel the work: no permission request is open afterwards."""
        self.called(self.store.cancel(SESSION))
        assert len(self.store.snapshot(SESSION).permissions) == 0

    @precondition(known)
    @rule(replay=st.booleans())
    def resume(self, replay: bool) -> None:
        """Resume the session, with or without its history."""
        self.called(self.store.resume_session(SESSION, "/", replay=replay))

    @precondition(known)
    @rule()
    def close(self) -> None:
        """Close the session."""
        self.called(self.store.close_session(SESSION))

    @precondition(known)
    @rule(place=st.integers(-1, 3))
    def permit(self, place: int) -> None:
        """Answer a permission request; one that is gone is a typed error, and sends nothing."""
        pending = list(self.store.snapshot(SESSION).permissions)
        if 0 <= place < len(pending):
            request_id = pending[place].request_id
            self.called(self.store.answer_permission(SESSION, request_id, None))
            left = [one.request_id for one in self.store.snapshot(SESSION).permissions]
            assert request_id not in left
        else:
            with pytest.raises(AcpClientError):
                self.store.answer_permission(SESSION, "gone", None)
            assert self.store.data_to_send() == b""

    @rule()
    def misuse(self) -> None:
        """Name a session that does not exist: an error, and nothing changes."""
        with pytest.raises(UnknownSessionError):
            self.store.prompt("nowhere", [wire.TextContent("hi")])
        assert self.store.data_to_send() == b""
        assert "nowhere" not in self.store.sessions

    @rule()
    def lose(self) -> None:
        """Lose the connection: nothing waits any more."""
        self.store.disconnect(wire.Error(-1, "gone"))
        self.open.clear()
        for session in self.store.sessions:
            snapshot = self.store.snapshot(session)
            assert len(snapshot.permissions) == 0
            assert all(prompt.status != "pending" for prompt in snapshot.prompts)
            assert snapshot.before_replay is None

    @precondition(known)
    @rule()
    def forget(self) -> None:
        """Forget the session; what is reported later begins it again."""
        self.store.forget_session(SESSION)
        assert SESSION not in self.store.sessions

    # -------- those who follow

    @precondition(lambda self: len(self.subscribers) < 3)
    @rule()
    def subscribe(self) -> None:
        """Add a subscriber in the middle of everything."""
        self.subscribers.append(Subscriber(self.store))

    @precondition(lambda self: self.subscribers)
    @rule()
    def unsubscribe(self) -> None:
        """Take the oldest subscriber away."""
        self.subscribers.pop(0).subscription.close()

    @precondition(lambda self: self.subscribers)
    @rule()
    def trip(self) -> None:
        """Let the newest subscriber raise when it is called next."""
        self.subscribers[-1].raises = True

    @precondition(lambda self: len(self.readers) < 3)
    @rule()
    def read(self) -> None:
        """Add a reader."""
        self.readers.append((self.store.reader(SESSION), ToyRenderer(Snapshot("nothing"))))

    @precondition(lambda self: self.readers)
    @rule()
    def take(self) -> None:
        """Let the oldest reader draw what there is."""
        reader, renderer = self.readers[0]
        step = reader.take()
        if step is not None:
            renderer.apply(step.changes)
            assert renderer.drawn == drawn(step.new)

    @precondition(lambda self: self.readers)
    @rule()
    def stop_reading(self) -> None:
        """Close the oldest reader."""
        reader, _ = self.readers.pop(0)
        reader.close()
        assert reader.closed

    @precondition(known)
    @rule()
    def keep(self) -> None:
        """Keep a snapshot, stored and restored, to see that neither changes."""
        snapshot = self.store.snapshot(SESSION)
        assert loads(dumps(snapshot)) == snapshot
        self.kept = [*self.kept[1 - HISTORIES :], (snapshot, drawn(snapshot))]

    @precondition(lambda self: self.kept)
    @rule(update=strategies.updates())
    def branch(self, update: dict[str, Any]) -> None:
        """Continue an older snapshot: the changes from it lead to the continuation."""
        snapshot, _ = self.kept[0]
        message, _ = decode(strategies.encode(strategies.notification(update)))
        assert isinstance(message, wire.Notification)
        assert isinstance(message.params, wire.UpdateSessionNotification)
        later = apply(snapshot, message.params.update)
        renderer = ToyRenderer(snapshot)
        renderer.apply(changes(snapshot, later))
        assert renderer.drawn == drawn(later)

    # -------- what is always true

    @invariant()
    def everybody_is_up_to_date(self) -> None:
        """Find that subscribers have drawn the newest snapshots, unless they have just raised."""
        for subscriber in self.subscribers:
            for session in set(self.store.sessions) - subscriber.behind:
                renderer = subscriber.renderers.get(session)
                if renderer is not None:
                    assert renderer.drawn == drawn(self.store.snapshot(session))

    @invariant()
    def no_surprises(self) -> None:
        """Find that callbacks raised nothing but what they were to raise."""
        assert self.surprises == []

    @invariant()
    def history_stays(self) -> None:
        """Find each snapshot that was kept as it was."""
        for snapshot, before in self.kept:
            assert drawn(snapshot) == before

    @invariant()
    def what_is_written_is_whole(self) -> None:
        """Find that all that was written is lines of JSON."""
        for each in self.written.splitlines():
            assert json.loads(each)["jsonrpc"] == "2.0"
        self.written = b""


def params(**update: Any) -> dict[str, Any]:
    """Write the parameters of an update."""
    return {"sessionId": SESSION, "update": {"messageId": "m", **update}}


Machine.TestCase.settings = settings(max_examples=12, stateful_step_count=25)
TestMachine = Machine.TestCase


@pytest.mark.long
class TestMachineForLong(Machine.TestCase):  # type: ignore[misc,valid-type]  # made at run time
    """The same, many times and with more calls."""

    settings = settings(max_examples=1_000, stateful_step_count=50)
