"""The parts of a session beside its conversation: prompts, open requests, turns and losses.

All classes are immutable; the fields of a `Snapshot` hold their objects.
"""

from __future__ import annotations

from typing import Any, Literal

import attrs
from msgspec import Struct
from msgspec.structs import replace

from . import wire
from ._decode import form_schema
from ._lifecycles import TURNS, ElicitationStatus, TurnPhase, TurnStep
from ._value import Value

PromptStatus = Literal["pending", "accepted", "rejected", "withdrawn", "uncertain"]

SessionState = wire.StateUpdate | wire.UnknownStateUpdate


@attrs.frozen(repr=False, weakref_slot=False)
class Prompt(Value):
    """A message that the client submitted, from sending to echo.

    `echoed` is true once a user message with `message_id` exists. The content is kept until then,
    and until the end of a replay in progress. `error` is the reason why a prompt was rejected or
    withdrawn, or is uncertain, if known. Protocol: prompt lifecycle.
    """

    request_id: wire.RequestId
    content: tuple[wire.ContentBlock, ...] = ()
    status: PromptStatus = "pending"
    message_id: str | None = None
    echoed: bool = False
    error: wire.Error | None = None


@attrs.frozen(repr=False, weakref_slot=False)
class Permission(Value):
    """A permission request of the agent that waits for an answer."""

    request_id: wire.RequestId
    title: str
    options: tuple[wire.PermissionOption, ...]
    description: str | None = None
    subject: wire.RequestPermissionSubject | None = None


@attrs.frozen(repr=False, weakref_slot=False)
class Elicitation(Value):
    """An elicitation of the agent: a form to fill in, or a URL to visit.

    `mode` is `form` (with `requested_schema`, exactly as it came), `url` (with `url` and
    `elicitation_id`), or an unknown one (with all of its parameters in `raw`). It may belong to a
    tool call of its session; an elicitation of the connection belongs to `related_request`, a
    request of the client.

    An accepted URL stays, `accepted` and without `request_id`, until the agent reports its
    completion. A `completed` one was completed before it was answered. Protocol: Elicitation.
    """

    request_id: wire.RequestId | None
    mode: str
    message: str
    tool_call_id: str | None = None
    related_request: wire.RequestId | None = None
    requested_schema: wire.JsonObject | None = None
    url: str | None = None
    elicitation_id: str | None = None
    raw: wire.JsonObject | None = None
    status: ElicitationStatus = "pending"

    @classmethod
    def asked(
        cls, request_id: wire.RequestId, request: wire.CreateElicitationRequest
    ) -> Elicitation:
        """Make an elicitation from the agent's request."""
        if isinstance(request, wire.ElicitationUnknownMode):
            raw = {key: item for key, item in request.value.items() if key != "sessionId"}
            return cls(
                request_id,
                raw["mode"],
                request.message,
                related_request=request.request_id,
                raw=wire.JsonObject(raw),
            )
        shared = (request.message, request.tool_call_id, request.request_id)
        if isinstance(request, wire.ElicitationFormMode):
            schema = wire.JsonObject(request.requested_schema.value)
            return cls(request_id, "form", *shared, schema)
        return cls(request_id, "url", *shared, None, request.url, request.elicitation_id)

    @property
    def schema(self) -> wire.ElicitationSchema | None:
        """The schema of a form without its malformed optional parts; `None` for other modes."""
        if self.requested_schema is None:
            return None
        schema = wire.RequestedSchema(self.requested_schema.value)
        form = wire.ElicitationFormMode(message="", session_id="", requested_schema=schema)
        return form_schema(form)


@attrs.frozen(repr=False, weakref_slot=False)
class Turn(Value):
    """One stretch of foreground work: the entries from `start` up to `stop`.

    `stop` is `None` while the turn goes on. `outcome` has the stop reason, usage and error of the
    idle state that ended it, if there were any. `cost_before` is the session's cost at its start.
    """

    start: int
    stop: int | None = None
    outcome: SessionState | None = None
    cost_before: wire.Cost | None = None

    @property
    def stop_reason(self) -> str | None:
        """The reason why the work stopped, if the agent reported one."""
        return None if self.outcome is None else self.outcome.stop_reason

    @property
    def usage(self) -> wire.Usage | None:
        """The tokens that the turn used, if the agent reported them."""
        return None if self.outcome is None else self.outcome.usage

    @property
    def error(self) -> wire.Error | None:
        """The error that stopped the work, if any."""
        return None if self.outcome is None else self.outcome.error


def step_turns(turns: list[Turn], step: TurnStep, count: int, **details: Any) -> None:
    """Begin or end a turn after `count` entries; `details` are the other fields of the turn."""
    before: TurnPhase = "open" if turns and turns[-1].stop is None else "none"
    after = TURNS.get((before, step), before)
    if (before, after) == ("none", "open"):
        turns.append(Turn(count, **details))
    elif (before, after) == ("open", "none"):
        turns[-1] = attrs.evolve(turns[-1], stop=count, **details)


@attrs.frozen(repr=False, weakref_slot=False)
class ConnectionLoss(Value):
    """A loss of the connection; `error` is the reason, if known."""

    error: wire.Error | None = None


class WantedOption(Struct, frozen=True, gc=False):
    """The value of an option that the client asked for, until the agent answers."""

    request_id: wire.RequestId
    config_id: str
    value: wire.Json


def is_idle(state: SessionState | None) -> bool:
    """Return whether no foreground work goes on: the state is idle, or none was reported."""
    return state is None or state.name == "idle"


def outcome_of(state: SessionState) -> SessionState | None:
    """Return the stop reason, usage and error with which an idle state ends a turn."""
    if isinstance(state, wire.StateUpdate):
        kept = wire.StateUpdate(
            "idle", stop_reason=state.stop_reason, error=state.error, usage=state.usage
        )
        return None if kept == wire.StateUpdate("idle") else kept
    value = state.value
    found = {key: value[key] for key in ("stopReason", "usage", "error") if key in value}
    return wire.UnknownStateUpdate({"state": "idle", **found}) if found else None


def with_wanted(
    options: tuple[wire.SessionConfigOption, ...], wanted: tuple[WantedOption, ...]
) -> tuple[wire.SessionConfigOption, ...]:
    """Return the options with the wanted values in place of the confirmed ones."""
    values = {one.config_id: one.value for one in wanted}
    return tuple(_with_value(option, values) for option in options) if values else options


def _with_value(
    option: wire.SessionConfigOption, values: dict[str, wire.Json]
) -> wire.SessionConfigOption:
    if isinstance(option, wire.Unknown):
        config_id = option.value.get("configId")
        if not isinstance(config_id, str) or config_id not in values:
            return option
        return wire.Unknown({**option.value, "currentValue": values[config_id].value})
    given = values.get(option.config_id)
    value: Any = None if given is None else given.value
    if type(value) is not type(option.current_value):
        return option
    return replace(option, current_value=value)
