"""One session as an immutable value: `Snapshot` and the frozen classes inside it.

A snapshot never changes. The next one shares the unchanged parts, so they can be compared with
`is`: `new.entries[3] is old.entries[3]` means that the fourth entry is unchanged.

Entries are the conversation in order: `Message` (of the user, of the agent, or a thought),
`ToolCall`, `Compaction`, `UnknownEntry`. Terminals and plans stand beside it in the order of their
first appearance. Prompts and permissions are the open requests of the client and the agent.

The snapshot keeps what a batch of chunks touches (entries, terminals) in fields of its own and the
rest in one object behind properties: one snapshot is built for each batch, and building an object
costs by the field. Entries, terminals and the snapshot itself are frozen Structs for the same
reason; entries and terminals are without a garbage collector header, too, as a session has many
(benchmark "one apply per update").
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Any, ClassVar, Final, Literal, TypeAlias, get_args

import attrs
from msgspec import Struct, field

from . import wire
from ._client_state import (
    ConnectionLoss,
    Elicitation,
    Permission,
    Prompt,
    SessionState,
    Turn,
    WantedOption,
    is_idle,
    with_wanted,
)
from ._content import ContentBlocks, ToolCallContents
from ._errors import InvalidValueError, checked
from ._keyed import Keyed
from ._terminal_output import OutputBytes, bytes_left_out
from ._value import Value, short_repr

MessageType = Literal["user_message", "agent_message", "agent_thought"]

FINISHED: Final = frozenset({"completed", "failed", "cancelled"})
"""The statuses of a tool call that has ended."""

CANCELLED: Final = "cancelled"


def _no_blocks() -> ContentBlocks:
    return ContentBlocks._made([])


def _no_items() -> ToolCallContents:
    return ToolCallContents._made([])


def _no_output() -> OutputBytes:
    return OutputBytes._made([])


class Message(Struct, frozen=True, gc=False):
    """A message of the user or the agent, or a thought.

    `type` says which. Ids are unique per type.
    """

    __repr__ = short_repr
    __hash__ = None  # type: ignore[assignment]  # the content has none

    type: MessageType
    message_id: str
    content: ContentBlocks = field(default_factory=_no_blocks)
    meta: wire.JsonObject | None = None

    @property
    def text(self) -> str:
        """The text blocks of the content joined, exactly as they came."""
        return self.content.text


class ToolCall(Struct, frozen=True, gc=False):
    """A tool call; `status` is the status to show.

    `reported_status` is the status that the agent reported. After a cancel the client's own mark
    covers it (`cancel_marked`) until the agent reports a status again. `cancel_requested` is true
    if the client asked to cancel this call alone, until its status is final.
    """

    __repr__ = short_repr
    __hash__ = None  # type: ignore[assignment]  # the content has none

    tool_call_id: str
    name: str | None = None
    title: str | None = None
    kind: str = "other"
    reported_status: str = "pending"
    cancel_marked: bool = False
    cancel_requested: bool = False
    content: ToolCallContents = field(default_factory=_no_items)
    locations: tuple[wire.ToolCallLocation, ...] = ()
    raw_input: wire.Json | None = None
    raw_output: wire.Json | None = None
    capabilities: wire.ToolCallCapabilities | None = None
    meta: wire.JsonObject | None = None

    type: ClassVar[Literal["tool_call"]] = "tool_call"

    @property
    def status(self) -> str:
        """The effective status: the agent's, or `cancelled` while the client's mark covers it."""
        return CANCELLED if self.cancel_marked else self.reported_status

    @property
    def terminal_ids(self) -> tuple[str, ...]:
        """The ids of the terminals that the content shows, in order."""
        return tuple(item.terminal_id for item in self.content if isinstance(item, wire.Terminal))

    @property
    def is_finished(self) -> bool:
        """Whether the effective status is `completed`, `failed` or `cancelled`."""
        return self.status in FINISHED

    @property
    def text(self) -> str:
        """The text blocks of the content joined."""
        return self.content.text


class Compaction(Struct, frozen=True, gc=False):
    """A compaction of the agent's context."""

    __repr__ = short_repr
    __hash__ = None  # type: ignore[assignment]  # the content has none

    compaction_id: str
    status: str = "in_progress"
    summary: ContentBlocks = field(default_factory=_no_blocks)
    error: str | None = None
    meta: wire.JsonObject | None = None

    type: ClassVar[Literal["compaction"]] = "compaction"

    @property
    def text(self) -> str:
        """The text blocks of the summary joined."""
        return self.summary.text


