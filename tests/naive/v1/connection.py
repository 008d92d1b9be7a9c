"""One connection that speaks v1, in the words of v2."""

from __future__ import annotations

from dataclasses import replace as with_fields
from typing import Any, ClassVar

from ..connection import LINE_LIMIT, Naive, Request, Session
from ..parse import Json, MalformedError, Record, Told
from ..rules import ALL
from ..schema import tables
from ..updates import apply
from . import messages, settings, tool_calls
from .tool_calls import given

CHUNKS = {
    "user_message_chunk": "user_message",
    "agent_message_chunk": "agent_message",
    "agent_thought_chunk": "agent_thought",
}
HISTORY = (*CHUNKS, "tool_call")  # what a history that is sent again begins with
TERMINAL_CALLS = ("terminal/create", "terminal/output", "terminal/wait_for_exit")


class NaiveV1(Naive):
    """All sessions of one connection that speaks v1."""

    RESULTS: ClassVar[dict[str, str]] = {}  # what is in results is taken as it comes

    def __init__(self, limit: int = LINE_LIMIT, rules: frozenset[str] = ALL) -> None:
        super().__init__(limit, rules)
        unions = dict(self.tables.unions)
        content = unions["ToolCallContent"]
        variants = content.variants | {"diff": tables("v1").records["Diff"]}
        unions["ToolCallContent"] = with_fields(content, variants=variants)
        self.tables = with_fields(self.tables, unions=unions)
        self.terminal_calls: dict[Any, tuple[str, dict[str, Any]]] = {}
        self.one_sided = False  # whether this is a recording of the agent alone
        self.last_session: str | None = None

    def fresh(self) -> dict[str, Any]:
        """Return what a session starts from, and starts from again in a replay."""
        return super().fresh() | {
            "talk": messages.fresh_talk(),
            "calls": tool_calls.fresh_calls(),
            "settings": settings.fresh_settings(),
        }

    def session(self, session_id: str) -> Session:
        """Return a session; its prompts that wait make its state."""
        session = super().session(session_id)
        session.setdefault("open", {})
        session.setdefault("idle", None)  # the state when no prompt is open
        session.setdefault("history", None)  # the newest request that may bring the history
        session.setdefault("reported", [])  # what came since then, before the history began
        return session

    # -------- one side alone

    def messages(self, data: bytes) -> list[tuple[str, Json]]:
        """Return the messages of a line; a version that is missing is forgiven."""
        return [
            (path, {"jsonrpc": "2.0"} | message if isinstance(message, dict) else message)
            for path, message in super().messages(data)
        ]

    def answered(self, asked: Any, result: Any, error: Json, has_result: bool) -> None:
        """End a request; without the client's side, what was asked is told from the answer."""
        if not self.one_sided or not isinstance(result, dict):
            super().answered(asked, result, error, has_result)
        elif isinstance(result.get("sessionId"), str):
            self.new_answered({}, result, None, True)
        elif self.last_session is not None and isinstance(result.get("stopReason"), str):
            self.end_work(self.session(self.last_session), result, None)

    # -------- what the agent reports

    def update(self, params: Json, _id: Any, path: str, told: Told) -> None:
        """Apply a session update; the first piece of an awaited history begins a replay."""
        if not isinstance(params, dict) or not isinstance(params.get("sessionId"), str):
            raise MalformedError(f"{path}.sessionId", "is not string")
        if not isinstance(params.get("update"), dict):
            raise MalformedError(f"{path}.update", "is not object")
        self.last_session = params["sessionId"]
        session, update = self.session(params["sessionId"]), params["update"]
        request = session["history"]
        if request is not None and not request["replays"]:
            if update.get("sessionUpdate") in HISTORY:
                self.begin_history(session, request)
            else:
                session["reported"].append(update)
        self.report(session, update)
        session["lost"] = None
        if self.one_sided:
            self.close_ended(session, update)

    def close_ended(self, session: Session, update: dict[str, Any]) -> None:
        """Close the permission requests of a call that has ended, whose answers are not seen."""
        if update.get("status") in tool_calls.FINISHED:
            for asked in list(session["permissions"]):
                if asked["subject"]["toolCall"]["toolCallId"] == update.get("toolCallId"):
                    session["permissions"].remove(asked)

    def report(self, session: Session, update: dict[str, Any]) -> None:
        """Apply one update of v1."""
        now, kind = session["now"], update.get("sessionUpdate")
        if kind in CHUNKS:
            self.chunk(now, update)
            return
        messages.close_tail(now["talk"])
        handler = self.REPORTED.get(str(kind))
        if handler is not None:
            handler(self, now, update)
        elif kind in ("compaction_update", "compaction_summary_chunk"):
            self.entry(now, ("compaction", update["compactionId"]), update)
        elif kind in ("notice", "session_info_update", "usage_update"):
            self.apply(now, given(update) if kind == "usage_update" else update)
        else:
            messages.close_messages(now["talk"])
            now["entries"].append({"type": "unknown", "update": update})

    def apply(self, now: dict[str, Any], update: dict[str, Any]) -> None:
        """Apply an update that is in the shape of v2 by now."""
        apply(now, self.parse("SessionUpdate", update, "$", []))

    def entry(
        self, now: dict[str, Any], key: tuple[str, str], update: dict[str, Any], speaker: str = ""
    ) -> None:
        """Apply an update of an entry, which ends its speaker's messages if it is a new one."""
        if key not in now["index"]:
            messages.close_of(now["talk"], speaker)
        self.apply(now, update)

    def chunk(self, now: dict[str, Any], update: dict[str, Any]) -> None:
        """Append to the message that is meant, unless it is an echo."""
        talk, kind = now["talk"], CHUNKS[update["sessionUpdate"]]
        chunks = [given(update)]
        if kind == "user_message" and not messages.is_empty(update["content"]):
            chunks = messages.not_echoes(talk, given(update))
            if not chunks:
                messages.close_messages(talk)
        for chunk in chunks:
            is_new = (kind, chunk.get("messageId")) not in now["index"]
            goes_on = (kind, messages.speaker_of(chunk.get("_meta"))) in talk["open"]
            message_id = messages.place(talk, kind, chunk, now["index"])
            if message_id is None:
                continue
            if kind == "user_message" and is_new and not goes_on:
                now["calls"]["turn"] += 1
            self.apply(now, chunk | {"messageId": message_id})

    def tool_call(self, now: dict[str, Any], update: dict[str, Any]) -> None:
        """Create or patch a tool call, and feed the terminals in its `_meta`."""
        is_whole, fields = update["sessionUpdate"] == "tool_call", given(update)
        if is_whole and tool_calls.is_reused(now["calls"], fields["toolCallId"]):
            tool_calls.separate(now["calls"], fields["toolCallId"])
            self.problem(0, "defaulted", "$.params.update.toolCallId", "is used again")
        changed = tool_calls.reported(now["calls"], fields, is_whole)
        changed["sessionUpdate"] = "tool_call_update"
        speaker = messages.speaker_of(fields.get("_meta"))
        shown = tool_calls.without_output(changed)
        self.entry(now, ("tool_call", changed["toolCallId"]), shown, speaker)
        for terminal in tool_calls.in_meta(changed):
            self.apply(now, terminal)

    def plan(self, now: dict[str, Any], update: dict[str, Any]) -> None:
        """Replace the one plan."""
        entries = [
            {"priority": "medium", "status": "pending"} | given(one) for one in update["entries"]
        ]
        plan = {"type": "items", "planId": "plan", "entries": entries, "_meta": update.get("_meta")}
        self.apply(now, {"sessionUpdate": "plan_update", "plan": given(plan)})

    def commands(self, now: dict[str, Any], update: dict[str, Any]) -> None:
        """Replace the slash commands."""
        commands = []
        for command in update["availableCommands"]:
            shown: dict[str, Any] = {"type": "command", "description": ""} | given(command)
            if "input" in shown:
                shown["input"] = {"type": "text"} | shown["input"]
            commands.append(shown)
        self.apply(now, update | {"availableCommands": commands})

    def options(self, now: dict[str, Any], update: dict[str, Any]) -> None:
        """Replace the options."""
        settings.replace(now["settings"], update["configOptions"])
        now["configOptions"] = settings.all_options(now["settings"])

    def mode(self, now: dict[str, Any], update: dict[str, Any]) -> None:
        """Change the mode."""
        settings.switch(now["settings"], "mode", update["currentModeId"])
        now["configOptions"] = settings.all_options(now["settings"])

    REPORTED: ClassVar[dict[str, Any]] = {
        "tool_call": tool_call,
        "tool_call_update": tool_call,
        "plan": plan,
        "available_commands_update": commands,
        "config_option_update": options,
        "current_mode_update": mode,
    }

    def ask_permission(self, params: Json, asked: Any, path: str, told: Told) -> None:
        """Open a permission request; its tool call wipes nothing that is known."""
        session, fields = self.session(params["sessionId"]), given(params["toolCall"])
        now = session["now"]
        messages.close_tail(now["talk"])
        changed = tool_calls.asked(now["calls"], fields)
        entry = now["index"].get(("tool_call", changed["toolCallId"]), {})
        marked = entry.get("marked", False)
        speaker = messages.speaker_of(fields.get("_meta"))
        update = changed | {"sessionUpdate": "tool_call_update"}
        self.entry(now, ("tool_call", changed["toolCallId"]), update, speaker)
        if "cancelling" in self.rules and now["cancelling"]:
            entry["marked"] = marked
            self.close_request(asked)
            self.answers.append((asked, "cancelled"))
            return
        known = now["calls"]["known"][fields["toolCallId"]].get("title")
        own = fields.get("title")
        titles = (own, known, changed.get("name"), changed.get("kind"), "Permission")
        shown = {
            "title": next(title for title in titles if title),
            "subject": {"type": "tool_call", "toolCall": changed},
            "options": [given(option) for option in params["options"]],
        }
        self.open_request(session["permissions"], asked, shown)

    METHODS: ClassVar[dict[str, Any]] = Naive.METHODS | {
        "session/update": (False, None, update),
        "session/request_permission": (True, None, ask_permission),
    }

    def asked(self, message: dict[str, Json], path: str, told: Told) -> None:
        """Take a request or a notification; what the client does for terminals shows them."""
        super().asked(message, path, told)
        params = message.get("params")
        if message["method"] in TERMINAL_CALLS and isinstance(params, dict) and "id" in message:
            self.terminal_calls[message["id"]] = (message["method"], params)

    # -------- prompts

    def prompt_begun(self, request: Request) -> None:
        """Add a prompt, which is its own echo: its message is there at once."""
        super().prompt_begun(request)
        session = self.session(request["sessionId"])
        now, prompt = session["now"], request["prompt"]
        if not session["open"]:
            messages.close_messages(now["talk"])
        given_id = request["params"].get("messageId")
        prompt["messageId"] = given_id or messages.made_id(now["talk"], "user_message")
        messages.await_echo(now["talk"], request["id"], prompt["content"])
        entry = {"messageId": prompt["messageId"], "content": prompt["content"]}
        self.apply(now, {"sessionUpdate": "user_message"} | entry)
        session["open"].pop(request["id"], None)
        session["open"][request["id"]] = prompt
        self.show_state(session)

    def prompt_answered(self, request: Request, result: Any, error: Json, has_result: bool) -> None:
        """End a prompt; the session is idle when no other one is open."""
        session, prompt = self.session(request["sessionId"]), request["prompt"]
        now = session["now"]
        messages.prompt_was_answered(now["talk"], request["id"])
        message = Record({"messageId": prompt["messageId"]})
        is_result = isinstance(result, dict) and isinstance(result.get("stopReason"), str)
        accepted = message if is_result else None
        super().prompt_answered(request, accepted, error, has_result)
        was_oldest = next(iter(session["open"]), None) == request["id"]
        session["open"].pop(request["id"], None)
        if session["open"]:
            if was_oldest:
                messages.close_messages(now["talk"])
            return
        self.end_work(session, result, error)

    def end_work(self, session: Session, result: Any, error: Json) -> None:
        """Make the session idle, for the reason that the answer to the last prompt gives."""
        now = session["now"]
        known = result if isinstance(result, dict) else {}
        said: dict[str, Any] = {key: known.get(key) for key in ("stopReason", "usage", "_meta")}
        if error is not None:
            said = {"stopReason": "error", "error": error}
        session["idle"] = {"state": "idle"} | given(said)
        now["talk"]["in tail"] = True
        now["calls"]["turn"] += 1
        self.show_state(session)

    def show_state(self, session: Session) -> None:
        """Apply the state that the open prompts make."""
        state = {"state": "running"} if session["open"] else session["idle"]
        if state is not None:
            self.apply(session["now"], {"sessionUpdate": "state_update"} | state)

    def disconnect(self, error: Json = None) -> None:
        """Lose the connection: no prompt is open any more."""
        super().disconnect(error)
        for session in self.sessions.values():
            session["history"] = None
            if session["open"]:
                session["open"].clear()
                session["idle"] = {"state": "idle"}
                self.show_state(session)
        self.terminal_calls.clear()

    # -------- sessions that are opened, loaded, resumed

    def history_begun(self, request: Request) -> None:
        """Expect the history: a load begins it at once, a resume when the first of it comes."""
        session = self.session(request["sessionId"])
        request["replays"] = False
        session["history"], session["reported"] = request, []
        if request["method"] == "session/load":
            self.begin_history(session, request)

    def begin_history(self, session: Session, request: Request) -> None:
        """Begin a replay; what was reported since the request is part of it."""
        request["replays"] = True
        self.begin_replay(session, request)
        if session["open"]:
            self.show_state(session)
        for update in session["reported"]:
            self.report(session, update)
        session["reported"] = []

    def undo_replay(self, session: Session) -> None:
        """Bring back what was there before, and say what became of the prompts since."""
        was_replaying = session["replay"] is not None
        super().undo_replay(session)
        if was_replaying:
            self.show_state(session)

    def history_answered(
        self, request: Request, result: Any, error: Json, has_result: bool
    ) -> None:
        """End the history that the newest request has brought; then take the lists."""
        session = self.session(request["sessionId"])
        if session["history"] is not request:
            return
        session["history"] = None
        if session["replay"] is not None and not has_result:
            self.undo_replay(session)
        elif session["replay"] is not None:
            session["before"] = session["replay"] = None
            messages.close_messages(session["now"]["talk"])
        if has_result:
            session["lost"] = None
            self.opened(session, result)

    def new_answered(self, request: Request, result: Any, error: Json, has_result: bool) -> None:
        """Open a session."""
        if isinstance(result, dict) and isinstance(result.get("sessionId"), str):
            session = self.session(result["sessionId"])
            session["lost"] = None
            self.opened(session, result)

    def opened(self, session: Session, result: Any) -> None:
        """Take the lists of a result, if there are any."""
        now = session["now"]
        if settings.opened(now["settings"], result if isinstance(result, dict) else {}):
            now["configOptions"] = settings.all_options(now["settings"])

    # -------- what the client sets

    def option_begun(self, request: Request) -> None:
        """Show the value that is asked for."""
        session = self.sessions.get(request["sessionId"])
        if session is not None:
            session["wanted"][request["id"]] = self.setting_of(session, request)

    def setting_of(self, session: Session, request: Request) -> tuple[Any, Any]:
        """Return which option a request sets, and to what."""
        params, name = request["params"], request["method"].removeprefix("session/set_")
        if name not in settings.LISTS:
            return params.get("configId"), params.get("value")
        standing = settings.standing_for(session["now"]["settings"], name)
        return standing["configId"] if standing else name, params.get(f"{name}Id")

    def option_answered(self, request: Request, result: Any, error: Json, has_result: bool) -> None:
        """Confirm what was set, or take the new list."""
        session = self.sessions.get(request["sessionId"])
        if session is None:
            return
        session["wanted"].pop(request["id"], None)
        if not has_result:
            return
        found, name = session["now"]["settings"], request["method"].removeprefix("session/set_")
        if isinstance(result, dict) and isinstance(result.get("configOptions"), list):
            settings.replace(found, result["configOptions"])
        elif name in settings.LISTS:
            settings.switch(found, name, request["params"].get(f"{name}Id"))
        else:
            settings.choose(
                found, request["params"].get("configId"), request["params"].get("value")
            )
        session["now"]["configOptions"] = settings.all_options(found)

    BEGUN: ClassVar[dict[str, Any]] = {
        "session/prompt": prompt_begun,
        "session/load": history_begun,
        "session/resume": history_begun,
        "session/set_config_option": option_begun,
        "session/set_mode": option_begun,
        "session/set_model": option_begun,
    }
    ANSWERED: ClassVar[dict[str, Any]] = Naive.ANSWERED | {
        "session/prompt": prompt_answered,
        "session/new": new_answered,
        "session/fork": new_answered,
        "session/load": history_answered,
        "session/resume": history_answered,
        "session/set_config_option": option_answered,
        "session/set_mode": option_answered,
        "session/set_model": option_answered,
    }

    def client_answered(self, asked: Any, message: dict[str, Json]) -> None:
        """Take an answer of the client: what it says of a terminal is shown."""
        method, params = self.terminal_calls.pop(asked, ("", {}))
        result = message.get("result")
        if method and isinstance(result, dict):
            update = tool_calls.of_client(method, params, result)
            self.apply(self.session(params["sessionId"])["now"], update)
        elif not method:
            super().client_answered(asked, message)
