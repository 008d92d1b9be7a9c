"""One connection: its sessions, what the agent said and what the client did."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from .document import show_session
from .json_text import UnreadableError, read_json, text_of
from .messages import check_shape, is_answer, listed, request_id
from .parse import Json, MalformedError, Record, Told, parse, parse_list, wire
from .rules import ALL
from .schema import tables
from .updates import apply, dropping_none, end_turn, fresh, is_idle

LINE_LIMIT = 32 * 1024 * 1024
OPEN_LIMIT = 1000
TYPED = (  # by the rules that came before "answers"
    "initialize",
    "session/prompt",
    "session/new",
    "session/resume",
    "session/set_config_option",
)
NOT_FOUND, TOO_MANY, WITHDRAWN, NO_SESSION = -32601, -32603, -32800, -32002

Request = dict[str, Any]
Session = dict[str, Any]


class Naive:
    """All sessions of one connection.

    `answers` are those that the store gives by itself: the id, and the outcome or the error's code.
    """

    def __init__(self, limit: int = LINE_LIMIT, rules: frozenset[str] = ALL) -> None:
        self.limit, self.rules = limit, rules
        self.tables = tables("v2" if "unstable" in rules else "v2 stable")
        self.sessions: dict[str, Session] = {}
        self.requests: dict[int | str, Request] = {}  # the client's, unanswered
        self.elicitations: list[dict[str, Any]] = []  # those that belong to a request
        self.answers: list[tuple[Any, Any]] = []
        self.problems: list[dict[str, Any]] = []

    def session(self, session_id: str) -> Session:
        """Return a session, which comes to be when it is first asked for."""
        return self.sessions.setdefault(
            session_id,
            {
                "now": self.fresh(),
                "before": None,
                "replay": None,  # the newest request that replays
                "prompts": [],
                "permissions": [],
                "elicitations": [],
                "wanted": {},  # options by the request that sets them
                "lost": None,
            },
        )

    def fresh(self) -> dict[str, Any]:
        """Return what a session starts from."""
        return fresh()

    def problem(self, line: int, kind: str, path: str, reason: str) -> None:
        """Record something wrong in what the agent sent."""
        self.problems.append({"line": line, "kind": kind, "path": path, "message": reason})

    def document(self) -> dict[str, Any]:
        """Return the document of all sessions and problems."""
        return {
            "sessions": [
                show_session(name, session, self.rules) for name, session in self.sessions.items()
            ],
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

    def disconnect(self, error: Json = None) -> None:
        """Lose the connection, for a reason that may be known."""
        requests = list(self.requests.values())
        self.requests.clear()
        self.elicitations.clear()
        for session in self.sessions.values():
            session["permissions"].clear()
            session["elicitations"].clear()
            session["wanted"].clear()
            for prompt in session["prompts"]:
                if prompt["status"] == "pending":
                    prompt.update(status="uncertain", error=error)
            if "loss" in self.rules:
                self.undo_replay(session)
                session["lost"] = dropping_none({"error": error})
                session["now"]["cancelling"] = False
                end_turn(session["now"], {})

        for request in requests:
            if request["method"] in CANCELS:
                self.cancel_answered(request, None, error, False)

    def messages(self, data: bytes) -> list[tuple[str, Json]]:
        """Return the messages of a line: none, one, or those of a batch."""
        if len(data) > self.limit:
            raise UnreadableError("too_long", f"is longer than {self.limit} bytes")
        text = text_of(data)
        if not text:
            return []
        value = read_json(text, 256 if "depth" in self.rules else 1000)
        if isinstance(value, list):
            return [(f"$[{index}]", item) for index, item in enumerate(value)]
        return [("$", value)]

    def match_echoes(self) -> None:
        """Find the prompts whose message is there; outside a replay their content is dropped."""
        for session in self.sessions.values():
            for prompt in session["prompts"]:
                if is_echoed(prompt, session["now"]):
                    prompt["echoed"] = True
                if prompt["echoed"] and not ("content" in self.rules and session["replay"]):
                    prompt["content"] = None

    # -------- what the agent says

    def received(self, message: Json, path: str, line: int) -> None:
        """Take one message of the agent."""
        told: Told = []
        try:
            check_shape(message, path)
        except MalformedError as error:
            self.problem(line, "invalid_message", error.path, error.reason)
            if is_answer(message):
                self.garbled(request_id(message), "result" in message)
            return
        try:
            if "method" in message:
                self.asked(message, path, told)
            else:
                self.answer(message, path, told)
        except MalformedError as error:
            told = [("rejected", error.path, error.reason)]
        for kind, where, reason in told:
            self.problem(line, kind, where, reason)

    def asked(self, message: dict[str, Json], path: str, told: Told) -> None:
        """Take a request or a notification; a request that no rule knows is not found."""
        asked, is_request = request_id(message), "id" in message
        takes_request, kind, act = self.METHODS.get(message["method"], (None, "", None))
        if act is None or takes_request != is_request:
            if is_request:
                self.close_request(asked)
                self.answers.append((asked, NOT_FOUND))
        elif is_request and self.open_requests() >= OPEN_LIMIT and not self.is_open(asked):
            self.answers.append((asked, TOO_MANY))
        else:
            params = message.get("params")
            parsed = params if kind is None else self.parse(kind, params, f"{path}.params", told)
            act(self, parsed, asked, f"{path}.params", told)

    def parse(self, kind: Any, value: Json, path: str, told: Told) -> Any:
        """Parse a value by the tables of this connection."""
        return parse(kind, value, path, told, self.tables)

    def update(self, params: Record, _id: Any, _path: str, _told: Told) -> None:
        """Apply a session update."""
        session = self.session(params["sessionId"])
        apply(session["now"], params["update"])
        session["lost"] = None

    def ask_permission(self, params: Record, asked: Any, _path: str, _told: Told) -> None:
        """Open a permission request, whose tool call is applied first.

        While the session is cancelling it is answered at once, and the tool call keeps its mark.
        """
        session = self.session(params["sessionId"])
        cancelling = "cancelling" in self.rules and session["now"]["cancelling"]
        subject = params.get("subject")
        if isinstance(subject, Record) and subject["type"] == "tool_call":
            update = Record({"sessionUpdate": "tool_call_update"} | subject["toolCall"])
            entry = session["now"]["index"].get(("tool_call", update["toolCallId"]), {})
            marked = entry.get("marked", False)
            apply(session["now"], update)
            if cancelling:
                entry["marked"] = marked
        if cancelling:
            self.close_request(asked)
            self.answers.append((asked, "cancelled"))
            return
        names = ("title", "description", "subject", "options")
        shown = {name: wire(params.get(name)) for name in names}
        self.open_request(session["permissions"], asked, dropping_none(shown))

    def elicit(self, params: Json, asked: Any, path: str, told: Told) -> None:
        """Open an elicitation, in its session or, where it belongs to a request, here."""
        if not isinstance(params, dict):
            raise MalformedError(path, "is not object")
        in_session = params.get("sessionId") is not None
        if in_session == (params.get("requestId") is not None):
            raise MalformedError(path, "has not one of sessionId and requestId")
        scope = "ElicitationSessionScope" if in_session else "ElicitationRequestScope"
        scoped = self.parse(scope, params, path, told)
        parsed = self.parse("CreateElicitationRequest", params, path, told)
        if "elicitations" not in self.rules:
            return
        if isinstance(parsed, Record):
            shown = {"mode": parsed["mode"]} | scoped | wire(parsed)
            if "requestedSchema" in parsed:
                shown["requestedSchema"] = params["requestedSchema"]
            shown = dropping_none(shown)
            shown.pop("_meta", None)
        else:
            shown = dict(params)
        session_id = shown.pop("sessionId", None)
        place = self.session(session_id)["elicitations"] if in_session else self.elicitations
        self.open_request(place, asked, shown)

    def complete(self, params: Record, _id: Any, _path: str, _told: Told) -> None:
        """End the interaction behind a URL; before the answer it is only noted."""
        for place in self.elicitation_places():
            for item in list(place):
                if item.get("elicitationId") != params["elicitationId"] or item["mode"] != "url":
                    continue
                if "requestId" in item:
                    item["status"] = "completed"
                else:
                    place.remove(item)

    def cancel_request(self, params: Record, _id: Any, _path: str, _told: Told) -> None:
        """Withdraw a permission request or an elicitation."""
        self.close_request(params["requestId"])

    Act = Callable[["Naive", Any, Any, str, Told], None]
    # method: (does it have an id, the definition of its params, what it does)
    METHODS: ClassVar[dict[str, tuple[bool, str | None, Act]]] = {
        "session/update": (False, "UpdateSessionNotification", update),
        "session/request_permission": (True, "RequestPermissionRequest", ask_permission),
        "elicitation/create": (True, None, elicit),
        "elicitation/complete": (False, "CompleteElicitationNotification", complete),
        "$/cancel_request": (False, "CancelRequestNotification", cancel_request),
    }

    # -------- requests of the agent that wait for an answer

    def elicitation_places(self) -> list[list[dict[str, Any]]]:
        """Return the lists that elicitations stand in."""
        sessions = [session["elicitations"] for session in self.sessions.values()]
        return [*sessions, self.elicitations]

    def places(self) -> list[list[dict[str, Any]]]:
        """Return the lists that open requests stand in; they share one space of ids."""
        sessions = [session["permissions"] for session in self.sessions.values()]
        return [*sessions, *self.elicitation_places()]

    def open_requests(self) -> int:
        """Count the requests that wait for an answer."""
        return sum("requestId" in item for place in self.places() for item in place)

    def is_open(self, asked: Any) -> bool:
        """Whether a request of this id waits."""
        return any(item.get("requestId") == asked for place in self.places() for item in place)

    def open_request(self, place: list[dict[str, Any]], asked: Any, shown: dict[str, Any]) -> None:
        """Open a request in the place of an older one of its id, or last."""
        shown = {"requestId": asked} | shown | {"requestId": asked}
        for index, item in enumerate(place):
            if item.get("requestId") == asked:
                place[index] = shown
                return
        self.close_request(asked)
        place.append(shown)

    def close_request(self, asked: Any) -> dict[str, Any] | None:
        """Remove the open request of an id, wherever it is, and return it."""
        for place in self.places():
            for item in place:
                if item.get("requestId") == asked:
                    place.remove(item)
                    return item
        return None

    # -------- answers of the agent

    def answer(self, message: dict[str, Json], path: str, told: Told) -> None:
        """Take a well-formed answer."""
        asked = request_id(message)
        method = self.requests.get(asked, {}).get("asks")
        if method not in TYPED and "answers" not in self.rules:
            method = None
        if "error" in message:
            error = wire(self.parse("Error", message["error"], path, told))
            self.answered(asked, None, error, False)
        elif method in self.RESULTS:
            try:
                result = self.parse(self.RESULTS[method], message["result"], f"{path}.result", told)
            except MalformedError:
                self.answered(asked, None, None, True)
                raise
            self.answered(asked, result, None, True)
        else:
            self.answered(asked, message["result"], None, True)

    def answered(self, asked: Any, result: Record | None, error: Json, has_result: bool) -> None:
        """End a request of the client; with neither result nor error its answer was malformed."""
        request = self.requests.pop(asked, {"method": None})
        act = self.ANSWERED.get(request["method"])
        if act is not None:
            act(self, request, result, error, has_result)

    def garbled(self, asked: Any, has_result: bool) -> None:
        """End a request whose answer is no message: only a replay takes it for a result."""
        replays = self.requests.get(asked, {}).get("replays", False)
        self.answered(asked, None, None, has_result and replays)

    def prompt_answered(
        self, request: Request, result: Record | None, error: Json, _has_result: bool
    ) -> None:
        """End the waiting of a prompt."""
        prompt = request["prompt"]
        if result is not None:
            prompt.update(status="accepted", messageId=result["messageId"])
        elif error is None:
            prompt.update(status="uncertain")
        else:
            withdrawn = error["code"] == WITHDRAWN and "withdrawn" in self.rules
            prompt.update(status="withdrawn" if withdrawn else "rejected", error=error)

    def new_answered(
        self, _request: Request, result: Record | None, _error: Json, _has_result: bool
    ) -> None:
        """Open a session."""
        if result is not None:
            session = self.session(result["sessionId"])
            session["lost"] = None
            initial_lists(session["now"], result)

    def resume_answered(
        self, request: Request, result: Record | None, error: Json, has_result: bool
    ) -> None:
        """End the newest replay: a result keeps what it brought, an error undoes it."""
        session = self.session(request["sessionId"])
        if request["replays"] and session["replay"] is not request:
            if "newest resume" not in self.rules and result is not None:
                initial_lists(session["now"], result)
            return
        ends = error is None if "results" in self.rules else result is not None
        if request["replays"] and not ends:
            self.undo_replay(session)
        elif request["replays"]:
            session["before"] = session["replay"] = None
        if has_result:
            session["lost"] = None
        if result is not None:
            initial_lists(session["now"], result)

    def option_answered(
        self, request: Request, result: Record | None, _error: Json, _has_result: bool
    ) -> None:
        """Take the list of options; what was wanted is confirmed, or not."""
        session = self.sessions.get(request["sessionId"])
        if session is None:
            return
        session["wanted"].pop(request["id"], None)
        if result is not None:
            session["now"]["configOptions"] = wire(result["configOptions"])

    def close_answered(
        self, request: Request, _result: Record | None, error: Json, has_result: bool
    ) -> None:
        """Take away what a closed session asks for."""
        closed = has_result or (error or {}).get("code") == NO_SESSION
        if closed and "close" in self.rules and request["sessionId"] in self.sessions:
            session = self.sessions[request["sessionId"]]
            session["permissions"].clear()
            session["elicitations"].clear()

    def cancel_answered(
        self, request: Request, _result: Record | None, error: Json, has_result: bool
    ) -> None:
        """Take back the cancel of one tool call or terminal that was refused."""
        one = self.one_of(request)
        if one is not None and not has_result:
            one.pop("cancelRequested", None)

    def one_of(self, request: Request) -> dict[str, Any] | None:
        """Return the tool call or the terminal that a request names."""
        session, name = self.sessions.get(request["sessionId"]), request.get("one")
        if session is None or not isinstance(name, str):
            return None
        if request["method"] == "terminal/cancel":
            terminal: dict[str, Any] | None = session["now"]["terminals"].get(name)
            return terminal
        entry: dict[str, Any] | None = session["now"]["index"].get(("tool_call", name))
        return entry

    Answered = Callable[["Naive", Request, Record | None, Json, bool], None]
    ANSWERED: ClassVar[dict[str, Answered]] = {
        "session/prompt": prompt_answered,
        "session/new": new_answered,
        "session/resume": resume_answered,
        "session/set_config_option": option_answered,
        "session/close": close_answered,
        "tool_call/cancel": cancel_answered,
        "terminal/cancel": cancel_answered,
    }

    RESULTS: ClassVar[dict[str, str]] = {
        "initialize": "InitializeResponse",
        "session/list": "ListSessionsResponse",
        "session/close": "CloseSessionResponse",
        "session/delete": "DeleteSessionResponse",
        "auth/login": "LoginAuthResponse",
        "auth/logout": "LogoutAuthResponse",
        "tool_call/cancel": "CancelToolCallResponse",
        "terminal/cancel": "CancelTerminalResponse",
        "session/prompt": "PromptResponse",
        "session/new": "NewSessionResponse",
        "session/resume": "ResumeSessionResponse",
        "session/set_config_option": "SetSessionConfigOptionResponse",
    }

    def undo_replay(self, session: Session) -> None:
        """Bring back what was there before the replay, and what was echoed then."""
        if session["replay"] is None:
            return
        session["now"] = session["before"]
        session["before"] = session["replay"] = None
        for prompt in session["prompts"]:
            if "content" in self.rules:
                prompt["echoed"] = prompt.pop("was echoed", False)
        self.match_echoes()

    # -------- what the client does

    def did(self, message: dict[str, Json]) -> None:
        """Take one message of the client."""
        asked, params = request_id(message), message.get("params")
        if "method" not in message:
            self.client_answered(asked, message)
            return
        params = params if isinstance(params, dict) else {}
        session_id: Any = params.get("sessionId")
        method = message["method"]
        if "id" not in message:
            if method == "session/cancel" and isinstance(session_id, str):
                self.cancel(session_id)
            return
        request = {"id": asked, "asks": method, "sessionId": session_id, "params": params}
        request["method"] = method
        if method != "session/new" and not isinstance(session_id, str):
            request["method"] = None
        self.replace_request(asked, request)
        begin = self.BEGUN.get(request["method"] or "")
        if begin is not None:
            begin(self, request)

    def prompt_begun(self, request: Request) -> None:
        """Add a prompt."""
        kind, content = ("skip", "ContentBlock", 0), []
        if listed(request["params"].get("prompt")):
            content = parse_list(kind, request["params"]["prompt"], "$", [], self.tables)
        request["prompt"] = {
            "requestId": request["id"],
            "status": "pending",
            "messageId": None,
            "echoed": False,
            "content": wire(content),
            "error": None,
        }
        self.session(request["sessionId"])["prompts"].append(request["prompt"])

    def resume_begun(self, request: Request) -> None:
        """Begin a replay if that is what is asked for."""
        session = self.session(request["sessionId"])
        request["replays"] = request["params"].get("replayFrom") is not None
        if request["replays"]:
            self.begin_replay(session, request)

    def option_begun(self, request: Request) -> None:
        """Show the value that is asked for."""
        if request["sessionId"] in self.sessions:
            wanted = (request["params"].get("configId"), request["params"].get("value"))
            self.sessions[request["sessionId"]]["wanted"][request["id"]] = wanted

    def cancel_begun(self, request: Request) -> None:
        """Ask to cancel one tool call or terminal."""
        request["one"] = request["params"].get(CANCELS[request["method"]])
        one = self.one_of(request)
        if one is not None and not is_over(one):
            one["cancelRequested"] = True

    Begun = Callable[["Naive", Request], None]
    BEGUN: ClassVar[dict[str, Begun]] = {
        "session/prompt": prompt_begun,
        "session/resume": resume_begun,
        "session/set_config_option": option_begun,
        "tool_call/cancel": cancel_begun,
        "terminal/cancel": cancel_begun,
    }

    def replace_request(self, asked: Any, request: Request) -> None:
        """Open a request; another one of the same id will not be answered."""
        self.requests[asked] = request
        for session in self.sessions.values():
            session["wanted"].pop(asked, None)

    def client_answered(self, asked: Any, message: dict[str, Json]) -> None:
        """Take an answer of the client: a URL that was accepted goes on without its request."""
        result = message.get("result")
        accepted = isinstance(result, dict) and result.get("action") == "accept"
        for place in self.elicitation_places():
            for index, item in enumerate(place):
                goes_on = accepted and item["mode"] == "url" and "status" not in item
                if item.get("requestId") == asked and goes_on:
                    kept = {key: value for key, value in item.items() if key != "requestId"}
                    place[index] = kept | {"status": "accepted"}
                    return
        self.close_request(asked)

    def begin_replay(self, session: Session, request: Request) -> None:
        """Begin a replay: the session starts from empty, what was there is kept aside."""
        if session["replay"] is None:
            session["before"] = session["now"]
            for prompt in session["prompts"]:
                prompt["was echoed"] = prompt["echoed"]
        session["now"] = self.fresh()
        session["replay"] = request
        session["lost"] = None

    def cancel(self, session_id: str) -> None:
        """Mark the unfinished tool calls of the foreground work, and answer all permissions."""
        session = self.session(session_id)
        session["permissions"].clear()
        now = session["now"]
        state = now["state"] or {}
        if state.get("state") == "idle":
            return
        now["cancelling"] = not is_idle(now["state"])
        background = [
            item.get("toolCallId")
            for item in (state["background"] if listed(state.get("background")) else [])
            if isinstance(item, dict) and item.get("type") == "tool_call"
        ]
        for entry in now["entries"][now["work_began"] :]:
            if entry["type"] == "tool_call" and entry["toolCallId"] not in background:
                unfinished = entry["status"] not in ("completed", "failed", "cancelled")
                entry["marked"] = entry.get("marked", False) or unfinished
                if unfinished:
                    entry.pop("cancelRequested", None)


CANCELS = {"tool_call/cancel": "toolCallId", "terminal/cancel": "terminalId"}


def is_over(one: dict[str, Any]) -> bool:
    """Whether a tool call has ended or a terminal has exited."""
    if one.get("type") != "tool_call":
        return one.get("exitStatus") is not None
    return one.get("marked", False) or one["status"] in ("completed", "failed", "cancelled")


def is_echoed(prompt: dict[str, Any], now: dict[str, Any]) -> bool:
    """Whether the user message of a prompt is there."""
    return ("user_message", prompt["messageId"]) in now["index"]


def initial_lists(now: dict[str, Any], result: Record) -> None:
    """Take the lists of a new or resumed session that no update has reported."""
    for name in ("configOptions", "availableCommands"):
        if name in result and name not in now["blocked"]:
            now[name] = wire(result[name])
