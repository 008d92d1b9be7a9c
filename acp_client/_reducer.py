"""`apply` and `apply_all`: reduce events to snapshots.

The reducer is a pure fold: it takes a snapshot and events, and returns the next snapshot. Each
event type has one small function in one of the dispatch tables:

- `_ON_UPDATE` has the agent's updates and `_ON_DRAFT` the frequent client-side facts; both work on
  the mutable draft of the batch (see `_session_draft`);
- `ON_SNAPSHOT` of `_fact_reducer` has the rare client-side facts, which may concern the whole
  session and work on a finished snapshot.

The rules that the functions share:

- *Nothing waits.* An update for an unseen id creates the entity, at any time and in any state.
- *Nothing is lost.* Text is appended exactly; unknown variants become entries.
- *Nothing doubles.* Entities are found by kind and id alone; a replay starts from empty.
- *Whatever is unchanged is the same object*, up to the snapshot itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Literal

from msgspec.structs import replace

from . import _events as facts
from . import wire
from ._client_state import Permission, is_idle, outcome_of
from ._content import stored_block, stored_item
from ._errors import InvalidValueError, checked
from ._fact_reducer import ON_SNAPSHOT
from ._lifecycles import FOREGROUND
from ._limits import DEFAULT_LIMITS, Limits
from ._patches import INFO, USAGE
from ._session_draft import Draft
from ._snapshot import Message, MessageType, Snapshot, plan_key


def apply(snapshot: Snapshot, event: facts.Event, *, limits: Limits = DEFAULT_LIMITS) -> Snapshot:
    """Return the snapshot after one event; the same object if the event changes nothing.

    `event` is a session update (`session/update`, see `wire.SessionUpdate`) or a client-side fact
    such as `PromptSent`. `limits` bounds the notices and the terminal bytes that are kept. Raises
    `InvalidValueError` for a value that is not a snapshot, an event or limits.
    """
    try:
        direct = _DIRECT.get(type(event))
        if direct is not None and snapshot._fields.connection_lost is None:
            after = direct(snapshot, event, limits)
            if after is not None:
                return after
        return reduce_event(Draft.of(snapshot, limits), event).freeze()
    except (AttributeError, TypeError):  # a check up front would cost every update
        _check(snapshot, limits)
        raise


def _check(snapshot: Any, limits: Any) -> None:
    """Raise `InvalidValueError` for a value that is not a snapshot, or not limits."""
    checked(snapshot, Snapshot, "a snapshot")
    checked(limits, Limits, "an object of `Limits`")


def _chunk_of_known_message(snapshot: Snapshot, update: Any, limits: Limits) -> Snapshot | None:
    """Append one block to an existing message, as a draft would do, without making a draft."""
    key = (MESSAGE_TYPES[type(update)], update.message_id)
    place = snapshot.entries._place(key)
    if place < 0 or update.meta is not None:
        return None
    before: Any = snapshot.entries._at(place)
    content = before.content._appended((stored_block(update.content),))
    after = Message(before.type, before.message_id, content, before.meta)
    entries = snapshot.entries._with_value(place, after)
    return Snapshot(snapshot.session_id, entries, snapshot.terminals, snapshot._fields)


def _output_of_known_terminal(snapshot: Snapshot, update: Any, limits: Limits) -> Snapshot | None:
    """Append output to an existing terminal, as a draft would do, without making a draft."""
    place = snapshot.terminals._place(update.terminal_id)
    if place < 0 or not update.data or limits.terminal_bytes is not None:
        return None
    before = snapshot.terminals._at(place)
    after = replace(before, pieces=before.pieces._appended((update.data,)))
    terminals = snapshot.terminals._with_value(place, after)
    return Snapshot(snapshot.session_id, snapshot.entries, terminals, snapshot._fields)


def apply_all(
    snapshot: Snapshot, events: Iterable[facts.Event], *, limits: Limits = DEFAULT_LIMITS
) -> Snapshot:
    """Return the snapshot after all events, in order; the same object if nothing changes.

    The result equals that of `apply` for each event in turn, and takes less time. Arguments and
    exceptions are those of `apply`; `events` is an iterable.
    """
    try:
        draft = Draft.of(snapshot, limits)
        for event in events:
            draft = reduce_event(draft, event)
        return draft.freeze()
    except (AttributeError, TypeError):
        _check(snapshot, limits)
        checked(events, Iterable, "events")
        raise


def reduce_event(draft: Draft, event: Any) -> Draft:
    """Reduce one event onto a draft; return the draft to continue with."""
    on_update = _ON_UPDATE.get(type(event))
    if on_update is not None:
        if draft.is_lost:
            draft.hear()
        on_update(draft, event)
        return draft
    on_request = _ON_DRAFT.get(type(event))
    if on_request is not None:
        on_request(draft, event)
        return draft
    on_snapshot = ON_SNAPSHOT.get(type(event))
    if on_snapshot is None:
        raise InvalidValueError(f"{type(event).__name__} is not an event")
    after = Draft.of(on_snapshot(draft.freeze(), event), draft.limits)
    after.info_updates = draft.info_updates
    return after


class Drafts:
    """The drafts of the sessions that one batch touches, by session id."""

    def __init__(self, snapshots: Mapping[str, Snapshot], limits: Limits) -> None:
        self._snapshots = snapshots
        self._limits = limits
        self.open: dict[str, Draft] = {}

    def draft(self, session_id: str) -> Draft:
        """Return the draft of a session; a new one for an unknown session."""
        draft = self.open.get(session_id)
        if draft is None:
            base = self._snapshots.get(session_id) or Snapshot(session_id)
            draft = self.open[session_id] = Draft.of(base, self._limits)
        return draft

    def knows(self, session_id: str) -> bool:
        """Return whether a session exists."""
        return session_id in self.open or session_id in self._snapshots

    def reduce(self, session_id: str, event: Any) -> None:
        """Reduce one event of a session."""
        draft = self.open.get(session_id) or self.draft(session_id)
        on_update = _ON_UPDATE.get(type(event))
        if on_update is not None and not draft.is_lost:
            on_update(draft, event)
        else:
            self.open[session_id] = reduce_event(draft, event)


# --- Messages ---


MESSAGE_TYPES: Final[dict[type, MessageType]] = {
    wire.UserMessageChunk: "user_message",
    wire.UserMessage: "user_message",
    wire.AgentMessageChunk: "agent_message",
    wire.AgentMessage: "agent_message",
    wire.AgentThoughtChunk: "agent_thought",
    wire.AgentThought: "agent_thought",
}
"""The type of the message that an update is about, by the class of the update."""


def _message_chunk(draft: Draft, update: Any) -> None:
    message = draft.message(MESSAGE_TYPES[type(update)], update.message_id)
    message.add(stored_block(update.content), update.meta)


def _message(draft: Draft, update: Any) -> None:
    draft.message(MESSAGE_TYPES[type(update)], update.message_id).patch(update)


# --- Tool calls, terminals, compactions, plans ---


def _tool_call_update(draft: Draft, update: wire.ToolCallUpdate) -> None:
    draft.tool_call(update.tool_call_id).patch(update)


def _tool_call_content_chunk(draft: Draft, update: wire.ToolCallContentChunk) -> None:
    draft.tool_call(update.tool_call_id).add(stored_item(update.content), update.meta)


def _terminal_update(draft: Draft, update: wire.TerminalUpdate) -> None:
    draft.terminal(update.terminal_id).patch(update)


def _terminal_output_chunk(draft: Draft, update: wire.TerminalOutputChunk) -> None:
    terminal = draft.terminal(update.terminal_id)
    terminal.fresh.append(update.data)


def _compaction_update(draft: Draft, update: wire.CompactionUpdate) -> None:
    draft.compaction(update.compaction_id).patch(update)


def _compaction_summary_chunk(draft: Draft, update: wire.CompactionSummaryChunk) -> None:
    draft.compaction(update.compaction_id).fresh.append(stored_block(update.content))


def _plan_update(draft: Draft, update: wire.PlanUpdate) -> None:
    draft.plan(plan_key(update.plan), update.plan)


def _plan_removed(draft: Draft, update: wire.PlanRemoved) -> None:
    draft.remove_plan(update.plan_id)


def _unknown(draft: Draft, update: wire.Unknown) -> None:
    draft.unknown(update)


# --- The session's own fields ---


def _state_update(draft: Draft, update: wire.StateUpdate | wire.UnknownStateUpdate) -> None:
    step: Literal["reported idle", "reported work"]
    step = "reported idle" if is_idle(update) else "reported work"
    before = draft.foreground
    after = FOREGROUND.get((before, step), before)
    if (before, after) == ("idle", "working"):
        draft.set(foreground_start=draft.entry_count)
    draft.set(state=update, cancelling=after == "cancelling")
    draft.step_turn(step, outcome_of(update) if after == "idle" else None)


def _usage_update(draft: Draft, update: wire.UsageUpdate) -> None:
    draft.part("usage", USAGE).patch(update)


def _session_info_update(draft: Draft, update: wire.SessionInfoUpdate) -> None:
    draft.part("info", INFO).patch(update)
    draft.note_info(update)


def _available_commands_update(draft: Draft, update: wire.AvailableCommandsUpdate) -> None:
    draft.set(available_commands=update.available_commands, commands_reported=True)


def _config_option_update(draft: Draft, update: wire.ConfigOptionUpdate) -> None:
    draft.set(config_options=update.config_options, options_reported=True)


def _notice(draft: Draft, update: wire.Notice) -> None:
    draft.notice(update)


# --- Permission requests ---


def _permission_asked(draft: Draft, event: facts.PermissionAsked) -> None:
    """Apply the subject; add the request, unless the session is cancelling and it is answered."""
    request, subject, cancelling = event.request, event.request.subject, draft.get("cancelling")
    if isinstance(subject, wire.ToolCallPermissionSubject):
        call = draft.tool_call(subject.tool_call.tool_call_id)
        was_marked = call.current("cancel_marked", False)
        call.patch(subject.tool_call)
        if cancelling and was_marked:
            call.changes["cancel_marked"] = True
        subject = subject.without_resets()
    if not cancelling:
        draft.permissions()[event.request_id] = Permission(
            event.request_id, request.title, request.options, request.description, subject
        )


def _permission_closed(draft: Draft, event: facts.PermissionClosed) -> None:
    if not isinstance(event.request_id, bool):  # it equals 0 or 1 to Python, and is no id
        draft.permissions().pop(event.request_id, None)


_DIRECT: Final[dict[type, Callable[[Snapshot, Any, Limits], Snapshot | None]]] = {
    wire.UserMessageChunk: _chunk_of_known_message,
    wire.AgentMessageChunk: _chunk_of_known_message,
    wire.AgentThoughtChunk: _chunk_of_known_message,
    wire.TerminalOutputChunk: _output_of_known_terminal,
}
"""Shortcuts of `apply` for the most frequent updates (benchmark "one apply per update").

