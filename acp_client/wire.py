"""Protocol messages as msgspec Structs, named after the ACP v2 schema.

Every name here is the schema's name in Python spelling: `wire.ToolCallUpdate` is the schema's
`ToolCallUpdate`, its `toolCallId` is `tool_call_id`, and `_meta` is `meta`. All objects are
immutable and compare by value.

Rules that hold for every class:

- *Three states.* In the updates that patch (`user_message`, `tool_call_update`, …) a field that
  the agent left out is `UNSET`, one that it reset is `None`, and anything else is a value. In
  objects that are always whole (a content block, a location, …) absent and `null` mean the same
  and both are `None`; they are left out when the object is written.
- *Open unions.* A variant that this version does not know is an `Unknown` that keeps the raw
  payload. Status, kind and priority strings are plain strings, known or not.
- *Raw values.* `_meta`, tool input and output are `Json`: immutable JSON text, parsed on demand.
- *Leniency.* What happens to a malformed value stands at its field, in the words of the schema:
  `Lenient` and `Patched` fields are then absent, `SKIP_BAD_ITEMS` drops the bad items of a list. In
  a field without such a mark it makes the object malformed, and so on upwards to the nearest
  lenient field or list item.

The open unions are wider for a type checker than for msgspec: the typed decoder has no class for a
tag that it does not know, refuses such a message, and the lenient path puts the `Unknown` there.
"""

from __future__ import annotations

from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    Literal,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
)

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import force_setattr

from ._errors import InvalidValueError
from ._json import Json

__all__ = [
    "UNSET",
    "AgentAuthCapabilities",
    "AgentCapabilities",
    "AgentMessage",
    "AgentMessageChunk",
    "AgentThought",
    "AgentThoughtChunk",
    "Annotations",
    "AudioContent",
    "AuthMethod",
    "AuthMethodAgent",
    "AuthMethodTerminal",
    "AuthStatusUpdateNotification",
    "AvailableCommand",
    "AvailableCommandInput",
    "AvailableCommandsUpdate",
    "BackgroundTerminal",
    "BackgroundToolCall",
    "BackgroundWork",
    "Batch",
    "BlobResourceContents",
    "BooleanPropertySchema",
    "CancelRequestNotification",
    "CancelSessionNotification",
    "CancelTerminalRequest",
    "CancelTerminalResponse",
    "CancelToolCallRequest",
    "CancelToolCallResponse",
    "CloseSessionRequest",
    "CloseSessionResponse",
    "Command",
    "CommandPermissionSubject",
    "CompactionSummaryChunk",
    "CompactionUpdate",
    "CompleteElicitationNotification",
    "ConfigOptionUpdate",
    "Content",
    "ContentBlock",
    "Cost",
    "CreateElicitationRequest",
    "CreateElicitationResponse",
    "DeleteSessionRequest",
    "DeleteSessionResponse",
    "Diff",
    "DiffAdd",
    "DiffChange",
    "DiffCopy",
    "DiffDelete",
    "DiffModify",
    "DiffMove",
    "DiffPatch",
    "Elicitation",
    "ElicitationFormMode",
    "ElicitationPropertySchema",
    "ElicitationSchema",
    "ElicitationUnknownMode",
    "ElicitationUrlMode",
    "EmbeddedResource",
    "EmbeddedResourceResource",
    "EnumOption",
    "EnvVariable",
    "Error",
    "Icon",
    "ImageContent",
    "Implementation",
    "InitializeResponse",
    "IntegerPropertySchema",
    "Json",
    "JsonObject",
    "ListSessionsRequest",
    "ListSessionsResponse",
    "LoginAuthRequest",
    "LoginAuthResponse",
    "LogoutAuthResponse",
    "McpCapabilities",
    "Message",
    "MetaOnly",
    "MultiSelectItems",
    "MultiSelectPropertySchema",
    "NewSessionResponse",
    "Notice",
    "Notification",
    "NumberPropertySchema",
    "PermissionOption",
    "PlanEntry",
    "PlanFile",
    "PlanItems",
    "PlanMarkdown",
    "PlanRemoved",
    "PlanUpdate",
    "PlanUpdateContent",
    "PromptCapabilities",
    "PromptRequest",
    "PromptResponse",
    "ReplayFromStart",
    "Request",
    "RequestId",
    "RequestPermissionRequest",
    "RequestPermissionSubject",
    "RequestedSchema",
    "ResourceLink",
    "Response",
    "ResumeSessionRequest",
    "ResumeSessionResponse",
    "SentPromptRequest",
    "SessionCapabilities",
    "SessionConfigBoolean",
    "SessionConfigOption",
    "SessionConfigSelect",
    "SessionConfigSelectGroup",
    "SessionConfigSelectOption",
    "SessionConfigSelectOptions",
    "SessionInfo",
    "SessionInfoUpdate",
    "SessionUpdate",
    "SetSessionConfigOptionRequest",
    "SetSessionConfigOptionResponse",
    "StateUpdate",
    "StringMultiSelectItems",
    "StringPropertySchema",
    "Terminal",
    "TerminalCapabilities",
    "TerminalExitStatus",
    "TerminalOutput",
    "TerminalOutputChunk",
    "TerminalSize",
    "TerminalUpdate",
    "TextCommandInput",
    "TextContent",
    "TextResourceContents",
    "TitledMultiSelectItems",
    "ToolCallCapabilities",
    "ToolCallContent",
    "ToolCallContentChunk",
    "ToolCallLocation",
    "ToolCallPermissionSubject",
    "ToolCallUpdate",
    "UnidentifiedError",
    "Unknown",
    "UnknownMultiSelectItems",
    "UnknownStateUpdate",
    "UnsetType",
    "UpdateSessionNotification",
    "Usage",
    "UsageUpdate",
    "UserMessage",
    "UserMessageChunk",
    "to_builtins",
]

RequestId: TypeAlias = int | str
"""A JSON-RPC id. `1` and `"1"` are two ids."""

_Size = Annotated[int, Meta(ge=0, le=2**32 - 1)]
_Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
_Integer = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
_ErrorCode = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
_Line = Annotated[int, Meta(ge=1, le=2**32 - 1)]
_Cells = Annotated[int, Meta(ge=1, le=65535)]
_Version = Annotated[int, Meta(ge=0, le=65535)]
_Fraction = Annotated[float, Meta(ge=0, le=1)]
_NonEmpty = Annotated[str, Meta(min_length=1)]

