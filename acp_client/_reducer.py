"""`apply` and `apply_all`: events to snapshots.

The reducer is a pure fold: one snapshot and some events in, the next snapshot out. Each event type
has one small function in one of two dispatch tables:

- `_ON_DRAFT`: what the agent says, which works on the mutable draft of the batch
  (see `_session_draft`);
- `_ON_SNAPSHOT`: what the client does or learns, which is rare, may concern the whole session, and
  works on a finished snapshot.

The rules that the functions share:

- *Nothing waits.* An update for an id that was not seen creates it, at any time, in any state.
- *Nothing is lost.* Text is appended exactly; unknown variants become entries.
- *Nothing doubles.* Entities are found by kind and id alone; a replay starts from empty.
- *Nothing changed is the same object*, up to the snapshot itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from . import _events as facts
from . import wire
from ._content import stored_block, stored_item
from ._errors import InvalidValueError, checked
from ._limits import DEFAULT_LIMITS, Limits
from ._patches import INFO, USAGE
from ._prompts import Answer, answered, lost, matched
from ._session_draft import Draft, changed
from ._snapshot import (
    Message,
    MessageType,
    Permission,
    Prompt,
    Snapshot,
    ToolCall,
    background_tool_calls,
    plan_key,
    state_name,
)


def apply(snapshot: Snapshot, event: facts.Event, *, limits: Limits = DEFAULT_LIMITS) -> Snapshot:
    """Return the snapshot after one event; the same object if the event changes nothing.

    Raises `InvalidValueError` for something that is no event, or no snapshot.
    """
    try:
        direct = _DIRECT.get(type(event))
        if direct is not None:
            after = direct(snapshot, event, limits)
            if after is not None:
                return after
        return reduce_event(Draft.of(snapshot, limits), event).freeze()
    except (AttributeError, TypeError):  # to look before would cost every update
        _check(snapshot, limits)
        raise


def _check(snapshot: Any, limits: Any) -> None:
    """Raise `InvalidValueError` for what is no snapshot, and for what is no limits."""
    checked(snapshot, Snapshot, "a snapshot")
    checked(limits, Limits, "an object of `Limits`")


def _chunk_of_known_message(snapshot: Snapshot, update: Any, limits: Limits) -> Snapshot | None:
    """Append one block to a message that exists: what a draft would do, without making one."""
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
    """Append output to a terminal that exists: what a draft would do, without making one."""
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
    """Return the snapshot after all events: what `apply` would give one by one, in less time.

    Raises `InvalidValueError` for something that is no event, or no snapshot.
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
    """Reduce one event onto a draft; return the draft to go on with."""
    on_draft = _ON_DRAFT.get(type(event))
    if on_draft is not None:
        on_draft(draft, event)
        return draft
    on_snapshot = _ON_SNAPSHOT.get(type(event))
    if on_snapshot is None:
        raise InvalidValueError(f"{type(event).__name__} is not an event")
    return Draft.of(on_snapshot(draft.freeze(), event), draft.limits)


class Drafts:
    """The drafts of the sessions that one batch touches, by session id."""

    def __init__(self, snapshots: Mapping[str, Snapshot], limits: Limits) -> None:
        self._snapshots = snapshots
        self._limits = limits
        self.open: dict[str, Draft] = {}

    def draft(self, session_id: str) -> Draft:
        """Return the draft of a session, a new one if nobody knows it."""
        draft = self.open.get(session_id)
        if draft is None:
            base = self._snapshots.get(session_id) or Snapshot(session_id)
            draft = self.open[session_id] = Draft.of(base, self._limits)
        return draft

    def knows(self, session_id: str) -> bool:
        """Tell whether a session exists."""
        return session_id in self.open or session_id in self._snapshots

    def reduce(self, session_id: str, event: Any) -> None:
        """Reduce one event of a session."""
        draft = self.open.get(session_id) or self.draft(session_id)
        on_draft = _ON_DRAFT.get(type(event))
        if on_draft is not None:
            on_draft(draft, event)
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
"""The type of the entry that an update of a message is about."""


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
    before = draft.get("state")
    was_idle = before is None or state_name(before) == "idle"
    if was_idle and state_name(update) != "idle":
        draft.set(foreground_start=draft.entry_count)
    draft.set(state=update)


def _usage_update(draft: Draft, update: wire.UsageUpdate) -> None:
    draft.part("usage", USAGE).patch(update)


def _session_info_update(draft: Draft, update: wire.SessionInfoUpdate) -> None:
    draft.part("info", INFO).patch(update)


def _available_commands_update(draft: Draft, update: wire.AvailableCommandsUpdate) -> None:
    draft.set(available_commands=update.available_commands, commands_reported=True)


def _config_option_update(draft: Draft, update: wire.ConfigOptionUpdate) -> None:
    draft.set(config_options=update.config_options, options_reported=True)


def _notice(draft: Draft, update: wire.Notice) -> None:
    draft.notice(update)


# --- What the client does and learns ---


def _around(snapshot: Snapshot, **changes: Any) -> Snapshot:
    fields = changed(snapshot._fields, changes)
    return snapshot if fields is snapshot._fields else replace(snapshot, _fields=fields)


def _prompt_sent(snapshot: Snapshot, event: facts.PromptSent) -> Snapshot:
    prompt = Prompt(event.request_id, event.content, message_id=event.message_id)
    return _around(snapshot, prompts=(*snapshot.prompts, prompt))


