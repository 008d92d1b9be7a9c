"""The laws that specify the reducer and the store, over generated sessions.

Events are what whole connections tell, well kept or not: all variants, malformed fields, what the
client sends and learns. Two snapshots are the same when they are equal and are stored as the same
bytes: the second catches an equality that overlooks something.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any

import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from strategies import Frame
from traffic import (
    chunk,
    chunk_line,
    deliver,
    deliveries,
    document,
    event,
    events,
    open_session,
    replayed,
    snapshots,
    text,
    told,
)

import acp_client
from acp_client import Event, Limits, Snapshot, Store, wire
from acp_client._json import encode, parse
from acp_client._jsonrpc import METHODS
from acp_client._lenient import structure
from acp_client._lenient_scalars import Malformed
from acp_client._typed import Refused, convert, decode_update

EMPTY = Snapshot("s1")
DEFAULT = Limits()
LIMITS = st.sampled_from([DEFAULT, Limits(notices=1, terminal_bytes=2)])
HOSTILE = strategies.sessions(well_formed=False, hostile_client=True)
PROPER = strategies.sessions(well_formed=True)
PROTOCOLS: st.SearchStrategy[Any] = st.sampled_from(["v2", None])
"""The hot path takes over when it is settled that the agent speaks v2, or at once if one knows."""


def fold(snapshot: Snapshot, taken: Iterable[Event], limits: Limits = DEFAULT) -> Snapshot:
    """Apply events one by one."""
    return reduce(lambda s, e: acp_client.apply(s, e, limits=limits), taken, snapshot)


def versions(snapshot: Snapshot, taken: Iterable[Event]) -> list[Snapshot]:
    """Give the snapshot before all events and the one after each."""
    found = [snapshot]
    for one in taken:
        found.append(acp_client.apply(found[-1], one))
    return found


def read(snapshot: Snapshot) -> list[Any]:
    """Read all that is worked out on demand: texts, and the bytes that would be stored."""
    entries = [getattr(entry, "text", None) for entry in snapshot.entries]
    terminals = [(terminal.output, terminal.text) for terminal in snapshot.terminals]
    return [entries, terminals, acp_client.dumps(snapshot)]


def assert_same(one: Snapshot, other: Snapshot) -> None:
    """Compare two snapshots, and what is read of them."""
    assert one == other
    assert read(one) == read(other)


# --- 1: folding does not depend on batching ---


@given(events(), st.integers(0, 40), LIMITS)
def test_folding_does_not_depend_on_batching(taken: list[Event], cut: int, limits: Limits) -> None:
    """Two batches give what one gives, and what the events give one by one."""
    first = acp_client.apply_all(EMPTY, taken[:cut], limits=limits)
    cut_in_two = acp_client.apply_all(first, taken[cut:], limits=limits)
    assert_same(acp_client.apply_all(EMPTY, taken, limits=limits), cut_in_two)
    assert_same(fold(EMPTY, taken, limits), cut_in_two)


# --- 2: bytes may be cut anywhere ---


@given(st.data())
def test_bytes_may_be_cut_anywhere(data: st.DataObject) -> None:
    """Any split of what the agent wrote gives the snapshots and the problems of whole lines."""
    frames = data.draw(HOSTILE)
    pieces = data.draw(strategies.splits(strategies.received(frames)))
    protocol = data.draw(PROTOCOLS)
    lines = ((frame.sent, frame.data + b"\n") for frame in frames)
    whole = deliver(Store(protocol=protocol), lines)
    split = deliver(Store(protocol=protocol), deliveries(frames, pieces))
    assert snapshots(split) == snapshots(whole)
    assert split.problems == whole.problems
    assert split.sessions == whole.sessions


@given(st.data())
def test_a_run_of_chunks_may_be_cut_anywhere(data: st.DataObject) -> None:
    """Chunks of few messages, which are read by their envelopes, give what each one tells."""
    strings = st.lists(st.text(alphabet=list('a"\\{}é\ud83d\ude80\n '), max_size=4), max_size=30)
    lines = [chunk_line(string, data.draw(st.sampled_from("ab"))) for string in data.draw(strings)]
    stream = b"".join(lines)
    pieces = ((False, piece) for piece in data.draw(strategies.splits(stream)))
    store = deliver(Store(protocol=data.draw(PROTOCOLS)), pieces)
    expected = fold(EMPTY, [one for _, one in told(Frame(False, line) for line in lines)])
    assert [store.snapshot("s1")] == [expected] if lines else store.sessions == ()


# --- 3: old snapshots never change ---


@given(events(), st.integers(0, 40), events(10))
def test_old_snapshots_never_change(taken: list[Event], place: int, branch: list[Event]) -> None:
    """Every version stays what it was, while two continuations grow from one of them."""
    trunk = versions(EMPTY, taken)
    seen = [read(version) for version in trunk]
    others = versions(trunk[min(place, len(taken))], branch)
    after = [read(version) for version in others]
    more = fold(trunk[min(place, len(taken))], branch)
    assert [read(version) for version in trunk] == seen
    assert [read(version) for version in others] == after
    assert_same(more, others[-1])


@given(events())
def test_versions_that_nobody_read_are_true(taken: list[Event]) -> None:
    """A version that is read only when later ones exist is what a fold of its own gives."""
    trunk = versions(EMPTY, taken)
    for length in range(0, len(trunk), 3):
        assert_same(trunk[length], acp_client.apply_all(EMPTY, taken[:length]))


# --- 5: what is stored is restored ---


@given(events(), events(10))
def test_what_is_stored_is_restored(taken: list[Event], later: list[Event]) -> None:
    """A restored snapshot is the stored one, and goes on as that one does."""
    before = acp_client.apply_all(EMPTY, taken)
    restored = acp_client.loads(acp_client.dumps(before))
    assert_same(restored, before)
    assert_same(acp_client.apply_all(restored, later), acp_client.apply_all(before, later))


# --- 6: a no-op returns the same object ---


@given(events(), LIMITS)
def test_equal_means_the_same_object(taken: list[Event], limits: Limits) -> None:
    """An event that changes nothing gives the snapshot itself, entities and all."""
    snapshot = EMPTY
    for one in taken:
        after = acp_client.apply(snapshot, one, limits=limits)
        assert (after is snapshot) == (after == snapshot)
        for name in ("entries", "terminals", "plans"):
            values = getattr(snapshot, name)
            for old, new in zip(values, getattr(after, name), strict=False):
                assert (old is new) == (old == new)
        snapshot = after


NOT_REPEATABLE = (
    wire.UserMessageChunk,
    wire.AgentMessageChunk,
    wire.AgentThoughtChunk,
    wire.ToolCallContentChunk,
    wire.TerminalOutputChunk,
    wire.CompactionSummaryChunk,
    wire.Notice,
    acp_client.PromptSent,
    acp_client.PromptAccepted,  # the next prompt under that id
    acp_client.PromptRejected,
    acp_client.PromptUncertain,
)


@given(events())
def test_the_same_upsert_twice_is_a_no_op(taken: list[Event]) -> None:
    """What is no chunk, notice or prompt changes nothing when it is told again at once."""
    snapshot = EMPTY
    for one in taken:
        snapshot = acp_client.apply(snapshot, one)
        if type(one) is not wire.Unknown and not isinstance(one, NOT_REPEATABLE):
            assert acp_client.apply(snapshot, one) is snapshot
    assert acp_client.apply_all(snapshot, []) is snapshot


# --- 7: any bytes at all are consumed ---


@given(st.data())
def test_junk_does_not_disturb_valid_messages(data: st.DataObject) -> None:
    """Lines that are no messages, anywhere among valid ones, change no session."""
    frames = data.draw(PROPER)
    junk = [Frame(False, line) for line in data.draw(st.lists(strategies.junk_lines(inert=True)))]
    mixed = data.draw(strategies.interleavings(frames, junk))
    assert snapshots(replayed(mixed, "v2")) == snapshots(replayed(frames, "v2"))


@given(st.lists(st.one_of(st.binary(max_size=60), strategies.junk_lines())), st.booleans())
def test_any_bytes_are_consumed(junk: list[bytes], ends: bool) -> None:
    """Whatever comes, nothing is raised, and what valid messages say before and after counts."""
    store = Store(limits=Limits(line_length=5_000), protocol="v2")
    store.receive(chunk_line("before", "valid", "valid"))
    for data in junk:
        store.receive(data)
        store.sent(data)
    if ends:
        store.end()
    else:
        store.receive(b"\n")
    store.receive(chunk_line(" after", "valid", "valid"))
    message = store.snapshot("valid").entries.message("agent_message", "valid")
    assert message is not None
    assert message.text == "before after"


@given(strategies.junk_lines(), strategies.junk_lines())
def test_an_unterminated_end_is_consumed(junk: bytes, last: bytes) -> None:
    """Input may end anywhere, and more may come after its end."""
    store = Store()
    store.receive(junk + b"\n" + last)
    store.end()
    store.end()
    store.receive(chunk_line("x", "valid", "valid"))
    assert len(store.snapshot("valid").entries) == 1


# --- 8: typed and lenient decoding agree ---


def decoded_leniently(value: Any, kind: Any) -> tuple[Any, int]:
    """Decode on the lenient path alone; count what it had to repair."""
    result, findings = structure(value, kind)
    return result, len(findings)


def written(value: Any) -> bytes:
    """Write a wire object so that each difference shows, that of `1` and `1.0` too."""
    return encode(wire.to_builtins(value))


@pytest.mark.parametrize("variant", strategies.VARIANTS)
@given(data=st.data())
def test_both_paths_agree_on_well_formed_updates(variant: str, data: st.DataObject) -> None:
    """What the typed decoder accepts the lenient path reads as the same object, unrepaired."""
    update = data.draw(strategies.updates(variant))
    line = strategies.encode(strategies.notification(update))
    lenient, repairs = decoded_leniently(parse(line)["params"], wire.UpdateSessionNotification)
    assert repairs == 0
    try:
        typed = decode_update(line).params
    except Refused:
        return  # an unknown variant, or text that only the lenient parser takes
    assert typed.update == lenient.update
    assert written(typed) == written(lenient)


@given(strategies.odd_updates())
def test_the_typed_decoder_accepts_nothing_malformed(update: Any) -> None:
    """What the typed decoder accepts of damaged updates needs no repair on the lenient path."""
    line = strategies.encode(strategies.notification(update))
    try:
        typed = decode_update(line).params.update
    except Refused:
        return
    lenient, repairs = decoded_leniently(parse(line)["params"], wire.UpdateSessionNotification)
    again = acp_client.apply(EMPTY, lenient.update)
    assert repairs == 0
    assert_same(acp_client.apply(EMPTY, typed), again)


RESULTS = sorted(
    {method.result for method in METHODS.values()} - {None}, key=lambda kind: str(kind)
)
PARAMETERS = [(name, method.params) for name, method in METHODS.items() if method.params]


@given(HOSTILE)
def test_both_paths_agree_on_requests_and_results(frames: list[Frame]) -> None:
    """The same holds for parameters, results and errors, whichever class they are read as."""
    for frame in frames:
        try:
            message = parse(frame.data)
        except ValueError:
            continue
        if isinstance(message, dict):
            for value, kind in carried(message):
                assert_both_paths_agree(value, kind)


def carried(message: dict[str, Any]) -> list[tuple[Any, type]]:
    """Give the parts of a message with the classes that they may be read as."""
    parts: list[tuple[Any, type]] = [(message.get("error"), wire.Error)]
    parts += [(message.get("result"), kind) for kind in RESULTS]
    method = message.get("method")
    return parts + [(message.get("params"), kind) for name, kind in PARAMETERS if name == method]


def assert_both_paths_agree(value: Any, kind: Any) -> None:
    """Read a value strictly and leniently; what is accepted strictly must be the same."""
    try:
        typed = convert(value, kind)
    except Refused:
        return
    lenient, repairs = decoded_leniently(value, kind)
    assert repairs == 0
    assert typed == lenient
    assert written(typed) == written(lenient)


@given(strategies.odd_updates())
def test_what_is_repaired_needs_no_repair_again(update: Any) -> None:
    """What the lenient path makes of an update is, written out, well-formed and the same."""
    try:
        repaired, _ = decoded_leniently(parse(strategies.encode(update)), wire.SessionUpdate)
    except Malformed:
        return
    if isinstance(repaired, wire.UnknownStateUpdate):
        return  # written without its tag
    again, repairs = decoded_leniently(parse(written(repaired)), wire.SessionUpdate)
    assert repairs == 0
    assert again == repaired


# --- 9: prompt response and echo commute ---

ECHOES: st.SearchStrategy[Event] = st.sampled_from(
    [
        event("user_message", messageId="a", content=[{"type": "text", "text": "hi"}]),
        event("user_message", messageId="a"),
        event("user_message_chunk", messageId="a", content={"type": "text", "text": "h"}),
        event("user_message", messageId="b", content=None),
        event("user_message_chunk", messageId="b", content={"type": "text", "text": ""}),
        chunk("no echo", "a"),
    ]
)
ANSWERS: st.SearchStrategy[Event] = st.sampled_from(
    [
        acp_client.PromptAccepted(0, "a"),
        acp_client.PromptAccepted(1, "a"),
        acp_client.PromptAccepted(1, "b"),
        acp_client.PromptAccepted(2, "c"),
        acp_client.PromptRejected(2, wire.Error(1, "no")),
        acp_client.PromptUncertain(0),
    ]
)


@given(st.data(), events(15))
def test_response_and_echo_commute(data: st.DataObject, before: list[Event]) -> None:
    """Answers and echoes of several prompts give the same in every order between the two."""
    sent: list[Event] = [acp_client.PromptSent(number, (text("hi"),)) for number in range(3)]
    base = acp_client.apply_all(EMPTY, [*before, *sent])
    answers, echoes = data.draw(st.lists(ANSWERS)), data.draw(st.lists(ECHOES))
    orders = strategies.interleavings(answers, echoes)
    one, other = data.draw(orders), data.draw(orders)
    assert_same(acp_client.apply_all(base, one), fold(base, other))
    assert_same(acp_client.apply_all(base, [*answers, *echoes]), fold(base, [*echoes, *answers]))


@given(st.data(), PROPER)
def test_response_and_echo_commute_on_the_wire(data: st.DataObject, before: list[Frame]) -> None:
    """The same holds for the lines of an agent, whatever else went before."""
    store_one, store_other = replayed(before, "v2"), replayed(before, "v2")
    request = open_session(store_one).prompt("s1", [text("hi")])
    assert open_session(store_other).prompt("s1", [text("hi")]) == request
    answer = {"jsonrpc": "2.0", "id": request.request_id, "result": {"messageId": "mine"}}
    echo = strategies.notification({"sessionUpdate": "user_message", "messageId": "mine"})
    lines = [strategies.encode(message) + b"\n" for message in (answer, echo)]
    store_one.receive(b"".join(lines))
    store_other.receive(b"".join(reversed(lines)))
    assert snapshots(store_one) == snapshots(store_other)
    assert store_one.snapshot("s1").prompts[-1].echoed


# --- 10: what does not touch does not change ---


@given(st.data())
def test_two_sessions_do_not_touch(data: st.DataObject) -> None:
    """The updates of two sessions, mixed anyhow, give each session what its own give alone."""
    lists = strategies.update_lists(well_formed=False)
    own = {name: data.draw(lists) for name in ("s1", "s2")}
    first, second = (
        [Frame(False, strategies.encode(strategies.notification(one, name))) for one in updates]
        for name, updates in own.items()
    )
    store = Store(protocol="v2")
    store.receive(strategies.received(data.draw(strategies.interleavings(first, second))))
    alone = [replayed(frames, "v2") for frames in (first, second)]
    for one in alone:
        for name in one.sessions:
            assert store.snapshot(name) == one.snapshot(name)
    assert len(store.problems) == sum(len(one.problems) for one in alone)


ENTITIES = ("messageId", "toolCallId", "terminalId", "compactionId")


def with_other_ids(update: dict[str, Any]) -> dict[str, Any]:
    """Give an update of an entity another id than the generator gives."""
    return {key: f"other {value}" if key in ENTITIES else value for key, value in update.items()}


@given(st.data())
def test_two_entities_do_not_touch(data: st.DataObject) -> None:
    """The updates of entities with different ids, mixed anyhow, change each as its own do alone."""
    lists = strategies.update_lists(well_formed=True)
    first, second = (
        [one for one in data.draw(lists) if any(key in one for key in ENTITIES)] for _ in range(2)
    )
    groups = [first, [with_other_ids(one) for one in second]]
    alone, other = ([one for _, one in told(map(framed, group))] for group in groups)
    mixed = acp_client.apply_all(EMPTY, data.draw(strategies.interleavings(alone, other)))
    for group in (alone, other):
        snapshot = acp_client.apply_all(EMPTY, group)
        assert [find(mixed, entry) for entry in snapshot.entries] == list(snapshot.entries)
        for terminal in snapshot.terminals:
            assert mixed.terminals.get(terminal.terminal_id) == terminal


def framed(update: dict[str, Any]) -> Frame:
    """Write an update as a frame of the agent."""
    return Frame(False, strategies.encode(strategies.notification(update)))


def find(snapshot: Snapshot, entry: acp_client.Entry) -> acp_client.Entry | None:
    """Find the entry of the same kind and id."""
    match entry:
        case acp_client.Message():
            return snapshot.entries.message(entry.type, entry.message_id)
        case acp_client.ToolCall():
            return snapshot.entries.tool_call(entry.tool_call_id)
        case acp_client.Compaction():
            return snapshot.entries.compaction(entry.compaction_id)
    return entry if entry in snapshot.entries else None


@given(events())
def test_the_document_is_plain_json(taken: list[Event]) -> None:
    """Every snapshot has a document, whose texts are those of the snapshot."""
    snapshot = acp_client.apply_all(EMPTY, taken)
    shown = document(snapshot)
    assert shown["sessionId"] == "s1"
    assert len(shown["entries"]) == len(snapshot.entries)
    for entry in shown["entries"]:
        assert entry["type"] != "unknown" or set(entry) == {"type", "update"}
