"""Sessions of v1 as deployed agents and their clients have them: races of prompts and answers.

Every message is well formed. What is random is the order: prompts overlap, echoes come late, in
pieces or not at all, histories are sent again, tool calls and permission requests repeat what is
known, and the connection may be lost.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

from hypothesis import strategies as st

from .choices import Choices, Frame, Json, JsonObject, step_tapes
from .writing import encode

SESSIONS = ("s1",) * 6 + ("s2",)
WORDS = ("a", "b ", "go on", "go", " on", "\n", "é", "")
CALLS = ("c", "d")
KINDS = ("agent_message_chunk", "agent_thought_chunk")
STATUSES = ("pending", "in_progress", "completed", "failed")
ERRORS = (
    {"code": -32603, "message": "overloaded"},
    {"code": -32800, "message": "cancelled"},
    {"code": -32600, "message": "busy", "data": {"k": 1}},
)
MODES = {
    "currentModeId": "ask",
    "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}],
}
MODELS = {"currentModelId": "m", "availableModels": [{"modelId": "m", "name": "M"}]}
CHOICES = [{"value": "ask", "name": "Ask"}, {"value": "code", "name": "Code"}]
MODE_OPTION = {"id": "mode", "name": "Mode", "category": "mode", "type": "select"}
MODE_OPTION |= {"currentValue": "ask", "options": CHOICES}  # type: ignore[dict-item]
FLAG = {"id": "flag", "name": "Flag", "type": "boolean", "currentValue": True}
LISTS: tuple[JsonObject, ...] = (
    {},
    {"modes": MODES},
    {"modes": MODES, "models": MODELS},
    {"configOptions": [FLAG]},
    {"modes": MODES, "configOptions": [MODE_OPTION, FLAG]},
)


@dataclass(slots=True)
class Waiting:
    """A request that is not answered yet."""

    request_id: int
    method: str
    session: str


@dataclass(slots=True)
class ConnectionV1:
    """What both peers know; each method is one thing that one of them may do next."""

    requests: int = 0
    asked: int = 100
    waiting: list[Waiting] = field(default_factory=list)
    permissions: list[int] = field(default_factory=list)
    prompts: dict[str, list[list[JsonObject]]] = field(default_factory=dict)
    frames: list[Frame] = field(default_factory=list)

    def write(self, sent: bool, **members: Json) -> None:
        """Write one message."""
        self.frames.append(Frame(sent, encode({"jsonrpc": "2.0", **members})))

    def update(self, session: str, update: str, /, **fields: Json) -> None:
        """Report an update."""
        params = {"sessionId": session, "update": {"sessionUpdate": update, **fields}}
        self.write(False, method="session/update", params=params)

    def call(self, method: str, session: str, **params: Json) -> None:
        """Send a request of the client."""
        self.requests += 1
        self.waiting.append(Waiting(self.requests, method, session))
        params = {"sessionId": session, **params}
        self.write(True, id=self.requests, method=method, params=params)

    # -------- what may happen

    def chunk(self, choices: Choices) -> None:
        """Stream a piece of text, at times with an id, or of a subagent."""
        session, kind = choices.pick(SESSIONS), choices.pick(KINDS)
        more: JsonObject = {"messageId": choices.pick("xy")} if choices.one_in(5) else {}
        if choices.one_in(6):
            more["_meta"] = {"claudeCode": {"parentToolUseId": choices.pick(CALLS)}}
        self.update(session, kind, content=text_block(choices), **more)

    def prompt(self, choices: Choices) -> None:
        """Send a prompt, whether or not another one is open."""
        session = choices.pick(SESSIONS)
        blocks = [{"type": "text", "text": f"ask {choices.pick('abc')} {self.requests}"}]
        if choices.one_in(3):
            blocks.append({"type": "resource_link", "name": "n", "uri": f"u:{choices.below(2)}"})
        self.prompts.setdefault(session, []).append(blocks)
        self.call("session/prompt", session, prompt=blocks)

    def reply(self, choices: Choices) -> None:
        """Answer one of the open requests, in any order."""
        if not self.waiting:
            self.prompt(choices)
            return
        request = self.waiting.pop(choices.below(len(self.waiting)))
        if choices.one_in(4):
            self.write(False, id=request.request_id, error=choices.pick(ERRORS))
            return
        result: JsonObject = {}
        if request.method == "session/prompt":
            result = {"stopReason": choices.pick(("end_turn", "cancelled", "max_tokens"))}
            if choices.one_in(3):
                result["usage"] = {"totalTokens": 3, "inputTokens": 1, "outputTokens": 2}
        elif request.method in ("session/new", "session/load", "session/resume"):
            result = dict(choices.pick(LISTS))
        if request.method == "session/new":
            result["sessionId"] = request.session
        self.write(False, id=request.request_id, result=result)

    def echo(self, choices: Choices) -> None:
        """Report a prompt back: whole, in pieces, or each piece with all before it."""
        session = choices.pick(SESSIONS)
        if not self.prompts.get(session):
            self.prompt(choices)
            return
        blocks = self.prompts[session].pop(choices.below(len(self.prompts[session])))
        text = str(blocks[0]["text"])
        cut = 1 + choices.below(len(text) - 1)
        for piece in choices.pick(([text], [text[:cut], text[cut:]], [text[:cut], text])):
            self.update(session, "user_message_chunk", content={"type": "text", "text": piece})
        for block in blocks[1:]:
            self.update(session, "user_message_chunk", content=block)

    def tool_call(self, choices: Choices) -> None:
        """Announce a tool call, new or not, with more or less to say."""
        fields = self.call_fields(choices)
        self.update(choices.pick(SESSIONS), "tool_call", title=choices.pick(("Do", "")), **fields)

    def tool_update(self, choices: Choices) -> None:
        """Update a tool call."""
        self.update(choices.pick(SESSIONS), "tool_call_update", **self.call_fields(choices))

    def call_fields(self, choices: Choices) -> JsonObject:
        """Build the fields of a tool call."""
        call = choices.pick(CALLS)
        fields: JsonObject = {"toolCallId": call}
        if choices.one_in(2):
            fields["status"] = choices.pick(STATUSES)
        if choices.one_in(4):
            fields["kind"] = choices.pick(("other", "edit", None))
        if choices.one_in(4):
            fields["content"] = [{"type": "content", "content": text_block(choices)}]
        if choices.one_in(6):
            fields["content"] = [{"type": "diff", "path": "/a", "oldText": "x", "newText": "y"}]
        if choices.one_in(4):
            fields["rawInput"] = choices.pick(({"command": "ls"}, {}, None))
        if choices.one_in(6):
            fields["_meta"] = {"terminal_output": {"terminal_id": call, "data": "o"}}
        return fields

    def ask(self, choices: Choices) -> None:
        """Ask for a permission, with a tool call that may be known."""
        self.asked += 1
        self.permissions.append(self.asked)
        fields = self.call_fields(choices)
        if choices.one_in(2):
            fields["title"] = "Allow?"
        options = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]
        params = {"sessionId": choices.pick(SESSIONS), "toolCall": fields, "options": options}
        self.write(False, id=self.asked, method="session/request_permission", params=params)

    def settle(self, choices: Choices) -> None:
        """Answer a permission request, or withdraw it."""
        if not self.permissions:
            self.ask(choices)
            return
        asked = self.permissions.pop(choices.below(len(self.permissions)))
        if choices.one_in(3):
            self.write(False, method="$/cancel_request", params={"requestId": asked})
        else:
            outcome = {"outcome": "selected", "optionId": "yes"}
            self.write(True, id=asked, result={"outcome": outcome})

    def cancel(self, choices: Choices) -> None:
        """Cancel a session."""
        params = {"sessionId": choices.pick(SESSIONS)}
        self.write(True, method="session/cancel", params=params)

    def reopen(self, choices: Choices) -> None:
        """Load or resume a session, with some of its history at once."""
        session = choices.pick(SESSIONS)
        method = choices.pick(("session/load", "session/resume"))
        if any(one.session == session and "/set" not in one.method for one in self.waiting):
            method = "session/load"  # of two requests under way the newer one begins at once
        self.call(method, session, cwd="/", mcpServers=[])
        self.update(session, "user_message_chunk", content={"type": "text", "text": "earlier"})
        for blocks in self.prompts.get(session, [])[: choices.below(3)]:
            for block in blocks:
                self.update(session, "user_message_chunk", content=block)
            self.chunk(choices)

    def open(self, choices: Choices) -> None:
        """Open a session."""
        session = choices.pick(SESSIONS)
        self.requests += 1
        self.waiting.append(Waiting(self.requests, "session/new", session))
        params = {"cwd": "/", "mcpServers": []}
        self.write(True, id=self.requests, method="session/new", params=params)

    def configure(self, choices: Choices) -> None:
        """Set or report a mode or an option."""
        session, kind = choices.pick(SESSIONS), choices.below(4)
        if kind == 0:
            self.update(session, "current_mode_update", currentModeId=choices.pick(("ask", "code")))
        elif kind == 1:
            options = choices.pick(([FLAG], [MODE_OPTION], [MODE_OPTION, FLAG], []))
            self.update(session, "config_option_update", configOptions=options)
        elif kind == 2:
            self.call("session/set_mode", session, modeId=choices.pick(("code", "ask")))
        else:
            self.call("session/set_config_option", session, configId="flag", value=False)

    def remark(self, choices: Choices) -> None:
        """Report something beside the conversation."""
        session, kind = choices.pick(SESSIONS), choices.below(7)
        entry = {"content": "x", "priority": "high", "status": "pending"}
        command = {"name": "c", "description": "d", "input": {"hint": "h"}}
        if kind == 0:
            self.update(session, "plan", entries=[entry] * choices.below(3))
        elif kind == 1:
            self.update(session, "available_commands_update", availableCommands=[command])
        elif kind == 2:
            self.update(session, "usage_update", used=choices.below(9), size=9)
        elif kind == 3:
            self.update(session, "session_info_update", title=choices.pick(WORDS))
        elif kind == 4:
            self.update(session, "_vendor", k=choices.below(2))
        elif kind == 5:
            self.write(False, method="_x/y", params={"sessionId": session})
        else:
            fields = {"compactionId": "k", "status": choices.pick(("in_progress", "completed"))}
            self.update(session, "compaction_update", **fields)


def text_block(choices: Choices) -> JsonObject:
    """Build a block of text."""
    return {"type": "text", "text": choices.pick(WORDS)}


ACTIONS = (
    *[ConnectionV1.chunk] * 8, *[ConnectionV1.prompt] * 5, *[ConnectionV1.reply] * 6,
    *[ConnectionV1.echo] * 3, *[ConnectionV1.tool_call] * 3, *[ConnectionV1.tool_update] * 3,
    *[ConnectionV1.ask] * 2, *[ConnectionV1.settle] * 2, ConnectionV1.cancel,
    ConnectionV1.reopen, ConnectionV1.open, *[ConnectionV1.configure] * 2, ConnectionV1.remark,
)  # fmt: skip


def v1_frames(max_frames: int, parts: list[tuple[bytes, ...]]) -> list[Frame]:
    """Turn tapes into the frames of a connection."""
    connection = ConnectionV1()
    connection.write(True, id=0, method="initialize", params={"protocolVersion": 1})
    for session in sorted(set(SESSIONS)):
        connection.update(session, "session_info_update", title="t")
    for part in parts:
        for tape in part:
            choices = Choices(tape)
            choices.pick(ACTIONS)(connection, choices)
    return connection.frames[:max_frames]


def v1_sessions(max_frames: int = 40) -> st.SearchStrategy[list[Frame]]:
    """Generate both directions of a connection that speaks v1, every message well formed."""
    return step_tapes(max_frames).map(partial(v1_frames, max_frames))
