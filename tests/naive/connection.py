"""One connection: its sessions, what the agent said and what the client did."""

from __future__ import annotations

from typing import Any, ClassVar

from .document import show_session
from .json_text import UnreadableError, read_json, text_of
from .messages import check_shape, is_answer, listed, request_id
from .parse import Json, MalformedError, Record, Told, parse, parse_list, wire
from .schema import RESULTS, skipping
from .updates import apply, fresh

LINE_LIMIT = 32 * 1024 * 1024


class Naive:
    """All sessions of one connection."""

    def __init__(self, limit: int = LINE_LIMIT) -> None:
        self.limit = limit
        self.sessions: dict[str, dict[str, Any]] = {}
        self.requests: dict[int | str, dict[str, Any]] = {}  # the client's, unanswered
        self.problems: list[dict[str, Any]] = []

    def session(self, session_id: str) -> dict[str, Any]:
        """Give a session, which comes to be when it is first asked for."""
        return self.sessions.setdefault(
            session_id,
            {"now": fresh(), "before": None, "replay": None, "prompts": [], "permissions": {}},
        )

    def problem(self, line: int, kind: str, path: str, reason: str) -> None:
        """Record something wrong in what the agent sent."""
        self.problems.append({"line": line, "kind": kind, "path": path, "message": reason})

    def document(self) -> dict[str, Any]:
        """Give the document of all sessions and problems."""
        return {
            "sessions": [show_session(name, session) for name, session in self.sessions.items()],
            "problems": list(self.problems),
        }

    # -------- lines

    def receive(self, data: bytes, line: int = 0, unterminated: bool = False) -> None:
        """Take one line of the agent."""
        try:
            messages = self.messages(data)
        except UnreadableError as error:
            cut = unterminated and error.kind == "not_json"
            self.problem(line, "truncated" if cut else error.kind, "$", str(error))
            return
        for path, message in messages:
            self.received(message, path, line)
            self.match_echoes()

    def sent(self, data: bytes) -> None:
        """Take one line of the client, which is never a problem."""
        try:
            messages = self.messages(data)
        except UnreadableError:
            return
        for path, message in messages:
            try:
                check_shape(message, path)
            except MalformedError:
                if not is_answer(message):
                    continue
            self.did(message)
            self.match_echoes()

    def disconnect(self) -> None:
        """Lose the connection."""
        self.requests.clear()
        for session in self.sessions.values():
            session["permissions"].clear()
            for prompt in session["prompts"]:
                if prompt["status"] == "pending":
                    prompt["status"] = "uncertain"

    def messages(self, data: bytes) -> list[tuple[str, Json]]:
        """Give the messages of a line: none, one, or those of a batch."""
        if len(data) > self.limit:
            raise UnreadableError("too_long", f"is longer than {self.limit} bytes")
        text = text_of(data)
        if not text:
            return []
        value = read_json(text)
        if isinstance(value, list):
            return [(f"$[{index}]", item) for index, item in enumerate(value)]
        return [("$", value)]

    def match_echoes(self) -> None:
        """Find the prompts whose message the agent has reported."""
        for session in self.sessions.values():
            for prompt in session["prompts"]:
                if ("user_message", prompt["messageId"]) in session["now"]["index"]:
                    prompt["echoed"] = True

    # -------- what the agent says

    def received(self, message: Json, path: str, line: int) -> None:
        """Take one message of the agent."""
        told: Told = []
        try:
            check_shape(message, path)
        except MalformedError as error:
            self.problem(line, "invalid_message", error.path, error.reason)
            if is_answer(message):
                self.answered(request_id(message), None, None)
            return
        try:
            if "method" not in message:
                self.answer(message, path, told)
            elif (rule := self.METHODS.get(message["method"])) is not None:
                takes_request, act = rule
                if takes_request == ("id" in message):
                    params = message.get("params")
                    parsed = parse(message["method"], params, f"{path}.params", told)
                    act(self, parsed, request_id(message))
        except MalformedError as error:
            told = [("rejected", error.path, error.reason)]
        for kind, where, reason in told:
            self.problem(line, kind, where, reason)

    def update(self, params: Record, _id: Any) -> None:
        """Apply a session update."""
        apply(self.session(params["sessionId"])["now"], params["update"])

    def ask_permission(self, params: Record, asked: Any) -> None:
        """Open a permission request, whose tool call is applied first."""
        session = self.session(params["sessionId"])
        subject = params.get("subject")
        if isinstance(subject, Record) and subject["type"] == "tool_call":
            tool_call = {"sessionUpdate": "tool_call_update"} | subject["toolCall"]
            apply(session["now"], Record(tool_call))
        if asked not in session["permissions"]:
            self.close_permission(asked)
        session["permissions"][asked] = params

    def cancel_request(self, params: Record, _id: Any) -> None:
        """Withdraw a permission request."""
        self.close_permission(params["requestId"])

    def close_permission(self, asked: Any) -> None:
        """Remove a permission request, whichever session it is in."""
        for session in self.sessions.values():
            session["permissions"].pop(asked, None)

    METHODS: ClassVar[dict[str, Any]] = {  # method: (does it have an id, what it does)
        "session/update": (False, update),
        "session/request_permission": (True, ask_permission),
        "$/cancel_request": (False, cancel_request),
    }

    def answer(self, message: dict[str, Json], path: str, told: Told) -> None:
        """Take a well-formed answer."""
        asked = request_id(message)
        method = self.requests.get(asked, {}).get("method")
        if "error" in message:
            self.answered(asked, None, wire(parse("Error", message["error"], path, told)))
        elif method in RESULTS:
            try:
                result = parse(method, message["result"], f"{path}.result", told)
            except MalformedError:
                self.answered(asked, None, None)
                raise
            self.answered(asked, result, None)
        else:
            self.answered(asked, None, None)

    def answered(self, asked: Any, result: Record | None, error: Json) -> None:
        """End a request of the client; with neither result nor error its answer was malformed."""
        request = self.requests.pop(asked, {"method": None})
        method = request["method"]
        if method == "session/prompt":
            answer_prompt(request["prompt"], result, error)
        elif method == "session/new" and result is not None:
            initial_lists(self.session(result["sessionId"])["now"], result)
        elif method == "session/resume":
            session = self.session(request["sessionId"])
            if session["replay"] is request:
                if result is None:
                    session["now"] = session["before"]
                session["before"] = session["replay"] = None
            if result is not None:
                initial_lists(session["now"], result)
        elif result is not None and request.get("sessionId") in self.sessions:
            self.sessions[request["sessionId"]]["now"]["configOptions"] = wire(
                result["configOptions"]
            )

    # -------- what the client does

    def did(self, message: dict[str, Json]) -> None:
        """Take one message of the client."""
        asked = request_id(message)
        if "method" not in message:
            self.close_permission(asked)
            return
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        session_id: Any = params.get("sessionId")
        method = message["method"]
        if "id" not in message:
            if method == "session/cancel" and isinstance(session_id, str):
                self.cancel(session_id)
            return
        request = self.requests[asked] = {"method": method, "sessionId": session_id}
        if method != "session/new" and not isinstance(session_id, str):
            request["method"] = None
        elif method == "session/prompt":
            request["prompt"] = self.prompt(session_id, asked, params.get("prompt"))
        elif method == "session/resume":
            session = self.session(session_id)
            if params.get("replayFrom") is not None:
                session["before"] = session["before"] or session["now"]
                session["now"] = fresh()
                session["replay"] = request

    def prompt(self, session_id: str, asked: Any, blocks: Json) -> dict[str, Any]:
        """Add a prompt."""
        content = parse_list(skipping("ContentBlock"), blocks, "$", []) if listed(blocks) else []
        prompt = {
            "requestId": asked,
            "status": "pending",
            "messageId": None,
            "echoed": False,
            "content": wire(content),
            "error": None,
        }
        self.session(session_id)["prompts"].append(prompt)
        return prompt

    def cancel(self, session_id: str) -> None:
        """Mark the unfinished tool calls of the foreground work, and answer all permissions."""
        session = self.session(session_id)
        session["permissions"].clear()
        now = session["now"]
        state = now["state"] or {}
        if state.get("state") == "idle":
            return
        background = [
            item.get("toolCallId")
            for item in (state["background"] if listed(state.get("background")) else [])
            if isinstance(item, dict) and item.get("type") == "tool_call"
        ]
        for entry in now["entries"][now["work_began"] :]:
            if entry["type"] == "tool_call" and entry["toolCallId"] not in background:
                entry["marked"] |= entry["status"] not in ("completed", "failed", "cancelled")


def answer_prompt(prompt: dict[str, Any], result: Record | None, error: Json) -> None:
    """End the waiting of a prompt."""
    if result is not None:
        prompt.update(status="accepted", messageId=result["messageId"])
    elif error is not None:
        prompt.update(status="rejected", error=error)
    else:
        prompt.update(status="uncertain")


def initial_lists(now: dict[str, Any], result: Record) -> None:
    """Take the lists of a new or resumed session, but for those that an update has reported."""
    for name in ("configOptions", "availableCommands"):
        if name in result and name not in now["blocked"]:
            now[name] = wire(result[name])
