"""The store: bytes in, snapshots out, compared with a second opinion, and what a client may do."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

import naive
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from strategies import Frame
from traffic import (
    chunk_line,
    documents,
    line,
    open_session,
    permission_line,
    snapshots,
    text,
    update_line,
)

import acp_client
from acp_client import (
    InvalidValueError,
    Limits,
    Problem,
    Store,
    UnknownPermissionError,
    UnknownSessionError,
    wire,
)
from acp_client._versions import Protocol

HI = [text("hi")]
RUNNING = update_line("state_update", state="running")
CALL = update_line("tool_call_update", toolCallId="c", status="in_progress")
WRONG: Any = 5
NO_JSON: Any = object()


def store_of(*lines: bytes, **limits: Any) -> Store:
    """Make a store that has received some lines."""
    store = Store(limits=Limits(**limits))
    store.receive(b"".join(lines))
    return store


def answer_of(line: bytes) -> Any:
    """Parse a line that a store gave to be written."""
    assert line.endswith(b"\n")
    return json.loads(line)


# --- The second opinion ---


class Compared:
    """A store and the second opinion of it, fed alike."""

    def __init__(self, protocol: Protocol | None) -> None:
        self.store = Store(protocol=protocol)
        self.naive = naive.Naive(rules=naive.LANDED)

    def feed(self, frame: Frame, number: int) -> None:
        """Give both a frame."""
        if frame.sent:
            self.store.sent(frame.data + b"\n")
            self.naive.sent(frame.data)
            return
        self.store.receive(frame.data + b"\n", line=number)
        self.naive.receive(frame.data, number)

    def disconnect(self) -> None:
        """Lose both connections."""
        self.store.disconnect()
        self.naive.disconnect()

    def check(self) -> None:
        """Compare the documents, and problems by line and kind."""
        document = self.naive.document()
        assert documents(self.store) == document["sessions"]
        found = [(problem.line, problem.kind) for problem in self.store.problems]
        assert found == [(problem["line"], problem["kind"]) for problem in document["problems"]]


def compare(
    frames: list[Frame], lost_at: int | None = None, protocol: Protocol | None = "v2"
) -> None:
    """Feed frames to a store and the second opinion, and compare at the end and at a loss."""
    compared = Compared(protocol)
    for number, frame in enumerate(frames, 1):
        if number == lost_at:
            compared.check()
            compared.disconnect()
            compared.check()
        compared.feed(frame, number)
    compared.check()


LOSS = st.one_of(st.none(), st.integers(1, 30))


@given(strategies.sessions(well_formed=True, max_frames=60), LOSS, st.sampled_from([None, "v2"]))
def test_well_formed_sessions_give_what_the_design_says(
    frames: list[Frame], lost_at: int | None, protocol: Protocol | None
) -> None:
    """Whole sessions give the documents of an independent implementation, and no problems."""
    compare(frames, lost_at, protocol)


@given(strategies.sessions(well_formed=False, max_frames=60, hostile_client=True), LOSS)
def test_hostile_sessions_give_what_the_design_says(
    frames: list[Frame], lost_at: int | None
) -> None:
    """Damaged sessions give its documents and its problems, by line and kind."""
    compare(frames, lost_at)


@pytest.mark.parametrize("variant", [*strategies.VARIANTS, strategies.UNKNOWN])
@given(data=st.data())
def test_every_variant_gives_what_the_design_says(variant: str, data: st.DataObject) -> None:
    """Updates of one variant, good and damaged, give its documents and problems too."""
    some = st.lists(
        st.one_of(strategies.updates(variant), strategies.odd_updates(variant)), max_size=6
    )
    lines = [strategies.encode(strategies.notification(one)) for one in data.draw(some)]
    compare([Frame(False, line) for line in lines])


def test_problems_of_a_batch_name_the_message() -> None:
    """A path leads into the array, be it to an update or to what a request was answered with."""
    store = open_session(Store(protocol="v2"))
    prompt = store.prompt("s1", HI)
    update = json.loads(update_line("usage_update", used=-1, size=1))
    answer = {"jsonrpc": "2.0", "id": prompt.request_id, "result": {"messageId": None}}
    store.receive(json.dumps([5, update, answer]).encode() + b"\n")
    assert [problem.path for problem in store.problems] == [
        "$[0]",
        "$[1].params.update.used",
        "$[2].result.messageId",
    ]


# --- What the client does, said once by the store and once by the client's own transport ---


def test_prompt_is_known_before_it_is_written() -> None:
    """A prompt is in the snapshot at once, and the line to write is the request."""
    store = open_session(Store())
    out = store.prompt("s1", [text("hi"), wire.ResourceLink("a", "file:///a", size=3)])
    (prompt,) = store.snapshot("s1").prompts
    assert (prompt.request_id, prompt.status, prompt.echoed) == (out.request_id, "pending", False)
    assert answer_of(out.data) == {
        "jsonrpc": "2.0",
        "id": out.request_id,
        "method": "session/prompt",
        "params": {
            "sessionId": "s1",
            "prompt": [
                {"type": "text", "text": "hi"},
                {"type": "resource_link", "name": "a", "uri": "file:///a", "size": 3},
            ],
        },
    }


def test_cancel_marks_and_answers_at_once() -> None:
    """A cancel marks what is unfinished, and hands out the notification and every answer."""
    store = store_of(RUNNING, CALL, permission_line(7), permission_line("8"))
    first, *answers = store.cancel("s1").data.splitlines(keepends=True)
    assert answer_of(first)["method"] == "session/cancel"
    assert answer_of(first)["params"] == {"sessionId": "s1"}
    cancelled = {"outcome": {"outcome": "cancelled"}}
    assert [(one["id"], one["result"]) for one in map(answer_of, answers)] == [
        (7, cancelled),
        ("8", cancelled),
    ]
    snapshot = store.snapshot("s1")
    assert snapshot.permissions == ()
    assert document_of(store)["entries"][0]["status"] == "cancelled"
    assert document_of(store)["entries"][0]["reportedStatus"] == "in_progress"


def document_of(store: Store) -> Any:
    """Give the document of the only session."""
    (document,) = documents(store)
    return document


@pytest.mark.parametrize(
    ("option", "outcome"),
    [("yes", {"outcome": "selected", "optionId": "yes"}), (None, {"outcome": "cancelled"})],
)
def test_answering_a_permission(option: str | None, outcome: Any) -> None:
    """An answer is handed out once, and the request is pending no longer."""
    store = store_of(permission_line(7))
    data = store.answer_permission("s1", 7, option).data
    assert answer_of(data) == {"jsonrpc": "2.0", "id": 7, "result": {"outcome": outcome}}
    assert store.snapshot("s1").permissions == ()


CLOSERS: dict[str, Callable[[Store], object]] = {
    "answer": lambda store: store.answer_permission("s1", 7, "yes"),
    "transport": lambda store: store.sent(line(id=7, result={"outcome": {"outcome": "cancelled"}})),
    "withdrawal": lambda store: store.receive(
        line(method="$/cancel_request", params={"requestId": 7})
    ),
    "cancel": lambda store: store.cancel("s1"),
    "loss": lambda store: store.disconnect(),
    "another session": lambda store: store.receive(permission_line(7, "s2")),
}
"""What closes the permission request 7 of the session `s1`."""


@pytest.mark.parametrize("close", CLOSERS)
def test_an_answer_that_comes_too_late_is_an_error(close: str) -> None:
    """What is gone cannot be answered: the caller is told, and there is nothing to send."""
    store = store_of(permission_line(7), permission_line(8))
    CLOSERS[close](store)
    before = snapshots(store)
    with pytest.raises(UnknownPermissionError, match="7"):
        store.answer_permission("s1", 7, "yes")
    assert snapshots(store) == before


def test_two_permissions_are_answered_in_any_order() -> None:
    """Of two open permissions neither is dropped, and the later may be answered first."""
    store = store_of(permission_line(1), permission_line("1", title="And this?"))
    assert [one.request_id for one in store.snapshot("s1").permissions] == [1, "1"]
    store.answer_permission("s1", "1", "no")
    assert [one.request_id for one in store.snapshot("s1").permissions] == [1]
    store.answer_permission("s1", 1, "yes")
    assert store.snapshot("s1").permissions == ()


@given(strategies.sessions(well_formed=False, hostile_client=True))
def test_what_the_store_says_is_what_a_transport_would_say(frames: list[Frame]) -> None:
    """Bytes that one store made, reported as sent to another, leave both in the same place."""
    speaking, listening = Store(protocol="v2"), Store(protocol="v2", observer=True)
    for session in ("s1", "s2"):
        open_session(speaking, session)
        open_session(listening, session)
    for place, frame in enumerate(frames):
        for store in (speaking, listening):
            if frame.sent:
                store.sent(frame.data + b"\n")
            else:
                store.receive(frame.data + b"\n")
        listening.sent(spoken(speaking, place))
        assert snapshots(speaking) == snapshots(listening)


def spoken(store: Store, place: int) -> bytes:
    """Have a store say one of the things that it can say."""
    if place % 5 == 0:
        return store.prompt("s1", HI).data
    if place % 7 == 0:
        return store.cancel("s2").data
    for snapshot in snapshots(store):
        for asked in snapshot.permissions:
            option = asked.options[0].option_id if place % 2 else None
            return store.answer_permission(snapshot.session_id, asked.request_id, option).data
    return b""


@pytest.mark.parametrize("requests", [range(100), [str(number) for number in range(100)]])
def test_own_ids_do_not_collide(requests: Any) -> None:
    """Ids of the store's requests are none that a transport counts, as number or as text."""
    store = open_session(Store())
    own = {store.prompt("s1", HI).request_id for _ in range(3)}
    assert len(own) == 3
    assert own.isdisjoint(requests)
    for request_id in requests:
        params = {"sessionId": "s1", "prompt": []}
        store.sent(line(id=request_id, method="session/prompt", params=params))
        store.receive(line(id=request_id, result={"messageId": "m"}))
    statuses = [prompt.status for prompt in store.snapshot("s1").prompts]
    assert statuses == ["pending"] * 3 + ["accepted"] * 100