def _answer_prompt(snapshot: Snapshot, event: Any, answer: Answer, **told: Any) -> Snapshot:
    exists = _has_user_message(snapshot)
    prompts = answered(snapshot.prompts, event.request_id, answer, is_echoed=exists, **told)
    return _around(snapshot, prompts=prompts)


def _has_user_message(snapshot: Snapshot) -> Callable[[str], bool]:
    return lambda message_id: snapshot.entries.message("user_message", message_id) is not None


def _prompt_accepted(snapshot: Snapshot, event: facts.PromptAccepted) -> Snapshot:
    return _answer_prompt(snapshot, event, "result", message_id=event.message_id)


def _prompt_rejected(snapshot: Snapshot, event: facts.PromptRejected) -> Snapshot:
    return _answer_prompt(snapshot, event, "error", error=event.error)


def _prompt_uncertain(snapshot: Snapshot, event: facts.PromptUncertain) -> Snapshot:
    return _answer_prompt(snapshot, event, "malformed", error=event.error)


def _cancel_sent(snapshot: Snapshot, event: facts.CancelSent) -> Snapshot:
    """Mark the unfinished tool calls of the foreground work, and close the permissions."""
    marked = {place: replace(call, cancel_marked=True) for place, call in _cancellable(snapshot)}
    if marked:
        snapshot = replace(snapshot, entries=snapshot.entries._changed(marked))
    return _around(snapshot, permissions=())


def _cancellable(snapshot: Snapshot) -> list[tuple[int, ToolCall]]:
    state = snapshot._fields.state
    if state is not None and state_name(state) == "idle":
        return []
    start, background = snapshot._fields.foreground_start, background_tool_calls(state)
    places = ((place, snapshot.entries[place]) for place in range(start, len(snapshot.entries)))
    calls = ((place, entry) for place, entry in places if isinstance(entry, ToolCall))
    return [
        (place, call)
        for place, call in calls
        if not call.is_finished and call.tool_call_id not in background
    ]


def _permission_asked(draft: Draft, event: facts.PermissionAsked) -> None:
    request, subject = event.request, event.request.subject
    if isinstance(subject, wire.ToolCallPermissionSubject):
        _tool_call_update(draft, subject.tool_call)
        subject = subject.without_resets()
    draft.permissions()[event.request_id] = Permission(
        event.request_id, request.title, request.options, request.description, subject
    )


def _permission_closed(draft: Draft, event: facts.PermissionClosed) -> None:
    draft.permissions().pop(event.request_id, None)


def _session_opened(snapshot: Snapshot, event: facts.SessionOpened) -> Snapshot:
    """Take the initial lists, but for those that an update has reported already."""
    changes: dict[str, Any] = {}
    if event.available_commands is not UNSET and not snapshot._fields.commands_reported:
        changes["available_commands"] = event.available_commands
    if event.config_options is not UNSET and not snapshot._fields.options_reported:
        changes["config_options"] = event.config_options
    return _around(snapshot, **changes)


def _config_options_set(snapshot: Snapshot, event: facts.ConfigOptionsSet) -> Snapshot:
    return _around(snapshot, config_options=event.config_options)


def _replay_begun(snapshot: Snapshot, event: facts.ReplayBegun) -> Snapshot:
    begun = _around(
        Snapshot(snapshot.session_id),
        prompts=snapshot.prompts,
        permissions=snapshot.permissions,
        before_replay=snapshot.before_replay or snapshot,
    )
    return snapshot if begun == snapshot else begun


def _replay_ended(snapshot: Snapshot, event: facts.ReplayEnded) -> Snapshot:
    return _around(snapshot, before_replay=None)


def _replay_failed(snapshot: Snapshot, event: facts.ReplayFailed) -> Snapshot:
    before = snapshot.before_replay
    if before is None:
        return snapshot
    prompts = matched(snapshot.prompts, _has_user_message(before))  # answered during the replay
    return _around(before, prompts=prompts, permissions=snapshot.permissions)


def _connection_lost(snapshot: Snapshot, event: facts.ConnectionLost) -> Snapshot:
    return _around(snapshot, prompts=lost(snapshot.prompts, event.error), permissions=())


_DIRECT: Final[dict[type, Callable[[Snapshot, Any, Limits], Snapshot | None]]] = {
    wire.UserMessageChunk: _chunk_of_known_message,
    wire.AgentMessageChunk: _chunk_of_known_message,
    wire.AgentThoughtChunk: _chunk_of_known_message,
    wire.TerminalOutputChunk: _output_of_known_terminal,
}
"""What most updates are, for whoever applies them one by one (benchmark "one apply per update").

Each gives what the function in `_ON_DRAFT` gives, or `None` where it does not apply; the law that
`apply` folded is `apply_all` holds them to it.
"""

_ON_DRAFT: Final[dict[type, Callable[[Draft, Any], None]]] = {
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
    facts.PermissionAsked: _permission_asked,
    facts.PermissionClosed: _permission_closed,
}

_ON_SNAPSHOT: Final[dict[type, Callable[[Snapshot, Any], Snapshot]]] = {
    facts.PromptSent: _prompt_sent,
    facts.PromptAccepted: _prompt_accepted,
    facts.PromptRejected: _prompt_rejected,
    facts.PromptUncertain: _prompt_uncertain,
    facts.CancelSent: _cancel_sent,
    facts.SessionOpened: _session_opened,
    facts.ConfigOptionsSet: _config_options_set,
    facts.ReplayBegun: _replay_begun,
    facts.ReplayEnded: _replay_ended,
    facts.ReplayFailed: _replay_failed,
    facts.ConnectionLost: _connection_lost,
}