_LEAP_YEAR = "(?:[0-9]{2}(?:[2468][048]|[13579][26]|0[48])|(?:[02468][048]|[13579][26])00)"
_DAY = (
    "[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])"
    "|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))"
)
_CLOCK = "(?:[01][0-9]|2[0-3]):[0-5][0-9]"
DATE_TIME_PATTERN: Final = (
    rf"\A(?:{_LEAP_YEAR}-02-29|{_DAY})T{_CLOCK}:[0-5][0-9](?:\.[0-9]+)?(?:Z|[+-]{_CLOCK})\Z"
)
_DateTime = Annotated[str, Meta(pattern=DATE_TIME_PATTERN)]


# --- What the schema says of a malformed field ---

T = TypeVar("T")

ON_ERROR_ABSENT: Final = "x-deserialize-default-on-error"
"""A malformed value counts as absent; a malformed list that may not be `null`, as empty."""

SKIP_BAD_ITEMS: Final = "x-deserialize-skip-invalid-items"
"""Malformed items of the list are left out."""

NULL_IS_EMPTY: Final = "x-deserialize-default-on-null"
"""`null` is an empty list."""

UNTAGGED: Final = "untagged"
"""The object has no tag where it stands here."""

Lenient: TypeAlias = Annotated[T | None, ON_ERROR_ABSENT]
"""A field that may be absent; `null` and malformed values count as absent."""

Patched: TypeAlias = Annotated[T | UnsetType | None, ON_ERROR_ABSENT]
"""A field of a patch: `UNSET` where it is absent or malformed, `None` where it is `null`."""

ResultList: TypeAlias = Annotated[tuple[T, ...] | UnsetType, ON_ERROR_ABSENT, SKIP_BAD_ITEMS]
"""A list of a result: `UNSET` where it is absent, empty where it is `null` or no list."""


def _wire_name(name: str) -> str:
    """Return the JSON name of a field."""
    if name == "meta":
        return "_meta"
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


class JsonObject(Json):
    """A `Json` that is an object: what `_meta` may be."""

    __slots__ = ()


class Unknown(Json):
    """A variant of an open union that this version does not know, exactly as it came."""

    __slots__ = ()


class UnknownStateUpdate(Unknown):
    """A `state_update` with a state or a stop reason that is not known.

    The payload without `sessionUpdate`: raw for an unknown state; for an unknown stop reason the
    known keys as they were decoded, and the others as they came.
    """

    __slots__ = ()

    @property
    def name(self) -> str:
        """The name of the state: `idle` if it is the stop reason that is not known."""
        return self.value["state"]  # type: ignore[no-any-return]  # checked when it was decoded

    @property
    def stop_reason(self) -> str | None:
        """The stop reason of an idle state."""
        reason = self.value.get("stopReason") if self.name == "idle" else None
        return reason if isinstance(reason, str) else None

    @property
    def usage(self) -> Usage | None:
        """The tokens that the turn used, said by an idle state."""
        usage: Usage | None = self._part("usage", Usage)
        return usage

    @property
    def error(self) -> Error | None:
        """The error that stopped the work, said by an idle state."""
        error: Error | None = self._part("error", Error)
        return error

    def _part(self, key: str, kind: Any) -> Any:
        value = self.value.get(key) if self.name == "idle" else None
        try:
            return None if value is None else msgspec.convert(value, kind, dec_hook=_raw)
        except msgspec.ValidationError:
            return None


def _raw(kind: Any, value: Any) -> Any:
    """Make a raw value of a part of one."""
    return kind(value)


class _Whole(Struct, frozen=True, gc=False, rename=_wire_name, omit_defaults=True):
    """An object that is always whole: absent and `null` are the same, and are not written."""


class _Typed(_Whole, frozen=True, gc=False, tag_field="type", tag=str):
    """A variant of a union whose tag is `type`."""


class NeverPresent:
    """The type of a key whose presence makes the typed decoder refuse the message."""


class _NoVariant(_Typed, frozen=True, gc=False, tag="\N{NULL}"):
    """A variant that never occurs: msgspec does not check the tag of a union of one class."""

    never: NeverPresent


class UnknownVariant(Struct, frozen=True):
    """What an unknown variant of a union becomes, and the strings that it must have by their keys.

    It is an annotation of the union.
    """

    kind: type[Unknown]
    needs: tuple[str, ...]


def _known(union: Any, *needs: str) -> Any:
    """Return an open union as the typed decoder can read it: without its unknown variant."""
    members = get_args(union)
    known = [member for member in members if not issubclass(member, Unknown)]
    unknown = next(member for member in members if issubclass(member, Unknown))
    if len(known) == 1:
        known.append(_NoVariant)
    return Annotated[Union[tuple(known)], UnknownVariant(unknown, needs)]  # noqa: UP007  # of a list


def is_open_union(kind: Any) -> bool:
    """Return whether a type is one of the open unions of this module."""
    return get_origin(kind) is Annotated and isinstance(get_args(kind)[1], UnknownVariant)


def variants(union: Any) -> tuple[Any, ...]:
    """Return the classes of the known variants of an open union."""
    known, _ = get_args(union)
    return tuple(kind for kind in get_args(known) if kind is not _NoVariant)


def tag_of(kind: Any) -> str:
    """Return the tag of a variant."""
    return str(kind.__struct_config__.tag)


class _Patch(Struct, frozen=True, gc=False, rename=_wire_name, tag_field="sessionUpdate", tag=str):
    """A `session/update` variant."""


# --- Content blocks ---


class Annotations(_Whole, frozen=True, gc=False):
    """Hints on how a content block is to be shown."""

    audience: Annotated[Lenient[tuple[str, ...]], SKIP_BAD_ITEMS] = None
    last_modified: Lenient[str] = None
    priority: Lenient[_Fraction] = None
    meta: Lenient[JsonObject] = None


class TextContent(_Typed, frozen=True, gc=False, tag="text"):
    """Text, plain or Markdown."""

    text: str
    annotations: Lenient[Annotations] = None
    meta: Lenient[JsonObject] = None


class ImageContent(_Typed, frozen=True, gc=False, tag="image"):
    """An image; `data` is base64 as it came, unchecked."""

    data: str
    mime_type: str
    uri: Lenient[str] = None
    annotations: Lenient[Annotations] = None
    meta: Lenient[JsonObject] = None


