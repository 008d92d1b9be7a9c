"""What each step does to a store and to the second implementation, and how the two are compared.

A `Live` conversation calls the methods of a store. What that store writes is told to a second
store, an observer, and to the second implementation. A `Told` one writes the client's lines itself,
as a recording has them.
"""

from __future__ import annotations

import json
from typing import Any, ClassVar, Literal

import naive
from naive.v1 import NaiveV1

from acp_client import AcpClientError, Store, UnknownRequestError, to_document, wire
from acp_client._versions import Protocol

SESSION = "s"
ERROR = {"code": -1, "message": "no"}
OPTIONS = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]
FORM = {"type": "object", "properties": {"n": {"type": "string"}}}
SETTING = {"type": "boolean", "configId": "o", "name": "O", "currentValue": True}
SETTING_V1 = {"type": "boolean", "id": "o", "name": "O", "currentValue": True}


def line(**members: Any) -> bytes:
    """Write one message."""
    return json.dumps({"jsonrpc": "2.0", **members}).encode() + b"\n"


def text(value: str) -> dict[str, str]:
    """Write a text block."""
    return {"type": "text", "text": value}


class Conversation:
    """A store and the second implementation, in one conversation; a subclass says who writes."""

    def __init__(self, protocol: Protocol, rules: frozenset[str]) -> None:
        self.protocol: Protocol = protocol
        kind = NaiveV1 if protocol == "v1" else naive.Naive
        self.naive = kind(rules=rules)
        self.ids: dict[str, Any] = {}
        self.agent_ids: dict[str, int] = {}
        self.store = self.new_store()
        self.stores = [self.store]

    def new_store(self) -> Store:
        """Return the store that is fed."""
        return Store(protocol=self.protocol, observer=True)

    def begin(self) -> None:
        """Let both sides be heard, and the session be there."""
        self.initialize()
        if self.protocol == "v1":
            self.update("session_info_update", title="t")
        else:
            self.update("config_option_update", configOptions=[SETTING])

    def receive(self, **members: Any) -> None:
        """Take a message of the agent."""
        data = line(**members)
        for store in self.stores:
            store.receive(data)
        self.naive.receive(data)

    def send(self, **members: Any) -> None:
        """Write a message of the client."""
        data = line(**members)
        for store in self.stores:
            store.sent(data)
        self.naive.sent(data)

    def update(self, kind: str, **fields: Any) -> None:
        """Take an update."""
        params = {"sessionId": SESSION, "update": {"sessionUpdate": kind, **fields}}
        self.receive(method="session/update", params=params)

    def request(self, name: str, method: str, **params: Any) -> None:
        """Write a request of the client about the session."""
        self.ids[name] = len(self.ids) + 1
        params = {"sessionId": SESSION, **params}
        self.send(id=self.ids[name], method=method, params=params)

    def answer(self, name: str, **outcome: Any) -> None:
        """Take the answer to a request that was sent."""
        self.receive(id=self.ids.get(name, 99), **outcome)

    def agent_id(self, name: str) -> int:
        """Return the id of a request of the agent."""
        return self.agent_ids.setdefault(name, 50 + len(self.agent_ids))

    def ask(self, name: str, method: str, **params: Any) -> None:
        """Take a request of the agent."""
        params = {"sessionId": SESSION, **params}
        self.receive(id=self.agent_id(name), method=method, params=params)

    # -------- the client

    def initialize(self) -> None:
        """Begin the conversation."""
        self.send(id=0, method="initialize", params={"protocolVersion": int(self.protocol[1])})

    def prompt(self, name: str) -> None:
        """Send a prompt."""
        self.request(name, "session/prompt", prompt=[text(f"prompt {name}")])

    def cancel(self, _name: str) -> None:
        """Cancel the work."""
        self.send(method="session/cancel", params={"sessionId": SESSION})

    def permit(self, name: str) -> None:
        """Answer a permission request."""
        outcome = {"outcome": "selected", "optionId": "yes"}
        self.send(id=self.agent_id(name), result={"outcome": outcome})

    def fill(self, name: str) -> None:
        """Accept an elicitation."""
        self.send(id=self.agent_id(name), result={"action": "accept", "content": {"n": "x"}})

    def decline(self, name: str) -> None:
        """Decline an elicitation."""
        self.send(id=self.agent_id(name), result={"action": "decline"})

    def replay(self, name: str) -> None:
        """Ask for the history."""
        if self.protocol == "v1":
            self.request(name, "session/load", cwd="/", mcpServers=[])
        else:
            self.request(name, "session/resume", cwd="/", replayFrom={"type": "start"})

    def resume(self, name: str) -> None:
        """Resume the session without its history."""
        self.request(name, "session/resume", cwd="/")

    def close(self, name: str) -> None:
        """Close the session."""
        self.request(name, "session/close")

    def set(self, name: str) -> None:
        """Set an option."""
        kind = {} if self.protocol == "v1" else {"type": "boolean"}
        self.request(name, "session/set_config_option", configId="o", **kind, value=False)

    def lose(self, _name: str) -> None:
        """Lose the connection."""
        for store in self.stores:
            store.disconnect(wire.Error(-1, "no"))
        self.naive.disconnect(ERROR)

    # -------- the agent

    def accept(self, name: str) -> None:
        """Answer a prompt."""
        result = {"messageId": f"m-{name}"}
        if self.protocol == "v1":
            result = {"stopReason": "end_turn"}
        self.answer(name, result=result)

    def refuse(self, name: str) -> None:
        """Answer with an error."""
        self.answer(name, error=ERROR)

    def withdraw(self, name: str) -> None:
        """Answer that the request was cancelled."""
        self.answer(name, error={"code": -32800, "message": "cancelled"})

    def confuse(self, name: str) -> None:
        """Answer with what is no result of a prompt."""
        self.answer(name, result=None)

    def garble(self, name: str) -> None:
        """Answer with what is no result of a resume."""
        self.answer(name, result=None)

    def echo(self, name: str) -> None:
        """Report a prompt as a message."""
        if self.protocol == "v1":
            self.update("user_message_chunk", content=text(f"prompt {name}"))
        else:
            self.update("user_message", messageId=f"m-{name}", content=[text(f"prompt {name}")])

    def say(self, _name: str) -> None:
        """Report some text, which in v2 has an id."""
        message = {} if self.protocol == "v1" else {"messageId": "m"}
        self.update("agent_message_chunk", content=text("said"), **message)

    def asked(self, name: str) -> None:
        """Ask for a permission, with a tool call."""
        call = {"toolCallId": "c", "title": "Call"}
        if self.protocol == "v1":
            self.ask(name, "session/request_permission", toolCall=call, options=OPTIONS)
        else:
            subject = {"type": "tool_call", "toolCall": call | {"status": "in_progress"}}
            more = {"title": name, "subject": subject, "options": OPTIONS}
            self.ask(name, "session/request_permission", **more)

    def take_back(self, name: str) -> None:
        """Withdraw a request."""
        self.receive(method="$/cancel_request", params={"requestId": self.agent_id(name)})

    def form(self, name: str) -> None:
        """Ask for some values."""
        self.ask(name, "elicitation/create", mode="form", message="m", requestedSchema=FORM)

    def url(self, name: str) -> None:
        """Ask to visit a URL."""
        self.ask(name, "elicitation/create", mode="url", message="m", url="u:", elicitationId=name)

    def complete(self, name: str) -> None:
        """Say that the URL was visited."""
        self.receive(method="elicitation/complete", params={"elicitationId": name})

    def state(self, name: str) -> None:
        """Report a state; v1 has none, so a thought stands for it."""
        if self.protocol == "v1":
            self.update("agent_thought_chunk", content=text(name))
        else:
            self.update("state_update", state=STATES[name])

    def call(self, _name: str) -> None:
        """Report a tool call."""
        if self.protocol == "v1":
            self.update("tool_call", toolCallId="c", title="Call", status="in_progress")
        else:
            self.update("tool_call_update", toolCallId="c", status="in_progress")

    def finish(self, _name: str) -> None:
        """Report the end of a tool call."""
        self.update("tool_call_update", toolCallId="c", status="completed")

    def done(self, name: str) -> None:
        """Answer with an empty result."""
        self.answer(name, result={})

    def gone(self, name: str) -> None:
        """Answer that there is no such session."""
        self.answer(name, error={"code": -32002, "message": "gone"})

    def set_done(self, name: str) -> None:
        """Answer with the options as they are now."""
        setting = SETTING_V1 if self.protocol == "v1" else SETTING
        self.answer(name, result={"configOptions": [setting | {"currentValue": False}]})

    def options(self, _name: str) -> None:
        """Report the options."""
        setting = SETTING_V1 if self.protocol == "v1" else SETTING
        self.update("config_option_update", configOptions=[setting])

    STEPS: ClassVar[dict[str, str]] = {
        "ask": "asked",
        "take back": "take_back",
        "run": "state",
        "block": "state",
        "stop": "state",
        "replayed": "done",
        "unreplayed": "refuse",
        "closed": "done",
        "unclosed": "refuse",
        "set done": "set_done",
        "set failed": "refuse",
    }

    def take(self, step: str) -> None:
        """Take one step: a verb, and one letter for what it is about."""
        verb, name = (step[:-2], step[-1]) if step[-2:-1] == " " else (step, step)
        getattr(self, self.STEPS.get(verb, verb))(name)

    # -------- the comparison

    def check(self) -> None:
        """Compare all documents, and the number of problems."""
        expected = self.naive.document()
        for store in self.stores:
            shown = [documented(store.snapshot(session)) for session in store.sessions]
            assert shown == expected["sessions"]
            kinds = [problem.kind for problem in store.problems]
            assert kinds == [problem["kind"] for problem in expected["problems"]]