# --- Misuse ---


@pytest.mark.parametrize(
    ("misuse", "error"),
    [
        (lambda store: store.snapshot("nobody"), UnknownSessionError),
        (lambda store: store.answer_permission("nobody", 7, None), UnknownSessionError),
        (lambda store: store.answer_permission("s1", "7", None), UnknownPermissionError),
        (lambda store: store.answer_permission("s1", 7, "maybe"), InvalidValueError),
        (lambda store: store.prompt("s1", []), InvalidValueError),
        (lambda store: store.prompt("s1", "hi"), InvalidValueError),
        (lambda store: store.prompt("s1", b"hi"), InvalidValueError),
        (lambda store: store.prompt("s1", ["hi"]), InvalidValueError),
        (lambda store: store.prompt("s1", [{"type": "text", "text": "hi"}]), InvalidValueError),
        (lambda store: store.prompt("s1", [wire.TextContent(WRONG)]), InvalidValueError),
        (lambda store: store.prompt("s1", [wire.TextContent(NO_JSON)]), InvalidValueError),
        (lambda store: store.prompt("s1", [wire.Notice("info", "n")]), InvalidValueError),
        (lambda store: store.prompt("s1", [wire.Unknown({"text": "hi"})]), InvalidValueError),
    ],
)
def test_misuse_is_an_error_and_changes_nothing(
    misuse: Callable[[Any], object], error: type[Exception]
) -> None:
    """A caller's mistake raises an exception of ours and leaves every session as it was."""
    store = store_of(permission_line(7))
    before = snapshots(store)
    with pytest.raises(error) as raised:
        misuse(store)
    assert isinstance(raised.value, acp_client.AcpClientError)
    assert snapshots(store) == before