class AudioContent(_Typed, frozen=True, gc=False, tag="audio"):
    """Sound; `data` is base64 as it came, unchecked."""

    data: str
    mime_type: str
    annotations: Lenient[Annotations] = None
    meta: Lenient[JsonObject] = None


class Icon(_Whole, frozen=True, gc=False):
    """A picture that represents a resource."""

    src: str
    mime_type: Lenient[str] = None
    sizes: Annotated[Lenient[tuple[str, ...]], SKIP_BAD_ITEMS] = None
    theme: Lenient[str] = None
    meta: Lenient[JsonObject] = None


class ResourceLink(_Typed, frozen=True, gc=False, tag="resource_link"):
    """A reference to a resource; `size` in bytes. The URI is kept as it came, unchecked."""

    name: str
    uri: str
    title: Lenient[str] = None
    description: Lenient[str] = None
    icons: Annotated[Lenient[tuple[Icon, ...]], SKIP_BAD_ITEMS] = None
    mime_type: Lenient[str] = None
    size: Lenient[_Count] = None
    annotations: Lenient[Annotations] = None
    meta: Lenient[JsonObject] = None


class EmbeddedResourceResource:
    """What an embedded resource holds: text or a blob."""

    __slots__ = ()


class TextResourceContents(_Whole, EmbeddedResourceResource, frozen=True, gc=False):
    """A text resource with its content."""

    text: str
    uri: str
    mime_type: Lenient[str] = None
    meta: Lenient[JsonObject] = None


class BlobResourceContents(_Whole, EmbeddedResourceResource, frozen=True, gc=False):
    """A binary resource with its content; `blob` is base64 as it came, unchecked."""

    blob: str
    uri: str
    mime_type: Lenient[str] = None
    meta: Lenient[JsonObject] = None


class EmbeddedResource(_Typed, frozen=True, gc=False, tag="resource"):
    """A resource whose content is in the message."""

    resource: EmbeddedResourceResource
    annotations: Lenient[Annotations] = None
    meta: Lenient[JsonObject] = None


ContentBlock: TypeAlias = (
    TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource | Unknown
)


# --- Tool calls ---


class Content(_Typed, frozen=True, gc=False, tag="content"):
    """A content block that a tool produced."""

    content: ContentBlock
    meta: Lenient[JsonObject] = None


class _Operation(_Whole, frozen=True, gc=False, tag_field="operation", tag=str):
    """What a diff does to one file."""


class DiffAdd(_Operation, frozen=True, gc=False, tag="add"):
    """A file that was added."""

    path: str
    file_type: Lenient[str] = None
    mime_type: Lenient[str] = None
    meta: Lenient[JsonObject] = None


class DiffDelete(_Operation, frozen=True, gc=False, tag="delete"):
    """A file that was deleted."""

    path: str
    file_type: Lenient[str] = None
    mime_type: Lenient[str] = None
    meta: Lenient[JsonObject] = None


class DiffModify(_Operation, frozen=True, gc=False, tag="modify"):
    """A file whose content changed."""

    path: str
    file_type: Lenient[str] = None
    mime_type: Lenient[str] = None
    meta: Lenient[JsonObject] = None


class DiffMove(_Operation, frozen=True, gc=False, tag="move"):
    """A file that was moved from `old_path` to `path`."""

    old_path: str
    path: str
    file_type: Lenient[str] = None
    mime_type: Lenient[str] = None
    meta: Lenient[JsonObject] = None


class DiffCopy(_Operation, frozen=True, gc=False, tag="copy"):
    """A file that was copied from `old_path` to `path`."""

    old_path: str
    path: str
    file_type: Lenient[str] = None
    mime_type: Lenient[str] = None
    meta: Lenient[JsonObject] = None


DiffChange: TypeAlias = DiffAdd | DiffDelete | DiffModify | DiffMove | DiffCopy | Unknown


class DiffPatch(_Whole, frozen=True, gc=False):
    """The text of a change, `git_patch` being the known format."""

    format: str
    text: str
    meta: Lenient[JsonObject] = None


class Diff(_Typed, frozen=True, gc=False, tag="diff"):
    """Changes to files."""

    changes: Annotated[tuple[DiffChange, ...], SKIP_BAD_ITEMS]
    patch: Lenient[DiffPatch] = None
    meta: Lenient[JsonObject] = None


class Terminal(_Typed, frozen=True, gc=False, tag="terminal"):
    """A place in a tool call where a terminal is shown."""

    terminal_id: str
    meta: Lenient[JsonObject] = None


ToolCallContent: TypeAlias = Content | Diff | Terminal | Unknown


class ToolCallLocation(_Whole, frozen=True, gc=False):
    """A file that a tool call works on; `line` counts from 1. The path is kept unchecked."""

    path: str
    line: Lenient[_Line] = None
    meta: Lenient[JsonObject] = None


class MetaOnly(_Whole, frozen=True, gc=False):
    """A capability whose presence is all it says."""

    meta: Lenient[JsonObject] = None


class ToolCallCapabilities(_Whole, frozen=True, gc=False):
    """What a client may do with a tool call."""

    cancel: Lenient[MetaOnly] = None
    meta: Lenient[JsonObject] = None


# --- Terminals, plans, commands, options ---


class TerminalOutput(_Whole, frozen=True, gc=False):
    """All bytes of a terminal so far, decoded from base64."""

    data: bytes
    meta: Lenient[JsonObject] = None


class TerminalExitStatus(_Whole, frozen=True, gc=False):
    """How a terminal's command ended; with neither field, only that it ended."""

    exit_code: Lenient[_Integer] = None
    signal: Lenient[str] = None
    meta: Lenient[JsonObject] = None


class TerminalSize(_Whole, frozen=True, gc=False):
    """A terminal's size in character cells."""

    cols: _Cells
    rows: _Cells
    meta: Lenient[JsonObject] = None


class TerminalCapabilities(_Whole, frozen=True, gc=False):
    """What a client may do with a terminal."""

    cancel: Lenient[MetaOnly] = None
    meta: Lenient[JsonObject] = None


class PlanEntry(_Whole, frozen=True, gc=False):
    """One step of a plan."""

    content: str
    priority: str
    status: str
    meta: Lenient[JsonObject] = None


class PlanItems(_Typed, frozen=True, gc=False, tag="items"):
    """A plan as a list of steps."""

    plan_id: str
    entries: Annotated[tuple[PlanEntry, ...], SKIP_BAD_ITEMS]
    meta: Lenient[JsonObject] = None


