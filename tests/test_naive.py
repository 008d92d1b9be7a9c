"""The second opinion held against the shared recordings, corpus and schema, where they are.

A few stories of its own pin the rules that no shared recording tells.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import naive
import pytest
from corpus import CORPUS, OWN_READINGS, REQUESTS, alike_raw, cases
from traffic import SHARED

RECORDINGS = sorted((SHARED / "recordings" / "v2").glob("*.snapshot.json"))
NAMES = [path.name.removesuffix(".snapshot.json") for path in RECORDINGS]
SCHEMA = SHARED / "protocol" / "schema.v2.json"

Frames = list[tuple[bool, bytes]]


def line(**members: Any) -> bytes:
    """Write one message."""
    return json.dumps({"jsonrpc": "2.0", **members}).encode()


def said(name: str, session: str = "s", **fields: Any) -> tuple[bool, bytes]:
    """Write an update of the agent."""
    params = {"sessionId": session, "update": {"sessionUpdate": name, **fields}}
    return False, line(method="session/update", params=params)


def called(method: str, request_id: Any = None, **params: Any) -> tuple[bool, bytes]:
    """Write a request or notification of the client."""
    numbered = {} if request_id is None else {"id": request_id}
    return True, line(**numbered, method=method, params={"sessionId": "s", **params})


def told(request_id: Any, **outcome: Any) -> tuple[bool, bytes]:
    """Write an answer of the agent."""
    return False, line(id=request_id, **outcome)


def asked(request_id: Any, session: str = "s", **more: Any) -> tuple[bool, bytes]:
    """Write a permission request of the agent."""
    option = {"optionId": "o", "name": "O", "kind": "allow_once"}
    params = {"sessionId": session, "title": "T", "options": [option], **more}
    return False, line(id=request_id, method="session/request_permission", params=params)


def only(frames: Frames) -> dict[str, Any]:
    """Replay frames that make one session."""
    (session,) = naive.replay(frames)["sessions"]
    assert isinstance(session, dict)
    return session


def kinds(document: dict[str, Any]) -> list[tuple[int, str]]:
    """Tell lines and kinds of the problems."""
    return [(problem["line"], problem["kind"]) for problem in document["problems"]]


# ---------------------------------------------------------------- what is shared


@pytest.mark.skipif(not RECORDINGS, reason="the shared recordings are not there")
@pytest.mark.parametrize("name", NAMES)
def test_recording_gives_its_snapshot(name: str) -> None:
    """A recording of both directions gives the document that stands beside it."""
    folder = SHARED / "recordings" / "v2"
    expected = json.loads((folder / f"{name}.snapshot.json").read_bytes())
    document = naive.replay(naive.read_recording(folder / f"{name}.ndjson"))
    assert document["sessions"] == expected["sessions"]
    assert kinds(document) == kinds(expected)


@pytest.mark.skipif(not RECORDINGS, reason="the shared recordings are not there")
@pytest.mark.parametrize("name", NAMES)
def test_agent_output_alone_gives_the_same_entries(name: str) -> None:
    """What the agent wrote is recognised as the agent's, and tells the conversation alone."""
    folder = SHARED / "recordings" / "v2"
    expected = json.loads((folder / f"{name}.snapshot.json").read_bytes())
    frames = list(naive.read_recording(folder / f"{name}.agent.ndjson"))
    document = naive.replay(frames)
    assert not any(sent for sent, *_ in frames)
    for told_alone, whole in zip(document["sessions"], expected["sessions"], strict=True):
        assert told_alone["entries"] == whole["entries"]
        assert told_alone["state"] == whole["state"]


@pytest.mark.skipif(not RECORDINGS, reason="the shared recordings are not there")
@pytest.mark.parametrize("name", NAMES)
def test_direction_is_inferred(name: str, tmp_path: Path) -> None:
    """The messages of an enveloped recording, written raw, are given their directions again."""
    enveloped = list(naive.read_recording(SHARED / "recordings" / "v2" / f"{name}.ndjson"))
    raw = tmp_path / "raw.ndjson"
    raw.write_bytes(b"".join(data + b"\n" for _, data, *_ in enveloped))
    inferred = [frame[:3] for frame in naive.read_recording(raw)]
    assert inferred == [frame[:3] for frame in enveloped]


