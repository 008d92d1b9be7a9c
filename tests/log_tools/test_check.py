"""Rules of the protocol: each with a recording that breaks it, and one that keeps all of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import strategies
from click.testing import CliRunner
from hypothesis import given
from log_traffic import frames_of, read
from traffic import BUNDLED, SHARED

from acp_client import Finding, check
from acp_client._cli.commands import commands
from acp_client._log_tools.checking import RULES
from acp_client._log_tools.findings import sarif_document

Line = tuple[bool, bytes]


def agent(**members: Any) -> Line:
    """Write a message of the agent."""
    return False, json.dumps({"jsonrpc": "2.0", **members}).encode()


def client(**members: Any) -> Line:
    """Write a message of the client."""
    return True, json.dumps({"jsonrpc": "2.0", **members}).encode()


def update(variant: str, session: str = "s", /, **fields: Any) -> Line:
    """Write an update."""
    params = {"sessionId": session, "update": {"sessionUpdate": variant, **fields}}
    return agent(method="session/update", params=params)


def state(name: str, **fields: Any) -> Line:
    """Write a state of version 2."""
    return update("state_update", state=name, **fields)


def call(**fields: Any) -> Line:
    """Write an update of a tool call."""
    return update("tool_call_update", toolCallId="t", **fields)


def asks(number: Any, method: str, **params: Any) -> Line:
    """Write a request of the client."""
    return client(id=number, method=method, params=params)


def agent_asks(number: Any, method: str, **params: Any) -> Line:
    """Write a request of the agent."""
    return agent(id=number, method=method, params=params)


def answer(number: Any, result: Any) -> Line:
    """Write an answer of the agent."""
    return agent(id=number, result=result)


def reply(number: Any, result: Any) -> Line:
    """Write an answer of the client."""
    return client(id=number, result=result)


INFO = {"name": "x", "version": "1"}
TEXT = {"type": "text", "text": "hi"}
CAPABILITIES_2: dict[str, Any] = {
    "session": {"prompt": {"image": {}}, "mcp": {"stdio": {}, "http": {}}, "delete": {}}
}
CAPABILITIES_1: dict[str, Any] = {
    "loadSession": True,
    "promptCapabilities": {"image": True},
    "mcpCapabilities": {"http": True},
    "sessionCapabilities": {"list": {}, "close": {}, "resume": {}, "delete": {}},
}
SELECT = {
    "configId": "mode",
    "id": "mode",
    "name": "Mode",
    "type": "select",
    "currentValue": "a",
    "options": [{"value": "a", "name": "A"}, {"value": "b", "name": "B"}],
}
LISTS: dict[str, Any] = {"configOptions": [SELECT]}
MODES = {"currentModeId": "m", "availableModes": [{"id": "m", "name": "M"}]}


def hello(version: int, capabilities: Any = None, **more: Any) -> list[Line]:
    """Write the initialization of a version."""
    if version == 2:
        client_can: Any = {"info": INFO, "capabilities": {"elicitation": {"form": {}}}}
        agent_can: Any = {"info": INFO, "capabilities": capabilities or CAPABILITIES_2}
    else:
        files = {"readTextFile": True, "writeTextFile": False}
        client_can = {"clientCapabilities": {"fs": files, "terminal": True}}
        agent_can = {"agentCapabilities": capabilities or CAPABILITIES_1}
    agent_can |= {"authMethods": [{"methodId": "l", "id": "l", "name": "L", "type": "agent"}]}
    return [
        asks(0, "initialize", protocolVersion=version, **{**client_can, **more}),
        answer(0, {"protocolVersion": version, **agent_can}),
    ]


def opened(version: int, **more: Any) -> list[Line]:
    """Write the beginning of a connection with one session."""
    result = {"sessionId": "s", **LISTS, **({"modes": MODES} if version == 1 else {})}
    new = asks(1, "session/new", cwd="/w", mcpServers=[])
    return [*hello(version, **more), new, answer(1, result)]


def two(*lines: Line) -> list[Line]:
    """Write a session of version 2."""
    return [*opened(2), *lines]


def one(*lines: Line) -> list[Line]:
    """Write a session of version 1."""
    return [*opened(1), *lines]


PROMPT = asks(2, "session/prompt", sessionId="s", prompt=[TEXT])
ECHO = update("user_message", messageId="u", content=[TEXT])
SAID = update("agent_message", messageId="a", content=[TEXT])
ACCEPTED = answer(2, {"messageId": "u"})
RUNNING, IDLE = state("running"), state("idle", stopReason="end_turn")
TURN = (PROMPT, ECHO, ACCEPTED, RUNNING, SAID, IDLE)
CANCEL = client(method="session/cancel", params={"sessionId": "s"})
OPTIONS = [
    {"optionId": "y", "name": "Yes", "kind": "allow_once"},
    {"optionId": "n", "name": "No", "kind": "reject_once"},
]


def permission(number: Any = 9, options: Any = OPTIONS, **more: Any) -> Line:
    """Write a permission request that both versions take."""
    call_1 = {"toolCall": {"toolCallId": "p", "title": "P"}}
    params = {"sessionId": "s", "title": "May I?", "options": options, **call_1, **more}
    return agent_asks(number, "session/request_permission", **params)


def selected(option: str, number: Any = 9) -> Line:
    """Write an answer to a permission request."""
    return reply(number, {"outcome": {"outcome": "selected", "optionId": option}})


REFUSED = reply(9, {"outcome": {"outcome": "cancelled"}})


def elicit(**params: Any) -> Line:
    """Write a question to the user."""
    form = {"mode": "form", "message": "?", "sessionId": "s"}
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    return agent_asks(8, "elicitation/create", **{**form, "requestedSchema": schema, **params})


def fields_of(line: Line, path: str, value: Any) -> Line:
    """Write a line with something else at a place; `...` takes it away."""
    message = json.loads(line[1])
    *steps, last = path.split(".")
    inner = message
    for step in steps:
        inner = inner[step]
    inner[last] = value
    if value is ...:
        del inner[last]
    return line[0], json.dumps(message).encode()


def listed(*sessions: Any) -> list[Line]:
    """Write a list of sessions."""
    return [asks(3, "session/list"), answer(3, {"sessions": list(sessions)})]


def resumed(*lines: Line, **more: Any) -> list[Line]:
    """Write a resume with what comes before its answer."""
    return [asks(4, "session/resume", sessionId="s", cwd="/w", **more), *lines, answer(4, {})]


def nested(levels: int) -> Line:
    """Write an update that nests deeply."""
    text = b"[" * levels + b"]" * levels
    return False, update("_x", a=0)[1].replace(b'"a": 0', b'"a": ' + text)


TERMINAL = update("terminal_update", terminalId="e", command="ls")
TOOL_1 = update("tool_call", toolCallId="t", title="T", status="pending")
PROMPT_ENDED = answer(2, {"stopReason": "end_turn"})
CREATED = (
    agent_asks(5, "terminal/create", sessionId="s", command="ls"),
    reply(5, {"terminalId": "e"}),
)
READ = agent_asks(5, "fs/read_text_file", sessionId="s", path="/a")
TERMINAL_ITEM = {"type": "terminal", "terminalId": "e"}
BACKGROUND = [{"type": "terminal", "terminalId": "e"}]

CASES: dict[str, tuple[Sequence[Line], Sequence[Line]]] = {
    # --- what cannot be decoded ---
    "agent/not-json": (two((False, b"oops")), two(SAID)),
    "agent/invalid-message": (two((False, b'{"id":1}')), two(SAID)),
    "agent/required-field": (two(update("agent_message_chunk", content=TEXT)), two(SAID)),
    "agent/optional-field": (two(call(title=5)), two(call(title="T"))),
    "agent/list-item": (
        two(update("agent_message", messageId="a", content=[TEXT, 3])),
        two(update("agent_message", messageId="a", content=[TEXT, {"type": "_x"}])),
    ),
    "agent/too-deep": (two(nested(1500)), two(nested(20))),
    "client/not-json": (two((True, b"oops")), two(PROMPT)),
    "client/invalid-message": (two((True, b'{"id":5}')), two(PROMPT)),
    "client/required-field": (
        two(client(method="session/cancel", params={})),
        two(CANCEL),
    ),
    # --- messages of either side ---
    "agent/unknown-answer": (two(answer(7, {})), two(*listed())),
    "agent/second-answer": (two(*TURN, ACCEPTED), two(*TURN)),
    "agent/reused-id": (
        two(permission(), permission()),
        two(permission(), selected("y"), permission(), selected("n")),
    ),
    "agent/null-id": (two(permission(None)), two(permission("1"), selected("y", "1"))),
    "agent/error-shape": (
        two(PROMPT, agent(id=2, error={"code": "x", "message": "no"})),
        two(PROMPT, agent(id=2, error={"code": -1, "message": "no"})),
    ),
    "agent/batch": (two((False, b"[" + SAID[1] + b"]")), two(SAID)),
    "agent/unknown-method": (
        two(agent(method="vendor/thing")),
        two(agent(method="_vendor/thing"), agent(method="$/progress")),
    ),
    "agent/notification-with-id": (two(fields_of(SAID, "id", 77)), two(SAID)),
    "agent/request-without-id": (
        two(fields_of(permission(), "id", ...)),
        two(permission(), selected("y")),
    ),
    "agent/protocol-version": (
        [asks(0, "initialize", protocolVersion=2, info=INFO),
         answer(0, {"protocolVersion": 3, "info": INFO})],
        hello(2),
    ),
    "agent/implementation": (
        [asks(0, "initialize", protocolVersion=2, info=INFO), answer(0, {"protocolVersion": 2})],
        hello(2),
    ),
    "agent/before-initialized": ([hello(2)[0], SAID, hello(2)[1]], two(SAID)),
    "client/unknown-answer": (two(reply(7, {})), two(permission(), selected("y"))),
    "client/second-answer": (
        two(permission(), selected("y"), selected("y")),
        two(permission(), selected("y"), permission(10), selected("y", 10)),
    ),
    "client/reused-id": (two(PROMPT, PROMPT), two(*TURN, *TURN[:1])),
    "client/null-id": (
        two(asks(None, "session/list")),
        two(*listed()),
    ),
    "client/error-shape": (
        two(permission(), client(id=9, error={"message": 3})),
        two(permission(), client(id=9, error={"code": 1, "message": "no"})),
    ),
    "client/batch": (two((True, b"[" + PROMPT[1] + b"]")), two(PROMPT)),
    "client/unknown-method": (
        two(asks(5, "vendor/thing")),
        two(asks(5, "_vendor/thing"), asks(6, "mcp/connect")),
    ),
    "client/notification-with-id": (two(fields_of(CANCEL, "id", 6)), two(CANCEL)),
    "client/request-without-id": (two(fields_of(PROMPT, "id", ...)), two(PROMPT)),
    "client/protocol-version": (
        [asks(0, "initialize", protocolVersion="2", info=INFO), hello(2)[1]],
        hello(2),
    ),
    "client/implementation": (
        [asks(0, "initialize", protocolVersion=2), hello(2)[1]],
        hello(2),
    ),
    "client/before-initialized": (
        [hello(2)[0], asks(1, "session/new", cwd="/w"), hello(2)[1]],
        two(),
    ),
    "client/initialized-twice": (two(fields_of(hello(2)[0], "id", 5)), two()),
    # --- prompts ---
    "agent/message-id-missing": (two(PROMPT, answer(2, {"messageId": None})), two(*TURN)),
    "agent/message-id-reused": (
        two(*TURN, fields_of(PROMPT, "id", 3), fields_of(ACCEPTED, "id", 3)),
        two(*TURN, fields_of(PROMPT, "id", 3), answer(3, {"messageId": "u2"}),
            update("user_message", messageId="u2", content=[TEXT])),
    ),
    "agent/answered-after-the-work": (
        two(PROMPT, ECHO, RUNNING, SAID, IDLE, ACCEPTED),
        two(RUNNING, PROMPT, IDLE, ECHO, ACCEPTED, RUNNING, SAID, IDLE),
    ),
    "agent/not-echoed": (
        two(PROMPT, ACCEPTED, RUNNING, SAID, IDLE),
        two(PROMPT, ACCEPTED, RUNNING, SAID, ECHO, IDLE),
    ),
    "agent/without-running": (
        two(PROMPT, ECHO, ACCEPTED, SAID, IDLE),
        two(PROMPT, ECHO, ACCEPTED, SAID, state("idle"), SAID),
    ),
    "agent/idle-without-reason": (
        two(*TURN[:-1], state("idle")),
        two(*TURN, state("idle"), RUNNING, state("idle")),
    ),
    "agent/unknown-stop-reason": (
        two(*TURN[:-1], state("idle", stopReason="tired")),
        two(*TURN[:-1], state("idle", stopReason="_tired")),
    ),
    "agent/error-without-details": (
        two(*TURN[:-1], state("idle", stopReason="error")),
        two(*TURN[:-1], state("idle", stopReason="error", error={"code": 1, "message": "x"})),
    ),
    "agent/unknown-state": (two(state("sleeping")), two(state("_sleeping"), IDLE)),
    "agent/cancelled-otherwise": (
        two(*TURN[:-1], CANCEL, IDLE),
        two(*TURN, CANCEL, IDLE),
    ),
    "agent/requires-action": (
        two(*TURN[:-1], permission(), IDLE),
        two(*TURN[:-1], permission(), state("requires_action"), selected("y"), RUNNING, IDLE),
    ),
    "agent/background-unannounced": (
        two(state("running", background=BACKGROUND)),
        two(TERMINAL, state("running", background=BACKGROUND)),
    ),
    "agent/background-gone": (
        two(TERMINAL, state("running", background=BACKGROUND), state("running", background=[])),
        two(TERMINAL, state("running", background=BACKGROUND),
            update("terminal_update", terminalId="e", exitStatus={}),
            state("running", background=[])),
    ),
    "agent/background-left-out": (
        two(TERMINAL, state("running", background=BACKGROUND), RUNNING),
        two(RUNNING, state("running", background=[]), state("running", background=[])),
    ),
    "agent/background-twice": (
        two(TERMINAL, state("running", background=BACKGROUND * 2)),
        two(TERMINAL, state("running", background=BACKGROUND)),
    ),
    "agent/after-cancelled": (
        two(*TURN[:-1], call(), CANCEL, state("idle", stopReason="cancelled"),
            call(status="cancelled")),
        two(*TURN[:-1], call(), CANCEL, call(status="cancelled"),
            state("idle", stopReason="cancelled"), SAID),
    ),
    "agent/stop-reason": (
        one(PROMPT, answer(2, {"stopReason": "done"})),
        one(PROMPT, PROMPT_ENDED),
    ),
    "agent/cancelled-as-error": (
        one(PROMPT, CANCEL, agent(id=2, error={"code": 1, "message": "aborted"})),
        one(PROMPT, CANCEL, answer(2, {"stopReason": "cancelled"})),
    ),
    # --- tools ---
    "agent/tool-status": (
        two(call(status="done")),
        two(call(status="_done"), call(status="paused")),
    ),
    "agent/tool-kind": (two(call(kind="shell")), two(call(kind="_shell"), call(kind="execute"))),
    "agent/tool-status-goes-back": (
        two(call(status="completed"), call(status="in_progress")),
        two(call(status="pending"), call(status="completed"), call(title="T")),
    ),
    "agent/relative-location": (
        two(call(locations=[{"path": "a.py"}])),
        two(call(locations=[{"path": "/a.py"}, {"path": "C:\\a.py"}])),
    ),
    "agent/relative-diff": (
        two(call(content=[{"type": "diff", "changes": [{"operation": "add", "path": "a"}]}])),
        two(call(content=[{"type": "diff", "changes": [{"operation": "add", "path": "/a"}]}])),
    ),
    "agent/unknown-terminal": (
        two(call(content=[TERMINAL_ITEM])),
        two(call(content=[TERMINAL_ITEM]), TERMINAL),
    ),
    "agent/terminal-output": (
        two(update("terminal_output_chunk", terminalId="e", data="%%")),
        two(update("terminal_output_chunk", terminalId="e", data="aGk")),
    ),
    "agent/output-after-exit": (
        two(update("terminal_update", terminalId="e", exitStatus={}),
            update("terminal_output_chunk", terminalId="e", data="aGk=")),
        two(update("terminal_output_chunk", terminalId="e", data="aGk="),
            update("terminal_update", terminalId="e", exitStatus={})),
    ),
    "agent/terminal-directory": (
        two(update("terminal_update", terminalId="e", cwd="src")),
        two(update("terminal_update", terminalId="e", cwd="/src")),
    ),
    "agent/plan-entry": (
        one(update("plan", entries=[{"content": "x", "priority": "urgent", "status": "pending"}])),
        one(update("plan", entries=[{"content": "x", "priority": "high", "status": "pending"}])),
    ),
    "agent/cost": (
        two(update("usage_update", used=1, size=2, cost={"amount": -1, "currency": "USD"})),
        two(update("usage_update", used=1, size=2, cost={"amount": 1, "currency": "credits"})),
    ),
    "agent/updated-at": (
        two(update("session_info_update", updatedAt="yesterday")),
        two(update("session_info_update", updatedAt="2026-01-02T03:04:05.6+01:00")),
    ),
    "agent/empty-notice": (
        two(update("notice", severity="info", title="")),
        two(update("notice", severity="info", title="x")),
    ),
    "agent/unknown-tool-call": (one(call(title="T")), one(TOOL_1, call(status="completed"))),
    "agent/tool-call-title": (one(fields_of(TOOL_1, "params.update.title", ...)), one(TOOL_1)),
    "agent/tool-call-again": (one(TOOL_1, TOOL_1), one(TOOL_1, call(status="completed"), TOOL_1)),
    # --- sessions ---
    "agent/session-id": ([*hello(2), asks(1, "session/new", cwd="/w"), answer(1, {})], two()),
    "agent/session-id-reused": (
        two(asks(5, "session/new", cwd="/w"), answer(5, {"sessionId": "s"})),
        two(asks(5, "session/new", cwd="/w"), answer(5, {"sessionId": "s2"})),
    ),
    "agent/unknown-session": (
        two(update("agent_message", "other", messageId="a")),
        [*hello(2), asks(1, "session/new", cwd="/w"), SAID, answer(1, {"sessionId": "s"})],
    ),
    "agent/after-close": (
        two(asks(5, "session/close", sessionId="s"), answer(5, {}), SAID),
        two(asks(5, "session/close", sessionId="s"), SAID, answer(5, {})),
    ),
    "agent/resumed-without-state": (two(*resumed()), two(*resumed(state("idle")))),
    "agent/replayed-unasked": (
        two(*resumed(SAID, state("idle"))),
        two(*resumed(SAID, state("idle"), replayFrom={"type": "start"})),
    ),
    "agent/closed-while-working": (
        two(*TURN[:-1], asks(5, "session/close", sessionId="s"), answer(5, {})),
        two(*TURN, asks(5, "session/close", sessionId="s"), answer(5, {})),
    ),
    "agent/session-list": (
        two(*listed({"sessionId": "s", "cwd": "x"})),
        two(*listed({"sessionId": "s", "cwd": "/x"})),
    ),
    "agent/option-value": (
        two(update("config_option_update", configOptions=[{**SELECT, "currentValue": "z"}])),
        two(update("config_option_update", configOptions=[SELECT])),
    ),
    "agent/option-twice": (
        two(update("config_option_update", configOptions=[SELECT, SELECT])),
        two(update("config_option_update", configOptions=[SELECT, {**SELECT, "configId": "x"}])),
    ),
    "agent/option-value-twice": (
        two(update("config_option_update",
                   configOptions=[{**SELECT, "options": [{"value": "a", "name": "A"}] * 2}])),
        two(update("config_option_update", configOptions=[SELECT])),
    ),
    "agent/permission-options": (two(permission(options=[])), two(permission(), selected("y"))),
    "agent/permission-option-twice": (
        two(permission(options=[OPTIONS[0], OPTIONS[0]]), selected("y")),
        two(permission(), selected("y")),
    ),
    "agent/permission-option-kind": (
        two(permission(options=[{**OPTIONS[0], "kind": "maybe"}]), selected("y")),
        two(permission(options=[{**OPTIONS[0], "kind": "_maybe"}]), selected("y")),
    ),
    "agent/permission-tool-call": (
        one(permission(toolCall={"title": "x"}), selected("y")),
        one(permission(), selected("y")),
    ),
    "agent/withdrawn-unknown": (
        two(agent(method="$/cancel_request", params={"requestId": 5})),
        two(permission(), agent(method="$/cancel_request", params={"requestId": 9})),
    ),
    "agent/elicitation-mode": (
        two(elicit(mode="url", url="https://x.test", elicitationId="e")),
        two(elicit()),
    ),
    "agent/elicitation-scope": (two(elicit(sessionId=None)), two(elicit())),
    "agent/elicitation-form": (two(elicit(requestedSchema={"type": "object"})), two(elicit())),
    "agent/file-capability": (
        one(agent_asks(5, "fs/write_text_file", sessionId="s", path="/a", content="")),
        one(agent_asks(5, "fs/read_text_file", sessionId="s", path="/a")),
    ),
    "agent/file-path": (
        one(agent_asks(5, "fs/read_text_file", sessionId="s", path="a")),
        one(agent_asks(5, "fs/read_text_file", sessionId="s", path="/a")),
    ),
    "agent/terminal-capability": (
        [*opened(1, clientCapabilities={}), *CREATED],
        one(*CREATED),
    ),
    "agent/terminal-unknown": (
        one(agent_asks(6, "terminal/output", sessionId="s", terminalId="e")),
        one(*CREATED, agent_asks(6, "terminal/output", sessionId="s", terminalId="e")),
    ),
    "agent/mode-unknown": (
        one(update("current_mode_update", currentModeId="z")),
        one(update("current_mode_update", currentModeId="m")),
    ),
    # --- clients ---
    "client/unadvertised-method": (
        [*opened(1, capabilities={"loadSession": False}), asks(5, "session/list")],
        one(asks(5, "session/list")),
    ),
    "client/prompt-content": (
        two(fields_of(PROMPT, "params.prompt", [{"type": "audio", "data": "", "mimeType": "a/b"}])),
        two(fields_of(PROMPT, "params.prompt", [{"type": "image", "data": "", "mimeType": "a/b"}])),
    ),
    "client/empty-prompt": (two(fields_of(PROMPT, "params.prompt", [])), two(PROMPT)),
    "client/prompt-shape": (one(fields_of(PROMPT, "params.prompt", "hi")), one(PROMPT)),
    "client/session-not-open": (
        two(fields_of(PROMPT, "params.sessionId", "other")),
        two(PROMPT),
    ),
    "client/directory": (
        two(asks(5, "session/new", cwd="work")),
        two(asks(5, "session/new", cwd="/work")),
    ),
    "client/mcp-transport": (
        two(asks(5, "session/new", cwd="/w", mcpServers=[{"type": "sse", "url": "x"}])),
        two(asks(5, "session/new", cwd="/w", mcpServers=[{"type": "http", "url": "x"}])),
    ),
    "client/mcp-servers": (
        one(asks(5, "session/new", cwd="/w")),
        one(asks(5, "session/new", cwd="/w", mcpServers=[])),
    ),
    "client/permission-option": (
        two(permission(), selected("z")),
        two(permission(), selected("y")),
    ),
    "client/permission-outcome": (two(permission(), reply(9, {})), two(permission(), REFUSED)),
    "client/permission-after-cancel": (
        two(*TURN[:-1], permission(), CANCEL, selected("y")),
        two(*TURN[:-1], permission(), CANCEL, REFUSED),
    ),
    "client/permission-left-open": (
        two(*TURN[:-1], permission(), state("requires_action"), CANCEL,
            state("idle", stopReason="cancelled")),
        two(*TURN[:-1], permission(), state("requires_action"), CANCEL, REFUSED,
            state("idle", stopReason="cancelled")),
    ),
    "client/tool-call-cancel": (
        two(call(), asks(5, "tool_call/cancel", sessionId="s", toolCallId="t")),
        two(call(capabilities={"cancel": {}}),
            asks(5, "tool_call/cancel", sessionId="s", toolCallId="t")),
    ),
    "client/terminal-cancel": (
        two(TERMINAL, asks(5, "terminal/cancel", sessionId="s", terminalId="e")),
        two(update("terminal_update", terminalId="e", capabilities={"cancel": {}}),
            asks(5, "terminal/cancel", sessionId="s", terminalId="e")),
    ),
    "client/option-unknown": (
        two(asks(5, "session/set_config_option", sessionId="s", configId="x", value="b")),
        two(asks(5, "session/set_config_option", sessionId="s", configId="mode", value="b")),
    ),
    "client/login-method": (
        two(asks(5, "auth/login", methodId="x")),
        two(asks(5, "auth/login", methodId="l")),
    ),
    "client/elicitation-answer": (
        two(elicit(), reply(8, {"action": "accept", "content": {}})),
        two(elicit(), reply(8, {"action": "accept", "content": {"a": "x"}})),
    ),
    "client/mode-unknown": (
        one(asks(5, "session/set_mode", sessionId="s", modeId="z")),
        one(asks(5, "session/set_mode", sessionId="s", modeId="m")),
    ),
    "client/file-content": (
        one(READ, reply(5, {})),
        one(READ, reply(5, {"content": ""})),
    ),
    "client/terminal-id": (one(CREATED[0], reply(5, {})), one(*CREATED)),
    "client/terminal-output": (
        one(*CREATED, agent_asks(6, "terminal/output", sessionId="s", terminalId="e"),
            reply(6, {"output": ""})),
        one(*CREATED, agent_asks(6, "terminal/output", sessionId="s", terminalId="e"),
            reply(6, {"output": "", "truncated": False})),
    ),
}  # fmt: skip
"""By rule: a recording that breaks it, and one that keeps every rule."""

WITHOUT_A_CASE = {
    "agent/too-long",  # a line over the limit of 32 MiB
    "client/optional-field",
    "client/list-item",
    "client/too-deep",
    "client/too-long",
}
"""Rules about decoding that are rows like those of the other side, or too large to show."""


def rules_of(lines: Sequence[Line]) -> set[str]:
    """Return the rules that a recording breaks."""
    return {finding.rule for finding in check(frames_of(*lines))}


@pytest.mark.parametrize("rule", CASES)
def test_a_recording_that_breaks_a_rule_is_blamed(rule: str) -> None:
    """The violation is found, at a line of its own side."""
    lines = CASES[rule][0]
    found = [finding for finding in check(frames_of(*lines)) if finding.rule == rule]
    assert found
    for finding in found:
        assert 1 <= finding.line <= len(lines)
        assert finding.path.startswith("$")
        assert finding.section


@pytest.mark.parametrize("rule", CASES)
def test_a_recording_that_keeps_a_rule_is_not_blamed(rule: str) -> None:
    """The counterpart, which does as much as is allowed, breaks no rule at all."""
    assert rules_of(CASES[rule][1]) == set()


def test_every_rule_has_its_recordings() -> None:
    """The table of rules is large enough, and wholly tried."""
    ids = {rule.id for rule in RULES}
    assert ids == CASES.keys() | WITHOUT_A_CASE
    sides = [name.split("/")[0] for name in CASES]
    assert sides.count("agent") >= 40
    assert sides.count("client") >= 15


def test_rows_of_one_id_agree() -> None:
    """A rule that is looked at in several messages has one severity per version."""
    for version in ("v1", "v2"):
        severities: dict[str, set[str]] = {}
        for rule in RULES:
            if version in rule.versions:
                severities.setdefault(rule.id, set()).add(rule.severity)
        assert {len(found) for found in severities.values()} == {1}


CLEAN = [
    *(BUNDLED / f"{name}.ndjson" for name in ("coding-session", "resume-replay", "two-sessions")),
    BUNDLED / "raw.ndjson",
]


@pytest.mark.parametrize("path", CLEAN, ids=lambda path: path.name)
def test_clean_recordings_raise_nothing(path: Path) -> None:
    """The bundled recordings keep the protocol, apart from the one that shows malformed lines."""
    assert check(read(path)) == []


OFFICIAL = sorted(SHARED.glob("recordings/v2/*.ndjson"))
DELIBERATE = {
    "12-plans": {"agent/list-item", "agent/plan-entry"},
    "13-session-surface": {"client/option-unknown"},
    "17-resume-replay": {"agent/session-list"},
    "19-prompt-rejected": {"client/prompt-content"},
    "21-meta-patches": {"agent/optional-field"},
}
"""Violations that official recordings hold on purpose."""


@pytest.mark.shared
@pytest.mark.parametrize("path", OFFICIAL, ids=lambda path: path.name)
def test_official_recordings_raise_only_what_they_hold(path: Path) -> None:
    """What the official SDK's agent and client say keeps the protocol, where they mean to."""
    name = path.name.split(".")[0]
    if name != "22-lenient-malformed":
        assert {finding.rule for finding in check(read(path))} <= DELIBERATE.get(name, set())