class PlanMarkdown(_Typed, frozen=True, gc=False, tag="markdown"):
    """A plan as Markdown text."""

    plan_id: str
    content: str
    meta: Lenient[JsonObject] = None


class PlanFile(_Typed, frozen=True, gc=False, tag="file"):
    """A plan in a file. The URI is kept as it came, unchecked."""

    plan_id: str
    uri: str
    meta: Lenient[JsonObject] = None


class TextCommandInput(_Typed, frozen=True, gc=False, tag="text"):
    """A command takes free text; `hint` says what."""

    hint: str
    meta: Lenient[JsonObject] = None


class SessionConfigSelectOption(_Whole, frozen=True, gc=False):
    """One choice of a select option."""

    value: str
    name: str
    description: Lenient[str] = None
    meta: Lenient[JsonObject] = None


class SessionConfigSelectGroup(_Whole, frozen=True, gc=False):
    """Choices under a common heading."""

    group_id: str
    name: str
    options: Annotated[tuple[SessionConfigSelectOption, ...], ON_ERROR_ABSENT, SKIP_BAD_ITEMS]
    meta: Lenient[JsonObject] = None


PlanUpdateContent: TypeAlias = PlanItems | PlanMarkdown | PlanFile | Unknown

AvailableCommandInput: TypeAlias = TextCommandInput | Unknown

if TYPE_CHECKING:
    _SelectOptions = tuple[SessionConfigSelectOption | SessionConfigSelectGroup, ...]
else:
    _SelectOptions = tuple


class SessionConfigSelectOptions(_SelectOptions):
    """The choices of a select option: all of them options, or all of them groups."""

    __slots__ = ()


class Command(_Typed, frozen=True, gc=False, tag="command"):
    """A slash command."""

    name: str
    description: str
    input: Lenient[AvailableCommandInput] = None
    meta: Lenient[JsonObject] = None


class SessionConfigSelect(_Typed, frozen=True, gc=False, kw_only=True, tag="select"):
    """An option with a list of choices."""

    config_id: str
    name: str
    description: Lenient[str] = None
    category: Lenient[str] = None
    meta: Lenient[JsonObject] = None
    current_value: str
    options: SessionConfigSelectOptions


class SessionConfigBoolean(_Typed, frozen=True, gc=False, kw_only=True, tag="boolean"):
    """An option that is on or off."""

    config_id: str
    name: str
    description: Lenient[str] = None
    category: Lenient[str] = None
    meta: Lenient[JsonObject] = None
    current_value: bool


AvailableCommand: TypeAlias = Command | Unknown

SessionConfigOption: TypeAlias = SessionConfigSelect | SessionConfigBoolean | Unknown


# --- State and usage ---


class Error(_Whole, frozen=True, gc=False):
    """A JSON-RPC error object."""

    code: _ErrorCode
    message: str
    data: Lenient[Json] = None


class BackgroundTerminal(_Typed, frozen=True, gc=False, tag="terminal"):
    """A terminal that goes on beside the foreground work."""

    terminal_id: str
    meta: Lenient[JsonObject] = None


class BackgroundToolCall(_Typed, frozen=True, gc=False, tag="tool_call"):
    """A tool call that goes on beside the foreground work."""

    tool_call_id: str
    meta: Lenient[JsonObject] = None


BackgroundWork: TypeAlias = BackgroundTerminal | BackgroundToolCall | Unknown


class Usage(_Whole, frozen=True, gc=False):
    """The tokens that a turn has used."""

    total_tokens: _Count
    input_tokens: _Count
    output_tokens: _Count
    thought_tokens: Lenient[_Count] = None
    cached_read_tokens: Lenient[_Count] = None
    cached_write_tokens: Lenient[_Count] = None
    meta: Lenient[JsonObject] = None


class Cost(_Whole, frozen=True, gc=False):
    """What a session has cost so far; `currency` is an ISO 4217 code."""

    amount: float
    currency: str
    meta: Lenient[JsonObject] = None


# --- The variants of session/update ---


class UserMessageChunk(_Patch, frozen=True, gc=False, tag="user_message_chunk"):
    """One more content block of a user message."""

    message_id: str
    content: ContentBlock
    meta: Lenient[JsonObject] = None


class UserMessage(_Patch, frozen=True, gc=False, tag="user_message"):
    """Creates or patches a user message."""

    message_id: str
    content: Annotated[Patched[tuple[ContentBlock, ...]], SKIP_BAD_ITEMS] = UNSET
    meta: Patched[JsonObject] = UNSET


class AgentMessageChunk(_Patch, frozen=True, gc=False, tag="agent_message_chunk"):
    """One more content block of an agent message."""

    message_id: str
    content: ContentBlock
    meta: Lenient[JsonObject] = None


class AgentMessage(_Patch, frozen=True, gc=False, tag="agent_message"):
    """Creates or patches an agent message."""

    message_id: str
    content: Annotated[Patched[tuple[ContentBlock, ...]], SKIP_BAD_ITEMS] = UNSET
    meta: Patched[JsonObject] = UNSET


class AgentThoughtChunk(_Patch, frozen=True, gc=False, tag="agent_thought_chunk"):
    """One more content block of a thought."""

    message_id: str
    content: ContentBlock
    meta: Lenient[JsonObject] = None


class AgentThought(_Patch, frozen=True, gc=False, tag="agent_thought"):
    """Creates or patches a thought."""

    message_id: str
    content: Annotated[Patched[tuple[ContentBlock, ...]], SKIP_BAD_ITEMS] = UNSET
    meta: Patched[JsonObject] = UNSET


_StopReason = Literal[
    "end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "error"
]


class StateUpdate(_Patch, frozen=True, gc=False, omit_defaults=True, tag="state_update"):
    """The session's foreground work, and the background work beside it.

    `stop_reason` and `usage` belong to `idle` alone, `error` to the stop reason `error`: elsewhere
    they are dropped.
    """

    state: Literal["running", "idle", "requires_action"]
    background: Lenient[tuple[BackgroundWork, ...]] = None
    meta: Lenient[JsonObject] = None
    stop_reason: Lenient[_StopReason] = None
    error: Lenient[Error] = None
    usage: Lenient[Usage] = None

    def __post_init__(self) -> None:
        """Drop what does not belong to the state."""
        if self.state != "idle":
            force_setattr(self, "stop_reason", None)
            force_setattr(self, "usage", None)
        if self.stop_reason != "error":
            force_setattr(self, "error", None)

    @property
    def name(self) -> str:
        """The name of the state, as every state has it, known or not."""
        return self.state


