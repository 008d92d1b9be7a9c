"""The lenient path: which object a malformed value becomes, and which problems are found."""

from __future__ import annotations

import base64
import threading
from typing import Any

import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from acp_client import wire
from acp_client._json import parse
from acp_client._lenient import structure
from acp_client._lenient_scalars import Finding, Malformed, path_text

TEXT = {"type": "text", "text": "x"}
SWITCH = {"type": "boolean", "configId": "c", "name": "n"}
SELECT = {"type": "select", "configId": "c", "name": "n"}
PLAIN = wire.TextContent("x")
UNSET = wire.UNSET
UPDATE: Any = wire.SessionUpdate
HUGE = parse(b"1e400")


def read(kind: Any, value: Any) -> tuple[Any, list[tuple[str, str]]]:
    """Read a value; return the object, and kind and path of the findings."""
    result, findings = structure(value, kind)
    return result, [(finding.kind, path_text(finding.path)) for finding in findings]


def call(**fields: Any) -> dict[str, Any]:
    """Return an update of a tool call."""
    return {"sessionUpdate": "tool_call_update", "toolCallId": "c", **fields}


# The table of the protocol page: what a field is when it is absent, `null`, malformed.
@pytest.mark.parametrize(
    ("name", "absent", "null", "malformed"),
    [
        ("title", UNSET, None, UNSET),
        ("content", UNSET, None, UNSET),
        ("locations", UNSET, None, UNSET),
        ("capabilities", UNSET, None, UNSET),
        ("_meta", UNSET, None, UNSET),
    ],
)
def test_nullable_lenient_fields(name: str, absent: Any, null: Any, malformed: Any) -> None:
    """A malformed value of a nullable lenient field is as absent, and never as `null`."""
    field = name.removeprefix("_")
    cases: list[Any] = [({}, absent, []), ({name: None}, null, [])]
    cases.append(({name: 5}, malformed, [("defaulted", name)]))
    for fields, expected, found in cases:
        update, findings = read(wire.SessionUpdate, call(**fields))
        assert getattr(update, field) is expected
        assert findings == found


@pytest.mark.parametrize(
    ("value", "expected", "found"),
    [
        ({"type": "content", "content": TEXT}, None, [("defaulted", "content")]),
        ([], (), []),
        ([5, None, {}], (), [("skipped", f"content[{index}]") for index in range(3)]),
        (
            [{"type": "content"}, {"type": "content", "content": TEXT}],
            (wire.Content(PLAIN),),
            [("skipped", "content[0]")],
        ),
        (
            [{"type": "terminal", "terminalId": 5}, {"type": "_x"}],
            (wire.Unknown({"type": "_x"}),),
            [("skipped", "content[0]")],
        ),
    ],
)
def test_lists_that_skip(value: Any, expected: Any, found: Any) -> None:
    """Bad items of a list are left out and reported, the good ones stay in their order."""
    update, findings = read(wire.SessionUpdate, call(content=value))
    assert update.content == (UNSET if expected is None else expected)
    assert findings == found


@pytest.mark.parametrize("value", [None, 5, {}, "x"])
@pytest.mark.parametrize("key", ["configOptions", "availableCommands"])
def test_lists_that_may_not_be_null(key: str, value: Any) -> None:
    """In results `null` and anything that is not a list are an empty list; absent is `UNSET`."""
    kinds: list[tuple[Any, dict[str, str]]] = [
        (wire.NewSessionResponse, {"sessionId": "s"}),
        (wire.ResumeSessionResponse, {}),
    ]
    for kind, rest in kinds:
        result, findings = read(kind, {**rest, key: value})
        assert [result.config_options, result.available_commands].count(()) == 1
        assert findings == [("defaulted", key)]
        assert structure(rest, kind)[0].config_options is UNSET


@pytest.mark.parametrize("value", ["absent", None, 5, {}])
@pytest.mark.parametrize(
    ("tag", "key"),
    [
        ("available_commands_update", "availableCommands"),
        ("config_option_update", "configOptions"),
    ],
)
def test_required_lists_that_skip(tag: str, key: str, value: Any) -> None:
    """Where the list itself is required it must be there; only its items are lenient."""
    fields = {} if value == "absent" else {key: value}
    with pytest.raises(Malformed) as raised:
        structure({"sessionUpdate": tag, **fields}, UPDATE)
    assert path_text(raised.value.path) == key
    _, findings = read(wire.SessionUpdate, {"sessionUpdate": tag, key: [5]})
    assert findings == [("skipped", f"{key}[0]")]