# --- Sessions ---

OPENS = line(id=1, method="session/new", params={"cwd": "/"})
PROMPT = line(id=1, method="session/prompt", params={"sessionId": "s", "prompt": []})
CANCEL = line(method="session/cancel", params={"sessionId": "s"})
RESUME = line(id=1, method="session/resume", params={"sessionId": "s", "cwd": "/"})
SET = line(id=1, method="session/set_config_option", params={"sessionId": "s", "configId": "a"})
LIST = line(id=1, method="session/list", params={"sessionId": "s"})
OPTIONS = [{"type": "boolean", "configId": "b", "name": "B", "currentValue": True}]


@pytest.mark.parametrize(
    ("sent", "received", "expected"),
    [
        (b"", update_line("agent_message", "s", messageId="m"), ("s",)),
        (b"", update_line("_vendor", "s"), ("s",)),
        (b"", update_line("agent_message", "s", messageId=7), ()),
        (b"", permission_line(1, "s"), ("s",)),
        (b"", permission_line(1, "s", options=[]), ()),
        (PROMPT, b"", ("s",)),
        (CANCEL, b"", ("s",)),
        (RESUME, b"", ("s",)),
        (OPENS, b"", ()),
        (OPENS, line(id=1, result={"sessionId": "s"}), ("s",)),
        (OPENS, line(id=1, result={"sessionId": 5}), ()),
        (OPENS, line(id=1, error={"code": 1, "message": "no"}), ()),
        (OPENS, line(id=2, result={"sessionId": "s"}), ()),
        (SET, line(id=1, result={"configOptions": OPTIONS}), ()),
        (LIST, line(id=1, result={"sessions": []}), ()),
        (b"not json\n", b"not json\n", ()),
        (b"", line(id=3, result={"sessionId": "s"}), ()),
    ],
)
def test_what_makes_a_session(sent: bytes, received: bytes, expected: tuple[str, ...]) -> None:
    """A session comes to be by an applied update or permission, a result, or what was sent."""
    store = Store()
    store.sent(sent)
    store.receive(received)
    assert store.sessions == expected