# Methods that change nothing here, so that nobody looks at what they carry.
UNFOLLOWED = ("elicitation/", "initialize", "session/list", "_example.com/", "fs/", "session/holo")


def plain(value: Any) -> Any:
    """Turn what `parse` gives into the value of a verdict: the state's keys are the update's."""
    if isinstance(value, naive.Raw):
        return value.value
    if not isinstance(value, naive.Record):
        return [plain(item) for item in value] if isinstance(value, list) else value
    members = {key: plain(item) for key, item in value.items()}
    if members.get("sessionUpdate") == "state_update":
        members |= members["state"]
    return members


def value_of(data: bytes) -> Any:
    """Parse what a good message carries."""
    message = naive.read_json(naive.text_of(data))
    if "method" in message:
        method, carried = message["method"], message["params"]
    else:
        method, carried = REQUESTS[naive.request_id(message)], message["result"]
    return plain(naive.parse(method, carried, "$", []))


def peer_error(verdict: dict[str, Any]) -> bool:
    """Tell whether the message was a proper error of the agent."""
    return bool(verdict.get("error", {}).get("peer"))


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the shared corpus is not there")
@pytest.mark.parametrize(("data", "verdict"), cases())
def test_corpus_agrees_with_its_verdict(data: bytes, verdict: dict[str, Any]) -> None:
    """A message gives the value and the problems of its verdict, but for the listed differences."""
    store = naive.Naive()
    for number, method in enumerate(REQUESTS):
        store.sent(called(method, number)[1])
    store.receive(data, 1)
    found = [problem["kind"] for problem in store.problems]
    followed = not verdict.get("method", "").startswith(UNFOLLOWED)
    if verdict["n"] in OWN_READINGS:
        assert found == OWN_READINGS[verdict["n"]][1]
    elif not followed or verdict["outcome"] == "ignored" or peer_error(verdict):
        assert found == []
    elif verdict["outcome"] == "delivered":
        assert alike_raw(value_of(data), verdict["value"])
        defaulted = len(verdict.get("defaulted", [])) + len(verdict.get("replaced", []))
        assert found.count("defaulted") == defaulted
        skipped = [item for place in verdict.get("skipped", []) for item in place["items"]]
        assert found.count("skipped") == len(skipped)
    else:
        assert found in (["rejected"], ["not_json"], ["invalid_message"])


# Rows of the tables, and the definitions in the schema that they are written from.
DEFINITIONS = {
    "session/update": ("UpdateSessionNotification",),
    "session/request_permission": ("RequestPermissionRequest",),
    "$/cancel_request": ("CancelRequestNotification",),
    "session/new": ("NewSessionResponse",),
    "session/resume": ("ResumeSessionResponse",),
    "session/set_config_option": ("SetSessionConfigOptionResponse",),
    "session/prompt": ("PromptResponse",),
    "Text": ("TextContent",),
    "Image": ("ImageContent",),
    "Audio": ("AudioContent",),
    "TextResource": ("TextResourceContents",),
    "BlobResource": ("BlobResourceContents",),
    "ToolCall": ("ToolCallUpdate",),
    "ContentItem": ("Content",),
    "PathChange": ("DiffChange", "DiffPathChange"),
    "PathPairChange": ("DiffChange", "DiffPathPairChange"),
    "TerminalItem": ("BackgroundTerminal",),
    "ToolCallItem": ("BackgroundToolCall",),
    "Capabilities": ("TerminalCapabilities",),
    "Cancel": ("TerminalCancelCapabilities",),
    "ExitStatus": ("TerminalExitStatus",),
    "PlainCommand": ("Command",),
    "TextInput": ("TextCommandInput",),
    "SelectOption": ("SessionConfigOption", "SessionConfigSelect"),
    "BooleanOption": ("SessionConfigOption", "SessionConfigBoolean"),
    "Choice": ("SessionConfigSelectOption",),
    "ChoiceGroup": ("SessionConfigSelectGroup",),
    "ToolCallSubject": ("ToolCallPermissionSubject",),
    "CommandSubject": ("CommandPermissionSubject",),
}