@pytest.mark.parametrize(
    ("background", "expected"),
    [
        ([{"type": "terminal", "terminalId": "t"}], (wire.BackgroundTerminal("t"),)),
        ([{"type": "terminal", "terminalId": "t"}, 5], None),
        ([{"type": "terminal"}], None),
        ({}, None),
        (None, None),
        ([], ()),
    ],
)
def test_one_bad_item_drops_the_list_of_background_work(background: Any, expected: Any) -> None:
    """A list without skipping is as absent when one item is bad."""
    update = {"sessionUpdate": "state_update", "state": "running", "background": background}
    state, findings = read(wire.SessionUpdate, update)
    assert state.background == expected
    assert findings == (
        [] if background in (None, []) or expected else [("defaulted", "background")]
    )


@pytest.mark.parametrize("value", [0, False, "", [], {}, {"a": None}, 1e400])
def test_raw_input_is_any_value(value: Any) -> None:
    """Nothing is malformed in raw input and output; `null` is kept."""
    update, findings = read(wire.SessionUpdate, call(rawInput=value, rawOutput=None))
    assert findings == []
    assert update.raw_input == wire.Json(value)
    assert update.raw_output is None


@pytest.mark.parametrize(
    ("kind", "value", "expected", "found"),
    [
        (wire.TerminalExitStatus, {"exitCode": "0"}, wire.TerminalExitStatus(), ["exitCode"]),
        (wire.TerminalExitStatus, {"exitCode": 2**70}, wire.TerminalExitStatus(2**70), []),
        (wire.ToolCallCapabilities, {"cancel": True}, wire.ToolCallCapabilities(), ["cancel"]),
        (wire.ToolCallLocation, {"path": "/a", "line": 0}, wire.ToolCallLocation("/a"), ["line"]),
        (
            wire.ToolCallLocation,
            {"path": "/a", "line": 2**32},
            wire.ToolCallLocation("/a"),
            ["line"],
        ),
        (wire.ToolCallLocation, {"path": "", "line": 3.0}, wire.ToolCallLocation("", 3), []),
        (wire.Annotations, {"priority": 2}, wire.Annotations(), ["priority"]),
        (wire.Annotations, {"audience": [5, "_x"]}, wire.Annotations(("_x",)), ["audience[0]"]),
        (wire.Cost, {"amount": 1, "currency": "x"}, wire.Cost(1.0, "x"), []),
        (wire.Cost, {"amount": 1, "currency": "x", "_meta": 5}, wire.Cost(1.0, "x"), ["_meta"]),
        (wire.DiffPatch, {"format": "f", "text": "t"}, wire.DiffPatch("f", "t"), []),
        (
            wire.AuthMethodTerminal,
            {"type": "terminal", "methodId": "m", "name": "n", "args": None},
            wire.AuthMethodTerminal("m", "n"),
            [],
        ),
        (wire.Error, {"code": 1.0, "message": "m", "data": None}, wire.Error(1, "m"), []),
        (wire.Error, {"code": 1, "message": "m", "x": 1}, wire.Error(1, "m"), []),
    ],
)
def test_whole_objects(kind: Any, value: Any, expected: Any, found: list[str]) -> None:
    """In whole objects malformed lenient fields are absent; undefined keys are not looked at."""
    assert read(kind, value)[0] == expected
    assert [path for _, path in read(kind, value)[1]] == found