class ToolCallContentChunk(_Patch, frozen=True, gc=False, tag="tool_call_content_chunk"):
    """One more content item of a tool call."""

    tool_call_id: str
    content: ToolCallContent
    meta: Lenient[JsonObject] = None


class ToolCallUpdate(_Patch, frozen=True, gc=False, tag="tool_call_update"):
    """Creates or patches a tool call."""

    tool_call_id: str
    name: Patched[str] = UNSET
    title: Patched[str] = UNSET
    kind: Patched[str] = UNSET
    status: Patched[str] = UNSET
    content: Annotated[Patched[tuple[ToolCallContent, ...]], SKIP_BAD_ITEMS] = UNSET
    locations: Annotated[Patched[tuple[ToolCallLocation, ...]], SKIP_BAD_ITEMS] = UNSET
    raw_input: Patched[Json] = UNSET
    raw_output: Patched[Json] = UNSET
    capabilities: Patched[ToolCallCapabilities] = UNSET
    meta: Patched[JsonObject] = UNSET


class TerminalUpdate(_Patch, frozen=True, gc=False, tag="terminal_update"):
    """Creates or patches a terminal."""

    terminal_id: str
    command: Patched[str] = UNSET
    cwd: Patched[str] = UNSET
    output: Patched[TerminalOutput] = UNSET
    exit_status: Patched[TerminalExitStatus] = UNSET
    size: Patched[TerminalSize] = UNSET
    capabilities: Patched[TerminalCapabilities] = UNSET
    meta: Patched[JsonObject] = UNSET


class TerminalOutputChunk(_Patch, frozen=True, gc=False, tag="terminal_output_chunk"):
    """More bytes of a terminal, decoded from base64."""

    terminal_id: str
    data: bytes
    meta: Lenient[JsonObject] = None


class PlanUpdate(_Patch, frozen=True, gc=False, tag="plan_update"):
    """Creates or replaces a plan."""

    plan: PlanUpdateContent
    meta: Lenient[JsonObject] = None


class PlanRemoved(_Patch, frozen=True, gc=False, tag="plan_removed"):
    """Removes a plan."""

    plan_id: str
    meta: Lenient[JsonObject] = None


class AvailableCommandsUpdate(_Patch, frozen=True, gc=False, tag="available_commands_update"):
    """Replaces the list of slash commands."""

    available_commands: Annotated[tuple[AvailableCommand, ...], SKIP_BAD_ITEMS]
    meta: Lenient[JsonObject] = None


class ConfigOptionUpdate(_Patch, frozen=True, gc=False, tag="config_option_update"):
    """Replaces the list of configuration options."""

    config_options: Annotated[tuple[SessionConfigOption, ...], SKIP_BAD_ITEMS]
    meta: Lenient[JsonObject] = None


class SessionInfoUpdate(_Patch, frozen=True, gc=False, tag="session_info_update"):
    """Patches the session's title and time of last change (RFC 3339)."""

    title: Patched[str] = UNSET
    updated_at: Patched[_DateTime] = UNSET
    meta: Patched[JsonObject] = UNSET


class UsageUpdate(_Patch, frozen=True, gc=False, tag="usage_update"):
    """Tokens `used` of the context window's `size`, and the cumulative cost."""

    used: _Count
    size: _Count
    cost: Patched[Cost] = UNSET
    meta: Lenient[JsonObject] = None


class Notice(_Patch, frozen=True, gc=False, tag="notice", omit_defaults=True):
    """A message for the user, to be shown now; not part of the conversation."""

    severity: str
    title: _NonEmpty
    description: Lenient[str] = None
    meta: Lenient[JsonObject] = None


class CompactionUpdate(_Patch, frozen=True, gc=False, tag="compaction_update"):
    """Creates or patches a compaction of the context."""

    compaction_id: str
    status: str
    summary: Annotated[Patched[tuple[ContentBlock, ...]], SKIP_BAD_ITEMS] = UNSET
    error: Patched[str] = UNSET
    meta: Patched[JsonObject] = UNSET


class CompactionSummaryChunk(_Patch, frozen=True, gc=False, tag="compaction_summary_chunk"):
    """One more content block of a compaction's summary."""

    compaction_id: str
    content: ContentBlock
    meta: Lenient[JsonObject] = None


SessionUpdate: TypeAlias = (
    UserMessageChunk
    | UserMessage
    | AgentMessageChunk
    | AgentMessage
    | AgentThoughtChunk
    | AgentThought
    | StateUpdate
    | ToolCallContentChunk
    | ToolCallUpdate
    | TerminalUpdate
    | TerminalOutputChunk
    | PlanUpdate
    | PlanRemoved
    | AvailableCommandsUpdate
    | ConfigOptionUpdate
    | SessionInfoUpdate
    | UsageUpdate
    | Notice
    | CompactionUpdate
    | CompactionSummaryChunk
    | Unknown
    | UnknownStateUpdate
)


class UpdateSessionNotification(Struct, frozen=True, gc=False, rename=_wire_name):
    """The parameters of `session/update`; the notification's own `_meta` is not kept."""

    session_id: str
    update: SessionUpdate
    meta: Lenient[JsonObject] = None


# --- Requests, results and the messages around them ---


class PermissionOption(_Whole, frozen=True, gc=False):
    """One answer that the user can choose."""

    option_id: str
    name: str
    kind: str
    meta: Lenient[JsonObject] = None


class ToolCallPermissionSubject(_Typed, frozen=True, gc=False, tag="tool_call"):
    """Permission is asked for a tool call, which the request may create or patch."""

    tool_call: Annotated[ToolCallUpdate, UNTAGGED]
    meta: Lenient[JsonObject] = None

    def without_resets(self) -> ToolCallPermissionSubject:
        """Return the subject with only the values of its tool call: what there is to show."""
        call = self.tool_call
        reset = {name: UNSET for name in call.__struct_fields__ if getattr(call, name) is None}
        shown = msgspec.structs.replace(call, **reset) if reset else call
        return ToolCallPermissionSubject(shown, self.meta)


class CommandPermissionSubject(_Typed, frozen=True, gc=False, tag="command"):
    """Permission is asked for a shell command."""

    command: str
    cwd: str
    tool_call_id: Lenient[str] = None
    terminal_id: Lenient[str] = None
    meta: Lenient[JsonObject] = None


