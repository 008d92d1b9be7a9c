"""The ladder from the bytes of one line to a message: which rung takes what."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from traffic import chunk_line, line, permission_line, update_line

import acp_client
from acp_client import Problem, decode, wire
from acp_client._decode import decode_result, form_schema

CHUNK = {"sessionUpdate": "agent_message_chunk", "messageId": "m"}
PARAMS = {"sessionId": "s", "update": {**CHUNK, "content": {"type": "text", "text": "hi"}}}
UPDATE = {"jsonrpc": "2.0", "method": "session/update", "params": PARAMS}


def written(message: Any, **changes: Any) -> bytes:
    """Write a message with some members changed."""
    return json.dumps({**message, **changes}).encode()


def kinds(data: bytes | str, *, sent: bool = False) -> list[tuple[str, str]]:
    """Return kind and path of the problems of a line."""
    return [(one.kind, one.path) for one in decode(data, sent=sent)[1]]


# --- The typed path ---


def test_an_update_is_a_notification_with_an_event() -> None:
    """The parameters of an update hold what `apply` takes."""
    message, problems = decode(written(UPDATE))
    expected = wire.AgentMessageChunk("m", wire.TextContent("hi"))
    assert problems == ()
    assert message == wire.Notification(
        "session/update", wire.UpdateSessionNotification("s", expected)
    )


@pytest.mark.parametrize("convert", [bytes, bytearray, lambda data: data.decode()])
@pytest.mark.parametrize("around", [("", ""), ("\ufeff", "\r"), (" \t", "\n"), ("\u00a0", "\r\n")])
def test_a_line_of_any_kind(convert: Any, around: tuple[str, str]) -> None:
    """Bytes and strings are taken, with blanks, a mark or an end of line around them."""
    before, after = around
    data = before.encode() + written(UPDATE) + after.encode()
    assert decode(convert(data)) == decode(written(UPDATE))


def test_a_string_may_hold_lone_surrogates() -> None:
    """A line that somebody decoded already may have halves of characters in it."""
    message, problems = decode(written(UPDATE).decode().replace("hi", "\ud83d"))
    assert problems == ()
    assert isinstance(message, wire.Notification)


# --- JSON, and its shape ---


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b" \r", []),
        (b"\xef\xbb\xbf", []),
        (b"\xe3\x80\x80", []),
        (b"junk", [("not_json", "$")]),
        (b'{"a":1', [("not_json", "$")]),
        (b"{}{}", [("not_json", "$")]),
        (b"NaN", [("not_json", "$")]),
        (b"\xff", [("not_json", "$")]),
        (b"[" * 2_000 + b"]" * 2_000, [("too_deep", "$")]),
        (b"5", [("invalid_message", "$")]),
        (b"null", [("invalid_message", "$")]),
        (b'"x"', [("invalid_message", "$")]),
        (b"{}", [("invalid_message", "$")]),
        (b'{"jsonrpc":"2.0"}', [("invalid_message", "$")]),
        (written(UPDATE, jsonrpc=2), [("invalid_message", "$.jsonrpc")]),
        (b'{"method":"session/update"}', [("invalid_message", "$.jsonrpc")]),
        (written(UPDATE, method=5), [("invalid_message", "$.method")]),
        (written(UPDATE, id=None), [("invalid_message", "$.id")]),
        (written(UPDATE, id=1.5), [("invalid_message", "$.id")]),
        (written(UPDATE, id=True), [("invalid_message", "$.id")]),
        (written(UPDATE, id=[]), [("invalid_message", "$.id")]),
        (written(UPDATE, id=10**400), [("invalid_message", "$.id")]),
        (b'{"id":1e400,' + written(UPDATE)[1:], [("invalid_message", "$.id")]),
        (b"[]", []),
        (b"[5, null, [], {}]", [("invalid_message", f"$[{index}]") for index in range(4)]),
    ],
)  # fmt: skip
def test_what_is_no_message(data: bytes, expected: list[tuple[str, str]]) -> None:
    """A line that is not a message is one problem with a path; a blank line is skipped."""
    assert kinds(data) == expected


@pytest.mark.parametrize(
    ("members", "well_formed"),
    [
        ({"id": 1, "result": {}}, True),
        ({"id": 1, "result": None}, True),
        ({"id": "1", "error": {"code": 1, "message": "x"}}, True),
        ({"id": 1, "error": {"code": 1, "message": "x", "data": None, "more": 1}}, True),
        ({"id": 1, "error": {"code": 1.0, "message": ""}}, True),
        ({"id": 1}, False),
        ({"id": 1, "result": {}, "error": {"code": 1, "message": "x"}}, False),
        ({"id": 1, "result": {}, "error": None}, False),
        ({"id": 1, "error": None}, False),
        ({"id": 1, "error": "x"}, False),
        ({"id": 1, "error": {"message": "x"}}, False),
        ({"id": 1, "error": {"code": 1.5, "message": "x"}}, False),
        ({"id": 1, "error": {"code": 2**31, "message": "x"}}, False),
        ({"id": 1, "jsonrpc": "1.0", "result": {}}, False),
    ],
)
def test_answers(members: dict[str, Any], well_formed: bool) -> None:
    """A malformed answer is a problem, and is still known as an answer to its request."""
    message, problems = decode(line(**members))
    assert isinstance(message, wire.Response)
    assert message.id == members["id"]
    assert [one.kind for one in problems] == ([] if well_formed else ["invalid_message"])
    if not well_formed:
        assert (message.result, message.error) == (None, None)


@pytest.mark.parametrize(
    ("written_id", "read"), [(b"1", 1), (b"1.0", 1), (b"1e3", 1000), (b"-0", 0), (b'"1"', "1")]
)
def test_ids_are_compared_as_in_json(written_id: bytes, read: Any) -> None:
    """`1.0` is 1, and `"1"` is not."""
    message, problems = decode(b'{"jsonrpc":"2.0","id":' + written_id + b',"result":{}}')
    assert problems == ()
    assert isinstance(message, wire.Response)
    assert (message.id, type(message.id)) == (read, type(read))


def test_a_batch_is_taken_apart() -> None:
    """The good messages of an array come in order, the others are problems with their place."""
    malformed = {**UPDATE, "params": {"sessionId": 5}}
    data = json.dumps([UPDATE, 5, malformed, {"jsonrpc": "2.0", "id": 1, "result": 7}]).encode()
    message, problems = decode(data)
    assert isinstance(message, wire.Batch)
    assert [type(one) for one in message] == [wire.Notification, wire.Response]
    assert message.places == (0, 3)
    assert [(one.kind, one.path) for one in problems] == [
        ("invalid_message", "$[1]"),
        ("rejected", "$[2].params.sessionId"),
    ]


@pytest.mark.parametrize(
    ("members", "path"),
    [
        ({"jsonrpc": "1.0", "result": {}}, "$.jsonrpc"),
        ({"result": {}, "error": None}, "$"),
        ({}, "$"),
        ({"error": {"code": 1}}, "$.error"),
        ({"error": "no"}, "$.error"),
    ],
)
def test_a_malformed_answer_is_told_with_its_fault(members: dict[str, Any], path: str) -> None:
    """An answer that cannot be used answers nothing, and the problem says where it is wrong."""
    message, (problem,) = decode(json.dumps({"jsonrpc": "2.0", "id": 1, **members}))
    assert message == wire.Response(1)
    assert (problem.kind, problem.path) == ("invalid_message", path)


# --- Methods ---


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (permission_line(1), wire.RequestPermissionRequest),
        (line(method="$/cancel_request", params={"requestId": 1}), wire.CancelRequestNotification),
        (
            line(method="elicitation/complete", params={"elicitationId": "e"}),
            wire.CompleteElicitationNotification,
        ),
        (line(method="_example.com/x", params={"a": 1}), wire.Json),
        (line(method="_example.com/x", params=None), wire.Json),
        (line(method="_example.com/x"), type(None)),
        (line(id=1, method="fs/read_text_file", params=[]), wire.Json),
        (line(id=1, method="session/update", params=5), wire.Json),
        (line(method="session/request_permission", params=5), wire.Json),
        (line(id=1, method="session/prompt", params=5), wire.Json),
        (line(method="session/cancel", params=5), wire.Json),
    ],
)
def test_what_the_agent_calls(data: bytes, kind: type) -> None:
    """Followed calls have typed parameters; other calls, or those with a wrong id, keep `Json`."""
    message, problems = decode(data)
    assert problems == ()
    assert isinstance(message, wire.Notification | wire.Request)
    assert type(message.params) is kind


OPTION_REQUEST = wire.SetSessionConfigOptionRequest


@pytest.mark.parametrize(
    ("method", "params", "kind"),
    [
        ("session/prompt", {"sessionId": "s", "prompt": []}, wire.SentPromptRequest),
        ("session/prompt", {"sessionId": "s"}, wire.SentPromptRequest),
        ("session/prompt", {"sessionId": "s", "prompt": 5}, wire.SentPromptRequest),
        ("session/resume", {"sessionId": "s", "cwd": "/"}, wire.ResumeSessionRequest),
        ("session/set_config_option", {"sessionId": "s"}, wire.SetSessionConfigOptionRequest),
        (
            "session/set_config_option",
            {"sessionId": "s", "configId": 5, "value": 5},
            OPTION_REQUEST,
        ),
        ("session/list", {"cursor": "c"}, wire.ListSessionsRequest),
        ("session/close", {"sessionId": "s"}, wire.CloseSessionRequest),
        ("session/delete", {"sessionId": "s"}, wire.DeleteSessionRequest),
        ("tool_call/cancel", {"sessionId": "s", "toolCallId": "c"}, wire.CancelToolCallRequest),
        ("terminal/cancel", {"sessionId": "s", "terminalId": "t"}, wire.CancelTerminalRequest),
        ("auth/login", {"methodId": "m"}, wire.LoginAuthRequest),
        ("session/new", {"cwd": "/"}, wire.Json),
        ("session/request_permission", {}, wire.Json),
    ],
)
def test_what_the_client_calls(method: str, params: Any, kind: type) -> None:
    """What the client sent is read by the methods that a client calls."""
    message, _ = decode(line(id=1, method=method, params=params), sent=True)
    assert isinstance(message, wire.Request)
    assert type(message.params) is kind


@pytest.mark.parametrize(
    ("data", "path"),
    [
        (line(method="session/update"), "$.params"),
        (line(method="session/update", params=None), "$.params"),
        (line(method="session/update", params=[]), "$.params"),
        (line(method="session/update", params={"update": {}}), "$.params.sessionId"),
        (line(method="session/update", params={"sessionId": "s"}), "$.params.update"),
        (update_line("agent_message", content=[]), "$.params.update.messageId"),
        (update_line("usage_update", used=-1, size=1), "$.params.update.used"),
        (
            update_line("agent_message_chunk", messageId="m", content={"type": "text"}),
            "$.params.update.content.text",
        ),
        (line(id=1, method="session/request_permission", params={}), "$.params.sessionId"),
        (permission_line(1, options=[]), "$.params.options"),
        (permission_line(1, options=[5]), "$.params.options[0]"),
        (permission_line(1, subject={"type": "command"}), "$.params.subject.command"),
        (line(method="$/cancel_request", params={}), "$.params.requestId"),
    ],
)
def test_what_is_rejected(data: bytes, path: str) -> None:
    """A followed call with a malformed required part is dropped whole: one problem, with path."""
    message, problems = decode(data)
    assert message is None
    assert [(one.kind, one.path) for one in problems] == [("rejected", path)]


@pytest.mark.parametrize(
    ("data", "path", "kind"),
    [
        (line(id=1, method="session/prompt", params={}), "$.params.sessionId", wire.Request),
        (line(id=1, method="session/prompt"), "$.params", wire.Request),
        (line(method="session/cancel"), "$.params", wire.Notification),
    ],
)
def test_what_the_client_sent_is_never_dropped(data: bytes, path: str, kind: type) -> None:
    """A malformed call of the client is on its way all the same: its parameters are kept raw."""
    message, problems = decode(data, sent=True)
    assert isinstance(message, wire.Request | wire.Notification)
    assert type(message) is kind
    assert isinstance(message.params, wire.Json)
    assert [(one.kind, one.path) for one in problems] == [("rejected", path)]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"title": 5}, [("defaulted", "$.params.update.title")]),
        ({"locations": [5]}, [("skipped", "$.params.update.locations[0]")]),
        (
            {"locations": [{"path": "/a", "line": 0}, {"line": 1}]},
            [
                ("defaulted", "$.params.update.locations[0].line"),
                ("skipped", "$.params.update.locations[1]"),
            ],
        ),
        (
            {
                "content": [
                    {"type": "content", "content": {"type": "text", "text": "x", "_meta": 5}}
                ]
            },
            [("defaulted", "$.params.update.content[0].content._meta")],
        ),
    ],
)
def test_what_is_repaired(fields: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    """A message with malformed lenient parts counts without them, and each part is a problem."""
    message, problems = decode(update_line("tool_call_update", toolCallId="c", **fields))
    assert message is not None
    assert [(one.kind, one.path) for one in problems] == expected


def test_a_problem_says_what_is_wrong() -> None:
    """A problem is for people: a line, a kind, a path and a few words."""
    assert decode(update_line("tool_call_update", toolCallId="c", locations=[{"line": 1}]))[1] == (
        Problem(1, "skipped", "$.params.update.locations[0]", "path is missing"),
    )


# --- Results ---


@pytest.mark.parametrize(
    ("kind", "result", "expected", "told"),
    [
        (wire.PromptResponse, {"messageId": "m"}, wire.PromptResponse("m"), []),
        (wire.PromptResponse, {"messageId": 5}, None, ["$.result.messageId"]),
        (wire.PromptResponse, 5, None, ["$.result"]),
        (wire.NewSessionResponse, {"sessionId": "s"}, wire.NewSessionResponse("s"), []),
        (
            wire.NewSessionResponse,
            {"sessionId": "s", "configOptions": None, "availableCommands": [5]},
            wire.NewSessionResponse("s", (), ()),
            ["$.result.configOptions", "$.result.availableCommands[0]"],
        ),
        (wire.ResumeSessionResponse, {}, wire.ResumeSessionResponse(), []),
    ],
)
def test_results(kind: Any, result: Any, expected: Any, told: list[str]) -> None:
    """A result is read as what its request asks for; `None` is one that cannot be used."""
    problems: list[Problem] = []
    assert decode_result(kind, wire.Json(result), 7, problems.append) == expected
    assert [(one.line, one.path) for one in problems] == [(7, path) for path in told]


def test_the_lenient_path_is_loaded_when_it_is_needed() -> None:
    """An agent that makes no mistakes does not cost what cattrs costs to load."""
    program = f"""