def mode_in_schema(field: dict[str, Any], required: bool) -> str:
    """Tell how a field of the schema degrades, in the words of the tables."""
    nullable = "null" in field.get("type", []) or {"type": "null"} in field.get("anyOf", [])
    if "x-deserialize-default-on-error" in field:
        if field.get("type") == "array":
            return "present" if required else "emptied"
        return "lenient"
    return "nullable" if nullable else "needed"


def fields_in_schema(names: tuple[str, ...]) -> list[tuple[str, str, str | None]]:
    """Tell name, mode and manner of lists for the fields of joined definitions."""
    definitions = json.loads(SCHEMA.read_bytes())["$defs"]
    return [
        (name, mode_in_schema(field, name in definition.get("required", [])), list_manner(field))
        for definition in map(definitions.__getitem__, names)
        for name, field in definition["properties"].items()
    ]


def list_manner(field: dict[str, Any]) -> str | None:
    """Tell whether a list of the schema skips its bad items."""
    if "array" not in field.get("type", []):
        return None
    return "skip" if "x-deserialize-skip-invalid-items" in field else "all"


def fields_in_table(fields: dict[str, Any]) -> list[tuple[str, str, str | None]]:
    """Tell the same of a row of the tables."""
    return [
        (name, mode, kind[0] if kind[0] in ("skip", "all") else None)
        for name, (kind, mode) in fields.items()
    ]


@pytest.mark.skipif(not SCHEMA.is_file(), reason="the shared schema is not there")
@pytest.mark.parametrize("name", naive.RECORDS)
def test_table_says_what_the_schema_says(name: str) -> None:
    """Every row has the fields of the schema, in its order, degrading as it says."""
    written = fields_in_table(naive.RECORDS[name])
    assert written == fields_in_schema(DEFINITIONS.get(name, (name,)))


@pytest.mark.skipif(not SCHEMA.is_file(), reason="the shared schema is not there")
def test_updates_are_those_of_the_schema() -> None:
    """Every standard update has a row with its fields, and a handler."""
    definitions = json.loads(SCHEMA.read_bytes())["$defs"]
    standard = {
        variant["properties"]["sessionUpdate"]["const"]: variant["allOf"][0]["$ref"].split("/")[-1]
        for variant in definitions["SessionUpdate"]["anyOf"]
        if "allOf" in variant
    }
    assert standard.keys() == naive.UPDATES.keys() == naive.HANDLERS.keys()
    for tag, name in standard.items():
        if tag != "state_update":
            assert fields_in_table(naive.UPDATES[tag]) == fields_in_schema((name,))


# ---------------------------------------------------------------- stories

PROMPT = called("session/prompt", 1, prompt=[{"type": "text", "text": "hi"}])
ECHO = said("user_message", messageId="m")
RUNNING = said("state_update", state="running")
IDLE = said("state_update", state="idle")
CANCEL = called("session/cancel")
RESUME = called("session/resume", 2, cwd="/", replayFrom={"type": "start"})
OPTIONS = [{"type": "boolean", "configId": "b", "name": "B", "currentValue": True}]
COMMANDS = [{"type": "command", "name": "c", "description": "d"}]


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        ([], ("pending", False)),
        ([told(1, result={"messageId": "m"})], ("accepted", False)),
        ([told(1, result={"messageId": "m"}), ECHO], ("accepted", True)),
        ([ECHO, told(1, result={"messageId": "m"})], ("accepted", True)),
        ([ECHO, told(1.0, result={"messageId": "m"})], ("accepted", True)),
        ([ECHO, told("1", result={"messageId": "m"})], ("pending", False)),
        ([told(1, result={"messageId": "m"}), ECHO, RESUME], ("accepted", True)),
        ([told(1, result={"messageId": 5})], ("uncertain", False)),
        ([told(1, result={"messageId": "m"}, error=None), ECHO], ("uncertain", False)),
        ([told(1, error="boom")], ("uncertain", False)),
        ([told(1)], ("uncertain", False)),
        ([told(1, error={"code": 1, "message": "no"})], ("rejected", False)),
    ],
)
def test_prompt(frames: Frames, expected: tuple[str, bool]) -> None:
    """A prompt is what its answer and its echo make of it, in either order."""
    (prompt,) = only([PROMPT, *frames])["prompts"]
    assert (prompt["status"], prompt["echoed"]) == expected
    assert ("content" in prompt) is not prompt["echoed"]