RequestPermissionSubject: TypeAlias = ToolCallPermissionSubject | CommandPermissionSubject | Unknown


class RequestPermissionRequest(_Whole, frozen=True, gc=False):
    """The parameters of `session/request_permission`."""

    session_id: str
    title: str
    options: Annotated[tuple[PermissionOption, ...], Meta(min_length=1)]
    description: Lenient[str] = None
    subject: RequestPermissionSubject | None = None
    meta: Lenient[JsonObject] = None


# --- Elicitations ---


class EnumOption(_Whole, frozen=True, gc=False):
    """One choice of a form's field, with the title under which it is shown."""

    const: str
    title: str
    description: Lenient[str] = None
    meta: Lenient[JsonObject] = None


class _PropertySchema(_Typed, frozen=True, gc=False, kw_only=True):
    """A field of a form."""

    title: Lenient[str] = None
    description: Lenient[str] = None


class StringPropertySchema(_PropertySchema, frozen=True, gc=False, kw_only=True, tag="string"):
    """A field of a form that takes a string, perhaps one of `enum` or `one_of`."""

    min_length: _Size | None = None
    max_length: _Size | None = None
    pattern: str | None = None
    format: str | None = None
    default: Lenient[str] = None
    enum: Annotated[tuple[str, ...], Meta(min_length=1)] | None = None
    one_of: Annotated[tuple[EnumOption, ...], Meta(min_length=1)] | None = None
    meta: Lenient[JsonObject] = None


class NumberPropertySchema(_PropertySchema, frozen=True, gc=False, kw_only=True, tag="number"):
    """A field of a form that takes a number."""

    minimum: float | None = None
    maximum: float | None = None
    default: Lenient[float] = None
    meta: Lenient[JsonObject] = None


class IntegerPropertySchema(_PropertySchema, frozen=True, gc=False, kw_only=True, tag="integer"):
    """A field of a form that takes an integer."""

    minimum: _Integer | None = None
    maximum: _Integer | None = None
    default: Lenient[_Integer] = None
    meta: Lenient[JsonObject] = None


class BooleanPropertySchema(_PropertySchema, frozen=True, gc=False, kw_only=True, tag="boolean"):
    """A field of a form that is on or off."""

    default: Lenient[bool] = None
    meta: Lenient[JsonObject] = None


class MultiSelectItems:
    """What a field of a form that takes several choices may hold."""

    __slots__ = ()


class StringMultiSelectItems(_Typed, MultiSelectItems, frozen=True, gc=False, tag="string"):
    """Choices that are shown as they are."""

    enum: Annotated[tuple[str, ...], Meta(min_length=1)]
    meta: Lenient[JsonObject] = None


class TitledMultiSelectItems(_Whole, MultiSelectItems, frozen=True, gc=False):
    """Choices with titles."""

    any_of: Annotated[tuple[EnumOption, ...], Meta(min_length=1)]
    meta: Lenient[JsonObject] = None


class UnknownMultiSelectItems(Unknown, MultiSelectItems):
    """Choices of a type that is not known."""

    __slots__ = ()


class MultiSelectPropertySchema(_PropertySchema, frozen=True, gc=False, kw_only=True, tag="array"):
    """A field of a form that takes several choices."""

    items: MultiSelectItems
    min_items: _Count | None = None
    max_items: _Count | None = None
    default: Annotated[Lenient[tuple[str, ...]], SKIP_BAD_ITEMS] = None
    meta: Lenient[JsonObject] = None


ElicitationPropertySchema: TypeAlias = (
    StringPropertySchema
    | NumberPropertySchema
    | IntegerPropertySchema
    | BooleanPropertySchema
    | MultiSelectPropertySchema
    | Unknown
)


class ElicitationSchema(_Whole, frozen=True, gc=False):
    """The fields of a form, by the names under which their values are answered."""

    type: Literal["object"]
    properties: dict[str, ElicitationPropertySchema]
    title: Lenient[str] = None
    description: Lenient[str] = None
    required: tuple[str, ...] | None = None
    meta: Lenient[JsonObject] = None


class RequestedSchema(JsonObject):
    """An `ElicitationSchema` that was checked, kept exactly as it came."""

    __slots__ = ()


class Elicitation(_Whole, frozen=True, gc=False, kw_only=True, tag_field="mode", tag=str):
    """The fields that every mode of an elicitation has.

    It belongs to a session, perhaps to one of its tool calls, or else to a request of the client.
    """

    message: str
    session_id: str | None = None
    tool_call_id: Lenient[str] = None
    request_id: _Integer | str | None = None
    meta: Lenient[JsonObject] = None

    def __post_init__(self) -> None:
        """Raise `InvalidValueError` for a scope that is missing or given twice."""
        if (self.session_id is None) == (self.request_id is None):
            raise InvalidValueError("must have either sessionId or requestId")


class ElicitationFormMode(Elicitation, frozen=True, gc=False, kw_only=True, tag="form"):
    """The agent asks the user to fill in a form."""

    requested_schema: RequestedSchema


class ElicitationUrlMode(Elicitation, frozen=True, gc=False, kw_only=True, tag="url"):
    """The agent asks the user to visit a URL, which is kept as it came, unchecked."""

    elicitation_id: str
    url: str


class ElicitationUnknownMode(Unknown):
    """An elicitation of a mode that is not known: the raw parameters."""

    __slots__ = ()

    @property
    def message(self) -> str:
        """What the agent says."""
        return self.value["message"]  # type: ignore[no-any-return]  # checked when it was decoded

    @property
    def session_id(self) -> str | None:
        """The session that it belongs to, if it belongs to one."""
        return self.value.get("sessionId")  # type: ignore[no-any-return]  # the same

    @property
    def request_id(self) -> RequestId | None:
        """The request of the client that it belongs to, if it belongs to one."""
        found: RequestId | float | None = self.value.get("requestId")
        return int(found) if isinstance(found, float) else found  # `1.0` is 1


CreateElicitationRequest: TypeAlias = (
    ElicitationFormMode | ElicitationUrlMode | ElicitationUnknownMode
)


class CreateElicitationResponse(_Whole, frozen=True, gc=False):
    """The result of `elicitation/create`: `accept`, `decline` or `cancel`, and a form's values."""

    action: str
    content: JsonObject | None = None
    meta: Lenient[JsonObject] = None


class CompleteElicitationNotification(_Whole, frozen=True, gc=False):
    """The parameters of `elicitation/complete`: what the user did at a URL is done."""

    elicitation_id: str
    meta: Lenient[JsonObject] = None


