"""The effect of each client-side fact on a snapshot: one function per event, in one table.

These events are rare and may concern the whole session, so their functions take a finished snapshot
and return the next one, or the same object if nothing changes. Transitions are those of the tables
in `_lifecycles` and `_prompts`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import attrs
from msgspec import UNSET
from msgspec.structs import replace

from . import _events as facts
from . import wire
from ._client_state import (
    ConnectionLoss,
    Elicitation,
    Prompt,
    Turn,
    WantedOption,
    is_idle,
    step_turns,
)
from ._lifecycles import (
    ELICITATIONS,
    FOREGROUND,
    REPLAYS,
    ElicitationStep,
    Foreground,
    ForegroundStep,
    ReplayStep,
)
from ._prompts import Answer, answered, is_same_id, lost, restored, settled
from ._session_draft import changed
from ._snapshot import Snapshot, ToolCall, background_tool_calls

REQUEST_CANCELLED: Final = -32800


def _with(snapshot: Snapshot, **changes: Any) -> Snapshot:
    fields = changed(snapshot._fields, changes)
    return snapshot if fields is snapshot._fields else replace(snapshot, _fields=fields)


# --- Prompts ---


def _prompt_sent(snapshot: Snapshot, event: facts.PromptSent) -> Snapshot:
    prompt = Prompt(event.request_id, event.content, message_id=event.message_id)
    return _with(snapshot, prompts=(*snapshot.prompts, prompt))


def _answer_prompt(snapshot: Snapshot, event: Any, answer: Answer, **details: Any) -> Snapshot:
    prompts = answered(
        snapshot.prompts,
        event.request_id,
        answer,
        is_echoed=_has_user_message(snapshot),
        replaying=snapshot.replaying,
        **details,
    )
    return _with(snapshot, prompts=prompts)


def _has_user_message(snapshot: Snapshot) -> Callable[[str], bool]:
    return lambda message_id: snapshot.entries.message("user_message", message_id) is not None


def _prompt_accepted(snapshot: Snapshot, event: facts.PromptAccepted) -> Snapshot:
    return _answer_prompt(snapshot, event, "result", message_id=event.message_id)


def _prompt_rejected(snapshot: Snapshot, event: facts.PromptRejected) -> Snapshot:
    answer: Answer = "cancelled" if event.error.code == REQUEST_CANCELLED else "error"
    return _answer_prompt(snapshot, event, answer, error=event.error)


def _prompt_uncertain(snapshot: Snapshot, event: facts.PromptUncertain) -> Snapshot:
    return _answer_prompt(snapshot, event, "malformed", error=event.error)


# --- Cancels ---


def foreground(snapshot: Snapshot) -> Foreground:
    """Return the phase of the foreground work."""
    if snapshot.is_idle:
        return "idle"
    return "cancelling" if snapshot.cancelling else "working"


def _step_foreground(snapshot: Snapshot, step: ForegroundStep) -> Snapshot:
    before = foreground(snapshot)
    return _with(snapshot, cancelling=FOREGROUND.get((before, step), before) == "cancelling")


def _cancel_sent(snapshot: Snapshot, event: facts.CancelSent) -> Snapshot:
    """Mark the unfinished tool calls of the foreground work, and close the permissions."""
    marked = {
        place: replace(call, cancel_marked=True, cancel_requested=False)
        for place, call in _cancellable(snapshot)
    }
    if marked:
        snapshot = replace(snapshot, entries=snapshot.entries._changed(marked))
    return _with(_step_foreground(snapshot, "cancel"), permissions=())


def _cancellable(snapshot: Snapshot) -> list[tuple[int, ToolCall]]:
    state = snapshot._fields.state
    if state is not None and is_idle(state):
        return []
    start, background = snapshot._fields.foreground_start, background_tool_calls(state)
    places = ((place, snapshot.entries[place]) for place in range(start, len(snapshot.entries)))
    calls = ((place, entry) for place, entry in places if isinstance(entry, ToolCall))
    return [
        (place, call)
        for place, call in calls
        if not call.is_finished and call.tool_call_id not in background
    ]


def _tool_call_cancel_sent(snapshot: Snapshot, event: facts.ToolCallCancelSent) -> Snapshot:
    call = snapshot.entries.tool_call(event.tool_call_id)
    is_open = call is not None and not call.is_finished
    return _request_cancel_of_call(snapshot, event.tool_call_id, True) if is_open else snapshot


def _tool_call_cancel_refused(snapshot: Snapshot, event: facts.ToolCallCancelRefused) -> Snapshot:
    return _request_cancel_of_call(snapshot, event.tool_call_id, False)


def _request_cancel_of_call(snapshot: Snapshot, call_id: str, requested: bool) -> Snapshot:
    place = snapshot.entries._place(("tool_call", call_id))
    call: Any = snapshot.entries._at(place) if place >= 0 else None
    if call is None or call.cancel_requested is requested:
        return snapshot
    after = replace(call, cancel_requested=requested)
    return replace(snapshot, entries=snapshot.entries._changed({place: after}))


def _terminal_cancel_sent(snapshot: Snapshot, event: facts.TerminalCancelSent) -> Snapshot:
    terminal = snapshot.terminals.get(event.terminal_id)
    is_open = terminal is not None and terminal.exit_status is None
    return _request_cancel_of_terminal(snapshot, event.terminal_id, True) if is_open else snapshot


def _terminal_cancel_refused(snapshot: Snapshot, event: facts.TerminalCancelRefused) -> Snapshot:
    return _request_cancel_of_terminal(snapshot, event.terminal_id, False)


def _request_cancel_of_terminal(snapshot: Snapshot, terminal_id: str, requested: bool) -> Snapshot:
    place = snapshot.terminals._place(terminal_id)
    terminal = snapshot.terminals._at(place) if place >= 0 else None
    if terminal is None or terminal.cancel_requested is requested:
        return snapshot
    after = replace(terminal, cancel_requested=requested)
    return replace(snapshot, terminals=snapshot.terminals._changed({place: after}))


# --- Elicitations ---


def elicitation_asked(
    elicitations: tuple[Elicitation, ...], event: facts.ElicitationAsked
) -> tuple[Elicitation, ...]:
    """Add an elicitation; it replaces a pending one with the same id in its place."""
    asked = Elicitation.asked(event.request_id, event.request)
    wanted = event.request_id
    places = [place for place, one in enumerate(elicitations) if is_same_id(one.request_id, wanted)]
    if not places:
        return (*elicitations, asked)
    return tuple(asked if place in places else one for place, one in enumerate(elicitations))


def step_elicitations(
    elicitations: tuple[Elicitation, ...],
    step: ElicitationStep,
    concerns: Callable[[Elicitation], bool],
) -> tuple[Elicitation, ...]:
    """Apply a step to the elicitations that it concerns; leave out those that it removes."""
    kept: list[Elicitation] = []
    for one in elicitations:
        after: Elicitation | None = one
        if concerns(one) and (one.status, step) in ELICITATIONS:
            after = _moved(one, step)
        if after is not None:
            kept.append(after)
    return elicitations if kept == list(elicitations) else tuple(kept)


def _moved(one: Elicitation, step: ElicitationStep) -> Elicitation | None:
    status = ELICITATIONS[one.status, step]
    if status is None:
        return None
    request_id = None if status == "accepted" else one.request_id
    return attrs.evolve(one, status=status, request_id=request_id)


def elicitation_answered(
    elicitations: tuple[Elicitation, ...], event: facts.ElicitationAnswered
) -> tuple[Elicitation, ...]:
    """Follow an answer: an accepted URL stays, any other elicitation is removed."""
    wanted = event.request_id
    accepts = event.action == "accept"
    found = next((one for one in elicitations if is_same_id(one.request_id, wanted)), None)
    is_url = found is not None and found.mode == "url"
    step: ElicitationStep = "accept a URL" if accepts and is_url else "answer"
    return step_elicitations(elicitations, step, lambda one: is_same_id(one.request_id, wanted))


def elicitation_closed(
    elicitations: tuple[Elicitation, ...], event: facts.ElicitationClosed
) -> tuple[Elicitation, ...]:
    """Follow a withdrawal."""
    wanted = event.request_id
    return step_elicitations(
        elicitations, "withdraw", lambda one: is_same_id(one.request_id, wanted)
    )


def elicitation_completed(
    elicitations: tuple[Elicitation, ...], event: facts.ElicitationCompleted
) -> tuple[Elicitation, ...]:
    """Follow the end of an interaction at a URL."""
    wanted = event.elicitation_id
    return step_elicitations(elicitations, "complete", lambda one: one.elicitation_id == wanted)


ON_ELICITATIONS: Final[dict[type, Callable[[tuple[Elicitation, ...], Any], Any]]] = {
    facts.ElicitationAsked: elicitation_asked,
    facts.ElicitationAnswered: elicitation_answered,
    facts.ElicitationClosed: elicitation_closed,
    facts.ElicitationCompleted: elicitation_completed,
}
"""The effect of an event on the elicitations of a session, or on those of the connection."""


def _elicitations_changed(snapshot: Snapshot, event: Any) -> Snapshot:
    after = ON_ELICITATIONS[type(event)](snapshot.elicitations, event)
    return _with(snapshot, elicitations=after)


def _session_closed(snapshot: Snapshot, event: facts.SessionClosed) -> Snapshot:
    after = step_elicitations(snapshot.elicitations, "close", lambda one: True)
    return _with(snapshot, permissions=(), elicitations=after)


# --- Sessions, options ---


def _session_opened(snapshot: Snapshot, event: facts.SessionOpened) -> Snapshot:
    """Set the initial lists, except those that an update has already reported."""
    changes: dict[str, Any] = {"connection_lost": None}
    if event.available_commands is not UNSET and not snapshot._fields.commands_reported:
        changes["available_commands"] = event.available_commands
    if event.config_options is not UNSET and not snapshot._fields.options_reported:
        changes["config_options"] = event.config_options
    return _with(snapshot, **changes)


def _resume_sent(snapshot: Snapshot, event: facts.ResumeSent) -> Snapshot:
    return snapshot  # the session exists from now on


def _config_options_set(snapshot: Snapshot, event: facts.ConfigOptionsSet) -> Snapshot:
    return _with(snapshot, config_options=event.config_options)


def _option_wanted(snapshot: Snapshot, event: facts.OptionWanted) -> Snapshot:
    wanted = WantedOption(event.request_id, event.config_id, event.value)
    return _with(snapshot, wanted=(*_other_wanted(snapshot, event.request_id), wanted))


def _option_answered(snapshot: Snapshot, event: facts.OptionAnswered) -> Snapshot:
    return _with(snapshot, wanted=_other_wanted(snapshot, event.request_id))


def _other_wanted(snapshot: Snapshot, request_id: wire.RequestId) -> tuple[WantedOption, ...]:
    wanted = snapshot._fields.wanted
    return tuple(one for one in wanted if not is_same_id(one.request_id, request_id))


# --- Replays and losses ---


def _replay_begun(snapshot: Snapshot, event: facts.ReplayBegun) -> Snapshot:
    return _step_replay(snapshot, "begin")


def _replay_ended(snapshot: Snapshot, event: facts.ReplayEnded) -> Snapshot:
    return _step_replay(snapshot, "result")


def _replay_failed(snapshot: Snapshot, event: facts.ReplayFailed) -> Snapshot:
    return _step_replay(snapshot, "error")


def _step_replay(snapshot: Snapshot, step: ReplayStep) -> Snapshot:
    transition = REPLAYS.get(("replaying" if snapshot.replaying else "none", step))
    return snapshot if transition is None else _REPLAY_ACTIONS[transition[1]](snapshot)


def _started(snapshot: Snapshot, before: Snapshot | None) -> Snapshot:
    """Return an empty session that keeps the one from before and the client's open requests."""
    begun = _with(Snapshot(snapshot.session_id), before_replay=before, **_client_state(snapshot))
    return snapshot if begun == snapshot else begun


