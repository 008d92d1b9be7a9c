"""The hot path: runs of chunks that are read by their envelopes give what each line tells alone."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from traffic import chunk_line, snapshots, told, update_line

import acp_client
from acp_client import Limits, Snapshot, Store, _decode, apply
from acp_client._chunk_runs import Intake, WordsV2
from acp_client._reducer import Drafts
from acp_client._typed import decode_update

# Ways to write a chunk, some of them meant to mislead: the id or the text in other places too, in
# another order, twice, escaped, in keys that nobody defines. Of doubled keys the last one wins.
TEXT_TEMPLATES = [
    '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":S,"update":'
    '{"sessionUpdate":K,"messageId":I,"content":{"type":"text","text":T}}}}',
    '{"params":{"update":{"content":{"text":T,"type":"text"},"messageId":I,"sessionUpdate":K},'
    '"sessionId":S},"method":"session/update","jsonrpc":"2.0"}',
    '{ "jsonrpc": "2.0", "method": "session/update", "params": { "sessionId": S, "update": '
    '{ "content": { "type": "text", "text": T }, "sessionUpdate": K, "messageId": I } } }\r',
    '{"text":I,"jsonrpc":"2.0","method":"session/update","params":{"sessionId":S,"update":'
    '{"sessionUpdate":K,"messageId":I,"content":{"type":"text","text":T},"text":T}}}',
    '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":S,"update":{"messageId":'
    '"old","sessionUpdate":K,"content":{"type":"text","text":"old","text":T},"messageId":I}}}',
    '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":S,"update":'
    '{"sessionUpdate":K,"content":{"type":"text","text":T},"x":{"text":"constant"},"messageId":I}}}',
    '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":S,"update":'
    '{"sessionUpdate":K,"messageId":I,"content":{"type":"text","text":T,"annotations":null,'
    '"_meta":{"text":T}},"_meta":null}}}',
    '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":S,"update":'
    '{"sessionUpdate":K,"messageId":I,"content":{"type":"text","text":T},"_meta":{"text":"m"}}}}',
    '{"x":I,"jsonrpc":"2.0","method":"session/update","params":{"update":{"content":{"type":"text",'
    '"text":T},"sessionUpdate":K,"messageId":I},"sessionId":S}}',
    '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":S,"update":'
    '{"sessionUpdate":K,"messageId":I,"content":{"type":"text","text":T},"x":{"text":U}}}}',
    '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":S,"update":'
    '{"sessionUpdate":K,"messageId":I,"x":{"text":U},"content":{"type":"text","text":T}}}}',
    '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":S,"update":'
    '{"sessionUpdate":K,"messageId":I,"content":{"type":"text","text":"same"},"text":T}}}',
    '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":S,"update":'
    '{"sessionUpdate":K,"messageId":I,"content":{"type":"text","text" : T}}}}',
]
OUTPUT_TEMPLATES = [
    '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":S,"update":'
    '{"sessionUpdate":"terminal_output_chunk","terminalId":I,"data":T}}}',
    '{"jsonrpc":"2.0","params":{"update":{"data":T,"terminalId":I,"sessionUpdate":'
    '"terminal_output_chunk","_meta":{"data":"YQ=="}},"sessionId":S},"method":"session/update"}',
]
ITEM_TEMPLATES = [
    '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":S,"update":'
    '{"sessionUpdate":"tool_call_content_chunk","toolCallId":I,"content":'
    '{"type":"content","content":{"type":"text","text":T}}}}}',
    '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":S,"update":'
    '{"sessionUpdate":"tool_call_content_chunk","toolCallId":I,"content":'
    '{"type":"content","content":{"type":"text","text":T},"_meta":{"text":U}}}}}',
    '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":S,"update":'
    '{"sessionUpdate":"tool_call_update","toolCallId":I,"content":'
    '[{"type":"content","content":{"type":"text","text":T}}]}}}',
]
KINDS = ("agent_message_chunk", "agent_thought_chunk", "user_message_chunk")
IDS = ("a", "b", "text", "content", "s1", "agent_message_chunk", "\u00e9", 'q"', "a\\", "")
TEXTS = ("", "x", 'q"', "\\", "\\\\", "\n", "}", '"}}', "\u00e9", "\U0001f680", "a", "text")
BROKEN = ('"', "x", "null", "5", '"\\ud83d"', '"a" ', '"\\x"', '"a","text":"b"', '"\x01"', "{}")


def line(
    template: str,
    session: str,
    kind: str,
    chunk_id: str,
    token: str,
    other: str = "",
    escaped: bool = True,
) -> bytes:
    """Fill a template; the token stands for the text as it is, `other` for a text beside it."""
    named = {"S": session, "K": kind, "I": chunk_id, "U": other}
    values = {mark: json.dumps(value, ensure_ascii=escaped) for mark, value in named.items()}
    for mark, value in (values | {"T": token}).items():
        template = template.replace(f":{mark}", f":{value}").replace(f": {mark}", f": {value}")
    return template.encode() + b"\n"


TOKENS = st.one_of(
    st.sampled_from(TEXTS).map(lambda value: json.dumps(value, ensure_ascii=False)),
    st.sampled_from(TEXTS).map(json.dumps),
    st.sampled_from(BROKEN),
)
TEXT_LINES = st.builds(
    line,
    st.sampled_from(TEXT_TEMPLATES),
    st.sampled_from(("s1", "s1", "a")),
    st.sampled_from(KINDS),
    st.sampled_from(IDS),
    TOKENS,
    st.sampled_from("xy"),
    st.booleans(),
)
ITEM_LINES = st.builds(
    line,
    st.sampled_from(ITEM_TEMPLATES),
    st.just("s1"),
    st.just(""),
    st.sampled_from(("a", "text")),
    TOKENS,
    st.sampled_from("xy"),
    st.booleans(),
)
OUTPUT_LINES = st.builds(
    line,
    st.sampled_from(OUTPUT_TEMPLATES),
    st.just("s1"),
    st.just(""),
    st.sampled_from(("a", "data")),
    st.one_of(st.binary(max_size=5).map(lambda data: json.dumps(base64.b64encode(data).decode())),
              st.sampled_from(('"YQ"', '"%"', '"a b="', '"YQ==\\n"', '"\\u0059Q=="'))),
    st.just(""),
    st.booleans(),
)  # fmt: skip
# The same for updates that nobody knows: V is the update, W another that must not count.
UNKNOWN_TEMPLATES = [
    '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":S,"update":V}}',
    '{"jsonrpc":"2.0","method":"session/update","params":{"update":V,"sessionId":S}}\r',
    '{ "params": { "update": V , "sessionId": S }, "method": "session/update", "jsonrpc": "2.0" } ',
    '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":S,"update":W,"update":V}}',
    '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":S,"update":V,"update":W}}',
    '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s0","update":V,"sessionId":S}}',
    '{"params":{"sessionId":S,"update":W},"params":{"sessionId":S,"update":V},'
    '"jsonrpc":"2.0","method":"session/update"}',
    '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":S,"update":V},"x":V}',
    '{"jsonrpc":"2.0","method":"session/update","id":1,"params":{"sessionId":S,"update":V}}',
]
UNKNOWN_UPDATES = [
    '{"sessionUpdate":"_v"}',
    '{"sessionUpdate":"_v","n":1}',
    '{"sessionUpdate":"_v","n":1e400}',
    '{"sessionUpdate":"_v","n":"\\ud83d"}',
    '{"sessionUpdate":"_v","n":{"sessionUpdate":"_w"}}',
    '{"sessionUpdate":"_v","sessionUpdate":"_w"}',
    '{"sessionUpdate":"_v","sessionUpdate":5}',
    '{"sessionUpdate":"_v","sessionUpdate":"notice","severity":"info","title":"T"}',
    '{"sessionUpdate":"_v"},"x":{"n":1}',
    '{"sessionUpdate":"_v","n":1',
    '{"sessionUpdate":"_v"}}',
    '{"sessionUpdate":"_v" , "n" : "}}"}',
    '{"n":{"sessionUpdate":"_v"},"sessionUpdate":"_w"}',
    '{"n":"\\u005f","sessionUpdate":"\\u005fv"}',
    '{"sessionUpdate" :"_v","n":1}',
    '{"sessionUpdate" :"_v","n":2}',
    '{"session\\u0055pdate":"_v","n":1}',
    '{"session\\u0055pdate":"_v","n":{"sessionUpdate":"_w"}}',
    '{"sessionUpdate":"plan_update","plan":{"type":"_x","planId":"p"}}',
]


def unknown_line(template: str, session: str, update: str, other: str) -> bytes:
    """Fill a template of a line with an update that nobody knows."""
    for mark, value in (("S", json.dumps(session)), ("V", update), ("W", other)):
        template = template.replace(f":{mark}", f":{value}").replace(f": {mark}", f": {value}")
    return template.encode() + b"\n"


UNKNOWN_LINES = st.builds(
    unknown_line,
    st.sampled_from(UNKNOWN_TEMPLATES),
    st.sampled_from(("s1", "s1", "_v")),
    st.sampled_from(UNKNOWN_UPDATES),
    st.sampled_from(UNKNOWN_UPDATES[:2]),
)
OTHER_LINES = st.sampled_from(
    [
        update_line("agent_message", messageId="a", content=[]),
        update_line("agent_message", messageId="a", content=None),
        update_line("terminal_update", terminalId="a", output={"data": "eA=="}),
        update_line("_vendor"),
        b"junk\n",
        b"\n",
    ]
)


def runs(lines: st.SearchStrategy[bytes]) -> st.SearchStrategy[list[bytes]]:
    """Generate lines of which most are like the one before: the same but for the string."""
    return st.lists(lines, min_size=1, max_size=4).flatmap(
        lambda few: st.lists(st.one_of(st.sampled_from(few), lines, OTHER_LINES), max_size=24)
    )


def expected(lines: list[bytes]) -> list[Snapshot]:
    """Give the snapshots when every line is decoded as a whole."""
    found: dict[str, Snapshot] = {}
    for session_id, event in told(strategies.Frame(False, one) for one in lines):
        found[session_id] = apply(found.get(session_id) or Snapshot(session_id), event)
    return list(found.values())


@pytest.mark.parametrize(
    "lines",
    [TEXT_LINES, ITEM_LINES, OUTPUT_LINES, UNKNOWN_LINES],
    ids=["texts", "items", "output", "unknown"],
)
@given(data=st.data())
def test_runs_give_what_their_lines_tell(lines: Any, data: st.DataObject) -> None:
    """In any batches, lines that an envelope matches tell what they tell when decoded whole."""
    stream = data.draw(runs(lines))
    store = Store(protocol="v2")
    for batch in batches(stream, data.draw(st.integers(1, 25))):
        store.receive(b"".join(batch))
    assert snapshots(store) == expected(stream)


def batches(lines: list[bytes], size: int) -> list[list[bytes]]:
    """Cut lines into batches of one size."""
    return [lines[start : start + size] for start in range(0, len(lines), size)]


@pytest.mark.parametrize("template", range(len(TEXT_TEMPLATES)))
@given(st.lists(st.sampled_from(TEXTS), min_size=1, max_size=12), st.integers(1, 5))
def test_one_run_of_each_form(template: int, texts: list[str], size: int) -> None:
    """Whatever the form of its lines, the texts of a run are appended exactly."""
    lines = [
        line(TEXT_TEMPLATES[template], "s1", KINDS[0], "a", json.dumps(text)) for text in texts
    ]
    store = Store(protocol="v2")
    for batch in batches(lines, size):
        store.receive(b"".join(batch))
    assert snapshots(store) == expected(lines)


@pytest.mark.parametrize("template", range(len(UNKNOWN_TEMPLATES)))
@pytest.mark.parametrize("update", UNKNOWN_UPDATES)
def test_one_run_of_unknown_updates(template: int, update: str) -> None:
    """Whatever the line before was like, an update that nobody knows is what its line tells."""
    lines = [
        unknown_line(UNKNOWN_TEMPLATES[template], session, one, UNKNOWN_UPDATES[0])
        for one in (UNKNOWN_UPDATES[1], update, update, UNKNOWN_UPDATES[1])
        for session in ("s1", "s2")
    ]
    store = Store(protocol="v2")
    store.receive(b"".join(lines))
    assert snapshots(store) == expected(lines)


@pytest.mark.parametrize(("levels", "kept"), [(252, 3), (253, 3), (254, 2)])
def test_a_run_of_unknown_updates_is_no_deeper_than_a_line(levels: int, kept: int) -> None:
    """The levels around an update count, in a run as elsewhere."""
    deep = "[" * levels + "]" * levels
    lines = [
        unknown_line(UNKNOWN_TEMPLATES[0], "s1", f'{{"sessionUpdate":"_v","n":{value}}}', "")
        for value in ("1", deep, "2")
    ]
    store = Store(protocol="v2")
    store.receive(b"".join(lines))
    assert len(store.snapshot("s1").entries) == kept
    assert snapshots(store) == expected(lines)


class CountedDecodes:
    """Counts how many lines are decoded as a whole."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        monkeypatch.setattr(_decode, "decode_update", self._decode)

    def _decode(self, line: bytes) -> Any:
        self.count += 1
        return decode_update(line)


