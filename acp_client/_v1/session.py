"""One session of ACP v1: its updates and what the client does, to events in the words of v2.

What v1 leaves unsaid is kept here, because it decides what an update means:

- *The open message of each kind.* A chunk without an id belongs to it. A new entry of any other
  kind closes it, and so does a prompt; an update of an entry that is there already does not, since
  agents patch earlier tool calls in the middle of a sentence.
- *Inferred ids.* A message that has no id gets one: `inferred:` and its number among the messages
  of its kind. The same stream gives the same ids, and a history that is loaded again gives those
  that it had. They cannot be taken for an agent's, see `is_inferred`.
- *Awaited echoes*, see `_v1.echo`. A history that is loaded has none: each message is news.
- *What is known*: the tool calls, since a `tool_call` must not reset one; usage, since `null` is
  not a number; modes, models and options, see `_v1.settings`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from .. import _events as facts
from .. import wire
from . import shapes, terminals
from .echo import Echoes
from .parser import ReaderV1
from .settings import Settings

Fields = dict[str, Any]
Events = list[Any]

INFERRED: Final = "inferred:"
"""How the ids begin that agents did not send."""

NO_TITLE: Final = "Permission"
"""The title of a permission request whose tool call has none."""


def is_inferred(message_id: str) -> bool:
    """Tell whether a message id was made for a message that came without one."""
    return message_id.startswith(INFERRED)


class SessionV1:
    """What is known of one session; each method returns the events that something tells."""

    def __init__(self) -> None:
        self.settings = Settings()
        self.open_prompts: list[wire.RequestId] = []
        self.before_load: SessionV1 | None = None
        self._known: set[tuple[str, str]] = set()
        self._open: dict[str, str] = {}
        self._numbers: dict[str, int] = {}
        self._echoes: Echoes[wire.UserMessageChunk] = Echoes()
        self._titles: dict[str, str] = {}
        self._usage: Fields = {}

    # --- What the client does ---

    def prompt(
        self,
        request_id: wire.RequestId,
        content: tuple[wire.ContentBlock, ...],
        message_id: str | None = None,
    ) -> Events:
        """Make an entry of a prompt; it is its own echo."""
        self._open.clear()
        message_id = self._message_id("user_message", message_id)
        self._open.clear()  # what comes next is no part of it
        self._echoes.prompt(request_id, content)
        if request_id not in self.open_prompts:
            self.open_prompts.append(request_id)
        return [
            facts.PromptSent(request_id, content),
            wire.UserMessage(message_id, content),
            facts.PromptAccepted(request_id, message_id),
            wire.StateUpdate("running"),
        ]

    def prompt_answered(self, request_id: wire.RequestId) -> bool:
        """Take note of the answer to a prompt; tell whether it was the last open one.

        Answers come in order: a prompt from before that has none will never get one.
        """
        self._echoes.answered(request_id)
        if request_id in self.open_prompts:
            del self.open_prompts[: self.open_prompts.index(request_id) + 1]
        return not self.open_prompts

    def close_messages(self) -> None:
        """End the messages that are open."""
        self._open.clear()

    def configured(self, reader: ReaderV1) -> Events:
        """Tell the whole configuration, as the result of a request."""
        update = self._config_update(reader)
        return [] if update is None else [facts.ConfigOptionsSet(update.config_options)]

    def tool_call(self, fields: Fields, path: str, reader: ReaderV1) -> wire.ToolCallUpdate | None:
        """Structure a tool call and take note of it."""
        event = reader.tool_call(fields, path)
        if event is not None:
            self._note("tool_call", event.tool_call_id)
            if isinstance(event.title, str):
                self._titles[event.tool_call_id] = event.title
        return event

    def title(self, call: wire.ToolCallUpdate | None) -> str:
        """Return a title for a request to permit a tool call."""
        if call is None:
            return NO_TITLE
        known = self._titles.get(call.tool_call_id)
        named = (call.title, known, call.name, call.kind, NO_TITLE)
        return next(name for name in named if isinstance(name, str) and name)

    # --- What the agent reports ---

    def update(self, update: Fields, reader: ReaderV1) -> Events:
        """Translate one session update."""
        kind = update.get("sessionUpdate")
        handler = _ON_UPDATE.get(kind) if isinstance(kind, str) else None
        return handler(self, update, reader) if handler else self._other(update, reader)

    def chunk(self, update: Fields, reader: ReaderV1) -> Events:
        """Append to the message that is meant, unless it is an echo."""
        events: Events = []
        for content in shapes.blocks(update.get("content")):
            block = reader.block(content)
            if block is not None:
                events += self._append(update, block)
        return events

    def _append(self, update: Fields, block: wire.ContentBlock) -> Events:
        type_, chunk_class = _CHUNKS[update["sessionUpdate"]]
        given, meta = update.get("messageId"), update.get("_meta")
        chunk = chunk_class(
            given if isinstance(given, str) else "",
            block,
            wire.JsonObject(meta) if isinstance(meta, dict) else None,
        )
        shown = self._echoes.take(block, chunk) if type_ == "user_message" else [chunk]
        return [
            chunk_class(self._message_id(type_, item.message_id), item.content, item.meta)
            for item in shown
        ]

    def reported_tool_call(self, update: Fields, reader: ReaderV1) -> Events:
        """Create or patch a tool call, and feed the terminals in its `_meta`."""
        call_id = update.get("toolCallId")
        is_known = isinstance(call_id, str) and ("tool_call", call_id) in self._known
        if update["sessionUpdate"] == "tool_call" and is_known:
            update = shapes.without_defaults(update)
        event = self.tool_call(update, "$.params.update", reader)
        if event is None:
            return []
        found = (reader.event(fields) for fields in terminals.of_tool_call(update))
        return [event, *(fed for fed in found if fed is not None)]

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
        if isinstance(options or update.get("configOptions"), list):
            self.settings.replace(options or [])
        elif isinstance(options, dict):
            self.settings.replace_one(options)
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
        update = self._config_update(reader)
        return [] if update is None else [update]

    def _config_update(self, reader: ReaderV1) -> wire.ConfigOptionUpdate | None:
        options = self.settings.listed()
        found: wire.ConfigOptionUpdate | None = reader.event(
            {"sessionUpdate": "config_option_update", "configOptions": options}
        )
        return found

    def usage(self, update: Fields, reader: ReaderV1) -> Events:
        """Replace what is given of the usage, once both of its numbers are known."""
        self._usage |= shapes.given(update)
        is_known = {"used", "size"} <= self._usage.keys()
        return self._structured(self._usage, reader) if is_known else []

    def _other(self, update: Fields, reader: ReaderV1) -> Events:
        """Take what v1 has in the words of v2; keep what nobody knows, or v1 has no word for."""
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
        """Take note of the entry that an event is about."""
        key = _KEYS.get(type(event))
        if key is not None:
            self._note(key[0], getattr(event, key[1]))
        elif isinstance(event, wire.Unknown) and not isinstance(event, wire.UnknownStateUpdate):
            self._open.clear()
        return [event]

    def _note(self, type_: str, entry_id: str) -> None:
        """Take note of an entry; a new one closes the messages that are open."""
        if (type_, entry_id) not in self._known:
            self._known.add((type_, entry_id))
            self._open.clear()

    def _message_id(self, type_: str, given: str | None) -> str:
        """Return the id of the message that a chunk belongs to, which is open from now on."""
        message_id = given or self._open.get(type_) or self._new_id(type_)
        self._note(type_, message_id)
        self._open[type_] = message_id
        return message_id

    def _new_id(self, type_: str) -> str:
        number = self._numbers[type_] = self._numbers.get(type_, 0) + 1
        return f"{INFERRED}{number}"


_CHUNKS: Final[dict[str, tuple[str, Any]]] = {
    "user_message_chunk": ("user_message", wire.UserMessageChunk),
    "agent_message_chunk": ("agent_message", wire.AgentMessageChunk),
    "agent_thought_chunk": ("agent_thought", wire.AgentThoughtChunk),
}
"""By the kind of the update: the type of the entry, and the event."""

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