import sys, acp_client
store = acp_client.Store()
store.receive({chunk_line("x") + chunk_line("y") + permission_line(1)!r} + b"junk\\n")
store.answer_permission("s1", 1, "yes")
print("cattrs" in sys.modules)
store.receive({update_line("tool_call_update", toolCallId="c", title=5)!r})
print("cattrs" in sys.modules, len(store.problems))
"""
    place = str(Path(acp_client.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        check=True,
        text=True,
        env={**os.environ, "PYTHONPATH": place},
    )
    assert done.stdout.split() == ["False", "True", "2"]


@pytest.mark.parametrize("blank", ["", " ", "  "])
def test_an_unknown_variant_is_known_by_its_tag(
    blank: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However blanks stand in the line, the lenient path is not asked for it."""
    monkeypatch.setattr("acp_client._decode.decode_refused", None)
    params = {"sessionId": "s1", "update": {"sessionUpdate": "_vendor", "n": 1}}
    call = {"jsonrpc": "2.0", "method": "session/update", "params": params}
    message, problems = acp_client.decode(json.dumps(call, separators=(",", f":{blank}")))
    assert message == acp_client.wire.Notification(
        "session/update",
        acp_client.wire.UpdateSessionNotification("s1", acp_client.wire.Unknown(params["update"])),
    )
    assert problems == ()