def _client_state(snapshot: Snapshot) -> dict[str, Any]:
    fields = snapshot._fields
    names = ("prompts", "permissions", "elicitations", "wanted")
    return {name: getattr(fields, name) for name in names}


def _set_aside(snapshot: Snapshot) -> Snapshot:
    return _started(snapshot, _with(snapshot, connection_lost=None))


def _start_again(snapshot: Snapshot) -> Snapshot:
    return _started(snapshot, snapshot.before_replay)


def _keep_new(snapshot: Snapshot) -> Snapshot:
    return _with(snapshot, before_replay=None, prompts=settled(snapshot.prompts))


def _restore_old(snapshot: Snapshot) -> Snapshot:
    """Return the session from before, with the client's present requests."""
    before: Any = snapshot.before_replay
    state = _client_state(snapshot)
    state["prompts"] = restored(snapshot.prompts, before.prompts, _has_user_message(before))
    return _with(before, **state)


_REPLAY_ACTIONS: Final[dict[str, Callable[[Snapshot], Snapshot]]] = {
    "set aside": _set_aside,
    "start again": _start_again,
    "keep new": _keep_new,
    "restore old": _restore_old,
}


def _connection_lost(snapshot: Snapshot, event: facts.ConnectionLost) -> Snapshot:
    snapshot = _step_foreground(_step_replay(snapshot, "loss"), "loss")
    return _with(
        snapshot,
        prompts=lost(snapshot.prompts, event.error),
        permissions=(),
        elicitations=step_elicitations(snapshot.elicitations, "loss", lambda one: True),
        wanted=(),
        turns=_turns_after_loss(snapshot),
        connection_lost=ConnectionLoss(event.error),
    )


