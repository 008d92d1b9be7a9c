"""The books of a connection: what each peer may say next.

Which requests are open, which permissions were asked, which messages a prompt must be echoed as.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from .builders import IDS, some_text
from .choices import Choices, Json, JsonObject, built
from .messages import (
    CANCELLED,
    IDLE_TALK,
    MALFORMED_ANSWERS,
    MALFORMED_PERMISSION_ANSWERS,
    MISPLACED,
    REQUESTS,
    RESULTS,
    WITHOUT_SESSION,
    answer,
    bare,
    elicitation,
    elicited,
    notification,
    notify,
    outcome,
    permission,
    request,
)
from .update_builders import an_update, error

Spoken: TypeAlias = list[tuple[bool, JsonObject]]
SESSIONS = ("s1",) * 8 + ("s2",) * 7 + ("s3",)
_PERMISSION_IDS = (0, 1, "1", 2, "p", "", 2**53 + 1)
_OWN_IDS = (10, "e")
_ELICITATION_IDS = (*_OWN_IDS, 1, *_OWN_IDS, "p")  # some are those of permission requests
_CALLS = (
    *["session/prompt"] * 8, *["session/resume"] * 3, *["session/new"] * 2, "initialize",
    *["session/set_config_option"] * 2, *tuple(REQUESTS)[-7:],
)  # fmt: skip
_SPLIT_CHUNKS = (
    ("agent_message_chunk", "messageId"),
    ("agent_thought_chunk", "messageId"),
    ("user_message_chunk", "messageId"),
    ("compaction_summary_chunk", "compactionId"),
)


@dataclass(slots=True)
class Call:
    """A request of the client that is not answered yet, and what its result must say."""

    request_id: Json
    method: str
    result: JsonObject


@dataclass(slots=True)
class Connection:
    """What both peers know; each method is one thing that one of them may say next."""

    well_formed: bool
    requests: int = 0
    calls: list[Call] = field(default_factory=list)
    asked: list[tuple[Json, str]] = field(default_factory=list)
    ever_asked: list[Json] = field(default_factory=list)
    elicited: list[Json] = field(default_factory=list)
    prompts: dict[str, list[tuple[str, Json]]] = field(default_factory=dict)
    last: JsonObject | None = None

    def tell(self, choices: Choices) -> Spoken:
        """Report an update."""
        session = choices.pick(SESSIONS)
        self.last = notification(an_update(choices), session)
        if choices.one_in(8):
            self.last["params"] |= bare(choices)
        return [(False, self.last)]

    def repeat(self, choices: Choices) -> Spoken:
        """Say the last update once more."""
        return [(False, self.last)] if self.last else self.tell(choices)

    def split(self, choices: Choices) -> Spoken:
        """Stream a character in two halves, at times with something of other ids between."""
        session = choices.pick(SESSIONS)
        variant, key = choices.pick(_SPLIT_CHUNKS)
        identified = {"sessionUpdate": variant, key: choices.pick(IDS)}
        between = self.tell(choices) if choices.one_in(3) else []
        first, second = (
            notification({**identified, "content": {"type": "text", "text": text}}, session)
            for text in (some_text(choices) + "\ud83d", "\ude80" + some_text(choices))
        )
        return [(False, first), *between, (False, second)]

    def call(self, choices: Choices) -> Spoken:
        """Send a request under an id of its own; `1` and `"1"` are two ids."""
        method, session = choices.pick(_CALLS), choices.pick(SESSIONS)
        number = self.requests
        request_id: Json = str(number - 1) if number and choices.one_in(6) else number
        self.requests += 1
        params = built(REQUESTS[method], choices)
        if method not in WITHOUT_SESSION:
            params = {"sessionId": session, **params}
        self.calls.append(Call(request_id, method, self._result(choices, method, session, params)))
        return [(True, request(request_id, method, params))]

    def _result(
        self, choices: Choices, method: str, session: str, params: JsonObject
    ) -> JsonObject:
        if method == "session/new":
            return {"sessionId": session}
        if method != "session/prompt":
            return {}
        sent = self.prompts.setdefault(session, [])
        reused = not self.well_formed and choices.one_in(8)
        message_id = "a" if reused else (*IDS, f"u{len(sent)}")[min(len(sent), len(IDS))]
        sent.append((message_id, params["prompt"]))
        return {"messageId": message_id}

    def reply(self, choices: Choices) -> Spoken:
        """Answer one of the open requests, in any order."""
        if not self.calls:
            return self.call(choices)
        place = choices.below(len(self.calls))
        call = self.calls[place]
        if self.well_formed or not choices.one_in(12):
            del self.calls[place]
        request_id = call.request_id
        if isinstance(request_id, int) and choices.one_in(8):
            request_id = float(request_id)
        return [(False, answer(request_id, self._reply_outcome(choices, call)))]

    def _reply_outcome(self, choices: Choices, call: Call) -> JsonObject:
        kind = choices.below(8)
        if kind == 7 and not self.well_formed:
            return choices.pick(MALFORMED_ANSWERS)
        if kind >= 6:
            return {"error": error(choices)}
        return {"result": {**call.result, **RESULTS.get(call.method, bare)(choices)}}

    def echo(self, choices: Choices) -> Spoken:
        """Report a prompt as a user message, whole or in chunks, or only that it is there."""
        session = choices.pick(SESSIONS)
        if session not in self.prompts:
            return self.call(choices)
        message_id, blocks = choices.pick(self.prompts[session])
        whole = {"sessionUpdate": "user_message", "messageId": message_id}
        chunk = {"sessionUpdate": "user_message_chunk", "messageId": message_id}
        chunks = [{**chunk, "content": block} for block in blocks]
        told = choices.pick(([{**whole, "content": blocks}], chunks, [whole]))
        return [(False, notification(update, session)) for update in told]

    def cancel(self, choices: Choices) -> Spoken:
        """Cancel the work of a session; a client mostly answers its open permissions as well."""
        session = choices.pick(SESSIONS)
        dropped = [request_id for request_id, asker in self.asked if asker == session]
        self.asked = [pair for pair in self.asked if pair[1] != session]
        answers = [] if choices.one_in(3) else [answer(key, CANCELLED) for key in dropped]
        params = {"sessionId": session, **bare(choices)}
        messages = [notify("session/cancel", params), *answers]
        return [(True, message) for message in messages]

    def ask(self, choices: Choices) -> Spoken:
        """Ask for a permission, at times under an id that is still open."""
        session = choices.pick(SESSIONS)
        request_id = choices.pick(_PERMISSION_IDS)
        self.asked = [pair for pair in self.asked if pair[0] != request_id]
        self.asked.append((request_id, session))
        self.ever_asked.append(request_id)
        params = {"sessionId": session, **permission(choices)}
        return [(False, request(request_id, "session/request_permission", params))]

    def _asked_id(self, choices: Choices) -> Json:
        """Take an open permission off the books, or choose one that is gone by now."""
        if self.asked and not choices.one_in(8):
            return self.asked.pop(choices.below(len(self.asked)))[0]
        return choices.pick(self.ever_asked)

    def permit(self, choices: Choices) -> Spoken:
        """Answer a permission request."""
        if not self.ever_asked:
            return self.ask(choices)
        return [(True, answer(self._asked_id(choices), self._permit_outcome(choices)))]

    def _permit_outcome(self, choices: Choices) -> JsonObject:
        kind = choices.below(8)
        if kind == 7 and not self.well_formed:
            return choices.pick(MALFORMED_PERMISSION_ANSWERS)
        if kind >= 6:
            return {"error": error(choices)}
        return {"result": {"outcome": outcome(choices), **bare(choices)}}

    def withdraw(self, choices: Choices) -> Spoken:
        """Tell the peer that a request needs no answer any more; either peer may."""
        if self.calls and choices.one_in(4):
            request_id = choices.pick(self.calls).request_id
            return [(True, notify("$/cancel_request", {"requestId": request_id, **bare(choices)}))]
        if not self.ever_asked:
            return self.ask(choices)
        params = {"requestId": self._asked_id(choices), **bare(choices)}
        return [(False, notify("$/cancel_request", params))]

    def elicit(self, choices: Choices) -> Spoken:
        """Ask for some values, or to visit a URL, for a session or for a request."""
        request_id = choices.pick(_OWN_IDS if self.well_formed else _ELICITATION_IDS)
        self.elicited.append(request_id)
        scope: JsonObject = {"sessionId": choices.pick(SESSIONS)}
        if choices.one_in(4):
            scope["toolCallId"] = choices.pick(IDS)
        if choices.one_in(6):
            scope = {"requestId": choices.pick((0, "x"))}
        params = {**scope, **elicitation(choices)}
        return [(False, request(request_id, "elicitation/create", params))]

    def fill(self, choices: Choices) -> Spoken:
        """Answer an elicitation, or say that the visit is over, or withdraw the request."""
        if not self.elicited:
            return self.elicit(choices)
        request_id, kind = choices.pick(self.elicited), choices.below(6)
        if kind == 0:
            params = {"requestId": request_id}
            return [(False, notify("$/cancel_request", params))]
        if kind < 3:
            params = {"elicitationId": choices.pick(IDS), **bare(choices)}
            return [(False, notify("elicitation/complete", params))]
        if kind == 3 and not self.well_formed:
            return [(True, answer(request_id, choices.pick(MALFORMED_PERMISSION_ANSWERS)))]
        return [(True, answer(request_id, {"result": elicited(choices)}))]

    def chatter(self, choices: Choices) -> Spoken:
        """Say something of no consequence, or in the wrong place."""
        misplaced = not self.well_formed and choices.one_in(2)
        return [(False, choices.pick(MISPLACED if misplaced else IDLE_TALK))]


ACTIONS = (
    *[Connection.tell] * 24, *[Connection.reply] * 8, *[Connection.call] * 8,
    *[Connection.echo] * 4, *[Connection.ask] * 4, *[Connection.permit] * 3,
    *[Connection.cancel] * 2, *[Connection.withdraw] * 2, *[Connection.split] * 2,
    *[Connection.elicit] * 2, *[Connection.fill] * 2,
    *[Connection.repeat] * 2, Connection.chatter, Connection.chatter,
)  # fmt: skip