class UnknownEntry(Struct, frozen=True, gc=False):
    """A session update of an unknown variant, exactly as it came, in its place."""

    __repr__ = short_repr

    update: wire.Unknown

    type: ClassVar[Literal["unknown"]] = "unknown"


Entry: TypeAlias = Message | ToolCall | Compaction | UnknownEntry


class Entries(Keyed[Entry]):
    """The conversation in order: an immutable sequence whose entries keep their place."""

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> Entries:
        """Make a conversation. Raises `InvalidValueError` for other items, or a repeated id."""
        given = _checked(entries, get_args(Entry), "an entry")
        return cls._of((entry_key(entry, place), entry) for place, entry in enumerate(given))

    def get(self, key: Hashable) -> Entry | None:
        """Return the entry of a key, as changes name it, or `None`.

        Raises `InvalidValueError` for an id alone: ids are unique per kind of entry only, so
        `message`, `tool_call` and `compaction` look them up.
        """
        if isinstance(key, str):
            raise InvalidValueError(
                f"{key!r:.100} is an id; look it up by message(type, id), tool_call(id) or"
                " compaction(id)"
            )
        return Keyed.get(self, key)

    def message(self, type: MessageType, message_id: str) -> Message | None:  # noqa: A002  # the protocol's word
        """Return the message of a type and id, or `None`."""
        found = self.get((type, message_id))
        return found if isinstance(found, Message) else None

    def tool_call(self, tool_call_id: str) -> ToolCall | None:
        """Return the tool call with an id, or `None`."""
        found = self.get(("tool_call", tool_call_id))
        return found if isinstance(found, ToolCall) else None

    def compaction(self, compaction_id: str) -> Compaction | None:
        """Return the compaction with an id, or `None`."""
        found = self.get(("compaction", compaction_id))
        return found if isinstance(found, Compaction) else None


class Terminal(Struct, frozen=True, gc=False):
    """A terminal that the agent owns. A concrete `exit_status` means that it has exited.

    `dropped_bytes` counts the output that a limit made the store drop, oldest first.
    `cancel_requested` is true if the client asked to cancel it, until it has exited.
    """

    __repr__ = short_repr
    __hash__ = None  # type: ignore[assignment]  # the content has none

    terminal_id: str
    command: str | None = None
    cwd: str | None = None
    pieces: OutputBytes = field(default_factory=_no_output)
    output_meta: wire.JsonObject | None = None
    exit_status: wire.TerminalExitStatus | None = None
    size: wire.TerminalSize | None = None
    capabilities: wire.TerminalCapabilities | None = None
    meta: wire.JsonObject | None = None
    dropped_bytes: int = 0
    cancel_requested: bool = False

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Terminal) and other.dropped_bytes != self.dropped_bytes:
            return False  # versions of a full terminal, of whose output nothing is compared
        return bool(Struct.__eq__(self, other))

    @property
    def output(self) -> bytes:
        """All bytes of the output, exactly as they came."""
        return self.pieces.data

    def output_from(self, offset: int) -> bytes:
        """Return the bytes of the output from an offset, in bytes, to its end.

        The cost is that of the returned bytes. Raises `InvalidValueError` for an offset that is not
        in the output.
        """
        return self.pieces.data_from(offset)

    @property
    def text(self) -> str:
        """The output as a terminal would show it, as plain text that is safe to print.

        If a limit has dropped bytes, a small part of a large output may be left out at the
        beginning, so that the text usually keeps its beginning and grows at its end.
        """
        return self.pieces._shown(self._left_out)[0]

    @property
    def _left_out(self) -> int:
        return bytes_left_out(self.dropped_bytes, self.pieces.size)


class Terminals(Keyed[Terminal]):
    """The terminals in order of first appearance; `get(terminal_id)` finds one."""

    @classmethod
    def of(cls, terminals: Iterable[Terminal]) -> Terminals:
        """Make terminals. Raises `InvalidValueError` for other items, or a repeated id."""
        given = _checked(terminals, Terminal, "a terminal")
        return cls._of((terminal.terminal_id, terminal) for terminal in given)


_PLANS: Final = (*wire.variants(wire.PlanUpdateContent), wire.Unknown)