def test_sessions_are_in_order_of_first_appearance() -> None:
    """A session keeps its place, and a second one does not touch the first."""
    store = store_of(*(chunk_line(name, session=name) for name in ("b", "a", "b", "c", "a")))
    assert store.sessions == ("b", "a", "c")
    assert [snapshot.entries[0].type for snapshot in snapshots(store)] == ["agent_message"] * 3
    texts = [document["entries"][0]["content"] for document in documents(store)]
    assert [len(content) for content in texts] == [2, 2, 1]


def test_updates_may_precede_the_result_of_a_new_session() -> None:
    """What an update has reported stays, and the other list is taken from the result."""
    store = Store()
    store.sent(OPENS)
    commands = [{"type": "command", "name": "c", "description": "d"}]
    store.receive(chunk_line("early", session="s"))
    store.receive(update_line("available_commands_update", "s", availableCommands=commands))
    store.receive(
        line(id=1, result={"sessionId": "s", "availableCommands": [], "configOptions": OPTIONS})
    )
    document = document_of(store)
    assert document["availableCommands"] == commands
    assert document["configOptions"] == OPTIONS
    assert len(document["entries"]) == 1


@pytest.mark.parametrize(
    ("answer", "kept", "told_options"),
    [
        (line(id=1, result={}), ["replayed"], 0),
        (line(id=1, result={"configOptions": OPTIONS}), ["replayed"], 1),
        (line(id=1, error={"code": 1, "message": "no"}), ["before"], 0),
        (line(id=1, error="no"), ["replayed"], 0),
        (line(id=1, result=None), ["replayed"], 0),
    ],
)
def test_replay_tells_the_session_anew(answer: bytes, kept: list[str], told_options: int) -> None:
    """A replay starts from empty beside the old snapshot, which only an error restores."""
    store = store_of(chunk_line("before", session="s"), permission_line(5, "s"))
    before = store.snapshot("s")
    params = {"sessionId": "s", "cwd": "/", "replayFrom": {"type": "start"}}
    store.sent(line(id=1, method="session/resume", params=params))
    assert store.snapshot("s").before_replay is before
    assert len(store.snapshot("s").permissions) == 1
    store.receive(chunk_line("replayed", session="s"))
    assert document_of(store)["replaying"] is True
    assert store.snapshot("s").replaying
    store.receive(answer)
    snapshot = store.snapshot("s")
    assert [getattr(entry, "text", None) for entry in snapshot.entries] == kept
    assert len(snapshot.config_options) == told_options
    assert not snapshot.replaying
    assert "replaying" not in document_of(store)