@pytest.mark.parametrize(
    ("kind", "value", "path"),
    [
        (wire.Cost, {"amount": "1", "currency": "x"}, "amount"),
        (wire.Cost, {"amount": True, "currency": "x"}, "amount"),
        (wire.Cost, {"amount": HUGE, "currency": "x"}, "amount"),
        (wire.Cost, {"amount": 10**400, "currency": "x"}, "amount"),
        (wire.Cost, {"currency": "x"}, "amount"),
        (wire.Cost, [], ""),
        (wire.TerminalSize, {"cols": 0, "rows": 1}, "cols"),
        (wire.TerminalSize, {"cols": 1, "rows": 65536}, "rows"),
        (wire.TerminalSize, {"cols": 1.5, "rows": 1}, "cols"),
        (wire.TerminalSize, {"cols": "1", "rows": 1}, "cols"),
        (wire.SessionConfigOption, {**SWITCH, "currentValue": 1}, "currentValue"),
        (wire.Error, {"code": 2**31, "message": ""}, "code"),
        (wire.PromptResponse, {"messageId": None}, "messageId"),
        (wire.SessionUpdate, {}, "sessionUpdate"),
        (wire.SessionUpdate, {"sessionUpdate": None}, "sessionUpdate"),
        (wire.SessionUpdate, 5, ""),
        (wire.SessionUpdate, {"sessionUpdate": "state_update"}, "state"),
        (wire.SessionUpdate, {"sessionUpdate": "notice", "severity": "x", "title": ""}, "title"),
        (
            wire.SessionUpdate,
            {"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": "p"}},
            "plan.entries",
        ),
        (
            wire.SessionUpdate,
            {"sessionUpdate": "plan_update", "plan": {"type": "_x"}},
            "plan.planId",
        ),
        (wire.AvailableCommand, {"type": "_x", "name": "n"}, "description"),
        (wire.SessionConfigOption, {"type": "_x", "configId": 5}, "configId"),
        (wire.AuthMethod, {"type": "_x", "methodId": "m"}, "name"),
        (wire.ContentBlock, {"type": "resource", "resource": {"uri": "u"}}, "resource.text"),
        (wire.ContentBlock, {"type": "resource", "resource": 5}, "resource"),
        (wire.RequestPermissionRequest, {"sessionId": "s", "title": "t", "options": []}, "options"),
        (wire.CancelRequestNotification, {"requestId": None}, "requestId"),
        (wire.CancelRequestNotification, {"requestId": 1.5}, "requestId"),
    ],
)  # fmt: skip
def test_what_is_malformed(kind: Any, value: Any, path: str) -> None:
    """A bad required part is an error that names the place, and never an unknown variant."""
    with pytest.raises(Malformed) as raised:
        structure(value, kind)
    assert path_text(raised.value.path) == path


def test_an_error_travels_up_to_the_nearest_lenient_place() -> None:
    """What is wrong deep inside takes with it only what cannot do without it."""
    bad = {"type": "diff", "changes": [{"operation": "move", "path": "/a"}, {"operation": "_x"}]}
    item = {"type": "content", "content": {"type": "image", "data": ""}}
    update, findings = read(wire.SessionUpdate, call(content=[bad, item]))
    assert update.content == (wire.Diff((wire.Unknown({"operation": "_x"}),)),)
    assert findings == [("skipped", "content[0].changes[0]"), ("skipped", "content[1]")]


@pytest.mark.parametrize(
    ("update", "found"),
    [
        (
            {
                "sessionUpdate": "config_option_update",
                "configOptions": [{**SELECT, "description": 5, "_meta": 5}],
            },
            [("skipped", "configOptions[0]")],
        ),
        (
            {
                "sessionUpdate": "state_update",
                "state": "running",
                "background": [{"type": "terminal", "terminalId": "t", "_meta": 5}, 5],
            },
            [("defaulted", "background")],
        ),
        (
            {
                "sessionUpdate": "config_option_update",
                "configOptions": [{**SWITCH, "description": 5, "currentValue": True}],
            },
            [("defaulted", "configOptions[0].description")],
        ),
    ],
)
def test_findings_inside_what_is_left_out_are_not_told(update: Any, found: Any) -> None:
    """A problem inside something that is left out is dropped with it."""
    assert read(wire.SessionUpdate, update)[1] == found


def test_findings_come_in_the_order_of_the_fields() -> None:
    """The findings of a message come in the order of the fields of its class."""
    fields = {"_meta": 5, "capabilities": 5, "locations": [5, 5], "kind": 5, "name": 5}
    assert [path for _, path in read(wire.SessionUpdate, call(**fields))[1]] == [
        "name",
        "kind",
        "locations[0]",
        "locations[1]",
        "capabilities",
        "_meta",
    ]


# --- Unions and their special places ---


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (wire.SessionUpdate, {"sessionUpdate": "_x", "toolCallId": 5}),
        (wire.SessionUpdate, {"sessionUpdate": ""}),
        (wire.ContentBlock, {"type": "Text", "text": 5}),
        (wire.ToolCallContent, {"type": "text", "text": "x"}),
        (wire.DiffChange, {"operation": "swap", "path": None}),
        (wire.BackgroundWork, {"type": "_x", "toolCallId": 5}),
        (wire.PlanUpdateContent, {"type": "_x", "planId": "p", "entries": 5}),
        (wire.AvailableCommand, {"type": "_x", "name": "n", "description": "d"}),
        (wire.AvailableCommandInput, {"type": "_x", "hint": 5}),
        (wire.SessionConfigOption, {"type": "_x", "configId": "c", "name": "n"}),
        (wire.RequestPermissionSubject, {"type": "_x", "command": 5}),
    ],
)
def test_unknown_variants_are_kept_raw(kind: Any, value: Any) -> None:
    """An unknown tag is not an error: the payload is kept exactly as it came."""
    assert read(kind, value) == (wire.Unknown(value), [])