def _turns_after_loss(snapshot: Snapshot) -> tuple[Turn, ...]:
    turns = list(snapshot.turns)
    step_turns(turns, "loss", len(snapshot.entries))
    return tuple(turns)


ON_SNAPSHOT: Final[dict[type, Callable[[Snapshot, Any], Snapshot]]] = {
    facts.PromptSent: _prompt_sent,
    facts.PromptAccepted: _prompt_accepted,
    facts.PromptRejected: _prompt_rejected,
    facts.PromptUncertain: _prompt_uncertain,
    facts.CancelSent: _cancel_sent,
    facts.ToolCallCancelSent: _tool_call_cancel_sent,
    facts.ToolCallCancelRefused: _tool_call_cancel_refused,
    facts.TerminalCancelSent: _terminal_cancel_sent,
    facts.TerminalCancelRefused: _terminal_cancel_refused,
    facts.ElicitationAsked: _elicitations_changed,
    facts.ElicitationAnswered: _elicitations_changed,
    facts.ElicitationClosed: _elicitations_changed,
    facts.ElicitationCompleted: _elicitations_changed,
    facts.ResumeSent: _resume_sent,
    facts.SessionOpened: _session_opened,
    facts.SessionClosed: _session_closed,
    facts.ConfigOptionsSet: _config_options_set,
    facts.OptionWanted: _option_wanted,
    facts.OptionAnswered: _option_answered,
    facts.ReplayBegun: _replay_begun,
    facts.ReplayEnded: _replay_ended,
    facts.ReplayFailed: _replay_failed,
    facts.ConnectionLost: _connection_lost,
}