def test_only_the_newest_replay_ends_a_replay() -> None:
    """An answer to an older resume leaves the newer replay going."""
    store = store_of(chunk_line("before", session="s"))
    params = {"sessionId": "s", "replayFrom": {"type": "start"}}
    for request_id in (1, 2):
        store.sent(line(id=request_id, method="session/resume", params=params))
    store.receive(line(id=1, error={"code": 1, "message": "no"}))
    assert store.snapshot("s").replaying
    store.receive(line(id=2, result={}))
    assert not store.snapshot("s").replaying
    assert len(store.snapshot("s").entries) == 0


def test_lost_connection() -> None:
    """Pending prompts become uncertain, permissions go, an unfinished line is forgotten."""
    store = store_of(CALL, permission_line(7), chunk_line("cut")[:-9])
    out = store.prompt("s1", HI)
    entries = store.snapshot("s1").entries
    store.disconnect(wire.Error(-1, "gone"))
    snapshot = store.snapshot("s1")
    (prompt,) = snapshot.prompts
    assert (prompt.status, prompt.error) == ("uncertain", wire.Error(-1, "gone"))
    assert snapshot.permissions == ()
    assert snapshot.entries is entries
    store.receive(line(id=out.request_id, result={"messageId": "late"}))
    assert store.snapshot("s1") is snapshot
    assert store.problems == ()


def test_agent_tells_of_itself() -> None:
    """The last good result of `initialize` can be read; a malformed one is a problem."""
    store = Store()
    assert store.agent is None
    good = {"protocolVersion": 2, "info": {"name": "agent", "version": "1"}}
    for request_id, result in enumerate((good, {"protocolVersion": 2}, {"protocolVersion": -1})):
        store.sent(line(id=request_id, method="initialize", params={}))
        store.receive(line(id=request_id, result=result))
        assert store.agent is not None
        assert store.agent.info == wire.Implementation("agent", "1")
    assert [problem.kind for problem in store.problems] == ["rejected", "rejected"]
    assert store.sessions == ()


# --- Bytes, lines and problems ---


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_bytes_of_any_kind(kind: Callable[[bytes], Any]) -> None:
    """What a transport reads into may be given as it is, and written to again afterwards."""
    store = Store()
    store.receive(kind(chunk_line("x")[:20]))
    store.receive(kind(chunk_line("x")[20:]))
    store.sent(kind(PROMPT))
    assert store.sessions == ("s1", "s")


def test_a_buffer_that_is_reused_changes_nothing() -> None:
    """A store keeps no reference to the buffer of a read."""
    store, buffer = Store(), bytearray(chunk_line("kept"))
    store.receive(buffer)
    buffer[:] = b"\0" * len(buffer)
    assert document_of(store)["entries"][0]["content"][0]["text"] == "kept"


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        (chunk_line("whole")[:-1], []),
        (b"", []),
        (b" \r", []),
        (b'{"jsonrpc": "2.0", "meth', [(2, "truncated")]),
        (b"[1", [(2, "truncated")]),
        (b"5", [(2, "invalid_message")]),
        (b"x" * 2_000, [(2, "too_long")]),
    ],
)
def test_end_takes_the_unterminated_line(last: bytes, expected: list[Any]) -> None:
    """The last line is a message even without its end, and `truncated` if it is none."""
    store = store_of(chunk_line("first"), last, line_length=1_000)
    store.end()
    assert [(problem.line, problem.kind) for problem in store.problems] == expected
    assert len(store.snapshot("s1").entries[0].content) == 1 + (b"whole" in last)  # type: ignore[union-attr]  # a message
    store.end()
    assert len(store.problems) == len(expected)