# --- Elicitations ---

TITLED = {"const": "a", "title": "A"}
FORM = {
    "type": "object",
    "title": 5,
    "properties": {
        "name": {"type": "string", "minLength": 1, "default": 5},
        "age": {"type": "integer", "maximum": 150},
        "size": {"type": "number"},
        "ok": {"type": "boolean", "title": "Ok?"},
        "many": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
        "titled": {"type": "array", "items": {"anyOf": [TITLED]}, "default": ["a", 5]},
        "both": {"type": "array", "items": {"type": "string", "anyOf": [TITLED]}},
        "other": {"type": "array", "items": {"type": "_x", "y": None}},
        "new": {"type": "_x", "z": 1},
    },
    "required": ["name"],
}


def elicitation_line(**params: Any) -> bytes:
    """Write an elicitation of the agent as a line."""
    return line(id=7, method="elicitation/create", params={"message": "m", **params})


def test_a_form_is_kept_as_it_came_and_can_be_read() -> None:
    """The schema of a form is checked and kept raw; what is malformed is left out in reading it."""
    data = elicitation_line(mode="form", sessionId="s", toolCallId=5, requestedSchema=FORM)
    message, problems = decode(data)
    assert isinstance(message, wire.Request)
    assert isinstance(message.params, wire.ElicitationFormMode)
    assert message.params.requested_schema == wire.JsonObject(FORM)
    assert (message.params.session_id, message.params.tool_call_id) == ("s", None)
    assert [(one.kind, one.path) for one in problems] == [
        ("defaulted", "$.params.toolCallId"),
        ("defaulted", "$.params.requestedSchema.properties.name.default"),
        ("skipped", "$.params.requestedSchema.properties.titled.default[1]"),
        ("defaulted", "$.params.requestedSchema.title"),
    ]
    form = form_schema(message.params)
    titled = wire.TitledMultiSelectItems((wire.EnumOption("a", "A"),))
    assert form.title is None
    assert form.required == ("name",)
    assert form.properties == {
        "name": wire.StringPropertySchema(min_length=1),
        "age": wire.IntegerPropertySchema(maximum=150),
        "size": wire.NumberPropertySchema(),
        "ok": wire.BooleanPropertySchema(title="Ok?"),
        "many": wire.MultiSelectPropertySchema(items=wire.StringMultiSelectItems(("a", "b"))),
        "titled": wire.MultiSelectPropertySchema(items=titled, default=("a",)),
        "both": wire.MultiSelectPropertySchema(items=titled),
        "other": wire.MultiSelectPropertySchema(
            items=wire.UnknownMultiSelectItems({"type": "_x", "y": None})
        ),
        "new": wire.Unknown({"type": "_x", "z": 1}),
    }