# --- Other parameters and results ---


class CancelRequestNotification(_Whole, frozen=True, gc=False):
    """The parameters of `$/cancel_request`: a request that needs no answer any more."""

    request_id: _Integer | str
    meta: Lenient[JsonObject] = None


class CancelSessionNotification(_Whole, frozen=True, gc=False):
    """The parameters of `session/cancel`."""

    session_id: str
    meta: Lenient[JsonObject] = None


class PromptRequest(_Whole, frozen=True, gc=False):
    """The parameters of `session/prompt`."""

    session_id: str
    prompt: tuple[ContentBlock, ...]
    meta: Lenient[JsonObject] = None


class PromptResponse(_Whole, frozen=True, gc=False):
    """The result of `session/prompt`: the message was inserted under this id."""

    message_id: str
    meta: Lenient[JsonObject] = None


class SentPromptRequest(_Whole, frozen=True, gc=False):
    """The parameters of a `session/prompt` that this side sent; malformed blocks are left out."""

    session_id: str
    prompt: Annotated[tuple[ContentBlock, ...], ON_ERROR_ABSENT, SKIP_BAD_ITEMS] = ()


class ReplayFromStart(_Typed, frozen=True, gc=False, tag="start"):
    """Replay the whole conversation."""

    meta: Lenient[JsonObject] = None


class ResumeSessionRequest(_Whole, frozen=True, gc=False):
    """The parameters of `session/resume` that a store needs."""

    session_id: str
    replay_from: Json | None = None


class SetSessionConfigOptionRequest(_Whole, frozen=True, gc=False):
    """The parameters of `session/set_config_option` that a store needs."""

    session_id: str
    config_id: Lenient[str] = None
    value: Lenient[Json] = None


class ListSessionsRequest(_Whole, frozen=True, gc=False):
    """The parameters of `session/list`; a `cursor` asks for the page after another one."""

    cwd: str | None = None
    cursor: str | None = None
    archived: str | None = None
    meta: Lenient[JsonObject] = None


class SessionInfo(_Whole, frozen=True, gc=False):
    """A session that an agent knows. Paths are kept as they came, unchecked."""

    session_id: str
    cwd: str
    additional_directories: Annotated[tuple[str, ...], NULL_IS_EMPTY] = ()
    title: Lenient[str] = None
    updated_at: Lenient[_DateTime] = None
    archived: Lenient[bool] = None
    meta: Lenient[JsonObject] = None


class ListSessionsResponse(_Whole, frozen=True, gc=False):
    """The result of `session/list`: a page of sessions, and the cursor of the next page."""

    sessions: Annotated[tuple[SessionInfo, ...], ON_ERROR_ABSENT, SKIP_BAD_ITEMS]
    next_cursor: str | None = None
    meta: Lenient[JsonObject] = None


class CloseSessionRequest(_Whole, frozen=True, gc=False):
    """The parameters of `session/close`."""

    session_id: str
    meta: Lenient[JsonObject] = None


class CloseSessionResponse(_Whole, frozen=True, gc=False):
    """The result of `session/close`."""

    meta: Lenient[JsonObject] = None


class DeleteSessionRequest(_Whole, frozen=True, gc=False):
    """The parameters of `session/delete`."""

    session_id: str
    meta: Lenient[JsonObject] = None


class DeleteSessionResponse(_Whole, frozen=True, gc=False):
    """The result of `session/delete`."""

    meta: Lenient[JsonObject] = None


class CancelToolCallRequest(_Whole, frozen=True, gc=False):
    """The parameters of `tool_call/cancel`."""

    session_id: str
    tool_call_id: str
    meta: Lenient[JsonObject] = None


class CancelToolCallResponse(_Whole, frozen=True, gc=False):
    """The result of `tool_call/cancel`."""

    meta: Lenient[JsonObject] = None


class CancelTerminalRequest(_Whole, frozen=True, gc=False):
    """The parameters of `terminal/cancel`."""

    session_id: str
    terminal_id: str
    meta: Lenient[JsonObject] = None


class CancelTerminalResponse(_Whole, frozen=True, gc=False):
    """The result of `terminal/cancel`."""

    meta: Lenient[JsonObject] = None


class LoginAuthRequest(_Whole, frozen=True, gc=False):
    """The parameters of `auth/login` (v1: `authenticate`)."""

    method_id: str
    meta: Lenient[JsonObject] = None


class LoginAuthResponse(_Whole, frozen=True, gc=False):
    """The result of `auth/login` (v1: `authenticate`)."""

    meta: Lenient[JsonObject] = None


class LogoutAuthResponse(_Whole, frozen=True, gc=False):
    """The result of `auth/logout` (v1: `logout`)."""

    meta: Lenient[JsonObject] = None


class AuthStatusUpdateNotification(_Whole, frozen=True, gc=False):
    """The parameters of `auth/status_update`, without the accounts, which are not to be kept."""

    state: str
    meta: Lenient[JsonObject] = None


class NewSessionResponse(_Whole, frozen=True, gc=False):
    """The result of `session/new`; a list that is `UNSET` was not given."""

    session_id: str
    config_options: ResultList[SessionConfigOption] = UNSET
    available_commands: ResultList[AvailableCommand] = UNSET
    meta: Lenient[JsonObject] = None


class ResumeSessionResponse(_Whole, frozen=True, gc=False):
    """The result of `session/resume`, in v1 also of `session/load`.

    A list that is `UNSET` was not given.
    """

    config_options: ResultList[SessionConfigOption] = UNSET
    available_commands: ResultList[AvailableCommand] = UNSET
    meta: Lenient[JsonObject] = None


class SetSessionConfigOptionResponse(_Whole, frozen=True, gc=False):
    """The result of `session/set_config_option`: the new list of options."""

    config_options: Annotated[tuple[SessionConfigOption, ...], SKIP_BAD_ITEMS]
    meta: Lenient[JsonObject] = None


class Implementation(_Whole, frozen=True, gc=False):
    """The name and version of a program."""

    name: str
    version: str
    title: Lenient[str] = None
    meta: Lenient[JsonObject] = None


class PromptCapabilities(_Whole, frozen=True, gc=False):
    """Kinds of content that an agent takes in prompts beyond text and links."""

    image: Lenient[MetaOnly] = None
    audio: Lenient[MetaOnly] = None
    embedded_context: Lenient[MetaOnly] = None
    meta: Lenient[JsonObject] = None