def call(name: str, **fields: Any) -> tuple[bool, bytes]:
    """Write an update of a tool call."""
    return said("tool_call_update", toolCallId=name, **fields)


LISTED = said(
    "state_update", state="running", background=[{"type": "tool_call", "toolCallId": "c"}]
)


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        ([call("c"), CANCEL], ("cancelled", "pending")),
        ([call("c", status="paused"), CANCEL], ("cancelled", "paused")),
        ([call("c", status="failed"), CANCEL], ("failed", None)),
        ([call("c"), RUNNING, CANCEL], ("pending", None)),
        ([RUNNING, call("c"), CANCEL], ("cancelled", "pending")),
        ([said("state_update", state="_x"), call("c"), CANCEL], ("cancelled", "pending")),
        ([RUNNING, call("c"), IDLE, CANCEL], ("pending", None)),
        ([RUNNING, call("c"), IDLE, RUNNING, CANCEL], ("pending", None)),
        ([RUNNING, call("c"), LISTED, CANCEL], ("pending", None)),
        ([RUNNING, call("c"), LISTED, RUNNING, CANCEL], ("cancelled", "pending")),
        ([call("c"), CANCEL, call("c", title="t")], ("cancelled", "pending")),
        ([call("c"), CANCEL, call("c", status=5)], ("cancelled", "pending")),
        ([call("c"), CANCEL, call("c", status="completed")], ("completed", None)),
        ([call("c", status="paused"), CANCEL, call("c", status=None)], ("pending", None)),
    ],
)
def test_cancel(frames: Frames, expected: tuple[str, str | None]) -> None:
    """A cancel marks the unfinished foreground tool calls until the agent reports a status."""
    (entry,) = only(frames)["entries"]
    assert (entry["status"], entry.get("reportedStatus")) == expected


WITHDRAWN = (False, line(method="$/cancel_request", params={"requestId": 1}))


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        ([asked(1), asked("1"), asked(2)], [1, "1", 2]),
        ([asked(1), asked(2), asked(1)], [1, 2]),
        ([asked(1), asked(2), (True, line(id=1, result={}))], [2]),
        ([asked(1), asked(2), (True, line(id=1, error="boom"))], [2]),
        ([asked(1), asked(2), WITHDRAWN], [2]),
        ([asked(1), asked(2), CANCEL], []),
        ([asked(1), asked(2), RESUME], [1, 2]),
        ([asked(1), asked(2), asked(1, options=[])], [1, 2]),
    ],
)
def test_permissions(frames: Frames, expected: list[Any]) -> None:
    """A permission request is open until something answers or withdraws it."""
    assert [permission["requestId"] for permission in only(frames)["permissions"]] == expected


def test_permission_applies_its_tool_call() -> None:
    """The tool call of a permission request is an entry, patched like any other."""
    tool_call = {"toolCallId": "c", "title": None, "status": "in_progress"}
    session = only(
        [call("c", title="t"), asked(1, subject={"type": "tool_call", "toolCall": tool_call})]
    )
    (entry,), (permission,) = session["entries"], session["permissions"]
    assert entry["status"] == "in_progress"
    assert "title" not in entry
    assert permission["subject"]["toolCall"] == {"toolCallId": "c", "status": "in_progress"}