def test_problems_count_lines_from_one() -> None:
    """Blank and good lines count too, and so do the lines of several reads."""
    store = store_of(b"bad\n\n", chunk_line("x"), b"worse\nba")
    store.receive(b"d\n")
    assert [problem.line for problem in store.problems] == [1, 4, 5]
    store.receive(b"bad\nbad\n", line=70)
    store.receive(b"bad\n")
    assert [problem.line for problem in store.problems][3:] == [70, 71, 72]


def test_a_line_over_the_limit_is_skipped_to_its_end() -> None:
    """A line that is too long is one problem, however it arrives, and the next one counts."""
    for size in (1, 7, 4_000):
        store, stream = Store(limits=Limits(line_length=300)), b"x" * 3_000 + b"\n"
        stream += chunk_line("after")
        for start in range(0, len(stream), size):
            store.receive(stream[start : start + size])
        assert store.problems == (Problem(1, "too_long", "$", "is longer than the limit"),)
        assert store.sessions == ("s1",)


def test_only_the_last_problems_are_kept_but_all_are_counted() -> None:
    """The ring of problems is bounded, the counts are not."""
    store = store_of(b"bad\n" * 5, b"5\n", problems=2)
    assert [(problem.line, problem.kind) for problem in store.problems] == [
        (5, "not_json"),
        (6, "invalid_message"),
    ]
    assert store.problem_counts["not_json"] == 5
    assert store.problem_counts["invalid_message"] == 1
    assert sum(store.problem_counts.values()) == 6
    assert store_of(b"bad\n", problems=0).problems == ()


@pytest.mark.parametrize("sent", [b"junk", b"5", b"[]", b'{"id":1}', b"x" * 400, b"\xff", b"{"])
def test_what_the_client_sent_is_never_a_problem(sent: bytes) -> None:
    """What is not understood of the client's own lines is left alone."""
    store = Store(limits=Limits(line_length=300))
    store.sent(sent + b"\n" + PROMPT)
    assert store.problems == ()
    assert store.sessions == ("s",)


def test_a_prompt_that_is_half_readable_is_followed() -> None:
    """Of a prompt that was sent the readable blocks are kept."""
    store = Store()
    blocks = [5, {"type": "text", "text": "good"}, {"type": "text"}]
    params = {"sessionId": "s", "prompt": blocks}
    store.sent(line(id=1, method="session/prompt", params=params))
    assert store.snapshot("s").prompts[0].content == (text("good"),)


def test_one_read_is_one_new_snapshot() -> None:
    """Sessions that a read does not touch, or does not change, keep their snapshot."""
    store = store_of(RUNNING, chunk_line("x", session="s2"))
    before = snapshots(store)
    store.receive(RUNNING + chunk_line("y", session="s2") + chunk_line("z", session="s2"))
    after = snapshots(store)
    assert after[0] is before[0]
    assert after[1] is not before[1]


def test_many_threads_may_use_one_store() -> None:
    """Calls take turns: nothing is lost, and snapshots that were taken meanwhile stay whole."""
    store, taken = open_session(Store()), list[tuple[acp_client.Snapshot, int, str]]()
    lines = [chunk_line(f"{number} ") for number in range(200)]

    def write() -> None:
        for one in lines:
            store.receive(one)
            store.prompt("s1", HI)

    def read() -> None:
        for _ in range(300):
            if store.sessions:
                snapshot = store.snapshot("s1")
                message = snapshot.entries.message("agent_message", "m")
                taken.append((snapshot, len(snapshot.prompts), message.text if message else ""))

    threads = [threading.Thread(target=each) for each in (write, write, read, read)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    message = store.snapshot("s1").entries.message("agent_message", "m")
    assert message is not None
    assert len(message.content) == len(store.snapshot("s1").prompts) == 400
    assert sorted(message.text.split()) == sorted([str(number) for number in range(200)] * 2)
    for snapshot, prompts, text_then in taken:
        found = snapshot.entries.message("agent_message", "m")
        assert len(snapshot.prompts) == prompts
        assert (found.text if found else "") == text_then