Each returns the snapshot that the function in `_ON_UPDATE` leads to, or `None` where the shortcut
does not apply. The law that the fold of `apply` equals `apply_all` holds them to it.
"""

_ON_UPDATE: Final[dict[type, Callable[[Draft, Any], None]]] = {
    wire.UserMessageChunk: _message_chunk,
    wire.UserMessage: _message,
    wire.AgentMessageChunk: _message_chunk,
    wire.AgentMessage: _message,
    wire.AgentThoughtChunk: _message_chunk,
    wire.AgentThought: _message,
    wire.StateUpdate: _state_update,
    wire.UnknownStateUpdate: _state_update,
    wire.ToolCallContentChunk: _tool_call_content_chunk,
    wire.ToolCallUpdate: _tool_call_update,
    wire.TerminalUpdate: _terminal_update,
    wire.TerminalOutputChunk: _terminal_output_chunk,
    wire.PlanUpdate: _plan_update,
    wire.PlanRemoved: _plan_removed,
    wire.AvailableCommandsUpdate: _available_commands_update,
    wire.ConfigOptionUpdate: _config_option_update,
    wire.SessionInfoUpdate: _session_info_update,
    wire.UsageUpdate: _usage_update,
    wire.Notice: _notice,
    wire.CompactionUpdate: _compaction_update,
    wire.CompactionSummaryChunk: _compaction_summary_chunk,
    wire.Unknown: _unknown,
}


def _update_inferred(draft: Draft, event: facts.UpdateInferred) -> None:
    _ON_UPDATE[type(event.update)](draft, event.update)


_ON_DRAFT: Final[dict[type, Callable[[Draft, Any], None]]] = {
    facts.UpdateInferred: _update_inferred,
    facts.PermissionAsked: _permission_asked,
    facts.PermissionClosed: _permission_closed,
}
