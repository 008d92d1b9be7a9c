"""Well-formed session updates of ACP v1 as msgspec Structs, for lines that need no second look.

Only what v1 has in another shape than v2 is here; the parts that are the same are those of `wire`.
In v1 `null` means that nothing is given, so absent and `null` are the same. What these classes
refuse goes to `parser`, which forgives more.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType, field

from .. import wire
from .._typed import strict_decoder

NO_META: Final = msgspec.Raw()
"""The `_meta` of an update that has none: it is parsed where it is needed."""


def meta_of(raw: msgspec.Raw) -> wire.JsonObject | None:
    """Return a `_meta`. Raises one of `Refused` for one that is not an object."""
    if raw is NO_META or raw == _NULL:
        return None
    return wire.JsonObject(_decode_object(raw))


_NULL: Final = msgspec.Raw(b"null")
_decode_object: Final = msgspec.json.Decoder(dict[str, Any]).decode


class _Update(Struct, frozen=True, gc=False, rename="camel", tag_field="sessionUpdate", tag=str):
    """A `session/update` variant."""


class _Chunk(_Update, frozen=True, gc=False):
    """One more content block of a message, which need not be named."""

    content: wire.ContentBlock
    message_id: str | None = None
    meta: msgspec.Raw = field(default=NO_META, name="_meta")


class UserMessageChunk(_Chunk, frozen=True, gc=False, tag="user_message_chunk"):
    """One more content block of a user message."""


class AgentMessageChunk(_Chunk, frozen=True, gc=False, tag="agent_message_chunk"):
    """One more content block of an agent message."""


class AgentThoughtChunk(_Chunk, frozen=True, gc=False, tag="agent_thought_chunk"):
    """One more content block of a thought."""


class _Call(_Update, frozen=True, gc=False):
    """The fields of a tool call. Diffs are kept exactly as they come, by the other path."""

    tool_call_id: str
    name: str | None = None
    title: str | None = None
    kind: str | None = None
    status: str | None = None
    content: tuple[wire.Content | wire.Terminal, ...] | None = None
    locations: tuple[wire.ToolCallLocation, ...] | None = None
    raw_input: wire.Json | None = None
    raw_output: wire.Json | None = None
    meta: msgspec.Raw = field(default=NO_META, name="_meta")

    @property
    def is_bare(self) -> bool:
        """Whether nothing but `_meta` is given."""
        texts = (self.name, self.title, self.kind, self.status)
        parts = (self.content, self.locations, self.raw_input, self.raw_output)
        return texts == parts == (None, None, None, None)

    def in_v2(self) -> wire.ToolCallUpdate:
        """Return the fields that are given as an update of v2. Raises one of `Refused`."""
        meta = meta_of(self.meta)
        return wire.ToolCallUpdate(
            self.tool_call_id,
            UNSET if self.name is None else self.name,
            UNSET if self.title is None else self.title,
            UNSET if self.kind is None else self.kind,
            UNSET if self.status is None else self.status,
            UNSET if self.content is None else self.content,
            UNSET if self.locations is None else self.locations,
            UNSET if self.raw_input is None else self.raw_input,
            UNSET if self.raw_output is None else self.raw_output,
            meta=UNSET if meta is None else meta,
        )


class ToolCall(_Call, frozen=True, gc=False, tag="tool_call"):
    """A tool call, new or announced again."""


class ToolCallUpdate(_Call, frozen=True, gc=False, tag="tool_call_update"):
    """An update of a tool call."""


class Plan(_Update, frozen=True, gc=False, tag="plan"):
    """The one plan of a session."""

    entries: tuple[wire.PlanEntry, ...]
    meta: msgspec.Raw = field(default=NO_META, name="_meta")


class UsageUpdate(_Update, frozen=True, gc=False, tag="usage_update"):
    """Tokens used of the context window, and what they cost."""

    used: Annotated[int, msgspec.Meta(ge=0)]
    size: Annotated[int, msgspec.Meta(ge=0)]
    cost: wire.Cost | None = None


class Parameters(Struct, frozen=True, gc=False, rename="camel"):
    """The session and its update."""

    session_id: str
    update: (
        AgentMessageChunk
        | AgentThoughtChunk
        | Plan
        | ToolCall
        | ToolCallUpdate
        | UserMessageChunk
        | UsageUpdate
    )


class UpdateMessage(Struct, frozen=True, gc=False):
    """A whole `session/update` line."""

    method: Literal["session/update"]
    params: Parameters
    jsonrpc: Literal["2.0"] | UnsetType = UNSET
    id: wire.NeverPresent | UnsetType = UNSET


@cache
def update_decoder() -> Callable[[bytes], UpdateMessage]:
    """Return what decodes a line strictly as a whole `session/update` of v1."""
    return strict_decoder(UpdateMessage)