STATES = {"run": "running", "block": "requires_action", "stop": "idle"}


def documented(snapshot: Any) -> Any:
    """Return the snapshot document as plain values."""
    return json.loads(json.dumps(to_document(snapshot)))


class Told(Conversation):
    """The client's lines are written here, as in a recording."""


class Live(Conversation):
    """The client's lines are made by the store, and followed by an observer."""

    def __init__(self, protocol: Protocol, rules: frozenset[str]) -> None:
        super().__init__(protocol, rules)
        self.observer = Store(protocol=protocol, observer=True)
        self.stores.append(self.observer)

    def new_store(self) -> Store:
        """Return the store whose methods are called."""
        return Store(protocol=self.protocol)

    def flush(self) -> None:
        """Let the others follow what the store wrote."""
        for data in self.store.data_to_send().splitlines(keepends=True):
            self.observer.sent(data)
            self.naive.sent(data)

    def receive(self, **members: Any) -> None:
        """Take a message of the agent; the store may answer."""
        super().receive(**members)
        self.flush()

    def called(self, name: str, outgoing: Any) -> None:
        """Remember the id of a request that the store made."""
        self.ids[name] = getattr(outgoing, "request_id", None)
        self.flush()

    def initialize(self) -> None:
        """Begin the conversation."""
        self.called("initialize", self.store.initialize("name", "1"))

    def prompt(self, name: str) -> None:
        """Send a prompt."""
        self.called(name, self.store.prompt(SESSION, [wire.TextContent(f"prompt {name}")]))

    def cancel(self, name: str) -> None:
        """Cancel the work."""
        self.called(name, self.store.cancel(SESSION))

    def replay(self, name: str) -> None:
        """Ask for the history."""
        if self.protocol == "v1":
            self.called(name, self.store.load_session(SESSION, "/"))
        else:
            self.called(name, self.store.resume_session(SESSION, "/"))

    def resume(self, name: str) -> None:
        """Resume the session without its history."""
        self.called(name, self.store.resume_session(SESSION, "/", replay=False))

    def close(self, name: str) -> None:
        """Close the session."""
        self.called(name, self.store.close_session(SESSION))

    def set(self, name: str) -> None:
        """Set an option."""
        self.called(name, self.store.set_config_option(SESSION, "o", False))

    def permit(self, name: str) -> None:
        """Answer a permission request that is pending; another one is a typed error."""
        try:
            self.called(name, self.store.answer_permission(SESSION, self.agent_id(name), "yes"))
        except AcpClientError:
            open_ids = [one["requestId"] for one in self.naive.sessions[SESSION]["permissions"]]
            assert self.agent_id(name) not in open_ids

    def fill(self, name: str) -> None:
        """Accept an elicitation."""
        self.elicited(name, "accept", {"n": "x"})

    def decline(self, name: str) -> None:
        """Decline an elicitation."""
        self.elicited(name, "decline", None)

    def elicited(self, name: str, action: Literal["accept", "decline"], content: Any) -> None:
        """Answer an elicitation that is pending; another one is a typed error."""
        asked = self.agent_id(name)
        pending = self.naive.sessions[SESSION]["elicitations"]
        waiting = [one for one in pending if one.get("requestId") == asked]
        has_values = bool(waiting) and waiting[0]["mode"] == "form"
        try:
            values = content if has_values else None
            outgoing = self.store.answer_elicitation(SESSION, asked, action, values)
        except UnknownRequestError:
            assert waiting == []
        else:
            self.called(name, outgoing)