class McpCapabilities(_Whole, frozen=True, gc=False):
    """Transports over which an agent reaches MCP servers."""

    stdio: Lenient[MetaOnly] = None
    http: Lenient[MetaOnly] = None
    acp: Lenient[MetaOnly] = None
    meta: Lenient[JsonObject] = None


class SessionCapabilities(_Whole, frozen=True, gc=False):
    """What an agent can do with sessions. `list`, `resume` and `close` are said in v1 alone."""

    prompt: Lenient[PromptCapabilities] = None
    mcp: Lenient[McpCapabilities] = None
    delete: Lenient[MetaOnly] = None
    additional_directories: Lenient[MetaOnly] = None
    system_prompt: Lenient[MetaOnly] = None
    fork: Lenient[MetaOnly] = None
    archive: Lenient[MetaOnly] = None
    status: Lenient[MetaOnly] = None
    title: Lenient[MetaOnly] = None
    list: Lenient[MetaOnly] = None
    resume: Lenient[MetaOnly] = None
    close: Lenient[MetaOnly] = None
    meta: Lenient[JsonObject] = None


class AgentAuthCapabilities(_Whole, frozen=True, gc=False):
    """What an agent can do about authentication. `logout` is said in v1 alone."""

    status: Lenient[MetaOnly] = None
    logout: Lenient[MetaOnly] = None
    meta: Lenient[JsonObject] = None


class AgentCapabilities(_Whole, frozen=True, gc=False):
    """What an agent can do. `load_session` is said in v1 alone."""

    session: Lenient[SessionCapabilities] = None
    auth: Lenient[AgentAuthCapabilities] = None
    providers: Lenient[MetaOnly] = None
    load_session: Annotated[bool, ON_ERROR_ABSENT] = False
    meta: Lenient[JsonObject] = None


class EnvVariable(_Whole, frozen=True, gc=False):
    """An environment variable."""

    name: str
    value: str
    meta: Lenient[JsonObject] = None


class AuthMethodTerminal(_Typed, frozen=True, gc=False, tag="terminal"):
    """Log in by running a command in a terminal."""

    method_id: str
    name: str
    description: Lenient[str] = None
    args: Annotated[tuple[str, ...], NULL_IS_EMPTY] = ()
    env: Annotated[tuple[EnvVariable, ...], NULL_IS_EMPTY] = ()
    meta: Lenient[JsonObject] = None


class AuthMethodAgent(_Typed, frozen=True, gc=False, tag="agent"):
    """The agent handles the login."""

    method_id: str
    name: str
    description: Lenient[str] = None
    meta: Lenient[JsonObject] = None


AuthMethod: TypeAlias = AuthMethodTerminal | AuthMethodAgent | Unknown


# --- Open unions as the typed decoder reads them ---

if not TYPE_CHECKING:  # see the head
    ContentBlock = _known(ContentBlock)
    DiffChange = _known(DiffChange)
    ToolCallContent = _known(ToolCallContent)
    PlanUpdateContent = _known(PlanUpdateContent, "planId")
    AvailableCommandInput = _known(AvailableCommandInput)
    AvailableCommand = _known(AvailableCommand, "name", "description")
    SessionConfigOption = _known(SessionConfigOption, "configId", "name")
    BackgroundWork = _known(BackgroundWork)
    SessionUpdate = _known(SessionUpdate)
    RequestPermissionSubject = _known(RequestPermissionSubject)
    ElicitationPropertySchema = _known(ElicitationPropertySchema)
    CreateElicitationRequest = _known(CreateElicitationRequest)
    AuthMethod = _known(AuthMethod, "methodId", "name")

UPDATE_TAGS: Final = frozenset(tag_of(kind) for kind in variants(SessionUpdate))
"""The values of `sessionUpdate` that are known."""


class InitializeResponse(_Whole, frozen=True, gc=False):
    """The result of `initialize`."""

    protocol_version: _Version
    info: Implementation
    capabilities: Annotated[AgentCapabilities, ON_ERROR_ABSENT] = AgentCapabilities()
    auth_methods: Annotated[tuple[AuthMethod, ...] | UnsetType, ON_ERROR_ABSENT, SKIP_BAD_ITEMS] = (
        UNSET
    )
    meta: Lenient[JsonObject] = None


class Notification(Struct, frozen=True, gc=False):
    """A JSON-RPC notification. The parameters of a method that is not followed are `Json`."""

    method: str
    params: (
        UpdateSessionNotification
        | CancelSessionNotification
        | CancelRequestNotification
        | CompleteElicitationNotification
        | Json
        | None
    ) = None


class Request(Struct, frozen=True, gc=False):
    """A JSON-RPC request. The parameters of a method that is not followed are `Json`."""

    id: RequestId
    method: str
    params: (
        RequestPermissionRequest
        | PromptRequest
        | ResumeSessionRequest
        | SetSessionConfigOptionRequest
        | ListSessionsRequest
        | CloseSessionRequest
        | DeleteSessionRequest
        | CancelToolCallRequest
        | CancelTerminalRequest
        | LoginAuthRequest
        | CreateElicitationRequest
        | Json
        | None
    ) = None


class Response(Struct, frozen=True, gc=False):
    """A JSON-RPC response: a result or an error. With neither, it was malformed."""

    id: RequestId
    result: Json | None = None
    error: Error | None = None


class UnidentifiedError(Struct, frozen=True, gc=False):
    """A JSON-RPC error whose `id` is `null`: the peer could not read what it answers."""

    error: Error


class Batch(tuple[Notification | Request | Response | UnidentifiedError, ...]):
    """The messages of a JSON-RPC batch array, in order, without the malformed ones.

    `places` are their indices in the array.
    """

    places: tuple[int, ...] = ()


Message: TypeAlias = Notification | Request | Response | UnidentifiedError | Batch


_KEPT: Final = (Json, JsonObject, RequestedSchema, Unknown, UnknownStateUpdate)


def to_builtins(value: Any) -> Any:
    """Turn a wire object into dicts, lists and strings as on the wire, its `Json` left as it is."""
    return msgspec.to_builtins(value, builtin_types=_KEPT)


class UpdateMessage(Struct, frozen=True, gc=False):
    """A whole `session/update` line as the typed decoder reads it."""

    jsonrpc: Literal["2.0"]
    method: Literal["session/update"]
    params: UpdateSessionNotification
    id: NeverPresent | UnsetType = UNSET