@given(strategies.sessions(well_formed=False, max_frames=30, hostile_client=True))
def test_any_recording_can_be_checked(frames: list[Any]) -> None:
    """Whatever a recording holds, it is judged without an exception, in both versions."""
    for protocol in ("v1", "v2"):
        found = check(frames_of(*frames), protocol=protocol)
        assert all(isinstance(finding, Finding) for finding in found)


def run(*words: str) -> Any:
    """Run a command."""
    return CliRunner().invoke(commands, list(words))


def file_of(path: Path, lines: Sequence[Line]) -> str:
    """Write a recording."""
    envelopes = [
        json.dumps({"dir": "send" if sent else "recv", "message": json.loads(data)})
        for sent, data in lines
    ]
    path.write_text("\n".join(envelopes), encoding="utf-8")
    return str(path)


def test_the_command_exits_by_severity(tmp_path: Path) -> None:
    """Status 0 for nothing, 3 for warnings, 4 for errors; `--fail-on` moves the line."""
    clean = file_of(tmp_path / "clean", CASES["agent/batch"][1])
    warning = file_of(tmp_path / "warning", CASES["agent/unknown-terminal"][0])
    error = file_of(tmp_path / "error", CASES["agent/null-id"][0])
    assert run("check", clean).exit_code == 0
    assert run("check", warning).exit_code == 3
    assert run("check", error).exit_code == 4
    assert run("check", warning, "--fail-on", "error").exit_code == 0
    assert run("check", error, "--fail-on", "never").exit_code == 0
    assert run("check", error, "--side", "client").exit_code == 0
    assert run("check", error, "--ignore", "agent/null-id", "--ignore", "agent/invalid-message",
               "--ignore", "agent/session-id").exit_code == 0  # fmt: skip