def output_line(data: bytes) -> bytes:
    """Write a chunk of a terminal's output as a line."""
    encoded = base64.b64encode(data).decode()
    return update_line("terminal_output_chunk", terminalId="t", data=encoded)


@pytest.mark.parametrize(
    ("lines", "most"),
    [
        ([chunk_line(str(number)) for number in range(100)], 3),
        ([chunk_line(str(number)) for number in range(100)] * 5, 3),
        ([output_line(bytes([number])) for number in range(100)], 3),
        ([chunk_line(str(number), f"m{number // 20}") for number in range(100)], 12),
        ([chunk_line(str(number), f"m{number % 2}") for number in range(100)], 100),
        ([update_line("agent_message", messageId="m")] * 50, 50),
        ([update_line("_vendor", n=number) for number in range(100)], 1),
    ],
)
def test_a_run_is_decoded_by_its_envelope(
    lines: list[bytes], most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a run only the first lines are decoded as a whole; the next one may carry over."""
    counted = CountedDecodes(monkeypatch)
    drafts = Drafts({}, Limits())
    Intake(WordsV2()).take(
        drafts, lines, lambda line, index: pytest.fail("a good line was refused")
    )
    assert counted.count <= most
    assert [draft.freeze() for draft in drafts.open.values()] == expected(lines)


def test_envelopes_outlive_a_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was learned in one read serves the next, at the price of one whole line."""
    counted, store = CountedDecodes(monkeypatch), Store(protocol="v2")
    for start in range(0, 100, 10):
        store.receive(b"".join(chunk_line(str(number)) for number in range(start, start + 10)))
    assert counted.count <= 2 + 10


def test_only_so_many_envelopes_are_kept() -> None:
    """A peer that makes ever new runs does not fill the memory."""
    intake, drafts = Intake(WordsV2()), Drafts({}, Limits())
    for number in range(200):
        lines = [chunk_line(text, f"m{number}") for text in "abc"]
        intake.take(drafts, lines, lambda line, index: True)
    assert len(intake._envelopes) <= 16


@pytest.mark.parametrize("text", ["a", "\ud83d"])
def test_what_happens_inside_a_run(text: str) -> None:
    """Updates of the same entity, and client events between reads, come in their order."""
    lines = [chunk_line(one) for one in "xyz"]
    replaced = update_line("agent_message", messageId="m", content=[])
    stream = [*lines, chunk_line(text), replaced, *lines, b"junk\n", *lines]
    store = Store(protocol="v2")
    store.receive(b"".join(stream))
    assert snapshots(store) == expected(stream)
    store.cancel("s1")
    store.receive(b"".join(lines))
    message = store.snapshot("s1").entries.message("agent_message", "m")
    assert message is not None
    assert message.text == "xyz" * 3
    assert [problem.line for problem in store.problems] == [9]


def test_odd_lines_are_handed_over_with_their_place() -> None:
    """What is no well-formed update goes to the caller, in its order among the others."""
    odd: list[tuple[bytes, int]] = []
    lines = [chunk_line("a"), b"junk\n", chunk_line("b"), b"{}\n", update_line("_vendor")]
    drafts = Drafts({}, Limits())

    def take_odd(line: bytes, index: int) -> bool:
        odd.append((line, index))
        return len(odd) < 3

    assert Intake(WordsV2()).take(drafts, [*lines, b"3", chunk_line("c")], take_odd) == 6
    assert odd.pop() == (b"3", 5)
    assert odd == [(b"junk\n", 1), (b"{}\n", 3)]
    assert len(drafts.open["s1"].freeze().entries) == 2


def test_deep_text_is_not_taken_by_an_envelope() -> None:
    """A line of a run whose string is no string is decoded as a whole, and refused."""
    lines = [chunk_line("a"), chunk_line("b"), chunk_line("c")]
    deep = chunk_line("T").replace(b'"T"', b"[" * 2_000 + b"]" * 2_000)
    store = Store(protocol="v2")
    store.receive(b"".join([*lines, deep, *lines]))
    assert [problem.kind for problem in store.problems] == ["too_deep"]
    (message,) = store.snapshot("s1").entries
    assert isinstance(message, acp_client.Message)
    assert message.text == "abcabc"


@pytest.mark.parametrize("protocol", ["v1", "v2"])
def test_blank_lines_are_counted_and_not_decoded(
    protocol: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A blank line costs no decoding, wherever it comes, and has its number."""
    decoded: list[bytes] = []

    def counted(line: bytes) -> Any:
        decoded.append(line)
        return decode_update(line)

    monkeypatch.setattr(_decode, "decode_update", counted)
    store = Store(protocol=protocol)
    store.receive(b"\n \r\n\t\n" * 100 + b"{\n")
    assert [problem.line for problem in store.problems] == [301]
    assert decoded in ([], [b"{\n"])