@pytest.mark.parametrize(
    ("resource", "expected"),
    [
        ({"text": "t", "uri": "u"}, wire.TextResourceContents("t", "u")),
        ({"blob": "b", "uri": "u"}, wire.BlobResourceContents("b", "u")),
        ({"text": "t", "blob": "b", "uri": "u"}, wire.TextResourceContents("t", "u")),
        ({"text": 5, "blob": "b", "uri": "u"}, wire.BlobResourceContents("b", "u")),
    ],
)
def test_resources_are_told_by_what_they_hold(resource: Any, expected: Any) -> None:
    """Text wins over a blob, and a malformed text gives way to one."""
    block, findings = read(wire.ContentBlock, {"type": "resource", "resource": resource})
    assert block == wire.EmbeddedResource(expected)
    assert findings == []


CHOICE = {"value": "v", "name": "n"}
ONE = wire.SessionConfigSelectOption("v", "n")
GROUP = {"groupId": "g", "name": "n", "options": [CHOICE]}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([CHOICE], [ONE]),
        ([GROUP], [wire.SessionConfigSelectGroup("g", "n", (ONE,))]),
        ([{**GROUP, "options": None}], [wire.SessionConfigSelectGroup("g", "n", ())]),
        ([{**GROUP, "options": []}], [wire.SessionConfigSelectGroup("g", "n", ())]),
        ([{**GROUP, "options": [5, CHOICE]}],
         [wire.SessionConfigSelectGroup("g", "n", (ONE,))]),
        ([], None),
        ([CHOICE, GROUP], None),
        ([GROUP, CHOICE], None),
        ([5], None),
        (5, None),
    ],
)  # fmt: skip
def test_choices_are_all_options_or_all_groups(options: Any, expected: Any) -> None:
    """A select has one kind of choice; groups forgive their options, a mixture is malformed."""
    value = {
        "type": "select",
        "configId": "c",
        "name": "n",
        "currentValue": "v",
        "options": options,
    }
    if expected is None:
        with pytest.raises(Malformed):
            read(wire.SessionConfigOption, value)
    else:
        assert read(wire.SessionConfigOption, value)[0].options == tuple(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", b""), ("aGk=", b"hi"), ("aGk", b"hi"), ("YQ==", b"a"), ("YQ", b"a"), ("YQ=", b"a"),
        ("+/+/", b"\xfb\xff\xbf"),
        ("A", None), ("aGk=\n", None), (" aGk=", None), ("a-_b", None), ("%%%%", None),
        ("=", None), ("YQ===", None), ("aGkh=", None), ("aGkh====", None),
        ("aGk=aGk=", None), ("\u00e9", None), (5, None), (None, None),
    ],
)  # fmt: skip
def test_base64(text: Any, expected: bytes | None) -> None:
    """The standard alphabet without blanks; padding may be missing, and nothing else may."""
    value = {"sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": text}
    if expected is None:
        with pytest.raises(Malformed):
            structure(value, UPDATE)
    else:
        assert read(wire.SessionUpdate, value)[0].data == expected


@given(st.binary(max_size=20), st.booleans())
def test_base64_of_any_bytes(data: bytes, padded: bool) -> None:
    """Whatever is encoded is decoded, with padding and without."""
    text = base64.b64encode(data).decode()
    value = {"data": text if padded else text.rstrip("=")}
    assert structure(value, wire.TerminalOutput)[0].data == data


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("2026-03-01T09:00:00Z", True), ("2026-03-01T09:00:00.123456789Z", True),
        ("2026-03-01T09:00:00+01:30", True), ("2024-02-29T00:00:00Z", True),
        ("2000-02-29T23:59:59Z", True), ("0000-02-29T23:59:59Z", True),
        ("2026-02-29T00:00:00Z", False), ("1900-02-29T00:00:00Z", False),
        ("2026-13-01T00:00:00Z", False), ("2026-00-01T00:00:00Z", False),
        ("2026-04-31T00:00:00Z", False), ("2026-01-00T00:00:00Z", False),
        ("2026-01-01T24:00:00Z", False), ("2026-01-01T00:60:00Z", False),
        ("2026-01-01T00:00:00", False), ("2026-01-01T00:00Z", False), ("2026-01-01", False),
        ("2026-01-01 00:00:00Z", False), ("2026-01-01T00:00:00.Z", False),
        ("2026-01-01T00:00:00+24:00", False), ("2026-01-01T00:00:00Z\n", False), ("", False),
    ],
)  # fmt: skip
def test_times(text: str, good: bool) -> None:
    """`updatedAt` is an RFC 3339 time that exists, or else absent."""
    update, findings = read(
        wire.SessionUpdate, {"sessionUpdate": "session_info_update", "updatedAt": text}
    )
    assert update.updated_at == (text if good else UNSET)
    assert findings == ([] if good else [("defaulted", "updatedAt")])


