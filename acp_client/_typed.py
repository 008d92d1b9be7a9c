"""The strict decoder: msgspec, which reads nearly every line of a session.

`decode_update` reads a whole `session/update` line in one go, `convert` makes a wire object of
parsed JSON. Neither repairs anything: the ladder in `_decode` handles what they refuse.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Final, Literal, TypeVar

import msgspec

from . import wire
from ._json import MAX_DEPTH, Json, TooDeep, nests_deeper

T = TypeVar("T")

Refused: Final = (msgspec.MsgspecError, RecursionError, UnicodeError, TooDeep)
"""The exceptions that this module raises for input that it does not accept."""


_SHORTEST_DEEP: Final = 2 * MAX_DEPTH
"""The length of the shortest JSON text that nests too deep; shorter lines are not counted."""


def decode_update(line: bytes) -> wire.UpdateMessage:
    """Decode a line as a whole `session/update`. Raises one of `Refused`."""
    if len(line) > _SHORTEST_DEEP and nests_deeper(line):
        raise TooDeep  # msgspec does not look at the nesting of what it skips
    return _update_decoder()(line)


def strict_decoder(kind: type[T]) -> Callable[[bytes], T]:
    """Return the decoder of a whole line. It raises one of `Refused`."""
    decode = msgspec.json.Decoder(kind, dec_hook=_hook).decode

    def decode_line(line: bytes) -> T:
        if len(line) > _SHORTEST_DEEP and nests_deeper(line):
            raise TooDeep
        return decode(line)

    return decode_line


@cache
def _update_decoder() -> Callable[[bytes], wire.UpdateMessage]:
    # Built on first use, since that is slow (benchmark "import").
    return msgspec.json.Decoder(wire.UpdateMessage, dec_hook=_hook).decode


def convert(value: Any, kind: Any) -> Any:
    """Make a wire object of parsed JSON. Raises one of `Refused`."""
    return msgspec.convert(value, kind, dec_hook=_hook)


# --- Updates of unknown variants ---

V1_UPDATE_TAGS: Final = ("tool_call", "plan", "current_mode_update")
"""The tags of updates that only v1 has."""

KNOWN_TAGS: Final = frozenset({*wire.UPDATE_TAGS, *V1_UPDATE_TAGS})
"""The tags of updates of any version: an update of the wrong version is a problem."""


class UnknownUpdate(msgspec.Struct, gc=False, forbid_unknown_fields=True, rename="camel"):
    """The parameters of a `session/update` of an unknown variant."""

    session_id: str
    update: wire.Unknown


class _UnknownMessage(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    jsonrpc: Literal["2.0"]
    method: Literal["session/update"]
    params: UnknownUpdate


@cache
def _unknown_decoder() -> Callable[[bytes], _UnknownMessage]:
    return msgspec.json.Decoder(_UnknownMessage, dec_hook=_hook).decode


def decode_unknown(line: bytes) -> UnknownUpdate:
    """Decode a line that holds a session update of an unknown variant, and no other line.

    Only the tag of such an update has to be checked, so agents that stream updates of their own
    do not need the lenient path, which returns the same. Raises one of `Refused`.
    """
    if len(line) > _SHORTEST_DEEP and nests_deeper(line):
        raise TooDeep
    return _unknown_decoder()(line).params


def _unknown(value: Any) -> wire.Unknown:
    tag = value.get("sessionUpdate") if type(value) is dict else None
    if type(tag) is str and tag not in KNOWN_TAGS:
        return wire.Unknown(value)
    raise msgspec.ValidationError("Expected an unknown variant")


# --- Types that msgspec does not know ---


def _hook(kind: Any, value: Any) -> Any:
    return _HOOKS[kind](value)


def _raw_object(value: Any) -> wire.JsonObject:
    if isinstance(value, dict):
        return wire.JsonObject(value)
    raise msgspec.ValidationError("Expected `object`")


def _resource_contents(value: Any) -> Any:
    try:
        return convert(value, wire.TextResourceContents)
    except msgspec.ValidationError:
        return convert(value, wire.BlobResourceContents)


def _select_options(value: Any) -> Any:
    if not value:
        raise msgspec.ValidationError("Expected at least one option")
    try:
        items = convert(value, tuple[wire.SessionConfigSelectOption, ...])
    except msgspec.ValidationError:
        items = convert(value, tuple[wire.SessionConfigSelectGroup, ...])
    return wire.SessionConfigSelectOptions(items)


def _multi_select_items(value: Any) -> Any:
    if isinstance(value, dict) and "type" in value:
        return convert(value, wire.StringMultiSelectItems)
    return convert(value, wire.TitledMultiSelectItems)


def _requested_schema(value: Any) -> wire.RequestedSchema:
    convert(value, wire.ElicitationSchema)
    return wire.RequestedSchema(value)


def _never(_: Any) -> Any:
    raise msgspec.ValidationError("Expected no such key")


_HOOKS: Final[dict[Any, Callable[[Any], Any]]] = {
    Json: Json,
    wire.Unknown: _unknown,
    wire.JsonObject: _raw_object,
    wire.EmbeddedResourceResource: _resource_contents,
    wire.SessionConfigSelectOptions: _select_options,
    wire.MultiSelectItems: _multi_select_items,
    wire.RequestedSchema: _requested_schema,
    wire.NeverPresent: _never,
}