def test_the_command_prints_text_json_and_sarif(tmp_path: Path) -> None:
    """Each form names rule, line, path and the section of the specification."""
    file = file_of(tmp_path / "a b.ndjson", CASES["agent/tool-kind"][0])
    text = run("check", file).stdout
    assert f"{file}:5: error: agent/tool-kind: $.params.update.kind 'shell'" in text
    assert "[Tool Calls, Reporting; schema ToolKind]" in text
    document = json.loads(run("check", file, "--json").stdout)
    assert document["counts"] == {"note": 0, "warning": 0, "error": 1}
    assert document["findings"][0]["line"] == 5
    log = json.loads(run("check", file, "--sarif").stdout)
    result = log["runs"][0]["results"][0]
    rules = log["runs"][0]["tool"]["driver"]["rules"]
    assert log["version"] == "2.1.0"
    assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == "agent/tool-kind"
    place = result["locations"][0]["physicalLocation"]
    assert place["region"] == {"startLine": 5}
    assert place["artifactLocation"]["uri"].endswith("a%20b.ndjson")


def test_the_command_lists_its_rules() -> None:
    """`--rules` prints the table, without a recording."""
    text = run("check", "--rules").stdout
    assert all(rule.id in text for rule in RULES)


def test_what_an_agent_sent_is_printed_harmlessly(tmp_path: Path) -> None:
    """A finding that quotes the agent does not pass its control characters on."""
    file = file_of(tmp_path / "x", two(call(kind="\x1b[2J\u202e")))
    assert "\x1b" not in run("check", file).stdout
    assert "\u202e" not in run("check", file).stdout


def test_sarif_has_every_rule_once() -> None:
    """The table in the log has no rule twice."""
    rules = sarif_document([], "x")["runs"][0]["tool"]["driver"]["rules"]
    ids = [rule["id"] for rule in rules]
    assert len(ids) == len(set(ids))