FAILED = told(2, error={"code": 1, "message": "no"})


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        ([], ([], True)),
        ([said("agent_thought", messageId="t")], (["agent_thought"], True)),
        ([told(2, result={})], ([], False)),
        ([FAILED], (["user_message"], False)),
        ([told(2, result=None)], (["user_message"], False)),
        ([told(2, result={}, error=None)], (["user_message"], False)),
        ([said("agent_thought", messageId="t"), RESUME, FAILED], (["user_message"], False)),
        ([called("session/resume", 3, cwd="/"), told(3, result={})], ([], True)),
    ],
)
def test_replay(frames: Frames, expected: tuple[list[str], bool]) -> None:
    """A replay starts from empty; its result ends it, anything else brings back what was."""
    session = only([ECHO, RESUME, *frames])
    assert [entry["type"] for entry in session["entries"]] == expected[0]
    assert session.get("replaying", False) is expected[1]


NEW = called("session/new", 4)
REPORTED = said("config_option_update", configOptions=[])


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        ([NEW, told(4, result={"sessionId": "s", "configOptions": OPTIONS})], OPTIONS),
        ([REPORTED, NEW, told(4, result={"sessionId": "s", "configOptions": OPTIONS})], []),
        ([REPORTED, RESUME, told(2, result={"configOptions": OPTIONS})], OPTIONS),
        ([RESUME, REPORTED, told(2, result={"configOptions": OPTIONS})], []),
        (
            [
                REPORTED,
                called("session/set_config_option", 5),
                told(5, result={"configOptions": OPTIONS}),
            ],
            OPTIONS,
        ),
    ],
)
def test_lists_of_results(frames: Frames, expected: list[Any]) -> None:
    """A result gives a list unless an update has reported it since the session or replay began."""
    assert only(frames)["configOptions"] == expected


def test_absent_list_stays_and_null_list_is_empty() -> None:
    """A list that a result does not have stays; null empties it, which is a problem."""
    document = naive.replay(
        [
            NEW,
            told(
                4,
                result={"sessionId": "s", "configOptions": OPTIONS, "availableCommands": COMMANDS},
            ),
            called("session/resume", 6, cwd="/"),
            told(6, result={"configOptions": None}),
        ]
    )
    (session,) = document["sessions"]
    assert session["configOptions"] == []
    assert session["availableCommands"] == COMMANDS
    assert kinds(document) == [(4, "defaulted")]


NESTED = b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{'
NESTED += b'"sessionUpdate":"_x","deep":%b}}}'


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"\xef\xbb\xbf \r", []),
        (b"{", ["not_json"]),
        (b"NaN", ["not_json"]),
        (b"[]", []),
        (b"true", ["invalid_message"]),
        (b"[true,[]]", ["invalid_message", "invalid_message"]),
        (line(method=5), ["invalid_message"]),
        (line(id=1.5, method="x"), ["invalid_message"]),
        (line(id=None, method="x"), ["invalid_message"]),
        (line(id=1, method="x"), []),
        (line(id=99, result={}), []),
        (line(id=99, result={}, error=None), ["invalid_message"]),
        (line(id=99), ["invalid_message"]),
        (line(method="session/update", params=[]), ["rejected"]),
        (line(id=1, method="session/update", params=[]), []),
        (line(method="session/request_permission", params=[]), []),
        (b'{"jsonrpc":"2.0","id":1e400,"method":"x"}', ["invalid_message"]),
        (b'{"jsonrpc":"2.0","id":%b,"method":"x"}' % (b"9" * 300), []),
        (b'{"jsonrpc":"2.0","id":%b,"method":"x"}' % (b"9" * 5000), ["invalid_message"]),
        (NESTED % (b"[" * 997 + b"]" * 997), []),
        (NESTED % (b"[[]," + b"[" * 996 + b"]" * 997), []),
        (NESTED % (b"[" * 998 + b"]" * 998), ["too_deep"]),
        (b"[" * 100_000, ["too_deep"]),
        (b"x" + b"[" * 100_000, ["not_json"]),
    ],
)
def test_problem_of_a_line(data: bytes, expected: list[str]) -> None:
    """A line that is no message, or a bad one, is one problem of its kind."""
    assert kinds(naive.replay([(False, data)])) == [(1, kind) for kind in expected]