def test_a_url_of_a_request() -> None:
    """An elicitation may belong to a request of the client instead of a session."""
    data = elicitation_line(mode="url", requestId=1.0, elicitationId="e", url="https://x")
    message, problems = decode(data)
    assert problems == ()
    assert isinstance(message, wire.Request)
    assert message.params == wire.ElicitationUrlMode(
        message="m", request_id=1, elicitation_id="e", url="https://x"
    )


def test_an_unknown_mode_is_kept_raw() -> None:
    """Its scope and its message can be read all the same."""
    params = {"message": "m", "mode": "_voice", "requestId": 1.0, "more": None}
    message, problems = decode(line(id=7, method="elicitation/create", params=params))
    assert problems == ()
    assert isinstance(message, wire.Request)
    unknown = message.params
    assert unknown == wire.ElicitationUnknownMode(params)
    assert isinstance(unknown, wire.ElicitationUnknownMode)
    assert (unknown.message, unknown.session_id, unknown.request_id) == ("m", None, 1)


URL = {"mode": "url", "elicitationId": "e", "url": "u"}

WRONG_SCHEMAS: list[tuple[dict[str, Any], str]] = [
    ({"type": "array"}, "type"),
    ({"properties": []}, "properties"),
    ({"required": [5]}, "required[0]"),
    ({"properties": {"a": {"minLength": 1}}}, "properties.a.type"),
    ({"properties": {"a": {"type": "string", "enum": []}}}, "properties.a.enum"),
    ({"properties": {"a": {"type": "array"}}}, "properties.a.items"),
    ({"properties": {"a": {"type": "array", "items": 5}}}, "properties.a.items"),
]