class Plans(Keyed["wire.PlanUpdateContent"]):
    """The plans in order of first appearance; `get(plan_id)` finds one."""

    @classmethod
    def of(cls, plans: Iterable[wire.PlanUpdateContent]) -> Plans:
        """Make plans. Raises `InvalidValueError` for other items, or a repeated id."""
        given = _checked(plans, _PLANS, "a plan")
        return cls._of((plan_key(plan), plan) for plan in given)


@attrs.frozen(repr=False, weakref_slot=False)
class Usage(Value):
    """Tokens used of the context window, and the cumulative cost."""

    used: int
    size: int
    cost: wire.Cost | None = None


@attrs.frozen(repr=False, weakref_slot=False)
class SessionInfo(Value):
    """The session's title and the time of its last change (RFC 3339)."""

    title: str | None = None
    updated_at: str | None = None
    meta: wire.JsonObject | None = None


IDLE: Final = wire.StateUpdate("idle")


@attrs.frozen(repr=False, weakref_slot=False)
class SessionFields(Value):
    """All fields of a session except its entries and terminals: the properties of `Snapshot`.

    `state` is `None` until one is reported. `config_options` are the confirmed ones. The last
    fields are internal: `wanted` are the option values that the client asked for,
    `foreground_start` is the place of the first entry that may be foreground work, and
    `commands_reported` and `options_reported` are true once an update of that list came, so that
    results of requests no longer change the list.
    """

    plans: Plans = attrs.field(factory=Plans)
    state: SessionState | None = None
    usage: Usage | None = None
    info: SessionInfo = SessionInfo()
    available_commands: tuple[wire.AvailableCommand, ...] = ()
    config_options: tuple[wire.SessionConfigOption, ...] = ()
    notices: tuple[wire.Notice, ...] = ()
    prompts: tuple[Prompt, ...] = ()
    permissions: tuple[Permission, ...] = ()
    elicitations: tuple[Elicitation, ...] = ()
    turns: tuple[Turn, ...] = ()
    cancelling: bool = False
    connection_lost: ConnectionLoss | None = None
    before_replay: Snapshot | None = None
    wanted: tuple[WantedOption, ...] = ()
    foreground_start: int = 0
    commands_reported: bool = False
    options_reported: bool = False