def state(**fields: Any) -> Any:
    """Read a state."""
    return read(wire.SessionUpdate, {"sessionUpdate": "state_update", **fields})


ERROR = {"code": 1, "message": "m"}


@pytest.mark.parametrize(
    ("fields", "expected", "found"),
    [
        ({"state": "idle", "stopReason": 5}, wire.StateUpdate("idle"), ["stopReason"]),
        ({"state": "idle", "stopReason": None}, wire.StateUpdate("idle"), []),
        ({"state": "running", "stopReason": 5, "error": 5}, wire.StateUpdate("running"), []),
        ({"state": "idle", "error": 5}, wire.StateUpdate("idle"), []),
        ({"state": "idle", "stopReason": "error", "error": 5},
         wire.StateUpdate("idle", stop_reason="error"), ["error"]),
        ({"state": "idle", "stopReason": "error", "error": ERROR},
         wire.StateUpdate("idle", stop_reason="error", error=wire.Error(1, "m")), []),
        ({"state": "_x", "stopReason": 5},
         wire.UnknownStateUpdate({"state": "_x", "stopReason": 5}), []),
        ({"state": "idle", "stopReason": "_y", "z": None, "background": 5, "_meta": 5},
         wire.UnknownStateUpdate({"state": "idle", "stopReason": "_y", "z": None}),
         ["background", "_meta"]),
        ({"state": "idle", "stopReason": "_y", "_meta": {"k": 1}, "background": [{"type": "_w"}]},
         wire.UnknownStateUpdate({"state": "idle", "stopReason": "_y",
                                  "background": [{"type": "_w"}], "_meta": {"k": 1}}), []),
    ],
)  # fmt: skip
def test_states(fields: dict[str, Any], expected: Any, found: list[str]) -> None:
    """Keys of other states are not looked at; unknown states and stop reasons are kept raw."""
    result, findings = state(**fields)
    assert result == expected
    assert [path for _, path in findings] == found


def test_a_permission_may_have_a_tool_call_without_a_tag() -> None:
    """The tool call inside a permission request is an update that has no tag."""
    value = {"type": "tool_call", "toolCall": {"toolCallId": "c", "title": 5, "status": None}}
    subject, findings = read(wire.RequestPermissionSubject, value)
    assert subject == wire.ToolCallPermissionSubject(wire.ToolCallUpdate("c", status=None))
    assert findings == [("defaulted", "toolCall.title")]


# --- Paths, threads ---


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ([], ""),
        (["a"], "a"),
        (["line", "[0]", "at"], "at[0].line"),
        (["[1]", "[0]"], "[0][1]"),
    ],
)
def test_paths_are_written_from_the_outside_in(path: list[str], text: str) -> None:
    """A path grows from the inside and is read from the outside."""
    assert path_text(path) == text


def test_findings_of_threads_do_not_mix() -> None:
    """Messages read at the same time each get their own findings."""
    wrong: list[list[Finding]] = []

    def work(count: int) -> None:
        for _ in range(50):
            findings = structure(call(locations=[5] * count), UPDATE)[1]
            if len(findings) != count:
                wrong.append(findings)

    threads = [threading.Thread(target=work, args=(count,)) for count in (1, 2, 5, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@given(strategies.odd_updates())
def test_anything_is_read_or_malformed(update: Any) -> None:
    """Of any value either an object comes, or one exception with a path."""
    try:
        _, findings = structure(parse(strategies.encode(update)), UPDATE)
    except Malformed as malformed:
        findings = [Finding("skipped", malformed.reason, [*malformed.path, "$"])]
    assert all(finding.path and finding.reason for finding in findings)


def test_a_hook_of_the_library_is_never_kept() -> None:
    """A hook that cattrs has of its own is an error, and other types are read all the same."""
    for _ in range(2):
        with pytest.raises(RecursionError):
            structure(["1"], frozenset[str])
        assert structure(TEXT, wire.TextContent) == (PLAIN, [])