@pytest.mark.parametrize(
    ("params", "path"),
    [
        (URL, "$.params"),
        ({**URL, "sessionId": "s", "requestId": 1}, "$.params"),
        ({**URL, "sessionId": 5}, "$.params.sessionId"),
        ({**URL, "sessionId": "s", "message": None}, "$.params.message"),
        ({"mode": "_x"}, "$.params"),
        ({"mode": "_x", "sessionId": "s", "requestId": 1}, "$.params"),
        ({"sessionId": "s"}, "$.params.mode"),
        ({"mode": "form", "sessionId": "s"}, "$.params.requestedSchema"),
        ({"mode": "form", "sessionId": "s", "requestedSchema": 5}, "$.params.requestedSchema"),
        *[
            (
                {"mode": "form", "sessionId": "s", "requestedSchema": {**FORM, **wrong}},
                f"$.params.requestedSchema.{path}",
            )
            for wrong, path in WRONG_SCHEMAS
        ],
    ],
)
def test_a_malformed_elicitation_is_rejected(params: Any, path: str) -> None:
    """Neither or both scopes, and a schema that no form can be made of, reject the request."""
    message, problems = decode(elicitation_line(**params))
    assert message is None
    assert [(one.kind, one.path) for one in problems] == [("rejected", path)]


