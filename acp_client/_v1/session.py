"""One session of ACP v1: its updates and what the client does, to events in the words of v2.

What v1 leaves unsaid is kept here, each in its own object: which messages are open
(`_v1.messages`), which prompts are (`_v1.turns`), whose echo may come (`_v1.echo`), what is known
of tool calls (`_v1.tool_calls`), and modes, models and options (`_v1.settings`). A session that is
loaded begins with new ones, except the open prompts: its history is reported from the start, and
has no echoes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from .. import _events as facts
from .. import wire
from .._decode import ignored
from .._typed import Refused
from . import shapes, terminals, updates
from .answers import Outcome
from .echo import Echoes
from .messages import OpenMessages
from .parser import ReaderV1
from .settings import Settings
from .tool_calls import FINISHED, ToolCalls
from .turns import RUNNING, Turns

Fields = dict[str, Any]
Events = list[Any]

NO_TITLE: Final = "Permission"
"""The title of a permission request whose tool call has none."""

_PARENTS: Final = (("claudeCode", "parentToolUseId"),)
"""Where adapters say in `_meta` which tool call a subagent works for."""

_PARENT_MARKS: Final = tuple(key.encode() for _, key in _PARENTS)


def speaker_of(meta: Any) -> str:
    """Return the subagent that reports something, by its `_meta`; empty for the agent itself."""
    if not isinstance(meta, wire.JsonObject) or not any(key in meta.text for key in _PARENT_MARKS):
        return ""
    members = meta.value
    for adapter, key in _PARENTS:
        said = members.get(adapter)
        parent = said.get(key) if isinstance(said, dict) else None
        if isinstance(parent, str):
            return parent
    return ""


def ends_call(event: Any) -> bool:
    """Return whether an event says that a tool call has ended."""
    return isinstance(event, wire.ToolCallUpdate) and event.status in FINISHED


class SessionV1:
    """What is known of one session; each method returns the events that something makes."""

    def __init__(self, turns: Turns | None = None) -> None:
        self.turns = turns or Turns()
        self.settings = Settings()
        self.before_replay: SessionV1 | None = None
        self.history: wire.RequestId | None = None
        self.is_lost = False
        self._awaits_history = False
        self._reported: list[Fields] = []
        self._messages = OpenMessages()
        self._calls = ToolCalls()
        self._echoes: Echoes[wire.UserMessageChunk] = Echoes()
        self._usage: Fields = {}
        self._works = False

    # --- What the client does ---

    def prompt(
        self,
        request_id: wire.RequestId,
        content: tuple[wire.ContentBlock, ...],
        given_id: str | None = None,
    ) -> Events:
        """Make an entry of a prompt; it is its own echo."""
        if self.turns.is_idle:
            self._messages.close()
        message_id = self._messages.prompt(given_id)
        self._echoes.prompt(request_id, content)
        self.turns.begin(request_id, message_id)
        return [
            facts.PromptSent(request_id, content, message_id),
            facts.UpdateInferred(wire.UserMessage(message_id, content)),
            RUNNING,
        ]

    def prompt_answered(self, answer: wire.Response, idle: Any) -> Events:
        """Settle a prompt; `idle` is the state if it was the last one that is open."""
        self._echoes.answered(answer.id)
        was_foreground = self.turns.is_foreground(answer.id)
        events = self.turns.settle(answer, idle)
        if self.turns.is_idle:
            self.end_turn()
        elif was_foreground:
            self._messages.close()
        return events

    def is_ended_by(self, outcome: Outcome) -> bool:
        """Return whether an answer whose request is not seen ends the turn."""
        if outcome.message.error is not None:
            return self._works
        return isinstance((outcome.result or {}).get("stopReason"), str)

    def end_turn(self) -> None:
        """End the turn: what follows is a late tail, or something new."""
        self._works = False
        self._messages.begin_tail()
        self._calls.begin_turn()

    # --- The history of a session that is loaded or resumed ---

    def await_history(self, request_id: wire.RequestId) -> None:
        """Expect the history before the answer to a request, which is the newest of its kind."""
        self.history = request_id
        self._awaits_history = True
        self._reported = []

    def begins_history(self, update: Fields) -> bool:
        """Return whether an update is the first one of a history that is awaited."""
        kind = update.get("sessionUpdate")
        return self._awaits_history and isinstance(kind, str) and kind in _HISTORY

    def before_history(self) -> tuple[SessionV1, Events]:
        """Return the session in which its history is reported again, and what begins it.

        What was reported since the request is part of it.
        """
        restarted = SessionV1(self.turns)
        restarted.before_replay, restarted.history = self.before_replay or self, self.history
        restarted.before_replay.stop_awaiting()
        events: Events = [facts.ReplayBegun()]
        if not self.turns.is_idle:
            events.append(RUNNING)
        for update in self._reported:
            events += restarted.update(update, ReaderV1(0, ignored))
        return restarted, events

    def after_history(self) -> tuple[SessionV1, Events]:
        """Return the session that goes on after its history, and what ends it."""
        self.stop_awaiting()
        if self.before_replay is None:
            return self, []
        self.before_replay = None
        self._messages.close()
        return self, [facts.ReplayEnded()]

    def without_history(self) -> tuple[SessionV1, Events]:
        """Return the session that goes on after a refusal, and what brings it back."""
        self.stop_awaiting()
        if self.before_replay is None:
            return self, []
        before = self.before_replay
        state = [] if self.turns.state is None else [self.turns.state]
        return before, [facts.ReplayFailed(), *state]

    def stop_awaiting(self) -> None:
        """Expect no history any more."""
        self.history = None
        self._awaits_history = False

    def lose(self) -> tuple[SessionV1, Events]:
        """Return the session that goes on after the connection is lost, and what that changes."""
        before, undone = self.without_history()
        before.is_lost = True
        return before, [*undone, *self.turns.lose()]

    def configured(self, reader: ReaderV1) -> Events:
        """Return the whole configuration, as the result of a request."""
        return [facts.ConfigOptionsSet(self.settings.listed(reader))]

    def permission_asked(
        self, fields: Fields, path: str, reader: ReaderV1
    ) -> wire.ToolCallUpdate | None:
        """Structure the tool call that a permission is asked for."""
        event = reader.tool_call(fields, path)
        if event is None:
            return None
        self._messages.note_update()
        event = self._calls.asked(event)
        self._note_call(event)
        return event

    def title(self, asked: Fields, call: wire.ToolCallUpdate | None) -> str:
        """Return a title for a request to permit a tool call."""
        if call is None:
            return NO_TITLE
        known = self._calls.title(asked["toolCallId"])
        named = (asked.get("title"), known, call.name, call.kind, NO_TITLE)
        return next(name for name in named if isinstance(name, str) and name)

    # --- What the agent reports ---

    def update(self, update: Fields, reader: ReaderV1) -> Events:
        """Translate one session update."""
        given = update.get("sessionUpdate")
        kind = given if isinstance(given, str) else ""
        if kind not in _CHUNKS:
            self._messages.note_update()
        self._works |= kind in _HISTORY
        handler = _ON_UPDATE.get(kind)
        events = handler(self, update, reader) if handler else self._other(update, reader)
        if self._awaits_history:
            self._reported.append(update)
        return events

    def chunk(self, update: Fields, reader: ReaderV1) -> Events:
        """Append to the message that is meant, unless it is an echo."""
        events: Events = []
        given, meta = update.get("messageId"), update.get("_meta")
        message_id = given if isinstance(given, str) else None
        kept = wire.JsonObject(meta) if isinstance(meta, dict) else None
        for content in shapes.blocks(update.get("content")):
            block = reader.block(content)
            if block is not None:
                events += self._append(update["sessionUpdate"], message_id, block, kept)
        return events

    def _append(
        self,
        tag: str,
        given_id: str | None,
        block: wire.ContentBlock,
        meta: wire.JsonObject | None,
    ) -> Events:
        kind, chunk_class = _CHUNKS[tag]
        speaker = speaker_of(meta)
        chunk = chunk_class(given_id or "", block, meta)
        if kind != "user_message":
            return self._placed(kind, speaker, chunk)
        shown = self._echoes.take(block, chunk)
        if not shown:
            self._messages.close()
            return [_HEARD]
        return [event for item in shown for event in self._placed(kind, speaker, item)]

    def _placed(self, kind: str, speaker: str, chunk: Any) -> Events:
        """Assign a chunk the id of its message; skip an empty chunk that has no message."""
        voice = (kind, speaker, chunk.message_id)
        if _is_empty(chunk.content):
            message_id = self._messages.existing(*voice)
        else:
            if kind == "user_message" and not self._messages.existing(*voice):
                self._calls.begin_turn()
            message_id = self._messages.message_of(*voice)
        if message_id is None:
            return [_HEARD]
        return [type(chunk)(message_id, chunk.content, chunk.meta)]

    def reported_tool_call(self, update: Fields, reader: ReaderV1) -> Events:
        """Create or patch a tool call, and feed the terminals in its `_meta`."""
        event = reader.tool_call(update, "$.params.update")
        if event is None:
            return []
        is_new = update["sessionUpdate"] == "tool_call"
        if is_new and self._calls.is_reused(event.tool_call_id):
            self._calls.separate(event.tool_call_id)
            reason = "is the id of a finished tool call, and used again for a new one"
            reader.replaced("$.params.update.toolCallId", reason)
        (event,) = self._tool_call(event, is_new)
        if not terminals.has_terminals(event.meta):
            return [event]
        event, found = terminals.apart(event)
        fed = (reader.event(fields) for fields in found)
        return [event, *(one for one in fed if one is not None)]

    def _tool_call(self, event: wire.ToolCallUpdate, is_new: bool) -> list[wire.ToolCallUpdate]:
        event = self._calls.announced(event) if is_new else self._calls.reported(event)
        self._note_call(event)
        return [event]

    def _note_call(self, event: wire.ToolCallUpdate) -> None:
        self._messages.note_entry("tool_call", event.tool_call_id, speaker_of(event.meta))

    # --- Updates that the typed decoder has read ---

    def typed_update(self, update: Any) -> Events | None:
        """Translate a well-formed update; `None` for one that is to be read as parsed JSON."""
        kind = type(update)
        try:
            if kind in _TYPED_CHUNKS:
                self._works = True
                meta = updates.meta_of(update.meta)
                return self._append(_TYPED_CHUNKS[kind], update.message_id, update.content, meta)
            return _ON_TYPED[kind](self, update)
        except Refused:
            return None

    def _typed_call(self, update: Any) -> Events | None:
        is_new = type(update) is updates.ToolCall
        if is_new and self._calls.is_reused(update.tool_call_id):
            return None
        output = None if update.meta is updates.NO_META else terminals.only_output(update.meta)
        if output is not None and update.is_bare and self._calls.is_known(update.tool_call_id):
            self._messages.note_update()
            data = output.data.encode("utf-8", "surrogatepass")
            return [wire.TerminalOutputChunk(output.terminal_id, data)]
        event = update.in_v2()
        if terminals.has_terminals(event.meta):
            return None
        self._messages.note_update()
        self._works |= is_new
        return self._tool_call(event, is_new)

    def _typed_plan(self, update: updates.Plan) -> Events:
        self._messages.note_update()
        plan = wire.PlanItems("plan", update.entries, updates.meta_of(update.meta))
        return [wire.PlanUpdate(plan)]

    def _typed_usage(self, update: updates.UsageUpdate) -> Events | None:
        if update.cost is None and "cost" in self._usage:
            return None  # it may not be shown yet
        self._messages.note_update()
        self._usage |= {"used": update.used, "size": update.size}
        if update.cost is None:
            return [wire.UsageUpdate(update.used, update.size)]
        self._usage["cost"] = wire.to_builtins(update.cost)
        return [wire.UsageUpdate(update.used, update.size, update.cost)]

    def run_of(self, kind: str, given: str | None) -> str | None:
        """Return the message that the next chunk without `_meta` goes on with."""
        return self._messages.existing(kind, "", given)

    # --- Updates as parsed JSON ---

    def plan(self, update: Fields, reader: ReaderV1) -> Events:
        """Replace the one plan."""
        return self._structured(shapes.plan(update), reader)

    def commands(self, update: Fields, reader: ReaderV1) -> Events:
        """Replace the slash commands."""
        commands = shapes.each(update.get("availableCommands"), shapes.command)
        return self._structured({**update, "availableCommands": commands}, reader)

    def options(self, update: Fields, reader: ReaderV1) -> Events:
        """Replace the options, or the one that is there, or the value of one."""
        options = update.get("configOptions") or update.get("configOption")
        chosen = update.get("configId", update.get("id"))
        path = "$.params.update"
        if isinstance(options or update.get("configOptions"), list):
            self.settings.replace(options or [], reader, path)
        elif isinstance(options, dict):
            self.settings.replace_one(options, reader, path)
        elif isinstance(chosen, str):
            self.settings.choose(chosen, update.get("value", update.get("currentValue")))
        else:
            reader.rejected("$.params.update.configOptions", "is not array")
            return []
        return self._settings_changed(reader)

    def mode(self, update: Fields, reader: ReaderV1) -> Events:
        """Change the current mode."""
        mode = update.get("currentModeId") or update.get("modeId")
        if not isinstance(mode, str):
            reader.rejected("$.params.update.currentModeId", "is not string")
            return []
        self.settings.switch("mode", mode)
        return self._settings_changed(reader)

    def _settings_changed(self, reader: ReaderV1) -> Events:
        return [wire.ConfigOptionUpdate(self.settings.listed(reader))]

    def usage(self, update: Fields, reader: ReaderV1) -> Events:
        """Replace what is given of the usage, once both of its numbers are known."""
        self._usage |= shapes.given(update)
        is_known = {"used", "size"} <= self._usage.keys()
        return self._structured(self._usage, reader) if is_known else []

    def _other(self, update: Fields, reader: ReaderV1) -> Events:
        """Decode updates that v1 shares with v2; keep any other update as unknown."""
        kind = update.get("sessionUpdate")
        if not isinstance(kind, str) or kind in _SHARED:
            event = reader.event(update)
            return [] if event is None else self._noted(event)
        event = reader.attempt(shapes.ahead(update)) if kind in _AHEAD else None
        return self._noted(wire.Unknown(update) if event is None else event)

    def _structured(self, update: Fields, reader: ReaderV1) -> Events:
        event = reader.event(update)
        return [] if event is None else [event]

    # --- Entries ---

    def _noted(self, event: Any) -> Events:
        """Note the entry that an event of v2 is about."""
        key = _KEYS.get(type(event))
        if key is not None:
            self._messages.note_entry(key[0], getattr(event, key[1]))
        elif isinstance(event, wire.Unknown) and not isinstance(event, wire.UnknownStateUpdate):
            self._messages.close()
        return [event]


def _is_empty(block: wire.ContentBlock) -> bool:
    return isinstance(block, wire.TextContent) and not block.text


_HEARD: Final = wire.SessionInfoUpdate()
"""An update that changes nothing: what an echo is, whose message is there already."""

_CHUNKS: Final[dict[str, tuple[str, Any]]] = {
    "user_message_chunk": ("user_message", wire.UserMessageChunk),
    "agent_message_chunk": ("agent_message", wire.AgentMessageChunk),
    "agent_thought_chunk": ("agent_thought", wire.AgentThoughtChunk),
}
"""By the kind of the update: the type of the entry, and the event."""

_TYPED_CHUNKS: Final[dict[type, str]] = {
    updates.UserMessageChunk: "user_message_chunk",
    updates.AgentMessageChunk: "agent_message_chunk",
    updates.AgentThoughtChunk: "agent_thought_chunk",
}

_ON_TYPED: Final[dict[type, Callable[[SessionV1, Any], Events | None]]] = {
    updates.Plan: SessionV1._typed_plan,
    updates.ToolCall: SessionV1._typed_call,
    updates.ToolCallUpdate: SessionV1._typed_call,
    updates.UsageUpdate: SessionV1._typed_usage,
}

_Handler = Callable[[SessionV1, Fields, ReaderV1], Events]

_ON_UPDATE: Final[dict[str, _Handler]] = {
    "user_message_chunk": SessionV1.chunk,
    "agent_message_chunk": SessionV1.chunk,
    "agent_thought_chunk": SessionV1.chunk,
    "tool_call": SessionV1.reported_tool_call,
    "tool_call_update": SessionV1.reported_tool_call,
    "plan": SessionV1.plan,
    "available_commands_update": SessionV1.commands,
    "config_option_update": SessionV1.options,
    "current_mode_update": SessionV1.mode,
    "usage_update": SessionV1.usage,
}

_HISTORY: Final = frozenset({*_CHUNKS, "tool_call"})
"""Updates that a history begins with."""

_SHARED: Final = frozenset(
    {"compaction_summary_chunk", "compaction_update", "notice", "session_info_update"}
)
"""Updates that are the same in v1 and v2."""

_AHEAD: Final = frozenset(
    {
        "agent_message",
        "agent_thought",
        "plan_update",
        "state_update",
        "terminal_output_chunk",
        "terminal_update",
        "tool_call_content_chunk",
        "user_message",
    }
)
"""Updates of v2 that some agents send in v1; what cannot be read as one is kept as it came."""

_KEYS: Final[dict[type, tuple[str, str]]] = {
    wire.UserMessage: ("user_message", "message_id"),
    wire.AgentMessage: ("agent_message", "message_id"),
    wire.AgentThought: ("agent_thought", "message_id"),
    wire.ToolCallContentChunk: ("tool_call", "tool_call_id"),
    wire.CompactionUpdate: ("compaction", "compaction_id"),
    wire.CompactionSummaryChunk: ("compaction", "compaction_id"),
}
"""By the event: the type of the entry that it is about, and where its id is."""