def test_long_line_is_skipped() -> None:
    """A line over the limit is a problem, one of just that length is not."""
    document = naive.replay([(False, ECHO[1]), (False, ECHO[1] + b" ")], len(ECHO[1]))
    assert len(document["sessions"]) == 1
    assert kinds(document) == [(2, "too_long")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", True),
        ("aGk=", True),
        ("aGk", True),
        ("aA==", True),
        ("aA", True),
        ("a", False),
        ("aGk==", False),
        ("====", False),
        ("aG k", False),
        ("aGk\n", False),
        ("-_8=", False),
    ],
)
def test_base64(text: str, expected: bool) -> None:
    """Base64 is of the standard alphabet, without blanks, and may lack its padding."""
    assert naive.is_base64(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-01T09:00:00Z", True),
        ("2026-03-01T09:00:00.5Z", True),
        ("2026-03-01t09:00:00z", False),
        ("2026-03-01T23:59:60Z", False),
        ("2026-03-01T09:00:00+01:30", True),
        ("2024-02-29T09:00:00Z", True),
        ("2026-02-29T09:00:00Z", False),
        ("2026-03-01T24:00:00Z", False),
        ("2026-03-01T09:00:00", False),
        ("2026-03-01T09:00:00.Z", False),
        ("2026-03-01T09:00:00+0130", False),
        ("2026-03-01T09:00:00Z\n", False),
        ("2026-03-01", False),
    ],
)
def test_time(text: str, expected: bool) -> None:
    """A time is one of RFC 3339, on a day that exists."""
    assert naive.is_time(text) is expected


def test_unknown_stop_reason_keeps_its_keys() -> None:
    """Keys beside an unknown stop reason stay as they came, those beside a known one go."""
    unknown = only([said("state_update", state="idle", stopReason="_x", extra=None, error=5)])
    known = only([said("state_update", state="idle", stopReason="end_turn", extra=1, error=5)])
    assert unknown["state"] == {"state": "idle", "stopReason": "_x", "extra": None, "error": 5}
    assert known["state"] == {"state": "idle", "stopReason": "end_turn"}


def test_chunk_metadata_goes_with_its_content() -> None:
    """The metadata of a chunk stands beside its block until the content is replaced."""
    text = {"type": "text", "text": "x"}
    frames = [
        said("agent_message_chunk", messageId="m", content=text, _meta={}),
        said("agent_message_chunk", messageId="m", content=text, _meta={"k": None}),
        said("agent_message", messageId="m", content=5),
    ]
    assert only(frames)["entries"][0]["chunkMeta"] == {"1": {"k": None}}
    assert (
        "chunkMeta"
        not in only([*frames, said("agent_message", messageId="m", content=None)])["entries"][0]
    )


def test_last_line_without_end_is_truncated(tmp_path: Path) -> None:
    """A last line that is cut is told as such, and the envelope gives the line that was no JSON."""
    path = tmp_path / "cut.ndjson"
    path.write_bytes(
        b'{"dir":"recv","ts":1,"message":null,"raw":"log","rawBase64":"bG9n"}\n'
        b'\n{"dir":"recv","ts":2,"message":{"jsonrpc'
    )
    assert kinds(naive.replay(naive.read_recording(path))) == [(1, "not_json"), (3, "truncated")]


def test_envelope_keeps_the_message_as_written(tmp_path: Path) -> None:
    """Huge numbers, duplicate keys and lone surrogates pass through an envelope."""
    message = b'{"jsonrpc":"2.0","a":1e400,"a":[1,{"b":"\\ud800,}"}]}'
    path = tmp_path / "odd.ndjson"
    path.write_bytes(b'{"dir": "send", "ts": 1, "message": ' + message + b"}\r\n")
    (frame,) = naive.read_recording(path)
    assert frame[:2] == (True, message)


def test_lost_connection() -> None:
    """A lost connection makes pending prompts uncertain and takes the permissions."""
    store = naive.Naive()
    store.sent(PROMPT[1])
    store.receive(asked(1)[1])
    store.disconnect()
    (session,) = store.document()["sessions"]
    assert session["prompts"][0]["status"] == "uncertain"
    assert session["permissions"] == []