class Snapshot(Struct, frozen=True, weakref=True):
    """One session at one moment: `Snapshot("sess_1")` is an empty one.

    `entries` and `terminals` are sequences with lookup by id; the rest is behind properties.
    """

    __hash__ = None  # type: ignore[assignment]  # the entries have none

    session_id: str
    entries: Entries = field(default_factory=Entries)
    terminals: Terminals = field(default_factory=Terminals)
    _fields: SessionFields = field(default_factory=SessionFields)

    def __repr__(self) -> str:
        counts = (("entries", self.entries), ("terminals", self.terminals))
        said = [f"{len(many)} {name}" for name, many in counts]
        said += [f"state={self.state.name!r:.40}"] + ["replaying"] * self.replaying
        for name in ("prompts", "permissions", "plans"):
            many: Any = getattr(self, name)
            said += [f"{len(many)} {name}"] if many else []
        return f"Snapshot({_abridged(self.session_id)}, {', '.join(said)})"

    @property
    def unfinished_tool_calls(self) -> tuple[ToolCall, ...]:
        """The tool calls whose effective status is not final, in order."""
        calls = (entry for entry in self.entries if isinstance(entry, ToolCall))
        return tuple(call for call in calls if not call.is_finished)

    def tool_calls_showing(self, terminal_id: str) -> tuple[ToolCall, ...]:
        """Return the tool calls whose content shows a terminal, in order."""
        calls = (entry for entry in self.entries if isinstance(entry, ToolCall))
        return tuple(call for call in calls if terminal_id in call.terminal_ids)

    def terminals_of(self, tool_call_id: str) -> tuple[Terminal, ...]:
        """Return the known terminals that a tool call shows, in order."""
        call = self.entries.tool_call(tool_call_id)
        shown = () if call is None else call.terminal_ids
        found = (self.terminals.get(terminal_id) for terminal_id in shown)
        return tuple(terminal for terminal in found if terminal is not None)

    @property
    def plans(self) -> Plans:
        """The plans in order of first appearance."""
        return self._fields.plans

    @property
    def state(self) -> SessionState:
        """The last reported state of the foreground work; idle until one is reported."""
        state = self._fields.state
        return IDLE if state is None else state

    @property
    def is_idle(self) -> bool:
        """Whether no foreground work goes on: the last state is idle, or none was reported."""
        return is_idle(self._fields.state)

    @property
    def usage(self) -> Usage | None:
        """The tokens and the cost, or `None` until they are reported."""
        return self._fields.usage

    @property
    def info(self) -> SessionInfo:
        """The title, the time of the last change, and `_meta`."""
        return self._fields.info

    @property
    def available_commands(self) -> tuple[wire.AvailableCommand, ...]:
        """The slash commands."""
        return self._fields.available_commands

    @property
    def config_options(self) -> tuple[wire.SessionConfigOption, ...]:
        """The configuration options, with the values that the client asked for."""
        return with_wanted(self._fields.config_options, self._fields.wanted)

    @property
    def notices(self) -> tuple[wire.Notice, ...]:
        """The last notices, oldest first."""
        return self._fields.notices

    @property
    def prompts(self) -> tuple[Prompt, ...]:
        """The prompts that the client submitted, oldest first."""
        return self._fields.prompts

    @property
    def permissions(self) -> tuple[Permission, ...]:
        """The permission requests that wait for an answer, oldest first."""
        return self._fields.permissions

    @property
    def elicitations(self) -> tuple[Elicitation, ...]:
        """The elicitations that wait for an answer, or for the end of an interaction at a URL."""
        return self._fields.elicitations

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The stretches of foreground work, oldest first; the last one may be open."""
        return self._fields.turns

    def turn_cost(self, place: int) -> wire.Cost | None:
        """Return the cost of a turn: the difference of the session's costs at its two ends.

        Returns `None` if no cost was reported, or if the currency changed. The last turn ends at
        the present cost.
        """
        turns = self._fields.turns
        before = turns[place].cost_before
        later = turns[range(len(turns))[place] + 1 :]
        after = later[0].cost_before if later else self._cost
        if after is None or (before is not None and before.currency != after.currency):
            return None
        return wire.Cost(after.amount - (before.amount if before else 0), after.currency)

    @property
    def _cost(self) -> wire.Cost | None:
        return None if self.usage is None else self.usage.cost

    @property
    def cancelling(self) -> bool:
        """Whether the client cancelled the foreground work that still goes on."""
        return self._fields.cancelling

    @property
    def connection_lost(self) -> ConnectionLoss | None:
        """The loss of the connection, until the agent reports something again; otherwise `None`."""
        return self._fields.connection_lost

    @property
    def before_replay(self) -> Snapshot | None:
        """The session before the replay in progress, to be shown meanwhile; otherwise `None`."""
        return self._fields.before_replay

    @property
    def replaying(self) -> bool:
        """Whether a replay is going on."""
        return self._fields.before_replay is not None


BOOKKEEPING: Final = {
    "foreground_start": "foregroundStart",
    "commands_reported": "commandsReported",
    "options_reported": "optionsReported",
}
"""The internal fields of a session, by the keys under which they are stored."""


def _abridged(text: str) -> str:
    return repr(text[:40]) + "..." * (len(text) > 40)


def _checked(items: Iterable[Any], kinds: Any, needed: str) -> Iterator[Any]:
    for item in checked(items, Iterable, "a sequence"):
        yield checked(item, kinds, needed)


def background_tool_calls(state: SessionState | None) -> frozenset[str]:
    """Return the ids of the tool calls that a state lists as background work."""
    if isinstance(state, wire.StateUpdate):
        work = state.background or ()
        calls = (item for item in work if isinstance(item, wire.BackgroundToolCall))
        return frozenset(call.tool_call_id for call in calls)
    return frozenset(_raw_background(state.value)) if state is not None else frozenset()


def _raw_background(payload: Any) -> list[str]:
    """Read the background list of an unknown state, as far as it is well-formed."""
    work = payload.get("background")
    calls = (item for item in (work if isinstance(work, list) else ()) if isinstance(item, dict))
    ids = (call.get("toolCallId") for call in calls if call.get("type") == "tool_call")
    return [call_id for call_id in ids if isinstance(call_id, str)]


def entry_key(entry: Entry, place: int) -> Hashable:
    """Return the key of an entry at a place."""
    match entry:
        case Message():
            return (entry.type, entry.message_id)
        case ToolCall():
            return ("tool_call", entry.tool_call_id)
        case Compaction():
            return ("compaction", entry.compaction_id)
        case UnknownEntry():
            return place


def plan_key(plan: wire.PlanUpdateContent) -> str:
    """Return a plan's id."""
    if not isinstance(plan, wire.Unknown):
        return plan.plan_id
    plan_id: str = plan.value["planId"]
    return plan_id
