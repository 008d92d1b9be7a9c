"""Rules for what an agent does with prompts: acceptance, echo, states, stop reasons, cancelling."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from .conversation import FINAL, Books, Said, background_items
from .leaves import at, text_at
from .rule import V1, V2, Rule, Violations, is_custom

_STOP_REASONS: Final = frozenset(
    {"end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"}
)
_STATES: Final = frozenset({"running", "idle", "requires_action"})
_STATE: Final = ".params.update.state"
_REASON: Final = ".params.update.stopReason"


def accepted_without_id(said: Said, books: Books) -> Violations:
    """Find an accepted prompt whose message has no id."""
    if said.succeeded and not isinstance(at(said.result, "messageId"), str):
        yield ".result.messageId", "is not the id of the inserted message"


def id_of_another_prompt(said: Said, books: Books) -> Violations:
    """Find two prompts that were inserted as one message."""
    message_id = at(said.result, "messageId")
    if isinstance(message_id, str) and message_id in books.session(said.session_id).message_ids:
        yield ".result.messageId", f"{message_id!r} was the id of another prompt"


def answered_after_the_work(said: Said, books: Books) -> Violations:
    """Find a prompt that was answered only when the work for it had ended."""
    page = books.session(said.session_id)
    echoed = page.echoes.get(repr(at(said.result, "messageId")))
    line = page.ended_since.get(said.key)
    if line is not None and echoed is not None and echoed < line:
        yield ".result", f"comes after the message was reported and the work ended (line {line})"


def not_echoed(books: Books) -> Iterator[tuple[int, str, str]]:
    """Find inserted messages that were never reported, though the session went idle since."""
    for page in books.sessions.values():
        for message_id, line in page.message_ids.items():
            if repr(message_id) not in page.echoes and page.is_idle and page.stop_reason:
                yield line, "$.result.messageId", f"the message {message_id!r} was never reported"


def without_running(said: Said, books: Books) -> Violations:
    """Find work for a prompt that ends without having begun."""
    page, update = books.session(said.session_id), said.update
    ended = update.get("state") == "idle" and isinstance(update.get("stopReason"), str)
    worked = page.prompted and page.worked and not page.open_prompts
    if ended and worked and page.state in (None, "idle"):
        yield _STATE, "ends foreground work of which running was not reported"


def idle_without_reason(said: Said, books: Books) -> Violations:
    """Find work that was seen, and ends without a stop reason."""
    page, update = books.session(said.session_id), said.update
    worked = page.state not in (None, "idle") and page.worked
    if update.get("state") == "idle" and worked and update.get("stopReason") is None:
        yield _STATE, "ends foreground work without a stopReason"


def unknown_reason(said: Said, books: Books) -> Violations:
    """Find a stop reason that is reserved for the protocol."""
    reason = said.update.get("stopReason")
    known = reason is None or reason in ("error", *_STOP_REASONS)
    if said.update.get("state") == "idle" and not known and not is_custom(reason):
        yield _REASON, f"{reason!r} is reserved: custom reasons begin with _"


def error_without_details(said: Said, books: Books) -> Violations:
    """Find a failure that is not described."""
    if said.update.get("stopReason") == "error" and not isinstance(
        at(said.update, "error", "message"), str
    ):
        yield ".params.update.error", "is missing beside the stop reason error"


def unknown_state(said: Said, books: Books) -> Violations:
    """Find a state that is reserved for the protocol."""
    state = said.update.get("state")
    if isinstance(state, str) and state not in _STATES and not is_custom(state):
        yield _STATE, f"{state!r} is reserved: custom states begin with _"


def cancelled_otherwise(said: Said, books: Books) -> Violations:
    """Find work that was cancelled, and ends for another reason.

    It may have ended by itself while the cancel was on its way.
    """
    page, update = books.session(said.session_id), said.update
    reason = update.get("stopReason")
    if update.get("state") == "idle" and page.cancel_line is not None and reason != "cancelled":
        yield _REASON, f"is {reason!r}, though the work was cancelled in line {page.cancel_line}"


def after_cancelled(said: Said, books: Books) -> Violations:
    """Find an update of a cancelled tool call behind the idle state that confirmed the cancel."""
    page, call_id = books.session(said.session_id), text_at(said.update, "toolCallId")
    if ("tool_call", call_id) in (page.background or {}) or call_id not in page.cancelled_calls:
        return
    if page.is_idle and page.stop_reason == "cancelled":
        yield ".params.update", "comes after the idle state that confirmed the cancel"


def not_blocked(said: Said, books: Books) -> Violations:
    """Find work that goes on as running while the user is asked."""
    page = books.session(said.session_id)
    is_asked = page.asked and books.heard_client
    if is_asked and page.state == "running" and said.update.get("state") == "idle":
        yield _STATE, "the user is still asked, and requires_action was not reported"


def background_unannounced(said: Said, books: Books) -> Violations:
    """Find background work that the client cannot know."""
    page = books.session(said.session_id)
    for kind, found in background_items(said.update.get("background")):
        known = page.calls if kind == "tool_call" else page.terminals
        if found not in known and books.complete:
            yield ".params.update.background", f"the {kind} {found!r} was not reported before"


def background_gone(said: Said, books: Books) -> Violations:
    """Find background work that is listed no more, and never ended."""
    page, listed = books.session(said.session_id), said.update.get("background")
    if not isinstance(listed, list) or page.background is None:
        return
    here = set(background_items(listed))
    for kind, found in page.background:
        entity = (page.calls if kind == "tool_call" else page.terminals).get(found)
        ended = entity is None or entity.status in (*FINAL, "exited")
        if (kind, found) not in here and not ended:
            yield ".params.update.background", f"the {kind} {found!r} is gone, and has not ended"


def background_left_out(said: Said, books: Books) -> Violations:
    """Find a state without background work of an agent that reports it."""
    known = books.session(said.session_id).background
    if known is not None and said.update.get("background") is None:
        yield ".params.update.background", "is missing, though earlier states had it"


def background_twice(said: Said, books: Books) -> Violations:
    """Find background work that is listed twice."""
    items = list(background_items(said.update.get("background")))
    for item in sorted({item for item in items if items.count(item) > 1}):
        yield ".params.update.background", f"the {item[0]} {item[1]!r} is listed twice"


# --- Version 1 ---


def stop_reason_v1(said: Said, books: Books) -> Violations:
    """Find an answered prompt without one of the five reasons."""
    reason = at(said.result, "stopReason")
    if said.succeeded and reason not in tuple(_STOP_REASONS):
        yield ".result.stopReason", f"{reason!r} is not a reason to stop"


def cancelled_as_error(said: Said, books: Books) -> Violations:
    """Find a cancelled turn that is answered with an error."""
    page = books.session(said.session_id)
    if page.cancel_line is not None and "error" in said.message:
        yield ".error", f"the turn was cancelled in line {page.cancel_line}: that is no error"


def cancelled_otherwise_v1(said: Said, books: Books) -> Violations:
    """Find a cancelled turn that ends for another reason, unless it did while the cancel came."""
    page, reason = books.session(said.session_id), at(said.result, "stopReason")
    asked = said.request
    if page.cancel_line is None or asked is None or asked.line > page.cancel_line:
        return
    if said.succeeded and reason != "cancelled":
        yield ".result.stopReason", f"is {reason!r}, though line {page.cancel_line} cancelled it"


_LIFE: Final = "Prompt Lifecycle"


def _states(name: str, severity: Any, title: str, section: str, find: Any) -> Rule:
    return Rule(f"agent/{name}", severity, V2, "update state_update", title, section, find)


RULES: Final = (
    Rule(
        "agent/message-id-missing",
        "error",
        V2,
        "response session/prompt",
        "An accepted prompt has the id of its message",
        f"{_LIFE}, 2. Prompt Accepted",
        accepted_without_id,
    ),
    Rule(
        "agent/message-id-reused",
        "error",
        V2,
        "response session/prompt",
        "Distinct prompts are distinct messages",
        f"{_LIFE}, 2. Prompt Accepted",
        id_of_another_prompt,
    ),
    Rule(
        "agent/answered-after-the-work",
        "error",
        V2,
        "response session/prompt",
        "A prompt is answered without waiting for the work to finish",
        f"{_LIFE}, 2. Prompt Accepted",
        answered_after_the_work,
    ),
    Rule(
        "agent/not-echoed",
        "error",
        V2,
        "end",
        "An inserted message is reported",
        f"{_LIFE}, 2. Prompt Accepted",
        not_echoed,
    ),
    _states(
        "without-running",
        "error",
        "Foreground work that starts is reported as running",
        f"{_LIFE}, 3. Agent Reports Output",
        without_running,
    ),
    _states(
        "idle-without-reason",
        "warning",
        "The end of foreground work has a stop reason",
        f"{_LIFE}, 4. Report Completion; schema IdleStateUpdate",
        idle_without_reason,
    ),
    _states(
        "unknown-stop-reason",
        "error",
        "Custom stop reasons begin with an underscore",
        f"{_LIFE}, Stop Reasons",
        unknown_reason,
    ),
    _states(
        "error-without-details",
        "warning",
        "The stop reason error has an error",
        "schema ErrorStopReason.error",
        error_without_details,
    ),
    _states(
        "unknown-state",
        "error",
        "Custom states begin with an underscore",
        "Extensibility, Enum and Tagged Union Variants",
        unknown_state,
    ),
    _states(
        "cancelled-otherwise",
        "warning",
        "Cancelled work ends as cancelled",
        f"{_LIFE}, Cancellation",
        cancelled_otherwise,
    ),
    _states(
        "requires-action",
        "warning",
        "Work that is blocked on the user is reported as such",
        f"{_LIFE}, 5. Tool Invocation and Status Reporting",
        not_blocked,
    ),
    _states(
        "background-unannounced",
        "error",
        "Background work is reported before it is listed",
        "schema BackgroundWork",
        background_unannounced,
    ),
    _states(
        "background-gone",
        "error",
        "Background work ends before it is listed no more",
        "schema BackgroundWork",
        background_gone,
    ),
    _states(
        "background-left-out",
        "error",
        "Each state of an agent that reports background work has it",
        "schema RunningStateUpdate.background",
        background_left_out,
    ),
    _states(
        "background-twice",
        "error",
        "Each piece of background work is listed once",
        "schema BackgroundWork",
        background_twice,
    ),
    *(
        Rule(
            "agent/after-cancelled",
            "error",
            V2,
            f"update {variant}",
            "Updates of cancelled work come before the idle state that confirms it",
            f"{_LIFE}, Cancellation",
            after_cancelled,
        )
        for variant in ("tool_call_update", "tool_call_content_chunk")
    ),
    Rule(
        "agent/stop-reason",
        "error",
        V1,
        "response session/prompt",
        "The answer to a prompt has a reason to stop",
        "schema PromptResponse.stopReason",
        stop_reason_v1,
    ),
    Rule(
        "agent/cancelled-as-error",
        "error",
        V1,
        "response session/prompt",
        "A cancelled turn is answered with the reason cancelled, not with an error",
        "Prompt Turn, Cancellation",
        cancelled_as_error,
    ),
    Rule(
        "agent/cancelled-otherwise",
        "warning",
        V1,
        "response session/prompt",
        "A cancelled turn ends as cancelled",
        "Prompt Turn, Cancellation",
        cancelled_otherwise_v1,
    ),
)