# --- The usage of a turn ---

USAGE = {"totalTokens": 3, "inputTokens": 1, "outputTokens": 2}


@pytest.mark.parametrize(
    ("fields", "usage", "found"),
    [
        ({}, USAGE, []),
        ({"thoughtTokens": -1}, USAGE, [("defaulted", "$.params.update.usage.thoughtTokens")]),
        ({"inputTokens": None}, None, [("defaulted", "$.params.update.usage")]),
        ({"more": 1}, USAGE, []),
    ],
)
def test_the_usage_of_an_idle_state(fields: Any, usage: Any, found: Any) -> None:
    """A bad required count drops the usage; a bad optional one is dropped alone."""
    data = update_line("state_update", state="idle", usage={**USAGE, **fields})
    message, problems = decode(data)
    assert isinstance(message, wire.Notification)
    assert isinstance(message.params, wire.UpdateSessionNotification)
    expected = {"state": "idle"} if usage is None else {"state": "idle", "usage": usage}
    shown = wire.to_builtins(message.params.update)
    assert shown == {"sessionUpdate": "state_update", **expected}
    assert [(one.kind, one.path) for one in problems] == found


def test_the_usage_of_an_unknown_stop_reason() -> None:
    """Known keys are decoded there too, others are kept."""
    fields: dict[str, Any] = {"state": "idle", "stopReason": "_x", "more": 1}
    data = update_line("state_update", usage={**USAGE, "more": 1}, **fields)
    message, _ = decode(data)
    assert isinstance(message, wire.Notification)
    assert isinstance(message.params, wire.UpdateSessionNotification)
    assert isinstance(message.params.update, wire.UnknownStateUpdate)
    assert message.params.update.value == {**fields, "usage": USAGE}


def test_a_busy_state_has_no_usage() -> None:
    """Nor a stop reason, both ways of decoding agree."""
    variants: list[dict[str, Any]] = [{}, {"background": [{"type": "_x"}]}]
    for more in variants:
        message, _ = decode(update_line("state_update", state="running", usage=USAGE, **more))
        assert isinstance(message, wire.Notification)
        assert isinstance(message.params, wire.UpdateSessionNotification)
        assert isinstance(message.params.update, wire.StateUpdate)
        assert message.params.update.usage is None
